"""pyrolific, generated from Prolific's own document, on the offline Prolific."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve
from offline_markets_tests.prolific.people import CODE, START, STUDY, UNIT, Researcher
from offline_markets_tests.prolific.test_studies import BALANCE, REJECTION
from tests.clients.driven import Driven
from tests.clients.environments import UnavailableError, python_client

pytestmark = pytest.mark.clients

_DRIVER = Path(__file__).with_name("drivers") / "pyrolific_driver.py"


class Pyrolific:
    """The client, and whoever stands in for participants."""

    def __init__(self, driven: Driven, researcher: Researcher) -> None:
        self._driven, self.researcher = driven, researcher

    def ask(self, call: str, *, status: int = 200, **arguments: object) -> Any:  # noqa: ANN401 - JSON
        """What the client made of a reply that has this status."""
        reply = self._driven.ask(call, **arguments)
        assert "error" not in reply, reply["error"]
        result = reply["result"]
        assert result["status"] == status, result
        return result["value"]


@pytest.fixture
def pyrolific(tmp_path: Path) -> Iterator[Pyrolific]:
    """The client in an environment of its own, on a new emulator."""
    try:
        python = python_client("pyrolific") / "python"
    except UnavailableError as fault:
        pytest.skip(f"pyrolific is not here: {fault}")
    with serve(Options(start=START)) as url, Researcher(url) as researcher:
        environment = {"PATH": os.environ["PATH"], "PROLIFIC": url}
        words = [str(python), str(_DRIVER)]
        with Driven(words, environment=environment, folder=tmp_path) as driven:
            # Its document was older than the status PUBLISHING.
            researcher.control("PUT", "/switches", {"publishes_at_once": True})
            yield Pyrolific(driven, researcher)


def test_a_study_from_draft_to_bonus(pyrolific: Pyrolific) -> None:
    """Created, published, done, judged, topped up, all as its own models read it."""
    user = pyrolific.ask("users.get_user")
    [workspace] = pyrolific.ask("workspaces.get_workspaces")["results"]
    cost = pyrolific.ask(
        "studies.calculate_study_cost", body={"reward": 150, "total_available_places": 3}
    )
    assert (workspace["owner"], cost["total_cost"]) == (user["id"], 3 * UNIT)

    study = pyrolific.ask("studies.create_study", status=201, body=STUDY)
    assert (study["status"], study["reward"]) == ("UNPUBLISHED", 150)
    pyrolific.ask("studies.publish_study", id=study["id"], body={"action": "PUBLISH"})
    assert pyrolific.ask("studies.get_study", id=study["id"])["status"] == "ACTIVE"
    balance = pyrolific.ask("workspaces.get_workspace_balance", workspace_id=workspace["id"])
    assert balance["available_balance"] == BALANCE - 3 * UNIT

    people = [pyrolific.researcher.participant() for _ in range(3)]
    done = [someone.do(study["id"]) for someone in people]
    listed = pyrolific.ask("submissions.get_submissions", study=study["id"])["results"]
    assert [submission["id"] for submission in listed] == done
    assert {submission["status"] for submission in listed} == {"AWAITING REVIEW"}
    assert {submission["study_code"] for submission in listed} == {CODE}
    approved = pyrolific.ask(
        "submissions.transition_submission", id=done[0], body={"action": "APPROVE"}
    )
    assert approved["status"] == "APPROVED"
    rejected = pyrolific.ask(
        "submissions.transition_submission", id=done[1], body={"action": "REJECT", **REJECTION}
    )
    assert rejected["status"] == "REJECTED"
    pyrolific.ask("submissions.bulk_approve_submissions", body={"submission_ids": [done[2]]})

    batch = pyrolific.ask(
        "bonuses.create_bonus_payments",
        status=201,
        body={"study_id": study["id"], "csv_bonuses": f"{done[0]},1.50\n"},
    )
    assert batch["total_amount"] == UNIT
    pyrolific.ask("bonuses.pay_bonus_payments", status=202, id=batch["id"])
    paid = pyrolific.ask("submissions.get_submission", id=done[0])
    assert paid["bonus_payments"] == [150]
    finished = pyrolific.ask("studies.get_study", id=study["id"])
    assert finished["status"] == "COMPLETED"
    books = pyrolific.researcher.books()
    rewards = [submission["reward_paid"] for submission in books["submissions"]]
    assert rewards == [150, 0, 150]


def test_groups_filters_and_messages(pyrolific: Pyrolific) -> None:
    """The DELETE that has a body, too."""
    someone = pyrolific.researcher.participant()
    workspace_id = pyrolific.researcher.workspace_id()
    people = {"participant_ids": [someone.participant_id]}
    group = pyrolific.ask(
        "participant_groups.create_participant_group",
        status=201,
        body={"name": "Those who may", "workspace_id": workspace_id, **people},
    )
    assert group["participant_count"] == 1
    left = pyrolific.ask(
        "participant_groups.remove_from_participant_group", id=group["id"], body=people
    )
    assert left["results"] == []
    study_id = pyrolific.researcher.study()
    pyrolific.ask(
        "messages.send_message",
        status=204,
        body={"recipient_id": someone.participant_id, "body": "Thank you.", "study_id": study_id},
    )
    [message] = someone.ask("GET", "/messages")["results"]
    assert message["body"] == "Thank you."


def test_what_is_refused_is_read_as_refused(pyrolific: Pyrolific) -> None:
    """A status that the client knows, and no model."""
    assert pyrolific.ask("studies.get_study", status=404, id="0" * 24) is None
    body = {**STUDY, "reward": 0}
    assert pyrolific.ask("studies.create_study", status=400, body=body) is None
