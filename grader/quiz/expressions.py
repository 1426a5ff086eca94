"""Numbers and formulas as people type them: `3/4`, `2**6`, `1e-3`, `4d^2 + n·d`. Read by a parser of our own; nothing
that was typed is ever run.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Collection, Mapping

LONGEST = 200  # characters
LARGEST = 1e30  # of any value on the way
MOST_POWER = 64.0

_SIGNS = str.maketrans({"×": "*", "·": "*", "⋅": "*", "−": "-", "–": "-", "÷": "/", "^": "§", "²": "¶", "³": "¤"})
_TOKEN = re.compile(
    r"\s*(?:(\d[\d_]*\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)|([^\W\d]\w*)|(\*\*|[-+*/()§¶¤√,]))", re.I
)
_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?")

_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "sqrt": math.sqrt, "exp": math.exp, "ln": math.log, "log": math.log, "log2": math.log2, "log10": math.log10,
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "abs": abs, "min": min, "max": max,
}  # fmt: skip
_CONSTANTS = {"pi": math.pi, "π": math.pi, "e": math.e}


class NotAnExpression(ValueError):
    """What was typed cannot be read; the text says why."""


def number(text: str) -> float:
    """The value of what was typed for a number. Raises NotAnExpression."""
    text = text.strip()
    if _THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    return Expression(text, ()).at({})


class Expression:
    """A formula in the given symbols. `4d^2` and `nd` are read as products where that is what they can mean."""

    def __init__(self, text: str, symbols: Collection[str]) -> None:
        """Raises NotAnExpression."""
        self.symbols = frozenset(symbols)
        if not text.strip():
            raise NotAnExpression("there is nothing to read")
        if len(text) > LONGEST:
            raise NotAnExpression(f"it is longer than {LONGEST} characters")
        try:
            self._tree = ast.parse(self._python(text), mode="eval").body
        except NotAnExpression:
            raise
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise NotAnExpression("it is no formula: look at its signs and parentheses") from None
        self._allowed(self._tree)

    def at(self, values: Mapping[str, float]) -> float:
        """Its value where the symbols have these values. Raises NotAnExpression where it has none."""
        try:
            return _bounded(self._value(self._tree, values))
        except (ArithmeticError, ValueError, TypeError, RecursionError):
            raise NotAnExpression("it has no value") from None

    def _python(self, text: str) -> str:
        """The formula with every product written out, in signs that Python's grammar knows."""
        written: list[str] = []
        ends_value = False
        for kind, token in self._tokens(text):
            begins_value = kind in ("number", "name", "function") or token in ("(", "√")
            if ends_value and begins_value:
                written.append("*")
            written.append({"§": "**", "¶": "**2", "¤": "**3", "√": "sqrt"}.get(token, token))
            ends_value = kind in ("number", "name") or token in (")", "¶", "¤")
        return " ".join(_roots(written))

    def _tokens(self, text: str) -> list[tuple[str, str]]:
        text = text.translate(_SIGNS).strip()
        found: list[tuple[str, str]] = []
        place = 0
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                raise NotAnExpression(f'"{text[place]}" has no place in a formula')
            place = match.end()
            number_, name, sign = match.groups()
            if number_:
                found.append(("number", number_))
            elif name:
                found += self._names(name)
            else:
                found.append(("sign", sign))
        return found

    def _names(self, name: str) -> list[tuple[str, str]]:
        """A name, or the symbols that were written side by side: `nd` is n times d."""
        if name in self.symbols or name in _CONSTANTS:
            return [("name", name)]
        if name in _FUNCTIONS:
            return [("function", name)]
        for length in range(len(name) - 1, 0, -1):
            if name[:length] in self.symbols:
                return [("name", name[:length]), *self._rest(name, name[length:])]
        known = ", ".join(sorted(self.symbols))
        raise NotAnExpression(f'"{name}" is not known here' + (f"; the symbols are {known}" if known else ""))

    def _rest(self, name: str, rest: str) -> list[tuple[str, str]]:
        if rest.isdigit():
            raise NotAnExpression(f'"{name}" could mean two things: write a sign between its parts')
        return self._names(rest)

    def _allowed(self, node: ast.expr) -> None:
        """Refuse whatever is not arithmetic."""
        match node:
            case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.Pow(), right):
                parts = [left, right]
            case ast.UnaryOp(ast.UAdd() | ast.USub(), operand):
                parts = [operand]
            case ast.Call(ast.Name(name), arguments, []) if name in _FUNCTIONS and arguments:
                parts = arguments
            case ast.Constant(int() | float()):
                parts = []
            case ast.Name(name) if name in self.symbols or name in _CONSTANTS:
                parts = []
            case _:
                raise NotAnExpression("only numbers, symbols, + - * / ** and parentheses can be read")
        for part in parts:
            self._allowed(part)

    def _value(self, node: ast.expr, values: Mapping[str, float]) -> float:
        match node:
            case ast.BinOp(left, ast.Pow(), right):
                return _power(self._value(left, values), self._value(right, values))
            case ast.BinOp(left, sign, right):
                return _bounded(_BINARY[type(sign)](self._value(left, values), self._value(right, values)))
            case ast.UnaryOp(ast.USub(), operand):
                return -self._value(operand, values)
            case ast.UnaryOp(_, operand):
                return self._value(operand, values)
            case ast.Call(ast.Name(name), arguments):
                return _bounded(_FUNCTIONS[name](*(self._value(each, values) for each in arguments)))
            case ast.Name(name):
                return values[name] if name in values else _CONSTANTS[name]
            case ast.Constant(int() | float() as constant):
                return _bounded(float(constant))
        raise TypeError(node)


def _roots(written: list[str]) -> list[str]:
    """`√d` as `sqrt(d)`: the sign stands before what it is of, with or without parentheses."""
    out: list[str] = []
    for place, token in enumerate(written):
        bare = place > 0 and written[place - 1] == "sqrt" and token != "("
        out.append(f"({token})" if bare else token)
    return out


def _power(base: float, exponent: float) -> float:
    if abs(exponent) > MOST_POWER:
        raise ValueError("too high a power")
    value = base**exponent
    if isinstance(value, complex):
        raise ValueError("no real value")
    return _bounded(value)


def _bounded(value: float) -> float:
    if not math.isfinite(value) or abs(value) > LARGEST:
        raise ValueError("too large a value")
    return value
