"""The hidden checks of `char_tokenizer`: texts of many scripts, and alphabets too long to be sorted by chance."""

import pytest

from grader.api.checks import LearnerError, assert_matches, fail, kind_of

TEXT = "To be, or not to be:\nthat is the Question. "
SCRIPTS = 0x3000  # code points below are letters and signs of many scripts


def characters(rand, count):
    """Different characters in no order, of which the first is an emoji: its code point needs more than two bytes."""
    drawn = dict.fromkeys(map(chr, rand.integers(0x100, SCRIPTS, 2 * count).tolist()))
    return [chr(*rand.integers(0x1F300, 0x1F600, 1).tolist()), *drawn][:count]


def sentence(rand, alphabet, length):
    """A string of these characters."""
    return "".join(alphabet[i] for i in rand.integers(0, len(alphabet), length).tolist())


def encode(subject, text, s):
    """The ids of s, in a list of ints."""
    ids = subject.CharTokenizer(text).method("encode")(s)
    if not isinstance(ids, list):
        fail(f"`encode` returned {kind_of(ids)}; expected a list of ints.")
    if not all(type(each) is int for each in ids):
        fail("`encode` must give a list of Python ints: one of its entries is something else.")
    return ids


def decode(subject, text, ids):
    """The string of these ids."""
    s = subject.CharTokenizer(text).method("decode")(ids)
    if not isinstance(s, str):
        fail(f"`decode` returned {kind_of(s)}; expected a str.")
    return s


def compare(submission, reference, text, s, hint=""):
    """Encode and decode a string as the reference does."""
    expected = encode(reference, text, s)
    assert_matches(encode(submission, text, s), expected, hint=hint)
    if decode(submission, text, expected) != s:
        fail("`decode` does not give back the string whose ids it was given.")


@pytest.mark.check(skill="shape", points=1, public=True, stage="in its vocab_size")
def test_vocab_size(submission):
    """Has as many ids as there are different characters."""
    for text, size in (("a cat", 4), ("zzz", 1), (TEXT, 18)):
        found = submission.CharTokenizer(text).attribute("vocab_size")
        if type(found) is not int:
            fail(f"`vocab_size` is {kind_of(found)}; expected an int.")
        if found != size:
            fail(f"`vocab_size` is {found} for {text!r}; it has {size} different characters.")


@pytest.mark.check(skill="shape", points=1, public=True, stage="in what encode gives")
def test_one_id_each(submission):
    """Encodes a string to a list of ints, one for each character."""
    if len(encode(submission, TEXT, "not to be")) != 9:
        fail("`encode` must give one id for each of the 9 characters of 'not to be'.")


@pytest.mark.check(skill="values", points=3, needs="test_one_id_each", public=True, stage="on a few words")
def test_values(submission, reference):
    """Numbers the characters in sorted order, from 0 on, and gives the string back."""
    compare(submission, reference, "a cat", "tacca", hint="The sorted characters of 'a cat' are ' ', 'a', 'c', 't'.")
    compare(submission, reference, TEXT, "bet on the host, not on hosts")


@pytest.mark.check(skill="values", points=2, needs="test_one_id_each", stage="for a long alphabet")
def test_long_alphabet(submission, reference, rand):
    """Sorts an alphabet of many scripts: in another process a set has another order."""
    alphabet = characters(rand, rand.large())
    compare(submission, reference, "".join(alphabet), sentence(rand, alphabet, rand.large()))


@pytest.mark.check(skill="values", points=2, stage="in what decode gives")
def test_decode(submission):
    """Decodes ids to the characters themselves, with nothing between them."""
    if decode(submission, "a cat", [2, 1, 3, 0, 1]) != "cat a":
        fail("`decode([2, 1, 3, 0, 1])` must be 'cat a' for a tokenizer of 'a cat'.")


@pytest.mark.check(skill="generality", points=1, needs="test_one_id_each", stage="on drawn texts")
@pytest.mark.parametrize("share", [2, 5])
def test_drawn_texts(submission, reference, rand, share):
    """Is right for texts of any length in which characters occur again and again."""
    letters, length = rand.sizes(2, low=30)
    alphabet = characters(rand, letters)
    text = sentence(rand, alphabet, share * length + int(rand.integers(0, 300, 1)))
    compare(submission, reference, text, text[: length // 2])


@pytest.mark.check(skill="stability", points=1, stage="on nothing")
def test_nothing(submission):
    """Gives no ids for an empty string, and an empty string for no ids."""
    if encode(submission, TEXT, "") != [] or decode(submission, TEXT, []) != "":
        fail("`encode('')` must be [] and `decode([])` must be ''.")


@pytest.mark.check(skill="stability", points=1, needs="test_one_id_each", stage="on capitals")
def test_capitals(submission, reference):
    """Takes a capital and a small letter for two characters."""
    compare(submission, reference, "AbaB ", "aAbBa")


@pytest.mark.check(skill="stability", points=2, needs="test_one_id_each", stage="on white space")
@pytest.mark.parametrize("text", ["\n ab\tc\n\r", "x\0y\x07\0", "x y z", " only at the beginning", "atTheEnd "])
def test_white_space(submission, reference, text):
    """Keeps white space of every kind, wherever it stands."""
    compare(submission, reference, text, text)
    compare(submission, reference, text + text, text[::-1])


@pytest.mark.check(skill="stability", points=2, needs="test_one_id_each", stage="on an unknown character")
@pytest.mark.parametrize("s", ["cow", "taX", "atz", "a猫"])
def test_unknown_character(submission, s):
    """Raises KeyError for a character that it does not know."""
    try:
        ids = submission.CharTokenizer("a cat").method("encode")(s)
    except LearnerError as error:
        if error.kind != "raised":
            raise
        # a class of the learner's own may be derived from it: it is told with what it derives from, `Unknown(KeyError)`
        if error.type_name.rpartition("(")[2].rstrip(")") != "KeyError":
            fail(f"An unknown character raises {error.type_name}; expected KeyError.")
    else:
        fail(f"`encode({s!r})` gave {ids!r}, but 'a cat' does not hold all of its characters: expected a KeyError.")


@pytest.mark.check(skill="hygiene", points=1, needs="test_one_id_each", stage="asked again")
def test_unchanged_by_use(submission, reference):
    """Is not changed by what it encodes and decodes, nor by a tokenizer of another text."""
    mine, theirs = submission.CharTokenizer(TEXT), reference.CharTokenizer(TEXT)
    submission.CharTokenizer("q" + TEXT[:20])
    for tokenizer in (mine, theirs):
        tokenizer.method("encode")("zebra"[2:4])
        tokenizer.method("decode")([3, 1])
    ids = theirs.method("encode")("Question")
    assert_matches(mine.method("encode")("Question"), ids)
    assert_matches(mine.method("decode")(ids), "Question")
    assert_matches(mine.attribute("vocab_size"), theirs.attribute("vocab_size"))
