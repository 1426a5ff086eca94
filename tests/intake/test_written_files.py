"""Files that cells of a notebook write, by `%%writefile`, as parts of a hand-in."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from support.hand_ins import ANSWERS, TINY, learner_of, make_notebook, make_zip

from grader.batch.results import read_results
from grader.cli.grader.group import grader
from grader.intake.hand_in import read_hand_in
from grader.submission import MAX_BYTES


def read(folder, *cells: str, beside: dict[str, str] | None = None):
    """What is read of an archive with the notebook hw/work.ipynb and the files *beside*."""
    path = make_zip(folder / "ada.zip", {"hw/work.ipynb": make_notebook(*cells), **(beside or {})})
    hand_in = read_hand_in(learner_of(path, "zip"))
    return {name: text.decode() for name, text in hand_in.files.items() if name.endswith("py")}, hand_in.notes


@pytest.mark.parametrize("cells, files, notes", [
    (["%%writefile a.py\nx = 1"], {"hw/a.py": "x = 1"}, ["Code cell 1 was read as hw/a.py."]),
    (["x = 1", "\n%%file ./src/a.py \n\nx = 1\n"], {"hw/src/a.py": "\nx = 1\n"}, ["as hw/src/a.py."]),
    (["%%writefile a.py\nx = 1\n", "%%writefile -a a.py\ny = 2"], {"hw/a.py": "x = 1\ny = 2"}, ["Code cell 2"]),
    (["%%writefile a.py\nx = 1\n", "%%writefile a.py\ny = 2"], {"hw/a.py": "y = 2"}, ["as hw/a.py"]),
    (["%%writefile ../a.py\nx = 1"], {}, ["left out: it writes ../a.py, which is no file beside"]),
    (["%%writefile ..\\a.py\nx = 1"], {}, ["left out: it writes ../a.py, which is no file beside"]),
    (["%%writefile C:..\\..\\a.py\nx = 1"], {"hw/a.py": "x = 1"}, ["Code cell 1 was read as hw/a.py."]),
    *[([f"%%writefile {path}\nx = 1"], {"hw/a.py": "x = 1"}, ["Code cell 1 was read as hw/a.py."]) for path in (
        "/content/drive/MyDrive/hw1/a.py", '"/content/gdrive/My Drive/a.py"', "/tmp/a.py", "/kaggle/working/a.py",
        "/home/studio-lab-user/a.py", "D:/a.py", "//pc/me/a.py", r"C:\me\a.py",
        r".\a.py", r'"C:\my hw\a.py"', "/home/me/venv/../../../a.py")],
    (["%%writefile core\\a.py\nx = 1"], {"hw/core/a.py": "x = 1"}, ["Code cell 1 was read as hw/core/a.py."]),
    (["%%writefile /x/a.py\nx = 1", "%%writefile /y/a.py\nx = 2", "%%writefile /y/b.py\nx = 3"],
     {"hw/x/a.py": "x = 1", "hw/y/a.py": "x = 2", "hw/b.py": "x = 3"}, ["hw/x/a.py.", "hw/y/a.py.", "hw/b.py."]),
    (["%%writefile /content/a.py\nx = 1"], {"hw/a.py": "x = 1"}, ["Code cell 1 was read as hw/a.py."]),
    (["%%writefile venv/a.py\nx = 1"], {}, ["left out: it writes venv/a.py, which is no file beside"]),
    (["%%writefile handed_in.py\nx = 1"], {"hw/work.ipynb cells/handed_in.py": "x = 1"}, ["as hw/work.ipynb cells/"]),
    *[([f"%%writefile {line}\nx = 1\n"], {"hw/a.py": "x = 1\n"}, ["Code cell 1 was read as hw/a.py."]) for line in (
        '"a.py"', "'a.py'", "a.py -a", "--append a.py", "-a 'a.py'", "./a.py", '"./b/../a.py" --append')],
    (["%%writefile 'a.py'\nx = 1\n", "%%file ./a.py --append\ny = 2"], {"hw/a.py": "x = 1\ny = 2"}, ["Code cell 2"]),
    (['%%writefile "my a.py"\nx = 1'], {"hw/my a.py": "x = 1"}, ["as hw/my a.py"]),
    *[([f"%%writefile{line}\nx = 1"], {}, [f"Code cell 1 was left out: %%writefile{line} is not understood."])
      for line in ("", " 'a.py", " a.py b.py", " -b a.py", " -b", " {name}.py", " $name", " ''", " -a")],
    (["%%writefile notes.txt\nx = 1", "%%writefiles a.py", "x = 1\n%%writefile a.py"], {}, []),
])  # fmt: skip
def test_what_a_cell_writes_is_a_file_beside_the_notebook(tmp_path, cells, files, notes):
    """Names are read as IPython reads them, absolute ones too; each is told, also what is not understood.

    None replaces a file.
    """
    read_files, said = read(tmp_path, *cells, beside={"hw/handed_in.py": "y = 2"})

    assert read_files == {"hw/handed_in.py": "y = 2", **files}
    assert len(said) == len(notes) and all(map(str.__contains__, said, notes)), said


def graded(folder, files: dict[str, str]) -> tuple[float | None, str]:
    """The score of argmax_2d in a hand-in of these files, and what a human should look at."""
    (folder / "in").mkdir()
    make_zip(folder / "in/ada.zip", files)
    words = ["run", str(folder / "in"), "--course", str(TINY), "--lessons", "argmax_2d", "--seed", "7", "--jobs", "1"]
    done = CliRunner().invoke(grader, [*words, "--out", str(folder / "out")])
    assert done.exit_code in (0, 1), done.output
    _, (record,) = read_results(folder / "out")
    return record.lessons["argmax_2d"].score, record.problem


def test_of_several_notebooks_that_write_one_file_none_is_preferred(tmp_path):
    """As with cells that define one function twice, a human decides; equal files are no question."""
    right, wrong = (make_notebook(f"%%writefile argmax_2d.py\n{code}") for code in (ANSWERS["argmax_2d"], "x = 1"))
    (tmp_path / "same").mkdir()
    score, problem = graded(
        tmp_path, {"a.ipynb": wrong.replace("x = 1", "def argmax_2d(x): return 1"), "b.ipynb": right}
    )

    assert score is None and "a.ipynb cells/argmax_2d.py, b.ipynb cells/argmax_2d.py), so none was taken" in problem
    assert graded(tmp_path / "same", {"a.ipynb": right, "b.ipynb": right})[0] == 10.0


def test_an_empty_exercise_gives_way_to_what_a_notebook_writes(tmp_path):
    """The answer that a cell writes is judged, and a human is told of both."""
    stub = (TINY / "exercises/basics/argmax_2d.py").read_text()
    notebook = make_notebook("%%writefile argmax_2d.py\n" + ANSWERS["argmax_2d"])
    score, problem = graded(tmp_path, {"argmax_2d.py": stub, "work.ipynb": notebook})

    assert score == 10.0 and "argmax_2d.py, still the empty exercise, was not" in problem


def test_a_notebook_that_writes_the_exercise_is_not_called_the_empty_one(tmp_path):
    """It has the lesson's name and defines nothing itself; that is what a human is told."""
    notebook = make_notebook("%%writefile argmax_2d.py\n" + ANSWERS["argmax_2d"])
    score, problem = graded(tmp_path, {"argmax_2d.ipynb": notebook})

    assert score == 10.0
    assert problem.endswith("argmax_2d.py was judged; argmax_2d.ipynb, which does not define `argmax_2d`, was not.")


