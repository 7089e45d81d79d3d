"""Turn values of tables and databases into the text of a cell."""

import json
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from piecework.domain.xml_text import with_newlines

_TEXTS: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    (type(None), lambda _: ""),
    (str, with_newlines),
    (bool, lambda value: "true" if value else "false"),
    (date, lambda value: value.isoformat()),  # a datetime is a date too
    ((list, tuple, dict), lambda value: json.dumps(value, ensure_ascii=False, default=str)),
    ((bytes, memoryview), lambda value: bytes(value).decode("utf-8", "backslashreplace")),
)


def cells_of(row: Mapping[str, Any]) -> dict[str, str]:
    """Return a row's cells as text; nothing is ""."""
    return {str(name): text_of(value) for name, value in row.items()}


def text_of(value: object) -> str:
    """Return a value as the text that a CSV file would have.

    >>> text_of(None), text_of(7), text_of(True), text_of(7.0), text_of(["a", 1])
    ('', '7', 'true', '7.0', '["a", 1]')
    """
    for kinds, text in _TEXTS:
        if isinstance(value, kinds):
            return text(value)
    return str(value)
