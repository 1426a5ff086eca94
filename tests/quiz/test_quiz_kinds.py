"""Each kind of question: how it is made, what an answer earns, and which misconception it shows."""

from __future__ import annotations

import contextlib
from itertools import permutations
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.quiz.export.gift import FORMS
from grader.quiz.kinds import KINDS, Draft
from grader.quiz.kinds.order import RANDOM_SHARE, longest_rise
from grader.quiz.model import Family, Mark, Question, Unreadable
from grader.quiz.placeholders import NoSuchValue, fill, format_value

Data = dict[str, Any]


def ask(kind: str, seed: int = 1, **data: object) -> Question:
    """A question of this kind from the data of its family."""
    family = Family(f"t.{kind}", "t", kind, data)
    return KINDS[kind].build(Draft(family, {"text": "?", "explain": "!", **data}, {}, 1, Random(seed)))


def mark(question: Question, typed: str) -> Mark:
    return KINDS[question.kind].mark(question, typed)


def letter_of(question: Question, text: str) -> str:
    """The letter under which an option is shown."""
    return "abcdefgh"[[option.text for option in question.options].index(text)]


NUMERIC: Data = {
    "answer": 64,
    "wrong": {"root": 8, "double": 128},
    "feedback": {"root": "That is the root."},
    "unit": "MiB",
}
CHOICE: Data = {"right": "rows", "wrong": [{"text": "columns", "tag": "columns"}, {"text": "both", "tag": "both"}]}
SHAPES: Data = {
    "answer": [[2, 3, 5], [2, 5, 3]],
    "blanks": ["line 1", "line 2"],
    "wrong": [{"tag": "flat", "blank": 2, "shape": [30]}],
}
OPTIONS: Data = {
    "options": [
        {"text": "one", "right": True, "tag": "misses-one"},
        {"text": "two", "right": False, "tag": "two"},
        {"text": "three", "right": True},
    ]
}
STEPS: Data = {"steps": ["x", "y", "z"]}
PAIRS: Data = {
    "pairs": [{"left": "A", "right": "x"}, {"left": "B", "right": "y"}, {"left": "C", "right": "z"}],
    "extra": ["w"],
    "wrong": [{"left": "A", "right": "y", "tag": "swapped"}],
}


def test_every_kind_can_be_exported_to_gift():
    """The kinds that GIFT writes are the kinds that there are."""
    assert set(KINDS) == set(FORMS)


@pytest.mark.parametrize("typed", ["64", "2**6", "128/2", "64 MiB", "64mib", " 64.0 "])
def test_numeric_takes_any_way_to_write_it(typed):
    """A number is right however it is written, with its unit or without."""
    assert mark(ask("numeric", **NUMERIC), typed).full


def test_numeric_names_the_wrong_formula():
    """A number that comes from a wrong formula is answered by the formula's name."""
    wrong = mark(ask("numeric", **NUMERIC), "8")
    assert (wrong.credit, wrong.tags, wrong.says, wrong.right) == (0.0, ("root",), ("That is the root.",), "64 MiB")
    assert mark(ask("numeric", **NUMERIC), "65").tags == ()


def test_numeric_is_exact_for_whole_numbers_only():
    """Whole answers bear no error, others one in a hundred."""
    assert not mark(ask("numeric", answer=1000), "1001").full
    assert mark(ask("numeric", answer=0.1234), "0.1230").full
    assert not mark(ask("numeric", answer=0.1234), "0.12").full


def test_numeric_lint_sees_what_cannot_be_told_apart():
    """A wrong number within the tolerance of the right one, or of another wrong one, is a problem."""
    close = ask("numeric", answer=0.5, wrong={"near": 0.501, "far": 0.9, "too": 0.9})
    assert len(KINDS["numeric"].find_problems(close)) == 2
    assert KINDS["numeric"].find_problems(ask("numeric", **NUMERIC)) == []


@pytest.mark.parametrize(
    "typed", ["2,3,5; 2,5,3", "(2, 3, 5); (2, 5, 3)", "(2,3,5) (2,5,3)", "2x3x5; 2 5 3", "[2,3,5];[2,5,3];",
              "torch.Size([2, 3, 5]); torch.Size([2, 5, 3])"],
)  # fmt: skip
def test_shapes_in_any_notation(typed):
    """A shape may be typed as torch prints it or more briefly."""
    assert mark(ask("shape", **SHAPES), typed).full


