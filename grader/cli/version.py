"""The program's version."""

from __future__ import annotations


def version() -> str:
    """Return the installed version, or "unknown" for a checkout that is not installed."""
    from importlib import metadata

    try:
        return metadata.version("selfattend")
    except metadata.PackageNotFoundError:
        return "unknown"
