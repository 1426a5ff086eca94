"""The pages at 400 pixels."""

from __future__ import annotations

from typing import Any

import pytest
from support.course_files import ROOT

from grader.course import load
from grader.model import CheckResult, LessonResult
from grader.web.server import WebServer
from grader.web.verdict import verdict_event

PAGES = ("/", "/lesson/softmax", "/lesson/training", "/quiz", "/report", "/nowhere")


@pytest.mark.slow
def test_nothing_is_wider_than_a_narrow_screen(at: Any) -> None:
    """At 400 pixels no page scrolls sideways."""
    for address in PAGES:
        page = at(address)
        page.set_viewport_size({"width": 400, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 400, address


@pytest.mark.slow
def test_the_numbers_of_a_list_stand_inside_the_margin(at: Any) -> None:
    """A number of two digits before an open question takes no room that the list does not leave it."""
    room = """each => {
        const drawn = document.createElement("canvas").getContext("2d");
        drawn.font = getComputedStyle(each).font;
        const left = parseFloat(getComputedStyle(each.parentElement).paddingLeft);
        return left - drawn.measureText(each.value + ". ").width;
    }"""
    rooms = at("/quiz").locator("ol.choices li").evaluate_all(f"all => all.map({room})")
    assert len(rooms) >= 10 and min(rooms) >= 0, rooms


@pytest.mark.slow
def test_a_narrow_report_has_what_its_text_explains(at: Any) -> None:
    """At 400 pixels each topic has its label; the bar alone, which says the score again, is left out."""
    page = at("/report")
    page.set_viewport_size({"width": 400, "height": 800})
    labels = page.get_by_role("group", name="Topics").get_by_role("cell", name="too few to say").all()
    assert labels and all(each.is_visible() for each in labels)
    assert all(each.bounding_box()["x"] + each.bounding_box()["width"] <= 400 for each in labels)


@pytest.mark.slow
def test_many_checks_stand_in_one_narrow_row(at: Any, server: WebServer) -> None:
    """At 400 pixels 27 squares are narrower, and none is in a second row."""
    checks = [CheckResult(f"check_{number}", "f", "It.", "it", "passed", 1.0, 1.0) for number in range(27)]
    passed = LessonResult("rope", "graded", 10.0, True, "cpu", 1, 0.1, checks=tuple(checks))
    server.feed.publish("rope", verdict_event(load(ROOT).lessons["rope"], passed, None, ""))
    page = at("/lesson/rope")
    page.set_viewport_size({"width": 400, "height": 800})
    squares = page.locator(".marks i")
    squares.first.wait_for()
    assert len({each.bounding_box()["y"] for each in squares.all()}) == 1 and squares.count() == 27
