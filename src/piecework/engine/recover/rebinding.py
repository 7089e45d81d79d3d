"""Let a campaign continue at a marketplace that has moved to another address.

A store is bound to the address of its marketplace, so that it never posts its HITs a
second time elsewhere. A marketplace that moved is recognised by three things: the
requester's account, which all copies of its file share; the marks that both sides kept
of each other; and the campaign's HITs, by their ids and keys.
"""

from dataclasses import dataclass

from piecework.domain.campaign import Campaign
from piecework.domain.errors import PieceworkError, RefusedForSafety, StoreError
from piecework.domain.marks import Meeting, generation
from piecework.domain.text import shell_word
from piecework.engine.begun import bound_endpoint, known_store
from piecework.engine.posted_hits import posted_as
from piecework.platforms.endpoint import Credentials, normal_endpoint
from piecework.platforms.mturk import MTurk
from piecework.store import bound, generations, hits, intents
from piecework.store.database import Store, writing
from piecework.store.lock import only_pass

_PATIENCE_SECONDS = 5.0
"""How long the old address may take to answer that it is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebound:
    """A campaign at its marketplace's new address.

    Attributes:
        before: the old address.
        now: the new one.
        hits: HITs of the campaign that were found there, by id and key.
        is_older: whether the marketplace is an older copy of itself, so that
            `reconcile` has to compare it with the store.
    """

    before: str
    now: str
    hits: int
    is_older: bool


def rebind(campaign: Campaign, endpoint: str, *, credentials: Credentials | None = None) -> Rebound:
    """Bind a campaign's store to the new address of its marketplace.

    Args:
        campaign: the campaign.
        endpoint: the new URL.
        credentials: keys for the marketplace; without them, boto3's own chain.

    Raises:
        RefusedForSafety: it is not proven that this is the same marketplace, or the old
            one still runs.
        StoreError: the campaign has no store that is bound to a marketplace.
    """
    before, now = bound_endpoint(campaign), normal_endpoint(endpoint)
    platform = MTurk.with_keys(now, credentials)
    with (
        only_pass(campaign.store, by="piecework store move"),
        # Without the marks of this look: the store keeps those of its last pass, so
        # that the next one recognises an older copy.
        known_store(campaign) as store,
    ):
        assert store is not None  # noqa: S101 - its address was read from it
        if bound.read_bound(store).environment == now:
            raise StoreError(
                f"{store.address}: the campaign is at {now} already",
                next_step=f"piecework status {shell_word(campaign.path)}",
            )
        meeting = _meet(store, platform)
        _refuse_two(store, platform, before, credentials)
        seen = _recognised_hits(campaign, store, platform, meeting)
        with writing(store):
            store.db.execute("UPDATE bound SET environment = ?", [now])
    return Rebound(before=before, now=now, hits=seen, is_older=not meeting.has_seen)


def _meet(store: Store, platform: MTurk) -> Meeting:
    """Return what the marketplace knows of the store, if it is the store's own.

    Raises:
        RefusedForSafety: it has another account, or no marks.
    """
    known = bound.read_bound(store)
    meeting = platform.meet(intents.store_name(store), seen=generations.seen(store))
    if meeting is None or known.account is None:
        raise RefusedForSafety(
            f"{platform.endpoint}: this marketplace keeps no marks, so it cannot be "
            "proven that it is the campaign's own",
            next_step="give the marketplace its old address back",
        )
    if meeting.account != known.account:
        raise RefusedForSafety(
            f"{platform.endpoint}: this is another marketplace, or the keys are "
            "another requester's: its account is not the one that the campaign began "
            "with",
            next_step="check the URL and AWS_ACCESS_KEY_ID, then run the same command again",
        )
    if meeting.store_mark and not generations.has(store, meeting.store_mark):
        raise RefusedForSafety(
            f"{store.address}: the store lacks what the marketplace has done for it "
            f"(mark {meeting.store_mark}): another copy of the store is in use, or "
            "this one was restored",
            next_step="use the store with the latest work; if it is lost, give the "
            "marketplace its old address back and run `piecework store reconcile`",
        )
    return meeting


def _refuse_two(
    store: Store, platform: MTurk, before: str, credentials: Credentials | None
) -> None:
    """Refuse a copy while the marketplace still runs at its old address.

    Two copies would let different people do the same HITs. The same process may have
    both addresses; then both tell the same generation.

    Raises:
        RefusedForSafety: another process serves the marketplace there.
    """
    old = MTurk.with_keys(before, credentials, patience_seconds=_PATIENCE_SECONDS)
    name = intents.store_name(store)
    old.marks.store = platform.marks.store = name
    try:
        meeting = old.meet(name, seen=generations.seen(store))
    except PieceworkError:
        return  # It does not answer: it has moved.
    platform.meet(name, seen=generations.seen(store))
    if meeting is None or meeting.account != bound.read_bound(store).account:
        return
    if generation(old.marks.heard or "") != generation(platform.marks.heard or ""):
        raise RefusedForSafety(
            f"{before}: the marketplace still runs there too, and both are copies of "
            "one file: people would work on both",
            next_step="end the one that is not to continue, then run the same command again",
        )


def _recognised_hits(campaign: Campaign, store: Store, platform: MTurk, meeting: Meeting) -> int:
    """Return how many of the store's HITs are there, with the store's own keys.

    Raises:
        RefusedForSafety: a HIT has another key, or an open one is missing although the
            marketplace has seen all that the store has.
    """
    own = {hit_id: hit.hit_key for hit in hits.load_hits(store) if (hit_id := hit.hit_id)}
    missing = {str(hit.hit_id) for hit in hits.uncollected(store) if hit.hit_id}
    seen = 0
    for hit in platform.find_hits():
        key = own.get(hit.hit_id)
        if key is None:
            continue
        posted = posted_as(hit.annotation, campaign.name)
        is_own = posted is not None and posted.store == intents.store_name(store)
        if posted is None or not is_own or posted.hit_key != key:
            raise RefusedForSafety(
                f"{platform.endpoint}: HIT {hit.hit_id} is not the one that this "
                f"campaign posted (its note is {hit.annotation!r})",
                next_step="check the URL; this is not the campaign's marketplace",
            )
        seen += 1
        missing.discard(hit.hit_id)
    if missing and meeting.has_seen:
        raise RefusedForSafety(
            f"{platform.endpoint}: {len(missing)} open HITs of this campaign are "
            f"missing there, such as {min(missing)}",
            next_step="check that the whole file of the marketplace was moved",
        )
    return seen
