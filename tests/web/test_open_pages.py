"""Open questions in the browser: every step is kept, and the terminal goes on with it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from support.browser import Answer, Visitor, make_server
from support.quiz_workspace import Workspace

TEXT = "Softmax makes weights, row by row, that sum to 1.\r\n<b>Dividing</b> by d_k brings the variance back."
ADDRESS = "/open/every_kind"


class Writer:
    """A browser at an open question, without its scripts."""

    def __init__(self, visitor: Visitor, workspace: Workspace) -> None:
        self.visitor, self.workspace = visitor, workspace

    def do(self, does: str, **fields: str) -> Answer:
        return self.visitor.ask("POST", ADDRESS, urlencode({"do": does, **fields}))

    def read(self) -> str:
        return self.visitor.read(ADDRESS)

    def mark_all(self, mark: str) -> Answer:
        """Mark everything that the page asks for."""
        names = set(re.findall(r'name="((?:point|trap) [^"]*)"', self.visitor.read(f"{ADDRESS}?mark=yes")))
        assert names
        return self.do("claim", **dict.fromkeys(names, mark))

    @property
    def state(self) -> dict[str, Any]:
        """What `learn quiz open 1 --json` says."""
        (question,) = json.loads(self.workspace.learn("quiz", "open", "1", "--json").stdout)["questions"]
        return question


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    """At the open question of a small course."""
    workspace = Workspace(tmp_path, every_kind=True)
    with make_server(workspace.folder, workspace.course) as server:
        visitor = Visitor(server.make_link())
        visitor.enter()
        yield Writer(visitor, workspace)


def test_an_answer_is_written_marked_and_checked(writer: Writer) -> None:
    """Text, key points, wrong claims, a model answer, questions on what was claimed; then what that comes to."""
    assert f'href="{ADDRESS}"' in writer.visitor.read("/quiz")
    assert writer.do("mark", text="too short").status == 422
    assert writer.do("mark", text=TEXT).status == 303
    page = writer.visitor.read(f"{ADDRESS}?mark=yes")
    assert "Is it in your text?" in page and "&lt;b&gt;Dividing&lt;/b&gt;" in page
    assert "model answer" not in page.lower() and "What is right" not in page

    writer.mark_all("yes")
    assert writer.state["state"] == "written"
    assert "what comes to the same?" in writer.read()
    writer.mark_all("yes")
    page = writer.read()
    assert "A model answer" in page and "What is right: " in page
    assert writer.do("keep", text="something else").status == 303  # what is marked stays as it is
    assert writer.state["state"] == "marked" and writer.state["text"] == TEXT.replace("\r\n", "\n")

    address = str(writer.do("go").headers["location"])
    while "Claimed: " not in (page := writer.visitor.read(address)):
        asked = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page))
        writer.visitor.ask("POST", address, urlencode({**asked, "certainty": "?"}))
    assert "Check this again" in page
    assert "points claimed" in writer.visitor.read("/quiz")


def test_what_is_begun_here_goes_on_in_the_terminal_and_back(writer: Writer) -> None:
    """The text that is kept is marked there; a mark that is missing is asked for here."""
    assert writer.do("keep", text=TEXT).status == 204
    assert "In your own words: " in writer.visitor.read("/quiz")
    stopped = writer.workspace.learn("quiz", "open", "1", stdin="y\n")
    assert "Stopped." in stopped.stdout + stopped.stderr

    page = writer.read()
    points = writer.state["points"]
    assert [point["mark"] for point in points] == ["yes", *[None] * (len(points) - 1)]
    assert "Is it in your text?" in page and page.count("<fieldset") == len(points) - 1


def test_what_an_editor_saved_is_not_lost_and_overwrites_nothing_newer(writer: Writer) -> None:
    """The draft that a terminal left is taken up here; what is written here then counts there."""
    writer.do("keep", text="begun")
    draft = writer.workspace.progress.parent / "open-every_kind.md"
    draft.write_text("saved by an editor, and then its window was closed")
    assert "saved by an editor" in writer.read()

    writer.do("keep", text=TEXT)
    writer.workspace.learn("quiz", "open", "1", stdin="")
    assert writer.state["text"] == TEXT.replace("\r\n", "\n")


def test_a_question_that_is_left_out_claims_nothing(writer: Writer) -> None:
    """It shows a model answer, and may begin again."""
    assert "A model answer" in writer.do("skip", text=TEXT).body.decode()
    assert writer.state["state"] == "skipped"
    assert "Mark it" in writer.read()


@pytest.mark.parametrize("address", ["/open/nope", "/open/..%2fx", "/open/softmax"])
def test_there_is_no_other_question(writer: Writer, address: str) -> None:
    """An address is looked up, never made a path of."""
    assert writer.visitor.ask("GET", address).status == 404


def test_nothing_is_claimed_out_of_turn(writer: Writer) -> None:
    """Neither of no text, nor by words that are no marks; nor does it end before it is marked."""
    writer.do("claim", **{"point variance": "yes"})
    assert {point["mark"] for point in writer.state["points"]} == {None}
    writer.do("keep", text=TEXT)
    writer.do("claim", **{"point variance": "very", "trap variance": "yes"})
    writer.do("go")
    assert {point["mark"] for point in writer.state["points"]} == {None}
