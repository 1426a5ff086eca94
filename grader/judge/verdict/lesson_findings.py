"""From the results of checks to the findings for a lesson: its state, named mistakes, examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grader.judge.checks.check import Check
from grader.judge.diagnosis.name_mistake import Diagnosis
from grader.judge.diagnosis.structural_facts import SHARED
from grader.judge.errors import LearnerError
from grader.judge.values import redacted_explanation
from grader.judge.values.difference_patterns import Fact, find_exchanged_parts, find_patterns
from grader.judge.verdict.facts import Facts
from grader.judge.verdict.outcome_mistakes import (
    AS_RETURNS_SAYS,
    name_by_errors,
    name_by_facts,
    name_by_form,
    name_by_outcomes,
    name_load_error,
)
from grader.model import CheckResult, Counterexample, Lesson, Named, Submission, WrongLine

MAX_RIGHT = 5  # stages that one sentence tells as right


@dataclass
class Finding:
    """Everything an examination found, before it is put into words for a report."""

    state: str
    checks: Sequence[CheckResult]
    named: list[Named] = field(default_factory=list)
    stages: list[str] = field(default_factory=list)
    counterexamples: list[Counterexample] = field(default_factory=list)
    lines: list[WrongLine] = field(default_factory=list)


def find_nothing_loaded(
    lesson: Lesson, submission: Submission, checks: Sequence[Check], error: LearnerError
) -> Finding:
    """Find why a file could not be loaded: nothing was checked, and nothing is earned."""
    what = "Your file could not be loaded."
    redacted = f"{what} {redacted_explanation.explain_error(error, submission, lesson.forbids)}"
    results = [check.result(lesson, "skipped", what, gist=redacted) for check in checks]
    state = error.kind if error.kind in ("timed-out", "out-of-memory", "crashed") else "would-not-import"
    return Finding(state, results, [name_load_error(error)])


def name_failures(facts: Facts, results: Sequence[CheckResult]) -> dict[str, Named | None]:
    """Name what is wrong with each function that failed a check, as far as the outcomes tell.

    Returns:
        By function, the mistake; None for a function that has to be probed.
    """
    return {
        function: name_by_outcomes(facts, function, bad)
        for function in facts.lesson.kinds
        if (bad := _failures_of(function, results)) and any(check.outcome != "grader-error" for check in bad)
    }


def find_mistakes(
    facts: Facts,
    results: Sequence[CheckResult],
    failures: Mapping[str, Named | None],
    evidence: Mapping[str, Diagnosis | LearnerError],
) -> Finding:
    """Find what is wrong, function by function.

    Args:
        failures: What `name_failures` returned.
        evidence: What probing showed of each function that has no name there; or why it could not be probed.
    """
    finding = Finding(_state_of(results), results)
    for function, mistake in failures.items():
        found = mistake or evidence[function]
        if isinstance(found, LearnerError):
            found = name_load_error(found)
        if isinstance(found, Named):
            finding.named.append(found)
        else:
            _add_diagnosis(finding, facts, function, found)
    # a wrong function that another one calls shows in both, in the same words: said once
    by_words = {(each.id, _without_remark(each.says)): each for each in reversed(finding.named)}
    finding.named = list(by_words.values())[::-1]
    return finding


def _without_remark(says: str) -> str:
    """Return a sentence without where it does not hold, in brackets behind it: another function is asked otherwise."""
    return says[: says.rfind(" (")] if says.endswith(".)") else says


def _failures_of(function: str, results: Sequence[CheckResult]) -> list[CheckResult]:
    return [check for check in results if check.function == function and not check.passed]


def _state_of(results: Sequence[CheckResult]) -> str:
    outcomes = {check.outcome for check in results if check.outcome != "skipped"}
    if "grader-error" in outcomes:
        return "grader-error"
    for state in ("timed-out", "out-of-memory", "crashed"):
        if outcomes == {state}:
            return state
    return "graded"


def _add_diagnosis(finding: Finding, facts: Facts, function: str, diagnosis: Diagnosis) -> None:
    bad = _failures_of(function, finding.checks)
    if all(check.outcome == "skipped" for check in bad):
        finding.stages += _quote(function, bad)  # it waits for another function, whose faults show in its answers
        return
    finding.named += diagnosis.named
    if diagnosis.raises_besides:
        finding.named += name_by_errors(facts, function, [check for check in bad if check.outcome == "raised"])
    finding.counterexamples += diagnosis.counterexamples
    if diagnosis.format_note:
        says = f"`{function}`: {diagnosis.format_note}"
        finding.named.append(Named("wrong-format", function, says, AS_RETURNS_SAYS))
    elif not diagnosis.named or diagnosis.raises:
        is_shared = any(fact.kind == SHARED for fact in diagnosis.facts)
        general = [] if is_shared else name_by_errors(facts, function, bad)
        finding.named += name_by_form(function, bad) + general
        told = bool(general) or all(check.form for check in bad)
        found = [Fact(fact.kind, f"`{function}`: {fact.says}") for fact in diagnosis.facts]
        patterns = _patterns(function, diagnosis, finding.checks)
        if not (told or diagnosis.named):
            named = name_by_facts(facts, function, found, patterns, values_differ=not diagnosis.only_gradients)
            finding.named += named
            known = {mistake.says for mistake in named}
            found, patterns = ([fact for fact in some if fact.says not in known] for some in (found, patterns))
        finding.stages += [] if told else _describe_stages(function, diagnosis, finding.checks, patterns)
        finding.stages += [fact.says for fact in found]


def _patterns(function: str, diagnosis: Diagnosis, checks: Sequence[CheckResult]) -> list[Fact]:
    """Return what is regular in the first wrong answer; it is not said of a check that passed where that was seen."""
    if diagnosis.first_wrong is None:
        return []
    probe, actual, expected = diagnosis.first_wrong
    found = find_exchanged_parts(diagnosis.wrong_answers)
    found = found or find_patterns(actual, expected, diagnosis.sizes, diagnosis.wrong_answers)
    passed = {check.id.partition(".")[2] for check in checks if check.passed}
    where = "" if probe.name in passed else f", {probe.title}"
    return [Fact(fact.kind, f"`{function}`{where}: {fact.says}") for fact in found]


def _describe_stages(
    function: str, diagnosis: Diagnosis, checks: Sequence[CheckResult], patterns: Sequence[Fact]
) -> list[str]:
    """Say where right ends and wrong begins, and what the numbers show there.

    Where they show nothing regular, the first failed check is quoted.
    """
    said = []
    right, wrong = _sort_stages(diagnosis, [check for check in checks if check.function == function])
    if wrong:
        begin = f"Right {_join(_shorten(right))}; wrong" if right else "Wrong"
        said.append(f"`{function}`: {begin} {_join(wrong[:3])}.")
    if diagnosis.first_wrong is None:
        return said
    return said + ([fact.says for fact in patterns] or _quote(function, _failures_of(function, checks)))


def _sort_stages(diagnosis: Diagnosis, checks: Sequence[CheckResult]) -> tuple[list[str], list[str]]:
    """Return the stages that are right throughout, and those that are wrong.

    A probe sees all of an answer, a check perhaps a part: where each check of a stage passed, that is not told as
    wrong, and as right only where values were looked at.
    """
    failed = {check.stage for check in checks if check.outcome not in ("passed", "skipped")}
    passed = {check.stage for check in checks if check.passed} - failed
    whole = passed & {check.stage for check in checks if check.skill == "values"}
    wrong = [stage for stage in diagnosis.wrong if stage not in passed]
    right = [*diagnosis.right, *(stage for stage in diagnosis.wrong if stage in whole)]
    unclear = failed | {*wrong} | ({*diagnosis.wrong} - whole)
    return [stage for stage in right if stage not in unclear], list(dict.fromkeys(wrong))


def _quote(function: str, bad: Sequence[CheckResult]) -> list[str]:
    return [f"`{function}`: {check.message.splitlines()[0]}" for check in bad if check.message][:1]


def _shorten(stages: Sequence[str]) -> list[str]:
    """Return the stages once each, of many the first and how many more there are."""
    unique = list(dict.fromkeys(stages))
    more = len(unique) - MAX_RIGHT + 1
    return unique if more <= 1 else [*unique[: MAX_RIGHT - 1], f"in {more} other cases"]


def _join(stages: Sequence[str]) -> str:
    unique = list(dict.fromkeys(stages))
    return ", ".join(unique[:-1]) + " and " + unique[-1] if len(unique) > 1 else unique[0]
