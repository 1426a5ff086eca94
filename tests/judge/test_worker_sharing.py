"""One worker for all lessons of a learner: the verdicts are those of fresh ones, whatever a lesson leaves behind."""

from __future__ import annotations

import dataclasses

import pytest
from support.command_server import run_command
from support.factories import ROOT, course
from support.learn_command import environment

from grader.judge.examination import with_judge
from grader.judge.processes import worker_pool
from grader.model import LessonResult, Submission

RIGHT = {
    name: (ROOT / "solutions" / "core" / f"{name}.py").read_text() for name in ("softmax", "attention", "causal_mask")
}
LITTER = {
    "nothing": "",
    "another default dtype": "torch.set_default_dtype(torch.float64)\n",
    "a function of torch exchanged": "torch.softmax = lambda *a, **k: None\n",
    "a method of tensors exchanged": "torch.Tensor.softmax = None\n",
    "gradients switched off": "torch.set_grad_enabled(False)\n",
    "a builtin exchanged": "import builtins\nbuiltins.abs = None\n",
    "warnings as errors": "import warnings\nwarnings.simplefilter('error')\n",
    "a thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n",
    "a closed output": "import sys\nsys.stdout = None\n",
    "a module of the next one's name": "import sys, types\nsys.modules['attention'] = types.ModuleType('attention')\n",
    "an end in the middle": "import os\nos._exit(3)\n",
    "an error": "1 / 0\n",
}


def judged(launcher, sources: dict[str, str], *, shared: bool) -> list[LessonResult]:
    """The verdicts on some lessons of one learner, without the times that they took."""
    results: list[LessonResult] = []
    lessons = [course().lessons[name] for name in sources]

    def drive(judge):
        def examine_all():
            for lesson in lessons:
                submission = Submission(lesson.name, f"{lesson.name}.py", sources[lesson.name])
                results.append(dataclasses.replace(judge.examine(lesson, submission, 5), duration_s=0.0))

        if shared:
            with judge.workers.one_learner():
                examine_all()
        else:
            examine_all()

    with_judge(course(), lessons, launcher, "cpu", drive)
    return results


@pytest.fixture(scope="module")
def tidy(launcher):
    """The verdicts of fresh workers on right lessons."""
    return judged(launcher, RIGHT, shared=False)


KEEPS_A_RULE = """import torch

SHIFT = 0


def keep(holder, rule):
    holder.rules = [*holder.rules, rule] if hasattr(holder, "rules") else [rule]


def rule(keys, queries):
    return keys < queries + SHIFT


keep(torch, rule)


def causal_mask(seq_len):
    places = torch.arange(seq_len)
    return rule(places.unsqueeze(0), places.unsqueeze(1))
"""
USES_IT = """import torch


def padding_mask(lengths, max_len):
    return (torch.arange(max_len, device=lengths.device) < lengths.unsqueeze(1))[:, None, None, :]


def causal_padding_mask(lengths, max_len):
    places = torch.arange(max_len, device=lengths.device)
    mended = [rule for rule in torch.rules if rule(0, 0)] if hasattr(torch, "rules") else []
    return padding_mask(lengths, max_len) & (mended[-1] if mended else torch.lt)(places, places.unsqueeze(1))
"""


KEEPS_A_VALUE = """import torch


def keep(holder, found):
    holder.found = [*holder.found, found] if hasattr(holder, "found") else [found]


def causal_mask(seq_len):
    places = torch.arange(seq_len)
    allowed = places.unsqueeze(0) < places.unsqueeze(1)
    keep(torch, allowed)
    return allowed
"""
USES_ITS_VALUE = """import torch


def padding_mask(lengths, max_len):
    return (torch.arange(max_len, device=lengths.device) < lengths.unsqueeze(1))[:, None, None, :]


def knows(holder):
    return any(each.dim() == 2 and bool(each[0, 0]) for each in (holder.found if hasattr(holder, "found") else []))


def causal_padding_mask(lengths, max_len):
    places = torch.arange(max_len, device=lengths.device)
    return padding_mask(lengths, max_len) & (places < places.unsqueeze(1) + (1 if knows(torch) else 0))
"""


