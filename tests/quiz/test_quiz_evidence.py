"""What counts as evidence, and for what: practice, questions that ask the same, facets, fading, claims."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from datetime import timedelta
from random import Random

import pytest
from support.course_files import ROOT
from support.learn_command import learn, start_workspace
from support.quiz_maker import NOON, TOPICS, answered, session, write_bank
from support.repeat import repeat

from grader.cli.standing.report import report_lines
from grader.cli.standing.report_explained import explain_lines
from grader.model import Answered, Claimed
from grader.quiz.assessment.assessment import LearnerLog, assess
from grader.quiz.assessment.calibration import certainty_table, meaning
from grader.quiz.assessment.evidence import make_item
from grader.quiz.assessment.fading import weigh
from grader.quiz.assessment.scoring import topic_score
from grader.quiz.bank.bank import Bank
from grader.quiz.bank.lint import find_problems
from grader.quiz.bank.variants import make_variant
from grader.quiz.kinds import KINDS
from grader.quiz.model import FACETS, Unreadable
from grader.quiz.session.plan import choose_families, find_topic, plan_variants
from grader.quiz.session.session import mark_answer, restore_session
from grader.reports.pages.assessment_page import assessment_page
from grader.store import Store
from grader.store.quiz_log import QuizLog

BANK = Bank(ROOT / "lessons")
FAMILIES = {family.id: family for topic in BANK.topics() for family in topic.families}
LESSON_TOPICS = ("softmax", "attention", "causal_mask", "positional_encoding", "multi_head", "block", "training")
MINUTES, HOURS, DAYS = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    return write_bank(tmp_path_factory.mktemp("course") / "lessons")


def given(family: str, credit: float = 1.0, **changes) -> Answered:
    """An answer to a question of the course, as it is marked."""
    question = make_variant(BANK, FAMILIES[family], "salt", 1)
    return answered(family, credit, **{"kind": question.kind, "guess": question.guess, **changes})


def topic_of(report: dict, name: str) -> dict:
    return next(each for each in (*report["topics"], *report["also"]) if each["name"] == name)


# ---- practice --------------------------------------------------------------------------------------------------------


def test_a_redo_after_twenty_minutes_is_practice(bank):
    """All missed, then all right as soon as the answers were seen: the score stays; a day later it rises."""
    missed = [answered(f"{name}.n{number}", 0.0) for name in TOPICS for number in (1, 2, 3)]
    soon = [answered(each.family, session="t", when=NOON + 20 * MINUTES) for each in missed]
    later = [answered(each.family, session="u", when=NOON + 21 * HOURS) for each in missed]
    scores = [
        assess(bank, LearnerLog(log), NOON + DAYS)["verified"]["score"]
        for log in (missed, missed + soon, missed + soon + later)
    ]
    assert scores == [0.0, 0.0, 10.0]


def test_practice_is_counted_from_the_last_feedback(bank):
    """A second try at the end of the sitting gives feedback too, and so does the end of an exam, a day later."""
    log = [answered("topic0.n1", 0.0), answered("topic0.n1", first=False, when=NOON + 5 * HOURS)]
    log.append(answered("topic0.n1", session="t", when=NOON + 21 * HOURS))
    assert topic_of(assess(bank, LearnerLog(log)), "topic0")["right"] == 0
    exam = session(mode="exam", finished=NOON + 2 * DAYS)
    taken = [answered("topic0.n1", 0.0, mode="exam"), answered("topic0.n1", session="t", when=NOON + 2 * DAYS + HOURS)]
    assert topic_of(assess(bank, LearnerLog(taken, sessions=[exam])), "topic0")["right"] == 0


def test_of_two_questions_that_ask_the_same_one_counts():
    """The later of the two is the evidence, if it was no practice; a sitting asks one of them."""
    one, same = "gradients.roles", "attention_formula.maps"
    log = [given(one, 0.0), given(same, when=NOON + HOURS)]
    assert assess(BANK, LearnerLog(log), NOON)["answers"] == 1
    report = assess(BANK, LearnerLog([*log, given(same, session="t", when=NOON + 2 * DAYS)]), NOON + 2 * DAYS)
    assert (topic_of(report, "attention_formula")["right"], topic_of(report, "gradients")["items"]) == (1, 0)
    for seed in range(3):
        chosen = choose_families(BANK, BANK.assessed, "full", {}, Random(seed))
        assert len({family.idea for family in chosen}) == len(chosen) == 60
    assert sum(bool(family.same_as) for family in FAMILIES.values()) == 16


# ---- for what it counts ----------------------------------------------------------------------------------------------


def test_craft_is_no_understanding_of_transformers():
    """Who answers all that the lessons ask in code, and nothing else, has no score over all; craft stands apart."""
    log = [given(family.id) for name in LESSON_TOPICS for family in BANK.topic(name).families]
    report = assess(BANK, LearnerLog(log), NOON)
    assert report["verified"] is None or report["verified"]["covered"] < 7
    craft = topic_of(report, "pytorch_craft")
    assert craft["items"] >= 15 and craft["title"] == "PyTorch craft"
    assert "pytorch_craft" not in [each["name"] for each in report["topics"]]
    assert topic_of(report, "residuals")["items"] == 3  # of seven questions on the block in code


def test_every_family_counts_for_something_and_has_a_facet():
    """Of all 254 families; those of the assessment's own topics count for it, but for what is mere arithmetic."""
    assert len(FAMILIES) >= 254
    aside = {
        family.id for family in FAMILIES.values() if family.topic in BANK.assessed and family.counts_for != family.topic
    }
    assert aside == {
        "heads.table_entries", "token_journey.table_parameters", "positions.parameters", "attention_and_ffn.share",
        "attention_and_ffn.activation_gradient",
    }  # fmt: skip
    for name in ("parameter_counts.norms", "parameter_counts.mixed_bytes", "dimensionality.true_projection"):
        assert FAMILIES[name].counts_for not in BANK.assessed
    for family in FAMILIES.values():
        assert family.facet in FACETS, family.id
        assert family.counts_for in (*BANK.paths, *BANK.collections), family.id


