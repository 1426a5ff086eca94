"""What people write in `train_step` and `train` in place of the reference's lines; and other right ways to write them.

Right training code need not call the optimizer's `zero_grad` (`model.zero_grad`, `p.grad = None`, `torch.autograd.grad`
and a closure are right too), so nothing here asks which method was called. A mistake shows in the losses, in the final
parameters, and in the story of the gradients: what they were when the optimizer stepped, and what became of them.
"""

import torch
from torch.nn import functional as F  # noqa: N812  the field's name for it

from grader.api.checks import LearnerError, MistakeSet, kind_of, same

V, D = 7, 4  # vocabulary and width; batches are (3, 5): all sizes differ
SGD = {"lr": 0.5}
# a large eps: rounding in a tiny gradient must not flip its sign; no decay: it would move what has no gradient
ADAMW = {"lr": 0.05, "eps": 1e-3, "weight_decay": 0.0}
# all scores are 0, and the gradient of a single position has a norm of nearly 200
STEEP = {"layers.0.weight": torch.full((V, D), 100.0), "layers.1.weight": torch.zeros(V, D),
         "layers.1.bias": torch.zeros(V)}  # fmt: skip

train_step = MistakeSet("train_step", globals(), from_checks=False)
train = MistakeSet("train", globals(), from_checks=False)
MISTAKE_SETS = [train_step, train]


def mistake(id, says, suggests, **changes):
    """Register a wrong line of `train_step` for both functions: it is the same mistake in `train`, which calls it."""
    for mistake_set in MISTAKE_SETS:
        mistake_set.mistake(id, says, suggests, **changes)


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
        "parameters": {name: listed(values, start[name]) for name, values in after["state"].items()},
        "train mode": after["training"],
        "story": story(subject.events(), moved),
    }


def listed(values, before):
    """A parameter as lists: what the engine finds regular in its rows and columns helps nobody here."""
    return values.tolist() if values.shape == before.shape else kind_of(values)


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


@train_step.probe("a large gradient", stage="with a large gradient", atol=1e-3)
def _(subject, rand):
    return watch_steps(subject, rand, [(1, 1)], state=STEEP)


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


@train.probe("a large gradient", stage="with a large gradient", atol=1e-3)
def _(subject, rand):
    model = a_model(subject, STEEP)
    optimizer = subject.make_optimizer(model, "sgd", **SGD)
    return watch(subject, model, STEEP, lambda: subject.train(model, optimizer, [a_batch(rand, 1, 1)]))


@train.probe("a loss that rises", stage="while the loss is tiny, and when it rises", atol=1e-3)
def _(subject, rand):
    state = weights(rand) | {"layers.1.bias": torch.tensor([20.0] + [0.0] * (V - 1))}
    model = a_model(subject, state)
    optimizer = subject.make_optimizer(model, "sgd", **SGD)
    inputs = torch.zeros(2, 3, dtype=torch.int64)
    batches = [(inputs, torch.full((2, 3), token)) for token in (0, 0, 1, 0, 1)]
    return watch(subject, model, state, lambda: subject.train(model, optimizer, batches))


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


# --- probes that say in words what was done, whatever number somebody chose for it ------------------------------------


def cross_entropies(state, inputs, targets):
    """Minus the log-probabilities of all tokens at each position, (B·T, V), and those of the targets, (B·T,)."""
    logits = state["layers.0.weight"][inputs.flatten()] @ state["layers.1.weight"].T + state["layers.1.bias"]
    each = -logits.log_softmax(-1)
    return each, each.gather(-1, targets.flatten().unsqueeze(-1)).squeeze(-1)


def one_step(subject, function, state, batch, lr=0.5):
    """The loss of one step by `train_step` or `train`, and the parameters after it."""
    model = a_model(subject, state)
    optimizer = subject.make_optimizer(model, "sgd", lr=lr)
    given = (
        subject.train_step(model, optimizer, *batch)
        if function == "train_step"
        else subject.train(model, optimizer, [batch])
    )
    return (given if function == "train_step" else given[0]), model.state()["state"]


