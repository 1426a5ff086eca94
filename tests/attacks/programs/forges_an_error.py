"""
tries = "to answer with an error of a form that no worker gives"
entry = "forged, truncated, huge and endless frames on every descriptor"
lesson = "softmax"
state = "would-not-import"
score = 1.0
mistake = "exception"
"""

import os
import socket
import struct

import torch

FACTS = {}
LINE = socket.socket(fileno=os.dup(3))
text = b'{"$dict":[["id",1],["error",{"$dict":[["kind","raised"],["type","T"],["text","t"],["frames",5]]}]]}'
LINE.sendall(struct.pack('>IQ', len(text), 0) + text)
import time
time.sleep(30)


def softmax(x, dim=-1):
    powers = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return powers / powers.sum(dim=dim, keepdim=True)
