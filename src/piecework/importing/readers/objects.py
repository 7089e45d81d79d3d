"""Read a file's JSON objects one by one: JSON Lines, a list, or concatenated."""

import json
from collections.abc import Iterator
from pathlib import Path

from piecework.importing.readers.head import Head, lines_of

_PIECE = 1 << 20
_BETWEEN = " \t\r\n,[]"
LARGEST = 1 << 28
"""256 MB, more than any API answers with."""

Document = dict[str, object]
NumberedObject = tuple[int, Document | str]
"""The number of a line or object, and the object or what is wrong with it."""


def objects_of(path: Path, head: Head) -> Iterator[NumberedObject]:
    """Yield the objects of a file, with only one in memory."""
    if _is_json_lines(head):
        yield from _lines(path, head)
    else:
        yield from _documents(path, head)


def text_in(document: Document, *names: str) -> str:
    """Return the first of these members that is text or a number, as text; or ""."""
    for name in names:
        value = document.get(name)
        if isinstance(value, str):
            return value.strip()
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
    return ""


def object_in(document: Document, name: str) -> Document:
    """Return a member that is an object, else {}."""
    value = document.get(name)
    return value if isinstance(value, dict) else {}


def _is_json_lines(head: Head) -> bool:
    first, _, rest = head.text.lstrip("\ufeff").partition("\n")
    if not rest.strip():
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _lines(path: Path, head: Head) -> Iterator[NumberedObject]:
    for number, line in lines_of(path, head):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as fault:
            yield number, f"not valid JSON ({fault})"
            continue
        yield number, value if isinstance(value, dict) else "not a JSON object"


def _documents(path: Path, head: Head) -> Iterator[NumberedObject]:
    decoder, buffer, number, size = json.JSONDecoder(), "", 0, _PIECE
    with path.open(encoding=head.encoding, errors="replace") as file:
        while piece := file.read(size):
            buffer += piece
            while buffer := buffer.lstrip(_BETWEEN):
                try:
                    value, end = decoder.raw_decode(buffer)
                except (ValueError, RecursionError):
                    break
                number, size, buffer = number + 1, _PIECE, buffer[end:]
                is_object = isinstance(value, dict)
                yield number, value if is_object else "not a JSON object"
            # An incomplete object is tried again when twice as much has been read.
            size = max(_PIECE, len(buffer))
            if len(buffer) > LARGEST:
                yield number + 1, f"is larger than {LARGEST >> 20} MB"
                return
    if buffer.strip(_BETWEEN):
        yield number + 1, "not valid JSON; the file may have been cut off"
