"""The offline Prolific for a rehearsal, with simulated participants.

A participant takes a place there, opens the link, agrees, does HIT after HIT and brings the
code back. Or they give up, come too late, forget the code or enter another one. When asked to
return rejected work, some do and some do not.

The emulator runs in a thread of this process, so it ends with the process, and keeps
its state in a file beside the store. This module makes the bridge's steps when the
participants' time requires them, so the timing of threads decides nothing.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from offline_markets.core.database import WrongDatabaseError
from offline_markets.prolific.filters import KNOWN
from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve
from piecework.domain.campaign import Campaign
from piecework.domain.errors import PlatformRefused
from piecework.domain.ids import WorkerId
from piecework.foundation.client.transport import Transport
from piecework.markets.bridging.accounts import settle_bridge
from piecework.markets.prolific.bridge.bridge import Bridge, Terms
from piecework.markets.prolific.bridge.recruiting import NOBODY_HOLDS
from piecework.markets.prolific.bridge.requirements import type_id_of
from piecework.markets.prolific.bridge.serving import OFFLINE_TOKEN, office, step
from piecework.markets.prolific.client import Prolific
from piecework.markets.prolific.market import MARKET
from piecework.platforms.clocks import START
from piecework.simulation.crowd.people import Person, Worker, crowd_as_stated
from piecework.simulation.crowd.site import ConflictError
from piecework.simulation.crowd.visit_site import BridgedSite, Visit
from piecework.simulation.rehearsals.outside import OfflineBridged, own_file
from piecework.simulation.seeded_rng import log_normal, seeded_rng

_WRONG_CODE, _NO_CODE, _FORGETS = 0.02, 0.02, 0.05
"""Shares of visits that end with a wrong code, without a code, or with no action."""

_HEEDS = 0.5
_HOURS_TO_HEED = 30.0
_BETWEEN_READING = timedelta(hours=12)
_IN_HAND = ("RESERVED", "ACTIVE")


class ProlificSite(BridgedSite):
    """The site for participants; a worker's `token` is the participant's id.

    Args, beside those of `BridgedSite`:
        emulator_url: the offline Prolific; its clock is moved too.
        test: the name of the qualification with a test that a separate study pays for.
        about: what all participants say about themselves: `age`, and `answers` as
            choices by filter.
    """

    def __init__(
        self,
        endpoint_url: str,
        now: datetime,
        *,
        emulator_url: str,
        seed: int,
        bridge: Callable[[datetime], None],
        worker_id: Callable[[str], WorkerId],
        test: str = "",
        about: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(endpoint_url, now, seed=seed, bridge=bridge, worker_id=worker_id)
        self._prolific = f"{emulator_url}/emulator"
        self._test = test
        self._about = dict(about or {})
        self._prolific_now: datetime | None = None
        self._reads_at: datetime | None = None
        self._known = self._participants()
        self._workers: list[Worker] = []

    def register(self, person: Person) -> Worker:
        """See `Site`; participants are assigned in order of creation."""
        number = len(self._workers)
        if number < len(self._known):
            participant = self._known[number]
        else:
            standing = {
                "country": person.country,
                "approvals": person.hits_approved,
                "rejections": person.hits_submitted - person.hits_approved,
                **self._about,
            }
            made = self._ask("POST", "/participants", standing)
            participant = str(made["id"])
        worker = Worker(person=person, worker_id=WorkerId(""), token=participant)
        self._workers.append(worker)
        if number < len(self._known):
            self._come_back(worker)
        return worker

    def group_ids(self, worker: Worker) -> tuple[str, ...]:
        """See `Site`; here a group is a study."""
        visit = self._visits.get(worker.token)
        if visit is not None:
            return (visit.study,)
        work = [each for each in self._offered(worker) if each["name"] != self._test]
        best_first = sorted(work, key=lambda study: -int(study["reward"]))
        return tuple(str(study["id"]) for study in best_first)

    def lacks_only(self, worker: Worker, qualification: str) -> bool:
        """See `Site`; if so, the study that pays for the test is offered."""
        return worker.token not in self._visits and any(
            each["name"] == qualification for each in self._offered(worker)
        )

    def begin_test(self, worker: Worker, qualification: str) -> str:
        """See `Site`; taking the test is a visit."""
        for each in self._offered(worker):
            if each["name"] == qualification:
                visit = self._take_place(worker, str(each["id"]))
                break
        else:
            raise ConflictError(f"{qualification}: no test is offered", code="404")
        self._arrive(worker, visit)
        type_id = str(self._json("GET", "/visit", worker=worker)["test"])
        self._json("POST", f"/worker/qualifications/{type_id}/request", worker=worker)
        return type_id

    def send_test(self, worker: Worker, type_id: str, answers: Mapping[str, Sequence[str]]) -> int:
        """See `Site`; passed or failed, the participant returns to Prolific."""
        visit = self._visits.pop(worker.token)
        path = f"/worker/qualifications/{type_id}/test"
        graded = self._json("POST", path, worker=worker, form=answers)
        ended = self._json("GET", "/visit", worker=worker)
        self._finish(worker, visit, ended)
        return int(graded["value"])

    def look_after(self) -> bool:
        """See `Site`; the bridge makes steps, and participants read messages."""
        if self._reads_at is None or self.now >= self._reads_at:
            self._reads_at = self.now + _BETWEEN_READING
            self._heed_requests()
        self._move_prolific()
        self._bridge(self.now)
        return True

    def books(self) -> dict[str, Any]:
        """Return the offline Prolific's books."""
        return self._ask("GET", "/books")

    def _offered(self, worker: Worker) -> list[dict[str, Any]]:
        path = f"/participants/{worker.token}/studies"
        offered: list[dict[str, Any]] = self._ask("GET", path)["results"]
        return offered

    def _participants(self) -> list[str]:
        return [str(each["id"]) for each in self._ask("GET", "/participants")["results"]]

    def _places_of(self, worker: Worker) -> list[dict[str, Any]]:
        path = f"/participants/{worker.token}/submissions"
        places: list[dict[str, Any]] = self._ask("GET", path)["results"]
        return places

    def _come_back(self, worker: Worker) -> None:
        """Continue the last visit after an earlier crowd was killed."""
        worker.worker_id = self._worker_id(worker.token)
        places = self._places_of(worker)
        if not places or places[-1]["status"] not in _IN_HAND:
            return
        last = places[-1]
        self._visits[worker.token] = Visit(
            study=str(last["study_id"]),
            submission=str(last["id"]),
            link={
                "PROLIFIC_PID": worker.token,
                "STUDY_ID": str(last["study_id"]),
                "SESSION_ID": str(last["id"]),
            },
        )

    def _take_place(self, worker: Worker, study: str) -> Visit:
        path = f"/participants/{worker.token}/studies/{study}"
        try:
            taken = self._ask("POST", path, {})
        except PlatformRefused as refusal:
            raise ConflictError(str(refusal), code=refusal.code) from refusal
        visit = self._visits[worker.token] = Visit(
            study=study,
            submission=str(taken["submission_id"]),
            link=dict(parse_qsl(urlsplit(taken["url"]).query)),
        )
        return visit

    def _finish(self, worker: Worker, visit: Visit, document: Mapping[str, Any]) -> None:
        """Enter the code at Prolific, as carefully as this participant does."""
        code = str(document["code"])
        rng = seeded_rng(self._seed, worker.person.handle, visit.submission, "code")
        lot = rng.random()
        if lot < _FORGETS:
            return
        entered: str | None = code
        if lot < _FORGETS + _NO_CODE:
            entered = None
        elif lot < _FORGETS + _NO_CODE + _WRONG_CODE:
            entered = code[::-1]
        self._end(worker, visit.submission, "complete", {"code": entered})

    def _give_place_back(self, worker: Worker, visit: Visit) -> None:
        self._end(worker, visit.submission, "return")

    def _end(self, worker: Worker, submission: str, how: str, body: object = None) -> None:
        path = f"/participants/{worker.token}/submissions/{submission}/{how}"
        try:
            self._ask("POST", path, {} if body is None else body)
        except PlatformRefused:
            return  # It has timed out there.

    def _heed_requests(self) -> None:
        """Return submissions as requested, for participants who comply."""
        for worker in self._workers:
            for each in self._places_of(worker):
                if self._heeds(worker, each):
                    self._end(worker, str(each["id"]), "return")

    def _heeds(self, worker: Worker, place: dict[str, Any]) -> bool:
        if place["status"] != "AWAITING REVIEW" or not place["return_requested"]:
            return False
        rng = seeded_rng(self._seed, worker.person.handle, str(place["id"]), "asked")
        if rng.random() >= _HEEDS:
            return False
        after = timedelta(hours=log_normal(rng, _HOURS_TO_HEED, spread=0.5))
        return self.now >= datetime.fromisoformat(place["return_requested"]) + after

    def _move_prolific(self) -> None:
        if self._prolific_now is None or self.now > self._prolific_now:
            self._prolific_now = self.now
            moment = {"now": self.now.isoformat()}
            self._json("PUT", f"{self._prolific}/clock", json=moment)

    def _ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Call the emulator at the crowd's current time."""
        self._move_prolific()
        return self._json(method, f"{self._prolific}{path}", json=body)


