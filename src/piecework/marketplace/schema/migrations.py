"""The migrations of a marketplace's database (`piecework.foundation.sqlitefile.schema`)."""

from pathlib import Path

from piecework.foundation.sqlitefile.schema import read_schema

migrations = read_schema("marketplace", Path(__file__).parent)
