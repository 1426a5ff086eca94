"""What people get wrong in `softmax`, executable; and other right ways to write it."""

import torch

from grader.api.checks import LearnerError, MistakeSet

INF = float("inf")
CAUSES = {  # torch raises a RuntimeError for both, and they are two different mistakes
    "modified by an inplace operation": "a value that backward needs was written over",
    "Can't call numpy()": "numpy was asked for a tensor that needs a gradient",
}


def make_softmax(*, take, shift, power, total, give):
    """Softmax from its five steps: take the input, shift it, exponentiate, total, divide and give back."""

    def softmax(x, dim=-1):
        taken = take(x)
        powers = power(shift(taken, dim))
        return give(powers, total(powers, dim), x)

    return softmax


def as_it_is(x):
    return x


def own_maximum(x, dim):
    return x - x.amax(dim=dim, keepdim=True)


def sum_over_dim(powers, dim):
    return powers.sum(dim=dim, keepdim=True)


def divide(powers, total, x):
    return powers / total


softmax = MistakeSet(
    "softmax", make_softmax, take=as_it_is, shift=own_maximum, power=torch.exp, total=sum_over_dim, give=divide
)

MISTAKE_SETS = [softmax]

# --- probes: equal on all of these is equal ---------------------------------------------------------------------------


@softmax.probe("a 2-D input, last axis", stage="along the last axis")
def _(subject, rand):
    return subject.softmax(rand(3, 5))


@softmax.probe("a 2-D input, dim=0", stage="along the first axis")
def _(subject, rand):
    return subject.softmax(rand(3, 5), dim=0)


@softmax.probe("a 3-D input, dim=1", stage="along a middle axis")
def _(subject, rand):
    return subject.softmax(rand(2, 3, 5), dim=1)


@softmax.probe("a 4-D input", stage="with four axes")
def _(subject, rand):
    return subject.softmax(rand(2, 3, 4, 5))


@softmax.probe("a 1-D input", stage="with one axis")
def _(subject, rand):
    return subject.softmax(rand(6))


@softmax.probe("a square", stage="on a square")
def _(subject, rand):
    return subject.softmax(rand(4, 4))


@softmax.probe("scores near +1000", stage="on scores near +1000")
def _(subject, rand):
    return subject.softmax(rand(3, 5) + 1000.0)


@softmax.probe("scores near -1000", stage="on scores near -1000")
def _(subject, rand):
    return subject.softmax(rand(3, 5) - 1000.0)


@softmax.probe("rows far apart", stage="on rows of very different size")
def _(subject, rand):
    return subject.softmax(rand(3, 5) + torch.tensor([[0.0], [400.0], [-900.0]]))


@softmax.probe("a row of 0, 100, 200", stage="on a row with a wide spread")
def _(subject, rand):
    return subject.softmax(torch.tensor([[0.0, 100.0, 200.0]]))


@softmax.probe("a row with minus infinity", stage="on a row with −∞")
def _(subject, rand):
    return subject.softmax(torch.tensor([[0.5, -INF, 1.5]]))


@softmax.probe("the input afterwards")
def _(subject, rand):
    return subject.softmax.observe(rand(3, 5)).args


@softmax.probe("the gradient", stage="in its gradient")
def _(subject, rand):
    try:
        return subject.softmax.gradients(rand(3, 5), wrt=[0], weights=rand(3, 5))
    except LearnerError as error:
        cause = next((cause for text, cause in CAUSES.items() if text in error.text), None)
        if cause is None:
            raise
        return cause


@softmax.probe("a float64 input")
def _(subject, rand):
    return subject.softmax(rand(3, 5, dtype=torch.float64))


# --- examples small enough to retype ----------------------------------------------------------------------------------

softmax.example(torch.tensor([0.0, 1.0, 2.0]))
softmax.example(torch.tensor([[0.0, 1.0], [2.0, 4.0]]), dim=0)
softmax.example(torch.tensor([[0.0, 1.0], [2.0, 4.0]]), dim=1)
softmax.example(torch.tensor([1000.0, 1001.0]))
softmax.example(torch.tensor([[0.0, 1.0], [1000.0, 1001.0]]))
softmax.example(torch.tensor([0.0, 100.0, 200.0]))

# --- mistakes: the axis -----------------------------------------------------------------------------------------------


def shift_along(axis):
    return lambda x, dim: own_maximum(x, axis)


