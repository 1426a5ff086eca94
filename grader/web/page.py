"""Render a page, with what every page has, and read what its forms send."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from grader.reports.html_document import TEMPLATES as HOUSE
from grader.reports.html_document import render

TEMPLATES = Path(__file__).parent / "templates"
MAX_FIELDS = 50


def show_page(name: str, view: Mapping[str, object], status: int = 200) -> HTMLResponse:
    """Render one of our templates."""
    return HTMLResponse(render(name, view, TEMPLATES), status)


def show_style(request: Request) -> Response:
    """Return the style that all pages of the house share."""
    return Response((HOUSE / "style.css").read_bytes(), media_type="text/css")


async def read_form(request: Request, several: str = "") -> dict[str, str]:
    """Return the fields of a form; those of one name may be several, and are joined. Raises HTTPException."""
    try:
        fields = parse_qs((await request.body()).decode("utf-8", "replace"), max_num_fields=MAX_FIELDS)
    except ValueError:
        raise HTTPException(400, "That is none of our forms.") from None
    return {name: " ".join(values) if name == several else values[-1] for name, values in fields.items()}
