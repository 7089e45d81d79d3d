"""The life of a HIT as requesters see it, over the wire."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.marketplace.market import HIT_TYPE, QUESTION, Market, expire, post, refusal


def counters(hit: Mapping[str, Any]) -> tuple[str, int, int, int]:
    """State, available, pending, completed."""
    return (
        hit["HITStatus"],
        hit["NumberOfAssignmentsAvailable"],
        hit["NumberOfAssignmentsPending"],
        hit["NumberOfAssignmentsCompleted"],
    )


def test_a_new_hit_says_what_was_asked_and_is_assignable(standing: Market) -> None:
    """GetHIT gives back what CreateHIT was given, with ids of 30 characters."""
    client = standing.requester()
    made = post(client, MaxAssignments=3, RequesterAnnotation="birds.b1.r0.0001")
    hit = client.get_hit(HITId=made["HITId"])["HIT"]
    assert hit["Question"] == QUESTION
    assert hit["RequesterAnnotation"] == "birds.b1.r0.0001"
    assert {name: hit[name] for name in HIT_TYPE} == HIT_TYPE  # type: ignore[literal-required]
    assert counters(hit) == ("Assignable", 3, 0, 0)
    assert (hit["Expiration"] - hit["CreationTime"]).total_seconds() == 86_400
    ids = {hit["HITId"], hit["HITTypeId"], hit["HITGroupId"]}
    assert len(ids) == 3
    assert {len(identifier) for identifier in ids} == {30}


def test_equal_values_are_one_hit_type(standing: Market) -> None:
    """CreateHITType and CreateHIT agree on the type of equal values; others differ."""
    client = standing.requester()
    first = client.create_hit_type(**HIT_TYPE)["HITTypeId"]
    assert client.create_hit_type(**HIT_TYPE)["HITTypeId"] == first
    assert post(client)["HITTypeId"] == first
    other = client.create_hit_type(**{**HIT_TYPE, "Reward": "0.56"})["HITTypeId"]
    assert other != first
    assert standing.requester().create_hit_type(**HIT_TYPE)["HITTypeId"] != first


def test_a_hit_goes_through_its_states(market: Market) -> None:
    """Assignable, Unassignable, back by a return, Reviewable, and Disposed."""
    client, ann, bob = market.requester(), market.worker(), market.worker()
    made = post(client, MaxAssignments=2)
    hit_id, group = made["HITId"], made["HITGroupId"]

    def now() -> tuple[str, int, int, int]:
        return counters(client.get_hit(HITId=hit_id)["HIT"])

    anns = ann.accept(group).json()["assignment_id"]
    assert now() == ("Assignable", 1, 1, 0)
    bobs = bob.accept(group).json()["assignment_id"]
    assert now() == ("Unassignable", 0, 2, 0)
    bob.give_back(bobs)
    assert now() == ("Assignable", 1, 1, 0)
    ann.submit(anns)
    assert now() == ("Assignable", 1, 0, 0)
    again = bob.accept(group, hit_id=hit_id).json()["assignment_id"]
    bob.submit(again)
    assert now() == ("Reviewable", 0, 0, 0)
    client.approve_assignment(AssignmentId=anns)
    client.reject_assignment(AssignmentId=again, RequesterFeedback="It is empty.")
    assert now() == ("Reviewable", 0, 0, 2)
    client.delete_hit(HITId=hit_id)
    assert now()[0] == "Disposed"
    assert client.list_hits()["HITs"] == []


def test_expiry_waits_for_those_who_accepted(market: Market) -> None:
    """An expired HIT is Reviewable once the last worker is done, not before."""
    client, ann = market.requester(), market.worker()
    made = post(client, MaxAssignments=2, LifetimeInSeconds=60)
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]
    market.wait(seconds=60)
    hit = client.get_hit(HITId=made["HITId"])["HIT"]
    assert counters(hit) == ("Unassignable", 0, 1, 0)
    assert market.worker().accept(made["HITGroupId"]).status_code == 409
    market.wait(seconds=540)  # exactly at the worker's deadline of 600 s
    assert ann.submit(assignment).status_code == 200
    hit = client.get_hit(HITId=made["HITId"])["HIT"]
    assert counters(hit) == ("Reviewable", 0, 0, 0)


def test_a_hit_that_nobody_took_expires_into_reviewable(market: Market) -> None:
    """Expiry without any submission ends in Reviewable, and the money is free."""
    client = market.requester()
    post(client, LifetimeInSeconds=30)
    market.wait(seconds=30)
    assert client.list_reviewable_hits()["NumResults"] == 1
    assert client.get_account_balance()["OnHoldBalance"] == "0.00"


def test_a_missed_deadline_frees_the_slot(market: Market) -> None:
    """Submission after the deadline is refused and somebody else may have the HIT."""
    client, ann = market.requester(), market.worker()
    made = post(client)
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]
    market.wait(seconds=600.001)
    late = ann.submit(assignment)
    assert late.status_code == 409
    assert late.json()["error"] == "AssignmentNotOpen"
    assert counters(client.get_hit(HITId=made["HITId"])["HIT"])[0] == "Assignable"
    assert ann.groups() == []
    assert market.worker().accept(made["HITGroupId"]).status_code == 201


def test_expiring_now_and_extending_again(market: Market) -> None:
    """ExpireAt in the past closes at once; a future one opens the HIT again."""
    client = market.requester()
    made = post(client)
    expire(client, made["HITId"])
    hit = client.get_hit(HITId=made["HITId"])["HIT"]
    assert hit["HITStatus"] == "Reviewable"
    assert hit["Expiration"] == market.now()
    expire(client, made["HITId"], market.now() + timedelta(days=27))
    hit = client.get_hit(HITId=made["HITId"])["HIT"]
    assert counters(hit) == ("Assignable", 1, 0, 0)


def test_more_assignments_open_a_finished_hit(standing: Market) -> None:
    """CreateAdditionalAssignmentsForHIT turns Reviewable back into Assignable."""
    client, ann = standing.requester(), standing.worker()
    made = post(client)
    ann.do(made["HITGroupId"])
    client.create_additional_assignments_for_hit(
        HITId=made["HITId"], NumberOfAdditionalAssignments=2
    )
    hit = client.get_hit(HITId=made["HITId"])["HIT"]
    assert counters(hit) == ("Assignable", 2, 0, 0)
    assert hit["MaxAssignments"] == 3


@pytest.mark.parametrize(("first", "more", "allowed"), [(9, 1, False), (10, 5, True)])
def test_a_small_hit_never_grows_to_ten(
    standing: Market, first: int, more: int, *, allowed: bool
) -> None:
    """The cheaper fee under ten assignments cannot be had by growing later."""
    client = standing.requester()
    made = post(client, MaxAssignments=first)
    parameters = {"HITId": made["HITId"], "NumberOfAdditionalAssignments": more}
    if allowed:
        client.create_additional_assignments_for_hit(**parameters)
        return
    with pytest.raises(ClientError) as caught:
        client.create_additional_assignments_for_hit(**parameters)
    assert refusal(caught.value)[1] == "InvalidMaximumAssignmentsIncrease"


def test_review_status_goes_there_and_back(standing: Market) -> None:
    """Reviewable to Reviewing and back; a repeat is an error that names the state."""
    client, ann = standing.requester(), standing.worker()
    made = post(client)
    hit_id = made["HITId"]
    ann.do(made["HITGroupId"])
    client.update_hit_review_status(HITId=hit_id)
    assert client.list_reviewable_hits()["HITs"] == []
    listed = client.list_reviewable_hits(Status="Reviewing")["HITs"]
    assert [hit["HITId"] for hit in listed] == [hit_id]
    with pytest.raises(ClientError) as caught:
        client.update_hit_review_status(HITId=hit_id)
    assert refusal(caught.value)[1] == "InvalidHITState"
    assert "'Reviewing'" in refusal(caught.value)[2]
    with pytest.raises(ClientError):
        client.delete_hit(HITId=hit_id)
    client.update_hit_review_status(HITId=hit_id, Revert=True)
    assert client.list_reviewable_hits()["NumResults"] == 1


def test_a_hit_with_undecided_work_cannot_be_deleted(standing: Market) -> None:
    """DeleteHIT wants a Reviewable HIT whose assignments are all decided, once."""
    client, ann = standing.requester(), standing.worker()
    made = post(client)
    with pytest.raises(ClientError) as caught:
        client.delete_hit(HITId=made["HITId"])
    assert "'Assignable'" in refusal(caught.value)[2]
    assignment = ann.do(made["HITGroupId"])
    with pytest.raises(ClientError) as caught:
        client.delete_hit(HITId=made["HITId"])
    assert assignment in refusal(caught.value)[2]
    client.approve_assignment(AssignmentId=assignment)
    client.delete_hit(HITId=made["HITId"])
    with pytest.raises(ClientError) as caught:
        client.delete_hit(HITId=made["HITId"])
    assert "currently in the state 'Disposed'" in refusal(caught.value)[2]
    with pytest.raises(ClientError):
        client.list_assignments_for_hit(HITId=made["HITId"])


def test_a_finished_hit_is_disposed_after_120_days(market: Market) -> None:
    """Disposal counts from the end of work, even if nobody looked meanwhile."""
    client, ann = market.requester(), market.worker()
    made = post(client)
    ann.do(made["HITGroupId"])
    market.wait(days=119)
    assert client.get_hit(HITId=made["HITId"])["HIT"]["HITStatus"] == "Reviewable"
    market.wait(days=1)
    assert client.get_hit(HITId=made["HITId"])["HIT"]["HITStatus"] == "Disposed"


def test_an_untouched_hit_can_change_its_type(market: Market) -> None:
    """UpdateHITTypeOfHIT moves HIT, group and hold; not once somebody accepted."""
    client, ann = market.requester(), market.worker()
    made = post(client)
    dearer = client.create_hit_type(**{**HIT_TYPE, "Reward": "1.00"})["HITTypeId"]
    client.update_hit_type_of_hit(HITId=made["HITId"], HITTypeId=dearer)
    hit = client.get_hit(HITId=made["HITId"])["HIT"]
    assert (hit["HITTypeId"], hit["Reward"]) == (dearer, "1.00")
    assert client.get_account_balance()["OnHoldBalance"] == "1.20"  # and 20 % fee
    offered = ann.groups()
    assert [group["hit_group_id"] for group in offered] == [hit["HITGroupId"]]
    ann.accept(hit["HITGroupId"])
    with pytest.raises(ClientError) as caught:
        client.update_hit_type_of_hit(HITId=made["HITId"], HITTypeId=made["HITTypeId"])
    assert refusal(caught.value)[1] == "InvalidHITState"


def test_requesters_do_not_see_each_other(standing: Market) -> None:
    """Another requester's HIT does not exist."""
    made = post(standing.requester())
    stranger = standing.requester()
    with pytest.raises(ClientError) as caught:
        stranger.get_hit(HITId=made["HITId"])
    assert refusal(caught.value)[:2] == ("RequestError", "HITDoesNotExist")
    with pytest.raises(ClientError):
        expire(stranger, made["HITId"])
    assert stranger.list_hits()["HITs"] == []
