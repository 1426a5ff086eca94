"""Where results are written: into a new folder, an empty one, or one that holds results; over nobody's other files."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.class_results import made_class
from support.hand_ins import write

from grader.batch.outputs import FILES, Outputs
from grader.batch.results import Results
from grader.batch.results_folder import store_path
from grader.errors import UsageError


def open_here(out: Path) -> Results:
    """Begin new results in a folder."""
    head, _ = made_class(1)
    settings = {name: head[name] for name in ("course", "engine", "lessons", "seed", "device")}
    return Results(store_path(out), settings, Outputs(out), go_on=False)


@pytest.mark.parametrize("name", FILES)
def test_files_of_others_are_not_overwritten(tmp_path, name):
    """A folder with a file or folder of a name of ours, and no results, is refused, and stays as it is."""
    path = f"{name}/ann.html" if "." not in name else name
    write(tmp_path, {path: "mine"})
    for _ in range(2):  # nor is there anything after the first time that tells it to be ours
        with pytest.raises(UsageError, match=f"{name} is here already") as error:
            open_here(tmp_path)
        assert error.value.where == str(tmp_path) and "--out" in error.value.next_step

    assert [one.name for one in tmp_path.iterdir()] == [name]
    assert (tmp_path / path).read_text() == "mine"


def test_a_folder_with_other_files_and_one_that_had_results_are_taken(tmp_path):
    """Files of other names are in nobody's way, and who moves a damaged store away begins anew in the same folder."""
    write(tmp_path, {"notes.txt": "mine"})
    open_here(tmp_path).close()
    write(tmp_path, {"gradebook.csv": "of the results"})
    store_path(tmp_path).unlink()
    open_here(tmp_path).close()

    assert store_path(tmp_path).is_file() and (tmp_path / "notes.txt").read_text() == "mine"
