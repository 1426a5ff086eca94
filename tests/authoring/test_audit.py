"""grader.authoring.audit: it finds a course without fault clean, and finds every fault that is put into one."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support.command_server import run_command
from support.factories import course, run_judge
from support.hand_ins import TINY
from support.learn_command import environment
from support.process_tree import all_end, descendants

from grader.authoring.audit.forms import find_uneven, form_table
from grader.authoring.audit.lesson_audit import LessonAudit
from grader.authoring.audit.reached import ReachedSteps, not_asking
from grader.authoring.lesson_template import add_to_syllabus, write_lesson
from grader.cli.grader.audit import conclusion, head, lesson_column, matrix_table, row
from grader.course import load
from grader.course.step_marks import read_marks, strip_marks
from grader.course.tables import TomlText
from grader.errors import CourseError, UsageError
from grader.judge.checks.lesson_checks import LessonChecks
from grader.judge.course_answers import load_mistake_sets
from grader.judge.course_files import load_file
from grader.judge.examination import Judge
from grader.judge.mistakes.mistake_set import Alternative, Mistake
from grader.judge.processes.remote_module import LocalModule
from grader.quiz.bank.lint import audit_bank
from grader.terminal.text import Signs

SECONDS = 120
WRONG_FORMS = ("another dtype", "an axis more", "(output, weights)", "a list")


@pytest.fixture
def copy(tmp_path):
    return shutil.copytree(TINY, tmp_path / "course")


def audited(
    root: Path, *lessons: str, seeds: int = 2, matrix: bool = False, jobs: int = 1
) -> tuple[int, dict[str, dict]]:
    """The exit status and each lesson's object of `grader audit --json`, in a process of its own."""
    options = ["--json", "--jobs", str(jobs), "--seeds", str(seeds), *(["--matrix"] if matrix else [])]
    options += ["--lessons", ",".join(lessons)] if lessons else []
    done = run_command("grader", "audit", root, *options, cwd=Path.cwd(), env=environment(root))
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)["lessons"]


def change(path: Path, old: str, new: str) -> None:
    """Replace a piece of a file that is there exactly as written."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_course_without_fault_is_clean():
    """The tiny course proves everything: all mistakes rejected and named, all alternatives passed."""
    code, lessons = audited(TINY)

    assert code == 0
    assert lessons["moving_average"] == {"checks": 10, "rejected": [8, 8], "named": [8, 8], "alternatives": [3, 3],
                                         "forms": {form: {"moving_average": 8.5} for form in WRONG_FORMS},
                                         "problems": []}  # fmt: skip
    assert lessons["argmax_2d"]["rejected"] == lessons["argmax_2d"]["named"] == [10, 10]


@pytest.mark.slow
def test_lessons_audited_at_the_same_time_have_the_same_audits(copy):
    """Two processes find of each lesson what one finds, faults too, in the course's order."""
    (copy / "solutions/basics/argmax_2d_mistakes.py").write_text("MISTAKE_SETS = []\n")
    assert audited(copy, matrix=True, jobs=2) == audited(copy, matrix=True)


def test_ctrl_c_ends_every_process_of_an_audit(copy):
    """An audit in two processes that is interrupted ends with one sentence and leaves none of them behind."""
    start = "from grader.cli.grader.group import main; main()"
    command = [sys.executable, "-c", start, "audit", str(copy), "--jobs", "2", "--seeds", "1000"]
    audit = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline, started = time.monotonic() + SECONDS, {}
    while len(started) < 4 and time.monotonic() < deadline:  # two judges, and what starts the workers of each
        time.sleep(0.05)
        started = descendants(audit.pid)
    audit.send_signal(signal.SIGINT)
    _, errors = audit.communicate(timeout=SECONDS)
    assert audit.returncode == 130 and "Traceback" not in errors
    assert all_end(started)


