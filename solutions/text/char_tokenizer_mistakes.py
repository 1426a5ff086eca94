"""What people write in `CharTokenizer` in place of the reference's lines; and other right ways to write it."""

from bisect import bisect_left
from collections import Counter

import torch  # noqa: F401  lines below use it

from grader.api.checks import LearnerError, MistakeSet

# how an unknown character is refused may differ: a class derived from KeyError has a name of its own
UNKNOWN = ("cow", "taX", "atz", "a\\u732b")
tokenizer = MistakeSet("CharTokenizer", globals(), without=[f"unknown_character[{s}]" for s in UNKNOWN])
mistake, right = tokenizer.mistake, tokenizer.alternative
MISTAKE_SETS = [tokenizer]

LETTERS = "".join(chr(0x3042 + 31 * place % 397) for place in range(250)) + "zzzab"
ORDERS = {
    "sorted": sorted(set(LETTERS)),
    "backwards": sorted(set(LETTERS), reverse=True),
    "by appearance": list(dict.fromkeys(LETTERS)),
    "by frequency": [char for char, _ in Counter(LETTERS).most_common()],
    "by frequency, equals sorted": [char for char, _ in Counter(sorted(LETTERS)).most_common()],
    "rarest first": [char for char, _ in Counter(LETTERS).most_common()][::-1],
}


@tokenizer.probe("the order")
def _(subject, rand):
    """In what order characters have their ids. That of a set is another in each process: it has no other name."""
    made = subject.CharTokenizer(LETTERS)
    size, ids = made.attribute("vocab_size"), made.method("encode")(LETTERS)
    numbered = isinstance(ids, list) and sorted(set(ids)) == list(range(size)) == list(range(len(ORDERS["sorted"])))
    if not numbered or made.method("decode")(ids) != LETTERS:
        return "no numbering"
    order = [made.method("decode")([id]) for id in range(size)]
    return next((name for name, known in ORDERS.items() if order == known), "no known order")


@tokenizer.probe("unknown", stage="on an unknown character")
def _(subject, rand):
    found = []
    for s in UNKNOWN:
        try:
            found.append(subject.CharTokenizer("a cat").method("encode")(s))
        except LearnerError as error:
            if error.kind != "raised":
                raise
            found.append("refused" if error.type_name not in ("ValueError", "IndexError") else error.type_name)
    return found


class Bisected:
    def __init__(self, text):
        self.alphabet = sorted(set(text))

    @property
    def vocab_size(self):
        return len(self.alphabet)

    def _find(self, char):
        place = bisect_left(self.alphabet, char)
        if place == len(self.alphabet) or self.alphabet[place] != char:
            raise KeyError(char)
        return place

    def encode(self, s):
        return list(map(self._find, s))

    def decode(self, ids):
        return "".join(self.alphabet[id] for id in ids)


class UnknownCharacter(KeyError):
    """A class of one's own."""


class Indexed:
    def __init__(self, text):
        self.alphabet = "".join(sorted(dict.fromkeys(text)))
        self.vocab_size = len(self.alphabet)

    def encode(self, s):
        ids = []
        for char in s:
            if char not in self.alphabet:
                raise UnknownCharacter(char)
            ids.append(self.alphabet.index(char))
        return ids

    def decode(self, ids):
        s = ""
        for id in ids:
            s += self.alphabet[id]
        return s


class Words:
    """The tokenizer of words that many tutorials begin with."""

    def __init__(self, text):
        words = sorted(set(text.split()))
        self.id_of = {word: id for id, word in enumerate(words)}
        self.words, self.vocab_size = words, len(words)

    def encode(self, s):
        return [self.id_of[word] for word in s.split()]

    def decode(self, ids):
        return " ".join(self.words[id] for id in ids)


# fmt: off
SORT = "Sort the characters: `sorted(set(text))`."

# --- the alphabet
mistake("tok-unsorted-set", "The ids are in another order than the sorted one. If it is that of a set as it "
        "comes, every character has another id in the next run of Python, and a saved model reads nonsense.", SORT,
        only=("the order",),
        alphabet="sorted(sorted(set(text)), key=lambda char: ord(char) * 37 % 101)")  # a set's is never the same twice
