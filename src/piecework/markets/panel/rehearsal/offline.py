"""A rehearsal with people of a simulated panel, and the list from which it pays.

The panel is in this process; its file and secret lie beside the store, where the
marketplace's process reads them.
"""

import secrets as random_secrets
import tomllib
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.ids import WorkerId
from piecework.marketplace.state import outside_market, visits
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.state.money import PriceList
from piecework.markets.panel.arrivals import ids_of, person_key
from piecework.markets.panel.market import MARKET
from piecework.markets.panel.panel_crowd import ways_out
from piecework.markets.panel.panel_file import NAME, Panel, market_of, prices_of
from piecework.markets.panel.pay_list import make, mark_written, numbers, read
from piecework.markets.panel.rehearsal.simulated_panel import SimulatedPanel, Terms, panel_file
from piecework.markets.panel.rehearsal.site import PanelSite
from piecework.markets.panel.secrets import Secrets
from piecework.platforms.clocks import START, VirtualClock
from piecework.simulation.rehearsals.marketplace_books import fees_cents_of
from piecework.simulation.rehearsals.outside import RehearsedMarket, Taken

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
                outside_market.claim(transaction, market_of(self.panel), among=among)
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
                listed = read(transaction, panel, ways, number)
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
