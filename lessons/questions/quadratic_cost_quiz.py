"""Numbers for the questions on what attention costs."""

from __future__ import annotations

from random import Random
from typing import Any

Values = dict[str, Any]
MIB = 2**20


def pairs(random: Random) -> Values:
    """QKᵀ and AV of all heads: 2 T² H d_head multiply-adds."""
    n, heads, d_head = random.choice([20, 30, 50]), random.choice([3, 5, 8]), random.choice([8, 12, 16])
    scores = n * n * heads * d_head
    wrong = {
        "one-product-of-two": scores,
        "one-head-of-all": 2 * n * n * d_head,
        "heads-at-full-width": 2 * scores * heads,
        "pairs-without-their-width": n * n * heads,
        "linear-in-length": 2 * n * heads * d_head,
    }
    return {"n": n, "heads": heads, "d_head": d_head, "d": heads * d_head, "square": n * n, "one": scores,
            "answer": 2 * scores, "wrong": wrong}  # fmt: skip


def growth(random: Random) -> Values:
    """The quadratic part grows by k², everything else by k."""
    while True:
        n, k = random.choice([200, 500, 1000]), random.choice([3, 5, 6, 10])
        products, rest = random.choice([2, 3, 4, 5, 7]), random.choice([6, 8, 10, 12, 20])
        answer = products * k * k + rest * k
        wrong = {
            "all-quadratic": (products + rest) * k * k,
            "linear-in-length": (products + rest) * k,
            "rest-stands-still": products * k * k + rest,
            "exponential-in-length": products * 2**k + rest * k,
        }
        if len({answer, *wrong.values()}) == 5:
            break
    return {"n": n, "k": k, "square": k * k, "longer": n * k, "products": products, "rest": rest,
            "grown": products * k * k, "rest_grown": rest * k, "answer": answer, "wrong": wrong}  # fmt: skip


def crossover(random: Random) -> Values:
    """2 T² D = (4 + 2m) T D² at T = (2 + m) D, where the FFN is m times as wide as the model."""
    d, m = random.choice([64, 96, 128, 192, 256, 320, 512, 768]), random.choice([3, 4, 5, 6, 8])
    wrong = {
        "projections-alone": 2 * d,
        "ffn-alone": m * d,
        "one-product-of-two": (4 + 2 * m) * d,
        "length-equal-to-width": d,
    }
    return {"d": d, "m": m, "d_ff": m * d, "matrices": 4 + 2 * m, "half": 2 + m, "answer": (2 + m) * d,
            "wrong": wrong}  # fmt: skip


def score_memory(random: Random) -> Values:
    """B·H·T² numbers, in MiB."""
    n, heads = random.choice([512, 1024, 1536, 2048, 3072, 4096]), random.choice([6, 8, 12, 16])
    batch, size = random.choice([1, 3, 5]), random.choice([2, 4])
    answer = batch * heads * n * n * size // MIB
    wrong = {
        "heads-share-scores": answer / heads,
        "bytes-left-out": answer / size,
        "million-for-mebi": answer * MIB / 1e6,
        "linear-in-length": batch * heads * n * size / MIB,
    }
    if batch > 1:
        wrong["batch-left-out"] = answer // batch
    return {"n": n, "heads": heads, "batch": batch, "size": size, "dtype": {2: "bfloat16", 4: "float32"}[size],
            "texts": "1 text" if batch == 1 else f"{batch} texts", "numbers": batch * heads * n * n,
            "answer": answer, "wrong": wrong}  # fmt: skip


def more_heads(random: Random) -> Values:
    """With H times more heads at the same width: as many multiply-adds, H times as many weights to store."""
    while True:
        heads, factor, width = random.choice([2, 3, 4, 6, 8]), random.choice([2, 3, 4]), random.choice([16, 24, 32])
        more = heads * factor
        if more * width <= 1024 and len({heads, more, width}) == 3:
            break
    right = f"the same work, {factor} times the stored weights"
    wrong = [
        {"text": f"{factor} times the work, {factor} times the stored weights", "tag": "heads-multiply-work"},
        {"text": "the same work, the same number of stored weights", "tag": "heads-share-scores"},
        {"text": f"1/{factor} of the work, the same number of stored weights", "tag": "heads-divide-work"},
    ]
    return {"heads": heads, "more": more, "factor": factor, "d": more * width, "before": width * factor, "after": width,
            "right": right, "wrong": wrong}  # fmt: skip


