"""Mix items with known answers among a campaign's own (`[gold]`).

They are treated like the others: dealt at random, shown in the same HITs, asked as
often as the least, priced and paid. So no worker gets one twice, and workers cannot
tell them apart. Heuristics read their known answers (`gold_failed`); datasets leave
them out.
"""

from piecework.config.campaign_file import CampaignFile
from piecework.domain.errors import ConfigError
from piecework.domain.hit import Item
from piecework.domain.task import GOLD, MIXED_IN, PRACTICE, Task
from piecework.domain.text import plural


def with_gold(file: CampaignFile, task: Task, items: tuple[Item, ...]) -> tuple[Item, ...]:
    """Return the items, and as many with known answers as `[gold] share` asks for.

    The first ones of the file are used, so that more can be added to its end.

    Raises:
        ConfigError: the file has too few, one without a known answer, or one with the
            id of an item; or the task has no field with right answers.
    """
    table = file.tables.gold
    if table is None or not items:
        return items
    rated = [field.name for field in task.item_fields if field.expects_variation or field.is_merged]
    if not rated:
        fault = f"{file.at('gold')}: {task.name} has no field with a right answer"
        raise ConfigError([f"{fault}; remove [gold]"])
    path = file.named(table.file)
    there = file.items(task.columns, file=path, is_own=False)
    own = [item for item in items if not item.columns.get(PRACTICE)]
    wanted = max(1, round(table.share * len(own) / (1 - table.share)))
    taken = {item.item_id for item in items}
    where = file.at("gold", "file")
    faults = [
        f"{where}: {path.name}: {item.item_id!r} is already an item of the campaign"
        for item in there
        if item.item_id in taken
    ]
    faults += [
        f"{where}: {path.name}: {item.item_id!r} has no known answer in "
        + " or ".join(f"{GOLD}{name}" for name in rated)
        for item in there
        if not any(item.columns.get(GOLD + name) for name in rated)
    ]
    if len(there) < wanted:
        faults.append(
            f"{file.at('gold', 'share')}: a share of {table.share:g} needs "
            f"{plural(wanted, 'item')} beside the campaign's {len(own)}, but "
            f"{path.name} has {len(there)}"
        )
    if faults:
        raise ConfigError(faults)
    return (*items, *(_mixed_in(item) for item in there[:wanted]))


def all_gold(file: CampaignFile, task: Task) -> tuple[Item, ...]:
    """Return all items with known answers, which later batches mix in as well.

    Raises:
        ConfigError: the file cannot be read.
    """
    table = file.tables.gold
    if table is None:
        return ()
    path = file.named(table.file)
    return tuple(_mixed_in(item) for item in file.items(task.columns, file=path, is_own=False))


def _mixed_in(item: Item) -> Item:
    return Item(item_id=item.item_id, columns={**item.columns, MIXED_IN: "yes"})
