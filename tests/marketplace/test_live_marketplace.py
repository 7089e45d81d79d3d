"""A marketplace that does not rehearse: accounts and workers that it is given."""

from contextlib import closing
from pathlib import Path

import httpx

from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.requester.api import perform_operation
from piecework.marketplace.state import accounts
from piecework.marketplace.state.backend import Backend, Rules
from tests.marketplace.market import Market, post


def test_a_requester_and_a_worker_are_let_in(tmp_path: Path) -> None:
    """With an account and an invitation, a HIT is posted, done and paid."""
    database = tmp_path / "live.db"
    ann = accounts.NewWorker(handle="ann", country="DE", subdivision="BE")
    with closing(Backend(database, Rules())) as backend, backend.transaction() as transaction:
        accounts.add_requester(transaction, "LAB", balance_cents=100, name="The lab")
        worker_id, token = accounts.add_worker(transaction, ann)
    with (
        serve(Marketplace(database, trust_local=True)) as running,
        closing(Market(running.endpoint_url, running.frames_url)) as market,
    ):
        client = market.requester("LAB")
        made = post(client)
        market.http.post("/worker/sign-in", data={"token": token})
        market.http.headers["accept"] = "application/json"
        (group,) = market.http.get("/worker/hits").json()["hit_groups"]
        assert group["requester"] == "The lab"
        accepted = market.http.post(f"/worker/groups/{made['HITGroupId']}/accept")
        form = {"assignmentId": accepted.json()["assignment_id"], "caption": "A bird."}
        assert market.http.post("/mturk/externalSubmit", data=form).status_code == 200
        (work,) = client.list_assignments_for_hit(HITId=made["HITId"])["Assignments"]
        assert work["WorkerId"] == worker_id
        assert work["SubmitTime"] >= work["AcceptTime"] >= made["CreationTime"]
        client.approve_assignment(AssignmentId=work["AssignmentId"])
        # 100 - 55 - 11
        assert client.get_account_balance()["AvailableBalance"] == "0.34"


def test_a_new_invitation_ends_the_old_one(tmp_path: Path) -> None:
    """Live tokens are drawn anew; the worker stays the same."""
    database = tmp_path / "live.db"
    ann = accounts.NewWorker(handle="ann", country="DE")
    with closing(Backend(database, Rules())) as backend, backend.transaction() as transaction:
        first_id, first = accounts.add_worker(transaction, ann)
        second_id, second = accounts.add_worker(transaction, ann)
    assert first_id == second_id
    assert first != second
    with serve(Marketplace(database)) as running, httpx.Client() as http:
        address = f"{running.endpoint_url}/worker/sign-in"
        assert http.post(address, data={"token": first}).status_code == 401
        assert http.post(address, data={"token": second}).status_code == 303


def test_an_account_is_opened_once(backend: Backend) -> None:
    """Opening it again adds no money."""
    with backend.transaction() as transaction:
        first = accounts.add_requester(transaction, "LAB", balance_cents=100)
        assert accounts.add_requester(transaction, "LAB", balance_cents=100) == first
    balance = perform_operation(backend, "LAB", "GetAccountBalance", {})
    assert balance["AvailableBalance"] == "1.00"
