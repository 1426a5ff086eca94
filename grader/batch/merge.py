"""Join the parts of a class, graded with `--shard`, into one set of results."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.batch.code_pages import parse_kept
from grader.batch.outputs import Outputs, parse_record
from grader.batch.results import Results, facts_of, read_settings
from grader.batch.results_folder import Overrides, store_path
from grader.batch.settings import differences, key_of, make_settings
from grader.batch.shards import FOLDER
from grader.errors import UsageError
from grader.files import is_folder, resolved
from grader.model import Course, Override
from grader.model.person_id import fold_id
from grader.model.person_name import name_keys
from grader.similarity import read_fingerprints
from grader.store.class_store import ClassStore, Result


@dataclass(frozen=True)
class MergeSummary:
    """The outcome of a merge.

    `parts` and `added` (new or newer) results are counted; `overlaps` are ids in several parts, of which the newest
    result was taken; `lacking` are hand-ins without a result, or with an earlier one's, `absent` the parts that were
    not there, `namesakes` who has one name in two of them and no id in common; `unsaid` are words of a human that gave
    way to another or were taken back.
    """

    parts: int
    added: int
    overlaps: tuple[str, ...]
    lacking: tuple[str, ...]
    absent: tuple[str, ...]
    namesakes: tuple[str, ...]
    unsaid: tuple[str, ...]


class Merge:
    """Joins parts into the results at `out`; `results` stays open until `close`."""

    def __init__(self, paths: Sequence[Path], out: Path, **written: bool) -> None:
        """Open *paths*, stores or folders with them; *written* is for `Outputs`.

        Raises UsageError for parts that do not belong together.
        """
        target = store_path(out)
        self.parts: list[ClassStore] = []
        with ExitStack() as stack:
            for path in _find_stores(paths, target):
                self.parts.append(stack.enter_context(closing(ClassStore.existing(path))))
            self.facts = [facts_of(part) for part in self.parts]
            _require_agreement(self.parts, self.facts)
            settings = self.facts[0]["settings"]
            go_on = key_of(read_settings(target) or {}) == key_of(settings)
            self.results = Results(target, settings, Outputs(out, **written), go_on=go_on)
            self._open = stack.pop_all()

    def join(self) -> MergeSummary:
        """Add every result that is newer than what is there; the class's files are not written yet."""
        chosen, overlaps = self._newest()
        namesakes = _find_namesakes([self.results.store, *self.parts])
        before = {name: state for name, state in self.results.states.items() if state.listed}
        self.facts = [*([self.results.facts] if before else []), *self.facts]
        expected = _union(facts["expected"] for facts in self.facts)
        self._begin(expected)
        new = {name: one for name, one in chosen.items() if name not in before or before[name].at < one[1].at}
        self.results.list_only({*before, *chosen})
        words, unsaid = _newer_words(self.parts, self.results.store)
        self.results.override(words)
        for part, result in new.values():
            self._copy(part, result)
        waiting = {part: part.waiting() for part in self.parts}
        counting = (name for name, (_, result) in chosen.items() if name in new or before[name].at == result.at)
        again = {name for name in counting if name in waiting[chosen[name][0]]}
        self.results.grade_again(again)
        lacking = tuple(name for name in expected if name in again or (name not in chosen and name not in before))
        absent = tuple(_missing_parts(self.facts))
        return MergeSummary(len(self.parts), len(new), overlaps, lacking, absent, namesakes, unsaid)

    def is_of(self, course: Course) -> bool:
        """Return True if the parts were graded with exactly this course."""
        settings: dict[str, Any] = self.facts[0]["settings"]
        lessons = [course.lessons[name] for name in settings["lessons"] if name in course.lessons]
        current = make_settings(course, lessons, settings["seed"], settings["device"], settings["engine"])
        return current.to_header() == settings

    def _newest(self) -> tuple[dict[str, tuple[ClassStore, Result]], tuple[str, ...]]:
        counts: Counter[str] = Counter()
        chosen: dict[str, tuple[ClassStore, Result]] = {}
        for part in self.parts:
            for result in part.results():
                counts[result.id] += 1
                if result.id not in chosen or chosen[result.id][1].at < result.at:
                    chosen[result.id] = (part, result)
        return chosen, tuple(sorted(name for name, count in counts.items() if count > 1))

    def _begin(self, expected: Sequence[str]) -> None:
        keys = ("ignored", "missing", "unlisted", "older")
        found = {key: _union(facts["found"].get(key, []) for facts in self.facts) for key in keys}
        graded = {fold_id(result.learner) for part in self.parts for result in part.results()}
        found["missing"] = [one for one in found["missing"] if fold_id(one["id"]) not in graded]
        started = min(facts["started"] for facts in self.facts)
        parts = _union(facts["parts"] for facts in self.facts)
        self.results.begin(self.facts[0]["titles"], expected, found, parts=parts, started=started)
        for facts in self.facts:
            self.results.note_isolation(facts.get("isolation"))

    def _copy(self, part: ClassStore, result: Result) -> None:
        """Copy one result; its files get another name if that is taken."""
        record = part.record(result.id, parse_record)
        if record is None:
            return
        for read in (parse_kept, read_fingerprints):
            part.fingerprint(result.id, read)  # raises StoreError for a damaged one, and for more than a run keeps
        name = self.results.own_file(result.id, result.feedback)
        self.results.save([(result, replace(record, feedback=name), part.fingerprint(result.id, str) or "{}")])

    def close(self) -> None:
        """Close the parts and the results."""
        self._open.close()
        self.results.close()


