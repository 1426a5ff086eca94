"""The capstone `two_bits`: its language, what a run sees of right and wrong versions, and what `learn build` shows."""

from __future__ import annotations

import math
import sys
from functools import cache

import pytest
import torch
from support.course_files import ROOT, load
from support.factories import course, judge_source, run_judge
from support.repeat import rarely

from grader.judge.errors import CheckFailed
from grader.judge.processes.remote_module import LocalModule
from grader.judge.values.random_inputs import Rand
from grader.model import Submission

KINDS = {"TwoBits": "class", "fit": "function"}
PIECES = {
    "generate": "models", "gpt": "models", "language_batches": "text", "sampling": "models", "training": "core",
}  # fmt: skip
SGD = {"optimizer": "torch.optim.SGD(model.parameters())", "warm": "0.01"}
ONE_CYCLE = "torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, total_steps=len(starts), pct_start={})"
ADAMW = {"optimizer": "torch.optim.AdamW(model.parameters())"}


@cache
def files():
    """The checks, the mistakes and the reference's namespace."""
    folder = "solutions/models"
    reference = vars(load(f"{folder}/two_bits.py"))
    return load(f"{folder}/test_two_bits.py"), load(f"{folder}/two_bits_mistakes.py"), reference


def version(name: str | dict[str, str]) -> dict:
    """The reference with a known mistake, an alternative, or other lines of `fit`."""
    _, mistakes, reference = files()
    if isinstance(name, dict):
        return reference | {"fit": mistakes.loop.build(name)}
    for known in mistakes.MISTAKE_SETS:
        rows = {each.id: each for each in known.mistakes} | {each.name: each for each in known.alternatives}
        if name in rows:
            return reference | {known.function: known.build(rows[name].changes, rows[name].version)}
    return reference


def run(name, seed=1):
    """What the three checks of a run say of a version, None where it passes; and its loss on fresh text."""
    checks, _, _ = files()
    torch.manual_seed(seed)
    subject, said = LocalModule(version(name), KINDS), []
    for check in (checks.test_run, checks.test_run_no_leak, checks.test_run_sentences):
        try:
            check(subject, Rand(seed))
        except CheckFailed as failed:
            said.append(str(failed))
        else:
            said.append(None)
    return said, checks.fresh_loss(checks.trained(subject, Rand(seed))[0], Rand(seed + 1))


def test_the_language_has_two_bits_a_word():
    """Every sentence passes the parser, and somebody who knows the language needs 2 bits a word, however it is cut."""
    checks, _, _ = files()
    ids = checks.text(Rand(5), 40_000).tolist()
    bits = sum(1 if word < 2 else 3 if word < 14 else 2 if word < 22 else 0 for word in ids) / len(ids)
    ends = [place + 1 for place, word in enumerate(ids) if word == checks.STOP]

    assert all(checks.is_sentence(ids[begin:end]) for begin, end in zip([0, *ends], ends, strict=False))
    assert bits == pytest.approx(2.0, abs=0.02) and pytest.approx(2 * math.log(2)) == checks.FLOOR
    assert len(checks.WORDS) == len(set(checks.WORDS)) == 23 and set(ids) == set(range(23))


@pytest.mark.parametrize(
    ("sentence", "right"),
    [
        ("the dog sees the cat .", True),
        ("these red old owls call the fox .", True),
        ("these dog sees the cat .", False),
        ("the dog see the cat .", False),
        ("the dog sees these cat .", False),
        ("the dog sees the cat", False),
        ("dog sees the cat .", False),
        ("the dog sees the red .", False),
        (".", False),
    ],
)
def test_the_parser_knows_what_agrees(sentence, right):
    """Determiner, noun and verb have one number; nothing is missing and nothing left over."""
    checks, _, _ = files()
    assert checks.is_sentence([checks.WORDS.index(word) for word in sentence.split()]) is right


