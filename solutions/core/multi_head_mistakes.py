"""What people write in multi-head attention in place of the reference's lines; and other right ways to write it.

Three mistake sets: `split_heads`, `merge_heads`, and `multi_head_attention` with all that can go wrong inside it.
Letters: B batch, T length, D model width, H heads, d_head = D / H.
"""

import re

import torch
import torch.nn.functional as F  # noqa: F401, N812  expressions below use it, by the field's name

from grader.api.checks import LearnerError, MistakeSet, same

INF = float("inf")
LOOSE = 1e-3  # for scores in the hundreds, where float32 itself is only good to 1e-5 before the softmax

split = MistakeSet("split_heads", globals(), without=("split_slice",))
merge = MistakeSet("merge_heads", globals(), without=("merge_slice",))
attend = MistakeSet("multi_head_attention", globals(), from_checks=False)
MISTAKE_SETS = [split, merge, attend]

RESHAPE_FIRST = "Use `reshape` in place of `view`."
CUT_SEQUENCE = "x.reshape(batch, num_heads, length, d_model // num_heads)"
CUT_STRIDED = "x.reshape(batch, length, d_model // num_heads, num_heads)"
DETACHED = "The result is cut off from autograd (`.detach()`, `.data`, numpy or `torch.tensor(...)`)."
MOVE_AXES = "Stay with tensor operations that move axes; they keep the gradient."


def numbered(*shape):
    return torch.arange(torch.Size(shape).numel()).reshape(shape)


def cut_features(x, num_heads):
    return x.reshape(*x.shape[:2], num_heads, -1)  # (B, T, D) -> (B, T, H, d_head)


# --- probes aside: what only rare faults show, which hide no other ----------------------------------------------------


@split.probe("a slice of a larger tensor", aside=True)
def _(subject, rand):
    return subject.split_heads.on_slices(rand(2, 5, 12), 3)


@merge.probe("a slice of a larger tensor", aside=True)
def _(subject, rand):
    return subject.merge_heads.on_slices(rand(2, 3, 5, 4))


@attend.probe("slices of larger tensors", aside=True)
def _(subject, rand):
    return subject.multi_head_attention.on_slices(rand(2, 5, 12), *weights_of(rand, 12), 3)


@attend.probe("allowed scores of 0", aside=True)
def _(subject, rand):
    w_q, w_k, w_v, w_o = weights_of(rand, 12)
    given = (rand(2, 5, 12), 0 * w_q, w_k, w_v, w_o, 3)
    return not subject.multi_head_attention(*given, mask=causal(5)).isnan().any() and same(
        subject.multi_head_attention(*given, mask=causal(5))[:, 0], (given[0] @ w_v.T @ w_o.T)[:, 0], 1e-3
    )


@attend.probe("scores near -2000", aside=True)
def _(subject, rand):
    x, eye = rand(2, 5, 8, scale=0.05, dtype=torch.float64) + 32.0, torch.eye(8, dtype=torch.float64)
    w_v = weights_of(rand, 8, dtype=torch.float64)[2]
    return subject.multi_head_attention(x, eye, -eye, w_v, eye, 2, mask=ring_masks(5, (0, 1), (0, 1, 3)))


@attend.probe("half precision", aside=True)
def _(subject, rand):
    found = []
    for dtype in (torch.float16, torch.bfloat16):
        args = (rand(2, 5, 12, dtype=dtype), *weights_of(rand, 12, dtype=dtype), 3)
        try:
            found.append(str(subject.multi_head_attention(*args, mask=causal(5)).dtype))
        except LearnerError:
            found.append("an error")
    return found


@attend.probe("a mask for each head", aside=True)
def _(subject, rand):
    mask = torch.stack([ring_masks(5, (0, 1), (0, 1, 3)), ring_masks(5, (0, 2), (0, 4))], dim=1)[:, :, 0]
    return subject.multi_head_attention(rand(2, 5, 12), *weights_of(rand, 12), 2, mask=mask)


# fmt: off
# === split_heads ======================================================================================================
mistake, right = split.mistake, split.alternative
split.ask("with whole numbers", numbered(1, 3, 8), 2)
split.example(numbered(1, 2, 4), 2)
split.example(numbered(1, 3, 4), 2)
split.example(numbered(2, 1, 4), 2)
split.example(numbered(1, 2, 6), 2)

SPLIT_BY_VIEW = ("Right shape, wrong contents: `view(B, H, T, d_head)` cuts the sequence into pieces, so a head gets "
                 "whole tokens in place of its own features of every token. With one head or one token nobody notices.")
CUT_THE_FEATURES = "Cut only the last axis, `x.view(B, T, H, d_head)`, and then exchange axes 1 and 2."
HEADS_NOT_FORWARD = "The heads are cut correctly but stay behind the positions: the axes are (B, T, H, d_head)."
STRIDED = ("A head takes every H-th feature (columns h, h + H, h + 2H, ...) where it should take d_head neighbours: "
    "the last axis is cut into (d_head, H), not into (H, d_head).")
SIZES_EXCHANGED = "The number of heads and the width of a head are exchanged: you make d_head heads of width H."
mistake("hd-split-view", SPLIT_BY_VIEW, CUT_THE_FEATURES, cut=CUT_SEQUENCE, forward="x")
mistake("hd-split-view", "`view(B * H, T, d_head)` cuts the sequence into pieces, not the features, and it also joins "
    "batch and heads in one axis.", CUT_THE_FEATURES, coding="batch and heads in one axis", cut=CUT_SEQUENCE,
    forward="x.flatten(0, 1)")
