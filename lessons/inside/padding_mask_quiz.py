"""Numbers and code for the questions on padding masks."""

from __future__ import annotations

from random import Random
from typing import Any

from grader.api.questions import spoil_line

Values = dict[str, Any]


def pairs(random: Random) -> Values:
    """What a causal mask and a padding mask allow together."""
    while True:
        length, places = random.randrange(3, 9), random.randrange(6, 13)
        rest, triangle = places - length, length * (length + 1) // 2
        answer = triangle + rest * length
        wrong = {"padding-queries-hidden": triangle, "padding-read-by-padding": places * (places + 1) // 2,
                 "padding-forgets-the-future": places * length,
                 "padding-off-by-one": triangle + length + 1 + (rest - 1) * (length + 1)}  # fmt: skip
        if rest >= 2 and len({answer, *wrong.values()}) == 5:
            break
    return {"length": length, "places": places, "last": length - 1, "rest": rest, "triangle": triangle,
            "below": rest * length, "answer": answer, "wrong": wrong}  # fmt: skip


def empty_rows(random: Random) -> Values:
    """How many rows a mask over both axes leaves without a key."""
    while True:
        heads, places = random.choice([2, 3, 4, 8]), random.randrange(6, 12)
        lengths = [random.randrange(1, places) for _ in range(random.choice([2, 3]))]
        padded = [places - length for length in lengths]
        answer = heads * sum(padded)
        wrong = {"padding-heads-forgotten": sum(padded), "padding-real-rows-nan": heads * sum(lengths),
                 "padding-texts-not-rows": heads * len(lengths)}  # fmt: skip
        if len({answer, *wrong.values()}) == 4:
            break
    return {"heads": heads, "places": places, "lengths": lengths, "parts": " + ".join(map(str, padded)),
            "answer": answer, "wrong": wrong}  # fmt: skip


def boxes(random: Random) -> Values:
    """The padding of two batches of texts that are sorted by length."""
    while True:
        lengths = random.sample(range(2, 21), 4)
        ordered = sorted(lengths)
        first, second = ordered[1] - ordered[0], ordered[3] - ordered[2]
        answer = first + second
        wrong = {"padding-order-kept": abs(lengths[0] - lengths[1]) + abs(lengths[2] - lengths[3]),
                 "padding-one-box": 4 * ordered[3] - sum(lengths), "padding-counts-tokens": sum(lengths)}  # fmt: skip
        if len({answer, *wrong.values()}) == 4:
            break
    return {"lengths": lengths, "ordered": ordered, "first": first, "second": second, "answer": answer, "wrong": wrong}


def share(random: Random) -> Values:
    """What attention gives where padding of zeros is not masked."""
    while True:
        length, places = random.randrange(2, 6), random.randrange(5, 13)
        e, value = random.choice([2, 3, 4]), random.choice([6, 10, 12, 20])
        kept, pad = length * e, places - length
        if pad >= 2:
            break
    return {"length": length, "places": places, "e": e, "value": value, "kept": kept, "total": kept + pad,
            "answer": value * kept / (kept + pad),
            "wrong": {"padding-zero-score-is-nothing": float(value),
                      "padding-zeros-weigh-nothing": value * length / places}}  # fmt: skip


MASK = """\
def causal_padding_mask(lengths, max_len):
    places = torch.arange(max_len)
    real = places < lengths[:, None]
    keys = real[:, None, None, :]
    causal = places <= places[:, None]
    mask = causal & keys
    return mask"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (2, "places = torch.arange(int(lengths.max()))", 6, "the mask is too small for scores of max_len keys",
     "The places end with the longest text. The box may be wider."),
    (2, "places = torch.arange(1, max_len + 1)", 5, "the last token of every text is hidden",
     "Places count from 0, so the last token stands at length − 1."),
    (3, "real = places <= lengths[:, None]", 4, "one place of padding is seen",
     "The place length is padding already. It must be <."),
    (3, "real = places >= lengths[:, None]", 5, "row 0 of every text has no key",
     "That is True for padding, and False for tokens."),
    (3, "real = (places < lengths[0]).expand(len(lengths), -1)", 4,
     "in a batch of equal lengths all is well, and in others the longer texts may be cut off",
     "Every text is given the length of text 0."),
    (4, "keys = real[:, None, :, None]", 6, "padded queries have no key",
     "That puts the padding on the axis of the queries. Keys are the last axis."),
    (4, "keys = real[:, None, :]", 3, "with scores of (B, H, T, T) the mask ends in an error, or lies along the heads",
     "An axis is missing: (B, 1, T) and (T, T) give (B, T, T)."),
    (4, "keys = real[:, None, None, :] & real[:, None, :, None]", 6, "attention gives NaN for padding",
     "Padded queries are hidden, too, and their rows are empty."),
    (5, "causal = places >= places[:, None]", 6, "the last token sees itself alone",
     "The comparison is the wrong way round: keys lie along the last axis."),
    (5, "causal = places < places[:, None]", 4, "row 0 of every text has no key",
     "No token may see itself. It must be <=."),
    (6, "mask = causal | keys", 5, "every token of a text is seen from the first on",
     "With | one of the two rules is enough."),
    (6, "mask = causal ^ keys", 5, "the first row sees all tokens but the first",
     "^ is True where the two differ. Both must allow a key."),
    (7, "return ~mask", 3, "what may be seen is hidden", "True = may attend: nothing is to be turned around."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """The two masks together with one line spoilt, and what is seen of it."""
    return spoil_line(random, MASK, SPOILT, "padding-blames-the-symptom")
