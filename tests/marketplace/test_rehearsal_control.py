"""The controls of a rehearsal, and that a live marketplace has none."""

import sqlite3
import time
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from botocore.exceptions import ClientError, HTTPClientError

from piecework.marketplace.http.server import Marketplace, serve
from tests.marketplace.market import START, Market, expire, post, refusal


def _at(seconds: int) -> dict[str, str]:
    """The header that moves time to so many seconds after the start."""
    moment = START + timedelta(seconds=seconds)
    return {"X-Rehearsal-Now": str(int(moment.timestamp()) * 1000)}


def test_time_stands_still_and_never_runs_backwards(market: Market) -> None:
    """Only PUT moves it, only onward."""
    assert market.now() == START
    market.wait(hours=1)
    back = market.http.put("/rehearsal/clock", json={"now": START.isoformat()})
    assert back.status_code == 409
    assert (market.now() - START).total_seconds() == 3600


def test_a_header_moves_time_before_the_request_is_served(market: Market) -> None:
    """On the site, the frames and the API: what came due is done, then the request."""
    client, ann, bob = market.requester("KEY"), market.worker(), market.worker()
    made = post(client, MaxAssignments=2, LifetimeInSeconds=7200)
    first = ann.do(made["HITGroupId"])
    # The second is abandoned after 600 s and the first approved after 3,600 s.
    taken = bob.accept(made["HITGroupId"]).json()["assignment_id"]
    reply = bob.http.get(f"/worker/assignments/{taken}/time", headers=_at(601))
    assert reply.json() == {"status": "Abandoned", "seconds_left": 0}
    frame = f"{market.frames}/frames/{made['HITId']}"
    assert httpx.get(frame, headers=_at(3600)).status_code == 200
    work = client.get_assignment(AssignmentId=first)["Assignment"]
    assert work["AssignmentStatus"] == "Approved"
    assert work["ApprovalTime"] == START + timedelta(seconds=3600)
    client.meta.events.register(
        "before-send", lambda request, **_: request.headers.update(_at(7200))
    )
    assert client.get_hit(HITId=made["HITId"])["HIT"]["HITStatus"] == "Reviewable"
    assert market.now() == START + timedelta(seconds=7200)


def test_a_header_of_time_that_has_passed_changes_nothing(market: Market) -> None:
    """Time stays, and the request is served at the present."""
    market.wait(hours=1)
    ann = market.worker()
    assert ann.http.get("/worker/hits", headers=_at(60)).status_code == 200
    assert market.now() == START + timedelta(hours=1)


@pytest.mark.parametrize("value", ["", "soon", "-1", "1.5", "7258118400000", "9" * 40])
def test_a_header_that_names_no_moment_is_refused(standing: Market, value: str) -> None:
    """400 with a sentence; 2200-01-01 is 7,258,118,400 s and no moment any more."""
    before = standing.now()
    reply = standing.http.get("/worker/hits", headers={"X-Rehearsal-Now": value})
    assert reply.status_code == 400
    assert "milliseconds since 1970" in reply.text
    assert standing.now() == before


def test_a_page_cannot_move_time_by_a_header(standing: Market) -> None:
    """A script of a question's page is refused, on its own origin too."""
    before = standing.now()
    for address in (standing.endpoint, standing.frames):
        headers = {**_at(10**7), "Sec-Fetch-Site": "same-origin"}
        assert httpx.get(f"{address}/frames/X", headers=headers).status_code == 403
    assert standing.now() == before


def test_a_live_marketplace_ignores_the_header(tmp_path: Path) -> None:
    """Its time is the machine's; not even a value that makes no sense is looked at."""
    with serve(Marketplace(tmp_path / "live.db")) as running, httpx.Client() as http:
        for headers in (_at(10**9), {"X-Rehearsal-Now": "soon"}):
            reply = http.get(f"{running.frames_url}/frames/NONE", headers=headers)
            assert reply.status_code == 404
    with closing(sqlite3.connect(tmp_path / "live.db")) as conn:
        clock = conn.execute("SELECT 1 FROM settings WHERE key = 'now_ms'")
        assert clock.fetchone() is None


def test_a_handle_is_one_worker_with_one_token(standing: Market) -> None:
    """Registering again changes nothing and gives the same."""
    first = standing.worker(handle="ann", hits_approved=5, hits_submitted=5)
    again = standing.worker(handle="ann", country="FR")
    other = standing.worker(handle="bob")
    assert (first.worker_id, first.token) == (again.worker_id, again.token)
    assert other.worker_id != first.worker_id
    assert first.worker_id.startswith("A")
    assert len(first.worker_id) == 14