mistake("hd-split-no-transpose", f"{HEADS_NOT_FORWARD} With as many tokens as heads even the shape looks right.",
        "Exchange axes 1 and 2 at the end: `transpose(1, 2)`.", forward="x")
mistake("hd-split-strided", STRIDED, "Name the number of heads before the width: `view(B, T, num_heads, D // "
    "num_heads)`.", cut=CUT_STRIDED, forward="x.permute(0, 3, 1, 2)")
mistake("hd-split-size-exchanged", SIZES_EXCHANGED, "Write `num_heads` before `D // num_heads` in the view.",
        cut=CUT_STRIDED)
for coding, fold in (
    ("sequence by sequence", "value.flatten(0, 1)"),
    ("head by head", "value.transpose(0, 1).flatten(0, 1)"),
    ("into the sequence", "value.flatten(1, 2)"),
):
    mistake("hd-split-folded", "Every number is there, but the head axis is joined to another one: you return three "
        "axes where four are asked for.", "Keep batch and heads as separate axes: (B, H, T, d_head).", coding=coding,
        result=fold)
mistake("hd-split-head-first", "Heads come first and the batch second: the axes are (H, B, T, d_head).",
        "Put the batch first: (B, H, T, d_head); with `torch.stack` that is `dim=1`.", forward="x.permute(2, 0, 1, 3)")
WRONG_AXES = {"B T d_head H": "0, 1, 3, 2", "B H d_head T": "0, 2, 3, 1", "B d_head H T": "0, 3, 2, 1",
              "B d_head T H": "0, 3, 1, 2"}
for coding, axes in WRONG_AXES.items():
    mistake("hd-split-wrong-axes", "The last axis is cut correctly, but then the wrong axes are moved: yours are "
            f"({coding.replace(' ', ', ')}).", "After the cut, (B, T, H, d_head), exchange axes 1 and 2 and no others.",
            coding=coding, forward=f"x.permute({axes})")
for kind, coding, give in (("a tuple", "", "value.unbind(1)"), ("a list", "a list", "list(value.unbind(1))")):
    mistake("hd-split-list", f"You return the heads one by one, each (B, T, d_head), in {kind}.",
            "Make one tensor of them: `torch.stack(heads, dim=1)`.", coding=coding, result=give)
for each in (split, merge):
    each.mistake("hd-detached", DETACHED, MOVE_AXES, take_x="x.detach()")
    each.mistake("hd-detached", DETACHED, MOVE_AXES, coding="through numpy", take_x="torch.from_numpy(x.numpy())")
    for name in ("float32", "float64"):
        each.mistake("hd-dtype", f"The answer is {name} whatever the dtype of the input is: it is cast, or filled into "
            "a new tensor of another dtype.", "Only move axes; if you make a new tensor, use `x.new_zeros(...)`, which "
            "takes dtype and device from x.", coding=name, take_x=f"x.to(torch.{name})")
SQUEEZED = "`squeeze` takes away every axis of size 1: with"
mistake("hd-squeezed", f"{SQUEEZED} one head, one token or one sequence an axis is missing.",
        "Take out the `squeeze`: the answer always has four axes.", result="value.squeeze()")
mistake("hd-in-place", "You reshape the caller's tensor itself (`resize_`, or assigning to its `data`).",
        "Use `view` or `reshape`: they give a new tensor and leave `x` as it is.",
        cut="x.resize_(batch, length, num_heads, d_model // num_heads)")

GAPS = "It works only on tensors without gaps in their memory: `view` cannot join the axes of a slice."
for each in (split, merge):
    each.mistake("hd-view", GAPS, RESHAPE_FIRST, only=("a slice of a larger tensor",),
                 take_x="x.view(-1).view(x.shape)")

right("chunk and stack", version="torch.stack(x.chunk(num_heads, dim=-1), dim=1)")
right("slices and stack", version="torch.stack([x[..., h * x.shape[-1] // num_heads : (h + 1) * x.shape[-1] // "
    "num_heads] for h in range(num_heads)], dim=1)")
right("split into a new tensor", forward="""out = x.new_zeros(batch, num_heads, length, d_model // num_heads)
for h in range(num_heads):
    out[:, h] = x[:, :, h]
return out""")
right("unflatten", cut="x.unflatten(-1, (num_heads, -1))")
right("permute and contiguous", forward="x.permute(0, 2, 1, 3).contiguous()")
right("movedim", forward="x.movedim(2, 1)")
right("einsum", forward="torch.einsum('bthd->bhtd', x)")
right("channels first", version="x.transpose(1, 2).reshape(len(x), num_heads, -1, x.shape[1]).transpose(2, 3)")
right("folded and unfolded", version="cut_features(x, num_heads).permute(2, 0, 1, 3).flatten(0, 1)"
      ".unflatten(0, (num_heads, -1)).transpose(0, 1)")

# === merge_heads ======================================================================================================
mistake, right = merge.mistake, merge.alternative
merge.ask("with whole numbers", numbered(1, 2, 3, 4))
for shape in ((1, 2, 1, 2), (1, 2, 2, 1), (1, 2, 2, 2), (1, 2, 3, 2), (2, 2, 1, 2)):
    merge.example(numbered(*shape).float())

