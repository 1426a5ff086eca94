"""What people write in `train_step` and `train` in place of the reference's lines; and other right ways to write them.

Right training code need not call the optimizer's `zero_grad` (`model.zero_grad`, `p.grad = None`, `torch.autograd.grad`
and a closure are right too), so nothing here asks which method was called. A mistake shows in the losses, in the final
parameters, and in the story of the gradients: what they were when the optimizer stepped, and what became of them.
"""

from contextlib import suppress

import torch
from torch.nn import functional as F  # noqa: N812  the field's name for it

from grader.api.checks import LearnerError, MistakeSet, same

V, D = 7, 4  # vocabulary and width; batches are (3, 5): all sizes differ


def without_gradients(seen):
    """What is left of a state: right code may clear the gradients after a step, or before the next."""
    if not isinstance(seen, dict) or "grads" not in seen:
        return seen
    # lists: what the engine finds regular in the rows and columns of a parameter helps nobody here
    parts = {name: part.tolist() if max(part.shape, default=0) < 1000 else None for name, part in seen["state"].items()}
    return {"parameters": parts, "mode": seen["training"]}


# Questions below ask what other checks do, so that a rare fault hides no other.
# Inputs and targets of one text only: then whoever makes the targets of the inputs can be told what is wrong with them.
train_step = MistakeSet("train_step", globals(), read=without_gradients, checks=(
    "step_parameters", "step_sizes[single position]", "step_sizes[single row]", "step_sizes[T is V]", "step_after_step",
    "step_adamw", "step_train_mode", "step_large_gradient", "step_float64"), tolerances={"step_large_gradient": 1e-3},
)  # fmt: skip
train = MistakeSet("train", globals(), read=without_gradients, checks=(
    "train_losses", "train_parameters", "train_in_order", "train_to_the_end", "train_ragged[adamw]", "train_twice",
    "train_generator", "train_mode", "train_large_gradient"),
    tolerances={"train_large_gradient": 1e-3, "train_to_the_end": 1e-3})  # fmt: skip
MISTAKE_SETS = [train_step, train]


def mistake(id, says=None, suggests=None, **changes):
    """Register a wrong line of `train_step` for both functions: it is the same mistake in `train`, which calls it."""
    for mistake_set in MISTAKE_SETS:
        mistake_set.mistake(id, says, suggests, **changes)


def alone(*args, **changes):
    mistake(*args, alone=True, **changes)


# --- what a probe sees ------------------------------------------------------------------------------------------------

WITHOUT = "parameters moved without the optimizer"


def a_batch(rand, rows=3, length=5):
    """Tokens and the tokens that follow them."""
    tokens = rand.integers(0, V, rows, length + 1)
    return tokens[:, :-1], tokens[:, 1:]


def weights(rand):
    """Parameters of an embedding and of a linear head."""
    return {"layers.0.weight": rand(V, D), "layers.1.weight": rand(V, D), "layers.1.bias": rand(V)}


def likely(score):
    """Biases that give token 0 this much more than the others."""
    return {"layers.1.bias": torch.tensor([score] + [0.0] * (V - 1))}


def repeated(token):
    """A batch in which the same token always follows."""
    return torch.zeros(2, 3, dtype=torch.int64), torch.full((2, 3), token)


def steep(rand):
    """All scores are 0, and the gradient of a single position has a norm of nearly 200."""
    return likely(0.0) | {"layers.0.weight": torch.full((V, D), 100.0), "layers.1.weight": torch.zeros(V, D)}


def prepared(subject, function, state, lr=0.5, by="__call__"):
    """What trains a model on some batches: it gives a list of losses, by either function. And the model."""
    model = subject.make_model([["embedding", V, D], ["linear", D, V]], state)
    made = subject.make_optimizer(model, "sgd", lr=lr)
    asked = getattr(getattr(subject, function), by)
    if function == "train":
        return model, lambda batches: asked(model, made, batches)
    return model, lambda batches: [asked(model, made, *batch) for batch in batches]


def story(subject, function, rand):
    """What becomes of the gradients, in words; right code of any style tells "a step" once for each batch."""
    start, told, fresh = weights(rand), [], False
    model, act = prepared(subject, function, start)
    subject.events()  # forget what was before
    with suppress(LearnerError):
        act([a_batch(rand), a_batch(rand)])
    events, moved = subject.events(), not same(model.state()["state"], start, 0.0)
    for event in events:
        if event[0] == "backward":
            fresh = True
        elif event[0] == "step":
            found = any(gradient is not None and bool(gradient.any()) for gradient in event[1].values())
            new = "a step" if found else "a step after its gradient was erased"
            told.append(new if fresh else "a step on an old gradient" if found else "a step without a gradient")
            fresh = False
    told += ["a gradient that no step used"] if fresh else []
    told += [WITHOUT] if moved and not any(event[0] == "step" for event in events) else []
    forwards = [event for event in events if event[0] == "forward"]
    return told + (["a model run without autograd"] if forwards and not any(event[3] for event in forwards) else [])


