"""A full disk: callers are told to come again, and nothing is half done."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.marketplace.state import accounts, clock, ledger
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.workers import invitations
from tests.crash.world import can_mount, small_disk, without_room
from tests.foundation.server.security_lines import caught
from tests.marketplace.live_market import Live, give, opened, running
from tests.marketplace.market import HIT_TYPE, QUESTION

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient

pytestmark = pytest.mark.skipif(not can_mount(), reason="only root can make a small disk to fill")

SENTENCE = "the disk of this marketplace is full"
NUMBERS = count(1)
MOST_CALLS = 200
"""What is already there for SQLite to write to is used up by fewer."""


@dataclass
class Scene:
    """A live marketplace on a small disk, with a worker who is signed in."""

    live: Live
    folder: Path
    code: str
    hits: list[dict[str, Any]]
    worker: httpx.Client


def create(client: "MTurkClient", *, letters: int = 40_000) -> dict[str, Any]:
    """Post a HIT with a question of so many letters; no two calls are alike."""
    question = QUESTION.replace("What is it?", "What is it? " + "x" * letters)
    return dict(
        client.create_hit(
            **HIT_TYPE,
            LifetimeInSeconds=3600,
            Question=question,
            RequesterAnnotation=f"number {next(NUMBERS)}",
        )["HIT"]
    )


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """Two HITs, on a disk of three megabytes."""
    folder = tmp_path / "disk"
    with small_disk(folder):
        database = folder / "live.db"
        key = give(database)
        with opened(database) as backend, backend.transaction() as transaction:
            new = accounts.NewWorker(handle="ann", country="DE")
            code = invitations.invite(transaction, new, lifetime_ms=clock.DAY).code
        with running(database, key) as live, httpx.Client(base_url=live.endpoint) as worker:
            client = live.client()
            hits = [create(client) for _ in range(2)]
            entered = worker.post("/worker/sign-in", data={"invitation": code})
            assert entered.status_code == 303
            yield Scene(live, folder, code, hits, worker)


def refused_call(client: "MTurkClient") -> ClientError:
    """Post HITs, then smaller ones, until not even the smallest is taken."""
    refused = None
    for letters in (40_000, 10_000, 1_000, 10):
        for _ in range(MOST_CALLS):
            try:
                create(client, letters=letters)
            except ClientError as fault:
                refused = fault
                break
        else:
            raise AssertionError("the disk is not full")
    assert refused is not None
    return refused


def check_books(backend: Backend) -> None:
    """Nothing is half done."""
    with backend.transaction() as transaction:
        assert ledger.broken_laws(transaction) == []


def test_a_requester_is_told_to_call_again_and_the_sdk_does(scene: Scene) -> None:
    """503 and `ServiceFault`, which boto3 repeats by itself; then there is room."""
    retrying = scene.live.client(config=Config(retries={"total_max_attempts": 2}))
    with without_room(scene.folder):
        refused = refused_call(scene.live.client())
        assert refused.response["Error"]["Code"] == "ServiceFault"
        assert SENTENCE in refused.response["Error"]["Message"]
        reply = refused.response["ResponseMetadata"]
        assert reply["HTTPStatusCode"] == 503
        assert int(reply["HTTPHeaders"]["retry-after"]) > 0
        again = refused_call(retrying).response["ResponseMetadata"]
        assert (again["HTTPStatusCode"], again["RetryAttempts"]) == (503, 1)
        # What only reads is answered.
        hit = scene.live.client().get_hit(HITId=scene.hits[0]["HITId"])["HIT"]
        assert hit["HITStatus"] == "Assignable"
    assert create(retrying)["HITStatus"] == "Assignable"
    with opened(scene.live.database) as backend:
        check_books(backend)


def test_a_command_beside_the_server_lists_and_ends_on_a_full_disk(scene: Scene) -> None:
    """What it would note down as it ends is left out."""
    with without_room(scene.folder):
        refused_call(scene.live.client())
        words = ["market", "account", "list", "--database", str(scene.live.database)]
        listed = CliRunner().invoke(main, words)
    assert listed.exit_code == 0, listed.output
    assert scene.live.key.access_key in listed.output


def test_a_worker_is_told_to_try_again_and_the_same_form_is_taken_later(scene: Scene) -> None:
    """A page for people, JSON for programs; the answer is sent once more, and taken."""
    accept = f"/worker/groups/{scene.hits[0]['HITGroupId']}/accept"
    taken = scene.worker.post(accept, headers={"Accept": "application/json"})
    form = {"assignmentId": taken.json()["assignment_id"], "caption": "A bird. " * 2000}
    with without_room(scene.folder), caught() as lines:
        refused_call(scene.live.client())
        page = scene.worker.post("/mturk/externalSubmit", data=form)
        assert page.status_code == 503
        assert SENTENCE in page.text
        assert int(page.headers["retry-after"]) > 0
        assert page.headers["content-type"].startswith("text/html")
        for path, sent in (
            ("/mturk/externalSubmit", form),
            ("/worker/sign-in", {"invitation": scene.code}),
        ):
            reply = scene.worker.post(path, data=sent, headers={"Accept": "application/json"})
            assert reply.status_code == 503
            assert reply.json()["error"] == "ServiceFault"
        assert scene.worker.get("/worker/hits").status_code == 200
        # Who could not be signed in has not signed in.
        assert not lines
    assert scene.worker.post("/mturk/externalSubmit", data=form).status_code == 200
    client = scene.live.client()
    done = client.get_assignment(AssignmentId=form["assignmentId"])["Assignment"]
    assert done["AssignmentStatus"] == "Submitted"
    with opened(scene.live.database) as backend:
        check_books(backend)
