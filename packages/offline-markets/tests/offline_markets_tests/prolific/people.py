"""A researcher and participants on an emulator, over the wire."""

import ssl
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Self

import httpx

from offline_markets_tests.prolific.documented import documented, is_table

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
CODE = "C0MPLETE"
STUDY: dict[str, Any] = {
    "name": "Describe pictures",
    "internal_name": "run 1",
    "description": "Say what each picture shows.",
    "external_study_url": (
        "https://work.example/?PROLIFIC_PID={{%PROLIFIC_PID%}}"
        "&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    ),
    "prolific_id_option": "url_parameters",
    "completion_codes": [
        {"code": CODE, "code_type": "COMPLETED", "actions": [{"action": "MANUALLY_REVIEW"}]}
    ],
    "total_available_places": 3,
    "estimated_completion_time": 9,
    "maximum_allowed_time": 30,
    "reward": 150,
}
UNIT = 150 + 50 + 10
"""One place of it: 150, a fee of 33 % rounded (49.5), and 20 % of that as tax."""


class Refused(Exception):  # noqa: N818 - what was answered, for tests
    """The emulator refused."""

    def __init__(self, response: httpx.Response) -> None:
        self.status = response.status_code
        self.document = response.json()
        super().__init__(self.status, self.document)

    @property
    def detail(self) -> Any:  # noqa: ANN401 - JSON
        """What it said, in either envelope."""
        return self.document.get("error", self.document)["detail"]


class Researcher:
    """Whoever has the token; each answer is held to Prolific's document."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.http = httpx.Client(
            base_url=url,
            headers={"Authorization": "Token any"},
            timeout=30,
            # One that knows no authorities is made at once, and not in 60 ms.
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        )

    def __enter__(self) -> Self:
        """Connected."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Not connected any more."""
        self.http.close()

    def ask(self, method: str, path: str, body: object = None, **query: object) -> Any:  # noqa: ANN401 - JSON
        """What the API answers.

        Raises:
            Refused: an error.
        """
        response = self.http.request(method, f"/api/v1{path}", json=body, params=_texts(query))
        document = documented()
        if document is not None and response.status_code not in (401, 404, 405):
            document.check(response)
        return _value(response)

    def get(self, path: str, **query: object) -> Any:  # noqa: ANN401 - JSON
        """What a GET answers."""
        return self.ask("GET", path, **query)

    def post(self, path: str, **body: object) -> Any:  # noqa: ANN401 - JSON
        """What a POST answers."""
        return self.ask("POST", path, body or None)

    def control(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        """What the emulator's own addresses answer."""
        return _value(self.http.request(method, f"/emulator{path}", json=body))

    def books(self) -> Any:  # noqa: ANN401 - JSON
        """The books, in which no law is broken."""
        books = self.control("GET", "/books")
        assert books["broken_laws"] == []
        return books

    def wait(self, **duration: float) -> None:
        """Let virtual time pass."""
        now = datetime.fromisoformat(self.control("GET", "/clock")["now"])
        later = now + timedelta(**duration)
        self.control("PUT", "/clock", {"now": later.isoformat()})

    def draft(self, **changes: object) -> str:
        """A study that is not published; its id."""
        return str(self.post("/studies/", **{**STUDY, **changes})["id"])

    def study(self, **changes: object) -> str:
        """A study that recruits; its id."""
        study_id = self.draft(**changes)
        self.move(study_id, "PUBLISH")
        return study_id

    def move(self, study_id: str, action: str, **more: object) -> str:
        """A study's transition; the status that it leads to."""
        moved = self.post(f"/studies/{study_id}/transition/", action=action, **more)
        return str(moved["status"])

    def status(self, study_id: str) -> str:
        """A study's status."""
        return str(self.get(f"/studies/{study_id}/")["status"])

    def judge(self, submission_id: str, action: str, **more: object) -> str:
        """A submission's transition; the status that it leads to."""
        path = f"/submissions/{submission_id}/transition/"
        return str(self.post(path, action=action, **more)["status"])

    def submission(self, submission_id: str) -> Any:  # noqa: ANN401 - JSON
        """A submission as it is read by itself."""
        return self.get(f"/submissions/{submission_id}/")

    def workspace_id(self) -> str:
        """The one workspace."""
        return str(self.get("/workspaces/")["results"][0]["id"])

    def balance(self) -> tuple[int, int]:
        """What is available, and what is held."""
        balance = self.get(f"/workspaces/{self.workspace_id()}/balance/")
        available = balance["available_balance"]
        return available, balance["total_balance"] - available

    def participant(self, **described: object) -> "Participant":
        """Somebody new."""
        made = self.control("POST", "/participants", described)
        return Participant(self, str(made["id"]))


class Participant:
    """Somebody who takes part."""

    def __init__(self, researcher: Researcher, participant_id: str) -> None:
        self.researcher, self.participant_id = researcher, participant_id

    def ask(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        """What the emulator answers a participant."""
        return self.researcher.control(method, f"/participants/{self.participant_id}{path}", body)

    def studies(self) -> list[str]:
        """The studies that are open to them."""
        return [study["id"] for study in self.ask("GET", "/studies")["results"]]

    def take(self, study_id: str) -> str:
        """Take a place; the submission."""
        return str(self.ask("POST", f"/studies/{study_id}", {})["submission_id"])

    def complete(self, submission_id: str, code: str | None = CODE) -> str:
        """Enter a code; the status that it leads to."""
        path = f"/submissions/{submission_id}/complete"
        return str(self.ask("POST", path, {"code": code})["status"])

    def give_back(self, submission_id: str) -> str:
        """Return it; the status that this leads to."""
        path = f"/submissions/{submission_id}/return"
        return str(self.ask("POST", path, {})["status"])

    def do(self, study_id: str, code: str | None = CODE) -> str:
        """Take a place and enter a code; the submission."""
        submission_id = self.take(study_id)
        self.complete(submission_id, code)
        return submission_id


def _value(response: httpx.Response) -> Any:  # noqa: ANN401 - JSON
    if not response.is_success:
        raise Refused(response)
    if is_table(response):
        return response.text
    return response.json() if response.content else None


def _texts(query: dict[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in query.items()}
