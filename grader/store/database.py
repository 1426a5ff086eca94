"""The SQLite file under the store: opened, brought up to date, and set aside if it is damaged.

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
from grader.store.migrations import MIGRATIONS

T = TypeVar("T")
Row = tuple[Any, ...]

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_UNREADABLE = (AttributeError, LookupError, TypeError, ValueError)  # from rows whose text is damaged
_CLOSED = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}


class Database:
    """One file, opened when it is first used. `notices` tells what was done to it that its owner should know."""

    def __init__(self, path: Path, busy_seconds: float) -> None:
        self.path = path
        self.busy_seconds = busy_seconds
        self.notices: list[str] = []
        self._connection: sqlite3.Connection | None = None

    def read(self, convert: Callable[[Row], T], sql: str, parameters: Sequence[object]) -> list[T]:
        """`convert` of every row of a query. Raises StoreError, also for a row that cannot be converted."""

        def act(connection: sqlite3.Connection) -> list[T]:
            return [convert(row) for row in connection.execute(sql, parameters).fetchall()]

        return self._do(act, "your progress cannot be read")

    def write(self, sql: str, parameters: Sequence[object]) -> None:
        """Run one statement that writes. Raises StoreError: then nothing of it was saved."""

        def act(connection: sqlite3.Connection) -> None:
            with _transaction(connection):
                connection.execute(sql, parameters)

        self._do(act, "your progress was not saved")

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _do(self, act: Callable[[sqlite3.Connection], T], failure: str) -> T:
        """`act` on the connection; once more on a fresh file if this one turns out to be damaged."""
        try:
            return act(self._connected())
        except (sqlite3.Error, *_UNREADABLE) as error:
            if _code(error) not in _DAMAGED:
                raise self._explained(error, failure) from None
        self.close()
        try:
            self._set_aside()
            return act(self._connected())
        except (sqlite3.Error, OSError, *_UNREADABLE) as error:
            raise self._explained(error, failure) from None

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = self._connect()
            try:
                self._bring_up_to_date(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=self.busy_seconds, isolation_level=None)

    def _bring_up_to_date(self, connection: sqlite3.Connection) -> None:
        if self._version(connection) == len(MIGRATIONS):
            return
        with _transaction(connection):
            version = self._version(connection)  # again: another process may have been first
            for statements in MIGRATIONS[version:]:
                for statement in statements:
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    def _version(self, connection: sqlite3.Connection) -> int:
        """How many migrations the file has been through. Raises StoreError if it has more than we know."""
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version > len(MIGRATIONS):
            raise StoreError(
                f"a newer version of selfattend wrote this progress (its format is {version}, "
                f"this version knows {len(MIGRATIONS)})",
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
