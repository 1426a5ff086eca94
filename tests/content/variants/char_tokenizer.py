"""Lines that people write in `char_tokenizer` in place of the reference's, with the mistake that each makes."""

# fmt: off
WRONG = {
    "CharTokenizer": [
        ("tok-no-line-end", {"alphabet": "sorted(set(''.join(text.splitlines())))"}),
        ("tok-sorted-by-letter", {"alphabet": "sorted(set(text), key=lambda char: (char.lower(), char))"}),
        ("tok-reserved", {"alphabet": "['<pad>'] + sorted(set(text))"}),
    ],
}
# fmt: on
