"""What two hand-ins of one lesson have in common, weighed, and the words for it.

The unit is a token of code that nobody else in the class has. The longer two files are, the more of them it takes; and
if nothing but code is shared it takes eight lines of it, since right answers to a short exercise are all alike. Names,
comments and above all the same wrong answer count too, the less the more of the class has them, and never without code.

The weights were set on answers that were written independently (`tests/content/answers`): the strongest evidence
between any two of those is 0.7, in classes of 2 to 74. `tests/similarity/test_similarity.py` says how many disguised
copies are found.
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.similarity.class_index import Classroom
from grader.similarity.overlap import Overlap, overlap
from grader.similarity.solution import Answer
from grader.similarity.winnowing import LENGTH

A_NAME = 12.0  # tokens that an uncommon name counts for
A_REMARK = 25.0  # a comment or a text of several words
WORD_FOR_WORD = 20.0  # all the code, names included; only layout and comments may differ
SAME_RETURNED = 30.0  # every wrong value and every error is the same, and no known mistake explains it
SAME_MISTAKES = 12.0  # the same known mistakes
LEAST = 40.0  # evidence that two empty files would need ...
LEAST_PER_TOKEN = 0.12  # ... and for each token of the shorter one
LEAST_RIGHT = 80  # tokens in common, for two that share neither a mistake nor a remark: eight lines or so
LEAST_SHARE = 0.3  # of what is the shorter one's own
MOST_SHOWN = 3  # names in a note


@dataclass(frozen=True)
class Evidence:
    """What two hand-ins have in common. `strength` 1 or more is worth a look."""

    strength: float
    code: Overlap
    names: tuple[str, ...]
    remarks: int
    word_for_word: bool
    same_returned: bool
    same_mistakes: tuple[str, ...]

    @property
    def note(self) -> str:
        """What is the same, in words."""
        said = [f"the same {_counted(self.code.lines, 'line')} beyond what the course and most of the class write"]
        if self.word_for_word:
            said.append("the whole file word for word")
        if self.same_mistakes:
            said.append(f"the same mistake ({', '.join(self.same_mistakes)})")
        elif self.same_returned:
            said.append("the same unusual wrong answer")
        if self.names:
            more = f" and {len(self.names) - MOST_SHOWN} more" if len(self.names) > MOST_SHOWN else ""
            said.append(f"the same uncommon names ({', '.join(self.names[:MOST_SHOWN])}{more})")
        if self.remarks:
            said.append(f"{_counted(self.remarks, 'equal comment')}")
        return f"{'; '.join(said)}."


def compare(first: Answer, second: Answer, room: Classroom) -> Evidence | None:
    """What speaks for a closer look at these two; None if too little does."""
    code = overlap(first, second, room)
    if code is None or code.share < LEAST_SHARE:
        return None
    names = tuple(sorted(name for name in first.names & second.names if room.rarity_of_words(name)))
    remarks = [remark for remark in first.remarks & second.remarks if room.rarity_of_words(remark)]
    wrong, same_returned, same_mistakes = _same_wrong(first, second, room)
    if not (wrong or remarks) and code.tokens < LEAST_RIGHT:
        return None
    word_for_word = first.text == second.text and code.tokens >= LEAST_RIGHT
    weight = code.weighed * code.share**0.5 + wrong + WORD_FOR_WORD * word_for_word * code.weighed / code.tokens
    weight += A_NAME * sum(map(room.rarity_of_words, names)) + A_REMARK * sum(map(room.rarity_of_words, remarks))
    needed = LEAST + LEAST_PER_TOKEN * min(_tokens(first), _tokens(second))
    return Evidence(weight / needed, code, names, len(remarks), word_for_word, same_returned, same_mistakes)


def _same_wrong(first: Answer, second: Answer, room: Classroom) -> tuple[float, bool, tuple[str, ...]]:
    """What being wrong in the same way counts for, whether all that was returned is the same, and the mistakes that
    both make."""
    if first.wrong is None or second.wrong is None:
        return 0.0, False, ()
    known = first.wrong.mistakes if first.wrong.mistakes == second.wrong.mistakes else ()
    same = first.wrong == second.wrong
    if known:
        return SAME_MISTAKES * room.rarity_of_wrong(known), same, known
    return (SAME_RETURNED * room.rarity_of_wrong(first.wrong) if same else 0.0), same, ()


def _tokens(one: Answer) -> int:
    return int(one.prints["at"][-1]) + LENGTH if len(one.prints) else 0


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun if count == 1 else noun + 's'}"
