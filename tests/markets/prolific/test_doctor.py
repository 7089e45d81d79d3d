"""The look before use: each thing that can be wrong with an account, and its line."""

from typing import Any

import pytest

from piecework.foundation.client.checks import Check
from piecework.foundation.client.transport import Patience, Transport
from piecework.markets.prolific.calling import Token
from piecework.markets.prolific.client import Prolific
from piecework.markets.prolific.doctor import Wanted, examine
from tests.answering import Answer
from tests.markets.prolific.account import Account, healthy
from tests.markets.prolific.calls import ID
from tests.markets.prolific.stub import Stub

LISTED = f"workspaces/{ID}/balance/"


def _examined(stub: Stub, documents: dict[str, Any], wanted: Wanted | None = None) -> list[Check]:
    stub.respond = Account(documents)
    return list(
        examine(
            stub.client(),
            wanted or Wanted(),
            address=stub.address,
            resolve=lambda _: ["93.184.215.14"],
        )
    )


def _levels(checks: list[Check]) -> dict[str, str]:
    """The worst level of each name."""
    worst: dict[str, str] = {}
    for check in sorted(checks, key=lambda each: ["ok", "warn", "fail"].index(each.level)):
        worst[check.name] = check.level
    return worst


def test_an_account_in_order_passes_with_what_was_seen(stub: Stub) -> None:
    """Every line is ok; nothing but reading was done."""
    wanted = Wanted(currency="GBP", public_url="https://hits.example.org")
    checks = _examined(stub, healthy(), wanted)
    assert {check.level for check in checks} == {"ok"}
    sentences = {check.name: check.sentence for check in checks}
    assert sentences["user"] == "ann@example.org (u1)"
    assert sentences["workspace"] == f"Vision lab ({ID})"
    assert sentences["balance"] == "£500.00 available"
    assert sentences["pay"] == "at least £6.00 an hour; £9.00 is recommended"
    assert sum(check.name == "filter" for check in checks) == 6
    assert {asked.method for asked in stub.asked} == {"GET"}


def _without(filter_id: str) -> dict[str, Any]:
    rows = healthy()["filters/"]["results"]
    return {"results": [row for row in rows if row["filter_id"] != filter_id]}


@pytest.mark.parametrize(
    ("path", "document", "name", "level"),
    [
        ("users/me/", Answer(401, {"detail": "Invalid token."}), "token", "fail"),
        ("users/me/", Answer(200, text="<html>"), "token", "fail"),
        ("workspaces/", {"results": []}, "workspace", "fail"),
        (
            "workspaces/",
            {"results": [{"id": "w1", "title": "a"}, {"id": "w2", "title": "b"}]},
            "workspace",
            "fail",
        ),
        (LISTED, Answer(403, {"detail": "Forbidden."}), "balance", "fail"),
        (
            LISTED,
            {"currency_code": "GBP", "total_balance": 9, "available_balance": 0},
            "balance",
            "warn",
        ),
        ("filters/", Answer(500), "filters", "fail"),
        ("filters/", _without("participant_group_allowlist"), "filter", "fail"),
        ("filters/", _without("participant_group_blocklist"), "filter", "fail"),
        ("filters/", _without("approval_numbers"), "filter", "warn"),
        ("filters/", _without("current-country-of-residence"), "filter", "warn"),
        ("reward-recommendations/", [], "pay", "warn"),
        ("reward-recommendations/", Answer(404, {"detail": "x"}), "pay", "fail"),
    ],
)
def test_what_is_wrong_has_its_line_and_its_next_step(
    stub: Stub, path: str, document: object, name: str, level: str
) -> None:
    """One thing at a time; nothing else is worse for it."""
    checks = _examined(stub, {**healthy(), path: document})
    levels = _levels(checks)
    assert levels.pop(name) == level
    assert set(levels.values()) == {"ok"}
    assert all(check.next_step for check in checks if check.level != "ok")


def test_a_workspace_is_chosen_by_its_id(stub: Stub) -> None:
    """Among several; one that the token does not reach is said, with those it does."""
    rows = [{"id": ID, "title": "a"}, {"id": "w2", "title": "b"}]
    documents = {**healthy(), "workspaces/": {"results": rows}}
    assert set(_levels(_examined(stub, documents, Wanted(workspace_id=ID))).values()) == {"ok"}
    last = _examined(stub, documents, Wanted(workspace_id="w3"))[-1]
    assert (last.name, last.level) == ("workspace", "fail")
    assert "w3" in last.sentence
    assert "b (w2)" in last.sentence


def test_pounds_are_no_dollars(stub: Stub) -> None:
    """A campaign in dollars cannot be paid from a workspace in pounds."""
    checks = _examined(stub, healthy(), Wanted(currency="USD"))
    assert _levels(checks)["currency"] == "fail"


def test_another_host_than_prolifics_is_warned_of() -> None:
    """The token would go there."""
    first = next(examine(None, Wanted(), address="https://api.prolific.example.org"))
    assert (first.name, first.level) == ("address", "warn")


def test_without_a_token_the_address_is_looked_at_all_the_same() -> None:
    """Each thing by itself."""
    wanted = Wanted(public_url="http://hits.example.org")
    levels = _levels(list(examine(None, wanted)))
    assert levels == {"address": "ok", "token": "fail", "public URL": "fail"}


@pytest.mark.parametrize(
    ("changes", "level", "words"),
    [
        ({}, "ok", "of the last 2, 2"),
        ({"is_enabled": False}, "warn", "is not enabled"),
        ({"statuses": ["SUCCEEDED", "FAILED"]}, "warn", "and 1 failed"),
        ({"target_url": "https://hits.example.org.evil/x"}, "ok", "polls"),
    ],
)
def test_it_says_whether_webhooks_arrive(
    stub: Stub, changes: dict[str, Any], level: str, words: str
) -> None:
    """By Prolific's own log of those to the public address; others' are not told."""
    subscription = {
        "id": "s1",
        "event_type": "study.status.change",
        "target_url": "https://hits.example.org/visit/events",
        "is_enabled": True,
        **changes,
    }
    statuses = subscription.pop("statuses", ["SUCCEEDED", "SUCCEEDED"])
    documents = {
        "hooks/subscriptions/": {"results": [subscription]},
        "hooks/subscriptions/s1/events/": {
            "results": [{"id": str(n), "status": s} for n, s in enumerate(statuses)]
        },
    }
    wanted = Wanted(public_url="https://hits.example.org/")
    checks = _examined(stub, {**healthy(), **documents}, wanted)
    [check] = [each for each in checks if each.name == "webhooks"]
    assert check.level == level
    assert words in check.sentence
    assert bool(check.next_step) == (level != "ok")


def test_without_a_network_it_is_the_address_that_fails(stub: Stub) -> None:
    """A token that nobody was asked about is not said to be wrong."""
    address = stub.address
    with Transport(
        "http://127.0.0.1:9", Token("any-token"), patience=Patience(tries=1)
    ) as transport:
        checks = list(examine(Prolific(transport), Wanted(), address=address))
    assert [(check.name, check.level) for check in checks] == [
        ("address", "ok"),
        ("address", "fail"),
    ]
