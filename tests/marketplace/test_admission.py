"""Who may call a live marketplace: the holder of a key, once for each signature."""

import json
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.http.exposure import UnsafeBindError
from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.state import accounts, clock, keys, replay_protection
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.state.ids import IdGenerator
from piecework.marketplace.state.transaction import Transaction
from tests.marketplace.live_market import Live, give, opened, running
from tests.marketplace.market import HIT_TYPE, QUESTION, post, refusal
from tests.marketplace.signing import send, with_header


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    """A live marketplace in which nothing has happened yet."""
    database = tmp_path / "live.db"
    with running(database, give(database)) as live:
        yield live


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
def test_nobody_else_gets_in(
    live: Live, credentials: dict[str, str], kind: str
) -> None:
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


def test_a_repeated_request_is_not_done_twice(live: Live) -> None:
    """The very same bytes are refused, with no error that an SDK would retry."""
    hit_type = live.client().create_hit_type(
        Title="t", Description="d", Reward="0.10", AssignmentDurationInSeconds=60
    )["HITTypeId"]
    body = b'{"Name": "n", "Description": "d", "QualificationTypeStatus": "Active"}'
    received = with_header(
        live.signed("CreateQualificationType", body), "amz-sdk-invocation-id", b"1f2e"
    )
    assert send(live.http, live.endpoint, received).status_code == 200
    again = send(live.http, live.endpoint, received)
    assert (again.status_code, again.json()["__type"]) == (400, "AccessDeniedException")
    assert hit_type


def test_reading_may_be_repeated(live: Live) -> None:
    """What changes nothing spends no signature."""
    received = with_header(
        live.signed("GetAccountBalance", b"{}"), "amz-sdk-invocation-id", b"1f2e"
    )
    for _ in range(3):
        assert send(live.http, live.endpoint, received).status_code == 200


def test_the_same_hit_posted_again_and_again_is_as_many_hits(live: Live) -> None:
    """Signatures are of whole seconds; an honest loop repeats them, and is served.

    Each twice; then the loop is throttled, and botocore signs anew by itself.
    """
    client = live.client(None, config=Config(retries={"total_max_attempts": 12}))
    made = {post(client)["HITId"] for _ in range(4)}
    assert len(made) == 4
    with closing(sqlite3.connect(live.database)) as conn:
        spent = conn.execute(
            "SELECT sum(uses) FROM spent_signatures GROUP BY signature"
        ).fetchall()
    assert sum(uses for (uses,) in spent) == 4
    assert max(spent) <= (2,)


@pytest.mark.parametrize("is_numbered", [True, False])
def test_a_stolen_bonus_is_paid_once_more_at_most(
    live: Live, *, is_numbered: bool
) -> None:
    """Whatever numbers of attempts the thief invents; they are not signed."""
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
    }
    stolen = live.signed("SendBonus", json.dumps(bonus).encode())
    answers = []
    for number in range(8):
        again = stolen
        if is_numbered:
            again = with_header(again, "amz-sdk-invocation-id", b"%d" % number)
        answers.append(send(live.http, live.endpoint, again).json().get("__type"))
    assert answers == [None, None, *["ThrottlingException"] * 6]
    paid = client.list_bonus_payments(HITId=made["HITId"], MaxResults=10)
    assert len(paid["BonusPayments"]) == 2


def test_a_call_with_a_token_may_be_repeated_as_often_as_its_reply_is_lost(
    live: Live,
) -> None:
    """The token does it once, and says so each time."""
    parameters = {
        **{name: value for name, value in HIT_TYPE.items() if name != "Keywords"},
        "LifetimeInSeconds": 3600,
        "Question": QUESTION,
        "UniqueRequestToken": "once",
    }
    body = json.dumps(parameters).encode()
    received = with_header(
        live.signed("CreateHIT", body), "amz-sdk-invocation-id", b"1f2e"
    )
    first, *others = [send(live.http, live.endpoint, received) for _ in range(4)]
    assert first.status_code == 200
    for again in others:
        assert again.json()["TurkErrorCode"].endswith("HitAlreadyExists")
    assert len(live.client().list_hits()["HITs"]) == 1


def test_a_restart_forgets_no_signature(tmp_path: Path) -> None:
    """What was spent lies in the file, beside what it did."""
    database = tmp_path / "another.db"
    key = give(database)
    with running(database, key) as first:
        body = b'{"Name": "n", "Description": "d", "QualificationTypeStatus": "Active"}'
        received = with_header(
            first.signed("CreateQualificationType", body),
            "amz-sdk-invocation-id",
            b"1f2e",
        )
        assert send(first.http, first.endpoint, received).status_code == 200
        port = int(first.endpoint.rpartition(":")[2])
    # The host is signed, and another server would not answer to it.
    with running(database, key, port=port) as second:
        reply = send(second.http, second.endpoint, received)
    assert reply.json()["__type"] == "AccessDeniedException"


