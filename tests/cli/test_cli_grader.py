"""The `grader` command, as it is typed."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.command_server import run_command
from support.hand_ins import ANSWERS, SUMS, TINY, make_notebook, make_zip, write

from grader.cli.grader.group import COMMANDS, grader
from grader.cli.grader.progress import ProgressLines, duration
from grader.record import Record

SECONDS = 120


@pytest.fixture
def class_folder(tmp_path):
    """Three learners: one right, one with a mistake, one with half of it."""
    return write(tmp_path / "in", {
        **{f"ann/basics/{name}.py": text for name, text in ANSWERS.items()},
        "bob/moving_average.py": SUMS, "bob/argmax_2d.py": ANSWERS["argmax_2d"],
        "cy.py": ANSWERS["argmax_2d"],
        "essay.docx": "",
    })  # fmt: skip


def typed(*arguments: object) -> list[str]:
    """The command line; a run gets one grading process, unless it asks for more."""
    course = [] if "--course" in arguments else ["--course", str(TINY)]
    jobs = ["--jobs", "1"] if arguments[0] == "run" and "--jobs" not in arguments else []
    return [sys.executable, "-m", "grader.cli.grader.group", *map(str, arguments), *course, *jobs]


def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """What the command did."""
    environment = {**os.environ, "COLUMNS": "80", "SELFATTEND_COURSE": str(TINY), **environment}
    return run_command("grader", *typed(*arguments)[3:], cwd=Path.cwd(), env=environment)


def refused(*arguments: object) -> str:
    """What a command says that was asked for what cannot be; no worker is started for it."""
    done = CliRunner().invoke(grader, [*map(str, arguments)])
    assert done.exit_code == 2, done.output
    return done.output


def test_a_class_is_graded(class_folder, tmp_path):
    """The gradebook, the results and each learner's feedback are there, and the end is said in a few lines."""
    out = tmp_path / "out"
    done = run("run", class_folder, "--out", out, "--seed", 5)

    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((out / "gradebook.csv").read_text().splitlines()))
    assert [(row["id"], row["score"], row["complete"], row["missing"]) for row in rows] == [
        ("ann", "10.0", "yes", "0"), ("bob", rows[1]["score"], "yes", "0"), ("cy", "", "no", "1")]  # fmt: skip
    assert 1.0 < float(rows[1]["score"]) < 10.0
    assert (rows[2]["moving_average"], rows[2]["moving_average state"]) == ("", "missing")
    whole = json.loads((out / "results.json").read_text())
    assert (whole["schema"], whole["seed"], whole["complete"], whole["ignored"]) == (1, 5, True, ["essay.docx"])
    feedback = json.loads((out / "feedback" / "bob.json").read_text())
    assert feedback["lessons"]["moving_average"]["mistakes"][0]["id"] == "ma-sum"
    assert "3 submissions (seed 5): 2 scored, 1 partial; mean score" in done.stdout
    assert "3 submissions: 2 scored, 1 partial. Mean score" in (out / "report.html").read_text()
    assert [row["status"] for row in rows] == ["scored", "scored", "partial"]
    assert "essay.docx" in done.stderr
    assert re.findall(r"^\[\d/3\] \S+/(?:s|min)", done.stderr, re.MULTILINE), done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_some_lessons_of_some_learners(class_folder, tmp_path):
    """--lessons, --only and --limit choose; --json prints one object and nothing else."""
    done = run("run", class_folder, "--out", tmp_path / "out", "--lessons", "argmax", "--only", "cy", "--only", "ann",
               "--limit", 1, "--json")  # fmt: skip

    summary = json.loads(done.stdout)
    assert (summary["submissions"], summary["mean"], summary["states"]) == (1, 10.0, {"graded": 1})
    columns = (tmp_path / "out/gradebook.csv").read_text().splitlines()[0]
    known = "id,name,attempt,late,status,score,points,possible,complete,missing"
    assert columns == f"{known},argmax_2d,argmax_2d state,by hand,problem"


