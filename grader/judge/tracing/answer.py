"""What a wrong call returned beside what is right: as a whole, or entry by entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from grader.judge.values.compare import is_array, same

WHOLE_CALL = "a call that was wrong"
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")

Path = tuple[Any, ...]  # of keys and numbers: where an entry stands


class Answer:
    """Tells whether another answer to the same call is right, where this one is wrong.

    Attributes:
        wrong: Where the arrays stand that are wrong, if they are several; none where one is another's.
        entry: The one of them that is looked at; empty for all of the answer.
    """

    def __init__(self, returned: Sequence[Any], expected: Any) -> None:
        """Compare what came back, nothing where the call raised."""
        self.expected = expected
        entries = {path: value for path, value in _entries(expected) if path and is_array(value)}
        is_right = {path: same(_at(returned[0], path), value) for path, value in entries.items() if returned}
        wrong = [path for path in entries if returned and not is_right[path]]
        is_mixed_up = any(same(_at(returned[0], path), entries[other]) for path in wrong for other in wrong)
        self.wrong = [] if is_mixed_up or len(wrong) == 1 else wrong
        self._kept = [path for path in entries if returned and is_right[path]]
        self.entry: Path = ()

    @property
    def wanted(self) -> Any:
        """Return what is right of the entry that is looked at."""
        return _at(self.expected, self.entry)

    @property
    def number(self) -> int:
        """Return which entry of a tuple is looked at; the first for all else."""
        return self.entry[0] if self.entry and isinstance(self.entry[0], int) else 0

    @property
    def words(self) -> str:
        """Name what is looked at."""
        if not self.entry:
            return WHOLE_CALL
        *outer, key = self.entry
        if isinstance(key, str):
            return f"the `{key}` that it returns"
        return (
            f"the {ORDINALS[key]} value that it returns"
            if key < len(ORDINALS) and not outer
            else "a part of the answer"
        )

    def is_mended(self, answer: Any) -> bool:
        """Return True if what is looked at is right in *answer*, and nothing is wrong that was right."""
        if not self.entry:
            return same(answer, self.expected)
        return all(same(_at(answer, path), _at(self.expected, path)) for path in (self.entry, *self._kept))


def _entries(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    yield path, value
    if isinstance(value, dict | list | tuple):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _entries(inner, (*path, key))


def _at(value: Any, path: Path) -> Any:
    """Return an entry; None where there is none."""
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return None
    return value
