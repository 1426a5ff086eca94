"""What people write in `attention` in place of the reference's lines; and other right ways to write it.

A row of which every key is blocked is no mistake here: the exercise promises that every query has a key, and right
answers differ there (NaN, zeros, the plain mean), so no check and no probe may ask for one.
"""

from functools import partial

import torch
from torch.nn import functional as F  # noqa: F401, N812  expressions below use it, by the field's name

from grader.api.checks import MistakeSet, draw, is_array, same

INF = float("inf")

# Its own probes recognise its mistakes, and not what the checks ask: see there.
attention = MistakeSet("scaled_dot_product_attention", globals(), checks=(), together=3, tells_errors_apart=False)
ask, mistake, alone, right = attention.ask, attention.mistake, attention.alone, attention.alternative
MISTAKE_SETS = [attention]

# --- probes: equal on all of these is equal ---------------------------------------------------------------------------
#
# One mistake is written in many ways, and each must be recognised. Where they differ is (1) the type of an error,
# (2) what a slice becomes that is blocked whole: NaN after a fill of -inf, equal weights after -1e9, (3) the size of a
# number that a fill has leaked into. So errors are all one, masks leave something of every slice along every axis
# (padding cannot: there NaN tells nothing), and huge numbers are all one.


def tamed(value, other=INF, zero=0.0):
    """A masked answer with `other` instead of whatever is no mean of ordinary values, and `zero` instead of 0."""
    if not is_array(value) or not value.dtype.is_floating_point:
        return value
    found = torch.where(value.abs() < 50.0, value, other)
    return torch.where(found == 0, zero, found)


PADDING_SEEN = {"see": partial(tamed, other=torch.nan), "nan_tells_nothing": True}
# 0/0 and 0 are one: masking after softmax and dividing by the sum gives either, and has a question of its own
ZEROS_SEEN = {"see": partial(tamed, other=torch.nan, zero=torch.nan), "nan_tells_nothing": True, "atol": 1e-3}


def mixed_mask(*lead):
    """A mask (*lead, 5, 5) without symmetry, with a True and a False in every slice along every axis."""
    rows = ["10110", "01011", "11001", "00111", "10010"]
    mask = torch.tensor([[letter == "1" for letter in row] for row in rows])
    odd = sum(torch.meshgrid(*(torch.arange(size) for size in lead), indexing="ij")) % 2 == 1
    return mask ^ odd[..., None, None]


def drawn(*shapes, **options):
    return [draw(*shape, **options) for shape in shapes]


MATRICES, BATCH = drawn((3, 5), (4, 5), (4, 6)), drawn((2, 3, 5), (2, 4, 5), (2, 4, 6))
SQUARES = drawn((2, 5, 3), (2, 5, 3), (2, 5, 4))
ONE_SEES_ALL = mixed_mask(2)
ONE_SEES_ALL[0, 0] = True  # +inf leaves such a query alone, 0 · inf does not
PADDING = torch.tensor([[True] * 5 + [False] * 2, [True] * 3 + [False] * 4]).view(2, 1, 1, 7)
FIRST_AND_THIRD, NOT_SECOND = torch.tensor([[True, False, True, False]]), torch.tensor([[True, False, True, True]])
# 16 · 28 / √5 is about 200
LOW_Q = torch.cat((torch.full((3, 1), 16.0), torch.eye(3, 4)), dim=1)
LOW_K = torch.cat((torch.tensor([[-28.0], [0.0], [-28.0], [0.0]]), 3.0 * torch.eye(4, 3), torch.zeros(4, 1)), dim=1)
BLOCKED_HUGE = torch.tensor([[1.0], [1e20], [1.0], [1.0]]).expand(4, 6)