def what_the_loss_is(subject, function, rand):
    """In words what is added to the loss or left out, by two batches and two sets of weights."""
    found = []
    for _ in range(2):
        state, (inputs, _) = weights(rand), a_batch(rand, 2, V)
        targets = torch.stack([torch.randperm(V, generator=torch.Generator().manual_seed(k)) for k in (1, 2)])
        each, right = cross_entropies(state, inputs, targets)
        more = one_step(subject, function, state, (inputs, targets))[0] - right.mean().item()
        squares = sum(part.square().sum().item() for part in state.values())
        kept = [right[targets.flatten() != token].mean().item() for token in range(V)]
        left_out = [abs(mean - right.mean().item() - more) < 1e-5 for mean in kept]
        found.append((more, more / squares, more / (each.mean() - right.mean()).item(), left_out))
    (more, squared, smoothed, left_out), (more2, squared2, smoothed2, left_out2) = found
    if max(abs(more), abs(more2)) < 1e-5:
        return "cross-entropy"
    if any(one and other for one, other in zip(left_out, left_out2, strict=True)):
        return "without a token"
    if squared > 0 and abs(squared - squared2) < 0.02 * squared:
        return "with squares"
    return "smoothed" if smoothed > 0 and abs(smoothed - smoothed2) < 0.02 * smoothed else "something else"


def how_gradients_move(subject, function, rand):
    """Whether a large gradient moves the parameters as a small one does: "alike", "less" or "otherwise"."""
    shares = []
    for state, batch in ((weights(rand), a_batch(rand)), (STEEP, a_batch(rand, 1, 1))):
        leaves = {name: part.clone().requires_grad_() for name, part in state.items()}
        cross_entropies(leaves, *batch)[1].mean().backward()
        right = torch.cat([-0.5 * leaf.grad.flatten() for leaf in leaves.values()])
        after = one_step(subject, function, state, batch)[1]
        moved = torch.cat([(after[name] - part).flatten() for name, part in state.items()])
        share = (moved @ right / (right @ right)).item()
        if not same(moved, share * right, 1e-3):
            return "otherwise"
        shares.append(share)
    small, large = shares
    return "alike" if abs(large - small) < 0.01 * abs(small) else "less" if 0 < large < small < 1.01 else "otherwise"


def finite_far_apart(subject, function, rand):
    state = weights(rand) | {"layers.1.bias": torch.linspace(-100.0, 100.0, V)}
    return -1e-3 < one_step(subject, function, state, a_batch(rand))[0] < 1e4


def on_slices(subject, function, rand):
    model = a_model(subject, weights(rand))
    batch, asked = a_batch(rand), getattr(subject, function)
    given = (model, subject.make_optimizer(model, "sgd", **SGD))
    return asked.on_slices(*given, *batch) if function == "train_step" else asked.on_slices(*given, [batch])


for each in MISTAKE_SETS:
    for name, ask, aside in (("what the loss is", what_the_loss_is, False), ("slices", on_slices, True),
                             ("how gradients move", how_gradients_move, False),
                             ("scores 200 apart", finite_far_apart, True)):  # fmt: skip
        each.probe(name, aside=aside)(lambda subject, rand, ask=ask, name=each.function: ask(subject, name, rand))


@train.probe("how the batches are used")
def _(subject, rand):
    """In which order the losses come, and how many steps there are, while nothing moves."""
    state, batches = weights(rand), [a_batch(rand, 2, 3) for _ in range(6)]
    model = a_model(subject, state)
    subject.events()
    losses = subject.train(model, subject.make_optimizer(model, "sgd", lr=0.0), batches)
    rights = [cross_entropies(state, *batch)[1].mean().item() for batch in batches]
    events = [event[0] for event in subject.events() if event[0] in ("forward", "step")]
    steps = events.count("step")
    order = "otherwise"
    if isinstance(losses, list) and same(losses, rights, 1e-3):
        order = "in order"
    elif isinstance(losses, list) and same(sorted(losses), sorted(rights), 1e-3):
        order = "in another order"
    elif isinstance(losses, list) and {round(loss, 3) for loss in losses} == {round(right, 3) for right in rights}:
        order = "more than once"
    after_all = steps == 1 and events[-1] == "step" and events.count("forward") == len(batches)
    how = "after the last" if after_all else "some" if 0 < steps < 6 else f"{min(steps, 7)}"
    return {"order": order, "steps": how}


