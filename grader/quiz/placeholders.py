"""Fill placeholders in texts: `{d_k}`, `{share:.1f}`, `{n:,}`. Only names of drawn values, no attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([a-zA-Z_]\w*)(?::([-+ ,.\w%]{0,12}))?\}")


class NoSuchValue(ValueError):
    """A placeholder names a value that was not drawn."""


def fill(text: str, values: Mapping[str, Any]) -> str:
    """Fill the placeholders of a text; `{{` and `}}` stand for braces. Raises NoSuchValue."""

    def replace(match: re.Match[str]) -> str:
        if match[0] in ("{{", "}}"):
            return match[0][0]
        name, spec = match[1], match[2] or ""
        if name not in values:
            raise NoSuchValue(f"there is no value {{{name}}}")
        return format(values[name], spec) if spec else format_value(values[name])

    return _PLACEHOLDER.sub(replace, text) if "{" in text or "}" in text else text


def fill_all(data: Any, values: Mapping[str, Any]) -> Any:
    """Fill every text in nested lists and tables."""
    if isinstance(data, str):
        return fill(data, values)
    if isinstance(data, Mapping):
        return {key: fill_all(value, values) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [fill_all(value, values) for value in data]
    return data


def format_value(value: object) -> str:
    """Format a value for readers: no needless digits, tuples as shapes."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(format_value, value))}{',' if len(value) == 1 else ''})"
    return str(value)
