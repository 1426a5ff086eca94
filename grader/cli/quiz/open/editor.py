"""Write an open answer, in the learner's editor or line by line, without ever losing what was written.

The editor's file lies beside the learner's progress, not among temporary files: what was saved in it is recovered,
however the editor and the terminal ended.
"""

from __future__ import annotations

import os
from pathlib import Path

from grader.cli.quiz.prompt import STOP_KEY, Prompter
from grader.cli.quiz.render import wrap_paragraphs
from grader.files import make_private
from grader.quiz.open_answers import MIN_CHARACTERS
from grader.quiz.open_draft import MARKER, Save, read_draft
from grader.terminal.console import MAX_COLUMNS, paint, width
from grader.terminal.text import clean, plural

END = "."
SKIP = "skip"


def write(prompter: Prompter, asks: str, text: str, save: Save, draft: Path, by_lines: bool) -> str | None:
    """Let the learner write until the answer is long enough, and return it; None to skip the question.

    The question was shown before; it stands as a comment above the text in an editor, whose file is `draft`. `text` was
    written before. `save` is called with the whole text whenever there is more of it. Raises EOFError.
    """
    editor = "" if by_lines or not prompter.interactive else os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    while True:
        if editor:
            chosen = _choose_editor(prompter, editor, text)
            if chosen == SKIP:
                return None
            editor = "" if chosen == "lines" else editor
        written = _run_editor(prompter, editor, asks, text, draft) if editor else _read_lines(prompter, text, save)
        if written is None:
            return None
        if written != text:
            text = written
            save(text)
        if len(text) >= MIN_CHARACTERS:
            draft.unlink(missing_ok=True)
            return text
        says = f"Nothing was written. `{SKIP}` leaves the question out."
        if text:
            says = f"It has {plural(len(text), 'character')}; {MIN_CHARACTERS} are the least. `{SKIP}` leaves it out."
        prompter.show(wrap_paragraphs(says))


def _choose_editor(prompter: Prompter, editor: str, text: str) -> str:
    does = "goes on in" if text else "opens"
    prompt = f"Enter {does} {Path(editor.split()[0]).name}, l writes line by line, {SKIP} leaves it out "
    return prompter.choose(prompt, {"e": "editor", "l": "lines", "lines": "lines", SKIP: SKIP}, "editor", can_stop=True)


# --- line by line -----------------------------------------------------------------------------------------------------


def _read_lines(prompter: Prompter, text: str, save: Save) -> str | None:
    """Append lines to the text until one with a full stop alone, and save each at once."""
    lines = text.split("\n") if text else []
    if prompter.interactive:
        says = f"Write{' on' if lines else ''}, line by line. A line with a single {END} ends it."
        says += "" if text else f" {SKIP} alone leaves the question out, {STOP_KEY} alone stops."
        told = [paint(line, "quiet") for line in wrap_paragraphs(says)]
        prompter.show(["", *told, *(["", *clean(text).split("\n")] if text else [])])
    while (line := prompter.ask("> ")).strip() != END:
        alone = "" if "".join(lines).strip() else line.strip().lower()
        if alone == SKIP:
            return None
        if alone == STOP_KEY and prompter.interactive:
            raise EOFError
        lines.append(line)
        save("\n".join(lines).strip())
    return "\n".join(lines).strip()


# --- in an editor -----------------------------------------------------------------------------------------------------


def _run_editor(prompter: Prompter, editor: str, asks: str, text: str, draft: Path) -> str:
    """Run the editor and return the text in its file; the text as it was if the editor does not start."""
    import shlex
    import subprocess

    try:
        if not draft.exists():
            make_private(draft)  # through no link
            draft.write_text(_add_question(asks, text), encoding="utf-8")
        before = read_draft(draft, text)
        code = subprocess.run([*shlex.split(editor), str(draft)], check=False).returncode
    except (OSError, ValueError) as error:
        prompter.show(wrap_paragraphs(f"Your editor, `{editor}`, could not be started: {error}."))
        return text
    if code:
        prompter.show(wrap_paragraphs(f"Your editor ended with code {code}. What it saved is taken."))
    elif read_draft(draft, text) == before:
        says = "Nothing was saved. An editor with a window of its own has to be told to wait, as `code --wait` is."
        prompter.show(wrap_paragraphs(says))
    return read_draft(draft, text)


def _add_question(asks: str, text: str) -> str:
    import textwrap

    columns = min(width(), MAX_COLUMNS) - 2
    paragraphs = [textwrap.wrap(each, columns) for each in asks.split("\n\n")]
    lines = [line for paragraph in paragraphs for line in (*paragraph, "")][:-1]
    return "\n".join([*(f"# {line}".rstrip() for line in lines), "#", MARKER, "", text, ""])
