"""Idempotency: what a repeated request token gives, and for how long."""

import re

import pytest
from botocore.exceptions import ClientError

from tests.marketplace.market import HIT_TYPE, QUESTION, Market, expire, post, refusal


def test_a_repeated_create_names_the_first_hit(standing: Market) -> None:
    """HitAlreadyExists with the id in double quotes, whatever else is asked."""
    client = standing.requester()
    first = post(client, UniqueRequestToken="one")
    with pytest.raises(ClientError) as caught:
        post(client, UniqueRequestToken="one", Title="Something else")
    kind, code, message = refusal(caught.value)
    assert (kind, code) == ("RequestError", "HitAlreadyExists")
    assert re.findall('"([A-Z0-9]{20,})"', message) == [first["HITId"]]
    assert "already exists" in message
    assert client.list_hits()["NumResults"] == 1


def test_tokens_are_kept_apart_by_requester_and_operation(standing: Market) -> None:
    """The same token is new to another requester and to another operation."""
    client = standing.requester()
    made = post(client, UniqueRequestToken="one")
    client.create_hit_with_hit_type(
        HITTypeId=made["HITTypeId"],
        LifetimeInSeconds=60,
        Question=QUESTION,
        UniqueRequestToken="one",
    )
    post(standing.requester(), UniqueRequestToken="one")
    assert client.list_hits()["NumResults"] == 2


def test_a_token_is_forgotten_after_a_day(market: Market) -> None:
    """24 hours to the millisecond; then the same token makes a second HIT."""
    client = market.requester()
    post(client, UniqueRequestToken="one")
    market.wait(hours=24, milliseconds=-1)
    with pytest.raises(ClientError):
        post(client, UniqueRequestToken="one")
    market.wait(milliseconds=1)
    post(client, UniqueRequestToken="one")
    assert client.list_hits()["NumResults"] == 2


def test_a_bonus_is_paid_once_per_token(standing: Market) -> None:
    """The repeat is refused with the token in double quotes and pays nothing."""
    client, ann = standing.requester(), standing.worker()
    bonus = {
        "WorkerId": ann.worker_id,
        "AssignmentId": ann.do(post(client)["HITGroupId"]),
        "BonusAmount": "1.00",
        "Reason": "Good.",
        "UniqueRequestToken": "once-only",
    }
    client.send_bonus(**bonus)
    balance = client.get_account_balance()["AvailableBalance"]
    with pytest.raises(ClientError) as caught:
        client.send_bonus(**bonus)
    assert refusal(caught.value)[:2] == ("RequestError", "DuplicateCall")
    assert (
        'The idempotency token "once-only" has already been processed.'
        in (refusal(caught.value)[2])
    )
    assert client.get_account_balance()["AvailableBalance"] == balance


def test_assignments_are_added_once_per_token(standing: Market) -> None:
    """A repeated extension is refused and adds nothing."""
    client = standing.requester()
    made = post(client)
    parameters = {
        "HITId": made["HITId"],
        "NumberOfAdditionalAssignments": 2,
        "UniqueRequestToken": "more",
    }
    client.create_additional_assignments_for_hit(**parameters)
    with pytest.raises(ClientError) as caught:
        client.create_additional_assignments_for_hit(**parameters)
    assert refusal(caught.value)[1] == "DuplicateCall"
    assert "has already been processed" in refusal(caught.value)[2]
    assert client.get_hit(HITId=made["HITId"])["HIT"]["MaxAssignments"] == 3


def test_an_exact_repeat_of_an_expiry_is_refused(standing: Market) -> None:
    """As seen live: the service makes a token of HIT id and time by itself."""
    client = standing.requester()
    made = post(client)
    expire(client, made["HITId"])
    with pytest.raises(ClientError) as caught:
        expire(client, made["HITId"])
    assert (
        f'"{made["HITId"]}Thu Jan 01 00:00:00 UTC 1970" has already been processed'
        in refusal(caught.value)[2]
    )
    expire(client, made["HITId"], 1)


def test_a_lost_reply_is_recovered_by_the_token(market: Market) -> None:
    """The call was done, the client saw a closed connection, the repeat says so."""
    client = market.requester()
    parameters = {**HIT_TYPE, "LifetimeInSeconds": 60, "Question": QUESTION}
    market.set_faults({"operation": "CreateHIT", "kind": "lose_reply"})
    with pytest.raises(Exception, match="Connection was closed"):
        client.create_hit(**parameters, UniqueRequestToken="lost")
    with pytest.raises(ClientError) as caught:
        client.create_hit(**parameters, UniqueRequestToken="lost")
    assert refusal(caught.value)[1] == "HitAlreadyExists"
    assert client.list_hits()["NumResults"] == 1
