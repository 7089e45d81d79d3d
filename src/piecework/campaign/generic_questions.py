"""Reads the questions that a campaign file or its test states, and the columns they show.

The columns of the items are known only from the items, so their rows are read before the
task is built. They are checked later, as those of any task.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain

from piecework.campaign.deriving import most_shown, purpose
from piecework.campaign.growing_source import first_fault, first_rows, source_of
from piecework.config.campaign_file import HOUR, CampaignFile
from piecework.config.items_file import read_rows, renamed_row
from piecework.config.posting_tables import scale_end
from piecework.config.schema import CampaignTables, QualificationTestTable
from piecework.config.user_files import read_text
from piecework.domain.errors import ConfigError
from piecework.domain.growing import Source
from piecework.domain.pictures import scene_rows
from piecework.domain.qualifications import QualificationTest, TestDocuments
from piecework.domain.task import PRACTICE, Task
from piecework.hit_templates.generic import (
    ITEMS_PER_HIT,
    KEYS,
    Asked,
    Scale,
    TextRules,
    generic_task,
)
from piecework.hit_templates.own_html.task import ITEM_ID
from piecework.hit_templates.qualification import QUESTIONS, task_of_documents, task_of_questions
from piecework.hit_templates.tagging import TAG, tag_task


def task_of_file(file: CampaignFile) -> Task:
    """Return the task whose question the file states, for the columns of its items.

    Raises:
        ConfigError: every error in what the file states, each with its line.
    """
    grows = file.tables.grows is not None
    rows = _rows_to_see(file, _built(file, (), grows=True)) if grows else _rows(file)
    return _built(file, rows, grows=grows)


def _built(file: CampaignFile, rows: Sequence[Mapping[str, str]], *, grows: bool) -> Task:
    try:
        build = tag_task if file.tables.task == TAG else generic_task
        task = build(_asked_in_file(file, rows), rows, grows=grows)
    except ConfigError as error:
        raise ConfigError([located(file, fault) for fault in error.faults]) from error
    is_stated = file.tables.posting.description or file.tables.description
    return task if is_stated else replace(task, description=purpose(task))


def _asked_in_file(file: CampaignFile, rows: Sequence[Mapping[str, str]]) -> Asked:
    tables = file.tables
    minutes, most = tables.minutes, tables.posting.items_per_hit or ITEMS_PER_HIT
    return Asked(
        kind=str(tables.task),
        stated=frozenset(tables.model_fields_set & {*KEYS}),
        path=str(file.path),
        question=tables.question,
        instructions=tables.instructions,
        options=tuple((option["value"], option["label"]) for option in tables.options),
        several=tables.several,
        scale=None if tables.scale is None else _scale(*tables.scale),
        examples=tables.examples,
        text=None if tables.text is None else TextRules(**tables.text.model_dump()),
        description=tables.posting.description or tables.description,
        reward_cents=tables.reward or 1,
        seconds=None if minutes is None else minutes * 60,
        items_per_hit=most,
        seen_in_hit=most_shown(tables, most, sum(not row.get(PRACTICE) for row in rows)),
        hidden=frozenset(_columns_of_splits(tables)),
        pictures=file.pictures,
        language=tables.language,
    )


def _scale(low: str, high: str) -> Scale:
    (minimum, low_words), (maximum, high_words) = scale_end(low), scale_end(high)
    return Scale(minimum=minimum, maximum=maximum, low=low_words, high=high_words)


def _columns_of_splits(tables: CampaignTables) -> Iterator[str]:
    if tables.dataset.split_by is not None:
        yield tables.dataset.split_by
    if isinstance(tables.dataset.splits, str):
        yield tables.dataset.splits


def test_of_file(file: CampaignFile, task_named: Callable[[str], Task]) -> QualificationTest | None:
    """Return the test before the work; `None` without one.

    Args:
        file: the campaign file.
        task_named: reads a task that a file names.

    Raises:
        ConfigError: a file of the test cannot be read.
    """
    table = file.tables.qualification
    if table is None:
        return None
    retry, needed = table.retry_hours, table.correct_at_least
    documents = _documents_of(file, table)
    if documents is not None:
        task, items = task_of_documents(documents)
    elif table.task is not None and table.items is not None:
        task = task_named(table.task)
        items = file.items(task.columns, file=file.named(table.items), is_own=False)
    else:
        task, items = task_of_questions(
            [(each.text, each.options, each.answer) for each in table.question],
            title=table.name,
            instructions=table.instructions,
            path=table.file,
            language=file.tables.language,
        )
    return QualificationTest(
        name=table.name or f"piecework: {task.name}, test of {file.tables.name}",
        task=task,
        items=items,
        correct_at_least={QUESTIONS: needed} if isinstance(needed, int) else needed,
        duration_seconds=round(table.time_limit_minutes * 60),
        retry_seconds=None if retry is None else round(retry * HOUR),
        documents=documents,
    )


def _rows(file: CampaignFile) -> Sequence[Mapping[str, str]]:
    """Return the rows of items that do not grow, unchecked."""
    table = file.tables.items
    if table.file is not None:
        rows = [row for _, row in read_rows(file.named(table.file))]
        return [renamed_row(row, table.columns, wanted=()) for row in rows]
    if table.scenes:
        return scene_rows(table.scenes)
    return [item.columns for item in file.items_of_folder(_OF_A_PICTURE)]


def _rows_to_see(file: CampaignFile, task: Task) -> Sequence[Mapping[str, str]]:
    """Return the first rows of items that grow; the page shows their columns."""
    if file.tables.items.file is None:
        return [dict.fromkeys(_OF_A_PICTURE, "picture.jpg")]
    ids = [ITEM_ID] if file.tables.task == TAG else [ITEM_ID, "id", "ID"]
    of_ids = [replace(task, columns=(name, *task.columns[1:])) for name in ids]
    for with_id in of_ids:
        if rows := [item.columns for item in first_rows(file, with_id)]:
            return rows
    sources = [source_of(file, with_id) for with_id in of_ids]
    source = next(filter(_has_ids, sources), sources[0])
    with closing(source.read()) as delivery:  # says what its header lacks
        why, next_step = first_fault(source, delivery)
    unknown = f"{file.at('items')}: no row can be used yet, so the columns are not known"
    raise ConfigError([unknown, *why], next_step=next_step)


def _has_ids(source: Source) -> bool:
    """Return whether a source has the column of its ids, by its header or first row."""
    try:
        with closing(source.read(most=1)) as delivery:
            row = next(chain.from_iterable(delivery.chunks), None)
    except ConfigError:
        return False
    return row is None or bool(row.row_id)


_OF_A_PICTURE = (ITEM_ID, "url")
"""The columns of items that are the pictures of a folder."""


def located(file: CampaignFile, fault: str) -> str:
    """Add the line to a sentence that begins with a key (`heuristics.too_fast: …`)."""
    key = fault.split(maxsplit=1)[0].rstrip(":")
    return file.at(*key.split(".")) + fault.removeprefix(key)


def _documents_of(file: CampaignFile, table: QualificationTestTable) -> TestDocuments | None:
    """Return MTurk's documents that the file of a test names; `None` if it names none.

    Raises:
        ConfigError: one is not there, or is not UTF-8.
    """
    if table.form is None or table.key is None:
        return None
    form, key = file.named(table.form), file.named(table.key)
    faults = [f"{table.file}: {path} does not exist" for path in (form, key) if not path.is_file()]
    if faults:
        raise ConfigError(faults)
    return TestDocuments(
        form=read_text(form), key=read_text(key), form_path=str(form), key_path=str(key)
    )