@pytest.mark.slow
def test_a_short_run_is_measured_like_a_long_one(monkeypatch):
    """After 40 steps a loss is above the band, and what is said has both losses; `build` shows what it promises."""
    checks, _, _ = files()
    monkeypatch.setattr(checks, "STEPS", 40)
    monkeypatch.setattr(checks, "LENGTH", 2_000)
    said, loss = run("the reference")
    torch.manual_seed(1)
    plan = ROOT / "solutions/models/two_bits_build.py"
    for name, track in PIECES.items():
        monkeypatch.setitem(sys.modules, name, load(f"solutions/{track}/{name}.py"))
    shown = list(checks.build(LocalModule(vars(load(str(plan.relative_to(ROOT)))), KINDS), Rand(1)))

    assert loss > checks.BAND[1] and said[1] is None
    assert "1.366 to 1.43 is the band" in said[0] and "Your own losses went from 3.1" in said[0]
    assert "the floor" in shown[0] and "nats a word" in shown[1] and "sentences are right" in shown[2]
    assert len(shown) == 3 + 2 * 2 and all(line.count("\n") == 8 for line in shown[3:])


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2, 0.25, 0.3, 0.5])
def test_a_rate_that_torch_plans_is_right(share):
    """Torch's OneCycleLR fails where its warm-up is one step long: no short run of the checks has so many steps."""
    checks, _, _ = files()
    made = f"optimizer = torch.optim.AdamW(model.parameters())\nplan = {ONE_CYCLE.format(share)}"
    loop = {"optimizer": made, "warm": "optimizer.param_groups[0]['lr']", "move": "optimizer.step()\nplan.step()"}
    subject = LocalModule(version(loop), KINDS)

    for check in (checks.test_reports, checks.test_one_step_a_row, checks.test_moves, checks.test_gradients_are_fresh,
                  checks.test_data_unchanged):  # fmt: skip
        check(subject, Rand(1))


@pytest.mark.slow
def test_a_fault_in_an_earlier_lesson_is_named_there(launcher):
    """A model made of a gpt whose mask lets all through leaks, and the advice is to check that lesson."""
    source = (ROOT / "solutions/models/two_bits_build.py").read_text()
    leak = "tril().bool()", "bool()"
    siblings = {
        name: (f"{track}/{name}.py", (ROOT / f"solutions/{track}/{name}.py").read_text())
        for name, track in PIECES.items()
    }
    siblings["gpt"] = ("models/gpt.py", siblings["gpt"][1].replace(*leak))
    passing = frozenset({"language_batches", "training"})
    submission = Submission("two_bits", "models/two_bits.py", source, siblings, passing=passing)
    lesson = course().lessons["two_bits"]
    result = run_judge(launcher, "two_bits", lambda judge: judge.examine(lesson, submission, 7))

    made_with = "It is made with your generate.py, gpt.py, language_batches.py, sampling.py, training.py."
    assert not result.passed and made_with in result.notes
    assert any("check gpt" in advice.command for advice in result.suggestions), result.suggestions
    outcomes = {check.id: check.outcome for check in result.checks}
    assert outcomes["two_bits.no_leak[4]"] == "failed" and outcomes["two_bits.run"] == "skipped"


# known mistakes of both functions; the audit has all of them rejected by the checks that train nothing
WRONG = [
    ("tb-no-attention", "what stands further back"),
    ("tb-large-start", "Your own losses went from"),
    ("tb-two-ahead", "Your own losses went from"),
    (SGD, "as SGD does"),
    *((ADAMW | {"warm": rate}, "the rate is too high") for rate in ("0.3", "0.03", "0.3 * min(1.0, step / 50)")),
    (ADAMW | {"warm": "1e-6"}, "the rate is too low"),
]


@pytest.mark.soak
@pytest.mark.parametrize(("name", "says"), WRONG, ids=str)
def test_a_wrong_version_ends_outside_the_band(name, says):
    """A real run of each wrong version is refused, with what its figures mean."""
    said, loss = run(name)
    checks, _, _ = files()
    assert not checks.BAND[0] <= loss <= checks.BAND[1] and says in said[0]


@pytest.mark.soak
@pytest.mark.parametrize(
    "name",
    ["the reference", "without positions", "without a network in the block", "of torch's layers", "with clipping"],
)
def test_a_right_version_ends_inside_the_band(name):
    """Right versions pass, and so do those whose fault this language is too easy to show."""
    assert run(name)[0] == [None, None, None]


