"""An answer that is not a marketplace's: a sentence, and never an act that was done."""

import json
from collections.abc import Callable, Iterator

import pytest

from piecework.domain.errors import PlatformRefused, TransientPlatformError
from piecework.domain.ids import AssignmentId, HitId, HitTypeId
from piecework.platforms import calling
from piecework.platforms.clocks import VirtualClock
from piecework.platforms.mturk import MTurk
from tests.captive_portal import CaptivePortal, captive_portal

_CALLS: list[Callable[[MTurk], object]] = [
    lambda turk: list(turk.find_hits()),
    lambda turk: turk.hit_status(HitId("3A")),
    lambda turk: turk.assignments({HitId("3A"): 1}),
    lambda turk: turk.assignment_status(AssignmentId("3A")),
    lambda turk: turk.publish(
        HitTypeId("3T"),
        "q",
        max_assignments=1,
        lifetime_seconds=60,
        annotation="a",
        token="t",  # noqa: S106 - a request token
    ),
]


@pytest.fixture
def stranger() -> Iterator[CaptivePortal]:
    """Another program on the port that a marketplace is looked for."""
    with captive_portal("") as portal:
        yield portal


@pytest.mark.parametrize("page", [b"", b"{}", b"[]", b"<html>Hello", b'{"HITs":[]}'])
@pytest.mark.parametrize("status", [200, 302, 403, 404])
def test_what_no_marketplace_said_is_no_answer(
    stranger: CaptivePortal, status: int, page: bytes
) -> None:
    """Neither a yes nor a no; listings are no emptier for it."""
    stranger.status, stranger.page = status, page
    platform = MTurk(stranger.url, access_key="R", secret_key="none")  # noqa: S106
    with pytest.raises(TransientPlatformError, match=f"HTTP {status}.*not a market"):
        platform.approve(AssignmentId("A1"))
    with pytest.raises(TransientPlatformError, match=f"HTTP {status}.*not a market"):
        list(platform.find_hits())


@pytest.mark.parametrize(
    "page",
    [
        b"{}",
        b"null",
        b"[]",
        b"<html>Hello",
        b'{"HIT": null}',
        b'{"HIT": {}}',
        b'{"HITs": [null]}',
        b'{"HITs": [{}]}',
        b'{"HITs": [{"HITId": "1", "CreationTime": "x", "MaxAssignments": 1}]}',
        b'{"HITs": 7}',
        b"{" * 5000,
        b'{"HITs": ' + b"[" * 5000 + b"}",
    ],
)
def test_an_answer_with_an_id_of_aws_that_makes_no_sense_is_said(
    stranger: CaptivePortal, page: bytes
) -> None:
    """A broken marketplace, or a proxy that imitates one: a sentence, no traceback."""
    stranger.page = page
    stranger.headers = {
        "content-type": "application/x-amz-json-1.1",
        "x-amzn-requestid": "00000000-0000-0000-0000-000000000000",
    }
    platform = MTurk(stranger.url, access_key="R", secret_key="none")  # noqa: S106
    for call in _CALLS:
        with pytest.raises(TransientPlatformError):
            call(platform)


@pytest.mark.parametrize("page", [b"null", b"[]", b"<html>Done!", b"{]"])
def test_no_act_is_done_by_an_answer_that_makes_no_sense(
    stranger: CaptivePortal, page: bytes
) -> None:
    """Approving is answered with an empty object, and with nothing else."""
    stranger.page = page
    stranger.headers = {"x-amzn-requestid": "00000000-0000-0000-0000-000000000000"}
    platform = MTurk(stranger.url, access_key="R", secret_key="none")  # noqa: S106
    with pytest.raises(TransientPlatformError, match="not a market"):
        platform.approve(AssignmentId("A1"))
    stranger.page = b"{}"
    platform.approve(AssignmentId("A1"))


