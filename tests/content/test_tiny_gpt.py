"""The capstone `tiny_gpt`: its frozen text, tables that count it, what weights show of their training, and `build`."""

from __future__ import annotations

import hashlib
import math
import re
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save
from support.course_files import ROOT, load
from support.factories import course, run_judge
from torch.nn import functional

from grader.judge.errors import CheckFailed
from grader.judge.processes.remote_module import LocalModule
from grader.judge.values.artefact import read_tensors
from grader.judge.values.random_inputs import Rand
from grader.model import Submission
from grader.submission import read_artefact

TEXT = ROOT / "lessons/models/tiny_gpt.txt"
QUESTIONS = ROOT / "lessons/models/tiny_gpt.quiz.toml"
SHA = "8fb885ec99159f0a4a2d0ccd750d278dcc0002ee4ccbdeb8a3c3b960b267ab86"
REFERENCE = ROOT / "solutions/models/tiny_gpt.py"
KINDS = {"TinyGPT": "class"}


@cache
def checks():
    return load("solutions/models/test_tiny_gpt.py")


@cache
def weights() -> dict[str, torch.Tensor]:
    """The reference's, as the judge reads them."""
    return read_tensors(read_artefact(REFERENCE))


def untrained(seed=1) -> dict[str, torch.Tensor]:
    torch.manual_seed(seed)
    made = load("solutions/models/tiny_gpt.py").TinyGPT(83, 64, 4, 2, 256)
    return {name: each.detach() for name, each in made.state_dict().items()}


def test_the_text_is_the_frozen_one():
    """It is the file that the script once wrote, in plain signs: everybody's losses hang on it."""
    raw = TEXT.read_bytes()
    assert hashlib.sha256(raw).hexdigest() == SHA
    assert raw.isascii() and len(raw) == 165_764 and len(set(raw)) == 83


def test_the_script_keeps_sentences_and_leaves_out_the_rest():
    """Marks are taken off; code, tables, labels and formulas are no prose."""
    script = load("scripts/freeze_text.py")
    page = (
        "# Title\n\nQuery **t** sees the keys `0 ... t`, and no other.\n\n```\ncode = 1\n```\n\n| a | b |\n\nShort.\n"
    )
    assert [script.plain(each) for each in script.prose_of(page)] == [
        "Query t sees the keys 0 ... t, and no other.", "",
    ]  # fmt: skip
    assert script.plain("The scores are divided by the root of d_head, whatever it is.") == ""
    assert len(list(script.documents())) > 40


def test_tables_count_as_witten_and_bell_say(monkeypatch):
    """On a small text the judge's tables have the losses that the definition gives, character by character."""
    text = "the cat sat on the mat, the rat sat on the cat. the hat that the cat sat on sat on the mat."
    alphabet, cut = sorted(set(text)), 70
    ids = torch.tensor([alphabet.index(char) for char in text])
    behind = defaultdict(Counter)
    for place in range(cut):
        for size in range(min(place, 4) + 1):
            behind[text[place - size : place]][text[place]] += 1

    def chance(char, context):
        shorter = chance(char, context[1:]) if context else 1 / len(alphabet)
        n, k = behind[context].total(), len(behind[context])
        return (behind[context][char] + k * shorter) / (n + k) if n else shorter

    monkeypatch.setattr(checks(), "corpus", lambda: (alphabet, ids[:cut], ids[cut:]))
    checks().tables.cache_clear()
    try:
        found = list(checks().tables().values())
    finally:
        checks().tables.cache_clear()
    for size, loss in enumerate(found):
        chances = torch.tensor([chance(text[i], text[i - size : i]) for i in range(cut, len(text))])
        assert loss == pytest.approx(-chances.log().mean().item(), abs=1e-5)


def test_the_lesson_has_the_figures_of_the_judge():
    """The losses of the tables and the counts in the lesson are those that the judge computes."""
    text = (ROOT / "lessons/models/tiny_gpt.md").read_text()
    _, train, held_out = checks().corpus()
    for size, (name, loss) in enumerate(checks().tables().items(), 1):
        digits = 83 ** torch.arange(size)
        entries = len((train.unfold(0, size, 1) * digits).sum(-1).unique())
        assert f"| {name} | {entries:,} | {loss:.3f} |" in text
    assert f"{len(train) + len(held_out):,} characters" in text
    assert f"{sum(each.numel() for each in weights().values()):,} numbers" in text


def test_the_judges_model_is_the_reference():
    """The judge computes by itself what the reference gives with the same weights."""
    model = load("solutions/models/tiny_gpt.py").TinyGPT(83, 64, 4, 2, 256)
    model.load_state_dict(weights())
    ids = checks().corpus()[2][:640].view(10, 64)
    torch.testing.assert_close(checks().scores(weights(), ids), model(ids), atol=2e-4, rtol=0)


