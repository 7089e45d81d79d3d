"""`clean` for texts larger than memory: each part is counted, judged, then written.

Texts are dealt by item. Each part counts its own words (`Corpus`, whole numbers that add
up) and one process joins the counts; then the rules judge each part with these counts. So
the edits are those of `piecework.postprocess.apply.clean_and_propose`, however the texts
are split.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from piecework.domain.edit import Edit
from piecework.domain.tables import COLLECTED, INDEX
from piecework.postprocess.apply import (
    RULES,
    Cleaning,
    Tidied,
    forget_counts,
    judged,
    replay,
    tidied,
)
from piecework.postprocess.datasets.file_table import edits_json
from piecework.postprocess.language.corpus import Corpus
from piecework.postprocess.language.tokens import Text, protected_words
from piecework.results.large.answer_files import answer_files, as_frame, pieces_of
from piecework.results.large.parts import Source, bucket_count, by_item, known_items, states
from piecework.results.large.work_folder import PartRunner, finish, gc_paused, open_work

COLUMNS = {name: COLLECTED[name] for name in ("item_id", "text", "is_canned")}
"""The columns that rules need."""

ROWS = 75_000
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
    def texts() -> list[Tidied]:
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
        return [
            tidied(
                Text(
                    text_id=answer_id,
                    item_id=item_id,
                    text=text,
                    protected=protected.get(item_id, frozenset()),
                )
            )
            for answer_id, item_id, text, is_canned in cells
            if not is_canned
        ]

    source.folder.keep(f"texts-{bucket}", texts)


@gc_paused()
def _count(source: Source, first: int) -> None:
    """Count the texts of some buckets, from `first`."""

    def counted() -> Corpus:
        corpus = Corpus()
        for bucket in range(first, min(first + _JOINED, source.buckets)):
            texts: list[Tidied] = source.folder.kept(f"texts-{bucket}")
            corpus.join(Corpus(each.text for each in texts))
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
    paths: Sequence[Path], run_parts: PartRunner, *, into: Path, bucket_rows: int = ROWS
) -> CleanedFiles:
    """Clean the texts of all files together.

    Args:
        paths: Parquet files or folders (`piecework.results.large.answer_files`).
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
