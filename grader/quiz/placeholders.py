"""Texts with places for values: `{d_k}`, `{share:.1f}`, `{n:,}`. Only names that were drawn, no attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_PLACE = re.compile(r"\{\{|\}\}|\{([a-zA-Z_]\w*)(?::([-+ ,.\w%]{0,12}))?\}")


class NoSuchValue(ValueError):
    """A text names a value that was not drawn."""


def fill(text: str, values: Mapping[str, Any]) -> str:
    """The text with its values. `{{` and `}}` stand for braces. Raises NoSuchValue."""

    def put(match: re.Match[str]) -> str:
        if match[0] in ("{{", "}}"):
            return match[0][0]
        name, how = match[1], match[2] or ""
        if name not in values:
            raise NoSuchValue(f"there is no value {{{name}}}")
        return format(values[name], how) if how else shown(values[name])

    return _PLACE.sub(put, text)


def fill_all(data: Any, values: Mapping[str, Any]) -> Any:
    """Every text in nested lists and tables, filled."""
    if isinstance(data, str):
        return fill(data, values)
    if isinstance(data, Mapping):
        return {key: fill_all(value, values) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [fill_all(value, values) for value in data]
    return data


def shown(value: object) -> str:
    """A value as a reader expects it: no digits that are not there, tuples as shapes."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(shown, value))}{',' if len(value) == 1 else ''})"
    return str(value)
