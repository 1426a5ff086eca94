"""What people write in `TwoBits` and `fit` in place of the reference's lines; and other right ways to write them.

Sizes, start and optimiser are the learner's own, so a probe says in words what a model or a loop does: what a model
sees, and which loss a loop reports first.
"""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  the field's name for it

from grader.api.checks import LearnerError, MistakeSet

V, T = 11, 9

model = MistakeSet("TwoBits", globals(), checks=())
loop = MistakeSet("fit", globals(), checks=())
MISTAKE_SETS = [model, loop]

model.example(11, 9)


# --- what a model does ------------------------------------------------------------------------------------------------


def seen(title, stage=None):
    """Register `see(model, ids)` as a probe of an untrained model."""

    def register(see):
        @model.probe(title, stage=title if stage is None else stage)
        def _(subject, rand):
            made = subject.TwoBits(V, T).eval()
            return see(made, rand.integers(0, V, 3, 7), rand)

        return see

    return register


@seen("in its shape")
def _(made, ids, rand):
    return [list(made(part).shape) for part in (ids, ids[:, :1], ids[:1])]


@seen("in its dtype")
def _(made, ids, rand):
    return str(made(ids).dtype)


def differs(made, ids, place):
    """At which places another word at this place makes another output."""
    other = ids.clone()
    other[:, place] = (other[:, place] + 1) % V
    one, two = made(ids), made(other)
    if one.ndim != 3:
        return "no outputs for each place"
    return [bool(different) for different in (one != two).any(-1).any(0)]


@seen("in what depends on a word in the middle")
def _(made, ids, rand):
    return differs(made, ids, 3)


@seen("in what depends on the last word")
def _(made, ids, rand):
    return differs(made, ids, 6)


@seen("in whether rows see each other")
def _(made, ids, rand):
    together, alone = made(ids)[1:2], made(ids[1:2])
    return together.shape == alone.shape and bool(torch.allclose(together, alone, atol=1e-4))


@seen("in where it starts")
def _(made, ids, rand):
    long = rand.integers(0, V, 40, T)
    logits = made(long)
    if logits.ndim != 3 or logits.shape[:2] != long.shape:
        return "no outputs for each place"
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), long[:, 1:].flatten()).item()
    return "near ln V" if loss < 3.6 else "far off"


@seen("in whether it gives probabilities")
def _(made, ids, rand):
    return bool(torch.allclose(made(ids).sum(-1), torch.ones(()), atol=1e-3))


@seen("in whether it gives numbers")
def _(made, ids, rand):
    return bool(torch.isfinite(made(ids)).all())


@seen("in whether it gives the same twice")
def _(made, ids, rand):
    return torch.equal(made(ids), made(ids))


@seen("in what becomes of the ids")
def _(made, ids, rand):
    return torch.equal(made.observe(ids).args[0], ids)


@seen("in whether a gradient comes back")
def _(made, ids, rand):
    grads = made.gradients(ids, wrt=[], weights=rand(*made(ids).shape)) or {}
    return any(grad is not None and bool(grad.any()) for grad in grads.values())


# --- what a loop does -------------------------------------------------------------------------------------------------


def spied(subject, rand, **more):
    state = {"layers.0.weight": rand(V, 6), "layers.1.weight": rand(V, 6), "layers.1.bias": rand(V)}
    return subject.make_model([["embedding", V, 6], ["linear", 6, V]], state, **more), state


def told(subject, made, data, starts, block_size):
    """What `fit` reports, and how it calls the model."""
    subject.events()
    subject.fit(made, data, starts, block_size, subject.make_report(len(starts)))
    events = subject.events()
    return [e[1] for e in events if e[0] == "report"], [e[1:3] for e in events if e[0] == "forward"]


def in_words(name, run):
    """Register a probe whose errors are one observation, since loops stumble in many ways over the same line."""

    @loop.probe(name, stage=name)
    def _(subject, rand):
        try:
            return run(subject, rand)
        except LearnerError as error:
            if error.kind != "raised":
                raise
            return next((text for text in ("Expected target", "does not require grad") if text in error.text), "error")


def first_loss(rows, block_size):
    def run(subject, rand):
        data, starts = rand.integers(0, V, 40), rand.integers(2, 38 - block_size, 1, rows)
        return told(subject, spied(subject, rand)[0], data, starts, block_size)[0][:1]

    return run


def at_the_end(subject, rand):
    return told(subject, spied(subject, rand)[0], rand.integers(0, V, 12), torch.tensor([[0, 6, 6]]), 5)[0][:1]


def how_often(subject, rand):
    losses, calls = told(subject, spied(subject, rand)[0], rand.integers(0, V, 40), rand.integers(0, 35, 6, 3), 5)
    return len(losses), [shape for _, shape in calls]


