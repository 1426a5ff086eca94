"""What is told of hidden checks shows no input, whatever a submission does with the inputs that it is given."""

from __future__ import annotations

import ast
import itertools
import json
import math
import re
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.factories import ROOT, judge_source, run_judge
from support.hand_ins import TINY
from support.repeat import rarely

from grader.course.load_course import load
from grader.judge.errors import LearnerError
from grader.judge.values import redacted_explanation
from grader.judge.verdict.outcome_mistakes import ADVICE
from grader.model import CheckResult, Course, LessonResult, Limits, Named, Submission
from grader.record import Record
from grader.reports.formats.to_gradescope import to_gradescope
from grader.reports.formats.to_markdown import feedback_markdown
from grader.reports.pages.feedback_page import feedback_page
from grader.reports.redact_record import INSTEAD, _says, redact
from grader.worker.wire import ITEM_SIZES

# Inputs and answers that are found again wherever they turn up: 4153 may be an amount, a size, a line or a name.
CHECKS = '''
import numpy as np
import pytest

from grader.api.checks import assert_matches, assert_unchanged, fail

SERIES = np.array([4153.0, 2719.0, 8861.0, 6037.0])
MEANS = np.array([3436.0, 5790.0, 7449.0])


@pytest.mark.check(skill="values", points=2)
def test_values(submission):
    """Gives the mean of every window."""
    assert_matches(submission.moving_average(SERIES, 2), MEANS, hint=f"It should begin with {MEANS[0]}.")


@pytest.mark.check(skill="generality", points=1)
def test_other(submission):
    """Is right for whatever comes first."""
    answer = submission.moving_average(SERIES, 2)
    if answer[0] != MEANS[0]:
        fail(f"It begins with {answer[0]} in place of {MEANS[0]}.")


@pytest.mark.check(skill="values", points=1)
def test_fixed(submission):
    """Says one sentence."""
    if submission.moving_average(SERIES, 2) is not None:
        fail("The first window is not whole.")


@pytest.mark.check(skill="hygiene", points=1)
def test_unchanged(submission):
    """Leaves its input alone."""
    assert_unchanged(submission.moving_average.observe(SERIES, 2), SERIES)
'''
MARKS = ("4153", "2719", "8861", "6037", "3436", "5790", "7449")

HEAD = "import builtins, os, sys, warnings\nimport numpy as np\n\n\n"
CHANNELS = {
    "prints": "    print(x)\n    print(x, file=sys.stderr)\n    warnings.warn(str(x))\n    return x",
    "output written to the descriptor": "    os.write(1, str(x).encode())\n    return x",
    "text of an error": "    raise ValueError(x)",
    "several lines, made to look like a traceback": (
        "    raise ValueError(f'no\\n  moving_average.py:{int(x[0])} in f{int(x[1])}\\n  {int(x[0])}.py:1 in f')"
    ),
    "an error's class": "    raise type('E' + repr(x), (Exception,), {})(x)",
    "an error that calls itself ours": "    raise type('ValueError', (Exception,), {'__str__': lambda e: str(x)})",
    "a note on an error": "    e = ValueError('v')\n    e.add_note(str(x))\n    raise e",
    "a chain of errors": (
        "    try:\n        raise KeyError(str(x))\n    except KeyError as e:\n        raise ValueError from e"
    ),
    "an assertion": "    assert x is None, str(x)",
    "the line of an error": (
        "    exec(compile('\\n' * (int(x[0]) - 1) + 'raise ValueError', 'moving_average.py', 'exec'))"
    ),
    "the name of a function in a traceback": (
        "    exec(compile(f'def f{int(x[0])}(): raise ValueError\\nf{int(x[0])}()', 'moving_average.py', 'exec'))"
    ),
    "a syntax error": "    raise SyntaxError(str(x), ('moving_average.py', int(x[0]), 1, str(x)))",
    "a syntax error made": "    exec(f'{int(x[0])} {int(x[1])} ((')",
    "a call that is said to be forbidden": (
        "    raise next(e for e in BaseException.__subclasses__() if e.__name__ == 'ForbiddenCall')(str(x))"
    ),
    "a memory error": "    raise MemoryError(str(x))",
    "a returned text": "    return str(x)",
    "a returned number": "    return float(x[0])",
    "a returned list": "    return [float(v) for v in x]",
    "a returned dict": "    return {str(v): str(v) for v in x}",
    "the type of what is returned": "    return type('T' + str(int(x[0])), (), {})()",
    "a returned shape": "    return np.zeros((int(x[0]), 1))",
    "a returned length": "    return [0.0] * int(x[0])",
    "a returned dtype": "    return np.array(['a' * int(x[0])])",
    "named fields": "    return np.zeros(3, dtype=[(f'f{int(x[0])}', 'f8')])",
    "a constant factor": "    return np.array([3436.0, 5790.0, 7449.0]) * x[0]",
    "wrong values": "    return x[1:]",
    "values among NaN": "    return np.array([x[0], np.nan, np.nan])",
    "a changed argument": "    y = x.copy()\n    x[:] = y[::-1]\n    return y[1:]",
    "an exit status": "    os._exit(int(x[0]) % 256)",
    "a raised exit": "    raise SystemExit(str(x))",
    "a signal": "    os.kill(os.getpid(), 9)",
}


