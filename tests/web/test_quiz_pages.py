"""The quiz in the browser: one sitting with the terminal's, every answer kept, none marked twice."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest
from support.browser import Answer, Visitor, make_server
from support.course_files import ROOT
from support.learn_command import learn, start_workspace
from support.quiz_workspace import Workspace

from grader.course import load
from grader.quiz.kinds import KINDS
from grader.store import Store
from grader.store.quiz_log import QuizLog
from grader.web.questions.code_marks import mark_code


class Sitting:
    """A browser in the middle of a quiz, without its scripts: pages and forms do all of it."""

    def __init__(self, visitor: Visitor, workspace: Workspace) -> None:
        self.visitor, self.workspace = visitor, workspace

    def post(self, path: str, **fields: str | list[str]) -> Answer:
        return self.visitor.ask("POST", path, urlencode(fields, doseq=True))

    def begin(self, **fields: str) -> str:
        answer = self.post("/quiz", begin="yes", **fields)
        assert answer.status == 303
        return str(answer.headers["location"])

    def asked(self, address: str) -> dict[str, str]:
        """The hidden fields of the question that is asked now."""
        return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', self.visitor.read(address)))


@pytest.fixture
def sitting(tmp_path: Path) -> Iterator[Sitting]:
    """A workspace with a question of every kind."""
    workspace = Workspace(tmp_path, every_kind=True)
    with make_server(workspace.folder, workspace.course) as server:
        visitor = Visitor(server.make_link())
        visitor.enter()
        yield Sitting(visitor, workspace)


def test_every_kind_is_asked_answered_and_marked_to_the_end(sitting: Sitting) -> None:
    """What is no answer costs nothing, what is not known is said so, and the end has the score."""
    address = sitting.begin(topic="every_kind")
    words = set()
    for _ in range(2 * len(KINDS)):
        page = sitting.visitor.read(address)
        if "of 10</b> known" in page:
            break
        asked = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page))
        assert sitting.post(address, **asked, typed="x" * 1001, certainty="sure").status == 422
        answer = sitting.post(address, **asked, certainty="?")
        assert (answer.status, answer.headers["location"]) == (303, f"{address}/mark")
        words.add(re.search(r"<title>([^:]*)", sitting.visitor.read(f"{address}/mark"))[1])
    assert words == {"Not known yet"}
    assert "0.0 of 10</b> known" in sitting.visitor.read(address)
    assert {answer.typed for answer in sitting.workspace.log()} == {"?"}


def test_an_answer_counts_once_and_the_terminal_goes_on(sitting: Sitting) -> None:
    """Sent again it is not taken for the next question; `learn quiz` begins where the browser left."""
    address = sitting.begin(topic="every_kind")
    asked = sitting.asked(address)
    for _ in range(2):
        sitting.post(address, **asked, typed="?", certainty="?")
    assert len(sitting.workspace.log()) == 1
    assert sitting.begin(topic="every_kind") == address

    events = sitting.workspace.events("quiz", "every_kind", stdin="?\n")
    assert events[0]["resumed"] and events[0]["answered"] == 1
    assert events[1]["family"] == sitting.asked(address)["family"] or events[1]["number"] == 2
    assert len(sitting.workspace.log()) == 2


def test_an_answer_to_what_was_answered_meanwhile_is_told_not_to_count(sitting: Sitting) -> None:
    """Another one than the terminal's is shown with it, above the mark; in an exam above the next question."""
    address = sitting.begin(topic="every_kind")
    asked = sitting.asked(address)
    sitting.workspace.events("quiz", "every_kind", stdin="?\n")
    page = sitting.post(address, **asked, typed="9 <x>", certainty="sure").body.decode()
    assert "answered meanwhile, in a terminal or another window, with ?. That counts" in page
    assert "what you gave here does not: 9 &lt;x&gt;." in page and 'id="next"' in page
    assert [each.typed for each in sitting.workspace.log()] == ["?"]
    page = sitting.post(address, **asked, typed=" ", certainty="sure").body.decode()
    assert "with ?. That counts; here you gave none." in page and "does not:" not in page

    exam = sitting.begin(topic="every_kind", mode="exam")
    asked = sitting.asked(exam)
    sitting.post(exam, **asked, typed="?", certainty="?")
    page = sitting.post(exam, **asked, typed="9", certainty="sure").body.decode()
    assert "what you gave here does not: 9." in page and "2 of" in page and "answered meanwhile" in page
    assert sitting.post(exam, **asked, typed="?", certainty="?").status == 303


