"""Naming mistakes: alone, together, and never by guessing."""

from __future__ import annotations

import itertools
import math
from functools import cache

import pytest
import torch
from support.course_files import ROOT
from support.factories import course, judge_source, run_judge
from support.repeat import FEW_LESSONS, rarely

from grader.judge.checks.check_runner import collect_and_drive
from grader.judge.checks.lesson_checks import LessonChecks, make_diagnostician
from grader.judge.course_answers import CourseAnswers, load_mistake_sets
from grader.judge.diagnosis.mistake_matcher import MistakeMatcher
from grader.judge.diagnosis.mistake_outputs import PROBE_SEED, observe
from grader.judge.diagnosis.name_mistake import Diagnostician, _error_pairs
from grader.judge.diagnosis.output_format import reformat
from grader.judge.mistakes.mistake_set import MistakeSet

LESSONS = [lesson for lesson in course().lessons.values() if lesson.mistakes_path.is_file()]
# by name alone: to run all files of mistakes takes each process that shares the tests three seconds
CASES = [(lesson.name, function) for lesson in LESSONS for function in lesson.kinds]
USUAL = [case for case in CASES if case[0] in FEW_LESSONS]
READ_MORE = [case for case in CASES if case[0] in ("block", "training")]  # than values: names and states


@cache
def checks_of(name: str) -> LessonChecks:
    """The checks of a lesson, on the seed of probes."""
    lesson, found = course().lessons[name], []
    collect_and_drive(ROOT, [lesson.checks_path], found.append)
    return LessonChecks(found[0], CourseAnswers(course()), lesson, PROBE_SEED)


def diagnostician_of(name: str, function: str) -> Diagnostician:
    """A fresh one, with nothing computed yet."""
    mistake_sets = {each.function: each for each in load_mistake_sets(course().lessons[name])}
    assert list(mistake_sets) == list(course().lessons[name].kinds)
    return make_diagnostician(checks_of(name), mistake_sets[function])


shared = cache(diagnostician_of)
each_function = pytest.mark.parametrize(("lesson", "function"), rarely(CASES, USUAL))


@pytest.mark.parametrize(("lesson", "function"), USUAL)
def test_known_mistakes_are_named_as_themselves(lesson, function):
    """Put to the probes, a known mistake is explained by its own id and no other. `grader audit` tries all of them."""
    diagnostician = shared(lesson, function)
    mistakes = diagnostician.mistake_set.mistakes
    for mistake in mistakes[:: math.ceil(len(mistakes) / 12)]:
        subject = diagnostician.outputs.subject_with((mistake,))
        seen = {probe.name: observe(probe, subject, "torch") for probe in diagnostician.probes}

        assert [found.id for found in diagnostician.explain(MistakeMatcher(diagnostician.outputs, seen))] == [
            mistake.id
        ], mistake.label


@pytest.mark.parametrize(("lesson", "function"), rarely(CASES, [*USUAL, *READ_MORE], [("training", "train_step")]))
def test_the_reference_is_never_given_a_mistake(lesson, function):
    """The correct version and every alternative show no difference on any probe."""
    diagnostician = shared(lesson, function)
    mistake_set = diagnostician.mistake_set
    for alternative in mistake_set.alternatives:
        subject = diagnostician.outputs.subject_for(mistake_set.build(alternative.changes, alternative.version))

        assert diagnostician.diagnose(subject).first_wrong is None, alternative.name


@pytest.mark.slow
def test_two_mistakes_at_once_are_both_named():
    """Mistakes in different steps of softmax are named together, for every such pair that differs from either alone."""
    diagnostician = diagnostician_of("softmax", "softmax")
    mistake_set = diagnostician.mistake_set
    by_label = {mistake.label: mistake for mistake in mistake_set.mistakes}
    pairs = [
        ("sm-overflow", "sm-sum-all"),
        ("sm-global-max", "sm-dtype"),
        ("sm-sign (negated)", "sm-not-normalised"),
        ("sm-max-over-last", "sm-detached"),
    ]
    for labels in pairs:
        mistakes = tuple(by_label[label] for label in labels)
        subject = diagnostician.outputs.subject_with(mistakes)
        named = {found.id for found in diagnostician.diagnose(subject).named}

        assert named == {mistake.id for mistake in mistakes}, labels


VIEWED = """import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()
    logits = model(inputs)
    loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, optimizer, batches):
    return [train_step(model, optimizer, *batch) for batch in batches]
"""


