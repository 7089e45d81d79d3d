"""Keys, tokens and faults: what a program meets when something goes wrong."""

import time
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from offline_markets.connect.offline_connect import ControlRefusedError
from offline_markets.connect.options import Options
from offline_markets.connect.server import serving
from offline_markets.core.database import WrongDatabaseError
from offline_markets.prolific.options import Options as OfProlific
from offline_markets.prolific.state import State
from offline_markets_tests.connect.requester import PROJECT, START, UNIT, Refused, Requester


@pytest.mark.parametrize("headers", [{}, {"X-API-KEY": ""}, {"X-API-KEY": "other"}])
def test_another_key_is_refused(lasting: Requester, headers: dict[str, str]) -> None:
    """With 401, in the documented shape and with a trace."""
    response = httpx.get(f"{lasting.offline.address}/api/v1/account", headers=headers)
    assert response.status_code == 401
    assert response.headers["X-TRACE-ID"]
    error = response.json()["error"]
    assert set(error) == {"type", "title", "status", "detail", "instance"}
    assert (error["status"], error["instance"]) == (401, "/api/v1/account")


def test_a_token_is_used_once_a_day(requester: Requester) -> None:
    """Also by another call; after 24 hours it is free again."""
    requester.post("/project", PROJECT, "t")
    project_id = requester.create()
    for path, body in (
        ("/project", PROJECT),
        (f"/project/{project_id}/update-status", {"status": "Live"}),
    ):
        with pytest.raises(Refused, match="token") as refusal:
            requester.post(path, body, "t")
        assert refusal.value.status == 400
    assert len(requester.get("/project")["projects"]) == 2
    requester.offline.advance(timedelta(hours=24, seconds=-1))
    with pytest.raises(Refused, match="token"):
        requester.post("/project", PROJECT, "t")
    requester.offline.advance(timedelta(seconds=1))
    requester.post("/project", PROJECT, "t")


def test_a_token_is_used_up_by_a_call_that_failed(requester: Requester) -> None:
    """By a refusal and by a failure of the service, but not by a lost request."""
    with pytest.raises(Refused, match="name"):
        requester.post("/project", {}, "refused")
    requester.offline.set_faults({"kind": "server_error", "operation": "create-project"})
    with pytest.raises(Refused) as refusal:
        requester.post("/project", PROJECT, "failed")
    assert refusal.value.status == 500
    requester.offline.set_faults({"kind": "lose_request", "operation": "create-project"})
    with pytest.raises(httpx.TransportError):
        requester.post("/project", PROJECT, "lost")
    assert requester.get("/project")["projects"] == []
    for token in ("refused", "failed"):
        with pytest.raises(Refused, match="token"):
            requester.post("/project", PROJECT, token)
    requester.post("/project", PROJECT, "lost")


def test_a_call_without_a_token_is_done(lasting: Requester) -> None:
    """Twice, where it is sent twice."""
    name = {**PROJECT, "name": "Without a token"}
    for _ in range(2):
        assert lasting.http.post("/project", json=name).status_code == 200
    listed = [project["name"] for project in lasting.get("/project")["projects"]]
    assert listed == ["Without a token"] * 2


@pytest.mark.parametrize("kind", ["lose_reply", "bad_gateway"])
def test_a_lost_answer_has_had_its_effect(requester: Requester, kind: str) -> None:
    """The bonus is paid once, and the token refuses the second try."""
    project_id = requester.live(participants=1)
    worker = requester.done(project_id).participant_id
    body = {"bonusPayment": [{"id": worker, "message": "m", "amount": 1}]}
    path = f"/assignments/{project_id}/bonus"
    requester.offline.set_faults({"kind": kind, "operation": "bonus"})
    headers = {"IDEMPOTENCY-TOKEN": "t"}
    if kind == "lose_reply":
        with pytest.raises(httpx.TransportError):
            requester.http.post(path, json=body, headers=headers)
    else:
        assert requester.http.post(path, json=body, headers=headers).status_code == 502
    with pytest.raises(Refused, match="token"):
        requester.post(path, body, "t")
    assert requester.assignments(project_id)[0]["bonus"] == 1
    assert requester.offline.calls()["bonus"] == 2


