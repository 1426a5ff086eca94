"""The README and the commands' own help say what is true: every block of it is run."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from support.course_files import ROOT
from support.documents import BLOCK, first_missing, sessions, shell

from grader.course import load
from grader.model import OUTCOMES, STATES

README = (ROOT / "README.md").read_text()
LEARNERS = (ROOT / "docs/learners.md").read_text()
JSON_PAGE = (ROOT / "docs/json.md").read_text()
COMMANDS = {
    "learn": [
        *("start", "list", "read", "check", "watch", "web", "trace", "show", "build", "hint", "solution", "reset"),
        *("quiz", "review", "report", "progress", "demo", "doctor"),
    ],
    "grader": [
        *("run", "merge", "report", "open", "export", "override", "return"),
        *("release", "bundle", "items", "audit", "new", "show", "doctor"),
    ],
}


def blocks(*kinds: str, text: str = README) -> list[tuple[str, str]]:
    """Fenced blocks of some kinds, of the README unless told otherwise, in order, as (kind, text)."""
    return [(kind, block) for kind, block in BLOCK.findall(text) if kind in kinds]


def test_the_first_five_minutes_are_true(tmp_path):
    """Following the README leads to a solved softmax, and every line it shows is printed; the first `learn check`, and
    each other command of a learner, starts from nothing."""
    folder, seen = tmp_path, set()
    submissions = tmp_path / "my-transformer" / "submissions"
    for kind, text in blocks("console", "python"):
        if kind == "python":
            target = re.match(r"# (\S+\.py)\n", text)
            assert target, "a Python block of the README says which file it is"
            (folder / target[1]).write_text(text)
            continue
        if "grader run" in text and not submissions.exists():
            shutil.copytree(tmp_path / "my-transformer" / "core", submissions / "ada")
        for command, shown in sessions(text):
            if command.startswith("cd "):
                folder = folder / command[3:]
                continue
            is_first = command.startswith("learn ") and command.split()[1] not in seen
            seen |= {*command.split()[1:2]}
            done = shell(command, folder, from_nothing=is_first)
            assert done.returncode in (0, 1), f"{command}\n{done.stdout}{done.stderr}"
            missing = first_missing(shown, done.stdout)
            assert not missing, f"{command} does not print\n{missing}\nbut\n{done.stdout}"


def test_the_page_for_learners_is_true(tmp_path):
    """Each command that docs/learners.md shows prints what it shows."""
    shell("learn start .", tmp_path)
    for _, text in blocks("console", text=LEARNERS):
        for command, shown in sessions(text):
            done = shell(command, tmp_path)
            assert done.returncode == 0 and not first_missing(shown, done.stdout), f"{command}\n{done.stdout}"


def test_the_learner_comes_first_and_in_eighty_lines():
    """Whoever learns reads 80 lines of the README, of which each is of use to them."""
    assert README[: README.index("## For instructors")].count("\n") <= 80


def test_the_two_commands_come_first():
    """The README opens with one command that installs and shows, and one that installs and tests."""
    first, second = (text for _, text in blocks("sh")[:2])

    assert first.rstrip().endswith("learn demo") and "pip install" in first
    assert second.rstrip().endswith("pytest -n auto") and "pip install" in second
    assert README.index(first) < 2000


def test_the_json_shown_has_the_keys_that_are_printed(tmp_path):
    """The object in docs/json.md has exactly the keys of a real one, at every level."""
    (shown,) = [json.loads(text) for kind, text in BLOCK.findall(JSON_PAGE) if kind == "json"]
    done = shell(f"learn check attention --json --seed 1 --file {ROOT}/lessons/core/attention_demo.py", tmp_path)
    printed = json.loads(done.stdout)

    assert done.returncode == 1
    assert shown.keys() == printed.keys()
    for key in ("checks", "mistakes", "suggestions", "counterexamples"):
        assert shown[key][0].keys() == printed[key][0].keys()


def test_every_outcome_and_state_is_listed():
    """The words that a result can hold are all listed, in the order of the model."""
    text = " ".join(JSON_PAGE.split())

    assert ", ".join(OUTCOMES) in text
    assert ", ".join(STATES) in text


@pytest.mark.parametrize("program", COMMANDS)
def test_every_command_has_help_with_an_example_and_is_in_the_documents(program, tmp_path):
    """`--help` of each command shows an example; the README, or the page for learners, names each command."""
    listed = shell(f"{program} --help", tmp_path).stdout
    found = re.findall(r"^  (\w+)  ", listed.partition("Commands:")[2], re.MULTILINE)

    assert found == COMMANDS[program]
    for name in COMMANDS[program]:
        text = shell(f"{program} {name} --help", tmp_path).stdout
        assert re.search(rf"Example:\n(    .*\n)*?    (learn|grader) {name}", text), name
        assert f"{program} {name}" in README + LEARNERS


def test_every_lesson_is_on_its_page_and_every_page_is_there():
    """docs/lessons.md has a line for each lesson; what the README links to is there."""
    lessons = (ROOT / "docs/lessons.md").read_text()
    for name in load(ROOT).lessons:
        assert f"| `{name}` |" in lessons
    for target in re.findall(r"\]\(([\w/.-]+)\)", README):
        assert (ROOT / target).is_file(), target


def test_the_picture_shows_what_the_demo_prints(tmp_path):
    """Every line of the picture of `learn demo` is still printed by it."""
    drawn = (ROOT / "docs" / "demo.svg").read_text()
    printed = shell("COLUMNS=84 learn demo", tmp_path).stdout
    for line in printed.partition(" / 10 ")[2].splitlines():
        for word in re.findall(r"[a-z]{4,}", line):
            assert word in drawn, f"run scripts/draw_demo.py: {line}"


@pytest.mark.parametrize("name", sorted(path.name for path in ROOT.glob("*.md")))
def test_links_lead_somewhere(name):
    """Relative links in the documents point to files that are there."""
    for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / name).read_text()):
        assert (ROOT / target).exists(), target


def test_every_promise_names_tests_that_exist():
    """SECURITY.md promises nothing without a test behind it."""
    promises = (ROOT / "SECURITY.md").read_text().partition("## What is promised")[2].partition("\n## ")[0]
    for promise in promises.split("\n- ")[1:]:
        named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", promise)
        assert named, promise
        for path, name in named:
            assert f"def {name or 'test_'}" in (ROOT / path).read_text(), (path, name)


def test_no_command_speaks_to_the_internet():
    """No module of the engine knows a socket of the internet or a client of HTTP, but those that try the isolation."""
    for path in (ROOT / "grader").rglob("*.py"):
        if path.parent.name not in ("isolation_selftest", "isolation"):
            assert not re.search(r"AF_INET|create_connection|urlopen|http\.client|import requests", path.read_text()), (
                path
            )


def test_the_documents_speak_of_the_product_alone():
    """No machine's paths and no words of how the work was done."""
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("lessons/**/*.md")]:
        assert not re.search(r"/work/|/root/|/tmp/|TODO|FIXME|issue #\d", path.read_text()), path
