"""A hand-in's files are read once: what is matched and compared is the text that is judged."""

from __future__ import annotations

import json
import re
import textwrap
from contextlib import closing
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.hand_ins import ANSWERS, SUMS, TINY, make_notebook, write

from grader.batch.one_learner.read_sources import read_sources
from grader.batch.results_folder import store_path
from grader.cli.grader.group import grader
from grader.course import load
from grader.intake.answers.leave_out import leave_out
from grader.intake.hand_in import HandIn
from grader.intake.learner import Entry, Learner
from grader.intake.match_lessons import LessonMatcher
from grader.intake.notebook.join_cells import FILE_GUARD
from grader.similarity import fingerprint
from grader.similarity.winnowing import unpack_prints
from grader.store.class_store import ClassStore

BOM = b"\xef\xbb\xbf"
RIGHT = ANSWERS["moving_average"]
STUB = (TINY / "exercises/basics/moving_average.py").read_bytes()
# right only if `ä`, one byte of cp1252, is one letter
DECLARED = f"# coding: cp1252\n%matplotlib inline\n{RIGHT}\n\nright = moving_average\n\n\n" + (
    "def moving_average(x, window):\n    return right(x, window * len('ä'))\n"
)
USES = "def moving_average(x, window):\n    return mean_of(x, window)\n"
HELPER = RIGHT.replace("moving_average", "mean_of")
UNSAID = re.sub(r' *""".*?"""\n', "", RIGHT[RIGHT.index("def ") :]).rstrip()  # ends with a comment
# runs as it stands; without what looks like the guard of a cell, all of it is one string
HIDDEN = f"""NOTE = \"\"\"\nwith _NotebookCell('\"\"\"'): '\n{UNSAID} \"\"\"\n"""
FORGED = f"{FILE_GUARD}\n{HIDDEN}import numpy as np\n"
HAND_INS = {
    "forged/moving_average.py": FORGED,
    "helper/moving_average.py": "from lib import moving_average\n",
    "helper/lib.py": FORGED,
    "magic/moving_average.py": f"{FORGED}!ls\n",
    "cell/moving_average.ipynb": make_notebook(f"{HIDDEN}import numpy as np\n\n\nnote = lambda: NOTE\n"),
    "plain/moving_average.py": RIGHT,
    "marked/moving_average.py": BOM + RIGHT.encode(),
    "returns/moving_average.py": f"# mine\n{RIGHT}".replace("\n", "\r").encode(),
    "stub/moving_average.py": BOM + STUB,
    "stub/homework.py": RIGHT,
    "twice/a/moving_average.py": RIGHT.replace("\n", "\r\n").encode(),
    "twice/b/moving_average.py": BOM + RIGHT.encode(),
    "twice/c/moving_average.py": RIGHT,
    "declared/moving_average.py": DECLARED.encode("cp1252"),
    "cells/moving_average.py": f"# %%\n{RIGHT}\n# %%\nrows = open('scores.csv').read()\n",
    "broken/moving_average.py": f"# %% one\nvalue = (1 +\n# %% two\n{RIGHT}",
    "fails/moving_average.py": f"{RIGHT}\nrows = open('scores.csv').read()\n",
    "runs/moving_average.ipynb": make_notebook("%run lib.ipynb", USES),
    "runs/lib.ipynb": make_notebook(HELPER),
    "lost/moving_average.ipynb": make_notebook("from lib import mean_of", USES),
    "star/moving_average.ipynb": make_notebook("%run lib.py", USES),
    "packs/repo/work/moving_average.py": f"from utils.lib import mean_of\n\n\n{USES}",
    "packs/repo/utils/lib.py": "from src.own import mean_of\n",
    "packs/repo/src/own.py": HELPER,
    "inner/moving_average.ipynb": make_notebook("def f():\n    import mean_of", USES),
    "args/moving_average.ipynb": make_notebook("%run lib.py --fast", USES),
    "args/lib.py": HELPER,
    "wide/homework.py": RIGHT.encode("utf-16"),
}


