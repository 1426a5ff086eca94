"""`learn doctor` and `grader doctor`: check that everything the program needs works."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict

import click

from grader.cli.context import CourseContext, find_context
from grader.cli.doctor.finding import Finding
from grader.cli.options import course_option, json_option
from grader.cli.output import put_json
from grader.cli.run_command import OUR_FAULT
from grader.cli.version import version
from grader.course.learner_copy import release_of
from grader.errors import SelfattendError
from grader.model import SCHEMA
from grader.terminal.console import paint, put, signs, wrap
from grader.terminal.text import plural

OLDEST_PYTHON = (3, 11)
NEEDED = ("torch", "numpy", "pytest", "click", "rich", "jinja2")


class _DoctorCommand(click.Command):
    """Shows its examples under the name of the program that was called: learn or grader."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.help = (self.help or "").replace("learn doctor", ctx.command_path)
        super().format_help_text(ctx, formatter)


@click.command("doctor", cls=_DoctorCommand)
@json_option
@course_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Check whether everything works here.

    Python, PyTorch, the device, the course and your progress; and every layer of the isolation, by trying what it is
    there to refuse. Exit code 0 unless something is broken.

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
        put_json({"schema": SCHEMA, "ok": not broken, "findings": [asdict(finding) for finding in findings]})
    else:
        put()
        put("Everything needed works." if not broken else f"{plural(len(broken), 'thing')} broken.")
    ctx.exit(OUR_FAULT if broken else 0)


def _show(finding: Finding) -> None:
    known = signs()
    styles = {"ok": (known.passed, "good"), "note": (known.trouble, "strong"), "broken": (known.failed, "bad")}
    sign, style = styles[finding.state]
    word = f"{finding.state:<6}"
    put(f"{paint(f'{sign} {word}', style)} {finding.name:<20} " + wrap(finding.says, 30).lstrip())
    if finding.next:
        put(wrap(f"Next: {finding.next}", 30))


def _examine(ctx: click.Context) -> Iterator[Finding]:
    yield from _programs()
    contexts: list[CourseContext] = []
    yield _try("course", lambda: _course(ctx, contexts))
    if contexts:
        from grader.cli.doctor.isolation import findings

        yield from findings(contexts[0].course, for_class=ctx.find_root().info_name == "grader")
        yield _workspace(contexts[0])
        yield _try("progress", lambda: _progress(contexts[0]))


def _try(name: str, look: Callable[[], Finding]) -> Finding:
    """Return what `look` finds; an error that it raises is a finding too."""
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
    state, advice = ("ok", "") if sys.version_info >= OLDEST_PYTHON else ("broken", "install Python 3.11 or newer")
    yield Finding("Python", state, f"{found} ({sys.executable})", advice)
    for package in NEEDED:
        try:
            yield Finding(package, "ok", metadata.version(package))
        except metadata.PackageNotFoundError:
            yield Finding(package, "broken", "not installed", f"pip install {package}")
    try:
        yield Finding("pictures", "ok", f"vl-convert {metadata.version('vl-convert-python')}")
    except metadata.PackageNotFoundError:
        says = "without vl-convert, learn show writes SVG files as plain as in the terminal, no PNG and no HTML"
        yield Finding("pictures", "note", says, "pip install 'selfattend[pictures]'")


# --- the course and the learner's own ---------------------------------------------------------------------------------


def _course(ctx: click.Context, contexts: list[CourseContext]) -> Finding:
    context = find_context(ctx)
    contexts.append(context)
    course = context.course
    says = f"{course.title}, {course.version}, {plural(len(course.lessons), 'lesson')} ({course.root})"
    if release := release_of(course):
        inputs = plural(len(release.seeds), "recorded input")
        return Finding("course", "ok", f"{says}: a release, whose checks are the public ones, on {inputs}")
    without = [lesson.name for lesson in course.lessons.values() if not lesson.checks_path.is_file()]
    if without:
        return Finding("course", "broken", f"{says}: no checks for {', '.join(without)}", "pip install selfattend")
    return Finding("course", "ok", says)


def _workspace(context: CourseContext) -> Finding:
    if context.workspace is None:
        return Finding("workspace", "note", "this folder is not a workspace", "learn start")
    if context.workspace.course_version != context.course.version:
        return Finding("workspace", "note", f"{context.workspace.root}: the course is newer", "learn start")
    return Finding("workspace", "ok", str(context.workspace.root))


def _progress(context: CourseContext) -> Finding:
    if context.workspace is None:
        return Finding("progress", "note", "kept only in a workspace")
    attempts = sum(known.attempts for known in context.progress().values())
    return Finding("progress", "ok", f"{plural(attempts, 'attempt')} kept ({context.workspace.store_path})")
