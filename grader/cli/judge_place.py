"""The judge that a learner has set up: its settings, whom it may send to, and whether it has passed its test.

All of it is kept with the learner's progress, as facts of the quiz; the environment comes before it.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

from grader.errors import UsageError
from grader.store.quiz_log import QuizLog
from grader.terminal.console import is_terminal, paint, put, wrap

if TYPE_CHECKING:
    from grader.quiz.judge.endpoint import Endpoint
    from grader.quiz.judge.settings import Settings

SETTINGS, AGREED, TESTED, MARKS = "judge", "judge.agreed", "judge.tested", "judge.marks."
VARIABLE = "SELFATTEND_JUDGE_URL"  # as in grader.quiz.judge.settings, which a quiz need not load


def is_on(log: QuizLog) -> bool:
    """Whether a judge is set up. It is off unless somebody did that."""
    return bool(os.environ.get(VARIABLE) or log.fact(SETTINGS))


def offer(log: QuizLog, number: int) -> list[tuple[str, str]]:
    """The command that has an answer marked by the judge, for a list of what to do next; none where it is off."""
    return [(f"learn judge mark {number}", "marks that a model suggests, beside yours")] if is_on(log) else []


def known(log: QuizLog) -> Settings | None:
    """The settings; None where it is off. Raises UsageError."""
    from grader.quiz.judge.settings import from_dict, from_environment

    kept = log.fact(SETTINGS)
    return from_environment(os.environ) or (from_dict(json.loads(kept)) if kept else None)


def needed(log: QuizLog) -> Settings:
    """The settings. Raises UsageError where it is off."""
    from grader.quiz.judge.settings import SETUP

    found = known(log)
    if found is None:
        raise UsageError("no judge is set up: by default no model is asked", next_step=SETUP)
    return found


def endpoint(log: QuizLog, seconds: float) -> Endpoint:
    """The judge, once its host was agreed to. Raises UsageError."""
    from grader.quiz.judge.endpoint import Endpoint

    found = needed(log)
    agree(log, found)
    return Endpoint(found, seconds)


# --- whom it may send to ----------------------------------------------------------------------------------------------


def agree(log: QuizLog, found: Settings, *, yes: bool = False) -> None:
    """Ask once before anything goes to another machine, and say what. Raises UsageError where nobody agrees."""
    hosts = json.loads(log.fact(AGREED) or "[]")
    if found.loopback or found.base_url in hosts:
        return
    if not yes:
        _ask(found)
    log.keep_fact(AGREED, json.dumps([*hosts, found.base_url]))


def _ask(found: Settings) -> None:
    import click

    command = f"learn judge setup {found.base_url} {found.model} --yes"
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        what = f"{found.host} is another machine, and nobody has agreed to sending answers there"
        raise UsageError(what, next_step=command)
    put(paint(f"{found.host} is another machine.", "strong"))
    put(wrap("Each time you ask for marks it is sent: the open question, its key points, and the text of that answer "
             "of yours, up to 4,000 characters. Nothing else: no name, no score, no other answer."))  # fmt: skip
    if found.key_env:
        put(wrap(f"The key in {found.key_env} goes along."))
    if not found.encrypted:
        put(wrap("The connection is not encrypted: whoever is between can read it."))
    if not click.confirm("Send answers there?", default=False):
        raise UsageError("nothing was sent, and the judge stays as it was", next_step="learn judge")


# --- whether it has passed its test -----------------------------------------------------------------------------------


def tested(log: QuizLog, found: Settings) -> dict[str, Any] | None:
    """The result of this very model's test, with today's words to it; None where it has not taken it."""
    from grader.quiz.judge.prompt import VERSION

    kept: dict[str, Any] = json.loads(log.fact(TESTED) or "{}")
    same = (kept.get("base_url"), kept.get("model"), kept.get("prompt")) == (found.base_url, found.model, VERSION)
    return kept if same else None


def keep_test(log: QuizLog, found: Settings, report: dict[str, Any]) -> None:
    """Keep the result of a test."""
    from grader.quiz.judge.prompt import VERSION

    about = {"base_url": found.base_url, "model": found.model, "prompt": VERSION}
    log.keep_fact(TESTED, json.dumps(about | report))


def require_passed(log: QuizLog, found: Settings) -> dict[str, Any]:
    """The result of a test that was passed. Raises UsageError."""
    report = tested(log, found)
    if report is None:
        what = f"{found.model} has not taken the test: nobody knows how well it marks"
        raise UsageError(what, next_step="learn judge selftest")
    if not report["passed"]:
        what = (
            f"{found.model} agreed too little with answers whose marks are known: kappa {report['kappa']:.2f}, and "
            f"{report['needed']:.1f} is needed"
        )
        raise UsageError(what, next_step="learn judge setup, with another model")
    return report


# --- the marks that it suggested --------------------------------------------------------------------------------------


def keep_marks(log: QuizLog, session: str, marks: dict[str, Any]) -> None:
    """Keep what was suggested for the answer of a sitting, beside the learner's own marks and never among them."""
    log.keep_fact(MARKS + session, json.dumps(marks))


def marks_of(log: QuizLog, session: str) -> dict[str, Any]:
    """What was suggested for the answer of a sitting; empty where nothing was."""
    found: dict[str, Any] = json.loads(log.fact(MARKS + session) or "{}")
    return found
