"""The questions on what attention costs, answered by counting what torch does (on tensors without numbers)."""

from __future__ import annotations

from functools import cache

import torch
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

from grader.quiz.expressions import Expression

MIB = 2**20


def empty(*shape, dtype=torch.float32):
    return torch.empty(*shape, dtype=dtype, device="meta")


def multiply_adds(compute):
    """Of all the matrix products in `compute`; torch counts a multiplication and an addition as two."""
    with FlopCounterMode(display=False) as counter:
        compute()
    return counter.get_total_flops() // 2


@cache
def products(heads, queries, keys, d_head):
    """Multiply-adds of QKᵀ and AV."""
    q, k = empty(heads, queries, d_head), empty(heads, keys, d_head)
    return multiply_adds(lambda: torch.softmax(q @ k.transpose(-2, -1), dim=-1) @ k)


@cache
def linear(tokens, d_in, d_out):
    return multiply_adds(lambda: empty(tokens, d_in) @ empty(d_in, d_out))


def pairs(question):
    values = question.values
    return products(values["heads"], values["n"], values["n"], values["d_head"])


def growth(question):
    """The times of a short text, scaled by the ratio of the multiply-adds."""
    values, d, n = question.values, 8, 10
    longer = n * values["k"]
    ratio = products(1, longer, longer, d) / products(1, n, n, d)
    return values["products"] * ratio + values["rest"] * linear(longer, d, 4 * d) / linear(n, d, 4 * d)


def crossover(question):
    """The length at which both are equal, found by halving an interval."""
    d, d_ff = question.values["d"], question.values["d_ff"]
    low, high = 1, 100 * d
    while low < high:
        n = (low + high) // 2
        matrices = 4 * linear(n, d, d) + linear(n, d, d_ff) + linear(n, d_ff, d)
        low, high = (n + 1, high) if products(1, n, n, d) < matrices else (low, n)
    return low


def layer_costs(question):
    values = question.values
    d, n, w = values["d"], values["n"], values["w"]
    costs = {
        f"QKᵀ and AV for one new token, {n:,} keys in the cache": products(1, 1, n, d),
        f"QKᵀ and AV, every token reading {w} keys": products(n, 1, w, d),
        "QKᵀ and AV, every token reading all": products(1, n, n, d),
        "the four projections": 4 * linear(n, d, d),
        "the FFN": linear(n, d, 4 * d) + linear(n, 4 * d, d),
    }
    texts = [option.text for option in question.options]
    return sorted(range(len(texts)), key=lambda place: costs[texts[place]])


def score_memory(question):
    values = question.values
    dtype = getattr(torch, values["dtype"])
    q = empty(values["batch"], values["heads"], values["n"], 4, dtype=dtype)
    weights = torch.softmax(q @ q.transpose(-2, -1), dim=-1)
    return weights.numel() * weights.element_size() / MIB


def more_heads(question):
    values, n = question.values, 16
    before, after = (values["heads"], values["before"]), (values["more"], values["after"])
    work = [products(heads, n, n, width) for heads, width in (before, after)]
    stored = [empty(heads, n, n).numel() for heads, _ in (before, after)]
    assert work[0] == work[1]
    return _option(question, f"the same work, {stored[1] // stored[0]} times the stored weights")


def flash(question):
    k = question.values["k"]
    (work, memory), (more_work, more_memory) = _blockwise(8), _blockwise(8 * k)
    return _option(question, f"{more_work // work} times the work, {more_memory // memory} times the memory")


@cache
def _blockwise(n, block=4, d=8):
    """Multiply-adds of attention in blocks, and how many numbers are held at the end besides a block of scores."""
    q, k, v = (torch.randn(n, d) for _ in range(3))
    work, done = 0, []
    for rows in q.split(block):
        top, total, out = torch.full((len(rows), 1), -torch.inf), torch.zeros(len(rows), 1), torch.zeros(len(rows), d)
        for keys, values in zip(k.split(block), v.split(block), strict=True):
            scores = rows @ keys.T / d**0.5
            new = torch.maximum(top, scores.amax(dim=-1, keepdim=True))
            p, shrink = torch.exp(scores - new), torch.exp(top - new)
            total, out, top = total * shrink + p.sum(dim=-1, keepdim=True), out * shrink + p @ values, new
            work += scores.numel() * d + p.numel() * d
        done.append((out / total, top, total))
    outputs, *running = (torch.cat(parts) for parts in zip(*done, strict=True))
    assert torch.allclose(outputs, functional.scaled_dot_product_attention(q, k, v), atol=1e-5)
    return work, sum(each.numel() for each in (q, k, v, outputs, *running))


def streaming(question):
    values = question.values
    return _repaired(question.code, question.details["fix"], values["d"], values["block"], values["count"])


