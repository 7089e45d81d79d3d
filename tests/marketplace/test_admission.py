"""Who may call a live marketplace: the holder of a key, as often as they like."""

import json
import sqlite3
import stat
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from botocore.exceptions import ClientError

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.http.hosts import UnsafeBindError
from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.state import accounts
from tests.marketplace.live_market import Live, give, opened, running
from tests.marketplace.market import HIT_TYPE, QUESTION, post, refusal
from tests.marketplace.signing import send, with_header

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    """A live marketplace in which nothing has happened yet."""
    database = tmp_path / "live.db"
    with running(database, give(database)) as live:
        yield live


@pytest.fixture
def rich(tmp_path: Path) -> Iterator[Live]:
    """A live marketplace whose requester has a thousand dollars."""
    database = tmp_path / "rich.db"
    with running(database, give(database, cents=100_000)) as rich:
        yield rich


def test_the_holder_of_a_key_posts_and_reads(live: Live) -> None:
    """boto3 with key and secret, and nothing special."""
    client = live.client()
    made = post(client)
    assert client.get_hit(HITId=made["HITId"])["HIT"]["Title"] == made["Title"]
    # 10.00 - (0.55 + 0.11) held
    assert client.get_account_balance()["AvailableBalance"] == "9.34"


def test_the_sandbox_as_botocore_knows_it_is_served(live: Live) -> None:
    """The pseudo-region `sandbox` signs with that word for a region."""
    client = live.client(region_name="sandbox")
    assert client.get_account_balance()["AvailableBalance"] == "10.00"


@pytest.mark.parametrize(
    ("credentials", "kind"),
    [
        ({"aws_access_key_id": "PWKEYNOBODY"}, "UnrecognizedClientException"),
        ({"aws_access_key_id": "name:The lab"}, "MissingAuthenticationToken"),
        ({"aws_secret_access_key": "wrong"}, "InvalidSignatureException"),
        ({"aws_session_token": "x"}, "UnrecognizedClientException"),
        ({"region_name": "eu-west-1"}, "InvalidSignatureException"),
    ],
)
def test_nobody_else_gets_in(live: Live, credentials: dict[str, str], kind: str) -> None:
    """400 with AWS's own error, and nothing is posted."""
    with pytest.raises(ClientError) as caught:
        post(live.client(None, config=None, **credentials))
    assert refusal(caught.value)[0].startswith(kind)
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert live.client().list_hits()["HITs"] == []


def test_a_stranger_is_refused_before_his_words_are_read(live: Live) -> None:
    """The signature comes before JSON and parameters."""
    for body in (b"{", b'{"HITId": 5}'):
        bent = with_header(live.signed("GetHIT", body), "x-amz-date", None)
        reply = send(live.http, live.endpoint, bent)
        assert reply.json()["__type"] == "IncompleteSignatureException"


def posted_alike(client: "MTurkClient", times: int) -> list[str]:
    """The ids of so many HITs that are posted by the same call without a token."""
    return [post(client)["HITId"] for _ in range(times)]


def test_identical_calls_in_a_row_are_each_carried_out_at_once(rich: Live) -> None:
    """Signatures are of whole seconds, so most of these hundred calls share one."""
    begun = time.monotonic()
    made = posted_alike(rich.client(), 100)
    # A call takes some milliseconds; each would take a second if it had to wait until
    # its signature is another.
    assert time.monotonic() - begun < 50
    assert len(set(made)) == 100
    # 1,000.00 - 100 * (0.55 + 0.11) held
    assert rich.client().get_account_balance()["AvailableBalance"] == "934.00"


def test_identical_calls_of_four_threads_are_each_carried_out(rich: Live) -> None:
    """Without a retry by the SDK: no call is refused."""
    clients = [rich.client() for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda client: posted_alike(client, 25), clients))
    assert len({hit_id for ids in made for hit_id in ids}) == 100


def test_the_same_hit_type_may_be_created_twice_in_a_second(live: Live) -> None:
    """It is the same HIT type, and no error."""
    parameters = {
        "Title": "t",
        "Description": "d",
        "Reward": "0.10",
        "AssignmentDurationInSeconds": 60,
    }
    body = json.dumps(parameters).encode()
    received = live.signed("CreateHITType", body)
    first, second = (send(live.http, live.endpoint, received) for _ in range(2))
    assert first.status_code == 200
    assert first.json() == second.json()


def test_a_bonus_with_a_token_is_paid_once_however_often_its_call_is_repeated(live: Live) -> None:
    """A captured call with a token is worth nothing, whatever its headers say."""
    client = live.client()
    made = post(client, MaxAssignments=1)
    with opened(live.database) as backend, backend.transaction() as transaction:
        worker_id, token = accounts.add_worker(
            transaction, accounts.NewWorker(handle="ann", country="DE")
        )
    live.http.post(f"{live.endpoint}/worker/sign-in", data={"token": token})
    group = f"{live.endpoint}/worker/groups/{made['HITGroupId']}/accept"
    taken = live.http.post(group, headers={"accept": "application/json"}).json()
    form = {"assignmentId": taken["assignment_id"], "caption": "A bird."}
    live.http.post(f"{live.endpoint}/mturk/externalSubmit", data=form)
    bonus = {
        "WorkerId": worker_id,
        "AssignmentId": taken["assignment_id"],
        "BonusAmount": "0.50",
        "Reason": "Thanks",
        "UniqueRequestToken": "once",
    }
    captured = live.signed("SendBonus", json.dumps(bonus).encode())
    for number in range(8):
        again = with_header(captured, "amz-sdk-invocation-id", b"%d" % number)
        send(live.http, live.endpoint, again)
    paid = client.list_bonus_payments(HITId=made["HITId"], MaxResults=10)
    assert len(paid["BonusPayments"]) == 1