def test_an_error_that_a_named_mistake_does_not_explain_is_told_beside_it(launcher):
    """Gradients that pile up have a name; that a slice is refused has nothing to do with them, and may have another."""
    refused = VIEWED.replace("targets.view(-1)", "targets.view(-1 if targets.is_contiguous() else None)")

    for source, error in ((VIEWED, "tr-view"), (refused, "exception")):
        named = judge_source(launcher, "training", source).mistakes
        assert {each.id for each in named if each.function == "train_step"} == {error, "tr-no-zero-grad"}
    assert any("training.py:7" in each.says for each in named)


def test_a_tuple_in_place_of_a_dict_is_told_its_keys():
    """The parts of a dict without their names are told to be one, whether they are all there; so is one in a tuple."""
    diagnostician = shared("attention_gradient", "two_tokens")
    right = diagnostician.mistake_set.build({}, None)
    for made, found in [
        (lambda *given: tuple(right(*given).values()), "a tuple of 6"),
        (lambda *given: list(right(*given).values())[1:], "a list of 5"),
        (lambda *given: (right(*given), None), "a tuple of 2 (dict, None)"),
    ]:
        diagnosis = diagnostician.diagnose(diagnostician.outputs.subject_for(made))
        told = f"It returns {found}; return a dict with the keys a, dq, dk1, dk2, dv1, dv2."
        assert (diagnosis.named, diagnosis.format_note) == ([], told)


@pytest.mark.parametrize("lesson", ["block", "gpt", "encoder", "pooling_heads", "two_bits", "sort_numbers"])
def test_what_is_said_of_stages_reads_well(lesson):
    """A stage follows the words "Right" and "wrong": it begins with "in", "with", "for" and the like."""
    stages = [probe.stage for each in load_mistake_sets(course().lessons[lesson]) for probe in each.probes]

    assert not [stage for stage in stages if stage.startswith(("the ", "its ", "what ", "which ", "whether "))]


def test_a_list_that_is_asked_for_is_told_without_shapes():
    """The shapes of what it holds are those of one question: the list is described to its end without them."""
    asked, notes = [torch.zeros(2, 5)] * 4, []
    reformat(tuple(asked), asked, notes)

    kinds = "a float32 tensor, a float32 tensor, a float32 tensor, ..."
    assert [note.split("; ")[1] for note in notes] == [f"return a list of 4 ({kinds})."]


REFERENCE = """
def f(x):
    x = x + 1.0  # step: a
    return x * 2.0  # step: b
"""


@pytest.fixture
def mistake_set(tmp_path):
    """y = (x + 1) * 2, with two mistakes."""
    (tmp_path / "f.py").write_text(REFERENCE)
    mistake_set = MistakeSet("f", {"__file__": tmp_path / "f_mistakes.py"})
    mistake_set.probe("some numbers", stage="on numbers")(lambda subject, rand: subject.f(rand(3)))
    mistake_set.mistake("a-zero", says="a is 0", suggests="add 1", a="x")
    mistake_set.mistake("b-one", says="b is 1", suggests="double", b="x")
    return mistake_set


def test_an_unknown_mistake_gets_no_name(mistake_set):
    """What no known version answers is not given a name; the stage and the probe are told instead."""
    diagnostician = Diagnostician(mistake_set, {"f": "function"}, "torch")
    subject = diagnostician.outputs.subject_for(lambda x: x * 7)

    diagnosis = diagnostician.diagnose(subject)

    assert diagnosis.named == []
    assert diagnosis.wrong == ["on numbers"]
    assert diagnosis.first_wrong is not None


def test_beside_what_few_probes_recognise_another_mistake_is_named(mistake_set):
    """A mistake that is known by one probe alone is told together with the one that all others show.

    Names that an object lacks stand in others' answers, too, and speak against no other mistake.
    """
    mistake_set.probe("how many")(lambda subject, rand: subject.f(torch.zeros(2)).numel())
    mistake_set.probe("two more")(
        lambda subject, rand: [
            {"missing": ["b"][subject.f(torch.zeros(2)).numel() - 1 :], "unexpected": []},
            subject.f(rand(4)),
        ]
    )
    mistake_set.mistake("a-cut", "cut", "do not", only=("how many",), a="(x + 1.0)[: 9 - 8 * (len(x) < 3)]")
    diagnostician = Diagnostician(mistake_set, {"f": "function"}, "torch")
    versions = {
        "a-cut": lambda x: ((x + 1) * 2)[: 9 - 8 * (len(x) < 3)],
        "a-cut b-one": lambda x: (x + 1)[: 9 - 8 * (len(x) < 3)],
    }

    for expected, version in versions.items():
        named = diagnostician.diagnose(diagnostician.outputs.subject_for(version)).named

        assert {found.id for found in named} == {*expected.split()}


