"""A submission whose answers are brought into the form of the reference's, so that a check sees what they say."""

from __future__ import annotations

from typing import Any

from grader.judge.errors import LearnerError
from grader.judge.processes.remote_module import CallableModule
from grader.judge.transcript.replay import NotRecorded
from grader.judge.transcript.transcript import with_handles
from grader.judge.values.compare import is_array
from grader.judge.values.mend import fitting_item, mend


class MendingModule(CallableModule):
    """Asks a submission, and the reference beside it for the form that each answer is to have.

    Args:
        subject: The submission.
        model: The reference.

    Attributes:
        faults: The kinds of what was mended so far: container, axis, dtype, names; random for dropout that was left on.
    """

    def __init__(self, subject: CallableModule, model: CallableModule) -> None:
        super().__init__(subject._kinds, subject._device)
        self._subject, self._model = subject, model
        self.faults: set[str] = set()
        self._handles: dict[int, int] = {}  # of the submission's objects: of the reference's

    def ask(self, operation: str, **content: Any) -> dict[str, Any]:
        expected = self._ask_model(operation, content)
        if operation == "call":
            return self._call(content, expected.get("value"))
        reply = self._subject.ask(operation, **content)
        if "handle" in reply and "handle" in expected:
            self._handles[reply["handle"]] = expected["handle"]
        if reply.get("by_shape"):  # its numbers are in their places, whatever these are called
            self.faults.add("names")
            reply = {**reply, "missing": [], "unexpected": []}
        return reply

    def _ask_model(self, operation: str, content: dict[str, Any]) -> dict[str, Any]:
        """Return the reference's answer; empty if it has none."""
        try:
            return self._model.ask(operation, **with_handles(content, self._handles))
        except (KeyError, LearnerError, NotRecorded):
            return {}

    def _call(self, content: dict[str, Any], expected: Any) -> dict[str, Any]:
        """Call the submission without dropout. What is done in its process with the value needs the right item."""
        inside = {key: content[key] for key in ("grad", "elsewhere") if content.get(key)}
        plain = {key: part for key, part in content.items() if key not in inside}
        reply = self._still(plain)
        value = reply["value"]
        reply["value"] = mend(value, expected, self.faults)
        if not inside:
            return reply
        number = fitting_item(value, expected) if is_array(expected) else None
        if number is not None:
            value, content = value[number], {**content, "item": number}
        if "grad" in inside and is_array(value) and value.shape != expected.shape and is_array(reply["value"]):
            weights = inside["grad"]["weights"]
            if weights.shape == reply["value"].shape:
                content = {**content, "grad": {**inside["grad"], "weights": weights.reshape(value.shape)}}
        answer = self._still(content)
        return {**answer, "value": mend(answer["value"], expected, self.faults)}

    def _still(self, content: dict[str, Any]) -> dict[str, Any]:
        reply = self._subject.ask("call", **content, still=True)
        if reply["stilled"]:
            self.faults.add("random")
        return dict(reply)
