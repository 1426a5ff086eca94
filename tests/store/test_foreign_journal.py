"""A database that came with somebody's folder, and what SQLite would do at the word of the journal beside it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

from support.learn_command import learn, start_workspace

MAGIC = bytes.fromhex("d9d505f920a163d7")
INTERRUPTED = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN IMMEDIATE")
connection.execute("CREATE TABLE more (content)")
for _ in range(500):
    connection.execute("INSERT INTO more VALUES (randomblob(500))")
os._exit(0)
"""


def interrupt(database: Path) -> Path:
    """Leave a journal that SQLite rolls back; return its path."""
    subprocess.run([sys.executable, "-c", INTERRUPTED, str(database)], check=True, timeout=60)
    return database.with_name(f"{database.name}-journal")


def name_victim(journal: Path, victim: Path) -> None:
    """Say in a journal that it is one of several of a transaction, whose list SQLite deletes at the end."""
    name = str(victim).encode()
    record = (0x40000000 // 4096 + 1).to_bytes(4, "big") + name + len(name).to_bytes(4, "big")
    with journal.open("ab") as file:
        file.write(record + (sum(name) & 0xFFFFFFFF).to_bytes(4, "big") + MAGIC)


def test_a_journal_deletes_no_file_of_yours(tmp_path):
    """A workspace whose journal names a file is refused with the place of the journal, and the file stays."""
    workspace = start_workspace(tmp_path / "work")
    assert learn("check", "argmax_2d", cwd=workspace).returncode == 1
    victim = tmp_path / "thesis.tex"
    victim.write_text("precious")
    journal = interrupt(workspace / ".selfattend/progress.db")
    name_victim(journal, victim)

    done = learn("progress", cwd=workspace)

    assert victim.read_text() == "precious"
    assert done.returncode == 3 and str(journal) in done.stderr.replace("\n", "")


def test_a_journal_of_an_interrupted_command_is_rolled_back(tmp_path):
    """Where a command of ours was killed, the next one goes on with what was kept before."""
    workspace = start_workspace(tmp_path / "work")
    assert learn("check", "argmax_2d", cwd=workspace).returncode == 1
    database = workspace / ".selfattend/progress.db"
    journal = interrupt(database)

    assert learn("progress", cwd=workspace).returncode == 0

    assert not journal.exists()
    with sqlite3.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'more'").fetchone() == (0,)