def _newer_words(parts: Sequence[ClassStore], target: ClassStore) -> tuple[Overrides, tuple[str, ...]]:
    """Return what is to be kept in *target* of a human's words in the parts, and which words then count no more."""
    said = [_words_of(store) for store in (target, *parts)]
    new: Overrides = []
    unsaid = []
    for key in dict.fromkeys(key for words in said for key in words):
        last = _last_word([words[key] for words in said if key in words])
        if last == said[0].get(key, [None])[-1]:
            continue
        # with what an undo takes back it is known later, too, that it was that and no other
        words = next(words[key] for words in said if last in words.get(key, ())) if last.score is None else [last]
        new += [(*key, one) for one in words]
        others = [words[key][-1] for words in said if key in words]
        now = "is taken back" if last.score is None else f"gives way to {last.score:g}"
        unsaid += [f"{' '.join(key)}: {one.score:g} {now}" for one in others if one != last and one.score is not None]
    return new, tuple(dict.fromkeys(unsaid))


def _words_of(store: ClassStore) -> dict[tuple[str, str], list[Override]]:
    words: dict[tuple[str, str], list[Override]] = defaultdict(list)
    for hand_in, lesson, one in store.words():
        words[hand_in, lesson].append(one)
    return words


def _last_word(said: Sequence[Sequence[Override]]) -> Override:
    """Return the word that counts of all that several stores hold of one lesson of a hand-in.

    Who takes a word back means one of those before it in that store; where none is kept there, any that is older.
    """
    undone = [(words[-1], words[:-1]) for words in said if words[-1].score is None]
    lasts = [words[-1] for words in said]
    given = [
        one
        for one in lasts
        if one.score is not None
        and not any(one in before or (not before and one.when < undo.when) for undo, before in undone)
    ]
    return max(given or [undo for undo, _ in undone], key=lambda one: one.when)


def _find_stores(paths: Sequence[Path], target: Path) -> list[Path]:
    """Return the stores at some paths, each once, without the target."""
    found: dict[Path, Path] = {}
    for path in paths:
        if is_folder(path) and (path / FOLDER).is_symlink():
            what, next_step = (
                f"{FOLDER} is a link out of the results",
                "name the folder that it leads to, if you trust it",
            )
            raise UsageError(what, where=str(path), next_step=next_step)
        shards = sorted((path / FOLDER).glob("*.sqlite")) if is_folder(path) else []
        for store in shards or ([store_path(path)] if is_folder(path) else [path]):
            found.setdefault(resolved(store), store)
    found.pop(resolved(target), None)
    if not found:
        next_step = "name folders that were given to `grader run` with --out, or the .sqlite files in them"
        raise UsageError("there is nothing to join", where=", ".join(map(str, paths)), next_step=next_step)
    return list(found.values())


def _require_agreement(parts: Sequence[ClassStore], facts: Sequence[dict[str, Any]]) -> None:
    first = facts[0]["settings"]
    for part, others in zip(parts, facts, strict=True):
        settings = others["settings"]
        if key_of(settings) != key_of(first):
            what = f"parts were graded with different settings: {'; '.join(differences(first, settings))}"
            where = f"{parts[0].path} and {part.path}"
            raise UsageError(what, where=where, next_step="grade all with the same course, --lessons and --seed")


def _find_namesakes(stores: Sequence[ClassStore]) -> tuple[str, ...]:
    """Return the ids that one name has in different stores, where no store has all of them: two lists may number it."""
    ids: dict[str, list[set[str]]] = defaultdict(list)
    for store in stores:
        here: dict[str, set[str]] = defaultdict(set)
        for owner in store.owners().values():
            for key in name_keys(owner.name):
                here[key].add(owner.learner)
        for key, found in here.items():
            ids[key].append(found)
    apart = {frozenset[str]().union(*found) for found in ids.values() if set().union(*found) not in found}
    return tuple(sorted(" and ".join(sorted(one)) for one in apart))


def _union(lists: Iterable[list[Any]]) -> list[Any]:
    return list({json.dumps(item): item for one in lists for item in one}.values())


def _missing_parts(facts: Sequence[dict[str, Any]]) -> Iterable[str]:
    """Yield the missing parts, if the class was divided in one way."""
    parts = {(number, of) for one in facts for number, of in one["parts"]}
    ways = {of for _, of in parts}
    if len(ways) == 1 and all(one["parts"] for one in facts):
        (of,) = ways
        yield from (f"{number}/{of}" for number in range(1, of + 1) if (number, of) not in parts)