def tiny_with(checks: str, root: Path) -> Course:
    """Make the tiny course with these checks; it forbids nothing, so that `exec` runs."""
    shutil.copytree(TINY, root)
    (root / "solutions/basics/test_moving_average.py").write_text(checks)
    lesson = root / "lessons/basics/moving_average.md"
    lesson.write_text(re.sub(r"forbids = .*", "forbids = []", lesson.read_text()))
    return replace(load(root), limits=Limits(call_seconds=2.0, total_seconds=20.0, memory_mb=1024, output_kb=64))


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Make the tiny course with inputs that can be recognised."""
    return tiny_with(CHECKS, tmp_path_factory.mktemp("course") / "tiny")


@pytest.fixture(scope="module")
def tiny_launcher(launcher_with, course):
    """Workers for the tiny course."""
    with launcher_with(course.limits, course.arrays) as launcher:
        yield launcher


def record_of(*results) -> dict[str, Any]:
    """Make a record as a run writes it."""
    record = {
        "id": "ann", "learner": "ann", "name": "Ann", "attempt": 1, "late": False, "source": "ann", "digest": "d",
        "score": results[0].score, "complete": True, "states": {result.state: 1 for result in results}, "problem": "",
        "notes": [], "duration_s": 0.1, "previous": None,
        "lessons": {result.lesson: result.to_dict() for result in results},
    }  # fmt: skip
    return json.loads(json.dumps(record))


def test_what_a_check_measured_on_hidden_inputs_is_left_out(tiny_launcher, course):
    """Code that saw hidden inputs may put them into figures: a check tells such where inputs may be seen alone."""
    check = """
@pytest.mark.check(skill="values", points=1)
def test_told(submission):
    '''Tells what it measured.'''
    submission.moving_average(SERIES, 2)
    submission.tell("70% right")
    submission.tell("9 kB", shown=True)
"""
    lesson = tiny_with(CHECKS + check, course.root.parent / "telling")
    result = judge_source(tiny_launcher, "moving_average", "def moving_average(x, window): return x\n", of=lesson)
    (shown,) = redact(Record.from_json(record_of(result))).lessons.values()

    assert set(result.notes) >= {"70% right", "9 kB"} and result.measured == ("70% right",)
    assert "9 kB" in shown.notes and "70% right" not in shown.notes and shown.measured == ()


def redacted(record: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of a redacted record."""
    return json.loads(json.dumps(redact(Record.from_json(record)).to_json()))


def told(record: dict[str, Any]) -> str:
    """Everything that a learner gets to see of a record."""
    hidden = redact(Record.from_json(record))
    head = {"course": {"id": "tiny", "version": "1"}, "engine": "0", "lessons": list(hidden.lessons), "titles": {}}
    pages = feedback_markdown(head, hidden) + feedback_page(head, hidden)
    return json.dumps(hidden.to_json()) + pages + json.dumps(to_gradescope(head, hidden))


def marks_in(text: str) -> list[str]:
    """List the inputs and answers that a text shows."""
    return [mark for mark in MARKS if mark in text]