def flash(random: Random) -> Values:
    """FlashAttention: k² times the work, k times the memory."""
    k = random.choice([2, 3, 4, 5, 6, 8, 10])
    n = random.choice([512, 1000, 2048, 4000])
    right = f"{k * k} times the work, {k} times the memory"
    wrong = [
        {"text": f"{k} times the work, {k} times the memory", "tag": "flash-linear-time"},
        {"text": f"{k * k} times the work, {k * k} times the memory", "tag": "flash-stores-scores"},
        {"text": f"{k} times the work, {k * k} times the memory", "tag": "flash-linear-time"},
    ]
    return {"k": k, "n": n, "longer": n * k, "square": k * k, "right": right, "wrong": wrong}


STREAM = """\
top, total, out = -torch.inf, 0.0, torch.zeros({d})
for K_b, V_b in blocks:
    s = K_b @ q / {d}**0.5
    new = max(top, s.max())
    p = torch.exp(s - new)
    shrink = torch.exp(top - new)
    total = total * shrink + p.sum()
    out = out * shrink + p @ V_b
    top = new
out = out / total"""
SLIPS = {  # what stands there in place of the right line: the line, why it is wrong
    "    s = K_b @ q / {d}": (3, "The scores are divided by the root of their width, as in any attention."),
    "    shrink = torch.exp(new - top)": (
        6, "What was summed up relative to the old maximum has to shrink, by exp(top − new), when the maximum grows."),
    "    total = total + p.sum()": (
        7, "The old sum is relative to the old maximum: it has to be rescaled before anything is added to it."),
    "    out = out + p @ V_b": (
        8, "The old output is relative to the old maximum: it has to be rescaled before anything is added to it."),
    "    out = out * shrink + p @ V_b / p.sum()": (
        8, "A block that is divided by its own sum no longer says how much it weighs beside the others."),
    "    top = s.max()": (9, "The sums were made relative to the maximum of all blocks so far, not of the last one."),
    "out = out / len(blocks)": (
        10, "The blocks do not weigh the same: what makes it a softmax is the sum of all exponentials."),
}  # fmt: skip


def streaming(random: Random) -> Values:
    """Attention block by block with a running maximum, with one line wrong."""
    d, block, count = random.choice([4, 8]), random.choice([3, 6]), random.choice([4, 5, 7])
    slip = random.choice(sorted(SLIPS))
    line, why = SLIPS[slip]
    lines = STREAM.format(d=d).split("\n")
    fix, lines[line - 1] = lines[line - 1].strip(), slip.format(d=d)
    blamed = {"running-maximum": 4, "shift-cancels": 5, "one-division-at-the-end": 10}
    wrong = {tag: place for tag, place in blamed.items() if place != line}
    return {"d": d, "block": block, "count": count, "keys": block * count, "code": "\n".join(lines), "answer": line,
            "fix": fix, "why": why, "wrong": wrong}  # fmt: skip


def window(random: Random) -> Values:
    """A causal window of w allows T·w − w(w − 1)/2 scores."""
    while True:
        n, w = random.randrange(8, 21), random.randrange(3, 8)
        full = n * (n + 1) // 2
        missing = w * (w - 1) // 2
        answer = n * w - missing
        wrong = {
            "window-full-at-the-start": n * w,
            "window-without-self": n * (w + 1) - w * (w + 1) // 2,
            "window-to-both-sides": n * (2 * w - 1) - w * (w - 1),
            "window-forgotten": full,
        }
        if len({answer, *wrong.values()}) == 5 and n > w + 2:
            break
    return {"n": n, "w": w, "before": w - 1, "square": n * n, "product": n * w, "missing": missing, "full": full,
            "answer": answer, "wrong": wrong}  # fmt: skip


def kv_cache(random: Random) -> Values:
    """2·L·T·h_kv·d_head numbers, in MiB."""
    layers, n = random.choice([4, 6, 8, 12, 24]), random.choice([2048, 4096, 8192])
    heads, group = random.choice([8, 12, 16, 24]), random.choice([2, 4])
    d_head, size = random.choice([64, 128]), 2
    shared = heads // group
    answer = 2 * layers * n * shared * d_head * size // MIB
    wrong = {
        "only-keys-cached": answer / 2,
        "cache-of-the-query-heads": answer * group,
        "cache-of-one-layer": answer / layers,
        "cache-of-scores": layers * heads * n * n * size / MIB,
    }
    return {"layers": layers, "n": n, "heads": heads, "shared": shared, "d_head": d_head, "size": size, "group": group,
            "all_heads": answer * group, "answer": answer, "wrong": wrong}  # fmt: skip


