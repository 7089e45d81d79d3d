"""Notice that labels of models were corrected, added or removed since the last pass.

No worker sees these labels, so a change spoils no answer. Labels that were sure with
the old ones may not be sure with the new ones, so all are weighed again.
"""

import hashlib
import json
import logging
from dataclasses import astuple

from piecework.campaign.opened import CampaignRun
from piecework.domain.campaign import Campaign
from piecework.domain.counts import plural
from piecework.store import item_totals, pass_notes

_LOG = logging.getLogger(__name__)


def notice_models(run: CampaignRun) -> None:
    """Have labels weighed again if those of models have changed, and log it."""
    digest, known = _digest(run.campaign), pass_notes.read(run.store).models_digest
    if digest == (known or ""):
        return
    # Repeated if the pass dies before it is noted, so nothing keeps an old estimate.
    weighed = item_totals.forget_weighed(run.store)
    if known is not None or weighed:
        _LOG.warning(
            "the labels of models ([machine]) have changed since the last pass; %s "
            "will be weighed again with the new ones, and may need more answers",
            plural(weighed, "label"),
            extra={"facts": {"weighed_again": weighed}},
        )
    pass_notes.keep(run.store, "models_digest", digest)


def _digest(campaign: Campaign) -> str:
    """Return a digest of the labels, in whatever order; "" without any."""
    if not campaign.machine:
        return ""
    rows = sorted(json.dumps(astuple(vote)) for vote in campaign.machine)
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()
