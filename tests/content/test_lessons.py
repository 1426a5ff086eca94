"""Every lesson's text, stub and reference keep their promises: the code runs as printed, the examples are true."""

from __future__ import annotations

import ast
import contextlib
import doctest
import inspect
import io
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from support.course_files import ROOT, load

from grader.course import load as load_course
from grader.course import read_parts
from grader.course.step_marks import strip_marks

WORDS = range(600, 1701)
RUNGS = (3, 4)
FENCE_WIDTH = 76  # columns: what an 80-column terminal shows of a line of code without wrapping it
PICTURE_WIDTH = 60  # columns, as on a narrow page
PICTURE_LINES = 3
DRAWN = re.compile("[░▒▓█▁▂▃▄▅▆▇─│┌┐└┘├┤┬┴┼●]")
STOPS = 2
QUESTION = "**Predict before you read on.**"
LETTER = re.compile(r"(?<![\w*'.\\-])d(?![\w*'.])|\bW_[qkvo]\b")  # d_head and W_Q are the names; *d* is a letter

FRONT_MATTER = re.compile(r"\A\+\+\+\n(?P<toml>.*?)^\+\+\+\n", re.DOTALL | re.MULTILINE)
FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, and the line of the file on which the text begins."""

    language: str
    text: str
    line: int


@dataclass(frozen=True)
class LessonFiles:
    """One lesson as it lies on disk."""

    name: str
    track: str

    @property
    def text_path(self) -> Path:
        return ROOT / "lessons" / self.track / f"{self.name}.md"

    @property
    def exercise_path(self) -> Path:
        return ROOT / "exercises" / self.track / f"{self.name}.py"

    @property
    def solution_path(self) -> Path:
        return ROOT / "solutions" / self.track / f"{self.name}.py"

    @property
    def source(self) -> str:
        return self.text_path.read_text(encoding="utf-8")

    @property
    def front_matter(self) -> dict[str, Any]:
        match = FRONT_MATTER.match(self.source)
        assert match, f"{self.text_path} does not begin with front matter between two lines of +++"
        return tomllib.loads(match["toml"])

    @property
    def blocks(self) -> list[Block]:
        """The fenced blocks, top to bottom."""
        source = self.source
        return [
            Block(match["language"], match["text"], source.count("\n", 0, match.start("text")) + 1)
            for match in FENCE.finditer(source)
        ]

    @property
    def prose(self) -> str:
        """The text without its front matter and its fenced blocks."""
        return FENCE.sub("", FRONT_MATTER.sub("", self.source))


# Loading runs the file; a test may do that once for all.
cached_load = cache(load)


def syllabus() -> list[LessonFiles]:
    """Every lesson of course.toml, in its order."""
    course = tomllib.loads((ROOT / "course.toml").read_text(encoding="utf-8"))
    return [LessonFiles(name, track["name"]) for track in course["tracks"] for name in track["lessons"]]


def written() -> list[LessonFiles]:
    """The lessons of the syllabus whose text exists."""
    return [lesson for lesson in syllabus() if lesson.text_path.exists()]


each_lesson = pytest.mark.parametrize("lesson", written(), ids=lambda lesson: lesson.name)


def public_members(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """The functions and classes that a module defines itself under a public name, in the order of the file."""
    return {
        name: member
        for name, member in vars(module).items()
        if not name.startswith("_")
        and (inspect.isfunction(member) or inspect.isclass(member))
        and member.__module__ == module.__name__
    }


def callables_of(name: str, member: Callable[..., Any]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """A function by its name; a class as the methods that it defines itself."""
    if not inspect.isclass(member):
        yield name, member
        return
    for method, function in vars(member).items():
        if inspect.isfunction(function):
            yield f"{name}.{method}", function


def order_of(text: str, *lines: str) -> list[int]:
    """Where each of these lines begins."""
    return [text.index(f"\n{line}") for line in lines]


def run_block(block: Block, namespace: dict[str, Any], path: Path) -> str:
    """Execute one python block and return what it printed; a failure names the file and the line of the block."""
    printed = io.StringIO()
    try:
        # the blank lines make line numbers in an error those of the lesson's file
        code = compile("\n" * (block.line - 1) + block.text, str(path), "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
    except Exception as error:
        pytest.fail(f"{path}:{block.line}: the python block raised {type(error).__name__}: {error}")
    return printed.getvalue()


def test_every_lesson_of_the_syllabus_is_written() -> None:
    """No lesson of course.toml lacks its text, its stub or its reference."""
    files = [path for lesson in syllabus() for path in (lesson.text_path, lesson.exercise_path, lesson.solution_path)]
    missing = [str(path.relative_to(ROOT)) for path in files if not path.exists()]
    assert not missing, f"named in course.toml but not there: {', '.join(missing)}"


@each_lesson
def test_front_matter_is_complete(lesson: LessonFiles) -> None:
    """The front matter has a title, minutes and four lists of names, and `needs` names earlier lessons only."""
    front = lesson.front_matter
    assert front["title"].strip(), f"{lesson.text_path}: the title is empty"
    assert isinstance(front["minutes"], int), f"{lesson.text_path}: minutes must be a whole number"
    assert 5 <= front["minutes"] <= 120, f"{lesson.text_path}: {front['minutes']} minutes is no sitting"
    for key in ("needs", "concepts", "forbids", "aliases"):
        value = front[key]
        assert isinstance(value, list), f"{lesson.text_path}: {key} must be a list"
        assert all(isinstance(item, str) and item for item in value), f"{lesson.text_path}: {key} must hold names"
    order = [other.name for other in syllabus()]
    late = [need for need in front["needs"] if need not in order[: order.index(lesson.name)]]
    assert not late, f"{lesson.text_path}: needs {late}, which the syllabus does not have before {lesson.name}"


@each_lesson
def test_hints_are_a_ladder_for_every_function(lesson: LessonFiles) -> None:
    """Every function or class to write has a ladder of three or four different hints, and nothing else has one."""
    hints = lesson.front_matter["hints"]
    to_write = list(public_members(cached_load(lesson.exercise_path)))
    assert sorted(hints) == sorted(to_write), f"{lesson.text_path}: hints for {sorted(hints)}, to write: {to_write}"
    for name, ladder in hints.items():
        assert len(ladder) in RUNGS, f"{lesson.text_path}: {name} has {len(ladder)} hints, not 3 or 4"
        assert len({rung.strip() for rung in ladder} - {""}) == len(ladder), f"{lesson.text_path}: {name}: a hint twice"


@each_lesson
def test_text_has_the_length_of_one_sitting(lesson: LessonFiles) -> None:
    """The prose, fenced blocks not counted, has 600 to 1,700 words."""
    words = len(lesson.prose.split())
    assert words in WORDS, f"{lesson.text_path}: {words} words of prose, not {WORDS.start} to {WORDS.stop - 1}"


@each_lesson
def test_text_says_how_to_go_on(lesson: LessonFiles) -> None:
    """The text begins with one heading, names every function to write, and gives the command that checks them."""
    body = FRONT_MATTER.sub("", lesson.source)
    assert body.lstrip().startswith("# "), f"{lesson.text_path}: no heading after the front matter"
    titles = re.findall(r"^# .+$", FENCE.sub("", body), re.MULTILINE)
    assert len(titles) == 1, f"{lesson.text_path}: one title, please: {titles}"
    for wanted in (f"learn check {lesson.name}", *public_members(cached_load(lesson.exercise_path))):
        assert wanted in body, f"{lesson.text_path} never says {wanted!r}"


@each_lesson
def test_text_asks_before_it_answers(lesson: LessonFiles) -> None:
    """At least twice the text asks for a prediction, and hides what answers it until it is asked for."""
    *asking, last = read_parts(load_course(ROOT).lessons[lesson.name])
    assert len(asking) >= STOPS, f"{lesson.text_path}: {len(asking)} hidden answers, at least {STOPS}"
    for part in asking:
        assert part.text.count(QUESTION) == 1, f"{lesson.text_path}: one {QUESTION} before each hidden answer"
    assert QUESTION not in last.text, f"{lesson.text_path}: a prediction whose answer is not hidden"


@each_lesson
def test_mistakes_stand_below_the_task_and_the_commands_at_the_end(lesson: LessonFiles) -> None:
    """What people get wrong would give the solution away; the last two lines check the work and the knowledge."""
    order = order_of(lesson.source, "## Your task", "## Common mistakes", "## To read next")
    assert order == sorted(order), f"{lesson.text_path}: first the task, then its common mistakes"
    end = f"```\nlearn check {lesson.name}\nlearn quiz {lesson.name}\n```\n"
    assert lesson.source.endswith(end), f"{lesson.text_path} does not end with\n{end}"


@each_lesson
def test_text_has_a_picture(lesson: LessonFiles) -> None:
    """Some fenced block is drawn, and what is drawn has at most 60 columns."""
    drawn = [block for block in lesson.blocks if block.language != "python" and DRAWN.search(block.text)]
    assert any(len(DRAWN.findall(block.text)) >= 10 and block.text.count("\n") >= PICTURE_LINES for block in drawn)
    for block in drawn:
        width = max(map(len, block.text.splitlines()))
        assert width <= PICTURE_WIDTH, f"{lesson.text_path}:{block.line}: {width} columns, at most {PICTURE_WIDTH}"


@each_lesson
def test_letters_mean_one_thing(lesson: LessonFiles) -> None:
    """Text, statement, reference and the mistakes' sentences have no bare d: it is D, d_head, d_k, d_v or d_ff."""
    printed = {b.text for a, b in zip(lesson.blocks, lesson.blocks[1:], strict=False) if a.language == "python"}
    text = lesson.source
    for output in printed:
        text = text.replace(output, "\n" * output.count("\n"))
    mistakes = lesson.solution_path.with_name(f"{lesson.name}_mistakes.py")
    files = {path: path.read_text(encoding="utf-8") for path in (lesson.exercise_path, lesson.solution_path, mistakes)}
    for path, content in {lesson.text_path: text, **files}.items():
        for number, line in enumerate(content.splitlines(), 1):
            assert not LETTER.search(line), f"{path}:{number}: {LETTER.search(line)[0]!r} has another name: {line}"


