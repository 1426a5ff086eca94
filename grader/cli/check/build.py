"""`learn build`: train a whole model of the learner's own solved lessons, and show what it has learned."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.check.keep import source_digest
from grader.cli.context import CourseContext, find_context, short_path
from grader.cli.learn.next_step import next_step, show_next
from grader.cli.lesson_parameters import lesson_argument
from grader.cli.options import WholeNumber, course_option
from grader.course.step_marks import strip_marks
from grader.errors import SubmissionError, UsageError
from grader.files import at, explain_unwritable, is_file, read_file, replacing
from grader.judge.own_limits import end_after
from grader.model import Lesson, Submission
from grader.submission import artefact_path, imported_modules, read_submission
from grader.terminal.console import paint, put, wrap

if TYPE_CHECKING:
    from grader.judge.examination import Judge
    from grader.store import Store

ASK = "ask for a course with its solutions"


@click.command("build")
@lesson_argument(required=False)
@click.option("--seed", type=WholeNumber(min=0), default=1, show_default=True, metavar="N", help="Of the text.")
@course_option
@click.pass_context
def command(ctx: click.Context, lesson: str | None, seed: int) -> None:
    """Train a model of your own solved lessons; see what it learns.

    It writes or sorts, and shows where its heads look, or writes weights beside your file for `learn check` to measure.
    Pieces that you have not solved are the reference's; weights are kept only of a model that you wrote. It says so
    where your file of LESSON itself is no piece of it. Your code runs in a process of its own, as in `learn check`.
    Without LESSON, it lists what can be built, and of which pieces.

    \b
    Example:
      learn build two_bits
    """
    context = find_context(ctx)
    context.require_workspace()
    if lesson is None:
        _list_models(context)
        return
    chosen = context.lesson(lesson)
    submission, pieces = _assemble(context, chosen)
    for piece, mine in pieces.items():
        put(f"  {piece:22} {paint('yours', 'good') if mine else paint('the reference', 'quiet')}")
    if chosen.name not in submission.siblings and context.edited_at(chosen):
        path, check = short_path(context.require_workspace().exercise_path(chosen)), f"learn check {chosen.name}"
        put(wrap(f"This is made of the lessons before it, without {path}: `{check}` tries that."))
    put()
    _train(context, chosen, submission, seed, pieces.get(chosen.name, True))
    show_next(*next_step(context, context.progress()))


def _list_models(context: CourseContext) -> None:
    """Print each model that can be built, which of its pieces are the learner's, and which are missing."""
    models = [lesson for lesson in context.course.lessons.values() if is_file(lesson.build_path)]
    if not models:
        raise UsageError("no model of this course can be built here", next_step=ASK)
    for model in models:
        submission, pieces = _assemble(context, model)
        used = [name for name in context.course.lessons if name in submission.siblings]
        put(f"{paint(model.name, 'strong')}  {wrap(model.title, len(model.name) + 2).lstrip()}")
        for of_whom, is_mine in (("yours", True), ("not solved yet", False)):
            if names := [name for name in used if pieces.get(name, False) is is_mine]:
                put(paint(wrap(f"{of_whom}: {', '.join(names)}", 2), "good" if is_mine else "quiet"))
        put()
    put(wrap("What is not solved yet is built of the reference's pieces: it can be seen at once, and again as yours."))
    show_next(f"see {models[0].name} train, and write", f"learn build {models[0].name}")


def _assemble(context: CourseContext, lesson: Lesson) -> tuple[Submission, dict[str, bool]]:
    """Return the course's plan of the model, and of each lesson in it whether it is the learner's.

    What is not solved is made of earlier lessons where the course says how, else it is the reference's.
    """
    lessons, plan = context.course.lessons, lesson.build_path
    if not is_file(plan):
        next_step = "learn build" if any(is_file(each.build_path) for each in lessons.values()) else ASK
        raise UsageError(f'"{lesson.name}" is no model that can be built here', next_step=next_step)
    source, is_own = read_file(plan), dict[str, bool]()
    siblings: dict[str, tuple[str, str]] = {}
    waiting = imported_modules(source)
    while waiting:
        name = waiting.pop(0)
        if name not in lessons or name in siblings:
            continue
        if own := _read_own(context, lessons[name], must_pass=name != lesson.name):
            siblings |= own
            is_own |= {each: True for each in own if each in lessons}
            continue
        stand_in = plan.with_stem(f"{plan.stem}_{name}")
        path = stand_in if is_file(stand_in) else lessons[name].solution_path
        siblings[name] = (str(path), strip_marks(read_file(path)))
        waiting += imported_modules(siblings[name][1])
        is_own[name] = False
    return Submission(plan.stem, str(plan), source, siblings), {
        name: is_own[name] for name in lessons if name in is_own
    }


def _read_own(context: CourseContext, piece: Lesson, must_pass: bool) -> dict[str, tuple[str, str]]:
    """Return the learner's file of a lesson, with those that it imports, if it passed as it is now; else nothing.

    The lesson whose model it is passes once that is trained: what is written there is taken without `must_pass`.
    """
    if not must_pass and not context.edited_at(piece):
        return {}
    workspace = context.require_workspace()
    found: list[Submission] = []

    def read(store: Store) -> None:
        own = read_submission(workspace.exercise_path(piece), piece, context.course, workspace.root)
        if not must_pass or store.is_passing(piece.name, source_digest(own.source)):
            found.append(own)

    with suppress(SubmissionError):  # what cannot be read was not solved
        context.try_store(read)
    return {piece.name: (own.path, own.source), **own.siblings} if (own := next(iter(found), None)) else {}


def _train(context: CourseContext, lesson: Lesson, submission: Submission, seed: int, is_own: bool) -> None:
    """Train, and show what is said; weights are kept if the model `is_own`, the learner's."""
    from grader.judge.errors import LearnerError
    from grader.judge.session import judge_with
    from grader.terminal.spinner import Spinner

    with Spinner("Starting PyTorch") as working:

        def drive(judge: Judge) -> None:
            judge.workers.on_progress = working.train
            with end_after(context.course.limits_for(lesson).judging_seconds, f"Building {lesson.name}"):
                for made in judge.build(lesson, submission, seed):
                    if isinstance(made, str):
                        working.say(f"{made}\n" if "\n" in made else made)
                    elif not is_own:
                        path = short_path(context.require_workspace().exercise_path(lesson))
                        working.say(f"Nothing is kept: that was the reference. Write {path}, then build yours.")
                    else:
                        working.say(f"Written to {_write_weights(context, lesson, made)}.")

        try:
            judge_with(context.course, [lesson], drive, device="cpu")
        except LearnerError as error:
            working.stop()
            path, line = error.frames[-1][:2] if error.frames else (submission.path, 0)
            what = f"{error.type_name}: {error.text}" if error.type_name else error.text
            name = Path(path).stem if Path(path).stem in context.course.lessons else lesson.name
            raise SubmissionError(what, where=at(Path(path), line), next_step=f"learn check {name}") from None


def _write_weights(context: CourseContext, lesson: Lesson, tensors: dict[str, Any]) -> str:
    """Write the weights of a model beside the learner's file, where `learn check` finds them. Raises UsageError."""
    from safetensors.torch import save

    path = artefact_path(context.require_workspace().exercise_path(lesson))
    with explain_unwritable("the weights", path, f"learn build {lesson.name}"), replacing(path) as temporary:
        temporary.write_bytes(save(tensors))
    return short_path(path)
