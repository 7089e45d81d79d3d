"""What workers wrote in settled batches, moved into Parquet files beside the store.

The store keeps who answered which item, all verdicts and all money, so passes work
without the files. A part of the archive is two files, whose digests the store records
in the transaction that removes their content from its own tables. A process that dies
between the two leaves files that nothing refers to, and the next archiving overwrites
them.

A store in PostgreSQL is used from several machines, so it holds the content of the
files in a table.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from piecework.domain.errors import StoreError
from piecework.domain.ids import ItemId
from piecework.store.database import Store, from_text, insert, to_text, writing
from piecework.store.files import make_private_folder, write_durably

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["answers", "documents"]
"""What a file of the archive holds."""

ARCHIVE_FOLDER = "archive"
FORGOTTEN = "{}"
"""The fields of an answer whose content was removed at its worker's request."""


def write_beside(store: Store, batch: int, part: int, files: Mapping[Kind, bytes]) -> None:
    """Write files durably into the folder of a store in a file; otherwise do nothing.

    They are written before the transaction that records them.
    """
    if store.db.kind == "postgresql":
        return
    for kind, content in files.items():
        path = _path(store, batch, part, kind)
        make_private_folder(path.parent.parent)
        make_private_folder(path.parent)
        write_durably(path, content)


def insert_into(store: Store, part: int, files: Mapping[Kind, bytes]) -> None:
    """Store files in the table of PostgreSQL; part of the caller's transaction.

    For a store in a file, this does nothing.
    """
    if store.db.kind != "postgresql":
        return
    store.db.executemany(
        "INSERT INTO archive_files (part, kind, content) VALUES (?, ?, ?)",
        [(part, kind, content) for kind, content in files.items()],
    )


def read_file(store: Store, batch: int, part: int, kind: Kind) -> bytes:
    """Return the content of a file.

    Raises:
        StoreError: it is missing.
    """
    if store.db.kind == "postgresql":
        row = store.db.execute(
            "SELECT content FROM archive_files WHERE part = ? AND kind = ?", [part, kind]
        ).fetchone()
        if row is not None:
            return bytes(row[0])
    else:
        path = _path(store, batch, part, kind)
        if path.is_file():
            return path.read_bytes()
    raise StoreError(
        f"{where_file_is(store, batch, part, kind)}: a file of the campaign's archive is missing",
        next_step="copy the folder `archive` back to the store's folder; passes "
        "work without it, but exports and reports do not",
    )


def where_file_is(store: Store, batch: int, part: int, kind: Kind) -> str:
    """Return where a file is, for a message."""
    if store.db.kind == "postgresql":
        return f"{store.address}, archive_files {part} {kind}"
    return str(_path(store, batch, part, kind))


def _path(store: Store, batch: int, part: int, kind: Kind) -> Path:
    folder = store.address.folder / ARCHIVE_FOLDER / f"batch={batch:06}"
    return folder / f"{kind}-{part:06}.parquet"


_SETTLED = f"""
WITH kept AS MATERIALIZED (
    SELECT DISTINCT batch FROM answers
    JOIN assignments USING (assignment_id) JOIN hits USING (hit_id)
    WHERE number > :through AND fields NOT IN ('', '{FORGOTTEN}')
    AND batch <= (SELECT max(batch) FROM hit_counts) - :keep
)
SELECT batch FROM kept WHERE NOT EXISTS (
    SELECT 1 FROM hits WHERE hits.batch = kept.batch AND (
        posted_at IS NULL OR hit_id IS NOT NULL AND collected_at IS NULL)
) AND NOT EXISTS (
    SELECT 1 FROM hits JOIN assignments USING (hit_id)
    WHERE hits.batch = kept.batch AND (verdict IS NULL OR outcome IS NULL)
) AND NOT EXISTS (
    SELECT 1 FROM hits JOIN assignments USING (hit_id)
    JOIN answers USING (assignment_id)
    WHERE hits.batch = kept.batch AND answers.verdict IS NULL
) ORDER BY batch
"""
_ANSWERS = f"""
SELECT number, answer_id, answers.assignment_id, answers.item_id, fields, problems
FROM hits JOIN assignments USING (hit_id) JOIN answers USING (assignment_id)
WHERE batch = ? AND fields NOT IN ('', '{FORGOTTEN}') ORDER BY number
"""
_DOCUMENTS = """
SELECT assignment_id, raw
FROM hits JOIN assignments USING (hit_id) JOIN raw_answers USING (assignment_id)
WHERE batch = ? ORDER BY assignment_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of the archive: answers of a batch that were moved at the same time.

    Attributes:
        part: 1 for the first.
        batch: the batch.
        first_number: number of its first answer in the store.
        last_number: number of its last answer.
        answers: how many answers it has.
        assignments: how many documents it has.
        answers_sha256: digest of the file of answers.
        documents_sha256: digest of the file of the workers' documents.
    """

    part: int
    batch: int
    first_number: int
    last_number: int
    answers: int
    assignments: int
    answers_sha256: str
    documents_sha256: str


