"""The bank of questions: nothing in it is ambiguous, and every generated answer is what torch says."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Container, Iterator
from functools import cache
from itertools import combinations
from types import ModuleType

import pytest
from support.course_files import ROOT
from support.repeat import repeat
from support.run_question_code import printed

from grader.course.load_course import load
from grader.quiz.bank.bank import Bank
from grader.quiz.bank.lint import audit_bank, find_problems
from grader.quiz.bank.variants import make_variant
from grader.quiz.kinds import KINDS
from grader.quiz.model import Family, Topic

BANK = Bank(ROOT / "lessons")
TOPICS = BANK.names
ATTENTION_ALONE = ("attention", "attention_formula", "attention_gradient", "gradients", "score_scaling")
GENERATED = [family for name in TOPICS for family in BANK.topic(name).families if family.generated]


@cache
def proofs(topic: str) -> ModuleType:
    """`content/quiz/proof_<topic>.py`: a function of a question for each generator, which answers it with torch."""
    path = ROOT / "tests" / "content" / "quiz" / f"proof_{topic}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("topic", TOPICS)
@repeat(usual=4, soak=30)
def test_nothing_is_ambiguous(topic, times):
    """Ids, tags, audits, options and wrong answers of a topic are as they must be, in variants of each family."""
    assert list(find_problems(BANK, [BANK.topic(topic)], times)) == []


@pytest.mark.parametrize("family", GENERATED, ids=lambda family: family.id)
@repeat(usual=2, soak=30)
def test_answers_are_what_torch_says(family: Family, times: int):
    """A generator's closed form gives what torch computes, for so many seeds; without a proof, what its code prints."""
    proof = getattr(proofs(family.topic), family.generator, lambda question: printed(question.code))
    for attempt in range(1, times + 1):
        question = make_variant(BANK, family, "proof", attempt)
        answer = proof(question)
        if isinstance(question.answer, float | int) and not isinstance(answer, str | list):
            assert answer == pytest.approx(question.answer, rel=1e-3, abs=1e-6), (attempt, question.values)
        else:
            assert answer == question.answer, (attempt, question.values)


def test_the_bank_is_as_large_as_it_says():
    """There are 120 families and more, 60 of them generated; the ten questions have key points, traps and answers."""
    audit = audit_bank(ROOT / "lessons", variants=3)
    assert audit.problems == ()
    assert audit.families >= 120 and audit.generated >= 60
    opened = [BANK.topic(name).open for name in BANK.assessed]
    assert [question.number for question in opened] == list(range(1, 11))
    for question in opened:
        families = BANK.topic(question.topic).families
        assert sum(family.generated for family in families) >= 4, question.topic
        assert len(question.model_answer.split()) >= 100 and len(question.traps) >= 2


def test_every_lesson_has_its_questions():
    """Each lesson has a topic of its own name, with six families and more where everybody takes it, else with four."""
    course = load(ROOT)
    required = {lesson.name for lesson in course.required_lessons}
    for name in course.lessons:
        assert len(BANK.topic(name).families) >= (6 if name in required else 4), name


def test_every_command_that_is_suggested_exists():
    """What a misconception suggests is a command that there is, on a lesson or topic that there is."""
    lessons = load(ROOT).lessons
    for topic in BANK.topics():
        assert topic.lesson in lessons
        for misconception in topic.misconceptions:
            words = misconception.command.split()
            kind, rest = words[1], words[2:]
            known: dict[str, Container[str]] = {"read": lessons, "check": lessons, "hint": lessons, "quiz": BANK.paths}
            if rest[0] == "open":
                assert 1 <= int(rest[1]) <= 11, misconception
            else:
                assert rest[0] in known[kind], misconception


@pytest.mark.parametrize("family", ["heads.divisors", "dimensions.possible_heads"])
def test_powers_of_two_are_named_only_where_they_explain_the_answer(family):
    """Who takes a number of heads that is no power of two does not believe that it must be one."""
    for attempt in range(1, 9):
        question = make_variant(BANK, BANK.family(family), "heads", attempt)
        numbers = [int(re.sub(r"\D", "", option.text)) for option in question.options]
        named = set()
        for taken in (taken for size in range(1, 6) for taken in combinations(range(len(numbers)), size)):
            mark = KINDS["multi"].mark(question, " ".join("abcdefgh"[place] for place in taken))
            if any(tag.endswith("heads-power-of-two") for tag in mark.tags):
                named.add(tuple(numbers[place] for place in taken))
        assert all(number & (number - 1) == 0 for taken in named for number in taken), named


def shown_texts(topic: Topic, variants: int) -> Iterator[tuple[str, str]]:
    """Everything of a topic that learners read, in some variants of each question, with where it stands."""
    for misconception in topic.misconceptions:
        yield misconception.id, f"{misconception.says} {misconception.suggests}"
    if topic.open:
        points = " ".join(point.says for point in topic.open.key_points)
        traps = " ".join(f"{trap.claims} {trap.fix}" for trap in topic.open.traps)
        yield f"{topic.name}.open", f"{topic.open.asks} {topic.open.model_answer} {points} {traps}"
    for family in topic.families:
        for attempt in range(1, variants + 1):
            question = make_variant(BANK, family, "letters", attempt)
            options = [option.text for option in question.options]
            told = [question.text, question.code, question.explain, question.prove, *question.feedback.values()]
            yield family.id, " ".join([*told, *options, *question.parts, str(question.details.get("fix", ""))])


@pytest.mark.parametrize("topic", TOPICS)
@repeat(usual=2, soak=20)
def test_one_notation(topic, times):
    """D is the model's width and d_head that of a head: no bare d, which was once the one, once the other; d_k is the
    width of queries and keys where attention stands alone."""
    for place, text in shown_texts(BANK.topic(topic), times):
        letters = re.search(r"(?<![\w'’·-])\d*d(?![\w'’])", text)
        assert not letters or place == "induction.where", f"{place}: {letters[0]}"  # there d is a token
        assert topic in ATTENTION_ALONE or not re.search(r"\bd_k\b", text), place
