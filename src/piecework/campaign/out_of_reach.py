"""Rules of a policy that can never apply because the campaign is too small.

Many heuristics need a minimum number of items per worker or answers per item before
they flag anything. In a smaller campaign they stay silent, and a policy that relies on
them misses what it was written for.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from piecework.domain.campaign import Campaign
from piecework.domain.task import GOLD
from piecework.domain.verdicts import PolicyRule
from piecework.qc.parameters import Counted
from piecework.qc.reach import unreached
from piecework.qc.registry import HEURISTICS, is_on, params_of


def rules_out_of_reach(campaign: Campaign) -> list[str]:
    """Return a sentence if the policy names heuristics that can flag no work here."""
    if wants := "; ".join(sentence for _, sentence in _wants(campaign)):
        return [f"the policy relies on heuristics that can never flag here: {wants}"]
    return []


def within_reach(
    campaign: Campaign, policy: Sequence[PolicyRule]
) -> tuple[tuple[PolicyRule, ...], tuple[str, ...]]:
    """Return the rules without what can never flag here, and what that is."""
    silent = {name for name, _ in _wants(replace(campaign, policy=tuple(policy)))}
    rules = (
        replace(rule, any_of=tuple(name for name in rule.any_of if name not in silent))
        for rule in policy
    )
    kept = tuple(rule for rule in rules if len(rule.any_of) >= rule.at_least)
    left = {name for rule in kept for name in rule.any_of}
    named = dict.fromkeys(name for rule in policy for name in rule.any_of)
    return kept, tuple(name for name in named if name not in left)


def _wants(campaign: Campaign) -> Iterator[tuple[str, str]]:
    """Yield each heuristic of the policy with what it needs more of than there is."""
    most, settings = _most(campaign), campaign.heuristics
    named = {name for rule in campaign.policy for name in rule.any_of}
    for heuristic in HEURISTICS:
        name = heuristic.NAME
        if name not in named or not is_on(name, settings):
            continue
        params = params_of(heuristic, settings, seed=0)
        for parameter, wanted, counted, there in unreached(params, most):
            setting = f"heuristics.{name}.{parameter}"
            there_are = f"but there are at most {there}"
            yield name, f"{setting} is {wanted} {counted}, {there_are}"


def _most(campaign: Campaign) -> Mapping[Counted, int]:
    """Return how many of each a campaign can give, without replacements."""
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
        Counted.ITEMS: items,
        Counted.ASSIGNMENTS: hits * posting.most,
        Counted.ANSWERS: posting.most,
        Counted.OTHERS: posting.most - 1,
    }
