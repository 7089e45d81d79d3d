"""Prolific's participants at a marketplace: their crowd, and what serves them."""

import json
import re
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, Literal
from urllib.parse import urlencode

from piecework.foundation.client.errors import NoAccess, Unusable
from piecework.foundation.client.transport import Transport
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.state.money import PriceList
from piecework.marketplace.state.outside_crowd import (
    Arrival,
    NoEvents,
    OutsideCrowd,
    Submission,
    WayBack,
)
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import eligibility
from piecework.markets.bridging.accounts import Account, waiting_clients
from piecework.markets.bridging.admission import (
    NO_LIMITS,
    AdmittedCrowd,
    Limits,
    Place,
    usual_consent,
)
from piecework.markets.prolific.bridge import (
    bonuses,
    deciding,
    reading,
    reconciling,
    recruiting,
    requirements,
    studies,
    study_drafts,
)
from piecework.markets.prolific.bridge.bridge import NAME, Bridge, Terms, send
from piecework.markets.prolific.bridge.reading import AT_WORK, GIVEN_BACK, TIMED_OUT
from piecework.markets.prolific.bridge.status import LastStart, last_start, price_list
from piecework.markets.prolific.bridge.studies import (
    HALTED_THERE,
    bring_out,
    retire,
    start_again,
    stop,
)
from piecework.markets.prolific.bridge.webhooks import Receiver
from piecework.markets.prolific.calling import PROLIFIC, Token
from piecework.markets.prolific.client import Prolific
from piecework.markets.prolific.resources.submissions import Submission as Record

CONSENT = usual_consent("your Prolific ID")
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
class ProlificCrowd(AdmittedCrowd[Prolific]):
    """Looks up participants' submissions, within limits.

    Attributes:
        completed_url: where a code ends a submission.
        webhooks: the receiver of webhooks; None accepts none.
    """

    name: ClassVar[str] = NAME
    market: ClassVar[str] = "Prolific"
    link_names: ClassVar[Sequence[str]] = _KEYS
    contact: ClassVar[str] = "Write to the researchers with Prolific's messages."
    has_returns: ClassVar[bool] = True
    completed_url: str
    webhooks: Receiver | None = None
    consent: Sequence[str] = field(default=CONSENT, kw_only=True)

    def register(self, client: Prolific) -> ProlificRegister:
        """See `AdmittedCrowd`."""
        return ProlificRegister(client)

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

    def way_back(self, transaction: Transaction, visit: sqlite3.Row) -> WayBack:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        way = OutsideCrowd.way_back(self, transaction, visit)
        return (
            replace(way, url=f"{self.completed_url}?{urlencode({'cc': way.code})}")
            if way.code
            else way
        )


def _place(record: Record) -> Place:
    return Place(
        participant_id=record.participant_id,
        study_id=record.study_id,
        status=record.status,
        started_at=record.started_at,
    )


PROJECT = "piecework"
"""The default project for studies."""

_COMPLETED = "https://app.prolific.com/submissions/complete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Office(Account[Bridge]):
    """An account at Prolific that a marketplace can use.

    Attributes:
        prolific: the bridge's client.
        terms: the terms of its studies.
    """

    name: ClassVar[str] = NAME
    title: ClassVar[str] = "Prolific"
    crowd: ProlificCrowd
    prolific: Prolific
    terms: Terms

    def start(self) -> LastStart:
        """See `Account`."""
        return last_start(self.address, self.terms)

    def begun(self, backend: Backend) -> Bridge:
        """See `Account`."""
        bridge = Bridge(backend, self.prolific, self.terms)
        # Requesters may require filters from their first call on.
        bridge.tried(partial(requirements.offer, bridge))
        return bridge


@contextmanager
def office(
    address: str, token: Token, terms: Terms, *, consent: tuple[str, ...] = CONSENT
) -> Iterator[Office]:
    """Open an account, and fill in from it what the terms leave open.

    Args:
        address: the API's address.
        token: the account's token.
        terms: the terms, with workspace and currency; no project means `PROJECT`.
        consent: the paragraphs that participants agree to.

    Raises:
        Refused: the account cannot be used with these terms.
    """
    with ExitStack() as stack:
        prolific = Prolific(stack.enter_context(Transport(address, token)))
        crowd = stack.enter_context(crowd_at(address, token, consent=consent))
        balance = prolific.account.balance(terms.workspace_id)
        if balance.currency != terms.currency:
            raise Unusable(
                f"the workspace is in {balance.currency}, not in {terms.currency}",
                next_step=f"use a workspace in {terms.currency}",
            )
        filled_in = _filled_in(prolific, terms)
        prices = price_list(
            prolific, terms.currency, least_per_hour_cents=filled_in.least_per_hour_cents
        )
        yield Office(
            prolific=prolific, crowd=crowd, prices=prices, address=address, terms=filled_in
        )