# --- questions besides those of the checks ----------------------------------------------------------------------------


def losses(subject, function, rand, own, by="__call__"):
    """The losses on one batch, where some parameters are our own."""
    return prepared(subject, function, weights(rand) | own, by=by)[1]([a_batch(rand)])


@train_step.probe("tokens ever less likely")
def _(subject, rand):
    """The loss of a likely token, and whether the loss levels off while a token becomes ever less likely."""
    tokens, found = torch.zeros(3, 5, dtype=torch.int64), []
    for score in (1.0, -40.0, -60.0):
        state = {name: 0.0 * part for name, part in weights(rand).items()} | likely(score)
        found += prepared(subject, "train_step", state)[1]([(tokens, tokens)])
    return {"likely": found[0], "levels off": bool(found[2] - found[1] < 1.0)}


# --- probes that say in words what was done, whatever number somebody chose for it ------------------------------------


def cross_entropies(state, inputs, targets):
    """Minus the log-probabilities of all tokens at each position, (B·T, V), and those of the targets, (B·T,)."""
    logits = state["layers.0.weight"][inputs.flatten()] @ state["layers.1.weight"].T + state["layers.1.bias"]
    each = -logits.log_softmax(-1)
    return each, each.gather(-1, targets.flatten().unsqueeze(-1)).squeeze(-1)


def what_the_loss_is(subject, function, rand):
    """In words what is added to the loss or left out, by two batches and two sets of weights."""
    facts = []
    for _ in range(2):
        state, (inputs, _) = weights(rand), a_batch(rand, 2, V)
        targets = torch.stack([torch.randperm(V, generator=torch.Generator().manual_seed(k)) for k in (1, 2)])
        each, right = cross_entropies(state, inputs, targets)
        more = prepared(subject, function, state)[1]([(inputs, targets)])[0] - right.mean().item()
        kept = {token: right[targets.flatten() != token].mean() - right.mean() for token in range(V)}
        squares = sum(part.square().sum().item() for part in state.values())
        ratios = more / squares, more / (each.mean() - right.mean()).item()
        facts.append((more, {token for token in kept if abs(kept[token] - more) < 1e-5}, ratios))
    (more, left_out, ratios), (more2, left_out2, ratios2) = facts
    if max(abs(more), abs(more2)) < 1e-5:
        return "cross-entropy"
    if left_out & left_out2:
        return "without a token"
    squared, smoothed = (one > 0 and abs(one - two) < 0.02 * one for one, two in zip(ratios, ratios2, strict=True))
    return "with squares" if squared else "smoothed" if smoothed else "something else"


def how_gradients_move(subject, function, rand):
    """Whether a large gradient moves the parameters as a small one does: "alike", "less" or "otherwise"."""
    shares = []
    for state, batch in ((weights(rand), a_batch(rand)), (steep(rand), a_batch(rand, 1, 1))):
        leaves = {name: part.clone().requires_grad_() for name, part in state.items()}
        cross_entropies(leaves, *batch)[1].mean().backward()
        right = torch.cat([-0.5 * leaf.grad.flatten() for leaf in leaves.values()])
        model, act = prepared(subject, function, state)
        act([batch])
        after = model.state()["state"]
        moved = torch.cat([(after[name] - part).flatten() for name, part in state.items()])
        share = (moved @ right / (right @ right)).item()
        if not same(moved, share * right, 1e-3):
            return "otherwise"
        shares.append(share)
    small, large = shares
    return "alike" if abs(large - small) < 0.01 * abs(small) else "less" if 0 < large < small < 1.01 else "otherwise"


FAR_APART = {"layers.1.bias": torch.linspace(-100.0, 100.0, V)}
for each in MISTAKE_SETS:
    for name, ask, aside in (
        ("what becomes of the gradients", story, False),
        ("who moves the parameters", lambda *given: WITHOUT in story(*given), False),
        ("what the loss is", what_the_loss_is, False),
        ("how gradients move", how_gradients_move, False),
        ("scores 200 apart", lambda *given: -1e-3 < losses(*given, FAR_APART)[0] < 1e4, True),
        ("slices", lambda *given: losses(*given, {}, by="on_slices"), True),
    ):
        each.probe(name, aside=aside)(lambda subject, rand, ask=ask, name=each.function: ask(subject, name, rand))


