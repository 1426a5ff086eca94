"""Writing an open answer: in the learner's editor, or line by line. What was written is never lost.

The editor's file lies beside the learner's progress, not among temporary files: what was saved in it is found again,
however the editor and the terminal ended.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from grader.cli.quiz.prompt import Dialogue
from grader.cli.quiz.render import prose
from grader.quiz.open_answers import SHORTEST
from grader.terminal.console import MAX_COLUMNS, paint, width
from grader.terminal.text import clean, plural

BELOW = "# ---- your answer: below this line ----"
END = "."
SKIP = "skip"

Keep = Callable[[str], None]


def write(dialogue: Dialogue, asks: str, text: str, keep: Keep, draft: Path, by_lines: bool) -> str | None:
    """The answer, as long as it has to be; None to skip the question. Raises EOFError. The question was shown before.

    `text` is what was written before; `keep` is called with all of it whenever there is more.
    """
    editor = "" if by_lines or not dialogue.terminal else os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    while True:
        if editor:
            chosen = _asked(dialogue, editor, text)
            if chosen == SKIP:
                return None
            editor = "" if chosen == "lines" else editor
        written = _edited(dialogue, editor, asks, text, draft) if editor else _typed(dialogue, text, keep)
        if written is None:
            return None
        if written != text:
            text = written
            keep(text)
        if len(text) >= SHORTEST:
            draft.unlink(missing_ok=True)
            return text
        had = (
            f"It has {plural(len(text), 'character')}; {SHORTEST} are the least. `{SKIP}` leaves it out."
            if text
            else ""
        )
        dialogue.show(prose(had or f"Nothing was written. `{SKIP}` leaves the question out."))


def _asked(dialogue: Dialogue, editor: str, text: str) -> str:
    does = "goes on in" if text else "opens"
    prompt = f"Enter {does} {Path(editor.split()[0]).name}, l writes line by line, {SKIP} leaves it out "
    return dialogue.choose(prompt, {"e": "editor", "l": "lines", "lines": "lines", SKIP: SKIP}, "editor")


# --- line by line -----------------------------------------------------------------------------------------------------


def _typed(dialogue: Dialogue, text: str, keep: Keep) -> str | None:
    """What is typed until a line with a full stop alone, after what was there; each line is kept at once."""
    lines = text.split("\n") if text else []
    if dialogue.terminal:
        says = f"Write{' on' if lines else ''}, line by line. A line with a single {END} ends it."
        says += "" if text else f" {SKIP} alone leaves the question out."
        dialogue.show(["", paint(says, "quiet"), *(["", *clean(text).split("\n")] if text else [])])
    while (line := dialogue.ask("> ")).strip() != END:
        if line.strip().lower() == SKIP and not "".join(lines).strip():
            return None
        lines.append(line)
        keep("\n".join(lines).strip())
    return "\n".join(lines).strip()


# --- in an editor -----------------------------------------------------------------------------------------------------


def _edited(dialogue: Dialogue, editor: str, asks: str, text: str, draft: Path) -> str:
    """What stands in the file once the editor has ended; what was there before, if it could not be started."""
    import shlex
    import subprocess

    try:
        if not draft.exists():
            draft.write_text(_with_question(asks, text), encoding="utf-8")
        before = draft.read_bytes()
        code = subprocess.run([*shlex.split(editor), str(draft)], check=False).returncode
    except (OSError, ValueError) as error:
        dialogue.show(prose(f"Your editor, `{editor}`, could not be started: {error}."))
        return text
    if code:
        dialogue.show(prose(f"Your editor ended with code {code}. What it saved is taken."))
    elif draft.read_bytes() == before:
        dialogue.show(prose(
            "Nothing was saved. An editor with a window of its own has to be told to wait, as `code --wait` is."
        ))  # fmt: skip
    return _without_question(draft.read_text(encoding="utf-8", errors="replace"))


def found(draft: Path, text: str, keep: Keep) -> str:
    """The text, with what an editor saved in a sitting that was broken off."""
    if not draft.exists():
        return text
    saved = _without_question(draft.read_text(encoding="utf-8", errors="replace"))
    if saved and saved != text:
        keep(saved)
    return saved or text


def _with_question(asks: str, text: str) -> str:
    import textwrap

    columns = min(width(), MAX_COLUMNS) - 2
    paragraphs = [textwrap.wrap(each, columns) for each in asks.split("\n\n")]
    lines = [line for paragraph in paragraphs for line in (*paragraph, "")][:-1]
    return "\n".join([*(f"# {line}".rstrip() for line in lines), "#", BELOW, "", text, ""])


def _without_question(content: str) -> str:
    """What stands below the line; where the line is gone, all but the comment that the file begins with."""
    head, line, body = content.partition(BELOW)
    if line:
        return body.strip()
    lines = head.split("\n")
    while lines and (lines[0].startswith("#") or not lines[0].strip()):
        lines.pop(0)
    return "\n".join(lines).strip()
