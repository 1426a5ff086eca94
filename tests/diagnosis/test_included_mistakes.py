"""What one lesson knows of a mistake is said once: another takes the row, or its words, and what is right in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.judge.mistakes.mistake_set import MistakeSet

FIRST = """
from grader.api.checks import MistakeSet

half = MistakeSet("half", globals())
whole = MistakeSet("whole", globals())
MISTAKE_SETS = [half, whole]
half.mistake("ha-doubled", "You double w_q.", "Halve w_q.", cut="2 * x")
half.mistake("ha-doubled", "You double it twice.", coding="twice", cut="4 * x")
whole.mistake("wh-less", "One is missing.", "Add one.", put="x")
half.alternative("by shifting", cut="x * 0.5")
half.alternative("by another name", give="found")
"""


@pytest.fixture
def later(tmp_path: Path) -> MistakeSet:
    """The mistakes of a lesson that has one of the steps of an earlier one."""
    (tmp_path / "half.py").write_text(
        "def half(x):\n    found = x / 2  # step: cut\n    return found  # step: give\n\n\n"
        "def whole(x):\n    return x + 1  # step: put\n"
    )
    (tmp_path / "half_mistakes.py").write_text(FIRST)
    (tmp_path / "third.py").write_text("def third(x):\n    x = x / 2  # step: cut\n    return x - 1  # step: less\n")
    return MistakeSet("third", {"__file__": str(tmp_path / "third_mistakes.py")})


def test_what_is_right_in_a_lesson_is_right_where_its_steps_are(later):
    """An alternative is included like a mistake, where all of its steps are here and nothing leaves it out."""
    later.include("half", words={"w_q": "wq"})

    assert [each.says for each in later.mistakes] == ["You double wq.", "You double it twice."]
    assert [(each.name, each.changes) for each in later.alternatives] == [("by shifting", {"cut": "x * 0.5"})]


@pytest.mark.parametrize("options", [{"only": ["ha-doubled"]}, {"without": ["by shifting"]}])
def test_alternatives_can_be_left_out(later, options):
    """Who takes a few mistakes, or names an alternative, has it not."""
    later.include("half", **options)

    assert later.mistakes
    assert later.alternatives == []


def test_a_mistake_without_words_is_said_as_where_it_was_first(later):
    """A coding has its own words, any other those of the mistake; all mistake sets of a lesson are known."""
    later.include("half", only=(), words={"w_q": "wq"})
    later.mistake("ha-doubled", coding="twice", cut="5 * x")
    later.mistake("ha-doubled", coding="by adding", cut="x + x")
    later.mistake("wh-less", less="x")

    said = [(each.says, each.suggests) for each in later.mistakes]
    assert said == [("You double it twice.", "Halve wq."), ("You double it twice.", "Halve wq."),
                    ("One is missing.", "Add one.")]  # fmt: skip
    with pytest.raises(ValueError, match="nothing is said"):
        later.mistake("wh-more", less="x + 2")


def test_the_words_of_the_last_included_coding_are_not_taken_for_another(later):
    """What is said of a mistake in general is its first coding's words; of one's own, the one before."""
    later.include("half")
    later.mistake("ha-doubled", coding="by adding", cut="x + x")
    later.mistake("ha-doubled", "You add it to itself, and again.", coding="by adding twice", cut="x + x + x")
    later.mistake("ha-doubled", coding="by adding in a loop", cut="sum([x, x, x])")

    assert [each.says for each in later.mistakes[2:]] == [
        "You double w_q.",
        "You add it to itself, and again.",
        "You add it to itself, and again.",
    ]
