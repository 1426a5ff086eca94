"""A module that is loaded without what its top level does with forbidden calls."""

from __future__ import annotations

from contextlib import closing

import pytest
import torch
from support.course_files import ROOT
from support.factories import course, judge_source

from grader.course.load_course import load
from grader.judge.examination import with_judge
from grader.judge.processes.remote_module import RemoteModule
from grader.judge.processes.reply_schema import read_forbidden_statement
from grader.model import LessonResult, Submission
from grader.worker.loader import load as load_module
from grader.worker.watch.watched_import import CallsForbidden, WatchedImport

LESSON = load(ROOT).lessons["attention_gradient"]
MINE = "def mine(x):\n    return 2 * x\n"
TRIAL = "q, k, v = (torch.randn(3, 4, requires_grad=True) for _ in range(3))\n"
BACK = "(torch.softmax(q @ k.T / 2, -1) @ v).sum().backward()"
SHOWN = "for name, x in zip('qkv', (q, k, v)):\n    print(name, x.grad.abs().max())\nassert q.grad.isfinite().all()\n"


def run(source: str, **siblings: str) -> dict:
    """What a file defines once it is loaded as a judge loads it: each time without what was found before."""
    without: dict[tuple[str, int], str] = {}
    others = {name: [f"{name}.py", text] for name, text in siblings.items()}
    while True:
        try:
            importing = WatchedImport(LESSON.forbids, without, [])
            return load_module("lesson", "lesson.py", source, others, importing=importing)
        except CallsForbidden as refused:
            path, line, name = refused.args
            assert (path, line) not in without
            without[path, line] = name