def total_along(axis):
    return lambda powers, dim: sum_over_dim(powers, axis)


softmax.mistake(
    "sm-dim-ignored",
    says="You ignore `dim`: both the maximum and the sum run over the last axis, whatever axis was asked for.",
    suggests="Pass `dim` to the maximum and to the sum.",
    shift=shift_along(-1),
    total=total_along(-1),
)
softmax.mistake(
    "sm-dim-ignored",
    coding="the sum",
    says="You ignore `dim` in the sum: it runs over the last axis, whatever axis was asked for.",
    suggests="Pass `dim` to the sum, as to the maximum.",
    total=total_along(-1),
)
for axis in (0, 1):
    softmax.mistake(
        "sm-dim-hard-coded",
        coding=f"dim={axis}",
        says=f"What sums to 1 in your answer runs over axis {axis}, not over the `dim` that was asked for.",
        suggests=f"Replace the constant {axis} by `dim`.",
        shift=shift_along(axis),
        total=total_along(axis),
    )
softmax.mistake(
    "sm-columns",
    says="You normalise over the axis before the last: columns sum to 1 where rows should.",
    suggests="Normalise over `dim`; with dim=-1 each row sums to 1.",
    shift=shift_along(-2),
    total=total_along(-2),
)
softmax.mistake(
    "sm-max-over-last",
    says="The maximum runs over the last axis and the sum over `dim`, so the shift no longer cancels.",
    suggests="Take the maximum over the same `dim` as the sum.",
    shift=shift_along(-1),
)
softmax.mistake(
    "sm-sum-all",
    says="You divide by one total for the whole tensor; each slice along `dim` needs its own.",
    suggests="Use `sum(dim=dim, keepdim=True)`.",
    total=lambda powers, dim: powers.sum(),
)
softmax.mistake(
    "sm-no-keepdim",
    says="The sum lost its axis, so it is broadcast along the wrong one: an error on most shapes, silently wrong on a "
    "square.",
    suggests="Add `keepdim=True` to the sum (and to the maximum).",
    total=lambda powers, dim: powers.sum(dim=dim),
)
softmax.mistake(
    "sm-no-keepdim",
    coding="maximum and sum",
    says="The maximum and the sum lost their axis, so they are broadcast along the wrong one.",
    suggests="Add `keepdim=True` to both.",
    shift=lambda x, dim: x - x.amax(dim=dim),
    total=lambda powers, dim: powers.sum(dim=dim),
)
softmax.mistake(
    "sm-no-keepdim",
    coding="maximum",
    says="The maximum lost its axis, so it is broadcast along the wrong one: an error on most shapes, silently wrong "
    "on a square.",
    suggests="Add `keepdim=True` to the maximum.",
    shift=lambda x, dim: x - x.amax(dim=dim),
)
softmax.mistake(
    "sm-no-keepdim",
    coding="put back at the end",
    says="The maximum and the sum lost their axis, and you put it back as the last one (`unsqueeze(-1)`): right for "
    "dim=-1 only.",
    suggests="Use `keepdim=True`, or `unsqueeze(dim)`, which puts the axis back where it was.",
    shift=lambda x, dim: x - x.amax(dim=dim).unsqueeze(-1),
    total=lambda powers, dim: powers.sum(dim=dim).unsqueeze(-1),
)

# --- mistakes: the shift ----------------------------------------------------------------------------------------------

