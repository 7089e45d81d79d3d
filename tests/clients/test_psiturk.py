"""psiTurk's own services wrapper, unchanged, with the boto3 of 2019 that it pins."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from piecework.foundation.server.stand_in import authority
from piecework.marketplace.http.hosts import AMAZON_HOSTS
from piecework.marketplace.http.server import Marketplace, Running, serve
from tests.clients.psiturk import PsiTurk, psiturk_on
from tests.marketplace.market import Market, Worker

pytestmark = pytest.mark.clients


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A marketplace of today, since psiTurk expires HITs by the machine's clock.

    It stands in for Amazon's hosts, since psiTurk names them in its code.
    """
    folder = tmp_path_factory.mktemp("psiturk-market")
    today = datetime.now(UTC).replace(microsecond=0)  # noqa: TID251 - its clock too
    with serve(
        Marketplace(
            folder / "market.db",
            rehearsal=True,
            seed=7,
            start=today,
            aws_proxy=authority.establish(folder / "market-aws", AMAZON_HOSTS, now=today),
        )
    ) as running:
        yield running


@pytest.fixture(scope="module")
def standing(running: Running) -> Iterator[Market]:
    """The same as its customers see it."""
    market = Market(running.endpoint_url, running.frames_url)
    yield market
    market.close()


@pytest.fixture(scope="module")
def psiturk(running: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PsiTurk]:
    """Make psiTurk a project of its own."""
    with psiturk_on(running, tmp_path_factory.mktemp("psiturk")) as psiturk:
        yield psiturk


@pytest.fixture
def worker(standing: Market) -> Worker:
    """An experienced worker in the United States, as psiTurk's defaults ask."""
    return standing.worker(country="US", hits_approved=990, hits_submitted=1000)


def _group(standing: Market, hit_id: str) -> str:
    """The group under which workers see a HIT."""
    looked = standing.worker(country="US").groups()
    for group in looked:
        page = standing.worker(country="US").http.get(
            f"/worker/groups/{group['hit_group_id']}/preview", params={"hit_id": hit_id}
        )
        if page.is_success and page.json()["hit_id"] == hit_id:
            return str(group["hit_group_id"])
    raise AssertionError(f"no group offers {hit_id}")


def _done(psiturk: PsiTurk, standing: Market, worker: Worker) -> tuple[str, str]:
    """A HIT that the worker did: its id, and the assignment's."""
    hit_id = psiturk.post()
    accepted = worker.accept(_group(standing, hit_id), hit_id=hit_id)
    assignment_id = str(accepted.json()["assignment_id"])
    assert worker.submit(assignment_id).status_code == 200
    return hit_id, assignment_id


def test_the_balance_is_the_account_s(psiturk: PsiTurk) -> None:
    """A text with two decimals, as the service writes money."""
    balance = psiturk.do("amt_balance")
    assert balance == f"{float(balance):.2f}"
    assert 0 < float(balance) <= 10_000


def test_a_hit_is_created_and_listed(psiturk: PsiTurk, standing: Market) -> None:
    """With its US-only and 95 % requirements, for two workers."""
    hit_id = psiturk.post(num_workers=2)
    shown = psiturk.hit(hit_id)
    assert (shown["status"], shown["max_assignments"]) == ("Assignable", 2)
    assert shown["number_assignments_available"] == 2
    listed = psiturk.do("get_all_hits", all_studies=True)
    assert hit_id in [hit["hitid"] for hit in listed]
    group = _group(standing, hit_id)
    for standing_of in (
        {"country": "FR"},
        {"country": "US", "hits_approved": 94, "hits_submitted": 100},
    ):
        stranger = standing.worker(**standing_of)
        assert stranger.accept(group, hit_id=hit_id).status_code == 409


def test_work_is_listed_and_approved(psiturk: PsiTurk, standing: Market, worker: Worker) -> None:
    """The wrapper finds the submitted assignment and approves the HIT's."""
    hit_id, assignment_id = _done(psiturk, standing, worker)
    arguments = {"hit_ids": [hit_id], "all_studies": True}
    [listed] = psiturk.do("get_assignments", **arguments)["assignments"]
    assert (listed["assignmentId"], listed["workerId"], listed["status"]) == (
        assignment_id,
        worker.worker_id,
        "Submitted",
    )
    psiturk.do("approve_assignments_for_hit", hit_id=hit_id, all_studies=True)
    [listed] = psiturk.do("get_assignments", **arguments)["assignments"]
    assert listed["status"] == "Approved"


def test_work_is_rejected_without_a_word_and_unrejected(
    psiturk: PsiTurk, standing: Market, worker: Worker
) -> None:
    """Its rejection has an empty feedback, which the service takes."""
    hit_id, assignment_id = _done(psiturk, standing, worker)
    arguments = {"hit_ids": [hit_id], "all_studies": True}
    psiturk.do("reject_assignment", assignment_id=assignment_id)
    [listed] = psiturk.do("get_assignments", **arguments)["assignments"]
    assert listed["status"] == "Rejected"
    psiturk.do("unreject_assignment", assignment_id=assignment_id, all_studies=True)
    [listed] = psiturk.do("get_assignments", **arguments)["assignments"]
    assert listed["status"] == "Approved"


def test_a_bonus_is_paid_to_whom_psiturk_looked_up(
    psiturk: PsiTurk, standing: Market, worker: Worker
) -> None:
    """Without a worker's id, it reads him from the assignment."""
    _hit_id, assignment_id = _done(psiturk, standing, worker)
    psiturk.do("approve_assignment_by_assignment_id", assignment_id=assignment_id, all_studies=True)
    psiturk.do(
        "bonus_nonlocal_assignment", assignment_id=assignment_id, amount=0.25, reason="Fine words"
    )
    paid = [b for b in standing.books()["bonuses"] if assignment_id in b.values()]
    assert len(paid) == 1


def test_a_hit_is_extended_by_workers_and_minutes(psiturk: PsiTurk) -> None:
    """One more assignment, and an hour more than before."""
    hit_id = psiturk.post()
    before = psiturk.hit(hit_id)
    psiturk.do("extend_hit", hit_id=hit_id, assignments=1, minutes=60)
    after = psiturk.hit(hit_id)
    assert after["max_assignments"] == 2
    longer = datetime.fromisoformat(after["expiration"]) - datetime.fromisoformat(
        before["expiration"]
    )
    assert longer == timedelta(hours=1)


def test_a_hit_is_expired_and_deleted(psiturk: PsiTurk) -> None:
    """An open HIT is not deleted; an expired one is, and leaves the list."""
    hit_id = psiturk.post()
    refused = psiturk.answer("delete_hit", hit_id=hit_id)
    assert refused["status"] == "error"
    assert refused["exception"]["code"] == "RequestError"
    psiturk.do("expire_hit", hit_id=hit_id)
    assert psiturk.hit(hit_id)["status"] == "Reviewable"
    psiturk.do("delete_hit", hit_id=hit_id)
    listed = psiturk.do("get_all_hits", all_studies=True)
    assert hit_id not in [hit["hitid"] for hit in listed]


def test_more_hits_than_a_page_are_all_listed(psiturk: PsiTurk) -> None:
    """Twelve HITs, ten a page."""
    made = {psiturk.post() for _ in range(12)}
    listed = psiturk.do("get_all_hits", all_studies=True)
    assert made <= {hit["hitid"] for hit in listed}


def test_own_qualification_types_are_listed(psiturk: PsiTurk) -> None:
    """None yet; the answer is a list all the same."""
    listing = psiturk.do("list_qualification_types")
    assert listing["qualification_types"] == []
