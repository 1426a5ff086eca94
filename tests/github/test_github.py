"""grader bundle github: workflows that grade a class, and check what learners push, run on repositories here."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from support.command_server import run_command
from support.course_files import ROOT
from support.hand_ins import ANSWERS, SUMS, write
from support.public_checks import with_public_checks
from support.workflow import TOKEN, Runner, write_programs

from grader.github import clone
from grader.intake.formats.repositories import parse_deadline

SECONDS = 240
CLASS = "id,repository,name\nada,school/hw-ada,Ada\nalan,https://github.com/school/hw-alan.git,Alan\n"
MORE = "grace,school/hw-grace,Grace\nemmy,school/nowhere,Emmy\n"
DUE = "2026-11-20T23:59:00+01:00"
TIME, LATE = "2026-11-20T20:00:00+00:00", "2026-11-21T08:00:00+00:00"
PEEPS = """
import os
import numpy as np

def moving_average(x, window):
    raise ValueError(str([name for name in os.environ if "TOKEN" in name]) + os.environ.get("GH_TOKEN", "none"))
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """The tiny course with public checks."""
    return with_public_checks(tmp_path_factory.mktemp("github") / "course")


def bundle(course: Path, place: Path, *more: object, members: str = CLASS + MORE) -> subprocess.CompletedProcess[str]:
    """`grader bundle github` for a class list."""
    (place / "class.csv").write_text(members)
    words = ["--class", place / "class.csv", "--out", place / "out", "--course", course, *more]
    words += [] if "--due" in more else ["--due", DUE]
    return run_command("grader", "bundle", "github", *words, cwd=place, env=os.environ, timeout=SECONDS)


@pytest.fixture(scope="module")
def made(course, tmp_path_factory) -> Path:
    """Both repositories, feedback as issues."""
    place = tmp_path_factory.mktemp("made")
    done = bundle(course, place, "--title", "Feedback on homework 1", "--seed", 7)
    assert done.returncode == 0, done.stderr
    assert "Keep it to yourself" in " ".join(done.stdout.split()) and "That time is past" in done.stdout
    return place / "out"


def push_commit(repository: Path, files: dict[str, str], when: str) -> None:
    """Push a commit to a bare repository, which is made if it is not there."""
    if not repository.exists():
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(repository)], check=True)
    work = repository.with_suffix(".work")
    shutil.rmtree(work, ignore_errors=True)
    subprocess.run(["git", "clone", "-q", str(repository), str(work)], check=True, stderr=subprocess.DEVNULL)
    write(work, files)
    dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
    commit = ["-c", "user.name=L", "-c", "user.email=l@example.org", "commit", "-qm", "work"]
    for words in (["add", "-A"], commit, ["push", "-q"]):
        subprocess.run(["git", "-C", str(work), *words], check=True, env={**os.environ, **dates})


@pytest.fixture
def school(tmp_path) -> Path:
    """Three learners' repositories; Alan's better work came after the deadline, Grace reads the environment."""
    folder = tmp_path / "github"
    (folder / "school").mkdir(parents=True)
    push_commit(folder / "school/hw-ada.git", {f"basics/{name}.py": text for name, text in ANSWERS.items()}, TIME)
    push_commit(folder / "school/hw-alan.git", {"basics/moving_average.py": SUMS}, TIME)
    push_commit(folder / "school/hw-alan.git", {"basics/moving_average.py": ANSWERS["moving_average"]}, LATE)
    push_commit(folder / "school/hw-grace.git", {"basics/moving_average.py": PEEPS}, TIME)
    return folder


def start(tmp_path: Path, school: Path) -> Runner:
    """Machines that reach the school."""
    (tmp_path / "machines").mkdir()
    return Runner(tmp_path / "machines", school)


