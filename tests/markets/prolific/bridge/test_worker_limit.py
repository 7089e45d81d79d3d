"""A requester's limit for each worker holds for participants of Prolific too."""

from pathlib import Path

from piecework.marketplace.workers import discovery
from tests.markets.prolific.bridge.town import a_town


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
