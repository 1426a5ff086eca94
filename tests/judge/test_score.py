"""Scores say how near work is to a layer that works: a wrong form costs a little, once; a missing skill a lot."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.factories import ROOT, judge_source

from grader.judge.checks.mending import MendingModule
from grader.judge.processes.remote_module import LocalModule
from grader.judge.values.mend import mend
from grader.judge.verdict.feedback import FORM_COST, MAX_WITHOUT_SKILL, score_of, settle_points
from grader.model import CheckResult

SKILLS = ("values", "gradients", "hygiene")
FAULTS = ("axis", "container", "dtype", "names", "random")


def result(points: float, passed: bool, skill: str, form: str = "") -> CheckResult:
    """A check's result, as the runner gives it."""
    earned = points if passed or form else 0.0
    return CheckResult("x.y", "f", "", skill, "passed" if passed else "failed", points, earned, form=form)


results = st.lists(
    st.builds(
        result,
        st.sampled_from((0.5, 1.0, 3.0)),
        st.booleans(),
        st.sampled_from(SKILLS),
        st.lists(st.sampled_from(FAULTS), max_size=2, unique=True).map(", ".join),
    ),
    min_size=1,
    max_size=12,
)


@given(results)
def test_faults_of_form_are_charged_once_and_the_points_add_up(checks):
    """Each kind of fault costs as much however many checks see it; nobody falls below 1, or gains."""
    plain = 1 + 9 * sum(check.earned for check in checks) / sum(check.points for check in checks)
    faults = len({fault for check in checks for fault in check.form.split(", ") if fault})
    missing = any(
        not any(check.earned for check in checks if check.skill == skill)
        for skill in {check.skill for check in checks} - {"hygiene"}
    )
    expected = max(1.0, min(plain - FORM_COST * faults, MAX_WITHOUT_SKILL if missing else 10.0))

    settled = settle_points(checks)

    assert score_of(settled) == pytest.approx(expected, abs=0.11)
    assert all(0 <= after.earned <= before.earned for before, after in zip(checks, settled, strict=True))
    if not faults and not missing:
        assert settled == checks


