"""A rehearsal with people of a simulated panel, and the list from which it pays.

The panel is in this process; its file and secret lie beside the store, where the
marketplace's process reads them.
"""

import secrets as random_secrets
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from piecework.campaign.opened import CampaignRun
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.ids import WorkerId
from piecework.engine.progress import read_progress
from piecework.marketplace.state import visits
from piecework.marketplace.state.audit import broken_laws
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.state.money import PriceList
from piecework.panel.arrivals import ids_of, person_key
from piecework.panel.panel_crowd import ways_out
from piecework.panel.panel_file import Panel
from piecework.panel.pay_list import make, mark_written, numbers, read
from piecework.panel.prices import prices_of
from piecework.panel.secrets import Secrets
from piecework.payments.outside_prices import book_outside_prices
from piecework.platforms.virtual_clock import START, VirtualClock
from piecework.rehearsal.crowd.panel_site import PanelSite
from piecework.rehearsal.panel.simulated_panel import SimulatedPanel, Terms, panel_file
from piecework.rehearsing.marketplace_books import fees_cents, spent_cents
from piecework.results.books import Books

FILE = "panel.toml"
_SECRET = "panel.secret"  # noqa: S105 - a file's name
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


def offline_panel(campaign: Campaign) -> OfflinePanel:
    """Return the campaign's own panel, with its file and secret beside the store.

    Raises:
        ConfigError: the campaign has a qualification test, which people of a panel do
            not take.
    """
    if campaign.qualification is not None:
        raise ConfigError(
            [f"{campaign.path}: people of a panel take no qualification tests"],
            next_step="leave out [qualification], or rehearse without --crowd panel",
        )
    campaign.out.mkdir(parents=True, exist_ok=True)
    file, secret = campaign.out / FILE, campaign.out / _SECRET
    if not secret.exists():
        secret.touch(mode=0o600)
        secret.write_text(random_secrets.token_hex(32), encoding="ascii")
    file.write_text(panel_file(_terms(campaign)), encoding="utf-8")
    text = file.read_text(encoding="utf-8")
    panel = Panel.model_validate(tomllib.loads(text)).beside(file)
    known = Secrets.read(panel, {})
    return OfflinePanel(
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


class AtPanel:
    """The people of one campaign's panel, and its payments."""

    def __init__(
        self, offline: OfflinePanel, backend: Backend, site: PanelSite, folder: Path
    ) -> None:
        self._panel, self._secrets = offline.panel, offline.secrets
        self.simulated, self._backend = offline.simulated, backend
        self.site, self._folder = site, folder

    def close_books(self, run: CampaignRun) -> Books:
        """Let the panel pay from its list, and store the books for the report."""
        simulated = self.simulated
        with self._backend.transaction() as transaction:
            ways = ways_out(transaction, self._panel, self._secrets)
            make(transaction, self._panel, ways, file="")
            for number in numbers(transaction, self._panel):
                listed = read(transaction, self._panel, ways, number)
                if listed is not None:
                    simulated.pay(listed.table)
                    file = self._folder / f"pay-list-{number}.csv"
                    file.write_text(listed.table, encoding="utf-8")
                    mark_written(transaction, number)
            paid = simulated.paid_cents + fees_cents(transaction)
            marketplace = spent_cents(transaction)
            broken = broken_laws(transaction)
        book_outside_prices(run.store, run.platform.prices(), run.clock)
        progress = read_progress(run)
        books = Books(
            currency=progress.currency,
            pipeline=progress.spent_cents,
            marketplace=marketplace,
            outside_price=0,
            market="the panel",
            outside=paid,
            broken_laws=(*broken, *simulated.broken_laws),
        )
        books.keep(self._folder)
        return books


@contextmanager
def at_panel(
    campaign: Campaign,
    offline: OfflinePanel,
    database: Path,
    endpoint_url: str,
    clock: VirtualClock,
) -> Iterator[AtPanel]:
    """Open the people of a marketplace that serves this panel.

    Args:
        campaign: the campaign on that marketplace.
        offline: the panel that its people come from.
        database: the marketplace's database.
        endpoint_url: the marketplace's URL.
        clock: the marketplace's clock.
    """
    seed = campaign.rehearsal.seed
    rules = Rules(rehearsal=True, seed=seed, start=START, prices=offline.prices)
    with closing(Backend(database, rules)) as backend:
        site = PanelSite(
            endpoint_url,
            clock.now(),
            panel=offline.simulated,
            seed=seed,
            earlier=lambda person: _earlier(backend, offline.panel, person),
        )
        with closing(site):
            yield AtPanel(offline, backend, site, campaign.out)


def _earlier(
    backend: Backend, panel: Panel, person: str
) -> tuple[WorkerId, Sequence[tuple[str, str]]]:
    """Return a person's worker id, and the sessions and stages of their visits."""
    key = person_key(panel.name, person)
    with backend.transaction() as transaction:
        worker = visits.known_participant(transaction, key)
        if worker is None:
            return WorkerId(""), ()
        rows = transaction.all(
            "SELECT submission_id, stage FROM visits WHERE worker = ? ORDER BY id",
            worker["id"],
        )
    return WorkerId(worker["worker_id"]), tuple(
        (ids_of(key, row["submission_id"]).session, str(row["stage"])) for row in rows
    )
