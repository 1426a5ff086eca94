"""Ask the pages of `learn web` as a program does that speaks HTTP."""

from __future__ import annotations

import http.client
import json
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from email.message import Message
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from grader.course import aliases, load
from grader.model import LessonProgress
from grader.store import Store
from grader.web.server import WebServer
from grader.web.site import Site
from grader.workspace import find
from support.learn_command import TINY

SECONDS = 60


class Answer(NamedTuple):
    status: int
    headers: Message
    body: bytes


class Visitor:
    """A browser's half: one connection at a time, with the cookie that the link gave."""

    def __init__(self, link: str) -> None:
        self.host, self.key = urlsplit(link).netloc, f"/?{urlsplit(link).query}"
        self.cookie = ""

    def enter(self) -> int:
        """Follow the link, and keep the cookie."""
        answer = self.ask("GET", self.key)
        self.cookie = (answer.headers["set-cookie"] or "").split(";")[0]
        return answer.status

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str | None] | None = None) -> Answer:
        """Send a request and read the answer; a header that is None is left out."""
        connection = http.client.HTTPConnection(self.host, timeout=SECONDS)
        with closing(connection), self._request(connection, method, path, body, headers) as answer:
            return Answer(answer.status, answer.headers, answer.read())

    def read(self, path: str) -> str:
        """The text of a page."""
        answer = self.ask("GET", path)
        assert answer.status == 200, path
        return answer.body.decode()

    @contextmanager
    def events(self, lesson: str) -> Iterator[Events]:
        """The events of a lesson, as they come."""
        connection = http.client.HTTPConnection(self.host, timeout=SECONDS)
        with closing(connection), self._request(connection, "GET", f"/events/{lesson}", None, None) as answer:
            yield Events(answer)

    def _request(self, connection: Any, method: str, path: str, body: Any, headers: Any) -> http.client.HTTPResponse:
        usual = {"Cookie": self.cookie or None, "Origin": f"http://{self.host}" if method != "GET" else None}
        given = {name: value for name, value in {**usual, **(headers or {})}.items() if value is not None}
        connection.request(method, path, body, given)
        return connection.getresponse()


class Events:
    """The events of a lesson, one after the other."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        assert answer.status == 200
        self.answer = answer

    def next(self, *states: str) -> dict[str, Any]:
        """The next event that is of one of these states."""
        while line := self.answer.readline():
            if line.startswith(b"data: ") and (event := json.loads(line[6:]))["state"] in states:
                return event
        raise AssertionError("the stream has ended")


def find_chromium() -> str | None:
    """The system's Chromium, if it has one."""
    return next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-browser"))), None)


def launch(kind: Any) -> Any:
    """A browser; its own sandbox is left out, since root may not use it, and so is what imitates a graphics card."""
    return kind.launch(executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"])


def make_server(workspace: Path, course: Path = TINY, opened: list[str] | None = None) -> WebServer:
    """The pages of a workspace without a judge."""
    loaded, seen = load(course), [] if opened is None else opened
    path = find(workspace).store_path

    def open_store() -> Store:
        return Store.open(path, aliases=aliases(loaded))

    def progress() -> dict[str, LessonProgress]:
        with open_store() as store:
            known = store.summary()
        return {name: known.get(name, LessonProgress("")) for name in loaded.lessons}

    return WebServer(Site(loaded, find(workspace), open_store, progress, lambda lesson: seen.append(lesson.name)), 0)