_SITE = "https://piecework.example"
"""The host in studies' links, since the marketplace's port changes each time."""

_TEST_PER_HOUR_CENTS = 1200
"""Pay for a test: at least what Prolific recommends in either currency."""

_USUAL_AGE = 30
"""Of participants, unless a campaign asks for others."""

_GRACE = timedelta(minutes=10)
"""Longer than the bridge waits for a code (`Terms.grace_seconds`)."""


@contextmanager
def offline_market(campaign: Campaign) -> Iterator[OfflineBridged[Bridge]]:
    """Serve the campaign's own offline Prolific, with a file beside the store.

    Raises:
        StoreError: the file belongs to something else.
    """
    options = Options(
        database=campaign.out / MARKET.files[0],
        seed=campaign.rehearsal.seed,
        currency=campaign.rewards.currency,
        balance=_most_cents(campaign),
        start=START,
    )
    with (
        own_file(WrongDatabaseError),
        serve(options) as url,
        office(url, OFFLINE_TOKEN, _terms(campaign, url)) as account,
    ):
        test = campaign.qualification
        yield OfflineBridged(
            address=url,
            account=account,
            settle=partial(settle_bridge, step),
            no_holders=NOBODY_HOLDS,
            site=partial(
                ProlificSite,
                emulator_url=url,
                test=test.name if test else "",
                about=_about(campaign),
            ),
            grace=_GRACE,
            accounts=("rewards", "bonuses", "fees", "vat"),
        )


