# wrong: ?
class CharTokenizer:
    def __init__(self, text):
        seen = [False] * 65536
        for c in text:
            seen[ord(c)] = True
        self.table = [-1] * 65536
        self.chars = []
        for code in range(65536):
            if seen[code]:
                self.table[code] = len(self.chars)
                self.chars.append(chr(code))
        self.vocab_size = len(self.chars)

    def encode(self, s):
        ids = [self.table[ord(c)] for c in s]
        if -1 in ids:
            raise KeyError("unknown character")
        return ids

    def decode(self, ids):
        return "".join(self.chars[i] for i in ids)