def test_the_engine_needs_no_torch_for_a_course_of_numpy():
    """Neither the judge nor the worker imports torch for a course that does not use it."""
    script = f"""
import sys
from pathlib import Path
from grader.course import load
from grader.judge.session import judge_with
from grader.model import Submission

course = load(Path({str(TINY)!r}))
lesson = course.lessons["moving_average"]
source = lesson.solution_path.read_text() + "\\nimport sys\\nassert 'torch' not in sys.modules\\n"
source += "_right = moving_average\\ndef moving_average(x, window):\\n"
source += "    assert 'torch' not in sys.modules\\n    return _right(x, window)\\n"
submission = Submission(lesson.name, "a.py", source)
judge_with(course, [lesson], lambda judge: print(judge.examine(lesson, submission, 3).score))
print("torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=SECONDS)

    assert done.stdout.split() == ["10.0", "False"], done.stderr


def test_every_fault_in_a_lesson_is_found(copy):
    """Faults in texts, signatures, checks, mistakes and alternatives each have their sentence."""
    basics = copy / "solutions" / "basics"
    change(copy / "exercises/basics/moving_average.py", "moving_average(x, window):", "moving_average(x, window=2):")
    change(copy / "lessons/basics/moving_average.md", '    "Entry i is the mean of x[i : i + window].",\n', "")
    change(basics / "moving_average_mistakes.py", "[x[: start + window]", "[x[start : start + window]")
    change(basics / "moving_average_mistakes.py", "/ window).astype(x.dtype)\n\n\ndef by_shifted",
           "/ (window + 1)).astype(x.dtype)\n\n\ndef by_shifted")  # fmt: skip
    change(basics / "argmax_2d.py", "grid.shape[1]", "grid.shape[0]")
    (basics / "argmax_2d_mistakes.py").unlink()
    code, lessons = audited(copy)

    assert code == 1
    said = "\n".join(lessons["moving_average"]["problems"])
    assert "the stub says (x, window=2), the reference (x, window)" in said
    assert "2 hints" in said
    assert "ma-from-the-start passes every check" in said
    assert "ma-from-the-start is named nothing" in said
    assert "its margin is 0.0 tolerances" in said
    assert "alternative “differences of a running total” is rejected" in said
    assert lessons["moving_average"]["alternatives"] == [2, 3]
    said = "\n".join(lessons["argmax_2d"]["problems"])
    assert "solutions/basics/argmax_2d_mistakes.py: This file is missing." in said
    assert (
        "test_argmax_2d.py:46: The reference does not pass on seed 2017: every_corner[0-4] failed: It returned" in said
    )
    assert "no family of known mistakes" in said


@pytest.mark.parametrize("end", ["FAMILIES = [argmax_2d]", "MISTAKE_SETS = argmax_2d", "MISTAKE_SETS = [print]"])
def test_a_file_of_mistakes_without_their_list_is_a_fault_of_the_course(copy, end):
    """A missing or odd MISTAKE_SETS names the file and what to write; the grader is not to blame."""
    change(copy / "solutions/basics/argmax_2d_mistakes.py", "MISTAKE_SETS = [argmax_2d]", end)
    course = load(copy)

    with pytest.raises(CourseError, match="has no list MISTAKE_SETS") as caught:
        load_mistake_sets(course.lessons["argmax_2d"])
    assert "MISTAKE_SETS = [" in caught.value.next_step


def test_checks_that_cannot_be_used_are_a_problem_of_their_lesson(copy):
    """A file of checks with an error in it does not keep the other lessons from being audited."""
    checks = copy / "solutions/basics/test_moving_average.py"
    checks.write_text("import nothing_of_that_name\n" + checks.read_text())
    code, lessons = audited(copy)

    assert code == 1
    (said,) = lessons["moving_average"]["problems"]
    assert said.startswith("solutions/basics/test_moving_average.py:1: ") and "nothing_of_that_name" in said
    assert lessons["argmax_2d"]["problems"] == []


def line_of(path: Path, text: str) -> int:
    """The number of the first line that holds a text."""
    return next(number for number, line in enumerate(path.read_text().splitlines(), 1) if text in line)


def problems_with(copy: Path, path: str, old: str, new: str, lesson: str = "moving_average", **options) -> list[str]:
    """What the audit finds wrong once a piece of one of the course's files is another."""
    change(copy / path, old, new)
    code, lessons = audited(copy, lesson, **options)
    assert code == 1
    return lessons[lesson]["problems"]


