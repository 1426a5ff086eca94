"""The score says what a learner knows: learners of whom that is known take the assessment of the course's own bank."""

from __future__ import annotations

import pytest
from support.command_server import run_command
from support.course_files import ROOT
from support.learn_command import TINY, environment
from support.repeat import repeat

from grader.cli.grader.items_simulated import simulation_lines
from grader.quiz.assessment.simulation import LENGTHS, draw_sittings, score_learners, simulate
from grader.quiz.bank.bank import Bank

BANK = Bank(ROOT / "lessons")


@pytest.mark.slow
@repeat(usual=12, soak=150)
def test_scores_are_true(times):
    """No bias to speak of, for who guesses and for who says so; the interval holds the truth nine times of ten."""
    found = simulate(BANK, times)
    slack = 6 / times  # of a few learners chance makes more than of many
    for row in found["scores"]:
        assert abs(row["bias"]) <= 0.1 + 3 * row["error"], row
        assert 0.9 - slack <= row["coverage"] <= 0.99 + slack, row
    for row in found["facets"]:
        assert row["right"] >= 0.8 - slack and row["wrong"] <= 0.02 + slack, row
    assert {row["questions"] for row in found["scores"]} == {34, 60}
    printed = "\n".join(simulation_lines(found))
    assert "guess what they do not know: 34 questions" in printed and "type ? where" in printed


@pytest.mark.slow
@pytest.mark.parametrize("length", LENGTHS)
def test_who_knows_all_is_shown_as_ten(length):
    """No score is above 10, so each slip costs: less than a tenth of a point on average, for certain."""
    row = score_learners(BANK, draw_sittings(BANK, length, 20), 10.0, "?", 1500)
    assert row["bias"] - 3 * row["error"] > -0.1 and row["bias"] <= 0 and row["error"] < 0.01, row
    assert 0.9 <= row["coverage"] <= 0.99, row


@pytest.mark.parametrize(
    "words, says",
    [([], "there are no logs"), (["--simulate", "."], "reads no logs"), (["--simulate"], "no questions")],
)
def test_what_cannot_be_simulated_says_so(tmp_path, words, says):
    """Neither logs nor --simulate, both, and a course without questions are wrong usage, and said."""
    done = run_command("grader", "items", *words, "--course", TINY, cwd=tmp_path, env=environment(None))
    assert done.returncode == 2 and says in done.stderr, done.stderr
