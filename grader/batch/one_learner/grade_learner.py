"""Grade one learner: find the lessons in what they handed in, judge each, make the record."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from grader.batch.make_record import GradedHandIn, Judged, better_result, make_record, make_ungraded
from grader.batch.one_learner.keep_code import find_linked, keep_code
from grader.batch.one_learner.other_attempts import OtherAttempts, called
from grader.batch.one_learner.read_sources import read_failed_submission, read_sources, read_without_runs
from grader.batch.settings import LOOKING, Settings
from grader.course import aliases
from grader.course.course_files import Unchanged
from grader.errors import SubmissionError
from grader.intake.explain_unreadable import explain_unread, explain_unused
from grader.intake.hand_in import HandIn, read_hand_in
from grader.intake.learner import Learner, join_some, printable
from grader.intake.limits import is_artefact
from grader.intake.match_lessons import MAX_NAMES_SHOWN, Match, find_artefact, match_attempts
from grader.judge.examination import Judge
from grader.judge.processes.isolation_policy import shown_packages
from grader.judge.verdict.feedback import score_of
from grader.model import Lesson, LessonResult, Named, Submission, Suggestion
from grader.model.picture import Picture
from grader.record import HandedIn
from grader.similarity import has_code
from grader.submission import ARTEFACT_SUFFIX, artefact_path

FAILED = "The grader itself failed on this lesson, and its author is not to blame."
NO_TIME = "Earlier attempts were not judged: the newer ones took all the time of a lesson."


class Attempt(NamedTuple):
    """Where a lesson was found in one attempt, and what is to be judged, or the result if that is nothing.

    `own` is what the learner wrote of that: the file's text by "", and of those that it imports by their module.
    """

    match: Match
    found: Submission | LessonResult
    own: Mapping[str, str] = {}


class Counting(NamedTuple):
    """The attempt at a lesson that counts, its result, and the pictures of what it answers."""

    attempt: Attempt
    result: LessonResult
    pictures: Sequence[Picture] = ()


class LearnerGrader:
    """Grades learner after learner with one judge, which keeps what it has computed for the course.

    `on_step` is called with each lesson that is going to be judged, and with LOOKING before it where its score is
    known; then also with the file and its result, as when that is complete.
    """

    def __init__(self, judge: Judge, settings: Settings, on_step: Callable[[str, Judged | None], None]) -> None:
        self.judge, self.settings, self.on_step = judge, settings, on_step
        self.judged: Mapping[tuple[str, str], LessonResult] = {}
        judge.next_lessons = settings.lessons
        self.course = Unchanged(judge.course, settings.files)
        self.lessons = [judge.course.lessons[name] for name in settings.lessons]

    def grade(
        self,
        learner: Learner,
        hand_in: HandIn | None = None,
        left_out: str = "",
        judged: Iterable[Judged] = (),
        looks_for_mistakes: bool = True,
    ) -> GradedHandIn:
        """Return the learner's record; *hand_in* is what they handed in, if it was read already.

        Of the lesson *left_out* it says that the grader failed on it; what was *judged* before is not judged again.

        Never raises because of what was handed in; SelfattendError if the grader fails.
        """
        self.judge.looks_for_mistakes = looks_for_mistakes
        self.judged = {(each.result.lesson, each.path): each.result for each in judged}
        hand_in = hand_in or read_hand_in(learner)
        digest = learner.mark(hand_in.digest)
        attempts: list[Attempt] = []
        texts: Mapping[str, str] = {}
        prints: dict[str, Any] = {}
        if not hand_in.problem:
            with hand_in.takes_the_blame(learner.source):
                attempts, texts = self._find_lessons(learner, hand_in)
        if attempts:
            failed = make_ungraded(left_out, "grader-error", self.settings, [FAILED])
            attempts = [one._replace(found=failed) if one.found.lesson == left_out else one for one in attempts]
            counting = self._judge(attempts)
            self.course.require()
            with hand_in.takes_the_blame(learner.source):
                prints = self._keep_code(counting, texts, hand_in)
            results = [one.result for one in counting]
            folders = {one.result.lesson: one.attempt.match.newest for one in counting if one.attempt.match.path}
        else:
            results, folders = [make_ungraded(lesson.name, "missing", self.settings) for lesson in self.lessons], {}
        newest, times = _times_of(learner, hand_in, folders)
        record = make_record(
            learner, results, digest=digest, notes=hand_in.notes, problem=hand_in.problem, newest=newest, times=times
        )
        return GradedHandIn(record, prints, self.judge.launcher.layers if attempts else None)

    def _find_lessons(self, learner: Learner, hand_in: HandIn) -> tuple[list[Attempt], Mapping[str, str]]:
        """Return the attempts at each lesson, and the texts of all files; nothing if it cannot be read."""
        names = {function.name for lesson in self.lessons for function in lesson.functions}
        read = read_sources(hand_in, learner, names, shown_packages(self.judge.course))
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
        judged = {one.path for found in matches.values() for one in found}
        others = OtherAttempts(self.judge.course, sources, read.contents, ["", *folders], judged, best)
        prefix = f"{learner.source}/" if learner.kind in ("folder", "zip", "tar", "git") else ""
        attempts: list[Attempt] = []
        for lesson in self.lessons:
            for one in matches[lesson.name]:
                is_trained = lesson.kind == "capstone" and one.path
                artefact = self._find_artefact(lesson, one, folders, hand_in) if is_trained else None
                attempts.append(self._read_lesson(lesson, one, others, artefact, prefix, sources))
        submissions = [attempt.found for attempt in attempts if isinstance(attempt.found, Submission)]
        imported = {path for each in submissions for path, _ in each.siblings.values()}
        found = {path for path in sources if printable(prefix + path) in imported}
        self._explain_missing(hand_in, sources, matches, found)
        return attempts, sources

    def _find_artefact(self, lesson: Lesson, match: Match, earlier: Sequence[str], hand_in: HandIn) -> bytes | None:
        """Return the weights of a lesson; note which they are."""
        path, folder = find_artefact(lesson, match, hand_in.files, earlier)
        if path:
            of = "" if folder == match.folder else f" of {called(folder)}"
            name = PurePosixPath(path).name
            beside = artefact_path(Path(match.path)).name
            which = "" if name.casefold() == beside.casefold() else f" {name}"
            if which or of:
                hand_in.note(f"{lesson.name}: its weights are{which}{of}.")
            return hand_in.files[path]
        known = self.judge.course.lessons
        others = [one for one in hand_in.files if is_artefact(one) and PurePosixPath(one).stem not in known]
        if others:
            shown, name = join_some(others, MAX_NAMES_SHOWN), f"{lesson.name}{ARTEFACT_SUFFIX}"
            hand_in.note(f"{lesson.name}: its weights are to be called {name}; not taken for them: {shown}.")
        return None

    def _judge(self, attempts: Sequence[Attempt]) -> list[Counting]:
        """Return what counts of each lesson, in their order: of several attempts at one the best."""
        counting: dict[str, Counting] = {}
        to_judge: list[tuple[Attempt, Submission]] = []
        for attempt in attempts:
            if isinstance(attempt.found, Submission):
                to_judge.append((attempt, attempt.found))
            else:
                _count(counting, Counting(attempt, attempt.found))
        # those that can share a process come first, and of these the ones that are watched: see `Workers.take`
        alone = {one.lesson for _, one in to_judge if self.judge.workers.needs_its_own(one)}
        order = {name: (name in alone, not one.forbids) for name, one in self.judge.course.lessons.items()}
        to_judge.sort(key=lambda each: order[each[1].lesson])  # a lesson's newest attempt stays its first
        spent: dict[str, float] = defaultdict(float)  # seconds of judging, by lesson
        left_out: set[str] = set()  # lessons of which not every attempt was judged
        with self.judge.workers.one_learner():
            for attempt, one in to_judge:
                if spent[one.lesson] > self.judge.course.limits.total_seconds:
                    left_out.add(one.lesson)
                    continue
                started = time.monotonic()
                pictures: list[Picture] | None = [] if self.settings.pictures else None
                lesson = self.judge.course.lessons[one.lesson]
                result, judged = self._examine(lesson, attempt, one, pictures)
                _count(counting, Counting(judged, result, pictures or ()))
                spent[one.lesson] += time.monotonic() - started
        names = dict.fromkeys(attempt.found.lesson for attempt in attempts)
        return [_with_note(counting[name], NO_TIME) if name in left_out else counting[name] for name in names]

    def _examine(
        self, lesson: Lesson, attempt: Attempt, one: Submission, pictures: list[Picture] | None
    ) -> tuple[LessonResult, Attempt]:
        """Return the verdict on an attempt's submission, unless there is one, and what was judged; tell it as well."""
        path = attempt.match.path
        if known := self.judged.get((lesson.name, path)):
            return known, attempt
        self.on_step(lesson.name, None)
        self.judge.on_score = lambda result: self.on_step(f"{LOOKING}{lesson.name}", Judged(path, result))
        result, judged = self._examine_anew(lesson, attempt, one, pictures)
        self.on_step(lesson.name, Judged(path, result))
        return result, judged

    def _examine_anew(
        self, lesson: Lesson, attempt: Attempt, one: Submission, pictures: list[Picture] | None
    ) -> tuple[LessonResult, Attempt]:
        """Return the verdict on an attempt's submission, and what was judged: as a notebook if it cannot be loaded."""
        result = self.judge.examine(lesson, one, self.settings.seed, pictures=pictures)
        told = {mistake.id for mistake in result.mistakes}
        if _is_loaded(result) or "forbidden-call" in told:
            return result, attempt
        if result.state == "timed-out":
            read, own = read_without_runs(one, attempt.own)
        else:
            read, own = read_failed_submission(one, attempt.own, {function.name for function in lesson.functions})
        if read.sources == one.sources:
            return result, attempt
        again = self.judge.examine(lesson, read, self.settings.seed, pictures=pictures)
        says_more = _is_loaded(again) and "syntax-error" not in told
        if says_more or better_result(again, result) is again:
            return again, attempt._replace(found=read, own=own)
        return result, attempt

    def _explain_missing(
        self,
        hand_in: HandIn,
        sources: Mapping[str, str],
        matches: Mapping[str, Sequence[Match]],
        imported: Collection[str],
    ) -> None:
        """Note which files may be meant for lessons that have none: what was not read, and what is for no lesson."""
        taken = {one.path for found in matches.values() for one in found if one.path}
        lacking = [lesson for lesson in self.lessons if not any(one.path for one in matches[lesson.name])]
        if unread := explain_unread(hand_in.unread, lacking):
            hand_in.note(unread)
        names = self.judge.course.lessons.keys() | aliases(self.judge.course)
        told = " ".join(one.note for found in matches.values() for one in found)
        if lacking and taken and (unused := explain_unused(sources, taken, imported, names, told)):
            hand_in.note(unused)

    def _keep_code(self, counting: Sequence[Counting], texts: Mapping[str, str], hand_in: HandIn) -> dict[str, Any]:
        """Return by lesson what the attempt that counts is compared by, and what pages show of it."""
        own: dict[str, set[str]] = defaultdict(set)
        for one in counting:
            if path := one.attempt.match.path:
                lesson = self.judge.course.lessons[one.result.lesson]
                own[texts[path]] |= {function.name for function in lesson.functions}
        kept = {}
        for (match, _, files), result, pictures in counting:
            if match.path:
                lesson, text = self.judge.course.lessons[result.lesson], files[""]
                linked = find_linked(lesson, text, {name: each for name, each in files.items() if name}, own)
                kept[lesson.name] = keep_code(lesson, match.path, text, linked, pictures, len(self.lessons))
                if text.strip() and not has_code(kept[lesson.name]):
                    hand_in.note(f"{match.path} was not compared with others': no code can be read in it.")
                for what in kept[lesson.name]["unread"]:
                    hand_in.note(f"{match.path}: {what} was not compared with others'.")
        return kept

    def _read_lesson(
        self,
        lesson: Lesson,
        found: Match,
        others: OtherAttempts,
        artefact: bytes | None,
        prefix: str,
        texts: Mapping[str, str],
    ) -> Attempt:
        """Return the attempt at a lesson that was found, with *prefix* before what readers know as paths.

        *texts* are the learner's own, by path.
        """
        notes = (printable(found.note),) if found.note else ()
        if not found.path:
            return Attempt(found, make_ungraded(lesson.name, "missing", self.settings, notes))
        own = {"": texts[found.path]}
        try:
            submission, found = others.read(lesson, found, artefact)
        except SubmissionError as error:
            return Attempt(found, self._unreadable(lesson, printable(prefix + found.path), error, notes), own)
        own |= {name: texts.get(path, source) for name, (path, source) in submission.siblings.items()}
        siblings = {name: (printable(prefix + path), text) for name, (path, text) in submission.siblings.items()}
        shown = replace(submission, path=printable(prefix + submission.path), siblings=siblings)
        shown = replace(shown, notes=(*notes, *map(printable, submission.notes)))
        return Attempt(found, shown, own)

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


