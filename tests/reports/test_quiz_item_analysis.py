"""Logs that learners hand in, and what they say of the questions."""

from __future__ import annotations

import json
import os
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.command_server import run_command
from support.learn_command import ROOT, environment
from support.quiz_workspace import Workspace
from support.read_page import Page

from grader.errors import UsageError
from grader.reports.pages.quiz_items_page import quiz_items_page
from grader.reports.statistics.item_analysis import MIN_TRIED
from grader.reports.statistics.quiz_item_analysis import FLAGS, MAX_TAGS, analyse
from grader.reports.statistics.quiz_logs import FORMAT, MAX_FAMILIES, MAX_LOGS, LoggedAnswer, log_files, read_logs

ITEMS = [f"heads.q{number}" for number in range(10)]


def logged(learner: str, n: int, family: str, credit: float = 1.0, **changes) -> LoggedAnswer:
    """One answer, right unless it is said otherwise."""
    facts: dict[str, Any] = {
        "topic": family.partition(".")[0], "kind": "numeric", "variant": 1, "first": True, "certainty": "fairly",
        "tags": (), "seconds": 10.0, "drawn": (), "offered": (),
    }  # fmt: skip
    return LoggedAnswer(learner=learner, n=n, family=family, credit=credit, **(facts | changes))


def a_class(learners: int, seed: int = 1, items=ITEMS) -> list[LoggedAnswer]:
    """Learners of different strength, each of whom answers every item once."""
    chance = random.Random(seed)
    found = []
    for who in range(learners):
        strength = chance.random()
        for n, family in enumerate(items, 1):
            right = chance.random() < 0.15 + 0.7 * strength
            found.append(logged(f"l{who}", n, family, float(right)))
    return found


def item_of(table, family):
    return next(item for item in table["items"] if item["family"] == family)


def line(**changes) -> str:
    facts = {
        "format": FORMAT, "schema": 1, "learner": "ab12", "n": 1, "family": "heads.q1", "topic": "heads",
        "kind": "numeric", "variant": 1, "mode": "quiz", "first": True, "credit": 1, "guess": 0.02,
        "certainty": "sure", "tags": [], "seconds": 3.5, "drawn": {"d": 64}, "offered": [],
    }  # fmt: skip
    return json.dumps(facts | changes)


def items(*arguments: str, cwd):
    """`grader items ARGUMENTS`."""
    return run_command("grader", "items", *arguments, cwd=cwd, env=environment(ROOT))


# ---- what a learner hands in -----------------------------------------------------------------------------------------


def test_a_learners_export_has_a_random_id_and_nothing_typed(tmp_path):
    """The file says what was answered and how, and neither a name nor a time nor a text."""
    here = Workspace(tmp_path)
    here.learn("quiz", "topic1", stdin="123456789 | sure\nb | guess\n" * 8)
    done = here.learn("quiz", "log", "--out", "log.jsonl")
    assert done.returncode == 0, done.stderr
    assert f"{len(here.log())} answers written to log.jsonl" in done.stdout

    text = (here.folder / "log.jsonl").read_text()
    first, second, *_ = map(json.loads, text.splitlines())
    assert "123456789" not in text
    assert str(here.log()[0].when.year) not in text
    assert os.environ.get("USER", "root") not in text
    assert (first["n"], second["n"], first["first"]) == (1, 2, True)
    assert {first["certainty"], second["certainty"]} <= {"sure", "guess"}
    (read, *_) = read_logs([here.folder / "log.jsonl"]).answers
    assert read.learner == first["learner"]
    assert len(read.learner) == 16


def test_the_id_stays_and_the_answers_come_along_if_they_are_asked_for(tmp_path):
    """A second export is of the same learner; --with-answers adds what was typed; standard output takes it too."""
    here = Workspace(tmp_path)
    here.learn("quiz", "topic1", stdin="987654321\na\n" * 6)
    one = here.learn("quiz", "log").stdout
    two = here.learn("quiz", "log", "--with-answers").stdout

    ids = {json.loads(each)["learner"] for each in (one + two).splitlines()}
    assert len(ids) == 1
    assert {json.loads(each)["typed"] for each in two.splitlines()} <= {"987654321", "a"}
    assert "typed" not in one


