"""What people write in multi-head attention in place of the reference's lines; and other right ways to write it.

Three mistake sets: `split_heads`, `merge_heads`, and `multi_head_attention` with all that can go wrong inside it.
Letters: B batch, T length, D model width, H heads, d_head = D / H.
"""

import re

import torch
import torch.nn.functional as F  # noqa: N812  expressions below use it, by the field's name

from grader.api.checks import LearnerError, MistakeSet, draw, same

INF = float("inf")

split = MistakeSet("split_heads", globals(), without=("split_slice",))
merge = MistakeSet("merge_heads", globals(), without=("merge_slice",))
# Masks of these checks block a token for all, or for none: there each way to write a mistake gives another answer.
attend = MistakeSet("multi_head_attention", globals(), tolerances={"attention_large_scores": 1e-3}, without=(
    "attention_repeatable", "attention_slices", "attention_zero_scores", "attention_half[float16]",
    "attention_half[bfloat16]", "attention_mask_each[sequence]", "attention_mask_each[head]",
    "attention_mask_each[both]", "attention_mask_each[three axes]", "attention_padding", "attention_low_scores",
    "attention_blocked_ahead"))  # fmt: skip
MISTAKE_SETS = [split, merge, attend]


def numbered(*shape):
    return torch.arange(torch.Size(shape).numel()).reshape(shape)


def axes_of(order, axes="B T H d_head"):
    """The numbers of axes that are called so: "B H d_head T" is "0, 2, 3, 1"."""
    return ", ".join(str(axes.split().index(axis)) for axis in order.split())


# fmt: off
# === split_heads ======================================================================================================
mistake, alone, right = split.mistake, split.alone, split.alternative
split.ask("with whole numbers", numbered(1, 3, 8), 2)
split.ask("a slice of a larger tensor", draw(2, 5, 12), 3, by="on_slices", aside=True)
for shape in ((1, 2, 4), (1, 3, 4), (2, 1, 4), (1, 2, 6)):
    split.example(numbered(*shape), 2)

CUT_SEQUENCE = "x.reshape(batch, num_heads, length, d_model // num_heads)"
CUT_STRIDED = "x.reshape(batch, length, d_model // num_heads, num_heads)"
CUT_THE_FEATURES = "Cut only the last axis, `x.view(B, T, H, d_head)`, and then exchange axes 1 and 2."
FOUR_AXES = "Keep batch and heads as separate axes: (B, H, T, d_head)."
mistake("hd-split-view", "Right shape, wrong contents: `view(B, H, T, d_head)` cuts the sequence into pieces, so a "
        "head gets whole tokens. With one head nobody notices.", CUT_THE_FEATURES, cut=CUT_SEQUENCE, forward="x")
mistake("hd-split-view", "`view(B * H, T, d_head)` cuts the sequence into pieces, not the features, and it also joins "
        "batch and heads in one axis.", coding="B and H in one axis", cut=CUT_SEQUENCE, forward="x.flatten(0, 1)")
mistake("hd-split-no-transpose", "The heads are cut correctly but stay behind the positions: the axes are (B, T, H, "
        "d_head). With as many tokens as heads even the shape looks right.", "End with `transpose(1, 2)`.", forward="x")
mistake("hd-split-strided", "A head takes every H-th feature (columns h, h + H, h + 2H, ...) where it should take "
        "d_head neighbours: the last axis is cut into (d_head, H), not into (H, d_head).", "Name the number of heads "
        "before the width: `view(B, T, num_heads, D // num_heads)`.", cut=CUT_STRIDED, forward="x.permute(0, 3, 1, 2)")
mistake("hd-split-size-exchanged", "The number of heads and the width of a head are exchanged: you make d_head heads "
        "of width H.", "Write `num_heads` before `D // num_heads` in the view.", cut=CUT_STRIDED)
for coding, fold in (("sequence by sequence", "value.flatten(0, 1)"), ("into the sequence", "value.flatten(1, 2)"),
                     ("head by head", "value.transpose(0, 1).flatten(0, 1)")):
    mistake("hd-split-folded", "Every number is there, but the head axis is joined to another one: you return three "
            "axes where four are asked for.", FOUR_AXES, coding=coding, result=fold)
