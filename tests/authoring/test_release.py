"""`grader release`: learners can use what is released, and no hidden text is in it."""

from __future__ import annotations

import ast
import base64
import functools
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.command_server import run_command
from support.learn_command import ROOT, TINY, environment, learn
from support.public_checks import with_public_checks
from support.repeat import FEW_LESSONS, SHARE, SHARES

from grader.authoring.release.record_answers import make_release, seeds_of
from grader.course import load
from grader.course.learner_copy import public_answers, public_names, release_of
from grader.errors import CourseError, UsageError
from grader.judge.course_answers import load_mistake_sets
from grader.judge.course_files import load_file
from grader.judge.examination import Judge, with_judge
from grader.judge.session import with_workers
from grader.quiz.bank.bank import Bank
from grader.quiz.bank.lint import require_questions

SECONDS = 120
COURSE = load(ROOT)
LESSONS = list(COURSE.lessons)


def with_what_they_need(lessons: list[str]) -> list[str]:
    """Lessons with those that they need, in the order of the course."""
    needed = set(lessons)
    for lesson in reversed(LESSONS):
        needed |= set(COURSE.lessons[lesson].needs) if lesson in needed else set()
    return [lesson for lesson in LESSONS if lesson in needed]


# all of them, or for a share of the long tests an eighth: to release all takes a minute or two
RELEASED = with_what_they_need(LESSONS[SHARE % 8 :: 8 if SHARES > 1 else 1])


