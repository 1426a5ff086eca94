"""The questions on encoders, decoders and encoder-decoders, answered by torch."""

from __future__ import annotations

from functools import cache

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from grader.quiz.model import Question

WIDTH, HEADS = 8, 2


def allowed_pairs(question: Question) -> list[int]:
    """Counts the pairs of which the query's output depends on the key's value."""
    n, m = question.values["n"], question.values["m"]
    sizes = {"the encoder's self-attention": (n, n), "the decoder's self-attention": (m, m), "cross-attention": (m, n)}
    texts = [option.text for option in question.options]
    found = []
    for left in question.details["lefts"]:
        queries, keys = sizes[left]
        mixed = scaled_dot_product_attention(
            torch.zeros(1, queries, 4), torch.zeros(1, keys, 4), torch.eye(keys)[None], is_causal="decoder" in left
        )
        found.append(texts.index(str(int((mixed > 0).sum()))))
    return found


def cross_shapes(question: Question) -> list[tuple[int, ...]]:
    """Runs the code that is shown."""
    space = {"torch": torch} | {f"w_{name}": nn.Linear(question.values["d"], question.values["d"]) for name in "qkvo"}
    exec(question.code, space)
    return [tuple(space[name].shape) for name in ("k", "scores", "heads", "out")]


def wiring_bug(question: Question) -> int:
    """The line with which the fix makes the layer agree with torch's own modules."""
    layers, n, m = _layers(), 5, 4
    own, memory = _tokens(m, 1), _tokens(n, 2)
    wanted = own + layers["w"](own, own, own, attn_mask=~torch.ones(m, m, dtype=torch.bool).tril())[0]
    wanted = wanted + layers["u"](wanted, memory, memory)[0]
    wanted = wanted + layers["ffn"](wanted)
    lines = question.code.split("\n")
    right = []
    for number in range(1, len(lines) + 1):
        fixed = [*lines[: number - 1], question.details["fix"], *lines[number:]]
        space = _names(layers, m) | {question.values["own"]: own, question.values["memory"]: memory}
        try:
            exec("\n".join(fixed), space)
        except (RuntimeError, NameError):
            continue
        result = space[question.values["own"]]
        if result.shape == wanted.shape and torch.allclose(result, wanted):
            right.append(number)
    assert len(right) == 1
    return right[0]


