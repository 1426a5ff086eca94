"""Times as people and platforms write them."""

from __future__ import annotations

import time
from datetime import datetime

import pytest

from grader.intake.platform_names import parse_due, parse_time


@pytest.mark.parametrize("text, expected", [
    ("2026-11-20-10-05", "2026-11-20T10:05"), ("2026-11-20_10-00", "2026-11-20T10:00"),
    ("2026-11-20-10-00-00", "2026-11-20T10:00"), ("20261120T100000", "2026-11-20T10:00"), ("2026.11.20", "2026-11-20"),
    ("2026_11_20 at 10:00", None), ("Nov 20, 2026 1000 AM", "2026-11-20T10:00"),
    ("20 Nov 2026 2200", "2026-11-20T22:00"), ("2026-02-30", None), ("draft", None), ("", None), ("9" * 40, None),
    ("2026-11-20T10:00:00+01:00", "2026-11-20T09:00+00:00"),
])  # fmt: skip
def test_times_are_read_as_people_and_platforms_write_them(text, expected):
    """Numbers in the order year, month, day, or an English month; what is no time is none."""
    assert parse_time(text) == (parse_time(expected) if expected else None)


@pytest.mark.parametrize("text, clock", [
    ("2026-11-20 6:00 p.m.", "18:00"), ("2026-11-20 6:00 p", "18:00"), ("2026-11-20 6:00 p. m.", "18:00"),
    ("2026-11-20 6 PM", "18:00"), ("2026/11/20 6:00\u202fpm", "18:00"), ("2026-11-20 12:30 a.m.", "00:30"),
    ("2026-11-20 12:00 p.m.", "12:00"), ("Nov. 20, 2026 at 6:00 p.m.", "18:00"), ("Nov 20, 2026 110 PM", "13:10"),
    ("Nov 20, 2026 10 AM", "10:00"), ("2026-11-20 à 18 h 30", "18:30"), ("2026年11月20日 18时30分", "18:30"),
    ("2026-11-20 18:00 Z", "18:00Z"), ("2026-11-20 18:00 -05", "18:00-05:00"), ("20261120-10-05", "10:05"),
    ("20261120-10-05-30", "10:05:30"),
    *[(f"2026-11-20 {clock}", None) for clock in (
        "13:00 pm", "0:30 am", "p.m.", "p 6:00", "6:00 e.m.", "6:00 μ.μ.", "μ.μ. 6:00", "6:00 p.m. Z", "18:00 CET",
        "18:00 -5", "18:00 x", "-05:00", "+05:00", "-0500")],
    ("Nov 20, 2026 13:15 PM", None), ("20 Nov 2026 2200 CET", None),
])  # fmt: skip
def test_what_stands_behind_a_time_is_obeyed_or_makes_it_none(text, clock):
    """The half of a day in all its spellings, and a zone; what is not understood is never dropped."""
    assert parse_time(text) == (parse_time(f"2026-11-20T{clock}") if clock else None)


@pytest.mark.parametrize("text, expected", [
    ("1795215540", 1795215540.0), ("1000000000", 1e9), ("999999999", None), ("2611202300", None), ("2026112023", None),
    ("2611211900", None), ("20261120230", None), ("20261120", "2026-11-20"),
])  # fmt: skip
def test_a_number_is_seconds_only_near_to_now(text, expected):
    """One that would be decades ahead is a date and a time without signs between, and no time; nor is a small one."""
    assert parse_time(text) == (parse_time(expected) if isinstance(expected, str) else expected)


@pytest.mark.parametrize("text", ["2026" + " " * 100_000 + "x", "2026," * 50_000, "x 2026 " * 50_000])
def test_a_long_text_is_no_time_at_once(text):
    """Nobody's name or table makes the reading of a time slow."""
    began = time.perf_counter()

    assert parse_time(text) is None and time.perf_counter() - began < 5


@pytest.mark.parametrize("text", [
    "2026-11-25", "2026. 11. 25.", "2026年11月25日", "2026-11-25,", "2026-11-25.", "(2026-11-25)", "2026 - 11 - 25",
    "2026, 11, 25", "2026-11/25", "'2026-11-25", "20261125.", "20261125", "2026-W48-3", "2026W483", "2026_11_25",
])  # fmt: skip
def test_a_day_lasts_until_its_end_whatever_its_spelling(text):
    """As a due date it is its last moment, as a time its first."""
    assert parse_due(text) == datetime(2026, 11, 25, 23, 59, 59, 999_999).timestamp()
    assert parse_time(text) == datetime(2026, 11, 25).timestamp()


@pytest.mark.parametrize("text", [
    "2026-W48", "2026-W48T10:00", "2026-W1-1", "2026-11-25+01:00", "20261125+0100", "2026-11-25T+01:00",
    "2026/11/25+01:00", "2026/11/25 -05:00", "2026-11-25-05:00", "2026-W48-3+01:00", "2026-W48-3 +01:00",
    "2026-11-25Z", "2026-11-25 UTC", "1969-12-31", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00",
])  # fmt: skip
def test_a_week_and_a_day_with_a_zone_are_no_times(text):
    """Neither a day nor an hour is made of them, nor of what no clock of this machine shows."""
    assert parse_time(text) is parse_due(text) is None


@pytest.mark.parametrize("text", ["2026-11-25 00:00", "2026-11-25T00", "2026-11-25, 12 am", "2026-W48-3 00:00"])
def test_an_hour_is_meant_to_the_second(text):
    """Midnight that somebody wrote is no day."""
    assert parse_due(text) == parse_time(text) == datetime(2026, 11, 25).timestamp()
