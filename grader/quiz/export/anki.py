"""Anki's import as text, with our id in the first field: importing again updates a note and keeps its schedule.

The form is that of https://docs.ankiweb.net/importing/text-files.html: lines of settings, then a note a line.
"""

from __future__ import annotations

from collections.abc import Sequence

from grader.quiz.bank.bank import Bank
from grader.quiz.export.cards import Card, Exported, how, numbered, right, wrong
from grader.quiz.export.html import code, inline, items, prose
from grader.quiz.kinds.kind import lettered
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


def anki(bank: Bank, cards: Sequence[Card]) -> Exported:
    """A file for File > Import."""
    lines = [*HEAD, *("\t".join(_note(bank, card)) for card in cards)]
    return Exported("\n".join(lines) + "\n", len(cards), NOTES)


def _note(bank: Bank, card: Card) -> list[str]:
    tags = f"selfattend::{card.topic.name}"
    if card.opened:
        return [card.id, _field(prose(card.opened.asks)), _field(_open_back(card.opened)), f"{tags} selfattend::open"]
    assert card.question is not None
    front, back = _front(card.question), _back(bank, card.question)
    return [card.id, _field(front), _field(back), f"{tags} selfattend::{card.question.kind}"]


def _front(question: Question) -> str:
    text = code(numbered(question.code) if question.kind == "bug" else question.code)
    named = items(question.details.get("blanks", ()) or question.details.get("lefts", ()), "ol")
    letters = "<br>".join(f"<b>{letter}</b> {inline(option.text)}" for letter, option in lettered(question.options))
    options = f"<p>{letters}</p>" if letters else ""
    return f"{prose(question.text)}{text}{named}{options}<p><small>{inline(how(question))}</small></p>"


def _back(bank: Bank, question: Question) -> str:
    answer = "<br>".join(map(inline, right(question)))
    said = items([f"{answer}: {text}" for answer, text in wrong(bank, question)])
    return f"<p><b>{answer}</b></p>{prose(question.explain)}{said}{code(question.prove)}"


def _open_back(question: OpenQuestion) -> str:
    points = items([f"It {point.says}." for point in question.key_points])
    return f"<p>A full answer:</p>{points}{prose(question.model_answer)}"


def _field(html: str) -> str:
    """HTML that may stand in a field: no tabs, no ends of lines, and no quotation mark where one would begin a field.

    `&quot;` is as good everywhere, since there are no attributes.
    """
    return html.replace("\t", "    ").replace("\n", "<br>").replace('"', "&quot;")
