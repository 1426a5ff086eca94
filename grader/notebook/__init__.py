"""The course in a notebook: `%load_ext grader.notebook`.

%%check LESSON, %check FUNCTION LESSON, %trace and %hint are magics; show("LESSON") and quiz(3) are functions. What is
judged is the source of the cells that were run, in a process beside the kernel, which ends with it.
"""

from __future__ import annotations

from typing import Any


def load_ipython_extension(shell: Any) -> None:
    """Offer the magics and functions in a notebook, and start its judge."""
    from grader.notebook.magics import CourseMagics

    magics = CourseMagics(shell)
    shell.register_magics(magics)
    shell.push({"show": magics.show, "quiz": magics.quiz})


def unload_ipython_extension(shell: Any) -> None:
    """End the judge."""
    if magics := shell.magics_manager.registry.get("CourseMagics"):
        magics.judge.close()
