"""What people write in `residual_stream` in place of the reference's lines; and other right ways to write it."""

from itertools import accumulate, pairwise  # noqa: F401  lines below use it

import torch  # noqa: F401  lines below use it

from grader.api.checks import MistakeSet

stream = MistakeSet("residual_stream", globals())
mistake, right = stream.mistake, stream.alternative
MISTAKE_SETS = [stream]


def step(norm_first):
    """One branch and its norm, as a function for `accumulate`."""
    if norm_first:
        return lambda here, pair: here + pair[0](pair[1](here))
    return lambda here, pair: pair[1](here + pair[0](here))


def recursive(x, branches, norms, norm_first=True):
    if len(branches) == 0:
        return [x]
    after = x + branches[0](norms[0](x)) if norm_first else norms[0](x + branches[0](x))
    return [x, *recursive(after, branches[1:], norms[1:], norm_first)]


# fmt: off
# --- the sum
mistake("bl-no-residual", "A branch replaces the stream: nothing of what was there is carried on.",
        "Add: the stream plus what the branch gives.", pre_sum="branch(read)", post_sum="branch(here)")
for order, changes in (("pre-LN", {"pre_sum": "branch(read)"}), ("post-LN", {"post_sum": "branch(here)"})):
    mistake("bl-no-residual", f"In {order} a branch replaces the stream: nothing of what was there is carried on.",
            "Add: the stream plus what the branch gives.", coding=order, **changes)
mistake("bl-residual-from-norm", "In pre-LN what the branch gives is added to the normalised copy: the stream itself "
        "is "
        "lost.", "Norm a copy for the branch, and add to the stream: `x + branch(norm(x))`.",
        pre_sum="read + branch(read)")
mistake("rs-adds-input", "Every branch is added to the first input: what earlier branches wrote is lost from the sum.",
        "Add to what the last branch left.", pre_sum="x + branch(read)", post_sum="x + branch(here)")
mistake("rs-reads-input", "Every branch reads the first input: none hears what those before it wrote.",
        "Read what the last branch left.", pre_norm="norm(x)", post_sum="here + branch(x)")
mistake("rs-scaled", "The sum is divided by √2.", "Write a plain sum, without a factor.",
        pre_sum="(here + branch(read)) / 2**0.5", post_sum="(here + branch(here)) / 2**0.5")
mistake("rs-scaled", "What each branch gives is divided by the number of branches.",
        "Write a plain sum, without a factor.", coding="by their number",
        pre_sum="here + branch(read) / len(branches)", post_sum="here + branch(here) / len(branches)")
mistake("rs-scaled", "Half of what each branch gives is added.", "Write a plain sum, without a factor.", coding="half",
        pre_sum="here + 0.5 * branch(read)", post_sum="here + 0.5 * branch(here)")
mistake("rs-subtracted", "What a branch gives is taken off.", "Add it.", pre_sum="here - branch(read)",
        post_sum="here - branch(here)")
mistake("rs-doubled", "The stream is added twice: it doubles with each branch.", "Add it once: here + branch(...).",
        pre_sum="here + here + branch(read)", post_sum="here + here + branch(here)")
mistake("rs-doubled", "What a branch gives is added twice.", "Add it once: here + branch(...).", coding="the branch",
        pre_sum="here + 2 * branch(read)", post_sum="here + 2 * branch(here)")

# --- the norm
mistake("bl-other-placement", "`norm_first` is taken the wrong way round.", "True is pre-LN, False is post-LN.",
        order="not norm_first")
mistake("bl-other-placement", "It is always pre-LN: `norm_first` is not used.", "Where it is False, norm the sum.",
        coding="always pre", order="True")
mistake("bl-other-placement", "It is always post-LN: `norm_first` is not used.", "Where it is True, norm what a branch "
        "reads.", coding="always post", order="False")
mistake("rs-norm-twice", "In pre-LN the sum is normed as well: every norm is used twice.", "Norm what the branch "
        "reads, "
        "and leave the sum as it is.", pre_sum="norm(here + branch(read))")
mistake("rs-norm-twice", "In post-LN what the branch reads is normed as well.", "Norm the sum alone.",
        coding="post-LN", post_sum="here + branch(norm(here))")
mistake("rs-final-norm", "In pre-LN the end of the stream is normed once more: that norm belongs to the model.",
        "Leave the last sum as it is.",
        give="[*stream[:-1], norms[-1](stream[-1])] if norm_first and len(norms) else stream")
mistake("bl-missing-norm", "In pre-LN a branch reads the stream without its norm.", "Norm what it reads.",
        coding="pre", pre_norm="here")