@train.probe("whether the loss ends it")
def _(subject, rand):
    found = []
    for bias, tokens in ((0.0, (0, 1, 2)), (20.0, (0, 0, 1, 0, 1))):
        model = a_model(subject, weights(rand) | {"layers.1.bias": torch.tensor([bias] + [0.0] * (V - 1))})
        batches = [(torch.full((2, 3), token), torch.full((2, 3), token)) for token in tokens]
        losses = subject.train(model, subject.make_optimizer(model, "sgd", lr=0.0 if bias == 0.0 else 0.5), batches)
        found.append(isinstance(losses, list) and len(losses) == len(tokens))
    return found[1]


# --- what expressions below use ---------------------------------------------------------------------------------------


def renew(model, optimizer):
    known = ("lr", "betas", "eps", "weight_decay")
    options = {key: optimizer.defaults[key] for key in known if key in optimizer.defaults}
    return type(optimizer)(model.parameters(), **options)


def picked(log_p, answers):
    return -log_p.gather(-1, answers.unsqueeze(-1)).mean()


def one_hot(flat, answers):
    return F.one_hot(answers, flat.size(-1)).to(flat.dtype)


def first_only(batches):
    for batch in batches:
        return [batch]
    return []


def first_again_and_again(batches):
    kept = list(batches)
    return kept[:1] * len(kept)


# fmt: off
# --- clear, backward, step
mistake("tr-no-zero-grad", "Gradients pile up: `backward` adds to `.grad` and nothing clears it, so every step after "
    "the first also follows the batches before it.", "Clear the gradients once per step (`optimizer.zero_grad()`), "
    "before `backward` or after `step`.", clear="pass")
mistake("tr-zero-before-step", "The gradients are cleared between `backward` and `step`: each step finds none, and no "
        "parameter ever moves.", "Move `zero_grad` to before `backward` or to after `step`.",
        pull="loss.backward()\noptimizer.zero_grad()")
mistake("tr-no-step", "The gradients are computed, but `optimizer.step()` is never called, so no parameter ever moves.",
        "Call `optimizer.step()` after `backward`.", move="pass")
EXCHANGE = "Exchange the two: first `loss.backward()`, then `optimizer.step()`."
mistake("tr-step-before-backward", "The optimizer steps before `backward` has run: it finds no gradient, and the one "
        "computed afterwards is cleared before the next step.", EXCHANGE, coding="clear, step, backward",
        pull="optimizer.step()", move="loss.backward()")
mistake("tr-step-before-backward", "The optimizer steps between the forward pass and `backward`. From the second batch "
    "on this changes the parameters that `backward` still needs, and torch raises an error.", EXCHANGE,
    coding="step, clear, backward", alone=True, clear="optimizer.step()", pull="optimizer.zero_grad()",
    move="loss.backward()")
mistake("tr-step-before-backward", "The step comes before the loss and `backward`, so each step uses the gradient of "
    "the batch before, and the last gradient is never used.", "Put `optimizer.step()` after `loss.backward()`.",
    coding="step first of all", alone=True, enter="optimizer.step()\noptimizer.zero_grad()\nmodel.train()",
    clear="pass", move="pass")
mistake("tr-step-twice", "The optimizer steps twice on one gradient: the parameters go too far, and AdamW counts the "
    "batch twice.", "Keep one `optimizer.step()` for each `backward`.", move="optimizer.step()\noptimizer.step()")
mistake("tr-grad-blocked", "The optimizer steps, but no gradient ever reaches the parameters: `loss.backward()` is "
    "missing, or the loss was made into a new tensor (`torch.tensor(...)`, `.detach()`, `requires_grad_()`) that knows "
    "nothing of them.", "Call `backward` on the loss exactly as it came out of the model's logits.", pull="pass")
mistake("tr-grad-blocked", "`backward` finds nothing to follow: on the way from the parameters to the loss something "
    "cuts the graph, such as `argmax`, `.detach()`, `.data`, `.item()`, numpy or `torch.tensor(...)`.",
    "Stay with differentiable tensor operations from `model(inputs)` to the loss.", coding="backward raises",
    alone=True, forward="model(inputs).detach()")
NO_GRAD = "with torch.no_grad():\n    logits = model(inputs)"
mistake("tr-grad-blocked", "The model runs under `torch.no_grad()`, so nothing is recorded and `backward` has nothing "
    "to follow.", "Take `model(inputs)` out of `torch.no_grad()`; that is for evaluation.", coding="no_grad",
    alone=True, forward=NO_GRAD)
