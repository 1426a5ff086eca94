"""The questions on a GPT that writes, answered by counting."""

from __future__ import annotations

from collections import Counter

from support.course_files import load


def witten_bell(question):
    """The share of `e` among what was seen, with one more of each kind drawn from the shorter context."""
    values = question.values
    others = [f"other {number}" for number in range(values["k"] - 1)]
    rest = values["n"] - values["times"]
    seen = Counter({"e": values["times"]}) + Counter({each: rest / max(1, len(others)) for each in others})
    new = len(seen) if len(seen) == values["k"] else values["k"]
    return (seen["e"] + new * values["shorter"]) / (values["n"] + new)


def numbers(question):
    """The numbers of the reference, made in that size."""
    values = question.values
    sizes = (values[name] for name in ("vocab", "width", "heads", "layers", "hidden"))
    model = load("solutions/models/tiny_gpt.py").TinyGPT(*sizes)
    return sum(parameter.numel() for parameter in model.parameters())


def how_often(question):
    """The targets of a run, one by one: by steps, windows and places."""
    values = question.values
    targets = sum(values["rows"] * values["length"] for _ in range(values["steps"]))
    return targets / values["size"]
