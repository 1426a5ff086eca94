# wrong: tok-by-appearance, tok-no-space
class CharTokenizer:
    def __init__(self, text):
        self.stoi = {}
        for c in text:
            if c != " ":
                self.stoi.setdefault(c, len(self.stoi))
        self.itos = {i: c for c, i in self.stoi.items()}
        self.vocab_size = len(self.stoi)

    def encode(self, s):
        return [self.stoi[c] for c in s]

    def decode(self, ids):
        return "".join(self.itos[i] for i in ids)
