"""What `make mutants` is told, and the changes to SQL that it makes, hold together."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.mutants import sql

ROOT = Path(__file__).resolve().parents[2]
SUBJECTS = tomllib.loads(Path(__file__).with_name("subjects.toml").read_text())["file"]


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject["path"])
def test_files_tests_and_reasons_are_there(subject: dict[str, Any]) -> None:
    """A file that moved, and a line that was rewritten, leave nothing stale behind."""
    text = " ".join((ROOT / subject["path"]).read_text().split())
    for test in subject["tests"]:
        assert (ROOT / test).is_file(), test
    for mutant in subject.get("equivalent", []):
        assert " ".join(mutant["was"].split()) in text, mutant["was"]
        assert mutant["now"] != mutant["was"]
        assert mutant["because"].endswith("."), mutant


@pytest.mark.parametrize(
    ("query", "changed"),
    [
        (
            "SELECT 1 FROM intents WHERE key = ? AND done_at IS NULL",
            {
                "SELECT 1 FROM intents WHERE key <> ? AND done_at IS NULL",
                "SELECT 1 FROM intents WHERE (key = ? OR TRUE) AND done_at IS NULL",
                "SELECT 1 FROM intents WHERE key = ? AND done_at IS NOT NULL",
                "SELECT 1 FROM intents WHERE key = ? AND (done_at IS NULL OR TRUE)",
                "SELECT 1 FROM intents WHERE key = ? OR done_at IS NULL",
            },
        ),
        (
            "AND (paid > :least OR NOT EXISTS (SELECT 1)) ORDER BY at",
            {
                "AND (paid <= :least OR NOT EXISTS (SELECT 1)) ORDER BY at",
                "AND ((paid > :least OR TRUE) OR NOT EXISTS (SELECT 1)) ORDER BY at",
                "OR (paid > :least OR NOT EXISTS (SELECT 1)) ORDER BY at",
                "AND (paid > :least AND NOT EXISTS (SELECT 1)) ORDER BY at",
                "AND (paid > :least OR EXISTS (SELECT 1)) ORDER BY at",
                "AND (paid > :least OR NOT EXISTS (SELECT 1)) ORDER BY at DESC",
            },
        ),
        (
            # What is set is no condition.
            "UPDATE intents SET outcome = ?, done_at = ? WHERE rowid = 1",
            {
                "UPDATE intents SET outcome = ?, done_at = ? WHERE rowid <> 1",
                "UPDATE intents SET outcome = ?, done_at = ? WHERE (rowid = 1 OR TRUE)",
            },
        ),
        ("the store has no name yet = ?", set()),
    ],
)
def test_each_condition_of_a_query_is_turned_and_lifted(query: str, changed: set[str]) -> None:
    """Its opposite, without it, and the other order; nothing else."""
    made = [query[:start] + text + query[end:] for start, end, text in sql.changes(query)]
    assert set(made) == changed
    assert len(made) == len(changed)
