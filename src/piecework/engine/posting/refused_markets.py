"""A market that refuses HITs does not keep the campaign's other markets from theirs."""

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import takewhile
from threading import Event

from piecework.campaign.opened import CampaignRun
from piecework.domain.counts import plural
from piecework.domain.errors import PlatformRefused
from piecework.engine.posting.publishing import take_in
from piecework.store import hits, intents, pass_notes
from piecework.store.acting import carry_out
from piecework.store.intents import Act

_LOG = logging.getLogger(__name__)


def post_until_refused(run: CampaignRun, acts: Iterable[Act]) -> None:
    """Post HITs of one market; begin no further one after a refusal.

    Refused calls are forgotten, so that the cost of their HITs is not held back from
    the caps. A call with an unknown outcome is not: the next pass looks for its HIT.

    Raises:
        PlatformRefused: the first refusal; calls under way were awaited and recorded.
        TransientPlatformError: the outcome of a call is unknown.
    """
    is_refused = Event()
    heard = (replace(act, do=_heard(act.do, is_refused)) for act in acts)
    refused = carry_out(
        run.store,
        takewhile(lambda _: not is_refused.is_set(), heard),
        clock=run.clock,
        at_once=1 if run.is_rehearsal else run.at_once,
    )
    if not refused:
        return
    # A HIT that is there nevertheless is recorded, and its intent is closed.
    take_in(run)
    for act, _ in refused:
        intents.withdraw(run.store, act.intent.key)
    raise refused[0][1]


def _heard(call: Callable[[], str], is_refused: Event) -> Callable[[], str]:
    """Return a call that tells of its refusal at once, from whichever thread."""

    def do() -> str:
        try:
            return call()
        except PlatformRefused:
            is_refused.set()
            raise

    return do


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
