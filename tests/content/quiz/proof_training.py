"""The questions on writing a training step, answered by torch."""

from __future__ import annotations

import ast
from functools import cache

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from support.run_question_code import run, wrong_line
from torch import nn

# --- the order of calls -----------------------------------------------------------------------------------------------


def loss_of(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def _result(steps):
    """What the calls leave: the parameters, the gradients and what was printed last. None if they cannot be run."""
    torch.manual_seed(0)
    model, text, said = nn.Embedding(4, 4), torch.tensor([[0, 1, 3, 2], [2, 2, 1, 0]]), []
    space = {"model": model, "optimizer": torch.optim.SGD(model.parameters(), lr=0.5), "text": text,
             "torch": torch, "loss_of": loss_of, "print": lambda loss: said.append(loss.item())}  # fmt: skip
    if not any("text[:, :-1]" in step for step in steps):
        space |= {"inputs": text[:, :-1], "targets": text[:, 1:]}
    try:
        exec("\n".join(steps), space)
    except NameError:
        return None
    return model.weight.tolist(), model.weight.grad is None, said


@cache
def _every_call_has_its_place(steps):
    """Whether two neighbours, exchanged, always leave something else."""
    swapped = [[*steps[:i], steps[i + 1], steps[i], *steps[i + 2 :]] for i in range(len(steps) - 1)]
    return _result(steps) is not None and all(_result(each) != _result(steps) for each in swapped)


def call_order(question):
    """The stated order runs, and no two neighbours can be exchanged."""
    steps = tuple(question.options[place].text for place in question.answer)
    assert _every_call_has_its_place(steps), steps
    _, cleared, said = _result(steps)
    assert cleared == ("zero_grad" in steps[-1])
    assert bool(said) != cleared
    return question.answer


# --- targets and shapes -----------------------------------------------------------------------------------------------


def shapes(question):
    """Run it, and look."""
    space = run(question.code)
    return [tuple(space[name].shape) for name in question.details["blanks"]]


# --- a bigram model by hand -------------------------------------------------------------------------------------------


def bigram_step(question):
    """Take the step."""
    values = question.values
    table = nn.Embedding.from_pretrained(torch.zeros(values["V"], values["V"]), freeze=False)
    inputs, targets = (torch.tensor(ast.literal_eval(values[name])) for name in ("inputs", "targets"))
    F.cross_entropy(table(inputs), targets).backward()
    torch.optim.SGD(table.parameters(), lr=values["rate"]).step()
    return table.weight[values["i"], values["j"]].item()


# --- what is kept -----------------------------------------------------------------------------------------------------


def keeps(question):
    """Whether what is kept has a grad_fn."""
    logits = nn.Embedding(5, 5)(torch.tensor([[0, 3, 1]]))
    loss = F.cross_entropy(logits.flatten(0, 1), torch.tensor([3, 1, 4]))
    loss.backward(retain_graph=True)
    found = []
    for place, option in enumerate(question.options):
        kept = []
        exec(option.text, {"kept": kept, "loss": loss, "logits": logits})
        found += [place] * (getattr(kept[0], "grad_fn", None) is not None)
    return found


# --- mistakes ---------------------------------------------------------------------------------------------------------


def fit(question):
    """The line whose repair gives what an Embedding and SGD give."""
    torch.manual_seed(0)
    V, rate = 5, 0.7  # noqa: N806 - the lesson's letter
    batches = [(torch.randint(V, (2, 3)), torch.randint(V, (2, 3))) for _ in range(4)]
    start = torch.randn(V, V)
    model = nn.Embedding.from_pretrained(start.clone(), freeze=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    losses = []
    for inputs, targets in batches:
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

    def works(code):
        table = start.clone().requires_grad_()
        seen = run(code)["fit"](table, batches, rate)
        return torch.allclose(table, model.weight, atol=1e-5) and torch.allclose(
            torch.tensor(seen), torch.tensor(losses), atol=1e-5
        )

    return wrong_line(question, works)
