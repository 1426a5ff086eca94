"""The questions on the key-value cache, answered with the lesson's attention and with torch's."""

from __future__ import annotations

import torch
from support.course_files import load
from support.run_question_code import run
from support.run_question_code import wrong_line as wrong_line_of


def text(length, heads=1, batch=1, width=4):
    """Queries, keys and values."""
    generator = torch.Generator().manual_seed(length)
    return [torch.randn(batch, heads, length, width, generator=generator) for _ in range(3)]


def attend(*arguments):
    """The lesson's attention."""
    return load("solutions/models/kv_cache.py").cached_attention(*arguments)


def seen(question):
    """The values that reach the output of that token."""
    values = question.values
    q, k, v = text(values["total"])
    v.requires_grad_()
    old, new = ([each[:, :, part] for each in (q, k, v)]
                for part in (slice(values["cached"]), slice(values["cached"], None)))  # fmt: skip
    out, _ = attend(*new, attend(*old)[1])
    out[0, 0, values["row"]].sum().backward()
    return int((v.grad.abs().sum(dim=-1) > 0).sum())


def shapes(question):
    """What the code makes of tensors of these shapes."""
    values = question.values
    sizes = values["heads"], values["batch"], values["width"]
    cache = attend(*text(values["cached"], *sizes))[1]
    q, k, v = text(values["chunk"], *sizes)
    visible = torch.ones(values["chunk"], values["total"], dtype=torch.bool).tril(values["cached"])
    space = run(question.code, q=q, k=k, v=v, cache=cache, visible=visible)
    torch.testing.assert_close(space["out"], attend(q, k, v, cache)[0])
    return [tuple(space[name].shape) for name in ("keys", "scores", "out")]


def scores(question):
    """Queries times keys, counted while a text is written."""
    counted, cache, unread = 0, None, text(question.values["prompt"])
    for _ in range(question.values["new"]):
        _, cache = attend(*unread, cache)
        counted += unread[0].shape[-2] * cache[0].shape[-2]
        unread = text(1)
    return counted


def wrong_line(question):
    """The line whose repair gives torch's causal attention, whatever the chunks."""
    q, k, v = text(6, 2, 2)
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    def works(code):
        attend = run(code)["attend"]
        for chunks in ([6], [1] * 6, [2, 3, 1]):
            found, cache, begin = [], None, 0
            for length in chunks:
                part = slice(begin, begin + length)
                out, cache = attend(q[:, :, part], k[:, :, part], v[:, :, part], cache)
                found.append(out)
                begin += length
            if not torch.allclose(torch.cat(found, dim=-2), expected, atol=1e-5):
                return False
        return True

    return wrong_line_of(question, works)
