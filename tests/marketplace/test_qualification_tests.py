"""Qualification tests over the wire: stated, taken, timed, graded, taken again."""

from typing import TYPE_CHECKING, Any

import httpx
import pytest
from botocore.exceptions import ClientError

from tests.marketplace.documents import choice, form, key, percentage, question
from tests.marketplace.market import Market, Worker, post, refusal
from tests.marketplace.qualification_types import make, need

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient

TEST = form(
    question("bird", choice("robin", "crow"), required=True),
    question("colours", choice("red", "black", least=0, most=2)),
)
KEY = key(
    {"bird": [(["robin"], 1)], "colours": [(["red"], 2), (["red", "black"], -1)]},
    mapping=percentage(3),
)
TIMED: dict[str, Any] = {"Test": TEST, "TestDurationInSeconds": 60}
GRADED: dict[str, Any] = {**TIMED, "AnswerKey": KEY}
WRITTEN = form(question("why", required=True))


def begin(worker: Worker, kind: str) -> httpx.Response:
    """Begin a test."""
    return worker.http.post(f"/worker/qualifications/{kind}/request")


def send(worker: Worker, kind: str, **fields: str | list[str]) -> httpx.Response:
    """Send the answers to a test."""
    return worker.http.post(f"/worker/qualifications/{kind}/test", data=fields)


def error_of(reply: httpx.Response) -> str:
    """The code of a refusal, or the status of what was done."""
    document = reply.json()
    return str(document.get("error") or document["status"])


def score(client: "MTurkClient", kind: str, worker: Worker) -> int | None:
    """The value that a worker holds, as the requester reads it."""
    try:
        score = client.get_qualification_score(QualificationTypeId=kind, WorkerId=worker.worker_id)
    except ClientError:
        return None
    return score["Qualification"]["IntegerValue"]


def test_a_test_with_a_key_is_graded_at_once(market: Market) -> None:
    """1 + 2 of 3 is 100; the answers are with the request, which nobody must read."""
    client, ann = market.requester(), market.worker()
    kind = make(client, **GRADED)
    assert begin(ann, kind).json() == {
        "status": "Testing",
        "test": f"/worker/qualifications/{kind}/test",
    }
    shown = ann.http.get(f"/worker/qualifications/{kind}/test").json()
    assert shown["test"] == TEST
    assert [question["identifier"] for question in shown["questions"]] == ["bird", "colours"]
    assert shown["deadline"] == "2026-01-05T09:01:00+00:00"
    assert "AnswerKey" not in str(shown)
    reply = send(ann, kind, bird="robin", colours="red")
    assert reply.json() == {"status": "Granted", "value": 100}
    assert score(client, kind, ann) == 100
    assert client.list_qualification_requests()["QualificationRequests"] == []


def test_a_key_grades_identifiers_that_go_over_the_end_of_a_line(market: Market) -> None:
    """Browsers send each line break as two characters."""
    client, ann = market.requester(), market.worker()
    asked = form(question("which\n bird", choice("a\n robin", "crow"), required=True))
    graded = key({"which\r\n bird": [(["a&#13;\n robin"], 7)]})
    kind = make(client, Test=asked, AnswerKey=graded, TestDurationInSeconds=60)
    begin(ann, kind)
    reply = send(ann, kind, **{"which\r\n bird": "a\r\n robin"})
    assert reply.json() == {"status": "Granted", "value": 7}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"bird": "robin"}, 33),  # 1 of 3
        ({"bird": "crow", "colours": "red"}, 67),  # 2 of 3
        ({"bird": "crow", "colours": ["red", "black"]}, -33),  # -1 of 3
        ({"bird": "crow", "colours": "black"}, 0),
    ],
)
def test_a_bad_test_is_a_low_value_not_a_failure(
    standing: Market, fields: dict[str, Any], expected: int
) -> None:
    """It is granted; requirements sort it out. Exact sets, negative scores."""
    client, ann = standing.requester(), standing.worker()
    kind = make(client, **GRADED)
    begin(ann, kind)
    assert send(ann, kind, **fields).json()["value"] == expected
    assert score(client, kind, ann) == expected