@pytest.mark.filterwarnings(
    "ignore:.*jit.trace.*deprecated",
    "ignore::torch.jit.TracerWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)
@pytest.mark.parametrize(
    "way",
    [
        "KEPT = torch.jit.trace(lambda x: torch.autograd.grad((x * x).sum(), x)[0], X, check_trace=False)",
        "KEPT = list(map(torch.autograd.grad, [(X * X).sum()], [X]))",
        "(X * X).sum().backward(); KEPT = X.grad + 0",
        # a function in C that a function in C calls: the profiler is told of neither
        "run = torch.autograd.Variable._execution_engine.run_backward\n"
        "KEPT = list(map(run, [((X * X).sum(),)], [(torch.ones(()),)], [False], [False], [(X,)], [True], [False]))",
        "def kept():\n    (X * X).sum().backward()\n    return X.grad\nKEPT = kept()",
        "try:\n    BACK()\nexcept BaseException:\n    KEPT = kept()",
        "def caught():\n    global KEPT\n    try:\n        BACK()\n    finally:\n        KEPT = 1\ncaught()",
        "class Held:\n    def __enter__(self):\n        pass\n"
        "    def __exit__(self, *_):\n        global KEPT\n        KEPT = 1\nwith Held():\n    BACK()",
        "class Held:\n    def __del__(self):\n        global KEPT\n        BACK()\n        KEPT = 1\nHeld()",
        "try:\n    import other\nexcept BaseException:\n    KEPT = 1",
    ],
)
def test_nothing_is_kept_of_a_forbidden_call(way, capsys):
    """Not where it is traced, caught, or made by a function in C; what the module defines beside it is there."""
    back = "(X * X).sum().backward()"
    source = f"import torch\nX = torch.nn.Parameter(torch.ones(3))\n{way}\n{MINE}".replace("BACK()", back)
    found = run(source, other=f"import torch\nX = torch.nn.Parameter(torch.ones(3))\n{back}\n")
    assert found.get("mine", lambda x: 4)(2) == 4
    assert "KEPT" not in found
    assert "is not run: it calls `" in capsys.readouterr().out
    assert torch.equal(torch.autograd.grad((found["X"] * 3).sum(), found["X"])[0], torch.full((3,), 3.0))


def test_an_error_that_no_forbidden_call_explains_is_raised():
    """So is one in a definition, or an import, behind a statement that was left out."""
    with pytest.raises(NameError, match="nothing"):
        run("nothing + 1")
    with pytest.raises(NameError, match="nothing"):
        run(f"import torch\n{TRIAL}{BACK}\ndef f(x=nothing):\n    return x\n")


def test_another_lesson_of_the_learner_may_end_in_a_trial(capsys):
    """It is imported, without its trial."""
    found = run("from other import mine\ndef f(x):\n    return mine(x)\n", other=f"import torch\n{MINE}{TRIAL}{BACK}\n")
    assert found["f"](2) == 4
    assert capsys.readouterr().out == "other.py:5 is not run: it calls `backward`, which is forbidden in this lesson.\n"


def verdict_on(launcher, source: str, siblings: dict | None = None) -> LessonResult:
    """What a judge says of a file for the lesson."""
    submission, found = Submission("attention_gradient", "mine.py", source, siblings or {}), []
    with_judge(course(), [LESSON], launcher, "cpu", lambda judge: found.append(judge.examine(LESSON, submission, 7)))
    return found[0]


def test_a_file_that_is_imported_in_a_call_is_watched_too(launcher):
    """Its forbidden call is that of the call, and is told as one."""
    right = LESSON.solution_path.read_text().replace("    scale = q.size", "    import other\n    scale = q.size")
    other = ("other.py", f"import torch\n{TRIAL}{BACK}\n")
    result = verdict_on(launcher, right, {"other": other})
    assert [mistake.id for mistake in result.mistakes] == ["forbidden-call"]


@pytest.mark.parametrize(
    "trial",
    [
        f"{BACK}\n{SHOWN}",
        f"with torch.enable_grad():\n    {BACK}\n{SHOWN}",
        f"try:\n    {BACK}\nexcept Exception as error:\n    print(error)\n{SHOWN}",
        f"def compare():\n    with torch.enable_grad():\n        {BACK}\n    return q.grad\nprint(compare())\n",
        f"{BACK}\n" * 5,
    ],
)
def test_a_trial_at_the_end_of_a_file_does_no_harm(launcher, trial):
    """A right solution has its 10.0, and is told what was not run."""
    right = LESSON.solution_path.read_text()
    result = verdict_on(launcher, f"{right}\nimport torch\n{TRIAL}{trial}")
    assert (result.score, result.mistakes) == (10.0, ()), result.weaknesses
    assert "is not run: it calls `backward`" in result.output


def test_a_trial_of_what_is_forbidden_does_no_harm_in_any_lesson(launcher):
    """What is compared with the library's own at the end of a file is left out, with what needs it."""
    right = (ROOT / "solutions/core/softmax.py").read_text()
    trial = "\nimport torch\nX = torch.ones(2)\nwanted = torch.softmax(X, -1)\nassert torch.equal(softmax(X), wanted)\n"
    result = judge_source(launcher, "softmax", right + trial)

    assert (result.score, result.mistakes) == (10.0, ()), result.weaknesses
    assert "is not run: it calls `softmax`" in result.output


def test_garbage_is_collected_again_in_the_lesson_that_comes_next(launcher):
    """It is not where autograd is forbidden; a worker may serve another lesson of the same learner then."""
    source = "import gc\ndef f():\n    return gc.isenabled()\n"
    what = {"name": "work", "path": "work.py", "source": source, "siblings": {}, "names": ["f"], "device": "cpu"}
    found = []
    with closing(launcher.lease()) as worker:
        for forbids in (LESSON.forbids, ()):
            worker.request("load", **what, forbids=list(forbids), shared=True)
            found.append(RemoteModule(worker, {"f": "function"}).f())
    assert found == [False, True]


def test_a_file_that_makes_forbidden_calls_without_end_is_told_so(launcher):
    """Of more statements than are left out, the next one ends the load."""
    result = verdict_on(launcher, f"import torch\n{TRIAL}" + f"{BACK}\n" * 25)
    assert [mistake.id for mistake in result.mistakes] == ["forbidden-call"]


@pytest.mark.parametrize(
    "calls", [["x.py", 3, "backward"], ["mine.py", 10**18, "backward"], ["mine.py", 3, "else"], [1], 7]
)
def test_a_worker_that_names_another_statement_is_not_believed(calls):
    """Only a line of the learner's own files can be left out, for what the lesson forbids."""
    assert read_forbidden_statement({"calls": calls}, {"mine.py"}, LESSON.forbids) is None
    assert read_forbidden_statement({"calls": ["mine.py", 3, "backward"]}, {"mine.py"}, LESSON.forbids)
