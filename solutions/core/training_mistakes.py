"""What people get wrong in `train_step` and `train`, executable; and other right ways to write them.

Right training code need not call the optimizer's `zero_grad` (`model.zero_grad`, `p.grad = None`, `torch.autograd.grad`
and a closure are right too), so nothing here asks which method was called. A mistake shows in the losses, in the final
parameters, and in the story of the gradients: what they were when the optimizer stepped, and what became of them.
"""

import torch
from torch.nn import functional

from grader.api.checks import LearnerError, MistakeSet, same

V, D = 7, 4  # vocabulary and width; batches are (3, 5): all sizes differ
SGD = {"lr": 0.5}
# a large eps: rounding in a tiny gradient must not flip its sign; no decay: it would move what has no gradient
ADAMW = {"lr": 0.05, "eps": 1e-3, "weight_decay": 0.0}


# --- the factories ----------------------------------------------------------------------------------------------------


def make_train_step(*, enter, use, forward, warp, pick, arrange, score, sign, update, clear, pull, between, move, leave,
                    give):  # fmt: skip
    """One training step from its parts.

    enter, leave: the model's mode before and after. use: the optimizer. forward, warp: the logits, and what is done to
    them. pick: which scores answer which tokens. arrange, score, sign: the loss. update: the order of clear (the old
    gradients), pull (backward), between, move (the step). give: what is returned.
    """

    def train_step(model, optimizer, inputs, targets):
        enter(model)
        stepper = use(model, optimizer)
        logits = warp(forward(model, inputs))
        loss = sign(score(*arrange(*pick(logits, inputs, targets))))
        update(lambda: clear(model), lambda: pull(loss), lambda: between(model), lambda: move(stepper))
        leave(model)
        return give(loss)

    return train_step


def make_train(*, begin, renew, choose, finish, **steps):
    """A whole training from its parts: the mode at the start, the optimizer, the batches, the result; and the steps of
    `make_train_step`."""
    train_step = make_train_step(**steps)

    def train(model, optimizer, batches):
        begin(model)
        stepper = renew(model, optimizer)
        return finish([train_step(model, stepper, inputs, targets) for inputs, targets in choose(batches)])

    return train


def nothing(*_):
    """Leave a step out."""


def into_train(model):
    model.train()


def into_eval(model):
    model.eval()


def the_given(model, optimizer):
    return optimizer


def run(model, inputs):
    return model(inputs)


def as_it_is(value):
    return value


def all_positions(logits, inputs, targets):
    return logits, targets


def flat(logits, targets):
    return logits.flatten(0, 1), targets.flatten()


def in_order(clear, pull, between, move):
    for act in (clear, pull, between, move):
        act()


def clear_gradients(model):
    for parameter in model.parameters():
        parameter.grad = None


def pull_back(loss):
    loss.backward()


def step(optimizer):
    optimizer.step()


def as_float(loss):
    return loss.item()


STEPS = {
    "enter": into_train, "use": the_given, "forward": run, "warp": as_it_is, "pick": all_positions, "arrange": flat,
    "score": functional.cross_entropy, "sign": as_it_is, "update": in_order, "clear": clear_gradients,
    "pull": pull_back, "between": nothing, "move": step, "leave": nothing, "give": as_float,
}  # fmt: skip

train_step = MistakeSet("train_step", make_train_step, **STEPS)
train = MistakeSet("train", make_train, begin=into_train, renew=the_given, choose=as_it_is, finish=as_it_is, **STEPS)

MISTAKE_SETS = [train_step, train]

# --- what a probe sees ------------------------------------------------------------------------------------------------

AT_STEP = {  # (there was a gradient at the step, one had been computed since the last step)
    (True, True): "a step",
    (True, False): "a step on an old gradient",
    (False, True): "a step after its gradient was erased",
    (False, False): "a step without a gradient",
}
CAUSES = {
    "does not require grad": "the loss has no gradient",
    "modified by an inplace operation": "a parameter was changed before backward",
    "Expected target size": "the classes of the logits are not on axis 1",
    "only for scalar outputs": "the loss is not one number",
}


def a_batch(rand, rows=3, length=5):
    """Tokens and the tokens that follow them."""
    tokens = rand.integers(0, V, rows, length + 1)
    return tokens[:, :-1], tokens[:, 1:]


def weights(rand, head=1, dtype=torch.float32):
    """Parameters of an embedding and of a linear head, which is layer number `head`."""
    return {
        "layers.0.weight": rand(V, D, dtype=dtype),
        f"layers.{head}.weight": rand(V, D, dtype=dtype),
        f"layers.{head}.bias": rand(V, dtype=dtype),
    }


def a_model(subject, state, **more):
    return subject.make_model([["embedding", V, D], ["linear", D, V]], state, **more)


def with_dropout(subject, rand):
    """A model in eval mode, and its weights. In train mode its dropout hides everything, so that no luck is in it."""
    state = weights(rand, head=2)
    return subject.make_model([["embedding", V, D], ["dropout", 1.0], ["linear", D, V]], state, training=False), state