def test_what_was_drawn_and_what_was_offered_goes_along(tmp_path):
    """Each answer says the numbers of its variant, and of a choice the misconceptions among its options."""
    here = Workspace(tmp_path)
    here.learn("quiz", "topic1", "--length", "full", stdin="1\na\n1\n1\n1\n" + "a\n" * 9)
    found = [json.loads(each) for each in here.learn("quiz", "log").stdout.splitlines()]

    assert all(each["drawn"]["n"] * 2 == each["drawn"]["double"] for each in found if each["kind"] == "numeric")
    assert {tuple(each["offered"]) for each in found if each["kind"] == "choice"} <= {("topic1-doubles",) * 2}


def test_nothing_to_hand_in_is_said(tmp_path):
    """Without an answer there is no file, and the next command."""
    here = Workspace(tmp_path)
    done = here.learn("quiz", "log", "--out", "log.jsonl")

    assert done.returncode == 2
    assert "learn quiz" in done.stderr
    assert not (here.folder / "log.jsonl").exists()


# ---- reading ---------------------------------------------------------------------------------------------------------


def test_the_same_learner_twice_is_one(tmp_path):
    """Two exports of one log, the later one longer and with texts, are the later one."""
    (tmp_path / "one.jsonl").write_text(line(n=1) + "\n" + line(n=2, family="heads.q2") + "\n")
    (tmp_path / "two.jsonl").write_text("\n".join(line(n=n, family=f"heads.q{n}", typed="7") for n in (1, 2, 3)))
    found = read_logs(log_files([tmp_path])).answers

    assert [answer.n for answer in found] == [1, 2, 3]
    assert analyse(found)["learners"] == 1


@pytest.mark.parametrize(
    "text, says",
    [
        ("{", "no JSON"), ("[" * 50_000, "no JSON"), ("7", "format"), ('{"format": "other"}', "format"),
        (line(schema=2), "another version"), (line(credit=1.5), "credit"), (line(credit=True), "credit"),
        (line(credit=float("nan")), "no JSON"), (line(n=0), '"n"'), (line(learner=""), "learner"),
        (line(family=None), "family"), (line(family="a\x1b[2J"), "family"), (line(certainty="very"), "certainty"),
        (line(tags="d"), "tags"), (line(tags=[1]), "tags"), (line(first=1), "first"), (line(drawn=[]), "drawn"),
        (line(drawn={"d": "x" * 900}), "drawn"), (line(seconds=-1), "seconds"), (line(mode="x" * 200_000), "too long"),
    ],
)  # fmt: skip
def test_a_bad_line_costs_that_line(tmp_path, text, says):
    """Whatever stands there, the file, the line and what is wrong are named, and the rest of the log counts."""
    path = tmp_path / "log.jsonl"
    path.write_text(f"{line()}\n{text}\n{line(n=2)}\n")
    found = read_logs([path])

    assert [answer.n for answer in found.answers] == [1, 2]
    assert [each.where for each in found.left_out] == [f"{path}:2"]
    assert says in found.left_out[0].why
    path.write_text(f"{text}\n")
    with pytest.raises(UsageError) as refused:  # where nothing is left
        read_logs([path])
    assert refused.value.where == f"{path}:1" and says in refused.value.what


def test_one_file_is_one_learner(tmp_path):
    """A log cannot bring forty learners, nor two answers under one number."""
    stuffed = [line(n=n, learner=f"l{n}") for n in range(1, 41)] + [line(n=1, credit=0.0)]
    (tmp_path / "stuffed.jsonl").write_text("\n".join(stuffed))
    found = read_logs([tmp_path / "stuffed.jsonl"])

    assert {answer.learner for answer in found.answers} == {"l1"} and len(found.answers) == 1
    assert "another learner" in found.left_out[0].why and "39 more lines" in found.left_out[0].why


