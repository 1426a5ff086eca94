"""Numbers, tensors and code for the questions on writing softmax."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from random import Random
from typing import Any

from grader.api.questions import distinct_sizes

Values = dict[str, Any]


# --- axes -------------------------------------------------------------------------------------------------------------


def reduction_shapes(random: Random) -> Values:
    """A mean over one of three axes, with and without keepdim, and x minus the mean."""
    shape = distinct_sizes(random, 3, (2, 3, 4, 5, 6, 7, 9))
    axis = random.randrange(3)
    dim = random.choice([axis, axis - 3])
    gone = [*shape[:axis], *shape[axis + 1 :]]
    kept = [*shape[:axis], 1, *shape[axis + 1 :]]
    wrong = [
        {"tag": "softmax-reduction-keeps-axis", "blank": 1, "shape": kept},
        {"tag": "softmax-only-axis-left", "blank": 1, "shape": [shape[axis]]},
        {"tag": "softmax-keepdim", "blank": 2, "shape": gone},
        {"tag": "softmax-broadcast-shrinks", "blank": 3, "shape": kept},
    ]
    if axis:
        neighbour = [*shape[: axis - 1], *shape[axis:]]
        wrong.append({"tag": "softmax-counts-axes-from-one", "blank": 1, "shape": neighbour})
    code = (
        f"x = torch.randn({', '.join(map(str, shape))})\n"
        f"gone = x.mean(dim={dim})\n"
        f"kept = x.mean(dim={dim}, keepdim=True)\n"
        "rest = x - kept"
    )
    return {"shape": shape, "axis": axis, "dim": dim, "size": shape[axis], "gone": gone, "kept": kept, "code": code,
            "answer": [gone, kept, shape], "wrong": wrong}  # fmt: skip


def lost_axis(random: Random) -> Values:
    """A row of a 2 × 2 table divided by totals that have lost their axis."""
    while True:
        dim, row = random.choice([0, 1, 1]), random.randrange(2)
        table = _table(random, dim)
        rows, columns = [sum(line) for line in table], [sum(line) for line in zip(*table, strict=True)]
        used = rows if dim else columns
        quotients = [table[row][place] / used[place] for place in range(2)]
        own = [entry / rows[row] for entry in table[row]]
        others = [table[row][place] / columns[place] for place in range(2)] if dim else own
        different_ones = all(_apart(quotients, each) for each in (own, others)) and (not dim or _apart(own, others))
        if different_ones and not any(each.is_integer() for each in quotients):
            break
    wrong = {"softmax-wrong-totals": _printed(others)} | ({"softmax-keepdim": _printed(own)} if dim else {})
    floats = [[float(entry) for entry in line] for line in table]
    code = f"table = torch.tensor({floats})\ntotal = table.sum(dim={dim})\nprint((table / total)[{row}].tolist())"
    return {"dim": dim, "row": row, "code": code, "answer": str(quotients), "wrong": wrong,
            "along": "each row" if dim else "each column",
            "why": _why_lost(dim, row, table[row], rows, columns)}  # fmt: skip


def _table(random: Random, dim: int) -> list[list[int]]:
    """Two slices along `dim` whose totals are powers of 2, so that the quotients are short."""
    slices = []
    for total in random.sample([4, 8, 16], 2):
        first = random.randrange(1, total)
        slices.append([first, total - first])
    return slices if dim else [list(line) for line in zip(*slices, strict=True)]


def _apart(one: list[float], other: list[float]) -> bool:
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) > 0.01


def _printed(numbers: list[float]) -> str:
    return f"[{', '.join(f'{number:.4f}' for number in numbers)}]"


def _why_lost(dim: int, row: int, entries: list[int], rows: list[int], columns: list[int]) -> str:
    first, second = entries
    if dim:
        return (
            f"dim=1 adds up each row: total holds {rows[0]} and {rows[1]}, in the shape (2,). Broadcasting counts from "
            f"the right, so it lines up with the columns: row {row} becomes {first}/{rows[0]} and {second}/{rows[1]}, "
            f"columns divided by the totals of rows. With keepdim=True the shape is (2, 1), and row {row} is divided "
            f"by its own {rows[row]}."
        )
    return (
        f"dim=0 adds up each column: total holds {columns[0]} and {columns[1]}, in the shape (2,). Broadcasting counts "
        f"from the right, so it lines up with the columns, to which it belongs: row {row} becomes "
        f"{first}/{columns[0]} and {second}/{columns[1]}. Without keepdim that is luck, and for dim=1 it ends."
    )


def slices(random: Random) -> Values:
    """How many slices softmax normalises: the product of the sizes of all axes but one."""
    while True:
        shape = distinct_sizes(random, random.choice([3, 4]), (2, 3, 4, 5, 6, 7))
        axis = random.randrange(len(shape))
        size, answer = shape[axis], prod(shape) // shape[axis]
        wrong = {"softmax-one-total": 1, "softmax-slice-length": size}
        if axis:
            wrong["softmax-counts-axes-from-one"] = prod(shape) // shape[axis - 1]
        if len({answer, *wrong.values()}) == len(wrong) + 1:
            break
    others = " × ".join(str(each) for place, each in enumerate(shape) if place != axis)
    return {"shape": tuple(shape), "dim": random.choice([axis, axis - len(shape)]), "size": size, "others": others,
            "answer": answer, "wrong": wrong}  # fmt: skip


# --- differences become ratios ----------------------------------------------------------------------------------------

RATIOS = (
    (2, 1),
    (3, 1),
    (3, 2),
    (4, 1),
    (4, 3),
    (5, 1),
    (5, 2),
    (5, 3),
    (5, 4),
    (6, 5),
    (7, 2),
    (7, 3),
    (7, 5),
    (8, 3),
)
ROOTS = ((4, 1), (9, 1), (9, 4), (16, 1), (16, 9), (25, 1), (25, 4), (25, 9), (25, 16), (36, 1), (36, 25), (49, 4))


def factor(random: Random) -> Values:
    """The weights of two scores after both are multiplied by a factor: their ratio is raised to that power."""
    while True:
        by = random.choice([2, 2, 3, 0.5, 0.5])
        first, second = random.choice(ROOTS if by == 0.5 else RATIOS)
        if random.random() < 0.5:
            first, second = second, first
        new_first, new_second = round(first**by), round(second**by)
        answer = new_first / (new_first + new_second)
        wrong = {
            "softmax-scale-free": first / (first + second),
            "softmax-multiplies-ratios": first * by / (first * by + second),
            "softmax-factor-as-temperature": first ** (1 / by) / (first ** (1 / by) + second ** (1 / by)),
        }
        values = sorted([answer, *wrong.values()])
        if answer > 0.05 and all(high - low > 0.01 for low, high in pairwise(values)):
            break
    return {"first": first, "second": second, "whole": first + second, "factor": by, "new_first": new_first,
            "new_second": new_second, "new_whole": new_first + new_second, "answer": answer,
            "wrong": wrong}  # fmt: skip


# --- large numbers ----------------------------------------------------------------------------------------------------


def naive_nan(random: Random) -> Values:
    """Which scores give NaN where nothing is shifted: one exp that overflows, or all that underflow."""
    high, low = random.randrange(95, 990), -random.randrange(110, 990)
    cases = [
        ([high, high + random.randrange(1, 9)], True, "softmax-overflow-limit"),
        ([random.randrange(9), random.randrange(95, 990)], True, "softmax-overflow-limit"),
        ([low, low - random.randrange(1, 9)], True, "softmax-underflow"),
        ([random.randrange(9), -random.randrange(110, 990)], False, "softmax-underflow"),
        (["-inf", random.randrange(-9, 9)], False, "softmax-minus-inf"),
        ([random.randrange(50, 80), -random.randrange(50, 80)], False, "softmax-overflow-limit"),
    ]
    del cases[random.randrange(len(cases))]
    options = [{"text": _scores(scores), "right": right, "tag": tag} for scores, right, tag in cases]
    listed = ",\n          ".join(option["text"].removeprefix("x = ") for option in options)
    return {"options": options, "listed": listed.replace("-inf", "-torch.inf")}


def _scores(scores: list[Any]) -> str:
    return f"x = [{', '.join(each if isinstance(each, str) else f'{each}.0' for each in scores)}]"


# --- the caller's tensor ----------------------------------------------------------------------------------------------

WRITES = (
    ("x -= m", "softmax-in-place"),
    ("x.sub_(m)", "softmax-in-place"),
    ("x.exp_()", "softmax-in-place"),
    ("x[0] = 0.0", "softmax-in-place"),
    ("torch.exp(x, out=x)", "softmax-in-place"),
    ("y = x.T; y -= m", "softmax-shared-memory"),
    ("y = x.view(-1); y[0] = 0.0", "softmax-shared-memory"),
    ("y = x.detach(); y -= m", "softmax-shared-memory"),
    ("y = x[1]; y.exp_()", "softmax-shared-memory"),
)
LEAVES = (
    ("x = x - m", "softmax-in-place"),
    ("x = x.exp()", "softmax-in-place"),
    ("x.sub(m)", "softmax-in-place"),
    ("y = x - m; y.exp_()", "softmax-shared-memory"),
    ("y = x.clone(); y -= m", "softmax-shared-memory"),
    ("x = x.double(); x -= m", "softmax-shared-memory"),
)


def changed(random: Random) -> Values:
    """Lines that write into the caller's tensor, and lines that do not."""
    written = random.choice([1, 2, 2, 3, 3, 4])
    drawn = [(each, True) for each in random.sample(WRITES, written)]
    drawn += [(each, False) for each in random.sample(LEAVES, 5 - written)]
    options = [{"text": line, "right": right, "tag": tag} for (line, tag), right in drawn]
    return {"options": options, "listed": ",\n             ".join(f'"{option["text"]}"' for option in options)}