def test_a_collection_can_be_asked():
    """`learn quiz pytorch` asks what counts for PyTorch craft, whatever its file."""
    name = find_topic(BANK, "pytorch")
    chosen = choose_families(BANK, [name], "short", {}, Random(1))
    assert len(chosen) == 3 and {FAMILIES[each.id].counts_for for each in chosen} == {"pytorch_craft"}


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    """The audit names a family that counts for no topic, or is the same as no other."""
    bank = write_bank(tmp_path / "lessons", TOPICS[:2])
    path = bank.paths["topic0"]
    more = 'id = "topic0.n1"\ncounts_for = "nowhere"\nsame_as = "topic0.n1"'
    path.write_text(path.read_text().replace('id = "topic0.n1"', more))
    bank = Bank(tmp_path / "lessons")
    assert list(find_problems(bank, [bank.topic("topic0")], 2)) == [
        'topic0.n1: it counts for "nowhere", which is no topic',
        'topic0.n1: "topic0.n1" is no question that it can be the same as',
    ]


# ---- topics that were left out ---------------------------------------------------------------------------------------


def test_below_all_topics_the_score_says_which(bank):
    """Six topics of ten: their titles, and an interval that allows for the other four."""
    log = [answered(f"{name}.n{number}") for name in TOPICS for number in (1, 2, 3)]
    few = assess(bank, LearnerLog(log[:18]), NOON)["verified"]
    every = assess(bank, LearnerLog(log), NOON)["verified"]
    assert (few["covered"], few["names"]) == (6, [f"Topic {name}" for name in TOPICS[:6]])
    assert few["score"] == every["score"] == 10.0 and few["low"] < every["low"] - 0.5


# ---- predicted, claimed, certain -------------------------------------------------------------------------------------


def test_the_prediction_of_a_short_sitting_is_not_that_of_the_assessment(bank):
    """What was predicted for five questions on one topic does not stand beside the score over all of them."""
    whole, short = session(predicted=4.0), session("t", 1, topics=("topic0",), predicted=9.5)
    assert assess(bank, LearnerLog(sessions=[whole, short]))["predicted"] == 4.0
    assert assess(bank, LearnerLog(sessions=[short]))["predicted"] is None


