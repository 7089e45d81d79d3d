"""Prolific as the marketplace sees it: participants who arrive and return."""

import re
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlencode

from piecework.foundation.client.errors import NoAccess
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state.outside_crowd import (
    NO_WAY_BACK,
    Arrival,
    NoEvents,
    Submission,
    WayBack,
)
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging.admission import Admission, Limits, Place
from piecework.markets.prolific.bridge.bridge import NAME
from piecework.markets.prolific.bridge.reading import AT_WORK, GIVEN_BACK, TIMED_OUT
from piecework.markets.prolific.bridge.webhooks import Receiver
from piecework.markets.prolific.client import Prolific
from piecework.markets.prolific.resources.submissions import Submission as Record

CONSENT = (
    (
        "Your answers go to the researchers named above, for the purpose described "
        "here. They do not see your name or your Prolific ID, only a number that "
        "stands for you on this site."
    ),
    (
        "Please write nothing in your answers that could identify you or others. You "
        "may stop at any time before the end; your answers are then not used."
    ),
    (
        "The pages may record how you enter your answers, such as pauses, the times "
        "between keys, and how much is typed or pasted. They do not record what you "
        "delete or paste."
    ),
)

_OVER = {
    "AWAITING REVIEW": "Your submission is finished, and the researchers are "
    "reviewing it. You have nothing left to do; Prolific will show you the result.",
    "APPROVED": "This submission was approved, and Prolific pays you for it. You have "
    "nothing left to do.",
    "PARTIALLY APPROVED": "This submission was approved in part, and Prolific pays "
    "you for that part. You have nothing left to do.",
    "SCREENED OUT": "This submission was screened out, and Prolific pays you the "
    "amount promised for that. You have nothing left to do.",
    "RETURNED": "You have returned this submission, so it is not used and you have "
    "nothing left to do. It does not count against you.",
    "TIMED-OUT": "This submission has timed out at Prolific. It does not count "
    "against you, and the work you submitted is still reviewed.",
    "REJECTED": "This submission was rejected. Prolific shows you the reason.",
}
_ID = re.compile(r"[0-9A-Za-z_-]{8,64}")
_KEYS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")


@dataclass(frozen=True, slots=True)
class _Listed:
    """A study's submissions."""

    places: Mapping[str, Place]

    def place_of(self, arrival: Arrival) -> Place | None:
        """See `marketplace.bridging.admission.Listed`; a list may lag behind."""
        return self.places[arrival.submission_id]


@dataclass(frozen=True, slots=True)
class ProlificRegister:
    """What Prolific says about arrivals.

    Attributes:
        prolific: a client with its own transport and little patience.
    """

    prolific: Prolific

    def place(self, arrival: Arrival) -> Place | None:
        """See `marketplace.bridging.admission.Register`."""
        try:
            return _place(self.prolific.submissions.get(arrival.submission_id))
        except NoAccess:
            return None

    def listed(
        self,
        study_id: str,
        waiting: Collection[Arrival],  # noqa: ARG002 - of the port
    ) -> _Listed:
        """See `marketplace.bridging.admission.Register`."""
        submissions = self.prolific.submissions.of_study(study_id)
        return _Listed({each.id: _place(each) for each in submissions})


@dataclass(frozen=True, slots=True)
class ProlificCrowd:
    """Looks up participants' submissions, within limits.

    Attributes:
        clients: clients with their own transports and little patience.
        completed_url: where a code ends a submission.
        consent: what participants agree to before they begin.
        webhooks: the receiver of webhooks; None accepts none.
        limits: how many calls arriving people may cause.
        pool: where calls wait; None for threads of its own.
    """

    clients: Sequence[Prolific]
    completed_url: str
    consent: Sequence[str] = CONSENT
    webhooks: Receiver | None = None
    name: str = NAME
    market: str = "Prolific"
    link_names: Sequence[str] = _KEYS
    contact: str = "Write to the researchers with Prolific's messages."
    limits: Limits = field(default_factory=Limits)
    pool: Executor | None = None
    _admission: Admission = field(init=False)

    def __post_init__(self) -> None:
        registers = [ProlificRegister(client) for client in self.clients]
        admission = Admission(self.market, registers, self.limits, pool=self.pool)
        object.__setattr__(self, "_admission", admission)

    def close(self) -> None:
        """Let go of the threads."""
        self._admission.close()

    @property
    def has_returns(self) -> bool:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        return True

    @property
    def has_messages(self) -> bool:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        return True

    def pay(self, reward_cents: int) -> str:  # noqa: ARG002 - of the port
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        return ""

    def read_link(self, query: Mapping[str, str]) -> Arrival:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        values = [query.get(key, "") for key in _KEYS]
        if not all(_ID.fullmatch(value) for value in values):
            raise Refusal(
                "VisitRefused", "This link is incomplete. Open the study from Prolific again."
            )
        participant_id, study_id, submission_id = values
        return Arrival(
            participant_id=participant_id, study_id=study_id, submission_id=submission_id
        )

    def link(self, arrival: Arrival) -> Mapping[str, str]:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        values = (arrival.participant_id, arrival.study_id, arrival.submission_id)
        return dict(zip(_KEYS, values, strict=True))

    def settle_on(
        self,
        transaction: Transaction,  # noqa: ARG002 - of the port
        arrival: Arrival,
    ) -> Arrival:
        """See `marketplace.outside_crowd.OutsideCrowd`; links name all of it."""
        return arrival

    async def look_up(self, arrival: Arrival, *, is_known: bool) -> Submission:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        place = await self._admission.look_up(arrival, is_known=is_known)
        return Submission(
            status=place.status,
            started_at=place.started_at,
            over="" if place.status in AT_WORK else self._over(place.status),
        )

    def _over(self, status: str) -> str:
        return _OVER.get(
            status,
            f"{self.market} says that this submission is {status.lower()}, so you "
            "cannot continue it.",
        )

    async def given_back(self, study_id: str) -> Mapping[str, Literal["Left", "Late"]]:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        places = await self._admission.places(study_id)
        return {
            submission_id: "Late" if place.status == TIMED_OUT else "Left"
            for submission_id, place in places.items()
            if place.status in GIVEN_BACK
        }

    def take_event(self, headers: Mapping[str, str], body: bytes) -> None:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        if self.webhooks is None:
            raise NoEvents
        self.webhooks.take(headers, body)

    def way_back(
        self,
        transaction: Transaction,  # noqa: ARG002 - of the port
        visit: sqlite3.Row,
    ) -> WayBack:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        if visit["stage"] != "Done":
            return NO_WAY_BACK
        code = str(visit["code"])
        return WayBack(url=f"{self.completed_url}?{urlencode({'cc': code})}", code=code)


def _place(record: Record) -> Place:
    return Place(
        participant_id=record.participant_id,
        study_id=record.study_id,
        status=record.status,
        started_at=record.started_at,
    )
