"""The worker site: find, accept and do HITs and get paid, as pages or JSON.

Endpoints read the request, do one transaction and answer; `assignment_actions` decides
what is allowed. The answer is sent when the transaction is durable (`GroupCommit`). If the
marketplace has a text for consent, its page is read before the first HIT. Workers report a
problem with a HIT without leaving its page.
"""

import sqlite3
from collections.abc import Sequence
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state import accounts, clock, messages, visits
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import assignment_actions, discovery, history, open_links, pages
from piecework.marketplace.workers.entering import Admittance, Crowds
from piecework.marketplace.workers.frames import Framing, Submitting
from piecework.marketplace.workers.pages import STATIC, Origins, render_page
from piecework.marketplace.workers.pictures import Pictures
from piecework.marketplace.workers.qualification_site import Qualifications
from piecework.marketplace.workers.sessions import Sessions
from piecework.marketplace.workers.sign_in import CALLBACK, Joining, ProviderSignIn, SignIn
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
            *ConsentPage(*parts, self._consent).routes(),
            *ProblemReports(*parts).routes(),
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
        wishes = discovery.read_wishes(request.query_params, sign=prices.sign)
        with self._backend.transaction() as transaction:
            worker = self._sessions.worker_of(transaction, request)
            if worker["comes_by_visits"]:
                return pages.redirect(HOME)
            groups = discovery.visible_groups(transaction, worker)
            open_now = history.open_assignments(transaction, worker)
            now_ms = transaction.now_ms
        if pages.wants_json(request):
            return JSONResponse({"hit_groups": [group.to_json() for group in groups]})
        return render_page(
            "hits.html.j2",
            prices=prices,
            shown=discovery.sift_groups(groups, wishes),
            total=len(groups),
            wishes=wishes,
            orders=discovery.ORDERS,
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
            group = discovery.visible_group(transaction, worker, group_id)
        if pages.wants_json(request):
            address = assignment_actions.frame_url(hit, self._origins)
            return JSONResponse({"hit_id": hit["hit_id"], "frame_url": address})
        return self._framing.page(
            "preview.html.j2", hit, group=group, prices=self._backend.rules.prices
        )

    async def accept(self, request: Request) -> Response:
        """Accept a HIT."""
        pages.check_origin(request, (self._origins.site,))
        form = dict(await pages.read_fields(request))
        hit_id = form.get("hit_id") or request.query_params.get("hit_id")
        try:
            with self._backend.transaction() as transaction:
                worker = self._chooser(transaction, request)
                group_id = request.path_params["group_id"]
                if not accounts.has_consented(transaction, worker, self._consent):
                    raise _not_agreed()
                assignment_id = assignment_actions.accept(
                    transaction, worker, group_id, hit_id=hit_id
                )
                row = assignment_actions.own_assignment(transaction, worker, assignment_id)
        except Refusal as refusal:
            if refusal.kind == "NoHitsAvailable" and form.get("after"):
                # Automatic accepting ends with thanks, not with an error.
                query = urlencode({"of": form["after"]})
                return pages.redirect(f"/worker/thanks?{query}")
            if refusal.kind == "NotAgreed" and not pages.wants_json(request):
                return pages.redirect(consent_address(request.path_params["group_id"]))
            raise
        if not pages.wants_json(request):
            auto = "?auto=1" if form.get("auto") else ""
            return pages.redirect(f"/worker/assignments/{assignment_id}{auto}")
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
            if row["status"] != "Accepted" and pages.wants_json(request):
                raise assignment_actions.not_open(row)
            can_again = assignment_actions.may_take_again(transaction, worker, row)
            parts = visits.parts(transaction, row["visit"]) if row["visit"] else []
            market = visits.market_of(transaction, worker) if parts else ""
            now_ms = transaction.now_ms
        is_over = row["status"] != "Accepted" or row["answered_ms"] is not None
        if parts and is_over:
            return pages.redirect(HOME)
        template = "visit_hit.html.j2" if parts else "assignment.html.j2"
        if row["submitted_ms"] is not None:
            return render_page("submitted_already.html.j2", status=409, assignment=row)
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
        pages.check_origin(request, (self._origins.site,))
        assignment_id = request.path_params["assignment_id"]
        with self._backend.transaction() as transaction:
            worker = self._sessions.worker_of(transaction, request)
            assignment_actions.give_back(transaction, worker, assignment_id)
        if pages.wants_json(request):
            return JSONResponse({"assignment_id": assignment_id, "status": "Returned"})
        return pages.redirect("/worker/hits")

    async def history(self, request: Request) -> Response:
        """Show the worker's work and earnings."""
        state = request.query_params.get("state", "all")
        state = state if state in history.STATES else "all"
        before = request.query_params.get("before", "")
        with self._backend.transaction() as transaction:
            worker = self._sessions.worker_of(transaction, request)
            if worker["comes_by_visits"]:
                return pages.redirect(HOME)  # A session opens only its own visit.
            entries = history.latest(
                transaction, worker, state=state, before=int(before) if _is_row_id(before) else None
            )
            days = history.by_day(transaction, worker)
            earnings = history.earnings(transaction, worker)
            messages = history.messages(transaction, worker)
            compensations = history.compensations(transaction, worker)
            completion = open_links.completion(transaction, worker)
        return render_page(
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
    return Refusal("NotAgreed", f"Read {CONSENT_ADDRESS} and agree to it first.", status=403)


def _is_row_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18  # noqa: PLR2004 - an SQLite integer


CONSENT_ADDRESS = "/worker/consent"


class ConsentPage:
    """Consent to one marketplace's text.

    Args:
        backend: its state.
        origins: its addresses.
        sessions: who sends a request.
        paragraphs: the text; empty if no consent is needed.
    """

    def __init__(
        self, backend: Backend, origins: Origins, sessions: Sessions, paragraphs: Sequence[str]
    ) -> None:
        self._backend = backend
        self._origins = origins
        self._sessions = sessions
        self._paragraphs = paragraphs

    def routes(self) -> list[Route]:
        """Return the routes of the page and its form; empty without a text."""
        if not self._paragraphs:
            return []
        return [
            Route(CONSENT_ADDRESS, self.ask, methods=["GET"]),
            Route(CONSENT_ADDRESS, self.agree, methods=["POST"]),
        ]

    async def ask(self, request: Request) -> Response:
        """Show the text, and whether the worker has agreed."""
        with self._backend.transaction() as transaction:
            worker = self._sessions.worker_of(transaction, request)
            is_given = accounts.has_consented(transaction, worker, self._paragraphs)
        return self._page(request.query_params.get("group", ""), is_given=is_given)

    async def agree(self, request: Request) -> Response:
        """Store the consent with its time, and continue to the page before."""
        pages.check_origin(request, (self._origins.site,))
        form = dict(await pages.read_fields(request))
        group = form.get("group", "")
        # The text may have changed since the page was opened.
        is_this = form.get("text") == accounts.digest_consent(self._paragraphs)
        if form.get("agreed") != "1" or not is_this:
            return self._page(group, is_given=False, status=400)
        with self._backend.transaction() as transaction:
            worker = self._sessions.worker_of(transaction, request)
            accounts.give_consent(transaction, worker, self._paragraphs)
        if pages.wants_json(request):
            return JSONResponse({"agreed": True})
        return pages.redirect_to_group(group)

    def _page(self, group: str, *, is_given: bool, status: int = 200) -> Response:
        return render_page(
            "consent.html.j2",
            status=status,
            paragraphs=self._paragraphs,
            text=accounts.digest_consent(self._paragraphs),
            group=group,
            is_given=is_given,
        )


def consent_address(group_id: str) -> str:
    """Return the consent page's address for a worker who wants a HIT of a group."""
    return f"{CONSENT_ADDRESS}?{urlencode({'group': group_id})}"


class ProblemReports:
    """The problem reports of a marketplace."""

    def __init__(self, backend: Backend, origins: Origins, sessions: Sessions) -> None:
        self._backend = backend
        self._origins = origins
        self._sessions = sessions

    def routes(self) -> list[Route]:
        """Return the route of an assignment's reports."""
        address = "/worker/assignments/{assignment_id}/problem"
        return [Route(address, self.report, methods=["POST"])]

    async def report(self, request: Request) -> Response:
        """Store a worker's report about a HIT that they have or had."""
        pages.check_origin(request, (self._origins.site,))
        form = dict(await pages.read_fields(request))
        with self._backend.transaction() as transaction:
            worker = self._sessions.worker_of(transaction, request)
            row = assignment_actions.own_assignment(
                transaction, worker, request.path_params["assignment_id"]
            )
            messages.keep_problem(transaction, worker, row, form.get("text", ""))
        if pages.wants_json(request):
            return JSONResponse({"reported": True}, status_code=201)
        return render_page("reported.html.j2", assignment=row)
