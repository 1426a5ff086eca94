"""Write each learner's feedback into their repository: as an issue of its own, or as a file.

    python -m grader.github.give_back class.csv results issue "Feedback on homework 1"

This runs in the instructor's workflow, on another machine than learners' code did. An issue that is there is answered
with a comment, and a file is replaced, only if the feedback has changed. Nothing is cloned.
"""

from __future__ import annotations

import base64
import json
import sys
import time
from pathlib import Path
from typing import Any

from grader.errors import SelfattendError, UsageError
from grader.files import file_name, read_whole, refuse_link
from grader.github.class_list import FOLDER, read_class
from grader.github.gh import GitHubError, gh

PAUSE = 1.0  # GitHub asks for a second between two requests that write
MAX_CHARS = 60_000  # of an issue; GitHub takes 65,536
CUT = "\n\n*This is not all: it is longer than GitHub takes. Ask for the rest.*\n"


def give_back(members: Path, results: Path, form: str, title: str) -> tuple[int, list[str]]:
    """Write the feedback; return how many learners have it now, and who has not and why. Raises UsageError."""
    write = {"issue": _write_issue, "file": _write_file}[form]
    pages = _find_pages(results)
    written, failed = 0, []
    for one in read_class(members):
        if one.id not in pages:
            failed.append(f"{one.id}: there is no feedback, since nothing was handed in or cloned")
            continue
        try:
            write(one.repository, title, read_whole(pages[one.id]).decode())
            written += 1
        except (GitHubError, OSError) as error:
            failed.append(f"{one.id}: the feedback was not written into {one.repository}: {error}")
        except (LookupError, TypeError, ValueError, RecursionError):  # what stands there is its owner's choice
            failed.append(f"{one.id}: the feedback was not written into {one.repository}: no page of ours is there")
    return written, failed


def _find_pages(results: Path) -> dict[str, Path]:
    """Return the page of each id. Raises UsageError if these are no results."""
    try:
        refuse_link(results / "feedback")
        submissions = json.loads(read_whole(results / "results.json", 1 << 30))["submissions"]
        return {one["id"]: results / "feedback" / f"{file_name(one['feedback'])}.md" for one in submissions}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        what = f"these are no results of grader run: {error}"
        raise UsageError(what, where=str(results), next_step="run the whole workflow again") from None


def _write_issue(repository: str, title: str, text: str) -> None:
    """Open an issue, or comment on the one that is there, if the text is new. Raises GitHubError."""
    text = text if len(text) <= MAX_CHARS else text[:MAX_CHARS] + CUT
    there = ("issue", "list", "--repo", repository, "--author", "@me", "--state", "all", "--limit", "1000")
    found = [one for one in _ask(*there, "--json", "number,title") if one["title"] == title]
    if not found:
        _change("issue", "create", "--repo", repository, "--title", title, "--body-file", "-", given=text)
        return
    number = str(found[0]["number"])
    issue = _ask("issue", "view", number, "--repo", repository, "--json", "body,comments")
    ours = [issue["body"], *(each["body"] for each in issue["comments"] if each["viewerDidAuthor"])]
    if ours[-1].split() != text.split():
        _change("issue", "comment", number, "--repo", repository, "--body-file", "-", given=text)


def _write_file(repository: str, title: str, text: str) -> None:
    """Commit the page to the default branch, if it is new. Raises GitHubError."""
    where = f"repos/{repository}/contents/{FOLDER}/{file_name(title.replace(' ', '-'))}.md"
    content = {"message": title, "content": base64.b64encode(text.encode()).decode()}
    try:
        there = _ask("api", where)
    except GitHubError as error:
        if "HTTP 404" not in str(error):
            raise
    else:
        if base64.b64decode(there["content"]) == text.encode():
            return
        content["sha"] = there["sha"]
    _change("api", "--method", "PUT", where, "--input", "-", given=json.dumps(content))


def _ask(*arguments: str) -> Any:
    return json.loads(gh(*arguments))


def _change(*arguments: str, given: str) -> None:
    gh(*arguments, given=given)
    time.sleep(PAUSE)


def main(members: str, results: str, form: str, title: str) -> int:
    """Give the feedback back, and return the exit status: 1 if somebody who handed in has none."""
    try:
        written, failed = give_back(Path(members), Path(results), form, title)
    except SelfattendError as error:
        print(f"::error::{error.what}", error, sep="\n")
        return error.exit_code
    for text in failed:
        print(f"::warning::{text}")
    print(f"Feedback written for {written}, not for {len(failed)}.")
    return 0 if written else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
