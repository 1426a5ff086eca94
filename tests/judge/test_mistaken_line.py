"""The line of a named mistake: where a submission has what the reference has with that mistake in it."""

from __future__ import annotations

import gc
import time

import pytest
import torch
from support.factories import ROOT, judge_source, run_judge

from grader.judge.examination import Judge
from grader.judge.mistakes.changed_parts import find_changed_parts
from grader.judge.processes.launcher import Launcher
from grader.model import Submission

ATTENTION_GRADIENT = """import math
import torch


def two_tokens(q, k1, k2, v1, v2, g):
    a = 1 / (1 + math.exp(q * k2 - q * k1))
    s = g * (v1 - v2) * a * (1 - a)
    return dict(a=a, dq=s * (k1 - k2), dk1=s * q, dk2=-s * q, dv1=a * g, dv2=(1 - a) * g)


def attention_backward(q, k, v, d_out):
    scale = q.size(1) ** -0.5
    p = torch.softmax(q @ k.T * scale, dim=1)
    dp = d_out @ v.T
    ds = p * dp
    return ds @ k * scale, ds.T @ q * scale, p.T @ d_out
"""
ONE_WAY = ATTENTION_GRADIENT.replace(
    "    return dict(a=a, dq=s * (k1 - k2)", '    found = {}\n    found["dq"] = s * k1\n    return dict(found, a=a'
)
CACHED = """import torch


def join(old, new):
    return torch.cat([old, new], dim=-2)


def cached_attention(q, k, v, cache=None):
    if cache is not None:
        k = {keys}
        v = join(cache[1], v)
    new, all_of = q.size(-2), k.size(-2)
    seen = torch.ones(new, all_of, dtype=torch.bool, device=q.device).tril(all_of - new)
    scores = (q @ k.mT / q.size(-1) ** 0.5).masked_fill(~seen, float("-inf"))
    return scores.softmax(-1) @ v, (k, v)


def generate_cached(model, ids, max_new_tokens, pick):
    was, cache, unread = model.training, None, ids
    model.eval()
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits, cache = model(unread, cache)
            unread = pick(logits[:, -1]).unsqueeze(1)
            ids = torch.cat([ids, unread], dim=1)
    model.train(was)
    return ids
"""
CROSS_ENTROPY = """import math
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    shares = logits.softmax(-1)
    logs = {logs}
    keep = targets != ignore_index
    kept = torch.where(keep, targets, 0)
    right = -logs.gather(-1, kept.unsqueeze(-1)).squeeze(-1)
    losses = (1 - label_smoothing) * right - label_smoothing * {spread}
    return losses[keep].mean()


def perplexity(losses, counts):
    return math.exp(sum(a * b for a, b in zip(losses, counts, strict=True)) / sum(counts))
"""
TRAINING = """import torch
import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()
    {clear}
    logits = model(inputs)
    {cut}
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, optimizer, batches):
    return [train_step(model, optimizer, *batch) for batch in batches]
"""
SHIFTED = "logits, targets = logits[:, :-1], targets[:, 1:]"
PLACES = """import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    table = torch.zeros(seq_len, d_model)
    p = torch.arange(seq_len)
    for i in range(d_model // 2):
        a = p / 10000 ** (i / d_model)
        table[:, 2 * i], table[:, 2 * i + 1] = a.sin(), a.cos()
    return table
"""
MASK = """import torch


def causal_mask(seq_len):
    m = torch.zeros(seq_len, seq_len, dtype=torch.bool)
    for i in range(seq_len):
        m[i, :i] = True
    return m
"""
SOFTMAX = """def softmax(x, dim=-1):
    x -= x.amax(dim, keepdim=True)
    x = x.exp()
    return x / x.sum(dim, keepdim=True)
"""
ROWS = SOFTMAX.replace("dim=-1):\n", "dim=-1):\n    for row in x.clone().reshape(-1, x.shape[-1]):\n        row -= 1\n")
NESTED = "\n".join(
    [
        "def softmax(x, dim=-1):",
        *(f"{' ' * depth}if dim is not None:" for depth in range(1, 86)),
        *[f"{' ' * 86}a = dim"] * 600,
        f"{' ' * 86}powers = (x - x.amin(dim, keepdim=True)).exp()",
        f"{' ' * 86}return powers / powers.mean(dim, keepdim=True)",
    ]
)
FEED_FORWARD = """import torch


class FeedForward(torch.nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = torch.nn.Linear(d_model, d_ff)
        self.w2 = torch.nn.Linear(d_ff, d_model{more})

    def forward(self, x):
        return self.w2({inner})
"""
LAYER_NORM = """import torch


def layer_norm(x, weight, bias, eps=1e-5):
    mean = x.sum(-1, keepdim=True) / x.shape[-1]
    {spread}
    return weight * (x - mean) / {size} + bias


def rms_norm(x, weight, eps=1e-5):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight
"""
DEVIATION = "std = x.var(-1, keepdim=True, unbiased=False).sqrt()"
CANCELLED = (
    "mean = x.mean(-1, keepdim=True)\n    square = (x * x).mean(-1, keepdim=True)\n"
    "    var = square - mean * mean\n    var = var.clamp(min=0)"
)
PADDING = """import torch


def padding_mask(lengths, max_len):
    places = torch.arange(max_len, device=lengths.device).expand(len(lengths), max_len)
    return (places >= lengths[:, None])[:, None, None]


def causal_padding_mask(lengths, max_len):
    seen = torch.ones(max_len, max_len, dtype=torch.bool, device=lengths.device).tril()
    return seen & (torch.arange(max_len, device=lengths.device) < lengths[:, None])[:, None, None]
"""
ADAMW = """def adamw_step(param, grad, m, v, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    b, c = betas
    m, v = b * m + (1 - b) * grad, c * v + (1 - c) * grad**2
    m_hat, v_hat = m / (1 - b**t), v / (1 - c**t)
    param = param - lr * weight_decay * param
    param = param - lr * m_hat / (v_hat.sqrt() + eps)
    return param, m_hat, v_hat
"""
CLIPPING = """import torch


def length(grads):
    return torch.cat([g.flatten() for g in grads if g is not None]).norm()


def clip_gradients(grads, max_norm):
    factor = torch.clamp(max_norm / (length(grads) + 1e-6), max=1.0)
    clipped = [None if g is None else g * factor for g in grads]
    return clipped, length(clipped)
"""
BATCHES = """import torch


def split(data, share=0.9):
    n = round(share * len(data))
    return data[:n], data[n:]


def get_batch(data, starts, block_size):
    inputs, targets = [], []
    for s in sorted(starts.tolist()):
        inputs.append(data[s : s + block_size])
        targets.append(data[s + 1 : s + block_size + 1])
    return torch.stack(inputs), torch.stack(targets)
"""


