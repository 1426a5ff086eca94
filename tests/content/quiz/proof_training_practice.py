"""The questions on training in practice, answered by torch."""

from __future__ import annotations

from functools import cache

import torch
from torch import nn
from torch.nn import functional


def loss_curve(question):
    values = question.values
    size, answers = values["size"], values["batch"] * values["length"]
    zeros, targets = torch.zeros(answers, size), torch.zeros(answers, dtype=torch.long)
    start = functional.cross_entropy(zeros, targets).item()
    summed = functional.cross_entropy(zeros, targets, reduction="sum").item()
    sure = 100 * functional.one_hot(targets[:1], size).float()
    floor = functional.cross_entropy(sure.softmax(dim=-1), targets[:1]).item()
    first, last = values["first"], values["last"]
    fits = {
        "the losses are summed, not averaged": abs(first - summed) < 0.1,
        "softmax is applied before cross_entropy": abs(first - start) < 0.1 and abs(last - floor) < 0.1,
        "the gradients are cleared between backward and step": abs(last - first) < 0.01,
        "the model can see the token it is to predict": last < 0.1,
    }  # fmt: skip
    assert sum(fits.values()) == 1
    return [fits[option.text] for option in question.options].index(True)


def learning_rate(question):
    values = question.values
    if values["step"] < values["warm"]:
        return torch.linspace(0, values["top"], values["warm"] + 1)[values["step"]].item()
    return values["top"] * _cosine(12 * (values["step"] - values["warm"]) // values["decay"])


@cache
def _cosine(steps):
    """torch's own schedule, from 1 to 0 in twelve steps."""
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=12)
    for _ in range(steps):
        optimizer.step()
        schedule.step()
    return schedule.get_last_lr()[0]


def clipping(question):
    values = question.values
    a, b = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(1))
    a.grad, b.grad = torch.tensor([values["one"], values["two"]]).float(), torch.tensor([values["three"]]).float()
    nn.utils.clip_grad_norm_([a, b], values["limit"])
    return b.grad.item()


def accumulation(question):
    values = question.values
    return _repaired(question.code, question.details["fix"], values["count"], values["size"])


@cache
def _repaired(code, fix, *sizes):
    """The line that must be replaced by the fix to get the step of the whole batch, and the loss without dropout."""
    lines, wanted = code.split("\n"), _whole_batch(*sizes)
    assert not _same(_run(lines, *sizes), wanted)
    repaired = []
    for place, line in enumerate(lines):
        indent = line[: len(line) - len(line.lstrip())]
        try:
            if _same(_run([*lines[:place], indent + fix, *lines[place + 1 :]], *sizes), wanted):
                repaired.append(place + 1)
        except (KeyError, NameError, SyntaxError, RuntimeError):  # the fix does something else than what it replaced
            continue
    return repaired[0] if len(repaired) == 1 else repaired


def _same(mine, wanted):
    return all(torch.allclose(one, other, atol=1e-6) for one, other in zip(mine, wanted, strict=True))


class _Dropped(nn.Module):
    """Dropout with a mask that does not depend on the order of calls, so that two ways to the same step agree."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(6, 4)
        self.keep = torch.tensor([2.0, 0.0, 2.0, 0.0, 2.0, 0.0])

    def forward(self, x):
        return self.inner(x * self.keep if self.training else x)


def _setting(count, size):
    torch.manual_seed(1000 * count + size)
    model = _Dropped()
    for each in model.parameters():  # left over from the step before
        each.grad = torch.ones_like(each)
    inputs, targets = 0.1 * torch.randn(count * size, 6), torch.randint(4, (count * size,))
    new_inputs, new_targets = torch.randn(20, 6), torch.randint(4, (20,))
    return model, torch.optim.SGD(model.parameters(), lr=0.5), inputs, targets, new_inputs, new_targets


def _whole_batch(count, size):
    model, optimizer, inputs, targets, new_inputs, new_targets = _setting(count, size)
    optimizer.zero_grad()
    functional.cross_entropy(model(inputs), targets).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    held_out = functional.cross_entropy(model.eval()(new_inputs), new_targets)
    return [held_out.detach(), *(each.detach() for each in model.parameters())]


def _run(lines, count, size):
    model, optimizer, inputs, targets, new_inputs, new_targets = _setting(count, size)
    space = {
        "torch": torch, "F": functional, "model": model, "optimizer": optimizer, "new_inputs": new_inputs,
        "clip_grad_norm_": nn.utils.clip_grad_norm_, "new_targets": new_targets,
        "micro_batches": list(zip(inputs.split(size), targets.split(size), strict=True)),
    }  # fmt: skip
    exec("\n".join(lines), space)
    return [space["held_out"].detach(), *(each.detach() for each in model.parameters())]


def best_epoch(question):
    held_out = torch.tensor(question.values["held_out"])
    assert (held_out == held_out.min()).sum() == 1
    return int(held_out.argmin()) + 1


def weight_decay(question):
    values = question.values
    weight = nn.Parameter(torch.tensor(float(values["weight"]), dtype=torch.float64))
    weight.grad = torch.zeros_like(weight)
    torch.optim.AdamW([weight], lr=values["rate"], weight_decay=values["decay"]).step()
    return weight.item()


def train_eval(question):
    differ = [_depends_on_mode(option.text) for option in question.options]
    return [place for place, differs in enumerate(differ) if differs]


@cache
def _depends_on_mode(text):
    torch.manual_seed(0)
    module = eval(text, {"nn": nn})
    x = torch.randn(16, 8) if "BatchNorm" in text else torch.randn(16, 5, 8)
    return not torch.allclose(module.train()(x), module.eval()(x), atol=1e-4)


def dropout(question):
    values = question.values
    torch.manual_seed(question.attempt)
    layer = nn.Dropout(values["p"]).train(values["mode"] == "train")
    out = layer(torch.full((200,), values["entry"], dtype=torch.float64))
    return out[out != 0][0].item()


def step_size(question):
    values = question.values
    path = [nn.Parameter(torch.tensor(float(values["start"])))]
    for _ in range(10):
        loss = 0.5 * values["steepness"] * path[-1] ** 2
        (slope,) = torch.autograd.grad(loss, path[-1])
        path.append((path[-1] - values["rate"] * slope).detach().requires_grad_())
    loss = "falls" if abs(path[-1].item()) < abs(path[0].item()) else "grows"
    sign = "changes its sign each step" if path[0].item() * path[1].item() < 0 else "keeps its sign"
    text = f"the loss {loss}, and w {sign}"
    return [option.text for option in question.options].index(text)


def batch_noise(question):
    """Examples that are each their true value plus or minus one standard deviation: their mean is a binomial."""
    values = question.values

    def noise(batch):
        return 2 * torch.distributions.Binomial(batch, torch.tensor(0.5, dtype=torch.float64)).stddev.item() / batch

    return values["noise"] * noise(values["larger"]) / noise(values["batch"])
