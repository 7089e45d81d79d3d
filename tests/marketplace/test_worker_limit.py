"""A worker does at most as many HITs of a kind as the requester allows."""

import json
import threading
from collections import Counter
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from piecework.domain.errors import PlatformRefused
from piecework.domain.hit import HitType, WorkerLimit
from piecework.marketplace.requester.api import perform_operation
from piecework.marketplace.state import accounts, worker_limits
from piecework.marketplace.state.backend import Backend, Rules
from piecework.platforms.mturk import MTurk
from tests.marketplace.market import HIT_TYPE, QUESTION, Market, Worker

HTML = {"accept": "text/html"}
LIMIT = WorkerLimit(name="birds", most=2)
TYPE = HitType(
    title="Birds",
    description="Describe birds.",
    keywords=("birds",),
    reward_cents=50,
    assignment_duration_seconds=600,
    auto_approval_delay_seconds=3600,
    requirements=(),
    limits=(LIMIT,),
)
BARE: dict[str, Any] = {
    name: HIT_TYPE[name]
    for name in ("Title", "Description", "Reward", "AssignmentDurationInSeconds")
}


def post_hits(market: Market, hit_type: HitType, number: int, *, requester: str = "LAB") -> str:
    """Post HITs of a type; return its id."""
    platform = MTurk(market.endpoint, access_key=requester, secret_key="any")  # noqa: S106
    type_id = platform.hit_type(hit_type)
    for _ in range(number):
        market.requester(requester).create_hit_with_hit_type(
            HITTypeId=type_id, Question=QUESTION, LifetimeInSeconds=3600, MaxAssignments=9
        )
    return str(type_id)


def with_limits(*limits: WorkerLimit, **values: Any) -> HitType:  # noqa: ANN401 - any
    """The type with other limits, and perhaps other values."""
    return replace(TYPE, limits=limits, **values)


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
    assert "You have done 2 of these HITs, as many as one worker may do." in refused.text
    page = ann.http.get("/worker/hits", headers=HTML).text
    assert "You have done 2 of these HITs, as many as one worker may do." in page
    assert group_of(bea)["available"] == 2


def test_types_with_the_same_name_count_together(market: Market) -> None:
    """A campaign posts replacements under another type; another name is another."""
    post_hits(market, TYPE, 1)
    post_hits(market, replace(TYPE, title="Dear birds", reward_cents=70), 2)
    post_hits(market, with_limits(replace(LIMIT, name="fish"), title="Fish"), 1)
    ann = market.worker()
    for title in ("Birds", "Dear birds"):
        taken = ann.accept(group_of(ann, title)["hit_group_id"])
        ann.submit(taken.json()["assignment_id"])
    assert not group_of(ann, "Dear birds")["may_accept"]
    assert group_of(ann, "Fish")["may_accept"]


def test_another_requester_s_limit_of_the_same_name_is_another(market: Market) -> None:
    """Two laboratories call their campaigns `birds`; ann may do two HITs of each."""
    ann = market.worker()
    for requester in ("LAB", "OFFICE"):
        post_hits(market, replace(TYPE, title=requester), 3, requester=requester)
        group = group_of(ann, requester)
        assert group["available"] == 2
        for _ in range(2):
            ann.submit(ann.accept(group["hit_group_id"]).json()["assignment_id"])
        assert ann.accept(group["hit_group_id"]).status_code == 409


def test_returned_work_does_not_count_and_rejected_work_does(market: Market) -> None:
    """A worker who gives a HIT back may do another."""
    post_hits(market, with_limits(replace(LIMIT, most=1)), 3)
    ann = market.worker()
    group = group_of(ann)["hit_group_id"]
    first = ann.accept(group).json()["assignment_id"]
    assert ann.accept(group).status_code == 409
    ann.give_back(first)
    second = ann.accept(group).json()["assignment_id"]
    ann.submit(second)
    market.requester("LAB").reject_assignment(AssignmentId=second, RequesterFeedback="no bird")
    assert ann.accept(group).status_code == 409


def test_a_hit_whose_time_ran_out_may_be_replaced_by_another(market: Market) -> None:
    """Ann did not finish in ten minutes: it is not work that counts."""
    post_hits(market, with_limits(replace(LIMIT, most=1)), 3)
    ann = market.worker()
    group = group_of(ann)["hit_group_id"]
    assert ann.accept(group).status_code == 201
    market.wait(minutes=11)
    assert ann.accept(group).status_code == 201
    assert ann.accept(group).status_code == 409


