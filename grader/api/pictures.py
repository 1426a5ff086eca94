"""What a lesson's file of pictures may import.

What a picture is made with:

    picture            mark a function (submission, reference, rand) that returns a Drawing; its docstring is the title
    first_difference   ask a submission and the reference, until they differ
    Seen               what both answered; `take` gives the same of a part
    grids              matrices as cells: yours, expected and the difference
    bars               rows of numbers as bars
    curves             rows of numbers as curves
    Drawing            what these three return: data, a Vega-Lite specification, what was seen
"""

from __future__ import annotations

from grader.judge.pictures.draw import picture
from grader.judge.pictures.first_difference import Seen, first_difference
from grader.judge.pictures.views import Drawing, bars, curves, grids

__all__ = ["Drawing", "Seen", "bars", "curves", "first_difference", "grids", "picture"]