def test_nobody_can_write_into_the_log_of_somebody_else(tmp_path):
    """A log with another learner's id and other answers is somebody else's, and said so; the learner's own counts."""
    (tmp_path / "ann.jsonl").write_text("\n".join(line(n=n, family=f"heads.q{n}") for n in (1, 2)))
    (tmp_path / "eve.jsonl").write_text("\n".join(line(n=n, family=f"heads.q{n}", credit=0.0) for n in range(1, 9)))
    (tmp_path / "more.jsonl").write_text(line(n=9, family="heads.q9", credit=0.0))
    found = read_logs(log_files([tmp_path]))

    logs = {}
    for answer in found.answers:
        logs.setdefault(answer.learner, []).append(answer.credit)
    assert sorted(logs.values()) == [[0.0], [0.0] * 8, [1.0, 1.0]]
    assert ["contradict" in each.why for each in found.left_out] == [True]


def test_a_learner_of_another_name_is_not_pushed_aside(tmp_path):
    """However many logs contradict each other, and whatever their ids, each is one, and it is said once."""
    for who in ("x", "x (2)"):
        for number in range(400):
            (tmp_path / f"{who}-{number}.jsonl").write_text(line(learner=who, seconds=float(number)))
    found = read_logs(log_files([tmp_path]))

    assert len({answer.learner for answer in found.answers}) == 800
    assert len(found.left_out) == 2


@pytest.mark.parametrize("kind", ["pipe", "device", "large"])
def test_what_is_no_ordinary_log_is_left_out_at_once(tmp_path, kind):
    """A pipe is not waited for, a device and a file of any size are not read."""
    path = tmp_path / "a.jsonl"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as file:
            file.truncate(1 << 40)
    (tmp_path / "good.jsonl").write_text(line())
    found = read_logs(log_files([tmp_path]))

    assert len(found.answers) == 1
    assert found.left_out[0].where == str(path) and "cannot be read" in found.left_out[0].why


def test_more_logs_than_a_class_has_are_refused(tmp_path):
    """What is read in all has an end, however many files there are."""
    for number in range(MAX_LOGS + 1):
        (tmp_path / f"{number}.jsonl").touch()
    with pytest.raises(UsageError, match="10001 logs"):
        log_files([tmp_path])


def test_one_learners_inventions_make_no_endless_page(tmp_path):
    """Of families by the thousand those remain that most learners answered, and of misconceptions the most frequent."""
    own = [f"mine.q{n}" for n in range(MAX_FAMILIES)]
    tags = [f"t{n:02}" for n in range(30)]
    rows = [line(learner="eve", n=n, family=name, offered=tags, tags=tags) for n, name in enumerate(own, 1)]
    (tmp_path / "eve.jsonl").write_text("\n".join(rows))
    for who in ("ann", "ben"):
        more = [f"{who}{n}" for n in range(30)]
        (tmp_path / f"{who}.jsonl").write_text(line(learner=who, family="mine.q7", offered=more, tags=more))
    (tmp_path / "cem.jsonl").write_text(line(learner="cem", family="heads.q1") + "\n" + line(learner="cem", n=2))
    (tmp_path / "dan.jsonl").write_text(line(learner="dan", family="heads.q1"))

    answers, left_out = read_logs(log_files([tmp_path]))
    items = analyse(answers)["items"]

    assert len(items) == MAX_FAMILIES and {"heads.q1", "mine.q7"} <= {item["family"] for item in items}
    assert len(item_of({"items": items}, "mine.q7")["tags"]) == MAX_TAGS
    assert left_out[-1].why == "1 question that the fewest learners answered"


