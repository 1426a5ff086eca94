"""What a check talks to: a module's functions and classes, wherever the module lives.

`RemoteSubject` is a learner's module in a worker process: only plain data crosses. `LocalSubject` is one of our own
(the reference, a known mistake) in this process. Both answer the same acts, so no check can tell them apart.

    submission.softmax(x, dim=1)                       the value
    submission.softmax.observe(x, dim=1)               the value, and the arguments after the call
    submission.softmax.gradients(x, wrt=[0], weights=w)  gradients of sum(weights * value)
    submission.softmax.on_fake_device(x)               the value, and whether it stayed on its input's device
    block = submission.TransformerBlock(8, 2, 32, state=weights); block(x, mask=mask); block.gradients(...)
    model = submission.make_model(layers, state); optimizer = submission.make_optimizer(model, "sgd", lr=0.1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.errors import WorkerError, WorkerTimeout
from grader.judge.errors import LearnerError
from grader.judge.processes.connection import Worker
from grader.judge.processes.reply_schema import Malformed, read_error, read_frames, reply_to
from grader.worker.arrays import detach_tensors, device_types, duplicate, map_leaves, move_to_cpu, pack
from grader.worker.operations import ModuleHost
from grader.worker.wire import Handle

NOT_AN_ANSWER = "The worker's process sent something that is not an answer."


@dataclass(frozen=True)
class Observed:
    """A value and what became of the arguments. `devices`: where the arrays of the value were."""

    value: Any
    args: list[Any]
    kwargs: dict[str, Any]
    devices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Call:
    """One call as a check made it, kept for the message of a failure."""

    target: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)


class Subject:
    """A module's functions and classes. `kinds` says which names are which."""

    def __init__(self, kinds: Mapping[str, str], device: str = "cpu") -> None:
        self._kinds = dict(kinds)
        self._device = device
        self.last_call: Call | None = None
        self.last_value: Any = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._kinds:
            raise AttributeError(f"no function or class {name!r} in this lesson")
        return ClassProxy(self, name) if self._kinds[name] == "class" else Proxy(self, name, name)

    def make_model(
        self, layers: Sequence[Sequence[Any]], state: Mapping[str, Any] | None = None, **more: Any
    ) -> Object:
        """A small model of plain layers that logs each forward pass; `state` gives its weights."""
        spec = {"kind": "model", "layers": [list(layer) for layer in layers], "state": state, **more}
        if self._device != "cpu":
            spec["device"] = self._device
        return Object(self, "model", Handle(self.ask("make", spec=spec)["handle"]))

    def make_optimizer(self, model: Object, name: str, **options: Any) -> Object:
        """One of torch's optimizers ("sgd", "adamw") over a model's parameters, logging each step."""
        spec = {"kind": "optimizer", "name": name, "module": model.handle, "options": options}
        return Object(self, name, Handle(self.ask("make", spec=spec)["handle"]))

    def events(self) -> list[tuple[Any, ...]]:
        """What was done to the models and optimizers since the last time this was asked."""
        return [tuple(event) for event in self.ask("events")["events"]]

    def ask(self, act: str, **content: Any) -> dict[str, Any]:
        """Carry out one act and return its reply, or raise LearnerError."""
        raise NotImplementedError


class Proxy:
    """A function or an object of the subject, to be called."""

    def __init__(self, subject: Subject, target: str | Handle, shown: str) -> None:
        self._subject, self._target, self.shown = subject, target, shown

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        reply = self._ask(args, kwargs)
        self._subject.last_value = reply["value"]
        return reply["value"]

    def observe(self, *args: Any, **kwargs: Any) -> Observed:
        """Call it; also say what became of the arguments."""
        reply = self._ask(args, kwargs, after=True)
        self._subject.last_value = reply["value"]
        after_args, after_kwargs = reply["after"]
        return Observed(reply["value"], list(after_args), dict(after_kwargs), reply.get("devices", ()))

    def gradients(self, *args: Any, wrt: Sequence[int], weights: Any, **kwargs: Any) -> dict[str, Any] | None:
        """Gradients of sum(weights * value) by "argument <index>" and by parameter name; None where nothing
        reaches. The whole is None when the value has no graph; TypeError when it is no tensor."""
        reply = self._ask(args, kwargs, grad={"wrt": list(wrt), "weights": weights})
        self._subject.last_value = reply["value"]
        if not reply["is_tensor"]:
            raise TypeError("only a tensor has gradients")
        return reply["grads"]  # type: ignore[no-any-return]

    def on_fake_device(self, *args: Any, **kwargs: Any) -> tuple[Any, bool]:
        """Call it with every tensor on a device that is not there (worker/fake_device.py): the value, and whether it
        stayed on that device."""
        reply = self._ask(args, kwargs, elsewhere=True)
        return reply["value"], bool(reply["there"])

    def _ask(self, args: tuple[Any, ...], kwargs: dict[str, Any], **more: Any) -> dict[str, Any]:
        self._subject.last_call = Call(self.shown, args, kwargs)
        plain, named = list(args), kwargs
        if any(isinstance(arg, INNER) for arg in (*args, *kwargs.values())):
            # objects of a subject travel as their handles
            plain, named = map_leaves([plain, kwargs], lambda leaf: leaf.handle if isinstance(leaf, Object) else leaf)
        return self._subject.ask("call", target=self._target, args=plain, kwargs=named, **more)


