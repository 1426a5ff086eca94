"""Whose weights a capstone's file is judged with, where a person handed in several times."""

from __future__ import annotations

import pytest
from support.factories import course

from grader.intake.hand_in import read_hand_in
from grader.intake.learner import Entry, Learner
from grader.intake.match_lessons import Match, find_artefact, match_attempts

EARLIER = ("attempt 2/", "attempt 1/")


@pytest.mark.parametrize(
    ("files", "match", "expected"),
    [
        (
            ("tiny.safetensors", "attempt 2/{}.safetensors", "x/{}.safetensors"),
            Match("{}.py"),
            ("x/{}.safetensors", ""),
        ),
        (
            ("attempt 1/{}.safetensors", "attempt 2/deep/er/{}.safetensors"),
            Match("{}.py"),
            ("attempt 2/deep/er/{}.safetensors", "attempt 2/"),
        ),
        (
            ("{}.safetensors", "attempt 1/{}.safetensors"),
            Match("attempt 2/{}.py", "", "attempt 2/"),
            ("attempt 1/{}.safetensors", "attempt 1/"),
        ),
        (("{}.safetensors", "attempt 2/{}.safetensors"), Match("attempt 1/{}.py", "", "attempt 1/"), ("", "")),
    ],
)
def test_weights_are_of_the_same_attempt_or_of_the_newest_before_it(files, match, expected):
    """Never of a later one; the folder says which attempt it was."""
    lesson = next(one for one in course().lessons.values() if one.kind == "capstone")
    named = match._replace(path=match.path.format(lesson.name))
    found = find_artefact(lesson, named, {one.format(lesson.name): b"" for one in files}, EARLIER)
    assert found == tuple(one.format(lesson.name) for one in expected)


@pytest.mark.parametrize(
    ("files", "best", "expected"),
    [
        (("attempt 1/{}.py", "attempt 1/{}.safetensors", "{}.safetensors"), False, [("attempt 1/", "")]),
        (
            ("attempt 1/{}.py", "attempt 1/{}.safetensors", "{}.safetensors"),
            True,
            [("attempt 1/", ""), ("attempt 1/", "attempt 1/")],
        ),
        (("attempt 1/{}.py", "attempt 2/{} (1).safetensors"), False, [("attempt 1/", "attempt 2/")]),
        (("attempt 1/{}.py", "attempt 2/other.safetensors"), False, [("attempt 1/", "attempt 1/")]),
        (("attempt 1/{}.py", "attempt 2/{}.py", "{}.safetensors"), False, [("attempt 2/", "")]),
        (("attempt 1/{}.py", "attempt 2/{}.safetensors", "{}.py"), False, [("", "")]),
    ],
)
def test_newer_weights_alone_go_with_the_newest_file_before_them(files, best, expected):
    """Whoever trains on and hands in the weights is judged with them; where the best counts, with the old ones, too."""
    lesson = next(one for one in course().lessons.values() if one.kind == "capstone")
    paths = [one.format(lesson.name) for one in files]
    sources = {path: "x = 1\n" for path in paths if path.endswith(".py")}
    found = match_attempts(course(), [lesson], sources, EARLIER, best=best, weights=dict.fromkeys(paths, b""))[
        lesson.name
    ]

    assert [(one.folder, one.newest) for one in found] == expected


@pytest.mark.parametrize(
    ("there", "taken"),
    [
        (["{} (1).safetensors"], "{} (1).safetensors"),
        (["{} (1).safetensors", "{}.safetensors"], "{}.safetensors"),
        (["{} (1).safetensors", "{} (22).safetensors"], ""),
        (["weights.safetensors"], ""),
        *[
            ([name], name)
            for name in (
                "{} - Copy.safetensors",
                "{} - Kopie (2).safetensors",
                "{} copy.safetensors",
                "Kopie von {}.safetensors",
                "{} (copia).safetensors",
            )
        ],
    ],
)
def test_weights_that_are_called_as_a_copy_are_taken_where_there_are_no_others(there, taken):
    """Browsers and Canvas add a number to a name that they know; which of two copies is meant nobody can tell."""
    lesson = next(one for one in course().lessons.values() if one.kind == "capstone")
    files = {one.format(lesson.name): bytes(len(one)) for one in there}

    assert find_artefact(lesson, Match(f"{lesson.name}.py"), files, ())[0] == taken.format(lesson.name)


def test_copies_that_are_equal_are_no_question():
    """A browser numbers what it downloads again: any of such files is the one that is meant."""
    lesson = next(one for one in course().lessons.values() if one.kind == "capstone")
    equal = {f"{lesson.name} ({number}).safetensors": b"weights" for number in (1, 2)}
    own, other = Match(f"{lesson.name}.py"), f"{lesson.name} - Copy.safetensors"

    assert find_artefact(lesson, own, equal, ())[0] == f"{lesson.name} (1).safetensors"
    assert find_artefact(lesson, own, {**equal, other: b"others"}, ()) == ("", "")


def test_a_newest_attempt_of_weights_alone_is_no_problem_beside_a_source(tmp_path):
    """It is told that the file of the earlier one is judged; without one there is nothing to judge."""
    (tmp_path / "x.safetensors").write_bytes(b"new")
    (tmp_path / "x.py").write_text("x = 1\n")
    source, weights = (Entry(name, tmp_path / name, kind) for name, kind in (("x.py", "python"), ("x.safetensors", "")))
    earlier = Learner("ann", (source,), known=True, attempt=1)
    hand_in = read_hand_in(Learner("ann", (weights,), known=True, attempt=2, earlier=(earlier,), several="merge"))

    assert set(hand_in.files) == {"x.safetensors", "attempt 1/x.py"} and not hand_in.problem
    assert hand_in.notes == ["Attempt 1 was judged; the newest one holds weights alone."]
    earlier = Learner("ann", (weights,), known=True, attempt=1)
    hand_in = read_hand_in(Learner("ann", (weights,), known=True, attempt=2, earlier=(earlier,), several="merge"))
    assert "no Python file" in hand_in.problem
