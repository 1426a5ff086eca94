"""A file may say that it holds far more than it has room for: that is refused before memory or time is used for it."""

from __future__ import annotations

import sqlite3
import struct
import time
from contextlib import closing
from pathlib import Path

import pytest

from grader.errors import StoreError
from grader.store import Store
from grader.store.quiz_log import QuizLog


@pytest.fixture
def progress(tmp_path: Path) -> Path:
    """A progress file with one answer of the quiz, of 4 MB."""
    path = tmp_path / "progress.db"
    with Store.open(path) as store:
        QuizLog(store.database).salt()
    row = (
        "s",
        "f",
        "t",
        "numeric",
        1,
        "quiz",
        "1" * (4 << 20),
        1.0,
        0.0,
        "",
        "[]",
        1,
        "2026-01-01T00:00:00+00:00",
        1.0,
    )
    with closing(sqlite3.connect(path)) as file, file:
        file.execute(f"INSERT INTO quiz_answers VALUES (NULL{', ?' * 14})", row)
    return path


def test_rows_that_are_one_row_many_times_are_not_all_read(progress: Path) -> None:
    """A page that points two hundred times to one row gives 800 MB out of a file of 5."""
    with closing(sqlite3.connect(progress)) as file:
        (size,) = file.execute("PRAGMA page_size").fetchone()
        (root,) = file.execute("SELECT rootpage FROM sqlite_master WHERE name = 'quiz_answers'").fetchone()
    data = bytearray(progress.read_bytes())
    page = (root - 1) * size
    pointer = bytes(data[page + 8 : page + 10])
    struct.pack_into(">H", data, page + 3, 200)
    data[page + 8 : page + 8 + 400] = pointer * 200
    progress.write_bytes(data)

    with Store.open(progress) as store, pytest.raises(StoreError, match="its records are larger than the file"):
        QuizLog(store.database).answers()


@pytest.mark.parametrize("kind", ["many", "one of 700 kB"])
def test_definitions_without_end_are_not_all_parsed(progress: Path, kind: str) -> None:
    """SQLite parses all of them before the first query; a file that only that shows to be damaged is set aside."""
    views = ((f"v{n}", f"CREATE VIEW v{n} AS SELECT 1+2+3+4+5+6+7+8+9") for n in range(60_000))
    if kind != "many":
        sums = ", ".join(["+".join(["1"] * 400)] * 900)
        views = ((name, f"CREATE VIEW {name} AS SELECT {sums}") for name in ["v"])
    with closing(sqlite3.connect(progress)) as file, file:
        file.execute("PRAGMA writable_schema = 1")
        file.executemany("INSERT INTO sqlite_master VALUES ('view', ?1, ?1, 0, ?2)", views)
    with Store.open(progress.with_name("other.db")) as store:  # what takes time once is not measured
        QuizLog(store.database).answers()

    used = time.process_time()
    try:
        with Store.open(progress) as store:
            QuizLog(store.database).answers()
            said = store.database.notices[0]
    except StoreError as error:
        said = str(error)
    assert ("too long to compute" if kind == "many" else "damaged: it is kept as") in said
    assert time.process_time() - used < 1.0  # 0.05