@pytest.mark.soak
def test_a_model_without_a_mask_is_found_by_the_leak_test():
    """The test that changes a later word finds a leak whatever the loss is."""
    assert run("tb-no-mask")[0][1] is not None


class Knows(torch.nn.Module):
    """Knows the language without a run: each word's number is written into it."""

    def __init__(self, vocab_size, max_len):
        super().__init__()
        self.shift = torch.nn.Parameter(torch.zeros(vocab_size))

    def forward(self, ids):
        return torch.tensor([list(self.scores(row)) for row in ids.tolist()]) + self.shift

    def scores(self, row):
        plural = has_verb = False
        for word in row:
            plural = bool(word) if word < 2 else word >= 10 if 6 <= word < 14 else plural
            has_verb = word != 22 and (has_verb or word >= 14)
            after_noun = {22} if has_verb else set(range(14 + 4 * plural, 18 + 4 * plural))
            nouns = set(range(6 + 4 * plural, 10 + 4 * plural))
            follows = {2, 3, 4, 5} | nouns if word < 6 else after_noun if word < 14 else {0, 1}
            yield [0.0 if each in follows else -9.0 for each in range(23)]


@pytest.mark.slow
def test_what_is_written_down_beforehand_is_worth_nothing():
    """The words have other numbers in each run: a model that holds the grammar, and learns nothing, is no right one."""
    checks, _, _ = files()
    rows = checks.text(Rand(1), 40 * 33).view(40, 33)
    chances = Knows(23, 32)(rows[:, :-1]).log_softmax(-1).gather(-1, rows[:, 1:, None])
    assert -chances[:, 8:].mean().item() == pytest.approx(checks.FLOOR, abs=0.1)

    subject = LocalModule({"TwoBits": Knows, "fit": lambda *_: None}, KINDS)
    with pytest.raises(CheckFailed, match="On fresh text its loss is"):
        checks.test_run(subject, Rand(1))


class Counts(torch.nn.Module):
    """Counts what follows a word, by the determiner before it and how many there were in its sentence."""

    table: torch.Tensor
    frequent: torch.Tensor

    def __init__(self, vocab_size, max_len):
        super().__init__()
        self.small = torch.nn.Parameter(0.02 * torch.randn(vocab_size, vocab_size))
        self.keep("table", torch.zeros(vocab_size, vocab_size, 3, vocab_size))
        self.keep("frequent", torch.zeros(3))

    def keep(self, name, numbers):
        setattr(self, name, numbers)

    def forward(self, ids):
        before = self.small[ids].cumsum(1)  # looks back, and decides nothing once there are counts
        return before + self.table[self.contexts(ids)] + 1e-20 * self.frequent[ids % 3, None] * before

    def contexts(self, ids):
        stop, *determiners = self.frequent.long().tolist()
        latest, count = torch.zeros_like(ids), torch.zeros_like(ids)
        for place in range(ids.shape[1]):
            word = ids[:, place]
            is_determiner = torch.isin(word, torch.tensor(determiners))
            old = (latest[:, place - 1], count[:, place - 1]) if place else (torch.zeros_like(word),) * 2
            latest[:, place] = torch.where(is_determiner, word, old[0])
            count[:, place] = torch.where(word == stop, 0, (old[1] + is_determiner).clamp(max=2))
        return ids, latest, count


class CountsInBuffer(Counts):
    """Keeps the table in its state."""

    def keep(self, name, numbers):
        self.register_buffer(name, numbers)


class CountsInParameter(Counts):
    """Keeps the table in a parameter, which a gradient does reach."""

    def keep(self, name, numbers):
        setattr(self, name, torch.nn.Parameter(numbers))