@pytest.mark.slow
def test_the_class_is_cloned_graded_and_gets_its_feedback(made, school, tmp_path):
    """Each `run:` step works in a bare folder: a report, an issue for everybody who handed in, and no token beside it.

    A second run tells only whose feedback has changed; who has no repository is named in both.
    """
    runner = start(tmp_path, school)
    steps = runner.run(made / "private", "grade.yml")
    assert [step.status for step in steps] == [0] * len(steps), steps[-1].output
    assert {step.job for step in steps if TOKEN in str(step.environment)} == {"clone", "give-back"}
    assert "::warning::emmy: school/nowhere was not cloned" in steps[0].output
    results = json.loads((tmp_path / "artifacts/results/results.json").read_text())
    scores = {one["id"]: one["lessons"]["moving_average"]["score"] for one in results["submissions"]}
    assert scores["ada"] == 10.0 > scores["alan"] and [one["id"] for one in results["missing"]] == ["emmy"]
    assert results["seed"] == 7 and "<h1" in (tmp_path / "artifacts/results/report.html").read_text()
    assert TOKEN not in "".join(path.read_text() for path in (tmp_path / "artifacts/results").glob("feedback/*.json"))

    (issue,) = json.loads((school / "school/hw-alan.json").read_text())
    assert issue["title"] == "Feedback on homework 1" and issue["body"].startswith("# Feedback for Alan")
    assert "Feedback written for 3, not for 1" in steps[-1].output
    later = json.loads((made / "private/assignment.toml").read_text().partition("before = ")[2].splitlines()[0])
    assert later == "2026-11-20T22:59:00+00:00"

    again = shutil.copytree(made / "private", tmp_path / "private")
    text = (again / "assignment.toml").read_text()
    (again / "assignment.toml").write_text(text.replace(later, "2026-11-22T00:00:00+00:00"))
    assert all(step.status == 0 for step in runner.run(again, "grade.yml"))
    comments = {name: json.loads((school / f"school/hw-{name}.json").read_text())[0]["comments"] for name in scores}
    assert [len(comments[name]) for name in ("ada", "alan", "grace")] == [0, 1, 0]
    assert "10.0 of 10" in comments["alan"][0]["body"]


