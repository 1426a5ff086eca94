"""Where the passages are that two files share, and that no made-up fingerprint makes it costly to find them."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.similarity import read_fingerprints
from grader.similarity.class_index import ClassIndex
from grader.similarity.course_corpus import CourseCorpus
from grader.similarity.overlap import MAX_GAP_LINES, Overlap, find_overlap
from grader.similarity.solution import make_solution
from grader.similarity.tokens import TokenList
from grader.similarity.winnowing import PRINT, RUN_LENGTH, Prints, unpack_prints, winnow

NO_COURSE = CourseCorpus(np.empty(0, np.uint32), frozenset(), frozenset())
Places = list[tuple[int, int, int]]  # hash, first line, last line of each print


def packed(places: Places) -> dict[str, Any]:
    """What is kept of a file with these prints, one a token."""
    prints = np.array([(gram, at, line, last) for at, (gram, line, last) in enumerate(places)], PRINT)
    return {"prints": base64.b64encode(prints.tobytes()).decode(), "text": 1, "names": [], "remarks": []}


def compared(*files: Places) -> Overlap | None:
    """What two files share, of which nothing but the prints is known."""
    first, second = (
        make_solution(who, who, {}, packed(places), NO_COURSE) for who, places in zip("ab", files, strict=True)
    )
    return find_overlap(first, second, ClassIndex([first, second], NO_COURSE))


def counted_line_by_line(places: Places, shared: set[int]) -> tuple[tuple[int, int], set[int]]:
    """The first passage with most of the shared prints, and those prints, found by going over every line."""
    lines: dict[int, set[int]] = {}
    for gram, line, last in places:
        for number in range(line, last + 1) if gram in shared else ():
            lines.setdefault(number, set()).add(gram)
    best: tuple[int, tuple[int, int], set[int]] = (0, (0, 0), set())
    current: set[int] = set()
    start = before = -MAX_GAP_LINES
    for line, found in sorted(lines.items()):
        if not current or line > before + MAX_GAP_LINES + 1:
            start, current = line, set()
        before, current = line, current | found
        if len(current) > best[0]:
            best = (len(current), (start, line), current)
    return best[1:]


@st.composite
def files(draw: st.DrawFn) -> Places:
    """The prints of a file whose lines go up."""
    steps = draw(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 6), st.integers(0, 5)), min_size=1, max_size=25))
    places, line, last = [], 1, 1
    for gram, down, long in steps:
        line += down
        last = max(last, line + long)
        places.append((gram, line, last))
    return places


@given(files(), files())
def test_the_largest_passage_is_that_of_going_over_every_line(first: Places, second: Places) -> None:
    """Where prints begin and end says as much as all lines: which passage, of equal ones the first, and how long."""
    found = compared(first, second)
    passage, within = counted_line_by_line(first, {gram for gram, *_ in first} & {gram for gram, *_ in second})

    if found is None:
        assert not within
    else:
        assert (found.first, found.second) == (passage, counted_line_by_line(second, within)[0])


def test_prints_that_go_over_a_whole_file_cost_no_more_than_others() -> None:
    """How many lines a print says that it goes over costs nothing: going over each took minutes and gigabytes."""
    places = [(gram, 0, 65_535) for gram in range(6_000)]
    started = time.process_time()
    found = compared(places, places)

    assert found is not None and found.first == (0, 0)
    assert time.process_time() - started < 2.0  # 0.1 s


@pytest.mark.parametrize(
    "places",
    [
        [(1, 7, 6)],
        [(1, 5, 9), (2, 4, 9)],
        [(1, 5, 9), (2, 6, 8)],
        [(gram, 0, 65_535) for gram in range(RUN_LENGTH)],
    ],
    ids=["it ends before it begins", "lines go back", "ends go back", "too many over one stretch"],
)
def test_prints_that_no_file_has_are_refused(places: Places) -> None:
    """What winnowing makes of no file is damage in a store, and is not compared."""
    with pytest.raises(ValueError, match="no fingerprints of a file"):
        read_fingerprints(json.dumps({"softmax": packed(places)}))


def test_a_token_that_stands_twice_is_refused() -> None:
    """Each print has a token of its own, and they go up."""
    prints = np.array([(1, 3, 1, 1), (2, 3, 1, 1)], PRINT)
    text = base64.b64encode(prints.tobytes()).decode()
    with pytest.raises(ValueError, match="no fingerprints of a file"):
        read_fingerprints(json.dumps({"softmax": {"prints": text, "text": 1, "names": [], "remarks": []}}))


@given(st.lists(st.tuples(st.sampled_from("abcde+-*/"), st.integers(0, 3_000)), max_size=60))
def test_what_winnowing_makes_is_taken(tokens: list[tuple[str, int]]) -> None:
    """No file is refused, however its tokens are spread over lines, in whatever order a tokenizer tells them."""
    words, lines = [word for word, _ in tokens], [30 * line for _, line in tokens]
    prints: Prints = winnow(TokenList(words, [False] * len(words), lines))
    text = base64.b64encode(prints.tobytes()).decode()
    kept = read_fingerprints(json.dumps({"softmax": {"prints": text, "text": 1, "names": [], "remarks": []}}))

    assert unpack_prints(kept["softmax"]["prints"]).tolist() == prints.tolist()