def grade(place: Path, hand_ins: dict[str, Any], *more: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """The record and what is kept of the code of each hand-in, by id."""
    write(place / "in", hand_ins)
    words = ["run", place / "in", "--out", place / "out", "--course", TINY, "--seed", 5, "--jobs", 1, *more]
    done = CliRunner().invoke(grader, [*map(str, words)])
    assert done.exit_code == 0, done.output
    records = {one["id"]: one for one in json.loads((place / "out/results.json").read_text())["submissions"]}
    with closing(ClassStore(store_path(place / "out"))) as store:
        return records, {name: store.fingerprint(name, json.loads) for name in records}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    """A class whose editors save in many ways."""
    return grade(tmp_path_factory.mktemp("run"), HAND_INS)


@pytest.mark.parametrize("name", ["plain", "marked", "returns", "stub", "twice", "declared"])
def test_how_an_editor_saves_changes_no_score(graded: Any, name: str) -> None:
    """A mark of UTF-8, line ends and a declared encoding are no other file, and an empty exercise stays one."""
    record = graded[0][name]
    assert record["score"] == 10.0, record["problem"]


@pytest.mark.parametrize("name", ["marked", "returns", "stub", "twice"])
def test_how_an_editor_saves_hides_no_copy(graded: Any, name: str) -> None:
    """Its fingerprint is that of the same text saved otherwise."""
    texts = {each: kept["moving_average"]["text"] for each, kept in graded[1].items()}
    assert texts[name] == texts["plain"] != 0


def test_a_file_with_cells_that_cannot_be_loaded_is_judged_as_a_notebook(graded: Any) -> None:
    """A cell that fails costs nothing, and a note says so; any other file has to be loaded."""
    [cells, fails] = [graded[0][name]["lessons"]["moving_average"] for name in ("cells", "fails")]
    assert cells["score"] == 10.0 and "read as a notebook" in cells["notes"][0]
    assert fails["state"] == "would-not-import" and not fails["notes"]


def test_of_a_file_with_a_broken_cell_what_was_judged_is_compared(graded: Any) -> None:
    """The cell, at which Python ends, is left out there as well: it hides no copy below it."""
    assert graded[0]["broken"]["score"] == 10.0
    assert graded[1]["broken"]["moving_average"]["text"] == graded[1]["plain"]["moving_average"]["text"]


@pytest.mark.parametrize("name", ["forged", "helper", "magic", "cell"])
def test_what_looks_like_our_guard_in_a_text_of_the_learners_is_theirs(graded: Any, name: str) -> None:
    """It is compared and shown as it ran; taken off, it made a string of the copy below."""
    kept = graded[1][name]["moving_average"]

    assert graded[0][name]["score"] == 10.0
    assert HIDDEN in kept["source"] and "windows" in kept["names"]


def test_a_file_that_a_notebook_runs_is_imported(graded: Any) -> None:
    """Also one that is a notebook itself; one that has arguments is told."""
    assert graded[0]["runs"]["score"] == 10.0
    assert any("`%run lib.py --fast` was not run" in note for note in graded[0]["args"]["notes"])


@pytest.mark.parametrize(
    "name, says", [("lost", "`from lib import mean_of` failed"), ("star", "`from lib import *` failed")]
)
def test_a_name_is_missing_because_its_import_failed(graded: Any, name: str, says: str) -> None:
    """A notebook goes on after that, so the function that needs the name tells it."""
    [mistake] = graded[0][name]["lessons"]["moving_average"]["mistakes"]
    assert says in mistake["suggests"] and "beside this one" in mistake["suggests"]
    [other] = graded[0]["inner"]["lessons"]["moving_average"]["mistakes"]
    assert "Look for a misspelling" in other["suggests"]


def test_a_file_in_utf_16_is_told_as_such_whatever_its_name(graded: Any) -> None:
    """By what it defines its lesson is found, and the result says what is wrong."""
    [mistake] = graded[0]["wide"]["lessons"]["moving_average"]["mistakes"]
    assert "saved as UTF-16" in mistake["says"]


def test_of_several_attempts_that_is_compared_which_counts(tmp_path: Path) -> None:
    """Where the best counts, a worse one after it takes the place of neither its fingerprint nor its code."""
    hand_ins = {"ann_1_moving_average.py": RIGHT, "ann_2_moving_average.py": SUMS}
    form = "(?P<id>[a-z]+)_(?P<attempt>[0-9])_(?P<file>.+)"
    records, kept = grade(tmp_path, hand_ins, "--names", form, "--attempts", "best")

    assert records["ann"]["score"] == 10.0
    lesson = load(TINY).lessons["moving_average"]
    assert kept["ann"]["moving_average"] == {**fingerprint(lesson, RIGHT), "source": RIGHT}


def test_code_in_a_linked_file_is_compared_and_shown(tmp_path: Path) -> None:
    """It is the lesson's own wherever it lies, below its name; what is another lesson's file is compared there."""
    linked = "from my_code import moving_average\n"
    own = f"import moving_average\n\n{ANSWERS['argmax_2d']}"
    hand_ins = {"ann/moving_average.py": RIGHT, "bob/moving_average.py": linked, "bob/my_code.py": RIGHT}
    _, kept = grade(tmp_path, {**hand_ins, "ann/argmax_2d.py": own})
    ann, bob = kept["ann"]["moving_average"], kept["bob"]["moving_average"]

    assert bob["text"] == ann["text"]
    assert bob["source"] == f"{linked}# my_code.py, which it imports:\n{RIGHT}"
    assert bob["prints"] == fingerprint(load(TINY).lessons["moving_average"], bob["source"])["prints"]
    assert kept["ann"]["argmax_2d"]["source"] == own
    assert "my_code.py, which it imports" in (tmp_path / "out/code/bob.html").read_text()


def test_code_that_a_long_file_links_is_compared(tmp_path: Path) -> None:
    """As many characters as are graded stand before it."""
    hand_ins = {"ann/moving_average.py": "from my_code import moving_average\n" + "# nothing here\n" * 16_000}
    _, kept = grade(
        tmp_path, {**hand_ins, "ann/my_code.py": RIGHT + "# nor here\n" * 1_000, "bob/moving_average.py": RIGHT}
    )

    assert kept["ann"]["moving_average"]["text"] == kept["bob"]["moving_average"]["text"]


def test_a_function_in_another_lessons_file_is_compared_for_both(tmp_path: Path) -> None:
    """A copy hides behind no name: what a lesson imports is compared for it, but for another lesson's answer there."""
    answer = ANSWERS["argmax_2d"]
    both, hidden = f"{answer}\n\n{RIGHT}", f"{answer}\n\n{RIGHT.replace('def moving_average', 'def mine')}"
    linked = {
        "bob": "from argmax_2d import moving_average\n",
        "cy": "import argmax_2d\nmoving_average = argmax_2d.mine\n",
    }
    files = {f"{who}/moving_average.py": text for who, text in linked.items()}
    files |= {"bob/argmax_2d.py": both, "cy/argmax_2d.py": hidden, "ann/moving_average.py": RIGHT}
    _, kept = grade(tmp_path, files)

    lesson, blank = load(TINY).lessons["moving_average"], "\n" * answer.count("\n")
    own = {int(each) for each in unpack_prints(fingerprint(lesson, RIGHT)["prints"])["hash"]}
    for who, text in linked.items():
        there = kept[who]["moving_average"]
        found = {int(each) for each in unpack_prints(there["prints"])["hash"]}
        assert len(own & found) > 0.8 * len(own)  # those at its ends depend on what is around it
        assert there["source"].startswith(f"{text}# argmax_2d.py, which it imports:\n") and blank in there["source"]
        assert "def argmax_2d" not in there["source"] and "def argmax_2d" in kept[who]["argmax_2d"]["source"]


CELLS = (
    "import numpy as np\n",
    'LOWEST = float("-inf")\nSTEPS = []\n\nfor number in range(2):\n    STEPS.append(f"""{number}\n steps""")\n',
    "def moving_average(x, window):\n    return np.cumsum(x)[STEPS[window] :] - LOWEST\n",
)
FORMS = {
    "hw1.ipynb": make_notebook(*CELLS, "moving_average([1], 1)"),
    "colab.py": '"""hw1.ipynb\n\nAutomatically generated by Colab.\n"""\n\n' + "\n".join(CELLS),
    "nbconvert.py": "#!/usr/bin/env python\n# coding: utf-8\n\n"
    + "".join(f"# In[{number}]:\n\n\n{cell}\n\n" for number, cell in enumerate(CELLS, 1)),
    "cells.py": "\n".join(f"# %%\n{cell}" for cell in (*CELLS, "display(moving_average([1], 1))\n")),
    "plain.py": "\n\n".join(CELLS),
}


@pytest.mark.parametrize("pair", [*combinations(FORMS, 2)], ids=" ".join)
def test_a_text_in_two_forms_is_one_answer(pair: tuple[str, str]) -> None:
    """A notebook beside its own download is no contradiction, whatever program saved that."""
    course, hand_in = load(TINY), HandIn({name: FORMS[name].encode() for name in pair})
    texts = read_sources(hand_in, Learner("ann", (Entry("ann"),)), {"moving_average"}, {"numpy"}).texts
    path, note = LessonMatcher(course, texts).match(course.lessons["moving_average"])

    assert (path, note) == (min(pair), f"{min(pair)} was judged; {max(pair)} was not.")


@pytest.mark.parametrize("path, others, is_run", [
    ("lab 3.ipynb", {"other.py": "x = 3\n"}, False), ("lab.ipynb", {"other.py": "import labs\nlabs.estimate()"}, False),
    ("lab.ipynb", {"attempt 1/lab.ipynb": '{"name": "lab.ipynb", "cells": []}'}, False),
    ("lab.ipynb", {"lab.safetensors": " lab "}, False), ("übung.ipynb", {"other.py": "import bung\n"}, False),
    ("lab.ipynb", {"other.py": '"""For the lab."""\nprint("lab")  # lab.estimate\n'}, False),
    ("lab.ipynb", {"other.py": "from lab import moving_average\n"}, False),
    ("lab.ipynb", {"other.py": "from lab import moving_average\nx.model = q.estimate(1).model\n"}, False),
    ("lab.ipynb", {"other.py": "import p.lab, p.q\np.q.estimate()\np.estimate()\n"}, False),
    ("lab.ipynb", {"other.py": "import lab\nlab.estimate()\n"}, True),
    ("lab.ipynb", {"other.py": "import p.lab\np.lab.estimate()\n"}, True),
    ("lab.ipynb", {"other.py": "import p.lab as m\nm.estimate()\n"}, True),
    ("lab.ipynb", {"other.py": "from .p import lab as m\nm.estimate()\n"}, True),
    ("lab (1).ipynb", {"other.py": "from lab import estimate\n"}, True),
    ("lab.ipynb", {"other.py": "import_module('lab')\ndef f():\n    return estimate()\n"}, True),
    ("a/lab.ipynb", {"b.ipynb": make_notebook("%run a/lab.ipynb\n", "def f():\n    estimate()\n")}, True),
    ("a/lab.ipynb", {"b.ipynb": make_notebook("%run a/lab.ipynb\n", "def f():\n    return 1\n")}, False),
    ("ü.ipynb", {"b.py": "from p import ü\nü.model\n"}, True),
])  # fmt: skip
def test_what_no_lesson_asks_for_is_run_only_where_a_file_imports_it(path: str, others: dict, is_run: bool) -> None:
    """Only what code takes of a notebook is needed, with what that needs: its name may stand in any text."""
    cells = make_notebook(RIGHT, "def estimate():\n    return model\nmodel = train()\n")
    hand_in = HandIn({name: text.encode() for name, text in {path: cells, **others}.items()})
    texts = read_sources(hand_in, Learner("ann", (Entry("ann"),)), {"moving_average"}, {"numpy"}).texts

    assert ("model = train()" in texts[path]) == is_run


def test_what_stands_in_no_definition_is_left() -> None:
    """A copy below `try:` is code; imports and texts beside what is left out are none."""
    trial = textwrap.indent(RIGHT, "    ")
    hidden = f"import torch\n\n\ndef mine(x):\n    return x\n\n\ntry:\n{trial}finally:\n    pass\n"

    assert "def moving_average" in leave_out(hidden, {"mine"}) and "def mine" not in leave_out(hidden, {"mine"})
    assert leave_out('"""A text."""\nimport torch\n\n\ndef mine(x):\n    return x\n', {"mine"}) == ""


def test_a_file_that_is_for_no_lesson_is_named_where_one_is_missing(tmp_path: Path) -> None:
    """Neither its name nor what it defines is a lesson's, and nothing imports it: perhaps it was meant for one."""
    mine = RIGHT.replace("def moving_average", "def my_average")
    files = {
        "ann/argmax_2d.py": f"import helper\nfrom pack import part, x\n{ANSWERS['argmax_2d']}",
        "ann/helper.py": "from utils import f",
        "ann/pack/__init__.py": "from .inner import x",
        **dict.fromkeys(["ann/pack/part.py", "ann/pack/inner.py", "ann/utils/__init__.py"], "f = x = 1\n"),
        "ann/average.py": mine,
        "cy/one.py": RIGHT,
        "cy/1.py": SUMS,
        "cy/argmax_2d.py": ANSWERS["argmax_2d"],
    }
    records, _ = grade(tmp_path, {**files, "bob/argmax_2d.py": ANSWERS["argmax_2d"], "bob/moving_average.py": RIGHT})

    assert "For no lesson, by its name or the functions that it defines: average.py." in records["ann"]["notes"]
    assert records["bob"]["notes"] == []
    assert records["cy"]["notes"] == []  # "several files could be meant" names both


def test_junk_in_linked_files_pushes_no_function_out(tmp_path: Path) -> None:
    """The file that defines the lesson's function is read before shorter ones that use up what is read."""
    junk = "def f(a, b):\n" + "    return a + b + b + a\n" * 1_000
    names = [f"util{number}" for number in range(8)]
    own = "".join(f"import {name}\n" for name in names) + "from my_code import moving_average\n"
    files = {**{f"bob/{name}.py": junk for name in names}, "bob/moving_average.py": own}
    _, kept = grade(tmp_path, {**files, "bob/my_code.py": RIGHT + "# nothing here\n" * 2_000})

    assert kept["bob"]["moving_average"]["source"].startswith(f"{own}# my_code.py, which it imports:\n{RIGHT}")


def test_what_cannot_be_compared_is_told(tmp_path: Path) -> None:
    """A file with something in it of which no token is read, unlike an empty one, and code in a text that is run."""
    hand_ins = {"ann/moving_average.py": "# to be done, as soon as I can\n", "bob/moving_average.py": "\n"}
    hand_ins["dan/moving_average.py"] = f"{RIGHT}exec('a = 1')\n"
    records, _ = grade(tmp_path, {**hand_ins, "cy/moving_average.py": RIGHT})

    told = {name for name, one in records.items() if "was not compared with others'" in " ".join(one["notes"])}
    assert told == {"ann", "dan"}
