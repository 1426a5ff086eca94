"""Every kind of bad submission gets a clear verdict of its own, through the real worker, and harms nothing."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest
from support.factories import course, judge_source
from support.process_tree import all_end

from grader.judge import line_search
from grader.judge.checks.loaded_submission import NOT_LOOKED_FOR
from grader.model import LessonResult

GOOD = """
import torch
def softmax(x, dim=-1):
    powers = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return powers / powers.sum(dim=dim, keepdim=True)
"""
BODY = GOOD.split("\n", 3)[3]


def softmax_that(line: str) -> str:
    """A right softmax that does something more in each call."""
    return f"import os, sys, torch\ndef softmax(x, dim=-1):\n    {line}\n{BODY}"


def returning(expression: str) -> str:
    """A right softmax that gives its answer back as `expression` of `y`."""
    return GOOD.replace("return powers /", "y = powers /") + f"    return {expression}\n"


@pytest.fixture(scope="module")
def verdict(launcher_with):
    """Judge a source as `softmax`, with short limits."""
    limits = dataclasses.replace(course().limits, call_seconds=10.0, total_seconds=60.0, memory_mb=2048)
    with launcher_with(limits) as launcher:

        def judge(source: str, call_seconds: float = 2.0, **more: Any) -> LessonResult:
            the_limits = dataclasses.replace(limits, call_seconds=call_seconds)
            return judge_source(
                launcher, "softmax", source, of=dataclasses.replace(course(), limits=the_limits), **more
            )

        yield judge


def test_a_right_answer_scores_ten(verdict):
    """The control: nothing here fails what is right."""
    result = verdict(GOOD)

    assert (result.state, result.score, result.passed) == ("graded", 10.0, True)
    assert result.mistakes == () and result.weaknesses == ()


NOT_A_MODULE = {
    "an empty file": ("", "missing-function", "graded"),
    "only a comment": ("# soon\n", "missing-function", "graded"),
    "a misspelt name": (GOOD.replace("def softmax", "def soft_max"), "missing-function", "graded"),
    "a name that is no function": ("softmax = 3\n", "missing-function", "graded"),
    "a syntax error": (GOOD + "\ndef broken(:\n", "syntax-error", "would-not-import"),
    "wrong indentation": (GOOD + "\n  x = 1\n   y = 2\n", "syntax-error", "would-not-import"),
    "a null byte": (GOOD + "\x00", "syntax-error", "would-not-import"),
    "a package that is not there": ("import transformers_magic\n" + GOOD, "exception", "would-not-import"),
    "an error at the top": (GOOD + "\n1 / 0\n", "exception", "would-not-import"),
    "exit at the top": ("import sys\nsys.exit(0)\n" + GOOD, "exception", "would-not-import"),
    "os._exit at the top": ("import os\nos._exit(0)\n" + GOOD, "crashed", "crashed"),
    "KeyboardInterrupt at the top": ("raise KeyboardInterrupt\n" + GOOD, "exception", "would-not-import"),
    "an endless loop at the top": ("while True: pass\n" + GOOD, "timeout", "timed-out"),
    "an hour of training at the top": ("import time\ntime.sleep(3600)\n" + GOOD, "timeout", "timed-out"),
    "a flood at the top": ("while True: print('x' * 10000)\n" + GOOD, "crashed", "crashed"),
}  # fmt: skip


@pytest.mark.parametrize("case", NOT_A_MODULE)
def test_files_that_cannot_be_used(verdict, case):
    """A file that does not give the function scores 1.0 and says why, by name."""
    source, mistake, state = NOT_A_MODULE[case]

    result = verdict(source, call_seconds=0.5 if mistake == "timeout" else 2.0)

    assert [found.id for found in result.mistakes] == [mistake]
    assert result.state == state
    assert result.score == 1.0 and not result.passed
    assert result.weaknesses and result.suggestions


BAD_ANSWERS = {
    "the stub": ("def softmax(x, dim=-1):\n    raise NotImplementedError\n", "stub"),
    "no dim": (GOOD.replace("(x, dim=-1)", "(x)").replace("dim=dim", "dim=-1"), "wrong-signature"),
    "None": (returning("None"), "returned-none"),
    "a list": (returning("y.tolist()"), "wrong-format"),
    "a numpy array": (returning("y.detach().numpy()"), "wrong-format"),
    "a tuple": (returning("(y, x)"), "wrong-format"),
    "half precision": (returning("y.half()"), "wrong-format"),
    "an extra axis": (returning("y[None]"), "wrong-format"),
    "NaN": (returning("y * float('nan')"), None),
    "another default": (GOOD.replace("dim=-1", "dim=0"), "wrong-default"),
    "a total without a gradient": (GOOD.replace("keepdim=True)\n", "keepdim=True).detach()\n", 2), "wrong-gradient"),
    "half the scores": (softmax_that("x = 0.5 * x"), "wrong-weights"),
    "columns turned round": (returning("y.flip(-1)"), "wrong-order"),
    "a string": (returning("'softmax'"), None),
    "the module torch": (returning("torch"), None),
    "a tensor without data": (returning("y.to('meta')"), None),
    "a list of tensors": (returning("[y, y]"), None),
    "a sparse tensor": (returning("y.to_sparse()"), None),
    "an error": (softmax_that("raise ValueError('no idea')"), "exception"),
    "endless recursion": ("def softmax(x, dim=-1):\n    return softmax(x, dim)\n", "exception"),
    "an endless loop": (softmax_that("while True: pass"), "timeout"),
    "sys.exit": (softmax_that("sys.exit(0)"), "exception"),
    "os._exit": (softmax_that("os._exit(0)"), "crashed"),
    "KeyboardInterrupt": (softmax_that("raise KeyboardInterrupt"), "exception"),
    "a segmentation fault": (softmax_that("os.kill(os.getpid(), 11)"), "crashed"),
    "a gigabyte of prints": (softmax_that("[print('x' * 1000000) for _ in range(1000)]"), "crashed"),
    "fifty gigabytes": (softmax_that("torch.ones(50 << 30, dtype=torch.uint8)"), "out-of-memory"),
    "fifty gigabytes of list": (softmax_that("[0] * (7 << 30)"), "out-of-memory"),
    "the forbidden call": ("import torch\ndef softmax(x, dim=-1):\n    return torch.softmax(x, dim)\n",
                           "forbidden-call"),
    "its alias": ("from torch.nn.functional import softmax as s\ndef softmax(x, dim=-1):\n    return s(x, dim)\n",
                  "forbidden-call"),
    "its operator": ("import torch\ndef softmax(x, dim=-1):\n    return torch.ops.aten._softmax(x, dim, False)\n",
                     "forbidden-call"),
    "the forbidden call, its error swallowed": (
        "import torch\ndef softmax(x, dim=-1):\n    try:\n        return torch.softmax(x, dim)\n"
        "    except BaseException:\n        return x\n", "forbidden-call"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_ANSWERS)
def test_functions_that_give_no_right_answer(verdict, case):
    """Whatever a function does in place of answering, the verdict is below ten, named where it has a name, and never
    a grader error."""
    source, mistake = BAD_ANSWERS[case]

    result = verdict(source, call_seconds=0.5 if mistake == "timeout" else 10.0)

    assert result.score < 10.0 and not result.passed
    assert all(check.outcome != "grader-error" for check in result.checks)
    if mistake is not None:
        assert [found.id for found in result.mistakes] == [mistake]
    assert result.weaknesses and len(result.suggestions) in (1, 2, 3)


def test_a_syntax_error_shows_its_line_and_a_caret(verdict):
    """The message has the file, the line, the text and a caret under the place."""
    said = verdict("def softmax(x, dim=-1)\n    return x\n").weaknesses[0]

    assert "softmax.py:1" in said
    assert "def softmax(x, dim=-1)" in said
    assert "^" in said


def test_a_misspelt_function_is_pointed_at(verdict):
    """The near miss is named."""
    assert "`soft_max`" in verdict(GOOD.replace("def softmax", "def soft_max")).weaknesses[0]


def test_a_traceback_has_only_the_learners_lines(verdict):
    """The error names the learner's file, line and code, and nothing of ours."""
    result = verdict(softmax_that("return x + torch.ones(99)"))
    message = next(check.message for check in result.checks if check.outcome == "raised")

    assert "softmax.py:3 in softmax" in message
    assert "return x + torch.ones(99)" in message
    assert "grader" not in message and "site-packages" not in message


