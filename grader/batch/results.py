"""Where a run writes: a journal line and a feedback file as each submission ends, the whole results at the end.

DIR/results.jsonl         the journal: the settings, then one record a line
DIR/results.json          {"schema", "course", "seed", ..., "complete", "ignored", "submissions": [record, ...]}
DIR/gradebook.csv         one line a learner
DIR/feedback/<id>.json    one learner's record
DIR/results.previous.jsonl  the journal that was there before a run that began anew
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from grader.batch.discover import Learner
from grader.batch.record import Record
from grader.errors import StoreError, UsageError
from grader.model import SCHEMA
from grader.reports.to_csv import gradebook_lines

JOURNAL, PREVIOUS = "results.jsonl", "results.previous.jsonl"


def read_header(out: Path) -> dict[str, Any] | None:
    """The settings of the run that wrote the journal in `out`; None where there is none that can be read."""
    try:
        with (out / JOURNAL).open("rb") as journal:
            header = json.loads(journal.readline(1 << 20))
    except (OSError, ValueError):
        return None
    return header if isinstance(header, dict) else None


class Results:
    """The results folder of one run. Only one run at a time can have it."""

    def __init__(self, out: Path, header: Mapping[str, Any], *, resume: bool) -> None:
        """Open `out`, made if need be. With `resume`, what a run with the same settings left there is kept; whatever
        else is there is put aside. Raises UsageError, StoreError."""
        self.out, self.header = out, dict(header)
        self.lines: dict[str, tuple[int, str]] = {}  # learner's id -> where in the journal, and the hand-in's digest
        with _explained(out):
            (out / "feedback").mkdir(parents=True, exist_ok=True)
            self._journal: IO[bytes] = (out / JOURNAL).open("a+b")
            try:
                _lock(self._journal, out)
                self.put_aside = False  # whether results were there that this run does not go on with
                if not (resume and self._load()):
                    self._begin()
            except BaseException:
                self._journal.close()
                raise

    def digest_of(self, learner: Learner) -> str:
        """The digest of the hand-in that was graded for this learner; empty if none was."""
        return self.lines.get(learner.id, (0, ""))[1]

    def forget(self, learner_id: str) -> None:
        """Leave a learner out of the results: the record is not of what they have handed in now."""
        self.lines.pop(learner_id, None)

    def add(self, learner: Learner, record: Record) -> None:
        """Write one record to the journal and to the learner's feedback file. Raises StoreError."""
        line = json.dumps(record, allow_nan=False).encode() + b"\n"
        with _explained(self.out):
            place = self._journal.seek(0, os.SEEK_END)
            try:
                self._journal.write(line)
                self._journal.flush()
            except OSError:
                with contextlib.suppress(OSError):  # half a line would hide what comes after it
                    self._journal.truncate(place)
                raise
            self.lines[learner.id] = (place, _digest(record))
            with _whole(self.out / "feedback" / f"{learner.feedback}.json") as file:
                # unindented: Python's indenting encoder takes ten times as long, which shows in a class of hundreds
                file.write(json.dumps({"schema": SCHEMA, **record}, allow_nan=False) + "\n")

    def finish(self, learners: Sequence[Learner], ignored: Iterable[str] = ()) -> None:
        """Write the results and the gradebook of all `learners` graded so far, in their order. Raises StoreError."""
        ids = [learner.id for learner in learners if learner.id in self.lines]
        head = {**self.header, "complete": len(ids) == len(learners), "ignored": list(ignored)}
        with _explained(self.out):
            with _whole(self.out / "results.json") as file:
                file.write(json.dumps(head)[:-1] + ', "submissions": [')
                for number, learner_id in enumerate(ids):
                    file.write((",\n" if number else "\n") + json.dumps(self._read(learner_id), allow_nan=False))
                file.write("\n]}\n")
            with _whole(self.out / "gradebook.csv") as file:
                file.writelines(gradebook_lines(self.header["lessons"], map(self._read, ids)))

    def records(self) -> Iterator[Record]:
        """Every record, read from the journal one at a time."""
        return map(self._read, list(self.lines))

    def close(self) -> None:
        """Let another run have the folder."""
        with contextlib.suppress(OSError):
            os.fsync(self._journal.fileno())
        self._journal.close()

    def _read(self, learner_id: str) -> Record:
        self._journal.seek(self.lines[learner_id][0])
        record: Record = json.loads(self._journal.readline())
        return record

    def _load(self) -> bool:
        """Take over the journal that is there, if it is of a run with the same settings; a torn last line goes."""
        self._journal.seek(0)
        if _parsed(self._journal.readline()) != self.header:
            return False
        place = self._journal.tell()
        for line in iter(self._journal.readline, b""):
            record = _parsed(line)
            if record is None:
                break
            self.lines[str(record.get("id"))] = (place, _digest(record))
            place += len(line)
        self._journal.truncate(place)
        return True

    def _begin(self) -> None:
        """Put an earlier journal aside, and write the header of a new one. A copy: the lock is on the open file."""
        self._journal.seek(0)
        self.put_aside = bool(self._journal.read(1))
        if self.put_aside:
            self._journal.seek(0)
            with (self.out / PREVIOUS).open("wb") as previous:
                while piece := self._journal.read(1 << 20):
                    previous.write(piece)
        self._journal.truncate(0)
        self._journal.write(json.dumps(self.header).encode() + b"\n")
        self._journal.flush()


def _digest(record: Mapping[str, Any]) -> str:
    """The digest of what was graded; none where the grader itself failed, so that it is tried again."""
    return "" if "grader-error" in record.get("states", {}) else str(record.get("digest", ""))


def _parsed(line: bytes) -> dict[str, Any] | None:
    """A whole line of a journal; None for one that was not written to its end."""
    try:
        content = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


@contextmanager
def _whole(path: Path) -> Iterator[IO[str]]:
    """A text file to write to, which takes its place only when it is complete."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8", newline="") as file:
            yield file
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _lock(file: IO[bytes], out: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows has no such locks; the judge does not run there either
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        what = "another `grader run` is writing its results here"
        raise UsageError(
            what, where=str(out), next_step="wait for its end, or give another folder with --out"
        ) from None


@contextmanager
def _explained(out: Path) -> Iterator[None]:
    """The system's refusals to write in `out` as errors that say what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            next_step = "free some space, then run the same command with --resume"
            raise StoreError("the disk is full", where=str(out), next_step=next_step) from None
        what = f"the results cannot be written here: {error.strerror or error}"
        raise UsageError(what, where=str(out), next_step="give a folder of your own with --out DIR") from None
