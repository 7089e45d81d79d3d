"""The records of the task builder, and their migrations."""

import csv
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from offline_markets.core.clock import SECOND, iso
from offline_markets.core.errors import not_found
from offline_markets.prolific.body import Closed
from offline_markets.prolific.call import Call
from offline_markets.prolific.state import State


def begin(state: State, dataset_id: str, fields: str) -> str:
    """Store a dataset's new schema, plan the migration, and return its id."""
    state.conn.execute(
        "UPDATE dataset SET fields = ?, schema_number = schema_number + 1 WHERE id = ?",
        (fields, dataset_id),
    )
    job_id = state.new_uuid()
    state.conn.execute(
        "INSERT INTO schema_migration (id, dataset_id, schema_number, created_ms, "
        "updated_ms) SELECT ?1, id, schema_number, ?2, ?2 FROM dataset WHERE id = ?3",
        (job_id, state.now_ms, dataset_id),
    )
    at_ms = state.now_ms + state.switches.settling_seconds * SECOND
    state.plan("migrate", job_id, at_ms=at_ms)
    return job_id


def migrate(state: State, job_id: str) -> None:
    """Fit all rows to the schema; what does not fit it becomes null."""
    [job] = state.rows(
        "SELECT job.dataset_id, fields FROM schema_migration AS job "
        "JOIN dataset ON dataset.id = job.dataset_id WHERE job.id = ?",
        (job_id,),
    )
    schema = DataSchema.model_validate_json(job["fields"])
    count, faults = 0, list[dict[str, str]]()
    for row in state.rows(
        "SELECT id, sent FROM datapoint WHERE dataset_id = ? ORDER BY number", (job["dataset_id"],)
    ):
        count += 1
        values, wrong = fitted(schema, json.loads(row["sent"]))
        faults += [
            {"datapoint_id": row["id"], "field": field, "reason": reason} for field, reason in wrong
        ]
        nulls = {field: None for field, _ in wrong}
        state.conn.execute(
            "UPDATE datapoint SET content = ? WHERE id = ?",
            (json.dumps({**values, **nulls}), row["id"]),
        )
    outcome: dict[str, Any] = {"reprocessed_count": count}
    if faults:
        failed = len({fault["datapoint_id"] for fault in faults})
        outcome |= {"failed_count": failed, "errors": faults}
    state.conn.execute(
        "UPDATE schema_migration SET status = ?, outcome = ?, updated_ms = ? WHERE id = ?",
        ("partial" if faults else "complete", json.dumps(outcome), state.now_ms, job_id),
    )


def get(call: Call) -> dict[str, Any]:
    """Return what became of a migration."""
    row = call.state.row(
        "SELECT * FROM schema_migration WHERE dataset_id = ? AND id = ?",
        (call.path["dataset_id"], call.path["job_id"]),
    )
    if row is None:
        raise not_found("migration", call.path["job_id"])
    return {
        "dataset_id": row["dataset_id"],
        "job_id": row["id"],
        "schema_version": row["schema_number"],
        "created_at": iso(row["created_ms"]),
        "updated_at": iso(row["updated_ms"]),
        "status": row["status"],
        **json.loads(row["outcome"]),
    }


GROUP_COLUMN = "META_TASK_GROUP_ID"
"""The column of a file without a schema that groups tasks."""

WHOLE_RECORD = "_raw"
"""The name of the field in a fault that concerns the whole record."""

_MOST_FIELDS = 200
_LONGEST_KEY, _LONGEST_LABEL = 128, 255


class UnreadableError(Exception):
    """A file is not what its name says; the message says why."""


class FieldType(Closed):
    """What a field of a dataset holds."""

    type: Literal["text", "image_url", "metadata", "task_group_id"]
    label: str | None = Field(None, max_length=_LONGEST_LABEL)


