"""`learn check` and the processes it starts: Ctrl-C, the debugger, a terminal; `learn demo` and `learn doctor`."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from support.learn_command import ROOT, START, answer, environment, in_a_terminal, learn, start_workspace

LOOP = "import time\n\n\ndef argmax_2d(grid):\n    while True:\n        time.sleep(0.01)\n"
PRINTS = """def argmax_2d(grid):
    print("\\x1b]0;title\\x07\\x1b[2Jhidden\\rshown")
    return int(grid.argmax()), 0
"""


@pytest.fixture
def workspace(tmp_path):
    """A fresh workspace of the tiny course."""
    return start_workspace(tmp_path / "work")


# ---- Ctrl-C ---------------------------------------------------------------------------------------------------------


def descendants(pid: int) -> list[int]:
    """All processes below one, as the kernel knows them."""
    found = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        found += [int(child), *descendants(int(child))]
    return found


def is_running(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def test_two_checks_at_once_are_both_kept(workspace):
    """Two checks of one exercise at the same moment give the same verdict, and both attempts are kept."""
    answer(workspace, "argmax_2d", "def argmax_2d(grid):\n    return 0, 0\n")
    command = [sys.executable, "-c", START, "check", "argmax_2d", "--seed", "1", "--json"]
    both = [
        subprocess.Popen(command, cwd=workspace, env=environment(), stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    verdicts = [json.loads(process.communicate(timeout=60)[0]) for process in both]

    assert [process.returncode for process in both] == [1, 1]
    assert verdicts[0] | {"duration_s": 0} == verdicts[1] | {"duration_s": 0}
    progress = json.loads(learn("progress", "--json", cwd=workspace).stdout)
    assert next(lesson for lesson in progress["lessons"] if lesson["lesson"] == "argmax_2d")["attempts"] == 2


def in_a_shell(words: str, workspace: Path) -> subprocess.CompletedProcess[str]:
    """`learn WORDS` as a shell starts it, which may close or lead away its streams."""
    return subprocess.run(
        ["sh", "-c", f'exec "$0" -c "$1" {words}', sys.executable, START],
        cwd=workspace, env=environment(), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_change_no_exit_code(workspace, closed):
    """As a daemon or a job of cron starts it: what is done counts, and no traceback of ours is left."""
    answer(workspace, "argmax_2d")
    done = in_a_shell(f"check argmax_2d {closed}", workspace)

    assert (done.returncode, done.stderr) == (0, "")
    known = json.loads(learn("progress", "--json", cwd=workspace).stdout)["lessons"]
    assert sum(lesson["attempts"] for lesson in known) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, as Linux has it")
def test_a_full_disk_is_no_fault_of_ours(workspace):
    """It is said in one sentence, with what to do, and no log of a traceback is written."""
    done = in_a_shell("list >/dev/full", workspace)

    assert done.returncode == 1
    assert done.stderr.startswith("Error: No space is left.\nWhere: standard output\nNext:  make room"), done.stderr


@pytest.mark.skipif(
    not Path("/proc/self/task").is_dir(), reason="needs /proc, as Linux has it, to read the tree of processes"
)
@pytest.mark.parametrize("workers", [0, 1], ids=["while it starts", "while it checks"])
def test_ctrl_c_leaves_no_process(workspace, workers):
    """Ctrl-C ends the command with 130, without a traceback, and all its processes."""
    answer(workspace, "argmax_2d", LOOP)
    process = subprocess.Popen(
        [sys.executable, "-c", START, "check", "argmax_2d"], cwd=workspace, env=environment(), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    below: list[int] = []
    while len(below) < 1 + workers and time.monotonic() < deadline:
        time.sleep(0.01)
        below = descendants(process.pid)
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate(timeout=120)
    while any(map(is_running, below)) and time.monotonic() < deadline:
        time.sleep(0.01)

    assert len(below) >= 1 + workers
    assert process.returncode == 130
    assert said.strip() == "Stopped."
    assert printed == ""
    assert not any(map(is_running, below))


# ---- the debugger ---------------------------------------------------------------------------------------------------


def test_the_debugger_stands_at_the_failing_call(workspace):
    """`--pdb` stops at the function's first line with the arguments of the failing check, and where it raises."""
    answer(workspace, "argmax_2d", "def argmax_2d(grid):\n    rows = len(grid)\n    return grid.no_such_thing(rows)\n")
    text, code = in_a_terminal("check", "argmax_2d", "--pdb", cwd=workspace, keys=("(Pdb)", "p type(grid)\nc\n"))

    assert code == 1
    assert "--pdb" not in text  # what runs is no next step
    assert "without isolation" in text
    assert "argmax_2d.py(2)argmax_2d()" in text
    assert "numpy.ndarray" in text
    assert "AttributeError" in text
    assert "argmax_2d.py(3)argmax_2d()" in text


