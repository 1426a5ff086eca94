"""What is asked in a sitting: which topics, which families, in which order, in which variants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random

from grader.errors import CourseError, UsageError
from grader.quiz.bank.bank import Bank, Outline

SHORT_EACH, SHORT_ALONE = 3, 5  # questions of each topic of several, and of a topic that is asked alone
FULL_EACH = 6
LENGTHS = ("short", "full")

Plan = tuple[tuple[str, int], ...]  # (family, attempt), in order


def find_topic(bank: Bank, name: str) -> str:
    """The topic meant by `name`: its name, or a beginning that only one topic has. Case and hyphens do not matter.

    Raises UsageError with the nearest names.
    """
    key = name.strip().lower().replace("-", "_").replace(" ", "_")
    if key in bank.paths:
        return key
    matching = [topic for topic in bank.paths if key and topic.startswith(key)]
    if len(matching) == 1:
        return matching[0]
    import difflib  # here: only a mistyped name needs it

    guesses = matching or difflib.get_close_matches(key, bank.paths)
    choice = " or ".join(f'"{guess}"' for guess in guesses)
    if matching:
        raise UsageError(f'"{name}" could be {choice}', next_step="learn quiz list")
    meant = f"; did you mean {choice}?" if guesses else ""
    raise UsageError(f'there is no topic "{name}"{meant}', next_step="learn quiz list")


def choose(
    bank: Bank, topics: Sequence[str], length: str, tried: Mapping[str, int], random: Random
) -> list[Outline]:  # fmt: skip
    """Questions on these topics, mixed. What was never answered comes before what was answered least often.

    `tried` is how often each family was answered at a first try.
    """
    alone = len(topics) == 1
    counts = {"short": SHORT_ALONE if alone else SHORT_EACH, "full": 10**6 if alone else FULL_EACH}
    chosen = [_chosen(bank.outline(name), counts[length], tried, random) for name in topics]
    return _mixed(chosen, random)


def fresh(families: Iterable[str], asked: Mapping[str, int]) -> Plan:
    """Each family in the variant after the last one that was asked."""
    return tuple((family, asked.get(family, 0) + 1) for family in families)


def still_there(bank: Bank, families: Iterable[str]) -> list[str]:
    """Of families that were asked once, those that the course still has. Raises CourseError."""
    return [family for family in families if _is_there(bank, family)]


def _is_there(bank: Bank, family: str) -> bool:
    try:
        bank.family(family)
    except CourseError:
        raise
    except UsageError:
        return False
    return True


def _chosen(families: Sequence[Outline], count: int, tried: Mapping[str, int], random: Random) -> list[Outline]:
    """The least tried ones, and of those as many different kinds as can be."""
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


def _mixed(chosen: Sequence[Sequence[Outline]], random: Random) -> list[Outline]:
    """One of each topic in turn, the topics in a new order each round: mixed practice is remembered better."""
    waiting = [list(families) for families in chosen]
    mixed: list[Outline] = []
    while any(waiting):
        for families in random.sample([each for each in waiting if each], sum(map(bool, waiting))):
            mixed.append(families.pop(0))
    return mixed
