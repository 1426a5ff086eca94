"""What people write in `evaluate` and `should_stop` in place of the reference's lines; and other right ways."""

import math  # noqa: F401  expressions below use it

import torch
from torch.nn import functional as F  # noqa: N812  the field's name for it
from torch.nn.functional import cross_entropy  # noqa: F401

from grader.api.checks import MistakeSet

evaluate = MistakeSet("evaluate", globals(), without=("evaluate_no_gradient",))
stop = MistakeSet("should_stop", globals())
MISTAKE_SETS = [evaluate, stop]

for losses, patience in (([2.5, 2.1, 2.3, 2.1], 2), ([2.5, 2.1, 2.3, 2.1], 3), ([2.0, 2.0], 1), ([], 1),
                         ([3.0, 2.0, 2.6, 1.9], 2), ([3.0, 1.5, 2.2, 2.0], 2), ([2.0, 3.0], 2)):  # fmt: skip
    stop.example(losses, patience)


def loss_of(model, inputs, targets):
    """The mean loss of a batch, as training has it."""
    return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())


def with_a_step(model, batches):
    """The training loop, copied: each batch is learned as well."""
    training, total, count = model.training, 0.0, 0
    model.eval()
    for inputs, targets in batches:
        n = (targets != -100).sum().item()
        model.zero_grad()
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten(), reduction="sum") / max(n, 1)
        loss.backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= 0.1 * parameter.grad
        total, count = total + loss.item() * n, count + n
    model.zero_grad()
    model.train(training)
    return total / count


def counted(losses, patience, best=float("inf")):
    """The loop of the textbooks."""
    waited = 0
    for loss in losses:
        best, waited = (loss, 0) if loss < best else (best, waited + 1)
    return waited >= patience


@evaluate.probe("what autograd records", stage="in what autograd records")
def recorded(subject, rand):
    """Whether any run of the model is recorded."""
    model = subject.make_model([["embedding", 5, 5]], {"layers.0.weight": rand(5, 5)})
    subject.events()
    subject.evaluate(model, [(rand.integers(0, 5, 2, 3), rand.integers(0, 5, 2, 3))])
    return any(event[0] == "forward" and event[3] for event in subject.events())


# fmt: off
mistake, right = evaluate.mistake, evaluate.alternative
# --- the model
mistake("ev-train-mode", "The model is not put into eval mode: dropout is on, and the loss is one of a crippled model.",
        "Call `model.eval()` first.", enter="None")
mistake("ev-train-mode", "The model is put into train mode: dropout is on.", coding="train()", enter="model.train()")
mistake("ev-mode-left", "The model stays in eval mode: if it was being trained, dropout is off from here on.",
        "Remember `model.training` before, and set it back: `model.train(was_training)`.", leave="None")
mistake("ev-mode-left", "The model is put into train mode at the end, also if it came in eval mode.", coding="train()",
        leave="model.train()")
mistake("ev-grad-recorded", "Autograd records the run: it keeps what a backward pass would need, for nothing.",
        "Run the model under `torch.no_grad()`.", forward="torch.enable_grad()(model)(inputs)")
mistake("ev-parameters-changed", "The parameters are changed: what was to be measured is trained on.",
        "Leave out `backward` and the step: only run the model.", version=with_a_step)
mistake("ev-parameters-changed", "The parameters are changed by the evaluation.", coding="otherwise", alone=True,
        leave="model.train(was_training)\nfor parameter in model.parameters():\n    parameter.data.mul_(0.9)")
mistake("ev-gradients-left", "`backward` is called: gradients are left behind, and the next training step adds its "
        "own.", "Leave out `backward`: nothing is to be learned here.", alone=True,
        leave="model.train(was_training)\nwith torch.enable_grad():\n"
              "    sum(parameter.sum() for parameter in model.parameters()).backward()")

# --- the mean
TOKENS = "Add up the losses of all tokens and their number, and divide once at the end."
MEAN = "(loss.item() / max(tokens, 1))"
mistake("ev-mean-of-means", "The batches' means are averaged: a token of a small batch counts more than one of a large "
        "batch.", TOKENS, add=f"total += {MEAN}", number="count += 1")
mistake("ev-mean-of-means", coding="of those that count", add=f"total += {MEAN}", number="count += tokens > 0")
mistake("ev-mean-by-rows", "The batches' means are weighted by their number of texts, not of tokens.", TOKENS,
        add=f"total += {MEAN} * len(inputs)", number="count += len(inputs)")
mistake("ev-ignored-counted", "Targets of −100 are counted: the sum is right, and is divided by too much.",
        "Count the targets that are not −100.", tokens="targets.numel()")
mistake("ev-ignored-scored", "Targets of −100 end in an error: for you every target is a class.",
        "Leave them out: `ignore_index=-100` is cross_entropy's own default.",
        score="cross_entropy(flat, answers, reduction='sum', ignore_index=-1)")
