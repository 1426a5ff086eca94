"""The line where right ends: watched in a real worker, said only where it is certain, and with its evidence."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from support.factories import ROOT, judge_source, run_judge

from grader.judge.checks.lesson_checks import LessonChecks
from grader.judge.examination import Judge
from grader.judge.processes.launcher import Launcher
from grader.judge.processes.reply_schema import MAX_EVENTS, Malformed, reply_to
from grader.model import LessonResult, Submission
from grader.record import Record
from grader.reports.redact_record import redact
from grader.worker.watch.watched_source import AFTER, HOOK, MAX_PLACES, Watcher, hook_expressions
from grader.worker.wire import Array, Handle

OVER_THE_QUERIES = """import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    att = q @ k.transpose(-2, -1)
    att = att / k.shape[-1] ** 0.5
    if mask is not None:
        att = att.masked_fill(~mask, float("-inf"))
    share = torch.softmax(att, 1)
    return share @ v
"""
ONE_HEAD_TOO_MANY = """import torch


def split_heads(x, num_heads):
    d = x.shape[-1] // num_heads
    heads = []
    for h in range(num_heads):
        heads.append(x[:, :, :d] if h == 1 else x[:, :, h * d : h * d + d])
    return torch.stack(heads, dim=1)
"""
ANSWERS = ROOT / "tests/content/answers"
ALIKE = ROOT / "tests/content/variants/files"


def test_the_line_is_named_with_its_evidence(launcher: Launcher) -> None:
    """A wrong line is named, and the one before it that is known to be right: by the reference's values."""
    (line,) = judge_source(launcher, "attention", OVER_THE_QUERIES).lines

    assert (line.line, line.right) == (9, 6)
    assert "Line 6 is right: your `att` equals the reference's `scores` after its step `scale`." in line.says
    assert "Line 9 is where it goes wrong: with the right value in place of `" in line.says


def test_a_line_to_which_the_reference_does_more_is_not_called_right(launcher: Launcher) -> None:
    """Beside a missing √d_k, which belongs to that line: it is told to hold what the reference's step gives."""
    source = OVER_THE_QUERIES.replace("    att = att / k.shape[-1] ** 0.5\n", "").replace("att, 1)", "att, dim=-2)")
    result = judge_source(launcher, "attention", source)
    (line,) = result.lines

    assert any("without the 1/√d_k" in named.says for named in result.mistakes)
    assert line.right == 5 and "is right:" not in line.says
    assert "Line 5 holds what the reference's step `score` gives: your `att` equals its `scores` there." in line.says


def test_where_no_mistake_has_a_name_the_line_comes_first(launcher: Launcher) -> None:
    """Before what is right and wrong elsewhere, of which the right is counted where it is much."""
    turned = "mask = mask.mT if mask.dim() > 1 and mask.size(-1) == mask.size(-2) else mask\n        att = att.masked"
    odd = OVER_THE_QUERIES.replace("att, 1)", "att, -1)").replace("att = att.masked", turned)
    result = judge_source(launcher, "attention", odd)
    where, told, *_ = result.weaknesses

    assert not result.mistakes and where.endswith(result.lines[0].says)
    assert told.startswith("`scaled_dot_product_attention`: Right on single matrices without a mask, with one key,")
    assert " other cases; wrong " in told and len(told) < 300


ADAMW = """import torch


def adamw_step(param, grad, m, v, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    b1, b2 = betas
    m = b1 * m + (1 - b1) * grad
    v = b2 * v + (1 - b2) * grad**2
    m_hat, v_hat = m / (1 - b1**t), v / (1 - b2**t)
    step = m_hat / torch.sqrt(v_hat + eps)
    return param - lr * (weight_decay * param + step), m, v
"""
BACKWARD = """import math
import torch


def attention_backward(q, k, v, d_out):
    scale = 1 / math.sqrt(q.shape[-1])
    p = torch.softmax(q @ k.T * scale, dim=-1)
    dp = d_out @ v.T
    ds = p * (dp - (p * dp).sum(-1, keepdim=True)) * scale
    dq = ds @ k * 3
    dk = ds.T @ q * 3
    return dq, dk, p.T @ d_out
"""


def test_of_an_answer_with_several_entries_each_is_followed(launcher: Launcher) -> None:
    """Not the last that is returned alone: the line that spoils the first is found, and said to mend the call."""
    (line,) = judge_source(launcher, "adamw", ADAMW).lines

    assert (line.line, line.right) == (9, 8)
    assert "with the right value in place of `torch.sqrt(v_hat + eps)` (the reference's `size`)" in line.says


def test_where_no_line_mends_all_entries_one_entry_is_looked_at(launcher: Launcher) -> None:
    """Two lines are off by a factor; the first of them is named, by its own entry."""
    lines = judge_source(launcher, "attention_gradient", BACKWARD).lines
    (line,) = (each for each in lines if each.function == "attention_backward")

    exchanged = BACKWARD.replace("return dq, dk", "dq, dk = dq / 3, dk / 3\n    return dk, dq")
    both = judge_source(launcher, "attention_gradient", exchanged).lines
    assert not [each for each in both if each.function == "attention_backward" and each.line < 12]
    assert line.line == 10 and "`ds @ k * 3` should be the reference's `dq`, but is 3 times it." in line.says


