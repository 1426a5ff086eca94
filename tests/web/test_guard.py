"""Who is let in: only who has the link, asks for this host, and from no other site's page."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from threading import Thread

import h11
import pytest
from support.browser import SECONDS, Visitor, make_server
from support.learn_command import start_workspace

from grader.web import guard
from grader.web.feed import MAX_FOLLOWERS
from grader.web.guard import MAX_BODY_BYTES
from grader.web.server import MAX_CONNECTIONS, WebServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    """The pages of a fresh workspace, without a judge: nobody saves."""
    with make_server(start_workspace(tmp_path_factory.mktemp("web") / "work")) as started:
        yield started


def test_a_link_opens_one_browser_once(server: WebServer) -> None:
    """Its key is exchanged for a cookie that scripts cannot read, and is worth nothing afterwards."""
    visitor = Visitor(server.make_link())
    answer = visitor.ask("GET", visitor.key)
    assert (answer.status, answer.headers["location"]) == (303, "/")
    assert "HttpOnly" in str(answer.headers["set-cookie"])

    assert visitor.enter() == 403
    assert visitor.cookie == ""


@pytest.mark.parametrize(
    "path",
    ["/", "/lesson/argmax_2d", "/events/argmax_2d", "/style.css", "/static/web.css", "/nowhere", "/?key=", "/?key=x"],
)
@pytest.mark.parametrize("cookie", [None, "", "wrong", "ü", "x" * 9000])
def test_without_the_key_there_is_nothing(server: WebServer, path: str, cookie: str | None) -> None:
    """Neither without a cookie nor with a wrong one; another user of the machine has nothing else."""
    visitor = Visitor(server.make_link())
    name = f"selfattend-{server.port}"
    answer = visitor.ask("GET", path, headers={"Cookie": cookie and f"{name}={cookie}".encode().decode("latin-1")})

    assert answer.status == 403
    assert b"learn web" in answer.body


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost:1", "evil.example:{port}", ""])
def test_a_foreign_host_is_refused(visitor: Visitor, host: str) -> None:
    """A name that somebody else's server gave this address (DNS rebinding) is none of ours."""
    port = visitor.host.rpartition(":")[2]
    assert visitor.ask("GET", "/", headers={"Host": host.format(port=port)}).status == 421
    assert visitor.ask("GET", "/", headers={"Host": f"localhost:{port}"}).status == 200


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://{host}", ""])
def test_a_foreign_origin_is_refused(visitor: Visitor, method: str, origin: str) -> None:
    """Another site's page in the same browser sends the cookie, too, and its own origin."""
    assert visitor.ask(method, "/", headers={"Origin": origin.format(host=visitor.host)}).status == 403


def test_what_changes_something_must_say_where_it_comes_from(visitor: Visitor) -> None:
    """Only reading goes without an origin, as a browser's own address line does."""
    assert visitor.ask("POST", "/", headers={"Origin": None}).status == 403
    assert visitor.ask("POST", "/").status == 405


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/%2fetc/passwd",
        "/static//etc/passwd",
        "/lesson/..%2f..%2fetc%2fpasswd", "/lesson/../../course.toml", "/lesson/argmax_2d.py", "/events/%00",
        "/static/%00",
        "//evil.example/", "/" + "a" * 5000,
    ],
)  # fmt: skip
def test_no_path_leads_out(visitor: Visitor, path: str) -> None:
    """Only our own files and the course's lessons have addresses."""
    assert visitor.ask("GET", path).status in (400, 404, 405)


def test_a_redirect_leads_nowhere_else(server: WebServer) -> None:
    """What follows the key is an address of ours, whatever was asked for."""
    for path in ("//evil.example", "///evil.example", "/%2f%2fevil.example", "////evil.example/x"):
        visitor = Visitor(server.make_link())
        location = str(visitor.ask("GET", f"{path}{visitor.key}").headers["location"])
        assert location.startswith("/") and not location.startswith("//"), path


