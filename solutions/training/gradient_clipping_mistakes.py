"""What people write in `clip_gradients` in place of the reference's lines; and other right ways to write it."""

import math

import torch

from grader.api.checks import MistakeSet

LITTLE, MOST_ADDED = 0.9, 3e-4  # of a norm of 0.01: between 1e-6 and 1e-5 is the most that will do
HUGE = 1e6  # beyond it only a norm's order of magnitude is compared


def read(value):
    """The list and the norm, which may be a float or a tensor. Of a NaN nobody asks what it does to the others."""
    if isinstance(value, list) and not (len(value) == 2 and isinstance(value[0], list)):
        return "a list alone"
    if not isinstance(value, tuple) or len(value) != 2:
        return value
    clipped, norm = value
    if isinstance(norm, torch.Tensor) and norm.ndim == 0:
        norm = norm.item()
    if not isinstance(norm, float):
        return value
    if math.isnan(norm):
        return "NaN"
    # float32 has seven digits
    return clipped, float(f"{norm:.5g}") if norm < HUGE or math.isinf(norm) else f"about 1e{round(math.log10(norm))}"


# 1e-6 in the denominator, which will do, makes other mistakes look different where all is small
clip = MistakeSet("clip_gradients", globals(), read=read, without=("small",))
mistake, right = clip.mistake, clip.alternative
MISTAKE_SETS = [clip]

GRADS = [torch.tensor([3.0, 0.0]), None, torch.tensor([[4.0]])]
clip.example(GRADS[::2], 1.0)
clip.example(GRADS, 1.0)
clip.example(GRADS, 10.0)
clip.example([torch.zeros(2)], 1.0)
clip.example([torch.tensor([float("nan"), 1.0])], 1.0)


def each(expression):
    """A list of what becomes of each gradient, None of None."""
    return f"[None if grad is None else {expression} for grad in grads]"


ADDED = ("how much is added to the norm",)


@clip.probe(*ADDED)
def _(subject, rand):
    """Whether a little too much stands below, beside the norm: no other answer shows it well."""
    clipped = subject.clip_gradients([torch.tensor([0.006, 0.008])], 0.004)
    first = clipped[0][0] if isinstance(clipped, tuple) and isinstance(clipped[0], list) else None
    if not isinstance(first, torch.Tensor) or first.shape != (2,):
        return "something else"
    return "a little too much" if LITTLE < first[0] / 0.0024 < 1 - MOST_ADDED else "something else"


# fmt: off
JOINT = "Take one norm over all numbers of all gradients: the root of the sum of all squares."

# --- the norm
mistake("cl-per-tensor", "Every gradient is clipped by its own norm: their sizes among each other change, and with "
        "them "
        "the direction of the step.", JOINT, scale=each("grad * torch.clamp(max_norm / grad.norm(), max=1.0)"))
mistake("cl-sum-of-norms", "The norms of the gradients are added: together they are too large.", JOINT,
        norm="torch.stack([grad.norm() for grad in kept]).sum()")
mistake("cl-no-root", "The root is missing: you compare the square of the norm with max_norm.", "Take the root of "
        "the sum "
        "of squares.", norm="total")
mistake("cl-no-root", "You return and divide by the square of the norm: its root is taken for the comparison only.",
        "Take the root of the sum of squares once, and use it throughout.", coding="compared", norm="total",
        limit="torch.where(norm.sqrt() > max_norm, factor, 1.0)")
mistake("cl-no-root", "The norm that you return is its square.", "Return the root of the sum of squares.",
        coding="returned", give="clipped, total")
mistake("cl-max-abs", "The norm is the largest number among all gradients.", JOINT,
        norm="torch.stack([grad.abs().max() for grad in kept]).max()")
mistake("cl-max-abs", "The norm is the largest number among all gradients.", JOINT, coding="Python's max",
        norm="max(grad.abs().max() for grad in kept)")  # which overlooks a NaN that does not come first
mistake("cl-largest-norm", "The norm is that of the longest gradient.", JOINT,
        norm="torch.stack([grad.norm() for grad in kept]).max()")
mistake("cl-absolute", "The norm is the sum of absolute values.", JOINT,
        norm="torch.stack([grad.abs().sum() for grad in kept]).sum()")
mistake("cl-mean-square", "The norm is the root of the mean square: it does not grow with the number of parameters.",
        "Take the sum of the squares, and not their mean.",
        norm="torch.sqrt(total / sum(grad.numel() for grad in kept))")
mistake("cl-mean-square", "The mean square of each gradient is added: a large one counts no more than a small one.",
        "Take the sum of the squares, and not their mean.", coding="of each",
        squares="[grad.square().mean() for grad in kept]")
mistake("cl-first-only", "The norm is that of the first gradient alone.", JOINT, total="squares[0]")
mistake("cl-last-only", "The norm is that of the last gradient alone.", JOINT, total="squares[-1]")
mistake("cl-nan-hidden", "NaN is taken for 0: a broken step goes unnoticed.", "Take out `nan_to_num`: the norm must be "
        "NaN.", squares="[grad.nan_to_num().square().sum() for grad in kept]")
