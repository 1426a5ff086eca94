"""Where undoing a known mistake makes all right, and nowhere else, it is made there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from support.factories import course, judge_source
from support.repeat import FEW_LESSONS

from grader.judge.course_answers import load_mistake_sets
from grader.judge.mistakes.undone_mistakes import MAX_NODES, Undone, find_undone, undo
from grader.judge.processes.launcher import Launcher

GELU = """import math
import torch

CUBIC = 0.44715


def bend(x):
    return torch.tanh(math.sqrt(2 / math.pi) * (x + CUBIC * x * x * x))


def gelu(x, approximate="none"):
    if approximate == "tanh":
        return 0.5 * x * (1 + bend(x))
    return x * 0.5 * (1 + torch.erf(x / 2**0.5))


def silu(x):
    return x / (1 + torch.exp(-x))


def swiglu(x, w_gate, w_up, w_down):
    return (silu(x @ w_gate.T) * (x @ w_up.T)) @ w_down.T
"""
CLIP = "clip_grad_norm_(model.parameters(), max_norm=1)"
TRAINING = """import torch.nn.functional as F
from torch.nn.utils import clip_grad_norm_


def train_step(model, optimizer, inputs, targets):
    model.train()
    scores = model(inputs)
    optimizer.zero_grad()
    lost = F.cross_entropy(scores.flatten(0, 1), targets.{flat}(inputs.numel()))
    lost.backward()
    {more}
    optimizer.step()
    return lost.item()


def train(model, optimizer, batches):
    return [train_step(model, optimizer, *batch) for batch in batches]
"""
POSITIONS_ON_THE_HEADS = """import torch


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    speeds = base ** (-torch.arange(0, d, 2, dtype=torch.float64, device=x.device) / d)
    angles = positions.double()[:, None] * speeds
    if x.dim() == 4:
        angles = angles[None, :, None, :]
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)
"""
LOOP = """import torch


def causal_mask(seq_len):
    mask = torch.zeros(seq_len, seq_len, dtype=torch.bool)
    for i in range(1, seq_len):
        for j in range(0, i + 1):
            mask[i, j] = True
    return mask
"""
FEED_FORWARD = """from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1, self.w2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.gelu = nn.GELU()
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return self.w2(self.drop(self.gelu(self.w1(x))))
"""
RIGHT = """def f(x, y):
    total = (x + y).sum(dim=0)
    return total / len(x)
"""


@pytest.mark.parametrize(
    ("lesson", "source", "line", "text"),
    [
        # a number of the file, that a helper uses
        ("activations", GELU, 4, "with something else in place of `0.44715`"),
        # an error is raised, on a slice alone
        ("training", TRAINING.format(flat="view", more="pass"), 9, "with something else in place of `targets.view`"),
        # a statement too many
        ("training", TRAINING.format(flat="reshape", more=CLIP), 11, f"without `{CLIP}`"),
    ],
)
def test_the_only_line_is_told_on_which_undoing_a_mistake_makes_all_right(
    lesson: str, source: str, line: int, text: str, launcher: Launcher
) -> None:
    """It is told with what stands there, not with what belongs there."""
    (found,) = judge_source(launcher, lesson, source).lines
    assert found.line == line
    assert f"Line {line} is where it goes wrong: {text}, all that" in found.says


@pytest.mark.parametrize(
    ("lesson", "source", "line", "text"),
    [
        ("causal_mask", LOOP, 6, "with something else in place of `1`"),
        ("feed_forward", FEED_FORWARD, 9, "with something else in place of `nn.Dropout(0.1)`"),
        ("rope", POSITIONS_ON_THE_HEADS, 9, "without `angles = angles[None, :, None, :]`"),
        ("training", TRAINING.format(flat="reshape", more="return lost.item()"), 11, "without `return lost.item()`"),
    ],
)
def test_a_slip_is_told_where_no_value_tells_the_line(
    lesson: str, source: str, line: int, text: str, launcher: Launcher
) -> None:
    """A number that is off by one, a statement too many: the line is that on which a small change makes all right."""
    assert (
        f"Line {line} is where it goes wrong: {text}, all that" in judge_source(launcher, lesson, source).lines[0].says
    )


def versions(lesson: str) -> Iterator[tuple[str, str]]:
    """The reference, and the same with each known mistake in it that changes one step, and more than to a name."""
    for mistake_set in load_mistake_sets(course().lessons[lesson]):
        source = mistake_set.source
        for row in mistake_set.mistakes:
            if len(row.changes) == 1 and row.changes.keys() <= source.own_steps:
                yield source.write({}), source.write(row.changes)


class Renamed(ast.NodeTransformer):
    """Gives other names to the variables that a source assigns."""

    def __init__(self, tree: ast.Module) -> None:
        nodes = [*ast.walk(tree)]
        arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
        self.names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        self.names -= arguments

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(f"my_{node.id}", node.ctx) if node.id in self.names else node


def renamed(source: str) -> str:
    """The source under other names; its lines are others as well."""
    tree = ast.parse(source)
    return ast.unparse(Renamed(tree).visit(tree))


@pytest.mark.parametrize("lesson", sorted(FEW_LESSONS))
def test_what_is_undone_of_a_known_mistake_is_the_reference(lesson: str) -> None:
    """Whatever variables are called, most mistakes of one step can be undone; more than that none is changed."""
    undone, all_of = 0, 0
    for right, wrong in versions(lesson):
        sources = [each.source for each in undo(right, wrong, renamed(wrong))]
        assert wrong not in sources
        undone += renamed(right) in map(ast.unparse, map(ast.parse, sources))
        all_of += 1
    assert undone >= 0.6 * all_of > 0


@pytest.mark.parametrize(
    ("wrong", "mine", "undone"),
    [
        ("x - y", "def f(x, y):\n    return (y\n     - x).sum(0)", "def f(x, y):\n    return ((y + x)).sum(0)\n"),
        ("y + x.T", "def f(a, b):\n    return b.T + a", "def f(a, b):\n    return (b + a)"),
        ("x * 1", "def f(a):\n    a = 1.0 * a", "def f(a):\n    a = (a + y)"),
    ],
)
def test_a_submission_has_the_mistake_in_its_own_words(wrong: str, mine: str, undone: str) -> None:
    """Names stand for anything, a sum has two orders, and lines keep their numbers."""
    assert undone in [each.source for each in undo(RIGHT, RIGHT.replace("x + y", wrong), mine)]


def test_where_it_can_be_undone_on_either_of_two_lines_none_is_told() -> None:
    """What makes all right in two places is made in none for certain."""
    wrong = RIGHT.replace("dim=0", "dim=1")
    mine = wrong.replace("    return", "    rest = x.sum(dim=1)\n    return")
    assert find_undone([(RIGHT, wrong)], mine, lambda source: "dim=0" in source) is None
    assert find_undone([(RIGHT, wrong)], mine, lambda source: "y).sum(dim=(0)" in source) == Undone(
        2, "1", mine.replace("dim=1", "dim=(0)", 1)
    )


@pytest.mark.parametrize(
    "source",
    [
        "",
        "f = ",
        f"{'x - y; ' * MAX_NODES}",
        "x = f'{é!r:{1 - 2}} {3 - x}'\r\ny = '''\r\né''' - 1\r\n",
        "\x0cx = a - b",
    ],
)
def test_any_source_can_be_looked_at(source: str) -> None:
    """What is no Python, is too large, or has lines that are counted in another way, raises no other error."""
    try:
        found = list(undo(RIGHT, RIGHT.replace("+", "-"), source))
    except SyntaxError:
        found = []
    assert len(found) <= MAX_NODES
