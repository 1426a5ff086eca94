"""What runs on the nodes of a cluster: a parcel of hand-ins to results, each sent back as soon as it is there.

A node needs this program and nothing else: the course and the hand-ins come with the parcel, as content. Each thread of
a node's worker process keeps a grading process of its own, with its own judge and parent of workers, from parcel to
parcel; they end when the run does, or when nobody has asked for a while.
"""

from __future__ import annotations

import dataclasses
import importlib
import io
import json
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from grader.batch.make_record import GradedHandIn
from grader.batch.processes.process_pool import Grader
from grader.batch.processes.serialize import unpack
from grader.batch.processes.temp_folder import Scratch
from grader.batch.settings import Settings
from grader.errors import GraderError
from grader.intake.learner import Learner
from grader.model import Course

IDLE_SECONDS = 60.0  # after which the grading processes of a node end
ROOMS = (
    "*.py",
    "api/**/*.py",
    "batch/**/*.py",
    "course/**/*.py",
    "intake/**/*.py",
    "judge/**/*.py",
    "similarity/**/*.py",
    "source/**/*.py",
    "worker/**/*.py",
)
PARTS = ("lessons", "exercises", "solutions")  # of a course
STOP = "{}-stop"  # the name of the event that ends a run


@dataclass(frozen=True)
class Parcel:
    """What one task grades: `hand_ins` as (Learner.to_dict(), pack(hand-in)), with all that it takes. `run` names the
    queue that results go to, `number` the parcel in the run."""

    run: str
    number: int
    code: str
    settings: Settings
    course: bytes
    seconds: float
    hand_ins: tuple[tuple[dict[str, Any], dict[str, Any]], ...]


def distributed() -> Any:
    """The library of the cluster, which is optional and has no types. Raises ImportError where it is not there."""
    return importlib.import_module("distributed")


@cache
def code_digest() -> str:
    """What of this program grades: two machines of one digest give the same verdicts."""
    import hashlib

    root = Path(__file__).resolve().parents[2]
    sha = hashlib.sha256()
    for path in sorted(path for room in ROOMS for path in root.glob(room)):
        sha.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return sha.hexdigest()[:12]


def describe() -> dict[str, str]:
    """What whoever sends work to a node is to know of it."""
    import platform

    return {"code": code_digest(), "host": platform.node(), "python": platform.python_version()}


def pack_course(course: Course) -> bytes:
    """The files of a course, as an archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(course.root / "course.toml", "course.toml")
        for folder in (course.root / part / track.name for part in PARTS for track in course.tracks):
            for path in sorted(folder.glob("*")) if folder.is_dir() else ():
                if path.is_file():
                    archive.write(path, path.relative_to(course.root).as_posix())
    return packed.getvalue()


def grade_parcel(parcel: Parcel) -> int:
    """Grade a parcel; the results go into the queue of the run. What was graded of it before, on a node that has died
    since, is not graded again. Gives back how many are done. Raises SelfattendError if no grading process starts."""
    if parcel.code != code_digest():
        raise GraderError("the program on this node is another one", next_step="install the same version everywhere")
    dask = distributed()
    client = dask.get_client()
    queue, stop = dask.Queue(parcel.run, client=client), dask.Event(STOP.format(parcel.run), client=client)
    progress = [parcel.run, str(parcel.number)]
    done = int(client.get_metadata(progress, 0))
    with _grader(parcel) as grader:
        for learner, hand_in in parcel.hand_ins[done:]:
            if stop.is_set():
                break
            graded = grader.grade(Learner.from_dict(learner), unpack(hand_in))
            queue.put(to_message(learner["id"], graded))
            done += 1
            client.set_metadata(progress, done)
    return done


def to_message(hand_in: str, graded: GradedHandIn) -> bytes:
    """A result on its way."""
    return json.dumps([hand_in, graded.to_json()]).encode()


def from_message(message: bytes) -> tuple[str, GradedHandIn]:
    """What `to_message` was given."""
    hand_in, content = json.loads(message)
    return hand_in, GradedHandIn.from_json(content)


def end_run(run: str) -> None:
    """End the grading processes that this node keeps for a run, unless they are at work."""
    with _lock:
        kept = _kept.get(run)
        if kept is not None and not kept.users:
            _kept.pop(run).close()


# --- what a node keeps from parcel to parcel --------------------------------------------------------------------------


class _Kept:
    """The grading processes of one run, and the course they grade with."""

    def __init__(self, parcel: Parcel) -> None:
        self.users = 0
        self.last = time.monotonic()
        self.scratch = Scratch()
        with zipfile.ZipFile(io.BytesIO(parcel.course)) as archive:
            archive.extractall(self.scratch.root)
        settings = dataclasses.replace(parcel.settings, root=str(self.scratch.root))
        self.grader = Grader(settings, parcel.seconds)

    def close(self) -> None:
        self.grader.close()
        self.scratch.remove()


_kept: dict[str, _Kept] = {}
_lock = threading.Lock()


@contextmanager
def _grader(parcel: Parcel) -> Iterator[Grader]:
    with _lock:
        kept = _kept.get(parcel.run)
        if kept is None:
            kept = _kept[parcel.run] = _Kept(parcel)
            threading.Thread(target=_end_when_idle, args=(parcel.run,), daemon=True).start()
        kept.users += 1
    try:
        yield kept.grader
    finally:
        with _lock:
            kept.users -= 1
            kept.last = time.monotonic()


def _end_when_idle(run: str) -> None:
    """Whoever asked may be dead, and nobody tells a node."""
    while True:
        time.sleep(IDLE_SECONDS / 10)
        with _lock:
            kept = _kept.get(run)
            if kept is None:
                return
            if not kept.users and time.monotonic() - kept.last > IDLE_SECONDS:
                _kept.pop(run).close()
                return
