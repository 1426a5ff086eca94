"""Recorded answers: what is written down of the reference is played back exactly, and nothing else is."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grader.authoring.release.excerpt import excerpt
from grader.errors import CourseError
from grader.judge.errors import LearnerError
from grader.judge.processes.remote_module import LocalModule
from grader.judge.transcript.replay import ROUNDING, NotRecorded, PlayedRand, Player
from grader.judge.transcript.transcript import Exchange, RecordedRand, Recorder, Transcript
from grader.judge.transcript.transcript_file import TranscriptFile, write_transcripts
from grader.judge.values.compare import same
from grader.judge.values.random_inputs import Rand

KINDS = {"double": "function", "fussy": "function", "Scale": "class"}


class Scale(torch.nn.Module):
    """Something with a state."""

    def __init__(self, size):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(size))

    def forward(self, x):
        return x * self.weight


def fussy(x):
    raise ValueError("not this one")


NAMESPACE: dict[str, Any] = {"double": lambda x, by=2: x * by, "fussy": fussy, "Scale": Scale}


def recorded(run):
    """What `run(subject)` asks of the module above and is answered."""
    exchanges: list[Exchange] = []
    run(Recorder(LocalModule(NAMESPACE, KINDS), KINDS, exchanges))
    return exchanges


def reread(folder: Path, story: Transcript) -> Transcript:
    """A story that was written to a file and read again."""
    write_transcripts(folder / "answers", {("test_it", 3): story})
    return TranscriptFile(folder / "answers").read("test_it", 3)


# --- the players ------------------------------------------------------------------------------------------------------


def test_a_function_is_answered_by_its_arguments_in_any_order():
    """Calls may come in another order, and again; other arguments are refused by name."""
    one, two = torch.ones(3), torch.full((3,), 5.0)
    player = Player(KINDS, recorded(lambda subject: (subject.double(one), subject.double(two, by=3))))

    assert same(player.double(two, by=3), two * 3)
    assert same(player.double(one), one * 2)
    assert same(player.double(one), one * 2)
    with pytest.raises(NotRecorded, match=r"other inputs.*`double`"):
        player.double(two)


def test_inputs_may_be_rounded_otherwise():
    """An input that differs in its last bits is the same input; one that differs visibly is not."""
    x = torch.rand(4)
    player = Player(KINDS, recorded(lambda subject: subject.double(x)), ROUNDING)

    assert same(player.double(torch.nextafter(x, torch.ones(4))), x * 2)
    with pytest.raises(NotRecorded):
        player.double(x + 1e-3)


def test_what_is_given_out_cannot_be_spoiled():
    """A check that changes an answer in place changes no later answer."""
    x = torch.ones(2)
    player = Player(KINDS, recorded(lambda subject: subject.double(x)))
    player.double(x).zero_()

    assert same(player.double(x), x * 2)


def test_an_error_is_an_answer():
    """What the reference raised is raised again."""

    def run(subject):
        with pytest.raises(LearnerError):
            subject.fussy(1)

    player = Player(KINDS, recorded(run))
    with pytest.raises(LearnerError, match="not this one"):
        player.fussy(1)


def test_an_object_is_asked_in_its_own_order():
    """Two objects may be used interleaved, and one left out; but one object's story is told from its beginning."""
    x, state = torch.ones(2), {"weight": torch.tensor([2.0, 3.0])}

    def run(subject):
        first = subject.Scale(2)
        first.state()
        second = subject.Scale(2, state=state)
        second.eval()
        second(x)

    exchanges = recorded(run)
    player = Player(KINDS, exchanges)
    second = player.Scale(2, state=state)
    first = player.Scale(2)
    assert second.eval() is second
    assert same(second(x), state["weight"])
    assert list(first.state()["state"]) == ["weight"]

    hasty = Player(KINDS, exchanges).Scale(2, state=state)
    with pytest.raises(NotRecorded):
        hasty(x)  # before it was put into evaluation mode


def test_a_model_and_its_optimizer_are_one_story():
    """Objects that were made with each other are asked in one order; the events tell of all of them."""

    def run(subject):
        model = subject.make_model(
            [["linear", 2, 1]], {"layers.0.weight": torch.ones(1, 2), "layers.0.bias": torch.zeros(1)}
        )
        subject.make_optimizer(model, "sgd", lr=0.1)
        model(torch.ones(1, 2))
        return model.state()["state"], subject.events()

    player = Player(KINDS, recorded(run))
    assert same(run(player), run(LocalModule(NAMESPACE, KINDS)), 0.0)


def test_draws_are_given_as_they_were():
    """What was drawn comes again in its order, masks and whole numbers too; another draw is refused."""

    def draw(rand):
        return rand(2, 3, scale=0.5), rand.integers(0, 9, 4), rand.mask(3, 5), rand(2, dtype=torch.float64)

    draws: list = []
    drawn = draw(RecordedRand(Rand(5), draws))
    assert same(drawn, draw(Rand(5)), 0.0)
    assert same(draw(PlayedRand(5, "torch", draws)), drawn, 0.0)
    with pytest.raises(NotRecorded, match="inputs"):
        PlayedRand(5, "torch", draws)(3, 2)


# --- the file ---------------------------------------------------------------------------------------------------------

