"""What `doctor` says about one thing that it examined."""

from __future__ import annotations

from dataclasses import dataclass

STATES = ("ok", "note", "broken")  # "note": the program works without it


@dataclass(frozen=True)
class Finding:
    """One thing that was examined; `next` is what to do about it."""

    name: str
    state: str
    says: str
    next: str = ""
