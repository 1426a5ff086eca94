"""Refuse that torch keeps tensors for a backward pass, where autograd is forbidden."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from grader.worker.watch.call_monitor import AUTOGRAD, ForbiddenCall
from grader.worker.watch.cut_off import cut_off

# a learner may put others in their places
__builtins__ = dict(vars(builtins))  # type: ignore[assignment]


class refuse_graph:  # noqa: N801  used as a function
    """Within this context torch records no graph, and may keep no tensor for one, where autograd is forbidden.

    The nodes of a graph can be called one by one, without a function that has a name.
    """

    def __init__(self, forbids: tuple[str, ...], seen: list[str]) -> None:
        self._is_needed = AUTOGRAD in forbids and "torch" in sys.modules
        self._seen = seen

    def __enter__(self) -> None:
        if self._is_needed:
            refuse = refuse_autograd(self._seen)
            push, _, self._mode = graph_at_start()
            push(refuse, refuse)
            self._inference = self._mode(True)
            self._inference.__enter__()

    def __exit__(self, *_: object) -> None:
        if self._is_needed:
            self._inference.__exit__(None, None, None)
            graph_at_start()[1]()


@cache
def graph_at_start() -> tuple[Callable[..., None], Callable[[], None], Any]:
    """Return torch's own functions that set and drop hooks of saved tensors, and its mode of inference.

    The classes that call them are Python's, and a learner may have replaced their methods.
    """
    import torch

    autograd = torch._C._autograd
    return (
        autograd._push_saved_tensors_default_hooks,
        autograd._pop_saved_tensors_default_hooks,
        torch._C._InferenceMode,
    )


def refuse_autograd(seen: list[str]) -> Callable[[Any], Any]:
    """Return a hook of saved tensors that refuses what autograd does with one, and tells it in *seen*."""

    @cut_off(AUTOGRAD=AUTOGRAD, ForbiddenCall=ForbiddenCall)
    def refuse(_tensor: Any) -> Any:
        seen.append(AUTOGRAD)
        raise ForbiddenCall(AUTOGRAD)

    return refuse
