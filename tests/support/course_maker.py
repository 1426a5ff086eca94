"""Writes small courses for tests: two tracks, three lessons, and whatever a test wants to be different."""

from __future__ import annotations

from pathlib import Path

SYLLABUS = """\
format = 1
id = "small"
title = "A small course"
version = "1.0"
arrays = "numpy"

[[tracks]]
name = "core"
title = "The first steps"
lessons = [
    "mean",
    "mean_square",
]

[[tracks]]
name = "more"
title = "Further steps"
lessons = ["spread"]

[limits]
call_seconds = 2.5
memory_mb = 512
"""

FRONT = """\
+++
title = "{title}"
minutes = 5
needs = [{needs}]
concepts = ["averages"]
forbids = ["mean"]
aliases = [{aliases}]

[hints]
{function} = ["the idea", "the step"]
+++

# {title}

The text.
"""

STUB = '''\
"""The lesson: learn read {function}"""

import numpy


def {function}(x, axis=-1, *, keep=False):
    """The {function} of x.

    x: shape (T,).
    """
    raise NotImplementedError("{function}: not written yet")
'''


def make_course(root: Path, changes: dict[str, str | None] | None = None) -> Path:
    """Write a course into `root` and return it. `changes` maps a file to its text, or to None to leave it out."""
    files: dict[str, str | None] = {"course.toml": SYLLABUS}
    for track, lesson, needs in [("core", "mean", ""), ("core", "mean_square", '"mean"'), ("more", "spread", '"mean"')]:
        files[f"lessons/{track}/{lesson}.md"] = front(lesson, needs)
        files[f"exercises/{track}/{lesson}.py"] = STUB.format(function=lesson)
    for name, text in {**files, **(changes or {})}.items():
        if text is not None:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
    return root


def front(lesson: str, needs: str = "", aliases: str = "") -> str:
    """A lesson's Markdown file with its front matter."""
    title = lesson.replace("_", " ").capitalize()
    return FRONT.format(title=title, needs=needs, aliases=aliases, function=lesson)
