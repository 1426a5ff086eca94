"""What people write in `attention` in place of the reference's lines; and other right ways to write it.

A row of which every key is blocked is no mistake here: the exercise promises that every query has a key, and right
answers differ there (NaN, zeros, the plain mean), so no check and no probe may ask for one.
"""

import torch
from torch.nn import functional as F  # noqa: F401, N812  expressions below use it, by the field's name

from grader.api.checks import LearnerError, MistakeSet, is_array, same

INF = float("inf")

# Its own probes recognise its mistakes, and not what the checks ask: see there.
attention = MistakeSet("scaled_dot_product_attention", globals(), from_checks=False, together=3)
mistake, right = attention.mistake, attention.alternative
MISTAKE_SETS = [attention]

# --- probes: equal on all of these is equal ---------------------------------------------------------------------------
#
# One mistake is written in many ways, and each must be recognised. Where they differ is (1) the type of an error,
# (2) what a slice becomes that is blocked whole: NaN after a fill of -inf, equal weights after -1e9, (3) the size of a
# number that a fill has leaked into. So errors are all one, masks leave something of every slice along every axis
# (padding cannot: there NaN tells nothing), and huge numbers are all one. A probe where NaN tells nothing has no stage:
# to say "right with padding" of NaN would be wrong.


def or_error(observe, *args, **kwargs):
    """What `observe` gives; any error of the function's own is one and the same observation."""
    try:
        return observe(*args, **kwargs)
    except LearnerError as error:
        if error.kind != "raised":
            raise
        return "an error"


def answer(subject, *args, **kwargs):
    return or_error(subject.scaled_dot_product_attention, *args, **kwargs)


def tamed(value, other):
    """A masked answer with `other` instead of whatever is no mean of ordinary values."""
    if not is_array(value) or not value.dtype.is_floating_point:
        return value
    return torch.where(value.abs() < 50.0, value, other)


def mixed_mask(*lead):
    """A mask (*lead, 5, 5) without symmetry, with a True and a False in every slice along every axis."""
    rows = ["10110", "01011", "11001", "00111", "10010"]
    mask = torch.tensor([[letter == "1" for letter in row] for row in rows])
    odd = sum(torch.meshgrid(*(torch.arange(size) for size in lead), indexing="ij")) % 2 == 1
    return mask ^ odd[..., None, None]


@attention.probe("two axes, no mask", stage="on single matrices without a mask")
def _(subject, rand):
    return answer(subject, rand(3, 5), rand(4, 5), rand(4, 6))


@attention.probe("one key", stage="with one key")
def _(subject, rand):
    return answer(subject, rand(2, 3, 5), rand(2, 1, 5), rand(2, 1, 6))


@attention.probe("equal scores", stage="with all scores equal")
def _(subject, rand):
    return answer(subject, torch.zeros(2, 3, 5), rand(2, 4, 5), rand(2, 4, 6))


@attention.probe("three axes, no mask", stage="on a batch without a mask")
def _(subject, rand):
    return answer(subject, rand(2, 3, 5), rand(2, 4, 5), rand(2, 4, 6))


@attention.probe("four axes, no mask", stage="on heads without a mask")
def _(subject, rand):
    return answer(subject, rand(2, 3, 5, 12), rand(2, 3, 5, 12), rand(2, 3, 5, 6))


@attention.probe("a cube", stage="with all sizes equal")
def _(subject, rand):
    return answer(subject, rand(3, 3, 3), rand(3, 3, 3), rand(3, 3, 3))


@attention.probe("large scores", stage="on large scores", atol=1e-3)
def _(subject, rand):
    return answer(subject, 12 * rand(2, 4, 5), 12 * rand(2, 4, 5), rand(2, 4, 6))


@attention.probe("a square mask", stage="with a square mask")
def _(subject, rand):
    mask = mixed_mask(2)
    mask[0, 0] = True  # one query that may attend to all: +inf leaves it alone, 0 · inf does not
    return tamed(answer(subject, rand(2, 5, 3), rand(2, 5, 3), rand(2, 5, 4), mask=mask), INF)


@attention.probe("a mask, more keys than queries", stage="with a mask that is wider than high")
def _(subject, rand):
    mask = mixed_mask(2, 3)[..., 1:, :]
    return tamed(answer(subject, rand(2, 3, 4, 12), rand(2, 3, 5, 12), rand(2, 3, 5, 6), mask=mask), INF)


