"""What `globals()` gives in a watched module: its names, without the functions of Python's that it has."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

__builtins__ = dict(vars(builtins))  # type: ignore[assignment]  # a learner may put others in their places
BUILTINS = "__builtins__"
AS_TEXT, MRO_OF = vars(str)["__str__"], vars(type)["__mro__"].__get__


class ModuleNamespace:
    """One module's names, for its own code.

    Args:
        names: The module's.
        refuse: Raises ForbiddenCall for what leads to a module.

    Attributes:
        vars_: What the module has in the place of Python's `vars`.
    """

    def __init__(self, names: dict[str, Any], refuse: Callable[[str], NoReturn]) -> None:
        self._names, self._refuse = names, refuse
        self.vars_: Any = None

    def globals_(self) -> Any:
        """As `globals`."""
        return Names(self._names)

    def here(self, function: Any, names: Any) -> Any:
        """As `vars()` and `locals()`, which is *names* there; or what the learner has called so."""
        if function is not self.vars_ and function is not locals:
            return function()
        if names is self._names:
            return self.globals_()
        if any(is_kind(type(value), ModuleType) for value in names.values()):
            return self._refuse("builtins.locals")
        return dict(names)  # as it is now, not as it will be


class Names(dict[str, Any]):
    """A module's names, as they are when they are asked for; what is put here, or taken away, is so in the module."""

    __slots__ = ("_names_of_module",)  # a hiding name

    def __init__(self, names: dict[str, Any]) -> None:
        # for what looks past the methods: Python's own `==`, `repr` and `**`
        super().__init__({name: value for name, value in names.items() if name != BUILTINS})
        self._names_of_module = names

    def _now(self) -> dict[str, Any]:
        return {name: value for name, value in self._names_of_module.items() if name != BUILTINS}

    def __reduce_ex__(self, _protocol: object) -> Any:
        return dict, (self._now(),)

    def __getitem__(self, name: str) -> Any:
        return self._now()[name]

    def __contains__(self, name: object) -> bool:
        return name in self._now()

    def __iter__(self) -> Any:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())

    def get(self, name: str, default: Any = None) -> Any:
        return self._now().get(name, default)

    def keys(self) -> Any:
        return self._now().keys()

    def values(self) -> Any:
        return self._now().values()

    def items(self) -> Any:
        return self._now().items()

    def copy(self) -> Any:
        return self._now()

    def __setitem__(self, name: str, value: Any) -> None:
        name = plain_text(name)
        if name == BUILTINS:
            raise KeyError(name)
        self._names_of_module[name] = value

    def __delitem__(self, name: str) -> None:
        self.pop(name)

    def update(self, *given: Any, **named: Any) -> None:
        for name, value in dict(*given, **named).items():
            self[name] = value

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    def pop(self, name: str, *default: Any) -> Any:
        name = plain_text(name)
        return (self._now() if name == BUILTINS else self._names_of_module).pop(name, *default)


def is_kind(kind: type, of: type) -> bool:
    """Return True for a class that is derived from another, or is that; a class of the learner's is not asked."""
    return any(each is of for each in MRO_OF(kind))


def plain_text(name: Any) -> Any:
    """Return a text of Python's own kind with the signs of another one, `Names.RELU`, whose methods may tell lies."""
    kind = type(name)
    return AS_TEXT(name) if kind is not str and is_kind(kind, str) else name
