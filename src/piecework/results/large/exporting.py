"""`export` for answers larger than memory: a dataset's tables, part by part.

A part has some items with all answers about them, cleaned, and uses the same layout as
a whole dataset. Results that need all answers together are left out: probabilities of
labels, participants, conditions, and files that are not tables.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from piecework.domain.column_names import FILE_NAME, MARKET, OUTCOME, SENT_MORE
from piecework.domain.edit import Edit
from piecework.domain.errors import ConfigError
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.tables import (
    COLLECTED,
    HIT_VALUE,
    INDEX,
    ITEM_VALUE,
    ORDER,
    PUBLISHED,
    VERDICTS,
    Column,
    task_columns,
    value_column,
)
from piecework.domain.task import MIXED_IN
from piecework.postprocess.answers import answer_columns
from piecework.postprocess.datasets.facts import DatasetFacts
from piecework.postprocess.datasets.file_table import FileTable, write_parquet
from piecework.postprocess.datasets.files import layout_of
from piecework.postprocess.datasets.pictures import picture_columns
from piecework.postprocess.edits import replay
from piecework.postprocess.hidden_ids import (
    HiddenIds,
    hide_in_answers,
    hide_in_task,
    is_of_a_market,
    own_workers_in,
)
from piecework.postprocess.pseudonyms import is_pseudonym, pseudonyms
from piecework.postprocess.splits import splits
from piecework.qc.scores import is_first
from piecework.results.large.answer_files import (
    answer_files,
    as_frame,
    columns_of,
    has_texts,
    pieces_of,
    read_piece,
    states,
    warnings_of,
)
from piecework.results.large.cleaning import (
    ROWS_CLEANED,
    Source,
    bucket_count,
    cleaning_of,
    judge,
    keep_items,
    known_items,
    split,
)
from piecework.results.large.work_folder import PartRunner, finish, open_work

_NEEDED = ("worker_id", "item_id", "batch", "text", "is_canned", "submitted_at")
_IDS = (INDEX, "worker_id")
_ANSWERED = (ITEM_VALUE, HIT_VALUE)
_TEXT = Column("str", "")
_CLEANED = {"clean_text": _TEXT, "edits": _TEXT}
_NOTHING: Mapping[str, object] = {
    "int64": 0,
    "float64": float("nan"),
    "bool": False,
    "str": "",
    "object": (),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFiles:
    """The files written; `rows` by table name, with one folder of files per table."""

    folder: Path
    answers: int
    rows: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job(Source):
    """The source, and the facts that the dataset states about itself.

    Attributes:
        warning: of the files read; the files written have it too.
        is_hashed: workers are already pseudonyms.
    """

    facts: DatasetFacts
    warning: str
    is_hashed: bool


def export_files(
    paths: Sequence[Path],
    run_parts: PartRunner,
    *,
    into: Path,
    facts: DatasetFacts,
    key: bytes,
    items: Iterable[Item] = (),
    bucket_rows: int = ROWS_CLEANED,
) -> ExportedFiles:
    """Write the tables of a dataset with the answers of all files.

    Ids of workers and of markets' assignments become pseudonyms, in any cell. Texts
    are cleaned, unless the files have `clean_text` and `edits`. Answers without
    verdicts are all kept, but only the first of a worker's answers about an item.

    Args:
        paths: Parquet files or folders (`piecework.results.large.answer_files`).
        run_parts: runs the parts.
        into: the folder for the tables, which must not exist yet.
        facts: with `is_part`; the task defines the columns.
        key: for the pseudonyms of workers.
        items: all items of the campaign, if it is known.
        bucket_rows: about this many rows are in memory at a time.

    Raises:
        ConfigError: a file cannot be read or is about other items, the folder exists, or
            another command works on it.
    """
    files = answer_files(paths)
    there = columns_of(files)
    if not has_texts(files, "also_sent"):
        there -= {"also_sent"}
    facts = replace(facts, has_markets=MARKET in there)
    wanted = _wanted(facts, there)
    pieces, schema = pieces_of(files, wanted)
    of = {
        "files": states(files),
        "campaign": [facts.campaign, facts.source_hash, facts.code_commit],
        "task": [facts.task.name, facts.task.version],
        "rules": dict(facts.rules),
        "bucket_rows": bucket_rows,
    }
    with open_work(into, of) as folder:
        job = _Job(
            folder=folder,
            pieces=tuple(pieces),
            schema=schema,
            columns=wanted,
            buckets=bucket_count(sum(piece.rows for piece in pieces), bucket_rows),
            facts=facts,
            warning=" ".join(filter(None, [*warnings_of(files), facts.warning])),
            is_hashed=all(piece.names["worker_id"] == "worker" for piece in pieces),
        )
        job.folder.keep("key", lambda: key)
        if several := list(items):
            keep_items(job, several)
            own = [item for item in several if not item.columns.get(MIXED_IN)]
            job.folder.keep("listed", lambda: _listed(own, facts))
        run_parts("ids", partial(_see_ids, job), range(len(pieces)))
        job.folder.keep("hidden", partial(_hidden, job))
        run_parts("split", partial(split, job), range(len(pieces)))
        is_judged = not _CLEANED.keys() <= wanted.keys() and facts.task.is_cleaned
        if is_judged:
            judge(job, run_parts)
        run_parts("writing", partial(_write, job, is_judged=is_judged), range(job.buckets))
        return _finished(job, into)


@dataclass(frozen=True, slots=True)
class _Hidden:
    """What must not leave.

    Attributes:
        ids: of the workers.
        held: the columns in which each filled cell holds its worker's id.
    """

    ids: HiddenIds
    held: frozenset[str]


def _see_ids(job: _Job, number: int) -> None:
    """Note a piece's workers, and which columns hold the ids of their rows."""
    names = [name for name in job.schema.names if name.startswith(_ANSWERED)]
    schema = pa.schema([job.schema.field(name) for name in (*_IDS, *names)])

    def seen() -> tuple[set[str], dict[str, set[str] | None]]:
        workers: set[str] = set()
        own: dict[str, set[str] | None] = {key: set() for key in names}
        for table in read_piece(job.pieces[number], schema):
            frame = as_frame(table, job.columns)
            workers |= set(frame["worker_id"])
            own = _joined(own, own_workers_in(frame))
        return workers, own

    job.folder.keep(f"ids-{number}", seen)


