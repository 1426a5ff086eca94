"""When work was handed in, where that is written in a way that is not read."""

from __future__ import annotations

from dataclasses import replace

import pytest
from click.testing import CliRunner
from support.hand_ins import ANSWERS, TINY, make_zip, write

from grader.batch.run import Plan, Run
from grader.cli.grader.group import grader
from grader.course import load
from grader.errors import UsageError
from grader.intake.discover import discover
from grader.intake.formats.gradescope_metadata import read_metadata
from grader.intake.name_patterns import NamePattern

GRADESCOPE = NamePattern.parse("gradescope")
SUBMISSION = "submission_{n}:\n  :submitters:\n  - :name: P {n}\n    :email: p{n}@x.org\n  :created_at: {when}\n"


def export(*times: str) -> dict[str, str]:
    """Gradescope's export of a hand-in at each of these times."""
    files = {f"submission_{n}/argmax_2d.py": ANSWERS["argmax_2d"] for n, _ in enumerate(times, 1)}
    metadata = "".join(SUBMISSION.format(n=n, when=when) for n, when in enumerate(times, 1))
    return {**files, "submission_metadata.yml": metadata}


@pytest.mark.parametrize("when", ["2026-11-20 10:00:00", "20/11/2026 10:00", "soon"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_time_of_gradescope_that_is_not_read_is_told(tmp_path, when, packed):
    """A run says the text and its line; one that is to deduct for late work is refused before anything is graded."""
    files = export("2026-11-20 10:00:00.000000000 Z", when)
    source = make_zip(tmp_path / "export.zip", files) if packed else write(tmp_path / "in", files)
    found = discover(source, names=GRADESCOPE)
    assert any(f"{when} in line 10" in note for note in found.notes)

    course = load(TINY)
    lessons = [course.lessons["argmax_2d"]]
    plan = Plan(source, tmp_path / "out", lessons, "1", names="gradescope", late=True, jobs=1)
    with pytest.raises(UsageError, match=f'"{when}" is no time') as error:
        Run(course, plan)
    assert str(error.value.where).endswith("submission_metadata.yml:10") and not (tmp_path / "out").exists()
    Run(course, replace(plan, late=False)).close()


@pytest.mark.parametrize("when", ["", "~", "2026-11-20 10:00:00.0 Z", "'2026-11-20 10:00:00 UTC'", "2026-11-20T10:00Z"])
def test_no_time_and_times_with_a_zone_are_no_mistake(when):
    """What stands for nothing, and the forms with a zone, are not told."""
    (found,) = read_metadata(SUBMISSION.format(n=1, when=when)).values()

    assert found.unread is None and (found.submitted is None) == (when in ("", "~"))


def test_run_takes_late_from_the_assignment(tmp_path):
    """`grader run hw.toml` with [late] refuses such a time, without [late] it grades."""
    source = write(tmp_path / "in", export("20.11.2026"))
    for late in ("", "[late]\ndue = 2026-11-20T23:59:00Z\nper_day = 0.1\n"):
        head = f'names = "gradescope"\nlessons = ["argmax_2d"]\nout = "out{bool(late)}"\n'
        (tmp_path / "hw.toml").write_text(head + late)
        words = ["run", str(tmp_path / "hw.toml"), str(source), "--seed", "7", "--jobs", "1", "--course", str(TINY)]
        done = CliRunner().invoke(grader, words)
        if late:
            assert done.exit_code == 2 and "20.11.2026" in done.output, done.output
        else:
            assert done.exit_code == 0, done.output