# fmt: off
ask("on single matrices without a mask", *MATRICES)
ask("with one key", *drawn((2, 3, 5), (2, 1, 5), (2, 1, 6)))
ask("with all scores equal", torch.zeros(2, 3, 5), *BATCH[1:])
ask("on a batch without a mask", *BATCH)
ask("on heads without a mask", *drawn((2, 3, 5, 12), (2, 3, 5, 12), (2, 3, 5, 6)))
ask("with all sizes equal", *drawn((3, 3, 3), (3, 3, 3), (3, 3, 3)))
ask("large scores", *drawn((2, 4, 5), (2, 4, 5), scale=12.0), draw(2, 4, 6), stage="on large scores", atol=1e-3)
ask("with a square mask", *SQUARES, mask=ONE_SEES_ALL, see=tamed)
ask("on matrices with a mask", *drawn((5, 3), (5, 3), (5, 4)), mask=mixed_mask(1)[0], see=tamed)
ask("with a mask that is wider than high", *drawn((2, 3, 4, 12), (2, 3, 5, 12), (2, 3, 5, 6)), mask=mixed_mask(2,
    3)[..., 1:, :], see=tamed)
ask("with a padding mask", *drawn((2, 4, 5), (2, 4, 5), (2, 4, 6)), mask=torch.tensor([[True, True, False, True]]),
    **PADDING_SEEN)
ask("with a padding mask for heads", *drawn((2, 3, 5, 12), (2, 3, 7, 12), (2, 3, 7, 6)), mask=PADDING, **PADDING_SEEN)
ask("where allowed scores are very low", LOW_Q, LOW_K, draw(4, 6), mask=FIRST_AND_THIRD, **ZEROS_SEEN)
ask("in leaving its inputs alone", *SQUARES, mask=mixed_mask(2), by="observe", see=lambda seen: [*seen.args,
    seen.kwargs["mask"]])
ask("two calls", *drawn((2, 3, 7, 5), (2, 3, 7, 5), (2, 3, 7, 6)), stage="in answering twice alike", by=lambda attend,
    *given: same(attend(*given), attend(*given), 0.0))
ask("in its gradients", *BATCH, by="gradients", wrt=[0, 1, 2], weights=draw(2, 3, 6))
ask("in keeping the dtype", *drawn((3, 5), (4, 5), (4, 6), dtype=torch.float64))
ask("a slice of a larger tensor", *drawn((2, 3, 5, 8), (2, 3, 5, 8), (2, 3, 5, 6)), by="on_slices", aside=True)
ask("allowed scores of 0", torch.zeros(3, 5), draw(4, 5), torch.eye(4), mask=NOT_SECOND, aside=True,
    see=lambda weights: same(weights, (NOT_SECOND / 3).expand(3, 4), 1e-3))
ask("a blocked score far ahead", LOW_Q, LOW_K, draw(4, 6), mask=FIRST_AND_THIRD, aside=True)
ask("a huge value behind a blocked key", draw(3, 5), draw(4, 5), BLOCKED_HUGE, mask=NOT_SECOND, aside=True,
    see=lambda found: bool((found < 2.0).all()))
ask("a mask with one axis", *BATCH, mask=NOT_SECOND[0], aside=True)
ask("scores near -2000", 10 * LOW_Q, torch.cat((LOW_K[:1, :1].expand(4, 1), LOW_K[:, 1:]), dim=1), draw(4, 6),
    mask=FIRST_AND_THIRD, aside=True, atol=2e-3)  # those of blocked keys, too
for name in ("float16", "bfloat16"):
    ask(name, *drawn((3, 5), (4, 5), (4, 6), dtype=getattr(torch, name)), mask=NOT_SECOND, aside=True,
        see=lambda found: str(getattr(found, "dtype", type(found).__name__)))
HALF = ("float16", "bfloat16")