def _hidden(job: _Job) -> _Hidden:
    workers: set[str] = set()
    own: dict[str, set[str] | None] = {}
    for number in range(len(job.pieces)):
        more, of_piece = job.folder.kept(f"ids-{number}")
        workers |= more
        own = _joined(own, of_piece) if own else of_piece
    return _Hidden(
        # Files that name people by pseudonyms were made without their ids.
        HiddenIds([] if job.is_hashed else workers, job.folder.kept("key")),
        frozenset(name for name, those in own.items() if len(those or ()) > 1),
    )


def _joined(
    some: Mapping[str, set[str] | None], more: Mapping[str, set[str] | None]
) -> dict[str, set[str] | None]:
    """Return the workers of two parts by column; two are enough to tell."""
    return {
        name: None if those is None or (others := more[name]) is None else {*[*those, *others][:2]}
        for name, those in some.items()
    }


def _without_ids(
    job: _Job, rows: pd.DataFrame, facts: DatasetFacts
) -> tuple[pd.DataFrame, DatasetFacts]:
    """Return the answers and the task without ids; `_shown` is for items."""
    hidden: _Hidden = job.folder.shared("hidden")
    held = frozenset() if job.is_hashed else hidden.held
    rows = hide_in_answers(rows, facts.task, hidden.ids, held=held)
    facts = replace(facts, task=hide_in_task(facts.task, held, hidden.ids))
    named = [name.rpartition(".")[0] or name for name in rows.index]
    if job.is_hashed and all(map(is_pseudonym, named)):
        return rows, facts
    own = HiddenIds([], job.folder.shared("key"), assignment_ids={*named})
    rows = hide_in_answers(rows, facts.task, own, held=())
    index = [
        own.answer(answer_id) if is_of_a_market(name) else answer_id
        for answer_id, name in zip(rows.index, named, strict=True)
    ]
    return rows.set_axis(pd.Index(index, dtype="str", name=INDEX), axis=0), facts


