"""The worker's side of the marketplace over HTTP, as a program uses it.

Real requests, so that a rehearsal passes through the same doors as people: sign-in,
list, accept, page, submit.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

import httpx

from domain.errors import PlatformRefused, TransientPlatformError
from domain.ids import AssignmentId, HitId, WorkerId
from rehearsal.crowd.page import Page, read_page
from rehearsal.crowd.people import Person, Worker

_SECONDS_TO_WAIT = 60.0
_CONFLICTS = frozenset({httpx.codes.CONFLICT, httpx.codes.NOT_FOUND})
_COOKIE = "worker_session"
_SECONDS_LEFT = re.compile(r'data-seconds="(\d+)"')


class ConflictError(PlatformRefused):
    """Somebody or time was faster: nothing left to accept, or no longer open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A HIT in a worker's hands."""

    assignment_id: AssignmentId
    hit_id: HitId
    accepted_at: datetime
    deadline: datetime
    frame_url: str


class WorkerSite:
    """Calls of the worker's side; one kept-alive connection for the whole crowd.

    Attributes:
        calls: how many requests were sent.
    """

    def __init__(self, endpoint_url: str) -> None:
        self._url = endpoint_url.rstrip("/")
        # No proxy of the environment may stand between us and our own server.
        self._client = httpx.Client(
            headers={"Accept": "application/json"},
            timeout=_SECONDS_TO_WAIT,
            trust_env=False,
        )
        self._cookies: dict[WorkerId, str] = {}
        self.calls = 0

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def register(self, person: Person) -> Worker:
        """Make the person a worker; the same worker each time."""
        standing: dict[str, object] = {
            "handle": person.handle,
            "country": person.country,
            "hits_approved": person.hits_approved,
            "hits_submitted": person.hits_submitted,
        }
        if person.subdivision:
            standing["subdivision"] = person.subdivision
        reply = self._json("POST", "/rehearsal/workers", json=standing)
        worker_id = WorkerId(str(reply["worker_id"]))
        return Worker(person=person, worker_id=worker_id, token=str(reply["token"]))

    def group_ids(self, worker: Worker) -> tuple[str, ...]:
        """Groups with something that the worker may take now, the best paid first."""
        reply = self._json("GET", "/worker/hits", worker=worker)
        open_to_him = [
            group
            for group in reply["hit_groups"]
            if group["may_accept"] and group["available"] > 0
        ]
        best_first = sorted(open_to_him, key=lambda group: -float(group["reward"]))
        return tuple(str(group["hit_group_id"]) for group in best_first)

    def lacks_only(self, worker: Worker, qualification: str) -> bool:
        """Whether a qualification of this name alone keeps the worker from a group."""
        reply = self._json("GET", "/worker/hits", worker=worker)
        return any(
            group["available"] > 0
            and len(group["lacks"]) == 1
            and group["lacks"][0].startswith(f"{qualification} GreaterThanOrEqualTo")
            for group in reply["hit_groups"]
        )

    def test_id(self, worker: Worker, qualification: str) -> str:
        """The id of the qualification type of this name that offers a test.

        Raises:
            ConflictError: none is offered.
        """
        path = f"/worker/qualifications?q={quote(qualification)}"
        for offer in self._json("GET", path, worker=worker)["offered"]:
            if offer["name"] == qualification:
                return str(offer["qualification_type_id"])
        raise ConflictError(f"{qualification}: no such test is offered", code="404")

    def begin_test(self, worker: Worker, type_id: str) -> None:
        """Begin a test.

        Raises:
            ConflictError: it may not be taken, or not again yet.
        """
        self._json("POST", f"/worker/qualifications/{type_id}/request", worker=worker)

    def send_test(
        self, worker: Worker, type_id: str, answers: Mapping[str, Sequence[str]]
    ) -> int:
        """Send the answers; the score.

        Raises:
            ConflictError: the time is over.
        """
        path = f"/worker/qualifications/{type_id}/test"
        return int(self._json("POST", path, worker=worker, data=answers)["value"])

    def accept(self, worker: Worker, group_id: str) -> Accepted:
        """Take the next HIT of a group.

        Raises:
            ConflictError: nothing is left for this worker.
        """
        path = f"/worker/groups/{group_id}/accept"
        reply = self._json("POST", path, worker=worker)
        return Accepted(
            assignment_id=AssignmentId(str(reply["assignment_id"])),
            hit_id=HitId(str(reply["hit_id"])),
            accepted_at=datetime.fromisoformat(reply["accepted_at"]),
            deadline=datetime.fromisoformat(reply["deadline"]),
            frame_url=str(reply["frame_url"]),
        )

    def page(self, accepted: Accepted) -> Page:
        """The page of the HIT, fetched as its frame fetches it."""
        headers = {"Accept": "text/html"}
        return read_page(self._send("GET", accepted.frame_url, headers=headers).text)

    def submit(
        self,
        worker: Worker,
        assignment_id: AssignmentId,
        form: Mapping[str, Sequence[str]],
    ) -> None:
        """Send the page's form.

        Raises:
            ConflictError: too late, or not this worker's any more.
        """
        sent = {"assignmentId": [assignment_id], **form}
        self._json("POST", "/mturk/externalSubmit", worker=worker, data=sent)

    def give_back(self, worker: Worker, assignment_id: AssignmentId) -> None:
        """Return a HIT undone.

        Raises:
            ConflictError: it is not open any more.
        """
        path = f"/worker/assignments/{assignment_id}/return"
        self._json("POST", path, worker=worker)

    def clock(self) -> datetime:
        """The marketplace's time."""
        reply = self._json("GET", "/rehearsal/clock")
        try:
            return datetime.fromisoformat(reply["now"])
        except (KeyError, TypeError, ValueError) as fault:
            raise self._stranger() from fault

    def move_clock(self, moment: datetime) -> None:
        """Set the marketplace's time.

        Raises:
            ConflictError: time would run backwards.
        """
        self._json("PUT", "/rehearsal/clock", json={"now": moment.isoformat()})

    def open_assignments(self) -> tuple[tuple[WorkerId, AssignmentId, HitId], ...]:
        """Everything that is accepted and not finished, whoever holds it."""
        books = self._json("GET", "/rehearsal/books")
        return tuple(
            (
                WorkerId(row["worker_id"]),
                AssignmentId(row["assignment_id"]),
                HitId(row["hit_id"]),
            )
            for row in books["assignments"]
            if row["status"] == "Accepted"
        )

    def seconds_left(self, worker: Worker, assignment_id: AssignmentId) -> int:
        """How long an open assignment may still take; as its page tells the worker."""
        address = f"{self._url}/worker/assignments/{assignment_id}"
        headers = {"Accept": "text/html", "Cookie": self._cookie(worker)}
        html = self._send("GET", address, headers=headers).text
        found = _SECONDS_LEFT.search(html)
        return int(found[1]) if found else 0

    def _json(
        self,
        method: str,
        path: str,
        *,
        worker: Worker | None = None,
        json: object = None,
        data: Mapping[str, Sequence[str]] | None = None,
    ) -> dict[str, Any]:
        headers = {"Cookie": self._cookie(worker)} if worker else {}
        address = self._url + path
        response = self._send(method, address, headers=headers, json=json, data=data)
        try:
            reply = response.json()
        except ValueError as fault:
            raise self._stranger() from fault
        if not isinstance(reply, dict):
            raise self._stranger()
        return reply

    def _stranger(self) -> TransientPlatformError:
        return TransientPlatformError(
            f"{self._url}: the answer is not a marketplace's: another program, or "
            "something between, gave it.",
            next_step="Look at the address; `piecework crowd CAMPAIGN` prints its own.",
        )

    def _cookie(self, worker: Worker) -> str:
        """The worker's session, signed in when it is first needed."""
        if worker.worker_id not in self._cookies:
            token = quote(worker.token)
            address = f"{self._url}/worker/sign-in?token={token}"
            response = self._send("GET", address)
            value = response.cookies[_COOKIE]
            # One client serves many workers: it must not remember the last one.
            self._client.cookies.clear()
            self._cookies[worker.worker_id] = f"{_COOKIE}={value}"
        return self._cookies[worker.worker_id]

    def _send(
        self,
        method: str,
        address: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: object = None,
        data: Mapping[str, Sequence[str]] | None = None,
    ) -> httpx.Response:
        self.calls += 1
        try:
            response = self._client.request(
                method, address, headers=headers, json=json, data=data
            )
        except httpx.HTTPError as error:
            raise TransientPlatformError(
                f"The marketplace at {self._url} does not answer: {error}.",
                next_step="Start it again; a rehearsal goes on where it stopped.",
            ) from error
        if response.is_error:
            raise _refusal(response)
        return response


def _refusal(response: httpx.Response) -> Exception:
    path = response.request.url.path
    if response.is_server_error:
        return TransientPlatformError(f"{path}: HTTP {response.status_code}.")
    code, message = str(response.status_code), response.text[:200]
    if response.headers.get("content-type", "").startswith("application/json"):
        reply = response.json()
        code, message = str(reply.get("error", code)), str(reply.get("message", ""))
    kind = ConflictError if response.status_code in _CONFLICTS else PlatformRefused
    return kind(f"{path}: {message}", code=code)
