"""The events in a crowd, for progress displays, tests and reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from piecework.domain.ids import AssignmentId, HitId
from piecework.simulation.crowd.intentions import Intention
from piecework.simulation.crowd.page import Page
from piecework.simulation.crowd.people import Worker
from piecework.simulation.crowd.site import Accepted

EventKind = Literal["arrive", "test", "accept", "submit", "return", "abandon", "late"]
"""`abandon` is reaching the time limit; `late` is work that came too late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that a worker did or failed to do."""

    at: datetime
    handle: str
    kind: EventKind
    hit_id: HitId | None = None
    assignment_id: AssignmentId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """The result of one stretch of work.

    Attributes:
        calls: the number of requests sent to the marketplace.
        ended_at: the marketplace's time at the end.
        is_idle: whether no worker could do anything more, even by waiting.
    """

    events: int
    submitted: int
    returned: int
    abandoned: int
    late: int
    calls: int
    ended_at: datetime
    is_idle: bool


@dataclass(slots=True, kw_only=True)
class InHand:
    """An accepted HIT and its worker's plan for it.

    Attributes:
        form: the form to send, once it is filled in.
    """

    worker: Worker
    accepted: Accepted
    page: Page
    intention: Intention
    form: Mapping[str, Sequence[str]] | None = None
