"""The worker site: find, accept and do HITs and get paid, as pages or JSON.

Endpoints read the request, do one transaction and answer; `assignment_actions` decides
what is allowed. The answer is sent when the transaction is durable (`GroupCommit`). If the
marketplace has a text for consent, its page is read before the first HIT. Workers report a
problem with a HIT without leaving its page.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from piecework.marketplace import languages
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.languages import say
from piecework.marketplace.state import accounts, clock, messages, visits
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import assignment_actions, discovery, history, open_links, pages
from piecework.marketplace.workers.entering import NOT_TICKED, OTHER_TEXT, Admittance, Crowds
from piecework.marketplace.workers.frames import Submitting, framed_page
from piecework.marketplace.workers.pages import STATIC, render_page
from piecework.marketplace.workers.pictures import Pictures
from piecework.marketplace.workers.qualification_site import Qualifications
from piecework.marketplace.workers.sign_in import (
    CALLBACK,
    Endpoints,
    Form,
    Joining,
    ProviderSignIn,
    SignIn,
    action,
    form,
    page,
)
from piecework.marketplace.workers.visit_site import HOME, Visits

_GROUP = "/worker/groups/{group_id}"
_ASSIGNMENT = "/worker/assignments/{assignment_id}"


@dataclass(frozen=True)
class Site(Endpoints):
    """The worker site of one marketplace.

    Attributes:
        pictures: what it serves as `/pictures/`.
        admittance: who may work, and how they come in.
    """

    pictures: Pictures
    admittance: Admittance

    def routes(self) -> list[BaseRoute]:
        """Return all routes of the site."""
        parts = self.backend, self.origins, self.sessions
        admittance, provider = self.admittance, None
        if admittance.provider_at is not None:
            at_provider = admittance.provider_at(f"{self.origins.site}{CALLBACK}")
            provider = ProviderSignIn(*parts, at_provider)
        own: list[Endpoints] = [
            *([Visits(*parts, self._crowds)] if self._crowds else ()),
            SignIn(*parts, provider),
            *([provider] if provider else ()),
            Joining(*parts),
            *([ConsentPage(*parts, admittance.consent)] if admittance.consent else ()),
            Submitting(*parts, self.pictures),
            Qualifications(*parts, self.pictures),
        ]
        return [
            *(route for endpoints in own for route in endpoints.routes()),
            *super().routes(),
            Mount("/worker/static", StaticFiles(directory=STATIC)),
        ]

    @cached_property
    def _crowds(self) -> Crowds | None:
        return Crowds(self.admittance.crowds) if self.admittance.crowds else None

    @page("/worker/hits")
    async def hits(self, request: Request) -> Response:
        """List all groups with HITs for this worker; people may search and sort."""
        prices = self.backend.rules.prices
        wishes = discovery.read_wishes(request.query_params, sign=prices.sign)
        with self.at_work(request) as (transaction, worker):
            if worker["comes_by_visits"]:
                return pages.redirect(HOME)
            groups = discovery.visible_groups(transaction, worker)
            if pages.wants_json(request):
                return JSONResponse({"hit_groups": [group.to_json() for group in groups]})
            open_now = history.open_assignments(transaction, worker)
            now_ms = transaction.now_ms
            shown = discovery.sift_groups(groups, wishes)
            questions = [
                discovery.values_of_next_question(transaction, worker, group)
                for group in shown.groups
            ]
        return render_page(
            "hits.html.j2",
            prices=prices,
            shown=shown,
            thumbnails=[self.pictures.thumbnail(question) for question in questions],
            total=len(groups),
            wishes=wishes,
            orders=discovery.ORDERS,
            open=open_now,
            now_ms=now_ms,
        )

    @page(f"{_GROUP}/preview")
    async def preview(self, request: Request) -> Response:
        """Show a HIT of the group before it is accepted."""
        group_id = request.path_params["group_id"]
        with self.backend.transaction() as transaction:
            worker = self._chooser(transaction, request)
            hit = assignment_actions.preview(
                transaction, worker, group_id, hit_id=request.query_params.get("hit_id")
            )
            group = discovery.visible_group(transaction, worker, group_id)
        if pages.wants_json(request):
            address = assignment_actions.frame_url(hit, self.origins)
            return JSONResponse({"hit_id": hit["hit_id"], "frame_url": address})
        return framed_page(
            self.origins, "preview.html.j2", hit, group=group, prices=self.backend.rules.prices
        )

    @form(f"{_GROUP}/accept")
    async def accept(self, request: Request, form: Form) -> Response:
        """Accept a HIT."""
        hit_id = form.get("hit_id") or request.query_params.get("hit_id")
        try:
            with self.backend.transaction() as transaction:
                worker = self._chooser(transaction, request)
                group_id = request.path_params["group_id"]
                if not accounts.has_consented(transaction, worker, self.admittance.consent):
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
                    row, self.origins, assignment_id=assignment_id, worker_id=worker["worker_id"]
                ),
            },
            status_code=201,
        )

    @page(_ASSIGNMENT)
    async def assignment(self, request: Request) -> Response:
        """Show the page around an accepted HIT, or its outcome."""
        with self.at_work(request) as (transaction, worker):
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
        return framed_page(
            self.origins,
            template if row["status"] == "Accepted" else "over.html.j2",
            row,
            worker=worker,
            status=200 if row["status"] == "Accepted" else 409,
            prices=self.backend.rules.prices,
            assignment=row,
            seconds_left=max(0, (row["deadline_ms"] - now_ms) // clock.SECOND),
            ticks=self.backend.rules.time_passes,
            auto=request.query_params.get("auto") == "1",
            can_again=can_again,
            parts=parts,
            has_returns=self._has_returns(market),
        )

    @page(f"{_ASSIGNMENT}/time")
    async def time(self, request: Request) -> Response:
        """Return an assignment's remaining time by the server's clock."""
        with self.at_work(request) as (transaction, worker):
            row = assignment_actions.own_assignment(
                transaction, worker, request.path_params["assignment_id"]
            )
            now_ms = transaction.now_ms
        left = max(0, (row["deadline_ms"] - now_ms) // clock.SECOND)
        # A part of a visit is sent with the last part.
        is_answered = row["status"] == "Accepted" and row["answered_ms"] is not None
        status = "Submitted" if is_answered else row["status"]
        return JSONResponse(
            {"status": status, "seconds_left": left if status == "Accepted" else 0},
            headers={"Cache-Control": "no-store"},
        )

    @action(f"{_ASSIGNMENT}/return")
    async def give_back(self, request: Request) -> Response:
        """Return an accepted HIT."""
        assignment_id = request.path_params["assignment_id"]
        with self.at_work(request) as (transaction, worker):
            assignment_actions.give_back(transaction, worker, assignment_id)
        if pages.wants_json(request):
            return JSONResponse({"assignment_id": assignment_id, "status": "Returned"})
        return pages.redirect("/worker/hits")

    @page("/worker/history")
    async def history(self, request: Request) -> Response:
        """Show the worker's work and earnings."""
        state = request.query_params.get("state", "all")
        state = state if state in history.STATES else "all"
        before = request.query_params.get("before", "")
        with self.at_work(request) as (transaction, worker):
            if worker["comes_by_visits"]:
                return pages.redirect(HOME)  # A session opens only its own visit.
            entries = history.latest_work(
                transaction, worker, state=state, before=int(before) if _is_row_id(before) else None
            )
            days = history.by_day(transaction, worker)
            earnings = history.earnings(transaction, worker)
            inbox = history.messages(transaction, worker)
            compensations = history.compensations(transaction, worker)
            completion = open_links.completion(transaction, worker)
            now_ms = transaction.now_ms
        return render_page(
            "history.html.j2",
            prices=self.backend.rules.prices,
            entries=entries[: history.SHOWN],
            has_more=len(entries) > history.SHOWN,
            state=state,
            states=history.STATES,
            days=days,
            earnings=earnings,
            messages=inbox,
            compensations=compensations,
            objection_ends_ms=now_ms - messages.OVERRIDE_DAYS * clock.DAY,
            completion=completion,
            worker_id=worker["worker_id"],
        )

    @form(f"{_ASSIGNMENT}/problem")
    async def report(self, request: Request, form: Form) -> Response:
        """Store a worker's report about a HIT that they have or had."""
        with self.at_work(request) as (transaction, worker):
            row = assignment_actions.own_assignment(
                transaction, worker, request.path_params["assignment_id"]
            )
            messages.keep_problem(transaction, worker, row, form.get("text", ""))
        if pages.wants_json(request):
            return JSONResponse({"reported": True}, status_code=201)
        return render_page("reported.html.j2", assignment=row)

    @form("/worker/language")
    async def choose_language(self, _request: Request, form: Form) -> Response:
        """Store the language of a menu in a cookie, and show the page again in it."""
        reply = pages.redirect_on_site(form.get("to", ""))
        language = form.get("language", "")
        if language in languages.languages():
            reply.set_cookie(languages.CHOSEN, language, httponly=True, samesite="lax", path="/")
        return reply

    @form(f"{_ASSIGNMENT}/objection")
    async def object(self, request: Request, form: Form) -> Response:
        """Store what a worker writes about a rejection."""
        with self.at_work(request) as (transaction, worker):
            row = assignment_actions.own_assignment(
                transaction, worker, request.path_params["assignment_id"]
            )
            messages.keep_objection_to_rejection(transaction, worker, row, form.get("text", ""))
        if pages.wants_json(request):
            return JSONResponse({"saved": True}, status_code=201)
        return pages.redirect(f"/worker/history?state=rejected#{row['assignment_id']}")

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
        worker = self.sessions.worker_of(transaction, request)
        if worker["comes_by_visits"]:
            raise Refusal("ByVisitsOnly", "You can only do the HITs of your visit.", status=403)
        return worker


