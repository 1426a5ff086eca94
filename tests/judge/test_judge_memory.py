"""What lawful answers cost the judge: a real process is measured while questions are answered with the largest."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from support.command_server import run_command
from support.factories import ROOT, course
from support.learn_command import environment
from support.repeat import SOAK

from grader.judge.processes.launcher import THREADS

MOST_MB = 400  # 250 is measured, and 325 once beside other tests  # more than before an examination
MOST_MB_KEPT = 150  # of all examinations, after them
SHARES = max(1, 9 // SOAK)  # a lesson is put to one kind of nine: all of them in each take minutes
PROCESSES = 3  # for all lessons: each has to import PyTorch
MOST_SECONDS = 12.0  # of the judge's processor time for one examination, once it knows what known mistakes answer

JUDGE = """
import ctypes, gc, random, sys, time, warnings
from pathlib import Path
sys.path[:0] = ["tests", "."]
warnings.simplefilter("ignore")
from support.factories import course, run_judge
from support.fake_workers import LyingLauncher, HUGE, enlarged
from grader.model import Submission
from grader.submission import read_artefact
limits = course().limits
WHERE = ("value", "grads", "state", "after", "events")
SMALL = 3000  # bytes: what costs time then is no matter of size
first, step = map(int, sys.argv[1:3])

def lies(kind, make, size):
    # everywhere; beside right values; now and then, so that what a check asks first is right
    for keys, share in ((WHERE, 1.0), (WHERE[1:], 1.0), (WHERE, 0.3), (WHERE, 0.1)):
        chance = random.Random(1)
        yield f"{kind}/{len(keys)}/{share}", lambda act, reply, keys=keys, share=share, chance=chance: (
            enlarged(reply, make, size, keys) if chance.random() < share else reply)

def memory_mb(key):
    status = Path("/proc/self/status").read_text()
    return int(status.partition(key + ":")[2].split()[0]) >> 10

def drive(name, kinds, judge):
    lesson, submission = course().lessons[name], Submission(name, f"{name}.py", source, artefact=weights)
    def examine(what):
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before, begun = memory_mb("VmRSS"), time.thread_time()
        score = judge.examine(lesson, submission, 3).score
        used = time.thread_time() - begun
        print(f"{name}/{what}", score, used, before, memory_mb("VmHWM"), flush=True)
    examine("honest")
    for kind, make in kinds:
        for (what, large), (_, small) in zip(lies(kind, make, limits.answer_kb << 10), lies(kind, make, SMALL)):
            launcher.lie = small
            judge.examine(lesson, submission, 3)
            launcher.lie = large
            examine(what)

for number, name in enumerate(sys.argv[3:], first):
    lesson, kinds = course().lessons[name], list(HUGE.items())[number % step :: step]
    source, weights = lesson.solution_path.read_text(), read_artefact(lesson.solution_path)
    launcher = LyingLauncher(source, limits, lambda act, reply: reply)
    run_judge(launcher, name, lambda judge: drive(name, kinds, judge))
"""


@pytest.mark.slow
def test_the_largest_answers_fit():
    """As values, gradients, parameters, events and arguments after the call: all within the bound, and soon."""
    assert_fits(0, 99, ["attention"])


@pytest.mark.soak
@pytest.mark.parametrize("number", range(PROCESSES))
def test_the_largest_answers_of_every_kind_fit(number):
    """So do lists of many arrays, numbers that are widened to be compared, names: each kind in some of the lessons."""
    lessons = list(course().lessons)
    share = -(-len(lessons) // PROCESSES)
    assert_fits(number * share, SHARES, lessons[number * share :][:share])


def assert_fits(first: int, step: int, lessons: Collection[str]) -> None:
    words = (first, step, *lessons)
    alone = environment(ROOT) | dict.fromkeys(THREADS, "1")  # as the engine's own processes are started
    done = run_command("code", JUDGE, *words, cwd=ROOT, env=alone, timeout=300 * len(lessons))
    assert done.returncode == 0, done.stderr
    rows = [line.rsplit(" ", 4) for line in done.stdout.splitlines()]
    grown = {what: int(peak) - int(before) for what, *_, before, peak in rows}
    seconds = {what: float(used) for what, _, used, *_ in rows}

    assert [score for what, score, *_ in rows if what.endswith("honest")] == ["10.0"] * len(lessons)
    for lesson in lessons:
        before = [int(before) for what, _, _, before, _ in rows if what.startswith(f"{lesson}/")]
        assert before[-1] - before[0] < MOST_MB_KEPT, lesson
    assert max(grown.values()) < MOST_MB, max(grown.items(), key=lambda pair: pair[1])
    assert max(seconds.values()) < MOST_SECONDS, max(seconds.items(), key=lambda pair: pair[1])
