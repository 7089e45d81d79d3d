"""Read the full report of Figure Eight, once CrowdFlower: a row for each judgment.

Columns with an underscore before their name are the platform's. The others are the
answers and the columns of the unit; the report does not tell which. `x_gold` holds the
right answers to `x`, on lines of their own if several are right. What a contributor
ticked in several boxes stands on lines of its own, too.

A unit is an item, also if another unit holds the same. Trust, channel, place and
address of a contributor are not read: they say nothing about an answer, and much about
a person.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from piecework.importing.readers.head import Head
from piecework.importing.readers.rows import ImportedRow, NotSent, Read
from piecework.importing.readers.tables import (
    CellError,
    Cells,
    Roles,
    cell_in,
    guessed_roles,
    read_table,
    stated_roles,
    time_in,
)

NAME = "Figure Eight, CrowdFlower (full report)"

UNIT = "_unit_id"
_WORKER, _STATE = "_worker_id", "_unit_state"
_GOLD, _REASON = "_gold", "_gold_reason"
_TRUE = "true"


def fits(head: Head) -> bool:
    """Recognise the columns that each full report has."""
    return head.has(UNIT, _WORKER)


def is_aggregated(head: Head) -> bool:
    """Recognise a report with a row for each unit, which holds no judgments."""
    names = ("_trusted_judgments", _STATE, "_last_judgment_at")
    return head.has(UNIT) and any(name in head.header for name in names)


def roles_of(path: Path, head: Head) -> Roles:
    """Return which columns are answers, as stated or from the rows.

    Raises:
        ConfigError: the header is not valid.
    """
    names = [name for name in head.header if not _is_of_platform(name, head)]
    known = stated_roles(names, head.reading)
    if known is not None:
        return known
    rows: list[tuple[str, Cells]] = []

    def seen() -> Iterator[tuple[str, Cells]]:
        def keep(line: int, cells: Cells) -> Read:
            rows.append((cells[UNIT], cells))
            return NotSent(line=line, why="")

        for _ in read_table(path, head, keep):
            yield from rows
            rows.clear()

    asked = {name for name in names if f"{name}{_GOLD}" in head.header}
    return guessed_roles(seen(), names, asked=asked, answers_stand_together=True)


def gold_of(head: Head, roles: Roles) -> dict[str, str]:
    """Return the column of the right answers, by answer."""
    return {
        name: f"{name}{_GOLD}" for name in sorted(roles.sent) if f"{name}{_GOLD}" in head.header
    }


def read(path: Path, head: Head) -> Iterator[Read]:
    """Yield a row per judgment."""
    return read_as(path, head, roles_of(path, head))


def read_as(path: Path, head: Head, roles: Roles) -> Iterator[Read]:
    """Yield a row per judgment, with known roles of columns."""
    return read_table(path, head, partial(_row, roles, gold_of(head, roles)), worker=_WORKER)


def _is_of_platform(name: str, head: Head) -> bool:
    is_gold = name.endswith((_GOLD, _REASON)) and (
        name.removesuffix(_REASON).removesuffix(_GOLD) in head.header
    )
    return name.startswith("_") or name in head.unnamed or is_gold


def _row(roles: Roles, gold: dict[str, str], line: int, cells: Cells) -> Read:
    unit = cells[UNIT].strip()
    if not unit:
        raise CellError(UNIT, "is empty, but each row is a judgment about a unit")
    shown = {UNIT: unit} | {name: cells[name] for name in cells if name in roles.shown}
    shown |= {column: cells[column].replace("\n", "|") for column in gold.values()}
    is_tainted = cell_in(cells, "_tainted").lower() == _TRUE
    return ImportedRow(
        line=line,
        hit_id=unit,
        assignment_id=cell_in(cells, "_id"),
        worker_id=cells[_WORKER].strip(),
        accepted_at=time_in(cells, "_started_at"),
        submitted_at=time_in(cells, "_created_at"),
        outcome="tainted" if is_tainted else "trusted" if "_tainted" in cells else "",
        shown=shown,
        sent={name: cells[name] for name in cells if name in roles.sent},
    )
