"""Training in a picture: the loss, step by step, beside the reference's and that of guessing."""

import math

import torch

from grader.api.pictures import curves, first_difference, picture

V, D, STEPS = 7, 8, 40


def batches():
    """Rows in which each token decides the next: there is something to learn."""
    rows = [torch.arange(V)]
    for _ in range(6):
        rows.append((3 * rows[-1] + 1) % V)
    tokens = torch.stack(rows, dim=1)
    return [(each[:, :-1], each[:, 1:]) for each in (tokens[0:3], tokens[2:5], tokens[4:7])] * STEPS


def made(subject, start, optimizer, **options):
    """A small model and its optimizer, in float64: rounding is no difference."""
    state = {"layers.0.weight": start[0], "layers.1.weight": start[1], "layers.1.bias": start[2]}
    model = subject.make_model([["embedding", V, D], ["linear", D, V]], state, dtype="float64")
    return model, subject.make_optimizer(model, optimizer, **options)


def losses(values):
    return torch.tensor(list(values), dtype=torch.float64)


@picture
def loss_by_step(submission, reference, rand):
    """The loss by step, beside that of guessing"""
    double = torch.float64
    start = rand(V, D, dtype=double), rand(V, D, scale=0.3, dtype=double), torch.zeros(V, dtype=double)
    data = batches()[:STEPS]

    def by_steps(subject):
        held = made(subject, start, "sgd", lr=0.5)
        return losses(subject.train_step(*held, *batch) for batch in data)

    def at_once(optimizer, **options):
        return lambda subject: losses(subject.train(*made(subject, start, optimizer, **options), data))

    asks = {
        f"train_step(model, sgd, inputs, targets), {STEPS} times": by_steps,
        f"train(model, sgd, batches) of {STEPS} batches": at_once("sgd", lr=0.5),
        f"train(model, adamw, batches) of {STEPS} batches": at_once("adamw", lr=0.05),
    }
    seen = first_difference(submission, reference, asks)
    return curves(seen, "step", of="loss", **{f"guessing: ln {V}": math.log(V)})
