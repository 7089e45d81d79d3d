from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from piecework.domain.hit import PlannedHit
from piecework.domain.ids import HitId, HitKey, HitTypeId
from piecework.domain.store_address import in_folder
from piecework.domain.verdicts import Decision
from piecework.store import campaign_facts, decisions, hits
from piecework.store.database import Store, open_store, to_text
from piecework.store.last_pass import (
    end_to_tell,
    mark_end_announced,
    mark_polled,
    older_hits,
    recall,
    remember,
)

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
LAST_FINDINGS = {"accepted": 3, "waiting_for": "people"}


def test_what_a_pass_found_holds_until_something_is_written(store: Store) -> None:
    """After a person's decision the next pass looks again."""
    remember(store, LAST_FINDINGS, request_digest="request")
    last = recall(store.address, request_digest="request")
    assert last is not None
    assert (last.progress, last.open_hits) == (LAST_FINDINGS, frozenset())

    decision = Decision(
        subject_kind="worker",
        subject_id="W1",
        verdict="keep",
        decided_by="ada",
        decided_at=START,
        because="",
    )
    assert decisions.keep_decisions(store, [decision]) == 1
    assert recall(store.address, request_digest="request") is None


def test_the_end_of_a_campaign_is_announced_once_until_it_goes_on(store: Store) -> None:
    """A pass that died before it had told the end leaves the event's id to the next."""
    remember(store, LAST_FINDINGS, request_digest="request")
    assert end_to_tell(store.address, event_id="first") == "first"
    assert end_to_tell(store.address, event_id="after a crash") == "first"
    mark_end_announced(store.address, is_announced=True)
    assert end_to_tell(store.address, event_id="later") is None
    last = recall(store.address, request_digest="request")
    assert last is not None
    assert last.progress == LAST_FINDINGS
    mark_end_announced(store.address, is_announced=False)
    assert end_to_tell(store.address, event_id="again") == "again"


def test_what_others_write_while_a_pass_ends_is_not_remembered_as_found(store: Store) -> None:
    """It would stay valid forever, although the progress was read before it."""
    remember(store, LAST_FINDINGS, request_digest="request")
    for writes in (False, True):
        other = open_store(store.address)
        if writes:
            campaign_facts.record_stop(other, at=START)
        other.close()
        remember(store, LAST_FINDINGS, request_digest="request")
        # A reader, and what the pass itself writes, do not matter.
        assert (recall(store.address, request_digest="request") is None) is writes


def test_a_write_that_is_under_way_is_waited_for_and_seen(store: Store) -> None:
    """A connection that holds the store when a pass wants to remember came first."""
    other = open_store(store.address)
    with ThreadPoolExecutor(1) as pool:
        with other.db.atomic():
            campaign_facts.record_stop(other, at=START)
            remembered = pool.submit(remember, store, LAST_FINDINGS, request_digest="request")
            assert not wait([remembered], timeout=0.2).done
        remembered.result(timeout=30)
    other.close()
    assert recall(store.address, request_digest="request") is None


def test_a_column_that_is_filled_counts_as_written(store: Store) -> None:
    """When a HIT gets its id no row is added, but the result is forgotten as well."""
    store.db.execute(
        "INSERT INTO hits (hit_key, batch, round, max_assignments, reward_cents, "
        "fee_cents, item_ids, hit_type_id, posted_at) "
        "VALUES ('k', 1, 0, 1, 5, 1, '[]', 'T', ?)",
        [to_text(START)],
    )
    remember(store, LAST_FINDINGS, request_digest="request")
    assert recall(store.address, request_digest="request") is not None
    store.db.execute("UPDATE hits SET hit_id = 'H1'")
    assert recall(store.address, request_digest="request") is None
    remember(store, LAST_FINDINGS, request_digest="request")
    last = recall(store.address, request_digest="request")
    assert last is not None
    assert last.open_hits == {"H1"}


def test_other_requests_and_a_folder_without_a_store_know_nothing(
    store: Store, tmp_path: Path
) -> None:
    """The result under a lower cap does not hold under a higher one."""
    remember(store, LAST_FINDINGS, request_digest="request")
    assert recall(store.address, request_digest="other request") is None
    assert recall(in_folder(tmp_path / "none"), request_digest="request") is None


def test_when_the_marketplace_was_polled_outlives_what_is_written(store: Store) -> None:
    """A poll is remembered once, separately from the progress."""
    mark_polled(store.address, at=START, wait=timedelta(minutes=1))
    assert recall(store.address, request_digest="request") is None  # no pass has ended
    remember(store, LAST_FINDINGS, request_digest="request")
    mark_polled(store.address, at=START + timedelta(hours=1), wait=timedelta(minutes=90))
    campaign_facts.record_stop(store, at=START)
    assert recall(store.address, request_digest="request") is None
    with closing(open_store(store.address)) as next_pass:
        remember(next_pass, LAST_FINDINGS, request_digest="request")
    last = recall(store.address, request_digest="request")
    assert last is not None
    assert last.polled_at == START + timedelta(hours=1)
    assert last.wait == timedelta(minutes=90)
    assert store.db.execute("SELECT count(*) FROM last_pass").fetchone() == (1,)


def _posted(store: Store, hours: dict[str, float], *, collected: str) -> None:
    """HITs by name, in the order of their plan, each posted at an hour."""
    planned = [
        PlannedHit(
            hit_key=HitKey(name),
            batch=1,
            round=0,
            max_assignments=5,
            reward_cents=5,
            fee_cents=1,
            item_ids=(),
        )
        for name in hours
    ]
    hits.plan(store, planned)
    for name, hour in hours.items():
        at = START + timedelta(hours=hour)
        hits.mark_posted(
            store,
            HitKey(name),
            hit_type_id=HitTypeId("T"),
            hit_id=HitId(name),
            at=at,
            lifetime_seconds=86_400,
            duration_seconds=3_600,
            auto_approval_seconds=3_600,
        )
    for name in collected:
        hits.mark_collected(store, HitId(name), at=START + timedelta(days=1))


def test_older_is_what_was_posted_long_before_all_that_is_waited_for(store: Store) -> None:
    """C and E are open: A is older by hours; B, by minutes, may be listed after C."""
    _posted(store, {"A": 0, "B": 4.5, "C": 5, "D": 5, "E": 9}, collected="ABD")
    assert older_hits(store.db) == {"A"}


def test_a_hit_that_was_found_late_makes_nothing_older_hits(store: Store) -> None:
    """B's reply was lost: it was found and recorded long after C was posted."""
    _posted(store, {"A": 0, "B": 9, "C": 5}, collected="AC")
    assert older_hits(store.db) == {"A"}


def test_nothing_is_older_where_nothing_is_waited_for(store: Store) -> None:
    """All is collected."""
    _posted(store, {"A": 0, "B": 9}, collected="AB")
    assert older_hits(store.db) == frozenset()
