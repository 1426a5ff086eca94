"""The operations that a request may name: call, build, make, state, mode, events, names, watch, exchange.

The worker performs them on a learner's module, and the judge performs the same ones on its reference and on the known
mistakes, so that all are observed in exactly the same way.
"""

from __future__ import annotations

import builtins
import copy
import re
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial, reduce
from operator import getitem
from types import FrameType, TracebackType
from typing import Any

from grader.worker.arrays import make_slice, map_leaves
from grader.worker.models import factories, fake_device
from grader.worker.models.still import without_dropout
from grader.worker.models.weights import load_state, set_mode, without_drawing
from grader.worker.watch.call_monitor import (
    COLLECT_NOTHING,
    CallBlocker,
    ForbiddenCall,
    changed_torch,
    watch,
)
from grader.worker.watch.call_record import CallRecord
from grader.worker.watch.graph import refuse_graph
from grader.worker.watch.watched_source import HOOK
from grader.worker.wire import Array, Handle, TooLarge

MAX_MESSAGE_CHARS = 2000
MAX_FRAMES = 8
MAX_LINE_CHARS = 500
MAX_PUBLIC_NAMES = 200
MAX_EXCHANGE_SECONDS = 1.0
LEARNERS = ("call", "build", "mode", "state")  # what runs code of the learner's
OF_PYTHON = dict(vars(builtins))  # before any code of a learner's ran
MAY_HOLD_HANDLE = (Handle, list, tuple, dict)

Request = dict[str, Any]
Reply = dict[str, Any]


