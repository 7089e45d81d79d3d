"""Choose the reader for a file by its content, trying the most specific first."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from piecework.domain.errors import ConfigError
from piecework.domain.imported import Reading
from piecework.domain.text import did_you_mean
from piecework.importing.readers import (
    amti,
    brat,
    coco,
    conll,
    figure_eight,
    imagefolder,
    label_studio,
    mapped,
    mephisto,
    mturk_csv,
    mturk_json,
    parquet,
    potato,
    prolific_export,
    results_file,
    sagemaker,
    simple_amt,
)
from piecework.importing.readers.head import Head, head_of
from piecework.importing.readers.rows import Read, Reader, worker_of_file
from piecework.postprocess.datasets.reading import answers_in

READERS: tuple[Reader, ...] = (
    parquet,
    mturk_csv,
    results_file,
    prolific_export,
    figure_eight,
    label_studio,
    amti,
    mturk_json,
    simple_amt,
    mephisto,
    potato,
    coco,
    imagefolder,
    sagemaker,
    brat,
    conll,
)

_OF_ONE_WORKER = frozenset(reader.NAME for reader in (coco, imagefolder, sagemaker, brat, conll))
"""Formats that do not say who answered."""

_MONTH_FIRST = (mturk_csv, results_file, amti, figure_eight)
"""Formats of American sites, which write the month before the day."""


class Source(NamedTuple):
    """A file to read.

    Attributes:
        format_name: the name of the format for people.
        others: what the reader guessed, each with the line that states otherwise.
        gold: columns of right answers that the format itself names, by field.
    """

    path: Path
    head: Head
    format_name: str
    rows: Callable[[], Iterator[Read]]
    others: tuple[tuple[str, str], ...] = ()
    gold: Mapping[str, str] = MappingProxyType({})

    def guesses(self) -> Iterator[tuple[str, str]]:
        """Yield what was guessed about the file, and the line that states otherwise."""
        yield from self.head.guesses
        yield from self.head.times.guesses(self.head.reading.times)
        yield from self.others


def recognise(paths: Sequence[Path], reading: Reading | None = None) -> list[Source]:
    """Return how to read files, some of them joined to others.

    Prolific's export adds who gave the answers of a table, and a file of items adds the
    content of Potato's instances.

    Args:
        paths: files, or a folder created by a tool.
        reading: what is known about the columns of a table.

    Raises:
        ConfigError: a file cannot be read, or has no known format.
    """
    heads = _with_shapes_called_alike({path: head_of(path, reading or Reading()) for path in paths})
    exports = [path for path, head in heads.items() if prolific_export.fits(head)]
    others = {path: head for path, head in heads.items() if path not in exports}
    if len(exports) == 1 and others and all(map(_is_plain, others.values())):
        (export,) = exports
        return [_joined(path, head, export, heads[export]) for path, head in others.items()]
    annotated = [path for path, head in heads.items() if potato.fits(head)]
    items = [(path, head) for path, head in heads.items() if path not in annotated]
    if annotated and items and not any(_of_a_tool(head) for _, head in items):
        return [
            Source(
                path,
                heads[path],
                f"{potato.NAME}, joined to its items",
                partial(potato.join_items, path, heads[path], items),
            )
            for path in annotated
        ]
    sources = [_source(path, head) for path, head in heads.items()]
    datasets = parquet.DatasetTables(
        [source.path for source in sources if source.format_name == parquet.NAME]
    )
    _refuse_one_name(sources)
    return [
        source._replace(rows=partial(datasets.read, source.path))
        if source.format_name == parquet.NAME
        else source
        for source in sources
    ]


def _with_shapes_called_alike(heads: dict[Path, Head]) -> dict[Path, Head]:
    """Let exports of one project call the marks of each shape alike.

    Raises:
        ConfigError: one is not valid JSON.
    """
    exports = {
        path: head
        for path, head in heads.items()
        if label_studio.fits(head) and not label_studio.is_flat(head)
    }
    if len(exports) < len("ab"):
        return heads
    known = next(iter(exports.values())).reading.marks
    marks = {**known, **label_studio.marks_of(exports, known)}
    return heads | {
        path: replace(head, reading=replace(head.reading, marks=marks))
        for path, head in exports.items()
    }


def _refuse_one_name(sources: Sequence[Source]) -> None:
    """Refuse files of marks that would count as one person's, because their names are one.

    Raises:
        ConfigError: two have one name.
    """
    paths: dict[str, Path] = {}
    for source in sources:
        if source.format_name not in _OF_ONE_WORKER:
            continue
        path = source.path
        other = paths.setdefault(worker_of_file(path), path)
        if other != path:
            raise ConfigError(
                [f"{other} and {path}: such files do not say who made them, so their name does"],
                next_step="rename one; of one person, import one after the other",
            )


def is_of_a_tool(path: Path, head: Head) -> bool:
    """Return whether the file's format is known, so that it says itself what it holds.

    Raises:
        ConfigError: it is not valid Parquet.
    """
    if parquet.fits(head):
        return parquet.is_dataset(path)
    return _of_a_tool(head) or figure_eight.is_aggregated(head)


def _source(path: Path, head: Head) -> Source:
    is_known = not parquet.fits(head) or parquet.is_dataset(path)
    for reader in READERS:
        if is_known and reader.fits(head):
            return _read_by(reader, path, head)
    if figure_eight.is_aggregated(head):
        fault = (
            f"{path}: is an aggregated report of Figure Eight, which has a row for "
            "each unit and no worker's answer"
        )
        next_step = "download the full report of the job, and import that"
        raise ConfigError([fault], next_step=next_step)
    if head.reading.answers or head.reading.votes:
        _check_columns(path, head, head.reading)
        return Source(path, head, mapped.NAME, partial(mapped.read, path, head))
    names = ", ".join(reader.NAME for reader in READERS)
    if head.is_folder:
        _refuse_own_dataset(path)
        known = {amti.FILE: amti, potato.STATE_FILE: potato, ".txt with .ann": brat}
        wanted = " or ".join(f"{file} (of {reader.NAME})" for file, reader in known.items())
        raise ConfigError(
            [f"{path}: the folder does not contain {wanted}"], next_step="give the files themselves"
        )
    raise ConfigError(
        [f"{path}: has an unknown format; the known ones are {names}"],
        next_step="describe its columns with --columns FILE (docs/how-to/importing.md)",
    )


def _refuse_own_dataset(folder: Path) -> None:
    """Name the table of a dataset that piecework wrote, with its columns.

    Raises:
        ConfigError: the folder has such a dataset.
    """
    if not (folder / "croissant.json").is_file():
        return
    _, text = answers_in(folder) or (folder, "")
    of_answers = f"--text {text}" if text else "--label COLUMN"
    for name, columns in (
        ("captions.parquet", ""),
        ("answers.parquet", ""),
        ("captions.csv", " --text caption --item item_id --worker worker"),
        ("answers.csv", f" {of_answers} --item item_id --worker worker"),
    ):
        if (folder / name).is_file():
            raise ConfigError(
                [f"{folder}: is a dataset of piecework; its answers are in {name}"],
                next_step=f"name that table: {folder / name}{columns}",
            )


def _read_by(reader: Reader, path: Path, head: Head) -> Source:
    if reader in _MONTH_FIRST:
        head = _with_month_first(head)
    if reader is figure_eight:
        _check_answers(path, head)
        return _of_units(path, head)
    if reader is label_studio and label_studio.is_flat(head):
        _check_answers(path, head)
        roles = label_studio.roles_of(path, head)
        rows = partial(label_studio.read_as, path, head, roles)
        return Source(path, head, reader.NAME, rows, others=roles.guesses)
    others = prolific_export.guesses(path) if reader is prolific_export else ()
    rows = partial(reader.read, path, head)
    return Source(path, head, reader.NAME, rows, others=others)


def _of_units(path: Path, head: Head) -> Source:
    roles = figure_eight.roles_of(path, head)
    return Source(
        path,
        head,
        figure_eight.NAME,
        partial(figure_eight.read_as, path, head, roles),
        others=roles.guesses,
        gold=figure_eight.gold_of(head, roles),
    )


def _joined(path: Path, head: Head, export: Path, export_head: Head) -> Source:
    _check_answers(path, head)
    survey = prolific_export.Survey.of(path, head, export, export_head)
    return Source(
        path,
        head,
        f"answers joined to {prolific_export.NAME}",
        survey.rows,
        others=tuple(survey.guesses()),
    )


def _with_month_first(head: Head) -> Head:
    times = head.reading.times
    if times.day_first is not None:
        return head
    times = replace(times, day_first=False)
    return replace(head, reading=replace(head.reading, times=times))


def _is_plain(head: Head) -> bool:
    """Return whether it is a table of no known tool."""
    return bool(head.header) and not _of_a_tool(head)


def _of_a_tool(head: Head) -> bool:
    return head.is_folder or any(reader.fits(head) for reader in READERS)


def _check_answers(path: Path, head: Head) -> None:
    """Check that the stated columns of answers exist."""
    _check_columns(path, head, Reading(answers=head.reading.answers))


def _check_columns(path: Path, head: Head, reading: Reading) -> None:
    """Check that mapped columns exist; in JSON they may come later."""
    if head.first_object is not None:
        return
    header = reading.header or head.header
    if not header or reading.numbers:
        return
    missing = mapped.columns_missing(reading, header)
    listed = f"the columns are {', '.join(header)}"
    if missing:
        raise ConfigError(
            [
                f"{path}: line 1: column {name!r}, named in the mapping, is missing"
                f"{did_you_mean(name, header, then=listed)}"
                for name in missing
            ]
        )