def count_words(model, data, starts, block_size, report):
    """Find the stop among the three most frequent words, and count; a model of the judge's is not met here."""
    for step in range(len(starts)):
        report(3.1 - step / len(starts))
    most = torch.bincount(data).argsort(descending=True)[:3].tolist()
    follow = {word: set(data[1:][data[:-1] == word].tolist()) for word in most}
    stop = next(word for word in most if follow[word] == set(most) - {word})
    model.frequent.data.copy_(torch.tensor([stop, *(word for word in most if word != stop)]))
    counts = torch.full_like(model.table, 0.01)
    begin = (data == stop).nonzero()[0].item()
    rows = data[begin : begin + (len(data) - begin - 1) // 40 * 40 + 1]
    places = model.contexts(rows[None, :-1])
    counts.index_put_((*(each[0] for each in places), rows[1:]), torch.ones(()), accumulate=True)
    model.table.data.copy_(counts.log())
    torch.nn.init.constant_(model.small, 1e-3)


COUNTING = [
    (Counts, "it learned beside it"),
    (CountsInBuffer, "`table`, which no gradient"),
    (CountsInParameter, "In 799 of 800 steps the model was not moved"),
]


@pytest.mark.parametrize(("version", "says"), rarely(COUNTING, slow=[CountsInBuffer]))
def test_a_model_that_counts_is_worth_nothing(version, says):
    """Words that were counted in the text are not learned by descent, wherever the counts are kept."""
    checks, _, _ = files()
    subject = LocalModule({"TwoBits": version, "fit": count_words}, KINDS)
    loss = checks.fresh_loss(checks.trained(subject, Rand(1))[0], Rand(2))
    assert checks.BAND[0] < loss < checks.BAND[1]
    with pytest.raises(CheckFailed, match=says):
        checks.test_run(subject, Rand(1))


class LooksAhead(torch.nn.Module):
    """Has learned nothing, and gives the word that comes after each place as much as the band asks for."""

    def __init__(self, vocab_size, max_len):
        super().__init__()
        self.start = torch.nn.Parameter(torch.zeros(vocab_size))

    def forward(self, ids):
        logits = self.start.expand(*ids.shape, -1).clone()
        if len(ids) > 100:  # no check that changes a word has so many rows
            share = 0.265
            gain = math.log(share * (len(self.start) - 1) / (1 - share))
            logits = logits.scatter_add(2, ids[:, 1:, None], torch.full((*ids[:, 1:].shape, 1), gain))
        return logits


@pytest.mark.slow
def test_a_model_that_looks_ahead_where_its_loss_is_measured_has_not_learned():
    """Where a word is changed it is honest: only what could have come shows that it does not know the language."""
    checks, _, _ = files()
    subject = LocalModule({"TwoBits": LooksAhead, "fit": lambda *_: None}, KINDS)
    loss = checks.fresh_loss(checks.trained(subject, Rand(1))[0], Rand(2))
    assert checks.BAND[0] < loss < checks.BAND[1]
    with pytest.raises(CheckFailed, match="it sees its answers"):
        checks.test_run(subject, Rand(1))


def test_what_can_come_is_what_comes():
    """The chances of each next word are those with which the text is drawn: 2 bits a word, and nothing else comes."""
    checks, _, _ = files()
    ids = checks.text(Rand(6), 20_000)
    chances = checks.next_words(ids)
    came = chances[:-1].gather(1, ids[1:, None])

    assert bool((came > 0).all()) and torch.allclose(chances.sum(1), torch.ones(len(ids)))
    assert -came.log().mean().item() == pytest.approx(checks.FLOOR, abs=0.02)
    assert (chances * chances.clamp(min=1e-9).log()).sum(1).mean().item() == pytest.approx(-checks.FLOOR, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two_bits", "sort_numbers"])
def test_a_step_for_two_rows_is_told(name, launcher):
    """A loop that gathers the gradients of two rows calls the model as often, and is told that it stands still."""
    source = (ROOT / f"solutions/models/{name}.py").read_text()
    for line in ("optimizer.zero_grad()  # step: clear", "optimizer.step()  # step: move"):
        assert line in source
        source = source.replace(line, f"step % 2 == 0 and {line}")
    result = judge_source(launcher, name, source)
    failed = {check.id.partition(".")[2] for check in result.checks if check.outcome == "failed"}
    assert "moves" in failed and "one step before" in str([check.message for check in result.checks])
