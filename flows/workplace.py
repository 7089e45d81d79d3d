"""What every step of a pass works with: a campaign, its memory, its world, a clock."""

from dataclasses import dataclass

from domain.campaign import Campaign
from domain.clock import Clock
from platforms.ports import Platform
from store.database import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """One campaign at work in one world.

    Attributes:
        is_rehearsal: workers are simulated and no money moves.
        pseudonym_key: keys the hashes that stand for worker ids outside the store.
        at_once: how many calls may be under way at a time. One in a rehearsal, whose
            marketplace shares the process and gives ids in the order of the calls.
    """

    campaign: Campaign
    store: Store
    platform: Platform
    clock: Clock
    is_rehearsal: bool
    pseudonym_key: bytes
    at_once: int = 1
