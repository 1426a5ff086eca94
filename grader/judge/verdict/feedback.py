"""From the results of checks to the score, strengths, weaknesses and suggestions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from grader.model import CheckResult, Course, Lesson, Named, Suggestion, WrongLine

FORM_COST = 1.5  # of the score, for each fault of form
MAX_WITHOUT_SKILL = 7.0  # of the score
UNEXPLAINED = ("exception", "timeout")  # ids of mistakes that tell what happens, and not why

EARNED = {
    "shape": "Shapes: every output has the right shape.",
    "values": "Values: they equal the reference's on ordinary inputs.",
    "masking": "Masking: what is hidden stays hidden, and nothing else is.",
    "stability": "Numerical stability: extreme inputs give right answers.",
    "gradients": "Gradients: what autograd gives equals the reference's.",
    "generality": "Generality: it works for other sizes, axes and leading dimensions too.",
    "hygiene": "Good manners: inputs are left alone, and dtype and device are kept.",
    "training": "Training: weights, modes and updates are as they should be.",
}


def next_lesson(course: Course, name: str, among: Collection[str] | None = None) -> str | None:
    """Return the lesson after *name* in the syllabus that is `among` these; None if it is the last."""
    names = [each for each in course.lessons if each == name or among is None or each in among]
    index = names.index(name) + 1
    return names[index] if index < len(names) else None


def settle_points(checks: Sequence[CheckResult]) -> list[CheckResult]:
    """Return the results with what each earns once faults of form and missing skills are charged.

    A check that passes but for its form earns as if it passed. Each fault of form costs FORM_COST of the score, once in
    the lesson, however many checks see it. Where no check of a skill of a function earned anything, all together earn
    MAX_WITHOUT_SKILL of the score at most; good manners are no such skill. Every check bears its share of both.
    """
    counted = [check for check in checks if check.outcome != "grader-error"]
    earned, possible = sum(check.earned for check in counted), sum(check.points for check in counted)
    if not earned:
        return list(checks)
    faults = {fault for check in counted for fault in check.form.split(", ") if fault}
    left = earned / possible - FORM_COST / 9 * len(faults)
    of_skill: dict[tuple[str, str], float] = {}
    for check in counted:
        of_skill[check.function, check.skill] = of_skill.get((check.function, check.skill), 0.0) + check.earned
    if any(not points for (_, skill), points in of_skill.items() if skill != "hygiene"):
        left = min(left, (MAX_WITHOUT_SKILL - 1) / 9)
    factor = max(left, 0.0) * possible / earned
    return [replace(check, earned=round(check.earned * factor, 4)) for check in checks] if factor < 1 else list(checks)


def score_of(checks: Sequence[CheckResult]) -> float | None:
    """Return 1 + 9 x (points earned / points possible), with one decimal; 10.0 only when every check passed.

    A check that the grader itself failed on counts neither way; None when there is no other.
    """
    counted = [check for check in checks if check.outcome != "grader-error"]
    possible = sum(check.points for check in counted)
    if not possible:
        return None
    score = round(1 + 9 * sum(check.earned for check in counted) / possible, 1)
    return score if all(check.passed for check in counted) else min(score, 9.9)


def strengths_of(checks: Sequence[CheckResult]) -> tuple[str, ...]:
    """Return one sentence for each skill whose checks all passed, and in the right form."""
    skills = dict.fromkeys(check.skill for check in checks)
    wrong = {check.skill for check in checks if not check.passed or check.form}
    return tuple(EARNED[skill] for skill in skills if skill not in wrong)


def weaknesses_of(
    checks: Sequence[CheckResult],
    mistakes: Sequence[Named],
    stages: Sequence[str],
    lines: Sequence[WrongLine] = (),
    runs: Collection[str] = (),
) -> tuple[str, ...]:
    """Return the named mistakes, the lines where right ends, what the probes showed; else the first failed checks.

    Args:
        runs: The ids of checks that no mistake is recognised by: those that failed are always said.
    """
    said = [*dict.fromkeys(mistake.says for mistake in mistakes), *(line.says for line in lines), *stages]
    bad = [check for check in checks if not check.passed and check.outcome not in ("skipped", "grader-error")]
    bad = [check for check in bad if check.id in runs and check.outcome == "failed"] if said else bad[:2]
    said += [f"{check.says} — {check.message.splitlines()[0]}" if check.message else check.says for check in bad]
    return tuple(said)


def suggestions_for(
    lesson: Lesson,
    passed: bool,
    mistakes: Sequence[Named],
    checks: Sequence[CheckResult],
    following: str | None,
    uses: Sequence[str] = (),
    compare: bool = True,
) -> tuple[Suggestion, ...]:
    """Return at most three things to do, each with its command, the most useful first.

    Args:
        following: The next lesson, if there is one.
        uses: The learner's other lessons that this file imports, whose mistakes show here too.
        compare: The learner can compare their code with the reference.
    """
    if passed:
        return _suggest_after_passing(lesson, following, compare)
    name = lesson.name
    found = [Suggestion(text, f"learn check {name}") for text in dict.fromkeys(m.suggests for m in mistakes) if text]
    if any(mistake.id == "stub" for mistake in mistakes):
        return (
            Suggestion("Read the lesson: the formula, the shapes, an example in numbers.", f"learn read {name}"),
            Suggestion(
                f"Open {lesson.track}/{name}.py and write the function; its docstring says all.", f"learn check {name}"
            ),
            Suggestion("Stuck at the start? Take the mildest hint.", f"learn hint {name}"),
        )
    if all(check.outcome == "skipped" for check in checks):  # the file cannot be loaded: no hint helps with that
        return tuple(found) or (Suggestion("Mend that, and check again.", f"learn check {name}"),)
    is_explained = any(mistake.id not in UNEXPLAINED for mistake in mistakes)  # then the mend is said already
    if not is_explained and any(check.outcome in ("raised", "timed-out") for check in checks):
        found.append(Suggestion("Step through the failing call, in the debugger.", f"learn check {name} --pdb"))
    for other in uses:
        found.insert(
            1, Suggestion(f"It uses your {other}.py: see whether that passes by itself.", f"learn check {other}")
        )
    hint = Suggestion("Take the next hint.", f"learn hint {name}")
    what = "lesson's common mistakes" if lesson.traps else "lesson"
    traps = Suggestion(f"Read the {what} again.", f"learn read {name}")
    return tuple([*found, hint, traps][:3])


def _suggest_after_passing(lesson: Lesson, following: str | None, compare: bool) -> tuple[Suggestion, ...]:
    first = Suggestion("That was the last lesson. See where you stand.", "learn progress")
    if following is not None:
        first = Suggestion(f"Go on with {following}.", f"learn read {following}")
    if not compare:
        return (first,)
    return (first, Suggestion("Compare your code with the reference.", f"learn solution {lesson.name}"))
