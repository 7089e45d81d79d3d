"""TOML files that people read: values as text, and the line of a key for an error.

The standard library's parser keeps no positions. So the text is read again, only for
headers and keys. A key in an inline table has the line of the table.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time


def toml_value(value: object) -> str:
    r"""Write a text, number, list or mapping on one line.

    >>> toml_value({"a b": ["\x7f", 1]})
    '{ "a b" = ["\\u007f", 1] }'
    """
    if isinstance(value, Mapping):
        inside = ", ".join(toml_line(name, inner) for name, inner in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, date | time):
        return value.isoformat()
    # TOML's basic strings are written like JSON's, except for DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    """Write a key, in quotes if it needs them."""
    is_bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if is_bare else toml_value(name)


def toml_line(name: str, value: object) -> str:
    """Write a key and its value."""
    return f"{toml_key(name)} = {toml_value(value)}"


def toml_document(document: Mapping[str, object]) -> str:
    """Write a document: first its values and short tables, then each table with a header.

    >>> tables = {"page": {"hosts": ["a.org"]}, "name": "birds", "rule": [{"on": "hit"}]}
    >>> print(toml_document(tables))
    name = "birds"
    <BLANKLINE>
    [page]
    hosts = ["a.org"]
    <BLANKLINE>
    [[rule]]
    on = "hit"
    <BLANKLINE>
    """
    return "\n".join(f"{block}\n" for block in _blocks(document, ""))


def _blocks(table: Mapping[str, object], name: str, *, is_listed: bool = False) -> Iterator[str]:
    """Yield a table and the tables in it, each as the lines of a block."""
    header = f"[[{name}]]" if is_listed else f"[{name}]" if name else ""
    own = {key: value for key, value in table.items() if not _has_header(key, value)}
    if own or is_listed:
        yield "\n".join(filter(None, [header, *(toml_line(*pair) for pair in own.items())]))
    for key, value in table.items():
        below = ".".join(filter(None, (name, toml_key(key))))
        if key not in own and isinstance(value, Mapping):
            yield from _blocks(value, below)
        elif key not in own and isinstance(value, list):
            for each in value:
                yield from _blocks(each, below, is_listed=True)


_SHORT = frozenset({"answers", "budget", "columns"})
"""Tables that are written on the line of their key."""


def _has_header(name: str, value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(each, Mapping) for each in value)
    return isinstance(value, Mapping) and bool(value) and name not in _SHORT


_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"^\s*([A-Za-z0-9_\-.\"']+)\s*=")

Location = Sequence[str | int]


def key_name(location: Location) -> str:
    """Return the name of a key for a message; entries of a list are numbered from 1.

    >>> key_name(["sink", 0, "to"]), key_name(["fees"])
    ('sink[1].to', 'fees')
    """
    parts = (f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in location)
    return "".join(parts).removeprefix(".")


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
    for number, line in enumerate(text.split("\n"), start=1):
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
