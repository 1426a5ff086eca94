"""Render questions, marks and the summary of a session as lines of text, without printing them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from grader.model import DONT_KNOW, Answered
from grader.quiz.bank.bank import Bank
from grader.quiz.kinds import KINDS
from grader.quiz.kinds.kind import LETTERS, letter_options
from grader.quiz.model import Mark, Question
from grader.quiz.session.session import describe_part, is_sure_but_wrong, verdict_on
from grader.terminal.console import MAX_COLUMNS, paint, signs, width, wrap
from grader.terminal.text import ITEM, bar, clean, plural, split_items

NEXT = "Next  "

_NUMBERS = re.compile(r"[(\[][\d ,.-]+[)\]]")


# --- parts of a screen ------------------------------------------------------------------------------------------------


def header(left: str, right: str) -> str:
    """Return a line with `left` at its beginning and `right` at its end."""
    if not right:
        return paint(cut(left, min(width(), MAX_COLUMNS)), "strong")
    room = min(width(), MAX_COLUMNS) - len(right) - 2
    left = cut(left, room)
    return f"{paint(left, 'strong')}{' ' * (room - len(left))}  {paint(right, 'quiet')}"


def progress(number: int, count: int) -> str:
    """Return the progress as a bar and in numbers; the bar only on a wide terminal."""
    share = (number - 1) / count
    return f"{bar(share, 10, signs())}  {number} of {count}" if width() >= 70 else f"{number} of {count}"


def cut(text: str, columns: int) -> str:
    """Cut a line to this width, after a word and with three dots."""
    if len(text) <= columns:
        return text
    room = max(0, columns - 3)
    head, space, _ = text[: room + 1].rpartition(" ")
    return (head if space and len(head) > room // 2 else text[:room]).rstrip(" .,;:") + "..."


def wrap_paragraphs(text: str, indent: int = 0) -> list[str]:
    """Wrap paragraphs; each item of a list begins a line."""
    lines: list[str] = []
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip("\n"))):
        lines += [""] * bool(number)
        for piece in split_items(paragraph):
            marked = ITEM.match(piece)
            lines += hang(marked[0].strip(), piece[marked.end() :], indent) if marked else _wrap(piece, indent)
    return lines


def break_lines(text: str, columns: int) -> list[str]:
    """Break a learner's text into lines of at most this width, keeping its own line ends."""
    import textwrap

    return [piece for line in clean(text).split("\n") for piece in (textwrap.wrap(line, columns) or [""])]


def hang(mark: str, text: str, indent: int) -> list[str]:
    """Wrap a text with a mark to its left."""
    lines = _wrap(text, indent + len(mark) + (1 if mark == "-" else 2))
    lines[0] = " " * indent + mark + lines[0][indent + len(mark) :]
    return lines


def _wrap(text: str, indent: int) -> list[str]:
    """Wrap without breaking a shape or a row of numbers: `wrap` turns null characters into spaces."""
    return wrap(_NUMBERS.sub(lambda row: row[0].replace(" ", "\0"), text), indent).split("\n")


# --- a question -------------------------------------------------------------------------------------------------------


def question_lines(question: Question, *, close: bool = False) -> list[str]:
    """Render what is asked; `close` leaves out the empty lines between its parts."""
    lines = wrap_paragraphs(question.text)
    between = [] if close else [""]
    if question.code:
        lines += [*between, *_code_lines(question.code, numbered=question.kind == "bug")]
    options = [(letter, option.text) for letter, option in letter_options(question.options)]
    for marked in ([(str(number), part) for number, part in enumerate(question.parts, 1)], options):
        if marked:
            lines += between
            lines += [line for mark, text in marked for line in hang(mark, text, 2)]
    return lines


def instruction_lines(question: Question) -> list[str]:
    """Render how to answer the question."""
    always = f"{DONT_KNOW} alone: I do not know. ! or ? behind: sure, or a guess."
    says = f"{KINDS[question.kind].instructions(question)} {always}"
    return [paint(line, "quiet") for line in wrap_paragraphs(says)]


def _code_lines(code: str, numbered: bool = False) -> list[str]:
    """Indent code; a line too long for the terminal goes on below, deeper, from a blank on."""
    lines = []
    for number, line in enumerate(code.split("\n"), 1):
        mark = f"  {paint(f'{number:>2}', 'quiet')}  " if numbered else " " * 4
        first, *rest = _fold(line, width() - (6 if numbered else 4))
        lines += [f"{mark}{first}".rstrip(), *(" " * (6 if numbered else 4) + piece for piece in rest)]
    return lines


def _fold(line: str, columns: int) -> list[str]:
    if len(line) <= columns:
        return [line]
    import textwrap

    deeper = " " * (len(line) - len(line.lstrip()) + 8)
    return textwrap.wrap(line, columns, subsequent_indent=deeper, break_long_words=False, break_on_hyphens=False)


# --- a mark -----------------------------------------------------------------------------------------------------------


def mark_lines(bank: Bank, question: Question, mark: Mark, answer: Answered, prove: bool) -> list[str]:
    """Render a mark: right, partly right or wrong; the right answer; the misconceptions; the explanation."""
    lines = _verdict(question, mark, answer)
    if not mark.full:
        lines += _label("The answer is", _spell_out(question, mark))
    for tag in mark.tags:
        known = bank.misconception(tag)
        lines += wrap_paragraphs(f"You {known.says}.", 2) if known else []
    for says in mark.says:
        lines += wrap_paragraphs(says, 2)
    lines += ["", *wrap_paragraphs(question.explain, 2)]
    return lines + (["", *proof_lines(question)] if prove and question.prove else [])