@pytest.mark.parametrize(
    ("lesson", "source", "function", "line"),
    [
        # what the mistake gives is a part of the reference's step, and what follows is due
        (
            "attention_gradient",
            ATTENTION_GRADIENT,
            "attention_backward",
            15,
        ),
        # a function of one's own is right in another call
        ("kv_cache", CACHED.format(keys="join(k, cache[0])"), "cached_attention", 10),
        # on the way to what the mistake gives there are values that the reference does not have
        ("cross_entropy", CROSS_ENTROPY.format(logs="shares.log()", spread="logs.mean(-1)"), "cross_entropy", 7),
        # of a step that was changed in a part, the part counts
        ("training", TRAINING.format(clear="optimizer.zero_grad()", cut=SHIFTED), "train_step", 9),
        # what is returned is no tensor
        ("attention_gradient", ONE_WAY, "two_tokens", 9),
        # each pass gives one number of it
        ("positional_encoding", PLACES, "sinusoidal_positional_encoding", 8),
        # an argument goes wrong before the reference's first step
        ("feed_forward", FEED_FORWARD.format(inner="self.w1(torch.nn.functional.gelu(x))", more=""), "FeedForward", 11),
        # that small number makes the difference, and without it the line before gives nearly the same
        ("layer_norm", LAYER_NORM.format(spread=DEVIATION, size="(std + eps)"), "layer_norm", 7),
        # what follows leaves it as it is
        ("layer_norm", LAYER_NORM.format(spread=CANCELLED, size="(var + eps) ** 0.5"), "layer_norm", 8),
        # what it was made of is the reference's, broadcast
        ("padding_mask", PADDING, "padding_mask", 6),
        # what is due could be returned as well
        ("adamw", ADAMW, "adamw_step", 7),
        # a helper is right for one call and wrong for another
        ("gradient_clipping", CLIPPING, "clip_gradients", 11),
    ],
)
def test_the_line_of_a_named_mistake_is_found(
    lesson: str, source: str, function: str, line: int, launcher: Launcher
) -> None:
    """Where no value in one place mends the answer for certain, the line is that which gives what the mistake gives."""
    found = {each.function: each for each in judge_source(launcher, lesson, source).lines}
    assert found[function].line == line
    assert f"Line {line} is where it goes wrong" in found[function].says
    assert "gives exactly what the named mistake gives there" in found[function].says