def test_a_limit_that_was_lowered_below_what_was_done_leaves_nothing(market: Market) -> None:
    """Two were done, one is allowed now; the other limit would leave seven."""
    two = with_limits(*of_batch(1, most=3, in_all=3))
    post_hits(market, two, 4)
    ann = market.worker()
    group = group_of(ann)["hit_group_id"]
    for _ in range(2):
        ann.submit(ann.accept(group).json()["assignment_id"])
    post_hits(market, with_limits(*of_batch(1, most=1, in_all=9)), 4)
    [lowered] = (each for each in ann.groups() if each["hit_group_id"] != group)
    assert (lowered["available"], lowered["may_accept"]) == (0, False)
    refused = ann.accept(lowered["hit_group_id"])
    assert refused.status_code == 409
    assert "You have done 2 HITs of this batch" in refused.text


def test_if_both_limits_are_reached_the_campaign_s_is_named(market: Market) -> None:
    """No later batch has work for the worker either, whichever was stated first."""
    batch = WorkerLimit(name="a batch of birds", most=1, is_of_batch=True)
    limits = (replace(LIMIT, most=1), batch)
    for requester, stated in (("LAB", limits), ("OFFICE", limits[::-1])):
        kind = replace(TYPE, title=requester, limits=stated)
        post_hits(market, kind, 2, requester=requester)
        ann = market.worker()
        group = group_of(ann, requester)["hit_group_id"]
        ann.submit(ann.accept(group).json()["assignment_id"])
        refused = ann.accept(group)
        assert "as many as one worker may do." in refused.text


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


def of_batch(number: int, *, most: int, in_all: int = 3) -> tuple[WorkerLimit, ...]:
    """The limits of a batch's HITs: of the campaign and of the batch."""
    batch = WorkerLimit(name=f"birds, batch {number}", most=most, is_of_batch=True)
    return (replace(LIMIT, most=in_all), batch)


def test_each_batch_has_its_own_limit_beside_the_campaigns(market: Market) -> None:
    """Two HITs of the first batch, one of the second, and then three in all."""
    first = post_hits(market, with_limits(*of_batch(1, most=2)), 4)
    ann = market.worker()
    [group] = ann.groups()
    assert group["available"] == 2
    for _ in range(2):
        ann.submit(ann.accept(group["hit_group_id"]).json()["assignment_id"])
    refused = ann.accept(group["hit_group_id"])
    sentence = (
        "You have done 2 HITs of this batch, as many as one worker may do in a batch. "
        "Later batches may have more for you."
    )
    assert refused.status_code == 409
    assert sentence in refused.text
    assert sentence in ann.http.get("/worker/hits", headers=HTML).text
    second = post_hits(market, with_limits(*of_batch(2, most=2)), 4)
    assert first != second
    [of_second] = (each for each in ann.groups() if each["may_accept"])
    assert (of_second["hit_type_id"], of_second["available"]) == (second, 1)
    ann.submit(ann.accept(of_second["hit_group_id"]).json()["assignment_id"])
    # Now the campaign's limit is reached in both batches, and no later one helps.
    for each in (group, of_second):
        refused = ann.accept(each["hit_group_id"])
        assert "You have done 3 of these HITs, as many as one worker may" in refused.text


def test_replacements_of_a_batch_count_with_it(market: Market) -> None:
    """They have another reward and so another type, but the batch's name."""
    limits = of_batch(1, most=1)
    post_hits(market, with_limits(*limits), 1)
    ann = market.worker()
    group = group_of(ann)["hit_group_id"]
    ann.submit(ann.accept(group).json()["assignment_id"])
    post_hits(market, with_limits(*limits, reward_cents=70, title="Dear birds"), 1)
    assert not group_of(ann, "Dear birds")["may_accept"]


def test_calls_at_the_same_time_in_two_batches_pass_no_limit(market: Market) -> None:
    """Of sixteen requests at once, three are accepted, at most two in a batch."""
    for number in (1, 2):
        post_hits(market, with_limits(*of_batch(number, most=2)), 8)
    ann = market.worker()
    groups = [each["hit_group_id"] for each in ann.groups()]
    statuses: list[tuple[str, int]] = []

    def ask(group: str) -> None:
        statuses.append((group, ann.accept(group).status_code))

    threads = [threading.Thread(target=ask, args=(group,)) for group in groups * 8]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    accepted = Counter(group for group, status in statuses if status == 201)
    assert sorted(accepted.values()) == [1, 2]
    assert len(statuses) == 16


