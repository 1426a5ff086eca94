"""`learn judge setup`: which model may suggest marks."""

from __future__ import annotations

import json

import click

from grader.cli.context import here
from grader.cli.judge_place import SETTINGS, agree
from grader.cli.options import course_option
from grader.cli.quiz.render import next_lines
from grader.store.quiz_log import QuizLog
from grader.terminal.console import put


@click.command("setup")
@click.argument("url", metavar="URL")
@click.argument("model", metavar="MODEL")
@click.option("--key-env", default="", metavar="NAME", help="The variable that holds the key; the key is never kept.")
@click.option("--yes", is_flag=True, help="Agree to sending answers to another machine, without being asked.")
@course_option
@click.pass_context
def command(ctx: click.Context, url: str, model: str, key_env: str, yes: bool) -> None:
    """Say which model may suggest marks.

    URL is the part of its server's address before /chat/completions. Nothing is sent now. If URL is another machine you
    are told what would be sent, and asked once. SELFATTEND_JUDGE_URL, SELFATTEND_JUDGE_MODEL and
    SELFATTEND_JUDGE_KEY_ENV in the environment come before what is set up here.

    \b
    Example:
      learn judge setup http://localhost:11434/v1 qwen3:8b
      learn judge setup https://api.example.com/v1 large --key-env EXAMPLE_KEY
    """
    from grader.quiz.judge.settings import settings

    chosen = settings(url, model, key_env)
    place = here(ctx)
    place.needed_workspace()
    with place.store() as store:
        log = QuizLog(store.file)
        agree(log, chosen, yes=yes)
        log.keep_fact(SETTINGS, json.dumps(chosen.to_dict()))
    put(f"{chosen.model} at {chosen.base_url} is set up. Nothing was sent.")
    put("\n".join(["", *next_lines([("learn judge selftest", "before it may suggest anything")])]))
