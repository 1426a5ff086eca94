"""The fixed vocabulary of what can be asked of a module: call, build, make, state, mode, events.

The worker carries these out on a learner's module, the judge carries out the same ones on its own reference and on the
known mistakes, so that both are observed in exactly the same way.
"""

from __future__ import annotations

import traceback
from typing import Any

from grader.worker import factories, fake_device
from grader.worker.arrays import mapped
from grader.worker.call_monitor import ForbiddenCall, Refusals, watch
from grader.worker.wire import Array, Handle

MESSAGE_LIMIT = 2000
FRAME_LIMIT = 8
LINE_LIMIT = 500


class Actor:
    """One module's namespace, the objects made from it, and the log of what happened to them."""

    def __init__(self, namespace: dict[str, Any], forbids: tuple[str, ...] = (), files: frozenset[str] = frozenset()):
        self.namespace = namespace
        self.forbids = forbids
        self.files = files
        self.refusals = Refusals(forbids)
        self.objects: dict[int, Any] = {}
        self.made = 0
        self.log: list[tuple[Any, ...]] = []

    def act(self, request: dict[str, Any]) -> dict[str, Any]:
        """Carry out one request; whatever the module raises becomes the reply's `error`."""
        forbidden: list[str] = []
        try:
            with watch(self.forbids if request["act"] == "call" else (), forbidden):
                reply: dict[str, Any] = getattr(self, "act_" + str(request["act"]))(request)
        except BaseException as error:  # a learner's code may raise SystemExit, KeyboardInterrupt or anything
            reply = {"error": describe_error(error, self.files)}
        forbidden += self.refusals.seen
        if forbidden:
            self.refusals.seen.clear()
            reply = {"error": {"kind": "forbidden", "type": "ForbiddenCall", "text": forbidden[0], "frames": reply.get(
                "error", {}).get("frames", [])}}  # fmt: skip
        return reply

    # --- the acts -------------------------------------------------------------------------------------------------

    def act_call(self, request: dict[str, Any]) -> dict[str, Any]:
        """Call a function, or an object by its handle. `grad` asks for gradients too."""
        target = self._target(request["target"])
        args = self._resolve(request["args"])
        kwargs = self._resolve(request["kwargs"])
        grad = request.get("grad")
        if request.get("elsewhere"):
            return _call_elsewhere(target, args, kwargs)
        if grad is None:
            value = target(*args, **kwargs)
            after = [mapped(args, _data), mapped(kwargs, _data)] if request.get("after") else [[], {}]
            return {"value": value, "after": after}
        return _call_for_gradients(target, args, kwargs, grad)

    def act_build(self, request: dict[str, Any]) -> dict[str, Any]:
        """Make an object of one of the module's classes; `state` is copied into it by name."""
        made = self.namespace[request["name"]](*self._resolve(request["args"]), **self._resolve(request["kwargs"]))
        missing: list[str] = []
        unexpected: list[str] = []
        if request.get("state") is not None:
            outcome = made.load_state_dict(request["state"], strict=False)
            missing, unexpected = list(outcome.missing_keys), list(outcome.unexpected_keys)
        if request.get("device"):
            made.to(request["device"])
        return {"handle": self._keep(made), "missing": missing, "unexpected": unexpected}

    def act_make(self, request: dict[str, Any]) -> dict[str, Any]:
        """Make one of our own described objects (a small model, an optimizer) that logs what is done to it."""
        made = factories.make(self._resolve(request["spec"]), self.log)
        return {"handle": self._keep(made)}

    def act_state(self, request: dict[str, Any]) -> dict[str, Any]:
        """Parameters and buffers by name, their gradients, and whether the module is in training mode."""
        module = self.objects[request["handle"]]
        parameters = dict(module.named_parameters(remove_duplicate=False))
        return {
            "state": {name: tensor.detach().clone() for name, tensor in module.state_dict().items()},
            "grads": {name: None if p.grad is None else p.grad.detach().clone() for name, p in parameters.items()},
            "parameters": list(parameters),
            "training": module.training,
        }

    def act_mode(self, request: dict[str, Any]) -> dict[str, Any]:
        """Put an object into training or evaluation mode."""
        self.objects[request["handle"]].train(request["training"])
        return {}

    def act_events(self, request: dict[str, Any]) -> dict[str, Any]:
        """What was done to our described objects since the last time this was asked."""
        events, self.log[:] = list(self.log), []
        return {"events": events}

    def act_names(self, request: dict[str, Any]) -> dict[str, Any]:
        """What the module defines: for each wanted name its kind and signature, and all public names."""
        from inspect import isclass, signature

        found = {}
        for name in request["names"]:
            value = self.namespace.get(name)
            kind = "missing" if name not in self.namespace else "class" if isclass(value) else "function"
            if kind == "function" and not callable(value):
                kind = "not-callable"
            try:
                parameters = list(signature(value).parameters) if callable(value) else []
            except (TypeError, ValueError):
                parameters = []
            found[name] = [kind, parameters]
        public = [name for name, value in self.namespace.items() if not name.startswith("_") and callable(value)]
        return {"found": found, "public": public[:200]}

    # --- small helpers --------------------------------------------------------------------------------------------

    def end(self) -> None:
        """Let go of everything, and let torch's functions be called again."""
        self.forget()
        self.refusals.end()

    def forget(self) -> None:
        """Let go of every object that was made, and number the next ones from the beginning."""
        self.objects.clear()
        self.log.clear()
        self.made = 0

    def _keep(self, value: Any) -> int:
        self.made += 1
        self.objects[self.made] = value
        return self.made

    def _target(self, target: Any) -> Any:
        return self.objects[target.number] if isinstance(target, Handle) else self.namespace[target]

    def _resolve(self, value: Any) -> Any:
        """Replace every handle by its object."""
        return mapped(value, lambda leaf: self.objects[leaf.number] if isinstance(leaf, Handle) else leaf)


