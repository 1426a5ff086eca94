"""What people write in `Sorter` and `fit` in place of the reference's lines; and other right ways to write them.

Sizes, start and optimiser are the learner's own, so a probe says in words what a model or a loop does.
"""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  the field's name for it

from grader.api.checks import LearnerError, MistakeSet

V, T = 11, 7

model = MistakeSet("Sorter", globals(), checks=())
loop = MistakeSet("fit", globals(), checks=())
MISTAKE_SETS = [model, loop]

model.example(11, 7)


# --- what a model does ------------------------------------------------------------------------------------------------


def depends(made, ids, rand):
    """Which outputs another id at the first place changes, and at the last."""
    seen = []
    for place in (0, T - 1):
        other = ids.clone()
        other[:, place] = (other[:, place] + 1) % V
        seen.append((made(ids) != made(other)).any(-1).any(0).tolist())
    return seen


def rows_apart(made, ids, rand):
    together, alone = made(ids)[1:2], made(ids[1:2])
    return together.shape == alone.shape and bool(torch.allclose(together, alone, atol=1e-4))


def start(made, ids, rand):
    ids = rand.integers(0, V, 40, T)
    loss = F.cross_entropy(made(ids).flatten(0, 1), rand.integers(0, V, 40 * T)).item()
    return "near ln V" if loss < 3.6 else "far off"


def gradient(made, ids, rand):
    grads = made.gradients(ids, wrt=[], weights=rand(*made(ids).shape)) or {}
    return any(grad is not None and bool(grad.any()) for grad in grads.values())


def turned_round(made, ids, rand):
    """What becomes of the logits of a list that is turned round."""
    ids = torch.argsort(rand(3, V), -1)[:, :T]
    before, after = made(ids), made(ids.flip(1))
    if torch.allclose(after, before.flip(1), atol=1e-4):
        return "turned round"
    return "the same" if torch.allclose(after, before, atol=1e-4) else "others"


def places_alike(made, ids, rand):
    logits = made(torch.argsort(rand(3, V), -1)[:, :T])
    return logits.ndim == 3 and bool(torch.allclose(logits[:, 0], logits[:, -1]))


MADE = {
    "in its shape": lambda made, ids, _: list(made(ids).shape),
    "in its dtype": lambda made, ids, _: str(made(ids).dtype),
    "in which ids it looks at": depends,
    "in whether rows see each other": rows_apart,
    "in where it starts": start,
    "in whether it gives probabilities": lambda made, ids, _: bool(torch.allclose(made(ids).sum(-1), torch.ones(()))),
    "in whether it gives numbers": lambda made, ids, _: bool(torch.isfinite(made(ids)).all()),
    "in whether it gives the same twice": lambda made, ids, _: torch.equal(made(ids), made(ids)),
    "in what becomes of the ids": lambda made, ids, _: torch.equal(made.observe(ids).args[0], ids),
    "in whether a gradient comes back": gradient,
    "in whether all places give the same": places_alike,
    "with positions": turned_round,
}


def in_words(known, name, run):
    """Register a probe whose errors are one observation, since people stumble in many ways over the same line."""

    @known.probe(name, stage=name)
    def _(subject, rand):
        try:
            return run(subject, rand)
        except LearnerError as error:
            if error.kind != "raised":
                raise
            return next((text for text in ("Expected target", "does not require grad") if text in error.text), "error")


def of_made(see, positions):
    return lambda subject, rand: see(
        subject.Sorter(V, T, positions=positions).eval(), rand.integers(0, V, 3, T), rand
    )  # fmt: skip


for title, seen in MADE.items():
    in_words(model, title, of_made(seen, True))
in_words(model, "without positions", of_made(turned_round, False))


# --- what a loop does -------------------------------------------------------------------------------------------------


def spied(subject, rand, **more):
    state = {"layers.0.weight": rand(V, 6), "layers.1.weight": rand(V, 6), "layers.1.bias": rand(V)}
    return subject.make_model([["embedding", V, 6], ["linear", 6, V]], state, **more), state


