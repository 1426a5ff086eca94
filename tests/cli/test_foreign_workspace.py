"""What a folder that somebody handed in may not do: name or carry code that runs outside of a worker."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.command_server import run_command
from support.hand_ins import write
from support.learn_command import TINY, answer, environment, in_a_terminal, learn, start_workspace

from grader.course import load

QUESTION = "[y/N]"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A user who has chosen no course yet."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config/selfattend/trusted-courses"


@pytest.fixture
def workspace(tmp_path):
    """Somebody's workspace, solved, with a course of theirs inside, whose checks leave a mark where they run."""
    root = start_workspace(tmp_path / "work")
    for lesson in load(TINY).lessons:
        answer(root, lesson)
    plant(root / "c", tmp_path)
    return root


def plant(course: Path, tmp_path: Path) -> None:
    """Make a copy of the tiny course whose every program leaves a mark."""
    shutil.copytree(TINY, course, ignore=shutil.ignore_patterns("__pycache__"))
    for file in [*course.glob("solutions/*/*.py"), *course.glob("lessons/*/*.py")]:
        file.write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n{file.read_text()}")


def name_course(workspace: Path, folder: object) -> None:
    mark = workspace / ".selfattend/workspace.toml"
    kept = [line for line in mark.read_text().splitlines() if not line.startswith("folder")]
    mark.write_text("\n".join([*kept, f'folder = "{folder}"', ""]))


@pytest.mark.parametrize(
    "folder", ["c", "./c", "../work/c", "{root}/c", "{root}/../work/c", "{root}/link", "{out}/link"]
)
def test_a_course_inside_the_workspace_is_used_on_nobodys_word_but_the_users(workspace, tmp_path, folder):
    """However the workspace writes it, it is refused with the option to give; nothing of the course has run."""
    for place in (workspace, tmp_path):
        (place / "link").symlink_to(workspace / "c")
    name_course(workspace, folder.format(root=workspace, out=tmp_path))

    done = learn("check", "argmax_2d", cwd=workspace, course=None)

    assert done.returncode == 2
    assert "--course" in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "ran").exists()


def test_it_is_refused_on_a_terminal_too_and_used_where_the_user_names_it(workspace, tmp_path):
    """No question is asked about it: a hand-in could have made it look like any other."""
    name_course(workspace, workspace / "c")
    text, code = in_a_terminal("check", "argmax_2d", cwd=workspace, keys=(QUESTION, "y\n"), SELFATTEND_COURSE="")
    assert code == 2 and QUESTION not in text
    assert not (tmp_path / "ran").exists()

    done = learn("check", "argmax_2d", "--course", "c", cwd=workspace, course=None)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "ran").exists()
    assert learn("check", "argmax_2d", cwd=workspace, course=None).returncode == 2


@pytest.mark.parametrize("command", [("check", "argmax_2d"), ("list", "--json"), ("doctor",)])
def test_without_a_terminal_a_course_of_elsewhere_is_refused_with_the_command_that_takes_it(
    workspace, tmp_path, command
):
    """It is the command as it has to be typed; after it, the workspace works as it did."""
    plant(tmp_path / "my course", tmp_path)
    name_course(workspace, tmp_path / "my course")

    done = learn(*command, cwd=workspace, course=None)

    wanted = f"learn start --course '{tmp_path}/my course'"
    assert done.returncode in (2, 3)
    assert wanted in " ".join((done.stdout + done.stderr).split())
    assert not (tmp_path / "ran").exists()
    assert learn("start", "--course", str(tmp_path / "my course"), cwd=workspace, course=None).returncode == 0
    assert learn("check", "argmax_2d", cwd=workspace, course=None).returncode == 0
    assert (tmp_path / "ran").exists()


def test_on_a_terminal_the_owner_of_an_old_workspace_is_asked_once(workspace, tmp_path, home):
    """The question says what is at stake; no leaves all as it is, yes is remembered for this user."""
    plant(tmp_path / "course", tmp_path)
    name_course(workspace, tmp_path / "course")

    for typed, code in (("n\n", 2), ("\n", 2), ("y\n", 0), (None, 0)):
        keys = (QUESTION, typed) if typed else None
        text, ended = in_a_terminal("list", cwd=workspace, keys=keys, SELFATTEND_COURSE="")
        assert ended == code, text
        assert (QUESTION in text) == bool(typed)
        if typed:
            assert str(tmp_path / "course") in text.replace("\n", "") and "with your rights" in " ".join(text.split())

    assert home.read_text() == f"{tmp_path / 'course'}\n"
    assert learn("check", "argmax_2d", cwd=workspace, course=None).returncode == 0


def test_to_start_with_a_course_is_to_choose_it(tmp_path):
    """`learn start --course` and the environment are the user's own words: nothing is asked afterwards."""
    shutil.copytree(TINY, tmp_path / "course")
    assert learn("start", "work", "--course", "course", cwd=tmp_path, course=None).returncode == 0
    assert learn("list", cwd=tmp_path / "work", course=None).returncode == 0
    assert learn("start", "other", cwd=tmp_path, course=TINY).returncode == 0
    assert learn("list", cwd=tmp_path / "other", course=None).returncode == 0


