"""The worker site: find, accept and do HITs and get paid, as pages or JSON.

Endpoints read the request, do one transaction and answer; `assignment_actions` decides
what is allowed. The answer is sent when the transaction is durable (`GroupCommit`).
"""

import sqlite3
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state import clock, consents, visits
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import (
    agreeing,
    assignment_actions,
    discovery,
    history,
    listing,
    open_links,
    replies,
)
from piecework.marketplace.workers.admittance import Admittance
from piecework.marketplace.workers.agreeing import Agreeing
from piecework.marketplace.workers.crowds import Crowds
from piecework.marketplace.workers.framing import Framing
from piecework.marketplace.workers.joining import Joining
from piecework.marketplace.workers.origins import Origins
from piecework.marketplace.workers.pages import STATIC, page
from piecework.marketplace.workers.pictures import Pictures
from piecework.marketplace.workers.provider_sign_in import CALLBACK, ProviderSignIn
from piecework.marketplace.workers.qualification_site import Qualifications
from piecework.marketplace.workers.reporting import Reporting
from piecework.marketplace.workers.sessions import Sessions
from piecework.marketplace.workers.sign_in import SignIn
from piecework.marketplace.workers.submitting import Submitting
from piecework.marketplace.workers.visit_site import HOME, Visits


class Site:
    """The worker site of one marketplace.

    Args:
        backend: its state.
        origins: its addresses.
        pictures: what it serves as `/pictures/`.
        admittance: who may work, and how they come in.
    """

    def __init__(
        self, backend: Backend, origins: Origins, pictures: Pictures, admittance: Admittance
    ) -> None:
        self._backend = backend
        self._origins = origins
        self._pictures = pictures
        self._framing = Framing(origins)
        self._crowds = Crowds(admittance.crowds) if admittance.crowds else None
        self._consent = admittance.consent
        self._sessions = Sessions(site=origins.site, rehearsal=backend.rules.rehearsal)
        self._at_provider = None
        if admittance.provider_at is not None:
            provider = admittance.provider_at(f"{origins.site}{CALLBACK}")
            self._at_provider = ProviderSignIn(backend, origins, self._sessions, provider)

    def routes(self) -> list[Route | Mount]:
        """Return all routes of the site."""
        group = "/worker/groups/{group_id}"
        assignment = "/worker/assignments/{assignment_id}"
        parts = self._backend, self._origins, self._sessions
        own = () if self._crowds is None else self._visits(self._crowds).routes()
        return [
            *own,
            *SignIn(*parts, self._at_provider).routes(),
            *(self._at_provider.routes() if self._at_provider else ()),
            *Joining(*parts).routes(),
            *Agreeing(*parts, self._consent).routes(),
            *Reporting(*parts).routes(),
            *Submitting(*parts, self._pictures).routes(),
            Route("/worker/hits", self.hits),
            Route("/worker/history", self.history),
            Route(f"{group}/preview", self.preview),
            Route(f"{group}/accept", self.accept, methods=["POST"]),
            Route(assignment, self.assignment),
            Route(f"{assignment}/time", self.time),
            Route(f"{assignment}/return", self.give_back, methods=["POST"]),
            *Qualifications(*parts, self._pictures).routes(),
            Mount("/worker/static", StaticFiles(directory=STATIC)),
        ]

    async def hits(self, request: Request) -> Response:
        """List all groups with HITs for this worker; people may search and sort."""
        prices = self._backend.rules.prices
        wishes = listing.read(request.query_params, sign=prices.sign)
        with self._backend.transaction() as transaction:
            worker = self._sessions.worker_of(transaction, request)
            if worker["comes_by_visits"]:
                return replies.moved(HOME)
            groups = discovery.groups(transaction, worker)
            open_now = history.open_assignments(transaction, worker)
            now_ms = transaction.now_ms
        if replies.wants_json(request):
            return JSONResponse({"hit_groups": [group.to_json() for group in groups]})
        return page(
            "hits.html.j2",
            prices=prices,
            shown=listing.sift(groups, wishes),
            total=len(groups),
            wishes=wishes,
            orders=listing.ORDERS,
            open=open_now,
            now_ms=now_ms,
        )

    async def preview(self, request: Request) -> Response:
        """Show a HIT of the group before it is accepted."""
        group_id = request.path_params["group_id"]
        with self._backend.transaction() as transaction:
            worker = self._chooser(transaction, request)
            hit = assignment_actions.preview(
                transaction, worker, group_id, hit_id=request.query_params.get("hit_id")
            )
            group = discovery.group(transaction, worker, group_id)
        if replies.wants_json(request):
            address = assignment_actions.frame_url(hit, self._origins)
            return JSONResponse({"hit_id": hit["hit_id"], "frame_url": address})
        return self._framing.page(
            "preview.html.j2", hit, group=group, prices=self._backend.rules.prices
        )

    async def accept(self, request: Request) -> Response:
        """Accept a HIT."""
        replies.check_origin(request, (self._origins.site,))
        form = dict(await replies.fields(request))
        hit_id = form.get("hit_id") or request.query_params.get("hit_id")
        try:
            with self._backend.transaction() as transaction:
                worker = self._chooser(transaction, request)
                group_id = request.path_params["group_id"]
                if not consents.is_given(transaction, worker, self._consent):
                    raise _not_agreed()
                assignment_id = assignment_actions.accept(
                    transaction, worker, group_id, hit_id=hit_id
                )
                row = assignment_actions.own_assignment(transaction, worker, assignment_id)
        except Refusal as refusal:
            if refusal.kind == "NoHitsAvailable" and form.get("after"):
                # Automatic accepting ends with thanks, not with an error.
                query = urlencode({"of": form["after"]})
                return replies.moved(f"/worker/thanks?{query}")
            if refusal.kind == "NotAgreed" and not replies.wants_json(request):
                return replies.moved(agreeing.address(request.path_params["group_id"]))
            raise
        if not replies.wants_json(request):
            auto = "?auto=1" if form.get("auto") else ""
            return replies.moved(f"/worker/assignments/{assignment_id}{auto}")
        return JSONResponse(
            {
                "assignment_id": assignment_id,
                "hit_id": row["hit_id"],
                "accepted_at": clock.to_datetime(row["accepted_ms"]).isoformat(),
                "deadline": clock.to_datetime(row["deadline_ms"]).isoformat(),
                "frame_url": assignment_actions.frame_url(
                    row, self._origins, assignment_id=assignment_id, worker_id=worker["worker_id"]
                ),
            },
            status_code=201,
        )

    async def assignment(self, request: Request) -> Response:
        """Show the page around an accepted HIT, or its outcome."""
        with self._backend.transaction() as transaction:
            worker = self._sessions.worker_of(transaction, request)
            row = assignment_actions.own_assignment(
                transaction, worker, request.path_params["assignment_id"]
            )
            if row["status"] != "Accepted" and replies.wants_json(request):
                raise assignment_actions.not_open(row)
            can_again = assignment_actions.may_take_again(transaction, worker, row)
            parts = visits.parts(transaction, row["visit"]) if row["visit"] else []
            market = visits.market_of(transaction, worker) if parts else ""
            now_ms = transaction.now_ms
        is_over = row["status"] != "Accepted" or row["answered_ms"] is not None
        if parts and is_over:
            return replies.moved(HOME)
        template = "visit_hit.html.j2" if parts else "assignment.html.j2"
        if row["submitted_ms"] is not None:
            return page("submitted_already.html.j2", status=409, assignment=row)
        return self._framing.page(
            template if row["status"] == "Accepted" else "over.html.j2",
            row,
            worker=worker,
            status=200 if row["status"] == "Accepted" else 409,
            prices=self._backend.rules.prices,
            assignment=row,
            seconds_left=max(0, (row["deadline_ms"] - now_ms) // clock.SECOND),
            ticks=self._backend.rules.time_passes,
            auto=request.query_params.get("auto") == "1",
            can_again=can_again,
            parts=parts,
            has_returns=self._has_returns(market),
        )

    async def time(self, request: Request) -> Response:
        """Return an assignment's remaining time by the server's clock."""
        with self._backend.transaction() as transaction:
            worker = self._sessions.worker_of(transaction, request)
            row = assignment_actions.own_assignment(
                transaction, worker, request.path_params["assignment_id"]
            )
            now_ms = transaction.now_ms
        left = max(0, (row["deadline_ms"] - now_ms) // clock.SECOND)
        return JSONResponse(
            {"status": row["status"], "seconds_left": left if row["status"] == "Accepted" else 0},
            headers={"Cache-Control": "no-store"},
        )

    async def give_back(self, request: Request) -> Response:
        """Return an accepted HIT."""
        replies.check_origin(request, (self._origins.site,))
        assignment_id = request.path_params["assignment_id"]
        with self._backend.transaction() as transaction:
            worker = self._sessions.worker_of(transaction, request)
            assignment_actions.give_back(transaction, worker, assignment_id)
        if replies.wants_json(request):
            return JSONResponse({"assignment_id": assignment_id, "status": "Returned"})
        return replies.moved("/worker/hits")

    async def history(self, request: Request) -> Response:
        """Show the worker's work and earnings."""
        state = request.query_params.get("state", "all")
        state = state if state in history.STATES else "all"
        before = request.query_params.get("before", "")
        with self._backend.transaction() as transaction:
            worker = self._sessions.worker_of(transaction, request)
            if worker["comes_by_visits"]:
                return replies.moved(HOME)  # A session opens only its own visit.
            entries = history.latest(
                transaction, worker, state=state, before=int(before) if _is_row_id(before) else None
            )
            days = history.by_day(transaction, worker)
            earnings = history.earnings(transaction, worker)
            messages = history.messages(transaction, worker)
            compensations = history.compensations(transaction, worker)
            completion = open_links.completion(transaction, worker)
        return page(
            "history.html.j2",
            prices=self._backend.rules.prices,
            entries=entries[: history.SHOWN],
            has_more=len(entries) > history.SHOWN,
            state=state,
            states=history.STATES,
            days=days,
            earnings=earnings,
            messages=messages,
            compensations=compensations,
            completion=completion,
            worker_id=worker["worker_id"],
        )

    def _visits(self, crowds: Crowds) -> Visits:
        return Visits(self._backend, self._origins, self._sessions, crowds)

    def _has_returns(self, market: str) -> bool:
        """Whether people from a market who stop must return their submission there."""
        if self._crowds is None or not market:
            return False
        return self._crowds.of_market(market).has_returns

    def _chooser(self, transaction: Transaction, request: Request) -> sqlite3.Row:
        """Return the worker who sends a request, if they may choose HITs.

        Raises:
            Refusal: the worker comes by a visit, which has fixed HITs (403).
        """
        worker = self._sessions.worker_of(transaction, request)
        if worker["comes_by_visits"]:
            raise Refusal("ByVisitsOnly", "You can only do the HITs of your visit.", status=403)
        return worker


def _not_agreed() -> Refusal:
    return Refusal("NotAgreed", f"Read {agreeing.ADDRESS} and agree to it first.", status=403)


def _is_row_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18  # noqa: PLR2004 - an SQLite integer
