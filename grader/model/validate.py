"""Check data that somebody else may have written: JSON, rows of a database, and the dataclasses made of them.

Everything is refused with a ValueError, to which whoever read the file adds where it was and what to do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from types import UnionType
from typing import Any, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

T = TypeVar("T")
Test = Callable[[Any], bool]

HALF_CHARACTER = re.compile("[\ud800-\udfff]")  # a surrogate of UTF-16
ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")  # apart: with a text that it begins with, the search is quick
MAX_NUMBER = 2**128  # a seed has so many bits; what is larger does not fit into a float everywhere


def parse_json(text: str) -> Any:
    """Parse JSON as it is defined, without NaN or half characters, and nested no deeper than Python can follow."""
    try:
        value = json.loads(text, parse_constant=_refuse)
        if ESCAPED_HALF.search(text) or HALF_CHARACTER.search("" if text.isascii() else text):
            # with its other half it is a whole one; alone, no file can hold it
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except (RecursionError, TypeError) as error:  # TypeError: no text
        raise ValueError(f"no JSON: {error}") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


def validated(value: T, hint: Any) -> T:
    """Return the value if it is of the type that `hint` says, down to the last item. Raises ValueError."""
    if not _test(hint)(value):
        raise ValueError(f"this is no {getattr(hint, '__name__', hint)}")
    return value


@cache
def _test(hint: Any) -> Test:
    """Return a function that tests for a type, dataclasses, TypedDicts and collections included."""
    origin, args = get_origin(hint) or hint, get_args(hint)
    if origin is Any:
        return lambda value: True
    if origin in (Union, UnionType):
        tests = [_test(each) for each in args]
        return lambda value: any(test(value) for test in tests)
    if origin in (list, tuple, Sequence):
        item, made = _test(args[0]), list if origin is Sequence else origin
        return lambda value: type(value) is made and all(map(item, value))
    if origin in (dict, Mapping):
        of_keys, of_values = map(_test, args)
        return lambda value: type(value) is dict and all(map(of_keys, value)) and all(map(of_values, value.values()))
    if is_typeddict(origin) or is_dataclass(origin):
        return _test_fields(origin)
    if origin in (int, float):
        kinds = {int, origin}
        return lambda value: type(value) in kinds and -MAX_NUMBER <= value < MAX_NUMBER  # never true of NaN
    return lambda value: type(value) is origin


def _test_fields(kind: type[Any]) -> Test:
    tests = [(name, _test(hint)) for name, hint in get_type_hints(kind).items()]
    if is_dataclass(kind):  # most fields of a summary have their default, which is quick to see
        given = [(name, test, vars(kind).get(name, ...)) for name, test in tests]
        return lambda value: (
            type(value) is kind
            and all([test(it) for name, test, default in given if (it := vars(value)[name]) is not default])
        )
    needed: frozenset[str] = vars(kind)["__required_keys__"]
    return lambda value: (
        type(value) is dict
        and needed <= value.keys()
        and all(test(value[name]) for name, test in tests if name in value)
    )