def test_prints_are_kept_and_shown_under_their_check(verdict):
    """What a learner prints belongs to the check that was running."""
    result = verdict(softmax_that("print('shape', tuple(x.shape))"))

    assert result.score == 10.0
    assert "shape (3, 5)" in result.checks[0].output
    assert "shape (3, 5)" in result.output


def test_after_a_crash_the_other_checks_still_run(verdict):
    """A process that dies on one input costs the checks of that input only."""
    result = verdict(softmax_that("os._exit(3) if x.dim() == 4 else None"))
    outcomes = {check.id.split(".")[1]: check.outcome for check in result.checks}

    assert outcomes["any_rank"] == "crashed"
    assert outcomes["gradient"] == "passed"


def test_an_earlier_lesson_can_be_imported(verdict):
    """A learner's other lesson beside the file is found by name."""
    helper = "import torch\ndef exps(x, dim):\n    return torch.exp(x - x.amax(dim=dim, keepdim=True))\n"
    source = GOOD.replace("torch.exp(x - x.amax(dim=dim, keepdim=True))", "my_exps.exps(x, dim)")

    assert verdict("import my_exps\n" + source, siblings={"my_exps": ("my_exps.py", helper)}).score == 10.0


def test_a_wrong_dtype_does_not_hide_wrong_values(verdict):
    """An answer that is wrong everywhere, and has another dtype besides, is not told about its dtype alone."""
    result = verdict("import torch\ndef softmax(x, dim=-1):\n    return (x == x.amax(dim, keepdim=True)).float()\n")

    assert all(found.id != "wrong-format" for found in result.mistakes)
    assert any("wrong along the last axis" in weakness for weakness in result.weaknesses)


