"""The pages of a class: all learners, to search and filter; the report, feedback and code that a run has written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from grader.files import is_file, read_whole
from grader.record import STATUSES, Record
from grader.reports.html_document import file_link, hash_of
from grader.reports.page_grammar import can_be_ours
from grader.terminal.text import clean
from grader.web.guard import POLICY
from grader.web.page import show_page, show_style

STATIC = Path(__file__).parent / "static"
MAX_PAGE_BYTES = 64 << 20
MAX_SAID = 90  # characters of a mistake in the list to choose from
FOLDERS = ("feedback", "code")  # of pages that a run writes of each hand-in
# they carry the house's style and script in them, which their own policy allows, too; a form is in none
CLASS_POLICY = (
    POLICY.replace("script-src 'self'", f"script-src 'self' '{hash_of('sort.js')}'")
    .replace("style-src 'self'", f"style-src 'self' '{hash_of('style.css')}'")
    .replace("form-action 'self'", "form-action 'none'")
)


def make_class_app(
    out: Path, title: str, records: Iterable[Record], missing: Iterable[Mapping[str, Any]] = ()
) -> Starlette:
    """Return the application over the results folder *out*, which must stand behind the guard.

    Args:
        missing: `id` and `name` of whoever the roster has, and handed nothing in.
    """
    records = list(records)
    learners = class_view(out, records, missing)
    own = {f"{record.feedback}.html" for record in records}

    def show(page: Path) -> Response:
        text = _read(page, out)
        if text is None:
            return Response(status_code=404)
        changed = {"title": title, "page": page.relative_to(out).as_posix(), "out": str(out)}
        return HTMLResponse(text) if can_be_ours(text) else show_page("changed_page", changed, 403)

    def show_one(folder: str, request: Request) -> Response:
        """Show a page of these names or numbered, and nothing else that lies in its folder."""
        name = request.path_params["name"]
        is_own = name in own if folder in FOLDERS else re.fullmatch(r"[0-9]+\.html", name)
        return show(out / folder / name) if is_own else Response(status_code=404)

    routes = [
        *[Route(f"/{folder}/{{name}}", partial(show_one, folder)) for folder in (*FOLDERS, "alike")],
        Route("/", lambda _: show_page("class", {"title": title, "states": STATUSES})),
        Route("/learners.json", lambda _: JSONResponse(learners)),
        Route("/report.html", lambda _: show(out / "report.html")),
        Route("/style.css", show_style),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return Starlette(routes=routes)


def _read(page: Path, out: Path) -> str | None:
    """Return a page of the results folder *out*, which may be somebody else's; None for none, and for a link."""
    if page.is_symlink() or (page.parent != out and page.parent.is_symlink()):
        return None
    try:
        return read_whole(page, MAX_PAGE_BYTES).decode(errors="replace")
    except OSError:
        return None


def class_view(out: Path, records: Iterable[Record], missing: Iterable[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Return what the page shows of each learner, and by number the mistakes and checks to filter by."""
    rows: list[dict[str, Any]] = []
    mistakes: dict[str, list[int]] = {}
    checks: dict[str, list[int]] = {}
    says: dict[str, str] = {}
    for number, record in enumerate(records):
        page, code = (file_link(folder, record.feedback) for folder in ("feedback", "code"))
        row = {"name": clean(record.name or record.id), "id": clean(record.id), "score": record.score, "page": page}
        has_code = is_file(out / "code" / f"{record.feedback}.html")
        rows.append(row | {"state": record.status, "code": code if has_code else ""})
        for name, lesson in record.lessons.items():
            for mistake in {each.id: each for each in lesson.mistakes}.values():
                says.setdefault(key := f"{name}: {mistake.id}", f"{name}: {mistake.says}")
                mistakes.setdefault(key, []).append(number)
            for check in lesson.checks:
                if check.outcome not in ("passed", "skipped"):
                    checks.setdefault(check.id, []).append(number)
    for one in missing:
        own, name = str(one.get("id", "")), str(one.get("name") or "")
        row = {"name": clean(name or own), "id": clean(own), "score": None, "page": ""}
        rows.append(row | {"state": "nothing handed in", "code": ""})
    listed = {"mistakes": _most_frequent_first(mistakes, says), "checks": _most_frequent_first(checks, {})}
    return {"learners": rows, **listed}


def _most_frequent_first(found: dict[str, list[int]], says: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return what there is to filter by, each with whom it concerns, and what it *says* if its key does not."""
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    return [
        {
            "key": key,
            "name": shorten(clean(says.get(key, key)), MAX_SAID, placeholder=" ..."),
            "learners": sorted(set(numbers)),
        }
        for key, numbers in ordered
    ]
