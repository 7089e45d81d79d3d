"""What labels of models are worth: their agreement with people, and the answers that they save."""

import pandas as pd

from piecework.analyses.answers_needed import Replays, replays
from piecework.analyses.labels_from_votes import ability
from piecework.analyses.machine_labels import machine_table
from piecework.analyses.votes import answers_that_count, votes
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.campaign import AsNeeded
from piecework.domain.field import Field
from piecework.report.sections.other_sources import Machine, MachineModel
from piecework.store import results

_MOST_ITEMS = 400
"""Items that are replayed: some ten seconds with ten votes each."""

_USUAL = 0.9
"""How certain labels must be in the replay of a campaign without such a rule."""


def read_machine(opened: OpenedCampaign, answers: pd.DataFrame) -> Machine | None:
    """Return the facts about models; `None` for a campaign without any.

    Args:
        opened: the campaign.
        answers: its decided answers (`piecework.results.table`).
    """
    campaign = opened.campaign
    fields = campaign.task.label_fields
    of_models = [machine_table(campaign.machine, field.name) for field in fields]
    number = next((n for n, table in enumerate(of_models) if table is not None), None)
    if number is None:
        return None
    field, table = fields[number], of_models[number]
    assert table is not None  # noqa: S101 - its number was just looked up
    own = [str(item.item_id) for item in campaign.own_items]
    rows = answers_that_count(answers[answers["item_id"].isin(own)])
    rows = rows.sort_values(["submitted_at", "assignment_id", "position"])
    rows = rows.drop_duplicates(["item_id", "worker"])
    people = _labels_of_models(rows, field, None)
    final = _labels_of_models(rows, field, table)
    for (item_id, name), label in results.load_labels(opened.store).items():
        if name == field.name and item_id in final.index:
            final[item_id] = label.value
    replayed = rows[rows["item_id"].isin(rows["item_id"].unique()[:_MOST_ITEMS])]
    return Machine(
        field=field.name,
        models=tuple(
            _of_model(str(name), of_model, own, people, final)
            for name, of_model in table.groupby("model", sort=True)
        ),
        replays=_replays(opened, replayed, number, table),
        is_rule_its_own=campaign.posting.as_needed is not None,
        answered=rows["item_id"].nunique(),
    )


def _of_model(
    name: str,
    of_model: pd.DataFrame,
    own: list[str],
    people: "pd.Series[str]",
    final: "pd.Series[str]",
) -> MachineModel:
    of_items = of_model.set_index("item_id")["value"]
    of_items = of_items[of_items.index.isin(own)]
    by_people, in_dataset = (
        labels[labels.index.isin(of_items.index)].dropna() for labels in (people, final)
    )
    return MachineModel(
        name=name,
        items=len(of_items),
        with_people=len(by_people),
        as_people=int((of_items.reindex(by_people.index) == by_people).sum()),
        with_final=len(in_dataset),
        as_final=int((of_items.reindex(in_dataset.index) == in_dataset).sum()),
    )


def _labels_of_models(
    rows: pd.DataFrame, field: Field, machine: pd.DataFrame | None
) -> "pd.Series[str]":
    """Return the likeliest label of each item; none if the estimate fails."""
    of_field, options = votes(rows, field), [option.value for option in field.options]
    known = of_field[of_field["value"].isin(options)]
    try:
        return ability(known, values=options, machine=machine).labels["value"].copy()
    except ValueError:
        return pd.Series(dtype="str")


def _replays(
    opened: OpenedCampaign, rows: pd.DataFrame, number: int, machine: pd.DataFrame
) -> Replays | None:
    """Return the replays; `None` without answers."""
    posting = opened.campaign.posting
    if rows.empty:
        return None
    of_fields = [
        (votes(rows, field), [option.value for option in field.options])
        for field in opened.campaign.task.label_fields
    ]
    return replays(
        of_fields,
        number,
        machine,
        posting.as_needed or AsNeeded(most=posting.assignments, until=_USUAL),
        least=posting.assignments if posting.as_needed else 1,
        seed=opened.campaign.rehearsal.seed,
    )