def told(subject, made, *given):
    """What `fit` reports, and how it calls the model."""
    subject.events()
    subject.fit(made, *given, subject.make_report(len(given[0])))
    events = subject.events()
    return [e[1] for e in events if e[0] == "report"], [e[1:3] for e in events if e[0] == "forward"]


def batches(rand, *shape):
    return rand.integers(0, V, *shape), rand.integers(0, V, *shape)


def first_loss(*shape):
    return lambda subject, rand: told(subject, spied(subject, rand)[0], *batches(rand, 1, *shape))[0][:1]


def how_often(subject, rand):
    losses, calls = told(subject, spied(subject, rand)[0], *batches(rand, 6, 3, 5))
    return len(losses), [shape for _, shape in calls]


def in_which_order(subject, rand):
    state = {"layers.0.weight": 3 * torch.eye(V), "layers.1.weight": 3 * torch.eye(V), "layers.1.bias": rand(V)}
    made, lists = subject.make_model([["embedding", V, V], ["linear", V, V]], state), batches(rand, 4, 3, 5)[0]
    other = torch.tensor([0, 3, 0, 3])[:, None, None]
    losses = told(subject, made, lists, (lists + other) % V)[0]
    return [loss < max(losses) - 0.5 for loss in losses]


def in_which_mode(subject, rand):
    return told(subject, spied(subject, rand, training=False)[0], *batches(rand, 6, 3, 5))[1][0][0]


def what_moves(subject, rand):
    made, state = spied(subject, rand)
    told(subject, made, *batches(rand, 4, 9, 8))
    after = made.state()
    moved = [bool((part != state[name]).any()) for name, part in after["state"].items()]
    if any(moved):
        return moved
    return "no gradient" if all(grad is None or not bool(grad.any()) for grad in after["grads"].values()) else "no step"


def whether_it_piles_up(subject, rand):
    """Whether twelve steps on one batch leave a gradient that is several times that of one step."""
    (_, state), given, sizes = spied(subject, rand), batches(rand, 1, 3, 5), []
    for steps in (1, 12):
        made = subject.make_model([["embedding", V, 6], ["linear", 6, V]], state)
        told(subject, made, *(each.expand(steps, 3, 5).contiguous() for each in given))
        grad = made.state()["grads"]["layers.1.bias"]
        sizes.append(0.0 if grad is None else float(grad.abs().sum()))
    return sizes[1] > 3 * sizes[0]


def what_becomes_of_the_lists(subject, rand):
    given = batches(rand, 3, 3, 5)
    after = subject.fit.observe(spied(subject, rand)[0], *given, subject.make_report(3)).args
    return [torch.equal(one, two) for one, two in zip(after[1:3], given, strict=True)]


for title, seen in {
    "in its first loss": first_loss(3, 5),
    "in its first loss, of one list": first_loss(1, 5),
    "in its first loss, of one place": first_loss(4, 1),
    "in its steps": how_often,
    "in the order of its steps": in_which_order,
    "in its mode": in_which_mode,
    "in what it moves": what_moves,
    "in its gradients": whether_it_piles_up,
    "in what becomes of the lists": what_becomes_of_the_lists,
}.items():
    in_words(loop, title, seen)


class ByHand(nn.Module):
    """Two layers of one head, written out, with places as waves."""

    def __init__(self, vocab_size, length, positions=True):
        super().__init__()
        self.tok, self.qkv = nn.Embedding(vocab_size, 64), nn.ModuleList(nn.Linear(64, 192) for _ in "12")
        self.think = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(64), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64)) for _ in "12"
        )
        self.norm, self.head = nn.LayerNorm(64), nn.Linear(64, vocab_size)
        angles = torch.arange(length)[:, None] / 100 ** (torch.arange(32) / 32)
        waves = torch.cat([angles.sin(), angles.cos()], -1)
        self.register_buffer("waves", waves if positions else torch.zeros_like(waves))

    def forward(self, ids):
        x = self.tok(ids) + self.waves
        for qkv, think in zip(self.qkv, self.think, strict=True):
            q, k, v = qkv(F.layer_norm(x, (64,))).chunk(3, -1)
            x = x + (q @ k.transpose(1, 2) / 8).softmax(-1) @ v
            x = x + think(x)
        return self.head(self.norm(x))


