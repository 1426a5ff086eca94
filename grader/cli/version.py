"""Which version of the program this is."""

from __future__ import annotations


def version() -> str:
    """The installed version; from a checkout that is not installed, the one it will have."""
    from importlib import metadata

    try:
        return metadata.version("selfattend")
    except metadata.PackageNotFoundError:
        return _of_the_checkout()


def _of_the_checkout() -> str:
    import tomllib
    from pathlib import Path

    project = Path(__file__).parents[2] / "pyproject.toml"
    try:
        return str(tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"])
    except (OSError, ValueError, KeyError):
        return "unknown"
