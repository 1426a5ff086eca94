"""`learn quiz export`: write the questions for another program, or for paper."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.context import find_context, short_path
from grader.cli.options import WholeNumber, course_option
from grader.cli.output import out_option, write_file
from grader.cli.quiz.context import read_bank
from grader.quiz.export import FORMATS, export
from grader.quiz.session.plan import find_topic
from grader.terminal.console import put, warn, wrap
from grader.terminal.text import plural

VARIANTS = WholeNumber(1, 50)
VARIANTS_HELP = "How often each question comes, with other numbers each time."


@click.command("export")
@click.argument("topics", metavar="[TOPIC]...", nargs=-1)
@click.option("--format", "form", type=click.Choice(FORMATS), required=True, help="What to write.")
@out_option
@click.option("--variants", type=VARIANTS, default=1, show_default=True, metavar="N", help=VARIANTS_HELP)
@course_option
@click.pass_context
def command(ctx: click.Context, topics: tuple[str, ...], form: str, out: Path | None, variants: int) -> None:
    """Write questions for Anki, Moodle or paper.

    Those of each TOPIC, or all of them, open questions included.

    anki: text for Anki's import, the question's id first. Export and import again whenever you like: notes are found
    by their id, none comes twice, and none loses its schedule. gift: questions for Moodle, with feedback on every
    option. markdown: questions, then answers.

    The numbers in them are the same in every export, and other ones than `learn quiz` asks you.

    \b
    Example:
      learn quiz export --format anki --variants 3 --out c.txt
      learn quiz export heads --format gift --out heads.gift
      learn quiz export --format markdown > questions.md
    """
    bank = read_bank(find_context(ctx).course)
    names = [find_topic(bank, topic) for topic in topics] or bank.names
    made = export(bank, list(dict.fromkeys(names)), form, variants)
    if out is None:
        click.echo(made.text, nl=False)
        for note in made.notes:
            warn(note)
        return
    write_file(out, made.text, "the questions")
    put(f"{plural(made.questions, 'question')} written to {short_path(out.absolute())}.")
    for note in made.notes:
        put(wrap(note))
