"""Build small models, optimizers and iterators from a description, in the process that uses them.

A model is a stack of plain layers, an optimizer one of torch's. Both log what is done to them. The log is judged by
what the gradients *were* when the parameters were updated, not by which method cleared them: correct training code may
use `optimizer.zero_grad`, `model.zero_grad`, `p.grad = None` or a closure.

Events of the log, in order:

    ("forward", training, shape, recorded)  the model ran in this mode on input of this shape; did autograd record it?
    ("backward",)                           a gradient came back to the model's output
    ("step", {name: gradient or None})      the optimizer stepped with these gradients
    ("zero_grad",)                          the optimizer's zero_grad was called
    ("report", loss)                        the code that is judged reported this loss
    ("moved", distance)                     and its model's parameters have moved so far since the report before
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, reduce
from typing import Any

from grader.worker.models.weights import copy_module, load_state, without_drawing

MAX_PROGRESS_LINES = 100
progress_fd: int | None = None  # in a worker, where to tell how far a training is: it is shown, and judged by nobody
Log = list[tuple[Any, ...]]
_running: list[Any] = []  # models
# fmt: off
LAYERS = {
    "embedding": "Embedding", "linear": "Linear", "dropout": "Dropout", "layer_norm": "LayerNorm",
    "tanh": "Tanh", "relu": "ReLU", "gelu": "GELU",
}
# fmt: on
RUN = 1 << 32  # in a cache, the number of the run is so many times in a token's id
FADING = 0.9  # what a token of a fading sum counts beside the one after it


def fading_sum(x: Any) -> Any:
    """Add to each token of (B, T, D) all that come before it, the older the less: the last one knows where x begins."""
    places = x.new_ones(x.shape[-2]).cumsum(0)
    return (FADING ** (places.unsqueeze(1) - places)).tril() @ x


# layers that torch has no module for
OPERATIONS: dict[str, Callable[[Any], Any]] = {"fading_sum": fading_sum, "argmax": lambda x: x.argmax(-1)}


def make(spec: dict[str, Any], log: Log) -> Any:
    """Build the object that *spec* describes; it appends events to *log*.

    A specification is `{"kind": "model", "layers": [["embedding", V, D], ...], "state": {...}}`, with optional
    "dtype", "device", "training", "cached", "heads" and "grads" (ones, from a step before); or
    `{"kind": "optimizer", "name": "sgd", "module": <module>, "options": {...}}`; or
    `{"kind": "iterator", "items": [...]}`, a generator; or `{"kind": "report", "total": 500}`, a function that takes
    the loss of each step, with optional "module", the model that is trained. Raises ValueError for another kind.
    """
    if spec["kind"] == "model":
        return _make_model(spec, log)
    if spec["kind"] == "optimizer":
        return _make_optimizer(spec, log)
    if spec["kind"] == "iterator":
        return (item for item in spec["items"])
    if spec["kind"] == "report":
        return _make_report(int(spec["total"]), log, spec.get("module"))
    raise ValueError(f"unknown description {spec['kind']!r}")


def _make_report(total: int, log: Log, model: Any) -> Any:
    done, distance = 0, _measure_distance(model) if model is not None else None

    def report(loss: Any) -> None:
        nonlocal done
        done += 1
        loss = float(loss.detach() if hasattr(loss, "detach") else loss)  # else PyTorch warns of what we do
        log.append(("report", loss))
        if distance:
            log.append(("moved", distance()))
        is_due = done <= total and done * MAX_PROGRESS_LINES // total > (done - 1) * MAX_PROGRESS_LINES // total
        if progress_fd is not None and is_due:
            os.write(progress_fd, b"\x1e%d %d %.4f\n" % (done, total, loss))

    return report


def _measure_distance(model: Any) -> Callable[[], float]:
    """Return what tells how far a model has moved since it was called last.

    That is the largest root mean square of a change to one of its parameters.
    """
    import torch

    before = [parameter.detach().clone() for parameter in _parameters_of(model)]

    def distance() -> float:
        now = [parameter.detach() for parameter in _parameters_of(model)]
        if [each.shape for each in now] != [each.shape for each in before]:
            return float("inf")
        changes = torch._foreach_norm(torch._foreach_sub(now, before))
        torch._foreach_copy_(before, now)
        sizes = [max(1, each.numel()) for each in now]
        return max((float(change) / size**0.5 for change, size in zip(changes, sizes, strict=True)), default=0.0)

    return distance


def _parameters_of(module: Any) -> list[Any]:
    """Return a module's parameters, by no method: a class may have one of its own."""
    held = object.__getattribute__(module, "__dict__")
    inner = [each for child in held["_modules"].values() if child is not None for each in _parameters_of(child)]
    return [*(each for each in held["_parameters"].values() if each is not None), *inner]


def _make_model(spec: dict[str, Any], log: Log) -> Any:
    import torch

    layers = tuple(tuple(layer) for layer in spec["layers"])
    kind = "cached" if spec.get("cached") else "watched" if spec.get("heads") else ""
    state = spec.get("state")
    model = _make_stack(layers, kind) if state is None else copy_module(_zero_stack(layers, kind))
    model._log, model.heads = log, spec.get("heads")
    if spec.get("dtype"):
        model.to(getattr(torch, spec["dtype"]))
    if state is not None and load_state(model, state)[:2] != ([], []):
        model.load_state_dict(state)  # says what does not fit
    if spec.get("device"):
        model.to(spec["device"])
    if spec.get("grads"):
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
    if not spec.get("training", True):
        model.eval()
    return model