def parts(store: Store) -> list[Part]:
    """Return all parts of the archive in the order in which they were made."""
    names = ", ".join(Part.__slots__)
    rows = store.db.query(f"SELECT {names} FROM archive_parts ORDER BY part")
    return [Part(**row) for row in rows]


def through(store: Store) -> int:
    """Return a number up to which the content of every answer is in the archive."""
    row = store.db.execute(
        "SELECT through FROM archive_parts ORDER BY part DESC LIMIT 1"
    ).fetchone()
    return int(row[0]) if row else 0


def steps(store: Store) -> list[tuple[datetime, int]]:
    """Return when parts were made, and how many of the first answers were away by then."""
    rows = store.db.execute(
        "SELECT archived_at, (SELECT count(*) FROM answers WHERE number <= through "
        f"AND fields <> '{FORGOTTEN}') FROM archive_parts ORDER BY part"
    )
    return [(from_text(archived_at), int(answers)) for archived_at, answers in rows]


def has_answers_to(store: Store, item_ids: Iterable[ItemId]) -> bool:
    """Whether the content of an answer to one of these items is in the archive."""
    row = store.db.execute(
        "SELECT 1 FROM json_each(?) AS listed CROSS JOIN answers "
        "WHERE item_id = value AND fields = '' LIMIT 1",
        [json.dumps(list(item_ids))],
    ).fetchone()
    return row is not None


def settled_batches(store: Store, *, keep: int) -> list[int]:
    """Return settled batches that are not wholly in the archive.

    Args:
        store: the campaign's memory.
        keep: how many of the newest batches to leave out.
    """
    values = {"through": through(store), "keep": keep}
    return [batch for (batch,) in store.db.execute(_SETTLED, values)]


def move(store: Store, batch: int, *, at: datetime) -> Part:
    """Move the content of a settled batch into the archive.

    The caller holds the campaign's lock (`piecework.store.lock`).
    """
    import pyarrow as pa  # noqa: PLC0415 - most passes archive nothing

    answers = store.db.execute(_ANSWERS, [batch]).fetchall()
    documents = store.db.execute(_DOCUMENTS, [batch]).fetchall()
    number = _last_part(store) + 1
    names = ("answer_id", "assignment_id", "item_id", "fields", "problems")
    cells = list(zip(*answers, strict=True))
    table = pa.table(
        {
            "number": pa.array(cells[0], pa.int64()),
            **{
                name: pa.array(column, pa.string())
                for name, column in zip(names, cells[1:], strict=True)
            },
        }
    )
    texts = list(zip(*documents, strict=True)) or [(), ()]
    raw = pa.table(
        {"assignment_id": pa.array(texts[0], pa.string()), "raw": pa.array(texts[1], pa.string())}
    )
    part, files = _part_of(number, batch, (cells[0][0], cells[0][-1]), table, raw)
    write_beside(store, part.batch, number, files)
    _forget(store, part, files, at=at)
    return part


def _part_of(
    number: int, batch: int, ends: tuple[int, int], answers: "pa.Table", raw: "pa.Table"
) -> tuple[Part, dict[Kind, bytes]]:
    """Return a part with these tables, and its files."""
    files: dict[Kind, bytes] = {"answers": _content(answers), "documents": _content(raw)}
    part = Part(
        part=number,
        batch=batch,
        first_number=ends[0],
        last_number=ends[1],
        answers=answers.num_rows,
        assignments=raw.num_rows,
        answers_sha256=hashlib.sha256(files["answers"]).hexdigest(),
        documents_sha256=hashlib.sha256(files["documents"]).hexdigest(),
    )
    return part, files


def _last_part(store: Store) -> int:
    (last,) = store.db.execute("SELECT coalesce(max(part), 0) FROM archive_parts").fetchone()
    return int(last)


Rewritten = Sequence[tuple[Part, Part, Mapping[Kind, bytes]]]
"""Parts, what replaces them, and the new files."""


def rewrite_without(store: Store, assignment_ids: Sequence[str]) -> Rewritten:
    """Write the parts that have content of these assignments again, without it.

    No row names the new files before `replace_parts`.

    Raises:
        StoreError: a file is missing, or is not the file that was written.
    """
    import pyarrow as pa  # noqa: PLC0415 - as above
    import pyarrow.compute as pc  # noqa: PLC0415 - as above

    leaving, number = pa.array(assignment_ids, pa.string()), _last_part(store)
    rewritten: list[tuple[Part, Part, Mapping[Kind, bytes]]] = []
    for part in parts(store):
        tables = [_read(store, part, kind) for kind in ("answers", "documents")]
        kept = [
            table.filter(pc.invert(pc.is_in(table["assignment_id"], leaving))) for table in tables
        ]
        if [table.num_rows for table in kept] == [table.num_rows for table in tables]:
            continue
        number += 1
        ends = (part.first_number, part.last_number)
        new, files = _part_of(number, part.batch, ends, *kept)
        write_beside(store, new.batch, number, files)
        rewritten.append((part, new, files))
    return rewritten


