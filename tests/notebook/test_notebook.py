"""The course in a notebook: magics in a real kernel, the process that judges, questions, lessons as notebooks."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from support.learn_command import ROOT, TINY, environment, learn, start_workspace
from support.quiz_workspace import Workspace

from grader.course import load
from grader.notebook.cell_judge import CellJudge
from grader.notebook.lesson_notebook import make_notebook
from grader.notebook.questions import ask_questions, go_on
from grader.store import Store
from grader.store.quiz_log import QuizLog

SECONDS = 120
RIGHT = (TINY / "solutions/basics/argmax_2d.py").read_text().partition("def ")
WRONG = "def argmax_2d(grid):\n    return (0, 0)\n"


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace of the tiny course, which is the current folder."""
    for name, value in environment(TINY).items():
        monkeypatch.setenv(name, value)
    workspace = start_workspace(tmp_path / "work")
    monkeypatch.chdir(workspace)
    return workspace


@pytest.fixture
def make_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes what runs a notebook in a real kernel."""
    nbclient = pytest.importorskip("nbclient", reason="no nbclient: pip install -e '.[dev]'")
    spec = tmp_path / "jupyter/kernels/ours"
    spec.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "ours", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    return partial(nbclient.NotebookClient, timeout=SECONDS, kernel_name="ours", allow_errors=True)


def shown_by(cell: Any) -> str:
    """The text that a cell shows."""
    return "".join(each.get("text", "") + str(each.get("data", {}).get("text/plain", "")) for each in cell["outputs"])


@pytest.fixture
def kernel(inside: Path, make_client: Any) -> Iterator[Any]:
    """Runs a cell in a real kernel and returns what it shows."""
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.v4.new_notebook()
    client = make_client(notebook)

    def run(code: str) -> str:
        cell = nbformat.v4.new_code_cell(code)
        notebook.cells.append(cell)
        client.execute_cell(cell, len(notebook.cells) - 1)
        return shown_by(cell)

    with client.setup_kernel():
        run.client = client  # type: ignore[attr-defined]
        yield run


def children_of(pid: int) -> list[int]:
    """The processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_cells_are_checked_with_what_was_run_before_them(kernel: Any, inside: Path) -> None:
    """Imports and helpers of earlier cells count; one of another name can be checked; hints and progress go on."""
    imports, def_, rest = RIGHT
    assert kernel("%load_ext grader.notebook") == ""
    assert kernel("show()") == 'Which lesson? show("LESSON")\n' and "%trace LESSON" in kernel("%trace")
    assert kernel("quiz()").startswith('On what? quiz(3, "softmax")')
    kernel(f"{imports}\nimport numpy as np")
    assert "%check -v lists them" in kernel(f"%%check argmax_2d\n{WRONG}")
    solved = kernel(f"%%check argmax_2d\n{def_}{rest}")
    assert "10.0 / 10" in solved and "Written to `basics/argmax_2d.py` as well" in solved
    written = (inside / "basics/argmax_2d.py").read_text()
    assert written.startswith("import numpy as np\n\n\ndef ") and written.count("def argmax_2d") == 1
    (inside / "basics/argmax_2d.py").write_text("mine = 1\n")
    assert "holds other work" in kernel("%check argmax_2d")
    assert (inside / "basics/argmax_2d.py").read_text() == "mine = 1\n"
    other = kernel("%%check argmax_2d\ndef other(): pass")
    assert "this cell does not define `argmax_2d`" in other and "checks passed" not in other
    broken = kernel("%%check argmax_2d\ndef argmax_2d(:")
    assert "Nothing was checked" in broken and "checks passed" not in broken
    assert "(0, 0)" in kernel("def mine(grid):\n    return (0, 0)\n\nmine([[1]])")
    assert "no cell that has run defines `yours`" in kernel("%check yours argmax_2d")
    checked = kernel("%check mine argmax_2d")
    assert "10.0" not in checked.partition("checks passed")[0] and "left out" not in checked
    assert "passed" not in kernel("%check argmax_2d").partition("checks passed")[2]
    assert "passed" in kernel("%check -v argmax_2d").partition("checks passed")[2]
    hint = kernel("%hint")
    assert "hint 1 of" in hint and "Next  %check argmax_2d" in hint
    assert 'did you mean "argmax_2d"' in kernel("%check argmax_3d")
    assert "there are no pictures" in kernel("show()")
    for asked in ("%hint 7", "%trace 7", "%check 7", "show(7)"):
        assert kernel(asked).startswith('Error: there is no lesson "7"'), asked
    assert "10.0" in learn("progress", cwd=inside).stdout
    quiz = Workspace(inside.parent / "quiz")
    kernel(f"import os; os.environ.update({environment(quiz.course)!r}); os.chdir({str(quiz.folder)!r})")
    assert "No answer can be typed here" in kernel("quiz(1, 'topic0')")
    for given in ("0", "-1", "2.5", "None", "3, 4", "3, None"):
        assert kernel(f"quiz({given})").startswith("How many questions, or on what? quiz(3)"), given


