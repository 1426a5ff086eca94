"""The functions and classes of a module as a check calls them, wherever the module is.

`RemoteModule` is a learner's module in a worker process: only plain data crosses. `LocalModule` is one of our own
(the reference, a known mistake) in this process. Both perform the same operations, so no check can tell them apart.

    submission.softmax(x, dim=1)                       the value
    submission.softmax.observe(x, dim=1)               the value, and the arguments after the call
    submission.softmax.gradients(x, wrt=[0], weights=w)  gradients of sum(weights * value)
    submission.softmax.before_call([y], x)             the value, as it is after another call, with y
    submission.softmax.on_slices(x)                    the value, where x is a slice of a larger array
    submission.softmax.on_fake_device(x)               the value, and whether it stayed on its input's device
    block = submission.TransformerBlock(8, 2, 32, state=weights); block(x, mask=mask); block.gradients(...)
    tokenizer = submission.CharTokenizer(text); tokenizer.method("encode")("ab"); tokenizer.attribute("vocab_size")
    model = submission.make_model(layers, state); optimizer = submission.make_optimizer(model, "sgd", lr=0.1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from grader.errors import WorkerError, WorkerTimeout
from grader.judge.errors import LearnerError
from grader.judge.processes.connection import NOT_AN_ANSWER, Worker
from grader.judge.processes.reply_schema import Malformed, read_error, read_frames, reply_to
from grader.worker.arrays import bring_home, device_types, duplicate, map_leaves, pack
from grader.worker.operations import ModuleHost
from grader.worker.wire import Handle


@dataclass(frozen=True)
class Observed:
    """A value, and the arguments after the call. `devices`: where the arrays of the value were."""

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


class CallableModule:
    """A module's functions and classes. `kinds` says which names are which."""

    def __init__(self, kinds: Mapping[str, str], device: str = "cpu") -> None:
        self._kinds = dict(kinds)
        self._device = device
        self.last_call: Call | None = None
        self.last_value: Any = None
        self.artefact: bytes | None = None  # what lies beside the learner's file as LESSON.safetensors
        self.told: dict[str, bool] = {}

    def tell(self, text: str, shown: bool = False) -> None:
        """Have the learner read a sentence below the verdict, once, also where every check passes.

        Where hidden inputs are concealed only what is `shown` anyhow: code that saw them may choose what is measured.
        """
        self.told.setdefault(text, shown)  # a check may be asked twice

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._kinds:
            raise AttributeError(f"no function or class {name!r} in this lesson")
        return partial(self._build, name) if self._kinds[name] == "class" else RemoteFunction(self, name, name)

    def _build(self, name: str, /, *args: Any, state: Mapping[str, Any] | None = None, **kwargs: Any) -> RemoteObject:
        """Make an object of the class *name*; `state` (names to arrays) is copied into it.

        `missing` and `unexpected` of the result name what did not fit.
        """
        self.last_call = Call(name, args, kwargs)
        reply = self.ask("build", name=name, args=list(args), kwargs=kwargs, state=state)
        made = RemoteObject(self, name, Handle(reply["handle"]))
        made.missing, made.unexpected = list(reply["missing"]), list(reply["unexpected"])
        return made

    def make_model(
        self, layers: Sequence[Sequence[Any]], state: Mapping[str, Any] | None = None, **more: Any
    ) -> RemoteObject:
        """Make a small model of plain layers that logs each forward pass; `state` gives its weights."""
        spec = {"kind": "model", "layers": [list(layer) for layer in layers], "state": state, **more}
        if self._device != "cpu":
            spec["device"] = self._device
        return RemoteObject(self, "model", Handle(self.ask("make", spec=spec)["handle"]))

    def make_optimizer(self, model: RemoteObject, name: str, **options: Any) -> RemoteObject:
        """Make one of torch's optimizers ("sgd", "adamw") over a model's parameters; it logs each step."""
        spec = {"kind": "optimizer", "name": name, "module": model.handle, "options": options}
        return RemoteObject(self, name, Handle(self.ask("make", spec=spec)["handle"]))

    def make_report(self, total: int, model: RemoteObject | None = None) -> RemoteObject:
        """Make a function that takes the loss of each of `total` steps: it logs it, and the learner sees a bar.

        With the model that is trained it logs as well how far that has moved since the report before.
        """
        spec = {"kind": "report", "total": total, "module": model and model.handle}
        return RemoteObject(self, "report", Handle(self.ask("make", spec=spec)["handle"]))

    def events(self) -> list[tuple[Any, ...]]:
        """Return what was done to the models and optimizers since the last time."""
        return [tuple(event) for event in self.ask("events")["events"]]

    def seed(self, number: int) -> None:
        """Let the random generators start anew with the next request, so that no answer depends on earlier draws."""

    def ask(self, operation: str, **content: Any) -> dict[str, Any]:
        """Have one operation performed and return its reply. Raises LearnerError."""
        raise NotImplementedError


