"""Numbers and code for the questions on rotary positions."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from grader.api.questions import are_far_apart, spoil_line

Values = dict[str, Any]

BASES = ((100, 4), (10000, 4), (10000, 8), (256, 8), (1296, 8), (4096, 12))  # bases and widths with rates easy to type


def angle(random: Random) -> Values:
    """The angle of a pair at a position."""
    while True:
        (base, d_head), position = random.choice(BASES), random.randrange(2, 31)
        pair = random.randrange(1, d_head // 2)
        exponent = 2 * pair / d_head
        answer = position * base**-exponent
        wrong = {"rope-exponent-twice": position * base ** (-2 * exponent),
                 "rope-exponent-half": position * base ** (-exponent / 2),
                 "rope-later-faster": position * base**exponent,
                 "rope-pairs-from-one": position * base ** (-2 * (pair - 1) / d_head)}  # fmt: skip
        if are_far_apart(answer, *wrong.values()):
            break
    return {"base": base, "d_head": d_head, "pair": pair, "position": position, "rate": base**-exponent,
            "answer": answer, "wrong": wrong}  # fmt: skip


def turned(random: Random) -> Values:
    """One feature of the first pair, turned by two or three steps."""
    while True:
        c, s = random.choice([(0.6, 0.8), (0.8, 0.6)])
        x = [random.randrange(-4, 5) for _ in range(4)]
        position, place = random.choice([1, 2, 3]), random.choice([0, 1])
        cos, sin = (complex(c, s) ** position).real, (complex(c, s) ** position).imag
        a, b = x[0], x[1]

        def turn(a: float, b: float, cos: float, sin: float, place: int = place) -> float:
            return (a * cos - b * sin, a * sin + b * cos)[place]

        answer = turn(a, b, cos, sin)
        wrong = {"rope-turned-backwards": turn(a, b, cos, -sin),
                 "rope-mirrored": (-(a * cos + b * sin), a * sin - b * cos)[place],
                 "rope-other-partner": turn(*((b, x[3]) if place else (a, x[2])), cos, sin, 0)}  # fmt: skip
        if position > 1:
            wrong["rope-first-step-only"] = turn(a, b, c, s)
        if are_far_apart(answer, *wrong.values()) and min(abs(each) for each in (answer, *wrong.values())) > 0.1:
            break
    formula = f"{a} · {cos:.4g} − {b} · {sin:.4g}" if place == 0 else f"{a} · {sin:.4g} + {b} · {cos:.4g}"
    formula = formula.replace("− -", "+ ").replace("+ -", "− ")
    return {"x": x, "position": position, "place": place, "c": c, "s": s, "cos": cos, "sin": sin, "formula": formula,
            "answer": answer, "wrong": wrong}  # fmt: skip


def whole_turn(random: Random) -> Values:
    """How many positions a pair takes to go round."""
    while True:
        base, d_head = random.choice(BASES)
        pair = random.randrange(1, d_head // 2)
        rate = base ** (-2 * pair / d_head)
        answer = 2 * math.pi / rate
        wrong = {"rope-radians-forgotten": 1 / rate, "rope-half-turn": math.pi / rate,
                 "rope-exponent-twice": 2 * math.pi / rate**2, "rope-later-faster": 2 * math.pi * rate}  # fmt: skip
        if are_far_apart(answer, *wrong.values()):
            break
    return {"base": base, "d_head": d_head, "pair": pair, "rate": rate, "answer": answer, "wrong": wrong}


def same_score(random: Random) -> Values:
    """Which positions of a query and a key give the score again."""
    m, n = random.sample(range(3, 20), 2)
    by, back = random.randrange(5, 40), random.randrange(1, min(m, n) + 1)
    slide = random.choice([1, 2])
    options = [
        (m + by, n + by, True, "rope-distance-missed"),
        (m - back, n - back, True, "rope-distance-missed"),
        (n, m, False, "rope-no-direction"),
        (n + by, m + by, False, "rope-no-direction"),
        (2 * m, 2 * n, False, "rope-distance-missed"),
    ]
    if m + slide != n:  # else it is the pair exchanged, which stands there
        options.append((m + slide, n - slide, False, "rope-counts-both"))
    chosen = random.sample(options, 4)
    while not any(right for *_, right, _ in chosen):
        chosen = random.sample(options, 4)
    return {"m": m, "n": n, "offset": n - m,
            "options": [{"text": f"query at {i}, key at {j}", "right": right, "tag": tag}
                        for i, j, right, tag in chosen]}  # fmt: skip


ROPE = """\
def rope(x, positions, base=10000.0):
    even = torch.arange(0, x.size(-1), 2)
    rates = base ** (-even / x.size(-1))
    angles = positions[:, None] * rates
    c, s = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    pairs = torch.stack((a * c - b * s, a * s + b * c), -1)
    return pairs.flatten(-2)"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (2, "even = torch.arange(x.size(-1) // 2)", 3, "all pairs but the first turn too fast",
     "Those are the numbers i. The exponent has 2i."),
    (2, "even = 2 * torch.arange(0, x.size(-1), 2)", 3, "all pairs but the first turn too slowly",
     "arange with step 2 gives the numbers 2i already."),
    (3, "rates = base ** (even / x.size(-1))", 4, "later pairs turn faster", "The exponent lacks its minus."),
    (3, "rates = base ** (-even / x.size(1))", 2, "with another number of heads the angles are others",
     "x.size(1) are the heads. It is d_head, the last axis."),
    (4, "angles = torch.arange(x.size(-2))[:, None] * rates", 5, "one token at position 9 is not turned",
     "The positions are ignored."),
    (4, "angles = (positions + 1)[:, None] * rates", 5, "a token at position 0 is turned", "Positions count from 0."),
    (4, "angles = (positions[:, None] * rates)[:, None]", 6, "it works where H = T alone, and heads differ in angle",
     "One axis too many: the angles lie along the heads."),
    (5, "c, s = angles.sin(), angles.cos()", 7, "a token at position 0 is turned by a quarter",
     "Cosine and sine have changed places."),
    (6, "a, b = x.chunk(2, dim=-1)", 8, "the first two features have nothing to do with each other",
     "That pairs two halves. Neighbours are 0::2 and 1::2."),
    (7, "pairs = torch.stack((a * c + b * s, a * s + b * c), -1)", 5, "the lengths of queries change",
     "The minus is missing: that is no rotation."),
    (7, "pairs = torch.stack((a * c + b * s, b * c - a * s), -1)", 4, "all is turned the other way round",
     "The minus stands in the wrong line."),
    (7, "pairs = torch.stack((a + s, b + c), -1)", 5, "scores depend on more than the distance",
     "Sines and cosines are added. A turn multiplies."),
    (8, "return torch.cat((pairs[..., 0], pairs[..., 1]), -1)", 7, "all even features come first",
     "cat puts two halves one behind the other."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """RoPE with one line spoilt, and what is seen of it."""
    return spoil_line(random, ROPE, SPOILT, "rope-blames-the-symptom")
