"""Captions of any origin: a published format, a dataset of piecework's, or anybody's table.

Every command that reads captions reads them here, so that a table means the same to all.
"""

import csv
from dataclasses import replace
from pathlib import Path

from piecework.analyses.corpus.captions import Caption, Corpus
from piecework.domain.errors import ConfigError
from piecework.domain.imported import COLUMNS_READ, NamedColumns
from piecework.domain.text import plural
from piecework.importing.named_columns import FOR_DESCRIBING, columns_in, in_words
from piecework.importing.readers import parquet
from piecework.importing.readers.head import Head, cells_of, head_of
from piecework.importing.readers.tables import objects_of
from piecework.importing.whole_table import read_whole, refuse_other_cells
from piecework.postprocess.datasets.published_tables import CAPTIONS, IMAGES
from piecework.postprocess.datasets.reading import (
    answers_in,
    completed,
    has_columns_of_datasets,
    read_captions,
    refuse_large,
)

_TABLES = {".csv", ".jsonl", ".parquet"}


def read_captions_of(path: Path, stated: NamedColumns) -> Corpus:
    """Read captions from a file of a known format, or from any table.

    Args:
        path: as `read_captions` reads it; a folder with a dataset of answers (its
            main text counts); or a table with other columns.
        stated: the columns that a person named.

    Raises:
        ConfigError: the file cannot be read, or a column is missing or not plain.
    """
    if path.is_dir() and (answers := answers_in(path)) is not None:
        file, text = answers
        columns = NamedColumns(text=stated.text or text, item=stated.item or "item_id")
        return read_captions_of(file, columns)
    columns, is_table = (stated, True) if stated else _published(path)
    if is_table:
        return _of_table(path, columns)
    corpus = read_captions(path)
    if not columns:
        return corpus
    refuse_other_cells(path, columns.text, [each.text for each in corpus.captions])
    remark = f"{COLUMNS_READ}{in_words(columns)}."
    return replace(corpus, remarks=[remark, *corpus.remarks])


def read_captions_to_compare(path: Path) -> Corpus:
    """Read captions from a file whose columns no option names.

    Raises:
        ConfigError: as `read_captions_of`.
    """
    try:
        return read_captions_of(path, NamedColumns())
    except ConfigError as fault:
        if "COLUMN" not in fault.next_step:
            raise
        raise ConfigError(
            fault.faults, next_step="call its columns caption and image_id"
        ) from fault


def _of_table(path: Path, columns: NamedColumns) -> Corpus:
    if not path.is_dir() and path.suffix.lower() != ".parquet":  # Parquet has a limit unpacked
        refuse_large(path)
    table = read_whole(path, columns, FOR_DESCRIBING)
    images, texts = table.cells(table.columns.item), table.cells(table.columns.text)
    captions = [
        Caption(image=image, text=text)
        for image, text in zip(images, texts, strict=True)
        if image and image.strip() and text and text.strip()
    ]
    absent = len(table) - len(captions)
    left_out = (
        (f"Left out: {plural(absent, 'row')} without an image or a caption.",) if absent else ()
    )
    corpus = Corpus(
        source="",
        captions=captions,
        images=[*dict.fromkeys(caption.image for caption in captions)],
        holds_canned=False,
        remarks=[*table.remarks, *left_out],
    )
    return completed(corpus, path)


def _published(path: Path) -> tuple[NamedColumns, bool]:
    """Return columns with published names, none if names do not matter or do not tell.

    Returns also whether the file is a table, so that `read_captions` is not needed.
    """
    kind = path.suffix.lower()
    if kind not in _TABLES or not path.is_file():
        return NamedColumns(), False
    head = head_of(path)
    columns = columns_in(path, head)
    if kind != ".jsonl" and has_columns_of_datasets(columns):
        return NamedColumns(), False
    names = _names(columns)
    if names is None:
        return NamedColumns(), True
    text, item = names
    if not (columns[text] and columns[item]):
        return NamedColumns(), kind != ".jsonl"  # lines may have lists of captions
    return NamedColumns(text=text, item=item), _has_whole_rows(path, head)


def _names(columns: dict[str, bool]) -> tuple[str, str] | None:
    """Return the columns of texts and images: the usual names, else the only published ones."""
    for item in ("item_id", "image_id"):
        if "caption" in columns and item in columns:
            return "caption", item
    known = {name.strip().casefold(): name for name in columns}
    texts, items = (
        [known[name] for name in names if name in known] for names in (CAPTIONS, IMAGES)
    )
    return (texts[0], items[0]) if len(texts) == len(items) == 1 else None


def _has_whole_rows(path: Path, head: Head) -> bool:
    """Return whether each row has the header's cells, or each line is an object."""
    if parquet.fits(head):
        return True
    if head.first_object is not None:
        return not any(isinstance(document, str) for _, document in objects_of(path, head))
    return not any(
        isinstance(row, csv.Error) or len(row) != len(head.header)
        for _, row in cells_of(path, head)
    )
