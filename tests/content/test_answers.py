"""Answers as learners write them, through the real worker: right ones score 10.0, wrong ones get their true name.

Each file `answers/<lesson>/right_*.py` or `wrong_*.py` is a whole submission. Its first line says what it is:

    # right: in the manner of whom
    # wrong: the ids of the mistakes in it, all of which must be named, and no other
    # wrong: ?     no known mistake: it must be told something useful, and be given no mistake's name

Some are a right answer with a line or two written otherwise: `edits/<lesson>.toml` says which.

They are written apart from the known mistakes and the alternatives of the course, in other words: what those recognise
of themselves proves little. A file may import an earlier lesson's function; it gets the answer `right_plain.py`.
A usual run grades every ninth to a few lessons of different kinds: what a judge works out about a lesson takes longer
than an answer. `pytest -m soak` grades the others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

import pytest
import torch
from support.answers import ANSWERS, answer_at, edited_answers, read_answer
from support.factories import course, run_judge
from support.repeat import FEW_LESSONS, SOAK, rarely

from grader.judge import session
from grader.judge.course_files import load_file
from grader.judge.examination import Judge
from grader.judge.processes.launcher import Launcher
from grader.judge.verdict.outcome_mistakes import ADVICE
from grader.model import LessonResult

# answers that are too much alike to be part of what tests of similarity read
ALIKE = Path(__file__).parent / "variants" / "files"
FILES = [path for folder in (ANSWERS, ALIKE) for path in folder.glob("*/*.py")]
RIGHT, WRONG = (
    sorted(path for path in (*FILES, *edited_answers()) if path.name.startswith(f"{kind}_"))
    for kind in ("right", "wrong")
)
USUAL_LESSONS = (*FEW_LESSONS, "causal_mask", "positional_encoding", "generate")
FEWEST = {"right": 12, "wrong": 18}
SMALL = {"causal_mask", "positional_encoding"}  # few ways to write them, right or wrong
FEWEST_SMALL = {"right": 8, "wrong": 12}
CAPSTONES = {name for name, lesson in course().lessons.items() if lesson.kind == "capstone"}
FEWEST_TRAINED = {"right": 4, "wrong": 10}  # each takes seconds; more versions are in a capstone's own tests
FEWEST_OPTIONAL = {"right": 4, "wrong": 6}
# What the engine itself says of any lesson; an error that was raised may stand beside an unnamed mistake.
OF_THE_ENGINE = {
    "exception",
    "forbidden-call",
    "randomness",
    "returned-none",
    "shared-default",
    "stub",
    "wrong-format",
    "wrong-signature",
    *ADVICE,
}
SEED = 7

Verdicts = Callable[[Path], LessonResult]


def what_it_is(path: Path) -> str:
    """The first line of an answer, without its `# right:` or `# wrong:`."""
    kind, said = read_answer(path).splitlines()[0].removeprefix("# ").split(": ", 1)
    assert kind == path.stem.split("_")[0], f"{path} says that it is {kind}"
    return said


def ids_in(path: Path) -> set[str]:
    """The mistakes that a wrong answer says it makes; empty when it knows no name."""
    said = what_it_is(path)
    return set() if said == "?" else set(said.split(", "))


def judge_answers(judge: Judge, paths: list[Path]) -> dict[Path, LessonResult]:
    """The verdict on answers to one lesson, each graded as a learner of a class is."""
    found = {}
    for path in paths:
        lesson = path.parent.name
        with judge.workers.one_learner():
            found[path] = judge.examine(course().lessons[lesson], answer_at(path), SEED)
    return found


def answers_to(lesson: str) -> list[Path]:
    """All answers to a lesson."""
    return [path for path in (*RIGHT, *WRONG) if path.parent.name == lesson]


@pytest.fixture(scope="module")
def verdict_on(launcher: Launcher, request: pytest.FixtureRequest) -> Verdicts:
    """Looks up the verdict on one answer; all answers to its lesson that this run asks for are judged together."""
    asked = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    paths = {params.get("path") for params in asked}
    lined = {path for params in asked if "lined" in params for path in with_lines(params["lined"])}
    known: dict[Path, LessonResult] = {}

    def verdict(path: Path) -> LessonResult:
        lesson = path.parent.name

        def drive(judge: Judge) -> None:
            known.update(judge_answers(judge, [each for each in answers_to(lesson) if each in lined]))
            vars(judge.lines)["find"] = lambda *_: []  # a third of the time, and nothing asks for those of the others
            known.update(judge_answers(judge, [each for each in answers_to(lesson) if each in paths - lined]))

        if path not in known:
            run_judge(launcher, lesson, drive, known=True)
        return known[path]

    return verdict


def of(paths: list[Path], usual: Collection[Path]) -> pytest.MarkDecorator:
    """One test for each answer, named by lesson and file."""
    return pytest.mark.parametrize("path", rarely(paths, usual), ids=lambda path: f"{path.parent.name}/{path.stem}")


def some_of(paths: list[Path], step: int) -> list[Path]:
    """One in `step` of the answers to the lessons of a usual run."""
    return [path for path in paths if path.parent.name in USUAL_LESSONS][::step]


def has_its_true_name(path: Path, result: LessonResult) -> bool:
    """Return True if a wrong answer is named by all of its own mistakes, and by no other."""
    named = {mistake.id for mistake in result.mistakes}
    return not named - OF_THE_ENGINE if what_it_is(path) == "?" else named == ids_in(path)


def complaint(result: LessonResult) -> str:
    """What went wrong with an answer, for whoever reads the failure."""
    failed = [f"{check.id}: {check.outcome} {check.message}" for check in result.checks if not check.passed]
    return "\n".join([*failed[:3], *result.weaknesses])


@of(RIGHT, some_of(RIGHT, 9))
def test_a_right_answer_scores_ten(path: Path, verdict_on: Verdicts) -> None:
    """Right code passes every check and is given no mistake's name, whosever style it is in."""
    result = verdict_on(path)

    assert (result.score, result.passed, result.mistakes) == (10.0, True, ()), complaint(result)