@cache
def _zero_stack(layers: tuple[tuple[Any, ...], ...], kind: str) -> Any:
    """Make a stack of zeros, to be copied: checks make hundreds of a few forms."""
    with without_drawing():
        return _make_stack(layers, kind)


def _make_stack(layers: tuple[tuple[Any, ...], ...], kind: str) -> Any:
    return _stack_class(kind)([_make_layer(name, *sizes) for name, *sizes in layers])


def _make_layer(name: str, *sizes: Any) -> Any:
    from torch import nn

    layer = getattr(nn, LAYERS.get(name, "Identity"))(*sizes)
    if name not in LAYERS:
        # only where the model itself runs: what runs its layers one by one is not logged, and gives something else
        layer.register_forward_hook(lambda _layer, _inputs, output: OPERATIONS[name](output) if _running else output)
    return layer


@cache
def _stack_class(kind: str) -> Any:
    """Define the class late and once: torch may be absent, and defining a module class costs as much as a model."""
    import torch
    from torch import nn

    class Stack(nn.Module):
        """A stack of layers that logs each forward pass and each gradient that comes back."""

        _log: Log
        heads: Any  # (L, H) of a stack that shows its weights

        def __init__(self, layers: list[nn.Module]) -> None:
            super().__init__()
            self.layers = nn.Sequential(*layers)

        def forward(self, inputs: Any) -> Any:
            return _note(self, inputs, _run(self, inputs))

    class CachedStack(Stack):
        """A stack that is given new tokens alone, with a cache: what it has read so far, and in which run.

        What a token is embedded as depends on that: its logits tell in which pieces it read the text.
        """

        def forward(self, inputs: Any, cache: Any = None) -> Any:
            run = torch.zeros_like(inputs) if cache is None else cache[:, -1:] // RUN + torch.ones_like(inputs)
            ids = inputs if cache is None else torch.cat([cache % RUN, inputs], dim=1)
            runs = run if cache is None else torch.cat([cache // RUN, run], dim=1)
            return _note(self, inputs, _run(self, ids, runs)[:, -inputs.shape[1] :]), ids + RUN * runs

    class WatchedStack(Stack):
        """A stack that gives attention weights (L, B, H, T, T) beside its features, which are queries and keys."""

        def forward(self, inputs: Any) -> Any:
            x = _note(self, inputs, _run(self, inputs))
            layers, heads = self.heads
            parts = x.unflatten(-1, (layers, heads, -1)).permute(2, 0, 3, 1, 4)  # (L, B, H, T, d_head)
            scores = parts @ parts.mT
            later = torch.ones_like(scores, dtype=torch.bool).triu(1)
            return x, scores.masked_fill(later, float("-inf")).softmax(dim=-1)

    return {"cached": CachedStack, "watched": WatchedStack}.get(kind, Stack)


def _run(stack: Any, inputs: Any, runs: Any = None) -> Any:
    """Call a stack's layers. No method: whoever has the stack could call that, and nothing would be logged.

    Args:
        runs: In which run each token was read; what it is embedded as is turned by that, as no other ids are embedded.
    """
    _running.append(stack)
    try:
        if runs is None:
            return stack.layers(inputs)
        first, *rest = stack.layers
        embedded = first(inputs)
        turns = (runs.unsqueeze(-1) * embedded.new_ones(embedded.shape[-1]).cumsum(0)).cos()
        return reduce(lambda x, layer: layer(x), rest, embedded * turns)
    finally:
        _running.pop()


def _note(stack: Any, inputs: Any, outputs: Any) -> Any:
    log = stack._log
    log.append(("forward", stack.training, list(inputs.shape), outputs.requires_grad))
    if outputs.requires_grad:
        outputs.register_hook(lambda _gradient: log.append(("backward",)))
    return outputs


def _make_optimizer(spec: dict[str, Any], log: Log) -> Any:
    import torch

    module = spec["module"]
    classes = {"sgd": torch.optim.SGD, "adamw": torch.optim.AdamW}
    optimizer = classes[spec["name"]](module.parameters(), **spec.get("options", {}))

    def log_step() -> None:
        grads = {name: None if p.grad is None else p.grad.detach().clone() for name, p in module.named_parameters()}
        log.append(("step", grads))

    def before_step(_optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        closure = kwargs.get("closure", args[1] if len(args) > 1 else None)
        if closure is None:
            log_step()
            return None

        def logging_closure() -> Any:
            loss = closure()
            log_step()
            return loss

        return (args[0], logging_closure), {}

    plain_zero_grad = optimizer.zero_grad

    def zero_grad(*args: Any, **kwargs: Any) -> None:
        log.append(("zero_grad",))
        plain_zero_grad(*args, **kwargs)

    optimizer.register_step_pre_hook(before_step)
    optimizer.zero_grad = zero_grad
    return optimizer
