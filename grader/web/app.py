"""Which address is which page."""

from __future__ import annotations

import json
import os
from http import HTTPStatus
from pathlib import Path

from markupsafe import Markup
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from grader.course.questions import has_questions
from grader.errors import SelfattendError, WorkspaceError
from grader.model import Lesson
from grader.store.hints import next_hint, show_hint, shown_hints
from grader.web.exercise import Conflict, read_work, write_work
from grader.web.feed import Feed, Full
from grader.web.home import home_view
from grader.web.lesson_text import lesson_html
from grader.web.page import read_form, show_page, show_style
from grader.web.questions.open_pages import OpenPages
from grader.web.questions.quiz_pages import QuizPages
from grader.web.report_page import report_view
from grader.web.site import Site
from grader.workspace import create

HERE = Path(__file__).parent
TASK = "<h2>\nYour task</h2>"  # which the questions on the text stand above


def make_app(site: Site) -> Starlette:
    """Return the application, which must stand behind the guard."""
    pages = _Pages(site)
    routes = [
        Route("/", pages.home),
        Route("/way", pages.follow_way, methods=["POST"]),
        Route("/lesson/{name}", pages.lesson),
        Route("/lesson/{name}/hint", pages.show_hint, methods=["POST"]),
        Route("/events/{name}", pages.events),
        Route("/file/{name}", pages.read_file),
        Route("/file/{name}", pages.write_file, methods=["PUT"]),
        *QuizPages(site).routes,
        *OpenPages(site).routes,
        Route("/report", pages.report),
        Route("/style.css", show_style),
        Mount("/static", StaticFiles(directory=HERE / "static")),
    ]
    handlers = {HTTPException: _show_refusal, SelfattendError: _show_trouble, Exception: _show_fault}
    return Starlette(routes=routes, exception_handlers=handlers)  # type: ignore[arg-type]  # narrower than Exception


class _Pages:
    """The pages of one site. Those that are no coroutines run in threads: they read files and the store."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def home(self, request: Request) -> Response:
        page = show_page("home", home_view(self._site))
        self._site.shown.set()
        return page

    async def follow_way(self, request: Request) -> Response:
        """Follow another way through the course, as `learn start --way` does."""
        name = (await read_form(request)).get("way", "")
        if name not in self._site.course.ways:
            raise HTTPException(404, "There is no such way.")
        await run_in_threadpool(create, self._site.workspace.root, self._site.course, name)
        return RedirectResponse("/", 303)

    def report(self, request: Request) -> Response:
        return show_page("report", report_view(self._site))

    def lesson(self, request: Request) -> Response:
        lesson = self._lesson(request)
        known = self._site.read_progress()
        lessons = self._site.course.lessons_along(self._site.read_way())
        number = lessons.index(lesson)
        self._site.on_open(lesson)
        text, heading, task = map(Markup, str(lesson_html(lesson)).partition(TASK))
        view = {
            "lesson": lesson,
            "file": f"{lesson.track}/{lesson.name}.py",
            "text": text,
            "task": heading + task,
            **self._hints(lesson),
            "known": known[lesson.name],
            "asks": has_questions(lesson),
            **self._work(lesson),
            "before": lessons[number - 1] if number else None,
            "after": lessons[number + 1] if number + 1 < len(lessons) else None,
        }
        self._site.shown.set()
        return show_page("lesson", view)

    def _hints(self, lesson: Lesson) -> dict[str, object]:
        with self._site.open_store() as store:
            return {"hints": list(shown_hints(lesson, store)), "next_hint": next_hint(lesson, store)}

    async def show_hint(self, request: Request) -> Response:
        """Show the next hint of a function, and count it."""
        lesson, form = self._lesson(request), await read_form(request)
        number = int(form["number"]) if form.get("number", "").isdecimal() and len(form["number"]) < 4 else 0
        await run_in_threadpool(self._show_hint, lesson, form.get("function", ""), number)
        return RedirectResponse(f"/lesson/{lesson.name}#hints", 303)

    def _show_hint(self, lesson: Lesson, function: str, number: int) -> None:
        with self._site.open_store() as store:
            show_hint(lesson, store, function, number)

    def _work(self, lesson: Lesson) -> dict[str, object]:
        try:
            return {"work": read_work(self._site.workspace.exercise_path(lesson)), "trouble": ""}
        except WorkspaceError as error:
            return {"work": None, "trouble": str(error)}

    def read_file(self, request: Request) -> Response:
        """Return the file; 404 where it is gone, 422 where it cannot be edited."""
        path = self._site.workspace.exercise_path(self._lesson(request))
        try:
            return JSONResponse(read_work(path)._asdict())
        except WorkspaceError as error:
            return JSONResponse({"says": str(error)}, 422 if os.path.lexists(path) else 404)

    async def write_file(self, request: Request) -> Response:
        """Write what the page has; 409 with the file as it is if that is not the one that the page knows."""
        path = self._site.workspace.exercise_path(self._lesson(request))
        try:
            sent = json.loads(await request.body())
            text, version = str(sent["text"]), str(sent["version"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return JSONResponse({"says": "that is no text of a file"}, 400)
        try:
            written = await run_in_threadpool(write_work, path, text, version)
        except Conflict as found:
            return JSONResponse(found.work._asdict(), 409)
        except WorkspaceError as error:
            return JSONResponse({"says": str(error)}, 422)
        return JSONResponse({"version": written.version})

    async def events(self, request: Request) -> Response:
        return _EventStream(self._site.feed, self._lesson(request).name)

    def _lesson(self, request: Request) -> Lesson:
        """Return the lesson of exactly this name: a name is looked up, never made a path of."""
        lesson = self._site.course.lessons.get(request.path_params["name"])
        if lesson is None:
            raise HTTPException(404, "There is no such lesson.")
        return lesson


class _EventStream(StreamingResponse):
    """The events of a lesson, if there is a place for one more who follows; it is free again when this one goes."""

    def __init__(self, feed: Feed, lesson: str) -> None:
        super().__init__(feed.follow(lesson), media_type="text/event-stream")
        self._feed = feed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with self._feed.place():
                await super().__call__(scope, receive, send)
        except Full:
            raise HTTPException(503, "Too many pages are open.") from None


def _show_refusal(request: Request, error: HTTPException) -> Response:
    title = "There is no such page." if error.detail == HTTPStatus.NOT_FOUND.phrase else error.detail
    return show_page("trouble", {"title": title, "says": ""}, error.status_code)


def _show_fault(request: Request, error: Exception) -> Response:
    return show_page("trouble", {"title": "A fault of ours", "says": f"{type(error).__name__}: {error}"}, 500)


def _show_trouble(request: Request, error: SelfattendError) -> Response:
    return show_page("trouble", {"title": error.what, "says": str(error)}, 500)
