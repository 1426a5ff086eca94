"""Numbers, tables and code for the questions on writing the positional encoding."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

from grader.api.questions import distinct_sizes

Values = dict[str, Any]


# --- angles -----------------------------------------------------------------------------------------------------------


def draft(random: Random) -> Values:
    """An entry of a line of angles with a mistake in it, all powers of 10 by the choice of D."""
    p, made = (
        random.choice([2, 3, 4, 5, 6, 7, 8, 9, 20, 30, 50]),
        random.choice([_doubled, _halved, _inverted, _floored]),
    )
    return {"p": p, **made(random, p)}


def _angles(p: int, D: int, n: int, indexes: str, line: str, exponent: float) -> Values:  # noqa: N803 - as in the lesson
    """What all drafts have in common. `exponent` is that of the right table, in tens."""
    return {"D": D, "n": n, "code": f"j = torch.arange({indexes})\nangles = {line}", "should": p / 10**exponent}


def _doubled(random: Random, p: int) -> Values:
    D, n = random.choice([(8, 1), (8, 2), (8, 3), (16, 2), (16, 4), (16, 6), (4, 1)])  # noqa: N806 - as in the lesson
    tens = 8 * n // D  # twice the exponent 2n/D, times the 4 of 10000
    common = _angles(p, D, n, f"0, {D}, 2", f"{p} / 10000 ** (2 * j / {D})", tens)
    answer = p / 10 ** (2 * tens)
    why = (
        f"j[{n}] is {2 * n}, so the exponent is 2 · {2 * n}/{D} = {4 * n / D:g}, and 10000 to it is "
        f"{10 ** (2 * tens):,}: the angle is {p} / {10 ** (2 * tens):,}. j counts 0, 2, 4, ... and is already the 2i "
        f"of the formula, so the 2 stands there twice. The table should have {_plain(common['should'])}."
    )
    wrong = {
        "positional-encoding-reads-the-intention": common["should"],
        "positional-encoding-divides-anyway": p * 10.0 ** (2 * tens),
    }
    return {**common, "answer": answer, "wrong": wrong, "why": why}


def _halved(random: Random, p: int) -> Values:
    D, n = random.choice([(8, 2), (16, 4), (4, 1), (12, 3)])  # noqa: N806 - as in the lesson
    tens = 8 * n // D
    common = _angles(p, D, n, f"{D // 2}", f"{p} / 10000 ** (j / {D})", tens)
    answer = p / 10 ** (tens / 2)
    why = (
        f"j[{n}] is {n}, so the exponent is {n}/{D} = {n / D:g}, and 10000 to it is {10 ** (tens // 2):,}: the angle "
        f"is {p} / {10 ** (tens // 2):,}. j counts pairs here, and the formula has 2i/D: a 2 is missing. The table "
        f"should have {_plain(common['should'])}."
    )
    wrong = {
        "positional-encoding-reads-the-intention": common["should"],
        "positional-encoding-divides-anyway": p * 10.0 ** (tens // 2),
    }
    return {**common, "answer": answer, "wrong": wrong, "why": why}


def _inverted(random: Random, p: int) -> Values:
    D, n = random.choice([(8, 1), (8, 2), (8, 3), (16, 2), (16, 4), (4, 1)])  # noqa: N806 - as in the lesson
    tens = 8 * n // D
    common = _angles(p, D, n, f"{D // 2}", f"{p} * 10000 ** (2 * j / {D})", tens)
    why = (
        f"j[{n}] is {n}, so the exponent is 2 · {n}/{D} = {2 * n / D:g}, and 10000 to it is {10**tens:,}: the draft "
        f"gives {p} · {10**tens:,}. With every pair its hands turn faster. The formula divides, for hands that turn "
        f"slower: the table should have {_plain(common['should'])}."
    )
    wrong = {"positional-encoding-divides-anyway": common["should"]}
    return {**common, "answer": p * 10**tens, "wrong": wrong, "why": why}


def _floored(random: Random, p: int) -> Values:
    D, n = random.choice([(8, 1), (8, 2), (8, 3), (16, 2), (16, 4), (4, 1)])  # noqa: N806 - as in the lesson
    tens = 8 * n // D
    common = _angles(p, D, n, f"{D // 2}", f"{p} / 10000 ** (2 * j // {D})", tens)
    why = (
        f"j[{n}] is {n}, and {2 * n} // {D} is 0: // rounds down, and 2j is always less than {D}. 10000 to the power 0 "
        f"is 1, and all angles are {p}, as if all hands turned alike. The table should have {_plain(common['should'])}."
    )
    wrong = {"positional-encoding-reads-the-intention": common["should"]}
    return {**common, "answer": p, "wrong": wrong, "why": why}


def _plain(number: float) -> str:
    return f"{number:.8f}".rstrip("0").rstrip(".")


def shapes(random: Random) -> Values:
    """Positions as a column, one number for each pair as a row, their product, and the sum with a batch."""
    while True:
        B, T, half = distinct_sizes(random, 3, (2, 3, 4, 5, 6, 7, 9, 10))  # noqa: N806 - the lesson's letters
        D = 2 * half  # noqa: N806 - as above
        if len({B, T, half, D}) == 4:
            break
    wrong = [
        {"tag": "positional-encoding-row-for-column", "blank": 1, "shape": [1, T]},
        {"tag": "positional-encoding-step-ignored", "blank": 2, "shape": [D]},
        {"tag": "positional-encoding-step-ignored", "blank": 3, "shape": [T, D]},
        {"tag": "positional-encoding-outer-product", "blank": 3, "shape": [T, 1]},
        {"tag": "positional-encoding-outer-product", "blank": 3, "shape": [half]},
        {"tag": "positional-encoding-concatenated", "blank": 4, "shape": [B, T, 2 * D]},
    ]
    return {"B": B, "T": T, "D": D, "half": half, "answer": [[T, 1], [half], [T, half], [B, T, D]],
            "wrong": wrong}  # fmt: skip


# --- the layout -------------------------------------------------------------------------------------------------------

ALTERNATE, EXCHANGED, BLOCKS = "alternate", "exchanged", "blocks"
LAYOUTS = (
    ("row = torch.cat((s, c))", BLOCKS,
     "cat puts one tensor after the other, so all of s comes before all of c. The lesson's table alternates."),
    ("row = torch.stack((s, c)).flatten()", BLOCKS,
     "stack makes two rows, (2, 3), and flatten reads row after row: all of s, then all of c. The lesson's table "
     "alternates."),
    ("row = torch.stack((s, c), dim=-1).flatten()", ALTERNATE,
     "stack along the last axis makes three pairs, (3, 2), and flatten reads them one after the other: s and c "
     "alternate, as in the lesson."),
    ("row = torch.stack((c, s), dim=1).flatten()", EXCHANGED,
     "stack along axis 1 makes three pairs, (3, 2), with c first, and flatten reads them one after the other. They "
     "alternate, but in the lesson the sine comes first."),
    ("row = torch.empty(6, dtype=torch.int64)\nrow[:3] = s\nrow[3:] = c", BLOCKS,
     "row[:3] is the first half and row[3:] the second: all of s, then all of c. The lesson's table alternates."),
    ("row = torch.empty(6, dtype=torch.int64)\nrow[1::2] = s\nrow[0::2] = c", EXCHANGED,
     "1::2 are the places 1, 3, 5 and 0::2 the places 0, 2, 4. They alternate, but c comes first; in the lesson the "
     "sine has the even columns."),
    ("row = torch.stack((s, c)).T.flatten()", ALTERNATE,
     "stack makes two rows, (2, 3); transposed these are three pairs, (3, 2), and flatten reads them one after the "
     "other: s and c alternate, as in the lesson."),
)  # fmt: skip


def layout(random: Random) -> Values:
    """What becomes of three sines and three cosines: alternating, exchanged or in two blocks."""
    numbers = random.sample(range(1, 10), 6)
    s, c = numbers[:3], numbers[3:]
    line, layout, why = random.choice(LAYOUTS)
    rows = {
        ALTERNATE: [each for pair in zip(s, c, strict=True) for each in pair],
        EXCHANGED: [each for pair in zip(c, s, strict=True) for each in pair],
        BLOCKS: s + c,
    }
    wrong = {
        ALTERNATE: {"positional-encoding-blocks": BLOCKS, "positional-encoding-order-in-pair": EXCHANGED},
        EXCHANGED: {"positional-encoding-blocks": BLOCKS, "positional-encoding-order-in-pair": ALTERNATE},
        BLOCKS: {"positional-encoding-blocks": ALTERNATE},
    }[layout]
    code = f"s, c = torch.tensor({s}), torch.tensor({c})\n{line}\nprint(row.tolist())"
    return {"code": code, "answer": str(rows[layout]), "why": why,
            "wrong": {tag: str(rows[other]) for tag, other in wrong.items()}}  # fmt: skip


# --- the table --------------------------------------------------------------------------------------------------------


def assertions(random: Random) -> Values:
    """Claims about a right table: of row 0, of lengths, of distances, of pairs."""
    while True:
        half = random.choice([3, 4, 5, 6, 8])
        p, q = sorted(random.sample(range(2, 10), 2))
        wrong = _wrong_claims(half, p, q)
        if all(off > 0.003 for _, _, off in wrong):
            break
    far, gap, i = random.randrange(12, 30), q - p, random.randrange(1, half)
    right = [
        (f"pe[0].sum() == {half}", "first-row"),
        ("pe[0, 1] == pe[0, 3]", "first-row"),
        (f"pe[{p}] @ pe[{p}] == {half}", "row-length"),
        (f"pe[{p}].square().sum() == pe[{q}].square().sum()", "row-length"),
        (f"pe[{p}] @ pe[{q}] == pe[{far}] @ pe[{far + gap}]", "distance"),
        (f"pe[0] @ pe[{gap}] == pe[{p}] @ pe[{q}]", "distance"),
        (f"pe[{p}, {2 * i}]**2 + pe[{p}, {2 * i + 1}]**2 == 1", "pairs-of-columns"),
    ]
    count = random.choice([2, 2, 3, 3])
    drawn = [(text, about, True) for text, about in random.sample(right, count)]
    drawn += [(text, about, False) for text, about, _ in random.sample(wrong, 5 - count)]
    options = [{"text": text, "right": truth, "tag": f"positional-encoding-{about}"} for text, about, truth in drawn]
    return {"T": 64, "D": 2 * half, "half": half, "options": options}


def _wrong_claims(half: int, p: int, q: int) -> list[tuple[str, str, float]]:
    """(claim, what it is about, how far its sides are apart)."""
    slowness = [10000 ** (i / half) for i in range(half)]

    def dot(p: int, q: int) -> float:
        return sum(math.cos((p - q) / slow) for slow in slowness)

    across = math.cos(p) ** 2 + math.sin(p / slowness[1]) ** 2
    return [
        ("pe[0].sum() == 0", "first-row", half),
        (f"pe[{p}].norm() == 1", "row-length", math.sqrt(half) - 1),
        (f"pe[{q}] @ pe[{q}] == {2 * half}", "row-length", half),
        (f"pe[{p}] @ pe[{q}] == pe[{2 * p}] @ pe[{2 * q}]", "distance", abs(dot(p, q) - dot(2 * p, 2 * q))),
        (f"pe[{p}] @ pe[{q}] == pe[0] @ pe[{p + q}]", "distance", abs(dot(p, q) - dot(0, p + q))),
        (f"pe[{p}, 1]**2 + pe[{p}, 2]**2 == 1", "pairs-of-columns", abs(across - 1)),
        (f"pe[{2 * p}, 0] == 2 * pe[{p}, 0]", "as-linear", abs(math.sin(2 * p) - 2 * math.sin(p))),
        (f"pe[{p}, 0] + pe[{q}, 0] == pe[{p + q}, 0]", "as-linear",
         abs(math.sin(p) + math.sin(q) - math.sin(p + q))),
    ]  # fmt: skip


# --- mistakes ---------------------------------------------------------------------------------------------------------

WIDTH = 8
Entry = Callable[[int, int], float]  # of (position, column)


def _wave(angle: float, column: int) -> float:
    return math.cos(angle) if column % 2 else math.sin(angle)


def _right(p: int, column: int) -> float:
    return _wave(p / 10 ** (column // 2), column)


MISTAKES: dict[str, tuple[str, Entry]] = {
    "positional-encoding-exponent": (
        "The exponent is doubled.", lambda p, column: _wave(p / 100 ** (column // 2), column)),
    "positional-encoding-blocks": (
        "All sines come first, then the cosines.",
        lambda p, column: _right(p, 2 * column if column < WIDTH // 2 else 2 * column - WIDTH + 1)),
    "positional-encoding-own-exponents": (
        "Odd columns have an exponent of their own.", lambda p, column: _wave(p / 10 ** (column / 2), column)),
    "positional-encoding-from-one": (
        "Positions are counted from 1.", lambda p, column: _right(p + 1, column)),
    "positional-encoding-order-in-pair": (
        "Cosines come before sines.", lambda p, column: _right(p, column + 1 - 2 * (column % 2))),
    "positional-encoding-inverted": (
        "It multiplies by the divisors.", lambda p, column: _wave(p * 10 ** (column // 2), column)),
}  # fmt: skip


def diagnose(random: Random) -> Values:
    """A row that was made with one mistake, beside the right one."""
    p = random.randrange(1, 7)
    made_by = random.choice(list(MISTAKES))
    text, entry = MISTAKES[made_by]
    wrong = [{"tag": tag, "text": other} for tag, (other, _) in MISTAKES.items() if tag != made_by]
    code = "\n".join([
        "column " + "".join(f"{column:8}" for column in range(WIDTH)),
        "right  " + _shown(_right, p),
        "made   " + _shown(entry, p),
    ])  # fmt: skip
    begins = {
        f"if_{tag.removeprefix('positional-encoding-').replace('-', '_')}": " ".join(_shown(each, p).split()[:4])
        for tag, (_, each) in MISTAKES.items()
    }
    return {"p": p, "right": text, "wrong": wrong, "code": code, "why": _why_row(made_by, p), **begins}


def _shown(entry: Entry, p: int) -> str:
    return "".join(f"{entry(p, column):8.3f}" for column in range(WIDTH)).replace("-0.000", " 0.000")


def _why_row(mistake: str, p: int) -> str:
    return {
        "positional-encoding-exponent": f"Columns 2 and 3 are the sine and cosine of {p}/100 and not of {p}/10: the "
        "divisors are 1, 100, 10000, ... arange(0, D, 2) already counts 2i, and another 2 makes it 4i.",
        "positional-encoding-blocks": "The numbers are right and stand elsewhere: first the four sines, the right "
        "row's columns 0, 2, 4 and 6, then the four cosines. The sines and cosines of a pair belong side by side.",
        "positional-encoding-own-exponents": f"Column 1 should be cos({p}) and is cos({p}/10^0.5): it has a divisor "
        "between those of columns 0 and 2. Both columns of a pair have the same frequency.",
        "positional-encoding-from-one": f"Column 0 is sin({p + 1}): this is row {p + 1} of the right table. Positions "
        "start at 0, and row 0 is 0, 1, 0, 1, ...",
        "positional-encoding-order-in-pair": f"Columns 0 and 1 are cos({p}) and sin({p}), and every other pair is "
        "turned round as well. Sines have the even columns.",
        "positional-encoding-inverted": f"Columns 2 and 3 are the sine and cosine of {10 * p}, those of the last pair "
        f"of {1000 * p}. Higher columns must turn slower, and the last pair hardly at all.",
    }[mistake]


# --- dtypes -----------------------------------------------------------------------------------------------------------


def dtypes(random: Random) -> Values:
    """Integer division, integers that cut off, and half precision that cannot count."""
    return random.choice([_division, _buffer, _counting, _counting])(random)


def _division(random: Random) -> Values:
    D = random.choice([4, 8, 16])  # noqa: N806 - the lesson's letter
    floors = random.random() < 0.6
    step = D // 4
    fractions, zeros = str([each / D for each in range(0, D, step)]), str([0] * 4)
    why = (
        f"// rounds down, and each of these numbers is less than {D}: what is left are zeros, of an integer dtype. As "
        "an exponent that makes all frequencies 1." if floors
        else f"/ between integers gives floats in torch, here the fractions of {D}. With // all of them would be 0."
    )  # fmt: skip
    return {"code": f"print((torch.arange(0, {D}, {step}) {'//' if floors else '/'} {D}).tolist())", "why": why,
            "answer": zeros if floors else fractions,
            "wrong": {"positional-encoding-integer-division": fractions if floors else zeros}}  # fmt: skip


def _buffer(random: Random) -> Values:
    while True:
        waves = [random.choice([-1, 1]) * random.randrange(11, 100) / 100 for _ in range(2)] + [1.0]
        random.shuffle(waves)
        if len({str(waves), str([int(each) for each in waves]), str([round(each) for each in waves])}) == 3:
            break
    whole = random.choice(["torch.arange(3)", "torch.tensor([0, 0, 0])"])
    wrong = {
        "positional-encoding-rounds": str([round(each) for each in waves]),
        "positional-encoding-keeps-floats": str(waves),
    }
    return {"code": f"row = {whole}\nrow[:] = torch.tensor({waves})\nprint(row.tolist())",
            "answer": str([int(each) for each in waves]), "wrong": wrong,
            "why": "row was made of whole numbers, so its dtype is int64, and it keeps it. What is written into it is "
                   "cut off towards 0: of sines and cosines only -1, 0 and 1 are left. Make the table with a float "
                   "dtype."}  # fmt: skip


def _counting(random: Random) -> Values:
    dtype, limit = random.choice([("float16", 2048), ("bfloat16", 256)])
    start = random.choice([limit // 4, limit // 2, limit, 2 * limit, 4 * limit])
    counts = start < limit
    why = (
        f"{dtype} has {limit.bit_length() - 1} significant bits, so it can hold every whole number up to {limit}. "
        + (f"{start + 1} is one of them." if counts
           else f"{start + 1} is not among those it can hold, and the sum is rounded back to {start}. Positions must "
                "be counted in float32.")
    )  # fmt: skip
    answer, wrong = (start + 1, start) if counts else (start, start + 1)
    return {"code": f"p = torch.tensor({start}.0, dtype=torch.{dtype})\nprint((p + 1).item())", "why": why,
            "answer": f"{answer}.0", "wrong": {"positional-encoding-half-counts": f"{wrong}.0"}}  # fmt: skip


# --- one wrong line ---------------------------------------------------------------------------------------------------

LAYER = """\
class Embedding(nn.Module):
    def __init__(self, words, longest, d_model):
        super().__init__()
        self.words = nn.Embedding(words, d_model)
        self.register_buffer("table", encoding(longest, d_model))

    def forward(self, ids):  # (B, T), whole numbers
        x = self.words(ids)
        places = self.table[: ids.size(1)]
        return x + places  # (B, T, d_model)"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (5, "self.table = nn.Parameter(encoding(longest, d_model))", 10,
     "after a few steps of training, row 0 of the table is no longer 0, 1, 0, 1 and so on",
     "A parameter is learned: the optimiser changes the table. A buffer is saved and moved with the model and never "
     "trained."),
    (5, "self.table = encoding(longest, d_model)", 9,
     'after layer.to("cuda") the words are on the GPU, and the table is still on the CPU',
     "A tensor as a plain attribute is unknown to the module. As a buffer it moves with the parameters."),
    (5, 'self.register_buffer("table", encoding(d_model, longest))', 10,
     "the shapes of x and places do not match, unless longest and d_model are equal",
     "The table has a row for each position and a column for each component. Here it has them the other way round."),
    (9, "places = self.table[: ids.size(0)]", 8,
     "for a batch of one sentence, the vector of a word is the same wherever it stands",
     "The first size of ids is the number of sentences. One row is taken for one sentence, row 0, and added at every "
     "position. The number of positions is the second size."),
    (9, "places = self.table[ids]", 8,
     "the vector of a word is the same wherever it stands",
     "This looks up rows by the number of the word, not by its position. Row t must be taken for the t-th place."),
    (9, "places = self.table[ids.size(1)]", 5,
     "the vector of a word is the same wherever it stands, but differs between sentences of different lengths",
     "Without the colon this is one row, the one after the last position, added everywhere. All rows before it are "
     "needed."),
    (10, "return x * places", 9,
     "at position 0 every second component is 0, for every word",
     "The embedding is multiplied by row 0, which is 0, 1, 0, 1, ... The encoding is added."),
    (10, "return torch.cat((x, places.expand_as(x)), dim=-1)", 9,
     "the vectors are twice as wide as the next layer expects",
     "The encoding takes columns of its own beside the embedding. It is added, and the width stays d_model."),
)  # fmt: skip


def embedding_layer(random: Random) -> Values:
    """A layer that adds the table to the embeddings, with one line spoilt, and what is seen of it."""
    line, spoilt, blamed, symptom, why = random.choice(SPOILT)
    lines = LAYER.split("\n")
    fix, indent = lines[line - 1].strip(), len(lines[line - 1]) - len(lines[line - 1].lstrip())
    lines[line - 1] = " " * indent + spoilt
    return {"code": "\n".join(lines), "answer": line, "fix": fix.partition("  #")[0], "symptom": symptom, "why": why,
            "wrong": {"positional-encoding-blames-the-symptom": blamed}}  # fmt: skip
