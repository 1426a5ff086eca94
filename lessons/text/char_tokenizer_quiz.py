"""Numbers and code for the questions on tokenizers of characters."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from grader.api.questions import spoil_line

Values = dict[str, Any]

TEXTS = ("a bad cab", "sea bass", "no moon on", "tall lots at", "deep dad", "go dog go", "pin up a nap", "we were ewes")
LINES = ("Ann and Bob sat.", "Oh no, said Bo.", "Mum met Tom at ten.", "Is it his? It is.", "Go on, Gus, go!")


def encoded(random: Random) -> Values:
    """A few characters, encoded by the alphabet of a short text."""
    while True:
        text = random.choice(TEXTS)
        alphabet = sorted(set(text))
        s = "".join(random.choice(alphabet) for _ in range(3))
        orders = {
            "tok-numbers-by-appearance": list(dict.fromkeys(text)),
            "tok-numbers-by-frequency": [char for char, _ in Counter(text).most_common()],
            "tok-numbers-from-one": ["", *alphabet],
            "tok-forgets-the-space": [char for char in alphabet if char != " "],
        }
        answer = str([alphabet.index(char) for char in s])
        if " " in s or len(set(s)) < 2:
            continue
        wrong = {tag: str([order.index(char) for char in s]) for tag, order in orders.items()}
        if len({answer, *wrong.values()}) == 1 + len(wrong):
            break
    code = (
        f"text = {text!r}\nalphabet = sorted(set(text))\n"
        "id_of = {char: id for id, char in enumerate(alphabet)}\n"
        f"print([id_of[char] for char in {s!r}])"
    )
    return {"code": code, "alphabet": " ".join(map(repr, alphabet)), "answer": answer, "wrong": wrong}


def vocabulary(random: Random) -> Values:
    """How many ids a tokenizer of characters has."""
    while True:
        text = " ".join(random.sample(LINES, 2))
        wrong = {
            "tok-counts-the-text": len(text),
            "tok-forgets-case": len(set(text.lower())),
            "tok-counts-letters-only": sum(char.isalpha() for char in set(text)),
            "tok-largest-id": len(set(text)) - 1,
        }
        answer = len(set(text))
        if len({answer, *wrong.values()}) == 5:
            break
    return {"text": text, "listed": "".join(sorted(set(text))), "answer": answer, "wrong": wrong}


def shorter(random: Random) -> Values:
    """How the number of attention scores goes with the length of the pieces."""
    letters, piece = random.choice([1200, 2400, 6000, 12000]), random.choice([3, 4, 5, 6])
    return {"letters": f"{letters:,}", "N": letters, "piece": piece, "T": letters // piece, "answer": piece**2,
            "wrong": {"tok-cost-grows-linearly": piece, "tok-cost-grows-cubically": piece**3}}  # fmt: skip


TOKENIZER = """\
class CharTokenizer:
    def __init__(self, text):
        self.chars = sorted(set(text))
        self.id_of = {c: i for i, c in enumerate(self.chars)}
        self.vocab_size = len(self.chars)

    def encode(self, s):
        return [self.id_of[c] for c in s]

    def decode(self, ids):
        return "".join(self.chars[i] for i in ids)"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (3, "self.chars = sorted(text)", 4, "vocab_size is the length of the text",
     "The text is sorted, but a character that occurs twice is there twice. set takes each once."),
    (3, "self.chars = sorted(set(text.strip()))", 8, "a text that ends in a line end cannot be encoded itself",
     "strip has taken the line end out of the alphabet."),
    (3, "self.chars = sorted(set(text.split()))", 8, "nearly every character is unknown",
     "split cuts the text into words, and the set holds these."),
    (4, "self.id_of = {c: i for i, c in enumerate(self.chars, 1)}", 11,
     "decode(encode(s)) has other characters than s, or ends in an IndexError",
     "Ids begin at 1 here, and the list that decode uses begins at 0."),
    (4, "self.id_of = {c: text.index(c) for c in self.chars}", 11, "ids are far larger than vocab_size",
     "That is a place in the text, and not in the alphabet."),
    (5, "self.vocab_size = len(self.chars) - 1", 4, "an embedding with vocab_size rows fails on one character",
     "Ids run from 0 to V − 1, so there are V of them. vocab_size is V."),
    (8, "return [self.id_of.get(c, 0) for c in s]", 11, "a character that never occurred is decoded to another one",
     "get gives 0 to what is unknown. The brackets raise KeyError."),
    (8, "return [self.id_of[c] for c in sorted(s)]", 11, "decode(encode('cab')) is 'abc'",
     "The string is sorted before it is encoded. Only the alphabet is sorted."),
    (11, 'return " ".join(self.chars[i] for i in ids)', 8, "decode(encode('cat')) has five characters",
     "A space is put between the characters. Join them with nothing."),
    (11, "return [self.chars[i] for i in ids]", 8, "decode(encode(s)) == s is False for every s",
     "That is a list of characters. They still have to be joined."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """A tokenizer with one line spoilt, and what is seen of it."""
    return spoil_line(random, TOKENIZER, SPOILT, "tok-blames-the-symptom")
