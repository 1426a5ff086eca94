# right: in the manner of nanoGPT, lambdas kept as attributes
class CharTokenizer:
    def __init__(self, text):
        chars = sorted(set(text))
        self.vocab_size = len(chars)
        stoi = dict(zip(chars, range(len(chars))))
        self.encode = lambda s: [stoi[c] for c in s]
        self.decode = lambda ids: "".join(chars[i] for i in ids)
