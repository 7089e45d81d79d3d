"""Pages: sizes, tokens, and the end of a list."""

import base64
from datetime import timedelta
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from tests.marketplace.conftest import a_market
from tests.marketplace.market import HIT_TYPE, QUESTION, Market, post, refusal


def test_pages_add_up_to_the_whole_list_newest_first(standing: Market) -> None:
    """The paginator that botocore ships sees every HIT once."""
    client = standing.requester()
    ids = [post(client)["HITId"] for _ in range(7)]
    pages = client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 3})
    ids_by_page = [[hit["HITId"] for hit in page["HITs"]] for page in pages]
    assert [hit_id for page in ids_by_page for hit_id in page] == ids[::-1]
    assert [len(page) for page in ids_by_page] == [3, 3, 1, 0]


def test_every_list_ends_with_an_empty_page(standing: Market) -> None:
    """Neither a short nor a full page is the end; only the missing NextToken is."""
    client = standing.requester()
    for _ in range(2):
        post(client)
    for size in (2, 10):
        page = client.list_hits(MaxResults=size)
        assert page["NumResults"] == 2
        last = client.list_hits(MaxResults=size, NextToken=page["NextToken"])
        assert last["NumResults"] == 0
        assert "NextToken" not in last


def test_ten_rows_are_the_default_and_a_hundred_the_most(standing: Market) -> None:
    """MaxResults is from 1 to 100."""
    client = standing.requester()
    for _ in range(11):
        post(client)
    assert client.list_hits()["NumResults"] == 10
    assert client.list_hits(MaxResults=100)["NumResults"] == 11
    for size in (0, 101):
        with pytest.raises(ClientError) as caught:
            client.list_hits(MaxResults=size)
        assert refusal(caught.value)[0] == "ParameterValidationError"


def test_what_arrives_meanwhile_shifts_nothing(standing: Market) -> None:
    """A HIT posted between two pages neither hides nor doubles an older one."""
    client = standing.requester()
    ids = [post(client)["HITId"] for _ in range(4)]
    page = client.list_hits(MaxResults=2)
    post(client)
    rest = client.list_hits(MaxResults=2, NextToken=page["NextToken"])
    hit_ids = [hit["HITId"] for hit in (*page["HITs"], *rest["HITs"])]
    assert hit_ids == ids[::-1]


def test_a_token_serves_only_the_request_that_gave_it(standing: Market) -> None:
    """Other arguments, another operation, or a forged token: refused, with 400."""
    client = standing.requester()
    made = [post(client) for _ in range(2)]
    hit_type = made[0]["HITTypeId"]
    token = client.list_hits(MaxResults=1)["NextToken"]
    forged = base64.urlsafe_b64encode(b'["x", 1]').decode()
    for bad in (token, forged, "!", "x" * 255, "bnVsbA=="):
        with pytest.raises(ClientError) as caught:
            client.list_reviewable_hits(HITTypeId=hit_type, NextToken=bad)
        assert refusal(caught.value)[0] == "ParameterValidationError"


def test_a_token_is_signed_for_who_asks(standing: Market) -> None:
    """Neither can its row be changed, nor can another requester use it."""
    client, other = standing.requester(), standing.requester()
    for _ in range(2):
        post(client)
        post(other)
    token = client.list_hits(MaxResults=1)["NextToken"]
    signed = base64.urlsafe_b64decode(token)
    assert signed.endswith(b"]")
    moved = base64.urlsafe_b64encode(signed[:-1] + b"0]").decode()
    for asking, bad in ((client, moved), (other, token)):
        with pytest.raises(ClientError) as caught:
            asking.list_hits(MaxResults=1, NextToken=bad)
        assert refusal(caught.value)[0] == "ParameterValidationError"
    assert client.list_hits(MaxResults=1, NextToken=token)["NumResults"] == 1


def test_a_token_outlives_a_restart(tmp_path: Path) -> None:
    """A program that reads page after page need not begin again."""
    with a_market(tmp_path / "m.db") as market:
        client = market.requester("LAB")
        first, _ = (post(client)["HITId"] for _ in range(2))
        token = client.list_hits(MaxResults=1)["NextToken"]
    with a_market(tmp_path / "m.db") as market:
        client = market.requester("LAB")
        rest = client.list_hits(MaxResults=1, NextToken=token)
        assert [hit["HITId"] for hit in rest["HITs"]] == [first]


def test_assignments_submitted_at_one_moment_are_paged_apart(standing: Market) -> None:
    """Equal submission times do not lose or repeat a row."""
    client = standing.requester()
    made = post(client, MaxAssignments=5)
    done = {standing.worker().do(made["HITGroupId"]) for _ in range(5)}
    pages = client.get_paginator("list_assignments_for_hit").paginate(
        HITId=made["HITId"], PaginationConfig={"PageSize": 2}
    )
    assignment_ids = [
        assignment["AssignmentId"] for page in pages for assignment in page["Assignments"]
    ]
    assert len(assignment_ids) == 5
    assert set(assignment_ids) == done


def test_reviewable_hits_are_listed_by_type(market: Market) -> None:
    """The HITTypeId filter holds, and a stranger's type does not exist."""
    client = market.requester()
    expired = {"LifetimeInSeconds": 30}
    first, other = post(client, **expired), post(client, Title="Other", **expired)
    market.wait(seconds=30)
    both = client.list_reviewable_hits()["HITs"]
    assert [hit["HITId"] for hit in both] == [other["HITId"], first["HITId"]]
    only = client.list_reviewable_hits(HITTypeId=first["HITTypeId"])["HITs"]
    assert [hit["HITId"] for hit in only] == [first["HITId"]]
    with pytest.raises(ClientError) as caught:
        market.requester().list_reviewable_hits(HITTypeId=first["HITTypeId"])
    assert refusal(caught.value)[1] == "HITTypeDoesNotExist"


def test_hits_are_found_by_the_qualification_they_need(standing: Market) -> None:
    """ListHITsForQualificationType lists own HITs whose type requires it."""
    client = standing.requester()
    post(client)
    kind = client.create_qualification_type(
        Name="trained", Description="x", QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    needing = client.create_hit_type(
        **HIT_TYPE,
        QualificationRequirements=[{"QualificationTypeId": kind, "Comparator": "Exists"}],
    )["HITTypeId"]
    made = client.create_hit_with_hit_type(
        HITTypeId=needing, LifetimeInSeconds=60, Question=QUESTION
    )["HIT"]
    hits = client.list_hits_for_qualification_type(QualificationTypeId=kind)["HITs"]
    assert [hit["HITId"] for hit in hits] == [made["HITId"]]
    assert made["Expiration"] - made["CreationTime"] == timedelta(seconds=60)