DTYPES = [
    torch.float32,
    torch.float64,
    torch.bfloat16,
    torch.float16,
    torch.bool,
    torch.int64,
    torch.uint8,
    torch.complex64,
]
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats() | st.text(max_size=9)
    | st.builds(lambda dtype, shape: torch.ones(shape).cumsum(0).to(dtype) if shape else torch.tensor(3).to(dtype),
                st.sampled_from(DTYPES), st.lists(st.integers(0, 3), max_size=3)),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner)
    | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(asked=PLAIN, answered=PLAIN, drawn=PLAIN)
def test_whatever_is_plain_comes_back_from_the_file(tmp_path_factory, asked, answered, drawn):
    """Every kind of array, NaN, infinity, nested lists, tuples and dictionaries: exactly what was written is read."""
    story = Transcript([("it", drawn)], [Exchange("call", {"args": asked}, {"value": answered})])
    back = reread(tmp_path_factory.getbasetemp(), story)

    assert same(back.draws, [("it", drawn)], 0.0)
    assert back.reference[0].operation == "call"
    assert same(back.reference[0].content, {"args": asked}, 0.0)
    assert same(back.reference[0].answer, {"value": answered}, 0.0)


def test_an_array_is_written_once(tmp_path):
    """The same input asked of both sides on every occasion takes its room once."""
    x = torch.rand(1000)
    exchanges = recorded(lambda subject: [subject.double(x, by=1) for _ in range(4)])
    write_transcripts(tmp_path / "answers", {("test_it", seed): Transcript([("x", x)], exchanges) for seed in range(5)})

    assert 4000 <= (tmp_path / "answers").stat().st_size < 12_000  # 25 copies would be 100,000


def test_an_error_keeps_no_line_of_the_reference(tmp_path):
    """An error is written with its type and text; where it was raised is not told."""
    error = LearnerError("raised", "ValueError", "no", [("solutions/core/softmax.py", 3, "softmax", "secret = 1")])
    back = reread(tmp_path, Transcript(reference=[Exchange("call", {}, error)]))

    assert (str(back.reference[0].answer), back.reference[0].answer.frames) == ("ValueError: no", [])
    assert b"secret" not in (tmp_path / "answers").read_bytes()


def test_what_is_no_data_cannot_be_recorded(tmp_path):
    """A request with an object of another type is refused, and the check is named."""
    with pytest.raises(CourseError, match=r"test_it cannot be public.*type object"):
        write_transcripts(
            tmp_path / "answers", {("test_it", 3): Transcript(reference=[Exchange("call", {"a": object()}, {})])}
        )


@pytest.mark.parametrize("damage", [b"", b"\0" * 12, b"\0\0\0\x05" + b"\0" * 8 + b"[1,2]", b"\xff" * 40])
def test_a_damaged_file_is_said_to_be_one(tmp_path, damage):
    """Bytes that are no answers are a course's fault, with the file and what to do."""
    (tmp_path / "answers").write_bytes(damage)
    with pytest.raises(CourseError, match="cannot be read") as caught:
        TranscriptFile(tmp_path / "answers").read("test_it", 3)
    assert "instructor" in caught.value.next_step


def test_numbers_keep_every_bit(tmp_path):
    """A float comes back to the last bit, and what is not finite too."""
    numbers = [0.1, 1e-310, -0.0, math.inf, -math.inf, math.pi]
    back = reread(tmp_path, Transcript([("n", numbers)]))

    assert [value.hex() for value in back.draws[0][1]] == [value.hex() for value in numbers]


# --- the excerpt ------------------------------------------------------------------------------------------------------

CHECKS = '''\
"""What is hidden is told here."""

from __future__ import annotations

import os, sys

import numpy as np
from grader.api.checks import assert_matches, fail

SIZES = {}
SIZES["a"] = 3  # kept with SIZES
SECRET = 42; ALSO = 43
LOW, HIGH = 1, 2
np.seterr(all="ignore")
print("unrelated")


# the secret is SECRET
def helper(x):
    """Used by a helper."""
    return x + SIZES["a"] + np.ones(LOW)


def other(x):
    SECRET = helper(x)  # a local name, not that of the file
    return SECRET


@check(public=True)
def test_public(submission):
    """Is seen."""
    assert_matches(other(submission), ALSO)


@check()
def test_hidden(submission):
    """Is not."""
    fail(os.name + sys.platform + str(SECRET))
'''


def test_an_excerpt_holds_what_a_check_uses_and_nothing_else():
    """Helpers, constants and imports come along as they are written, in their order; what only others use does not."""
    text = excerpt(CHECKS, {"test_public"}, "Only these.")

    assert text.startswith('"""Only these."""\n\nfrom __future__ import annotations\n')
    assert "import os" not in text and "fail" not in text and "unrelated" not in text
    assert "hidden" not in text and "SECRET = 42" not in text and "the secret is" not in text
    for kept in (
        'SIZES["a"] = 3  # kept',
        "ALSO = 43\n",
        "LOW, HIGH = 1, 2",
        'np.seterr(all="ignore")',
        "# a local name",
    ):
        assert kept in text
    assert text.index("def helper") < text.index("def other") < text.index("def test_public")
    compile(text, "excerpt", "exec")


def test_the_rest_of_an_excerpt_is_word_for_word():
    """Each definition keeps its decorators, comments and layout."""
    text = excerpt(CHECKS, {"test_public"}, "Only these.")

    assert CHECKS[CHECKS.index("@check(public=True)") : CHECKS.index("\n\n@check()")] in text
