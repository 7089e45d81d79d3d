"""Compute the orders that a page's script would record, without running scripts."""

from collections.abc import Mapping

from piecework.domain.hit import Item
from piecework.domain.ids import AssignmentId, ItemId
from piecework.domain.task import Task
from piecework.hit_templates.answers import in_order
from piecework.hit_templates.order import groups_of, item_order, option_order, shuffled
from piecework.simulation.crowd.page import Page


def orders_sent(
    page: Page, task: Task, assignment_id: AssignmentId, items: Mapping[ItemId, Item]
) -> dict[str, list[str]]:
    """Return the values of the hidden fields `order....` when the page is sent."""
    sent: dict[str, list[str]] = {}
    shown = [items[item_id] for item_id in page.item_ids if item_id in items]
    if page.has("order.items"):
        positions = item_order(task, assignment_id, page.item_ids, groups_of(task, shown))
        sent["order.items"] = ["|".join(map(str, positions))]
    for n, item in enumerate(shown, start=1):
        for field in task.item_fields:
            order = option_order(field, assignment_id, item.item_id, in_order(field, item.columns))
            sent[f"order.{field.name}.{n}"] = ["|".join(order)]
        for arrangement in task.arrangements:
            name = arrangement.name
            columns = shuffled(assignment_id, f"{name}.{item.item_id}", arrangement.columns)
            sent[f"order.{name}.{n}"] = ["|".join(columns)]
    return {name: value for name, value in sent.items() if page.has(name)}
