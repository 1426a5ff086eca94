"""Numbers, words and code for the questions on tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from random import Random
from typing import Any

Values = dict[str, Any]
Pair = tuple[str, str]

# --- merges -----------------------------------------------------------------------------------------------------------


def _neighbours(pieces: list[str]) -> list[Pair]:
    return list(pairwise(pieces))


def _merge(pieces: list[str], pair: Pair, places: int = 1000) -> list[str]:
    """Join a pair from the left on, at so many places at most."""
    out: list[str] = []
    for piece in pieces:
        if places and out and (out[-1], piece) == pair:
            out[-1] += piece
            places -= 1
        else:
            out.append(piece)
    return out


def _merge_all(pieces: list[str], merges: list[Pair], places: int = 1000) -> list[str]:
    for pair in merges:
        pieces = _merge(pieces, pair, places)
    return pieces


def _listed(merges: list[Pair]) -> str:
    """The merges as a list in code."""
    return "[" + ", ".join(f'("{a}", "{b}")' for a, b in merges) + "]"


def _merge_from_the_left(pieces: list[str], merges: list[Pair]) -> list[str]:
    """Join the first pair of the word that is in the list at all, until there is none."""
    while found := [place for place, pair in enumerate(_neighbours(pieces)) if pair in merges]:
        pieces = [*pieces[: found[0]], "".join(pieces[found[0] : found[0] + 2]), *pieces[found[0] + 2 :]]
    return pieces


def _take_the_longest(word: str, merges: list[Pair]) -> list[str]:
    """From the left on, the longest piece that is known."""
    known, out = {*word, *map("".join, merges)}, []
    while word:
        out.append(max((piece for piece in known if word.startswith(piece)), key=len))
        word = word.removeprefix(out[-1])
    return out


WORDS = ("lowest", "banana", "cocoa", "tattoo", "coconut", "pepper", "papaya", "rattan", "tomato", "potato", "onion",
         "cinnamon", "sesame", "newest", "tartan", "saffron", "lettuce", "carrot", "paprika", "cassata",
         "mississippi", "entente", "apparatus", "rotator", "sassafras", "reverence", "terrier", "settlement",
         "cucumber")  # fmt: skip
LOOP = """\
merges = {merges}
pieces = list("{word}")
for a, b in merges:
    out = []
    for piece in pieces:
        if out and (out[-1], piece) == (a, b):
            out[-1] = a + b
        else:
            out.append(piece)
    pieces = out
