"""The names under which a database records its schema.

A name is that of an SQL file with a digest of its statements, so a database that was
created with other statements is recognised. This module loads no library, as the quick
check before a pass uses it.
"""

import hashlib
import re
from functools import cache
from pathlib import Path

TABLE = "_sqlite_migrations"
"""The table in which sqlite-utils records them."""

_DIGITS = 8


def digest_of(script: str) -> str:
    """Return a digest of the statements, without comments and line ends."""
    words = re.sub(r"--.*", "", script).split()
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:_DIGITS]


@cache
def names_in(folder: Path) -> frozenset[str]:
    """Return the names of all migrations in a folder of SQL files."""
    return frozenset(
        name_of(path, path.read_text(encoding="utf-8")) for path in folder.glob("m[0-9]*.sql")
    )


def name_of(path: Path, script: str) -> str:
    """Return the name of a migration.

    Args:
        path: its file.
        script: the file's text.
    """
    return f"{path.stem}-{digest_of(script)}"