def records_of(launcher, course, bodies: dict[str, str], seeds: Iterable[int] = (7,)) -> dict[str, list[dict]]:
    """Make the records of functions with these bodies, one for each seed, all by one judge."""

    def drive(judge):
        lesson = course.lessons["moving_average"]
        for name, body in bodies.items():
            source = f"{HEAD}def moving_average(x, window):\n{body}\n"
            submission = Submission(lesson.name, "moving_average.py", source)
            yield name, [record_of(judge.examine(lesson, submission, seed)) for seed in seeds]

    return run_judge(launcher, "moving_average", lambda judge: dict(drive(judge)), course)


@pytest.fixture(scope="module")
def channel_records(course, tiny_launcher):
    """The record of a submission for each channel."""
    return records_of(tiny_launcher, course, CHANNELS)


@pytest.mark.parametrize("channel", CHANNELS)
def test_no_input_comes_through(channel, channel_records):
    """A submission that puts its inputs into this channel finds none of them in its feedback."""
    text = told(*channel_records[channel])

    assert marks_in(text) == []
    assert "Gives the mean of every window." in text


def test_the_channels_are_real(channel_records):
    """Without concealing, most of these submissions do find their inputs, so the test above tests something."""
    found = sum(bool(marks_in(json.dumps(record))) for (record,) in channel_records.values())

    assert found > len(CHANNELS) * 2 / 3


LATER = {
    "an error while loading": "raise ValueError(builtins.kept)",
    "an error's class while loading": "raise type('E' + builtins.kept, (Exception,), {})",
    "a syntax error while loading": (
        "raise SyntaxError(builtins.kept, ('argmax_2d.py', int(builtins.kept[1:5]), 1, builtins.kept))"
    ),
    "what is printed while loading": "print(builtins.kept)",
    "the name of a function": "globals()['argmax_2d' + builtins.kept[1:5]] = lambda grid: None",
    "the parameters of a function": ("argmax_2d = eval(f'lambda p{builtins.kept[1:5]}, q{builtins.kept[1:5]}: 1')"),
    "memory while loading": "raise MemoryError(builtins.kept)",
}


@pytest.mark.parametrize("channel", LATER)
def test_nothing_is_carried_into_another_lesson(channel, course, tiny_launcher):
    """Inputs of one lesson that a submission has kept do not come out when its next lesson is loaded."""
    first = (
        f"{HEAD}def moving_average(x, window):\n    if x[0] == 4153.0:\n        builtins.kept = str(x)\n    return x\n"
    )
    second = f"import builtins\nbuiltins.kept = getattr(builtins, 'kept', '[4153. 2719.]')\n{LATER[channel]}\n"

    def drive(judge):
        with judge.workers.one_learner():
            return [
                judge.examine(course.lessons[name], Submission(name, f"{name}.py", source), 7)
                for name, source in (("moving_average", first), ("argmax_2d", second))
            ]

    results = []
    from grader.judge.examination import with_judge

    lessons = list(course.lessons.values())
    with_judge(course, lessons, tiny_launcher, "cpu", lambda judge: results.extend(drive(judge)))
    record = record_of(*results)

    assert marks_in(json.dumps(record["lessons"]["argmax_2d"]))
    assert marks_in(told(record)) == []


@pytest.mark.parametrize(
    "body, says",
    [
        ("    return x", "Wrong shape: another one; expected (3,)."),
        ("    return x[:1]", "Wrong shape: (1,); expected (3,)."),
        ("    return np.zeros((3, 1))", "Wrong shape: it has more axes than expected; expected (3,)."),
        ("    return np.zeros(3)", "Some values differ."),
        ("    return np.zeros(3) * np.nan", "Some values differ, and some of them are NaN."),
        ("    return np.zeros(3, dtype='float32')", "Wrong dtype: float32, expected float64."),
        ("    return [1.0]", "It returned a list; expected a float64 numpy array of shape (3,)."),
        ("    return None", "It returned None; expected a float64 numpy array of shape (3,). Is a `return` missing?"),
        ("    raise ValueError(x)", "ValueError on line 6 of moving_average.py.\n    raise ValueError(x)"),
        (
            "    raise type('Mine', (Exception,), {})",
            "An error of a type of its own on line 6 of moving_average.py.\n    raise type('Mine', (Exception,), {})",
        ),
        ("    while True: print('x' * 9999)", "It printed more than 64 kB and was stopped."),
        ("    os.kill(os.getpid(), 9)", "The process was killed: by itself, or by the system for want of memory."),
        ("    import time; time.sleep(99)", "No answer within 2 s. It was on line 6 of moving_average.py."),
    ],
)
def test_what_is_told_helps(body, says, course, tiny_launcher):
    """Kind, shape and dtype, the type of an error and the learner's own line are told."""
    source = f"{HEAD}def moving_average(x, window):\n{body}\n"
    result = judge_source(tiny_launcher, "moving_average", source, of=course)
    lesson = redacted(record_of(result))["lessons"]["moving_average"]

    assert lesson["checks"][0]["message"] == says
    assert lesson["weaknesses"]


