"""The migrations of a campaign's store (`piecework.sqlitefile.schema`)."""

from pathlib import Path

from piecework.sqlitefile.schema import read_schema

migrations = read_schema("piecework", Path(__file__).with_name("schema"))