AS_ANOTHER = """
import encodings.idna, os, sys, urllib.request
if not os.getuid(): os.setuid(65534)
try: print(urllib.request.urlopen(sys.argv[1]).status)
except urllib.error.HTTPError as refusal: print(refusal.status, refusal.read())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/net, which Linux has")
def test_another_user_of_the_machine_is_refused(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who reads a link in the list of processes can neither use it nor use it up."""
    if os.getuid():  # only root can be somebody else; so here we are
        monkeypatch.setattr(guard, "getuid", lambda: os.getuid() + 1)
    visitor = Visitor(server.make_link())
    command = [sys.executable, "-c", AS_ANOTHER, f"http://{visitor.host}{visitor.key}"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS).stdout
    assert said.startswith("403") and "Another user" in said
    monkeypatch.undo()
    assert visitor.enter() == 303


AS_ANOTHER_BESIDE = """
import encodings.idna, os, socket, sys
os.setuid(65534)
line = socket.socket()
line.bind(("127.0.0.2", int(sys.argv[2])))
line.connect(("127.0.0.1", int(sys.argv[1])))
print("beside", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.getuid() != 0, reason="needs root, which alone can be somebody else"
)
def test_another_user_on_the_same_port_of_another_address_keeps_nobody_out(server: WebServer, visitor: Visitor) -> None:
    """127.0.0.2 is this machine, too: whose a connection is, its port alone does not say."""
    with closing(http.client.HTTPConnection(visitor.host, timeout=SECONDS)) as connection:
        connection.connect()
        ports = [str(server.port), str(connection.sock.getsockname()[1])]
        command = [sys.executable, "-c", AS_ANOTHER_BESIDE, *ports]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as another:
            assert another.stdout and another.stdout.readline() == "beside\n"
            connection.request("GET", "/", headers={"Cookie": visitor.cookie})
            assert connection.getresponse().status == 200
            another.communicate()


FROM = """
import encodings.idna, os, socket, sys
if sys.argv[1] == "another" and not os.getuid(): os.setuid(65534)
line = socket.socket(socket.AF_INET6 if ":" in sys.argv[2] else socket.AF_INET)
line.bind((sys.argv[2], 0))
line.connect((sys.argv[3], int(sys.argv[4])))
line.sendall(sys.argv[5].encode())
print(line.recv(12).decode())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/net, which Linux has")
@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "::ffff:127.0.0.1", "::ffff:127.0.0.2"])
@pytest.mark.parametrize(("who", "status"), [("owner", "200"), ("another", "403")])
def test_whose_a_connection_is_is_found_from_whatever_address_it_comes(
    server: WebServer, visitor: Visitor, monkeypatch: pytest.MonkeyPatch, address: str, who: str, status: str
) -> None:
    """One that its program made as one of IPv6 is listed elsewhere, and its address written otherwise."""
    if who == "another" and os.getuid():  # only root can be somebody else; so here we are
        monkeypatch.setattr(guard, "getuid", lambda: os.getuid() + 1)
    to = "::ffff:127.0.0.1" if ":" in address else "127.0.0.1"
    text = f"GET / HTTP/1.1\r\nHost: {visitor.host}\r\nCookie: {visitor.cookie}\r\n\r\n"
    command = [sys.executable, "-c", FROM, who, address, to, str(server.port), text]
    said = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS).stdout
    assert said == f"HTTP/1.1 {status}\n"


