"""Programs of a simulation that can be killed at any of their steps outward.

A program's steps outward are its calls over the network and the commits of its
databases. A killed program does nothing more: its databases are rolled back at that
moment, as SQLite finds them after the death of a process, and whatever still runs of it
while the exception passes through can neither write nor call.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self


class Killed(BaseException):
    """A program ended here; nothing of the product may catch it."""

    def __init__(self, program: str) -> None:
        super().__init__(program)


@dataclass(slots=True, eq=False)
class Program:
    """A program with its open databases.

    Attributes:
        name: what the trace calls it.
        steps_left: how many steps outward it still makes; `None` lets it live.
        tell: is told where it was killed.
        is_dead: whether it was killed.
    """

    name: str
    tell: Callable[[str], None]
    steps_left: int | None = None
    is_dead: bool = False
    _databases: list["Database"] = field(default_factory=list)
    running: ClassVar[list["Program"]] = []

    @classmethod
    def current(cls) -> Self | None:
        """The program whose code runs now; `None` is somebody outside."""
        return cls.running[-1] if cls.running else None  # type: ignore[return-value]

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Its code runs inside the block."""
        self.running.append(self)
        try:
            yield
        finally:
            self.running.pop()

    def step(self, where: str) -> None:
        """Before or after a step outward.

        Raises:
            Killed: it ends here, or has ended before.
        """
        if not self.is_dead and self.steps_left is not None:
            self.steps_left -= 1
            if self.steps_left <= 0:
                self.tell(f"{self.name} is killed {where}")
                self.kill()
        if self.is_dead:
            raise Killed(self.name)

    def kill(self) -> None:
        """End it now."""
        self.is_dead = True
        for database in self._databases:
            database.drop()

    def bury(self) -> None:
        """End it, and let go of its files."""
        self.kill()
        for database in self._databases:
            sqlite3.Connection.close(database)

    def opens(self, database: "Database") -> None:
        """Note a database that it has opened."""
        self._databases.append(database)


class Database(sqlite3.Connection):
    """A connection to SQLite that belongs to the program that opened it."""

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - sqlite3's
        super().__init__(*arguments, **options)
        self._program = Program.current()
        if self._program is not None:
            self._program.opens(self)

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:  # noqa: ANN401 - sqlite3's
        """Execute a statement; a commit is a step outward."""
        if self._program is None:
            return super().execute(sql, *values)
        if self._program.is_dead:
            raise Killed(self._program.name)
        has_news = sql == "COMMIT" and self.total_changes != self._changes_seen
        if not has_news:
            return super().execute(sql, *values)
        self._program.step("before it commits")
        done = super().execute(sql, *values)
        self._changes_seen = self.total_changes
        self._program.step("after it has committed")
        return done

    _changes_seen = 0

    def rollback(self) -> None:
        """Undo the transaction, unless the death of the program did."""
        if self._program is None or not self._program.is_dead:
            super().rollback()

    def drop(self) -> None:
        """Undo what is not committed, as SQLite does after a death."""
        with suppress(sqlite3.ProgrammingError):  # It was closed before.
            super().rollback()
