"""A marketplace's site over HTTP, as simulated workers use it.

They make real requests, so a rehearsal uses the same endpoints as people. Steps common to all
workers (fetching a HIT's page, sending its form) are in `Site`. How workers arrive, find HITs
and return them differs between workers who sign in at the marketplace's own worker site
(`WorkerSite`) and participants of another market (`visit_site`).
"""

import re
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from http import HTTPStatus
from json import dumps
from typing import Any, Self
from urllib.parse import quote, quote_plus, urlencode, urlsplit

from piecework.domain.errors import PlatformRefused
from piecework.domain.ids import AssignmentId, HitId, WorkerId
from piecework.platforms.clocks import failed_there, no_answer, strange_answer
from piecework.simulation.crowd.browser import Connection, Page, Reply, Response, read_page
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


_SECONDS_LEFT = re.compile(r'data-seconds="(\d+)"')


class WorkerSite(Site):
    """Workers who sign in and choose HITs from a list."""

    def __init__(self, endpoint_url: str, now: datetime) -> None:
        super().__init__(endpoint_url, now)
        self._cookies: dict[WorkerId, str] = {}
        self._test_ids: dict[str, str] = {}

    def register(self, person: Person) -> Worker:
        """See `Site`."""
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
        """See `Site`."""
        reply = self._json("GET", "/worker/hits", worker=worker)
        open_groups = [
            group for group in reply["hit_groups"] if group["may_accept"] and group["available"] > 0
        ]
        best_first = sorted(open_groups, key=lambda group: -float(group["reward"]))
        return tuple(str(group["hit_group_id"]) for group in best_first)

    def lacks_only(self, worker: Worker, qualification: str) -> bool:
        """See `Site`."""
        reply = self._json("GET", "/worker/hits", worker=worker)
        return any(
            group["available"] > 0
            and len(group["lacks"]) == 1
            and group["lacks"][0].startswith(f"{qualification} GreaterThanOrEqualTo")
            for group in reply["hit_groups"]
        )

    def begin_test(self, worker: Worker, qualification: str) -> str:
        """See `Site`."""
        type_id = self._test_ids.get(qualification)
        if type_id is None:
            type_id = self._test_ids[qualification] = self._test_id(worker, qualification)
        self._json("POST", f"/worker/qualifications/{type_id}/request", worker=worker)
        return type_id

    def send_test(self, worker: Worker, type_id: str, answers: Mapping[str, Sequence[str]]) -> int:
        """See `Site`."""
        path = f"/worker/qualifications/{type_id}/test"
        return int(self._json("POST", path, worker=worker, form=answers)["value"])

    def ask_for(self, worker: Worker, group_id: str) -> Reply:
        """See `Site`."""
        path = f"/worker/groups/{group_id}/accept"
        return self._send("POST", path, worker=worker)

    def accepted(self, worker: Worker, asked: Reply) -> Accepted:  # noqa: ARG002 - of the port
        """See `Site`."""
        return Accepted.of_document(self._object(asked))

    def has_more_in_hand(self, worker: Worker) -> bool:  # noqa: ARG002 - of the port
        """See `Site`; here each HIT is accepted separately."""
        return False

    def give_back(self, worker: Worker, assignment_id: AssignmentId) -> None:
        """See `Site`."""
        path = f"/worker/assignments/{assignment_id}/return"
        self._json("POST", path, worker=worker)

    def left_in_hand(self, workers: Sequence[Worker]) -> tuple[tuple[Worker, Accepted], ...]:
        """See `Site`."""
        mine = {worker.worker_id: worker for worker in workers}
        return tuple(
            (mine[worker_id], self._left(mine[worker_id], assignment_id, hit_id))
            for worker_id, assignment_id, hit_id in self.open_assignments()
            if worker_id in mine
        )

    def open_assignments(self) -> tuple[tuple[WorkerId, AssignmentId, HitId], ...]:
        """Return worker, assignment and HIT of everything accepted but not finished."""
        books = self._json("GET", "/rehearsal/books")
        return tuple(
            (WorkerId(row["worker_id"]), AssignmentId(row["assignment_id"]), HitId(row["hit_id"]))
            for row in books["assignments"]
            if row["status"] == "Accepted"
        )

    def _left(self, worker: Worker, assignment_id: AssignmentId, hit_id: HitId) -> Accepted:
        left = timedelta(seconds=self.seconds_left(worker, assignment_id))
        return Accepted(
            assignment_id=assignment_id,
            hit_id=hit_id,
            accepted_at=self.now,
            deadline=self.now + left,
            frame_url="",
        )

    def _test_id(self, worker: Worker, qualification: str) -> str:
        path = f"/worker/qualifications?q={quote(qualification)}"
        for offer in self._json("GET", path, worker=worker)["offered"]:
            if offer["name"] == qualification:
                return str(offer["qualification_type_id"])
        raise ConflictError(f"{qualification}: this test is not offered", code="404")

    def seconds_left(self, worker: Worker, assignment_id: AssignmentId) -> int:
        """Return the time left for an open assignment, as its page shows the worker."""
        path = f"/worker/assignments/{assignment_id}"
        headers = {"Accept": "text/html"}
        html = self._read(self._send("GET", path, worker=worker, headers=headers)).text
        seconds = _SECONDS_LEFT.search(html)
        return int(seconds[1]) if seconds else 0

    def _cookie(self, worker: Worker) -> str:
        """Return the worker's session, signing in when first needed."""
        if worker.worker_id not in self._cookies:
            form = {"token": [worker.token]}
            response = self._read(self._send("POST", "/worker/sign-in", form=form))
            cookie, _, _ = response.headers.get("set-cookie", "").partition(";")
            self._cookies[worker.worker_id] = cookie
        return self._cookies[worker.worker_id]
