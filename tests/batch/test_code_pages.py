"""Pages of code: each hand-in beside its verdict, groups that are alike side by side; learners' text stays text."""

from __future__ import annotations

import html
import json
import re
import time
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.batch.make_record import GradedHandIn, make_record
from grader.batch.outputs import Outputs
from grader.batch.results import Results, open_results
from grader.batch.results_folder import store_path
from grader.intake.learner import Entry, Learner
from grader.model import LessonResult, Named, WrongLine
from grader.reports.highlight import highlight_lines

HEADER = {
    "schema": 1, "course": {"id": "c", "version": "1", "content": "x"}, "engine": "1", "seed": 1, "device": "cpu",
    "lessons": ["softmax"],
}  # fmt: skip
FOUND = {"ignored": [], "missing": [], "unlisted": []}
SOURCE = 'import torch\n\n\ndef softmax(x):\n    """<script>alert(1)</script>"""\n    return x / 2  # half & "all"\n'
SIGNS = "a1 \t\n\r\\\"'#<&>=\u202e\x1b"
NAMES = ("ann", "bob", "<b>cy")


def keep(out: Path, names: tuple[str, ...] = NAMES, source: object = SOURCE, **written: bool) -> None:
    """Keep results with their code, two of them alike."""
    mistake = Named("sm", "softmax", "It was on line 6 of softmax.py: `x / 2`.", "")
    wrong = WrongLine("softmax", 4, 0, "Line 4 <i>is</i> wrong.", "")
    result = LessonResult(
        "softmax", "graded", 5.0, False, "cpu", 1, 0.1, mistakes=(mistake,), lines=(wrong,), file="x/softmax.py"
    )
    with closing(Results(store_path(out), HEADER, Outputs(out, **written), go_on=store_path(out).exists())) as results:
        results.begin({"course": "c", "lessons": {"softmax": "Softmax"}}, list(NAMES), FOUND)
        for number, name in enumerate(names):
            one = Learner(name, (Entry(name, Path(name), "python"),), f"f{number}")
            prints = {"softmax": {"prints": "", "text": 1, "names": [], "remarks": [], "source": source}}
            results.add_all([(one, GradedHandIn(make_record(one, [result], digest="d"), prints))])
        pair = {"first": "ann", "second": "<b>cy", "lesson": "softmax", "share": 0.9, "note": "", "first_lines": [4, 6]}
        results.store.keep_facts(similar=[pair | {"second_lines": [1, 10**12]}])
        results.finish()


def text_of(page: str) -> str:
    """The code of a page as text."""
    lines = re.findall(r"<li(?: class=\"marked\")?><code>(.*?)</code>", page)
    return "\n".join(html.unescape(re.sub(r"<[^>]*>", "", line)) for line in lines)


def test_code_stands_beside_the_verdict(tmp_path):
    """The page has the code as it is, marks the lines that feedback speaks of, and the report leads to it."""
    keep(tmp_path)
    page = (tmp_path / "code/f0.html").read_text()

    assert text_of(page) == SOURCE.removesuffix("\n")
    assert "<script>" not in page and "<i>" not in page and '<span class="keyword">def</span>' in page
    marked = re.findall(r'<li class="marked"><code>(.*?)</code>(?:<small>(.*?)</small>)', page)
    assert [html.unescape(said) for _, said in marked] == [
        "Line 4 <i>is</i> wrong.", "It was on line 6 of softmax.py: <code>x / 2</code>."]  # fmt: skip
    assert (tmp_path / "report.html").read_text().count('href="code/f') == 3
    assert "<b>cy" not in (tmp_path / "code/f2.html").read_text()


def test_copies_stand_side_by_side(tmp_path):
    """One page for a group, with the lines marked that are alike; it goes with the group."""
    keep(tmp_path)
    page = (tmp_path / "alike/1.html").read_text()
    assert text_of(page) == f"{SOURCE}{SOURCE}"[:-1] and page.count('class="marked"') == 3 + SOURCE.count("\n")
    assert 'href="alike/1.html"' in (tmp_path / "report.html").read_text() and "<b>cy" not in page
    with closing(open_results(tmp_path)) as results:
        results.store.keep_facts(similar=[])
        results.write_class()
    assert not list((tmp_path / "alike").iterdir())


