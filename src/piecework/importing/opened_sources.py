"""Files of other tools, opened as a temporary campaign with a store of their answers."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from piecework.campaign.assembling import assemble
from piecework.campaign.opened import OpenedCampaign
from piecework.config.user_files import plain_name
from piecework.domain.errors import ConfigError
from piecework.domain.imported import GUESSED, NamedColumns, Reading
from piecework.domain.text import plural
from piecework.engine.opening import open_to_look
from piecework.hit_templates.tasks import load_task
from piecework.importing.importing import keep_files, write_campaign
from piecework.importing.named_columns import (
    FOR_ASSESSING,
    Wanted,
    guessed_of,
    named_files,
    read_by_names,
)
from piecework.importing.readers.recognise import Source, recognise
from piecework.importing.readers.rows import ImportedRow, Read
from piecework.importing.understanding import Understanding, understand
from piecework.results.export import write_table
from piecework.results.large.answer_files import MadeAnswers, Origin
from piecework.store.tables import read_in_parts

_MOST_GUESSES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedSources:
    """Sources read into a temporary campaign.

    Attributes:
        opened: the campaign with a store of their answers.
        understood: their content.
        unreadable: rows that were set aside.
        remarks: what a person has to know about them, in sentences.
        columns: the columns of tables that were named or found.
    """

    opened: OpenedCampaign
    understood: Understanding
    unreadable: int
    remarks: tuple[str, ...]
    columns: NamedColumns = field(default_factory=NamedColumns)


@contextmanager
def opened_files(
    paths: Sequence[Path], reading: Reading, *, task_name: str, stated: NamedColumns, wanted: Wanted
) -> Iterator[OpenedSources]:
    """Read files into a temporary store; the columns of a table are named or plain.

    Args:
        paths: the files.
        reading: what is known about their columns.
        task_name: a task of the gallery, if known.
        stated: columns that a person named.
        wanted: the columns that a table needs.

    Raises:
        ConfigError: a file cannot be read, or a column is missing or not plain.
    """
    by_names = read_by_names(paths, reading, stated, wanted, task_name=task_name)
    sources, columns = recognise(paths, by_names.reading), by_names.columns
    if columns:
        sources = [
            source._replace(
                rows=partial(_numbered, source, f"{source.path.name}:" * (len(paths) > 1))
            )
            for source in sources
        ]
    with opened_sources(
        sources,
        by_names.reading,
        task_name=task_name,
        main_text=columns.text,
        labels=by_names.labels,
    ) as sources_read:
        _refuse_other_cells(sources_read.understood, columns, paths)
        yield replace(
            sources_read,
            columns=columns,
            remarks=(*by_names.remarks, *sources_read.remarks),
        )


@contextmanager
def opened_sources(
    sources: Sequence[Source],
    reading: Reading,
    *,
    task_name: str = "",
    main_text: str = "",
    labels: Collection[str] = (),
) -> Iterator[OpenedSources]:
    """Read sources into a temporary store, deleted at the end of the block.

    Args:
        sources: the sources.
        reading: what is known about their columns.
        task_name: a task of the gallery, if known.
        main_text: the answers whose texts heuristics judge, if a person named them.
        labels: as for `understand`.

    Raises:
        ConfigError: a source cannot be read, or contains no answers.
    """
    task = load_task(task_name) if task_name else None
    understood = understand(sources, reading, task=task, labels=labels)
    with TemporaryDirectory(prefix="piecework-") as folder:
        path = Path(folder) / f"{plain_name(sources[0].path.stem, 'imported')}.toml"
        # Nothing is stored where the machine's file keeps campaigns.
        file = write_campaign(path, understood, path.stem).kept_in(Path(folder, "out"))
        kept = keep_files(assemble(file), sources)
        campaign = assemble(file)
        if main_text and not task_name:
            names = {each.sent_as: each.name for each in campaign.task.fields if each.sent_as}
            main_text = names.get(main_text, main_text)
            campaign = replace(campaign, task=replace(campaign.task, main_text=main_text))
        unreadable = sum(file.unreadable for file in kept)
        with open_to_look(campaign) as opened:
            yield OpenedSources(
                opened=opened,
                understood=understood,
                unreadable=unreadable,
                remarks=tuple(_remarks_on(sources, understood, unreadable)),
            )


def write_answers_of(
    paths: Sequence[Path], stated: NamedColumns, task_name: str, to: Path
) -> MadeAnswers:
    """Write the answers of files as Parquet files for `piecework.results.large`.

    Memory grows with the items, not with the answers, which are kept in a temporary store.

    Args:
        paths: the files.
        stated: columns that a person named.
        task_name: a task of the gallery, if known.
        to: the folder for the Parquet files.

    Raises:
        ConfigError: as `opened_files`.
    """
    with opened_files(
        paths, Reading(), task_name=task_name, stated=stated, wanted=FOR_ASSESSING
    ) as sources_read:
        opened = sources_read.opened
        campaign = opened.campaign
        for number, part in enumerate(read_in_parts(opened.store, campaign.task)):
            write_table(part, to / f"part-{number:05d}.parquet")
        origin = Origin(task=campaign.task, campaign=campaign)
        return MadeAnswers(origin=origin, remarks=sources_read.remarks)


def _numbered(source: Source, prefix: str) -> Iterator[Read]:
    """Yield the rows of a table, named by their lines, so that findings lead to them."""
    for row in source.rows():
        if isinstance(row, ImportedRow):
            yield replace(row, assignment_id=f"{prefix}line{row.line}", is_id_made=True)
        else:
            yield row


def _refuse_other_cells(
    understood: Understanding, columns: NamedColumns, paths: Sequence[Path]
) -> None:
    """Refuse columns that are empty, and numbers in place of texts."""
    surveys = understood.surveys
    faults = [
        f"{named_files(paths)}: the column {name!r} is empty in every row"
        for name in (columns.text, *columns.label)
        if name in surveys and not surveys[name].filled
    ]
    text = surveys.get(columns.text)
    if text is not None and text.filled and text.is_number:
        faults.append(
            f"{named_files(paths)}: the column {columns.text!r} has only numbers, such as "
            f"{next(iter(text.values))!r}, and no texts; --label {columns.text} judges numbers"
        )
    if faults:
        raise ConfigError(faults)


def _remarks_on(
    sources: Sequence[Source], understood: Understanding, unreadable: int
) -> Iterator[str]:
    """Yield how sources were read, and how many of their rows were not."""
    heads = [source.head for source in sources]
    yield from guessed_of(heads)
    of_heads = {guess for head in heads for guess in head.guesses}
    guesses = [f"{guess} ({line})" for guess, line in understood.guesses
               if (guess, line) not in of_heads]  # fmt: skip
    if guesses:
        more = len(guesses) - _MOST_GUESSES
        listed = "; ".join(guesses[:_MOST_GUESSES]) + f"; and {more:,} more" * (more > 0)
        yield f"{GUESSED}{listed}. A line in brackets, in a file for --columns, states otherwise."
    if unreadable:
        faults = [fault for file in understood.files for fault in file.first_faults]
        first = f"; the first: line {faults[0].line}: {faults[0].fault}" if faults else ""
        yield f"{plural(unreadable, 'row')} could not be read{first}."