@pytest.mark.parametrize("key", ["q\n", "\x04"], ids=["q", "Ctrl-D"])
def test_leaving_the_debugger_is_no_result(workspace, key):
    """Who leaves before the end is told so, and of no value that nothing returned."""
    answer(workspace, "argmax_2d", "def argmax_2d(grid):\n    rows = len(grid)\n    return rows\n")
    text, code = in_a_terminal("check", "argmax_2d", "--pdb", cwd=workspace, keys=("(Pdb)", key))

    assert code == 1
    assert "You left the debugger." in text
    assert "The call returned" not in text


def test_ctrl_c_while_the_debugger_starts_is_no_traceback(workspace):
    """A file that takes long to load, as PyTorch does, is left in peace and in one line."""
    slow = "import sys, time\nif 'pdb' in sys.modules:\n    print('loading', flush=True)\n    time.sleep(60)\n"
    answer(workspace, "argmax_2d", f"{slow}\n\ndef argmax_2d(grid):\n    return None\n")
    text, code = in_a_terminal("check", "argmax_2d", "--pdb", cwd=workspace, keys=("loading", "\x03"))

    assert code == 1
    assert "Stopped." in text
    assert "Traceback" not in text


@pytest.mark.slow
@pytest.mark.parametrize(("lesson", "change", "stop"), [
    ("inside/feed_forward", ("self.w2(hidden)", "-self.w2(hidden)"), "forward()"),
    ("core/training", ("return loss.item()", "return loss"), "train_step()"),
])  # fmt: skip
def test_the_debugger_builds_what_a_call_needs(tmp_path, lesson, change, stop):
    """A class is built with its weights, and a model and an optimizer are made, before the failing call."""
    file = tmp_path / Path(f"{lesson}.py").name
    file.write_text((ROOT / f"solutions/{lesson}.py").read_text().replace(*change))
    text, code = in_a_terminal(
        "check", file.stem, "--file", file.name, "--pdb", cwd=tmp_path, course=None, keys=("(Pdb)", "c\n")
    )

    assert code == 1
    assert f"{file.name}(" in text
    assert stop in text
    assert "The call returned" in text


def test_nothing_to_debug_where_all_passes(workspace):
    """A submission that passes leaves the debugger without work."""
    answer(workspace, "argmax_2d")
    text, code = in_a_terminal("check", "argmax_2d", "--pdb", cwd=workspace)

    assert code == 0
    assert "no failing call" in text


def test_nothing_to_stand_at_where_nothing_was_called(workspace):
    """A file that cannot be loaded has no failing call."""
    answer(workspace, "argmax_2d", "import no_such_module\n")
    text, code = in_a_terminal("check", "argmax_2d", "--pdb", cwd=workspace)

    assert code == 1
    assert "nothing to debug" in text


# ---- a terminal -----------------------------------------------------------------------------------------------------


def test_a_terminal_gets_our_colours_and_not_the_learners(workspace):
    """What the learner printed cannot reach the terminal's controls; our colours and links can."""
    answer(workspace, "argmax_2d", PRINTS)
    text, _ = in_a_terminal("check", "argmax_2d", cwd=workspace)

    assert "\x1b[31m" in text
    assert "file://" in text
    assert "\x1b]0;" not in text
    assert "\x1b[2J" not in text
    assert "shown" in text
    assert "hidden" not in text


@pytest.mark.slow
def test_the_line_that_says_what_is_being_done(workspace):
    """While code hangs, it is the learner's code that is said to run; the line is gone in the end."""
    answer(workspace, "argmax_2d", LOOP)
    text, _ = in_a_terminal("check", "argmax_2d", cwd=workspace)
    several, _ = in_a_terminal("check", "--all", cwd=workspace)

    assert "Running your code" in text
    assert "Checking argmax_2d (2 of 2)" in several
    assert "check failed" in text or "checks failed" in text


@pytest.mark.slow
def test_the_score_is_shown_while_its_mistake_is_looked_for(tmp_path):
    """The first time that takes a while; the verdict has the same score."""
    assert learn("start", cwd=tmp_path, course=None).returncode == 0
    right = (ROOT / "solutions/core/multi_head.py").read_text()
    (tmp_path / "core/multi_head.py").write_text(right.replace("q.size(-1) ** 0.5", "(q.size(-1) + 3)"))
    text, _ = in_a_terminal("check", "multi_head", cwd=tmp_path, course=None, XDG_CACHE_HOME=str(tmp_path / "cache"))

    score = re.search(r"([\d.]+) / 10, looking for the mistake", text)[1]
    assert re.search(rf"{re.escape(score)} / 10(?!,)", text)


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_an_assessment_without_colour(workspace, variables):
    """With NO_COLOR, and in a dumb terminal, the assessment has neither colour nor links."""
    answer(workspace, "argmax_2d", PRINTS)
    text, _ = in_a_terminal("check", "argmax_2d", cwd=workspace, **variables)

    assert "Smallest failing input" in text
    assert not re.search(r"\x1b\[[0-9;]*m|\x1b]", text)


