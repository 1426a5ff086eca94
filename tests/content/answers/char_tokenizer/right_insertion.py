# right: no set and no dict
class CharTokenizer:
    def __init__(self, text):
        letters = []
        for c in text:
            if c not in letters:
                letters.append(c)
        letters.sort()
        self.letters = letters
        self.vocab_size = len(letters)

    def encode(self, s):
        ids = []
        for c in s:
            if c not in self.letters:
                raise KeyError(c)
            ids.append(self.letters.index(c))
        return ids

    def decode(self, ids):
        s = ""
        for i in ids:
            s = s + self.letters[i]
        return s