def test_shapes_have_credit_line_by_line():
    """Half of the shapes right is half of the credit, and a wrong one that has a name is named."""
    half = mark(ask("shape", **SHAPES), "2,3,5; 30")
    assert (half.credit, half.tags) == (0.5, ("flat",))
    assert mark(ask("shape", **SHAPES), "?; 2,5,3").credit == 0.5


def test_predict_ignores_spaces_and_the_dress_of_a_tensor():
    """What is printed is compared without spaces, quotes and `tensor(...)`."""
    question = ask("predict", answer="tensor([1., 2.])", code="print(x)", wrong={"int": "[2, 1]"})
    assert mark(question, "[1, 2]").full and mark(question, "tensor([1.,2.])").full
    assert mark(question, "[2,1]").tags == ("int",)
    assert mark(ask("predict", answer="0.731", code="x", atol=0.002), ".73").full
    assert mark(ask("predict", answer="-24.0 36.0", code="x"), "-24,36").full
    assert not mark(ask("predict", answer="12 36", code="x"), "1236").full
    assert mark(question, "1 2").full and not mark(ask("predict", answer="[[1], [2]]", code="x"), "1 2").full


def test_bug_is_a_line():
    """The wrong line is named by its number; the answer shows what should stand there."""
    question = ask("bug", code="a = 1\n\nb = a / d", answer=3, fix="b = a / d**0.5", wrong={"first": 1})
    assert mark(question, "line 3").full and mark(question, "1").tags == ("first",)
    assert question.guess == 1 / 2 and "d**0.5" in mark(question, "1").right


def test_order_counts_the_longest_run():
    """One step out of place costs one step, not all that follow it."""
    question = ask("order", steps=["a1", "b2", "c3", "d4"])
    right = [letter_of(question, step) for step in ("a1", "b2", "c3", "d4")]
    assert mark(question, " ".join(right)).full
    assert mark(question, "".join([*right[1:], right[0]])).credit == 0.75


@pytest.mark.parametrize("count", [3, 4, 5, 6, 7])
def test_order_knows_what_a_random_order_earns(count):
    """The guess rate of an order is the mean over all orders."""
    shares = [longest_rise(order) / count for order in permutations(range(count))]
    assert sum(shares) / len(shares) == pytest.approx(RANDOM_SHARE[count], abs=1e-3)


@settings(deadline=None)
@given(st.permutations(range(6)))
def test_longest_rise_against_all_subsets(ranks):
    """The longest rising subsequence is the longest of all subsequences that rise."""
    from itertools import combinations

    brute = max(n for n in range(1, 7) for part in combinations(ranks, n) if list(part) == sorted(part))
    assert longest_rise(ranks) == brute


def test_choice_takes_one_of_three():
    """The right option earns all, a wrong one shows its misconception; the order differs from variant to variant."""
    question = ask("choice", **CHOICE)
    assert mark(question, letter_of(question, "rows")).full
    assert mark(question, letter_of(question, "columns")).tags == ("columns",)
    assert len({ask("choice", seed, **CHOICE).answer for seed in range(20)}) == 3


@pytest.mark.parametrize("typed", ["e", "5", "a b"])
def test_choice_asks_for_one_letter(typed):
    """Whatever else is typed is refused in the singular, with the letters there are."""
    with pytest.raises(Unreadable, match=r"^type one letter: a, b or c$"):
        mark(ask("choice", **CHOICE), typed)


def test_multi_judges_each_option():
    """An option that is wrongly left counts as one that is wrongly taken."""
    question = ask("multi", **OPTIONS)
    both = letter_of(question, "one") + letter_of(question, "three")
    assert mark(question, both).full
    assert mark(question, letter_of(question, "three")).tags == ("misses-one",)
    assert mark(question, "none").credit == pytest.approx(1 / 3)


def test_a_whole_misconception_is_named_only_by_the_answer_that_it_explains():
    """Who left one more, took something else too, or took nothing at all, did not mean just that."""
    options = [
        {"text": "six", "right": True, "tag": "powers"}, {"text": "twelve", "right": True, "tag": "powers"},
        {"text": "four", "right": True}, {"text": "seven", "right": False, "tag": "any"},
    ]  # fmt: skip
    question = ask("multi", options=options, whole=["powers"])
    letters = {str(option["text"]): letter_of(question, str(option["text"])) for option in options}
    assert mark(question, letters["four"]).tags == ("powers",)
    assert mark(question, letters["four"] + letters["six"]).tags == ()
    assert mark(question, letters["four"] + letters["seven"]).tags == ("any",)
    assert mark(question, "none").tags == ()


