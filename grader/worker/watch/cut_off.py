"""Cut functions that a learner's code can come by off from our modules.

A function leads to all names of its module, by `__globals__`, and so to the watch over calls. What stands in torch's
place, in Python's own tables or behind an error is cut off: whoever finds it finds nothing else of ours.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
OF_PYTHON = dict(vars(builtins))  # before any code of a learner's ran, who may put others in their places


def cut_off(**names: Any) -> Callable[[Function], Function]:
    """Return a decorator: a function gets Python's own names, and these *names*, in the place of its module's."""

    def decorate(function: Function) -> Function:
        made: Any = function
        around = {"__builtins__": dict(OF_PYTHON), **names}
        bare = FunctionType(made.__code__, around, made.__name__, closure=made.__closure__)
        bare.__defaults__, bare.__kwdefaults__ = made.__defaults__, made.__kwdefaults__
        vars(bare).update(vars(made))
        return bare  # type: ignore[return-value]

    return decorate
