"""Read a hand-in in the process of a run itself, which no other process watches over."""

from __future__ import annotations

from grader.errors import GraderError, MachineError
from grader.intake.hand_in import HandIn, read_hand_in
from grader.intake.learner import Learner
from grader.judge.own_limits import within_limits
from grader.model import Limits


def read_within_limits(learner: Learner, limits: Limits) -> HandIn:
    """Read a hand-in, of which nothing is known but its problem if that takes too long or too much memory.

    Raises MachineError.
    """
    try:
        with within_limits(limits.judging_seconds, limits.memory_mb, "reading it"):
            return read_hand_in(learner)
    except MachineError:
        raise
    except GraderError as error:
        return HandIn(problem=f"It could not be graded: {error.what}.")