class DataSchema(Closed):
    """The fields of a dataset, and whether each record has all of them."""

    strict: bool
    fields: dict[str, FieldType] = Field(min_length=1, max_length=_MOST_FIELDS)

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if any(not 1 <= len(key) <= _LONGEST_KEY for key in self.fields):
            raise ValueError(f"a key has from 1 to {_LONGEST_KEY} characters")
        if list(self.types().values()).count("task_group_id") > 1:
            raise ValueError("one field is a task_group_id at most")
        return self

    def types(self) -> dict[str, str]:
        """Return the type of each field."""
        return {key: field.type for key, field in self.fields.items()}

    def group_field(self) -> str | None:
        """Return the field that groups tasks, if there is one."""
        types = self.types()
        return next((key for key in types if types[key] == "task_group_id"), None)


def group_field_of(fields: str | None) -> str:
    """Return the field that groups a dataset's tasks; "" if it groups none.

    Args:
        fields: the stored schema; None if the dataset has none.
    """
    if fields is None:
        return GROUP_COLUMN
    return DataSchema.model_validate_json(fields).group_field() or ""


def fitted(schema: DataSchema, record: object) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return a record's values by the schema's fields, and its faults by field.

    Fields that the schema does not have are left out, which is a guess.
    """
    if not isinstance(record, dict):
        return {}, [(WHOLE_RECORD, "The record is not a JSON object.")]
    values, faults = dict[str, Any](), []
    for key, kind in schema.types().items():
        value = record.get(key)
        if value is None:
            if schema.strict:
                faults.append((key, "The field is missing."))
            continue
        fault = _fault(kind, value)
        if fault is None:
            values[key] = value
        else:
            faults.append((key, fault))
    return values, faults


def read_lines(content: bytes) -> Iterator[object]:
    """Yield the JSON values of lines; an `UnreadableError` for each that is not JSON.

    Blank lines are skipped.

    Raises:
        UnreadableError: the file is not UTF-8.
    """
    for line in _text(content).split("\n"):
        if line.strip():
            try:
                yield json.loads(line, parse_constant=_refuse_constant)
            except (ValueError, RecursionError):
                yield UnreadableError("The line is not JSON.")


def read_file(filename: str, content: bytes) -> list[object]:
    """Return the records of a file: lines of JSON, CSV, or CSV in an archive.

    Raises:
        UnreadableError: the file is not what its name says, or has no records.
    """
    ending = PurePosixPath(filename).suffix.lower()
    if ending == ".jsonl":
        records = list(read_lines(content))
    else:
        table = _unpacked(content) if ending == ".zip" else content
        records = list(_read_table(_text(table)))
    if not records:
        raise UnreadableError("The file has no records.")
    return records


def _read_table(text: str) -> Iterator[dict[str, str]]:
    try:
        rows = [row for row in csv.reader(io.StringIO(text), strict=True) if row]
    except csv.Error as fault:
        raise UnreadableError(f"The file is not CSV: {fault}.") from fault
    titles = rows[0] if rows else []
    if len(set(titles)) < len(titles):
        raise UnreadableError("Two columns have the same title.")
    for row in rows[1:]:
        if len(row) != len(titles):
            raise UnreadableError("A row has another number of columns than the first.")
        yield dict(zip(titles, row, strict=True))


def _unpacked(content: bytes) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            tables = [each for each in archive.infolist() if each.filename.endswith(".csv")]
            if len(tables) != 1:
                raise UnreadableError("The archive has to hold one CSV file.")
            if tables[0].file_size > 16 * 1_048_576:
                raise UnreadableError("The CSV file is too large.")
            return archive.read(tables[0])
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as fault:
        raise UnreadableError("The file is not a readable archive.") from fault


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise UnreadableError("The file is not UTF-8.") from fault


def _refuse_constant(name: str) -> object:
    raise ValueError(name)


def _fault(kind: str, value: object) -> str | None:
    if not isinstance(value, str | int | float):
        return "The value is not a text, a number or true or false."
    if kind == "image_url" and not str(value).startswith(("https://", "http://")):
        return "The value is not an address of an image."
    if kind == "task_group_id" and not str(value).strip():
        return "The value is empty."
    return None


def as_stored(record: Mapping[str, Any]) -> str:
    """Return a record as a text that is equal for equal records."""
    return json.dumps(record, sort_keys=True, ensure_ascii=True)
