"""`learn web`: the course in the browser, with a verdict on each save."""

from __future__ import annotations

import queue
import signal
import webbrowser
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any

import click

from grader.cli.check.live_work import LiveWork, end_as_ctrl_c, make_live_work
from grader.cli.context import find_context
from grader.cli.lesson_parameters import lesson_argument
from grader.cli.options import WholeNumber, course_option
from grader.model import Lesson, LessonResult
from grader.terminal.console import has_screen, put, wrap
from grader.terminal.text import score_text

if TYPE_CHECKING:
    from grader.web.feed import Feed

SECONDS_FOR_PAGE = 1.0  # for which the judge waits: importing PyTorch would hold up the first page


@click.command("web")
@lesson_argument(required=False)
@click.option("--port", type=WholeNumber(0, 65535), default=0, metavar="N", help="The port; this workspace's own.")
@click.option("--open/--no-open", "opens", default=True, help="Open the browser, or only print the link.")
@course_option
@click.pass_context
def command(ctx: click.Context, lesson: str | None, port: int, opens: bool) -> None:
    """Read, write and check in the browser, each time that you save.

    The pages are on this machine alone, work offline, and are for whoever has the link that is printed: it opens one
    browser. Ctrl-C ends it.

    \b
    Example:
      learn web
      learn web attention
    """
    context = find_context(ctx)
    workspace = context.require_workspace()
    path = f"/lesson/{context.lesson(lesson).name}" if lesson else "/"
    from grader.web.server import WebServer
    from grader.web.site import Site

    work = make_live_work(context)
    site = Site(
        context.course, workspace, context.store, context.progress, lambda each: work.events.put(("opened", each))
    )
    with WebServer(site, port) as server:
        put(f"Open  {server.make_link(path)}")
        put(wrap("The link is for one browser, and works once. Ctrl-C ends the pages.", 6))
        if opens and has_screen():
            Thread(target=webbrowser.open, args=[server.make_link(path)], daemon=True).start()
            site.shown.wait(SECONDS_FOR_PAGE)
        signal.signal(signal.SIGTERM, end_as_ctrl_c)
        work.judge_saves(lambda: _publish_verdicts(work, site.feed), follows=lambda _: True)


def _publish_verdicts(work: LiveWork, feed: Feed) -> None:
    """Judge what is opened or saved, the newest first, until Ctrl-C."""
    from grader.reports.formats.picture_html import pictures_to_html
    from grader.web.exercise import current_version
    from grader.web.verdict import verdict_event

    workspace = work.run.context.require_workspace()

    waiting: dict[str, Lesson] = {}
    while True:
        for kind, lesson in _take(work, wait=not waiting):
            if kind == "opened" and lesson.name not in work.verdicts and not work.run.context.edited_at(lesson):
                feed.publish(lesson.name, {"state": "new"})
            elif kind == "saved" or lesson.name not in work.verdicts:
                waiting.pop(lesson.name, None)
                waiting[lesson.name] = lesson
        if not waiting:
            continue
        name, lesson = waiting.popitem()
        version = {"version": current_version(workspace.exercise_path(lesson))}
        working = {"state": "working", **version}
        work.on_score = partial(_publish_score, feed, name, working)
        feed.publish(name, working)
        if work.examine(lesson):
            event = verdict_event(lesson, work.verdicts.get(name), work.before.get(name), work.troubles.get(name, ""))
            event |= version
            feed.publish(name, event)
            if waiting:
                continue
            # the verdict first; a newer save overtakes these, too
            event["pictures"] = pictures_to_html(work.draw_pictures(lesson))
            feed.publish(name, event)
            if (shapes := work.describe_shapes(lesson)) is not None:
                feed.publish(name, event | {"shapes": shapes})
        else:
            waiting = {name: lesson, **waiting}


def _publish_score(feed: Feed, name: str, working: dict[str, Any], result: LessonResult) -> None:
    feed.publish(name, working | {"score": score_text(result.score)})


def _take(work: LiveWork, wait: bool) -> list[tuple[str, Lesson]]:
    """Return what happened since; with `wait` something is waited for."""
    events = [work.take()] if wait else []
    while True:
        try:
            events.append(work.take(wait=False))
        except queue.Empty:
            return events
