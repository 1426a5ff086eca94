"""A module that is run without what its top level does with forbidden calls."""

from __future__ import annotations

import ast
from functools import partial
from pathlib import Path

import pytest
import torch
from support.course_files import ROOT

from grader.course.load_course import load
from grader.worker.call_monitor import ForbiddenCall
from grader.worker.loader import load as load_module
from grader.worker.watched_import import run_watched

FORBIDS = load(ROOT).lessons["attention_gradient"].forbids
MINE = "def mine(x):\n    return 2 * x\n"


def run(source: str) -> dict:
    namespace: dict = {"torch": torch, "__name__": "lesson"}
    run_watched(ast.parse(source), "lesson.py", namespace, FORBIDS)
    return namespace


@pytest.mark.filterwarnings("ignore:.*jit.trace.*deprecated", "ignore::torch.jit.TracerWarning")
@pytest.mark.parametrize(
    "way",
    [
        "KEPT = torch.jit.trace(lambda x: torch.autograd.grad((x * x).sum(), x)[0], X, check_trace=False)",
        "KEPT = list(map(torch.autograd.grad, [(X * X).sum()], [X]))",
        "(X * X).sum().backward()\nKEPT = X.grad + 0",
        # a function in C that a function in C calls: the profiler is told of neither
        "run = torch.autograd.Variable._execution_engine.run_backward\n"
        "KEPT = list(map(run, [((X * X).sum(),)], [(torch.ones(()),)], [False], [False], [(X,)], [True], [False]))",
        "def kept():\n    (X * X).sum().backward()\n    return X.grad\nKEPT = kept()",
    ],
)
def test_nothing_is_kept_of_a_forbidden_call(way, capsys):
    """Not where it is traced, caught, or made by a function in C; what the module defines beside it is there."""
    source = f"X = torch.nn.Parameter(torch.ones(3))\n{way}\n{MINE}"
    found = run(source)
    assert "KEPT" not in found and found["mine"](2) == 4
    assert "is not run: it calls `" in capsys.readouterr().out
    assert torch.equal(torch.autograd.grad((found["X"] * 3).sum(), found["X"])[0], torch.full((3,), 3.0))


@pytest.mark.filterwarnings(
    "ignore:.*jit.trace.*deprecated",
    "ignore::torch.jit.TracerWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)
@pytest.mark.parametrize(
    "way",
    [
        "try:\n    BACK()\nexcept BaseException:\n    KEPT = kept()",
        "def caught():\n    try:\n        BACK()\n    finally:\n        keep()\ncaught()",
        "class Held:\n    def __enter__(self):\n        pass\n"
        "    def __exit__(self, *_):\n        keep()\nwith Held():\n    BACK()",
        "class Held:\n    def __del__(self):\n        BACK()\nHeld()",
    ],
)
def test_code_that_may_go_on_after_a_refusal_does_not_load(way):
    """Python's profiler is gone then, and nobody would see what it does."""
    with pytest.raises(ForbiddenCall):
        run(f"X = torch.nn.Parameter(torch.ones(3))\n{way}\n".replace("BACK()", "(X * X).sum().backward()"))


def test_a_trial_at_the_end_of_a_file_is_left_out_with_what_needs_it(capsys):
    """Its later lines end in errors, which nobody is told; the line that is left out is named once."""
    source = (
        "from __future__ import annotations\n"
        f"{MINE}\n"
        "x = torch.ones(3, requires_grad=True)\n"
        "y = (x * x).sum()\n"
        "y.backward()\n"
        "print(torch.allclose(x.grad, mine(x)))\n"
        "assert (x.grad - mine(x)).abs().max() < 1e-6\n"
        "SCALE = 3\n"
    )
    found = run(source)
    assert found["mine"](1) == 2 and found["SCALE"] == 3
    assert (
        capsys.readouterr().out == "lesson.py:7 is not run: it calls `backward`, which is forbidden in this lesson.\n"
    )


def test_an_error_that_no_forbidden_call_explains_is_raised():
    """So is one in a definition, or an import, behind a statement that was left out."""
    with pytest.raises(NameError, match="nothing"):
        run("nothing + 1")
    with pytest.raises(NameError, match="nothing"):
        run("torch.ones((), requires_grad=True).sum().backward()\ndef f(x=nothing):\n    return x\n")


def test_another_lesson_of_the_learner_may_end_in_a_trial(capsys):
    """It is imported, without its trial."""
    other = f"import torch\n{MINE}x = torch.ones(3, requires_grad=True)\n(x * x).sum().backward()\n"
    source = "from other import mine\ndef f(x):\n    return mine(x)\n"
    run_in = partial(load_module, "lesson", "lesson.py", source, {"other": ["other.py", other]})
    assert run_in(forbids=FORBIDS)["f"](2) == 4
    assert "other.py:5 is not run" in capsys.readouterr().out


def test_the_reference_runs_whole(capsys):
    """In a right solution nothing is left out."""
    path = Path(ROOT / "solutions/analysis/attention_gradient.py")
    run(path.read_text())
    assert not capsys.readouterr().out
