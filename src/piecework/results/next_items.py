"""The items of the next campaign, from the labels of one that has answers.

*Guidelines for image description error analysis* (2017) has three tasks in a row: is a
description congruent with its image, what is wrong with those that are not, and what is
gained by correcting each kind of error. Each takes what the one before it labelled. A
task's `follows` says which tasks it can take items from.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.errors import ConfigError
from piecework.domain.hit import Item
from piecework.domain.task import GOLD, TRUTH, TWIN, TWIN_REVERSED, Follows, Task
from piecework.domain.text import shell_word
from piecework.domain.verdicts import Label
from piecework.engine.judge import proposed_verdicts
from piecework.postprocess.aggregates import item_aggregates
from piecework.postprocess.datasets.file_table import to_csv
from piecework.results.table import answers_table, hidden_ids
from piecework.store import results
from piecework.store.files import write_whole

Row = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NextItems:
    """The items of the next campaign, and what did not become one.

    Attributes:
        rows: the cells of each item by column.
        unlabelled: items without a label: no answers that count, or a tie.
        other_labels: how many items have which other labels.
        missing: columns that the task needs and no item has; they are written empty.
    """

    rows: tuple[Row, ...]
    unlabelled: int
    other_labels: Mapping[str, int]
    missing: tuple[str, ...]


def write_next_items(opened: OpenedCampaign, task: Task, path: Path) -> NextItems:
    """Write the items of a campaign of `task` as CSV.

    Raises:
        ConfigError: the task does not follow the campaign's, or no item has a label
            that it takes.
    """
    items = next_items(opened, task)
    if not items.rows:
        raise ConfigError(
            [f"no item of {opened.campaign.path} has a label that {task.name} takes"],
            next_step="look at the labels: piecework data analyse "
            f"{shell_word(opened.campaign.path)}",
        )
    names = list(dict.fromkeys(name for row in items.rows for name in row))
    ids = hidden_ids(opened)
    cells = {name: [ids.named(name, row.get(name, "")) for row in items.rows] for name in names}
    write_whole(path, lambda file: file.write(to_csv(cells, are_items=True)))
    return items


def next_items(opened: OpenedCampaign, task: Task) -> NextItems:
    """Return the items that a campaign's labels give to `task`.

    A label is what most workers chose, or what a person settled; of a field with
    several choices, each category that more than half ticked. Items that were mixed in
    to check workers, and second questions about an item, are left out; so are the
    campaign's own known answers. Other columns stay, and the label is added in a column
    with the field's name. A column `<task>.truth.<field>` becomes `truth.<field>`, so a
    chain of campaigns can be rehearsed.

    Raises:
        ConfigError: the task does not follow the campaign's.
    """
    campaign = opened.campaign
    follows = _follows(campaign.task, task)
    items = [item for item in campaign.own_items if not item.columns.get(TWIN)]
    labelled = _labels(opened, items, follows)
    allowed = task.column_values.get(follows.column, ()) if follows.column else ()
    rows: list[Row] = []
    others = Counter[str]()
    unlabelled = 0
    for item in items:
        own = labelled[str(item.item_id)]
        taken = [
            label
            for label in own
            if (not follows.options or label in follows.options)
            and (not allowed or label in allowed)
        ]
        unlabelled += not own
        others.update(label for label in own if label not in taken)
        if taken:
            rows += _rows(item, taken, campaign.task, task, follows)
    missing = [name for name in task.columns if not any(row.get(name) for row in rows)]
    return NextItems(
        rows=tuple({**dict.fromkeys(missing, ""), **row} for row in rows),
        unlabelled=unlabelled,
        other_labels=dict(others.most_common()),
        missing=tuple(missing),
    )


def _follows(earlier: Task, task: Task) -> Follows:
    fields = {field.name for field in earlier.fields}
    for follows in task.follows:
        if follows.task == earlier.name and follows.field in fields:
            return follows
    known = ", ".join(follows.task for follows in task.follows)
    raise ConfigError(
        [
            f"{task.name} does not take its items from {earlier.name}; "
            + (f"it takes them from: {known}" if known else "it follows no task")
        ],
        next_step="[[follows]] of a task.toml says what a task takes: "
        "docs/reference/task-folder.md",
    )


def _labels(
    opened: OpenedCampaign, items: Sequence[Item], follows: Follows
) -> dict[str, tuple[str, ...]]:
    """Return the labels of each item; none for a tie or without answers."""
    task = opened.campaign.task
    proposed = proposed_verdicts(opened)
    table = answers_table(opened, proposed=proposed)
    table = table[~table["is_provisional"] | table.index.isin(proposed)]
    ids = [str(item.item_id) for item in items]
    aggregates = [
        aggregate
        for aggregate in task.aggregates
        if aggregate.field == follows.field and aggregate.kind in {"majority", "shares"}
    ]
    if not aggregates:
        raise ConfigError([f"{task.name} gives its items no label in {follows.field}"])
    whole = item_aggregates(table, ids, task.fields, aggregates[:1], are_all=False)
    name = follows.field
    several = aggregates[0].kind == "shares"
    column = whole[f"{name}_majority" if several else name]
    settled = results.load_labels(opened.store)
    return {item_id: _label(column[item_id], settled.get((item_id, name))) for item_id in ids}


def _label(value: object, settled: Label | None) -> tuple[str, ...]:
    if settled is not None:
        return (settled.value,)
    if isinstance(value, tuple):
        return value
    return (value,) if isinstance(value, str) and value else ()


def _rows(
    item: Item, taken: Sequence[str], earlier: Task, task: Task, follows: Follows
) -> Iterator[Row]:
    answered = {field.name for field in earlier.fields}
    left_out = {
        earlier.columns[0],
        task.columns[0],
        TWIN,
        TWIN_REVERSED,
        follows.field,
        *(f"{TRUTH}{name}" for name in answered),
    }
    # `correction.truth.outcome` is a truth for rehearsals of a later task.
    own_truth = f"{task.name}.{TRUTH}"
    kept = {
        name.removeprefix(f"{task.name}.") if name.startswith(own_truth) else name: cell
        for name, cell in item.columns.items()
        if name not in left_out and not name.startswith(GOLD)
    }
    for label in taken if follows.column else taken[:1]:
        suffix = f"_{label}" if follows.column else ""
        own = {follows.column: label} if follows.column else {}
        yield {
            task.columns[0]: f"{item.item_id}{suffix}",
            **kept,
            **own,
            follows.field: "|".join(taken),
        }
