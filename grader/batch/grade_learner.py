"""Grade one learner: find the lessons in what they handed in, judge each, make the record."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from grader.batch.make_record import MAX_KEPT_CHARS, GradedHandIn, better_result, make_record, make_ungraded
from grader.batch.read_sources import read_sources, write_sources
from grader.batch.settings import Settings
from grader.course.course_files import Unchanged
from grader.errors import SubmissionError
from grader.intake.hand_in import HandIn, read_hand_in
from grader.intake.learner import Learner, join_some, printable
from grader.intake.limits import is_artefact
from grader.intake.match_lessons import MAX_NAMES_SHOWN, Match, find_artefact, match_attempts
from grader.intake.notebook.join_cells import without_frame
from grader.judge.examination import Judge
from grader.judge.verdict.feedback import score_of
from grader.model import Lesson, LessonResult, Named, Submission, Suggestion
from grader.model.picture import Picture, pack_pictures
from grader.record import HandedIn
from grader.similarity import fingerprint
from grader.submission import ARTEFACT_SUFFIX, artefact_path, read_submission

NO_TIME = "Earlier attempts were not judged: the newer ones took all the time of a lesson."
MAX_KEPT_OF_ALL = 1 << 19  # of all lessons together: in JSON one character may take twelve bytes


# what is to be judged of a lesson, or its result; and the folder of the attempt it is of, None if there is nothing
Found = tuple[Submission | LessonResult, str | None]


class LearnerGrader:
    """Grades learner after learner with one judge, which keeps what it has computed for the course.

    `folder` is an empty folder; each learner's files are removed from it again. `on_step` is called with each
    lesson that is going to be judged.
    """

    def __init__(self, judge: Judge, settings: Settings, folder: Path, on_step: Callable[[str], None]) -> None:
        self.judge, self.settings, self.folder, self.on_step = judge, settings, folder, on_step
        judge.next_lessons = settings.lessons
        self.course = Unchanged(judge.course, settings.files)
        self.lessons = [judge.course.lessons[name] for name in settings.lessons]

    def grade(self, learner: Learner, hand_in: HandIn | None = None) -> GradedHandIn:
        """Return the learner's record; *hand_in* is what they handed in, if it was read already.

        Never raises because of what was handed in; SelfattendError if the grader fails.
        """
        hand_in = hand_in or read_hand_in(learner)
        digest = learner.mark(hand_in.digest)
        found: list[Found] = []
        prints: dict[str, Any] = {}
        if not hand_in.problem:
            with TemporaryDirectory(dir=self.folder) as root, hand_in.takes_the_blame(learner.source):
                found, prints = self._find_lessons(learner, hand_in, Path(root))
        if found:
            results, folders = self._judge(found, prints)
            self.course.require()
        else:
            results, folders = [make_ungraded(lesson.name, "missing", self.settings) for lesson in self.lessons], {}
        newest, times = _times_of(learner, hand_in, folders)
        record = make_record(
            learner, results, digest=digest, notes=hand_in.notes, problem=hand_in.problem, newest=newest, times=times
        )
        return GradedHandIn(record, prints, self.judge.launcher.layers if found else None)

    def _find_lessons(self, learner: Learner, hand_in: HandIn, root: Path) -> tuple[list[Found], dict[str, Any]]:
        """Return what is to be judged of each lesson, and the fingerprints; nothing if it cannot be read."""
        names = {function.name for lesson in self.lessons for function in lesson.functions}
        read = read_sources(hand_in, learner, names)
        sources = read.texts
        if hand_in.problem:
            return [], {}
        folders = [earlier.folder for earlier in learner.earlier]
        best = learner.several == "best"
        weights = {path: content for path, content in hand_in.files.items() if is_artefact(path)}
        matches = match_attempts(self.judge.course, self.lessons, sources, folders, best=best, weights=weights)
        if not any(found[0].path for found in matches.values()):
            undecided = " ".join(found[0].note for found in matches.values() if found[0].note)
            hand_in.problem = undecided or _none_found(sources)
        prints = {
            lesson.name: fingerprint(lesson, _written_by_hand(path, sources[path]))
            | {"source": _keep_source(sources[path], len(self.lessons))}
            for lesson in self.lessons
            if (path := matches[lesson.name][0].path)
        }
        write_sources(root, read.contents, hand_in)
        labels = _PathLabels(root, learner)
        found: list[Found] = []
        for lesson in self.lessons:
            for one in matches[lesson.name]:
                if lesson.kind == "capstone" and one.path:
                    self._write_artefact(root, lesson, one, folders, hand_in)
                found.append((self._read_lesson(lesson, one, root, labels), one.newest if one.path else None))
        return found, prints

    def _write_artefact(
        self, root: Path, lesson: Lesson, match: Match, earlier: Sequence[str], hand_in: HandIn
    ) -> None:
        """Write the weights of a lesson beside its file, where `read_submission` finds them; note which they are."""
        path, folder = find_artefact(lesson, match, hand_in.files, earlier)
        beside = artefact_path(root / match.path)
        if path:
            beside.write_bytes(hand_in.files[path])
            of = "" if folder == match.folder else f" of {folder[:-1] or 'the newest attempt'}"
            name = PurePosixPath(path).name
            which = "" if name.casefold() == beside.name.casefold() else f" {name}"
            if which or of:
                hand_in.note(f"{lesson.name}: its weights are{which}{of}.")
            return
        with suppress(OSError, ValueError):
            beside.unlink()  # with which it was judged before
        known = self.judge.course.lessons
        others = [one for one in hand_in.files if is_artefact(one) and PurePosixPath(one).stem not in known]
        if others:
            shown, called = join_some(others, MAX_NAMES_SHOWN), f"{lesson.name}{ARTEFACT_SUFFIX}"
            hand_in.note(f"{lesson.name}: its weights are to be called {called}; not taken for them: {shown}.")

    def _judge(self, attempts: Sequence[Found], prints: dict[str, Any]) -> tuple[list[LessonResult], dict[str, str]]:
        """Return the result of each lesson, in their order, and the folder of the attempt that it is of.

        Of several attempts at one lesson the best counts. Pictures are put beside the source in *prints*, which is the
        first attempt's, if that counts.
        """
        found, lessons = [one for one, _ in attempts], self.judge.course.lessons
        folders = {one.lesson: folder for one, folder in reversed(attempts) if isinstance(one, LessonResult)}
        shown = {one.lesson: one for one in reversed(found)} if self.settings.pictures else {}
        drawn: dict[str, tuple[LessonResult, list[Picture]]] = {}
        results = {one.lesson: one if isinstance(one, LessonResult) else None for one in found}
        submissions = [(one, folder) for one, folder in attempts if isinstance(one, Submission)]
        # those that can share a process come first, and of these the ones that are watched: see `Workers.take`
        alone = {one.lesson for one, _ in submissions if self.judge.workers.needs_its_own(one)}
        order = {name: (name in alone, not lessons[name].forbids) for name in results}
        submissions.sort(key=lambda each: order[each[0].lesson])  # a lesson's newest attempt stays its first
        spent: dict[str, float] = defaultdict(float)  # seconds of judging, by lesson
        left_out: set[str] = set()  # lessons of which not every attempt was judged
        with self.judge.workers.one_learner():
            for one, folder in submissions:
                if spent[one.lesson] > self.judge.course.limits.total_seconds:
                    left_out.add(one.lesson)
                    continue
                started = time.monotonic()
                self.on_step(one.lesson)
                pictures: list[Picture] | None = [] if shown.get(one.lesson) is one else None
                lesson = lessons[one.lesson]
                result = self.judge.examine(lesson, one, self.settings.seed, pictures=pictures)
                known = results[one.lesson]
                results[one.lesson] = better_result(known, result) if known else result  # of equal ones the earlier
                if results[one.lesson] is result:
                    folders[one.lesson] = folder
                spent[one.lesson] += time.monotonic() - started
                if pictures:
                    drawn[one.lesson] = result, pictures
        for name, (result, pictures) in drawn.items():
            if results[name] is result and name in prints:
                prints[name]["pictures"] = pack_pictures(pictures)
        noted = {name: (NO_TIME,) if name in left_out else () for name in results}
        counting = {name: folder for name, folder in folders.items() if folder is not None}
        return [replace(one, notes=(*one.notes, *noted[name])) for name, one in results.items() if one], counting

    def _read_lesson(self, lesson: Lesson, found: Match, root: Path, labels: _PathLabels) -> Submission | LessonResult:
        """Return what is to be judged, or the result if that is nothing."""
        notes = (printable(found.note),) if found.note else ()
        if not found.path:
            return make_ungraded(lesson.name, "missing", self.settings, notes)
        path = root / found.path
        try:
            submission = read_submission(path, lesson, self.judge.course, root / found.folder)
        except SubmissionError as error:
            return self._unreadable(lesson, labels.replace_in(str(path)), error, notes)
        return labels.relabel(submission, notes)

    def _unreadable(self, lesson: Lesson, path: str, error: SubmissionError, notes: tuple[str, ...]) -> LessonResult:
        """Return the result of a file that is no readable text: no points, as with a syntax error."""
        says = f"Your file cannot be read: {error.what}."
        mend = f"{error.next_step[:1].upper()}{error.next_step[1:]}."
        checks = tuple(check.result(lesson, "skipped", says) for check in self.judge.checks_of(lesson))
        return replace(
            make_ungraded(lesson.name, "would-not-import", self.settings, notes),
            score=score_of(checks),
            checks=checks,
            file=path,
            mistakes=(Named("unreadable-file", "", says, mend),),
            weaknesses=(says,),
            suggestions=(Suggestion(mend, f"learn check {lesson.name}"),),
        )


def _none_found(sources: Collection[str]) -> str:
    """Say that no file is for a lesson, and which there are."""
    more = ", ..." if len(sources) > MAX_NAMES_SHOWN else ""
    shown = printable(", ".join(list(sources)[:MAX_NAMES_SHOWN])) + more
    named = f": {shown}" if shown else ", as none could be read"
    return f"None of its files was found to be for one of these lessons{named}."


def _written_by_hand(path: str, source: str) -> str:
    """Return a source without what all notebooks have in common: it is of ours, and no evidence of a copy."""
    return source if path.lower().endswith(".py") else without_frame(source)


def _keep_source(source: str, lessons: int) -> str:
    """Return what is kept of a lesson's source for pages that show it: any text, of bounded size."""
    return source[: min(MAX_KEPT_CHARS, MAX_KEPT_OF_ALL // lessons)].encode("utf-8", "replace").decode()


def _times_of(learner: Learner, hand_in: HandIn, folders: Mapping[str, str]) -> tuple[HandedIn, dict[str, HandedIn]]:
    """Return when the newest attempt came, and for each lesson the one that its result is of, by *folders*."""
    newest = HandedIn(hand_in.when or learner.when, learner.late)
    attempts = {"": newest} | {one.folder: HandedIn(one.when, one.late) for one in learner.earlier}
    return newest, {name: attempts[folder] for name, folder in folders.items() if folder in attempts}


class _PathLabels:
    """Replaces the temporary paths of a learner's files by those that readers know: `alice/softmax.py`."""

    def __init__(self, root: Path, learner: Learner) -> None:
        self.root = str(root)
        self.label = learner.source if learner.kind in ("folder", "zip", "tar", "git") else ""

    def replace_in(self, text: str) -> str:
        prefix = f"{self.label}/" if self.label else ""
        return printable(text.replace(f"{self.root}/", prefix).replace(self.root, self.label))

    def relabel(self, submission: Submission, notes: tuple[str, ...]) -> Submission:
        siblings = {name: (self.replace_in(path), source) for name, (path, source) in submission.siblings.items()}
        notes = (*notes, *map(self.replace_in, submission.notes))
        return replace(submission, path=self.replace_in(submission.path), siblings=siblings, notes=notes)
