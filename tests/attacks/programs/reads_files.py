"""
tries = "to read the answers, the hidden checks, other submissions, the results, the home folder and the system's files"
entry = "reading the reference, the checks, /etc/passwd, home, other submissions, the environment"
lesson = "argmax_2d"
state = "graded"
score = 10.0
prints = "looked"
beside = ["recon.py"]
"""

import mmap
import os

import numpy as np
from recon import LIBC, attempt

FACTS = {}


def with_open(path):
    with open(path, "rb") as file:
        return file.read(64)


def with_os(path):
    return os.read(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), 64)


def by_its_place(path):
    return with_open(f"/proc/self/fd/{os.open(path, os.O_PATH)}")


def with_map(path):
    return mmap.mmap(os.open(path, os.O_RDONLY), 0, prot=mmap.PROT_READ)[:8]


def with_numpy(path):
    return np.fromfile(path, dtype=np.uint8, count=8).size


def with_c(path):
    LIBC.fopen.restype = __import__("ctypes").c_void_p
    return LIBC.fopen(path.encode(), b"r")


kinds = {
    "the answers": ("reference", "checks", "mistakes"),
    "other hand-ins": ("other", "own"),
    "the results": ("results", "gradebook"),
    "the home folder": ("secret_file",),
}
for what, names in kinds.items():
    for name in names:
        for way in (with_open, with_os, by_its_place, with_map, with_numpy, with_c):
            attempt(f"read {what}", lambda way=way, name=name: way(FACTS[name]))
for path in ("/etc/passwd", "/etc/hostname", "/etc/hosts", "/etc/resolv.conf", "/proc/version", "/proc/1/cmdline"):
    attempt("read the system's files", lambda path=path: with_open(path))
for name in ("environ", "maps", "mem", "cmdline", "status"):
    attempt("read its own /proc", lambda name=name: with_open(f"/proc/self/{name}") or name == "mem")
for who in ("judge", "fork_server", "victim"):
    for name in ("environ", "cmdline", "maps"):
        attempt("read /proc of others", lambda who=who, name=name: with_open(f"/proc/{FACTS[who]}/{name}"))
for folder in ("submissions", "solutions", "home", "open_folder"):
    attempt("list our folders", lambda folder=folder: os.listdir(FACTS[folder]))
for folder in ("/", "/tmp", "/home", "/proc", os.path.expanduser("~")):
    attempt("list the system's folders", lambda folder=folder: os.listdir(folder))
attempt("go to the answers", lambda: os.chdir(FACTS["solutions"]) or os.listdir("."))
print("looked")


def argmax_2d(grid):
    return divmod(int(grid.argmax()), grid.shape[1])