def watch(subject, model, start, act):
    """Carry out `act`: what it gave, the parameters, the mode and the story of the gradients."""
    subject.events()  # forget what was before
    try:
        given = act()
    except LearnerError as error:
        if error.kind != "raised":
            raise
        given = next((cause for text, cause in CAUSES.items() if text in error.text), None)
        if given is None:
            raise
    after = model.state()
    moved = not same(after["state"], start, 0.0)
    return {
        "losses": given,
        # as lists: what the engine finds regular in rows and columns of a parameter helps nobody here
        "parameters": {name: values.tolist() for name, values in after["state"].items()},
        "train mode": after["training"],
        "story": story(subject.events(), moved),
    }


def story(events, moved):
    """What became of the gradients, in words; right code of any style tells "a step" once for each batch."""
    told, fresh = [], False
    for event in events:
        if event[0] == "backward":
            fresh = True
        elif event[0] == "step":
            found = any(gradient is not None and bool(gradient.any()) for gradient in event[1].values())
            told.append(AT_STEP[found, fresh])
            fresh = False
    if fresh:
        told.append("a gradient that no step used")
    if moved and not any(event[0] == "step" for event in events):
        told.append("parameters moved without the optimizer")
    forwards = [event for event in events if event[0] == "forward"]
    if forwards and not any(event[3] for event in forwards):
        told.append("a model run without autograd")
    return told


def watch_steps(subject, rand, shapes, name="sgd", state=None, **more):
    """`train_step` on a batch of each of these shapes."""
    state = weights(rand) if state is None else state
    model = a_model(subject, state, **more)
    optimizer = subject.make_optimizer(model, name, **(ADAMW if name == "adamw" else SGD))
    batches = [a_batch(rand, *shape) for shape in shapes]
    return watch(subject, model, state, lambda: [subject.train_step(model, optimizer, *batch) for batch in batches])


def watch_training(subject, rand, *calls, name="sgd"):
    """`train` on batches of these shapes: one list of shapes for each call."""
    state = weights(rand)
    model = a_model(subject, state)
    optimizer = subject.make_optimizer(model, name, **(ADAMW if name == "adamw" else SGD))
    runs = [[a_batch(rand, *shape) for shape in shapes] for shapes in calls]
    return watch(subject, model, state, lambda: [subject.train(model, optimizer, batches) for batches in runs])


# --- probes of train_step ---------------------------------------------------------------------------------------------


@train_step.probe("one step of SGD", stage="in one step of SGD")
def _(subject, rand):
    return watch_steps(subject, rand, [(3, 5)])


@train_step.probe("a single position", stage="with a single position")
def _(subject, rand):
    return watch_steps(subject, rand, [(1, 1)])


@train_step.probe("one row", stage="with one row")
def _(subject, rand):
    return watch_steps(subject, rand, [(1, 5)])


@train_step.probe("rows of one token", stage="with rows of one token")
def _(subject, rand):
    return watch_steps(subject, rand, [(3, 1)])


@train_step.probe("rows as long as the vocabulary", stage="where T = V")
def _(subject, rand):
    return watch_steps(subject, rand, [(3, V)])


@train_step.probe("three steps of SGD", stage="over three steps of SGD")
def _(subject, rand):
    return watch_steps(subject, rand, [(3, 5), (3, 5), (2, 4)])


@train_step.probe("three steps of AdamW", stage="over three steps of AdamW")
def _(subject, rand):
    return watch_steps(subject, rand, [(3, 5), (3, 5), (2, 4)], name="adamw")


@train_step.probe("a model that arrives in eval mode", stage="with a model that arrives in eval mode")
def _(subject, rand):
    model, state = with_dropout(subject, rand)
    optimizer = subject.make_optimizer(model, "sgd", **SGD)
    batches = [a_batch(rand), a_batch(rand)]
    return watch(subject, model, state, lambda: [subject.train_step(model, optimizer, *batch) for batch in batches])


@train_step.probe("very unlikely tokens", stage="on very unlikely tokens", atol=1e-3)
def _(subject, rand):
    state = weights(rand) | {"layers.1.bias": torch.linspace(-20.0, 20.0, V)}
    return watch_steps(subject, rand, [(3, 5)], state=state)


@train_step.probe("tokens ever less likely")
def _(subject, rand):
    """The loss of a likely token, and whether the loss levels off while a token becomes ever less likely."""
    tokens = torch.zeros(3, 5, dtype=torch.int64)
    losses = []
    for score in (1.0, -40.0, -60.0):
        bias = torch.tensor([score] + [0.0] * (V - 1))
        model = a_model(subject, {"layers.0.weight": torch.zeros(V, D), "layers.1.weight": torch.zeros(V, D),
                                  "layers.1.bias": bias})  # fmt: skip
        losses.append(subject.train_step(model, subject.make_optimizer(model, "sgd", **SGD), tokens, tokens))
    return {"likely": losses[0], "levels off": bool(losses[2] - losses[1] < 1.0)}


@train_step.probe("a float64 model", stage="with a float64 model")
def _(subject, rand):
    return watch_steps(subject, rand, [(3, 5)], state=weights(rand, dtype=torch.float64), dtype="float64")


@train_step.probe("inputs and targets afterwards")
def _(subject, rand):
    model = a_model(subject, weights(rand))
    return subject.train_step.observe(model, subject.make_optimizer(model, "sgd", **SGD), *a_batch(rand)).args[2:]