def test_a_fixed_sentence_of_a_check_is_told(course, tiny_launcher):
    """What stands word for word in the file of checks is told, what is put together there is not."""
    result = judge_source(
        tiny_launcher, "moving_average", f"{HEAD}def moving_average(x, w):\n    return x[1:]\n", of=course
    )
    lesson = redacted(record_of(result))["lessons"]["moving_average"]
    by_id = {check["id"]: check["message"] for check in lesson["checks"]}

    assert by_id["moving_average.fixed"] == "The first window is not whole."
    assert by_id["moving_average.other"] == ""


def test_a_syntax_error_is_told_as_we_read_it(course, tiny_launcher):
    """Python's words on a file that cannot be read, and the line, come from our own reading of it."""
    result = judge_source(tiny_launcher, "moving_average", "def moving_average(x, window:\n    return x\n", of=course)
    lesson = redacted(record_of(result))["lessons"]["moving_average"]

    assert lesson["mistakes"][0]["says"] == (
        "Your file could not be loaded. SyntaxError on line 1 of moving_average.py: '(' was never closed."
        "\n    def moving_average(x, window:"
    )


def test_a_line_is_spoken_of_only_where_one_is_shown(course, tiny_launcher):
    """An error while loading shows the learner's own line as it stands in the source; where none is known, the advice
    does not send the learner to look at one."""
    source = "import numpy as np\nx = np.zeros(3)[1:].no_such_thing\n"
    result = judge_source(tiny_launcher, "moving_average", source, of=course)
    record = record_of(result)
    lesson = redacted(record)["lessons"]["moving_average"]
    assert lesson["mistakes"][0]["says"] == (
        "Your file could not be loaded. AttributeError on line 2 of moving_average.py.\n"
        "    x = np.zeros(3)[1:].no_such_thing"
    )
    assert lesson["mistakes"][0]["suggests"].startswith("This object has nothing of that name")

    for check in record["lessons"]["moving_average"]["checks"]:
        check["gist"] = "Your file could not be loaded. AttributeError."
    lesson = redacted(record)["lessons"]["moving_average"]
    assert "line" not in lesson["mistakes"][0]["suggests"]
    assert "line shown" not in json.dumps(lesson["suggestions"])


def test_what_the_limits_say_is_told_of_the_function(course, tiny_launcher):
    """A learner who printed too much is told so."""
    source = f"{HEAD}def moving_average(x, window):\n    while True: print('x' * 9999)\n"
    record = record_of(judge_source(tiny_launcher, "moving_average", source, of=course))
    lesson = redacted(record)["lessons"]["moving_average"]
    assert lesson["mistakes"][0]["says"] == (
        "The process died in `moving_average`. It printed more than 64 kB and was stopped."
    )


def test_a_file_that_is_not_there_is_explained(course, tiny_launcher):
    """Whoever reads a file is told that there are none, in the judge's words and in those for learners."""
    source = 'text = open("/etc/passwd/none").read()\n'
    record = record_of(judge_source(tiny_launcher, "moving_average", source, of=course))
    assert "no files, no network" in redacted(record)["lessons"]["moving_average"]["mistakes"][0]["suggests"]


