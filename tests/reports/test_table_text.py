"""Tables that spreadsheets save in different encodings: what is read of them, and what is written into them."""

from __future__ import annotations

import codecs
import csv
import html
import io
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grader.files import decode_table, encode_table, fit_html
from grader.record import Record
from grader.reports.gradebook.csv_sheet import Sheet
from grader.reports.gradebook.fill_column import Filled
from grader.reports.gradebook.marks import COMMENT_BEGINS, Mark, Rule, make_marks
from grader.reports.gradebook.moodle import fill_moodle
from grader.reports.html_document import harmless

SAVED = {
    "utf-8": "€ – ’ →".encode(),
    "utf-16-le": codecs.BOM_UTF16_LE + "€ – ’ →".encode("utf-16-le"),
    "utf-16-be": codecs.BOM_UTF16_BE + "€ – ’ →".encode("utf-16-be"),
    "Windows-1252": "€ – ’ é".encode("cp1252") + b"\x81\x8d\x8f\x90\x9d",
}


@pytest.mark.parametrize("encoding", SAVED)
def test_a_table_is_read_in_the_encoding_it_was_saved_in(encoding):
    """Signs that Western spreadsheets write between 0x80 and 0x9f are read as what they are; a guess is told."""
    read = decode_table(SAVED[encoding])

    assert (read.encoding, "€ – ’" in read.text) == (encoding, True)
    assert ("Windows-1252" in read.note("this")) == (encoding == "Windows-1252")


@given(st.binary(max_size=20))
def test_any_bytes_are_written_as_they_were_read(content):
    """Whatever a file holds, what is not changed stays as it is."""
    try:
        read = decode_table(content)
    except UnicodeDecodeError:
        assert content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        return
    assert encode_table(read.text, read.encoding) == content


# --- what goes into a worksheet ---------------------------------------------------------------------------------------

WORKSHEET = (
    "Identifier,Full name,Grade,Maximum Grade,Feedback comments\r\n"
    'Participant 1,José Zuse,-,10.00,\r\nParticipant 2,"Hopper, Zoë",7.00,10.00,"<p>Good, ""so""</p>"\r\n'
)
worksheets = st.sampled_from([
    WORKSHEET.encode(), b"\xef\xbb\xbf" + WORKSHEET.encode(), WORKSHEET.encode("cp1252"), WORKSHEET.encode("utf-16"),
    codecs.BOM_UTF16_BE + WORKSHEET.encode("utf-16-be"), WORKSHEET.replace(",", ";").encode("cp1252"),
])  # fmt: skip
# what has stopped programs, or been taken for more than text, and any other sign, halves of characters among them
signs = st.one_of(
    st.sampled_from("→≤€\0\x1b\x85\ufeff\u2028\u202e\ud800\U0001f600\r\n\t,;\"'=+@-`&<>"), st.characters()
)


def fill(worksheet: bytes, comment: str) -> Filled:
    """Give the first learner of a worksheet a grade with a comment."""
    return fill_moodle(Sheet(worksheet), [Mark("1", "1", "", 1, 0.5, comment=comment)], assignment="Grade")


def read_back(content: bytes) -> list[list[str]]:
    """Read a file as spreadsheets do."""
    text = decode_table(content).text.removeprefix("\ufeff")
    delimiter = ";" if text.startswith("Identifier;") else ","
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


def with_note(says: str) -> str:
    """The comment on a hand-in of which a note quotes a learner's words."""
    given = {"id": "1", "learner": "1", "name": "", "attempt": 1, "late": False, "source": "1", "digest": "d"}
    more = {"score": 1.0, "complete": True, "states": {"graded": 1}, "problem": "", "duration_s": 1.0, "lessons": {}}
    record = Record.from_json({**given, **more, "previous": None, "notes": [f"It says {says}"]})
    (mark,) = make_marks([record], Rule("softmax"))
    return mark.comment


@given(worksheets, st.text(signs, max_size=30))
@example(WORKSHEET.encode("cp1252"), "→ ≤")
@example(WORKSHEET.encode("cp1252"), "\x80\ud800")
def test_no_text_of_a_learner_stops_or_changes_an_export(worksheet, says):
    """Whatever they wrote, all of it stands in their comment in any encoding, and every other cell stays."""
    filled = fill(worksheet, with_note(says))
    before, rows = read_back(worksheet), read_back(filled.content)
    comment = rows[1].pop()

    assert "".join(harmless(" ".join(says.split())).split()) in "".join(_text(comment).split())
    assert rows[1] == [*before[1][:2], "5.00", before[1][3]]
    assert (rows[0], rows[2]) == (before[0], before[2])
    assert fill(filled.content, with_note(says)).content == filled.content


def _text(comment: str) -> str:
    """What a browser shows of a comment, with the signs that set code off."""
    return html.unescape(re.sub(r"</?(?:div|p)\b[^>]*>", "", comment.replace("<code>", "`").replace("</code>", "`")))


@given(worksheets, st.text(signs, max_size=30))
def test_no_text_at_all_stops_an_export(worksheet, text):
    """A comment that nobody has cleaned is written as well, and what is written again is the same."""
    comment = f"{COMMENT_BEGINS}{html.escape(text)}</div>"
    filled = fill(worksheet, comment)

    assert filled.comments == 1 and fill(filled.content, comment).comments == 0
    encoding = decode_table(worksheet).encoding
    assert read_back(filled.content)[1][-1] == fit_html(comment, encoding)


@pytest.mark.parametrize("encoding", SAVED)
def test_a_sign_that_an_encoding_lacks_is_a_number_in_html_alone(encoding):
    """A browser shows the same; in a cell that is no HTML a question mark stands for it, and nothing raises."""
    sheet = Sheet(SAVED[encoding] + ("," if not encoding.startswith("utf-16") else "").encode())
    lacking = encoding == "Windows-1252"

    assert fit_html("€ → \ud800", encoding) == f"€ {'&#8594;' if lacking else '→'} &#55296;"
    written = decode_table(sheet.with_values({(0, 0): "→€\ud800"})).text
    assert ("?€?" if lacking else "→€?") in written