def test_the_same_seed_gives_the_same_ids(tmp_path: Path) -> None:
    """Ids of HITs, types, groups, workers and assignments; another seed, others."""
    all_ids = []
    for name, seed in (("one", 7), ("two", 7), ("three", 8)):
        with (
            serve(Marketplace(tmp_path / f"{name}.db", rehearsal=True, seed=seed)) as running,
            closing(Market(running.endpoint_url, running.frames_url)) as market,
        ):
            made = post(market.requester("KEY"))
            ann = market.worker(handle="ann")
            all_ids.append(
                (
                    made["HITId"],
                    made["HITTypeId"],
                    made["HITGroupId"],
                    ann.worker_id,
                    ann.do(made["HITGroupId"]),
                )
            )
    assert all_ids[0] == all_ids[1]
    assert not set(all_ids[0]) & set(all_ids[2])


def test_calls_are_counted_by_operation(market: Market) -> None:
    """Refused ones too; unknown ones are nobody's."""
    client = market.requester()
    post(client)
    client.get_account_balance()
    with pytest.raises(ClientError):
        client.get_hit(HITId="NONE")
    calls = market.http.get("/rehearsal/calls").json()
    assert calls == {"CreateHIT": 1, "GetAccountBalance": 1, "GetHIT": 1}


def test_a_scripted_fault_strikes_the_call_it_names(market: Market) -> None:
    """Throttled and failed calls do nothing; the calls around them are served."""
    client = market.requester()
    market.set_faults(
        {"call": 2, "kind": "throttle", "times": 2},
        {"operation": "CreateHIT", "kind": "server_error", "times": 1},
    )
    client.get_account_balance()
    for _ in range(2):
        with pytest.raises(ClientError) as caught:
            client.get_account_balance()
        assert refusal(caught.value)[0] == "ThrottlingException"
        status = caught.value.response["ResponseMetadata"]["HTTPStatusCode"]
        assert status == 400
    with pytest.raises(ClientError) as caught:
        post(client)
    assert refusal(caught.value)[0] == "ServiceFault"
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 500
    assert client.list_hits()["HITs"] == []
    post(client)
    assert client.list_hits()["NumResults"] == 1


def test_a_lost_reply_is_a_call_that_was_done(market: Market) -> None:
    """The client sees a broken connection; the marketplace has done it, once."""
    client = market.requester()
    market.set_faults({"call": 1, "kind": "lose_reply"})
    with pytest.raises(HTTPClientError):
        post(client)
    assert client.list_hits()["NumResults"] == 1


def test_a_slow_call_is_served_late(market: Market) -> None:
    """Others are served meanwhile, since nothing is locked."""
    client = market.requester()
    market.set_faults({"call": 1, "kind": "slow", "seconds": 0.2})
    began = time.monotonic()
    client.get_account_balance()
    assert time.monotonic() - began >= 0.2


def test_a_limit_throttles_what_comes_faster(market: Market) -> None:
    """Of calls without a pause two pass at once, later ones as time goes by."""
    client = market.requester()
    market.set_faults({"kind": "limit", "per_second": 0.01, "times": 3})
    client.get_account_balance()
    client.get_account_balance()
    # One more drips in every hundred seconds, which no machine is slow enough for.
    with pytest.raises(ClientError) as caught:
        client.get_account_balance()
    assert refusal(caught.value)[0] == "ThrottlingException"


def test_a_call_is_refused_with_the_error_of_the_script(market: Market) -> None:
    """The second HIT meets it, is not made, and the third is."""
    client = market.requester()
    error = {"code": "InsufficientFunds", "message": "No money today."}
    market.set_faults(
        {"kind": "refuse", "operation": "CreateHIT", "call": 2, "error": error},
        {"kind": "refuse", "call": 4, "error": {"type": "Odd", "status": 503}},
    )
    post(client)
    with pytest.raises(ClientError) as caught:
        post(client)
    kind, code, message = refusal(caught.value)
    assert (kind, code) == ("RequestError", "InsufficientFunds")
    assert message.startswith("No money today.")
    post(client)
    with pytest.raises(ClientError, match="Odd") as caught:
        client.list_hits()
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 503
    assert client.list_hits()["NumResults"] == 2


def test_drawn_faults_are_the_same_for_the_same_seed(market: Market) -> None:
    """Of forty calls about half are struck; again the same ones, others for others."""
    client = market.requester()

    def struck(seed: int) -> list[int]:
        market.set_faults({"kind": "throttle", "times": 40, "chance": 0.5, "seed": seed})
        numbers = []
        for number in range(40):
            try:
                client.get_account_balance()
            except ClientError:
                numbers.append(number)
        return numbers

    first = struck(1)
    # 40 fair draws: fewer than 8 or more than 32 come up once in 18,000 seeds.
    assert 8 <= len(first) <= 32
    assert struck(1) == first
    assert struck(2) != first


