"""The migrations of a campaign's store (`piecework.sqlitefile.schema`)."""

from piecework.sqlitefile.schema import read_schema
from piecework.store.files import SCHEMA

migrations = read_schema("piecework", SCHEMA)