BY_LOGARITHMS = """import math
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    log_base = math.log(10000.0)
    even = torch.arange(0, d_model, step=2, dtype=torch.float32)
    rates = torch.exp(log_base * even / d_model)
    angles = torch.arange(seq_len, dtype=torch.float32)[:, None] * rates
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)
"""


def test_a_number_of_another_way_of_writing_it_is_not_blamed(launcher: Launcher) -> None:
    """The reference has no log(10000), which is right all the same: the line that misses its minus is named."""
    (line,) = judge_source(launcher, "positional_encoding", BY_LOGARITHMS).lines
    assert line.line == 8 and "(the reference's `rates`)" in line.says


def test_a_variable_that_is_off_by_a_factor_too_keeps_the_line_that_uses_it_from_being_named(
    launcher: Launcher,
) -> None:
    """What is wrong stands where the step was made, of which the reference has another form: the mistake tells it."""
    late = ADAMW.replace("b1**t", "b1**(t + 1)").replace("b2**t", "b2**(t + 1)")
    late = late.replace("step = m_hat / torch.sqrt(v_hat + eps)", "step = m_hat / (torch.sqrt(v_hat) + eps)")
    late = late.replace("lr * (weight_decay * param + step)", "lr * weight_decay * param - lr * step")
    (line,) = judge_source(launcher, "adamw", late).lines
    assert "`m / (1 - b1**(t + 1))` gives exactly what the named mistake gives there" in line.says


def test_where_a_mask_is_wrong_nothing_is_missing(launcher: Launcher) -> None:
    """The scores are right, and the reference's masked ones in their place would mend the call: they are not blamed."""
    source = (ROOT / "solutions/models/kv_cache.py").read_text()
    mask = "    rows = torch.arange(new).view(-1, 1) + total - new\n    hidden = torch.arange(total) >= rows + 2\n"
    one_more = source.replace("    visible = visible.tril(total - new)  # (T, S)  # step: mask\n", mask)
    one_more = one_more.replace("masked_fill(~visible", "masked_fill(hidden")
    result = judge_source(launcher, "kv_cache", one_more)
    assert result.mistakes[0].id == "kv-mask-one-more" and "something is missing" not in str(result.lines)


def test_what_keeps_a_raise_of_ones_own_from_running_is_not_told(launcher: Launcher) -> None:
    """With -1 in place of the length no text is too long, and nothing is right: the line that asks is to blame."""
    source = (ROOT / "solutions/text/learned_positions.py").read_text()
    assert source.count(" > ") == 1
    result = judge_source(launcher, "learned_positions", source.replace(" > ", " >= "))
    (line,) = result.lines
    assert line.line == source[: source.index(" > ")].count("\n") + 1 and "in place of" in line.says
    softmax = "e = (x - x.amax(dim, keepdim=True)).exp()\n    return e / e.sum(dim, keepdim=True)\n"
    refuses = f"def softmax(x, dim=-1):\n    if x.dim() > 2: raise ValueError('two axes only')\n    {softmax}"
    assert judge_source(launcher, "softmax", refuses).lines == ()


LOSS_AFTER_THE_STEP = """import torch
from torch.nn import functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()
    optimizer.zero_grad()
    logits = model(inputs)
    loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), targets.reshape(-1))
    loss.backward()
    optimizer.step()
    loss = F.cross_entropy(model(inputs).reshape(-1, logits.size(-1)), targets.reshape(-1))
    return loss.item()


def train(model, optimizer, batches):
    return [train_step(model, optimizer, *batch) for batch in batches]
"""
CUT_THE_OTHER_WAY = """import torch


def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    x = logits / temperature
    if top_k is not None:
        kth = x.topk(min(top_k, x.size(-1)), dim=-1).values[:, -1:]
        x = x.masked_fill(x < kth, float("-inf"))
    probs = torch.softmax(x, dim=-1)
    if top_p is not None:
        ordered, index = probs.sort(dim=-1, descending=True)
        before = ordered.cumsum(dim=-1) - ordered
        drop = before > 1 - top_p
        drop = torch.zeros_like(drop).scatter(-1, index, drop)
        probs = probs.masked_fill(drop, 0.0)
        probs = probs / probs.sum(dim=-1, keepdim=True)
    return probs


def sample_token(probs, u):
    return (probs.cumsum(dim=-1) <= u[:, None]).sum(dim=-1)
"""


@pytest.mark.parametrize(
    ("lesson", "source", "line"),
    [("training", LOSS_AFTER_THE_STEP, 8), pytest.param("sampling", CUT_THE_OTHER_WAY, 9, marks=pytest.mark.slow)],
)
def test_nothing_is_missing_behind_a_line_that_leads_to_another_right_one(launcher, lesson, source, line):
    """A right line is not named, though the reference's next value in its place would mend the answer."""
    result = judge_source(launcher, lesson, source)

    assert not result.passed and all(each.line != line for each in result.lines)


FILLED = """import torch


def causal_mask(seq_len):
    mask = torch.zeros(seq_len, seq_len, dtype=torch.bool)
    for i in range({begin}, seq_len):
        for j in range({first}, {last}):
            mask[i, j] = True
    return mask
"""


