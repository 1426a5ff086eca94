"""What people get wrong in `attention`, executable; and other right ways to write it.

A row of which every key is blocked is no mistake here: the exercise promises that every query has a key, and right
answers differ there (NaN, zeros, the plain mean), so no check and no probe may ask for one.
"""

import torch

from grader.judge.kit import Family, LearnerError, is_array, same

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


def along(dim, blocked=-INF):
    """A `softmax` over `dim`. `blocked` is the score that stands for −∞: on another axis it can be all there is, and
    then −∞ gives NaN where −1e9 gives equal weights."""
    return lambda scores: torch.softmax(scores.masked_fill(scores == -INF, blocked), dim)


def nothing_more(weights, mask, q):
    return weights


def mean_of_values(weights, q, k, v):
    return weights @ v


attention = Family(
    "scaled_dot_product_attention",
    make_attention,
    together=3,
    score=all_pairs,
    scale=by_root_of_width,
    hide=fill(-INF),
    softmax=along(-1),
    finish=nothing_more,
    mix=mean_of_values,
)

FAMILIES = [attention]


def alone(**changes):
    """These steps exchanged, as a whole version: named when it stands alone, not looked for among others."""
    return attention.build(changes)


# --- probes: equal on all of these is equal ---------------------------------------------------------------------------

TOO_LARGE = 50.0  # no mean of these probes' values comes near it


def answer(subject, *args, **kwargs):
    """The answer, with what only depends on how somebody wrote a mistake taken out of it: the type of an error, and
    the size of a number that a fill value has leaked into."""
    try:
        value = subject.scaled_dot_product_attention(*args, **kwargs)
    except LearnerError as error:
        if error.kind != "raised":
            raise
        return "an error"
    is_float = is_array(value) and value.dtype.is_floating_point
    return torch.where(value.abs() > TOO_LARGE, INF, value) if is_float else value


def mixed_mask():
    """Every row and every column has a True and a False, and no symmetry: whatever is blocked by mistake, no slice is
    blocked whole, so that the fill value does not matter."""
    rows = ["10110", "01011", "11001", "00111", "10010"]
    return torch.tensor([[letter == "1" for letter in row] for row in rows])


def far_below():
    """q, k, mask with allowed scores near -200 and blocked ones near 0."""
    q, k = torch.zeros(3, 5), torch.zeros(4, 5)
    q[:, 0], k[:, 0] = 16.0, torch.tensor([-28.0, 0.0, -28.0, 0.0])
    q[:, 1:4], k[:, 1:4] = torch.eye(3), 3.0 * torch.eye(4, 3)
    return q, k, torch.tensor([[True, False, True, False]])


@attention.probe("two axes, no mask", stage="for one matrix of queries without a mask")
def _(subject, rand):
    return answer(subject, rand(3, 5), rand(4, 5), rand(4, 6))


@attention.probe("one key", stage="with a single key")
def _(subject, rand):
    return answer(subject, rand(2, 3, 5), rand(2, 1, 5), rand(2, 1, 6))


@attention.probe("equal scores", stage="with all scores equal")
def _(subject, rand):
    return answer(subject, torch.zeros(2, 3, 5), rand(2, 4, 5), rand(2, 4, 6))


@attention.probe("three axes, no mask", stage="for a batch without a mask")
def _(subject, rand):
    return answer(subject, rand(2, 3, 5), rand(2, 4, 5), rand(2, 4, 6))


@attention.probe("four axes, no mask", stage="with heads, without a mask")
def _(subject, rand):
    return answer(subject, rand(2, 3, 5, 12), rand(2, 3, 7, 12), rand(2, 3, 7, 11))


@attention.probe("a cube", stage="with all sizes equal")
def _(subject, rand):
    return answer(subject, rand(3, 3, 3), rand(3, 3, 3), rand(3, 3, 3))


@attention.probe("large scores", stage="on large scores", atol=1e-3)
def _(subject, rand):
    return answer(subject, 12 * rand(2, 3, 5), 12 * rand(2, 4, 5), rand(2, 4, 6))


@attention.probe("a square mask", stage="with a mask, as many keys as queries")
def _(subject, rand):
    return answer(subject, rand(2, 5, 3), rand(2, 5, 3), rand(2, 5, 4), mask=mixed_mask())


@attention.probe("a mask, more keys than queries", stage="with a mask, more keys than queries")
def _(subject, rand):
    mask = mixed_mask()[1:]
    mask[0] = True  # a query that may attend to all
    return answer(subject, rand(2, 3, 4, 12), rand(2, 3, 5, 12), rand(2, 3, 5, 6), mask=mask)


@attention.probe("one row of mask for all queries", stage="with one row of mask for all queries")
def _(subject, rand):
    return answer(subject, rand(4, 5), rand(4, 5), rand(4, 6), mask=torch.tensor([[True, True, False, True]]))


@attention.probe("a padding mask", stage="with a padding mask")
def _(subject, rand):
    mask = torch.tensor([[True] * 5 + [False] * 2, [True] * 3 + [False] * 4]).view(2, 1, 1, 7)
    return answer(subject, rand(2, 3, 5, 12), rand(2, 3, 7, 12), rand(2, 3, 7, 11), mask=mask)


@attention.probe(
    "allowed scores near -200", stage="where allowed scores are very low", atol=1e-3, nan_tells_nothing=True
)
def _(subject, rand):
    q, k, mask = far_below()
    found = answer(subject, q, k, rand(4, 6), mask=mask)
    # masking after softmax and dividing by the sum is right, and gives 0/0 here; by the sum + 1e-9, it gives 0
    is_float = is_array(found) and found.dtype.is_floating_point
    return torch.where((found == 0).all(-1, keepdim=True) | found.isinf(), torch.nan, found) if is_float else found


@attention.probe("the inputs afterwards", stage="in leaving its inputs alone")
def _(subject, rand):
    mask = mixed_mask()
    observed = subject.scaled_dot_product_attention.observe(
        rand(2, 5, 3), rand(2, 5, 3), rand(2, 5, 4), mask=mask
    )
    return [*observed.args, observed.kwargs["mask"]]


@attention.probe("two calls", stage="in answering twice alike")
def _(subject, rand):
    q, k, v = rand(2, 3, 7, 5), rand(2, 3, 7, 5), rand(2, 3, 7, 6)
    return same(answer(subject, q, k, v), answer(subject, q, k, v), 0.0)


@attention.probe("the gradient", stage="in its gradients")
def _(subject, rand):
    q, k, v, weights = rand(2, 3, 5), rand(2, 4, 5), rand(2, 4, 6), rand(2, 3, 6)
    return subject.scaled_dot_product_attention.gradients(q, k, v, wrt=[0, 1, 2], weights=weights)


@attention.probe("float64 inputs", stage="in keeping the dtype")
def _(subject, rand):
    q, k, v = (rand(*shape, dtype=torch.float64) for shape in ((3, 5), (4, 5), (4, 6)))
    return answer(subject, q, k, v)