def proof_lines(question: Question) -> list[str]:
    """Render the lines of torch that show the answer."""
    return [paint("  Try it yourself:", "quiet"), *_code_lines(f"import torch\n{question.prove}")]


def answer_line(answer: Answered) -> str:
    """Render what was typed, and how sure the learner was."""
    if answer.is_unknown:
        return "You said that you did not know."
    said = " ".join(clean(answer.typed).split())
    return f"You answered: {said}{f' ({answer.certainty})' if answer.certainty else ''}"


def describe_verdict(question: Question, mark: Mark, answer: Answered) -> str:
    """Say how right an answer is, and of a wrong one that was sure what follows."""
    verdict = verdict_on(question, mark, answer)
    if mark.full or answer.is_unknown:
        return f"{verdict}."
    part = f": {describe_part(question, mark)}" if mark.credit else ""
    return f"{verdict}{part}." + (" You were sure: it comes back within a week." if is_sure_but_wrong(answer) else "")


def _verdict(question: Question, mark: Mark, answer: Answered) -> list[str]:
    sign, role = {
        "Right": (signs().passed, "good"),
        "Not known yet": (signs().skipped, "strong"),
        "Partly right": (signs().trouble, "strong"),
        "Wrong": (signs().failed, "bad"),
    }[verdict_on(question, mark, answer)]
    return [paint(line, role) for line in wrap_paragraphs(f"{sign} {describe_verdict(question, mark, answer)}")]


def _label(label: str, text: str) -> list[str]:
    pieces = text.split("\n")
    if len(pieces) == 1:
        return wrap_paragraphs(f"{label} {text}", 2)
    return [f"  {label}:", *(f"    {piece}" for piece in pieces)]


def _spell_out(question: Question, mark: Mark) -> str:
    """Return the right answer; an order of short options with their texts, one a line."""
    if question.kind == "order":
        lines = [f"{LETTERS[index]}  {question.options[index].text}" for index in question.answer]
        return "\n".join(lines) if max(map(len, lines)) <= min(width(), MAX_COLUMNS) - 4 else mark.right
    return mark.right


# --- the end ----------------------------------------------------------------------------------------------------------


def summary_lines(summary: Mapping[str, Any]) -> list[str]:
    """Render a session's score beside the prediction, its topics, and what was sure but wrong."""
    if not summary["answers"]:
        return ["No question was answered."]
    lines = _score(summary)
    if len(summary["topics"]) > 1:
        longest = max(len(topic["title"]) for topic in summary["topics"])
        lines += ["", *(_topic(topic, longest) for topic in summary["topics"])]
    if summary["sure_but_wrong"]:
        lines += ["", paint("Sure, but wrong", "strong")]
        lines += [line for each in summary["sure_but_wrong"] for line in _sure_but_wrong(each)]
    return lines


def _practice(count: int, answers: int) -> str:
    """Say that answers soon after feedback are no evidence."""
    which = "This was practice" if count == answers else f"{plural(count, 'answer')} of these were practice"
    return f"{which}, less than 20 hours after you saw the answer: it counts when you do it again another day."


def _score(summary: Mapping[str, Any]) -> list[str]:
    right = f"{summary['right']} of {summary['answers']} right"
    score = paint(f"{summary['score']:.1f} of 10", "strong")
    lines = [f"This session: {score}   {right}"]
    says = f"Corrected for guessing; the 90% interval is {summary['low']:.1f} to {summary['high']:.1f}."
    if summary["practice"]:
        says += f" {_practice(summary['practice'], summary['answers'])}"
    lines += [paint(line, "quiet") for line in wrap_paragraphs(says)]
    from grader.quiz.session.summary import make_remarks  # here: a session begins sooner

    return lines + [line for says in make_remarks(summary) for line in wrap_paragraphs(says)]


def _topic(topic: Mapping[str, Any], longest: int) -> str:
    right, count = topic["right"], topic["answers"]
    return f"  {topic['title']:<{longest}}  {bar(right / count, 10, signs())}  {right} of {count}"


def _sure_but_wrong(each: Mapping[str, Any]) -> list[str]:
    lines = wrap_paragraphs(f"- {each['title']}: {' '.join(each['text'].split())}", 2)
    return lines + [line for said in each["says"] for line in wrap_paragraphs(f"You {said}.", 4)]


def next_lines(commands: Sequence[tuple[str, str]]) -> list[str]:
    """Render commands to go on with, and what each is for, beside it where there is room, else below."""
    longest = max(len(command) for command, _ in commands)
    beside = len(NEXT) + longest + 3 + max(len(says) for _, says in commands) <= width()
    lines: list[str] = []
    for number, (command, says) in enumerate(commands):
        head = f"{' ' * len(NEXT) if number else NEXT}{paint(command, 'command')}"
        if beside:
            lines += [f"{head}{' ' * (longest - len(command))}   {says}"]
        else:
            lines += [head, *wrap_paragraphs(says, len(NEXT) + 2)]
    return lines
