"""Numbers for the questions on encoders, decoders and encoder-decoders."""

from __future__ import annotations

from random import Random
from typing import Any

from grader.api.questions import distinct_sizes, heads_and_width

SELF_KEYS = "{name} = split(w_{name}({side}))"
CROSS_KEYS = "{name} = split(u_{name}({side}))"


def allowed_pairs(random: Random) -> dict[str, Any]:
    """How many query-key pairs each attention of an encoder-decoder allows: n², m(m + 1)/2 and m n."""
    sizes = [(n, m) for n in range(4, 11) for m in range(4, 11) if len(set(_pairs(n, m).values())) == 6]
    n, m = random.choice(sizes)
    return {"n": n, "m": m, **_pairs(n, m)}


def _pairs(n: int, m: int) -> dict[str, int]:
    """The three counts and three that people give for them."""
    return {
        "encoder": n * n, "cross": m * n, "causal": m * (m + 1) // 2,
        "full": m * m, "no_self": m * (m - 1) // 2, "half_encoder": n * (n + 1) // 2,
    }  # fmt: skip


def cross_shapes(random: Random) -> dict[str, Any]:
    """Shapes through cross-attention: m queries from the decoder, n keys from the encoder's memory."""
    h, d, d_head = heads_and_width(random, (12, 20, 24, 30, 32, 40))
    batch, n, m = distinct_sizes(random, 3, tuple(size for size in (2, 3, 5, 7, 9, 11, 13) if size not in (h, d_head)))
    right = {
        "k": (batch, h, n, d_head),
        "scores": (batch, h, m, n),
        "heads": (batch, h, m, d_head),
        "out": (batch, m, d),
    }
    wrong = [
        {"tag": "arch-cross-reversed", "blank": 1, "shape": [batch, h, m, d_head]},
        {"tag": "arch-cross-reversed", "blank": 2, "shape": [batch, h, n, m]},
        {"tag": "arch-cross-as-self", "blank": 2, "shape": [batch, h, m, m]},
        {"tag": "arch-cross-reversed", "blank": 3, "shape": [batch, h, n, d_head]},
        {"tag": "arch-cross-reversed", "blank": 4, "shape": [batch, n, d]},
    ]
    return {
        "B": batch, "h": h, "d": d, "d_head": d_head, "n": n, "m": m, "scores": right["scores"], "out": right["out"],
        "answer": [list(shape) for shape in right.values()], "wrong": wrong,
    }  # fmt: skip


def wiring_bug(random: Random) -> dict[str, Any]:
    """A decoder layer of which one line takes the wrong side, or the wrong mask."""
    own, memory = random.choice([("x", "memory"), ("y", "encoded"), ("words", "source"), ("t", "s")])
    lines = [
        *(SELF_KEYS.format(name=name, side=own) for name in "qkv"),
        f"{own} = {own} + w_o(merge(attend(q, k, v, causal)))",
        *(CROSS_KEYS.format(name=name, side=own if name == "q" else memory) for name in "qkv"),
        f"{own} = {own} + u_o(merge(attend(q, k, v, everything)))",
        f"{own} = {own} + ffn({own})",
    ]
    broken = {
        3: SELF_KEYS.format(name="v", side=memory),
        4: lines[3].replace("causal", "everything"),
        5: CROSS_KEYS.format(name="q", side=memory),
        6: CROSS_KEYS.format(name="k", side=own),
        7: CROSS_KEYS.format(name="v", side=own),
        8: lines[7].replace("everything", "causal"),
    }
    answer = random.choice(list(broken))
    blamed = {"arch-cross-reversed": 6 if answer == 5 else 5, "arch-cross-is-causal": 8, "arch-encoder-sees-answer": 4}
    fix = lines[answer - 1]
    lines[answer - 1] = broken[answer]
    return {
        "own": own, "memory": memory, "code": "\n".join(lines), "fix": fix, "answer": answer, "reason": WHY[answer],
        "wrong": {tag: line for tag, line in blamed.items() if line != answer},
    }  # fmt: skip


WHY = {
    3: "Self-attention takes all three from the decoder's own tokens; the encoder's side has its turn further down.",
    4: "While it is trained, the whole target lies in front of the decoder. Without the causal mask each position "
    "reads the token that it should predict.",
    5: "Whoever looks something up brings the query. The decoder's tokens look things up in the encoder's output.",
    6: "Keys stand for what can be found, and what can be found is the source: they come from the encoder.",
    7: "What is handed over must come from the source too: keys and values both come from the encoder.",
    8: "The source is known whole before the decoder writes its first word, so cross-attention has no causal mask.",
}