FORMS = {
    "another dtype": (torch.ones(2, 3).double(), {"dtype"}),
    "an axis more": (torch.ones(1, 2, 1, 3), {"axis"}),
    "numpy": (torch.ones(2, 3).numpy(), {"container"}),
    "a list": ([[1.0] * 3] * 2, {"container"}),
    "output and weights": ((torch.ones(2, 3), torch.zeros(2, 2)), {"container"}),
    "weights, and an output in float64": ([torch.zeros(2, 2), torch.ones(2, 3).double()], {"container", "dtype"}),
    "half precision, rounded": (torch.full((2, 3), 1.0002).half(), {"dtype"}),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_value_is_brought_into_the_form_of_the_expected_one(form):
    """What is mended says the same, and every fault is told."""
    value, told = FORMS[form]
    faults: set[str] = set()

    assert torch.equal(mend(value, torch.ones(2, 3), faults), torch.ones(2, 3))
    assert faults == told


@pytest.mark.parametrize("value", [[True], (True, None), torch.tensor(True), torch.tensor([[True]]).numpy()], ids=str)
def test_a_bool_in_another_form_is_brought_back(value):
    """A decision in a list, or as an array of one bool, says what a bool says."""
    faults: set[str] = set()

    assert mend(value, False, faults) is True
    assert faults == {"container"}


def test_a_dict_with_something_beside_it_is_taken_out():
    """A dict in a list or a tuple says what the dict says, if its keys are those that were asked for."""
    asked, faults = {"a": 1.0}, set()

    assert mend(({"a": torch.tensor(2.0)}, None), asked, faults) == {"a": 2.0}
    assert faults == {"container"}
    assert mend([{"b": 2.0}], asked, faults) == [{"b": 2.0}]


OTHERS = {
    "a number for a decision": (torch.tensor(0.5), True),
    "the right form": (torch.zeros(2, 3), torch.ones(2, 3)),
    "a mask of scores": (torch.tensor([0.0, -math.inf]), torch.tensor([True, False])),
    "other axes": (torch.ones(3, 2), torch.ones(2, 3)),
    "nothing": (None, torch.ones(2)),
    "two outputs of other shapes": ((torch.ones(1), torch.ones(3)), torch.ones(2)),
}


@pytest.mark.parametrize("other", OTHERS)
def test_what_is_wrong_in_more_than_its_form_is_left_as_it_is(other):
    """Nothing is mended that would change what an answer says."""
    value, expected = OTHERS[other]
    faults: set[str] = set()

    assert mend(value, expected, faults) is value
    assert faults == set()


def test_half_precision_forgives_only_its_own_rounding():
    """A wrong value in half precision stays wrong."""
    assert mend(torch.full((2,), 1.1).half(), torch.ones(2), set())[0] == pytest.approx(1.1, abs=1e-3)


@pytest.mark.parametrize("value", [0.27, 0.014, 0.0])
def test_half_precision_hides_no_mistake_in_small_values(value):
    """What is forgiven is a share of what is expected: a softmax that was wrong by 0.01 passed in half precision."""
    expected = torch.tensor([0.26, 0.0]) if value > 0.2 else torch.tensor([0.01, 0.0])

    assert mend(torch.tensor([value, 0.0]).half(), expected, set())[0] == pytest.approx(value, abs=1e-3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_hides_no_small_mistake(dtype):
    """The right values, rounded, are right; a step without its decay, nearly as near, had been taken for them."""
    right = torch.randn(40, generator=torch.Generator().manual_seed(0))
    without_decay = right * 1.002

    assert torch.equal(mend(right.to(dtype), right, set()), right)
    assert not torch.equal(mend(without_decay.to(dtype), right, set()), right)


DROPOUTS = {
    "functional": lambda x: torch.nn.functional.dropout(x, 0.5),
    "torch": lambda x: torch.dropout(x, 0.5, True),
    "module": torch.nn.Dropout(0.5),
    "bound early": lambda x, dropout=torch.nn.functional.dropout: dropout(x, p=0.5),
    "alpha": lambda x: torch.nn.functional.alpha_dropout(x, 0.5, training=True),
}


@pytest.mark.parametrize("dropout", DROPOUTS)
def test_dropout_is_switched_off_on_every_way_to_it(dropout):
    """A mended call draws nothing, and says that it would have."""
    module = MendingModule(*(LocalModule({"f": f}, {"f": "function"}) for f in (DROPOUTS[dropout], lambda x: x)))

    assert torch.equal(module.f(torch.ones(50)), torch.ones(50))
    assert module.faults == {"random"}


def test_dropout_that_is_off_is_no_fault():
    """Only what would have changed a value is told."""
    off = lambda x: torch.nn.functional.dropout(x, 0.5, training=False) + torch.dropout(x, 0.0, True)
    module = MendingModule(*(LocalModule({"f": f}, {"f": "function"}) for f in (off, lambda x: 2 * x)))

    assert torch.equal(module.f(torch.ones(50)), torch.full((50,), 2.0))
    assert module.faults == set()


def test_gradients_go_through_the_output_that_is_asked_for():
    """A tuple with an axis too many has the gradients of its output."""
    pair = lambda x: (x.sum(), (2 * x)[None])
    module = MendingModule(*(LocalModule({"f": f}, {"f": "function"}) for f in (pair, lambda x: 2 * x)))

    grads = module.f.gradients(torch.ones(3), wrt=[0], weights=torch.ones(3))

    assert torch.equal(grads["argument 0"], torch.full((3,), 2.0))
    assert module.faults == {"container", "axis"}


def test_a_form_is_told_once_and_the_rest_is_checked(launcher):
    """The first check that sees it fails, with the points that it has; skipped is nothing, and good manners are not
    praised."""
    source = "import torch\ndef softmax(x, dim=-1):\n    e = (x - x.amax(dim, True)).exp()\n"
    verdict = judge_source(launcher, "softmax", source + "    return (e / e.sum(dim, True))[None].double()\n")
    failed = [check for check in verdict.checks if not check.passed]

    assert verdict.score == 7.0 and not verdict.passed
    assert [found.id for found in verdict.mistakes] == ["wrong-format"]
    assert all(check.form and check.earned for check in failed)
    assert len(failed) == 1 and all(check.outcome != "skipped" for check in verdict.checks)
    assert sum(check.earned for check in verdict.checks) / verdict.points == pytest.approx(6 / 9, abs=1e-3)


def test_other_names_for_the_right_numbers_are_a_form(launcher):
    """A table that lies one module deeper gives the right vectors: its names cost, and what is asked by them."""
    source = (
        "from torch import nn\nclass Embedding(nn.Module):\n    def __init__(self, vocab_size, d_model):\n"
        "        super().__init__()\n        self.table = nn.Embedding(vocab_size, d_model)\n"
        "    def forward(self, ids):\n        return self.table(ids){}\n"
    )
    verdict = judge_source(launcher, "embedding", source.format(""))
    wrong = judge_source(launcher, "embedding", source.format(" * 2"))

    assert [found.id for found in verdict.mistakes] == ["emb-other-name"]
    assert verdict.score is not None and wrong.score is not None
    assert 6.0 <= verdict.score <= 8.5 and wrong.score < 3.0
    assert next(check for check in verdict.checks if not check.passed).form == "names"


def test_an_untouched_stub_scores_one(launcher):
    """What does nothing earns nothing."""
    stub = (ROOT / "exercises/core/attention.py").read_text("utf-8")

    assert judge_source(launcher, "attention", stub).score == 1.0


def test_what_uses_a_stub_beside_it_is_written(launcher):
    """It says of which function of the same file the error is."""
    stub = "def softmax(x, dim=-1):\n    raise NotImplementedError\n"
    source = f"{stub}def scaled_dot_product_attention(q, k, v, mask=None):\n    return softmax(q @ k.mT) @ v\n"
    (mistake,) = judge_source(launcher, "attention", source).mistakes

    assert mistake.says == "`scaled_dot_product_attention` uses your `softmax`, and that is not written yet."


def test_a_stub_whose_checks_wait_for_another_function_is_a_stub(launcher):
    """Nothing of it is run, so the source tells: it is named as the others are, and quotes no check that waited."""
    stub = (ROOT / "exercises/analysis/score_scaling.py").read_text("utf-8")
    verdict = judge_source(launcher, "score_scaling", stub)

    assert [mistake.id for mistake in verdict.mistakes] == ["stub"] * 4
    assert not any("Not run before" in each for each in verdict.weaknesses)
