"""What people get wrong in multi-head attention, executable; and other right ways to write it.

Three mistake sets: `split_heads`, `merge_heads`, and `multi_head_attention` with all that can go wrong inside it.
Letters: B batch, T length, D model width, H heads, d = D / H.
"""

import re

import torch
import torch.nn.functional as F  # noqa: N812  the name that everyone uses

from grader.api.checks import LearnerError, MistakeSet, same

INF = float("inf")
LOOSE = 1e-3  # for scores in the hundreds, where float32 itself is only good to 1e-5 before the softmax

# ======================================================================================================================
# split_heads
# ======================================================================================================================


def make_split_heads(*, take, cut, arrange, give):
    """Split from its steps: take the input, cut its last axis, arrange the axes, give back."""

    def split_heads(x, num_heads):
        return give(arrange(cut(take(x), num_heads)), x)

    return split_heads


def as_it_is(x, *others):
    return x


def cut_features(x, num_heads):
    return x.reshape(*x.shape[:2], num_heads, -1)  # (B, T, D) -> (B, T, H, d)


def cut_sequence(x, num_heads):
    return x.reshape(x.shape[0], num_heads, x.shape[1], -1)


def cut_strided(x, num_heads):
    return x.reshape(*x.shape[:2], -1, num_heads)  # (B, T, D) -> (B, T, d, H)


def swap(first, second):
    return lambda x, *others: x.transpose(first, second)


def permute(*axes):
    return lambda x, *others: x.permute(axes)


def through_numpy(x, *others):
    return torch.from_numpy(x.numpy())


split = MistakeSet("split_heads", make_split_heads, take=as_it_is, cut=cut_features, arrange=swap(1, 2), give=as_it_is)

# --- split: probes ----------------------------------------------------------------------------------------------------


def numbered(*shape):
    return torch.arange(torch.Size(shape).numel()).reshape(shape)


@split.probe("5 tokens, 3 heads of width 4", stage="with sizes that all differ")
def _(subject, rand):
    return subject.split_heads(rand(2, 5, 12), 3)


@split.probe("one token", stage="with one token")
def _(subject, rand):
    return subject.split_heads(rand(2, 1, 12), 3)


@split.probe("one head", stage="with one head")
def _(subject, rand):
    return subject.split_heads(rand(2, 5, 4), 1)


@split.probe("one sequence", stage="with one sequence")
def _(subject, rand):
    return subject.split_heads(rand(1, 5, 12), 4)


@split.probe("as many tokens as heads", stage="with as many tokens as heads")
def _(subject, rand):
    return subject.split_heads(rand(2, 3, 12), 3)


@split.probe("the input afterwards")
def _(subject, rand):
    return subject.split_heads.observe(rand(2, 5, 12), 3).args


@split.probe("the gradient", stage="in its gradient")
def _(subject, rand):
    return subject.split_heads.gradients(rand(2, 5, 12), 3, wrt=[0], weights=rand(2, 3, 5, 4))


@split.probe("a float64 input", stage="in float64")
def _(subject, rand):
    return subject.split_heads(rand(2, 5, 12, dtype=torch.float64), 3)


@split.probe("whole numbers", stage="with whole numbers")
def _(subject, rand):
    return subject.split_heads(numbered(1, 3, 8), 2)


split.example(numbered(1, 2, 4), 2)
split.example(numbered(1, 3, 4), 2)
split.example(numbered(2, 1, 4), 2)
split.example(numbered(1, 2, 6), 2)

# --- split: mistakes --------------------------------------------------------------------------------------------------

SPLIT_BY_VIEW = (
    "Right shape, wrong contents: `view(B, H, T, d)` cuts the sequence into pieces, so a head gets whole tokens in "
    "place of its own features of every token. With one head or one token nobody notices."
)
CUT_THE_FEATURES = "Cut only the last axis, `x.view(B, T, H, d)`, and then exchange axes 1 and 2."
HEADS_NOT_FORWARD = "The heads are cut correctly but stay behind the positions: the axes are (B, T, H, d)."
STRIDED = (
    "A head takes every H-th feature (columns h, h + H, h + 2H, ...) where it should take d neighbours: the last axis "
    "is cut into (d, H), not into (H, d)."
)
SIZES_EXCHANGED = "The number of heads and the width of a head are exchanged: you make d heads of width H."

split.mistake(
    "hd-split-view", says=SPLIT_BY_VIEW, suggests=CUT_THE_FEATURES, cut=cut_sequence, arrange=as_it_is
)  # fmt: skip
split.mistake(
    "hd-split-view",
    coding="batch and heads in one axis",
    says="`view(B * H, T, d)` cuts the sequence into pieces, not the features, and it also joins batch and heads in "
    "one axis.",
    suggests=CUT_THE_FEATURES,
    cut=cut_sequence,
    arrange=lambda x: x.flatten(0, 1),
)
split.mistake(
    "hd-split-no-transpose",
    says=f"{HEADS_NOT_FORWARD} With as many tokens as heads even the shape looks right.",
    suggests="Exchange axes 1 and 2 at the end: `transpose(1, 2)`.",
    arrange=as_it_is,
)
split.mistake(
    "hd-split-strided",
    says=STRIDED,
    suggests="Name the number of heads before the width: `view(B, T, num_heads, D // num_heads)`.",
    cut=cut_strided,
    arrange=permute(0, 3, 1, 2),
)
split.mistake(
    "hd-split-size-exchanged",
    says=SIZES_EXCHANGED,
    suggests="Write `num_heads` before `D // num_heads` in the view.",
    cut=cut_strided,
)
for coding, fold in (
    ("sequence by sequence", lambda out, x: out.flatten(0, 1)),
    ("head by head", lambda out, x: out.transpose(0, 1).flatten(0, 1)),
    ("into the sequence", lambda out, x: out.flatten(1, 2)),
):
    split.mistake(
        "hd-split-folded",
        coding=coding,
        says="Every number is there, but the head axis is joined to another one: you return three axes where four are "
        "asked for.",
        suggests="Keep batch and heads as separate axes: (B, H, T, d).",
        give=fold,
    )
split.mistake(
    "hd-split-head-first",
    says="Heads come first and the batch second: the axes are (H, B, T, d).",
    suggests="Put the batch first: (B, H, T, d); with `torch.stack` that is `dim=1`.",
    arrange=permute(2, 0, 1, 3),
)
for coding, axes in (("B T d H", (0, 1, 3, 2)), ("B H d T", (0, 2, 3, 1)), ("B d H T", (0, 3, 2, 1)),
                     ("B d T H", (0, 3, 1, 2))):  # fmt: skip
    split.mistake(
        "hd-split-wrong-axes",
        coding=coding,
        says="The last axis is cut correctly, but then the wrong axes are moved: "
        f"yours are ({coding.replace(' ', ', ')}).",
        suggests="After the cut, (B, T, H, d), exchange axes 1 and 2 and no others.",
        arrange=permute(*axes),
    )
split.mistake(
    "hd-split-list",
    says="You return the heads one by one, each (B, T, d), in a tuple.",
    suggests="Make one tensor of them: `torch.stack(heads, dim=1)`.",
    give=lambda out, x: out.unbind(1),
)
split.mistake(
    "hd-split-list",
    coding="a list",
    says="You return the heads one by one, each (B, T, d), in a list.",
    suggests="Make one tensor of them: `torch.stack(heads, dim=1)`.",
    give=lambda out, x: list(out.unbind(1)),
)