CHECKS = "solutions/basics/test_moving_average.py"
MISTAKES = "solutions/basics/moving_average_mistakes.py"
REPEATABLE = "    assert_repeatable(submission.moving_average, rand(9), 4)\n"


def test_a_check_that_crashes_on_the_reference_is_told_with_its_line(copy):
    """The grader's own error costs no points; a reference must pass every check all the same."""
    said = problems_with(copy, CHECKS, REPEATABLE, REPEATABLE + "    rand(9).no_such_thing()\n")

    assert len(said) == 1, said
    line = line_of(copy / CHECKS, "no_such_thing")
    assert said[0].startswith(f"{CHECKS}:{line}: The reference does not pass on seed 2017: repeatable grader-error: ")
    assert "no_such_thing" in said[0]


def test_a_check_that_fails_an_alternative_is_told_with_both_lines(copy):
    """A right answer that is rejected is told with its own line and the check's."""
    new = "version=lambda x, window: by_shifted_copies(x, window) if len(x) != 8 else 1 / 0"
    said = problems_with(copy, MISTAKES, "version=by_shifted_copies", new)

    line, check = line_of(copy / MISTAKES, "len(x) != 8"), line_of(copy / CHECKS, "atol=1e-3")
    assert said == [f"{MISTAKES}:{line}: moving_average, alternative “shifted copies added” is rejected on seed 2017: "
                    f"a_level_far_from_zero raised (test_moving_average.py:{check}): "
                    "ZeroDivisionError: division by zero"]  # fmt: skip


def test_a_picture_that_shows_the_reference_as_wrong_is_refused(copy):
    """What a picture asks must have one answer."""
    pictures = "solutions/basics/moving_average_pictures.py"
    said = problems_with(
        copy, pictures, "subject.moving_average(step, w)", "subject.moving_average(step, w) + id(subject)"
    )
    assert any("the picture `smoothed` of moving_average.py says: 16 of 16 values differ." in each for each in said)


def test_a_check_that_nothing_fails_is_refused(copy):
    """Cases of one test count together; a check that is skipped has failed nothing."""
    idle = '''

@pytest.mark.check(skill="values", points=1, needs="test_shape")
@pytest.mark.parametrize("size", [4, 5])
def test_idle(submission, reference, rand, size):
    """Asserts nothing."""
    submission.moving_average(rand(size), 1)
'''
    said = problems_with(copy, CHECKS, REPEATABLE, REPEATABLE + idle)

    line = line_of(copy / CHECKS, "def test_idle") - 2
    assert said == [f"{CHECKS}:{line}: test_idle fails neither the stub nor any known mistake: add the one that it is "
                    "there for."]  # fmt: skip


@pytest.mark.parametrize("need", ["test_shapes", "test_dtype"])
def test_a_needed_check_must_stand_before(copy, need):
    """`needs` of a name that there is not, or of a later check, had no effect."""
    old = 'points=1, needs="test_shape")\ndef test_a_level'
    said = problems_with(copy, CHECKS, old, old.replace("test_shape", need))

    assert said == [
        f"{CHECKS}:36: no check before test_a_level_far_from_zero is called {need}: `needs` is to name one."
    ]


def test_a_parametrized_check_is_needed_in_all_its_cases(copy):
    """A check that needs one is not run where one of its cases fails."""
    old = 'points=1, needs="test_shape")\ndef test_a_level'
    change(copy / CHECKS, old, old.replace("test_shape", "test_any_window"))
    right = (copy / "solutions/basics/moving_average.py").read_text()
    (copy.parent / "mine.py").write_text(right + "\n_right = moving_average\n\n\ndef moving_average(x, window):\n"
                                         "    return _right(x, window) + (window == 2 and len(x) == 7)\n")  # fmt: skip
    options = ("--file", copy.parent / "mine.py", "--json", "--course", copy)
    done = run_command("learn", "check", "moving_average", *options, cwd=copy, env=environment(copy))

    outcomes = {each["id"].partition(".")[2]: each["outcome"] for each in json.loads(done.stdout)["checks"]}
    assert outcomes["any_window[7]"] == "passed" and outcomes["any_window[2]"] == "failed"
    assert outcomes["a_level_far_from_zero"] == "skipped"
    assert audited(copy, "moving_average")[0] == 0


