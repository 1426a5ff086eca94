"""Groups of hand-ins that are alike, out of the pairs that were found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.model.groups import Groups

MAX_GROUPS = 50
MAX_LINE = 10_000  # of a file

Pair = Mapping[str, Any]


@dataclass(frozen=True)
class AlikeGroup:
    """Pairs of one lesson that share hand-ins. `lines` are the lines that are alike in each, by its id."""

    lesson: str
    pairs: Sequence[Pair]
    lines: Mapping[str, frozenset[int]]

    def figures(self) -> dict[str, Any]:
        """Return what the class's page says of it; lines and note are of the pair most alike."""
        first = self.pairs[0]
        return {
            "least": min(pair["share"] for pair in self.pairs),
            "most": max(pair["share"] for pair in self.pairs),
            "same_mistake": any(pair.get("same_mistake") for pair in self.pairs),
            "lines": f"{_lines_text(first.get('first_lines'))} and {_lines_text(first.get('second_lines'))}",
            "note": first.get("note") or "",
        }


def group_similar(head: Mapping[str, Any], known: Container[str]) -> list[AlikeGroup]:
    """Return the groups of *known* hand-ins: those with the same mistake first, then the most alike."""
    pairs = [pair for pair in head.get("similar") or () if pair["first"] in known and pair["second"] in known]
    pairs.sort(key=lambda pair: (not pair.get("same_mistake"), -pair["share"]))
    return [_make_group(own) for own in _join(pairs)]


def _make_group(pairs: Sequence[Pair]) -> AlikeGroup:
    names = sorted({name for pair in pairs for name in (pair["first"], pair["second"])})
    lines: dict[str, frozenset[int]] = dict.fromkeys(names, frozenset())
    for pair in pairs:
        for end in ("first", "second"):
            lines[pair[end]] |= _range(pair.get(f"{end}_lines"))
    return AlikeGroup(pairs[0]["lesson"], pairs, lines)


def _join(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Join the pairs of a lesson that share a hand-in, in the order of the first pair of each group."""
    groups, joined = Groups(), defaultdict[Hashable, list[Pair]](list)
    for pair in pairs:
        groups.join((pair["lesson"], pair["first"]), (pair["lesson"], pair["second"]))
    for pair in pairs:
        joined[groups.find((pair["lesson"], pair["first"]))].append(pair)
    return list(joined.values())


def _range(lines: Sequence[int] | None) -> frozenset[int]:
    """Return the lines from the first to the last; none for what is no range, which a store may hold."""
    if not lines or len(lines) != 2:
        return frozenset()
    return frozenset(range(max(1, lines[0]), min(lines[1], MAX_LINE) + 1))


def _lines_text(lines: Sequence[int] | None) -> str:
    return "–".join(map(str, lines[:2])) if lines else "?"
