"""Judge what a notebook asks for: a request is a line of JSON, and so is its answer. `grader.notebook` starts this.

Requests:
    {"do": "check", "lesson", "cells": [...], "function": NAME or ""}    answer {"html", "text", "passed"}
    {"do": "check_all", ...}                                             the same, with all checks in "text"
    {"do": "trace", "lesson", "cells": [...]}                            answer {"html", "text"}
    {"do": "show", "lesson", "cells": [...]}                             answer {"pictures": [{"spec", "svg", "text"}]}

`function` is what the notebook calls the lesson's function. A check may have "cell", too, the text below `%%check`: it
must define what is checked. In place of each answer may come {"trouble": TEXT}. Where the input ends, so does the
process: a kernel that is killed leaves none behind.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from grader.cli.check.live_work import LiveWork, make_live_work
from grader.cli.check.notebook_file import as_file, as_python, read_cells, tell_cells
from grader.cli.check.show_results import RESET
from grader.cli.check.trace import find_lines, tell_calls
from grader.cli.context import find_context
from grader.cli.options import course_option
from grader.cli.run_command import run
from grader.errors import SelfattendError, SubmissionError, UsageError
from grader.files import is_file
from grader.model import Lesson, Submission, Suggestion
from grader.source.scopes import module_names
from grader.terminal.console import make_layout

if TYPE_CHECKING:
    from grader.judge.tracing.shapes import TracedCall

RUN_IT = "Run the cell that defines it, then check again."  # a notebook has no stub to reset
STYLE = Path(__file__).with_name("judge_cells.css")


@click.command("judge-cells")
@course_option
@click.pass_context
def command(ctx: click.Context) -> None:
    """Answer the requests on standard input until it ends."""
    work = make_live_work(find_context(ctx))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # so that nothing else is written between the answers
    work.with_judge(lambda _: _serve(work, answers))


def _serve(work: LiveWork, answers: TextIO) -> None:
    for line in sys.stdin:
        try:
            answer = _answer(work, _parse(line))
        except SelfattendError as error:
            answer = {"trouble": str(error)}
        answers.write(f"{json.dumps(answer)}\n")
        answers.flush()


def _parse(line: str) -> dict[str, Any]:
    """Return a request. Raises UsageError for what is none."""
    try:
        request = json.loads(line)
        texts = [request["do"], request["lesson"], request.get("function", ""), request.get("cell", "")]
        texts += request["cells"]
        if request["do"] in ACTS and all(isinstance(text, str) for text in texts):
            return request  # type: ignore[no-any-return]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass
    raise UsageError("this is no request of a notebook", next_step="restart the kernel: Python and selfattend differ")


def _answer(work: LiveWork, request: dict[str, Any]) -> dict[str, Any]:
    from grader.reports.html_document import prose

    lesson = work.run.context.lesson(request["lesson"])
    submission = _read(lesson, request["cells"], request.get("function", ""))
    if "cell" in request:
        _require_defined(lesson, request["cell"], request.get("function", ""))
    answer = ACTS[request["do"]](work, lesson, submission)
    if answer.get("passed") and (note := _fill_file(work, lesson, request)):
        answer["html"] += _frame(f"<p>{prose(note)}</p>")
        answer["text"] += f"\n{note}"
    return answer


def _fill_file(work: LiveWork, lesson: Lesson, request: dict[str, Any]) -> str:
    """Write what passes into the lesson's file; return what is to be said of that. The verdict stands in any case."""
    try:
        function = request.get("function", "")
        text = as_file(request["cells"], lesson, names=[function] if function else [])
        return work.fill_file(lesson, _with_name(text, lesson, function))
    except SelfattendError as error:
        return str(error)


def _read(lesson: Lesson, cells: list[str], function: str) -> Submission:
    submission = read_cells(cells, lesson, *([function] if function else ()))
    names = [each.name for each in lesson.functions]
    if not (function or any(re.search(rf"\b{name}\b", submission.source) for name in names)):
        what = f"nothing was checked: no cell that has run defines `{'`, `'.join(names)}`"
        raise SubmissionError(what, next_step="run the cell of the exercise")
    return replace(submission, source=_with_name(submission.source, lesson, function))


def _require_defined(lesson: Lesson, cell: str, function: str) -> None:
    """Raise SubmissionError for a cell to be checked that defines none of the names: an older one would be judged."""
    names = [function] if function else [each.name for each in lesson.functions]
    try:
        known = module_names(as_python(cell))
    except SyntaxError:  # the notebook has run it, so it knows what is meant
        return
    if not known.bound.isdisjoint(names) or "import *" in cell:
        return
    raise SubmissionError(
        f"nothing was checked: this cell does not define `{'`, `'.join(names)}`",
        next_step=f"%%check {lesson.name} as the first line of the cell that does; or, for what was run before, "
        f"%check {lesson.name}",
    )


