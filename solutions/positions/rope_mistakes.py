"""What people write in `apply_rope` in place of the reference's lines; and other right ways to write it.

One mistake of the subject is not here: an exponent over d_model. The function sees a head and knows no d_model.
"""

import torch

from grader.api.checks import MistakeSet, draw

rope = MistakeSet("apply_rope", globals(), tolerances={"far": 1e-3, "relative[1]": 1e-3, "relative[9]": 1e-3},
                  without=("slices",))  # fmt: skip
mistake, right = rope.mistake, rope.alternative
MISTAKE_SETS = [rope]

X = torch.tensor([[1.0, 0.0, 1.0, 0.0]])
ROWS = torch.tensor([[1.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 2.0]])
for x, places in ((X, [3]), (X, [0]), (ROWS, [0, 1]), (ROWS, [5, 2]), (ROWS.expand(2, 2, 4), [1, 3])):
    rope.example(x, torch.tensor(places))
rope.example(X, torch.tensor([3]), base=100.0)
rope.example(X, torch.tensor([1024]))


@rope.probe("nine decimals", aside=True)
def nine_decimals(subject, rand):
    """Whether float64 is computed to nine decimals: the difference to the formula, in float64."""
    x, positions = rand(2, 4, 8, dtype=torch.float64), torch.tensor([30, 7, 19, 25])
    found = subject.apply_rope(x, positions)
    if not isinstance(found, torch.Tensor) or found.shape != x.shape or found.dtype != x.dtype:
        return "another form"
    z = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
    rates = 10000.0 ** -(torch.arange(4, dtype=torch.float64) / 4)
    turned = z * torch.polar(torch.ones(()).double(), positions[:, None] * rates)
    return bool((found - torch.view_as_real(turned).flatten(-2)).abs().max() < 1e-9)


def table(wave, way):
    """Cosines or sines of all features: those of a pair side by side ("repeat"), or in two halves ("halves")."""
    return wave.repeat_interleave(2, dim=-1) if way == "repeat" else torch.cat((wave, wave), dim=-1)


def neighbours(x):
    """(−x1, x0, −x3, x2, ...), the quarter turn of this lesson's pairs."""
    return torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)


