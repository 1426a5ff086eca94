"""`learn quiz log`: write a learner's answers to a file for an instructor."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from grader.cli.context import find_context, short_path
from grader.cli.options import course_option
from grader.cli.output import out_option, write_file
from grader.cli.quiz.context import read_bank
from grader.errors import UsageError
from grader.model import SCHEMA
from grader.quiz.export.answers import answer_records
from grader.reports.statistics.quiz_logs import FORMAT
from grader.store.quiz_log import QuizLog
from grader.terminal.console import put, wrap
from grader.terminal.text import plural

LEARNER = "export-id"  # the fact that holds the random id


@click.command("log")
@out_option
@click.option("--with-answers", is_flag=True, help="With what you typed, too.")
@course_option
@click.pass_context
def command(ctx: click.Context, out: Path | None, with_answers: bool) -> None:
    """Write your answers to a file for whoever teaches.

    Nothing is sent anywhere. The file has one line an answer: which question, how much of it was right, how sure you
    were, which misconception it showed, how many seconds it took. It has a random id in place of your name, no dates,
    nothing of your open answers, and nothing that you typed unless you say --with-answers.

    \b
    Example:
      learn quiz log --out my-answers.jsonl
    """
    context = find_context(ctx)
    context.require_workspace()
    bank = read_bank(context.course)
    with context.store() as store:
        log = QuizLog(store.database)
        answers = log.answers()
        if not answers:
            raise UsageError("there are no answers yet", next_step="learn quiz")
        if not log.fact(LEARNER):
            log.set_fact(LEARNER, os.urandom(8).hex())
        made = answer_records(bank, answers, learner=log.fact(LEARNER), salt=log.salt(), with_answers=with_answers)
        head = {"format": FORMAT, "schema": SCHEMA}
        text = "".join(f"{json.dumps(head | each, allow_nan=False)}\n" for each in made)
    if out is None:
        click.echo(text, nl=False)
        return
    write_file(out, text, "the answers")
    typed = "what you typed is in it" if with_answers else "nothing that you typed is in it"
    where = short_path(out.absolute())
    put(wrap(f"{plural(len(answers), 'answer')} written to {where}: your name is not in it, {typed}."))
