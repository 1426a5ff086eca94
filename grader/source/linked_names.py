"""What one of a learner's files has of the others: which names of libraries come by way of them."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from grader.source.hiding_names import TWO_MEANINGS
from grader.source.module_names import AT_IMPORT, ModuleNames
from grader.source.parse import nodes_in
from grader.source.scopes import Definition, imported_name, names_bound_anywhere

MAX_GIVEN = 5_000  # names that come with `from helper import *`: exercises have some dozen
IMPORT = ast.Import | ast.ImportFrom


class TooManyNames(ValueError):
    """So many names go from file to file that nobody follows them."""


class LinkedNames(ModuleNames):
    """One file, which knows what the names mean that it has of the learner's other files once it is linked."""

    def __init__(self, source: str, own: frozenset[str]) -> None:
        """Read a file; `own` are the modules beside it. Raises SyntaxError."""
        self.linked: Mapping[str, LinkedNames] = {}
        super().__init__(source, own)
        at_import = (part for node in self.bindings[AT_IMPORT] for part in nodes_in(node))
        imported = {imported_name(each) for node in at_import if isinstance(node, IMPORT) for each in node.names}
        imported |= {name for node in self._nodes if isinstance(node, ast.Global) for name in node.names}
        # what `from it import *` gives: all but what only a function imports
        self.handed = imported.union(self.bindings)
        only_defined = (name for name, nodes in self.bindings.items() if all(isinstance(n, Definition) for n in nodes))
        self._own = self.own_callables.intersection(only_defined) - imported
        plain = [node for node in self.body if isinstance(node, IMPORT)]
        self._imported_at = {imported_name(each): node.lineno for node in plain for each in node.names}
        stars = [node for node in self._nodes if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"]
        self._star_at = {node.module: node.lineno for node in stars}

    @property
    def hints(self) -> set[int]:
        """The same, unless another file may copy annotations."""
        return set() if any(each.copies_annotations for each in self.linked.values()) else super().hints

    @property
    def own_imports(self) -> set[str]:
        """The learner's modules that it imports."""
        imported = {where for whences in self.imported.values() for where, _ in whences}
        return {*self.own_modules.values(), *imported, *self.own_stars}

    def link(self, modules: Mapping[str, LinkedNames]) -> bool:
        """Note which names of libraries come by way of the learner's other modules; return True for one that is new.

        Raises TooManyNames.
        """
        self.linked, known = modules, self._known()
        given = [(local, *whence) for local, whences in self.imported.items() for whence in whences]
        for where in filter(modules.get, self.own_stars):
            given += [(name, where, name) for name in self._of_own_star(where)]
            if len(given) > MAX_GIVEN:
                raise TooManyNames
        for where in filter(modules.get, self.own_imports):
            self.own_attributes |= modules[where].own_attributes
        for local, where, name in given:
            self._note_handed(local, modules.get(where), name)
        for node in self._nodes:
            self._note_alias(node)
        if self.stars:
            self.own_names |= self.handed.union(names_bound_anywhere(self._nodes))
        return self._known() != known

    def _known(self) -> tuple[object, ...]:
        sizes = len(self.handed), len(self.own_attributes), len(self.stars), len(self.twice)
        return dict(self.paths), dict(self.own_modules), sizes

    def _of_own_star(self, where: str) -> set[str]:
        """Return the names with a meaning that come with `from helper import *`, and are not imported once more."""
        other = self.linked[where]
        self.handed |= other.handed
        self.stars += [star for star in other.stars if star not in self.stars]
        found = other.handed & {*other.paths, *other.own_modules, *other.twice}
        return {name for name in found if self._imported_at.get(name, 0) <= self._star_at[where]}

    def _note_handed(self, local: str, module: LinkedNames | None, name: str) -> None:
        if module and name in module.twice:
            self.twice.add(local)
        elif module and (path := module.path_of(name)):
            self._note_path(local, path)
        elif module and name in module.own_modules:
            self.own_modules.setdefault(local, module.own_modules[name])

    def _root(self, name: str, names: list[str]) -> str:
        """Return what a name stands for; in the learner's modules, of which the last of *names* are taken off, ""."""
        module = self
        while names and name in module.own_modules and (other := module.linked.get(module.own_modules[name])):
            module, name = other, names.pop()
        return super()._root(name, names) if module is self else module.path_of(name)

    def path_of(self, name: str) -> str:
        """Return what a name means to another file: not what a function imports that is the learner's own beside it."""
        if name in self.twice:
            return TWO_MEANINGS
        return "" if name in self._own else super()._root(name, [])

    def _is_given(self, module: str, name: str) -> bool:
        other = self.linked.get(self.own_modules.get(module, module))
        return super()._is_given(module, name) and not (other and other.stars and name not in other.own_names)