@pytest.mark.parametrize(
    ("lesson", "source", "line"),
    [
        ("causal_mask", MASK, "7 is where it goes wrong: `m[i, :i] = True` leaves in `m` exactly what"),
        ("softmax", SOFTMAX, "2 is where it goes wrong: `x -= x.amax(dim, keepdim=True)` leaves in `x` exactly what"),
        # what a loop goes over is no argument
        ("softmax", ROWS, "4 is where it goes wrong: `x -= x.amax(dim, keepdim=True)` leaves in `x` exactly what"),
    ],
)
def test_a_line_that_changes_what_was_there_is_quoted(lesson: str, source: str, line: str, launcher: Launcher) -> None:
    """What fills an array, or changes an argument, is told with what it leaves there."""
    (found,) = judge_source(launcher, lesson, source).lines
    assert f"Line {line} the named mistake leaves there." in found.says


@pytest.mark.parametrize(
    ("lesson", "source", "line", "statement"),
    [
        (
            "kv_cache",
            CACHED.format(keys="join(cache[0], k)").replace("model.train(was)", "model.train()"),
            26,
            "model.train()",
        ),
        (
            "training",
            TRAINING.format(clear="pass", cut="pass").replace(
                "loss.backward()", "loss.backward()\n    optimizer.zero_grad()"
            ),
            12,
            "optimizer.zero_grad()",
        ),
        (
            "feed_forward",
            FEED_FORWARD.format(inner="torch.nn.functional.gelu(self.w1(x))", more=", bias=False")
            .replace("torch.nn", "nn")
            .replace("import torch", "from torch import nn"),
            8,
            "self.w2 = nn.Linear(d_ff, d_model, bias=False)",
        ),
    ],
)
def test_a_statement_that_gives_nothing_is_found_by_its_words(
    lesson: str, source: str, line: int, statement: str, launcher: Launcher
) -> None:
    """A statement that is word for word what the mistake has there is the line, though it gives no value."""
    found = judge_source(launcher, lesson, source).lines[0]
    assert found.line == line
    assert f"Line {line} is where it goes wrong: `{statement}` is what the named mistake does." in found.says


@pytest.mark.slow
def test_words_below_many_tests_are_looked_for_once(launcher: Launcher) -> None:
    """A minute and a half went by in this one, which is more than `grader run` waits."""
    began = time.process_time()
    assert len(judge_source(launcher, "softmax", NESTED).mistakes) == 2
    assert time.process_time() - began < 20


