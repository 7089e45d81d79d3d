"""A marketplace's site over HTTP, as simulated workers use it.

They make real requests, so a rehearsal uses the same endpoints as people. Steps common
to all workers (fetching a HIT's page, sending its form) are here. How workers arrive,
find HITs and return them differs between workers who sign in (`worker_site`) and
participants of another market (`visit_site`).
"""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from http import HTTPStatus
from json import dumps
from typing import Any, Self
from urllib.parse import quote_plus, urlencode, urlsplit

from piecework.domain.errors import PlatformRefused
from piecework.domain.ids import AssignmentId, HitId
from piecework.platforms.clocks import failed_there, no_answer, strange_answer
from piecework.simulation.crowd.connection import Connection, Reply, Response
from piecework.simulation.crowd.page import Page, read_page
from piecework.simulation.crowd.people import Person, Worker

_CONFLICTS = frozenset({HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND})
_JSON_WANTED = {"Accept": "application/json"}
_CLOCK_HEADER = "X-Rehearsal-Now"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_MOST_PAGES = 200
"""The number of pages cached; a HIT's workers come in succession, on few HITs at
once."""

_quoted = lru_cache(maxsize=16_384)(quote_plus)
"""The number of encoded words cached; names, numbers and words recur in forms."""


class ConflictError(PlatformRefused):
    """Another worker or a deadline was faster: the HIT is taken or no longer open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A HIT that a worker has accepted."""

    assignment_id: AssignmentId
    hit_id: HitId
    accepted_at: datetime
    deadline: datetime
    frame_url: str

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> Self:
        """Parse an assignment as the marketplace describes it to programs."""
        return cls(
            assignment_id=AssignmentId(str(document["assignment_id"])),
            hit_id=HitId(str(document["hit_id"])),
            accepted_at=datetime.fromisoformat(document["accepted_at"]),
            deadline=datetime.fromisoformat(document["deadline"]),
            frame_url=str(document["frame_url"]),
        )


