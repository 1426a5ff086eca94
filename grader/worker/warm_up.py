"""Run a small model once in a worker that waits, so that the learner's code is not the first to touch torch's pages.

After a fork every page of a library's code that is used costs a page fault, and so does every page that is written:
6 to 11 ms in a lesson's first calls. Warming the parent does not help, since a fork does not copy what maps a file.
"""

from __future__ import annotations

import sys

from grader.worker.operations import ModuleHost
from grader.worker.watch.call_monitor import CallBlocker
from grader.worker.watch.call_record import CallRecord
from grader.worker.wire import Handle

SOURCE = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.mix = nn.LayerNorm(4), nn.Linear(4, 4)

    def forward(self, x, mask):
        heads = self.norm(x).unflatten(-1, (2, -1)).transpose(1, 2)
        scores = (heads @ heads.transpose(-2, -1) / 2**0.5).masked_fill(~mask, float("-inf"))
        heads = torch.softmax(scores, dim=-1) @ heads
        return x + self.mix(nn.functional.gelu(heads.transpose(1, 2).flatten(2)))
"""


def warm_up(forbids: tuple[str, ...] = ()) -> None:
    """Build a model, and call it as checks do: plainly, on the fake device, and for its gradients.

    Args:
        forbids: What the lesson forbids that is likely to come: it is blocked once, for what that writes to.
    """
    if "torch" not in sys.modules:
        return
    import torch

    CallBlocker(forbids).restore()
    namespace: dict[str, object] = {"__name__": ""}
    exec(SOURCE, namespace)
    host = ModuleHost(namespace, ("forbidden",))
    host.record = CallRecord()
    x, mask = torch.ones(2, 3, 4), torch.ones(3, 3, dtype=torch.bool).tril()
    state = {"norm.weight": x[0, 0], "norm.bias": x[0, 0], "mix.weight": torch.ones(4, 4), "mix.bias": x[0, 0]}
    host.perform({"operation": "build", "name": "Model", "args": [], "kwargs": {}, "state": state})
    call = {"operation": "call", "target": Handle(host.made), "args": [x], "kwargs": {"mask": mask}}
    for asked in ({}, {"elsewhere": True}, {"grad": {"wrt": [0], "weights": x}}):
        host.perform({**call, **asked})
    host.close()
