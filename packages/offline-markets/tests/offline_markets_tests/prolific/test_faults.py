"""Scripted faults, counted calls, a moved clock, and a death that loses nothing."""

import signal
import sqlite3
import subprocess
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from offline_markets.core.database import WrongDatabaseError
from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve
from offline_markets_tests.prolific.people import START, STUDY, Refused, Researcher

_NO_REPLY = (httpx.RemoteProtocolError, httpx.ReadError)
"""The connection ends, or is reset, by when the client reads."""


def _script(researcher: Researcher, *faults: dict[str, Any]) -> None:
    assert researcher.control("PUT", "/faults", list(faults)) == {"faults": len(faults)}


def test_a_lost_reply_leaves_the_work_done(researcher: Researcher) -> None:
    """The second creation is done and not answered; the third is answered."""
    _script(researcher, {"kind": "lose_reply", "operation": "create-study", "call": 2})
    first = researcher.draft(internal_name="first")
    with pytest.raises(_NO_REPLY):
        researcher.draft(internal_name="second")
    third = researcher.draft(internal_name="third")
    listed = researcher.get("/studies/", ordering="date_created")["results"]
    assert [study["internal_name"] for study in listed] == ["first", "second", "third"]
    assert (listed[0]["id"], listed[2]["id"]) == (first, third)


def test_a_lost_payment_was_made(researcher: Researcher) -> None:
    """Whoever repeats it pays twice, and the books say so."""
    study_id, someone = researcher.study(), researcher.participant()
    submission_id = someone.do(study_id)
    batch = researcher.post(
        "/submissions/bonus-payments/", study_id=study_id, csv_bonuses=f"{submission_id},1\n"
    )
    _script(researcher, {"kind": "lose_reply", "operation": "pay-bonus-payments"})
    path = f"/bulk-bonus-payments/{batch['id']}/pay/"
    with pytest.raises(_NO_REPLY):
        researcher.post(path)
    assert researcher.submission(submission_id)["bonus_payments"] == [100]
    researcher.post(path)
    assert researcher.submission(submission_id)["bonus_payments"] == [100, 100]


@pytest.mark.parametrize(
    ("kind", "status"), [("server_error", 500), ("throttle", 429), ("refuse", 400)]
)
def test_a_burst_strikes_so_many_calls_and_does_nothing(
    researcher: Researcher, kind: str, status: int
) -> None:
    """Whatever operation they are of, if the script names none."""
    _script(researcher, {"kind": kind, "call": 2, "times": 2})
    researcher.get("/users/me/")
    for _ in range(2):
        with pytest.raises(Refused) as caught:
            researcher.draft()
        assert caught.value.status == status
    assert researcher.get("/studies/")["results"] == []


def test_a_lost_request_did_nothing(researcher: Researcher) -> None:
    """The client meets the same as when the reply is lost."""
    _script(researcher, {"kind": "lose_request", "operation": "create-study"})
    with pytest.raises(_NO_REPLY):
        researcher.draft()
    assert researcher.get("/studies/")["results"] == []
    researcher.draft()


def test_a_gateway_may_fail_after_the_work_was_done(researcher: Researcher) -> None:
    """502 with a page that is no JSON; the study is there."""
    _script(researcher, {"kind": "bad_gateway", "operation": "create-study"})
    response = researcher.http.post("/api/v1/studies/", json=STUDY)
    assert (response.status_code, response.text[:4]) == (502, "<h1>")
    assert researcher.get("/studies/")["meta"]["count"] == 1


def test_a_refusal_may_be_lost_too(researcher: Researcher) -> None:
    """The connection is cut all the same."""
    _script(researcher, {"kind": "lose_reply"})
    with pytest.raises(_NO_REPLY):
        researcher.draft(reward=0)
    assert researcher.get("/studies/")["results"] == []


def test_lists_may_lag_behind(researcher: Researcher) -> None:
    """What is new is in no list until it is so many seconds old; by its id it is."""
    _script(researcher, {"kind": "lag", "seconds": 60})
    study_id = researcher.study()
    submission_id = researcher.participant().take(study_id)
    assert researcher.submission(submission_id)["status"] == "ACTIVE"
    assert researcher.get("/studies/")["results"] == []
    assert researcher.get("/submissions/", study=study_id)["results"] == []
    researcher.wait(seconds=60)
    assert researcher.get("/studies/")["meta"]["count"] == 1
    assert researcher.get("/submissions/", study=study_id)["meta"]["count"] == 1


