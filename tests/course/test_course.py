"""grader.course: finding a course, reading it, and saying exactly what is wrong with one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.course_maker import STUB, SYLLABUS, front, make_course

from grader.cli.lesson_parameters import choose_lessons
from grader.course import aliases, find_lesson, load, locate, read_functions, read_parts
from grader.course.find_lesson import find_function
from grader.errors import CourseError, UnknownLesson
from grader.model import Limits

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def course(tmp_path):
    return load(make_course(tmp_path))


def broken(tmp_path, changes) -> CourseError:
    """The error of loading a course with these changes."""
    with pytest.raises(CourseError) as caught:
        load(make_course(tmp_path, changes))
    assert caught.value.next_step
    return caught.value


# ---- locate ---------------------------------------------------------------------------------------------------------


def test_the_course_asked_for_comes_before_that_of_the_environment(tmp_path, monkeypatch):
    """`--course` wins over SELFATTEND_COURSE, which wins over the course that comes along."""
    one, two = make_course(tmp_path / "one"), make_course(tmp_path / "two")
    monkeypatch.setenv("SELFATTEND_COURSE", str(two))

    assert locate(one) == one
    assert locate() == two


def test_the_file_course_toml_stands_for_its_folder(tmp_path):
    """A path to course.toml itself means the folder that holds it."""
    assert locate(make_course(tmp_path) / "course.toml") == tmp_path


def test_a_checkout_uses_the_course_above_the_engine(monkeypatch):
    """Without anything asked for, a source checkout uses its own course."""
    monkeypatch.setenv("SELFATTEND_COURSE", "")

    assert locate() == ROOT


def test_a_wheel_uses_the_course_inside_the_engine(tmp_path, monkeypatch):
    """An installed engine has no course above it and takes the one packed inside it."""
    module = sys.modules[locate.__module__]
    monkeypatch.delenv("SELFATTEND_COURSE", raising=False)
    monkeypatch.setattr(module, "__file__", str(tmp_path / "grader" / "course" / "locate.py"))
    with pytest.raises(CourseError, match="incomplete"):
        locate()

    bundled = make_course(tmp_path / "grader" / "_course")

    assert locate() == bundled


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_a_folder_that_is_no_course_is_refused(tmp_path, monkeypatch, name):
    """A folder asked for that is missing or holds no course is an error, never another course."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(CourseError) as asked:
        locate(tmp_path / name)
    monkeypatch.setenv("SELFATTEND_COURSE", str(tmp_path / name))
    with pytest.raises(CourseError) as environment:
        locate()

    assert "--course" in asked.value.what and str(tmp_path / name) in asked.value.where
    assert "SELFATTEND_COURSE" in environment.value.what


# ---- load -----------------------------------------------------------------------------------------------------------


def test_a_course_is_read_in_the_order_of_its_syllabus(course, tmp_path):
    """Tracks, lessons and limits come out as course.toml has them."""
    assert (course.root, course.id, course.version, course.arrays) == (tmp_path, "small", "1.0", "numpy")
    assert [track.name for track in course.tracks] == ["core", "more"]
    assert list(course.lessons) == ["mean", "mean_square", "spread"]
    assert course.limits == Limits(call_seconds=2.5, memory_mb=512)
    assert not course.has_solutions


def test_lessons_of_optional_tracks_are_not_required(tmp_path):
    """A class is graded on every track that is not optional; where all are, on all of them."""
    first, more = 'title = "The first steps"\n', 'title = "Further steps"\n'
    optional = SYLLABUS.replace(more, f"{more}optional = true\n")
    load_with = lambda syllabus: load(make_course(tmp_path, {"course.toml": syllabus}))

    some, every = load_with(optional), load_with(optional.replace(first, f"{first}optional = true\n"))

    assert [lesson.name for lesson in some.required_lessons] == ["mean", "mean_square"]
    assert [lesson.name for lesson in every.required_lessons] == ["mean", "mean_square", "spread"]
    assert choose_lessons(some, None, required=True) == some.required_lessons
    assert choose_lessons(some, None) == choose_lessons(every, None, required=True) == [*some.lessons.values()]
    assert [lesson.name for lesson in choose_lessons(some, "spread", required=True)] == ["spread"]


WAY = '[[ways]]\nname = "short"\ntitle = "the short way"\nlessons = [{}]\n[[tracks]]'