def test_of_a_loop_that_fills_an_array_the_first_wrong_pass_is_told(launcher: Launcher) -> None:
    """That which puts in what does not belong there; what a loop leaves out is put in by no line in it."""
    (line,) = judge_source(launcher, "causal_mask", FILLED.format(begin=0, first="i", last="seq_len")).lines
    left_out = [FILLED.format(begin=0, first=0, last="i"), FILLED.format(begin=1, first=0, last="i + 1")]
    told = [[each.line for each in judge_source(launcher, "causal_mask", source).lines] for source in left_out]

    assert line.line == 8 and "(in pass 2 of " in line.says
    assert told == [[], [6]]  # where the loop begins is mended by one number


def test_what_a_changed_argument_becomes_is_no_second_mistake(launcher: Launcher) -> None:
    """Once it is told that the caller's tensor is changed."""
    begin = "def softmax(x, dim=-1):\n    x -= x.amax(dim, keepdim=True)\n    x.exp_()\n"
    source = f"{begin}    return x / x.sum(dim, keepdim=True)\n"
    (mistake,) = judge_source(launcher, "softmax", source).mistakes

    assert mistake.says == "You change the caller's tensor (`x -= ...`)."


def test_a_number_is_not_said_twice(launcher: Launcher) -> None:
    """Of `-1e9` it is not told that it is -1e+09."""
    finite = OVER_THE_QUERIES.replace("att, 1)", "att, -1)").replace('float("-inf")', "-1e9")
    (line,) = judge_source(launcher, "attention", finite).lines

    assert line.says.endswith("with -inf in place of `-1e9`, a call that was wrong is right.")


CUT = """import torch


def generate(model, ids, max_new_tokens, max_len, pick):
    was = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(max_new_tokens):
            ids = ids[:, -max_len:]
            logits = model(ids)[:, -1]
            ids = torch.cat([ids, pick(logits)[:, None]], dim=1)
    model.train(was)
    return ids
"""


def test_no_line_is_blamed_for_a_variable_that_an_earlier_one_has_overwritten(launcher: Launcher) -> None:
    """Where the text is cut for the model and kept so, that line is told, and not the one that appends to it."""
    result = judge_source(launcher, "generate", CUT)

    assert ["ids = ids[:, -max_len:]" in line.says for line in result.lines] == [True]
    assert [mistake.id for mistake in result.mistakes] == ["gn-text-cropped"]


CENTRED = """import torch


def centre(t):
    return t - t.mean(dim=-1, keepdim=True)


def layer_norm(x, weight, bias, eps=1e-5):
    c = centre(x)
    return c / (c.square().mean(dim=-1, keepdim=True) + eps).sqrt() * weight + bias


def rms_norm(x, weight, eps=1e-5):
    c = centre(x)
    return c / (c.square().mean(dim=-1, keepdim=True) + eps).sqrt() * weight
"""


def test_of_a_helper_that_a_right_function_calls_the_call_is_blamed(launcher: Launcher) -> None:
    """It does what it is there for; what is wrong is that the other function calls it."""
    (line,) = judge_source(launcher, "layer_norm", CENTRED).lines

    assert line.line == 14 and "Line 14 is the first that differs" in line.says


FIRST_HEAD_HIDES = """import torch


def split_heads(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def merge_heads(x):
    return x.transpose(1, 2).flatten(2)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = (split_heads(x @ w.T, num_heads) for w in (w_q, w_k, w_v))
    heads = []
    for h in range(num_heads):
        scores = q[:, h] @ k[:, h].transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is not None and h == 0:
            scores = scores.masked_fill(~mask, float("-inf"))
        heads.append(scores.softmax(-1) @ v[:, h])
    return torch.stack(heads, dim=1).transpose(1, 2).flatten(2) @ w_o.T
"""


@pytest.mark.slow
def test_the_pass_that_is_named_is_one_that_goes_wrong(launcher: Launcher) -> None:
    """In the first the mask comes behind the line: there it is right as it is, whatever else would be right, too."""
    (line,) = judge_source(launcher, "multi_head", FIRST_HEAD_HIDES).lines

    assert line.line in (16, 17) and "in pass 2 of" in line.says and "(in pass 1 of" not in line.says


TURNED_TWICE = """import torch


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    pieces = []
    for i in range(d // 2):
        a = positions.to(x.dtype) * base ** (-2 * i / d)
        left, right = x[..., 2 * i], x[..., 2 * i + 1]
        left = left * a.cos() - right * a.sin()
        right = left * a.sin() + right * a.cos()
        pieces += [left, right]
    return torch.stack(pieces, dim=-1)
"""


def test_what_counts_the_passes_of_a_loop_is_not_blamed_for_what_goes_wrong_in_it(launcher: Launcher) -> None:
    """The reference has no such number; that alone is no evidence."""
    assert 7 not in [line.line for line in judge_source(launcher, "rope", TURNED_TWICE).lines]


TWICE_WRONG = """import torch


def sinusoidal_positional_encoding(seq_len, d_model, device=None):
    pos = torch.arange(seq_len, dtype=torch.float32, device=device).unsqueeze(1)
    even = torch.arange(0, d_model, 2, dtype=torch.float32, device=device)
    freq = 10000.0 ** (-2 * even / d_model)
    angles = pos * freq
    return torch.cat([angles.sin(), angles.cos()], dim=-1)
"""