@of(WRONG, some_of(WRONG[1:], 9))
def test_a_wrong_answer_gets_its_true_name(path: Path, verdict_on: Verdicts) -> None:
    """Wrong code is rejected and named by its own mistakes; without a known one it is told where it goes wrong."""
    result = verdict_on(path)

    assert not result.passed
    assert result.score is not None and result.score < 10.0
    assert has_its_true_name(path, result), complaint(result)
    assert result.weaknesses


@pytest.mark.gpu
@pytest.mark.skipif(
    not torch.cuda.is_available(), reason="needs a CUDA device: run `pytest -m gpu` on a machine with one"
)
@pytest.mark.parametrize("lesson", rarely(course().lessons))
def test_a_gpu_changes_no_verdict(lesson: str) -> None:
    """A right answer passes on a GPU too, and mistakes have the names there that they have on the CPU."""
    rights, wrongs = ([path for path in paths if path.parent.name == lesson] for paths in (RIGHT, WRONG))
    some = [*rights, *wrongs] if SOAK > 1 else [*rights[:4], *wrongs[:2]]

    def drive(judge: Judge) -> dict[Path, LessonResult]:
        vars(judge.lines)["find"] = lambda *_: []
        return judge_answers(judge, some)

    with session.with_workers(course(), "cuda") as (launcher, device):
        found = run_judge(launcher, lesson, drive, device=device)

    wrong = {}
    for path, result in found.items():
        as_on_cpu = result.score == 10.0 if path in rights else not result.passed and has_its_true_name(path, result)
        if not as_on_cpu:
            wrong[path.stem] = (result.score, result.mistakes, complaint(result))
    assert not wrong, "\n".join(f"{name}: {what}" for name, what in wrong.items())


@pytest.mark.parametrize("lesson", course().lessons)
def test_every_lesson_has_answers_of_both_kinds(lesson: str) -> None:
    """There are enough of both for every lesson, and the names that wrong ones give are known."""
    required = course().lessons[lesson] in course().required_lessons
    fewest_of = FEWEST_SMALL if lesson in SMALL else FEWEST if required else FEWEST_OPTIONAL
    fewest_of = FEWEST_TRAINED if lesson in CAPSTONES else fewest_of
    for kind, paths in (("right", RIGHT), ("wrong", WRONG)):
        fewest = fewest_of[kind]
        assert sum(path.parent.name == lesson for path in paths) >= fewest, f"{lesson}: too few {kind} answers"
    known = {mistake.id for mistake_set in load_file(course().lessons[lesson].mistakes_path).MISTAKE_SETS
             for mistake in mistake_set.mistakes}  # fmt: skip
    for path in WRONG:
        if path.parent.name == lesson:
            assert ids_in(path) <= known | OF_THE_ENGINE, path.name


