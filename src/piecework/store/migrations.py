"""The migrations of a campaign's store (`piecework.sqlitefile.schema`)."""

from pathlib import Path

from piecework.sqlitefile.schema import read_schema

SCHEMA = Path(__file__).with_name("schema")
"""The folder with its SQL files."""

migrations = read_schema("piecework", SCHEMA)
