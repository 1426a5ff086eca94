"""Asks an OpenAI-compatible server, with the standard library alone.

Nothing is trusted about the other end: every wait has a limit, a reply has a largest size, and no redirect is followed,
since it would take the answer and the key to a host that nobody agreed to.
"""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from http.client import HTTPException, HTTPMessage
from typing import IO, Any

from grader.errors import GraderError
from grader.quiz.judge.settings import COMPLETIONS, Settings

SECONDS = 120.0  # for one reply: a model on a laptop is slow
MOST_BYTES = 1 << 20
TEMPERATURE = 0.3
MOST_TOKENS = 2000
NO_SCHEMA = (400, 422, 501)  # what servers say that do not know how to be held to a schema
PIECE = 1 << 16

Messages = Sequence[Mapping[str, str]]


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None


class Endpoint:
    """One server and model. `seconds` is the longest that one reply may take."""

    def __init__(self, settings: Settings, seconds: float = SECONDS, key: str | None = None) -> None:
        self.settings, self.seconds = settings, seconds
        self._key = settings.key(os.environ) if key is None else key
        self._takes_schema = True
        # a proxy is for the world outside; for this machine it would be a way out
        around = [urllib.request.ProxyHandler({})] if settings.loopback else []
        self._opener = urllib.request.build_opener(_NoRedirect, *around)

    def ask(self, messages: Messages, schema: Mapping[str, Any]) -> str:
        """What the model says, held to a JSON schema where the server can do that. Raises GraderError."""
        if self._takes_schema:
            held = {"type": "json_schema", "json_schema": {"name": "marks", "strict": True, "schema": schema}}
            try:
                return self._post({**self._body(messages), "response_format": held})
            except urllib.error.HTTPError as error:
                error.close()
                if error.code not in NO_SCHEMA:
                    raise self._refused(error) from None
                self._takes_schema = False
        try:
            return self._post(self._body(messages))
        except urllib.error.HTTPError as error:
            error.close()
            raise self._refused(error) from None

    def _body(self, messages: Messages) -> dict[str, Any]:
        return {
            "model": self.settings.model, "messages": list(messages), "temperature": TEMPERATURE,
            "max_tokens": MOST_TOKENS, "stream": False,
        }  # fmt: skip

    def _post(self, body: Mapping[str, Any]) -> str:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "selfattend"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(
            self.settings.base_url + COMPLETIONS, json.dumps(body).encode(), headers, method="POST"
        )
        until = time.monotonic() + self.seconds
        try:
            with self._opener.open(request, timeout=self.seconds) as reply:
                return _content(self._read(reply, until))
        except urllib.error.HTTPError:
            raise
        except TimeoutError:
            raise self._failed(f"did not answer within {self.seconds:g} seconds") from None
        except (OSError, HTTPException, UnicodeError) as error:  # the last for a host that no name can be
            reason = getattr(error, "reason", error)
            if isinstance(reason, TimeoutError):
                raise self._failed(f"did not answer within {self.seconds:g} seconds") from None
            said = getattr(reason, "strerror", "") or str(reason) or type(reason).__name__
            raise self._failed(f"cannot be reached: {said}") from None

    def _read(self, reply: Any, until: float) -> bytes:
        found = bytearray()
        while piece := reply.read1(PIECE):
            found += piece
            if len(found) > MOST_BYTES:
                raise self._failed("sent more than any answer needs")
            if time.monotonic() > until:
                raise TimeoutError
        return bytes(found)

    def _refused(self, error: urllib.error.HTTPError) -> GraderError:
        known = {
            401: "wants a key, or another one", 403: "refuses this key", 404: f'knows no model "{self.settings.model}"',
            429: "has had too many questions", 413: "finds the answer too long",
        }  # fmt: skip
        if 300 <= error.code < 400:
            return self._failed("sends elsewhere, where nothing is sent to")
        return self._failed(f"{known.get(error.code, 'reports an error')} (HTTP {error.code})")

    def _failed(self, what: str) -> GraderError:
        return GraderError(f"the model's server {what}", where=self.settings.base_url, next_step="learn judge")


def _content(raw: bytes) -> str:
    """What the model wrote; "" where the server's reply has no such place."""
    try:
        content = json.loads(raw)["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
    return content if isinstance(content, str) else ""
