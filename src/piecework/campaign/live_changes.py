"""What a change of a live campaign's files means, said before the next pass.

Three kinds: a change that is free acts from the next pass, and earlier decisions stay; a
change that only new HITs have; and a change of what answers are comparable by, to which
the store is bound. A rehearsal has no such limits: it begins again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import Enum

from piecework.campaign.binding import check_bound
from piecework.config.changed_keys import differences
from piecework.domain.campaign import Campaign
from piecework.domain.errors import StoreError
from piecework.domain.inputs import CODE, Difference
from piecework.store import bound, campaign_facts, hits
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
    *("hosts", "description", "per_worker", "per_worker_in_batch", "prolific"),
    "cheapest_within_hours",
)
_BOUND = (
    *("name", "task", "items", "pictures", "gold", "fields", "imported"),
    *("question", "instructions", "options", "several", "scale", "examples", "text"),
    *("batches", "answers", "posting.items_per_hit", "currency"),
)
_FREE = (
    *("decisions", "heuristics", "card", "dataset", "earned", "machine", "rehearsal"),
    *("grows", "formats", "sink"),
    *(
        "posting.max_rounds",
        "posting.expected_loss_percent",
        "gold.feedback",
        "hourly_wage",
        "minutes",
        "budget",
        "fees",
    ),
)
_DERIVED = ("name", "batches", "currency", "items.columns")
"""Bound keys that a file may leave out."""

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
    is_refused = refusal_of_changes(store, campaign) is not None
    changes = [
        LiveChange(**asdict(each), means=_of(each, is_refused=is_refused))
        for each in differences(used, campaign.inputs)
        if each.key != CODE and not _hides_reward(each)
    ]
    changes += _derived_reward(store, campaign, changes)
    kinds = [Means.BOUND, Means.NEW_HITS, Means.FREE]
    return tuple(sorted(changes, key=lambda change: kinds.index(change.means)))


def _hides_reward(change: Difference) -> bool:
    """Return whether a reward was or is derived, so its key alone does not say both."""
    return change.key == "reward" and not (change.before and change.now)


def _derived_reward(
    store: Store, campaign: Campaign, changes: Sequence[LiveChange]
) -> Iterator[LiveChange]:
    """Yield what a derived reward was and is; it follows from the wage and the minutes."""
    before, rewards = hits.last_reward_cents(store), campaign.rewards
    if (
        before is None
        or before == rewards.reward_cents
        or any(each.key == "reward" for each in changes)
    ):
        return
    was, now = rewards.shown(before), rewards.shown(rewards.reward_cents)
    yield LiveChange(key="reward", before=was, now=now, means=Means.NEW_HITS)


def refusal_of_changes(store: Store, campaign: Campaign) -> StoreError | None:
    """Return why the next pass would refuse a campaign as it is now, with what to do."""
    try:
        check_bound(store, campaign, bound.read_bound(store).environment or "")
    except StoreError as refused:
        return refused
    return None


def _of(change: Difference, *, is_refused: bool) -> Means:
    """Return what a change means; one that only states what was derived binds nothing."""
    key = change.key.partition(": ")[0]
    is_stated = not (change.before and change.now) and key.startswith(_DERIVED)
    if key.endswith("(no key)") or (is_stated and not is_refused):
        return Means.FREE
    return means(change.key)
