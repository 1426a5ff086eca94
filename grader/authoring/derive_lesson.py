"""Derive a lesson's files from a solution: the stub, the reference with its steps marked, and a first check."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from grader.course.step_marks import read_marks
from grader.course.stubs import find_functions
from grader.model import Function
from grader.source.parse import parse

CHECK = '''

@pytest.mark.check(skill="values", points=3, function="{name}", public=True)
def test_{name}_values(submission, reference, rand):
    """Equals the reference."""
    {arguments}
    assert_matches(submission.{name}({names}), reference.{name}({names}))
'''
MISTAKES = """
{name} = MistakeSet("{name}", globals())
# {name}.mistake("short-id", "What the code does, and what follows.", "The edit.", {step}="what people write there")
# {name}.alternative("another right way", {step}="what stands there then")
"""


def derive_texts(source: str, heading: str) -> tuple[str, str, str, str]:
    """Return stub, reference, checks and mistakes for a solution.

    Args:
        heading: The stub's docstring.

    Raises:
        SyntaxError: The solution is not Python.
        ValueError: It has no public function or class.
    """
    functions = find_functions(parse(source))
    if not functions:
        raise ValueError("no public function or class")
    reference = mark_steps(source)
    return derive_stub(source, heading), reference, _checks(functions), _mistakes(functions, reference)


def derive_stub(source: str, heading: str) -> str:
    """Return the file in which a learner begins: imports, and functions whose bodies are still to be written."""
    lines, parts = source.splitlines(), [f'"""{heading}"""']
    for node in parse(source).body:
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            parts.append(ast.unparse(node) + "  # noqa: F401  the answer will need it")
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            parts.append("\n\n" + "\n".join([*lines[first - 1 : _end_of_head(node)], _unwritten(node, node.name)]))
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
            inside = [
                "\n".join([*lines[each.lineno - 1 : _end_of_head(each)], _unwritten(each, node.name)])
                for each in methods
            ]
            parts.append("\n\n" + "\n\n".join(["\n".join(lines[first - 1 : _end_of_head(node)]), *inside]))
    return "\n".join(parts) + "\n"


def mark_steps(source: str) -> str:
    """Return a solution in which each assignment and `return` that stands on one line is marked as a step."""
    taken = {name for _, name in read_marks(source)}
    marked = {line for line, _ in read_marks(source)}
    lines = source.splitlines()
    for node in _simple_statements(parse(source)):
        if node.lineno == node.end_lineno and node.lineno not in marked:
            wanted = "give" if isinstance(node, ast.Return) else _target(node)
            name = next(each for each in _numbered(wanted) if each not in taken)
            taken.add(name)
            lines[node.lineno - 1] += f"  # step: {name}"
    return "\n".join(lines) + "\n"


def _simple_statements(tree: ast.Module) -> Iterator[ast.Assign | ast.Return]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            found = [node for node in ast.walk(function) if isinstance(node, (ast.Assign, ast.Return))]
            yield from sorted(found, key=lambda node: node.lineno)


def _target(node: ast.Assign) -> str:
    target = node.targets[0]
    if isinstance(target, ast.Attribute):
        return target.attr
    return "_".join(each.id for each in ast.walk(target) if isinstance(each, ast.Name)) or "set"


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1


def _end_of_head(node: ast.FunctionDef | ast.ClassDef) -> int:
    """Return the last line of the signature and the docstring."""
    first = node.body[0]
    return (first.end_lineno or 0) if ast.get_docstring(node) is not None else first.lineno - 1


def _unwritten(node: ast.FunctionDef, name: str) -> str:
    return f'{" " * node.body[0].col_offset}raise NotImplementedError("{name}: not written yet")'


def _checks(functions: tuple[Function, ...]) -> str:
    head = '"""The hidden checks. Each docstring is the sentence that the learner sees."""\n\nimport pytest\n\n'
    checks = []
    for function in functions:
        if function.kind == "class":
            checks.append(f"\n\n# {function.name} is a class: make an object with `state=`, and call it\n")
            continue
        given = ast.parse(f"def f{function.signature}: ...").body[0].args  # type: ignore[attr-defined]
        without_default = len(given.args) - len(given.defaults)
        parameters = [each.arg for each in given.args[:without_default]]
        shown = _arguments_shown(function, parameters)
        drawn = ", ".join(_draw(function, name, shown.get(name)) for name in parameters)
        names = ", ".join(parameters)
        arguments = f"{names} = {drawn}" if parameters else "pass"
        checks.append(CHECK.format(name=function.name, arguments=arguments, names=names))
    return head + "from grader.api.checks import assert_matches\n" + "".join(checks)


def _arguments_shown(function: Function, parameters: list[str]) -> dict[str | None, ast.expr]:
    """Return what the first example in the docstring that calls the function gives for its parameters."""
    for text in re.findall(r"^ *>>> (.+)$", function.statement, re.MULTILINE):
        with suppress(SyntaxError):
            for node in ast.walk(parse(text)):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == function.name:
                    named = {each.arg: each.value for each in node.keywords}
                    return {**dict(zip(parameters, node.args, strict=False)), **named}
    return {}


def _draw(function: Function, name: str, shown: ast.expr | None) -> str:
    """Return a first argument: a plain value as it is shown, else numbers of the shape that is shown."""
    if isinstance(shown, ast.Constant):
        return ast.unparse(shown)
    says_whole = rf"\b{name}: int\b|\b{name}:\s+an?\s+(int|whole)"
    if shown is None and re.search(says_whole, f"{function.signature} {function.statement}"):
        return "3"
    values = re.fullmatch(r"\w+\.(?:tensor|array)\((\[[-\d., \[\]]+\]).*\)", ast.unparse(shown)) if shown else None
    with suppress(IndexError, TypeError, ValueError):  # no array, as `[[], [1]]` and `[1 - 2]`
        if values:
            return _draw_like(ast.literal_eval(values[1]))
    return "rand(3, 5)"


def _draw_like(values: list[Any]) -> str:
    """Return an expression that draws numbers of the kind and shape of nested lists."""
    shape, flat = [len(values)], values
    while isinstance(flat[0], list):
        shape.append(len(flat[0]))
        flat = [each for part in flat for each in part]
    sizes = ", ".join(map(str, shape))
    return f"rand.integers(0, {max(flat) + 1}, {sizes})" if isinstance(max(flat), int) else f"rand({sizes})"


def _mistakes(functions: tuple[Function, ...], reference: str) -> str:
    step = next((name for _, name in read_marks(reference)), "step")
    head = '"""What people write in place of the reference\'s lines; and other right ways to write it."""\n\n'
    sets = "".join(MISTAKES.format(name=function.name, step=step) for function in functions)
    names = ", ".join(function.name for function in functions)
    return f"{head}from grader.api.checks import MistakeSet\n{sets}\nMISTAKE_SETS = [{names}]\n"
