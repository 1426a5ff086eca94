"""What people get wrong in `sinusoidal_positional_encoding`, executable; and other right ways to write it.

Two mistakes of the subject are not here: an odd width, which the statement excludes, and adding the table along the
batch axis, which takes embeddings to be seen.
"""

import math

import numpy as np
import torch

from grader.api.checks import LearnerError, MistakeSet

ATOL = 1e-3


def make_encoding(*, length, number, exponents, rate, turn, waves, lay, keep, frame, hold):
    """The table from its steps: how many positions, what numbers they get, the exponent of each column, the angle it
    turns by in one step, the angles, their sines and cosines, the order of columns, the dtype, the axes, the kind.

    The steps compute in float64: then a mistake is that mistake alone, without rounding of its own."""

    def sinusoidal_positional_encoding(seq_len, d_model):
        positions = number(length(seq_len))  # (T, 1)
        rates = rate(exponents(d_model))  # (D,): one for each column, equal in a pair
        angles = turn(positions, rates)  # (T, D)
        return hold(frame(keep(lay(waves(angles)))))

    return sinusoidal_positional_encoding


def as_it_is(value):
    return value


def from_zero(seq_len):
    return torch.arange(seq_len, dtype=torch.float64).unsqueeze(1)


def columns(d_model):
    """0, 1, 2, 3, ...: the column itself, in float64."""
    return torch.arange(d_model, dtype=torch.float64)


def pairs(d_model):
    """0, 0, 1, 1, ...: the pair i of every column, in float64."""
    return columns(d_model) // 2


def of_the_pair(d_model):
    return 2 * pairs(d_model) / d_model


def falling(exponents):
    return 10000.0**-exponents


def product(positions, rates):
    return positions * rates


def alternate(even, odd):
    """A table with the even columns of one and the odd columns of the other."""
    table = even.clone()
    table[:, 1::2] = odd[:, 1::2]
    return table


def sine_then_cosine(angles):
    return alternate(angles.sin(), angles.cos())


def to_float32(table):
    return table.float()


encoding = MistakeSet(
    "sinusoidal_positional_encoding",
    make_encoding,
    length=as_it_is,
    number=from_zero,
    exponents=of_the_pair,
    rate=falling,
    turn=product,
    waves=sine_then_cosine,
    lay=as_it_is,
    keep=to_float32,
    frame=as_it_is,
    hold=as_it_is,
)

MISTAKE_SETS = [encoding]

# --- what the probes see ----------------------------------------------------------------------------------------------


def read(value):
    """What was returned, on the CPU, with whole numbers of any integer type in int64."""
    if not isinstance(value, torch.Tensor):
        return value
    value = value.detach().cpu()
    return value if value.dtype.is_floating_point else value.long()


def part(subject, rows, taken):
    """Some rows and columns of the table for four positions and six columns."""
    return read(torch.as_tensor(subject.sinusoidal_positional_encoding(4, 6))[rows, taken])


def precision(subject):
    """How exact 128 rows of 32 columns are: "exact", "rounded" or "wrong", whatever their dtype.

    Rounded angles lie close to the right ones, with an error that leaps from row to row. A wrong frequency lies as
    close in the slow columns, but its error grows evenly with the position, and that is how the two are told apart.
    """
    seq_len, d_model = 128, 32
    positions = from_zero(seq_len)
    angles = positions * falling(of_the_pair(d_model))[::2]  # (128, 16), one for each pair
    table = torch.as_tensor(subject.sinusoidal_positional_encoding(seq_len, d_model)).cpu().detach().double()
    sines, cosines = table[:, 0::2], table[:, 1::2]
    distance = torch.maximum((sines - angles.sin()).abs(), (cosines - angles.cos()).abs()).max()
    if distance <= ATOL:
        return "exact"
    found = torch.atan2(sines, cosines)
    error = torch.atan2((found - angles).sin(), (found - angles).cos())  # as an angle between -π and π
    even_part = positions * (error * positions).sum(0) / (positions**2).sum()
    close = (error.abs() <= 0.01 + 0.05 * angles).all() and ((sines**2 + cosines**2 - 1).abs() <= 0.05).all()
    return "rounded" if close and (error - even_part).abs().max() > 5 * ATOL else "wrong"


