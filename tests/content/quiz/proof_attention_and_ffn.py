"""The questions on attention and the feed-forward network, answered by torch."""

from __future__ import annotations

import torch

DOUBLE = torch.float64


def scaled_tokens(question):
    """Two tokens and projections that give these weights; then the same projections on the scaled tokens."""
    values = question.values
    tokens = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=DOUBLE)
    w_q = torch.eye(2, dtype=DOUBLE) * 2**0.5
    w_k = torch.zeros(2, 2, dtype=DOUBLE)
    w_k[:, 0] = torch.tensor([values["one"], values["two"]], dtype=DOUBLE).log()

    def weights(x):
        return ((x @ w_q) @ (x @ w_k).T / 2**0.5).softmax(dim=-1)[0]

    before = torch.tensor([values["one"], values["two"]], dtype=DOUBLE) / values["total"]
    assert torch.allclose(weights(tokens), before)
    return weights(values["factor"] * tokens)[0].item()


def frozen_weights(question):
    values = question.values
    torch.manual_seed(question.attempt)
    weights = torch.randn(values["keys"], dtype=DOUBLE).softmax(dim=-1)
    v = torch.randn(values["keys"], dtype=DOUBLE)
    v = v + values["before"] - weights @ v
    assert torch.isclose(weights @ v, torch.tensor(values["before"], dtype=DOUBLE))
    return (weights @ (values["factor"] * v + values["added"])).item()


def linear_maps(question):
    """f(ax + by) against a·f(x) + b·f(y), for random a, b, x and y."""
    torch.manual_seed(0)
    fixed, square = torch.randn(4, 4, dtype=DOUBLE), torch.randn(5, 5, dtype=DOUBLE)
    other, more = torch.randn(5, 4, dtype=DOUBLE), torch.randn(4, 4, dtype=DOUBLE)
    maps = {
        "V ↦ A·V, where A are fixed weights": lambda v: square.softmax(-1) @ v,
        "Q ↦ Q·Kᵀ, where K is fixed": lambda q: q @ other.T,
        "X ↦ X·W_V": lambda x: x @ fixed,
        "X ↦ the mean of its rows": lambda x: x.mean(0),
        "x ↦ x + x·W": lambda x: x + x @ fixed,
        "K ↦ Q·Kᵀ/√D, where Q is fixed": lambda k: other @ k.T / 2,
        "S ↦ softmax(S), for the scores S": lambda s: s.softmax(-1),
        "X ↦ softmax(X·Xᵀ)·X": lambda x: (x @ x.T).softmax(-1) @ x,
        "X ↦ softmax(X·Xᵀ)·V, where V is fixed": lambda x: (x @ x.T).softmax(-1) @ other,
        "X ↦ X·Xᵀ": lambda x: x @ x.T,
        "X ↦ (X·W_Q)·(X·W_K)ᵀ": lambda x: (x @ fixed) @ (x @ more).T,
        "x ↦ gelu(x)": torch.nn.functional.gelu,
        "x ↦ LayerNorm(x)": lambda x: torch.nn.functional.layer_norm(x, (4,)),
    }
    x, y = torch.randn(2, 5, 4, dtype=DOUBLE)
    functions = [maps[option.text] for option in question.options]
    return [
        place for place, f in enumerate(functions) if torch.allclose(f(2 * x - 3 * y), 2 * f(x) - 3 * f(y), atol=1e-6)
    ]


def collapsed(question):
    """A single layer that is made from both, checked on random input, and counted."""
    values = question.values
    torch.manual_seed(0)
    one = torch.nn.Linear(values["D"], values["d_ff"], bias=values["biases"]).double()
    two = torch.nn.Linear(values["d_ff"], values["D"], bias=values["biases"]).double()
    both = torch.nn.Linear(values["D"], values["D"], bias=values["biases"]).double()
    x = torch.randn(3, values["D"], dtype=DOUBLE)
    with torch.no_grad():
        both.weight.copy_(two.weight @ one.weight)
        if values["biases"]:
            both.bias.copy_(two(one.bias))
        assert torch.allclose(both(x), two(one(x)))
    return sum(parameter.numel() for parameter in both.parameters())


def copy_loss(question):
    """The entropy of the token before, given the own one, over all pairs of tokens."""
    count = question.values["V"]
    pairs = torch.cartesian_prod(torch.arange(count), torch.arange(count))
    table = torch.zeros(count, count, dtype=DOUBLE)
    table.index_put_((pairs[:, 1], pairs[:, 0]), torch.ones(len(pairs), dtype=DOUBLE), accumulate=True)
    return torch.distributions.Categorical(probs=table).entropy().mean().item()


TASKS = {
    "whether its own token is an even number": lambda text, t: text[t] % 2,
    "the square of its own token": lambda text, t: text[t] ** 2,
    "to which of three fixed groups its own token belongs": lambda text, t: text[t] % 3,
    "its own position": lambda text, t: t,
    "its own token plus its own position": lambda text, t: text[t] + t,
    "the token before it (0 for the first)": lambda text, t: text[t - 1] if t else 0,
    "the largest token of the text": lambda text, t: text.max(),
    "how often its own token occurs in the text": lambda text, t: (text == text[t]).sum(),
    "whether its own token stood earlier in the text": lambda text, t: (text[:t] == text[t]).any(),
    "the sum of all tokens up to its own": lambda text, t: text[: t + 1].sum(),
    "what followed its own token when it stood there before": lambda text, t: next(
        (text[place + 1] for place in range(t - 1, -1, -1) if text[place] == text[t]), -1
    ),
}


def local_tasks(question):
    """What stays the same at a position, whatever the other tokens are."""
    generator = torch.Generator().manual_seed(0)
    texts = torch.randint(5, (12, 6), generator=generator)
    texts[:, 3] = 2
    local = []
    for place, option in enumerate(question.options):
        answers = {int(TASKS[option.text](text, 3)) for text in texts}
        local += [place] if len(answers) == 1 else []
    return local


def share(question):
    """Entries of the matrices of modules."""
    values = question.values
    with torch.device("meta"):
        attention = torch.nn.MultiheadAttention(values["D"], 4, bias=False)
        network = torch.nn.Sequential(
            torch.nn.Linear(values["D"], values["d_ff"], bias=False),
            torch.nn.GELU(),
            torch.nn.Linear(values["d_ff"], values["D"], bias=False),
        )
    counts = [sum(each.numel() for each in module.parameters()) for module in (attention, network)]
    return counts[1] / sum(counts)


def alike(question):
    """Softmax of scores that give these weights, with the tokens as values."""
    values = question.values
    scores = torch.full((values["n"], values["n"]), values["b"], dtype=DOUBLE).fill_diagonal_(values["own"]).log()
    h = torch.linspace(values["low"], values["high"], values["n"], dtype=DOUBLE)
    for _ in range(values["L"]):
        h = scores.softmax(dim=-1) @ h
    return (h.max() - h.min()).item()