MERGE_BY_RESHAPE = ("Right shape, wrong contents: you join the axes of (B, H, T, d_head) as they lie in memory, so "
    "parts of different tokens are glued into one row. It undoes a split that has the same fault, so a round trip "
    "does not show it.")
TRANSPOSE_FIRST = "Exchange axes 1 and 2 first: (B, H, T, d_head) → (B, T, H, d_head) → (B, T, H·d_head)."
VIEW_REFUSES = ("After `transpose` the features to be joined no longer lie side by side in memory, and `view` refuses "
    "to join them. Straight after `split_heads` it happens to work; on the result of a real attention it raises.")
RESHAPE = "Use `reshape` instead of `view`, or `.contiguous()` before it."
BATCH_MIXED = "Batch and heads are mixed: a row of one sequence holds features of another sequence."
MERGED_STRIDED = "The features are interleaved: feature 0 of every head first, then feature 1 of every head."
FIRST_HEAD_FIRST = "Bring the axes to (B, T, H, d_head) before joining the last two: head 0's features come first."
BATCH_MIXERS = {"T B H d_head": "2, 0, 1, 3", "H B T d_head": "1, 0, 2, 3", "H T B d_head": "1, 2, 0, 3",
                "T H B d_head": "2, 1, 0, 3"}
MERGE_WRONG_AXES = {"B H d_head T": "0, 1, 3, 2", "B d_head T H": "0, 3, 2, 1", "B d_head H T": "0, 3, 1, 2"}
mistake("hd-merge-no-transpose", MERGE_BY_RESHAPE, TRANSPOSE_FIRST, back="x")
mistake("hd-merge-view-error", VIEW_REFUSES, RESHAPE, join="x.view(batch, length, num_heads * d_head)")
mistake("hd-merge-strided", MERGED_STRIDED, FIRST_HEAD_FIRST, back="x.permute(0, 2, 3, 1)")
for coding in ("mean", "sum"):
    mistake("hd-merge-averaged", f"You take the {coding} over the heads, which throws away what they were split for: "
        "the width is d_head, not D.", "Put the heads' features side by side: transpose, then join the last two axes.",
        coding=coding, version=f"torch.{coding}(x, dim=1)")
mistake("hd-merge-along-sequence", "The heads are put one after another along the sequence: (B, H·T, d_head).",
        "Join the heads along the feature axis: `torch.cat(heads, dim=-1)`, or transpose and reshape.",
        version="x.flatten(1, 2)")
mistake("hd-merge-along-sequence", "After the transpose you join positions and heads, (B, T·H, d_head), where heads "
        "and features should be joined.", "Join the last two axes: (B, T, H, d_head) → (B, T, H·d_head).",
        coding="token by token",
        join="x.flatten(1, 2)")
for coding, head in (("the first", 0), ("the last", -1)):
    mistake("hd-merge-one-head", f"Only {coding} head is kept; the others are thrown away.",
            "Put all heads' features side by side: transpose, then join the last two axes.", coding=coding,
            version=f"x[:, {head}]")
for coding, axes in BATCH_MIXERS.items():
    mistake("hd-merge-batch-mixed", f"{BATCH_MIXED} You join the axes in the order ({coding.replace(' ', ', ')}).",
            "Leave axis 0 where it is and exchange only axes 1 and 2.", coding=coding, back=f"x.permute({axes})")
for coding, axes in MERGE_WRONG_AXES.items():
    mistake("hd-merge-wrong-axes", "The wrong axes are moved before joining: yours are then "
        f"({coding.replace(' ', ', ')}).", "Exchange axes 1 and 2, which gives (B, T, H, d_head), and then join the "
        "last two.", coding=coding, back=f"x.permute({axes})")
mistake("hd-merge-not-joined", "The axes are in the right order, (B, T, H, d_head), but heads and features are not "
    "joined yet.", "Join the last two axes: `reshape(B, T, H * d_head)`.", join="x")
for coding, axes in (("batch and positions", "0, 1"), ("positions and features", "1, 2")):
    mistake("hd-merge-axis-lost", f"You join one axis too many: {coding} became one axis.",
            "Join only heads and features: (B, T, H, d_head) → (B, T, H·d_head).", coding=coding,
            result=f"value.flatten({axes})")
mistake("hd-squeezed", f"{SQUEEZED} one token or one sequence an axis is missing.",
        "Take out the `squeeze`: the answer always has three axes.", result="value.squeeze()")
mistake("hd-in-place", "You change the caller's tensor (`transpose_`).",
        "Use `transpose` without the underscore: it leaves `x` as it is.", back="x.transpose_(1, 2)")

right("contiguous and view", join="x.contiguous().view(batch, length, num_heads * d_head)")
right("permute and flatten", back="x.permute(0, 2, 1, 3)", join="x.flatten(2)")
right("cat over a list of heads", version="torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1)")
right("cat over unbind", version="torch.cat(x.unbind(1), -1)")
right("einsum and reshape", back="torch.einsum('bhtd->bthd', x)")
right("channels first", version="x.transpose(2, 3).reshape(x.shape[0], -1, x.shape[2]).transpose(1, 2)")
# fmt: on

# === multi_head_attention =============================================================================================
#
# Not here, because nothing in this function can show them: at-one-rank-only (x has three axes always),
# at-fully-masked-row (every query has a key), at-mask-query-axis (on a general mask it is at-mask-transposed),
# hd-split-folded (right values in another form). And
# hd-merge-averaged, -along-sequence, -one-head and -not-joined: w_o fits none of what they give, so all of them raise
# the same error; the learner sees that error, and the mistake set of merge_heads names them.

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