def kind_of_length(subject):
    """How the number of rows goes with the number of positions, in words."""
    lengths = (3, 6, 130)
    rows = [subject.sinusoidal_positional_encoding(seq_len, 4).numel() // 4 for seq_len in lengths]
    if rows == list(lengths):
        return "as asked"
    return "always the same" if len(set(rows)) == 1 else "otherwise"


def asks_for_gradient(subject):
    """Whether the table is a parameter, or asks for a gradient in another way."""
    encode = subject.sinusoidal_positional_encoding
    encode(3, 4)  # what fails here is no matter of gradients
    try:
        return encode.gradients(3, 4, wrt=[], weights=torch.ones(3, 4)) is not None
    except LearnerError:  # torch does not differentiate by nothing, and says so
        return True


# --- probes: equal on all of these is equal ---------------------------------------------------------------------------
# Small on purpose: where frequencies grow in place of falling, an angle of 2000 has only three decimals in float32.


@encoding.probe("four positions, six columns", atol=ATOL, stage="with six columns")
def _(subject, rand):
    return read(subject.sinusoidal_positional_encoding(4, 6))


@encoding.probe("even columns", atol=ATOL, stage="in the even columns")
def _(subject, rand):
    return part(subject, slice(None), slice(0, None, 2))


@encoding.probe("odd columns", atol=ATOL, stage="in the odd columns")
def _(subject, rand):
    return part(subject, slice(None), slice(1, None, 2))


@encoding.probe("position 0", atol=ATOL, stage="for position 0")
def _(subject, rand):
    return part(subject, slice(0, 1), slice(None))


@encoding.probe("the first pair", atol=ATOL, stage="in the first two columns")
def _(subject, rand):
    return part(subject, slice(None), slice(0, 2))


@encoding.probe("ten positions, four columns", atol=ATOL)
def _(subject, rand):
    return read(subject.sinusoidal_positional_encoding(10, 4))


@encoding.probe("four positions, eight columns", atol=ATOL)
def _(subject, rand):
    return read(subject.sinusoidal_positional_encoding(4, 8))


@encoding.probe("130 positions, four columns", atol=20 * ATOL)  # tells an angle that stands still from a slow one
def _(subject, rand):
    return read(subject.sinusoidal_positional_encoding(130, 4))


@encoding.probe("one position", atol=ATOL, stage="with one position")
def _(subject, rand):
    return read(subject.sinusoidal_positional_encoding(1, 8))


@encoding.probe("far from the start", stage="far from the start")
def _(subject, rand):
    return precision(subject)


@encoding.probe("the length")
def _(subject, rand):
    return kind_of_length(subject)


@encoding.probe("the gradient")
def _(subject, rand):
    return asks_for_gradient(subject)


SEVERAL_POSITIONS = tuple(probe.name for probe in encoding.probes if probe.name != "one position")

# --- examples small enough to retype ----------------------------------------------------------------------------------

for size in ((1, 2), (2, 2), (1, 4), (2, 4), (3, 4), (4, 6)):
    encoding.example(*size)

# --- mistakes: the order of columns -----------------------------------------------------------------------------------

encoding.mistake(
    "pe-halves",
    says="Your values are right, but in another order: all sines come first, then all cosines. Here they alternate.",
    suggests="Put the sines into columns 0::2 and the cosines into columns 1::2 (or stack the two on a last axis and "
    "flatten).",
    lay=lambda table: torch.cat((table[:, 0::2], table[:, 1::2]), dim=1),
)
encoding.mistake(
    "pe-swapped",
    says="Sine and cosine have changed places: your even columns are cosines.",
    suggests="Put the sines into the even columns 0, 2, 4, ... and the cosines into the odd ones.",
    waves=lambda angles: alternate(angles.cos(), angles.sin()),
)
encoding.mistake(
    "pe-all-sin",
    says="There is no cosine in your table: odd columns are sines too. Half of what tells positions apart is "
    "missing, and a step is no longer a rotation.",
    suggests="Take the cosine of the angle for the odd columns.",
    waves=lambda angles: angles.sin(),
)

# --- mistakes: the exponent -------------------------------------------------------------------------------------------

for coding, exponents in (
    ("2j/d", lambda d_model: 2 * columns(d_model) / d_model),
    ("j/d", lambda d_model: columns(d_model) / d_model),
    ("the next pair's for the cosine", lambda d_model: 2 * torch.ceil(columns(d_model) / 2) / d_model),
):
    encoding.mistake(
        "pe-per-channel",
        coding=coding,
        says="The two columns of a pair turn at different speeds: each column has an exponent of its own. Then "
        "sin² + cos² is not 1, and a step is not a rotation.",
        suggests="Give columns 2i and 2i + 1 the same exponent 2i/d_model; the pair of column j is j // 2.",
        exponents=exponents,
    )
encoding.mistake(
    "pe-exponent-doubled",
    says="Your exponents grow twice as fast as they should, as if the base were 10000². Counting 0, 2, 4, ... already "
    "gives 2i, so another factor of 2 is one too many.",
    suggests="Take the factor 2 once: `torch.arange(0, d_model, 2) / d_model`.",
    exponents=lambda d_model: 4 * pairs(d_model) / d_model,
)
encoding.mistake(
    "pe-exponent-halved",
    says="Your exponents grow half as fast as they should, as if the base were 100: you use i/d_model, with i the "
    "number of the pair.",
    suggests="Use 2i/d_model for pair i.",
    exponents=lambda d_model: pairs(d_model) / d_model,
)
encoding.mistake(
    "pe-endpoint",
    says="Your exponents run from 0 to exactly 1, so the last pair turns with 1/10000. In the formula they stop "
    "one step before 1, at (d_model - 2)/d_model.",
    suggests="Divide by d_model, and not by d_model - 2 (or by d_model/2, and not by d_model/2 - 1).",
    exponents=lambda d_model: 2 * pairs(d_model) / (d_model - 2),
)
encoding.mistake(
    "pe-integer-division",
    says="All your columns turn at the same speed, because every exponent is 0: an integer division rounded it down.",
    suggests="Divide with `/`, and not with `//`.",
    exponents=lambda d_model: 0 * columns(d_model),
)
encoding.mistake(
    "pe-integer-division",
    coding="of the position",
    says="Your angles are whole numbers: the division of the position by 10000^(2i/d_model) rounds down, so slow "
    "columns stand still.",
    suggests="Divide with `/`, and not with `//`, and keep the angles in float32.",
    turn=lambda positions, rates: torch.floor(positions * rates),
)
for coding, index in (("2i", lambda d_model: 2 * pairs(d_model)), ("i", pairs)):
    encoding.mistake(
        "pe-floor-precedence",
        coding=coding,
        says="`//` rounds down your whole factor: -log(10000) / d_model // 2 is a whole number (-1 from width 6 "
        "on), so the divisors are powers of e, whatever the width.",
        suggests="Use brackets, -log(10000) / (d_model // 2), or do without `//`: -log(10000) * 2i / d_model.",
        exponents=lambda d_model, index=index: index(d_model) * (-math.log(10000.0) / d_model // 2),
        rate=torch.exp,
    )

# --- mistakes: the frequency ------------------------------------------------------------------------------------------

# Bases 100 and 10000² are not here: they are the exponent halved and doubled, and no probe could tell the two apart.
for base in (1000.0, 100000.0, 500000.0, 1000000.0):
    encoding.mistake(
        "pe-base",
        coding=f"{base:.0f}",
        says=f"Your base is {base:.0f}: the first pair is right, and the slower a pair, the further it is off.",
        suggests="Use the base 10000.",
        rate=lambda exponents, base=base: base**-exponents,
    )
encoding.mistake(
    "pe-base",
    coding="e⁴, from log10",
    says="Your base is e⁴ (about 54.6): log10(10000) is 4, but the exponential function wants the natural logarithm.",
    suggests="Use `math.log(10000.0)`, the natural logarithm.",
    rate=lambda exponents: torch.exp(-4.0 * exponents),
)
encoding.mistake(
    "pe-frequency-inverted",
    says="Your frequencies grow from pair to pair: you multiply the position by 10000^(2i/d_model) where the formula "
    "divides. With the exponential function, a minus sign is missing.",
    suggests="Divide by 10000^(2i/d_model), or use exp(-...): later columns must turn slower.",
    rate=lambda exponents: 10000.0**exponents,
)
encoding.mistake(
    "pe-power-exchanged",
    says="Base and exponent are exchanged: (2i/d_model) to the power of 1/10000 is about 1 for every pair (and 0 for "
    "the first).",
    suggests="Raise 10000 to the power of -2i/d_model.",
    rate=lambda exponents: exponents**1e-4,
)

# --- mistakes: the position -------------------------------------------------------------------------------------------

encoding.mistake(
    "pe-position-from-1",
    says="Your positions start at 1: row p holds what belongs in row p + 1.",
    suggests="Count from 0 with `torch.arange(seq_len)`; row 0 must be 0, 1, 0, 1, ...",
    number=lambda seq_len: from_zero(seq_len) + 1,
)
encoding.mistake(
    "pe-position-normalised",
    says="You divide the position by the length of the sequence. The same position then has another row in every "
    "sentence length.",
    suggests="Use the plain whole number 0, 1, 2, ... as the position.",
    number=lambda seq_len: from_zero(seq_len) / seq_len,
)
encoding.mistake(
    "pe-position-normalised",
    coding="from 0 to 1",
    says="You scale the positions to run from 0 to 1. The same position then has another row in every sentence length.",
    suggests="Use the plain whole number 0, 1, 2, ... as the position.",
    only=SEVERAL_POSITIONS,  # with one position this may give 0, 0/0 or an error
    number=lambda seq_len: from_zero(seq_len) / max(seq_len - 1, 1),
)
encoding.mistake(
    "pe-position-2pi",
    says="Your angles have a factor of 2π too many. At whole positions the first pair is then always 0, 1.",
    suggests="Take out the 2π: the angle is p / 10000^(2i/d_model) in radians.",
    number=lambda seq_len: 2 * math.pi * from_zero(seq_len),
)

# --- mistakes: the form -----------------------------------------------------------------------------------------------

encoding.mistake(
    "pe-transposed",
    says="Your table is transposed: positions run along the columns, shape (d_model, seq_len).",
    suggests="Give positions the rows: shape (seq_len, d_model).",
    frame=lambda table: table.T,
)
for coding, axis in (("(1, T, D)", 0), ("(T, 1, D)", 1)):
    encoding.mistake(
        "pe-extra-axis",
        coding=coding,
        says=f"Your table has shape {coding}: there is an axis of size 1 too many.",
        suggests="Return (seq_len, d_model), without `unsqueeze`; broadcasting adds the batch axis by itself.",
        frame=lambda table, axis=axis: table.unsqueeze(axis),
    )
for coding, keep in (("", lambda table: table.long()), ("float again", lambda table: table.long().float())):
    encoding.mistake(
        "pe-integer-output",
        coding=coding,
        says="Your table holds only -1, 0 and 1: it was made of integers, and writing sines into it cuts off "
        "their decimals.",
        suggests="Make the table of floats: `torch.zeros(seq_len, d_model)`, without an integer dtype.",
        keep=keep,
    )
encoding.mistake(
    "pe-is-parameter",
    says="Your table asks for a gradient (`nn.Parameter` or `requires_grad=True`), so an optimizer would change it. "
    "This encoding is fixed.",
    suggests="Return a plain tensor; a module keeps it as a buffer, with `register_buffer`.",
    hold=torch.nn.Parameter,
)
encoding.mistake(
    "pe-fixed-size",
    says="Your table has the same number of rows whatever `seq_len` is.",
    suggests="Build it for `seq_len` positions, or cut the first `seq_len` rows from the longer table.",
    only=("the length",),
    length=lambda seq_len: 5000,
)

# --- mistakes: precision ----------------------------------------------------------------------------------------------
# What rounding does depends on the order of operations, so these are known by its kind and not by their numbers.

for dtype in (torch.float16, torch.bfloat16):
    name = str(dtype).removeprefix("torch.")
    encoding.mistake(
        "pe-low-precision",
        coding=f"angles in {name}",
        says="Your numbers are rounded too coarsely, as in half precision (float16 or bfloat16). The further from the "
        "start, the worse: near 100 float16 knows an angle to 1/16 only.",
        suggests="Compute the angles in float32; where half precision is wanted, convert the finished table.",
        only=("far from the start",),
        turn=lambda positions, rates, dtype=dtype: (positions.to(dtype) * rates.to(dtype)).double(),
    )
encoding.mistake(
    "pe-low-precision",
    coding="a float16 table",
    says="Your table is float16: three decimals are left of every value.",
    suggests="Return float32.",
    keep=lambda table: table.half(),
)

# --- alternatives: just as right --------------------------------------------------------------------------------------


def filled(seq_len, d_model, divisors):
    """The usual way: zeros, then sines into even columns and cosines into odd ones."""
    table = torch.zeros(seq_len, d_model)
    angles = torch.arange(seq_len).unsqueeze(1) / divisors
    table[:, 0::2], table[:, 1::2] = torch.sin(angles), torch.cos(angles)
    return table


def by_exponential(seq_len, d_model):
    positions = torch.arange(0, seq_len, dtype=torch.float).unsqueeze(1)
    factors = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    table = torch.zeros(seq_len, d_model)
    table[:, 0::2] = torch.sin(positions * factors)
    table[:, 1::2] = torch.cos(positions * factors)
    return table


def by_power(seq_len, d_model):
    return filled(seq_len, d_model, torch.pow(10000, torch.arange(0, d_model, 2) / d_model))


def by_loops(seq_len, d_model):
    table = torch.zeros(seq_len, d_model)
    for p in range(seq_len):
        for i in range(d_model // 2):
            angle = p / 10000 ** (2 * i / d_model)
            table[p, 2 * i], table[p, 2 * i + 1] = math.sin(angle), math.cos(angle)
    return table


def by_outer(seq_len, d_model):
    inverse = 1.0 / (10000.0 ** (torch.arange(0, d_model, 2).float() / d_model))
    angles = torch.outer(torch.arange(seq_len).float(), inverse)
    return torch.stack((angles.sin(), angles.cos()), dim=2).flatten(1)


def by_concatenation(seq_len, d_model):
    angles = torch.einsum("t,i->ti", torch.arange(seq_len).float(), 10000.0 ** (-torch.arange(0, d_model, 2) / d_model))
    return torch.cat((angles.sin()[..., None], angles.cos()[..., None]), dim=-1).view(seq_len, d_model)


def by_choice(seq_len, d_model):
    column = torch.arange(d_model)
    angles = torch.arange(seq_len)[:, None] / 10000.0 ** (2 * (column // 2) / d_model)
    return torch.where(column % 2 == 0, angles.sin(), angles.cos())


def by_shifted_sine(seq_len, d_model):
    column = torch.arange(d_model)
    angles = torch.arange(seq_len)[:, None] / 10000.0 ** ((column - column % 2) / d_model)
    return torch.sin(angles + (column % 2) * (math.pi / 2))


def by_numpy(seq_len, d_model):
    angles = np.arange(seq_len)[:, None] / np.power(10000, 2 * (np.arange(d_model) // 2) / d_model)
    angles[:, 0::2], angles[:, 1::2] = np.sin(angles[:, 0::2]), np.cos(angles[:, 1::2])
    return torch.from_numpy(angles).float()


def by_rotation(seq_len, d_model):
    angles = torch.arange(seq_len)[:, None] / 10000.0 ** (torch.arange(0, d_model, 2) / d_model)
    turned = torch.view_as_real(torch.polar(torch.ones_like(angles), angles))  # cosine first
    return turned.flip(-1).reshape(seq_len, d_model)


for name, version in {
    "zeros and the exponential": by_exponential,
    "zeros and a power": by_power,
    "loops over positions and pairs": by_loops,
    "an outer product, stacked and flattened": by_outer,
    "einsum, concatenated": by_concatenation,
    "where the column is even": by_choice,
    "a sine shifted by a quarter turn": by_shifted_sine,
    "numpy in float64": by_numpy,
    "complex rotations": by_rotation,
    "cut from a longer table": lambda seq_len, d_model: by_power(5000, d_model)[:seq_len],
}.items():
    encoding.alternative(name, version=version)
encoding.alternative("rounded to float16 and back", keep=lambda table: table.half().float())