def manners(mistake_set):
    """Mistakes that split and merge share: autograd and dtype."""
    says = "The result is cut off from autograd (`.detach()`, `.data`, numpy or `torch.tensor(...)`)."
    suggests = "Stay with tensor operations that move axes; they keep the gradient."
    mistake_set.mistake("hd-detached", says=says, suggests=suggests, take=lambda x: x.detach())
    mistake_set.mistake("hd-detached", coding="through numpy", says=says, suggests=suggests, take=through_numpy)
    for name in ("float32", "float64"):
        mistake_set.mistake(
            "hd-dtype",
            coding=name,
            says=f"The answer is {name} whatever the dtype of the input is: it is cast, or filled into a new tensor of "
            "another dtype.",
            suggests="Only move axes; if you make a new tensor, use `x.new_zeros(...)`, which takes dtype and device "
            "from x.",
            take=lambda x, name=name: x.to(getattr(torch, name)),
        )


manners(split)
split.mistake(
    "hd-squeezed",
    says="`squeeze` takes away every axis of size 1: with one head, one token or one sequence an axis is missing.",
    suggests="Take out the `squeeze`: the answer always has four axes.",
    give=lambda out, x: out.squeeze(),
)
split.mistake(
    "hd-in-place",
    says="You reshape the caller's tensor itself (`resize_`, or assigning to its `data`).",
    suggests="Use `view` or `reshape`: they give a new tensor and leave `x` as it is.",
    cut=lambda x, num_heads: x.resize_(*x.shape[:2], num_heads, x.shape[-1] // num_heads),
)

# --- split: alternatives ----------------------------------------------------------------------------------------------


def split_by_slices(x, num_heads):
    d = x.shape[-1] // num_heads
    return torch.stack([x[..., h * d : (h + 1) * d] for h in range(num_heads)], dim=1)


def split_into_buffer(x, num_heads):
    batch, length, d_model = x.shape
    d = d_model // num_heads
    out = x.new_zeros(batch, num_heads, length, d)
    for h in range(num_heads):
        out[:, h] = x[:, :, h * d : (h + 1) * d]
    return out


def split_channels_first(x, num_heads):
    batch, length, _ = x.shape
    return x.transpose(1, 2).reshape(batch, num_heads, -1, length).transpose(2, 3)


split.alternative("chunk and stack", version=lambda x, num_heads: torch.stack(x.chunk(num_heads, dim=-1), dim=1))
split.alternative("slices and stack", version=split_by_slices)
split.alternative("split into a new tensor", version=split_into_buffer)
split.alternative("unflatten", cut=lambda x, num_heads: x.unflatten(-1, (num_heads, -1)))
split.alternative("permute and contiguous", arrange=lambda x: x.permute(0, 2, 1, 3).contiguous())
split.alternative("movedim", arrange=lambda x: x.movedim(2, 1))
split.alternative("einsum", arrange=lambda x: torch.einsum("bthd->bhtd", x))
split.alternative("channels first", version=split_channels_first)
split.alternative(
    "folded and unfolded",
    version=lambda x, num_heads: cut_features(x, num_heads).permute(2, 0, 1, 3).flatten(0, 1)
    .unflatten(0, (num_heads, -1)).transpose(0, 1),
)  # fmt: skip

# ======================================================================================================================
# merge_heads
# ======================================================================================================================


def make_merge_heads(*, take, arrange, join):
    """Merge from its steps: take the heads, arrange the axes, join two of them. `sizes` are (B, T, D)."""

    def merge_heads(x):
        batch, num_heads, length, width = x.shape
        return join(arrange(take(x)), (batch, length, num_heads * width))

    return merge_heads


def join_by_reshape(x, sizes):
    return x.reshape(sizes)


def join_by_view(x, sizes):
    return x.view(sizes)


merge = MistakeSet("merge_heads", make_merge_heads, take=as_it_is, arrange=swap(1, 2), join=join_by_reshape)

# --- merge: probes, all on newly made contiguous tensors, as an attention gives them ----------------------------------


@merge.probe("3 heads of 5 tokens, width 4", stage="with sizes that all differ")
def _(subject, rand):
    return subject.merge_heads(rand(2, 3, 5, 4))


@merge.probe("one token", stage="with one token")
def _(subject, rand):
    return subject.merge_heads(rand(2, 3, 1, 4))


@merge.probe("one head", stage="with one head")
def _(subject, rand):
    return subject.merge_heads(rand(2, 1, 5, 4))


@merge.probe("one sequence", stage="with one sequence")
def _(subject, rand):
    return subject.merge_heads(rand(1, 3, 5, 4))


@merge.probe("as many tokens as heads", stage="with as many tokens as heads")
def _(subject, rand):
    return subject.merge_heads(rand(2, 3, 3, 4))


@merge.probe("the input afterwards")
def _(subject, rand):
    return subject.merge_heads.observe(rand(2, 3, 5, 4)).args


@merge.probe("the gradient", stage="in its gradient")
def _(subject, rand):
    return subject.merge_heads.gradients(rand(2, 3, 5, 4), wrt=[0], weights=rand(2, 5, 12))


@merge.probe("a float64 input", stage="in float64")
def _(subject, rand):
    return subject.merge_heads(rand(2, 3, 5, 4, dtype=torch.float64))


@merge.probe("whole numbers", stage="with whole numbers")
def _(subject, rand):
    return subject.merge_heads(numbered(1, 2, 3, 4))


merge.example(numbered(1, 2, 1, 2).float())
merge.example(numbered(1, 2, 2, 1).float())
merge.example(numbered(1, 2, 2, 2).float())
merge.example(numbered(1, 2, 3, 2).float())
merge.example(numbered(2, 2, 1, 2).float())

# --- merge: mistakes --------------------------------------------------------------------------------------------------

MERGE_BY_RESHAPE = (
    "Right shape, wrong contents: you join the axes of (B, H, T, d) as they lie in memory, so parts of different "
    "tokens are glued into one row. It undoes a split that has the same fault, so a round trip does not show it."
)
TRANSPOSE_FIRST = "Exchange axes 1 and 2 first: (B, H, T, d) → (B, T, H, d) → (B, T, H·d)."
VIEW_REFUSES = (
    "After `transpose` the features to be joined no longer lie side by side in memory, and `view` refuses to join "
    "them. Straight after `split_heads` it happens to work; on the result of a real attention it raises."
)
BATCH_MIXED = "Batch and heads are mixed: a row of one sequence holds features of another sequence."
MERGED_STRIDED = "The features are interleaved: feature 0 of every head first, then feature 1 of every head."
BATCH_MIXERS = {"T B H d": (2, 0, 1, 3), "H B T d": (1, 0, 2, 3), "H T B d": (1, 2, 0, 3), "T H B d": (2, 1, 0, 3)}

merge.mistake("hd-merge-no-transpose", says=MERGE_BY_RESHAPE, suggests=TRANSPOSE_FIRST, arrange=as_it_is)
merge.mistake(
    "hd-merge-view-error",
    says=VIEW_REFUSES,
    suggests="Use `reshape` instead of `view`, or `.contiguous()` before it.",
    join=join_by_view,
)
merge.mistake(
    "hd-merge-strided",
    says=MERGED_STRIDED,
    suggests="Bring the axes to (B, T, H, d) before joining the last two: head 0's features come first.",
    arrange=permute(0, 2, 3, 1),
)
for coding, pool in (("mean", torch.mean), ("sum", torch.sum)):
    merge.mistake(
        "hd-merge-averaged",
        coding=coding,
        says=f"You take the {coding} over the heads, which throws away what they were split for: the width is d, "
        "not D.",
        suggests="Put the heads' features side by side: transpose, then join the last two axes.",
        version=lambda x, pool=pool: pool(x, dim=1),
    )
merge.mistake(
    "hd-merge-along-sequence",
    says="The heads are put one after another along the sequence: (B, H·T, d).",
    suggests="Join the heads along the feature axis: `torch.cat(heads, dim=-1)`, or transpose and reshape.",
    version=lambda x: x.flatten(1, 2),
)
merge.mistake(
    "hd-merge-along-sequence",
    coding="token by token",
    says="After the transpose you join positions and heads, (B, T·H, d), where heads and features should be joined.",
    suggests="Join the last two axes: (B, T, H, d) → (B, T, H·d).",
    join=lambda x, sizes: x.flatten(1, 2),
)
for coding, head in (("the first", 0), ("the last", -1)):
    merge.mistake(
        "hd-merge-one-head",
        coding=coding,
        says=f"Only {coding} head is kept; the others are thrown away.",
        suggests="Put all heads' features side by side: transpose, then join the last two axes.",
        version=lambda x, head=head: x[:, head],
    )
for coding, axes in BATCH_MIXERS.items():
    merge.mistake(
        "hd-merge-batch-mixed",
        coding=coding,
        says=f"{BATCH_MIXED} You join the axes in the order ({coding.replace(' ', ', ')}).",
        suggests="Leave axis 0 where it is and exchange only axes 1 and 2.",
        arrange=permute(*axes),
    )
for coding, axes in (("B H d T", (0, 1, 3, 2)), ("B d T H", (0, 3, 2, 1)), ("B d H T", (0, 3, 1, 2))):
    merge.mistake(
        "hd-merge-wrong-axes",
        coding=coding,
        says=f"The wrong axes are moved before joining: yours are then ({coding.replace(' ', ', ')}).",
        suggests="Exchange axes 1 and 2, which gives (B, T, H, d), and then join the last two.",
        arrange=permute(*axes),
    )
merge.mistake(
    "hd-merge-not-joined",
    says="The axes are in the right order, (B, T, H, d), but heads and features are not joined yet.",
    suggests="Join the last two axes: `reshape(B, T, H * d)`.",
    join=lambda x, sizes: x,
)
for coding, axes in (("batch and positions", (0, 1)), ("positions and features", (1, 2))):
    merge.mistake(
        "hd-merge-axis-lost",
        coding=coding,
        says=f"You join one axis too many: {coding} became one axis.",
        suggests="Join only heads and features: (B, T, H, d) → (B, T, H·d).",
        join=lambda x, sizes, axes=axes: x.reshape(sizes).flatten(*axes),
    )
manners(merge)
merge.mistake(
    "hd-squeezed",
    says="`squeeze` takes away every axis of size 1: with one token or one sequence an axis is missing.",
    suggests="Take out the `squeeze`: the answer always has three axes.",
    join=lambda x, sizes: x.reshape(sizes).squeeze(),
)
merge.mistake(
    "hd-in-place",
    says="You change the caller's tensor (`transpose_`).",
    suggests="Use `transpose` without the underscore: it leaves `x` as it is.",
    arrange=lambda x: x.transpose_(1, 2),
)

# --- merge: alternatives ----------------------------------------------------------------------------------------------

merge.alternative("contiguous and view", join=lambda x, sizes: x.contiguous().view(sizes))
merge.alternative("permute and flatten", arrange=permute(0, 2, 1, 3), join=lambda x, sizes: x.flatten(2))
merge.alternative("cat over a list of heads", version=lambda x: torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1))
merge.alternative("cat over unbind", version=lambda x: torch.cat(x.unbind(1), -1))
merge.alternative("einsum and reshape", arrange=lambda x: torch.einsum("bhtd->bthd", x))
merge.alternative(
    "channels first", version=lambda x: x.transpose(2, 3).reshape(x.shape[0], -1, x.shape[2]).transpose(1, 2)
)

