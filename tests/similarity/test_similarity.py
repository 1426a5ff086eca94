"""Similarity: what was written independently is not shown, copies are, and how far each of the two goes.

The corpus is `tests/content/answers`: right and wrong answers in many manners, most of them written from nothing. Some
were made from one another, above all in `block`, and still have most lines in common as they stand: those *are*
copies. A known mistake stands for what it returns: all who make it are taken to return the same, which is the worst
case for a false alarm.
"""

from __future__ import annotations

import ast
import difflib
import io
import itertools
import json
import math
import random
import re
import subprocess
import sys
import time
import tokenize
from collections.abc import Callable, Iterable
from functools import cache
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import class_submissions as made
from support.course_files import ROOT
from support.factories import course
from support.repeat import repeat

from grader.model import MAX_PAIRS, Course
from grader.model.groups import Groups
from grader.similarity import compare_lessons, fingerprint, pairs, strongest_pairs
from grader.similarity.class_index import ClassIndex
from grader.similarity.course_corpus import CourseCorpus, read_corpus
from grader.similarity.evidence import Evidence, compare
from grader.similarity.overlap import find_overlap
from grader.similarity.solution import Solution, make_solution
from grader.similarity.tokens import TokenList, read_tokens
from grader.similarity.winnowing import RUN_LENGTH, WINDOW, unpack_prints, winnow

LESSONS = [lesson.name for lesson in course().required_lessons]
CORPUS = {lesson: sorted((ROOT / "tests" / "content" / "answers" / lesson).glob("*.py")) for lesson in LESSONS}
FROM_ONE_ANOTHER = 0.7  # of the lines equal as they stand

Item = tuple[str, str, dict[str, Any], dict[str, Any]]


def find_similar(course: Course, items: Iterable[Item], seconds: float = math.inf) -> list[dict[str, Any]]:
    """The pairs of a class."""
    return strongest_pairs(compare_lessons(course, items, seconds))


@cache
def known() -> CourseCorpus:
    """What the course says."""
    return read_corpus(course())


@pytest.fixture(autouse=True)
def read_the_course_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run compares once; the tests do so hundreds of times."""
    monkeypatch.setattr(pairs, "read_corpus", lambda course: known())


@cache
def said_and_source(path: Path) -> tuple[str, str]:
    """What an answer's first line says of it, and the rest."""
    said, source = path.read_text(encoding="utf-8").split("\n", 1)
    return said.removeprefix("# "), source


def result_of(path: Path) -> dict[str, Any]:
    """What the record of such an answer would hold."""
    kind, said = said_and_source(path)[0].split(": ", 1)
    if kind == "right":
        return {"passed": True, "mistakes": [], "checks": []}
    ids = [] if said == "?" else said.split(", ")
    message = path.stem if said == "?" else said
    checks = [{"id": "values", "outcome": "failed", "message": message}]
    return {"passed": False, "mistakes": [{"id": id, "says": ""} for id in ids], "checks": checks}


@cache
def printed(lesson: str, source: str) -> dict[str, Any]:
    """The fingerprint, as it comes back from where results are kept."""
    kept: dict[str, Any] = json.loads(json.dumps(fingerprint(course().lessons[lesson], source)))
    return kept


def item(path: Path, source: str = "", id: str = "", learner: str = "") -> Item:
    """One learner's hand-in of one lesson: an answer of the corpus, or `source` that is as right or wrong as it."""
    lesson, id = path.parent.name, id or path.stem
    record = {"lessons": {lesson: result_of(path)}}
    return id, learner or id, record, {lesson: printed(lesson, source or said_and_source(path)[1])}


def lesson_item(id: str, lesson: str, source: str, result: dict[str, Any], learner: str = "") -> Item:
    """One learner's hand-in of one lesson, with its result."""
    return id, learner or id, {"lessons": {lesson: result}}, {lesson: printed(lesson, source)}


RIGHT: dict[str, Any] = {"passed": True, "mistakes": [], "checks": []}


def wrong(message: str, *ids: str) -> dict[str, Any]:
    """The result of an answer that fails one check in this way."""
    checks = [{"id": "values", "outcome": "failed", "message": message}]
    return {"passed": False, "mistakes": [{"id": id, "says": ""} for id in ids], "checks": checks}


def between(pairs: list[dict[str, Any]]) -> set[frozenset[str]]:
    """Who is shown beside whom."""
    return {frozenset((pair["first"], pair["second"])) for pair in pairs}


@cache
def equal_lines(first: Path, second: Path) -> float:
    """Which share of two answers' lines is the same as it stands; comments and blank lines are none."""
    lines = []
    for path in (first, second):
        code = (line.split("#")[0].strip() for line in said_and_source(path)[1].splitlines())
        lines.append([line for line in code if line])
    return difflib.SequenceMatcher(None, lines[0], lines[1], autojunk=False).ratio()


