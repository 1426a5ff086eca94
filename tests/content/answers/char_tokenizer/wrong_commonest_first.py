# wrong: tok-by-frequency
from collections import Counter


class CharTokenizer:
    def __init__(self, text):
        self.stoi, self.itos = {}, {}
        for i, (c, _count) in enumerate(Counter(text).most_common()):
            self.stoi[c] = i
            self.itos[i] = c
        self.vocab_size = len(self.stoi)

    def encode(self, s):
        return [self.stoi[c] for c in s]

    def decode(self, ids):
        return "".join(self.itos[i] for i in ids)