@train.probe("whether the loss ends it")
def _(subject, rand):
    """Whether all batches are taken while the loss is tiny, and when it rises."""
    _, act = prepared(subject, "train", weights(rand) | likely(20.0))
    return len(act([repeated(token) for token in (0, 0, 1, 0, 1)])) == 5


@train.probe("how the batches are used")
def _(subject, rand):
    """In which order the losses come, and how many steps there are, while nothing moves."""
    state, batches = weights(rand), [a_batch(rand, 2, 3) for _ in range(6)]
    _, act = prepared(subject, "train", state, lr=0.0)
    subject.events()
    losses = act(batches)
    rights = [cross_entropies(state, *batch)[1].mean().item() for batch in batches]
    events = [event[0] for event in subject.events() if event[0] in ("forward", "step")]
    steps, listed, six = events.count("step"), losses if isinstance(losses, list) else [], list(range(6))
    found = [next((i for i in six if same(loss, rights[i], 1e-3)), None) for loss in listed]
    another = "in another order" if len(found) == 6 else "more than once"
    order = "in order" if found == six else another if set(found) == set(six) else "otherwise"
    after_all = steps == 1 and events[-1] == "step" and events.count("forward") == len(batches)
    how = "after the last" if after_all else "some" if 0 < steps < 6 else f"{min(steps, 7)}"
    return {"order": order, "steps": how}


# --- what expressions below use ---------------------------------------------------------------------------------------


def renew(model, optimizer):
    known = ("lr", "betas", "eps", "weight_decay")
    options = {key: value for key, value in optimizer.defaults.items() if key in known}
    return type(optimizer)(model.parameters(), **options)


def picked(log_p, answers):
    return -log_p.gather(-1, answers.unsqueeze(-1)).mean()


def one_hot(flat, answers):
    return F.one_hot(answers, flat.size(-1)).to(flat.dtype)


# fmt: off
# --- clear, backward, step
mistake("tr-no-zero-grad", "Gradients pile up: `backward` adds to `.grad`, and nothing clears it.",
        "Call `optimizer.zero_grad()` once per step, before `backward` or after `step`.", clear="pass")
mistake("tr-zero-before-step", "The gradients are cleared between `backward` and `step`: no parameter ever moves.",
        "Move `zero_grad` to before `backward` or to after `step`.", pull="loss.backward()\noptimizer.zero_grad()")
mistake("tr-no-step", "You never call `optimizer.step()`.", "Call `optimizer.step()` after `backward`.", move="pass")
mistake("tr-step-before-backward", "The optimizer steps before `backward` has run: it finds no gradient, and the one "
        "computed afterwards is cleared before the next step.", "Exchange the two: first `loss.backward()`, then "
        "`optimizer.step()`.", coding="clear, step, backward", pull="optimizer.step()", move="loss.backward()")
alone("tr-step-before-backward", "The optimizer steps between the forward pass and `backward`. From the second batch "
      "on this changes the parameters that `backward` still needs, and torch raises an error.",
      coding="step, clear, backward", clear="optimizer.step()", pull="optimizer.zero_grad()", move="loss.backward()")
alone("tr-step-before-backward", "The step comes first, with the gradient of the batch before.", coding="step first of "
      "all", enter="optimizer.step()\noptimizer.zero_grad()\nmodel.train()", clear="pass", move="pass")
mistake("tr-step-twice", "The optimizer steps twice on one gradient: the parameters go too far, and AdamW counts the "
        "batch twice.", "Keep one `optimizer.step()` for each `backward`.", move="optimizer.step()\noptimizer.step()")
mistake("tr-grad-blocked", "The optimizer steps, but no gradient ever reaches the parameters: `loss.backward()` is "
        "missing, or the loss was made into a new tensor (`torch.tensor(...)`, `.detach()`, `requires_grad_()`).",
        "Call `backward` on the loss exactly as it came out of the model's logits.", pull="pass")
alone("tr-grad-blocked", "`backward` finds nothing to follow: on the way from the parameters to the loss something "
      "cuts the graph, such as `argmax`, `.detach()`, `.data`, `.item()`, numpy or `torch.tensor(...)`.", "Stay with "
      "tensor operations from `model(inputs)` to the loss.", coding="backward raises", forward="model(inputs).detach()")
NO_GRAD = "with torch.no_grad():\n    logits = model(inputs)"
alone("tr-grad-blocked", "The model runs under `torch.no_grad()`, so `backward` has nothing to follow.",
      "Take `model(inputs)` out of `torch.no_grad()`; that is for evaluation.", coding="no_grad", forward=NO_GRAD)
