"""Questions leave for Anki, Moodle and paper, and come out there as they went in."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import gift_reader
from support.learn_command import ROOT
from support.quiz_every_kind import write_every_kind
from support.quiz_maker import write_bank
from support.quiz_workspace import Workspace

from grader.quiz.bank.bank import Bank
from grader.quiz.export import FORMATS, export
from grader.quiz.export.cards import make_cards, wrong_answers
from grader.quiz.export.gift import escape
from grader.quiz.kinds import KINDS
from grader.quiz.model import Question


@pytest.fixture(scope="module")
def ours():
    """The questions of our own course."""
    return Bank(ROOT / "lessons")


@pytest.fixture
def every_kind(tmp_path):
    """A bank with a question of each kind, and an open one."""
    return write_every_kind(tmp_path)


def by_id(questions):
    """Questions by the kind of ours in their id, as `every_kind.choice#1`."""
    return {question.id.partition("#")[0].partition(".")[2]: question for question in questions}


def plain(html: str) -> str:
    """HTML as it reads."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def signs(text: str) -> str:
    """A text without spaces, and without what sets off code."""
    return re.sub(r"\s", "", text.replace("`", ""))


# ---- what is exported ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_id_stays_and_no_two_are_equal(ours):
    """A second export has the same ids and texts, and more variants only add to them."""
    one, three = make_cards(ours, ours.names, 1), make_cards(ours, ours.names, 3)

    assert [card.id for card in one] == [card.id for card in make_cards(ours, ours.names, 1)]
    assert len({card.id for card in three}) == len(three) > len(one)
    later = {card.id: card.question for card in three}
    assert all(later[card.id] == card.question for card in one)


def test_variants_of_a_family_ask_different_things(tmp_path):
    """Three variants have three texts; a family without numbers comes as often as it differs."""
    bank = write_bank(tmp_path, ["heads"], families=2)
    found = [card for card in make_cards(bank, ["heads"], 3) if isinstance(card.question, Question)]

    drawn = [card.question.text for card in found if card.question.kind == "numeric"]
    assert len(drawn) == len(set(drawn)) == 6
    assert [card.id for card in found if card.question.kind == "choice"] == ["heads.choice#1"]


@pytest.mark.parametrize("form", FORMATS)
def test_all_of_our_questions_can_be_exported(ours, form):
    """Every family and every open question of the course is in each format."""
    made = export(ours, ours.names, form)
    families = [family.id for topic in ours.topics() for family in topic.families]

    assert made.questions == len(families) + sum(topic.open is not None for topic in ours.topics())
    assert all(f"{family}#1" in made.text for family in families)


# ---- GIFT ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_moodle_reads_all_of_our_questions(ours):
    """Each block is a question that Moodle's rules accept, with its id, its category and an explanation."""
    found = gift_reader.read(export(ours, ours.names, "gift", 2).text)

    assert [question.id for question in found] == [card.id for card in make_cards(ours, ours.names, 2)]
    assert all(question.category.startswith("selfattend/") and question.text for question in found)
    assert all(question.feedback for question in found)


def test_gift_keeps_numbers_tolerance_and_the_feedback_of_each_wrong_answer(every_kind):
    """A numeric question has its tolerance, and a wrong value its own feedback and no credit."""
    question = by_id(gift_reader.read(export(every_kind, ["every_kind"], "gift").text))["numeric"]

    assert question.kind == "numerical"
    (right, (value, tolerance), _), (none, (other, _), feedback) = question.answers
    assert (right, value, tolerance) == (100, 64, 0)
    assert (none, other) == (0, 8)
    assert "the square root of what was asked for" in feedback


def test_a_numeric_answer_with_a_tolerance_says_so(ours):
    """What our own marking accepts, Moodle accepts: the same distance around the same number."""
    found = {question.id: question for question in gift_reader.read(export(ours, ours.names, "gift").text)}
    checked = 0
    for card in make_cards(ours, ours.names, 1):
        if isinstance(card.question, Question) and card.question.kind == "numeric" and card.question.details["rtol"]:
            details, (_, (value, tolerance), _) = card.question.details, found[card.id].answers[0]
            assert value == pytest.approx(card.question.answer, rel=1e-9)
            assert tolerance == pytest.approx(details["atol"] + details["rtol"] * abs(value), rel=1e-4)
            checked += 1
    assert checked > 5


def test_each_option_of_a_choice_has_its_feedback(every_kind):
    """A wrong option says which idea is behind it; one option is right."""
    question = by_id(gift_reader.read(export(every_kind, ["every_kind"], "gift").text))["choice"]

    assert sorted(weight for weight, _, _ in question.answers) == [0, 0, 100]
    for weight, option, feedback in question.answers:
        assert option
        assert feedback.startswith("You ") == (weight == 0)