mistake("cl-nan-hidden", coding="in the gradients", take_grads=each("grad.nan_to_num()"))
mistake("cl-nan-hidden", "A norm that is NaN is returned as a number: a broken step goes unnoticed.",
        "Return the norm as it is.", coding="norm", norm="torch.sqrt(total).nan_to_num()")

# --- the factor
mistake("cl-by-value", "Every number is cut off at ±max_norm: the direction of the step changes.",
        "Scale all gradients by one factor, max_norm / norm.", scale=each("grad.clamp(-max_norm, max_norm)"))
mistake("cl-always", "Gradients that are short are made longer, up to max_norm.",
        "Scale only where norm > max_norm: let the factor be at most 1.", limit="factor")
mistake("cl-inverted", "The factor is norm / max_norm: long gradients stay, and short ones are shortened.",
        "It is max_norm / norm.", factor="norm / max_norm")
mistake("cl-inverted", "The comparison is the wrong way round: short gradients are scaled up, long ones are left.",
        "Scale where norm > max_norm.", coding="comparison", limit="torch.clamp(factor, min=1.0)")
mistake("cl-inverted", "The factor is norm / max_norm: what is too long becomes longer.", "It is max_norm / norm.",
        coding="of what is too long", factor="norm / max_norm", limit="torch.where(norm > max_norm, factor, 1.0)")
for tiny, only in (("1e-2", ()), ("1e-3", ADDED), ("1e-4", ADDED), ("1e-5", ADDED)):
    mistake("cl-large-eps", "What you add to the norm is too large: short gradients with a small max_norm become "
            "shorter than that.", "Add nothing, or 1e-6 at most.", coding=tiny, only=only, alone=True,
            factor=f"max_norm / (norm + {tiny})")
mistake("cl-never", "Nothing is ever scaled.", "Multiply with max_norm / norm where norm > max_norm.", limit="1.0")
mistake("cl-to-one", "The gradients are brought to norm 1, whatever max_norm is.", "The factor is max_norm / norm.",
        factor="1.0 / norm")
mistake("cl-to-one", "What is too long is brought to norm 1, whatever max_norm is.", coding="of what is too long",
        factor="1.0 / norm", limit="torch.where(norm > max_norm, factor, 1.0)")
mistake("cl-squared-factor", "The factor is max_norm / norm²: the root is missing in it.", "Divide by the norm, as it "
        "is "
        "returned.", coding="root", factor="max_norm / total", limit="torch.where(norm > max_norm, factor, 1.0)")
mistake("cl-squared-factor", "The factor is the square of what it should be.", "Multiply with max_norm / norm once.",
        limit="torch.clamp(factor, max=1.0) ** 2")

# --- the list
mistake("cl-none-crashes", "None in the list ends in an error.", "Leave None out of the norm, and pass it on.",
        kept="list(grads)")
mistake("cl-none-crashes", "None in the list ends in an error where gradients are scaled.",
        "Pass None on: `None if grad is None else grad * factor`.", coding="scaled",
        scale="[grad * factor for grad in grads]")
mistake("cl-none-dropped", "None is left out: the gradients behind it belong to other parameters now.",
        "Keep None where it stands.", give="[grad for grad in clipped if grad is not None], norm")
mistake("cl-none-to-zero", "None becomes a gradient of 0: the parameter would decay, and its means move.",
        "Keep None where it stands.", scale="[torch.zeros(()) if grad is None else grad * factor for grad in grads]")
mistake("cl-none-to-zero", coding="of size 1",
        scale="[torch.zeros(1) if grad is None else grad * factor for grad in grads]")
mistake("cl-none-to-zero", "Where gradients are clipped None becomes a gradient of 0.", coding="where clipped",
        scale=each("grad * factor").replace("None if", "(torch.zeros(()) if norm > max_norm else None) if"))
mistake("cl-returns-clipped-norm", "The norm that you return is that after clipping: one cannot see how long the "
        "step was "
        "to be.", "Return the norm from before.", give="clipped, norm * factor")
mistake("cl-order", "You return the norm first.", "Return (clipped, norm).", alone=True, give="norm, clipped")
mistake("cl-no-norm", "You return the gradients alone.", "Return (clipped, norm).", alone=True, give="clipped")
mistake("cl-in-place", "You change the caller's gradients (`grad *= ...`, `grad.mul_(...)`), or write into the "
        "caller's list (`grads[i] = ...`).", "Make a new list of new ones: `grad * factor`.",
        scale=each("grad.mul_(factor)"))

# --- just as right
right("a norm of norms", norm="torch.stack([grad.norm() for grad in kept]).norm()")
right("all numbers in a row", norm="torch.cat([grad.flatten() for grad in kept]).norm()")
right("a tiny number in the denominator", factor="max_norm / (norm + 1e-6)")
right("an if", scale="grads if norm <= max_norm else [None if grad is None else max_norm * grad / norm for grad in "
        "grads]",
      limit="factor")
right("a float", norm="torch.sqrt(total)", give="clipped, norm.item()")
right("a loop", total="sum(squares)", norm="total ** 0.5")
# fmt: on
