"""Draw docs/demo.svg: what `learn demo` prints, in a terminal of 84 columns, the list of checks cut short.

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


def shortened(lines: list[Text]) -> list[Text]:
    """The score and the first failure, then everything from the smallest failing input on."""
    plain = [line.plain for line in lines]
    start = next(i for i, line in enumerate(plain) if " / 10 " in line) - 1
    smallest = next(i for i, line in enumerate(plain) if line.startswith("Smallest failing input"))
    failures = [i for i in range(start, smallest) if plain[i].lstrip().startswith(("✗", "✓", "·"))]
    return [*lines[start : failures[1]], Text("  ...", style="dim"), Text(""), *lines[smallest:]]


def main() -> None:
    """Write the picture."""
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(Text("$ learn demo", style="bold"))
    console.print(Text("\n").join(shortened(demo())))
    console.save_svg(str(PICTURE), title="learn demo", theme=MONOKAI)


if __name__ == "__main__":
    main()