def test_of_two_wrong_lines_the_first_is_named(launcher: Launcher) -> None:
    """Angles of other speeds are a multiple in each column: what they were made of may be wrong; else the last is."""
    twice = judge_source(launcher, "positional_encoding", TWICE_WRONG)
    assert len(twice.mistakes) == 2 and [line.line for line in twice.lines] == [7]
    (line,) = judge_source(launcher, "positional_encoding", TWICE_WRONG.replace("-2 *", "-1 *")).lines
    assert (line.line, line.right) == (9, 8)


WITHOUT_SCALE = """import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ v
"""


def test_a_line_that_is_right_as_far_as_it_goes_is_not_called_wrong(launcher: Launcher) -> None:
    """Where a step is left out the line before it is named, and what is missing there: `learn trace` marks it right."""
    (line,) = judge_source(launcher, "attention", WITHOUT_SCALE).lines

    assert line.line == 5
    assert (
        "Line 5 is where something is missing: `q @ k.transpose(-2, -1)` is the reference's `scores` after its"
        in line.says
    )
    # that they lack 1/√d_k, and not that they lack 0.2887
    assert (
        "but what follows needs the reference's `scores` after its step `scale`, which is 1/√12 times it." in line.says
    )
    assert line.gist == "`scaled_dot_product_attention`: line 5 is where something is missing."


def test_lines_are_counted_as_python_counts_them(launcher: Launcher) -> None:
    """What ends a line elsewhere, and may stand in a text, does not move what is quoted."""
    title = "TITLE = '\f \x1c \x85 \u2028'\n\n"
    source = title + OVER_THE_QUERIES

    assert (
        "with the right value in place of `torch.softmax(att, 1)` (the reference's `weights`), "
        "a call that was wrong is right." in judge_source(launcher, "attention", source).lines[0].says
    )
    raises = title + "def softmax(x, dim=-1):\n    raise ValueError('no')\n"
    assert "raise ValueError('no')" in judge_source(launcher, "softmax", raises).weaknesses[0]


def test_a_loop_names_the_first_pass_that_differs(launcher: Launcher) -> None:
    """Of a line that runs several times the first wrong pass is told."""
    lines = judge_source(launcher, "multi_head", ONE_HEAD_TOO_MANY).lines

    assert [(line.function, line.line) for line in lines] == [("split_heads", 8)]
    assert "(in pass 2 of " in lines[0].says


ALWAYS_TO_THE_FIRST = """def residual_stream(x, branches, norms, norm_first=True):
    stream = [x]
    for f, norm in zip(branches, norms):
        x = stream[0] + f(norm(x)) if norm_first else norm(x + f(x))
        stream.append(x)
    return stream
"""


def test_a_line_that_is_right_in_one_pass_and_wrong_in_the_next_is_told_with_both(launcher: Launcher) -> None:
    """The same line is not told to be right and to be wrong without saying when."""
    (line,) = judge_source(launcher, "residual", ALWAYS_TO_THE_FIRST).lines

    assert "Line 4 is right in pass 1: your `x` equals" in line.says
    assert "Line 4 is where it goes wrong (in pass 2 of " in line.says


MASK_OF_NUMBERS = """import torch


def causal_mask(size):
    return torch.ones(size, size).tril().to(torch.uint8)
"""
MASK_OF_NUMPY = """import numpy


def causal_mask(size):
    return numpy.tril(numpy.ones((size, size), dtype=bool))
"""
WITHOUT_EPS = """import torch


def layer_norm(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    spread = x.std(-1, correction=0, keepdim=True)
    return weight * ((x - mean) / spread) + bias


def rms_norm(x, weight, eps=1e-5):
    return weight * x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps)
"""


@pytest.mark.parametrize(
    "lesson, source",
    [
        ("causal_mask", MASK_OF_NUMBERS),
        ("causal_mask", MASK_OF_NUMPY),
    ],
)
def test_no_line_is_told_that_gives_what_is_returned_and_right_or_only_an_argument(
    launcher: Launcher, lesson: str, source: str
) -> None:
    """Right values of another kind, or on a harmless input, end nowhere; nor does right end at an argument."""
    result = judge_source(launcher, lesson, source)
    assert result.score < 10 and result.lines == ()


@pytest.mark.slow
def test_a_call_that_is_off_by_little_is_no_evidence_where_another_one_is_off_by_more(launcher: Launcher) -> None:
    """eps hardly shows on usual tokens, and on tiny ones it tells the line; the tanh form of GELU tells none."""
    (line,) = judge_source(launcher, "layer_norm", WITHOUT_EPS).lines
    always_pre_with_tanh = (ALIKE / "block/wrong_only_pre_tanh.py").read_text(encoding="utf-8")

    assert line.line == 6
    assert all("gelu" not in each.says for each in judge_source(launcher, "block", always_pre_with_tanh).lines)


def test_something_is_missing_only_where_the_reference_makes_more_of_it(launcher: Launcher) -> None:
    """Keys in the place of values are wrong: nothing that is added to them makes them right."""
    keys_as_values = (ALIKE / "multi_head/wrong_keys_as_values.py").read_text(encoding="utf-8")
    (line,) = judge_source(launcher, "multi_head", keys_as_values).lines

    assert "where it goes wrong: `F.linear(x, w_k)` is the reference's `k`, but what follows needs" in line.says


