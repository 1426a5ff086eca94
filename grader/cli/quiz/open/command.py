"""`learn quiz open`: answer questions in prose, and mark the answers."""

from __future__ import annotations

import click

from grader.cli.context import CourseContext, find_context
from grader.cli.options import course_option
from grader.cli.quiz.context import open_quiz, read_bank
from grader.cli.quiz.open.list import latest_answers, show_questions
from grader.errors import UsageError
from grader.quiz.open_answers import find_open_question
from grader.terminal.text import clean


@click.command("open")
@click.argument("number", metavar="[N|TOPIC]", required=False)
@click.option("--lines", is_flag=True, help="Write line by line, not in your editor.")
@click.option("--new", "anew", is_flag=True, help="Begin again, where an answer was begun.")
@click.option("--prove", is_flag=True, help="With each mark, the lines of torch that show the answer.")
@click.option("--prompt", is_flag=True, help="Print a prompt for a language model of your choice; ask nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else; ask nothing.")
@course_option
@click.pass_context
def command(
    ctx: click.Context, number: str | None, lines: bool, anew: bool, prove: bool, prompt: bool, as_json: bool
) -> None:
    """Answer open question N or TOPIC in your own words; without it, list them all.

    You write in your editor (VISUAL or EDITOR), or line by line. Then you mark your own text, one key point at a time,
    see a model answer, and answer a question or two on what you claimed. No program scores the text: what you mark is
    shown as claimed, beside what was checked. Everything is kept as you go; the same command goes on.

    --prompt prints the question, its key points and your latest answer as a prompt for whatever language model you use,
    with the request to quote your text for each point. It sends nothing and changes no mark: paste it, or write it to a
    file as below.

    \b
    Example:
      learn quiz open
      learn quiz open 1
      learn quiz open 1 --prompt > prompt.txt
    """
    if prompt:
        _print_prompt(find_context(ctx), number, as_json)
        return
    if number is None or as_json:
        show_questions(find_context(ctx), number, as_json)
        return
    from grader.cli.quiz.open.answer import answer_open

    with open_quiz(ctx, False, prove) as quiz:
        code = answer_open(quiz, find_open_question(quiz.bank, number), by_lines=lines, anew=anew)
    ctx.exit(code)


def _print_prompt(context: CourseContext, number: str | None, as_json: bool) -> None:
    from grader.quiz.open_prompt import make_prompt

    if number is None or as_json:
        raise UsageError("--prompt needs the number or topic of a question, and no --json", next_step="learn quiz open")
    context.require_workspace()
    bank = read_bank(context.course)
    topic = find_open_question(bank, number)
    assert topic.open is not None
    answers, _ = latest_answers(context, bank, {topic.open.number: topic})
    answer = answers.get(topic.name)
    if answer is None or answer.state not in ("written", "marked"):
        what = f"you have not answered question {topic.open.number} yet"
        raise UsageError(what, next_step=f"learn quiz open {topic.open.number}")
    click.echo(make_prompt(topic.open, clean(answer.text)), nl=False)