def _names(layers: dict[str, nn.Module], m: int) -> dict[str, object]:
    """What the shown code takes for granted."""
    names: dict[str, object] = {
        "split": lambda t: t.unflatten(-1, (HEADS, WIDTH // HEADS)).transpose(1, 2),
        "merge": lambda t: t.transpose(1, 2).flatten(2),
        "attend": scaled_dot_product_attention,
        "causal": torch.ones(m, m, dtype=torch.bool).tril(),
        "everything": None,
        "ffn": layers["ffn"],
    }
    for side in "wu":
        parts = layers[side].in_proj_weight.chunk(3)
        names |= {f"{side}_{name}": _linear(part) for name, part in zip("qkv", parts, strict=True)}
        names[f"{side}_o"] = _linear(layers[side].out_proj.weight)
    return names


def _linear(weight: torch.Tensor):
    return lambda t: t @ weight.T


@cache
def _layers() -> dict[str, nn.Module]:
    torch.manual_seed(0)
    attentions = {side: nn.MultiheadAttention(WIDTH, HEADS, bias=False, batch_first=True).double() for side in "wu"}
    return attentions | {"ffn": nn.Sequential(nn.Linear(WIDTH, 16), nn.GELU(), nn.Linear(16, WIDTH)).double()}


def _tokens(count: int, seed: int) -> torch.Tensor:
    return torch.randn(1, count, WIDTH, dtype=torch.double, generator=torch.Generator().manual_seed(seed))


def who_changes(question: Question) -> list[int]:
    """Exchanges the token in a batch of two sentences, and looks at what changes."""
    values = question.values
    source, target = torch.cat([_tokens(values["n"], 1)] * 2), torch.cat([_tokens(values["m"], 2)] * 2)
    before = _translate(source, target)
    changed = (source if values["side"] == "source" else target).clone()
    changed[0, values["changed"]] = _tokens(1, 3)[0, 0]
    after = _translate(changed, target) if values["side"] == "source" else _translate(source, changed)
    differs = {side: (before[side] - after[side]).abs().amax(dim=-1) > 1e-9 for side in before}
    found = []
    for place, option in enumerate(question.options):
        spot = values["spots"].get(option.text)
        if differs[spot[0]][0, spot[1]] if spot else any(each[1].any() for each in differs.values()):
            found.append(place)
    return found


def _translate(source: torch.Tensor, target: torch.Tensor) -> dict[str, torch.Tensor]:
    model = _encoder_decoder()
    mask = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1)
    memory = model.encoder(source)
    return {"encoder": memory, "decoder": model.decoder(target, memory, tgt_mask=mask)}


@cache
def _encoder_decoder() -> nn.Transformer:
    torch.manual_seed(0)
    return nn.Transformer(WIDTH, HEADS, 2, 2, 16, dropout=0.0, batch_first=True).double()


def changed_positions(question: Question) -> int:
    """Runs the stack twice, with the one token exchanged."""
    n, j = question.values["n"], question.values["j"]
    blocked = torch.ones(n, n, dtype=torch.bool).triu(1) if question.values["causal"] else None
    before = _tokens(n, 1)
    after = before.clone()
    after[0, j] = _tokens(1, 3)[0, 0]
    layer = _encoder_decoder().encoder.layers[0]
    for _ in range(question.values["layers"]):
        before, after = layer(before, src_mask=blocked), layer(after, src_mask=blocked)
    return int(((before - after).abs().amax(dim=-1) > 1e-12).sum())


def sees_and_predicts(question: Question) -> str:
    """Runs the code, with a print that keeps what it is given."""
    printed: list[str] = []
    exec(question.code, {"torch": torch, "print": lambda *parts: printed.append(" ".join(map(str, parts)))})
    return printed[0]


def cached_positions(question: Question) -> int:
    """Writes the tokens with a cache, counts, and checks that the words are those of a model without one."""
    p, m = question.values["p"], question.values["m"]
    torch.manual_seed(p)
    table = torch.randn(50, WIDTH, dtype=torch.double)
    prompt = torch.randint(50, (p,))
    text, fed, keys, count = prompt, prompt, torch.empty(0, WIDTH, dtype=torch.double), 0
    for _ in range(m):
        x = table[fed]
        count += len(x)
        keys = torch.cat([keys, x])
        seen = torch.arange(len(keys)) <= torch.arange(len(keys) - len(x), len(keys))[:, None]
        fed = _next(x, keys, seen, table)
        whole = table[text]
        assert fed == _next(whole, whole, torch.ones(len(whole), len(whole), dtype=torch.bool).tril(), table)
        text = torch.cat([text, fed])
    assert len(text) == p + m
    return count


def _next(x: torch.Tensor, keys: torch.Tensor, mask: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    mixed = scaled_dot_product_attention(x[None], keys[None], keys[None], mask)[0]
    return ((x + mixed)[-1:] @ table.T).argmax(dim=-1)


def read_out(question: Question) -> int:
    """The first output with a gradient to every token of the text."""
    n, real = question.values["n"], question.values["real"]
    x = _tokens(n, 1).requires_grad_()
    out = _encoder_decoder().encoder.layers[0](x, src_mask=torch.ones(n, n, dtype=torch.bool).triu(1))
    for position in range(n):
        (gradient,) = torch.autograd.grad(out[0, position, 0], x, retain_graph=True)
        if (gradient[0, :real].abs().amax(dim=-1) > 0).all():
            return position
    raise AssertionError("no position sees the whole text")
