"""The pages of a participant's visit: arrival, one HIT after another, return.

A link's three ids are not enough to enter, since anyone can forge them. The arrival
page describes the visit and asks for consent. Its form is the site's own POST in a
separate window. Only then does the server ask the other market whether the submission
belongs to this participant and study and is active.
"""

import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from piecework.marketplace import languages
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.languages import say
from piecework.marketplace.outside_crowd import (
    Arrival,
    NoEvents,
    OutsideCrowd,
    Submission,
    WayBack,
)
from piecework.marketplace.state import clock, visits
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import (
    assignment_actions,
    discovery,
    qualifying,
    replies,
)
from piecework.marketplace.workers.crowds import Crowds
from piecework.marketplace.workers.origins import Origins
from piecework.marketplace.workers.pages import page
from piecework.marketplace.workers.sessions import Sessions
from piecework.webserver import security_log

HOME = "/visit"
"""The address that always shows a participant the next step."""

EVENTS = f"{HOME}/events"
"""The address for the other market's events."""

_LARGEST_EVENT_BYTES = 65_536

_FIRST_QUESTION = (
    "SELECT question FROM whole_questions JOIN hits ON hits.id = whole_questions.hit "
    "WHERE hits.hit_type = ? LIMIT 1"
)
_STUDY = (
    "SELECT studies.*, hit_types.hit_group_id, qualification_type_id, "
    "coalesce(qualification_types.name, hit_types.title) AS title, "
    "coalesce(qualification_types.description, hit_types.description) "
    "AS description, requesters.name AS requester_name FROM studies "
    "JOIN hit_types ON hit_types.id = studies.hit_type "
    "JOIN requesters ON requesters.id = hit_types.requester "
    "LEFT JOIN qualification_types "
    "ON qualification_types.id = studies.qualification_type WHERE study_id = ? "
    "AND studies.market = ?"
)

_UNKNOWN = (
    "SELECT 1 FROM unknown_studies WHERE study_id = ? AND market = ? AND is_left = 0"
)
"""A study that is missing because the file was restored from a copy."""