def repeated(mask, scores):
    """The mask of each sequence, repeated head by head where the heads lie sequence by sequence."""
    batch, heads, length, _ = scores.shape
    return mask.expand(batch, -1, length, length)[:, 0].repeat(heads, 1, 1).view(scores.shape)


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


@attend.probe("B = H = T = d_head = 2", stage="where all sizes coincide")
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

# --- attention: mistakes ----------------------------------------------------------------------------------------------

# a split of another kind, and a merge into the shape of x whatever comes
SPLIT_INTO = "q, k, v = ({} for part in (q, k, v))"
MERGE_TO_INPUT = "heads.transpose(1, 2).reshape(x.shape)"
PROJECT_SLICES = """parts = torch.arange(x.shape[-1]).chunk(num_heads)
q, k, v = (torch.cat([x[..., p] @ w[p][:, p].T for p in parts], dim=-1) for w in (w_q, w_k, w_v))"""
HIDE = "scores.masked_fill(~mask, {})"
NOT_TRANSPOSED = "with square weights the shapes fit and only the values are wrong."
TRANSPOSE_WEIGHT = "The weights are laid out (out, in), as in nn.Linear: write `x @ w.T`, or `F.linear(x, w)`."
WITHIN = "Stay with tensor operations from the arguments to the result: no `.detach()`, `.data`, numpy, `no_grad`."

# fmt: off
mistake, right = attend.mistake, attend.alternative

# the projections
mistake("hd-weight-not-transposed", f"You multiply by the weights as they are (`x @ w`): {NOT_TRANSPOSED}",
        TRANSPOSE_WEIGHT, project="x @ w_q, x @ w_k, x @ w_v", mix="joined @ w_o")
mistake("hd-weight-not-transposed", f"You multiply x by w_q, w_k and w_v as they are (`x @ w`): {NOT_TRANSPOSED} w_o "
    "is right.", TRANSPOSE_WEIGHT, coding="w_q, w_k and w_v", project="x @ w_q, x @ w_k, x @ w_v")
mistake("hd-weight-not-transposed", f"You multiply the joined heads by w_o as it is: {NOT_TRANSPOSED} The other three "
    "are right.", "Write `joined @ w_o.T` for the output projection too.", coding="w_o", mix="joined @ w_o")
for coding, copied in {
    "w_q for all three": {"k": "q", "v": "q"}, "w_q for the keys": {"k": "q"}, "w_q for the values": {"v": "q"},
    "w_k for the queries": {"q": "k"}, "w_k for all three": {"q": "k", "v": "k"},
    "w_v for all three": {"q": "v", "k": "v"}, "w_v for the keys": {"k": "v"}, "w_v for the queries": {"q": "v"},
}.items():
    mistake("hd-projection-shared", f"You use {coding}: each of queries, keys and values has a projection of its own.",
            "Queries come from w_q, keys from w_k, values from w_v: look for a name that was copied.", coding=coding,
            alone="w_v for" in coding or coding == "w_k for all three",
            **{f"take_w_{one}": f"w_{other}" for one, other in copied.items()})
for coding, exchanged in {
    "w_k and w_v": {"k": "v", "v": "k"}, "w_q and w_v": {"q": "v", "v": "q"},
    "all three, in a ring": {"q": "k", "k": "v", "v": "q"},
    "all three, in the other ring": {"q": "v", "k": "q", "v": "k"},
}.items():
    mistake("hd-projections-exchanged", f"The weights are exchanged: {coding}.",
            "Queries come from w_q, keys from w_k, values from w_v: check the order in which you name them.",
            coding=coding, alone=True, **{f"take_w_{one}": f"w_{other}" for one, other in exchanged.items()})
mistake("hd-no-input-projection", "You split x itself: w_q, w_k and w_v are not used, so every head sees only its "
    "slice of the token, and queries, keys and values are all the same.", "Project first (`x @ w_q.T`, and likewise "
    "for keys and values), then split what comes out.", project="x, x, x")
mistake("hd-no-input-projection", "Your values are x itself: w_v is not used.",
        "Project the values too: `v = x @ w_v.T`.", coding="values", take_w_v="torch.eye(len(w_v), dtype=w_v.dtype)")
mistake("hd-embedding-sliced", "Each head projects only its own slice of x, by a (d_head, d_head) block of the "
    "weight. A head sees the whole token and produces a slice of the projection.", "Project the whole of x first and "
    "split the result, or give head h the rows h·d_head to (h+1)·d_head − 1 of the weight, over all columns.",
    project=PROJECT_SLICES)
mistake("hd-embedding-sliced", "You cut x into slices before projecting, and multiply a slice, d_head features wide, "
    "by a whole weight, which needs all D: an error, unless there is one head. Each head must see the whole token.",
    "Project the whole of x first (`x @ w_q.T`, and likewise for keys and values), then split what comes out.",
    coding="by the whole weight", only=("a head's slice by a whole weight",), project="x, x, x",
    split="q, k, v = (split_heads(x, num_heads) @ w.T for w in (w_q, w_k, w_v))")
mistake("bl-no-output-projection", "You return the joined heads as they are: w_o is not used.",
        "Multiply the joined heads by the output projection at the end: `joined @ w_o.T`.", mix="joined")
mistake("hd-residual-added", "You add x to the result. The residual connection belongs to the transformer block, not "
    "to the attention.", "Return the output projection alone.", mix="joined @ w_o.T + x")