class ModuleHost:
    """Hold one module's namespace, the objects made from it, and the log of what happened to them.

    Attributes:
        record: Where it is set, calls are noted there; the profiler refuses none then.
        draws_by_torch_alone: The module draws random numbers from torch's generator, if at all.
        keeps_garbage: No garbage is collected after a watched call, until whoever asked has made bytes of the answer
            and enables it again: code of the learner's that runs then could finish the answer, and nobody would see it.
    """

    def __init__(self, namespace: dict[str, Any], forbids: tuple[str, ...] = (), files: frozenset[str] = frozenset()):
        """Block the calls in *forbids*; *files* are the paths whose lines a traceback may show."""
        self.namespace = namespace
        self.forbids = forbids
        self.files = files
        self.blocker = CallBlocker(forbids)
        self.record: CallRecord | None = None
        self.draws_by_torch_alone = False
        self.keeps_garbage = False
        self.objects: dict[int, Any] = {}
        self.made = 0
        self.log: list[tuple[Any, ...]] = []

    def perform(self, request: Request) -> Reply:
        """Perform one request; whatever the module raises becomes the reply's `error`."""
        operation = str(request["operation"])
        forbidden: list[str] = []
        try:
            # what is asked ahead can trace nothing: what it calls is called when it is asked
            is_watched = operation == "call" or (operation in LEARNERS and not self.record)
            watching = self.watching(forbidden) if is_watched else nullcontext()
            with refuse_graph(self.forbids, forbidden), watching:
                reply: Reply = getattr(self, f"do_{operation}")(request)
                if self.keeps_garbage:
                    COLLECT_NOTHING()
        except BaseException as error:  # a learner's code may raise SystemExit, KeyboardInterrupt or anything
            reply = {"error": describe_error(error, self.files)}
        if self.forbids:
            self._look_for_changes(forbidden)
        return self.refuse(forbidden, reply)

    def _look_for_changes(self, forbidden: list[str]) -> None:
        """Append what of torch is another one by now to *forbidden*: within the watch, for what asks may be another."""
        try:
            with self.watching(forbidden):
                name = changed_torch() or self.blocker.lifted()
        except BaseException:  # torch's own raise nothing here
            name = "torch.overrides"
        if name:
            forbidden.append(name)

    def watching(self, forbidden: list[str]) -> AbstractContextManager[Any]:
        """Return a context in which what is forbidden is noted, or refused and appended to *forbidden*."""
        return (self.record or watch(self.forbids, forbidden)) if self.forbids else nullcontext()

    def refuse(self, forbidden: list[str], reply: Reply) -> Reply:
        """Return an error in the place of a reply if something forbidden was called meanwhile."""
        forbidden += self.blocker.seen
        if not forbidden:
            return reply
        self.blocker.seen.clear()
        if self.record:
            self.record.refused += forbidden
        frames = reply.get("error", {}).get("frames", [])
        return {"error": {"kind": "forbidden", "type": "ForbiddenCall", "text": forbidden[0], "frames": frames}}

    def do_call(self, request: Request) -> Reply:
        """Call a function, or an object by its handle; `method` names a method of it, `attribute` what is read of it.

        `grad` asks for gradients too, `after` for the arguments afterwards, `elsewhere` for a call on the fake device;
        `still` for a call without dropout, `slices` for one in which arrays are slices, `item` for one item of what is
        returned, by its place or key, or by the places on the way to it; `then` holds the arguments of another call,
        after which the value of the first is read.
        """
        if not request.get("still"):
            return self._call(request)
        stilled: list[str] = []
        with without_dropout(stilled):
            reply = self._call(request)
        return {**reply, "stilled": bool(stilled)}

    def _call(self, request: Request) -> Reply:
        if request.get("slices"):
            request = map_leaves(request, make_slice)
        target = self._target(request)
        args = self._resolve(request["args"])
        kwargs = self._resolve(request["kwargs"])
        grad, item = request.get("grad"), request.get("item")
        places = [item] if isinstance(item, int | str) else item or []
        call = target if item is None else lambda *args, **kwargs: reduce(getitem, places, target(*args, **kwargs))
        if request.get("elsewhere"):
            return _call_on_fake_device(target, call, args, kwargs)
        if grad is None:
            reply = {"value": call(*args, **kwargs)}
            if "then" in request:
                call(*self._resolve(request["then"]), **kwargs)
            return reply | {"after": map_leaves([args, kwargs], _plain_data)} if request.get("after") else reply
        return _call_for_gradients(target, call, args, kwargs, grad)

    def do_watch(self, request: Request) -> Reply:
        """Call a function of a watched module, and return what each of its expressions gave, and what it raised."""
        watcher = self.namespace[HOOK]
        watcher.watch()
        value, raised = self._try_call(request)
        return {"value": value, "events": watcher.take(), "raised": raised and describe_error(raised, self.files)}

    def do_exchange(self, request: Request) -> Reply:
        """Call a function of a watched module with other values in place of one expression, for each of `trials`.

        What comes too late is not tried.
        """
        watcher, until, values = self.namespace[HOOK], time.monotonic() + MAX_EXCHANGE_SECONDS, []
        for number, given in request["trials"]:
            watcher.exchange(number, given)
            values.append(self._try_call(request)[0] if time.monotonic() < until else [])
        watcher.take()
        return {"values": values}

    def _try_call(self, request: Request) -> tuple[list[Any], Exception | None]:
        """Return what a call gives, in a list; an empty one if it raises, and what. Its arguments stay as they are."""
        try:
            args, kwargs = copy.deepcopy(self._resolve([request["args"], request["kwargs"]]))
            return [self._target(request)(*args, **kwargs)], None
        except Exception as error:
            return [], error

    def do_build(self, request: Request) -> Reply:
        """Make an object of one of the module's classes; `state` is loaded into it by name."""
        state = request.get("state")
        if state is None:
            made, missing, unexpected, by_shape = self._make(request), [], [], False  # type: ignore[var-annotated]
        else:
            with without_drawing():
                made = self._make(request)
            missing, unexpected, by_shape = load_state(made, state)
            if missing or unexpected:  # so there are numbers that nobody gives
                made = self._make(request)
                load_state(made, state)
        if request.get("device") and hasattr(made, "state_dict"):
            made.to(request["device"])
        return {"handle": self._keep(made), "missing": missing, "unexpected": unexpected, "by_shape": by_shape}

    def _make(self, request: Request) -> Any:
        return self._find(request["name"])(*self._resolve(request["args"]), **self._resolve(request["kwargs"]))

    def do_make(self, request: Request) -> Reply:
        """Make an object from its description (a small model, an optimizer) that logs what is done to it."""
        return {"handle": self._keep(factories.make(self._resolve(request["spec"]), self.log))}

    def do_state(self, request: Request) -> Reply:
        """Read parameters and buffers by name, their gradients, and whether the module is in training mode."""
        module = self.objects[request["handle"]]
        parameters = dict(module.named_parameters(remove_duplicate=False))
        return {
            "state": {name: tensor.detach().clone() for name, tensor in module.state_dict().items()},
            "grads": {name: None if p.grad is None else p.grad.detach().clone() for name, p in parameters.items()},
            "parameters": list(parameters),
            "training": module.training,
        }

    def do_mode(self, request: Request) -> Reply:
        """Put an object into training or evaluation mode."""
        set_mode(self.objects[request["handle"]], request["training"])
        return {}

    def do_events(self, request: Request) -> Reply:
        """Return what was done to the objects of `make` since the last time this was asked."""
        events, self.log[:] = list(self.log), []
        return {"events": events}

    def do_names(self, request: Request) -> Reply:
        """Return the kind and parameters of each wanted name, and the module's public names."""
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
        return {"found": found, "public": public[:MAX_PUBLIC_NAMES]}

    def close(self) -> None:
        """Drop everything, and unblock torch's functions."""
        self.forget_objects()
        self.blocker.restore()

    def forget_objects(self) -> None:
        """Drop every object that was made, and number the next ones from 1."""
        self.objects.clear()
        self.log.clear()
        self.made = 0

    def _keep(self, value: Any) -> int:
        self.made += 1
        self.objects[self.made] = value
        return self.made

    def _target(self, request: Request) -> Any:
        """Return what a request calls: a function, an object, a method of it, or what reads an attribute of it."""
        target = request["target"]
        found = self.objects[target.number] if isinstance(target, Handle) else self._find(target)
        if "attribute" in request:
            return partial(getattr, found, request["attribute"])
        return getattr(found, request["method"]) if "method" in request else found

    def _find(self, name: str) -> Any:
        """Return what the module defines under a name. Raises NameError, as Python does for a learner."""
        if name not in self.namespace:
            raise NameError(f"name {name!r} is not defined")
        return self.namespace[name]

    def _resolve(self, value: Any) -> Any:
        """Replace every handle by its object."""
        if not any(isinstance(each, MAY_HOLD_HANDLE) for each in (value.values() if type(value) is dict else value)):
            return value  # most arguments are arrays and numbers
        return map_leaves(value, lambda leaf: self.objects[leaf.number] if isinstance(leaf, Handle) else leaf)


