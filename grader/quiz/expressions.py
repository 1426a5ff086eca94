"""Parse numbers and formulas as people type them: `3/4`, `2**6`, `1e-3`, `4d^2 + n·d`. Nothing typed is ever run."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Collection, Mapping

MAX_CHARACTERS = 200
MAX_VALUE = 1e30  # also of intermediate values
MAX_EXPONENT = 64.0

Compute = Callable[[Mapping[str, float]], float]

_SIGNS = str.maketrans({"×": "*", "·": "*", "⋅": "*", "−": "-", "–": "-", "÷": "/", "^": "§", "²": "¶", "³": "¤"})
_TOKEN = re.compile(
    r"\s*(?:(\d[\d_]*\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)|([^\W\d]\w*)|(\*\*|[-+*/()§¶¤√,]))", re.I
)
_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?")


def _power(base: float, exponent: float) -> float:
    if abs(exponent) > MAX_EXPONENT:
        raise ValueError("too high a power")
    value: float | complex = base**exponent
    if isinstance(value, complex):
        raise ValueError("no real value")
    return value


_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: _power,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    **{name: getattr(math, name) for name in ("sqrt", "exp", "log", "log2", "log10", "sin", "cos", "tan")},
    "ln": math.log,
    "abs": abs,
    "min": min,
    "max": max,
}
_CONSTANTS = {"pi": math.pi, "π": math.pi, "e": math.e}


class NotAnExpression(ValueError):
    """What was typed cannot be parsed; the message says why."""


def parse_number(text: str) -> float:
    """Return the value of what was typed as a number. Raises NotAnExpression."""
    return read_number(text).evaluate({})


def read_number(text: str) -> Expression:
    """Parse what was typed as a number. Raises NotAnExpression."""
    text = text.strip()
    if len(text) <= MAX_CHARACTERS and _THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    return Expression(text, ())


class Expression:
    """A formula in given symbols. `4d^2` and `nd` are products where they can mean nothing else.

    Its `tree` is of Python's grammar, and of arithmetic alone.
    """

    def __init__(self, text: str, symbols: Collection[str]) -> None:
        """Parse a formula. Raises NotAnExpression."""
        self.symbols = frozenset(symbols)
        if len(text) > MAX_CHARACTERS:
            raise NotAnExpression(f"it is longer than {MAX_CHARACTERS} characters")
        if not text.strip():
            raise NotAnExpression("there is nothing to read")
        written = self._to_python(text)
        try:
            self.tree = ast.parse(written, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise NotAnExpression("it is no formula: look at its signs and parentheses") from None
        self._compute = self._compile(self.tree)

    def evaluate(self, values: Mapping[str, float]) -> float:
        """Return the value for these values of the symbols. Raises NotAnExpression where it has none."""
        try:
            return _check_size(self._compute(values))
        except (ArithmeticError, ValueError, TypeError, RecursionError):
            raise NotAnExpression("it has no value") from None

    def _to_python(self, text: str) -> str:
        """Rewrite the formula in Python's grammar, with every product written out."""
        written: list[str] = []
        ends_value = False
        for kind, token in self._tokenize(text):
            begins_value = kind in ("number", "name", "function") or token in ("(", "√")
            if ends_value and begins_value:
                written.append("*")
            written.append({"§": "**", "¶": "**2", "¤": "**3", "√": "sqrt"}.get(token, token))
            ends_value = kind in ("number", "name") or token in (")", "¶", "¤")
        return " ".join(_add_root_parentheses(written))

    def _tokenize(self, text: str) -> list[tuple[str, str]]:
        text = text.translate(_SIGNS).strip()
        found: list[tuple[str, str]] = []
        position = 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise NotAnExpression(f'"{text[position]}" has no place in a formula')
            position = match.end()
            number_, name, sign = match.groups()
            if number_:
                found.append(("number", number_))
            elif name:
                found += self._split_name(name)
            else:
                found.append(("sign", sign))
        return found

    def _split_name(self, name: str) -> list[tuple[str, str]]:
        """Split a name into symbols written side by side: `nd` is n times d."""
        if name in self.symbols or name in _CONSTANTS:
            return [("name", name)]
        if name in _FUNCTIONS:
            return [("function", name)]
        for length in range(len(name) - 1, 0, -1):
            first, rest = name[:length], name[length:]
            if first in self.symbols:
                if rest.isdigit():
                    raise NotAnExpression(f'"{name}" could mean two things: write a sign between its parts')
                return [("name", first), *self._split_name(rest)]
        known = ", ".join(sorted(self.symbols))
        raise NotAnExpression(f'"{name}" is not known here' + (f"; the symbols are {known}" if known else ""))

    def _compile(self, node: ast.expr) -> Compute:
        """Return a function that computes a part of the formula. Raises NotAnExpression for anything but arithmetic."""
        match node:
            case ast.BinOp(left, sign, right) if type(sign) in _BINARY:
                compute, first, second = _BINARY[type(sign)], self._compile(left), self._compile(right)
                return lambda values: _check_size(compute(first(values), second(values)))
            case ast.UnaryOp(ast.UAdd(), operand):
                return self._compile(operand)
            case ast.UnaryOp(ast.USub(), operand):
                positive = self._compile(operand)
                return lambda values: -positive(values)
            case ast.Call(ast.Name(name), [_, *_] as arguments, []) if name in _FUNCTIONS:
                function, parts = _FUNCTIONS[name], [self._compile(each) for each in arguments]
                return lambda values: _check_size(function(*(part(values) for part in parts)))
            case ast.Constant(int() | float() as constant):
                return lambda _values: _check_size(float(constant))
            case ast.Name(name) if name in self.symbols or name in _CONSTANTS:
                return lambda values: values[name] if name in values else _CONSTANTS[name]
        raise NotAnExpression("only numbers, symbols, + - * / ** and parentheses can be read")


def _add_root_parentheses(written: list[str]) -> list[str]:
    """Turn `sqrt d`, which was `√d`, into `sqrt(d)`."""
    out: list[str] = []
    for index, token in enumerate(written):
        bare = index > 0 and written[index - 1] == "sqrt" and token != "("
        out.append(f"({token})" if bare else token)
    return out


def _check_size(value: float) -> float:
    if not math.isfinite(value) or abs(value) > MAX_VALUE:
        raise ValueError("too large a value")
    return value
