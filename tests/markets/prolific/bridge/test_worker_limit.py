"""What one worker may not do holds for participants of Prolific too: limits, HITs kept apart."""

from pathlib import Path

from piecework.marketplace.workers import discovery
from piecework.markets.bridging import studies
from tests.marketplace.market import post
from tests.marketplace.test_kept_apart import post_apart
from tests.markets.prolific.bridge.town import Town, a_town


def test_a_visit_has_no_more_hits_than_a_participant_may_do(tmp_path: Path) -> None:
    """Two of four HITs in a visit; who has done two is turned away from more."""
    with a_town(tmp_path, hits_per_visit=4) as town:
        town.post(hits=4, assignments=3)
        town.rows(
            "INSERT INTO hit_type_limits (hit_type, name, most, is_of_batch) "
            "SELECT id, 'birds', 2, 0 FROM hit_types RETURNING name"
        )
        town.settle()
        [study] = town.rows("SELECT hits_per_visit FROM studies")
        assert study == {"hits_per_visit": 2}
        ann = town.visitor()
        ann.work(town.study())
        done = "SELECT status, count(*) AS n FROM assignments GROUP BY status"
        assert town.rows(done) == [{"status": "Submitted", "n": 2}]
        with town.bridge.backend.transaction() as transaction:
            [worker] = transaction.all("SELECT * FROM workers")
            [hit_type] = transaction.all("SELECT * FROM hit_types")
            group = discovery.visible_group(transaction, worker, hit_type["hit_group_id"])
            # A later study with the same HITs has nothing for her.
            assert (group.may_accept, group.available) == (False, 0)


def test_a_visit_has_no_two_hits_that_are_kept_apart(tmp_path: Path) -> None:
    """The third HIT, for two people, is apart from the others: it gets visits of its own.

    It has the most free slots, and still the first participant gets the other two.
    """
    with a_town(tmp_path, hits_per_visit=3) as town:
        first, second = (post(town.requester)["HITId"] for _ in range(2))
        third = post_apart(town.requester, [first, second], MaxAssignments=2)["HITId"]
        town.settle()
        assert _studies(town) == [{"hits_per_visit": 2, "places": 1}]
        town.visitor().work(town.study())
        assert [len(town.submitted(hit)) for hit in (first, second, third)] == [1, 1, 0]
        town.settle()
        assert _studies(town)[1:] == [{"hits_per_visit": 1, "places": 2}]
        for _ in range(2):
            town.visitor().work(town.study())
            town.settle()
        assert len(town.submitted(third)) == 2
        assert town.rows("SELECT DISTINCT stage FROM visits") == [{"stage": "Done"}]


_STUDY = (
    "SELECT studies.*, requester, hit_group_id FROM studies "
    "JOIN hit_types ON hit_types.id = studies.hit_type"
)


def _studies(town: Town) -> list[dict[str, int]]:
    return town.rows("SELECT hits_per_visit, places FROM studies ORDER BY id")


def test_who_could_do_only_hits_that_are_kept_apart_is_kept_out(tmp_path: Path) -> None:
    """Ann did one of four HITs; of the three left, two are apart: too few for a visit of three."""
    with a_town(tmp_path, hits_per_visit=3) as town:
        post(town.requester)
        town.settle()
        town.visitor().work(town.study())
        town.settle()
        first, _ = (post(town.requester)["HITId"] for _ in range(2))
        post_apart(town.requester, [first])
        with town.bridge.backend.transaction() as transaction:
            [ann] = transaction.all(studies.PARTICIPANTS, "prolific")
            for length, is_unfit in ((2, False), (3, True)):
                transaction.execute("UPDATE studies SET hits_per_visit = ?", length)
                [study] = transaction.all(_STUDY)
                _, unfit = studies.fitting_and_unfit(transaction, study, [ann], [])
                assert bool(unfit) == is_unfit
