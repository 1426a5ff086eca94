"""Find what answers show: misconceptions, claims that later answers contradict, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grader.model import Answered, Claimed, LessonProgress
from grader.quiz.assessment.evidence import first_tries, latest_claims
from grader.quiz.assessment.scoring import MIN_ITEMS, WEAK
from grader.quiz.bank.bank import Bank

MAX_SUGGESTIONS = 3


def weaknesses(bank: Bank, answers: Sequence[Answered]) -> list[dict[str, Any]]:
    """Return the misconceptions that the latest answers show: sure-but-wrong first, then the most frequent.

    Returns:
        {"id", "says", "sure": answers given with certainty, "families", "suggests", "command"} for each.
    """
    shown: dict[str, list[Answered]] = {}
    for answer in first_tries(answers).values():
        for tag in answer.tags:
            shown.setdefault(tag, []).append(answer)
    found = []
    for tag, mine in shown.items():
        known = bank.misconception(tag)
        if known:
            sure = sum(answer.certainty == "sure" for answer in mine)
            families = [answer.family for answer in mine]
            said = {"suggests": known.suggests, "command": known.command}
            found.append({"id": tag, "says": known.says, "sure": sure, "families": families, **said})
    return sorted(found, key=lambda each: (-each["sure"], -len(each["families"]), each["id"]))


def contradicted_claims(bank: Bank, answers: Sequence[Answered], claims: Sequence[Claimed]) -> list[dict[str, Any]]:
    """Return claimed key points whose latest checked answer was wrong, which deserve another look.

    Returns:
        {"topic", "point", "says", "families"} for each.
    """
    missed = {family for family, answer in first_tries(answers).items() if answer.credit < 1}
    found = []
    for claim in latest_claims(claims):
        topic = bank.topic(claim.topic) if claim.topic in bank.paths else None
        if claim.mark != "yes" or topic is None or topic.open is None:
            continue
        says = {each.id: each.says for each in topic.open.key_points}
        failed = [each.id for each in topic.families if claim.point in each.audits and each.id in missed]
        if failed and claim.point in says:
            found.append({"topic": topic.name, "point": claim.point, "says": says[claim.point], "families": failed})
    return found


def suggestions(
    topics: Sequence[Mapping[str, Any]],
    weak: Sequence[Mapping[str, Any]],
    doubts: Sequence[Mapping[str, Any]],
    progress: Mapping[str, LessonProgress],
) -> list[dict[str, Any]]:
    """Suggest what to do: on misconceptions, weak topics, doubtful claims, unfinished exercises, gaps, in this order.

    Args:
        topics: The topics of the assessment.
        weak: What `weaknesses` returned.
        doubts: What `contradicted_claims` returned.
        progress: By lesson.

    Returns:
        {"says", "command", "because": families that led to it} for at most MAX_SUGGESTIONS different commands.
    """
    found = [(each["suggests"], each["command"], each["families"]) for each in weak]
    for topic in topics:
        if topic["label"] == WEAK:
            says = f"read the lesson {topic['lesson']} again, then answer new questions on {topic['title']}"
            missed = [mark["family"] for mark in topic["marks"] if mark["credit"] < 1]
            found.append((says, f"learn quiz {topic['name']}", missed))
    for each in doubts:
        says = f"look again at a point you claimed: {each['says']}"
        found.append((says, f"learn quiz {each['topic']}", each["families"]))
    for name, known in progress.items():
        if known.attempts and not known.solved:
            found.append((f"finish the exercise {name}", f"learn check {name}", []))
    for topic in topics:
        if not topic["covered"]:
            says = f"answer {_more(topic)} on {topic['title']}, so that something can be said of it"
            found.append((says, f"learn quiz {topic['name']}", []))
    by_command: dict[str, dict[str, Any]] = {}
    for says, command, because in found:
        kept = by_command.setdefault(command, {"says": says, "command": command, "because": []})
        kept["because"] = list(dict.fromkeys([*kept["because"], *because]))
    return list(by_command.values())[:MAX_SUGGESTIONS]


def _more(topic: Mapping[str, Any]) -> str:
    lacking = MIN_ITEMS - topic["items"]
    return "1 more question" if lacking == 1 else f"{lacking} {'more ' * bool(topic['items'])}questions"
