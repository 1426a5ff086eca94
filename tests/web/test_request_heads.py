"""What the head of a stranger's request costs: it is searched for our own names, and taken apart by nobody."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import nullcontext
from urllib.parse import quote

import h11
import pytest
from support.browser import SECONDS, Visitor, make_server
from support.learn_command import start_workspace

from grader.web.server import MAX_HEAD_BYTES, MAX_HEAD_LINES, WebServer, _Requests


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    """The pages of a fresh workspace, without a judge: nobody saves."""
    with make_server(start_workspace(tmp_path_factory.mktemp("web") / "work")) as started:
        yield started


LONG = 60_000  # bytes, in which n * n steps take half a minute


@pytest.mark.parametrize("sign", [*'\\";,(= %&\t\0\v\f\xff', "a ", "a=b;", '="\\', "a:b\r\n", "\r\n ", "bytes=0-,"])
@pytest.mark.parametrize("name", ["Cookie", "Host", "Origin", "Content-Type", "Range", "Content-Length", "X"])
def test_a_stranger_s_head_is_not_taken_apart(
    server: WebServer, monkeypatch: pytest.MonkeyPatch, name: str, sign: str
) -> None:
    """What takes n * n steps for one that is made for it, as the reader of all cookies does, never sees it."""
    monkeypatch.setattr("starlette.requests.cookie_parser", lambda _text: pytest.fail("all cookies are read"))
    monkeypatch.setattr("starlette.datastructures.parse_qsl", lambda *_, **__: pytest.fail("a query is read"))
    for length in (9_000, LONG):
        value = (sign * length)[:length].rstrip("\r\n").encode("latin-1")
        head = f"GET /?{quote(sign) * 100} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\n{name}: "
        with socket.create_connection(("127.0.0.1", server.port), SECONDS) as line:
            line.sendall(head.encode() + value + b"\r\n\r\n")
            assert line.recv(1 << 16).startswith(b"HTTP/1.1 4")


@pytest.mark.parametrize("sign", [" ", "\t", " \t", "\r\n "])
@pytest.mark.parametrize("end", ["\0", "\v", "\f", "\ra", "\r\r"])
def test_blanks_before_what_no_head_may_hold_are_not_counted_over_and_over(
    server: WebServer, monkeypatch: pytest.MonkeyPatch, sign: str, end: str
) -> None:
    """h11 finds out that such a line is none in as many steps as the square of the blanks; it is not asked."""
    monkeypatch.setattr(h11.Connection, "next_event", lambda _self: pytest.fail("h11 reads it"))
    request = _Requests(h11.SERVER)
    request.receive_data(f"GET / HTTP/1.1\r\nX: {(sign * LONG)[:10_000]}{end}\r\n\r\n".encode())
    with pytest.raises(h11.RemoteProtocolError):
        request.next_event()


def test_a_head_that_is_longer_than_any_browser_s_is_refused(server: WebServer, visitor: Visitor) -> None:
    """Also from who has the key, and in words; one with many cookies of other servers on this machine is none."""
    for length in (9_000, 17_000, LONG):
        cookies = "; ".join(f"username-127-0-0-1-{8000 + n}={'x' * 170}" for n in range(length // 200))
        assert visitor.ask("GET", "/", headers={"Cookie": f"{cookies}; {visitor.cookie}; b=1"}).status == 200
    refused = visitor.ask("GET", "/", headers={"Cookie": f"a={'x' * MAX_HEAD_BYTES}; {visitor.cookie}"})
    assert refused.status == 400 and b"too many cookies" in refused.body


def test_a_head_of_many_lines_is_refused_before_it_is_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line costs more than it is long: twenty strangers with thousands of them would keep the owner waiting."""
    monkeypatch.setattr(h11.Connection, "next_event", lambda _self: "read")
    for lines, is_fit in ((MAX_HEAD_LINES - 10, True), (MAX_HEAD_LINES + 10, False)):
        request = _Requests(h11.SERVER, MAX_HEAD_BYTES)
        request.receive_data(b"GET / HTTP/1.1\r\n" + b"x:\r\n" * lines + b"\r\n")
        with nullcontext() if is_fit else pytest.raises(h11.RemoteProtocolError):
            assert request.next_event() == "read"


@pytest.mark.parametrize("pieces", [1, 7, 4_000])
@pytest.mark.parametrize("line", ["a: b\r\n", "\n", "x" * 30_000])
def test_a_head_may_come_in_pieces_and_is_searched_once(pieces: int, line: str) -> None:
    """Its end is found wherever it is cut, and what it may not hold; half of one that is long is refused."""
    good = f"GET / HTTP/1.1\r\nHost: x\r\nX: {'x' * 10_000}\r\n\r\n".encode()
    bad = good.replace(b"xx\r\n\r\n", b"x\0\r\n\r\n")
    for text, is_fit in ((good, True), (bad, False), (b"GET / HTTP/1.1\r\nX: " + line.encode() * 70_000, False)):
        request = _Requests(h11.SERVER, MAX_HEAD_BYTES)
        event: object = h11.NEED_DATA
        with nullcontext() if is_fit else pytest.raises(h11.RemoteProtocolError):
            for start in range(0, len(text), pieces):
                assert event is h11.NEED_DATA
                request.receive_data(text[start : start + pieces])
                event = request.next_event()
            assert isinstance(event, h11.Request)


@pytest.mark.parametrize(
    "cookies", ["{};b=2", 'a="\\"; {}', "selfattend-1=x;  {}", "{0}x; {0}", "b; {} ;c", "{0}; {0}x"]
)
def test_our_cookie_is_found_among_others(visitor: Visitor, cookies: str) -> None:
    """Other servers on this machine give the browser cookies that it sends here, too, one of our name among them."""
    assert visitor.ask("GET", "/", headers={"Cookie": cookies.format(visitor.cookie)}).status == 200


@pytest.mark.parametrize("cookies", ["x{}", "a {}", 'a="; x={}', "{}x", "a={}", "{}.x"])
def test_a_cookie_of_another_name_or_value_is_not_ours(visitor: Visitor, cookies: str) -> None:
    """Neither one whose name ends as ours does, nor a value that begins as it."""
    assert visitor.ask("GET", "/", headers={"Cookie": cookies.format(visitor.cookie)}).status == 403