mistake("tr-grad-blocked", "The model runs under `torch.no_grad()`, so nothing is recorded; setting `requires_grad` on "
    "the loss does not connect it with the parameters, and nothing moves.", "Take `model(inputs)` out of "
    "`torch.no_grad()`; that is for evaluation.", coding="no_grad, and requires_grad set", alone=True, forward=NO_GRAD,
    score="F.cross_entropy(flat, answers).requires_grad_()")
mistake("tr-ascent", "Your loss has the wrong sign, so every step climbs: the model learns to give the right token "
    "less probability.", "Take out the minus: cross-entropy is already the negative log-probability.",
    pull="loss = -loss\nloss.backward()")
mistake("tr-ascent", "The loss is right, but the gradient that you follow has the wrong sign, so every step makes the "
    "loss larger.", "Call `backward` on the loss itself, not on its negative.", coding="only the gradient", alone=True,
    pull="(-loss).backward()")
# "tr-clip-order" cannot occur in these functions: nothing is to be clipped, and clipping before `backward` or after
# `step` changes no number. What can go wrong is clipping in the right place.
mistake("tr-clipped", "You clip the gradients to norm 1, which was not asked for: large gradients move the parameters "
    "too little.", "Take out `clip_grad_norm_`; the step uses the gradient as it is.", alone=True,
    pull="loss.backward()\ntorch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)")
for norm in (5.0, 10.0):
    mistake("tr-clipped", f"You clip the gradients to norm {norm:g}, which was not asked for: larger ones move the "
            "parameters too little.", "Take out `clip_grad_norm_`; the step uses the gradient as it is.",
            coding=f"to {norm:g}", alone=True,
            pull=f"loss.backward()\ntorch.nn.utils.clip_grad_norm_(model.parameters(), {norm})")

for value in (0.5, 1.0, 5.0):
    mistake("tr-clipped", f"You clip each entry of the gradients to ±{value:g}, which was not asked for: another "
    f"direction.",
            "Take out `clip_grad_value_`; the step uses the gradient as it is.", coding=f"by value {value:g}",
            alone=True,
            pull=f"loss.backward()\ntorch.nn.utils.clip_grad_value_(model.parameters(), {value})")
mistake("tr-clipped", "You clip the gradients, which was not asked for: large ones move the parameters too little.",
        "Take out `clip_grad_norm_`; the step uses the gradient as it is.", coding="to some norm",
        only=("how gradients move", "who moves the parameters"),
        pull="loss.backward()\ntorch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)")
mistake("tr-clipped", "You clip the gradients, which was not asked for: all of them move the parameters too little.",
        "Take out `clip_grad_norm_`; the step uses the gradient as it is.", coding="to a small norm", alone=True,
        pull="loss.backward()\ntorch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)")

# --- the optimizer
FORGETS = ("The parameters move, but not by the optimizer that you were given: a new one (or an update by hand) does "
    "it, and it knows nothing of the running means that AdamW gathers from step to step.")
USE_IT = "Make no optimizer: call `optimizer.step()` on the one that is passed in."
mistake("tr-optimizer-recreated", FORGETS, USE_IT, coding="in each step", move="renew(model, optimizer).step()")
train.mistake("tr-optimizer-recreated", FORGETS, USE_IT, coding="in each call",
take_optimizer="renew(model, optimizer)")
mistake("tr-optimizer-recreated", FORGETS, USE_IT, coding="of another kind", only=("who moves the parameters",),
        move="torch.optim.AdamW(model.parameters(), lr=1e-2).step()")

# --- which token is the answer
SHIFTED = "Compare the scores at position t with `targets[:, t]`: the targets are already one step later."
ALL_T = "Take out the slices: all T logits go with all T targets."
LAST_TOO = "Use `targets`: they hold the true next token for the last position too."
mistake("tr-target-is-input", "The model is asked to repeat its input: the loss compares each position with the token "
    "it has just read, which it can copy.", "Compare the logits with `targets`, not with `inputs`.",
    answers="inputs.flatten()")
mistake("tr-target-previous", "The shift goes the wrong way: the scores at position t are compared with the target of "
    "position t − 1, which is the token that the model has just read.", SHIFTED, coding="targets of the position "
    "before", flatten="logits[:, 1:].flatten(0, 1)", answers="targets[:, :-1].flatten()")