@train_step.probe("who moves the parameters")
def _(subject, rand):
    return "parameters moved without the optimizer" in watch_steps(subject, rand, [(3, 5), (3, 5)])["story"]


# --- probes of train --------------------------------------------------------------------------------------------------


@train.probe("one batch", stage="with one batch")
def _(subject, rand):
    return watch_training(subject, rand, [(3, 5)])


@train.probe("three batches with SGD", stage="with three batches and SGD")
def _(subject, rand):
    return watch_training(subject, rand, [(3, 5), (3, 5), (3, 5)])


@train.probe("three batches with AdamW", stage="with three batches and AdamW")
def _(subject, rand):
    return watch_training(subject, rand, [(3, 5), (3, 5), (3, 5)], name="adamw")


@train.probe("batches of different sizes", stage="with batches of different sizes")
def _(subject, rand):
    return watch_training(subject, rand, [(3, 5), (3, V), (1, 2)])


@train.probe("two calls with AdamW", stage="when called again with the same AdamW")
def _(subject, rand):
    return watch_training(subject, rand, [(3, 5), (3, 5)], [(3, 5), (3, 5)], name="adamw")


@train.probe("a model that arrives in eval mode", stage="with a model that arrives in eval mode")
def _(subject, rand):
    model, state = with_dropout(subject, rand)
    optimizer = subject.make_optimizer(model, "sgd", **SGD)
    batches = [a_batch(rand), a_batch(rand), a_batch(rand)]
    return watch(subject, model, state, lambda: subject.train(model, optimizer, batches))


@train.probe("batches from a generator", stage="with batches from a generator")
def _(subject, rand):
    state = weights(rand)
    model = a_model(subject, state)
    optimizer = subject.make_optimizer(model, "sgd", **SGD)
    stream = subject.make_model([], kind="iterator", items=[a_batch(rand), a_batch(rand)])
    return watch(subject, model, state, lambda: subject.train(model, optimizer, stream))


@train.probe("no batch", stage="without a batch")
def _(subject, rand):
    # only whether an empty list comes back: None, 0/0 and the mode depend on how the same loop is written
    try:
        return watch_training(subject, rand, [])["losses"] == [[]]
    except LearnerError:
        return False


@train.probe("batches afterwards")
def _(subject, rand):
    model = a_model(subject, weights(rand))
    optimizer = subject.make_optimizer(model, "sgd", **SGD)
    return subject.train.observe(model, optimizer, [a_batch(rand), a_batch(rand)]).args[2]


@train.probe("who moves the parameters")
def _(subject, rand):
    return "parameters moved without the optimizer" in watch_training(subject, rand, [(3, 5), (3, 5)])["story"]


# --- mistakes: a wrong step is the same mistake in `train`, which takes it --------------------------------------------


def mistake(id, *, says, suggests, coding="", alone=False, **changes):
    """Register wrong steps for both functions. `alone`: a rarer coding, not looked for beside other mistakes."""
    for mistake_set in MISTAKE_SETS:
        if alone:
            mistake_set.mistake(id, says=says, suggests=suggests, coding=coding, version=mistake_set.build(changes))
        else:
            mistake_set.mistake(id, says=says, suggests=suggests, coding=coding, **changes)


# --- mistakes: clear, backward, step ----------------------------------------------------------------------------------

mistake(
    "tr-no-zero-grad",
    says="Gradients pile up: `backward` adds to `.grad` and nothing clears it, so every step after the first also "
    "follows the batches before it.",
    suggests="Clear the gradients once per step (`optimizer.zero_grad()`), before `backward` or after `step`.",
    clear=nothing,
)
mistake(
    "tr-zero-before-step",
    says="The gradients are cleared between `backward` and `step`: each step finds none, and no parameter ever moves.",
    suggests="Move `zero_grad` to before `backward` or to after `step`.",
    between=clear_gradients,
)
mistake(
    "tr-no-step",
    says="The gradients are computed, but `optimizer.step()` is never called, so no parameter ever moves.",
    suggests="Call `optimizer.step()` after `backward`.",
    move=nothing,
)
mistake(
    "tr-step-before-backward",
    coding="clear, step, backward",
    says="The optimizer steps before `backward` has run: it finds no gradient, and the one computed afterwards is "
    "cleared before the next step.",
    suggests="Exchange the two: first `loss.backward()`, then `optimizer.step()`.",
    update=lambda clear, pull, between, move: (clear(), move(), pull()),
)
mistake(
    "tr-step-before-backward",
    coding="step, clear, backward",
    alone=True,
    says="The optimizer steps between the forward pass and `backward`. From the second batch on this changes the "
    "parameters that `backward` still needs, and torch raises an error.",
    suggests="Exchange the two: first `loss.backward()`, then `optimizer.step()`.",
    update=lambda clear, pull, between, move: (move(), clear(), pull()),
)


def step_with_the_last_gradient(model, optimizer, inputs, targets):
    optimizer.step()
    optimizer.zero_grad()
    model.train()
    loss = functional.cross_entropy(*flat(model(inputs), targets))
    loss.backward()
    return loss.item()


def train_with(train_step):
    """`train` as it should be, around a wrong `train_step`."""

    def train(model, optimizer, batches):
        model.train()
        return [train_step(model, optimizer, inputs, targets) for inputs, targets in batches]

    return train


