"""What runs on a Dask worker: a parcel of hand-ins to results, each sent back as soon as it is known.

A worker needs only this program: the course and the hand-ins come with the parcel, as content. Each thread keeps one
grading process, with a judge and a fork server, from parcel to parcel; they end with the run, or when they are idle.
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
from grader.batch.processes.process_pool import ProcessPool
from grader.batch.processes.temp_folder import TempFolder
from grader.batch.settings import Settings
from grader.course.course_files import course_files
from grader.errors import GraderError
from grader.intake.hand_in import HandIn
from grader.intake.learner import Learner
from grader.model import Course, Limits

IDLE_SECONDS = 60.0  # after which the grading processes of a worker end
PACKAGES = ("api", "batch", "course", "intake", "judge", "similarity", "source", "worker")
STOP = "{}-stop"  # the name of the event that ends a run


@dataclass(frozen=True)
class Parcel:
    """What one task grades. `run` names the queue for results, `number` the parcel in the run; `course` is a zip."""

    run: str
    number: int
    code: str
    settings: Settings
    course: bytes
    limits: Limits
    hand_ins: tuple[tuple[Learner, HandIn], ...]


def import_distributed() -> Any:
    """Import Dask's library, which is optional and untyped. Raises ImportError without it."""
    return importlib.import_module("distributed")


@cache
def code_digest() -> str:
    """Return a digest of the code that grades: machines with the same one give the same verdicts."""
    import hashlib

    root = Path(__file__).resolve().parents[2]
    patterns = ("*.py", *(f"{package}/**/*.py" for package in PACKAGES))
    sha = hashlib.sha256()
    for path in sorted(path for pattern in patterns for path in root.glob(pattern)):
        sha.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return sha.hexdigest()[:12]


def describe() -> dict[str, str]:
    """Return this worker's code digest, host and Python version."""
    import platform

    return {"code": code_digest(), "host": platform.node(), "python": platform.python_version()}


def pack_course(course: Course) -> bytes:
    """Return the files of a course as a zip."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in course_files(course):
            archive.write(path, path.relative_to(course.root).as_posix())
    return packed.getvalue()


def grade_parcel(parcel: Parcel) -> int:
    """Grade a parcel into the queue of the run, and return how many hand-ins are done.

    What a worker that died had graded of it is not graded again. Raises SelfattendError if no grading process starts.
    """
    if parcel.code != code_digest():
        raise GraderError("the program on this node is another one", next_step="install the same version everywhere")
    dask = import_distributed()
    client = dask.get_client()
    queue, stop = dask.Queue(parcel.run, client=client), dask.Event(STOP.format(parcel.run), client=client)
    progress = [parcel.run, str(parcel.number)]
    done = int(client.get_metadata(progress, 0))
    with _use_pool(parcel) as pool:
        for learner, hand_in in parcel.hand_ins[done:]:
            if stop.is_set():
                break
            queue.put(to_message(learner.id, pool.grade(learner, hand_in)))
            done += 1
            client.set_metadata(progress, done)
    return done


def to_message(hand_in: str, graded: GradedHandIn) -> bytes:
    """Return a hand-in's id and result as bytes."""
    return json.dumps([hand_in, graded.to_json()]).encode()


def from_message(message: bytes) -> tuple[str, GradedHandIn]:
    """Return what `to_message` was given."""
    hand_in, content = json.loads(message)
    return hand_in, GradedHandIn.from_json(content)


def end_run(run: str) -> None:
    """End the grading processes that this worker keeps for a run, unless they are grading."""
    with _lock:
        kept = _kept.get(run)
        if kept is not None and not kept.users:
            _kept.pop(run).close()


# --- what a worker keeps from parcel to parcel ------------------------------------------------------------------------


class _Kept:
    """The grading processes of one run, and the course that they use."""

    def __init__(self, parcel: Parcel) -> None:
        self.users = 0
        self.last_used = time.monotonic()
        self.folder = TempFolder()
        with zipfile.ZipFile(io.BytesIO(parcel.course)) as archive:
            archive.extractall(self.folder.root)
        settings = dataclasses.replace(parcel.settings, root=str(self.folder.root))
        self.pool = ProcessPool(settings, parcel.limits)

    def close(self) -> None:
        self.pool.close()
        self.folder.remove()


_kept: dict[str, _Kept] = {}
_lock = threading.Lock()


@contextmanager
def _use_pool(parcel: Parcel) -> Iterator[ProcessPool]:
    with _lock:
        kept = _kept.get(parcel.run)
        if kept is None:
            kept = _kept[parcel.run] = _Kept(parcel)
            threading.Thread(target=_end_when_idle, args=(parcel.run,), daemon=True).start()
        kept.users += 1
    try:
        yield kept.pool
    finally:
        with _lock:
            kept.users -= 1
            kept.last_used = time.monotonic()


def _end_when_idle(run: str) -> None:
    """End a run's processes after IDLE_SECONDS: a client that died cannot say that it has finished."""
    while True:
        time.sleep(IDLE_SECONDS / 10)
        with _lock:
            kept = _kept.get(run)
            if kept is None:
                return
            if not kept.users and time.monotonic() - kept.last_used > IDLE_SECONDS:
                _kept.pop(run).close()
                return
