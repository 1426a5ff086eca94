"""Numbers and formulas as they are typed: what can be read, what it is worth, and that nothing else can be done."""

from __future__ import annotations

import contextlib
import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.quiz.expressions import Expression, NotAnExpression, parse_number
from grader.quiz.formula_latex import to_latex
from grader.web.formula import formula_html

POINT = {"n": 3.0, "d": 5.0, "d_k": 2.0, "h": 4.0}


@pytest.mark.parametrize(
    "typed, value",
    [("64", 64), ("3/4", 0.75), ("2**6", 64), ("2^6", 64), ("1e-3", 0.001), ("1,050,624", 1050624), ("1_024", 1024),
     ("-1.5", -1.5), ("−2", -2), (".5", 0.5), ("sqrt(16)", 4), ("√16", 4), ("2(3+1)", 8), ("2·3", 6),
     ("2π", 2 * math.pi), ("e", math.e), ("ln(e)", 1), ("8 * 2 ^ 20", 8 << 20), ("5²", 25), ("max(2, 3)", 3)],
)  # fmt: skip
def test_a_number_as_people_type_it(typed, value):
    """Fractions, powers, exponents, thousands and the signs of the field are read."""
    assert parse_number(typed) == pytest.approx(value)


@pytest.mark.parametrize(
    "typed, value",
    [("4d^2", 100), ("4d²+nd", 115), ("n d_k", 6), ("2 n² d + 12nd²", 990), ("n*log(n)", 3 * math.log(3)),
     ("√d", math.sqrt(5)), ("√(n d)", math.sqrt(15)), ("d/h", 1.25), ("(n+d)(h)", 32), ("2n(d+1)", 36)],
)  # fmt: skip
def test_products_may_be_left_unwritten(typed, value):
    """A formula on paper has no stars: symbols side by side are multiplied."""
    assert Expression(typed, POINT).evaluate(POINT) == pytest.approx(value)


@pytest.mark.parametrize(
    "typed",
    ["", " ", "two", "1/0", "sqrt(-1)", "9**9**9", "1e400", "(" * 300, "((((1", "1 2 +", "__import__('os')", "n.real",
     "x", "d2", "[1]", "1 if 1 else 2", "lambda: 1", "n" * 201, "(-2)**0.5", "sqrt", "min()", "a:=1", "1;2", "…", "\0"],
)  # fmt: skip
def test_anything_else_is_refused(typed):
    """What is no arithmetic, or has no value, is refused with a reason, and never run."""
    with pytest.raises(NotAnExpression) as refusal:
        Expression(typed, {"n"}).evaluate({"n": 3.0})
    assert str(refusal.value)


@settings(deadline=None)
@given(st.text(max_size=60))
def test_no_text_does_harm(text):
    """Whatever is typed is read or refused, at once."""
    started = time.process_time()
    with contextlib.suppress(NotAnExpression):
        assert math.isfinite(Expression(text, POINT).evaluate(POINT))
    assert time.process_time() - started < 1


@settings(deadline=None)
@given(st.floats(-1e12, 1e12, allow_nan=False))
def test_a_printed_number_is_read_back(value):
    """What Python prints for a number is that number."""
    assert parse_number(repr(value)) == pytest.approx(value)


def test_no_length_takes_time():
    """Twenty million digits are refused at once."""
    typed = "1" * 20_000_000
    before = time.process_time()
    for read in (parse_number, lambda text: Expression(text, ("d",))):
        with pytest.raises(NotAnExpression, match="longer than"):
            read(typed)
    assert time.process_time() - before < 0.5


@pytest.mark.parametrize("typed, latex", [
    ("4d^2 + nd", r"4 \cdot {d}^{2} + n \cdot d"), ("4(d+n)/2d", r"\frac{4 \cdot \left( d + n \right)}{2} \cdot d"),
    ("-d^2", "-{d}^{2}"), ("(-d)^2", r"{\left( -d \right)}^{2}"), ("2^3^2", "{2}^{{3}^{2}}"),
    ("(n+d)h", r"\left( n + d \right) \cdot h"), ("n" * 199, r" \cdot ".join("n" * 199)),
    ("n-(d-h)", r"n - \left( d - h \right)"), ("n-d-h", "n - d - h"), ("-2n", r"-2 \cdot n"),
    ("n - (-2d)", r"n - \left( -2 \cdot d \right)"), ("d*-n", r"d \cdot \left( -n \right)"),
    ("√d_k", r"\sqrt{{d}_{k}}"), ("max(log2(n), pi)", r"\max \left( \log_{2} \left( n \right), \pi \right)"),
    ("1e-9 n", r"1 \cdot 10^{-9} \cdot n"),
])  # fmt: skip
def test_an_expression_is_written_as_it_is_read(typed, latex):
    """Every product is shown, and brackets only where they are needed; what is written can be set."""
    assert to_latex(Expression(typed, POINT).tree) == latex
    assert formula_html([latex]).startswith("<math")


@given(st.text("nd+-*/^()2√ ", max_size=40))
def test_whatever_is_read_can_be_set(typed):
    """No formula is read that has no preview."""
    with contextlib.suppress(NotAnExpression):
        assert formula_html([to_latex(Expression(typed, POINT).tree)]).startswith("<math")