def test_a_loop_is_found_where_it_is(verdict):
    """A call, and a file, that do not come to an end are named with the line that they were at."""
    in_a_call = verdict("def softmax(x, dim=-1):\n    n = 0\n    while True:\n        n += 1\n", call_seconds=0.5)
    at_the_top = verdict(GOOD + "while True:\n    pass\n", call_seconds=0.5)

    assert re.search(r"It was at softmax\.py:[34]\.", in_a_call.mistakes[0].says)
    assert "softmax.py:" in at_the_top.mistakes[0].says


def test_the_file_at_fault_is_named(verdict):
    """An error in a file that the exercise imports is not blamed on the exercise, and a stub is called one there."""
    source = "from attention import helper\ndef softmax(x, dim=-1):\n    return helper(x)\n"
    faults = {
        "def helper(x):\n    return x + missing\n": "uses your attention.py, which raises an error (attention.py:2)",
        "def helper(x):\n    raise NotImplementedError\n": "uses your attention.py, and that is not written yet",
    }
    for helper, words in faults.items():
        result = verdict(source, siblings={"attention": ("attention.py", helper)})

        assert [found.id for found in result.mistakes] == ["exception"]
        assert words in result.mistakes[0].says
        assert any(suggestion.command == "learn check attention" for suggestion in result.suggestions)


def test_an_imported_file_is_not_mentioned_where_nothing_speaks_against_it(verdict):
    """Where results are not known, another file is to be checked only if an error was raised in it."""
    source = "from attention import helper\ndef softmax(x, dim=-1):\n    return helper(x)\n"
    wrong = verdict(source, siblings={"attention": ("attention.py", "def helper(x):\n    return x\n")})

    assert not wrong.passed
    assert all(suggestion.command != "learn check attention" for suggestion in wrong.suggestions)


def test_a_file_that_shadows_a_library_is_not_used(verdict):
    """`torch.py` or `random.py` beside the exercise never takes the place of the real one."""
    siblings = {name: (f"{name}.py", "raise RuntimeError('shadowed')") for name in ("torch", "random", "conftest")}

    assert verdict("import random\n" + GOOD, siblings=siblings).score == 10.0


def test_the_same_seed_gives_the_same_verdict(verdict):
    """Score, outcomes, messages and prints are the same in every run of one seed, even for code that draws."""
    source = softmax_that("x = x + 1e-3 * torch.rand(()); print(torch.rand(()).item(), hash('order'))")
    first, second = (dataclasses.replace(verdict(source), duration_s=0.0) for _ in range(2))

    assert first == second


def test_nothing_survives_its_run(verdict):
    """Children and threads of a submission are gone when the verdict is there."""
    source = softmax_that("os.fork() == 0 and (os.setsid(), __import__('time').sleep(600))")
    result = verdict(source)

    assert result.score < 10.0 or "seccomp" not in result.notes
    assert all_end(_sleepers()), "a process of the submission sleeps on"


def _sleepers() -> dict[int, str]:
    """Processes forked from a fork server that sleep: neither the fork server nor a waiting worker does.

    Those of other tests end too, with their time limits. Returns the number of each, and when it was started.
    """
    found = {}
    for folder in Path("/proc").iterdir():
        try:
            command = (folder / "cmdline").read_bytes() if folder.name.isdigit() else b""
            if b"fork_server" in command and "nanosleep" in (folder / "wchan").read_text():
                found[int(folder.name)] = (folder / "stat").read_text().rpartition(")")[2].split()[19]
        except OSError:
            continue
    return found


def test_an_error_while_the_mistake_is_looked_for_costs_no_score(verdict, monkeypatch):
    """The score stands, the learner is told that the fault is not theirs; what failed is not for concealed feedback."""

    def fail(*_: Any) -> Any:
        raise OverflowError("cannot convert float infinity to integer")

    wrong = GOOD.replace("powers.sum", "2.5 * powers.sum")
    before = verdict(wrong)
    monkeypatch.setattr(line_search, "find_wrong_line", fail)
    after = verdict(wrong)

    assert (after.score, after.state) == (before.score, "graded") and 1.0 < after.score < 10.0
    assert after.notes[0] == NOT_LOOKED_FOR and "OverflowError" in after.notes[1]
    assert after.measured == after.notes[1:] and after.mistakes == before.mistakes


@pytest.mark.parametrize("answer", ["1e300", "float('inf')", "10 ** 400", "None", "-1j", "[]", "'7'"])
def test_a_norm_that_no_digits_can_be_taken_of_has_a_score(launcher_with, answer):
    """What reads a lesson's answers, to name mistakes by them, meets any value that Python has."""
    source = f"def clip_gradients(grads, max_norm):\n    return [g for g in grads if g is not None], {answer}\n"
    with launcher_with(course().limits) as launcher:
        result = judge_source(launcher, "gradient_clipping", source)
    assert result.state == "graded" and 1.0 <= result.score < 10.0 and not result.notes