def one_more_token(random: Random) -> Values:
    """With a cache, one new token costs work in proportion to the length so far."""
    n, k, time = random.choice([500, 1000, 2000, 4000]), random.choice([2, 3, 4, 5, 8]), random.choice([20, 30, 50, 80])
    wrong = {"cache-does-not-help": time * k * k, "decoding-free-of-length": time}
    return {"n": n, "k": k, "longer": n * k, "time": time, "answer": time * k, "wrong": wrong}


WORK = [  # what is computed, the formula, wrong formulas, why
    ("A text of T tokens is read in one pass, and every token reads all T.", "2*T^2*D*L",
     {"one-product-of-two": "T^2*D*L", "linear-in-length": "2*T*D*L"},
     "T² pairs, D multiply-adds for each score and D more for its part of the output, in L layers."),
    ("One more token is written. The keys and values of all others are in a cache; with its own there are T.",
     "2*T*D*L",
     {"one-product-of-two": "T*D*L", "cache-does-not-help": "2*T^2*D*L", "decoding-free-of-length": "2*D*L"},
     "One query meets T keys and T values: D multiply-adds for each of both, in L layers."),
    ("A text of T tokens is read with a sliding window: every token reads exactly w tokens.", "2*T*w*D*L",
     {"one-product-of-two": "T*w*D*L", "window-forgotten": "2*T^2*D*L", "window-squared": "2*w^2*D*L"},
     "T·w pairs in place of T², with 2D multiply-adds each, in L layers."),
    ("Cross-attention: the T tokens of a decoder read the S tokens of an encoder, in each of L layers.", "2*T*S*D*L",
     {"one-product-of-two": "T*S*D*L", "queries-are-the-keys": "2*T^2*D*L", "lengths-added": "2*(T+S)^2*D*L"},
     "T queries meet S keys: T·S pairs, with 2D multiply-adds each, in L layers."),
    ("A text of T tokens is read in one pass, every token reading all T. A key-value head serves g query heads (GQA).",
     "2*T^2*D*L",
     {"one-product-of-two": "T^2*D*L", "gqa-cuts-work": "2*T^2*D*L/g", "linear-in-length": "2*T*D*L"},
     "Every query head still meets every key: T² pairs and D multiply-adds over all heads, twice, in L layers."),
]  # fmt: skip


def attention_work(random: Random) -> Values:
    """Multiply-adds of QKᵀ and AV in five situations, as a formula."""
    situation, answer, wrong, why = random.choice(WORK)
    symbols = {name: (2, 50) for name in ("T", "D", "L")}
    symbols |= {name: (2, 50) for name in "wSg" if f" {name} " in situation or f" {name}." in situation}
    known = ", ".join(symbols)
    return {"situation": situation, "known": known, "answer": answer, "wrong": wrong, "why": why, "symbols": symbols}


def layer_costs(random: Random) -> Values:
    """Parts of a layer from the cheapest to the dearest, for a short, a middling or a long text."""
    d = random.choice([64, 128, 256, 512])
    n = random.choice([d, 3 * d, 8 * d, 16 * d])
    w = random.choice([d // 4, d // 2])
    costs = {
        f"QKᵀ and AV for one new token, {n:,} keys in the cache": 2 * n * d,
        f"QKᵀ and AV, every token reading {w} keys": 2 * n * w * d,
        "QKᵀ and AV, every token reading all": 2 * n * n * d,
        "the four projections": 4 * n * d * d,
        "the FFN": 8 * n * d * d,
    }
    steps = sorted(costs, key=costs.__getitem__)
    return {"d": d, "n": n, "w": w, "d_ff": 4 * d, "quarter": "" if n == d else f"{n // d}", "steps": steps}


CHEAPER = {
    "a sliding window of fixed width": "",
    "retrieving the passages that matter and reading only those": "",
    "cutting the prompt off at half its length": "",
    "linear attention: a feature map in place of the softmax": "",
    "FlashAttention": "flash-linear-time",
    "grouped-query attention with the same query heads": "gqa-cuts-work",
    "bfloat16 in place of float32": "bytes-for-work",
    "twice as many heads at the same d_model": "heads-divide-work",
    "a KV cache, empty when the prompt comes in": "cache-helps-the-prompt",
}


def cheaper(random: Random) -> Values:
    """What lowers the number of multiply-adds in QKᵀ and AV while a prompt is read."""
    works = [text for text, tag in CHEAPER.items() if not tag]
    chosen = random.sample(works, random.choice([2, 3]))
    chosen += random.sample([text for text, tag in CHEAPER.items() if tag], 5 - len(chosen))
    options = [{"text": text, "right": not CHEAPER[text], "tag": CHEAPER[text] or "fewer-pairs-overlooked"}
               for text in chosen]  # fmt: skip
    return {"options": options}
