"""Mephisto's own classes for MTurk, unchanged, on the Python that they need."""

import os
import secrets
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.clients.driven import Driven
from tests.clients.environments import UnavailableError, python_client
from tests.marketplace.market import Market, Worker

pytestmark = pytest.mark.clients

_DRIVER = Path(__file__).with_name("drivers") / "mephisto_driver.py"
# Mephisto 1.1.1 gives dataclass fields defaults that Python refuses from 3.11 on.
_PYTHONS = ("3.10",)
_TASK = {
    "task_title": "Describe a picture",
    "task_description": "Say what it shows.",
    "task_tags": "image,caption",
    "task_reward": 0.55,
    "assignment_duration_in_seconds": 600,
}


class Mephisto:
    """One requester of Mephisto's."""

    def __init__(self, driven: Driven) -> None:
        self._driven = driven

    def answer(self, call: str, **arguments: object) -> dict[str, Any]:
        """What the call returns, as result, or raises, as error."""
        reply: dict[str, Any] = self._driven.ask(call, **arguments)
        return reply

    def do(self, call: str, **arguments: object) -> Any:  # noqa: ANN401 - JSON
        """What the call returns."""
        reply = self.answer(call, **arguments)
        assert "error" not in reply, reply["error"]
        return reply["result"]

    def refused(self, call: str, **arguments: object) -> dict[str, str]:
        """The exception that the call raises."""
        reply = self.answer(call, **arguments)
        assert "error" in reply, reply
        fault: dict[str, str] = reply["error"]
        return fault

    def post(self, *, title: str = "", **arguments: object) -> dict[str, Any]:
        """A HIT by Mephisto's two steps: HIT type, then HIT."""
        task = {**_TASK, "task_title": title or f"Describe {secrets.token_hex(4)}"}
        hit_type_id = self.do("create_hit_type", task_args=task, qualifications=[])
        _link, _hit_id, reply = self.do(
            "create_hit_with_hit_type",
            frame_height=650,
            page_url="https://pictures.example/task?a=1&b=2",
            hit_type_id=hit_type_id,
            **arguments,
        )
        hit: dict[str, Any] = reply["HIT"]
        return hit


@pytest.fixture(scope="module")
def mephisto(standing: Market, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mephisto]:
    """Mephisto in a home of its own, where it keeps its database and credentials."""
    try:
        python = python_client("mephisto", pythons=_PYTHONS) / "python"
    except UnavailableError as fault:
        pytest.skip(f"Mephisto is not here: {fault}")
    home = tmp_path_factory.mktemp("mephisto")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL_MTURK": standing.endpoint,
        "PIECEWORK_KEY": "M" + secrets.token_hex(8),
    }
    words = [str(python), "-W", "ignore", str(_DRIVER)]
    with Driven(words, environment=environment, folder=home) as driven:
        yield Mephisto(driven)


@pytest.fixture
def worker(standing: Market) -> Worker:
    """Somebody in the United States, as Mephisto's own requirement asks."""
    return standing.worker(country="US")


def test_the_budget_is_the_balance(mephisto: Mephisto) -> None:
    """What Mephisto thinks it may spend, and its check before spending."""
    assert 0 < mephisto.do("requester.get_available_budget") <= 10_000
    assert mephisto.do("check_mturk_balance", balance_needed=1.0) is True
    assert mephisto.do("check_mturk_balance", balance_needed=10_001.0) is False


def test_a_hit_is_created_for_english_speaking_countries(
    mephisto: Mephisto, standing: Market
) -> None:
    """Mephisto adds its locale requirement; a worker elsewhere is not let in."""
    hit = mephisto.post()
    hit_now = mephisto.do("get_hit", hit_id=hit["HITId"])["HIT"]
    assert hit_now["QualificationRequirements"][0]["Comparator"] == "In"
    assert "https://pictures.example/task?a=1&amp;b=2" in hit_now["Question"]
    assert standing.worker(country="FR").accept(hit["HITGroupId"]).status_code == 409
    assert standing.worker(country="NZ").accept(hit["HITGroupId"]).status_code == 201


