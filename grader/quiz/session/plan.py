"""Plan a session: which families of which topics, in which order and in which variants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random

from grader.errors import UsageError
from grader.quiz.bank.bank import Bank, Outline

SHORT_EACH, SHORT_ALONE = 3, 5  # questions on each of several topics, and on a single topic
FULL_EACH, FULL_ALONE = 6, 10**6
LENGTHS = ("short", "full")

Plan = tuple[tuple[str, int], ...]  # (family, attempt), in order


def find_topic(bank: Bank, name: str) -> str:
    """Find a topic by its name or a unique prefix, ignoring case and hyphens.

    Raises UsageError with the nearest names if there is no such topic.
    """
    key = name.strip().lower().replace("-", "_").replace(" ", "_")
    if key in bank.paths:
        return key
    matching = [topic for topic in bank.paths if key and topic.startswith(key)]
    if len(matching) == 1:
        return matching[0]
    import difflib  # here, because only a mistyped name needs it

    choice = " or ".join(f'"{guess}"' for guess in matching or difflib.get_close_matches(key, bank.paths))
    meant = f"; did you mean {choice}?" if choice else ""
    what = f'"{name}" could be {choice}' if matching else f'there is no topic "{name}"{meant}'
    raise UsageError(what, next_step="learn quiz list")


def choose_families(
    bank: Bank, topics: Sequence[str], length: str, tried: Mapping[str, int], random: Random
) -> list[Outline]:
    """Choose questions on these topics and mix them, those asked least often first.

    Args:
        length: One of LENGTHS.
        tried: How often each family was answered at a first try.
    """
    each, alone = {"short": (SHORT_EACH, SHORT_ALONE), "full": (FULL_EACH, FULL_ALONE)}[length]
    count = alone if len(topics) == 1 else each
    chosen = [_choose_least_tried(bank.outline(name), count, tried, random) for name in topics]
    return _interleave(chosen, random)


def plan_variants(families: Iterable[str], asked: Mapping[str, int]) -> Plan:
    """Plan each family in the variant after the last one that was asked."""
    return tuple((family, asked.get(family, 0) + 1) for family in families)


def keep_existing(bank: Bank, families: Iterable[str]) -> list[str]:
    """Return the families that the course still has. Raises CourseError."""
    return [family for family in families if bank.find_family(family)]


def _choose_least_tried(
    families: Sequence[Outline], count: int, tried: Mapping[str, int], random: Random
) -> list[Outline]:
    """Choose the families tried least often, and among equals as many different kinds as possible."""
    waiting = sorted(families, key=lambda family: (tried.get(family.id, 0), random.random()))
    chosen: list[Outline] = []
    while waiting and len(chosen) < count:
        least = tried.get(waiting[0].id, 0)
        kinds = [family.kind for family in chosen]
        equal = [family for family in waiting if tried.get(family.id, 0) == least]
        best = min(equal, key=lambda family: kinds.count(family.kind))
        chosen.append(best)
        waiting.remove(best)
    return chosen


def _interleave(chosen: Sequence[Sequence[Outline]], random: Random) -> list[Outline]:
    """Take one of each topic in turn, in a new order each round: mixed practice is remembered better."""
    waiting = [list(families) for families in chosen]
    mixed: list[Outline] = []
    while any(waiting):
        for families in random.sample([each for each in waiting if each], sum(map(bool, waiting))):
            mixed.append(families.pop(0))
    return mixed