def test_an_assignment_s_course_is_used_once_the_user_has_named_it(tmp_path):
    """Its file may be somebody else's too: the refusal has the command, and then no run has to name it."""
    plant(tmp_path / "our course", tmp_path)
    (tmp_path / "hw.toml").write_text('course = "our course"\nout = "results"\n')
    write(tmp_path / "in/ada", {"argmax_2d.py": (TINY / "solutions/basics/argmax_2d.py").read_text()})

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        words = ("run", "hw.toml", "in", "--jobs", "1", *options)
        return run_command("grader", *words, cwd=tmp_path, env=environment(None), timeout=120)

    refused = run()
    assert refused.returncode == 2 and "hw.toml asks for a course that you have not used before" in refused.stderr
    assert f"grader run --course '{tmp_path}/our course'" in " ".join(refused.stderr.split())
    assert not (tmp_path / "ran").exists()
    assert run("--course", "our course").returncode == 0 and (tmp_path / "ran").exists()
    again = run("--resume")
    assert again.returncode == 0 and "1 submission graded before" in again.stderr
    (tmp_path / "our course").rename(tmp_path / "elsewhere")
    assert "the course that hw.toml names is not there" in " ".join(run("--resume").stderr.split())


@pytest.mark.parametrize("where", ["here", ".", ""])
def test_the_list_of_courses_is_never_the_workspaces_own(workspace, tmp_path, where):
    """A relative XDG_CONFIG_HOME counts as none: it would lead into whatever folder the command is started in."""
    plant(tmp_path / "course", tmp_path)
    name_course(workspace, tmp_path / "course")
    (workspace / where / "selfattend").mkdir(parents=True)
    (workspace / where / "selfattend/trusted-courses").write_text(f"{tmp_path / 'course'}\n")

    done = learn("list", cwd=workspace, course=None, XDG_CONFIG_HOME=where, HOME=str(tmp_path / "home"))

    assert done.returncode == 2


def test_completion_asks_nothing(workspace, tmp_path):
    """While a shell completes, a course that nobody chose gives no lessons, and no question."""
    plant(tmp_path / "course", tmp_path)
    name_course(workspace, tmp_path / "course")
    variables: dict[str, Any] = {"_LEARN_COMPLETE": "bash_complete", "COMP_WORDS": "learn check ", "COMP_CWORD": "2"}

    text, _ = in_a_terminal(cwd=workspace, SELFATTEND_COURSE="", **variables)

    assert QUESTION not in text and "argmax" not in text


@pytest.mark.parametrize(
    "damage",
    [
        "format = inf\n", "format = 1e400\n", "format = true\n", f"format = {'9' * 5000}\n", f"format = {'[' * 5000}",
        'format = 1\ncourse = "tiny"\nversion = 1\n', 'format = 1\ncourse = "ti\\u001b[31mny"\nversion = "1"\n',
        'format = 1\ncourse = "tiny"\nversion = "1"\nfolder = "/tmp/\\u0000"\n',
        'format = 1\ncourse = "tiny"\nversion = "1"\nfolder = "/tmp/\\u202ec"\n',
        'format = 1\ncourse = "tiny"\nversion = "1"\nfolder = "/tmp/a\\n/tmp/b"\n', "#" * 100_000,
    ],
    ids=str.__len__,
)  # fmt: skip
def test_whatever_a_mark_says_it_is_no_fault_of_ours(workspace, damage):
    """A mark that this program did not write is damaged, and no sign of it controls the terminal."""
    (workspace / ".selfattend/workspace.toml").write_text(damage)

    done = learn("list", cwd=workspace, course=TINY)

    assert done.returncode == 2 and "damaged" in done.stderr
    assert "\x1b" not in done.stderr


# --- code that lies about in the folder -------------------------------------------------------------------------------

BAIT = (
    "torch.py", "numpy.py", "json.py", "click.py", "tomllib.py", "pytest.py", "sitecustomize.py", "usercustomize.py",
    "conftest.py", "grader/__init__.py", "selfattend.py", "argmax_2d.py", "basics/conftest.py", "basics/torch.py",
    "basics_quiz.py", "lessons/basics/basics_quiz.py", ".selfattend/conftest.py", ".selfattend/sitecustomize.py",
    "templates/__init__.py",
)  # fmt: skip


@pytest.fixture
def baited(tmp_path):
    """A workspace full of files that some program might run."""
    root = start_workspace(tmp_path / "work")
    for lesson in load(TINY).lessons:
        answer(root, lesson)
    spring = f"open({str(tmp_path / 'ran')!r}, 'a').write(__file__ + chr(10))\n"
    for name in BAIT:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(spring)
    (root / "evil.pth").write_text(f"import os; open({str(tmp_path / 'ran')!r}, 'a').write('pth')\n")
    for name in ("pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", "pyvenv.cfg", ".pdbrc", "solutions"):
        (root / name).write_text("[pytest]\naddopts = -p conftest\npython_files = *.py\n")
    (root / ".pdbrc").write_text(spring.replace("__file__", "'pdbrc'"))
    (root / "report.html.j2").write_text("{{ ''.__class__.__mro__[1].__subclasses__() }}")
    return root