class RemoteFunction:
    """A function or an object of the module, to be called."""

    def __init__(self, subject: CallableModule, target: str | Handle, shown: str, **part: str) -> None:
        """Stand for a function, an object, or a part of an object: its `method` or `attribute` of this name."""
        self._subject, self._target, self.shown, self._part = subject, target, shown, part

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        reply = self._ask(args, kwargs)
        self._subject.last_value = reply["value"]
        return reply["value"]

    def observe(self, *args: Any, **kwargs: Any) -> Observed:
        """Call it, and return the arguments after the call too."""
        reply = self._ask(args, kwargs, after=True)
        self._subject.last_value = reply["value"]
        after_args, after_kwargs = reply["after"]
        return Observed(reply["value"], list(after_args), dict(after_kwargs), reply.get("devices", ()))

    def gradients(
        self,
        *args: Any,
        wrt: Sequence[int | Sequence[int]],
        weights: Any,
        item: int | Sequence[int] | None = None,
        **kwargs: Any,
    ) -> dict[str, Any] | None:
        """Return the gradients of sum(weights * value), by "argument <index>" and by parameter name.

        A gradient is None where nothing reaches; the whole is None when the value has no graph. `item` is the place of
        the value in a list that is returned, or the places on the way to it; so is what stands in `wrt`: (3, 0) is the
        first entry of argument 3, and its name "argument 3[0]".

        Raises:
            TypeError: The value is no tensor.
        """
        places = [each if isinstance(each, int) else list(each) for each in wrt]
        part = {} if item is None else {"item": item if isinstance(item, int) else list(item)}
        reply = self._ask(args, kwargs, grad={"wrt": places, "weights": weights}, **part)
        self._subject.last_value = reply["value"]
        if not reply["is_tensor"]:
            raise TypeError("only a tensor has gradients")
        return reply["grads"]  # type: ignore[no-any-return]

    def before_call(self, then: Sequence[Any], /, *args: Any, **kwargs: Any) -> Any:
        """Call it, call it once more with the arguments *then*, and return what the first call gave, as it is by then.

        A buffer that is kept and given back each time holds what the second call wrote.
        """
        reply = self._ask(args, kwargs, then=list(then))
        self._subject.last_value = reply["value"]
        return reply["value"]

    def on_slices(self, *args: Any, **kwargs: Any) -> Any:
        """Call it with every array a slice of a larger one, as `ids[:, :-1]` is: not contiguous."""
        reply = self._ask(args, kwargs, slices=True)
        self._subject.last_value = reply["value"]
        return reply["value"]

    def on_fake_device(self, *args: Any, **kwargs: Any) -> tuple[Any, bool]:
        """Call it with every tensor on a fake device; return the value, and whether it stayed on that device.

        On a GPU that is the other device.
        """
        if (device := self._subject._device) != "cpu":
            reply = self._ask(args, kwargs)
            return reply["value"], reply["devices"] == (device.partition(":")[0],)
        reply = self._ask(args, kwargs, elsewhere=True)
        return reply["value"], bool(reply["there"])

    def _ask(self, args: tuple[Any, ...], kwargs: dict[str, Any], **more: Any) -> dict[str, Any]:
        self._subject.last_call = Call(self.shown, args, kwargs)
        plain, named = list(args), kwargs
        if any(isinstance(arg, INNER) for arg in (*args, *kwargs.values())):
            # objects of a subject travel as their handles
            plain, named = map_leaves(
                [plain, kwargs], lambda leaf: leaf.handle if isinstance(leaf, RemoteObject) else leaf
            )
        return self._subject.ask("call", target=self._target, args=plain, kwargs=named, **more, **self._part)