def test_the_preview_of_a_hit_leads_to_the_test_that_the_worker_lacks(standing: Market) -> None:
    """A button as in the list; it is gone once the worker holds the qualification."""
    client, ann = standing.requester(), standing.worker()
    kind = make(client, **GRADED)
    looks = need(kind, "GreaterThanOrEqualTo", IntegerValues=[0])
    hit = post(client, QualificationRequirements=[{**looks[0], "ActionsGuarded": "Accept"}])
    address = f"/worker/groups/{hit['HITGroupId']}/preview"
    before = ann.http.get(address, headers={"accept": "text/html"}).text
    assert f'action="/worker/qualifications/{kind}/request"' in before
    assert "Take the test for “trained”" in before
    begin(ann, kind)
    send(ann, kind, bird="robin", colours=["red"])
    after = ann.http.get(address, headers={"accept": "text/html"}).text
    assert kind not in after
    assert "Accept this kind of HIT" in after


def test_a_test_without_a_key_is_read_by_its_requester(market: Market) -> None:
    """The form as it was shown and the answers to it, until it is decided."""
    client, ann, bob = market.requester(), market.worker(), market.worker()
    kind = make(client, Test=WRITTEN, TestDurationInSeconds=60)
    for worker, text in ((ann, "Birds & <bees>"), (bob, "No idea")):
        begin(worker, kind)
        assert send(worker, kind, why=text).json() == {"status": "Pending"}
    listed = client.list_qualification_requests(QualificationTypeId=kind)
    asked = {request["WorkerId"]: request for request in listed["QualificationRequests"]}
    assert asked[ann.worker_id]["Test"] == WRITTEN
    assert "<FreeText>Birds &amp; &lt;bees&gt;</FreeText>" in (asked[ann.worker_id]["Answer"])
    client.accept_qualification_request(
        QualificationRequestId=asked[ann.worker_id]["QualificationRequestId"], IntegerValue=8
    )
    client.reject_qualification_request(
        QualificationRequestId=asked[bob.worker_id]["QualificationRequestId"]
    )
    assert (score(client, kind, ann), score(client, kind, bob)) == (8, None)
    assert error_of(begin(bob, kind)) == "QualificationTypeDoesNotAllowRetake"


@pytest.mark.parametrize("is_signed_in", [True, False])
def test_answers_to_a_test_that_are_refused_are_handed_back(
    market: Market, *, is_signed_in: bool
) -> None:
    """Late, or in a session that ended: the worker can copy what they wrote."""
    kind, ann = make(market.requester(), **GRADED), market.worker()
    begin(ann, kind)
    market.wait(minutes=2)
    if not is_signed_in:
        ann.http.cookies.clear()
    ann.http.headers["accept"] = "text/html"
    reply = send(ann, kind, bird="a <robin>", colours="red")
    assert reply.status_code == (409 if is_signed_in else 401)
    assert "a &lt;robin&gt;" in reply.text


def test_a_test_that_is_late_is_refused_and_counts(market: Market) -> None:
    """By the site's clock: on the last second it is taken, after it it is not."""
    client, ann, bob = market.requester(), market.worker(), market.worker()
    kind = make(client, **GRADED)
    begin(ann, kind)
    begin(bob, kind)
    market.wait(seconds=60)
    assert send(ann, kind, bird="robin").status_code == 200
    market.wait(seconds=1)
    late = send(bob, kind, bird="robin")
    assert (late.status_code, error_of(late)) == (409, "TestTimeOver")
    assert "09:01:00 UTC" in late.json()["message"]
    assert score(client, kind, bob) is None
    assert error_of(begin(bob, kind)) == "QualificationTypeDoesNotAllowRetake"


