"""Starts a Dask cluster on this machine: a scheduler and nodes, each a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

SECONDS = 90


class Cluster:
    """A scheduler and workers, each a process of this machine."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.temporary = place / "tmp"
        self.temporary.mkdir()
        file = place / "scheduler.json"
        self.scheduler = self.start("scheduler", "--scheduler-file", str(file), "--host", "127.0.0.1", "--port", "0")
        deadline = time.monotonic() + SECONDS
        while not (file.exists() and file.read_text().strip()):
            assert self.scheduler.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        self.address = json.loads(file.read_text())["address"]
        self.workers: list[subprocess.Popen[bytes]] = []

    def start(self, what: str, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        log = (self.place / f"{what}-{time.monotonic_ns()}.log").open("wb")
        with log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{what}", *options, "--no-dashboard"],
                stdout=log, stderr=log, start_new_session=True, cwd=self.place,
                env={**os.environ, "TMPDIR": str(self.temporary), **environment},
            )  # fmt: skip

    def add_workers(self, count: int, **environment: str) -> None:
        for _ in range(count):
            options = ["--nthreads", "1", "--no-nanny", "--local-directory", str(self.place / "local")]
            self.workers.append(self.start("worker", self.address, *options, **environment))

    def wait_for_nodes(self) -> None:
        deadline = time.monotonic() + SECONDS
        while not all("Registered to" in log.read_text() for log in self.place.glob("worker-*.log")):
            assert time.monotonic() < deadline
            time.sleep(0.05)

    @property
    def url(self) -> str:
        return self.address.replace("tcp://", "dask://")

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait(SECONDS)
