"""Assignments of several HITs in one answer, for who knows the extension."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

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


def test_an_unknown_hit_among_them_is_refused(market: Market) -> None:
    """Another requester's HIT is as unknown as one that is not there."""
    client = market.requester()
    mine, theirs = post(client)["HITId"], post(market.requester())["HITId"]
    with pytest.raises(ClientError) as fault, _together(client, [theirs]):
        client.list_assignments_for_hit(HITId=mine)
    assert refusal(fault.value)[1] == "HITDoesNotExist"
