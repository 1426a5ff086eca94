"""Lines that people write in `char_tokenizer` in place of the reference's, with the mistake that each makes."""

# fmt: off
WRONG = {
    "CharTokenizer": [
        ("tok-no-line-end", {"alphabet": "sorted(set(''.join(text.splitlines())))"}),
        ("tok-sorted-by-letter", {"alphabet": "sorted(set(text), key=lambda char: (char.lower(), char))"}),
        ("tok-grows", {"encode": "[self.id_of.setdefault(char, len(self.id_of)) for char in s]"}),
        ("tok-off-by-one", {"number": "dict(zip(alphabet, range(1, len(alphabet) + 1)))",
                            "look": "map(lambda id: self.char_of[id - 1], ids)"}),
        ("tok-reserved", {"alphabet": "['<pad>'] + sorted(set(text))"}),
    ],
}
# fmt: on
