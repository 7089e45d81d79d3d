"""A market that refuses HITs does not keep the campaign's other markets from theirs."""

import json
import logging
from collections.abc import Mapping

from piecework.campaign.opened import CampaignRun
from piecework.domain.counts import plural
from piecework.domain.errors import PlatformRefused
from piecework.engine.posting.publishing import OPERATION, publish_key, take_in
from piecework.store import hits, intents, pass_notes

_LOG = logging.getLogger(__name__)


def withdraw_refused(run: CampaignRun) -> None:
    """Forget refused calls, so that their HITs' cost is not held back from the caps.

    HITs that are on the platform nevertheless are recorded before.
    """
    take_in(run)
    begun = intents.begun(run.store, OPERATION)
    for hit in hits.unposted(run.store):
        if (key := publish_key(hit)) in begun:
            intents.withdraw(run.store, key)


def keep_refused(run: CampaignRun, refused: Mapping[str, PlatformRefused]) -> None:
    """Record which markets refused HITs in this pass, and say so.

    Args:
        run: the campaign at work.
        refused: the refusal of each market; empty if there was none.

    Raises:
        PlatformRefused: no other HIT is open, so the campaign cannot continue.
    """
    reasons = {market: str(refusal) for market, refusal in refused.items()}
    if reasons != pass_notes.read(run.store).refused_markets:
        pass_notes.keep(run.store, "refused_markets", json.dumps(reasons))
    if not refused:
        return
    if not hits.uncollected(run.store):
        raise next(iter(refused.values()))
    unposted = hits.unposted(run.store)
    for market, refusal in refused.items():
        waiting = sum(hit.market == market for hit in unposted)
        _LOG.warning(
            "%s refused HITs: %s; %s planned, and the next pass tries again",
            market,
            refusal,
            f"{plural(waiting, 'HIT')} {'stays' if waiting == 1 else 'stay'}",
        )