class ClassProxy:
    """A class of the subject: calling it makes an object there."""

    def __init__(self, subject: Subject, name: str) -> None:
        self._subject, self._name = subject, name

    def __call__(self, *args: Any, state: Mapping[str, Any] | None = None, **kwargs: Any) -> Object:
        """Make an object; `state` (names to arrays) is copied into it. `missing` and `unexpected` of the result name
        what did not fit."""
        self._subject.last_call = Call(self._name, args, kwargs)
        reply = self._subject.ask("build", name=self._name, args=list(args), kwargs=kwargs, state=state)
        made = Object(self._subject, self._name, Handle(reply["handle"]))
        made.missing, made.unexpected = list(reply["missing"]), list(reply["unexpected"])
        return made


class Object(Proxy):
    """An object that lives with the subject: a module, a model, an optimizer."""

    missing: list[str]
    unexpected: list[str]

    def __init__(self, subject: Subject, shown: str, handle: Handle) -> None:
        super().__init__(subject, handle, shown)
        self.handle = handle
        self.missing, self.unexpected = [], []

    def state(self) -> dict[str, Any]:
        """`state`, `grads`, `parameters` (names) and `training`."""
        return self._subject.ask("state", handle=self.handle.number)

    def train(self, training: bool = True) -> Object:
        """Put it into training (or evaluation) mode."""
        self._subject.ask("mode", handle=self.handle.number, training=training)
        return self

    def eval(self) -> Object:
        """Put it into evaluation mode."""
        return self.train(False)


INNER = (Object, list, tuple, dict)  # where an object of a subject may be


class LocalSubject(Subject):
    """One of our own modules: its acts run here."""

    def __init__(self, namespace: Mapping[str, Any], kinds: Mapping[str, str], device: str = "cpu") -> None:
        super().__init__(kinds, device)
        self._host = ModuleHost(dict(namespace))

    def twin(self) -> LocalSubject:
        """The same module, with objects of its own."""
        return LocalSubject(self._host.namespace, self._kinds, self._device)

    def release(self) -> None:
        """Let go of the objects that were made, and of what was last asked and answered: a batch asks for thousands,
        and an answer holds all that autograd recorded on the way to it."""
        self._host.forget_objects()
        self.last_call = self.last_value = None

    def ask(self, act: str, **content: Any) -> dict[str, Any]:
        reply = self._host.perform({"operation": act, **duplicate(content)})
        if "error" in reply:
            raise learner_error(reply["error"])
        if act == "call":
            home: dict[str, Any] = detach_tensors(move_to_cpu(reply))
            return home | {"devices": tuple(sorted(device_types(reply["value"])))}
        return reply


class RemoteSubject(Subject):
    """A learner's module in a worker. Whatever comes back is checked before it is used."""

    def __init__(self, worker: Worker, kinds: Mapping[str, str], device: str = "cpu") -> None:
        super().__init__(kinds, device)
        self._worker = worker

    def ask(self, act: str, **content: Any) -> dict[str, Any]:
        if self._device != "cpu" and not content.get("elsewhere"):
            content["device"] = self._device
        try:
            reply = self._worker.request(act, **pack(content))
        except WorkerError as error:
            raise no_answer(error) from None
        return reply_of(self._worker, act, content, reply)


def reply_of(worker: Worker, act: str, content: Mapping[str, Any], reply: Mapping[str, Any]) -> dict[str, Any]:
    """What a worker replied to an act, checked. Raises LearnerError for an error; for a reply that no worker of ours
    gives, too, and then the worker is ended."""
    try:
        if "error" in reply:
            raise LearnerError(*read_error(reply["error"]))
        return reply_to(act, content, reply)
    except Malformed:
        worker.kill()
        raise LearnerError("crashed", "", NOT_AN_ANSWER) from None


def no_answer(error: WorkerError) -> LearnerError:
    """What it means for the submission that its worker did not answer."""
    if isinstance(error, WorkerTimeout):
        return LearnerError("timed-out", "", error.what, read_frames(error.frames))
    return LearnerError("crashed", "", error.what)


def learner_error(error: Any) -> LearnerError:
    """The reply's `error`, taken only in the form that ours has."""
    try:
        return LearnerError(*read_error(error))
    except Malformed:
        return LearnerError("crashed", "", NOT_AN_ANSWER)
