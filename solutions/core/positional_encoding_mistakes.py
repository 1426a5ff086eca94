"""What people write in `sinusoidal_positional_encoding` in place of the reference's lines; and other right ways."""

import math  # noqa: F401  expressions below use it

import numpy as np  # noqa: F401
import torch

from grader.api.checks import MistakeSet

ATOL = 1e-3

# what is done to the table: the order of its columns, its dtype, its axes, its kind
AFTER = ("lay", "keep", "frame", "hold")
encoding = MistakeSet("sinusoidal_positional_encoding", globals(), checks=(), after=AFTER)
mistake, right = encoding.mistake, encoding.alternative
MISTAKE_SETS = [encoding]

# --- what the probes see ----------------------------------------------------------------------------------------------


def read(value):
    """What was returned, on the CPU, with whole numbers of any integer type in int64."""
    if not isinstance(value, torch.Tensor):
        return value
    value = value.detach().cpu()
    return value if value.dtype.is_floating_point else value.long()


def precision(encode):
    """How exact 128 rows of 32 columns are: "exact", "rounded" or "wrong", whatever their dtype.

    Rounded angles lie close to the right ones, with an error that leaps from row to row. A wrong frequency lies as
    close in the slow columns, but its error grows evenly with the position, and that is how the two are told apart.
    """
    seq_len, d_model = 128, 32
    positions = torch.arange(seq_len, dtype=torch.float64).unsqueeze(1)
    pairs = torch.arange(0, d_model, 2, dtype=torch.float64)
    angles = positions * 10000.0 ** -(pairs / d_model)  # (128, 16), one for each pair
    table = torch.as_tensor(encode(seq_len, d_model)).cpu().detach().double()
    sines, cosines = table[:, 0::2], table[:, 1::2]
    distance = torch.maximum((sines - angles.sin()).abs(), (cosines - angles.cos()).abs()).max()
    if distance <= ATOL:
        return "exact"
    found = torch.atan2(sines, cosines)
    error = torch.atan2((found - angles).sin(), (found - angles).cos())  # as an angle between -π and π
    even_part = positions * (error * positions).sum(0) / (positions**2).sum()
    close = (error.abs() <= 0.01 + 0.05 * angles).all() and ((sines**2 + cosines**2 - 1).abs() <= 0.05).all()
    return "rounded" if close and (error - even_part).abs().max() > 5 * ATOL else "wrong"