def grader(*arguments: object, course: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """What the instructor's command did."""
    return run_command("grader", *arguments, "--course", course, cwd=ROOT, env=environment(course), timeout=600)


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    """Release some lessons, once: the folder, its wheel, and the object that the command printed."""

    @functools.cache
    def make(*lessons: str) -> tuple[Path, Path, Any]:
        folder = tmp_path_factory.mktemp("made")
        done = grader("release", "--out", folder / "release", "--wheel", "--json", "--lessons", ",".join(lessons))
        assert done.returncode == 0, done.stderr
        return folder / "release", next(folder.glob("*.whl")), json.loads(done.stdout)

    return make


@pytest.fixture(
    scope="module", params=[FEW_LESSONS, pytest.param(RELEASED, marks=pytest.mark.soak)], ids=["few", "all"]
)
def made(make, request):
    """A release of a few lessons; in the long tests also of the whole course, or of an eighth in a share of them."""
    return make(*request.param)


@pytest.fixture(scope="module")
def released(make):
    return make(*FEW_LESSONS)[0]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The release of the tiny course, whose workers start fast: for what is the same in every course."""
    folder = tmp_path_factory.mktemp("small")
    return release(load(with_public_checks(folder / "course")), folder / "release")


@pytest.fixture
def workspace(released, tmp_path):
    """A workspace that was started with the release, by --course once."""
    assert learn("start", "--course", str(released), "work", cwd=tmp_path, course=None).returncode == 0
    return tmp_path / "work"


def solve(workspace: Path, *lessons: str) -> None:
    """Put the references into a workspace."""
    for lesson in lessons:
        shutil.copy(COURSE.lessons[lesson].solution_path, workspace / COURSE.lessons[lesson].track / f"{lesson}.py")


# --- what it holds ----------------------------------------------------------------------------------------------------


def test_a_release_has_its_lessons_and_says_what_is_public(made, request):
    """Some public checks a lesson, fewer than there are; lessons and exercises are there byte for byte."""
    folder, wheel, told = made

    assert {lesson["lesson"] for lesson in told["lessons"]} == set(load(folder).lessons)
    assert len(told["lessons"]) == len(RELEASED if "all" in request.node.name else FEW_LESSONS)
    for lesson in told["lessons"]:
        most = max(7, 3 * len(COURSE.lessons[lesson["lesson"]].functions))
        assert 2 <= lesson["public"] <= most and lesson["public"] < lesson["checks"], lesson["lesson"]
    assert all(lesson["names"] >= 3 for lesson in told["lessons"])
    assert max(lesson["names_bytes"] for lesson in told["lessons"]) < 500_000
    assert max(lesson["answers_bytes"] for lesson in told["lessons"]) < 500_000
    assert {path.name for path in folder.iterdir()} == {"README.md", "course.toml", "lessons", "exercises", "public"}
    for lesson in load(folder).lessons.values():
        for path in (lesson.text_path, lesson.exercise_path):
            assert path.read_bytes() == (ROOT / path.relative_to(folder)).read_bytes()
    assert told["wheel"] == str(wheel)
    assert len(told["seeds"]) == 4


@pytest.mark.soak
def test_a_release_is_the_same_each_time(released, tmp_path):
    """The same course gives the same files, byte for byte, in another process too: there the order of a set, which a
    known mistake of `char_tokenizer` is about, is another one."""
    lessons = ("softmax", "attention", "char_tokenizer")
    command = [sys.executable, "-c", "from grader.cli.grader.group import main; main()"]
    command += ["release", "--out", str(tmp_path / "again"), "--lessons", ",".join(lessons)]
    subprocess.run(command, env=environment(ROOT, PYTHONHASHSEED="1"), check=True)

    for name in (part(Path(), COURSE.lessons[lesson]) for lesson in lessons for part in (public_answers, public_names)):
        assert (tmp_path / "again" / name).read_bytes() == (released / name).read_bytes()


# --- how learners use it ----------------------------------------------------------------------------------------------


def test_the_references_pass_the_public_checks(workspace):
    """Every lesson passes with its reference; the object is the documented one, with `public` beside."""
    solve(workspace, *FEW_LESSONS)
    done = learn("check", "--all", "--json", cwd=workspace, course=None)
    lessons = json.loads(done.stdout)["lessons"]

    assert done.returncode == 0
    assert set(lessons) == set(FEW_LESSONS)
    keys = json.loads(re.search(r"```json\n(.*?)```", (ROOT / "docs/json.md").read_text(), re.DOTALL)[1]).keys()
    for found in lessons.values():
        assert (found["score"], found["passed"], found["public"]) == (10.0, True, True)
        assert found.keys() == keys | {"public"}
        assert "so this score is not your mark" in found["notes"][-1]
        assert not any("solution" in suggestion["command"] for suggestion in found["suggestions"])


def test_a_wrong_answer_is_told_with_values_where_it_has_no_name(workspace):
    """What came back and what was expected are said; a mistake that nobody knows has no name."""
    (workspace / "core/softmax.py").write_text("import torch\n\ndef softmax(x, dim=-1):\n    return torch.cos(x)\n")
    done = learn("check", "softmax", cwd=workspace, course=None)

    assert done.returncode == 1
    assert re.search(r"\d\.\d / 10 on the public checks .*\n?.*2 of 5 checks passed", done.stdout)
    assert "5 public checks; your instructor's run has 12 more, so this score is not your" in done.stdout
    assert "15 of 15 values differ. First at [0, 0]: got" in " ".join(done.stdout.split())
    assert "[sm-" not in done.stdout


def test_a_known_mistake_is_told_by_name(released, workspace):
    """Whoever makes it reads what it is and what to do, on every recorded input, and nobody else can."""
    text = "import torch\n\ndef softmax(x, dim=-1):\n    return torch.exp(x - x.amax(dim, keepdim=True))\n"
    (workspace / "core/softmax.py").write_text(text)
    for seed in release_of(load(released)).seeds:
        done = learn("check", "softmax", "--json", "--seed", str(seed), cwd=workspace, course=None)
        assert [mistake["id"] for mistake in json.loads(done.stdout)["mistakes"]] == ["sm-not-normalised"]
    names = b"".join(path.read_bytes() for path in released.rglob("*.names"))
    for lesson in FEW_LESSONS:
        for known in load_mistake_sets(COURSE.lessons[lesson]):
            for mistake in known.mistakes:
                told = (mistake.id, mistake.says, mistake.suggests, *map(str, mistake.changes.values()))
                long = [text for text in told if len(text) > 5 and not text.isidentifier()]
                assert not [text for text in long if text.encode() in names]


def test_a_stub_fails_and_is_called_one(workspace):
    """An exercise that was not begun fails as what it is, in every lesson."""
    done = learn("check", "--all", "--json", cwd=workspace, course=None)

    assert done.returncode == 1
    for found in json.loads(done.stdout)["lessons"].values():
        assert not found["passed"]
        assert {mistake["id"] for mistake in found["mistakes"]} == {"stub"}


def test_the_light_commands_work_and_say_what_scores_are_worth(workspace):
    """Reading, listing, hints and progress are as ever; a 10.0 is never given as the last word."""
    solve(workspace, "softmax")
    checked = learn("check", "softmax", cwd=workspace, course=None).stdout
    assert "10.0 / 10 on the public checks" in checked
    assert f"Passes the public checks (5 of 17): 1 of {len(FEW_LESSONS)} lessons." in checked

    assert "learn check softmax" in learn("read", "softmax", cwd=workspace, course=None).stdout
    assert "hint 1 of" in learn("hint", "attention", cwd=workspace, course=None).stdout
    for command in ("list", "progress", "report --html page.html"):
        said = learn(*command.split(), cwd=workspace, course=None).stdout
        assert "Scores are of the public checks alone; your instructor's run has more." in said
        assert "solved" not in said
    assert f"1 of {len(FEW_LESSONS)} exercises pass the public checks" in said
    page = (workspace / "page.html").read_text()
    assert "share of exercises that pass the public checks" in page and "solved" not in page
    last = learn("hint", "attention", "--rung", "4", cwd=workspace, course=None).stdout
    assert "ask your\ninstructor" in last and "learn solution" not in last


def test_public_checks_alone_solve_nothing(small, tmp_path):
    """Where all public checks pass, every command says how many of all checks those are, and none says "solved"."""
    assert learn("start", "--course", str(small), "work", cwd=tmp_path, course=None).returncode == 0
    workspace = tmp_path / "work"
    for lesson in ("moving_average", "argmax_2d"):
        shutil.copy(TINY / f"solutions/basics/{lesson}.py", workspace / "basics")

    def said(*words: str) -> str:
        done = learn(*words, cwd=workspace, course=None, COLUMNS="70")
        assert done.returncode == 0, done.stderr
        return " ".join(done.stdout.split())

    assert "Passes the public checks (2 of 8): 1 of 2 lessons." in said("check", "argmax_2d")
    passed = "passes the public checks (2 of 8)"
    shown = {words: said(*words.split()) for words in (
        "check moving_average -v", "check --all", "list", "progress", "hand-in", ""
    )}  # fmt: skip
    assert all("pass the public checks" in shown[words] for words in ("progress", "", "check moving_average -v"))
    assert shown["list"].count(passed) == shown["hand-in"].count(passed) == 2
    assert "2 of 2 lessons passed the public checks" in shown["check --all"]
    assert [words for words, text in shown.items() if "solved" in text.lower()] == []
    for words in ("list", "progress"):
        assert json.loads(said(words, "--json"))["public"] is True


def test_the_solution_is_with_the_instructor(workspace):
    """`learn solution` says who has it; no picture shows what it would answer."""
    done = learn("solution", "softmax", "--give-up", cwd=workspace, course=None)
    shown = learn("show", "softmax", cwd=workspace, course=None)

    assert done.returncode == shown.returncode == 2
    assert "your instructor has them" in done.stderr
    assert "no references to compare with" in shown.stderr


def test_only_recorded_seeds_can_be_asked_for(small, tmp_path):
    """Another seed is refused with a list of those there are; each of those gives its own inputs."""
    assert learn("start", "--course", str(small), "work", cwd=tmp_path, course=None).returncode == 0
    seeds, workspace = release_of(load(small)).seeds, tmp_path / "work"
    done = learn("check", "argmax_2d", "--seed", "7", cwd=workspace, course=None)

    assert done.returncode == 2
    assert ", ".join(map(str, seeds[:-1])) + f" and {seeds[-1]}" in done.stderr
    (workspace / "basics/moving_average.py").write_text(
        "def moving_average(x, window):\n    print(x.flatten()[0].item())\n    return x\n"
    )
    printed = set()
    for seed in seeds:
        found = learn("check", "moving_average", "--seed", str(seed), "--json", cwd=workspace, course=None)
        printed.add(json.loads(found.stdout)["output"].split("\n")[0])
        assert json.loads(found.stdout)["seed"] == seed
    assert len(printed) == len(seeds)


def test_the_demo_works_from_a_release(released, tmp_path):
    """`learn demo` judges its attempt with the public checks."""
    done = learn("demo", cwd=tmp_path, course=released)

    assert done.returncode == 0
    assert "on the public checks" in done.stdout


def test_public_checks_can_be_run_by_hand(small):
    """pytest runs a file of public checks on the reference, with a recorded seed if none is asked for."""
    by_hand = "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"
    for extra, code in [((), 0), (("--check-seed", "7"), 2)]:
        options = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", small / "public/basics/test_argmax_2d.py"]
        options += ["--submission", TINY / "solutions/basics/argmax_2d.py", *extra]
        done = run_command("code", by_hand, *options, cwd=ROOT, env=environment(TINY), timeout=SECONDS)
        assert done.returncode == code, done.stdout + done.stderr


def test_an_instructor_cannot_grade_with_a_release(released, tmp_path):
    """`grader run` says that the hidden checks are not here; so does making a release of a release."""
    (tmp_path / "in" / "ann").mkdir(parents=True)
    for arguments, says in [
        (("run", tmp_path / "in", "--out", tmp_path / "out"), "hidden checks"),
        (("release", "--out", tmp_path / "second"), "no solutions"),
    ]:
        done = grader(*arguments, course=released)
        assert done.returncode == 2
        assert says in done.stderr


def test_inputs_that_were_not_recorded_are_our_fault(released, tmp_path):
    """A public check that was changed after the release costs nobody a point: it is a fault of ours, and says which."""
    course = shutil.copytree(released, tmp_path / "changed")
    file = course / "public/core/test_softmax.py"
    file.write_text(file.read_text().replace("reference.softmax(x)", "reference.softmax(2 * x)"))
    done = learn(
        "check", "softmax", "--json", "--file", str(ROOT / "solutions/core/softmax.py"), cwd=tmp_path, course=course
    )
    found = json.loads(done.stdout)

    assert done.returncode == 3
    assert found["state"] == "grader-error"
    (bad,) = [check for check in found["checks"] if check["outcome"] != "passed"]
    assert bad["outcome"] == "grader-error"
    assert "recorded for other inputs" in bad["message"]


def test_a_damaged_release_is_said_to_be_one(small, tmp_path):
    """A file that is missing, cut off or of a newer format is named, with whom to ask or what to install."""
    course = shutil.copytree(small, tmp_path / "damaged")
    check = ("check", "argmax_2d", "--file", str(TINY / "solutions/basics/argmax_2d.py"))
    for name, content in [
        ("basics/argmax_2d.answers", (course / "public/basics/argmax_2d.answers").read_bytes()[:500]),
        ("basics/test_argmax_2d.py", None),
        ("release.json", b'{"format": 9}'),
        ("release.json", b"{"),
    ]:
        path = course / "public" / name
        path.unlink() if content is None else path.write_bytes(content)
        done = learn(*check, cwd=tmp_path, course=course)
        assert done.returncode == 2
        assert str(path) in done.stderr and ("instructor" in done.stderr or "--upgrade" in done.stderr)


def test_a_release_that_was_moved_is_found_again(released, tmp_path):
    """A workspace remembers where its course is; when that is gone it says so, and `learn start` mends it."""
    course = shutil.copytree(released, tmp_path / "here")
    learn("start", "work", cwd=tmp_path, course=course)
    course.rename(tmp_path / "there")
    done = learn("list", cwd=tmp_path / "work", course=None)
    assert done.returncode == 2
    assert "no longer where it was" in done.stderr

    assert learn("start", "--course", "../there", cwd=tmp_path / "work", course=None).returncode == 0
    assert learn("start", cwd=tmp_path / "work", course=None).returncode == 0
    assert "public checks" in learn("list", cwd=tmp_path / "work", course=None).stdout


# --- what is not in it ------------------------------------------------------------------------------------------------

RUN = 8  # tokens in a row that are no accident
DOTTED = re.compile(r"\b[a-z_]\w*(?:\.\w+)+")
QUOTED = re.compile(rf'"({DOTTED.pattern})"')  # the names in a state dict, which the statements list
NUMBERED = re.compile(r"^\w+\.\d+\.")  # a place in a list of modules, each of which has the names of an earlier lesson
TOKEN = re.compile(r"[A-Za-z_]\w*|\d+|[^\s\w]")


def grams(text: str) -> set[tuple[str, ...]]:
    """Every run of tokens in a text, whatever its layout."""
    tokens = TOKEN.findall(text)
    return set(zip(*(tokens[start:] for start in range(RUN)), strict=False))


def telling(line: str) -> set[tuple[str, ...]]:
    """The runs of tokens of a line that say something: three different names at least."""
    return {gram for gram in grams(line) if len({word for word in gram if word.isidentifier()}) > 2}


@functools.cache
def grams_of_engine() -> set[tuple[str, ...]]:
    """Those that everybody may read."""
    return set().union(*(grams(path.read_text()) for path in (ROOT / "grader").rglob("*.py")))


def hidden_and_public(path: Path) -> tuple[dict[str, str], str]:
    """The texts of a file of `solutions/` that must stay hidden, by name; and the text that may be seen."""
    text = path.read_text()
    if not path.name.startswith("test_"):
        return {path.name: text}, ""
    lines, hidden = text.splitlines(), {f"{path.name}, docstring": ast.get_docstring(ast.parse(text)) or ""}
    for node in reversed(ast.parse(text).body):
        if not isinstance(node, ast.FunctionDef):
            continue
        decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
        is_check = any(decorator.startswith("pytest.mark.check(") for decorator in decorators)
        if is_check and not any("public=True" in decorator for decorator in decorators):
            first = min(decorator.lineno for decorator in node.decorator_list) - 1
            hidden[f"{path.name}, {node.name}"] = "\n".join(lines[first : node.end_lineno])
            del lines[first : node.end_lineno]
    return hidden, "\n".join(lines).replace(hidden[f"{path.name}, docstring"].split("\n")[0], "")


def secrets_of(course: Path) -> dict[str, set[tuple[str, ...]]]:
    """For each text that must stay hidden the runs of tokens that give it away: in no text that everybody may see."""
    hidden: dict[str, str] = {}
    open_files = [path for part in ("lessons", "exercises") for path in (course / part).rglob("*")]
    seen = [path.read_text() for path in open_files if path.suffix in (".md", ".py", ".toml")]
    seen += [text.replace("`", "") for text in seen if "`" in text]  # so a text to train on is made of them
    for path in sorted((course / "solutions").rglob("*.py")):
        more, public = hidden_and_public(path)
        hidden |= more
        seen.append(public)
    allowed = grams_of_engine().union(*map(grams, seen))
    names = {name for path in (course / "exercises").rglob("*.py") for name in DOTTED.findall(path.read_text())}
    hidden = {
        name: QUOTED.sub(lambda quoted: '""' if NUMBERED.sub("", quoted[1]) in names else quoted[0], text)
        for name, text in hidden.items()
    }
    return {
        name: set().union(*map(telling, lines_but_imports(text)), *map(telling, statements(text))) - allowed
        for name, text in hidden.items()
    }


def lines_but_imports(text: str) -> list[str]:
    """The lines that say something of a lesson; what the course's files import is documented."""
    return [line for line in text.splitlines() if not line.startswith(("from grader", "import "))]


def statements(text: str) -> Iterator[str]:
    """The small statements of a Python text each in one line, whatever lines they were written in."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # a docstring
        return
    lines = [line.encode() for line in text.split("\n")]
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.Return | ast.Expr | ast.AugAssign):
            segment = b"\n".join(lines[node.lineno - 1 : node.end_lineno])  # ast.get_source_segment splits all anew
            rest = len(lines[node.end_lineno - 1]) - node.end_col_offset
            yield segment[node.col_offset : len(segment) - rest].decode()


def members(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """A file, and what is in it if it is an archive."""
    yield name, content
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for inner in archive.namelist():
                yield from members(f"{name}/{inner}", archive.read(inner))


def leaks(secrets: dict[str, set[tuple[str, ...]]], *places: Path) -> dict[str, list[str]]:
    """Where a hidden text shows: for each file the texts. Bytes that are no text are passed over, the text between is
    read."""
    found, any_secret = {}, set().union(*secrets.values())
    for place in places:
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            if path.is_file():
                for name, content in members(str(path), path.read_bytes()):
                    there = any_secret & grams(content.decode("utf-8", "ignore"))
                    if shown := [secret for secret, runs in secrets.items() if runs & there]:
                        found[name] = shown
    return found


@pytest.fixture(scope="module")
def secrets():
    return secrets_of(ROOT)


def test_no_hidden_text_is_in_the_release_or_the_wheel(made, secrets):
    """Not a run of tokens of a reference, a hidden check, a mistake or an alternative, in any file of any kind."""
    folder, wheel, _ = made

    assert leaks(secrets, folder, wheel) == {}


def test_the_search_knows_every_hidden_text(secrets):
    """Each reference, file of mistakes and hidden check has something of its own to be recognised by."""
    names = set(secrets)

    assert {f"{lesson}.py" for lesson in LESSONS} | {f"{lesson}_mistakes.py" for lesson in LESSONS} <= names
    assert "test_softmax.py, test_rows_far_apart" in names and "test_softmax.py, test_shape" not in names
    blind = [name for name, runs in secrets.items() if not runs and "docstring" not in name]
    assert len(blind) <= len(names) // 20, blind


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_planted_line_of_a_reference_is_found(lesson, secrets, tmp_path):
    """Every line of a reference that is more than everyday Python is found: in Python, in bytes, and in an archive."""
    reference = COURSE.lessons[lesson].solution_path.read_text()
    lines = [line for line in reference.splitlines() if telling(line) & secrets[f"{lesson}.py"]]
    assert lines
    for number, line in enumerate(lines):
        (tmp_path / f"{number}.py").write_text(f"def f():\n    {line.strip().replace('(', '( ')}\n")
        (tmp_path / f"{number}.answers").write_bytes(b"\x00\x01\xfe" + line.encode() + b"\xff\x00" * 9)
        with zipfile.ZipFile(tmp_path / f"{number}.whl", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("deep/inside.py", line)
    found = leaks({f"{lesson}.py": secrets[f"{lesson}.py"]}, tmp_path)

    assert len(found) == 3 * len(lines)


def test_no_sentence_of_a_hidden_check_is_told(made):
    """The sentences of hidden checks are in no file either, nor are their names in prose, unless a public one's are."""
    folder, wheel, _ = made
    told, named, lessons = {True: set(), False: set()}, {True: set(), False: set()}, load(folder).lessons
    for path in (ROOT / "solutions").rglob("test_*.py"):
        for node in ast.parse(path.read_text()).body:
            marks = " ".join(ast.unparse(decorator) for decorator in getattr(node, "decorator_list", []))
            public = "public=True" in marks
            if isinstance(node, ast.FunctionDef) and "pytest.mark.check(" in marks:
                if public and path.stem.removeprefix("test_") not in lessons:
                    continue
                told[public].add(ast.get_docstring(node).split("\n")[0])
                named[public].add(node.name)
    contents = [content for place in (folder, wheel) for path in ([place] if place.is_file() else place.rglob("*"))
                if path.is_file() for _, content in members(str(path), path.read_bytes())]  # fmt: skip

    assert len(told[False]) > 50
    everything = b"\n".join(contents)
    assert all(sentence.encode() in everything for sentence in told[True])
    assert [sentence for sentence in told[False] - told[True] if sentence.encode() in everything] == []
    nodes = [node for path in folder.rglob("test_*.py") for node in ast.walk(ast.parse(path.read_text()))]
    prose = [ast.get_docstring(node) or "" for node in nodes if isinstance(node, ast.FunctionDef | ast.Module)]
    assert {word for text in prose for word in re.findall(r"\w+", text)} & (named[False] - named[True]) == set()


# --- the wheel --------------------------------------------------------------------------------------------------------


def test_the_wheel_is_whole_and_has_no_solutions(made):
    """Its list of files has the digest of each, none is of `solutions/`, and its version tells which wheel it is."""
    with zipfile.ZipFile(made[1]) as archive:
        names = archive.namelist()
        (record,) = [name for name in names if name.endswith(".dist-info/RECORD")]
        listed = [line.rsplit(",", 2) for line in archive.read(record).decode().splitlines()]
        for name, digest, size in listed:
            if name != record:
                content = archive.read(name)
                expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                assert (digest, size) == (f"sha256={expected}", str(len(content)))
        described = archive.read(record.replace("RECORD", "METADATA")).decode()
        assert "+learner\n" in described and "no solutions" in described and "def softmax" not in described

    assert [name for name, _, _ in listed] == names
    assert not [name for name in names if "solutions/" in name or "__pycache__" in name or name.startswith("tests")]
    assert "grader/_course/public/release.json" in names


@pytest.mark.slow
def test_an_installed_wheel_needs_no_other_course(made, tmp_path):
    """Installed by pip, the wheel's program works with its own course, where no solution is."""
    site = tmp_path / "site"
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--no-compile",  # of 500 modules few are imported
        "--target",
        str(site),
        str(made[1]),
    ]
    subprocess.run(install, check=True, timeout=SECONDS, capture_output=True)
    start = f"import sys; sys.path.insert(0, {str(site)!r}); from grader.cli.learn.group import main; main()"

    def installed(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-P", "-c", start, *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)

    assert installed("start", ".").returncode == 0
    solve(tmp_path, "attention")
    done = installed("check", "attention")
    assert "10.0 / 10 on the public checks" in done.stdout, done.stdout + done.stderr
    assert "folder" not in (tmp_path / ".selfattend/workspace.toml").read_text()
    assert "learner" in installed("--version").stdout
    assert "instructor" in installed("solution", "attention").stderr


# --- what is refused --------------------------------------------------------------------------------------------------


def release(course, out: Path, lessons=None, **options) -> Path:
    """Make a release in this process."""
    with with_workers(course, "cpu") as (launcher, _):
        list(make_release(course, lessons or list(course.lessons.values()), out, launcher, **options))
    return out


@pytest.fixture
def tiny(tmp_path):
    """A copy of the tiny course with two public checks in each lesson."""
    return with_public_checks(tmp_path / "course")


def add_public(root: Path, arguments: str, body: str) -> None:
    """Give `moving_average` another public check."""
    path = root / "solutions/basics/test_moving_average.py"
    head = '@pytest.mark.check(skill="values", points=1, public=True)'
    path.write_text(
        f'{path.read_text()}\n\n{head}\ndef test_more(submission, {arguments}):\n    """Does."""\n    {body}\n'
    )


@pytest.mark.slow
def test_a_course_of_numpy_is_released_too(tiny, tmp_path):
    """The engine knows no course: another one is released and checked just so, and two releases are alike."""
    out = release(load(tiny), tmp_path / "out", seeds=2)
    twin = release(load(tiny), tmp_path / "twin", seeds=2)

    assert release_of(load(out)).checks == {"moving_average": (2, 8), "argmax_2d": (2, 8)}
    for path in [path for path in out.rglob("*") if path.is_file()]:
        assert path.read_bytes() == (twin / path.relative_to(out)).read_bytes()
    done = learn("check", "argmax_2d", "--file", str(TINY / "solutions/basics/argmax_2d.py"), cwd=tmp_path, course=out)
    assert done.returncode == 0
    assert leaks(secrets_of(tiny), out) == {}


def test_some_lessons_are_released_alone(tiny, tmp_path):
    """A release of one lesson has its files only, and is a course."""
    (tiny / "lessons/basics/argmax_2d_picture.svg").write_text("<svg/>")
    (tiny / "lessons/basics/shared.svg").write_text("<svg/>")
    course = load(tiny)
    out = release(course, tmp_path / "out", [course.lessons["moving_average"]], seeds=1)

    assert list(load(out).lessons) == ["moving_average"]
    names = {path.name for path in out.rglob("*")}
    assert "shared.svg" in names
    assert not [name for name in names if "argmax" in name]
    assert load(out).limits == course.limits


def test_the_quiz_of_a_release_is_on_its_lessons(make, tmp_path):
    """Every topic whose lesson is released comes along, no other does, and the quiz, the review and the report work."""
    few, _, told = make(*FEW_LESSONS)
    whole, bank = Bank(ROOT / "lessons"), Bank(few / "lessons")
    assert told["topics"] == list(bank.paths)
    wanted = [topic.name for topic in whole.topics() if topic.lesson in FEW_LESSONS]
    assert bank.names == wanted and len(wanted) > 3
    assert bank.assessed == [name for name in whole.assessed if name in wanted]
    assert require_questions(few / "lessons") == len(wanted)

    assert learn("start", "--course", str(few), "work", cwd=tmp_path, course=None).returncode == 0
    for words in (["quiz", "list"], ["quiz", "softmax"], ["review"], ["report"]):
        done = learn(*words, cwd=tmp_path / "work", course=None)
        assert "Error" not in done.stderr and "Traceback" not in done.stderr, (words, done.stderr)


def test_no_command_of_a_release_leads_out_of_it(released):
    """What helps against a misconception is a lesson that is there, or other questions; answers count for a topic
    that is there."""
    bank = Bank(released / "lessons")
    numbers = [str(topic.open.number) for topic in bank.topics() if topic.open]
    for topic in bank.topics():
        assert all(family.counts_for in (*bank.paths, *bank.collections) for family in topic.families)
        assert all(not family.same_as or bank.find_family(family.same_as) for family in topic.families)
        for known in topic.misconceptions:
            assert set(known.command.split()[2:]) <= {*bank.names, *FEW_LESSONS, "open", *numbers}, known


def test_a_misconception_that_topics_share_comes_along(tiny, tmp_path):
    """One that is told in the file of a topic that is left out can still be named, with a command that works."""
    told = (
        '[[misconceptions]]\nid = "off"\nsays = "counted from 1"\nsuggests = "count from 0"\n'
        'command = "learn read argmax_2d"\n'
    )
    family = (
        '[[families]]\nid = "{0}.a"\nkind = "choice"\ntext = "Which?"\nexplain = "The first."\n'
        'right = ["the first"]\n'
        'wrong = [{{ text = "the second", tag = "off" }}, {{ text = "the third", tag = "off" }}]\n'
    )
    folder = tiny / "lessons/basics"
    for name, more in (("argmax_2d", told), ("moving_average", 'counts_for = "argmax_2d"\n')):
        text = f'title = "{name}"\nlesson = "{name}"\n{more}{family.format(name)}'
        (folder / f"{name}.quiz.toml").write_text(text)
    groups = '[[groups]]\ntitle = "All"\ntopics = ["argmax_2d", "moving_average"]\n'
    (tiny / "lessons/quiz.toml").write_text(f'assessment = ["argmax_2d"]\n{groups}')
    course = load(tiny)
    out = release(course, tmp_path / "out", [course.lessons["moving_average"]], seeds=1)

    bank = Bank(out / "lessons")
    assert bank.names == ["moving_average"] and bank.family("moving_average.a").counts_for == "moving_average"
    assert bank.misconception("off").command == "learn quiz moving_average"
    assert require_questions(out / "lessons") == 1


def test_a_release_with_a_broken_question_is_refused(tiny, tmp_path):
    """A question that cannot be made stops the release, and nothing is left."""
    (tiny / "lessons/basics/argmax_2d.quiz.toml").write_text(
        'title = "T"\nlesson = "argmax_2d"\n[[families]]\nid = "argmax_2d.a"\nkind = "numeric"\n'
        'generator = "nobody"\ntext = "What?"\nexplain = "That."\n'
    )
    (tiny / "lessons/basics/argmax_2d_quiz.py").write_text("def somebody(random):\n    return {}\n")
    done = grader("release", "--out", tmp_path / "out", "--seeds", "1", course=tiny)
    assert done.returncode == 2 and 'names a generator "nobody"' in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_needed_lesson_must_come_along(tmp_path):
    """A release without a lesson that another needs is refused with the command that has it."""
    course = load(ROOT)
    with pytest.raises(UsageError, match='"attention" needs "softmax"') as caught:
        release(course, tmp_path / "out", [course.lessons["attention"]])
    assert "--lessons softmax,attention" in caught.value.next_step


@pytest.mark.parametrize(("arguments", "body", "says"), [
    ("tmp_path", "pass", "test_more cannot be public: it uses other fixtures"),
    ("rand", "assert 0", "test_more cannot be public: the reference itself fails it"),
    ("rand", "submission.moving_average(object(), 2)", "test_more cannot be public"),
    ("rand", "test_repeatable(submission, rand)", "uses test_repeatable, which is hidden"),
    ("reference", "x = np.ones(5); reference.moving_average(x + submission.moving_average(x, 1).max(), 2)",
     "moving_average.more cannot be public: what it asks depends on what was handed in"),
], ids=["fixture", "fails", "no data", "hidden helper", "depends on the submission"])  # fmt: skip
def test_what_cannot_be_recorded_cannot_be_public(tiny, tmp_path, arguments, body, says):
    """The release is refused with the check's name and why, and nothing is left at its place."""
    add_public(tiny, arguments, body)
    with pytest.raises(CourseError, match=says) as caught:
        release(load(tiny), tmp_path / "out", seeds=1)

    assert "public" in caught.value.next_step
    assert not [path for path in tmp_path.iterdir() if path.name != "course"]


def test_known_mistakes_of_any_course_are_told_by_name(tiny, tmp_path):
    """In a course of numpy, too: each that fails public checks is named as itself, or not at all; most are."""
    course, released = load(tiny), load(release(load(tiny), tmp_path / "out", seeds=1))
    named = []

    def drive(judge: Judge) -> None:
        for lesson in course.lessons.values():
            base = vars(load_file(lesson.solution_path))
            for known in load_mistake_sets(lesson):
                for wrong in known.mistakes:
                    version = {**base, known.function: known.build(wrong.changes, wrong.version)}
                    result = judge.examine_own(released.lessons[lesson.name], version, release_of(released).seeds[0])
                    named.extend(
                        [wrong.id, one.id] for one in result.mistakes if one.id in {m.id for m in known.mistakes}
                    )

    with with_workers(released, "cpu") as (launcher, _):
        with_judge(released, released.lessons.values(), launcher, "cpu", drive)
    assert [pair for pair in named if pair[0] != pair[1]] == [] and len(named) > 10
    (tmp_path / "out/public/basics/argmax_2d.names").write_text("{}")
    (tmp_path / "argmax_2d.py").write_text("def argmax_2d(grid):\n    return 0, int(grid.argmax())\n")
    done = learn("check", "argmax_2d", "--file", str(tmp_path / "argmax_2d.py"), cwd=tmp_path, course=tmp_path / "out")
    assert done.returncode == 2 and "damaged" in done.stderr and "argmax_2d.names" in done.stderr


def test_a_lesson_needs_a_public_check(tmp_path):
    """A course whose author marked nothing is told how to."""
    with pytest.raises(CourseError, match="no public check") as caught:
        release(load(TINY), tmp_path / "out")
    assert "public=True" in caught.value.next_step


def test_public_checks_that_a_stub_passes_are_refused(tiny, tmp_path):
    """Public checks that say nothing are no help."""
    (tiny / "exercises/basics/moving_average.py").write_text(
        (tiny / "exercises/basics/moving_average.py").read_text().split('    """')[0]
        + (tiny / "solutions/basics/moving_average.py").read_text().partition('"""\n')[2].partition(":\n")[2]
    )
    with pytest.raises(CourseError, match="the stub passes"):
        release(load(tiny), tmp_path / "out", seeds=1)


def test_a_release_is_replaced_only_on_request(tiny, tmp_path):
    """What is there stays; --force replaces a release, and never anything else."""
    course, out = load(tiny), tmp_path / "out"
    release(course, out, seeds=1)
    with pytest.raises(UsageError, match="a release here already") as caught:
        release(course, out, seeds=1)
    assert "--force" in caught.value.next_step
    release(course, out, seeds=2, force=True)
    assert len(release_of(load(out)).seeds) == 2

    (out / "notes.txt").write_text("mine")
    for place in (out, tiny):
        with pytest.raises(UsageError, match="something else here"):
            release(course, place, force=True)
    assert (out / "notes.txt").read_text() == "mine"


def test_seeds_belong_to_a_version(tiny):
    """The seeds of a release are fixed by the course and its version, all different."""
    course = load(tiny)

    assert seeds_of(course, 20) == seeds_of(course, 20)
    assert len(set(seeds_of(course, 20))) == 20
    assert seeds_of(course, 4) != seeds_of(load(ROOT), 4)


def test_the_audit_finds_marks_that_cannot_be(tiny):
    """`grader audit` names a public check that cannot be recorded, and is content with those that can."""
    assert grader("audit", "--lessons", "moving_average", course=tiny).returncode == 0

    add_public(tiny, "tmp_path", "pass")
    done = grader("audit", "--lessons", "moving_average", course=tiny)
    assert done.returncode == 1
    assert "test_more cannot be public" in done.stdout