@pytest.mark.soak
def test_feedback_as_a_file_is_committed_once(course, school, tmp_path):
    """With --feedback file the page stands in each repository; a second run with the same result commits nothing."""
    done = bundle(course, tmp_path, "--feedback", "file", "--title", "Homework 1", "--lessons", "moving_average")
    assert done.returncode == 0, done.stderr
    runner = start(tmp_path, school)

    def log() -> list[str]:
        words = ["git", f"--git-dir={school}/school/hw-ada.git", "log", "--format=%s"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()

    for _ in range(2):
        assert all(step.status == 0 for step in runner.run(tmp_path / "out/private", "grade.yml"))
        assert log() == ["Homework 1", "work"]
    page = subprocess.run(
        ["git", f"--git-dir={school}/school/hw-ada.git", "show", "HEAD:feedback/Homework-1.md"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert page.startswith("# Feedback for Ada") and "Moving average" in page


@pytest.mark.parametrize("stands_there", ["a folder", "another repository"])
def test_what_stands_in_the_page_s_place_keeps_nobody_else_from_their_feedback(tmp_path, stands_there):
    """A learner chooses what is in a repository: who has a folder in the page's place is named; the rest goes on."""
    school, results = tmp_path / "github", tmp_path / "results"
    (school / "school").mkdir(parents=True)
    for name in ("ada", "eve"):
        push_commit(school / f"school/hw-{name}.git", {"a.py": ""}, TIME)
        write(results, {f"feedback/{name}.md": "# Well done"})
    eve = school / "school/hw-eve.git"
    push_commit(eve, {"feedback/Homework-1.md/in-it": ""}, LATE)
    if stands_there == "another repository":
        git = ["git", "-C", str(eve.with_suffix(".work")), "-c", "user.name=L", "-c", "user.email=l@example.org"]
        head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
        for words in (
            ["rm", "-rq", "feedback"], ["commit", "-qm", "work"],
            ["update-index", "--add", "--cacheinfo", f"160000,{head},feedback/Homework-1.md"],
            ["commit", "-qm", "work"], ["push", "-q"],
        ):  # fmt: skip
            subprocess.run([*git, *words], check=True)
    write(results, {"results.json": json.dumps({"submissions": [{"id": i, "feedback": i} for i in ("eve", "ada")]})})
    write(tmp_path, {"class.csv": "id,repository\neve,school/hw-eve\nada,school/hw-ada\n"})
    write_programs(tmp_path / "bin", installs=False)
    told = subprocess.run(
        [tmp_path / "bin/python", "-m", "grader.github.give_back", "class.csv", "results", "file", "Homework 1"],
        cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS,
        env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "PYTHONPATH": str(ROOT), "GH_TOKEN": TOKEN,
             "FAKE_GITHUB": str(school)},
    )  # fmt: skip

    assert told.returncode == 0 and "Feedback written for 1, not for 1." in told.stdout, told.stdout + told.stderr
    assert "::warning::eve: the feedback was not written into school/hw-eve" in told.stdout
    page = ["git", f"--git-dir={school}/school/hw-ada.git", "show", "HEAD:feedback/Homework-1.md"]
    assert subprocess.run(page, capture_output=True, text=True, check=True).stdout == "# Well done"


def test_a_repository_without_end_keeps_nobody_else_from_being_cloned(tmp_path, monkeypatch):
    """Folders in folders, 2 to the power of 60: its owner is named, and the class goes on."""
    for name in ("ada", "eve"):
        push_commit(tmp_path / f"github/{name}.git", {"a.py": ""}, TIME)
    eve = tmp_path / "github/eve.git"

    def make(*words: str, given: str = "") -> str:
        git = ["git", f"--git-dir={eve}", "-c", "user.name=L", "-c", "user.email=l@example.org", *words]
        return subprocess.run(git, input=given, capture_output=True, text=True, check=True).stdout.strip()

    tree = make("mktree")
    for _ in range(60):
        tree = make("mktree", given=f"040000 tree {tree}\ta\n040000 tree {tree}\tb\n")
    make("update-ref", "HEAD", make("commit-tree", tree, "-m", "x"))
    (tmp_path / "class.csv").write_text("id,repository\neve,school/eve\nada,school/ada\n")
    monkeypatch.setattr(clone, "SECONDS", 1.0)
    monkeypatch.setattr(clone, "gh", lambda *words: shutil.copytree(tmp_path / f"github/{words[2][7:]}.git", words[3]))

    left_out = clone.clone_class(tmp_path / "class.csv", tmp_path / "clones")

    assert left_out == ["eve: school/eve was not cloned: its history could not be read in 1 s"]
    assert [line.partition(",")[0] for line in (tmp_path / "clones/class.csv").read_text().splitlines()] == [
        "id",
        "ada",
    ]


def test_the_token_is_where_no_code_of_learners_runs(made):
    """Only the first and the last job name a secret; every job may read its own repository and nothing else."""
    text = (made / "private/.github/workflows/grade.yml").read_text()
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {} and "%%" not in text
    for job in workflow["jobs"].values():
        assert job["permissions"] == {"contents": "read"} and 0 < job["timeout-minutes"] <= 360
    assert [name for name, job in workflow["jobs"].items() if "secrets." in json.dumps(job)] == ["clone", "give-back"]
    assert "run assignment.toml" in json.dumps(workflow["jobs"]["grade"])
    triggers = workflow[True]  # YAML 1.1 reads `on` so
    assert triggers["schedule"] == [{"cron": "59 22 20 11 *"}] and "workflow_dispatch" in triggers
    check = yaml.safe_load((made / "template/.github/workflows/check.yml").read_text())
    assert check["permissions"] == {"contents": "read"} and "secrets" not in json.dumps(check)
    assert check[True]["push"] == {"paths-ignore": ["feedback/**"]}


def test_a_schedule_runs_in_its_own_year(made, school, tmp_path):
    """The deadline comes back each year as a time of cron; then the first step fails, and says what to delete."""
    other = shutil.copytree(made / "private", tmp_path / "other")
    path = other / ".github/workflows/grade.yml"
    path.write_text(re.sub(r"= 2026\b", "= 1999", path.read_text()))
    (step,) = start(tmp_path, school).run(other, "grade.yml", event="schedule")
    assert step.status == 1 and "delete the schedule" in step.output


def test_a_deadline_that_is_a_day_lasts_until_its_end(course, tmp_path):
    """The last commit of the day counts, in each spelling of it, and the schedule starts when it is over."""
    assert bundle(course, tmp_path, "--due", "2026-W47-5").returncode == 0
    before = tomllib.loads((tmp_path / "out/private/assignment.toml").read_text())["before"]
    (trigger,) = yaml.safe_load((tmp_path / "out/private/.github/workflows/grade.yml").read_text())[True]["schedule"]
    midnight = datetime(2026, 11, 21).astimezone(UTC)

    assert parse_deadline(before) == parse_deadline("2026-11-20") == midnight.timestamp() - 1
    assert trigger["cron"] == f"{midnight.minute} {midnight.hour} {midnight.day} {midnight.month} *"


@pytest.mark.slow
def test_a_push_is_checked_with_the_public_checks(made, school, tmp_path):
    """In the template stubs fail and answers pass, with the program that is in it; nothing hidden is there."""
    template = shutil.copytree(made / "template", tmp_path / "template")
    runner = start(tmp_path, school)
    *_, stub = runner.run(template, "check.yml")
    assert stub.name == "Check" and stub.status == 1 and "moving_average" in stub.output
    write(template, {f"basics/{name}.py": text for name, text in ANSWERS.items()})
    *_, right = runner.run(template, "check.yml")
    assert right.status == 0 and "public checks" in right.output
    assert not list(template.rglob("*mistakes*")) and not list(template.rglob("solutions"))


def test_without_a_token_the_first_step_says_what_to_do(made, school, tmp_path):
    """Where nothing can be cloned the workflow ends, with GitHub's reason and the next step; no later job runs."""
    runner = start(tmp_path, school)
    shutil.rmtree(school / "school")
    steps = runner.run(made / "private", "grade.yml")
    assert [step.status for step in steps] == [2]
    assert "::error::ada: school/hw-ada was not cloned" in steps[0].output and "CLASS_TOKEN" in steps[0].output


@pytest.mark.parametrize(
    ("options", "members", "says", "then"),
    [
        ((), "id,repo\nada,school/a\n", "no columns id and repository", "id,repository"),
        ((), "id,repository\n", "names nobody", "id,repository"),
        ((), "id,repository\n../x,school/a\n", "../x is no id", "letters, digits"),
        ((), "id,repository\nada,school\n", "school is no repository on GitHub", "our-school/"),
        ((), "id,repository\nada,school/..\n", "school/.. is no repository on GitHub", "our-school/"),
        ((), "id,repository\nada,s/a\nbob,S/A\n", "s/a stands there twice", "leave one"),
        (("--due", "Friday"), CLASS, "--due Friday is no time", "--due 2026"),
        (("--title", "$(id)"), CLASS, "--title may have", "--title 'Homework 1'"),
        (("--lessons", "nothing"), CLASS, "nothing", "learn list"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_with_the_next_step(course, tmp_path, options, members, says, then):
    """A bad list, time, title or lesson ends with status 2, and leaves nothing."""
    done = bundle(course, tmp_path, *options, members=members)
    told = " ".join(done.stderr.split())
    assert done.returncode == 2 and says in told and then in told, told
    assert [path.name for path in tmp_path.iterdir()] == ["class.csv"]


def test_what_is_there_is_kept(course, tmp_path):
    """A folder that holds something, and a class list that is not there, are wrong usage."""
    write(tmp_path, {"out/mine": "mine"})
    done = bundle(course, tmp_path)
    assert done.returncode == 2 and "name a new folder" in done.stderr
    words = ["bundle", "github", "--class", "no.csv", "--due", DUE, "--out", "x", "--course", course]
    missing = run_command("grader", *words, cwd=tmp_path, env=os.environ, timeout=SECONDS)
    assert missing.returncode == 2 and "cannot be read: No such file" in missing.stderr
