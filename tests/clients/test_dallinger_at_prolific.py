"""Dallinger's MTurkService, whose HITs Prolific's participants do in visits of two."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from piecework.foundation.server.stand_in import authority
from piecework.marketplace.http.hosts import AMAZON_HOSTS
from tests.clients.driven import Driven
from tests.clients.environments import UnavailableError, python_client
from tests.marketplace.market import QUESTION
from tests.markets.prolific.bridge.test_pay import LATER
from tests.markets.prolific.bridge.town import Town, a_town

pytestmark = pytest.mark.clients
_KEY = "DALLINGER0000001"
_DRIVER = Path(__file__).with_name("drivers") / "dallinger_driver.py"


@pytest.fixture
def town(tmp_path: Path) -> Iterator[Town]:
    """A town that answers as Amazon's hosts do, which Dallinger has built in."""
    today = datetime.now(UTC).replace(microsecond=0)  # noqa: TID251 - its clock too
    proxy = authority.establish(tmp_path / "market-aws", AMAZON_HOSTS, now=today)
    with a_town(tmp_path, start=today, aws_proxy=proxy) as town:
        town.requester = town.market.requester(_KEY)
        yield town


@pytest.fixture
def dallinger(town: Town, tmp_path: Path) -> Iterator[Driven]:
    """Its service, in a process of its own."""
    try:
        python = python_client("dallinger") / "python"
    except UnavailableError as fault:
        pytest.skip(f"Dallinger is not here: {fault}")
    running = town.machine.running
    assert running is not None
    assert running.aws_proxy is not None
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        **running.aws_proxy.environment(),
        "AWS_ACCESS_KEY_ID": _KEY,
        "AWS_SECRET_ACCESS_KEY": "unused",
    }
    words = [str(python), "-W", "ignore", str(_DRIVER)]
    with Driven(words, environment=environment, folder=tmp_path) as driven:
        yield driven


def _do(dallinger: Driven, call: str, **arguments: object) -> object:
    reply = dallinger.ask(call, **arguments)
    assert "error" not in reply, reply["error"]
    return reply["result"]


def test_dallinger_approves_one_hit_of_a_visit_after_the_other(
    town: Town, dallinger: Driven
) -> None:
    """Each approval and each bonus goes through; then the visit is paid, once."""
    hits = town.post(2, 1, **LATER)
    town.settle()
    ann = town.visitor()
    ann.work(town.study())
    for number, assignment in enumerate(town.submitted(*hits)):
        assert assignment["AssignmentStatus"] == "Submitted"
        arguments = {"assignment_id": assignment["AssignmentId"]}
        assert _do(dallinger, "approve_assignment", **arguments)
        assert _do(dallinger, "grant_bonus", **arguments, amount=0.25, reason="Thank you")
        town.settle()
        status = town.researcher.submission(ann.submission_id)["status"]
        assert status == ("AWAITING REVIEW", "APPROVED")[number]
    town.settle()
    paid = town.researcher.submission(ann.submission_id)
    assert paid["bonus_payments"] == [25, 25]
    town.check_books()


def test_a_hit_of_dallingers_own_is_paid_as_it_is_sent_in(town: Town, dallinger: Driven) -> None:
    """Dallinger posts with an auto-approval delay of zero."""
    made = _do(
        dallinger,
        "create_hit",
        experiment_id="one",
        title="Describe a picture",
        description="Say what it shows.",
        keywords=["image"],
        reward=0.55,
        duration_hours=1,
        lifetime_days=1,
        question=QUESTION,
        max_assignments=2,
        do_subscribe=False,
    )
    assert isinstance(made, dict)
    town.settle()
    people = [town.visitor() for _ in range(2)]
    for someone in people:
        someone.work(town.study())
    town.settle()
    for someone in people:
        assert town.researcher.submission(someone.submission_id)["status"] == "APPROVED"
    town.check_books()