def test_a_retake_waits_for_its_delay_and_replaces_the_value(market: Market) -> None:
    """From when the last attempt was sent, or from when its time was over."""
    client, ann, bob = market.requester(), market.worker(), market.worker()
    kind = make(client, **GRADED, RetryDelayInSeconds=100)
    begin(ann, kind)
    begin(bob, kind)
    market.wait(seconds=10)
    send(ann, kind, bird="crow")
    assert score(client, kind, ann) == 0
    market.wait(seconds=99)  # second 109: Ann's delay ends at 110, Bob's at 160
    assert error_of(begin(ann, kind)) == "QualificationTypeRetryDelayNotElapsed"
    market.wait(seconds=1)
    assert error_of(begin(ann, kind)) == "Testing"
    assert score(client, kind, ann) == 0  # until the new one is sent
    send(ann, kind, bird="robin", colours="red")
    assert score(client, kind, ann) == 100
    market.wait(seconds=49)
    assert error_of(begin(bob, kind)) == "QualificationTypeRetryDelayNotElapsed"
    market.wait(seconds=1)
    assert error_of(begin(bob, kind)) == "Testing"


def test_without_a_delay_a_test_is_taken_once_even_after_it_was_revoked(standing: Market) -> None:
    """Revocation is no second chance; a requester can still grant it."""
    client, ann = standing.requester(), standing.worker()
    kind = make(client, **GRADED)
    begin(ann, kind)
    send(ann, kind, bird="robin")
    assert error_of(begin(ann, kind)) == "QualificationAlreadyExists"
    client.disassociate_qualification_from_worker(
        QualificationTypeId=kind, WorkerId=ann.worker_id, Reason="Guessed."
    )
    assert score(client, kind, ann) is None
    assert error_of(begin(ann, kind)) == "QualificationTypeDoesNotAllowRetake"


def test_a_test_must_be_begun_and_is_sent_once(standing: Market) -> None:
    """Neither reading nor sending begins it; beginning twice goes on with it."""
    client, ann = standing.requester(), standing.worker()
    kind = make(client, **GRADED)
    read = ann.http.get(f"/worker/qualifications/{kind}/test")
    assert (read.status_code, error_of(read)) == (409, "TestNotBegun")
    assert error_of(send(ann, kind, bird="robin")) == "TestNotBegun"
    assert error_of(begin(ann, kind)) == "Testing"
    assert error_of(begin(ann, kind)) == "Testing"
    assert send(ann, kind, bird="robin").status_code == 200
    assert error_of(send(ann, kind, bird="crow")) == "TestNotBegun"
    assert error_of(begin(ann, "3NOSUCHTYPE")) == "QualificationTypeDoesNotExist"


def test_a_form_not_in_order_costs_no_attempt(standing: Market) -> None:
    """422 with a complaint for each question; what was never asked is a 400."""
    client, ann = standing.requester(), standing.worker()
    kind = make(client, **GRADED)
    begin(ann, kind)
    reply = send(ann, kind, bird="swan", colours="red")
    assert reply.status_code == 422
    assert reply.json()["complaints"] == {"bird": "Please choose from the list."}
    assert send(ann, kind, bird="robin", size="big").status_code == 400
    assert send(ann, kind, bird="robin").status_code == 200


def test_a_test_begun_is_graded_by_the_key_it_was_begun_with(standing: Market) -> None:
    """The requester turns the key round meanwhile; only the next worker feels it."""
    client, ann, bob = standing.requester(), standing.worker(), standing.worker()
    kind = make(client, **GRADED)
    begin(ann, kind)
    turned = key({"bird": [(["crow"], 3)]}, mapping=percentage(3))
    client.update_qualification_type(QualificationTypeId=kind, **{**GRADED, "AnswerKey": turned})
    begin(bob, kind)
    assert send(ann, kind, bird="robin", colours="red").json()["value"] == 100
    assert send(bob, kind, bird="crow").json()["value"] == 100


def test_test_key_and_duration_change_together(standing: Market) -> None:
    """Each of the two needs the test again; a test alone is left without its key."""
    client = standing.requester()
    kind = make(client, **GRADED)
    for change in ({"AnswerKey": KEY}, {"TestDurationInSeconds": 9}, {"Test": TEST}):
        with pytest.raises(ClientError) as caught:
            client.update_qualification_type(QualificationTypeId=kind, **change)
        assert refusal(caught.value)[0] == "ParameterValidationError"
    kept = client.update_qualification_type(QualificationTypeId=kind, Description="Another one.")[
        "QualificationType"
    ]
    assert (kept["Test"], kept["AnswerKey"]) == (TEST, KEY)
    changed = client.update_qualification_type(
        QualificationTypeId=kind, Test=WRITTEN, TestDurationInSeconds=30
    )["QualificationType"]
    assert (changed["Test"], changed["TestDurationInSeconds"]) == (WRITTEN, 30)
    assert "AnswerKey" not in changed