def test_a_way_is_a_list_of_lessons_each_after_what_it_needs(tmp_path):
    """The first way is followed where none is chosen; the full one is always there, and the rest comes after a way."""
    text = SYLLABUS.replace("[[tracks]]", WAY.format('"mean", "spread"'), 1)
    course = load(make_course(tmp_path, {"course.toml": text}))

    assert list(course.ways) == ["short", "full"] and course.way("gone").name == course.way().name == "short"
    assert [each.name for each in course.lessons_along(course.way())] == ["mean", "spread", "mean_square"]
    assert course.way("full").lessons == tuple(course.lessons)


@pytest.mark.parametrize(
    "lessons, says",
    [
        ('"spread", "mean"', '"spread" needs "mean", which does not come before it'),
        ('"mean", "other"', '"other" is in no track'),
        ("", 'the way "short" has no lessons'),
    ],
)
def test_a_way_that_cannot_be_gone_is_refused(tmp_path, lessons, says):
    """A lesson before what it needs, one that is in no track, and an empty list are told."""
    text = SYLLABUS.replace("[[tracks]]", WAY.format(lessons), 1)
    with pytest.raises(CourseError, match=re.escape(says)):
        load(make_course(tmp_path, {"course.toml": text}))


def test_a_capstone_has_limits_of_its_own_and_is_graded_where_it_is_named(tmp_path):
    """A lesson's limits stand in place of the course's; lessons judged together have the largest of each."""
    said = 'kind = "capstone"\n[limits]\ncall_seconds = 40\nmemory_mb = 64\n[hints]'
    capstone = front("spread", '"mean"').replace("[hints]", said)
    course = load(make_course(tmp_path, {"lessons/more/spread.md": capstone}))
    mean, spread = course.lessons["mean"], course.lessons["spread"]

    assert (mean.kind, spread.kind) == ("exercise", "capstone")
    assert course.limits_for(mean) == course.limits_for() == course.limits
    assert course.limits_for(spread) == Limits(call_seconds=40.0, memory_mb=64)
    assert course.limits_for(mean, spread) == Limits(call_seconds=40.0, memory_mb=512)
    assert [lesson.name for lesson in choose_lessons(course, None, required=True)] == ["mean", "mean_square"]
    assert choose_lessons(course, "spread", required=True) == [spread]


def test_a_lesson_has_its_front_matter_and_its_files(course, tmp_path):
    """A lesson knows what its front matter says and where its five files lie."""
    lesson = course.lessons["mean_square"]

    assert (lesson.title, lesson.minutes, lesson.track) == ("Mean square", 5, "core")
    assert (lesson.needs, lesson.forbids, lesson.concepts) == (("mean",), ("mean",), ("averages",))
    assert lesson.hints == {"mean_square": ("the idea", "the step")}
    assert lesson.exercise_path == tmp_path / "exercises/core/mean_square.py"
    assert lesson.checks_path == tmp_path / "solutions/core/test_mean_square.py"
    assert lesson.mistakes_path == tmp_path / "solutions/core/mean_square_mistakes.py"


def test_functions_are_read_without_running_the_stub(course):
    """A stub gives its public functions with parameters, statement and line, and none of its code runs."""
    (function,) = course.lessons["mean"].functions

    assert (function.name, function.kind, function.line) == ("mean", "function", 6)
    assert function.signature == "(x, axis=-1, *, keep=False)"
    assert function.statement == "The mean of x.\n\nx: shape (T,)."


def test_a_class_has_the_parameters_of_its_constructor(tmp_path):
    """A class's signature is that of __init__ without self; private names are not to be written."""
    file = tmp_path / "stub.py"
    file.write_text(
        'import sys\nsys.exit("ran")\n\ndef _given(): pass\n\nclass Block(list):\n    """A block."""\n\n'
        "    def __init__(self, size, /, deep: bool = True, **rest):\n        pass\n\nclass Plain:\n    pass\n"
    )

    block, plain = read_functions(file)

    assert (block.kind, block.signature, block.statement) == ("class", "(size, /, deep: bool=True, **rest)", "A block.")
    assert (plain.signature, plain.statement) == ("()", "")


def test_the_text_of_a_lesson_is_without_front_matter(course):
    """What the learner reads begins at the heading."""
    assert read_parts(course.lessons["mean"]) == [("", "", "# Mean\n\nThe text.\n")]


def test_a_course_written_on_windows_reads_the_same(tmp_path, course):
    """Line ends of two characters and a byte order mark change nothing."""
    for file in tmp_path.rglob("*.*"):
        if file.is_file():
            file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))

    again = load(tmp_path)

    assert again == course
    assert read_parts(again.lessons["mean"]) == [("", "", "# Mean\n\nThe text.\n")]


HIDDEN = "<details>\n<summary>What it is</summary>\n\n42\n\n</details>\n"