def _data(leaf: Any) -> Any:
    """An argument, if it is plain data: modules and optimizers are not sent back."""
    is_data = leaf is None or isinstance(leaf, bool | int | float | str | Array) or hasattr(leaf, "dtype")
    return leaf if is_data else None


def _call_elsewhere(target: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """Call with every tensor on a device that is not there; says where the result lies."""
    module = target if hasattr(target, "state_dict") else None
    with fake_device.elsewhere(module):
        value = target(*fake_device.wrap(args), **fake_device.wrap(kwargs))
        there = fake_device.is_elsewhere(value)
        return {"value": fake_device.unwrap(value), "after": [[], {}], "there": there}


def _call_for_gradients(target: Any, args: Any, kwargs: Any, grad: dict[str, Any]) -> dict[str, Any]:
    """The gradients of sum(weights * output) with respect to the named arguments (by position) and, for a module, its
    parameters. A gradient is None where nothing reaches; all of them are where the output has no graph."""
    import torch

    leaves = {f"argument {index}": args[index].requires_grad_(True) for index in grad["wrt"]}
    if isinstance(target, torch.nn.Module):
        leaves.update({name: p for name, p in target.named_parameters() if p.requires_grad})
    value = target(*args, **kwargs)
    if not isinstance(value, torch.Tensor) or not value.requires_grad:
        return {"value": value, "grads": None, "is_tensor": isinstance(value, torch.Tensor)}
    total = (value * grad["weights"].to(value.dtype)).sum()
    grads = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
    return {"value": value.detach(), "grads": dict(zip(leaves, grads, strict=True)), "is_tensor": True}


def describe_error(error: BaseException, files: frozenset[str]) -> dict[str, Any]:
    """An exception as plain data: its kind, its type, its text, and only the learner's own lines of the traceback."""
    kind = "raised"
    if isinstance(error, ForbiddenCall):
        kind = "forbidden"
    elif isinstance(error, MemoryError) or "can't allocate memory" in _text(error):
        kind = "out-of-memory"
    elif isinstance(error, SyntaxError):
        kind = "syntax"
    # only theirs are looked at: a line of anybody else's file would be read from the disk
    theirs = (step for step in traceback.walk_tb(error.__traceback__) if step[0].f_code.co_filename in files)
    frames = [
        [frame.filename, frame.lineno or 0, frame.name, (frame.line or "")[:LINE_LIMIT]]
        for frame in traceback.StackSummary.extract(theirs)
    ]
    if isinstance(error, SyntaxError):
        frames.append([error.filename or "", error.lineno or 0, "", _with_caret(error)])
    text = error.msg if isinstance(error, SyntaxError) else _text(error)
    return {"kind": kind, "type": type(error).__name__, "text": text, "frames": frames[-FRAME_LIMIT:]}


def _with_caret(error: SyntaxError) -> str:
    """The line that Python could not read, with a caret under the place."""
    line = (error.text or "").rstrip("\n")
    place = max(0, (error.offset or 1) - 1)
    return f"{line}\n{' ' * place}^" if line and len(line) <= LINE_LIMIT and place <= len(line) else line[:LINE_LIMIT]


def _text(error: BaseException) -> str:
    try:
        return str(error)[:MESSAGE_LIMIT]
    except BaseException:  # a learner's exception may have any __str__
        return ""