def _with_name(source: str, lesson: Lesson, function: str) -> str:
    """Return a source in which the lesson's function is the one that the notebook calls otherwise, if it does."""
    return f"{source}\n\n{lesson.functions[0].name} = {function}\n" if function else source


def _check(work: LiveWork, lesson: Lesson, submission: Submission, verbose: bool = False) -> dict[str, Any]:
    from grader.reports.formats.to_terminal import assessment
    from grader.web.verdict import verdict_event

    work.examine(lesson, submission)
    if trouble := work.troubles.get(lesson.name):
        return {"trouble": trouble}
    verdict, before = tell_cells(work.verdicts[lesson.name], submission), work.before[lesson.name]
    mistakes = tuple(replace(each, suggests=RUN_IT) if RESET in each.suggests else each for each in verdict.mistakes)
    verdict = replace(verdict, mistakes=mistakes, suggestions=_in_notebook(verdict.suggestions))
    event = verdict_event(lesson, verdict, before, "", has_pages=False)
    text = assessment(verdict, make_layout(verbose, more="%check -v"), title=lesson.title, before=before)
    return {"html": _frame(event["html"]), "text": text, "passed": verdict.passed}


def _in_notebook(suggestions: Sequence[Suggestion]) -> tuple[Suggestion, ...]:
    """Return suggestions with what does in a cell what their commands do in a terminal, if anything does.

    The debugger is left out: it would look at the lesson's file.
    """
    found = []
    for each in suggestions:
        magic = re.sub(r"^learn (hint|trace) (\w+)$", r"%\1 \2", each.command)
        found.append(replace(each, command=re.sub(r"^learn quiz (\w+)$", r'quiz("\1")', magic)))
    return tuple(each for each in found if not each.command.endswith("--pdb"))


def _frame(html: str) -> str:
    return f"<style>{STYLE.read_text()}</style><div class='selfattend'>{html}</div>"


def _trace(work: LiveWork, lesson: Lesson, submission: Submission) -> dict[str, Any]:
    from grader.reports.html_document import render
    from grader.web.page import TEMPLATES

    calls = work.trace(lesson, submission)
    views = [
        _view_call(call, submission.source, {other.function for other in calls} - {call.function}) for call in calls
    ]
    html = render("traced", {"calls": views}, TEMPLATES)
    return {"html": _frame(html), "text": "\n".join(tell_calls(calls, submission.source))}


def _view_call(call: TracedCall, source: str, others: Set[str]) -> dict[str, Any]:
    """Return what a page shows of a call: the cells that ran with their lines, and beside each what it made."""
    from grader.intake.notebook.cell_places import CellPlaces
    from grader.judge.tracing.shape_words import describe_absence, describe_ending, describe_letters, describe_line

    places, cells = CellPlaces(source), dict[str, list[dict[str, Any]]]()
    for number, text in find_lines(call, source, others).items():
        cell, line = places.find(number) or ("", number)
        cells.setdefault(cell, []).append({"number": line, "text": text, "notes": describe_line(call, number)})
    absence = "" if cells else describe_absence(call, source)
    return {"ending": describe_ending(call), "letters": describe_letters(call), "cells": cells, "absence": absence}


def _show(work: LiveWork, lesson: Lesson, submission: Submission) -> dict[str, Any]:
    from grader.reports.formats.to_picture_file import to_file
    from grader.terminal.picture import draw

    if not is_file(lesson.pictures_path):
        raise UsageError(f'there are no pictures of "{lesson.name}"', next_step="learn list")
    layout = make_layout()
    drawn = work.draw_pictures(lesson, submission)
    if not drawn:
        raise SubmissionError("nothing could be drawn", next_step=f"%check {lesson.name} (it says why)")
    pictures = [
        {"spec": each.vega_lite, "svg": to_file([each], ".svg").decode(), "text": draw(each, layout, False)}
        for each in drawn
    ]
    return {"pictures": pictures}


def _check_all(work: LiveWork, lesson: Lesson, submission: Submission) -> dict[str, Any]:
    return _check(work, lesson, submission, verbose=True)


ACTS = {"check": _check, "check_all": _check_all, "trace": _trace, "show": _show}

if __name__ == "__main__":
    run(command, "learn judge-cells")
