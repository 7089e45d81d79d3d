"""A requester on an offline Connect, over the wire."""

import itertools
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

import httpx

from offline_markets.connect.offline_connect import Arrival, OfflineConnect

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
PROJECT: dict[str, Any] = {
    "name": "Describe pictures",
    "internalName": "run 1",
    "summary": "Say what each picture shows.",
    "projectUrl": "https://work.example/hit?campaign=7",
    "payment": 1.5,
    "estimatedTimeInMinutes": 9,
    "maxTimeInMinutes": 30,
    "participants": 3,
    "completionSettings": {"value": None, "projectCompletionType": "RedirectUrl"},
}
UNIT = 188
"""One place of it in cents: 150, and a fee of 25 % (37.5), half a cent up."""


class Refused(Exception):  # noqa: N818 - what was answered, for tests
    """The emulator refused."""

    def __init__(self, response: httpx.Response) -> None:
        self.status, self.error = response.status_code, response.json()["error"]
        super().__init__(self.status, self.error["detail"])


class Requester:
    """A requester with the key, and the controls of the emulator."""

    def __init__(self, offline: OfflineConnect) -> None:
        self.offline = offline
        self.http = httpx.Client(
            base_url=f"{offline.address}/api/v1",
            headers={"X-API-KEY": offline.key},
            trust_env=False,
        )
        self._tokens = itertools.count(1)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Hold the books to their laws, after a test that has not failed."""
        self.http.close()
        if error is None:
            self.offline.books()

    def get(self, path: str, **query: str | int) -> Any:  # noqa: ANN401 - JSON
        """One call that changes nothing."""
        return self._answer(self.http.get(path, params=query))

    def post(self, path: str, body: object, mark: str | None = None) -> Any:  # noqa: ANN401 - JSON
        """One call that changes something, with an idempotency token of its own."""
        headers = {"IDEMPOTENCY-TOKEN": mark or f"token {next(self._tokens)}"}
        return self._answer(self.http.post(path, json=body, headers=headers))

    def create(self, **changes: object) -> str:
        """Create a project and return its id."""
        return str(self.post("/project", {**PROJECT, **changes})["project"]["projectId"])

    def live(self, **changes: object) -> str:
        """Create a project, let it go live and return its id."""
        project_id = self.create(**changes)
        self.move(project_id, "Live")
        return project_id

    def move(self, project_id: str, status: str) -> None:
        """Change a project's status."""
        assert self.post(f"/project/{project_id}/update-status", {"status": status}) is None

    def status(self, project_id: str) -> str:
        """Return a project's status."""
        return str(self.get(f"/project/{project_id}")["project"]["status"])

    def cents(self) -> tuple[int, int]:
        """Return what is available, as the API shows it, and what is held."""
        available = self.get("/account")["accountBalance"]
        return round(available * 100), self.offline.books()["accounts"]["held"]

    def done(self, project_id: str) -> Arrival:
        """Let a new participant begin and complete a project."""
        arrival = self.offline.arrive(project_id)
        self.offline.complete(arrival.assignment_id)
        return arrival

    def decide(self, project_id: str, way: str, *ids: str, message: str = "m") -> None:
        """Approve, reject or reverse."""
        people = [{"id": each, "message": message} for each in ids]
        self.post(f"/assignments/{project_id}/{way}", {"participants": people})

    def assignments(self, project_id: str) -> list[dict[str, Any]]:
        """Return the assignments that the API lists."""
        return list(self.get(f"/assignments/{project_id}")["assignments"])

    def statuses(self, project_id: str) -> list[str]:
        """Return their statuses, in the order of their start."""
        return [each["status"] for each in self.assignments(project_id)]

    @staticmethod
    def _answer(response: httpx.Response) -> Any:  # noqa: ANN401 - JSON
        assert response.headers["X-TRACE-ID"]
        if response.is_error:
            raise Refused(response)
        assert response.status_code == 200
        return response.json() if response.content else None