def whole_step(id, version, **texts):
    """Register a mistake that is no exchange of steps, for both functions."""
    train_step.mistake(id, version=version, **texts)
    train.mistake(id, version=train_with(version), **texts)


whole_step(
    "tr-step-before-backward",
    step_with_the_last_gradient,
    coding="step first of all",
    says="The step comes before the loss and `backward`, so each step uses the gradient of the batch before, and the "
    "last gradient is never used.",
    suggests="Put `optimizer.step()` after `loss.backward()`.",
)
mistake(
    "tr-step-twice",
    says="The optimizer steps twice on one gradient: the parameters go too far, and AdamW counts the batch twice.",
    suggests="Keep one `optimizer.step()` for each `backward`.",
    move=lambda optimizer: (optimizer.step(), optimizer.step()),
)
mistake(
    "tr-grad-blocked",
    says="The optimizer steps, but no gradient ever reaches the parameters: `loss.backward()` is missing, or the "
    "loss was made into a new tensor (`torch.tensor(...)`, `.detach()`, `requires_grad_()`) that knows nothing of "
    "them.",
    suggests="Call `backward` on the loss exactly as it came out of the model's logits.",
    pull=nothing,
)
mistake(
    "tr-grad-blocked",
    coding="backward raises",
    alone=True,
    says="`backward` finds nothing to follow: on the way from the parameters to the loss something cuts the graph, "
    "such as `argmax`, `.detach()`, `.data`, `.item()`, numpy or `torch.tensor(...)`.",
    suggests="Stay with differentiable tensor operations from `model(inputs)` to the loss.",
    forward=lambda model, inputs: model(inputs).detach(),
)


def run_without_autograd(model, inputs):
    with torch.no_grad():
        return model(inputs)


mistake(
    "tr-grad-blocked",
    coding="no_grad",
    alone=True,
    says="The model runs under `torch.no_grad()`, so nothing is recorded and `backward` has nothing to follow.",
    suggests="Take `model(inputs)` out of `torch.no_grad()`; that is for evaluation.",
    forward=run_without_autograd,
)
mistake(
    "tr-grad-blocked",
    coding="no_grad, and requires_grad set",
    alone=True,
    says="The model runs under `torch.no_grad()`, so nothing is recorded; setting `requires_grad` on the loss does "
    "not connect it with the parameters, and nothing moves.",
    suggests="Take `model(inputs)` out of `torch.no_grad()`; that is for evaluation.",
    forward=run_without_autograd,
    sign=lambda loss: loss.requires_grad_(),
)
mistake(
    "tr-ascent",
    says="Your loss has the wrong sign, so every step climbs: the model learns to give the right token less "
    "probability.",
    suggests="Take out the minus: cross-entropy is already the negative log-probability.",
    sign=lambda loss: -loss,
)
mistake(
    "tr-ascent",
    coding="only the gradient",
    alone=True,
    says="The loss is right, but the gradient that you follow has the wrong sign, so every step makes the loss larger.",
    suggests="Call `backward` on the loss itself, not on its negative.",
    pull=lambda loss: (-loss).backward(),
)


def clip(model):
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)


# "tr-clip-order" cannot occur in these functions: nothing is to be clipped, and clipping before `backward` or after
# `step` changes no number. What can go wrong is clipping in the right place.
mistake(
    "tr-clipped",
    alone=True,
    says="You clip the gradients to norm 1, which was not asked for: large gradients move the parameters too little.",
    suggests="Take out `clip_grad_norm_`; the step uses the gradient as it is.",
    between=clip,
)

# --- mistakes: the optimizer ------------------------------------------------------------------------------------------


def a_new_one(model, optimizer):
    options = {
        key: optimizer.defaults[key] for key in ("lr", "betas", "eps", "weight_decay") if key in optimizer.defaults
    }
    return type(optimizer)(model.parameters(), **options)


FORGETS = (
    "The parameters move, but not by the optimizer that you were given: a new one (or an update by hand) does it, "
    "and it knows nothing of the running means that AdamW gathers from step to step."
)
USE_IT = "Make no optimizer: call `optimizer.step()` on the one that is passed in."

mistake("tr-optimizer-recreated", coding="in each step", says=FORGETS, suggests=USE_IT, use=a_new_one)
train.mistake("tr-optimizer-recreated", coding="in each call", says=FORGETS, suggests=USE_IT, renew=a_new_one)
for mistake_set in MISTAKE_SETS:
    mistake_set.mistake(
        "tr-optimizer-recreated",
        coding="of another kind",
        says=FORGETS,
        suggests=USE_IT,
        only=("who moves the parameters",),
        version=mistake_set.build({"use": lambda model, optimizer: torch.optim.AdamW(model.parameters(), lr=1e-2)}),
    )

# --- mistakes: which token is the answer ------------------------------------------------------------------------------

SHIFTED = "Compare the scores at position t with `targets[:, t]`: the targets are already one step later."