def test_what_is_left_out_shows_a_misconception_only_where_all_of_it_is_left_out():
    """Who takes nothing may just not know, and who takes one of two right options does not hold that none is."""
    options = [
        {"text": "six", "right": True, "tag": "even"}, {"text": "twelve", "right": True, "tag": "even"},
        {"text": "four", "right": True}, {"text": "seven", "right": False, "tag": "any"},
        {"text": "nine", "right": False, "tag": "even"},
    ]  # fmt: skip
    question = ask("multi", options=options)
    letters = {str(option["text"]): letter_of(question, str(option["text"])) for option in options}
    assert mark(question, "none").tags == ()
    assert mark(question, letters["four"]).tags == ("even",)
    assert mark(question, letters["four"] + letters["six"]).tags == ()
    assert mark(question, letters["six"] + letters["nine"]).tags == ("even",)


def test_what_is_no_shape_is_not_counted_as_one():
    """`abc` is told that it is none, not that one of two was read."""
    with pytest.raises(Unreadable, match='"abc" is no shape'):
        mark(ask("shape", **SHAPES), "abc")
    with pytest.raises(Unreadable, match="2 shapes needed, and 1 can be read"):
        mark(ask("shape", **SHAPES), "2, 3")


def test_formula_is_compared_by_value():
    """Any way to write the formula is right; a wrong one that has a name is named."""
    question = ask("formula", answer="4*d**2", symbols={"d": [2, 9]}, wrong={"three": "3*d**2"})
    assert mark(question, "d^2 + 3d²").full and mark(question, "(2d)^2").full
    assert mark(question, "3d^2").tags == ("three",) and not mark(question, "4d").full


def test_match_has_credit_for_each_pair():
    """Each pair counts by itself."""
    question = ask("match", **PAIRS)
    place = {left: number for number, left in enumerate(question.details["lefts"], 1)}
    right = {"A": "x", "B": "y", "C": "z"}
    typed = " ".join(f"{place[left]}{letter_of(question, each)}" for left, each in right.items())
    assert mark(question, typed).full
    swapped = " ".join(f"{place[left]}{letter_of(question, each)}" for left, each in (right | {"A": "y"}).items())
    assert mark(question, swapped).credit == pytest.approx(2 / 3) and mark(question, swapped).tags == ("swapped",)


@pytest.mark.parametrize(
    "kind, data, typed",
    [("numeric", NUMERIC, "many"), ("shape", SHAPES, "2,3"), ("shape", SHAPES, "a; b"),
     ("predict", {"answer": "1", "code": "x"}, " "), ("bug", {"code": "a\nb", "answer": 1, "fix": "c"}, "9"),
     ("order", STEPS, "a b"), ("order", STEPS, "a a b"), ("choice", CHOICE, "d"), ("choice", CHOICE, "a b"),
     ("choice", CHOICE, "1"), ("multi", OPTIONS, ""), ("match", PAIRS, "1a"),
     ("formula", {"answer": "d", "symbols": {"d": [1, 2]}}, "q")],
)  # fmt: skip
def test_what_cannot_be_read_costs_nothing(kind, data, typed):
    """An answer that is none is refused with a sentence on how to type one."""
    with pytest.raises(Unreadable) as refusal:
        mark(ask(kind, **data), typed)
    assert len(str(refusal.value)) > 10


@settings(deadline=None)
@given(st.sampled_from(["numeric", "shape", "choice", "multi", "match"]), st.text(max_size=40))
def test_any_text_is_marked_or_refused(kind, typed):
    """Whatever is typed, there is a mark from 0 to 1 or a refusal."""
    data = {"numeric": NUMERIC, "shape": SHAPES, "choice": CHOICE, "multi": OPTIONS, "match": PAIRS}[kind]
    with contextlib.suppress(Unreadable):
        assert 0 <= mark(ask(kind, **data), typed).credit <= 1


def test_texts_take_values_and_nothing_else():
    """A text has places for names and formats; attributes and indexes are left as they stand."""
    assert fill("{n:,} and {x:.2f}, {{n}}", {"n": 1000, "x": 0.5}) == "1,000 and 0.50, {n}"
    assert fill("{n.real} {n[0]} {n!r}", {"n": 1}) == "{n.real} {n[0]} {n!r}"
    with pytest.raises(NoSuchValue):
        fill("{m}", {"n": 1})
    assert [format_value(value) for value in (0.5, 2.0, (2, 3), [4], True)] == ["0.5", "2", "(2, 3)", "(4,)", "True"]
