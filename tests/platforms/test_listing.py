"""Listings of HITs are read no further than they may have news."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from piecework.domain.clock import FixedClock
from piecework.domain.errors import PlatformRefused
from piecework.domain.hit import HitType, PlannedHit
from piecework.domain.ids import HitId, HitKey, HitTypeId
from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.requester import extensions
from piecework.platforms.clocks import VirtualClock
from piecework.platforms.listing import newer, posted_hits
from piecework.platforms.mturk import MTurk
from piecework.store import hits
from piecework.store.database import open_store
from piecework.store.intents import Intent, declare
from piecework.store.last_pass import older_hits

PAGE = """<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/\
AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"><HTMLContent><![CDATA[
<form action="externalSubmit"><input name="assignmentId"></form>
]]></HTMLContent><FrameHeight>0</FrameHeight></HTMLQuestion>"""


@dataclass(frozen=True, slots=True)
class Shop:
    """A marketplace with 150 HITs of nine o'clock and 3 of noon, all reviewable."""

    platform: MTurk
    hit_type_id: HitTypeId
    morning: frozenset[str]
    noon: frozenset[str]

    def calls(self, operation: str) -> int:
        """How often an operation was called."""
        counts = httpx.get(f"{self.platform.endpoint}/rehearsal/calls").json()
        return int(counts.get(operation, 0))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """More than a page of HITs that are over, and a few that came later."""
    with serve(
        Marketplace(
            tmp_path_factory.mktemp("listing") / "marketplace.db",
            rehearsal=True,
            seed=1,
            start=datetime(2026, 1, 5, 9, tzinfo=UTC),
        )
    ) as running:
        platform = MTurk(running.endpoint_url, access_key="R", secret_key="none")  # noqa: S106
        kind = HitType(
            title="A picture",
            description="Say what it shows.",
            keywords=("picture",),
            reward_cents=5,
            assignment_duration_seconds=600,
            auto_approval_delay_seconds=3600,
            requirements=(),
        )
        hit_type_id = platform.hit_type(kind)
        morning = _post(platform, hit_type_id, 150)
        clock = VirtualClock(running.endpoint_url)
        clock.let_pass(timedelta(hours=3))
        noon = _post(platform, hit_type_id, 3)
        clock.let_pass(timedelta(hours=3))
        yield Shop(platform, hit_type_id, morning, noon)


def _post(platform: MTurk, hit_type_id: HitTypeId, number: int) -> frozenset[str]:
    return frozenset(
        platform.publish(
            hit_type_id,
            PAGE,
            max_assignments=1,
            lifetime_seconds=60,
            annotation=f"{number}/{place}",
            token=f"{number}-{place}",
        )
        for place in range(number)
    )


class _Listing:
    """A client whose list has one HIT, which was posted at noon."""

    def __init__(self, **members: object) -> None:
        self.hit = {
            "HITId": "H",
            "HITTypeId": "T",
            "MaxAssignments": 1,
            "Reward": "0.05",
            "CreationTime": datetime(2026, 1, 5, 12, tzinfo=UTC),
            "AssignmentDurationInSeconds": 600,
            **members,
        }

    def get_paginator(self, _: str) -> "_Listing":
        """Return itself."""
        return self

    def paginate(self, **_: object) -> list[dict[str, object]]:
        """Return one page."""
        return [{"HITs": [self.hit]}]


@pytest.mark.parametrize(
    ("expired_at", "seconds"),
    [
        (datetime(2026, 1, 5, 13, tzinfo=UTC), 3600),
        # As `MTurk.expire` ends it.
        (datetime(1970, 1, 1, tzinfo=UTC), 0),
    ],
)
def test_no_hit_was_over_before_it_was_posted(expired_at: datetime, seconds: int) -> None:
    """One that was ended does not tell for how long it might have been taken."""
    client: Any = _Listing(Expiration=expired_at)
    (posted,) = posted_hits(client, ())
    assert posted.lifetime_seconds == seconds
    assert posted.auto_approval_seconds == 0
    client.hit["AutoApprovalDelayInSeconds"] = 60
    assert next(posted_hits(client, ())).auto_approval_seconds == 60


def test_a_listing_is_read_to_its_end_where_nothing_is_known(shop: Shop) -> None:
    """153 HITs: two pages, and the empty one that ends a list."""
    before = shop.calls("ListReviewableHITs")
    listed = set(shop.platform.reviewable_hits([shop.hit_type_id]))
    assert listed == shop.morning | shop.noon
    assert shop.calls("ListReviewableHITs") - before == 3


