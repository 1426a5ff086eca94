"""`learn quiz list`: list the topics, and how the learner did on each."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import click

from grader.cli.context import CourseContext, find_context
from grader.cli.options import course_option, json_option
from grader.cli.output import put_json
from grader.cli.quiz.context import read_bank
from grader.cli.quiz.render import cut, next_lines
from grader.model import SCHEMA, Answered
from grader.quiz.assessment.evidence import collect, evidence_by_topic, first_tries
from grader.quiz.assessment.scoring import MIN_ITEMS, SOLID, UNSURE, WEAK, TopicScore, topic_score
from grader.quiz.bank.bank import Bank
from grader.quiz.model import Topic
from grader.store.quiz_log import QuizLog
from grader.terminal.console import paint, put, signs, width, wrap
from grader.terminal.text import plural

STYLES = {SOLID: ("passed", "good"), WEAK: ("failed", "bad")}

NARROW = 70  # columns below which numbers have no nouns
MIN_TITLE = 20  # columns below which there is no title


@click.command("list")
@json_option
@course_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """List the topics: how many questions each has, and how you did.

    The score is from 0 to 10, of the answers that count, corrected for guessing. Of a topic of the assessment it is the
    one of `learn report`, with the questions of other topics that count for it; of another topic that of its own
    questions.

    \b
    Example:
      learn quiz list
      learn quiz list --json
    """
    context = find_context(ctx)
    bank = read_bank(context.course)
    if as_json:
        put_json({"schema": SCHEMA, "families": _families(bank)})
        return
    log = _answers(context)
    answers = first_tries(log)
    counted = collect(bank, log, datetime.now(UTC))
    counting = {each.name: each.score for each in evidence_by_topic(bank, counted)}
    longest = max(map(len, bank.names))
    for title, topics in _groups(bank).items():
        put(paint(title, "strong"))
        for name in topics:
            topic = bank.topic(name)
            mine = [each.item for each in counted if each.family.topic == name]
            own = topic_score(mine) if mine else None
            put(_line(topic, len(topic.families), counting[name] if name in bank.assessed else own, longest))
        put()
    if bank.collections:
        put(paint("Apart", "strong"))
        for name in bank.collections:
            put(_line(bank.topic(name), len(bank.outline(name)), counting.get(name), longest))
        put()
    put(_legend())
    put()
    put("\n".join(next_lines(_next(bank, answers))))


def _families(bank: Bank) -> list[dict[str, object]]:
    return [
        {
            "id": family.id,
            "topic": family.topic,
            "kind": family.kind,
            "facet": family.facet,
            "counts_for": family.counts_for,
            "same_as": family.same_as,
            "generated": family.generated,
        }
        for topic in bank.topics()
        for family in topic.families
    ]


def _answers(context: CourseContext) -> list[Answered]:
    if context.workspace is None:
        return []
    with context.store() as store:
        return QuizLog(store.database).answers()


def _groups(bank: Bank) -> dict[str, list[str]]:
    """Return topics by the title of their group; those of the assessment without a group come first."""
    grouped = {name for topics in bank.groups.values() for name in topics}
    alone = [name for name in bank.assessed if name not in grouped]
    return {**({"The assessment": alone} if alone else {}), **bank.groups}


def _line(topic: Topic, count: int, score: TopicScore | None, longest: int) -> str:
    sign, style, says = _describe_score(score)
    questions = f"{plural(count, 'question'):>12}" if width() >= NARROW else f"{count:>3}"
    line = f"{topic.name:<{longest}}  {questions}  {says:<12}"
    room = width() - len(line) - 6
    title = cut(topic.title, room) if room >= MIN_TITLE else ""
    return f"  {paint(sign, style)} {f'{line}  {title}'.rstrip()}"


def _legend() -> str:
    """Explain the signs."""
    known = signs()
    says = f"{known.passed} solid, {known.trouble} unsure, or right so far, {known.failed} weak"
    return paint(wrap(f"{says}, {known.skipped} fewer than {MIN_ITEMS} answers", 2), "quiet")


def _describe_score(score: TopicScore | None) -> tuple[str, str, str]:
    """Return a sign, its style, and the words."""
    if score is None:
        return signs().skipped, "quiet", ""
    if not score.covered:
        return signs().skipped, "quiet", f"{len(score.items)} answered"
    sign, style = STYLES.get(score.label, ("trouble", "strong"))
    all_right = score.label == UNSURE and all(item.credit >= 1 for item in score.items)
    return getattr(signs(), sign), style, f"{score.score:>4.1f}  {'so far' if all_right else score.label}"


def _next(bank: Bank, answers: Mapping[str, Answered]) -> list[tuple[str, str]]:
    first = next(iter(bank.names))
    opened = sum(topic.open is not None for topic in bank.topics())
    missed = any(answer.credit < 1 for answer in answers.values())
    assessed = f"the assessment, {plural(len(bank.assessed or bank.names), 'topic')}"
    found = [("learn quiz", assessed), (f"learn quiz {first}", "one topic")]
    if opened:
        found.append(("learn quiz open", plural(opened, "question") + " to answer in your own words"))
    return [*found, *[("learn review", "what you missed")] * missed]
