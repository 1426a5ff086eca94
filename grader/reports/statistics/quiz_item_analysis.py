"""Item analysis of a quiz: what learners' first answers say of the questions. Learners are not ranked.

- An *item* is a family of questions. Of each learner the first answer to it counts: later ones come after feedback.
- *p* is the share that had it fully right, with Wilson's interval.
- The *rest* of a learner is how far they are, on average, above the mean of each other item that they answered. If all
  answered the same items it is the classical rest score; else it allows for how hard each learner's items were. r is
  the correlation of the item's credit with it (corrected item-rest correlation).
- Below MIN_TRIED learners there are counts only: shares of few are chance.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum, sqrt
from statistics import NormalDist, fmean, median, variance
from typing import Any

from grader.model import SCHEMA
from grader.reports.statistics.item_analysis import LOW, MIN_TRIED, correlate_if_enough, wilson_interval
from grader.reports.statistics.quiz_logs import LoggedAnswer

EASY, HARD = 0.95, 0.2
RARE_OPTION = 0.05  # share of those who saw a wrong option
MIN_OTHER_ITEMS = 5  # for a rest
MIN_STANDARD_ERRORS = 2.0  # for one comparison; several need more
MIN_DRAWN = 10  # learners who drew a value, and who drew another
MAX_TAGS = 40  # misconceptions of one item, the most frequent
MAX_VALUES = 12  # different ones, for drawn values to be compared

FLAGS = {
    "negative": "those who get it right do worse on the rest: check the key first",
    "low": "it says little about the rest: rewrite it",
    "hard": "hardly anyone gets it right: look at the lesson's text, and at the key",
    "easy": "nearly everyone gets it right: it tells nobody apart",
    "distractor": "a wrong option that hardly anyone takes: find a better one",
    "tempting": "a wrong option that those take who do well on the rest: is it wrong?",
    "variant": "with one value that was drawn it is another question: check the generator",
}

Answers = Mapping[str, LoggedAnswer]  # by learner


def analyse(answers: Iterable[LoggedAnswer]) -> dict[str, Any]:
    """Return the object of `grader items --json`; its `reason` says why there are counts only, or is ""."""
    every = list(answers)
    by_item = _first_answers(every)
    learners = len({answer.learner for answer in every})
    rests = _Rests(by_item)
    items = [_item(family, found, rests) for family, found in sorted(by_item.items())]
    fewer = f"{MIN_TRIED} learners are needed for more than counts, and here are {learners}"
    return {
        "schema": SCHEMA,
        "learners": learners,
        "answers": len(every),
        "first_answers": sum(map(len, by_item.values())),
        "reason": "" if learners >= MIN_TRIED else fewer,
        "items": items,
        "compared": sum(each["compared"] for each in items),
        "reliability": _forms(by_item) if learners >= MIN_TRIED else [],
    }


def _first_answers(answers: Iterable[LoggedAnswer]) -> dict[str, dict[str, LoggedAnswer]]:
    """Return the first answer of each learner to each family."""
    found: dict[str, dict[str, LoggedAnswer]] = defaultdict(dict)
    for answer in sorted(answers, key=lambda answer: answer.n):
        if answer.first:
            found[answer.family].setdefault(answer.learner, answer)
    return dict(found)


class _Rests:
    """How each learner does on all items but one."""

    def __init__(self, by_item: Mapping[str, Answers]) -> None:
        means = {family: fmean(each.credit for each in found.values()) for family, found in by_item.items()}
        self._above: dict[str, dict[str, float]] = defaultdict(dict)  # learner -> item -> credit above its mean
        for family, found in by_item.items():
            for learner, answer in found.items():
                self._above[learner][family] = answer.credit - means[family]
        self._sums = {learner: fsum(above.values()) for learner, above in self._above.items()}

    def of(self, learner: str, family: str) -> float | None:
        """Return a learner's rest without one item; None if too few others were answered."""
        above = self._above[learner]
        others = len(above) - 1
        if others < MIN_OTHER_ITEMS:
            return None
        return round((self._sums[learner] - above[family]) / others, 9)  # so that equal sums of other terms are equal