def test_stopping_keeps_what_is_done(tmp_path):
    """Ctrl-C ends every process, keeps the results so far, and says how to go on; --resume does the rest."""
    folder = write(tmp_path / "in", {f"a{n}/{name}.py": text for n in range(40) for name, text in ANSWERS.items()})
    out = tmp_path / "out"
    process = subprocess.Popen(typed("run", folder, "--out", out, "--jobs", 1), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)  # fmt: skip
    try:
        while len(list((out / "feedback").glob("*.json"))) < 3:
            assert process.poll() is None, "it ended before it had graded anybody"
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
        process.wait()

    assert process.returncode == 130
    assert "--resume" in said and "kept in" in said and "Traceback" not in said
    first = json.loads((out / "results.json").read_text())
    assert 2 <= len(first["submissions"]) < 40 and first["complete"] is False
    assert not left_behind(str(tmp_path))
    done = run("run", folder, "--out", out, "--resume")
    second = json.loads((out / "results.json").read_text())
    assert f"{len(first['submissions'])} submissions graded before" in done.stderr
    assert len(second["submissions"]) == 40 and second["seed"] == first["seed"]


def test_grading_again_keeps_the_old_scores_and_shows_what_changed(class_folder, tmp_path):
    """After a check was mended, --regrade says whose score is another one now; both are in the results."""
    course = shutil.copytree(TINY, tmp_path / "course")
    out = tmp_path / "out"
    words = ["run", class_folder, "--out", out, "--course", course]
    assert run(*words).returncode == 0
    before = records(out)
    checks = course / "solutions/basics/test_moving_average.py"
    checks.write_text(checks.read_text().replace("points=1", "points=7", 1))
    done = run(*words, "--regrade")
    after = records(out)

    assert done.returncode == 0, done.stderr
    assert "1 of 3 scores changed:" in done.stdout
    old, new = (f"{found['bob']['score']:.1f}" for found in (before, after))
    assert re.search(rf"^  bob +{old} → +{new}  moving_average", done.stdout, re.MULTILINE), done.stdout
    assert old != new and after["bob"]["previous"]["score"] == before["bob"]["score"]
    assert after["bob"]["previous"]["lessons"]["moving_average"] == before["bob"]["lessons"]["moving_average"]["score"]
    assert after["ann"]["previous"]["score"] == 10.0
    assert json.loads((out / "results.json").read_text())["seed"] == before["bob"]["lessons"]["argmax_2d"]["seed"]

    again = json.loads(run(*words, "--regrade", "--only", "ann", "--json").stdout)["again"]
    assert again == {"graded": 1, "changed": []}
    assert records(out)["bob"]["previous"] == after["bob"]["previous"]


def test_grading_one_again_leaves_the_others_their_results(class_folder, tmp_path):
    """Whose hand-in changed meanwhile stays in every file with the earlier result, which says that it is that."""
    out = tmp_path / "out"
    words = ["run", class_folder, "--out", out, "--course", TINY]
    assert run(*words).returncode == 0
    before = records(out)
    (class_folder / "bob/moving_average.py").write_text("def moving_average(x, window):\n    return x\n")
    done = run(*words, "--regrade", "--only", "ann")
    with (out / "gradebook.csv").open(newline="") as file:
        problems = {row["id"]: row["problem"] for row in csv.DictReader(file)}

    assert done.returncode == 0 and "of the earlier hand-in until --resume: bob." in done.stderr, done.stderr
    assert records(out).keys() == before.keys() and records(out)["bob"]["score"] == before["bob"]["score"]
    assert problems["bob"].startswith("Of an earlier hand-in") and not problems["ann"]
    assert "1 of 3 was not graded" in done.stdout and (out / "feedback/bob.json").is_file()

    done = run(*words, "--resume")
    assert "1 of 1 score changed:" in " ".join(done.stdout.split()) and "bob" in done.stdout
    assert records(out)["bob"]["previous"]["score"] == before["bob"]["score"]


def test_an_older_hand_in_never_replaces_a_newer_one_unasked(tmp_path):
    """A repaired file outlives the full download of the next day, of which the learner's part was graded before."""
    broken, out = "leeann_1_11_argmax_2d.py", tmp_path / "out"
    first = write(tmp_path / "day 1", {broken: "def argmax_2d(x:\n", "roybob_2_12_argmax_2d.py": ANSWERS["argmax_2d"]})
    repaired = write(tmp_path / "repaired", {"leeann_1_11_argmax_2d.py": ANSWERS["argmax_2d"]})
    words = ["--names", "canvas", "--out", out, "--course", TINY, "--lessons", "argmax_2d"]
    run("run", first, *words)
    run("run", repaired, *words, "--resume")
    assert records(out)["1"]["score"] == 10.0
    done = run("run", first, *words, "--resume")

    assert "Older than what was graded" in done.stderr and records(out)["1"]["score"] == 10.0, done.stderr
    assert "until --older" in (out / "report.html").read_text()
    assert json.loads((out / "results.json").read_text())["older"] == ["1"]
    assert "until --resume" not in done.stderr and "not graded" not in done.stdout  # and `grader export` goes on
    done = run("run", first, *words, "--resume", "--older", "--attempts", "last")
    assert records(out)["1"]["score"] < 10.0 and records(out)["1"]["previous"]["score"] == 10.0


