"""The pages of a participant's visit: arrival, one HIT after another, return.

A link's three ids are not enough to enter, since anyone can forge them. The arrival
page describes the visit and asks for consent. Its form is the site's own POST in a
separate window. Only then does the server ask the other market whether the submission
belongs to this participant and study and is active. A visit then belongs to the
browser that began it, and only a link that the participant alone can have moves it to
another (`visit_links`).
"""

import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from piecework.foundation.server import security_log
from piecework.marketplace import languages
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.languages import say
from piecework.marketplace.state import accounts, clock, lifecycle, visits
from piecework.marketplace.state.outside_crowd import (
    Arrival,
    NoEvents,
    OtherBrowser,
    OutsideCrowd,
    Submission,
    WayBack,
)
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import assignment_actions, entering, invitations, pages
from piecework.marketplace.workers.entering import NOT_TICKED, OTHER_TEXT, Crowds
from piecework.marketplace.workers.pages import render_page
from piecework.marketplace.workers.sign_in import Endpoints, Form, action, form, page

HOME = "/visit"
"""The address that always shows a participant the next step."""

EVENTS = f"{HOME}/events"
"""The address for the other market's events."""

_LARGEST_EVENT_BYTES = 65_536

_FIRST_QUESTION = (
    "SELECT question FROM whole_questions JOIN hits ON hits.id = whole_questions.hit "
    "WHERE hits.hit_type = ? LIMIT 1"
)