NO_REQUESTS = ("{", "", "[]", "7", "{}", '{"do": "boil", "lesson": "argmax_2d", "cells": []}',
    '{"do": "check", "lesson": 7, "cells": []}', '{"do": "check", "lesson": "argmax_2d", "cells": [1]}', "[" * 100_000,
)  # fmt: skip


def test_what_is_no_request_is_answered_in_words(inside: Path) -> None:
    """And the next request is answered, too, each time."""
    request = json.dumps({"do": "check", "lesson": "argmax_2d", "cells": [WRONG]})
    words = [sys.executable, "-P", "-m", "grader.cli.check.judge_cells"]
    typed = "".join(f"{line}\n{request}\n" for line in NO_REQUESTS)
    done = subprocess.run(words, input=typed, capture_output=True, text=True, timeout=SECONDS)
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(said) == 2 * len(NO_REQUESTS) and not done.stderr
    for line, first, second in zip(NO_REQUESTS, said[::2], said[1::2], strict=True):
        assert "no request" in first["trouble"] and "checks passed" in second["text"], line[:80]


def test_a_course_that_was_never_used_is_named_by_the_judge_of_cells(
    inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A foreign workspace names a course: what to do is said, and it is no fault of ours."""
    monkeypatch.delenv("SELFATTEND_COURSE")
    settings = inside / ".selfattend/workspace.toml"
    kept = [line for line in settings.read_text().splitlines() if not line.startswith("folder")]
    settings.write_text("\n".join([*kept, f'folder = "{shutil.copytree(TINY, inside.parent / "foreign")}"', ""]))
    judge = CellJudge()
    trouble = judge.ask(do="check", lesson="argmax_2d", cells=[WRONG])["trouble"]
    judge.close()
    assert "not used before" in trouble and "learn start --course" in trouble and "our fault" not in trouble


@pytest.mark.slow
def test_a_written_lesson_runs_from_its_first_cell_to_its_last(
    tmp_path: Path, make_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the solution in its cell it says 10.0, draws, and asks its questions where an answer can be typed."""
    nbformat = pytest.importorskip("nbformat")
    for name, value in environment(ROOT).items():
        monkeypatch.setenv(name, value)
    work = start_workspace(tmp_path / "work", ROOT)
    monkeypatch.chdir(work)
    assert learn("start", "--notebook", cwd=work, course=ROOT).returncode == 0
    written = nbformat.read(work / "core/softmax.ipynb", 4)
    _, load_it, check, trace, hint, show, quiz = written.cells
    check["source"] = f"%%check softmax\n{(ROOT / 'solutions/core/softmax.py').read_text()}"

    make_client(written).execute()

    assert not [each for cell in written.cells[1:] for each in cell["outputs"] if each["output_type"] == "error"]
    assert "quiz(3, " in quiz["source"]  # as the browser and `learn check` call it
    assert shown_by(load_it) == "" and "10.0 / 10" in shown_by(check) and "hint 1 of" in shown_by(hint)
    assert set(trace["outputs"][0]["data"]) == {"text/html", "text/plain"} and "the answer is right" in shown_by(trace)
    assert set(show["outputs"][0]["data"]) == {"application/vnd.vegalite.v5+json", "image/svg+xml", "text/plain"}
    assert "0 is what guessing earns" in shown_by(quiz) and "No answer can be typed here" in shown_by(quiz)
    assert "10.0" in learn("progress", cwd=work, course=ROOT).stdout


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc, which Linux has")
def test_a_kernel_that_is_killed_leaves_no_process(kernel: Any) -> None:
    """kill -9 of the kernel ends its judge, too."""
    kernel("%load_ext grader.notebook")
    pid = int(kernel("import os; os.getpid()"))
    judges = children_of(pid)
    os.kill(pid, signal.SIGKILL)

    deadline = time.monotonic() + SECONDS
    while judges and time.monotonic() < deadline:
        judges = [judge for judge in judges if Path(f"/proc/{judge}").exists() and not _is_zombie(judge)]
        time.sleep(0.05)
    assert not judges


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


@pytest.fixture(scope="module")
def torch_judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CellJudge]:
    """The judge of this course, in a folder of which no module is to be loaded."""
    folder, judge = tmp_path_factory.mktemp("cells"), CellJudge()
    for name in ("click", "grader", "torch"):
        (folder / f"{name}.py").write_text("raise SystemExit('of the folder')\n")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment(ROOT).items():
            patch.setenv(name, value)
        patch.chdir(folder)
        judge.start()
    yield judge
    judge.close()