def test_a_text_is_cut_before_each_hidden_answer(tmp_path):
    """The first part ends with a question; each further one has the answer, and goes on to the next question."""
    text = front("mean") + f"Guess!\n\n{HIDDEN}\nMore. Guess!\n\n{HIDDEN}\nThe end.\n"
    course = load(make_course(tmp_path, {"lessons/core/mean.md": text}))

    first, *others = read_parts(course.lessons["mean"])

    assert first == ("", "", "# Mean\n\nThe text.\nGuess!\n\n")
    assert others == [("What it is", "42\n\n", "\n\nMore. Guess!\n\n"), ("What it is", "42\n\n", "\n\nThe end.\n")]


@pytest.mark.parametrize(
    "line, text",
    [
        (1, HIDDEN.replace("</details>\n", "")),
        (2, "\n" + HIDDEN.replace("<summary>What it is</summary>\n", "")),
        (1, HIDDEN.replace("summary>\n\n", "summary>\n")),
        (7, HIDDEN + "</details>\n"),
        (1, HIDDEN.replace("42", HIDDEN)),
    ],
)
def test_an_answer_that_is_half_hidden_is_told_with_its_line(tmp_path, line, text):
    """A hidden answer without an end, a name or its empty line, or within another, is a fault of the course."""
    before = front("mean")
    course = load(make_course(tmp_path, {"lessons/core/mean.md": before + text}))

    with pytest.raises(CourseError, match="a hidden answer is") as caught:
        read_parts(course.lessons["mean"])

    assert caught.value.where.endswith(f"mean.md:{before.count(chr(10)) + line}")


def test_the_course_that_comes_along_can_be_read():
    """Our own syllabus is valid, whatever lessons are there."""
    syllabus = sys.modules["grader.course.syllabus"]
    course, places = syllabus.read_syllabus(ROOT / "course.toml")

    assert course.id == "transformers-from-scratch"
    assert "attention" in places


SYLLABUS_FAULTS = [
    ("format = 1", "format = 2", "upgrade", 1),
    ("format = 1", "format = true", "whole number", 1),
    ("format = 1", "", '"format" is missing', 0),
    ('id = "small"', "id = 7", "text in quotes", 2),
    ('id = "small"', 'id = "../small"', "small letters", 2),
    ('title = "A small course"', 'titel = "A small course"', '"titel" is not a key', 3),
    ('version = "1.0"', 'version = "', "not valid TOML", 4),
    ('arrays = "numpy"', 'arrays = "jax"', "torch, numpy", 5),
    ('    "mean_square",', '    "mean",', 'holds "mean" twice', 12),
    ('    "mean_square",', "    7,", "list of texts", 10),
    ('    "mean_square",', '    "Mean Square",', "no name for a file", 12),
    ('    "mean_square",', '    "random",', "module of Python", 12),
    ('    "mean_square",', '    "median",', "lessons/core/median.md is missing", 12),
    ('lessons = ["spread"]', 'lessons = ["mean"]', "in two tracks", 18),
    ('name = "more"', 'name = "core"', 'two tracks "core"', 16),
    ('title = "Further steps"', 'colour = "blue"', '"colour" is not a key of [tracks]', 17),
    ('title = "Further steps"', 'title = "More"\noptional = 1', '"optional" must be true or false', 18),
    ('title = "Further steps"', "", '"title" is missing in [tracks]', 15),
    ("call_seconds = 2.5", "call_seconds = -1", "above zero", 21),
    ("call_seconds = 2.5", "call_seconds = nan", "above zero", 21),
    ("call_seconds = 2.5", "call_second = 2.5", '"call_second" is not a key of [limits]', 21),
    ("memory_mb = 512", "memory_mb = 512.5", "whole number", 22),
    ("[limits]", "[limit]", '"limit" is not a key', 20),
    ("memory_mb = 512", "memory_mb = [", "not valid TOML", 23),
]


@pytest.mark.parametrize(("old", "new", "says", "line"), SYLLABUS_FAULTS)
def test_a_fault_of_the_syllabus_is_named_with_its_line(tmp_path, old, new, says, line):
    """Every fault of course.toml names the file, the line and the thing that is wrong."""
    assert SYLLABUS.count(old) == 1

    error = broken(tmp_path, {"course.toml": SYLLABUS.replace(old, new)})

    assert says in str(error)
    assert error.where == str(tmp_path / "course.toml") + (f":{line}" if line else "")