alone("tr-grad-blocked", "The model runs under `torch.no_grad()`, so nothing is recorded; setting `requires_grad` on "
      "the loss does not connect it with the parameters, and nothing moves.", coding="no_grad, and requires_grad set",
      forward=NO_GRAD, score="F.cross_entropy(flat, answers).requires_grad_()")
mistake("tr-ascent", "Your loss has the wrong sign, so every step climbs.", "Take out the minus: cross-entropy is "
        "already the negative log-probability.", pull="loss = -loss\nloss.backward()")
alone("tr-ascent", "The loss is right, but its gradient has the wrong sign, so every step makes the loss larger.",
      "Call `backward` on the loss itself, not on its negative.", coding="only the gradient", pull="(-loss).backward()")
AS_IT_IS = "Take out `clip_grad_norm_` (or `clip_grad_value_`): it was not asked for."
LESS = "large gradients move the parameters too little."
for coding, says, clip, number in (
    *((f"to {norm}" if norm > 1 else "", f"to norm {norm}: {LESS}", "norm", norm) for norm in (1, 5, 10)),
    ("to some norm", f"which was not asked for: {LESS}", "norm", 2.0),
    ("to a small norm", "to a small norm: all of them move the parameters too little.", "norm", 0.25),
    *((f"by value {value:g}", f"each to ±{value:g}: another direction.", "value", value) for value in (0.5, 1, 5)),
):
    only = ("how gradients move", "who moves the parameters") if coding == "to some norm" else ()
    mistake("tr-clipped", f"You clip the gradients, {says}", AS_IT_IS, coding=coding, only=only, alone=bool(coding),
            pull=f"loss.backward()\ntorch.nn.utils.clip_grad_{clip}_(model.parameters(), {number})")

# --- the optimizer
FORGETS = ("The parameters move, but not by the optimizer that you were given: a new one (or an update by hand) does "
           "it, and it knows nothing of the running means that AdamW gathers from step to step.")
USE_IT = "Make no optimizer: call `optimizer.step()` on the one that is passed in."
mistake("tr-optimizer-recreated", FORGETS, USE_IT, coding="in each step", move="renew(model, optimizer).step()")
train.mistake("tr-optimizer-recreated", coding="in each call", take_optimizer="renew(model, optimizer)")
mistake("tr-optimizer-recreated", coding="of another kind", only=("who moves the parameters",),
        move="torch.optim.AdamW(model.parameters(), lr=1e-2).step()")

# --- which token is the answer
SHIFTED = "Compare the scores at position t with `targets[:, t]`: the targets are already one step later."
ALL_T = "Take out the slices: all T logits go with all T targets."
LAST_TOO = "Use `targets`: they hold the true next token for the last position too."
FROM_SECOND, UP_TO_LAST = "logits[:, 1:].flatten(0, 1)", "logits[:, :-1].flatten(0, 1)"
mistake("tr-target-is-input", "The model is asked to repeat its input: the loss compares each position with the token "
        "it has just read.", "Compare the logits with `targets`, not with `inputs`.", answers="inputs.flatten()")
mistake("tr-target-previous", "The shift goes the wrong way: the scores at position t are compared with the target of "
        "position t − 1, which is the token that the model has just read.", SHIFTED,
        coding="targets of the position before", flatten=FROM_SECOND, answers="targets[:, :-1].flatten()")
alone("tr-target-previous", "The shift goes the wrong way: the model is asked for the token before the one it has just "
      "read.", coding="inputs of the position before", flatten=FROM_SECOND, answers="inputs[:, :-1].flatten()")
alone("tr-target-previous", "The targets are rolled the wrong way: position t gets the target of position t − 1, and "
      "the first position gets the last one's.", coding="targets rolled", answers="targets.roll(1, dims=1).flatten()")
alone("tr-target-previous", "The inputs are rolled the wrong way to make targets: position t is asked for the token "
      "before its own.", coding="inputs rolled", answers="inputs.roll(1, dims=1).flatten()")
mistake("tr-double-shift", "The targets are shifted twice: they come already one step later, and you shift again, so "
        "the model learns to predict two tokens ahead.", ALL_T, flatten=UP_TO_LAST, answers="targets[:, 1:].flatten()")
alone("tr-double-shift", "The targets are shifted twice: they come already one step later, and you roll them by one "
      "more. The model learns to predict two tokens ahead, and at the end of a row the row's first target.", "Use "
      "`targets` as they come.", coding="rolled", answers="targets.roll(-1, dims=1).flatten()")