# fmt: off
# --- wrong models -----------------------------------------------------------------------------------------------------
wrong, right = model.mistake, model.alternative
wrong("so-no-positions", "Nothing tells the model where an id stands: a list that is reordered gives the same logits, "
      "reordered. It can learn which numbers there are, and not one place of the answer.",
      "Add a row for each place: `tok(ids) + pos.weight`.", place="x")
wrong("so-positions-always", "The model is told the places with positions=False, too.",
      "Make, or add, the table of places only if `positions` is true.", pos="nn.Embedding(length, 64)")
wrong("so-positions-inverted", "Positions are added where they were not asked for, and left out where they were.",
      "`if positions:`, without `not`.", pos="None if positions else nn.Embedding(length, 64)")
wrong("so-place-by-batch", "The row of the table is chosen by the row of the batch: all ids of a list get the same.",
      "Places are axis 1: `pos.weight`, (T, D), added to (B, T, D).",
      place="x + self.pos.weight[torch.arange(len(ids)) % self.pos.num_embeddings, None]")
wrong("so-causal", "Attention has a causal mask: a place of the answer sees only the ids up to its own place, and the "
      "smallest number may come last.", "An encoder has no such mask: leave it out.",
      through="self.blocks(x, mask=torch.ones(x.size(1), x.size(1)).triu(1).bool())")
wrong("so-no-attention", "Each output depends on its own id alone: no place hears of the others.",
      "Let blocks with attention stand between the table and the head.",
      blocks="nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.LayerNorm(64))")
wrong("so-batch-axis", "Attention runs over the rows of the batch: lists see each other, and no list sees itself.",
      "The batch comes first: `batch_first=True`.", how='{"norm_first": True}')
wrong("so-pooled", "The vectors are pooled: one row of logits for a list, or one that all places share.",
      "Each place has an answer of its own: no pooling before the head.",
      give="self.head(x.mean(1, keepdim=True).expand_as(x))")
wrong("so-pooled", "The vectors are pooled: one row of logits for a list.",
      "Each place has an answer of its own: no pooling before the head.", coding="one row", give="self.head(x.mean(1))")
wrong("so-sorts-itself", "The model sorts the ids. Without positions it then knows an order all the same, and in the "
      "run ids are not in the order of their numbers.", "Take the ids as they stand.",
      look="self.tok(ids.sort(-1).values)")
wrong("so-large-start", "The model starts with strong opinions: its first loss is far above ln(vocab_size).",
      "Draw the head's weights small, as nn.Linear does by itself.",
      head="self.head = nn.Linear(64, vocab_size)\nnn.init.normal_(self.head.weight)")
wrong("so-softmax-out", "forward gives probabilities; the loss takes the softmax itself.", "Return the logits.",
      give="self.head(x).softmax(-1)")
wrong("so-dropout-always", "Dropout is on in eval mode too.", "Use `nn.Dropout`, or `F.dropout(x, p, self.training)`.",
      look="F.dropout(self.tok(ids), 0.5)")
wrong("so-ids-changed", "The caller's ids are changed.", "Make a new tensor.", look="self.tok(ids.zero_())")
wrong("so-detached", "No gradient comes back from the logits.", "Leave out `.detach()`, `.data` and `no_grad`.",
      give="self.head(x).detach()")

right("of two layers by hand, with waves", version=ByHand)
right("with a zero table that stays", pos="self.pos = nn.Embedding(length, 64)\n"
      "positions or nn.init.zeros_(self.pos.weight).requires_grad_(False)")