@contextmanager
def crowd_at(
    address: str, token: Token, *, consent: tuple[str, ...] = CONSENT, limits: Limits | None = None
) -> Iterator[ProlificCrowd]:
    """Return a marketplace's interface to participants, with its own connections."""
    with (
        waiting_clients(address, token, Prolific) as waiting,
        closing(
            ProlificCrowd(
                waiting, _completed_url(address), consent=consent, limits=limits or Limits()
            )
        ) as crowd,
    ):
        yield crowd


OFFLINE_TOKEN = Token("rehearsal")
"""An offline Prolific accepts any token."""


def rehearsed_crowd(address: str, _prices: PriceList) -> AbstractContextManager[ProlificCrowd]:
    """Return the same for an offline Prolific, whose participants arrive at once."""
    return crowd_at(address, OFFLINE_TOKEN, limits=NO_LIMITS)


def _filled_in(prolific: Prolific, terms: Terms) -> Terms:
    least = recommended = 0
    for each in prolific.recruiting.reward_recommendations(terms.workspace_id, terms.currency):
        if each.currency == terms.currency:
            least = each.least_per_hour_minor
            recommended = each.recommended_per_hour_minor
    return replace(
        terms,
        project_id=terms.project_id or _project(prolific, terms.workspace_id),
        least_per_hour_cents=least,
        recommended_per_hour_cents=recommended,
    )


def _project(prolific: Prolific, workspace_id: str) -> str:
    """Return the project for studies, creating it if it does not exist."""
    for project in prolific.account.projects(workspace_id):
        if project.title == PROJECT:
            return project.id
    return prolific.account.create_project(workspace_id, PROJECT).id


def _completed_url(address: str) -> str:
    """Return where submissions are ended; an emulator serves that page itself."""
    return _COMPLETED if address == PROLIFIC else f"{address}/submissions/complete"


def step(bridge: Bridge) -> bool:
    """Update Prolific to match the marketplace; return whether a call changed it.

    It reads the state, then updates who may take part, then carries out decisions, then
    pays. Nothing is published or paid before the file is compared with Prolific.
    """
    bridge.is_throttled = False
    return bridge.made_step(
        reconciling.compare_studies,
        (
            (requirements.offer, False),
            (reading.read_prolific, False),
            (recruiting.keep_in_step, False),
            (studies.recruit, True),
            (screen, True),
            (deciding.decide, False),
            (bonuses.pay_at_prolific, True),
            (send, False),
        ),
    )


_LACKING = (
    "SELECT studies.id, studies.hit_type, studies.places, studies.trouble, "
    "hit_types.requirements FROM studies "
    "JOIN hit_types ON hit_types.id = studies.hit_type "
    f"WHERE studies.market = '{NAME}' AND studies.qualification_type IS NULL "
    "AND studies.let_in_group IS NOT NULL "
    "AND (studies.stage = 'Draft' OR studies.status IN ('PUBLISHING', 'ACTIVE'))"
)
_TESTED = (
    "SELECT qualification_types.*, tests.duration_seconds FROM qualification_types "
    "JOIN tests ON tests.id = qualification_types.test "
    "WHERE qualification_type_id = ? AND is_requestable = 1 "
    "AND qualification_types.status = 'Active' AND deleted_ms IS NULL"
)
_PASSED = (
    "SELECT count(*) FROM participants JOIN qualifications "
    "ON qualifications.worker = participants.worker "
    f"WHERE market = '{NAME}' AND qualification_type = ? "
    "AND qualifications.status = 'Granted'"
)

_REVIVE_HALTED = (
    "UPDATE studies SET stage = 'Published' WHERE stage = 'Retired' AND halted_by = '' "
    f"AND status IN {reading.ENDED} AND id = (SELECT max(id) FROM studies "
    f"WHERE qualification_type = ? AND market = '{NAME}') RETURNING id"
)
"""Reads a screening again that a person stopped: no other takes its place."""


