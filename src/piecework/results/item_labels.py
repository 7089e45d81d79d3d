"""The label of each item, and how sure it is.

The label of a field with a majority is the most frequent answer. If it is uncertain, a
person looks and settles it. The certainty depends on the workers: a vote of workers who
are mostly right weighs more than one of workers who guess.

A run of Prefect that waits for answers (`piecework.store.waiting_runs`) may continue if they
are sure, if its deadline is over, or if no more answers come.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import pandas as pd

from piecework.analyses.labels_from_votes import ability
from piecework.analyses.machine_labels import machine_table
from piecework.analyses.votes import answers_that_count, votes
from piecework.analyses.votes import votes_that_count as voices
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.errors import ConfigError
from piecework.domain.field import MERGED_KINDS, Aggregate, AggregateKind, Field
from piecework.domain.ids import ItemId
from piecework.domain.progress import GOES_ON
from piecework.domain.task import Task
from piecework.domain.verdicts import Label
from piecework.engine.progress import read_progress
from piecework.postprocess.aggregates import item_aggregates, option_votes
from piecework.results.table import answers_table
from piecework.store import item_totals, results, reviews, source, waiting_runs
from piecework.store.database import writing
from piecework.store.dealt_items import DealtItems
from piecework.store.reviews import Identity
from piecework.store.source import Known


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubtful:
    """An item's field on which workers differ, or that a person settled.

    Attributes:
        votes: for each option of the field, its value, label and votes.
        certainty: the probability of the likeliest label, from
            `piecework.analyses.labels_from_votes` (which estimates the workers' abilities from
            their votes on all items, and counts labels of models); the share of the
            leading option if that fails.
        settled: the label that a person settled; `None` if not settled.
    """

    item_id: str
    field: str
    votes: Sequence[tuple[str, str, int]]
    certainty: float
    settled: Label | None = None


def has_labels(opened: OpenedCampaign) -> bool:
    """Whether the task has fields whose majority is an item's label."""
    return bool(_fields(opened))


def doubtful(opened: OpenedCampaign) -> list[Doubtful]:
    """Items on which workers differ, the least certain first and settled ones last."""
    table = answers_table(opened)
    known = results.load_labels(opened.store)
    columns = {str(item.item_id): item.columns for item in opened.campaign.items}
    own = {str(item.item_id) for item in opened.campaign.own_items}
    rows = answers_that_count(table[~table["is_provisional"] & table["item_id"].isin(own)])
    doubts = []
    for field in _fields(opened):
        options = [option.value for option in field.options]
        items = rows["item_id"].astype("str").drop_duplicates()
        field_votes = voices(votes(rows, field))
        field_votes = field_votes[field_votes["value"].isin(options)]
        counts = option_votes(field_votes, options, items)  # type: ignore[arg-type]
        machine = machine_table(opened.campaign.machine, field.name)
        certainty = _certainty(field_votes, options, machine)
        for item_id, of_options in zip(
            counts.index.tolist(), counts.to_numpy().tolist(), strict=True
        ):
            first, second, *_ = sorted([*of_options, 0, 0], reverse=True)
            share = first / (sum(of_options) or 1)
            settled = known.get((item_id, field.name))
            if not second and settled is None:
                continue
            cells = columns.get(item_id, {})
            doubts.append(
                Doubtful(
                    item_id=item_id,
                    field=field.name,
                    votes=[
                        (option.value, cells.get(option.column) or option.label, number)
                        for option, number in zip(field.options, of_options, strict=True)
                    ],
                    certainty=certainty.get(item_id, share),
                    settled=settled,
                )
            )
    return sorted(
        doubts, key=lambda doubt: (doubt.settled is not None, doubt.certainty, doubt.item_id)
    )


def _certainty(
    field_votes: pd.DataFrame, options: Sequence[str], machine: pd.DataFrame | None
) -> dict[str, float]:
    """The probability of each item's likeliest label; empty if the estimate fails."""
    try:
        estimated = ability(field_votes, values=options, machine=machine).labels
        probabilities = estimated["probability"]
    except ValueError:
        return {}
    return dict(zip(probabilities.index.astype("str"), probabilities.tolist(), strict=True))


