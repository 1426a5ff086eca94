"""Asking ahead: the verdicts are those of asking one by one, whatever a submission does."""

from __future__ import annotations

import dataclasses
from collections import Counter

import pytest
from support.answers import ANSWERS, answer_at
from support.factories import ROOT, course, run_judge
from support.repeat import FEW_LESSONS, SOAK, rarely

from grader.judge import examination
from grader.judge.checks.check_runner import CheckRunner
from grader.judge.checks.loaded_submission import LoadedSubmission
from grader.judge.processes.connection import Worker
from grader.judge.transcript.prefetch import PrefetchedModule, may_be_asked_ahead
from grader.judge.transcript.transcript import Exchange, Recorder, Transcript
from grader.model import Course, LessonResult, Submission
from grader.worker.wire import PREFIX, Array, encode

# a capstone's answers are trained, and would be twice
LESSONS = sorted(path.name for path in ANSWERS.iterdir() if course().lessons[path.name].kind != "capstone")

SOFTMAX = """
def softmax(x, dim=-1):
    {first}
    shifted = (x - x.max(dim=dim, keepdim=True).values).exp()
    return shifted / shifted.sum(dim=dim, keepdim=True)
"""
ODD = {
    "it hangs on some input": SOFTMAX.format(first="while x.dim() == 1: pass"),
    "it hangs on all": SOFTMAX.format(first="while True: pass"),
    "it uses itself up": SOFTMAX.format(first="return softmax(x, dim)"),
    "it returns more than can be sent": SOFTMAX.format(first="return x.new_zeros(17_000_000)"),
    "it returns many values": SOFTMAX.format(first="return [0.0] * 30_000"),
    "it raises where another input would do": SOFTMAX.format(first="assert x.dim() > 1"),
    "it changes its input": SOFTMAX.format(first="x += 1"),
    "it returns nothing": SOFTMAX.format(first="return None"),
    "it draws random numbers": SOFTMAX.format(first="x = x + x.clone().normal_()"),
    "it is wrong by chance": SOFTMAX.format(first="x = -x if x.new_empty(1).uniform_() < 0.1 else x"),
    "it makes torch print a warning": SOFTMAX.format(first="x.T"),
}


def both_ways(
    launcher, lesson: str, submissions: list[Submission], of: Course | None = None, known: bool = False
) -> list[tuple[LessonResult, LessonResult]]:
    """The verdict on each, asked one by one and asked ahead, without the times that they took."""

    def drive(judge):
        found = []
        for submission in submissions:
            alone = judge.examine(course().lessons[lesson], submission, 7)
            with judge.workers.one_learner():
                ahead = judge.examine(course().lessons[lesson], submission, 7)
            found.append(tuple(dataclasses.replace(result, duration_s=0.0) for result in (alone, ahead)))
        return found

    return run_judge(launcher, lesson, drive, of, known=known)