def test_the_reference_is_not_offered_to_those_who_do_not_have_it(launcher):
    """Feedback on hidden checks suggests no `learn solution`; and the next lesson is one of those that are graded."""
    from grader.judge.examination import with_judge

    results = []
    whole = load(ROOT)
    source = (ROOT / "solutions/core/softmax.py").read_text()

    def drive(judge):
        for among in (None, ["softmax"], ["softmax", "block"]):
            judge.next_lessons = among
            results.append(judge.examine(whole.lessons["softmax"], Submission("softmax", "softmax.py", source), 7))

    with_judge(whole, [whole.lessons["softmax"]], launcher, "cpu", drive)
    assert [result.suggestions[0].command for result in results] == [
        "learn read attention", "learn progress", "learn read block"
    ]  # fmt: skip
    told = redacted(record_of(results[0]))["lessons"]["softmax"]["suggestions"]
    assert [each["command"] for each in told] == ["learn read attention"]


def test_the_courses_own_mistakes_keep_their_words(launcher):
    """A mistake of the catalogue is named as ever, with what to do; nothing that was computed is shown."""
    source = (
        "import torch\n\n\ndef softmax(x, dim=-1):\n    e = torch.exp(x)\n    return e / e.sum(dim, keepdim=True)\n"
    )
    record = record_of(judge_source(launcher, "softmax", source))
    lesson = redacted(record)["lessons"]["softmax"]
    before = record["lessons"]["softmax"]

    named = [mistake["says"] for mistake in before["mistakes"]]
    assert lesson["mistakes"] == before["mistakes"]
    assert lesson["weaknesses"] == [*named, *(line["gist"] for line in before["lines"])]
    assert lesson["suggestions"] == before["suggestions"] and lesson["strengths"] == before["strengths"]
    assert (lesson["counterexamples"], lesson["output"], lesson["seed"]) == ([], "", None)
    assert [check["earned"] for check in lesson["checks"]] == [check["earned"] for check in before["checks"]]


def test_of_a_function_that_calls_a_wrong_one_no_more_is_said_than_in_the_full_record(launcher):
    """One mistake of two functions is said once, without a check that fails for the same reason; so it is twice."""
    source = (
        "import torch\n\n\ndef padding_mask(lengths, max_len):\n"
        "    return (torch.arange(max_len) <= lengths[:, None])[:, None, None]\n\n\n"
        "def causal_padding_mask(lengths, max_len):\n"
        "    return padding_mask(lengths, max_len) & torch.ones(max_len, max_len).bool().tril()\n"
    )
    before = Record.from_json(record_of(judge_source(launcher, "padding_mask", source)))
    lesson = redact(before).lessons["padding_mask"]
    failed = {check.function for check in lesson.checks if check.outcome == "failed"}

    assert failed == {"padding_mask", "causal_padding_mask"}
    assert lesson.weaknesses[:1] == tuple(mistake.says for mistake in lesson.mistakes)
    assert lesson.weaknesses[1:] == tuple(line.says for line in lesson.lines)
    assert redact(redact(before)) == redact(before)


def test_concealing_twice_changes_nothing(course, tiny_launcher):
    """A concealed record is as concealed as it gets."""
    source = f"{HEAD}def moving_average(x, window):\n    raise ValueError(x)\n"
    once = redacted(record_of(judge_source(tiny_launcher, "moving_average", source, of=course)))

    assert redacted(once) == once


@pytest.mark.parametrize(
    ("id", "says", "shown"),
    [
        ("no-influence", "`b` and `c` have no influence: with other values", "`b` (and more) has no influence."),
        ("no-influence", "`w2.bias` has no influence: with other values", "`w2.bias` has no influence."),
        ("no-gradient", "No gradient reaches `q`, though the right answer", "No gradient reaches `q`."),
        ("no-gradient", "No gradient reaches `q`, `k`, though", "No gradient reaches `q` (and more)."),
    ],
)
def test_an_input_is_named_by_the_courses_name_and_which_more_there_are_is_not_told(id, says, shown):
    """Two of them are the first one and more; a record that is redacted again says the same."""
    once = _says(Named(id, "f", f"`f`: {says}", ""), ())

    assert once == f"`f`: {shown}"
    assert _says(Named(id, "f", once, ""), ()) == once


