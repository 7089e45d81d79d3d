"""The database file: made once by whichever process comes first, opened by the next."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from piecework.marketplace.requester.calling import perform
from piecework.marketplace.schema.migrations import statements
from piecework.marketplace.state import audit
from piecework.marketplace.state.backend import Backend, Rules
from tests.at_once import PROCESSES, complaints_of_opening
from tests.marketplace.market import START

EARLIER = Path(__file__).parent / "before_sql_files.sql"
"""A rehearsal's database as `iterdump` wrote it when migrations were Python strings."""
RULES = Rules(rehearsal=True, seed=7, start=START)


def _schema(database: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database)) as conn:
        return conn.execute(
            "SELECT type, name, tbl_name, rtrim(sql, char(10)) FROM sqlite_master "
            "WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name"
        ).fetchall()


def _recorded(database: Path) -> list[str]:
    with closing(sqlite3.connect(database)) as conn:
        rows = conn.execute("SELECT name FROM _sqlite_migrations ORDER BY id")
        return [name for (name,) in rows]


def test_several_processes_open_a_new_file_at_the_same_instant(tmp_path: Path) -> None:
    """One makes it, the others find it made; none is refused, live or rehearsing."""
    complaints = complaints_of_opening(
        "from piecework.marketplace.state.backend import Backend, Rules",
        "Backend(path, Rules(rehearsal=number % 2 == 0)).close()",
        tmp_path,
    )
    assert complaints == [""] * PROCESSES


def test_a_database_of_an_earlier_version_opens_and_goes_on(tmp_path: Path) -> None:
    """Its HIT is still there, its worker still known, and it can post another."""
    database = tmp_path / "earlier.db"
    with closing(sqlite3.connect(database)) as conn:
        conn.executescript(EARLIER.read_text(encoding="utf-8"))
    with closing(Backend(database, RULES)) as backend:
        hit = {"HITId": "3BESIVB3GA86KMQWM5R8QT9WUB2EAD"}
        found = perform(backend, "LAB", "GetHIT", hit)["HIT"]
        assert found["NumberOfAssignmentsAvailable"] == 2
        assert found["Question"].startswith("<HTMLQuestion")
        more = {"NumberOfAdditionalAssignments": 1, **hit}
        perform(backend, "LAB", "CreateAdditionalAssignmentsForHIT", more)
        with backend.transaction() as transaction:
            assert audit.broken_laws(transaction) == []
            worker = transaction.one("SELECT * FROM workers WHERE handle = 'ann'")
            assert worker is not None
            assert worker["worker_id"] == "AN7PNPO1COBB81"


def test_a_new_database_is_made_as_earlier_versions_made_it(tmp_path: Path) -> None:
    """The same migrations under the same names, tables and indexes letter by letter."""
    earlier, new = tmp_path / "earlier.db", tmp_path / "new.db"
    with closing(sqlite3.connect(earlier)) as conn:
        conn.executescript(EARLIER.read_text(encoding="utf-8"))
    Backend(new, RULES).close()
    known = _recorded(earlier)
    assert _recorded(new)[: len(known)] == known
    # What a later migration adds or replaces is brought to the old file as well.
    Backend(earlier, RULES).close()
    assert _schema(new) == _schema(earlier)


def test_a_script_is_cut_at_the_ends_of_its_statements() -> None:
    """Semicolons in texts and comments end nothing; a statement without end is told."""
    script = "-- one; two\nINSERT INTO a\nVALUES ('x;y');\nDROP TABLE b;\n"
    assert list(statements(script)) == [
        "-- one; two\nINSERT INTO a\nVALUES ('x;y');\n",
        "DROP TABLE b;\n",
    ]
    with pytest.raises(ValueError, match="DROP TABLE c"):
        list(statements("DROP TABLE c"))
