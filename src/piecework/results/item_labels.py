"""The labels of single items, as the dataset has them, for programs that wait.

A user's program that runs in Prefect is suspended until people have answered. Each such
run is a file in the campaign's folder. A pass that finds the answers sure, or the
deadline over, lets the run continue and forgets it.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pandas as pd

from piecework.analyses.votes import answers_that_count, votes
from piecework.analyses.votes import votes_that_count as voices
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.errors import ConfigError
from piecework.domain.ids import ItemId
from piecework.domain.progress import GOES_ON
from piecework.domain.task import Aggregate, AggregateKind, Field, Task
from piecework.engine.progress import read_progress
from piecework.postprocess.aggregates import item_aggregates
from piecework.results.table import answers_table
from piecework.store import item_totals, results, source
from piecework.store.database import from_text, to_text
from piecework.store.dealt_items import DealtItems
from piecework.store.files import write_whole_text
from piecework.store.source import Known

_MORE_TO_COME = GOES_ON | {"people"}
"""Whom a campaign waits for while answers may still come: a person may keep or drop
those that wait for a decision, and a dropped one is asked for again."""

_COLUMN: dict[AggregateKind, str] = {
    "majority": "{}_likeliest",
    "shares": "{}_majority",
    "mean": "{}_mean",
    "best_edit": "{}",
}
"""The column of a field's label, by how its answers are aggregated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemLabel:
    """What people answered about an item.

    Attributes:
        label: the likeliest option; the options that most people ticked; the mean; the
            best edit; or the texts, if the field is not aggregated. "" without votes.
        probability: of the label; NaN if it has none.
        answers: accepted answers.
        cost_cents: the item's share of rewards and fees.
    """

    label: object
    probability: float
    answers: int
    cost_cents: float


def field_with_label(task: Task, name: str | None) -> Field:
    """Return the field of a name, or the only one that a task has a label of.

    Raises:
        ConfigError: there is no such field, or there are several.
    """
    aggregated = list(dict.fromkeys(part.field for part in task.aggregates))
    fields = {field.name: field for field in task.fields if not field.is_personal}
    names = aggregated or [*fields]
    if name is None and len(names) == 1:
        return fields[names[0]]
    if name is None:
        known = ", ".join(map(repr, names))
        raise ConfigError(
            [f"field: {task.name} has several: name one of {known}"],
            next_step=f"field={names[0]!r}",
        )
    if name not in fields:
        known = ", ".join(map(repr, fields))
        raise ConfigError([f"field: {task.name} has no {name!r}; it has {known}"])
    return fields[name]


def latest_items(opened: OpenedCampaign, row_ids: Iterable[str]) -> dict[str, Known]:
    """Return the latest item of each row that was taken in, by row id."""
    return source.known(opened.store, row_ids)


def finished(opened: OpenedCampaign, item_ids: Sequence[ItemId]) -> frozenset[ItemId]:
    """Return which items get no more answers: complete, closed, or out of rounds."""
    posting = opened.campaign.posting
    complete = item_totals.answered(opened.store, posting, item_ids)
    if len(complete) == len(item_ids):
        return complete
    if read_progress(opened).waiting_for in _MORE_TO_COME:
        return complete
    return complete | frozenset(source.batches_of(opened.store, item_ids))


def are_finished(opened: OpenedCampaign, row_ids: Sequence[str]) -> bool:
    """Return whether all these rows were taken in and get no more answers."""
    items = [item.item_id for item in latest_items(opened, row_ids).values()]
    return len(items) == len(row_ids) == len(finished(opened, items))


def item_labels(
    opened: OpenedCampaign, field: Field, item_ids: Sequence[ItemId]
) -> dict[ItemId, ItemLabel]:
    """Return the labels of items; a label that a person settled is certain."""
    table = answers_table(opened)
    # Mixed-in items are not in the dataset, so their votes do not count there.
    gold = [str(item.item_id) for item in opened.campaign.gold]
    table = table[~(table["is_provisional"] | table["item_id"].isin(gold))]
    own = [part for part in opened.campaign.task.aggregates if part.field == field.name]
    columns = {
        str(item_id): item.columns
        for item_id, item in DealtItems(opened.store).of(item_ids).items()
    }
    # Probabilities need the votes on all items.
    everything = [*dict.fromkeys([*table["item_id"].tolist(), *map(str, item_ids)])]
    rows = item_aggregates(
        table,
        everything,
        opened.campaign.task.fields,
        own[:1],
        columns=columns,
        machine=opened.campaign.machine,
    ).loc[list(map(str, item_ids))]
    values = _labels(rows, field, own, table)
    chances = rows.get(f"{field.name}_probability", pd.Series(float("nan"), rows.index))
    spent = _spent(opened, item_ids)
    settled = results.load_labels(opened.store)
    return {
        item_id: ItemLabel(
            label=label if by_hand is None else by_hand.value,
            probability=float(chance) if by_hand is None else 1.0,
            answers=int(answers),
            cost_cents=spent.get(item_id, 0.0),
        )
        for item_id, label, chance, answers in zip(
            item_ids, values, chances.tolist(), rows["answers"].tolist(), strict=True
        )
        for by_hand in [settled.get((str(item_id), field.name))]
    }


def _labels(
    rows: pd.DataFrame, field: Field, own: Sequence[Aggregate], table: pd.DataFrame
) -> list[object]:
    if own:
        labels_of: list[object] = rows[_COLUMN[own[0].kind].format(field.name)].tolist()
        return labels_of
    texts = voices(votes(answers_that_count(table), field))
    of_item = texts.groupby("item_id")["value"].agg(tuple)
    return [of_item.get(item_id, ()) for item_id in rows.index]


def _spent(opened: OpenedCampaign, item_ids: Sequence[ItemId]) -> dict[ItemId, float]:
    spent: dict[ItemId, float] = {}
    for batch in {*source.batches_of(opened.store, item_ids).values()}:
        spent |= item_totals.spent_by_item(opened.store, batch)
    return spent


_WAITING_RUNS = "waiting-runs"


def keep_waiting_run(
    out: Path, run_id: str, keys: Sequence[str], *, deadline: datetime | None
) -> None:
    """Record what a run waits for, before it is suspended."""
    (out / _WAITING_RUNS).mkdir(parents=True, exist_ok=True)
    waiting = {"keys": [*keys], "deadline": None if deadline is None else to_text(deadline)}
    write_whole_text(_file_of_run(out, run_id), json.dumps(waiting))


def waiting_runs(out: Path) -> list[str]:
    """Return the runs that wait, in the order of their ids."""
    return sorted(file.stem for file in (out / _WAITING_RUNS).glob("*.json"))


def may_continue(opened: OpenedCampaign, run_id: str, *, now: datetime) -> bool:
    """Return whether a run's questions are answered, or its time is over."""
    waiting = json.loads(_file_of_run(opened.campaign.out, run_id).read_text())
    deadline = waiting["deadline"]
    is_late = deadline is not None and from_text(deadline) <= now
    return is_late or are_finished(opened, waiting["keys"])


def forget_waiting_run(out: Path, run_id: str) -> None:
    """Delete the record of a run that continues or has ended."""
    _file_of_run(out, run_id).unlink(missing_ok=True)


def _file_of_run(out: Path, run_id: str) -> Path:
    return out / _WAITING_RUNS / f"{run_id}.json"
