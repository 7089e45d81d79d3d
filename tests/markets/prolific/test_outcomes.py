"""What became of a call: refused, lost or done; repeated only where it does no harm."""

import socket
import threading
import time

import pytest

from piecework.foundation.client.calls import get_request
from piecework.foundation.client.errors import (
    ApiError,
    Lost,
    NoAccess,
    Refused,
    Throttled,
    Unreachable,
    Unreadable,
    Unusable,
)
from piecework.foundation.client.transport import Patience, Transport
from piecework.markets.prolific.calling import Token
from tests.answering import LOST, Answer
from tests.markets.prolific.calls import ALL, ID, ONCE, PARTICIPANT, READS, REPEATED
from tests.markets.prolific.stub import SECRET, Stub, serving

WRAPPED = {
    "error": {
        "status": 400,
        "error_code": 140001,
        "title": "Bad request",
        "detail": {"reward": ["Too low.", "No number."]},
        "traceback": "File secret.py",
    }
}
BARE = {"status": 400, "error_code": 1, "title": "No", "detail": ["One.", "Two."]}
COLLECTION = {"type": "INVALID_BATCH_ITEMS", "issues": [{"row": 3, "message": "Empty."}]}
HTML = "<html><title>Sign in to this network</title></html>"
ME = {"id": ID, "email": "ann@example.org"}


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (Answer(400, WRAPPED), Refused, "Bad request; reward: Too low.; No number."),
        (Answer(400, BARE), Refused, "No; One.; Two."),
        (Answer(422, COLLECTION), Refused, "row: 3; message: Empty."),
        (Answer(409, {"message": "Taken", "detail": "a"}), Refused, "a; Taken"),
        (Answer(403, {"detail": "Not yours"}), Refused, "Not yours"),
        (Answer(401, BARE), NoAccess, "this token may not see it"),
        (Answer(404, {"detail": "Not found."}), NoAccess, "this token may not see it"),
        (Answer(429, BARE), Throttled, "fewer calls"),
        (Answer(429, text=HTML), Throttled, "fewer calls"),
        (Answer(500, BARE), Lost, "may have taken effect"),
        (Answer(502, text=HTML), Lost, "may have taken effect"),
        (Answer(408), Lost, "may have taken effect"),
        (Answer(400, text=HTML), Unreadable, "not Prolific's"),
        (Answer(200, text=HTML), Unreadable, "not Prolific's"),
        (Answer(200, text='{"id": NaN}'), Unreadable, "not Prolific's"),
        (Answer(200, text="[" * 100_000), Unreadable, "not Prolific's"),
        (Answer(302, headers={"Location": "/"}), Unreadable, "redirects"),
        (LOST, Lost, "the reply was lost"),
    ],
)
def test_an_error_says_whether_anything_can_have_happened(
    stub: Stub, answer: Answer, kind: type[ApiError], words: str
) -> None:
    """For a draft; the error's text is Prolific's sentence, without its traceback."""
    stub.answer(answer)
    with pytest.raises(kind) as raised:
        ONCE["create_study"](stub.client())
    assert type(raised.value) is kind
    assert raised.value.outcome == ("lost" if issubclass(kind, Lost) else "refused")
    assert words in str(raised.value)
    assert "secret.py" not in str(raised.value)
    assert len(stub.asked) == 1


@pytest.mark.parametrize("name", ONCE)
@pytest.mark.parametrize(
    "answer", [LOST, Answer(503), Answer(429), Answer(200, text=HTML)], ids=str
)
def test_what_may_not_be_made_twice_leaves_once(stub: Stub, name: str, answer: Answer) -> None:
    """Whatever becomes of it: a study, a bonus or a message twice cannot be undone."""
    stub.answer(answer)
    with pytest.raises(ApiError):
        ONCE[name](stub.client())
    assert len(stub.asked) == 1
    assert stub.waits == []


@pytest.mark.parametrize("name", [*READS, *REPEATED])
def test_what_does_no_harm_is_made_again_with_growing_waits(stub: Stub, name: str) -> None:
    """A burst of each fault that passes; then the last try tells."""
    stub.answer(LOST, Answer(429), Answer(503, text=HTML), Answer(500), Answer(418, {}))
    with pytest.raises(Refused):
        ALL[name](stub.client())
    assert stub.waits == [1.0, 2.0, 4.0, 8.0]
    assert len(stub.asked) == 5


def test_a_burst_of_429_is_waited_for_as_prolific_asks(stub: Stub) -> None:
    """`Retry-After` where it is longer than the wait would have been."""
    stub.answer(
        Answer(429, headers={"Retry-After": "7"}),
        Answer(429, headers={"Retry-After": "1"}),
        Answer(429, headers={"Retry-After": "Sun, 22 Nov 2026 10:00:00 GMT"}),
        Answer(document=ME),
    )
    assert stub.client().account.me().id == ID
    assert stub.waits == [7.0, 2.0, 4.0]