def test_what_a_later_hand_in_lacks_is_kept_of_the_earlier(tmp_path):
    """Canvas keeps only the last attempt: one repaired file alone leaves the other lessons as they were."""
    both = {"leeann_1_11_argmax_2d.py": "argmax_2d = None\n", "leeann_1_12_moving_average.py": SUMS}
    out = tmp_path / "out"
    words = ["--names", "canvas", "--out", out, "--course", TINY]
    run("run", write(tmp_path / "day 1", both), *words)
    old = records(out)["1"]["lessons"]["moving_average"]
    late = write(tmp_path / "day 2", {"leeann_LATE_1_21_argmax_2d-1.py": ANSWERS["argmax_2d"]})
    done = run("run", late, *words, "--resume")
    new = records(out)["1"]

    assert new["complete"] and new["lessons"]["argmax_2d"]["score"] == 10.0
    assert new["lessons"]["moving_average"]["score"] == old["score"]
    assert "This is of the hand-in graded on" in new["lessons"]["moving_average"]["notes"][-1]
    assert "score changed" in " ".join(done.stdout.split())


def test_the_best_of_several_attempts_counts_if_asked_for(tmp_path):
    """Each lesson has its best score over all attempts, or that of the newest file."""
    files = {"ann@1/argmax_2d.py": ANSWERS["argmax_2d"], "ann@2/argmax_2d.py": "argmax_2d = None\n",
             "ann@1/moving_average.py": ANSWERS["moving_average"]}  # fmt: skip
    folder = write(tmp_path / "in", files)
    names = ["--names", r"(?P<id>[a-z]+)@(?P<attempt>\d+)", "--course", TINY]
    scores = {}
    for attempts in ("merge", "best", "last"):
        run("run", folder, "--out", tmp_path / attempts, "--attempts", attempts, *names)
        scores[attempts] = {
            name: lesson["score"] for name, lesson in records(tmp_path / attempts)["ann"]["lessons"].items()
        }

    assert scores["best"] == {"moving_average": 10.0, "argmax_2d": 10.0}
    assert scores["merge"]["moving_average"] == 10.0 and scores["merge"]["argmax_2d"] < 10.0
    assert scores["last"]["moving_average"] is None and scores["last"]["argmax_2d"] < 10.0


def test_grading_again_what_was_never_graded_is_said(class_folder, tmp_path):
    """Without results, and with other lessons than theirs, there is nothing to compare."""
    words = ["run", class_folder, "--out", tmp_path / "out", "--course", TINY]

    assert "no results here to grade again" in refused(*words, "--regrade")
    assert "leave out one of them" in refused(*words, "--regrade", "--resume")
    run("run", class_folder, "--out", tmp_path / "out", "--lessons", "argmax_2d")
    assert "--lessons argmax_2d" in refused(*words, "--regrade")


def test_latecomers_alone_leave_everybody_else_as_they_were(class_folder, tmp_path):
    """--resume with only those who came late adds them; whoever was graded before stays, and is not missing."""
    out, roster = tmp_path / "out", tmp_path / "roster.csv"
    roster.write_text('id,name\nann,"Lee, Ann"\nbob,"Roy, Bob"\ncy,Cy\ndee,"Dee, D."\nedd,"Edd, E."\nfay,Fay\n')
    words = ["--out", out, "--roster", roster]
    assert run("run", class_folder, *words).returncode == 0
    before = records(out)
    late = write(tmp_path / "late", {"dee.py": ANSWERS["argmax_2d"]})
    done = run("run", late, *words, "--resume")
    after = records(out)

    assert done.returncode == 0, done.stderr
    assert "3 learners graded before are not among these hand-ins: their results are kept." in done.stderr
    assert "Without a hand-in: Edd, E.; Fay." in done.stderr
    assert "4 submissions (seed" in done.stdout
    assert set(after) == {"ann", "bob", "cy", "dee"} and all(after[name] == before[name] for name in before)
    head = json.loads((out / "results.json").read_text())
    assert [one["id"] for one in head["missing"]] == ["edd", "fay"] and head["complete"] and not head["unfinished"]
    assert {row.split(",")[0] for row in (out / "gradebook.csv").read_text().splitlines()[1:]} == set(after)
    assert "Changed" not in run("run", class_folder, *words, "--resume", "--only", "ann").stderr
    assert set(records(out)) == set(after)


