"""Turn a person's choices for recruiting at Prolific into terms."""

from dataclasses import dataclass

from piecework.foundation.client.checks import refuse_what_fails
from piecework.foundation.client.transport import Transport
from piecework.markets.prolific.bridge.terms import Terms
from piecework.markets.prolific.client import Prolific
from piecework.markets.prolific.doctor import Wanted, examine
from piecework.markets.prolific.token import Token


@dataclass(frozen=True, slots=True, kw_only=True)
class Recruiting:
    """How studies are set up, and how much may be spent on them.

    Attributes:
        workspace_id: "" if the account has only one.
        project_id: "" is the project called piecework.
        is_live: whether anything may be published and paid.
        spend_at_most_cents: the cap for everything, in the workspace's currency.
        hits_per_visit: 0 derives it from the time that HITs take.
        hit_seconds: how long a HIT takes; 0 if unknown.
        visits_per_participant: visits allowed per participant and study.
        settle_seconds: posts less than this far apart share one study.
        screening_cents: the pay for taking a qualification test; 0 offers no tests.
        screen_out_cents: the pay for participants who arrive but find no work; 0 pays
            nothing.
    """

    workspace_id: str
    project_id: str
    is_live: bool
    spend_at_most_cents: int
    hits_per_visit: int
    hit_seconds: int
    visits_per_participant: int
    settle_seconds: int
    screening_cents: int
    screen_out_cents: int


def agreed_terms(recruiting: Recruiting, address: str, token: Token, *, site_url: str) -> Terms:
    """Return the terms, with the workspace and its currency looked up.

    Args:
        recruiting: the person's choices.
        address: the API's address.
        token: the account's token.
        site_url: the marketplace's site, as participants' browsers reach it.

    Raises:
        Unusable: a check of `piecework prolific doctor` fails.
    """
    wanted = Wanted(workspace_id=recruiting.workspace_id)
    with Transport(address, token) as transport:
        prolific = Prolific(transport)
        refuse_what_fails(
            examine(prolific, wanted, address=address), otherwise="piecework prolific doctor"
        )
        workspace_id = recruiting.workspace_id or next(prolific.account.workspaces()).id
        currency = prolific.account.balance(workspace_id).currency
    return Terms(
        workspace_id=workspace_id,
        project_id=recruiting.project_id,
        site_url=site_url,
        currency=currency,
        is_live=recruiting.is_live,
        spend_at_most_cents=recruiting.spend_at_most_cents,
        hits_per_visit=recruiting.hits_per_visit,
        hit_seconds=recruiting.hit_seconds,
        visits_per_participant=recruiting.visits_per_participant,
        settle_seconds=recruiting.settle_seconds,
        screening_cents=recruiting.screening_cents,
        screen_out_cents=recruiting.screen_out_cents,
    )
