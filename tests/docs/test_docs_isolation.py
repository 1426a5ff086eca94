"""The pages on isolation show what was measured, and every attack that is tried."""

from __future__ import annotations

from attacks import table
from support.course_files import ROOT


def test_what_gets_through_stands_there_as_it_was_recorded():
    """The table of docs/isolation.md is the recorded one, which `test_attacks.py` compares with the machine."""
    assert table.markdown().strip() in (ROOT / "docs" / "isolation.md").read_text()


def test_every_attack_is_listed():
    """docs/attacks.md lists all attacks with what each tries and what is seen."""
    assert table.list_of_attacks().strip() in (ROOT / "docs" / "attacks.md").read_text()