mistake(
    "tr-target-is-input",
    says="The model is asked to repeat its input: the loss compares each position with the token it has just read, "
    "which it can copy.",
    suggests="Compare the logits with `targets`, not with `inputs`.",
    pick=lambda logits, inputs, targets: (logits, inputs),
)
mistake(
    "tr-target-previous",
    coding="targets of the position before",
    says="The shift goes the wrong way: the scores at position t are compared with the target of position t − 1, "
    "which is the token that the model has just read.",
    suggests=SHIFTED,
    pick=lambda logits, inputs, targets: (logits[:, 1:], targets[:, :-1]),
)
mistake(
    "tr-target-previous",
    coding="inputs of the position before",
    alone=True,
    says="The shift goes the wrong way: the model is asked for the token before the one it has just read.",
    suggests=SHIFTED,
    pick=lambda logits, inputs, targets: (logits[:, 1:], inputs[:, :-1]),
)
mistake(
    "tr-target-previous",
    coding="targets rolled",
    alone=True,
    says="The targets are rolled the wrong way: position t gets the target of position t − 1, and the first position "
    "gets the last one's.",
    suggests=SHIFTED,
    pick=lambda logits, inputs, targets: (logits, targets.roll(1, dims=1)),
)
mistake(
    "tr-target-previous",
    coding="inputs rolled",
    alone=True,
    says="The inputs are rolled the wrong way to make targets: position t is asked for the token before its own.",
    suggests=SHIFTED,
    pick=lambda logits, inputs, targets: (logits, inputs.roll(1, dims=1)),
)
mistake(
    "tr-double-shift",
    says="The targets are shifted twice: they come already one step later, and you shift again, so the model learns "
    "to predict two tokens ahead.",
    suggests="Take out the slices: all T logits go with all T targets.",
    pick=lambda logits, inputs, targets: (logits[:, :-1], targets[:, 1:]),
)
mistake(
    "tr-double-shift",
    coding="rolled",
    alone=True,
    says="The targets are shifted twice: they come already one step later, and you roll them by one more. The model "
    "learns to predict two tokens ahead, and at the end of a row the row's first target.",
    suggests="Use `targets` as they come.",
    pick=lambda logits, inputs, targets: (logits, targets.roll(-1, dims=1)),
)
mistake(
    "tr-roll-across-batch",
    says="You make the targets by rolling the flattened inputs, so the last position of each row is asked for the "
    "first token of another sequence.",
    suggests="Use `targets`: they hold the true next token for the last position too.",
    pick=lambda logits, inputs, targets: (logits, inputs.flatten().roll(-1).view_as(inputs)),
)
mistake(
    "tr-roll-across-batch",
    coding="targets",
    alone=True,
    says="`roll` without `dims` rolls the flattened tensor: the targets are shifted a second time, and the last "
    "position of each row gets a token of another sequence.",
    suggests="Use `targets` as they come: they are already shifted.",
    pick=lambda logits, inputs, targets: (logits, targets.roll(-1)),
)
mistake(
    "tr-roll-within-row",
    alone=True,
    says="You make the targets by rolling each row of the inputs, so its last position is asked for the row's own "
    "first token.",
    suggests="Use `targets`: they hold the true next token for the last position too.",
    pick=lambda logits, inputs, targets: (logits, inputs.roll(-1, dims=1)),
)
mistake(
    "tr-last-position-dropped",
    alone=True,
    says="The last position of each row is left out of the loss (a slice such as `logits[:, :-1]`), though `targets` "
    "holds its answer too.",
    suggests="Take out the slices: all T logits go with all T targets.",
    pick=lambda logits, inputs, targets: (logits[:, :-1], targets[:, :-1]),
)
mistake(
    "tr-last-token-only",
    says="The loss looks at the last position only, so T − 1 of the T answers in each row teach the model nothing.",
    suggests="Use all positions: no `[:, -1]`.",
    pick=lambda logits, inputs, targets: (logits[:, -1:], targets[:, -1:]),
)

# --- mistakes: the loss -----------------------------------------------------------------------------------------------

FLATTEN = "Flatten both, `logits.flatten(0, 1)` and `targets.flatten()`, or use `logits.transpose(1, 2)`."


def viewed(logits, targets):
    batch, length, vocabulary = logits.shape
    return logits.reshape(batch, vocabulary, length), targets