def test_a_duration_without_a_test_says_nothing(standing: Market) -> None:
    """Clients send it with every new type."""
    client = standing.requester()
    kind = make(client, "plain", TestDurationInSeconds=60)
    reply = client.get_qualification_type(QualificationTypeId=kind)
    assert "TestDurationInSeconds" not in reply["QualificationType"]


def test_a_test_can_be_added_but_neither_taken_away_nor_be_automatic(standing: Market) -> None:
    """A type with a test is never granted to whoever asks."""
    client = standing.requester()
    plain = make(client, "plain")
    added = client.update_qualification_type(QualificationTypeId=plain, **GRADED)
    assert added["QualificationType"]["AnswerKey"] == KEY
    open_kind = make(client, "open", AutoGranted=True)
    for parameters in (
        {"QualificationTypeId": plain, "AutoGranted": True},
        {"QualificationTypeId": plain, "Test": ""},
        {"QualificationTypeId": open_kind, **GRADED},
        {"QualificationTypeId": open_kind, "AutoGranted": False, "AutoGrantedValue": 2},
    ):
        with pytest.raises(ClientError) as caught:
            client.update_qualification_type(**parameters)
        assert refusal(caught.value)[0] == "ParameterValidationError"
    turned: dict[str, Any] = {"QualificationTypeId": open_kind, "AutoGranted": False}
    updated = client.update_qualification_type(**turned, **GRADED)["QualificationType"]
    assert (updated["AutoGranted"], updated["Test"]) == (False, TEST)


