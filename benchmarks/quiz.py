"""Measure how long a quiz takes to ask its first question, and an assessment to be made: neither imports torch.

python benchmarks/quiz.py
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from measure import ROOT, describe_machine, keep_bytecode, learn, python, ratios, side_by_side, workspace

from grader.model import Answered
from grader.quiz.bank.bank import Bank
from grader.store import Store
from grader.store.quiz_log import QuizLog

LIMIT = 2.5
STORED = 2000
REPORT_SECONDS = 0.4


def main() -> int:
    """Print the tables; 1 if a limit is passed."""
    describe_machine()
    with workspace(solved=False) as root:
        keep_bytecode(root / ".compiled")
        base = {"import click, rich": python("import click, rich")}
        starts = {
            "learn quiz softmax": unanswered("quiz", "softmax"),
            "learn quiz": unanswered("quiz"),
            "learn review": unanswered("review"),
            "learn quiz list": learn("quiz", "list"),
        }
        medians = side_by_side({**base, **starts}, rounds=15, cwd=root)
        limits = {"learn quiz softmax": LIMIT, "learn quiz": LIMIT}
        good = ratios("Start of a quiz, to its first question", medians, "import click, rich", limits)

        store_answers(root / ".selfattend" / "progress.db", STORED)
        stored = {"learn report": learn("report"), "learn review": unanswered("review"), **starts}
        medians = side_by_side({**base, **stored}, rounds=7, cwd=root)
        limits = {"learn report": REPORT_SECONDS / medians["import click, rich"]}
        title = f"With {STORED:,} stored answers; the limit is {REPORT_SECONDS} s"
        return 0 if ratios(title, medians, "import click, rich", limits) and good else 1


def unanswered(*arguments: str) -> list[str]:
    """Return a command with nothing on its standard input: it asks its first question and ends."""
    return ["sh", "-c", 'exec "$@" < /dev/null', "sh", *learn(*arguments)]


def store_answers(path: Path, count: int) -> None:
    """Store answers of a learner over some months, right at random."""
    random = Random(1)
    families = [family for topic in Bank(ROOT / "lessons").topics() for family in topic.families]
    began = datetime.now(UTC) - timedelta(days=120)
    with Store.open(path) as store:
        log = QuizLog(store.database)
        for number in range(count):
            family = random.choice(families)
            log.add_answer(Answered(
                family.id, family.topic, family.kind, number, f"s{number // 30}", "quiz", "1",
                float(random.random() < 0.6), 0.02, random.choice(["guess", "fairly", "sure"]), (), True,
                began + timedelta(minutes=number * 80),
            ))  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
