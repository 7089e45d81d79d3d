"""The state shared by all parts of a step: the marketplace, Prolific, the terms."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from piecework.foundation.client.errors import ApiError
from piecework.marketplace.state.backend import Backend
from piecework.markets.prolific.bridge.terms import NAME, Terms
from piecework.markets.prolific.client import Prolific
from piecework.markets.prolific.resources.recruiting import FilterKind
from piecework.markets.prolific.resources.submissions import Submission

LOG = logging.getLogger("piecework.markets.prolific.bridge")


@dataclass(slots=True)
class Bridge:
    """A marketplace and Prolific together.

    Attributes:
        backend: the marketplace's database, with its own connection.
        prolific: the client; it makes one call at a time.
        terms: what the bridge may do.
        submissions: as last read, by study (row id) and submission.
        counts: by status and study, as read with `submissions`.
        approving: when Prolific was asked to approve a submission, in milliseconds; it
            approves some time after its answer.
        members: of participant groups, as last read or changed.
        filter_kinds: the filters Prolific offers, read once.
        faults: messages about what failed in this step.
        changes: how many calls of this step changed something at Prolific.
        is_due_soon: whether something waits for posts to settle.
        is_throttled: whether Prolific refused a study in this step because of too many
            calls.
        rests_until_ms: until when it asked to wait, by the monotonic clock.
        listed: studies of the project by internal name, as this step read them.
        suspects_before_ms: a submission begun before this time, ended by its code and
            without answers here may have lost them; None is the server's start.
        is_compared: whether studies and bonuses were compared since this bridge began.
        began_ms: when the comparison began, by the monotonic clock.
        paying_ms: likewise, when each batch of bonuses was paid or first checked.
    """

    name: ClassVar[str] = NAME
    market: ClassVar[str] = "Prolific"
    backend: Backend
    prolific: Prolific
    terms: Terms
    submissions: dict[int, dict[str, Submission]] = field(default_factory=dict)
    counts: dict[int, dict[str, int]] = field(default_factory=dict)
    approving: dict[str, int] = field(default_factory=dict)
    members: dict[str, set[str]] = field(default_factory=dict)
    filter_kinds: dict[str, FilterKind] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    changes: int = 0
    is_due_soon: bool = False
    is_throttled: bool = False
    rests_until_ms: int = 0
    listed: dict[str, str] | None = None
    suspects_before_ms: int | None = None
    is_compared: bool = False
    began_ms: int = 0
    paying_ms: dict[int, int] = field(default_factory=dict)

    def tried(self, act: Callable[[], None]) -> None:
        """Run a part of a step; the next step repeats refused or lost calls."""
        changes = self.changes
        try:
            act()
        except ApiError as fault:
            if fault.outcome == "refused":
                self.changes = changes  # A refused call needs no quick retry.
            LOG.warning("%s", fault)
            self.faults.append(str(fault))
