"""The pages in a real browser: for everybody, by keys alone, narrow, light and dark; and live."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.axe import faults
from support.browser import launch, make_server
from support.course_files import ROOT
from support.course_maker import front, make_course
from support.learn_command import START, environment, start_workspace
from support.process_tree import all_end, descendants
from support.repeat import rarely

from grader.course import load
from grader.model import LessonResult
from grader.store import Store
from grader.store.quiz_log import QuizLog
from grader.web.server import WebServer
from grader.workspace import find

PAGES = ("/", "/lesson/softmax", "/lesson/training", "/quiz", "/report", "/nowhere")


def look_at(at: Any, address: str, scheme: str) -> None:
    page = at(address)
    page.emulate_media(color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert faults(page) == [], (address, scheme)


@pytest.mark.slow
def test_nobody_is_kept_out(at: Any) -> None:
    """Axe finds nothing serious, in light and in dark."""
    look_at(at, "/lesson/softmax", "light")
    look_at(at, "/", "dark")


@pytest.mark.slow
def test_no_two_regions_bear_one_name(at: Any) -> None:
    """A list of the report's regions, as a screen reader gives it, has each section once."""
    assert faults(at("/report"), "landmark-unique") == []


@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.parametrize("address", [*PAGES, *(f"/lesson/{name}" for name in load(ROOT).lessons)])
def test_nobody_is_kept_out_of_any_page(page: Any, server: WebServer, address: str) -> None:
    """As above, on every page; in the dark only the colours are others."""
    page.goto(server.make_link(address))
    page.emulate_media(color_scheme="light")
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert faults(page) == []
    page.emulate_media(color_scheme="dark")
    assert faults(page, "color-contrast") == []


@pytest.mark.slow
def test_a_quiz_is_taken_by_keys_alone(at: Any) -> None:
    """From the first page to the end: letters, u, numbers, Enter."""
    page = at("/quiz")
    page.locator("button[value=softmax]").focus()
    page.keyboard.press("Enter")
    page.locator("input[name=predicted]:focus").wait_for()
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    for number in range(30):
        page.locator("#answer, .question h1:not(.hidden)").first.wait_for()
        page.wait_for_load_state()  # its script hears the keys
        if page.locator("#answer").count() == 0:
            break
        assert number or faults(page) == []
        if page.locator("input[type=radio]").count():
            page.keyboard.press("b")
            assert page.locator("input:checked").input_value() == "b"
            page.keyboard.press("u")
            assert page.locator("input:checked").count() == 0
            page.keyboard.press("a")
            page.keyboard.press("3")
        elif page.locator("input[type=checkbox]").count():
            page.keyboard.press("?")
        else:
            page.locator(".typed input").press("?")
            page.keyboard.press("Enter")
            page.locator("button[value=fairly]:focus").wait_for()
            page.keyboard.press("2")
        page.locator("#next").wait_for()
        page.wait_for_load_state()
        assert number or faults(page) == []
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: not url.endswith("/mark"))
    assert "right" in page.locator("h1").text_content() and "of 10 known" in page.locator(".lead").text_content()


@pytest.mark.slow
def test_a_formula_is_shown_while_it_is_typed(at: Any, workspace: Path) -> None:
    """As it is read, by keys alone, for everybody, narrow; the script that does it is one of our own."""
    with Store.open(find(workspace).store_path) as store:
        planned = QuizLog(store.database).begin_session("redo", ["heads"], [("quadratic_cost.attention_work", 1)])
    page = at(f"/quiz/{planned.session.id}")
    refused = list[str]()
    page.on("console", lambda message: refused.append(message.text) if message.type == "error" else None)
    page.set_viewport_size({"width": 400, "height": 800})
    page.locator(".typed input:focus").wait_for()
    page.keyboard.type("4D^2 / (L + 1)")
    page.locator("#reading mfrac msup").wait_for()
    assert page.locator("#reading").text_content().replace(" ", "") == "4·D2L+1"
    assert faults(page) == []
    page.keyboard.type(" +")
    page.get_by_text("Not read yet: ").wait_for()
    page.keyboard.type(" ".join(["D"] * 60))
    page.locator("#reading math").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.locator(".typed input").fill("")
    page.locator("#reading:empty").wait_for(state="attached")
    assert refused == []


