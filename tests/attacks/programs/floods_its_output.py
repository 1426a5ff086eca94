"""
tries = "to print without end in a call"
entry = "fork bomb, thread flood, memory bomb, disk fill, descriptor exhaustion, output flood"
lesson = "softmax"
state = "crashed"
score = 1.0
mistake = "crashed"
"""

import sys


def softmax(x, dim=-1):
    while True:
        sys.stderr.write("x" * 100_000)