# split and merge
for coding, changes in {
    "": {"split": SPLIT_INTO.format("part[:, None]")},
    "three axes": {"split": "q, k, v", "merge": "heads"},
}.items():
    mistake("hd-heads-ignored", "You do not split into heads: this is one attention of the whole width D, whatever "
            "`num_heads` is.", "Split queries, keys and values with `split_heads`, attend in each head, and join them "
            "with `merge_heads`.", coding=coding, alone=True, **changes)
mistake("hd-split-view", SPLIT_BY_VIEW, CUT_THE_FEATURES, cut=CUT_SEQUENCE, forward="x")
mistake("hd-split-strided", STRIDED, "Name the number of heads before the width: `view(B, T, num_heads, D // "
    "num_heads)`.", cut=CUT_STRIDED, forward="x.permute(0, 3, 1, 2)")
mistake("hd-split-size-exchanged", SIZES_EXCHANGED, "Write `num_heads` before `D // num_heads` in the view.",
        cut=CUT_STRIDED)
SO_HEADS_MEET = f"{HEADS_NOT_FORWARD} So the heads of one token attend to each other, and tokens never meet."
mistake("hd-split-no-transpose", SO_HEADS_MEET,
        "Exchange axes 1 and 2 after the cut, so that the last two axes are positions and features.", forward="x")
MISPLACED = [("hd-split-head-first", "H B T d_head", "2, 0, 1, 3"),
             ("hd-split-no-transpose", "B T H d_head", "0, 1, 2, 3"),
             *(("hd-split-wrong-axes", order, axes) for order, axes in WRONG_AXES.items() if order != "B d_head T H")]
for id, order, axes in MISPLACED:
    for how, merged in (("", {}), ("forced into shape", {"merge": MERGE_TO_INPUT})):
        if merged or id != "hd-split-no-transpose":  # above
            mistake(id, f"After your split the axes are ({order.replace(' ', ', ')}), so attention runs over the wrong "
                    "ones.", "Split into (B, H, T, d_head): cut the last axis, then exchange axes 1 and 2 alone.",
                    coding=f"{order} {how}".strip(), alone=True, forward=f"x.permute({axes})", **merged)
mistake("hd-split-no-transpose", SO_HEADS_MEET, "Exchange axes 1 and 2 after the cut, and exchange them back before "
    "you join the heads.", coding="and joined from there", alone=True, forward="x", merge="heads.flatten(2)")
mistake("hd-split-view", "`view(B * H, T, d_head)` cuts the sequence into pieces, not the features, and `view(B, T, "
    "D)` glues the pieces together again.", CUT_THE_FEATURES, coding="batch and heads in one axis", alone=True,
    cut=CUT_SEQUENCE, forward="x.flatten(0, 1)", merge="heads.reshape(x.shape)")
mistake("hd-merge-no-transpose", MERGE_BY_RESHAPE, TRANSPOSE_FIRST, merge="heads.reshape(x.shape)")
mistake("hd-merge-view-error", VIEW_REFUSES, RESHAPE, merge="heads.contiguous().transpose(1, 2).view(x.shape)")
mistake("hd-merge-strided", MERGED_STRIDED, FIRST_HEAD_FIRST, merge="heads.permute(0, 2, 3, 1).reshape(x.shape)")
for coding, axes in BATCH_MIXERS.items():
    mistake("hd-merge-batch-mixed", f"{BATCH_MIXED} Before joining, the axes are ({coding.replace(' ', ', ')}).",
            "When merging, leave axis 0 where it is and exchange only axes 1 and 2.", coding=coding, alone=True,
            merge=f"heads.permute({axes}).reshape(x.shape)")
for coding, axes in MERGE_WRONG_AXES.items():
    mistake("hd-merge-wrong-axes", "When merging you move the wrong axes: before joining they are "
        f"({coding.replace(' ', ', ')}).", "Exchange axes 1 and 2, which gives (B, T, H, d_head), and then join the "
        "last two.", coding=coding, alone=True, merge=f"heads.permute({axes}).reshape(x.shape)")

# the scores and their scale
mistake("at-no-scale", "You do not scale the scores, so the weights are too peaked.",
        "Divide the scores by √d_head, the root of one head's width: `q.size(-1) ** 0.5`.", scale="scores")
mistake("at-scale-d-model", "You divide the scores by √D, the root of the whole model width; dot products here are "
    "only d_head = D / H terms long, so every head's weights are too even. With one head nobody notices.",
    "Read the width after the split: divide by `q.size(-1) ** 0.5`.", scale="scores / x.size(-1) ** 0.5")
mistake("at-scale-dk", "You divide the scores by d_head itself (or queries and keys by √d_head each): the weights are "
        "too even.",
        "Divide by the root, `q.size(-1) ** 0.5`, and only once.", scale="scores / q.size(-1)")
mistake("at-scale-multiplied", "You multiply the scores by √d_head where they should be divided by it.",
        "Divide by `q.size(-1) ** 0.5`.", scale="scores * q.size(-1) ** 0.5")
for coding, size in (("the length T", "x.size(1)"), ("the number of heads H", "num_heads"), ("the batch size B",
"len(x)")):
    mistake("at-scale-wrong-axis", f"You divide the scores by the root of {coding}; it should be the root of a head's "
            "width d_head.", "The width is the last axis of the split queries: `q.size(-1)`.", coding=coding,
            alone=True,
            scale=f"scores / {size} ** 0.5")