# ======================================================================================================================
# multi_head_attention
# ======================================================================================================================
#
# Not here, because nothing in this function can show them: at-one-rank-only (x has three axes always),
# at-fully-masked-row (every query has a key), at-mask-query-axis (on a general mask it is at-mask-transposed),
# hd-projection-per-head-shared (the weights are (D, D)), hd-split-folded (right values in another form). And
# hd-merge-averaged, -along-sequence, -one-head and -not-joined: w_o fits none of what they give, so all of them raise
# the same error; the learner sees that error, and the mistake set of merge_heads names them.


def make_multi_head_attention(
    *, choose, project, split, score, scale, allow, block, normalise, collect, merge, mix, give
):
    """Multi-head attention from its steps, in their order."""

    def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
        q, k, v = (split(project(x, w, num_heads), num_heads) for w in choose(w_q, w_k, w_v))
        scores = scale(score(q, k), q, num_heads)
        if mask is not None:
            mask = allow(mask)
            scores = block(scores, mask)
        heads = collect(normalise(scores, mask), q, k, v)
        return give(mix(merge(heads, x.shape), w_o), x)

    return multi_head_attention


def choose_each(w_q, w_k, w_v):
    return w_q, w_k, w_v


def project_by(x, w, num_heads):
    return x @ w.T


def split_rightly(x, num_heads):
    return cut_features(x, num_heads).transpose(1, 2)


def queries_by_keys(q, k):
    return q @ k.transpose(-2, -1)


def by_root_width(scores, q, num_heads):
    return scores / q.shape[-1] ** 0.5


def fill_with(value):
    return lambda scores, mask: scores.masked_fill(~mask, value)


def over_keys(scores, mask):
    return torch.softmax(scores, dim=-1)


def blend_values(weights, q, k, v):
    return weights @ v


def merge_rightly(heads, sizes):
    # sizes from the heads themselves, as merge_heads takes them: other axes than (B, H, T, d) come out in another shape
    batch, num_heads, length, width = heads.shape
    return heads.transpose(1, 2).reshape(batch, length, num_heads * width)


def merge_to_input(heads, sizes):
    return heads.transpose(1, 2).reshape(sizes)


def mix_by(joined, w_o):
    return joined @ w_o.T


STEPS = {
    "choose": choose_each,
    "project": project_by,
    "split": split_rightly,
    "score": queries_by_keys,
    "scale": by_root_width,
    "allow": as_it_is,
    "block": fill_with(-INF),
    "normalise": over_keys,
    "collect": blend_values,
    "merge": merge_rightly,
    "mix": mix_by,
    "give": as_it_is,
}

attend = MistakeSet("multi_head_attention", make_multi_head_attention, **STEPS)


def attention_with(**changes):
    """A whole version with other steps, for codings too rare to be tried in combination with other mistakes."""
    return make_multi_head_attention(**{**STEPS, **changes})


# --- attention: probes ------------------------------------------------------------------------------------------------


def weights_of(rand, d_model, **options):
    """w_q, w_k, w_v, w_o; the first two a little large, so that the attention is far from even."""
    scales = (1.5, 1.5, 1.0, 1.0)
    return [rand(d_model, d_model, scale=scale * d_model**-0.5, **options) for scale in scales]