def _is_loaded(result: LessonResult) -> bool:
    return not result.checks or any(check.outcome != "skipped" for check in result.checks)


def _count(counting: dict[str, Counting], one: Counting) -> None:
    """Have a result count unless a better one of its lesson does; of equal ones that of the earlier attempt."""
    known = counting.get(one.result.lesson)
    if known is None or better_result(known.result, one.result) is one.result:
        counting[one.result.lesson] = one


def _with_note(counting: Counting, note: str) -> Counting:
    return counting._replace(result=replace(counting.result, notes=(*counting.result.notes, note)))


def _none_found(sources: Collection[str]) -> str:
    """Say that no file is for a lesson, and which there are."""
    more = ", ..." if len(sources) > MAX_NAMES_SHOWN else ""
    shown = printable(", ".join(list(sources)[:MAX_NAMES_SHOWN])) + more
    named = f": {shown}" if shown else ", as none could be read"
    return f"None of its files was found to be for one of these lessons{named}."


def _times_of(learner: Learner, hand_in: HandIn, folders: Mapping[str, str]) -> tuple[HandedIn, dict[str, HandedIn]]:
    """Return when the newest attempt came, and for each lesson the one that its result is of, by *folders*."""
    newest = HandedIn(hand_in.when or learner.when, learner.late)
    attempts = {"": newest} | {one.folder: HandedIn(one.when, one.late) for one in learner.earlier}
    return newest, {name: attempts[folder] for name, folder in folders.items() if folder in attempts}