def test_new_hits_have_the_limit_that_is_stated_last(market: Market) -> None:
    """Changed, removed, and as it was at first: posted HITs keep theirs, and all count."""
    first = post_hits(market, TYPE, 4)
    ann = market.worker()
    group = group_of(ann)["hit_group_id"]
    for _ in range(2):
        ann.submit(ann.accept(group).json()["assignment_id"])

    def left_by_group() -> dict[str, int]:
        return {each["hit_group_id"]: each["available"] for each in ann.groups()}

    assert left_by_group() == {group: 0}
    changed = post_hits(market, with_limits(replace(LIMIT, most=3)), 4)
    assert sorted(left_by_group().values()) == [0, 1]
    removed = post_hits(market, with_limits(), 4)
    assert sorted(left_by_group().values()) == [0, 1, 4]
    assert len({first, changed, removed}) == 3
    assert post_hits(market, TYPE, 1) == first
    assert left_by_group()[group] == 0


def test_a_limit_counts_hits_that_were_done_while_there_was_none(market: Market) -> None:
    """Before it was stated, and between two statements: three are done of three."""
    without = with_limits(replace(LIMIT, most=None))
    unlimited = post_hits(market, without, 3)
    ann = market.worker()
    group = group_of(ann)["hit_group_id"]
    assert group_of(ann)["available"] == 3
    ann.submit(ann.accept(group).json()["assignment_id"])
    limited = post_hits(market, with_limits(replace(LIMIT, most=3)), 4)

    def left_by_type() -> dict[str, int]:
        return {each["hit_type_id"]: each["available"] for each in ann.groups()}

    assert left_by_type() == {unlimited: 2, limited: 2}
    for _ in range(2):
        ann.submit(ann.accept(group).json()["assignment_id"])
    assert left_by_type()[limited] == 0


@pytest.mark.parametrize(
    "limit",
    [
        5,
        {"Name": "a", "Most": 1, "IsOfBatch": False},
        [5],
        [{"Name": "a", "IsOfBatch": False}],
        [{"Name": "a", "Most": 1}],
        [{"Name": "a", "Most": 1, "IsOfBatch": 1}],
        [{"Name": "", "Most": 1, "IsOfBatch": False}],
        [{"Name": "a" * 201, "Most": 1, "IsOfBatch": False}],
        [{"Name": "a", "Most": 0, "IsOfBatch": False}],
        [{"Name": "a", "Most": True, "IsOfBatch": False}],
        [{"Name": "a", "Most": "2", "IsOfBatch": False}],
        [{"Name": "a", "Most": 10**7, "IsOfBatch": False}],
        [{"Name": "a", "Most": 1, "IsOfBatch": False, "More": 2}],
        [{"Name": "a", "Most": 1, "IsOfBatch": False}] * 2,
        [{"Name": str(n), "Most": 1, "IsOfBatch": False} for n in range(11)],
    ],
)
def test_what_is_no_limit_is_refused(market: Market, limit: object) -> None:
    """And no type is made."""
    client = market.requester()

    def say(value: object, params: dict[str, Any], **_: object) -> None:
        document = json.loads(params["body"]) | {"PieceworkWorkerLimits": value}
        params["body"] = json.dumps(document).encode()

    client.meta.events.register("before-call.mturk.CreateHITType", partial(say, limit))
    with pytest.raises(ClientError, match="PieceworkWorkerLimits"):
        client.create_hit_type(**BARE)


def test_another_marketplace_is_not_asked_to_keep_a_limit(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would ignore it, so nothing is posted."""
    platform = MTurk(market.endpoint, access_key="LAB", secret_key="any")  # noqa: S106
    monkeypatch.setattr(platform, "_knows", lambda name: name != "worker-limits")
    with pytest.raises(PlatformRefused, match="cannot limit how many HITs"):
        platform.hit_type(TYPE)
    named = platform.hit_type(with_limits(replace(LIMIT, most=None)))
    assert named == platform.hit_type(with_limits())


def test_a_newcomer_may_do_what_the_least_limit_of_the_type_allows(tmp_path: Path) -> None:
    """Of the campaign's and the batch's; another type's limit is not its own."""
    with closing(Backend(tmp_path / "limits.db", Rules())) as backend:
        with backend.transaction() as transaction:
            accounts.add_requester(transaction, "LAB", balance_cents=1000)
        for title in ("Birds", "Cats", "Dogs"):
            perform_operation(backend, "LAB", "CreateHITType", {**BARE, "Title": title})
        with backend.transaction() as transaction:
            birds, cats, dogs = (
                row["id"] for row in transaction.all("SELECT id FROM hit_types ORDER BY title")
            )
            limits = [("birds", 5, False), ("birds 1", 3, True)]
            worker_limits.keep_limits(transaction, birds, limits)
            worker_limits.keep_limits(transaction, cats, [("cats", 2, False)])
            no_limit = [("dogs", worker_limits.NO_LIMIT, False)]
            worker_limits.keep_limits(transaction, dogs, no_limit)
            allowed = [
                worker_limits.limit_of_newcomers(transaction, kind) for kind in (birds, cats, dogs)
            ]
        assert allowed == [3, 2, None]
