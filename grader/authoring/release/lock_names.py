"""Lock the names of a lesson's known mistakes with what these answer to the public checks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence

from grader.files import read_file
from grader.judge.course_answers import load_mistake_sets
from grader.judge.course_files import load_file
from grader.judge.diagnosis.ask_again import ask_again
from grader.judge.errors import LearnerError
from grader.judge.mistakes.locked_names import SECRET_BYTES, LockedNames, Sketch, sketch
from grader.judge.mistakes.mistake_set import Mistake, MistakeSet
from grader.judge.processes.remote_module import LocalModule
from grader.judge.transcript.transcript import Transcript
from grader.model import Course, Lesson, Named

Transcripts = Mapping[tuple[str, int], Transcript]  # by the name of a check, and a seed
Asked = dict[str, Transcript]  # by the name of a check
Answers = dict[str, Sketch]  # as above


def lock_names(
    course: Course, lesson: Lesson, functions: Mapping[str, str], transcripts: Transcripts, seeds: Sequence[int]
) -> LockedNames:
    """Return the locked names of a lesson; *functions* says for each public check which function it is about.

    Locked is the name of a mistake that answers otherwise than the reference does and than every other, and the same
    each time. A check to which even the reference answers otherwise each time, as where it draws weights, is no probe.
    """
    locked = LockedNames(hashlib.sha256(f"{course.id} {course.version} {lesson.name}".encode()).hexdigest()[:16])
    hidden = hashlib.sha256(read_file(lesson.mistakes_path).encode() if lesson.mistakes_path.is_file() else b"")
    places: dict[Named, int] = {}
    for known in load_mistake_sets(lesson):
        versions = _Versions(lesson, known)
        mine = [check for check, function in functions.items() if function == known.function]
        versions.keep_steady({check: transcripts[check, seeds[0]] for check in mine})
        for seed in seeds:
            for mistake, answers in versions.telling({check: transcripts[check, seed] for check in versions.probes}):
                named = Named(mistake.id, known.function, mistake.says, mistake.suggests)
                secret = hashlib.sha256(hidden.digest() + repr(named).encode()).digest()[:SECRET_BYTES]
                if named not in places:
                    places[named] = len(places)
                    locked.add_text(named, secret)
                locked.add(known.function, seed, answers, places[named], secret)
    return locked


class _Versions:
    """The wrong versions of one function, and the checks that probe them."""

    def __init__(self, lesson: Lesson, known: MistakeSet) -> None:
        self._lesson, self._known = lesson, known
        self._base = dict(vars(load_file(lesson.solution_path)))
        self._mistakes: list[Mistake] = []
        self.probes: list[str] = []

    def keep_steady(self, asked: Asked) -> None:
        """Keep the checks that the reference answers the same each time, and the mistakes that do so, too."""
        first, second = self._answer(asked), self._answer(asked)
        self.probes = [check for check in asked if not first[check].is_far_from(second[check])]
        asked = {check: asked[check] for check in self.probes}
        answers = [(mistake, self._try(asked, mistake)) for mistake in self._known.mistakes if asked]
        wrong = [(mistake, its) for mistake, its in answers if its and _differ(its, first)]
        self._mistakes = [mistake for mistake, its in wrong if not _differ(its, self._answer(asked, mistake))]

    def telling(self, asked: Asked) -> Iterator[tuple[Mistake, Answers]]:
        """Yield the mistakes that their answers tell from the reference and from all others, with these."""
        right = self._answer(asked)
        answers = [(mistake, self._try(asked, mistake)) for mistake in self._mistakes]
        found = [(mistake, its) for mistake, its in answers if its and _differ(its, right)]
        for mistake, its in found:
            if all(_differ(its, others) for other, others in found if other.id != mistake.id):
                yield mistake, its

    def _try(self, asked: Asked, mistake: Mistake) -> Answers:
        """Return what a mistake answers; nothing if it would end its process."""
        try:
            return self._answer(asked, mistake)
        except LearnerError:
            return {}

    def _answer(self, asked: Asked, mistake: Mistake | None = None) -> Answers:
        """Return what a mistake answers, or the reference."""
        changed = {self._known.function: self._known.build(mistake.changes, mistake.version)} if mistake else {}
        subject = LocalModule({**self._base, **changed}, self._lesson.kinds)
        found = {}
        for check, transcript in asked.items():
            found[check] = sketch(ask_again(subject, transcript.submission, lambda value: value))
            subject.release()
        return found


def _differ(some: Answers, others: Answers) -> bool:
    """Return True if answers to the same probes are surely not the same."""
    return any(some[probe].is_far_from(others[probe]) for probe in some.keys() & others.keys())