class RemoteObject(RemoteFunction):
    """An object that lives with the module: a torch module, a model, an optimizer."""

    missing: list[str]
    unexpected: list[str]

    def __init__(self, subject: CallableModule, shown: str, handle: Handle) -> None:
        super().__init__(subject, handle, shown)
        self.handle = handle
        self.missing, self.unexpected = [], []

    def state(self) -> dict[str, Any]:
        """Return `state`, `grads`, `parameters` (names) and `training`."""
        return self._subject.ask("state", handle=self.handle.number)

    def method(self, name: str) -> RemoteFunction:
        """Return a method of it, to be called."""
        return RemoteFunction(self._subject, self.handle, f"{self.shown}.{name}", method=name)

    def attribute(self, name: str) -> Any:
        """Return the value of an attribute, which may be a property."""
        return RemoteFunction(self._subject, self.handle, f"{self.shown}.{name}", attribute=name)()

    def train(self, training: bool = True) -> RemoteObject:
        """Put it into training (or evaluation) mode."""
        self._subject.ask("mode", handle=self.handle.number, training=training)
        return self

    def eval(self) -> RemoteObject:
        """Put it into evaluation mode."""
        return self.train(False)


INNER = (RemoteObject, list, tuple, dict)  # where an object of a subject may be


class LocalModule(CallableModule):
    """One of our own modules: its operations run in this process."""

    def __init__(self, namespace: Mapping[str, Any], kinds: Mapping[str, str], device: str = "cpu") -> None:
        super().__init__(kinds, device)
        self._host = ModuleHost(dict(namespace))

    def twin(self) -> LocalModule:
        """Return the same module without its objects."""
        return LocalModule(self._host.namespace, self._kinds, self._device)

    def release(self) -> None:
        """Forget the objects that were made, and the last call: its value holds all that autograd recorded for it."""
        self._host.forget_objects()
        self.last_call = self.last_value = None

    def ask(self, operation: str, **content: Any) -> dict[str, Any]:
        reply = self._host.perform({"operation": operation, **duplicate(content)})
        if "error" in reply:
            raise LearnerError(*read_error(reply["error"]))
        if operation == "call":
            home: dict[str, Any] = bring_home(reply)
            return home | {"devices": tuple(sorted(device_types(reply["value"])))}
        return reply


class RemoteModule(CallableModule):
    """A learner's module in a worker; every reply is validated."""

    def __init__(self, worker: Worker, kinds: Mapping[str, str], device: str = "cpu") -> None:
        super().__init__(kinds, device)
        self._worker = worker
        self._seed: int | None = None

    def seed(self, number: int) -> None:
        self._seed = number

    def ask(self, operation: str, **content: Any) -> dict[str, Any]:
        if self._seed is not None:
            content["seed"], self._seed = self._seed, None
        if self._device != "cpu":
            content["device"] = self._device
        try:
            reply = self._worker.request(operation, **pack(content))
        except WorkerError as error:
            raise no_answer(error) from None
        return reply_of(self._worker, operation, content, reply)


def reply_of(worker: Worker, operation: str, content: Mapping[str, Any], reply: Mapping[str, Any]) -> dict[str, Any]:
    """Validate a worker's reply to an operation.

    Raises:
        LearnerError: The reply is an error, or malformed; then the worker is killed.
    """
    try:
        if "error" in reply:
            raise LearnerError(*read_error(reply["error"]))
        return reply_to(operation, content, reply)
    except Malformed:
        worker.kill()
        raise LearnerError("crashed", "", NOT_AN_ANSWER) from None


def no_answer(error: WorkerError) -> LearnerError:
    """Turn a worker's failure to reply into the submission's error."""
    if isinstance(error, WorkerTimeout):
        return LearnerError("timed-out", "", error.what, read_frames(error.frames))
    return LearnerError("crashed", "", error.what)