@attention.probe("padding masks", stage="with a padding mask", nan_tells_nothing=True)
def _(subject, rand):
    one = torch.tensor([[True, True, False, True]])
    two = torch.tensor([[True] * 5 + [False] * 2, [True] * 3 + [False] * 4]).view(2, 1, 1, 7)
    square = answer(subject, rand(4, 5), rand(4, 5), rand(4, 6), mask=one)
    heads = answer(subject, rand(2, 3, 5, 12), rand(2, 3, 7, 12), rand(2, 3, 7, 6), mask=two)
    return [tamed(square, torch.nan), tamed(heads, torch.nan)]


@attention.probe(
    "allowed scores near -200", stage="where allowed scores are very low", atol=1e-3, nan_tells_nothing=True
)
def _(subject, rand):
    q, k, v = torch.zeros(3, 5), torch.zeros(4, 5), rand(4, 6)
    q[:, 0], k[:, 0] = 16.0, torch.tensor([-28.0, 0.0, -28.0, 0.0])  # 16 · 28 / √5 is about 200
    q[:, 1:4], k[:, 1:4] = torch.eye(3), 3.0 * torch.eye(4, 3)
    found = tamed(answer(subject, q, k, v, mask=torch.tensor([[True, False, True, False]])), torch.nan)
    # masking after softmax and dividing by the sum is right; here it gives 0/0, or 0 with a tiny number below
    return torch.where(found == 0, torch.nan, found) if is_array(found) else found


@attention.probe("the inputs afterwards", stage="in leaving its inputs alone")
def _(subject, rand):
    q, k, v = rand(2, 5, 3), rand(2, 5, 3), rand(2, 5, 4)
    found = or_error(subject.scaled_dot_product_attention.observe, q, k, v, mask=mixed_mask(2))
    return found if isinstance(found, str) else [*found.args, found.kwargs["mask"]]


@attention.probe("two calls", stage="in answering twice alike")
def _(subject, rand):
    q, k, v = rand(2, 3, 7, 5), rand(2, 3, 7, 5), rand(2, 3, 7, 6)
    return same(answer(subject, q, k, v), answer(subject, q, k, v), 0.0)


@attention.probe("the gradient", stage="in its gradients")
def _(subject, rand):
    q, k, v, weights = rand(2, 3, 5), rand(2, 4, 5), rand(2, 4, 6), rand(2, 3, 6)
    return or_error(subject.scaled_dot_product_attention.gradients, q, k, v, wrt=[0, 1, 2], weights=weights)


@attention.probe("float64 inputs", stage="in keeping the dtype")
def _(subject, rand):
    q, k, v = (rand(*shape, dtype=torch.float64) for shape in ((3, 5), (4, 5), (4, 6)))
    return answer(subject, q, k, v)


# --- probes aside: what only rare faults show, which hide no other ----------------------------------------------------


@attention.probe("slices of larger tensors", aside=True)
def _(subject, rand):
    return or_error(
        subject.scaled_dot_product_attention.on_slices, rand(2, 3, 5, 8), rand(2, 3, 5, 8), rand(2, 3, 5, 6)
    )


@attention.probe("allowed scores of 0", aside=True)
def _(subject, rand):
    mask = torch.tensor([[True, False, True, True]])
    return same(answer(subject, torch.zeros(3, 5), rand(4, 5), torch.eye(4), mask=mask), (mask / 3).expand(3, 4), 1e-3)


@attention.probe("a huge value behind a blocked key", aside=True)
def _(subject, rand):
    v = torch.ones(4, 6)
    v[1] = 1e20
    return bool(
        (answer(subject, rand(3, 5), rand(4, 5), v, mask=torch.tensor([[True, False, True, True]])) < 2.0).all()
    )


@attention.probe("a mask with one axis", aside=True)
def _(subject, rand):
    mask = torch.tensor([True, False, True, True])
    return answer(subject, rand(2, 3, 5), rand(2, 4, 5), rand(2, 4, 6), mask=mask)


@attention.probe("scores near -2000", aside=True, atol=2e-3)
def _(subject, rand):
    q, k, v = rand(3, 16), rand(4, 16), rand(4, 6)
    q[:, 0], k[:, 0] = 160.0, -50.0  # 160 · 50 / √16 = 2000
    return answer(subject, q, k, v, mask=torch.tensor([[True, False, True, False]]))


