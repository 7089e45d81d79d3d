"""An offline market's file is made from its schema, whatever the schema holds."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from offline_markets.core.database import Kind, OfflineState
from offline_markets.core.switches import Switches

SCHEMA = """-- Settings; and what is due.
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT DEFAULT ';') STRICT;
CREATE TABLE due (number INTEGER PRIMARY KEY, at_ms INTEGER, kind TEXT, subject TEXT);
CREATE TRIGGER only_later BEFORE INSERT ON due WHEN new.at_ms < 0 BEGIN
    SELECT raise(ABORT, 'in the past; not due');
    SELECT 1;
END
"""


def _made(folder: Path, schema: str) -> OfflineState[Switches]:
    file = folder / "schema.sql"
    file.write_text(schema)
    return OfflineState(
        Kind(name="market 1", schema=file, id_name="market", id_digits=8),
        folder / "market.db",
        {"seed": 1},
        Switches(),
        start=None,
        clock_runs=True,
    )


def test_a_semicolon_inside_a_statement_does_not_end_it(tmp_path: Path) -> None:
    """In a comment, a text or a trigger; the last statement needs none."""
    with closing(_made(tmp_path, SCHEMA)) as state:
        with pytest.raises(sqlite3.IntegrityError, match="in the past; not due"):
            state.plan("end", "hit", at_ms=-1)
        seed = state.seed
    later = SCHEMA.replace("TABLE", "TABLE IF NOT EXISTS").replace("END\n", "END;\n")
    later = later.replace("TRIGGER", "TRIGGER IF NOT EXISTS")
    with closing(_made(tmp_path, f"{later}CREATE TABLE more (a)")) as state:
        assert state.seed == seed
        assert state.number("SELECT count(*) FROM more") == 0


def test_a_file_is_made_with_its_settings_or_not_at_all(tmp_path: Path) -> None:
    """Else the next start would take it for a stranger's."""
    with pytest.raises(sqlite3.OperationalError):
        _made(tmp_path, f"{SCHEMA}; CREATE TABLE setting (name)")
    # The machine stops here; what reached the disk is opened.
    copy = shutil.copytree(tmp_path, tmp_path / "afterwards")
    with closing(sqlite3.connect(copy / "market.db")) as left:
        assert left.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)
