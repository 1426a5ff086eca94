"""Let in who has the link, from this machine's own pages; refuse everything else before a page is made.

Other programs, other users of the machine and other sites' pages in the same browser can all reach a local port. A
request must name this server as its host, come from no other origin, and carry the cookie that a link gave. Until that
is known it is searched for our own names alone: what reads all cookies takes seconds for one that is made for it. Other
users can read a link in the list of processes, where it opens the browser: on Linux nothing is answered to them.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import socket
import struct
from collections.abc import Iterable
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

getuid = getattr(os, "getuid", int)  # Windows has none
MAX_BODY_BYTES = 300_000  # a learner's file has at most 250,000
BODY_SECONDS = 2.0  # for the body of a request that is refused
CONNECTIONS = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LISTENS = "0A"  # as Linux writes it
KEY = re.compile(rb"(?:^|&)key=([\w-]*)", re.ASCII)  # of a link
UNREAD = (HTTPStatus.LENGTH_REQUIRED, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)  # their bodies
MAX_LINKS = 100  # not used yet
AGAIN = "`{0}` was started again: open the link that it printed, then load this page again."
LINK = "Use the link that `{0}` printed. It opens one browser: for another, start `{0}` again."
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-DNS-Prefetch-Control": "off",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Keys:
    """One-time links, and the cookie that each is exchanged for."""

    def __init__(self, port: int) -> None:
        self.cookie, self._secret = f"selfattend-{port}", secrets.token_urlsafe(32)
        self._cookies = re.compile(rf"(?:^|;) *{self.cookie}=([\w-]*) *(?=;|$)", re.ASCII)
        self._links: list[str] = []

    def make_link(self) -> str:
        """Return a key that opens the pages for one browser."""
        self._links = [*self._links[1 - MAX_LINKS :], secrets.token_urlsafe(32)]
        return self._links[-1]

    def opens(self, key: str) -> bool:
        """Return True for a key that is not used up."""
        # all are compared: the time tells of none
        return any([secrets.compare_digest(link.encode(), key.encode()) for link in self._links])

    def redeem(self, key: str) -> bool:
        """Use up a key; False if there is none such, or no longer."""
        if not self.opens(key):
            return False
        self._links.remove(key)
        return True

    def fits(self, cookies: Iterable[str]) -> bool:
        """Return True if the secret is among the cookies of our name."""
        return any([secrets.compare_digest(cookie.encode(), self._secret.encode()) for cookie in cookies])

    def cookies(self, headers: Headers) -> list[str]:
        """Return the cookies of our name, and look at no other."""
        return [one for line in headers.getlist("cookie") for one in self._cookies.findall(line)]

    def give(self, response: Response) -> None:
        # "lax": the link may be opened from another page, as that of a terminal in the browser
        response.set_cookie(self.cookie, self._secret, httponly=True, samesite="lax")


class Guard:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, keys: Keys, port: int, policy: str = POLICY, command: str = "learn web") -> None:
        self._app, self._keys, self._command = app, keys, command
        self._headers = {"Content-Security-Policy": policy, **HEADERS}
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        request = Request(scope)
        refusal = self._refuse(request)
        if refusal and refusal.status_code >= HTTPStatus.BAD_REQUEST:
            refusal.headers["Connection"] = "close"  # or thousands of requests sent at once are refused one by one
            if refusal.status_code not in UNREAD:
                await _read_to_end(receive)
        else:
            scope["state"]["connection"].has_key = True
        await (refusal or self._app)(scope, receive, send_with_headers)

    def _refuse(self, request: Request) -> Response | None:
        """Return what a request gets that is let in no further; None for one that is."""
        if "transfer-encoding" in request.headers:
            return PlainTextResponse("Say how long that is.", 411)
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if host not in self._hosts:
            return PlainTextResponse("This server answers on 127.0.0.1 only.", 421)
        if origin != f"http://{host}" and (origin is not None or request.method not in ("GET", "HEAD")):
            return PlainTextResponse("Another site's page may not ask this server.", 403)
        length = request.headers.get("content-length", "0")
        if not (length.isascii() and length.isdecimal()) or int(length.lstrip("0")[:12] or 0) > MAX_BODY_BYTES:
            return PlainTextResponse("That is too large.", 413)
        return self._ask_for_key(request)

    def _ask_for_key(self, request: Request) -> Response | None:
        found, cookies = KEY.search(request.scope["query_string"]), self._keys.cookies(request.headers)
        key, known = found and found[1].decode(), self._keys.fits(cookies)
        # of those alone who could come in: to find out takes long where there are many connections
        if (known or (key is not None and self._keys.opens(key))) and _is_another_users(request):
            return PlainTextResponse("Another user of this machine may not ask this server.", 403)
        if key is not None and request.method == "GET" and (self._keys.redeem(key) or known):
            response = RedirectResponse(f"/{request.url.path.lstrip('/')}", 303)
            self._keys.give(response)
            return response
        says = AGAIN if cookies else LINK
        return None if known else PlainTextResponse(says.format(self._command), 403)


async def _read_to_end(receive: Receive) -> None:
    """Take a body that nobody wants: who is cut off while they send one would read no answer."""
    has_more = True
    with suppress(TimeoutError):
        async with asyncio.timeout(BODY_SECONDS):  # for all of it: pieces may come without end
            while has_more:
                has_more = (await receive()).get("more_body", False)


def _is_another_users(request: Request) -> bool:
    """Return True if a program of another user, but root, asks: Linux lists whose each connection is.

    Of a connection that was closed it no longer says so: where our own socket is listed, and that is not, nobody asks.
    """
    ours, theirs = (_as_listed(*(request.scope.get(end) or ("0.0.0.0", 0))) for end in ("server", "client"))
    users: set[int] = set()
    lists_us = False
    for table in CONNECTIONS:
        with suppress(OSError), table.open(encoding="ascii") as lines:
            # of hundreds of connections the others are not taken apart
            fields = (line.split() for line in lines if theirs[0] in line or f" {LISTENS} " in line)
            for _, local, remote, state, _, _, _, user, _, inode, *_ in fields:
                lists_us |= local in ours and state == LISTENS
                if local in theirs and remote in ours and inode != "0":
                    users.add(int(user))
    return not users <= {0, getuid()} or (lists_us and not users)


def _as_listed(address: str, port: int) -> tuple[str, str]:
    """Return an end of a connection as Linux lists it: of IPv4, and of IPv6, which can come from there, too.

    Whole, as other users may have the same port of another address, 127.0.0.2. The words are in this machine's order.
    """
    packed = socket.inet_aton(address)
    short, long = (
        "".join(f"{word:08X}" for (word,) in struct.iter_unpack("=I", form))
        for form in (packed, bytes(10) + b"\xff\xff" + packed)
    )
    return f"{short}:{port:04X}", f"{long}:{port:04X}"