@each_lesson
def test_fences_are_whole_and_narrow(lesson: LessonFiles) -> None:
    """Every fence is closed, and no fenced line is too wide for a terminal of 80 columns."""
    marks = re.findall(r"^\s*```", lesson.source, re.MULTILINE)
    assert len(marks) == 2 * len(lesson.blocks), f"{lesson.text_path}: a fence is indented or not closed"
    for block in lesson.blocks:
        for number, line in enumerate(block.text.splitlines(), start=block.line):
            width = len(line)
            assert width <= FENCE_WIDTH, f"{lesson.text_path}:{number}: {width} columns, at most {FENCE_WIDTH}: {line}"


@each_lesson
def test_code_that_is_shown_is_narrow(lesson: LessonFiles) -> None:
    """No line of a stub, a reference or a lesson's demo is too wide for a terminal of 80 columns."""
    beside = lesson.text_path.parent.glob(f"{lesson.name}_*.py")
    demos = [path for path in beside if not path.stem.endswith("_quiz")]  # that draws numbers; nobody is shown it
    for path in (lesson.exercise_path, lesson.solution_path, *demos):
        for number, line in enumerate(strip_marks(path.read_text(encoding="utf-8")).splitlines(), start=1):
            assert len(line) <= FENCE_WIDTH, f"{path}:{number}: {len(line)} columns, at most {FENCE_WIDTH}: {line}"


