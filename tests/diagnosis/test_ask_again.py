"""What a check asks of the reference is asked of any version, and a mistake set says what is seen of the answers."""

from __future__ import annotations

import torch

from grader.judge.diagnosis.ask_again import ask_again
from grader.judge.processes.remote_module import LocalModule
from grader.judge.transcript.transcript import Exchange, Recorder

KINDS = {"Scale": "class"}


class Scale(torch.nn.Module):
    """Something with a state."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        return x * self.weight


class MoreNames(Scale):
    """The same with a buffer that nobody asked for."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.ones(2))


def test_names_and_states_are_read_as_values_are():
    """What is not seen of them tells no version from another."""
    exchanges: list[Exchange] = []
    made = Recorder(LocalModule({"Scale": Scale}, KINDS), KINDS, exchanges).Scale(state={"weight": torch.ones(2)})
    made(torch.ones(2))
    made.state()

    def answers(read):
        return [ask_again(LocalModule({"Scale": each}, KINDS), exchanges, read) for each in (Scale, MoreNames)]

    right, more = answers(lambda seen: seen)
    unseen = answers(lambda seen: None if isinstance(seen, dict) else seen.tolist())

    assert right[0] == {"missing": [], "unexpected": []} and more[0] == {"missing": ["mask"], "unexpected": []}
    assert unseen == [[None, [1.0, 1.0], None]] * 2
