"""Methods of libraries' classes that look up, in the object they are told, names that they are told or find in it.

`RNNBase._init_flat_weights(f)` gets every name that stands in `f._flat_weights_names`, of whatever f. Whoever has such
a method, in whatever way, has one that takes objects of its class alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from grader.worker.watch.cut_off import cut_off

OF_ITEMS = ("__getitem__", "__setitem__", "__delitem__")
# fmt: off
METHODS = {
    "torch.distributions.distribution.Distribution": ("__init__",),
    "torch.nn.modules.container.ModuleList": OF_ITEMS,
    "torch.nn.modules.container.ParameterDict": OF_ITEMS,
    "torch.nn.modules.container.ParameterList": OF_ITEMS,
    "torch.nn.modules.container.Sequential": OF_ITEMS,
    "torch.nn.modules.module.Module": (
        "get_submodule", "set_submodule", "get_parameter", "get_buffer", "_load_from_state_dict",
    ),
    "torch.nn.modules.rnn.RNNBase": ("__init__", "_init_flat_weights", "_weights_have_changed", "__setstate__"),
    "torch.nn.utils.parametrize.ParametrizationList": ("__init__", "right_inverse", "forward"),
    "unittest.case.TestCase": ("__init__", "run", "debug", "_getAssertEqualityFunc"),
}
# fmt: on
CLASSES_OF = vars(type)["__mro__"].__get__


def bind_methods() -> None:
    """Let these methods take objects of their class alone; one that another version of torch lacks is left out."""
    for path, names in METHODS.items():
        module, _, name = path.rpartition(".")
        cls: Any = vars(sys.modules[module]).get(name) if module in sys.modules else None
        for each in names if cls is not None else ():
            method = vars(cls).get(each)
            if type(method) is FunctionType:
                setattr(cls, each, _bound(cls, method))


def _bound(cls: type, method: Callable[..., Any]) -> Callable[..., Any]:
    @cut_off(cls=cls, method=method, classes_of=CLASSES_OF, kind_of=type)
    def bound(self: Any, *arguments: Any, **named: Any) -> Any:
        if cls not in classes_of(kind_of(self)):  # type: ignore[name-defined]  # noqa: F821  names of its own
            raise TypeError(f"descriptor {method.__name__!r} requires a {cls.__name__!r} object")
        return method(self, *arguments, **named)

    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(bound, name, getattr(method, name))
    return bound
