"""An editor's file of an open answer, which lies beside the learner's progress until the answer is complete."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from grader.files import MAX_FILE_BYTES, read_bounded

MARKER = "# ---- your answer: below this line ----"

Save = Callable[[str], None]


def draft_path(progress: Path, topic: str) -> Path:
    """Return where the draft of a topic's answer lies, given the file of the learner's progress."""
    return progress.parent / f"open-{topic}.md"


def recover_draft(draft: Path, text: str, save: Save) -> str:
    """Return the text, or what an editor saved of it in a session that was stopped."""
    saved = read_draft(draft, text)
    if saved and saved != text:
        save(saved)
    return saved or text


def read_draft(draft: Path, text: str) -> str:
    """Return what stands below the question in the draft; *text* where it is no file that can be read."""
    try:
        content = read_bounded(draft, MAX_FILE_BYTES)
    except OSError:
        return text
    return _remove_question(content.decode("utf-8", "replace").replace("\r\n", "\n"))


def _remove_question(content: str) -> str:
    """Return the text below the marker; without a marker, all after the comment at the beginning."""
    head, line, body = content.partition(MARKER)
    if line:
        return body.strip()
    lines = head.split("\n")
    while lines and (lines[0].startswith("#") or not lines[0].strip()):
        lines.pop(0)
    return "\n".join(lines).strip()
