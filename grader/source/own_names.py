"""Which names of a learner's file mean their own classes that are derived from a library's."""

from __future__ import annotations

import ast
from functools import cached_property

from grader.source.hiding_names import last_name
from grader.source.linked_names import LinkedNames
from grader.source.own_classes import TEST_CASE


class OwnNames(LinkedNames):
    """One file, which knows which of its names mean such classes."""

    @cached_property
    def _modules(self) -> list[OwnNames]:
        """This file and those that it is linked with."""
        return [module for module in (self, *self.linked.values()) if isinstance(module, OwnNames)]

    @cached_property
    def _of_libraries(self) -> set[str]:
        """The learner's classes that are derived from one of torch's, or of unittest's, here or in another file."""
        found = {name for module in self._modules for name in module._derived(set())}
        while more := {name for module in self._modules for name in module._derived(found)} - found:
            found |= more
        return found

    def _derived(self, known: set[str]) -> set[str]:
        """Return its classes that have a library's or a *known* one for a base, and its names for known ones."""
        found = {local for local, whences in self.imported.items() if any(name in known for _, name in whences)}
        for node in (node for node in self._nodes if isinstance(node, ast.ClassDef)):
            paths = [self._path(base) for base in node.bases]
            is_class = any(each.startswith(("torch.", "unittest.")) and each[-6:] != "Tensor" for each in paths)
            found |= {node.name} if is_class or known & {last_name(base) for base in node.bases} else set()
        return found

    def _known_name(self, node: ast.AST) -> str:
        """Return the last name of what is called or used, as its module calls it: `attrgetter`, imported as `a`."""
        name = last_name(node)
        return self.paths[name].rpartition(".")[2] if name in self.paths and "." in self.paths[name] else name

    @cached_property
    def tests(self) -> set[str]:
        """The learner's classes of tests: of one in other hands `run` looks up any name of any object."""
        found = set[str]()
        for node in (node for node in self._nodes if isinstance(node, ast.ClassDef)):
            is_test = any(self._path(base) == TEST_CASE or last_name(base) in found for base in node.bases)
            found |= {node.name} if is_test else set()
        return found
