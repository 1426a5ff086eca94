"""Say where a learner stands, before a hint is used: what the last check found, and how many hints there are."""

from __future__ import annotations

from grader.cli.context import CourseContext
from grader.cli.learn.next_step import show_next, step_without_hints
from grader.model import Lesson, Named
from grader.store.rows import to_mistakes
from grader.terminal.console import paint, put, signs, wrap
from grader.terminal.text import clean, plural, score_text


def last_finding(context: CourseContext, lesson: Lesson) -> Named | None:
    """Return what the last check found first, without an id if it has no name; None if the file is another since."""
    if context.workspace is None:
        return None
    with context.store() as store:
        attempts = store.attempts(lesson.name, 1)
    if not attempts or not 0 < context.edited_at(lesson) <= attempts[-1].when.timestamp():
        return None
    result = attempts[-1].result
    weak = [Named("", "", str(text).partition("\n")[0], "") for text in result.get("weaknesses", ())]
    found = next(iter([*to_mistakes(result), *weak]), None)
    return None if found is None or found.id == "stub" else found


def show_finding(found: Named) -> None:
    """Print what the last check found."""
    first, *shown = clean(found.says).split("\n")
    put(wrap(f"Your last check: {first}"))
    for line in shown:  # of an error, with its place in the source
        put(f"  {line}")
    if found.suggests:
        put(f"  {signs().arrow} {wrap(clean(found.suggests), 4).lstrip()}")


def show_standing(context: CourseContext, lesson: Lesson, found: Named | None, hint: str) -> None:
    """Print the lesson, what was found, and how to get the hint that comes next."""
    known = context.progress()[lesson.name]
    score = "" if known.last_score is None else f"{score_text(known.last_score)} of 10 at the last check, "
    hints = plural(len(lesson.all_hints), "hint")
    put(paint(lesson.title, "strong"))
    put(wrap(f"{score}{known.hints_taken} of {hints} used"))
    if found:
        put()
        show_finding(found)
    elif context.edited_at(lesson):
        put()
        put(wrap(f"A check may name what is wrong, and uses no hint: `learn check {lesson.name}`"))
    if found and found.id == "syntax-error":  # for which no hint is meant
        show_next("mend that, and check again", f"learn check {lesson.name}")
        return
    more = f"mend that and check again, or {hint}" if found else hint
    show_next(*(step_without_hints(lesson, known) or (more, f"learn hint {lesson.name} --next")))