softmax.mistake(
    "sm-overflow",
    says="You exponentiate the scores as they are: exp(1000) overflows to inf, and inf/inf is NaN.",
    suggests="Subtract the maximum over `dim` first; it cancels in the fraction.",
    shift=lambda x, dim: x,
)
softmax.mistake(
    "sm-overflow",
    coding="a tiny number below",
    says="You exponentiate the scores as they are: exp(1000) overflows to inf, and inf/inf is NaN. The tiny number "
    "below does not help: where exp(-1000) is 0 it gives weights of 0 that sum to 0.",
    suggests="Subtract the maximum over `dim` first; it cancels in the fraction, and no tiny number is needed.",
    shift=lambda x, dim: x,
    total=lambda powers, dim: sum_over_dim(powers, dim) + 1e-8,
)
softmax.mistake(
    "sm-overflow",
    coding="NaN replaced",
    says="You exponentiate the scores as they are: exp(1000) overflows to inf, and inf/inf is NaN. Replacing NaN by 0 "
    "hides that: such weights no longer sum to 1.",
    suggests="Subtract the maximum over `dim` first; then there is no NaN to replace.",
    shift=lambda x, dim: x,
    give=lambda powers, total, x: torch.nan_to_num(powers / total),
)
softmax.mistake(
    "sm-global-max",
    says="You subtract the maximum of the whole tensor: a slice far below it underflows to 0/0.",
    suggests="Subtract each slice's own maximum: `x.amax(dim=dim, keepdim=True)`.",
    shift=lambda x, dim: x - x.max(),
)
softmax.mistake(
    "sm-shift-min-or-mean",
    coding="mean",
    says="You subtract the mean: entries far above it still overflow.",
    suggests="Subtract the maximum: only then is every exponent at most 0.",
    shift=lambda x, dim: x - x.mean(dim=dim, keepdim=True),
)
softmax.mistake(
    "sm-shift-min-or-mean",
    coding="minimum",
    says="You subtract the minimum: entries far above it still overflow.",
    suggests="Subtract the maximum: only then is every exponent at most 0.",
    shift=lambda x, dim: x - x.amin(dim=dim, keepdim=True),
)
softmax.mistake(
    "sm-shift-numerator-only",
    says="The shift is in the numerator only, so slices no longer sum to 1.",
    suggests="Shift once, then use the shifted scores above and below the fraction line.",
    version=lambda x, dim=-1: torch.exp(own_maximum(x, dim)) / torch.exp(x).sum(dim=dim, keepdim=True),
)
softmax.mistake(
    "sm-clamp",
    says="You clamp the scores before exponentiating, which makes all large scores equal.",
    suggests="Subtract the maximum instead of clamping: that changes nothing in the answer.",
    shift=lambda x, dim: x.clamp(-50.0, 50.0),
)
softmax.mistake(
    "sm-clamp",
    coding="from above",
    says="You cut large scores off before exponentiating, which makes them all equal, and very low ones become 0/0.",
    suggests="Subtract the maximum instead of clamping: that changes nothing in the answer.",
    shift=lambda x, dim: x.clamp(max=50.0),
)
softmax.mistake(
    "sm-sign",
    coding="negated",
    says="The smallest score gets the largest weight: the sign of the scores is flipped.",
    suggests="Exponentiate +x: the largest score must get the largest weight.",
    take=lambda x: -x,
)
softmax.mistake(
    "sm-sign",
    coding="absolute",
    says="The sign of the scores is ignored: -2 gets as much weight as 2.",
    suggests="Take out the `abs`: negative scores must get less weight than positive ones.",
    take=lambda x: x.abs(),
)

# --- mistakes: power and total ----------------------------------------------------------------------------------------

softmax.mistake(
    "sm-no-exp",
    says="You divide the scores by their sum without exponentiating: weights come out negative or above 1.",
    suggests="Exponentiate first: `torch.exp`.",
    version=lambda x, dim=-1: x / x.sum(dim=dim, keepdim=True),
)
softmax.mistake(
    "sm-not-normalised",
    says="Your entries are only the exponentials; they are not divided by their sum.",
    suggests="Divide by `sum(dim=dim, keepdim=True)`.",
    total=lambda powers, dim: 1.0,
)
softmax.mistake(
    "sm-wrong-normaliser",
    coding="mean",
    says="You divide by the mean over `dim`: slices sum to their length, not to 1.",
    suggests="Divide by the sum.",
    total=lambda powers, dim: powers.mean(dim=dim, keepdim=True),
)
softmax.mistake(
    "sm-wrong-normaliser",
    coding="norm",
    says="You divide by the Euclidean norm: the squares of a slice sum to 1, not its entries.",
    suggests="Divide by the sum.",
    total=lambda powers, dim: powers.norm(dim=dim, keepdim=True),
)
softmax.mistake(
    "sm-wrong-normaliser",
    coding="base 2",
    says="You use powers of 2 instead of powers of e: every weight is too even.",
    suggests="Use `torch.exp`.",
    power=torch.exp2,
)
softmax.mistake(
    "sm-log",
    says="This is the logarithm of softmax: every entry is 0 or below.",
    suggests="Return the weights themselves.",
    give=lambda powers, total, x: torch.log(powers / total),
)
softmax.mistake(
    "sm-log",
    coding="in log space",
    says="This is the logarithm of softmax: every entry is 0 or below.",
    suggests="Return the weights themselves: the `exp` of what you have.",
    version=lambda x, dim=-1: x - torch.logsumexp(x, dim=dim, keepdim=True),
)
softmax.mistake(
    "sm-sigmoid",
    says="This is the sigmoid: it scores each entry by itself, while in softmax the entries of a slice compete.",
    suggests="Divide exponentials by the sum over `dim`.",
    version=lambda x, dim=-1: torch.sigmoid(x),
)

