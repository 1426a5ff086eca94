"""Write pictures to a file: through vl-convert where it is installed, else what a terminal shows, as SVG."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME
from rich.text import Text

from grader.errors import UsageError
from grader.model.picture import Picture, join_pictures
from grader.terminal.layout import Layout
from grader.terminal.picture import draw

INSTALL = "pip install 'selfattend[pictures]'"
SUFFIXES = (".svg", ".png", ".html")
COLUMNS = 80  # of what a terminal shows
PNG_SCALE = 2.0
LESS_THAN = "\ue000"  # in its place where a page is made: a character that stands for nothing


def require_format(file: Path) -> None:
    """Raise UsageError unless pictures can be written to this file here, by its suffix."""
    suffix, next_step = file.suffix, f"--out FILE{'|'.join(SUFFIXES)}"
    if file.is_dir():
        raise UsageError("pictures are written to a file, and this is a folder", where=str(file), next_step=next_step)
    if suffix not in SUFFIXES:
        how = f'as "{suffix}"' if suffix else "to a file without an ending"
        raise UsageError(f"pictures are not written {how}", next_step=next_step)
    if suffix != ".svg" and not has_vl_convert():
        raise UsageError(f"a {suffix[1:].upper()} file needs vl-convert", next_step=f"{INSTALL}, or --out FILE.svg")


def has_vl_convert() -> bool:
    """Return True if vl-convert is installed. Does not import it."""
    return find_spec("vl_convert") is not None


def to_file(pictures: Sequence[Picture], suffix: str) -> bytes:
    """Return the content of a file with these pictures. HTML holds all that a browser needs, and asks for nothing."""
    if not has_vl_convert():
        return _terminal_svg(pictures).encode()
    import vl_convert  # here: it carries a JavaScript engine

    spec = join_pictures(pictures)
    if suffix == ".html":
        # it stands in a script, which no text may end
        without = json.dumps(spec, ensure_ascii=False).replace("<", LESS_THAN)
        return vl_convert.vegalite_to_html(without, bundle=True).replace(LESS_THAN, "\\u003c").encode()
    if suffix == ".png":
        return vl_convert.vegalite_to_png(spec, scale=PNG_SCALE, allowed_base_urls=[])
    return vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]).encode()


def _terminal_svg(pictures: Sequence[Picture]) -> str:
    """Return what a terminal shows, as SVG that loads no fonts."""
    layout = Layout(COLUMNS, colour=True, palette="truecolor")
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text.from_ansi("\n".join(draw(each, layout) for each in pictures)))
    svg = console.export_svg(title="learn show", theme=DEFAULT_TERMINAL_THEME)
    return re.sub(r"@font-face\s*\{[^}]*\}", "", svg)
