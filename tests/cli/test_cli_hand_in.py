"""`learn hand-in`: the zip that it writes is found, lesson by lesson, by what grades it."""

from __future__ import annotations

import json
import shutil
import zipfile

import pytest
from support.command_server import run_command
from support.learn_command import ROOT, TINY, answer, environment, learn, start_workspace

from grader.course import load
from grader.intake.discover import discover
from grader.intake.hand_in import read_hand_in
from grader.intake.match_lessons import LessonMatcher

WEIGHTS = ROOT / "solutions/models/tiny_gpt.safetensors"
HELPED = "from helper import total\n\n\ndef moving_average(x, window):\n    return total(x, window)\n"


def test_what_is_written_is_packed_under_the_names_that_are_found(tmp_path):
    """Written lessons and the modules they import; what is empty is left out and named; nothing is replaced unasked."""
    work = start_workspace(tmp_path / "work")
    empty = learn("hand-in", cwd=work)
    assert empty.returncode == 2 and "nothing is written yet" in empty.stderr
    answer(work, "moving_average", HELPED)
    (work / "basics/helper.py").write_text("def total(x, window):\n    return x\n")
    (work / "basics/private.py").write_text("password = 1\n")
    (tmp_path / "in").mkdir()
    out = tmp_path / "in/ann.zip"
    done = learn("hand-in", "--out", str(out), cwd=work)

    assert done.returncode == 0, done.stderr
    assert "not solved yet" in done.stdout and "left out: " in done.stdout and "argmax_2d" in done.stdout
    with zipfile.ZipFile(out) as archive:
        assert sorted(archive.namelist()) == ["basics/helper.py", "basics/moving_average.py"]
    (found,) = discover(tmp_path / "in").learners
    sources = {path: text.decode() for path, text in read_hand_in(found).files.items()}
    course = load(TINY)
    assert LessonMatcher(course, sources).match(course.lessons["moving_average"]) == ("basics/moving_average.py", "")

    again = learn("hand-in", "--out", str(out), cwd=work)
    assert again.returncode == 2 and "--force" in again.stderr
    answer(work, "argmax_2d")
    assert learn("hand-in", "--out", str(out), "--force", "--lessons", "argmax_2d", cwd=work).returncode == 0
    with zipfile.ZipFile(out) as archive:
        assert archive.namelist() == ["basics/argmax_2d.py"]


def test_a_file_that_declares_its_encoding_is_packed_byte_for_byte(tmp_path):
    """Written anew as UTF-8 below its coding line, it would be judged as other text than `learn check` has judged."""
    work = start_workspace(tmp_path / "work")
    written = {
        "basics/moving_average.py": f"# coding: cp1252\r\n# Gr\xf6\xdfe\r\n{HELPED}".encode("cp1252"),
        "basics/helper.py": "# coding: latin-1\n\n\ndef total(x, window):\n    return len('\xe4')\n".encode("latin-1"),
    }
    for name, content in written.items():
        (work / name).write_bytes(content)
    done = learn("hand-in", cwd=work)

    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(work / "hand-in.zip") as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == written


@pytest.mark.parametrize("linked", ["file", "folder"])
def test_what_a_link_brings_from_elsewhere_is_not_handed_in(tmp_path, linked):
    """In a folder of somebody else's it may lead to any file of the user's."""
    work = start_workspace(tmp_path / "work")
    path = answer(work, "argmax_2d")
    path = path if linked == "file" else path.parent
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    done = learn("hand-in", cwd=work)

    assert done.returncode == 2
    assert "a link leads from here" in done.stderr
    assert not (work / "hand-in.zip").exists()


def test_linked_weights_and_modules_are_told_under_their_own_names(tmp_path):
    """What is left out because it is a link is said, and a file's name is written as it is."""
    work = start_workspace(tmp_path / "work", ROOT)
    (work / "models/tiny_gpt.py").write_text("import helper\n" + WEIGHTS.with_suffix(".py").read_text())
    for name in ("tiny_gpt.safetensors", "helper.py"):
        (tmp_path / name).write_text("")
        (work / "models" / name).symlink_to(tmp_path / name)
    done = learn("hand-in", "--out", str(tmp_path / "in.zip"), cwd=work, course=ROOT)

    assert done.returncode == 0, done.stderr
    assert " tiny_gpt.safetensors is left out: it is a link" in done.stderr
    assert " helper.py is left out: it is a link" in done.stderr


@pytest.mark.slow
def test_weights_are_handed_in_and_graded_beside_their_file(tmp_path):
    """They come along in the zip, and a class's are found, in a zip and by Canvas's names."""
    work = start_workspace(tmp_path / "work", ROOT)
    for suffix in (".py", ".safetensors"):
        shutil.copy(WEIGHTS.with_suffix(suffix), work / "models")
    class_folder = tmp_path / "in"
    class_folder.mkdir()
    done = learn("hand-in", "--out", str(tmp_path / "in.zip"), cwd=work, course=ROOT)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(tmp_path / "in.zip") as archive:
        assert sorted(archive.namelist()) == ["models/tiny_gpt.py", "models/tiny_gpt.safetensors"]

    shutil.copy(tmp_path / "in.zip", class_folder / "annlee_11_21_hand-in.zip")
    for suffix, number in ((".py", 22), (".safetensors", 23)):
        shutil.copy(WEIGHTS.with_suffix(suffix), class_folder / f"bobray_12_{number}_tiny_gpt-1{suffix}")
    shutil.copy(WEIGHTS.with_suffix(".py"), class_folder / "caidoe_13_24_tiny_gpt.py")
    run_command(
        "grader", "run", class_folder, "--out", tmp_path / "out", "--names", "canvas", "--lessons", "tiny_gpt",
        "--jobs", 1, "--course", ROOT, cwd=tmp_path, env=environment(ROOT), timeout=600,
    )  # fmt: skip
    submissions = json.loads((tmp_path / "out/results.json").read_text())["submissions"]
    scores = {one["id"]: one["lessons"]["tiny_gpt"]["score"] for one in submissions}
    assert scores["11"] == scores["12"] == 10.0
    assert scores["13"] < 9.0