for constant in (8, 2):
    mistake("at-scale-constant", f"You divide the scores by {constant} whatever the head's width is: that is right for "
        f"a width of {constant**2} only.", "Read the width from the queries: `q.size(-1) ** 0.5`.",
        coding=f"{constant}", scale=f"scores / {constant}")
mistake("at-scale-after-softmax", "You divide the weights by √d_head, after the softmax: they no longer sum to 1.",
        "Scale the scores, before the softmax.", scale="scores", blend="weights @ v / q.size(-1) ** 0.5")
mistake("at-qk-swapped", "Queries and keys are exchanged: row i of your scores tells how all other tokens' queries fit "
        "token i's key. Within one sequence both shapes are the same, so nothing warns you.",
        "Rows are queries: `q @ k.transpose(-2, -1)`, with q from w_q and k from w_k.", score="k @ q.transpose(-2, -1)")
mistake("at-k-reshaped", "You turn the keys with `view` or `reshape`, which relabels memory and does not exchange the "
        "axes.", "Use `k.transpose(-2, -1)`.", score="q @ k.reshape(*k.shape[:2], k.shape[3], k.shape[2])")
mistake("at-k-dot-T", "`.T` on four axes reverses all of them: an error on most sizes, silently wrong where they "
        "coincide.", "Exchange the last two only: `k.transpose(-2, -1)`, or `k.mT`.", score="q @ k.permute(3, 2, 1, 0)")

for coding, changes in {"scaled": {}, "not scaled": {"scale": "scores"}}.items():
    mistake("at-cosine", "Your scores are cosines: the lengths of q and k do not count, so no key can stand out far.",
        "Take the dot products as they are: `q @ k.transpose(-2, -1)`, and divide by √d_head.", coding=coding,
        alone=True,
        score="F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)", **changes)
for coding, weigh in (("divided by the sum", "torch.sigmoid(scores) / torch.sigmoid(scores).sum(-1, keepdim=True)"),
                      ("", "torch.sigmoid(scores)")):
    mistake("at-sigmoid", "Your weights are sigmoids, not a softmax: keys do not compete, and all large scores count "
            "the same.", "Use softmax over the keys.", coding=coding, alone=True, weigh=weigh)

# the softmax and the values
mistake("at-softmax-queries", "Your softmax runs over the queries: columns of the weights sum to 1 where rows should.",
        "Normalise over the keys, the last axis: `dim=-1`.", weigh="torch.softmax(scores, dim=-2)")
for axis, what in ((0, "the batch"), (1, "the heads")):
    # where all that a softmax sees is blocked the two fills differ
    for fill, hide in (("", {}), ("a large negative number", {"hide": HIDE.format(-1e9)})):
        mistake("at-softmax-batch-or-head", f"Your softmax runs over {what} (dim={axis}), so what one of them does "
            "changes the others.", "Normalise over the keys, the last axis: `dim=-1`.",
            coding=f"dim={axis} {fill}".strip(), alone=True, weigh=f"torch.softmax(scores, dim={axis})", **hide)
mistake("at-no-softmax",
        "You multiply the values by the raw scores: there is no softmax, so the weights may be negative "
        "and sum to anything.", "Apply softmax over the keys to the scores before multiplying by the values.",
        # with a mask the answers are as large as the number that was filled in, and only that could be compared
        only=("one token", "3 heads, no mask", "one head", "2 heads of width 5", "B = H = T = d_head = 2"),
        weigh="scores")
mistake("sm-overflow", "Your softmax exponentiates the scores as they are: exp of 89 or more overflows to inf, and "
    "inf/inf is NaN.", "Subtract each row's maximum before `exp`, or use `torch.softmax`.",
    weigh="scores.exp() / scores.exp().sum(-1, keepdim=True)")
mistake("at-values-are-keys", "You blend keys instead of values: the weights multiply k, or v was projected by w_k.",
        "Blend the values: `weights @ v`, with v from w_v.", blend="weights @ k")
mistake("at-values-are-keys", "Your output is made of each token's own value: the attention weights are not used.",
        "Blend the values of all tokens: `weights @ v`.", coding="only the values", blend="v")
mistake("at-dropout-on", "Two calls with the same input give different answers: dropout is active, or something is "
    "drawn at random in each call (new weights, say).", "Take the dropout or the random numbers out: this function has "
    "none.", only=("two calls alike",), weigh="F.dropout(torch.softmax(scores, dim=-1), 0.1)")

# the mask
mistake("at-mask-ignored", "Changing the mask does not change your output: the mask is not used.",
    "Before the softmax, fill the scores with −∞ where the mask is False. (`masked_fill` returns a new tensor: assign "
    "it.)", hide="scores")
# a query that a wrong mask leaves without any key gets NaN, even weights or 0: three codings of one mistake
for coding, fill, changes in (
    ("", "-INF", {}),
    ("a large negative number", "-1e9", {}),
    ("zero where nothing is left", "-INF", {"weigh": "torch.softmax(scores, dim=-1).nan_to_num(0.0)"}),
):
    mistake("at-mask-inverted", "You block what may be attended to and keep what may not: here True means “may "
        "attend”.", "Turn the mask round where you fill: `scores.masked_fill(~mask, float('-inf'))`.", coding=coding,
        hide=f"scores.masked_fill(mask, {fill})", **changes)
    mistake("at-mask-transposed", "Your mask is transposed: its rows are queries and its columns keys, so with a "
        "causal mask you attend to the future.", "Use the mask as it is given; the last axis of scores and mask is the "
        "keys.", coding=coding, hide=f"scores.masked_fill(~mask.transpose(-2, -1), {fill})", **changes)