def test_an_example_must_be_what_the_reference_gives(copy):
    """Every `>>>` of a stub is run on the reference."""
    path = "exercises/basics/moving_average.py"
    text = (copy / path).read_text()
    example = next(line for line in text.splitlines() if ">>> " in line)
    line = text.splitlines().index(example) + 1
    said = problems_with(copy, path, example, f"{example.partition('>>>')[0]}>>> 1 + 1\n    3\n{example}")

    assert said == [f"{path}:{line}: The example `1 + 1` says 3; the reference gives 2."]


def test_a_lesson_that_cannot_be_read_keeps_no_other_from_its_audit(copy):
    """An unknown key in front matter is told with its line, and the other lesson is proved."""
    change(copy / "lessons/basics/argmax_2d.md", "+++\ntitle", "+++\nforbid = []\ntitle")
    code, lessons = audited(copy)

    assert code == 1 and lessons["moving_average"]["problems"] == []
    (said,) = lessons["argmax_2d"]["problems"]
    assert said.startswith('lessons/basics/argmax_2d.md:2: "forbid" is not a key')
    assert list(audited(copy, "moving_average")[1]) == ["moving_average"]


def test_an_answer_that_is_half_hidden_is_a_problem_of_its_lesson(copy):
    """The audit tells the line where an answer is hidden and not shown again."""
    path = "lessons/basics/argmax_2d.md"
    change(copy / path, "`argmax` of a grid", "<details>\n`argmax` of a grid")
    code, lessons = audited(copy, "argmax_2d")

    assert code == 1 and list(lessons) == ["argmax_2d"]
    line = line_of(copy / path, "<details>")
    assert lessons["argmax_2d"]["problems"][0].startswith(f"{path}:{line}: a hidden answer")


def test_a_trap_must_name_a_known_mistake(copy):
    """An id in a text's [traps] that no mistake has is told with its line: nothing would ever unfold that trap."""
    path = "lessons/basics/argmax_2d.md"
    traps = '[traps]\n"Rows" = ["argmax-flat"]\n"Columns" = [\n    "argmax-flatt",\n]\n'
    first = load_mistake_sets(load(copy).lessons["argmax_2d"])[0].mistakes[0].id
    change(copy / path, "[hints]", traps.replace('argmax-flat"', f'{first}"') + "[hints]")
    _, lessons = audited(copy, "argmax_2d")

    line = line_of(copy / path, "argmax-flatt")
    what = '"Columns" in [traps] names "argmax-flatt", which is no known mistake of this lesson.'
    assert lessons["argmax_2d"]["problems"] == [f"{path}:{line}: {what}"]


def test_questions_that_cannot_be_read_are_told_all_at_once(copy):
    """Each fault of a quiz is told with its line, by the audit of its lesson too, and by that of no other one."""
    path = copy / "lessons/basics/argmax_2d.quiz.toml"
    path.write_text(
        'lesson = "argmax_2d"\n[[misconceptions]]\nid = "a"\nsays = "b"\nsuggests = "c"\n\n'
        '[[families]]\nid = "argmax_2d.a"\nkind = "choices"\n\n[[families]]\nid = "argmax_2d.b"\nkind = "choice"\n'
    )
    (copy / "lessons/basics/on_the_average.quiz.toml").write_text('lesson = "moving_average"\n[')
    places = [each.partition(" ")[0] for each in audit_bank(copy / "lessons", on=["argmax_2d"]).problems]
    (other,) = audit_bank(copy / "lessons", on=["moving_average"]).problems

    at = "lessons/basics/argmax_2d.quiz.toml:"
    assert places == [at, f"{at}2:", f"{at}9:", f"{at}11:"]
    assert other.startswith("lessons/basics/on_the_average.quiz.toml:2: this is not valid TOML")
    assert len(audit_bank(copy / "lessons").problems) == 5
    done = run_command("grader", "audit", copy, "--lessons", "argmax_2d", cwd=copy, env=environment(copy))
    assert done.returncode == 1 and "The questions cannot be read: 4 problems." in done.stdout


