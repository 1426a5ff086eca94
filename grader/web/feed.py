"""Carry news of a lesson from the judge's thread to the pages that show it, as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

MAX_FOLLOWERS = 32  # pages open at once
ALIVE_SECONDS = 15.0  # after which a line is sent that says nothing, so that a closed page is noticed


class Full(Exception):
    """As many follow as may."""


class Feed:
    """The last event of each lesson; whoever follows a lesson gets that, and each newer one."""

    def __init__(self) -> None:
        self.followers = 0
        self._last: dict[str, tuple[int, str]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news = asyncio.Event()
        self._is_closed = False

    def publish(self, lesson: str, event: dict[str, Any]) -> None:
        """Make this the lesson's last event. Any thread may call this."""
        self._last[lesson] = (self._last.get(lesson, (0, ""))[0] + 1, json.dumps(event))
        self._call_followers()

    def last(self, lesson: str) -> dict[str, Any]:
        """Return the lesson's last event; empty where there was none."""
        return json.loads(self._last.get(lesson, (0, "{}"))[1])  # type: ignore[no-any-return]

    def close(self) -> None:
        """End all streams. Any thread may call this."""
        self._is_closed = True
        self._call_followers()

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold one of the places of those who follow. Raises Full.

        It is taken before the stream begins: of many who ask at once, each would else find the same one free.
        """
        if self.followers >= MAX_FOLLOWERS:
            raise Full
        self.followers += 1
        try:
            yield
        finally:
            self.followers -= 1

    async def follow(self, lesson: str) -> AsyncIterator[str]:
        """Yield the lesson's events, in the format of event streams, until the reader goes."""
        self._loop, seen = asyncio.get_running_loop(), 0
        yield "retry: 1000\n\n"
        while not self._is_closed:
            news, (number, data) = self._news, self._last.get(lesson, (0, ""))
            if number != seen:
                seen = number
                yield f"data: {data}\n\n"
                continue
            try:
                await asyncio.wait_for(news.wait(), ALIVE_SECONDS)
            except TimeoutError:
                yield ":\n\n"

    def _call_followers(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()