@pytest.mark.slow
def test_the_reference_has_learned_what_it_says():
    """Its weights, in half precision below 300 kB, are better than 4-grams at least, and write words of the text."""
    raw = read_artefact(REFERENCE)
    loss, level, _ = checks().verdict(weights())
    assert len(raw) < 300_000 and loss < 1.5 and level in ("good", "excellent")
    words = checks().sample(weights(), Rand(1), 120).split()
    known = set(TEXT.read_text().split())
    assert sum(word in known for word in words) / len(words) > 0.6


@pytest.mark.slow
def test_windows_longer_than_those_of_the_training_cost_what_is_said():
    """The question on windows of 128 tells what the kept weights have there, which is more than in those of 64."""
    held_out = checks().corpus()[2]
    (said,) = re.findall(r"it has ([\d.]+) nats in windows of 64, and ([\d.]+) in windows", QUESTIONS.read_text())
    for length, loss in zip((64, 128), map(float, said), strict=True):
        count = (len(held_out) - 1) // length
        ids, targets = (held_out[begin:][: count * length].view(count, length) for begin in (0, 1))
        logits = torch.cat([checks().scores(weights(), each) for each in ids.split(64)])
        assert functional.cross_entropy(logits.transpose(1, 2), targets).item() == pytest.approx(loss, abs=0.006), (
            length
        )


@pytest.mark.slow
def test_the_reference_passes_and_its_level_is_told(launcher):
    """In a worker the reference with its weights passes every check; a level and a sample stand below the verdict."""
    source = REFERENCE.read_text()
    submission = Submission("tiny_gpt", "tiny_gpt.py", source, artefact=read_artefact(REFERENCE))
    result = run_judge(launcher, "tiny_gpt", lambda judge: judge.examine(course().lessons["tiny_gpt"], submission, 7))
    assert result.passed and result.score == 10.0
    assert any("nats a character (" in note for note in result.notes)
    assert any(note.startswith("They write: ") for note in result.notes)