@pytest.mark.parametrize("name", ["char_tokenizer", "residual"])
def test_a_check_that_runs_no_changed_line_would_pass(launcher, name):
    """So an audit need not run it; and a check that never asks for a function runs none of its lines."""
    lesson = course().lessons[name]

    def prove(judge: Judge) -> int:
        checks, left_out = LessonChecks(judge.runner, judge.answers, lesson, 3), 0
        base = dict(vars(load_file(lesson.solution_path)))
        for mistake_set in load_mistake_sets(lesson):
            reached = ReachedSteps(checks, base, mistake_set)
            versions: list[Mistake | Alternative] = [*mistake_set.mistakes, *mistake_set.alternatives]
            for each in versions:
                unreached = reached.unreached(each.changes, each.version)
                assert unreached >= not_asking(checks, mistake_set.function)
                made = {**base, mistake_set.function: mistake_set.build(each.changes, each.version)}
                for check in checks.checks:
                    if check.name in unreached:
                        left_out += 1
                        assert checks.run(check, LocalModule(made, lesson.kinds)) is None, (each, check.name)
        return left_out

    assert run_judge(launcher, name, prove) > 0


def test_a_mistake_must_be_rejected_on_every_seed(copy):
    """A mistake that shows with some inputs only passes for some learners."""
    row = 'mistake("ma-luck", "Now and then.", "Be right.", take_x="x if len(x) != 9 or x[0] > 0 else x + 1.0")\n'
    old = 'right("differences'
    said = problems_with(copy, MISTAKES, old, row + old, seeds=8)

    passed = next(each for each in said if "passes every check" in each)
    assert re.match(rf"{MISTAKES}:\d+: ma-luck passes every check on seed [\d, ]+ of 8", passed)


def test_an_alternative_must_pass_on_every_seed(copy):
    """One that is wrong with some inputs only is named, though others that change other lines are run with it."""
    row = 'right("now and then", take_x="x if int(1e4 * abs(x.sum())) % 19 else x + 1.0")\n'
    old = 'right("differences'
    said = problems_with(copy, MISTAKES, old, row + old, seeds=8)

    assert len(said) == 1
    assert re.match(rf"{MISTAKES}:\d+: .*alternative “now and then” is rejected on seed [2-8]", said[0]), said


@pytest.mark.parametrize("path, old, new", [
    ("solutions/basics/moving_average.py", "import numpy as np", "import numpy as np\nnp.no_such_thing"),
    ("solutions/basics/moving_average.py", "windows.mean(axis=1)", "windows mean"),
    (CHECKS, 'skill="shape", points=1', 'skill="shape", points="many"'),
    (CHECKS, 'skill="shape", points=1', 'skill="shapes", points=1'),
    (CHECKS, 'skill="shape", points=1', 'skill="shape", points=1, stage="{n}"'),
    (CHECKS, "    assert_shape(", "    assert_shape(("),
    (MISTAKES, "# fmt: off", "mistake('a', 'b', 'c', no_such_step='x')"),
    (MISTAKES, "# fmt: off", "mistake('a', 'b', 'c', cut='x[')"),
    (MISTAKES, "np.array([1.0, 2.0, 6.0]), 1", "np.array([1.0, 2.0, 6.0]), 9"),
    (MISTAKES, "# fmt: off", "moving_average.probe('a')(lambda subject, rand: rand.no_such_thing())"),
])  # fmt: skip
def test_an_authors_error_has_its_file_and_line(copy, path, old, new):
    """Whatever an author writes wrong is told where it stands, and is never our fault."""
    said = problems_with(copy, path, old, new)

    line = line_of(copy / path, new.splitlines()[-1])
    assert said[0].startswith(f"{path}:{line}: "), said