def _shown(table: FileTable, ids: HiddenIds) -> FileTable:
    """Return a table without ids in what it says of items."""
    cells = table.cells
    made = {
        name: cells[name].map(
            {cell: ids.everywhere(cell) for cell in cells[name].dropna().unique()}
        )
        for name in ("item_id", "url", FILE_NAME)
        if name in table.types
    }
    return replace(table, cells=cells.assign(**made))


def _wanted(facts: DatasetFacts, there: frozenset[str]) -> dict[str, Column]:
    """The columns to read: those needed, and known others that any file has."""
    asked = task_columns(facts.task)
    needed = {name: COLLECTED[name] for name in _NEEDED}
    more_texts = {OUTCOME: _TEXT, MARKET: _TEXT}
    others = {**COLLECTED, **VERDICTS, **_CLEANED, **PUBLISHED, **asked, **more_texts}
    personal = {value_column(field) for field in facts.task.fields if field.is_personal}
    more = {
        name: column
        for name, column in others.items()
        if name in there and name not in {"worker", *personal}
    }
    if not _CLEANED.keys() <= more.keys():
        more = {name: more[name] for name in more.keys() - _CLEANED.keys()}
    return {**needed, **dict(sorted(more.items()))}


def _listed(items: Sequence[Item], facts: DatasetFacts) -> pd.DataFrame:
    """By item, the values that depend on all items: its `split` and `file_name`."""
    ids = [str(item.item_id) for item in items]
    split_of = splits(items, facts.shares)
    names = picture_columns(items, facts.sizes)["file_name"].tolist()
    return pd.DataFrame(
        {"split": [split_of[item_id] for item_id in ids], "file_name": names}, index=ids
    )


def _write(job: _Job, bucket: int, *, is_judged: bool) -> None:
    """Write the tables of a bucket."""
    rows = as_frame(job.about_items(bucket), job.columns)
    known = known_items(job, bucket)
    own = [item for item in known if not item.columns.get(MIXED_IN)]
    if job.folder.at("listed").exists():
        _must_be_of(known, rows)
        rows = rows[rows["item_id"].isin([str(item.item_id) for item in own])]
        rows = _with_listed(rows, job.folder.shared("listed"), own)
    else:
        own = _items_of(rows)
    table = _cleaned(job, rows, bucket, is_judged=is_judged)
    absent = answer_columns(job.facts.task).keys() - table.columns
    table, facts = _without_ids(job, table, job.facts)
    layout = layout_of(_whole(job, table), own, facts)
    ids: HiddenIds = job.folder.shared("hidden").ids
    for name in (layout.main, "set_aside", "items"):
        cells = _shown(_with_known(job, rows, layout.tables[name], absent), ids)
        folder = job.folder.out(name)
        folder.mkdir(exist_ok=True)

        def write(path: Path, cells: FileTable = cells) -> None:
            with path.open("wb") as file:
                write_parquet(cells, file, warning=job.warning)

        job.folder.once(folder / f"part-{bucket:05d}.parquet", write)


def _must_be_of(known: Sequence[Item], rows: pd.DataFrame) -> None:
    ids = {str(item.item_id) for item in known}
    strange = sorted(set(rows["item_id"]) - ids)
    if strange:
        raise ConfigError(
            [f"answers are about {strange[0]!r}, which is not in the campaign"],
            next_step="leave out --as, or name the campaign of these answers",
        )


def _items_of(rows: pd.DataFrame) -> list[Item]:
    """The items of the answers: ids, and URLs if there are any."""
    first = rows.drop_duplicates("item_id").sort_values("item_id")
    urls = first["url"] if "url" in first else [""] * len(first)
    return [
        Item(item_id=ItemId(item_id), columns={"url": url})
        for item_id, url in zip(first["item_id"], urls, strict=True)
    ]


def _with_listed(rows: pd.DataFrame, listed: pd.DataFrame, items: Sequence[Item]) -> pd.DataFrame:
    urls = {str(item.item_id): item.picture for item in items}
    return rows.assign(
        url=rows["item_id"].map(urls).astype("str"),
        split=rows["item_id"].map(listed["split"]).astype("str"),
    )


