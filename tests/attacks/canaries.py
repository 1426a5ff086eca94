"""What an attack could reach if nothing stopped it: files, sockets, a process. Each tells if it was touched."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SYSV_KEY = 0x5E1FA77E
PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/")

# Handles every signal that it can, and says which came.
VICTIM = """
import os, signal, sys, time
secret = sys.stdin.readline()
def tell(number, _frame):
    os.write(1, f"{number} ".encode())
for number in set(range(1, 32)) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGTERM}:
    signal.signal(number, tell)
os.write(1, b"ready ")
while True:
    time.sleep(60)
"""


class Canaries:
    """All of them, below `root`. `facts` is what an insider would know; `touched` says what has happened to them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.mark = f"mark{secrets.token_hex(6)}"
        self.secret = f"canary-{secrets.token_hex(8)}-end"
        self._write_files()
        self._listen()
        self.victim = subprocess.Popen(
            [sys.executable, "-c", VICTIM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        self._heard()
        assert self.victim.stdin is not None
        self.victim.stdin.write(f"{self.secret}\n".encode())
        self.victim.stdin.flush()
        while b"ready" not in self._heard(1.0):
            continue
        self._shared = _libc().shmget(ctypes.c_int(SYSV_KEY), ctypes.c_size_t(4096), ctypes.c_int(0o1666))
        self._files = self._contents()

    def facts(self) -> dict[str, Any]:
        """Paths, ports, names and numbers, and what tells a secret when it is found, but no secret itself."""
        return {
            "mark": self.mark,
            "secret_sha": hashlib.sha256(self.secret.encode()).hexdigest(),
            "secret_file": self.root / "home" / "secret.txt",
            "home": self.root / "home",
            "results": self.root / "out" / "results.sqlite",
            "gradebook": self.root / "out" / "gradebook.csv",
            "open_folder": self.root / "out",
            "victim": self.victim.pid,
            "sysv_key": SYSV_KEY,
            "tcp": self._sockets["tcp"].getsockname()[1],
            "tcp6": self._sockets["tcp6"].getsockname()[1] if "tcp6" in self._sockets else 0,
            "udp": self._sockets["udp"].getsockname()[1],
            "unix": self.root / "stream.sock",
            "unix_datagram": self.root / "datagram.sock",
            "abstract": self.mark,
            "abstract_datagram": f"{self.mark}d",
        }

    def touched(self) -> list[str]:
        """Return what was done to them; empty if nothing was."""
        found = [f"the {name} socket got something" for name, sock in self._sockets.items() if _has_something(sock)]
        found += [f"the victim got signal {number}" for number in sorted(self._signals())]
        if self.victim.poll() is not None:
            found.append("the victim is dead")
        now = self._contents()
        changed = {path for path, _ in now.items() ^ self._files.items()}
        found += [f"{path.removeprefix(str(self.root))} was changed" for path in sorted(changed)]
        for place in PLACES:
            with contextlib.suppress(OSError):
                found += [f"{left} was left" for left in Path(place).glob(f"*{self.mark}*")]
        return found

    def close(self) -> None:
        """Take them away, and what an attack has left that had fewer layers round it."""
        for place in PLACES:
            for left in Path(place).glob(f"{self.mark}*"):
                shutil.rmtree(left, ignore_errors=True) if left.is_dir() and not left.is_symlink() else left.unlink()
        for sock in self._sockets.values():
            sock.close()
        self.victim.send_signal(signal.SIGKILL)
        self.victim.communicate()
        if self._shared >= 0:
            _libc().shmctl(self._shared, 0, None)  # IPC_RMID

    def _write_files(self) -> None:
        for name in ("home/secret.txt", "home/.netrc", "out/results.sqlite", "out/gradebook.csv"):
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{self.secret}\n")
            path.chmod(0o666)
            path.parent.chmod(0o777)

    def _listen(self) -> None:
        self._sockets: dict[str, socket.socket] = {}
        stream, datagram, unix = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.AF_UNIX
        self._open("tcp", socket.AF_INET, stream, ("127.0.0.1", 0))
        with contextlib.suppress(OSError):  # a machine without IPv6
            self._open("tcp6", socket.AF_INET6, stream, ("::1", 0))
        self._open("udp", socket.AF_INET, datagram, ("127.0.0.1", 0))
        self._open("unix", unix, stream, str(self.root / "stream.sock"))
        self._open("unix datagram", unix, datagram, str(self.root / "datagram.sock"))
        self._open("abstract", unix, stream, f"\0{self.mark}")
        self._open("abstract datagram", unix, datagram, f"\0{self.mark}d")
        for path in (self.root / "stream.sock", self.root / "datagram.sock"):
            path.chmod(0o777)

    def _open(self, name: str, family: int, kind: int, address: Any) -> None:
        sock = socket.socket(family, kind)
        sock.bind(address)
        if kind == socket.SOCK_STREAM:
            sock.listen(8)
        sock.setblocking(False)
        self._sockets[name] = sock

    def _heard(self, seconds: float = 0.0) -> bytes:
        assert self.victim.stdout is not None
        os.set_blocking(self.victim.stdout.fileno(), False)
        deadline = time.monotonic() + seconds
        while True:
            with contextlib.suppress(BlockingIOError):
                return os.read(self.victim.stdout.fileno(), 4096)
            if time.monotonic() >= deadline:
                return b""
            time.sleep(0.01)

    def _signals(self) -> set[str]:
        """Return the signals that the victim has got.

        It is sent one too: once it reports that, it has reported all before.
        """
        heard: set[str] = set()
        ours = str(int(signal.SIGWINCH))
        self.victim.send_signal(signal.SIGWINCH)
        deadline = time.monotonic() + 60
        while ours not in heard and self.victim.poll() is None and time.monotonic() < deadline:
            heard.update(self._heard(1.0).decode().split())
        return heard - {ours}

    def _contents(self) -> dict[str, tuple[int, int, bytes]]:
        """Everything below the root: mode, time of change, content."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            status = path.lstat()
            content = b""
            with contextlib.suppress(PermissionError):  # what an attack left as another user may be closed to us
                content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
            found[str(path)] = (status.st_mode, status.st_mtime_ns, content)
        return found


def _has_something(sock: socket.socket) -> bool:
    """Whether anybody connected or sent; takes it, so that it is told once."""
    try:
        if sock.type == socket.SOCK_DGRAM:
            return bool(sock.recv(1 << 16)) or True
        sock.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)