def _about(campaign: Campaign) -> Mapping[str, object]:
    """Return what participants say, so that they meet the campaign's filters.

    Prolific shows a study only to people who do.
    """
    filters = {type_id_of(name): name for name in KNOWN}
    answers: dict[str, list[str]] = {}
    age = _USUAL_AGE
    for requirement in campaign.requirements:
        name = filters.get(requirement.qualification_type_id, "")
        values = requirement.integer_values
        if name and requirement.comparator == "In":
            answers[name] = [str(values[0])]
        elif name == "age" and requirement.comparator == "GreaterThanOrEqualTo":
            age = max(age, values[0])
        elif name == "age" and requirement.comparator == "LessThanOrEqualTo":
            age = min(age, values[0])
    return {"age": age, "answers": answers}


def _most_cents(campaign: Campaign) -> int:
    """Return the budget and a tenth, for rounding and whole visits, plus the tests."""
    # With fee and tax, a test costs less than 1.5 times its pay. All participants may
    # have taken it while as many places are still open.
    tests = 3 * _participants(campaign) * _test_cents(campaign)
    return campaign.rewards.budget_cents * 11 // 10 + tests


def _participants(campaign: Campaign) -> int:
    return sum(crowd_as_stated(campaign).values())


def _test_cents(campaign: Campaign) -> int:
    """Return the pay for taking the test; 0 without a test."""
    test = campaign.qualification
    if test is None:
        return 0
    seconds = len(test.items) * test.task.seconds_per_item
    return math.ceil(seconds * _TEST_PER_HOUR_CENTS / 3600)


def _terms(campaign: Campaign, url: str) -> Terms:
    with Transport(url, OFFLINE_TOKEN) as transport:
        workspace = next(Prolific(transport).account.workspaces()).id
    return Terms(
        workspace_id=workspace,
        project_id="",
        site_url=_SITE,
        currency=campaign.rewards.currency,
        is_live=True,
        spend_at_most_cents=_most_cents(campaign),
        screening_cents=_test_cents(campaign),
        screening_places=_participants(campaign),
        hit_seconds=campaign.rewards.expected_seconds or 0,
        # A pass has posted all of its HITs when the bridge looks.
        settle_seconds=0,
        bonus_pause_seconds=0,
    )
