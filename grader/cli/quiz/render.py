"""Questions, marks and the end of a sitting as lines of text. Nothing is printed here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from grader.model import Answered
from grader.quiz.bank.bank import Bank
from grader.quiz.kinds import KINDS
from grader.quiz.kinds.kind import LETTERS, lettered
from grader.quiz.model import Mark, Question
from grader.quiz.session.session import DONT_KNOW, is_sure_but_wrong
from grader.terminal.console import MAX_COLUMNS, paint, signs, width, wrap
from grader.terminal.text import bar, clean

NEXT = "Next  "
TELLING = 18  # characters of a sentence, from which on it stands alone

_ITEM = re.compile(r"-\s+")
_SENTENCE_ENDS = re.compile(r"(?<=[.?!])\s+(?=\W*[A-Z])")
_NUMBERS = re.compile(r"[(\[][\d ,.-]+[)\]]")


# --- pieces -----------------------------------------------------------------------------------------------------------


def header(left: str, right: str) -> str:
    """A line with something at either end."""
    if not right:
        return paint(cut(left, min(width(), MAX_COLUMNS)), "strong")
    room = min(width(), MAX_COLUMNS) - len(right) - 2
    left = cut(left, room)
    return f"{paint(left, 'strong')}{' ' * (room - len(left))}  {paint(right, 'quiet')}"


def progress(number: int, count: int) -> str:
    """How far one is, as a bar and in numbers; the bar only where there is room."""
    share = (number - 1) / count
    return f"{bar(share, 10, signs())}  {number} of {count}" if width() >= 70 else f"{number} of {count}"


def cut(text: str, columns: int) -> str:
    """A line of at most this width: what is longer ends at a word, and in three dots."""
    if len(text) <= columns:
        return text
    room = max(0, columns - 3)
    head, space, _ = text[: room + 1].rpartition(" ")
    return (head if space and len(head) > room // 2 else text[:room]).rstrip(" .,;:") + "..."


def unwrapped(text: str) -> str:
    """Paragraphs and lines of lists, each in one line; blank lines stay."""
    return "\n\n".join("\n".join(_pieces(each)) for each in re.split(r"\n\s*\n", text.strip("\n")))


def prose(text: str, indent: int = 0) -> list[str]:
    """Paragraphs, wrapped; lines that begin as those of a list stay lines."""
    lines: list[str] = []
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip("\n"))):
        lines += [""] * bool(number)
        for piece in _pieces(paragraph):
            marked = _ITEM.match(piece)
            lines += hanging(marked[0].strip(), piece[marked.end() :], indent) if marked else _wrapped(piece, indent)
    return lines


def lines_of(text: str, columns: int) -> list[str]:
    """A learner's text in lines of at most this width; those that were written stay lines."""
    import textwrap

    return [piece for line in clean(text).split("\n") for piece in (textwrap.wrap(line, columns) or [""])]


def hanging(mark: str, text: str, indent: int) -> list[str]:
    """A wrapped text with a mark to its left."""
    lines = _wrapped(text, indent + len(mark) + (1 if mark == "-" else 2))
    lines[0] = " " * indent + mark + lines[0][indent + len(mark) :]
    return lines


def _wrapped(text: str, indent: int) -> list[str]:
    """Lines that break no shape, and no row of numbers, in two: `wrap` puts spaces where it finds null characters."""
    return wrap(_NUMBERS.sub(lambda row: row[0].replace(" ", "\0"), text), indent).split("\n")


def _pieces(paragraph: str) -> list[str]:
    pieces: list[str] = []
    for line in paragraph.split("\n"):
        if pieces and not _ITEM.match(line.strip()):
            pieces[-1] += f" {line.strip()}"
        else:
            pieces.append(line.strip())
    return pieces


# --- a question -------------------------------------------------------------------------------------------------------


def question_lines(question: Question, *, close: bool = False) -> list[str]:
    """What is asked, without how to answer it; `close` leaves out the empty lines between its parts."""
    lines = prose(question.text)
    between = [] if close else [""]
    if question.code:
        lines += [*between, *_code(question.code, numbered=question.kind == "bug")]
    blanks = question.details.get("blanks", ())
    if blanks:
        lines += between
        lines += [line for number, blank in enumerate(blanks, 1) for line in hanging(f"{number}", blank, 2)]
    lefts = question.details.get("lefts", ())
    if lefts:
        lines += between
        lines += [line for number, left in enumerate(lefts, 1) for line in hanging(f"{number}", left, 2)]
    if question.options:
        lines += between
        for letter, option in lettered(question.options):
            lines += hanging(letter, option.text, 2)
    return lines


def how_lines(question: Question) -> list[str]:
    """How to answer it."""
    says = f"{KINDS[question.kind].how(question)} {DONT_KNOW} alone: I do not know."
    return [paint(line, "quiet") for line in prose(says)]


def _code(code: str, numbered: bool = False) -> list[str]:
    """Code as it stands, which is why it is not wrapped."""
    if not numbered:
        return [f"    {line}".rstrip() for line in code.split("\n")]
    return [f"  {paint(f'{number:>2}', 'quiet')}  {line}".rstrip() for number, line in enumerate(code.split("\n"), 1)]


# --- a mark -----------------------------------------------------------------------------------------------------------


def mark_lines(bank: Bank, question: Question, mark: Mark, answer: Answered, prove: bool) -> list[str]:
    """Right, partly or wrong; the right answer; the wrong idea by name; why."""
    lines = _verdict(question, mark, answer)
    if not mark.full:
        lines += _labelled("The answer is", _spelt_out(question, mark))
    for tag in mark.tags:
        known = bank.misconception(tag)
        lines += prose(f"You {known.says}.", 2) if known else []
    for says in mark.says:
        lines += prose(says, 2)
    lines += ["", *prose(question.explain, 2)]
    return lines + (["", *prove_lines(question)] if prove and question.prove else [])