@pytest.mark.parametrize(
    ("says", "shown"),
    [
        ("It returns a tuple of 4 (a float32 tensor of shape (4153,), ...); return a list of 4.", "a tuple"),
        ("It returned a float64 numpy array of shape (4153,); expected a tensor.", "a float64 numpy array"),
        ("It returned a numpy int64; expected 3 (an int).", "a numpy int64"),
        ("Wrong dtype: torch.int64, expected torch.bool.", "the dtype int64"),
        ("In float16 it returns float32; cast the result back.", "the dtype float32"),
    ],
)
def test_a_wrong_form_is_named_by_its_container_or_dtype_and_nothing_inside_is_told(says, shown):
    """A tuple in a list's place is called a tuple; a record that is redacted again says the same."""
    once = _says(Named("wrong-format", "f", f"`f`: {says}", ""), ())

    assert once == f"`f` gives back {shown}: its docstring asks for something else."
    assert _says(Named("wrong-format", "f", once, ""), ()) == once


@pytest.mark.parametrize("says", ["It returned an object of type a4153; expected a list.", "Wrong shape: (4153, 1)."])
def test_a_wrong_form_that_a_submission_can_choose_freely_is_not_told(says):
    """The name of a type or a shape could be a message."""
    assert _says(Named("wrong-format", "f", f"`f`: {says}", ""), ()) == INSTEAD["wrong-format"].format(function="f")


def test_every_mistake_that_the_engine_names_is_known_here():
    """The ids that the judge gives to mistakes of no course are all replaced when a record is concealed."""
    named = set()
    paths = [*(ROOT / "grader/judge/verdict").glob("*.py"), ROOT / "grader/batch/one_learner/grade_learner.py"]
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Named":
                id = node.args[0]
                named |= {id.value} if isinstance(id, ast.Constant) else set(ADVICE)

    assert named == set(INSTEAD)


words = st.text(max_size=60)


@given(
    st.sampled_from(["raised", "crashed", "out-of-memory", "forbidden", "syntax"]), words, words,
    st.lists(st.tuples(st.sampled_from(["a.py", "b.py"]) | words, st.integers(-5, 10**6), words, words), max_size=4),
)  # fmt: skip
def test_an_error_leaves_no_room_for_a_message(kind, type_name, text, frames):
    """Whatever a worker reports of an error, what is told of it is one of a few sentences."""
    submission = Submission("a", "a.py", "pass\npass\n", {"b": ("b.py", "pass\n")})
    there = [("a", 1), ("a", 2), ("b", 1)]
    places = [".", *(f" on line {line} of {name}.py.\n    pass" for name, line in there)]
    types = ["An error of a type of its own", *redacted_explanation.KNOWN_ERRORS]
    told = redacted_explanation.explain_error(LearnerError(kind, type_name, text, frames), submission, ("softmax",))

    assert told in {
        "It asked for more memory than there is.", "Its process ended in the middle of a call.",
        "It calls something that this exercise forbids: it is to be done without that call.",
        "It calls `softmax`, which this exercise forbids: it is to be done without that call.",
        *(f"{name}{place}" for name in types for place in places),
    }  # fmt: skip


# --- how much can be said at all, in bits, whatever a submission makes of the inputs that it has seen ----------------

