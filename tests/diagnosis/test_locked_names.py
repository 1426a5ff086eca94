"""judge.mistakes.locked_names: a name can be read by whoever gives the answers that locked it, and by nobody else."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.errors import CourseError
from grader.judge.mistakes.locked_names import BORDER, GRID, LockedNames, Sketch, read_locked_names, sketch
from grader.judge.values.compare import Raised
from grader.model import Named

NAMED = Named("sm-sum", "softmax", "You do not divide by the sum.", "Divide.")
SECRET = bytes(range(16))
VALUES = st.lists(st.floats(-100, 100).filter(lambda value: abs(value) > 1e-3), min_size=1, max_size=60)


def locked(*observations: object) -> LockedNames:
    """The name locked with what is answered to some probes, "0", "1" ..."""
    names = LockedNames("salt")
    names.add_text(NAMED, SECRET)
    names.add("softmax", 7, {str(number): sketch(one) for number, one in enumerate(observations)}, 0, SECRET)
    return names


@settings(deadline=None)
@given(VALUES, st.randoms(use_true_random=False))
def test_a_name_is_found_in_spite_of_rounding_errors(values, random):
    """What another machine rounds otherwise opens the lock as well."""
    answer = np.array(values, "float32")
    near = (answer * np.array([1 + random.uniform(-3e-7, 3e-7) for _ in values])).astype("float32")

    assert locked(answer).find("softmax", 7, lambda _: near) == [NAMED]


@settings(deadline=None)
@given(VALUES, st.floats(1.01, 3))
def test_other_values_find_nothing(values, factor):
    """A hundredth more opens no lock, nor does another function or seed, form or only one right answer of two."""
    answer = np.array(values)
    names = locked(answer, 3)
    right = {"0": answer, "1": 3}

    assert names.find("softmax", 7, right.get) == [NAMED]
    for other in (answer * factor, answer.astype("float32"), answer[None], answer.tolist(), Raised("raised", "E")):
        assert names.find("softmax", 7, {**right, "0": other}.get) == []
    assert names.find("softmax", 7, {**right, "1": 4}.get) == []
    assert names.find("softmax", 8, right.get) == names.find("other", 7, right.get) == []


@pytest.mark.parametrize(("one", "other"), [
    ([math.nan, 1.0], [1.0, math.nan]), ([math.inf, 1.0], [-math.inf, 1.0]), ([0.0, 0.0], [0.0, 1e-3]),
    ([1.0, 2.0], [2.0, 1.0]), ([1, 2], [2, 1]), ([True, False], [False, True]),
])  # fmt: skip
def test_observations_that_differ_are_far_apart(one, other):
    """Where values are not finite, zero or in another order, and integers and truth values in any place."""
    first, second = (sketch({"value": np.array(each)}) for each in (one, other))

    assert first.is_far_from(second) and not first.is_far_from(first)


def test_a_number_at_a_border_belongs_to_both_sides():
    """Numbers at the borders of cells are hashed as on either side; others have one hash."""
    near, far = Sketch("x", (5 + BORDER / 2, 8.5, 9 - BORDER / 2)), Sketch("x", (5.5, 8.5))

    assert len(list(near.hashes("s"))) == 4 and len(list(far.hashes("s"))) == 1
    assert GRID < 1e-3


def test_nothing_of_the_name_can_be_read_in_the_file(tmp_path):
    """Neither id nor sentences nor key stand in the file, and it is read as it was written."""
    names = locked(1.5, None, "text")
    names.write(tmp_path / "l.names")
    text = (tmp_path / "l.names").read_text()

    assert not [part for part in ("sm-sum", "divide", "Divide", SECRET.hex()) if part in text]
    assert read_locked_names(tmp_path / "l.names") == names
    assert read_locked_names(tmp_path / "none.names").find("softmax", 7, lambda _: 0) == []


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"salt": 1, "more": 2}', "\udcff"])
def test_a_damaged_file_is_said(tmp_path, text):
    """The error names the file and who has another."""
    (tmp_path / "l.names").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(CourseError, match="damaged") as caught:
        read_locked_names(tmp_path / "l.names")
    assert "instructor" in caught.value.next_step