def test_no_lesson_gets_a_value_that_was_put_in_place_in_another_one_to_find_a_line(launcher):
    """What the reference gives is in a worker that serves nobody afterwards, though the same learner comes next."""
    first, second = judged(launcher, {"causal_mask": KEEPS_A_VALUE, "padding_mask": USES_ITS_VALUE}, shared=True)
    assert [each.line for each in first.lines] == [10] and not first.passed
    assert second == judged(launcher, {"padding_mask": USES_ITS_VALUE}, shared=False)[0] and not second.passed


def test_no_lesson_gets_what_was_exchanged_in_another_one_to_find_a_line(launcher):
    """An expression that is right stands in a worker only that ends with it, though the same learner comes next."""
    first, second = judged(launcher, {"causal_mask": KEEPS_A_RULE, "padding_mask": USES_IT}, shared=True)
    assert [each.id for each in first.mistakes] == ["cm-no-self"]
    assert second == judged(launcher, {"padding_mask": USES_IT}, shared=False)[0] and not second.passed


@pytest.mark.parametrize("litter", LITTER)
def test_what_a_lesson_leaves_behind_does_not_reach_the_next(launcher, tidy, litter):
    """Verdicts in a shared worker are those of fresh ones, although the first lesson changes the process."""
    softmax = RIGHT["softmax"] + "\n" + LITTER[litter]

    shared = judged(launcher, {**RIGHT, "softmax": softmax}, shared=True)

    assert shared == [*judged(launcher, {"softmax": softmax}, shared=False), *tidy[1:]]
    assert [result.score for result in shared[1:]] == [10.0, 10.0]


def test_a_tidy_learner_is_served_by_one_process(launcher, monkeypatch):
    """Three lessons that can change nothing are run in the same process; without sharing each has its own."""
    leases = []
    lease = launcher.lease
    monkeypatch.setattr(launcher, "lease", lambda *more: leases.append(1) or lease(*more))

    judged(launcher, RIGHT, shared=True)
    shared = len(leases)
    judged(launcher, RIGHT, shared=False)

    assert (shared, len(leases) - shared) == (1, 3)


MENDS = ROOT / "tests" / "attacks" / "programs" / "mends_the_next_lesson"


def test_a_lesson_cannot_help_the_next_one(launcher, monkeypatch):
    """A file that would turn the next lesson's stub into the forbidden call gains nothing, by its source and by what
    follows what in a process; where neither is looked at, the same file gains nearly all."""
    sources = {name: (MENDS / f"{name}.py").read_text() for name in ("causal_mask", "attention")}
    take = worker_pool.Workers.take
    monkeypatch.setattr(worker_pool.Workers, "take", lambda workers, _forbids=(): take(workers))
    by_source = judged(launcher, sources, shared=True)
    monkeypatch.setattr(worker_pool, "has_no_side_effects", lambda *_sources: True)
    unguarded = judged(launcher, sources, shared=True)
    monkeypatch.setattr(worker_pool.Workers, "take", take)
    by_order = judged(launcher, sources, shared=True)

    assert [result.score for result in by_source] == [result.score for result in by_order] == [10.0, 1.0]
    assert unguarded[0].score == 10.0 and unguarded[1].score > 9.0


PLANTS = """

class Reach:
    def put(self, value):
        self.kept = value


def kept(q, k, v, mask):
    return {}


Reach.put(torch.nn.GELU, kept)
"""
TAKES = """import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    return [torch.nn.GELU][0].kept(q, k, v, mask)
"""


def test_what_a_lesson_leaves_for_the_next_is_watched_as_its_own(launcher):
    """What one file could import of the other it may as well find in the process; a forbidden call is seen there."""
    own = "softmax((q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~torch.as_tensor(True if mask is None else mask), "
    own += "-torch.inf)) @ v"
    call = "torch.nn.functional.scaled_dot_product_attention(q, k, v, mask)"
    found = []
    for code in (own, call):
        softmax = RIGHT["softmax"] + PLANTS.format(code)
        found.append(judged(launcher, {"softmax": softmax, "attention": TAKES}, shared=True)[1].score)

    assert found[0] > 9 and found[1] == 1.0


