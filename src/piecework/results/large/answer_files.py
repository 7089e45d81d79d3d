"""Answers in any number of Parquet files: their origin, and the faults of these files.

The columns are those of the table of answers (`piecework.domain.tables`), with the index
`answer_id` as a column. If there is no `worker_id`, `worker` is read instead: a keyed hash,
as `piecework export` writes it. The origin is their task and, if known, their campaign.

From tables of other tools, the first step of the work makes such files, in the work folder.
So an interrupted command continues behind this step, and nothing is left elsewhere if its
process is killed.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from piecework.campaign.provenance import code_version
from piecework.domain.campaign import Campaign
from piecework.domain.dataset import Publication
from piecework.domain.errors import ConfigError
from piecework.domain.hit import Item
from piecework.domain.tables import INDEX, Column
from piecework.domain.task import Task
from piecework.postprocess.datasets.facts import DatasetFacts
from piecework.results.large.work_folder import WorkFolder

_AT_ONCE = 100_000
"""Rows that are in memory at a time."""

_STANDS_IN = {"worker_id": "worker"}
_MOST_FAULTS = 20
_ONLY_OF_ANSWERS = frozenset({"assignment_id", "is_canned"})

_TYPES: Mapping[str, pa.DataType] = {
    "str": pa.large_string(),
    "int64": pa.int64(),
    "bool": pa.bool_(),
    "float64": pa.float64(),
    "datetime64[us, UTC]": pa.timestamp("us", tz="UTC"),
    "object": pa.large_list(pa.large_string()),
}
"""The Arrow type of each dtype of the table."""

_MEANT = {
    "str": "text",
    "int64": "whole numbers",
    "bool": "true or false",
    "float64": "numbers",
    "datetime64[us, UTC]": "times with a zone",
    "object": "lists of texts",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A row group of a file, which one process reads.

    Attributes:
        names: the file's column names, by those of the table.
    """

    path: Path
    row_group: int
    rows: int
    names: Mapping[str, str]


def answer_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files, and those in the folders, in order of their names.

    Raises:
        ConfigError: a file does not exist, or a folder has no Parquet files.
    """
    faults, files = [], []
    for path in paths:
        inside = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        files += inside
        if not inside:
            faults.append(f"{path}: the folder has no files *.parquet")
        elif not inside[0].exists():
            faults.append(f"{path}: there is no such file")
    twice = {str(path) for path in files if files.count(path) > 1}
    faults += [f"{path}: the file is given twice" for path in sorted(twice)]
    if faults:
        raise ConfigError(faults)
    return files


def are_answers(paths: Sequence[Path]) -> bool:
    """Return whether the files are piecework's; a damaged file counts as one of them.

    A folder without Parquet files may be a tool's.

    Raises:
        ConfigError: a file does not exist.
    """
    if any(path.is_dir() and not any(path.glob("*.parquet")) for path in paths):
        return False
    return all(map(_is_of_answers, answer_files(paths)))


def _is_of_answers(path: Path) -> bool:
    """Return whether a file has the table of answers; a dataset has other columns."""
    try:
        names = set(pq.read_schema(path).names)
    except (pa.ArrowException, OSError):
        return path.suffix == ".parquet"
    return INDEX in names and not names.isdisjoint(_ONLY_OF_ANSWERS)


def states(paths: Sequence[Path]) -> list[tuple[str, int, int]]:
    """Return names, sizes and times of files, also of those in folders, to notice changes."""
    files = [
        file
        for path in paths
        for file in (sorted(path.rglob("*")) if path.is_dir() else [path])
        if not file.is_dir()
    ]
    resolved = [(path.resolve(), path.stat()) for path in files]
    return [(str(path), state.st_size, state.st_mtime_ns) for path, state in resolved]


def pieces_of(
    paths: Sequence[Path], columns: Mapping[str, Column]
) -> tuple[list[Piece], pa.Schema]:
    """Return the pieces to read, and the schema that `read_piece` gives them.

    Reads only the footer of each file.

    Args:
        paths: of Parquet files.
        columns: the columns to read.

    Raises:
        ConfigError: a file is not Parquet, is truncated, or lacks a column; lists all.
    """
    faults: list[str] = []
    pieces: list[Piece] = []
    for path in paths:
        try:
            with pq.ParquetFile(path) as file:
                names, wrong = _names(path, file.schema_arrow, columns)
                groups = file.metadata
        except (pa.ArrowException, OSError) as fault:
            faults.append(f"{path}: not valid Parquet, or truncated ({_first(fault)})")
            continue
        faults += wrong
        pieces += [
            Piece(path=path, row_group=n, rows=groups.row_group(n).num_rows, names=names)
            for n in range(groups.num_row_groups)
            if groups.row_group(n).num_rows
        ]
    if faults:
        more = len(faults) - _MOST_FAULTS
        first_faults = [*faults[:_MOST_FAULTS], *([f"... and {more} more"] if more > 0 else [])]
        raise ConfigError(
            first_faults,
            next_step="files of another tool: piecework data import FILES --as CAMPAIGN first",
        )
    fields = [(name, _TYPES[column.dtype]) for name, column in columns.items()]
    return pieces, pa.schema([(INDEX, _TYPES["str"]), *fields])


def columns_of(paths: Sequence[Path]) -> frozenset[str]:
    """Return the columns that any of the files has."""
    return frozenset(name for schema in _schemas(paths) for name in schema.names)


def has_texts(paths: Sequence[Path], column: str) -> bool:
    """Return whether any file has a cell in a column of text that is not empty."""
    for path in paths:
        if column in pq.read_schema(path).names:
            for batch in pq.ParquetFile(path).iter_batches(columns=[column]):
                if pc.any(pc.not_equal(batch.column(0), "")).as_py():
                    return True
    return False


def warnings_of(paths: Sequence[Path]) -> list[str]:
    """Return the warnings in the metadata of the files, each once."""
    kept = [(schema.metadata or {}).get(b"warning", b"") for schema in _schemas(paths)]
    return list(dict.fromkeys(warning.decode() for warning in kept if warning))


def _schemas(paths: Sequence[Path]) -> Iterator[pa.Schema]:
    """Yield the schemas of readable files; `pieces_of` names the others."""
    for path in paths:
        with suppress(pa.ArrowException, OSError):
            yield pq.read_schema(path)


def read_piece(piece: Piece, schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the rows of a piece in chunks.

    Raises:
        ConfigError: the rows cannot be read, or an id is missing.
    """
    where = f"{piece.path}, row group {piece.row_group + 1}"
    try:
        with pq.ParquetFile(piece.path) as file:
            for batch in file.iter_batches(
                _AT_ONCE,
                row_groups=[piece.row_group],
                columns=[piece.names[name] for name in schema.names],
            ):
                table = pa.Table.from_batches([batch])
                cells = [table[piece.names[field.name]].cast(field.type) for field in schema]
                yield _complete(pa.Table.from_arrays(cells, schema=schema), where)
    except (pa.ArrowException, OSError) as fault:
        raise ConfigError([f"{where}: cannot be read ({_first(fault)})"]) from fault