# ---- the course itself, with torch ----------------------------------------------------------------------------------


def test_softmax_from_start_to_solution(tmp_path):
    """The way of a learner through the first lesson: a mistake is named, then the work passes."""
    assert learn("start", cwd=tmp_path, course=None).returncode == 0
    file = tmp_path / "core/softmax.py"
    file.write_text("def softmax(x, dim=-1):\n    e = x.exp()\n    return e / e.sum(dim, keepdim=True)\n")
    wrong = learn("check", cwd=tmp_path, course=None)
    assert wrong.returncode == 1
    assert "exp(1000) overflows" in wrong.stdout

    file.write_text((ROOT / "solutions/core/softmax.py").read_text())
    right = learn("check", cwd=tmp_path, course=None)
    assert right.returncode == 0
    assert (
        "Next  learn read attention · learn solution softmax\n      Questions on this lesson (2 min): learn quiz"
        in right.stdout
    )
    assert right.stderr == ""


@pytest.mark.gpu
@pytest.mark.skipif(
    not torch.cuda.is_available(), reason="needs a CUDA device: run `pytest -m gpu` on a machine with one"
)
def test_softmax_on_a_gpu(tmp_path):
    """Where there is a GPU, `auto` takes it, and the reference passes there."""
    file = ROOT / "solutions/core/softmax.py"
    done = learn("check", "softmax", "--file", str(file), "--json", cwd=tmp_path, course=None)

    assert json.loads(done.stdout)["device"] == "cuda"
    assert done.returncode == 0


def test_the_demo_explains_itself(tmp_path):
    """The demo shows somebody's code and its assessment, and writes nothing."""
    done = learn("demo", cwd=tmp_path, course=None)

    assert done.returncode == 0
    for part in (
        "def scaled_dot_product_attention",
        "Your mask is transposed",
        "Smallest failing input",
        "learn start",
    ):
        assert part in done.stdout
    assert len(done.stdout.splitlines()) <= 40
    assert list(tmp_path.iterdir()) == []


def test_each_line_of_the_demo_stands_beside_its_number(tmp_path):
    """What is said of a line is found in the code above it, in a pipe and in a narrow terminal, where it is folded."""
    code = (ROOT / "lessons/core/attention_demo.py").read_text().splitlines()
    for columns in ("80", "60"):
        shown = learn("demo", cwd=tmp_path, course=None, COLUMNS=columns).stdout.partition("→")[0].splitlines()
        numbered = {int(line[:3]): line[5:] for line in shown if line[:3].strip().isdigit()}

        assert list(numbered) == list(range(1, len(code) + 1))
        assert all(code[number - 1].startswith(line) for number, line in numbered.items())
        assert max(map(len, shown)) <= int(columns)


def test_a_course_without_a_demo_says_so(tmp_path):
    """The tiny course has none."""
    done = learn("demo", cwd=tmp_path)

    assert done.returncode == 2
    assert "no demo" in done.stderr


# ---- doctor ---------------------------------------------------------------------------------------------------------


def test_the_doctor_looks_at_everything(workspace):
    """Each thing has a line with its state in words; where nothing is broken the exit code is 0."""
    done = learn("doctor", "--json", cwd=workspace)
    report = json.loads(done.stdout)
    names = {finding["name"] for finding in report["findings"]}

    assert done.returncode == 0
    assert report["ok"] is True
    assert names >= {"Python", "torch", "course", "landlock", "seccomp", "device", "worker", "workspace", "progress"}
    assert "Everything needed works." in learn("doctor", cwd=workspace).stdout


def test_the_doctor_on_a_terminal_draws_one_sign(workspace):
    """What works has the same sign in every row, also after the line that says what is being done."""
    text, code = in_a_terminal("doctor", cwd=workspace)

    assert code == 0
    assert "+ ok" not in text
    assert re.search(r"^\S*✓ ok +\S* worker", text.replace("\x1b[2K", "\n"), re.MULTILINE)


def test_the_doctor_finds_what_is_broken(tmp_path):
    """A course that cannot be read is a finding, with what to do, and exit code 3."""
    done = learn("doctor", cwd=tmp_path, course=tmp_path / "nowhere")

    assert done.returncode == 3
    assert re.search(r"broken +course", done.stdout)
