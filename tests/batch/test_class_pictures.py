"""Pictures of a class: drawn where the checks were run, kept with the code, shown beside it, and of no weight."""

from __future__ import annotations

import base64
import json
import re
import shutil
import sqlite3
import time
import zlib
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from support.factories import run_judge
from support.hand_ins import ANSWERS, SUMS, TINY, make_zip, write

from grader.batch.code_pages import parse_kept
from grader.batch.one_learner.grade_learner import NO_TIME, Attempt, LearnerGrader
from grader.batch.results_folder import store_path
from grader.batch.settings import Settings
from grader.cli.grader.group import grader
from grader.course.load_course import load
from grader.intake.match_lessons import Match
from grader.model import Submission
from grader.model.picture import MAX_PACKED_CHARS, Picture, pack_pictures, unpack_pictures
from grader.reports.formats.picture_html import packed_to_html
from grader.store.class_store import ClassStore

# What the picture is of, and no check asks: there the answer is another one.
TRAP = (
    ANSWERS["moving_average"]
    + """

right = moving_average


def moving_average(x, window):
    if len(x) == 20 and set(x.tolist()) == {0.0, 1.0}:
        %s
    return right(x, window)
"""
)
MARKUP = "</title><script>alert(1)</script><img src=x onerror=alert(1)>"
FORBIDDEN = re.compile(r"<(script|img)|\x1b|style=|(x|y|width|height|points|fill)=\"[^\"]*(nan|inf)")
HOSTILE = {
    "markup": "class E(ValueError): pass\n"
    f"        E.__name__ = {MARKUP!r}\n"
    f"        raise E({MARKUP!r} + chr(27) + '[2J' + 'x' * 10**6)",
    "text": f"return [{MARKUP!r}] * 16",
    "NaN": "return right(x, window) * float('nan')",
    "infinities": "return right(x, window) / 0.0",
    "too far apart": "return right(x, window) * 1e300",
    "too many numbers": "return np.zeros((3000, 3000))",
    "too deep": "a = []\n        for _ in range(10**5): a = [a]\n        return a",
    "an end": "import os; os._exit(3)",
    "no end": "import time; time.sleep(99)",
    "output without end": "while True: print('x' * 1000)",
}


def run(*words: object, ok: bool = True) -> str:
    """What `grader` says."""
    done = CliRunner().invoke(grader, [*map(str, words)])
    assert done.exit_code == 0 or not ok, done.output
    return done.output


def grade(place: Path, *more: object) -> None:
    run("run", place / "in", "--out", place / "out", "--course", TINY, "--seed", 5, "--jobs", 1, *more)


def pages(out: Path, folder: str = "code") -> dict[str, str]:
    return {path.stem: path.read_text() for path in (out / folder).glob("*.html")}


def count(out: Path, folder: str = "code") -> dict[str, int]:
    """How many figures each page has."""
    return {name: page.count("<figure") for name, page in pages(out, folder).items()}


def test_pictures_stand_beside_the_code_of_a_run(tmp_path):
    """Yours, expected, difference, with every number in words; nowhere else, unless inputs may be seen."""
    write(tmp_path / "in", {"ann/moving_average.py": ANSWERS["moving_average"], "bob/moving_average.py": SUMS,
                            "cy/argmax_2d.py": ANSWERS["argmax_2d"], "dee.zip": b"no zip"})  # fmt: skip
    out = tmp_path / "out"
    grade(tmp_path)
    assert count(out) == {"ann": 0, "bob": 0, "cy": 0}
    grade(tmp_path, "--regrade", "--pictures")
    bob = pages(out)["bob"]

    assert count(out) == {"ann": 1, "bob": 1, "cy": 0}
    assert '<figure class="picture right">' in pages(out)["ann"]
    assert re.search(r'role="img" aria-label="[^"]*yours: [0, ]*1, 2, 3, 4, 5[^"]*expected: [0, ]*0.20, 0.40', bob)
    assert "moving_average(step, 5)" in bob and "values differ" in bob
    assert set(count(out, "feedback").values()) == {0}
    assert 'class="picture' not in (out / "report.html").read_text()
    run("report", out, "--reveal")
    assert count(out, "feedback") == {"ann": 0, "bob": 1, "cy": 0, "dee": 0}
    run("report", out, "--reveal", "--no-code")
    assert count(out) == {} and set(count(out, "feedback").values()) == {0}
    run("report", out)
    assert count(out) == {"ann": 1, "bob": 1, "cy": 0}


