"""Split a row of a file into its items, each with its answers.

There are three layouts. A row may be about one item. Its columns may be numbered by
item, such as `text1` and `answer1`. Or a page of piecework sent it, with fields such as
`caption.1` and its items named in `item.1`.
"""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from piecework.domain.column_names import MEASURES
from piecework.domain.imported import Reading
from piecework.domain.task import GOLD, MADE_BY, PRACTICE, TRUTH, TWIN, TWIN_REVERSED
from piecework.domain.typing_record import TYPING
from piecework.importing.readers.crowd_form import folded
from piecework.importing.readers.rows import ImportedRow

_WIRE = re.compile(r"(?P<name>.+)\.(?P<number>[1-9][0-9]{0,3})")
NUMBERED = re.compile(r"(?P<name>.*?\D)(?P<number>[0-9]{1,3})")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f]")
_LONGEST_ID = 200
_DIGEST = 12
_OF_THE_PAGE = (*MEASURES, TYPING, "order")
_TAKEN = frozenset({PRACTICE, TWIN, TWIN_REVERSED})
_ADDRESSES = ("image_url", "img_url", "picture_url", "photo_url", "image", "picture")

ITEM_ID = "item_id"
"""The column with an item's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The part of a row about one of its items.

    Attributes:
        position: from 1.
        shown: the item's columns.
        sent: the answers about it, by the file's names without numbers.
        measured: what the other tool measured, by piecework's names.
    """

    position: int
    shown: Mapping[str, str]
    sent: Mapping[str, str]
    measured: Mapping[str, str] = field(default_factory=dict)


def is_wired(row: ImportedRow) -> bool:
    """Return whether a page of piecework sent this row, which then names its items."""
    return "item.1" in row.sent


def split(row: ImportedRow, reading: Reading) -> tuple[list[Part], dict[str, str]]:
    """Return the items of a row, and the answers given once for all of them.

    Numbers with neither an item nor an answer in a row are left out.
    """
    numbers = reading.numbers or ()
    if row.parts:
        listed = enumerate(row.parts, start=1)
        return [
            Part(
                position=position,
                shown={**row.shown, **part.shown},
                sent=folded(part.sent, numbers),
                measured=part.measured,
            )
            for position, part in listed
        ], dict(folded(row.sent, numbers))
    if is_wired(row):
        return _wired(row)
    row = replace(row, sent=folded(row.sent, numbers))
    if not _has_numbers(row, numbers):
        return [Part(position=1, shown=row.shown, sent=row.sent)], {}
    bare = {name: cell for name, cell in row.shown.items() if _base(name, numbers) is None}
    once = {name: cell for name, cell in row.sent.items() if _base(name, numbers) is None}
    parts: list[Part] = []
    for number in numbers:
        own = _ending(row.shown, number, numbers)
        sent = _ending(row.sent, number, numbers)
        if any(map(str.strip, own.values())) or any(map(str.strip, sent.values())):
            part = Part(position=len(parts) + 1, shown={**bare, **own}, sent=sent)
            parts.append(part)
    return parts, once


def item_of(part: Part, row: ImportedRow, reading: Reading) -> dict[str, str]:
    """Return the item of a part: its columns, including the id.

    If nothing tells items apart, the HIT is the item; without a HIT there is only one
    item.
    """
    own = {
        _safe_name(name): cell
        for name, cell in part.shown.items()
        if not reading.item or name in reading.item
    }
    named = part.shown.get(reading.item_id, "").strip() if reading.item_id else ""
    item_id = named if _is_id(named) else ""
    if not item_id and any(own.values()):
        text = json.dumps(own, sort_keys=True, ensure_ascii=False)
        item_id = f"item_{hashlib.sha256(text.encode(errors='replace')).hexdigest()}"
        item_id = item_id[: len("item_") + _DIGEST]
    columns = {**own, ITEM_ID: item_id or row.hit_id or "everything"}
    if "url" not in own:
        columns |= _address(own)
    for name, column in reading.gold.items():
        if expected := part.shown.get(column, "").strip():
            columns[GOLD + name] = expected
    return columns


def _wired(row: ImportedRow) -> tuple[list[Part], dict[str, str]]:
    sent: dict[int, dict[str, str]] = defaultdict(dict)
    once = {}
    for name, cell in row.sent.items():
        match = _WIRE.fullmatch(name)
        if match is None:
            once[name.removeprefix("hit.")] = cell
        elif match["name"].split(".")[0] not in (*_OF_THE_PAGE, "practice"):
            sent[int(match["number"])][match["name"]] = cell
    parts = [
        Part(position=position, shown={**row.shown, ITEM_ID: cells.pop("item")}, sent=cells)
        for position, cells in sorted(sent.items())
        if "item" in cells
    ]
    return parts, once


def measures(row: ImportedRow) -> dict[str, str]:
    """Return what a page of piecework measured, as sent."""
    if not is_wired(row):
        return {}
    return {name: cell for name, cell in row.sent.items() if name.split(".")[0] in _OF_THE_PAGE}


def _has_numbers(row: ImportedRow, numbers: tuple[str, ...]) -> bool:
    if not numbers:
        return False
    return any(_base(name, numbers) is not None for name in row.sent)


def _base(name: str, numbers: tuple[str, ...]) -> str | None:
    """Return the name without its number; `None` if it has none of them."""
    match = NUMBERED.fullmatch(name)
    return match["name"] if match and match["number"] in numbers else None


def base_name(name: str, numbers: tuple[str, ...]) -> str:
    """Return a column's name without the number of its item, if it has one.

    >>> base_name("text2", ("1", "2")), base_name("url", ("1", "2"))
    ('text', 'url')
    """
    return _base(name, numbers) or name


def _ending(cells: Mapping[str, str], number: str, numbers: tuple[str, ...]) -> dict[str, str]:
    cells_by_base = {}
    for name, cell in cells.items():
        base = _base(name, numbers)
        if base is not None and name == f"{base}{number}":
            cells_by_base[base] = cell
    return cells_by_base


def _safe_name(name: str) -> str:
    """Escape names that piecework gives a meaning, such as a column `practice`."""
    if name in _TAKEN or name.startswith((GOLD, TRUTH, MADE_BY)):
        return f"input_{name}"
    return name


def _is_id(text: str) -> bool:
    return 0 < len(text) <= _LONGEST_ID and not _UNSAFE.search(text)


def _address(columns: Mapping[str, str]) -> dict[str, str]:
    for name in _ADDRESSES:
        if columns.get(name, "").startswith(("http://", "https://")):
            return {"url": columns[name]}
    return {}
