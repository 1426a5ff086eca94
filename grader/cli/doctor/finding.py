"""What `doctor` says of one thing that it looked at."""

from __future__ import annotations

from dataclasses import dataclass

STATES = ("ok", "note", "broken")  # "note": it works without, and one should know


@dataclass(frozen=True)
class Finding:
    """One thing looked at; `next` is what to do about it."""

    name: str
    state: str
    says: str
    next: str = ""