def test_files_that_are_no_text_empty_or_missing_are_refused(tmp_path):
    """Each is said with its name."""
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "folder").mkdir()
    for name in ("binary", "empty", "missing"):
        with pytest.raises(UsageError) as refused:
            read_logs([tmp_path / name])
        assert name in refused.value.where
    with pytest.raises(UsageError, match=r"no \.jsonl"):
        log_files([tmp_path / "folder"])


# ---- what they say ---------------------------------------------------------------------------------------------------


def test_under_thirty_learners_there_are_counts_and_nothing_else():
    """No share, interval, correlation, flag or reliability, and why is said."""
    table = analyse(a_class(MIN_TRIED - 1))

    assert "30 learners" in table["reason"]
    assert table["reliability"] == []
    for item in table["items"]:
        assert item["n"] == MIN_TRIED - 1
        assert item["flags"] == item["variants"] == []
        assert {item[key] for key in ("p", "low", "high", "credit", "rest", "seconds")} == {None}


def test_an_item_that_few_answered_has_counts_only():
    """In a class that is large enough, too."""
    rare = [logged(f"l{who}", 11, "heads.rare", 0.0) for who in range(5)]
    item = item_of(analyse([*a_class(40), *rare]), "heads.rare")

    assert (item["n"], item["right"], item["p"], item["flags"]) == (5, 0, None, [])


def test_only_first_answers_count():
    """A later answer to the same question, in the same sitting or another, changes nothing."""
    once = a_class(40)
    again = [logged(f"l{who}", 50 + who, ITEMS[0], 1.0, first=who % 2 == 0) for who in range(40)]

    assert analyse([*once, *again])["items"] == analyse(once)["items"]


def test_the_rest_is_the_classical_one_on_a_fixed_form():
    """If all answered all items, r is the correlation of an item with the sum of the others."""
    answers = a_class(60)
    table = analyse(answers)
    matrix = np.array([[each.credit for each in answers if each.learner == f"l{who}"] for who in range(60)])
    for at, family in enumerate(ITEMS):
        expected = np.corrcoef(matrix[:, at], np.delete(matrix, at, axis=1).sum(axis=1))[0, 1]
        assert item_of(table, family)["rest"] == pytest.approx(expected, abs=1e-4)


def test_reliability_is_that_of_the_textbook_and_only_for_a_fixed_form():
    """KR-20 from its own formula, with the standard error; none as soon as one learner left out an item."""
    answers = a_class(60)
    (form,) = analyse(answers)["reliability"]
    matrix = np.array([[each.credit for each in answers if each.learner == f"l{who}"] for who in range(60)])
    p, k = matrix.mean(axis=0), len(ITEMS)
    kr20 = k / (k - 1) * (1 - (p * (1 - p)).sum() / matrix.sum(axis=1).var())

    assert form["measure"] == "KR-20"
    assert form["value"] == pytest.approx(kr20, abs=1e-4)
    assert form["sem"] == pytest.approx(matrix.sum(axis=1).std(ddof=1) * (1 - kr20) ** 0.5, abs=1e-3)
    assert analyse(answers[1:])["reliability"] == []


def test_partial_credit_makes_it_alpha_and_each_topic_is_a_form():
    """With half marks the name changes; a topic that all answered alike has its own line."""
    halves = [each if each.learner != "l3" else logged("l3", each.n, each.family, 0.5) for each in a_class(40)]
    others = [
        logged(f"l{who}", 20 + at, f"norm.q{at}", float(who * (7 + at) % 5 > 1)) for who in range(39) for at in range(3)
    ]
    forms = {form["topic"]: form for form in analyse([*halves, *others])["reliability"]}

    assert set(forms) == {"heads", "norm"}
    assert forms["heads"]["measure"] == "Cronbach's alpha"
    assert forms["norm"]["learners"] == 39


