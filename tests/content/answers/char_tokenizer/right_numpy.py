# right: numpy's unique and searchsorted, ints at the end
import numpy as np


class CharTokenizer:
    def __init__(self, text):
        self.codes = np.unique(np.array([ord(c) for c in text]))
        self.vocab_size = len(self.codes)

    def encode(self, s):
        if not s:
            return []
        wanted = np.array([ord(c) for c in s])
        places = np.searchsorted(self.codes, wanted)
        found = self.codes[np.minimum(places, len(self.codes) - 1)]
        if (found != wanted).any():
            raise KeyError(s)
        return places.tolist()

    def decode(self, ids):
        return "".join(chr(self.codes[i]) for i in ids)
