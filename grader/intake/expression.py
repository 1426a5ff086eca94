"""A regular expression of the instructor's against names that learners chose, in a process that can be stopped.

Some expressions take time without end on a name made for it, and Python cannot stop a match that has begun.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

from grader.errors import UsageError

SECONDS = 20.0  # for all names together; ten thousand take far less than one
_PROGRAM = """
import json, re, sys
text, names = json.load(sys.stdin)
pattern = re.compile(text)
for name in names:
    found = pattern.fullmatch(name)
    print(json.dumps(found and found.groupdict()), flush=True)
"""


def match_all(text: str, names: Sequence[str]) -> list[dict[str, str] | None]:
    """The named groups of each name's match; None where the whole of it does not match. Raises UsageError if it takes
    longer than SECONDS."""
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-X", "utf8", "-c", _PROGRAM],
            input=json.dumps([text, list(names)]), capture_output=True, timeout=SECONDS, check=True, encoding="ascii",
        )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        seen = len((late.stdout or b"").splitlines())
        name = names[min(seen, len(names) - 1)]
        what = f"--names {text} takes too long on the name {name!a}"
        next_step = "write it without a repetition inside a repetition, such as (a+)+"
        raise UsageError(what, next_step=next_step) from None
    except (OSError, subprocess.CalledProcessError) as error:
        raise UsageError(f"--names {text} cannot be used: {error}", next_step="write a simpler expression") from None
    return [json.loads(line) for line in done.stdout.splitlines()]