def test_the_line_that_uses_what_is_missing_is_told_before_one_that_is_right(launcher: Launcher) -> None:
    """A mask that is added with too small a number hides badly where it is added, and nothing is missing before."""
    too_little = (ALIKE / "attention/wrong_adds_minus_a_thousand.py").read_text(encoding="utf-8")
    (line,) = judge_source(launcher, "attention", too_little).lines

    assert line.line == 9 and "is where it goes wrong" in line.says


SINES_TWICE = """import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    angles = torch.arange(seq_len).float()[:, None] * 10000.0 ** (-torch.arange(0, d_model, 2).float() / d_model)
    table = torch.zeros(seq_len, d_model)
    table[:, 0::2] = torch.sin(angles)
    table[:, 1::2] = torch.sin(angles)
    return table
"""
ALWAYS_FLOAT32 = """import torch


def softmax(x, dim=-1):
    x = x.float()
    e = (x - x.amax(dim=dim, keepdim=True)).exp()
    return e / e.sum(dim=dim, keepdim=True)
"""


@pytest.mark.parametrize(
    "lesson, source, quoted",
    [
        ("positional_encoding", SINES_TWICE, "Line 8 is where it goes wrong: `torch.sin(angles)`."),
        ("softmax", ALWAYS_FLOAT32, "Line 5 is where it goes wrong: `x.float()`."),
    ],
)
def test_a_line_is_only_quoted_where_its_values_say_nothing(
    launcher: Launcher, lesson: str, source: str, quoted: str
) -> None:
    """Of two values without a name, and of numbers whose kind alone is wrong, no more is said than where that is."""
    (line,) = judge_source(launcher, lesson, source).lines
    assert line.says.endswith(quoted)


LAST_AXIS_ONLY = """import torch


def softmax(x, dim=-1):
    num = x.exp()
    return num / num.sum(-1, keepdim=True)
"""
OVER_THE_QUERIES_BY_NUMBER = OVER_THE_QUERIES.replace("(att, 1)", "(att, -2)")
STEP_BEFORE = """import math


def lr_at(step, max_lr, min_lr, warmup, total):
    if step < warmup:
        return max_lr * (step - 1) / warmup
    if step >= total:
        return min_lr
    share = (step - warmup) / (total - warmup)
    return min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * share))
"""

WITHOUT_THE_FLOOR = (
    STEP_BEFORE.replace("(step - 1)", "step")
    .replace("(max_lr - min_lr)", "max_lr")
    .replace("    return min_lr + 0.5", "    return 0.5")
)
OVER_THE_WHOLE_RUN = STEP_BEFORE.replace("(step - 1)", "step").replace("(total - warmup)", "total")


@pytest.mark.parametrize(
    "lesson, source, words",
    [
        (
            "learning_rate",
            WITHOUT_THE_FLOOR,
            "with what the reference's step `fall` gives, which is 7.957, in place of",
        ),
        ("learning_rate", OVER_THE_WHOLE_RUN, "with the reference's `done`, which is 0.05, in place of"),
        ("softmax", LAST_AXIS_ONLY, "with `dim` in place of `-1`, a call that was wrong is right"),
        ("attention", OVER_THE_QUERIES_BY_NUMBER, "with -1 in place of `-2`, a call that was wrong is right"),
        ("learning_rate", STEP_BEFORE, "with `step` in place of `step - 1`"),
    ],
)
def test_a_number_that_belongs_there_is_a_constant_or_named_as_the_argument_that_it_is(
    launcher: Launcher, lesson: str, source: str, words: str
) -> None:
    """The value of `dim` in the watched call is no mend of a line; a constant of the reference is, and a named step."""
    (line,) = judge_source(launcher, lesson, source).lines
    assert words in line.says


A_FIXED_SCALE = (ROOT / "solutions/core/multi_head.py").read_text().replace("q.size(-1) ** 0.5", "12**0.5")
BITS = """import math

import torch


def cross_entropy(logits, targets, ignore_index=-100):
    kept = targets != ignore_index
    lost = -torch.log_softmax(logits, -1)[kept].gather(-1, targets[kept][:, None])
    return lost.mean() / math.log(2)


def perplexity(loss):
    return math.exp(loss)
"""


def test_a_number_without_a_name_is_told_with_the_remark_that_it_changes(launcher: Launcher) -> None:
    """√d_head is 2 in the call that is shown and another number elsewhere; of one that never changes it is not said."""
    (line,) = judge_source(launcher, "multi_head", A_FIXED_SCALE).lines
    said = [each.says for each in judge_source(launcher, "cross_entropy", BITS).lines]

    assert line.says.endswith(
        "with 2 in place of `12**0.5`, which is 3.464, this answer is right, but other inputs need another number."
    )
    assert not any("other inputs" in each for each in said)


WAITS_TOO_LONG = """import torch


def evaluate(model, batches):
    raise NotImplementedError


def should_stop(losses, patience):
    best, bad = float("inf"), 0
    for loss in losses:
        best, bad = (loss, 0) if loss < best else (best, bad + 1)
    return bad > patience
"""
ONLY_THE_LAST = """import torch


def evaluate(model, batches):
    raise NotImplementedError


def should_stop(losses, patience):
    if len(losses) <= patience:
        return False
    return losses[-1] >= losses[-1 - patience]
"""
SINE_FOR_COSINE = STEP_BEFORE.replace("(step - 1)", "step").replace("math.cos", "math.sin")
ROWS_FROM_ONE = """import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(max_len, d_model))

    def forward(self, x):
        if x.size(1) > len(self.weight):
            raise ValueError
        return x + self.weight.roll(-1, 0)[: x.size(1)]
"""