class Visits:
    """The visits to a marketplace with workers from another market."""

    def __init__(
        self,
        backend: Backend,
        origins: Origins,
        sessions: Sessions,
        crowds: Crowds,
    ) -> None:
        self._backend = backend
        self._origins = origins
        self._sessions = sessions
        self._crowds = crowds

    def routes(self) -> list[Route]:
        """Return all routes of visits."""
        return [
            Route(f"{HOME}/arrive", self.ask, methods=["GET"]),
            Route(f"{HOME}/arrive", self.arrive, methods=["POST"]),
            Route(HOME, self.now),
            Route(f"{HOME}/leave", self.leave, methods=["POST"]),
            Route(EVENTS, self.take_event, methods=["POST"]),
        ]

    async def ask(self, request: Request) -> Response:
        """Describe the visit and ask for the participant's consent."""
        replies.check_window(request)
        crowd = self._crowds.of_link(request.query_params)
        arrival = crowd.read_link(request.query_params)
        with self._backend.transaction() as transaction:
            target = crowd.settle_on(transaction, arrival)
            study = _study(transaction, crowd, target)
            present = self._sessions.present(transaction, request)
            visit = visits.of_submission(transaction, target.submission_id)
            known = visits.known_participant(
                transaction, crowd.name, arrival.participant_id
            )
        if visit and present is not None and visit["worker"] == present["id"]:
            return replies.moved(HOME)
        is_same = present is not None and known is not None and known == present
        return self._asked(request, crowd, arrival, study, None if is_same else present)

    async def arrive(self, request: Request) -> Response:
        """Let a participant in if the other market vouches for them."""
        replies.check_origin(request, (self._origins.site,))
        replies.check_window(request)
        form = dict(await replies.fields(request))
        crowd = self._crowds.of_link(form)
        arrival = crowd.read_link(form)
        with self._backend.transaction() as transaction:
            study = _study(transaction, crowd, crowd.settle_on(transaction, arrival))
            known = visits.known_participant(
                transaction, crowd.name, arrival.participant_id
            )
        if form.get("agreed") != "1":
            return self._asked(request, crowd, arrival, study, None, status=400)
        if form.get("offered", study["study_id"]) != study["study_id"]:
            # Meanwhile the described work was taken by others.
            return self._asked(request, crowd, arrival, study, None, status=409)
        # This waits for the other market; other requests are served meanwhile.
        is_known = known is not None
        submission = await crowd.look_up(arrival, is_known=is_known)
        ended = await self._ended_visits(crowd, study, arrival, submission)
        with self._backend.transaction() as transaction:
            # Before the participant is added: a refusal leaves nothing behind.
            target = crowd.settle_on(transaction, arrival)
            study = _study(transaction, crowd, target)
            worker = visits.participant(transaction, crowd.name, arrival.participant_id)
            present = self._sessions.present(transaction, request)
            is_other = present is not None and present["id"] != worker["id"]
            if present and is_other and form.get("instead_of") != present["worker_id"]:
                return self._asked(request, crowd, arrival, study, present, status=409)
            for submission_id, stage in ended.items():
                visits.close_submission(transaction, submission_id, stage=stage)
            self._enter(transaction, study, worker, target, submission)
            self._sessions.close(transaction, request)
            key = self._sessions.open_for(transaction, worker)
        security_log.note(
            request.scope, "signed_in", worker=worker["worker_id"], by="visit"
        )
        reply = (
            JSONResponse({"worker_id": worker["worker_id"]}, status_code=201)
            if replies.wants_json(request)
            else replies.moved(HOME)
        )
        return self._sessions.set_cookie(reply, key)

    async def now(self, request: Request) -> Response:
        """Show the next step: a HIT, the way back, or the end."""
        with self._backend.transaction() as transaction:
            worker = self._visitor(transaction, request)
            visit = _latest(transaction, worker)
            test = visit["qualification_type_id"]
            if test and visit["stage"] == "Open":
                _follow_test(transaction, worker, visit)
                visit = _latest(transaction, worker)
            parts = visits.parts(transaction, visit["id"])
            shown = _next_part(transaction, worker, parts)
            crowd = self._crowds.of_market(visit["market"])
            way_back = crowd.way_back(transaction, visit)
        if replies.wants_json(request):
            return JSONResponse(self._document(visit, parts, shown, worker, way_back))
        if visit["stage"] == "Open" and test:
            return replies.moved(f"/worker/qualifications/{test}/test")
        if visit["stage"] == "Open" and shown is not None:
            return replies.moved(f"/worker/assignments/{shown['assignment_id']}")
        return page(
            "visit_over.html.j2",
            visit=visit,
            prices=self._backend.rules.prices,
            market=crowd.market,
            contact=crowd.contact,
            has_returns=crowd.has_returns,
            way_back=way_back,
        )

    def _visitor(self, transaction: Transaction, request: Request) -> sqlite3.Row:
        worker = self._sessions.present(transaction, request)
        if worker is None:
            raise Refusal(
                "NotSignedIn",
                say(
                    "You have not started a visit in this browser. Please open the "
                    "study from %(market)s again.",
                    market=self._crowds.titles,
                ),
                status=401,
            )
        return worker

    async def leave(self, request: Request) -> Response:
        """End the visit early."""
        replies.check_origin(request, (self._origins.site,))
        with self._backend.transaction() as transaction:
            worker = self._visitor(transaction, request)
            visits.close(transaction, _latest(transaction, worker)["id"], stage="Left")
        if replies.wants_json(request):
            return JSONResponse({"stage": "Left"})
        return replies.moved(HOME)

    async def take_event(self, request: Request) -> Response:
        """Pass on the other market's event without storing or logging it."""
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > _LARGEST_EVENT_BYTES:
                raise Refusal("Http", "This is too large for an event.", status=413)
        self._take(request.headers, bytes(body))
        return Response(status_code=204)

    def _take(self, headers: Mapping[str, str], body: bytes) -> None:
        """Pass an event on to the first crowd that takes events.

        Raises:
            Refusal: no crowd takes events (404), or this one is forged (403).
        """
        for crowd in self._crowds.all:
            with suppress(NoEvents):
                crowd.take_event(headers, body)
                return
        raise NoEvents

    def _enter(
        self,
        transaction: Transaction,
        study: sqlite3.Row,
        worker: sqlite3.Row,
        arrival: Arrival,
        submission: Submission,
    ) -> None:
        """Begin or continue the visit of an active submission.

        Raises:
            Refusal: the submission is not active (409), or another participant's (403).
        """
        visit = visits.of_submission(transaction, arrival.submission_id)
        if visit is not None and visit["worker"] != worker["id"]:
            raise Refusal(
                "NotYours", "This visit belongs to another person.", status=403
            )
        if submission.over:
            # This also holds for a visit that was begun: its link no longer opens a
            # session.
            raise Refusal("VisitOver", submission.over, status=409)
        if visit is not None:
            return
        visits.begin(
            transaction,
            study=study,
            worker=worker,
            submission_id=arrival.submission_id,
            submission=submission,
            may_work=_may_work(transaction, worker, study),
        )

    async def _ended_visits(
        self,
        crowd: OutsideCrowd,
        study: sqlite3.Row,
        arrival: Arrival,
        submission: Submission,
    ) -> Mapping[str, Literal["Left", "Late"]]:
        """Ask which visits have ended, if their HITs may be all that is left."""
        with self._backend.transaction() as transaction:
            worker = visits.known_participant(
                transaction, crowd.name, arrival.participant_id
            )
            wanted = int(study["hits_per_visit"])
            needs_none = (
                submission.over
                or study["qualification_type_id"] is not None
                or visits.of_submission(transaction, arrival.submission_id) is not None
                or (worker is not None and not _may_work(transaction, worker, study))
                or wanted
                == visits.most_hits(transaction, study["hit_type"], worker, most=wanted)
            )
        return {} if needs_none else await crowd.given_back(arrival.study_id)

    def _asked(
        self,
        request: Request,
        crowd: OutsideCrowd,
        arrival: Arrival,
        study: sqlite3.Row,
        present: sqlite3.Row | None,
        *,
        status: int = 200,
    ) -> Response:
        if replies.wants_json(request):
            raise Refusal("NotAgreed", "The form must say agreed=1.", status=status)
        with self._backend.transaction() as transaction:
            asked = transaction.first_row(_FIRST_QUESTION, study["hit_type"])
        language = languages.of_page(asked["question"]) if asked else None
        if language is not None:
            languages.speak(language)
        return page(
            "visit_welcome.html.j2",
            status=status,
            framed_by="'none'",
            study=study,
            market=crowd.market,
            contact=crowd.contact,
            consent=crowd.consent,
            link={**crowd.link(arrival), "offered": study["study_id"]},
            pay=crowd.pay(study["reward_cents"]),
            has_returns=crowd.has_returns,
            present=present,
        )

    def _document(
        self,
        visit: sqlite3.Row,
        parts: list[sqlite3.Row],
        shown: sqlite3.Row | None,
        worker: sqlite3.Row,
        way_back: WayBack,
    ) -> dict[str, Any]:
        """Return a visit as JSON data."""
        is_open = visit["stage"] == "Open" and shown is not None
        return {
            "stage": visit["stage"],
            "hits": len(parts),
            "answered": sum(part["answered_ms"] is not None for part in parts),
            "code": way_back.code or None,
            "way_back": way_back.url or None,
            "test": visit["qualification_type_id"],
            "screen_out_cents": visit["screen_out_cents"],
            "assignment": {
                "assignment_id": shown["assignment_id"],
                "hit_id": shown["hit_id"],
                "accepted_at": clock.to_datetime(shown["shown_ms"]).isoformat(),
                "deadline": clock.to_datetime(shown["deadline_ms"]).isoformat(),
                "frame_url": assignment_actions.frame_url(
                    shown,
                    self._origins,
                    assignment_id=shown["assignment_id"],
                    worker_id=worker["worker_id"],
                ),
            }
            if is_open and shown is not None
            else None,
        }


