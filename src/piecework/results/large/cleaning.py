"""Clean a corpus that is larger than memory, in parts.

A process writes one file for the rows that it read, with a record batch per bucket; the
next process reads its own batch of all files. Processes share nothing else, so a process
that dies loses only what it was writing.

Texts are dealt by item. Each part counts its own words (`Corpus`, whole numbers that add
up) and one process joins the counts; then the rules judge each part with these counts. So
the edits are those of `piecework.postprocess.apply.clean_and_propose`, however the texts
are split.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from piecework.domain.edit import Edit
from piecework.domain.hit import Item
from piecework.domain.tables import COLLECTED, INDEX, Column
from piecework.postprocess.apply import (
    RULES,
    Cleaning,
    Tidied,
    forget_counts,
    forget_texts,
    judged,
    replay,
    tidied,
)
from piecework.postprocess.datasets.file_table import edits_json
from piecework.postprocess.language.corpus import Corpus
from piecework.postprocess.language.tokens import Text, protected_words
from piecework.qc.scores import Tally, merged, tally
from piecework.results.large.answer_files import (
    Piece,
    Tables,
    answer_files,
    as_frame,
    pieces_of,
    read_piece,
    states,
)
from piecework.results.large.work_folder import PartRunner, WorkFolder, finish, gc_paused, open_work

Buckets = Callable[[pa.Table], npt.NDArray[np.int64]]
"""Returns the bucket of each row, the same for all answers about an item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The input, and where to work on it; cheap to send to another process.

    Attributes:
        folder: the work folder with the parts.
        schema: of the rows that are read.
        columns: the same columns, with pandas dtypes.
        buckets: the number of buckets.
    """

    folder: WorkFolder
    pieces: tuple[Piece, ...]
    schema: pa.Schema
    columns: Mapping[str, Column]
    buckets: int

    @property
    def answers(self) -> int:
        """The number of rows of all files."""
        return sum(piece.rows for piece in self.pieces)

    def split(self, number: int, buckets: Buckets) -> None:
        """Deal the rows of a piece into buckets."""

        def write(path: Path) -> None:
            dealt = [
                batch
                for table in read_piece(self.pieces[number], self.schema)
                for batch in deal(table, buckets(table), self.buckets)
            ]
            write_buckets(path, self.schema, dealt)

        self.folder.once(self.folder.at(f"split-{number}"), write)

    def about_items(self, bucket: int) -> pa.Table:
        """Read all rows about the items of a bucket, in no particular order."""
        if not self.pieces:
            return self.schema.empty_table()
        paths = [self.folder.at(f"split-{n}") for n in range(len(self.pieces))]
        return read_bucket(paths, bucket, self.buckets)


def keep_items(source: Source, items: Iterable[Item]) -> None:
    """Store a campaign's items by bucket, for the parts of their answers."""
    buckets: list[list[Item]] = [[] for _ in range(source.buckets)]
    several = list(items)
    ids = pa.table({"item_id": [str(item.item_id) for item in several]})
    for item, bucket in zip(several, by_item(ids, source.buckets), strict=True):
        buckets[bucket].append(item)
    for number, own in enumerate(buckets):
        source.folder.keep(f"known-{number}", partial(list, own))


def known_items(source: Source, bucket: int) -> list[Item]:
    """Read the items of a bucket in the order of their file; empty if unknown."""
    is_known = source.folder.at(f"known-{bucket}").exists()
    items: list[Item] = source.folder.kept(f"known-{bucket}") if is_known else []
    return items


ROWS_COMPARED = 150_000
"""Rows per bucket, about: some 400 MB while its texts are compared."""

_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


