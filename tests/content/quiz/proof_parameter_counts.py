"""The questions on counting, answered by torch: modules are built, trained for a step, and counted."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import nn

from grader.quiz.model import Question


def count(*modules: nn.Module) -> int:
    """Each parameter once, as PyTorch sees them."""
    return sum(parameter.numel() for parameter in nn.ModuleList(modules).parameters())


def sizes(question: Question, *names: str) -> list[int]:
    return [question.values[name] for name in names]


class LanguageModel(nn.Module):
    """Pre-LN, learned positions, biases in the blocks; the output layer has none."""

    def __init__(self, vocabulary: int, room: int, d: int, d_ff: int, blocks: int, tied: bool = True) -> None:
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocabulary, d, device="meta"), nn.Embedding(room, d, device="meta")
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(d, 1, d_ff, norm_first=True, device="meta") for _ in range(blocks)
        )
        self.norm = nn.LayerNorm(d, device="meta")
        self.output = nn.Linear(d, vocabulary, bias=False, device="meta")
        if tied:
            self.output.weight = self.tok.weight


def attention(question: Question) -> int:
    d, h = sizes(question, "d", "h")
    return count(nn.MultiheadAttention(d, h, bias=question.values["biased"], device="meta"))


def shared_keys(question: Question) -> int:
    """Runs torch's attention with fewer heads of keys and values, and counts what it needed."""
    d, h, shared, d_head = sizes(question, "d", "h", "shared", "d_head")
    w_q, w_o = nn.Linear(d, h * d_head, bias=False), nn.Linear(h * d_head, d, bias=False)
    w_k, w_v = nn.Linear(d, shared * d_head, bias=False), nn.Linear(d, shared * d_head, bias=False)
    x = torch.zeros(1, 3, d)
    q, k, v = (w(x).unflatten(-1, (-1, d_head)).transpose(1, 2) for w in (w_q, w_k, w_v))
    heads = nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    assert w_o(heads.transpose(1, 2).flatten(2)).shape == x.shape
    return count(w_q, w_k, w_v, w_o)


def ffn(question: Question) -> int:
    d, d_ff = sizes(question, "d", "d_ff")
    return count(nn.Sequential(nn.Linear(d, d_ff, device="meta"), nn.GELU(), nn.Linear(d_ff, d, device="meta")))


def norms(question: Question) -> int:
    return norms_of(*sizes(question, "d", "L"))


@cache
def norms_of(d: int, blocks: int) -> int:
    modules = LanguageModel(10, 10, d, d, blocks).modules()
    return sum(count(module) for module in modules if isinstance(module, nn.LayerNorm))


def whole_model(question: Question) -> int:
    """All parameters that are no biases and in no norm: those with two axes."""
    model = LanguageModel(*sizes(question, "V", "room", "d", "d_ff", "L"), tied=question.values["tied"])
    return sum(parameter.numel() for parameter in model.parameters() if parameter.dim() == 2)


def tied(question: Question) -> str:
    printed: list[str] = []
    exec(question.code, {"nn": nn, "print": lambda value: printed.append(str(value))})
    return printed[0]


@cache
def kept_by(optimiser: str) -> int:
    """The bytes for each of a thousand parameters after one step."""
    weight = nn.Parameter(torch.ones(1000))
    made = {
        "SGD without momentum": lambda: torch.optim.SGD([weight], lr=0.1),
        "SGD with momentum": lambda: torch.optim.SGD([weight], lr=0.1, momentum=0.9),
        "Adam": lambda: torch.optim.Adam([weight]),
    }[optimiser]()
    weight.sum().backward()
    made.step()
    state = [each for each in made.state[weight].values() if isinstance(each, torch.Tensor) and each.numel() == 1000]
    return sum(each.nbytes for each in (weight, weight.grad, *state)) // 1000


def training_bytes(question: Question) -> float:
    return kept_by(question.values["optimiser"]) * question.values["millions"] / 1000


def mixed_bytes(question: Question) -> float:
    """Two numbers in bfloat16 and what Adam keeps beside a float32 gradient, which is not kept."""
    passes = torch.ones(2, dtype=torch.bfloat16).nbytes
    optimiser = kept_by("Adam") - torch.ones(1).nbytes
    return (passes + optimiser) * question.values["millions"] / 1000


@cache
def things() -> dict[str, Any]:
    """Whatever may be asked about, from a model that has been trained for a step."""
    torch.manual_seed(0)
    d, n = 8, 5
    model = nn.ModuleDict({"tok": nn.Embedding(11, d), "pos": nn.Embedding(n, d)})
    model["block"] = block = nn.TransformerEncoderLayer(d, 2, 16, dropout=0.1)
    optimiser = torch.optim.Adam(model.parameters())
    mask = torch.ones(n, n, dtype=torch.bool).triu(1)
    x = model["tok"](torch.arange(n)) + model["pos"](torch.arange(n))
    weights = block.self_attn(x, x, x, attn_mask=mask)[1]
    block(x, src_mask=mask).square().sum().backward()
    optimiser.step()
    projections = block.self_attn.in_proj_weight
    return {
        "parameters": list(model.parameters()),
        "the token embeddings": model["tok"].weight,
        "W_Q of a head": projections,  # its rows are a part of this parameter
        "the bias of the FFN's first layer": block.linear1.bias,
        "the gain γ of a LayerNorm": block.norm1.weight,
        "W_O": block.self_attn.out_proj.weight,
        "learned position vectors": model["pos"].weight,
        "the attention weights": weights,
        "the keys and values in a cache": (x @ projections.T)[:, d:],
        "the causal mask": mask,
        "sinusoidal position vectors": torch.sin(torch.arange(float(n))[:, None] / 10000 ** (torch.arange(d) / d)),
        "the rate of dropout": block.dropout.p,
        "Adam's running means of the gradients": optimiser.state[projections]["exp_avg"],
        "the gradient of W_V": projections.grad,
    }


def what_is_learned(question: Question) -> list[int]:
    known = things()
    found = []
    for place, option in enumerate(question.options):
        if any(known[option.text] is parameter for parameter in known["parameters"]):
            found.append(place)
    return found


def by_size(question: Question) -> list[int]:
    """The parts of a model that is built, sorted by what they have."""
    model = LanguageModel(*sizes(question, "V", "room", "d", "d_ff", "L"))
    block = model.blocks[0]
    attention = [block.self_attn.in_proj_weight, block.self_attn.out_proj.weight]
    counts = {
        "the token embeddings": count(model.tok),
        "the learned positions": count(model.pos),
        "the matrices of one attention": sum(each.numel() for each in attention),
        "the matrices of one FFN": block.linear1.weight.numel() + block.linear2.weight.numel(),
        "all LayerNorms together": sum(count(part) for part in model.modules() if isinstance(part, nn.LayerNorm)),
    }
    texts = [option.text for option in question.options]
    return [texts.index(part) for part in sorted(counts, key=counts.__getitem__)]


def count_bug(question: Question) -> int:
    """The line with which the fix makes the function agree with models of several sizes."""
    lines = question.code.split("\n")
    right = []
    for number in range(2, len(lines) + 1):
        space: dict[str, Any] = {}
        exec("\n".join([*lines[: number - 1], f"    {question.details['fix']}", *lines[number:]]), space)
        try:
            if all(space["count"](*size) == counted for size, counted in built().items()):
                right.append(number)
        except (NameError, TypeError):
            continue
    assert len(right) == 1
    return right[0]


@cache
def built() -> dict[tuple[int, ...], int]:
    return {size: count(LanguageModel(*size)) for size in ((50, 7, 6, 20, 3), (31, 13, 8, 40, 2))}