def test_a_wrong_key_shows_as_a_negative_correlation():
    """If the strong are marked wrong on one item, it is flagged, and the key comes first in what to look at."""
    answers = a_class(80)
    score = {who: sum(each.credit for each in answers if each.learner == who) for who in {a.learner for a in answers}}
    turned = [
        logged(each.learner, each.n, each.family, float(score[each.learner] < 5.5)) if each.family == ITEMS[0] else each
        for each in answers
    ]
    item = item_of(analyse(turned), ITEMS[0])

    assert item["rest"] < 0
    assert item["flags"][0] == "negative" == next(iter(FLAGS))


def test_too_easy_and_too_hard_are_flagged():
    """p above 0.95 and below 0.2."""
    answers = a_class(40)
    fixed = {ITEMS[0]: 1.0, ITEMS[1]: 0.0}
    table = analyse([logged(a.learner, a.n, a.family, fixed.get(a.family, a.credit)) for a in answers])

    assert "easy" in item_of(table, ITEMS[0])["flags"]
    assert "hard" in item_of(table, ITEMS[1])["flags"]


def test_distractors_are_counted_of_those_who_saw_them():
    """An option's share is of the learners who were offered it; one that hardly anyone takes is flagged."""
    answers = a_class(120)
    choice = [
        logged(f"l{who}", 30, "heads.choice", float(who % 3 != 0), kind="choice",
               offered=("often", "never") if who < 60 else ("often", "other"),
               tags=("often",) if who % 3 == 0 else ())
        for who in range(120)
    ]  # fmt: skip
    item = item_of(analyse([*answers, *choice]), "heads.choice")
    tags = {tag["tag"]: tag for tag in item["tags"]}

    assert (tags["often"]["shown"], tags["often"]["of"]) == (40, 120)
    assert (tags["never"]["shown"], tags["never"]["of"], tags["never"]["share"]) == (0, 60, 0)
    assert "distractor" in item["flags"]


def test_a_wrong_option_that_the_strong_take_is_flagged():
    """It may not be wrong."""
    answers = a_class(120)
    score = {who: sum(each.credit for each in answers if each.learner == who) for who in {a.learner for a in answers}}
    choice = [
        logged(who, 30, "heads.choice", float(points < 5), kind="choice", offered=("wise", "other"),
               tags=("wise",) if points >= 5 else ())
        for who, points in score.items()
    ]  # fmt: skip
    assert "tempting" in item_of(analyse([*answers, *choice]), "heads.choice")["flags"]


def test_sure_but_wrong_and_the_median_time_are_there():
    """How many were sure of a wrong answer; the time in the middle."""
    answers = [
        logged(f"l{who}", 1, "heads.q", float(who % 2), certainty="sure" if who < 10 else "guess", seconds=float(who))
        for who in range(41)
    ]
    item = item_of(analyse(answers), "heads.q")

    assert item["sure_but_wrong"] == 5
    assert item["seconds"] == 20


def test_a_drawn_value_that_makes_it_another_question_stands_out():
    """If d = 12 is always wrong, d = 12 is named with its counts; other values are not."""
    chance = random.Random(3)
    answers = []
    for who in range(200):
        d = chance.choice((8, 12, 16, 32))
        right = d != 12 and chance.random() < 0.7
        answers.append(logged(f"l{who}", 1, "heads.q", float(right), drawn=(("d", str(d)), ("seed", str(who)))))
    item = item_of(analyse(answers), "heads.q")

    assert item["variants"][0]["value"] == "d = 12"
    assert item["variants"][0]["errors"] < -2
    assert item["variants"][0]["right"] == 0
    assert item["compared"] == 4
    assert "variant" in item["flags"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 60), st.sampled_from(ITEMS), st.sampled_from([0.0, 0.5, 1.0])), max_size=300))