@cache
def _repaired(code, fix, *sizes):
    """The line that must be replaced by the fix for the output to be that of softmax over all keys at once."""
    lines = code.split("\n")
    assert not _right(lines, *sizes)
    repaired = []
    for place, line in enumerate(lines):
        indent = line[: len(line) - len(line.lstrip())]
        try:
            if _right([*lines[:place], indent + fix, *lines[place + 1 :]], *sizes):
                repaired.append(place + 1)
        except (KeyError, NameError, SyntaxError):  # the fix defines something else than the line it replaced
            continue
    return repaired[0] if len(repaired) == 1 else repaired


def _right(lines, d, block, count):
    """Whether the code is right for keys whose blocks have now a lower, now a higher maximum than those before."""
    torch.manual_seed(d)
    q, keys, values = torch.randn(d), torch.randn(block * count, d), torch.randn(block * count, d)
    heights = torch.tensor([2.0, 0.0, 4.0, 1.0, 3.0, 5.0, 2.0])[:count].repeat_interleave(block)
    keys = keys - (keys @ q - heights * d**0.5)[:, None] * q / q.square().sum() + 0.1 * torch.randn(block * count, d)
    space = {"torch": torch, "q": q, "blocks": list(zip(keys.split(block), values.split(block), strict=True))}
    exec("\n".join(lines), space)
    wanted = functional.scaled_dot_product_attention(q[None], keys, values)[0]
    return torch.allclose(space["out"], wanted, atol=1e-5)


def window(question):
    n, w = question.values["n"], question.values["w"]
    everything = torch.ones(n, n, dtype=torch.bool)
    return int((everything.tril() & everything.triu(1 - w)).sum())


def kv_cache(question):
    values = question.values
    kept = empty(values["layers"], 2, values["shared"], values["n"], values["d_head"], dtype=torch.bfloat16)
    return kept.numel() * kept.element_size() / MIB


def one_more_token(question):
    values = question.values
    return values["time"] * products(4, 1, values["longer"], 8) / products(4, 1, values["n"], 8)


def attention_work(question):
    """The answer's own text if it is what torch counts for three sets of sizes."""
    count = COUNTS[next(start for start in COUNTS if question.values["situation"].startswith(start))]
    last = "g" if "GQA" in question.values["situation"] else ""
    if last:
        count = _grouped
    for n, heads, d_head, layers, more in ((5, 4, 3, 2, 2), (9, 6, 2, 3, 3), (12, 8, 4, 5, 4)):
        sizes = {"T": n, "D": heads * d_head, "L": layers, "w": more, "S": more + 3, "g": 2}
        wanted = layers * count(n, heads, d_head, sizes)
        if Expression(question.answer, sizes).evaluate(sizes) != wanted:
            return f"{wanted} at {sizes}"
    return question.answer


def _grouped(n, heads, d_head, sizes):
    q, shared = empty(heads, n, d_head), empty(heads // sizes["g"], n, d_head)
    k = shared.repeat_interleave(sizes["g"], dim=0)
    return multiply_adds(lambda: torch.softmax(q @ k.transpose(-2, -1), dim=-1) @ k)


COUNTS = {
    "A text of T tokens is read in one pass": lambda n, heads, d_head, sizes: products(heads, n, n, d_head),
    "One more token": lambda n, heads, d_head, sizes: products(heads, 1, n, d_head),
    "A text of T tokens is read with a sliding window": lambda n, heads, d_head, sizes: products(
        heads * n, 1, sizes["w"], d_head
    ),
    "Cross-attention": lambda n, heads, d_head, sizes: products(heads, n, sizes["S"], d_head),
}


def cheaper(question):
    plain = products(4, 64, 64, 8)
    return [place for place, option in enumerate(question.options) if _reading_costs()[option.text] < plain]


@cache
def _reading_costs():
    """Multiply-adds for a prompt of 64 tokens, 4 heads of width 8, by each technique."""
    n, heads, d_head = 64, 4, 8
    half = empty(heads, n, d_head, dtype=torch.bfloat16)
    state = multiply_adds(lambda: empty(heads, n, d_head) @ (empty(heads, d_head, n) @ empty(heads, n, d_head)))
    return {
        "a sliding window of fixed width": products(heads * n, 1, 8, d_head),
        "retrieving the passages that matter and reading only those": products(heads, n // 4, n // 4, d_head),
        "cutting the prompt off at half its length": products(heads, n // 2, n // 2, d_head),
        "linear attention: a feature map in place of the softmax": state,
        "FlashAttention": _blockwise(n)[0] * heads,
        "grouped-query attention with the same query heads": _grouped(n, heads, d_head, {"g": 2}),
        "bfloat16 in place of float32": multiply_adds(lambda: torch.softmax(half @ half.mT, dim=-1) @ half),
        "twice as many heads at the same d_model": products(2 * heads, n, n, d_head // 2),
        "a KV cache, empty when the prompt comes in": products(heads, n, n, d_head),
    }


def _option(question, text):
    return [option.text for option in question.options].index(text)
