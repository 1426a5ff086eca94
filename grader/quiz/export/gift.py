"""Write questions in Moodle's GIFT, blocks divided by empty lines (https://docs.moodle.org/en/GIFT_format).

Texts are HTML, marked `[html]`, except typed answers and right sides of matches, which Moodle takes literally. A kind
that GIFT does not have becomes the nearest one that is marked fairly, and a note says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from grader.quiz.bank.bank import Bank
from grader.quiz.export.cards import Card, Export, feedback_on, right_answer_lines
from grader.quiz.export.html import code_block, full_answer, inline, to_html
from grader.quiz.model import OpenQuestion, Question
from grader.quiz.placeholders import format_value

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
BECAME = {
    "matching": "became matching, as GIFT has no such kind",
    "choice": "became choices between named formulas, as GIFT cannot compare formulas",
    "essay": "became essays to be marked by hand, with the answer as feedback",
}

_RESERVED = str.maketrans({sign: f"\\{sign}" for sign in "\\~=#{}:"} | {"\n": "\\n"})


class Form(NamedTuple):
    """What is written in the braces, and a key of BECAME where Moodle gets another kind."""

    lines: Sequence[str]
    became: str = ""
    sign: str = ""  # before the lines


ESSAY = Form((), "essay")


def to_gift(bank: Bank, cards: Sequence[Card]) -> Export:
    """Write a file for Moodle's import of questions, with a category for each topic."""
    blocks: list[str] = []
    changed: Counter[str] = Counter()
    topic = ""
    for card in cards:
        if card.topic.name != topic:
            topic = card.topic.name
            blocks.append(f"$CATEGORY: selfattend/{card.topic.title.replace('/', '//')}")
        block, became = _make_block(bank, card)
        blocks.append(block)
        changed[became] += 1
    notes = tuple(f"{changed[key]} {text}." for key, text in BECAME.items() if changed[key])
    return Export("\n\n".join(blocks) + "\n", len(cards), notes)


def _make_block(bank: Bank, card: Card) -> tuple[str, str]:
    question = card.question
    if isinstance(question, OpenQuestion):
        text, form, feedback = to_html(question.asks), ESSAY, full_answer(question)
    else:
        form = FORMS[question.kind](bank, question)
        text = _text(question, form)
        said = "<br>".join(map(inline, right_answer_lines(question)))
        feedback = f"<p><b>{said}</b></p>{to_html(question.explain)}"
    lines = [
        f"// [id:{card.id}] [tag:{card.topic.name}]",
        "\n\t".join([f"::{escape(card.id)}::[html]{escape(text)} {{{form.sign}", *form.lines]),
        f"####[html]{escape(feedback)}",
        "}",
    ]
    return "\n".join(lines), form.became


def _text(question: Question, form: Form) -> str:
    """Return the question, with its unit, and how to type a shape or formula."""
    parts = [to_html(question.text)]
    if question.kind != "bug":
        parts.append(code_block(question.code))
    unit = question.details.get("unit", "")
    if unit:
        parts.append(f"<p>{inline(f'In {unit}.')}</p>")
    if question.kind == "shape" and form.became != "matching":
        parts.append(f"<p>{inline(f'{question.parts[0]}: a shape, as (2, 3, 5)')}</p>")
    if question.kind == "formula" and form.became == "essay":
        parts.append(f"<p>{inline('A formula in ' + ', '.join(question.details['symbols']) + '.')}</p>")
    return "".join(parts)


def escape(text: str) -> str:
    """Escape the characters that GIFT reserves."""
    return text.translate(_RESERVED)


# --- kinds ------------------------------------------------------------------------------------------------------------


def _numeric(bank: Bank, question: Question) -> Form:
    """Write numbers with their tolerances. Raises ValueError where an answer is no number."""
    wrong = [(0, float(each.value), feedback_on(bank, question, each.tag)) for each in question.wrong]
    lines = []
    for weight, value, feedback in [(100, float(question.answer), ""), *wrong]:
        tolerance = question.details.get("atol", 0.0) + question.details.get("rtol", 0.0) * abs(value)
        shown = tolerance if tolerance > 1e-6 * abs(value) else 0
        lines.append(f"=%{weight}%{value:.12g}:{shown:.6g}{_feedback(feedback)}")
    return Form(lines, sign="#")


def _shape(bank: Bank, question: Question) -> Form:
    if len(question.parts) > 1:
        others = [format_value(each.value[1]) for each in question.wrong]
        return Form(_matching(question.parts, map(format_value, question.answer), others), "matching")
    wrong = [(_spellings(each.value[1]), each.tag) for each in question.wrong]
    return _typed(bank, question, _spellings(question.answer[0]), wrong)