def test_a_refused_request_spends_nothing(live: Live) -> None:
    """Nothing was done, so the same bytes may come again and meet the same refusal."""
    received = with_header(
        live.signed("DeleteHIT", b'{"HITId": "NONE"}'), "amz-sdk-invocation-id", b"1f2e"
    )
    for _ in range(2):
        reply = send(live.http, live.endpoint, received)
        assert reply.json()["__type"] == "RequestError"


NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def spend(backend: Backend, attempt: str, *, seconds: float, signature_: bytes) -> None:
    """Spend a signature of noon so many seconds after noon."""
    proof = replay_protection.Proof(
        signature=signature_, attempt=attempt, signed_at=NOON
    )
    moment = clock.to_ms(NOON + timedelta(seconds=seconds))
    with backend.transaction() as transaction:
        replay_protection.spend(
            Transaction(
                conn=transaction.conn,
                now_ms=moment,
                steady_ms=moment,
                id_generator=IdGenerator(7),
            ),
            proof,
        )


@pytest.mark.parametrize(
    ("attempts", "seconds", "is_taken"),
    [
        (("", ""), (0, 5), True),
        (("", ""), (0, 5.001), False),
        (("a 1", "a 2"), (0, 5), True),
        (("a 1", "b 1"), (0, 5), True),
        (("a 1", "a 1"), (0, 0), False),
        (("a 1", "b 1"), (0, 5.001), False),
        (("a 1", "b 1", "c 1"), (0, 4, 8), False),
        (("a 1", "b 1", "b 1"), (0, 1, 2), False),
        (("", ""), (0, 899), False),
    ],
)
def test_a_signature_lives_five_seconds_from_its_first_use(
    backend: Backend,
    attempts: tuple[str, ...],
    seconds: tuple[float, ...],
    *,
    is_taken: bool,
) -> None:
    """Later than that, or with a number that was used, it is a replay."""
    pairs = list(zip(attempts, seconds, strict=True))
    for attempt, second in pairs[:-1]:
        spend(backend, attempt, seconds=second, signature_=b"s" * 32)
    attempt, second = pairs[-1]
    if is_taken:
        spend(backend, attempt, seconds=second, signature_=b"s" * 32)
        return
    with pytest.raises(Refusal) as caught:
        spend(backend, attempt, seconds=second, signature_=b"s" * 32)
    assert caught.value.kind == "AccessDeniedException"


@pytest.mark.parametrize("attempts", [("", "", ""), ("a 1", "a 2", "a 3")])
def test_the_third_use_in_a_moment_is_throttled(
    backend: Backend, attempts: tuple[str, ...]
) -> None:
    """SDKs then sign anew, which a thief cannot."""
    for attempt in attempts[:2]:
        spend(backend, attempt, seconds=1, signature_=b"s" * 32)
    with pytest.raises(Refusal) as caught:
        spend(backend, attempts[2], seconds=1, signature_=b"s" * 32)
    assert caught.value.kind == "ThrottlingException"


def test_spent_signatures_are_kept_no_longer_than_they_could_be_used(
    backend: Backend,
) -> None:
    """Fifteen minutes after the time they name; the table cannot grow for ever."""
    for number in range(50):
        spend(backend, "", seconds=0, signature_=bytes([number]) * 32)
    spend(backend, "", seconds=900, signature_=b"x" * 32)
    with backend.transaction() as transaction:
        assert transaction.first_row("SELECT count(*) FROM spent_signatures")[0] == 51  # type: ignore[index] # a count is a row
    spend(backend, "", seconds=900.001, signature_=b"y" * 32)
    with backend.transaction() as transaction:
        assert transaction.first_row("SELECT count(*) FROM spent_signatures")[0] == 1  # type: ignore[index] # a count is a row


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


def test_a_revoked_key_ends_with_the_next_call_and_forgets_its_secret(
    live: Live,
) -> None:
    """While the server runs; the account lives on under its other keys."""
    client = live.client()
    made = post(client)
    with opened(live.database) as backend:
        with backend.transaction() as transaction:
            keys.revoke(transaction, live.key.access_key)
        with (
            backend.transaction() as transaction,
            pytest.raises(Refusal, match="not an active key"),
        ):
            keys.revoke(transaction, live.key.access_key)
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
        (row,) = keys.listed(transaction)
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


def test_who_trusts_this_machine_checks_no_signature_but_knows_the_keys(
    tmp_path: Path,
) -> None:
    """Any secret will do for a known key; unknown and revoked ones stay out."""
    database = tmp_path / "live.db"
    key, revoked = give(database), give(database)
    with opened(database) as backend, backend.transaction() as transaction:
        keys.revoke(transaction, revoked.access_key)
    with serve(database, trust_local=True) as served, httpx.Client() as http:
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
        serve(tmp_path / "live.db", host=everywhere),
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
