"""Show the results of `learn check`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import click

from grader.cli.check.notebook_file import SUFFIX
from grader.cli.context import CourseContext
from grader.cli.learn.next_step import give_up, is_gone, last_model, show_worth, step_at_end, step_without_hints
from grader.course.learner_copy import passed_words
from grader.course.questions import has_questions
from grader.files import is_file, resolved
from grader.model import FULL_WAY, Lesson, LessonProgress, LessonResult, Submission, Suggestion
from grader.terminal.console import free_rows, make_layout, put, warn, wrap
from grader.terminal.text import capitalize, command_line, plural

RESET = "learn reset"


@dataclass
class CheckRun:
    """One run of the command: its options, what is checked, and the results."""

    context: CourseContext
    progress: dict[str, LessonProgress]
    device: str
    seed: int
    as_json: bool
    verbose: bool
    debug: bool = False
    jobs: list[tuple[Lesson, Submission, int]] = field(default_factory=list)
    results: list[LessonResult] = field(default_factory=list)
    elsewhere: dict[str, Path] = field(default_factory=dict)  # by lesson: no file of the workspace's
    notebooks: dict[str, str] = field(default_factory=dict)  # those beside the exercises, as files: they are kept, too
    troubles: list[str] = field(default_factory=list)  # why a result could not be stored
    says: list[str] = field(default_factory=list)  # what else was done

    def is_kept(self, lesson: str) -> bool:
        """Return True where what was checked is the learner's own work on the lesson in the workspace."""
        return lesson not in self.elsewhere or lesson in self.notebooks


def _suggest_next_lesson(run: CheckRun, result: LessonResult) -> LessonResult:
    """Suggest the first unsolved lesson after a result that passed, and questions on the one just solved.

    The judge does not know the learner's progress: it suggests the next lesson of the syllabus, whatever the way.
    """
    if run.context.workspace is None or not result.passed or not run.is_kept(result.lesson):
        return result
    solved = {name for name, known in run.progress.items() if known.solved}
    solved |= {other.lesson for other in run.results if other.passed}
    along = [lesson.name for lesson in run.context.course.lessons_along(run.context.way) if lesson.name not in solved]
    if step := step_at_end(run.context, along):
        first = Suggestion(f"{capitalize(step[0])}.", step[1])
    else:
        first = Suggestion(f"Go on with {along[0]}.", f"learn read {along[0]}")
    asked = Suggestion("Questions on this lesson (2 min).", f"learn quiz {result.lesson}")
    lesson, is_new = run.context.course.lessons[result.lesson], not run.progress[result.lesson].solved
    more = [asked] if is_new and has_questions(lesson) else []
    way = run.context.way
    is_at_end = is_new and lesson.name in way.lessons and is_gone(way, solved)
    model = last_model(run.context.course, way) if is_at_end else ""
    if model:
        more.insert(0, first)
        first = Suggestion(f"You have gone {way.title}: let your model write.", f"learn build {model}")
    if is_new and is_file(lesson.build_path) and lesson.name != model:
        more.append(Suggestion("See a model of your own lessons train.", f"learn build {result.lesson}"))
    return replace(result, suggestions=(first, *more, *result.suggestions[1:]))


def _fit_suggestion(run: CheckRun, lesson: Lesson, suggestion: Suggestion, state: str) -> Suggestion:
    """Name the file that was checked in the command, and say which hint comes next, or what is left after the last."""
    words = suggestion.command.split()
    file = run.elsewhere.get(lesson.name)
    if file and words[:3] == ["learn", "check", lesson.name]:
        if words[3:] == [] and _can_trace(lesson, file, state):
            words[1] = "trace"
        words[3:3] = [command_line("--file", str(file))]
        return Suggestion(suggestion.says.replace(f"{lesson.track}/{lesson.name}.py", str(file)), " ".join(words))
    known = run.progress[lesson.name]
    if words[:2] == ["learn", "hint"] and (step := step_without_hints(lesson, known)):
        if is_file(lesson.solution_path) and not known.solved:
            return Suggestion("No hint is left: see the reference, if you give up.", give_up(lesson))
        return Suggestion(f"{capitalize(step[0])}.", step[1])
    if words[:2] == ["learn", "hint"] and known.hints_taken:
        return replace(suggestion, says="Take the next hint.")
    return suggestion


def _can_trace(lesson: Lesson, file: Path, state: str) -> bool:
    """Return True for a notebook whose lines can be shown: work on it goes on by its cells, not by the same check."""
    return file.suffix == SUFFIX and state == "graded" and is_file(lesson.solution_path)


