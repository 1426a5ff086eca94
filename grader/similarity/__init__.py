"""Hand-ins that are alike beyond what the exercise, the course and the rest of the class have in common.

`fingerprint` reads one file in the process that grades it; `similar` compares a whole class at the end of a run. What
comes out is places to look, never a verdict.

    reading.py     source text to tokens: layout, comments and imports gone, the author's own names marked
    prints.py      tokens to fingerprints, by winnowing
    known.py       what the course itself says, which nobody need have copied
    answer.py      one hand-in of one lesson: its prints, its names and remarks, and how it is wrong
    classroom.py   one lesson of a class: how rare each thing is, and which two might be alike
    overlap.py     the code that two share, and where it stands
    evidence.py    what two have in common, weighed, and the words for it
    pairs.py       a class to its pairs, the strongest first

No library does this. The one kept in Python, copydetect, compares every file with every other, needs matplotlib to be
imported, hashes with Python's seeded `hash`, so that prints of two processes cannot be compared, and counts a line that
half of the class wrote like one that nobody else did. In an exercise whose right answer has three lines, that
difference is all there is to see.
"""

from grader.similarity.pairs import similar
from grader.similarity.winnowing import fingerprint

__all__ = ["fingerprint", "similar"]