# --- examples small enough to retype
ONE, TWO = torch.tensor([[1.0, 0.0]]), torch.eye(2)
attention.example(ONE, TWO, TWO)
attention.example(TWO, TWO, torch.tensor([[1.0], [2.0]]))
attention.example(TWO, torch.tensor([[1.0, 2.0], [3.0, 0.0]]), TWO, mask=torch.tensor([[True, False], [True, True]]))
attention.example(200 * ONE, TWO, TWO)
attention.example(ONE[None], torch.tensor([[[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]]), torch.eye(3)[None])
attention.example(TWO.view(1, 2, 1, 2), TWO.expand(1, 2, 2, 2), TWO.expand(1, 2, 2, 2))

# --- the scores
SCORE = "q @ k.transpose(-2, -1)"
mistake("at-qk-swapped", "Your scores are k qᵀ: rows belong to keys, columns to queries. With as many keys as queries "
        "no error warns you, but row i is then not the answer to query i.", "Scores are (queries × keys): put q on the "
        "left and the transposed k on the right.", score="k @ q.transpose(-2, -1)")
alone("at-qk-swapped", "You transpose the weights before they meet v: row i answers for key i.", "Multiply the weights "
      "with v as they are.", coding="weights transposed", blend="weights.transpose(-2, -1) @ v")
mistake("at-k-reshaped", "You reshape k where it must be transposed: `view` and `reshape` keep the numbers in their "
        "order and only cut the rows elsewhere, so queries meet scrambled keys.", "Exchange the last two axes with "
        "`k.transpose(-2, -1)`.", score="q @ k.reshape(*k.shape[:-2], k.size(-1), k.size(-2))")
mistake("at-k-dot-T", "`k.T` reverses all axes of k: right for a matrix, wrong with batch or heads.", "Exchange the "
        "last two axes only: `k.transpose(-2, -1)` (or `k.mT`).", score="q @ k.permute(*range(k.dim())[::-1])")
for how, unit in (("", "{0} / {0}.norm(dim=-1, keepdim=True)"), (", with eps", "F.normalize({}, dim=-1)")):
    for coding, changes in {"scaled": {}, "not scaled": {"scale": "scores"}}.items():
        alone("at-cosine", "Your scores are cosines: the lengths of q and k do not count, so no key can stand out far.",
              "Take the dot products as they are: `q @ k.transpose(-2, -1)`, and divide by √d_k.",
              coding=f"{coding}{how}", score=f"({unit.format('q')}) @ ({unit.format('k')}).mT", **changes)
attention.common("at", "view")
for axes, lead in (("(T, d_k)", ""), ("(B, T, d_k)", "b"), ("(B, H, T, d_k)", "bh")):
    mistake("at-one-rank-only", f"It works for q of shape {axes} only; any other number of leading axes ends in an "
            "error.", "Count axes from the back (`q.size(-1)`, `transpose(-2, -1)`, `dim=-1`) and unpack no shape.",
            coding=axes, alone=not lead, score=f"torch.einsum('{lead}td,{lead}sd->{lead}ts', q, k)")

# --- the scale
ROOT = "Divide the scores once, by the root of the last axis of q: `q.size(-1) ** 0.5`."
mistake("at-no-scale", "Your weights are softmax(q kᵀ) without the 1/√d_k: the wider the head, the more one key takes "
        "all.", "Divide the scores by `q.size(-1) ** 0.5` before softmax.", scale="scores")
mistake("at-scale-dk", "You divide by d_k, not by its square root (or scale both q and k by √d_k): the weights come "
        "out too even.", ROOT, scale="scores / q.size(-1)")
alone("at-scale-dk", "You divide by d_k / 2: Python reads `d_k ** 1/2` as (d_k ** 1) / 2. (At d_k = 4 the two agree.)",
      "Write `d_k ** 0.5` or `math.sqrt(d_k)`.", coding="/ (d_k ** 1/2)", scale="scores / (q.size(-1) / 2)")
alone("at-scale-dk", "You divide by 2·d_k: Python reads `/ d_k ** 1/2` as a division by d_k and then one by 2.",
      coding="/ d_k ** 1/2", scale="scores / q.size(-1) ** 1 / 2")
mistake("at-scale-multiplied", "You multiply the scores by √d_k; that makes large scores larger, and one key takes "
        "all.", "Divide by √d_k.", scale="scores * q.size(-1) ** 0.5")
mistake("at-scale-d-model", "With heads you divide by √(H·d_k), the width of the whole model; each head has only d_k "
        "components to add up.", "Take the width of one head, `q.size(-1)`.",
        scale="scores / (q.size(-1) * (q.size(1) if q.dim() == 4 else 1)) ** 0.5")
for coding, size, width in (
    ("T", "the number of queries, T", "q.size(-2)"), ("S", "the number of keys, S", "k.size(-2)"),
    ("d_v", "the width of the values, d_v", "v.size(-1)"), ("size(0)", "q.size(0), the first axis", "q.size(0)"),
    ("size(1)", "q.size(1), which is T for a batch and H with heads", "q.size(1)"),
    ("size(2)", "q.size(2), which is T with heads", "q.size(2)"),
):
    mistake("at-scale-wrong-axis", f"You divide by the square root of {size}; what grows with the sum in q·k is d_k.",
            ROOT, coding=coding, alone=coding not in ("T", "S", "size(1)"), scale=f"scores / {width} ** 0.5")
for coding, number in (("8", "8, which is √d_k only where d_k = 64"), ("2", "2, which is √d_k only where d_k = 4"),
                       ("512**0.5", "√512, the width of one famous model, whatever the width of q is")):
    mistake("at-scale-constant", f"You divide by {number}.", "Read d_k off the input: `q.size(-1) ** 0.5`.",
            coding=coding, alone=coding != "8", scale=f"scores / {coding}")
mistake("at-scale-after-softmax", "You scale after softmax: a query's weights no longer sum to 1, and are as peaked as "
        "without it.", "Divide the scores, before softmax.", scale="scores", blend="weights / q.size(-1) ** 0.5 @ v")
for coding, freedom, eps in (("n - 1", 1, 0), ("n", 0, 0), ("n - 1, with eps", 1, 1e-8), ("n, with eps", 0, 1e-8)):
    mistake("at-z-scores", "You divide a query's scores by their own standard deviation: how well its best key fits no "
            "longer counts.", "Divide by √d_k, which is the same for all queries.", coding=coding, alone=True,
            scale=f"""apart = scores - scores.mean(-1, keepdim=True)
scores = apart / ((apart.square().sum(-1, keepdim=True) / (scores.size(-1) - {freedom})).sqrt() + {eps})""")

# --- softmax; equal weights where all scores are blocked that it sees, as after a fill of -1e9
OVER = "torch.softmax(scores.masked_fill(scores == -INF, -1e9), {})"
mistake("at-softmax-queries", "Your softmax runs over the queries (dim=-2): each column of the weights sums to 1, so "
        "queries compete, where keys must.", "Normalise over the keys: `dim=-1` of (..., T, S).", weigh=OVER.format(-2))
mistake("at-softmax-queries", coding="NaN where all is blocked", alone=True, weigh="torch.softmax(scores, dim=-2)")
KEYS = "Normalise over the keys, counted from the back: `dim=-1`."
for dim, axis in ((0, "the first axis, the batch"), (1, "axis 1, the heads (or, with three axes, the queries)")):
    mistake("at-softmax-batch-or-head", f"Your softmax runs over {axis}: it weighs what has nothing to do with each "
            "other, and no query's weights sum to 1.", KEYS, coding=f"dim={dim}", weigh=OVER.format(dim))
alone("at-softmax-batch-or-head", "You give softmax no `dim`, so torch picks one: the batch for three axes, the heads "
      "for four.", KEYS, coding="no dim", weigh=OVER.format("0 if scores.dim() == 3 else 1"))
alone("at-one-rank-only", "Your softmax runs over dim=2: these are the keys for three axes, but with heads they are "
      "the queries.", KEYS, coding="softmax over dim=2", weigh=OVER.format(2))
mistake("at-no-softmax", "The raw scores meet the values: scores may be negative and sum to anything, so this is no "
        "mean.", "Turn the scores into weights with softmax over the keys.", weigh="scores")
mistake("at-softmax-overflow", "Your own softmax exponentiates the scores as they are: exp(100) is inf, and inf/inf "
        "NaN.", "Subtract each row's maximum first.", weigh="scores.exp() / scores.exp().sum(-1, keepdim=True)")
mistake("at-global-max", "Your softmax subtracts the maximum of the whole tensor: a row far below it becomes 0/0, NaN.",
        "Subtract each row's own maximum: `amax(-1, keepdim=True)`.", weigh="""
powers = (scores - scores.max()).exp()
weights = powers / powers.sum(-1, keepdim=True)""")
alone("at-argmax", "Each query takes the value of its best key alone (`argmax`). That is no mean, and it has no "
      "gradient: queries and keys can never learn.", "Use softmax over the keys: the best key gets the most weight, "
      "and the others a share.", weigh="F.one_hot(scores.argmax(-1), scores.size(-1)).to(scores.dtype)")
for coding, total in (("divided by the sum", " / torch.sigmoid(scores).sum(-1, keepdim=True)"), ("", "")):
    alone("at-sigmoid", "Your weights are sigmoids, not a softmax: keys do not compete, and all large scores count the "
          "same.", "Use softmax over the keys.", coding=coding, weigh=f"torch.sigmoid(scores){total}")
for decimals in (4, 3, 2):
    for coding, step, what in (("weights", "weigh", "torch.softmax(scores, -1)"), ("answer", "result", "value")):
        alone("at-rounded", f"You round the {coding} to {decimals} decimals: rounding has no gradient, so queries and "
              "keys never learn.", "Take the rounding out.", coding=f"{coding}, {decimals} decimals",
              **{step: f"{what}.round(decimals={decimals})"})
mistake("at-never-zero", "No weight is ever 0 in your answer (`clamp(min=...)`, or a tiny number added): a blocked key "
        "gets a little, and a huge value behind it shows.", "Take the tiny number out: softmax never divides by 0.",
        only=("a huge value behind a blocked key",), weigh="torch.softmax(scores, dim=-1) + 1e-9")

# --- the mask
FILL = "Fill with −∞, whose exponential is exactly 0: `scores.masked_fill(~mask, float('-inf'))`."
AS_IT_COMES = "Use the mask as it comes, `~mask`: its rows are queries and its columns keys, and it broadcasts."
mistake("at-mask-ignored", "The mask changes nothing in your answer: blocked keys get as much weight as before.",
        "Where the mask is False, set the score to −∞ before softmax: `scores = scores.masked_fill(~mask, -inf)`. "
        "(`masked_fill` returns a new tensor: assign it.)", hide="scores")
for coding, value in (("", "-INF"), ("finite fill", "-1e9")):
    mistake("at-mask-inverted", "Your mask works the other way round: you keep what is blocked and hide the rest. Here "
            "True = may attend.", "Hide where the mask is False: `scores.masked_fill(~mask, -inf)`.", coding=coding,
            hide=f"scores.masked_fill(mask, {value})")
    mistake("at-mask-transposed", "Your mask is transposed: a causal mask lets queries see the future and hides the "
            "past.", AS_IT_COMES, coding=coding, alone=not coding,
            hide=f"scores.masked_fill(~mask.transpose(-2, -1), {value})")
alone("at-mask-transposed", "`mask.T` turns the mask round: queries see what was meant for others. With more axes it "
      "fails.", AS_IT_COMES, coding="mask.T", hide="scores.masked_fill(~mask.permute(*range(mask.dim())[::-1]), -1e9)")
alone("at-mask-query-axis", "You lay a padding mask along the queries: padded keys still get weight.", AS_IT_COMES,
      hide="scores.masked_fill(~(mask.transpose(-2, -1) if mask.size(-2) == 1 else mask), -1e9)")
mistake("at-mask-after-softmax", "You hide keys after softmax: a query's weights no longer sum to 1.", "Hide the "
        "scores before softmax.", hide="scores", blend="(weights if mask is None else weights * mask) @ v")
for coding, tiny in (("", ""), ("a tiny number below", " + 1e-9")):
    mistake("at-mask-late", "You hide keys after softmax and make what is left sum to 1: where a hidden score is far "
            "ahead (104 or more), nothing is left: 0/0, or 0.", "Hide the scores before softmax, so that the largest "
            "is one that counts.", coding=coding, only=("a blocked score far ahead",), hide="scores", weigh=f"""
weights = torch.softmax(scores, dim=-1) * (1.0 if mask is None else mask)
weights = weights / (weights.sum(-1, keepdim=True){tiny})""")
mistake("at-mask-as-zero-score", "You give blocked keys the score 0 (scores × mask, or a fill of 0 or ±1e-9). But "
        "exp(0) = 1: they keep a full share.", FILL, hide="scores.masked_fill(~mask, 0.0)")
mistake("at-mask-added-bool", "You add the mask, so True is 1: nothing is blocked.", FILL, hide="scores + mask")
mistake("at-zero-score-hidden", "You hide every score that is 0, to find those that the mask made 0: a key that is "
        "allowed and scores exactly 0 is lost, too.", "Ask the mask, not the scores: `scores.masked_fill(~mask, "
        "-inf)`.", only=("allowed scores of 0",), hide="(scores * mask).masked_fill(scores * mask == 0, -INF)")
mistake("at-mask-one-axis", "A mask of shape (S,), one for all queries, is an error: you count on two axes or more.",
        AS_IT_COMES, only=("a mask with one axis",), hide="scores.masked_fill(~mask.mT.mT, -INF)")
mistake("at-half", "It is an error for float16, whose lowest number is -65504: your fill does not fit.",
        "Fill with `float('-inf')`.", only=HALF, hide="scores.masked_fill(~mask, -1e9)")
mistake("at-half", "It is an error in half precision: what you make of the mask is float32, and so the weights no "
        "longer fit the values.", "Convert to the scores' own type (`mask.to(scores.dtype)`), or use `masked_fill`.",
        coding="float32 added", only=HALF, hide="scores + torch.zeros(mask.shape).masked_fill(~mask, -INF)")
mistake("at-fill-too-small", "Your fill is negative, but not low enough: where the allowed scores are lower still, the "
        "blocked keys win.", FILL, hide="scores.masked_fill(~mask, -100.0)")
mistake("at-fill-too-small", "Your fill is about -1000: where the allowed scores are lower still, the blocked keys "
        "win.", coding="-1000", only=("scores near -2000",), hide="scores.masked_fill(~mask, -1000.0)")
for value in (-1.0, -10.0):
    alone("at-fill-too-small", f"Your fill is about {value:g}, a score like others: blocked keys keep a share, and win "
          "where allowed scores are lower.", coding=f"{value:g}", hide=f"scores.masked_fill(~mask, {value})")
alone("at-fill-positive", "You fill with a huge positive number: the blocked keys take all the weight.", FILL,
      coding="1e9", hide="scores.masked_fill(~mask, 1e9)")
alone("at-fill-positive", "You fill with +∞: the softmax of a row that holds +∞ is NaN, and so is every query with a "
      "blocked key.", coding="inf", hide="scores.masked_fill(~mask, INF)")
mistake("at-mask-zero-times-infinity", "You multiply by −∞ to block: where the mask allows, that is 0 · ∞ = NaN.",
        "Use `masked_fill` or `torch.where`, or multiply by −1e9.", hide="scores + (~mask).to(scores.dtype) * -INF")

# --- a mask that nobody asked for
ALL_KEYS = "Block only what `mask` blocks; with mask=None every query may attend to every key."
PAST = f"({SCORE}).masked_fill(torch.ones(q.size(-2), k.size(-2)).triu(1) == 1, -INF)"
ITSELF = f"({SCORE}).masked_fill(torch.eye(q.size(-2), k.size(-2)) == 0, {{}})"
alone("at-always-causal", "You always hide the future.", ALL_KEYS, coding="whatever the mask", score=PAST)
alone("at-always-causal", "Without a mask you hide the future; with mask=None every query may attend to every key.",
      coding="unless a mask is given", score=f"{PAST} if mask is None else {SCORE}")
# with fewer keys than queries the last queries see none, and weigh all evenly after a finite fill
for how, value in (("", "-INF"), ("finite fill", "-1e9")):
    for coding, hide in (("", f"scores.masked_fill(~mask, {value})"), ("whatever the mask", "scores")):
        alone("at-self-only", "Each query sees only the key at its own place, so it gets that one value and nothing is "
              "mixed.", ALL_KEYS, coding=f"{coding} {how}".strip(), score=ITSELF.format(value), hide=hide)

# --- the values, and manners
for what, blend in (("keys", "weights @ k"), ("queries", "weights @ q")):
    mistake("at-values-are-keys", f"Your output is a mean of the {what}. What is handed over are the values.",
            "Multiply the weights with v, the values themselves.", coding=what, alone=what == "queries", blend=blend)
mistake("at-values-are-keys", "Your output is the table of weights; the values have not been mixed yet.",
        "Return the weights times v: (..., T, S) @ (..., S, d_v).", coding="weights only", blend="weights")
alone("at-values-are-keys", "Your output is v itself.", coding="values as they are", blend="v")
for coding, says, changes in (
    ("q", "You change the caller's q (`q /= ...`): the next call with the same tensor is wrong.",
     {"scale": f"q /= q.size(-1) ** 0.5\nscores = {SCORE}"}),
    ("k", "You transpose the caller's k in place (`transpose_`): after the call it has another shape.",
     {"score": "q @ k.transpose_(-2, -1)"}),
    ("mask", "You negate the caller's mask in place: the second layer that uses it hides what the first one kept.",
     {"hide": "scores.masked_fill(mask.logical_not_(), -INF)"}),
):
    alone("at-in-place", says, f"Make a new tensor, and leave {coding} alone.", coding=coding, **changes)
mistake("at-dropout-on", "Two calls with the same input give different answers: dropout is active, or something is "
        "drawn at random in each call (new weights, say).", "Take the dropout or the random numbers out: this function "
        "has none.", only=("two calls",), weigh="torch.dropout(torch.softmax(scores, dim=-1), 0.1, True)")
alone("at-detached", "The weights are cut off from autograd (`.detach()`, `.data`, `no_grad`): v can learn, q and k "
      "cannot.", "Stay with tensor operations.", coding="weights", blend="weights.detach() @ v")
attention.common("at", "detached", "float32", alone=True)

# --- just as right
right("a fill of -10,000", hide="scores.masked_fill(~mask, -1e4)")
right("a fill of the lowest number", hide="scores.masked_fill(~mask, torch.finfo(scores.dtype).min)")
right("q scaled first", score="(q / q.size(-1) ** 0.5) @ k.mT", scale="scores")
right("q and k scaled by half each", score="(q / q.size(-1) ** 0.25) @ (k / k.size(-1) ** 0.25).mT", scale="scores")
for name, value in (("mask, then scale", "-INF"), ("mask with −5e4, then scale", "-5e4")):
    right(name, scale="scores", hide=f"scores.masked_fill(~mask, {value})",
          weigh="F.softmax(scores / q.shape[-1] ** 0.5, dim=-1)")
right("NaN weights set to zero", blend="weights.nan_to_num(0.0) @ v")
right("−1e9 added", hide="scores + (1.0 - mask.to(scores.dtype)) * -1e9")
right("−∞ added", hide="scores + torch.zeros_like(mask, dtype=scores.dtype).masked_fill(~mask, -INF)")
right("the logarithm of the mask added", hide="scores + mask.to(scores.dtype).log()")
right("torch.where", hide="torch.where(mask, scores, -INF)")
right("assignment where blocked", hide="scores = scores.clone()\nscores[~mask.expand_as(scores)] = -INF")
right("softmax by hand",
      weigh="scores = (scores - scores.amax(-1, keepdim=True)).exp()\nweights = scores / scores.sum(-1, keepdim=True)")
right("softmax through logsumexp", weigh="torch.exp(scores - scores.logsumexp(-1, keepdim=True))")
right("einsum", score="torch.einsum('...td,...sd->...ts', q, k)", blend="torch.einsum('...ts,...sv', weights, v)")
right("keys first, transposed at the end", score="k @ q.mT", weigh="torch.softmax(scores, -2)", blend="weights.mT @ v",
      hide="scores.masked_fill(~mask.expand(scores.mT.shape).mT, -INF)")
right("one matrix at a time", score="""everything = torch.ones(q.size(-2), k.size(-2), device=q.device) == 1
allowed = everything if mask is None else mask
flat = (x.reshape(-1, *x.shape[-2:]) for x in (q, k, v, allowed.expand(*q.shape[:-1], k.size(-2))))
found = [(a @ b.T / q.size(-1) ** 0.5).masked_fill(~seen, -INF).softmax(1) @ c for a, b, c, seen in zip(*flat)]
return torch.stack(found).reshape(*q.shape[:-1], v.size(-1))""")
BMM = "torch.bmm(*(x.reshape(-1, *x.shape[-2:]) for x in ({}))).view(*q.shape[:-1], -1)"
right("through bmm", score=BMM.format("q, k.mT"), blend=BMM.format("weights, v"))
# fmt: on
