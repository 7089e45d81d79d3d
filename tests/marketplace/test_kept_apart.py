"""HITs that are kept apart: a worker does one of them, whichever comes first."""

import json
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from tests.marketplace.market import Market, post, refusal

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient


def post_apart(client: "MTurkClient", others: object, **parameters: object) -> dict[str, Any]:
    """Post a HIT with the member that the API's own model does not have."""

    def add(params: dict[str, Any], **_: object) -> None:
        document = json.loads(params["body"]) | {"PieceworkKeepApart": others}
        params["body"] = json.dumps(document).encode()

    events = client.meta.events
    events.register("before-call.mturk.CreateHIT", add)
    try:
        return post(client, **parameters)
    finally:
        events.unregister("before-call.mturk.CreateHIT", add)


def test_whoever_did_one_is_offered_none_of_the_others(market: Market) -> None:
    """Ann did the first, so she cannot have the second, by group or by name."""
    client, ann, bob = market.requester(), market.worker(), market.worker()
    first = post(client)
    ann.do(first["HITGroupId"])
    second = post_apart(client, [first["HITId"]])
    assert ann.groups() == []
    assert ann.accept(second["HITGroupId"]).status_code == 409
    by_name = ann.accept(second["HITGroupId"], hit_id=second["HITId"])
    assert (by_name.status_code, by_name.json()["error"]) == (409, "AlreadyDone")
    assert [group["available"] for group in bob.groups()] == [1]
    bob.do(second["HITGroupId"])


def test_it_holds_in_the_other_direction_for_slots_that_come_later(market: Market) -> None:
    """Bob did the second HIT; the first, extended afterwards, is not for him."""
    client, ann, bob = market.requester(), market.worker(), market.worker()
    cat = market.worker()
    first = post(client)
    ann.do(first["HITGroupId"])
    second = post_apart(client, [first["HITId"]], MaxAssignments=2)
    bob.do(second["HITGroupId"])
    client.create_additional_assignments_for_hit(
        HITId=first["HITId"], NumberOfAdditionalAssignments=1
    )
    # Both are open, one slot each: nothing for ann or bob, one of the two for cat.
    assert ann.groups() == bob.groups() == []
    for worker, hit in ((ann, second), (bob, first), (bob, second), (ann, first)):
        group = hit["HITGroupId"]
        assert worker.accept(group).status_code == 409
        assert worker.accept(group, hit_id=hit["HITId"]).status_code == 409
    assert [group["available"] for group in cat.groups()] == [2]
    taken = cat.accept(first["HITGroupId"]).json()["hit_id"]
    assert taken == first["HITId"]
    assert cat.groups() == []
    dan = market.worker()
    assert dan.accept(first["HITGroupId"]).json()["hit_id"] == second["HITId"]


def test_several_others_are_each_kept_apart_from_the_new_one(market: Market) -> None:
    """Ann did the first and bob the second, so neither takes the third, nor cat more.

    The first two are not kept apart from each other: cat may do both.
    """
    client = market.requester()
    ann, bob, cat = (market.worker() for _ in range(3))
    first = post(client, MaxAssignments=2)
    second = post(client, MaxAssignments=2, Title="Another")
    ann.do(first["HITGroupId"])
    bob.do(second["HITGroupId"])
    third = post_apart(client, [first["HITId"], second["HITId"]], MaxAssignments=2, Title="A third")
    cat.do(first["HITGroupId"])
    cat.do(second["HITGroupId"])
    for worker in (ann, bob, cat):
        assert worker.accept(third["HITGroupId"]).status_code == 409
    dan = market.worker()
    dan.do(third["HITGroupId"])
    for hit in (first, second):
        client.create_additional_assignments_for_hit(
            HITId=hit["HITId"], NumberOfAdditionalAssignments=1
        )
        assert dan.accept(hit["HITGroupId"]).status_code == 409


