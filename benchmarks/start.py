"""Measure the commands of `learn` that need no grading: none imports torch.

python benchmarks/start.py
"""

from __future__ import annotations

import sys

from measure import describe_machine, keep_bytecode, learn, python, ratios, side_by_side, workspace

LIMIT = 1.6


def main() -> int:
    """Print the table; 1 if a limit is passed."""
    describe_machine()
    with workspace() as root:
        keep_bytecode(root / ".bytecode")
        commands = {
            "import click, rich": python("import click, rich"),
            "learn": learn(),
            "learn list": learn("list"),
            "learn hint softmax": learn("hint", "softmax"),
            "learn progress": learn("progress"),
        }
        medians = side_by_side(commands, rounds=15, cwd=root)
    limits = {name: LIMIT for name in commands if name.startswith("learn")}
    return 0 if ratios("Start-up", medians, "import click, rich", limits) else 1


if __name__ == "__main__":
    sys.exit(main())