def test_a_slow_call_is_slow(researcher: Researcher) -> None:
    """A client that is less patient gives up; the work is done all the same."""
    _script(researcher, {"kind": "slow", "seconds": 1.0})
    with pytest.raises(httpx.ReadTimeout):
        researcher.http.post("/api/v1/studies/", json=STUDY, timeout=0.1)
    deadline = time.monotonic() + 60
    while not researcher.get("/studies/")["results"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "explode"},
        {"kind": "slow", "operation": "make-tea"},
        {"kind": "slow", "call": 0},
        {"kind": "slow", "colour": "red"},
    ],
)
def test_a_script_that_makes_no_sense_is_refused(
    researcher: Researcher, fault: dict[str, Any]
) -> None:
    """Lest a test pass because nothing went wrong."""
    with pytest.raises(Refused) as caught:
        _script(researcher, fault)
    assert caught.value.status == 400


def test_calls_are_counted(researcher: Researcher) -> None:
    """By operation; those of participants and of the controls are not."""
    researcher.participant()
    researcher.draft()
    researcher.draft()
    researcher.get("/studies/")
    assert researcher.control("GET", "/calls") == {"create-study": 2, "get-studies": 1}


def test_time_only_goes_on(researcher: Researcher) -> None:
    """A moment that has passed changes nothing; one that is none is refused."""
    researcher.wait(hours=1)
    now = researcher.control("GET", "/clock")
    assert researcher.control("PUT", "/clock", {"now": START.isoformat()}) == now
    with pytest.raises(Refused):
        researcher.control("PUT", "/clock", {"now": "tomorrow"})


def test_a_clock_that_runs_can_be_moved_too() -> None:
    """It begins at the machine's present, and goes on from where it was moved."""
    with serve(Options(clock_runs=True)) as url, Researcher(url) as researcher:
        before = researcher.control("GET", "/clock")["now"]
        researcher.wait(days=30)
        after = researcher.control("GET", "/clock")["now"]
        moved = datetime.fromisoformat(after) - datetime.fromisoformat(before)
        assert timedelta(days=30) <= moved < timedelta(days=31)
        time.sleep(0.01)  # its clock tells milliseconds
        assert researcher.control("GET", "/clock")["now"] > after


def test_switches_are_checked(researcher: Researcher) -> None:
    """Names and kinds of values."""
    for wrong in ({"colour": 1}, {"unreject": 1}, {"errors": "none"}):
        with pytest.raises(Refused) as caught:
            researcher.control("PUT", "/switches", wrong)
        assert list(caught.value.detail) == list(wrong)


def test_a_page_in_a_browser_has_no_controls(researcher: Researcher) -> None:
    """The work that a study shows must not play with the rehearsal."""
    response = researcher.http.get("/emulator/books", headers={"Sec-Fetch-Site": "cross-site"})
    assert response.status_code == 403


_PROGRAM = """
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path
from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve_forever

serve_forever(
    Options(database=Path(sys.argv[1]), participants=2),
    lambda url: print(url, flush=True),
)
"""


def test_what_was_acknowledged_survives_a_killed_emulator(tmp_path: Path) -> None:
    """Ids, money, submissions, switches and the clock are there again."""
    database = tmp_path / "prolific.db"
    words = [sys.executable, "-c", _PROGRAM, str(database)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        with Researcher(url) as researcher:
            study_id, someone = researcher.study(), researcher.participant()
            submission_id = someone.do(study_id)
            researcher.control("PUT", "/switches", {"unreject": False})
            researcher.wait(hours=5)
            researcher.judge(submission_id, "APPROVE")
            books = researcher.books()
            now = researcher.control("GET", "/clock")
            process.send_signal(signal.SIGKILL)
    # Other options are of no effect on a file that is there.
    options = Options(database=database, seed=99, currency="USD", balance=1)
    with serve(options) as url, Researcher(url) as researcher:
        assert researcher.books() == books
        assert researcher.control("GET", "/clock") == now
        assert researcher.control("GET", "/switches")["unreject"] is False
        assert researcher.participant().do(study_id) != submission_id


def test_another_program_s_file_is_left_alone(tmp_path: Path) -> None:
    """A sentence, and not a single table of ours in it."""
    database = tmp_path / "other.db"
    with sqlite3.connect(database) as conn:
        conn.execute("CREATE TABLE mine (x)")
    conn.close()
    with pytest.raises(WrongDatabaseError), serve(Options(database=database)):
        pass