mistake("tr-roll-across-batch", "You make the targets by rolling the flattened inputs, so the last position of each "
        "row is asked for the first token of another sequence.", LAST_TOO, answers="inputs.flatten().roll(-1)")
alone("tr-roll-across-batch", "`roll` without `dims` rolls the flattened tensor: the targets are shifted twice, and a "
      "row's last position gets a token of another sequence.", coding="targets", answers="targets.roll(-1).flatten()")
alone("tr-roll-within-row", "You make the targets by rolling each row of the inputs, so its last position is asked for "
      "the row's own first token.", LAST_TOO, answers="inputs.roll(-1, dims=1).flatten()")
alone("tr-last-position-dropped", "The last position of each row is left out of the loss (a slice such as `logits[:, "
      ":-1]`), though `targets` holds its answer too.", ALL_T, flatten=UP_TO_LAST, answers="targets[:, :-1].flatten()")
mistake("tr-last-token-only", "The loss looks at the last position only, so T − 1 of the T answers in each row teach "
        "the model nothing.", "Use all positions: no `[:, -1]`.", flatten="logits[:, -1]", answers="targets[:, -1]")

# --- the loss
FLATTEN = "Flatten both, `logits.flatten(0, 1)` and `targets.flatten()`, or use `logits.transpose(1, 2)`."
mistake("tr-bad-reshape", "`view` (or `reshape`) to (B, V, T) does not swap axes, it cuts the same numbers anew: the "
        "shape fits, but each position gets scores that belong to others.", FLATTEN,
        flatten="logits.reshape(logits.size(0), logits.size(2), logits.size(1))", answers="targets")
for one, other, changes in (("logits", "targets", {"flatten": "logits.transpose(0, 1).flatten(0, 1)"}),
                            ("targets", "logits", {"answers": "targets.T.flatten()"})):
    alone("tr-bad-reshape", f"The {one} are flattened position by position and the {other} row by row, so scores and "
          "answers no longer belong together.", coding=f"batch and time swapped in the {one}", **changes)
alone("tr-bad-reshape", "The logits are transposed to (B, V, T) and then flattened to rows of V numbers: a row no "
      "longer holds the scores of one position.", coding="vocabulary and time swapped",
      flatten="logits.transpose(1, 2).reshape(-1, logits.size(-1))")
alone("tr-bad-reshape", "`cross_entropy` wants the classes on axis 1, but axis 1 of the logits (B, T, V) is time: an "
      "error on most shapes, silently wrong where T = V.", coding="not reshaped", flatten="logits", answers="targets")
LOG_FIRST = "Use `cross_entropy` on the raw logits, or `nll_loss` on `log_softmax`."
mistake("tr-softmax-before-ce", "`cross_entropy` gets probabilities instead of raw logits: softmax is taken twice, so "
        "even a perfect answer costs ln(1 + (V − 1)/e).", LOG_FIRST, forward="model(inputs).softmax(-1)")
alone("tr-softmax-before-ce", "`nll_loss` gets probabilities, but it wants their logarithms: the loss lies between −1 "
      "and 0.", coding="nll_loss", score="F.nll_loss(flat.softmax(-1), answers)")
alone("tr-softmax-axis", "Your softmax runs over the positions: it has to run over the V scores of each.",
      "Use dim=-1, the classes.", score="picked(logits.log_softmax(1).flatten(0, 1), answers)")
alone("tr-softmax-axis", coding="of the batch", score="picked(flat.log_softmax(0), answers)")
alone("tr-no-log-softmax", "`nll_loss` gets raw logits, but it wants log-probabilities: nothing holds the other scores "
      "down, so the loss falls without end.", LOG_FIRST, score="F.nll_loss(flat, answers)")
MEAN = "Take the mean over all B·T positions, once: it is what `cross_entropy` does by itself."
TOTAL = "F.cross_entropy(flat, answers, reduction='sum')"
mistake("tr-reduction-sum", "Your loss is the sum over all positions, B·T times the mean.", MEAN, score=TOTAL)
alone("tr-reduction-sum", "Your loss is summed over each row's positions and averaged over the rows only: T times the "
      "mean.", coding="over a row", score=f"{TOTAL} / targets.size(0)")
alone("tr-reduction-sum", "Your loss is averaged over the positions of a row, but summed over the rows: B times the "
      "mean.", coding="over the batch", score=f"{TOTAL} / targets.size(1)")
alone("tr-reduction-sum", "Your loss is 1/V of what it should be: the mean runs over the V entries of a position, too.",
      coding="mean over the vocabulary too", score="F.cross_entropy(flat, answers) / flat.size(-1)")
