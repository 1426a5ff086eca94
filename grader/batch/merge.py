"""The parts of a class to one set of results: what `--shard` has spread over many jobs, or machines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.batch.outputs import Outputs, parse_record
from grader.batch.results import Results, facts_of
from grader.batch.results_folder import store_path
from grader.batch.settings import differences, key_of, settings_for
from grader.batch.shards import FOLDER
from grader.errors import UsageError
from grader.intake.roster import fold_id
from grader.model import Course
from grader.store.class_store import ClassStore, Result


@dataclass(frozen=True)
class Merged:
    """What came of joining: how many parts, how many results are new or newer, which ids were in several parts (the
    newest was taken), which hand-ins have no result, and which parts were not there."""

    parts: int
    added: int
    overlaps: tuple[str, ...]
    lacking: tuple[str, ...]
    absent: tuple[str, ...]


class Merge:
    """Joins parts into the results at `out`; `results` is open until `close`."""

    def __init__(self, places: Sequence[Path], out: Path, *, reveal: bool = False) -> None:
        """`places` are stores, or folders with them. Raises UsageError for parts that do not belong together."""
        target = store_path(out)
        self.parts: list[ClassStore] = []
        try:
            for path in _stores(places, target):
                self.parts.append(ClassStore.existing(path))
            self.facts = [facts_of(part) for part in self.parts]
            _require_agreement(self.parts, self.facts)
            settings = self.facts[0]["settings"]
            self.results = Results(target, settings, Outputs(out, reveal=reveal), go_on=_is_of(target, settings))
        except BaseException:
            self._close_parts()
            raise

    def join(self) -> Merged:
        """Take over every result that is newer than what is there. The class's files are to be written then."""
        chosen, overlaps = self._newest()
        before = {name: state for name, state in self.results.states.items() if state.listed}
        joined = [self.results.facts] if before else []
        self.facts = [*joined, *self.facts]
        expected = _united(facts["expected"] for facts in self.facts)
        self._begin(expected)
        new = {
            name: pick for name, pick in chosen.items() if name not in before or before[name].at < pick[1].at
        }  # fmt: skip
        self.results.list_only({*before, *chosen})
        taken = {state.feedback.casefold(): name for name, state in self.results.states.items()}
        for part, result in new.values():
            self._take(part, result, taken)
        lacking = tuple(name for name in expected if name not in chosen and name not in before)
        return Merged(len(self.parts), len(new), overlaps, lacking, tuple(_absent(self.facts)))

    def is_of(self, course: Course) -> bool:
        """Whether the parts were graded with this very course."""
        settings: dict[str, Any] = self.facts[0]["settings"]
        lessons = [course.lessons[name] for name in settings["lessons"] if name in course.lessons]
        here = settings_for(course, lessons, settings["seed"], settings["device"], settings["engine"])
        return here.to_header() == settings

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
        found = {
            key: _united(facts["found"][key] for facts in self.facts) for key in ("ignored", "missing", "unlisted")
        }
        graded = {fold_id(result.learner) for part in self.parts for result in part.results()}
        found["missing"] = [one for one in found["missing"] if fold_id(one["id"]) not in graded]
        started = min(facts["started"] for facts in self.facts)
        parts = _united(facts["parts"] for facts in self.facts)
        self.results.begin(self.facts[0]["titles"], expected, found, parts=parts, started=started)
        for facts in self.facts:
            layers = facts.get("isolation")
            self.results.note_isolation(None if layers is None else tuple(layers))

    def _take(self, part: ClassStore, result: Result, taken: dict[str, str]) -> None:
        """Copy one result; its files get another name if somebody else's have that already."""
        record = parse_record(part.record(result.id))
        name, number = result.feedback, 1
        while taken.setdefault(name.casefold(), result.id) != result.id:
            number += 1
            name = f"{result.feedback}-{number}"
        self.results.take(result, replace(record, feedback=name), part.fingerprint(result.id))

    def close(self) -> None:
        """Let go of all of them."""
        self._close_parts()
        self.results.close()

    def _close_parts(self) -> None:
        for part in self.parts:
            part.close()


def _stores(places: Sequence[Path], target: Path) -> list[Path]:
    """The stores in some places, each once; not the one that they are joined into."""
    found: dict[Path, Path] = {}
    for place in places:
        shards = sorted((place / FOLDER).glob("*.sqlite")) if place.is_dir() else []
        for path in shards or ([store_path(place)] if place.is_dir() else [place]):
            found.setdefault(path.resolve(), path)
    found.pop(target.resolve(), None)
    if not found:
        next_step = "name folders that were given to `grader run` with --out, or the .sqlite files in them"
        raise UsageError("there is nothing to join", where=", ".join(map(str, places)), next_step=next_step)
    return list(found.values())


def _require_agreement(parts: Sequence[ClassStore], facts: Sequence[dict[str, Any]]) -> None:
    first = facts[0]["settings"]
    for part, others in zip(parts, facts, strict=True):
        settings = others["settings"]
        if key_of(settings) != key_of(first):
            what = f"parts were graded with different settings: {'; '.join(differences(first, settings))}"
            where = f"{parts[0].path} and {part.path}"
            raise UsageError(what, where=where, next_step="grade all with the same course, --lessons and --seed")


def _is_of(target: Path, settings: dict[str, Any]) -> bool:
    """Whether there are results of the same settings, to which others can be added."""
    if not target.is_file():
        return False
    store = ClassStore.existing(target)
    try:
        return key_of(store.facts().get("settings", {})) == key_of(settings)
    finally:
        store.close()


def _united(lists: Iterable[list[Any]]) -> list[Any]:
    return list({json.dumps(item): item for one in lists for item in one}.values())


def _absent(facts: Sequence[dict[str, Any]]) -> Iterable[str]:
    """The parts that nobody brought, where the class was divided in one way."""
    parts = {(number, of) for one in facts for number, of in one["parts"]}
    ways = {of for _, of in parts}
    if len(ways) == 1 and all(one["parts"] for one in facts):
        (of,) = ways
        yield from (f"{number}/{of}" for number in range(1, of + 1) if (number, of) not in parts)
