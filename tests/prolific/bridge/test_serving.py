"""`serve --crowd prolific` as people run it: processes, keys, a kill in the middle."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from tests.prolific.bridge.served import Served
from tests.prolific.bridge.town import Visitor


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
        served.until(someone.studies)
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
        [one] = served.requester.list_assignments_for_hit(HITId=hit_id)["Assignments"]
        assert "The " in one["Answer"]
        served.requester.approve_assignment(AssignmentId=one["AssignmentId"])
    served.until(
        lambda: (
            served.researcher.status(study) == "COMPLETED"
            and served.researcher.books()["submissions"][0]["status"] == "APPROVED"
        )
    )
    [paid] = served.researcher.books()["submissions"]
    assert paid["reward_paid"] == 110


def test_beyond_the_amount_requesters_are_refused_in_mturks_words(
    served: Served,
) -> None:
    """Twenty pounds are what may be spent, though the account has a hundred."""
    assert served.requester.get_account_balance()["AvailableBalance"] == "20.00"
    served.post(1, Reward="14.00")
    with pytest.raises(ClientError, match="insufficient funds"):
        served.post(1, Reward="1.00")
    served.until(lambda: served.researcher.get("/studies/")["results"])


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
        served.until(someone.studies)
        log = f"/hooks/subscriptions/{first['id']}/events/"
        served.until(lambda: served.researcher.get(log, status="SUCCEEDED")["results"])
