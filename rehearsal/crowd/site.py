"""The worker's side of the marketplace over HTTP, as a program uses it.

Real requests, so that a rehearsal passes through the same doors as people: sign-in,
list, accept, page, submit.
"""

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from http import HTTPStatus
from json import dumps
from typing import Any
from urllib.parse import quote, quote_plus, urlencode, urlsplit

from domain.errors import PlatformRefused, TransientPlatformError
from domain.ids import AssignmentId, HitId, WorkerId
from platforms.virtual_clock import no_answer, strange_answer
from rehearsal.crowd.connection import Connection, Reply, Response
from rehearsal.crowd.page import Page, read_page
from rehearsal.crowd.people import Person, Worker

_CONFLICTS = frozenset({HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND})
_JSON_WANTED = {"Accept": "application/json"}
_CLOCK_HEADER = "X-Rehearsal-Now"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_MOST_PAGES = 200
"""Pages kept; a HIT's workers come one after another, while few HITs are in hand."""

_quoted = lru_cache(maxsize=16_384)(quote_plus)
"""A form's fifty names, most numbers and many words come again with the next form."""

_SECONDS_LEFT = re.compile(r'data-seconds="(\d+)"')


class ConflictError(PlatformRefused):
    """Another worker or time was faster: nothing is left, or it is open no longer."""


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
        now: the crowd's present; the marketplace's clock is moved there before a call
            is done.
        calls: how many requests were sent.
    """

    def __init__(self, endpoint_url: str, now: datetime) -> None:
        self._url = endpoint_url.rstrip("/")
        self._connections: dict[str, Connection] = {}
        self._cookies: dict[WorkerId, str] = {}
        self._pages: OrderedDict[HitId, Page] = OrderedDict()
        self.now = now
        self.calls = 0

    def close(self) -> None:
        """Let go of the connections."""
        for connection in self._connections.values():
            connection.close()

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
        open_groups = [
            group
            for group in reply["hit_groups"]
            if group["may_accept"] and group["available"] > 0
        ]
        best_first = sorted(open_groups, key=lambda group: -float(group["reward"]))
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
        return int(self._json("POST", path, worker=worker, form=answers)["value"])

    def ask_for(self, worker: Worker, group_id: str) -> Reply:
        """Ask for the next HIT of a group; `accepted` reads what came of it."""
        path = f"/worker/groups/{group_id}/accept"
        return self._send("POST", path, worker=worker)

    def accepted(self, asked: Reply) -> Accepted:
        """The HIT that was asked for.

        Raises:
            ConflictError: nothing is left for this worker.
        """
        reply = self._object(asked)
        return Accepted(
            assignment_id=AssignmentId(str(reply["assignment_id"])),
            hit_id=HitId(str(reply["hit_id"])),
            accepted_at=datetime.fromisoformat(reply["accepted_at"]),
            deadline=datetime.fromisoformat(reply["deadline"]),
            frame_url=str(reply["frame_url"]),
        )

    def page(self, accepted: Accepted) -> Page:
        """The page of the HIT, fetched as its frame fetches it.

        A browser fetches it for every worker. Here it is fetched and read for the first
        worker of a HIT, and kept for those who come soon after: the page is the same
        for all of them, since what is the worker's own stands in its address alone.
        """
        page = self._pages.get(accepted.hit_id)
        if page is None:
            page = read_page(self._fetch(accepted.frame_url))
            self._pages[accepted.hit_id] = page
            if len(self._pages) > _MOST_PAGES:
                self._pages.popitem(last=False)
        return page

    def submit(
        self,
        worker: Worker,
        assignment_id: AssignmentId,
        form: Mapping[str, Sequence[str]],
    ) -> Reply:
        """Send the page's form; `confirm` tells whether it was taken."""
        sent = {"assignmentId": [assignment_id], **form}
        return self._send("POST", "/mturk/externalSubmit", worker=worker, form=sent)

    def confirm(self, sent: Reply) -> None:
        """Wait until a form was taken.

        Raises:
            ConflictError: too late, or not this worker's any more.
        """
        self._object(sent)

    def give_back(self, worker: Worker, assignment_id: AssignmentId) -> None:
        """Return a HIT undone.

        Raises:
            ConflictError: it is not open any more.
        """
        path = f"/worker/assignments/{assignment_id}/return"
        self._json("POST", path, worker=worker)

    def open_assignments(self) -> tuple[tuple[WorkerId, AssignmentId, HitId], ...]:
        """Worker, assignment and HIT of everything accepted and not finished."""
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
        path = f"/worker/assignments/{assignment_id}"
        headers = {"Accept": "text/html"}
        html = self._read(self._send("GET", path, worker=worker, headers=headers)).text
        seconds = _SECONDS_LEFT.search(html)
        return int(seconds[1]) if seconds else 0

    def _cookie(self, worker: Worker) -> str:
        """The worker's session, signed in when it is first needed."""
        if worker.worker_id not in self._cookies:
            form = {"token": [worker.token]}
            response = self._read(self._send("POST", "/worker/sign-in", form=form))
            cookie, _, _ = response.headers.get("set-cookie", "").partition(";")
            self._cookies[worker.worker_id] = cookie
        return self._cookies[worker.worker_id]

    def _json(
        self,
        method: str,
        path: str,
        *,
        worker: Worker | None = None,
        json: object = None,
        form: Mapping[str, Sequence[str]] | None = None,
    ) -> dict[str, Any]:
        return self._object(
            self._send(method, path, worker=worker, json=json, form=form)
        )

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

    def _begin(
        self, method: str, address: str, headers: Mapping[str, str], body: bytes
    ) -> Reply:
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
    if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return TransientPlatformError(f"{path}: HTTP {response.status}.")
    code, message = str(response.status), response.text[:200]
    if response.headers.get("content-type", "").startswith("application/json"):
        reply: Any = response.json()
        code, message = str(reply.get("error", code)), str(reply.get("message", ""))
    kind = ConflictError if response.status in _CONFLICTS else PlatformRefused
    return kind(f"{path}: {message}", code=code)