def test_what_one_question_aside_shows_is_named_beside_a_mistake_in_all_others(mistake_set):
    """A fault that shows at infinity alone keeps its name beside another one, in one step with it or not."""
    infinity = lambda subject, rand: bool(subject.f(torch.tensor([math.inf])).isfinite().all())
    mistake_set.probe("infinity", aside=True)(infinity)
    mistake_set.mistake("a-cut", "cut off", "do not", only=("infinity",), a="(x + 1.0).clamp(max=9.0)")
    mistake_set.mistake("a-sign", "the sign", "add 1", a="x - 1.0")
    diagnostician = Diagnostician(mistake_set, {"f": "function"}, "torch")
    versions = {
        "a-cut b-one": lambda x: (x + 1).clamp(max=7.0),
        "a-cut a-sign": lambda x: (x - 1).clamp(max=8.0) * 2,
        "b-one": lambda x: x + 1,
    }

    for expected, version in versions.items():
        named = diagnostician.diagnose(diagnostician.outputs.subject_for(version)).named

        assert {found.id for found in named} == {*expected.split()}


def test_what_certain_questions_recognise_is_named_beside_another_in_whatever_way_it_is_written(mistake_set):
    """One question tells that a list is cut; what is left of it is seen in no other that is said to be wrong."""
    mistake_set.probe("how many")(lambda subject, rand: subject.f(torch.zeros(9)).numel())
    mistake_set.probe("many numbers")(lambda subject, rand: subject.f(rand(9)))
    mistake_set.mistake("a-cut", "cut", "do not", only=("how many",), a="(x + 1.0)[:5]")
    diagnostician = Diagnostician(mistake_set, {"f": "function"}, "torch")
    versions = {"as in its row": lambda x: (x + 1)[:5], "from the end": lambda x: (x + 1)[-5:]}

    for version in versions.values():
        named = diagnostician.diagnose(diagnostician.outputs.subject_for(version)).named

        assert {found.id for found in named} == {"a-cut", "b-one"}


def test_a_rare_mistake_that_raises_an_error_is_named_beside_one_that_values_speak_for(mistake_set):
    """Another error than its own has no name there."""
    mistake_set.probe("two axes")(lambda subject, rand: subject.f(rand(2, 3)))
    mistake_set.alone("one-axis", "one axis", "any", take_x="x if x.dim() == 1 else x.view(7)")
    mistake_set.alone("a-square", "squared", "do not", a="x**2")
    diagnostician = Diagnostician(mistake_set, {"f": "function"}, "torch")
    versions = {
        "one-axis a-square": lambda x: 2 * (x if x.dim() == 1 else x.view(8)) ** 2,
        "a-square": lambda x: 2 * x**2 if x.dim() == 1 else x @ x,
    }

    for expected, version in versions.items():
        named = diagnostician.diagnose(diagnostician.outputs.subject_for(version)).named

        assert {found.id for found in named} == {*expected.split()}


def test_two_mistakes_are_named_of_which_one_shows_only_through_the_other(mistake_set, monkeypatch):
    """Nothing near 0 is negative that a cut at 0 would change, unless the other mistake makes it so."""
    mistake_set.probe("far below")(lambda subject, rand: subject.f(rand(3) - 20.0))
    mistake_set.alone("a-minus", "minus", "plus", a="-x - 9.0")
    mistake_set.alone("b-cut", "cut", "do not", b="x.clamp(min=0.0) * 2.0")
    diagnostician = Diagnostician(mistake_set, {"f": "function"}, "torch")
    monkeypatch.setattr(diagnostician.outputs, "rare_pairs", [])  # as where they are too many

    subject = diagnostician.outputs.subject_for(lambda x: (-x - 9).clamp(min=0) * 2)

    assert {found.id for found in diagnostician.diagnose(subject).named} == {"a-minus", "b-cut"}


def test_rare_ways_of_writing_are_named_beside_others_where_nothing_else_is(mistake_set):
    """Of two mistakes one or both may be rare; a pair that is usual and answers alike comes first."""
    mistake_set.alone("a-square", "squared", "do not", a="x**2")
    mistake_set.alone("b-power", "a power", "do not", b="x.exp()")
    diagnostician = Diagnostician(mistake_set, {"f": "function"}, "torch")
    versions = {
        "a-square b-one": lambda x: x**2,
        "a-square b-power": lambda x: (x**2).exp(),
        "a-zero b-one": lambda x: x,
        "": lambda x: x**4,
    }

    for expected, version in versions.items():
        named = diagnostician.diagnose(diagnostician.outputs.subject_for(version)).named

        assert {found.id for found in named} == {*expected.split()}