@pytest.mark.parametrize("option, says", [
    (["--lessons", "argmax_2d"], "--lessons moving_average,argmax_2d"), (["--seed", 8], "--seed 7"),
])  # fmt: skip
def test_going_on_with_other_lessons_or_another_seed_is_refused(class_folder, tmp_path, option, says):
    """Results of other kinds do not stand in one gradebook: both values are named, and nothing is changed."""
    out = tmp_path / "out"
    words = ["run", class_folder, "--out", out, "--course", TINY]
    run(*words, "--seed", 7, "--only", "cy")
    before = (out / "results.json").read_text()
    said = " ".join(refused(*words, *option, "--resume").split())

    assert "the results here are of" in said and says in said
    assert (out / "results.json").read_text() == before


def test_a_run_that_did_not_end_is_said(class_folder, tmp_path):
    """What lacks a result is counted by the run, by report and in the results, with how to go on."""
    out = tmp_path / "out"
    done = run("run", class_folder, "--out", out, "--limit", 1)
    said = CliRunner().invoke(grader, ["report", str(out)]).output
    as_json = json.loads(CliRunner().invoke(grader, ["report", str(out), "--json"]).stdout)

    assert all("2 of 3 were not graded: go on with --resume." in text for text in (done.stdout, said))
    head = json.loads((out / "results.json").read_text())
    assert (head["complete"], head["unfinished"], as_json["unfinished"]) == (False, 2, 2)


def test_a_refused_run_leaves_no_folder(class_folder, tmp_path):
    """Where grading cannot begin, a results folder that was not there is not there afterwards."""
    course = ["--course", TINY]
    for option in (["--engine", "nowhere"], ["--device", "cuda"]):
        for again in ([], ["--resume"]):
            done = run("run", class_folder, "--out", tmp_path / "new/out", *course, *option, *again)
            assert done.returncode and not (tmp_path / "new").exists(), done.stderr
    (tmp_path / "mine").mkdir()
    run("run", class_folder, "--out", tmp_path / "mine", *course, "--engine", "nowhere")
    assert (tmp_path / "mine").is_dir()


def test_whoever_handed_in_nothing_to_grade_is_told_why(tmp_path):
    """The gradebook and the end of the run name what was found, and of several files the one that was judged."""
    right = ANSWERS["argmax_2d"]
    folder = write(tmp_path / "in", {
        "leeann_1_11_work.rar": "x", "leeann_1_12_notes.txt": "x", "roybob_2_13_argmax_2d.py": right,
        "roybob_2_20_moving_average.txt": "x",
        "roybob_2_14_argmax_2d-1.py": f"# new\n{right}", "kimcy_3_15_argmax_2d.py": right,
        "kimcy_3_16_argmax_2d (copy).py": f"# copy\n{right}", "poedee_4_17_poem.py": "x = 1\n",
    })  # fmt: skip
    make_zip(folder / "faygus_5_18_all.zip", {"inner.zip": "x", "essay.txt": "x"})
    make_zip(folder / "zoeann_6_19_two.zip", {"a/argmax_2d.py": right, "b/argmax_2d.py": f"{right}\nargmax_2d = max\n"})
    done = run("run", folder, "--out", tmp_path / "out", "--names", "canvas")
    with (tmp_path / "out/gradebook.csv").open(newline="") as file:
        problems = {row["id"]: row["problem"] for row in csv.DictReader(file)}
    said = " ".join(done.stdout.split())

    assert "What there is: work.rar, notes.txt." in problems["1"] and "no .rar" in problems["1"]
    assert problems["2"] == "argmax_2d-1.py was judged; argmax_2d.py was not."
    unread = "Not read, and perhaps meant for a lesson that is missing: moving_average.txt."
    assert unread in (tmp_path / "out/feedback/2.md").read_text()
    assert problems["3"] == "argmax_2d.py was judged; argmax_2d (copy).py was not."
    assert "poem.py" in problems["4"]
    assert "essay.txt, inner.zip" in problems["5"] and "inner.zip: The archive is damaged" in problems["5"]
    several = "argmax_2d: several files could be meant (a/argmax_2d.py, b/argmax_2d.py), so none was taken."
    assert problems["6"] == several and several in (tmp_path / "out/feedback/6.md").read_text()
    assert f"2 roybob: {problems['2']}" in said
    assert "Left out of hand-ins" in done.stderr and "leeann_1_11_work.rar" in done.stderr