@pytest.mark.parametrize("request_line", ["GET / HTTP/1.1", "POST / HTTP/1.1", "PUT /file/x HTTP/1.1"])
@pytest.mark.parametrize("who", ["another user", "a foreign host", "no key"])
def test_a_refusal_ends_the_connection(
    server: WebServer, monkeypatch: pytest.MonkeyPatch, who: str, request_line: str
) -> None:
    """Of many requests sent at once one is refused, and no more are read: thousands would keep the learner waiting."""
    if who == "another user":
        monkeypatch.setattr(guard, "_is_another_users", lambda _request: True)
        request_line = request_line.replace(" HTTP", f"?{Visitor(server.make_link()).key[2:]} HTTP")
    host = "evil.example" if who == "a foreign host" else f"127.0.0.1:{server.port}"
    body = "\r\n" if request_line.startswith("GET") else "Content-Length: 1\r\n\r\nx"
    with socket.create_connection(("127.0.0.1", server.port), SECONDS) as line:
        line.sendall(f"{request_line}\r\nHost: {host}\r\nOrigin: http://{host}\r\n{body}".encode() * 50)
        answers = b""
        with suppress(ConnectionResetError):  # for what was not read
            while piece := line.recv(1 << 16):
                answers += piece
    assert answers.count(b"HTTP/1.1 4") == 1 and b"connection: close" in answers.lower()


def test_who_has_no_key_is_refused_before_the_list_of_connections_is_read(
    server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That takes long where a stranger has hundreds of connections; they would keep the learner waiting."""
    monkeypatch.setattr(guard, "_is_another_users", lambda _request: pytest.fail("the list is read"))
    for path in ("/", "/?key=x", "/events/argmax_2d"):
        assert Visitor(server.make_link()).ask("GET", path).status == 403


def test_a_refusal_reaches_a_page_that_sends_a_whole_file(server: WebServer) -> None:
    """It is told to use the new link, however often: whoever is cut off while they send reads no answer."""
    stranger = Visitor(server.make_link())
    with closing(http.client.HTTPConnection(stranger.host, timeout=SECONDS)) as connection:
        for _ in range(20):
            connection.request("PUT", "/file/x", b"x" * 250_000, {"Origin": f"http://{stranger.host}"})
            answer = connection.getresponse()
            assert answer.status == 403 and b"learn web" in answer.read()


def test_a_body_that_does_not_come_is_not_waited_for(server: WebServer) -> None:
    """A stranger who says that there is one is refused after a while, and the connection closed."""
    with begin_body(server) as line:
        answers = b""
        while piece := line.recv(1 << 16):
            answers += piece
    assert b"HTTP/1.1 403" in answers


def test_a_body_that_comes_in_pieces_without_end_is_not_waited_for(
    server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time is for all of a body that is refused, not for each piece."""
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.2)
    deadline = time.monotonic() + SECONDS
    with begin_body(server) as line:
        line.settimeout(0.02)
        answer = b""
        while not answer:
            assert time.monotonic() < deadline
            line.sendall(b"x")
            with suppress(TimeoutError):
                answer = line.recv(1 << 16)
    assert b"HTTP/1.1 403" in answer


