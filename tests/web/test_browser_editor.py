"""The editor in a real browser: its keys, what it writes, and what it never overwrites."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.browser import make_server
from support.learn_command import start_workspace

from grader.web.server import WebServer

FILE = "basics/argmax_2d.py"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of the tiny course."""
    return start_workspace(tmp_path_factory.mktemp("editor") / "work")


@pytest.fixture(scope="module")
def server(workspace: Path) -> Iterator[WebServer]:
    """Its pages, without a judge."""
    with make_server(workspace) as started:
        yield started


@pytest.fixture
def area(page: Any, server: WebServer, workspace: Path) -> Any:
    """The text area of a lesson whose file is empty."""
    (workspace / FILE).write_text("")
    page.goto(server.make_link("/lesson/argmax_2d"))
    found = page.locator("#source")
    found.focus()
    return found


TYPED = [
    (["def f(x):", "Enter", "return x", "Enter", "y"], "def f(x):\n    return x\ny"),
    (["f(g[1], {'a", "End", ": 2"], "f(g[1], {'a'}): 2"),
    (["f(x)", "Backspace", "Backspace", "Backspace", "Backspace"], ""),
    (["()", "ArrowLeft", "Backspace"], ""),
    (["it's"], "it's"),
    (["x", "Tab", "y", "Enter", "Tab", "z", "Shift+Tab"], "x   y\nz"),
    (["if x:", "Enter", "Backspace", "y"], "if x:\ny"),
    (["a", "Enter", "b", "Control+a", "Tab"], "    a\n    b"),
    (["a", "Enter", "b", "Control+a", "Tab", "Control+z"], "a\nb"),
    (["ab", "Shift+ArrowLeft", "("], "a(b)"),
    (["</textarea><script>", "Enter", "&lt;"], "</textarea><script>\n&lt;"),
]


@pytest.mark.slow
def test_keys_do_what_they_do_in_an_editor(page: Any, area: Any) -> None:
    """Enter indents, brackets come in pairs, Tab and Backspace go by four; what is drawn behind is what is written."""
    for keys, text in TYPED:
        for key in ["Control+a", "Delete", *keys]:
            named = len(key) > 2 and (key in ("Enter", "Tab", "End", "Backspace", "ArrowLeft", "Delete") or "+" in key)
            (page.keyboard.press if named else page.keyboard.type)(key)

        assert area.input_value() == text, keys
        assert page.locator("#coloured").text_content() == text + "\n", keys


@pytest.mark.slow
def test_the_editor_opens_where_there_is_something_to_write(page: Any, server: WebServer, workspace: Path) -> None:
    """Not at the first line of a long statement."""
    (workspace / FILE).write_text(
        "def argmax_2d(grid):\n" + "    # long\n" * 80 + "    raise NotImplementedError\n" + "\n" * 40
    )
    page.goto(server.make_link("/lesson/argmax_2d"))
    line, box = page.locator("#coloured .line").nth(81), page.locator(".editor")
    top, bottom = line.bounding_box()["y"], box.bounding_box()["y"] + box.bounding_box()["height"]

    assert box.bounding_box()["y"] < top < bottom


@pytest.mark.slow
def test_a_click_and_a_drag_reach_the_text(page: Any, area: Any) -> None:
    """The caret stands where the mouse was, and what it was drawn over is selected: nothing drawn lies in its way."""
    page.keyboard.type("first = 1")
    page.keyboard.press("Enter")
    page.keyboard.type("second = 2")
    page.keyboard.press("Escape")
    page.locator("h1").click()
    assert page.locator("#source:focus").count() == 0

    line = page.locator("#coloured .line").nth(1).bounding_box()
    at, middle = line["x"] + 45, line["y"] + line["height"] / 2
    page.mouse.click(at, middle)
    page.keyboard.type("# ")
    assert area.input_value() == "first = 1\n# second = 2"

    page.mouse.move(at, middle)
    page.mouse.down()
    page.mouse.move(at + 200, middle)
    page.mouse.up()
    page.keyboard.type("x")
    assert area.input_value() == "first = 1\nx"


@pytest.mark.slow
def test_numbers_of_lines_stay_where_a_long_line_is_scrolled(page: Any, area: Any) -> None:
    """What is seen at the left edge is the same, however far to the right the code is shown."""
    page.keyboard.type("x = 1" + " + 1" * 100)
    page.locator("h1").click()
    box = page.locator(".editor").bounding_box()
    seen = []
    for left in (0, 200):
        assert page.evaluate("left => (document.querySelector('.editor').scrollLeft = left)", left) == left
        seen.append(page.screenshot(clip={"x": box["x"], "y": box["y"], "width": 40, "height": 60}))

    assert page.evaluate("document.querySelector('.editor').scrollLeft") == 200 and seen[0] == seen[1]


@pytest.mark.slow
def test_a_pause_writes_the_file_and_ctrl_s_at_once(page: Any, area: Any, workspace: Path) -> None:
    """What is typed is in the file, with the ends of lines that it had."""
    page.keyboard.type("x = 1")
    page.get_by_text("Saved", exact=True).wait_for()
    assert (workspace / FILE).read_text() == "x = 1"

    (workspace / FILE).write_bytes(b"a = 1\r\n")
    page.reload()
    area.focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("b = 2")
    page.keyboard.press("Control+s")
    page.get_by_text("Saved", exact=True).wait_for()
    assert (workspace / FILE).read_bytes() == b"a = 1\r\nb = 2"


def gap_in(notice: Any) -> float:
    """The pixels between the sentence of a notice and its first button."""
    return notice.evaluate("""notice => {
        const range = document.createRange();
        range.selectNodeContents(notice.querySelector("p").firstChild);
        return notice.querySelector("button").getBoundingClientRect().top - range.getBoundingClientRect().bottom;
    }""")


@pytest.mark.slow
@pytest.mark.parametrize("choice, kept", [("Take the file", "theirs"), ("Keep what is here", "mine")])
def test_what_another_editor_wrote_is_not_overwritten(
    page: Any, area: Any, workspace: Path, choice: str, kept: str
) -> None:
    """Both are there until the learner chooses, and then the other one is set aside, for a page loaded anew, too."""
    (workspace / FILE).write_text("theirs")
    page.keyboard.type("mine")
    page.locator("#conflict").wait_for()
    assert gap_in(page.locator("#conflict")) >= 8
    assert page.locator("#conflict pre").all_text_contents() == ["theirs", "mine"]
    page.keyboard.press("Control+s")
    assert (workspace / FILE).read_text() == "theirs"
    assert area.input_value() == "mine"

    page.get_by_role("button", name=choice).click()
    page.get_by_text("Saved", exact=True).wait_for()
    assert (workspace / FILE).read_text() == area.input_value() == kept

    page.reload()
    page.locator("#set-aside").wait_for()
    assert gap_in(page.locator("#set-aside")) >= 8
    page.get_by_role("button", name="Exchange it with what is here").click()
    page.get_by_text("Saved", exact=True).wait_for()
    page.wait_for_function(f"document.getElementById('source').value !== '{kept}'")
    deadline = time.monotonic() + 20
    while (workspace / FILE).read_text() == kept and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (workspace / FILE).read_text() == area.input_value() == {"theirs": "mine", "mine": "theirs"}[kept]


@pytest.mark.slow
def test_who_has_no_mouse_can_leave(page: Any, area: Any) -> None:
    """Escape, then Tab, goes on to the next thing, and changes nothing."""
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")

    assert area.input_value() == ""
    assert page.locator("#source:focus").count() == 0
