"""What people get wrong in `attention`, executable; and other right ways to write it.

A row of which every key is blocked is no mistake here: the exercise promises that every query has a key, and right
answers differ there (NaN, zeros, the plain mean), so no check and no probe may ask for one.
"""

import torch
from torch.nn import functional

from grader.api.checks import LearnerError, MistakeSet, is_array, same

INF = float("inf")


def make_attention(*, score, scale, hide, softmax, finish, mix):
    """Attention from its steps: score, scale, hide what the mask blocks, softmax, (nothing more to do), mix."""

    def scaled_dot_product_attention(q, k, v, mask=None):
        scores = scale(score(q, k), q, k, v)
        if mask is not None:
            scores = hide(scores, mask)
        weights = finish(softmax(scores), mask, q)
        return mix(weights, q, k, v)

    return scaled_dot_product_attention


def all_pairs(q, k):
    return q @ k.transpose(-2, -1)


def by_root_of_width(scores, q, k, v):
    return scores / q.size(-1) ** 0.5


def fill(value, blocked=lambda mask: ~mask):
    """A `hide` that puts `value` where `blocked(mask)`."""
    return lambda scores, mask: scores.masked_fill(blocked(mask), value)


def over_the_keys(scores):
    return torch.softmax(scores, -1)


def nothing_more(weights, mask, q):
    return weights


def mean_of_values(weights, q, k, v):
    return weights @ v


attention = MistakeSet(
    "scaled_dot_product_attention",
    make_attention,
    together=3,
    score=all_pairs,
    scale=by_root_of_width,
    hide=fill(-INF),
    softmax=over_the_keys,
    finish=nothing_more,
    mix=mean_of_values,
)

MISTAKE_SETS = [attention]


def alone(**changes):
    """These steps exchanged, as a whole version: a rarer coding, named where it is the only mistake. Every coding that
    is looked for among others costs time: there are some 1700 sets of three."""
    return attention.build(changes)


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


# --- examples small enough to retype ----------------------------------------------------------------------------------

ONE = torch.tensor([[1.0, 0.0]])
TWO = torch.eye(2)

