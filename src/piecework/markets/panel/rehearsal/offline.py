"""A panel for a rehearsal, with simulated people.

They open the link of a session, look whether there is work, agree, do HIT after HIT and
press the button back. Some drop out, open the link twice or with a second session,
forge a link first, or close the last page without pressing the button.

The panel is in this process; its file and secret lie beside the store, where the
marketplace's process reads them.
"""

import secrets as random_secrets
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError, PlatformRefused
from piecework.domain.ids import WorkerId
from piecework.marketplace.state import outside_crowd, visits
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.state.money import PriceList
from piecework.markets.panel.arrivals import Secrets, ids_of, person_key
from piecework.markets.panel.market import MARKET
from piecework.markets.panel.panel_crowd import ways_out
from piecework.markets.panel.panel_file import NAME, Panel, market_of, prices_of
from piecework.markets.panel.pay_list import make, mark_written, numbers, read_pay_list
from piecework.markets.panel.rehearsal.simulated_panel import SimulatedPanel, Terms, panel_file
from piecework.platforms.clocks import START, VirtualClock
from piecework.simulation.crowd.people import Person, Worker
from piecework.simulation.crowd.visit_site import Visit, VisitingSite
from piecework.simulation.rehearsals.marketplace import fees_cents_of
from piecework.simulation.rehearsals.outside import RehearsedMarket, Taken
from piecework.simulation.seeded_rng import seeded_rng

PROJECT = "p1"
_FORGES, _REPEATS, _SECOND_SESSION, _FORGETS = 0.1, 0.1, 0.1, 0.05
"""Shares of visits."""


class PanelSite(VisitingSite):
    """The site for people of a panel; a worker's `token` is their id there.

    Args:
        endpoint_url: the marketplace's site.
        now: the crowd's current time.
        panel: the panel.
        seed: the random seed.
        earlier: returns a person's worker id and the sessions and stages of their
            visits, when an earlier crowd was killed.
    """

    def __init__(
        self,
        endpoint_url: str,
        now: datetime,
        *,
        panel: SimulatedPanel,
        seed: int,
        earlier: Callable[[str], tuple[WorkerId, Sequence[tuple[str, str]]]],
    ) -> None:
        super().__init__(endpoint_url, now)
        self._panel, self._seed, self._earlier = panel, seed, earlier
        self._sessions: dict[str, int] = {}
        self._registered = 0

    def register(self, person: Person) -> Worker:
        """See `Site`; people get ids in order of creation."""
        self._registered += 1
        token = f"person-{self._registered:03d}"
        worker_id, sessions = self._earlier(token)
        self._sessions[token] = len(sessions)
        for session, stage in sessions:
            link = self._panel.open(token, session, PROJECT)
            if stage == "Open":
                self._visits[token] = Visit(study=PROJECT, submission=session, link=link)
        return Worker(person=person, worker_id=worker_id, token=token)

    def group_ids(self, worker: Worker) -> tuple[str, ...]:
        """See `Site`; a person looks at the first page, which is free to open."""
        if worker.token in self._visits:
            return (PROJECT,)
        path = f"/visit/arrive?{urlencode(self._link(worker))}"
        reply = self._send("GET", path).read()
        if reply.status == HTTPStatus.OK:
            return (PROJECT,)
        document: Any = reply.json()
        if reply.status != HTTPStatus.CONFLICT or "way_back" not in document:
            raise PlatformRefused(f"{path}: {reply.text[:200]}", code=str(reply.status))
        self._panel.take_back(str(document["way_back"]))
        self._end_session(worker)
        return ()

    def _take_place(self, worker: Worker, study: str) -> Visit:
        visit = self._visits[worker.token] = Visit(
            study=study, submission=self._session(worker), link=self._link(worker)
        )
        return visit

    def _arrive(self, worker: Worker, visit: Visit) -> None:
        rng = seeded_rng(self._seed, worker.person.handle, visit.submission, "arrival")
        if rng.random() < _FORGES:
            self._try_forged(worker, visit)
        super()._arrive(worker, visit)
        if rng.random() < _REPEATS:
            self._arrive_again(worker, visit.link)
        if rng.random() < _SECOND_SESSION:
            second = f"{visit.submission}-again"
            self._arrive_again(worker, self._panel.open(worker.token, second, PROJECT))

    def _finish(self, worker: Worker, visit: Visit, document: Mapping[str, Any]) -> None:
        """Press the button, as carefully as this person does."""
        rng = seeded_rng(self._seed, worker.person.handle, visit.submission, "end")
        if rng.random() >= _FORGETS:
            self._panel.take_back(str(document["way_back"]))
        self._end_session(worker)

    def _give_place_back(self, worker: Worker, visit: Visit) -> None:  # noqa: ARG002 - of the port
        """See `VisitingSite`; a panel learns nothing of who drops out."""
        self._end_session(worker)

    def _session(self, worker: Worker) -> str:
        return f"{worker.token}-{self._sessions[worker.token] + 1:03d}"

    def _link(self, worker: Worker) -> dict[str, str]:
        return self._panel.open(worker.token, self._session(worker), PROJECT)

    def _end_session(self, worker: Worker) -> None:
        self._sessions[worker.token] += 1

    def _arrive_again(self, worker: Worker, link: Mapping[str, str]) -> None:
        """Open a link while a visit is open; it must lead to the same worker."""
        form = {name: [value] for name, value in link.items()}
        document = self._json(
            "POST", "/visit/arrive", worker=worker, form={**form, "agreed": ["1"]}
        )
        if document["worker_id"] != worker.worker_id:
            self._panel.broken_laws.append(f"{worker.token} is two workers")

    def _try_forged(self, worker: Worker, visit: Visit) -> None:
        """Open a link that the panel did not make; it must open nothing."""
        link = self._panel.forged(worker.token, visit.submission, PROJECT)
        form = {name: [value] for name, value in link.items()}
        try:
            self._json("POST", "/visit/arrive", form={**form, "agreed": ["1"]})
        except PlatformRefused:
            self._panel.forged_links += 1
        else:
            self._panel.broken_laws.append(f"a forged link of {worker.token} was let in")


