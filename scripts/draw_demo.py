"""Draw docs/demo.svg: what `learn demo` prints, in a terminal of 84 columns, its assessment.

python scripts/draw_demo.py
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

WIDTH = 84
PICTURE = Path(__file__).resolve().parents[1] / "docs/demo.svg"


def demo() -> list[Text]:
    """The lines of `learn demo`, in colour."""
    command = [str(Path(sys.executable).parent / "learn"), "demo"]
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    return Text.from_ansi(done.stdout).split("\n", allow_blank=True)


def without_paths(lines: list[Text]) -> list[Text]:
    """The lines but the command and the head of the assessment, which hold this machine's paths."""
    command = next(i for i, line in enumerate(lines) if line.plain.startswith("→ learn check"))
    score = next(i for i, line in enumerate(lines) if " / 10 " in line.plain)
    return [*lines[:command], *lines[score:]]


def main() -> None:
    """Write the picture."""
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(Text("$ learn demo", style="bold"))
    console.print(Text("\n").join(without_paths(demo())))
    console.save_svg(str(PICTURE), title="learn demo", theme=MONOKAI)


if __name__ == "__main__":
    main()
