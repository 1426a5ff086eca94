"""Check a question bank for errors."""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.errors import CourseError, UsageError
from grader.files import read_file
from grader.quiz.bank.bank import Bank, find_faults
from grader.quiz.bank.variants import make_variant, make_variants
from grader.quiz.kinds import KINDS
from grader.quiz.model import Family, Question, Topic

VARIANTS = 200  # made of each generated family
MIN_VARIANTS = 15  # of a generated family that is not marked with `few`
VARIANTS_OF_FIXED = 8  # made of other families, whose options are drawn
MIN_POINTS, MAX_POINTS = 5, 8  # key points of an open question
MAX_LENGTH_RATIO = 1.1  # a right option longer than this times the others gives itself away
MAX_SHARE_LONGEST = 0.45  # of the choices in a bank may have the longest option right

_LESSON = re.compile(r"""^lesson\s*=\s*["'](\w+)""", re.MULTILINE)


@dataclass(frozen=True)
class BankAudit:
    """The size of a question bank, and what is wrong with it."""

    topics: int
    families: int
    generated: int
    problems: tuple[str, ...]


def audit_bank(lessons: Path, variants: int = VARIANTS, on: Collection[str] | None = None) -> BankAudit | None:
    """Check the questions in a course's folder of lessons, those *on* some of them alone where these are named.

    Return None where there are no questions.
    """
    try:
        bank = Bank(lessons)
        paths = {name: path for name, path in bank.paths.items() if on is None or _is_on(name, path, on)}
        if faults := [fault for name, path in paths.items() for fault in find_faults(name, path)]:
            return BankAudit(0, 0, 0, tuple(_say(fault, lessons) for fault in faults))
        topics = [bank.topic(name) for name in bank.names if name in paths]
        unlisted = [f"{name}: quiz.toml lists it in no group" for name in paths if name not in bank.names]
        found = (*find_problems(bank, topics, variants), *_find_repeated_misconceptions(topics), *unlisted)
    except UsageError as error:
        return BankAudit(0, 0, 0, (_say(error, lessons),))
    families = [family for topic in topics for family in topic.families]
    return BankAudit(len(topics), len(families), sum(f.generated for f in families), found) if topics or found else None


def _is_on(name: str, path: Path, lessons: Collection[str]) -> bool:
    """Return True if a topic is on one of these lessons, also where its file cannot be read as TOML."""
    return name in lessons or any(found in lessons for found in _LESSON.findall(read_file(path)))


def _say(error: UsageError, lessons: Path) -> str:
    where = error.where.removeprefix(f"{lessons.parent}/")
    return f"{where}: {error.what}" if where else error.what


def require_questions(lessons: Path) -> int:
    """Make a question of every family, check that each misconception it names exists, and return the number of topics.

    Raises CourseError for the first wrong family or topic.
    """
    bank = Bank(lessons)
    for topic in bank.topics():
        for family in topic.families:
            question = make_variant(bank, family, "release", 1)
            for tag in (*_tags(question), *family.feedback):
                if bank.misconception(tag) is None:
                    what = f'{family.id}: "{tag}" is no misconception'
                    raise CourseError(what, where=str(topic.path), next_step="grader audit")
    return len(bank.names)


def _find_repeated_misconceptions(topics: Iterable[Topic]) -> Iterator[str]:
    places: dict[str, str] = {}
    for topic in topics:
        for misconception in topic.misconceptions:
            if misconception.id in places:
                yield f'{topic.name}: the misconception "{misconception.id}" is also in {places[misconception.id]}'
            places[misconception.id] = topic.name


def find_problems(bank: Bank, topics: Iterable[Topic], variants: int = VARIANTS) -> Iterator[str]:
    """Yield every problem as a sentence that names the family."""
    ids: set[str] = set()
    longest: list[bool] = []
    for topic in topics:
        for family in topic.families:
            if family.id in ids:
                yield f"{family.id}: the id is there twice"
            ids.add(family.id)
            yield from _check_links(bank, family)
            questions = yield from _make_questions(bank, family, variants)
            yield from _check_family(bank, family, questions)
            longest += [_is_longest(question, 1.0) for question in questions[:1] if question.kind == "choice"]
        yield from _check_points(topic)
    if len(longest) >= 10 and sum(longest) / len(longest) > MAX_SHARE_LONGEST:
        yield f"the longest option is right in {sum(longest)} of {len(longest)} choices: whoever takes it passes"


def _make_questions(bank: Bank, family: Family, variants: int) -> Generator[str, None, list[Question]]:
    """Make different questions of a family; yield a problem if its generator fails, or has too few."""
    made: list[Question] = []
    count = variants if family.generated else VARIANTS_OF_FIXED
    try:
        made.extend(make_variants(bank, family, "lint", range(1, count + 1)))
    except CourseError as error:
        yield f"{family.id}: {error.what}"
        return made
    different = len(set(map(_content, made)))
    if not family.is_static and count >= VARIANTS and different < MIN_VARIANTS:
        yield f"{family.id}: its generator gives {different} different questions only; few = true marks such a family"
    return made


def _check_links(bank: Bank, family: Family) -> Iterator[str]:
    """Check what a family counts for, and what it is the same as."""
    if family.counts_for not in (*bank.paths, *bank.collections):
        yield f'{family.id}: it counts for "{family.counts_for}", which is no topic'
    if family.same_as:
        same = bank.find_family(family.same_as)
        if same is None or same.same_as or same.id == family.id:
            yield f'{family.id}: "{family.same_as}" is no question that it can be the same as'


def _check_family(bank: Bank, family: Family, questions: list[Question]) -> Iterator[str]:
    kind = KINDS[family.kind]
    found = [problem for question in questions for problem in kind.find_problems(question)]
    yield from (f"{family.id}: {problem}" for problem in dict.fromkeys(found))
    tags = {tag for question in questions for tag in _tags(question)} | set(family.feedback)
    yield from (f'{family.id}: "{tag}" is no misconception' for tag in sorted(tags) if not bank.misconception(tag))
    if questions and family.kind == "choice" and all(_is_longest(question, MAX_LENGTH_RATIO) for question in questions):
        yield f"{family.id}: the right option is always the longest one"


def _tags(question: Question) -> Iterator[str]:
    yield from (wrong.tag for wrong in question.wrong)
    yield from (option.tag for option in question.options if option.tag)


def _content(question: Question) -> tuple[str, ...]:
    """Return what makes a question another one, whatever the order of its options."""
    answer = "" if question.options else str(question.answer)
    return question.text, question.code, answer, *sorted(map(str, question.options))


def _is_longest(question: Question, ratio: float) -> bool:
    right = max(len(option.text) for option in question.options if option.right)
    return right > ratio * max(len(option.text) for option in question.options if not option.right)


def _check_points(topic: Topic) -> Iterator[str]:
    audited = {point for family in topic.families for point in family.audits}
    points = {point.id for point in topic.open.key_points} if topic.open else set()
    yield from (f'{topic.name}: no question audits the key point "{point}"' for point in sorted(points - audited))
    yield from (
        f'{topic.name}: a question audits "{point}", which is no key point' for point in sorted(audited - points)
    )
    if topic.open and not MIN_POINTS <= len(points) <= MAX_POINTS:
        yield f"{topic.name}: an open question has {MIN_POINTS} to {MAX_POINTS} key points, and here are {len(points)}"