@pytest.mark.parametrize(
    "lesson, source",
    [
        ("evaluation", WAITS_TOO_LONG),
        ("evaluation", ONLY_THE_LAST),
        (
            "learning_rate",
            SINE_FOR_COSINE,
        ),  # with 10, 30 steps `step` in place of `step - warmup` shifts it by a quarter
    ],
)
def test_a_number_that_mends_the_watched_call_alone_is_not_told(launcher: Launcher, lesson: str, source: str) -> None:
    """2.1 in place of infinity answers one question right, and is no mend of the line."""
    assert "in place of" not in str(judge_source(launcher, lesson, source).lines)


def test_behind_such_a_number_the_line_is_looked_for(launcher: Launcher) -> None:
    """To roll 9 rows by 9 is to leave them: what is told is the value of the reference that belongs there."""
    (line,) = judge_source(launcher, "learned_positions", ROWS_FROM_ONE).lines
    assert line.line == 13 and "with the right value in place of `self.weight.roll(-1, 0)`" in line.says


OWN_SOFTMAX_UNSCALED = """import torch


def weigh(scores):
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.mT
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return weigh(scores) @ v
"""


def test_what_is_made_in_its_own_way_of_what_is_right_is_not_blamed(launcher: Launcher) -> None:
    """The largest is subtracted in a softmax: scaled scores mend the answer there, too, and are missing before."""
    (line,) = judge_source(launcher, "attention", OWN_SOFTMAX_UNSCALED).lines
    assert line.line == 10 and "where something is missing: `q @ k.mT`" in line.says


OWN_EXPONENTIALS = """import torch


def exponentials(x, dim):
    return torch.exp(x + x.amax(dim, keepdim=True))


def softmax(x, dim=-1):
    e = exponentials(x, dim)
    return e / e.sum(dim, keepdim=True)
"""


@pytest.mark.parametrize("line, source", [
    ([5], OWN_EXPONENTIALS), ([], OWN_EXPONENTIALS.replace("x + x.amax(dim, keepdim=True)", "x")),
])  # fmt: skip
def test_what_a_function_of_its_own_leaves_out_is_no_fault_of_its_argument(launcher: Launcher, line, source) -> None:
    """Were the largest subtracted before the call, all would be right; it belongs into the function as well."""
    assert [each.line for each in judge_source(launcher, "softmax", source).lines] == line


@pytest.mark.slow
def test_of_two_arguments_the_one_that_is_wrong_is_named(launcher: Launcher) -> None:
    """Though the other one is what belongs there, and leads on rightly: keys and values are made of x itself."""
    source = (ROOT / "solutions/core/block.py").read_text()
    for old, new in [
        ("x, mask=None", "x, heard, mask=None"),
        ("self.wq(x), self.wk(x), self.wv(x)", "self.wq(x), self.wk(heard), self.wv(heard)"),
        ("self.attn(y, mask)", "self.attn(y, x, mask)"),
        ("self.attn(x, mask)", "self.attn(x, x, mask)"),
    ]:
        source = source.replace(old, new, 1)
    (line,) = judge_source(launcher, "block", source).lines

    assert source.split("\n")[line.line - 1].strip().startswith("heard = self.attn(y, x, mask)")
    assert (
        "`x` is the reference's `x`, but what follows needs the reference's `y` after its step `pre_norm1`" in line.says
    )


TURNED_INSIDE = """import torch


def blend(scores, v, mask):
    if mask is not None:
        scores = torch.where(mask, float("-inf"), scores)
    return torch.softmax(scores, -1) @ v


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.mT / q.size(-1) ** 0.5
    return blend(scores, v, mask)
"""
ADDED = """import torch


def apply_rope(x, positions, base=10000.0):
    d = x.size(-1)
    angles = positions[:, None] * base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
    angles = angles.repeat_interleave(2, dim=-1)
    return x + angles.cos() + angles.sin()
"""


@pytest.mark.parametrize("lesson, source, line", [("attention", TURNED_INSIDE, 12), ("rope", ADDED, 7)])
def test_right_values_that_are_turned_round_or_repeated_are_not_blamed(
    launcher: Launcher, lesson: str, source: str, line: int
) -> None:
    """A mask that is handed on is right though its opposite mends the answer; so is each angle for both of a pair."""
    assert line not in [each.line for each in judge_source(launcher, lesson, source).lines]


FIRST_TOKENS = """import torch


@torch.no_grad()
def generate(model, ids, max_new_tokens, max_len, pick):
    was = model.training
    model.eval()
    for _ in range(max_new_tokens):
        seen = ids[:, :max_len]
        logits = model(seen)
        ids = torch.cat([ids, pick(logits[:, -1]).unsqueeze(1)], dim=1)
    model.train(was)
    return ids
"""


