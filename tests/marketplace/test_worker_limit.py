"""A worker does at most as many HITs of a kind as the requester allows."""

import json
import threading
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from botocore.exceptions import ClientError

from piecework.domain.errors import PlatformRefused
from piecework.domain.hit import HitType
from piecework.platforms.mturk import MTurk
from tests.marketplace.market import HIT_TYPE, QUESTION, Market, Worker

HTML = {"accept": "text/html"}
TYPE = HitType(
    title="Birds",
    description="Describe birds.",
    keywords=("birds",),
    reward_cents=50,
    assignment_duration_seconds=600,
    auto_approval_delay_seconds=3600,
    requirements=(),
    limit_name="birds",
    most_per_worker=2,
)
BARE: dict[str, Any] = {
    name: HIT_TYPE[name]
    for name in ("Title", "Description", "Reward", "AssignmentDurationInSeconds")
}


def post_hits(market: Market, hit_type: HitType, number: int) -> str:
    """Post HITs of a type; return its id."""
    platform = MTurk(market.endpoint, access_key="LAB", secret_key="any")  # noqa: S106
    type_id = platform.hit_type(hit_type)
    for _ in range(number):
        market.requester("LAB").create_hit_with_hit_type(
            HITTypeId=type_id,
            Question=QUESTION,
            LifetimeInSeconds=3600,
            MaxAssignments=9,
        )
    return str(type_id)


def group_of(worker: Worker, title: str = "Birds") -> dict[str, Any]:
    """The group with a title, as a worker sees it."""
    (group,) = (each for each in worker.groups() if each["title"] == title)
    return group


def test_a_worker_is_offered_only_what_is_left_and_reads_why(market: Market) -> None:
    """Two of four; others may still do all of theirs."""
    post_hits(market, TYPE, 4)
    ann, bea = market.worker(), market.worker()
    group = group_of(ann)
    assert (group["available"], group["may_accept"]) == (2, True)
    for _ in range(2):
        ann.submit(ann.accept(group["hit_group_id"]).json()["assignment_id"])
    reached = group_of(ann)
    assert (reached["available"], reached["may_accept"]) == (0, False)
    assert reached["lacks"] == ["fewer than 2 of these HITs done"]
    refused = ann.accept(group["hit_group_id"])
    assert refused.status_code == 409
    assert (
        "You have done 2 of these HITs, as many as one worker may do." in refused.text
    )
    page = ann.http.get("/worker/hits", headers=HTML).text
    assert "You have done 2 of these HITs, as many as one worker may do." in page
    assert group_of(bea)["available"] == 2


def test_types_with_the_same_name_count_together(market: Market) -> None:
    """A campaign posts replacements under another type; another name is another."""
    post_hits(market, TYPE, 1)
    post_hits(market, replace(TYPE, title="Dear birds", reward_cents=70), 2)
    post_hits(market, replace(TYPE, title="Fish", limit_name="fish"), 1)
    ann = market.worker()
    for title in ("Birds", "Dear birds"):
        taken = ann.accept(group_of(ann, title)["hit_group_id"])
        ann.submit(taken.json()["assignment_id"])
    assert not group_of(ann, "Dear birds")["may_accept"]
    assert group_of(ann, "Fish")["may_accept"]


def test_returned_work_does_not_count_and_rejected_work_does(market: Market) -> None:
    """A worker who gives a HIT back may do another."""
    post_hits(market, replace(TYPE, most_per_worker=1), 3)
    ann = market.worker()
    group = group_of(ann)["hit_group_id"]
    first = ann.accept(group).json()["assignment_id"]
    assert ann.accept(group).status_code == 409
    ann.give_back(first)
    second = ann.accept(group).json()["assignment_id"]
    ann.submit(second)
    market.requester("LAB").reject_assignment(
        AssignmentId=second, RequesterFeedback="no bird"
    )
    assert ann.accept(group).status_code == 409


def test_calls_at_the_same_time_do_not_pass_the_limit(market: Market) -> None:
    """Of sixteen requests at once, two are accepted."""
    post_hits(market, TYPE, 16)
    ann = market.worker()
    group, statuses = group_of(ann)["hit_group_id"], []

    def ask() -> None:
        statuses.append(ann.accept(group).status_code)

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [201] * 2 + [409] * 14


def test_the_last_stated_limit_holds(market: Market) -> None:
    """The type stays the same."""
    type_id = post_hits(market, TYPE, 4)
    ann = market.worker()
    group = group_of(ann)["hit_group_id"]
    for _ in range(2):
        ann.submit(ann.accept(group).json()["assignment_id"])
    assert post_hits(market, replace(TYPE, most_per_worker=3), 0) == type_id
    assert group_of(ann)["available"] == 1


@pytest.mark.parametrize(
    "limit",
    [
        5,
        [],
        {"Name": "a"},
        {"Name": "", "Most": 1},
        {"Name": "a" * 201, "Most": 1},
        {"Name": "a", "Most": 0},
        {"Name": "a", "Most": True},
        {"Name": "a", "Most": "2"},
        {"Name": "a", "Most": 10**7},
        {"Name": "a", "Most": 1, "More": 2},
    ],
)
def test_what_is_no_limit_is_refused(market: Market, limit: object) -> None:
    """And no type is made."""
    client = market.requester()

    def say(value: object, params: dict[str, Any], **_: object) -> None:
        document = json.loads(params["body"]) | {"PieceworkWorkerLimit": value}
        params["body"] = json.dumps(document).encode()

    client.meta.events.register("before-call.mturk.CreateHITType", partial(say, limit))
    with pytest.raises(ClientError, match="PieceworkWorkerLimit"):
        client.create_hit_type(**BARE)


def test_another_marketplace_is_not_asked_to_keep_a_limit(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would ignore it, so nothing is posted."""
    platform = MTurk(market.endpoint, access_key="LAB", secret_key="any")  # noqa: S106
    monkeypatch.setattr(platform, "_knows", lambda name: name != "worker-limit")
    with pytest.raises(PlatformRefused, match="cannot limit how many HITs"):
        platform.hit_type(TYPE)
