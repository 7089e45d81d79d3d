"""Rules of a policy that can never apply, since the campaign is too small for them.

Many heuristics want to have seen so many items of a worker, so many answers to an
item, before they say anything. Where a campaign has fewer, they stay silent, and a
policy that relies on them lets pass what it was written against.
"""

from collections.abc import Iterator, Mapping

from piecework.domain.campaign import Campaign
from piecework.domain.task import GOLD
from piecework.qc.parameters import Counted
from piecework.qc.reach import unreached
from piecework.qc.registry import HEURISTICS, is_on, params_of


def rules_out_of_reach(campaign: Campaign) -> list[str]:
    """A sentence, if heuristics of the policy can flag nothing here; else nothing."""
    if wants := "; ".join(_wants(campaign)):
        return [f"the policy relies on what can flag nothing here: {wants}"]
    return []


def _wants(campaign: Campaign) -> Iterator[str]:
    """What each heuristic of the policy wants more of than there is."""
    most, settings = _most(campaign), campaign.heuristics
    named = {name for rule in campaign.policy for name in rule.any_of}
    for heuristic in HEURISTICS:
        name = heuristic.NAME
        if name not in named or not is_on(name, settings):
            continue
        params = params_of(heuristic, settings, seed=0)
        for parameter, wanted, counted, there in unreached(params, most):
            yield (
                f"heuristics.{name}.{parameter} is {wanted} {counted}, and there "
                f"is no more than {there}"
            )


def _most(campaign: Campaign) -> Mapping[Counted, int]:
    """How many of each a campaign can give, its replacements left out."""
    posting, items = campaign.posting, len(campaign.items)
    gold = sum(
        any(item.columns.get(name) for name in item.columns if name.startswith(GOLD))
        for item in campaign.items
    )
    a_batch = -(-items // posting.batches)
    hits = -(-a_batch // posting.items_per_hit)
    return {
        Counted.OF_WORKER: items,
        Counted.KNOWN_OF_WORKER: gold,
        Counted.OF_HIT: min(posting.items_per_hit, items),
        Counted.OF_BATCH: a_batch,
        Counted.ASSIGNMENTS: hits * posting.most,
        Counted.ANSWERS: posting.most,
        Counted.OTHERS: posting.most - 1,
    }