@pytest.mark.slow
def test_an_exam_ends_with_its_marks(at: Any, workspace: Path) -> None:
    """What is expected is asked before them; by keys, for everybody, narrow."""
    with Store.open(find(workspace).store_path) as store:
        planned = QuizLog(store.database).begin_session("exam", ["softmax"], [("softmax.reduction_shapes", 90)])
    page = at(f"/quiz/{planned.session.id}")
    page.set_viewport_size({"width": 400, "height": 800})
    page.locator("button[value='?']").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="All answered").wait_for()
    assert faults(page) == []
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="The marks").wait_for()
    page.wait_for_load_state()  # the styles, too
    assert page.get_by_text("After answering you said 3.0").count() == 1
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert faults(page) == []


@pytest.mark.slow
def test_an_open_question_is_answered_by_keys_alone(at: Any) -> None:
    """What is typed is kept before it is sent; each step is for everybody, and narrow."""
    page = at("/open/attention_formula")
    page.set_viewport_size({"width": 400, "height": 800})
    page.locator("textarea:focus").wait_for()
    page.keyboard.type("Scores are divided by the root of d_k so that their variance is one.")
    page.get_by_text("Kept", exact=True).wait_for()
    page.reload()
    assert "divided by the root" in page.locator("textarea").input_value()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    for heading in ("Is it in your text?", "Did you write this"):
        page.get_by_role("heading", name=heading).wait_for()
        assert faults(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        page.locator("input[type=radio]").first.focus()
        for _ in range(page.locator("fieldset").count()):
            page.keyboard.press("Space")
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
    page.get_by_role("heading", name="A model answer").wait_for()
    assert faults(page) == []
    page.locator("button.main:focus").wait_for()
    page.keyboard.press("Enter")
    page.locator("#answer, h1:has-text('Claimed')").wait_for()


@pytest.mark.slow
def test_three_questions_are_answered_beside_the_text(at: Any) -> None:
    """By keys, without leaving the page or what is typed in the editor; each mark comes at once."""
    page = at("/lesson/attention")
    page.locator("#source").fill("# not lost")
    part = page.locator("#questions")
    below = page.locator("#questions ~ h2").all_text_contents()
    assert below[0].strip() == "Your task"
    part.get_by_role("button", name="Questions on this lesson").focus()
    page.keyboard.press("Enter")
    part.locator("input[name=predicted]:focus").wait_for()
    assert faults(page) == []
    page.keyboard.press("Enter")
    for number in range(1, 4):
        part.get_by_text(f"{number} of 3").wait_for()
        assert page.locator("#source").input_value() == "# not lost"
        page.keyboard.press("?") if part.locator(".typed").count() == 0 else part.locator("button[value='?']").click()
        part.locator("#next:focus").wait_for()
        assert "Not known yet" in part.locator("h1").text_content()
        assert number > 1 or faults(page) == []
        page.keyboard.press("Enter")
    part.get_by_text("Again: ").wait_for()
    assert page.url.endswith("/lesson/attention")


SHELL = """
```console
$ learn check mean
1.0 of 10
$ learn quiz mean
```

```
learn hint mean
```

```
mean = sum / n
```
"""


@pytest.mark.slow
def test_commands_are_copied_as_they_are_typed(page: Any, tmp_path: Path) -> None:
    """Without the sign before them and without what they printed; what is no code has no button."""
    course = make_course(tmp_path / "course", {"lessons/core/mean.md": front("mean") + SHELL})
    with make_server(start_workspace(tmp_path / "work", course), course) as server:
        page.goto(server.make_link("/lesson/mean"))
        copies = page.locator(".block .copy")
        for each, typed in enumerate(("learn check mean\nlearn quiz mean\n", "learn hint mean\n")):
            copies.nth(each).click()
            page.locator(".copy", has_text="Copied").nth(each).wait_for()
            assert page.evaluate("navigator.clipboard.readText()") == typed
        assert copies.count() == 2 and faults(page) == []


@pytest.mark.slow
def test_the_end_of_a_text_leads_to_the_editor_and_to_the_questions(at: Any) -> None:
    """What the text says of commands is a link or a button of the page."""
    page = at("/lesson/attention")
    page.get_by_role("link", name="A hint", exact=True).click()
    assert page.url.endswith("#hints")
    page.get_by_role("link", name="Write it in the editor of this page").click()
    assert page.url.endswith("#side") and page.locator(".commands").count() == 0
    in_text = page.get_by_role("list")  # another button stands beside the text
    in_text.get_by_role("button", name="Questions on this lesson", exact=True).click()
    assert "Attention, in code" in page.locator(".question .eyebrow").text_content()


@pytest.mark.slow
def test_a_hint_is_shown_in_place(at: Any) -> None:
    """The button gives way to the hint, which has the focus, and to the next button."""
    page = at("/lesson/softmax")
    page.get_by_role("button", name="A hint").click()
    page.locator(".hint:focus").wait_for()
    page.get_by_role("button", name="The next hint").wait_for()
    assert "hint 1 of 4" in page.locator("#hints").text_content()


@pytest.mark.slow
def test_an_exercise_that_was_reset_is_not_said_to_be_new(at: Any, server: WebServer, workspace: Path) -> None:
    """Above the score of last time stands what is true of the file, which is as it was given."""
    passed = LessonResult("embedding", "graded", 10.0, True, "cpu", 1, 0.1)
    with Store.open(find(workspace).store_path) as store:
        store.record_attempt(passed, "", datetime.now(UTC))
    server.feed.publish("embedding", {"state": "new"})
    page = at("/lesson/embedding")
    page.get_by_text("The exercise is empty: write it, and save it").wait_for()
    assert "10.0 of 10, last time" in page.locator("#verdict").text_content()


@pytest.mark.slow
def test_the_way_to_the_work_covers_nothing_of_it(at: Any) -> None:
    """On a narrow page it is there beside the text, and gone where the work is in sight."""
    page = at("/lesson/multi_head")
    page.set_viewport_size({"width": 400, "height": 500})
    page.locator(".jump").wait_for(state="visible")
    page.evaluate("document.getElementById('verdict').scrollIntoView()")
    page.locator(".jump").wait_for(state="hidden")


@pytest.mark.slow
@pytest.mark.parametrize("width, height", rarely([(1280, 800), (1440, 900), (400, 800)], [400]))
def test_hints_leave_the_verdict_in_sight(at: Any, width: int, height: int) -> None:
    """However many were shown, the newest is open, and what the judge says stands on the screen with the editor."""
    page = at("/lesson/multi_head")
    page.set_viewport_size({"width": width, "height": height})
    for number in range(page.locator(".hint").count(), 3):
        page.locator("#hints form button").click()
        page.locator(".hint").nth(number).wait_for()
    state, side = (page.locator(each).bounding_box()["y"] for each in ("#state", "#side"))
    assert page.locator(".hint[open]").count() == 1
    assert state - side < height - 150
    assert faults(page) == []


@pytest.mark.slow
def test_a_browser_that_is_killed_loses_nothing_and_leaves_nothing(chromium: Any, workspace: Path) -> None:
    """What was typed and answered until then is kept here; its processes are gone, and its place is free."""
    with make_server(workspace, ROOT) as server:
        browser = launch(chromium.browser_type)
        processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
        pid = next(each["id"] for each in processes if each["type"] == "browser")
        page = browser.new_page()
        page.goto(server.make_link("/lesson/causal_mask"))
        page.locator("#source").fill("# kept")
        page.get_by_text("Saved", exact=True).wait_for()
        page.locator("#questions").get_by_role("button").click()
        page.locator("#questions").get_by_role("button", name="Begin").click()
        page.locator("#questions button[value='?']").click()
        page.locator("#next").wait_for()

        started = descendants(pid)
        os.kill(pid, signal.SIGKILL)
        assert all_end(started)
        assert (workspace / "core/causal_mask.py").read_text() == "# kept"
        with Store.open(find(workspace).store_path) as store:
            assert [each.typed for each in QuizLog(store.database).answers() if each.topic == "causal_mask"] == ["?"]
        deadline = time.monotonic() + 60
        while server.followers and time.monotonic() < deadline:
            time.sleep(0.05)
        assert server.followers == 0


WRONG = """import torch


def softmax(x, dim=-1):
    e = (x - x.amax(-1, keepdim=True)).exp()
    return e / e.sum({})
"""


def look_at_shapes(page: Any) -> None:
    """After the verdict each line has the shapes that it made: right of it, or below where that is narrow."""
    page.locator(".made .wrong", has_text="return").wait_for()
    assert "return (" in page.locator(".line", has_text="return e / e.sum").text_content()
    page.get_by_text("In words").click()
    assert page.get_by_text(", no longer the reference's").count() == page.locator(".made .wrong").count()
    assert len({item.bounding_box()["x"] for item in page.locator("#shape-words li").all()}) == 1  # in one column
    assert "softmax: " in page.locator("#shape-words p").text_content()  # which is no line of the list
    assert faults(page) == []

    wide = page.viewport_size
    made, own = page.locator(".made").last, page.locator(".own").last
    assert made.bounding_box()["x"] >= own.bounding_box()["x"] + own.bounding_box()["width"]
    assert not made.locator(".sizes").first.is_visible()  # only the letters, where both have no room
    page.set_viewport_size({"width": 400, "height": 800})
    assert made.bounding_box()["y"] > own.bounding_box()["y"] + 8
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.set_viewport_size(wide)

    page.get_by_label("Shapes beside the lines").uncheck()
    assert not made.is_visible()
    page.reload()
    page.locator(".made .wrong").first.wait_for(state="attached")
    assert not made.is_visible()
    page.get_by_label("Shapes beside the lines").check()


INSIDE = """(line) => {
  const [own, seen] = [line, line.closest(".editor")].map((each) => each.getBoundingClientRect());
  return own.top >= seen.top && own.bottom <= seen.bottom;
}"""


def look_at_the_line(page: Any) -> None:
    """A marked line far down is in sight though nobody scrolled, and a click where it is named leads to it."""
    page.reload()
    page.locator(".named button", has_text="Line 62").wait_for()
    marked = page.locator(".line.marked").first
    assert marked.evaluate(INSIDE)

    page.locator(".editor").evaluate("(editor) => { editor.scrollTop = 0; }")
    assert not marked.evaluate(INSIDE)
    page.locator(".named button", has_text="Line 62").click()
    assert marked.evaluate(INSIDE) and page.locator("#source:focus").count() == 1
    assert page.locator("#source").evaluate("(area) => area.value.slice(0, area.selectionStart)").count("\n") == 61


@pytest.mark.slow
def test_what_is_typed_is_judged_and_the_trap_unfolds(page: Any, tmp_path: Path) -> None:
    """From the key to the verdict in a real browser: line and shapes marked, the trap open; mended it passes."""
    workspace = start_workspace(tmp_path / "work", ROOT)
    (workspace / "core/softmax.py").write_text(WRONG.replace("\n\n\n", "\n" * 60).format("dim, keepdim=True"))
    process = subprocess.Popen(
        [sys.executable, "-c", START, "web", "softmax", "--no-open"], cwd=workspace, env=environment(ROOT),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        page.goto(process.stdout.readline().split()[1])
        page.locator("[data-state=failed]").wait_for()
        assert page.locator(".trap.yours[open]").count() == 1
        page.locator(".line.marked").first.wait_for()
        look_at_shapes(page)
        look_at_the_line(page)

        (workspace / "core/softmax.py").write_text(WRONG.format("dim"))  # another editor, nothing typed here
        page.locator("#coloured", has_text="e.sum(dim)").wait_for()
        page.locator("#source").fill((ROOT / "solutions/core/softmax.py").read_text())
        page.locator("[data-state=passed]").wait_for()
        assert page.locator("#verdict .score").text_content().split()[0] == "10.0"
        assert page.locator(".line.marked, .trap.yours").count() == 0
        page.locator(".made .right", has_text="return").wait_for()
        assert page.locator(".made .wrong").count() == 0

        (workspace / "core/softmax.py").unlink()
        page.get_by_text("The file is gone. Ctrl-S writes it back").wait_for()
        page.locator("#verdict", has_text="Ctrl-S in the editor writes back what stands there").wait_for()
        page.locator("#source").focus()
        page.keyboard.press("Control+s")
        page.locator("[data-state=passed]").wait_for()
        assert (workspace / "core/softmax.py").read_text() == (ROOT / "solutions/core/softmax.py").read_text()
        page.locator(".made .right", has_text="return").wait_for()

        page.locator("#source").focus()
        page.keyboard.press("Control+Home")
        page.keyboard.type("# above\n")  # until there are new ones, the old ones move with their lines
        assert page.locator(".stale .made .right", has_text="return").count() == 1
    finally:
        process.kill()
        process.communicate()