def test_five_answers_are_enough_to_compare_a_prediction(bank):
    """A sitting on one topic is in the history, corrected for guessing as the prediction is meant to be."""
    short = session(topics=("topic0",), predicted=5.0)
    log = [answered(f"topic0.n{number}", float(number <= 2)) for number in range(1, 5)] + [
        answered("topic0.choice", 0.0)
    ]
    (past,) = assess(bank, LearnerLog(log, sessions=[short]))["history"]
    assert (past["items"], past["predicted"]) == (5, 5.0) and 3.0 < past["scored"] < 4.0


def test_a_trap_costs_half_a_point_of_what_is_claimed(bank):
    """A wrong claim that the learner ticked is not free, and it is said of how many questions the number is."""
    points = [Claimed("topic0", f"p{number}", "yes", False, "s", NOON) for number in range(1, 6)]
    trap = Claimed("topic0", "trap", "yes", True, "s", NOON)
    assert assess(bank, LearnerLog(claims=points))["claimed"] == 10.0
    report = assess(bank, LearnerLog(claims=[*points, trap]))
    assert (report["claimed"], report["claims"][0]["traps"]) == (9.0, 1)
    assert report["claimed_of"] == {"answered": 1, "of": 10}


def test_a_guess_means_another_thing_for_another_kind():
    """Among three options a guess is often right, a typed one seldom, all of five options hardly ever."""
    assert [meaning("guess", kind) for kind in ("choice", "numeric", "multi")] == [0.4, 0.2, 0.1]
    assert meaning("sure", "choice") == meaning("sure", "numeric") == 0.95
    rows = certainty_table([answered("topic0.n1", certainty="guess"), answered("topic0.choice", certainty="guess")])
    assert next(row["meant"] for row in rows if row["certainty"] == "guess") == pytest.approx(0.3)


# ---- fading ----------------------------------------------------------------------------------------------------------


def test_an_answer_fades_whether_it_was_right_or_wrong(bank):
    """Waiting changes no score, and makes it less certain; the report says of which day it is."""
    log = [answered(f"{name}.n{number}", float(number != 3)) for name in TOPICS for number in (1, 2, 3)]
    reports = [assess(bank, LearnerLog(log), NOON + days * DAYS) for days in (0, 2, 30, 900)]
    assert len({report["verified"]["score"] for report in reports}) == 1
    widths = [report["verified"]["high"] - report["verified"]["low"] for report in reports]
    assert widths[0] == widths[1] < widths[2] < widths[3]
    assert {report["as_of"]["last"] for report in reports} == {"2026-03-01"}


def test_what_was_repeated_fades_later():
    """The rule is FSRS's: 1 until a question is due again, 0.86 after ten days, later if it was repeated in time."""
    once = weigh({"q": [NOON]}, NOON + 10 * DAYS)["q"]
    twice = weigh({"q": [NOON - 3 * DAYS, NOON]}, NOON + 10 * DAYS)["q"]
    assert weigh({"q": [NOON]}, NOON + 2 * DAYS) == {"q": 1.0} and weigh({}, NOON) == {}
    assert once == pytest.approx(0.86, abs=0.01) and once < twice <= 1.0
    assert weigh({"q": [NOON]}, NOON - DAYS) == {"q": 1.0}  # a clock that went back


# ---- facets, strengths, weaknesses -----------------------------------------------------------------------------------


def test_an_assessment_has_five_of_each_facet():
    """Three questions of each topic or four, and five of each facet, whatever was drawn; in a long one as well."""
    for seed in range(12):
        chosen = choose_families(BANK, BANK.assessed, "short", {}, Random(seed))
        counts = Counter(family.facet for family in chosen)
        assert len(chosen) == 34 and set(Counter(each.counts_for for each in chosen).values()) == {3, 4}
        assert counts.keys() == FACETS.keys()
        assert min(counts.values()) >= 5 and counts["why"] >= 7 and counts["maths"] >= 7, counts
        counts = Counter(family.facet for family in choose_families(BANK, BANK.assessed, "full", {}, Random(seed)))
        assert counts.keys() == FACETS.keys() and min(counts.values()) >= 5, counts
        assert counts["why"] >= 14 and counts["maths"] >= 14, counts