def test_what_notebooks_have_in_common_is_no_sign_of_a_copy(tmp_path):
    """Of two equal notebooks only what was written in them is named as alike, in as many lines as there are."""
    odd = "def moving_average(x, window):\n    totals = np.zeros(len(x) - window + 1)\n"
    odd += "".join(f"    for place{n} in range(len(totals)):\n        totals[place{n}] += x[place{n} + {n}]\n"
                   for n in range(8)) + "    return totals / 8\n"  # fmt: skip
    notebook = make_notebook("import numpy as np\nimport sys", "limit = len(sys.argv)", odd)
    folder = write(tmp_path / "in", {f"{name}/work.ipynb": notebook for name in ("ann", "bob")})
    write(folder, {"cy/moving_average.py": ANSWERS["moving_average"]})
    assert run("run", folder, "--out", tmp_path / "out", "--lessons", "moving_average").returncode == 0
    (pair,) = json.loads((tmp_path / "out/similar.json").read_text())["similar"]

    assert "NotebookCell" not in pair["note"] and "__enter__" not in pair["note"]
    assert "equal comment" not in pair["note"] and pair["first_lines"][0] > 200
    assert 10 < int(re.search(r"the same (\d+) lines", pair["note"])[1]) <= len(odd.splitlines()) + 1


def records(out: Path) -> dict[str, dict]:
    """The submissions of results.json by their ids."""
    return {record["id"]: record for record in json.loads((out / "results.json").read_text())["submissions"]}


def test_all_files_are_written_anew(class_folder, tmp_path):
    """`grader report` makes every file from the store, with what hidden checks asked if it is told to."""
    out = tmp_path / "out"
    run("run", class_folder, "--out", out, "--gradescope", "--junit")
    files = {
        path.relative_to(out): path.read_text()
        for path in out.rglob("*.*")
        if path.name[0] != "." and path.suffix != ".sqlite"
    }
    for path in files:
        (out / path).write_text("spoiled")
    done = CliRunner().invoke(grader, ["report", str(out)])

    assert done.exit_code == 0, done.output
    assert "3 submissions (seed" in done.output
    assert {path: (out / path).read_text() for path in files} == files
    assert CliRunner().invoke(grader, ["report", str(out), "--reveal"]).exit_code == 0
    changed = {path.parts[0] for path in files if (out / path).read_text() != files[path]}
    assert changed == {"feedback", "gradescope"}
    assert "no results of a run" in refused("report", tmp_path)


def test_a_class_as_a_platform_gives_it(tmp_path):
    """Names, a roster and attempts: who is who, who is late, and who is missing."""
    folder = write(tmp_path / "in", {
        "leeann_11_21_argmax_2d.py": ANSWERS["argmax_2d"], "leeann_11_22_moving_average.py": SUMS,
        "roybob_LATE_12_23_argmax_2d.py": ANSWERS["argmax_2d"],
    })  # fmt: skip
    roster = tmp_path / "roster.csv"
    roster.write_text('Student,ID\n"Lee, Ann",11\n"Roy, Bob",12\n"Moe, Cy",13\n')
    done = run("run", folder, "--out", tmp_path / "out", "--names", "canvas", "--roster", roster)
    found = records(tmp_path / "out")

    assert done.returncode == 0, done.stderr
    assert [(one["learner"], one["late"]) for one in found.values()] == [("11", False), ("12", True)]
    assert "Ann" in found["11"]["name"] and found["11"]["complete"]
    head = json.loads((tmp_path / "out/results.json").read_text())
    assert [one["id"] for one in head["missing"]] == ["13"]
    assert "Without a hand-in" in done.stderr and "Cy" in done.stderr


