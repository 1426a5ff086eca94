"""What a check talks to: a module's functions and classes, wherever the module lives.

`RemoteSubject` is a learner's module in a worker process: only plain data crosses. `LocalSubject` is one of our own
(the reference, a known mistake) in this process. Both answer the same acts, so no check can tell them apart.

    submission.softmax(x, dim=1)                       the value
    submission.softmax.observe(x, dim=1)               the value, and the arguments after the call
    submission.softmax.gradients(x, wrt=[0], weights=w)  gradients of sum(weights * value)
    submission.softmax.elsewhere(x)                    the value, and whether it stayed on its input's device
    block = submission.TransformerBlock(8, 2, 32, state=weights); block(x, mask=mask); block.gradients(...)
    model = submission.make_model(layers, state); optimizer = submission.make_optimizer(model, "sgd", lr=0.1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.errors import WorkerError, WorkerTimeout
from grader.judge.worker import Worker
from grader.worker.acts import Actor
from grader.worker.arrays import brought_home, devices_of, duplicate, mapped, pack, unpack
from grader.worker.wire import Handle


class LearnerError(Exception):
    """The submission gave no value. `kind`: raised, timed-out, out-of-memory, crashed, forbidden or syntax."""

    def __init__(self, kind: str, type_name: str, text: str, frames: Sequence[Sequence[Any]] = ()) -> None:
        super().__init__(f"{type_name}: {text}" if type_name else text)
        self.kind = kind
        self.type_name = type_name
        self.text = text
        self.frames = [tuple(frame) for frame in frames]


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

    def elsewhere(self, *args: Any, **kwargs: Any) -> tuple[Any, bool]:
        """Call it with every tensor on a device that is not there (worker/elsewhere.py): the value, and whether it
        stayed on that device."""
        reply = self._ask(args, kwargs, elsewhere=True)
        return reply["value"], bool(reply["there"])

    def _ask(self, args: tuple[Any, ...], kwargs: dict[str, Any], **more: Any) -> dict[str, Any]:
        self._subject.last_call = Call(self.shown, args, kwargs)
        # objects of a subject travel as their handles
        plain = mapped([list(args), kwargs], lambda leaf: leaf.handle if isinstance(leaf, Object) else leaf)
        return self._subject.ask("call", target=self._target, args=plain[0], kwargs=plain[1], **more)


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


class LocalSubject(Subject):
    """One of our own modules: its acts run here."""

    def __init__(self, namespace: Mapping[str, Any], kinds: Mapping[str, str], device: str = "cpu") -> None:
        super().__init__(kinds, device)
        self._actor = Actor(dict(namespace))

    def release(self) -> None:
        """Let go of the objects that were made: a batch asks for thousands."""
        self._actor.forget()

    def ask(self, act: str, **content: Any) -> dict[str, Any]:
        reply = self._actor.act({"act": act, **duplicate(content)})
        if "error" in reply:
            raise learner_error(reply["error"])
        if act == "call":
            home: dict[str, Any] = brought_home(reply)
            return home | {"devices": tuple(sorted(devices_of(reply["value"])))}
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
        if "error" in reply:
            raise learner_error(reply["error"])
        try:
            return _checked(act, reply)
        except (KeyError, TypeError, ValueError, AttributeError, RuntimeError, OverflowError) as error:
            self._worker.kill()
            raise LearnerError("crashed", "", "The worker's process sent something that is not an answer.") from error


def no_answer(error: WorkerError) -> LearnerError:
    """What it means for the submission that its worker did not answer."""
    if isinstance(error, WorkerTimeout):
        frames = error.frames if isinstance(error.frames, list | tuple) else ()
        return LearnerError("timed-out", "", error.what, [frame for frame in frames if _is_frame(frame)])
    return LearnerError("crashed", "", error.what)


def learner_error(error: Any) -> LearnerError:
    """The reply's `error`, which a learner's process wrote: taken only in the form that ours has."""
    if isinstance(error, dict) and all(isinstance(error.get(key), str) for key in ("kind", "type", "text")):
        kind = error["kind"] if error["kind"] in ("raised", "forbidden", "out-of-memory", "syntax") else "crashed"
        frames = [frame for frame in error.get("frames", []) if _is_frame(frame)]
        return LearnerError(kind, error["type"], error["text"], frames)
    return LearnerError("crashed", "", "The worker's process sent something that is not an answer.")


def _is_frame(frame: Any) -> bool:
    return isinstance(frame, list | tuple) and [type(part) for part in frame] == [str, int, str, str]


def _checked(act: str, reply: dict[str, Any]) -> dict[str, Any]:
    """A reply in the form that its act has, arrays made real; anything else raises."""
    if act == "call":
        devices = tuple(sorted(devices_of(reply["value"])))
        plain: dict[str, Any] = {"value": unpack(reply["value"]), "devices": devices}
        if "grads" in reply:
            grads = reply["grads"]
            plain["is_tensor"] = reply["is_tensor"] is True
            plain["grads"] = None if grads is None else {str(name): unpack(grad) for name, grad in grads.items()}
            return plain
        args, kwargs = reply["after"]
        plain["there"] = reply.get("there") is True
        return plain | {"after": [list(unpack(args)), dict(unpack(kwargs))]}
    if act in ("build", "make"):
        return {
            "handle": int(reply["handle"]),
            "missing": reply.get("missing", []),
            "unexpected": reply.get("unexpected", []),
        }
    if act == "state":
        state, grads = dict(unpack(reply["state"])), dict(unpack(reply["grads"]))
        return {
            "state": state,
            "grads": grads,
            "parameters": list(reply["parameters"]),
            "training": bool(reply["training"]),
        }
    if act == "events":
        return {"events": [tuple(event) for event in unpack(reply["events"])]}
    return reply
