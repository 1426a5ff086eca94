"""Clone the repositories of a class, and list the clones for `grader run`.

    python -m grader.github.clone class.csv clones

This runs in the instructor's workflow, with the token that reads the class and before anything is installed. Clones
are bare: nothing is checked out.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from grader.errors import SelfattendError, UsageError
from grader.github.class_list import FOLDER, read_class
from grader.github.gh import GitHubError, gh

SECONDS = 60.0  # to find the newest work in one repository: its folders may be endless
NEXT_STEP = "see that the secret CLASS_TOKEN may read these repositories (README.md), then run the workflow again"


def clone_class(members: Path, folder: Path) -> list[str]:
    """Clone into *folder*, write `class.csv` there, and return who was left out and why.

    Raises UsageError if nothing could be cloned.
    """
    folder.mkdir(0o700, parents=True)
    lines, failed = [], []
    for one in read_class(members):
        try:
            clone = folder / f"{one.id}.git"
            gh("repo", "clone", one.repository, str(clone), "--", "--bare", "--quiet")
            lines.append(f"{one.id},{clone.name},{_newest_work(clone)}\n")
        except GitHubError as error:
            failed.append(f"{one.id}: {one.repository} was not cloned: {error}")
    if not lines:
        raise UsageError(failed[0], where=str(members), next_step=NEXT_STEP)
    (folder / "class.csv").write_text("".join(["id,path,commit\n", *lines]), encoding="utf-8")
    return failed


def _newest_work(clone: Path) -> str:
    """Return the newest commit that is of more than our feedback; "" in an empty repository.

    Else each file that is given back would be work that came later, and be said in the next feedback.

    Raises GitHubError if that takes too long.
    """
    words = ["git", f"--git-dir={clone}", "rev-list", "--max-count=1", "HEAD", "--", ".", f":(exclude){FOLDER}"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise GitHubError(f"its history could not be read in {SECONDS:.0f} s") from None
    return done.stdout.strip()


def main(members: str, folder: str) -> int:
    """Clone, and return the exit status."""
    try:
        failed = clone_class(Path(members), Path(folder))
    except SelfattendError as error:
        print(f"::error::{error.what}", error, sep="\n")
        return error.exit_code
    for text in failed:
        print(f"::warning::{text}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
