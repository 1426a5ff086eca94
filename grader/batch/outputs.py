"""The files of a run: each learner's once they are graded, the class's at the end.

Each can be made again from the store, and replaces the earlier one only when it is complete.

results.json  gradebook.csv  report.html  similar.json    the class's, for the instructor
feedback/<name>.{json,md,html}                            a learner's, which may be given to them
code/<name>.html  alike/<group>.html                      the instructor's, unless they are not wanted
junit.xml  gradescope/<name>/results.json                 for those who ask for them; from then on they are kept current
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from grader.batch.code_pages import CodePages, code_file, parse_kept
from grader.batch.make_record import with_overrides
from grader.files import PRIVATE_FOLDER, make_folder, write_whole
from grader.model import SCHEMA
from grader.model.course import MIN_POINTS
from grader.model.validate import parse_json, validated
from grader.record import Record
from grader.store.class_store import ClassStore

CLASS_FILES = ("results.json", "gradebook.csv", "report.html", "junit.xml", "similar.json")
FILES = (*CLASS_FILES, "feedback", "gradescope", "code", "alike")
SUFFIXES = (".json", ".md", ".html")  # of a learner's files in feedback/

Head = Mapping[str, Any]


def parse_record(text: str) -> Record:
    """Read a record, or its summary, from the JSON of a store. Raises ValueError and what else a damaged one causes."""
    record = validated(Record.from_json(parse_json(text)), Record)
    scores = [record.score, *(lesson.score for lesson in record.lessons.values())]
    if previous := record.previous:
        scores += [previous.score, *previous.lessons.values()]
    if not all(score is None or 0 <= score <= 10 for score in scores):
        raise ValueError("this is no score")
    checks = [check for lesson in record.lessons.values() for check in lesson.checks]
    if not all(0 <= check.earned <= check.points for check in checks):
        raise ValueError("a check earned more than it is worth")
    if any(0 < check.points < MIN_POINTS for check in checks):  # shares of next to nothing have no end
        raise ValueError("a check is worth next to nothing")
    return record


def read_records(store: ClassStore) -> Iterator[Record]:
    """Read the records of what is listed, one at a time, each with what a human said of it."""
    overrides = store.overrides()
    for record in store.records(parse_record):
        yield with_overrides(record, overrides.get(record.id, {}))


class Outputs:
    """Writes into a results folder. With `reveal`, learners' files show the inputs of hidden checks, too.

    With `no_code` there are no pages that show code, and no pictures of what it answers.
    """

    def __init__(
        self,
        out: Path,
        *,
        reveal: bool = False,
        gradescope: bool = False,
        junit: bool = False,
        no_code: bool = False,
    ) -> None:
        self.out, self.reveal = out, reveal
        self._gradescope, self._junit, self._no_code = gradescope, junit, no_code

    @property
    def _has_gradescope(self) -> bool:
        return self._gradescope or (self.out / "gradescope").is_dir()

    @property
    def _has_junit(self) -> bool:
        return self._junit or (self.out / "junit.xml").exists()

    def write_learner(self, head: Head, record: Record, kept: str = "{}") -> None:
        """Write the files of one learner; *kept* is what is kept of the hand-in beside its record. Raises OSError.

        Pictures are of no hidden input, but drawn by code that has seen them, and may show what it likes.
        """
        from grader.reports.formats.to_gradescope import to_gradescope
        from grader.reports.formats.to_markdown import feedback_markdown
        from grader.reports.pages.feedback_page import feedback_page
        from grader.reports.redact_record import redact

        name, pictures = record.feedback, parse_kept(kept, "pictures") if self.reveal and not self._no_code else {}
        if not self.reveal:  # with the seed, the hidden inputs could be drawn again
            head, record = {**head, "seed": None}, redact(record)
        self._make_folders(name)
        code_file(self.out, name).unlink(missing_ok=True)  # written again with the class's files
        feedback = self.out / "feedback"
        # not indented: that takes ten times as long, which matters in a class of hundreds
        write_whole(feedback / f"{name}.json", [_json({"schema": SCHEMA, **record.to_json()})])
        write_whole(feedback / f"{name}.md", [feedback_markdown(head, record)])
        write_whole(feedback / f"{name}.html", [feedback_page(head, record, pictures)])
        if self._has_gradescope:
            write_whole(self.out / "gradescope" / name / "results.json", [_json(to_gradescope(head, record))])

    def has_learner(self, name: str) -> bool:
        """Return True if the files of a learner exist, by the name of their feedback."""
        return all(path.exists() for path in self._files_of(name))

    def remove_learner(self, name: str) -> None:
        """Remove the files of a learner, and nothing else beside them. Raises OSError."""
        self._make_folders(name)
        for path in (*self._files_of(name), code_file(self.out, name)):
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # it does not exist, or holds other files
            (self.out / "gradescope" / name).rmdir()

    def _make_folders(self, name: str) -> None:
        """Make the folders of a learner's files. Raises OSError where one is a link, which leads to others' files."""
        for folder in ("feedback", "code", *(("gradescope", f"gradescope/{name}") if self._has_gradescope else ())):
            make_folder(self.out / folder, PRIVATE_FOLDER)

    def _files_of(self, name: str) -> list[Path]:
        written = [self.out / "feedback" / f"{name}{suffix}" for suffix in SUFFIXES]
        return [*written, *([self.out / "gradescope" / name / "results.json"] if self._has_gradescope else [])]

    def write_class(self, head: Head, store: ClassStore) -> None:
        """Write the files of the class. Raises OSError, StoreError."""
        from grader.reports.formats.to_csv import gradebook_head, gradebook_line
        from grader.reports.formats.to_junit import junit_lines
        from grader.reports.pages.class_page import class_page

        def parsed() -> Iterator[Record]:
            return read_records(store)

        as_json = (json.dumps(one.to_json()) for one in parsed()) if store.overrides() else store.records(str)
        write_whole(self.out / "results.json", _results_json(head, as_json))
        if self._has_junit:
            write_whole(self.out / "junit.xml", junit_lines(head, parsed()))
        write_whole(self.out / "similar.json", [_json({"schema": SCHEMA, "similar": head["similar"]})])
        pages = CodePages(self.out, head, store, wanted=not self._no_code)
        lines = [gradebook_head(head["lessons"])]

        def passing() -> Iterator[Record]:  # to read a class's records takes longer than to write its gradebook
            for record in pages.write_passing(parsed()):
                lines.append(gradebook_line(head["lessons"], record, waits=record.id in head["waiting"]))
                yield record

        write_whole(self.out / "report.html", class_page(head, passing(), code=pages.links))
        write_whole(self.out / "gradebook.csv", lines)
        pages.write_groups()

    def has_class_files(self) -> bool:
        """Return True if all files of the class exist, and the folders that are asked for."""
        asked = {"junit.xml": self._junit, "gradescope": self._gradescope}
        return all((self.out / name).exists() for name in (*CLASS_FILES, "gradescope") if asked.get(name, "." in name))


def _results_json(head: Head, records: Iterable[str]) -> Iterator[str]:
    yield json.dumps(head)[:-1] + ', "submissions": ['
    for number, record in enumerate(records):
        yield (",\n" if number else "\n") + record
    yield "\n]}\n"


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, allow_nan=False) + "\n"