@dataclass(frozen=True)
class Visits(Endpoints):
    """The visits to a marketplace with workers from another market."""

    crowds: Crowds

    @page(f"{HOME}/arrive")
    async def ask(self, request: Request) -> Response:
        """Describe the visit and ask for the participant's consent."""
        pages.check_window(request)
        crowd = self.crowds.of_link(request.query_params)
        arrival = crowd.read_link(request.query_params)
        with self.backend.transaction() as transaction:
            target = crowd.settle_on(transaction, arrival)
            study = entering.study_of(transaction, crowd, target)
            own = self.sessions.visit_of(transaction, request)
            visit = visits.of_submission(transaction, crowd.name, target.submission_id)
            other = self._other_worker(transaction, request, crowd, arrival)
        if visit is not None and visit["id"] == own:
            return pages.redirect(HOME)
        return self._asked(request, crowd, arrival, study, other)

    @form(f"{HOME}/arrive", in_window=True)
    async def arrive(self, request: Request, form: Form) -> Response:
        """Let a participant in if the other market vouches for them."""
        crowd = self.crowds.of_link(form)
        arrival = crowd.read_link(form)
        with self.backend.transaction() as transaction:
            study = entering.study_of(transaction, crowd, crowd.settle_on(transaction, arrival))
            known = visits.known_participant(transaction, crowd.name, arrival.participant_id)
            other = self._other_worker(transaction, request, crowd, arrival)
        # Programs that name no text agree to the present one.
        digest = accounts.digest_consent(crowd.consent)
        is_this = form.get("text", digest) == digest
        if not is_this or form.get("agreed") != "1":
            complaint = NOT_TICKED if is_this else OTHER_TEXT
            return self._asked(
                request, crowd, arrival, study, other, complaint=complaint, status=400
            )
        if form.get("offered", study["study_id"]) != study["study_id"]:
            # Meanwhile the described work was taken by others.
            return self._asked(request, crowd, arrival, study, other, status=409)
        # This waits for the other market; other requests are served meanwhile.
        is_known = known is not None
        submission = await crowd.look_up(arrival, is_known=is_known)
        ended = await self._ended_visits(crowd, study, arrival, submission)
        with self.backend.transaction() as transaction:
            # Before the participant is added: a refusal leaves nothing behind.
            study = entering.study_of(transaction, crowd, crowd.settle_on(transaction, arrival))
            other = self._other_worker(transaction, request, crowd, arrival)
            entered = None
            if other is None or form.get("instead_of") == other["worker_id"]:
                for submission_id, stage in ended.items():
                    visits.close_submission(transaction, crowd.name, submission_id, stage=stage)
                entered = self._entered(transaction, request, crowd, arrival, submission)
        if entered is None:
            return self._asked(request, crowd, arrival, study, other, status=409)
        worker, key = entered
        return self._let_in(request, worker, key, by="visit")

    def _other_worker(
        self, transaction: Transaction, request: Request, crowd: OutsideCrowd, arrival: Arrival
    ) -> sqlite3.Row | None:
        """Return the worker who is signed in, if it is not the participant who arrives."""
        present = self.sessions.present(transaction, request)
        known = visits.known_participant(transaction, crowd.name, arrival.participant_id)
        is_same = present is not None and known is not None and known["id"] == present["id"]
        return None if is_same else present

    def _entered(
        self,
        transaction: Transaction,
        request: Request,
        crowd: OutsideCrowd,
        arrival: Arrival,
        submission: Submission,
    ) -> tuple[sqlite3.Row, str]:
        """Let a participant into a visit; return the worker and the cookie's value.

        Raises:
            Refusal: as for `entering.enter_visit`; the visit is another browser's (409).
        """
        target = crowd.settle_on(transaction, arrival)
        study = entering.study_of(transaction, crowd, target)
        worker = visits.participant(transaction, crowd.name, arrival.participant_id)
        own = self.sessions.visit_of(transaction, request)
        visit = entering.enter_visit(transaction, study, worker, target, submission, own=own)
        if visit is None:
            raise OtherBrowser(
                market=crowd.market,
                contact=crowd.contact,
                link=crowd.link(arrival),
                has_messages=crowd.has_messages,
            )
        accounts.give_consent(transaction, worker, crowd.consent)
        return worker, self._opened(transaction, request, worker, visit, own=own)

    @form(f"{invitations.VISIT_LINK_ADDRESS}/ask", in_window=True)
    async def ask_for_link(self, request: Request, form: Form) -> Response:
        """Send a participant a link that continues their visit in another browser."""
        crowd = self.crowds.of_link(form)
        arrival = crowd.read_link(form)
        submission = await crowd.look_up(arrival, is_known=True)
        with self.backend.transaction() as transaction:
            study = entering.study_of(transaction, crowd, crowd.settle_on(transaction, arrival))
            worker = visits.known_participant(transaction, crowd.name, arrival.participant_id)
            visit = worker and entering.begin_visit(transaction, study, worker, arrival, submission)
            if visit is None or not crowd.has_messages:
                raise _no_visit()
            invitations.send_visit_link(transaction, visit, site=self.origins.site)
        if pages.wants_json(request):
            return JSONResponse({}, status_code=202)
        return render_page("visit_continue.html.j2", status=202, key="", market=crowd.market)

    @page(invitations.VISIT_LINK_ADDRESS)
    async def show_link(self, request: Request) -> Response:
        """Ask whether a visit shall continue in this browser; nothing moves yet."""
        pages.check_window(request)
        key = request.query_params.get("key", "")
        return render_page("visit_continue.html.j2", framed_by="'none'", key=key or "-")

    @form(invitations.VISIT_LINK_ADDRESS, in_window=True)
    async def use_link(self, request: Request, form: Form) -> Response:
        """Continue a visit in this browser, by a link that was sent for it."""
        with self.backend.transaction() as transaction:
            visit = invitations.use_visit_link(transaction, form.get("key", ""))
            worker = transaction.first_row(
                "SELECT workers.* FROM workers JOIN visits "
                "ON visits.worker = workers.id WHERE visits.id = ?",
                visit,
            )
            if worker is None:
                raise _no_visit()
            key = self._opened(transaction, request, worker, visit, own=None)
        return self._let_in(request, worker, key, by="visit_link")

    def _opened(
        self,
        transaction: Transaction,
        request: Request,
        worker: sqlite3.Row,
        visit: int,
        *,
        own: int | None,
    ) -> str:
        """Return the cookie's value for a visit; "" if the browser has it already."""
        if visit == own:
            return ""
        self.sessions.close(transaction, request)
        return self.sessions.open_for_visit(transaction, worker, visit)

    def _let_in(self, request: Request, worker: sqlite3.Row, key: str, *, by: str) -> Response:
        security_log.note(request.scope, "signed_in", worker=worker["worker_id"], by=by)
        reply = (
            JSONResponse({"worker_id": worker["worker_id"]}, status_code=201)
            if pages.wants_json(request)
            else pages.redirect(HOME)
        )
        return self.sessions.set_cookie(reply, key) if key else reply

    @page(HOME)
    async def now(self, request: Request) -> Response:
        """Show the next step: a HIT, the way back, or the end."""
        with self.backend.transaction() as transaction:
            worker, visit = self._visitor(transaction, request)
            test = visit["qualification_type_id"]
            if test and visit["stage"] == "Open":
                _follow_test(transaction, worker, visit)
                visit = visits.described(transaction, visit["id"])
            parts = visits.parts(transaction, visit["id"])
            shown = _next_part(transaction, worker, parts)
            crowd = self.crowds.of_market(visit["market"])
            way_back = crowd.way_back(transaction, visit)
        if pages.wants_json(request):
            return JSONResponse(self._document(visit, parts, shown, worker, way_back))
        if visit["stage"] == "Open" and test:
            return pages.redirect(f"/worker/qualifications/{test}/test")
        if visit["stage"] == "Open" and shown is not None:
            return pages.redirect(f"/worker/assignments/{shown['assignment_id']}")
        return render_page(
            "visit_over.html.j2",
            visit=visit,
            prices=self.backend.rules.prices,
            market=crowd.market,
            contact=crowd.contact,
            has_returns=crowd.has_returns,
            way_back=way_back,
        )

    def _visitor(
        self, transaction: Transaction, request: Request
    ) -> tuple[sqlite3.Row, sqlite3.Row]:
        """Return the worker and the visit of this browser."""
        worker = self.sessions.present(transaction, request)
        own = self.sessions.visit_of(transaction, request)
        if worker is None or own is None:
            raise Refusal(
                "NotSignedIn",
                say(
                    "You have not started a visit in this browser. Please open the "
                    "study from %(market)s again.",
                    market=self.crowds.titles,
                ),
                status=401,
            )
        return worker, visits.described(transaction, own)

    @action(f"{HOME}/leave")
    async def leave(self, request: Request) -> Response:
        """End the visit early."""
        with self.backend.transaction() as transaction:
            _, visit = self._visitor(transaction, request)
            visits.close_visit(transaction, visit["id"], stage="Left")
        if pages.wants_json(request):
            return JSONResponse({"stage": "Left"})
        return pages.redirect(HOME)

    @page(EVENTS, "POST")
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
        for crowd in self.crowds.all:
            with suppress(NoEvents):
                crowd.take_event(headers, body)
                return
        raise NoEvents

    async def _ended_visits(
        self, crowd: OutsideCrowd, study: sqlite3.Row, arrival: Arrival, submission: Submission
    ) -> Mapping[str, Literal["Left", "Late"]]:
        """Ask which visits have ended, if their HITs may be all that is left."""
        with self.backend.transaction() as transaction:
            worker = visits.known_participant(transaction, crowd.name, arrival.participant_id)
            wanted = int(study["hits_per_visit"])
            # The market shows another submission, so this one may have ended there.
            has_another = (
                submission.is_shown
                and worker is not None
                and entering.begin_visit(transaction, study, worker, arrival, submission)
                is not None
            )
            needs_none = not has_another and (
                submission.over
                or study["qualification_type_id"] is not None
                or (worker is not None and not entering.may_work(transaction, worker, study))
                or wanted == visits.most_hits(transaction, study["hit_type"], worker, most=wanted)
            )
            is_begun = visits.of_submission(transaction, crowd.name, arrival.submission_id)
        if needs_none or is_begun is not None:
            return {}
        return await crowd.given_back(arrival.study_id)

    def _asked(
        self,
        request: Request,
        crowd: OutsideCrowd,
        arrival: Arrival,
        study: sqlite3.Row,
        present: sqlite3.Row | None,
        *,
        complaint: str = "",
        status: int = 200,
    ) -> Response:
        if pages.wants_json(request):
            raise Refusal("NotAgreed", "The form must say agreed=1.", status=status)
        with self.backend.transaction() as transaction:
            asked = transaction.first_row(_FIRST_QUESTION, study["hit_type"])
        language = languages.of_page(asked["question"]) if asked else None
        if language is not None:
            languages.speak(language)
        return render_page(
            "visit_welcome.html.j2",
            status=status,
            framed_by="'none'",
            study=study,
            market=crowd.market,
            contact=crowd.contact,
            consent=crowd.consent,
            text=accounts.digest_consent(crowd.consent),
            complaint=say(complaint) if complaint else "",
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
                    self.origins,
                    assignment_id=shown["assignment_id"],
                    worker_id=worker["worker_id"],
                ),
            }
            if is_open and shown is not None
            else None,
        }


def _no_visit() -> Refusal:
    return Refusal("VisitRefused", "You have not started a visit here.", status=404)


def _next_part(
    transaction: Transaction, worker: sqlite3.Row, parts: list[sqlite3.Row]
) -> sqlite3.Row | None:
    for part in parts:
        if part["answered_ms"] is None and part["status"] == "Accepted":
            return assignment_actions.own_assignment(transaction, worker, part["assignment_id"])
    return None


def _follow_test(transaction: Transaction, worker: sqlite3.Row, visit: sqlite3.Row) -> None:
    """End a test's visit with the test: done when sent, late after its time.

    Older versions left the visit of a test that was sent open until its next page.
    """
    lifecycle.settle_tests(transaction, worker)
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
        visits.close_visit(transaction, visit["id"], stage="Late")
