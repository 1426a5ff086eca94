"""Ask learners whose knowledge is known, and compare their score with it: bias and coverage of a bank's own questions.

A simulated learner knows a share of each topic, and is asked what a real one would be. Who knows an answer slips now
and then; who does not know it guesses, or types `?`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from random import Random
from typing import Any

from grader.quiz.assessment.facets import find_strong_and_weak
from grader.quiz.assessment.scoring import MIN_ITEMS, MIN_TOPICS, SCALE, SLIP, SOLID, WEAK, Item, overall, topic_score
from grader.quiz.bank.bank import Bank, Outline
from grader.quiz.bank.variants import make_variant
from grader.quiz.kinds.order import longest_rise
from grader.quiz.model import Question
from grader.quiz.session.plan import choose_families

TRUE_SCORES = (1.0, 3.0, 5.5, 8.0, 9.5, 10.0)
LENGTHS = ("short", "full")
SPREAD = 0.12  # standard deviation of a learner's knowledge over the topics
PLANS = 40  # sittings that are drawn; learners share them
PROFILE = {"why": 0.9, "maths": 0.35}  # what the learner of the facets knows
ELSEWHERE = 0.6  # and knows of other facets


@dataclass(frozen=True)
class Asked:
    """A question of a sitting, without its text."""

    topic: str
    outline: Outline
    question: Question


def simulate(bank: Bank, learners: int, seed: int = 1) -> dict[str, Any]:
    """Simulate assessments of a bank.

    Returns:
        {"learners", "scores": [{"questions", "true", "unsure": "guess" or "?", "bias", "error", "coverage", "width"}],
        "facets": [{"questions", "unsure", "right", "wrong"}]}. "error" is the standard error of the bias. The facets
        are those of a learner who knows 0.9 of why, 0.35 of maths and 0.6 of the rest: how often a finding is right and
        none is wrong, and how often one is wrong.
    """
    scores, facets = [], []
    for length in LENGTHS:
        sittings = draw_sittings(bank, length, min(PLANS, learners), seed)
        questions = max(map(len, sittings))
        for unsure in ("guess", "?"):
            head = {"questions": questions, "unsure": unsure}
            for true in TRUE_SCORES:
                scores.append({**head, "true": true, **score_learners(bank, sittings, true, unsure, learners, seed)})
            facets.append({**head, **_find_facets(Random(seed), sittings, learners, unsure)})
    return {"learners": learners, "scores": scores, "facets": facets}


def draw_sittings(bank: Bank, length: str, count: int, seed: int = 1) -> list[list[Asked]]:
    """Draw the questions of so many assessments."""
    made: dict[str, Question] = {}
    names = bank.assessed or bank.names
    return [_draw_sitting(bank, names, length, made, Random(seed + number)) for number in range(count)]


def score_learners(
    bank: Bank, sittings: Sequence[Sequence[Asked]], true: float, unsure: str, learners: int, seed: int = 1
) -> dict[str, float]:
    """Score so many learners of one true score, who share the sittings; return how far off they are, as `simulate`."""
    random, names = Random(seed), bank.assessed or bank.names
    return _summarize(
        [_score_one(random, sittings[each % len(sittings)], names, true, unsure) for each in range(learners)]
    )


def _draw_sitting(
    bank: Bank, names: Sequence[str], length: str, made: dict[str, Question], random: Random
) -> list[Asked]:
    chosen = choose_families(bank, names, length, {}, random)
    for each in chosen:
        if each.id not in made:
            made[each.id] = make_variant(bank, bank.family(each.id), "simulation", 1)
    topics = [each.counts_for if each.counts_for in names else each.id.partition(".")[0] for each in chosen]
    return [Asked(topic, each, made[each.id]) for topic, each in zip(topics, chosen, strict=True)]


def _score_one(
    random: Random, sitting: Sequence[Asked], names: Sequence[str], true: float, unsure: str
) -> tuple[float, bool, float]:
    """Return by how much a learner's score is off, whether the interval holds the truth, and how wide it is."""
    spread = SPREAD if 0 < true < SCALE else 0.0
    known = {name: min(1.0, max(0.0, random.gauss(true / SCALE, spread))) for name in names}
    items: dict[str, list[Item]] = {name: [] for name in names}
    for asked in sitting:
        items[asked.topic].append(answer(random, asked.question, known[asked.topic], unsure))
    needed = min(MIN_TOPICS, len(names))
    score = overall([topic_score(mine) for mine in items.values() if mine], needed, len(names))
    if score is None:
        raise ValueError(f"fewer than {needed} topics have {MIN_ITEMS} questions")
    truth = SCALE * sum(known.values()) / len(names)
    return score.score - truth, score.low - 1e-6 <= truth <= score.high + 1e-6, score.high - score.low