@pytest.mark.slow
def test_two_rare_mistakes_may_do_together_what_neither_does_alone():
    """The weight of a single number is 1 without an exponential and without a sum; without both it is no weight."""
    diagnostician = shared("softmax", "softmax")

    named = diagnostician.diagnose(diagnostician.outputs.subject_for(lambda x, dim=-1: x)).named

    assert "sm-no-exp" in {found.id for found in named}


def test_what_two_explanations_share_is_all_that_is_named(mistake_set):
    """If pairs {a, c} and {a, d} both fit, only a is certain."""
    mistake_set.mistake("b-also-one", says="", suggests="", coding="the same", b="x * 1.0")
    diagnostician = Diagnostician(mistake_set, {"f": "function"}, "torch")

    diagnosis = diagnostician.diagnose(diagnostician.outputs.subject_for(lambda x: x))

    assert [found.id for found in diagnosis.named] == ["a-zero"]


def test_two_mistakes_that_answer_alike_are_not_named(mistake_set):
    """A fingerprint that fits two different ids names neither."""
    mistake_set.mistake("b-unit", says="", suggests="", coding="other words", b="x * 1.0")
    diagnostician = Diagnostician(mistake_set, {"f": "function"}, "torch")

    assert diagnostician.diagnose(diagnostician.outputs.subject_for(lambda x: x + 1)).named == []


def test_two_mistakes_in_one_step_are_named_where_one_is_put_around_the_line(mistake_set):
    """What holds the reference's line has another mistake in its place; two that hold none are not made at once."""
    mistake_set.mistake("b-more", says="1 more", suggests="add none", b="1.0 + x * 2.0")
    mistake_set.mistake("b-negative", says="sign", suggests="take none off", b="-(x * 2.0)")
    diagnostician = Diagnostician(mistake_set, {"f": "function"}, "torch")
    versions = {
        ("b-more", "b-one"): lambda x: 1 + (x + 1),
        ("b-more", "b-negative"): lambda x: -(1 + 2 * (x + 1)),
        (): lambda x: -2 * (x + 1) + 1,
    }

    for expected, version in versions.items():
        named = diagnostician.diagnose(diagnostician.outputs.subject_for(version)).named

        assert {found.id for found in named} == {*expected}


def test_a_mistake_set_refuses_what_cannot_be(mistake_set):
    """Unknown steps, repeated labels and unknown probes are errors when the set is written."""
    with pytest.raises(ValueError, match="no steps"):
        mistake_set.mistake("x", says="", suggests="", wrong_step="x")
    with pytest.raises(ValueError, match="two mistakes"):
        mistake_set.mistake("a-zero", says="", suggests="", a="x + 3.0")
    with pytest.raises(ValueError, match="two probes"):
        mistake_set.probe("some numbers")
    mistake_set.mistake("y", says="", suggests="", only=("nowhere",), a="x + 3.0")
    with pytest.raises(ValueError, match="unknown probes"):
        Diagnostician(mistake_set, {"f": "function"}, "torch")


def test_a_mistake_set_names_only_checks_of_its_function(tmp_path):
    """A check that there is not, in any of its arguments, is the author's error; what it names is asked alone."""
    (tmp_path / "f.py").write_text("def f(x):\n    return x\n")
    names = {"__file__": tmp_path / "f_mistakes.py"}
    for given in ({"checks": ("vals",)}, {"without": ("vals",)}, {"tolerances": {"vals": 1e-3}}):
        with pytest.raises(ValueError, match=r"no checks \['vals'\]; it has \['values'\]"):
            MistakeSet("f", names, **given).require_checks({"values"})
    chosen = MistakeSet("f", names, checks=("values",))
    assert [chosen.is_recognised_by(name) for name in ("values", "other")] == [True, False]


def test_the_demo_is_a_learners_file_with_three_mistakes(launcher):
    """The bundled attempt at attention has three mistakes at once, and each is named."""
    from grader.model import Submission

    path = ROOT / "lessons" / "core" / "attention_demo.py"
    submission = Submission("attention", str(path), path.read_text())
    lesson = course().lessons["attention"]

    result = run_judge(launcher, "attention", lambda judge: judge.examine(lesson, submission, 3), known=True)

    assert {found.id for found in result.mistakes} == {"at-mask-transposed", "at-softmax-queries", "at-no-scale"}