attention.example(ONE, TWO, TWO)
attention.example(TWO, TWO, torch.tensor([[1.0], [2.0]]))
attention.example(TWO, torch.tensor([[1.0, 2.0], [3.0, 0.0]]), TWO, mask=torch.tensor([[True, False], [True, True]]))
attention.example(200 * ONE, TWO, TWO)
attention.example(ONE[None], torch.tensor([[[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]]), torch.eye(3)[None])
attention.example(TWO.view(1, 2, 1, 2), TWO.expand(1, 2, 2, 2), TWO.expand(1, 2, 2, 2))

# --- mistakes: the scores ---------------------------------------------------------------------------------------------


def only_with_axes(number):
    def score(q, k):
        if q.dim() != number:
            raise ValueError("not enough (or too many) values to unpack")
        return all_pairs(q, k)

    return score


def keys_reshaped(q, k):
    return q @ k.reshape(*k.shape[:-2], k.size(-1), k.size(-2))


def all_axes_reversed(tensor):
    return tensor.permute(*reversed(range(tensor.dim())))  # what `.T` does


def keys_transposed_in_place(q, k):
    return q @ k.transpose_(-2, -1)


attention.mistake(
    "at-qk-swapped",
    says="Your scores are k qᵀ: rows belong to keys, columns to queries. With as many keys as queries no error "
    "warns you, but row i is then not the answer to query i.",
    suggests="Scores are (queries × keys): put q on the left and the transposed k on the right.",
    score=lambda q, k: all_pairs(k, q),
)
attention.mistake(
    "at-qk-swapped",
    coding="weights transposed",
    says="You transpose the weights before they meet the values, so row i answers not for query i but for key i.",
    suggests="Multiply the weights with v as they are: (..., T, S) @ (..., S, d_v).",
    version=alone(mix=lambda weights, q, k, v: weights.transpose(-2, -1) @ v),
)
attention.mistake(
    "at-k-reshaped",
    says="You reshape k where it must be transposed: `view` and `reshape` keep the numbers in their order and only cut "
    "the rows elsewhere, so queries meet scrambled keys.",
    suggests="Exchange the last two axes with `k.transpose(-2, -1)`.",
    score=keys_reshaped,
)
attention.mistake(
    "at-k-dot-T",
    says="`k.T` reverses all axes of k: right for a matrix, but with batch or heads it reverses those too.",
    suggests="Exchange the last two axes only: `k.transpose(-2, -1)` (or `k.mT`).",
    score=lambda q, k: q @ all_axes_reversed(k),
)
for axes, shape, joins in ((2, "(T, d_k)", False), (3, "(B, T, d_k)", True), (4, "(B, H, T, d_k)", True)):
    score = only_with_axes(axes)
    attention.mistake(
        "at-one-rank-only",
        coding=f"{axes} axes",
        says=f"It works for q of shape {shape} only; any other number of leading axes ends in an error.",
        suggests="Count axes from the back (`q.size(-1)`, `transpose(-2, -1)`, `dim=-1`) and unpack no shape.",
        **({"score": score} if joins else {"version": alone(score=score)}),
    )

# --- mistakes: the scale ----------------------------------------------------------------------------------------------


def divided_by(width):
    """A `scale` that divides by `width(q, k, v)`."""
    return lambda scores, q, k, v: scores / width(q, k, v)


def width_of_all_heads(q, k, v):
    return (q.size(-1) * (q.size(-3) if q.dim() == 4 else 1)) ** 0.5


def queries_scaled_in_place(scores, q, k, v):
    q /= q.size(-1) ** 0.5
    return all_pairs(q, k)


unscaled = divided_by(lambda q, k, v: 1.0)

attention.mistake(
    "at-no-scale",
    says="Your weights are softmax(q kᵀ) without the 1/√d_k: the wider the head, the more one key takes all.",
    suggests="Divide the scores by `q.size(-1) ** 0.5` before softmax.",
    scale=unscaled,
)
attention.mistake(
    "at-scale-dk",
    says="You divide by d_k, not by its square root (or scale both q and k by √d_k): the weights come out too even.",
    suggests="Divide the scores once, by `q.size(-1) ** 0.5`.",
    scale=divided_by(lambda q, k, v: q.size(-1)),
)
attention.mistake(
    "at-scale-dk",
    coding="/ (d_k ** 1/2)",
    says="You divide by d_k / 2: Python reads `d_k ** 1/2` as (d_k ** 1) / 2. (At d_k = 4 the two agree.)",
    suggests="Write `d_k ** 0.5` or `math.sqrt(d_k)`.",
    version=alone(scale=divided_by(lambda q, k, v: q.size(-1) / 2)),
)
attention.mistake(
    "at-scale-dk",
    coding="/ d_k ** 1/2",
    says="You divide by 2·d_k: Python reads `/ d_k ** 1/2` as a division by d_k and then one by 2.",
    suggests="Write `/ d_k ** 0.5` or `/ math.sqrt(d_k)`.",
    version=alone(scale=divided_by(lambda q, k, v: q.size(-1) * 2)),
)
attention.mistake(
    "at-scale-multiplied",
    says="You multiply the scores by √d_k; that makes large scores larger, and one key takes all.",
    suggests="Divide by √d_k.",
    scale=divided_by(lambda q, k, v: q.size(-1) ** -0.5),
)
attention.mistake(
    "at-scale-d-model",
    says="With heads you divide by √(H·d_k), the width of the whole model; each head has only d_k components to add "
    "up.",
    suggests="Take the width of one head, `q.size(-1)`.",
    scale=divided_by(width_of_all_heads),
)
for size, coding, width, joins in (
    ("the number of queries, T", "T", lambda q, k, v: q.size(-2), True),
    ("the number of keys, S", "S", lambda q, k, v: k.size(-2), False),
    ("the width of the values, d_v", "d_v", lambda q, k, v: v.size(-1), False),
    ("q.size(1), which is T for a batch and H with heads", "size(1)", lambda q, k, v: q.size(1), True),
    ("q.size(0), the first axis", "size(0)", lambda q, k, v: q.size(0), False),
    ("q.size(2), which is T with heads", "size(2)", lambda q, k, v: q.size(2), False),
):
    scale = divided_by(lambda q, k, v, width=width: width(q, k, v) ** 0.5)
    attention.mistake(
        "at-scale-wrong-axis",
        coding=coding,
        says=f"You divide by the square root of {size}; what grows with the sum in q·k is d_k.",
        suggests="Take the last axis of q: `q.size(-1) ** 0.5`.",
        **({"scale": scale} if joins else {"version": alone(scale=scale)}),
    )
attention.mistake(
    "at-scale-constant",
    coding="8",
    says="You divide by 8, which is √d_k only where d_k = 64.",
    suggests="Read d_k off the input: `q.size(-1) ** 0.5`.",
    scale=divided_by(lambda q, k, v: 8.0),
)
attention.mistake(
    "at-scale-constant",
    coding="√512",
    says="You divide by √512, the width of one famous model, whatever the width of q is.",
    suggests="Read d_k off the input: `q.size(-1) ** 0.5`.",
    version=alone(scale=divided_by(lambda q, k, v: 512**0.5)),
)
attention.mistake(
    "at-scale-after-softmax",
    says="You scale after softmax: the weights of a query no longer sum to 1, and they are as peaked as without a "
    "scale.",
    suggests="Divide the scores, before softmax.",
    scale=unscaled,
    finish=lambda weights, mask, q: weights / q.size(-1) ** 0.5,
)

# --- mistakes: softmax ------------------------------------------------------------------------------------------------


def exponentials_without_a_shift(scores):
    powers = torch.exp(scores)
    return powers / powers.sum(-1, keepdim=True)


def along(dim):
    """A `softmax` over another axis, on which all scores may be blocked: equal weights there, as after a fill of
    -1e9. After -inf it is NaN, which the probes know to tell nothing."""
    return lambda scores: torch.softmax(scores.masked_fill(scores == -INF, -1e9), dim)


def along_axis_that_torch_picks(scores):
    return along(0 if scores.dim() == 3 else 1)(scores)


attention.mistake(
    "at-softmax-queries",
    says="Your softmax runs over the queries (dim=-2): each column of the weights sums to 1, so queries compete for a "
    "key, where keys must compete for a query.",
    suggests="Normalise over the keys: `dim=-1`.",
    softmax=along(-2),
)
for dim, axis in ((0, "the first axis, the batch"), (1, "axis 1, the heads (or, with three axes, the queries)")):
    attention.mistake(
        "at-softmax-batch-or-head",
        coding=f"dim={dim}",
        says=f"Your softmax runs over {axis}: it weighs against each other what has nothing to do with each other, and "
        "no query's weights sum to 1.",
        suggests="Normalise over the keys, counted from the back: `dim=-1`.",
        softmax=along(dim),
    )
attention.mistake(
    "at-softmax-batch-or-head",
    coding="no dim",
    says="You give softmax no `dim`, so torch picks one: the batch for three axes, the heads for four.",
    suggests="Name the keys' axis: `dim=-1`.",
    version=alone(softmax=along_axis_that_torch_picks),
)
attention.mistake(
    "at-one-rank-only",
    coding="softmax over dim=2",
    says="Your softmax runs over dim=2: these are the keys for three axes, but with heads they are the queries.",
    suggests="Count from the back: `dim=-1` is the keys' axis whatever stands before it.",
    version=alone(softmax=along(2)),
)
attention.mistake(
    "at-no-softmax",
    says="The raw scores meet the values: scores may be negative and sum to anything, so this is no mean.",
    suggests="Turn the scores into weights with softmax over the keys.",
    softmax=lambda scores: scores,
)
# not in the catalogue of attention, but everybody may bring a softmax along
attention.mistake(
    "at-softmax-overflow",
    says="Your own softmax exponentiates the scores as they are: exp(100) overflows to inf, and inf/inf is NaN.",
    suggests="Subtract each row's maximum before `exp`, or use the softmax of the first lesson.",
    softmax=exponentials_without_a_shift,
)

# --- mistakes: the mask -----------------------------------------------------------------------------------------------


def transposed(mask):
    return ~mask.transpose(-2, -1)


def padding_transposed(mask):
    return transposed(mask) if mask.size(-2) == 1 else ~mask


def mask_negated_in_place(scores, mask):
    return scores.masked_fill(mask.logical_not_(), -INF)


attention.mistake(
    "at-mask-ignored",
    says="The mask changes nothing in your answer: blocked keys get as much weight as before.",
    suggests="Where the mask is False, set the score to −∞ before softmax: `scores = scores.masked_fill(~mask, -inf)`. "
    "(`masked_fill` returns a new tensor: assign it.)",
    hide=lambda scores, mask: scores,
)
for coding, value in (("", -INF), ("finite fill", -1e9)):
    attention.mistake(
        "at-mask-inverted",
        coding=coding,
        says="Your mask works the other way round: you keep what is blocked and hide the rest. Here True = may attend.",
        suggests="Hide where the mask is False: `scores.masked_fill(~mask, -inf)`.",
        hide=fill(value, blocked=lambda mask: mask),
    )
attention.mistake(
    "at-mask-transposed",
    says="Your mask is transposed: a causal mask lets queries see the future and hides the past. Its rows are queries "
    "and its columns keys, as in the scores.",
    suggests="Use the mask as it comes, `~mask`, without a transpose.",
    hide=fill(-1e9, blocked=transposed),
)
attention.mistake(
    "at-mask-transposed",
    coding="mask.T",
    says="`mask.T` turns the mask round: queries see what was meant for others. With more axes it is an error. The "
    "mask's rows are queries and its columns keys, as in the scores.",
    suggests="Use the mask as it comes, `~mask`, without a transpose.",
    version=alone(hide=fill(-1e9, blocked=lambda mask: ~all_axes_reversed(mask))),
)
attention.mistake(
    "at-mask-query-axis",
    says="You lay a padding mask along the queries: padded queries are hidden, but padded keys still get weight.",
    suggests="Hide along the last axis of the scores, the keys; there the mask broadcasts by itself.",
    version=alone(hide=fill(-1e9, blocked=padding_transposed)),
)
attention.mistake(
    "at-mask-after-softmax",
    says="You hide keys after softmax: their share is lost, and the weights of a query no longer sum to 1.",
    suggests="Hide the scores before softmax (or divide the weights by their sum once more).",
    hide=lambda scores, mask: scores,
    finish=lambda weights, mask, q: weights if mask is None else weights * mask,
)
attention.mistake(
    "at-mask-as-zero-score",
    says="You give blocked keys the score 0 (scores × mask, or a fill of 0 or ±1e-9). But exp(0) = 1: they keep a full "
    "share.",
    suggests="Fill with −∞, whose exponential is exactly 0.",
    hide=fill(0.0),
)
attention.mistake(
    "at-mask-added-bool",
    says="You add the mask to the scores: True counts as 1, so allowed keys gain a little and nothing is blocked.",
    suggests="Fill the blocked scores with −∞: `scores.masked_fill(~mask, -inf)`.",
    hide=lambda scores, mask: scores + mask,
)
for value in (-1.0, -10.0):
    attention.mistake(
        "at-fill-too-small",
        coding=f"{value:g}",
        says=f"Your fill is about {value:g}, a score like others: blocked keys keep a share of the weight, and win "
        "where the allowed scores are lower still.",
        suggests="Fill with −∞ (`float('-inf')`), or with −1e9.",
        version=alone(hide=fill(value)),
    )
attention.mistake(
    "at-fill-too-small",
    says="Your fill is negative, but not low enough: where the allowed scores are lower still, the blocked keys win.",
    suggests="Fill with −∞ (`float('-inf')`), or with −1e9.",
    hide=fill(-100.0),
)
attention.mistake(
    "at-fill-positive",
    coding="1e9",
    says="You fill with a huge positive number: the blocked keys take all the weight.",
    suggests="Fill with −∞: `float('-inf')`.",
    version=alone(hide=fill(1e9)),
)
attention.mistake(
    "at-fill-positive",
    coding="inf",
    says="You fill with +∞: the softmax of a row that holds +∞ is NaN, and so is every query with a blocked key.",
    suggests="Fill with −∞: `float('-inf')`.",
    version=alone(hide=fill(INF)),
)
# not in the catalogue either: the usual way to get NaN from a mask of numbers
attention.mistake(
    "at-mask-zero-times-infinity",
    says="You multiply by −∞ to block: where the mask allows, that is 0 · ∞ = NaN, and every masked answer is NaN.",
    suggests="Choose, do not multiply: `masked_fill` or `torch.where`; or multiply by −1e9.",
    hide=lambda scores, mask: scores + (~mask).to(scores.dtype) * -INF,
)

# --- mistakes: a mask that nobody asked for ---------------------------------------------------------------------------


def seen_only(allowed, value=-INF):
    """A `score` in which query i sees key j only where `allowed(i, j)`; the others get `value`."""

    def score(q, k):
        queries, keys = torch.arange(q.size(-2)), torch.arange(k.size(-2))
        return all_pairs(q, k).masked_fill(~allowed(queries[:, None], keys), value)

    return score


def causal_unless_given(q, k, v, mask=None):
    score = seen_only(lambda query, key: key <= query) if mask is None else all_pairs
    return alone(score=score)(q, k, v, mask)


attention.mistake(
    "at-always-causal",
    says="You hide the future from every query, whether a mask asks for it or not.",
    suggests="Block only what `mask` blocks; with mask=None every query may attend to every key.",
    version=alone(score=seen_only(lambda query, key: key <= query)),
)
attention.mistake(
    "at-always-causal",
    coding="unless a mask is given",
    says="Without a mask you hide the future; with mask=None every query may attend to every key.",
    suggests="Block only what `mask` blocks.",
    version=causal_unless_given,
)
for coding, hide, value in (
    ("", fill(-INF), -INF),
    ("finite fill", fill(-1e9), -1e9),  # with fewer keys than queries the last queries see none, and weigh all evenly
    ("whatever the mask", lambda scores, mask: scores, -INF),
    ("whatever the mask, finite fill", lambda scores, mask: scores, -1e9),
):
    attention.mistake(
        "at-self-only",
        coding=coding,
        says="Each query sees only the key at its own place, so it gets that one value and nothing is mixed.",
        suggests="Let every query weigh all keys that `mask` allows.",
        version=alone(score=seen_only(lambda query, key: key == query, value), hide=hide),
    )
attention.mistake(
    "at-argmax",
    says="Each query takes the value of its best key alone (`argmax`). That is no mean, and it has no gradient: "
    "queries and keys can never learn.",
    suggests="Use softmax over the keys: the best key gets the most weight, and the others a share.",
    version=alone(softmax=lambda scores: functional.one_hot(scores.argmax(-1), scores.size(-1)).to(scores.dtype)),
)

# --- mistakes: the values, and manners --------------------------------------------------------------------------------


def switched_off_at_random(weights, mask, q):
    return torch.dropout(weights, 0.1, True)


for what, mix, joins in (
    ("keys", lambda weights, q, k, v: weights @ k, True),
    ("queries", lambda weights, q, k, v: weights @ q, False),
):
    attention.mistake(
        "at-values-are-keys",
        coding=what,
        says=f"Your output is a mean of the {what}. They decide who listens to whom; what is handed over are the "
        "values.",
        suggests="Multiply the weights with v.",
        **({"mix": mix} if joins else {"version": alone(mix=mix)}),
    )
attention.mistake(
    "at-values-are-keys",
    coding="weights only",
    says="Your output is the table of weights; the values have not been mixed yet.",
    suggests="Return the weights times v: (..., T, S) @ (..., S, d_v).",
    mix=lambda weights, q, k, v: weights,
)
attention.mistake(
    "at-values-are-keys",
    coding="values as they are",
    says="Your output is v itself: no query has chosen anything.",
    suggests="Return the weights times v.",
    version=alone(mix=lambda weights, q, k, v: v),
)
attention.mistake(
    "at-in-place",
    coding="q",
    says="You change the caller's q (`q /= ...`): the next call with the same tensor is wrong.",
    suggests="Make a new tensor: `q = q / ...`, or divide the scores.",
    version=alone(scale=queries_scaled_in_place),
)
attention.mistake(
    "at-in-place",
    coding="k",
    says="You transpose the caller's k in place: after the call it has another shape.",
    suggests="Take out the underscore: `k.transpose(-2, -1)` makes a view and leaves k alone.",
    version=alone(score=keys_transposed_in_place),
)
attention.mistake(
    "at-in-place",
    coding="mask",
    says="You negate the caller's mask in place: the second layer that uses it hides what the first one kept.",
    suggests="Write `~mask`, which makes a new tensor.",
    version=alone(hide=mask_negated_in_place),
)
attention.mistake(
    "at-dropout-on",
    says="Two calls with the same input give different answers: dropout is active, or something is drawn at random in "
    "each call (new weights, say).",
    suggests="Take the dropout or the random numbers out: this function has none.",
    only=("two calls",),
    finish=switched_off_at_random,
)
attention.mistake(
    "at-detached",
    coding="weights",
    says="The weights are cut off from autograd (`.detach()`, `.data`, `no_grad`): v can learn, q and k cannot.",
    suggests="Stay with tensor operations from the inputs to the result.",
    version=alone(finish=lambda weights, mask, q: weights.detach()),
)
attention.mistake(
    "at-detached",
    says="The result is cut off from autograd (`.detach()`, `.data`, `no_grad`, numpy): nothing can learn from it.",
    suggests="Stay with tensor operations from the inputs to the result.",
    version=alone(mix=lambda weights, q, k, v: (weights @ v).detach()),
)
attention.mistake(
    "at-dtype",
    says="The answer's dtype is float32 whatever the inputs' is.",
    suggests="Take out `.float()`; make new tensors with `dtype=q.dtype`.",
    version=alone(mix=lambda weights, q, k, v: (weights @ v).float()),
)

# --- alternatives: just as right --------------------------------------------------------------------------------------


def added(penalty):
    """A `hide` that adds `penalty(mask, scores)`."""
    return lambda scores, mask: scores + penalty(mask, scores)


def softmax_by_hand(scores):
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    return powers / powers.sum(-1, keepdim=True)


def renormalised(tiny):
    """A `finish` that masks the weights and makes them sum to 1 again."""

    def finish(weights, mask, q):
        kept = weights if mask is None else weights * mask
        return kept / (kept.sum(-1, keepdim=True) + tiny)

    return finish


def set_where_blocked(scores, mask):
    scores = scores.clone()
    scores[~mask.expand_as(scores)] = -INF
    return scores


def mask_then_scale(value):
    def version(q, k, v, mask=None):
        scores = all_pairs(q, k)
        if mask is not None:
            scores.masked_fill_(~mask, value)
        return torch.nn.functional.softmax(scores / q.shape[-1] ** 0.5, dim=-1) @ v

    return version


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


def keys_first(q, k, v, mask=None):
    """The whole table the other way round: scores (S, T), softmax over its rows, transposed at the end."""
    scores = all_pairs(k, q) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask.transpose(-2, -1), -INF)
    return torch.softmax(scores, dim=-2).transpose(-2, -1) @ v


