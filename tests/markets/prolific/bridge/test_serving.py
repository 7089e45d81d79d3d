"""`market serve --crowd prolific` as people run it: processes, keys, a kill in the middle."""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from tests.marketplace.served_apart import until
from tests.markets.prolific.bridge.served import Served
from tests.markets.prolific.bridge.town import Visitor


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """An emulator and a marketplace on it, each a process."""
    with ExitStack() as stack:
        yield Served(tmp_path, stack)


def test_a_kill_in_the_middle_of_a_visit_loses_nothing(served: Served) -> None:
    """An answer that was kept is there after it; the participant is paid once."""
    hit_ids = served.post(2)
    someone = Visitor(served.endpoint, served.researcher, country="GB")
    with someone.http:
        until(someone.studies)
        [study] = someone.studies()
        assert someone.arrive(study).status_code == 201
        assert someone.answer(caption="The first.")["answered"] == 1
        served.process.kill()
        served.process.wait()
        served.serve()
        visit = someone.answer(caption="The second.")
        assert visit["stage"] == "Done"
        someone.complete(someone.submission_id, visit["code"])
    for hit_id in hit_ids:
        [assignment] = served.requester.list_assignments_for_hit(HITId=hit_id)["Assignments"]
        assert "The " in assignment["Answer"]
        served.requester.approve_assignment(AssignmentId=assignment["AssignmentId"])
    until(
        lambda: (
            served.researcher.status(study) == "COMPLETED"
            and served.researcher.books()["submissions"][0]["status"] == "APPROVED"
        )
    )
    [paid] = served.researcher.books()["submissions"]
    assert paid["reward_paid"] == 110


@pytest.mark.full
def test_a_copy_that_is_brought_back_goes_on_once_a_person_has_decided(
    served: Served, tmp_path: Path
) -> None:
    """Its requester posts again; the log says what waits, and no study is second."""
    copy, log = tmp_path / "copy.db", tmp_path / "serve.log"
    with (
        closing(sqlite3.connect(served.database)) as source,
        closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)
    served.post(2)
    until(lambda: served.researcher.get("/studies/")["results"])
    [study] = [each["id"] for each in served.researcher.get("/studies/")["results"]]
    until(lambda: served.researcher.status(study) == "ACTIVE")
    served.restore(copy, "--log-file", str(log))
    hit_ids = served.post(2)
    until(lambda: f"--adopt {study}" in served.command("status").stdout)
    steps = _steps(served)
    until(lambda: _steps(served) >= steps + 2)
    assert len(served.researcher.get("/studies/")["results"]) == 1
    assert f"the study {study} " in log.read_text()

    refused = served.command("reconcile", "--adopt", study)
    assert refused.returncode == 2
    assert "--hit-type" in refused.stderr
    hit_type = served.requester.get_hit(HITId=hit_ids[0])["HIT"]["HITTypeId"]
    adopted = served.command("reconcile", "--adopt", study, "--hit-type", hit_type)
    assert (adopted.returncode, adopted.stderr) == (0, "")
    someone = Visitor(served.endpoint, served.researcher, country="GB")
    with someone.http:
        someone.work(study)
    for hit_id in hit_ids:
        [assignment] = served.requester.list_assignments_for_hit(HITId=hit_id)["Assignments"]
        served.requester.approve_assignment(AssignmentId=assignment["AssignmentId"])
    until(lambda: served.researcher.books()["submissions"][0]["status"] == "APPROVED")
    assert len(served.researcher.get("/studies/")["results"]) == 1
    until(lambda: "no difference" in served.command("reconcile").stdout)


def _steps(served: Served) -> int:
    """How often the bridge has looked at all studies."""
    calls = served.researcher.control("GET", "/calls")
    return int(calls.get("get-project-studies", 0))


@pytest.mark.full
def test_beyond_the_amount_requesters_are_refused_in_mturks_words(served: Served) -> None:
    """Twenty pounds are what may be spent, though the account has a hundred."""
    assert served.requester.get_account_balance()["AvailableBalance"] == "20.00"
    served.post(1, Reward="14.00")
    with pytest.raises(ClientError, match="insufficient funds"):
        served.post(1, Reward="1.00")
    until(lambda: served.researcher.get("/studies/")["results"])


@pytest.mark.full
def test_webhooks_are_registered_and_arrive(tmp_path: Path) -> None:
    """Prolific's own log says that they were taken."""
    with ExitStack() as stack:
        served = Served(tmp_path, stack, words=("--webhooks",))
        [first, second] = served.researcher.get("/hooks/subscriptions/")["results"]
        assert first["target_url"] == f"{served.endpoint}/visit/events"
        assert first["is_enabled"]
        assert second["is_enabled"]
        served.post(2)
        someone = Visitor(served.endpoint, served.researcher, country="GB")
        stack.callback(someone.http.close)
        until(someone.studies)
        log = f"/hooks/subscriptions/{first['id']}/events/"
        until(lambda: served.researcher.get(log, status="SUCCEEDED")["results"])