# A secret of 20 bits is in every input; `carry` is what a submission makes of it.
SECRET_CHECKS = '''
import numpy as np
import pytest

from grader.api.checks import assert_matches


@pytest.mark.check(skill="values", points=2)
@pytest.mark.parametrize("number", range(4))
def test_values(submission, rand, number):
    """Gives the mean of every window."""
    secret = float(rand.integers(0, 1 << 20, 1)[0])
    assert_matches(submission.moving_average(np.array([secret, 0.0, 0.0, 0.0]), 2), np.zeros(3))
'''
RAISE_ON = "    exec(compile('\\n' * ({}) + 'raise ValueError', 'moving_average.py', 'exec'))"
CARRIERS = {
    **CHANNELS,
    # whether an answer is too large to be sent is how a check ends, which is told
    "a returned shape": "    return np.zeros((n % 9999 + 1, 1))",
    "a line far beyond the file": RAISE_ON.format("n - 1"),
    "one of a thousand empty lines": RAISE_ON.format("20 + n % 1000") + "\n" * 1200,
    "one of a thousand comments": RAISE_ON.format("20 + n % 1000") + "\n# ..." * 1200,
    "the time it takes": "    import time\n    time.sleep(n % 7 / 50)\n    return x",
    "how much it prints": "    print('x' * (n % 5000))\n    return x",
    "how often it warns": "    for i in range(n % 9): warnings.warn(str(i))\n    return x",
    "the number of axes beyond those expected": "    return np.zeros((1,) * (2 + n % 9))",
    "a size": "    return np.zeros(4 + n % 1000)",
    "which value is wrong, and how": "    y = np.zeros(3)\n    y[n % 3] = n + 1\n    return y",
    "a length": "    return [0] * n",
    "the signal it dies of": "    os.kill(os.getpid(), (6, 11, 15)[n % 3])",
    "an attribute": "    return getattr(np, 'a' + str(n))",
}


@pytest.fixture(scope="module")
def secret_course(tmp_path_factory):
    """Make the tiny course with a secret of 20 bits in its inputs."""
    return tiny_with(SECRET_CHECKS, tmp_path_factory.mktemp("course") / "tiny")


@pytest.fixture(
    scope="module", params=[(1, 2), pytest.param((3, 4, 5, 6), marks=pytest.mark.soak)], ids=["two", "more"]
)
def carrier_records(secret_course, tiny_launcher, request):
    """The records of a submission for each carrier, by seeds: each seed makes four secrets."""
    bodies = {name: f"    n = int(x[0])\n{body}" for name, body in CARRIERS.items()}
    return records_of(tiny_launcher, secret_course, bodies, request.param)


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_secret_is_not_carried(carrier, carrier_records):
    """Whatever 20 bits are in the input, a submission that puts them into this channel is told the same."""
    assert len({told(record) for record in carrier_records[carrier]}) == 1


ALPHABET = "\n".join(["import numpy", "def moving_average(x, window):", *["", "# no code", "    x = [", "x]"] * 1500])


def test_a_line_is_no_message():
    """A line is named only where code stands, and only in the first thousand lines: there is no longer alphabet."""
    submission = Submission("a", "a.py", ALPHABET, {"b": ("b.py", "pass\n" * 5000)})
    frames = [[name, line, "f", ""] for name in ("a.py", "b.py", "c.py") for line in range(-5, 7000)]
    told = {redacted_explanation.place_in(submission, [frame]) for frame in frames}

    assert len(told - {""}) <= 500 + 1000
    lines = {redacted_explanation.line_at(submission, place).strip() for place in told - {""}}
    assert lines == {"import numpy", "def moving_average(x, window):", "x = [", "x]", "pass"}


# What is said of what is expected, without its kind and sizes.
SIZES = re.compile(
    r"(?:tensor|array) of shape \([\d, ]*\)|expected \([\d, ]*\)|(?:list|tuple) of \d+|the \d+ expected|int\d+|float\d+"
)
BLANK = """
def blank(value):
    if isinstance(value, dict):
        return {key: blank(part) for key, part in value.items()}
    return type(value)(map(blank, value)) if type(value) in (list, tuple) else None
"""


@pytest.mark.parametrize("expected", [4153, 2719.5, "8861", True, None, [4153, "8861"], (2719.5, [6037]), {"a": 4153}])
def test_an_expected_value_is_told_by_its_kind(expected):
    """Whatever came back, of the value that was expected no more is said than what it is."""
    import torch

    wrong = [None, 1, 0.5, "x", False, [], (), {}, {"a": None}, [1, None], (None, None), object(), torch.ones(2)]
    for said in (redacted_explanation.explain_form(value, expected, 1e-6) for value in wrong):
        assert not re.search("4153|2719|8861|6037|True|False", said), said


def test_a_list_in_a_list_is_told_as_one_entry():
    """What differs in an entry of an entry is told of one entry: more would say only how the lists are nested."""
    assert redacted_explanation.explain_form([["x"], 1], [["y"], 1], 1e-6).count("In one entry") == 1


