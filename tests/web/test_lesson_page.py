"""The pages of lessons: their text set as HTML, with answers and traps folded, and nothing of it run."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlencode

import pytest
from support.browser import Visitor, make_server
from support.course_files import ROOT
from support.course_maker import front, make_course
from support.learn_command import TINY, learn, start_workspace

from grader.course import load
from grader.model import LessonResult, Suggestion
from grader.reports.html_document import prose
from grader.web.home import DIAGRAM, home_view
from grader.web.lesson_text import lesson_html, text_html
from grader.web.own_commands import OwnCommands
from grader.web.verdict import verdict_event
from grader.workspace import find

TEXT = """
**Predict before you read on.** Which?

<details>
<summary>What it <b>is</b></summary>

```text
42
```

</details>

```python
print("<script>alert(1)</script>")  # 1 < 2
```

```text
<script>alert(1)</script>
```

## Common mistakes

- **Too `much`.** It is less.
- No name, no fold.

## To read next

- **A paper**, unfolded.
"""
TRAPS = """[traps]
"Too much" = ["m-one", "m-two"]

[hints]"""
HOSTILE = """
<script>alert(1)</script> <img src=x onerror=alert(1)> [a](javascript:alert(1)) ![b](http://evil.example/x.png)
<a href="data:text/html,x">c</a> [d](data:text/html;base64,PHNjcmlwdD4=)

```python" onmouseover="alert(1)
x = "</code></pre><script>alert(1)</script>"
```

# <svg onload=alert(1)>

## Common mistakes

- **<script>alert(1)</script>** <iframe src=x>
"""


def test_answers_and_traps_are_folded(tmp_path: Path) -> None:
    """An answer behind its name, a trap behind what it begins with; other lists stand as they are."""
    course = load(make_course(tmp_path, {"lessons/core/mean.md": front("mean").replace("[hints]", TRAPS) + TEXT}))
    html = lesson_html(course.lessons["mean"])

    assert '<details class="answer"><summary>What it &lt;b&gt;is&lt;/b&gt;</summary>' in html
    assert 'data-mistakes="m-one m-two"><summary><strong>Too <code>much</code>.</strong></summary><p>It is' in html
    assert html.count("<details") == html.count("</details>") == 2
    assert "<li>No name, no fold.</li>" in html.replace("\n", "")
    assert '<p class="label">prints</p>' in html


FORMULA = "text\n\n```\nmean  =  sum / n\n```\n"


COMMANDS = """
Stuck? `learn hint mean` says more, and `learn check
mean` comes first. Afterwards `learn build mean` trains, and `learn hint other` is another's.

```
learn check mean
learn quiz mean
```

```
learn check mean
learn build mean
```
"""


def test_commands_of_the_terminal_are_the_links_and_buttons_of_the_page() -> None:
    """A command stands as it is where the page has nothing for it, and so does a block of which one line is such."""
    html = text_html(COMMANDS, own=OwnCommands("mean", ["mean"], asks=True))
    assert 'Stuck? <a href="#hints">A hint</a> says more, and <a href="#side">a check</a> comes first' in html
    assert "<code>learn build mean</code> trains, and <code>learn hint other</code>" in html
    assert '<a href="#side">Write it in the editor of this page</a>: each save is checked.' in html
    assert '<button name="topic" value="mean">Questions on this lesson</button>' in html
    assert html.count("learn check mean") == 1 and "learn quiz" not in html
    assert "learn quiz mean" in text_html(COMMANDS, own=OwnCommands("mean", ["mean"]))  # which asks nothing


def test_no_verdict_in_a_page_sends_to_the_terminal_for_what_a_page_has() -> None:
    """Suggestions are links; what only a terminal can do says so; a notebook keeps the commands."""
    commands = {
        "learn hint softmax": 'href="/lesson/softmax#hints">Take the next hint.',
        "learn check attention": 'href="/lesson/attention"',
        "learn progress": 'href="/"',
        "learn report": 'href="/report"',
        "learn quiz": 'href="/quiz"',
        "learn solution softmax": 'In a terminal: <code class="nowrap">learn solution softmax</code>',
    }
    told = tuple(Suggestion("Do it (`learn read softmax`).", command) for command in commands)
    wrong = LessonResult("softmax", "graded", 5.0, False, "cpu", 1, 0.1, suggestions=told)
    lesson = load(ROOT).lessons["softmax"]
    html = verdict_event(lesson, wrong, None, "")["html"]
    assert [each for each in commands.values() if each not in html] == []
    assert "learn read" not in html
    without = verdict_event(lesson, wrong, None, "", has_pages=False)["html"]
    assert all(f"{command}</code>" in without for command in commands) and "In a terminal" not in without


def test_a_formula_is_mathml_in_the_place_of_its_block() -> None:
    """With every line of it; no other block is touched, and what cannot be read stays text."""
    pytest.importorskip("latex2mathml", reason="pip install -e '.[dev]'")
    html = text_html(FORMULA + "```\nother\n```\n", formulas={"mean": [r"m = \frac{\text{sum}}{n}", "n"]})
    assert html.count('<math display="block">') == 2 and "<mfrac>" in html
    assert "mean  =" not in html and "<code>other</code>" in html
    assert "mean  =  sum / n" in text_html(FORMULA, formulas={"mean": [r"\frac{"]})


@pytest.mark.parametrize(
    "latex",
    [
        r"\text{<img src=x onerror=alert(1)>}",
        r"\href{javascript:alert(1)}{x}",
        r"\style{color:red}{x}",
        r"\class{jump}{x}",
        r"\text{&lt;script&gt;}</math><script>",
    ],
)
def test_a_hostile_formula_is_shown_and_not_run(latex: str) -> None:
    """No tag, address, style or class of its own gets into the page."""
    html = text_html(FORMULA, formulas={"mean": [latex]})
    for forbidden in ("<img", "<script", "href=", "style=", 'class="jump"'):
        assert forbidden not in html


def test_a_formula_of_the_front_matter_has_its_block() -> None:
    """Each entry begins a block of its lesson, and is LaTeX that can be set."""
    pytest.importorskip("latex2mathml", reason="pip install -e '.[dev]'")
    lessons = load(ROOT).lessons.values()
    for lesson in lessons:
        assert lesson_html(lesson).count('<div class="block formula"') == len(lesson.formulas), lesson.name
    assert sum(len(lesson.formulas) for lesson in lessons) > 15


def test_hostile_text_is_shown_and_not_run() -> None:
    """No tag, handler, address or picture of the text's own gets into the page."""
    html = text_html(HOSTILE)

    for forbidden in ("<script", "<img", "<svg", "<iframe", 'href="javascript:', 'href="data:'):
        assert forbidden not in html.replace("&lt;", "[")
    assert html.count("&lt;script&gt;") == 3


def test_an_index_is_set_as_one_but_in_code():
    """`W_Q` in a sentence is a letter with an index; a name of several letters stays as it is written."""
    html = text_html("x W_Qᵀ, √d_k, d_model, x_1 and my_name, but `d_k`")

    assert "x W<sub>Q</sub>ᵀ, √d<sub>k</sub>, d<sub>model</sub>, x<sub>1</sub> and my_name, but <code>d_" in html


def test_a_hostile_course_is_shown_and_not_run(tmp_path: Path) -> None:
    """Title, text and names are escaped on both pages."""
    bad = front("mean").replace('title = "Mean"', 'title = "<script>alert(1)</script>"')
    root = make_course(tmp_path / "course", {"lessons/core/mean.md": bad + HOSTILE})
    with make_server(start_workspace(tmp_path / "work", root), root) as server:
        visitor = Visitor(server.make_link())
        visitor.enter()
        for page in ("/", "/lesson/mean"):
            assert "<script>" not in visitor.read(page)


def test_every_lesson_of_the_course_is_a_page(tmp_path: Path) -> None:
    """Each has its text, and whoever opens it is known to have opened it; the first page draws all of them."""
    opened: list[str] = []
    course = load(ROOT)
    with make_server(start_workspace(tmp_path / "work", ROOT), ROOT, opened) as server:
        visitor = Visitor(server.make_link())
        visitor.enter()
        first = visitor.read("/")
        for name, lesson in course.lessons.items():
            assert first.count(f'href="/lesson/{name}"') >= 1
            page = visitor.read(f"/lesson/{name}")
            assert f"<title>{lesson.title}</title>" in page
            assert page.index('id="questions"') < page.index("Your task</h2>")
    assert opened == list(course.lessons)


def test_the_way_ends_at_assessment_and_capstone(tmp_path: Path) -> None:
    """Below all lessons, each where it is done; a course without them ends at its lessons."""
    with make_server(start_workspace(tmp_path / "work", ROOT), ROOT) as server:
        visitor = Visitor(server.make_link())
        visitor.enter()
        lessons, _, end = visitor.read("/").partition("When these work")
    assert 'href="/lesson/two_bits"' in end and 'href="/lesson/two_bits"' not in lessons
    assert "The assessment" in end and "the capstone" not in end
    assert "learn build sort_numbers</code> trains them" in end  # it writes no text
    assert end.index("Two bits a word: your first transformer") < end.index("A GPT that writes")
    assert "0 of 15 on the shortest way to a GPT that writes" in lessons
    with make_server(start_workspace(tmp_path / "tiny")) as server:
        visitor = Visitor(server.make_link())
        visitor.enter()
        assert "When these work" not in visitor.read("/")


def test_the_pages_follow_the_way_of_the_terminal(tmp_path: Path) -> None:
    """After the text comes the GPT where the shortest way is followed, and a layer norm on the full one."""
    work = start_workspace(tmp_path / "work", ROOT)
    for way, after in [("shortest", "gpt"), ("full", "layer_norm")]:
        assert learn("start", "--way", way, cwd=work, course=ROOT).returncode == 0
        with make_server(work, ROOT) as server:
            visitor = Visitor(server.make_link())
            visitor.enter()
            first, page = visitor.read("/"), visitor.read("/lesson/language_batches")
        assert ('class="box new aside" href="/lesson/layer_norm"' in first) is (way == "shortest")
        assert f'<li><a href="/lesson/{after}">' in page


def test_the_pages_change_the_way_for_the_terminal_too(tmp_path: Path) -> None:
    """As `learn start --way` does, at once and for good; another site cannot, nor is there a way of any name."""
    work = start_workspace(tmp_path / "work", ROOT)
    with make_server(work, ROOT) as server:
        visitor = Visitor(server.make_link())
        visitor.enter()
        assert 'name="way" value="full"' in visitor.read("/")
        assert visitor.ask("POST", "/way", "way=full", headers={"Origin": "http://evil.example"}).status == 403
        assert visitor.ask("POST", "/way", "way=quickest").status == 404
        assert b"<h1>There is no such page.</h1>" in visitor.ask("GET", "/lessons").body
        assert find(work).way == ""

        answer = visitor.ask("POST", "/way", "way=full")
        page = visitor.read("/")

    assert (answer.status, answer.headers["location"]) == (303, "/")
    assert find(work).way == "full"
    assert 'name="way" value="shortest"' in page and "aside" not in page


def test_a_trap_names_mistakes_that_are_known() -> None:
    """Each entry of a lesson's front matter begins an item of its text, and its mistakes are in the course."""
    known = "".join(path.read_text() for path in (ROOT / "solutions").rglob("*_mistakes.py"))
    for lesson in load(ROOT).lessons.values():
        html = lesson_html(lesson)
        assert lesson.traps or "Common mistakes" not in lesson.text_path.read_text(), (
            f"{lesson.name}: no trap has a name"
        )
        for begins, ids in lesson.traps.items():
            assert f'data-mistakes="{" ".join(ids)}"' in html, f"{lesson.name}: {begins}"
            assert all(f'"{each}' in known for each in ids), f"{lesson.name}: {ids}"


def test_the_drawing_names_lessons_of_the_course() -> None:
    """A lesson that was renamed would fall out of the picture in silence."""
    course = load(ROOT)
    quoted = set((ROOT / "lessons" / DIAGRAM).read_text().split('"')[1::2])

    assert {name for name in quoted if " " not in name} - {"text"} <= course.lessons.keys()
    assert callable(home_view)


def test_hints_are_shown_one_at_a_time_and_count_as_those_of_the_terminal(tmp_path: Path) -> None:
    """Sent twice one is shown once; no later one can be asked for, and where all were shown that is said."""
    workspace = start_workspace(tmp_path / "work")
    ladder = load(TINY).lessons["argmax_2d"].hints["argmax_2d"]
    with make_server(workspace) as server:
        visitor = Visitor(server.make_link())
        visitor.enter()
        page = visitor.read("/lesson/argmax_2d")
        assert not any(ladder_text(text) in page for text in ladder)

        for number in (3, 0, "x", 99999):
            ask_for_hint(visitor, number)
        ask_for_hint(visitor, 1, function="nope")
        assert "hint 1 of" not in visitor.read("/lesson/argmax_2d")
        for _ in range(2):
            assert ask_for_hint(visitor, 1) == 303
        page = visitor.read("/lesson/argmax_2d")
        assert ladder_text(ladder[0]) in page and ladder_text(ladder[1]) not in page

        told = json.loads(learn("hint", "argmax_2d", "--json", cwd=workspace).stdout)
        assert told["rung"] == 2
        for number in range(3, len(ladder) + 2):
            ask_for_hint(visitor, number)
        page = visitor.read("/lesson/argmax_2d")
        assert all(ladder_text(text) in page for text in ladder) and "That was the last hint" in page
    lessons = json.loads(learn("progress", "--json", cwd=workspace).stdout)["lessons"]
    assert {known["lesson"]: known["hints_used"] for known in lessons} == {
        "moving_average": 0,
        "argmax_2d": len(ladder),
    }


def ask_for_hint(visitor: Visitor, number: object, function: str = "argmax_2d") -> int:
    return visitor.ask("POST", "/lesson/argmax_2d/hint", urlencode({"function": function, "number": number})).status


def ladder_text(text: str) -> str:
    """A hint as it stands in a page."""
    return str(prose(text))


def test_long_code_breaks_at_its_joints() -> None:
    """In a narrow column a name breaks after an underscore, a call after its bracket; copied it is as it was."""
    html = text_html("| form |\n|-|\n| `F.scaled_dot(x=1.5)` |")

    assert "<code>F.<wbr>scaled_<wbr>dot(<wbr>x=<wbr>1.5)</code>" in html