mistake("hd-split-head-first", "Heads come first and the batch second: the axes are (H, B, T, d_head).",
        "Put the batch first: (B, H, T, d_head); with `torch.stack` that is `dim=1`.", forward="x.permute(2, 0, 1, 3)")
SPLIT_ORDERS = ("B T d_head H", "B H d_head T", "B d_head H T", "B d_head T H")
for order in SPLIT_ORDERS:
    alone("hd-split-wrong-axes", f"After the cut the wrong axes are moved: yours are ({order.replace(' ', ', ')}).",
          "After the cut exchange axes 1 and 2, and no others.", coding=order, forward=f"x.permute({axes_of(order)})")
for kind, coding, give in (("a tuple", "", "value.unbind(1)"), ("a list", "a list", "list(value.unbind(1))")):
    mistake("hd-split-list", f"You return the heads one by one, each (B, T, d_head), in {kind}.",
            "Make one tensor of them: `torch.stack(heads, dim=1)`.", coding=coding, result=give)
for each, axes, where in ((split, "four", "one head, one token or"), (merge, "three", "one token or")):
    each.common("hd", "detached", "numpy", "float32", "float64", "view")
    each.mistake("hd-squeezed", f"`squeeze` takes away every axis of size 1: with {where} one sequence an axis is "
                 "missing.", f"Take out the `squeeze`: the answer always has {axes} axes.", result="value.squeeze()")
mistake("hd-in-place", "You reshape the caller's tensor itself (`resize_`, or assigning to its `data`).",
        "Use `view` or `reshape`: they give a new tensor and leave `x` as it is.",
        cut="x.resize_(batch, length, num_heads, d_model // num_heads)")

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
right("folded and unfolded", version="x.unflatten(-1, (num_heads, -1)).permute(2, 0, 1, 3).flatten(0, 1)"
      ".unflatten(0, (num_heads, -1)).transpose(0, 1)")

# === merge_heads ======================================================================================================
mistake, alone, right = merge.mistake, merge.alone, merge.alternative
merge.ask("with whole numbers", numbered(1, 2, 3, 4))
merge.ask("a slice of a larger tensor", draw(2, 3, 5, 4), by="on_slices", aside=True)
for shape in ((1, 2, 1, 2), (1, 2, 2, 1), (1, 2, 2, 2), (1, 2, 3, 2), (2, 2, 1, 2)):
    merge.example(numbered(*shape).float())

SIDE_BY_SIDE = "Put the heads' features side by side: transpose, then join the last two axes."
LAST_TWO = "Join only heads and features, the last two axes: (B, T, H, d_head) → (B, T, H·d_head)."
mistake("hd-merge-no-transpose", "Right shape, wrong contents: you join the axes of (B, H, T, d_head) as they lie in "
        "memory, so a row has parts of different tokens. It undoes a split with the same fault.", "First exchange axes "
        "1 and 2: (B, T, H, d_head), and then join (B, T, H·d_head).", back="x")
mistake("hd-merge-view-error", "After `transpose` the features to be joined no longer lie side by side in memory, and "
        "`view` refuses to join them. Straight after `split_heads` it happens to work; on the result of a real "
        "attention it raises.", "Use `reshape` instead of `view`, or `.contiguous()` before it.",
        join="x.view(batch, length, num_heads * d_head)")
mistake("hd-merge-strided", "The features are interleaved: feature 0 of every head first, then feature 1 of every "
        "head.", "Bring the axes to (B, T, H, d_head) before joining the last two.", back="x.permute(0, 2, 3, 1)")
for coding in ("mean", "sum"):
    mistake("hd-merge-averaged", f"You take the {coding} over the heads, which throws away what they were split for: "
            "the width is d_head, not D.", SIDE_BY_SIDE, coding=coding, version=f"torch.{coding}(x, dim=1)")
mistake("hd-merge-averaged", "You take the mean over the heads and repeat it, which throws away what they were split "
        "for.", SIDE_BY_SIDE, coding="repeated", back="x.mean(dim=1)", join="x.repeat(1, 1, num_heads)")
mistake("hd-merge-along-sequence", "The heads are put one after another: (B, H·T, d_head).", "Join them along the "
        "features: `torch.cat(heads, dim=-1)`, or transpose and reshape.", version="x.flatten(1, 2)")