@pytest.mark.parametrize(
    ("lesson", "times"),
    [
        *rarely((lesson, 2) for lesson in FEW_LESSONS),
        pytest.param("evaluation", 4, marks=pytest.mark.slow),
        *rarely(((lesson, 4 * SOAK) for lesson in LESSONS), []),
    ],
)
def test_verdicts_are_the_same_to_the_word(launcher, lesson, times):
    """Some of the answers that learners wrote get the same outcomes, messages, names and examples."""
    answers = [answer_at(path) for path in sorted((ANSWERS / lesson).glob("*.py"))]
    submissions = answers[:: max(1, len(answers) // times)]
    assert any(map(may_be_asked_ahead, submissions))

    for alone, ahead in both_ways(launcher, lesson, submissions, known=True):
        assert ahead == alone


@pytest.mark.slow
def test_most_answers_are_asked_ahead():
    """Of all answers to all lessons, and of the right ones to each."""
    ahead = {path: may_be_asked_ahead(answer_at(path)) for name in LESSONS for path in (ANSWERS / name).glob("*.py")}
    right = Counter(path.parent.name for path, asked in ahead.items() if asked and path.stem.startswith("right_"))

    assert sum(ahead.values()) > 0.9 * len(ahead)
    assert set(right) == set(LESSONS)


@pytest.mark.parametrize("what", rarely(ODD, [what for what in ODD if what != "it hangs on all"]))
def test_odd_submissions_are_judged_as_if_asked_one_by_one(launcher, what):
    """One that hangs, dies or floods is found out, and so is on which check."""
    submission = Submission("softmax", "softmax.py", ODD[what])
    impatient = dataclasses.replace(course(), limits=dataclasses.replace(course().limits, call_seconds=0.25))
    assert may_be_asked_ahead(submission)

    ((alone, ahead),) = both_ways(launcher, "softmax", [submission], impatient, known=True)

    assert ahead == alone


def test_far_fewer_messages_are_sent(launcher, monkeypatch):
    """A right submission is asked in a few messages, where there would be one for each call."""
    asked: Counter[str] = Counter()
    request = Worker.request
    monkeypatch.setattr(
        Worker, "request", lambda self, act, *a, **k: asked.update([act]) or request(self, act, *a, **k)
    )
    right = Submission("attention", "attention.py", (ROOT / "solutions/core/attention.py").read_text())

    both_ways(launcher, "attention", [right])

    assert asked["call"] > 20
    assert asked["batch"] == 0  # all is in the message that loads it


def test_a_check_is_not_run_again_for_replies_with_which_it_passed(launcher, monkeypatch):
    """Of two learners with the same answer, the second costs no run of a check; a wrong answer is checked."""
    runs: list[str] = []
    run = CheckRunner.run
    monkeypatch.setattr(CheckRunner, "run", lambda self, check, *a: runs.append(check.name) or run(self, check, *a))
    right = SOFTMAX.format(first="")
    wrong = right.replace("dim=dim, keepdim=True)\n", "keepdim=True, dim=-1)\n")
    lesson = course().lessons["softmax"]

    def drive(judge):
        counts = []
        for source in (right, right, wrong):
            runs.clear()
            with judge.workers.one_learner():
                result = judge.examine(lesson, Submission("softmax", "softmax.py", source), 7)
            counts.append((len(runs), result.passed))
        return counts

    (first, _), second, (third, passed) = run_judge(launcher, "softmax", drive)

    assert first > 10 and second == (0, True)
    assert third and not passed


def test_what_a_check_tells_is_told_each_time(launcher, monkeypatch):
    """A check's note on right work is the same asked one by one, ahead, and where the replies are known already."""
    monkeypatch.setattr(LoadedSubmission, "takes_runs", False)
    right = answer_at(course().lessons["induction"].solution_path)

    verdicts = both_ways(launcher, "induction", [right, right])

    assert any("previous-token head is layer" in note for note in verdicts[0][0].notes)
    assert all(ahead == alone for alone, ahead in verdicts)


def test_what_was_kept_of_a_forbidden_call_is_not_there_when_it_is_watched(launcher, monkeypatch):
    """Also where a source is wrongly taken to remember nothing: watched is another process than the one that noted."""
    monkeypatch.setattr(examination, "may_be_asked_ahead", lambda _: True)
    source = (ROOT / "tests/attacks/programs/forbidden_and_kept.py").read_text()

    ((alone, ahead),) = both_ways(launcher, "attention", [Submission("attention", "attention.py", source)])

    assert [mistake.id for mistake in ahead.mistakes] == ["forbidden-call"]
    assert ahead.score == alone.score == 1.0


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"no frame",
        PREFIX.pack(1 << 30, 0),
        b"".join(encode({"replies": None})),
        b"".join(encode({"replies": [1, 2]})),
        b"".join(encode({"answers": []})),
    ],
)
def test_replies_that_are_none_are_asked_for_one_by_one(frame):
    """A worker may send anything in place of the replies to a transcript: then they count as missing."""
    transcript = Transcript(submission=[Exchange("call", {}, {})] * 2)
    module = PrefetchedModule(None, {}, lambda: None)
    for replies in ([Array("numpy", "uint8", (len(frame),), frame)], [frame], frame, None):
        module.keep([transcript], replies)

        assert module.replay(transcript, lambda *_: pytest.fail("it was run")) == (False, None)


@pytest.mark.parametrize("lesson", ["layer_norm", pytest.param("multi_head", marks=pytest.mark.slow)])
def test_a_check_that_asks_something_else_is_run_again(launcher, monkeypatch, lesson):
    """Where a request is not in the transcript, the verdict rests on what is asked."""
    ask = Recorder.ask

    def ask_and_cut(self, act, **content):
        try:
            return ask(self, act, **content)
        finally:
            del self._exchanges[1:]

    monkeypatch.setattr(Recorder, "ask", ask_and_cut)
    paths = [path for path in sorted((ANSWERS / lesson).glob("*.py")) if "dropout" not in path.stem]
    few = paths[:: len(paths) // 3]

    for alone, ahead in both_ways(launcher, lesson, [answer_at(path) for path in few]):
        assert ahead == alone


@pytest.fixture
def asked_of_right(launcher, monkeypatch):
    """What a judge that asks ahead asks of a lesson's reference, by the names of the messages."""
    asked = []
    request = Worker.request
    monkeypatch.setattr(
        Worker, "request", lambda self, act, *more, **rest: asked.append(act) or request(self, act, *more, **rest)
    )

    def ask(lesson: str) -> list[str]:
        def drive(judge):
            judge.asks_ahead = True
            return judge.examine(course().lessons[lesson], answer_at(course().lessons[lesson].solution_path), 7)

        assert run_judge(launcher, lesson, drive).passed
        return asked

    return ask


def test_new_weights_are_no_reason_to_ask_again(asked_of_right, monkeypatch):
    """A check that asks twice for the weights of a new model, other ones each time, throws no reply away."""
    monkeypatch.setattr("grader.judge.checks.lesson_checks.SHARE_ASKED_TWICE", 1.0)

    assert asked_of_right("block") == ["load"]


def test_after_an_error_that_is_wanted_the_rest_is_asked_ahead(asked_of_right):
    """A check that wants two errors, as for texts that are too long, has both in the first message."""
    assert asked_of_right("gpt") == ["load"]