@pytest.mark.parametrize(
    "command",
    [
        (), ("start",), ("check", "--all"), ("solution", "argmax_2d"), ("progress",), ("report", "--html", "out.html"),
        ("quiz", "list"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_nothing_that_lies_in_the_folder_runs(baited, tmp_path, command):
    """The folder that the command is started in is no place from which Python, pytest or a template is taken."""
    done = learn(*command, cwd=baited, PYTHONSAFEPATH="1")

    assert done.returncode in (0, 1, 2), done.stderr
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()


@pytest.mark.parametrize("command", [(), ("list",), ("start",), ("reset", "argmax_2d", "--yes")], ids=" ".join)
@pytest.mark.parametrize("leads_to", ["pipe", "/dev/zero"])
def test_no_exercise_is_waited_for(workspace, command, leads_to):
    """A pipe or a device in the place of an exercise is neither waited for nor read without end."""
    file = workspace / "basics/argmax_2d.py"
    file.unlink()
    os.mkfifo(file) if leads_to == "pipe" else file.symlink_to(leads_to)

    assert learn(*command, cwd=workspace).returncode in (0, 2)


@pytest.mark.parametrize("folder", ["basics", ".selfattend"])
def test_no_link_leads_out_of_a_workspace(workspace, tmp_path, folder):
    """Nothing is written where a folder of somebody's workspace leads; the folder that is a link is named."""
    mine = tmp_path / "mine"
    mine.mkdir()
    shutil.copytree(workspace / ".selfattend", mine, dirs_exist_ok=True)
    (mine / "argmax_2d.py").write_text("work")
    shutil.rmtree(workspace / folder)
    (workspace / folder).symlink_to(mine)

    done = [learn(*words, cwd=workspace) for words in (("hint", "argmax_2d"), ("reset", "argmax_2d"), ("start",))]

    assert {path.name for path in mine.iterdir()} == {"workspace.toml", "argmax_2d.py"}
    assert (mine / "argmax_2d.py").read_text() == "work"
    assert done[-1].returncode == 2 and f"{folder} is a link" in done[-1].stderr


def test_the_installed_commands_do_not_look_for_modules_in_the_folder(baited, tmp_path):
    """`learn` and `grader` are scripts, whose own folder Python searches, not the current one."""
    variables = {name: value for name, value in environment(course=None).items() if name != "PYTHONPATH"}
    for name in ("learn", "grader"):
        script = Path(sys.executable).with_name(name)
        if not script.exists():
            pytest.skip("needs the installed commands: pip install -e .")
        done = subprocess.run([script, "doctor"], cwd=baited, env=variables, capture_output=True, text=True, timeout=60)
        assert "Python" in done.stdout, done.stderr

    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()


def test_the_debugger_takes_no_orders_from_the_folder(baited, tmp_path):
    """`--pdb` reads the .pdbrc of your home folder, not the one that lies beside what was handed in."""
    answer(baited, "argmax_2d", "import numpy as np\n\n\ndef argmax_2d(x):\n    return 0, 0\n")

    text, _ = in_a_terminal("check", "argmax_2d", "--pdb", cwd=baited, keys=("(Pdb)", "q\n"), PYTHONSAFEPATH="1")

    assert "(Pdb)" in text
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()


@pytest.mark.parametrize("words", [("check", "argmax_2d"), ("check", "--all"), ("check", "basics/argmax_2d.py")])
def test_a_link_leads_no_check_to_another_file_of_the_user(workspace, tmp_path, words):
    """A file elsewhere is not read: its lines would be shown, and kept in the folder that goes back."""
    (tmp_path / "secret").write_text("password hunter2secret\n")
    path = workspace / "basics/argmax_2d.py"
    path.unlink()
    path.symlink_to(tmp_path / "secret")
    done = learn(*words, cwd=workspace)

    assert "hunter2" not in done.stdout + done.stderr and "a link leads from here" in done.stdout + done.stderr
    kept = (
        (workspace / ".selfattend/progress.db").read_bytes()
        if (workspace / ".selfattend/progress.db").exists()
        else b""
    )
    assert b"hunter2" not in kept


@pytest.mark.parametrize("words", [("check", "argmax_2d"), ("check", "basics/argmax_2d.py")])
def test_a_link_to_itself_is_told_as_a_file_that_cannot_be_read(workspace, words):
    """The message says what is there, and the command that puts the exercise in its place."""
    path = workspace / "basics/argmax_2d.py"
    path.unlink()
    path.symlink_to(path.name)

    done = learn(*words, cwd=workspace)

    says = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 2 and os.strerror(errno.ELOOP) in says and "our fault" not in says
    assert "move it away, then learn start" in says
