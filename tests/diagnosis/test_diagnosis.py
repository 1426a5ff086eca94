"""Naming mistakes: alone, together, and never by guessing."""

from __future__ import annotations

import itertools

import pytest
import torch
from support.course_files import ROOT
from support.factories import course, judging

from grader.judge.course_answers import load_file
from grader.judge.diagnosis.diagnosis import Diagnostician
from grader.judge.diagnosis.mistake_outputs import observe
from grader.judge.diagnosis.mistakes import Family

LESSONS = [lesson for lesson in course().lessons.values() if lesson.mistakes_path.is_file()]
CASES = [
    (lesson.name, family) for lesson in LESSONS for family in load_file(lesson.mistakes_path).FAMILIES
]  # fmt: skip


def diagnostician_of(name: str) -> Diagnostician:
    """A fresh one, with nothing remembered."""
    lesson = course().lessons[name]
    return Diagnostician(load_file(lesson.mistakes_path).FAMILIES, lesson.kinds, "torch")


@pytest.mark.parametrize("lesson, family", CASES, ids=lambda value: value if isinstance(value, str) else value.function)
def test_every_known_mistake_is_named_as_itself(lesson, family):
    """Put to the probes, each known mistake is explained by its own id and no other."""
    diagnostician = diagnostician_of(lesson)
    for mistake in family.mistakes:
        subject = diagnostician.subject_with(family, (mistake,))
        seen = {probe.name: observe(probe, subject, "torch") for probe in family.probes}

        assert [found.id for found in diagnostician.explain(family, seen)] == [mistake.id], mistake.label


@pytest.mark.parametrize("lesson, family", CASES, ids=lambda value: value if isinstance(value, str) else value.function)
def test_the_reference_is_never_given_a_mistake(lesson, family):
    """The correct version and every alternative show no difference on any probe."""
    diagnostician = diagnostician_of(lesson)
    for alternative in family.alternatives:
        subject = diagnostician.subject_for(family, family.build(alternative.changes, alternative.version))

        assert diagnostician.diagnose(family.function, subject).first_wrong is None, alternative.name


def test_two_mistakes_at_once_are_both_named():
    """Mistakes in different steps of softmax are named together, for every such pair that differs from either alone."""
    diagnostician = diagnostician_of("softmax")
    family = diagnostician.families["softmax"]
    by_label = {mistake.label: mistake for mistake in family.mistakes}
    pairs = [
        ("sm-overflow", "sm-sum-all"),
        ("sm-global-max", "sm-dtype"),
        ("sm-sign (negated)", "sm-not-normalised"),
        ("sm-max-over-last", "sm-detached"),
    ]
    for labels in pairs:
        mistakes = tuple(by_label[label] for label in labels)
        subject = diagnostician.subject_with(family, mistakes)
        named = {found.id for found in diagnostician.diagnose("softmax", subject).named}

        assert named == {mistake.id for mistake in mistakes}, labels


def tiny_family() -> Family:
    """y = (x + a) * b, with wrong a and wrong b."""
    family = Family("f", lambda *, a, b: lambda x: (x + a) * b, a=1.0, b=2.0)
    family.probe("some numbers", stage="on numbers")(lambda subject, rand: subject.f(rand(3)))
    family.mistake("a-zero", says="a is 0", suggests="add 1", a=0.0)
    family.mistake("b-one", says="b is 1", suggests="double", b=1.0)
    return family


def test_an_unknown_mistake_gets_no_name():
    """What no known version answers is not given a name; the stage and the probe are told instead."""
    diagnostician = Diagnostician([tiny_family()], {"f": "function"}, "torch")
    subject = diagnostician.subject_for(tiny_family(), lambda x: x * 7)

    diagnosis = diagnostician.diagnose("f", subject)

    assert diagnosis.named == []
    assert diagnosis.wrong == ["on numbers"]
    assert diagnosis.first_wrong is not None


def test_what_two_explanations_share_is_all_that_is_named():
    """If pairs {a, c} and {a, d} both fit, only a is certain."""
    family = Family("f", lambda *, a, b: lambda x: (x + a) * b, a=1.0, b=2.0)
    family.probe("some numbers")(lambda subject, rand: subject.f(rand(3)))
    family.mistake("a-zero", says="", suggests="", a=0.0)
    family.mistake("b-one", says="", suggests="", b=1.0)
    family.mistake("b-also-one", says="", suggests="", coding="the same", b=1.0)
    diagnostician = Diagnostician([family], {"f": "function"}, "torch")

    diagnosis = diagnostician.diagnose("f", diagnostician.subject_for(family, lambda x: x))

    assert [found.id for found in diagnosis.named] == ["a-zero"]


def test_two_mistakes_that_answer_alike_are_not_named():
    """A fingerprint that fits two different ids names neither."""
    family = tiny_family()
    family.mistake("b-unit", says="", suggests="", coding="other words", b=1)
    diagnostician = Diagnostician([family], {"f": "function"}, "torch")

    assert diagnostician.diagnose("f", diagnostician.subject_for(family, lambda x: x + 1)).named == []


def test_a_family_refuses_what_cannot_be():
    """Unknown steps, repeated labels and unknown probes are errors when the family is written."""
    family = tiny_family()
    with pytest.raises(ValueError, match="no steps"):
        family.mistake("x", says="", suggests="", wrong_step=1)
    with pytest.raises(ValueError, match="two mistakes"):
        family.mistake("a-zero", says="", suggests="", a=3.0)
    with pytest.raises(ValueError, match="unknown probes"):
        family.mistake("y", says="", suggests="", only=("nowhere",), a=3.0)
    with pytest.raises(ValueError, match="two probes"):
        family.probe("some numbers")


def test_the_demo_is_a_learners_file_with_three_mistakes(launcher):
    """The bundled attempt at attention has three mistakes at once, and each is named."""
    from grader.model import Submission

    path = ROOT / "lessons" / "core" / "attention_demo.py"
    submission = Submission("attention", str(path), path.read_text())
    lesson = course().lessons["attention"]

    result = judging(launcher, "attention", lambda judge: judge.examine(lesson, submission, 3))

    assert {found.id for found in result.mistakes} == {"at-mask-transposed", "at-softmax-queries", "at-no-scale"}


def test_most_pairs_of_mistakes_are_named_in_full():
    """Of all pairs in different steps of softmax that are more than one of their halves, none is given a name that is
    not its own unless it answers exactly as that name does."""
    diagnostician = diagnostician_of("softmax")
    family = diagnostician.families["softmax"]
    joinable = [mistake for mistake in family.mistakes if mistake.changes]
    full = total = 0
    for pair in itertools.combinations(joinable, 2):
        if set(pair[0].changes) & set(pair[1].changes) or pair[0].id == pair[1].id:
            continue
        subject = diagnostician.subject_with(family, pair)
        named = {found.id for found in diagnostician.diagnose("softmax", subject).named}
        total += 1
        full += named == {mistake.id for mistake in pair}

    assert full / total > 0.6, f"{full} of {total}"


def test_nothing_is_remembered_wrongly_between_submissions():
    """Diagnosing one submission leaves the next diagnosis as it would have been."""
    diagnostician = diagnostician_of("softmax")
    family = diagnostician.families["softmax"]
    right = diagnostician.subject_for(family, lambda x, dim=-1: torch.softmax(x, dim))
    wrong = diagnostician.subject_for(family, lambda x, dim=-1: torch.sigmoid(x))

    answers = [
        [found.id for found in diagnostician.diagnose("softmax", subject).named] for subject in (wrong, right, wrong)
    ]

    assert answers == [["sm-sigmoid"], [], ["sm-sigmoid"]]
