"""Serve pages on 127.0.0.1, in a thread: the main thread is the judge's."""

from __future__ import annotations

import socket
import threading
from types import TracebackType
from typing import Self

import uvicorn
from starlette.types import ASGIApp

from grader.errors import UsageError
from grader.web.app import make_app
from grader.web.guard import POLICY, Guard, Keys
from grader.web.site import Site

ADDRESS = "127.0.0.1"
SECONDS_TO_END = 2


class PageServer:
    """A context in which the pages of an application are there; *command* is what serves them.

    Raises UsageError for a port that cannot be had.
    """

    def __init__(self, app: ASGIApp, port: int, command: str, policy: str = POLICY) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # only what is left of closed connections
        try:
            self._socket.bind((ADDRESS, port))
        except OSError as error:
            self._socket.close()
            what = f"port {port} cannot be used: {error.strerror}"
            raise UsageError(what, next_step=f"{command} (without --port it takes one that is free)") from None
        self._socket.listen(128)  # so that a browser that is quicker than the server waits
        self.port = self._socket.getsockname()[1]
        self._keys = Keys(self.port)
        # no lifespan, web sockets, logs or word of what runs here: pages and nothing else
        config = uvicorn.Config(
            Guard(app, self._keys, self.port, policy, command),
            loop="asyncio",
            http="h11",
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
        super().__init__(make_app(site), port, "learn web")
        self._feed = site.feed

    @property
    def followers(self) -> int:
        """Return how many pages wait for events now."""
        return self._feed.followers

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._feed.close()
        super().__exit__(kind, error, at)