def test_whatever_was_answered_the_table_holds_together(rows):
    """No crash; shares lie in their intervals, correlations between -1 and 1, and JSON takes it all."""
    answers = [logged(f"l{who}", n, family, credit) for n, (who, family, credit) in enumerate(rows, 1)]
    table = analyse(answers)

    json.dumps(table, allow_nan=False)
    for item in table["items"]:
        assert 0 <= item["right"] <= item["n"] <= 61
        assert item["p"] is None or item["low"] <= item["p"] <= item["high"]
        assert item["rest"] is None or -1 <= item["rest"] <= 1


# ---- the command -----------------------------------------------------------------------------------------------------


def write_class(folder, answers):
    """Write a file a learner."""
    folder.mkdir()
    for who in {answer.learner for answer in answers}:
        rows = [line(learner=who, n=a.n, family=a.family, topic=a.topic, credit=a.credit, tags=list(a.tags),
                     drawn=dict(a.drawn)) for a in answers if a.learner == who]  # fmt: skip
        (folder / f"{who}.jsonl").write_text("\n".join(rows) + "\n")


def test_the_command_shows_the_table_and_writes_the_page(tmp_path):
    """Folders of logs become a table of at most 80 columns, a JSON object, and a page without a learner in it."""
    answers = a_class(40)
    write_class(tmp_path / "logs", [
        logged(a.learner, a.n, a.family, 0.0, tags=("d-not-root",)) if a.family == ITEMS[1] else a for a in answers
    ])  # fmt: skip
    done = items("logs", "--html", "items.html", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "40 learners, 400 answers, 400 of them first ones" in done.stdout
    assert "Hardly anyone gets it right" in done.stdout
    assert "d-not-root 40 of 40" in done.stdout
    assert "KR-20" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    page = Page((tmp_path / "items.html").read_text())
    assert not page.unbalanced
    assert all(family in page.text for family in ITEMS)
    assert not any(f"l{who} " in page.text for who in range(10, 40))
    assert not [value for name in ("src", "href") for value in page.values(name) if not value.startswith("#")]
    found = json.loads(items("logs", "--json", cwd=tmp_path).stdout)
    assert found["learners"] == 40
    assert not any(str(value) == "l1" for item in found["items"] for value in item.values())


def test_a_page_is_written_through_no_link(tmp_path):
    """A link among the logs cannot lead the page over a file of one's own; to a device one may."""
    (tmp_path / "log.jsonl").write_text(line())
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "items.html").symlink_to(tmp_path / "mine")
    refused = items("log.jsonl", "--html", "items.html", cwd=tmp_path)

    assert refused.returncode == 2 and "this is a link" in refused.stderr
    assert (tmp_path / "mine").read_text() == "mine"
    assert items("log.jsonl", "--html", "/dev/stdout", cwd=tmp_path).returncode == 0


def test_the_command_says_where_a_log_is_broken(tmp_path):
    """With file and line; the rest is counted."""
    (tmp_path / "bad.jsonl").write_text(line() + "\n{oops\n")
    done = items("bad.jsonl", cwd=tmp_path)

    assert done.returncode == 0
    assert "Left out: bad.jsonl:2: this line is no answer of a quiz: no JSON" in " ".join(done.stderr.split())
    assert "1 learner, 1 answer" in done.stdout


def test_a_small_class_gets_counts_on_every_surface(tmp_path):
    """Table, page and JSON say why there is no more."""
    write_class(tmp_path / "logs", a_class(8))
    done = items("logs", "--html", "items.html", cwd=tmp_path)

    assert "Counts only: 30 learners are needed" in " ".join(done.stdout.split())
    assert "Reliability" not in done.stdout
    assert "Counts only" in Page((tmp_path / "items.html").read_text()).text


def test_names_in_a_log_are_text_on_the_page():
    """What stands in a log is shown, never carried out."""
    answers = [logged(f"l{who}", 1, "heads.<script>x</script>", 0.0, tags=("<img src=x>",)) for who in range(31)]
    page = Page(quiz_items_page(analyse(answers), {}))

    assert len(page.all("script")) == 1  # ours
    assert not page.all("img")
    assert "<img src=x>" in page.text
