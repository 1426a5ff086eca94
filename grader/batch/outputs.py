"""The files of a run: each learner's as their hand-in is done, the class's at the end. Every one can be made anew from
the store, so none is ever half there: it takes its place when it is complete.

results.json  gradebook.csv  report.html  junit.xml  similar.json    the class's, for the instructor
feedback/<name>.{json,md,html}  gradescope/<name>/results.json       a learner's, which may be given to them
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from grader.model import SCHEMA
from grader.record import Record

FILES = ("results.json", "gradebook.csv", "report.html", "junit.xml", "similar.json", "feedback", "gradescope")
SUFFIXES = (".json", ".md", ".html")  # of a learner's files in feedback/

Head = Mapping[str, Any]


def parse_record(text: str) -> Record:
    """Read a record from the JSON text that the store keeps."""
    return Record.from_json(json.loads(text))


class Outputs:
    """Writes into a results folder. With `reveal`, learners' files show what hidden checks asked, too."""

    def __init__(self, out: Path, *, reveal: bool = False) -> None:
        self.out, self.reveal = out, reveal

    def write_learner(self, head: Head, record: Record) -> None:
        """The files of one learner. Raises OSError."""
        from grader.reports.formats.to_gradescope import to_gradescope
        from grader.reports.formats.to_markdown import feedback_markdown
        from grader.reports.pages.feedback_page import feedback_page
        from grader.reports.redaction import redact

        name = record.feedback
        if not self.reveal:  # with the seed, the hidden inputs could be drawn again
            head, record = {**head, "seed": None}, redact(record)
        feedback, gradescope = self.out / "feedback", self.out / "gradescope" / name
        for folder in (feedback, gradescope):
            folder.mkdir(parents=True, exist_ok=True)
        # unindented: Python's indenting encoder takes ten times as long, which shows in a class of hundreds
        write(feedback / f"{name}.json", [_json({"schema": SCHEMA, **record.to_json()})])
        write(feedback / f"{name}.md", [feedback_markdown(head, record)])
        write(feedback / f"{name}.html", [feedback_page(head, record)])
        write(gradescope / "results.json", [_json(to_gradescope(head, record))])

    def has_learner(self, name: str) -> bool:
        """Whether the files of one learner are there, by the name of their feedback."""
        return all(path.exists() for path in self._files_of(name))

    def remove_learner(self, name: str) -> None:
        """Take the files of one learner away, and nothing else that lies beside them. Raises OSError."""
        for path in self._files_of(name):
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # there is none, or somebody has put something into it
            (self.out / "gradescope" / name).rmdir()

    def _files_of(self, name: str) -> list[Path]:
        written = [self.out / "feedback" / f"{name}{suffix}" for suffix in SUFFIXES]
        return [*written, self.out / "gradescope" / name / "results.json"]

    def write_class(self, head: Head, records: Callable[[], Iterator[str]]) -> None:
        """The files of the class. `records` gives every record as JSON, anew at each call. Raises OSError."""
        from grader.reports.formats.to_csv import gradebook_lines
        from grader.reports.formats.to_junit import junit_lines
        from grader.reports.pages.class_page import class_page

        def parsed() -> Iterator[Record]:
            return map(parse_record, records())

        write(self.out / "results.json", _whole_results(head, records()))
        write(self.out / "gradebook.csv", gradebook_lines(head["lessons"], parsed()))
        write(self.out / "junit.xml", junit_lines(head, parsed()))
        write(self.out / "similar.json", [_json({"schema": SCHEMA, "similar": head["similar"]})])
        write(self.out / "report.html", class_page(head, parsed()))

    def are_there(self) -> bool:
        """Whether all files of the class are there."""
        return all((self.out / name).exists() for name in FILES if "." in name)


def write(path: Path, pieces: Iterable[str]) -> None:
    """A text file from its pieces, which takes its place only when it is complete."""
    with whole(path) as file:
        file.writelines(pieces)


@contextmanager
def whole(path: Path) -> Iterator[IO[str]]:
    """A text file to write to, which takes its place only when it is complete."""
    temporary = path.with_name(f".{path.name}.tmp")  # always the same name: what a killed run left is overwritten
    try:
        with temporary.open("w", encoding="utf-8", newline="") as file:
            yield file
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _whole_results(head: Head, records: Iterable[str]) -> Iterator[str]:
    yield json.dumps(head)[:-1] + ', "submissions": ['
    for number, record in enumerate(records):
        yield (",\n" if number else "\n") + record
    yield "\n]}\n"


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, allow_nan=False) + "\n"
