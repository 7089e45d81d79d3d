"""The tables of a campaign's memory, and how they came to be.

One function a change, each in one transaction with the row that records it. A table
that holds what workers sent (`raw_answers`) is only ever added to.
"""

import sqlite3
from pathlib import Path

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

_FOLDER = Path(__file__).with_name("schema")

_NEWS = (
    *("hits", "intents", "assignments", "decisions"),
    *("agreements", "stops", "settings"),
)
"""Tables after whose change it has to be found out again how far a campaign is."""

migrations = Migrations("piecework")


@migrations()
def m001_first_loop(db: Database) -> None:
    """All that one loop needs: HITs, intents, answers, judgements, money, edits."""
    _execute(db, "first_loop.sql")


@migrations()
def m_agreements(db: Database) -> None:
    """Amounts that people agreed to spend at most."""
    db.execute(
        "CREATE TABLE agreements ("
        "agreement_id INTEGER PRIMARY KEY, "
        "amount_cents INTEGER NOT NULL CHECK (amount_cents >= 0), "
        "agreed_at TEXT NOT NULL) STRICT"
    )


@migrations()
def m_standing(db: Database) -> None:
    """How far the last whole pass found the campaign, so that the next may be short."""
    db.execute(
        "CREATE TABLE standing (only_one INTEGER PRIMARY KEY CHECK (only_one = 1), "
        "asked TEXT NOT NULL, tally TEXT NOT NULL, progress TEXT NOT NULL) STRICT"
    )


@migrations()
def m_stops(db: Database) -> None:
    """When a person stopped the campaign, and when it went on."""
    db.execute(
        "CREATE TABLE stops (stop_id INTEGER PRIMARY KEY, "
        "stopped_at TEXT NOT NULL, undone_at TEXT) STRICT"
    )


@migrations()
def m_harvests(db: Database) -> None:
    """When an open HIT was last asked for the answers it has so far."""
    db.execute("ALTER TABLE hits ADD COLUMN looked_at TEXT")


@migrations()
def m_polls(db: Database) -> None:
    """When the marketplace was last asked for news, and how long to wait then."""
    db.execute(
        "CREATE TABLE polls (only_one INTEGER PRIMARY KEY CHECK (only_one = 1), "
        "asked_at TEXT NOT NULL, wait_seconds REAL NOT NULL) STRICT"
    )


@migrations()
def m_scores(db: Database) -> None:
    """Who has taken the test before the work, and how well."""
    db.execute(
        "CREATE TABLE scores (worker_id TEXT PRIMARY KEY, score INTEGER NOT NULL, "
        "seen_at TEXT NOT NULL) STRICT"
    )


@migrations()
def m_running_totals(db: Database) -> None:
    """Verdicts beside subjects, accepted answers beside items, balances; one last pass.

    Heuristics that were renamed keep their findings.
    """
    _execute(db, "running_totals.sql")
    for table in _NEWS:
        for act in ("INSERT", "UPDATE", "DELETE"):
            db.execute(
                f"CREATE TRIGGER {table}_{act.lower()}_is_news AFTER {act} ON {table} "
                "BEGIN UPDATE last_pass SET progress = NULL "
                "WHERE progress IS NOT NULL; END"
            )


@migrations()
def m_extensions(db: Database) -> None:
    """Slots that are added to a HIT are planned as HITs are, naming which they extend.

    Their row never has the platform's id: that is the HIT's own.
    """
    db.execute("ALTER TABLE hits ADD COLUMN extends TEXT REFERENCES hits (hit_key)")
    db.execute("CREATE INDEX hits_extended ON hits (extends) WHERE extends IS NOT NULL")
    db.execute("CREATE INDEX hits_unposted ON hits (batch) WHERE posted_at IS NULL")


@migrations()
def m_currency(db: Database) -> None:
    """A store that was bound before there were currencies has dollars."""
    db.execute(
        "INSERT OR IGNORE INTO settings (key, value) SELECT 'currency', 'USD' "
        "WHERE EXISTS (SELECT 1 FROM settings WHERE key = 'campaign')"
    )


@migrations()
def m_imports(db: Database) -> None:
    """Results that other tools collected: files, items, and what was decided there."""
    _execute(db, "imports.sql")


@migrations()
def m_reviews(db: Database) -> None:
    """What reviewers did act by act, what they said of words, and labels they settled.

    A decision that is taken back is deleted, and its subject has the verdict of before.
    """
    _execute(db, "reviews.sql")


@migrations()
def m_edit_proposals(db: Database) -> None:
    """How probable each edit is; those that are not sure enough wait for a person."""
    db.execute("ALTER TABLE edits ADD COLUMN probability REAL NOT NULL DEFAULT 1")
    db.execute(
        "CREATE TABLE edit_proposals ("
        "answer_id TEXT NOT NULL REFERENCES answers (answer_id), "
        "number INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, "
        "before TEXT NOT NULL, after TEXT NOT NULL, rule TEXT NOT NULL, "
        "reason TEXT NOT NULL, probability REAL NOT NULL, "
        "PRIMARY KEY (answer_id, number)) STRICT, WITHOUT ROWID"
    )


@migrations()
def m_as_needed(db: Database) -> None:
    """How sure each item's label was when it was weighed, and the answers wanted then.

    Both are empty until then; `probability` again when another answer is kept, both
    when one is dropped: fewer answers that agree may do.
    """
    db.execute("ALTER TABLE items ADD COLUMN wanted INTEGER")
    db.execute("ALTER TABLE items ADD COLUMN probability REAL")
    db.execute(
        "CREATE TRIGGER labels_of_items AFTER UPDATE OF verdict ON answers "
        "WHEN (new.verdict IS 'keep') <> (old.verdict IS 'keep') BEGIN "
        "UPDATE items SET probability = NULL, "
        "wanted = iif(new.verdict IS 'keep', wanted, NULL) "
        "WHERE item_id = new.item_id; END"
    )
    db.execute(
        "CREATE TRIGGER items_wanted_is_news AFTER UPDATE OF wanted ON items BEGIN "
        "UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL; END"
    )


@migrations()
def m_generations(db: Database) -> None:
    """Passes and the marketplace's last mark (`piecework.store.generations`)."""
    db.execute(
        "CREATE TABLE generations ("
        "number INTEGER PRIMARY KEY, generation TEXT NOT NULL UNIQUE, "
        "first_change INTEGER NOT NULL, began_at TEXT NOT NULL) STRICT"
    )
    db.execute(
        "CREATE TABLE marketplace_mark ("
        "only_row INTEGER PRIMARY KEY CHECK (only_row = 1), mark TEXT NOT NULL) STRICT"
    )
    db.execute("CREATE TABLE accepted_marks (mark TEXT PRIMARY KEY) STRICT")
    db.execute("CREATE INDEX ledger_by_intent ON ledger (intent_key)")


def _execute(db: Database, name: str) -> None:
    """Execute a file of statements, in the open transaction."""
    statement = ""
    for line in (_FOLDER / name).read_text(encoding="utf-8").splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""