mistake("hd-merge-along-sequence", "After the transpose you join positions and heads, (B, T·H, d_head), where heads "
        "and features should be joined.", LAST_TWO, coding="token by token", join="x.flatten(1, 2)")
for coding, head in (("the first", 0), ("the last", -1)):
    mistake("hd-merge-one-head", f"Only {coding} head is kept.", SIDE_BY_SIDE, coding=coding, version=f"x[:, {head}]")
for order in ("T B H d_head", "H B T d_head", "H T B d_head", "T H B d_head"):
    alone("hd-merge-batch-mixed", "Batch and heads are mixed: a row of one sequence holds features of another "
          f"sequence. Before joining, the axes are ({order.replace(' ', ', ')}).", "When merging, leave axis 0 where "
          "it is and exchange only axes 1 and 2.", coding=order, back=f"x.permute({axes_of(order, 'B H T d_head')})")
for order in ("B H d_head T", "B d_head T H", "B d_head H T"):
    alone("hd-merge-wrong-axes", "When merging you move the wrong axes: before joining they are "
          f"({order.replace(' ', ', ')}).", "Exchange axes 1 and 2, which gives (B, T, H, d_head), and then join the "
          "last two.", coding=order, back=f"x.permute({axes_of(order, 'B H T d_head')})")
mistake("hd-merge-not-joined", "The axes are in the right order, (B, T, H, d_head), but heads and features are not "
        "joined yet.", "Join the last two axes: `reshape(B, T, H * d_head)`.", join="x")
for coding, axes in (("batch and positions", "0, 1"), ("positions and features", "1, 2")):
    mistake("hd-merge-axis-lost", f"You also join {coding}.", LAST_TWO, coding=coding, result=f"value.flatten({axes})")
mistake("hd-in-place", "You change the caller's tensor (`transpose_`).", "Use `transpose` without the underscore: it "
        "leaves `x` as it is.", back="x.transpose_(1, 2)")

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
# hd-split-folded (right values in another form); nor merges that w_o does not fit: all of them raise the same error.


def weights(d_model, scales=(1.5, 1.5, 1.0, 1.0), **options):
    """w_q, w_k, w_v, w_o; the first two a little large, so that the attention is far from even."""
    return [draw(d_model, d_model, scale=scale * d_model**-0.5, **options) for scale in scales]


def causal(length):
    return torch.ones(length, length, dtype=torch.bool).tril()


def meets_a_slice(asked, *args, **kwargs):
    """Whether a slice meets a whole weight. No scores fit this mask: what comes after them cannot raise the same."""
    try:
        asked(*args, **kwargs)
    except LearnerError as error:
        # torch's words for a product of 4 columns with (12, 12), as matrices and as batches of matrices
        return bool(re.search(r"\dx4 and 12x12\)|, 4\] but got: \[\d+, 12\]", error.text))
    return False


def sees_itself(asked, x, w_q, w_k, w_v, w_o, num_heads, mask):
    """Whether the first token, which may attend to itself only, gets its own value."""
    found = asked(x, w_q, w_k, w_v, w_o, num_heads, mask=mask)
    return not found.isnan().any() and same(found[:, 0], (x @ w_v.T @ w_o.T)[:, 0], 1e-3)


def taking(made):
    """Which weights are used for queries, keys and values."""
    return {f"take_w_{one}": f"w_{other}" for one, other in zip("qkv", made, strict=True) if one != other}