def in_which_mode(subject, rand):
    made, _ = spied(subject, rand, training=False)
    return told(subject, made, rand.integers(0, V, 40), rand.integers(0, 35, 6, 3), 5)[1][0][0]


def what_moves(subject, rand):
    made, state = spied(subject, rand)
    told(subject, made, rand.integers(0, V, 60), rand.integers(0, 50, 4, 9), 8)
    after = made.state()
    moved = [bool((part != state[name]).any()) for name, part in after["state"].items()]
    if any(moved):
        return moved
    return "no gradient" if all(grad is None or not bool(grad.any()) for grad in after["grads"].values()) else "no step"


def whether_it_piles_up(subject, rand):
    """Whether twelve steps on one row of windows leave a gradient that is several times that of one step."""
    (_, state), data, starts = spied(subject, rand), rand.integers(0, V, 40), rand.integers(0, 35, 1, 3)
    sizes = []
    for rows in (1, 12):
        made = subject.make_model([["embedding", V, 6], ["linear", 6, V]], state)
        told(subject, made, data, starts.expand(rows, 3).contiguous(), 5)
        grad = made.state()["grads"]["layers.1.bias"]
        sizes.append(0.0 if grad is None else float(grad.abs().sum()))
    return sizes[1] > 3 * sizes[0]


def what_becomes_of_the_text(subject, rand):
    made, data, starts = spied(subject, rand)[0], rand.integers(0, V, 40), rand.integers(0, 30, 3, 3)
    after = subject.fit.observe(made, data, starts, 5, subject.make_report(3)).args
    return torch.equal(after[1], data) and torch.equal(after[2], starts)


in_words("in its first loss", first_loss(3, 5))
in_words("in its first loss, of one window", first_loss(1, 5))
in_words("in its first loss, of one place", first_loss(4, 1))
in_words("at the end of the text", at_the_end)
in_words("in its steps", how_often)
in_words("in its mode", in_which_mode)
in_words("in what it moves", what_moves)
in_words("in its gradients", whether_it_piles_up)
in_words("in what becomes of the text", what_becomes_of_the_text)


def look_back(scores, diagonal=1):
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(diagonal)
    return scores.masked_fill(later, float("-inf")).softmax(-1)


# fmt: off
# --- wrong models -----------------------------------------------------------------------------------------------------
wrong, right = model.mistake, model.alternative
wrong("tb-no-mask", "Outputs depend on later words: your model sees the answers. Its training loss looks fine, and "
      "what it writes does not.", "Mask the attention: place t may attend to 0 ... t alone.",
      blend="F.scaled_dot_product_attention(q, k, v)")
wrong("tb-no-self", "The outputs are NaN. A softmax gives that where the mask hides every place of a row, as it does "
      "in the first if each place is hidden from itself, too.", "Hide what comes later, and nothing else: "
      "`triu(diagonal=1)`.", blend="look_back(q @ k.transpose(-2, -1), 0) @ v")
wrong("tb-no-attention", "Each output depends on its own word alone: nothing looks back. That is a table of pairs of "
      "words, with a loss of 1.646.", "Add the attention's output to the stream in each block.", look="x")
wrong("tb-batch-axis", "Attention runs over the rows of the batch: texts see each other, and no text sees itself.",
      "The batch comes first: `batch_first=True`, or the axis of places is number 1.",
      blend="F.scaled_dot_product_attention(q.transpose(0, 2), k.transpose(0, 2), v.transpose(0, 2), is_causal=True)"
            ".transpose(0, 2)")
wrong("tb-large-start", "The model starts with strong opinions: the first loss is far above ln(vocab_size), and 800 "
      "steps do not repair it.", "Begin with small weights: `nn.init.normal_(weight, std=0.02)`.",
      start="[nn.init.normal_(weight) for weight in self.parameters() if weight.ndim > 1]")
wrong("tb-softmax-out", "forward gives probabilities; the loss takes the softmax itself.", "Return the logits.",
      give="torch.softmax(self.head(self.norm(x)), -1)")
wrong("tb-last-only", "forward gives the logits of the last place alone; every place is trained.",
      "Return (B, T, vocab_size).", give="self.head(self.norm(x))[:, -1]")
wrong("tb-full-table", "The whole table of positions is added: a text that is shorter than max_len does not fit.",
      "Take the first rows: `self.pos.weight[: ids.size(1)]`.", embed="self.tok(ids) + self.pos.weight")
wrong("tb-dropout-always", "Dropout is on in eval mode too.", "Use `nn.Dropout`, or `F.dropout(x, p, self.training)`.",
      embed="F.dropout(self.tok(ids) + self.pos.weight[: ids.size(1)], 0.5)")
wrong("tb-ids-changed", "The caller's ids are changed.", "Make a new tensor.",
      embed="ids[:, 0] = 0\nx = self.tok(ids) + self.pos.weight[: ids.size(1)]")