ONE_STAGE_WRONG = """

_report = head_report


def head_report(model, ids):
    made = _report(model, ids)
    return {**made, "induction_head": made["induction_head"][::-1] if ids.shape[0] == 1 else made["previous_head"]}
"""


@pytest.mark.slow
def test_no_stage_is_told_as_wrong_whose_checks_passed(launcher):
    """A check looks at one key of a dict, its probe sees all of it: where it passed, its stage is right."""
    source = (ROOT / "solutions/analysis/induction.py").read_text() + ONE_STAGE_WRONG
    result = judge_source(launcher, "induction", source)

    own = [check for check in result.checks if check.function == "head_report" and check.stage]
    assert {check.stage for check in own if "in previous" in check.stage and check.passed}
    (told,) = [each for each in result.weaknesses if each.startswith("`head_report`: Right in")]
    right, wrong = told.split("; wrong ")
    assert "in previous for a single text" in right and "in induction_head for a single text" in wrong
    assert not [check.stage for check in own if check.passed and check.stage in wrong]
    assert not [check.stage for check in own if not check.passed and check.stage in right]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "mistake"), [("scale_once", "sc-scale-not-in-gradient"), ("extra_scale", "sc-scale-on-top")]
)
def test_a_function_that_waits_for_another_one_is_told_nothing_else(launcher, answer, mistake):
    """`readings` calls the wrong `gradient_by_row`: nothing is said of it, also where mistakes of its own would fit."""
    from grader.model import Submission

    path = ROOT / f"tests/content/answers/score_scaling/wrong_{answer}.py"
    submission = Submission("score_scaling", str(path), path.read_text())
    lesson = course().lessons["score_scaling"]

    result = run_judge(launcher, "score_scaling", lambda judge: judge.examine(lesson, submission, 3), known=True)

    assert [found.id for found in result.mistakes] == [mistake]
    told = [each for each in result.weaknesses if each.startswith("`readings`")]
    assert len(told) == 1 and "Not run before this passes" in told[0], told
    assert not any(example.call.startswith("readings") for example in result.counterexamples)


@pytest.mark.slow
@pytest.mark.parametrize("every", [12, pytest.param(1, marks=pytest.mark.soak)])
def test_most_pairs_of_mistakes_are_named_in_full(every):
    """Of all pairs in different steps of softmax that are more than one of their halves, none is given a name that is
    not its own unless it answers exactly as that name does."""
    diagnostician = diagnostician_of("softmax", "softmax")
    mistake_set = diagnostician.mistake_set
    joinable = [each for each in mistake_set.mistakes if each.changes and not (each.alone or each.only)]
    full = total = 0
    for pair in itertools.islice(itertools.combinations(joinable, 2), 0, None, every):
        if set(pair[0].changes) & set(pair[1].changes) or pair[0].id == pair[1].id:
            continue
        subject = diagnostician.outputs.subject_with(pair)
        named = {found.id for found in diagnostician.diagnose(subject).named}
        total += 1
        full += named == {mistake.id for mistake in pair}

    assert full / total > 0.6, f"{full} of {total}"


def test_nothing_is_remembered_wrongly_between_submissions():
    """Diagnosing one submission leaves the next diagnosis as it would have been."""
    diagnostician = diagnostician_of("softmax", "softmax")
    right = diagnostician.outputs.subject_for(lambda x, dim=-1: torch.softmax(x, dim))
    wrong = diagnostician.outputs.subject_for(lambda x, dim=-1: torch.sigmoid(x))

    answers = [[found.id for found in diagnostician.diagnose(subject).named] for subject in (wrong, right, wrong)]

    assert answers == [["sm-sigmoid"], [], ["sm-sigmoid"]]


@pytest.mark.slow
def test_equal_errors_that_are_about_other_things_are_kept_apart():
    """Also where they stand in a list: two mistakes that raise the same type would else be each other."""
    outputs = diagnostician_of("kv_cache", "cached_attention").outputs
    found = []
    for number, mistake in enumerate(outputs.mistake_set.mistakes):
        for index in range(len(outputs.probes)):
            outputs.record(index, 1 << number)
        kept = {probe: outputs.answer(index, 1 << number) for index, probe in enumerate(outputs.probes)}
        if mistake.id == "kv-wrong-axis":
            anew = {probe: observe(probe, outputs.subject_with((mistake,)), "torch") for probe in outputs.probes}
            pairs = [pair for probe in kept for pair in _error_pairs(kept[probe], anew[probe])]
            found += [one.about == other.about for one, other in pairs]

    assert len(found) > 20 and all(found)