def test_several_right_options_share_the_credit(every_kind):
    """Right ones add up to 100, wrong ones take it away, and "none" is always there, so that it tells nothing."""
    question = by_id(gift_reader.read(export(every_kind, ["every_kind"], "gift").text))["multi"]
    weights = {option: weight for weight, option, _ in question.answers}

    assert weights == {"attention": 100, "the feed-forward network": -50, "layer norm": -50, "None of these": -100}


def test_kinds_that_gift_lacks_become_the_nearest_one(every_kind):
    """Shapes and orders become matching, and what cannot be compared an essay; how many is said."""
    made = export(every_kind, ["every_kind"], "gift")
    found = by_id(gift_reader.read(made.text))

    assert found["shape"].kind == found["order"].kind == found["match"].kind == "match"
    assert ("q, after the first product", "(2, 3, 8)") in found["shape"].answers
    assert found["order"].answers[0] == ("The first step", "project x to q, k and v")
    assert found["formula"].kind == found["open"].kind == "essay"
    assert found["bug"].kind == "choice"
    assert next(option for weight, option, _ in found["bug"].answers if weight == 100).startswith("2 ")
    assert [note.split()[0] for note in made.notes] == ["2", "2"]


def test_what_is_printed_is_compared_with_and_without_spaces(every_kind):
    """Short answers list the ways to write the same, and a known wrong output has feedback and no credit."""
    question = by_id(gift_reader.read(export(every_kind, ["every_kind"], "gift").text))["predict"]
    weights = {answer: weight for weight, answer, _ in question.answers}

    assert question.kind == "short"
    assert weights["tensor([3, 6])"] == weights["[3,6]"] == 100
    assert weights["tensor([3, 6, 0])"] == 0


@settings(deadline=None)
@given(st.text(alphabet="ab ~=#{}:\\n\n%->*[]", max_size=40))
def test_no_sign_of_gift_is_lost_or_means_anything(text):
    """Whatever a text holds, it comes back as it was, and the block stays one question."""
    block = f"::{escape('x' + text)}::[html]{escape('x' + text)} {{=[html]{escape('x' + text)} ~[html]b}}"
    (question,) = gift_reader.read(block)

    assert question.name == "x" + text
    assert question.text == ("x" + text).strip()
    assert question.answers[0][1] == ("x" + text).strip()


# ---- Markdown --------------------------------------------------------------------------------------------------------


def test_markdown_has_questions_first_and_answers_after(every_kind):
    """Nothing of an answer stands before the answers, and the numbers are the same."""
    text = export(every_kind, ["every_kind"], "markdown").text
    questions, _, answers = text.partition("# Answers")

    assert "variances of independent terms add up" in answers
    assert "variances of independent terms add up" not in questions
    assert re.findall(r"^### (\d+)$", questions, re.M) == re.findall(r"^### (\d+): answer$", answers, re.M)
    assert "```python\nx = torch.randn(2, 3, 8)" in questions
    assert "**64**" in answers


def test_markdown_shows_signs_as_they_are(ours):
    """Read by a Markdown parser, each question's text has the same signs as on our screen."""
    markdown_it = pytest.importorskip("markdown_it", reason="needs markdown-it-py, which rich brings along")
    text = export(ours, ours.names, "markdown").text
    read = signs(plain(markdown_it.MarkdownIt().render(text)))

    for card in make_cards(ours, ours.names, 1):
        if isinstance(card.question, Question):
            assert signs(re.sub(r"(?m)^\s*-\s+", "", card.question.text)) in read, card.id


# ---- Anki ------------------------------------------------------------------------------------------------------------


def collection(folder):
    """A collection of the real program, with the note type that the command's own words ask for."""
    anki = pytest.importorskip("anki.collection", reason="needs anki: pip install -e .[anki]")
    made = anki.Collection(str(folder / "collection.anki2"))
    kind = made.models.new("selfattend")
    for name in ("Id", "Question", "Answer"):
        made.models.add_field(kind, made.models.new_field(name))
    template = made.models.new_template("Card 1")
    template["qfmt"], template["afmt"] = "{{Question}}", "{{FrontSide}}<hr id=answer>{{Answer}}"
    made.models.add_template(kind, template)
    made.models.add(kind)

    def take(path):
        request = anki.ImportCsvRequest(path=str(path), metadata=made.get_csv_metadata(str(path), None))
        return made.import_csv(request).log

    return made, take