mistake("tok-by-frequency", "The ids are in the order of frequency, the commonest character first.", SORT,
        alphabet="[char for char, _ in Counter(text).most_common()]")
mistake("tok-by-frequency", "The ids are in the order of frequency, the commonest first, and equals are sorted.", SORT,
        coding="equals sorted", alphabet="[char for char, _ in Counter(sorted(text)).most_common()]")
mistake("tok-by-frequency", "The ids are in the order of frequency, the rarest character first.", SORT, coding="rarest",
        alphabet="[char for char, _ in Counter(text).most_common()][::-1]")
mistake("tok-by-appearance", "The ids are in the order in which characters first appear.", SORT,
        alphabet="list(dict.fromkeys(text))")
mistake("tok-sorted-backwards", "The ids are in falling order.", "Sort without `reverse=True`.",
        alphabet="sorted(set(text), reverse=True)")
mistake("tok-sorted-by-letter", "Capitals are sorted among small letters, as `key=str.lower` does.", SORT,
        alphabet="sorted(sorted(set(text)), key=str.lower)")
mistake("tok-repeats-kept", "A character that occurs twice is numbered twice: the text is sorted, and repeats are "
        "kept.",
        "Take each character once, and then sort: `sorted(set(text))`.", alphabet="sorted(text)")
for coding, back in (("", "alphabet"), ("dict", "dict(enumerate(alphabet))")):  # an id too many is another error
    mistake("tok-lowercased", "Case is lost: text and strings are made small letters.", "Take out `.lower()`.",
            coding=coding, alphabet="sorted(set(text.lower()))", back=back,
            encode="[self.id_of[char] for char in s.lower()]")
    mistake("tok-lowercased", "The text is made small letters, so that no capital is known.", "Take out `.lower()`.",
            coding=f"text only {coding}".strip(), alphabet="sorted(set(text.lower()))", back=back)
    mistake("tok-stripped", "White space at the ends of the text is stripped: a character that stands only there is "
            "unknown.", "Take out `.strip()`.", coding=coding, alphabet="sorted(set(text.strip()))", back=back)
    mistake("tok-no-line-end", "Line ends are left out of the alphabet.", "A line end is a character like any other: "
            "take out `.replace('\\n', '')` or `splitlines()`.", coding=coding, back=back,
            alphabet="[char for char in sorted(set(text)) if char != '\\n']")
    mistake("tok-no-space", "Spaces are left out of the alphabet.", "A space is a character like any other.",
            coding=coding, alphabet="[char for char in sorted(set(text)) if char != ' ']", back=back)
mistake("tok-stripped", "`encode` strips the string: white space at its ends is lost.", "Take out `.strip()`.",
        coding="encode", encode="[self.id_of[char] for char in s.strip()]")
for method, where in (("strip", "its ends"), ("rstrip", "its right end")):
    mistake("tok-stripped", f"`decode` strips the string: white space at {where} is lost.", f"Take out `.{method}()`.",
            coding=f"decode, {method}", join=f'"".join(chars).{method}()')
mistake("tok-words", "It numbers words and not characters.", "Do without `split()`: go through the text itself.",
        alone=True, version=Words)
mistake("tok-code-points", "The ids are Unicode's numbers (`ord`), and not 0 … V − 1.",
        "Number the sorted characters with `enumerate`.", alone=True, number="{char: ord(char) for char in alphabet}",
        look="[chr(id) for id in ids]")

# --- the numbers
mistake("tok-off-by-one", "The ids begin at 1.", "Begin at 0: `enumerate(alphabet)`.",
        number="{char: id + 1 for id, char in numbered}", back='["", *alphabet]')
mistake("tok-off-by-one", coding="dict", number="{char: id + 1 for id, char in numbered}",
        back="dict(enumerate(alphabet, 1))")
mistake("tok-off-by-one", coding="one less", number="{char: id + 1 for id, char in numbered}",
        look="[self.char_of[id - 1] for id in ids]")
mistake("tok-off-by-one", "`encode` gives ids from 1 on, `decode` takes them from 0 on.",
        "Begin at 0 in both: `enumerate(alphabet)`.", coding="encode only",
        number="{char: id + 1 for id, char in numbered}")