COSTS = {  # the least score, and the most
    "multi_head/wrong_linear_layers": (7.0, 7.0),  # all four weights are cut off from autograd
    "positional_encoding/wrong_float64_table": (8.5, 8.5),
    "attention/wrong_tuple": (8.5, 8.5),
    "multi_head/wrong_tuple_with_weights": (8.5, 8.5),
    "block/wrong_returns_weights_too": (8.5, 8.5),
    "attention/wrong_values_as_wide": (8.0, 8.9),  # right where d_v = d_k
    "causal_mask/wrong_float_tril": (8.5, 8.5),
    "causal_mask/wrong_four_axes": (8.5, 8.5),
    "attention/wrong_dropout": (8.5, 8.5),
    "multi_head/wrong_flash_dropout": (8.5, 8.5),
    "block/wrong_dropout_function": (8.5, 8.5),
    "softmax/wrong_no_grad": (7.0, 7.0),
    "softmax/wrong_two_to_the": (1.0, 2.0),  # in the right form, and wrong everywhere
    "causal_mask/wrong_hidden_as_uint8": (1.0, 1.8),  # wrong in both
    "kv_cache/wrong_whole_text": (4.0, 4.9),  # a cache that nobody uses
    "kv_cache/wrong_copied_model": (4.0, 4.9),
}


@of(
    [ANSWERS / f"{name}.py" for name in COSTS],
    answers_to("attention") + answers_to("softmax") + answers_to("causal_mask"),
)
def test_a_score_says_how_near_the_work_is(path: Path, verdict_on: Verdicts) -> None:
    """A fault of form costs 1.5 in every lesson, a missing skill caps the score, and wrong values gain nothing."""
    least, most = COSTS[f"{path.parent.name}/{path.stem}"]

    assert least <= (verdict_on(path).score or 0.0) <= most


# The lines with the mistake in answers that have one, labelled by hand. Where nothing is certain, none may be named.
LINES = {
    "attention": {
        "always_causal": {8}, "capitals_unscaled": {6}, "columns_and_zero_fill": {9}, "divide_by_d": {7},
        "dropout": {10}, "fill_inf": {8}, "fill_minus_20": {8}, "half_power": {6}, "hard_argmax": {9, 10},
        "key_dot_T": {6},
        "key_view": {7}, "keys_by_queries": {6}, "mask_added": {8}, "mask_after": {6, 8}, "mask_fill_1e_minus_9": {8},
        "mask_not_assigned": {8}, "mask_polarity_boolean_index": {8}, "mask_transposed": {8}, "no_scale": {6},
        "own_naive_softmax": {6}, "root_of_length": {8}, "scale_after": {11}, "softmax_dim_minus_two": {10},
        "times_k": {9}, "zero_times_inf": {8},
    },
    "softmax": {
        "clamp_above": {6}, "divide_by_max": {7}, "forgot_to_divide": {9}, "max_without_keepdim": {6},
        "minus_in_exponent": {6}, "minus_mean": {6}, "naive": {7}, "one_total": {8}, "shift_by_whole_max": {6},
        "sum_without_keepdim": {7}, "temperature": {6}, "two_to_the": {6}, "zeros_buffer": {6},
    },
    "positional_encoding": {
        "base_512": {6}, "batch_axis": {13}, "degrees": {7}, "floor_angle": {7}, "half": {7}, "linspace": {6},
        "no_minus": {10}, "t2t_concat": {8}, "times_sqrt_d": {9}, "two_times_even": {9}, "unit_positions": {6},
    },
}  # fmt: skip


def with_lines(lesson: str) -> list[Path]:
    """The answers to a lesson in which a line is looked for: those that are labelled, else one of twelve."""
    if lesson in LINES:
        return [ANSWERS / lesson / f"wrong_{name}.py" for name in LINES[lesson]]
    return answers_to(lesson)[:: max(1, 12 // SOAK)]


# named so that the answers to a lesson are judged once for these and for the tests above
each_lined = partial(pytest.mark.parametrize, "lined", ids="{}/lines".format)


@each_lined(rarely(LINES, ["positional_encoding"]))
def test_the_line_of_the_mistake_is_named(lined: str, verdict_on: Verdicts) -> None:
    """At least four of five are named, and no wrong line is."""
    wanted = dict(zip(with_lines(lined), LINES[lined].values(), strict=True))
    named = {path: {line.line for line in verdict_on(path).lines} for path in wanted}

    assert [path.stem for path, lines in wanted.items() if named[path] - lines] == []
    assert sum(map(bool, named.values())) >= 0.8 * len(wanted), [path.stem for path in wanted if not named[path]]


@pytest.mark.soak
@each_lined([lesson for lesson in course().lessons if lesson not in LINES])
def test_a_line_that_is_named_is_one_of_the_answer(lined: str, verdict_on: Verdicts) -> None:
    """In lessons whose lines are not labelled too, looking for one is no fault, and right code is given none."""
    for path in with_lines(lined):
        result = verdict_on(path)
        lines = [line.line for line in result.lines]
        assert result.state != "grader-error", complaint(result)
        assert all(1 <= line <= len(read_answer(path).splitlines()) for line in lines)
        assert not (result.passed and lines)
