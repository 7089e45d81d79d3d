"""The order in which a page shows things, reproducible by anyone.

An order depends only on the assignment's id and on the names of what is ordered. A
reload therefore shows the same order, and Python can tell afterwards what the worker
saw. The things are sorted by

    mixed(fnv1a_32(UTF-8 of "<assignment id>|<what>|<name>"))

where `what` names what is ordered (`items`, `<field>.<item id>`), FNV-1a is the 32-bit
hash with its usual offset and prime, and `mixed` is the finalizer of MurmurHash3. FNV
alone would put names that differ only in their last letter into the same order for most
ids. Equal numbers are sorted by name. `_order.js` does the same for the page.
"""

from collections.abc import Sequence

from piecework.domain.field import Field
from piecework.domain.hit import Item
from piecework.domain.task import Task

ITEMS = "items"

_MASK = 0xFFFFFFFF
_OFFSET, _PRIME = 0x811C9DC5, 0x01000193


def rank(assignment_id: str, what: str, name: str) -> int:
    """Return the number that `name` is sorted by, from 0 to 2^32 - 1.

    >>> rank("A1", "items", "img_1")
    2252363590
    """
    hashed = _OFFSET
    for byte in f"{assignment_id}|{what}|{name}".encode():
        hashed = ((hashed ^ byte) * _PRIME) & _MASK
    return _mixed(hashed)


def shuffled(assignment_id: str, what: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names in the assignment's order."""
    return tuple(sorted(names, key=lambda name: (rank(assignment_id, what, name), name)))


def item_order(
    task: Task, assignment_id: str, item_ids: Sequence[str], groups: Sequence[str]
) -> tuple[int, ...]:
    """Return the positions (from 1) of a HIT's items in the order of its page.

    Args:
        task: says whether the items are shuffled, and which stay together.
        assignment_id: the assignment of the page.
        item_ids: the items, in the order of the HIT.
        groups: for each item the value of the column that keeps items together; empty
            if there is no such column.
    """
    positions = range(1, len(item_ids) + 1)
    if not task.shuffles_items:
        return tuple(positions)

    def key(position: int) -> tuple[int, str, int, str]:
        item_id = item_ids[position - 1]
        group = groups[position - 1] if groups else item_id
        return (
            rank(assignment_id, ITEMS, group),
            group,
            rank(assignment_id, ITEMS, f"{group}|{item_id}"),
            item_id,
        )

    return tuple(sorted(positions, key=key))


def groups_of(task: Task, items: Sequence[Item]) -> tuple[str, ...]:
    """Return each item's value in the grouping column; empty without such a column."""
    if not task.group_by:
        return ()
    return tuple(item.columns.get(task.group_by, "") for item in items)


def option_order(
    field: Field, assignment_id: str, item_id: str, offered: Sequence[str]
) -> tuple[str, ...]:
    """Return the values of the options in the order of the page."""
    if not field.shuffled:
        return tuple(offered)
    return shuffled(assignment_id, f"{field.name}.{item_id}", offered)


def _mixed(number: int) -> int:
    number ^= number >> 16
    number = (number * 0x85EBCA6B) & _MASK
    number ^= number >> 13
    number = (number * 0xC2B2AE35) & _MASK
    return number ^ (number >> 16)
