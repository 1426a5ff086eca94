"""Makes a bank of questions to test with, and logs of those who answered them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from grader.model import Answered, QuizSession
from grader.quiz.bank.bank import Bank

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TOPICS = [f"topic{number}" for number in range(10)]

HEAD = """
title = "Topic {name}"
lesson = "softmax"

[[misconceptions]]
id = "{name}-doubles"
says = "doubled what should stand alone"
suggests = "halve it"
command = "learn read softmax"
"""
NUMERIC = """
[[families]]
id = "{name}.n{number}"
kind = "numeric"
generator = "plain"
audits = {audits}
text = "Type {{n}}."
explain = "It is {{n}}."
prove = "print({{n}})"
feedback = {{ {name}-doubles = "{{double}} is twice {{n}}." }}
"""
CHOICE = """
[[families]]
id = "{name}.choice"
kind = "choice"
text = "Which is right?"
explain = "This one."
right = "this one"
wrong = [{{ text = "that one", tag = "{name}-doubles" }}, {{ text = "no other", tag = "{name}-doubles" }}]
"""
OPEN = """
[open]
number = {number}
asks = "Say all there is to say on {name}."
model_answer = "All there is to say on {name}, in the words of the course."

[[open.traps]]
id = "trap"
claims = "It is twice as much."
fix = "It is as much."
misconception = "{name}-doubles"
"""
POINT = """
[[open.key_points]]
id = "p{number}"
says = "says point {number}"
"""
GENERATOR = """
def plain(random):
    n = random.randrange(10, 1000)
    return {"n": n, "double": 2 * n, "answer": n, "wrong": {"%s-doubles": 2 * n}}
"""


def write_bank(lessons: Path, topics: list[str] = TOPICS, families: int = 4) -> Bank:
    """A bank of topics with `families` generated questions and one choice each, and an open question."""
    folder = lessons / "core"
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(topics, 1):
        asked = [
            NUMERIC.format(name=name, number=each, audits=[f"p{point}" for point in range(1, 6)] if each == 1 else [])
            for each in range(1, families + 1)
        ]
        points = "".join(POINT.format(number=each) for each in range(1, 6))
        text = (
            HEAD.format(name=name) + "".join(asked) + CHOICE.format(name=name) + OPEN.format(name=name, number=number)
        )
        (folder / f"{name}.quiz.toml").write_text(text + points)
        (folder / f"{name}_quiz.py").write_text(GENERATOR % name)
    named = ", ".join(f'"{name}"' for name in topics)
    (lessons / "quiz.toml").write_text(f'assessment = [{named}]\n\n[[groups]]\ntitle = "The ten"\ntopics = [{named}]\n')
    return Bank(lessons)


def answered(family: str, credit: float = 1.0, **changes: Any) -> Answered:
    """An answer to one of these questions, right unless it is said otherwise."""
    topic, _, rest = family.partition(".")
    facts: dict[str, Any] = {
        "kind": "choice" if rest == "choice" else "numeric", "attempt": 1, "session": "s", "mode": "quiz", "typed": "1",
        "guess": 1 / 3 if rest == "choice" else 0.02, "certainty": "fairly", "tags": (), "first": True, "when": NOON,
    }  # fmt: skip
    return Answered(family=family, topic=topic, credit=credit, **(facts | changes))


def session(name: str = "s", days: float = 0, **changes: Any) -> QuizSession:
    """A sitting over all topics, finished."""
    started = NOON + timedelta(days=days)
    facts: dict[str, Any] = {"mode": "quiz", "topics": tuple(TOPICS), "finished": started, "predicted": 7.0}
    return QuizSession(id=name, started=started, **(facts | changes))
