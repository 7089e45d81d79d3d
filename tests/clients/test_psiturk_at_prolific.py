"""psiTurk, unchanged, whose HITs Prolific's participants do."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from piecework.foundation.server.stand_in import authority
from piecework.marketplace.http.hosts import AMAZON_HOSTS
from tests.clients.psiturk import PsiTurk, psiturk_on
from tests.markets.prolific.bridge.town import Town, a_town

pytestmark = pytest.mark.clients


@pytest.fixture
def town(tmp_path: Path) -> Iterator[Town]:
    """A town of today, since psiTurk expires HITs by the machine's clock."""
    today = datetime.now(UTC).replace(microsecond=0)  # noqa: TID251 - its clock too
    proxy = authority.establish(tmp_path / "market-aws", AMAZON_HOSTS, now=today)
    with a_town(tmp_path, start=today, aws_proxy=proxy, hits_per_visit=1) as town:
        yield town


@pytest.fixture
def psiturk(town: Town, tmp_path: Path) -> Iterator[PsiTurk]:
    """A project of psiTurk's on it."""
    home = tmp_path / "psiturk"
    home.mkdir()
    with psiturk_on(town.machine.running, home) as psiturk:
        yield psiturk


def test_participants_do_psiturks_hit_and_are_paid(psiturk: PsiTurk, town: Town) -> None:
    """Its requirements choose them; its approval and its bonus reach Prolific."""
    hit_id = psiturk.post(num_workers=2)
    town.settle()
    people = [town.visitor(country="US", approvals=990, rejections=10) for _ in range(2)]
    abroad = town.visitor(country="FR", approvals=990, rejections=10)
    careless = town.visitor(country="US", approvals=500, rejections=500)
    assert (abroad.studies(), careless.studies()) == ([], [])
    for someone in people:
        someone.work(town.study())
    arguments = {"hit_ids": [hit_id], "all_studies": True}
    listed = psiturk.do("get_assignments", **arguments)["assignments"]
    assert {assignment["workerId"] for assignment in listed} == {
        person.worker_id for person in people
    }
    psiturk.do("approve_assignments_for_hit", hit_id=hit_id, all_studies=True)
    psiturk.do(
        "bonus_nonlocal_assignment",
        assignment_id=listed[0]["assignmentId"],
        amount=0.25,
        reason="Fine words",
    )
    town.settle()
    books = town.researcher.books()
    rewards = [submission["reward_paid"] for submission in books["submissions"]]
    assert rewards == [55, 55]
    assert [payment["amount"] for payment in books["bonus_payments"]] == [25]
    town.check_books()
