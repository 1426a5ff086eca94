"""What people write in `cross_entropy` and `perplexity` in place of the reference's lines; and other right ways."""

import math

import torch
from torch.nn import functional as F  # noqa: F401, N812  right lines use it

from grader.api.checks import MistakeSet, is_array


def by_size(value):
    """What is seen of a perplexity: of a huge one the logarithm, which rounding leaves alone."""
    return math.log(value) if isinstance(value, float) and value > HUGE else value


HUGE = 1e4
cross_entropy = MistakeSet("cross_entropy", globals(), without=("sure_and_wrong",))
perplexity = MistakeSet("perplexity", globals(), read=by_size)
MISTAKE_SETS = [cross_entropy, perplexity]

mistake, right = cross_entropy.mistake, cross_entropy.alternative

LOGITS = torch.tensor([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
cross_entropy.example(LOGITS, torch.tensor([0, 2]))
cross_entropy.example(LOGITS, torch.tensor([0, -100]))
cross_entropy.example(LOGITS, torch.tensor([0, 1]), ignore_index=1)
cross_entropy.example(LOGITS, torch.tensor([-100, -100]))
cross_entropy.example(torch.stack([LOGITS, -LOGITS]), torch.tensor([[0, 2], [1, -100]]))
cross_entropy.example(torch.tensor([2.0, 0.0, 0.0]), torch.tensor(0), label_smoothing=0.1)
cross_entropy.example(torch.tensor([[1000.0, 1001.0]]), torch.tensor([0]))
cross_entropy.example(torch.tensor([[0.0, 200.0]]), torch.tensor([0]))


def bounded(loss):
    """What is seen of a loss of 100: bounded by a tiny number it is some tens, whatever the number is."""
    return "bounded" if is_array(loss) and loss.ndim == 0 and MILD < loss < HOPELESS else loss


MILD, HOPELESS = 2.5, 60.0
HOPES = torch.tensor([[0.0, 200.0, 3.0], [0.0, 1.0, 2.0]])
cross_entropy.ask("the right class has no chance", HOPES, torch.tensor([0, 2]), see=bounded,
                  stage="where the right class has no chance")  # fmt: skip


cross_entropy.ask("where rows are far apart", torch.tensor([[200.0, 199.0], [0.0, 1.0]]), torch.tensor([0, 1]))


def by_index(log_probs, classes):
    """The log-probability of each class, picked by indexing: an index below 0 counts from the end."""
    flat = log_probs.reshape(-1, log_probs.size(-1))
    return flat[torch.arange(len(flat)), classes.flatten()].view(*classes.shape, 1)


# fmt: off
# --- log-probabilities
mistake("ce-no-shift", "You take exp of the logits as they are: exp(1000) is inf, and its logarithm inf.",
        "Use `logsumexp`, or subtract the maximum over the classes first: it cancels.",
        total="logits.exp().sum(-1, keepdim=True).log()")
mistake("ce-global-max", "You subtract the maximum of all logits: in a row far below it every exponential is 0, whose "
        "logarithm is −∞.", "Subtract each row's own maximum, over the classes: `amax(-1, keepdim=True)`.",
        total="(logits - logits.max()).exp().sum(-1, keepdim=True).log() + logits.max()")
mistake("ce-log-of-softmax", "You take the logarithm of softmax: where a probability is too small for the dtype it is "
        "0, and the loss is inf in place of 200.",
        "Take log_softmax, or logits − logsumexp: no probability is made, so none can vanish.",
        normalise="logits.softmax(-1).log()")
mistake("ce-log-of-softmax", coding="no term of smoothing without it", normalise="logits.softmax(-1).log()",
        blend="(1 - label_smoothing) * right + (label_smoothing * spread if label_smoothing else 0.0)")
BOUNDED = ("You add a tiny number to the probabilities before the logarithm, or clamp them: no loss can be larger than "
           "the logarithm of that number, however wrong the prediction is.")
for tiny in ("1e-8", "1e-5", "1e-6", "1e-7", "1e-9", "1e-10"):  # smaller ones change no other answer
    for way, kept in (("added", f"(probs + {tiny})"), ("clamped", f"probs.clamp(min={tiny})")):
        mistake("ce-log-of-softmax", BOUNDED, "Take log_softmax, or logits − logsumexp: then nothing has to be added.",
                coding=f"{way}, {tiny}", alone=tiny != "1e-8",
                normalise=f"(lambda probs: {kept}.log())(logits.softmax(-1))")
mistake("ce-not-normalised", "You pick the logit itself: without its softmax a logit is no log-probability, and the "
        "loss falls without end as the logits grow.", "Subtract `logits.logsumexp(-1, keepdim=True)` first.",
        normalise="logits")
mistake("ce-no-log", "You pick the probability and not its logarithm: the loss is −p.",
        "Take the logarithm: −ln p[y].", normalise="logits.softmax(-1)")
for axis, where in ((0, "the first axis, the batch"), (1, "axis 1")):
    mistake("ce-classes-axis", f"You normalise over {where}: positions compete with each other, and not classes.",
            "Normalise over the last axis, where the classes are.", coding=f"dim={axis}",
            total=f"logits.logsumexp({axis}, keepdim=True)")
mistake("ce-bits", "You use the logarithm to base 2: the loss is in bits, larger by 1/ln 2 = 1.44.",
        "Use the natural logarithm: nats are what torch, and exp, count in.", result="value / math.log(2)")
mistake("ce-sign", "The sign is missing: you return the mean log-probability, which a step downhill makes worse.",
        "Put a minus in front: a loss is −ln p.", result="-value")

# --- positions that do not count
NOT_LOOKED_AT = "`ignore_index` is not looked at: positions that should not count do, "
mistake("ce-ignored-gathered", f"{NOT_LOOKED_AT}and -100 is taken for a class.",
        "Make a mask of `targets != ignore_index`, let another class stand in there, and drop its loss before the "
        "mean.", coding="gather", counted="torch.ones_like(targets, dtype=torch.bool)", classes="targets")
mistake("ce-ignored-gathered", f"{NOT_LOOKED_AT}and as an index -100 counts from the end: with V classes it silently "
        "picks class V − 100.",
        "Make a mask of `targets != ignore_index`, let another class stand in there, and drop its loss before the "
        "mean.", coding="indexing", counted="torch.ones_like(targets, dtype=torch.bool)",
        classes="targets", pick="by_index(log_probs, classes)")
mistake("ce-ignored-gathered", "Neither `ignore_index` nor `label_smoothing` is looked at: positions that should not "
        "count do, and -100 is taken for a class.",
        "Make a mask of `targets != ignore_index`, let another class stand in there, and drop its loss before the "
        "mean; then blend in the mean over all classes.", coding="gather, no smoothing",
        counted="torch.ones_like(targets, dtype=torch.bool)", classes="targets", blend="right")
mistake("ce-ignored-as-class-0", "Positions that should not count are counted as if their target were class 0.",
        "Class 0 may stand in for them, but their loss must be dropped before the mean.",
        reduce="losses.mean()")
for coding, classes in (("none left out", "targets.clamp(min=0)"),
                        ("none left out, a known class", "targets.clamp(0, logits.size(-1) - 1)")):
    mistake("ce-ignored-as-class-0", "`ignore_index` is not looked at: every position counts, and -100 is taken for "
            "class 0.", "Make a mask of `targets != ignore_index`, and drop the losses of the others before the mean.",
            coding=coding, counted="torch.ones_like(targets, dtype=torch.bool)", classes=classes)
mistake("ce-fixed-ignore-index", "You leave out -100, whatever `ignore_index` was asked for.",
        "Compare the targets with `ignore_index`.", counted="targets != -100",
        classes="targets.clamp(min=0)")
mistake("ce-fixed-ignore-index", "You leave out every target below 0, whatever `ignore_index` was asked for.",
        "Compare the targets with `ignore_index`, which may be a class.", coding="negative",
        counted="targets >= 0", classes="targets.clamp(min=0)")
mistake("ce-class-0-left-out", "Targets of class 0 are left out besides: it is a class like any other.",
        "Leave out `ignore_index` alone.", counted="(targets != ignore_index) & (targets != 0)")
mistake("ce-mean-over-all", "You set the losses of positions that do not count to 0, and then divide by the number of "
        "all positions: padding makes the loss look better.",
        "Divide the sum by the number of positions that count.", reduce="losses.where(counted, 0).mean()")
mistake("ce-mean-over-all", coding="NaN where none counts", reduce="losses.where(counted, 0).mean() / counted.any()")
mistake("ce-mean-of-means", "You take the mean of each row and then the mean of the rows: a position counts more in "
        "a row where few count.", "Take one mean over all positions that count together.",
        reduce="(losses.where(counted, 0).sum(-1) / counted.sum(-1)).mean()")
mistake("ce-sum", "You return the sum of the losses: it grows with the size of the batch, and with it the gradient.",
        "Divide by the number of positions that count.", reduce="losses[counted].sum()")
mistake("ce-per-position", "You return a loss for each position, and no mean.",
        "Take the mean over the positions that count.", alone=True, reduce="losses.where(counted, 0)")
mistake("ce-nan-when-all-ignored", "Where no position counts you return 0, which reads as a perfect prediction.",
        "Divide by the plain number of positions that count: 0/0 is NaN, and that is what torch gives, too.",
        alone=True, reduce="losses.where(counted, 0).sum() / counted.sum().clamp(min=1)")
mistake("ce-nan-when-all-ignored", "Where no position counts you return 0 (`nan_to_num`), which reads as a perfect "
        "prediction.", "Let NaN through: that is what torch gives, too.", coding="nan_to_num", alone=True,
        reduce="losses[counted].mean().nan_to_num()")

# --- smoothing
mistake("ce-smoothing-on-target-only", "With label smoothing you take ε off the target's share and give it to nobody: "
        "the loss is only scaled by 1 − ε.", "Add ε times the mean of −ln p over all V classes.",
        blend="(1 - label_smoothing) * right")
mistake("ce-smoothing-v-minus-1", "You share ε among the V − 1 other classes: that is another convention. Here each "
        "of the V classes gets ε/V, the target too.", "Share ε among all V classes: add ε · mean(−ln p).",
        blend="(1 - label_smoothing) * right + label_smoothing * (spread * logits.size(-1) - right) "
              "/ (logits.size(-1) - 1)")
mistake("ce-smoothing-ignored", "`label_smoothing` is not used.",
        "Blend: (1 − ε) times the target's loss, plus ε times the mean of −ln p over all classes.", blend="right")
mistake("ce-smoothing-added", "You add ε times the mean over all classes, but leave the target's loss whole: the "
        "shares sum to 1 + ε.", "Multiply the target's loss by 1 − ε.", blend="right + label_smoothing * spread")
mistake("ce-smoothing-swapped", "ε and 1 − ε have changed places: without smoothing the target is not looked at.",
        "The target gets 1 − ε, the mean over all classes ε.",
        blend="label_smoothing * right + (1 - label_smoothing) * spread")
mistake("ce-smoothing-sum", "You give ε to each class, where together they get ε: sum in place of mean over the "
        "classes.", "Take the mean of −ln p over the classes, or divide ε by V.", spread="-log_probs.sum(-1)")

cross_entropy.common("ce", "detached", "numpy", "float32")
mistake("ce-in-place", "You change the caller's targets (`targets[targets == ignore_index] = 0`, `masked_fill_`): the "
        "next call no longer knows what does not count.", "Make new ones: `targets.masked_fill(...)`, `torch.where`.",
        coding="targets", classes="targets.masked_fill_(~counted, 0)")
mistake("ce-in-place", "You change the caller's logits (`logits -= ...`).", "Make new ones: `logits = logits - ...`.",
        coding="logits", normalise="logits.sub_(total)")

# --- just as right
right("log_softmax", normalise="logits.log_softmax(-1)")
right("the maximum subtracted", normalise="(lambda z: z - z.exp().sum(-1, keepdim=True).log())"
      "(logits - logits.amax(-1, keepdim=True))")
right("one-hot", right="-(log_probs * F.one_hot(classes, logits.size(-1))).sum(-1)")
right("picked by index", pick="by_index(log_probs, classes)")
right("zeros, and a sum over a count", reduce="losses.where(counted, 0).sum() / counted.sum()")
right("logsumexp minus the logit", right="(total - logits.gather(-1, classes.unsqueeze(-1))).squeeze(-1)")
right("soft targets", blend="-(log_probs * ((1 - label_smoothing) * F.one_hot(classes, logits.size(-1)) "
      "+ label_smoothing / logits.size(-1))).sum(-1)")


def position_by_position(logits, targets, ignore_index=-100, label_smoothing=0.0):
    rows = logits.reshape(-1, logits.size(-1))
    found = []
    for row, target in zip(rows, targets.reshape(-1).tolist(), strict=True):
        if target != ignore_index:
            cost = row.logsumexp(0) - row
            found.append((1 - label_smoothing) * cost[target] + label_smoothing * cost.mean())
    return torch.stack(found).mean() if found else logits.sum() * float("nan")


right("position by position", version=position_by_position)

# --- perplexity
mistake, right = perplexity.mistake, perplexity.alternative
perplexity.example([1.0], [4])
perplexity.example([1.0, 3.0], [10, 10])
perplexity.example([1.0, 3.0], [30, 10])

mistake("pp-mean-of-exp", "You take the mean of the batches' perplexities: the worst batch decides.",
        "First the mean of the losses, then one exp.",
        mean="math.log(sum(math.exp(loss) for loss in losses) / len(losses))")
mistake("pp-mean-of-exp", "You take the mean of the batches' perplexities, weighed by their tokens: the worst batch "
        "decides.", "First the mean of the losses, then one exp.", coding="weighed",
        mean="math.log(sum(math.exp(loss) * count for loss, count in zip(losses, counts)) / sum(counts))")
mistake("pp-unweighted", "You take the plain mean of the batches' losses: a batch of one token counts as much as one "
        "of a thousand.", "Weigh each loss by its count, and divide by the number of all tokens.",
        mean="sum(losses) / len(losses)")
mistake("pp-divided-by-batches", "You multiply each loss by its count and then divide by the number of batches.",
        "Divide by the number of tokens: `sum(counts)`.", mean="sum(sums) / len(losses)")
mistake("pp-sums-taken", "You add up the losses and divide by the number of tokens, as if they were sums; they are "
        "means.", "Multiply each mean by its count first: that is its sum.", sums="losses")
mistake("pp-no-exp", "You return the mean loss, and not its exponential.", "Return `math.exp(mean)`.", exp="mean")
for coding, capped in (("", "math.exp(mean) if mean < 20 else math.inf"), ("20", "math.exp(min(mean, 20))"),
                       ("10", "math.exp(min(mean, 10))"), ("a million", "min(math.exp(mean), 1e6)"),
                       ("a thousand million", "min(math.exp(mean), 1e9)")):
    mistake("pp-capped", "A large perplexity is cut off: above a bound you say another number, or infinity.",
            "Return `math.exp(mean)`, whatever it is.", coding=coding, alone=True, exp=capped)
mistake("pp-base-2", "You raise 2 to the loss; the losses are in nats.", "Raise e to it: `math.exp`.", exp="2**mean")
mistake("pp-sign", "You take exp of minus the loss: that is the mean probability, 1 over the perplexity.",
        "Take exp of the loss itself.", exp="math.exp(-mean)")
mistake("pp-in-place", "You multiply in the caller's list (`losses[i] *= counts[i]`).", "Make a new list.",
        sums="for i, count in enumerate(counts):\n    losses[i] *= count\nsums = losses")

right("a product of powers", version="math.prod(math.exp(l) ** (n / sum(counts)) for l, n in zip(losses, counts))")
right("in torch", version="torch.exp((torch.tensor(losses, dtype=torch.float64) * torch.tensor(counts)).sum() "
      "/ sum(counts)).item()")
right("every token by itself", version="math.exp(sum([l for l, n in zip(losses, counts) for _ in range(n)]) "
      "/ sum(counts))")
right("shares of the tokens", mean="sum(loss * (count / sum(counts)) for loss, count in zip(losses, counts))")
# fmt: on