mistake(
    "tr-bad-reshape",
    says="`view` (or `reshape`) to (B, V, T) does not swap axes, it cuts the same numbers anew: the shape fits, but "
    "each position gets scores that belong to others.",
    suggests=FLATTEN,
    arrange=viewed,
)
mistake(
    "tr-bad-reshape",
    coding="batch and time swapped in the logits",
    alone=True,
    says="The logits are flattened position by position and the targets row by row, so scores and answers no longer "
    "belong together.",
    suggests=FLATTEN,
    arrange=lambda logits, targets: (logits.transpose(0, 1).flatten(0, 1), targets.flatten()),
)
mistake(
    "tr-bad-reshape",
    coding="batch and time swapped in the targets",
    alone=True,
    says="The targets are flattened position by position and the logits row by row, so scores and answers no longer "
    "belong together.",
    suggests=FLATTEN,
    arrange=lambda logits, targets: (logits.flatten(0, 1), targets.T.flatten()),
)
mistake(
    "tr-bad-reshape",
    coding="vocabulary and time swapped",
    alone=True,
    says="The logits are transposed to (B, V, T) and then flattened to rows of V numbers: a row no longer holds the "
    "scores of one position.",
    suggests=FLATTEN,
    arrange=lambda logits, targets: (logits.transpose(1, 2).reshape(-1, logits.size(-1)), targets.flatten()),
)
mistake(
    "tr-bad-reshape",
    coding="not reshaped",
    alone=True,
    says="`cross_entropy` wants the classes on axis 1, but axis 1 of the logits (B, T, V) is time: an error on most "
    "shapes, silently wrong where T = V.",
    suggests=FLATTEN,
    arrange=lambda logits, targets: (logits, targets),
)
mistake(
    "tr-softmax-before-ce",
    says="`cross_entropy` gets probabilities instead of raw logits: softmax is taken twice, so even a perfect "
    "answer costs ln(1 + (V − 1)/e).",
    suggests="Give `cross_entropy` the logits as they come; it takes the log-softmax itself.",
    warp=lambda logits: logits.softmax(-1),
)
mistake(
    "tr-softmax-before-ce",
    coding="nll_loss",
    alone=True,
    says="`nll_loss` gets probabilities, but it wants their logarithms: the loss lies between −1 and 0.",
    suggests="Use `cross_entropy` on the raw logits, or `nll_loss` on `log_softmax`.",
    warp=lambda logits: logits.softmax(-1),
    score=functional.nll_loss,
)
mistake(
    "tr-no-log-softmax",
    alone=True,
    says="`nll_loss` gets raw logits, but it wants log-probabilities: nothing holds the other scores down, so the "
    "loss falls without end.",
    suggests="Use `cross_entropy` on the raw logits, or `nll_loss` on `log_softmax`.",
    score=functional.nll_loss,
)


def whole(logits, targets):
    return logits.transpose(1, 2), targets


def total(logits, targets):
    return functional.cross_entropy(logits, targets, reduction="sum")


MEAN = "Take the mean over all B·T positions, once: it is what `cross_entropy` does by itself."

mistake(
    "tr-reduction-sum",
    says="Your loss is the sum over all positions, B·T times the mean: the steps are B·T times too long.",
    suggests=MEAN,
    score=total,
)
mistake(
    "tr-reduction-none",
    alone=True,
    says='Your loss holds one number for each position (`reduction="none"`), and `backward` needs a single one.',
    suggests=MEAN,
    score=lambda logits, targets: functional.cross_entropy(logits, targets, reduction="none"),
)
mistake(
    "tr-reduction-sum",
    coding="over a row",
    alone=True,
    says="Your loss is summed over each row's positions and averaged over the rows only: T times the mean.",
    suggests=MEAN,
    arrange=whole,
    score=lambda logits, targets: total(logits, targets) / targets.size(0),
)
mistake(
    "tr-reduction-sum",
    coding="over the batch",
    alone=True,
    says="Your loss is averaged over the positions of a row, but summed over the rows: B times the mean.",
    suggests=MEAN,
    arrange=whole,
    score=lambda logits, targets: total(logits, targets) / targets.size(1),
)
mistake(
    "tr-reduction-sum",
    coding="mean over the vocabulary too",
    alone=True,
    says="Your loss is 1/V of what it should be: the mean also runs over the V entries of each position, all but one "
    "of which are 0.",
    suggests="Sum over the vocabulary, and take the mean over the B·T positions.",
    score=lambda logits, targets: functional.cross_entropy(logits, targets) / logits.size(-1),
)


def picked(log_p, targets):
    return -log_p.gather(-1, targets.unsqueeze(-1)).mean()


def one_hot(logits, targets):
    return functional.one_hot(targets, logits.size(-1)).to(logits.dtype)


MSE = "Use cross-entropy: minus the log-probability of the right token."

mistake(
    "tr-loss-as-mse",
    says="The loss is the squared distance of the logits from a one-hot vector: tokens are treated as numbers to "
    "hit, not as one choice out of V.",
    suggests=MSE,
    score=lambda logits, targets: functional.mse_loss(logits, one_hot(logits, targets)),
)
mistake(
    "tr-loss-as-mse",
    coding="of probabilities",
    alone=True,
    says="The loss is the squared distance of the probabilities from a one-hot vector: it hardly punishes a "
    "confident wrong answer, and its gradient vanishes there.",
    suggests=MSE,
    score=lambda logits, targets: functional.mse_loss(logits.softmax(-1), one_hot(logits, targets)),
)
ARGMAX = "Leave out `argmax`, and use cross-entropy of the logits, which is differentiable."
mistake(
    "tr-loss-as-argmax",
    says="The loss compares the chosen token's number (`argmax`) with the target's. `argmax` has no gradient, and "
    "setting `requires_grad` on the loss does not connect it with the parameters: nothing moves.",
    suggests=ARGMAX,
    score=lambda logits, targets: (logits.argmax(-1) - targets).to(logits.dtype).square().mean().requires_grad_(),
)
mistake(
    "tr-loss-as-argmax",
    coding="the share of errors",
    alone=True,
    says="The loss is the share of wrong choices (`argmax`). It has no gradient, and setting `requires_grad` on it "
    "does not connect it with the parameters: nothing moves.",
    suggests=ARGMAX,
    score=lambda logits, targets: (logits.argmax(-1) != targets).to(logits.dtype).mean().requires_grad_(),
)

