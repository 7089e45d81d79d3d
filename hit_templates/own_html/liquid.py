"""The part of Liquid that crowd templates use: `{{ task.input.name | filter: "x" }}`.

The items of a CSV are texts, so a list or an object is its JSON, which `to_json`
returns. Filters that let Amazon's servers read a bucket return the value unchanged.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import quote

_PATH = re.compile(r"task\.(?:input\.)?([\w$-]+(?:\.[\w$-]+|\[['\"][^'\"]+['\"]\])*)")
_ARGUMENT = re.compile(r'"([^"]*)"|\'([^\']*)\'|([^\s,]+)')
_STRIPPED = re.compile(r"<[^>]*>")


class Filter(NamedTuple):
    """A filter's name and the arguments after its colon."""

    name: str
    arguments: tuple[str, ...]


def read(source: str) -> tuple[str, tuple[Filter, ...], tuple[str, ...]] | None:
    """Return the column, filters and unknown filters of text between double braces.

    `None` if the text does not refer to an item.

    >>> read(" task.input.url | grant_read_access ")
    ('url', (Filter(name='grant_read_access', arguments=()),), ())
    """
    first, *rest = _split(source)
    path = _PATH.fullmatch(first.strip())
    if path is None:
        return None
    column = re.sub(r"\[['\"]([^'\"]+)['\"]\]", r".\1", path[1])
    filters = []
    for part in rest:
        name, _, arguments = part.strip().partition(":")
        texts = [
            next(group for group in match.groups() if group is not None)
            for match in _ARGUMENT.finditer(arguments)
        ]
        filters.append(Filter(name.strip(), tuple(texts)))
    unknown = tuple(filter_.name for filter_ in filters if filter_.name not in _KNOWN)
    return column, tuple(filters), unknown


def applied(text: str, filters: tuple[Filter, ...]) -> tuple[str, bool]:
    """Return the filtered value, and whether it is now markup."""
    is_markup = False
    for name, arguments in filters:
        if name == "skip_autoescape":
            is_markup = True
        elif name in _FILTERS:
            text = _FILTERS[name](text, arguments)
    return text, is_markup


def part_of(cell: str, path: str) -> str:
    """Return a part of an object written as JSON; "" if the part is missing."""
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return ""
    for name in path.split("."):
        if isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        elif isinstance(value, dict) and name in value:
            value = value[name]
        else:
            return ""
    return value if isinstance(value, str) else json.dumps(value)


def _split(source: str) -> list[str]:
    """Split at bars outside quotes."""
    parts = [""]
    for piece in re.findall(r"""\||[^|"']+|"[^"]*"|'[^']*'|["']""", source):
        if piece == "|":
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _json(text: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    return json.dumps(value if isinstance(value, list | dict) else text)


def _argument(arguments: tuple[str, ...], at: int = 0, default: str = "") -> str:
    return arguments[at] if len(arguments) > at else default


def _whole(text: str, default: int) -> int:
    return int(text) if text.isdigit() else default


def _truncated(text: str, arguments: tuple[str, ...]) -> str:
    most, tail = _whole(_argument(arguments), 50), _argument(arguments, 1, "...")
    return text if len(text) <= most else text[: max(most - len(tail), 0)] + tail


_FILTERS: Mapping[str, Callable[[str, tuple[str, ...]], str]] = {
    "to_json": lambda text, _: _json(text),
    "json": lambda text, _: _json(text),
    "upcase": lambda text, _: text.upper(),
    "downcase": lambda text, _: text.lower(),
    "capitalize": lambda text, _: text[:1].upper() + text[1:],
    "strip": lambda text, _: text.strip(),
    "lstrip": lambda text, _: text.lstrip(),
    "rstrip": lambda text, _: text.rstrip(),
    "strip_html": lambda text, _: _STRIPPED.sub("", text),
    "strip_newlines": lambda text, _: re.sub(r"\r?\n", "", text),
    "url_encode": lambda text, _: quote(text, safe=""),
    "size": lambda text, _: str(len(text)),
    "default": lambda text, arguments: text or _argument(arguments),
    "append": lambda text, arguments: text + _argument(arguments),
    "prepend": lambda text, arguments: _argument(arguments) + text,
    "remove": lambda text, arguments: text.replace(_argument(arguments), ""),
    "replace": lambda text, arguments: text.replace(_argument(arguments), _argument(arguments, 1)),
    "truncate": _truncated,
}

_KNOWN = frozenset(
    {
        *_FILTERS,
        # Values are escaped anyway, and no bucket needs access.
        *("escape", "escape_once", "skip_autoescape"),
        *("grant_read_access", "s3_presign"),
    }
)