for value in (-1e4, -1e9, torch.finfo(torch.float32).min):
    attention.alternative(f"a fill of {value:g}", hide=fill(value))
attention.alternative(
    "q scaled first", score=lambda q, k: all_pairs(q / q.size(-1) ** 0.5, k), scale=lambda scores, q, k, v: scores
)
attention.alternative(
    "q and k scaled by half each",
    score=lambda q, k: all_pairs(q / q.size(-1) ** 0.25, k / k.size(-1) ** 0.25),
    scale=lambda scores, q, k, v: scores,
)
attention.alternative("mask, then scale", version=mask_then_scale(-INF))
attention.alternative("mask with −1e9, then scale", version=mask_then_scale(-1e9))
attention.alternative("mask after softmax, and sum to 1 again", hide=lambda s, m: s, finish=renormalised(0.0))
attention.alternative("the same with a tiny number below", hide=lambda s, m: s, finish=renormalised(1e-9))
attention.alternative("NaN weights set to zero", finish=lambda weights, mask, q: weights.nan_to_num(0.0))
attention.alternative("−1e9 added", hide=added(lambda mask, scores: (1.0 - mask.to(scores.dtype)) * -1e9))
attention.alternative("−∞ added", hide=added(lambda m, s: torch.zeros_like(m, dtype=s.dtype).masked_fill(~m, -INF)))
attention.alternative("the logarithm of the mask added", hide=added(lambda mask, scores: mask.to(scores.dtype).log()))
attention.alternative("torch.where", hide=lambda scores, mask: torch.where(mask, scores, -INF))
attention.alternative("assignment where blocked", hide=set_where_blocked)
attention.alternative("softmax by hand", softmax=softmax_by_hand)
attention.alternative("softmax through logsumexp", softmax=lambda s: torch.exp(s - s.logsumexp(-1, keepdim=True)))
attention.alternative(
    "einsum",
    score=lambda q, k: torch.einsum("...td,...sd->...ts", q, k),
    mix=lambda weights, q, k, v: torch.einsum("...ts,...sv->...tv", weights, v),
)
attention.alternative("one matrix at a time", version=head_by_head)
attention.alternative("through bmm", version=through_bmm)
attention.alternative("keys first, transposed at the end", version=keys_first)
