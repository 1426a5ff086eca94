"""Open a SQLite file, migrate it, and set it aside if it is damaged.

The journal is SQLite's default, not WAL, whose shared memory does not work on the network file systems of many home
folders. Two processes wait for each other.

Somebody else may have made the file. So its tables must be exactly ours, how much of it is read and how long a query
computes is bounded, and what stands beside it is looked at before SQLite follows it.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from grader.errors import StoreError
from grader.files import make_private
from grader.store.migrations import Migrations

T = TypeVar("T")
V = TypeVar("V")
Row = tuple[Any, ...]

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_UNREADABLE = (  # damaged rows
    ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError,
)  # fmt: skip
_DENIED = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}

MAX_TABLES = 100  # with indexes; ours are some ten
MAX_ROWS = 100_000  # of one query
MAX_VALUE_BYTES = 16 << 20  # of a text in a row
# Rows of a damaged file may share their pages, and be hundreds of times as large as it is.
MOST_READ_OF_A_FILE = 4  # times its size
SMALL_FILE_BYTES = 16 << 20
MAX_SQL_BYTES = 100_000  # of one definition in the file, or one query
SCHEMA_STEPS = 20_000  # instructions in which SQLite reads its definitions, and so that of some thousand
MAX_STEPS = 200  # of STEP_SIZE instructions of SQLite's machine, in one query: a few seconds
STEP_SIZE = 1_000_000
geteuid = getattr(os, "geteuid", int)  # Windows has none
OTHERS = stat.S_IRWXG | stat.S_IRWXO
JOURNAL = "-journal"
BESIDE = ("", JOURNAL, "-wal", "-shm")  # SQLite opens these without being asked
JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
MOVE_IT = "move that file to another place; a new one is begun then"


class Database:
    """One file, opened when it is first used. `notices` are messages about it for its owner."""

    def __init__(
        self, path: Path, busy_seconds: float, migrations: Migrations, content: str, *, replace_damaged: bool
    ) -> None:
        """Prepare to open a file, which need not exist.

        Another process that is writing is waited for. Messages call what is in the file `content`. A damaged file is
        set aside and an empty one begun if `replace_damaged`.
        """
        self.path, self.busy_seconds, self.migrations = path, busy_seconds, migrations
        self.content, self.replace_damaged = content, replace_damaged
        self.notices: list[str] = []
        self._steps = 0
        self._connection: sqlite3.Connection | None = None

    def read(self, convert: Callable[[Row], T], sql: str, parameters: Sequence[object]) -> list[T]:
        """Return `convert` of every row of a query. Raises StoreError, also for a row that cannot be converted."""

        def act(connection: sqlite3.Connection) -> list[T]:
            found: list[T] = []
            room = MOST_READ_OF_A_FILE * _size_of(self.path) + SMALL_FILE_BYTES
            for row in connection.execute(sql, parameters):
                room -= sum(len(value) for value in row if isinstance(value, str | bytes))
                if room < 0:
                    raise self._refuse("its records are larger than the file")
                if len(found) == MAX_ROWS:
                    raise self._refuse(f"it holds more than {MAX_ROWS} records")
                found.append(convert(row))
            return found

        return self._run(act, f"{self.content} cannot be read")

    def convert(self, convert: Callable[[V], T], value: V) -> T:
        """Return `convert` of what several rows have made. Raises StoreError as `read` does."""
        try:
            return convert(value)
        except _UNREADABLE as error:
            raise self._explain(error, f"{self.content} cannot be read") from None

    def write_all(self, statements: Sequence[tuple[str, Sequence[object]]]) -> None:
        """Run statements that write, in one transaction. Raises StoreError if nothing was saved."""

        def act(connection: sqlite3.Connection) -> None:
            with _transaction(connection):
                for sql, parameters in statements:
                    connection.execute(sql, parameters)

        self._run(act, f"{self.content} could not be saved")

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _run(self, act: Callable[[sqlite3.Connection], T], failure: str) -> T:
        """Run `act` on the connection, and again on an empty file if this one is damaged."""
        self._steps = 0
        try:
            return act(self._open())
        except (sqlite3.Error, *_UNREADABLE) as error:
            if _code(error) not in _DAMAGED or not self.replace_damaged:
                raise self._explain(error, failure) from None
        self.close()
        try:
            self._set_aside()
            return act(self._open())
        except (sqlite3.Error, OSError, *_UNREADABLE) as error:
            raise self._explain(error, failure) from None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            was_empty = _is_empty(self.path)
            connection = self._connect()
            try:
                self._migrate(connection, was_empty)
                self._check_tables(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        self._check_files()
        self._close_to_others()
        connection = sqlite3.connect(self.path, timeout=self.busy_seconds, isolation_level=None)
        try:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
            connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, MAX_SQL_BYTES)
            connection.set_progress_handler(lambda: True, SCHEMA_STEPS)
            connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()  # reads and parses all definitions
            connection.set_progress_handler(self._count_steps, STEP_SIZE)
        except BaseException:
            connection.close()
            raise
        return connection

    def _count_steps(self) -> bool:
        """Count a step of a query; True stops it."""
        self._steps += 1
        return self._steps > MAX_STEPS

    def _check_files(self) -> None:
        """Raise StoreError for a link, a pipe or a device, and for a journal of several databases.

        SQLite deletes whatever file such a journal names. This program never writes one, and the file may have come
        with somebody else's folder.
        """
        path = self.path
        for each in (path.with_name(path.name + end) for end in BESIDE):
            with suppress(OSError):  # it is not there, or opening it explains why not
                mode = each.lstat().st_mode
                if stat.S_ISLNK(mode):  # our tables would be made in whatever database it leads to
                    raise self._refuse(f"{each.name} is a link")
                if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                    raise self._refuse(f"{each.name} is no ordinary file")
        journal, last = path.with_name(path.name + JOURNAL), b""
        with suppress(OSError), journal.open("rb") as file:
            file.seek(-len(JOURNAL_MAGIC), os.SEEK_END)
            last = file.read()
        if last == JOURNAL_MAGIC:
            what = f"{self.content} cannot be read: the journal beside the file is none of this program"
            raise StoreError(what, where=str(journal), next_step="move that file away, then repeat the command")

    def _close_to_others(self) -> None:
        """Let only the owner read the file, also one that an earlier version made; the journal gets the same mode."""
        with suppress(OSError):  # it cannot be made or looked at: opening it says why
            if not self.path.exists():
                make_private(self.path)
            found = self.path.stat()
            if found.st_uid == geteuid() and found.st_mode & OTHERS:
                self.path.chmod(stat.S_IMODE(found.st_mode) & ~OTHERS)

    def _check_tables(self, connection: sqlite3.Connection) -> None:
        """Raise StoreError unless every table is as the migrations make it, and nothing is hung on one.

        A trigger acts, and an index computes an expression, whenever a row is written: for hours, if it says so.
        """
        with closing(sqlite3.connect(":memory:")) as fresh:
            for statement in itertools.chain(*self.migrations):
                fresh.execute(statement)
            ours = _read_tables(fresh)
        found = _read_tables(connection)
        if not ours <= found or len(found) > MAX_TABLES or any(kind != "table" for kind, *_ in found - ours):
            raise self._refuse("its tables are not as selfattend makes them")

    def _refuse(self, why: str) -> StoreError:
        return StoreError(f"{self.content} cannot be read: {why}", where=str(self.path), next_step=MOVE_IT)

    def _migrate(self, connection: sqlite3.Connection, was_empty: bool) -> None:
        if self._read_version(connection) == len(self.migrations):
            return
        with _transaction(connection):
            version = self._read_version(connection)  # again, because another process may have migrated it
            if was_empty and not version:
                self.notices.append(
                    f"the file with {self.content} was empty, as a crash before anything was kept leaves it: "
                    f"it is begun anew ({self.path})"
                )
            for statements in self.migrations[version:]:
                for statement in statements:
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {len(self.migrations)}")

    def _read_version(self, connection: sqlite3.Connection) -> int:
        """Return how many migrations the file has been through. Raises StoreError for unknown ones."""
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version not in range(len(self.migrations) + 1):
            raise StoreError(
                f"{self.content} cannot be read: a newer version of selfattend wrote this file "
                f"(its format is {version}, this version knows {len(self.migrations)})",
                where=str(self.path),
                next_step="pip install --upgrade selfattend",
            )
        return version

    def _set_aside(self) -> None:
        """Rename the file, unless another process has replaced it by a sound one."""
        if self._is_sound():
            return
        number = 1
        while (aside := self.path.with_name(f"{self.path.name}.damaged-{number}")).exists():
            number += 1
        self.path.rename(aside)
        self.notices.append(
            f"your progress file was damaged: it is kept as {aside}, and progress is counted anew from here"
        )

    def _is_sound(self) -> bool:
        try:
            with closing(self._connect()) as connection:
                return connection.execute("PRAGMA integrity_check(1)").fetchall() == [("ok",)]
        except sqlite3.DatabaseError as error:
            if _code(error) not in _DAMAGED:
                raise
            return False

    def _explain(self, error: Exception, failure: str) -> StoreError:
        code = _code(error)
        next_step = MOVE_IT
        if code in _LOCKED:
            why = f"another program has been using the file for {self.busy_seconds:g} seconds"
            next_step = "close the other program, and repeat the command"
        elif code == sqlite3.SQLITE_FULL:
            why, next_step = "the disk is full", "free some space, and repeat the command"
        elif code in _DENIED or isinstance(error, PermissionError):
            why, next_step = "the file or its folder may not be opened or written", "make both writable for yourself"
        elif code == sqlite3.SQLITE_IOERR:
            why, next_step = f"the disk refused ({error})", "check whether the disk is full or failing"
        elif code == sqlite3.SQLITE_INTERRUPT:
            why = "it takes too long to compute what is in it"
        elif isinstance(error, _UNREADABLE):
            why = "a record in it is damaged"
        else:
            why = str(error)
        return StoreError(f"{failure}: {why}", where=str(self.path), next_step=next_step)


def _is_empty(path: Path) -> bool:
    """Return True for a file of no bytes, which SQLite takes for a new one."""
    return _size_of(path) == 0


def _size_of(path: Path) -> int:
    """Return the size of a file; -1 if there is none, or if opening it explains why not."""
    try:
        return path.stat().st_size
    except OSError:
        return -1


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit all that is done inside, or nothing. IMMEDIATE takes the lock at once, and so can wait for its turn."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            with suppress(sqlite3.Error):  # the first error is the one to report
                connection.execute("ROLLBACK")
        raise


def _read_tables(connection: sqlite3.Connection) -> set[Row]:
    """Return the type, name and definition of what is in a database."""
    return set(connection.execute("SELECT type, name, sql FROM sqlite_master LIMIT ?", (MAX_TABLES + 1,)))


def _code(error: Exception) -> int:
    """Return SQLite's primary result code; 0 if the error did not come from SQLite."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