train_step.mistake(
    "tr-log-epsilon",
    says="A small constant inside the logarithm, log(p + ε), hides how unlikely a token was: the loss levels off at "
    "−ln ε, and beyond it the gradient vanishes.",
    suggests="Use `cross_entropy` or `log_softmax` on the logits: they need no ε.",
    only=("tokens ever less likely",),
    version=train_step.build({"score": lambda logits, targets: picked((logits.softmax(-1) + 1e-9).log(), targets)}),
)

# --- mistakes: the mode -----------------------------------------------------------------------------------------------

IN_TRAIN_MODE = "Call `model.train()` before the forward pass."

train_step.mistake(
    "tr-eval-mode",
    says="You never call `model.train()`: a model that arrives in eval mode is trained with its dropout off.",
    suggests=IN_TRAIN_MODE,
    enter=nothing,
)
train.mistake(
    "tr-eval-mode",
    says="You never call `model.train()`: a model that arrives in eval mode is trained with its dropout off.",
    suggests=IN_TRAIN_MODE,
    begin=nothing,
    enter=nothing,
)
mistake(
    "tr-eval-mode",
    coding="eval() called",
    alone=True,
    says="You call `model.eval()` for training: dropout is off while the model learns, and stays off.",
    suggests="Call `model.train()` in its place; `eval()` is for measuring.",
    enter=into_eval,
)
train_step.mistake(
    "tr-eval-mode",
    coding="train() too late",
    says="`model.train()` comes after the forward pass: a model that arrives in eval mode still runs with its "
    "dropout off.",
    suggests=IN_TRAIN_MODE,
    version=train_step.build({"enter": nothing, "leave": into_train}),
)
train.mistake(
    "tr-eval-mode",
    coding="train() too late",
    says="`model.train()` comes after the forward pass: for the first batch the model is still in the mode it "
    "arrived in.",
    suggests=IN_TRAIN_MODE,
    version=train.build({"begin": nothing, "enter": nothing, "leave": into_train}),
)

BACK = "Go back with `model.train()` after every evaluation."

mistake(
    "tr-no-train-after-eval",
    says="The model is left in eval mode: `model.eval()` is called after the step, and nothing undoes it.",
    suggests=BACK,
    leave=into_eval,
)
train.mistake(
    "tr-no-train-after-eval",
    coding="in the loop",
    says="`model.train()` is called once, and `model.eval()` inside the loop: from the second batch on the model is "
    "trained with its dropout off.",
    suggests=BACK,
    version=train.build({"enter": nothing, "leave": into_eval}),
)

# --- mistakes: what is returned ---------------------------------------------------------------------------------------

mistake(
    "tr-loss-tensor-kept",
    says="You return the loss as a tensor. With its graph still attached it keeps everything of its step alive, and "
    "memory grows with every batch.",
    suggests="Return `loss.item()`, a Python float.",
    give=as_it_is,
)
mistake(
    "tr-loss-tensor-kept",
    coding="numpy",
    alone=True,
    says="You return the loss as a numpy array, not as a Python float.",
    suggests="Return `loss.item()`.",
    give=lambda loss: loss.detach().numpy(),
)


def loss_measured_again(model, optimizer, inputs, targets):
    model.train()
    optimizer.zero_grad()
    functional.cross_entropy(*flat(model(inputs), targets)).backward()
    optimizer.step()
    with torch.no_grad():
        return functional.cross_entropy(*flat(model(inputs), targets)).item()


whole_step(
    "tr-loss-after-step",
    loss_measured_again,
    says="The loss that you return is measured after the step; return the one from before it, whose gradient was used.",
    suggests="Return the loss on which you called `backward`.",
)

# --- mistakes: the loop of train --------------------------------------------------------------------------------------

WHOLE_LOOP = "Let the loop go through all batches, and put `return` after it, not inside."


def first_only(batches):
    for batch in batches:
        return [batch]
    return []


def first_again_and_again(batches):
    kept = list(batches)
    return kept[:1] * len(kept)


train.mistake(
    "tr-first-batch-only",
    coding="break",
    says="The loop stops after the first batch: there is a `break` (or a `return`) inside it.",
    suggests=WHOLE_LOOP,
    choose=first_only,
)
train.mistake(
    "tr-first-batch-only",
    coding="return",
    says="The loop stops after the first batch: the `return` is inside it.",
    suggests=WHOLE_LOOP,
    version=train.build({"choose": first_only, "finish": lambda losses: losses or None}),
)
train.mistake(
    "tr-first-batch-only",
    coding="its loss alone",
    says="The loop ends at the first batch, with a `return` inside it that gives back one loss instead of a list.",
    suggests=WHOLE_LOOP,
    version=train.build({"choose": first_only, "finish": lambda losses: losses[0] if losses else None}),
)
train.mistake(
    "tr-first-batch-only",
    coding="again and again",
    says="Every step is taken on the first batch; the others are never seen.",
    suggests="Unpack inputs and targets from each batch inside the loop.",
    # to look at `batches[0]` is an error of one kind or another where there is none, and with a generator
    only=tuple(probe.name for probe in train.probes if probe.name not in ("no batch", "batches from a generator")),
    version=train.build({"choose": first_again_and_again}),
)
train.mistake(
    "tr-losses-not-kept",
    says="Every step is taken, and its loss is dropped: the list that you return stays empty.",
    suggests="Append what `train_step` returns to the list, inside the loop.",
    version=train.build({"finish": lambda losses: []}),
)
# An average is the only way in which batches of unequal size could be weighed wrongly here.
train.mistake(
    "tr-unweighted-average",
    says="You return one average instead of the list. As an average it would mislead, too: the mean of batch means "
    "counts a token in a small batch more than one in a large batch.",
    suggests="Return the list of losses, one for each batch.",
    finish=lambda losses: sum(losses) / len(losses),
)
train.mistake(
    "tr-last-loss-only",
    says="You return the last loss instead of the list of all of them.",
    suggests="Collect the losses in a list inside the loop, and return the list.",
    version=train.build({"finish": lambda losses: losses[-1] if losses else None}),
)

