"""
tries = "to announce a byte that cannot be read, and then to wait for ever"
entry = "forged, truncated, huge and endless frames on every descriptor"
lesson = "argmax_2d"
state = "graded"
score = 10.0
prints = "refused twice"
"""

import os
import socket
import time

LINE = socket.socket(fileno=os.dup(3))
refused = 0
for send in (lambda: LINE.send(b"x", socket.MSG_OOB), lambda: LINE.sendmsg([b"x"], [], socket.MSG_OOB)):
    try:
        send()
        time.sleep(3600)
    except PermissionError:
        refused += 1
print("refused", "twice" if refused == 2 else "never")


def argmax_2d(grid):
    return divmod(int(grid.argmax()), grid.shape[1])
