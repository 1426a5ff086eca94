"""Find what answers show: misconceptions, weak topics and facets, claims that answers contradict, what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from grader.model import Answered, Claimed, LessonProgress
from grader.quiz.assessment.evidence import latest_claims
from grader.quiz.assessment.scoring import MIN_ITEMS, WEAK
from grader.quiz.bank.bank import Bank

MAX_SUGGESTIONS = 3
MOST_USEFUL = ("misconception", "facet", "topic")  # to work on: what has a name, then what more answers tell of


def weaknesses(
    named: Sequence[dict[str, Any]], topics: Sequence[Mapping[str, Any]], facets: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return misconceptions that were held with certainty, then weak facets and topics, then other misconceptions.

    Returns:
        {"kind", "id", "says", "sure": answers given with certainty, "families", "suggests", "command"} for each; its
        kind is "misconception", "facet" or "topic".
    """
    sure = [each for each in named if each["sure"]]
    weak = [_weak_facet(each) for each in facets if each["finding"] == WEAK]
    weak += [_weak_topic(each) for each in topics if each["label"] == WEAK]
    return [*sure, *weak, *(each for each in named if not each["sure"])]


def _weak_facet(facet: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "kind": "facet",
        "id": facet["name"],
        "says": f"are weak in {facet['title']}: {facet['right']} of {facet['items']} right",
        "sure": 0,
        "families": facet["missed"],
        "suggests": f"answer more questions of this kind, whatever their topic: {facet['title']}",
        "command": f"learn quiz --facet {facet['name']}",
    }


def _weak_topic(topic: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "kind": "topic",
        "id": topic["name"],
        "says": f"know little yet of “{topic['title']}”: {topic['right']} of {topic['items']} right",
        "sure": 0,
        "families": [mark["family"] for mark in topic["marks"] if mark["credit"] < 1],
        "suggests": f"read the lesson {topic['lesson']}, then answer new questions on “{topic['title']}”",
        "command": f"learn quiz {topic['name']}",
    }


def shown_misconceptions(
    bank: Bank, answers: Sequence[Answered], progress: Mapping[str, LessonProgress]
) -> list[dict[str, Any]]:
    """Return the misconceptions that answers show, those held with certainty first, then the most frequent.

    The result is like that of `weaknesses`; `answers` are those that count.
    """
    shown: dict[str, list[Answered]] = {}
    for answer in answers:
        for tag in answer.tags:
            shown.setdefault(tag, []).append(answer)
    found = []
    for tag, mine in shown.items():
        known = bank.misconception(tag)
        if known:
            sure = sum(answer.certainty == "sure" for answer in mine)
            families = [answer.family for answer in mine]
            said = {"says": known.says, "suggests": known.suggests, "command": _unless_solved(known.command, progress)}
            found.append({"kind": "misconception", "id": tag, "sure": sure, "families": families, **said})
    return sorted(found, key=lambda each: (-each["sure"], -len(each["families"]), each["id"]))


def _unless_solved(command: str, progress: Mapping[str, LessonProgress]) -> str:
    """Return the command that reads a lesson in place of the one that checks it, where it is solved."""
    lesson = command.removeprefix("learn check ")
    is_solved = lesson != command and lesson in progress and progress[lesson].solved
    return f"learn read {lesson}" if is_solved else command


def contradicted_claims(bank: Bank, answers: Sequence[Answered], claims: Sequence[Claimed]) -> list[dict[str, Any]]:
    """Return claimed key points whose latest checked answer was wrong, which deserve another look.

    Returns:
        {"topic", "point", "says", "families"} for each.
    """
    missed = {answer.family for answer in answers if answer.credit < 1}
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
    """Suggest what to do: on weaknesses, doubtful claims, unfinished exercises, gaps, in this order.

    Where there is none of these, it is what is known least of the topics in which something was missed.

    The one weak facet is the last of them at the latest. Who has no topic covered is told of the assessment first.

    Args:
        topics: The topics of the assessment.
        weak: What `weaknesses` returned.
        doubts: What `contradicted_claims` returned.
        progress: By lesson.

    Returns:
        {"says", "command", "because": families that led to it} for at most MAX_SUGGESTIONS different commands.
    """
    by_use = sorted(weak, key=lambda each: MOST_USEFUL.index(each["kind"]))
    found = [(each["suggests"], each["command"], each["families"]) for each in by_use]
    for each in doubts:
        says = f"look again at a point you claimed: {each['says']}"
        found.append((says, f"learn quiz {each['topic']}", each["families"]))
    for name, known in progress.items():
        if known.attempts and not known.solved:
            is_unwritten = any(mistake.id == "stub" for mistake in known.last_mistakes)
            do = "write" if is_unwritten else "finish"
            found.append((f"{do} the exercise {name}", f"learn check {name}", []))
    if not any(topic["covered"] for topic in topics):
        found.append(("take the assessment: three or four questions on each of its topics", "learn quiz", []))
    for topic in topics:
        if not topic["covered"]:
            says = f"answer {_more(topic)} on {topic['title']}, so that something can be said of it"
            found.append((says, f"learn quiz {topic['name']}", []))
    if not found:
        known_least = sorted((topic for topic in topics if topic["right"] < topic["items"]), key=itemgetter("share"))
        found = [(each["suggests"], each["command"], each["families"]) for each in map(_weak_topic, known_least)]
    by_command: dict[str, dict[str, Any]] = {}
    for says, command, because in found:
        kept = by_command.setdefault(command, {"says": says, "command": command, "because": []})
        if kept["says"] == says:
            kept["because"] = list(dict.fromkeys([*kept["because"], *because]))
    made = list(by_command.values())
    facets = [by_command[each["command"]] for each in weak if each["kind"] == "facet"]
    last = [each for each in facets if len(facets) == 1 and each not in made[:MAX_SUGGESTIONS]]
    return [*made[: MAX_SUGGESTIONS - len(last)], *last]


def _more(topic: Mapping[str, Any]) -> str:
    lacking = MIN_ITEMS - topic["items"]
    return "1 more question" if lacking == 1 else f"{lacking} {'more ' * bool(topic['items'])}questions"
