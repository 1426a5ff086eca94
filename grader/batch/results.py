"""The results of a run: kept in a store as each submission is done; every file beside the store is made from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.batch.make_record import GradedHandIn, make_previous
from grader.batch.outputs import Outputs, parse_record
from grader.batch.results_folder import explained, now, opened_folder, put_aside, store_path
from grader.batch.settings import key_of
from grader.batch.shards import FOLDER
from grader.errors import UsageError
from grader.intake.learner import Learner
from grader.model import SCHEMA, Course
from grader.record import Previous, Record
from grader.store.class_store import CHANGED, ClassStore, Result, State


def read_settings(path: Path) -> dict[str, Any] | None:
    """The settings of the last run that wrote the store at `path`; None where there is none."""
    if not path.is_file():
        return None
    store = ClassStore(path)
    try:
        settings: dict[str, Any] | None = store.facts().get("settings")
    finally:
        store.close()
    return settings


def read_results(out: Path) -> tuple[dict[str, Any], Iterator[Record]]:
    """The head and the records of a run, finished, killed or still going on. The records are read one at a time.

    Raises UsageError where there are none, StoreError where they cannot be read.
    """
    store = ClassStore.existing(_whole(out))
    return head_of(store), _read(store)


def open_results(out: Path, *, reveal: bool) -> Results:
    """The results of a run, to write their files anew. Raises as `read_results`, and where a run is going on."""
    store = ClassStore.existing(_whole(out))
    try:
        settings = facts_of(store)["settings"]
    finally:
        store.close()
    return Results(store.path, settings, Outputs(out, reveal=reveal), go_on=True)


def _whole(out: Path) -> Path:
    """The store of a whole class. Raises UsageError where there are parts of one only."""
    path = store_path(out)
    if not path.is_file() and any((out / FOLDER).glob("*.sqlite")):
        what = "there are only parts of a class here, which have not been joined"
        raise UsageError(what, where=str(out), next_step=f"grader merge {out} --out {out}")
    return path


def _read(store: ClassStore) -> Iterator[Record]:
    try:
        yield from map(parse_record, store.records())
    finally:
        store.close()


def facts_of(store: ClassStore) -> dict[str, Any]:
    """What a run has said of itself. Raises UsageError where it was killed before it could."""
    facts = store.facts()
    if "settings" not in facts:
        raise UsageError("the run here ended before it began", where=str(store.path), next_step="repeat it")
    return facts


def head_of(store: ClassStore) -> dict[str, Any]:
    """All of results.json but its submissions. Raises as `facts_of`."""
    facts = facts_of(store)
    settings, found = facts["settings"], facts["found"]
    unfinished = _unfinished(facts["expected"], store.states())
    return {
        "schema": SCHEMA,
        "course": {**settings["course"], "title": facts["titles"]["course"]},
        "engine": settings["engine"],
        "lessons": settings["lessons"],
        "titles": facts["titles"]["lessons"],
        "seed": settings["seed"],
        "device": settings["device"],
        "isolation": facts.get("isolation") or [],
        "complete": not unfinished,
        "unfinished": unfinished,
        "ignored": found["ignored"],
        "missing": found["missing"],
        "unlisted": found["unlisted"],
        "started": facts["started"],
        "finished": facts.get("finished"),
        "similar": facts.get("similar") or [],
    }


def _unfinished(expected: Collection[str], states: Mapping[str, State]) -> int:
    """How many have no result that counts, or wait for a new one."""
    done = {name for name, state in states.items() if state.listed and not state.again}
    return len(set(expected) - done)


class Results:
    """The results folder of one run. Only one run at a time can have it."""

    def __init__(
        self,
        path: Path,
        settings: Mapping[str, Any],
        outputs: Outputs | None,
        *,
        go_on: bool,
        ready: Callable[[], None] = lambda: None,
    ) -> None:
        """Open the store at `path`, made if need be. With `go_on`, what is there is kept; else it is put aside, once
        `ready` has come back: what that raises leaves everything as it is.

        `settings` are the header of this run's; `outputs` write the files beside the store, if there are to be any.
        Raises UsageError, StoreError.
        """
        self.path, self.out, self.settings, self.outputs = path, path.parent, dict(settings), outputs
        self.key = key_of(self.settings)
        self.put_aside: Path | None = None  # where the results are that this run does not go on with
        with explained(self.out):
            opened = opened_folder(path)
            self._lock = opened.lock
        try:
            if not go_on:
                ready()
                self.put_aside = put_aside(path)
            self.store = ClassStore(path)
            self.states: dict[str, State] = self.store.states()
            self.facts: dict[str, Any] = self.store.facts()
            self._head: dict[str, Any] = {}  # what learners' files are written with
        except BaseException:
            opened.give_back()
            raise

    def begin(
        self,
        titles: Mapping[str, Any],
        expected: Collection[str],
        found: Mapping[str, Any],
        *,
        parts: Sequence[Sequence[int]] = (),
        started: str = "",
    ) -> None:
        """Keep what this run is about. `expected`: the ids of all hand-ins of the class, graded here or not.
        `parts`: which parts of a class are here, as (number, of how many); empty where it was never divided."""
        said = {
            "settings": self.settings, "titles": titles, "expected": list(expected), "found": found,
            "parts": parts, "started": self.facts.get("started") or started or now(),
        }  # fmt: skip
        facts = json.loads(json.dumps(said))
        if any(self.facts.get(name) != value for name, value in facts.items()):
            self._state(**facts, **{CHANGED: True})
        self._head = head_of(self.store)

    def is_done(self, hand_in: str, digest: str) -> bool:
        """Whether just this content was graded with just these settings, and nobody asked for it again."""
        state = self.states.get(hand_in)
        return state is not None and not state.again and (state.digest, state.settings) == (digest, self.key)

    def list_only(self, hand_ins: Collection[str]) -> None:
        """Let the class files hold the results of these and no others, until more are added."""
        self.store.list_only(hand_ins)

    def grade_again(self, hand_ins: Collection[str]) -> None:
        """Note that these are to be graded again: until that is done, --resume does it."""
        self.store.grade_again(hand_ins)
        self.states = self.store.states()

    def add(self, learner: Learner, graded: GradedHandIn) -> Record:
        """Write one result: the learner's files, then the store. What it replaces is kept. Gives back the record as it
        was written. Raises StoreError."""
        record = replace(graded.record, previous=self._previous(learner.id, graded.record))
        self.note_isolation(graded.isolation)
        digest = "" if record.grader_failed else record.digest
        result = Result(
            learner.id, learner.learner, learner.attempt, learner.feedback, now(), self.key, digest, {}
        )  # fmt: skip
        self.take(result, record, json.dumps(graded.fingerprints))
        return record

    def take(self, result: Result, record: Record, fingerprints: str) -> None:
        """Write a result as it is, whoever made it; its summary and the name of its files are those of the record."""
        result = replace(result, feedback=record.feedback, summary=record.to_summary())
        with explained(self.out):
            if self.outputs:
                self.outputs.write_learner(self._head, record)
            self.store.add(result, json.dumps(record.to_json(), allow_nan=False), fingerprints)

    def _previous(self, hand_in: str, new: Record) -> Previous | None:
        """What the same work was given before: not what other work of the same learner was."""
        before = self.states.get(hand_in)
        if before is None:
            return None
        old = parse_record(self.store.record(hand_in))
        digests = {old.digest, new.digest} - {""}  # it is empty where the grader itself failed
        return make_previous(old, before.at) if before.again or len(digests) < 2 else None

    def note_isolation(self, layers: tuple[str, ...] | None) -> None:
        """Keep the layers of protection that were in force for everybody."""
        if layers is None:
            return
        before = self.facts.get("isolation")
        common = [layer for layer in layers if before is None or layer in before]
        if common != before:
            self._state(isolation=common)
            self._head["isolation"] = common

    def finish(self, course: Course | None = None) -> None:
        """Write the class's files, unless they are of just these results already. With `course`, who is like whom is
        found out first. Raises StoreError."""
        if self.outputs is None:
            return
        facts = self.store.facts()
        reveal_changed = facts.get("reveal", self.outputs.reveal) != self.outputs.reveal
        if not (facts[CHANGED] or reveal_changed) and self.outputs.are_there():
            return
        if reveal_changed:
            self.write_learners()
        else:
            self._write_lacking()
        if course is not None:
            self._state(similar=self._compared(course))
        self._state(finished=now(), reveal=self.outputs.reveal)
        self.write_class()

    def _compared(self, course: Course) -> list[dict[str, Any]]:
        """The pairs of hand-ins that are alike."""
        from grader.similarity import find_similar  # numpy: nothing else of a run needs it

        def items() -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
            for result in self.store.results():
                prints = json.loads(self.store.fingerprint(result.id))
                yield result.id, result.learner, json.loads(self.store.record(result.id)), prints

        return find_similar(course, items())

    def unfinished(self) -> tuple[int, int]:
        """How many hand-ins are not graded yet, and how many there are."""
        expected = facts_of(self.store)["expected"]
        return _unfinished(expected, self.store.states()), len(set(expected))

    def write_learners(self) -> None:
        """Write every learner's files anew."""
        assert self.outputs is not None
        head = head_of(self.store)
        with explained(self.out):
            for record in self.store.records():
                self.outputs.write_learner(head, parse_record(record))
            self._state(reveal=self.outputs.reveal)

    def _write_lacking(self) -> None:
        """Write the files of learners who are listed again after their files were taken away."""
        assert self.outputs is not None
        head: dict[str, Any] = {}
        with explained(self.out):
            for name, state in self.store.states().items():
                if state.listed and not self.outputs.has_learner(state.feedback):
                    head = head or head_of(self.store)
                    self.outputs.write_learner(head, parse_record(self.store.record(name)))

    def write_class(self) -> None:
        """Write the class's files anew, and take away those of learners who are not in the results any more."""
        assert self.outputs is not None
        states = self.store.states().values()
        listed = {state.feedback.casefold() for state in states if state.listed}
        with explained(self.out):
            for state in states:
                if state.feedback.casefold() not in listed:
                    self.outputs.remove_learner(state.feedback)
            self.outputs.write_class(head_of(self.store), self.store.records)
            self._state(**{CHANGED: False})

    def _state(self, **facts: Any) -> None:
        self.store.state(**facts)
        self.facts |= facts

    def close(self) -> None:
        """Let another run have the folder."""
        self.store.close()
        self._lock.close()
