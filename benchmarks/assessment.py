"""Does the score say what a learner knows? Learners whose knowledge is known are asked, and scored from their answers.

    python benchmarks/assessment.py [--learners N]

For each true score and number of items a topic: the bias of the score in points of 10, how often its 90% interval holds
the truth, and how wide it is; beside it the same for the mean of Bayesian estimates, which is what we do not do.
"""

from __future__ import annotations

import argparse
from random import Random

from grader.quiz.assessment.scoring import GRID, SCALE, SLIP, Z90, Item, _likelihood, overall, topic_score

TOPICS = 10
CHOICES = 0.4  # share of items with three options; the others are typed
TYPED, CHOICE = 0.02, 1 / 3
SPREAD = 0.12  # standard deviation of a learner's knowledge over the topics


def learner(random: Random, true: float) -> list[float]:
    """Draw the share that a learner knows of each topic; the mean of all is close to `true` / 10."""
    return [min(1.0, max(0.0, random.gauss(true / SCALE, SPREAD * (0.0 < true < SCALE)))) for _ in range(TOPICS)]


def answers(random: Random, known: float, count: int, guesses_all: bool = False) -> list[Item]:
    """Answers of one who knows this share of a topic."""
    items = []
    for _ in range(count):
        guess = CHOICE if random.random() < CHOICES else TYPED
        right = guess if guesses_all else guess + (1 - guess - SLIP) * known
        items.append(Item(float(random.random() < right), guess))
    return items


def posterior(items: list[Item]) -> tuple[float, float]:
    """Mean and variance of a topic's share, from a uniform prior: the estimate that is not averaged here."""
    grid = [step / (GRID // 4) for step in range(GRID // 4 + 1)]
    weights = [_likelihood(items, share) for share in grid]
    mean = sum(share * weight for share, weight in zip(grid, weights, strict=True)) / sum(weights)
    square = sum(share**2 * weight for share, weight in zip(grid, weights, strict=True)) / sum(weights)
    return mean, square - mean**2


def row(random: Random, true: float, count: int, learners: int) -> str:
    """One line of the table."""
    ours, theirs = [], []
    for _ in range(learners):
        known = learner(random, true)
        truth = SCALE * sum(known) / TOPICS
        topics = [answers(random, share, count) for share in known]
        score = overall(map(topic_score, topics))
        ours.append((score.score - truth, score.low <= truth <= score.high, score.high - score.low))
        estimates = [posterior(items) for items in topics]
        centre = SCALE * sum(mean for mean, _ in estimates) / TOPICS
        half = Z90 * SCALE / TOPICS * sum(variance for _, variance in estimates) ** 0.5
        theirs.append((centre - truth, abs(centre - truth) <= half, 2 * half))
    return f"{true:5.1f} {count:6d}   {summed(ours)}   {summed(theirs)}"


def summed(rows: list[tuple[float, bool, float]]) -> str:
    bias, coverage, width = (sum(each[place] for each in rows) / len(rows) for place in range(3))
    return f"{bias:+6.2f} {coverage:9.2f} {width:6.1f}"


def extremes(random: Random, learners: int) -> None:
    """Who guesses everything has 0 within the interval; who knows everything has 10."""
    for name, known, guesses in (("guesses everything", 0.0, True), ("knows everything", 1.0, False)):
        scores = [
            overall(topic_score(answers(random, known, 5, guesses)) for _ in range(TOPICS)) for _ in range(learners)
        ]
        target = 0.0 if guesses else SCALE
        holds = sum(score.low <= target <= score.high for score in scores) / learners
        mean = sum(score.score for score in scores) / learners
        print(f"{name}: mean score {mean:.2f}; the interval holds {target:.0f} in {holds:.0%}")
    perfect = overall(topic_score([Item(1.0, CHOICE), *[Item(1.0, TYPED)] * 4]) for _ in range(TOPICS))
    print(f"every answer right: {perfect.score:.1f}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--learners", type=int, default=300)
    arguments = parser.parse_args()
    random = Random(1)
    print("              guess-corrected mean        mean of posteriors")
    print(" true  items     bias  coverage  width     bias  coverage  width")
    for true in (3.0, 5.5, 9.0):
        for count in (3, 5, 8):
            print(row(random, true, count, arguments.learners))
    extremes(random, arguments.learners)


if __name__ == "__main__":
    main()
