"""
tries = "to send half a frame and then nothing"
entry = "forged, truncated, huge and endless frames on every descriptor"
lesson = "softmax"
state = "timed-out"
score = 1.0
mistake = "timeout"
"""

import os
import socket
import struct

import torch

FACTS = {}
LINE = socket.socket(fileno=os.dup(3))
LINE.sendall(struct.pack('>IQ', 100, 50) + b'{')
import time
time.sleep(30)


def softmax(x, dim=-1):
    powers = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return powers / powers.sum(dim=dim, keepdim=True)
