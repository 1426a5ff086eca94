"""
tries = "to sleep for an hour in every call"
entry = "sleeping through its limit, ignoring SIGTERM, daemonised grandchildren"
lesson = "softmax"
state = "timed-out"
score = 1.0
mistake = "timeout"
"""

import time


def softmax(x, dim=-1):
    time.sleep(3600)
