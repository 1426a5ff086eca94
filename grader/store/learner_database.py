"""Open the database of a learner's progress when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from grader.errors import StoreError
from grader.files import PRIVATE_FOLDER

if TYPE_CHECKING:
    from grader.store.sqlite import Database

T = TypeVar("T")

BUSY_SECONDS = 5.0


class LearnerDatabase:
    """One SQLite file. The first write makes it; reading a missing file returns nothing, and does not load SQLite."""

    def __init__(self, path: Path, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = path
        self.busy_seconds = busy_seconds
        self._database: Database | None = None

    @property
    def notices(self) -> tuple[str, ...]:
        """Messages about the file for the learner."""
        return tuple(self._database.notices) if self._database else ()

    def close(self) -> None:
        if self._database:
            self._database.close()

    def read(self, convert: Callable[[tuple[Any, ...]], T], sql: str, *parameters: object) -> list[T]:
        """Return `convert` of every row of a query; nothing where there is no file. Raises StoreError."""
        database = self._open_existing()
        return database.read(convert, sql, parameters) if database else []

    def read_number(self, sql: str, *parameters: object) -> int:
        """Return the one number of a query; 0 for NULL and where there is no file. Raises StoreError."""
        return sum(self.read(lambda row: int(row[0] or 0), sql, *parameters))

    def write(self, sql: str, *parameters: object) -> None:
        """Run one statement that writes. Raises StoreError if nothing was saved."""
        self.write_all([(sql, parameters)])

    def write_all(self, statements: Sequence[tuple[str, Sequence[object]]]) -> None:
        """Run statements that write, in one transaction. Raises StoreError if nothing was saved."""
        try:
            self.path.parent.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"your progress could not be saved: {error.strerror}",
                where=str(self.path.parent),
                next_step="make that folder writable for yourself",
            ) from None
        self._open().write_all(statements)

    def _open_existing(self) -> Database | None:
        """Open the database if there is a file: `learn list` in a fresh folder neither makes one nor loads SQLite."""
        try:
            exists = self._database is not None or self.path.exists()
        except OSError:  # the folder cannot be searched; opening explains that
            exists = True
        return self._open() if exists else None

    def _open(self) -> Database:
        if self._database is None:
            from grader.store import migrations
            from grader.store.sqlite import Database  # here, because SQLite takes a while to load

            self._database = Database(
                self.path, self.busy_seconds, migrations.MIGRATIONS, "your progress", replace_damaged=True
            )
        return self._database