mistake("tr-target-previous", "The shift goes the wrong way: the model is asked for the token before the one it has "
    "just read.", SHIFTED, coding="inputs of the position before", alone=True, flatten="logits[:, 1:].flatten(0, 1)",
    answers="inputs[:, :-1].flatten()")
mistake("tr-target-previous", "The targets are rolled the wrong way: position t gets the target of position t − 1, and "
    "the first position gets the last one's.", SHIFTED, coding="targets rolled", alone=True,
    answers="targets.roll(1, dims=1).flatten()")
mistake("tr-target-previous", "The inputs are rolled the wrong way to make targets: position t is asked for the token "
        "before its own.", SHIFTED, coding="inputs rolled", alone=True, answers="inputs.roll(1, dims=1).flatten()")
mistake("tr-double-shift", "The targets are shifted twice: they come already one step later, and you shift again, so "
    "the model learns to predict two tokens ahead.", ALL_T, flatten="logits[:, :-1].flatten(0, 1)",
    answers="targets[:, 1:].flatten()")
mistake("tr-double-shift", "The targets are shifted twice: they come already one step later, and you roll them by one "
        "more. The model learns to predict two tokens ahead, and at the end of a row the row's first target.",
        "Use `targets` as they come.", coding="rolled", alone=True, answers="targets.roll(-1, dims=1).flatten()")
mistake("tr-roll-across-batch", "You make the targets by rolling the flattened inputs, so the last position of each "
    "row is asked for the first token of another sequence.", LAST_TOO, answers="inputs.flatten().roll(-1)")
mistake("tr-roll-across-batch", "`roll` without `dims` rolls the flattened tensor: the targets are shifted a second "
    "time, and the last position of each row gets a token of another sequence.", "Use `targets` as they come: they are "
    "already shifted.", coding="targets", alone=True, answers="targets.roll(-1).flatten()")
mistake("tr-roll-within-row", "You make the targets by rolling each row of the inputs, so its last position is asked "
    "for the row's own first token.", LAST_TOO, alone=True, answers="inputs.roll(-1, dims=1).flatten()")
mistake("tr-last-position-dropped", "The last position of each row is left out of the loss (a slice such as `logits[:, "
        ":-1]`), though `targets` holds its answer too.", ALL_T, alone=True, flatten="logits[:, :-1].flatten(0, 1)",
        answers="targets[:, :-1].flatten()")
mistake("tr-last-token-only", "The loss looks at the last position only, so T − 1 of the T answers in each row teach "
    "the model nothing.", "Use all positions: no `[:, -1]`.", flatten="logits[:, -1]", answers="targets[:, -1]")

# --- the loss
FLATTEN = "Flatten both, `logits.flatten(0, 1)` and `targets.flatten()`, or use `logits.transpose(1, 2)`."
BELONG = "so scores and answers no longer belong together."
mistake("tr-bad-reshape", "`view` (or `reshape`) to (B, V, T) does not swap axes, it cuts the same numbers anew: the "
    "shape fits, but each position gets scores that belong to others.", FLATTEN,
    flatten="logits.reshape(logits.size(0), logits.size(2), logits.size(1))", answers="targets")
mistake("tr-bad-reshape", f"The logits are flattened position by position and the targets row by row, {BELONG}",
    FLATTEN, coding="batch and time swapped in the logits", alone=True, flatten="logits.transpose(0, 1).flatten(0, 1)")
mistake("tr-bad-reshape", f"The targets are flattened position by position and the logits row by row, {BELONG}",
    FLATTEN, coding="batch and time swapped in the targets", alone=True, answers="targets.T.flatten()")
mistake("tr-bad-reshape", "The logits are transposed to (B, V, T) and then flattened to rows of V numbers: a row no "
    "longer holds the scores of one position.", FLATTEN, coding="vocabulary and time swapped", alone=True,
    flatten="logits.transpose(1, 2).reshape(-1, logits.size(-1))")
mistake("tr-bad-reshape", "`cross_entropy` wants the classes on axis 1, but axis 1 of the logits (B, T, V) is time: an "
        "error on most shapes, silently wrong where T = V.", FLATTEN, coding="not reshaped", alone=True,
        flatten="logits", answers="targets")
mistake("tr-softmax-before-ce", "`cross_entropy` gets probabilities instead of raw logits: softmax is taken twice, so "
    "even a perfect answer costs ln(1 + (V − 1)/e).", "Give `cross_entropy` the logits as they come; it takes the "
    "log-softmax itself.", forward="model(inputs).softmax(-1)")
