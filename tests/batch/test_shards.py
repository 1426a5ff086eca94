"""grader.batch: a class in parts, how they are joined, and what is said if they do not fit."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from support.hand_ins import ANSWERS, SUMS, TINY, write

from grader.batch.results import read_results
from grader.batch.run import Plan, Run
from grader.batch.shards import Shard
from grader.cli.grader.group import grader
from grader.course import load
from grader.errors import UsageError
from grader.intake.learner import Entry, Learner
from grader.model.person_name import MAX_NAME_CHARS, name_keys

IDS = st.lists(st.text(min_size=1, max_size=12), unique=True, max_size=30)


def learner(learner_id: str, owner: str = "") -> Learner:
    return Learner(learner_id, (Entry("x", Path("x"), "folder"),), "x", owner)


@given(IDS, st.integers(1, 9))
def test_every_learner_is_in_one_part_regardless_of_the_others(ids, of):
    """The parts cover the class without overlap, and a learner's part depends on their id alone."""
    parts = [[one for one in ids if Shard(number, of).holds(learner(one))] for number in range(1, of + 1)]

    assert sorted(one for part in parts for one in part) == sorted(ids)


@given(st.text(min_size=1), st.integers(1, 9))
def test_all_attempts_of_a_learner_are_in_one_part(name, of):
    """Attempts have different ids, and belong to the part of their learner."""
    attempts = [learner(f"{name}@{number}", name) for number in range(1, 5)]
    assert len({tuple(Shard(number, of).holds(one) for number in range(1, of + 1)) for one in attempts}) == 1


def test_the_parts_are_of_like_size():
    """Of a thousand learners, each of eight parts gets about an eighth."""
    sizes = [sum(Shard(number, 8).holds(learner(f"s{one}")) for one in range(1000)) for number in range(1, 9)]
    assert min(sizes) > 90 and max(sizes) < 160


@pytest.mark.parametrize("text", ["0/4", "5/4", "1/0", "x/2", "1", "1/2/3", "-1/2", "1.0/2"])
def test_what_is_no_part_is_said(text):
    """Parts are counted from 1, which is said with what to write where jobs are numbered from 0."""
    with pytest.raises(UsageError, match="counted from 1") as caught:
        Shard.parse(text)
    assert "INDEX + 1" in caught.value.next_step


def test_a_part_is_read_as_it_is_written():
    """`2/8` is a part and its own text."""
    assert Shard.parse(" 2/8 ") == Shard(2, 8) and str(Shard(2, 8)) == "2/8"


# --- graded and joined ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def course():
    return load(TINY)


@pytest.fixture(scope="module")
def parts(course, tmp_path_factory):
    """A class of eight, graded as a whole and in three parts with the same seed."""
    place = tmp_path_factory.mktemp("parts")
    files = {f"s{number}.py": (ANSWERS["moving_average"] if number % 2 else SUMS) for number in range(8)}
    folder = write(place / "in", files)
    grade(course, folder, place / "whole")
    for number in (1, 2, 3):
        grade(course, folder, place / "spread", shard=Shard(number, 3))
    return place


def grade(course, folder: Path, out: Path, **asked) -> None:
    plan = Plan(folder, out, [course.lessons["moving_average"]], "1", jobs=1, **{"seed": 5, **asked})
    run = Run(course, plan)
    try:
        run.grade(lambda record: None)
    finally:
        run.close()


@pytest.fixture
def spread(parts, tmp_path):
    """A copy of the three parts."""
    shutil.copytree(parts / "spread", tmp_path / "spread")
    return tmp_path / "spread"


def merge(*places: Path, out: Path, course: Path = TINY, code: int = 0) -> str:
    """What `grader merge` said."""
    words = ["merge", *map(str, places), "--out", str(out), "--course", str(course)]
    done = CliRunner().invoke(grader, words)
    assert done.exit_code == code, done.output
    return done.output


def records(out: Path) -> list[dict]:
    found = [record.to_json() for record in read_results(out)[1]]
    for record in found:
        record["duration_s"] = record["lessons"]["moving_average"]["duration_s"] = 0
    return found


def test_a_part_writes_its_store_and_nothing_else(parts):
    """Parts may lie in one folder; the class's files come when they are joined."""
    there = sorted(str(path.relative_to(parts / "spread")) for path in (parts / "spread").rglob("*"))
    assert [name for name in there if ".lock" not in name] == [
        "shards", "shards/1-of-3.sqlite", "shards/2-of-3.sqlite", "shards/3-of-3.sqlite",
    ]  # fmt: skip


