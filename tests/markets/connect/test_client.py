"""The client of Connect's API, against a server that answers as a test says."""

from collections.abc import Iterator

import pytest

from offline_markets.connect.options import KEY
from offline_markets.connect.server import serving as serving_connect
from piecework.foundation.client.errors import Lost, Refused, Unreadable, Unusable
from piecework.foundation.client.transport import Patience, Transport
from piecework.markets.connect.client import Bonus, Connect
from piecework.markets.connect.doctor import GUESSES, Doctor
from piecework.markets.connect.values import ApiKey
from tests.answering import Answer
from tests.markets.connect.town import transport
from tests.markets.prolific.stub import Stub, serving

SECRET = "a-key-0123456789"  # noqa: S105 - opens nothing


@pytest.fixture
def stub() -> Iterator[Stub]:
    """A server that answers as the test says."""
    with serving() as running:
        yield running


def _client(stub: Stub) -> Connect:
    wire = Transport(
        stub.address, ApiKey(SECRET), patience=Patience(tries=2), sleep=stub.waits.append
    )
    stub.opened.append(wire)
    return Connect(wire)


def test_money_is_exact_and_the_key_is_in_its_header(stub: Stub) -> None:
    """Dollars with two decimals become cents; a fraction of a cent is refused."""
    stub.answer(Answer(text='{"accountBalance": 1234.10}'))
    assert _client(stub).account.balance().available_cents == 123_410
    assert stub.asked[0].path == "/api/v1/account"
    headers = {name.lower(): value for name, value in stub.asked[0].headers.items()}
    assert headers["x-api-key"] == SECRET
    for text in ("1.005", '"12"', "true", "1e999", "null"):
        stub.answer(Answer(text=f'{{"accountBalance": {text}}}'))
        with pytest.raises(Unreadable):
            _client(stub).account.balance()


def test_a_payment_is_made_once_with_its_token_even_if_the_reply_is_lost(stub: Stub) -> None:
    """A call that pays is never repeated by the client."""
    stub.answer(Answer(status=500, text="{}"))
    bonus = Bonus(subject_id="abc", cents=15, message="Good.")
    with pytest.raises(Lost):
        _client(stub).assignments.pay_bonuses("p1", [bonus], token="t-1")  # noqa: S106
    [asked] = stub.asked
    assert asked.path == "/api/v1/assignments/p1/bonus"
    assert asked.body == {"bonusPayment": [{"id": "abc", "message": "Good.", "amount": 0.15}]}
    headers = {name.lower(): value for name, value in asked.headers.items()}
    assert headers["idempotency-token"] == "t-1"


def test_a_refusal_has_connects_sentence_and_no_ids(stub: Stub) -> None:
    """Connect's one envelope; ids of people are left out of the message."""
    person = "0123456789abcdef0123456789abcdef"
    detail = f"The participant {person} cannot be paid."
    stub.answer(Answer(status=400, document={"error": {"title": "Bad", "detail": detail}}))
    with pytest.raises(Refused, match=r"The participant \[id\] cannot") as raised:
        _client(stub).assignments.approve("p1", ["a1"])
    assert person not in str(raised.value)


def test_projects_are_listed_to_the_end_and_no_further(stub: Stub) -> None:
    """A listing that names the same page again ends in an error."""
    page = {"projects": [{"projectId": "a"}], "nextToken": "n"}
    last = {"projects": [{"projectId": "b"}], "nextToken": None}
    stub.answer(Answer(document=page), Answer(document=last))
    assert [each.id for each in _client(stub).projects.all()] == ["a", "b"]
    stub.answer(Answer(document=page))
    with pytest.raises(Unreadable, match="does not end"):
        list(_client(stub).projects.all())


@pytest.mark.parametrize("hostile", ["../account", "a/b", "", "a" * 65])
def test_ids_from_links_cannot_leave_their_path(stub: Stub, hostile: str) -> None:
    """Nothing is sent for an id that could address another resource."""
    client = _client(stub)
    for call in (client.projects.get, client.projects.statistics, client.assignments.of_project):
        with pytest.raises(Unusable):
            call(hostile)
    with pytest.raises(Unusable):
        client.assignments.reject("p1", "a1", "  ")
    assert stub.asked == []


@pytest.mark.parametrize(
    "answer",
    [
        Answer(document={"participants": "none"}),
        Answer(document={"participants": [{"id": "x"}, 3]}),
        Answer(document=[]),
        Answer(text=""),
    ],
)
def test_another_shape_of_valid_participants_says_nothing(stub: Stub, answer: Answer) -> None:
    """Its shape is a guess, so a different answer keeps nobody out."""
    stub.answer(answer)
    assert _client(stub).account.valid_participants(["x"]) == {}


def test_the_doctor_confirms_what_can_be_tried_without_money() -> None:
    """Against the offline Connect all of it holds, and nothing is left published."""
    with serving_connect() as offline, transport(offline.address) as wire:
        doctor = Doctor(Connect(wire), offline.address, writes=True)
        checks = {check.name: check for check in doctor.examine()}
        books = offline.books()
    assert {check.level for check in checks.values()} == {"ok", "warn"}
    for guess in GUESSES:
        words = "not tried" if guess.tried_by == "a participant" else "confirmed"
        assert checks[guess.name].sentence.startswith(words), guess.name
    assert [each["status"] for each in books["projects"]] == ["Archived"]
    assert books["accounts"]["held"] == 0


def test_the_doctor_names_a_guess_that_is_wrong(stub: Stub) -> None:
    """And what it would cause."""
    document = {"accountBalance": 5, "projects": [], "cost": 1}
    stub.answer(Answer(document=document))
    checks = {check.name: check for check in Doctor(_client(stub)).examine()}
    assert checks["cost"].level == "warn"
    assert "--fee-percent" in checks["cost"].next_step
    assert checks["participants"].sentence.startswith("wrong")
    assert not [asked for asked in stub.asked if "status" in asked.path]


@pytest.mark.parametrize("document", [{"error": {"title": "No"}}, {}])
def test_the_doctor_ends_without_a_valid_key(stub: Stub, document: object) -> None:
    """A key that Connect does not accept, and no key at all."""
    stub.answer(Answer(status=401, document=document))
    *_, last = Doctor(_client(stub)).examine()
    assert (last.name, last.level) == ("key", "fail")
    *_, last = Doctor(None).examine()
    assert (last.name, last.level) == ("key", "fail")
    assert KEY not in last.sentence