def who_changes(random: Random) -> dict[str, Any]:
    """Which outputs of an encoder-decoder can change when one token of either side does."""
    n, m = distinct_sizes(random, 2, (4, 5, 6, 7))
    side = random.choice(["source", "target"])
    changed = random.randrange(1, (n if side == "source" else m) - 1)
    at = changed if side == "target" else random.randrange(1, m - 1)
    spots = [("encoder", 0), ("encoder", n - 1), ("decoder", at - 1), ("decoder", at), ("decoder", m - 1)]
    options = [_spot(side, place, changed, at) for place in spots]
    options.append({"text": "any output for another sentence of the batch", "right": False, "tag": "arch-batch-mixes"})
    return {
        "n": n, "m": m, "side": side, "changed": changed, "at": at, "options": options,
        "spots": {option["text"]: list(spot) for option, spot in zip(options, spots, strict=False)},
        "because": SOURCE if side == "source" else TARGET.format(at=at),
    }  # fmt: skip


def _spot(side: str, spot: tuple[str, int], changed: int, at: int) -> dict[str, Any]:
    where, position = spot
    text = f"the {where}'s output at position {position}"
    if where == "encoder":
        right = side == "source"
        hidden = "arch-encoder-is-causal" if position < changed else ""
        tag = hidden if right else "arch-encoder-reads-target"
    elif side == "source":
        right, tag = True, "arch-cross-is-causal" if position < changed else ""
    else:
        right = position >= at
        tag = "arch-sees-future" if position < at else "arch-no-self" if position == at else "arch-past-hidden"
    return {"text": text, "right": right, "tag": tag}


SOURCE = (
    "The encoder is bidirectional, so all its outputs can change; every position of the decoder reads all of them "
    "by cross-attention."
)
TARGET = (
    "The encoder never reads the target. In the decoder the mask lets positions {at} and later see the new token, "
    "and no earlier one."
)


def changed_positions(random: Random) -> dict[str, Any]:
    """At how many positions one changed token can be felt: all n in an encoder, n − j under a causal mask."""
    n = random.randrange(9, 30)
    apart = [j for j in range(2, n - 3) if len({n, n - j, n - j - 1, j, j + 1}) == 5]
    j, layers, causal = random.choice(apart), random.choice([2, 3, 4, 6]), random.random() < 0.7
    answer = n - j if causal else n
    wrong = {"arch-past-hidden": j + 1}
    if causal:
        wrong |= {"arch-sees-future": n, "arch-no-self": n - j - 1}
    else:
        wrong |= {"arch-encoder-is-causal": n - j}
    return {
        "n": n, "j": j, "layers": layers, "causal": causal, "answer": answer, "wrong": wrong, "up_to": j + 1,
        "later": n - j, "last": n - 1, "model": "A decoder-only model" if causal else "An encoder",
        "because": (CAUSAL if causal else BOTH_WAYS).format(n=n, j=j, last=n - 1, later=n - j),
        "felt": (FELT_LATER if causal else FELT_TOO).format(later=n - j),
    }  # fmt: skip


CAUSAL = "The causal mask lets positions {j} to {last} see position {j}, in every layer: {n} − {j} = {later}"
FELT_LATER = "Only it and those after it can see it: {later}."
FELT_TOO = "Those after it see it too: an encoder has no mask."
BOTH_WAYS = "Each of the {n} positions sees every other one, on either side of it"


def sees_and_predicts(random: Random) -> dict[str, Any]:
    """What one position of a decoder-only model sees in training, and what it must predict."""
    ids = random.sample(range(3, 60), random.randrange(6, 9))
    t = random.randrange(2, len(ids) - 2)
    return {
        "ids": ids, "shown": str(ids), "t": t, "count": len(ids) - 1, "own": ids[t], "next": ids[t + 1],
        "seen": str(ids[: t + 1]),
        "answer": f"{ids[: t + 1]} {ids[t + 1]}",
        "wrong": {
            "arch-no-self": f"{ids[:t]} {ids[t + 1]}",
            "arch-label-is-own-token": f"{ids[:t]} {ids[t]}",
            "arch-sees-future": f"{ids[: t + 2]} {ids[t + 1]}",
        },
    }  # fmt: skip


def cached_positions(random: Random) -> dict[str, Any]:
    """Positions that go through the layers when m tokens are written after a prompt of p, with a cache: p + m − 1."""
    p, m = random.randrange(8, 40), random.randrange(4, 13)
    return {
        "p": p, "m": m, "more": m - 1, "again": sum(p + step for step in range(m)), "longest": p + m - 1,
        "answer": p + m - 1, "plus_last": p + m,
        "wrong": {
            "arch-cache-recomputes": sum(p + step for step in range(m)),
            "arch-cache-skips-prompt": m,
            "arch-feeds-last-token": p + m,
        },
    }  # fmt: skip


def read_out(random: Random) -> dict[str, Any]:
    """Where a causal classifier first knows the whole text: at the last token before the padding."""
    real = random.randrange(5, 16)
    n = real + random.randrange(2, 8)
    return {
        "real": real, "n": n, "pads": n - real, "last": n - 1, "answer": real - 1,
        "wrong": {"arch-readout-padding": n - 1, "arch-readout-first": 0, "arch-counts-from-one": real},
    }  # fmt: skip
