"""`clean` for texts larger than memory: each part is counted, judged, then written.

The edits are those of `piecework.postprocess.apply.clean_and_propose`, however the
texts are split (`piecework.bulk.judging`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from piecework.bulk.answer_files import answer_files, as_frame, pieces_of
from piecework.bulk.buckets import bucket_count
from piecework.bulk.judging import COLUMNS, ROWS, cleaning_of, judge, split
from piecework.bulk.parts import Source, states
from piecework.bulk.running import PartRunner
from piecework.bulk.work_folder import finish, gc_paused, open_work
from piecework.postprocess.apply import replay
from piecework.postprocess.datasets.file_table import edits_json
from piecework.postprocess.registry import RULES

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
    paths: Sequence[Path], run_parts: PartRunner, *, into: Path, bucket_rows: int = ROWS
) -> CleanedFiles:
    """Clean the texts of all files together.

    Args:
        paths: Parquet files or folders (`piecework.bulk.answer_files`).
        run_parts: runs the parts.
        into: the folder for the clean texts, which must not exist yet.
        bucket_rows: about this many rows are in memory at a time.

    Raises:
        ConfigError: a file cannot be read, or the folder exists.
    """
    files = answer_files(paths)
    pieces, schema = pieces_of(files, COLUMNS)
    of = {
        "files": states(files),
        "rules": {rule.NAME: rule.VERSION for rule in RULES},
        "bucket_rows": bucket_rows,
    }
    source = Source(
        folder=open_work(into, of),
        pieces=tuple(pieces),
        schema=schema,
        columns=COLUMNS,
        buckets=bucket_count(sum(piece.rows for piece in pieces), bucket_rows),
    )
    run_parts("split", partial(split, source), range(len(pieces)))
    judge(source, run_parts)
    run_parts("writing", partial(_write, source), range(source.buckets))
    return _finished(source, into)


def _write(source: Source, bucket: int) -> None:
    """Write the clean texts of a bucket."""

    @gc_paused()
    def write(path: Path) -> None:
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
