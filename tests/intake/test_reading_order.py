"""Sources and weights are read before archives, small archives before large ones, however a hand-in comes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest
from support.hand_ins import learner_of, make_tar, make_zip, write

from grader.intake.discover import discover
from grader.intake.formats import tar
from grader.intake.hand_in import HandIn, read_hand_in
from grader.intake.learner import Learner
from grader.intake.limits import MAX_EARLY_WEIGHTS, MAX_FILES, in_reading_order
from grader.intake.name_patterns import NamePattern

FORMS = ["folder", "zip", "tar", "zip of zips", "class", "class of zips", "parts"]
Files = Mapping[str, str | bytes]


def hand_in_as(form: str, folder: Path, files: Files) -> Learner:
    """The first learner of a class that hands these files in, in one of the forms."""
    if form in ("folder", "zip", "tar"):
        make = {"folder": write, "zip": make_zip, "tar": make_tar}[form]
        return learner_of(make(folder / ("eve" if form == "folder" else f"eve.{form}"), files), form)
    if form == "zip of zips":
        inner = make_zip(folder / "inner.zip", files).read_bytes()
        return learner_of(make_zip(folder / "eve.zip", {"hw.zip": inner}), "zip")
    if form == "class":
        content: Files = {f"{who}/{name}": files[name] for who in ("eve", "zoe") for name in files}
    elif form == "class of zips":
        content = {f"{who}.zip": make_zip(folder / "inner.zip", files).read_bytes() for who in ("eve", "zoe")}
    else:
        people = ("evelee_1001", "zoelee_1002")
        numbered = list(enumerate(files, 50_001))
        write(folder / "in", {f"{who}_{number}_{name}": files[name] for who in people for number, name in numbered})
        return discover(folder / "in", names=NamePattern.parse("canvas")).learners[0]
    return discover(make_zip(folder / "class.zip", content)).learners[0]


@pytest.mark.parametrize("form", FORMS)
def test_an_archive_of_too_many_files_costs_no_weights(tmp_path, form):
    """A repository that was downloaded fills all places; what lies beside it was read before."""
    many = make_zip(tmp_path / "main.zip", {f"m{number}.py": "" for number in range(MAX_FILES + 9)}).read_bytes()
    files: Files = {"main.zip": many, "softmax.py": "x = 1\n", "softmax.safetensors": b"w"}
    hand_in = read_hand_in(hand_in_as(form, tmp_path, files))

    read = {name.rpartition("/")[2] for name in hand_in.files}
    assert {"softmax.py", "softmax.safetensors"} <= read and not hand_in.problem
    assert hand_in.notes


@pytest.mark.parametrize("form", FORMS)
def test_an_archive_that_unpacks_to_too_much_costs_no_weights(tmp_path, form):
    """It is told where reading ended."""
    data = make_tar(tmp_path / "data.tar.gz", {"rest.bin": bytes(9 << 20)}).read_bytes()
    files: Files = {"data.tar.gz": data, "softmax.py": "x = 1\n", "softmax.safetensors": b"w"}
    hand_in = read_hand_in(hand_in_as(form, tmp_path, files), HandIn(unpacked_left=5 << 20))

    assert sorted(hand_in.files.values()) == [b"w", b"x = 1\n"] and not hand_in.problem
    assert "data.tar.gz" in hand_in.notes[-1]


@pytest.mark.parametrize("form", [form for form in FORMS if form != "zip of zips"])
def test_a_large_archive_costs_no_small_one(tmp_path, form):
    """The work may lie in the small one; nor do weights cost it, however many there are."""
    many = {f"m{number}.py": "#" * 100 for number in range(MAX_FILES + 9)}
    files: Files = {
        "a_main.zip": make_zip(tmp_path / "main.zip", many).read_bytes(),
        "work.zip": make_zip(tmp_path / "work.zip", {"softmax.py": "x = 1\n"}).read_bytes(),
        **{f"w{number:03}.safetensors": b"w" for number in range(MAX_FILES + 9)},
    }
    hand_in = read_hand_in(hand_in_as(form, tmp_path, files))
    assert [text for name, text in hand_in.files.items() if name.endswith("work.zip/softmax.py")] == [b"x = 1\n"]


def test_of_many_weights_those_of_a_source_go_before_archives():
    """First what is called as a source is, beside it or elsewhere, then what lies beside one; no more than a few."""
    sizes = {"b.zip": 9, "c.tar.gz": 2, **dict.fromkeys(["a.safetensors", "x/b.safetensors", "x/c.safetensors"], 1)}
    sizes |= {f"y/{number}.safetensors": 1 for number in range(9)} | {"x/c.py": 1, "z.ipynb.txt": 1}
    sizes["x/out/c.safetensors"] = 1
    ordered = in_reading_order(sizes, str, sizes.__getitem__)

    assert ordered[:3] == ["x/c.py", "z.ipynb.txt", "x/c.safetensors"]
    assert ordered[3:6] == ["x/out/c.safetensors", "a.safetensors", "x/b.safetensors"]
    assert ordered[1 + MAX_EARLY_WEIGHTS + 1 :][:2] == ["c.tar.gz", "b.zip"]
    assert sorted(ordered) == sorted(sizes)


def test_what_stands_first_in_a_tar_costs_no_source(tmp_path, monkeypatch):
    """It is read in one go: where there is no room for a source or weights, an archive held gives it, then weights."""
    monkeypatch.setattr(tar, "MAX_HAND_IN_BYTES", 300_000)
    content = {name: Random(name).randbytes(100_000) for name in ("a.zip", "b.safetensors", "c.safetensors")}
    files: Files = {**content, "d.py": b"#" * 150_000, "e.py": b"#" * 100, "f.zip": content["a.zip"]}
    hand_in = read_hand_in(learner_of(make_tar(tmp_path / "eve.tar", files), "tar"))

    assert list(hand_in.files) in (["d.py", "e.py", "b.safetensors"], ["d.py", "e.py", "c.safetensors"])
    assert len([note for note in hand_in.notes if "the hand-in is too large" in note]) == 3
