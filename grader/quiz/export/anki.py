"""Write questions for Anki's import, with a lasting id: importing again updates a note and keeps its schedule.

The format is that of https://docs.ankiweb.net/importing/text-files.html: lines of settings, then a note a line.
"""

from __future__ import annotations

from collections.abc import Sequence

from grader.quiz.bank.bank import Bank
from grader.quiz.export.cards import Card, Export, right_answer_lines, shown_code, wrong_answers
from grader.quiz.export.html import code_block, full_answer, inline, make_list, to_html
from grader.quiz.kinds import KINDS
from grader.quiz.kinds.kind import letter_options
from grader.quiz.model import OpenQuestion, Question

NOTE_TYPE = "selfattend"
FIELDS = ("Id", "Question", "Answer")
HEAD = (
    "#separator:Tab",
    "#html:true",
    f"#notetype:{NOTE_TYPE}",
    "#deck:selfattend",
    f"#columns:{chr(9).join([*FIELDS, 'Tags'])}",
    f"#tags column:{len(FIELDS) + 1}",
)
NOTES = (
    f"Once, before the first import: Tools > Manage Note Types > Add > Add: Basic, call it {NOTE_TYPE}. Under Fields "
    f"make it {', '.join(FIELDS)}, in this order; under Cards put {{{{Question}}}} on the front and {{{{Answer}}}} "
    "behind {{FrontSide}}.",
    "Then File > Import. Import a later export in the same way: notes are found by their id, so nothing comes twice "
    "and no schedule is lost.",
)


def to_anki(bank: Bank, cards: Sequence[Card]) -> Export:
    """Write a file for File > Import."""
    lines = [*HEAD, *("\t".join(_note(bank, card)) for card in cards)]
    return Export("\n".join(lines) + "\n", len(cards), NOTES)


def _note(bank: Bank, card: Card) -> list[str]:
    question = card.question
    if isinstance(question, OpenQuestion):
        front, back, kind = to_html(question.asks), full_answer(question), "open"
    else:
        front, back, kind = _front(question), _back(bank, question), question.kind
    return [card.id, _escape_field(front), _escape_field(back), f"selfattend::{card.topic.name} selfattend::{kind}"]


def _front(question: Question) -> str:
    asked = f"{to_html(question.text)}{code_block(shown_code(question))}{make_list(question.parts, 'ol')}"
    letters = "<br>".join(
        f"<b>{letter}</b> {inline(option.text)}" for letter, option in letter_options(question.options)
    )
    options = f"<p>{letters}</p>" if letters else ""
    how = inline(KINDS[question.kind].instructions(question))
    return f"{asked}{options}<p><small>{how}</small></p>"


def _back(bank: Bank, question: Question) -> str:
    answer = "<br>".join(map(inline, right_answer_lines(question)))
    said = make_list([f"{answer}: {text}" for answer, text in wrong_answers(bank, question)])
    return f"<p><b>{answer}</b></p>{to_html(question.explain)}{said}{code_block(question.prove)}"


def _escape_field(html: str) -> str:
    """Escape HTML for a field: no tabs, line ends or quotation marks, one of which would begin a quoted field.

    There are no attributes, so `&quot;` means the same everywhere.
    """
    return html.replace("\t", "    ").replace("\n", "<br>").replace('"', "&quot;")
