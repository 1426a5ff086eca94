"""The smallest tokenizer: one id for each character.

The lesson:          learn read char_tokenizer
Your work, checked:  learn check char_tokenizer
"""


class CharTokenizer:
    """One id for each character that occurs in a text.

    The characters that occur in `text`, each once and sorted as Python
    sorts strings (`sorted`), have the ids 0, 1, ..., V − 1.

    Argument of the constructor
        text: a str that is not empty. Every character counts as it is:
           capitals, spaces, line ends, letters of any script.

    Attribute
        vocab_size: V, an int: how many different characters there are. (A
           property will do.)

    Methods
        encode(s): the ids of the characters of the str s: a list with one
           int for each, [] for "". A character that did not occur in
           `text` raises KeyError (or a class of yours derived from it).
        decode(ids): the str whose characters have these ids, "" for [];
           ids is a list of ints from 0 ... V − 1. (What happens with other
           ids is not judged.)

    decode(encode(s)) == s for every s of known characters. Two tokenizers
    of one text agree, also in two runs of Python. Neither `encode` nor
    `decode` changes the tokenizer.

    Allowed: everything in Python; torch is not needed.

    >>> tokenizer = CharTokenizer("a cat")
    >>> tokenizer.vocab_size    # " ", "a", "c", "t"
    4
    >>> tokenizer.encode("tacca")
    [3, 1, 2, 2, 1]
    >>> tokenizer.decode([2, 1, 3, 0, 1])
    'cat a'
    >>> tokenizer.encode("cow")
    Traceback (most recent call last):
        ...
    KeyError: 'o'
    """

    def __init__(self, text):
        raise NotImplementedError("CharTokenizer: not written yet")

    def encode(self, s):
        raise NotImplementedError("CharTokenizer: not written yet")

    def decode(self, ids):
        raise NotImplementedError("CharTokenizer: not written yet")