def _item(family: str, found: Answers, rests: _Rests) -> dict[str, Any]:
    answers = list(found.values())
    n, right = len(answers), sum(_is_right(answer) for answer in answers)
    enough = n >= MIN_TRIED
    rest = {learner: rests.of(learner, family) for learner in found}
    variants, compared = _variants(answers) if enough else ([], 0)
    item: dict[str, Any] = {
        "family": family,
        "topic": answers[0].topic,
        "kind": answers[0].kind,
        "n": n,
        "right": right,
    }
    item["sure_but_wrong"] = sum(answer.certainty == "sure" and not _is_right(answer) for answer in answers)
    item |= {"tags": _tags(found, rest, enough), "variants": variants, "compared": compared}
    item |= _shares(answers, n, right) if enough else dict.fromkeys(("p", "low", "high", "credit", "seconds"))
    item["rest"] = _rest(found, rest) if enough else None
    return item | {"flags": _flags(item) if enough else []}


def _is_right(answer: LoggedAnswer) -> bool:
    return answer.credit >= 1


def _shares(answers: Sequence[LoggedAnswer], n: int, right: int) -> dict[str, float]:
    low, high = wilson_interval(right, n)
    shares = {"p": right / n, "low": low, "high": high, "credit": fmean(answer.credit for answer in answers)}
    rounded = {name: round(share, 4) for name, share in shares.items()}
    return rounded | {"seconds": round(median(answer.seconds for answer in answers), 1)}


def _rest(found: Answers, rest: Mapping[str, float | None]) -> float | None:
    """Compute the corrected item-rest correlation; None if too few learners are on either side."""
    known = [(found[learner], value) for learner, value in rest.items() if value is not None]
    right = sum(_is_right(answer) for answer, _ in known)
    r = correlate_if_enough([(answer.credit, value, 1) for answer, value in known], right)
    return None if r is None else round(r, 4)


def _tags(found: Answers, rest: Mapping[str, float | None], enough: bool) -> list[dict[str, Any]]:
    """Count who showed each misconception, of how many who could have; the most frequent first.

    Only those who were offered a wrong option could take it.
    """
    offered = Counter(tag for answer in found.values() for tag in answer.offered)
    shown = Counter(tag for answer in found.values() for tag in set(answer.tags))
    rows: list[dict[str, Any]] = []
    for tag in {**offered, **shown}:
        of = max(offered[tag], shown[tag]) if tag in offered else len(found)
        tempting = _is_tempting(tag, found, rest) if enough and tag in offered else False
        share = round(shown[tag] / of, 4) if of >= MIN_TRIED else None
        row = {"tag": tag, "shown": shown[tag], "of": of, "share": share}
        rows.append(row | {"option": tag in offered, "tempting": tempting})
    return sorted(rows, key=lambda row: (-row["shown"], row["tag"]))[:MAX_TAGS]


def _is_tempting(tag: str, found: Answers, rest: Mapping[str, float | None]) -> bool:
    """Return True if, among those who were offered an option, taking it goes with doing well on the rest.

    The standard error of a zero correlation is 1/√n.
    """
    points = [
        (float(tag in answer.tags), value, 1)
        for learner, answer in found.items()
        if tag in answer.offered and (value := rest[learner]) is not None
    ]
    r = correlate_if_enough(points, sum(taken for taken, _, _ in points))
    return r is not None and r > MIN_STANDARD_ERRORS / sqrt(len(points))


def _variants(answers: Sequence[LoggedAnswer]) -> tuple[list[dict[str, Any]], int]:
    """Return the drawn values with which p is off by more than chance, and how many values were compared.

    The more values of an item are compared, the farther off one must be (Bonferroni). A value that splits the learners
    as one before it is not compared again.
    """
    judged = [row for split in _splits(answers) for row in split if row]
    chance = 2 * (1 - NormalDist().cdf(MIN_STANDARD_ERRORS)) / max(1, len(judged))
    bound = NormalDist().inv_cdf(1 - chance / 2)
    off = [row for row in judged if abs(row["errors"]) > bound]
    return sorted(off, key=lambda row: -abs(row["errors"])), len(judged)


