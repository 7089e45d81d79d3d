from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime
from pathlib import Path

from domain.verdicts import Decision
from store import stops
from store.columns import to_text
from store.database import Store, open_store
from store.judgements import keep_decisions
from store.standing import glance, remember

FOUND = {"accepted": 3, "waiting_for": "people"}


def test_what_a_pass_found_holds_until_something_is_written(
    store: Store, tmp_path: Path
) -> None:
    """A decision made by a person afterwards makes the next pass look for itself."""
    remember(store, FOUND, asked="request")
    found = glance(tmp_path, asked="request")
    assert found is not None
    assert (found.progress, found.open_hits) == (FOUND, frozenset())

    decision = Decision(
        subject_kind="worker",
        subject_id="W1",
        verdict="keep",
        decided_by="ada",
        decided_at=datetime(2026, 1, 5, 9, tzinfo=UTC),
        because="",
    )
    assert keep_decisions(store, [decision]) == 1
    assert glance(tmp_path, asked="request") is None


def test_what_others_write_while_a_pass_ends_is_not_remembered_as_found(
    store: Store, tmp_path: Path
) -> None:
    """The tally would hold for ever, and the progress was read before it."""
    remember(store, FOUND, asked="request")
    for writes in (False, True):
        other = open_store(store.path)
        if writes:
            stops.stop(other, at=datetime(2026, 1, 5, 9, tzinfo=UTC))
        other.close()
        remember(store, FOUND, asked="request")
        # Somebody who only looks, and what the pass itself writes, change nothing.
        assert (glance(tmp_path, asked="request") is None) is writes


def test_a_write_that_is_under_way_is_waited_for_and_seen(
    store: Store, tmp_path: Path
) -> None:
    """Whoever holds the store when a pass wants to remember has come before it."""
    other = open_store(store.path)
    with ThreadPoolExecutor(1) as pool:
        with other.db.atomic():
            stops.stop(other, at=datetime(2026, 1, 5, 9, tzinfo=UTC))
            remembered = pool.submit(remember, store, FOUND, asked="request")
            assert not wait([remembered], timeout=0.2).done
        remembered.result(timeout=30)
    other.close()
    assert glance(tmp_path, asked="request") is None


def test_a_column_that_is_filled_counts_as_written(
    store: Store, tmp_path: Path
) -> None:
    """No row is added when a HIT gets its id; the standing falls all the same."""
    store.db.execute(
        "INSERT INTO hits VALUES ('k', 1, 0, 1, 5, 1, '[]', 'T', NULL, ?, NULL, NULL)",
        [to_text(datetime(2026, 1, 5, 9, tzinfo=UTC))],
    )
    remember(store, FOUND, asked="request")
    assert glance(tmp_path, asked="request") is not None
    store.db.execute("UPDATE hits SET hit_id = 'H1'")
    store.db.conn.commit()
    assert glance(tmp_path, asked="request") is None
    remember(store, FOUND, asked="request")
    found = glance(tmp_path, asked="request")
    assert found is not None
    assert found.open_hits == {"H1"}


def test_other_orders_and_a_folder_without_a_store_know_nothing(
    store: Store, tmp_path: Path
) -> None:
    """What was found under a lower cap says nothing about a higher one."""
    remember(store, FOUND, asked="request")
    assert glance(tmp_path, asked="other request") is None
    assert glance(tmp_path / "none", asked="request") is None
