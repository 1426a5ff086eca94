"""Read one file of a learner's: what its top level binds and imports, what that mentions, and what hides a name."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection
from functools import cached_property

from grader.source.at_import import head_of, hints, parts_run_at_import, plain_annotations
from grader.source.changed_at_import import ANYTHING, Changes, changes_a_module
from grader.source.hiding_names import (
    KNOWN_MODULES,
    LIBRARIES,
    LONG_NAME,
    MAKING_TEXT,
    MAX_NAMES,
    NAMED_IN_TEXT,
    TWO_MEANINGS,
    WRAPPING,
    harmless_nodes,
    is_module,
    last_name,
    lists_all_names,
    looked_up_in,
    may_rebind,
    modules_only_named,
    name_in_quotes,
    named_lookups,
    takes_names_away,
    used_of_all,
    used_place,
)
from grader.source.parse import nodes_in
from grader.source.scopes import (
    Definition,
    attributes_given,
    class_statements,
    decorators,
    imported_name,
    lists_of_own_names,
    names_bound_anywhere,
    names_bound_by,
    names_read,
    open_case,
    root_name,
)
from grader.source.what_runs import parse_what_runs

# Python's own, of one number and of text: no tensor is normalised there
NAMESAKES = frozenset({"decimal.Decimal.normalize", "unicodedata.normalize"})


def attributes_of(node: ast.AST) -> list[str]:
    """Return the attributes that a node takes of an object: `x.a`, `case object(a=x)`, in quotes."""
    if isinstance(node, ast.Attribute):
        return [node.attr]
    return node.kwd_attrs if isinstance(node, ast.MatchClass) else [name_in_quotes(node) or ""]


# The kinds of nodes, of those in a source, that can name something, or open a scope for names.
NAMING = frozenset({ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Import, ast.ImportFrom, *NAMED_IN_TEXT})
NAMING |= frozenset({ast.Dict, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp})
BODY = ast.stmt | ast.ExceptHandler
BINDS = ast.Name | ast.MatchAs | ast.MatchStar | ast.MatchMapping
AT_IMPORT = ""  # stands for what runs when a module is imported
EVERYTHING = "*"  # for all that a module binds
MAX_STARS = 10  # libraries of which everything may be imported: of more, nobody says what a name means
MAX_CHARS_WRITTEN = 60  # of a call that is shown as it is written
MAX_FOLLOWED = 30  # names that lead from a call to what it may change: beyond, it may change anything


def _calls_on_function(node: ast.AST) -> list[ast.Call]:
    marks = node.decorator_list if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else []
    return [each for each in marks if isinstance(each, ast.Call)]


class ModuleNames:
    """One file: what its top level binds and imports, and under which names."""

    def __init__(self, source: str, own: frozenset[str]) -> None:
        """Read a file; `own` are the modules beside it. Raises SyntaxError."""
        self.tree, self.body = parse_what_runs(source)
        self.own, nodes = own, nodes_in(self.tree)
        self.classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
        self.functions = {node.name: node.lineno for node in self.body if isinstance(node, ast.FunctionDef)}
        self.own_callables = frozenset(self.functions) | self.classes
        if any(map(takes_names_away, nodes)):
            self.functions.clear()
        self.paths: dict[str, str] = {}  # local name -> what was imported, as a dotted name
        self.imported: dict[str, set[tuple[str, str]]] = {}  # local name -> the learner's module and its name there
        self.own_modules: dict[str, str] = {}  # local name of a whole module of the learner's -> that module
        self.own_attributes = set(attributes_given(nodes))
        self.harmless, self.named = harmless_nodes(nodes), named_lookups(nodes)
        self._of_classes = {id(node) for node in class_statements(nodes)}
        self.only_named = modules_only_named(nodes, self._of_classes)
        self._decorators = decorators(node for node in nodes if isinstance(node, ast.ClassDef))
        self.twice: set[str] = set()  # names that mean a module, or a hiding place, and something else
        self.called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        self._nodes = nodes
        self.lists_of_own = lists_of_own_names(self.tree, nodes)
        self._lists_of_one = {id(node.func) for node in nodes if isinstance(node, ast.Call) and node.args}
        self.own_stars: list[str] = []  # the learner's modules of which everything was imported
        self.own_names: set[str] = set()  # where names of a library's may come with a star
        self.stars: list[str] = []  # libraries of which everything was imported: `from torch.nn.functional import *`
        self._mentions: dict[ast.AST, set[tuple[str | None, str]]] = {}
        self._variables: dict[tuple[str, tuple[str, ...]], set[str]] = {}
        self._parts: dict[ast.AST, list[ast.AST]] = {}
        self.assembled: set[str] = set()  # names of texts that were put together from constants
        self.only_seen = plain_annotations(self.tree, nodes)
        self.bindings: dict[str, list[ast.AST]] = {}
        self.changes = Changes(nodes, self._path, self.functions, self.own_callables)
        for node in nodes:
            self._note_import(node, own)
        self.own_names |= set(names_bound_anywhere(nodes)) if self.stars else set()
        for node in nodes:
            self._note_alias(node)
        for node in self.body:
            self._note_bindings(node)
        changed = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
        self._may_be_own = changed.union(self.bindings, self.imported, self.own_modules, self.own_attributes)
        self._any_may_be_own = bool(self.own_stars) or any(map(self._may_rebind, nodes))
        self.bindings[AT_IMPORT] = [part for node in self.body for part in parts_run_at_import(node, self._foreign)]
        self._quoted = self.bindings.keys() - {AT_IMPORT}
        self.changes_modules = changes_a_module(nodes, self.paths, self.own_modules, self._path) or any(
            self._may_rebind(part) for node in self.bindings[AT_IMPORT] for part in self.parts(node)
        )
        self.changes.finish(self.variables_of)

    def _may_rebind(self, node: ast.AST) -> bool:
        return may_rebind(node) and id(node) not in self.lists_of_own | self._lists_of_one

    @cached_property
    def hints(self) -> set[int]:
        """What stands in annotations that name a library's kinds alone: it calls nothing, and hides nothing."""
        if self.copies_annotations:
            return set()
        return hints(self._nodes, lambda name: "" if last_name(name) in self.twice else self._foreign(name))

    @cached_property
    def copies_annotations(self) -> bool:
        """Return True where an object may be given a function's annotations: by `wraps`, but to a function alone."""
        marks = {id(each.func) for node in self._nodes for each in _calls_on_function(node)}
        named = (node for node in self._nodes if isinstance(node, ast.Name | ast.Attribute | ast.Call))
        return any(id(node) not in marks and self._copies(node) for node in named)

    def _copies(self, node: ast.AST) -> bool:
        is_named = not isinstance(node, ast.Call) and last_name(node) in WRAPPING
        return is_named or self._path(node).rpartition(".")[2] in WRAPPING

    def _foreign(self, node: ast.AST) -> str:
        """Return the dotted name of what is Python's own or a library's, "" for what may be the learner's."""
        root = root_name(node) if isinstance(node, ast.expr) else ""
        if self._any_may_be_own or root in self._may_be_own:
            return ""
        return self._path(node) or (root if isinstance(node, ast.Name) and hasattr(builtins, root) else "")

    def _note_import(self, node: ast.AST, own: frozenset[str]) -> None:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            return
        module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            local = alias.asname or alias.name
            if isinstance(node, ast.Import) and alias.name in own:
                if local in self.paths or self.own_modules.get(local, alias.name) != alias.name:
                    self.twice.add(local)
                self.own_modules[local] = alias.name
            elif module in own and alias.name == "*":
                self.own_stars += [] if module in self.own_stars else [module]
            elif module in own:
                self.imported.setdefault(local, set()).add((module, alias.name))
            elif alias.name == "*":
                self.stars += [module] if module.partition(".")[0] in LIBRARIES else []
                self.paths.update(used_of_all(module))
            elif isinstance(node, ast.Import):
                self._note_path(imported_name(alias), alias.name if alias.asname else imported_name(alias))
            else:
                self._note_path(local, f"{module}.{alias.name}")

    def _note_path(self, local: str, path: str) -> None:
        """Note what a name stands for; where it is given twice, what could do more harm."""
        known = self.paths.get(local, "")
        self._compare(local, path)
        self.twice |= {local} & self.own_modules.keys()
        if known.partition(".")[0] not in LIBRARIES and not used_place(known):
            self.paths[local] = path

    def _compare(self, local: str, path: str) -> None:
        known = self.paths.get(local, path)
        if known != path and (is_module(known) or is_module(path) or used_place(known) != used_place(path)):
            self.twice.add(local)

    def _note_alias(self, node: ast.AST) -> None:
        """Note what an assignment gives a further name, `t = torch.nn`, or puts together, `n = "a" + "b"`."""
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            if self._is_assembled(node.value):
                self.assembled.add(node.targets[0].id)
            elif path := self._path(node.value):
                self._compare(node.targets[0].id, path)
                self.paths.setdefault(node.targets[0].id, path)

    def _path(self, node: ast.AST) -> str:
        """Return the dotted name of what was imported, `torch.nn.functional` for `F`; "" for anything else."""
        names: list[str] = []
        while not isinstance(node, ast.Name):
            if isinstance(node, ast.Attribute):
                names.append(node.attr)
                node = node.value
            elif looked_up := looked_up_in(node):
                node, name = looked_up
                names.append(name)
            else:
                return ""
            if len(names) > MAX_NAMES:
                return LONG_NAME
        root = self._root(node.id, names)
        if root == TWO_MEANINGS:
            return root
        is_long = root.count(".") + len(names) > MAX_NAMES
        return LONG_NAME if is_long else ".".join([root, *reversed(names)]) if root else ""

    def _root(self, name: str, _names: list[str]) -> str:
        """Return what a name stands for by itself."""
        return self.paths.get(name, "") or self._of_star(name)

    def _of_star(self, name: str) -> str:
        """Return what a name of `from torch.nn.functional import *` means, if that is a module or a hiding place."""
        if not self.stars or name in self.own_names:
            return ""
        if len(self.stars) > MAX_STARS:
            return LONG_NAME
        return next((path for star in self.stars if used_place(path := f"{star}.{name}") or is_module(path)), "")

    def _note_bindings(self, statement: ast.AST) -> None:
        """Map every name that a top-level statement binds to it; to its first line, if other statements are in it."""
        waiting = [statement]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Definition):
                self.bindings.setdefault(node.name, []).append(node)
                if node.decorator_list:
                    self.changes.note(node, [], [])
                node = ast.Tuple([*head_of(node)])  # in which `(name := value)` may stand
                self._note_names(node)
                continue
            parts = [part for child in ast.iter_child_nodes(node) for part in open_case(child)]
            inner = [part for part in parts if isinstance(part, BODY)]
            waiting += inner
            if inner:  # or a body would be read once for each statement around it
                header = [part for part in parts if not isinstance(part, BODY)]
                node = ast.Tuple(header)  # type: ignore[arg-type]  # of any nodes
            self._note_names(node)

    def _note_names(self, node: ast.AST) -> None:
        parts = nodes_in(node)
        bound = [name for part in parts if isinstance(part, BINDS) for name in names_bound_by(part)]
        for name in bound:
            self.bindings.setdefault(name, []).append(node)
        self.changes.note(node, parts, bound)

    def variables_of(self, function: str, apart: Collection[str] = ()) -> set[str]:
        """Return the variables of the module that a function of it uses, by itself or through another function.

        The functions *apart* are not followed.
        """
        key = function, tuple(apart)
        if key not in self._variables:
            self._variables[key] = self._find_variables(function, apart)
        return self._variables[key]

    def _find_variables(self, function: str, apart: Collection[str]) -> set[str]:
        found, waiting = {function}, [function]
        while waiting:
            if len(found) > MAX_FOLLOWED:
                return {ANYTHING}
            for node in self.bindings.get(waiting.pop(), ()):
                new = {name for module, name in self.mentions(node) if module is None and name in self.bindings} - found
                found |= new
                waiting += [name for name in new if name in self.own_callables and name not in apart]
        return {name for name in found if name not in self.own_callables and not self._is_constant(name)}

    def _is_constant(self, name: str) -> bool:
        """Return True for a number or a text, in which nothing can be put, and for a class or what was imported."""
        return name in self.paths or all(
            isinstance(node, Definition) or isinstance(getattr(node, "value", None), ast.Constant | ast.UnaryOp)
            for node in self.bindings[name]
        )

    def parts(self, node: ast.AST) -> list[ast.AST]:
        """Return a node and all below it that can name something; they are looked for once."""
        if node not in self._parts:
            self._parts[node] = [part for part in nodes_in(node) if type(part) in NAMING]
        return self._parts[node]

    def mentions(self, node: ast.AST) -> set[tuple[str | None, str]]:
        """Return the top-level names that code uses: (None, name) of this file, (module, name) of one beside it.

        A name in quotes counts too: `globals()["helper"]`.
        """
        if node not in self._mentions:
            self._mentions[node] = self._find_mentions(node)
        return self._mentions[node]

    def _find_mentions(self, node: ast.AST) -> set[tuple[str | None, str]]:
        parts = self.parts(node)
        found: set[tuple[str | None, str]] = {(None, name) for name in names_read(node, parts)}
        found |= {(None, EVERYTHING)} if lists_all_names(parts, self.lists_of_own) else set()
        owners = {id(part.value) for part in parts if self.own_modules and isinstance(part, ast.Attribute)}
        for part in parts:
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value in self._quoted:
                found.add((None, part.value))
            elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
                if part.value.id in self.own_modules:
                    found.add((self.own_modules[part.value.id], part.attr))
            elif isinstance(part, ast.Name) and part.id in self.own_modules and id(part) not in owners:
                found.add((self.own_modules[part.id], EVERYTHING))  # in whatever hands
            elif isinstance(part, ast.ImportFrom) and part.module in self.own:
                found.add((part.module, AT_IMPORT))
            elif isinstance(part, ast.alias) and part.name != "*":  # imported where it is used
                found.add((None, part.asname or part.name))
                if part.name in self.own:
                    found.add((part.name, AT_IMPORT))
        return found

    def called_name(self, node: ast.AST) -> str | None:
        """Return the library's name for what a node uses, if it uses a library and not the learner's own method.

        For a name by itself that is all that leads to it: `optim.lr_scheduler.StepLR`, imported as `Step`.
        """
        if isinstance(node, ast.Attribute):
            if self._path(node).partition(".")[0] in LIBRARIES:
                return node.attr
            owner = node.value.func if isinstance(node.value, ast.Call) else node.value
            if f"{self._path(owner)}.{node.attr}" in NAMESAKES:
                return None
            own = isinstance(owner, ast.Name) and (
                owner.id in {"self", "cls", *self.classes} or self._is_given(owner.id, node.attr)
            )
            may_be_own = node.attr in self.own_attributes and not self._is_of_library(node.value)
            return None if own or may_be_own else node.attr
        if isinstance(node, ast.Name):
            if self.is_of_star(node):
                return node.id
            path = self.paths.get(node.id, "")
            return path.partition(".")[2] if path.partition(".")[0] in KNOWN_MODULES else None
        own = isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name) and node.cls.id in self.classes
        return None if own else ".".join(attributes_of(node))

    def written_name(self, node: ast.AST) -> str:
        """Return what a call is written as, `F.softmax`, or the whole name of what was imported; "" if that is long."""
        text = ""
        if isinstance(node, ast.Name):
            text = self.paths.get(node.id, "")
        elif isinstance(node, ast.Attribute) and node.end_lineno == node.lineno:
            is_short = (node.end_col_offset or 0) - node.col_offset <= MAX_CHARS_WRITTEN
            text = ast.unparse(node) if is_short else ""
        return text if len(text) <= MAX_CHARS_WRITTEN and text.isprintable() else ""

    def _is_given(self, module: str, _name: str) -> bool:
        """Return True for a module of the learner's, and a name that it does not have of a library."""
        return module in self.own_modules

    def _is_of_library(self, owner: ast.expr) -> bool:
        """Return True for what a library's call gives: a method of it is none of the learner's own."""
        if isinstance(owner, ast.Call):
            return self._path(owner.func).partition(".")[0] in LIBRARIES
        return isinstance(owner, ast.Name | ast.Attribute) and last_name(owner) in self._made_by_libraries

    @cached_property
    def _made_by_libraries(self) -> set[str]:
        """The variables and attributes that are given what a library's call gives."""
        made = [node for node in self._nodes if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr)]
        made = [node for node in made if isinstance(node.value, ast.Call) and self._is_of_library(node.value)]
        targets = [each for node in made for each in getattr(node, "targets", None) or [node.target]]  # type: ignore
        return {last_name(target) for target in targets}

    def is_of_star(self, node: ast.AST) -> bool:
        """Return True for a name that is nobody's but one of the libraries' of which everything was imported."""
        if not self.stars or not isinstance(node, ast.Name):
            return False
        return node.id not in self.own_names and not self.paths.get(node.id)

    def _is_assembled(self, node: ast.AST) -> bool:
        """Return True for a name that is put together from nothing but constants, or stands for such a one."""
        if isinstance(node, ast.Name):
            return node.id in self.assembled
        parts = nodes_in(node)
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        texts = [part for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str | bytes)]
        return len(parts) > 1 and bool(texts) and names <= MAKING_TEXT