LOG_FIRST = "Use `cross_entropy` on the raw logits, or `nll_loss` on `log_softmax`."
mistake("tr-softmax-before-ce", "`nll_loss` gets probabilities, but it wants their logarithms: the loss lies between "
    "−1 and 0.", LOG_FIRST, coding="nll_loss", alone=True, score="F.nll_loss(flat.softmax(-1), answers)")
mistake("tr-no-log-softmax", "`nll_loss` gets raw logits, but it wants log-probabilities: nothing holds the other "
    "scores down, so the loss falls without end.", LOG_FIRST, alone=True, score="F.nll_loss(flat, answers)")
MEAN = "Take the mean over all B·T positions, once: it is what `cross_entropy` does by itself."
TOTAL = "F.cross_entropy(flat, answers, reduction='sum')"
mistake("tr-reduction-sum", "Your loss is the sum over all positions, B·T times the mean: the steps are B·T times too "
        "long.", MEAN, score=TOTAL)
mistake("tr-reduction-none",
        'Your loss holds one number for each position (`reduction="none"`), and `backward` needs a '
        "single one.", MEAN, alone=True, score="F.cross_entropy(flat, answers, reduction='none')")
mistake("tr-reduction-sum", "Your loss is summed over each row's positions and averaged over the rows only: T times "
    "the mean.", MEAN, coding="over a row", alone=True, score=f"{TOTAL} / targets.size(0)")
mistake("tr-reduction-sum", "Your loss is averaged over the positions of a row, but summed over the rows: B times the "
        "mean.", MEAN, coding="over the batch", alone=True, score=f"{TOTAL} / targets.size(1)")
mistake("tr-reduction-sum", "Your loss is 1/V of what it should be: the mean also runs over the V entries of each "
    "position, all but one of which are 0.", "Sum over the vocabulary, and take the mean over the B·T positions.",
    coding="mean over the vocabulary too", alone=True, score="F.cross_entropy(flat, answers) / flat.size(-1)")
MSE = "Use cross-entropy: minus the log-probability of the right token."
mistake("tr-loss-as-mse", "The loss is the squared distance of the logits from a one-hot vector: tokens are treated as "
        "numbers to hit, not as one choice out of V.", MSE, score="F.mse_loss(flat, one_hot(flat, answers))")
mistake("tr-loss-as-mse", "The loss is the squared distance of the probabilities from a one-hot vector: it hardly "
    "punishes a confident wrong answer, and its gradient vanishes there.", MSE, coding="of probabilities", alone=True,
    score="F.mse_loss(flat.softmax(-1), one_hot(flat, answers))")
ARGMAX = "Leave out `argmax`, and use cross-entropy of the logits, which is differentiable."
mistake("tr-loss-as-argmax", "The loss compares the chosen token's number (`argmax`) with the target's. `argmax` has "
    "no gradient, and setting `requires_grad` on the loss does not connect it with the parameters: nothing moves.",
    ARGMAX, score="(flat.argmax(-1) - answers).to(flat.dtype).square().mean().requires_grad_()")
mistake("tr-loss-as-argmax", "The loss is the share of wrong choices (`argmax`). It has no gradient, and setting "
        "`requires_grad` on it does not connect it with the parameters: nothing moves.", ARGMAX,
        coding="the share of errors", alone=True,
        score="(flat.argmax(-1) != answers).to(flat.dtype).mean().requires_grad_()")
train_step.mistake("tr-log-epsilon", "A small constant inside the logarithm, log(p + ε), hides how unlikely a token "
    "was: the loss levels off at −ln ε, and beyond it the gradient vanishes.", "Use `cross_entropy` or `log_softmax` "
    "on the logits: they need no ε.", only=("tokens ever less likely",), score="picked((flat.softmax(-1) + "
    "1e-9).log(), answers)")

PLAIN = "Use plain `cross_entropy(flat, answers)`."
LOSS = {"only": ("what the loss is",)}
mistake("tr-label-smoothing", "Your loss has label smoothing: a share of each answer goes to all other tokens.", PLAIN,
        **LOSS, score="F.cross_entropy(flat, answers, label_smoothing=0.1)")
mistake("tr-ignore-index", "One token is left out of your loss (`ignore_index`, or a selection of positions), as if "
        "it were "
        "padding; here every token counts.", PLAIN, **LOSS, score="F.cross_entropy(flat, answers, ignore_index=0)")