def head_by_head(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """A loop over heads: each has its own rows of the weights, and adds its own share through its columns of w_o."""
    rows = torch.arange(x.shape[-1]).chunk(num_heads)
    masks = [None] * num_heads if mask is None else mask.expand(len(x), num_heads, *[x.size(1)] * 2).unbind(1)
    qkv = ([x @ w[own].T for w in (w_q, w_k, w_v)] for own in rows)
    heads = [F.scaled_dot_product_attention(*each, allowed) for each, allowed in zip(qkv, masks, strict=True)]
    return sum(head @ w_o[:, own].T for head, own in zip(heads, rows, strict=True))


X, EYE_8, W_V = draw(2, 5, 12), torch.eye(8, dtype=torch.float64), weights(8, dtype=torch.float64)[2]
# (B, 1, T, T): turned round or transposed they leave every query a key too, so that those can be told apart without 0/0
RINGS = torch.stack([sum(torch.eye(5).roll(o, 1) for o in each) == 1 for each in ((0, 1), (0, 1, 3))]).unsqueeze(1)

# fmt: off
mistake, alone, right, ask = attend.mistake, attend.alone, attend.alternative, attend.ask
ask("with a mask for each sequence", X, *weights(12), 3, mask=RINGS)
ask("a head's slice by a whole weight", X, *weights(12), 3, mask=causal(9), by=meets_a_slice, stage="")
ask("two calls", X, *weights(12), 3, by=lambda asked, *given: same(asked(*given), asked(*given)), stage="")
ask("a slice of a larger tensor", X, *weights(12), 3, by="on_slices", aside=True)
ask("allowed scores of 0", X, *weights(12, (0.0, 1.5, 1.0, 1.0)), 3, mask=causal(5), by=sees_itself, aside=True)
ask("scores near -2000", lambda rand: 32.0 + 0.05 * rand(2, 5, 8, dtype=torch.float64), EYE_8, -EYE_8, W_V, EYE_8, 2,
    mask=RINGS, aside=True)
ask("a blocked score far ahead", torch.tensor([32.0, 1.0, 32.0]).double().view(1, 3, 1).expand(1, 3, 8), EYE_8, -EYE_8,
    W_V, EYE_8, 2, mask=torch.tensor([True, False, True]).expand(3, 3), aside=True)
for name in ("float16", "bfloat16"):
    half = {"dtype": getattr(torch, name)}
    ask(name, draw(2, 5, 12, **half), *weights(12, **half), 3, mask=causal(5), see=lambda found: str(found.dtype),
        aside=True)
ask("a mask for each head", X, *weights(12), 2, mask=torch.cat((RINGS, ~RINGS), dim=1), aside=True)

# --- examples, with the weights by name: nobody could tell four matrices in a row from each other
TURN, TWO = torch.tensor([[0.0, 1.0], [-1.0, 0.0]]), torch.tensor([[[1.0, 2.0], [3.0, -1.0]]])
ONE = TWO[:, :1]
NAMES = ("w_q", "w_k", "w_v", "w_o")
for x, num_heads, own in (
    (ONE, 1, {"w_v": TURN}), (ONE, 1, {"w_o": TURN}), (TWO, 1, {"w_k": TURN}), (TWO, 2, {}), (TWO, 2, {"w_v": TURN}),
    (TWO, 1, {"w_k": TURN, "mask": causal(2)}), (TWO, 2, {"w_k": TURN, "mask": causal(2)}),
    # what needs two heads of two features each: first with one token, whose answer can be read off
    (torch.tensor([[[1.0, 2.0, 3.0, 4.0]]]), 2, {}),
    (torch.tensor([[[1.0, 0.0, 0.0, 2.0], [0.0, 1.0, 3.0, 0.0]]]), 2, {}),
):
    attend.example(x, **{**dict.fromkeys(NAMES, torch.eye(x.size(-1))), "num_heads": num_heads, **own})

# --- split and merge, as above
attend.include(split, without=("hd-split-folded", "hd-split-view (batch and heads in one axis)", "hd-split-list",
                  "hd-split-wrong-axes (B d_head T H)", "hd-detached", "hd-dtype", "hd-in-place", "hd-squeezed"))
attend.include(merge, without=("hd-merge-along-sequence", "hd-merge-not-joined", "hd-merge-axis-lost", "hd-detached",
                               "hd-dtype", "hd-in-place", "hd-view"))

# --- the projections
SPLIT_INTO, MERGE_TO_INPUT = "q, k, v = ({} for part in (q, k, v))", "heads.transpose(1, 2).reshape(x.shape)"
PROJECTIONS = {"project": "x @ w_q.T, x @ w_k.T, x @ w_v.T", "mix": "joined @ w_o.T"}
PROJECT_FIRST = "Project the whole of x first (`x @ w_q.T`, likewise keys and values), then split what comes out."
for names in ("w_q w_k w_v w_o", "w_q w_k w_v", "w_o", "w_q", "w_k", "w_v"):
    mistake("hd-weight-not-transposed", f"You multiply by {names.replace(' ', ', ')} without `.T`: with square weights "
            "the shapes fit and only the values are wrong.", "They are laid out (out, in): write `x @ w.T`, or "
            "`F.linear(x, w)`.", coding=names, alone=names in ("w_q", "w_k", "w_v"),
            **{step: re.sub(rf"({names.replace(' ', '|')})\.T", r"\1", line) for step, line in PROJECTIONS.items()})
for coding, made in (  # what q, k and v are made with
    ("w_q for all three", "qqq"), ("w_k for all three", "kkk"), ("w_v for all three", "vvv"),
    ("w_q for the keys", "qqv"), ("w_q for the values", "qkq"), ("w_k for the queries", "kkv"),
    ("w_v for the keys", "qvv"), ("w_v for the queries", "vkv"),
):
    mistake("hd-projection-shared", f"You use {coding}: each of queries, keys and values has a projection of its own.",
            "Queries come from w_q, keys from w_k, values from w_v: look for a name that was copied.", coding=coding,
            alone="w_q" not in coding and coding != "w_k for the queries", **taking(made))
alone("hd-projection-shared", "The keys are made from the queries: all three are projections of x itself.", "Write `x "
      "@ w_k.T`.", coding="in a chain", project="x @ w_q.T, x @ w_q.T @ w_k.T, x @ w_v.T")
alone("hd-projection-shared", "The keys are made from the queries, and the values from the keys.", "Project x itself "
      "each time.", coding="x overwritten", project="x @ w_q.T, x @ w_q.T @ w_k.T, x @ w_q.T @ w_k.T @ w_v.T")
for coding, made in (("w_k and w_v", "qvk"), ("w_q and w_v", "vkq"), ("all three, in a ring", "kvq"),
                     ("all three, in the other ring", "vqk")):
    mistake("hd-projections-exchanged", f"The weights are exchanged: {coding}.", "Queries come from w_q, keys from "
            "w_k, values from w_v: check their order.", coding=coding, alone="all" in coding, **taking(made))
mistake("hd-no-input-projection", "You split x itself: w_q, w_k and w_v are not used, so every head sees only its "
        "slice of the token, and queries, keys and values are all the same.", PROJECT_FIRST, project="x, x, x")
mistake("hd-no-input-projection", "Your values are x itself: w_v is not used.", "Project the values too: `v = x @ "
        "w_v.T`.", coding="values", take_w_v="torch.eye(len(w_v), dtype=w_v.dtype)")
mistake("hd-embedding-sliced", "Each head projects only its own slice of x, by a (d_head, d_head) block of the weight. "
        "A head sees the whole token and produces a slice of the projection.", PROJECT_FIRST,
        project="""parts = torch.arange(x.shape[-1]).chunk(num_heads)
q, k, v = (torch.cat([x[..., p] @ w[p][:, p].T for p in parts], dim=-1) for w in (w_q, w_k, w_v))""")
mistake("hd-embedding-sliced", "You cut x into slices before projecting, and multiply a slice, d_head features wide, "
        "by a whole weight, which needs all D: an error, unless there is one head. Each head must see the whole token.",
        coding="by the whole weight", only=("a head's slice by a whole weight",), project="x, x, x",
        split="q, k, v = (split_heads(x, num_heads) @ w.T for w in (w_q, w_k, w_v))")
for coding, changes in {
    "slices of x": {"project": "n = x.size(-1) // num_heads\nq, k, v = x, x, x",
                    "split": "q, k, v = (split_heads(x, num_heads) @ w[:n, :n].T for w in (w_q, w_k, w_v))"},
    "all of x": {"project": "n = x.size(-1) // num_heads\n"
                            "q, k, v = ((x @ w[:n].T).repeat(1, 1, num_heads) for w in (w_q, w_k, w_v))"},
}.items():
    alone("hd-projection-per-head-shared", "All heads share one small projection: of each weight you use the rows of "
          "head 0 only, so heads learn nothing different.", PROJECT_FIRST, coding=coding, **changes)
mistake("bl-no-output-projection", "You return the joined heads as they are: w_o is not used.",
        "Multiply the joined heads by the output projection at the end: `joined @ w_o.T`.", mix="joined")
mistake("hd-residual-added", "You add x to the result. The residual connection belongs to the transformer block, not "
        "to the attention.", "Return the output projection alone.", mix="joined @ w_o.T + x")

# --- the heads
for coding, changes in {"": {"split": SPLIT_INTO.format("part[:, None]")},
                        "three axes": {"split": "q, k, v", "merge": "heads"}}.items():
    alone("hd-heads-ignored", "You do not split into heads: this is one attention of the whole width D.",
          "Split q, k and v with `split_heads`, and join the heads with `merge_heads`.", coding=coding, **changes)
for id, order in (("hd-split-head-first", "H B T d_head"), ("hd-split-no-transpose", "B T H d_head"),
                  *(("hd-split-wrong-axes", order) for order in SPLIT_ORDERS[:3])):
    alone(id, f"After your split the axes are ({order.replace(' ', ', ')}), so attention runs "
          "over the wrong ones.", "Split into (B, H, T, d_head): cut the last axis, then exchange axes 1 and 2 and no "
          "others.", coding=f"{order} forced into shape", forward=f"x.permute({axes_of(order)})", merge=MERGE_TO_INPUT)
alone("hd-split-no-transpose", "The heads stay behind the positions, (B, T, H, d_head): the heads of one token attend "
      "to each other, and tokens never meet.", "Exchange axes 1 and 2 after the cut, and back before you join the "
      "heads.", coding="and joined from there", forward="x", merge="heads.flatten(2)")
alone("hd-split-view", coding="batch and heads in one axis", cut=CUT_SEQUENCE, forward="x.flatten(0, 1)",
      merge="heads.reshape(x.shape)")

# --- the attention in each head, as in the lesson before
attend.include("attention", words={"d_k": "d_head"}, without=(
    # with four axes and as many keys as queries these are right, or others
    "at-one-rank-only", "at-mask-query-axis", "at-scale-wrong-axis (S)", "at-scale-wrong-axis (d_v)",
    "at-scale-wrong-axis (size(2))", "at-in-place", "at-values-are-keys (weights only)", "at-values-are-keys (queries)",
    # below, as they are here
    "at-softmax-batch-or-head", "at-softmax-overflow", "at-no-softmax", "at-detached", "at-dtype",
    "at-always-causal (whatever the mask)",
    # other right ways: with one more number, or with another answer than this function's
    "one matrix at a time"))
for axis in (0, 1):
    # where all that a softmax sees is blocked the two fills differ
    for fill, hide in (("", {}), ("a large negative number", {"hide": "scores.masked_fill(~mask, -1e9)"})):
        alone("at-softmax-batch-or-head", coding=f"dim={axis} {fill}".strip(),
              weigh=f"torch.softmax(scores, dim={axis})", **hide)
# with a mask the answers are as large as the number that was filled in, and only that could be compared
mistake("at-no-softmax", weigh="scores", only=("attention_one_token", "attention_values", "attention_one_head",
                                               "attention_sizes[width-5]"))
mistake("sm-overflow", "Your softmax exponentiates the scores as they are: exp of 89 or more overflows to inf, and "
        "inf/inf is NaN.", "Subtract each row's maximum before `exp`, or use `torch.softmax`.",
        weigh="scores.exp() / scores.exp().sum(-1, keepdim=True)")
# a query that a wrong mask leaves without any key gets NaN or even weights, as there, or 0
for id, hidden in (("at-mask-inverted", "mask"), ("at-mask-transposed", "~mask.transpose(-2, -1)")):
    mistake(id, coding="zero where nothing is left", hide=f"scores.masked_fill({hidden}, -INF)",
            weigh="torch.softmax(scores, dim=-1).nan_to_num(0.0)")
mistake("at-always-causal", coding="whatever the mask", score="(q @ k.mT).masked_fill(~causal(q.size(2)), -INF)")
AS_GIVEN = "Use the mask as it is given: it broadcasts to (B, H, T, T), with batch and heads as two axes."
for coding, widened in (("one axis", "mask.unsqueeze(1)"), ("two axes", "mask[None, None]")):
    for how, merged in (("", {}), (" forced into shape", {"merge": MERGE_TO_INPUT})):
        alone("hd-mask-unsqueezed", f"You add {coding} to the mask. With more axes it meets the wrong ones.", AS_GIVEN,
              coding=f"{coding}{how}", hide=f"scores.masked_fill(~{widened}, -INF)", **merged)
REPEATED = "mask.expand(x.size(0), -1, *scores.shape[2:])[:, 0].repeat(num_heads, 1, 1).view(scores.shape)"
for fill in ("-INF", "-1e4"):
    alone("hd-mask-repeated", "You repeat the masks head by head (`mask.repeat(H, 1, 1)`), but yours lie sequence by "
          "sequence.", AS_GIVEN, coding=fill, hide=f"scores.masked_fill(~{REPEATED}, {fill})")
mistake("hd-mask-of-first-head", "All heads get the mask of head 0.", AS_GIVEN, only=("a mask for each head",),
        hide="scores.masked_fill(~(mask[:, :1] if mask.dim() == 4 else mask), -INF)")

# --- manners
CUT_OFF = "cut off from autograd, for example by copying them into new nn.Linear layers: no gradient reaches them."
attend.common("hd", "detached", "float64", "float32")
alone("hd-detached", coding="through numpy", project="tuple(torch.from_numpy(x.numpy() @ w.numpy().T) for w in (w_q, "
      "w_k, w_v))")
alone("hd-detached", "The attention weights are cut off from autograd, so w_q and w_k get no gradient.",
      coding="the attention weights", weigh="torch.softmax(scores, -1).detach()")
for which, letters in (("w_q, w_k and w_v", "qkv"), ("All four weights", "qkvo")):
    alone("hd-detached", f"{which} are {CUT_OFF}", coding=which, **{f"take_w_{x}": f"w_{x}.detach()" for x in letters})
mistake("hd-dtype", "With a float64 input it raises an error: somewhere a tensor is float32 whatever the input's dtype "
        "is.", coding="float32 within", merge="merge_heads(heads).float()")
mistake("hd-in-place", "You turn the caller's mask round in place (`logical_not_`).", "Make a new tensor: `~mask`, "
        "`w.T`.", coding="the mask", hide="scores.masked_fill(mask.logical_not_(), -INF)")
mistake("hd-in-place", "You transpose the caller's weights in place (`t_`): the next call gets them the other way "
        "round.", coding="the weights", project="x @ w_q.t_(), x @ w_k.t_(), x @ w_v.t_()")

# --- just as right
right("F.linear", project="F.linear(x, w_q), F.linear(x, w_k), F.linear(x, w_v)", mix="F.linear(joined, w_o)")
right("heads from chunks", split=SPLIT_INTO.format("torch.stack(part.chunk(num_heads, -1), 1)"))
right("heads joined by cat", merge="torch.cat(list(heads.unbind(1)), dim=-1)")
right("contiguous and view", merge="heads.transpose(1, 2).contiguous().view(x.shape)")
right("torch's own attention", blend="F.scaled_dot_product_attention(q, k, v, attn_mask=mask)")
right("einsum throughout", split="q, k, v", score="torch.einsum('bhtd,bhsd->bhts', q, k)", merge="heads",
      project="(torch.einsum('btc,hdc->bhtd', x, w.unflatten(0, (num_heads, -1))) for w in (w_q, w_k, w_v))",
      blend="torch.einsum('bhts,bhsd->bthd', weights, v)",
      mix="torch.einsum('bthd,ohd->bto', joined, w_o.unflatten(1, (num_heads, -1)))")
right("one projection for all three", project="(x @ torch.cat([w_q, w_k, w_v]).T).unflatten(-1, (3, num_heads, -1))"
      ".permute(2, 0, 3, 1, 4)", split="q, k, v")
# batch and heads in one axis, heads first, as early implementations had it
right("heads in the batch", split=SPLIT_INTO.format("part.unflatten(-1, (num_heads, -1)).permute(2, 0, 1, 3)"
      ".flatten(0, 1)"), score="torch.bmm(q, k.mT)", blend="torch.bmm(weights, v).unflatten(0, (num_heads, -1))",
      hide="mask = mask.expand(len(x), num_heads, *scores.shape[1:])\nscores = scores.masked_fill(mask.transpose(0, "
      "1).flatten(0, 1) == 0, -INF)", merge="heads.permute(1, 2, 0, 3).contiguous().view(x.shape)")
right("a loop over heads", project="return head_by_head(x, w_q, w_k, w_v, w_o, num_heads, mask)")
# fmt: on