def kind_of_length(encode):
    """How the number of rows goes with the number of positions, in words."""
    lengths = [3, 6, 130]
    rows = [encode(seq_len, 4).numel() // 4 for seq_len in lengths]
    return "as asked" if rows == lengths else "always the same" if len(set(rows)) == 1 else "otherwise"


# --- probes: equal on all of these is equal ---------------------------------------------------------------------------
# Small on purpose: where frequencies grow in place of falling, an angle of 2000 has only three decimals in float32.

# fmt: off
for stage, rows, columns in (
    ("with six columns", slice(None), slice(None)), ("in the even columns", slice(None), slice(0, None, 2)),
    ("in the odd columns", slice(None), slice(1, None, 2)), ("for position 0", slice(0, 1), slice(None)),
    ("in the first two columns", slice(None), slice(0, 2)),
):
    encoding.ask(stage, 4, 6, atol=ATOL, see=lambda table, at=(rows, columns): read(torch.as_tensor(table)[at]))
encoding.ask("ten positions, four columns", 10, 4, atol=ATOL, see=read, stage="")
encoding.ask("four positions, eight columns", 4, 8, atol=ATOL, see=read, stage="")
encoding.ask("130 positions, four columns", 130, 4, atol=20 * ATOL, see=read, stage="")
encoding.ask("with one position", 1, 8, atol=ATOL, see=read)
encoding.ask("far from the start", by=precision)
encoding.ask("the length", by=kind_of_length, stage="")
# of what asks for no gradient there is none; of the rest torch differentiates by nothing, and says that it cannot
encoding.ask("the gradient", 3, 4, by="gradients", wrt=[], weights=torch.ones(3, 4), stage="")
encoding.ask("5001 positions", 5001, 2, see=lambda table: table.size(0) == 5001, aside=True)
SEVERAL_POSITIONS = tuple(each.name for each in encoding.probes if each.name != "with one position" and not each.aside)
for size in ((1, 2), (2, 2), (1, 4), (2, 4), (3, 4), (4, 6)):
    encoding.example(*size)

# --- the order of columns
mistake("pe-halves", "All sines come first, then all cosines. Here they alternate.",
        "Put the sines into columns 0::2 and the cosines into columns 1::2 (or stack the two on a last "
        "axis and flatten).", lay="torch.cat((value[:, 0::2], value[:, 1::2]), dim=1)")
mistake("pe-pair-columns", "Pair i stands in columns i and i + 1: each sine overwrites the cosine before it.", "Put "
        "pair i in columns 2i and 2i + 1.", lay="torch.cat((value[:, ::2], value[:, -1:], 0 * value[:, 3::2]), dim=1)")
mistake("pe-swapped", "Sine and cosine have changed places: your even columns are cosines.", "Put the sines into the "
        "even columns and the cosines into the odd ones.", waves="torch.stack((angles.cos(), angles.sin()), dim=-1)")
mistake("pe-all-sin", "There is no cosine in your table: odd columns are sines too. A step is no longer a rotation.",
        "Take the cosine of the angle for the odd columns.", waves="torch.stack((angles.sin(), angles.sin()), dim=-1)")
mistake("pe-all-sin", "Odd columns hold -sin, half a turn ahead of the even ones: there is no cosine in your table.",
        "A cosine is a quarter turn ahead: add π/2, or take the cosine.", coding="half a turn",
        waves="torch.stack((angles.sin(), -angles.sin()), dim=-1)")

# --- the exponent
for coding, sine, cosine in (("2j/D", "2 * even", "2 * even + 2"), ("j/D", "even", "even + 1"),
                             ("the next pair's for the cosine", "even", "even + 2")):
    # two columns where there was one, and of each the wave of its own
    mistake("pe-per-channel", "The two columns of a pair turn at different speeds: each column has an exponent of its "
        "own. Then sin² + cos² is not 1, and a step is not a rotation.", "Give columns 2i and 2i + 1 the same exponent "
        "2i/d_model; the pair of column j is j // 2.", coding=coding, exponents=f"torch.stack(({sine}, {cosine}), "
        "dim=-1).flatten() / d_model", waves="torch.stack((angles[:, 0::2].sin(), angles[:, 1::2].cos()), dim=-1)")
mistake("pe-exponent-doubled", "Your exponents grow twice as fast as they should, as if the base were 10000². Counting "
        "0, 2, 4, ... already gives 2i, so another factor of 2 is one too many.", "Take the factor 2 once: "
        "`torch.arange(0, d_model, 2) / d_model`.", exponents="2 * even / d_model")
mistake("pe-exponent-halved", "Your exponents grow half as fast as they should, as if the base were 100: you use "
        "i/d_model, with i the number of the pair.", "Use 2i/d_model for pair i.", exponents="even / 2 / d_model")
mistake("pe-endpoint", "Your exponents run from 0 to exactly 1, so the last pair turns with 1/10000. In the formula "
        "they stop one step before 1, at (d_model - 2)/d_model.", "Divide by d_model, and not by d_model - 2 (or by "
        "d_model/2, and not by d_model/2 - 1).", exponents="even / (d_model - 2)")
mistake("pe-integer-division", "All your columns turn at the same speed, as where `//` rounds every exponent down to "
        "0.", "Give each pair an exponent of its own, 2i/d_model, and divide with `/`.", exponents="even // d_model")
mistake("pe-integer-division", "Your angles are whole numbers: the division of the position by 10000^(2i/d_model) "
        "rounds down, so slow columns stand still.", "Divide with `/`, and not with `//`, and keep the angles in "
        "float32.", coding="of the position", turn="torch.floor(positions.unsqueeze(1) * rates)")
for coding, index in (("2i", "even"), ("i", "even / 2")):
    mistake("pe-floor-precedence", "`//` rounds down your whole factor: -log(10000) / d_model // 2 is a whole number "
            "(-1 from width 6 on), so the divisors are powers of e, whatever the width.",
            "Use brackets, -log(10000) / (d_model // 2), or do without `//`: -log(10000) * 2i / d_model.",
            coding=coding, exponents=f"{index} * (-math.log(10000.0) / d_model // 2)", rate="torch.exp(exponents)")

# --- the frequency
# Bases 100 and 10000² are not here: they are the exponent halved and doubled, and no probe could tell the two apart.
for base in (1000, 100000, 500000, 1000000):
    mistake("pe-base", f"Your base is {base}: the first pair is right, and the slower a pair, the further it is off.",
            "Use the base 10000.", coding=f"{base}", rate=f"{base}.0**-exponents")
mistake("pe-base", "Your base is e⁴ (about 54.6): log10(10000) is 4, but the exponential function wants the natural "
        "logarithm.", "Use `math.log(10000.0)`.", coding="e⁴, from log10", rate="torch.exp(-4.0 * exponents)")
mistake("pe-frequency-inverted", "Your frequencies grow from pair to pair: you multiply the position by "
        "10000^(2i/d_model) where the formula divides. With the exponential function, a minus sign is missing.",
        "Divide by 10000^(2i/d_model), or use exp(-...): later columns must turn slower.", rate="10000.0**exponents")
mistake("pe-power-exchanged", "Base and exponent are exchanged: (2i/d_model) to the power of 1/10000 is about 1 for "
        "every pair (and 0 for the first).", "Raise 10000 to the power of -2i/d_model.", rate="exponents**1e-4")

# --- the position
mistake("pe-position-from-1", "Your positions start at 1: row p holds what belongs in row p + 1.",
    "Count from 0 with `torch.arange(seq_len)`; row 0 must be 0, 1, 0, 1, ...", number="torch.arange(1, seq_len + 1)")
mistake("pe-position-normalised", "You divide the position by the length: it then has another row in every sentence "
        "length.", "Use the plain whole number 0, 1, 2, ... as the position.", number="torch.arange(seq_len) / seq_len")
mistake("pe-position-normalised", "You scale the positions to run from 0 to 1. The same position then has another row "
        "in every sentence length.", "Use the plain whole number 0, 1, 2, ... as the position.", coding="from 0 to 1",
        only=SEVERAL_POSITIONS, number="torch.arange(seq_len) / max(seq_len - 1, 1)")
mistake("pe-position-2pi", "Your angles have a factor of 2π too many. At whole positions the first pair is then always "
        "0, 1.", "Take out the 2π: the angle is p / 10000^(2i/d_model) in radians.",
        number="2 * math.pi * torch.arange(seq_len, dtype=torch.float32)")

# --- the form
mistake("pe-transposed", "Your table is transposed: positions run along the columns, shape (d_model, seq_len).",
        "Give positions the rows: shape (seq_len, d_model).", frame="value.T")
for coding, axis in (("(1, T, D)", 0), ("(T, 1, D)", 1)):
    mistake("pe-extra-axis", f"Your table has shape {coding}: there is an axis of size 1 too many.",
            "Return (seq_len, d_model), without `unsqueeze`; broadcasting adds the batch axis by itself.",
            coding=coding, frame=f"value.unsqueeze({axis})")
for coding, keep in (("", "value.long()"), ("float again", "value.long().float()")):
    mistake("pe-integer-output", "Your table holds only -1, 0 and 1: it was made of integers, which cuts off decimals.",
            "Make the table of floats: `torch.zeros(seq_len, d_model)`.", coding=coding, keep=keep)
mistake("pe-is-parameter", "Your table asks for a gradient (`nn.Parameter` or `requires_grad=True`), so an optimizer "
        "would change it. This encoding is fixed.", "Return a plain tensor; a module keeps it as a buffer, with "
        "`register_buffer`.", hold="torch.nn.Parameter(value)")
mistake("pe-fixed-size", "Your table has the same number of rows whatever `seq_len` is.", "Build it for `seq_len` "
        "positions, or cut the first `seq_len` rows from the longer table.", only=("the length",), take_seq_len="5000")
mistake("pe-fixed-size", "Your table is cut from one of fixed length: for a longer sequence it comes out too short.",
        "Build it for `seq_len` positions at every call, so that there is no longest length.",
        coding="up to a largest length", only=("5001 positions",), number="torch.arange(5000.0)[:seq_len]")
mistake("pe-row-zero", "Row 0 of your table is 0: position 0 has a row like any other, 0, 1, 0, 1, ...",
        "Take out what zeroes the row (that is for padding).", hold="torch.cat((0.0 * value[:1], value[1:]))")
mistake("pe-scaled", "Your whole table is multiplied by √d_model. That factor is for embeddings, which are added to "
        "it.", "Return plain sines and cosines, between -1 and 1.", hold="value * value.size(-1) ** 0.5")
mistake("pe-row-parity", "Sine and cosine go by the row: even positions have sines only, odd ones cosines only.",
        "They go by the column: sines into `[:, 0::2]`, cosines into `[:, 1::2]`.", waves="torch.where("
        "positions[:, None, None] % 2 == 0, angles.sin().unsqueeze(-1), angles.cos().unsqueeze(-1)).expand(-1, -1, 2)")
mistake("pe-exponent-by-length", "Your exponents are 2i divided by the number of positions, so a position has another "
        "row in every sentence length.", "Divide by the width: 2i/d_model.", exponents="even / seq_len")
mistake("pe-divided-outside", "You divide the sines and cosines by 10000^(2i/d_model), not the position inside them: "
        "all columns turn at the same speed.", "Put the division inside: sin(p / 10000^(2i/d_model)).",
        turn="positions.unsqueeze(1).expand(-1, d_model // 2)",
        waves="torch.stack((angles.sin() * rates, angles.cos() * rates), dim=-1)")
mistake("pe-one-frequency", "All your pairs turn at one speed, 10000^(-2/d_model): the number of the pair is missing.",
        "Give pair i the exponent 2i/d_model, with i = 0, 1, 2, ...", exponents="torch.full_like(even, 2.0) / d_model")

# --- precision
# What rounding does depends on the order of operations, so these are known by its kind and not by their numbers.
for name in ("float16", "bfloat16"):
    mistake("pe-low-precision", "Your numbers are rounded too coarsely, as in half precision (float16 or bfloat16). "
            "The further from the start, the worse: near 100 float16 knows an angle to 1/16 only.",
            "Compute the angles in float32; where half precision is wanted, convert the finished table.",
            coding=f"angles in {name}", only=("far from the start",),
            turn=f"(positions.unsqueeze(1).to(torch.{name}) * rates.to(torch.{name})).double()")
mistake("pe-low-precision", "Your table is float16: three decimals are left of every value.", "Return float32.",
        coding="a float16 table", keep="value.half()")

# --- just as right
FILL = """table = torch.zeros(seq_len, d_model)
table[:, 0::2], table[:, 1::2] = angles.sin(), angles.cos()
return table"""
COLUMNS = """column = torch.arange(d_model)
angles = positions.unsqueeze(1) / 10000.0 ** (2 * (column // 2) / d_model)
return """
right("zeros and the exponential", exponents="even * (-math.log(10000.0) / d_model)", rate="torch.exp(exponents)",
      waves=FILL)
right("zeros and a power", turn="positions.unsqueeze(1) / torch.pow(10000, even / d_model)", waves=FILL)
right("loops over positions and pairs", waves="""table = torch.zeros(seq_len, d_model)
for p in range(seq_len):
    for i in range(d_model // 2):
        angle = p / 10000 ** (2 * i / d_model)
        table[p, 2 * i], table[p, 2 * i + 1] = math.sin(angle), math.cos(angle)
return table""")
right("an outer product, stacked and flattened", rate="1.0 / 10000.0**exponents", turn="torch.outer(positions, rates)")
right("einsum, concatenated", turn="torch.einsum('t,i->ti', positions, rates)",
      waves="torch.cat((angles.sin()[..., None], angles.cos()[..., None]), dim=-1)")
right("where the column is even", waves=f"{COLUMNS}torch.where(column % 2 == 0, angles.sin(), angles.cos())")
right("a sine shifted by a quarter turn", waves=f"{COLUMNS}torch.sin(angles + (column % 2) * (math.pi / 2))")
right("numpy in float64", waves="""angles = np.arange(seq_len)[:, None]
angles = angles / 10000 ** (np.arange(d_model) // 2 * 2 / d_model)
angles[:, 0::2], angles[:, 1::2] = np.sin(angles[:, 0::2]), np.cos(angles[:, 1::2])
return torch.from_numpy(angles).float()""")
right("complex rotations", waves="torch.view_as_real(torch.polar(torch.ones_like(angles), angles)).flip(-1)")
right("cut from a table that is long enough", number="torch.arange(max(5000.0, seq_len))[:seq_len]")
right("rounded to float16 and back", keep="value.half().float()")
# fmt: on