alone("tr-reduction-sum", "The loss is right, but its gradient is T times too large: divided by the rows alone.",
      coding="the gradient", pull="(loss * targets.size(1)).backward()")
mistake("tr-reduction-none", 'Your loss holds one number for each position (`reduction="none"`), and `backward` needs '
        "a single one.", MEAN, alone=True, score="F.cross_entropy(flat, answers, reduction='none')")
mistake("tr-loss-as-mse", "The loss is the squared distance of the logits from a one-hot vector: tokens are no numbers "
        "to hit.", "Use cross-entropy.", score="F.mse_loss(flat, one_hot(flat, answers))")
alone("tr-loss-as-mse", "The loss is the squared distance of the probabilities from a one-hot vector: it hardly "
      "punishes a confident wrong answer, and its gradient vanishes there.", coding="of probabilities",
      score="F.mse_loss(flat.softmax(-1), one_hot(flat, answers))")
for coding, what, score in (
    ("", "compares the chosen token's number (`argmax`) with the target's", "(flat.argmax(-1) - answers).square()"),
    ("the share of errors", "is the share of wrong choices (`argmax`)", "(flat.argmax(-1) != answers)"),
):
    mistake("tr-loss-as-argmax", f"The loss {what}. It has no gradient (setting `requires_grad` connects it with no "
            "parameter): nothing moves.", "Leave out `argmax`: use cross-entropy of the logits.", coding=coding,
            alone=bool(coding), score=f"{score}.to(flat.dtype).mean().requires_grad_()")
train_step.mistake("tr-log-epsilon", "A small constant inside the logarithm, log(p + ε), hides how unlikely a token "
                   "was: the loss levels off at −ln ε, and beyond it the gradient vanishes.", LOG_FIRST,
                   only=("tokens ever less likely",), score="picked((flat.softmax(-1) + 1e-9).log(), answers)")
train_step.mistake("tr-log-of-softmax", "You take the logarithm of a softmax (or of exp / sum): where scores lie a "
                   "hundred apart it is log(0) or NaN.", LOG_FIRST, only=("scores 200 apart",),
                   score="picked(flat.softmax(-1).log(), answers)")
PLAIN, CROSS = "Use plain `cross_entropy(flat, answers)`.", "F.cross_entropy(flat, answers{})"
for id, says, suggests, score in (
    ("tr-label-smoothing", "Your loss has label smoothing: a share of each answer goes to all other tokens.", PLAIN,
     CROSS.format(", label_smoothing=0.1")),
    ("tr-ignore-index", "One token is left out of your loss (`ignore_index`, or a selection of positions), as if it "
     "were padding; here every token counts.", PLAIN, CROSS.format(", ignore_index=0")),
    ("tr-l2-in-loss", "The squares of the parameters are added to your loss, so it is no longer the loss that was "
     "asked for.", "Leave weight decay to the optimizer.",
     CROSS.format("") + " + 1e-3 * sum(p.square().sum() for p in model.parameters())"),
):
    mistake(id, says, suggests, only=("what the loss is",), score=score)
mistake("tr-view", "It works only on tensors without gaps in their memory: `view` cannot join the axes of `ids[:, "
        ":-1]`.", "Use `reshape(-1)` or `flatten()`.", only=("slices",), answers="targets.view(-1)")

# --- the mode
NEVER = "You never call `model.train()`: a model that arrives in eval mode is trained with its dropout off."
IN_TRAIN_MODE = "Call `model.train()` before the forward pass."
LATE = {"enter": "pass", "score": f"loss = {CROSS.format('')}\nmodel.train()"}
train_step.mistake("tr-eval-mode", NEVER, IN_TRAIN_MODE, enter="pass")
train.mistake("tr-eval-mode", NEVER, IN_TRAIN_MODE, begin="pass", enter="pass")
train_step.alone("tr-eval-mode", "`model.train()` comes after the forward pass: a model that arrives in eval mode "
                 "still runs with its dropout off.", coding="train() too late", **LATE)
train.alone("tr-eval-mode", "`model.train()` comes after the forward pass: for the first batch the model is still in "
            "the mode it arrived in.", coding="train() too late", begin="pass", **LATE)
mistake("tr-eval-mode", "You call `model.eval()` for training: dropout is off while the model learns, and stays off.",
      "Call `model.train()` in its place; `eval()` is for measuring.", coding="eval() called", enter="model.eval()")
mistake("tr-no-train-after-eval", "The model is left in eval mode: no `model.train()` follows `model.eval()`.", "Go "
        "back with `model.train()` after every evaluation.", move="optimizer.step()\nmodel.eval()")
