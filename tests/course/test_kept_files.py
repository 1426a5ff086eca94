"""grader.course.kept_files: what is parsed of a course's files is kept between light commands, and never tells lies."""

from __future__ import annotations

import json
import os
import shutil
import time

import pytest
from support.hand_ins import TINY

from grader.course import load, load_kept
from grader.errors import CourseError
from grader.files import cache_folder


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A course whose files were written a while ago, and a user who has nothing kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    place = tmp_path / "course"
    shutil.copytree(TINY, place)
    for path in place.rglob("*"):
        os.utime(path, (time.time() - 60,) * 2)
    return place


def kept_file():
    [path] = cache_folder("courses").glob("*.json")
    return path


def test_a_course_that_was_read_before_is_the_same(root):
    """Nothing of it is lost in what is kept."""
    assert load_kept(root) == load_kept(root) == load(root)


def test_a_file_that_was_changed_is_read_again(root):
    """So is one that has the same size as before."""
    text = root / "lessons/basics/moving_average.md"
    before = load_kept(root).lessons["moving_average"].title
    text.write_text(text.read_text().replace(before, before.swapcase()))

    assert load_kept(root).lessons["moving_average"].title == before.swapcase()
    assert text.as_posix() not in json.loads(kept_file().read_text())  # it may be written again within the same moment


@pytest.mark.parametrize("lie", ["", "[]", "{", '{"a": 1}', "null", "[" * 100_000])
def test_a_damaged_file_counts_as_none(root, lie):
    """Whatever stands in it: the course is read from its own files."""
    load_kept(root)
    kept_file().write_text(lie)

    assert load_kept(root) == load(root)


@pytest.mark.parametrize("value", [None, 1, "x", [1], {"title": 3}, [["f"]], [[1, 2, 3, 4, 5, 6]]])
def test_what_is_of_another_form_is_read_anew(root, value):
    """Each entry in turn is no front matter, and no functions."""
    load_kept(root)
    plain = json.loads(kept_file().read_text())
    for name in plain:
        kept_file().write_text(json.dumps(plain | {name: [plain[name][0], value]}))
        assert load_kept(root).lessons.keys() == load(root).lessons.keys()


def test_an_error_is_told_with_its_line(root):
    """Although a lesson that was kept knows no lines."""
    load_kept(root)
    toml = root / "lessons/basics/moving_average.md"
    toml.write_text(toml.read_text().replace("minutes =", "minuets ="))

    with pytest.raises(CourseError) as told:
        load_kept(root)
    with pytest.raises(CourseError) as plain:
        load(root)
    assert str(told.value) == str(plain.value) and ":" in told.value.where.rpartition("/")[2]


def test_a_linked_folder_loses_nothing(root, tmp_path):
    """Files of somebody else, in a folder to which that of the cache is a link, are neither removed nor added to."""
    (tmp_path / "other").mkdir()
    names = {f"{number}.json" for number in range(30)}
    for name in names:
        (tmp_path / "other" / name).write_text("mine")
    cache_folder("courses").parent.mkdir(parents=True)
    cache_folder("courses").symlink_to(tmp_path / "other")

    assert load_kept(root) == load(root)
    assert {path.name for path in (tmp_path / "other").iterdir()} == names


def test_who_has_no_home_keeps_nothing(root, monkeypatch):
    """The course is read all the same."""
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("pathlib.Path.home", lambda: (_ for _ in ()).throw(RuntimeError))

    assert load_kept(root) == load(root)