def halves(x):
    """(−second half, first half), the quarter turn of the other convention."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def waves(positions, x, base):
    """The table of angles, (T, d_head/2)."""
    even = torch.arange(0, x.size(-1), 2, dtype=x.dtype, device=x.device)
    return positions[:, None] * base ** (-even / x.size(-1))


def turned(way, turn):
    """All features at once, with a table of one layout and a quarter turn of another."""
    return f"x * table(cos, '{way}') + {turn}(x) * table(sin, '{way}')"


# fmt: off
# --- which two are a pair
PAIR = "Pair the neighbours 2i and 2i + 1: `x[..., 0::2]` and `x[..., 1::2]`, stacked and flattened."
mistake("ro-half-split", "You pair feature i with feature i + d_head/2. Llama's code on Hugging Face does so, too: "
        "another convention, with which these weights would mean something else.", PAIR,
        give=turned("halves", "halves"))
mistake("ro-mixed", "The table of angles has one layout and the rotation another: two features that are turned "
        "together get different angles.", "Lay out both alike: neighbours share an angle (`repeat_interleave(2)`) and "
        "are turned together.", give=turned("halves", "neighbours"))
mistake("ro-mixed", coding="the other way", give=turned("repeat", "halves"))
mistake("ro-joined", "The turned features come out in two halves, first all of the even ones, then all of the odd "
        "ones.", "Stack them on a new last axis and flatten that.",
        pairs="torch.cat((turned_left, turned_right), dim=-1)", give="pairs")
mistake("ro-swapped-pair", "The two features of each pair have changed places in the result.",
        "First the even one, then the odd one.", pairs="torch.stack((turned_right, turned_left), dim=-1)")

# --- how fast a pair turns
mistake("ro-exponent-doubled", "The exponent is twice what it should be: `arange(0, d_head, 2)` are the numbers 2i "
        "already.", "Divide 2i by d_head, and double nothing.", exponents="2 * even / d_head")
mistake("ro-exponent-halved", "The exponent is half of what it should be: i / d_head.", "It is 2i / d_head.",
        exponents="even / 2 / d_head")
mistake("ro-exponent-to-one", "The last pair has the rate 1/base: the exponents run up to 1.",
        "They run from 0 to (d_head − 2) / d_head: divide 2i by d_head.", exponents="even / max(d_head - 2, 1)")
mistake("ro-rate-inverted", "Later pairs turn faster: the exponent lacks its minus.",
        "The rate is base^(−2i/d_head): 1 for pair 0, and smaller for all others.", rates="base**exponents")
mistake("ro-base-ignored", "The base is 10000, whatever is asked for.", "Use the argument `base`.",
        rates="10000.0**-exponents")
mistake("ro-one-angle", "All pairs turn alike, by p: there is one clock hand and not many.",
        "Give pair i its rate, base^(−2i/d_head).", rates="torch.ones_like(even)")
mistake("ro-reversed", "The rates come in the wrong order: the first pair turns slowest.",
        "Pair 0 has the rate 1.", rates="(base**-exponents).flip(0)")
for coding, factor in (("", "3.141592653589793 / 180"), ("2π", "2 * 3.141592653589793")):
    mistake("ro-other-unit", f"The angle is multiplied by {coding or 'π/180'}.", "The formula's angle is in radians "
            "already, and so is what `cos` takes.", coding=coding, angles=f"positions.unsqueeze(1) * rates * {factor}")

# --- what comes of it
mistake("ro-not-turned", "Nothing is turned: your answer is x itself.", "Turn each pair of features by its position "
        "times its rate.", version="x")

# --- which position a row has
mistake("ro-positions-ignored", "`positions` is ignored: row t is turned by t.", "Take the angles from `positions`.",
        take_positions="torch.arange(x.size(-2), device=x.device)")
mistake("ro-from-one", "Positions are counted from 1: position 0 is turned as well. Scores do not show it, for they "
        "know distances only.", "Use the positions as they are.", take_positions="positions + 1")
mistake("ro-head-axis", "The angle follows the axis before the tokens, the heads: your code is made for (B, T, H, "
        "d_head), an error where there are fewer or more heads than tokens.",
        "Here the tokens are the axis before the last: cos and sin have the shape (T, d_head/2), which broadcasts.",
        angles="(positions.unsqueeze(1) * rates).unsqueeze(1)")
mistake("ro-head-axis", coding="four axes", angles="positions.view(-1, *[1] * (1 + (x.dim() == 4))) * rates")
mistake("ro-fixed-table", "The table of angles has 1024 rows, and farther positions end in an error.",
        "Compute the angles from `positions`.",
        angles="(torch.arange(1024, device=x.device).unsqueeze(1) * rates)[positions]")

# --- the turn
mistake("ro-direction", "It turns the other way round, by −a. Scores cannot tell.",
        "y[2i] = x[2i]·cos − x[2i+1]·sin: the minus stands there, and not in the other line.",
        waves="cos, sin = angles.cos(), -angles.sin()")
SIGNS = "One minus, in the first line: x[2i]·cos − x[2i+1]·sin, and x[2i]·sin + x[2i+1]·cos."
mistake("ro-sign", "A sign is wrong: it is no rotation any more, and lengths change.", SIGNS,
        first="left * cos + right * sin")
mistake("ro-sign", coding="second", second="right * cos - left * sin")
mistake("ro-sign", "A sign is wrong: the pair is mirrored, not turned.", SIGNS, coding="mirrored",
        second="left * sin - right * cos")
mistake("ro-cos-sin-swapped", "Cosine and sine have changed places: at position 0 it turns already.",
        "At angle 0 nothing may change: cos = 1 stays with the feature itself.",
        waves="cos, sin = angles.sin(), angles.cos()")
mistake("ro-one-pass", "The second line uses the turned first feature and not x's own.",
        "Keep both old features until both new ones are made.", second="turned_left * sin + right * cos")
mistake("ro-no-sine", "The features are multiplied by a cosine and nothing else: they fade in and out.", SIGNS,
        alone=True, first="left * cos", second="right * cos")
mistake("ro-added", "Sines and cosines are added, as the sinusoidal table is. Scores then depend on more than the "
        "distance.", "Multiply: turn each pair by its angle.", first="left + sin", second="right + cos")
mistake("ro-added", "Sines and cosines are added to the features, both to each. Scores then depend on more than the "
        "distance.", "Multiply: turn each pair by its angle.", coding="both", first="left + cos + sin",
        second="right + cos + sin")
mistake("ro-half-turned", "Only the first half of the features is turned, as partial rotary positions do.",
        "Turn all pairs.", give="torch.cat((pairs.flatten(-2)[..., :d_head // 2], x[..., d_head // 2:]), dim=-1)")
mistake("ro-in-place", "You write into the caller's x.", "Make a new tensor: stack the two, or begin with "
        "`torch.empty_like(x)`.", give="x.copy_(pairs.flatten(-2))")
mistake("ro-in-place", "You write into the caller's x, and the second line reads what the first wrote there.",
        "Make a new tensor: stack the two, or begin with `torch.empty_like(x)`.", coding="one after the other",
        split="left, right = x[..., 0::2], x[..., 1::2]\nleft.copy_(left * cos - right * sin)",
        first="left")
rope.ask("a slice of a larger tensor", draw(3, 5, 6), torch.arange(5), by="on_slices", aside=True)
rope.common("ro", "detached", "numpy", "float32", "view", "rank_3", "rank_4")
mistake("ro-float32-angles", "For x in float64 the angles have the precision of float32 only.",
        "Make the rates with `dtype=x.dtype`.", only=("nine decimals",),
        angles="(positions.unsqueeze(1) * rates.float()).to(x.dtype)")

# --- just as right
right("complex numbers", version="torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * "
      "torch.polar(torch.ones_like(waves(positions, x, base)), waves(positions, x, base))).flatten(-2)")
right("a quarter turn", give=turned("repeat", "neighbours"))
right("rotation matrices", give="torch.einsum('tiab,...tib->...tia', torch.stack((cos, -sin, sin, cos), -1)"
      ".unflatten(-1, (2, 2)), x.unflatten(-1, (-1, 2))).flatten(-2)")
right("a table for all positions so far", angles="(torch.arange(int(positions.max()) + 1, device=x.device)"
      ".unsqueeze(1) * rates)[positions]")
right("an outer product", angles="torch.outer(positions.to(rates.dtype), rates)")
right("exp of a logarithm", rates="torch.exp(even * (-torch.log(torch.tensor(base, dtype=x.dtype)) / d_head))")
right("one over a power", rates="1.0 / (base ** (even / d_head))")
right("angles in float64", angles="(positions.double().unsqueeze(1) * base ** -(even.double() / d_head)).to(x.dtype)")
right("written into a new tensor", pairs="torch.empty_like(x)",
      give="pairs.index_copy(-1, torch.arange(0, d_head, 2, device=x.device), turned_left)"
      ".index_copy(-1, torch.arange(1, d_head, 2, device=x.device), turned_right)")
# fmt: on