right("with post-LN", how='{"batch_first": True}')
right("with places beside", look="self.tok(ids)", place="x + self.pos(torch.arange(ids.size(1), device=ids.device))")
right("with an MLP for a head", head="nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, vocab_size))")

# --- wrong loops ------------------------------------------------------------------------------------------------------
wrong, right = loop.mistake, loop.alternative
wrong("so-answer-is-list", "The lists are their own answers: the model learns to copy them.",
      "Compare with `answers[i]`.", score="F.cross_entropy(flat, ids.flatten())")
wrong("so-sorts-ids", "You sort the ids yourself. In the run they are not in the order of their numbers: those answers "
      "are wrong.", "Take `answers[i]` as it is.", score="F.cross_entropy(flat, ids.sort(-1).values.flatten())")
wrong("so-axes-mixed", "The logits are reshaped to (B, V, T), where their axes had to be exchanged: each number lands "
      "in another place.", "`logits.transpose(1, 2)`, or flatten logits and answers alike.",
      score="F.cross_entropy(logits.reshape(len(ids), -1, ids.size(1)), goal)")
wrong("so-softmax-before-loss", "You take a softmax before the loss, which takes one itself.",
      "Give the logits to cross_entropy.", score="F.cross_entropy(flat.softmax(-1), right)")
wrong("so-summed", "The loss is a sum over places, and grows with the batch.", "Take the mean.",
      score="F.cross_entropy(flat, right, reduction='sum')")
wrong("so-last-place-only", "Only the last place of each list is in the loss.", "Take the mean over all places.",
      score="F.cross_entropy(logits[:, -1], goal[:, -1])")
wrong("so-no-zero-grad", "Gradients pile up: nobody clears those of earlier steps.", "Call `optimizer.zero_grad()` in "
      "each step.", clear="pass")
wrong("so-cleared-too-late", "At the step there is no gradient to go along: `backward` is missing, is called on a new "
      "tensor of the loss's number, or the gradient is cleared behind it.", "Clear, backward of the loss itself, step: "
      "in this order.", clear="pass", pull="loss.backward(); optimizer.zero_grad()")
wrong("so-no-step", "No parameter moves.", "Call `optimizer.step()` after `backward`.", move="pass")
wrong("so-eval-mode", "The model is trained in eval mode: dropout is off.", "Call `model.train()` first.",
      enter="model.eval()")
wrong("so-first-batch-only", "Only the first batch is used.", "One step for each batch.",
      pairs="zip(lists[:1], answers[:1])")
wrong("so-same-batch", "Every step is taken on the first batch: those lists are learned by heart.",
      "Take `lists[i]` and `answers[i]` in step i.", pairs="[(lists[0], answers[0])] * len(lists)")
wrong("so-every-second-batch", "Every second batch is left out.", "One step for each batch.",
      pairs="zip(lists[::2], answers[::2])")
wrong("so-step-a-list", "You take a step for each list: a batch has one loss and one step.", "Give the model "
      "`lists[i]` whole, and take the mean over all of it.",
      pairs="zip(lists.flatten(0, 1)[:, None], answers.flatten(0, 1)[:, None])")
wrong("so-reversed", "The batches are taken from the last to the first.", "Take them in their order.",
      pairs="zip(lists.flip(0), answers.flip(0))")
wrong("so-lists-changed", "The caller's lists are changed.", "Make a new tensor.", tell="report(loss.item()); ids += 1")

right("with the classes second", score="F.cross_entropy(logits.transpose(1, 2), goal)")
right("with clipping", pull="loss.backward(); nn.utils.clip_grad_norm_(model.parameters(), 1.0)")
right("Adam, and a rate that stays", optimizer="torch.optim.Adam(model.parameters(), lr=RATE)", rate="pass")
right("by numbers", pairs="[(lists[i], answers[i]) for i in range(len(lists))]")
right("the loss by hand", score="-logits.log_softmax(-1).gather(-1, goal[..., None]).mean()")