def settle_label(
    opened: OpenedCampaign,
    item_id: str,
    field: str,
    value: str,
    *,
    by: str,
    seen: str = results.OPEN,
    is_requester: bool = False,
) -> None:
    """Settle the label of an item.

    Args:
        opened: the campaign.
        item_id: the item.
        field: the field with the label.
        value: the option that is right.
        by: the person.
        seen: `mark_of` the settled label that the person saw.
        is_requester: whether the person may replace what others settled.

    Raises:
        ConfigError: the item, field or option does not exist, or another person settled it.
        DecidedSince: it is not what the person saw.
    """
    options = {
        item_field.name: {option.value for option in item_field.options}
        for item_field in _fields(opened)
    }
    if value not in options.get(field, ()):
        raise ConfigError([f"{value!r} is not a label of {field!r}"])
    if item_id not in {str(item.item_id) for item in opened.campaign.items}:
        raise ConfigError([f"{item_id!r} is not an item of this campaign"])
    with writing(opened.store):
        stored = results.load_labels(opened.store).get((item_id, field))
        results.refuse_overwriting(stored, by=by, seen=seen, is_requester=is_requester)
        results.keep_label(
            opened.store,
            Label(
                item_id=item_id,
                field=field,
                value=value,
                reviewer=by,
                reviewed_at=opened.clock.now(),
            ),
        )
        reviews.add_event(
            opened.store,
            "label settled",
            Identity(name=by),
            at=opened.clock.now(),
            about=f"{field} of {item_id}: {value}",
        )


def unsettle_label(
    opened: OpenedCampaign, item_id: str, field: str, *, by: str, seen: str, is_requester: bool
) -> None:
    """Remove a settled label, so that the answers determine it again.

    Args:
        opened: the campaign.
        item_id: the item.
        field: the field with the label.
        by: the person who asks for it.
        seen: `mark_of` the settled label that the person saw.
        is_requester: whether the person may remove what others settled.

    Raises:
        ConfigError: another person settled it.
        DecidedSince: it is not what the person saw.
    """
    with writing(opened.store):
        stored = results.load_labels(opened.store).get((item_id, field))
        results.refuse_overwriting(stored, by=by, seen=seen, is_requester=is_requester)
        results.forget_label(opened.store, item_id, field)
        reviews.add_event(
            opened.store,
            "label reopened",
            Identity(name=by),
            at=opened.clock.now(),
            about=f"{field} of {item_id}",
        )


def _fields(opened: OpenedCampaign) -> list[Field]:
    task = opened.campaign.task
    named = {aggregate.field for aggregate in task.aggregates if aggregate.kind == "majority"}
    return [field for field in task.item_fields if field.name in named and field.kind == "choice"]


_MORE_TO_COME = GOES_ON | {"people"}
"""Whom a campaign waits for while answers may still come: a person may keep or drop
those that wait for a decision, and a dropped one is asked for again."""

_COLUMN: dict[AggregateKind, str] = {
    "majority": "{}_likeliest",
    "shares": "{}_majority",
    "mean": "{}_mean",
    "best_edit": "{}",
    **dict.fromkeys(MERGED_KINDS, "{}_merged"),
}
"""The column of a field's label, by how its answers are aggregated.

The majority of opinions is in the field's own: none of them is the likeliest to be right.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemLabel:
    """What people answered about an item.

    Attributes:
        label: the likeliest option (of opinions, the most frequent); the options that most
            people ticked; the mean; the best edit; what is merged, regions as JSON; or the
            texts, if the field is not aggregated. "" without votes.
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
    labelled = [
        part for part in task.aggregates if part.kind not in MERGED_KINDS
    ] or task.aggregates
    aggregated = list(dict.fromkeys(part.field for part in labelled))
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


def are_over(opened: OpenedCampaign, row_ids: Sequence[str]) -> bool:
    """Return whether waiting cannot help: answered, not usable, or the campaign ended."""
    return (
        are_finished(opened, row_ids)
        or bool(source.unusable(opened.store, row_ids))
        or read_progress(opened).waiting_for == "nobody"
    )


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
    # Probabilities need the votes on all items; merging needs those on an item.
    others = [] if own and own[0].kind in MERGED_KINDS else table["item_id"].tolist()
    everything = [*dict.fromkeys([*others, *map(str, item_ids)])]
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
        column = _COLUMN[own[0].kind].format(field.name)
        labels_of: list[object] = rows[column if column in rows else field.name].tolist()
        return labels_of
    texts = voices(votes(answers_that_count(table), field))
    of_item = texts.groupby("item_id")["value"].agg(tuple)
    return [of_item.get(item_id, ()) for item_id in rows.index]


def _spent(opened: OpenedCampaign, item_ids: Sequence[ItemId]) -> dict[ItemId, float]:
    spent: dict[ItemId, float] = {}
    for batch in {*source.batches_of(opened.store, item_ids).values()}:
        spent |= item_totals.spent_by_item(opened.store, batch)
    return spent


def may_continue(opened: OpenedCampaign, run_id: str, *, now: datetime) -> bool:
    """Return whether a waiting run's questions are over (`are_over`), or its time is.

    A run that another pass has let continue waits no more, so it is not resumed again.
    """
    try:
        waiting = waiting_runs.read(opened.campaign.out, run_id)
    except FileNotFoundError:
        return False
    is_late = waiting.deadline is not None and waiting.deadline <= now
    return is_late or are_over(opened, waiting.keys)
