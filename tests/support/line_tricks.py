"""What a hostile worker may do on its line to the judge, and when; a thread or a real worker carries it out."""

from __future__ import annotations

import array
import random
import socket
import struct
import time
from collections.abc import Callable

ANSWER = b'{"$dict":[["id",%d],["value",1.5],["after",[[],{"$dict":[]}]]]}'
Script = list[list]  # of [seconds to wait, name of a trick, a number for it]


def frame(number: int) -> bytes:
    """The right answer to a request."""
    header = ANSWER % number
    return struct.pack(">IQ", len(header), 0) + header


def dribble(line: socket.socket, sent: bytes, pause: float) -> None:
    """Send these bytes one by one."""
    for byte in sent:
        line.send(bytes([byte]))
        time.sleep(pause)


def pass_a_descriptor(line: socket.socket, _number: int) -> None:
    line.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [line.fileno()]))])


TRICKS: dict[str, Callable[[socket.socket, int], object]] = {
    "nothing": lambda line, number: None,
    "out of band": lambda line, number: line.send(b"x", socket.MSG_OOB),
    "out of band, often": lambda line, number: [line.send(b"x", socket.MSG_OOB) for _ in range(100)],
    "out of band inside an answer": lambda line, number: (
        line.send(frame(number)[:20]),
        line.send(b"x", socket.MSG_OOB),
        line.send(frame(number)[20:]),
    ),
    "an answer": lambda line, number: line.sendall(frame(number)),
    "an answer ahead": lambda line, number: line.sendall(frame(number + 1)),
    "a dribbled answer": lambda line, number: dribble(line, frame(number), 0.0005),
    "an answer that takes too long": lambda line, number: dribble(line, frame(number), 0.05),
    "a dribbled frame": lambda line, number: dribble(line, struct.pack(">IQ", 1 << 20, 1 << 16) + b"[" * 4000, 0.0005),
    "half a frame": lambda line, number: line.sendall(struct.pack(">IQ", 100, 50) + b"{"),
    "a frame just below the limits": lambda line, number: line.sendall(struct.pack(">IQ", 1 << 20, 1 << 18)),
    "a frame just above the limits": lambda line, number: line.sendall(struct.pack(">IQ", (1 << 20) + 1, 64 << 20)),
    "a flood": lambda line, number: [line.sendall(b"\0\0\0\2" + bytes(8) + b"{}") for _ in range(100_000)],
    "a flood of a large frame": lambda line, number: (
        line.sendall(struct.pack(">IQ", 1 << 20, 63 << 20)),
        [line.sendall(b"[" * 65536) for _ in range(1100)],
    ),
    "no more words": lambda line, number: line.shutdown(socket.SHUT_WR),
    "no more ears": lambda line, number: line.shutdown(socket.SHUT_RD),
    "both": lambda line, number: line.shutdown(socket.SHUT_RDWR),
    "a descriptor": pass_a_descriptor,
}


def play(line: socket.socket, script: Script) -> None:
    """Carry out a script, as far as the other side lets it."""
    for pause, trick, number in script:
        time.sleep(pause)
        try:
            TRICKS[trick](line, number)
        except OSError:
            continue


def draw_script(chance: random.Random, number: int) -> Script:
    """Draw tricks in any order around the answer to request *number*."""
    pauses = (0.0, 0.0, 0.001, 0.02, 0.1)
    tricks = [chance.choice(sorted(TRICKS)) for _ in range(chance.randint(1, 5))]
    return [[chance.choice(pauses), trick, number] for trick in tricks]
