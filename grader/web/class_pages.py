"""The pages of a class: all learners, to search and filter; the report, feedback and code that a run has written."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from grader.files import is_file, read_whole
from grader.record import STATUSES, Record
from grader.reports.html_document import file_link, hash_of
from grader.terminal.text import clean
from grader.web.guard import POLICY
from grader.web.page import show_page, show_style

STATIC = Path(__file__).parent / "static"
MAX_PAGE_BYTES = 64 << 20
LEADING = re.compile("<meta|<link", re.IGNORECASE)  # a link of rel=preconnect leads out under any policy
METAS = (  # as in `reports/templates/base.html.j2`; of two attributes of one name the first counts
    '<meta charset="utf-8">',
    '<meta http-equiv="Content-Security-Policy" content="',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="referrer" content="no-referrer">',
    '<meta name="robots" content="noindex">',
)
FOLDERS = ("feedback", "code")  # of pages that a run writes of each hand-in
# they carry the house's style and script in them, which their own policy allows, too
CLASS_POLICY = POLICY.replace("script-src 'self'", f"script-src 'self' '{hash_of('sort.js')}'").replace(
    "style-src 'self'", f"style-src 'self' '{hash_of('style.css')}'"
)


def make_class_app(out: Path, title: str, records: Iterable[Record]) -> Starlette:
    """Return the application over the results folder *out*, which must stand behind the guard."""
    records = list(records)
    learners = class_view(out, records)
    own = {f"{record.feedback}.html" for record in records}
    report = out / "report.html"

    def show_report(_request: Request) -> Response:
        return FileResponse(report) if _leads_nowhere(report) else Response(status_code=404)

    routes = [
        Route("/", lambda _: show_page("class", {"title": title, "states": STATUSES})),
        Route("/learners.json", lambda _: JSONResponse(learners)),
        Route("/report.html", show_report),
        *[Mount(f"/{name}", _Pages(out / name, own)) for name in FOLDERS],
        Mount("/alike", _Pages(out / "alike")),
        Route("/style.css", show_style),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return Starlette(routes=routes)


class _Pages(StaticFiles):
    """The pages that a run writes to a folder, of these names or numbered, and nothing else that lies there.

    Somebody else's results may hold a script or pages of their own, or be links to other files.
    """

    def __init__(self, folder: Path, names: Collection[str] | None = None) -> None:
        super().__init__(directory=folder, check_dir=False)
        self._folder, self._names = folder, names
        self.config_checked = True  # a folder that is not there has no pages

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        is_own = re.fullmatch(r"[0-9]+\.html", path) if self._names is None else path in self._names
        is_shown = is_own and not self._folder.is_symlink() and _leads_nowhere(self._folder / path)
        return super().lookup_path(path) if is_shown else ("", None)


def _leads_nowhere(page: Path) -> bool:
    """Return True for a page that is no link and takes nobody elsewhere: it has the `<meta>` of ours, and no `<link>`.

    A policy stops scripts, and no refresh.
    """
    try:
        text = "" if page.is_symlink() else read_whole(page, MAX_PAGE_BYTES).decode()
    except (OSError, UnicodeDecodeError):
        return False
    return bool(text) and all(text.startswith(METAS, found.start()) for found in LEADING.finditer(text))


def class_view(out: Path, records: Iterable[Record]) -> dict[str, Any]:
    """Return what the page shows of each learner, and by number the mistakes and checks to filter by."""
    rows: list[dict[str, Any]] = []
    mistakes: dict[str, list[int]] = {}
    checks: dict[str, list[int]] = {}
    for number, record in enumerate(records):
        page, code = (file_link(folder, record.feedback) for folder in ("feedback", "code"))
        row = {"name": clean(record.name or record.id), "id": clean(record.id), "score": record.score, "page": page}
        has_code = is_file(out / "code" / f"{record.feedback}.html")
        rows.append(row | {"state": record.status, "code": code if has_code else ""})
        for name, lesson in record.lessons.items():
            for mistake in {each.id for each in lesson.mistakes}:
                mistakes.setdefault(f"{name}: {mistake}", []).append(number)
            for check in lesson.checks:
                if check.outcome not in ("passed", "skipped"):
                    checks.setdefault(check.id, []).append(number)
    return {"learners": rows, "mistakes": _most_frequent_first(mistakes), "checks": _most_frequent_first(checks)}


def _most_frequent_first(found: dict[str, list[int]]) -> list[dict[str, Any]]:
    """Return what there is to filter by, each with whom it concerns."""
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    return [{"name": clean(name), "learners": sorted(set(numbers))} for name, numbers in ordered]
