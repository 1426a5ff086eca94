"""The capstone `sort_numbers`: its lists, what runs see of right and wrong versions, and what `learn build` shows."""

from __future__ import annotations

import sys
from functools import cache, partial

import pytest
import torch
from support.course_files import ROOT, load
from support.factories import course, run_judge

from grader.judge.errors import CheckFailed
from grader.judge.processes.remote_module import LocalModule
from grader.judge.values.random_inputs import Rand
from grader.model import Submission

KINDS = {"Sorter": "class", "fit": "function"}
PIECES = {"encoder": "models", "pooling_heads": "models", "learning_rate": "training", "training": "core"}
ONE_CYCLE = "torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, total_steps=len(lists), pct_start={})"
ADAMW = "torch.optim.AdamW(model.parameters())"


@cache
def files():
    """The checks, the mistakes and the reference's namespace."""
    folder = "solutions/models"
    reference = vars(load(f"{folder}/sort_numbers.py"))
    return load(f"{folder}/test_sort_numbers.py"), load(f"{folder}/sort_numbers_mistakes.py"), reference


def version(name: str | dict[str, str]) -> LocalModule:
    """The reference with a known mistake, an alternative, or other lines: of `fit`, or of `Sorter` where it is made."""
    _, mistakes, reference = files()
    if isinstance(name, dict):
        known = mistakes.loop if "rate" in name else mistakes.model
        return LocalModule(reference | {known.function: known.build(name)}, KINDS)
    for known in mistakes.MISTAKE_SETS:
        rows = {each.id: each for each in known.mistakes} | {each.name: each for each in known.alternatives}
        if name in rows:
            made = known.build(rows[name].changes, rows[name].version)
            return LocalModule(reference | {known.function: made}, KINDS)
    return LocalModule(reference, KINDS)


def said_of(subject: LocalModule, check: str, seed: int = 1) -> str:
    """What a run's check says of a version; nothing where it passes."""
    torch.manual_seed(seed)
    try:
        getattr(files()[0], check)(subject, Rand(seed))
    except CheckFailed as failed:
        return str(failed)
    return ""


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2, 0.25, 0.3, 0.5])
def test_a_rate_that_torch_plans_is_right(share):
    """Torch's OneCycleLR fails where its warm-up is one step long: no short run of the checks has so many steps."""
    checks, _, _ = files()
    made = f"optimizer = torch.optim.AdamW(model.parameters())\nplan = {ONE_CYCLE.format(share)}"
    subject = version({"optimizer": made, "rate": "pass", "move": "optimizer.step()\nplan.step()"})

    for check in (checks.test_reports, checks.test_one_step_a_batch, checks.test_each_batch, checks.test_moves,
                  checks.test_gradients_are_fresh, checks.test_data_unchanged):  # fmt: skip
        check(subject, Rand(1))


def test_lists_are_sorted_by_the_numbers_that_ids_stand_for():
    """An answer has the ids of its list, and their numbers rise; with other names the ids do not."""
    checks, _, _ = files()
    order = torch.argsort(Rand(3)(checks.V))
    lists, answers = checks.draw_lists(Rand(4), order, 200)
    numbers = torch.argsort(order)[answers]

    assert torch.equal(lists.sort(-1).values, answers.sort(-1).values)
    assert bool((numbers.diff(dim=-1) >= 0).all()) and not bool((answers.diff(dim=-1) >= 0).all(-1).any())


def test_the_floor_is_what_the_numbers_of_a_list_tell():
    """Who says of each number how often it is in the list has the floor as loss, and the band's lower end is below."""
    checks, _, _ = files()
    lists, answers = checks.draw_lists(Rand(5), torch.arange(checks.V), 20_000)
    shares = (answers[:, :, None] == lists[:, None, :]).double().mean(-1)

    assert -shares.log().mean().item() == pytest.approx(checks.FLOOR, abs=0.005) and f"{checks.FLOOR:.3f}" == "1.798"
    assert checks.BAND_WITHOUT[0] < checks.FLOOR - 0.02 and checks.BAND_WITHOUT[1] < 2.6


@pytest.mark.slow
def test_a_short_run_is_measured_like_a_long_one(monkeypatch):
    """After 20 steps hardly a list is sorted, and what is said has the evidence; `build` shows what it promises."""
    checks, _, _ = files()
    monkeypatch.setattr(checks, "STEPS", 20)
    monkeypatch.setattr(checks, "STEPS_WITHOUT", 20)
    said = said_of(version("the reference"), "test_run")
    for name, track in PIECES.items():
        monkeypatch.setitem(sys.modules, name, load(f"solutions/{track}/{name}.py"))
    plan = load("solutions/models/sort_numbers_build.py")
    shown = list(checks.build(LocalModule(vars(plan), KINDS), Rand(1)))

    assert "95% are asked for. Your own losses went from 2.9" in said and "It has not learned to sort" in said
    assert shown[0].startswith("With positions, after 20 steps: 0") and shown[2].startswith("Without positions")
    assert all(text.count(" → ") == 5 and text.count("\n") == 5 for text in shown[1::2])


class SortsIds(torch.nn.Module):
    """Sorts by the ids themselves, without a run."""

    def __init__(self, vocab_size, length, positions=True):
        super().__init__()
        self.shift = torch.nn.Parameter(torch.zeros(vocab_size))

    def forward(self, ids):
        return 9.0 * torch.nn.functional.one_hot(ids.sort(-1).values, len(self.shift)) + self.shift


def test_a_model_that_holds_a_sort_is_worth_nothing():
    """Numbers have other ids in each run: what is not learned from the answers is wrong."""
    subject = LocalModule({"Sorter": SortsIds, "fit": lambda *_: None}, KINDS)
    assert "95% are asked for" in said_of(subject, "test_run")