def test_pictures_go_with_their_result(tmp_path):
    """What is resumed keeps them, what is graded again renews or loses them; a part brings them into the whole."""
    write(tmp_path / "in", {"ann/moving_average.py": SUMS, "bob/moving_average.py": SUMS})
    grade(tmp_path, "--pictures")
    write(tmp_path / "in", {"bob/moving_average.py": ANSWERS["moving_average"]})
    grade(tmp_path, "--resume", "--pictures")
    out = tmp_path / "out"
    assert count(out) == {"ann": 1, "bob": 1} and "picture right" in pages(out)["bob"]
    grade(tmp_path, "--resume")
    assert count(out) == {"ann": 1, "bob": 1}
    grade(tmp_path, "--regrade", "--only", "ann")
    assert count(out) == {"ann": 0, "bob": 1}
    run("merge", out, "--out", tmp_path / "whole", "--course", TINY)
    assert count(tmp_path / "whole") == {"ann": 0, "bob": 1}


@pytest.mark.parametrize("newer", ["in one zip", "in a later run"])
def test_of_several_attempts_the_code_and_its_picture_are_those_of_one(tmp_path, newer):
    """Where the best counts, no code has another's picture beside it."""
    right, wrong = ANSWERS["moving_average"], SUMS
    form = "(?P<id>[a-z]+)_(?P<attempt>[0-9])_(?P<file>.+)"
    more = ("--names", form, "--attempts", "best", "--pictures")
    if newer == "in one zip":
        make_zip(tmp_path / "in.zip", {"ann_1_moving_average.py": right, "ann_2_moving_average.py": wrong})
        run("run", tmp_path / "in.zip", "--out", tmp_path / "out", "--course", TINY, "--seed", 5, "--jobs", 1, *more)
    else:
        write(tmp_path / "in", {"ann_1_moving_average.py": right})
        grade(tmp_path, *more)
        (tmp_path / "in/ann_1_moving_average.py").unlink()
        write(tmp_path / "in", {"ann_2_moving_average.py": wrong})
        grade(tmp_path, "--resume", *more)
    [page] = pages(tmp_path / "out").values()

    assert "10.0 of 10" in page
    assert "sliding_window_view" in re.sub("<[^>]*>", "", page)
    assert "picture right" in page and page.count("<figure") == 1


def test_whatever_a_picture_comes_to_the_score_stays(launcher_with):
    """It hangs, dies, floods or answers with markup where no check looks: the verdict is as without pictures."""
    course = load(TINY)
    lesson, other = course.lessons["moving_average"], course.lessons["argmax_2d"]
    course = replace(course, limits=replace(course.limits, call_seconds=0.5))

    def drive(judge: Any) -> dict[str, tuple[Any, Any, list[Picture], Any]]:
        found = {}
        for name, body in HOSTILE.items():
            submission = Submission(lesson.name, "moving_average.py", TRAP % body)
            drawn: list[Picture] = []
            with judge.workers.one_learner():
                shown = judge.examine(lesson, submission, 5, pictures=drawn)
                after = judge.examine(other, Submission(other.name, "argmax_2d.py", ANSWERS[other.name]), 5)
            found[name] = judge.examine(lesson, submission, 5), shown, drawn, after
        return found

    with launcher_with(course.limits) as launcher:
        found = run_judge(launcher, "moving_average", drive, course)
    for name, (plain, shown, drawn, after) in found.items():
        assert replace(shown, duration_s=0.0) == replace(plain, duration_s=0.0), name
        assert shown.score == 10.0 and not shown.output, name
        assert after.output == "", name
        assert [each.is_right for each in drawn] == [False], name
        packed = pack_pictures(drawn)
        assert unpack_pictures(packed) == drawn and len(packed) < 4000, name
        page = str(packed_to_html(packed))
        assert 0 < len(page) < 8000 and not FORBIDDEN.search(page), name
    assert "alert(1)" in str(packed_to_html(pack_pictures(found["markup"][2])))


def test_a_picture_stays_where_earlier_attempts_were_not_judged(tmp_path, launcher):
    """The newest attempt, which took the time of all, is shown with its picture and the note."""
    course = load(TINY)
    name, limits = "moving_average", replace(course.limits, total_seconds=3.0)
    settings = Settings(str(TINY), "tiny", "1", "", "", (name,), 5, "cpu", pictures=True)
    match = Match("moving_average.py")
    attempts = [Attempt(match, Submission(name, match.path, source)) for source in (ANSWERS[name], SUMS)]

    def drive(judge: Any) -> Any:
        return LearnerGrader(judge, settings, lambda _, judged: None if judged else time.sleep(3.1))._judge(attempts)

    [(attempt, result, drawn)] = run_judge(launcher, name, drive, replace(course, limits=limits))
    assert attempt == attempts[0] and result.score == 10.0 and result.notes == (NO_TIME,)
    assert "picture right" in str(packed_to_html(pack_pictures(drawn)))