class Site(ABC):
    """The worker's side of the marketplace, over one connection for the whole crowd.

    Attributes:
        now: the crowd's current time; the marketplace's clock is moved to it before
            each call.
        calls: the number of requests sent.
    """

    def __init__(self, endpoint_url: str, now: datetime) -> None:
        self._url = endpoint_url.rstrip("/")
        self._connections: dict[str, Connection] = {}
        self._pages: OrderedDict[HitId, Page] = OrderedDict()
        self.now = now
        self.calls = 0

    def close(self) -> None:
        """Close the connections."""
        for connection in self._connections.values():
            connection.close()

    @abstractmethod
    def register(self, person: Person) -> Worker:
        """Register the person as a worker; the same worker each time."""

    @abstractmethod
    def group_ids(self, worker: Worker) -> tuple[str, ...]:
        """Return the groups that the worker can begin or continue, best paid first."""

    @abstractmethod
    def ask_for(self, worker: Worker, group_id: str) -> Reply:
        """Ask for the next HIT of a group; `accepted` reads the result.

        Raises:
            ConflictError: another worker was faster.
        """

    @abstractmethod
    def accepted(self, worker: Worker, asked: Reply) -> Accepted:
        """Return the HIT that was asked for.

        Raises:
            ConflictError: no HIT is left for this worker.
        """

    @abstractmethod
    def has_more_in_hand(self, worker: Worker) -> bool:
        """Return whether the worker has accepted HITs besides the last one done."""

    @abstractmethod
    def give_back(self, worker: Worker, assignment_id: AssignmentId) -> None:
        """Return a HIT without submitting it.

        Raises:
            ConflictError: it is no longer open.
        """

    @abstractmethod
    def left_in_hand(self, workers: Sequence[Worker]) -> tuple[tuple[Worker, Accepted], ...]:
        """Return what these workers had accepted when an earlier crowd was killed."""

    def look_after(self) -> bool:
        """Let the source of workers (a bridge) act; return whether it did anything.

        Called before workers begin, after a minute in which something happened, and
        when no worker finds anything to do.
        """
        return False

    def lacks_only(self, worker: Worker, qualification: str) -> bool:  # noqa: ARG002
        """Return whether only this qualification keeps the worker from a group."""
        return False

    def begin_test(self, worker: Worker, qualification: str) -> str:  # noqa: ARG002
        """Begin the test for a qualification of this name; return its type's id.

        Raises:
            ConflictError: no test is offered, or this worker may not take it (again)
                yet.
        """
        raise ConflictError(f"{qualification}: this site offers no tests", code="404")

    def send_test(
        self,
        worker: Worker,  # noqa: ARG002
        type_id: str,
        answers: Mapping[str, Sequence[str]],  # noqa: ARG002
    ) -> int:
        """Send the answers to a test; return the score.

        Raises:
            ConflictError: the time has run out.
        """
        raise ConflictError(f"{type_id}: this site offers no tests", code="404")

    @abstractmethod
    def _cookie(self, worker: Worker) -> str:
        """Return the worker's session cookie."""

    def page(self, accepted: Accepted) -> Page:
        """Return the page of the HIT, fetched as its frame would fetch it.

        A browser fetches it for every worker. Here it is fetched for the first worker
        of a HIT and cached for those who follow: the page is the same for all of them,
        since only its address depends on the worker.
        """
        page = self._pages.get(accepted.hit_id)
        if page is None:
            page = read_page(self._fetch(accepted.frame_url))
            self._pages[accepted.hit_id] = page
            if len(self._pages) > _MOST_PAGES:
                self._pages.popitem(last=False)
        return page

    def submit(
        self, worker: Worker, assignment_id: AssignmentId, form: Mapping[str, Sequence[str]]
    ) -> Reply:
        """Send the page's form; `confirm` checks whether it was accepted."""
        sent = {"assignmentId": [assignment_id], **form}
        return self._send("POST", "/mturk/externalSubmit", worker=worker, form=sent)

    def confirm(self, sent: Reply) -> None:
        """Wait until a form is accepted.

        Raises:
            ConflictError: it was too late, or the HIT is no longer this worker's.
        """
        self._object(sent)

    def _json(
        self,
        method: str,
        path: str,
        *,
        worker: Worker | None = None,
        json: object = None,
        form: Mapping[str, Sequence[str]] | None = None,
    ) -> dict[str, Any]:
        return self._object(self._send(method, path, worker=worker, json=json, form=form))

    def _object(self, asked: Reply) -> dict[str, Any]:
        try:
            reply = self._read(asked).json()
        except ValueError as fault:
            raise strange_answer(self._url) from fault
        if not isinstance(reply, dict):
            raise strange_answer(self._url)
        return reply

    def _fetch(self, address: str) -> str:
        headers = {"Accept": "text/html"}
        return self._read(self._send("GET", address, headers=headers)).text

    def _send(
        self,
        method: str,
        address: str,
        *,
        worker: Worker | None = None,
        headers: Mapping[str, str] = _JSON_WANTED,
        json: object = None,
        form: Mapping[str, Sequence[str]] | None = None,
    ) -> Reply:
        """Send a request, to an address or to a path of the site."""
        sent = dict(headers)
        if worker is not None:
            sent["Cookie"] = self._cookie(worker)
        body = b""
        if form is not None:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
            body = urlencode(form, doseq=True, quote_via=_quoted).encode()
        elif json is not None:
            sent["Content-Type"] = "application/json"
            body = dumps(json).encode()
        sent[_CLOCK_HEADER] = str((self.now - _EPOCH) // _MILLISECOND)
        return self._begin(method, address, sent, body)

    def _begin(self, method: str, address: str, headers: Mapping[str, str], body: bytes) -> Reply:
        self.calls += 1
        parts = urlsplit(address if "://" in address else self._url + address)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        connection = self._connections.get(parts.netloc)
        if connection is None:
            connection = self._connections[parts.netloc] = Connection(parts.netloc)
        try:
            return connection.send(method, path, headers, body)
        except OSError as fault:
            raise no_answer(self._url, fault) from fault

    def _read(self, asked: Reply) -> Response:
        try:
            response = asked.read()
        except OSError as fault:
            raise no_answer(self._url, fault) from fault
        if response.status >= HTTPStatus.BAD_REQUEST:
            raise _refusal(asked.path, response)
        return response


def _refusal(path: str, response: Response) -> Exception:
    code, message = str(response.status), response.text[:200]
    if response.headers.get("content-type", "").startswith("application/json"):
        reply: Any = response.json()
        code = str(reply.get("error", code))
        message = str(reply.get("message", message))
    if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        is_page = message.startswith("<")
        return failed_there(path, response.status, "" if is_page else message)
    kind = ConflictError if response.status in _CONFLICTS else PlatformRefused
    return kind(f"{path}: {message}", code=code)
