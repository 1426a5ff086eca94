"""Plan a session: which families of which topics, in which order and in which variants."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random

from grader.errors import UsageError
from grader.quiz.assessment.facets import MIN_ANSWERS
from grader.quiz.bank.bank import Bank, Outline

SHORT_EACH, SHORT_ALONE, SHORT_FACET = 3, 3, 5  # questions on each of several topics, on a single one, of a facet
FULL_EACH, FULL_ALONE = 6, 10**6
SECONDS_PER_QUESTION = 45
LENGTHS = ("short", "full")
TRIES = 5  # at drawing enough of each facet: what a topic has left may not fit any more
LEAST_EACH = 5  # questions of a facet in an assessment, if it has any

Plan = tuple[tuple[str, int], ...]  # (family, attempt), in order


def count_minutes(questions: int) -> int:
    """Estimate the minutes that so many questions take, in fives where they are many."""
    minutes = questions * SECONDS_PER_QUESTION / 60
    return max(1, round(minutes)) if minutes < 5 else 5 * round(minutes / 5)


def find_topic(bank: Bank, name: str) -> str:
    """Find a topic by its name or a unique prefix, ignoring case and hyphens.

    Raises UsageError with the nearest names if there is no such topic.
    """
    key = name.strip().lower().replace("-", "_").replace(" ", "_")
    topics = [*bank.paths, *bank.collections]
    if key.isdecimal():
        what = f"how many questions is not chosen: {SHORT_ALONE} on one topic, with --length full all that it has"
        raise UsageError(what, next_step="learn quiz TOPIC (`learn quiz list` names them)")
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

    An assessment has as many questions of each topic, or one more where the facets need it (`facets_wanted`).

    Args:
        length: One of LENGTHS.
        tried: How often each family was answered at a first try.
        facet: One of FACETS, if all questions are to be of it; then as many as on a single topic.
    """
    each, alone = {"short": (SHORT_EACH, SHORT_ALONE), "full": (FULL_EACH, FULL_ALONE)}[length]
    pool = {
        name: [family for family in families if facet in ("", family.facet)]
        for name, families in _make_pool(bank, topics).items()
    }
    if facet or len(topics) == 1:
        most = max(alone, SHORT_FACET) if facet else alone
        draw = _Draw(pool, most, tried, random)
        draw.fill(lambda family: True, most)
        return draw.mixed()
    wanted, count = {}, len(topics) * each
    if _is_assessment(bank, topics):
        wanted = facets_wanted(pool, MIN_ANSWERS * each // SHORT_EACH)
        count = min(max(count, sum(wanted.values())), count + len(topics))
    for _ in range(TRIES):
        draw = _Draw(pool, math.ceil(count / len(topics)), tried, random)
        if not draw.fill_facets(wanted):
            break
    draw.fill(lambda family: True, count - draw.count)
    return draw.mixed()


def _is_assessment(bank: Bank, topics: Sequence[str]) -> bool:
    return bool(bank.assessed) and set(bank.assessed) <= set(topics)


def _make_pool(bank: Bank, topics: Sequence[str]) -> dict[str, list[Outline]]:
    """Return the questions that may be asked of each topic: those of its file.

    In an assessment they must count for that topic; those of other files that do are asked, too, if they are of a facet
    that no file of the assessment has.
    """
    pool = {name: bank.outline(name) for name in topics}
    if not _is_assessment(bank, topics):
        return pool
    pool = {name: [family for family in families if family.counts_for == name] for name, families in pool.items()}
    own = {family.facet for families in pool.values() for family in families}
    for family in (family for name in bank.names if name not in pool for family in bank.outline(name)):
        if family.counts_for in pool and family.facet not in own:
            pool[family.counts_for].append(family)
    return pool


def facets_wanted(pool: Mapping[str, Sequence[Outline]], common_each: int) -> dict[str, int]:
    """Say how many questions of each facet are wanted, the rarest first: LEAST_EACH, more of the two commonest.

    With equally many of each a report could say nothing of any: only facets with MIN_ANSWERS are compared, and from
    five answers of each nobody can tell strong from weak (`benchmarks/facets.py`). The more facets are compared, the
    more chance there is among them: in a long assessment twelve of these two and eight of the others found less.
    """
    counts = Counter(family.facet for families in pool.values() for family in families if family.facet)
    common = [facet for facet, _ in counts.most_common()]
    wanted = dict.fromkeys(common, LEAST_EACH) | dict.fromkeys(common[:2], common_each)
    return dict(reversed(wanted.items()))


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

    @property
    def count(self) -> int:
        """How many questions were drawn."""
        return sum(map(len, self.chosen.values()))

    def fill_facets(self, wanted: Mapping[str, int]) -> int:
        """Draw so many of each facet, in this order; return how many lack."""
        return sum(self._fill_facet(facet, count) for facet, count in wanted.items())

    def _fill_facet(self, facet: str, count: int) -> int:
        """Draw so many of a facet; return how many lack."""
        return self.fill(lambda family: family.facet == facet, count)

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
