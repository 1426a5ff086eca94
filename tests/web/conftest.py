"""A real browser for the tests of pages, where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.browser import Visitor, find_chromium, launch, make_server
from support.course_files import ROOT
from support.learn_command import start_workspace

from grader.web.server import WebServer

MISSING = "no Chromium: apt-get install chromium"


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The system's Chromium; its own sandbox is left out, since root may not use it."""
    driver = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install -e '.[dev]'")
    if find_chromium() is None:
        pytest.skip(MISSING)
    with driver.sync_playwright() as playwright:
        browser = launch(playwright.chromium)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page in a fresh window; nothing it says on its console may be an error."""
    context = chromium.new_context(viewport={"width": 1280, "height": 850})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.set_default_timeout(60_000)
    opened, errors = context.new_page(), []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda said: errors.append(said.text) if "Content Security Policy" in said.text else None)
    yield opened
    context.close()
    assert errors == []


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of the bundled course."""
    return start_workspace(tmp_path_factory.mktemp("pages") / "work", ROOT)


@pytest.fixture(scope="module")
def server(workspace: Path) -> Iterator[WebServer]:
    """Its pages, without a judge."""
    with make_server(workspace, ROOT) as started:
        yield started


@pytest.fixture
def visitor(server: WebServer) -> Visitor:
    """Somebody who has followed a link."""
    visitor = Visitor(server.make_link())
    assert visitor.enter() == 303
    return visitor


@pytest.fixture
def at(page: Any, server: WebServer) -> Any:
    """The page of an address, entered by a link."""

    def go(address: str) -> Any:
        page.goto(server.make_link(address))
        return page

    return go
