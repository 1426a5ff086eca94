"""The questions on residual connections, answered by torch."""

from __future__ import annotations

import torch

DOUBLE = torch.float64


def deep_gradient(question):
    """Autograd through linear layers with their residuals."""
    values = question.values
    branch = torch.nn.Linear(1, 1, bias=False).double()
    torch.nn.init.constant_(branch.weight, values["a"])
    x = torch.ones(1, 1, dtype=DOUBLE, requires_grad=True)
    h = x
    for _ in range(values["L"]):
        h = h + branch(h)
    h.backward()
    return x.grad.item()


def terms(question):
    """Multiply the factors out, letter by letter, with the last layer on the left."""
    sums = {("I",)}
    for layer in range(1, question.values["layers"] + 1):
        sums |= {(f"J_{layer}", *(letter for letter in term if letter != "I")) for term in sums}
    return [place for place, option in enumerate(question.options) if tuple(option.text.split()) in sums]


def stream(question):
    """A pre-LN model whose branches have zero weights, and as biases what they give."""
    values = question.values
    norm, h = torch.nn.LayerNorm(1), torch.tensor([[float(values["embedding"])]])
    for write in values["writes"]:
        branch = torch.nn.Linear(1, 1)
        torch.nn.init.zeros_(branch.weight)
        torch.nn.init.constant_(branch.bias, float(write))
        h = h + branch(norm(h))
    return h.item()


def growth(question):
    """Exact: columns of a Hadamard matrix have mean 0, variance 1, and are uncorrelated."""
    columns = torch.ones(1, 1, dtype=DOUBLE)
    while columns.shape[0] < question.values["branches"] + 2:
        columns = torch.cat([torch.cat([columns, columns], 1), torch.cat([columns, -columns], 1)])
    h = columns[:, 1].clone()
    for place in range(question.values["branches"]):
        h = h + question.values["v"] ** 0.5 * columns[:, 2 + place]
    return float(h.var(correction=0))


def apart(question):
    """Softmax of scores that give these weights, with the tokens as values."""
    values = question.values
    scores = torch.tensor([[values["w"], values["rest"]], [values["rest"], values["w"]]], dtype=DOUBLE).log()
    h = torch.tensor([[values["low"]], [values["high"]]], dtype=DOUBLE)
    for _ in range(values["L"]):
        h = h + scores.softmax(dim=-1) @ h
    return float(h[1] - h[0])


def shapes(question):
    space = {"torch": torch}
    exec(question.code, space)
    return [tuple(space[name].shape) for name in question.details["blanks"]]


# --- blocks -----------------------------------------------------------------------------------------------------------


class Add(torch.nn.Module):
    def forward(self, one, other):
        return one + other


class Block(torch.nn.Module):
    """A block whose every step is a module, so that hooks can watch it."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.kind = kind
        self.add1, self.add2 = Add(), Add()
        self.norm1, self.norm2 = torch.nn.LayerNorm(6), torch.nn.LayerNorm(6)
        self.attn = Attention()
        self.ffn = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.GELU(), torch.nn.Linear(12, 6))
        self.double()

    def forward(self, x):
        if self.kind == "pre-LN":
            h = self.add1(x, self.attn(self.norm1(x)))
            return self.add2(h, self.ffn(self.norm2(h)))
        h = self.norm1(self.add1(x, self.attn(x)))
        return self.norm2(self.add2(h, self.ffn(h)))


class Attention(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.value = torch.nn.Linear(6, 6)

    def forward(self, x, mask=None):
        scores = x @ x.transpose(-1, -2) / 6
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        return scores.softmax(dim=-1) @ self.value(x)


def block_bug(question):
    """The one line whose replacement by the right one gives what a block of this kind gives."""
    block = Block(question.values["kind"])
    for norm in (block.norm1, block.norm2):  # fresh norms are all alike
        torch.nn.init.normal_(norm.weight)
        torch.nn.init.normal_(norm.bias)
    x = torch.randn(5, 6, dtype=DOUBLE)
    right, lines = block(x), question.code.split("\n")
    assert not torch.allclose(_given(lines, block, x), right)
    repaired = []
    for place in range(1, len(lines)):
        others = [*lines[:place], "    " + question.details["fix"], *lines[place + 1 :]]
        try:
            repaired += [place + 1] if torch.allclose(_given(others, block, x), right) else []
        except (NameError, AttributeError, TypeError):
            continue
    assert len(repaired) == 1
    return repaired[0]


def _given(lines: list[str], block: Block, x: torch.Tensor) -> torch.Tensor:
    space = {name: getattr(block, name) for name in ("norm1", "norm2", "attn", "ffn")}
    exec("\n".join(lines), space)
    return space["block"](x, None)


NAMES = {
    "norm1": "the first LayerNorm",
    "attn": "attention",
    "add1": "the first addition",
    "norm2": "the second LayerNorm",
    "ffn": "the feed-forward network",
    "add2": "the second addition",
}


def order(question):
    """The order in which hooks on the modules of a block are called."""
    block, seen = Block(question.values["kind"]), []
    for name, says in NAMES.items():
        module = getattr(block, name)
        if question.values["forward"]:
            module.register_forward_hook(lambda *_, says=says: seen.append(says))
        else:
            module.register_full_backward_hook(lambda *_, says=says: seen.append(says))
    block(torch.randn(5, 6, dtype=DOUBLE, requires_grad=True)).sum().backward()
    texts = [option.text for option in question.options]
    return [texts.index(says) for says in seen]


def placement(question):
    kind = question.values["kind"]
    holds = {
        "Each token of its output has mean 0 and variance 1 over the features.": _normed,
        "If both branches give 0, it returns x unchanged.": _silent,
        "Its output is x plus what the two branches gave.": _sum,
        "Multiply x by 1000, and attention gives nearly the same result as before.": _scale,
        "Set all scales of the two norms to 0, and the output no longer depends on x.": _cut,
    }
    x = 3 * torch.randn(5, 6, dtype=DOUBLE, generator=torch.Generator().manual_seed(1)) + 1
    return [place for place, option in enumerate(question.options) if holds[option.text](Block(kind), x)]


def _normed(block: Block, x: torch.Tensor) -> bool:
    out = block(x)
    one = torch.ones(5, dtype=DOUBLE)
    return torch.allclose(out.mean(-1), 0 * one, atol=1e-3) and torch.allclose(
        out.var(-1, correction=0), one, atol=1e-3
    )


def _silent(block: Block, x: torch.Tensor) -> bool:
    for module in (block.attn.value, block.ffn[2]):
        torch.nn.init.zeros_(module.weight)
        torch.nn.init.zeros_(module.bias)
    return torch.allclose(block(x), x)


def _sum(block: Block, x: torch.Tensor) -> bool:
    gave: list[torch.Tensor] = []
    for module in (block.attn, block.ffn):
        module.register_forward_hook(lambda _, __, out: gave.append(out))
    return torch.allclose(block(x), x + sum(gave))


def _scale(block: Block, x: torch.Tensor) -> bool:
    gave: list[torch.Tensor] = []
    block.attn.register_forward_hook(lambda _, __, out: gave.append(out))
    block(x), block(1000 * x)
    return torch.allclose(*gave, rtol=1e-3, atol=1e-3)


def _cut(block: Block, x: torch.Tensor) -> bool:
    for norm in (block.norm1, block.norm2):
        torch.nn.init.zeros_(norm.weight)
    return torch.allclose(block(x), block(x.flip(0) * 2 + 1))
