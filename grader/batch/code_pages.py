"""Pages of a run that show code: of each hand-in beside its verdict, and of groups that are alike, side by side.

The page of a hand-in is written when it is lacking: whatever changes a result removes it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from grader.batch.make_record import MAX_KEPT_CHARS
from grader.files import PRIVATE_FOLDER, make_folder, write_whole
from grader.model.validate import parse_json
from grader.record import Record
from grader.reports.html_document import file_link
from grader.reports.pages.class_alike import MAX_GROUPS, group_similar
from grader.reports.pages.code_page import HandInCode, alike_page, code_page
from grader.store.class_store import ClassStore


def code_file(out: Path, name: str) -> Path:
    """Return where the page of a hand-in is, by the name of its feedback."""
    return out / "code" / f"{name}.html"


def parse_kept(text: str, part: str = "source") -> dict[str, str]:
    """Read a part of each lesson, such as "pictures", out of what is kept to compare hand-ins.

    Raises as `parse_json` does, and ValueError for a source that is longer than what is kept of one.
    """
    found = {name: one[part] for name, one in parse_json(text).items() if isinstance(one.get(part), str)}
    if part == "source" and any(len(source) > MAX_KEPT_CHARS for source in found.values()):
        raise ValueError("this is more of a source than a run keeps")
    return found


class CodePages:
    """Writes the pages; unless `wanted` it removes them. `links` are those of the hand-ins that went by, by id."""

    def __init__(self, out: Path, head: Mapping[str, Any], store: ClassStore, *, wanted: bool) -> None:
        self.out, self.head, self.store, self.wanted = out, head, store, wanted
        self.links: dict[str, str] = {}
        self._labels: dict[str, str] = {}

    def write_passing(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield the records, each once its page is there, if its code is kept. Raises OSError, StoreError."""
        make_folder(self.out / "code", PRIVATE_FOLDER)
        for record in records:
            self._labels[record.id] = record.label
            path = code_file(self.out, record.feedback)
            if sources := self._sources(record.id):
                if not path.exists():
                    pictures = self.store.fingerprint(record.id, partial(parse_kept, part="pictures"))
                    write_whole(path, [code_page(self.head, record, sources, pictures or {})])
                self.links[record.id] = file_link("code", record.feedback)
            else:
                path.unlink(missing_ok=True)
            yield record

    def write_groups(self) -> None:
        """Write a page for each group of those that went by, and remove what earlier ones left."""
        make_folder(self.out / "alike", PRIVATE_FOLDER)
        groups = group_similar(self.head, self._labels)[:MAX_GROUPS] if self.links else []
        for number, group in enumerate(groups, 1):
            hand_ins = [
                HandInCode(self._labels[name], self.links.get(name, ""), self._sources(name).get(group.lesson, ""), of)
                for name, of in group.lines.items()
            ]
            write_whole(self.out / "alike" / f"{number}.html", [alike_page(self.head, group.lesson, hand_ins)])
        for number in itertools.count(len(groups) + 1):
            path = self.out / "alike" / f"{number}.html"
            if not path.exists():
                return
            path.unlink()

    def _sources(self, hand_in: str) -> Mapping[str, str]:
        return (self.store.fingerprint(hand_in, parse_kept) if self.wanted else None) or {}
