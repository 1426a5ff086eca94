"""The questions on pooling and heads, answered by running the lessons' references."""

from __future__ import annotations

import torch
from support.course_files import load
from support.run_question_code import printed, run
from support.run_question_code import wrong_line as wrong_line_of


def lesson():
    """The lesson's reference."""
    return load("solutions/models/pooling_heads.py")


def what_is_printed(question):
    """What the code prints with the reference's mean."""
    return printed(question.code, masked_mean_pool=lesson().masked_mean_pool)


mean_of_one = share = what_is_printed


def numbers_of_heads(question):
    """The parameters of both classes, counted."""
    width, classes, tags = (question.values[name] for name in ("D", "classes", "tags"))
    models = lesson().SequenceClassifier(width, classes), lesson().TokenClassifier(width, tags)
    return sum(parameter.numel() for model in models for parameter in model.parameters())


def shapes(question):
    """Run it, and look."""
    space = run(question.code)
    return [tuple(space[blank].shape) for blank in question.details["blanks"]]


def heard(question):
    """Change every id in turn, and see which of them move the vector that is read."""
    values = question.values
    places, tokens = values["T"], values["tokens"]
    causal = "causal" in values["model"]
    name, file = ("GPT", "gpt") if causal else ("Encoder", "encoder")
    model = getattr(load(f"solutions/models/{file}.py"), name)(9, places, 8, 2, values["L"], 16)
    generator = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5, generator=generator)
    model.double()
    place = 0 if "first" in values["reads"] else tokens - 1
    ids = torch.arange(places).remainder(8)[None]

    def read(given):
        with torch.no_grad():
            return (model(given) if causal else model(given, torch.tensor([tokens])))[0, place]

    changed = [ids.index_fill(1, torch.tensor([at]), 8) for at in range(places)]
    return sum(bool((read(each) - read(ids)).abs().max() > 1e-9) for each in changed)


def wrong_line(question):
    """The line whose repair makes it the reference, with each way of pooling, for a text without a token, too."""
    generator = torch.Generator().manual_seed(0)
    h = torch.randn(4, 5, 3, generator=generator) - 2.0
    mask = torch.arange(5) < torch.tensor([[5], [2], [1], [3]])
    none = torch.zeros(4, 5, dtype=torch.bool)

    def works(code):
        for pool, ours in (("mean", "mean"), ("last", "last"), ("max", "largest")):
            right, made = lesson().SequenceClassifier(3, 2, pool), run(code)["Classifier"](3, 2)
            made.load_state_dict(right.state_dict())
            for given in (mask, none) if pool == "mean" else (mask,):
                if not torch.allclose(made(h, given, ours), right(h, given), atol=1e-5):
                    return False
        return True

    return wrong_line_of(question, works)