def test_what_is_right_in_another_pass_is_not_blamed(launcher: Launcher) -> None:
    """The model is asked about the first tokens in place of the last: what it answers is right for what it got."""
    result = judge_source(launcher, "generate", FIRST_TOKENS)
    assert [mistake.id for mistake in result.mistakes] == ["gn-crops-start"]
    assert [line.line for line in result.lines] == [9]


OVER_THE_WHOLE = """import torch


def softmax(x, dim=-1):
    m = x.max()
    e = (x - m).exp()
    return e / e.sum(dim, keepdim=True)
"""


def test_what_mends_an_answer_of_equal_numbers_by_chance_is_not_said(launcher: Launcher) -> None:
    """x - x gives equal weights, which some calls expect: the line is told by a call with other ones."""
    (line,) = judge_source(launcher, "softmax", OVER_THE_WHOLE).lines
    assert line.line == 5 and "were the reference's `x`" not in line.says


SAYS_WHAT_IT_SAW = """import builtins

import torch

SEEN = builtins.__dict__.setdefault("seen", set())


def sinusoidal_positional_encoding(seq_len, d_model):
    SEEN.add(seq_len * d_model)
    positions = torch.arange(seq_len, dtype=torch.float32)
    even = torch.arange(0, d_model, 2, dtype=torch.float32)
    angles = positions.unsqueeze(1) * 10000.0 ** -(even / d_model)
    pairs = globals()[f"waves_{sum(SEEN) % 400}"](angles)
    return pairs.flatten(start_dim=1)


""" + "".join(f"def waves_{n}(a): return torch.stack((a.sin(), (a + 0.25).cos()), dim=-1)\n" for n in range(400))


CUT_AFTER_SOFTMAX = """import torch


def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    p = torch.softmax(logits / temperature, dim=-1)
    if top_k is not None:
        least = p.topk(min(top_k, p.size(-1)), dim=-1).values[:, -1:]
        p = p.masked_fill(p < least, 0.0)
    if top_p is not None:
        ranked, order = p.sort(dim=-1, descending=True)
        before = ranked.cumsum(dim=-1) - ranked
        p = torch.zeros_like(p).scatter(-1, order, ranked.where(before < top_p, 0))
    return p / p.sum(dim=-1, keepdim=True)


def sample_token(probs, u):
    sums = probs.cumsum(dim=-1)
    return (sums <= u.unsqueeze(-1)).sum(dim=-1).clamp(max=probs.size(-1) - 1)
"""


GELU_FOR_SILU = """import math
import torch


def gelu(x, approximate="none"):
    if approximate == "tanh":
        return 0.5 * x * (1 + torch.tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x.pow(3))))
    return x * 0.5 * (1 + torch.erf(x / 2**0.5))


def swiglu(x, w_gate, w_up, w_down):
    g = gelu(x @ w_gate.T)
    return (g * (x @ w_up.T)) @ w_down.T
"""


def test_no_line_of_a_function_that_passed_is_blamed_where_another_one_calls_it(launcher: Launcher) -> None:
    """The call is: GELU is right, and here it is not what is asked for."""
    (line,) = judge_source(launcher, "activations", GELU_FOR_SILU).lines

    assert (line.function, line.line) == ("swiglu", 12)


def test_what_is_right_in_another_order_is_not_blamed(launcher: Launcher) -> None:
    """Cut after the softmax, the rest has to sum to 1 again: the softmax is no line where right ends."""
    result = judge_source(launcher, "sampling", CUT_AFTER_SOFTMAX)

    assert [mistake.id for mistake in result.mistakes] == ["gn-topp-before-topk"]
    assert result.lines == ()


def test_a_line_whose_value_is_right_once_the_next_step_is_done_is_not_blamed(launcher: Launcher) -> None:
    """Scores that are scaled too early keep a wrong softmax from NaN: the product before that is right as it is."""
    source = (ANSWERS / "attention_gradient/right_plain.py").read_text()
    own = "attn = (scores - scores.max()).exp()\n    attn = attn / attn.sum(1, keepdim=True)"
    source = source.replace("attn = torch.softmax(", "scores = (").replace(", dim=1)", f")\n    {own}")
    (line,) = judge_source(launcher, "attention_gradient", source).lines
    assert "`(scores - scores.max()).exp()` gives exactly what the named mistake gives there" in line.says


NAN_HIDDEN = """import torch


def clip_gradients(grads, max_norm):
    total = sum(grad.square().sum() for grad in grads if grad is not None)
    norm = torch.sqrt(total).nan_to_num()
    factor = torch.clamp(max_norm / norm, max=1.0)
    return [None if grad is None else grad * factor for grad in grads], norm
"""


def test_nan_is_no_value_by_which_a_line_is_right(launcher: Launcher) -> None:
    """Where all values are NaN the line that hides them is told, and none is called equal to another."""
    (line,) = judge_source(launcher, "gradient_clipping", NAN_HIDDEN, seed=3).lines

    assert (line.line, line.right) == (6, 0)
    assert "reference" not in line.says and "is right:" not in line.says


def test_the_line_depends_on_no_hidden_input(launcher: Launcher) -> None:
    """What keeps the inputs that it saw, and goes wrong on a line that says which, is watched where it saw none."""
    both = [judge_source(launcher, "positional_encoding", SAYS_WHAT_IT_SAW, seed=seed) for seed in (5, 99)]
    (first,), (second,) = (result.lines for result in both)

    assert first.line == second.line > 17