def _plain_data(leaf: Any) -> Any:
    """Return an argument that is plain data, else None: modules and optimizers are not sent back."""
    is_data = leaf is None or isinstance(leaf, bool | int | float | str | Array) or hasattr(leaf, "dtype")
    return leaf if is_data else None


def _call_on_fake_device(target: Any, call: Any, args: Any, kwargs: Any) -> Reply:
    """Call with every tensor on the fake device; `there` says whether every tensor of the result is on it."""
    args, kwargs = fake_device.wrap([args, kwargs])
    with fake_device.fake_device(target if hasattr(target, "state_dict") else None):
        value = call(*args, **kwargs)
        tensors = fake_device.tensors_in(value)
        there = bool(tensors) and all(map(fake_device.is_on_fake_device, tensors))
        return {"value": map_leaves(value, fake_device.unwrap), "there": there}


def _call_for_gradients(target: Any, call: Any, args: Any, kwargs: Any, grad: dict[str, Any]) -> Reply:
    """Differentiate sum(weights * output) by the arguments at these positions and by a module's parameters.

    A position may be a list: the argument, and the places in it. A gradient is None where none arrives; `grads` is None
    if the output has no graph.
    """
    import torch

    positions = [[each] if isinstance(each, int) else each for each in grad["wrt"]]
    leaves = {_place_name(*each): reduce(getitem, each, args).requires_grad_(True) for each in positions}
    if isinstance(target, torch.nn.Module):
        leaves.update({name: p for name, p in target.named_parameters() if p.requires_grad})
    value = call(*args, **kwargs)
    if not isinstance(value, torch.Tensor) or not value.requires_grad:
        return {"value": value, "grads": None, "is_tensor": isinstance(value, torch.Tensor)}
    total = (value * grad["weights"].to(value.dtype)).sum()
    grads = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
    return {"value": value.detach(), "grads": dict(zip(leaves, grads, strict=True)), "is_tensor": True}


