"""The file of a learner's progress, opened when it is first needed. What is kept in it is the business of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from grader.errors import StoreError

if TYPE_CHECKING:
    from grader.store.sqlite import Database

T = TypeVar("T")

BUSY_SECONDS = 5.0


class ProgressFile:
    """One SQLite file. The first thing written makes it; reading makes none, and does not load SQLite without one."""

    def __init__(self, path: Path, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = path
        self.busy_seconds = busy_seconds
        self._database: Database | None = None

    @property
    def notices(self) -> tuple[str, ...]:
        """What the learner should be told about the file."""
        return tuple(self._database.notices) if self._database else ()

    def close(self) -> None:
        if self._database:
            self._database.close()

    def read(self, convert: Callable[[tuple[Any, ...]], T], sql: str, *parameters: object) -> list[T]:
        """`convert` of every row of a query; nothing where there is no file. Raises StoreError."""
        database = self._existing()
        return database.read(convert, sql, parameters) if database else []

    def number(self, sql: str, *parameters: object) -> int:
        """The one number that a query gives; 0 for NULL and where there is no file."""
        return sum(self.read(lambda row: int(row[0] or 0), sql, *parameters))

    def write(self, sql: str, *parameters: object) -> None:
        """Run one statement that writes. Raises StoreError: then nothing of it was saved."""
        self.write_all([(sql, parameters)])

    def write_all(self, statements: Sequence[tuple[str, Sequence[object]]]) -> None:
        """Run statements that write: all of them or, with StoreError, none."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"your progress could not be saved: {error.strerror}",
                where=str(self.path.parent),
                next_step="make that folder writable for yourself",
            ) from None
        self._opened().write_all(statements)

    def _existing(self) -> Database | None:
        """The database if there is a file: `learn list` in a fresh folder neither makes one nor loads SQLite."""
        try:
            there = self._database is not None or self.path.exists()
        except OSError:  # the folder may not be searched; opening says so in plain words
            there = True
        return self._opened() if there else None

    def _opened(self) -> Database:
        if self._database is None:
            from grader.store import migrations
            from grader.store.sqlite import Database  # here: SQLite takes a while to load

            self._database = Database(self.path, self.busy_seconds, migrations.MIGRATIONS)
        return self._database