def screen(bridge: Bridge) -> None:
    """Offer tests where too few participants hold a required qualification."""
    with bridge.backend.reading() as transaction:
        lacking = transaction.all(_LACKING)
        at_work = transaction.all(
            "SELECT * FROM studies WHERE qualification_type IS NOT NULL "
            f"AND market = '{NAME}' AND stage <> 'Retired'"
        )
        needed = {kind["id"] for study in lacking for kind in _tests_for(transaction, study)}
    for study in at_work:
        is_needed = study["qualification_type"] in needed
        bridge.tried(partial(_follow, bridge, study, is_needed=is_needed))
    for study in () if reading.why_not_publish(bridge) else lacking:
        bridge.tried(partial(_offer, bridge, study))


def _tests_for(transaction: Transaction, study: sqlite3.Row) -> list[sqlite3.Row]:
    """Return the qualification types with a test that a study requires."""
    kinds = [
        transaction.first_row(_TESTED, requirement["QualificationTypeId"])
        for requirement in requirements.custom(json.loads(study["requirements"]))
        if not eligibility.meets(requirement, None)
    ]
    return [kind for kind in kinds if kind is not None]


def _follow(bridge: Bridge, study: sqlite3.Row, *, is_needed: bool) -> None:
    """Publish a wanted screening, or start it again; end one that is no longer needed."""
    if study["stage"] in ("Wanted", "Draft"):
        bring_out(bridge, study["id"], _hit_type(bridge, study["hit_type"]))
        return
    taken = reading.places_taken(bridge, study["id"])
    is_halted = bridge.stays_halted(study, HALTED_THERE, is_needed=is_needed)
    with bridge.saying_refusals(study):
        if not is_needed and study["status"] in ("ACTIVE", "PAUSED"):
            stop(bridge, study)
        elif not is_needed and is_halted:
            retire(bridge, "id = ?", study["id"])
        elif study["status"] == "PAUSED" and taken is not None and not is_halted:
            if taken < study["places"] and study["halted_by"] != "Market":
                start_again(bridge, study, study["places"] - taken)
            else:
                stop(bridge, study)


def _offer(bridge: Bridge, study: sqlite3.Row) -> None:
    hit_type = _hit_type(bridge, study["hit_type"])
    with bridge.backend.reading() as transaction:
        due = [
            kind
            for kind in _tests_for(transaction, study)
            if _are_too_few(transaction, kind, study)
        ]
    for kind in due:
        with bridge.backend.transaction() as transaction:
            if transaction.all(_REVIVE_HALTED, kind["id"]):
                continue
        if not bridge.terms.screening_cents:
            bridge.say(
                study,
                f"too few participants hold {kind['name']!r}: set the pay for its "
                "test (--screening-pay), or grant it in another way",
            )
            continue
        with bridge.backend.transaction() as transaction:
            screening = study_drafts.write(
                bridge, transaction, hit_type, _shape(bridge, kind), qualification_type=kind["id"]
            )
        bring_out(bridge, screening, hit_type)


def _shape(bridge: Bridge, kind: sqlite3.Row) -> study_drafts.Shape:
    pay = bridge.terms.screening_cents
    return study_drafts.Shape(
        hits=0,
        reward_cents=pay,
        seconds=study_drafts.seconds_for(bridge, pay),
        # The test plus a minute to read the introduction.
        allowed_seconds=kind["duration_seconds"] + 60,
        places=bridge.terms.screening_places,
    )


def _are_too_few(transaction: Transaction, kind: sqlite3.Row, study: sqlite3.Row) -> bool:
    """Return whether too few hold a qualification and no test is open."""
    is_tested = transaction.first_row(
        "SELECT 1 FROM studies WHERE qualification_type = ? AND stage <> 'Retired'", kind["id"]
    )
    passed = transaction.first_row(_PASSED, kind["id"])
    return is_tested is None and (passed is None or passed[0] < study["places"])


def _hit_type(bridge: Bridge, hit_type: int) -> sqlite3.Row:
    with bridge.backend.reading() as transaction:
        row = transaction.first_row("SELECT * FROM hit_types WHERE id = ?", hit_type)
    if row is None:
        raise LookupError(f"no HIT type has the row id {hit_type}")
    return row