# --- what was written independently -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_of_all_answers_as_one_class_only_those_that_are_one_text_are_shown() -> None:
    """Each lesson's answers as one class: over 14,000 pairs, and those that are shown differ in a line or two."""
    shown = find_similar(course(), [item(path) for paths in CORPUS.values() for path in paths])

    of_one_text = {frozenset(("right_hf", "wrong_hf_argument_name")), frozenset(("right_plain", "wrong_batch_axis"))}
    of_one_text |= {frozenset(("wrong_no_reduction", "wrong_sum"))}
    assert between(shown) and between(shown) <= of_one_text
    assert sum(len(paths) * (len(paths) - 1) // 2 for paths in CORPUS.values()) > 14_000


@pytest.mark.slow
@pytest.mark.parametrize("size, share", [(2, 1.0), (3, 0.7), (8, 0.34), (25, 0.1)])
@repeat(usual=2, soak=60)
def test_in_small_classes_nothing_is_shown_that_was_written_independently(size: int, share: float, times: int) -> None:
    """In a small class it is not known what is idiom; still only answers made from one another are shown."""
    classes = math.ceil(times * share)
    rng = random.Random(size)
    compared = 0
    for lesson, paths in CORPUS.items():
        by_name = {path.stem: path for path in paths}
        for _ in range(classes):
            members = rng.sample(paths, size)
            compared += len(list(combinations(members, 2)))
            for first, second in map(sorted, between(find_similar(course(), map(item, members)))):
                alike = equal_lines(by_name[first], by_name[second])
                assert alike >= FROM_ONE_ANOTHER, f"{lesson}: {first}, {second} have {alike:.0%} of their lines equal"
    assert compared >= 7 * classes


@pytest.mark.parametrize("others", [1, 10, 40])
def test_two_right_short_answers_are_never_shown(others: int) -> None:
    """Everyone's right softmax has the same three lines: even two that are equal to the letter are not shown."""
    short = (
        "import torch\n\n\ndef softmax(x, dim=-1):\n    exps = torch.exp(x - torch.max(x, dim, keepdim=True).values)\n"
    )
    short += "    denom = exps.sum(dim, keepdim=True)\n    return exps / denom\n"
    members = [lesson_item(name, "softmax", short, RIGHT) for name in ("ada", "ben")]

    assert find_similar(course(), [*members, *map(item, CORPUS["softmax"][:others])]) == []


@pytest.mark.slow
def test_what_the_exercise_and_the_reference_say_is_no_clue() -> None:
    """Stubs, references, and answers that are a lesson's reference are alike and are not shown."""
    for lesson in course().lessons.values():
        for path in (lesson.exercise_path, lesson.solution_path):
            source = path.read_text(encoding="utf-8")
            members = [lesson_item(name, lesson.name, source, RIGHT) for name in ("ada", "ben", "cleo")]
            assert find_similar(course(), members) == [], path


def test_what_many_of_a_class_write_is_no_clue() -> None:
    """Twelve of forty with one long answer in words of their own have it from the lecture; four of forty have not."""
    paths = CORPUS["attention"]
    long = next(path for path in paths if path.stem == "right_online_softmax")
    rest = [item(path) for path in paths if path != long]
    texts = [made.rename_locals(said_and_source(long)[1], random.Random(number)) for number in range(12)]
    shared = [item(long, text, id=f"same-{number}") for number, text in enumerate(texts)]

    assert find_similar(course(), [*rest[:28], *shared]) == []
    few = between(find_similar(course(), [*rest[:36], *shared[:4]]))
    assert sum(all(name.startswith("same") for name in pair) for pair in few) == 6


def test_a_mistake_that_many_make_weighs_nothing() -> None:
    """The same short wrong answer in a third of the class is a misconception to teach, not a copy."""
    source = "import torch\n\ndef softmax(x, dim=-1):\n    tops = torch.exp(x)\n    return tops / tops.sum(dim, True)\n"
    many = [lesson_item(f"many-{number}", "softmax", source, wrong("nan", "sm-overflow")) for number in range(12)]

    assert find_similar(course(), [*many, *map(item, CORPUS["softmax"][:24])]) == []


def test_attempts_of_one_learner_are_no_pair() -> None:
    """What somebody handed in twice is theirs; beside somebody else the two attempts make one pair."""
    path = next(path for path in CORPUS["attention"] if path.stem == "right_online_softmax")
    mine = [item(path, id=f"ada@{attempt}", learner="ada") for attempt in (1, 2)]
    others = [item(path) for path in CORPUS["attention"][20:30]]

    assert find_similar(course(), [*mine, *others]) == []
    assert len(find_similar(course(), [*mine, item(path, id="ben"), *others])) == 1


def test_members_of_a_group_are_no_pair() -> None:
    """What a group handed in together is one work, under whichever name it is listed."""
    path = next(path for path in CORPUS["attention"] if path.stem == "right_online_softmax")
    group = [("ada", ["ben", "cy"]), ("ben", ["ada", "cy"]), ("cy", ["ada", "ben"])]
    mine = [(id, learner, {**record, "together": others}, prints)
            for name, others in group for id, learner, record, prints in [item(path, id=name)]]  # fmt: skip

    assert find_similar(course(), [*mine, *(item(path) for path in CORPUS["attention"][20:30])]) == []


# --- copies -----------------------------------------------------------------------------------------------------------


@cache
def words_of(lesson: str) -> frozenset[str]:
    """The names that an exercise speaks of, which a copier has to leave."""
    return frozenset(re.findall(r"\w+", course().lessons[lesson].exercise_path.read_text(encoding="utf-8")))


WAYS: dict[str, Callable[[str, random.Random, str], str]] = {
    "as it stands": lambda source, rng, lesson: source,
    "other local names": lambda source, rng, lesson: made.rename_locals(source, rng),
    "disguised": lambda source, rng, lesson: made.disguise(source, rng, words_of(lesson)),
}


@cache
def with_code_of_their_own(lesson: str) -> list[Path]:
    """The answers with nine lines or more that neither the course nor many in the corpus write."""
    answers = {}
    for path in CORPUS[lesson]:
        id, learner, record, prints = item(path)
        answers[path] = make_solution(id, learner, record["lessons"][lesson], prints[lesson], known())
    index = ClassIndex(list(answers.values()), known())
    own = {path: find_overlap(answer, answer, index) for path, answer in answers.items()}
    return [path for path, code in own.items() if code is not None and code.tokens >= 90]


@pytest.mark.parametrize("way, others, least", [
    ("as it stands", 30, 0.97), ("as it stands", 3, 0.97),
    ("other local names", 30, 0.8), ("other local names", 3, 0.8),
    ("disguised", 30, 0.75), ("disguised", 3, 0.6),
])  # fmt: skip
@repeat(usual=1, soak=8)
def test_a_copy_is_found(way: str, others: int, least: float, times: int) -> None:
    """Of answers that have eight lines or more of their own, so many are shown beside a copy of themselves, in a class
    of `others` more."""
    rng = random.Random(f"{way}/{others}")
    found = tried = 0
    for lesson, paths in CORPUS.items():
        long = with_code_of_their_own(lesson)
        for path in rng.sample(long, min(times, len(long))):
            copy = WAYS[way](said_and_source(path)[1], rng, lesson)
            rest = [item(other) for other in rng.sample([other for other in paths if other != path], others)]
            shown = find_similar(course(), [item(path), item(path, copy, id="copy"), *rest])
            found, tried = found + (frozenset((path.stem, "copy")) in between(shown)), tried + 1

    assert found >= least * tried, f"{found} of {tried}"


DETOUR = """\
import torch


def softmax(x, dim=-1):
    rows = x.movedim(dim, -1)
    flat = rows.reshape(-1, rows.shape[-1])
    answers = []
    for row in flat:
        top = row[0]
        for entry in row[1:]:
            if entry > top:
                top = entry
        total = 0.0
        parts = []
        for entry in row:
            part = (entry - top).exp()
            parts.append(part)
            total = total + part
        answers.append(torch.stack([part / total for part in parts]))
    return torch.stack(answers).reshape(rows.shape).movedim(-1, dim)
"""


def test_a_rare_detour_is_found_under_other_names_even_in_a_class_of_three() -> None:
    """Two learners who share a detour of fifteen lines are shown, with where it stands in each."""
    copy = "# my own work\n\n" + made.disguise(DETOUR, random.Random(5), {"softmax"})
    members = [lesson_item("ada", "softmax", DETOUR, RIGHT), lesson_item("ben", "softmax", copy, RIGHT)]
    (pair,) = find_similar(course(), [*members, item(CORPUS["softmax"][3])])

    assert (pair["first"], pair["second"], pair["lesson"]) == ("ada", "ben", "softmax")
    assert pair["share"] > 0.9
    assert not pair["same_mistake"]
    assert 4 <= pair["first_lines"][0] <= 6
    assert pair["first_lines"][1] >= 19
    assert pair["second_lines"][1] == len(copy.splitlines())
    assert re.match(r"the same 1\d lines beyond what the course and most of the class write", pair["note"])


ODD = """\
import torch


def softmax(x, dim=-1):
    zaehler = torch.exp(x / x.norm(dim=dim, keepdim=True))
    nennerchen = zaehler.cumsum(dim).flip(dim)
    return zaehler / nennerchen
"""


def test_the_same_odd_wrong_answer_in_the_same_odd_names_is_found_though_short() -> None:
    """Three lines are enough if they are wrong in an unusual way, in unusual names; right ones are not."""
    rest = [item(path) for path in CORPUS["softmax"][:20]]

    def shown(result: dict[str, Any]) -> list[dict[str, Any]]:
        return find_similar(course(), [*(lesson_item(name, "softmax", ODD, result) for name in ("ada", "ben")), *rest])

    (pair,) = shown(wrong("15 of 15 values differ. First at [0, 0]: got 0.1234\nada/softmax.py:5"))
    assert pair["same_mistake"]
    assert pair["first_lines"] == pair["second_lines"] == [4, 6]
    assert "the same unusual wrong answer; the same uncommon names (nennerchen, zaehler)" in pair["note"]
    assert shown(RIGHT) == []


def test_the_same_wrong_answer_makes_weak_evidence_strong() -> None:
    """Renamed code that would not be shown were it right is shown when both return the same unusual values."""
    renamed = made.rename_locals(ODD, random.Random(1))
    rest = [item(path) for path in CORPUS["softmax"][:30]]

    def count(mine: str, theirs: str) -> int:
        first = lesson_item("ada", "softmax", ODD, wrong(mine))
        second = lesson_item("ben", "softmax", renamed, wrong(theirs))
        return len(find_similar(course(), [first, second, *rest]))

    assert (count("got 0.25", "got 0.25"), count("got 0.25", "got 0.75")) == (1, 0)


def test_equal_comments_count() -> None:
    """A comment of several words that only two have is evidence; the same comment in half the class is not."""
    source = said_and_source(next(path for path in CORPUS["softmax"] if path.stem == "right_functional"))[1]
    others = [said_and_source(path)[1] for path in CORPUS["softmax"][:30]]
    comment = "# we do not want tiny denominators here\n"

    def notes(commented: int) -> list[str]:
        sources = [text + comment * (place < commented) for place, text in enumerate(others)]
        sources += [source + comment, made.rename_locals(source, random.Random(2)) + comment]
        members = [lesson_item(str(place), "softmax", text, RIGHT) for place, text in enumerate(sources)]
        return [pair["note"] for pair in find_similar(course(), members) if "1 equal comment" in pair["note"]]

    assert (len(notes(0)), notes(15)) == (1, [])


def test_a_ring_of_copies_is_found_in_a_large_class() -> None:
    """Thirty of three hundred with one text, renamed: each of them is in a pair."""
    rng = random.Random(3)
    path = next(path for path in CORPUS["block"] if path.stem == "right_cs336")
    ring = [item(path, made.rename_locals(said_and_source(path)[1], rng), id=f"ring-{number}") for number in range(30)]
    others = [item(other) for other in CORPUS["block"] if other != path]
    others += [lesson_item(f"own-{number}", "block", f"def own_{number}(): pass\n", RIGHT) for number in range(205)]
    shown = between(find_similar(course(), [*others, *ring]))

    assert {f"ring-{number}" for number in range(30)} <= set().union(*shown)


@pytest.mark.parametrize("ring, others", [(5, 6), (5, 25), (5, 26), (12, 28), (11, 0)])
def test_one_long_text_is_found_however_many_have_it(ring: int, others: int) -> None:
    """Word for word it is no idiom, whatever share of the class hands it in: all who do are one group."""
    paths = CORPUS["attention"]
    long = next(path for path in paths if path.stem == "right_online_softmax")
    members = [item(long, id=f"ring-{number}") for number in range(ring)]
    members += [item(path) for path in paths if path != long][:others]
    found = between(find_similar(course(), members))
    groups = Groups()
    for pair in found:
        groups.join(*pair)

    assert len({groups.find(id) for id, *_ in members[:ring]}) == 1
    assert all(id.startswith("ring-") for pair in found for id in pair)


def test_a_ring_hides_no_other_pair() -> None:
    """Twelve with one text in two lessons have 132 pairs, all of them stronger than that of two who share a part."""
    texts = {lesson: random_code(100, seed) for seed, lesson in enumerate(LESSONS[:2])}
    ring = [(f"ring-{one}", {lesson: printed(lesson, text) for lesson, text in texts.items()}) for one in range(12)]
    parts = [random_code(30, seed) for seed in (2, 3, 4)]
    copies = [
        (f"copy-{one}", {LESSONS[0]: printed(LESSONS[0], parts[0] + part)})
        for one, part in zip("ab", parts[1:], strict=True)
    ]
    own = [
        (f"own-{one}", {lesson: printed(lesson, f"def own_{one}(): pass\n") for lesson in texts}) for one in range(80)
    ]
    shown = find_similar(course(), [(id, id, {"lessons": {}}, prints) for id, prints in (*ring, *copies, *own)])

    assert frozenset(("copy-a", "copy-b")) in between(shown) and len(shown) == MAX_PAIRS
    for lesson in texts:
        of_lesson = [pair for pair in shown if pair["lesson"] == lesson]
        assert {id for id, _ in ring} <= set().union(*between(of_lesson))


def test_a_ring_with_an_attempt_for_each_of_its_pairs_hides_no_other_pair() -> None:
    """Fifteen of whom any two share a text that no third has are one group, though no two pairs share an attempt."""
    lesson = LESSONS[0]
    ring = [
        (f"{who} of {number}", who, random_code(100, number))
        for number, pair in enumerate(itertools.combinations(map(str, range(15)), 2))
        for who in pair
    ]
    parts = [random_code(30, seed) for seed in (1000, 1001, 1002)]
    copies = [(who, who, parts[0] + part) for who, part in zip("ab", parts[1:], strict=True)]
    own = [(who, who, f"def {who}(): pass\n") for who in (f"own_{one}" for one in range(80))]
    items = [(id, who, {"lessons": {}}, {lesson: printed(lesson, text)}) for id, who, text in (*ring, *copies, *own)]

    assert frozenset("ab") in between(find_similar(course(), items))


def test_two_with_many_attempts_hide_no_other_pair() -> None:
    """Each of forty attempts of one is like each of another's: of two learners a few pairs are compared."""
    lesson = LESSONS[0]
    base = random_code(100, 0)
    both = [(f"{who}@{n}", who, base + random_code(6, 100 + n)) for n in range(40) for who in ("eve", "evan")]
    parts = [random_code(30, seed) for seed in (1, 2, 3)]
    copies = [(who, who, parts[0] + part) for who, part in zip("ab", parts[1:], strict=True)]
    own = [(who, who, f"def {who}(): pass\n") for who in (f"own_{one}" for one in range(80))]
    items = [(id, who, {"lessons": {}}, {lesson: printed(lesson, text)}) for id, who, text in (*both, *copies, *own)]
    compared = list(compare_lessons(course(), items))

    assert compared[0].pairs.keys() == {("a", "b"), ("evan", "eve")} and compared[0].complete


def decoys_and_a_copy(attempts: int, shared: int, own: int, more: int) -> list[Item]:
    """Two who copied 30 lines, beside *more* of their own, and share less of their other *attempts* than it takes."""
    lesson = LESSONS[0]
    both = [
        (f"{who}@{n}", who, random_code(shared, 7) + random_code(own, 1000 + 2 * n + place))
        for n in range(1, attempts)
        for place, who in enumerate(("eve", "evan"))
    ]
    both += [
        (f"{who}@0", who, random_code(30, 1) + random_code(more, place)) for place, who in ((5, "eve"), (6, "evan"))
    ]
    alone = [(who, who, f"def {who}(): pass\n") for who in (f"own_{one}" for one in range(80))]
    return [(id, who, {"lessons": {}}, {lesson: printed(lesson, text)}) for id, who, text in (*both, *alone)]


def test_twins_are_found_among_those_who_changed_a_line() -> None:
    """Who hands in one file word for word is shown, though more than what makes an idiom have nearly the same."""
    code = random_code(30)
    ring = [("ann", code), ("ben", code), *((f"more_{n}", code + random_code(3, n)) for n in range(10, 15))]
    own = [(f"own_{n}", random_code(20, 100 + n)) for n in range(8)]
    lesson = LESSONS[0]
    shown = find_similar(
        course(), [(id, id, {"lessons": {}}, {lesson: printed(lesson, text)}) for id, text in ring + own]
    )

    assert between(shown) == {frozenset(("ann", "ben"))}
    assert "word for word" in shown[0]["note"]


@pytest.mark.parametrize(
    ("attempts", "shared", "own", "more"), [(3, 100, 480, 0), (6, 150, 360, 37)], ids=["a sixth", "nearly enough"]
)
def test_a_copy_is_found_behind_attempts_that_share_more_but_too_small_a_part(
    attempts: int, shared: int, own: int, more: int
) -> None:
    """The other attempts of two learners, long files with much that is the same, are no evidence, and hide none."""
    (compared,) = compare_lessons(course(), decoys_and_a_copy(attempts, shared, own, more))

    (pair,) = [pair for _, pair in compared.pairs.values()]
    assert {pair["first"], pair["second"]} == {"eve@0", "evan@0"} and compared.complete


def test_where_not_all_pairs_of_two_learners_that_may_be_alike_are_compared_it_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who hides a copy behind a hundred pairs that nearly are evidence is not found, but it is known."""
    monkeypatch.setattr(pairs, "MAX_FURTHER", 5)
    (compared,) = compare_lessons(course(), decoys_and_a_copy(6, 150, 360, 37))

    assert not compared.pairs and not compared.complete


def test_where_too_many_are_alike_to_compare_all_it_is_told() -> None:
    """Five rings of twelve have 330 pairs; who shares less beside them is found all the same."""
    lesson = LESSONS[0]
    ring = [(f"ring-{n}", random_code(100, 10 + n % 5) + random_code(6, 100 + n)) for n in range(60)]
    parts = [random_code(30, seed) for seed in (1, 2, 3)]
    copies = [(who, parts[0] + part) for who, part in zip("ab", parts[1:], strict=True)]
    own = [(f"own_{n}", f"def own_{n}(): pass\n") for n in range(300)]
    items = [(id, id, {"lessons": {}}, {lesson: printed(lesson, text)}) for id, text in (*ring, *copies, *own)]
    compared = list(compare_lessons(course(), items))

    assert ("a", "b") in compared[0].pairs and not compared[0].complete


# --- fingerprints -----------------------------------------------------------------------------------------------------


@given(st.text() | st.text("([{'\"\\\n\t #;:=.x1e"))
def test_any_text_has_a_fingerprint(text: str) -> None:
    """Whatever was handed in, reading it raises nothing, and what comes out is plain data."""
    made_of_it = fingerprint(course().lessons["softmax"], text)

    assert json.loads(json.dumps(made_of_it)) == made_of_it


@pytest.mark.parametrize("disguise", [
    lambda text: text.replace("torch.exp", "torch.𝐞𝐱𝐩").replace("shape", "ｓｈａｐｅ"),
    lambda text: re.sub(r"^( +)(\w+) = (.+)$", r'\1f"{(\2 := \3)}"', text, flags=re.M),
    lambda text: re.sub(r"^( +)(\w+) = (.+)$", r"\1(\2 := \3)", text, flags=re.M),
], ids=["letters", "f-strings", "walrus"])  # fmt: skip
def test_another_spelling_of_the_same_code_has_its_prints(disguise: Callable[[str], str]) -> None:
    """Python reads letters of mathematics as plain ones, and runs what stands in the braces of an f-string."""
    source = "def softmax(x):\n    top = x.max()\n    part = torch.exp(x - top)\n    return part / part.sum(x.shape)\n"

    assert disguise(source) != source
    for part in ("prints", "text", "names"):
        assert printed("softmax", disguise(source))[part] == printed("softmax", source)[part]


IDLE = {
    "brackets": r"\1((\2 := \3))",
    "annotation": r"\1\2: 't' = \3",
    "annotation of several lines": r"\1(\2): (t(\n# =\n)) = \3",
    "pass": r"\1\2 = \3; pass; 1",
    "texts": r"\1\2 = \3; ('a' 'b')",
    "if": r"\1if 1: \2 = \3",
    "not": r"\1if not 0:\n\1    \2 = \3",
    "lambda": r"\1\2 = (lambda: \3)()",
    "first of one": r"\1\2 = ((\3),)[0]",
    "list of one": r"\1[\2] = [\3]",
    "one of a tuple": r"\1\2, = \3,",
    "first of one in hexadecimal": r"\1\2 = [\3][0x0]",
    "brackets of a value": r"\1\2 = ((\3))",
    "try": r"\1try: \2 = \3\n\1finally: pass",
    "try of several lines": r"\1try:\n\1    \2 = \3\n\1except (E):\n\1    raise",
    "else": r"\1if True: \2 = \3\n\1else: \2 = x",
}


@pytest.mark.parametrize("to", IDLE.values(), ids=IDLE)
def test_what_does_nothing_leaves_no_print(to: str) -> None:
    """Beside each assignment it would hide a copy."""
    source = "def softmax(x):\n    top = x.max()\n    part = torch.exp(x - top)\n    return part / part.sum(x.shape)\n"
    padded = re.sub(r"^( +)(\w+) = (.+)$", to, source, flags=re.M)

    assert padded != source and hashes_of("softmax", padded) == hashes_of("softmax", source)
    for part in ("text", "names"):
        assert printed("softmax", padded)[part] == printed("softmax", source)[part]


@pytest.mark.parametrize("more, fewer", [
    ("return (a, b)", "return a, b"), ("f(a, [b,],)", "f(a, [b])"),
    ("x = ((a) * (b)) + (c.d)(f((e),),)", "x = a * b + c.d(f(e))"),
    ("x = (\n  (a)\n  + b[(0, 1)]\n)", "x = a + b[0, 1]"), ("for (i, j) in (c): (d)", "for i, j in c: d"),
    ("with (open(a)) as b, (c): assert (b), (d)", "with open(a) as b, c: assert b, d"),
    ("if (a) and ((b) < (c)): return (yield)", "if a and b < c: return (yield)"),
    ("@(a)\ndef f(b: (int) = (1)) -> (int): return (lambda: (b))()",
     "@a\ndef f(b: int = 1) -> int: return (lambda: b)()"),
    ("é = (f'{(a)}', (b,))", "é = f'{a}', (b,)"),
])  # fmt: skip
def test_brackets_that_the_tree_does_not_need_leave_no_print(more: str, fewer: str) -> None:
    """Python's own writing has none; those that it needs are evidence, and each token keeps its line."""
    assert read_tokens(more).words == read_tokens(fewer).words
    assert read_tokens("x = (a + b) * c").words != read_tokens("x = a + b * c").words
    assert "(" in read_tokens("x = " + "(a) + " * 9_000 + "b").words  # too deep to be written anew
    assert read_tokens("x = (\n(a) +\n (b) * (c + (d))\n)").lines == [1, 1, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3]


@pytest.mark.parametrize("source", [
    "x: [row.amax() for row in rows] = 0\n",
    "class A:\n    x: row.amax() = 0\n",
    "if 0:\n    1\nelse:\n    row.amax()\n",
    "if 1:\n    @row.amax\n    def f():\n        pass\n",
    "if (lambda row: row.amax()):\n    y = 1\n",
    "def f(ä):\n    ü: 't' = ä; row.amax(); ä: 't' = ü\n",
])  # fmt: skip
def test_what_runs_leaves_its_print(source: str) -> None:
    """A copy hides in no annotation that is evaluated, nor behind a test that is not met."""
    assert " ".join(read_tokens(source).words).count("row . amax") == 1


def test_an_f_string_is_read_alike_by_every_python() -> None:
    """It is one token, and many from Python 3.12 on; what is in its braces comes behind the statement."""
    text = 'print(f\'is {a!r:>{width}} {{no}} {f"{b}"}\', x)\ny = f"""\n{c[0]}"""\n'
    expected = 'print ( "" , x ) ; a ; width ; b ; y = "" ; c [ 0 ] ;'

    assert read_tokens(text).words == expected.split()


@pytest.mark.parametrize("source, unread", [
    ("a = 0\n" * 17_000, ["what follows its first 65,536 words and signs"]),
    ("exec('a = 1')\nrun = eval\n", ["what `eval` runs", "what `exec` runs"]),
    ("f'{a}'\n" * 5_000, ["what is in the braces of some f-strings"]),
    (f"f'{'{a}' * 5_000}'\n", ["what is in the braces of some f-strings"]),
    ("a = (1 +\nb = 2\n", ["what stands behind something that is no Python"]),
    ("model.eval()\ndef eval(x):\n    return f'{x}'\n", []),
])  # fmt: skip
def test_what_is_not_read_is_named(source: str, unread: list[str]) -> None:
    """A copy may stand there; a model that is put into its mode for answers runs no text."""
    assert printed("causal_mask", source)["unread"] == unread


@pytest.mark.parametrize("line", ["S = '" + "\\'" * 32_000, "x = 1" + " " * 65_000 + "$"], ids=["quotes", "blanks"])
def test_a_long_line_that_is_no_python_is_read_once(line: str) -> None:
    """Where Python's tokenizer goes on sign by sign, each time to the end of the line, the reading ends."""
    started = time.process_time()
    fingerprint(course().lessons["softmax"], f"import torch\n{line}\n")

    assert time.process_time() - started < 2.0  # 0.03 s; from each sign it took 19 s


def test_a_long_line_is_measured_once() -> None:
    """The tree counts bytes, also where there are thousands of expressions on a line that is not ASCII."""
    started = time.process_time()
    words = read_tokens(f"s = '{'é' * 50_000}'; {'x = (é); ' * 2_000}").words

    assert words[4:] == ["x", "=", "é", ";"] * 2_000
    assert time.process_time() - started < 2.0  # 0.3 s; for each expression it took 4 s


@pytest.mark.parametrize("lesson", LESSONS)
def test_names_layout_comments_and_imports_leave_no_print(lesson: str) -> None:
    """Every answer of the corpus has the same prints under other names, with comments and blank lines in it."""
    for path in CORPUS[lesson]:
        source = said_and_source(path)[1]
        plain, renamed = ast.unparse(ast.parse(source)), made.rename_locals(source, random.Random(1))
        ends = {token.end[0] for token in tokens(renamed) if token.type == tokenize.NEWLINE}
        lines = [f"{line}  # why is this here\n\n" if number in ends else line
                 for number, line in enumerate(renamed.splitlines(), 1)]  # fmt: skip
        dressed = "import os, sys\n" + "\n".join(lines)

        assert hashes_of(lesson, plain) == hashes_of(lesson, dressed), path


def tokens(source: str) -> list[tokenize.TokenInfo]:
    """Python's own tokens."""
    return list(tokenize.generate_tokens(io.StringIO(source).readline))


def hashes_of(lesson: str, source: str) -> list[int]:
    """The hashes of a source's prints, in their order."""
    found: list[int] = unpack_prints(printed(lesson, source)["prints"])["hash"].tolist()
    return found


def test_two_names_mixed_up_is_another_print() -> None:
    """Which name stands where matters, though not what it is called."""
    source = "def f(q, k, v):\n    s = q @ k.mT\n    w = s / s.mean()\n    return w @ v + s @ v - w\n"
    other_names = re.sub(r"\bs\b", "scores", source)
    mixed_up = source.replace("s @ v - w", "w @ v - s")

    assert hashes_of("attention", source) == hashes_of("attention", other_names) != hashes_of("attention", mixed_up)


@given(st.integers(0, 2**32))
def test_what_two_files_share_in_a_row_has_a_print_in_common(seed: int) -> None:
    """The guarantee of winnowing: a run of WINDOW + RUN_LENGTH - 1 tokens is never missed, wherever it stands."""
    rng = random.Random(seed)
    signs = ["+", "-", "*", "1", "2", "3", "(", ")", "==", "if", "else", "and", ".", ","]
    shared = rng.choices(signs, k=WINDOW + RUN_LENGTH - 1)
    mine, theirs = (
        [*rng.choices(signs, k=rng.randrange(40)), *shared, *rng.choices(signs, k=rng.randrange(40))] for _ in range(2)
    )
    found = [{int(print[0]) for print in winnow(TokenList(words, [False] * len(words), [1] * len(words)))}
             for words in (mine, theirs)]  # fmt: skip

    assert found[0] & found[1]


def test_prints_are_the_same_in_every_process() -> None:
    """What grading processes made, here or on other machines, can be compared: no print depends on a seeded hash."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from types import SimpleNamespace\nfrom grader.similarity import fingerprint\n"
        "print(fingerprint(SimpleNamespace(kinds={}), 'def f(a, b):\\n    return [a, b, a + b, a - b, a * b]\\n'))"
    )
    said = {
        subprocess.run([sys.executable, "-c", code, str(ROOT)], env={"PYTHONHASHSEED": seed}, capture_output=True,
                       text=True, check=True, timeout=60).stdout
        for seed in ("1", "2")
    }  # fmt: skip

    assert len(said) == 1


@pytest.mark.parametrize(
    "source",
    ["-" * 65_000 + "1\n", "\n".join(f"({'𐐨' * 2900}{number})" for number in range(80))],
    ids=["a run of equal tokens", "long names"],
)
def test_little_is_kept_of_a_file_whatever_is_in_it(source: str) -> None:
    """A run that is repeated, and a name of thousands of letters, take a few kilobytes as JSON."""
    assert len(json.dumps(fingerprint(course().lessons["softmax"], source))) <= 80_000


def test_two_long_files_of_a_token_a_line_are_compared_in_a_second() -> None:
    """Whoever hands in the same odd file under two names cannot keep the end of a run waiting: no line is copied."""
    rng = random.Random(4)
    tokens = [rng.choice(signs) for _ in range(15_900) for signs in ("abcdefgh", "+-*/%@<>")]
    prints = {LESSONS[0]: printed(LESSONS[0], "y = (\n" + "\n".join(tokens) + "\n1)\n")}
    started = time.process_time()
    shown = find_similar(course(), [(who, who, {}, prints) for who in ("ann", "ben")])

    assert len(shown) == 1
    assert time.process_time() - started < 3.0  # 0.4 s; the square of the lines took 7.6


def random_code(lines: int, seed: int = 4) -> str:
    """Short expressions of which hardly two are alike: as many prints as a file can have."""
    rng = random.Random(seed)
    return "".join(f"{rng.choice('abcde')}{rng.choice('+-*/%@')}{rng.randint(0, 99)}\n" for _ in range(lines))


def test_random_code_before_a_copy_does_not_hide_it() -> None:
    """Whoever fills a file up to what is read of it is shown beside whom they copied."""
    path, *others = CORPUS["attention"]
    copy = random_code(15_000) + said_and_source(path)[1]
    shown = find_similar(course(), [item(path), item(path, copy, id="copy"), *map(item, others[20:40])])

    assert frozenset((path.stem, "copy")) in between(shown)


def test_a_ring_of_large_files_is_compared_in_seconds() -> None:
    """What depends on one file of random code alone is computed once; a pair of them takes a few hundredths."""
    prints = {lesson: printed(lesson, random_code(16_000)) for lesson in LESSONS[:3]}
    started = time.process_time()
    shown = find_similar(course(), [(who, who, {}, prints) for who in "abcd"])

    assert len(shown) == 3 * 6
    assert time.process_time() - started < 4.0  # 0.8 s; going over every print for each pair took 10


@pytest.mark.parametrize("ends", ["time", "memory"])
def test_a_lesson_whose_comparison_does_not_end_costs_no_other_lesson(
    monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    """Pairs of the other lessons are found, and of its own what was found until then; it is named as not complete."""
    seen: list[str] = []
    clock = [0.0]

    def slow(first: Solution, second: Solution, index: ClassIndex) -> Evidence | None:
        seen.append(first.id)
        if first.id.startswith("large") and len(seen) > 1:
            if ends == "memory":
                raise MemoryError
            clock[0] += 0.3
        return compare(first, second, index)

    monkeypatch.setattr("grader.similarity.pairs.compare", slow)
    monkeypatch.setattr("grader.similarity.pairs.time", SimpleNamespace(monotonic=lambda: clock[0]))
    large = [lesson_item(f"large{who}", LESSONS[0], random_code(1_000), RIGHT) for who in "abcd"]
    honest = [lesson_item(f"copy{who}", LESSONS[1], random_code(100), RIGHT) for who in "ab"]
    lessons = list(compare_lessons(course(), [*large, *honest], 0.5))

    assert [(one.lesson, one.complete) for one in lessons] == [(LESSONS[0], False), (LESSONS[1], True)]
    assert len(lessons[0].pairs) == (2 if ends == "time" else 1)
    assert frozenset(("copya", "copyb")) in between(strongest_pairs(lessons))


def test_when_the_time_is_over_no_lesson_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is looked up of a whole lesson takes long, too, where there are thousands of lessons."""
    monkeypatch.setattr(pairs, "ClassIndex", lambda *_: pytest.fail("a lesson is begun"))
    items = [lesson_item(f"{lesson} {who}", lesson, random_code(100), RIGHT) for lesson in LESSONS[:3] for who in "ab"]
    assert [(one.complete, one.pairs) for one in compare_lessons(course(), items, -1.0)] == [(False, {})] * 3


# --- a large class ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_large_class_is_compared_in_seconds() -> None:
    """2,000 learners with seven lessons, each answer shared by dozens: at most MAX_PAIRS pairs, the strongest."""
    rng = random.Random(4)
    pool = {lesson: [(result_of(path), printed(lesson, said_and_source(path)[1])) for path in CORPUS[lesson]]
            for lesson in LESSONS}  # fmt: skip
    members: list[Item] = []
    for number in range(2000):
        chosen = {lesson: rng.choice(answers) for lesson, answers in pool.items()}
        record = {"lessons": {lesson: result for lesson, (result, _) in chosen.items()}}
        members.append((str(number), str(number), record, {lesson: prints for lesson, (_, prints) in chosen.items()}))
    started = time.process_time()
    shown = find_similar(course(), iter(members))

    assert len(shown) == MAX_PAIRS
    assert time.process_time() - started < 20  # 1 s on an idle machine
    assert all(pair["share"] == 1.0 for pair in shown)


@pytest.mark.parametrize("members", [[], [("ada", "ada", {"lessons": {}}, {})]])
def test_a_class_with_nothing_to_compare_has_no_pairs(members: list[Item]) -> None:
    """No hand-in, or one without a lesson in it, is no error."""
    assert find_similar(course(), members) == []


def test_empty_files_are_no_pair() -> None:
    """Files with nothing in them, or next to nothing, are compared without a fault."""
    sources = ["", "\n", "x = 1\n", "# only a comment of several words\n"] * 2
    members = [lesson_item(str(number), "softmax", source, RIGHT) for number, source in enumerate(sources)]

    assert find_similar(course(), members) == []


@pytest.mark.parametrize(
    "before",
    [
        "\u2118 = 0\n",
        "a\u00b7 = 0\n",
        "\ufffd\ufffd = 0\n",  # as a name in Latin-1 is read
        "# nothing to see here\n" * 8_000,
        "x = [" + "1, " * 40_000 + "]\n",
        '"""' + "not here either\n" * 8_000 + '"""\n',
    ],
    ids=["a sign", "a sign in a name", "another encoding", "comments", "a long list", "a long text"],
)
def test_nothing_before_a_copy_keeps_it_from_being_read(before: str):
    """What stands above a copy hides none of it, whatever it is."""
    lesson, source = course().lessons["softmax"], said_and_source(CORPUS["softmax"][0])[1]
    prints = [unpack_prints(fingerprint(lesson, each)["prints"])["hash"].tolist() for each in (source, before + source)]

    assert len(set(prints[0]) & set(prints[1])) > 0.8 * len(set(prints[0])) > 0