@pytest.mark.parametrize("prompts, cell", [
    (["# In[1]:", "# In[7]:", "# In[ ]:"], 3), (["", "", ""], 1), (["# %%", "# %%", "# %% [markdown]"], 3),
    (["# In[1]:\r"] * 3, 3),
])  # fmt: skip
def test_what_a_cell_wrote_is_found_in_an_export(tmp_path, prompts, cell):
    """Of a notebook that nbconvert or VS Code saved as Python, by the number of the cell where there are such."""
    call = f"get_ipython().run_cell_magic('writefile', 'a.py', {ANSWERS['argmax_2d']!r})"
    text = "# coding: utf-8\n\n" + "\n\n".join(
        f"{one}\n\n{two}" for one, two in zip(prompts, ["x = 1", "", call], strict=True)
    )
    read_files, said = read(tmp_path, beside={"hw/work.py": text, "hw/file.py": "get_ipython().run_cell_magic()\n"})

    assert read_files["hw/a.py"] == ANSWERS["argmax_2d"]
    assert [note.partition(" was")[0] for note in said] == [f"hw/work.py: Code cell {cell}"]


def test_what_cells_add_to_a_file_is_bounded(tmp_path):
    """Of a file that is too large no more is kept than shows that."""
    files, _ = read(tmp_path, *["%%writefile -a a.py\n" + "x" * 70_000] * 40)

    assert len(files["hw/a.py"]) <= MAX_BYTES + 1


def test_a_lesson_that_a_cell_writes_is_graded(tmp_path):
    """So is one in the notebook that imports it."""
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    uses = "import numpy as np\nfrom argmax_2d import argmax_2d\n" + ANSWERS["moving_average"]
    cells = "%%writefile argmax_2d.py\n" + ANSWERS["argmax_2d"], uses
    (source / "ada.ipynb").write_text(make_notebook(*cells))
    words = ["run", str(source), "--course", str(TINY), "--seed", "7", "--jobs", "1", "--out", str(out)]
    done = CliRunner().invoke(grader, words)

    assert "1 scored; mean score 10.0" in done.output, done.output
