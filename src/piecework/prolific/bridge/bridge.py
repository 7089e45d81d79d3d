"""What every part of a step uses: the marketplace, Prolific, the terms."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from piecework.marketplace.state.backend import Backend
from piecework.prolific.bridge.terms import Terms
from piecework.prolific.client import Prolific
from piecework.prolific.http.errors import ProlificError
from piecework.prolific.resources.recruiting import FilterKind
from piecework.prolific.resources.submissions import Submission

LOG = logging.getLogger("piecework.prolific.bridge")


@dataclass(slots=True)
class Bridge:
    """A marketplace and Prolific, seen together.

    Attributes:
        backend: the marketplace's database, by a connection of its own.
        prolific: the client; its calls leave one at a time.
        terms: what may be done.
        submissions: as they were read last, by study (row id) and submission.
        counts: by status and study, as they were when `submissions` were read.
        approving: when Prolific was asked to approve a submission, in milliseconds; it
            does so a while after its answer.
        members: of participant groups, as they were read or changed last.
        filter_kinds: what Prolific offers, read once.
        faults: sentences of what failed in this step.
        changes: how many calls of this step changed something at Prolific.
        is_due_soon: whether something waits for posts to settle.
        listed: studies of the project by internal name, as this step read them.
        suspects_before_ms: who began a submission before this, ended it by its code
            and has no answers here may have lost them; None is the server's start.
        is_compared: whether studies and bonuses were compared since this bridge began.
        began_ms: when it began to compare them, by the steady clock.
        paying_ms: likewise, when each batch of bonuses was paid or first looked for.
    """

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
    listed: dict[str, str] | None = None
    suspects_before_ms: int | None = None
    is_compared: bool = False
    began_ms: int = 0
    paying_ms: dict[int, int] = field(default_factory=dict)

    def tried(self, act: Callable[[], None]) -> None:
        """Do a part of a step; what Prolific refuses or loses is kept for the next."""
        changes = self.changes
        try:
            act()
        except ProlificError as fault:
            if fault.outcome == "refused":
                self.changes = changes  # Nobody need hurry to be refused again.
            LOG.warning("%s", fault)
            self.faults.append(str(fault))
