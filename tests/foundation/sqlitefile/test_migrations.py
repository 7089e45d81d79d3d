"""A schema is carried out once, goes on with a further file, and is recognised."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from piecework.cli.errors import explain
from piecework.foundation.sqlitefile.database import (
    Origin,
    bring_up_to_date,
    origin,
    read_schema,
    statements,
)
from tests.crash.world import can_mount, small_disk, without_room

TABLES = """-- Birds that were seen.
CREATE TABLE birds (name TEXT PRIMARY KEY) STRICT;
CREATE TRIGGER first_bird AFTER INSERT ON birds BEGIN
    DELETE FROM birds WHERE name <> new.name;
END;
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the first file of a schema."""
    folder = tmp_path / "schema"
    folder.mkdir()
    (folder / "m001_tables.sql").write_text(TABLES)
    return folder


def _bring_up_to_date(database: Path, folder: Path) -> None:
    with closing(Database(sqlite3.connect(database))) as db:
        bring_up_to_date(db, read_schema("birds", folder))


def _origin(database: Path, folder: Path) -> Origin:
    with closing(sqlite3.connect(database)) as connection:
        return origin(connection, read_schema("birds", folder))


def _dump(database: Path) -> list[str]:
    with closing(sqlite3.connect(database)) as connection:
        return list(connection.iterdump())


def test_a_schema_is_carried_out_once_and_a_later_file_is_added_to_it(
    tmp_path: Path, folder: Path
) -> None:
    """What a database holds stays; opening it again changes nothing."""
    database = tmp_path / "birds.db"
    _bring_up_to_date(database, folder)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("INSERT INTO birds VALUES ('wren')")
    (folder / "m002_colours.sql").write_text(
        "ALTER TABLE birds ADD COLUMN colour TEXT;\n"
        "UPDATE birds SET colour = 'brown' WHERE name = 'wren';\n"
    )
    _bring_up_to_date(database, folder)
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT * FROM birds").fetchall() == [("wren", "brown")]
        recorded = connection.execute("SELECT name FROM _sqlite_migrations ORDER BY id").fetchall()
    assert [name.rpartition("-")[0] for (name,) in recorded] == ["m001_tables", "m002_colours"]
    before = _dump(database)
    _bring_up_to_date(database, folder)
    assert _dump(database) == before


def test_a_file_that_fails_leaves_nothing_of_itself(tmp_path: Path, folder: Path) -> None:
    """The next start, with the mended file, does all of it."""
    database = tmp_path / "birds.db"
    _bring_up_to_date(database, folder)
    before = _dump(database)
    later = folder / "m002_colours.sql"
    later.write_text("ALTER TABLE birds ADD COLUMN colour TEXT;\nDROP TABLE trees;\n")
    with pytest.raises(sqlite3.OperationalError, match="trees"):
        _bring_up_to_date(database, folder)
    assert _dump(database) == before


def test_a_database_of_other_statements_is_recognised(tmp_path: Path, folder: Path) -> None:
    """Comments and line ends do not count; a new file is nobody's yet."""
    database, first = tmp_path / "birds.db", folder / "m001_tables.sql"
    assert _origin(database, folder) == Origin(tables=(), is_ours=False, unknown=())
    _bring_up_to_date(database, folder)
    ours = Origin(tables=("birds",), is_ours=True, unknown=())
    assert _origin(database, folder) == ours
    first.write_text(TABLES.replace("were seen", "sing").replace("\n", "\r\n"))
    assert _origin(database, folder) == ours
    first.write_text(TABLES.replace("name TEXT", "name TEXT NOT NULL"))
    (unknown,) = _origin(database, folder).unknown
    assert unknown.startswith("m001_tables-")


def test_another_programs_database_is_recognised(tmp_path: Path, folder: Path) -> None:
    """Also one that records migrations of a set of its own."""
    database = tmp_path / "trees.db"
    with closing(Database(sqlite3.connect(database))) as db:
        bring_up_to_date(db, read_schema("trees", folder))
    assert _origin(database, folder).is_foreign


def test_a_script_is_cut_at_the_ends_of_its_statements() -> None:
    """Semicolons in texts and comments end nothing; a statement without end is told."""
    script = "-- one; two\nINSERT INTO a\nVALUES ('x;y');\nDROP TABLE b;\n"
    assert list(statements(script)) == [
        "-- one; two\nINSERT INTO a\nVALUES ('x;y');\n",
        "DROP TABLE b;\n",
    ]
    with pytest.raises(ValueError, match="DROP TABLE c"):
        list(statements("DROP TABLE c"))


def _add_colours(folder: Path) -> None:
    (folder / "m002_colours.sql").write_text("ALTER TABLE birds ADD COLUMN colour TEXT;")


def test_a_database_is_copied_before_it_is_brought_up_to_date(tmp_path: Path, folder: Path) -> None:
    """Private, whole, and usable by the earlier version; a new database has no copy."""
    database, copy = tmp_path / "birds.db", tmp_path / "birds.db.before-m002_colours"
    _bring_up_to_date(database, folder)
    assert not [*tmp_path.glob("*.before-*")]
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("INSERT INTO birds VALUES ('wren')")
    before, earlier = _dump(database), read_schema("birds", folder)
    _add_colours(folder)
    _bring_up_to_date(database, folder)
    assert [*tmp_path.glob("birds.db.before-*")] == [copy]
    assert _dump(copy) == before
    assert copy.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(database)) as connection:
        assert origin(connection, earlier).is_newer
    with closing(sqlite3.connect(copy)) as connection:
        assert not origin(connection, earlier).unknown


def test_without_room_for_the_copy_nothing_changes(tmp_path: Path, folder: Path) -> None:
    """The next start tries again."""
    database = tmp_path / "birds.db"
    _bring_up_to_date(database, folder)
    before = _dump(database)
    _add_colours(folder)
    (tmp_path / "birds.db.before-m002_colours").mkdir()
    with pytest.raises(OSError, match="birds"):
        _bring_up_to_date(database, folder)
    assert _dump(database) == before
    assert not [*tmp_path.glob("*.part")]


@pytest.mark.skipif(not can_mount(), reason="only root can make a small disk to fill")
def test_on_a_full_disk_nothing_changes(tmp_path: Path, folder: Path) -> None:
    """No part of a copy is left; with room, the next start makes it."""
    disk = tmp_path / "disk"
    with small_disk(disk):
        database = disk / "birds.db"
        _bring_up_to_date(database, folder)
        before = _dump(database)
        _add_colours(folder)
        with without_room(disk):
            with pytest.raises((OSError, sqlite3.OperationalError)) as full:
                _bring_up_to_date(database, folder)
            assert isinstance(full.value, OSError | sqlite3.Error)
            assert "the disk is full" in explain(full.value)[0]
            assert _dump(database) == before
            assert not [*disk.glob("*.before-*")]
        _bring_up_to_date(database, folder)
        (copy,) = disk.glob("*.before-*")
        assert _dump(copy) == before