def test_a_terminal_is_shown_a_bar(class_folder, tmp_path):
    """Where somebody looks, there is a bar with the rate, and no line for each submission."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    process = subprocess.Popen(typed("run", class_folder, "--out", tmp_path / "out"), stdin=theirs, stdout=theirs,
                               stderr=theirs, env=environment)  # fmt: skip
    os.close(theirs)
    shown = b""
    try:
        while piece := read_from(ours):
            shown += piece
        assert process.wait(SECONDS) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())

    assert "0/3" in text and re.search(r"3/3 \d+(\.\d)?/(s|min)", text), text
    assert "[1/3]" not in text
    assert "3 submissions (seed" in text


def read_from(terminal: int) -> bytes:
    """What appears next; nothing once the other end is closed."""
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        return b""


@pytest.mark.parametrize(
    "total, seconds, lines", [(3, 0.5, 1), (3, 10, 3), (40, 10, 20), (2000, 0.5, 20), (2001, 9, 20)]
)
def test_a_log_is_not_flooded(capsys, clock, total, seconds, lines):
    """Without a terminal a class of any size has at most twenty lines, and never one right after the other."""
    with ProgressLines(total) as progress:
        for number in range(total):
            clock.append(clock[-1] + seconds)
            trouble = "unreadable" if number < 2 else ""
            progress.add(Record(str(number), problem=trouble))
        said = capsys.readouterr().err.splitlines()
        assert len(said) == lines and said[-1].startswith(f"[{total}/{total}]")
        assert "2 to look at" in said[-1] and "left" not in said[-1]


@pytest.fixture
def clock(monkeypatch):
    """The times of a clock that stands still; what is put into it is the time from then on."""
    times = [100.0]
    monkeypatch.setattr("grader.cli.grader.progress.time.monotonic", lambda: times[-1])
    return times


def test_no_time_is_promised_while_a_submission_hangs(clock):
    """The time that is left gets less by the clock; when it is over and nothing has come, that is said instead."""
    with ProgressLines(11) as progress:
        assert progress.time_left(100.0) == ""
        clock.append(120.0)
        for _ in range(10):
            progress.add(Record("a"))
    waits = [progress.time_left(now) for now in (120.0, 121.0, 135.0)]
    assert waits == ["2 s left", "1 s left", "1 to go, nothing new for 15 s"]


@pytest.mark.parametrize(
    "seconds, text", [(0.2, "0 s"), (89, "89 s"), (100, "2 min"), (5399, "90 min"), (7200, "2.0 h")]
)
def test_a_wait_is_said_in_one_unit(seconds, text):
    """Seconds, minutes or hours."""
    assert duration(seconds) == text


def left_behind(mark: str) -> list[str]:
    """The command lines of processes that have to do with a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if mark in line and "grader" in line:
            found.append(line)
    return found


@pytest.mark.parametrize("arguments, says", [
    (["nowhere"], "no such folder"),
    (["empty"], "no submissions"),
    (["in", "--lessons", "sofmax"], "no lesson"),
    (["in", "--lessons", ","], "names no lesson"),
    (["in", "--only", "anne"], "did you mean ann?"),
    (["in", "--names", "cnavas"], "did you mean canvas?"),
    (["in", "--jobs", "0"], "--jobs"),
    (["in", "--device", "tpu"], "--device"),
    (["in", "--course", "empty"], "course.toml"),
])  # fmt: skip
def test_what_cannot_be_graded_is_said(class_folder, tmp_path, monkeypatch, arguments, says):
    """Wrong usage is a sentence with the next step, exit status 2, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    course = [] if "--course" in arguments else ["--course", TINY]

    assert says in refused("run", *arguments, "--out", tmp_path / "out", *course)
    assert not (tmp_path / "out").exists() or "only" in arguments[1]


def test_a_place_where_nothing_can_be_written_is_said(class_folder, tmp_path):
    """Where the results cannot go is wrong usage, before anybody is graded."""
    (tmp_path / "file").write_text("")

    assert "--out" in refused("run", class_folder, "--out", tmp_path / "file", "--course", TINY)


@pytest.mark.parametrize("words", [
    ["report", "LONG"], ["open", "LONG"], ["export", "nowhere", "--canvas", "g.csv", "--out", "LONG"],
    ["run", "LONG", "--out", "out"], ["merge", "LONG", "--out", "out"],
])  # fmt: skip
def test_a_name_that_no_disk_takes_is_said(tmp_path, monkeypatch, words):
    """It is wrong usage, as a name of nothing is, with the next step; it ended in a log of ours."""
    monkeypatch.chdir(tmp_path)

    assert "Next:" in refused(*(word.replace("LONG", "a" * 300) for word in words))


def test_broken_checks_end_the_run_and_blame_nobody(class_folder, tmp_path):
    """If the course's own checks cannot be used, that is the instructor's to mend: no learner gets a result."""
    course = shutil.copytree(TINY, tmp_path / "course")
    (course / "solutions/basics/test_argmax_2d.py").write_text("import nothing_of_that_name\n")
    done = run("run", class_folder, "--out", tmp_path / "out", "--course", course)

    assert done.returncode == 2
    assert "nothing_of_that_name" in done.stderr and "Traceback" not in done.stderr
    assert not list((tmp_path / "out").glob("[!.]*"))


def test_a_check_that_fails_by_itself_costs_nobody_points(class_folder, tmp_path):
    """A check with an error in it is the grader's: exit status 3, and the other checks make the score."""
    course = shutil.copytree(TINY, tmp_path / "course")
    checks = course / "solutions/basics/test_argmax_2d.py"
    checks.write_text(checks.read_text().replace("grid = rand(3, 5)\n", "grid = rand(3, 5) @ rand(9, 9)\n", 1))
    done = run("run", class_folder, "--out", tmp_path / "out", "--course", course, "--only", "ann")

    assert done.returncode == 3
    (ann,) = json.loads((tmp_path / "out/results.json").read_text())["submissions"]
    assert ann["states"] == {"graded": 1, "grader-error": 1}
    assert ann["lessons"]["argmax_2d"]["score"] == 10.0 and ann["score"] == 10.0 and not ann["complete"]
    assert ann["lessons"]["argmax_2d"]["checks"][1]["outcome"] == "grader-error"