mistake("tok-off-by-one", "`vocab_size` is the largest id: one too few, since ids begin at 0.",
        "It is `len(alphabet)`.",
        coding="vocab_size", size="len(alphabet) - 1")
mistake("tok-off-by-one", "`vocab_size` is one too many.", "It is `len(alphabet)`.", coding="one too many",
        size="len(alphabet) + 1")
for reserved in ("<unk>", "<pad>"):
    mistake("tok-reserved", "An id is kept for what is unknown, or for padding: here the alphabet is the characters of "
            "the text alone.", "Leave it out: an unknown character raises KeyError.", coding=reserved,
            alphabet=f"['{reserved}', *sorted(set(text))]")
mistake("tok-size-of-text", "`vocab_size` is the length of the text.", "Count each character once: `len(alphabet)`.",
        size="len(text)")

# --- there and back
mistake("tok-vocab-of-argument", "`encode` makes a new table of each string: a character has another id in every "
        "string.", "Use the table that the constructor made of the text.",
        encode="[sorted(set(s)).index(char) for char in s]")
mistake("tok-unknown-to-zero", "An unknown character silently becomes id 0, which is another character.",
        "Look it up with `[char]`, which raises KeyError; `.get(char, 0)` does not.",
        encode="[self.id_of.get(char, 0) for char in s]")
mistake("tok-unknown-to-zero", "An unknown character silently gets an id that belongs to none (None, −1 or V).",
        "Look it up with `[char]`, which raises KeyError.", coding="None",
        encode="[self.id_of.get(char) for char in s]")
for number in ("-1", "self.vocab_size"):
    mistake("tok-unknown-to-zero", "An unknown character silently gets an id that belongs to none (None, −1 or V).",
            "Look it up with `[char]`, which raises KeyError.", coding=number,
            encode=f"[self.id_of.get(char, {number}) for char in s]")
mistake("tok-unknown-skipped", "An unknown character is left out silently.", "Let it raise KeyError: take out the "
        "`if`.",
        encode="[self.id_of[char] for char in s if char in self.id_of]")
mistake("tok-grows", "`encode` gives an unknown character a new id: the tokenizer changes, and a model has no row for "
        "it.", "Let it raise KeyError: the alphabet is that of the constructor's text.",
        encode="for char in s:\n    if char not in self.id_of:\n        self.id_of[char] = len(self.char_of)\n"
               "        self.char_of.append(char)\nreturn [self.id_of[char] for char in s]")
mistake("tok-other-error", "An unknown character raises ValueError, as `index` does.",
        "Look it up in a dict, or raise KeyError yourself.", encode="[self.char_of.index(char) for char in s]")
for dtype in ("None", "torch.long"):  # an empty one has float32 where nothing is said
    mistake("tok-tensor", "`encode` returns a tensor.", "Return the list of ints itself.", coding=dtype,
            encode=f"torch.tensor([self.id_of[char] for char in s], dtype={dtype})")
mistake("tok-ids-as-text", "`encode` returns strings of digits.", "Return ints.",
        encode="list(map(str, [self.id_of[char] for char in s]))")
mistake("tok-joined-with-space", "`decode` puts a space between the characters.", 'Join them with nothing: '
        '`"".join(...)`.',
        join='" ".join(chars)')
mistake("tok-decode-list", "`decode` returns a list of characters.", 'Join them: `"".join(...)`.', join="chars")
mistake("tok-decode-list", "`decode` returns Python's way to show a list, brackets and all.",
        'Join the characters: `"".join(...)`.', coding="str of the list", join="str(chars)")
mistake("tok-backwards", "`decode` gives the characters in reversed order.", "Go through the ids from the first to "
        "the last.",
        join='"".join(reversed(chars))')

# --- just as right
right("bisect", version=Bisected)
right("str.index", version=Indexed)
right("zip", number="dict(zip(alphabet, range(len(alphabet)), strict=True))")
right("a generator", encode="list(self.id_of[char] for char in s)")
right("two dicts", back="{id: char for char, id in self.id_of.items()}", size="len(self.id_of)")
right("map", encode="list(map(self.id_of.__getitem__, s))", look="map(self.char_of.__getitem__, ids)")
right("sorted keys", alphabet="sorted(dict.fromkeys(text).keys())")
# fmt: on
