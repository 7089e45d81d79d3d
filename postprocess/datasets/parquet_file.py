"""Parquet: typed columns for programs; the same frame gives the same bytes."""

import io
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

_TYPES: Mapping[str, pa.DataType] = {
    "batch": pa.int64(),
    "round": pa.int64(),
    "position": pa.int64(),
    "place": pa.int64(),
    "is_precanned": pa.bool_(),
    "is_rejected": pa.bool_(),
    "is_surplus": pa.bool_(),
    "is_provisional": pa.bool_(),
    "flaws": pa.list_(pa.string()),
    "problems": pa.list_(pa.string()),
    "shown_seconds": pa.float64(),
    "submitted_at": pa.timestamp("us", tz="UTC"),
    "answers": pa.int64(),
    "canned": pa.int64(),
    "captions": pa.int64(),
    "text_yes": pa.int64(),
    "text_no": pa.int64(),
}
"""`votes_` columns are int64 too; all else is text."""


def to_parquet(
    columns: Mapping[str, Sequence[object]],
    *,
    warning: str = "",
    types: Mapping[str, pa.DataType] | None = None,
) -> bytes:
    """A table as Parquet; a warning goes into its metadata under `warning`.

    `types` are those of columns that only this dataset has.
    """
    known = {**_TYPES, **(types or {})}
    schema = pa.schema(
        [(name, _type_of(name, known)) for name in columns],
        metadata={"warning": warning} if warning else None,
    )
    table = pa.table(
        {
            name: pa.array(values, type=_type_of(name, known), from_pandas=True)
            for name, values in columns.items()
        },
        schema=schema,
    )
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd")
    return out.getvalue()


def _type_of(name: str, known: Mapping[str, pa.DataType]) -> pa.DataType:
    otherwise = pa.int64() if name.startswith("votes_") else pa.string()
    return known.get(name, otherwise)