def test_a_new_hit_is_listed_after_the_lag(market: Market) -> None:
    """Requesters' and workers' lists come late; who knows the id finds it at once."""
    client, ann = market.requester(), market.worker()
    market.set_faults({"kind": "lag", "seconds": 30})
    made = post(client)
    assert client.list_hits()["HITs"] == []
    assert client.get_hit(HITId=made["HITId"])["HIT"]["HITStatus"] == "Assignable"
    assert ann.groups() == []
    assert ann.accept(made["HITGroupId"]).status_code == 409
    expire(client, made["HITId"])
    assert client.list_reviewable_hits()["HITs"] == []
    post(client)
    market.wait(seconds=29)
    assert client.list_hits()["HITs"] == []
    market.wait(seconds=1)
    assert client.list_hits()["NumResults"] == 2
    assert client.list_reviewable_hits()["NumResults"] == 1
    assert ann.groups()[0]["available"] == 1
    assert ann.accept(made["HITGroupId"]).status_code == 201


@pytest.mark.parametrize(
    ("method", "path", "document"),
    [
        ("PUT", "clock", {"now": "soon"}),
        ("PUT", "clock", {"now": "9999-01-01T00:00:00Z"}),
        ("PUT", "clock", {"then": "2026-01-06T00:00:00Z"}),
        ("PUT", "clock", []),
        ("POST", "workers", {"handle": "x"}),
        ("POST", "workers", {"handle": "", "country": "US"}),
        ("POST", "workers", {"handle": "x", "country": "USA"}),
        ("POST", "workers", {"handle": "x", "country": "US", "hits_approved": -1}),
        ("POST", "workers", {"handle": "x", "country": "US", "hits_approved": 1}),
        ("POST", "workers", {"handle": "x", "country": "US", "is_adult": 1}),
        ("POST", "workers", {"handle": "x", "country": "US", "age": 3}),
        ("PUT", "faults", {}),
        ("PUT", "faults", [{"kind": "fire"}]),
        ("PUT", "faults", [{"kind": "slow", "seconds": -1}]),
        ("PUT", "faults", [{"kind": "slow", "operation": "GetHITs"}]),
        ("PUT", "faults", [{"kind": "slow", "call": "first"}]),
        ("PUT", "faults", [{"kind": "slow", "chance": 2}]),
        ("PUT", "faults", [{"kind": "slow", "chance": "often"}]),
        ("PUT", "faults", [{"kind": "limit"}]),
        ("PUT", "faults", [{"kind": "slow", "per_second": 5}]),
        ("PUT", "faults", [{"kind": "refuse"}]),
        ("PUT", "faults", [{"kind": "slow", "error": {}}]),
        ("PUT", "faults", [{"kind": "refuse", "error": {"status": 200}}]),
        ("PUT", "faults", [{"kind": "refuse", "error": {"type": ""}}]),
        ("PUT", "faults", [{"kind": "refuse", "error": "no"}]),
    ],
)
def test_a_control_that_makes_no_sense_is_refused(
    standing: Market, method: str, path: str, document: object
) -> None:
    """400 with a sentence, and nothing changes."""
    reply = standing.http.request(method, f"/rehearsal/{path}", json=document)
    assert reply.status_code == 400
    assert "That did not work" in reply.text


def test_pages_may_not_use_the_controls(standing: Market) -> None:
    """A browser's request tells where it comes from, and is refused for it."""
    for headers in ({"Origin": standing.frames}, {"Sec-Fetch-Site": "same-origin"}):
        reply = standing.http.get("/rehearsal/books", headers=headers)
        assert reply.status_code == 403


def test_a_live_marketplace_has_no_controls_and_no_free_accounts(tmp_path: Path) -> None:
    """404 under /rehearsal/; an unknown access key is nobody's."""
    with (
        serve(Marketplace(tmp_path / "live.db")) as running,
        closing(Market(running.endpoint_url, running.frames_url)) as market,
    ):
        for path in ("clock", "workers", "faults", "books", "calls"):
            assert market.http.get(f"/rehearsal/{path}").status_code == 404
        with pytest.raises(ClientError) as caught:
            market.requester().get_account_balance()
        assert refusal(caught.value)[0] == "UnrecognizedClientException"
        status = caught.value.response["ResponseMetadata"]["HTTPStatusCode"]
        assert status == 400