def test_anki_imports_it_and_a_second_import_keeps_the_schedule(tmp_path, ours):
    """Every question is a note; after a review, importing again makes no second note and keeps the interval."""
    made, take = collection(tmp_path)
    try:
        path = tmp_path / "cards.txt"
        path.write_text(export(ours, ours.names, "anki", 2).text, encoding="utf-8")
        expected = [card.id for card in make_cards(ours, ours.names, 2)]
        assert len(take(path).new) == made.note_count() == len(expected)
        assert {made.get_note(note).fields[0] for note in made.find_notes("")} == set(expected)

        made.sched.set_due_date(made.find_cards(""), "5")
        before = {card: (made.get_card(card).ivl, made.get_card(card).due) for card in made.find_cards("")}
        again = take(path)
        assert (len(again.new), made.note_count()) == (0, len(expected))
        assert {card: (made.get_card(card).ivl, made.get_card(card).due) for card in made.find_cards("")} == before
    finally:
        made.close()


def test_anki_takes_a_corrected_text_into_the_note_it_has(tmp_path, every_kind):
    """A question whose text was changed is the same note with the new text, its schedule kept."""
    made, take = collection(tmp_path)
    try:
        path = tmp_path / "cards.txt"
        text = export(every_kind, ["every_kind"], "anki").text
        path.write_text(text, encoding="utf-8")
        take(path)
        made.sched.set_due_date(made.find_cards(""), "5")
        path.write_text(text.replace("What does softmax do in attention?", "And softmax?"), encoding="utf-8")
        log = take(path)

        (note,) = made.find_notes('"And softmax?"')
        assert (len(log.new), len(log.first_field_match), made.note_count()) == (0, 1, 10)
        assert made.get_note(note).cards()[0].ivl == 5
    finally:
        made.close()


def test_anki_shows_question_and_answer_whole(tmp_path, every_kind):
    """A card's front asks and its back answers, with the signs of the text and no tag left over."""
    made, take = collection(tmp_path)
    try:
        path = tmp_path / "cards.txt"
        path.write_text(export(every_kind, ["every_kind"], "anki").text, encoding="utf-8")
        take(path)
        for card in make_cards(every_kind, ["every_kind"], 1):
            (note,) = made.find_notes(f'"Id:{card.id}"')
            shown = made.get_note(note).cards()[0].render_output()
            asked = card.question.text if isinstance(card.question, Question) else card.question.asks
            assert signs(re.sub(r"\s-\s", " ", asked)) in signs(plain(shown.question_text))
            assert "<script" not in shown.answer_text
            if isinstance(card.question, Question):
                said = [text for _, text in wrong_answers(every_kind, card.question)]
                assert all(signs(text) in signs(plain(shown.answer_text)) for text in said)
    finally:
        made.close()


def test_a_line_of_the_anki_file_is_a_note(ours):
    """No field holds a tab or an end of line: the id, the question, the answer and the tags are four columns."""
    lines = export(ours, ours.names, "anki", 2).text.rstrip("\n").split("\n")
    notes = [line for line in lines if not line.startswith("#")]

    assert {line.count("\t") for line in notes} == {3}
    assert [line.partition("\t")[0] for line in notes] == [card.id for card in make_cards(ours, ours.names, 2)]
    assert lines[:2] == ["#separator:Tab", "#html:true"]


# ---- the command -----------------------------------------------------------------------------------------------------


def test_the_command_writes_the_topics_that_are_named(tmp_path):
    """`learn quiz export` takes beginnings of topics, writes a file, and says how many and what to do with it."""
    here = Workspace(tmp_path)
    done = here.learn("quiz", "export", "topic3", "topic4", "--format", "anki", "--out", "cards.txt")

    assert done.returncode == 0, done.stderr
    assert "12 questions written to cards.txt" in done.stdout
    assert "Manage Note Types" in done.stdout
    text = (here.folder / "cards.txt").read_text()
    assert "topic3.n1#1\t" in text
    assert "topic5" not in text


def test_without_a_file_the_questions_are_printed_and_nothing_else(tmp_path):
    """Standard output has the document alone, so that it can be redirected; what to know goes beside it."""
    here = Workspace(tmp_path, every_kind=True)
    done = here.learn("quiz", "export", "--format", "gift")

    assert len(gift_reader.read(done.stdout)) == len(KINDS) + 1
    assert "became essays" in done.stderr


def test_an_unknown_topic_and_a_place_that_cannot_be_written_are_said(tmp_path):
    """Both end with code 2, what was wrong and the next command."""
    here = Workspace(tmp_path)

    unknown = here.learn("quiz", "export", "topic77", "--format", "gift")
    assert unknown.returncode == 2
    assert "learn quiz list" in unknown.stderr
    nowhere = here.learn("quiz", "export", "--format", "gift", "--out", "no/such/folder/file")
    assert nowhere.returncode == 2
    assert "name another file with --out" in nowhere.stderr