@pytest.mark.soak
def test_the_judge_gives_page_text_and_pictures(torch_judge: CellJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    """HTML with its twin in text, without colours; Vega-Lite with SVG, too; its end is told, and it begins anew."""
    cells = ["import torch", "%%check softmax\ndef softmax(x, dim=-1):\n    return x"]
    answer = torch_judge.ask(do="check", lesson="softmax", cells=cells, function="")
    assert "<b>" in answer["html"] and "<script" not in answer["html"] and not answer["passed"]
    assert "checks passed" in answer["text"] and "\x1b" not in answer["text"]
    (picture, *_) = torch_judge.ask(do="show", lesson="softmax", cells=cells)["pictures"]
    assert "vega-lite" in picture["spec"]["$schema"] and "expected" in picture["text"]
    assert ElementTree.fromstring(picture["svg"]).tag.endswith("svg")
    broken = torch_judge.ask(do="show", lesson="softmax", cells=["def softmax(x, dim):\n    return y +"])
    assert "SyntaxError: line 2 of cell [1]: " in broken["pictures"][0]["text"]
    monkeypatch.setenv("SELFATTEND_COURSE", str(ROOT))  # of the one that is started next
    torch_judge.start().kill()
    assert "has ended" in torch_judge.ask(do="check", lesson="softmax", cells=cells, function="")["trouble"]
    assert "softmax" in torch_judge.ask(do="check", lesson="sofmax", cells=cells, function="")["trouble"]


def test_shapes_stand_beside_the_lines_of_cells(torch_judge: CellJudge) -> None:
    """Lines are numbered as in their cells; HTML and its twin say the same; what raises is left to the check."""
    helper = "import torch\ndef power(x):\n    return torch.exp(x)"
    cells = [helper, "%%check softmax\ndef softmax(x, dim=-1):\n    e = power(x)\n    return e / e.sum() < 2"]
    answer = torch_judge.ask(do="trace", lesson="softmax", cells=cells)
    lines = [line.split() for line in answer["text"].split("\n")]
    assert (
        ["cell", "[1]"] in lines
        and ["cell", "[2]"] in lines
        and "softmax: on this call the answer is wrong" in answer["text"]
    )
    made = {line[0]: line for line in lines[lines.index(["cell", "[2]"]) :] if line}
    assert made["3"][1:4] == ["e", "=", "power(x)"] and "e (" in " ".join(made["3"])
    assert made["4"][1:7] == ["return", "e", "/", "e.sum()", "<", "2"] and "bool" in made["4"]
    text = "".join(
        ElementTree.fromstring(f"<p>{answer['html'].partition('</style>')[2]}</p>".replace("<br>", "")).itertext()
    )
    assert "cell [2]" in text and "e / e.sum() < 2" in text and "<script" not in answer["html"]
    broken = torch_judge.ask(do="trace", lesson="softmax", cells=["def softmax(): pass"])
    assert "Nothing was made before that" in broken["text"] and "Nothing was made before that" in broken["html"]


def test_a_verdict_names_lines_by_their_cells(torch_judge: CellJudge) -> None:
    """Where right ends, where an error is raised, and what is no Python: no line of the joined module is told."""
    above = "import torch\ndef power(x):\n    return torch.exp(x)"
    begin = "%%check softmax\ndef softmax(x, dim=-1):\n    e = power(x)\n"
    for end, place in (
        ("    return e / e.sum() < 2", "Line 4 of cell [2] is where it goes wrong"),
        ("    return e / undefined", "line 4 of cell [2], in softmax"),
        ("    return e / undefined", "raises an error (line 4 of cell [2]): NameError"),
        ("    return e /", "SyntaxError: line 4 of cell [2]: invalid syntax"),
    ):
        answer = torch_judge.ask(do="check", lesson="softmax", cells=[above, begin + end], function="")
        assert place in " ".join(answer["html"].split())
        for told in (answer["text"], answer["html"]):
            assert not re.search(r"(line|Line) 20\d|:20\d|numbered by code cell", told), told


def test_what_is_next_can_be_done_in_the_notebook(inside: Path) -> None:
    """A hint and questions by magic and function; no link leads to pages that a notebook does not have."""
    judge = CellJudge()
    cells = (WRONG, "".join(RIGHT), "mine = 1")
    wrong, right, missing = (judge.ask(do="check", lesson="argmax_2d", cells=[code]) for code in cells)
    judge.close()
    assert "no cell that has run defines `argmax_2d`" in missing["trouble"] and "--pdb" not in wrong["text"]
    for told in (wrong["text"], wrong["html"]):
        assert "%hint argmax_2d" in told and "learn hint" not in told
    assert "<a " not in wrong["html"] + right["html"] and "Go on with" in right["html"]


def test_a_cell_that_does_not_define_the_function_is_not_checked(inside: Path) -> None:
    """An older cell is not judged in its place; by what else a cell gives the name its value, it is checked."""
    judge = CellJudge()

    def told(cell: str, function: str = "") -> str:
        cells = ["".join(RIGHT), f"%%check argmax_2d\n{cell}"]
        answer = judge.ask(do="check", lesson="argmax_2d", cells=cells, cell=cell, function=function)
        return str(answer.get("trouble") or answer["text"])

    for cell in ("def other(): pass", "", "argmax_2d([[1]])", "def other():\n    argmax_2d = 1"):
        assert "nothing was checked: this cell does not define `argmax_2d`" in told(cell), cell
        assert "%check argmax_2d" in told(cell)
    assert "does not define `mine`" in told("def argmax_2d(grid): return 0, 0", "mine")
    for cell in (
        "!pwd\nargmax_2d = lambda grid: (0, 0)",
        "from numpy import argmax as argmax_2d",
        "class argmax_2d: pass",
    ):
        assert "checks passed" in told(cell), cell
    assert "no request" in judge.ask(do="check", lesson="argmax_2d", cells=[WRONG], cell=7)["trouble"]
    judge.close()


def test_questions_are_asked_below_a_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many are asked, what is no answer costs nothing, q stops, and what was answered is kept."""
    quiz = Workspace(tmp_path)
    for name, value in environment(quiz.course).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(quiz.folder)
    typed, shown = iter(["eleven", "7/10", "9" * 1001, "?", "?", "q"]), list[str]()

    ask_questions("topic0", 2, shown.append, lambda prompt: next(typed))

    assert [text.partition("\n")[0] for text in shown if " of 2\n" in text] == [
        f"Topic topic0  {number} of 2" for number in (1, 2)
    ]
    assert (
        any("Not read" in text for text in shown) and sum("Not known yet. The answer is" in text for text in shown) == 2
    )
    assert len(quiz.log()) == 2 and next(typed) == "q"
    assert shown[-1] == go_on("topic0") == 'Every answer is kept; quiz("topic0") goes on.'
    with Store.open(quiz.progress) as store:
        assert [each.predicted for each in QuizLog(store.database).sessions()] == [7.0]
    stops = iter(["q", "Quit"])
    for _ in range(2):
        shown.clear()
        ask_questions("topic0", 1, shown.append, lambda prompt: next(stops))
        assert shown[-1] == go_on("topic0")
    assert len(quiz.log()) == 2


def test_the_end_of_what_is_typed_stops_the_questions(tmp_path: Path) -> None:
    """Ctrl-D at the prompt says how the questions go on, as Ctrl-C does, and shows no traceback."""
    quiz = Workspace(tmp_path)
    command = [sys.executable, "-m", "IPython", "--no-banner", "-c", "%load_ext grader.notebook\nquiz('topic0')"]
    own = environment(quiz.course, IPYTHONDIR=str(tmp_path / "ipython"))
    done = subprocess.run(command, cwd=quiz.folder, env=own, input="", capture_output=True, text=True, timeout=SECONDS)

    assert done.stdout.endswith(f"\n{go_on('topic0')}\n") and "Traceback" not in done.stdout + done.stderr


def test_questions_in_a_notebook_are_wrapped_at_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No line of a text or a prompt is wider than the 80 columns of what the other magics say."""
    quiz = Workspace(tmp_path, every_kind=True)
    for name, value in environment(quiz.course).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(quiz.folder)
    with Store.open(quiz.progress) as store:
        plan = [(f"every_kind.{kind}", 0) for kind in ("choice", "predict", "numeric")]
        QuizLog(store.database).begin_session("quiz", ["every_kind"], plan)
    shown = list[str]()

    def read(prompt: str) -> str:
        shown.append(prompt)
        return "" if prompt.startswith("How sure") else "x" * 1001 if len(shown) < 9 else "?"

    ask_questions("every_kind", 20, shown.append, read)

    text = "\n".join(shown)
    assert [line for line in text.split("\n") if len(line) > 80] == []
    assert "One of every kind  1 of 3\n" in text and not re.search(r"Your answer \(\w", text)  # "48!" is no list
    assert re.search(r"\n  [abc]  It divides every score .*\n     \w", text)


def test_a_session_in_a_notebook_ends_with_its_score_beside_what_was_expected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in the terminal: what is expected comes first, how sure with each answer, and what was missed again."""
    quiz = Workspace(tmp_path)
    for name, value in environment(quiz.course).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(quiz.folder)
    shown, sure, marks = list[str](), iter(["c", "x", "s"]), iter(["", "", "?", "??"])

    def read(prompt: str) -> str:
        if prompt.startswith("What will you score"):
            return "2"
        if prompt.startswith("How sure? g guess"):
            return next(sure)
        mark = next(marks, "??")
        return "?" if mark == "??" else ("b" if shown[-1].startswith("A letter") else "48") + mark

    ask_questions("topic0", 3, shown.append, read)

    log = quiz.log()
    assert [each.certainty for each in log[:3]] == ["sure", "guess", ""] and log[2].typed == "?"
    assert sum("Not read: type g, f, s or c" in text for text in shown) == 1
    assert any(text.startswith("Again: Topic topic0  1 of ") for text in shown)
    assert sum(text.startswith("You missed ") for text in shown) == 1
    [score, again, compared, _] = shown[-1].split("\n")
    assert (
        " asked again " in again and score.startswith("This session: ") and compared.startswith("You predicted 2.0: ")
    )


def test_each_lesson_becomes_a_notebook(tmp_path: Path) -> None:
    """Text, stub and commands in cells that nbformat accepts; files that are there stay."""
    nbformat = pytest.importorskip("nbformat", reason="no nbformat: pip install -e '.[dev]'")
    work = start_workspace(tmp_path / "work")
    (work / "basics/argmax_2d.ipynb").write_text("mine")
    done = learn("start", "--notebook", cwd=work)

    assert "1 notebook written beside the exercises" in done.stdout and "Nothing to add" not in done.stdout
    assert "Nothing to add: every exercise and every notebook" in learn("start", "--notebook", cwd=work).stdout
    assert (work / "basics/argmax_2d.ipynb").read_text() == "mine"
    modes = [(work / f"basics/moving_average.{end}").stat().st_mode for end in ("py", "ipynb")]
    assert modes[0] == modes[1]  # whoever may read the one may read the other
    assert "Nothing to add" in learn("start", cwd=work).stdout
    for lesson in load(ROOT).lessons.values():
        notebook = nbformat.reads(make_notebook(lesson), 4)
        nbformat.validate(notebook)
        sources = [cell["source"] for cell in notebook["cells"]]
        assert (
            sources[0].count("<details>") == sources[0].count("</details>")
            and sources[1] == "%load_ext grader.notebook"
        )
        assert sources[2].startswith(f"%%check {lesson.name}\n") and sources[-1] == f'quiz(3, "{lesson.name}")'


def test_the_notebook_of_a_solved_exercise_begins_with_what_was_written(tmp_path: Path) -> None:
    """A lesson that is solved in its file, in whatever encoding, is solved in its notebook; a link leaves the stub."""
    work = start_workspace(tmp_path / "work")
    right = "# -*- coding: latin-1 -*-\ndef moving_average(values, width):\n    return mine  # für\n"
    (work / "basics/moving_average.py").write_text(right, encoding="latin-1")
    (tmp_path / "secret").write_text("def argmax_2d(grid):\n    return secret\n")
    (work / "basics/argmax_2d.py").unlink()
    (work / "basics/argmax_2d.py").symlink_to(tmp_path / "secret")
    learn("start", "--notebook", cwd=work)
    mine, broken = (
        "".join(json.loads((work / f"basics/{name}.ipynb").read_text())["cells"][2]["source"])
        for name in ("moving_average", "argmax_2d")
    )

    assert mine == f"%%check moving_average\n{right}".rstrip("\n")
    assert broken.startswith("%%check argmax_2d\n") and "not written yet" in broken


def test_who_lacks_jupyter_is_told_how_to_get_it(tmp_path: Path) -> None:
    """The next step is a command that works: where JupyterLab is installed, the one that opens the notebook alone."""
    work = start_workspace(tmp_path / "work")
    program = tmp_path / "bin/jupyter-lab"
    program.parent.mkdir()
    said = [learn("start", "--notebook", cwd=work, PATH=str(program.parent)).stdout]
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    said.append(learn("start", "--notebook", cwd=work, PATH=str(program.parent)).stdout)

    assert said[0].endswith("Next  pip install jupyterlab\n      jupyter lab basics/moving_average.ipynb\n")
    assert said[1].endswith("Next  jupyter lab basics/moving_average.ipynb\n")