mistake("ev-ignored-as-class", "Targets of −100 are taken for class 0.", "Leave them out, of the sum and of the count.",
        answers="targets.flatten().clamp(min=0)")
mistake("ev-empty-batch", "A batch in which nothing counts makes the loss NaN: its mean is 0/0, and NaN · 0 is NaN.",
        "Take `reduction='sum'`, whose sum of nothing is 0.",
        score="cross_entropy(flat, answers) * (targets != -100).sum()")
mistake("ev-last-batch", "It is the loss of the last batch alone: every batch writes over the one before.", TOKENS,
        add="total = loss.item()", number="count = tokens or count")
mistake("ev-first-batch", "Only the first batch is looked at.", "Divide and return after the loop, not inside it.",
        batches="[next(iter(batches))]")
mistake("ev-drops-last", "The last batch is left out.", "Go through all batches.", batches="list(batches)[:-1]")
mistake("ev-generator-twice", "The batches are gone through twice: of a generator nothing is left the second time.",
        "Count while you add up, in one loop.",
        start="total, count = 0.0, sum((targets != -100).sum().item() for _, targets in batches)",
        number="0")
mistake("ev-perplexity-returned", "It is the perplexity, e to the loss.", "Return the mean itself.",
        mean="math.exp(total / count)")
mistake("ev-perplexity-returned", coding="in float32", mean="float(torch.tensor(total / count).exp())")
mistake("ev-sum", "It is the sum over all tokens: it grows with the text.", "Divide by the number of tokens.",
        mean="total")
mistake("ev-sum", coding="picked", mean="total",
        score="-flat.log_softmax(-1).gather(-1, answers.clamp(min=0)[:, None])[:, 0][answers != -100].sum()")
mistake("ev-bits", "It is the loss in bits.", "Take the natural logarithm, and divide by nothing.",
        mean="total / count / math.log(2)")
mistake("ev-shifted", "The targets are shifted once more: they are one place later already.",
        "Compare the scores at position t with `targets[:, t]`.", flatten="logits[:, :-1].flatten(0, 1)",
        answers="targets[:, 1:].flatten()", tokens="(targets[:, 1:] != -100).sum().item()")
mistake("ev-target-is-input", "The scores are compared with the inputs: how well does the model copy?",
        "Compare them with `targets`.", answers="inputs.where(targets != -100, targets).flatten()")
mistake("ev-softmax-first", "The scores go through softmax before cross_entropy, which does that itself.",
        "Give it the raw logits.", flatten="logits.flatten(0, 1).softmax(-1)")
mistake("ev-log-of-softmax", "The logarithm is taken of a softmax: where that is 0 the loss is infinite.",
        "Give cross_entropy the raw logits, or take `log_softmax`.",
        score="-flat.softmax(-1).log()[answers != -100].gather(-1, answers[answers != -100][:, None]).sum()")
for tiny in ("1e-5", "1e-6", "1e-7", "1e-8", "1e-9", "1e-10", "1e-12", "1e-15"):
    mistake("ev-log-of-softmax", "A tiny number is added to the probabilities before the logarithm: no loss can be "
            "larger than the logarithm of that number.", coding=f"{tiny} added", alone=True,
            flatten="logits.flatten(0, 1)[targets.flatten() != -100]", answers="targets[targets != -100]",
            score=f"-(flat.softmax(-1) + {tiny}).log().gather(-1, answers[:, None]).sum()")
mistake("ev-accuracy", "It is the share of tokens that are guessed right, and no loss.",
        "Take the cross-entropy.", score="(flat.argmax(-1) == answers).sum()")

right("inference_mode", forward="torch.inference_mode()(model)(inputs)")
right("means times counts", score="(cross_entropy(flat, answers) * tokens if tokens else torch.zeros(()))",
      answers="answers = targets.flatten()\ntokens = (targets != -100).sum().item()")
right("picked", flatten="logits.flatten(0, 1)[targets.flatten() != -100]",
      answers="targets[targets != -100]")
right("log_softmax and a mask", score="-(flat.log_softmax(-1).gather(-1, answers.clamp(min=0)[:, None])[:, 0] "
      "* (answers != -100)).sum()")
right("classes on axis 1", score="cross_entropy(logits.transpose(1, 2), targets, reduction='sum')")
right("kept in a tensor", start="total, count = torch.zeros(()), torch.zeros(())", add="total = total + loss",
      mean="(total / count).item()")
right("train or eval", leave="model.train() if was_training else model.eval()")

# --- should_stop
mistake, right = stop.mistake, stop.alternative
BEST = "Compare the best of the last `patience` losses with the best of all before them."
mistake("es-any-rise", "It stops as soon as the loss rises once, whatever the patience.", BEST,
        version="len(losses) > 1 and losses[-1] >= losses[-2]")