def test_where_all_runs_in_another_file_no_line_is_told(launcher: Launcher) -> None:
    """No line of the judged file is to blame then, and the search for it says nothing."""
    result = judge_source(launcher, "adamw", "from own import adamw_step\n", siblings={"own": ("own.py", ADAMW)})
    assert [each.id for each in result.mistakes] == ["aw-corrected-kept"]
    assert not result.lines and not any("fault" in note for note in result.notes)


def test_where_a_statement_is_missing_is_what_comes_next(launcher: Launcher) -> None:
    """A line is told once, also where another function of the lesson goes wrong by what it calls."""
    (found,) = judge_source(launcher, "training", TRAINING.format(clear="pass", cut="pass")).lines
    assert found.function == "train_step"
    assert "Line 11 is where something is missing: the reference does something before `loss.b" in found.says


def test_what_is_there_is_not_called_missing(launcher: Launcher) -> None:
    """Both norms are made; that the second is not used where it should be is no fault of the line that makes it."""
    source = (ROOT / "solutions/core/block.py").read_text()
    before, after = source.split("            heard = self.attn(x, mask)  # step: post_talk")
    after = "        return out" + after.partition("        return out")[2]
    both = "            h = self.norm1(x + self.attn(x, mask))\n            out = h + self.ffn(h)\n"
    result = judge_source(launcher, "block", before + both + after)
    assert [each.id for each in result.mistakes] == ["bl-missing-norm"]
    assert [each.line for each in result.lines] == [source[: source.index("post_talk")].count("\n") + 2]


def test_what_a_search_has_built_is_let_go(launcher: Launcher) -> None:
    """No model or optimizer of a watched reference outlives the search for a line, however many are judged."""
    submission = Submission("training", "training.py", TRAINING.format(clear="pass", cut="pass"))

    def count_kept(judge: Judge) -> int:
        assert judge.examine(judge.course.lessons["training"], submission, 7).lines
        gc.collect()
        return sum(isinstance(each, torch.optim.Optimizer) for each in gc.get_objects())

    first, second = run_judge(launcher, "training", lambda judge: [count_kept(judge), count_kept(judge)], known=True)
    assert second <= first


@pytest.mark.parametrize(
    ("lesson", "source"),
    [
        # the loss is what the mistake gives, and what it was made of is the reference's but for a factor
        ("cross_entropy", CROSS_ENTROPY.format(logs="logits.log_softmax(-1)", spread="logs.sum(-1)")),
        # what differs first comes of what an earlier call did to the model
        ("training", TRAINING.format(clear="pass", cut="pass")),
        # the order was lost in a list, of which nothing is known
        ("language_batches", BATCHES),
    ],
)
def test_a_line_that_only_hands_a_mistake_on_is_not_blamed(lesson: str, source: str, launcher: Launcher) -> None:
    """A line is not blamed for what comes of an earlier one, though it gives what the mistake gives there."""
    result = judge_source(launcher, lesson, source)
    assert result.mistakes
    assert not [each for each in result.lines if "named mistake" in each.says]


@pytest.mark.parametrize(
    ("right", "wrong", "parts"),
    [
        ("y = (x + 1).relu()", "y = (x - 1).relu()", ["x - 1"]),
        ("y = x.flatten(0, 1)", "y = x[:, :-1].flatten(0, 1)", ["x[:, :-1]"]),
        ("y = f(a, b)", "y = f(b, a)", ["f(b, a)"]),
        ("y = f(a, k=1)", "y = f(a, k=2)", ["2"]),
        ("def f():\n    a = 1\n    return a", "def f():\n    return 2", ["return 2"]),
        ("a = 1\nb = 2", "a = 3\nb = 4", ["3", "4"]),
        ("a = 1", "a = 1", []),
    ],
)
def test_the_smallest_parts_that_differ_are_found(right: str, wrong: str, parts: list[str]) -> None:
    """Of a changed expression the smallest part that differs is told, and of each changed statement one."""
    lines = wrong.split("\n")
    spans = [part.span for part in find_changed_parts(right, wrong)]
    assert [lines[first - 1][begin:end] for first, begin, _, end in spans] == parts
