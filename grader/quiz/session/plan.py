"""Plan a session: which families of which topics, in which order and in which variants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random

from grader.errors import UsageError
from grader.quiz.assessment.facets import MIN_ANSWERS
from grader.quiz.bank.bank import Bank, Outline

SHORT_EACH, SHORT_ALONE = 3, 5  # questions on each of several topics, and on a single topic
FULL_EACH, FULL_ALONE = 6, 10**6
LENGTHS = ("short", "full")
TRIES = 5  # at drawing enough of each facet: what a topic has left may not fit any more
PARTS = 6  # of an assessment, of which each facet has at least one

Plan = tuple[tuple[str, int], ...]  # (family, attempt), in order


def find_topic(bank: Bank, name: str) -> str:
    """Find a topic by its name or a unique prefix, ignoring case and hyphens.

    Raises UsageError with the nearest names if there is no such topic.
    """
    key = name.strip().lower().replace("-", "_").replace(" ", "_")
    topics = [*bank.paths, *bank.collections]
    if key in topics:
        return key
    matching = [topic for topic in topics if key and topic.startswith(key)]
    if len(matching) == 1:
        return matching[0]
    import difflib  # here, because only a mistyped name needs it

    choice = " or ".join(f'"{guess}"' for guess in matching or difflib.get_close_matches(key, topics))
    meant = f"; did you mean {choice}?" if choice else ""
    what = f'"{name}" could be {choice}' if matching else f'there is no topic "{name}"{meant}'
    raise UsageError(what, next_step="learn quiz list")


def choose_families(
    bank: Bank, topics: Sequence[str], length: str, tried: Mapping[str, int], random: Random, facet: str = ""
) -> list[Outline]:
    """Choose questions on these topics and mix them, those asked least often first; one of those that ask the same.

    An assessment has as many questions of each topic, and enough of each facet that something can be said of it.

    Args:
        length: One of LENGTHS.
        tried: How often each family was answered at a first try.
        facet: One of FACETS, if all questions are to be of it; then as many as on a single topic.
    """
    each, alone = {"short": (SHORT_EACH, SHORT_ALONE), "full": (FULL_EACH, FULL_ALONE)}[length]
    pool = {name: [family for family in bank.outline(name) if facet in ("", family.facet)] for name in topics}
    if facet or len(topics) == 1:
        draw = _Draw(pool, alone, tried, random)
        draw.fill(lambda family: True, alone)
        return draw.mixed()
    for _ in range(TRIES):
        draw = _Draw(pool, each, tried, random)
        if not draw.fill_facets():
            break
    draw.fill(lambda family: True, len(topics) * each)
    return draw.mixed()


def plan_variants(families: Iterable[str], asked: Mapping[str, int]) -> Plan:
    """Plan each family in the variant after the last one that was asked."""
    return tuple((family, asked.get(family, 0) + 1) for family in families)


def keep_existing(bank: Bank, families: Iterable[str]) -> list[str]:
    """Return the families that the course still has. Raises CourseError."""
    return [family for family in families if bank.find_family(family)]


class _Draw:
    """Draws questions without replacement, at most so many of each topic."""

    def __init__(
        self, pool: Mapping[str, Sequence[Outline]], room_each: int, tried: Mapping[str, int], random: Random
    ) -> None:
        self.pool, self.room_each, self.tried, self.random = pool, room_each, tried, random
        self.chosen: dict[str, list[Outline]] = {name: [] for name in pool}
        self._ideas: set[str] = set()

    def fill_facets(self) -> int:
        """Draw the least number of each facet, the rarest first; then up to what a finding needs, the commonest first.

        With equally many of each a report could say nothing of any: only facets with MIN_ANSWERS are compared. Returns
        how many lack of those that were wanted in the first two.
        """
        least = len(self.pool) * self.room_each // PARTS
        counts = Counter(family.facet for families in self.pool.values() for family in families if family.facet)
        for facet, _ in reversed(counts.most_common()):
            self._fill_facet(facet, least)
        wanted = max(least, MIN_ANSWERS)
        return sum(self._fill_facet(facet, wanted) for facet, _ in counts.most_common(2))

    def _fill_facet(self, facet: str, count: int) -> int:
        """Draw of a facet up to a number; return how many lack."""
        return self.fill(lambda family: family.facet == facet, count - self._count(facet))

    def _count(self, facet: str) -> int:
        return sum(family.facet == facet for families in self.chosen.values() for family in families)

    def fill(self, is_wanted: Callable[[Outline], bool], count: int) -> int:
        """Draw up to `count` more: tried least often first, of topics that have fewest, of kinds that are fewest.

        Returns how many lack.
        """
        for drawn in range(count):
            waiting = [
                (name, family)
                for name, families in self.pool.items()
                if len(self.chosen[name]) < self.room_each
                for family in families
                if is_wanted(family) and family.idea not in self._ideas
            ]
            if not waiting:
                return count - drawn
            name, best = min(waiting, key=lambda each: self._rank(*each))
            self.chosen[name].append(best)
            self._ideas.add(best.idea)
        return 0

    def _rank(self, name: str, family: Outline) -> tuple[float, ...]:
        chosen = self.chosen[name]
        kinds = sum(other.kind == family.kind for other in chosen)
        return self.tried.get(family.id, 0), len(chosen), kinds, self.random.random()

    def mixed(self) -> list[Outline]:
        """Return what was drawn, mixed."""
        return _interleave([self.random.sample(each, len(each)) for each in self.chosen.values()], self.random)


def _interleave(chosen: Sequence[Sequence[Outline]], random: Random) -> list[Outline]:
    """Take one of each topic in turn, in a new order each round: mixed practice is remembered better."""
    waiting = [list(families) for families in chosen]
    mixed: list[Outline] = []
    while any(waiting):
        for families in random.sample([each for each in waiting if each], sum(map(bool, waiting))):
            mixed.append(families.pop(0))
    return mixed