mistake("es-any-rise", "One loss that is not below the one before it is enough to stop, wherever it stands.", BEST,
        coding="ever", version="len(losses) > patience and any(b >= a for a, b in zip(losses, losses[1:]))")
mistake("es-last-not-best", "The last losses are compared with the one just before them, and not with the best: "
        "after a rise everything looks like progress.", BEST, best="losses[-patience - 1]")
mistake("es-rises-in-a-row", "It waits for losses that rise one after the other: a fall back to a bad value counts as "
        "progress.", BEST, verdict="all(b >= a for a, b in zip(losses[-patience - 1:], losses[-patience:]))")
mistake("es-rises-in-a-row", coding="strictly",
        verdict="all(b > a for a, b in zip(losses[-patience - 1:], losses[-patience:]))")
mistake("es-off-by-one", "It stops one evaluation too late.", "The last `patience` losses must bring nothing, not "
        "`patience` + 1.", take_patience="patience + 1")
mistake("es-off-by-one", "It stops one evaluation too early.", coding="early", short="len(losses) < 2",
        best="min(losses[:len(losses) - max(patience - 1, 1)])", recent="min(losses[-max(patience - 1, 1):])")
mistake("es-off-by-one", coding="a smaller patience", take_patience="max(1, patience - 1)")
mistake("es-off-by-one", "It stops one evaluation too early: the best itself is counted among the `patience` that "
        "brought nothing.", "Count from the best: `len(losses) - 1 - best >= patience`.", coding="the best counted",
        version="bool(losses) and len(losses) - losses.index(min(losses)) >= patience")
mistake("es-off-by-one", "It can stop at exactly `patience` losses: the first of them is counted as the best before.",
        "Return False as long as there are no more than `patience` losses.", coding="at patience losses",
        short="len(losses) < patience", best="min(losses[:-patience] or losses[:1])")
mistake("es-tie-is-progress", "A loss equal to the best counts as progress.", "Ask for strictly below: stop where "
        "recent >= best.", verdict="recent > best")
mistake("es-start-value", "The best begins at a number that you chose: losses above it are never a best.",
        "Begin with `float(\"inf\")`, or with the first loss.", version="counted(losses, patience, 10.0)")
for least in ("1e-3", "1e-4", "1e-5"):
    mistake("es-least-progress", "A new best counts only where it is lower by some least amount.",
            "Ask for strictly below, by however little.", coding=least, alone=True, verdict=f"recent > best - {least}")
mistake("es-best-of-all", "The best is looked for among all losses, the last ones too: nothing is ever below it.",
        "Take the best of the losses before the last `patience`.", best="min(losses)")
mistake("es-last-only", "Only the very last loss is asked: a new best just before it is overlooked.", BEST,
        recent="losses[-1]")
mistake("es-first-as-best", "The losses are compared with the first one.", BEST, best="losses[0]")
mistake("es-highest", "The highest loss is taken for the best.", "The lower, the better: `min`.",
        best="max(losses[:-patience])")
mistake("es-all-above", "One of the last losses above the best is enough to stop.",
        "All of them must be: compare their smallest.", recent="max(losses[-patience:])")
mistake("es-mean", "The mean of the last losses is compared with the best: one new best among them is lost.",
        "Compare their smallest.", recent="sum(losses[-patience:]) / patience")
mistake("es-not-in-a-row", "All evaluations that brought nothing are counted, also those before a new best.",
        "Begin to count anew at each new best.",
        version="sum(loss >= min(losses[:i]) for i, loss in enumerate(losses) if i) >= patience")
mistake("es-for-good", "Once so many evaluations in a row brought nothing it says True for ever, also after a new "
        "best.",
        "Look at the last `patience` losses alone.", version="any(len(losses[:end]) > patience and "
        "min(losses[:end][-patience:])"
        " >= min(losses[:end][:-patience]) for end in range(len(losses) + 1))")
mistake("es-inverted", "It says True while the loss gets better.", "True means: stop.", verdict="recent < best")
mistake("es-short-crashes", "Few losses end in an error: there is nothing before the last `patience`.",
        "Return False as long as there are no more than `patience` losses.", short="False")
mistake("es-short-stops", "With few losses it stops at once.", "Return False there.", wait="return True")

right("how long ago the best was",
      version="len(losses) > 0 and len(losses) - 1 - losses.index(min(losses)) >= patience")
right("none below", verdict="not any(loss < best for loss in losses[-patience:])")
right("all at or above", verdict="all(loss >= best for loss in losses[-patience:])")
right("through torch", version="len(losses) > patience and bool(torch.tensor(losses, dtype=torch.float64).argmin() "
      "< len(losses) - patience)")
right("split by length", best="min(losses[:len(losses) - patience])", recent="min(losses[len(losses) - patience:])")
# fmt: on


stop.alternative("counted in a loop", version=counted)
