"""The questions on how the gradient flows back, answered by autograd."""

from __future__ import annotations

import math
from functools import cache

import torch
from torch.nn import functional

from grader.quiz.expressions import Expression


def first_loss(question):
    values = question.values
    logits = torch.zeros(values["batch"], values["classes"], dtype=torch.float64)
    return functional.cross_entropy(logits, torch.arange(values["batch"]) % values["classes"]).item()


def logit_gradient(question):
    values = question.values
    logits = torch.tensor(values["p"], dtype=torch.float64).log().requires_grad_()
    functional.cross_entropy(logits, torch.tensor(values["target"])).backward()
    return logits.grad[values["asked"]].item()


def pool_share(question):
    values = question.values
    x = torch.zeros(values["slots"], dtype=torch.float64, requires_grad=True)
    (values["whole"] * x[: values["real"]].mean()).backward()
    return x.grad[0].item()


def score_gradient(question):
    values = question.values
    scores = torch.tensor([values["a"], values["rest"]], dtype=torch.float64).log().requires_grad_()
    (torch.softmax(scores, dim=0) @ torch.tensor([values["one"], values["two"]], dtype=torch.float64)).backward()
    return scores.grad[0].item()


def two_tokens(question):
    """The answer's own text if it has autograd's value at three random points."""
    torch.manual_seed(question.attempt)
    for _ in range(3):
        drawn = torch.randn(7, dtype=torch.float64, requires_grad=True).unbind()
        named = dict(zip(("g", "c", "q", "k1", "k2", "v1", "v2"), drawn, strict=True))
        scores = named["c"] * named["q"] * torch.stack([named["k1"], named["k2"]])
        weights = torch.softmax(scores, dim=0)
        output = weights @ torch.stack([named["v1"], named["v2"]])
        (wanted,) = torch.autograd.grad(named["g"] * output, named[question.values["name"]])
        point = {name: value.item() for name, value in named.items()} | {"a": weights[0].item()}
        if not math.isclose(Expression(question.answer, point).evaluate(point), wanted.item(), rel_tol=1e-9):
            return f"{wanted.item()} at {point}"
    return question.answer


def which_learn(question):
    n, d = question.values["n"], question.values["d"]
    torch.manual_seed(question.attempt)
    space = {"torch": torch, "X": torch.randn(n, d), "G": torch.randn(n, d)}
    space |= {f"W_{each}": torch.randn(d, d, requires_grad=True) for each in "QKVO"}
    exec(question.code, space)
    grads = [space[option.text].grad for option in question.options]
    return [place for place, grad in enumerate(grads) if grad is not None and bool((grad != 0).any())]


def softmax_slope(question):
    values = question.values
    scores = torch.tensor(values["a"], dtype=torch.float64).log()
    jacobian = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, dim=0), scores)
    return jacobian[values["i"] - 1, values["j"] - 1].item()


def embedding_rows(question):
    table = torch.nn.Embedding(question.values["rows"], question.values["width"])
    table(torch.tensor(question.values["ids"])).sum().backward()
    return str(table.weight.grad[:, 0].tolist())


def residual_paths(question):
    x = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    h = x
    for name in ("f1", "f2", "f3"):
        h = h + question.values[name] * h
    h.backward()
    return x.grad.item()


def what_is_learned(question):
    moved = _moved_by_a_step()
    return [place for place, option in enumerate(question.options) if moved[option.text]]


