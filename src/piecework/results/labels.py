"""Items with labels that workers disagree about, and the labels that people settle.

The label of a field with a majority is the most frequent answer. If it is uncertain, a
person looks and settles it. The certainty depends on the workers: a vote of workers who
are mostly right weighs more than one of workers who guess.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from piecework.analyses.ability import ability
from piecework.analyses.machine import machine_table
from piecework.analyses.votes import answers_that_count, votes
from piecework.analyses.votes import votes_that_count as voices
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.errors import ConfigError
from piecework.domain.task import Field
from piecework.domain.verdicts import Label
from piecework.postprocess.aggregates import option_votes
from piecework.results.table import answers_table
from piecework.store import results, reviews
from piecework.store.database import writing
from piecework.store.reviews import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubtful:
    """An item's field on which workers differ, or that a person settled.

    Attributes:
        votes: for each option of the field, its value, label and votes.
        certainty: the probability of the likeliest label, from
            `piecework.analyses.ability` (which estimates the workers' abilities from
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


def settle_label(opened: OpenedCampaign, item_id: str, field: str, value: str, *, by: str) -> None:
    """Settle the label of an item.

    Raises:
        ConfigError: the item, field or option does not exist.
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


def unsettle_label(opened: OpenedCampaign, item_id: str, field: str, *, by: str) -> None:
    """Remove a settled label, so that the answers determine it again.

    Args:
        opened: the campaign.
        item_id: the item.
        field: the field with the label.
        by: the person who asks for it.
    """
    with writing(opened.store):
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
