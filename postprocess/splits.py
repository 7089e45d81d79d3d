"""Which split an image belongs to: decided by its id alone, once and for all.

A shuffled list would move images between train and test whenever one is added, and
what was once trained on must never be tested on. So each id is hashed with a salt, and
thresholds on the hash make the shares; all answers about an item follow their item.
"""

import hashlib
from dataclasses import dataclass
from typing import Literal

from domain.ids import ItemId

Split = Literal["train", "val", "test"]
SPLITS: tuple[Split, ...] = ("train", "val", "test")

_BYTES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """How the items are divided, in per cent; the rest is the test split.

    Another salt draws another division; keep it for as long as the dataset lives.
    """

    train_percent: int = 70
    val_percent: int = 10
    salt: str = "piecework"


def split_of(item_id: ItemId, shares: Shares = Shares()) -> Split:
    """The split of an item; the same whatever other items there are."""
    digest = hashlib.sha256(f"{shares.salt}\x00{item_id}".encode()).digest()
    place = int.from_bytes(digest[:_BYTES], "big") * 100
    if place < shares.train_percent << 8 * _BYTES:
        return "train"
    if place < shares.train_percent + shares.val_percent << 8 * _BYTES:
        return "val"
    return "test"