def bucket_count(rows: int, of_rows: int) -> int:
    """The number of buckets; it depends only on the number of rows."""
    return max(1, -(-rows // of_rows))


def by_item(table: pa.Table, n: int) -> npt.NDArray[np.int64]:
    """Return the bucket of each row, the same for all answers about an item."""
    return _bucket(table["item_id"].to_pandas(), n)


def by_worker(table: pa.Table, n: int) -> npt.NDArray[np.int64]:
    """Return the bucket of each row, the same for a worker and for an assignment."""
    workers = table["worker_id"].to_pandas()
    return _bucket(workers.where(workers != "", table["assignment_id"].to_pandas()), n)


@dataclass(frozen=True, slots=True)
class BatchByBatch:
    """Deals rows by item into equal buckets, with the items of a batch side by side.

    So a bucket has the words of one or two batches, not of all. An item in several
    batches belongs to the first.

    Attributes:
        batches: the batch of the first item of each bucket, except the first bucket.
        items: the hashes of these items.
        moved: for items in several batches, the first batch, by the item's hash.
    """

    batches: npt.NDArray[np.int64]
    items: npt.NDArray[np.uint64]
    moved: "pd.Series[int]"

    @classmethod
    def of(cls, parts: Iterable[Tally], n: int) -> "BatchByBatch":
        """Build it from the `item_tally` of all rows, for `n` buckets."""
        nothing = tally({"batch": np.zeros(0, "int64"), "item": np.zeros(0, "uint64")})
        rows = merged([nothing, *parts]).sort_values(["item", "batch"], ignore_index=True)
        is_first = ~rows["item"].duplicated()
        codes = np.cumsum(is_first.to_numpy()) - 1
        of_item = np.bincount(codes, weights=rows["n_rows"]).astype("int64")
        items = rows[is_first].assign(n_rows=of_item).sort_values(["batch", "item"])
        sizes = items["n_rows"].to_numpy()
        places = (np.cumsum(sizes) - sizes) * n // max(sizes.sum(), 1)
        used = np.arange(1, places.max(initial=0) + 1)
        starts = items.iloc[np.searchsorted(places, used)]
        several = rows.loc[rows["item"].duplicated(), "item"]
        moved = items[items["item"].isin(several)].set_index("item")["batch"]
        return cls(starts["batch"].to_numpy(), starts["item"].to_numpy(), moved)

    def buckets(self, table: pa.Table) -> npt.NDArray[np.int64]:
        """Return the bucket of each row."""
        items = _hashes(table["item_id"].to_pandas())
        batches = table["batch"].to_numpy()
        if len(self.moved):
            first = self.moved.reindex(items)
            batches = first.where(first.notna(), batches).to_numpy(dtype="int64")
        buckets = np.zeros(len(items), dtype="int64")
        for batch in np.unique(batches).tolist():
            rows = np.flatnonzero(batches == batch)
            first, last = np.searchsorted(self.batches, [batch, batch + 1])
            inside = np.searchsorted(self.items[first:last], items[rows], side="right")
            buckets[rows] = first + inside
        return buckets


def item_tally(table: pa.Table) -> Tally:
    """Count the rows of each `item`, as a hash, in each `batch`."""
    return tally(
        {"batch": table["batch"].to_numpy(), "item": _hashes(table["item_id"].to_pandas())}
    )


def deal(table: pa.Table, buckets: npt.NDArray[np.int64], n: int) -> list[pa.RecordBatch]:
    """Return the rows as one record batch per bucket."""
    order = np.argsort(buckets, kind="stable")
    sizes = np.bincount(buckets, minlength=n)
    dealt = table.take(pa.array(order)).combine_chunks()
    starts = np.cumsum(sizes) - sizes
    return [
        _batch(dealt.slice(start, size))
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
    ]


def write_buckets(path: Path, schema: pa.Schema, batches: Sequence[pa.RecordBatch]) -> None:
    """Write record batches, keeping those of each `deal` together."""
    with (
        pa.OSFile(str(path), "wb") as sink,
        pa.ipc.new_file(sink, schema, options=_OPTIONS) as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)


def read_bucket(paths: Sequence[Path], bucket: int, n: int) -> pa.Table:
    """Read the rows of a bucket from all files; there must be at least one file."""
    tables = []
    for path in paths:
        with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
            numbers = range(bucket, file.num_record_batches, n)
            batches = [file.get_batch(number) for number in numbers]
            tables.append(pa.Table.from_batches(batches, schema=file.schema))
    return pa.concat_tables(tables)


def _bucket(keys: "pd.Series[str]", n: int) -> npt.NDArray[np.int64]:
    return (_hashes(keys) % np.uint64(n)).astype("int64")


def _hashes(keys: "pd.Series[str]") -> npt.NDArray[np.uint64]:
    return pd.util.hash_array(keys.to_numpy(dtype="object"))


def _batch(table: pa.Table) -> pa.RecordBatch:
    # For an empty slice of texts, Arrow would write all texts of the original.
    arrays = [
        column.chunk(0) if len(column) else pa.array([], column.type) for column in table.columns
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=table.schema)


COLUMNS = {name: COLLECTED[name] for name in ("item_id", "text", "is_canned")}
"""The columns that rules need."""

ROWS_CLEANED = 75_000
"""Rows per bucket, about: some 200 MB while a rule looks at its texts."""

_JOINED = 8
"""Buckets to join at a time before joining the counts of all, which takes longer."""


def split(source: Source, number: int) -> None:
    """Deal the rows of a piece by item."""
    source.split(number, partial(by_item, n=source.buckets))


def judge(source: Source, run_parts: PartRunner) -> None:
    """Judge the texts of a split source; `cleaning_of` reads the result.

    Words of the known items (`known_items`) are protected.
    """
    folder = source.folder
    buckets = range(source.buckets)
    run_parts("reading", partial(_read, source), buckets)
    first = range(0, source.buckets, _JOINED)
    if not folder.at("counts").exists():
        run_parts("counting", partial(_count, source), first)
        corpus = Corpus()
        for bucket in first:
            corpus.join(folder.kept(f"counted-{bucket}"))
        folder.keep("counts", lambda: corpus)
        del corpus
    for bucket in first:
        folder.at(f"counted-{bucket}").unlink(missing_ok=True)
    run_parts("judging", partial(_judge, source), buckets)


def cleaning_of(source: Source, bucket: int) -> Cleaning:
    """Read the edits and proposals of a bucket; texts without any are absent."""
    cleaning: Cleaning = source.folder.kept(f"cleaning-{bucket}")
    return cleaning


def _read(source: Source, bucket: int) -> None:
    @gc_paused()
    def texts() -> Tidied:
        table = as_frame(source.about_items(bucket), source.columns)
        protected = {
            str(item.item_id): protected_words(item) for item in known_items(source, bucket)
        }
        cells = zip(
            table.index.tolist(),
            table["item_id"].tolist(),
            table["text"].tolist(),
            table["is_canned"].tolist(),
            strict=True,
        )
        return tidied(
            Text(
                text_id=answer_id,
                item_id=item_id,
                text=text,
                protected=protected.get(item_id, frozenset()),
            )
            for answer_id, item_id, text, is_canned in cells
            if not is_canned
        )

    source.folder.keep(f"texts-{bucket}", texts)


@gc_paused()
def _count(source: Source, first: int) -> None:
    """Count the texts of some buckets, from `first`."""

    def counted() -> Corpus:
        corpus = Corpus()
        for bucket in range(first, min(first + _JOINED, source.buckets)):
            tidy: Tidied = source.folder.kept(f"texts-{bucket}")
            corpus.join(Corpus(tidy.texts))
        return corpus

    source.folder.keep(f"counted-{first}", counted)


def _judge(source: Source, bucket: int) -> None:
    @gc_paused()
    def cleaning() -> Cleaning:
        corpus: Corpus = source.folder.latest("counts", forget_counts)
        return judged(source.folder.kept(f"texts-{bucket}"), corpus)

    source.folder.keep(f"cleaning-{bucket}", cleaning)


_CLEANED = pa.schema(
    [
        ("answer_id", pa.string()),
        ("item_id", pa.string()),
        ("text", pa.string()),
        ("clean_text", pa.string()),
        ("edits", pa.string()),
        ("edit_proposals", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanedFiles:
    """Counts of the cleaned texts; the texts are in the folder."""

    folder: Path
    answers: int
    changed: int
    edits: int
    proposals: int


def clean_files(
    paths: Sequence[Path], run_parts: PartRunner, *, into: Path, bucket_rows: int = ROWS_CLEANED
) -> CleanedFiles:
    """Clean the texts of all files together.

    Args:
        paths: Parquet files or folders (`piecework.results.large.answer_files`).
        run_parts: runs the parts.
        into: the folder for the clean texts, which must not exist yet.
        bucket_rows: about this many rows are in memory at a time.

    Raises:
        ConfigError: a file cannot be read, the folder exists, or another command works on it.
    """
    files = answer_files(paths)
    pieces, schema = pieces_of(files, COLUMNS)
    of = {
        "files": states(files),
        "rules": {rule.NAME: rule.VERSION for rule in RULES},
        "bucket_rows": bucket_rows,
    }
    with open_work(into, of) as folder:
        return _clean(folder, pieces, schema, run_parts, into, bucket_rows)


def clean_tables(
    tables: Tables[None], run_parts: PartRunner, *, into: Path, bucket_rows: int = ROWS_CLEANED
) -> CleanedFiles:
    """Clean the texts in tables of other tools together.

    Args:
        tables: the tables.
        run_parts: as for `clean_files`.
        into: as there.
        bucket_rows: as there.

    Raises:
        ConfigError: a table cannot be read, the folder exists, or another command works on it.
    """
    with open_work(into, {**tables.inputs, "bucket_rows": bucket_rows}) as folder:
        answers, _ = tables.make_answers(folder)
        pieces, schema = pieces_of(answer_files([answers]), COLUMNS)
        return _clean(folder, pieces, schema, run_parts, into, bucket_rows)


def _clean(
    folder: WorkFolder,
    pieces: Sequence[Piece],
    schema: pa.Schema,
    run_parts: PartRunner,
    into: Path,
    bucket_rows: int,
) -> CleanedFiles:
    source = Source(
        folder=folder,
        pieces=tuple(pieces),
        schema=schema,
        columns=COLUMNS,
        buckets=bucket_count(sum(piece.rows for piece in pieces), bucket_rows),
    )
    run_parts("split", partial(split, source), range(len(pieces)))
    judge(source, run_parts)
    run_parts("writing", partial(_write, source), range(source.buckets))
    return _finished(source, into)


def clean_frame(
    texts: pd.DataFrame, run_parts: PartRunner, folder: Path
) -> tuple["pd.Series[str]", pd.DataFrame]:
    """Clean texts that fit into memory, with the edits of `piecework.clean_texts`.

    Args:
        texts: `text`, and `task` if the items are known; index 0 to n - 1.
        run_parts: runs the parts.
        folder: an empty folder that the processes see.

    Returns:
        The clean texts, and a row for each edit, with the index of its text in `row`.
    """
    ids = [f"{number:012d}" for number in texts.index.tolist()]
    cells = {
        INDEX: ids,
        "item_id": texts["task"].tolist() if "task" in texts else ids,
        "text": texts["text"].fillna("").tolist(),
        "is_canned": [False] * len(ids),
    }
    pq.write_table(pa.table(cells), folder / "texts.parquet")
    clean_files([folder / "texts.parquet"], run_parts, into=folder / "clean")
    done = pq.read_table(folder / "clean").sort_by(INDEX).to_pylist()
    edits = [
        {"row": int(row[INDEX]), **edit, "is_made": is_made}
        for row in done
        for name, is_made in (("edits", True), ("edit_proposals", False))
        for edit in json.loads(row[name])
    ]
    names = ["row", *(each.name for each in fields(Edit)), "is_made"]
    clean = pd.Series([row["clean_text"] for row in done], index=texts.index, dtype="str")
    return clean, pd.DataFrame(edits, columns=names)


def _write(source: Source, bucket: int) -> None:
    """Write the clean texts of a bucket."""

    @gc_paused()
    def write(path: Path) -> None:
        source.folder.release_latest(forget_texts)  # judging is over
        cleaning = cleaning_of(source, bucket)
        rows = as_frame(source.about_items(bucket), source.columns)
        texts = rows["text"].tolist()
        edits = [cleaning.edits.get(answer_id, ()) for answer_id in rows.index.tolist()]
        unsure = [cleaning.proposals.get(answer_id, ()) for answer_id in rows.index.tolist()]
        cells = {
            "answer_id": rows.index.tolist(),
            "item_id": rows["item_id"].tolist(),
            "text": texts,
            "clean_text": [replay(*pair) for pair in zip(texts, edits, strict=True)],
            "edits": [edits_json(made) for made in edits],
            "edit_proposals": [edits_json(made) for made in unsure],
        }
        pq.write_table(pa.table(cells, schema=_CLEANED), path, compression="zstd")
        counts = [sum(map(bool, edits)), sum(map(len, edits)), sum(map(len, unsure))]
        source.folder.keep(f"told-{bucket}", lambda: [len(rows), *counts])

    source.folder.once(source.folder.out(f"part-{bucket:05d}.parquet"), write)


def _finished(source: Source, into: Path) -> CleanedFiles:
    counts = [source.folder.kept(f"told-{bucket}") for bucket in range(source.buckets)]
    answers, changed, edits, proposals = (sum(column) for column in zip(*counts, strict=True))
    parts = {f"part-{n:05d}.parquet": rows[0] for n, rows in enumerate(counts)}
    finish(source.folder, into, {"answers": answers, "parts": parts})
    return CleanedFiles(
        folder=into, answers=answers, changed=changed, edits=edits, proposals=proposals
    )
