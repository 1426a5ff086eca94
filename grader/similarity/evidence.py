"""What two solutions of one lesson share, as a score and in words.

The unit is a token of code that no other solution of the class has. Longer files need more of them; where only code is
shared, it has to be eight lines, since right answers to a short exercise are all alike. Names, comments and above all
the same wrong answer count too, weighed by rarity, but never without code.

The weights were set on independently written answers (`tests/content/answers`): the strongest evidence between any two
of those is 0.7, in classes of 2 to 74. `tests/similarity/test_similarity.py` measures how many disguised copies are
found.
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.similarity.class_index import MIN_TOKENS_RIGHT, ClassIndex
from grader.similarity.overlap import Overlap, find_overlap
from grader.similarity.solution import Solution

NAME_TOKENS = 12.0  # that an uncommon name counts for
REMARK_TOKENS = 25.0  # a comment or a text of several words
VERBATIM_TOKENS = 40.0  # all code is the same, with its names; only layout and comments may differ
SAME_RESULTS_TOKENS = 30.0  # the same wrong values and errors, which no known mistake explains
SAME_MISTAKES_TOKENS = 12.0  # the same known mistakes
BASE_EVIDENCE = 40.0  # that two empty files would need ...
EVIDENCE_PER_TOKEN = 0.12  # ... and for each token of the shorter one
MIN_SHARE = 0.3  # of the shorter one's own code
MAX_NAMES_SHOWN = 3  # names in a note ...
MAX_NAME_SHOWN = 40  # ... and characters of each


@dataclass(frozen=True)
class Evidence:
    """What two solutions share. A `strength` of 1 or more is worth a look."""

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
        shared = [f"the same {_plural(self.code.lines, 'line')} beyond what the course and most of the class write"]
        if self.word_for_word:
            shared.append("the whole file word for word")
        if self.same_mistakes:
            shared.append(f"the same mistake ({', '.join(self.same_mistakes)})")
        elif self.same_returned:
            shared.append("the same unusual wrong answer")
        if self.names:
            more = f" and {len(self.names) - MAX_NAMES_SHOWN} more" if len(self.names) > MAX_NAMES_SHOWN else ""
            shown = ", ".join(name[:MAX_NAME_SHOWN] for name in self.names[:MAX_NAMES_SHOWN])
            shared.append(f"the same uncommon names ({shown}{more})")
        if self.remarks:
            one = self.remarks == 1
            shared.append("1 equal comment or string" if one else f"{self.remarks} equal comments or strings")
        return f"{'; '.join(shared)}."


def compare(first: Solution, second: Solution, index: ClassIndex) -> Evidence | None:
    """Return what suggests a look at two solutions; None if that is too little."""
    code = find_overlap(first, second, index)
    if code is None or code.share < MIN_SHARE:
        return None
    names = tuple(sorted(name for name in first.names & second.names if index.rarity_of_words(name)))
    remarks = [remark for remark in first.remarks & second.remarks if index.rarity_of_words(remark)]
    wrong, same_returned, same_mistakes = _same_wrong(first, second, index)
    if not (wrong or remarks) and code.tokens < MIN_TOKENS_RIGHT:
        return None
    word_for_word = first.text == second.text and code.tokens >= MIN_TOKENS_RIGHT
    weight = code.weighed * code.share**0.5 + wrong + VERBATIM_TOKENS * word_for_word * code.weighed / code.tokens
    weight += NAME_TOKENS * sum(map(index.rarity_of_words, names)) + REMARK_TOKENS * sum(
        map(index.rarity_of_words, remarks)
    )
    needed = BASE_EVIDENCE + EVIDENCE_PER_TOKEN * min(first.tokens, second.tokens)
    return Evidence(weight / needed, code, names, len(remarks), word_for_word, same_returned, same_mistakes)


def _same_wrong(first: Solution, second: Solution, index: ClassIndex) -> tuple[float, bool, tuple[str, ...]]:
    """Return the weight of being wrong in the same way, whether all results are equal, and the shared mistakes."""
    if first.wrong is None or second.wrong is None:
        return 0.0, False, ()
    known = first.wrong.mistakes if first.wrong.mistakes == second.wrong.mistakes else ()
    same = first.wrong == second.wrong
    if known:
        return SAME_MISTAKES_TOKENS * index.rarity_of_wrong(known), same, known
    return (SAME_RESULTS_TOKENS * index.rarity_of_wrong(first.wrong) if same else 0.0), same, ()


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun if count == 1 else noun + 's'}"
