"""What a change of a live campaign's files means, said before the next pass.

Three kinds: a change that is free acts from the next pass, and earlier decisions stay; a
change that only new HITs have; and a change of what answers are comparable by, to which
the store is bound. A rehearsal has no such limits: it begins again.
"""

from dataclasses import asdict, dataclass
from enum import Enum

from piecework.campaign.binding import check_bound
from piecework.campaign.deriving import complete_inputs
from piecework.config.changed_keys import differences
from piecework.domain.campaign import Campaign
from piecework.domain.errors import StoreError
from piecework.domain.inputs import CODE, ONLY_WRITING, Difference
from piecework.store import bound, campaign_facts
from piecework.store.database import Store


class Means(Enum):
    """What a change means while a campaign is live, as people read it."""

    FREE = "from the next pass; earlier decisions stay"
    NEW_HITS = "for new HITs; HITs that are posted stay as they are"
    BOUND = "not while this campaign runs: its answers would not be comparable"


_NEW_HITS = (
    *("posting.lifetime_hours", "posting.assignment_minutes", "posting.auto_approval_hours"),
    *("posting.title", "posting.description", "posting.keywords", "posting.records_typing"),
    *("reward", "requirements", "qualification", "experiment", "markets", "language"),
    *("hosts", "description", "minutes", "per_worker", "per_worker_in_batch", "prolific"),
    "cheapest_within_hours",
)
_BOUND = (
    *("name", "task", "items", "pictures", "gold", "fields", "imported"),
    *("question", "instructions", "options", "several", "scale", "examples", "text"),
    *("batches", "answers", "posting.items_per_hit", "currency"),
)
_FREE = (
    *("decisions", "heuristics", "card", "dataset", "earned", "machine", "rehearsal"),
    *("grows", "formats", "sink", "answers.most", "answers.until"),
    *(
        "posting.max_rounds",
        "posting.expected_loss_percent",
        "gold.feedback",
        "hourly_wage",
        "budget",
        "fees",
    ),
)
_KINDS = {
    **dict.fromkeys(_NEW_HITS, Means.NEW_HITS),
    **dict.fromkeys(_BOUND, Means.BOUND),
    **dict.fromkeys(_FREE, Means.FREE),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveChange(Difference):
    """What has changed since the last pass, and what that means."""

    means: Means


def means(key: str) -> Means:
    """Return what a change of a key means; the longest prefix that is listed decides.

    >>> means("reward").name, means("budget.day").name, means("items.file").name
    ('NEW_HITS', 'FREE', 'BOUND')
    """
    parts = key.partition(": ")[0].split(".")
    prefixes = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next(_KINDS[prefix] for prefix in prefixes if prefix in _KINDS)


def live_changes(store: Store, campaign: Campaign) -> tuple[LiveChange, ...]:
    """Return what has changed in a live campaign's files since its last pass.

    Returns:
        The changes, those that are refused first; () of a rehearsal, of imported
        results, and before the first pass.
    """
    environment = bound.read_bound(store).environment or ""
    used = campaign_facts.latest_inputs(store)
    if used is None or not environment.startswith("http"):
        return ()
    dealt = bound.read_dealt(store)
    changes = [
        LiveChange(**asdict(each), means=_of(each, campaign, dealt))
        for each in differences(used, complete_inputs(campaign))
        if each.key != CODE
    ]
    kinds = [Means.BOUND, Means.NEW_HITS, Means.FREE]
    return tuple(sorted(changes, key=lambda change: kinds.index(change.means)))


def refusal_of_changes(store: Store, campaign: Campaign) -> StoreError | None:
    """Return why the next pass would refuse a campaign as it is now, with what to do."""
    try:
        check_bound(store, campaign, bound.read_bound(store).environment or "")
    except StoreError as refused:
        return refused
    return None


def _of(change: Difference, campaign: Campaign, dealt: bound.Dealt | None) -> Means:
    key, own = change.key, campaign.task.own
    least = str(campaign.posting.assignments)
    # A number of answers is the least of a table.
    keeps_least = key in _LEAST and dealt is not None and dealt.assignments == least
    if key == ONLY_WRITING or keeps_least:
        return Means.FREE
    # What a generic task is bound to by name, such as its language.
    return Means.BOUND if own is not None and key in own.digests else means(key)


_LEAST = ("answers", "answers.least")
