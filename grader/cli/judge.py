"""`learn judge`: a model that suggests marks for open answers, if one is set up."""

from __future__ import annotations

import click

from grader.cli.context import here
from grader.cli.group import LazyGroup
from grader.cli.judge_place import known, tested
from grader.cli.options import course_option
from grader.cli.quiz.render import next_lines
from grader.store.quiz_log import QuizLog
from grader.terminal.console import put, wrap

COMMANDS = {
    "setup": "grader.cli.judge_setup",
    "selftest": "grader.cli.judge_selftest",
    "mark": "grader.cli.judge_mark",
    "off": "grader.cli.judge_off",
}


@click.group("judge", cls=LazyGroup, commands_in=COMMANDS, invoke_without_command=True)
@course_option
@click.pass_context
def command(ctx: click.Context) -> None:
    """Have a model suggest marks for your open answers. Off by default.

    Alone, `learn judge` says whether one is set up. It may run on your own machine (Ollama, llama.cpp, LM Studio, vLLM)
    or be any server that speaks as OpenAI's does. First it has to pass a test. What it suggests stands beside your own
    marks and changes neither them nor any score.

    \b
    Example:
      learn judge setup http://localhost:11434/v1 qwen3:8b
      learn judge selftest
      learn judge mark 1
    """
    if ctx.invoked_subcommand is None:
        _status(ctx)


def _status(ctx: click.Context) -> None:
    from grader.quiz.judge.settings import SETUP

    place = here(ctx)
    place.needed_workspace()
    with place.store() as store:
        log = QuizLog(store.file)
        found = known(log)
        report = tested(log, found) if found else None
    if found is None:
        put("No judge is set up: no model is asked, and nothing is sent anywhere.")
        put("\n".join(["", *next_lines([(SETUP, "if you want one")])]))
        return
    where = "this machine" if found.loopback else f"{found.host}, another machine"
    put(wrap(f"{found.model}, on {where} ({found.base_url}); {_key(found.key_env)}."))
    if report is None:
        put("It has not taken its test.")
        commands = [("learn judge selftest", "before it may suggest anything")]
    else:
        put(wrap(f"In its test it agreed with {report['agreement']:.0%} of known marks, kappa {report['kappa']:.2f} "
                 f"({report['needed']:.1f} is needed); {report['injections_passed']} of {report['injections']} "
                 "injections passed."))  # fmt: skip
        passed = ("learn judge mark N", "marks for your answer to open question N")
        commands = [passed] if report["passed"] else [(SETUP, "with another model")]
    put("\n".join(["", *next_lines([*commands, ("learn judge off", "switches it off")])]))


def _key(name: str) -> str:
    return f"its key is in {name}" if name else "without a key"