mistake("bl-missing-norm", "In post-LN the sum is not normed.", "Norm it: `norm(x + branch(x))`.", coding="post",
        post_norm="total")
mistake("bl-missing-norm", "The norms are not used.", "Norm what a branch reads (pre-LN) or the sum (post-LN).",
        coding="both", pre_norm="here", post_norm="total")
mistake("bl-norm-on-branch-output", "What a branch gives is normed, and then added.", "Norm what it reads (pre-LN) or "
        "the whole sum (post-LN).", alone=True, pre_sum="here + norm(branch(here))",
        post_sum="here + norm(branch(here))", post_norm="total")
mistake("bl-norm-on-branch-output", "In post-LN what a branch gives is normed, and then added.", "Norm the whole sum: "
        "`norm(x + branch(x))`.", alone=True, coding="post-LN", post_sum="here + norm(branch(here))", post_norm="total")
mistake("rs-norm-on-stream", "In pre-LN the stream is normed, and the branch reads it as it is: norm(x) + f(x).",
        "Norm a copy for the branch, and add to the stream: `x + branch(norm(x))`.", alone=True,
        pre_sum="read + branch(here)")
mistake("bl-shared-norm", "The first norm is used for all branches.", "Take the norms in turn: `zip(branches, norms)`.",
        loop="[(branch, norms[0]) for branch in branches]")
mistake("rs-one-branch", "The first branch is called again and again.", "Take the branches in turn: `zip(branches, "
        "norms)`.", loop="[(branches[0], norm) for norm in norms]")
mistake("rs-reversed", "The branches are called from the last to the first.", "Call them in their order.",
        loop="list(zip(branches, norms, strict=True))[::-1]")
mistake("rs-reversed", "The norms are taken from the last to the first.", "Take them in their order.", coding="norms",
        loop="zip(branches, norms[::-1], strict=True)")

# --- the list
mistake("rs-first-missing", "The list begins with the stream after the first branch: x_0 is missing.",
        "Begin with `stream = [x]`.", result="value[1:]")
mistake("rs-last-missing", "The stream after the last branch is missing.", "Append after each branch, the last one "
        "too.",
        result="value[:-1]")
mistake("rs-last-only", "Only the end of the stream is returned.", "Return the list of all n + 1.", result="value[-1]")
mistake("rs-differences", "The list holds what each branch wrote, and not the stream.", "Append the sums.",
        result="[value[0], *(b - a for a, b in pairwise(value))]")
mistake("rs-backwards", "The list begins with the end of the stream.", "Begin with x.", result="value[::-1]")
mistake("rs-concatenated", "The tensors are joined into one, along the features.", "Return a list of tensors.",
        result="torch.cat(value, dim=-1)")
mistake("rs-concatenated", "The tensors are stacked into one.", "Return a list of tensors.", coding="stacked",
        result="torch.stack(value)")
mistake("rs-shared-list", "One tensor is changed in place and put into the list again and again: all entries are equal "
        "in the end.", "Make a new tensor for each sum.", start="x = x.clone()\nstream = [x]",
        pre_sum="here.add_(branch(read))", post_sum="here.add_(branch(here))", post_norm="here.copy_(norm(total))")
mistake("rs-shared-list", "One tensor is changed in place, in pre-LN: all entries are equal in the end.",
        "Make a new tensor for each sum.", coding="pre-LN", start="x = x.clone()\nstream = [x]",
        pre_sum="here.add_(branch(read))")
mistake("bl-in-place", "You change the caller's tensor (`x += ...`), and with it every entry of the list.",
        "Make a new tensor for each sum: `x = x + ...`.", pre_sum="here.add_(branch(read))",
        post_sum="here.add_(branch(here))")
mistake("rs-detached", "The entries are cut off from autograd.", "Append them as they are: take out `.detach()`.",
        result="[each.detach() for each in value]")
mistake("rs-detached", "The stream is cut off from autograd between the branches: only the last one learns.",
        "Take out `.detach()`.", coding="between", here="stream[-1].detach()")

# --- just as right
right("by number", loop="[(branches[i], norms[i]) for i in range(len(branches))]")
right("accumulate", version="list(accumulate(zip(branches, norms, strict=True), step(norm_first), initial=x))")
right("unbind", result="list(torch.stack(value).unbind(0))")
right("recursion", version=recursive)
right("torch.add", pre_sum="torch.add(branch(read), here)", post_sum="torch.add(branch(here), here)")
right("copies", start="[x.clone()]", keep="stream.append(out.clone())")
# fmt: on