def _splits(answers: Sequence[LoggedAnswer]) -> Iterator[list[dict[str, Any]]]:
    """Compare each value of each drawn name with all others."""
    groups: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for index, answer in enumerate(answers):
        for name, value in answer.drawn:
            groups[name][value].add(index)
    seen: set[frozenset[frozenset[int]]] = set()
    for name, by_value in groups.items():
        split = frozenset(map(frozenset, by_value.values()))
        if 2 <= len(by_value) <= MAX_VALUES and split not in seen:
            seen.add(split)
            drawn = set().union(*by_value.values())
            yield [_compare(f"{name} = {value}", answers, mine, drawn - mine) for value, mine in by_value.items()]


def _compare(says: str, answers: Sequence[LoggedAnswer], mine: set[int], others: set[int]) -> dict[str, Any]:
    """Compare those who drew a value with those who drew another; {} if there are too few of either."""
    n, m = len(mine), len(others)
    if min(n, m) < MIN_DRAWN:
        return {}
    right, else_right = (sum(_is_right(answers[index]) for index in indices) for indices in (mine, others))
    share = (right + else_right) / (n + m)
    error = sqrt(share * (1 - share) * (1 / n + 1 / m))
    off = (right / n - else_right / m) / error if error else 0.0
    return {"value": says, "n": n, "right": right, "others": m, "others_right": else_right, "errors": round(off, 2)}


def _flags(item: Mapping[str, Any]) -> list[str]:
    r = item["rest"]
    tags = [tag for tag in item["tags"] if tag["option"]]
    found = {
        "negative": r is not None and r < 0,
        "low": r is not None and 0 <= r < LOW,
        "hard": item["p"] < HARD,
        "easy": item["p"] > EASY,
        "distractor": any(tag["share"] is not None and tag["share"] < RARE_OPTION for tag in tags),
        "tempting": any(tag["tempting"] for tag in tags),
        "variant": bool(item["variants"]),
    }
    return [name for name, yes in found.items() if yes]


# --- reliability ------------------------------------------------------------------------------------------------------


def _forms(by_item: Mapping[str, Answers]) -> list[dict[str, Any]]:
    """Compute the reliability of each fixed form: all items, or a topic's, if each learner answered all of them."""
    topics: dict[str, dict[str, Answers]] = defaultdict(dict)
    for family, found in by_item.items():
        topics[next(iter(found.values())).topic][family] = found
    forms = {"": dict(by_item), **(topics if len(topics) > 1 else {})}
    return [form for name, items in forms.items() if (form := _reliability(name, items))]


def _reliability(topic: str, items: Mapping[str, Answers]) -> dict[str, Any] | None:
    """Compute Cronbach's alpha (KR-20 for items that are right or wrong) and the standard error of measurement."""
    learners = {learner for found in items.values() for learner in found}
    if any(found.keys() != learners for found in items.values()) or len(learners) < MIN_TRIED or len(items) < 2:
        return None
    people = sorted(learners)
    columns = [[found[learner].credit for learner in people] for found in items.values()]
    totals = [fsum(row) for row in zip(*columns, strict=True)]
    spread = variance(totals)
    if not spread:
        return None
    count = len(columns)
    alpha = count / (count - 1) * (1 - fsum(map(variance, columns)) / spread)
    whole = all(credit in (0.0, 1.0) for column in columns for credit in column)
    error = sqrt(spread * (1 - alpha))
    measure = "KR-20" if whole else "Cronbach's alpha"
    found = {"value": alpha, "mean": fmean(totals), "sd": sqrt(spread), "sem": error, "sem_of_10": 10 * error / count}
    rounded = {name: round(value, 4) for name, value in found.items()}
    return {"topic": topic, "learners": len(people), "items": count, "measure": measure, **rounded}
