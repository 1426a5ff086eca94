"""What hidden checks and mistake files may import.

Assertions, each raising CheckFailed with a message for the learner (what came back, what was expected):

    fail                     end the check as failed with a message
    assert_matches           the value equals the reference's
    assert_shape             the value is an array of this shape
    assert_unchanged         the call did not change its arguments
    assert_repeatable        two equal calls return equal values
    assert_gradients_match   the gradients equal the reference's
    assert_portable          the code names no device
    assert_moved             a step of training has changed each parameter
    assert_descended         a training moved its model step by step, and in no leap
    end_run                  the losses that a training has reported, and all that was logged of it
    assert_learned           training changed parameters alone that gradients reach, and all that was learned is in them

What a check has to do with:

    CallableModule           the submission or the reference
    RemoteFunction           one of its functions
    RemoteObject             an object that it made
    Observed                 a value together with the arguments after the call
    Rand                     the random inputs of the fixture `rand`
    LearnerError             the submission raised an error, timed out or died in a call
    CheckFailed              a check found a difference

Values:

    read_tensors             the tensors of an artefact, which lies beside the submission; CheckFailed if it is none
    shown_name               a name out of it, as a message shows it
    same, ATOL               equal within a tolerance; the tolerance where none is given
    is_array, kind_of, show  whether a value is an array; what it is, in words; the value as it can be typed again
    Raised                   what a probe observes in place of a value if the call raised
    DEVICE_ERROR_WORDS       words that stand in errors about devices

Mistake files:

    draw                     an argument of `MistakeSet.ask` that is yet to be drawn
    MistakeSet               the known mistakes of one function: its steps, probes, mistakes and alternatives
    of_model, draw_state     how `MistakeSet.ask` asks a model; the numbers that it holds, by name
    read_names               how the names in its state dict differ, in words
    without_names            what is seen of a model but for that, as `MistakeSet(..., read=without_names)`
    is_alike_in_training     whether it answers the same in training mode
    is_portable              whether `assert_portable` holds
    PlainClass               a class that is no nn.Module
    as_buffers               a module whose parameters have become buffers
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from grader.judge.diagnosis.model_questions import (
    PlainClass,
    as_buffers,
    draw_state,
    is_alike_in_training,
    of_model,
    read_names,
    without_names,
)
from grader.judge.errors import CheckFailed, LearnerError
from grader.judge.mistakes.mistake_set import MistakeSet
from grader.judge.processes.remote_module import CallableModule, Observed, RemoteFunction, RemoteObject
from grader.judge.values.artefact import read_tensors, shown_name
from grader.judge.values.compare import ATOL, Raised, explain, is_array, kind_of, same, show
from grader.judge.values.mend import mend
from grader.judge.values.random_inputs import Rand, draw
from grader.judge.values.redacted_explanation import explain_form, redacted_kind, wrong_shape

__all__ = [
    "ATOL",
    "DEVICE_ERROR_WORDS",
    "CallableModule",
    "CheckFailed",
    "LearnerError",
    "MistakeSet",
    "Observed",
    "PlainClass",
    "Raised",
    "Rand",
    "RemoteFunction",
    "RemoteObject",
    "as_buffers",
    "assert_descended",
    "assert_gradients_match",
    "assert_learned",
    "assert_matches",
    "assert_moved",
    "assert_portable",
    "assert_repeatable",
    "assert_shape",
    "assert_unchanged",
    "draw",
    "draw_state",
    "end_run",
    "fail",
    "is_alike_in_training",
    "is_array",
    "is_portable",
    "kind_of",
    "of_model",
    "read_names",
    "read_tensors",
    "same",
    "show",
    "shown_name",
    "without_names",
]

MAX_LEAP = 100.0  # of one step of a training, times as far as three quarters of the others go; honest ones have 2 to 6

# How torch says that tensors are on different devices, or that a named device is not there.
DEVICE_ERROR_WORDS = ("same device", "CUDA", "cuda", "NVIDIA", "MPS", "mps", "XPU")


def fail(message: str, form: str = "", hint: str = "") -> None:
    """End the check as failed.

    Args:
        message: What the learner is told.
        form: What may be said of it where inputs are hidden. A message that stands word for word in the file of
            checks may be said as it is.
        hint: The check's own addition to the message; said where inputs are hidden, too, if it stands in the file.
    """
    raise CheckFailed(message, form, hint)


def assert_matches(actual: Any, expected: Any, atol: float = ATOL, hint: str = "") -> None:
    """Fail unless structure, shape and dtype are equal and every value is within `atol`.

    `hint` is put behind the message.
    """
    difference = explain(actual, expected, atol)
    if difference:
        faults: set[str] = set()
        mend(actual, expected, faults)
        raise CheckFailed(f"{difference} {hint}".strip(), explain_form(actual, expected, atol), hint, not faults)


def assert_shape(actual: Any, shape: Sequence[int]) -> None:
    """Fail unless the value is an array of exactly this shape."""
    if not is_array(actual):
        wanted = f"expected a tensor of shape {tuple(shape)}."
        fail(f"It returned {kind_of(actual)}; {wanted}", f"It returned {redacted_kind(actual)}; {wanted}")
    if tuple(actual.shape) != tuple(shape):
        fail(f"Wrong shape: {tuple(actual.shape)}, expected {tuple(shape)}.", wrong_shape(actual.shape, shape))


def assert_unchanged(observed: Observed, *originals: Any) -> None:
    """Fail unless the positional arguments are after the call what they were before."""
    for index, original in enumerate(originals):
        if not same(observed.args[index], original, atol=0.0):
            changed = f"Argument {index + 1} was changed by the call."
            fail(f"{changed} {explain(observed.args[index], original, 0.0)}", changed)


def assert_repeatable(function: Any, *args: Any, **kwargs: Any) -> None:
    """Fail unless two calls with the same arguments return the same values."""
    difference = explain(function(*args, **kwargs), function(*args, **kwargs), 0.0)
    if difference:
        differ = "Two calls with the same arguments differ."
        fail(f"{differ} {difference}", differ)


def assert_gradients_match(
    function: Any,
    reference: Any,
    *args: Any,
    wrt: Sequence[int | Sequence[int]],
    weights: Any,
    atol: float = ATOL,
    **kwargs: Any,
) -> None:
    """Fail unless the gradients of sum(weights * value) equal the reference's.

    Args:
        wrt: The indices of the arguments to differentiate by, (3, 0) for the first entry of argument 3; parameters of
            an object are always taken.
        weights: An array of the shape of the value.
    """
    actual = function.gradients(*args, wrt=wrt, weights=weights, **kwargs)
    expected = reference.gradients(*args, wrt=wrt, weights=weights, **kwargs)
    if actual is None:
        cut_off = "The result is cut off from autograd: it has no gradient at all."
        fail(cut_off, cut_off)
    for name, gradient in expected.items():
        if actual.get(name) is None and gradient is not None:
            fail(f"No gradient reaches {name}.", f"No gradient reaches {name}.")
        difference = explain(actual[name], gradient, atol)
        if difference:
            form = explain_form(actual[name], gradient, atol)
            fail(f"The gradient of {name}: {difference}", f"The gradient of {name}: {form}")


def assert_learned(model: RemoteObject, twin: RemoteObject, before: Mapping[str, Any], ids: Any) -> None:
    """Fail where training changed what no gradient reaches, or where the model's twin answers otherwise.

    Args:
        model: A model of logits for each place of `ids`, trained.
        twin: A new one that was given its state dict.
        before: The state dict before training.
    """
    logits, after = model(ids), model.state()["state"]
    weights = logits.argsort(-1) - (logits.shape[-1] - 1) / 2  # of sum 0: what shifts all logits alike is no part of it
    grads = model.gradients(ids, wrt=[], weights=weights) or {}
    reached = [name for name, grad in grads.items() if grad is not None and bool(grad.any())]
    for name, was in before.items():
        is_reached = any(same(after[name], after[each], 0.0) for each in reached)  # a shared table has two names
        if not is_reached and not same(after[name], was, 0.0):
            fail(f"Training changed `{name}`, which no gradient reaches: what it holds was not learned by descent.")
    if not same(twin(ids), logits, 1e-3):
        fail("A new model that is given the state dict of the trained one answers otherwise: it learned beside it.")


def end_run(subject: CallableModule, report: RemoteObject) -> tuple[list[float], list[tuple[Any, ...]]]:
    """Return the losses that a training has reported, and all that was logged of it.

    The report is called once more: so it tells how far the last step went.
    """
    report(0.0)
    events = subject.events()
    *losses, _ = [event[1] for event in events if event[0] == "report"]
    return losses, events


def assert_descended(events: Sequence[tuple[Any, ...]], steps: int) -> None:
    """Fail where a training moved its model at some step much farther than at others, or at many not at all.

    Args:
        events: What `end_run` returned of a training with a report that knows the model.
        steps: How many it was to take, each with a report.
    """
    moves = [event[1] for event in events if event[0] == "moved"]
    if len(moves) != steps + 1:
        fail(f"It reported {len(moves) - 1} losses in {steps} steps: each step is to be told before it is taken.")
    if not all(map(math.isfinite, moves)):
        fail("While it was trained its parameters took other shapes, or became NaN or infinite.")
    if (still := moves[1:].count(0.0)) > steps / 10:
        fail(f"In {still} of {steps} steps the model was not moved: each step is to go down the gradient.")
    usual, largest = sorted(moves[1:])[3 * steps // 4], max(moves)
    if largest > MAX_LEAP * usual:
        where = f"At step {moves.index(largest)}" if moves[0] < largest else "Before the first step"
        fail(
            f"{where} the model was moved {largest / usual:.0f} times as far as in most steps: what it holds was put "
            "there, and not learned by descent."
        )


def assert_moved(before: Mapping[str, Any], after: Mapping[str, Any], what: str) -> None:
    """Fail where a state dict after *what*, "3 rows", holds a tensor that it held one step before."""
    if still := [name for name, was in before.items() if after[name].equal(was)]:
        fail(f"After {what} {len(still)} of {len(before)} parameters are what they were one step before.")


def assert_portable(function: Any, *args: Any, **kwargs: Any) -> None:
    """Fail unless the call runs on the device of its input and its value stays there. Needs no GPU."""
    advice = "Create tensors with `device=x.device`; never name a device."
    try:
        _, stayed = function.on_fake_device(*args, **kwargs)
    except LearnerError as error:
        if error.kind != "raised":
            raise
        if any(words in error.text for words in DEVICE_ERROR_WORDS):
            what = "It fails when its input is on another device"
            fail(f"{what} ({error.type_name}: {error.text}). {advice}", f"{what}. {advice}")
        return  # it does something else that tensors of the test device cannot do
    if not stayed:
        answer = f"Its input was on another device, but its answer is on the CPU. {advice}"
        fail(answer, answer)


def is_portable(function: Any, *args: Any, **kwargs: Any) -> bool:
    """Return True if `assert_portable` holds."""
    try:
        assert_portable(function, *args, **kwargs)
    except CheckFailed:
        return False
    return True