def as_frame(table: pa.Table, columns: Mapping[str, Column]) -> pd.DataFrame:
    """Convert to the table of answers, in the order of its ids.

    Raises:
        ConfigError: an answer occurs twice.
    """
    index = pd.Index(table[INDEX].to_pandas().astype("str"), dtype="str", name=INDEX)
    if not index.is_unique:
        name = index[index.duplicated()][0]
        raise ConfigError([f"the answer {name!r} is in the files more than once"])
    cells = {
        name: _cells(table[name], column.dtype).set_axis(index, axis=0)
        for name, column in columns.items()
        if name in table.column_names
    }
    return pd.DataFrame(cells, index=index).sort_index()


def _names(
    path: Path, schema: pa.Schema, columns: Mapping[str, Column]
) -> tuple[dict[str, str], list[str]]:
    """Return the file's names of the columns, and the faults of these columns."""
    names, faults = {}, []
    for name, dtype in [(INDEX, "str"), *((n, c.dtype) for n, c in columns.items())]:
        own = name
        if name not in schema.names:
            own = _STANDS_IN.get(name, name)
        if own not in schema.names:
            faults.append(f"{path}: the column {name!r} is missing")
        elif not _is_of(schema.field(own).type, dtype):
            faults.append(
                f"{path}: the column {own!r} holds {schema.field(own).type}, but must "
                f"hold {_MEANT[dtype]}"
            )
        names[name] = own
    return names, faults


def _is_of(arrow_type: pa.DataType, dtype: str) -> bool:
    if pa.types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    text = pa.types.is_string(arrow_type) or pa.types.is_large_string(arrow_type)
    if dtype == "object":
        return bool(
            (pa.types.is_list(arrow_type) or pa.types.is_large_list(arrow_type))
            and _is_of(arrow_type.value_type, "str")
        )
    number = pa.types.is_floating(arrow_type) or pa.types.is_integer(arrow_type)
    fits = {
        "str": text,
        "int64": pa.types.is_integer(arrow_type),
        "bool": pa.types.is_boolean(arrow_type),
        "float64": number,
        "datetime64[us, UTC]": pa.types.is_timestamp(arrow_type) and arrow_type.tz is not None,
    }
    return bool(fits[dtype])


