"""The file behind the editor: read and replaced whole, or refused with a reason."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.browser import Visitor, make_server
from support.learn_command import start_workspace

from grader.errors import WorkspaceError
from grader.submission import MAX_BYTES
from grader.web.exercise import Conflict, read_work, write_work


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A learner's file."""
    path = tmp_path / "softmax.py"
    path.write_text("x = 1\n")
    path.chmod(0o640)
    return path


def test_a_file_is_replaced_only_if_it_is_known(file: Path) -> None:
    """It keeps its rights; one that was changed since stays as it is."""
    known = read_work(file)
    written = write_work(file, "x = 2\n", known.version)
    assert read_work(file) == written
    assert file.stat().st_mode & 0o777 == 0o640

    with pytest.raises(Conflict) as found:
        write_work(file, "x = 3\n", known.version)
    assert found.value.work == written
    assert file.read_text() == "x = 2\n"
    assert list(file.parent.iterdir()) == [file]


def test_a_file_that_is_gone_is_written_back(file: Path) -> None:
    """What the page has is the only copy and goes where the file was, unless another editor put something there."""
    known = read_work(file)
    file.unlink()
    write_work(file, "x = 2\n", known.version)
    assert file.read_text() == "x = 2\n"

    file.unlink()
    file.write_text("the stub")
    with pytest.raises(Conflict):
        write_work(file, "x = 3\n", known.version)


@pytest.mark.parametrize("before", [b"# coding: cp1252\n# Gr\xf6\xdfe\n", b"\xef\xbb\xbf# Gr\xc3\xb6\xc3\x9fe\r\n"])
def test_what_is_saved_is_what_is_read_back(file: Path, before: bytes) -> None:
    """A file keeps its encoding, its mark of UTF-8 and its line ends."""
    file.write_bytes(before)
    known = read_work(file)
    assert known.text.endswith("# Gr\xf6\xdfe\n")
    written = write_work(file, f"{known.text}x = '\xe4'\n", known.version)
    assert written == read_work(file) and written.text == f"{known.text}x = '\xe4'\n"
    assert file.read_bytes().startswith(before)


@pytest.mark.parametrize("text", ["# coding: latin-1\n# \u2200\n", "# coding: koi8-r\n", "x = '\ud800'\n"])
def test_a_text_that_would_be_read_back_otherwise_is_refused(file: Path, text: str) -> None:
    """The encoding that it declares lacks a sign, or is none that is read; the file stays as it is."""
    with pytest.raises(WorkspaceError, match=r"has no|declares the encoding"):
        write_work(file, text, read_work(file).version)
    assert file.read_text() == "x = 1\n"


@pytest.mark.parametrize("content", [b"\xff\xfe", b"x" * (MAX_BYTES + 1)])
def test_a_file_that_cannot_be_edited_here_stays_as_it_is(file: Path, content: bytes) -> None:
    """Not UTF-8, or too large: the error says to use another editor."""
    file.write_bytes(content)
    with pytest.raises(WorkspaceError):
        read_work(file)
    assert file.read_bytes() == content


def test_a_folder_in_its_place_is_told_as_one(file: Path) -> None:
    """It is there, so `learn start` alone would add nothing; a file that is missing it does add."""
    file.unlink()
    with pytest.raises(WorkspaceError, match=r"no such file[\s\S]*learn start \("):
        read_work(file)
    file.mkdir()
    with pytest.raises(WorkspaceError, match=r"this is none: Is a directory[\s\S]*move it away"):
        read_work(file)


def test_a_link_is_not_followed(file: Path) -> None:
    """It could lead out of the workspace, and somebody else may have made it."""
    link = file.with_name("link.py")
    link.symlink_to(file)
    with pytest.raises(WorkspaceError, match="not edited here"):
        write_work(link, "x", read_work(file).version)
    with pytest.raises(WorkspaceError, match="no such file"):
        read_work(file.with_name("missing.py"))


def test_a_folder_that_is_a_link_is_not_followed(file: Path) -> None:
    """A track of somebody else's workspace could be a link to another folder: nothing there is shown or changed."""
    elsewhere = file.parent.with_name("elsewhere")
    elsewhere.symlink_to(file.parent)
    with pytest.raises(WorkspaceError, match="elsewhere is a link"):
        read_work(elsewhere / file.name)
    with pytest.raises(WorkspaceError, match="elsewhere is a link"):
        write_work(elsewhere / file.name, "x", read_work(file).version)
    assert file.read_text() == "x = 1\n"


@pytest.fixture(scope="module")
def visitor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    """A browser at the pages of a fresh workspace."""
    with make_server(start_workspace(tmp_path_factory.mktemp("web") / "work")) as server:
        visitor = Visitor(server.make_link())
        visitor.enter()
        yield visitor


def test_a_file_goes_to_the_page_and_back(visitor: Visitor) -> None:
    """With the version that the next writing must name."""
    file = json.loads(visitor.read("/file/argmax_2d"))
    answer = visitor.ask("PUT", "/file/argmax_2d", json.dumps({"text": "x = 1", "version": file["version"]}))
    assert answer.status == 200

    late = visitor.ask("PUT", "/file/argmax_2d", json.dumps({"text": "x = 2", "version": file["version"]}))
    assert late.status == 409
    assert json.loads(late.body)["text"] == "x = 1"


@pytest.mark.parametrize(
    "body, status",
    [
        (b"", 400),
        (b"[]", 400),
        (b"{" * 100_000, 400),
        (b"\xff", 400),
        (json.dumps({"text": "x" * (MAX_BYTES + 1), "version": "{version}"}).encode(), 422),
        (b"x" * 400_000, 413),
    ],
)
def test_what_is_no_file_is_refused(visitor: Visitor, body: bytes, status: int) -> None:
    """With the file as it was."""
    before = json.loads(visitor.read("/file/argmax_2d"))
    sent = body.replace(b"{version}", before["version"].encode())

    assert visitor.ask("PUT", "/file/argmax_2d", sent).status == status
    assert json.loads(visitor.read("/file/argmax_2d")) == before


def test_a_file_that_is_gone_is_said(visitor: Visitor, tmp_path: Path) -> None:
    """A link in its place is refused in words, and is no fault of ours."""
    server = make_server(start_workspace(tmp_path / "work"))
    exercise = next((tmp_path / "work").rglob("argmax_2d.py"))
    exercise.unlink()
    exercise.symlink_to("/etc/passwd")
    with server as pages:
        other = Visitor(pages.make_link())
        other.enter()
        answer = other.ask("GET", "/file/argmax_2d")
    assert answer.status == 422 and "says" in json.loads(answer.body) and b"root:" not in answer.body