mistake("tr-l2-in-loss", "The squares of the parameters are added to your loss, so it is no longer the loss that was "
        "asked "
        "for.", "Leave weight decay to the optimizer.", **LOSS,
        score="F.cross_entropy(flat, answers) + 1e-3 * sum(p.square().sum() for p in model.parameters())")
train_step.mistake("tr-log-of-softmax", "You take the logarithm of a softmax (or of exp / sum): where scores lie a "
        "hundred apart "
        "it is "
        "log(0) or NaN.", LOG_FIRST, only=("scores 200 apart",), score="picked(flat.softmax(-1).log(), answers)")
mistake("tr-view", "It works only on tensors without gaps in their memory: `view` cannot join the axes of `ids[:, "
        ":-1]`.",
        "Use `reshape(-1)` or `flatten()` in place of `view(-1)`.", only=("slices",), answers="targets.view(-1)")

# --- the mode
NEVER = "You never call `model.train()`: a model that arrives in eval mode is trained with its dropout off."
IN_TRAIN_MODE = "Call `model.train()` before the forward pass."
BACK = "Go back with `model.train()` after every evaluation."
LATE = "loss = F.cross_entropy(flat, answers)\nmodel.train()"
train_step.mistake("tr-eval-mode", NEVER, IN_TRAIN_MODE, enter="pass")
train.mistake("tr-eval-mode", NEVER, IN_TRAIN_MODE, begin="pass", enter="pass")
mistake("tr-eval-mode", "You call `model.eval()` for training: dropout is off while the model learns, and stays off.",
        "Call `model.train()` in its place; `eval()` is for measuring.", coding="eval() called", alone=True,
        enter="model.eval()")
train_step.mistake("tr-eval-mode", "`model.train()` comes after the forward pass: a model that arrives in eval mode "
    "still runs with its dropout off.", IN_TRAIN_MODE, coding="train() too late", alone=True, enter="pass", score=LATE)
train.mistake("tr-eval-mode", "`model.train()` comes after the forward pass: for the first batch the model is still in "
    "the mode it arrived in.", IN_TRAIN_MODE, coding="train() too late", alone=True, begin="pass", enter="pass",
    score=LATE)
mistake("tr-no-train-after-eval", "The model is left in eval mode: `model.eval()` is called after the step, and "
    "nothing undoes it.", BACK, move="optimizer.step()\nmodel.eval()")
train.mistake("tr-no-train-after-eval", "`model.train()` is called once, and `model.eval()` inside the loop: from the "
              "second batch on the model is trained with its dropout off.", BACK, coding="in the loop", alone=True,
              enter="pass", move="optimizer.step()\nmodel.eval()")

# --- what is returned
mistake("tr-loss-tensor-kept", "You return the loss as a tensor. With its graph still attached it keeps everything of "
    "its step alive, and memory grows with every batch.", "Return `loss.item()`, a Python float.", give="loss")
mistake("tr-loss-tensor-kept", "You return the loss as a numpy array, not as a Python float.", "Return `loss.item()`.",
        coding="numpy", alone=True, give="loss.detach().numpy()")
mistake("tr-loss-after-step", "The loss that you return is measured after the step; return the one from before it, "
    "whose gradient was used.", "Return the loss on which you called `backward`.", alone=True,
    give="with torch.no_grad():\n    return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()")

# --- the loop of train
mistake, right = train.mistake, train.alternative
CALL = "train_step(model, optimizer, inputs, targets)"
WHOLE_LOOP = "Let the loop go through all batches, and put `return` after it, not inside."
mistake("tr-first-batch-only", "The loop stops after the first batch: there is a `break` (or a `return`) inside it.",
        WHOLE_LOOP, coding="break", batches="first_only(batches)")
mistake("tr-first-batch-only", "The loop stops after the first batch: the `return` is inside it.", WHOLE_LOOP,
        coding="return", alone=True, append=f"return [{CALL}]", finish="None")
mistake("tr-first-batch-only", "The loop ends at the first batch, with a `return` inside it that gives back one loss "
        "instead of a list.", WHOLE_LOOP, coding="its loss alone", alone=True, append=f"return {CALL}", finish="None")