def test_who_is_asked_to_wait_for_an_hour_is_told_at_once(stub: Stub) -> None:
    """A bounded wait; a schedule may come again later."""
    stub.answer(Answer(429, headers={"Retry-After": "3600"}))
    with pytest.raises(Throttled) as raised:
        stub.client().account.me()
    assert (raised.value.wait_seconds, stub.waits) == (3600.0, [])


def test_an_error_names_no_participant_to_people(stub: Stub) -> None:
    """Prolific lists the ids that it does not know; programs find them in `detail`."""
    unknown = {"csv_bonuses": [f"{PARTICIPANT} did not take part."]}
    stub.answer(Answer(400, {"error": {"title": "Bad", "detail": unknown}}))
    with pytest.raises(Refused) as raised:
        ONCE["create_bonuses"](stub.client())
    assert "csv_bonuses: [id] did not take part." in str(raised.value)
    assert PARTICIPANT in raised.value.detail


def test_waiting_ends(stub: Stub) -> None:
    """So many tries, then the error that the last one gave."""
    stub.answer(Answer(503))
    with stub.transport(Patience(tries=3)) as transport, pytest.raises(Lost):
        transport.call(get_request("users/me/"))
    assert len(stub.asked) == 3


def test_what_never_left_is_no_lost_call() -> None:
    """Nobody listens there: nothing was sent, so nothing has happened."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{bound.getsockname()[1]}"
        transport = Transport(address, Token(SECRET), sleep=lambda _: None)
        with transport, pytest.raises(Unreachable) as raised:
            transport.call(get_request("users/me/"))
    assert raised.value.outcome == "refused"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(stub: Stub, status: int) -> None:
    """The other host would be sent the token."""
    with serving() as other:
        other.answer(Answer(document=ME))
        stub.answer(Answer(status, headers={"Location": f"{other.address}/api/v1/"}))
        with pytest.raises(Unreadable):
            stub.client().account.me()
        assert other.asked == []


@pytest.mark.parametrize(
    "hostile", ["..", "../users/me", "", "a/b", "a?b=c", "a#b", "%2e%2e", "a\n", "é", "x" * 65]
)
def test_an_id_from_a_link_leads_nowhere_else(stub: Stub, hostile: str) -> None:
    """Anybody can write a session id into the link of a study."""
    stub.answer(Answer(document={}))
    client = stub.client()
    for call in (
        client.submissions.get,
        client.submissions.approve,
        client.studies.get,
        client.studies.cost,
        client.bonuses.pay,
        client.groups.get,
        client.account.balance,
        lambda each: client.submissions.bulk_approve([each]),
        lambda each: list(client.submissions.of_study(each)),
    ):
        with pytest.raises(Unusable):
            call(hostile)
    assert stub.asked == []


def test_a_rejection_owes_a_reason(stub: Stub) -> None:
    """Prolific demands 100 characters; nothing is sent with fewer."""
    with pytest.raises(Unusable, match="at least 100"):
        stub.client().submissions.reject(
            ID, category="LOW_EFFORT", message="  bad work  " + " " * 100
        )
    assert stub.asked == []


def test_a_proxy_of_the_environment_sees_nothing_that_stays_here(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token sent to this machine in the clear would pass through it."""
    with serving() as proxy:
        proxy.answer(Answer(502))
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.address)
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        stub.answer(Answer(document=ME))
        stub.client().account.me()
        assert proxy.asked == []


def test_a_proxy_that_cannot_be_used_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """SOCKS needs a package that is not here; a traceback would not say which."""
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    with pytest.raises(Unusable, match="a proxy set in the environment"):
        Transport("https://api.prolific.com", Token(SECRET))


def test_calls_of_many_threads_leave_one_at_a_time(stub: Stub) -> None:
    """Prolific asks for that."""
    under_way, most = 0, 0

    def respond(_: object) -> Answer:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        time.sleep(0.01)
        under_way -= 1
        return Answer(document=ME)

    stub.respond = respond
    client = stub.client()
    threads = [threading.Thread(target=client.account.me) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, len(stub.asked)) == (1, 8)


def test_it_names_itself(stub: Stub) -> None:
    """Prolific asks integrations for a `Referer`."""
    stub.answer(Answer(document=ME))
    stub.client().account.me()
    headers = stub.asked[0].headers
    assert headers["Referer"] == headers["User-Agent"] == "piecework"
    assert headers["Authorization"] == f"Token {SECRET}"