train.alone("tr-no-train-after-eval", "`model.train()` is called once, and `model.eval()` in the loop: then dropout is "
            "off.", coding="in the loop", enter="pass", move="optimizer.step()\nmodel.eval()")

BACK = ("tr-mode-put-back", "You put the model back into the mode it arrived in: it has to be left in training mode.",
        "Call `model.train()`, and no `model.train(was)` or `model.eval()` after the step.")
SAVED = {"enter": "was = model.training\nmodel.train()", "move": "optimizer.step()\nmodel.train(was)"}
train_step.alone(*BACK, **SAVED)
train.alone(*BACK, begin="pass", **SAVED)
train.alone(*BACK, coding="after the loop", begin="was = model.training", finish="model.train(was)\nreturn losses")

# --- what is returned
mistake("tr-loss-tensor-kept", "You return the loss as a tensor, where a float is due. One with its graph keeps all of "
        "its step alive, and memory grows with every batch.", "Return `loss.item()`, a Python float.", give="loss")
alone("tr-loss-tensor-kept", "You return the loss as a numpy array.", coding="numpy", give="loss.detach().numpy()")
for decimals in (3, 2):
    alone("tr-rounded", f"The losses that you return are rounded to {decimals} decimals.", "Return them as they are.",
          coding=f"{decimals} decimals", give=f"round(loss.item(), {decimals})")
mistake("tr-perplexity", "You return exp(loss), the perplexity.", "Return the loss.", give="loss.exp().item()")
mistake("tr-loss-after-step", "The loss that you return is measured after the step; return the one from before it, "
        "whose gradient was used.", "Return the loss on which you called `backward`.",
        give="with torch.no_grad():\n    return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()")

# --- the loop of train
mistake, alone, right = train.mistake, train.alone, train.alternative
CALL = "train_step(model, optimizer, inputs, targets)"
ADD = f"losses.append({CALL})"
WHOLE_LOOP = "Go through all batches, and put `return` after the loop."
mistake("tr-first-batch-only", "The loop stops after the first batch: there is a `break` (or a `return`) inside it.",
        WHOLE_LOOP, coding="break", append=f"{ADD}\nbreak")
alone("tr-first-batch-only", "The loop stops after the first batch: the `return` is inside it.", coding="return",
      append=f"return [{CALL}]", finish="None")
alone("tr-first-batch-only", "The loop ends at the first batch, with a `return` inside it that gives back one loss "
      "instead of a list.", coding="its loss alone", append=f"return {CALL}", finish="None")
mistake("tr-first-batch-only", "Every step is taken on the first batch; the others are never seen.",
        "Unpack inputs and targets from each batch inside the loop.", coding="again and again", alone=True,
        # to look at `batches[0]` is an error of one kind or another where there is none, and with a generator
        only=("train_losses", "train_parameters", "train_in_order", "train_to_the_end"),
        batches="[batches[0]] * len(batches)")
for which, rest in (("last", "[:-1]"), ("first", "[1:]")):
    mistake(f"tr-{which}-batch-skipped", f"The {which} batch is left out.", "Go through `batches` from its beginning "
            "to its end.", alone=True, batches=f"list(batches){rest}")
mistake("tr-batches-counted", "You count the batches, or take them by number: a generator has neither.", "Go "
        "through `batches` itself.", alone=True, batches="[batches[i] for i in range(len(batches))]")
alone("tr-batches-counted", "You go through the batches before the loop, to count or to look at them: a generator is "
      "used up then, and the loop finds none.", coding="gone through", batches="(list(batches), batches)[1]")
HELD = {"clear": "pass", "move": "pass"}
for id, says, suggests, changes in (
    ("tr-shuffled", "The batches are taken in another order than they come in.", "Go through `batches` as it is: no "
     "sorting, shuffling or reversing.", {"batches": "list(batches)[::-1]"}),
    ("tr-several-epochs", "You go through the batches more than once.", "Go through `batches` once: who wants more "
     "epochs calls `train` again.", {"batches": "list(batches) * 2"}),
    ("tr-several-steps", "You take more than one step on each batch.", "Call `train_step` once for each.",
     {"append": f"{CALL}\n{ADD}"}),
    ("tr-accumulated", "You gather the gradients of several batches before each step.", "Take a step on each batch.",
     HELD | {"append": f"{ADD}\nif len(losses) % 2 == 0:\n    optimizer.step()"}),
    ("tr-step-after-loop", "There is one step, after the loop: it follows the sum of all gradients.", "Call "
     "`optimizer.step()` for each batch, inside the loop.", HELD | {"finish": "optimizer.step()\nreturn losses"}),
):
    mistake(id, says, suggests, only=("how the batches are used",), **changes)