@attention.probe("half precision", aside=True)
def _(subject, rand):
    mask = torch.tensor([[True, False, True, True]])
    found = [
        answer(subject, *(rand(*shape, dtype=dtype) for shape in ((3, 5), (4, 5), (4, 6))), mask=mask)
        for dtype in (torch.float16, torch.bfloat16)
    ]
    return [str(getattr(each, "dtype", each)) for each in found]


# --- examples small enough to retype ----------------------------------------------------------------------------------

ONE = torch.tensor([[1.0, 0.0]])
TWO = torch.eye(2)

attention.example(ONE, TWO, TWO)
attention.example(TWO, TWO, torch.tensor([[1.0], [2.0]]))
attention.example(TWO, torch.tensor([[1.0, 2.0], [3.0, 0.0]]), TWO, mask=torch.tensor([[True, False], [True, True]]))
attention.example(200 * ONE, TWO, TWO)
attention.example(ONE[None], torch.tensor([[[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]]), torch.eye(3)[None])
attention.example(TWO.view(1, 2, 1, 2), TWO.expand(1, 2, 2, 2), TWO.expand(1, 2, 2, 2))

# --- what expressions below use ---------------------------------------------------------------------------------------


def only_with_axes(number, q):
    """q, if it has so many axes; an error else, as where a shape is unpacked."""
    if q.dim() != number:
        raise ValueError("not enough (or too many) values to unpack")
    return q


def width_of_all_heads(q):
    return q.size(-1) * (q.size(-3) if q.dim() == 4 else 1)


def along(scores, dim):
    """Softmax over another axis, on which all scores may be blocked: equal weights there, as after a fill of -1e9.
    After -inf it is NaN, which the probes know to tell nothing."""
    return torch.softmax(scores.masked_fill(scores == -INF, -1e9), dim)


def reverse_axes(tensor):
    return tensor.permute(*reversed(range(tensor.dim())))  # what `.T` does


def exponentiate_unshifted(scores):
    powers = torch.exp(scores)
    return powers / powers.sum(-1, keepdim=True)


def unit(tensor, eps=0.0):
    return tensor / (tensor.norm(dim=-1, keepdim=True) + eps)


def z_scores(scores, correction, eps):
    apart = scores - scores.mean(-1, keepdim=True)  # `std` would warn where there is one key
    return apart / ((apart.square().sum(-1, keepdim=True) / (scores.size(-1) - correction)).sqrt() + eps)


def see_only(scores, allowed, value=-INF):
    """Scores in which query i sees key j only where `allowed(i, j)`; the others get `value`."""
    queries, keys = torch.arange(scores.size(-2)), torch.arange(scores.size(-1))
    return scores.masked_fill(~allowed(queries[:, None], keys), value)


def past(query, key):
    return key <= query


def itself(query, key):
    return key == query


# fmt: off
# --- the scores
SCORE = "q @ k.transpose(-2, -1)"
mistake("at-qk-swapped", "Your scores are k qᵀ: rows belong to keys, columns to queries. With as many keys as queries "
    "no error warns you, but row i is then not the answer to query i.", "Scores are (queries × keys): put q on the "
    "left and the transposed k on the right.", score="k @ q.transpose(-2, -1)")
mistake("at-qk-swapped", "You transpose the weights before they meet the values, so row i answers not for query i but "
    "for key i.", "Multiply the weights with v as they are: (..., T, S) @ (..., S, d_v).", coding="weights transposed",
    alone=True, mix="weights.transpose(-2, -1) @ v")
mistake("at-k-reshaped", "You reshape k where it must be transposed: `view` and `reshape` keep the numbers in their "
    "order and only cut the rows elsewhere, so queries meet scrambled keys.", "Exchange the last two axes with "
    "`k.transpose(-2, -1)`.", score="q @ k.reshape(*k.shape[:-2], k.size(-1), k.size(-2))")
mistake("at-k-dot-T", "`k.T` reverses all axes of k: right for a matrix, but with batch or heads it reverses those "
    "too.", "Exchange the last two axes only: `k.transpose(-2, -1)` (or `k.mT`).", score="q @ reverse_axes(k)")
for coding, changes in {"scaled": {}, "not scaled": {"scale": "scores"}}.items():
    for how, eps in (("", ""), (", with eps", ", 1e-8")):
        mistake("at-cosine", "Your scores are cosines: the lengths of q and k do not count, so no key can stand out "
                "far.", "Take the dot products as they are: `q @ k.transpose(-2, -1)`, and divide by √d_k.",
                coding=f"{coding}{how}", alone=True, score=f"unit(q{eps}) @ unit(k{eps}).transpose(-2, -1)", **changes)
mistake("at-view", "It works only on tensors without gaps in their memory: `view` cannot join the axes of a slice, nor "
        "of heads that were cut out of one tensor.", "Use `reshape` in place of `view`, or no reshaping at all: `@` "
        "takes any leading axes.", only=("slices of larger tensors",), take_q="q.view(-1).view(q.shape)")
for axes, shape in ((2, "(T, d_k)"), (3, "(B, T, d_k)"), (4, "(B, H, T, d_k)")):
    mistake("at-one-rank-only", f"It works for q of shape {shape} only; any other number of leading axes ends in an "
        "error.", "Count axes from the back (`q.size(-1)`, `transpose(-2, -1)`, `dim=-1`) and unpack no shape.",
        coding=f"{axes} axes", alone=axes == 2, score=f"only_with_axes({axes}, q) @ k.transpose(-2, -1)")

# --- the scale
mistake("at-no-scale", "Your weights are softmax(q kᵀ) without the 1/√d_k: the wider the head, the more one key takes "
    "all.", "Divide the scores by `q.size(-1) ** 0.5` before softmax.", scale="scores")
mistake("at-scale-dk", "You divide by d_k, not by its square root (or scale both q and k by √d_k): the weights come "
    "out too even.", "Divide the scores once, by `q.size(-1) ** 0.5`.", scale="scores / q.size(-1)")
mistake("at-scale-dk", "You divide by d_k / 2: Python reads `d_k ** 1/2` as (d_k ** 1) / 2. (At d_k = 4 the two "
    "agree.)", "Write `d_k ** 0.5` or `math.sqrt(d_k)`.", coding="/ (d_k ** 1/2)", alone=True,
    scale="scores / (q.size(-1) / 2)")
mistake("at-scale-dk", "You divide by 2·d_k: Python reads `/ d_k ** 1/2` as a division by d_k and then one by 2.",
        "Write `/ d_k ** 0.5` or `/ math.sqrt(d_k)`.", coding="/ d_k ** 1/2", alone=True,
        scale="scores / q.size(-1) ** 1 / 2")
mistake("at-scale-multiplied", "You multiply the scores by √d_k; that makes large scores larger, and one key takes "
    "all.", "Divide by √d_k.", scale="scores * q.size(-1) ** 0.5")
mistake("at-scale-d-model", "With heads you divide by √(H·d_k), the width of the whole model; each head has only d_k "
    "components to add up.", "Take the width of one head, `q.size(-1)`.", scale="scores / width_of_all_heads(q) ** 0.5")
for size, coding, width in (
    ("the number of queries, T", "T", "q.size(-2)"),
    ("the number of keys, S", "S", "k.size(-2)"),
    ("the width of the values, d_v", "d_v", "v.size(-1)"),
    ("q.size(1), which is T for a batch and H with heads", "size(1)", "q.size(1)"),
    ("q.size(0), the first axis", "size(0)", "q.size(0)"),
    ("q.size(2), which is T with heads", "size(2)", "q.size(2)"),
):
    mistake("at-scale-wrong-axis", f"You divide by the square root of {size}; what grows with the sum in q·k is d_k.",
            "Take the last axis of q: `q.size(-1) ** 0.5`.", coding=coding, alone=coding not in ("T", "size(1)"),
            scale=f"scores / {width} ** 0.5")
mistake("at-scale-constant", "You divide by 8, which is √d_k only where d_k = 64.",
        "Read d_k off the input: `q.size(-1) ** 0.5`.", coding="8", scale="scores / 8.0")
mistake("at-scale-constant", "You divide by √512, the width of one famous model, whatever the width of q is.",
        "Read d_k off the input: `q.size(-1) ** 0.5`.", coding="√512", alone=True, scale="scores / 512**0.5")
mistake("at-scale-after-softmax", "You scale after softmax: the weights of a query no longer sum to 1, and they are as "
    "peaked as without a scale.", "Divide the scores, before softmax.", scale="scores",
    mix="weights / q.size(-1) ** 0.5 @ v")

for coding, correction, eps in (("n - 1", 1, 0.0), ("n", 0, 0.0), ("n - 1, eps", 1, 1e-8), ("n, eps", 0, 1e-8)):
    mistake("at-z-scores", "You divide a query's scores by their own standard deviation: how well its best key fits no "
            "longer counts.", "Divide by √d_k, which is the same for all queries.", coding=coding, alone=True,
            scale=f"z_scores(scores, {correction}, {eps})")

# --- softmax
mistake("at-softmax-queries", "Your softmax runs over the queries (dim=-2): each column of the weights sums to 1, so "
    "queries compete for a key, where keys must compete for a query.", "Normalise over the keys: `dim=-1`.",
    weigh="along(scores, -2)")
for dim, axis in ((0, "the first axis, the batch"), (1, "axis 1, the heads (or, with three axes, the queries)")):
    mistake("at-softmax-batch-or-head", f"Your softmax runs over {axis}: it weighs against each other what has nothing "
        "to do with each other, and no query's weights sum to 1.", "Normalise over the keys, counted from the back: "
        "`dim=-1`.", coding=f"dim={dim}", weigh=f"along(scores, {dim})")
mistake("at-softmax-batch-or-head", "You give softmax no `dim`, so torch picks one: the batch for three axes, the "
    "heads for four.", "Name the keys' axis: `dim=-1`.", coding="no dim", alone=True,
    weigh="along(scores, 0 if scores.dim() == 3 else 1)")
mistake("at-one-rank-only", "Your softmax runs over dim=2: these are the keys for three axes, but with heads they are "
    "the queries.", "Count from the back: `dim=-1` is the keys' axis whatever stands before it.",
    coding="softmax over dim=2", alone=True, weigh="along(scores, 2)")
mistake("at-no-softmax", "The raw scores meet the values: scores may be negative and sum to anything, so this is no "
    "mean.", "Turn the scores into weights with softmax over the keys.", weigh="scores")
# not in the catalogue of attention, but everybody may bring a softmax along
mistake("at-softmax-overflow", "Your own softmax exponentiates the scores as they are: exp(100) overflows to inf, and "
        "inf/inf is NaN.", "Subtract each row's maximum before `exp`, or use the softmax of the first lesson.",
        weigh="exponentiate_unshifted(scores)")
mistake("at-argmax", "Each query takes the value of its best key alone (`argmax`). That is no mean, and it has no "
    "gradient: queries and keys can never learn.", "Use softmax over the keys: the best key gets the most weight, and "
    "the others a share.", alone=True, weigh="F.one_hot(scores.argmax(-1), scores.size(-1)).to(scores.dtype)")

for coding, weigh in (("divided by the sum", "torch.sigmoid(scores) / torch.sigmoid(scores).sum(-1, keepdim=True)"),
                      ("", "torch.sigmoid(scores)")):
    mistake("at-sigmoid", "Your weights are sigmoids, not a softmax: keys do not compete, and all large scores "
            "count the same.", "Use softmax over the keys.", coding=coding, alone=True, weigh=weigh)
for decimals in (4, 3, 2):
    for coding, changes in {"weights": {"weigh": f"torch.softmax(scores, -1).round(decimals={decimals})"},
                            "answer": {"result": f"value.round(decimals={decimals})"}}.items():
        mistake("at-rounded", f"You round the {coding} to {decimals} decimals: rounding has no gradient, so "
                "queries and keys never learn.", "Take the rounding out.", coding=f"{coding}, {decimals} decimals",
                alone=True, **changes)
mistake("at-never-zero", "No weight is ever 0 in your answer (`clamp(min=...)`, or a tiny number added): a blocked key "
        "gets a little, and a huge value behind it shows.", "Take the tiny number out: softmax never divides by 0.",
        only=("a huge value behind a blocked key",), weigh="torch.softmax(scores, dim=-1) + 1e-9")

# --- the mask
mistake("at-mask-ignored", "The mask changes nothing in your answer: blocked keys get as much weight as before.",
        "Where the mask is False, set the score to −∞ before softmax: `scores = scores.masked_fill(~mask, -inf)`. "
        "(`masked_fill` returns a new tensor: assign it.)", hide="scores")
for coding, value in (("", "-INF"), ("finite fill", "-1e9")):
    mistake("at-mask-inverted", "Your mask works the other way round: you keep what is blocked and hide the rest. Here "
        "True = may attend.", "Hide where the mask is False: `scores.masked_fill(~mask, -inf)`.", coding=coding,
        hide=f"scores.masked_fill(mask, {value})")
mistake("at-mask-transposed", "Your mask is transposed: a causal mask lets queries see the future and hides the past. "
    "Its rows are queries and its columns keys, as in the scores.", "Use the mask as it comes, `~mask`, without a "
    "transpose.", hide="scores.masked_fill(~mask.transpose(-2, -1), -1e9)")
mistake("at-mask-transposed", "`mask.T` turns the mask round: queries see what was meant for others. With more axes it "
    "is an error. The mask's rows are queries and its columns keys, as in the scores.",
    "Use the mask as it comes, `~mask`, without a transpose.", coding="mask.T", alone=True,
    hide="scores.masked_fill(~reverse_axes(mask), -1e9)")
mistake("at-mask-query-axis", "You lay a padding mask along the queries: padded queries are hidden, but padded keys "
    "still get weight.", "Hide along the last axis of the scores, the keys; there the mask broadcasts by itself.",
    alone=True, hide="scores.masked_fill(~(mask.transpose(-2, -1) if mask.size(-2) == 1 else mask), -1e9)")
mistake("at-mask-after-softmax", "You hide keys after softmax: their share is lost, and the weights of a query no "
    "longer sum to 1.", "Hide the scores before softmax (or divide the weights by their sum once more).", hide="scores",
    mix="(weights if mask is None else weights * mask) @ v")
mistake("at-mask-as-zero-score",
        "You give blocked keys the score 0 (scores × mask, or a fill of 0 or ±1e-9). But exp(0) = 1: they keep a full "
        "share.", "Fill with −∞, whose exponential is exactly 0.", hide="scores.masked_fill(~mask, 0.0)")
mistake("at-mask-added-bool", "You add the mask to the scores: True counts as 1, so allowed keys gain a little and "
    "nothing is blocked.", "Fill the blocked scores with −∞: `scores.masked_fill(~mask, -inf)`.", hide="scores + mask")
mistake("at-zero-score-hidden", "You hide every score that is 0, to find those that the mask made 0: a key that is "
        "allowed and scores exactly 0 is lost, too.", "Ask the mask, not the scores: `scores.masked_fill(~mask, "
        "-inf)`.", only=("allowed scores of 0",), hide="(scores * mask).masked_fill(scores * mask == 0, -INF)")
mistake("at-mask-one-axis", "A mask of shape (S,), one for all queries, is an error: you count on two axes or more.",
        "Use the mask as it comes: `masked_fill(~mask, -inf)` broadcasts it by itself.", only=("a mask with one axis",),
        hide="scores.masked_fill(~mask.transpose(-2, -1).transpose(-2, -1), -INF)")
TOO_LARGE = "It is an error for float16, whose lowest number is -65504: "
FILL = "Fill with `float('-inf')`, which every float type has, or with `torch.finfo(scores.dtype).min`."
mistake("at-half", f"{TOO_LARGE}your fill does not fit.", FILL, only=("half precision",),
        hide="scores.masked_fill(~mask, -1e9)")
mistake("at-half", "It is an error in half precision: what you make of the mask is float32, and so the weights no "
    "longer fit the values.", "Convert to the scores' own type (`mask.to(scores.dtype)`), or use `masked_fill`.",
    coding="float32 added", only=("half precision",), hide="scores + torch.zeros(mask.shape).masked_fill(~mask, -INF)")
mistake("at-fill-too-small", "Your fill is about -1000: where the allowed scores are lower still, the blocked keys "
        "win.", "Fill with −∞: `float('-inf')`.", coding="-1000", only=("scores near -2000",),
        hide="scores.masked_fill(~mask, -1000.0)")
for value in (-1.0, -10.0):
    mistake("at-fill-too-small", f"Your fill is about {value:g}, a score like others: blocked keys keep a share of the "
        "weight, and win where the allowed scores are lower still.", "Fill with −∞ (`float('-inf')`), or with −1e9.",
        coding=f"{value:g}", alone=True, hide=f"scores.masked_fill(~mask, {value})")
mistake("at-fill-too-small", "Your fill is negative, but not low enough: where the allowed scores are lower still, the "
    "blocked keys win.", "Fill with −∞ (`float('-inf')`), or with −1e9.", hide="scores.masked_fill(~mask, -100.0)")
mistake("at-fill-positive", "You fill with a huge positive number: the blocked keys take all the weight.",
        "Fill with −∞: `float('-inf')`.", coding="1e9", alone=True, hide="scores.masked_fill(~mask, 1e9)")
mistake("at-fill-positive", "You fill with +∞: the softmax of a row that holds +∞ is NaN, and so is every query with a "
    "blocked key.", "Fill with −∞: `float('-inf')`.", coding="inf", alone=True, hide="scores.masked_fill(~mask, INF)")
# not in the catalogue either: the usual way to get NaN from a mask of numbers
mistake("at-mask-zero-times-infinity", "You multiply by −∞ to block: where the mask allows, that is 0 · ∞ = NaN, and "
    "every masked answer is NaN.", "Choose, do not multiply: `masked_fill` or `torch.where`; or multiply by −1e9.",
    hide="scores + (~mask).to(scores.dtype) * -INF")

# --- a mask that nobody asked for
mistake("at-always-causal", "You hide the future from every query, whether a mask asks for it or not.",
        "Block only what `mask` blocks; with mask=None every query may attend to every key.", alone=True,
        score=f"see_only({SCORE}, past)")
mistake("at-always-causal", "Without a mask you hide the future; with mask=None every query may attend to every key.",
        "Block only what `mask` blocks.", coding="unless a mask is given", alone=True,
        score=f"see_only({SCORE}, past) if mask is None else {SCORE}")
for coding, changes in {
    "": {"score": f"see_only({SCORE}, itself)"},
    # with fewer keys than queries the last queries see none, and weigh all evenly
    "finite fill": {"score": f"see_only({SCORE}, itself, -1e9)", "hide": "scores.masked_fill(~mask, -1e9)"},
    "whatever the mask": {"score": f"see_only({SCORE}, itself)", "hide": "scores"},
    "whatever the mask, finite fill": {"score": f"see_only({SCORE}, itself, -1e9)", "hide": "scores"},
}.items():
    mistake("at-self-only", "Each query sees only the key at its own place, so it gets that one value and nothing is "
            "mixed.", "Let every query weigh all keys that `mask` allows.", coding=coding, alone=True, **changes)

# --- the values, and manners
for what, mix in (("keys", "weights @ k"), ("queries", "weights @ q")):
    mistake("at-values-are-keys", f"Your output is a mean of the {what}. They decide who listens to whom; what is "
        "handed over are the values.", "Multiply the weights with v.", coding=what, alone=what == "queries", mix=mix)
mistake("at-values-are-keys", "Your output is the table of weights; the values have not been mixed yet.",
        "Return the weights times v: (..., T, S) @ (..., S, d_v).", coding="weights only", mix="weights")
mistake("at-values-are-keys", "Your output is v itself: no query has chosen anything.",
        "Return the weights times v.", coding="values as they are", alone=True, mix="v")
mistake("at-in-place", "You change the caller's q (`q /= ...`): the next call with the same tensor is wrong.",
        "Make a new tensor: `q = q / ...`, or divide the scores.", coding="q", alone=True,
        scale="q /= q.size(-1) ** 0.5\nscores = q @ k.transpose(-2, -1)")
mistake("at-in-place", "You transpose the caller's k in place: after the call it has another shape.",
        "Take out the underscore: `k.transpose(-2, -1)` makes a view and leaves k alone.", coding="k", alone=True,
        score="q @ k.transpose_(-2, -1)")
mistake("at-in-place", "You negate the caller's mask in place: the second layer that uses it hides what the first one "
    "kept.", "Write `~mask`, which makes a new tensor.", coding="mask", alone=True,
    hide="scores.masked_fill(mask.logical_not_(), -INF)")
mistake("at-dropout-on", "Two calls with the same input give different answers: dropout is active, or something is "
    "drawn at random in each call (new weights, say).", "Take the dropout or the random numbers out: this function has "
    "none.", only=("two calls",), mix="torch.dropout(weights, 0.1, True) @ v")
mistake("at-detached", "The weights are cut off from autograd (`.detach()`, `.data`, `no_grad`): v can learn, q and k "
        "cannot.", "Stay with tensor operations from the inputs to the result.", coding="weights", alone=True,
        mix="weights.detach() @ v")
mistake("at-detached", "The result is cut off from autograd (`.detach()`, `.data`, `no_grad`, numpy): nothing can "
    "learn from it.", "Stay with tensor operations from the inputs to the result.", alone=True, result="value.detach()")
mistake("at-dtype", "The answer's dtype is float32 whatever the inputs' is.",
        "Take out `.float()`; make new tensors with `dtype=q.dtype`.", alone=True, result="value.float()")

# --- just as right
right("a fill of -10,000", hide="scores.masked_fill(~mask, -1e4)")
right("a fill of the lowest number", hide="scores.masked_fill(~mask, torch.finfo(scores.dtype).min)")
right("q scaled first", score="(q / q.size(-1) ** 0.5) @ k.transpose(-2, -1)", scale="scores")
right("q and k scaled by half each", score="(q / q.size(-1) ** 0.25) @ (k / k.size(-1) ** 0.25).transpose(-2, -1)",
      scale="scores")
for name, value in (("mask, then scale", "-INF"), ("mask with −5e4, then scale", "-5e4")):
    right(name, scale="scores", hide=f"scores.masked_fill(~mask, {value})",
          weigh="F.softmax(scores / q.shape[-1] ** 0.5, dim=-1)")
for name, tiny in (("mask after softmax, and sum to 1 again", ""), ("the same with a tiny number below", " + 1e-9")):
    right(name, hide="scores", mix=f"""if mask is not None:
    weights = weights * mask
    weights = weights / (weights.sum(-1, keepdim=True){tiny})
return weights @ v""")
right("NaN weights set to zero", mix="weights.nan_to_num(0.0) @ v")
right("−1e9 added", hide="scores + (1.0 - mask.to(scores.dtype)) * -1e9")
right("−∞ added", hide="scores + torch.zeros_like(mask, dtype=scores.dtype).masked_fill(~mask, -INF)")
right("the logarithm of the mask added", hide="scores + mask.to(scores.dtype).log()")
right("torch.where", hide="torch.where(mask, scores, -INF)")
right("assignment where blocked", hide="scores = scores.clone()\nscores[~mask.expand_as(scores)] = -INF")
right("softmax by hand", weigh="(scores - scores.amax(-1, keepdim=True)).exp() / (scores - scores.amax(-1, "
    "keepdim=True)).exp().sum(-1, True)")
right("softmax through logsumexp", weigh="torch.exp(scores - scores.logsumexp(-1, keepdim=True))")
right("einsum", score="torch.einsum('...td,...sd->...ts', q, k)", mix="torch.einsum('...ts,...sv->...tv', weights, v)")
right("keys first, transposed at the end", score="k @ q.transpose(-2, -1)",
      hide="scores.masked_fill(~mask.expand(scores.mT.shape).mT, -INF)", weigh="torch.softmax(scores, -2)",
      mix="weights.transpose(-2, -1) @ v")
# fmt: on


def head_by_head(q, k, v, mask=None):
    """All leading axes in one, one matrix at a time."""
    lead = q.shape[:-2]
    flat_q, flat_k, flat_v = (x.reshape(-1, *x.shape[-2:]) for x in (q, k, v))
    allowed = None if mask is None else mask.expand(*lead, q.size(-2), k.size(-2)).reshape(-1, q.size(-2), k.size(-2))
    outputs = []
    for i in range(flat_q.size(0)):
        scores = torch.mm(flat_q[i], flat_k[i].T) / q.size(-1) ** 0.5
        if allowed is not None:
            scores = scores.masked_fill(~allowed[i], -INF)
        outputs.append(torch.mm(torch.softmax(scores, dim=1), flat_v[i]))
    return torch.stack(outputs).reshape(*lead, q.size(-2), v.size(-1))


def through_bmm(q, k, v, mask=None):
    lead, (t, s) = q.shape[:-2], (q.size(-2), k.size(-2))
    scores = torch.bmm(q.reshape(-1, t, q.size(-1)), k.reshape(-1, s, k.size(-1)).transpose(1, 2))
    scores = scores.view(*lead, t, s) * q.size(-1) ** -0.5
    if mask is not None:
        scores = torch.where(mask, scores, torch.full_like(scores, -INF))
    weights = scores.softmax(-1).view(-1, t, s)
    return torch.bmm(weights, v.reshape(-1, s, v.size(-1))).view(*lead, t, v.size(-1))


right("one matrix at a time", version=head_by_head)
right("through bmm", version=through_bmm)