print("|".join(pieces))"""


def applied(random: Random) -> Values:
    """Four merges in their order; one at least comes too late, as a part of its pair has been used."""
    while True:
        word = random.choice(WORDS)
        pieces, seen, merges, steps = list(word), set(), [], []
        for _ in range(4):
            seen |= set(_neighbours(pieces))
            used = {"".join(pair) for pair in merges}
            merges.append(random.choice(sorted(pair for pair in seen if "".join(pair) not in used)))
            if (after := _merge(pieces, merges[-1])) != pieces:
                pieces = after
                steps.append("|".join(pieces))
        answer = "|".join(pieces)
        guesses = {
            "tkn-longest-piece": _take_the_longest(word, merges),
            "tkn-merges-from-the-left": _merge_from_the_left(list(word), merges),
            "tkn-merges-first-place": _merge_all(list(word), merges, places=1),
            "tkn-merges-letters-only": _merge_all(list(word), [pair for pair in merges if len("".join(pair)) == 2]),
        }
        wrong: dict[str, str] = {}
        for tag, guess in guesses.items():
            if "|".join(guess) not in (answer, *wrong.values()):
                wrong[tag] = "|".join(guess)
        if len(steps) == 3 and len(pieces) > 2 and len(wrong) >= 3 and "tkn-longest-piece" in wrong:
            break
    late = next(pair for place, pair in enumerate(merges) if _merge_all(list(word), merges[:place])
                == _merge_all(list(word), merges[: place + 1]))  # fmt: skip
    code = LOOP.replace("{merges}", _listed(merges)).replace("{word}", word)
    return {"word": word, "merges": merges, "steps": ", then ".join(steps), "late": f"{late[0]} + {late[1]}",
            "code": code, "answer": answer, "wrong": wrong}  # fmt: skip


SHORT = ("the", "then", "hen", "ten", "tent", "net", "eat", "heat", "that", "hat", "at", "neat", "tea", "ant", "than")


def counted(random: Random) -> Values:
    """The ids of a short text, after the three merges that its own pairs suggest."""
    while True:
        words = random.choices(SHORT, k=random.randint(4, 6))
        if len(set(words)) < 3:
            continue
        text = " ".join(words)
        pieces, merges, saved = list(text), [], []
        for _ in range(3):
            counts = Counter(pair for pair in _neighbours(pieces) if " " not in pair)
            best = max(counts.values(), default=0)
            if best < 2:
                break
            merges.append(random.choice(sorted(pair for pair in counts if counts[pair] == best)))
            after = _merge(pieces, merges[-1])
            saved.append(len(pieces) - len(after))
            pieces = after
        wrong = {
            "tkn-counts-words": len(words),
            "tkn-spaces-uncounted": len(pieces) - len(words) + 1,
            "tkn-merges-first-place": len(_merge_all(list(text), merges, places=1)),
            "tkn-counts-different-ids": len(set(pieces)),
        }
        if len(merges) == 3 and len({len(pieces), len(text), *wrong.values()}) == 6:
            break
    return {"text": text, "pairs": merges, "listed": _listed(merges), "length": len(text),
            "merges": ", ".join(f"{a} + {b}" for a, b in merges),
            "saved": " − ".join(map(str, saved)), "pieces": "|".join("␣" if each == " " else each for each in pieces),
            "spaces": len(words) - 1, "words": len(words), "different": wrong["tkn-counts-different-ids"],
            "answer": len(pieces), "wrong": wrong}  # fmt: skip


CORPUS = ("low", "lower", "lowest", "newer", "newest", "tower", "town", "winter", "inner", "power", "slow", "sower",
          "west", "nest", "rest", "wine", "own", "owner", "inn", "pester", "winner", "sinner")  # fmt: skip
LETTERS = {word: _neighbours(list(word)) for word in CORPUS}


def _count(weighted: Iterable[tuple[Iterable[Pair], int]]) -> dict[Pair, int]:
    counted: dict[Pair, int] = {}  # a Counter takes twice the time
    for pairs, weight in weighted:
        for pair in pairs:
            counted[pair] = counted.get(pair, 0) + weight
    return counted


def _two_commonest(counted: dict[Pair, int]) -> list[tuple[Pair, int]]:
    """What `most_common(2)` gives, in a third of its time: of those that are as common, what was counted first."""
    first = max(counted, key=counted.__getitem__)
    second = max((pair for pair in counted if pair != first), key=counted.__getitem__)
    return [(first, counted[first]), (second, counted[second])]


def next_merge(random: Random) -> Values:
    """The commonest pair of neighbours in words with counts, after the first merge that they suggest.

    Of thousands of draws one will do: each is left at the first thing that is amiss, the cheapest to see first.
    """
    while True:
        counts = dict(zip(random.sample(CORPUS, 4), random.sample(range(2, 10), 4), strict=True))
        letters = _count((LETTERS[word], count) for word, count in counts.items())
        (first, times), (_, fewer) = _two_commonest(letters)
        if times == fewer:
            continue
        cut = {word: _merge(list(word), first) for word in counts}
        neighbours = {word: _neighbours(cut[word]) for word in counts}
        kinds = _count((dict.fromkeys(each), 1) for each in neighbours.values())
        (spread, in_words), (_, in_fewer) = _two_commonest(kinds)
        frequent = [pair for pair in neighbours[max(counts, key=lambda word: counts[word])] if kinds[pair] == 1]
        if in_words == in_fewer or not frequent:
            continue
        pairs = _count((neighbours[word], count) for word, count in counts.items())
        (right, most), (_, second) = _two_commonest(pairs)
        longest = max(map(len, map("".join, pairs)))
        if most == second or len("".join(right)) == longest:
            continue
        long = [pair for pair in pairs if len("".join(pair)) == longest]
        taken = {"tkn-words-counted-once": spread, "tkn-commonest-word": frequent[0], "tkn-longest-pair": long[0]}
        if len({right, *taken.values()}) == 4:
            break

    def show(pair: Pair) -> str:
        return f"{pair[0]} + {pair[1]}"

    holders = [counts[word] for word in counts for pair in _neighbours(cut[word]) if pair == right]
    return {"words": ", ".join(f"{'·'.join(cut[word])} {count} times" for word, count in counts.items()),
            "counts": counts, "first": first, "right": show(right),
            "sum": " + ".join(map(str, holders)) + (f" = {most}" if len(holders) > 1 else ""),
            "wrong": [{"tag": tag, "text": show(pair)} for tag, pair in taken.items()],
            "spread": show(spread), "spread_words": in_words, "spread_times": pairs[spread], "most": most,
            "frequent": show(frequent[0]), "frequent_times": pairs[frequent[0]],
            "longest": show(long[0]), "longest_times": pairs[long[0]]}  # fmt: skip


# --- bytes and tables -------------------------------------------------------------------------------------------------

ACCENTS = ("café é", "Zürich ü", "señor ñ", "Straße ß", "Malmö ö", "garçon ç", "fenêtre ê", "Århus Å")
SIGNS, PICTURES = "€→✓≈", "🙂🐝🦊🚀🌱"


def utf8(random: Random) -> Values:
    """The bytes of a text with characters of one, two, three and four bytes."""
    while True:
        word, accent = random.choice(ACCENTS).split()
        sign, picture = random.choice(SIGNS), random.choice(PICTURES)
        parts = [word, f"{random.randint(2, 19)} {sign}", picture * random.choice([1, 2])]
        random.shuffle(parts)
        text = " ".join(parts)
        answer = sum(1 + sum(ord(each) >= limit for limit in (128, 2048, 65536)) for each in text)
        special = sum(ord(each) >= 128 for each in text)
        wrong = {
            "tkn-bytes-are-characters": len(text),
            "tkn-rare-is-two-bytes": len(text) + special,
            "tkn-all-four-bytes": 4 * len(text),
            "tkn-spaces-uncounted": answer - text.count(" "),
        }
        if len({answer, *wrong.values()}) == 5:
            break
    pictures = text.count(picture)
    return {"text": text, "points": f"{accent} {ord(accent)}, {sign} {ord(sign):,}, {picture} {ord(picture):,}",
            "accent": accent, "sign": sign, "picture": picture, "plain": len(text) - special,
            "fours": "4" if pictures == 1 else "2 · 4", "spaces": text.count(" "), "length": len(text),
            "answer": answer, "wrong": wrong}  # fmt: skip


def price(random: Random) -> Values:
    """The parameters that a larger table costs, for each position that longer pieces save."""
    while True:
        sizes = random.choice([(2000, 10000), (4000, 16000), (8000, 32000), (10000, 50000), (16000, 64000)])
        (small, large), (short, long) = sizes, random.choice([(2, 3), (2, 4), (3, 4), (3, 5), (4, 5)])
        width, letters = random.choice([128, 256, 384, 512, 768]), random.choice([12000, 24000, 30000, 60000, 120000])
        if letters % short or letters % long:
            continue
        before, after = letters // short, letters // long
        saved, gained = before - after, (large - small) * width
        if gained % saved:
            continue
        wrong = {
            "tkn-rows-without-width": (large - small) / saved,
            "tkn-whole-table": large * width / saved,
            "tkn-positions-kept": gained / after,
            "tkn-lengths-subtracted": gained / (letters / (long - short)),
        }
        if len({float(gained // saved), *wrong.values()}) == 5:
            break
    return {"small": small, "large": large, "short": short, "long": long, "width": width, "letters": letters,
            "before": before, "after": after, "saved": saved, "rows": large - small, "gained": gained,
            "apart": long - short, "answer": gained // saved, "wrong": wrong}  # fmt: skip


def digits(random: Random) -> Values:
    """What the first three digits of a number stand for, where it is cut from the left into pieces of three."""
    length = random.choice([4, 5, 7, 8])
    number = "".join(random.sample("123456789", length))
    pieces = [number[start : start + 3] for start in range(0, length, 3)]
    head, rest = length % 3, length - 3
    return {"number": number, "pieces": "|".join(pieces), "first": pieces[0],
            "more": f"{rest} digit{'s' * (rest > 1)}", "zeros": 10**rest,
            "groups": f"{int(number):,}", "other": int(pieces[0]) * 10 ** (rest + 1),
            "answer": int(pieces[0]) * 10**rest,
            "wrong": {
                "tkn-piece-at-face-value": int(pieces[0]),
                "tkn-pieces-as-thousands": int(pieces[0]) * 1000 ** (len(pieces) - 1),
                "tkn-cut-from-the-right": int(number[:head]) * 10 ** (length - head),
            }}  # fmt: skip


# --- what it never learns ---------------------------------------------------------------------------------------------

TRUE = (
    ("the tokenizer's merges come from counts of pairs, made before the model is trained", "tokenizer-is-learned"),
    ("the loss has no gradient for the merges", "tokenizer-is-learned"),
    ("with other ids for the same pieces, and all rows moved along, the model computes the same", "ids-are-numbers"),
    ('the piece "bank" has one id, whether a river or money is meant', "tokenizer-knows-meaning"),
    ('the tokenizer does not know that "Cat" and "cat" are one word', "tokenizer-knows-meaning"),
)
FALSE = (
    ("pieces with neighbouring ids begin with similar vectors", "ids-are-numbers"),
    ("a piece with a large id has a stronger effect on the scores than one with a small id", "ids-are-numbers"),
    ("the tokenizer cuts a word where one unit of meaning ends and the next begins", "tokenizer-knows-meaning"),
    ("words that mean much the same get ids close together", "tokenizer-knows-meaning"),
    ("a merge that makes the loss larger is undone while the model trains", "tokenizer-is-learned"),
    (
        "when the model is trained further on medical texts, the tokenizer gets pieces for medical words",
        "tokenizer-is-learned",
    ),
)


def never_learns(random: Random) -> Values:
    """Five statements on a tokenizer, two or three of them true."""
    true = random.sample(TRUE, random.choice([2, 3]))
    false = random.sample(FALSE, 5 - len(true))
    return {"options": [{"text": text, "right": (text, tag) in true, "tag": tag} for text, tag in [*true, *false]]}
