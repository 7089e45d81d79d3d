"""Items from CSV or JSON Lines, checked row by row before anything is posted.

A fault names file, row and what is allowed. Rows count from 1 for the first item; the
line of the file is said as well, since that is what an editor shows.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from domain.errors import ConfigError
from domain.hit import Item
from domain.ids import ItemId

_FAULTS_SHOWN = 20
# XML 1.0 cannot carry these, and no id or url needs them.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff\ud800-\udfff]")

Row = Mapping[str, str]


def read_items(
    path: Path, columns: tuple[str, ...], *, pictures: Path | None
) -> tuple[Item, ...]:
    """The items of a file; the first of `columns` is the id.

    Args:
        path: a `.csv` file with a header line, or a `.jsonl` file of flat objects.
        columns: what the task's page needs.
        pictures: folder that relative urls are looked up in; `None` allows none.

    Raises:
        ConfigError: with every fault found (of many, the first twenty and a count).
    """
    text = _read_text(path)
    rows = _csv_rows if path.suffix.lower() == ".csv" else _jsonl_rows
    numbered = list(rows(path, text))
    faults = [f"{path}: holds no items"] if not numbered else []
    faults += _row_faults(path, numbered, columns, pictures)
    _raise(faults)
    return items_from_rows((row for _, row in numbered), columns)


def items_from_rows(rows: Iterable[Row], columns: tuple[str, ...]) -> tuple[Item, ...]:
    """Rows that need no check (drawn ones, or checked before) as items."""
    return tuple(
        Item(item_id=ItemId(row[columns[0]]), columns=dict(row)) for row in rows
    )


def _read_text(path: Path) -> str:
    if path.suffix.lower() not in {".csv", ".jsonl"}:
        raise ConfigError([f"{path}: an items file ends in .csv or .jsonl"])
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as fault:
        raise ConfigError(
            [f"{path}: the items file cannot be read ({fault.strerror})"]
        ) from fault
    except UnicodeDecodeError as fault:
        raise ConfigError(
            [f"{path}: not UTF-8 at byte {fault.start}; save the file as UTF-8"]
        ) from fault


def _csv_rows(path: Path, text: str) -> Iterator[tuple[int, Row]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            # DictReader puts surplus cells under None and missing ones as None.
            cells = {key: value or "" for key, value in row.items() if key is not None}
            if None in row:
                here = f"{path}: line {reader.line_num}"
                raise ConfigError(
                    [f"{here}: more cells than the header's {len(cells)} columns"]
                )
            yield reader.line_num, cells
    except csv.Error as fault:
        raise ConfigError(
            [f"{path}: line {reader.line_num}: no valid CSV ({fault})"]
        ) from fault


def _jsonl_rows(path: Path, text: str) -> Iterator[tuple[int, Row]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as fault:
            raise ConfigError(
                [f"{path}: line {number}: no valid JSON ({fault})"]
            ) from fault
        if not isinstance(row, dict) or any(
            isinstance(value, dict | list) for value in row.values()
        ):
            raise ConfigError(
                [f"{path}: line {number}: each line is one object of plain values"]
            )
        yield number, {key: _cell(value) for key, value in row.items()}


def _cell(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _row_faults(
    path: Path,
    numbered: list[tuple[int, Row]],
    columns: tuple[str, ...],
    pictures: Path | None,
) -> list[str]:
    faults: list[str] = []
    first_seen: dict[str, int] = {}
    for line, row in numbered:
        here = f"{path}: line {line}"
        absent = [column for column in columns if not row.get(column, "").strip()]
        faults += [f"{here}: {column} is missing or empty" for column in absent]
        faults += [
            f"{here}: {column} holds a control character, which a HIT cannot carry"
            for column, cell in row.items()
            if _CONTROL.search(cell) or _CONTROL.search(column)
        ]
        item_id = row.get(columns[0], "")
        if item_id in first_seen and item_id:
            faults.append(
                f"{here}: {columns[0]} {item_id!r} was used in line "
                f"{first_seen[item_id]} already"
            )
        first_seen.setdefault(item_id, line)
        if "url" in columns and row.get("url"):
            faults += [f"{here}: {fault}" for fault in _url_faults(row, pictures)]
    return faults


def _url_faults(row: Row, pictures: Path | None) -> list[str]:
    url = row["url"]
    try:
        parts = urlsplit(url)
    except ValueError:
        return [f"url {url!r} is no address"]
    if parts.scheme in {"http", "https"}:
        good = parts.hostname and not re.search(r"\s", url)
        return [] if good else [f"url {url!r} is no address"]
    if pictures is None:
        fault = f"url {url!r} is not http(s), and [items] names no pictures folder"
        return [fault]
    inside = (pictures / url.removeprefix("/pictures/")).resolve()
    if not inside.is_relative_to(pictures.resolve()) or not inside.is_file():
        return [f"url {url!r} is no file in {pictures}"]
    return []


def _raise(faults: list[str]) -> None:
    if not faults:
        return
    more = len(faults) - _FAULTS_SHOWN
    shown = faults[:_FAULTS_SHOWN]
    raise ConfigError([*shown, f"and {more} more like these"] if more > 0 else shown)