def ring_masks(length, *offsets):
    """For each sequence the mask in which query i may attend to the keys i + o (mod length). Its transpose and its
    opposite leave every query a key too, so that they can be told apart without 0/0."""
    rows, columns = torch.arange(length)[:, None], torch.arange(length)[None]
    masks = [sum((columns == (rows + o) % length) for o in each).bool() for each in offsets]
    return torch.stack(masks)[:, None]  # (B, 1, T, T)


# torch's words for a product of 4 columns with (12, 12), as matrices and as batches of matrices
SLICE_BY_WEIGHT = re.compile(r"\dx4 and 12x12\)|\[\d+, 4\] but got: \[\d+, 12\]")


def causal(length):
    return torch.ones(length, length, dtype=torch.bool).tril()


@attend.probe("3 heads, no mask", stage="without a mask")
def _(subject, rand):
    return subject.multi_head_attention(rand(2, 5, 12), *weights_of(rand, 12), 3)


@attend.probe("one token", stage="with one token")
def _(subject, rand):
    return subject.multi_head_attention(rand(2, 1, 12), *weights_of(rand, 12), 3)


@attend.probe("one head", stage="with one head")
def _(subject, rand):
    return subject.multi_head_attention(rand(2, 5, 6), *weights_of(rand, 6), 1)


@attend.probe("a causal mask", stage="with a causal mask")
def _(subject, rand):
    return subject.multi_head_attention(rand(2, 5, 12), *weights_of(rand, 12), 3, mask=causal(5))


@attend.probe("a mask for each sequence", stage="with a mask for each sequence")
def _(subject, rand):
    mask = ring_masks(5, (0, 1), (0, 1, 3))
    return subject.multi_head_attention(rand(2, 5, 12), *weights_of(rand, 12), 3, mask=mask)


@attend.probe("2 heads of width 5", stage="with another head width")
def _(subject, rand):
    return subject.multi_head_attention(rand(1, 3, 10), *weights_of(rand, 10), 2)


@attend.probe("B = H = T = d = 2", stage="where all sizes coincide")
def _(subject, rand):
    return subject.multi_head_attention(rand(2, 2, 4), *weights_of(rand, 4), 2)


@attend.probe("blocked keys against scores near -200", stage="where allowed scores are near −200")
def _(subject, rand):
    # float64, where masking after the softmax and renormalising is right too: in float32 exp(-200) is 0
    x, eye = rand(1, 5, 8, scale=0.05, dtype=torch.float64), torch.eye(8, dtype=torch.float64)
    x[:, :3] += 10.0
    long = torch.tensor([True, True, True, False, False])
    mask = long[:, None] == long[None]  # long tokens see long ones, short tokens short ones
    return subject.multi_head_attention(x, eye, -eye, weights_of(rand, 8, dtype=torch.float64)[2], eye, 2, mask=mask)


@attend.probe("scores in the hundreds", stage="on large scores", atol=LOOSE)
def _(subject, rand):
    w_q, w_k, w_v, w_o = weights_of(rand, 12)
    return subject.multi_head_attention(rand(2, 5, 12), 60.0 * w_q, w_k, w_v, w_o, 3)


@attend.probe("the arguments afterwards")
def _(subject, rand):
    mask = ring_masks(5, (0, 1), (0, 1, 3))
    return subject.multi_head_attention.observe(rand(2, 5, 12), *weights_of(rand, 12), 3, mask).args


@attend.probe("the gradient", stage="in its gradients")
def _(subject, rand):
    args = (rand(2, 5, 12), *weights_of(rand, 12), 3)
    return subject.multi_head_attention.gradients(*args, wrt=[0, 1, 2, 3, 4], weights=rand(2, 5, 12))


@attend.probe("a float64 input", stage="in float64")
def _(subject, rand):
    double = {"dtype": torch.float64}
    return subject.multi_head_attention(rand(2, 5, 12, **double), *weights_of(rand, 12, **double), 3)


@attend.probe("a head's slice by a whole weight")
def _(subject, rand):
    # No scores fit this mask: what comes after them, heads not joined before w_o, cannot raise the same error.
    try:
        subject.multi_head_attention(rand(2, 5, 12), *weights_of(rand, 12), 3, mask=causal(9))
    except LearnerError as error:
        return bool(SLICE_BY_WEIGHT.search(error.text))
    return False


@attend.probe("two calls alike")
def _(subject, rand):
    args = (rand(2, 5, 12), *weights_of(rand, 12), 3)
    return same(*(subject.multi_head_attention(*args) for _ in range(2)))


# --- attention: examples ----------------------------------------------------------------------------------------------

EYE = torch.eye(2)
TURN = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
TWO_TOKENS = torch.tensor([[[1.0, 2.0], [3.0, -1.0]]])


def attend_example(x, num_heads, *, w_q=EYE, w_k=EYE, w_v=EYE, w_o=EYE, **options):
    """Weights by name: nobody could tell four matrices in a row from each other."""
    attend.example(x, w_q=w_q, w_k=w_k, w_v=w_v, w_o=w_o, num_heads=num_heads, **options)


attend_example(torch.tensor([[[1.0, 2.0]]]), 1, w_v=TURN)
attend_example(torch.tensor([[[1.0, 2.0]]]), 1, w_o=TURN)
attend_example(TWO_TOKENS, 1, w_k=TURN)
attend_example(TWO_TOKENS, 2)
attend_example(TWO_TOKENS, 2, w_v=TURN)
attend_example(TWO_TOKENS, 1, w_k=TURN, mask=causal(2))
attend_example(TWO_TOKENS, 2, w_k=TURN, mask=causal(2))
# what needs two heads of two features each: first with one token, whose answer can be read off
FOUR = {name: torch.eye(4) for name in ("w_q", "w_k", "w_v", "w_o")}
attend_example(torch.tensor([[[1.0, 2.0, 3.0, 4.0]]]), 2, **FOUR)
attend_example(torch.tensor([[[1.0, 0.0, 0.0, 2.0], [0.0, 1.0, 3.0, 0.0]]]), 2, **FOUR)

# --- attention: mistakes in the projections ---------------------------------------------------------------------------


def project_untransposed(x, w, num_heads):
    return x @ w


def project_slices(x, w, num_heads):
    parts = torch.arange(x.shape[-1]).chunk(num_heads)
    return torch.cat([x[..., part] @ w[part][:, part].T for part in parts], dim=-1)