@each_lesson
def test_python_blocks_print_what_the_text_shows(lesson: LessonFiles) -> None:
    """Run top to bottom in one namespace, each python block prints exactly the text block that follows it."""
    blocks = lesson.blocks
    namespace: dict[str, Any] = {"__name__": lesson.name}
    with torch.random.fork_rng(devices=[]):
        for block, after in zip(blocks, [*blocks[1:], None], strict=True):
            if block.language != "python":
                continue
            printed = run_block(block, namespace, lesson.text_path)
            shown = after.text if after is not None and after.language == "text" else ""
            assert printed == shown, (
                f"{lesson.text_path}:{block.line}: the block prints\n{printed}\nbut the lesson shows\n{shown}"
            )
    assert any(block.language == "python" for block in blocks), f"{lesson.text_path}: no worked example"


@each_lesson
def test_examples_in_the_statements_hold_for_the_reference(lesson: LessonFiles) -> None:
    """Every function to write has `>>>` examples in its statement, and the reference gives their results."""
    stub, reference = cached_load(lesson.exercise_path), cached_load(lesson.solution_path)
    report = io.StringIO()
    runner = doctest.DocTestRunner()
    names = vars(stub) | vars(reference)  # what the stub imports, and the reference's functions in place of the stub's
    with torch.random.fork_rng(devices=[]):
        for name, member in public_members(stub).items():
            tests = doctest.DocTestFinder().find(member, name, module=stub, globs=names)
            assert any(test.examples for test in tests), f"{lesson.exercise_path}: {name} has no example"
            for test in tests:
                runner.run(test, out=report.write)
    assert runner.failures == 0, f"{lesson.exercise_path}: the reference gives something else\n{report.getvalue()}"


