"""What `doctor` says about one thing that it examined."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that was examined; `next` is what to do about it."""

    name: str
    state: str  # "ok", "note" (the program works without it) or "broken"
    says: str
    next: str = ""