@pytest.mark.parametrize("lesson", rarely(load(ROOT).lessons))
def test_feedback_shows_no_expected_value(lesson, launcher):
    """Where each value is None, alone or in a list or dict, feedback says of none what it should be."""
    paths = load(ROOT).lessons[lesson]
    tree = ast.parse(paths.solution_path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and node.value:
            node.value = ast.Call(ast.Name("blank"), [node.value], [])
    result = judge_source(launcher, lesson, ast.unparse(tree) + BLANK)
    shown = redact(Record.from_json(record_of(result))).lessons[lesson]
    said = {check.message.partition(" on line ")[0] for check in shown.checks if check.outcome != "skipped"}
    said -= redacted_explanation.fixed_sentences(paths.checks_path)
    assert not [one for one in said if re.search(r"\d|True|False|['\"]", SIZES.sub("", one))], said


FORMS_BITS = 6.5  # of what is said of one value
BRIEF_BITS = 4.0  # of how one check ended, once the function's first failure of that kind is told


def all_values() -> list[Any]:
    """List values of every kind, dtype and shape of up to five axes, right ones and wrong ones."""
    import torch

    shapes = [shape for rank in range(6) for shape in itertools.product((0, 1, 2, 3, 5, 7), repeat=rank)]
    values: list[Any] = [torch.zeros(shape) for shape in shapes]
    values += [torch.full((2, 3, 5, 7), value) for value in (0.0, 1.0, 2.0, float("nan"), float("inf"))]
    values += [torch.zeros(2, 3, 5, 7, dtype=getattr(torch, name)) for name in ITEM_SIZES]
    values += [torch.zeros(2, 3, 5, 7).numpy(), *[[0.0] * n for n in range(99)], *[(1,) * n for n in range(99)]]
    return [
        *values,
        *range(999),
        *[str(n) for n in range(99)],
        None,
        True,
        False,
        0.5,
        {},
        {"a": 1},
        {"b": 2},
        object(),
    ]


def test_the_form_of_a_value_is_a_handful_of_bits():
    """However many values a submission can return, what is said of their form is one of few sentences."""
    import torch

    expected = torch.zeros(2, 3, 5, 7)
    told = {redacted_explanation.explain_form(value, expected, 1e-6) for value in all_values()}
    told |= {redacted_explanation.explain_unusable(value) for value in all_values()}

    assert math.log2(len(told)) <= FORMS_BITS, len(told)


def test_details_are_told_once():
    """Of a function's failures of one kind, the first is told with its details; from then on a check says how it ended
    in one of a few ways, however many different errors and values a submission makes."""
    import torch

    source = "\n".join(f"x = {number}" for number in range(1000))
    submission, expected = Submission("a", "a.py", source), torch.zeros(2, 3, 5, 7)
    forbids = max((lesson.forbids for lesson in load(ROOT).lessons.values()), key=len)
    said = {("failed", redacted_explanation.explain_form(value, expected, 1e-6)) for value in all_values()}
    said |= {("failed", redacted_explanation.explain_unusable(value)) for value in all_values()}
    for kind in ("raised", "timed-out", "out-of-memory", "crashed", "forbidden"):
        for name in (*redacted_explanation.KNOWN_ERRORS, *forbids):
            for line in range(1, 1000, 11):
                text = name if kind == "forbidden" else "No answer within 1 s."
                error = LearnerError(kind, name, text, [("a.py", line, "f", "")])
                said.add((kind, redacted_explanation.explain_error(error, submission, forbids)))
    first = [CheckResult("a.0", "f", "Says.", "values", kind, 1.0, 0.0, gist="The first of its kind.")
             for kind in ("failed", "raised", "timed-out", "out-of-memory", "crashed", "forbidden")]  # fmt: skip
    lesson = LessonResult("a", "graded", 1.0, False, "cpu", 1, 0.1)
    seen = set()
    for kind, gist in said:
        check = CheckResult("a.1", "f", "Says.", "values", kind, 1.0, 0.0, message=gist, gist=gist)
        record = Record.from_json(record_of(replace(lesson, checks=(*first, check))))
        seen.add(repr(redact(record).lessons["a"]))

    assert len(said) > 5000 and math.log2(len(seen)) <= BRIEF_BITS, len(seen)