@each_lesson
def test_stub_and_reference_have_the_same_signatures(lesson: LessonFiles) -> None:
    """Whatever the stub asks for is in the reference, with the same parameters and defaults."""
    stub, reference = cached_load(lesson.exercise_path), cached_load(lesson.solution_path)
    for name, member in public_members(stub).items():
        assert hasattr(reference, name), f"{lesson.solution_path} has no {name}"
        answers = dict(callables_of(name, getattr(reference, name)))
        for path, function in callables_of(name, member):
            assert path in answers, f"{lesson.solution_path} has no {path}"
            asked, given = inspect.signature(function), inspect.signature(answers[path])
            assert asked == given, f"{path}: the stub says {asked}, the reference {given}"


@each_lesson
def test_stub_is_not_written_yet(lesson: LessonFiles) -> None:
    """Every function of the stub raises NotImplementedError with its own name, and the file says how to check it."""
    stub = cached_load(lesson.exercise_path)
    for command in (f"learn read {lesson.name}", f"learn check {lesson.name}"):
        assert command in (stub.__doc__ or ""), f"{lesson.exercise_path}: the docstring lacks {command!r}"
    for name, member in public_members(stub).items():
        required = [p for p in inspect.signature(member).parameters.values() if p.default is p.empty]
        with pytest.raises(NotImplementedError, match=f"^{name}: not written yet$"):
            member(*[None] * len(required))


@each_lesson
def test_reference_does_without_the_forbidden_calls(lesson: LessonFiles) -> None:
    """The reference keeps the rule that it sets, and imports nothing but torch, numpy and math."""
    tree = ast.parse(lesson.solution_path.read_text(encoding="utf-8"))
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    used |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    forbidden = used & set(lesson.front_matter["forbids"])
    assert not forbidden, f"{lesson.solution_path} uses {sorted(forbidden)}, which the lesson forbids"
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "." for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    outside = {name for name in imported if name.split(".")[0] not in ("__future__", "torch", "numpy", "math")}
    assert not outside, f"{lesson.solution_path} imports {sorted(outside)}"