mistake("at-mask-transposed", "You transpose the mask by `.T`: that exchanges queries and keys of a (T, T) mask, and "
    "reverses all axes of a mask that has more.", "Use the mask as it is given; the last axis of scores and mask is "
    "the keys.", coding=".T", alone=True, hide="scores.masked_fill(~mask.permute(*reversed(range(mask.ndim))), -INF)")
mistake("at-mask-after-softmax", "You set weights to zero after the softmax, so the rows no longer sum to 1.",
        "Fill the scores with −∞ before the softmax.", hide="scores",
        weigh="torch.softmax(scores, -1) * (1 if mask is None else mask)")
mistake("at-mask-as-zero-score", "Blocked keys get the score 0 (by multiplying with the mask, or by filling 0 or "
    "1e-9), and exp(0) is 1: they keep a weight.", "Fill −∞ where the mask is False.", hide=HIDE.format(0.0))
mistake("at-mask-added-bool", "You add the Boolean mask to the scores: allowed scores rise by 1, and nothing is "
    "blocked.", "Use `scores.masked_fill(~mask, float('-inf'))`.", hide="scores + mask")
for value in (-10.0, -100.0):
    mistake("at-fill-too-small", f"You fill blocked scores with {value:g}, which is not low enough: where allowed "
        "scores are lower, the blocked keys win.", "Fill −∞ (or −1e9).", coding=f"{value:g}", hide=HIDE.format(value))
for coding, value in (("infinity", "INF"), ("1e9", "1e9")):
    mistake("at-fill-positive", f"You fill blocked scores with plus {coding}: they take all the weight, or the row "
        "becomes NaN.", "Fill minus infinity: `float('-inf')`.", coding=coding, alone=True, hide=HIDE.format(value))
mistake("at-always-causal", "You hide the future from every query always, whether the mask asks for it or not.",
        "Block only what `mask` blocks; with mask=None every query may attend to every key.",
        score="(q @ k.transpose(-2, -1)).masked_fill(~causal(q.shape[-2]), -INF)")
mistake("at-always-causal", "Without a mask you hide the future (`is_causal=mask is None`); with mask=None every query "
    "may attend to each key.", "Block only what `mask` blocks: leave `is_causal` at False.",
    coding="unless a mask is given", alone=True, take_mask="causal(x.shape[1]) if mask is None else mask")
for coding, widened in (("one axis", "mask.unsqueeze(1)"), ("two axes", "mask[None, None]")):
    for how, merged in (("", {}), ("forced into shape", {"merge": MERGE_TO_INPUT})):
        mistake("hd-mask-unsqueezed", f"You add {coding} to the mask. It comes ready to broadcast to (B, H, T, T); "
            "with more axes it meets the wrong ones.", "Use the mask as it is given: broadcasting puts (T, T) behind "
            "batch and heads by itself.", coding=f"{coding} {how}".strip(), alone=True,
            hide=f"scores.masked_fill(~{widened}, -INF)", **merged)

mistake("at-zero-score-hidden", "You hide every score that is 0, to find those that the mask made 0: a key that is "
        "allowed and scores exactly 0 is lost, too.", "Ask the mask, not the scores: `scores.masked_fill(~mask, "
        "-inf)`.", only=("allowed scores of 0",), hide="(scores * mask).masked_fill(scores * mask == 0, -INF)")
mistake("at-half", "It is an error for float16, whose lowest number is -65504: your fill does not fit.",
        "Fill with `float('-inf')`, which every float type has, or with `torch.finfo(scores.dtype).min`.",
        only=("half precision",), hide=HIDE.format(-1e9))
mistake("at-half", "It is an error in half precision: what you make of the mask is float32, and so the weights no "
    "longer fit the values.", "Convert to the scores' own type (`mask.to(scores.dtype)`), or use `masked_fill`.",
    coding="float32 added", only=("half precision",), hide="scores + torch.zeros(mask.shape).masked_fill(~mask, -INF)")
mistake("at-fill-too-small", "You fill blocked scores with about -1000: where allowed scores are lower, the blocked "
    "keys win.", "Fill −∞.", coding="-1000", only=("scores near -2000",), hide=HIDE.format(-1000.0))
mistake("hd-view", GAPS, RESHAPE_FIRST, only=("slices of larger tensors",), take_x="x.view(-1).view(x.shape)")
for fill in ("-INF", "-1e4"):
    mistake("hd-mask-repeated", "You repeat the masks for heads that lie head by head (`mask.repeat(H, 1, 1)`), but "
        "yours lie sequence by sequence: a head gets the mask of another sequence.",
        "Keep batch and heads as two axes, where a mask (B, 1, T, T) broadcasts; or use `repeat_interleave`.",
        coding=fill, alone=True, hide=f"scores.masked_fill(~repeated(mask, scores), {fill})")
mistake("hd-mask-of-first-head", "All heads get the mask of head 0.", "Use the mask with all its axes: it broadcasts "
    "to (B, H, T, T).", only=("a mask for each head",), hide="scores.masked_fill(~(mask[:, :1] if mask.dim() == 4 else "
    "mask), -INF)")
