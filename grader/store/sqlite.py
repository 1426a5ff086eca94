"""The SQLite file under a store: opened, brought up to date, and set aside if it is damaged.

The journal is SQLite's default one, not WAL: home folders lie on network file systems, where WAL's shared memory does
not work. Two processes at once wait for each other.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from grader.errors import StoreError
from grader.store.migrations import MIGRATIONS, Migrations

T = TypeVar("T")
Row = tuple[Any, ...]

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_UNREADABLE = (AttributeError, LookupError, TypeError, ValueError)  # from rows whose text is damaged
_CLOSED = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}


class Database:
    """One file, opened when it is first used. `notices` tells what was done to it that its owner should know.

    `holds` is what its owner knows the content as. A damaged file is set aside and begun anew only if `begin_anew`.
    """

    def __init__(
        self, path: Path, busy_seconds: float, migrations: Migrations | None = None, holds: str = "your progress",
        *, begin_anew: bool = True,
    ) -> None:  # fmt: skip
        self.path = path
        self.busy_seconds = busy_seconds
        self.migrations = MIGRATIONS if migrations is None else migrations
        self.holds = holds
        self.begin_anew = begin_anew
        self.notices: list[str] = []
        self._connection: sqlite3.Connection | None = None

    def read(self, convert: Callable[[Row], T], sql: str, parameters: Sequence[object]) -> list[T]:
        """`convert` of every row of a query. Raises StoreError, also for a row that cannot be converted."""

        def act(connection: sqlite3.Connection) -> list[T]:
            return [convert(row) for row in connection.execute(sql, parameters).fetchall()]

        return self._do(act, f"{self.holds} cannot be read")

    def write(self, sql: str, parameters: Sequence[object]) -> None:
        """Run one statement that writes. Raises StoreError: then nothing of it was saved."""
        self.write_all([(sql, parameters)])

    def write_all(self, statements: Sequence[tuple[str, Sequence[object]]]) -> None:
        """Run statements that write: all of them or, with StoreError, none."""

        def act(connection: sqlite3.Connection) -> None:
            with _transaction(connection):
                for sql, parameters in statements:
                    connection.execute(sql, parameters)

        self._do(act, f"{self.holds} could not be saved")

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _do(self, act: Callable[[sqlite3.Connection], T], failure: str) -> T:
        """`act` on the connection; once more on a fresh file if this one turns out to be damaged."""
        try:
            return act(self._connected())
        except (sqlite3.Error, *_UNREADABLE) as error:
            if _code(error) not in _DAMAGED or not self.begin_anew:
                raise self._explained(error, failure) from None
        self.close()
        try:
            self._set_aside()
            return act(self._connected())
        except (sqlite3.Error, OSError, *_UNREADABLE) as error:
            raise self._explained(error, failure) from None

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            was_empty = _is_empty(self.path)
            connection = self._connect()
            try:
                self._bring_up_to_date(connection, was_empty)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=self.busy_seconds, isolation_level=None)

    def _bring_up_to_date(self, connection: sqlite3.Connection, was_empty: bool) -> None:
        if self._version(connection) == len(self.migrations):
            return
        with _transaction(connection):
            version = self._version(connection)  # again: another process may have been first
            if was_empty and not version:
                self.notices.append(
                    f"the file with {self.holds} was empty, as a crash before anything was kept leaves it: "
                    f"it is begun anew ({self.path})"
                )
            for statements in self.migrations[version:]:
                for statement in statements:
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {len(self.migrations)}")

    def _version(self, connection: sqlite3.Connection) -> int:
        """How many migrations the file has been through. Raises StoreError if it has more than we know."""
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version > len(self.migrations):
            raise StoreError(
                f"{self.holds} cannot be read: a newer version of selfattend wrote this file "
                f"(its format is {version}, this version knows {len(self.migrations)})",
                where=str(self.path),
                next_step="pip install --upgrade selfattend",
            )
        return version

    def _set_aside(self) -> None:
        """Rename the file if it is damaged indeed: another process may have put a sound one in its place by now."""
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

    def _explained(self, error: Exception, failure: str) -> StoreError:
        code = _code(error)
        next_step = "move that file to another place; a new one is begun then"
        if code in _LOCKED:
            why = f"another program has been using the file for {self.busy_seconds:g} seconds"
            next_step = "close the other program, and repeat the command"
        elif code == sqlite3.SQLITE_FULL:
            why, next_step = "the disk is full", "free some space, and repeat the command"
        elif code in _CLOSED or isinstance(error, PermissionError):
            why, next_step = "the file or its folder may not be opened or written", "make both writable for yourself"
        elif code == sqlite3.SQLITE_IOERR:
            why, next_step = f"the disk refused ({error})", "check whether the disk is full or failing"
        elif isinstance(error, _UNREADABLE):
            why = "a record in it is damaged"
        else:
            why = str(error)
        return StoreError(f"{failure}: {why}", where=str(self.path), next_step=next_step)


def _is_empty(path: Path) -> bool:
    """Whether there is a file of no bytes: SQLite takes it for a new one."""
    try:
        return path.stat().st_size == 0
    except OSError:  # there is none, or opening it says in plain words why not
        return False


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of what is done inside, or none. IMMEDIATE takes the lock at once, which lets it wait for its turn."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            with suppress(sqlite3.Error):  # the first error is the one to tell
                connection.execute("ROLLBACK")
        raise


def _code(error: Exception) -> int:
    """SQLite's primary result code; 0 if the error did not come from SQLite."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
