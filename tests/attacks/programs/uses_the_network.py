"""
tries = "to reach somebody by TCP, MPTCP, UDP, UNIX and abstract sockets, netlink and raw packets, and to ask for a name"
entry = "network by TCP, UDP, UNIX and abstract sockets, loopback and DNS"
lesson = "argmax_2d"
state = "graded"
score = 10.0
prints = "looked"
beside = ["recon.py"]
"""

import os
import socket

from recon import attempt

FACTS = {}
STREAM, DATAGRAM = socket.SOCK_STREAM, socket.SOCK_DGRAM


def connect(family, kind, address, protocol=0):
    sock = socket.socket(family, kind, protocol)
    sock.settimeout(0.3)
    sock.connect(address)
    return sock.send(b"hello")


def send(family, address):
    return socket.socket(family, DATAGRAM).sendto(b"hello", address)


def listen(family, address):
    sock = socket.socket(family, STREAM)
    sock.bind(address)
    sock.listen(1)
    return True


def pair_sends(address):
    left, _ = socket.socketpair(socket.AF_UNIX, DATAGRAM)
    return left.sendto(b"hello", address)


def over_the_line(address):
    return socket.socket(fileno=os.dup(3)).sendto(b"", address) >= 0


attempt("connect by TCP", lambda: connect(socket.AF_INET, STREAM, ("127.0.0.1", FACTS["tcp"])))
attempt("connect by TCP over IPv6", lambda: FACTS["tcp6"] and connect(socket.AF_INET6, STREAM, ("::1", FACTS["tcp6"])))
attempt("connect by MPTCP", lambda: connect(socket.AF_INET, STREAM, ("127.0.0.1", FACTS["tcp"]), 262))
attempt("send by UDP", lambda: send(socket.AF_INET, ("127.0.0.1", FACTS["udp"])))
attempt("send by UDP to the world", lambda: send(socket.AF_INET, ("192.0.2.1", 53)))
attempt("connect to a UNIX socket", lambda: connect(socket.AF_UNIX, STREAM, str(FACTS["unix"])))
attempt("send to a UNIX socket", lambda: send(socket.AF_UNIX, str(FACTS["unix_datagram"])))
attempt("connect to an abstract socket", lambda: connect(socket.AF_UNIX, STREAM, "\0" + FACTS["abstract"]))
attempt("send to an abstract socket", lambda: send(socket.AF_UNIX, "\0" + FACTS["abstract_datagram"]))
attempt("send from a pair", lambda: pair_sends("\0" + FACTS["abstract_datagram"]))
attempt("send from a pair", lambda: pair_sends(str(FACTS["unix_datagram"])))
attempt("send elsewhere over the line", lambda: over_the_line("\0" + FACTS["abstract_datagram"]))
attempt("listen on TCP", lambda: listen(socket.AF_INET, ("127.0.0.1", 0)))
attempt("listen on an abstract socket", lambda: listen(socket.AF_UNIX, "\0" + FACTS["mark"] + "mine"))
attempt("ask the kernel over netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).fileno())
attempt("open a raw socket", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).fileno())
attempt("open a packet socket", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).fileno())
attempt("open a socket to the host of a virtual machine", lambda: socket.socket(40, STREAM).fileno())
attempt("open a socket to the kernel's ciphers", lambda: socket.socket(38, 5).fileno())
attempt("ask for a name", lambda: socket.getaddrinfo("canary.invalid", 80))
attempt("list the interfaces", lambda: socket.if_nameindex())
print("looked")


def argmax_2d(grid):
    return divmod(int(grid.argmax()), grid.shape[1])
