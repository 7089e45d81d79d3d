"""Tables of a campaign file that are files of their own, which campaigns share.

`qualification = "english.toml"` names a test, `earned = ["captioner.toml"]` what workers
earn, `card = "birds.card.toml"` what readers of the dataset are told, `fields =
"hit.fields.toml"` what a page does not say about its fields, and `[imported] columns =
"birds.columns.toml"` the columns of another tool's files. Such a file is in the campaign
file's folder or below, so that reading it needs no trust. What it names is relative to it.
"""

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from piecework.config.input_tables import ImportedTable
from piecework.config.named import Words
from piecework.config.requirements_table import EarnedTable
from piecework.config.results_tables import CardTable
from piecework.config.schema import (
    FieldsTable,
    FieldTable,
    QualificationTestTable,
)
from piecework.config.schema_faults import schema_faults
from piecework.config.user_files import read_text
from piecework.domain.errors import ConfigError
from piecework.domain.imported import Reading
from piecework.domain.task import is_page
from piecework.domain.text import control_in

_LARGEST_BYTES = 1_000_000
_T = TypeVar("_T", bound=BaseModel)


class ColumnsTable(ImportedTable):
    """A file of columns; it may also say what the fields of the answers are."""

    fields: dict[Words, FieldTable] = Field(default_factory=dict)


def read_reading(path: Path) -> Reading:
    """Read what a TOML file says about the columns of other files.

    Raises:
        ConfigError: the file cannot be read, is not TOML, or breaks the schema; it has
            every fault.
    """
    table = read_table(path, ColumnsTable)
    fields = {name: field.model_dump(exclude_unset=True) for name, field in table.fields.items()}
    # Unlike in a campaign file, what is not stated here is guessed.
    guessed = () if "numbers" in table.model_fields_set else None
    return replace(table.reading(), fields=fields, numbers=table.numbers or guessed)


def with_shared(
    document: Mapping[str, Any], *, folder: Path, at: Callable[..., str]
) -> tuple[dict[str, Any], list[str]]:
    """Return a campaign file with the tables that it names, and every fault of them.

    Args:
        document: the campaign file as read.
        folder: where the named files are.
        at: where a key is, for a fault.
    """
    full, faults = {**document}, list[str]()

    def read(key: str, name: object, schema: type[_T], *inner: str) -> _T | None:
        try:
            return _read(name, schema, folder=folder, where=at(key, *inner))
        except ConfigError as fault:
            faults.extend(fault.faults)
            return None

    if "qualification" in document:
        name = document["qualification"]
        test = read("qualification", name, QualificationTestTable)
        full["qualification"] = test and _test_of(test, str(name))
    if "earned" in document:
        names = document["earned"]
        tables = [
            (str(name), read("earned", name, EarnedTable))
            for name in (names if isinstance(names, list) else [names])
        ]
        full["earned"] = [_earned_of(table, name) for name, table in tables if table]
    if "card" in document:
        card = read("card", document["card"], CardTable) or CardTable()
        full["card"] = card.model_copy(update={"file": str(document["card"])})
    full |= _fields_and_columns(document, read)
    imported = document.get("imported")
    faults += [
        f'{at("imported", key)}: goes into a file: columns = "birds.columns.toml" names it'
        for key in (imported if isinstance(imported, dict) else ())
        if key != "columns"
    ]
    return full, faults


def _fields_and_columns(
    document: Mapping[str, Any], read: Callable[..., Any]
) -> dict[str, BaseModel]:
    """Return `fields` and `imported`: a file of columns may say what fields are, too."""
    full: dict[str, BaseModel] = {}
    fields = FieldsTable()
    if "fields" in document:
        named = read("fields", document["fields"], FieldsTable) or FieldsTable()
        fields = full["fields"] = named.model_copy(update={"file": str(document["fields"])})
    imported = document.get("imported")
    if isinstance(imported, dict):
        name = imported.get("columns")
        columns = None if name is None else read("imported", name, ColumnsTable, "columns")
        columns = columns or ColumnsTable()
        full["imported"] = columns.model_copy(update={"file": name})
        if columns.fields:
            both = {"fields": {**columns.fields, **fields.fields}}
            full["fields"] = fields.model_copy(update=both)
    return full


def _test_of(table: QualificationTestTable, name: str) -> QualificationTestTable:
    if table.form is not None and table.key is not None:
        documents = {"form": _beside(table.form, name), "key": _beside(table.key, name)}
        return table.model_copy(update={"file": name, **documents})
    if table.task is None or table.items is None:
        return table.model_copy(update={"file": name})
    is_own = is_page(table.task) or table.task.startswith((".", "/"))
    task = _beside(table.task, name) if is_own else table.task
    values = {"file": name, "task": task, "items": _beside(table.items, name)}
    return table.model_copy(update=values)


def _earned_of(table: EarnedTable, name: str) -> EarnedTable:
    values = {"file": name, "records": _beside(table.records, name)}
    return table.model_copy(update=values)


def _beside(named: str, file: str) -> str:
    """Return what a shared file names, as the campaign file would name it.

    >>> _beside("../dog", "shared/test.toml"), _beside("./dog", "shared/test.toml")
    ('./dog', './shared/dog')
    >>> _beside("a.csv", "test.toml"), _beside("s3://b/a.csv", "shared/test.toml")
    ('a.csv', 's3://b/a.csv')
    """
    if "/" not in file or "://" in named:
        return named
    path = os.path.normpath(Path(file).parent / named)
    return f"./{path}" if named.startswith(".") and not path.startswith((".", "/")) else path


def _read(name: object, schema: type[_T], *, folder: Path, where: str) -> _T:
    if not isinstance(name, str) or not name.endswith(".toml") or control_in(name):
        fault = 'names a file, such as "english.toml"; the keys of a table here go into such a file'
        raise ConfigError([f"{where}: {fault}"])
    path = folder / name
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise ConfigError([f"{where}: {name} is not in the campaign file's folder; copy it there"])
    if not path.exists():
        raise ConfigError([f"{where}: no such file: {name}"])
    return read_table(path, schema)


def read_table(path: Path, schema: type[_T]) -> _T:
    """Read a file that is one table.

    Raises:
        ConfigError: the file cannot be read, is not TOML, or breaks the schema; it has
            every fault.
    """
    text = read_text(path, name="file that a campaign names", most=_LARGEST_BYTES)
    try:
        document = tomllib.loads(text)
        if "file" in document:
            raise ConfigError([f"{path}: file: no such key"])
        return schema.model_validate(document)
    except ValidationError as fault:
        raise ConfigError(schema_faults(path, text, fault, schema=schema)) from fault
    except (ValueError, RecursionError) as fault:
        raise ConfigError([f"{path}: not valid TOML: {fault}"]) from fault
