"""Workers rejected for gold read why and what was right, once; other workers do not.

The test reads as a requester does, through boto3, and as each worker does, on the site;
also if the rejecting pass is killed half-way, and if passes are repeated.
"""

from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest

from piecework.platforms.endpoint import REHEARSAL
from tests.as_needed_campaign import PEOPLE, Voters
from tests.crash.disturbed import Call, calls_made, pass_apart
from tests.crash.faults import BY_NAME, FAULTS
from tests.crash.people import People
from tests.crash.world import World
from tests.gold_campaign import AGREED, FEEDBACK, WHY, write_gold

REJECTION = Call("RejectAssignment", 1)
DEATHS = tuple(fault.name for fault in FAULTS if fault.kind == "death" and not fault.script)
SAMPLE = ("", "killed, reply unread")


def _to_the_end(folder: Path, fault: str) -> World:
    write_gold(folder)
    world = World(folder)
    with world.marketplace(apart=False):
        voters = Voters(world.endpoint, AGREED)
        killed = quiet = 0
        for _ in range(20):
            call = REJECTION if fault else None
            ended = pass_apart(world, BY_NAME[fault] if fault else None, call)
            if ended.code == -9:
                killed += 1
            elif ended.output.strip() == "workers":
                voters.work()
                # Between two passes, workers who may get the item again are not told.
                _nobody_can_look_it_up(world)
            elif ended.output.strip() == "nobody":
                quiet += 1
            else:
                raise AssertionError(ended)
            # Run again when all is done: it is told only once.
            if quiet == 2:
                break
        assert killed == bool(fault)
        _check(world)
    return world


def _client(world: World) -> Any:  # noqa: ANN401 - boto3's
    keys = REHEARSAL
    return boto3.Session().client(
        "mturk",
        endpoint_url=world.endpoint,
        region_name="us-east-1",
        aws_access_key_id=keys.access_key,
        aws_secret_access_key=keys.secret_key,
    )


def _assignments(world: World) -> list[dict[str, Any]]:
    client = _client(world)
    return [
        assignment
        for hit in client.list_hits(MaxResults=100)["HITs"]
        for assignment in client.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    ]


def _history(world: World, name: str) -> tuple[str, str]:
    with httpx.Client(base_url=world.endpoint) as site:
        People(world.endpoint).sign_in(name, site)
        pages = [site.get(path).text for path in ("/worker/hits", "/worker/history")]
        site.headers["Accept"] = "application/json"
        offered = site.get("/worker/hits").json()["hit_groups"]
        for group in offered:
            preview = f"/worker/groups/{group['hit_group_id']}"
            site.headers["Accept"] = "text/html"
            pages.append(site.get(preview, follow_redirects=True).text)
    return pages[1], "".join([pages[0], *pages[2:]])


def _nobody_can_look_it_up(world: World) -> None:
    """No question or page of a HIT has it, and no history of workers who were right."""
    workers_with_feedback = {
        assignment["WorkerId"]
        for assignment in _assignments(world)
        if assignment.get("RequesterFeedback")
    }
    questions = _client(world).list_hits(MaxResults=100)["HITs"]
    assert not any(WHY in hit["Question"] for hit in questions)
    pages = [_history(world, name) for name in PEOPLE]
    assert not any(WHY in offered for _, offered in pages)
    assert sum(WHY in own for own, _ in pages) == len(workers_with_feedback)


def _check(world: World) -> None:
    made = _assignments(world)
    rejected = [assignment for assignment in made if assignment["AssignmentStatus"] == "Rejected"]
    assert len(rejected) == 1
    assert FEEDBACK.fullmatch(rejected[0]["RequesterFeedback"])
    assert not any(
        assignment.get("RequesterFeedback")
        for assignment in made
        if assignment["AssignmentStatus"] == "Approved"
    )
    assert len(made) > len(rejected) * 2
    assert calls_made(world.folder).count(REJECTION) == 1
    _nobody_can_look_it_up(world)


@pytest.mark.parametrize("fault", SAMPLE)
def test_a_rejected_worker_alone_is_told_once(tmp_path: Path, fault: str) -> None:
    """The reason, then the right answer; with no fault, and killed at the rejection."""
    _to_the_end(tmp_path, fault)


@pytest.mark.full
@pytest.mark.parametrize("fault", [name for name in DEATHS if name not in SAMPLE])
def test_whenever_a_pass_dies_it_is_told_once(tmp_path: Path, fault: str) -> None:
    """The same at every other moment of the call."""
    _to_the_end(tmp_path, fault)
