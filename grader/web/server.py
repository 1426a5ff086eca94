"""Serve pages on 127.0.0.1, in a thread: the main thread is the judge's."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import socket
import threading
import zlib
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from grader.errors import UsageError
from grader.web.app import make_app
from grader.web.guard import POLICY, Guard, Keys
from grader.web.site import Site

ADDRESS = "127.0.0.1"
SECONDS_TO_END = 2
FIRST_PORT, PORTS = 20_000, 10_000  # below those that systems give to outgoing connections
MAX_HEAD_BYTES = 64 << 10  # of a request; many servers on this machine give the browser cookies that come here, too
TOO_LONG = "This browser sends too many cookies to 127.0.0.1: delete some, or open the page in a private window."
HEAD_ENDS = re.compile(rb"\n\r?\n")
MAX_HEAD_LINES = 200  # a browser sends some twenty
UNFIT = re.compile(rb"[\0\v\f]|\r(?!\n)")  # for a head; h11 refuses each, behind n blanks in n * n steps
MAX_CONNECTIONS = 128  # open at once, four for each page that follows a lesson; a process may often have 1024 files


class _Requests(h11.Connection):
    """What one connection says. Behind the head of a request whose body comes in chunks nothing is read.

    To take chunks of one byte apart costs the server a hundred times what it costs to send them. A head that would be
    dear to take apart is refused before.
    """

    chunked = is_too_long = False
    searched = 0  # bytes of half a head: who sends one byte after the other has each searched once

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        if self.their_state is h11.IDLE and self._is_dear(self.trailing_data[0]):
            raise h11.RemoteProtocolError("this is no head of a request")
        event = h11.NEED_DATA if self.chunked else super().next_event()
        self.chunked |= isinstance(event, h11.Request) and b"transfer-encoding" in dict(event.headers)
        return event

    def _is_dear(self, waiting: bytes) -> bool:
        """Return True if a head has come that is long, or half of one, or that holds a sign that none may."""
        ends = HEAD_ENDS.search(waiting, self.searched)
        self.searched = 0 if ends else max(0, len(waiting) - 2)
        end = ends.end() if ends else len(waiting)
        # each line is taken apart by itself, which costs more than its length
        self.is_too_long = end > MAX_HEAD_BYTES or (ends is not None and waiting.count(b"\n", 0, end) > MAX_HEAD_LINES)
        return self.is_too_long or (ends is not None and bool(UNFIT.search(waiting, 0, end)))


class _BoundedProtocol(H11Protocol):
    """A connection; of too many, the oldest that never had a key is closed, then the oldest with nothing under way.

    Whoever may connect, other users of the machine among them, could else take all files that the judge needs, or all
    connections: what they have under way counts for nothing.
    """

    numbers = itertools.count()
    has_key = False  # the guard says so

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.number, self.app_state = next(self.numbers), {"connection": self}
        self.conn = _Requests(h11.SERVER, MAX_HEAD_BYTES)
        if len(self.connections) > MAX_CONNECTIONS:
            others: set[Any] = self.connections - {self}
            idle = [one for one in others if not one.has_key or one.cycle.response_complete]
            oldest = min(idle, key=lambda one: (one.has_key, one.number), default=self)
            self.connections.discard(oldest)  # now: what is aborted is lost later, and many may come at once
            oldest.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request, and say why one of a browser is none."""
        is_too_long = isinstance(self.conn, _Requests) and self.conn.is_too_long
        super().send_400_response(TOO_LONG if is_too_long else msg)


def usual_port(workspace: Path) -> int:
    """Return the port of a workspace, the same each time, so that its bookmarks and open pages find it again."""
    return FIRST_PORT + zlib.crc32(os.fsencode(workspace)) % PORTS


class PageServer:
    """A context in which the pages of an application are there; *command* is what serves them.

    Port 0 is the *usual* one if that is free, else any. Raises UsageError for a port that cannot be had.
    """

    def __init__(self, app: ASGIApp, port: int, command: str, policy: str = POLICY, usual: int = 0) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # only what is left of closed connections
        try:
            self._socket.bind((ADDRESS, port or usual))
        except OSError as error:
            if port:
                self._socket.close()
                what = f"port {port} cannot be used: {error.strerror}"
                raise UsageError(what, next_step=f"{command} (without --port it takes one that is free)") from None
            self._socket.bind((ADDRESS, 0))
        self._socket.listen(128)  # so that a browser that is quicker than the server waits
        self.port = self._socket.getsockname()[1]
        self._keys = Keys(self.port)
        # no lifespan, web sockets, logs or word of what runs here: pages and nothing else
        config = uvicorn.Config(
            Guard(app, self._keys, self.port, policy, command),
            loop="asyncio",
            http=_BoundedProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), name="web", daemon=True)

    def make_link(self, path: str = "/") -> str:
        """Return a link that opens the pages in one browser."""
        return f"http://{ADDRESS}:{self.port}{path}?key={self._keys.make_link()}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.should_exit = True
        self._thread.join(SECONDS_TO_END)
        self._socket.close()


class WebServer(PageServer):
    """The pages of `learn web`."""

    def __init__(self, site: Site, port: int) -> None:
        super().__init__(make_app(site), port, "learn web", usual=usual_port(site.workspace.root))
        self.feed = site.feed

    @property
    def followers(self) -> int:
        """Return how many pages wait for events now."""
        return self.feed.followers

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.feed.close()
        super().__exit__(kind, error, at)