# --- alternatives: just as right --------------------------------------------------------------------------------------

train_step.alternative("classes on axis 1", arrange=whole)
train_step.alternative("permuted", arrange=lambda logits, targets: (logits.permute(0, 2, 1), targets))
train_step.alternative(
    "view(-1, V)", arrange=lambda logits, targets: (logits.view(-1, logits.size(-1)), targets.reshape(-1))
)
train_step.alternative(
    "position by position", arrange=lambda logits, targets: (logits.transpose(0, 1).flatten(0, 1), targets.T.flatten())
)
train_step.alternative("log_softmax before cross_entropy", warp=lambda logits: logits.log_softmax(-1))
train_step.alternative("nll_loss of log_softmax", warp=lambda logits: logits.log_softmax(-1), score=functional.nll_loss)
train_step.alternative("log of softmax", score=lambda logits, targets: picked(logits.softmax(-1).log(), targets))
train_step.alternative(
    "logsumexp", score=lambda logits, targets: picked(logits - logits.logsumexp(-1, keepdim=True), targets)
)
train_step.alternative(
    "one-hot targets", score=lambda logits, targets: functional.cross_entropy(logits, one_hot(logits, targets))
)
train_step.alternative("a loss module", score=torch.nn.CrossEntropyLoss())
train_step.alternative("sum over B·T", score=lambda logits, targets: total(logits, targets) / targets.numel())
train_step.alternative("model.forward", forward=lambda model, inputs: model.forward(inputs))
train_step.alternative("train() when needed", enter=lambda model: None if model.training else model.train())
train_step.alternative("model.zero_grad", clear=lambda model: model.zero_grad())
train_step.alternative("gradients filled with 0", clear=lambda model: model.zero_grad(set_to_none=False))
train_step.alternative("float", give=lambda loss: float(loss.detach()))
train_step.alternative("loss.detach().item()", give=lambda loss: loss.detach().item())
train_step.alternative("loss.tolist()", give=lambda loss: loss.tolist())


def clear_last(model, optimizer, inputs, targets):
    model.train()
    loss = functional.cross_entropy(*flat(model(inputs), targets))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


def with_closure(model, optimizer, inputs, targets):
    model.train()

    def closure():
        optimizer.zero_grad()
        loss = functional.cross_entropy(*flat(model(inputs), targets))
        loss.backward()
        return loss

    return optimizer.step(closure).item()


def with_autograd_grad(model, optimizer, inputs, targets):
    model.train()
    loss = functional.cross_entropy(*flat(model(inputs), targets))
    parameters = list(model.parameters())
    for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
        parameter.grad = gradient
    optimizer.step()
    return loss.item()


def with_function_transform(model, optimizer, inputs, targets):
    model.train()

    def loss_of(parameters):
        return functional.cross_entropy(*flat(torch.func.functional_call(model, parameters, (inputs,)), targets))

    parameters = dict(model.named_parameters())
    gradients, loss = torch.func.grad_and_value(loss_of)({name: p.detach() for name, p in parameters.items()})
    for name, parameter in parameters.items():
        parameter.grad = gradients[name]
    optimizer.step()
    return loss.item()


def row_by_row(model, optimizer, inputs, targets):
    model.train()
    optimizer.zero_grad()
    mean = 0.0
    for row, answers in zip(inputs, targets, strict=True):
        loss = functional.cross_entropy(model(row.unsqueeze(0))[0], answers) / len(inputs)
        loss.backward()
        mean += loss.item()
    optimizer.step()
    return mean


def with_a_look_in_eval_mode(model, optimizer, inputs, targets):
    model.train()
    optimizer.zero_grad()
    loss = functional.cross_entropy(*flat(model(inputs), targets))
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        model(inputs)
    model.train()
    return loss.item()


train_step.alternative("cleared after the step", version=clear_last)
train_step.alternative("a closure", version=with_closure)
train_step.alternative("torch.autograd.grad", version=with_autograd_grad)
train_step.alternative("torch.func.grad", version=with_function_transform)
train_step.alternative("row by row", version=row_by_row)
train_step.alternative("a look in eval mode", version=with_a_look_in_eval_mode)
train.alternative("cleared after each step", version=train_with(clear_last))
train.alternative("a closure in each step", version=train_with(with_closure))
train.alternative("the mode left to train_step", begin=nothing)
train.alternative("the mode set once", enter=nothing)
train.alternative("all batches taken first", choose=list)
train.alternative("numbered batches", choose=lambda batches: [pair for _, pair in enumerate(batches)])
train.alternative("losses stacked at the end", give=lambda loss: loss.detach(),
                  finish=lambda losses: torch.stack(losses).tolist() if losses else [])  # fmt: skip
