"""While a study of this marketplace is unknown to its file, no more is published."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from piecework.marketplace.state import lineage
from piecework.markets.prolific.bridge.adopting import adopt
from piecework.markets.prolific.bridge.serving import step
from piecework.markets.prolific.bridge.status import read_status
from tests.markets.prolific.bridge.test_pay import LATER, decide
from tests.markets.prolific.bridge.test_screening import (
    RIGHT,
    make_test,
    post_for_tested,
    take_test,
)
from tests.markets.prolific.bridge.town import Town, a_town


@pytest.fixture
def screening_town(tmp_path: Path) -> Iterator[Town]:
    """A town in which taking a test is paid."""
    with a_town(tmp_path, screening_cents=60, screening_places=2) as town:
        yield town


def _make_study(town: Town, *, identity: str = "", publishes: bool = True) -> str:
    """A study of a name of our form in the marketplace's project."""
    with town.bridge.backend.transaction() as transaction:
        word = identity or lineage.identity(transaction)
    fields = {
        "internal_name": f"piecework 3HITTYPE 9 {word}-00000000",
        "project": town.bridge.terms.project_id,
    }
    make = town.researcher.study if publishes else town.researcher.draft
    return make(**fields)


def _compare_again(town: Town) -> None:
    """Start the server again, on the same file."""
    town.restore(town.copy())
    town.settle()


def _status(town: Town, study_id: str) -> str:
    return town.researcher.status(study_id)


def test_what_is_another_marketplaces_or_a_draft_keeps_nothing_back(town: Town) -> None:
    """Marketplaces may share a project; a draft costs nothing."""
    _make_study(town, identity="deadbeef")
    _make_study(town, publishes=False)
    town.post(hits=2)
    town.settle()
    with town.bridge.backend.transaction() as transaction:
        assert read_status(transaction).unknown == ()
    names = [each["name"] for each in town.studies() if each["status"] == "ACTIVE"]
    assert sorted(names) == ["Describe a picture", "Describe pictures"]


def test_a_study_gets_no_more_places(town: Town) -> None:
    """What they are for may have been done in the unknown one."""
    hit_ids = town.post(hits=2)
    town.settle()
    study = town.study()
    _make_study(town)
    _compare_again(town)
    for hit_id in hit_ids:
        town.requester.create_additional_assignments_for_hit(
            HITId=hit_id, NumberOfAdditionalAssignments=1
        )
    town.settle()
    there = town.researcher.get(f"/studies/{study}/")
    assert there["total_available_places"] == 1
    [row] = town.rows("SELECT trouble FROM studies")
    assert "nothing is published" in row["trouble"]


def test_a_draft_stays_a_draft(town: Town) -> None:
    """It waited for `--live`, and is published once the other is decided about."""
    town.bridge.terms = replace(town.bridge.terms, is_live=False)
    town.post(hits=2)
    town.settle()
    [draft] = [each["id"] for each in town.studies()]
    unknown = _make_study(town)
    town.bridge.terms = replace(town.bridge.terms, is_live=True)
    _compare_again(town)
    assert _status(town, draft) == "UNPUBLISHED"
    with town.bridge.backend.transaction() as transaction:
        transaction.execute("UPDATE unknown_studies SET is_left = 1 WHERE study_id = ?", unknown)
    town.settle()
    assert _status(town, draft) == "ACTIVE"


def test_a_study_that_waits_for_review_is_not_started_again(town: Town) -> None:
    """Its free place would be filled."""
    hit_ids = town.post(hits=2, assignments=2, **LATER)
    town.settle()
    study = town.study()
    ann, bob = town.visitor(), town.visitor()
    ann.work(study)
    bob.work(study)
    town.settle()
    decide(town, bob, "reject", 0, 1)
    town.settle()
    _make_study(town)
    _compare_again(town)
    bob.give_back(bob.submission_id)
    for hit_id in hit_ids:
        town.requester.create_additional_assignments_for_hit(
            HITId=hit_id, NumberOfAdditionalAssignments=1
        )
    town.settle()
    assert _status(town, study) == "AWAITING REVIEW"


def test_a_screening_that_the_copy_lacks_is_adopted_with_its_study(screening_town: Town) -> None:
    """No second one is offered meanwhile; who passes its test does the HITs."""
    town = screening_town
    hit_ids = post_for_tested(town, make_test(town))
    copy = town.copy()
    town.settle()
    town.restore(copy)
    town.settle()
    by_reward = {each["reward"]: each["id"] for each in town.studies()}
    assert len(town.studies()) == 2
    adopt(town.bridge, by_reward[110])
    town.settle()
    assert len(town.rows("SELECT * FROM studies")) == 1
    adopt(town.bridge, by_reward[60])
    town.settle()
    ann = town.visitor()
    take_test(ann, by_reward[60], RIGHT)
    town.settle()
    ann.work(by_reward[110])
    for assignment in town.submitted(*hit_ids):
        town.requester.approve_assignment(AssignmentId=assignment["AssignmentId"])
    town.settle()
    assert len(town.studies()) == 2
    assert town.researcher.submission(ann.submission_id)["status"] == "APPROVED"
    town.check_books()


def test_a_draft_is_looked_for_by_its_name_also_where_no_try_is_known(town: Town) -> None:
    """The copy was made after the study was wanted, and before it was made."""
    town.post(hits=2, **LATER)
    town.settle()
    [study] = town.studies()
    with town.bridge.backend.transaction() as transaction:
        # As the row was before the draft's reply came.
        transaction.execute("UPDATE studies SET stage = 'Wanted', status = '', study_id = NULL")
    town.restore(town.copy())
    town.settle()
    assert [each["id"] for each in town.studies()] == [study["id"]]
    town.visitor().work(study["id"])


def test_nothing_is_published_before_prolific_was_compared(town: Town) -> None:
    """Where its list of studies cannot be read, the bridge waits."""
    town.post(hits=2)
    outage = {"operation": "get-project-studies", "kind": "server_error", "times": 2}
    town.researcher.control("PUT", "/faults", [outage])
    step(town.bridge)
    assert town.studies() == []
    town.settle()
    assert [each["status"] for each in town.studies()] == ["ACTIVE"]
