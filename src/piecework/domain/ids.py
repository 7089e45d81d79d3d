"""Separate types for ids, so that they cannot be mixed up; and items of a HIT as short text.

The text is for the annotation that identifies a HIT. An item's number is its place among
the campaign's item ids in alphabetical order, which does not depend on the order of the
items file. Numbers are written in base 36.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import NewType

ItemId = NewType("ItemId", str)
"""The requester's own id of one thing to work on (for captions: an image)."""

HitKey = NewType("HitKey", str)
"""piecework's stable name for a HIT, known before it is posted: `birds.b2.r0.0007`."""

HitId = NewType("HitId", str)
HitTypeId = NewType("HitTypeId", str)
AssignmentId = NewType("AssignmentId", str)
WorkerId = NewType("WorkerId", str)
QualificationTypeId = NewType("QualificationTypeId", str)

AnswerId = NewType("AnswerId", str)
"""One worker's answer to one item: `<assignment id>.<position in the HIT>`."""


def answer_id(assignment_id: AssignmentId, position: int) -> AnswerId:
    """Return the id of the answer at `position` (from 1) of an assignment."""
    return AnswerId(f"{assignment_id}.{position}")


_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class ItemNumbers:
    """The numbers of a campaign's items.

    Args:
        item_ids: the ids of all its items, in any order.

    >>> numbers = ItemNumbers(["b", "a", "c"])
    >>> numbers.to_text(["c", "a"])
    '2.0'
    >>> numbers.from_text("2.0")
    ('c', 'a')
    """

    def __init__(self, item_ids: Iterable[ItemId]) -> None:
        self._ordered = sorted(item_ids)
        self._numbers = {item_id: number for number, item_id in enumerate(self._ordered)}

    def to_text(self, item_ids: Sequence[ItemId]) -> str:
        """Return the numbers of these items in their order, separated by dots."""
        return ".".join(_to_base_36(self._numbers[item_id]) for item_id in item_ids)

    def from_text(self, text: str) -> tuple[ItemId, ...]:
        """Return the items that a text numbers.

        Raises:
            ValueError: the text is not a list of numbers, or a number has no item.
        """
        numbers = [int(number, 36) for number in text.split(".")]
        if not all(0 <= number < len(self._ordered) for number in numbers):
            raise ValueError(f"{text!r} has the number of an item that the campaign does not have")
        return tuple(self._ordered[number] for number in numbers)


class ItemTags:
    """The same for items that grow: a hash of the id, because numbers would move.

    Args:
        item_ids: returns the ids of all items that are known now.

    >>> tags = ItemTags(lambda: ["a", "b"])
    >>> tags.from_text(tags.to_text(["b", "a"]))
    ('b', 'a')
    """

    def __init__(self, item_ids: Callable[[], Iterable[ItemId]]) -> None:
        self._item_ids = item_ids

    def to_text(self, item_ids: Sequence[ItemId]) -> str:
        """Return the tags of these items in their order, separated by dots."""
        return ".".join(map(_tag, item_ids))

    def from_text(self, text: str) -> tuple[ItemId, ...]:
        """Return the items that a text names.

        Raises:
            ValueError: the text has the tag of an unknown item.
        """
        tags = text.split(".")
        by_tag = {tag: item_id for item_id in self._item_ids() if (tag := _tag(item_id)) in tags}
        if {*tags} - {*by_tag}:
            raise ValueError(f"{text!r} names an item that is not known")
        return tuple(by_tag[tag] for tag in tags)


def _tag(item_id: ItemId) -> str:
    # Two of a million items share a tag once in four million campaigns.
    digest = hashlib.blake2b(item_id.encode(), digest_size=8).digest()
    return _to_base_36(int.from_bytes(digest))


def _to_base_36(number: int) -> str:
    digits = ""
    while True:
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
        if not number:
            return digits
