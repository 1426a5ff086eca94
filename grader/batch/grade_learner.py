"""Grade one learner with a judge: find the lessons in what they handed in, judge each, make the record."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from grader.batch.record import Graded, record_of, without_score
from grader.batch.settings import Settings
from grader.errors import SubmissionError
from grader.intake.discover import Learner, printable
from grader.intake.hand_in import HandIn, read_hand_in
from grader.intake.match_lessons import MOST_NAMED, Choice, Chooser
from grader.intake.notebook.read_notebook import NotebookError, to_source
from grader.judge.examination import Judge
from grader.judge.verdict.feedback import score_of
from grader.model import Lesson, LessonResult, Named, Submission, Suggestion
from grader.similarity import fingerprint
from grader.submission import read_submission


class Grading:
    """Grades learner after learner with one judge, so that what the judge has learnt of the course is kept.

    `room` is a folder of its own; nothing stays in it from one learner to the next.
    """

    def __init__(self, judge: Judge, settings: Settings, room: Path) -> None:
        self.judge, self.settings, self.room = judge, settings, room
        judge.going_on = settings.lessons
        self.lessons = [judge.course.lessons[name] for name in settings.lessons]

    def grade(self, learner: Learner, hand_in: HandIn | None = None) -> Graded:
        """The learner's record. `hand_in` is what they handed in, if it was read already. Raises nothing for anything
        that was handed in; SelfattendError if we fail."""
        hand_in = hand_in or read_hand_in(learner)
        digest = hand_in.digest
        sources = _sources(hand_in, learner)
        if hand_in.problem:
            return self._nothing(learner, digest, hand_in)
        chooser = Chooser(self.judge.course, sources, only_lesson=len(self.lessons) == 1)
        choices = {lesson.name: chooser.choose(lesson) for lesson in self.lessons}
        if not any(choice.path for choice in choices.values()):
            shown = printable(", ".join(list(sources)[:MOST_NAMED])) + (", ..." if len(sources) > MOST_NAMED else "")
            hand_in.problem = f"None of its files was found to be for one of these lessons: {shown}."
        results = self._grade_lessons(learner, choices, sources, hand_in)
        record = record_of(learner, results, digest=digest, notes=hand_in.notes, problem=hand_in.problem)
        prints = {
            lesson.name: fingerprint(lesson, sources[choices[lesson.name].path])
            for lesson in self.lessons
            if choices[lesson.name].path
        }
        return Graded(record, prints, self.judge.launcher.layers)

    def _nothing(self, learner: Learner, digest: str, hand_in: HandIn) -> Graded:
        results = [without_score(lesson.name, "missing", self.settings) for lesson in self.lessons]
        return Graded(record_of(learner, results, digest=digest, notes=hand_in.notes, problem=hand_in.problem))

    def _grade_lessons(
        self, learner: Learner, choices: Mapping[str, Choice], sources: Mapping[str, str], hand_in: HandIn
    ) -> list[LessonResult]:
        root = self.room / "hand-in"
        root.mkdir()
        try:
            _lay_out(root, sources, hand_in)
            found = [self._read(lesson, choices[lesson.name], root, learner) for lesson in self.lessons]
        finally:
            shutil.rmtree(root, ignore_errors=True)
        results = {one.lesson: one if isinstance(one, LessonResult) else None for one in found}
        submissions = [one for one in found if isinstance(one, Submission)]
        # first those that another may follow in the same process: each of the rest costs one
        submissions.sort(key=self.judge.workers.needs_its_own)
        with self.judge.workers.one_learner():
            for one in submissions:
                results[one.lesson] = self.judge.examine(self.judge.course.lessons[one.lesson], one, self.settings.seed)
        return [result for result in results.values() if result]

    def _read(self, lesson: Lesson, choice: Choice, root: Path, learner: Learner) -> Submission | LessonResult:
        """What is to be judged; or the result, where there is nothing."""
        notes = tuple(map(printable, choice.notes))
        if not choice.path:
            return without_score(lesson.name, "missing", self.settings, notes)
        place = _Place(root, learner)
        try:
            submission = read_submission(root / choice.path, lesson, self.judge.course, root)
        except SubmissionError as error:
            return self._unreadable(lesson, place.shown(str(root / choice.path)), error, notes)
        return place.relabelled(submission, notes)

    def _unreadable(self, lesson: Lesson, path: str, error: SubmissionError, notes: tuple[str, ...]) -> LessonResult:
        """A file that is there and is no text that Python could read: nothing is earned, as with a syntax error."""
        says = f"Your file cannot be read: {error.what}."
        mend = f"{error.next_step[:1].upper()}{error.next_step[1:]}."
        checks = tuple(
            replace(check.result(lesson.name, "skipped", says, function=lesson.functions[0].name), gist=says)
            for check in self.judge.bench.checks.get(lesson.checks_path, [])
        )
        unread = without_score(lesson.name, "would-not-import", self.settings, notes)
        return replace(
            unread, score=score_of(checks), checks=checks, file=path,
            mistakes=(Named("unreadable-file", "", says, mend),), weaknesses=(says,),
            suggestions=(Suggestion(mend, f"learn check {lesson.name}"),),
        )  # fmt: skip


def _sources(hand_in: HandIn, learner: Learner) -> dict[str, str]:
    """Every file as Python text, to be looked at; notebooks that cannot be read become notes, or the problem."""
    sources = {}
    for path, content in hand_in.files.items():
        if path.lower().endswith(".py"):
            sources[path] = content.decode("utf-8", "replace")
            continue
        try:
            sources[path] = to_source(content, hand_in.note_of(path))
        except NotebookError as error:
            if learner.kind == "notebook":
                hand_in.problem = str(error)
            hand_in.note(f"{path}: {error}")
    return sources


def _lay_out(root: Path, sources: Mapping[str, str], hand_in: HandIn) -> None:
    """Write the files where `read_submission` finds them and what they import; a notebook is its Python already."""
    for path, text in sources.items():
        target = root / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            # a Python file as it is: which encoding it has is for `read_submission` to find out
            is_python = path.lower().endswith(".py")
            target.write_bytes(hand_in.files[path] if is_python else text.encode("utf-8", "replace"))
        except (OSError, ValueError) as error:
            hand_in.note(f"{path} was left out: {getattr(error, 'strerror', None) or error}.")


class _Place:
    """Turns the temporary place of a learner's files into what the reader of the results knows: `alice/softmax.py`."""

    def __init__(self, root: Path, learner: Learner) -> None:
        self.root = f"{root}/"
        self.prefix = f"{learner.source}/" if learner.kind in ("folder", "zip", "tar", "git") else ""

    def shown(self, text: str) -> str:
        return printable(text.replace(self.root, self.prefix).replace(self.root.rstrip("/"), self.prefix.rstrip("/")))

    def relabelled(self, submission: Submission, notes: tuple[str, ...]) -> Submission:
        siblings = {name: (self.shown(path), source) for name, (path, source) in submission.siblings.items()}
        said = (*notes, *map(self.shown, submission.notes))
        return replace(submission, path=self.shown(submission.path), siblings=siblings, notes=said)