def replace_parts(store: Store, rewritten: Rewritten, *, at: datetime) -> None:
    """Name the new files in place of the old ones; part of the caller's transaction."""
    away = through(store)
    for old, new, files in rewritten:
        if store.db.kind == "postgresql":
            store.db.execute("DELETE FROM archive_files WHERE part = ?", [old.part])
        store.db.execute("DELETE FROM archive_parts WHERE part = ?", [old.part])
        row = {name: getattr(new, name) for name in Part.__slots__}
        insert(store, "archive_parts", [row | {"through": away, "archived_at": to_text(at)}])
        insert_into(store, new.part, files)


def remove_unnamed_files(store: Store) -> None:
    """Delete files beside the store that no part names."""
    folder = store.address.folder / ARCHIVE_FOLDER
    if store.db.kind == "postgresql" or not folder.is_dir():
        return
    kinds: tuple[Kind, ...] = ("answers", "documents")
    named = {_path(store, part.batch, part.part, kind) for part in parts(store) for kind in kinds}
    for path in folder.glob("batch=*/*.parquet"):
        if path not in named:
            path.unlink()


def _forget(store: Store, part: Part, files: Mapping[Kind, bytes], *, at: datetime) -> None:
    """Record a part, and remove its content from the store's other tables."""
    row = {name: getattr(part, name) for name in Part.__slots__}
    of_batch = "SELECT assignment_id FROM hits JOIN assignments USING (hit_id)"
    before = through(store)
    with writing(store):
        store.db.execute(
            "UPDATE answers SET fields = '', problems = '' "
            f"WHERE fields <> '{FORGOTTEN}' AND assignment_id IN ({of_batch} WHERE batch = ?)",
            [part.batch],
        )
        store.db.execute(
            f"DELETE FROM raw_answers WHERE assignment_id IN ({of_batch} WHERE batch = ?)",
            [part.batch],
        )
        (first_kept,) = store.db.execute(
            "SELECT min(number) FROM answers WHERE number > ? "
            f"AND fields NOT IN ('', '{FORGOTTEN}')",
            [before],
        ).fetchone()
        last = part.last_number if first_kept is None else first_kept - 1
        row |= {"through": max(before, last), "archived_at": to_text(at)}
        insert(store, "archive_parts", [row])
        insert_into(store, part.part, files)


def size_bytes(store: Store) -> int:
    """Return the size of the store's tables and indexes, with their free pages."""
    return store.db.size_bytes()


def compact(store: Store) -> None:
    """Give the disk space of moved content back to the file system.

    It takes as much free space as the store has, and a few seconds for each gigabyte.
    """
    store.db.compact()


def contents(store: Store, numbers: Sequence[int]) -> dict[int, tuple[str, str]]:
    """Return the fields and problems of archived answers, by number.

    Args:
        store: the campaign's memory.
        numbers: of answers in the archive, ascending.

    Raises:
        StoreError: a file is missing, or is not the file that was written.
    """
    import pyarrow.compute as pc  # noqa: PLC0415 - as above

    if not numbers:
        return {}
    first, last = numbers[0], numbers[-1]
    by_number: dict[int, tuple[str, str]] = {}
    for part in parts(store):
        if part.last_number < first or part.first_number > last:
            continue
        table = _read(store, part, "answers")
        number = table["number"]
        within = pc.and_(pc.greater_equal(number, first), pc.less_equal(number, last))
        chosen = table.filter(within)
        cells = (chosen[name].to_pylist() for name in ("fields", "problems"))
        by_number.update(zip(chosen["number"].to_pylist(), zip(*cells, strict=True), strict=True))
    return by_number


def documents(store: Store) -> Iterator[tuple[str, str]]:
    """Yield each assignment in the archive, and the document that was sent with it.

    Raises:
        StoreError: a file is missing, or is not the file that was written.
    """
    for part in parts(store):
        table = _read(store, part, "documents")
        yield from zip(table["assignment_id"].to_pylist(), table["raw"].to_pylist(), strict=True)


def content_of(store: Store, part: Part, kind: Kind) -> bytes:
    """Return the content of a file of a part.

    Raises:
        StoreError: it is missing, or is not the file that was written.
    """
    content = read_file(store, part.batch, part.part, kind)
    digest = part.answers_sha256 if kind == "answers" else part.documents_sha256
    if hashlib.sha256(content).hexdigest() != digest:
        where = where_file_is(store, part.batch, part.part, kind)
        raise StoreError(
            f"{where}: this file is not the one that was archived",
            next_step="restore a copy of the folder `archive`",
        )
    return content


def _content(table: "pa.Table") -> bytes:
    import pyarrow as pa  # noqa: PLC0415 - as above
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _read(store: Store, part: Part, kind: Kind) -> "pa.Table":
    import pyarrow as pa  # noqa: PLC0415 - as above
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    return pq.read_table(pa.BufferReader(content_of(store, part, kind)))