@cache
def _moved_by_a_step():
    """What one step changes, of things that are part of a small classifier or of what surrounds it."""
    torch.manual_seed(0)
    tokens, places, gamma = torch.nn.Embedding(7, 4), torch.nn.Embedding(5, 4), torch.nn.LayerNorm(4)
    w_q, w_1, head = torch.nn.Linear(4, 4), torch.nn.Linear(4, 8), torch.nn.Linear(8, 3)
    sinusoids, mask = torch.sin(torch.arange(20.0)).view(5, 4), torch.ones(5, 5).tril().bool()
    vocabulary, heads = ["a", "b", "c", "d", "e", "f", "g"], 1

    def weights_of(x):
        return torch.softmax((w_q(x) @ x.T / 2).masked_fill(~mask, -torch.inf), dim=-1)

    def embedded():
        return gamma(tokens(torch.tensor([1, 2, 2, 5, 0])) + places(torch.arange(5)) + sinusoids)

    optimizer = torch.optim.AdamW([p for m in (tokens, places, gamma, w_q, w_1, head) for p in m.parameters()], lr=0.1)
    x = embedded()
    weights = weights_of(x)
    watched = {
        "the table of token embeddings": tokens.weight, "a learned table of positions": places.weight,
        "the matrix W_Q of a head": w_q.weight, "the scale γ of a LayerNorm": gamma.weight,
        "the first matrix of the FFN": w_1.weight, "the bias of the classifier": head.bias,
        "sinusoidal positions": sinusoids, "the attention weights A": weights, "the causal mask": mask,
        "the tokenizer's list of tokens": torch.tensor([ord(each) for each in vocabulary]),
        "the number of heads": torch.tensor(heads),
    }  # fmt: skip
    before = {name: tensor.detach().clone() for name, tensor in watched.items()}
    functional.cross_entropy(head(torch.relu(w_1(weights @ x)).mean(dim=0)), torch.tensor(1)).backward()
    optimizer.step()
    return {name: not torch.equal(tensor.detach(), before[name]) for name, tensor in watched.items()}


def by_hand(question):
    """The line that must be replaced by the fix for all three gradients to be autograd's."""
    n, d = question.values["n"], question.values["d"]
    torch.manual_seed(question.attempt)
    q, k, v = (torch.randn(n, d, dtype=torch.float64, requires_grad=True) for _ in range(3))
    g = torch.randn(n, d, dtype=torch.float64)
    functional.scaled_dot_product_attention(q, k, v).backward(g)
    lines = question.code.split("\n")

    def right(code):
        space = {"torch": torch, "Q": q.detach(), "K": k.detach(), "V": v.detach(), "G": g}
        exec("\n".join(code), space)
        return all(torch.allclose(space[f"d{name}"], x.grad) for name, x in (("Q", q), ("K", k), ("V", v)))

    assert not right(lines)
    repaired = []
    for place in range(len(lines)):
        try:
            if right([*lines[:place], question.details["fix"], *lines[place + 1 :]]):
                repaired.append(place + 1)
        except (KeyError, NameError):  # the fix defines something else than the line it replaced
            continue
    return repaired[0] if len(repaired) == 1 else repaired


def backward_order(question):
    order = _hooks_in_order(question.values["blocks"])
    texts = [option.text for option in question.options]
    return [texts.index(name) for name in order if name in texts]


@cache
def _hooks_in_order(blocks):
    """The tensors of a small pre-LN classifier, in the order in which their gradients are complete."""
    torch.manual_seed(0)
    order = []

    def watched(name, tensor):
        tensor.register_hook(lambda grad: order.append(name))
        return tensor

    x = watched("token embeddings plus positions", torch.randn(5, 8, requires_grad=True) * 1.0)
    for block in range(1, blocks + 1):
        normed = functional.layer_norm(x, (8,))
        q, k, v = (normed @ torch.randn(8, 8, requires_grad=True) for _ in range(3))
        scores = watched(f"the scaled scores of block {block}", q @ k.T / 8**0.5)
        weights = watched(f"the weights A of block {block}", torch.softmax(scores, dim=-1))
        x = watched(f"the stream between attention and FFN in block {block}", x + weights @ v)
        hidden = functional.gelu(functional.layer_norm(x, (8,)) @ torch.randn(8, 32, requires_grad=True))
        x = x + watched(f"the hidden layer of the FFN in block {block}", hidden) @ torch.randn(32, 8)
    pooled = watched("the pooled vector", x.mean(dim=0))
    logits = watched("the logits", pooled @ torch.randn(8, 3, requires_grad=True))
    functional.cross_entropy(logits, torch.tensor(1)).backward()
    return order


def backward_shapes(question):
    values = question.values
    q, k = torch.randn(values["queries"], values["d_k"]), torch.randn(values["keys"], values["d_k"])
    v, g = torch.randn(values["keys"], values["d_v"]), torch.randn(values["queries"], values["d_v"])
    space = {"torch": torch, "Q": q, "K": k, "V": v, "G": g}
    exec(question.code, space)
    return [tuple(space[name].shape) for name in ("dV", "dA", "row", "dK")]


def initialisation(question):
    """Exact: weights and inputs of ±1 have the variances 1; what an output's standard deviation must be divided by."""
    signs = torch.tensor([-1.0, 1.0], dtype=torch.float64)
    one = torch.outer(signs, signs).square().mean()
    return float((question.values["inputs"] * one) ** -0.5)
