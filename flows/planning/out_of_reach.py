"""Rules of a policy that can never apply, since the campaign is too small for them.

Many heuristics want to have seen so many items of a worker, so many answers to an
item, before they say anything. Where a campaign has fewer, they stay silent, and a
policy that relies on them lets pass what it was written against.
"""

from collections.abc import Iterator, Mapping

from domain.campaign import Campaign
from domain.task import GOLD
from qc.registry import HEURISTICS, is_on, params_of

_OF_A_WORKER, _OF_GOLD = "items of one worker", "items with known answers of one worker"
_OF_A_HIT, _OF_A_BATCH = "items of one HIT", "items of one batch"
_ASSIGNMENTS, _OTHERS = "assignments of one batch", "answers by others to an item"
_ANSWERS = "answers to an item"

COUNTED: Mapping[str, Mapping[str, str]] = {
    "canned_share": {"min_images": _OF_A_WORKER},
    "gold_failed": {"min_items": _OF_GOLD},
    "ignored_page_warnings": {"min_items": _OF_A_WORKER},
    "low_agreement": {"min_items": _OF_A_WORKER, "min_others": _OTHERS},
    "low_scale_variance": {"min_items": _OF_A_WORKER},
    "minority_canned": {"min_answers": _ANSWERS},
    "rushed": {"min_assignments": _ASSIGNMENTS},
    "same_place": {"min_items": _OF_A_WORKER},
    "same_sentence": {"min_images": _OF_A_WORKER},
    "same_sentence_in_hit": {"min_items": _OF_A_HIT},
    "sentence_off_items": {"min_items": _OF_A_BATCH},
    "straight_line": {"min_items": _OF_A_WORKER},
    "text_disagreement": {"min_votes": _OTHERS},
    "texts_off_items": {"min_texts": _OF_A_WORKER},
}
"""What each parameter counts that must be reached before a heuristic flags anything."""


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
        for parameter, counted in COUNTED.get(name, {}).items():
            wanted = getattr(params, parameter)
            if wanted > most[counted]:
                yield (
                    f"heuristics.{name}.{parameter} is {wanted} {counted}, and there "
                    f"are {most[counted]} at most"
                )


def _most(campaign: Campaign) -> Mapping[str, int]:
    """How many of each a campaign can give, its replacements left out."""
    posting, items = campaign.posting, len(campaign.items)
    gold = sum(
        any(item.columns.get(name) for name in item.columns if name.startswith(GOLD))
        for item in campaign.items
    )
    a_batch = -(-items // posting.batches)
    hits = -(-a_batch // posting.items_per_hit)
    return {
        _OF_A_WORKER: items,
        _OF_GOLD: gold,
        _OF_A_HIT: min(posting.items_per_hit, items),
        _OF_A_BATCH: a_batch,
        _ASSIGNMENTS: hits * posting.most,
        _ANSWERS: posting.most,
        _OTHERS: posting.most - 1,
    }
