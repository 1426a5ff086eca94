"""Which names of a learner's file mean their own classes that are derived from a library's."""

from __future__ import annotations

import ast
from collections import defaultdict
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
        found, derived = set[str](), defaultdict[str, set[str]](set)  # of each name, what is derived from it
        for module in self._modules:
            for local, whences in module.imported.items():
                for _, name in whences:
                    derived[name].add(local)
            for node in (node for node in module._nodes if isinstance(node, ast.ClassDef)):
                found |= {node.name} if any(map(_is_class_of_library, map(module._path, node.bases))) else set()
                for base in node.bases:
                    derived[last_name(base)].add(node.name)
        waiting = [*found]
        for name in waiting:  # grows while it is read
            waiting += derived[name] - found
            found |= derived[name]
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


def _is_class_of_library(path: str) -> bool:
    return path.startswith(("torch.", "unittest.")) and path[-6:] != "Tensor"
