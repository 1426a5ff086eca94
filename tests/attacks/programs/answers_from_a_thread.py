"""
tries = "to leave a thread behind that answers on the line whenever it likes"
entry = "forged, truncated, huge and endless frames on every descriptor"
lesson = "softmax"
state = "any"
score = 10.0
at_most = true
"""

import json
import os
import socket
import struct
import threading
import time

import torch

LINE = socket.socket(fileno=os.dup(3))


def go_on():
    number = 1
    while True:
        header = json.dumps({"$dict": [["id", number], ["value", 1.0], ["after", [[], {"$dict": []}]]]}).encode()
        LINE.sendall(struct.pack(">IQ", len(header), 0) + header)
        number += 1
        time.sleep(0.001)


threading.Thread(target=go_on, daemon=True).start()


def softmax(x, dim=-1):
    powers = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return powers / powers.sum(dim=dim, keepdim=True)
