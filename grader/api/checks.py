"""What a hidden check and a mistakes file may import: assertions that explain themselves, probes, families.

Every assertion raises `CheckFailed` with a message for the learner: what came back, what was expected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grader.judge.diagnosis.mistakes import Family
from grader.judge.errors import CheckFailed, LearnerError
from grader.judge.processes.remote_module import Object, Observed, Proxy, Subject
from grader.judge.values.compare import ATOL, Raised, explain, is_array, kind_of, same, show
from grader.judge.values.random_inputs import Rand
from grader.judge.values.redacted_explanation import form_of, plain_kind, wrong_shape

__all__ = [
    "ATOL", "CheckFailed", "Family", "LearnerError", "Object", "Observed", "Proxy", "Raised", "Rand", "Subject",
    "assert_gradients_match", "assert_matches", "assert_portable", "assert_repeatable", "assert_shape",
    "assert_unchanged", "fail", "is_array", "kind_of", "same", "show",
]  # fmt: skip

# How torch says that tensors lie on different devices, or that a named device is not there.
DEVICE_TROUBLE = ("same device", "CUDA", "cuda", "NVIDIA", "MPS", "mps", "XPU")


def fail(message: str, form: str = "", hint: str = "") -> None:
    """End the check as failed, with this message. `form`: what may be said of it where inputs are concealed; a message
    that stands as it is in the file of checks may be said as it is."""
    raise CheckFailed(message, form, hint)


def assert_matches(actual: Any, expected: Any, atol: float = ATOL, hint: str = "") -> None:
    """The same structure, shape and dtype, and every value within `atol`. `hint` is put behind the message."""
    difference = explain(actual, expected, atol)
    if difference:
        fail(f"{difference} {hint}".strip(), form_of(actual, expected, atol), hint)


def assert_shape(actual: Any, shape: Sequence[int]) -> None:
    """An array of exactly this shape."""
    if not is_array(actual):
        wanted = f"expected a tensor of shape {tuple(shape)}."
        fail(f"It returned {kind_of(actual)}; {wanted}", f"It returned {plain_kind(actual)}; {wanted}")
    if tuple(actual.shape) != tuple(shape):
        fail(f"Wrong shape: {tuple(actual.shape)}, expected {tuple(shape)}.", wrong_shape(actual.shape, shape))


def assert_unchanged(observed: Observed, *originals: Any) -> None:
    """The positional arguments came back as they went in."""
    for index, original in enumerate(originals):
        if not same(observed.args[index], original, atol=0.0):
            changed = f"Argument {index + 1} was changed by the call."
            fail(f"{changed} {explain(observed.args[index], original, 0.0)}", changed)


def assert_repeatable(function: Any, *args: Any, **kwargs: Any) -> None:
    """Two calls with the same arguments give the same values."""
    difference = explain(function(*args, **kwargs), function(*args, **kwargs), 0.0)
    if difference:
        differ = "Two calls with the same arguments differ."
        fail(f"{differ} {difference}", differ)


def assert_gradients_match(function: Any, reference: Any, *args: Any, wrt: Sequence[int], weights: Any,
                           atol: float = ATOL, **kwargs: Any) -> None:  # fmt: skip
    """Gradients of sum(weights * value) with respect to the arguments (and parameters) equal the reference's."""
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
            form = form_of(actual[name], gradient, atol)
            fail(f"The gradient of {name}: {difference}", f"The gradient of {name}: {form}")


def assert_portable(function: Any, *args: Any, **kwargs: Any) -> None:
    """It runs where its input lies, and its answer lies there too: no device is named. Needs no GPU."""
    advice = "Create tensors with `device=x.device`; never name a device."
    try:
        _, there = function.on_fake_device(*args, **kwargs)
    except LearnerError as error:
        if error.kind != "raised":
            raise
        if any(sign in error.text for sign in DEVICE_TROUBLE):
            what = "It fails when its input is on another device"
            fail(f"{what} ({error.type_name}: {error.text}). {advice}", f"{what}. {advice}")
        return  # it does something that such tensors cannot do, which is not what is asked here
    if not there:
        answer = f"Its input was on another device, but its answer is on the CPU. {advice}"
        fail(answer, answer)