def test_bodies_that_are_refused_keep_nobody_out(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many strangers as there may be connections, each in the middle of a body, give way to who has the key."""
    monkeypatch.setattr(guard, "BODY_SECONDS", SECONDS)
    visitor = Visitor(server.make_link())
    with ExitStack() as stack:
        for _ in range(MAX_CONNECTIONS + 7):
            stack.enter_context(begin_body(server))
        assert visitor.enter() == 303
        with visitor.events("argmax_2d"):
            for _ in range(MAX_CONNECTIONS + 7):
                stack.enter_context(begin_body(server))
            assert [visitor.ask("GET", "/").status for _ in range(5)] == [200] * 5
            assert server.followers == 1


def begin_body(server: WebServer) -> socket.socket:
    """A connection without the key that has sent the first byte of a large body."""
    host = f"127.0.0.1:{server.port}"
    line = socket.create_connection(("127.0.0.1", server.port), SECONDS)
    head = f"PUT /file/x HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Length: 299999\r\n\r\nx"
    line.sendall(head.encode())
    return line


AS_ANOTHER_WHO_LEAVES = """
import encodings.idna, os, socket, struct, sys
if not os.getuid(): os.setuid(65534)
line = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", int(sys.argv[3]), 0))
line.sendall(sys.argv[2].encode())
"""


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, which alone can be somebody else")
@pytest.mark.parametrize("linger", ["0", "1"], ids=["closes", "resets"])
def test_nobody_is_let_in_who_has_left(server: WebServer, linger: str) -> None:
    """Of a closed connection nobody can say whose it was: another user could use up a link, or write unseen."""
    visitor = Visitor(server.make_link())
    text = f"GET {visitor.key} HTTP/1.1\r\nHost: {visitor.host}\r\n\r\n"
    port = visitor.host.rpartition(":")[2]
    for _ in range(5):  # it is a race
        subprocess.run([sys.executable, "-c", AS_ANOTHER_WHO_LEAVES, port, text, linger], timeout=SECONDS, check=True)
    assert visitor.enter() == 303


def test_every_answer_has_the_policy(server: WebServer, visitor: Visitor) -> None:
    """Pages, refusals and what is not there: no inline script or style, nothing from elsewhere, no framing."""
    for answer in (
        visitor.ask("GET", "/"),
        visitor.ask("GET", "/nowhere"),
        Visitor(server.make_link()).ask("GET", "/"),
    ):
        policy = str(answer.headers["content-security-policy"])
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy and "*" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["server"] is None


@pytest.mark.parametrize("page", ["/", "/lesson/argmax_2d"])
def test_pages_load_from_here_only_and_have_nothing_inline(visitor: Visitor, page: str) -> None:
    """No style attribute, no handler, no script in the page, no address of another machine to load."""
    text = visitor.read(page)

    assert " style=" not in text and "<style" not in text and " onclick" not in text
    assert "<script>" not in text
    assert 'src="http' not in text and 'rel="stylesheet" href="http' not in text


@pytest.mark.parametrize("known", [False, True], ids=["a stranger", "with the key"])
@pytest.mark.parametrize("host", ["127.0.0.1:{}", "evil.example"])
def test_a_body_in_chunks_is_refused_before_it_is_read(
    server: WebServer, visitor: Visitor, monkeypatch: pytest.MonkeyPatch, known: bool, host: str
) -> None:
    """Chunks of one byte cost the one thread of the pages seconds: no more is taken apart than who asks for what."""
    taken: list[object] = []
    read = h11.Connection.next_event
    monkeypatch.setattr(h11.Connection, "next_event", lambda self: taken.append(read(self)) or taken[-1])
    host = host.format(server.port)
    head = f"PUT /file/x HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nTransfer-Encoding: chunked\r\n"
    head += f"Cookie: {visitor.cookie}\r\n" if known else ""
    with socket.create_connection(("127.0.0.1", server.port), SECONDS) as line:
        line.sendall(f"{head}\r\n".encode() + b"1\r\nx\r\n" * 2_000)
        answer = line.recv(1 << 16)
    assert answer.startswith(b"HTTP/1.1 411") and b"connection: close" in answer.lower()
    assert len(taken) <= 2, "the request, and that there may be more"


def test_a_large_body_is_refused(visitor: Visitor) -> None:
    """It says how large it is, or nothing of it is read."""
    assert visitor.ask("POST", "/", headers={"Content-Length": str(MAX_BODY_BYTES + 1)}).status == 413
    assert visitor.ask("POST", "/", headers={"Content-Length": f"{MAX_BODY_BYTES + 1:020}"}).status == 413
    assert visitor.ask("POST", "/", headers={"Content-Length": "x"}).status in (400, 413)


def test_bytes_that_are_no_request_do_no_harm(server: WebServer, visitor: Visitor) -> None:
    """Rubbish, half a request and a connection that says nothing leave the pages where they were."""
    held = []
    for text in (b"\x00\xff" * 100, b"GET / HTTP/1.1\r\nHost:", b"", b"GET http://evil.example/ HTTP/1.1\r\n\r\n"):
        held.append(socket.create_connection(("127.0.0.1", server.port)))
        held[-1].sendall(text)

    assert visitor.ask("GET", "/").status == 200
    for each in held:
        each.close()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs Linux: the list of open files")
def test_connections_that_ask_nothing_give_way(server: WebServer, visitor: Visitor) -> None:
    """Hundreds of them take no more files than there are to spare, and keep nobody out who asks or follows a lesson."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    with ExitStack() as stack, visitor.events("argmax_2d"):
        for _ in range(3 * MAX_CONNECTIONS):
            held = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            held.sendall(b"GET / HTTP/1.1\r\nX: ")
        deadline = time.monotonic() + 60
        while (
            files := len(list(Path("/proc/self/fd").iterdir())) - 3 * MAX_CONNECTIONS - before
        ) > MAX_CONNECTIONS + 9:
            assert time.monotonic() < deadline, files
            time.sleep(0.01)

        assert visitor.ask("GET", "/").status == 200
        assert server.followers == 1


def ask_often(server: WebServer, visitor: Visitor, count: int) -> None:
    """Ask from four threads, half of the requests without the key."""

    def ask(cookie: str) -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
            for _ in range(count // 4):
                connection.request("GET", "/static/icon.svg", headers={"Cookie": cookie})
                answer = connection.getresponse()
                answer.read()
                statuses.append(answer.status)

    statuses: list[int] = []
    threads = [Thread(target=ask, args=[cookie]) for cookie in (visitor.cookie, "", visitor.cookie, "")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200] * (count // 2) + [403] * (count // 2)


def test_many_requests_at_once_are_all_answered(server: WebServer, visitor: Visitor) -> None:
    """Those of strangers do not keep the learner out."""
    ask_often(server, visitor, 100)


@pytest.mark.soak
def test_thousands_of_requests_leave_the_pages_as_they_were(server: WebServer, visitor: Visitor) -> None:
    """No file stays open, and the next page comes."""
    before = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").is_dir() else 0
    ask_often(server, visitor, 3_000)

    assert visitor.ask("GET", "/").status == 200
    if before:
        assert len(list(Path("/proc/self/fd").iterdir())) < before + 20


def test_no_more_pages_follow_a_lesson_than_there_is_room_for(server: WebServer, visitor: Visitor) -> None:
    """One more is told so; a place is free again as soon as a page is closed."""
    with ExitStack() as stack:
        for _ in range(MAX_FOLLOWERS):
            stack.enter_context(visitor.events("argmax_2d"))
        assert visitor.ask("GET", "/events/argmax_2d").status == 503

    wait_for_a_place(visitor)


def test_of_many_that_follow_at_once_no_more_are_let_in(server: WebServer, visitor: Visitor) -> None:
    """Each is counted when it is let in, not when its stream has begun."""
    text = f"GET /events/argmax_2d HTTP/1.1\r\nHost: {visitor.host}\r\nCookie: {visitor.cookie}\r\n\r\n".encode()
    with ExitStack() as stack:
        lines = [
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), SECONDS))
            for _ in range(2 * MAX_FOLLOWERS)
        ]
        for line in lines:
            line.sendall(text)
        statuses = [line.recv(12).decode()[-3:] for line in lines]
    assert sorted(statuses) == ["200"] * MAX_FOLLOWERS + ["503"] * MAX_FOLLOWERS
    wait_for_a_place(visitor)


def wait_for_a_place(visitor: Visitor) -> None:
    deadline = time.monotonic() + 60
    while server_is_full(visitor):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def server_is_full(visitor: Visitor) -> bool:
    connection = http.client.HTTPConnection(visitor.host, timeout=60)
    with closing(connection):
        connection.request("GET", "/events/argmax_2d", headers={"Cookie": visitor.cookie})
        with connection.getresponse() as answer:
            return answer.status == 503