def answer(random: Random, question: Question, known: float, unsure: str) -> Item:
    """Answer a question of which this share of learners knows the answer."""
    if random.random() < known:
        return Item(float(random.random() >= SLIP), question.guess, question.kind == "multi")
    if unsure == "?":
        return Item(0.0, question.guess, question.kind == "multi", unknown=True)
    return Item(GUESSES.get(question.kind, _guess_whole)(random, question), question.guess, question.kind == "multi")


def _summarize(tried: Sequence[tuple[float, bool, float]]) -> dict[str, float]:
    means = [sum(each[place] for each in tried) / len(tried) for place in range(3)]
    error = sqrt(sum((each[0] - means[0]) ** 2 for each in tried) / len(tried) / max(1, len(tried) - 1))
    numbers = {"bias": means[0], "error": error, "coverage": means[1], "width": means[2]}
    return {name: round(number, 3) for name, number in numbers.items()}


def _find_facets(random: Random, sittings: Sequence[Sequence[Asked]], learners: int, unsure: str) -> dict[str, float]:
    findings = [_judge_findings(dict(_findings(random, sittings[n % len(sittings)], unsure))) for n in range(learners)]
    return {name: round(findings.count(name) / learners, 3) for name in ("right", "wrong")}


def _findings(random: Random, sitting: Sequence[Asked], unsure: str) -> Iterator[tuple[str, str]]:
    items: dict[str, list[Item]] = {}
    for asked in sitting:
        facet = asked.outline.facet
        if facet:
            known = PROFILE.get(facet, ELSEWHERE)
            items.setdefault(facet, []).append(answer(random, asked.question, known, unsure))
    yield from find_strong_and_weak({facet: topic_score(mine) for facet, mine in items.items()}).items()


def _judge_findings(found: Mapping[str, str]) -> str:
    """Judge findings: "wrong" if strong is said of no more than what weak is said of, or either against the profile."""
    shares = {
        finding: [PROFILE.get(name, ELSEWHERE) for name in found if found[name] == finding] for finding in (SOLID, WEAK)
    }
    strong, weak = shares[SOLID], shares[WEAK]
    against = min(strong, default=1.0) < ELSEWHERE or max(weak, default=0.0) > ELSEWHERE
    if against or (strong and weak and min(strong) <= max(weak)):
        return "wrong"
    return "right" if max(strong, default=0.0) > ELSEWHERE or min(weak, default=1.0) < ELSEWHERE else "none"


# --- what a guess earns -----------------------------------------------------------------------------------------------


def _guess_whole(random: Random, question: Question) -> float:
    return float(random.random() < question.guess)


def _guess_multi(random: Random, question: Question) -> float:
    return sum(random.random() < 0.5 for _ in question.options) / len(question.options)


def _guess_match(random: Random, question: Question) -> float:
    return sum(random.random() < question.guess for _ in question.parts) / len(question.parts)


def _guess_order(random: Random, question: Question) -> float:
    count = len(question.options)
    return longest_rise(random.sample(range(count), count)) / count


GUESSES: Mapping[str, Callable[[Random, Question], float]] = {
    "multi": _guess_multi,
    "match": _guess_match,
    "order": _guess_order,
}
