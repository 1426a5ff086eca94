"""Pairs that share hand-ins are one group."""

from __future__ import annotations

from grader.reports.pages.class_alike import group_similar


def test_pairs_of_a_lesson_that_share_hand_ins_are_one_group():
    """Whichever pair joins them, the group stands where its most alike pair does, and is of one lesson."""
    made = [("a", "b", "one", 0.5), ("c", "d", "one", 0.9), ("e", "f", "one", 0.8), ("b", "c", "one", 0.4)]
    made += [("a", "b", "two", 0.6), ("e", "x", "one", 0.95)]
    pairs = [dict(zip(("first", "second", "lesson", "share"), one, strict=True)) for one in made]
    groups = group_similar({"similar": pairs}, "abcdef")

    assert [(group.lesson, "".join(group.lines), group.pairs[0]["share"]) for group in groups] == [
        ("one", "abcd", 0.9), ("one", "ef", 0.8), ("two", "ab", 0.6)]  # fmt: skip
