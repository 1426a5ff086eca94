"""A server on this machine that speaks as OpenAI's does: it answers well, badly, slowly, or not at all."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[["Server", dict[str, Any]], Any]


class Server(ThreadingHTTPServer):
    """`reply` makes what is answered to a body: a text to wrap as a model's, (status, bytes), or None to hang up."""

    daemon_threads = True

    def __init__(self, reply: Reply) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply = reply
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.over = threading.Event()  # lets a handler that waits for nothing end with the test

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        self.server.headers.append(dict(self.headers))
        self.server.paths.append(self.path)
        reply = self.server.reply(self.server, body)
        if reply is None:
            return
        if callable(reply):
            reply(self)
            return
        status, content = reply if isinstance(reply, tuple) else (200, wrapped(reply))
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", content.decode())
            content = b""
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: object) -> None:
        """Nothing is printed."""


def wrapped(content: str) -> bytes:
    """What a model wrote, as a server hands it over."""
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]}).encode()


def asked(body: dict[str, Any]) -> dict[str, Any]:
    """The data of a request: the question, the key points and the answer."""
    return json.loads(body["messages"][-1]["content"])


def marks(points: dict[str, tuple[str, str]]) -> str:
    """A reply as it should be: point -> (met, quote)."""
    return json.dumps({"points": [{"id": id_, "met": met, "quote": quote} for id_, (met, quote) in points.items()]})


@contextmanager
def serving(reply: Reply) -> Iterator[Server]:
    """A server while the context lasts; nothing of it is left."""
    server = Server(reply)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join(10)