def _cleaned(job: _Job, rows: pd.DataFrame, bucket: int, *, is_judged: bool) -> pd.DataFrame:
    """The rows with `clean_text` and `edits`."""
    if "edits" in rows:
        edits = [_edits(cell) for cell in rows["edits"].tolist()]
    elif is_judged:
        made = cleaning_of(job, bucket).edits
        edits = [made.get(answer_id, ()) for answer_id in rows.index.tolist()]
    else:
        edits = [()] * len(rows)
    try:
        clean = list(map(replay, rows["text"].tolist(), edits))
    except ValueError as fault:
        raise ConfigError([f"edits do not fit their text: {fault}"]) from fault
    return rows.assign(
        clean_text=pd.Series(clean, index=rows.index, dtype="str"),
        edits=pd.Series(edits, index=rows.index, dtype="object"),
    )


def _edits(cell: str) -> tuple[Edit, ...]:
    if cell in {"", "[]"}:
        return ()
    try:
        return tuple(Edit(**fields) for fields in json.loads(cell))
    except (ValueError, TypeError) as fault:
        raise ConfigError([f"the column 'edits' is not valid: {fault}"]) from fault


def _whole(job: _Job, table: pd.DataFrame) -> pd.DataFrame:
    """The table of answers as from a store, with empty cells for unknown values."""
    table = table.assign(worker=_pseudonyms(job, table["worker_id"]))
    if "is_surplus" not in table:
        table = table.assign(is_surplus=~is_first(table))
    wanted = answer_columns(job.facts.task)
    if job.facts.is_imported:
        wanted[OUTCOME] = _TEXT
    missing = {
        name: pd.Series(
            [_NOTHING[column.dtype]] * len(table), index=table.index, dtype=column.dtype
        )
        for name, column in wanted.items()
        if name not in table and column.dtype in _NOTHING
    }
    return table.drop(columns="worker_id").assign(**missing)


def _pseudonyms(job: _Job, workers: "pd.Series[str]") -> "pd.Series[str]":
    if job.is_hashed:
        if not all(map(is_pseudonym, workers.unique().tolist())):
            raise ConfigError(
                ["the column 'worker' has values that are not keyed hashes in hex"],
                next_step="rename the column to worker_id, so that ids are hashed",
            )
        return workers
    key: bytes = job.folder.shared("key")
    return pseudonyms(workers, key)


def _with_known(
    job: _Job, rows: pd.DataFrame, table: FileTable, absent: Iterable[str]
) -> FileTable:
    """Remove the columns of a table that the files do not fill."""
    unknown = {_in_files(name) for name in absent} - {"is_surplus", "worker"}
    unknown.discard(job.facts.task.main_text or "")
    cells = table.cells
    if job.folder.at("listed").exists():
        listed = job.folder.shared("listed").reindex(cells["item_id"])
        named = [name for name in listed if name in cells]
        cells = cells.assign(**{name: listed[name].to_numpy() for name in named})
    else:
        unknown |= {"file_name", "width", "height"}
        if "split" in rows:
            of_item = rows.drop_duplicates("item_id").set_index("item_id")["split"]
            cells = cells.assign(split=of_item.reindex(cells["item_id"]).to_numpy())
    types = {name: type_ for name, type_ in table.types.items() if name not in unknown}
    return replace(table, cells=cells, types=types)


def _in_files(column: str) -> str:
    """Return the name that a column of the table of answers has in files.

    >>> _in_files("value.stance"), _in_files("order.sides"), _in_files("round")
    ('stance', 'order_sides', 'round')
    """
    if column == "also_sent":
        return SENT_MORE
    if column.startswith(ORDER):
        return f"order_{column.removeprefix(ORDER)}"
    return column.removeprefix(ITEM_VALUE).removeprefix(HIT_VALUE)


def _finished(job: _Job, into: Path) -> ExportedFiles:
    parts = {
        f"{path.parent.name}/{path.name}": pq.read_metadata(path).num_rows
        for path in sorted(job.folder.out("").glob("*/*.parquet"))
    }
    finish(job.folder, into, {"answers": job.answers, "parts": parts})
    rows: dict[str, int] = {}
    for name, number in parts.items():
        table = name.partition("/")[0]
        rows[table] = rows.get(table, 0) + number
    return ExportedFiles(folder=into, answers=job.answers, rows=rows)