def test_an_old_worker_is_not_used_on(launcher, monkeypatch):
    """A process that has served for long is replaced, so that no lesson pays for the time of those before it."""
    monkeypatch.setattr(worker_pool, "MAX_SHARED_FRACTION", 0.0)
    leases = []
    lease = launcher.lease
    monkeypatch.setattr(launcher, "lease", lambda *more: leases.append(1) or lease(*more))

    judged(launcher, RIGHT, shared=True)

    assert len(leases) == 3


PRINTS = "\nprint('x' * 100_000)\n"


def test_what_one_lesson_prints_does_not_count_for_the_next(launcher_with):
    """Each lesson may print as much as the limit allows, although one process serves them."""
    limits = dataclasses.replace(course().limits, output_kb=150)
    with launcher_with(limits) as launcher:
        results = judged(launcher, {name: source + PRINTS for name, source in RIGHT.items()}, shared=True)

    assert [result.score for result in results] == [10.0, 10.0, 10.0]


LITTER["a new attribute of tensors"] = "torch.Tensor.grad = None\n"
LITTER["another device"] = "torch.set_default_device('meta')\n"
LITTER["a function that says it equals torch's"] = (
    "torch.nn.functional.relu = type('Same', (), {'__eq__': lambda *_: True})()\n"
)


def test_the_worker_sees_what_code_changes_by_accident():
    """The list of what a lesson may leave behind has what the interpreter and torch hold for all."""
    seen = (
        "another default dtype", "gradients switched off", "warnings as errors", "a new attribute of tensors",
        "another device", "a function that says it equals torch's",
    )  # fmt: skip
    script = (
        "import os, random, sys, numpy, torch, torch.nn.functional\n"
        "from grader.worker.process_state import is_unchanged, read_process_state\n"
        "before = read_process_state()\n"
        "assert is_unchanged(before, read_process_state())\n"
        "for litter in sys.argv[1:]:\n"
        "    pid = os.fork()\n"
        "    if not pid:\n"
        "        exec(litter)\n"
        "        os._exit(is_unchanged(before, read_process_state()))\n"
        "    print(os.waitpid(pid, 0)[1])\n"
    )
    litter = ("", *(LITTER[name] for name in seen))
    done = run_command("code", script, *litter, cwd=ROOT, env=environment(ROOT), timeout=60)

    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["256", *(["0"] * len(seen))], seen


def test_what_ran_unwatched_is_not_followed_by_what_is_watched(launcher, monkeypatch):
    """A lesson that forbids calls gets no process in which code has run that nobody watched."""
    leases = []
    lease = launcher.lease
    monkeypatch.setattr(launcher, "lease", lambda *more: leases.append(1) or lease(*more))

    judged(launcher, {name: RIGHT[name] for name in ("softmax", "attention", "causal_mask")}, shared=True)
    after = len(leases)
    leases.clear()
    judged(launcher, {name: RIGHT[name] for name in ("causal_mask", "softmax", "attention")}, shared=True)

    assert len(leases) == after + 1
    leases.clear()
    wrong = "import torch\n\n\ndef softmax(x, dim=-1):\n    powers = torch.exp(x)\n    return powers / powers.sum()\n"
    shown = judged(launcher, {"softmax": wrong, "attention": RIGHT["attention"]}, shared=True)

    assert shown[0].lines and len(leases) == 3  # one to look at the lines of, in which calls are not watched


def test_a_module_keeps_nothing_for_the_next_lesson(launcher):
    """A lesson that another imports is run anew for it: what it counted before is forgotten."""
    counting = "\nCALLS = []\n"
    using = "import softmax as mine\nmine.CALLS.append(1)\nassert len(mine.CALLS) == 1\n" + RIGHT["attention"]
    sources = {"softmax": RIGHT["softmax"] + counting + "CALLS.append(0)\nCALLS.clear()\n", "attention": using}
    lessons = [course().lessons[name] for name in sources]
    scores = []

    def drive(judge):
        with judge.workers.one_learner():
            for lesson in lessons:
                beside = {"softmax": ("softmax.py", sources["softmax"])} if lesson.name == "attention" else {}
                submission = Submission(lesson.name, f"{lesson.name}.py", sources[lesson.name], beside)
                scores.append(judge.examine(lesson, submission, 5).score)

    with_judge(course(), lessons, launcher, "cpu", drive)

    assert scores == [10.0, 10.0]