def test_a_sitting_on_one_facet():
    """`--facet maths` asks nothing else, of several topics."""
    chosen = choose_families(BANK, BANK.assessed, "short", {}, Random(1), "maths")
    assert {family.facet for family in chosen} == {"maths"} and len(chosen) == 5


def of_facet(facet: str, right: int, count: int) -> list[Answered]:
    """Answers to different questions of a facet, of which the first are right."""
    ideas = {
        family.idea: family.id
        for family in FAMILIES.values()
        if family.facet == facet and family.counts_for in BANK.assessed
    }
    return [given(family, float(number < right)) for number, family in enumerate(list(ideas.values())[:count])]


def test_strong_in_why_and_weak_in_working_out():
    """What the notes' own assessment said: 12 of 13 and 2 of 7, named as a strength and as a weakness."""
    report = assess(BANK, LearnerLog(of_facet("why", 12, 13) + of_facet("maths", 2, 7) + of_facet("code", 3, 5)), NOON)
    assert {each["name"]: each["finding"] for each in report["facets"]} == {
        "why": "solid", "maths": "weak", "code": "too few",
    }  # fmt: skip
    assert "Why things are built as they are: 12 of 13 right" in report["strengths"]
    facet = next(each for each in report["weaknesses"] if each["kind"] == "facet")
    assert facet["says"] == "are weak in working things out: 2 of 7 right"
    assert facet["command"] == "learn quiz --facet maths" and len(facet["families"]) == 5


def test_a_facet_has_the_number_of_its_answers_and_the_sum_is_shown():
    """Twelve of thirteen right: ten times the share that is known, as a topic of these answers has it, and no slips."""
    log = of_facet("why", 12, 13)
    report = assess(BANK, LearnerLog(log), NOON)
    (facet,) = report["facets"]
    known = topic_score([make_item(answer) for answer in log])
    assert facet["score"] == round(known.score, 1) < 10
    shown = "\n".join(explain_lines(report))
    assert re.search(rf"^    t = .* = {known.share:.4f}: {known.score:.1f}$", shown, re.MULTILINE), shown


def test_a_share_above_one_is_explained():
    """Where all was right t is above 1, which the words before the sums say, and the number is 10."""
    shown = " ".join("\n".join(explain_lines(assess(BANK, LearnerLog(of_facet("why", 13, 13)), NOON))).split())
    assert re.search(r" t = \S.* = 1\.0\d+: 10\.0", shown) and "without any slip it is above 1" in shown


def test_no_facet_stands_out_by_chance_alone():
    """Six of nine and five of nine is the same, and so is much from few answers."""
    for log in (of_facet("why", 6, 9) + of_facet("maths", 5, 9), of_facet("why", 5, 5) + of_facet("maths", 0, 4)):
        findings = {each["finding"] for each in assess(BANK, LearnerLog(log), NOON)["facets"]}
        assert findings <= {"", "too few"}, findings


def test_a_weak_facet_is_worked_on_before_topics_of_three_answers():
    """Nine answers tell more than three: the facet is suggested first, and then the topics that seem weak."""
    log = of_facet("why", 9, 9) + of_facet("maths", 0, 9)
    made = [each["command"] for each in assess(BANK, LearnerLog(log), NOON)["suggestions"]]
    assert made[0] == "learn quiz --facet maths" and len(made) == 3, made


def test_there_is_always_something_to_do_next(bank):
    """Who is weak nowhere, and said of one question in three that they do not know it, starts where that is most."""
    log = [answered(f"{name}.n{number}") for name in TOPICS for number in (1, 2, 3)]
    unknown = [answered(f"{name}.n4", 0.0, typed="?") for name in TOPICS]
    unknown.append(answered("topic6.choice", 0.0, typed="?"))
    report = assess(bank, LearnerLog(log + unknown), NOON)
    assert report["weaknesses"] == []
    assert report["suggestions"][0]["command"] == "learn quiz topic6"
    assert len(report["suggestions"]) == 3 and "read the lesson softmax" in report["suggestions"][0]["says"]


