"""How long a HIT takes and what an hour pays, as its requester said it."""

import json
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from botocore.exceptions import ClientError

from piecework.domain.hit import HitType
from piecework.platforms.mturk import MTurk
from tests.marketplace.market import HIT_TYPE, QUESTION, Market, post

HTML = {"accept": "text/html"}
HIT_TYPE_ALONE: dict[str, Any] = {
    name: HIT_TYPE[name]
    for name in ("Title", "Description", "Reward", "AssignmentDurationInSeconds")
}


def test_a_worker_reads_how_long_a_hit_takes_and_what_an_hour_pays(market: Market) -> None:
    """As the requester says it by the extension: $0.50 for five minutes is $6.00."""
    platform = MTurk(market.endpoint, access_key="LAB", secret_key="any")  # noqa: S106
    made = HitType(
        title="Birds",
        description="Describe birds.",
        keywords=("birds",),
        reward_cents=50,
        assignment_duration_seconds=600,
        auto_approval_delay_seconds=3600,
        requirements=(),
        expected_seconds=300,
    )
    type_id = platform.hit_type(made)
    client, ann = market.requester("LAB"), market.worker()
    client.create_hit_with_hit_type(
        HITTypeId=type_id, Question=QUESTION, LifetimeInSeconds=3600, MaxAssignments=2
    )
    (group,) = ann.groups()
    pace = "about 5 minutes, so $6.00 an hour"
    address = f"/worker/groups/{group['hit_group_id']}"
    taken = ann.accept(group["hit_group_id"]).json()["assignment_id"]
    bea = market.worker()
    assert pace in bea.http.get("/worker/hits", headers=HTML).text
    assert pace in bea.http.get(f"{address}/preview", headers=HTML).text
    assert pace in ann.http.get(f"/worker/assignments/{taken}", headers=HTML).text
    # Expected to be quicker, or of an unknown time, it is another type; the first stays.
    others = [replace(made, expected_seconds=seconds) for seconds in (100, None)]
    for other in others:
        client.create_hit_with_hit_type(
            HITTypeId=platform.hit_type(other), Question=QUESTION, LifetimeInSeconds=3600
        )
    listed = bea.http.get("/worker/hits", headers=HTML).text
    assert "about 1 minute 40 seconds, so $18.00 an hour" in listed
    assert (listed.count("an hour"), listed.count(pace)) == (2, 1)
    assert platform.hit_type(made) == type_id


def test_without_the_extension_no_time_is_said(market: Market) -> None:
    """Of other programs' HITs nobody knows; and what is no time is refused."""
    ann = market.worker()
    post(market.requester())
    assert "an hour" not in ann.http.get("/worker/hits", headers=HTML).text
    for wrong in (0, -5, True, "300", 10**9):
        client = market.requester()
        client.meta.events.register("before-call.mturk.CreateHITType", partial(_say, wrong))
        with pytest.raises(ClientError, match="PieceworkExpectedSeconds"):
            client.create_hit_type(**HIT_TYPE_ALONE)


def _say(seconds: object, params: dict[str, Any], **_: object) -> None:
    document = json.loads(params["body"]) | {"PieceworkExpectedSeconds": seconds}
    params["body"] = json.dumps(document).encode()
