"""Ask any version of a function what a check asks of it: what recognises mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grader.judge.diagnosis.error_hints import hint_for
from grader.judge.errors import LearnerError
from grader.judge.mistakes.mistake_set import MistakeSet, Probe
from grader.judge.processes.remote_module import CallableModule
from grader.judge.transcript.transcript import Exchange, Transcript, with_handles
from grader.judge.values.compare import ATOL, Raised

# torch raises a RuntimeError for each, and they are different mistakes
CAUSES = (
    "modified by an inplace operation", "Can't call numpy()", "does not require grad", "leaf Variable",
    "only for scalar outputs", "Expected target size",
)  # fmt: skip
NOTHING = object()  # is told by a reply that only says that it was done


def make_probe(check: str, stage: str, transcript: Transcript, mistake_set: MistakeSet) -> Probe:
    """Return all that a check asks of a right submission as one probe.

    It sees all of an answer; a check may look at a part of it, so only a stage that the check names is said to be right
    or wrong.
    """

    def run(subject: CallableModule, rand: Any) -> Any:
        return ask_again(subject, transcript.submission, mistake_set.read)

    return Probe(check, run, mistake_set.tolerances.get(check, ATOL), stage)


def ask_again(subject: CallableModule, exchanges: Sequence[Exchange], read: Callable[[Any], Any]) -> Any:
    """Return what a subject answers to recorded requests, as one observation.

    Only what the reference's answers speak of is observed. An error is an answer, after which it goes on.

    Args:
        read: What is seen of a value, of the names that are `missing` or `unexpected` in an object, and of its state.

    Raises:
        LearnerError: The subject timed out or died.
    """
    handles: dict[int, int] = {}  # of the recording: of the subject
    observations, has_called = [], False
    for exchange in exchanges:
        # where the answer lies says nothing of what it is: that has its own check, and no known mistake
        if exchange.content.get("elsewhere"):
            continue
        try:
            reply = subject.ask(exchange.operation, **with_handles(exchange.content, handles))
        except KeyError:
            observed: Any = Raised("raised", "no such object")  # it could not be made
        except LearnerError as error:
            if error.kind not in ("raised", "forbidden"):
                raise
            cause = next((cause for cause in CAUSES if cause in error.text), "")
            observed = Raised(error.kind, f"{error.type_name} {cause}".strip(), hint_for(str(error)).pattern)
        else:
            answer = exchange.answer if isinstance(exchange.answer, Mapping) else {}
            if "handle" in answer:
                handles[answer["handle"]] = reply["handle"]
            try:
                observed = _read(exchange, answer, reply, read)
            except Exception as error:  # what reads a lesson's answers could not use this one
                observed = Raised("unusable", type(error).__name__)
        has_called |= exchange.operation == "call"
        # what was noted before a call is of other probes: the check has only forgotten it
        if observed is not NOTHING and (has_called or exchange.operation != "events"):
            observations.append(observed)
    return observations[0] if len(observations) == 1 else observations


def _read(exchange: Exchange, answer: Mapping[str, Any], reply: Mapping[str, Any], read: Callable[[Any], Any]) -> Any:
    if "value" in reply:
        reply = {**reply, "value": read(reply["value"])}
    observed = _observe(exchange, answer, reply)
    return read(observed) if exchange.operation in ("build", "state") else observed


def _observe(exchange: Exchange, answer: Mapping[str, Any], reply: Mapping[str, Any]) -> Any:
    if exchange.operation == "build":
        return {"missing": sorted(reply["missing"]), "unexpected": sorted(reply["unexpected"])}
    if exchange.operation == "state":
        return {key: _only(reply[key], answer[key]) for key in ("state", "grads", "training")}
    if exchange.operation == "events":
        return list(reply["events"])
    if exchange.operation != "call":
        return NOTHING
    if "grad" in exchange.content:
        # what is no tensor can have no gradient, and says nothing of one
        grads = reply["grads"] if reply["is_tensor"] else answer["grads"]
        return {"value": reply["value"], "grads": _only(grads, answer["grads"])}
    if exchange.content.get("after"):
        return {"value": reply["value"], "after": reply["after"]}
    return reply["value"]


def _only(found: Any, expected: Any) -> Any:
    """Return of a mapping what the reference has, too: a version may have more parameters."""
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        return {key: found.get(key) for key in expected}
    return found
