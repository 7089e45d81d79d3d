"""Feedback for workers who were wrong about items with known answers (`[gold]`).

It is sent with the decision about their work (`RequesterFeedback`): after the work is
done and cannot be changed, and only to workers who were wrong. A page that gave this
feedback at once would hold the answers in its source and show which items are gold.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from piecework.domain.campaign import Campaign
from piecework.domain.hit import Item
from piecework.domain.tables import value_column
from piecework.domain.task import GOLD, GOLD_BECAUSE, MIXED_IN, Field
from piecework.hit_templates.values import typed
from piecework.qc.gold import wrong_answers
from piecework.qc.heuristics import gold_failed
from piecework.qc.ratings import with_ratings
from piecework.qc.registry import params_of


def feedback_by_assignment(
    campaign: Campaign, answers: pd.DataFrame, items: Iterable[Item]
) -> Mapping[str, str]:
    """Return the feedback for the workers of some assignments, by assignment.

    Args:
        campaign: without `feedback` the result is empty.
        answers: of these assignments, a row each (`piecework.domain.tables`).
        items: the items that they are about.

    Returns:
        Only assignments with a wrong answer about an item that was mixed in.
    """
    gold = {str(i.item_id): i for i in items if i.columns.get(MIXED_IN)}
    about = answers[answers["item_id"].isin(list(gold))]
    if not campaign.tells_gold or about.empty:
        return {}
    params = params_of(gold_failed, campaign.heuristics, seed=0)
    table = with_ratings(about, campaign.task, gold.values())
    fields = {field.name: field for field in campaign.task.item_fields}
    words_by_assignment: dict[str, list[str]] = defaultdict(list)
    for name, wrong in wrong_answers(table, params.tolerance):
        for row in wrong.sort_values("place").to_dict("records"):
            words = _about(fields[name], row, gold[row["item_id"]])
            words_by_assignment[row["assignment_id"]].append(words)
    return {assignment: " ".join(words) for assignment, words in words_by_assignment.items()}


def with_room(words: str, *, feedback: str, longest: int) -> str:
    """Join a reason and the feedback, cut to `longest` characters."""
    both = " ".join(filter(None, (words, feedback)))
    return both if len(both) <= longest else both[: longest - 1].rstrip() + "…"


def _about(field: Field, row: Mapping[Any, Any], item: Item) -> str:
    expected = typed(field, item.columns[GOLD + field.name])
    right = _named(field, expected, item)
    own = _named(field, row[value_column(field)], item)
    because = " ".join(item.columns.get(GOLD_BECAUSE, "").split())
    words = (
        f"The answer to item {row['place']} of this HIT was known in advance. "
        f'To "{field.label}" you answered "{own}"; the known answer is "{right}".'
    )
    return f"{words} {because}" if because else words


def _named(field: Field, value: object, item: Item) -> str:
    """Return a value with the labels that the worker read."""
    if isinstance(value, float | int):
        return f"{value:g}"
    labels = {
        option.value: item.columns.get(option.column, "") or option.label
        for option in field.options
    }
    values = [value] if isinstance(value, str) else list(value or ())  # type: ignore[call-overload]
    return ", ".join(labels.get(chosen, str(chosen)) for chosen in values)
