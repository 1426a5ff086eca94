"""Groups of things of which it is told by pairs what belongs together."""

from __future__ import annotations

from collections.abc import Hashable


class Groups:
    """Everything is a group of its own at first."""

    def __init__(self) -> None:
        self._above: dict[Hashable, Hashable] = {}

    def find(self, one: Hashable) -> Hashable:
        """Return the thing that stands for a group."""
        while one in self._above:
            one = self._above[one]
        return one

    def join(self, first: Hashable, second: Hashable) -> bool:
        """Make one group of two; False if they are one already."""
        first, second = self.find(first), self.find(second)
        if first != second:
            self._above[first] = second
        return first != second