def test_a_part_that_begins_anew_is_put_aside(course, parts, spread):
    """Parts that begin anew at the same time share the folder that earlier ones are moved to."""
    for number in (1, 2):
        grade(course, parts / "in", spread, shard=Shard(number, 3))

    assert sorted(path.name for path in (spread / "shards/previous-1").iterdir()) == ["1-of-3.sqlite", "2-of-3.sqlite"]
    assert "3 parts joined" in merge(spread, out=spread)


def test_joined_parts_are_the_whole(parts, spread):
    """Graded in parts and joined, a class has the results of a class graded at once, and all of its files."""
    said = merge(spread, out=spread)

    assert "3 parts joined, 8 results added." in said
    assert records(spread) == records(parts / "whole")
    head, whole = read_results(spread)[0], read_results(parts / "whole")[0]
    assert head["complete"] and head["similar"] == whole["similar"]
    same = {"course", "lessons", "seed", "titles", "isolation", "missing", "ignored"}
    assert {key: head[key] for key in same} == {key: whole[key] for key in same}
    made = {path.name for path in spread.iterdir()} - {"shards"}
    assert made == {path.name for path in (parts / "whole").iterdir()}
    assert len(list((spread / "feedback").glob("*.html"))) == 8


def test_joining_again_changes_nothing(spread):
    """Parts can be joined as often as one likes; what is there already is not written again."""
    merge(spread, out=spread)
    before = (spread / "results.json").stat().st_mtime_ns
    said = merge(spread, out=spread)

    assert "0 results added" in said
    assert (spread / "results.json").stat().st_mtime_ns == before


def test_a_part_that_is_not_there_is_named(spread, tmp_path):
    """What is there is joined, with exit status 1; the missing part can be added later."""
    late = tmp_path / "late.sqlite"
    (spread / "shards/2-of-3.sqlite").rename(late)
    said = merge(spread, out=tmp_path / "out", code=1)

    assert "Parts that are not there: 2/3" in said
    assert not json.loads((tmp_path / "out/results.json").read_text())["complete"]
    assert "1 part joined" in merge(late, out=tmp_path / "out")
    assert json.loads((tmp_path / "out/results.json").read_text())["complete"]
    assert len(records(tmp_path / "out")) == 8


def test_what_waits_for_a_newer_result_in_a_part_waits_when_joined(course, tmp_path):
    """A part that was stopped has results of earlier hand-ins: joined, now or before, they are no more than that."""
    for source in (SUMS, ANSWERS["moving_average"]):
        folder = write(tmp_path / "in", {"a.py": source, "b.py": source})
        asked = {} if source is SUMS else {"resume": True, "limit": 1}
        grade(course, folder, tmp_path / "parts", shard=Shard(1, 1), **asked)
        if source is SUMS:
            merge(tmp_path / "parts", out=tmp_path / "before")
    for out in ("joined", "before"):
        said = merge(tmp_path / "parts", out=tmp_path / out)
        head, _ = read_results(tmp_path / out)

        assert (head["complete"], head["waiting"], head["unfinished"]) == (False, ["b"], 1)
        assert "or with an earlier hand-in's: b" in " ".join(said.split())


def test_one_name_under_two_ids_in_different_parts_is_told(course, tmp_path):
    """A part that was graded with a list knows its people by other ids: joined, they may stand there twice."""
    folder = write(tmp_path / "in", {"annlee_1001_1_moving_average.py": SUMS, "bobray_1002_2_moving_average.py": SUMS})
    write(tmp_path, {"list.csv": "id,name\ns1,Ann Lee\n"})
    for part, options in {"one": {}, "two": {"roster": tmp_path / "list.csv"}}.items():
        grade(course, folder, tmp_path / part, names="canvas", **options)
    said = merge(tmp_path / "one", tmp_path / "two", out=tmp_path / "joined")
    assert "perhaps one person under two ids: 1001 and s1\n" in said


def test_a_name_of_thousands_of_words_costs_little():
    """A store may come from anywhere: a name is turned round no further than its first letters."""
    keys = name_keys("ab " * 100_000)
    assert len(keys) <= MAX_NAME_CHARS and sum(map(len, keys)) < 100_000


def test_a_part_whose_people_have_other_ids_now_is_refused(course, tmp_path):
    """Parts are divided by ids: with others somebody's result would stay in one part, and be made anew in another."""
    folder = write(tmp_path / "in", {"annlee_1001_1_moving_average.py": SUMS})
    write(tmp_path, {"list.csv": "id,name\ns1,Ann Lee\n"})
    grade(course, folder, tmp_path / "parts", names="canvas", shard=Shard(1, 1))
    with pytest.raises(UsageError, match="as 1001, who is s1") as refused:
        grade(
            course,
            folder,
            tmp_path / "parts",
            names="canvas",
            shard=Shard(1, 1),
            roster=tmp_path / "list.csv",
            resume=True,
        )
    assert "--out" in refused.value.next_step


