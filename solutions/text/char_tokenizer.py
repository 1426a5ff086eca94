"""The character tokenizer, the reference: a sorted alphabet."""


class CharTokenizer:
    """One id for each character that occurs in a text."""

    def __init__(self, text):
        alphabet = sorted(set(text))  # step: alphabet
        numbered = enumerate(alphabet)
        self.id_of = {char: id for id, char in numbered}  # step: number
        self.char_of = alphabet  # id -> character  # step: back
        self.vocab_size = len(alphabet)  # step: size

    def encode(self, s):
        """Give the id of each character."""
        return [self.id_of[char] for char in s]  # step: encode

    def decode(self, ids):
        """Give the string of these ids."""
        chars = [self.char_of[id] for id in ids]  # step: look
        return "".join(chars)  # step: join
