"""What a marketplace needs to be served with Prolific's participants, put together."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.state.money import PriceList
from piecework.prolific.bridge.admission import LEAST_CLIENTS, Limits
from piecework.prolific.bridge.bridge import Bridge
from piecework.prolific.bridge.prices import price_list
from piecework.prolific.bridge.prolific_crowd import CONSENT, ProlificCrowd
from piecework.prolific.bridge.spending import keep_start
from piecework.prolific.bridge.terms import Terms
from piecework.prolific.client import Prolific
from piecework.prolific.http.address import PROLIFIC
from piecework.prolific.http.errors import Unusable
from piecework.prolific.http.token import Token
from piecework.prolific.http.transport import Patience, Transport

PROJECT = "piecework"
"""The project of studies for which none was named."""

_COMPLETED = "https://app.prolific.com/submissions/complete"
_LITTLE = Patience(tries=2, first_seconds=0.5, longest_seconds=5)
"""With a participant waiting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """An account at Prolific that a marketplace may be served with.

    Attributes:
        prolific: the bridge's client.
        crowd: the marketplace's port to participants.
        prices: what Prolific takes.
        address: of the API.
        terms: on which studies are made.
    """

    prolific: Prolific
    crowd: ProlificCrowd
    prices: PriceList
    address: str
    terms: Terms

    @contextmanager
    def bridge(self, database: Path, rules: Rules) -> Iterator[Bridge]:
        """A bridge on a marketplace's database, by a connection of its own."""
        backend = Backend(database, replace(rules, prices=self.prices))
        try:
            with backend.transaction() as transaction:
                keep_start(transaction, self.address, self.terms)
            yield Bridge(backend, self.prolific, self.terms)
        finally:
            backend.close()


@contextmanager
def office(
    address: str, token: Token, terms: Terms, *, consent: tuple[str, ...] = CONSENT
) -> Iterator[Office]:
    """Open an account; what the terms leave open is asked of it.

    Args:
        address: of the API.
        token: of the account.
        terms: with the workspace and the currency named; no project means `PROJECT`.
        consent: what participants agree to, a paragraph each.

    Raises:
        Refused: the account cannot be used so.
    """
    with ExitStack() as stack:
        prolific = Prolific(stack.enter_context(Transport(address, token)))
        crowd = stack.enter_context(crowd_at(address, token, consent=consent))
        balance = prolific.account.balance(terms.workspace_id)
        if balance.currency != terms.currency:
            raise Unusable(
                f"the workspace is in {balance.currency}, not in {terms.currency}",
                next_step=f"take a workspace in {terms.currency}",
            )
        filled_in = _filled_in(prolific, terms)
        prices = price_list(
            prolific,
            terms.currency,
            least_per_hour_cents=filled_in.least_per_hour_cents,
        )
        yield Office(
            prolific=prolific,
            crowd=crowd,
            prices=prices,
            address=address,
            terms=filled_in,
        )


@contextmanager
def crowd_at(
    address: str,
    token: Token,
    *,
    consent: tuple[str, ...] = CONSENT,
    limits: Limits | None = None,
) -> Iterator[ProlificCrowd]:
    """A marketplace's port to participants, by connections of its own."""
    with ExitStack() as stack:
        waiting = [
            Prolific(stack.enter_context(Transport(address, token, patience=_LITTLE)))
            for _ in range(LEAST_CLIENTS)
        ]
        yield ProlificCrowd(
            waiting, _completed_url(address), consent, limits=limits or Limits()
        )


def _filled_in(prolific: Prolific, terms: Terms) -> Terms:
    least = recommended = 0
    for each in prolific.recruiting.reward_recommendations(
        terms.workspace_id, terms.currency
    ):
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
    """The project of studies; made when there is none of this name."""
    for project in prolific.account.projects(workspace_id):
        if project.title == PROJECT:
            return project.id
    return prolific.account.create_project(workspace_id, PROJECT).id


def _completed_url(address: str) -> str:
    """Where a submission is ended; an emulator has that page itself."""
    return _COMPLETED if address == PROLIFIC else f"{address}/submissions/complete"
