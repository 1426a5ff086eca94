"""Whose the hand-ins of a Blackboard download are.

A name begins `TITLE_USER_attempt_`, and a title and a user may both hold a "_". But the title is the same in all names
of a download, and beside each attempt lies a text that begins `Name: Ann Lee (annlee)`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from grader.intake.learner import join_some, shorten

MAX_RECEIPT_BYTES = 4 << 10  # its first line says who it was
MAX_SHOWN = 5  # in one note
_RECEIPT = re.compile(rb"(?:\xef\xbb\xbf)?[^\r\n]*\(([^()\r\n]+)\)[ \t]*(?:[\r\n]|$)")


def find_users(
    beginnings: Collection[str], receipts: Iterable[tuple[str, bytes]]
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Return the user of each `TITLE_USER`, and notes; where it is not certain, the whole stands for the user.

    *receipts* are such beginnings, each with the text that lies beside an attempt. Different beginnings never become
    one user unless each says so without a doubt.
    """
    told = [(one, found[1].decode("utf-8", "replace")) for one, text in receipts if (found := _RECEIPT.match(text))]
    odd = sorted({one for one, user in told if not one.endswith(f"_{user}")})
    titles = {one.removesuffix(f"_{user}") for one, user in told} - set(odd)
    titles |= {one.partition("_")[0] for one in beginnings if one.count("_") == 1}
    notes = []
    if odd:
        notes.append(f"Another user than in the name stands in the text beside {_join(odd)}.")
    if not titles and beginnings and (possible := set.intersection(*map(_possible_titles, beginnings))):
        titles = {max(possible, key=len)}
        notes.append(f"Taken for the assignment's title, with which all names begin: {shorten(*titles)}.")
    users = {one: {one.removeprefix(f"{title}_") for title in titles} - {one, ""} for one in beginnings}
    users.update((one, set()) for one in odd)
    if unclear := sorted(one for one, may_be in users.items() if len(may_be) != 1):
        notes.append(f"Where the title ends and the user begins is not certain, so nothing joins it: {_join(unclear)}.")
    return {one: may_be.pop() if len(may_be) == 1 else one for one, may_be in users.items()}, tuple(notes)


def _possible_titles(beginning: str) -> set[str]:
    """Return what stands before each "_" with a user after it."""
    return {beginning[:place] for place, letter in enumerate(beginning[:-1]) if letter == "_" and place}


def _join(names: list[str]) -> str:
    return join_some([shorten(name) for name in names], MAX_SHOWN)
