"""What a marketplace still has of a worker whose data were deleted is not stored again."""

from piecework.domain.clock import FixedClock
from piecework.domain.ids import HitKey, WorkerId
from piecework.store import archive, assignments, bound, hits, workers
from piecework.store.database import Store
from piecework.store.forgetting import forget_worker, forgotten
from tests.store.answered import answered_hits, answers_of

ANN, BOB = WorkerId("ann"), WorkerId("bob")


def _fetch_again(store: Store, clock: FixedClock) -> None:
    """As a pass does if slots were added to the HIT."""
    with store.db.atomic():
        for worker in (ANN, BOB):
            answers_of(store, hits.by_key(store, HitKey("H1")), worker, at=clock.now())


def _documents(store: Store) -> list[str]:
    return [raw for (raw,) in store.db.execute("SELECT raw FROM raw_answers ORDER BY raw")]


def test_a_hit_that_is_fetched_again_brings_nothing_back(store: Store, clock: FixedClock) -> None:
    """Neither what was removed, nor a second copy of what is in the archive."""
    bound.bind(store, "pseudonym_key", "ab" * 32)
    answered_hits(store, {"H1": (1, ["i1", "i2"])}, [ANN, BOB], at=clock.now())
    forget_worker(store, ANN, at=clock.now(), by="ada")
    _fetch_again(store, clock)
    assert _documents(store) == ["<Answer>bob</Answer>"]
    assert forgotten(store, [ANN, BOB]) == {ANN}
    archive.move(store, 1, at=clock.now())
    assert _documents(store) == []
    _fetch_again(store, clock)
    assert _documents(store) == []
    assert list(assignments.documents(store).values()) == ["<Answer>bob</Answer>"]


def test_the_score_of_a_forgotten_worker_is_not_stored_again(
    store: Store, clock: FixedClock
) -> None:
    """The marketplace lists all holders in each pass; the store does not name who left."""
    bound.bind(store, "pseudonym_key", "ab" * 32)
    scores = {ANN: 30, BOB: 31}
    workers.keep_scores(store, scores, at=clock.now())
    forget_worker(store, ANN, at=clock.now(), by="ada")
    workers.keep_scores(store, scores, at=clock.now())
    assert workers.load_scores(store) == {BOB: 31}
    ((mark,),) = store.db.execute("SELECT pseudonym FROM forgotten_workers").fetchall()
    assert "ann" not in mark
