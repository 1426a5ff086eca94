"""What lawful answers cost the judge: a real process is measured while questions are answered with the largest."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable

import pytest
from support.factories import ROOT, course

MOST_MB = 300
MOST_MB_MENDED = 800  # where an answer in another form is held beside its mended copy
MOST_SECONDS = 20.0  # of processor time for one examination, the liar's included

JUDGE = """
import random, resource, sys, time, warnings
sys.path[:0] = ["tests", "."]
warnings.simplefilter("ignore")
from support.factories import course, run_judge
from support.fake_workers import LyingLauncher, HUGE, enlarged
from grader.model import Submission
limits = course().limits
WHERE = ("value", "grads", "state", "after", "events")
KINDS = list(HUGE.items())[:int(sys.argv[1])]

def lies(kind, make):
    # everywhere; beside right values; now and then, so that what a check asks first is right
    for keys, share in ((WHERE, 1.0), (WHERE[1:], 1.0), (WHERE, 0.3), (WHERE, 0.1)):
        chance = random.Random(1)
        yield f"{kind}/{len(keys)}/{share}", lambda act, reply, keys=keys, share=share, chance=chance: (
            enlarged(reply, make, limits.answer_kb << 10, keys) if chance.random() < share else reply)

def drive(name, judge):
    lesson = course().lessons[name]
    def examine(what):
        begun = time.process_time()
        score = judge.examine(lesson, Submission(name, f"{name}.py", source), 3).score
        used, peak = time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        print(f"{name}/{what}", score, used, peak, flush=True)
    examine("honest")
    for kind, make in KINDS:
        for what, launcher.lie in lies(kind, make):
            examine(what)

for name in sys.argv[2:]:
    lesson = course().lessons[name]
    source = lesson.solution_path.read_text()
    launcher = LyingLauncher(source, limits, lambda act, reply: reply)
    run_judge(launcher, name, lambda judge: drive(name, judge))
"""


def test_the_largest_answers_fit():
    """As values, gradients, parameters, events and arguments after the call: all within the bound, and soon."""
    assert_fits(1, ["training"])


@pytest.mark.soak
@pytest.mark.parametrize("lesson", course().lessons)
def test_the_largest_answers_of_every_kind_fit(lesson):
    """So do lists of many arrays, numbers that are widened to be compared, names."""
    assert_fits(99, [lesson])


def assert_fits(kinds: int, lessons: Iterable[str]) -> None:
    command = [sys.executable, "-c", JUDGE, str(kinds), *lessons]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=True)
    rows = [line.rsplit(" ", 3) for line in done.stdout.splitlines()]
    before = int(rows[0][3])
    grown = {what: int(peak) - before for what, _, _, peak in rows}
    seconds = {what: float(used) for what, _, used, _ in rows}

    assert [score for what, score, *_ in rows if what.endswith("honest")] == ["10.0"] * len([*lessons])
    most = MOST_MB if kinds == 1 else MOST_MB_MENDED
    assert max(grown.values()) < most, max(grown.items(), key=lambda pair: pair[1])
    assert max(seconds.values()) < MOST_SECONDS, max(seconds.items(), key=lambda pair: pair[1])