mistake("tr-first-batch-only", "Every step is taken on the first batch; the others are never seen.",
        "Unpack inputs and targets from each batch inside the loop.", coding="again and again", alone=True,
        # to look at `batches[0]` is an error of one kind or another where there is none, and with a generator
        only=tuple(probe.name for probe in train.probes if not probe.aside and probe.name not in ("no batch",
        "batches from a generator")),
        batches="first_again_and_again(batches)")
USED = {"only": ("how the batches are used",)}
train.mistake("tr-shuffled", "The batches are taken in another order than they come in.",
              "Go through `batches` as it is: no sorting, shuffling or reversing.", **USED,
              batches="list(batches)[::-1]")
train.mistake("tr-several-epochs", "You go through the batches more than once.",
        "Go through `batches` once: who wants more "
              "epochs calls `train` again.", **USED, batches="list(batches) * 2")
HELD = {"clear": "pass", "move": "pass"}
train.mistake("tr-accumulated", "You gather the gradients of several batches before each step.",
        "Take a step on each batch.",
              **USED, **HELD, append=f"losses.append({CALL})\nif len(losses) % 2 == 0:\n    optimizer.step()")
train.mistake("tr-step-after-loop", "There is one step, after the loop: it follows the sum of all gradients.",
              "Call `optimizer.step()` for each batch, inside the loop.", **USED, **HELD,
              finish="optimizer.step()\nreturn losses")
train.mistake("tr-early-stop", "The loop ends before the last batch, where the loss is small or rises.",
              "Take out the `break`: every batch has its step, whatever its loss.", coding="by some rule",
              only=("whether the loss ends it", "three batches with SGD"),
              append=f"losses.append({CALL})\nif losses[-1] < 1e-4:\n    break")
for when, stop in (("rises", "len(losses) > 1 and losses[-1] > losses[-2]"), ("is small", "losses[-1] < 0.1")):
    mistake("tr-early-stop", f"The loop ends before the last batch: it stops when the loss {when}.",
            "Take out the `break`: every batch has its step, whatever its loss.", coding=f"when the loss {when}",
            alone=True, append=f"losses.append({CALL})\nif {stop}:\n    break")
mistake("tr-losses-not-kept", "Every step is taken, and its loss is dropped: the list that you return stays empty.",
        "Append what `train_step` returns to the list, inside the loop.", alone=True, append=CALL)
# An average is the only way in which batches of unequal size could be weighed wrongly here.
mistake("tr-unweighted-average", "You return one average instead of the list. As an average it would mislead, too: the "
        "mean of batch means counts a token in a small batch more than one in a large batch.",
        "Return the list of losses, one for each batch.", finish="sum(losses) / len(losses)")
mistake("tr-last-loss-only", "You return the last loss instead of the list of all of them.",
        "Collect the losses in a list inside the loop, and return the list.", alone=True,
        finish="losses[-1] if losses else None")

# --- just as right
CLEAR_LAST = {"clear": "pass", "give": "optimizer.zero_grad()\nreturn loss.item()"}
CLOSURE = {
    "clear": "def closure():\n    optimizer.zero_grad()\n    loss.backward()\n    return loss",
    "pull": "pass",
    "move": "optimizer.step(closure)",
}
right("cleared after each step", **CLEAR_LAST)
right("a closure in each step", **CLOSURE)
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
right("float", give="float(loss.detach())")
right("loss.detach().item()", give="loss.detach().item()")
right("loss.tolist()", give="loss.tolist()")
right("cleared after the step", **CLEAR_LAST)
right("a closure", **CLOSURE)
right("a look in eval mode", move="""optimizer.step()
model.eval()
with torch.no_grad():
    model(inputs)
model.train()""")
# fmt: on


def with_autograd_grad(model, optimizer, inputs, targets):
    model.train()
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
    parameters = list(model.parameters())
    for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
        parameter.grad = gradient
    optimizer.step()
    return loss.item()


def with_function_transform(model, optimizer, inputs, targets):
    model.train()

    def loss_of(parameters):
        logits = torch.func.functional_call(model, parameters, (inputs,))
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

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
        loss = F.cross_entropy(model(row.unsqueeze(0))[0], answers) / len(inputs)
        loss.backward()
        mean += loss.item()
    optimizer.step()
    return mean


right("torch.autograd.grad", version=with_autograd_grad)
right("torch.func.grad", version=with_function_transform)
right("row by row", version=row_by_row)
