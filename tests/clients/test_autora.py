"""AutoRA's recruitment manager, unchanged, on the offline Prolific.

It has Prolific's host built in, and sends fields that Prolific's document has no more.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve
from offline_markets_tests.prolific.people import START, Participant, Researcher
from piecework.markets.prolific.commands.emulator import standing_in
from tests.clients.driven import Driven
from tests.clients.environments import UnavailableError, python_client

pytestmark = pytest.mark.clients

_DRIVER = Path(__file__).with_name("drivers") / "autora_driver.py"
_STUDY = {
    "name": "Describe pictures",
    "description": "Say what each picture shows.",
    "external_study_url": "https://work.example/",
    "estimated_completion_time": 9,
    "completion_code": "C0DE",
    "total_available_places": 3,
}
_LIKE_ITS_DEFAULT = {
    "age": 30,
    "answers": {"nationality": ["1"], "vision": ["0"], "first-language": ["0"]},
}
"""Somebody whom the requirements of its default admit."""


class AutoRA:
    """The client, and a researcher who stands in for participants."""

    def __init__(self, driven: Driven, researcher: Researcher) -> None:
        self._driven, self.researcher = driven, researcher

    def do(self, call: str, **arguments: object) -> Any:  # noqa: ANN401 - JSON
        """What a function of it returns."""
        reply = self._driven.ask(call, **arguments)
        assert "error" not in reply, reply["error"]
        return reply["result"]

    def study(self, study_id: str) -> Any:  # noqa: ANN401 - JSON
        """A study with the older fields, which Prolific's document does not have."""
        return self.researcher.http.get(f"/api/v1/studies/{study_id}/").json()

    def participant(self) -> Participant:
        """Somebody who is eligible."""
        return self.researcher.participant(**_LIKE_ITS_DEFAULT)


@pytest.fixture
def autora(tmp_path: Path) -> Iterator[AutoRA]:
    """The client in an environment of its own, on a new emulator."""
    try:
        python = python_client("autora") / "python"
    except UnavailableError as fault:
        pytest.skip(f"AutoRA is not here: {fault}")
    options = Options(start=START, is_strict=False)
    with (
        serve(options) as url,
        standing_in(url, tmp_path / "names") as running,
        Researcher(url) as researcher,
    ):
        environment = {"PATH": os.environ["PATH"], **running.environment()}
        words = [str(python), "-W", "ignore", str(_DRIVER)]
        with Driven(words, environment=environment, folder=tmp_path) as driven:
            yield AutoRA(driven, researcher)


def test_a_study_recruits_whom_its_requirements_admit(autora: AutoRA) -> None:
    """Age, nationality, sight and language; its code approves at once."""
    study = autora.do("setup_study", **_STUDY)
    study_id = study["id"]
    autora.do("publish_study", study_id=study_id)
    other = {**_LIKE_ITS_DEFAULT["answers"], "nationality": ["0"]}  # type: ignore[dict-item] # two kinds of values
    assert autora.researcher.participant(answers=other).studies() == []
    someone = autora.participant()
    assert someone.studies() == [study_id]
    submission_id = someone.take(study_id)
    assert someone.complete(submission_id, "C0DE") == "APPROVED"
    assert autora.do("check_prolific_status", study_id=study_id) == {
        "total_available_places": 3,
        "places_taken": 1,
        "status": "ACTIVE",
        "number_of_submissions": 1,
        "number_of_submissions_finished": 1,
    }
    autora.do("pause_study", study_id=study_id)
    assert autora.study(study_id)["status"] == "PAUSED"
    autora.do("start_study", study_id=study_id)
    autora.do("_update_study", study_id=study_id, total_available_places=4)
    assert autora.study(study_id)["total_available_places"] == 4


def test_submissions_are_found_by_their_status_and_decided(autora: AutoRA) -> None:
    """Those without a code are asked to be returned, or approved."""
    study_id = autora.do("setup_study", **_STUDY)["id"]
    autora.do("publish_study", study_id=study_id)
    returned, late, careless = (autora.participant() for _ in range(3))
    returned.give_back(returned.take(study_id))
    late.take(study_id)
    submission_id = careless.take(study_id)
    careless.complete(submission_id, None)
    asked = {"study_id": study_id}
    assert autora.do("get_participants_returned", **asked) == [returned.participant_id]
    assert autora.do("get_submissions_awaiting_review", **asked) == [submission_id]
    autora.do("request_return_all", **asked)
    assert autora.researcher.submission(submission_id)["return_requested"]
    assert autora.do("_get_submissions_no_code_not_returned", **asked) == []
    autora.do("approve_all", **asked)
    assert autora.researcher.submission(submission_id)["status"] == "APPROVED"
    autora.researcher.wait(hours=4)
    assert autora.do("get_submissions_incompleted", **asked) == [
        returned.participant_id,
        late.participant_id,
    ]


def test_participants_of_an_earlier_study_are_excluded(autora: AutoRA) -> None:
    """By its name; an uncompleted one holds the next back."""
    first = autora.do("setup_study", **{**_STUDY, "total_available_places": 1})["id"]
    autora.do("publish_study", study_id=first)
    someone = autora.participant()
    someone.complete(someone.take(first), "C0DE")
    assert autora.study(first)["status"] == "COMPLETED"
    second = autora.do("setup_study", **_STUDY)["id"]
    autora.do("publish_study", study_id=second)
    assert someone.studies() == []
    assert autora.participant().studies() == [second]
    assert autora.do("setup_study", **_STUDY) is None