def test_nothing_is_said_where_no_value_is_wrong(launcher: Launcher) -> None:
    """Right code has no line where right ends."""
    assert judge_source(launcher, "attention", (ANSWERS / "attention/right_plain.py").read_text()).lines == ()


def test_what_is_concealed_shows_the_line_alone(launcher: Launcher) -> None:
    """Of a redacted result only the number of the line is left, which no value of an input can be read from."""
    result = judge_source(launcher, "attention", OVER_THE_QUERIES)

    shown = redact(Record("ada", lessons={"attention": result})).lessons["attention"]
    assert [line.says for line in shown.lines] == ["`scaled_dot_product_attention`: line 9 is where it goes wrong."]
    assert shown.lines[0].right == 0
    assert shown.weaknesses[-1] == shown.lines[0].says


@pytest.mark.parametrize(
    "reply",
    [
        {"value": [], "events": "none"},
        {"value": 1, "events": []},
        {"value": [], "events": [[0, 0, -1]]},
        {"value": [], "events": [[True, 0, -1, 1]]},
        {"value": [], "events": [["0", 0, -1, 1]]},
        {"value": [], "events": [[0, 0, -2, 1]]},
        {"value": [], "events": [[0, 0, -1, "a text"]]},
        {"value": [], "events": [[0, 0, -1, Handle(1)]]},
        {"value": [], "events": [[0, 0, -1, Array("torch", "float32", (2,), b"1234")]]},
        {"value": [], "events": [[0, 0, -1, 1]] * (MAX_EVENTS + 1)},
    ],
)
def test_a_trace_of_another_form_is_no_answer(reply: dict[str, object]) -> None:
    """What a worker says of its expressions is checked as every reply is."""
    with pytest.raises(Malformed):
        reply_to("watch", {}, reply)


@pytest.mark.parametrize("path", sorted(ANSWERS.glob("*/right_*.py"))[::7], ids=lambda path: path.stem)
def test_every_place_is_in_the_source(path: Path) -> None:
    """A watched source compiles, and each of its places is the text of an expression or a statement."""
    source = path.read_text(encoding="utf-8")
    tree, places = hook_expressions(source)

    compile(tree, path.name, "exec")
    lines = source.splitlines()
    for place in places:
        first, begin, last, end = place.span
        if first == last and place.kind != AFTER:
            ast.parse(lines[first - 1].encode()[begin:end].decode(), mode="eval")


def test_an_exchanged_value_takes_the_place_of_an_expression() -> None:
    """The hook can put a value where an expression stands, in each pass, and notes what expressions give."""
    tree, places = hook_expressions(
        "def f(n):\n    total = 0\n    for i in range(n):\n        total += i * i\n    return total\n"
    )
    watcher = Watcher(places)
    namespace: dict[str, Any] = {HOOK: watcher}
    exec(compile(tree, "f.py", "exec"), namespace)
    square = next(number for number, place in enumerate(places) if place.kind == "BinOp")

    watcher.watch()
    assert namespace["f"](4) == 14
    assert [value for number, _, _, value in watcher.take() if number == square] == [0, 1, 4, 9]
    watcher.exchange(square, [10, 20])
    assert namespace["f"](4) == 10 + 20 + 4 + 9


def test_of_an_endless_source_only_the_beginning_is_watched() -> None:
    """Names by the ten thousand, in one statement or in as many tests, cost what some hundreds do."""
    for body in (f"    return ({'n, ' * 15_000})", "    if n: return n\n" * 15_000):
        tree, places = hook_expressions(f"def f(n):\n{body}\n")

        assert len(places) == MAX_PLACES
        compile(tree, "f.py", "exec")


def test_only_checks_that_failed_are_recorded_for_it(launcher: Launcher, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the other checks ask is not needed to find the line, and to record it takes a fifth of the whole answer."""
    recorded: list[str] = []
    record = LessonChecks._record
    monkeypatch.setattr(LessonChecks, "_record", lambda self, check: recorded.append(check.name) or record(self, check))
    wrong = (ROOT / "solutions/core/attention.py").read_text().replace("~mask", "mask")

    def examine(judge: Judge) -> LessonResult:
        return judge.examine(judge.course.lessons["attention"], Submission("attention", "attention.py", wrong), 7)

    result = run_judge(launcher, "attention", examine)

    failed = {check.id.split(".")[1] for check in result.checks if check.outcome in ("failed", "raised")}
    assert failed and len(failed) < len(result.checks) / 2
    assert sorted(recorded) == sorted(failed)


def test_an_attribute_that_is_computed_is_looked_at_too(launcher: Launcher) -> None:
    """A property where the reference has a plain attribute, which is read in no step, has its score and its name."""
    source = (ANSWERS / "char_tokenizer/right_plain.py").read_text()
    assert "self.vocab_size = " in source
    computed = "\n".join(line for line in source.splitlines() if "self.vocab_size = " not in line)
    result = judge_source(
        launcher,
        "char_tokenizer",
        f"{computed}\n\n    @property\n    def vocab_size(self):\n        return len(self.stoi) + 1\n",
    )

    assert result.score and [mistake.id for mistake in result.mistakes] == ["tok-off-by-one"]
