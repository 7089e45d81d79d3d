"""Assignments of several HITs in one answer, for who knows the extension."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from piecework.marketplace.requester import extensions
from tests.marketplace.market import Market, post, refusal

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient


@contextmanager
def _together(client: "MTurkClient", others: object) -> Iterator[None]:
    """Calls with the member that the API's own model does not have."""

    def add(params: dict[str, Any], **_: object) -> None:
        document = json.loads(params["body"]) | {"PieceworkListTogether": others}
        params["body"] = json.dumps(document).encode()

    name = "before-call.mturk.ListAssignmentsForHIT"
    client.meta.events.register(name, add)
    try:
        yield
    finally:
        client.meta.events.unregister(name, add)


def test_assignments_of_several_hits_come_together(market: Market) -> None:
    """All of each, in the order named; a HIT without any adds none."""
    client = market.requester()
    made = [post(client, MaxAssignments=2) for _ in range(3)]
    for worker in (market.worker(), market.worker()):
        for hit in made[:2]:
            worker.do(hit["HITGroupId"])
    first, second, third = (hit["HITId"] for hit in made)
    with _together(client, [third, second]):
        reply = client.list_assignments_for_hit(HITId=first)
    assert [assignment["HITId"] for assignment in reply["Assignments"]] == [
        *(first, first),
        *(second, second),
    ]
    assert reply["NumResults"] == 4


def test_a_hit_that_is_named_twice_is_listed_once(market: Market) -> None:
    """However often it is named, also as the first."""
    client = market.requester()
    first, second = (post(client) for _ in range(2))
    done = [market.worker().do(hit["HITGroupId"]) for hit in (first, second)]
    named = [first["HITId"], *[second["HITId"]] * 99]
    with _together(client, named):
        reply = client.list_assignments_for_hit(HITId=first["HITId"])
    assert [each["AssignmentId"] for each in reply["Assignments"]] == done


def test_too_many_assignments_are_not_listed_together(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their answers would fill the memory of the server."""
    monkeypatch.setattr(extensions, "_MOST_TOGETHER", 1)
    client = market.requester()
    first, second = (post(client) for _ in range(2))
    for hit in (first, second):
        market.worker().do(hit["HITGroupId"])
    with (
        pytest.raises(ClientError, match="list fewer HITs"),
        _together(client, [second["HITId"]]),
    ):
        client.list_assignments_for_hit(HITId=first["HITId"])


def test_an_unknown_hit_among_them_is_refused(market: Market) -> None:
    """Another requester's HIT is as unknown as one that is not there."""
    client = market.requester()
    mine, theirs = post(client)["HITId"], post(market.requester())["HITId"]
    with pytest.raises(ClientError) as fault, _together(client, [theirs]):
        client.list_assignments_for_hit(HITId=mine)
    assert refusal(fault.value)[1] == "HITDoesNotExist"