def test_the_audit_prints_a_table(tmp_path):
    """A line a lesson, then what is wrong; exit status 1 if anything is."""
    course = shutil.copytree(TINY, tmp_path / "course")
    (course / "solutions/basics/argmax_2d_mistakes.py").write_text("MISTAKE_SETS = []\n")
    done = run("audit", "--course", course)

    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[1].split() == ["✓", "moving_average", "10", "8/8", "8/8", "3/3"]
    assert lines[2].split() == ["✗", "argmax_2d", "12", "0/0", "0/0", "0/0"]
    assert "In argmax_2d:" in lines and "no family of known mistakes" in " ".join(done.stdout.split())


def test_a_new_lesson_is_begun(tmp_path):
    """`grader new` writes the files, puts the lesson into the syllabus and says what to do next."""
    course = shutil.copytree(TINY, tmp_path / "course")
    done = CliRunner().invoke(grader, ["new", "running_max", "--course", str(course)])

    assert done.exit_code == 0, done.output
    assert "grader audit --lessons running_max" in done.output
    assert '"argmax_2d", "running_max"]' in (course / "course.toml").read_text()
    assert "there is a lesson" in refused("new", "running_max", "--course", course)
    assert "there is no track" in refused("new", "other", "--track", "nope", "--course", course)


def test_every_option_of_a_run_is_in_its_group():
    """The many options of `grader run` are shown in groups; none is forgotten."""
    text = CliRunner().invoke(grader, ["run", "--help"]).output
    groups = re.split(r"^(\w[\w ]+):$", text, flags=re.MULTILINE)[1:]
    bodies = dict(zip(groups[::2], groups[1::2], strict=True))
    options = {title: re.findall(r"^  (?:-\w, )?--(\w+)", body, re.MULTILINE) for title, body in bodies.items()}

    assert options == {
        "What is handed in": ["names", "roster", "attempts", "before"],
        "What is graded": ["course", "lessons", "only", "limit", "shard", "seed"],
        "Results that are there already": ["resume", "regrade", "older"],
        "Where it is graded": ["jobs", "engine", "device", "isolation", "as"],
        "What is written": ["out", "pictures", "reveal", "no", "gradescope", "junit", "json"],
        "Other options": ["help"],
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name):
    """--help of each command says what it does and shows it."""
    done = CliRunner().invoke(grader, [name, "--help"])

    assert done.exit_code == 0, done.output
    assert "Example" in done.output


def test_the_grading_command_itself_needs_no_torch(tmp_path):
    """Only the grading processes import torch: the command that sends them work stays small."""
    script = "import sys, grader.cli.grader.run, grader.batch.run\n"
    script += "print('torch' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=SECONDS)

    assert done.stdout.split() == ["False", "False"], done.stderr
