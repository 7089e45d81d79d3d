"""Control an emulator that runs, from a test or a rehearsal, over HTTP."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Self

import httpx

_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Arrival:
    """A participant who has begun.

    Attributes:
        participant_id: who it is.
        assignment_id: what they have begun.
        url: the requester's address that they open.
        complete_url: where they go to complete it.
    """

    participant_id: str
    assignment_id: str
    url: str
    complete_url: str


class OfflineConnect:
    """The controls of an emulator.

    Args:
        address: its origin.
        key: the API key that it accepts.

    Attributes:
        address: as above; the API is below `{address}/api/v1`.
        key: as above.
    """

    def __init__(self, address: str, key: str) -> None:
        self.address, self.key = address, key
        self._http = httpx.Client(base_url=f"{address}/emulator", timeout=_SECONDS, trust_env=False)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connections."""
        self._http.close()

    def participant(self) -> str:
        """Make a participant and return the id."""
        return str(self._call("POST", "/participants")["participantId"])

    def participants(self) -> list[str]:
        """Return the ids of all participants."""
        return list(self._call("GET", "/participants")["participantIds"])

    def open_projects(self, participant_id: str) -> list[str]:
        """Return the ids of the projects in which a participant can begin."""
        shown = self._call("GET", f"/participants/{participant_id}/projects")
        return [project["projectId"] for project in shown["projects"]]

    def arrive(self, project_id: str, participant_id: str | None = None) -> Arrival:
        """Let a participant begin or come back; without an id, a new one."""
        participant_id = participant_id or self.participant()
        began = self._call("POST", f"/participants/{participant_id}/projects/{project_id}")
        return Arrival(
            began["participantId"], began["assignmentId"], began["url"], began["completeUrl"]
        )

    def complete(self, assignment_id: str, code: str | None = None) -> None:
        """Complete an assignment, by the redirect or with a code."""
        self._call("POST", f"/assignments/{assignment_id}/complete", {"code": code})

    def give_back(self, assignment_id: str) -> None:
        """Return an assignment in progress."""
        self._call("POST", f"/assignments/{assignment_id}/return")

    def assignments(self, participant_id: str) -> list[dict[str, Any]]:
        """Return a participant's assignments in any status."""
        shown = self._call("GET", f"/participants/{participant_id}/assignments")
        return list(shown["assignments"])

    def messages(self, participant_id: str) -> list[dict[str, Any]]:
        """Return the messages to a participant."""
        shown = self._call("GET", f"/participants/{participant_id}/messages")
        return list(shown["messages"])

    def now(self) -> datetime:
        """Return the emulator's time."""
        return datetime.fromisoformat(self._call("GET", "/clock")["now"])

    def advance(self, time: timedelta) -> None:
        """Move the clock forward; what became due meanwhile happens."""
        self._call("PUT", "/clock", {"now": (self.now() + time).isoformat()})

    def fund(self, dollars: float) -> None:
        """Add money to the account's balance."""
        self._call("POST", "/funds", {"amount": dollars})

    def set_faults(self, *faults: dict[str, Any]) -> None:
        """Replace the script of faults."""
        self._call("PUT", "/faults", list(faults))

    def set_switches(self, **settings: bool) -> None:
        """Change some of the switches; before a project goes live."""
        self._call("PUT", "/switches", settings)

    def calls(self) -> dict[str, int]:
        """Return how often each operation was called."""
        return dict(self._call("GET", "/calls"))

    def books(self) -> dict[str, Any]:
        """Return the books.

        Raises:
            AssertionError: a law is broken.
        """
        books: dict[str, Any] = self._call("GET", "/books")
        if books["brokenLaws"]:
            raise AssertionError(" ".join(books["brokenLaws"]))
        return books

    def _call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        response = self._http.request(method, path, json=body)
        if response.is_error:
            raise ControlRefusedError(response.json()["error"]["detail"])
        return response.json()


class ControlRefusedError(Exception):
    """The emulator refuses what a participant or the rehearsal wants."""