def test_of_two_results_the_newest_counts(course, parts, spread, tmp_path):
    """Who is in several parts is named."""
    again = write(tmp_path / "again", {"s0.py": ANSWERS["moving_average"]})
    grade(course, again, tmp_path / "newer")
    store = tmp_path / "newer/results.sqlite"
    set_time(store, "2999-01-01T00:00:00+00:00")
    said = merge(spread, store, out=tmp_path / "out")

    assert "of which the newest result counts: s0" in said
    (s0,) = [one for one in records(tmp_path / "out") if one["id"] == "s0"]
    assert s0["score"] == 10.0
    set_time(store, "1999-01-01T00:00:00+00:00")
    merge(store, spread, out=tmp_path / "older")
    assert [one["score"] for one in records(tmp_path / "older") if one["id"] == "s0"] != [10.0]


def set_time(store: Path, when: str) -> None:
    import sqlite3

    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE results SET at = ?", (when,))
    connection.close()


def test_parts_with_other_settings_are_refused(course, parts, spread, tmp_path):
    """Another seed is another exam: what differs is said, and nothing is written."""
    grade(course, parts / "in", tmp_path / "other", shard=Shard(1, 3), seed=6)
    said = merge(spread, tmp_path / "other", out=tmp_path / "out", code=2)

    assert "different settings: seed: 5 and 6\n" in said and "course" not in said.partition("Next")[0]
    assert not (tmp_path / "out").exists()


def test_a_learner_with_a_result_in_one_part_is_missing_in_none(course, parts, tmp_path):
    """Who was graded earlier and is not among today's hand-ins is known to one part only; that is enough."""
    roster = tmp_path / "roster.csv"
    roster.write_text("id\n" + "".join(f"s{number}\n" for number in range(10)))
    some = write(tmp_path / "some", {"s9.py": SUMS})
    for folder in (parts / "in", some):
        for number in (1, 2):
            grade(course, folder, tmp_path / "out", shard=Shard(number, 2), resume=True, roster=roster)
    merge(tmp_path / "out", out=tmp_path / "out")

    head, found = read_results(tmp_path / "out")[0], records(tmp_path / "out")
    assert [one["id"] for one in found] == [f"s{number}" for number in (0, 1, 2, 3, 4, 5, 6, 7, 9)]
    assert [one["id"] for one in head["missing"]] == ["s8"] and head["complete"]


def test_two_learners_with_one_file_name_keep_their_feedback(course, spread, tmp_path):
    """Parts from different folders do not overwrite each other's feedback."""
    grade(course, write(tmp_path / "in", {"S1.py": SUMS}), tmp_path / "other")
    merge(spread, tmp_path / "other", out=tmp_path / "out")

    shown = {path.stem.casefold() for path in (tmp_path / "out/feedback").glob("*.json")}
    assert len(shown) == 9
    for record in records(tmp_path / "out"):
        assert json.loads((tmp_path / f"out/feedback/{record['feedback']}.json").read_text())["id"] == record["id"]


def test_nothing_to_join_is_said(tmp_path, parts):
    """A folder without results, and a file that is no store, are wrong usage."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("x" * 5000)

    assert "no results of a run" in merge(tmp_path / "empty", out=tmp_path / "out", code=2)
    assert "cannot be read" in merge(tmp_path / "notes.txt", out=tmp_path / "out", code=3)
    assert "nothing to join" in merge(parts / "whole", out=parts / "whole", code=2)


def test_the_parts_of_a_class_need_one_seed(course, parts, tmp_path):
    """A part without a seed is refused, unless it goes on with one that had it."""
    with pytest.raises(UsageError, match="same seed"):
        grade(course, parts / "in", tmp_path / "out", shard=Shard(1, 3), seed=None)
    grade(course, parts / "in", tmp_path / "out", shard=Shard(1, 3))
    grade(course, parts / "in", tmp_path / "out", shard=Shard(1, 3), seed=None, resume=True)


def test_joining_with_another_course_compares_no_hand_ins(spread, tmp_path):
    """Whether hand-ins are alike can only be said with the course that they were graded with."""
    changed = shutil.copytree(TINY, tmp_path / "course")
    checks = changed / "solutions/basics/test_moving_average.py"
    checks.write_text(checks.read_text() + "\n# changed\n")

    assert "nobody was compared" in merge(spread, out=spread, course=changed)
