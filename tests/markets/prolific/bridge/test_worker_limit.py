"""What one worker may not do holds for participants of Prolific too: limits, HITs kept apart."""

from pathlib import Path
from typing import Any

from piecework.marketplace.state import worker_limits
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


def test_who_did_all_that_a_limit_allows_in_another_type_is_kept_out(tmp_path: Path) -> None:
    """A new limit makes a new type and study: Ann has done her two HITs in the old ones."""
    with a_town(tmp_path, hits_per_visit=2) as town:
        town.post(hits=2, assignments=2)
        town.settle()
        ann = town.visitor()
        ann.work(town.study())
        town.post(hits=4, assignments=2, Description="With a limit.")
        for most in (worker_limits.NO_LIMIT, 2):
            town.rows(
                "INSERT OR REPLACE INTO hit_type_limits (hit_type, name, most, is_of_batch) "
                "SELECT id, 'birds', ?, 0 FROM hit_types WHERE ? OR description LIKE '%limit%' "
                "RETURNING name",
                most,
                most == worker_limits.NO_LIMIT,
            )
        town.settle()
        assert len(town.studies()) == 2
        [later] = [row["study_id"] for row in town.rows("SELECT study_id FROM studies WHERE id=2")]
        assert later not in ann.studies()
        assert later in town.visitor().studies()


def test_time_is_measured_over_all_types_of_the_same_work(tmp_path: Path) -> None:
    """Ten answers are enough, in whichever types; another campaign or reward is other work.

    A campaign is known by its limit, not by its title. A type without one stands alone.
    """
    types: tuple[tuple[str, dict[str, Any]], ...] = (
        ("birds", {}),
        ("birds", {"Title": "Birds again"}),
        ("fish", {"Description": "Of another campaign."}),
        ("birds", {"Reward": "0.99"}),
        ("", {"Description": "Of nobody's campaign."}),
    )
    with a_town(tmp_path, hits_per_visit=5) as town:
        for number, (campaign, changed) in enumerate(types):
            town.post(hits=5, **changed)
            for is_of_batch in range(2 if campaign else 0):
                town.rows(
                    "INSERT INTO hit_type_limits (hit_type, name, most, is_of_batch) "
                    "SELECT max(id), ?, ?, ? FROM hit_types RETURNING name",
                    *("batch" if is_of_batch else campaign, worker_limits.NO_LIMIT, is_of_batch),
                )
            town.settle()
            if number < 2:
                town.visitor().work(town.study())
                town.settle()
        with town.bridge.backend.transaction() as transaction:
            measured = [
                studies.measured_seconds(transaction, row["id"])
                for row in transaction.all("SELECT id FROM hit_types ORDER BY id")
            ]
        assert [seconds is not None for seconds in measured] == [True, True, False, False, False]
