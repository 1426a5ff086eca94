"""What mistake files ask of a model: it is made of sizes that they choose, and holds numbers that they draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grader.judge.errors import LearnerError
from grader.judge.values.random_inputs import Rand, derive

Numbers = dict[str, Any]


class PlainClass:
    """A class like any other: what is written where `nn.Module` is forgotten."""

    def __init__(self, *_args: Any, **_sizes: Any) -> None:
        pass


def as_buffers(module: Any) -> Any:
    """Return a module whose own parameters have become buffers: saved under their names, and moved by no optimizer."""
    for name, parameter in list(module.named_parameters(recurse=False)):
        delattr(module, name)
        module.register_buffer(name, parameter.detach())
    return module


def draw_state(shapes: Mapping[str, Sequence[int]], times: Mapping[str, float] | None = None) -> Callable[[Rand], Any]:
    """Return what draws a state dict of these shapes, so that no entry counts for nothing: γ of a norm is near 1.

    It is drawn once for each seed: drawing it anew for every mistake would take as long as running it. Nothing is taken
    from `rand` for it, else what is drawn after it would be another each further time.

    Args:
        times: What numbers are multiplied with in whose names such a text stands.
    """
    kept: dict[int, Numbers] = {}

    def draw_numbers(rand: Rand) -> Numbers:
        if rand.seed not in kept:
            scales = {name: shape[1] ** -0.5 if len(shape) == 2 else 0.5 for name, shape in shapes.items()}
            own = Rand(derive(rand.seed, "state"), rand.arrays)
            found = {name: own(*shape, scale=scales[name]) for name, shape in shapes.items()}
            for text, factor in (times or {}).items():
                found |= {name: found[name] * factor for name in found if text in name}
            kept[rand.seed] = found | {n: found[n] + 1.0 for n in found if "norm" in n and n.endswith("weight")}
        return kept[rand.seed]

    return draw_numbers


def of_model(*sizes: Any, by: str | Callable[..., Any] = "__call__", **chosen: Any) -> Callable[..., Any]:
    """Return how `ask` asks a model that is made of these sizes and holds the numbers `state`, in evaluation mode.

    Args:
        by: What of the model is asked: a method, or a function of the model and the arguments.
    """

    def asked(make: Any, *args: Any, state: Numbers, **given: Any) -> Any:
        made = make(*sizes, **chosen, state=state).eval()
        return getattr(made, by)(*args, **given) if isinstance(by, str) else by(made, *args, **given)

    return asked


def is_alike_in_training(made: Any, *args: Any) -> bool:
    """Return True if a model answers in training mode what it answers in evaluation mode."""
    return bool((made.train()(*args) == made.eval()(*args)).all())


def without_names(seen: Any) -> Any:
    """Return what is seen of a model but for the names that are missing or unexpected: a question of its own asks."""
    return None if isinstance(seen, Mapping) and "missing" in seen else seen


def read_names(make: Any, *sizes: Any, state: Numbers) -> Any:
    """Return in words how the names in a model's state dict differ from those of `state`.

    That is "no module", "other names", "more names", or which parts have biases that are not asked for, and which names
    are lacking. A bias is what stands beside a weight: in nanoGPT `attn.bias` is a mask.
    """
    try:
        made = make(*sizes, state=state)
    except LearnerError as error:
        if "load_state_dict" in error.text and error.type_name == "AttributeError":
            return "no module"
        raise
    if made.missing and made.unexpected:
        return "other names"
    if not all(name.endswith(".bias") and f"{name[:-4]}weight" in state for name in made.missing):
        return "more names"
    inside = [name.split(".", 2)[-1] if name.startswith("blocks.") else name for name in made.missing]
    return sorted({name.split(".")[0] for name in inside}), sorted(made.unexpected)