WHOLE = save(weights())
BROKEN = {
    "missing": (None, "`learn build` trains a model"),
    "cut off": (WHOLE[:-100], "cut off"),
    "a pickle": (b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01a\x94K\x01s.", "are a pickle"),
    "not a number": (save(weights() | {"norm.bias": torch.full((64,), float("nan"))}), "`norm.bias` has numbers"),
    "a model with a head": (save(weights() | {"head.weight": torch.zeros(83, 64)}), "also have `head.weight`"),
    "names with a prefix": (save({f"model.{name}": each for name, each in weights().items()}), "lack `blocks.0.attn"),
    "wider": (save(weights() | {"norm.bias": torch.zeros(96)}), "has the shape (96,); expected (64,)"),
    "the lesson's other order": (save(weights() | {"tok.weight": weights()["tok.weight"].T.contiguous()}), "(64, 83)"),
    "float64": (save(weights() | {"norm.bias": torch.zeros(64, dtype=torch.float64)}), "expected torch.float32"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_weights_that_do_not_fit_are_named(name):
    """What is wrong with the file is said by the check of the file, before anything is measured."""
    raw, says = BROKEN[name]
    subject = LocalModule({}, KINDS)
    subject.artefact = raw
    with pytest.raises(CheckFailed) as failed:
        checks().test_weights(subject)
    assert says in str(failed.value)


@pytest.mark.slow
def test_a_broken_file_is_one_failed_check(launcher):
    """In a worker the class keeps its points; what rests on the weights is not run."""
    submission = Submission("tiny_gpt", "tiny_gpt.py", REFERENCE.read_text(), artefact=WHOLE[:5000])
    result = run_judge(launcher, "tiny_gpt", lambda judge: judge.examine(course().lessons["tiny_gpt"], submission, 7))
    ends = {check.id.partition(".")[2]: check.outcome for check in result.checks}
    assert ends.pop("weights") == "failed" and ends.pop("held_out") == "skipped" and set(ends.values()) == {"passed"}
    assert not result.passed and any("cut off" in each for each in result.weaknesses), result.weaknesses


@pytest.mark.slow
def test_missing_weights_are_said_beside_a_named_mistake(launcher):
    """A mistake of the class explains no missing file, so both are said."""
    source = REFERENCE.read_text().replace(", device=ids.device", "")
    lesson = course().lessons["tiny_gpt"]
    submission = Submission("tiny_gpt", "tiny_gpt.py", source)
    result = run_judge(launcher, "tiny_gpt", lambda judge: judge.examine(lesson, submission, 7))
    assert [mistake.id for mistake in result.mistakes] == ["gp-device"]
    assert len(result.weaknesses) == 2 and "There is no file of weights" in result.weaknesses[1]


# --- what weights show of their training ------------------------------------------------------------------------------


def repeats() -> dict[str, torch.Tensor]:
    """Weights that say again what they read: nothing is added to the stream, and each row is its own best match."""
    state = untrained()
    still = {name: torch.zeros_like(each) for name, each in state.items() if ".wo." in name or ".w2." in name}
    rows = torch.nn.functional.normalize(torch.randn(83, 64)) * 2
    return state | still | {"tok.weight": rows, "norm.weight": torch.full((64,), 1.1)}


def untrained_and_loud():
    """As nn.Embedding starts: each character is likest to itself."""
    return untrained() | {"tok.weight": Rand(1)(83, 64)}


def of_another_alphabet():
    """The reference's, for ids that begin at 1."""
    return weights() | {"tok.weight": weights()["tok.weight"].roll(1, 0)}


def diverged():
    """All that a rate far too high leaves."""
    return {name: torch.full_like(each, math.nan) for name, each in weights().items()}


def overflowing():
    """One table so large that its square is none."""
    return weights() | {"tok.weight": 1e30 * weights()["tok.weight"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("state", "says"),
    [
        (diverged, "no finite loss; trigrams have 1.896 nats. `tok.weight` holds NaN or infinity: the training has"),
        (overflowing, "`tok.weight` holds numbers up to 5e+29: the training has diverged"),
        (untrained, "it has not been trained"),
        (untrained_and_loud, "it has not been trained"),
        (repeats, "the targets were the inputs"),
        (of_another_alphabet, "worse than knowing nothing"),
    ],
)
def test_weights_that_learned_nothing_are_told_so(state, says):
    """A start, a copy of the input, and what was learned with other ids are refused with what they are."""
    _, level, said = checks().verdict(state())
    assert level == "" and says in said


def test_weights_that_know_too_much_are_refused(monkeypatch):
    """Weights that know the last tenth no worse than what stands before it have read both."""
    (alphabet, train, held_out), _ = checks().corpus(), checks().tables()  # these are counted before, and kept
    monkeypatch.setattr(checks(), "corpus", lambda: (alphabet, train, train[-len(held_out) :]))
    _, level, said = checks().verdict(weights())
    assert level == "" and "these weights were trained on the last tenth" in said


def test_weights_that_know_the_last_tenth_better_are_refused_at_every_level(monkeypatch):
    """A few steps on the last tenth alone bring weights below trigrams, and they know the text before it less well."""
    (alphabet, train, held_out), counted = checks().corpus(), checks().tables()
    known = train[-len(held_out) :]
    monkeypatch.setattr(checks(), "corpus", lambda: (alphabet, torch.cat([train, held_out]), known))
    monkeypatch.setattr(checks(), "tables", lambda: {**counted, "4-grams": 0.0, "5-grams": 0.0})
    _, level, said = checks().verdict(weights())
    assert level == "" and "these weights were trained on the last tenth" in said


@pytest.mark.soak
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("targets are the inputs", "the targets were the inputs"),
        ("targets two ahead", "two places ahead"),
        ("no mask", "it was trained without one"),
        ("no attention", "Without its attention it has"),
        ("rate x 100", "the rate is too high"),
        ("rate / 100", "learned too little"),
    ],
)
def test_a_wrong_version_gets_the_verdict_that_it_predicts(name, says):
    """A real run of each wrong version, of 250 steps, is refused with its cause, from its weights alone."""
    trained, state = load("benchmarks/tiny_gpt.py").train(name, steps=250)
    _, level, said = trained.verdict(state)
    assert level == "" and says in said


# --- `learn build` ----------------------------------------------------------------------------------------------------


def test_build_shows_losses_beside_tables_and_gives_weights_that_fit(monkeypatch):
    """After a few steps there are the tables, a line for each stretch, a text, and weights that the check can read."""
    for name, value in {"STEPS": 6, "PART": 2, "SHOWN": 4, "SAMPLE": 20}.items():
        monkeypatch.setattr(checks(), name, value)
    for piece, track in load("benchmarks/tiny_gpt.py").PIECES.items():
        monkeypatch.setitem(sys.modules, piece, load(f"solutions/{track}/{piece}.py"))
    torch.manual_seed(1)
    plan = LocalModule(vars(load("solutions/models/tiny_gpt_build.py")), KINDS)
    about, tables, *lines, written, state = checks().build(plan, Rand(1))

    assert str(TEXT) in about and "tables of 5-grams" in tables
    assert [line.split()[1] for line in lines] == ["4", "6"] and all("above all tables" in line for line in lines)
    assert written.startswith("\nIt writes:")
    subject = LocalModule({}, KINDS)
    subject.artefact = save(state)
    checks().test_weights(subject)
    assert not torch.equal(state["tok.weight"], untrained()["tok.weight"])


def test_the_reference_file_is_plain():
    """It holds the tensors of the model in half precision, and nothing beside them."""
    found = load_file(Path(f"{REFERENCE.with_suffix('')}.safetensors"))
    assert found.keys() == checks().shapes().keys() and {each.dtype for each in found.values()} == {torch.float16}