# --- mistakes: manners ------------------------------------------------------------------------------------------------


def shift_in_place(x, dim):
    x -= x.amax(dim=dim, keepdim=True)
    return x


def exponentiate_in_place(x, dim=-1):
    x.exp_()
    x /= x.sum(dim=dim, keepdim=True)
    return x


def everything_in_place(x, dim=-1):
    return exponentiate_in_place(shift_in_place(x, dim), dim)


def powers_written_over(x, dim=-1):
    return exponentiate_in_place(own_maximum(x, dim), dim)


softmax.mistake(
    "sm-in-place",
    coding="shift",
    says="You change the caller's tensor (`x -= ...`).",
    suggests="Make a new tensor: `x = x - ...`.",
    shift=shift_in_place,
)
softmax.mistake(
    "sm-in-place",
    coding="all of it",
    says="You change the caller's tensor (`x.exp_()`, `x /= ...`), and nothing keeps exp from overflowing.",
    suggests="Make new tensors: `torch.exp(x - ...)`.",
    version=exponentiate_in_place,
)
softmax.mistake(
    "sm-in-place",
    coding="shift and all of it",
    says="You change the caller's tensor: every step (`x -= ...`, `x.exp_()`, `x /= ...`) writes into it.",
    suggests="Make new tensors: `z = x - ...`, then `torch.exp(z)`.",
    version=everything_in_place,
)
softmax.mistake(
    "sm-in-place",
    coding="the exponentials",
    says="You divide the exponentials in place (`/=`, `div_`), but their gradient needs them as they were: the values "
    "are right, and the backward pass is an error.",
    suggests="Make a new tensor: `e / e.sum(...)`.",
    version=powers_written_over,
)
softmax.mistake(
    "sm-detached",
    says="The result is cut off from autograd (`.detach()`, `.data`, `.item()`, numpy or `torch.tensor(...)`).",
    suggests="Stay with tensor operations from the input to the result.",
    give=lambda powers, total, x: (powers / total).detach(),
)
softmax.mistake(
    "sm-detached",
    coding="through numpy",
    says="The result is cut off from autograd: numpy cannot take a tensor that needs a gradient.",
    suggests="Stay with tensor operations from the input to the result.",
    take=lambda x: torch.from_numpy(x.numpy()),
)
softmax.mistake(
    "sm-dtype",
    says="The answer's dtype is float32 whatever the input's is.",
    suggests="Keep the dtype of the input: take out `.float()` and `dtype=`.",
    take=lambda x: x.float(),
)
softmax.mistake(
    "sm-dtype",
    coding="float64",
    says="The answer's dtype is float64 whatever the input's is.",
    suggests="Keep the dtype of the input: take out `.double()` and `dtype=`.",
    take=lambda x: x.double(),
)
softmax.mistake(
    "sm-dtype",
    coding="integer",
    says="The answer is rounded to whole numbers: its dtype is an integer type.",
    suggests="Keep the dtype of the input: take out `.long()` and `.int()`.",
    give=lambda powers, total, x: (powers / total).long(),
)

# --- alternatives: just as right --------------------------------------------------------------------------------------

softmax.alternative(
    "through logsumexp", version=lambda x, dim=-1: torch.exp(x - torch.logsumexp(x, dim=dim, keepdim=True))
)
softmax.alternative("a tiny number added below", give=lambda powers, total, x: powers / (total + 1e-9))
softmax.alternative("the maximum detached", shift=lambda x, dim: x - x.detach().amax(dim=dim, keepdim=True))
softmax.alternative(
    "max().values and unsqueeze",
    shift=lambda x, dim: x - x.max(dim=dim).values.unsqueeze(dim),
    total=lambda powers, dim: powers.sum(dim).unsqueeze(dim),
)
softmax.alternative("a power of e", power=lambda x: torch.e**x)