class Counts(torch.nn.Module):
    """Sorts by an order that was counted in the answers; its parameters decide nothing."""

    def __init__(self, vocab_size, length, positions=True, is_buffer=False):
        super().__init__()
        self.shift, self.rank = torch.nn.Parameter(torch.zeros(vocab_size)), torch.arange(vocab_size)
        if is_buffer:
            self.register_buffer("rank", self.__dict__.pop("rank"))

    def forward(self, ids):
        ranks = self.rank[ids].sort(-1).values
        return 9.0 * torch.nn.functional.one_hot(torch.argsort(self.rank)[ranks], len(self.shift)) + self.shift


def count(model, _lists, answers, _report):
    """Find the order of the ids: of two in one answer, the first is the smaller."""
    later = torch.zeros(len(model.shift), len(model.shift), dtype=torch.bool)
    for place in range(1, answers.shape[-1]):
        later[answers[..., :place].flatten(), answers[..., place, None].expand_as(answers[..., :place]).flatten()] = (
            True
        )
    model.rank = (later & ~later.mT).sum(0)


class CountsInParameter(Counts):
    """Keeps the order in a parameter whose gradient is there, and nothing."""

    share = 0.0

    def __init__(self, vocab_size, length, positions=True):
        super().__init__(vocab_size, length, positions)
        self.kept = torch.nn.Parameter(self.__dict__.pop("rank").float())

    @property
    def rank(self):
        return self.kept.detach().long()

    @rank.setter
    def rank(self, rank):
        if "kept" in self._parameters:
            self.kept.data = rank.float()
        else:
            self.__dict__["rank"] = rank

    def forward(self, ids):
        return super().forward(ids) + self.share * self.kept


def test_a_model_that_counts_in_a_parameter_is_worth_nothing():
    """A parameter whose gradient is nothing was not learned by descent either."""
    assert "Training changed `kept`" in said_of(
        LocalModule({"Sorter": CountsInParameter, "fit": count}, KINDS), "test_run"
    )


class CountsInReachedParameter(CountsInParameter):
    """Keeps the order in a parameter that a gradient reaches, and sorts by it."""

    share = 1e-20


def test_a_model_that_sorts_by_itself_is_worth_nothing():
    """It sorts where it was to learn what belongs at each place, which is another number in another run."""
    subject = LocalModule({"Sorter": CountsInReachedParameter, "fit": count}, KINDS)
    assert "places of the answers in another order" in said_of(subject, "test_run")


@pytest.mark.parametrize(("is_buffer", "says"), [(False, "it learned beside it"), (True, "Training changed `rank`")])
def test_a_model_that_counts_is_worth_nothing(is_buffer, says):
    """An order that is counted is not learned by descent, wherever it is kept."""
    subject = LocalModule({"Sorter": partial(Counts, is_buffer=is_buffer), "fit": count}, KINDS)
    assert says in said_of(subject, "test_run")


@pytest.mark.slow
def test_a_fault_in_an_earlier_lesson_is_named_there(launcher):
    """A model made of an encoder with a causal mask does not see what comes; the advice is to check that lesson."""
    siblings = {
        name: (f"{track}/{name}.py", (ROOT / f"solutions/{track}/{name}.py").read_text())
        for name, track in PIECES.items()
    }
    path, source = siblings["encoder"]
    siblings["encoder"] = path, source.replace("mask = None", "mask = torch.ones(length, length).tril().bool()")
    source = (ROOT / "solutions/models/sort_numbers_build.py").read_text()
    passing = frozenset(PIECES) - {"encoder"}
    submission = Submission("sort_numbers", "models/sort_numbers.py", source, siblings, passing=passing)
    lesson = course().lessons["sort_numbers"]
    result = run_judge(launcher, "sort_numbers", lambda judge: judge.examine(lesson, submission, 7))

    outcomes = {check.id: check.outcome for check in result.checks}
    assert outcomes["sort_numbers.sees_all[forwards]"] == "failed" and outcomes["sort_numbers.run"] == "skipped"
    assert any("check encoder" in advice.command for advice in result.suggestions), result.suggestions


WRONG = [
    ("so-no-positions", "test_run", "what can be known without positions"),
    ("so-causal", "test_run", "It has not learned to sort"),
    ("so-no-attention", "test_run_without_positions", "of the places are right"),
    ("so-positions-always", "test_run_without_positions", "not just reordered"),
    (
        {"pos": "self.pos = nn.Embedding(length, 64)\npositions or nn.init.zeros_(self.pos.weight)"},
        "test_run_without_positions",
        "a table of zeros must be a constant",
    ),
    ({"optimizer": ADAMW, "rate": 'optimizer.param_groups[0]["lr"] = 0.3'}, "test_run", "It has not learned to sort"),
    ({"optimizer": ADAMW, "rate": 'optimizer.param_groups[0]["lr"] = 1e-5'}, "test_run", "It has not learned to sort"),
]


@pytest.mark.soak
@pytest.mark.parametrize(("name", "check", "says"), WRONG, ids=str)
def test_a_wrong_version_is_refused_by_its_run(name, check, says):
    """A real run of each wrong version is refused, with what its figures mean."""
    assert says in said_of(version(name), check)


@pytest.mark.soak
@pytest.mark.parametrize(
    "name", ["the reference", "with post-LN", "of two layers by hand, with waves", "with a zero table that stays"]
)
def test_a_right_version_sorts(name):
    """Right versions pass both runs, of whatever they are made."""
    subject = version(name)
    assert [said_of(subject, check) for check in ("test_run", "test_run_without_positions")] == ["", ""]