def test_a_throttled_call_is_told_how_long_to_wait(requester: Requester) -> None:
    """The second call of any operation, and nothing is done."""
    requester.offline.set_faults({"kind": "throttle", "call": 2, "seconds": 7})
    requester.get("/account")
    response = requester.http.post("/project", json=PROJECT)
    assert (response.status_code, response.headers["Retry-After"]) == (429, "7")
    assert requester.get("/project")["projects"] == []


def test_a_slow_call_is_done_after_its_wait(requester: Requester) -> None:
    """Of a fifth of a second."""
    requester.offline.set_faults({"kind": "slow", "seconds": 0.2})
    started = time.monotonic()
    requester.get("/account")
    assert time.monotonic() - started >= 0.2


def test_lists_lag_behind(requester: Requester) -> None:
    """A project and its completed work are there a minute before they are listed."""
    requester.offline.set_faults({"kind": "lag", "seconds": 60})
    project_id = requester.live()
    assert requester.get("/project")["projects"] == []
    worker = requester.offline.arrive(project_id)
    requester.offline.advance(timedelta(minutes=1))
    requester.offline.complete(worker.assignment_id)
    assert len(requester.get("/project")["projects"]) == 1
    assert requester.assignments(project_id) == []
    assert requester.get(f"/project/{project_id}/statistics")["pendingAssignments"] == 1
    requester.offline.advance(timedelta(minutes=1))
    assert requester.statuses(project_id) == ["Pending"]


def test_bonuses_lag_behind(requester: Requester) -> None:
    """One that was paid is shown a minute later."""
    project_id = requester.live()
    worker = requester.done(project_id)
    requester.offline.advance(timedelta(minutes=1))
    requester.offline.set_faults({"kind": "lag", "seconds": 60})
    bonus = {"id": worker.assignment_id, "amount": 1.5}
    requester.post(f"/assignments/{project_id}/bonus", {"bonusPayment": [bonus]})
    assert [each["bonus"] for each in requester.assignments(project_id)] == [0]
    requester.offline.advance(timedelta(minutes=1))
    assert [each["bonus"] for each in requester.assignments(project_id)] == [1.5]


def test_a_script_names_known_operations(requester: Requester) -> None:
    """And is refused otherwise."""
    with pytest.raises(ControlRefusedError, match="Unknown operation pay"):
        requester.offline.set_faults({"kind": "slow", "operation": "pay"})


def test_a_file_is_continued_where_it_ended(tmp_path: Path) -> None:
    """Money, work, tokens, plans and time; the ids go on, too."""
    options = Options(database=tmp_path / "connect.db", start=START, balance=2_000)
    with serving(options) as offline, Requester(offline) as requester:
        project_id = requester.live()
        worker = requester.done(project_id)
        requester.post("/account/validate-participants", {"participantIds": []}, "t")
        offline.advance(timedelta(days=13))
    again = Options(database=tmp_path / "connect.db", start=START, balance=1)
    with serving(again) as offline, Requester(offline) as requester:
        assert requester.cents() == (2_000 - 3 * UNIT, 3 * UNIT)
        assert requester.statuses(project_id) == ["Pending"]
        assert offline.participant() != worker.participant_id
        offline.advance(timedelta(hours=23))
        assert requester.statuses(project_id) == ["Pending"]
        offline.advance(timedelta(hours=1))
        assert requester.statuses(project_id) == ["Approved"]


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    """One of another emulator, for example of Prolific's."""
    file = tmp_path / "prolific.db"
    State(OfProlific(database=file)).close()
    before = file.read_bytes()
    with (
        pytest.raises(WrongDatabaseError, match=r"prolific\.db is not a file"),
        serving(Options(database=file)),
    ):
        pass
    assert file.read_bytes() == before
