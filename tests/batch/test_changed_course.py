"""A course whose files change while it is in use gives no verdicts: whatever changed them could have made those too."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from support.hand_ins import ANSWERS, ON_TRUST, TINY, write
from support.learn_command import answer, environment, learn, start_workspace
from support.process_tree import descendants

from grader.batch.processes.process_pool import ProcessPool
from grader.batch.settings import make_settings
from grader.course import course_files, load
from grader.course.course_files import digest
from grader.errors import GraderError
from grader.intake.discover import discover

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: the processes are found in /proc")
CHECKS = "solutions/basics/test_argmax_2d.py"
WRONG = "def argmax_2d(x):\n    return 0, 0\n"
SLOW = f"import time\ntime.sleep(6)\n{WRONG}"  # so long is there, once a worker is, to change a file while it is graded
SECONDS = 120
LINE = "from grader.cli.grader.group import main; main()"


def copy_course(folder: Path) -> Path:
    """Copy the tiny course, to change it."""
    return shutil.copytree(TINY, folder / "course", ignore=shutil.ignore_patterns("__pycache__"))


@pytest.fixture
def course(tmp_path):
    """A copy of the tiny course that may be changed."""
    return copy_course(tmp_path)


def begin(place: Path, course: Path) -> subprocess.Popen[str]:
    """`grader run` on one slow learner."""
    write(place / "in", {"ada/argmax_2d.py": SLOW})
    words = ["run", "in", "--out", "out", "--course", str(course), "--lessons", "argmax_2d", "--jobs", "1"]
    return subprocess.Popen(
        [sys.executable, "-c", LINE, *words],
        cwd=place, env=environment(None), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_for_processes(process: subprocess.Popen[str], count: int) -> None:
    """Wait until a command has started so many: the last is a worker."""
    deadline = time.monotonic() + SECONDS
    while len(descendants(process.pid)) < count:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)


@needs_linux
def test_a_change_during_a_run_ends_it(tmp_path):
    """The verdict that was being made is not written, nor is one made with the changed files; what to do is said."""
    with ExitStack() as stack:
        runs = []
        for changed in (CHECKS, "course.toml"):
            course = copy_course(tmp_path / f"{len(runs)}")
            runs.append((stack.enter_context(begin(course.parent, course)), course, course / changed))
            stack.callback(runs[-1][0].kill)
        for running, _, file in runs:
            wait_for_processes(running, 3)
            time.sleep(0.5)
            file.write_text(file.read_text() + "\n# changed\n")
        for running, course, _ in runs:
            _, said = running.communicate(timeout=SECONDS)

            assert running.returncode == 3, said
            assert "the course's files were changed" in said and str(course) in said and "--resume" in said
            assert "ada" not in (course.parent / "out/gradebook.csv").read_text()


def test_a_grading_process_does_not_start_with_other_files(tmp_path, course):
    """Where one has died, the one in its place looks before it loads a check."""
    made = load(course)
    settings = make_settings(made, [made.lessons["argmax_2d"]], 1, "cpu", "1", "available")
    pool = ProcessPool(replace(settings, files=digest(made)), made.limits)
    write(tmp_path / "in", {"ada/argmax_2d.py": WRONG, "ben/argmax_2d.py": ANSWERS["argmax_2d"]})
    ada, ben = discover(tmp_path / "in").learners
    try:
        assert pool.grade(ada).record.score < 10
        (course / CHECKS).write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n{(course / CHECKS).read_text()}")
        pool.get_process().process.kill()
        with pytest.raises(GraderError, match="were changed"):
            pool.grade(ben)
    finally:
        pool.close()
    assert not (tmp_path / "ran").exists()


@needs_linux
def test_learn_check_gives_no_verdict_by_changed_files(tmp_path, course):
    """The learner's own check too: nothing is shown and nothing kept."""
    workspace = start_workspace(tmp_path / "work", course)
    answer(workspace, "argmax_2d", f"import pathlib\n{SLOW}")
    running = subprocess.Popen(
        [sys.executable, "-c", "from grader.cli.learn.group import main; main()", "check", "argmax_2d"],
        cwd=workspace, env=environment(course), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_for_processes(running, 2)
    time.sleep(0.5)
    (course / CHECKS).write_text((course / CHECKS).read_text() + "\n")
    shown, said = running.communicate(timeout=SECONDS)

    assert running.returncode == 3 and "were changed" in said, said
    assert "of 10" not in shown
    assert learn("progress", "--json", cwd=workspace, course=course).stdout.count('"attempts": 0') > 0


def test_what_was_compiled_of_the_course_is_not_taken_on_trust(tmp_path, course):
    """Without isolation, code could leave its own in __pycache__: it is made anew, and nothing stays for later runs."""
    source, left = course / "solutions/basics/argmax_2d.py", tmp_path / "ran"
    honest = source.read_text()
    source.write_text(f"open({str(left)!r}, 'w').close()\n{honest}")
    subprocess.run([sys.executable, "-m", "py_compile", str(source)], check=True)
    cached = Path(cache_from_source(str(source)))
    planted = cached.read_bytes()
    source.write_text(honest)
    stat = source.stat()
    stamp = (int(stat.st_mtime) & 0xFFFFFFFF).to_bytes(4, "little") + stat.st_size.to_bytes(4, "little")
    cached.write_bytes(planted[:8] + stamp + planted[16:])
    write(tmp_path / "in", {"ada/argmax_2d.py": ANSWERS["argmax_2d"]})
    words = ["run", "in", "--out", "out", "--course", str(course), "--lessons", "argmax_2d", "--jobs", "1", *ON_TRUST]
    done = subprocess.run(
        [sys.executable, "-c", LINE, *words], cwd=tmp_path, env=environment(None), capture_output=True, timeout=60
    )

    assert done.returncode == 0, done.stderr
    assert not left.exists() and not cached.parent.exists()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root: run pytest as root")
def test_root_has_to_say_that_it_means_it(tmp_path):
    """Without --as-root nothing is graded and nothing written; --as-root alone is an error."""
    write(tmp_path / "in", {"ada/argmax_2d.py": ANSWERS["argmax_2d"]})
    words = ["run", "in", "--out", "out", "--course", str(TINY), "--lessons", "argmax_2d", "--jobs", "1"]
    for options, said in ((["--isolation", "process"], "--as-root"), (["--as-root"], "--isolation process")):
        done = subprocess.run(
            [sys.executable, "-c", LINE, *words, *options],
            cwd=tmp_path, env=environment(None), capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == 2 and said in done.stderr, done.stderr
        assert not list(tmp_path.glob("out/*.sqlite"))


def test_a_copy_of_a_course_has_the_same_digest(course):
    """It is of names and contents, not of places, times, hidden files or what Python compiled."""
    before = digest(load(TINY))
    (course / "solutions/basics/.swap").write_text("")
    (course / "solutions/basics/__pycache__").mkdir()
    assert digest(load(course)) == before
    for file in ("solutions/basics/more.py", CHECKS, "solutions/basics/argmax_2d.py", "lessons/basics/argmax_2d.md"):
        with (course / file).open("a") as changed:
            changed.write("\n# changed\n")
        before, after = digest(load(course)), before
        assert after != before, file


def test_unchanged_files_are_read_once(tmp_path, course, monkeypatch):
    """A class does not read the course for each learner; what is changed is seen though its time is set back."""
    made, reads = load(course), []
    digest_of = course_files.digest
    monkeypatch.setattr(course_files, "digest", lambda course: reads.append(1) or digest_of(course))
    monkeypatch.setattr(course_files, "SETTLED_SECONDS", 0.0)
    watched = course_files.Unchanged(made, digest_of(made))
    for _ in range(3):
        watched.require()
    assert len(reads) == 1

    file = course / CHECKS
    before, text = file.stat(), file.read_text()
    file.write_text(text.replace("assert", "asSert", 1))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(GraderError, match="were changed"):
        watched.require()
    file.write_text(text)
    watched.require()
    (file.parent / "test_further.py").write_text("")
    with pytest.raises(GraderError, match="were changed"):
        watched.require()


def test_files_written_just_now_are_read_again(course, monkeypatch):
    """A change in the same tick of the clock would leave the time as it is."""
    made, reads = load(course), []
    digest_of = course_files.digest
    monkeypatch.setattr(course_files, "digest", lambda course: reads.append(1) or digest_of(course))
    watched = course_files.Unchanged(made, digest_of(made))
    os.utime(course / CHECKS)
    watched.require()
    watched.require()
    assert len(reads) == 2