def project_after_split(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    heads = split_rightly(x, num_heads)
    q, k, v = (heads @ w.T for w in (w_q, w_k, w_v))
    scores = by_root_width(queries_by_keys(q, k), q, num_heads)
    scores = scores if mask is None else fill_with(-INF)(scores, mask)
    return merge_rightly(over_keys(scores, mask) @ v, x.shape) @ w_o.T


NOT_TRANSPOSED = "with square weights the shapes fit and only the values are wrong."
TRANSPOSE_WEIGHT = "The weights are laid out (out, in), as in nn.Linear: write `x @ w.T`, or `F.linear(x, w)`."

attend.mistake(
    "hd-weight-not-transposed",
    says=f"You multiply by the weights as they are (`x @ w`): {NOT_TRANSPOSED}",
    suggests=TRANSPOSE_WEIGHT,
    project=project_untransposed,
    mix=lambda joined, w_o: joined @ w_o,
)
attend.mistake(
    "hd-weight-not-transposed",
    coding="w_q, w_k and w_v",
    says=f"You multiply x by w_q, w_k and w_v as they are (`x @ w`): {NOT_TRANSPOSED} w_o is right.",
    suggests=TRANSPOSE_WEIGHT,
    project=project_untransposed,
)
attend.mistake(
    "hd-weight-not-transposed",
    coding="w_o",
    says=f"You multiply the joined heads by w_o as it is: {NOT_TRANSPOSED} The other three are right.",
    suggests="Write `joined @ w_o.T` for the output projection too.",
    mix=lambda joined, w_o: joined @ w_o,
)


def copied_name(coding, **how):
    """One weight used where another belongs; `how` is the changed step, or a whole version."""
    attend.mistake(
        "hd-projection-shared",
        coding=coding,
        says=f"You use {coding}: each of queries, keys and values has a projection of its own.",
        suggests="Queries come from w_q, keys from w_k, values from w_v: look for a name that was copied.",
        **how,
    )


for coding, choice in (
    ("w_q for all three", lambda w_q, w_k, w_v: (w_q, w_q, w_q)),
    ("w_q for the keys", lambda w_q, w_k, w_v: (w_q, w_q, w_v)),
    ("w_q for the values", lambda w_q, w_k, w_v: (w_q, w_k, w_q)),
    ("w_k for the queries", lambda w_q, w_k, w_v: (w_k, w_k, w_v)),
):
    copied_name(coding, choose=choice)
for coding, choice in (
    ("w_k for all three", lambda w_q, w_k, w_v: (w_k, w_k, w_k)),
    ("w_v for all three", lambda w_q, w_k, w_v: (w_v, w_v, w_v)),
    ("w_v for the keys", lambda w_q, w_k, w_v: (w_q, w_v, w_v)),
    ("w_v for the queries", lambda w_q, w_k, w_v: (w_v, w_k, w_v)),
):
    copied_name(coding, version=attention_with(choose=choice))
for coding, choice in (
    ("w_k and w_v", lambda w_q, w_k, w_v: (w_q, w_v, w_k)),
    ("w_q and w_v", lambda w_q, w_k, w_v: (w_v, w_k, w_q)),
    ("all three, in a ring", lambda w_q, w_k, w_v: (w_k, w_v, w_q)),
    ("all three, in the other ring", lambda w_q, w_k, w_v: (w_v, w_q, w_k)),
):
    attend.mistake(
        "hd-projections-exchanged",
        coding=coding,
        says=f"The weights are exchanged: {coding}.",
        suggests="Queries come from w_q, keys from w_k, values from w_v: check the order in which you name them.",
        version=attention_with(choose=choice),
    )
attend.mistake(
    "hd-no-input-projection",
    says="You split x itself: w_q, w_k and w_v are not used, so every head sees only its slice of the token, and "
    "queries, keys and values are all the same.",
    suggests="Project first (`x @ w_q.T`, and likewise for keys and values), then split what comes out.",
    project=lambda x, w, num_heads: x,
)
attend.mistake(
    "hd-no-input-projection",
    coding="values",
    says="Your values are x itself: w_v is not used.",
    suggests="Project the values too: `v = x @ w_v.T`.",
    choose=lambda w_q, w_k, w_v: (w_q, w_k, torch.eye(len(w_v), dtype=w_v.dtype)),
)
attend.mistake(
    "hd-embedding-sliced",
    says="Each head projects only its own slice of x, by a (d, d) block of the weight. A head sees the whole token and "
    "produces a slice of the projection.",
    suggests="Project the whole of x first and split the result, or give head h the rows h·d to (h+1)·d − 1 of the "
    "weight, over all columns.",
    project=project_slices,
)
attend.mistake(
    "hd-embedding-sliced",
    coding="by the whole weight",
    says="You cut x into slices before projecting, and multiply a slice, d features wide, by a whole weight, which "
    "needs all D: an error, unless there is one head. Each head must see the whole token.",
    suggests="Project the whole of x first (`x @ w_q.T`, and likewise for keys and values), then split what comes out.",
    only=("a head's slice by a whole weight",),
    version=project_after_split,
)
attend.mistake(
    "bl-no-output-projection",
    says="You return the joined heads as they are: w_o is not used.",
    suggests="Multiply the joined heads by the output projection at the end: `joined @ w_o.T`.",
    mix=lambda joined, w_o: joined,
)
attend.mistake(
    "hd-residual-added",
    says="You add x to the result. The residual connection belongs to the transformer block, not to the attention.",
    suggests="Return the output projection alone.",
    give=lambda out, x: out + x,
)

# --- attention: mistakes in split and merge ---------------------------------------------------------------------------


def one_wide_head(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = x @ w_q.T, x @ w_k.T, x @ w_v.T
    scores = by_root_width(queries_by_keys(q, k), q, num_heads)
    if mask is not None:
        scores = scores.masked_fill(~mask, -INF)
    return torch.softmax(scores, dim=-1) @ v @ w_o.T


for coding, version in (
    ("", attention_with(split=lambda x, num_heads: x[:, None])),
    ("three axes", one_wide_head),
):
    attend.mistake(
        "hd-heads-ignored",
        coding=coding,
        says="You do not split into heads: this is one attention of the whole width D, whatever `num_heads` is.",
        suggests="Split queries, keys and values with `split_heads`, attend in each head, and join them with "
        "`merge_heads`.",
        version=version,
    )

attend.mistake("hd-split-view", says=SPLIT_BY_VIEW, suggests=CUT_THE_FEATURES, split=cut_sequence)
attend.mistake(
    "hd-split-strided",
    says=STRIDED,
    suggests="Name the number of heads before the width: `view(B, T, num_heads, D // num_heads)`.",
    split=lambda x, num_heads: cut_strided(x, num_heads).permute(0, 3, 1, 2),
)
attend.mistake(
    "hd-split-size-exchanged",
    says=SIZES_EXCHANGED,
    suggests="Write `num_heads` before `D // num_heads` in the view.",
    split=lambda x, num_heads: cut_strided(x, num_heads).transpose(1, 2),
)
attend.mistake(
    "hd-split-no-transpose",
    says=f"{HEADS_NOT_FORWARD} So the heads of one token attend to each other, and tokens never meet.",
    suggests="Exchange axes 1 and 2 after the cut, so that the last two axes are positions and features.",
    split=cut_features,
)
MISPLACED = {
    "hd-split-head-first": {"H B T d": (2, 0, 1, 3)},
    "hd-split-wrong-axes": {"B T d H": (0, 1, 3, 2), "B H d T": (0, 2, 3, 1), "B d H T": (0, 3, 2, 1)},
    "hd-split-no-transpose": {"B T H d": (0, 1, 2, 3)},
}
for misplaced, orders in MISPLACED.items():
    for axes_are, axes in orders.items():
        for how, joined in (("", merge_rightly), ("forced into shape", merge_to_input)):
            if misplaced == "hd-split-no-transpose" and not how:
                continue  # above
            attend.mistake(
                misplaced,
                coding=f"{axes_are} {how}".strip(),
                says=f"After your split the axes are ({axes_are.replace(' ', ', ')}), so attention runs over the wrong "
                "ones.",
                suggests="Split into (B, H, T, d): cut the last axis, then exchange axes 1 and 2 and no others.",
                version=attention_with(
                    split=lambda x, num_heads, axes=axes: cut_features(x, num_heads).permute(axes), merge=joined
                ),
            )
attend.mistake(
    "hd-split-no-transpose",
    coding="and joined from there",
    says=f"{HEADS_NOT_FORWARD} So the heads of one token attend to each other, and tokens never meet.",
    suggests="Exchange axes 1 and 2 after the cut, and exchange them back before you join the heads.",
    version=attention_with(split=cut_features, merge=lambda heads, sizes: heads.flatten(2)),
)
attend.mistake(
    "hd-split-view",
    coding="batch and heads in one axis",
    says="`view(B * H, T, d)` cuts the sequence into pieces, not the features, and `view(B, T, D)` glues the pieces "
    "together again.",
    suggests=CUT_THE_FEATURES,
    version=attention_with(
        split=lambda x, num_heads: cut_sequence(x, num_heads).flatten(0, 1),
        merge=join_by_reshape,
    ),
)
attend.mistake(
    "hd-merge-no-transpose", says=MERGE_BY_RESHAPE, suggests=TRANSPOSE_FIRST, merge=join_by_reshape
)  # fmt: skip
attend.mistake(
    "hd-merge-view-error",
    says=VIEW_REFUSES,
    suggests="Use `reshape` instead of `view`, or `.contiguous()` before it.",
    merge=lambda heads, sizes: heads.contiguous().transpose(1, 2).view(sizes),
)
attend.mistake(
    "hd-merge-strided",
    says=MERGED_STRIDED,
    suggests="Bring the axes to (B, T, H, d) before joining the last two: head 0's features come first.",
    merge=lambda heads, sizes: heads.permute(0, 2, 3, 1).reshape(sizes),
)
for coding, axes in BATCH_MIXERS.items():
    attend.mistake(
        "hd-merge-batch-mixed",
        coding=coding,
        says=f"{BATCH_MIXED} Before joining, the axes are ({coding.replace(' ', ', ')}).",
        suggests="When merging, leave axis 0 where it is and exchange only axes 1 and 2.",
        version=attention_with(merge=lambda heads, sizes, axes=axes: heads.permute(axes).reshape(sizes)),
    )
for coding, axes in (("B H d T", (0, 1, 3, 2)), ("B d T H", (0, 3, 2, 1)), ("B d H T", (0, 3, 1, 2))):
    attend.mistake(
        "hd-merge-wrong-axes",
        coding=coding,
        says=f"When merging you move the wrong axes: before joining they are ({coding.replace(' ', ', ')}).",
        suggests="Exchange axes 1 and 2, which gives (B, T, H, d), and then join the last two.",
        version=attention_with(merge=lambda heads, sizes, axes=axes: heads.permute(axes).reshape(sizes)),
    )

# --- attention: mistakes in the scores and their scale ----------------------------------------------------------------


def divided_by(size):
    return lambda scores, q, num_heads: scores / size(q, num_heads)


def unscaled(scores, q, num_heads):
    return scores


def softmax_over(axis):
    return lambda scores, mask: torch.softmax(scores, dim=axis)


attend.mistake(
    "at-no-scale",
    says="You do not scale the scores, so the weights are too peaked.",
    suggests="Divide the scores by √d, the root of one head's width: `q.size(-1) ** 0.5`.",
    scale=unscaled,
)
attend.mistake(
    "at-scale-d-model",
    says="You divide the scores by √D, the root of the whole model width; dot products here are only d = D / H terms "
    "long, so every head's weights are too even. With one head nobody notices.",
    suggests="Read the width after the split: divide by `q.size(-1) ** 0.5`.",
    scale=divided_by(lambda q, num_heads: (q.shape[-1] * num_heads) ** 0.5),
)
attend.mistake(
    "at-scale-dk",
    says="You divide the scores by d itself (or queries and keys by √d each): the weights are too even.",
    suggests="Divide by the root, `q.size(-1) ** 0.5`, and only once.",
    scale=divided_by(lambda q, num_heads: q.shape[-1]),
)
attend.mistake(
    "at-scale-multiplied",
    says="You multiply the scores by √d where they should be divided by it.",
    suggests="Divide by `q.size(-1) ** 0.5`.",
    scale=divided_by(lambda q, num_heads: q.shape[-1] ** -0.5),
)
for coding, size in (
    ("the length T", lambda q, num_heads: q.shape[-2] ** 0.5),
    ("the number of heads H", lambda q, num_heads: num_heads**0.5),
    ("the batch size B", lambda q, num_heads: q.shape[0] ** 0.5),
):
    attend.mistake(
        "at-scale-wrong-axis",
        coding=coding,
        says=f"You divide the scores by the root of {coding}; it should be the root of a head's width d.",
        suggests="The width is the last axis of the split queries: `q.size(-1)`.",
        version=attention_with(scale=divided_by(size)),
    )
for constant in (8, 2):
    attend.mistake(
        "at-scale-constant",
        coding=f"{constant}",
        says=f"You divide the scores by {constant} whatever the head's width is: that is right for a width of "
        f"{constant**2} only.",
        suggests="Read the width from the queries: `q.size(-1) ** 0.5`.",
        scale=divided_by(lambda q, num_heads, constant=constant: constant),
    )
attend.mistake(
    "at-scale-after-softmax",
    says="You divide the weights by √d, after the softmax: they no longer sum to 1.",
    suggests="Scale the scores, before the softmax.",
    scale=unscaled,
    collect=lambda weights, q, k, v: weights @ v / q.shape[-1] ** 0.5,
)
attend.mistake(
    "at-qk-swapped",
    says="Queries and keys are exchanged: row i of your scores tells how all other tokens' queries fit token i's key. "
    "Within one sequence both shapes are the same, so nothing warns you.",
    suggests="Rows are queries: `q @ k.transpose(-2, -1)`, with q from w_q and k from w_k.",
    score=lambda q, k: k @ q.transpose(-2, -1),
)
attend.mistake(
    "at-k-reshaped",
    says="You turn the keys with `view` or `reshape`, which relabels memory and does not exchange the axes.",
    suggests="Use `k.transpose(-2, -1)`.",
    score=lambda q, k: q @ k.reshape(*k.shape[:2], k.shape[3], k.shape[2]),
)
attend.mistake(
    "at-k-dot-T",
    says="`.T` on four axes reverses all of them: an error on most sizes, silently wrong where they coincide.",
    suggests="Exchange the last two only: `k.transpose(-2, -1)`, or `k.mT`.",
    score=lambda q, k: q @ k.permute(3, 2, 1, 0),
)

# --- attention: mistakes in the softmax and the values ----------------------------------------------------------------

FILLS = {"": -INF, "a large negative number": -1e9}  # where all that a softmax sees is blocked these differ

attend.mistake(
    "at-softmax-queries",
    says="Your softmax runs over the queries: columns of the weights sum to 1 where rows should.",
    suggests="Normalise over the keys, the last axis: `dim=-1`.",
    normalise=softmax_over(-2),
)
for axis, what in ((0, "the batch"), (1, "the heads")):
    for fill, value in FILLS.items():
        attend.mistake(
            "at-softmax-batch-or-head",
            coding=f"dim={axis} {fill}".strip(),
            says=f"Your softmax runs over {what} (dim={axis}), so what one of them does changes the others.",
            suggests="Normalise over the keys, the last axis: `dim=-1`.",
            version=attention_with(normalise=softmax_over(axis), block=fill_with(value)),
        )
attend.mistake(
    "at-no-softmax",
    says="You multiply the values by the raw scores: there is no softmax, so the weights may be negative and sum to "
    "anything.",
    suggests="Apply softmax over the keys to the scores before multiplying by the values.",
    # with a mask the answers are as large as the number that was filled in, and only that number could be compared
    only=("one token", "3 heads, no mask", "one head", "2 heads of width 5", "B = H = T = d = 2"),
    normalise=as_it_is,
)
attend.mistake(
    "sm-overflow",
    says="Your softmax exponentiates the scores as they are: exp of 89 or more overflows to inf, and inf/inf is NaN.",
    suggests="Subtract each row's maximum before `exp`, or use `torch.softmax`.",
    normalise=lambda scores, mask: scores.exp() / scores.exp().sum(-1, keepdim=True),
)
attend.mistake(
    "at-values-are-keys",
    says="You blend keys instead of values: the weights multiply k, or v was projected by w_k.",
    suggests="Blend the values: `weights @ v`, with v from w_v.",
    collect=lambda weights, q, k, v: weights @ k,
)
attend.mistake(
    "at-values-are-keys",
    coding="only the values",
    says="Your output is made of each token's own value: the attention weights are not used.",
    suggests="Blend the values of all tokens: `weights @ v`.",
    collect=lambda weights, q, k, v: v,
)
attend.mistake(
    "at-dropout-on",
    says="Two calls with the same input give different answers: dropout is active, or something is drawn at random in "
    "each call (new weights, say).",
    suggests="Take the dropout or the random numbers out: this function has none.",
    only=("two calls alike",),
    normalise=lambda scores, mask: F.dropout(torch.softmax(scores, dim=-1), 0.1),
)

# --- attention: mistakes with the mask --------------------------------------------------------------------------------


def zero_where_nothing_is_left(scores, mask):
    return torch.softmax(scores, dim=-1).nan_to_num(0.0)


# A query that a wrong mask leaves without any key gets NaN, even weights or 0: three codings of one mistake.
LEFT_WITHOUT = {
    "": {},
    "a large negative number": {"block": fill_with(-1e9)},
    "zero where nothing is left": {"normalise": zero_where_nothing_is_left},
}


def causal_unless_given(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    mask = causal(x.shape[1]) if mask is None else mask
    return attention_with()(x, w_q, w_k, w_v, w_o, num_heads, mask)


attend.mistake(
    "at-mask-ignored",
    says="Changing the mask does not change your output: the mask is not used.",
    suggests="Before the softmax, fill the scores with −∞ where the mask is False. (`masked_fill` returns a new "
    "tensor: assign it.)",
    block=as_it_is,
)
for coding, changes in LEFT_WITHOUT.items():
    attend.mistake(
        "at-mask-inverted",
        coding=coding,
        says="You block what may be attended to and keep what may not: here True means “may attend”.",
        suggests="Turn the mask round where you fill: `scores.masked_fill(~mask, float('-inf'))`.",
        allow=torch.logical_not,
        **changes,
    )
    attend.mistake(
        "at-mask-transposed",
        coding=coding,
        says="Your mask is transposed: its rows are queries and its columns keys, so with a causal mask you attend to "
        "the future.",
        suggests="Use the mask as it is given; the last axis of scores and mask is the keys.",
        allow=lambda mask: mask.transpose(-2, -1),
        **changes,
    )
attend.mistake(
    "at-mask-transposed",
    coding=".T",
    says="You transpose the mask by `.T`: that exchanges queries and keys of a (T, T) mask, and reverses all axes of a "
    "mask that has more.",
    suggests="Use the mask as it is given; the last axis of scores and mask is the keys.",
    version=attention_with(allow=lambda mask: mask.permute(*reversed(range(mask.ndim)))),
)
attend.mistake(
    "at-mask-after-softmax",
    says="You set weights to zero after the softmax, so the rows no longer sum to 1.",
    suggests="Fill the scores with −∞ before the softmax.",
    block=as_it_is,
    normalise=lambda scores, mask: torch.softmax(scores, -1) * (1 if mask is None else mask),
)
attend.mistake(
    "at-mask-as-zero-score",
    says="Blocked keys get the score 0 (by multiplying with the mask, or by filling 0 or 1e-9), and exp(0) is 1: they "
    "keep a weight.",
    suggests="Fill −∞ where the mask is False.",
    block=fill_with(0.0),
)
attend.mistake(
    "at-mask-added-bool",
    says="You add the Boolean mask to the scores: allowed scores rise by 1, and nothing is blocked.",
    suggests="Use `scores.masked_fill(~mask, float('-inf'))`.",
    block=lambda scores, mask: scores + mask,
)
for value in (-10.0, -100.0):
    attend.mistake(
        "at-fill-too-small",
        coding=f"{value:g}",
        says=f"You fill blocked scores with {value:g}, which is not low enough: where allowed scores are lower, the "
        "blocked keys win.",
        suggests="Fill −∞ (or −1e9).",
        block=fill_with(value),
    )
for coding, value in (("infinity", INF), ("1e9", 1e9)):
    attend.mistake(
        "at-fill-positive",
        coding=coding,
        says=f"You fill blocked scores with plus {coding}: they take all the weight, or the row becomes NaN.",
        suggests="Fill minus infinity: `float('-inf')`.",
        version=attention_with(block=fill_with(value)),
    )
attend.mistake(
    "at-always-causal",
    says="You hide the future from every query always, whether the mask asks for it or not.",
    suggests="Block only what `mask` blocks; with mask=None every query may attend to every key.",
    score=lambda q, k: queries_by_keys(q, k).masked_fill(~causal(q.shape[-2]), -INF),
)
attend.mistake(
    "at-always-causal",
    coding="unless a mask is given",
    says="Without a mask you hide the future (`is_causal=mask is None`); with mask=None every query may attend to each "
    "key.",
    suggests="Block only what `mask` blocks: leave `is_causal` at False.",
    version=causal_unless_given,
)
for coding, widen in (("one axis", lambda mask: mask.unsqueeze(1)), ("two axes", lambda mask: mask[None, None])):
    for how, joined in (("", merge_rightly), ("forced into shape", merge_to_input)):
        attend.mistake(
            "hd-mask-unsqueezed",
            coding=f"{coding} {how}".strip(),
            says=f"You add {coding} to the mask. It comes ready to broadcast to (B, H, T, T); with more axes it meets "
            "the wrong ones.",
            suggests="Use the mask as it is given: broadcasting puts (T, T) behind batch and heads by itself.",
            version=attention_with(allow=widen, merge=joined),
        )

attend.mistake(
    "hd-squeezed",
    says="`squeeze` takes away every axis of size 1: with one token or one sequence an axis is missing.",
    suggests="Take out the `squeeze`: the answer always has three axes.",
    version=attention_with(give=lambda out, x: out.squeeze()),
)

# --- attention: mistakes of manners -----------------------------------------------------------------------------------

DETACHED = "Stay with tensor operations from the arguments to the result: no `.detach()`, `.data`, numpy, `no_grad`."

attend.mistake(
    "hd-detached",
    says="The result is cut off from autograd (`.detach()`, `.data`, `no_grad` or `torch.tensor(...)`).",
    suggests=DETACHED,
    give=lambda out, x: out.detach(),
)
attend.mistake(
    "hd-detached",
    coding="through numpy",
    says="The result is cut off from autograd: numpy cannot take a tensor that needs a gradient.",
    suggests=DETACHED,
    version=attention_with(project=lambda x, w, num_heads: torch.from_numpy(x.numpy() @ w.numpy().T)),
)
attend.mistake(
    "hd-detached",
    coding="the attention weights",
    says="The attention weights are cut off from autograd, so w_q and w_k get no gradient.",
    suggests=DETACHED,
    version=attention_with(normalise=lambda scores, mask: torch.softmax(scores, -1).detach()),
)
attend.mistake(
    "hd-detached",
    coding="w_q, w_k and w_v",
    says="w_q, w_k and w_v are cut off from autograd, for example by copying them into new nn.Linear layers: no "
    "gradient reaches them.",
    suggests=DETACHED,
    version=attention_with(choose=lambda *weights: [w.detach() for w in weights]),
)
attend.mistake(
    "hd-detached",
    coding="all four weights",
    says="All four weights are cut off from autograd, for example by copying them into new nn.Linear layers: no "
    "gradient reaches them.",
    suggests=DETACHED,
    version=attention_with(
        choose=lambda *weights: [w.detach() for w in weights], mix=lambda joined, w_o: joined @ w_o.detach().T
    ),
)
for name in ("float32", "float64"):
    attend.mistake(
        "hd-dtype",
        coding=name,
        says=f"The answer's dtype is {name} whatever the input's is.",
        suggests="Keep the dtype of the input: no `.float()`, `.double()` or `dtype=`; use `x.new_zeros(...)` for "
        "a new tensor.",
        give=lambda out, x, name=name: out.to(getattr(torch, name)),
    )
attend.mistake(
    "hd-dtype",
    coding="float32 within",
    says="With a float64 input it raises an error: somewhere a tensor is float32 whatever the input's dtype is.",
    suggests="Take the dtype from the input: `x.new_zeros(...)`, or `dtype=x.dtype`.",
    merge=lambda heads, sizes: merge_rightly(heads, sizes).float(),
)
attend.mistake(
    "hd-in-place",
    coding="the mask",
    says="You turn the caller's mask round in place (`logical_not_`): the next call gets the opposite mask.",
    suggests="Make a new mask: `~mask`.",
    block=lambda scores, mask: scores.masked_fill(mask.logical_not_(), -INF),
)
attend.mistake(
    "hd-in-place",
    coding="the weights",
    says="You transpose the caller's weights in place (`t_`): the next call gets them the other way round.",
    suggests="Use `w.T`, which leaves `w` as it is.",
    project=lambda x, w, num_heads: x @ w.t_(),
)

# --- attention: alternatives ------------------------------------------------------------------------------------------


def by_torch(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = (split_by_slices(F.linear(x, w), num_heads) for w in (w_q, w_k, w_v))
    return F.linear(merge_rightly(F.scaled_dot_product_attention(q, k, v, attn_mask=mask), x.shape), w_o)


def head_by_head(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """A loop over heads: each has its own rows of the weights, and adds its own share through its columns of w_o."""
    rows = torch.arange(x.shape[-1]).chunk(num_heads)
    mask = torch.ones(1, 1, 1, 1, dtype=torch.bool) if mask is None else mask
    masks = mask.expand(x.shape[0], num_heads, x.shape[1], x.shape[1]).unbind(1)
    total = 0
    for own, allowed in zip(rows, masks, strict=True):
        q, k, v = (x @ w[own].T for w in (w_q, w_k, w_v))
        scores = (q @ k.mT / len(own) ** 0.5).masked_fill(~allowed, -INF)
        total = total + scores.softmax(-1) @ v @ w_o[:, own].T
    return total


def all_by_einsum(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = (torch.einsum("btc,hdc->bhtd", x, w.unflatten(0, (num_heads, -1))) for w in (w_q, w_k, w_v))
    scores = torch.einsum("bhtd,bhsd->bhts", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    heads = torch.einsum("bhts,bhsd->bthd", scores.softmax(dim=-1), v)
    return torch.einsum("bthd,ohd->bto", heads, w_o.unflatten(1, (num_heads, -1)))


def fused_projection(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    qkv = (x @ torch.cat([w_q, w_k, w_v]).T).unflatten(-1, (3, num_heads, -1)).permute(2, 0, 3, 1, 4)
    q, k, v = qkv
    bias = torch.zeros_like(q @ k.mT)
    if mask is not None:
        bias = bias.masked_fill(mask.logical_not(), -INF)
    return (torch.softmax(q @ k.mT / q.shape[-1] ** 0.5 + bias, -1) @ v).transpose(1, 2).flatten(2) @ w_o.T


def heads_in_the_batch(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """Batch and heads in one axis, heads first, as early implementations had it."""
    batch, length, _ = x.shape
    q, k, v = (cut_features(x @ w.T, num_heads).permute(2, 0, 1, 3).flatten(0, 1) for w in (w_q, w_k, w_v))
    scores = torch.bmm(q, k.transpose(1, 2)) / q.shape[-1] ** 0.5
    if mask is not None:
        mask = mask.expand(batch, num_heads, length, length).transpose(0, 1).flatten(0, 1)
        scores = scores.masked_fill(mask == 0, -1e9)
    heads = torch.bmm(torch.softmax(scores, dim=2), v).unflatten(0, (num_heads, batch))
    return heads.permute(1, 2, 0, 3).contiguous().view(batch, length, -1) @ w_o.T


def renormalised(scores, mask):
    weights = torch.softmax(scores, dim=-1)
    if mask is None:
        return weights
    kept = weights.masked_fill(~mask, 0.0)
    return kept / kept.sum(-1, keepdim=True)


def softmax_by_hand(scores, mask):
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    return powers / powers.sum(-1, keepdim=True)


attend.alternative("torch's own attention", version=by_torch)
attend.alternative("a loop over heads", version=head_by_head)
attend.alternative("einsum throughout", version=all_by_einsum)
attend.alternative("one projection for all three", version=fused_projection)
attend.alternative("heads in the batch", version=heads_in_the_batch)
attend.alternative("a large negative number", block=fill_with(-1e9))
attend.alternative("the lowest float", block=lambda s, mask: s.masked_fill(~mask, torch.finfo(s.dtype).min))
attend.alternative("an added mask", block=lambda s, mask: s + torch.zeros_like(s).masked_fill(~mask, -INF))
attend.alternative("zero where nothing is left", normalise=zero_where_nothing_is_left)
attend.alternative("the softmax by hand", normalise=softmax_by_hand)
attend.alternative(
    "the queries scaled first", scale=unscaled, score=lambda q, k: (q * q.shape[-1] ** -0.5) @ k.transpose(-2, -1)
)
attend.alternative(
    "both scaled by a fourth root",
    scale=unscaled,
    score=lambda q, k: (q / q.shape[-1] ** 0.25) @ (k / k.shape[-1] ** 0.25).mT,
)
attend.alternative("the mask after the softmax, renormalised", block=as_it_is, normalise=renormalised)
attend.alternative("F.linear", project=lambda x, w, num_heads: F.linear(x, w), mix=F.linear)
attend.alternative("heads from chunks", split=lambda x, num_heads: torch.stack(x.chunk(num_heads, -1), 1))
attend.alternative("heads joined by cat", merge=lambda heads, sizes: torch.cat(list(heads.unbind(1)), dim=-1))
attend.alternative("contiguous and view", merge=lambda heads, sizes: heads.transpose(1, 2).contiguous().view(sizes))

MISTAKE_SETS = [split, merge, attend]
