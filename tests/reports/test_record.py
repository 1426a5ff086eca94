"""grader.record: a result as the store and the files hold it, read and written again."""

from __future__ import annotations

import json
from random import Random

import pytest
from support.class_results import hostile_class, made_before, made_record

from grader.files import MAX_NUMBERED_BYTES, file_name
from grader.record import Record
from grader.reports.redact_record import redact


def test_what_is_written_is_what_was_read():
    """The JSON of a record comes back as it was, whatever its texts hold."""
    _, records = hostile_class()
    for data in [made_record(Random(3), "ada", "Ada Kim"), *records]:
        same = data | {
            "account": "",
            "together": [],
            "submitted": None,
            "when": None,
            "times": {},
            "feedback": file_name(data["feedback"], MAX_NUMBERED_BYTES),
        }
        assert json.loads(json.dumps(Record.from_json(data).to_json())) == json.loads(json.dumps(same))


def test_records_of_earlier_versions_are_read():
    """A record without what later versions added is one of a first attempt, in time and alone."""
    data = made_record(Random(3), "ada", "Ada Kim")
    for key in ("learner", "attempt", "late", "feedback", "previous"):
        del data[key]
    for lesson in data["lessons"].values():
        for check in lesson["checks"]:
            del check["gist"]
    record = Record.from_json(data | {"unknown": 1})

    assert (record.learner, record.attempt, record.late, record.together) == ("ada", 1, False, ())
    assert record.previous is None
    assert {check.gist for lesson in record.lessons.values() for check in lesson.checks} == {""}


def test_a_summary_is_a_record_without_its_details():
    """It keeps what a run is summed up from: states, scores and what the same work was given before."""
    data = made_record(Random(3), "ada", "Ada Kim")
    record = Record.from_json(data | {"previous": made_before(data)})
    summary = Record.from_json(json.loads(json.dumps(record.to_summary())))

    assert (summary.states, summary.score, summary.previous) == (record.states, record.score, record.previous)
    assert {name: (one.state, one.score) for name, one in summary.lessons.items()} == {
        name: (one.state, one.score) for name, one in record.lessons.items()
    }
    assert not any(one.checks for one in summary.lessons.values())


def test_only_a_redacted_record_says_so():
    """Redacted again, it is the same."""
    record = Record.from_json(made_record(Random(3), "ada", "Ada Kim"))
    redacted = redact(record)

    assert "concealed" not in record.to_json() and redacted.to_json()["concealed"] is True
    assert redact(redacted) == redacted == Record.from_json(redacted.to_json())


@pytest.mark.parametrize(
    "states, problem, failed, unreadable",
    [
        ({"graded": 2}, "", False, False),
        ({"graded": 1, "grader-error": 1}, "", True, False),
        ({"missing": 2}, "", False, False),
        ({"missing": 2}, "The archive is damaged.", False, True),
    ],
)
def test_a_record_knows_whether_it_can_be_counted(states, problem, failed, unreadable):
    """A failure of the grader and work that cannot be read are told from work that is missing."""
    record = Record("ada", states=states, problem=problem)

    assert (record.grader_failed, record.is_unreadable) == (failed, unreadable)
