"""Reads a CSV of people to invite, and writes it again with a link for each."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from piecework.cli.people import Person, faults_of
from piecework.domain.errors import ConfigError
from piecework.domain.table_text import table_rows
from piecework.postprocess.datasets.csv_file import plain, to_csv

_TRUE, _FALSE = {"yes", "true", "1"}, {"", "no", "false", "0"}
_OWN = ("name", "country", "subdivision", "adult", "master")
_MADE = ("worker_id", "link", "until")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A person of a file.

    Attributes:
        others: the columns that say nothing about the worker, as they were written.
    """

    person: Person
    others: Mapping[str, str] = field(default_factory=dict)


def read_people(text: str, *, usual: Person, name: str) -> list[Row]:
    """The people of a file, in its order.

    Args:
        text: the CSV; a column `name`, and perhaps `country`, `subdivision`, `adult`,
            `master`; any other is handed on.
        usual: what holds for whom the file says nothing else of.
        name: what faults call the file.

    Raises:
        ConfigError: with every fault and its line.
    """
    reader = table_rows(text)
    faults: list[str] = []
    rows: dict[str, Row] = {}
    try:
        _check_columns(reader.fieldnames or (), name)
        for cells in reader:
            try:
                row = _row(cells, usual)
                if row.person.name in rows:
                    raise ValueError(f"{row.person.name!r} is in the file already")  # noqa: TRY301 - as the faults of a row
            except ValueError as fault:
                faults.append(f"{name}: line {reader.line_num}: {fault}")
            else:
                rows[row.person.name] = row
    except csv.Error as fault:
        raise ConfigError([f"{name}: line {reader.line_num}: {fault}"]) from fault
    if not rows and not faults:
        faults.append(f"{name}: there is nobody in it")
    if faults:
        raise ConfigError(faults, next_step="piecework worker invite --help")
    return list(rows.values())


def links_csv(rows: Sequence[Row], made: Sequence[Mapping[str, str]]) -> bytes:
    """The file again, with worker id and link of each person; safe in a spreadsheet."""
    columns: dict[str, list[str]] = {"name": [row.person.name for row in rows]}
    for other in rows[0].others:
        columns[other] = [row.others[other] for row in rows]
    for column in _MADE:
        columns[column] = [one[column] for one in made]
    return to_csv(columns)


def _check_columns(columns: Sequence[str], name: str) -> None:
    if "name" not in columns:
        raise ConfigError(
            [f"{name}: there is no column name; there are: {', '.join(columns)}"]
        )
    if made := sorted(set(columns) & set(_MADE)):
        raise ConfigError([f"{name}: {', '.join(made)}: what this command writes"])


def _row(cells: Mapping[str, str | None], usual: Person) -> Row:
    """The person of a line.

    Raises:
        ValueError: what is wrong with it.
    """
    if None in cells:
        raise ValueError("there are more cells than columns")
    given = {key: plain(cell or "").strip() for key, cell in cells.items()}
    person = Person(
        name=given["name"],
        country=given.get("country") or usual.country,
        subdivision=given.get("subdivision") or usual.subdivision,
        adult=_yes(given, "adult", otherwise=usual.adult),
        master=_yes(given, "master", otherwise=usual.master),
    )
    if faults := faults_of(person):
        raise ValueError("; ".join(faults))
    others = {key: cell for key, cell in given.items() if key not in _OWN}
    return Row(person=person, others=others)


def _yes(given: Mapping[str, str], column: str, *, otherwise: bool) -> bool:
    if column not in given:
        return otherwise
    said = given[column].lower()
    if said not in _TRUE | _FALSE:
        raise ValueError(f"{column} must be yes or no (found {given[column]!r})")
    return said in _TRUE