FRONT_FAULTS = [
    ("+++\ntitle", "title", "must begin with", 1),
    ("\n+++\n", "\n", "no closing +++", 1),
    ("minutes = 5", "", '"minutes" is missing', 0),
    ("minutes = 5", 'minutes = "5"', "whole number", 3),
    ("minutes = 5", "minutes 5", "not valid TOML", 3),
    ('needs = ["mean"]', 'needs = ["medain"]', "no lesson of this course", 4),
    ('needs = ["mean"]', 'needs = ["mean_square"]', "circle: mean_square needs mean_square", 4),
    ('concepts = ["averages"]', 'concept = ["averages"]', '"concept" is not a key', 5),
    ('forbids = ["mean"]', 'forbids = "mean"', "list of texts", 6),
    ("minutes = 5", 'minutes = 5\nkind = "exam"', '"kind" must be one of exercise, lab, capstone', 4),
    ("[hints]", "[limits]\ncall_secs = 9\n[hints]", 'did you mean "call_seconds"?', 10),
    ("aliases = []", 'aliases = ["mean"]', "already a lesson's name", 7),
    ("aliases = []", 'aliases = ["Old Name"]', "no name for a file", 7),
    ('mean_square = ["the idea"', 'mean_sq = ["the idea"', '"mean_sq" is not a key of [hints]', 10),
]


@pytest.mark.parametrize(("old", "new", "says", "line"), FRONT_FAULTS)
def test_a_fault_of_the_front_matter_is_named_with_its_line(tmp_path, old, new, says, line):
    """Lines count from the top of the Markdown file, not of the TOML inside it."""
    text = front("mean_square", '"mean"')
    assert old in text

    error = broken(tmp_path, {"lessons/core/mean_square.md": text.replace(old, new, 1)})

    assert says in str(error)
    assert error.where == str(tmp_path / "lessons/core/mean_square.md") + (f":{line}" if line else "")


def test_lessons_that_need_each_other_are_refused(tmp_path):
    """A circle of needs over several lessons is shown in full."""
    error = broken(tmp_path, {"lessons/core/mean.md": front("mean", '"spread"')})

    assert "mean needs spread needs mean" in error.what


def test_two_lessons_cannot_have_had_the_same_name(tmp_path):
    """An alias belongs to one lesson."""
    old = {f"lessons/core/{name}.md": front(name, aliases='"average"') for name in ("mean", "mean_square")}

    assert 'already an alias of "mean"' in broken(tmp_path, old).what


@pytest.mark.parametrize("file", ["lessons/core/mean_square.md", "exercises/core/mean_square.py"])
def test_a_missing_file_is_named(tmp_path, file):
    """A lesson of the syllabus without its text or its stub names that file, and its line in the syllabus."""
    error = broken(tmp_path, {file: None})

    assert file in error.what
    assert error.where.endswith("course.toml:12")


@pytest.mark.parametrize(
    ("stub", "says", "line"),
    [("def mean(x:\n", "not valid Python", 1), ("x = 1\n", "no function or class", 0), ("(" * 999, "Python", 1)],
)
def test_a_stub_that_is_no_stub_is_refused(tmp_path, stub, says, line):
    """A stub with a syntax error or with nothing to write names its file."""
    error = broken(tmp_path, {"exercises/core/mean.py": stub})

    assert says in error.what
    assert error.where == str(tmp_path / "exercises/core/mean.py") + (f":{line}" if line else "")


def test_a_file_that_is_not_utf8_is_refused(tmp_path):
    """A course file in another encoding names the line of the first byte that is not UTF-8."""
    make_course(tmp_path)
    (tmp_path / "lessons/core/mean.md").write_bytes(b"+++\ntitle = 'caf\xe9'\n+++\n")
    with pytest.raises(CourseError, match="UTF-8") as caught:
        load(tmp_path)

    assert caught.value.where.endswith("mean.md:2")


def test_a_stub_may_hold_what_the_compiler_warns_of(tmp_path, capfd):
    """Reading a stub prints none of the compiler's warnings."""
    make_course(tmp_path, {"exercises/core/mean.py": STUB.format(function="mean") + "\nPATTERN = '\\d'\n"})
    load(tmp_path)

    assert capfd.readouterr() == ("", "")


# ---- find_lesson ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("mean", "mean"),
        ("mean-square", "mean_square"),
        (" Mean_Square ", "mean_square"),
        ("mean_", "mean_square"),
        ("SP", "spread"),
        ("core/mean_square.py", "mean_square"),
        ("more\\spread.py", "spread"),
        ("1", "mean"),
        ("03", "spread"),
    ],
)
def test_a_lesson_is_found_by_what_people_type(course, typed, name):
    """Hyphens, capitals, the beginning of a name, the file's name and the number all mean the lesson."""
    assert find_lesson(course, typed).name == name


