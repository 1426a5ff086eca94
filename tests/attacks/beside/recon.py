# Tries one thing after another, and prints which of them got through.
import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long


def attempt(what, function):
    """`function` gets through if it returns something true and raises nothing."""
    try:
        got = function()
    except BaseException:
        return
    if got:
        print("BREACH:", what, flush=True)


def call(*arguments):
    """A C function by its name, or a system call by its number; raises OSError."""
    name, *rest = arguments
    function = getattr(LIBC, name) if isinstance(name, str) else LIBC.syscall
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in (rest if isinstance(name, str) else arguments)]
    result = function(*words)
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def done(*arguments):
    """The same, for a call that answers 0 when it was done."""
    call(*arguments)
    return True


def near():
    """Process ids of the parent and of those beside us: in a namespace of processes all are ours, else others' too."""
    inside = os.getppid() < 3
    return sorted(({*range(1, 60)} if inside else {os.getppid()}) - {os.getpid()})
