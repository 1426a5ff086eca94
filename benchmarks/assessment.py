"""Does the score say what a learner knows? Learners whose knowledge is known are asked, and scored from their answers.

    python benchmarks/assessment.py [--learners N]

What `grader items --simulate` prints of this course's questions; then how far the score of self-chosen topics, of which
a learner is best in, is from that over all topics; and beside the score the mean of Bayesian estimates, which is what
we do not do.
"""

from __future__ import annotations

import argparse
from math import exp
from pathlib import Path
from random import Random
from statistics import stdev

from grader.cli.grader.items_simulated import simulation_lines
from grader.quiz.assessment.scoring import GRID, SCALE, SLIP, Z90, Item, _log_likelihood, overall, topic_score
from grader.quiz.assessment.simulation import simulate
from grader.quiz.bank.bank import Bank

TOPICS = 10
ITEMS = 5  # of each topic
GUESSES = [0.02] * 6 + [1 / 3] * 4  # of typed answers, and of choices
WIDE = 0.25  # standard deviation of the knowledge of one who chooses topics


def answers(random: Random, known: float, count: int) -> list[Item]:
    """Answers of one who knows this share of a topic, and guesses the rest."""
    drawn = [random.choice(GUESSES) for _ in range(count)]
    return [Item(float(random.random() < guess + (1 - guess - SLIP) * known), guess) for guess in drawn]


def posterior(items: list[Item]) -> tuple[float, float]:
    """Mean and variance of a topic's share, from a uniform prior: the estimate that is not averaged here."""
    grid = [step / (GRID // 4) for step in range(GRID // 4 + 1)]
    weights = [exp(_log_likelihood(items, share)) for share in grid]
    mean = sum(share * weight for share, weight in zip(grid, weights, strict=True)) / sum(weights)
    square = sum(share**2 * weight for share, weight in zip(grid, weights, strict=True)) / sum(weights)
    return mean, square - mean**2


def summed(rows: list[tuple[float, bool, float]]) -> str:
    """The mean bias with its standard error, and the means of coverage and width."""
    bias, coverage, width = (sum(each[place] for each in rows) / len(rows) for place in range(3))
    error = stdev(each[0] for each in rows) / len(rows) ** 0.5
    return f"{bias:+6.2f} {error:5.2f} {coverage:9.2f} {width:6.1f}"


def chosen_topics(random: Random, learners: int) -> None:
    """Learners answer questions on the six topics of ten that they know best."""
    rows = []
    for _ in range(learners):
        known = sorted(min(1.0, max(0.0, random.gauss(0.55, WIDE))) for _ in range(TOPICS))
        truth = SCALE * sum(known) / TOPICS
        score = overall([topic_score(answers(random, share, ITEMS)) for share in known[4:]], of=TOPICS)
        rows.append((score.score - truth, score.low <= truth <= score.high, score.high - score.low))
    print(f"the best six of ten topics: {summed(rows)}")


def bayesian(random: Random, learners: int) -> None:
    """The mean of Bayesian estimates pulls every score to the middle."""
    for true in (3.0, 9.0):
        rows = []
        for _ in range(learners):
            estimates = [posterior(answers(random, true / SCALE, 3)) for _ in range(TOPICS)]
            centre = SCALE * sum(mean for mean, _ in estimates) / TOPICS
            half = Z90 * SCALE / TOPICS * sum(variance for _, variance in estimates) ** 0.5
            rows.append((centre - true, abs(centre - true) <= half, 2 * half))
        print(f"mean of posteriors, true {true:4.1f}: {summed(rows)}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--learners", type=int, default=400)
    arguments = parser.parse_args()
    bank = Bank(Path(__file__).parents[1] / "lessons")
    print("\n".join(simulation_lines(simulate(bank, arguments.learners))))
    print("\n                              bias   +/-  coverage  width")
    chosen_topics(Random(1), arguments.learners)
    bayesian(Random(1), max(20, arguments.learners // 8))


if __name__ == "__main__":
    main()
