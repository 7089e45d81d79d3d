"""The migrations of a marketplace's database (`piecework.foundation.sqlitefile.migrations`)."""

from pathlib import Path

from piecework.foundation.sqlitefile.migrations import read_schema

migrations = read_schema("marketplace", Path(__file__).parent)
