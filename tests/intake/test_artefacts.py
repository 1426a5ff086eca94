"""Whose weights a capstone's file is judged with, where a person handed in several times."""

from __future__ import annotations

import pytest
from support.factories import course

from grader.intake.match_lessons import Match, find_artefact

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
    found = find_artefact(lesson, named, [one.format(lesson.name) for one in files], EARLIER)
    assert found == tuple(one.format(lesson.name) for one in expected)
