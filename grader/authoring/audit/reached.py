"""Which checks run a changed line: to the others a changed version answers what the reference answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from grader.judge.checks.lesson_checks import LessonChecks
from grader.judge.mistakes.mistake_set import MistakeSet
from grader.judge.processes.remote_module import LocalModule


def not_asking(checks: LessonChecks, function: str) -> frozenset[str]:
    """Return the names of the checks that never ask for a function."""
    return frozenset(
        name
        for name, transcript in checks.transcripts.items()
        if all(function not in (each.content.get("target"), each.content.get("name")) for each in transcript.submission)
    )


class ReachedSteps:
    """The steps of a function that each check runs on one seed.

    Args:
        base: The reference's names.
    """

    def __init__(self, checks: LessonChecks, base: Mapping[str, Any], mistake_set: MistakeSet) -> None:
        self.checks, self.base, self.mistake_set = checks, base, mistake_set

    def unreached(self, changes: Mapping[str, Any], version: Any) -> frozenset[str]:
        """Return the names of the checks that run none of these steps; for a whole `version`, not the function."""
        if version is not None:
            return self._not_asking
        return frozenset(name for name, steps in self._steps.items() if steps.isdisjoint(changes))

    @cached_property
    def _not_asking(self) -> frozenset[str]:
        return not_asking(self.checks, self.mistake_set.function)

    @cached_property
    def _steps(self) -> dict[str, frozenset[str]]:
        return {name: frozenset() for name in self._not_asking} | dict(self._watch())

    def _watch(self) -> Iterator[tuple[str, frozenset[str]]]:
        used: set[str] = set()
        watched = {**self.base, self.mistake_set.function: self.mistake_set.source.build_watched(used)}
        around = frozenset(used)
        for check in self.checks.checks:
            if check.name not in self._not_asking and not check.is_run:
                used.clear()
                self.checks.run(check, LocalModule(watched, self.checks.lesson.kinds))
                yield check.name, around | used