def test_work_is_listed_and_approved(mephisto: Mephisto, worker: Worker) -> None:
    """All assignments of a HIT in one call."""
    hit = mephisto.post()
    assignment_id = worker.do(hit["HITGroupId"])
    [listed] = mephisto.do("get_assignments_for_hit", hit_id=hit["HITId"])
    assert (listed["AssignmentId"], listed["WorkerId"]) == (assignment_id, worker.worker_id)
    mephisto.do("approve_assignments_for_hit", hit_id=hit["HITId"])
    output = mephisto.do("get_assignment", assignment_id=assignment_id)
    assert output["Assignment"]["AssignmentStatus"] == "Approved"


def test_rejected_work_is_approved_by_override(mephisto: Mephisto, worker: Worker) -> None:
    """Mephisto swallows refusals here, so the state is what counts."""
    assignment_id = worker.do(mephisto.post()["HITGroupId"])
    states = []
    for call, arguments in (
        ("reject_work", {"reason": "No caption"}),
        ("approve_work", {}),
        ("approve_work", {"override_rejection": True}),
    ):
        mephisto.do(call, assignment_id=assignment_id, **arguments)
        output = mephisto.do("get_assignment", assignment_id=assignment_id)
        states.append(output["Assignment"]["AssignmentStatus"])
    assert states == ["Rejected", "Rejected", "Approved"]


def test_a_bonus_is_paid_once(mephisto: Mephisto, worker: Worker, standing: Market) -> None:
    """Its amount is a float's text; the same token is refused."""
    assignment_id = worker.do(mephisto.post()["HITGroupId"])
    arguments = {
        "worker_id": worker.worker_id,
        "bonus_amount": 0.5,
        "assignment_id": assignment_id,
        "reason": "Fine words",
        "unique_request_token": secrets.token_hex(8),
    }
    assert mephisto.do("pay_bonus", **arguments) is True
    fault = mephisto.refused("pay_bonus", **arguments)
    assert fault["code"] == "RequestError"
    assert "already been processed" in fault["message"]
    paid = [b for b in standing.books()["bonuses"] if assignment_id in b.values()]
    assert len(paid) == 1


def test_a_hit_expires_and_is_deleted(mephisto: Mephisto) -> None:
    """Mephisto's clean-up: what cannot be deleted is expired, then deleted."""
    hit = mephisto.post()
    left = mephisto.do("expire_and_dispose_hits", hits=[hit], quiet=True)
    assert [left_hit["HITId"] for left_hit in left] == [hit["HITId"]]
    hit_now = mephisto.do("get_hit", hit_id=hit["HITId"])["HIT"]
    assert hit_now["HITStatus"] == "Reviewable"
    assert mephisto.do("expire_and_dispose_hits", hits=[hit], quiet=True) == []
    hit_now = mephisto.do("get_hit", hit_id=hit["HITId"])["HIT"]
    assert hit_now["HITStatus"] == "Disposed"


def test_a_hit_that_somebody_works_on_expires_for_others(
    mephisto: Mephisto, worker: Worker, standing: Market
) -> None:
    """He may still submit; nobody else may begin."""
    hit = mephisto.post(num_assignments=2)
    accepted = worker.accept(hit["HITGroupId"]).json()
    mephisto.do("expire_hit", hit_id=hit["HITId"])
    hit_now = mephisto.do("get_hit", hit_id=hit["HITId"])["HIT"]
    assert datetime.fromisoformat(hit_now["Expiration"]) <= standing.now()
    assert standing.worker().accept(hit["HITGroupId"]).status_code in (404, 409)
    assert worker.submit(accepted["assignment_id"]).status_code == 200


def test_outstanding_hits_are_read_to_the_empty_page(mephisto: Mephisto) -> None:
    """Mephisto reads NextToken of every page that shows a HIT, the last one too."""
    hit = mephisto.post()
    by_type = mephisto.do("get_outstanding_hits")
    assert hit["HITId"] in [open_hit["HITId"] for open_hit in by_type[hit["HITTypeId"]]]