def test_what_is_open_to_a_worker_is_counted_once(market: Market) -> None:
    """Ann did two of four; the third is kept apart from both, the fourth from none."""
    client, ann = market.requester(), market.worker()
    first, second = post(client), post(client)
    group = first["HITGroupId"]
    ann.do(group)
    ann.do(group)
    post_apart(client, [first["HITId"], second["HITId"]])
    post(client)
    assert [each["available"] for each in ann.groups()] == [1]
    # Bea gave a HIT back and did another that is kept apart from it: the first was
    # hers, so it is not counted as closed as well.
    bea, title = market.worker(), "For bea"
    early = post(client, Title=title)
    theirs = early["HITGroupId"]
    bea.give_back(bea.accept(theirs).json()["assignment_id"])
    post_apart(client, [early["HITId"]], Title=title)
    bea.do(theirs)
    post(client, Title=title)
    [group] = (each for each in bea.groups() if each["title"] == title)
    assert group["available"] == 1


def test_work_that_was_rejected_counts_as_done(market: Market) -> None:
    """Ann's answer is rejected, and the other HIT is still not for her."""
    client, ann = market.requester(), market.worker()
    first = post(client)
    done = ann.do(first["HITGroupId"])
    client.reject_assignment(AssignmentId=done, RequesterFeedback="Empty.")
    second = post_apart(client, [first["HITId"]])
    assert ann.accept(second["HITGroupId"]).status_code == 409


def test_what_was_returned_keeps_nobody_from_the_other(market: Market) -> None:
    """Ann gave the first back without an answer, and may do the second."""
    client, ann = market.requester(), market.worker()
    first = post(client)
    group = first["HITGroupId"]
    ann.give_back(ann.accept(group).json()["assignment_id"])
    second = post_apart(client, [first["HITId"]])
    assert ann.accept(group).json()["hit_id"] == second["HITId"]


def test_every_reply_names_the_extension(market: Market) -> None:
    """A client can tell this marketplace from others by any answer."""
    heard = market.requester().get_account_balance()["ResponseMetadata"]
    named = heard["HTTPHeaders"]["x-piecework-extensions"]
    assert (
        named == "keep-apart list-together prices expected-seconds marks site worker-limits "
        "compensation recruiting question-texts pictures objections"
    )


@pytest.mark.parametrize(
    ("others", "complaint"),
    [
        ("3AAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "must be a list"),
        ([7], "must be a list"),
        (["3A"] * 1001, "must be a list"),
        (["3AAAAAAAAAAAAAAAAAAAAAAAAAAAAA"], "does not exist"),
    ],
)
def test_what_makes_no_sense_posts_nothing(market: Market, others: object, complaint: str) -> None:
    """A wrong list is refused, and the HIT is not there."""
    client = market.requester()
    with pytest.raises(ClientError) as fault:
        post_apart(client, others)
    assert complaint in refusal(fault.value)[2]
    assert client.list_hits()["HITs"] == []


def test_only_own_hits_can_be_named(market: Market) -> None:
    """Another requester's HIT is as unknown as one that is not there."""
    theirs = post(market.requester())["HITId"]
    client = market.requester()
    with pytest.raises(ClientError) as fault:
        post_apart(client, [theirs])
    assert refusal(fault.value)[1] == "HITDoesNotExist"
    assert client.list_hits()["HITs"] == []


def test_only_open_hits_count_as_kept_apart(market: Market) -> None:
    """Ann did the first; the second, kept apart from it, is closed, so it takes none of hers."""
    client, ann, bob = market.requester(), market.worker(), market.worker()
    post(client)
    post(client)
    assert [group["available"] for group in ann.groups()] == [2]
    first = post(client, Title="Apart")
    ann.do(first["HITGroupId"])
    second = post_apart(client, [first["HITId"]], Title="Apart")
    bob.do(second["HITGroupId"])
    post_apart(client, [second["HITId"]], Title="Apart")
    by_title = {group["title"]: group["available"] for group in ann.groups()}
    assert by_title["Apart"] == 1
