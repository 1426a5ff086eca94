"""What a watched module gets of Python's library in the place of functions that look up whatever they are told.

`attrgetter(n)(x)` and `replace(x)` would look up in Python's own way what `own_lookups` looks at. Only the learner's
import statements give these modules: a library has Python's. `update_wrapper` is another one for all: much of a library
calls it with what it is told.
"""

from __future__ import annotations

import builtins
import copy
import dataclasses
import functools
import operator
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any, Protocol

from grader.worker.watch.cut_off import cut_off

__builtins__ = dict(vars(builtins))  # type: ignore[assignment]  # a learner may put others in their places
IMPORT = builtins.__import__


def harden_wrapping() -> None:
    """Let `functools.update_wrapper` copy what things are called, and what functions have by themselves, and no more.

    Whoever has it goes on with this code: `wraps`, `lru_cache`, `singledispatch`, what a library imported before.
    """
    functools.update_wrapper.__code__ = _update_wrapper.__code__


def _update_wrapper(wrapper: Any, wrapped: Any, assigned: Any, updated: Any) -> Any:
    is_function = type(wrapped) is type(lambda: 0)
    names = "__module__", "__name__", "__qualname__", "__doc__", *(("__annotations__", "__type_params__") * is_function)
    for name in assigned:
        if type(name) is str and name in names and hasattr(wrapped, name):  # another's `==` may tell a lie
            setattr(wrapper, name, getattr(wrapped, name))
    if updated and is_function and "__loader__" not in wrapper.__dict__:  # as a module's has
        wrapper.__dict__.update(wrapped.__dict__)
    wrapper.__wrapped__ = wrapped
    return wrapper


class Lookups(Protocol):
    """What the functions of these modules ask."""

    def get(self, thing: Any, name: Any) -> Any:
        """Look a name up in whatever thing. Raises ForbiddenCall, AttributeError."""

    def refuse_name(self, name: str) -> None:
        """Raise ForbiddenCall for a name of Python's own, or what is no plain text."""


class Namespace(SimpleNamespace):
    """As that of `argparse`, whose methods would take any object for their own."""

    @cut_off()
    def __contains__(self, name: object) -> bool:
        return name in self.__dict__


class HardenedModules:
    """The modules of one load, each made where it is imported first."""

    def __init__(self, lookups: Lookups, seal: Callable[[Callable[..., Any]], Any]) -> None:
        self._lookups, self._seal = lookups, seal
        self._given: dict[str, dict[str, Callable[..., Any]]] = {
            "argparse": {"Namespace": Namespace},
            "operator": {"attrgetter": self._attrgetter, "methodcaller": self._methodcaller},
            "copy": {"deepcopy": self._deepcopy},
            "dataclasses": {name: self._of_fields(name) for name in ("replace", "asdict", "astuple")},
        }
        self._made: dict[ModuleType, ModuleType] = {}

    def import_(self, *arguments: Any, **named: Any) -> Any:
        """As `__import__`, which an import statement calls."""
        module = IMPORT(*arguments, **named)
        name = vars(module).get("__name__") if type(module) is ModuleType else None
        if type(name) is not str or name not in self._given or module is not sys.modules.get(name):
            return module
        if module not in self._made:
            self._made[module] = _copy(module, self._seal, self._given[name])
        return self._made[module]

    def _attrgetter(self, *names: Any) -> Any:
        operator.attrgetter(*names)  # it says what is wrong

        def get(thing: Any) -> Any:
            found = tuple(functools.reduce(self._lookups.get, name.split("."), thing) for name in names)
            return found if len(found) > 1 else found[0]

        return self._seal(get)

    def _methodcaller(self, name: Any, /, *arguments: Any, **named: Any) -> Any:
        operator.methodcaller(name)  # it says what is wrong
        return self._seal(lambda thing: self._lookups.get(thing, name)(*arguments, **named))

    def _deepcopy(self, thing: Any, memo: Any = None, *others: Any) -> Any:
        if memo is not None and type(memo) is not dict:  # it would be asked for all that is copied
            self._lookups.refuse_name("__deepcopy__")
        return copy.deepcopy(thing, memo, *others)

    def _of_fields(self, name: str) -> Callable[..., Any]:
        """Return a function of `dataclasses` that looks up an object's fields."""
        function = vars(dataclasses)[name]

        def checked(thing: Any, /, **named: Any) -> Any:
            self._check_fields(thing)
            return function(thing, **named)

        return checked

    def _check_fields(self, thing: Any) -> None:
        """Raise ForbiddenCall where an object, or one in it, has a field of a name that nobody has read."""
        waiting, seen = [thing], set[int]()
        for each in waiting:  # grows while it is read
            if id(each) in seen:
                continue
            seen.add(id(each))
            if type(each) in (list, tuple):
                waiting += each
            elif type(each) is dict:
                waiting += [*each, *each.values()]
            elif dataclasses.is_dataclass(each):
                names = [field.name for field in dataclasses.fields(each)]
                for name in names:
                    self._lookups.refuse_name(name)
                waiting += [vars(each)[name] for name in names if name in getattr(each, "__dict__", ())]


def _copy(module: ModuleType, seal: Callable[..., Any], given: dict[str, Callable[..., Any]]) -> ModuleType:
    """Return a module of the same names, but for what is given: functions, which are sealed, and classes."""
    made = ModuleType(module.__name__, module.__doc__)
    vars(made).update(vars(module))
    for name, each in given.items():
        if not isinstance(each, type):
            each = seal(each)
            each.__name__, each.__doc__ = name, vars(module)[name].__doc__
        setattr(made, name, each)
    return made