def test_a_worker_is_blocked_and_let_in_again(mephisto: Mephisto, worker: Worker) -> None:
    """By Mephisto's record of the worker."""
    arguments = {"worker_id": worker.worker_id, "for_requester": True}
    assert mephisto.do("worker.is_blocked", **arguments) is False
    assert mephisto.do("worker.block_worker", reason="Spam", **arguments) == [True, ""]
    assert mephisto.do("worker.is_blocked", **arguments) is True
    assert worker.accept(mephisto.post()["HITGroupId"]).status_code == 409
    assert mephisto.do("worker.unblock_worker", reason="No spam", **arguments) is True
    assert mephisto.do("worker.is_blocked", **arguments) is False


def test_a_soft_block_is_a_qualification(
    mephisto: Mephisto, worker: Worker, standing: Market
) -> None:
    """Granted by name, made at first use, required as DoesNotExist, revoked again."""
    name = f"soft block {secrets.token_hex(4)}"
    mephisto.do(
        "worker.grant_crowd_qualification",
        worker_id=worker.worker_id,
        qualification_name=name,
        value=1,
    )
    type_id = mephisto.do(
        "find_or_create_qualification", qualification_name=name, description="Out."
    )
    hit_type_id = mephisto.do(
        "create_hit_type",
        task_args={**_TASK, "task_title": name},
        qualifications=[
            {
                "qualification_name": name,
                "comparator": "DoesNotExist",
                "value": None,
                "applied_exclusively": False,
                "QualificationTypeId": type_id,
                "Comparator": "DoesNotExist",
                "ActionsGuarded": "DiscoverPreviewAndAccept",
            }
        ],
    )
    hit = mephisto.do(
        "create_hit_with_hit_type",
        frame_height=0,
        page_url="https://pictures.example/task",
        hit_type_id=hit_type_id,
        num_assignments=2,
    )[2]["HIT"]
    assert worker.accept(hit["HITGroupId"]).status_code in (404, 409)
    assert standing.worker().accept(hit["HITGroupId"]).status_code == 201
    mephisto.do(
        "worker.revoke_crowd_qualification", worker_id=worker.worker_id, qualification_name=name
    )
    assert worker.accept(hit["HITGroupId"]).status_code == 201


def test_a_qualification_that_exists_is_found_again(mephisto: Mephisto) -> None:
    """The same name gives the same id, found by Query."""
    arguments = {"qualification_name": secrets.token_hex(8), "description": "Passed."}
    first = mephisto.do("find_or_create_qualification", **arguments)
    assert mephisto.do("find_or_create_qualification", **arguments) == first
    mephisto.do("delete_qualification", qualification_id=first)
    assert mephisto.do("find_or_create_qualification", **arguments) != first


def test_a_compensation_hit_is_posted_or_refused_by_name(mephisto: Mephisto) -> None:
    """It is a QuestionForm: never a HIT that nobody can see."""
    arguments = {"reason": "A page broke", "hit_type_id": mephisto.post()["HITTypeId"]}
    reply = mephisto.answer("create_compensation_hit_with_hit_type", **arguments)
    if "error" in reply:
        assert reply["error"]["code"] == "ParameterValidationError"
        assert "QuestionForm" in reply["error"]["message"]
    else:
        assert "<QuestionForm" in reply["result"][2]["HIT"]["Question"]


def test_a_worker_is_written_to_or_it_is_refused_by_name(
    mephisto: Mephisto, worker: Worker
) -> None:
    """Mephisto's answer is a success without a failure message."""
    hit = mephisto.post()
    worker.do(hit["HITGroupId"])
    mephisto.do("approve_assignments_for_hit", hit_id=hit["HITId"])
    arguments = {
        "worker_id": worker.worker_id,
        "subject": "More birds",
        "message_text": "There are more.",
    }
    reply = mephisto.answer("email_worker", **arguments)
    assert reply["result"] == [True, ""]