def test_a_listing_is_read_no_further_than_to_what_is_older(shop: Shop) -> None:
    """The three of noon stand on the first page, before the older ones."""
    before = shop.calls("ListReviewableHITs"), shop.calls("ListHITs")
    listed = shop.platform.reviewable_hits([shop.hit_type_id], older=shop.morning)
    assert shop.noon <= set(listed)
    assert shop.noon <= {hit_id for hit_id, _ in shop.platform.submitted(older=shop.morning)}
    assert shop.calls("ListReviewableHITs") - before[0] == 1
    assert shop.calls("ListHITs") - before[1] == 1


def test_hits_with_too_many_assignments_for_one_call_are_read_alone(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slots that were added by hand can exceed what a call may list together."""
    monkeypatch.setattr(extensions, "_MOST_TOGETHER", -1)
    hit_ids = [HitId(hit_id) for hit_id in sorted(shop.noon)]
    before = shop.calls("ListAssignmentsForHIT")
    assert shop.platform.assignments(dict.fromkeys(hit_ids, 1)) == {
        hit_id: [] for hit_id in hit_ids
    }
    assert shop.calls("ListAssignmentsForHIT") - before > len(hit_ids)


def test_another_refusal_of_a_joint_call_is_passed_on(shop: Shop) -> None:
    """An unknown HIT stays unknown."""
    slots = {HitId(min(shop.noon)): 1, HitId("3" + "A" * 29): 1}
    before = shop.calls("ListAssignmentsForHIT")
    with pytest.raises(PlatformRefused) as refused:
        shop.platform.assignments(slots)
    assert refused.value.kind == "hit_unknown"
    assert shop.calls("ListAssignmentsForHIT") - before == 1


def _page(*hours: int) -> dict[str, list[dict[str, object]]]:
    made = datetime(2026, 1, 5, tzinfo=UTC)
    return {
        "HITs": [
            {"HITId": HitId(f"H{hour}"), "CreationTime": made + timedelta(hours=hour)}
            for hour in hours
        ]
    }


@pytest.mark.parametrize(
    ("first", "pages"),
    [((9, 8, 1), 1), ((1, 8, 9), 2), ((8, 1, 9), 2), ((1, 1, 1), 2), ((9, 8, 7), 2)],
)
def test_only_a_page_that_is_the_newest_first_ends_a_listing(
    first: tuple[int, ...], pages: int
) -> None:
    """MTurk promises no order; H1 is older than all that is waited for."""
    asked = iter([_page(*first), _page(0, 0)])
    list(newer(asked, {"H1"}))
    assert 2 - len(list(asked)) == pages


@pytest.mark.parametrize(
    ("asked_for", "pages"),
    [
        # A whole page of HITs that were posted at once, as a fast requester posts them.
        (((9, 9), (1, 1), (0, 0)), 2),
        (((9, 9), (9, 1), (0, 0)), 2),
        # The second page is newer than the first: there is no order to rely on.
        (((8, 8), (9, 1), (0, 0)), 3),
        (((1, 1), (9, 9), (0, 0)), 3),
    ],
)
def test_the_order_of_pages_counts_too(asked_for: tuple[tuple[int, ...], ...], pages: int) -> None:
    """Pages without an order of their own have one among each other."""
    asked = iter([_page(*hours) for hours in asked_for])
    list(newer(asked, {"H1"}))
    assert 3 - len(list(asked)) == pages


def test_a_hit_that_was_found_late_is_not_overlooked(shop: Shop, tmp_path: Path) -> None:
    """Planned as the last of 24, created as their first, and found when two hours old.

    It stands on the second page of the listing, and those others on the first.
    """
    created = [
        hit_id
        for hit_id in reversed(list(shop.platform.reviewable_hits([shop.hit_type_id])))
        if hit_id in shop.morning
    ]
    lost = created.pop(52)
    clock = FixedClock(datetime(2026, 1, 5, 9, tzinfo=UTC))
    store = open_store(tmp_path / "piecework.db", create=True)
    planned = [*created[:75], lost, *created[75:]]
    hits.plan(
        store,
        [
            PlannedHit(
                hit_key=HitKey(hit_id),
                batch=1,
                round=0,
                max_assignments=1,
                reward_cents=5,
                fee_cents=1,
                item_ids=(),
            )
            for hit_id in planned
        ],
    )
    for hit_id in planned:
        intent = Intent(key=f"publish:{hit_id}", operation="publish", subject=("hit", hit_id))
        declare(store, intent, clock)
    for hit_id in [*created, lost]:
        if hit_id == lost:
            clock.moment += timedelta(hours=2)
        hits.mark_posted(
            store,
            HitKey(hit_id),
            hit_type_id=shop.hit_type_id,
            hit_id=hit_id,
            at=clock.now(),
            lifetime_seconds=86_400,
            duration_seconds=3_600,
            auto_approval_seconds=3_600,
        )
        if hit_id != lost:
            hits.mark_collected(store, hit_id, at=clock.now())
    listed = shop.platform.reviewable_hits([shop.hit_type_id], older=older_hits(store.db))
    assert lost in set(listed)
    store.close()
