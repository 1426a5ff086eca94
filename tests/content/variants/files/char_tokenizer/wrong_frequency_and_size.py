# wrong: tok-by-frequency, tok-off-by-one
from collections import Counter


class CharTokenizer:
    def __init__(self, text):
        counts = Counter(text)
        ranked = sorted(counts, key=lambda c: (-counts[c], c))
        self.enc = {c: k for k, c in enumerate(ranked)}
        self.dec = {k: c for c, k in self.enc.items()}
        self.vocab_size = max(self.dec)

    def encode(self, s):
        return [self.enc[c] for c in s]

    def decode(self, ids):
        out = []
        for k in ids:
            out.append(self.dec[k])
        return "".join(out)
