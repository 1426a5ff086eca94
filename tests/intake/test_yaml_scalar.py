"""Names and ids in Gradescope's metadata, however Ruby's YAML writer writes them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grader.intake.formats.gradescope_metadata import Submitter, read_metadata
from grader.intake.formats.yaml_scalar import MAX_VALUE_CHARS, read_scalar

PERSON = "submission_1:\n  :submitters:\n  - :name: {name}\n    :sid: {sid}\n    :email: ann@x.edu\n"


def person(name: str, sid: str = "'7'") -> Submitter:
    """The only person of a submission, with this name and number as they are written there."""
    (found,) = read_metadata(PERSON.format(name=name, sid=sid)).values()
    (submitter,) = found.submitters
    return submitter


@pytest.mark.parametrize("written, name", [
    (r'"J\xE9r\xF4me \"Jay\" O' + "'" + r'Neil\\"', 'Jérôme "Jay" O\'Neil\\'), (r'"Ann \U0001F600"', "Ann \U0001f600"),
    (r'"Ann \uD83D\uDE00 \u00E9\_\/"', "Ann \U0001f600 é\xa0/"), (r'"a\Nb\Lc\Pd\e\0"', "a\x85b\u2028c\u2029d\x1b\0"),
    (r'"\uD83D \UFFFFFFFF \x4 \q"', "\ufffd \ufffd x4 q"), ("'O''Brien: \"PhD\"'", 'O\'Brien: "PhD"'), ("''''", "'"),
    ("&1 Ann Lee", "Ann Lee"), ("&1 'Ann Lee'", "Ann Lee"), ("*1", ""), ("! 'Ann'", ""), ("~", ""), ("", ""),
    ("|2-", ""),
    ("A name that is\n      folded\n      twice", "A name that is folded twice"),
    ("'It''s: \r\n      folded''\r\n\r\n      twice'", "It's: folded'\ntwice"),
    ('"a name: \\xE9\n      \\  folded\\\n      twice"', "a name: é   foldedtwice"),
    ('"open\n      for ever', "open for ever"),
    ("|-\n      Ann\n      Lee", ""),
    ("!binary |-\n      w6k=", ""), ("Ann\n      :sid: '666'", "Ann :sid: '666'"),
])  # fmt: skip
def test_a_name_is_read_however_it_is_written(written, name):
    """Escapes, folds and quotes are YAML's; what has no value here leaves the number and the address as they are."""
    assert person(written) == Submitter(name, "7", "ann@x.edu")


@pytest.mark.parametrize("sid", ["!binary |-\n      w6k=", "*1", "! '8'", "null", ">-\n      8"])
def test_what_only_a_tag_explains_is_no_number(sid):
    """Two people whose numbers are written so would be one."""
    assert person("Ann", sid) == Submitter("Ann", "", "ann@x.edu")


@pytest.mark.parametrize("when", ["!ruby/object:Time", "*1", "soon"])
def test_a_time_that_is_explained_elsewhere_is_told(when):
    """It is no time that is read, so whoever deducts for late work has to know."""
    (found,) = read_metadata(f"submission_1:\n  :created_at: {when}\n").values()

    assert found.submitted is None and found.unread == (when, 2)


def double_quoted(text: str) -> str:
    """Write a text as libyaml does: escaped but for printed ASCII, and folded at blanks behind column 80."""
    lines, line = [], '"'
    for place, sign in enumerate(text):
        more, last = text[place + 1 : place + 2], line.endswith(" ")
        if sign == " " and len(line) > 40 and more and not last:
            lines, line = [*lines, line], "\\" if more == " " else ""
        elif sign in '"\\':
            line += f"\\{sign}"
        elif sign.isascii() and sign.isprintable():
            line += sign
        else:
            line += f"\\x{ord(sign):02X}" if ord(sign) < 256 else f"\\U{ord(sign):08X}"
    return "\n      ".join([*lines, f'{line}"'])


@given(
    st.text(st.one_of(st.sampled_from(" \\\"'ab"), st.characters(codec="utf-8")), min_size=1, max_size=MAX_VALUE_CHARS)
)
@example("a" * 50 + "  \\ " * 20)
def test_any_name_is_read_as_it_was(name):
    """Whatever signs it has, and over however many lines it is written."""
    assert person(double_quoted(name)).name == name


@given(st.lists(st.text(st.sampled_from("'\"\\xU0 \t\r&!*|>-ab"), max_size=12), min_size=1, max_size=5))
def test_any_lines_give_a_value(lines):
    """Nothing raises, and a value is never longer than a name may be."""
    assert len(read_scalar(lines[0], [f"      {line}" for line in lines[1:]])) <= MAX_VALUE_CHARS
