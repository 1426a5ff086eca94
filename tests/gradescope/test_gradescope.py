"""grader.gradescope: the zip of a Gradescope autograder, unpacked and run as Gradescope does."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.command_server import run_command
from support.gradescope_rules import assert_is_gradescope
from support.hand_ins import ANSWERS, SUMS, TINY, write

from grader.errors import GraderError
from grader.gradescope import autograde
from grader.record import Record

SECONDS = 90
HOSTILE = """
import os
import numpy as np

for name in ("results/results.json", "source/settings.json", "source/course/solutions/basics/moving_average.py"):
    path = os.path.join({root!r}, name)
    for mode in ("r", "w"):
        try:
            with open(path, mode) as file:
                print("LEAK", name, file.read() if mode == "r" else file.write('{{"score": 100}}'))
        except OSError:
            pass


def moving_average(x, window):
    print(x)
    class E(Exception): pass
    E.__name__ = "E" + repr(x)
    raise E(x)
"""


def grader(*arguments: object) -> subprocess.CompletedProcess[str]:
    """`grader ARGUMENTS` on the tiny course."""
    return run_command("grader", *arguments, "--course", TINY, cwd=Path.cwd(), env=os.environ, timeout=SECONDS)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory) -> Path:
    """The zip."""
    out = tmp_path_factory.mktemp("bundle") / "autograder.zip"
    done = grader("bundle", "gradescope", "--out", out, "--seed", 7, "--out-of", 20)
    assert done.returncode == 0, done.stderr
    assert "Keep it to yourself" in done.stdout
    return out


@pytest.fixture(scope="module")
def container(bundle, tmp_path_factory) -> Path:
    """A folder that looks as /autograder does when the autograder is built. Nothing is installed: our Python has it."""
    root = tmp_path_factory.mktemp("autograder")
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(root / "source")
    shutil.copy(root / "source/run_autograder", root / "run_autograder")
    done = subprocess.run(
        ["bash", str(root / "source/setup.sh")], env=environment(root), capture_output=True, text=True,
        timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and "ready:" in done.stdout, done.stderr
    return root


def environment(root: Path, **more: str) -> dict[str, str]:
    """What the scripts find in their environment."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**kept, "AUTOGRADER_ROOT": str(root), "SELFATTEND_PYTHON": sys.executable, **more}


