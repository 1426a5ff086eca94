"""What the answers show: misconceptions by name, claims that an audit contradicts, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from grader.model import Answered, Claimed, LessonProgress
from grader.quiz.assessment.evidence import first_tries, latest_claims
from grader.quiz.assessment.scoring import FEWEST_ITEMS, WEAK
from grader.quiz.bank.bank import Bank

MOST = 3  # suggestions


class Known(Protocol):
    """What suggestions look at besides the findings."""

    @property
    def claims(self) -> Sequence[Claimed]: ...

    @property
    def progress(self) -> Mapping[str, LessonProgress]: ...


def weaknesses(bank: Bank, answers: Sequence[Answered]) -> list[dict[str, Any]]:
    """Misconceptions that the latest answers show: sure-but-wrong first, then the most frequent.

    {"id", "says", "sure": times it was answered with certainty, "families", "suggests", "command"}
    """
    shown: dict[str, list[Answered]] = {}
    for answer in first_tries(answers).values():
        for tag in answer.tags:
            shown.setdefault(tag, []).append(answer)
    found = []
    for tag, mine in shown.items():
        known = bank.misconception(tag)
        if known:
            found.append({
                "id": tag, "says": known.says, "sure": sum(answer.certainty == "sure" for answer in mine),
                "families": [answer.family for answer in mine], "suggests": known.suggests, "command": known.command,
            })  # fmt: skip
    return sorted(found, key=lambda each: (-each["sure"], -len(each["families"]), each["id"]))


def contradicted(bank: Bank, answers: Sequence[Answered], claims: Sequence[Claimed]) -> list[dict[str, Any]]:
    """Key points that were claimed, and of which the latest checked answer was wrong: worth another look, no more.

    {"topic", "point", "says", "families"}
    """
    latest = first_tries(answers)
    found = []
    for (topic_name, point, trap), claim in latest_claims(claims).items():
        topic = bank.topic(topic_name) if topic_name in bank.paths else None
        says = {each.id: each.says for each in topic.open.key_points} if topic and topic.open else {}
        if trap or claim.mark != "yes" or topic is None or point not in says:
            continue
        failed = [
            family.id
            for family in topic.families
            if point in family.audits and family.id in latest and latest[family.id].credit < 1
        ]
        if failed:
            found.append({"topic": topic_name, "point": point, "says": says[point], "families": failed})
    return found


def suggestions(
    bank: Bank, topics: Sequence[Mapping[str, Any]], weak: Sequence[Mapping[str, Any]],
    doubts: Sequence[Mapping[str, Any]], log: Known,
) -> list[dict[str, Any]]:  # fmt: skip
    """At most three: {"says", "command", "because": the questions that led to it}. No command stands there twice.

    Misconceptions come first, then topics that are weak, claims in doubt, topics without evidence, exercises begun.
    """
    found = [_suggestion(each["suggests"], each["command"], each["families"]) for each in weak]
    found += [
        _suggestion(f"read `learn read {topic['lesson']}` again, then answer new questions on {topic['title']}",
                    f"learn quiz {topic['name']}",
                    [mark["family"] for mark in topic["marks"] if mark["credit"] < 1])
        for topic in topics if topic["label"] == WEAK
    ]  # fmt: skip
    found += [
        _suggestion(
            f"look again at a point you claimed: {each['says']}", f"learn quiz {each['topic']}", each["families"]
        )
        for each in doubts
    ]
    found += [
        _suggestion(f"finish the exercise {name}", f"learn check {name}", [])
        for name, known in log.progress.items()
        if known.attempts and not known.solved
    ]
    found += [
        _suggestion(f"answer {_more(topic)} on {topic['title']}, so that something can be said of it",
                    f"learn quiz {topic['name']}", [])
        for topic in topics if not topic["covered"]
    ]  # fmt: skip
    by_command: dict[str, dict[str, Any]] = {}
    for each in found:
        kept = by_command.setdefault(each["command"], each)
        kept["because"] = list(dict.fromkeys([*kept["because"], *each["because"]]))
    return list(by_command.values())[:MOST]


def _more(topic: Mapping[str, Any]) -> str:
    lacking = FEWEST_ITEMS - topic["items"]
    return "1 more question" if lacking == 1 else f"{lacking} {'more ' * bool(topic['items'])}questions"


def _suggestion(says: str, command: str, because: Sequence[str]) -> dict[str, Any]:
    return {"says": says, "command": command, "because": list(because)}