def test_of_answers_that_come_at_once_one_counts(sitting: Sitting) -> None:
    """Eight windows, or a key that bounces, answer each question once."""
    address = sitting.begin(topic="every_kind")
    for number in range(1, 6):
        fields = sitting.asked(address) | {"certainty": "?"}
        senders = [threading.Thread(target=lambda fields=fields: sitting.post(address, **fields)) for _ in range(8)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        assert len(sitting.workspace.log()) == number


def test_certainty_and_several_letters_are_kept(sitting: Sitting) -> None:
    """Options that are picked are one answer, marked one by one."""
    with Store.open(sitting.workspace.progress) as store:
        planned = QuizLog(store.database).begin_session("quiz", ["every_kind"], [("every_kind.multi", 1)])
    address = f"/quiz/{planned.session.id}"
    sitting.post(address, **sitting.asked(address), typed=["a", "b"], certainty="guess")

    assert "yours" in sitting.visitor.read(f"{address}/mark")
    last = sitting.workspace.log()[-1]
    assert (last.typed, last.certainty) == ("a b", "guess")


@pytest.mark.parametrize("kind", ["bug", "shape", "predict"])
def test_only_lines_that_are_asked_for_are_numbered(sitting: Sitting, kind: str) -> None:
    """Where a line is the answer, before the mark and after: beside a table of weights, row 0 would be 1."""
    with Store.open(sitting.workspace.progress) as store:
        planned = QuizLog(store.database).begin_session("quiz", ["every_kind"], [(f"every_kind.{kind}", 1)])
    address = f"/quiz/{planned.session.id}"
    pages = [sitting.visitor.read(address)]
    sitting.post(address, **sitting.asked(address), certainty="?")
    pages += map(sitting.visitor.read, (f"{address}/mark", "/report"))

    assert [("<pre" in page, 'class="numbered"' in page) for page in pages] == [(True, kind == "bug")] * 3


@pytest.mark.parametrize("text, shown", [
    ("x.view(B, T * H)", "`x.view(B, T * H)`"),
    ("Does m = x.sum(dim=1), in split_heads, change x?", "Does `m = x.sum(dim=1)`, in `split_heads`, change x?"),
    ("Then p = p / p.sum(), and", "Then `p = p / p.sum()`, and"),
    ("Is keepdim=True needed, e.g. for d_k = 4?", "Is `keepdim=True` needed, e.g. for d_k = 4?"),
    ("its `dim` is x.shape", "its `dim` is x.shape"),
    ("(2, 3)", "`(2, 3)`"), ("yes", "yes"), ("0.25, 0.5", "0.25, 0.5"),
    ("H = 4", "H = 4"), ("decoder (GPT)", "decoder (GPT)"),
])  # fmt: skip
def test_code_is_told_from_words_and_sizes(text: str, shown: str) -> None:
    """Questions are written for a terminal, without marks: a call or a setting is code, words and numbers not."""
    assert mark_code(text) == shown


@pytest.mark.parametrize("kind, typed, shown", [
    ("formula", "2n^2d", "<mn>2</mn><mo>·</mo><msup>"),
    ("formula", "<b>", "Not read yet: &quot;&lt;&quot; has no place in a formula."),
    ("formula", " ", ""), ("numeric", "3/4", "<mfrac>"), ("numeric", "1,024", "<mn>1024</mn>"), ("multi", "a", ""),
])  # fmt: skip
def test_a_formula_is_shown_as_it_is_read(sitting: Sitting, kind: str, typed: str, shown: str) -> None:
    """While it is typed, and nothing is answered by that; only where a formula or a number is asked for."""
    with Store.open(sitting.workspace.progress) as store:
        planned = QuizLog(store.database).begin_session("quiz", ["every_kind"], [(f"every_kind.{kind}", 1)])
    address = f"/quiz/{planned.session.id}"
    read = sitting.visitor.read(f"{address}/reading?{urlencode({'typed': typed})}")

    assert shown in unescape(read) if shown.startswith("<") else read == shown
    assert ('id="reading"' in sitting.visitor.read(address)) == (kind != "multi")
    assert sitting.workspace.log() == []


def test_what_was_missed_is_asked_again(sitting: Sitting) -> None:
    """The first page offers it; nothing else begins by looking at a page."""
    assert "Ask again" not in sitting.visitor.read("/quiz")
    address = sitting.begin(topic="every_kind")
    sitting.post(address, **sitting.asked(address), certainty="?")
    page = sitting.visitor.read("/quiz")
    assert "Ask again what is due or was missed (1)" in page
    assert "Not finished" in page and "1 of " in page

    review = sitting.begin(mode="review")
    assert review != address
    assert sitting.asked(review)["family"] == sitting.workspace.log()[0].family


def test_a_sitting_ends_with_its_last_answer(sitting: Sitting) -> None:
    """It waits while what was missed comes again, and says that; whoever leaves at the last mark has finished it."""
    with Store.open(sitting.workspace.progress) as store:
        planned = QuizLog(store.database).begin_session("quiz", ["every_kind"], [("every_kind.choice", 1)])
    address = f"/quiz/{planned.session.id}"
    sitting.post(address, **sitting.asked(address), certainty="?")
    page = sitting.visitor.read("/quiz")
    assert address in page and "all answered, what you missed comes again" in page

    assert "You missed one: it comes again." in sitting.visitor.read(address)
    sitting.post(address, **sitting.asked(address), certainty="?")
    assert "Not known yet" in sitting.visitor.read(f"{address}/mark")
    assert "Not finished" not in sitting.visitor.read("/quiz")
    page = sitting.visitor.read(address)
    assert "of 10</b> known" in page and "<p>Of 1 asked again 0 were right.</p>" in page


@pytest.mark.parametrize("path", ["/quiz/nope", "/quiz/nope/mark", "/quiz/nope/reading", "/quiz/..%2fx"])
def test_there_is_no_other_sitting(sitting: Sitting, path: str) -> None:
    """Nor a topic of another name."""
    page = sitting.visitor.ask("GET", path)
    assert page.status == 404 and ("..%2f" in path or "There is no such session here." in page.body.decode())
    assert sitting.post("/quiz", topic="nope").status == 404
    assert sitting.post("/quiz", topic="x" * 250_000).status == 404


def test_a_sitting_on_a_topic_that_is_gone_is_left_out(sitting: Sitting) -> None:
    """A new version of a course may have dropped it; the page of the quiz shows the rest."""
    address = sitting.begin(topic="every_kind")
    assert address in sitting.visitor.read("/quiz")
    with closing(sqlite3.connect(sitting.workspace.progress)) as file, file:
        file.execute("""UPDATE quiz_sessions SET topics = '["dropped"]'""")
    assert address not in sitting.visitor.read("/quiz")


def test_the_report_shows_what_was_missed_and_asks_it_again(sitting: Sitting) -> None:
    """With the answer and why, when it is due, and a button that asks it with other numbers."""
    assert "Nothing is verified yet" in sitting.visitor.read("/report")
    address = sitting.begin(topic="every_kind")
    asked = sitting.asked(address)
    sitting.post(address, **asked, certainty="?")
    page = sitting.visitor.read("/report")
    assert "What you missed" in page and "not known" in page
    assert "How many questions are due" in page
    assert re.search(r"What to do next.*<button name=.topic. value=.[a-z_]*.>(Begin|Ask me)</button>", page, re.DOTALL)

    again = sitting.begin(family=asked["family"])
    assert sitting.asked(again)["family"] == asked["family"]
    assert sitting.asked(again)["attempt"] != asked["attempt"]
    assert sitting.post("/quiz", family="every_kind.nope").status == 404


def test_the_report_has_the_pictures_that_were_drawn(tmp_path: Path) -> None:
    """As the lesson's page has them, of its last verdict; none is drawn for the report itself."""
    workspace = Workspace(tmp_path, every_kind=True)
    with make_server(workspace.folder, workspace.course) as server:
        visitor = Visitor(server.make_link())
        visitor.enter()
        lesson, *_ = load(workspace.course).lessons.values()
        before = visitor.read("/report")
        server.feed.publish(lesson.name, {"state": "passed", "pictures": "<figure>drawn</figure>"})
        after = visitor.read("/report")
    assert "What your exercises answer" not in before and "<figure>drawn</figure>" in after
    assert f"<h3>{lesson.title}</h3>" in after and "--pictures" in after


def test_the_report_shows_the_scores_that_were_seen(tmp_path: Path) -> None:
    """An exercise has the score there that `learn check` told, and that `learn list` and the first page show."""
    workspace = start_workspace(tmp_path / "work", ROOT)
    (workspace / "core/softmax.py").write_text(
        "def softmax(x, dim=-1):\n    return x.exp() / x.exp().sum(-1, keepdim=True)\n"
    )
    told = re.search(r"\d+\.\d", learn("check", "softmax", cwd=workspace, course=ROOT).stdout)[0]
    assert 1.0 < float(told) < 9.0
    with make_server(workspace, ROOT) as server:
        visitor = Visitor(server.make_link())
        visitor.enter()
        report, first = visitor.read("/report"), visitor.read("/")
    assert f'<th scope="row">softmax</th><td class="r">{told}</td>' in report
    assert re.search(rf'href="/lesson/softmax".{{0,200}}\b{re.escape(told)}\b', first, re.DOTALL)
    assert f"best {told}" in learn("list", cwd=workspace, course=ROOT).stdout


def test_code_in_a_question_stands_in_the_font_of_code(tmp_path: Path) -> None:
    """In the text, its names, the options and the explanation, as it is asked, marked and told in the report."""
    workspace = start_workspace(tmp_path / "work", ROOT)
    with Store.open(workspace / ".selfattend" / "progress.db") as store:
        planned = QuizLog(store.database).begin_session("quiz", ["softmax"], [("softmax.changed", 1)])
    address = f"/quiz/{planned.session.id}"
    with make_server(workspace, ROOT) as server:
        visitor = Visitor(server.make_link())
        visitor.enter()
        pages = [visitor.read(address)]
        visitor.ask("POST", address, "family=softmax.changed&attempt=1&certainty=%3F")
        pages += map(visitor.read, (f"{address}/mark", "/report"))
    for page in pages:
        assert "<code>m = x.amax()</code>" in page and page.count("<span><code>") > 2


def test_an_exam_shows_no_mark_before_its_end(sitting: Sitting) -> None:
    """Begun in the terminal it goes on here; neither a page of its own nor the report tells of a mark before that."""
    with Store.open(sitting.workspace.progress) as store:
        planned = QuizLog(store.database).begin_session(
            "exam", ["every_kind"], [("every_kind.multi", 1), ("every_kind.choice", 1)]
        )
    address = f"/quiz/{planned.session.id}"
    sitting.workspace.learn("quiz", "every_kind", "--exam", stdin="?\n")
    assert len(sitting.workspace.log()) == 1

    assert sitting.visitor.ask("GET", f"{address}/mark").headers["location"] == address
    assert "What you missed" not in sitting.visitor.read("/report")
    assert f'<a href="{address}">Exam: ' in sitting.visitor.read("/quiz")
    answer = sitting.post(address, **sitting.asked(address), certainty="?")
    assert answer.headers["location"] == address

    assert "All answered" in sitting.visitor.read(address)
    assert "What you missed" not in sitting.visitor.read("/report")
    assert sitting.post(address, expected="eleven").status == 422
    assert sitting.post(address, expected="4,5").status == 303
    page = sitting.visitor.read(address)
    assert "After answering you said 4.5: 4.5 too high." in page and page.count("Not known yet") == 2
    assert sitting.post(address, expected="9").status == 303
    with Store.open(sitting.workspace.progress) as store:
        ended = QuizLog(store.database).session(planned.session.id)
    assert ended and ended.session.finished and ended.session.predicted_after == 4.5


def test_the_assessment_is_begun_as_an_exam_with_what_is_expected(sitting: Sitting) -> None:
    """As `learn quiz --exam --predict 7` begins it; what is no score begins nothing."""
    assert sitting.post("/quiz", topic="", mode="exam", begin="yes", predicted="much").status == 422
    address = sitting.begin(topic="", mode="exam", predicted="7/10")
    assert sitting.begin(topic="", mode="exam") == address
    assert sitting.begin(topic="") != address
    with Store.open(sitting.workspace.progress) as store:
        first, _ = QuizLog(store.database).sessions()
    assert (first.mode, first.predicted) == ("exam", 7.0)
    [begun, *_] = sitting.workspace.events("quiz", "every_kind", "--exam", stdin="?\n")
    assert begun["resumed"] and begun["mode"] == "exam"


def test_what_one_expects_is_asked_before_the_first_question(sitting: Sitting) -> None:
    """For a topic and for three questions beside a lesson, too, and set beside the score; what waits goes on."""
    page = sitting.post("/quiz", topic="every_kind", few="yes").body.decode()
    form = dict(re.findall(r'name="(\w+)" value="([^"]*)"', page))
    assert "3 questions, about 2 minutes" in page and 'class="question"' in page
    assert form == {"begin": "yes", "topic": "every_kind", "few": "yes", "predicted": ""}

    address = str(sitting.post("/quiz", **form | {"predicted": "7/10"}).headers["location"])
    assert sitting.post("/quiz", topic="every_kind").headers["location"] == address
    for _ in range(6):
        sitting.post(address, **sitting.asked(address), certainty="?")
    assert "You predicted 7.0: 7.0 too high." in sitting.visitor.read(address)


def test_one_topic_is_begun_as_an_exam(sitting: Sitting) -> None:
    """As `learn quiz TOPIC --exam` begins it: the box is in the topics' form, below their heading; no mark follows."""
    sections = re.findall("<section>.*?</section>", sitting.visitor.read("/quiz"), re.DOTALL)
    [section] = [each for each in sections if 'value="every_kind"' in each]
    assert section.startswith("<section><h2>One topic</h2>\n<form") and section.count("<form") == 1
    assert 'name="mode" value="exam"' in section

    address = sitting.begin(topic="every_kind", mode="exam")
    answer = sitting.post(address, **sitting.asked(address), certainty="?")

    assert (answer.status, answer.headers["location"]) == (303, address)
    [begun, *_] = sitting.workspace.events("quiz", "every_kind", "--exam", stdin="?\n")
    assert begun["id"] == address.rpartition("/")[2]