_FILE, _SECRET = MARKET.files
_MOST_VISITS = 1000
"""A rehearsal's few workers come as often as they like."""

_VISIT_SECONDS = 180


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflinePanel:
    """A simulated panel, and the file that describes it."""

    file: Path
    panel: Panel
    secrets: Secrets
    simulated: SimulatedPanel
    prices: PriceList

    @property
    def address(self) -> str:
        """See `OfflineMarket`: the panel file."""
        return str(self.file.resolve())

    @contextmanager
    def at_work(
        self,
        campaign: Campaign,
        database: Path,
        endpoint_url: str,
        clock: VirtualClock,
        *,
        among: Collection[str],
    ) -> "Iterator[AtPanel]":
        """See `OfflineMarket`."""
        seed = campaign.rehearsal.seed
        rules = Rules(rehearsal=True, seed=seed, start=START, prices=self.prices)
        with closing(Backend(database, rules)) as backend:
            with backend.transaction() as transaction:
                outside_crowd.claim(transaction, market_of(self.panel), among=among)
            site = PanelSite(
                endpoint_url,
                clock.now(),
                panel=self.simulated,
                seed=seed,
                earlier=lambda person: _earlier(backend, self.panel, person),
            )
            with closing(site):
                yield AtPanel(
                    title="the panel", site=site, backend=backend, offline=self, folder=campaign.out
                )


@contextmanager
def offline_market(campaign: Campaign) -> Iterator[OfflinePanel]:
    """Open the campaign's own panel, with its file and secret beside the store.

    Raises:
        ConfigError: the campaign has a qualification test, which people of a panel do
            not take.
    """
    if campaign.qualification is not None:
        raise ConfigError(
            [f"{campaign.path}: people of a panel take no qualification tests"],
            next_step="leave out qualification, or rehearse without --crowd panel",
        )
    campaign.out.mkdir(parents=True, exist_ok=True)
    file, secret = campaign.out / _FILE, campaign.out / _SECRET
    if not secret.exists():
        secret.touch(mode=0o600)
        secret.write_text(random_secrets.token_hex(32), encoding="ascii")
    file.write_text(panel_file(_terms(campaign)), encoding="utf-8")
    text = file.read_text(encoding="utf-8")
    panel = Panel.model_validate(tomllib.loads(text)).beside(file)
    known = Secrets.read(panel, {})
    yield OfflinePanel(
        file=file,
        panel=panel,
        secrets=known,
        simulated=SimulatedPanel(known.link.decode()),
        prices=prices_of(panel),
    )


def _terms(campaign: Campaign) -> Terms:
    seconds = campaign.rewards.expected_seconds or _VISIT_SECONDS
    return Terms(
        name="rehearsal",
        proof=f'secret_file = "{_SECRET}"',
        hits=max(1, min(100, _VISIT_SECONDS // seconds)),
        per_person=_MOST_VISITS,
        hit_seconds=seconds,
        currency=campaign.rewards.currency,
        fee_percent=str(campaign.rewards.fees_on(START.date()).percent),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AtPanel(RehearsedMarket):
    """The people of one campaign's panel, who are paid from its list at the end."""

    offline: OfflinePanel
    folder: Path

    @property
    def simulated(self) -> SimulatedPanel:
        """The panel itself."""
        return self.offline.simulated

    def pay_out(self) -> None:
        """See `RehearsedMarket`; the panel pays from its list."""
        panel, secrets = self.offline.panel, self.offline.secrets
        with self.backend.transaction() as transaction:
            ways = ways_out(transaction, panel, secrets)
            make(transaction, panel, ways, file="")
            for number in numbers(transaction, panel):
                listed = read_pay_list(transaction, panel, ways, number)
                if listed is not None:
                    self.simulated.pay(listed.table)
                    file = self.folder / f"pay-list-{number}.csv"
                    file.write_text(listed.table, encoding="utf-8")
                    mark_written(transaction, number)

    def taken(self) -> Taken:
        """See `RehearsedMarket`; its fees are the marketplace's own."""
        with self.backend.transaction() as transaction:
            fees = fees_cents_of(transaction, NAME)
        return Taken(
            cents=self.simulated.paid_cents + fees, broken_laws=tuple(self.simulated.broken_laws)
        )


def _earlier(
    backend: Backend, panel: Panel, person: str
) -> tuple[WorkerId, Sequence[tuple[str, str]]]:
    """Return a person's worker id, and the sessions and stages of their visits."""
    key = person_key(panel.name, person)
    with backend.transaction() as transaction:
        worker = visits.known_participant(transaction, NAME, key)
        if worker is None:
            return WorkerId(""), ()
        rows = transaction.all(
            "SELECT submission_id, stage FROM visits WHERE worker = ? ORDER BY id", worker["id"]
        )
    return WorkerId(worker["worker_id"]), tuple(
        (ids_of(key, row["submission_id"]).session, str(row["stage"])) for row in rows
    )