# --- one wrong line ---------------------------------------------------------------------------------------------------

ROWS = """\
def softmax(rows):
    result = []
    for row in rows:
        top = max(row)
        powers = [math.exp(score - top) for score in row]
        total = sum(powers)
        result.append([power / total for power in powers])
    return result"""


def rows_in_python(random: Random) -> Values:
    """Softmax of a list of lists with one line spoilt, and what is seen of it."""
    low, far = random.randrange(2, 9), 100 * random.randrange(8, 20)
    line, spoilt, blamed, symptom, why = random.choice(_spoilt(low, far))
    lines = ROWS.split("\n")
    fix, indent = lines[line - 1].strip(), len(lines[line - 1]) - len(lines[line - 1].lstrip())
    lines[line - 1] = " " * indent + spoilt
    return {"code": "\n".join(lines), "answer": line, "fix": fix, "symptom": symptom, "why": why,
            "wrong": {"softmax-blames-the-symptom": blamed}}  # fmt: skip


def _spoilt(low: int, far: int) -> list[tuple[int, str, int, str, str]]:
    """(line, what stands there, the line that is blamed for it, what is seen, why)."""
    return [
        (4, "top = max(max(each) for each in rows)", 7,
         f"[[0, {low}], [{far}, {far + low}]] ends in a ZeroDivisionError",
         f"The maximum of all rows is {far + low}. Row 0 lies so far below it that exp of every shifted score is 0, "
         "and so is their sum. Each row needs its own maximum."),
        (4, "top = min(row)", 5,
         f"[[0, {far}]] ends in an OverflowError",
         f"Shifted by the minimum, the largest score is still {far}, and exp of that is too large for a float. Only "
         "the maximum makes every exponent 0 or less."),
        (4, "top = sum(row) / len(row)", 5,
         f"[[0, 0, {3 * far}]] ends in an OverflowError",
         f"Shifted by the mean, {far}, the largest score is still {2 * far}, and exp of that is too large for a float. "
         "Only the maximum makes every exponent 0 or less."),
        (5, "powers = [math.exp(score) - top for score in row]", 4,
         f"[[{low}, 0]] gets a negative weight",
         f"exp(0) - {low} is not positive. The maximum must be taken from the score before exp, where it shifts the "
         "exponent and cancels in the quotient."),
        (6, "total = sum(math.exp(score) for score in row)", 7,
         f"the weights of [[{low}, {low}]] sum to exp(-{low})",
         "The powers above the fraction line are shifted and those below are not, so the shift does not cancel: "
         f"every weight is too small by the factor exp(-{low})."),
        (6, "total = max(powers)", 7,
         "the largest weight of every row is 1",
         "Divided by the largest power the weights show what part of the best each is. To sum to 1 they must be "
         "divided by the sum of the powers."),
        (6, "total = len(powers)", 5,
         f"the weights of [[{low}, 0, 0]] sum to less than 1",
         "Divided by their number, the powers come to their mean, and not to 1. They must be divided by their sum."),
        (7, "result.append([score / total for score in row])", 6,
         f"[[{low}, -1]] gets a negative weight",
         "The scores themselves are divided, and a score may be negative. What is divided by the sum of the powers "
         "must be the powers."),
    ]  # fmt: skip