def test_the_matrix_says_which_checks_catch_which_mistake():
    """By function and mistake in the object; on the terminal in 80 columns, with a letter for a check."""
    _, lessons = audited(TINY, "moving_average", matrix=True)
    caught = lessons["moving_average"]["matrix"]["moving_average"]
    assert caught["ma-last-window-lost"] == ["shape"] and "dtype" in caught["ma-sum"]

    lines = matrix_table({"a" * 90: [f"check_{i}" for i in range(50)], "b": ["check_49"]})
    assert max(map(len, lines)) <= 80
    assert lines[0] == "  a  check_0" and lines[-1].startswith("  b ") and lines[-1].endswith("·X")


def test_the_table_says_how_many_of_how_many():
    """One line a lesson, with a sign that is no colour, and a sentence at the end."""

    class Table:
        lesson, checks, rejected, named, alternatives = "mean", 12, (3, 4), (2, 4), (5, 5)
        problems = ("am-x passes every check.", "am-y is named nothing.")

    table: Any = Table
    width = lesson_column(["mean", "spread"])
    assert row(table, width, Signs()).split() == ["✗", "mean", "12", "3/4", "2/4", "5/5"]
    assert len(head(width)) == len(row(table, width, Signs()))
    assert conclusion([table]) == "1 lesson: 2 problems."


def test_a_wrong_form_that_costs_more_in_one_lesson_than_in_another_is_refused():
    """The table has a column for each lesson; what is more than 2.0 apart is told of the lesson with less."""
    mean = LessonAudit("mean", forms={"another dtype": {"mean": 8.5}, "a list": {"mean": 8.5, "means": 7.0}})
    spread = LessonAudit("spread", forms={"another dtype": {"spread": 6.4}})

    assert [line.split() for line in form_table([mean, spread])] == [
        ["a", "fault", "of", "form", "mean", "spread"],
        ["another", "dtype", "8.5", "6.4"],
        ["a", "list", "7.0", "–"],
    ]
    [(audit, what)] = find_uneven([mean, spread])
    assert audit is spread and what == "“another dtype” scores 6.4 here and 8.5 in mean; 2 apart are allowed."
    assert form_table([LessonAudit("mean")]) == find_uneven([mean]) == []


# --- a new lesson -----------------------------------------------------------------------------------------------------


def test_the_audit_says_what_a_new_lesson_lacks(copy):
    """A lesson from the template works, and the audit lists what is still to be written."""
    written = write_lesson(copy, "running_max")
    code, lessons = audited(copy, "running_max")

    assert code == 1 and len(written) == 6
    assert lessons["running_max"]["problems"] == [
        *(f"lessons/basics/running_max.md:{number}: This line is the template's: “{text}”" for number, text in LEFT),
        "exercises/basics/running_max.py:10: This line is the template's: “State here what it computes: the formula, "
        "every argument's shape, what is returned.”",
        "solutions/basics/running_max.py:5: This line is the template's: “Say in one sentence what it gives back.”",
        "exercises/basics/running_max.py:9: running_max: the docstring of the stub is no complete statement.",
        "lessons/basics/running_max.md: running_max: 0 hints; a ladder has three or four.",
        "solutions/basics/test_running_max.py: running_max: 3 checks; at least 8 are needed.",
        "solutions/basics/running_max_mistakes.py: running_max: its family has no mistake yet; "
        "nothing is proved without.",
        "solutions/basics/running_max_mistakes.py: running_max: its family has no correct alternative yet; "
        "nothing is proved without.",
    ]


LEFT = (
    (13, "Say here why anybody needs this: what cannot be done without it."),
    (17, "Give the formula in a fenced block, then the shapes that go through it."),
    (21, "Compute one small example step by step, in numbers that fit on paper."),
    (25, "Describe what people really get wrong here, and what one sees when it happens."),
)