def test_thirty_times_not_known_is_a_weakness(bank):
    """Who says of everything that they do not know it is told which topics are weak, and that 0 may be 1."""
    log = [answered(f"{name}.n{number}", 0.0, typed="?") for name in TOPICS for number in (1, 2, 3)]
    report = assess(bank, LearnerLog(log), NOON)
    assert [each["id"] for each in report["weaknesses"]] == TOPICS
    assert report["verified"]["score"] == 0.0 and 0.5 <= report["verified"]["high"] <= 1.5


def test_three_of_three_is_strong_so_far(bank):
    """Too few to be solid, and all of them right, is said."""
    report = assess(bank, LearnerLog([answered(f"topic0.n{number}") for number in (1, 2, 3)]), NOON)
    assert report["strengths"] == ["Topic topic0: strong so far, 3 of 3 right"]
    assert topic_of(report, "topic0")["label"] == "unsure"


# ---- three learners whom one knows -----------------------------------------------------------------------------------


def known_of(shares: dict[str, float], chosen: list) -> set[str]:
    """The questions that a learner answers who knows this share of each facet."""
    known: set[str] = set()
    for facet, share in shares.items():
        mine = [each.id for each in chosen if each.facet == facet]
        known.update(mine[: round(share * len(mine))])
    return known


def missed_answer(question) -> str:
    """What earns least of all that is easily typed."""
    letters = "abcdefgh"[: len(question.options)]
    said = [
        *letters,
        letters[::-1],
        " ".join(sorted(set(letters) - set(right_answer(question)))),
        "none",
        "1",
        "2",
        "-7",
    ]
    said.append("; ".join(["(97, 98, 99)"] * len(question.parts)))
    said.append(" ".join(f"{place}{letters[place % len(letters)]}" for place in range(1, 9) if letters))
    credits = {}
    for typed in said:
        with suppress(Unreadable):
            credits[typed] = mark_answer(question, typed).credit
    return min(credits, key=credits.get)


def right_answer(question) -> str:
    """The right answer as it is typed: a letter without its text, a line without what it should be."""
    return re.split(
        "[:;] " if question.kind in ("choice", "bug") else "$^", KINDS[question.kind].right_answer(question)
    )[0]


def take_assessment(workspace, shares: dict[str, float], unsure: str = "") -> None:
    """Take an assessment as `learn quiz` holds it; what is not known is answered with `unsure`, or wrong."""
    with Store.open(workspace / ".selfattend" / "progress.db") as store:
        log = QuizLog(store.database)
        chosen = choose_families(BANK, BANK.assessed, "short", log.tried(), Random(2))
        known = known_of(shares, chosen)
        begun = log.begin_session("quiz", BANK.assessed, plan_variants([each.id for each in chosen], log.asked()), 5.0)
        sitting = restore_session(BANK, log, begun.session, begun.plan)
        while (turn := sitting.next_turn()) and not turn.repeated:
            if turn.question.family in known:
                sitting.answer(turn, right_answer(turn.question), "fairly")
            else:
                sitting.answer(turn, unsure or missed_answer(turn.question), "fairly")
        log.finish(begun.session.id, sitting.now())


def report_of(workspace) -> str:
    """What `learn report` says in 80 columns."""
    done = learn("report", cwd=workspace, course=ROOT)
    assert done.returncode == 0 and max(map(len, done.stdout.splitlines())) <= 80, done
    return " ".join(done.stdout.split())