def prove_lines(question: Question) -> list[str]:
    """The lines of torch that show the answer."""
    return [paint("  Try it yourself:", "quiet"), *_code(f"import torch\n{question.prove}")]


def answered_line(answer: Answered) -> str:
    """What was typed, and how sure one was."""
    if answer.typed == DONT_KNOW:
        return "You said that you did not know."
    said = " ".join(clean(answer.typed).split())
    return f"You answered: {said}{f' ({answer.certainty})' if answer.certainty else ''}"


def _verdict(question: Question, mark: Mark, answer: Answered) -> list[str]:
    if mark.full:
        return [paint(f"{signs().passed} Right.", "good")]
    if answer.typed == DONT_KNOW:
        return [paint(f"{signs().skipped} Not known yet.", "strong")]
    sure = " You were sure: it comes back within a week." if is_sure_but_wrong(answer) else ""
    if mark.credit > 0:
        says = f"{signs().trouble} Partly right: {_part(question, mark)}.{sure}"
        return [paint(line, "strong") for line in prose(says)]
    return [paint(f"{signs().failed} Wrong.{sure}", "bad")]


def _part(question: Question, mark: Mark) -> str:
    """What of it is right, in the pieces by which its kind is marked, and that it counts."""
    count, says = {
        "order": (len(question.options), "steps are in order"),
        "multi": (len(question.options), "options are judged right"),
        "match": (len(question.details.get("lefts", ())), "pairs are right"),
        "shape": (len(question.details.get("blanks", ())), "shapes are right"),
    }.get(question.kind, (0, ""))
    if not count:
        return f"{mark.credit:.0%} of it, which counts"
    return f"{round(mark.credit * count)} of {count} {says}, and count for that share"


def _labelled(label: str, text: str) -> list[str]:
    pieces = text.split("\n")
    if len(pieces) == 1:
        return prose(f"{label} {text}", 2)
    return [f"  {label}:", *(f"    {piece}" for piece in pieces)]


def _spelt_out(question: Question, mark: Mark) -> str:
    """The right answer, letters with what they stand for where those are short enough to be one line each."""
    if question.kind == "order":
        texts = [question.options[place].text for place in question.answer]
        lines = [f"{LETTERS[place]}  {text}" for place, text in zip(question.answer, texts, strict=True)]
        return "\n".join(lines) if max(map(len, lines)) <= min(width(), MAX_COLUMNS) - 4 else mark.right
    return mark.right


# --- the end ----------------------------------------------------------------------------------------------------------


def outcome_lines(result: Mapping[str, Any]) -> list[str]:
    """A sitting's score beside what was predicted, its topics, and what was sure but wrong."""
    if not result["answers"]:
        return ["No question was answered."]
    lines = [*_score(result), ""]
    longest = max(len(topic["title"]) for topic in result["topics"])
    if len(result["topics"]) > 1:
        lines += [_topic(topic, longest) for topic in result["topics"]]
        lines += [""]
    if result["sure_but_wrong"]:
        lines += [paint("Sure, but wrong", "strong")]
        lines += [line for each in result["sure_but_wrong"] for line in _sure(each)]
        lines += [""]
    return lines[:-1]


def _score(result: Mapping[str, Any]) -> list[str]:
    right = f"{result['right']} of {result['answers']} right"
    again = result["again"]
    if again["answers"]:
        right += f", and of {again['answers']} asked again {again['right']}"
    score = paint(f"{result['score']:.1f} of 10", "strong")
    lines = [f"This sitting: {score}   {right}"]
    says = f"Corrected for guessing; the 90% interval is {result['low']:.1f} to {result['high']:.1f}."
    lines += [paint(line, "quiet") for line in prose(says)]
    for key, when in (("predicted", "You predicted"), ("predicted_after", "After answering you said")):
        if result[key] is not None:
            lines += [f"{when} {result[key]:.1f}: {_off(result[key] - result['score'])}."]
    return lines


def _off(difference: float) -> str:
    if abs(difference) < 0.05:
        return "exactly so"
    return f"{abs(difference):.1f} too {'high' if difference > 0 else 'low'}"


def _topic(topic: Mapping[str, Any], longest: int) -> str:
    right, count = topic["right"], topic["answers"]
    return f"  {topic['title']:<{longest}}  {bar(right / count, 10, signs())}  {right} of {count}"


def _sure(each: Mapping[str, Any]) -> list[str]:
    says = "; ".join(f"you {said}" for said in each["says"]) or last_words(each["text"])
    return prose(f"- {each['title']}: {says}", 2)


def last_words(text: str, most: int = 90) -> str:
    """The last sentence of a question, in one line: what it asks, where nearly all on a topic begin alike."""
    sentences = _SENTENCE_ENDS.split(" ".join(text.split()))
    last = sentences.pop()
    if len(last) < TELLING and sentences:  # "Which one?" by itself names nothing
        last = f"{sentences.pop()} {last}"
    return cut(last, most)


def next_lines(commands: Sequence[tuple[str, str]]) -> list[str]:
    """Commands to go on with, and what each is for: beside them where there is room, else below."""
    longest = max(len(command) for command, _ in commands)
    beside = len(NEXT) + longest + 3 + max(len(says) for _, says in commands) <= width()
    lines: list[str] = []
    for number, (command, says) in enumerate(commands):
        head = f"{' ' * len(NEXT) if number else NEXT}{paint(command, 'command')}"
        if beside:
            lines += [f"{head}{' ' * (longest - len(command))}   {says}"]
        else:
            lines += [head, *prose(says, len(NEXT) + 2)]
    return lines
