"""Numbers and code for the questions on the key-value cache."""

from __future__ import annotations

from random import Random
from typing import Any

from grader.api.questions import are_far_apart, spoil_line

Values = dict[str, Any]
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


def seen(random: Random) -> Values:
    """How many keys a token of a chunk may see."""
    while True:
        cached, chunk = random.randrange(5, 13), random.randrange(3, 7)
        row = random.randrange(1, chunk - 1)
        answer, total = cached + row + 1, cached + chunk
        wrong = {"kv-top-left": row + 1, "kv-sees-all": total, "kv-not-itself": answer - 1, "kv-chunk-alone": chunk}
        if len({answer, *wrong.values()}) == 5:
            break
    return {"cached": cached, "chunk": chunk, "row": row, "name": ORDINALS[row], "before": row, "total": total,
            "answer": answer, "wrong": wrong}  # fmt: skip


def shapes(random: Random) -> Values:
    """The shapes of attention of a chunk."""
    while True:
        batch, heads, chunk = random.randrange(2, 6), random.randrange(2, 9), random.randrange(2, 6)
        cached, width = random.randrange(6, 15), random.choice([4, 5, 7, 8])
        total = cached + chunk
        if len({batch, heads, chunk, cached, total, width}) == 6:
            break
    wrong = [
        {"tag": "kv-only-old-keys", "blank": 1, "shape": [batch, heads, cached, width]},
        {"tag": "kv-chunk-alone", "blank": 1, "shape": [batch, heads, chunk, width]},
        {"tag": "kv-old-queries", "blank": 2, "shape": [batch, heads, total, total]},
        {"tag": "kv-only-old-keys", "blank": 2, "shape": [batch, heads, chunk, cached]},
        {"tag": "kv-chunk-alone", "blank": 2, "shape": [batch, heads, chunk, chunk]},
        {"tag": "kv-old-queries", "blank": 3, "shape": [batch, heads, total, width]},
    ]
    answer = [[batch, heads, total, width], [batch, heads, chunk, total], [batch, heads, chunk, width]]
    return {"batch": batch, "heads": heads, "chunk": chunk, "cached": cached, "width": width, "total": total,
            "answer": answer, "wrong": wrong}  # fmt: skip


def scores(random: Random) -> Values:
    """The scores of a prompt in one go, and of new tokens one by one."""
    while True:
        prompt, new = random.randrange(4, 11), random.randrange(3, 6)
        rows = [prompt + i for i in range(1, new)]
        answer, without = prompt**2 + sum(rows), sum((prompt + i) ** 2 for i in range(new))
        wrong = {
            "kv-no-cache-counted": without,
            "kv-one-query-only": prompt + sum(rows),
            "kv-row-stands-still": prompt**2 + (new - 1) * prompt,
            "kv-last-read-too": answer + prompt + new,
        }
        if are_far_apart(answer, *wrong.values()):
            break
    return {"prompt": prompt, "new": new, "square": prompt**2, "rounds": new - 1, "rows": " + ".join(map(str, rows)),
            "without": without, "answer": answer, "wrong": wrong}  # fmt: skip


CACHED = """\
def attend(q, k, v, cache=None):
    if cache is not None:
        k = torch.cat([cache[0], k], dim=-2)
        v = torch.cat([cache[1], v], dim=-2)
    T, S = q.shape[-2], k.shape[-2]
    visible = torch.ones(T, S, dtype=torch.bool).tril(S - T)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    weights = scores.masked_fill(~visible, -torch.inf).softmax(dim=-1)
    return weights @ v, (k, v)"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (2, "if False:", 6, "every token is treated as the first of a text", "The cache is never looked at."),
    (3, "k = torch.cat([k, cache[0]], dim=-2)", 8, "right without a cache; with one, keys and values do not belong "
    "together",
     "New keys stand behind the old ones, as the values do."),
    (3, "k = torch.cat([cache[1], k], dim=-2)", 9, "right without a cache; with one, old tokens are found by what they "
    "say",
     "The first of the pair are the keys."),
    (4, "v = torch.cat([cache[0], v], dim=-2)", 8, "right without a cache; with one, old tokens give their keys away",
     "The second of the pair are the values."),
    (6, "visible = torch.ones(T, S, dtype=torch.bool).tril()", 8, "right without a cache; a new token does not see "
    "itself",
     "The triangle stands at the top left. The last row has to meet the last column: tril(S − T)."),
    (6, "visible = torch.ones(T, S, dtype=torch.bool)", 9, "right token by token; tokens of a chunk see what is behind "
    "them",
     "A chunk of several tokens has a future of its own, which the mask has to hide."),
    (6, "visible = torch.ones(T, S, dtype=torch.bool).tril(S - T - 1)", 8, "the first token of a text gives NaN",
     "A token has to see itself."),
    (6, "visible = torch.ones(T, S, dtype=torch.bool).tril(S - T + 1)", 3,
    "each token of a chunk sees the one behind it",
     "The triangle is one too large."),
    (7, "scores = q @ k.transpose(-2, -1) / S ** 0.5", 8, "the longer the text, the flatter the weights",
     "The scores are divided by the root of the head's width."),
    (8, "weights = scores.masked_fill(~visible, 0.0).softmax(dim=-1)", 6, "hidden tokens get a weight",
     "exp(0) is 1. Only −∞ hides."),
    (8, "weights = scores.masked_fill(~visible, -torch.inf).softmax(dim=-2)", 7,
    "the weights of a token do not sum to 1",
     "They run over the keys, dim=-1."),
    (9, "return weights @ v, (k[..., -T:, :], v[..., -T:, :])", 4, "right for two chunks; in the third, the first is "
    "forgotten",
     "What is returned has to hold all keys and values so far."),
    (9, "return weights @ v, (k, k)", 4, "right for the first chunk; from the second on, old tokens give their keys "
    "away",
     "The second of the pair are the values."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """Attention with a cache, one line spoilt, and what is seen of it."""
    return spoil_line(random, CACHED, SPOILT, "kv-blames-the-symptom")