@pytest.mark.parametrize(
    "parameters",
    [
        {"Test": TEST},
        {"AnswerKey": KEY},
        {**TIMED, "TestDurationInSeconds": 0},
        {**TIMED, "AutoGranted": True},
        {**TIMED, "Test": "<HTMLQuestion/>"},
        {**TIMED, "Test": WRITTEN, "AnswerKey": KEY},
        {**TIMED, "AnswerKey": "<AnswerKey/>"},
        {**TIMED, "Test": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'},
    ],
)
def test_a_test_that_cannot_be_is_refused(standing: Market, parameters: dict[str, Any]) -> None:
    """ParameterValidationError, and no type is made."""
    client = standing.requester()
    with pytest.raises(ClientError) as caught:
        make(client, **parameters)
    assert refusal(caught.value)[0] == "ParameterValidationError"
    own: dict[str, Any] = {"MustBeRequestable": False, "MustBeOwnedByCaller": True}
    assert client.list_qualification_types(**own)["QualificationTypes"] == []


def test_a_key_is_shown_to_its_owner_alone(standing: Market) -> None:
    """Another requester may use the type and see the test, not the answers."""
    owner, other = standing.requester(), standing.requester()
    kind = make(owner, **GRADED)
    for client, has_key in ((owner, True), (other, False)):
        reply = client.get_qualification_type(QualificationTypeId=kind)
        assert reply["QualificationType"]["Test"] == TEST
        assert ("AnswerKey" in reply["QualificationType"]) == has_key


def test_workers_see_what_they_have_and_what_they_may_ask_for(market: Market) -> None:
    """With the way to it, and why not where there is none."""
    client, ann = market.requester(), market.worker()
    tested = make(client, "tested", **GRADED)
    plain = make(client, "plain")
    make(client, "closed", QualificationTypeStatus="Inactive")
    begin(ann, plain)
    client.associate_qualification_with_worker(
        QualificationTypeId=make(client, "given"), WorkerId=ann.worker_id
    )
    qualifications = ann.http.get("/worker/qualifications").json()
    assert [
        (qualification["name"], qualification["value"]) for qualification in qualifications["held"]
    ] == [("given", 1)]
    offered = {qualification["name"]: qualification for qualification in qualifications["offered"]}
    assert set(offered) == {"tested", "plain", "given"}
    assert offered["tested"]["may_request"]
    assert offered["tested"]["test_duration_seconds"] == 60
    assert offered["plain"]["why_not"] == "QualificationRequestPending"
    assert offered["given"]["why_not"] == "QualificationAlreadyExists"
    begin(ann, tested)
    again = ann.http.get("/worker/qualifications", params={"q": "TESTED"}).json()
    (only,) = again["offered"]
    assert (only["may_request"], only["why_not"]) == (True, "TestBegun")


def test_a_person_reads_first_how_long_a_test_takes(standing: Market) -> None:
    """Asking leads to the page that says so; only its own button begins the test."""
    client, ann = standing.requester(), standing.worker()
    kind = make(client, "timed", **GRADED)
    ann.http.headers["accept"] = "text/html"
    asked = begin(ann, kind)
    assert asked.headers["location"] == f"/worker/qualifications/{kind}/test"
    start = ann.http.get(asked.headers["location"]).text
    assert "You have 1 minute for this test" in start
    assert 'name="begin"' in start
    begun = ann.http.post(f"/worker/qualifications/{kind}/request", data={"begin": "1"})
    page = ann.http.get(begun.headers["location"]).text
    assert 'value="robin" required' in page
    wrong = send(ann, kind, colours="black")
    assert wrong.status_code == 422
    assert 'value="black" checked' in wrong.text
    assert "Please choose an answer." in wrong.text
    assert "with the value" in send(ann, kind, bird="robin").text


def test_a_deleted_type_takes_its_hit_types_and_keeps_its_name_for_their_hits(
    market: Market,
) -> None:
    """HITs go on and guard as before; new ones cannot be made."""
    client, ann = market.requester(), market.worker()
    kind = make(client, "gone")
    requirements: list[Any] = [{"QualificationTypeId": kind, "Comparator": "Exists"}]
    hit_type = client.create_hit_type(
        Title="x",
        Description="x",
        Reward="0.01",
        AssignmentDurationInSeconds=60,
        QualificationRequirements=requirements,
    )["HITTypeId"]
    posted: dict[str, Any] = {
        "HITTypeId": hit_type,
        "LifetimeInSeconds": 60,
        "Question": form(question("q")),
    }
    hit = client.create_hit_with_hit_type(**posted)["HIT"]
    client.associate_qualification_with_worker(QualificationTypeId=kind, WorkerId=ann.worker_id)
    client.delete_qualification_type(QualificationTypeId=kind)
    with pytest.raises(ClientError) as caught:
        client.create_hit_with_hit_type(**posted)
    assert refusal(caught.value)[1] == "HITTypeDoesNotExist"
    with pytest.raises(ClientError) as caught:
        make(client, "gone")
    assert refusal(caught.value)[1] == "QualificationTypeAlreadyExists"
    assert ann.accept(hit["HITGroupId"]).status_code == 201  # the grant is kept
    market.wait(seconds=61)
    client.delete_hit(HITId=hit["HITId"])
    assert make(client, "gone") != kind


def test_workers_are_told_of_what_they_are_given_and_what_is_taken(standing: Market) -> None:
    """In their letterbox, unless the requester would rather not."""
    client, ann = standing.requester(), standing.worker()
    who: dict[str, Any] = {"WorkerId": ann.worker_id}
    loud, quiet = make(client, "loud"), make(client, "quiet")
    client.associate_qualification_with_worker(**who, QualificationTypeId=loud)
    client.associate_qualification_with_worker(
        **who, QualificationTypeId=quiet, SendNotification=False
    )
    client.disassociate_qualification_from_worker(
        **who, QualificationTypeId=loud, Reason="It was a mistake."
    )
    page = ann.http.get("/worker/history", headers={"Accept": "text/html"}).text
    assert "You have been granted the qualification loud" in page
    assert "It was a mistake." in page
    assert "quiet" not in page
