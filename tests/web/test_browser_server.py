"""A page in a browser whose server is gone, or was started again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.axe import faults
from support.browser import make_server
from support.course_files import ROOT
from support.learn_command import start_workspace


@pytest.mark.slow
def test_a_page_without_its_server_says_so_in_one_place_and_goes_on(page: Any, tmp_path: Path) -> None:
    """Nothing is called saved that is not; once the link of the new `learn web` is opened, what was written is."""
    workspace = start_workspace(tmp_path / "work", ROOT)
    gone, saved = page.locator("#gone"), page.locator("#saved")
    with make_server(workspace, ROOT) as server:
        page.goto(server.make_link("/lesson/causal_mask"))
        page.locator("#state").filter(has_text="Starting").wait_for()
        assert not gone.is_visible() and saved.text_content() == "Saved"
        port = server.port
    gone.filter(has_text="In a terminal, where your exercises are: learn web causal_mask").wait_for()
    assert page.locator("#state").text_content() == saved.text_content() == ""
    assert faults(page) == []
    questions, refused = page.locator("#questions"), page.locator("#questions .refused")
    questions.locator("button").click()
    refused.filter(has_text="Not sent").wait_for()
    page.locator("#source").fill("# written meanwhile")
    saved.filter(has_text="Not saved").wait_for()
    with make_server(workspace, ROOT) as again:
        assert again.port == port
        gone.filter(has_text="was started again: open the link that it printed").wait_for()
        questions.locator("button").click()
        refused.filter(has_text="Not sent").wait_for()
        saved.filter(has_text="Not saved").wait_for()
        assert refused.count() == 1
        other = page.context.new_page()
        other.goto(again.make_link("/"))
        gone.wait_for(state="hidden")
        page.get_by_text("Saved", exact=True).wait_for()
        assert (workspace / "core/causal_mask.py").read_text() == "# written meanwhile"
