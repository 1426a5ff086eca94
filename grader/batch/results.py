"""The results of a run, stored as each submission is graded; every file beside the store is made from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.batch.compare_class import compare_class
from grader.batch.make_record import GradedHandIn, combine, fit_row, is_of_another, make_previous, with_overrides
from grader.batch.outputs import Outputs, parse_record, read_records
from grader.batch.results_folder import (
    Overrides,
    explain_write_errors,
    move_aside,
    open_folder,
    store_path,
    utc_now,
)
from grader.batch.settings import key_of
from grader.batch.shards import FOLDER
from grader.errors import UsageError
from grader.files import is_file, is_folder
from grader.intake.learner import Learner, content_of
from grader.intake.unique_ids import suggest_ids
from grader.model import SCHEMA, Course
from grader.record import Record
from grader.store.class_store import CHANGED, ClassStore, Owner, Result, State


def read_settings(path: Path) -> dict[str, Any] | None:
    """Return the settings of the last run that wrote the store at *path*; None if there is none."""
    if not is_file(path):
        return None
    with closing(ClassStore(path)) as store:
        settings: dict[str, Any] | None = store.facts().get("settings")
    return settings


def read_results(out: Path) -> tuple[dict[str, Any], Iterator[Record]]:
    """Return the head and the records of a run, finished or not. The records are read one at a time.

    Raises UsageError if there are none, StoreError if they cannot be read.
    """
    store = ClassStore.existing(_class_store(out))

    def records() -> Iterator[Record]:
        with closing(store):
            yield from read_records(store)

    return head_of(store), records()


def open_results(out: Path, **written: bool) -> Results:
    """Open the results of a run to rewrite their files; *written* is for `Outputs`, as the last run's without it.

    Raises as `read_results`, and while a run is going on.
    """
    with closing(ClassStore.existing(_class_store(out))) as store:
        facts = facts_of(store)
    written = written or {"reveal": facts.get("reveal", False)}
    return Results(store.path, facts["settings"], Outputs(out, **written), go_on=True)


def _class_store(out: Path) -> Path:
    """Return the store of a whole class. Raises UsageError if there are only parts."""
    path = store_path(out)
    if not is_file(path) and is_folder(parts := out / FOLDER) and any(parts.glob("*.sqlite")):
        what = "there are only parts of a class here, which have not been joined"
        raise UsageError(what, where=str(out), next_step=f"grader merge {out} --out {out}")
    return path


def facts_of(store: ClassStore) -> dict[str, Any]:
    """Return what a run has stored about itself. Raises UsageError if it was killed before that."""
    facts = store.facts()
    if "settings" not in facts:
        raise UsageError("the run here ended before it began", where=str(store.path), next_step="repeat it")
    return facts


def head_of(store: ClassStore) -> dict[str, Any]:
    """Return results.json without its submissions. Raises as `facts_of`."""
    facts = facts_of(store)
    settings, found = facts["settings"], facts["found"]
    unfinished = len(set(facts["expected"]) - store.current())
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
        "waiting": sorted(store.waiting()),
        "ignored": found["ignored"],
        "missing": found["missing"],
        "unlisted": found["unlisted"],
        "older": found.get("older", []),
        "started": facts["started"],
        "finished": facts.get("finished"),
        "similar": facts.get("similar") or [],
    }


def count_unfinished(head: dict[str, Any]) -> int | None:
    """Return how many submissions a run has not graded yet; None if that is not known."""
    return head.get("unfinished") if not head.get("complete", True) else 0


class Results:
    """The results folder of one run, locked against other runs."""

    def __init__(
        self,
        path: Path,
        settings: Mapping[str, Any],
        outputs: Outputs | None,
        *,
        go_on: bool,
        ready: Callable[[], None] = lambda: None,
        attempts: str = "merge",
    ) -> None:
        """Open or create the store at *path*; *settings* are the header of this run's.

        *outputs* writes the files beside the store, if there are to be any. Unless the run is to *go_on* with the
        results that are there, they are moved aside, and only what a human said stays; *ready* is called before that,
        and if it raises, everything stays as it is. *attempts* says what a new hand-in of a learner leaves of the
        result of an earlier one, as `combine` does. Raises UsageError, StoreError if the folder is in use, or cannot be
        written.
        """
        self.path, self.out, self.settings, self.outputs = path, path.parent, dict(settings), outputs
        self.attempts = attempts
        self.key = key_of(self.settings)
        self.put_aside: Path | None = None  # earlier results, moved aside
        with explain_write_errors(self.out):
            opened = open_folder(path)
            self._lock = opened.lock
        said: Overrides = []
        self._aside: dict[str, Owner] = {}
        try:
            if not go_on:
                ready()
                self.put_aside, said, self._aside = move_aside(path)
            self.store = ClassStore(path)
            self.store.add_overrides(said)
            self._read_states()
            self.facts: dict[str, Any] = self.store.facts()
            self._head: dict[str, Any] = {}  # of learners' files
        except BaseException:
            opened.release()
            raise

    def _read_states(self) -> None:
        self.states: dict[str, State] = self.store.states()
        self._owners = {state.feedback.casefold(): name for name, state in self.states.items()}  # of files
        self.overrides = self.store.overrides()

    def earlier_owners(self) -> dict[str, Owner]:
        """Return the owner of each hand-in that was graded, or of which a human said something, before this run."""
        return self._aside or self.store.owners()

    def rename(self, hand_ins: Mapping[str, tuple[str, Owner]]) -> None:
        """Give hand-ins other ids and owners, by the old id; their files keep their names, and are not written yet."""
        if hand_ins:
            self.store.rename(hand_ins)
            self._read_states()

    def begin(
        self,
        titles: Mapping[str, Any],
        expected: Collection[str],
        found: Mapping[str, Any],
        *,
        parts: Sequence[Sequence[int]] = (),
        started: str = "",
    ) -> None:
        """Store what this run is about.

        *expected* are the ids of all hand-ins of the class, graded here or not; *parts* are the parts of a class that
        are here, as (number, of how many), empty if it was not divided.
        """
        about = {
            "settings": self.settings,
            "titles": titles,
            "expected": list(expected),
            "found": found,
            "parts": parts,
            "started": self.facts.get("started") or started or utc_now(),
        }
        facts = json.loads(json.dumps(about))
        if any(self.facts.get(name) != value for name, value in facts.items()):
            self._store_facts(**facts, **{CHANGED: True})
        self._head = head_of(self.store)

    def is_done(self, hand_in: str, digest: str) -> bool:
        """Return True if this content was graded with these settings, and is not to be graded again."""
        state = self.states.get(hand_in)
        return state is not None and not state.again and (state.digest, state.settings) == (digest, self.key)

    def list_only(self, hand_ins: Collection[str]) -> None:
        """Let the class files hold the results of these hand-ins only, until more are added."""
        self.store.list_only(hand_ins)

    def grade_again(self, hand_ins: Collection[str]) -> None:
        """Mark hand-ins to be graded again; until that is done, --resume does it."""
        self.store.grade_again(hand_ins)
        self.states = self.store.states()

    def add_all(self, graded: Iterable[tuple[Learner, GradedHandIn]]) -> list[Record]:
        """Write results that came together to the learners' files and the store; return their records.

        Raises StoreError.
        """
        kept = []
        for learner, one in graded:
            record, fingerprints = self._replace_earlier(learner.id, one)
            record = replace(record, feedback=self.own_file(learner.id, learner.feedback))
            self.note_isolation(one.isolation)
            digest = "" if record.grader_failed else record.digest
            result = Result(learner.id, learner.learner, learner.attempt, learner.feedback, utc_now(), self.key, digest)
            kept.append((result, record, json.dumps(fingerprints)))
        self.save(kept)
        return [record for _, record, _ in kept]

    def save(self, results: Iterable[tuple[Result, Record, str]]) -> None:
        """Write results of this or another run, with their fingerprints.

        The summary and the name of the files are taken from the record.
        """
        rows = []
        with explain_write_errors(self.out):
            for result, record, fingerprints in results:
                record, text, summary, fingerprints = fit_row(record, fingerprints)
                if self.outputs:
                    shown = with_overrides(record, self.overrides.get(record.id, {}))
                    self.outputs.write_learner(self._head, shown, fingerprints)
                rows.append((replace(result, feedback=record.feedback), text, summary, fingerprints))
            self.store.add(rows)

    def own_file(self, hand_in: str, wanted: str) -> str:
        """Return the name of a hand-in's files: the one that it has, or the first like *wanted* that is nobody's.

        Names that differ in case alone are one name on some disks, and `Ann Lee` of one run may be another's `Ann_Lee`.
        """
        known = self.states.get(hand_in)
        name, number = known.feedback if known else wanted, 1
        while self._owners.setdefault(name.casefold(), hand_in) != hand_in:
            number += 1
            name = f"{wanted}-{number}"
        return name

    def _replace_earlier(self, hand_in: str, graded: GradedHandIn) -> tuple[Record, dict[str, Any]]:
        """Return a new result with what counts of the one that it replaces, and its fingerprints."""
        new, fingerprints = graded.record, graded.fingerprints
        before = self.states.get(hand_in)
        old = self.store.record(hand_in, parse_record) if before else None
        if before is None or old is None:
            return new, fingerprints
        if is_of_another(new, old):  # a human's word was on that one's work
            said = self.overrides.get(hand_in, {}).items()
            self.override([(hand_in, name, replace(one, score=None, when=utc_now())) for name, one in said])
        same_work = len({content_of(old.digest), content_of(new.digest)} - {""}) < 2  # empty where the grader failed
        attempts = "merge" if same_work and self.attempts == "best" else self.attempts
        record = combine(new, old, before.at, attempts, otherwise=before.settings != self.key)
        if record is not new:
            known = self.store.fingerprint(hand_in, json.loads) or {}
            stays = {name for name, result in record.lessons.items() if result is not new.lessons.get(name)}
            stays |= record.lessons.keys() - fingerprints.keys()
            fingerprints = fingerprints | {name: known[name] for name in stays & known.keys()}
        return replace(record, previous=make_previous(old, before.at)), fingerprints

    def override(self, overrides: Overrides) -> None:
        """Keep what a human says of hand-ins (id, lesson, override); the files are not written yet."""
        self.store.add_overrides(overrides)
        self.overrides = self.store.overrides()

    def suggest_ids(self, wanted: str) -> list[str]:
        """Return the ids of listed hand-ins that are similar to *wanted*, or whose names are."""
        return suggest_ids(wanted, {one.id: one.name for one in self.store.summaries(parse_record)})

    def note_isolation(self, layers: Sequence[str] | None) -> None:
        """Store the layers of protection that were in force for every learner."""
        if layers is None:
            return
        before = self.facts.get("isolation")
        common = [layer for layer in layers if before is None or layer in before]
        if common != before:
            self._store_facts(isolation=common)
            self._head["isolation"] = common

    def finish(self, course: Course | None = None) -> None:
        """Write the class's files unless they are current; with *course*, similar hand-ins are found first.

        Raises StoreError, and GraderError if that took too long, or too much memory: the files are written all the
        same, with what was found until then, and the next time it is looked again.
        """
        if self.outputs is None:
            return
        facts = self.store.facts()
        reveal_changed = facts.get("reveal", self.outputs.reveal) != self.outputs.reveal
        if not (facts[CHANGED] or reveal_changed) and self.outputs.has_class_files():
            return
        self.write_learners(missing_only=not reveal_changed)
        failure = None
        if course is not None:
            similar, not_compared, failure = compare_class(course, self.store)
            self._store_facts(similar=similar, not_compared=not_compared)
        self._store_facts(finished=utc_now(), reveal=self.outputs.reveal)
        self.write_class()
        if failure:
            self._store_facts(**{CHANGED: True})
            raise failure

    def count_unfinished(self) -> tuple[int, int]:
        """Return how many hand-ins are not graded yet, and how many there are."""
        expected = set(facts_of(self.store)["expected"])
        return len(expected - self.store.current()), len(expected)

    def write_learners(self, only: Collection[str] | None = None, *, missing_only: bool = False) -> None:
        """Rewrite the files of every listed hand-in, or of some of these ids, or only those that are not there."""
        assert self.outputs is not None
        head = head_of(self.store)
        with explain_write_errors(self.out):
            for name, state in self.store.states().items():
                wanted = state.listed and not (missing_only and self.outputs.has_learner(state.feedback))
                if (only is None or name in only) and wanted and (record := self.store.record(name, parse_record)):
                    record = replace(record, feedback=state.feedback)
                    kept = self.store.fingerprint(name, str) or "{}"
                    self.outputs.write_learner(head, with_overrides(record, self.overrides.get(name, {})), kept)
            if only is None and not missing_only:
                self._store_facts(reveal=self.outputs.reveal)

    def write_class(self) -> None:
        """Rewrite the class's files, and remove those of learners who are no longer in the results."""
        assert self.outputs is not None
        states = self.store.states().values()
        listed = {state.feedback.casefold() for state in states if state.listed}
        with explain_write_errors(self.out):
            for state in states:
                if state.feedback.casefold() not in listed:
                    self.outputs.remove_learner(state.feedback)
            self.outputs.write_class(head_of(self.store), self.store)
            self._store_facts(**{CHANGED: False})

    def _store_facts(self, **facts: Any) -> None:
        self.store.keep_facts(**facts)
        self.facts |= facts

    def close(self) -> None:
        """Close the store and release the folder."""
        self.store.close()
        self._lock.close()