def test_a_former_name_still_means_the_lesson(tmp_path):
    """An alias finds its lesson, whole or by its beginning."""
    course = load(make_course(tmp_path, {"lessons/more/spread.md": front("spread", aliases='"variance"')}))

    assert find_lesson(course, "variance").name == "spread"
    assert find_lesson(course, "var").name == "spread"
    assert aliases(course) == {"variance": "spread"}


def test_a_former_name_makes_no_name_of_today_ambiguous(tmp_path):
    """Its beginning counts where no lesson is called so now; where it leaves two, it is told beside each."""
    course = load(
        make_course(
            tmp_path,
            {
                "lessons/core/mean_square.md": front("mean_square", aliases='"square"'),
                "lessons/more/spread.md": front("spread", aliases='"mend", "squeeze"'),
            },
        )
    )
    assert find_lesson(course, "s").name == "spread"
    for typed, says in [
        ("me", '"me" could be "mean" or "mean_square"'),
        ("sq", '"sq" could be "mean_square" (once "square") or "spread" (once "squeeze")'),
    ]:
        with pytest.raises(UnknownLesson) as caught:
            find_lesson(course, typed)
        assert caught.value.what == says


def test_a_function_means_its_lesson_where_one_lesson_alone_has_it():
    """`split_heads` is of multi_head, `fit` of several; what is typed in place of a lesson asks for its function."""
    course = load(ROOT)
    assert find_lesson(course, "split_heads").name == find_lesson(course, "Merge-Heads").name == "multi_head"
    with pytest.raises(UnknownLesson):
        find_lesson(course, "fit")
    assert find_function(course.lessons["language_batches"], "get-batch") == "get_batch"
    assert find_function(course.lessons["layer_norm"], "layer_norm") is None


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("me", '"me" could be "mean" or "mean_square"'),
        ("spraed", 'did you mean "spread"?'),
        ("mean_sqare", 'did you mean "mean_square"?'),
        ("0", 'there is no lesson "0": the lessons are 1 to 3'),
        ("4" * 5000, "the lessons are 1 to 3"),
        ("zebra", 'there is no lesson "zebra"'),
        ("Core", '"Core" is a track: its lessons are mean, mean_square'),
        ("", 'there is no lesson ""'),
    ],
)
def test_an_unknown_lesson_comes_with_a_guess(course, typed, says):
    """A name that no lesson has gets the nearest names, and the command that lists them all."""
    with pytest.raises(UnknownLesson) as caught:
        find_lesson(course, typed)

    assert caught.value.what.endswith(says)
    assert caught.value.next_step == "learn list"


def test_a_path_that_is_no_lesson_comes_without_a_far_guess(course):
    """Its last part is no slip of the hand; a near name in a path is guessed all the same."""
    for typed, says, step in (
        ("/tmp/speed", 'there is no lesson "/tmp/speed"', "learn check LESSON --file FILE"),
        ("core/spraed.py", 'did you mean "spread"?', "learn list"),
    ):
        with pytest.raises(UnknownLesson) as caught:
            find_lesson(course, typed)

        assert caught.value.what.endswith(says) and caught.value.next_step == step


NAMES = ("mean", "mean_square", "spread")


@given(
    st.text(max_size=12) | st.sampled_from(NAMES).flatmap(lambda name: st.sampled_from([name[:n] for n in range(9)]))
)
def test_whatever_is_typed_gives_a_lesson_or_a_plain_answer(shared_course, typed):
    """Any text at all finds a lesson or raises UnknownLesson."""
    try:
        assert find_lesson(shared_course, typed).name in NAMES
    except UnknownLesson as error:
        assert typed in error.what


@pytest.fixture(scope="module")
def shared_course(tmp_path_factory):
    return load(make_course(tmp_path_factory.mktemp("course")))


# ---- the start-up path ----------------------------------------------------------------------------------------------


def test_a_course_may_be_named_from_a_folder_beside_it(tmp_path):
    """Its files are then named as everybody else names them."""
    make_course(tmp_path / "course")
    (tmp_path / "beside").mkdir()

    assert load(tmp_path / "beside" / ".." / "course").root == tmp_path / "course"


def test_reading_a_course_loads_nothing_heavy(tmp_path):
    """Loading a course imports neither torch nor numpy, pytest, click, rich or sqlite3."""
    make_course(tmp_path)
    program = (
        "import sys, pathlib; from grader.course import load; load(pathlib.Path(sys.argv[1])); import grader.workspace;"
        "print({'torch', 'numpy', 'pytest', 'click', 'rich', 'sqlite3', 'difflib', 'json'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=30,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )

    assert (done.stdout, done.stderr) == ("set()\n", "")