def test_three_copies_are_one_group(tmp_path):
    """Three pairs of three hand-ins take one row of the report, which names all three, and one page."""
    keep(tmp_path)
    with closing(open_results(tmp_path)) as results:
        (pair,) = results.store.facts()["similar"]
        ends = [("ann", "bob"), ("bob", "<b>cy"), ("ann", "<b>cy")]
        results.store.keep_facts(similar=[pair | {"first": one, "second": other} for one, other in ends])
        results.write_class()
    (row,) = [row for row in (tmp_path / "report.html").read_text().split("<tr>") if "alike/" in row]

    assert [name.name for name in (tmp_path / "alike").iterdir()] == ["1.html"]
    assert all(f">{html.escape(name)}<" in row for name in NAMES)


def test_empty_lines_between_the_cells_of_a_notebook_are_left_out(tmp_path):
    """A notebook's second cell begins at line 200: lines keep their numbers, and no page is 500 empty lines long."""
    cells = "".join(f"# cell {number}\n" + "\n" * 99 for number in range(1, 4))
    keep(tmp_path, source=cells + "\n\nx = 1\n")
    for page, copies in (("code/f0.html", 1), ("alike/1.html", 2)):
        shown = re.findall(r"<li[^>]*>(.*?)</li>", (tmp_path / page).read_text(), re.DOTALL)
        lines = {number: text_of(f"<li>{line}") for number, line in enumerate(shown, 1) if "<code>" in line}
        written = {1: "# cell 1", 101: "# cell 2", 201: "# cell 3", 303: "x = 1"}
        expected = {303 * copy + number: line for copy in range(copies) for number, line in written.items()}
        assert {number: line for number, line in lines.items() if line} == expected
        assert len(lines) < 8 * copies and len(shown) == 303 * copies


def test_pages_are_written_when_they_are_lacking_and_only_if_wanted(tmp_path):
    """A result that has changed has its page written anew, others stay; with --no-code there is none."""
    keep(tmp_path)
    pages = sorted((tmp_path / "code").iterdir())
    before = [page.stat().st_mtime_ns for page in pages]
    keep(tmp_path, ("ann",), SOURCE + "x = 1\n")
    assert [page.stat().st_mtime_ns == was for page, was in zip(pages, before, strict=True)] == [False, True, True]
    assert "x = 1" in text_of(pages[0].read_text())
    with closing(open_results(tmp_path, no_code=True)) as results:
        results.write_class()
    assert not list((tmp_path / "code").iterdir())
    assert not list((tmp_path / "alike").iterdir()) and "code/" not in (tmp_path / "report.html").read_text()


def test_results_without_code_have_no_pages(tmp_path):
    """What an earlier version kept has no source, and what somebody else wrote may have anything in its place."""
    for source in (None, 7, ["x"]):
        keep(tmp_path, source=source)
        assert not list((tmp_path / "code").iterdir()) and "code/" not in (tmp_path / "report.html").read_text()


@given(st.text(st.sampled_from(SIGNS) | st.characters(codec="utf-8"), max_size=80))
def test_any_text_is_shown_as_text(source):
    """Colours change nothing: without them and with its signs made harmless each line is the same.

    No empty line stands below the last.
    """
    lines, more = highlight_lines(source)
    plain = [html.unescape(re.sub(r"</?span[^>]*>", "", str(line))) for line in lines]
    expected = source.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").expandtabs(8).split("\n")

    assert len(plain) == len(expected) and not more
    assert all(was == now for was, now in zip(expected, plain, strict=True) if was.isascii() and was.isprintable())
    assert all(json.dumps(str(line)).count("\\u202e") == 0 for line in lines)


@pytest.mark.parametrize("piece", ['"""\\', "'''\\", '"\\', "\\", "r'", "def ", '""', "#", "1_"])
def test_no_text_takes_long_to_colour(piece):
    """Time grows with the length, whatever is never closed."""
    times = []
    for size in (20_000, 160_000):
        began = time.process_time()
        highlight_lines(("\n".join([piece * 40] * (size // (40 * len(piece)))))[:size])
        times.append(time.process_time() - began)
    assert times[1] < 60 * max(times[0], 0.002)
