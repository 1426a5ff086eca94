"""Give modules their weights by name and their mode, and draw no weight that would only be replaced.

A check builds its model anew, with weights of its own: hundreds in a batch, so what torch does for each counts.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from grader.worker.watch.cut_off import cut_off

LOADING = ("load_state_dict", "_load_from_state_dict", "set_extra_state", "get_extra_state")
MODE = ("train", "training", "children", "named_children", "__setattr__")  # `training` may be a property
MAX_ALIKE = 2  # numbers of one shape that are loaded under other names
_begin_as_zeros: list[bool] = []  # holds something while layers do


def copy_module(module: Any) -> Any:
    """Copy a module, its parts and parameters; to make it anew takes four times as long."""
    from torch import nn

    made = object.__new__(type(module))
    own = {name: value.copy() if isinstance(value, dict | set) else value for name, value in vars(module).items()}
    vars(made).update(own)
    for name, parameter in module._parameters.items():
        made._parameters[name] = None if parameter is None else nn.Parameter(parameter.detach().clone())
    for name, part in module._modules.items():
        made._modules[name] = copy_module(part)
    return made


def load_state(module: Any, state: dict[str, Any]) -> tuple[list[str], list[str], bool]:
    """Give a module its numbers by name, as `load_state_dict(state, strict=False)` does.

    Where each number has its place and the module leaves loading to torch, that takes a fifth of the time.

    Returns:
        The names that the state lacks, those that the module lacks, and whether all of both got their numbers by shape.
    """
    import torch

    places = _places_of(module, "")
    if places and places.keys() == state.keys() and all(state[name].shape == places[name].shape for name in places):
        with torch.no_grad():
            torch._foreach_copy_([*places.values()], [state[name] for name in places])
        return [], [], False
    outcome = module.load_state_dict(state, strict=False)
    missing, unexpected = list(outcome.missing_keys), list(outcome.unexpected_keys)
    by_shape = bool(missing and unexpected) and _load_by_shape(
        module.state_dict(keep_vars=True), state, missing, unexpected
    )
    return missing, unexpected, by_shape


def _load_by_shape(places: dict[str, Any], state: dict[str, Any], missing: list[str], unexpected: list[str]) -> bool:
    """Give what has another name in a module its numbers, that its answers can be read: those of its shape.

    Two of one shape are taken in their order; of more, as the maps of attention, that tells too little. Return True if
    all have got theirs, and each number its place.
    """
    import torch

    loaded = 0
    with torch.no_grad():
        for shape in {state[name].shape for name in unexpected}:
            given = [state[name] for name in unexpected if state[name].shape == shape]
            fits = [places[name] for name in missing if getattr(places.get(name), "shape", None) == shape]
            if len(fits) == len(given) <= MAX_ALIKE:
                torch._foreach_copy_(fits, given)
                loaded += len(given)
    return loaded == len(unexpected) == len(missing)


def _places_of(module: Any, prefix: str) -> dict[str, Any] | None:
    """Return a module's parameters and buffers under the names in its state; None if it has its own way to load one."""
    kind: Any = type(module)
    if not _leaves_to_torch(kind, LOADING) or module._load_state_dict_pre_hooks or module._load_state_dict_post_hooks:
        return None
    places = {}
    for held, left_out in ((module._parameters, ()), (module._buffers, module._non_persistent_buffers_set)):
        for name, place in held.items():
            if place is not None and name not in left_out:
                places[prefix + name] = place
    for name, part in module._modules.items():
        if part is not None:
            inner = _places_of(part, f"{prefix}{name}.")
            if inner is None:
                return None
            places |= inner
    return places


@cache
def _leaves_to_torch(kind: Any, names: tuple[str, ...]) -> bool:
    """Return True for a class of modules that has none of these names of its own."""
    from torch import nn

    own = (name for name in names if getattr(kind, name, None) is not getattr(nn.Module, name, None))
    return issubclass(kind, nn.Module) and not any(own)


def set_mode(module: Any, training: bool) -> None:
    """Put a module and its parts into training or evaluation mode, as `train` does where nobody has replaced it."""
    kind: Any = type(module)
    if not _leaves_to_torch(kind, MODE) or "train" in vars(module):
        module.train(training)
        return
    vars(module)["training"] = training
    for part in module._modules.values():
        if part is not None:
            set_mode(part, training)


@contextmanager
def without_drawing() -> Iterator[None]:
    """Let torch's linear and embedding layers begin as zeros: to draw what a state replaces is a third of the work."""
    _begin_as_zeros.append(True)
    try:
        yield
    finally:
        _begin_as_zeros.clear()


def let_layers_be_undrawn() -> None:
    """Prepare torch's layers for `without_drawing`. It is done before a learner's code could see it change."""
    from torch import nn

    for kind in (nn.Linear, nn.Embedding):
        draw: Any = kind.reset_parameters
        if not hasattr(draw, "__wrapped__"):
            kind.reset_parameters = _or_zero(draw)  # type: ignore[method-assign]


def _or_zero(draw: Any) -> Any:
    @cut_off(_begin_as_zeros=_begin_as_zeros)
    @functools.wraps(draw)
    def reset_parameters(layer: Any) -> None:
        if not _begin_as_zeros:
            draw(layer)
        else:
            for parameter in layer._parameters.values():
                if parameter is not None:
                    parameter.detach().zero_()

    return reset_parameters
