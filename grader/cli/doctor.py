"""`learn doctor`: is everything here that the program needs?"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from grader.cli.here import Here, here
from grader.cli.options import course_option, json_option
from grader.cli.run import OUR_FAULT
from grader.cli.screen import paint, put, signs, wrap
from grader.cli.version import version
from grader.errors import GraderError, SelfattendError
from grader.model import SCHEMA, Course
from grader.reports.plain import counted

if TYPE_CHECKING:
    from grader.judge.worker import Worker

OLDEST_PYTHON = (3, 11)
NEEDED = ("torch", "numpy", "pytest", "click", "rich")
STATES = ("ok", "note", "broken")  # "note": it works without, and one should know


@dataclass(frozen=True)
class Finding:
    """One thing looked at."""

    name: str
    state: str
    says: str
    next: str = ""


@click.command("doctor")
@json_option
@course_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Check whether everything works here.

    Python, PyTorch, the device, the isolation, the course and your progress. Exit code 0 unless something is broken.

    \b
    Example:
      learn doctor
      learn doctor --json
    """
    findings: list[Finding] = []
    for finding in _examine(ctx):
        findings.append(finding)
        if not as_json:
            _show(finding)
    broken = [finding for finding in findings if finding.state == "broken"]
    if as_json:
        from grader.reports.to_json import dump

        click.echo(dump({"schema": SCHEMA, "ok": not broken, "findings": [asdict(finding) for finding in findings]}))
    else:
        put()
        put("Everything needed works." if not broken else f"{counted(len(broken), 'thing')} broken.")
    ctx.exit(OUR_FAULT if broken else 0)


def _show(finding: Finding) -> None:
    sign, style = {"ok": (signs().passed, "good"), "note": (signs().trouble, "strong"),
                   "broken": (signs().failed, "bad")}[finding.state]  # fmt: skip
    word = f"{finding.state:<6}"
    put(f"{paint(f'{sign} {word}', style)} {finding.name:<20} " + wrap(finding.says, 30).lstrip())
    if finding.next:
        put(wrap(f"Next: {finding.next}", 30))


def _examine(ctx: click.Context) -> Iterator[Finding]:
    yield from _programs()
    places: list[Here] = []
    yield _tried("course", lambda: _course(ctx, places))
    course = places[0].course if places else None
    yield from _isolation(course)
    yield from _workers(course)
    if places:
        yield _workspace(places[0])
        yield _tried("progress", lambda: _progress(places[0]))


def _tried(name: str, look: Callable[[], Finding]) -> Finding:
    """What `look` finds; what it raises is a finding too."""
    try:
        return look()
    except SelfattendError as error:
        where = f" ({error.where})" if error.where else ""
        return Finding(name, "broken", f"{error.what}{where}", error.next_step)


# --- programs ---------------------------------------------------------------------------------------------------------


def _programs() -> Iterator[Finding]:
    from importlib import metadata

    yield Finding("selfattend", "ok", version())
    found = ".".join(map(str, sys.version_info[:3]))
    new_enough = sys.version_info[:2] >= OLDEST_PYTHON
    yield Finding("Python", "ok" if new_enough else "broken", f"{found} ({sys.executable})",
                  "" if new_enough else "install Python 3.11 or newer")  # fmt: skip
    for package in NEEDED:
        try:
            yield Finding(package, "ok", metadata.version(package))
        except metadata.PackageNotFoundError:
            yield Finding(package, "broken", "not installed", f"pip install {package}")


# --- isolation --------------------------------------------------------------------------------------------------------


def _isolation(course: Course | None) -> Iterator[Finding]:
    """Each layer: can it be had, and does it refuse what it is for? Comes before torch, which starts threads."""
    from grader.judge.session import tried_layers

    for layer, (reason, got_through) in tried_layers(course).items() if course else ():
        if reason:
            yield Finding(layer, "note", f"not available here: {reason}")
        elif got_through:
            yield Finding(layer, "broken", f"it does not hold: {got_through}", "report this")
        else:
            yield Finding(layer, "ok", "in force, and tested")


# --- the device and the workers ---------------------------------------------------------------------------------------


def _workers(course: Course | None) -> Iterator[Finding]:
    """Whether the learner's code can run: a worker is started and asked for an answer."""
    import time

    from grader.cli.working import Working
    from grader.judge.session import describe_device, with_workers

    if course is None:
        return
    started = time.monotonic()
    try:
        with Working("Starting a worker"), with_workers(course) as (launcher, device):
            worker = launcher.lease()
            _ask(worker)
            seconds = time.monotonic() - started
            says = f"it answered after {seconds:.1f} s, with {', '.join(worker.layers or ()) or 'no isolation'}"
            worker.close()
        yield Finding("device", "ok", describe_device(device, course.arrays))  # only now that the spinner is gone
        yield Finding("worker", "ok", says)
    except (SelfattendError, ImportError) as error:
        yield Finding("worker", "broken", str(error).split("\n")[0], "pip install --force-reinstall selfattend")


def _ask(worker: Worker) -> None:
    """Load two lines and call them. Raises WorkerError, GraderError for another answer than theirs."""
    source = "def answer():\n    return 42\n"
    what: dict[str, Any] = {"name": "probe", "path": "probe.py", "source": source, "siblings": {}, "seed": 0}
    worker.request("load", **what, forbids=[], names=["answer"], device="cpu", shared=False)
    if worker.request("call", target="answer", args=[], kwargs={}).get("value") != 42:
        raise GraderError("a worker does not answer what it was told to")


# --- the course and the learner's own ---------------------------------------------------------------------------------


def _course(ctx: click.Context, places: list[Here]) -> Finding:
    place = here(ctx)
    places.append(place)
    course = place.course
    says = f"{course.title}, {course.version}, {counted(len(course.lessons), 'lesson')} ({course.root})"
    without = [lesson.name for lesson in course.lessons.values() if not lesson.checks_path.is_file()]
    if without:
        return Finding("course", "broken", f"{says}: no checks for {', '.join(without)}", "pip install selfattend")
    return Finding("course", "ok", says)


def _workspace(place: Here) -> Finding:
    if place.workspace is None:
        return Finding("workspace", "note", "this folder is not a workspace", "learn start")
    if place.workspace.course_version != place.course.version:
        return Finding("workspace", "note", f"{place.workspace.root}: the course is newer", "learn start")
    return Finding("workspace", "ok", str(place.workspace.root))


def _progress(place: Here) -> Finding:
    if place.workspace is None:
        return Finding("progress", "note", "kept only in a workspace")
    attempts = sum(known.attempts for known in place.progress().values())
    return Finding("progress", "ok", f"{counted(attempts, 'attempt')} kept ({place.workspace.store_path})")