def _complete(table: pa.Table, where: str) -> pa.Table:
    """Fill absent texts and lists; refuse absent ids, booleans and counts."""
    for number, field in enumerate(table.schema):
        column = table.column(number)
        if not column.null_count or pa.types.is_timestamp(field.type):
            continue
        if field.name in {INDEX, "item_id", "assignment_id"} or (
            pa.types.is_integer(field.type) or pa.types.is_boolean(field.type)
        ):
            raise ConfigError([f"{where}: {column.null_count:,} cells of {field.name!r} are empty"])
        if pa.types.is_large_string(field.type):
            table = table.set_column(number, field, column.fill_null(""))
    return table


def _cells(column: pa.ChunkedArray, dtype: str) -> "pd.Series[Any]":
    if dtype != "object":
        plain: pd.Series[Any] = column.to_pandas().astype(dtype)
        return plain
    # Most lists are empty: only the others become tuples, equal ones once.
    array = column.combine_chunks()
    cells = np.empty(len(array), dtype="object")
    cells[:] = [()] * len(array) if len(array) else []
    full = np.flatnonzero(np.diff(array.offsets.to_numpy()) > 0)
    known: dict[tuple[str, ...], tuple[str, ...]] = {}
    for row, names in zip(full.tolist(), array.take(full).to_pylist(), strict=True):
        cell = tuple(names)
        cells[row] = known.setdefault(cell, cell)
    return pd.Series(cells, dtype="object")


def _first(fault: Exception) -> str:
    return (str(fault).splitlines() or [type(fault).__name__])[0][:200]


UNKNOWN_TASK = Task(
    name="answers",
    version=1,
    title="",
    description="",
    keywords=(),
    columns=(),
    items_per_hit=1,
    reward_cents=0,
    assignment_duration_seconds=1,
    fields=(),
    rules=(),
)
"""A task with only a text."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What is known about the origin of answers.

    Attributes:
        task: the task of the answers.
        campaign: the campaign of the answers; None if unknown.
    """

    task: Task
    campaign: Campaign | None = None

    @property
    def settings(self) -> Mapping[str, Mapping[str, object] | None]:
        """The settings of heuristics: the task's below the campaign's."""
        return self.task.heuristics if self.campaign is None else self.campaign.heuristics

    @property
    def seed(self) -> int:
        """The seed of the random sample."""
        return 0 if self.campaign is None else self.campaign.rehearsal.seed

    @property
    def items(self) -> Sequence[Item]:
        """The items, for gold answers, twins and texts; empty if unknown."""
        return () if self.campaign is None else self.campaign.items

    def facts(self, *, name: str) -> DatasetFacts:
        """Return the facts that a dataset of these answers states about itself.

        Args:
            name: of the dataset, if there is no campaign.
        """
        campaign = self.campaign
        return DatasetFacts(
            campaign=campaign.name if campaign else name,
            purpose=campaign.description if campaign else "",
            task=self.task,
            source_hash=campaign.source_hash if campaign else "",
            code_commit=code_version(),
            is_rehearsal=False,
            is_imported=campaign is not None and campaign.imported is not None,
            wanted_per_item="",
            publication=campaign.dataset if campaign else Publication(),
            is_part=True,
        )


_Known = TypeVar("_Known")


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeAnswers:
    """What is known about the answers in tables.

    Attributes:
        origin: their task, with settings and items.
        remarks: how the tables were read, in sentences.
    """

    origin: Origin
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables(Generic[_Known]):
    """Tables of other tools, and how answers are made from them.

    Attributes:
        paths: files, or folders of a tool.
        read_as: all that decides how they are read; JSON.
        write: writes Parquet files of answers to an empty folder, and returns what is known
            about them.
    """

    paths: Sequence[Path]
    read_as: Mapping[str, object]
    write: Callable[[Path], _Known]

    @property
    def inputs(self) -> Mapping[str, object]:
        """What the answers depend on; JSON."""
        return {"tables": states(self.paths), "code": code_version(), "read_as": {**self.read_as}}

    def make_answers(self, folder: WorkFolder) -> tuple[Path, _Known]:
        """Make the answers, unless an interrupted run made them.

        Returns:
            The folder with the files of answers, and what is known about them.

        Raises:
            ConfigError: a table cannot be read; then the work folder is deleted.
        """
        answers = folder.at("answers")
        if not folder.at("made").exists():
            shutil.rmtree(answers, ignore_errors=True)  # a run may have been cut off in it
            answers.mkdir()
        try:
            folder.keep("made", partial(self.write, answers))
        except ConfigError:
            shutil.rmtree(folder.path)
            raise
        return answers, folder.kept("made")
