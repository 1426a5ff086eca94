"""
tries = "to die of a real-time signal, which has no name"
entry = "answers that are no values: views, cycles, exploding exceptions, crashes"
lesson = "softmax"
state = "crashed"
score = 1.0
mistake = "crashed"
"""

import os


def softmax(x, dim=-1):
    os.kill(os.getpid(), 41)