def _without_reset(result: LessonResult, lesson: Lesson) -> LessonResult:
    """Say what to write where the stub was offered: `learn reset` would write another file than the one checked."""
    signatures = {function.name: function.signature for function in lesson.functions}
    told = {
        each.suggests: f"Write `{each.function}{signatures.get(each.function, '')}`, as in the exercise."
        for each in result.mistakes
        if RESET in each.suggests
    }
    return replace(
        result,
        mistakes=tuple(replace(each, suggests=told.get(each.suggests, each.suggests)) for each in result.mistakes),
        suggestions=tuple(replace(each, says=told.get(each.says, each.says)) for each in result.suggestions),
    )


def fit_suggestions(run: CheckRun, result: LessonResult) -> LessonResult:
    lesson = run.context.course.lessons[result.lesson]
    result = _suggest_next_lesson(run, result)
    result = _without_reset(result, lesson) if lesson.name in run.elsewhere else result
    useful = [each for each in result.suggestions if not (run.debug and each.command.endswith(" --pdb"))]
    fitted = [_fit_suggestion(run, lesson, each, result.state) for each in useful]
    return replace(result, suggestions=tuple(sorted(fitted, key=lambda each: each.command == give_up(lesson))))


def show_results(run: CheckRun, several: bool) -> None:
    """Print the results, as text or JSON, and what went wrong when they were stored."""
    run.results = [fit_suggestions(run, result) for result in run.results]
    if run.as_json:
        from grader.reports.formats.to_json import lessons_to_json, to_json

        click.echo(lessons_to_json(run.results) if several else to_json(run.results[0]))
    elif several:
        _show_summary(run)
    else:
        _show_result(run, run.results[0])
    for trouble in run.troubles:
        warn(trouble)


def _show_summary(run: CheckRun) -> None:
    from grader.reports.formats.to_terminal import assessment, summary

    look = make_layout(run.verbose)
    if run.verbose:
        for result in run.results:
            title = run.context.course.lessons[result.lesson].title
            click.echo(assessment(result, look, title=title), color=True)
    click.echo(summary(run.results, look), nl=False, color=True)
    put()
    solved = sum(result.passed for result in run.results)
    what = " the public checks" if any(result.public for result in run.results) else ""
    put(f"{solved} of {len(run.results)} lessons passed{what}. Seed {run.seed}.")
    show_worth(run.context.course)


def _show_result(run: CheckRun, result: LessonResult) -> None:
    from grader.reports.formats.to_terminal import MAX_LINES, assessment

    lesson = run.context.course.lessons[result.lesson]
    known = run.progress[lesson.name]
    before = known.last_score if run.is_kept(lesson.name) else None
    more = "-v" if lesson.name in run.elsewhere else f"learn check {lesson.name} -v"
    look, rows = make_layout(run.verbose, more), free_rows(least=MAX_LINES)
    click.echo(assessment(result, look, title=lesson.title, before=before, rows=rows), nl=False, color=True)
    if run.context.workspace is None:
        return
    if not run.is_kept(lesson.name):
        put()
        put(wrap(_tell_not_kept(run, lesson)))
    elif result.passed and not known.solved:
        put()
        put(wrap(f"{capitalize(passed_words(run.context.course, lesson.name))}: {_count_solved(run, lesson.name)}."))
    for says in run.says:
        put()
        put(wrap(says))


def _tell_not_kept(run: CheckRun, lesson: Lesson) -> str:
    """Say why a result is not kept; of a notebook in the workspace that is not the lesson's own also how it is."""
    file, root = run.elsewhere[lesson.name], run.context.require_workspace().root
    own = f"{lesson.track}/{lesson.name}.py"
    says = f"This is not kept: your own work on the lesson is {own} in the workspace."
    if file.suffix != SUFFIX or not resolved(file).is_relative_to(resolved(root)):
        return says
    return (
        f"{says} To have it kept, run it in the notebook: after `%load_ext grader.notebook`, the cell of your function "
        f"with `%%check {lesson.name}` as its first line. What passes there is written into {own} as well, if that is "
        "still the empty exercise."
    )


def _count_solved(run: CheckRun, new: str) -> str:
    """Count the lessons that are solved with a new one: of the learner's way, or of all where it is not on that."""
    way = run.context.way
    is_beside = new not in way.lessons
    names = tuple(run.progress) if is_beside else way.lessons
    solved = sum(name == new or run.progress[name].solved for name in names)
    of_way = "" if is_beside or way.name == FULL_WAY else f" on {way.title}"
    return f"{solved} of {plural(len(names), 'lesson')}{of_way}"
