"""Definitions that a lesson asks for and that are not taken: below a magic, or in a text. They are told."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator

from grader.intake.limits import SOURCE_SUFFIXES
from grader.intake.notebook.select_definitions import Unit, defined_names
from grader.source.parse import nodes_in

DEFINITION = re.compile(r"^(?:async[ \t]+)?(def|class)[ \t]+(\w+)", re.MULTILINE)
# IPython's own, and those of packages that hand the cell on to it; `%%timeit` keeps nothing of what it defines
PYTHON_CELL_MAGIC = re.compile(
    r"%%(time|capture|prun|check|debug|memit|snakeviz|pyinstrument|wandb|notify|ipytest|run_pytest)\b"
)
_MAGIC = re.compile(r"\s*(?P<magic>%%\w+)(?P<line>.*)")
_BELOW = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)


def below_magic(code: str, wanted: Collection[str]) -> str:
    """Return why what a cell defines of the *wanted* names is not taken; empty if it is, or defines none.

    A cell that writes a file of Python is read as that.
    """
    found = _MAGIC.match(code)
    if not found or PYTHON_CELL_MAGIC.match(found["magic"]):
        return ""
    if found["magic"] in ("%%writefile", "%%file") and any(end in found["line"] for end in SOURCE_SUFFIXES):
        return ""
    names = [name for name in dict.fromkeys(_BELOW.findall(code)) if name in wanted]
    if names and found["magic"] == "%%timeit":
        return "nothing stays of what `%%timeit` defines."
    told = ", ".join(f"`{name}`" for name in names)
    return f"{told} stands below `{found['magic']}`, which need not define it in the notebook." if names else ""


def in_texts(units: Iterable[Unit], wanted: Collection[str]) -> Iterator[tuple[Unit, str]]:
    """Yield the *wanted* names that nothing defines, each with a unit that is not taken and has it in a text.

    Such a text is written into a file, say.
    """
    units = list(units)
    open_names = set(wanted).difference(*(defined_names(unit) for unit in units if unit.taken))
    for unit in units if open_names else ():
        for text in () if unit.taken else _texts(unit):
            for name in open_names.intersection(name for _, name in DEFINITION.findall(text)):
                yield unit, name


def _texts(unit: Unit) -> Iterator[str]:
    return (
        node.value
        for node in nodes_in(*unit.statements)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