def _place_name(index: int, *places: int) -> str:
    return f"argument {index}{''.join(f'[{place}]' for place in places)}"


def describe_error(error: BaseException, files: frozenset[str]) -> Reply:
    """Describe an exception as plain data: its kind, type, text, and the traceback's lines in *files*."""
    kind = "raised"
    if isinstance(error, ForbiddenCall):
        kind = "forbidden"
    elif isinstance(error, MemoryError) or "can't allocate memory" in _text(error):
        kind = "out-of-memory"
    elif isinstance(error, SyntaxError):
        kind = "syntax"
    # only these are extracted: a line of any other file would be read from the disk
    frames = [
        [frame.filename, frame.lineno or 0, frame.name, (frame.line or "")[:MAX_LINE_CHARS]]
        for frame in traceback.StackSummary.extract(_frames_in(files, error.__traceback__))
    ]
    if isinstance(error, SyntaxError):
        frames.append([error.filename or "", error.lineno or 0, "", _with_caret(error)])
    text = error.msg if isinstance(error, SyntaxError) else _text(error)
    return {"kind": kind, "type": _type_name(type(error)), "text": text, "frames": frames[-MAX_FRAMES:]}


def _frames_in(files: frozenset[str], step: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    """Yield the frames of a traceback in *files*, with their lines; `traceback.walk_tb` hands frames to anybody."""
    while step is not None:
        frame = step.tb_frame
        if frame.f_code.co_filename in files:
            yield frame, step.tb_lineno
        step = step.tb_next


def _type_name(kind: type[BaseException]) -> str:
    """Return the name of an error's class; of one of the learner's own also that of Python's own behind it."""
    name, module = kind.__name__, str(kind.__module__)
    # where a class says that it is from need not be true, and its metaclass may say that it equals any other
    library = sys.modules.get(module) if module.partition(".")[0] in ("numpy", "torch") else None
    known = ForbiddenCall, TooLarge, OF_PYTHON.get(name), getattr(library, "__dict__", {}).get(name)
    if any(each is kind for each in known):
        return name
    base = next(each.__name__ for each in kind.__mro__ if OF_PYTHON.get(each.__name__) is each)
    return f"{name}({base})"


def _with_caret(error: SyntaxError) -> str:
    """Return the line that Python could not parse, with a caret under the column."""
    line = (error.text or "").rstrip("\n")
    column = max(0, (error.offset or 1) - 1)
    if isinstance(error, IndentationError):  # of which Python marks the line's beginning or its end
        column = len(line) - len(line.lstrip())
    if column <= len(line) <= MAX_LINE_CHARS and line:
        before = re.sub(r"[^\t]", " ", line[:column])
        return f"{line}\n{before}^".expandtabs(4)
    return line[:MAX_LINE_CHARS]


def _text(error: BaseException) -> str:
    try:
        return str(error)[:MAX_MESSAGE_CHARS]
    except BaseException:  # a learner's exception may have any __str__
        return ""