def _not_agreed() -> Refusal:
    return Refusal("NotAgreed", f"Read {CONSENT_ADDRESS} and agree to it first.", status=403)


def _is_row_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18  # noqa: PLR2004 - an SQLite integer


CONSENT_ADDRESS = "/worker/consent"


@dataclass(frozen=True)
class ConsentPage(Endpoints):
    """Consent to one marketplace's text.

    Attributes:
        paragraphs: the text.
    """

    paragraphs: Sequence[str]

    @page(CONSENT_ADDRESS)
    async def ask(self, request: Request) -> Response:
        """Show the text, and whether the worker has agreed."""
        with self.at_work(request) as (transaction, worker):
            is_given = accounts.has_consented(transaction, worker, self.paragraphs)
        return self._page(worker, request.query_params.get("group", ""), is_given=is_given)

    @form(CONSENT_ADDRESS)
    async def agree(self, request: Request, form: Form) -> Response:
        """Store the consent with its time, and continue to the page before."""
        group = form.get("group", "")
        # The text may have changed since the page was opened.
        is_this = form.get("text") == accounts.digest_consent(self.paragraphs)
        with self.at_work(request) as (transaction, worker):
            if is_this and form.get("agreed") == "1":
                accounts.give_consent(transaction, worker, self.paragraphs)
                complaint = ""
            else:
                complaint = NOT_TICKED if is_this else OTHER_TEXT
        if complaint:
            return self._page(worker, group, is_given=False, complaint=complaint, status=400)
        if pages.wants_json(request):
            return JSONResponse({"agreed": True})
        return pages.redirect_to_group(group)

    def _page(
        self,
        worker: sqlite3.Row,
        group: str,
        *,
        is_given: bool,
        complaint: str = "",
        status: int = 200,
    ) -> Response:
        return render_page(
            "consent.html.j2",
            status=status,
            worker_id=worker["worker_id"],
            complaint=say(complaint) if complaint else "",
            paragraphs=self.paragraphs,
            text=accounts.digest_consent(self.paragraphs),
            group=group,
            is_given=is_given,
        )


def consent_address(group_id: str) -> str:
    """Return the consent page's address for a worker who wants a HIT of a group."""
    return f"{CONSENT_ADDRESS}?{urlencode({'group': group_id})}"
