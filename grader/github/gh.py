"""Ask GitHub by its own program `gh`, which every runner has, and which takes the token from GH_TOKEN."""

from __future__ import annotations

import subprocess

SECONDS = 300.0
MAX_ERROR_CHARS = 300


class GitHubError(Exception):
    """GitHub refused, or could not be asked; the text is the last line that it gave as the reason."""


def gh(*arguments: str, given: str | None = None) -> str:
    """Run `gh ARGUMENTS`, with *given* on standard input, and return what it prints. Raises GitHubError."""
    try:
        done = subprocess.run(
            ["gh", *arguments], input=given or "", capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except FileNotFoundError:
        raise GitHubError("the program gh is not installed") from None
    except subprocess.TimeoutExpired:
        raise GitHubError(f"no answer in {SECONDS:.0f} s") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"gh ended with {done.returncode}"]
        raise GitHubError(" ".join(lines[-1].split())[:MAX_ERROR_CHARS])
    return done.stdout