def test_a_new_lesson_overwrites_nothing(copy):
    """If one of its files is there, none is written, and the syllabus stays as it is."""
    (copy / "solutions/basics/test_running_max.py").write_text("mine")
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match="nothing was written"):
        write_lesson(copy, "running_max")

    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("linked", ["solutions", "lessons/core"])
def test_a_new_lesson_is_written_through_no_link(tmp_path, linked):
    """A folder of the course that is a link is refused by name, and nothing is left of the lesson."""
    course, mine = tmp_path / "course", tmp_path / "mine"
    mine.mkdir()
    (course / linked).parent.mkdir(parents=True)
    (course / linked).symlink_to(mine)
    with pytest.raises(UsageError, match=f"{Path(linked).name} is a link"):
        write_lesson(course, "running_max")

    assert not list(mine.iterdir())
    assert not [path for path in course.rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", ["Running", "2d", "a-b", "class", "random", "argmax_2d", "../up", ""])
def test_a_name_that_cannot_be_a_lessons_is_refused(copy, name):
    """Names that are no module, that Python has already or that the course has already are refused."""
    with pytest.raises(UsageError):
        write_lesson(copy, name)


SYLLABUS = (TINY / "course.toml").read_text()
OTHER = '\n[[tracks]]\nname = "more"\ntitle = "More"\nlessons = ["c"]  # [the last]\n'


@pytest.mark.parametrize("lessons", [
    '["a", "b"]', '["a", "b",]', "['a', 'b'] # both", '[\n    "a",\n    "b",\n]', '[\n  "a",\n  "b" # no comma ]\n]',
    '["a",\n "b"]', '[\n\t"a", # one, "x"\n\t"b", # two\n\t# the end\n]', '[ "a", # ]\n "b" ]',
])  # fmt: skip
def test_the_syllabus_keeps_its_layout(copy, lessons):
    """The new name is put last in its track's list, and every comment stays."""
    text = SYLLABUS.replace('["moving_average", "argmax_2d"]', lessons).replace("[limits]", f"{OTHER}\n[limits]")
    course = load(copy)
    changed = add_to_syllabus(TomlText(text, copy / "course.toml"), course, "new", "basics")

    assert [track["lessons"] for track in tomllib.loads(changed)["tracks"]] == [["a", "b", "new"], ["c"]]
    for comment in re.findall("#.*", text):
        assert comment in changed
    assert "\n".join(changed.splitlines()[:10]) == "\n".join(text.splitlines()[:10])


@pytest.mark.parametrize("text", ["[[tracks]]\nlessons = []\n", "[[tracks]]\nlessons = [\n    # none yet\n]\n"])
def test_an_empty_track_takes_a_lesson(copy, text):
    """A track may begin empty."""
    text = text.replace("[[tracks]]", '[[tracks]]\nname = "basics"')
    changed = add_to_syllabus(TomlText(text, copy / "course.toml"), load(copy), "new", "basics")

    assert tomllib.loads(changed)["tracks"][0]["lessons"] == ["new"]


def test_a_course_is_begun_where_there_is_none(tmp_path):
    """The first lesson makes the course; after a failure nothing is left of it."""
    with pytest.raises(UsageError, match="no name"):
        write_lesson(tmp_path / "My Course", "2d")
    assert not (tmp_path / "My Course/course.toml").exists()

    write_lesson(tmp_path / "My Course", "gate")
    course = load(tmp_path / "My Course")

    assert (course.id, list(course.lessons)) == ("my-course", ["gate"])


SOLUTION = '''\
import torch


def gate(x, w):
    """Multiply x by a gate."""
    logits = x @ w.T  # (B, D)
    return x * torch.sigmoid(logits)


class Scale(torch.nn.Module):
    """One number."""

    def __init__(self, size):
        super().__init__()
        self.w = torch.nn.Parameter(
            torch.zeros(size))

    def forward(self, x):
        """Scale x."""
        if x is None:
            return None  # step: nothing
        logits = x * self.w
        return logits


def _helper(x):
    return x
'''


def test_a_lesson_is_derived_from_a_solution(tmp_path):
    """The stub keeps imports, signatures and docstrings and no line of the answer; the reference's steps have names."""
    (tmp_path / "mine.py").write_text(SOLUTION)
    write_lesson(tmp_path / "course", "gate", solution=tmp_path / "mine.py")
    lesson = load(tmp_path / "course").lessons["gate"]
    stub, reference = lesson.exercise_path.read_text(), lesson.solution_path.read_text()

    assert [(f.name, f.kind, f.signature, f.statement) for f in lesson.functions] == [
        ("gate", "function", "(x, w)", "Multiply x by a gate."), ("Scale", "class", "(size)", "One number.")
    ]  # fmt: skip
    assert stub.count("NotImplementedError") == 3 and '"""Scale x."""' in stub
    assert not {"sigmoid", "Parameter", "_helper", "step:"} & set(re.findall(r"\w+:?", stub))
    names = ["logits", "give", "nothing", "logits_2", "give_3", "give_2"]
    assert [name for _, name in read_marks(reference)] == names
    assert strip_marks(reference) == strip_marks(SOLUTION)
    assert [each.function for each in load_mistake_sets(lesson)] == ["gate", "Scale"]


def test_a_first_check_leaves_defaults_alone(tmp_path):
    """What has a default, as eps, is no tensor: random numbers in its place would make a check of nonsense."""
    (tmp_path / "norm.py").write_text("def norm(x, weight, eps=1e-6):\n    return x * weight + eps\n")
    write_lesson(tmp_path / "course", "norm", solution=tmp_path / "norm.py")
    checks = load(tmp_path / "course").lessons["norm"].checks_path.read_text()
    assert "submission.norm(x, weight), reference.norm(x, weight)" in checks


@pytest.mark.parametrize("statement, drawn", [
    (">>> bias(torch.tensor([1.0, 2.0, 3.0]), 2)", "rand(3), 2"),
    (">>> bias(length=2, table=[[1.0, 2.0]])", "rand(3, 5), 2"),
    (">>> bias(torch.tensor([[1, 4], [0, 2]]), torch.arange(2))", "rand.integers(0, 5, 2, 2), rand(3, 5)"),
    (">>> bias(torch.tensor([[]]), torch.tensor([1 - 2]))", "rand(3, 5), rand(3, 5)"),
    ("length: an\n    int, at least 1.", "rand(3, 5), 3"),
    (">>> bias(x, 'a'", "rand(3, 5), rand(3, 5)"),
])  # fmt: skip
def test_a_first_check_gives_what_the_docstring_shows(tmp_path, statement, drawn):
    """A whole number stays one and numbers have the shape of the example, so that the reference can answer."""
    (tmp_path / "bias.py").write_text(
        f'def bias(table, length):\n    """Give.\n\n    {statement}\n    """\n    return 1\n'
    )
    write_lesson(tmp_path / "course", "bias", solution=tmp_path / "bias.py")
    assert f"    table, length = {drawn}\n" in load(tmp_path / "course").lessons["bias"].checks_path.read_text()


@pytest.mark.parametrize("text, said", [("def f(:\n", "invalid syntax"), ("x = 1\n", "no public function")])
def test_what_is_no_solution_is_said_with_its_file(tmp_path, text, said):
    """A file that is no Python, or has nothing to write in it, begins no lesson."""
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(CourseError, match=said) as caught:
        write_lesson(tmp_path / "course", "gate", solution=tmp_path / "mine.py")
    assert "mine.py" in caught.value.where and not (tmp_path / "course/course.toml").exists()


def test_a_syllabus_that_is_not_understood_is_left_alone(copy):
    """Where the list is written in a way that cannot be extended safely, nothing is written."""
    text = '[[tracks]]\nname = "basics"\nlessons = ["\\"]", "b"]\n'
    with pytest.raises(CourseError, match="not understood"):
        add_to_syllabus(TomlText(text, copy / "course.toml"), load(copy), "new", "basics")