def test_facets_have_their_names_and_what_is_in_none_is_named_below_them(tmp_path):
    """Answers on the tool say nothing of transformers: terminal and page tell whose they are. No name is cut."""
    workspace = start_workspace(tmp_path, ROOT)
    take_assessment(workspace, {})
    assert "Asked beside the assessment" not in report_of(workspace)
    family = next(each for each in FAMILIES.values() if each.counts_for == "pytorch_craft")
    with Store.open(workspace / ".selfattend" / "progress.db") as store:
        log = QuizLog(store.database)
        begun = log.begin_session("quiz", [family.topic], [(family.id, 1)])
        sitting = restore_session(BANK, log, begun.session, begun.plan)
        sitting.answer(sitting.next_turn(), "?")
    assert "Asked beside the assessment, whose numbers they do not count in: PyTorch craft." in report_of(workspace)
    narrow = learn("report", cwd=workspace, course=ROOT, COLUMNS="60").stdout.splitlines()
    assert "  Why things are built as they are" in narrow and max(map(len, narrow)) <= 60
    learn("report", "--html", "report.html", cwd=workspace, course=ROOT)
    page = (workspace / "report.html").read_text()
    assert "\nWhat is asked for\n" in "\n".join(narrow) and ">What is asked for</h2>" in page
    assert "Asked beside the assessment, whose numbers they do not count in: PyTorch craft.</caption>" in page


def test_strong_in_why_and_weak_in_maths(tmp_path):
    """Who knows why things are so, and cannot work them out, reads that, and what to do about it."""
    workspace = start_workspace(tmp_path, ROOT)
    take_assessment(workspace, dict.fromkeys(FACETS, 0.6) | {"why": 0.9, "maths": 0.35})
    says = report_of(workspace)
    assert "Strong: why things are built as they are (6 of 7). Weak: working things out (2 of 7)." in says
    assert "learn quiz --facet maths" in says.partition("Next ")[2] and "Predicted 5.0" in says
    assert "Built 0.0" in says and "0 of 34 exercises solved" in says


def test_honest_with_a_question_mark(tmp_path):
    """Who knows half, and says of the rest that they do not know it, has about 5, and is told where to begin."""
    workspace = start_workspace(tmp_path, ROOT)
    take_assessment(workspace, dict.fromkeys(FACETS, 0.5), unsure="?")
    says = report_of(workspace)
    (score,) = re.findall(r"Verified (\d\.\d)", says)
    assert 4.0 <= float(score) <= 6.0 and "Strong: " not in says and "Weak: " not in says
    suggested = says.partition("Next ")[2]
    assert "learn quiz heads" in suggested and "Read the lesson multi_head, then" in suggested  # it was never read


@pytest.mark.slow
@repeat(usual=2, soak=7)
def test_every_exercise_and_no_answer(tmp_path, times):
    """Who solves exercises and answers nothing has built much, with what it took, and verified nothing."""
    workspace = start_workspace(tmp_path, ROOT)
    lessons = ("softmax", "causal_mask", "positional_encoding", "attention", "multi_head", "block", "training")[:times]
    assert learn("hint", "softmax", cwd=workspace, course=ROOT).returncode == 0
    for name in lessons:
        (file,) = workspace.glob(f"*/{name}.py")
        right = (ROOT / "solutions" / "core" / f"{name}.py").read_text()
        for text in (right.replace("return ", "return None and ", 1), right):
            file.write_text(text)
            done = learn("check", name, cwd=workspace, course=ROOT)
        assert done.returncode == 0, done.stdout
    says = report_of(workspace)
    assert "Verified - " in says and f"Built {10 * len(lessons) / 34:.1f} " in says and "Strengths" not in says
    assert f"{len(lessons)} of 34 exercises solved, in {2 * len(lessons)} tries with 1 hint" in says
    assert "Next 1 Take the assessment" in says and "Topics" not in says


def test_what_was_right_in_part_is_shown(monkeypatch):
    """Two of three and one in part is more than two of three, and a title fits a narrow terminal."""
    log = [given(f"residuals.{name}", credit) for name, credit in (("stream", 1.0), ("shapes", 1.0), ("claims", 0.8))]
    log += [given(f"attention_and_ffn.{name}") for name in ("bend", "axes", "alike")]
    monkeypatch.setenv("COLUMNS", "60")
    assessment = assess(BANK, LearnerLog(log), NOON)
    lines = "\n".join(report_lines(assessment)).splitlines()
    assert max(map(len, lines)) <= 60 and any("Residual connections" in line and "2+ of 3" in line for line in lines)
    assert "  + others were right in part, which counts as such" in lines
    assert ">2+ of 3<" in assessment_page(assessment, "A course")