def _spellings(shape: Sequence[int]) -> list[str]:
    """Return the usual ways to type a shape."""
    spaced, tight = ", ".join(map(str, shape)), ",".join(map(str, shape))
    return list(dict.fromkeys([format_value(tuple(shape)), f"({tight})", spaced, tight, f"[{spaced}]", f"[{tight}]"]))


def _predict(bank: Bank, question: Question) -> Form:
    try:
        return _numeric(bank, question)
    except ValueError:  # an output that is not a number
        answer = str(question.answer)
    if "\n" in answer.strip() or "->" in answer:  # Moodle cannot compare such an answer
        return ESSAY
    wrong = [(str(each.value), each.tag) for each in question.wrong]
    short = [(_outputs(text), tag) for text, tag in wrong if "->" not in text and "\n" not in text]
    return _typed(bank, question, _outputs(answer), short)


def _outputs(text: str) -> list[str]:
    """Return the usual ways to type an output: without spaces, without `tensor( )`."""
    plain = text.strip()
    inside = plain[len("tensor(") : -1] if plain.startswith("tensor(") and plain.endswith(")") else plain
    found = [plain, plain.replace(" ", ""), inside, inside.replace(" ", "")]
    return list(dict.fromkeys(found))


def _bug(bank: Bank, question: Question) -> Form:
    tags = {each.value: each.tag for each in question.wrong}
    lines = []
    for number, line in enumerate(question.code.split("\n"), 1):
        if line.strip():
            text = f"{number} <code>{inline(line.replace('`', ''))}</code>"
            lines.append(_option(bank, question, text, number == question.answer, tags.get(number, "")))
    return Form(lines)


def _choice(bank: Bank, question: Question) -> Form:
    return Form([_option(bank, question, inline(each.text), each.right, each.tag) for each in question.options])


def _multi(bank: Bank, question: Question) -> Form:
    """Weight several options. "None of these" is always among them, so that it gives nothing away."""
    rights = sum(option.right for option in question.options)
    wrongs = len(question.options) - rights
    lines = []
    for option in question.options:
        weight = 100 / rights if option.right else -100 / wrongs
        feedback = _feedback(feedback_on(bank, question, option.tag))
        lines.append(f"~%{weight:.7g}%[html]{escape(inline(option.text))}{feedback}")
    lines.append(f"~%{-100 if rights else 100}%[html]None of these")
    return Form(lines)


def _order(_bank: Bank, question: Question) -> Form:
    steps = [question.options[index].text for index in question.answer]
    return Form(_matching([f"The {ordinal} step" for ordinal in ORDINALS[: len(steps)]], steps), "matching")


def _match(_bank: Bank, question: Question) -> Form:
    rights = [option.text for option in question.options]
    return Form(_matching(question.parts, [rights[at] for at in question.answer], rights))


def _formula(bank: Bank, question: Question) -> Form:
    if len(question.wrong) < 2:
        return ESSAY
    named = sorted([(str(question.answer), ""), *((str(each.value), each.tag) for each in question.wrong)])
    lines = [_option(bank, question, f"<code>{inline(text)}</code>", not tag, tag) for text, tag in named]
    return Form(lines, "choice")


FORMS: dict[str, Callable[[Bank, Question], Form]] = {
    "numeric": _numeric,
    "shape": _shape,
    "predict": _predict,
    "bug": _bug,
    "order": _order,
    "choice": _choice,
    "multi": _multi,
    "formula": _formula,
    "match": _match,
}


def _matching(lefts: Sequence[str], rights: Iterable[str], more: Iterable[str] = ()) -> list[str]:
    """Write pairs, then those of `more` that are the right side of no pair."""
    texts = list(rights)
    others = [right for right in dict.fromkeys(more) if right not in texts]
    pairs = [(f"[html]{escape(inline(left))}", right) for left, right in zip(lefts, texts, strict=True)]
    pairs += [("", right) for right in others]
    return [f"={left} -> {escape(' '.join(right.split()))}" for left, right in pairs]


def _option(bank: Bank, question: Question, html: str, is_right: bool, tag: str) -> str:
    return f"{'=' if is_right else '~'}[html]{escape(html)}{_feedback(feedback_on(bank, question, tag))}"


def _typed(bank: Bank, question: Question, right: list[str], wrong: Iterable[tuple[list[str], str]]) -> Form:
    """Write the ways to type the right answer and wrong ones. A star, a wildcard, is escaped twice."""
    answers = [(100, right, ""), *((0, spellings, feedback_on(bank, question, tag)) for spellings, tag in wrong)]
    return Form(
        [
            f"=%{weight}%{escape(each.replace('*', chr(92) + '*'))}{_feedback(feedback)}"
            for weight, spellings, feedback in answers
            for each in spellings
        ]
    )


def _feedback(text: str) -> str:
    return f"#[html]{escape(inline(text))}" if text else ""
