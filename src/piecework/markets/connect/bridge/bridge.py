"""The state shared by all parts of a step: the marketplace, Connect, the terms."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from piecework.foundation.client.errors import ApiError
from piecework.marketplace.state.backend import Backend
from piecework.markets.connect.bridge.terms import NAME, Terms
from piecework.markets.connect.client import Connect
from piecework.markets.connect.resources.assignments import Assignment
from piecework.markets.connect.resources.projects import Project, Statistics

LOG = logging.getLogger("piecework.markets.connect.bridge")


@dataclass(slots=True)
class Bridge:
    """A marketplace and Connect together.

    Attributes:
        backend: the marketplace's database, with its own connection.
        connect: the client; it makes one call at a time.
        terms: what the bridge may do.
        assignments: finished assignments as last read, by study (row id).
        statistics: counts as read with them, by study.
        asked: when a decision was asked for, in milliseconds, by assignment and act;
            lists may lag behind it.
        faults: messages about what failed in this step.
        changes: how many calls of this step changed something at Connect.
        is_due_soon: whether something waits for posts to settle.
        listed: projects of the account by internal name, as this step read them.
        is_compared: whether projects were compared since this bridge began.
    """

    name: ClassVar[str] = NAME
    market: ClassVar[str] = "Connect"
    backend: Backend
    connect: Connect
    terms: Terms
    assignments: dict[int, tuple[Assignment, ...]] = field(default_factory=dict)
    statistics: dict[int, Statistics] = field(default_factory=dict)
    asked: dict[tuple[str, str], int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    changes: int = 0
    is_due_soon: bool = False
    listed: dict[str, Project] | None = None
    is_compared: bool = False

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