@pytest.mark.parametrize("hits", [("3A",), ("3A", "3B")])
def test_an_assignment_that_is_listed_twice_is_one(
    stranger: CaptivePortal, hits: tuple[str, ...]
) -> None:
    """Else it would be promised, and paid, beyond what the caps were asked for."""
    listed = {
        "AssignmentId": "3X",
        "HITId": "3A",
        "WorkerId": "A1",
        "AssignmentStatus": "Submitted",
        "AcceptTime": 1.0,
        "SubmitTime": 2.0,
        "Answer": "<QuestionFormAnswers/>",
    }
    other_hit = {**listed, "AssignmentId": "3Y", "HITId": "3C"}
    page = {"NumResults": 3, "Assignments": [listed, other_hit, listed]}
    stranger.page = json.dumps(page).encode()
    stranger.headers = {
        "content-type": "application/x-amz-json-1.1",
        "x-amzn-requestid": "00000000-0000-0000-0000-000000000000",
    }
    platform = MTurk(stranger.url, access_key="R", secret_key="none")  # noqa: S106
    assignments = platform.assignments({HitId(hit): 3 for hit in hits})
    assert {
        hit: [assignment.assignment_id for assignment in some] for hit, some in assignments.items()
    } == {HitId(hit): ["3X"] if hit == "3A" else [] for hit in hits}


@pytest.mark.parametrize("page", [b"{}", b'{"HITs": []}', b'{"AvailableBalance": null}'])
def test_an_answer_without_a_balance_says_nothing_of_prices(
    stranger: CaptivePortal, page: bytes
) -> None:
    """Else a stranger would be taken for a marketplace in dollars."""
    stranger.page = page
    stranger.headers = {"x-amzn-requestid": "00000000-0000-0000-0000-000000000000"}
    platform = MTurk(stranger.url, access_key="R", secret_key="none")  # noqa: S106
    with pytest.raises(TransientPlatformError, match="not a market"):
        platform.prices()


def test_a_refusal_cannot_steer_a_terminal(stranger: CaptivePortal) -> None:
    """Colours, cursors, right-to-left marks and new lines are shown, not obeyed."""
    refusal = {
        "__type": "RequestError",
        "Message": "no\x1b[2J\x9b31m\n\u202eyes",
        "TurkErrorCode": "AWS.MechanicalTurk.X\x1b]0;y",
    }
    stranger.status, stranger.page = 400, json.dumps(refusal).encode()
    stranger.headers = {"x-amzn-requestid": "00000000-0000-0000-0000-000000000000"}
    platform = MTurk(stranger.url, access_key="R", secret_key="none")  # noqa: S106
    with pytest.raises(PlatformRefused) as refused:
        platform.hit_status(HitId("3A"))
    assert str(refused.value).isprintable()
    assert "no" in str(refused.value)
    assert refused.value.code.isprintable()


@pytest.mark.parametrize("page", [b"[]", b"<html>Bad gateway"])
def test_a_server_fault_of_a_proxy_is_asked_again(
    stranger: CaptivePortal, page: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy whose marketplace is just being started: tries, then a sentence."""
    monkeypatch.setattr(calling, "FIRST_SECONDS", 0.3)
    stranger.status, stranger.page = 502, page
    platform = MTurk(stranger.url, access_key="R", secret_key="none")  # noqa: S106
    with pytest.raises(TransientPlatformError, match="busy"):
        platform.approve(AssignmentId("A1"))
    assert stranger.intercepted > 1


@pytest.mark.parametrize("cut", [0, 1, 30])
def test_an_answer_that_is_cut_short_is_asked_for_again(stranger: CaptivePortal, cut: int) -> None:
    """A marketplace that dies after the first bytes of an answer has not answered."""
    hit = {"HITId": "3A", "HITStatus": "Reviewable", "MaxAssignments": 1}
    stranger.page = json.dumps({"HIT": hit}).encode()
    stranger.headers = {"x-amzn-requestid": "00000000-0000-0000-0000-000000000000"}
    stranger.cut = [cut, cut]
    platform = MTurk(stranger.url, access_key="R", secret_key="none")  # noqa: S106
    assert platform.hit_status(HitId("3A")) == "Reviewable"
    assert stranger.intercepted == 3


@pytest.mark.parametrize(
    "page", [b"", b"{}", b"[]", b"<html>Hello", b'{"now": 5}', b'{"now": "yesterday"}']
)
def test_a_clock_that_is_no_marketplaces_is_said(stranger: CaptivePortal, page: bytes) -> None:
    """A rehearsal that is led to another program says so."""
    stranger.page = page
    clock = VirtualClock(stranger.url)
    with pytest.raises(TransientPlatformError, match="not a marketplace's"):
        clock.now()
