"""Find the line of a key in a TOML file, so that an error can name it.

The standard library's parser keeps no positions. This module reads the text again, only
for headers and keys. For a key in an inline table it returns the line of the table.
"""

import re
from collections.abc import Sequence

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"^\s*([A-Za-z0-9_\-.\"']+)\s*=")

Location = Sequence[str | int]


def line_of(text: str, location: Location) -> int | None:
    r"""Return the line (from 1) of the key at `location`, or of the next table above.

    >>> line_of('a = 1\n[b]\nc = 2\n', ["b", "c"])
    3
    """
    path = tuple(str(part) for part in location)
    lines = _lines_by_path(text)
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


def _lines_by_path(text: str) -> dict[tuple[str, ...], int]:
    lines: dict[tuple[str, ...], int] = {}
    counts: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = _parts(header[2])
            if header[1] == "[[":
                lines.setdefault(table, number)
                index = counts.get(table, 0)
                counts[table] = index + 1
                table = (*table, str(index))
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            lines.setdefault((*table, *_parts(key[1])), number)
    return lines


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))
