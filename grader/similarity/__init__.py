"""Find hand-ins that are alike beyond what the exercise, the course and the class have in common.

`fingerprint` reads one file in the process that grades it; `compare_lessons` compares a class at the end of a run.
The result is pairs worth a look, never a verdict.

No maintained library does this. copydetect compares every file with every other, imports matplotlib, hashes with
Python's seeded `hash`, so that fingerprints of two processes differ, and counts a line that half of the class wrote
like a unique one. In an exercise whose right answer has three lines, that difference decides everything.
"""

from grader.similarity.pairs import Compared, compare_lessons, strongest_pairs
from grader.similarity.winnowing import fingerprint, has_code, read_fingerprints

__all__ = ["Compared", "compare_lessons", "fingerprint", "has_code", "read_fingerprints", "strongest_pairs"]