def test_a_call_with_a_token_may_be_repeated_as_often_as_its_reply_is_lost(live: Live) -> None:
    """The token does it once, and says so each time."""
    parameters = {
        **{name: value for name, value in HIT_TYPE.items() if name != "Keywords"},
        "LifetimeInSeconds": 3600,
        "Question": QUESTION,
        "UniqueRequestToken": "once",
    }
    body = json.dumps(parameters).encode()
    received = with_header(live.signed("CreateHIT", body), "amz-sdk-invocation-id", b"1f2e")
    first, *others = [send(live.http, live.endpoint, received) for _ in range(4)]
    assert first.status_code == 200
    for again in others:
        assert again.json()["TurkErrorCode"].endswith("HitAlreadyExists")
    assert len(live.client().list_hits()["HITs"]) == 1


def test_keys_look_as_clients_want_and_are_never_the_same(tmp_path: Path) -> None:
    """20 letters and digits, secrets of 40; an account may have several."""
    first, second = (give(tmp_path / "live.db") for _ in range(2))
    for key in (first, second):
        assert key.access_key.startswith("PWKEY")
        assert len(key.access_key) == 20
        assert key.access_key.isalnum()
        assert key.access_key.isupper()
        assert len(key.secret) == 40
        assert key.secret.isalnum()
    assert first != second


def test_all_keys_of_a_name_open_one_account(live: Live) -> None:
    """A second key sees the first one's HITs and money, deposit included."""
    made = post(live.client())
    again = give(live.database, cents=500)
    client = live.client(again)
    assert [hit["HITId"] for hit in client.list_hits()["HITs"]] == [made["HITId"]]
    assert client.get_account_balance()["AvailableBalance"] == "14.34"
    other = live.client(give(live.database, "Others"))
    assert other.list_hits()["HITs"] == []


def test_a_revoked_key_ends_with_the_next_call_and_forgets_its_secret(live: Live) -> None:
    """While the server runs; the account lives on under its other keys."""
    client = live.client()
    made = post(client)
    with opened(live.database) as backend:
        with backend.transaction() as transaction:
            accounts.revoke_key(transaction, live.key.access_key)
        with (
            backend.transaction() as transaction,
            pytest.raises(Refusal, match="not an active key"),
        ):
            accounts.revoke_key(transaction, live.key.access_key)
    with pytest.raises(ClientError) as caught:
        client.get_account_balance()
    assert refusal(caught.value)[0] == "UnrecognizedClientException"
    with closing(sqlite3.connect(live.database)) as conn:
        assert conn.execute("SELECT secret FROM access_keys").fetchall() == [(None,)]
    other = live.client(give(live.database, cents=0))
    assert other.get_hit(HITId=made["HITId"])["HIT"]["HITId"] == made["HITId"]


def test_the_list_shows_everything_but_secrets(live: Live) -> None:
    """Name, key, since when, until when, and the money of the account."""
    post(live.client())
    with opened(live.database) as backend, backend.transaction() as transaction:
        (row,) = accounts.list_keys(transaction)
    assert row["name"] == "The lab"
    assert row["access_key"] == live.key.access_key
    assert (row["available_cents"], row["held_cents"]) == (934, 66)
    assert row["revoked_ms"] is None
    assert live.key.secret not in [str(value) for value in tuple(row)]


def test_the_file_with_the_secrets_is_its_owners_alone(live: Live) -> None:
    """The database and the log beside it are read by nobody else."""
    post(live.client())
    files = [live.database, live.database.with_name("live.db-wal")]
    for file in files:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_who_trusts_this_machine_checks_no_signature_but_knows_the_keys(tmp_path: Path) -> None:
    """Any secret will do for a known key; unknown and revoked ones stay out."""
    database = tmp_path / "live.db"
    key, revoked = give(database), give(database)
    with opened(database) as backend, backend.transaction() as transaction:
        accounts.revoke_key(transaction, revoked.access_key)
    with serve(Marketplace(database, trust_local=True)) as served, httpx.Client() as http:
        live = Live(database, served.endpoint_url, replace(key, secret="x"), http)  # noqa: S106 - a wrong one
        assert live.client().get_account_balance()["AvailableBalance"] == "20.00"
        for access_key in (revoked.access_key, "PWKEYNOBODY"):
            with pytest.raises(ClientError) as caught:
                live.client(aws_access_key_id=access_key).get_account_balance()
            assert refusal(caught.value)[0] == "UnrecognizedClientException"


def test_every_address_is_bound_once_signatures_are_checked(tmp_path: Path) -> None:
    """It must then be said what browsers reach it by; frames and forms name that."""
    everywhere = "0.0.0.0"  # noqa: S104 - that is the law
    with (
        pytest.raises(UnsafeBindError, match="not an address that a browser can open"),
        serve(Marketplace(tmp_path / "live.db", host=everywhere)),
    ):
        pass
    options = Marketplace(
        tmp_path / "live.db",
        host=everywhere,
        site_url="https://market.example",
        frames_url="https://frames.example",
    )
    with serve(options) as served:
        assert served.endpoint_url == "https://market.example"
        assert served.frames_url == "https://frames.example"