def _study(
    transaction: Transaction, crowd: OutsideCrowd, arrival: Arrival
) -> sqlite3.Row:
    row = transaction.first_row(_STUDY, arrival.study_id, crowd.name)
    if row is None and transaction.first_row(_UNKNOWN, arrival.study_id, crowd.name):
        raise Refusal(
            "VisitRefused",
            "The researchers are repairing this study right now. Your place is kept: "
            "please open the study again in a few minutes. If you have done the work "
            "and have its code, enter the code; you will be paid.",
            status=503,
        )
    if row is None:
        raise Refusal(
            "VisitRefused",
            "There is no active study with this number here.",
            status=404,
        )
    return row


def _latest(transaction: Transaction, worker: sqlite3.Row) -> sqlite3.Row:
    visit = visits.latest(transaction, worker)
    if visit is None:
        raise Refusal("VisitRefused", "You have not started a visit here.", status=404)
    return visit


def _next_part(
    transaction: Transaction, worker: sqlite3.Row, parts: list[sqlite3.Row]
) -> sqlite3.Row | None:
    for part in parts:
        if part["answered_ms"] is None and part["status"] == "Accepted":
            return assignment_actions.own_assignment(
                transaction, worker, part["assignment_id"]
            )
    return None


def _follow_test(
    transaction: Transaction, worker: sqlite3.Row, visit: sqlite3.Row
) -> None:
    """End a test's visit with the test: done when sent, late after its time."""
    attempt = transaction.first_row(
        "SELECT test_attempts.status FROM test_attempts JOIN studies "
        "ON studies.qualification_type = test_attempts.qualification_type "
        "WHERE studies.id = ? AND worker = ? AND started_ms >= ? "
        "ORDER BY test_attempts.id DESC",
        visit["study"],
        worker["id"],
        visit["began_ms"],
    )
    status = None if attempt is None else attempt["status"]
    if status == "Submitted":
        visits.finish(transaction, visit["id"])
    elif status == "Late" or transaction.due_ms > visit["deadline_ms"]:
        visits.close(transaction, visit["id"], stage="Late")


def _may_work(
    transaction: Transaction, worker: sqlite3.Row, study: sqlite3.Row
) -> bool:
    try:
        if study["qualification_type_id"]:
            offered = qualifying.offer(
                transaction, worker, study["qualification_type_id"]
            )
            return offered.refusal is None
        group = discovery.group(transaction, worker, study["hit_group_id"])
    except Refusal:
        return False
    if group.limit is not None and group.limit.left < study["hits_per_visit"]:
        return False
    return group.may_accept
