"""Write an expression that was read as LaTeX, with every product and bracket as it was understood."""

from __future__ import annotations

import ast

_LOOSE, _SIGNED, _PRODUCT, _TIGHT, _WHOLE = range(5)  # how closely a part holds together
_SIGNS: dict[type[ast.operator], str] = {ast.Add: " + ", ast.Sub: " - ", ast.Mult: r" \cdot "}
_NAMES = {"log2": r"\log_{2}", "log10": r"\log_{10}", "π": r"\pi", "pi": r"\pi"}


def to_latex(tree: ast.expr) -> str:
    """Return the LaTeX of what `Expression` has read."""
    return _write(tree)[0]


def _write(node: ast.expr) -> tuple[str, int]:
    """Return a part and how closely it holds together."""
    match node:
        case ast.BinOp(above, ast.Div(), below):
            return rf"\frac{{{to_latex(above)}}}{{{to_latex(below)}}}", _TIGHT
        case ast.BinOp(base, ast.Pow(), exponent):
            return f"{{{_within(base, _WHOLE)}}}^{{{to_latex(exponent)}}}", _TIGHT
        case ast.BinOp(left, ast.Mult(), right):
            text, own = _write(left)
            front, binds = (text, own) if own >= _SIGNED else (_bracket(text), _PRODUCT)
            return front + _SIGNS[ast.Mult] + _within(right, _TIGHT), min(binds, _PRODUCT)
        case ast.BinOp(left, sign, right):
            return to_latex(left) + _SIGNS[type(sign)] + _within(right, _PRODUCT), _LOOSE
        case ast.UnaryOp(sign, operand):
            return ("-" if isinstance(sign, ast.USub) else "+") + _within(operand, _PRODUCT), _SIGNED
        case ast.Call(ast.Name("sqrt"), [operand]):
            return rf"\sqrt{{{to_latex(operand)}}}", _WHOLE
        case ast.Call(ast.Name(function), operands):
            inner = ", ".join(map(to_latex, operands))
            return rf"{_NAMES.get(function) or _name_function(function)} \left( {inner} \right)", _TIGHT
        case ast.Name(name):
            return _write_name(name), _WHOLE
        case ast.Constant(number):
            digits, has_power, power = repr(number).partition("e")
            return (rf"{digits} \cdot 10^{{{int(power)}}}", _PRODUCT) if has_power else (digits, _WHOLE)
    raise ValueError("no part of a formula")


def _within(node: ast.expr, closely: int) -> str:
    """Return a part, in brackets if it holds together less closely than what it stands in."""
    text, own = _write(node)
    return text if own >= closely else _bracket(text)


def _bracket(text: str) -> str:
    return rf"\left( {text} \right)"


def _name_function(function: str) -> str:
    return rf"\text{{{function}}}" if function == "abs" else f"\\{function}"


def _write_name(name: str) -> str:
    """Write `d_k` with an index, and names of several letters upright."""
    letters, _, index = name.partition("_")
    parts = [each if len(each) < 2 else rf"\text{{{each.replace('_', ' ')}}}" for each in (letters, index)]
    return _NAMES.get(name) or (f"{{{parts[0]}}}_{{{parts[1]}}}" if index else parts[0] or r"\text{_}")