wrong("tb-detached", "No gradient comes back from the logits.", "Leave out `.detach()`, `.data` and `no_grad`.",
      give="self.head(self.norm(x)).detach()")

right("without positions", embed="self.tok(ids)")
right("without a network in the block", think="x")
right("with a table of its own for the logits", tie="pass", start="nn.init.normal_(self.tok.weight, std=0.02)")
right("a mask by hand", blend="look_back(q @ k.transpose(-2, -1) / q.size(-1) ** 0.5) @ v")


class OfTorch(nn.Module):
    """Of torch's own layers, with dropout."""

    def __init__(self, vocab_size, max_len):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab_size, 32), nn.Embedding(max_len, 32)
        layer = nn.TransformerEncoderLayer(32, 2, 64, 0.1, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(32, vocab_size)

    def forward(self, ids):
        steps = ids.size(1)
        mask = torch.ones(steps, steps, dtype=torch.bool, device=ids.device).triu(1)
        return self.head(self.layers(self.tok(ids) + self.pos.weight[:steps], mask=mask))


right("of torch's layers", version=OfTorch)

# --- wrong loops ------------------------------------------------------------------------------------------------------
wrong, right = loop.mistake, loop.alternative
wrong("tb-target-is-input", "The targets are the inputs: the model learns to say what it has just read. Its own loss "
      "falls to 0.004, and on the next word it is 8.5.", "Shift by one: `data[places + 1]`.", targets="data[places]")
wrong("tb-two-ahead", "The targets are two places ahead.", "Shift by one: `data[places + 1]`.",
      targets="data[(places + 2).clamp(max=len(data) - 1)]")
wrong("tb-two-ahead", coding="by slices", targets="torch.stack([data[s + 2 : s + block_size + 2] for s in row])")
wrong("tb-target-previous", "The targets are the words before: all of them stand in the input.",
      "Shift by one, forwards: `data[places + 1]`.", targets="data[(places - 1).clamp(min=0)]")
wrong("tb-softmax-before-loss", "You take a softmax before the loss, which takes one itself.",
      "Give the logits to cross_entropy.",
      score="F.cross_entropy(logits.softmax(-1).flatten(0, 1), targets.flatten())")
wrong("tb-summed", "The loss is a sum over places, and grows with the batch.", "Take the mean.",
      score="F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction='sum')")
wrong("tb-last-place-only", "Only the last place of each window is in the loss: of 32 answers 31 are thrown away.",
      "Take the mean over all places of all windows.", score="F.cross_entropy(logits[:, -1], targets[:, -1])")
wrong("tb-no-zero-grad", "Gradients pile up: nobody clears those of earlier steps.", "Call `optimizer.zero_grad()` in "
      "each step.", clear="pass")
wrong("tb-cleared-too-late", "At the step there is no gradient to go along: `backward` is missing, is called on a new "
      "tensor of the loss's number, or the gradient is cleared behind it.", "Clear, backward of the loss itself, step: "
      "in this order.", clear="pass", pull="loss.backward(); "
        "optimizer.zero_grad()")
wrong("tb-no-step", "No parameter moves.", "Call `optimizer.step()` after `backward`.", move="pass")
wrong("tb-eval-mode", "The model is trained in eval mode: dropout is off.", "Call `model.train()` first.",
      enter="model.eval()")
wrong("tb-one-row", "Only the first row of starts is used.", "One step for each row.", rows="enumerate(starts[:1], 1)")
wrong("tb-every-second-row", "Every second row of starts is left out.", "One step for each row.",
      rows="enumerate(starts[::2], 1)")
wrong("tb-step-a-window", "You take a step for each window: a row of starts is one batch, with one loss and one step.",
      "Cut all windows of a row, and take the mean over them.", rows="enumerate(starts.flatten()[:, None], 1)")
wrong("tb-starts-moved", "The caller's starts are changed.", "Make a new tensor: `row + 1`, not `row += 1`.",
      tell="report(loss.item()); row += 1")

right("the whole window, cut in two", places="row[:, None] + torch.arange(block_size + 1)",
      inputs="data[places][:, :-1]", targets="data[places][:, 1:]")
right("windows by unfold", inputs="data.unfold(0, block_size, 1)[row]",
      targets="data[1:].unfold(0, block_size, 1)[row]")
right("with clipping", pull="loss.backward(); nn.utils.clip_grad_norm_(model.parameters(), 1.0)")
right("Adam without warm-up", optimizer="torch.optim.Adam(model.parameters(), lr=RATE)", warm="RATE")
right("cleared by hand", clear="model.zero_grad()")
right("the loss by hand", score="-logits.log_softmax(-1).gather(-1, targets[..., None]).mean()")
