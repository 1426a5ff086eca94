"""Write plain data as TOML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def toml_text(data: Mapping[str, Any], name: str = "") -> str:
    """Return texts, numbers, booleans, lists of them, tables and lists of tables as TOML."""
    plain = {key: value for key, value in data.items() if not _holds_tables(value)}
    lines = [f"{key} = {_toml_value(value)}" for key, value in plain.items()]
    for key, value in data.items():
        inner = f"{name}.{key}" if name else key
        if isinstance(value, Mapping):
            lines += ["", f"[{inner}]", toml_text(value, inner).rstrip("\n")]
        elif _holds_tables(value):
            for table in value:
                lines += ["", f"[[{inner}]]", toml_text(table, inner).rstrip("\n")]
    return "\n".join(lines) + "\n"


def _holds_tables(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and any(isinstance(item, Mapping) for item in value))


def _toml_value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else str(value)
