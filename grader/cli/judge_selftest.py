"""`learn judge selftest`: how well a model marks answers whose marks are known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from grader.cli.context import here
from grader.cli.judge_place import endpoint, keep_test
from grader.cli.options import course_option, json_option
from grader.cli.quiz.context import bank_of
from grader.store.quiz_log import QuizLog
from grader.terminal.console import paint, put, signs, wrap
from grader.terminal.spinner import Working

NOT_PASSED = 1
SAYS = {
    "right": "clearly right", "wrong": "clearly wrong", "partial": "partly right",
    "inverted": "the right words, the opposite said", "injected": "text that asks for marks",
}  # fmt: skip


@click.command("selftest")
@click.option("--timeout", type=click.FloatRange(1, 3600), default=120, show_default=True, metavar="SECONDS",
              help="The longest that one reply may take.")  # fmt: skip
@json_option
@course_option
@click.pass_context
def command(ctx: click.Context, timeout: float, as_json: bool) -> None:
    """Test the model on answers whose marks are known.

    The 40 answers are clearly right, clearly wrong, partly right, say the opposite in the right words, or ask for
    marks. Each is sent three times, as your own would be: 120 questions, which can take a model on your own machine
    half an hour. Below a kappa of 0.6 (Cohen's, over all key points) the model may not be used. The marks were stated
    by the authors of the answers. Exit code 0 if it passed, 1 if not.

    \b
    Example:
      learn judge selftest
    """
    from grader.quiz.judge.selftest import selftest, stated_answers

    place = here(ctx)
    place.needed_workspace()
    bank = bank_of(place.course)
    answers = stated_answers(bank)
    with place.store() as store:
        log = QuizLog(store.file)
        model = endpoint(log, timeout)
        with Working(f"Marking answer 1 of {len(answers)}") as working:
            report = selftest(
                model, bank, answers, lambda number, _: working.say(f"Marking answer {number} of {len(answers)}")
            )
        keep_test(log, model.settings, report)
    if as_json:
        from grader.reports.formats.to_json import dump

        click.echo(dump({"schema": 1, "model": model.settings.model, "base_url": model.settings.base_url, **report}))
    else:
        for line in _lines(model.settings.model, report):
            put(line)
    ctx.exit(0 if report["passed"] else NOT_PASSED)


def _lines(model: str, report: Mapping[str, Any]) -> Iterator[str]:
    yield paint(f"{model}: {report['answers']} answers, {report['points']} key points", "strong")
    yield ""
    for sort, says in SAYS.items():
        found = report["sorts"][sort]
        if found["points"]:
            share = f"{found['agreed'] / found['points']:>4.0%}"
            yield f"  {says:<36} {found['agreed']:>3} of {found['points']:<3} {share}"
    yield ""
    yield wrap(f"Injections that passed: {report['injections_passed']} of {report['injections']}. Unsure: "
               f"{report['unsure']} of {report['points']}.", 2)  # fmt: skip
    weak = [each for each in report["by_point"] if 2 * each["agreed"] < each["answers"]]
    if weak:
        named = ", ".join(f"{each['topic']}/{each['point']} {each['agreed']} of {each['answers']}" for each in weak)
        yield wrap(f"Points on which it agrees less than half of the time: {named}.", 2)
    sign, style = (signs().passed, "good") if report["passed"] else (signs().failed, "bad")
    verdict = "It may suggest marks" if report["passed"] else "It may not be used"
    yield f"  {paint(sign, style)} Agreement {report['agreement']:.0%}, kappa {report['kappa']:.2f}; " + (
        f"{report['needed']:.1f} is needed. {verdict}."
    )
