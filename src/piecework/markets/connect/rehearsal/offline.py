"""The offline Connect for a rehearsal, with simulated participants.

A participant begins a project there, opens the link, agrees, does HIT after HIT and
enters the code. Or they give up or come too late. Some enter the code only later.

The emulator runs in a thread of this process and keeps its state in a file beside the
store. This module makes the bridge's steps when the participants' time requires them,
so the timing of threads decides nothing.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from offline_markets.connect.offline_connect import ControlRefusedError, OfflineConnect
from offline_markets.connect.options import Options
from offline_markets.connect.server import serving
from offline_markets.core.database import WrongDatabaseError
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.ids import WorkerId
from piecework.markets.bridging.accounts import settle_bridge
from piecework.markets.connect.bridge.bridge import Bridge, Terms
from piecework.markets.connect.bridge.serving import OFFLINE_KEY, office, step
from piecework.markets.connect.bridge.targeting import NOBODY_HOLDS
from piecework.markets.connect.market import MARKET
from piecework.platforms.clocks import START
from piecework.simulation.crowd.people import Person, Worker
from piecework.simulation.crowd.site import ConflictError
from piecework.simulation.crowd.visit_site import BridgedSite, Visit
from piecework.simulation.rehearsals.outside import OfflineBridged, own_file
from piecework.simulation.seeded_rng import seeded_rng

_WRONG_CODE, _LATER = 0.02, 0.05
"""Shares of visits that end with a wrong code, or whose code is entered later."""

_MUCH_LATER = timedelta(minutes=20)

_AT_WORK = "InProgress"


class ConnectSite(BridgedSite):
    """The site for participants; a worker's `token` is the participant's id.

    Args, beside those of `BridgedSite`:
        connect: the offline Connect; its clock is moved too.
    """

    def __init__(
        self,
        endpoint_url: str,
        now: datetime,
        *,
        connect: OfflineConnect,
        seed: int,
        bridge: Callable[[datetime], None],
        worker_id: Callable[[str], WorkerId],
    ) -> None:
        super().__init__(endpoint_url, now, seed=seed, bridge=bridge, worker_id=worker_id)
        self._connect = connect
        self._connect_now = connect.now()
        self._known = connect.participants()
        self._registered = 0
        self._to_enter: list[tuple[datetime, str, str]] = []

    def register(self, person: Person) -> Worker:
        """See `Site`; participants are assigned in order of creation."""
        if self._registered < len(self._known):
            participant = self._known[self._registered]
        else:
            participant = self._connect.participant()
        self._registered += 1
        worker = Worker(person=person, worker_id=self._worker_id(participant), token=participant)
        for each in self._connect.assignments(participant):
            if each["status"] == _AT_WORK:  # An earlier crowd was killed.
                self._visits[participant] = _visit(each["projectId"], each)
        return worker

    def group_ids(self, worker: Worker) -> tuple[str, ...]:
        """See `Site`; here a group is a project."""
        visit = self._visits.get(worker.token)
        if visit is not None:
            return (visit.study,)
        self._move_connect()
        return tuple(self._connect.open_projects(worker.token))

    def look_after(self) -> bool:
        """See `Site`; late codes are entered, and the bridge makes steps."""
        for entry in [each for each in self._to_enter if each[0] <= self.now]:
            self._to_enter.remove(entry)
            _, assignment, code = entry
            self._enter(assignment, code)
        self._move_connect()
        self._bridge(self.now)
        return True

    def books(self) -> dict[str, Any]:
        """Return the offline Connect's books."""
        return self._connect.books()

    def _take_place(self, worker: Worker, study: str) -> Visit:
        self._move_connect()
        try:
            taken = self._connect.arrive(study, worker.token)
        except ControlRefusedError as refusal:
            raise ConflictError(str(refusal), code="Connect") from refusal
        made = {"assignmentId": taken.assignment_id, "url": taken.url}
        visit = self._visits[worker.token] = _visit(study, made)
        return visit

    def _finish(self, worker: Worker, visit: Visit, document: Mapping[str, Any]) -> None:
        """Enter the code at Connect, as carefully as this participant does."""
        code = str(document["code"])
        rng = seeded_rng(self._seed, worker.person.handle, visit.submission, "code")
        lot = rng.random()
        if lot < _LATER:
            at = self.now + _MUCH_LATER
            self._to_enter.append((at, visit.submission, code))
            return
        wrong = code[::-1]
        self._enter(visit.submission, wrong if lot < _LATER + _WRONG_CODE else code)

    def _enter(self, assignment: str, code: str) -> None:
        self._move_connect()
        try:
            self._connect.complete(assignment, code)
        except ControlRefusedError:
            return  # It has timed out there.

    def _give_place_back(self, worker: Worker, visit: Visit) -> None:  # noqa: ARG002 - of the port
        self._move_connect()
        try:
            self._connect.give_back(visit.submission)
        except ControlRefusedError:
            return  # It has timed out there.

    def _move_connect(self) -> None:
        if self.now > self._connect_now:
            self._connect.advance(self.now - self._connect_now)
            self._connect_now = self.now


def _visit(project: str, begun: Mapping[str, Any]) -> Visit:
    return Visit(
        study=project,
        submission=str(begun["assignmentId"]),
        link=dict(parse_qsl(urlsplit(str(begun["url"])).query)),
    )


_SITE = "https://piecework.example"
"""The host in projects' links, since the marketplace's port changes each time."""

_GRACE = timedelta(hours=2)
"""Longer than a finished assignment may take to be listed."""


@contextmanager
def offline_market(campaign: Campaign) -> Iterator[OfflineBridged[Bridge]]:
    """Serve the campaign's own offline Connect, with a file beside the store.

    Raises:
        ConfigError: participants of Connect cannot work on this campaign.
        StoreError: the file belongs to something else.
    """
    _check(campaign)
    options = Options(
        database=campaign.out / MARKET.files[0],
        seed=campaign.rehearsal.seed,
        fee_percent=Decimal(campaign.rewards.fees_on(START.date()).percent),
        balance=_most_cents(campaign),
        start=START,
    )
    terms = Terms(
        site_url=_SITE,
        is_live=True,
        spend_at_most_cents=_most_cents(campaign),
        hit_seconds=campaign.rewards.expected_seconds or 0,
        # A pass has posted all of its HITs when the bridge looks.
        settle_seconds=0,
    )
    with (
        own_file(WrongDatabaseError),
        serving(options) as controls,
        office(controls.address, OFFLINE_KEY, terms) as account,
    ):
        yield OfflineBridged(
            address=controls.address,
            account=account,
            settle=partial(settle_bridge, step),
            no_holders=NOBODY_HOLDS,
            site=partial(ConnectSite, connect=controls),
            grace=_GRACE,
            accounts=("payments", "bonuses", "fees"),
        )


def _check(campaign: Campaign) -> None:
    if campaign.qualification is not None:
        raise ConfigError(
            [f"{campaign.path}: participants of Connect take no qualification tests"],
            next_step="leave out qualification, or rehearse without --crowd connect",
        )
    if campaign.rewards.currency != "USD":
        raise ConfigError(
            [f"{campaign.path}: Connect pays in USD, not {campaign.rewards.currency}"]
        )


def _most_cents(campaign: Campaign) -> int:
    """Return the budget and a tenth, for rounding and whole visits."""
    return campaign.rewards.budget_cents * 11 // 10