def graded(root: Path, files: dict[str, str], **more: str) -> tuple[dict, str]:
    """Hand in these files, run the autograder, and give back what Gradescope reads and what the instructor sees."""
    shutil.rmtree(root / "submission", ignore_errors=True)
    (root / "submission").mkdir()
    write(root / "submission", files)
    done = subprocess.run(
        ["bash", str(root / "run_autograder")], cwd=root, env=environment(root, **more), capture_output=True,
        text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    result = json.loads((root / "results/results.json").read_text())
    assert_is_gradescope(result)
    return result, done.stdout + done.stderr


def left_behind(root: Path) -> list[str]:
    """Processes that belong to this container and still run."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_text().replace("\0", " ")
            if str(root) in command or f"AUTOGRADER_ROOT={root}".encode() in (process / "environ").read_bytes():
                found.append(command)
        except OSError:  # it has ended, or is somebody else's
            continue
    return found


# --- the zip ----------------------------------------------------------------------------------------------------------


def test_the_zip_is_as_gradescope_asks(bundle):
    """Both scripts stand at its root and can be run; engine and course are whole; no tests and no compiled files."""
    with zipfile.ZipFile(bundle) as archive:
        entries = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}

    assert entries["setup.sh"] == entries["run_autograder"] == 0o755
    assert {"README.md", "requirements.txt", "constraints.txt", "failed.json", "course/course.toml"} <= entries.keys()
    assert "engine/grader/gradescope/autograde.py" in entries
    assert "course/solutions/basics/test_moving_average.py" in entries
    assert not [name for name in entries if name.endswith(".pyc") or "/tests/" in name or "/_course/" in name]


def test_the_same_makes_the_same(bundle, tmp_path):
    """Made again with the same seed, it is the same file, byte for byte."""
    assert grader("bundle", "gradescope", "--out", tmp_path / "a.zip", "--seed", 7, "--out-of", 20).returncode == 0
    assert (tmp_path / "a.zip").read_bytes() == bundle.read_bytes()


def test_versions_are_those_that_are_here(container):
    """What is needed is pinned to what is installed, in any build of it."""
    required = (container / "source/requirements.txt").read_text().splitlines()
    pinned = (container / "source/constraints.txt").read_text().splitlines()

    name = re.compile(r"[\w.-]+")
    assert [name.match(line)[0] for line in pinned] == [name.match(line)[0] for line in required]
    assert all("+" not in line for line in pinned) and any(line.startswith("torch==") for line in pinned)


@pytest.mark.parametrize("script", ["setup.sh", "run_autograder"])
def test_the_scripts_are_bash(script, container):
    """Bash reads them without a complaint, and every variable is quoted where it could break."""
    assert subprocess.run(["bash", "-n", str(container / "source" / script)], timeout=10, check=False).returncode == 0


def test_what_is_there_is_not_overwritten(bundle, tmp_path):
    """A second one needs --force; an unknown lesson is wrong usage."""
    assert grader("bundle", "gradescope", "--out", bundle).returncode == 2
    assert grader("bundle", "gradescope", "--out", tmp_path / "a.zip", "--lessons", "nothing").returncode == 2
    assert not (tmp_path / "a.zip").exists()


# --- in the container -------------------------------------------------------------------------------------------------


def test_a_right_answer(container):
    """All points, every test passed; the instructor reads which protection was in force."""
    files = {f"{name}.py": text for name, text in ANSWERS.items()}
    result, told = graded(container, files)

    assert result["score"] == 20.0
    assert {test.get("status") for test in result["tests"]} == {"passed"}
    assert "Protection in force: " in told and "Seed 7." in told and "seed" not in json.dumps(result).lower()
    assert left_behind(container) == []


def test_a_wrong_answer(container):
    """The mistake has its name, no value is shown to the learner, and the instructor sees them all."""
    result, told = graded(container, {"moving_average.py": SUMS, "argmax_2d.py": ANSWERS["argmax_2d"]})
    text = json.dumps(result)

    assert 0 < result["score"] < 20.0
    assert "Some values differ." in text and "values differ. First at" not in text
    assert "values differ. First at" in told


@pytest.mark.slow
def test_an_empty_submission_and_half_a_one(container):
    """What was not handed in has no points here, and it is said why."""
    nothing, _ = graded(container, {})
    half, _ = graded(container, {"argmax_2d.py": ANSWERS["argmax_2d"]})

    assert nothing["score"] == 0.0 and "no Python file" in nothing["output"]
    assert half["score"] == 10.0 and "not handed in: 1" in half["output"]


def test_a_hostile_submission(container):
    """It can neither read nor write what is not its own, its inputs are not in what it is told, and it scores what it
    deserves."""
    before = (container / "source/settings.json").read_bytes()
    result, told = graded(container, {"moving_average.py": HOSTILE.format(root=str(container))})
    text = json.dumps(result)

    assert "LEAK" not in told and (container / "source/settings.json").read_bytes() == before
    assert result["score"] == 1.0  # one lesson of two at its lowest: (1.0 + 0) / 2 x 20 / 10
    assert "An error of a type of its own" in text and "[" not in text.partition('"tests"')[0]
    assert left_behind(container) == []


# --- when we fail -----------------------------------------------------------------------------------------------------


@pytest.fixture
def copy(container, tmp_path) -> Path:
    """A container of one's own, to break."""
    root = tmp_path / "autograder"
    shutil.copytree(container, root)
    return root


def test_a_failure_of_the_grader_is_no_zero(copy):
    """The learner is told whose fault it is, the instructor what happened, and there is no score."""
    (copy / "source/settings.json").write_text("{")
    result, told = graded(copy, {"argmax_2d.py": ANSWERS["argmax_2d"]})

    assert "score" not in result and "not your fault" in result["output"]
    assert "JSONDecodeError" in told and "JSONDecodeError" not in json.dumps(result)


def test_results_are_written_even_without_a_python(copy):
    """Where nothing of ours runs at all, the shell writes that we failed."""
    result, told = graded(copy, {}, SELFATTEND_PYTHON="/bin/false")

    assert "score" not in result and "exit status 1" in told


@pytest.mark.slow
def test_what_takes_too_long_is_ended_before_gradescope_does(copy):
    """When its time is used up, the autograder says that it failed, and leaves no process behind."""
    (copy / "source/seconds").write_text("2")
    slow = "import time\nimport numpy as np\n\n\ndef moving_average(x, window):\n    time.sleep(60)\n"
    result, told = graded(
        copy, {"moving_average.py": slow, "argmax_2d.py": slow.replace("moving_average", "argmax_2d")}
    )

    assert "score" not in result and "time for this submission was used up" in told
    assert left_behind(copy) == []


def test_less_isolation_is_told_to_the_instructor(monkeypatch, tmp_path, capsys):
    """Where full isolation cannot be had, it grades with what there is, and says what is lacking."""
    asked = []
    record = Record("s", "s")

    def run(course_root, settings, place, isolation):
        asked.append(isolation)
        if isolation == "required":
            raise GraderError("A learner's code cannot be isolated here.")
        return {"isolation": ["process-group", "limits"], "seed": 7, "lessons": [], "course": {}}, record

    monkeypatch.setattr(autograde, "_run", run)
    (tmp_path / "source").mkdir()
    (tmp_path / "source/settings.json").write_text('{"lessons": [], "seed": 7, "engine": "0"}')
    result, told = autograde.autograde(tmp_path)

    assert asked == ["required", "available"]
    assert "Learners' code was not isolated from the file system and from the network." in told
    assert "cannot be isolated here" in capsys.readouterr().out and "isolated" not in json.dumps(result)


def test_of_a_hand_in_no_more_is_copied_than_can_be_read(tmp_path, capsys):
    """A sparse file of a TiB and 1,500 nested folders are left out and told; what is beside them counts."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/softmax.py").write_text("x = 1")
    with (tmp_path / "in/large.bin").open("wb") as file:
        file.truncate(1 << 40)
    deep = os.open(tmp_path / "in", os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=deep)
        deep, above = os.open("d", os.O_RDONLY, dir_fd=deep), deep
        os.close(above)
    os.close(deep)
    autograde._copy_submission(tmp_path / "in", tmp_path / "out/submission")

    assert {path.name for path in (tmp_path / "out/submission").iterdir()} == {"softmax.py", "d"}
    assert capsys.readouterr().out.count("Left out: ") == 2
    shutil.rmtree(tmp_path / "out")
    subprocess.run(["rm", "-rf", str(tmp_path / "in")], check=True)  # Python's own stops at a thousand