def test_a_picture_that_the_course_cannot_draw_costs_no_score(tmp_path, launcher):
    """Who reads the page is told."""
    course = load(shutil.copytree(TINY, tmp_path / "course"))
    lesson = course.lessons["moving_average"]
    lesson.pictures_path.write_text(
        "from grader.api.pictures import picture\n\n\n@picture\ndef broken(submission, reference, rand):\n"
        '    """Broken"""\n    return {}["<b>"]\n'
    )
    submission, drawn = Submission(lesson.name, "moving_average.py", ANSWERS[lesson.name]), []
    result = run_judge(
        launcher, lesson.name, lambda judge: judge.examine(lesson, submission, 5, pictures=drawn), course
    )

    assert result.score == 10.0
    assert "cannot be drawn: KeyError: &#39;&lt;b&gt;&#39;" in str(packed_to_html(pack_pictures(drawn)))


def packed(*pictures: object) -> str:
    return base64.b64encode(zlib.compress(json.dumps(pictures).encode())).decode()


def of(data: object, spec: object, **more: object) -> dict[str, Any]:
    texts: dict[str, Any] = {"name": "n", "title": "t", "asked": "a", "notes": [], "is_right": False}
    return texts | {"data": data, "spec": spec} | more


CELLS: dict[str, Any] = {"mark": "rect", "data": {"name": "d"}, "encoding": {
    "x": {"field": "x"}, "y": {"field": "y"}, "color": {"field": "v"}}}  # fmt: skip
ROW = {"x": "0", "y": "0", "v": 1.0, "text": "1"}
FOREIGN = {
    "no text": "7",
    "no picture": packed(7),
    "no list": base64.b64encode(zlib.compress(b"{}" * 2)).decode(),
    "another type": packed(of({"d": [ROW]}, CELLS, title=["t"])),
    "a bomb": base64.b64encode(zlib.compress(b"[" + b" " * (1 << 26) + b"]")).decode(),
    "many rows": packed(of({"d": [ROW] * 1001}, CELLS)),
    "many views of one": packed(of({"d": [ROW]}, {"hconcat": [CELLS] * 1000})),
    "a grid of few rows": packed(of({"d": [ROW | {"x": str(n), "y": str(n)} for n in range(900)]}, CELLS)),
    "deep": packed(of({}, json.loads('{"vconcat": [' * 400 + "{}" + "]}" * 400))),
    "no number": packed(of({"d": [ROW | {"v": 10**400}]}, CELLS)),
    "lists": packed(of({"d": [ROW | {"v": [1]}]}, CELLS)),
    "another scale": packed(of({"d": [ROW]}, CELLS | {"encoding": 1})),
}


@pytest.mark.parametrize("text", FOREIGN.values(), ids=FOREIGN)
def test_what_somebody_else_wrote_is_no_picture(text: str) -> None:
    """A damaged text, or one made to take time or space, is left out: at most a frame with words is there."""
    assert len(packed_to_html(text)) < 1000 and "<svg" not in packed_to_html(text)


def test_somebody_elses_picture_holds_no_markup() -> None:
    """Whatever a text of it is."""
    evil = {"x": MARKUP, "y": f'"{MARKUP}', "v": 1.0, "text": MARKUP}
    spec = {
        **CELLS,
        "title": MARKUP,
        "encoding": {**CELLS["encoding"], "color": {"field": "v", "scale": {"range": [MARKUP] * 9}}},
    }
    for each in (CELLS | {"title": MARKUP}, spec):
        page = str(packed_to_html(packed(of({"d": [evil]}, each, title=MARKUP, asked=MARKUP, notes=[MARKUP]))))
        assert not FORBIDDEN.search(page)
    assert "&lt;script" in str(packed_to_html(packed(of({"d": [evil]}, CELLS))))


@given(st.lists(st.integers(0, MAX_PACKED_CHARS), max_size=6))
def test_what_is_kept_has_a_bound(sizes: list[int]) -> None:
    """The first pictures that fit are kept, whole."""
    made = [Picture(str(number), "t", "a", {}, {}, ("x" * size,)) for number, size in enumerate(sizes)]
    kept = unpack_pictures(pack_pictures(made))
    assert kept == made[: len(kept)]
    assert sum(len(each.notes[0]) for each in kept) <= MAX_PACKED_CHARS
    assert len(kept) == len(made) or sum(sizes[: len(kept) + 1]) > MAX_PACKED_CHARS - 200 * len(made)


def test_results_of_an_earlier_version_have_no_pictures(tmp_path):
    """Their pages of code are written as before."""
    write(tmp_path / "in", {"ann/moving_average.py": SUMS})
    grade(tmp_path)
    with closing(ClassStore.existing(store_path(tmp_path / "out"))) as store:
        text = store.fingerprint("ann", str)
    assert text and "pictures" not in text and parse_kept(text, "pictures") == {}
    with closing(sqlite3.connect(store_path(tmp_path / "out"))) as database, database:
        database.execute("UPDATE results SET fingerprints = '[1]'")
    assert "is damaged" in run("merge", tmp_path / "out", "--out", tmp_path / "whole", "--reveal", ok=False)
    assert parse_kept(json.dumps({"a": {"pictures": 7}, "b": {"pictures": "x"}}), "pictures") == {"b": "x"}
