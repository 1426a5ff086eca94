"""The questions on sizes, answered by torch: modules are built, run and counted."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import nn

from grader.quiz.model import Question


def count(*modules: nn.Module) -> int:
    return sum(parameter.numel() for module in modules for parameter in module.parameters())


def meta(kind: Callable[..., nn.Module], *sizes: int, **options: Any) -> nn.Module:
    """A module without memory behind it: only its sizes matter."""
    return kind(*sizes, device="meta", **options)


def flow(question: Question) -> list[tuple[int, ...]]:
    """Runs the code that is shown."""
    space: dict[str, Any] = {"torch": torch, "nn": nn}
    exec(question.code, space)
    return [tuple(space[name].shape) for name in question.details["blanks"]]


def shapes_in_order(question: Question) -> list[int]:
    """Records the result of every operation in a classifier, and keeps each shape's first place."""
    size = {name: question.values[name] for name in ("B", "n", "C", "h", "d", "d_head", "d_ff")}
    seen = [shape for shape in dict.fromkeys(_recorded(**size)) if shape in question.values["steps"]]
    texts = [option.text for option in question.options]
    return [texts.index(shape) for shape in seen]


def _recorded(B: int, n: int, C: int, h: int, d: int, d_head: int, d_ff: int) -> list[str]:  # noqa: N803
    """The shapes of a forward pass, as text, in their order. Capitals are the letters of the question."""
    shapes: list[str] = []

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        shapes.append(str(tuple(tensor.shape)))
        return tensor

    ids = keep(torch.zeros(B, n, dtype=torch.long))
    x = keep(nn.Embedding(7, d)(ids))
    q, k, v = (keep(t.unflatten(-1, (h, d_head)).transpose(1, 2)) for t in nn.Linear(d, 3 * d)(x).chunk(3, dim=-1))
    weights = keep((q @ k.transpose(-2, -1)).softmax(dim=-1))
    x = keep(x + nn.Linear(d, d)(keep((weights @ v).transpose(1, 2).flatten(2))))
    x = keep(x + nn.Linear(d_ff, d)(keep(nn.Linear(d, d_ff)(x).relu())))
    keep(nn.Linear(d, C)(keep(x.mean(dim=1))))
    return shapes


def block_matrices(question: Question) -> int:
    values = question.values
    block = meta(nn.TransformerEncoderLayer, values["d"], values["h"], values["d_ff"])
    return sum(parameter.numel() for parameter in block.parameters() if parameter.dim() == 2)


def count_by_heads(question: Question) -> str:
    """Runs the code, with a print that keeps what it is given."""
    printed: list[str] = []
    exec(question.code, {"nn": nn, "print": lambda value: printed.append(str(value))})
    return printed[0]


def what_changes_count(question: Question) -> list[int]:
    """Builds the model with each change, runs it, and counts again."""
    base = question.values["base"]
    before = _language_model(**base)
    changes = [question.values["changes"][option.text] for option in question.options]
    return [place for place, change in enumerate(changes) if _language_model(**base | change) != before]


@cache
def _language_model(
    vocabulary: int, d: int, heads: int, d_ff: int, blocks: int, room: int, learned: bool,
    batch: int = 32, length: int = 16, causal: bool = True, dropout: float = 0.1,
) -> int:  # fmt: skip
    """The number of parameters of a model that has read a batch."""
    table, head = nn.Embedding(vocabulary, d), nn.Linear(d, vocabulary)
    positions = nn.Embedding(room, d).requires_grad_(learned)
    layers = [nn.TransformerEncoderLayer(d, heads, d_ff, dropout, batch_first=True) for _ in range(blocks)]
    x = table(torch.zeros(batch, length, dtype=torch.long)) + positions.weight[:length]
    mask = torch.ones(length, length, dtype=torch.bool).triu(1) if causal else None
    for layer in layers:
        x = layer(x, src_mask=mask)
    assert head(x).shape == (batch, length, vocabulary)
    return sum(p.numel() for part in (table, positions, *layers, head) for p in part.parameters() if p.requires_grad)


def embedding_share(question: Question) -> float:
    values = question.values
    table = count(meta(nn.Embedding, values["V"], values["d"]))
    block = meta(nn.TransformerEncoderLayer, values["d"], 1, 4 * values["d"])
    blocks = values["L"] * sum(parameter.numel() for parameter in block.parameters() if parameter.dim() == 2)
    return 100 * table / (table + blocks)


def possible_heads(question: Question) -> list[int]:
    """Those that nn.MultiheadAttention takes."""
    found = []
    for place, option in enumerate(question.options):
        try:
            meta(nn.MultiheadAttention, question.values["d"], int(option.text.split()[0]))
        except AssertionError:
            continue
        found.append(place)
    return found


def residual_width(question: Question) -> int:
    """The line with which the fix, of the same name, makes the code run and give the logits."""
    values = question.values
    lines = question.code.split("\n")
    right = []
    for number in range(1, len(lines) + 1):
        fix = question.details["fix"]
        if fix.partition("=")[0] != lines[number - 1].partition("=")[0]:
            continue  # without the FFN's line the rest would run, too
        fixed = [*lines[: number - 1], fix, *lines[number:]]
        space = {
            "nn": nn,
            "gelu": nn.functional.gelu,
            "x": torch.zeros(values["B"], values["n"], values["d"]),
            "attend": lambda t: _attend(t, values["h"]),
        }
        try:
            exec("\n".join(fixed), space)
        except (RuntimeError, NameError):
            continue
        if "logits" in space and space["logits"].shape == (values["B"], values["C"]):
            right.append(number)
    assert len(right) == 1
    return right[0]


def _attend(qkv: torch.Tensor, heads: int) -> torch.Tensor:
    q, k, v = (part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in qkv.chunk(3, dim=-1))
    return nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)


def weights_memory(question: Question) -> float:
    """Runs attention on the meta device and asks its weights how large they are."""
    values = question.values
    dtype = getattr(torch, values["name"])
    q = torch.empty(values["B"], values["h"], values["n"], 4, dtype=dtype, device="meta")
    layers = [(q @ q.transpose(-2, -1)).softmax(dim=-1) for _ in range(values["L"])]
    return sum(weights.nbytes for weights in layers) / 2**20


def same_budget(question: Question) -> int:
    """The only width, among all to the double of the linear one, at which both have the same number."""
    values = question.values
    wanted = values["L"] * _matrices(values["d"])
    return next(d for d in range(values["d"], 2 * values["linear"]) if values["few"] * _matrices(d) == wanted)


def _matrices(d: int) -> int:
    sizes = [(d, d)] * 4 + [(d, 4 * d), (4 * d, d)]
    return sum(torch.empty(size, device="meta").numel() for size in sizes)


def token_budget(question):
    """Operations of a linear layer's forward and backward pass, counted by torch, scaled up."""
    from torch.utils.flop_counter import FlopCounterMode

    x = torch.randn(5, 8, requires_grad=True)
    layer = nn.Linear(8, 12, bias=False)
    with FlopCounterMode(display=False) as counter:
        layer(x).sum().backward()
    each = counter.get_total_flops() / x.size(0) / layer.weight.numel()
    parameters = question.values["millions"] * 1e6
    return each * parameters * 20 * parameters / 1e18