for coding, changes in {
    "slices of x": {"project": "x, x, x", "split": "q, k, v = (split_heads(x, num_heads) @ w[:x.size(-1) // num_heads, "
                    ":x.size(-1) // num_heads].T for w in (w_q, w_k, w_v))"},
    "all of "
    "x": {"project": "tuple((x @ w[:x.size(-1) // num_heads].T).repeat(1, 1, num_heads) for w in (w_q, w_k, w_v))"},
}.items():
    mistake("hd-projection-per-head-shared", "All heads share one small projection, (d_head, d_head) or (d_head, D): "
        "of each weight you use the rows of head 0 only, so heads differ in nothing that is learned.",
        "Project with the whole weight first, then split into heads.", coding=coding, alone=True, **changes)

# manners
mistake("hd-squeezed", f"{SQUEEZED} one token or one sequence an axis is missing.",
        "Take out the `squeeze`: the answer always has three axes.", alone=True, result="value.squeeze()")
for coding, says, changes in (
    ("", "The result is cut off from autograd (`.detach()`, `.data`, `no_grad` or `torch.tensor(...)`).",
     {"result": "value.detach()"}),
    ("through numpy", "The result is cut off from autograd: numpy cannot take a tensor that needs a gradient.",
     {"project": "tuple(torch.from_numpy(x.numpy() @ w.numpy().T) for w in (w_q, w_k, w_v))"}),
    ("the attention weights", "The attention weights are cut off from autograd, so w_q and w_k get no gradient.",
     {"weigh": "torch.softmax(scores, -1).detach()"}),
    ("w_q, w_k and w_v", "w_q, w_k and w_v are cut off from autograd, for example by copying them into new nn.Linear "
     "layers: no gradient reaches them.", {f"take_w_{name}": f"w_{name}.detach()" for name in "qkv"}),
    ("all four weights", "All four weights are cut off from autograd, for example by copying them into new nn.Linear "
     "layers: no gradient reaches them.", {f"take_w_{name}": f"w_{name}.detach()" for name in "qkvo"}),
):
    mistake("hd-detached", says, WITHIN, coding=coding, alone=coding != "", **changes)
for name in ("float32", "float64"):
    mistake("hd-dtype", f"The answer's dtype is {name} whatever the input's is.", "Keep the dtype of the input: no "
            "`.float()`, `.double()` or `dtype=`; use `x.new_zeros(...)` for a new tensor.", coding=name,
            result=f"value.to(torch.{name})")
mistake("hd-dtype", "With a float64 input it raises an error: somewhere a tensor is float32 whatever the input's dtype "
        "is.", "Take the dtype from the input: `x.new_zeros(...)`, or `dtype=x.dtype`.", coding="float32 within",
        merge="merge_heads(heads).float()")
mistake("hd-in-place", "You turn the caller's mask round in place (`logical_not_`): the next call gets the opposite "
    "mask.", "Make a new mask: `~mask`.", coding="the mask", hide="scores.masked_fill(mask.logical_not_(), -INF)")
mistake("hd-in-place", "You transpose the caller's weights in place (`t_`): the next call gets them the other way "
    "round.", "Use `w.T`, which leaves `w` as it is.", coding="the weights", project="x @ w_q.t_(), x @ w_k.t_(), x @ "
    "w_v.t_()")

# just as right
right("a large negative number", hide=HIDE.format(-1e4))
right("the lowest float", hide=HIDE.format("torch.finfo(scores.dtype).min"))
right("an added mask", hide="scores + torch.zeros_like(scores).masked_fill(~mask, -INF)")
right("zero where nothing is left", weigh="torch.softmax(scores, dim=-1).nan_to_num(0.0)")
right("the softmax by hand", weigh="(scores - scores.amax(-1, True)).exp() / (scores - scores.amax(-1, "
    "True)).exp().sum(-1, keepdim=True)")
right("the queries scaled first", scale="scores", score="(q * q.shape[-1] ** -0.5) @ k.transpose(-2, -1)")
right("both scaled by a fourth root", scale="scores", score="(q / q.shape[-1] ** 0.25) @ (k / k.shape[-1] ** 0.25).mT")
right("the mask after the softmax, renormalised", hide="scores", weigh="""weights = torch.softmax(scores, dim=-1)
weights = weights if mask is None else weights.masked_fill(~mask, 0.0)
weights = weights / weights.sum(-1, keepdim=True)""")
right("F.linear", project="F.linear(x, w_q), F.linear(x, w_k), F.linear(x, w_v)", mix="F.linear(joined, w_o)")
right("heads from chunks", split=SPLIT_INTO.format("torch.stack(part.chunk(num_heads, -1), 1)"))
right("heads joined by cat", merge="torch.cat(list(heads.unbind(1)), dim=-1)")
right("contiguous and view", merge="heads.transpose(1, 2).contiguous().view(x.shape)")
right("torch's own attention", blend="F.scaled_dot_product_attention(q, k, v, attn_mask=mask)")
# fmt: on


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
        scores = scores.masked_fill(mask == 0, -INF)
    heads = torch.bmm(torch.softmax(scores, dim=2), v).unflatten(0, (num_heads, batch))
    return heads.permute(1, 2, 0, 3).contiguous().view(batch, length, -1) @ w_o.T


right("a loop over heads", version=head_by_head)
right("einsum throughout", version=all_by_einsum)
right("one projection for all three", version=fused_projection)
right("heads in the batch", version=heads_in_the_batch)