mistake("tr-early-stop", "The loop ends before the last batch, where the loss is small or rises.", "Take out the "
        "`break`: every batch has its step, whatever its loss.", coding="by some rule",
        only=("whether the loss ends it", "train_losses"), append=f"{ADD}\nif losses[-1] < 1e-4:\n    break")
for when, stop in (("rises", "len(losses) > 1 and losses[-1] > losses[-2]"), ("is small", "losses[-1] < 0.1")):
    alone("tr-early-stop", f"The loop ends before the last batch: it stops when the loss {when}.",
          coding=f"when the loss {when}", append=f"{ADD}\nif {stop}:\n    break")
ALL_LOSSES = "Collect the losses in a list, one for each batch, and return it."
alone("tr-losses-not-kept", "Every step is taken, but the list that you return stays empty.", ALL_LOSSES, append=CALL)
mistake("tr-unweighted-average", "You return one average instead of the list. It would mislead, too: the mean of batch "
        "means counts a token in a small batch for more.", ALL_LOSSES, finish="sum(losses) / len(losses)")
alone("tr-unweighted-average", "In the place of each loss you return the mean of all so far.", ALL_LOSSES,
      coding="so far", finish="[sum(losses[: n + 1]) / (n + 1) for n in range(len(losses))]")
alone("tr-last-loss-only", "You return the last loss alone.", ALL_LOSSES, finish="losses[-1] if losses else None")
alone("tr-last-loss-only", "Your list holds the last loss alone.", coding="in a list", finish="losses[-1:]")

# --- just as right
for each in MISTAKE_SETS:
    each.alternative("cleared after each step", clear="pass", give="optimizer.zero_grad()\nreturn loss.item()")
    each.alternative("a closure", pull="pass", move="optimizer.step(closure)",
                     clear="def closure():\n    optimizer.zero_grad()\n    loss.backward()\n    return loss")
right("the mode left to train_step", begin="pass")
right("the mode set once", enter="pass")
right("all batches taken first", batches="list(batches)")
right("numbered batches", batches="[pair for _, pair in enumerate(batches)]")
right("losses stacked at the end", give="loss.detach()", finish="torch.stack(losses).tolist() if losses else []")

right = train_step.alternative
right("classes on axis 1", flatten="logits.transpose(1, 2)", answers="targets")
right("permuted", flatten="logits.permute(0, 2, 1)", answers="targets")
right("view(-1, V)", flatten="logits.view(-1, logits.size(-1))", answers="targets.reshape(-1)")
right("position by position", flatten="logits.transpose(0, 1).flatten(0, 1)", answers="targets.T.flatten()")
right("log_softmax before cross_entropy", forward="model(inputs).log_softmax(-1)")
right("nll_loss of log_softmax", score="F.nll_loss(flat.log_softmax(-1), answers)")
right("logsumexp", score="picked(flat - flat.logsumexp(-1, keepdim=True), answers)")
right("one-hot targets", score="F.cross_entropy(flat, one_hot(flat, answers))")
right("a loss module", score="torch.nn.CrossEntropyLoss()(flat, answers)")
right("sum over B·T", score=f"{TOTAL} / targets.numel()")
right("model.forward", forward="model.forward(inputs)")
right("train() when needed", enter="None if model.training else model.train()")
right("model.zero_grad", clear="model.zero_grad()")
right("gradients filled with 0", clear="model.zero_grad(set_to_none=False)")
for give in ("float(loss.detach())", "loss.detach().item()", "loss.tolist()"):
    right(give, give=give)
right("a look in eval mode", move="optimizer.step()\nmodel.eval()\nwith torch.no_grad(): model(inputs)\nmodel.train()")
right("torch.autograd.grad", clear="parameters = list(model.parameters())",
      pull="for p, gradient in zip(parameters, torch.autograd.grad(loss, parameters)):\n    p.grad = gradient")
right("torch.func.grad", forward="""def loss_of(parameters):
    logits = torch.func.functional_call(model, parameters, (inputs,))
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())
parameters = {name: each.detach() for name, each in model.named_parameters()}
gradients, loss = torch.func.grad_and_value(loss_of)(parameters)""", flatten="pass", answers="pass", score="pass",
      clear="pass", pull="for name, each in model.named_parameters():\n    each.grad = gradients[name]")
right("row by row", forward="rows = [model(row.unsqueeze(0))[0] for row in inputs]", flatten="pass", answers="pass",
      score="losses = [F.cross_entropy(row, following) for row, following in zip(rows, targets)]",
      pull="for loss in losses:\n    (loss / len(losses)).backward()", give="torch.stack(losses).mean().item()")
# fmt: on
