"""The worker site's pages on qualifications: the list, requests, tests."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.forms.patterns import Verdicts, with_verdicts
from piecework.marketplace.forms.schema import read_form
from piecework.marketplace.state import clock, messages
from piecework.marketplace.workers import form_views, hit_forms, pages, qualifying
from piecework.marketplace.workers.pages import render_page
from piecework.marketplace.workers.pictures import Pictures
from piecework.marketplace.workers.sign_in import Endpoints, Form, action, form, page

_LONGEST_SEARCH = 200
_LONGEST_ID = 18
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self' http: https:; media-src http: https:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'self'"
)

_PATH = "/worker/qualifications/{type_id}"


@dataclass(frozen=True)
class Qualifications(Endpoints):
    """Qualifications on the site of one marketplace."""

    pictures: Pictures

    @page("/worker/qualifications")
    async def all(self, request: Request) -> Response:
        """Show what the worker holds, and what is offered."""
        words = request.query_params.get("q", "").strip()[:_LONGEST_SEARCH]
        before = request.query_params.get("before", "")
        is_id = before.isascii() and before.isdigit() and len(before) <= _LONGEST_ID
        with self.at_work(request) as (transaction, worker):
            offers = qualifying.list_offers(
                transaction, worker, words=words, before=int(before) if is_id else 2**63 - 1
            )
            held = qualifying.list_held(transaction, worker)
            lost = [
                (row, messages.objections_of_worker(transaction, worker, row["id"]))
                for row in messages.list_lost_qualifications(transaction, worker)
            ]
        shown = offers[: qualifying.SHOWN]
        following = shown[-1].row["id"] if len(offers) > len(shown) else None
        if pages.wants_json(request):
            return JSONResponse(
                {
                    "held": [_held_to_json(row) for row in held],
                    "lost": [_lost_to_json(row, texts) for row, texts in lost],
                    "offered": [offer.to_json() for offer in shown],
                    "before": following,
                }
            )
        return render_page(
            "qualifications.html.j2",
            held=held,
            lost=lost,
            offers=shown,
            words=words,
            following=following,
        )

    @form(f"{_PATH}/request")
    async def ask(self, request: Request, form: Form) -> Response:
        """Request a qualification; begin its test if it has one."""
        type_id = request.path_params["type_id"]
        test = f"/worker/qualifications/{type_id}/test"
        with self.at_work(request) as (transaction, worker):
            offer = qualifying.find_offer(transaction, worker, type_id)
            is_person = not pages.wants_json(request)
            if is_person and "begin" not in form and offer.row["test"] is not None:
                # The worker first reads how much time they have.
                return pages.redirect(test)
            status = qualifying.request_qualification(transaction, worker, type_id)
        is_test = status == "Testing"
        if pages.wants_json(request):
            return JSONResponse({"status": status, **({"test": test} if is_test else {})})
        return pages.redirect(test if is_test else "/worker/qualifications")

    @form(f"{_PATH}/objection")
    async def object(self, request: Request, form: Form) -> Response:
        """Store what a worker writes about a qualification that they lost."""
        type_id = request.path_params["type_id"]
        with self.at_work(request) as (transaction, worker):
            messages.keep_objection(transaction, worker, type_id, form.get("text", ""))
        if pages.wants_json(request):
            return JSONResponse({"saved": True}, status_code=201)
        return pages.redirect(f"/worker/qualifications#{type_id}")

    @page(f"{_PATH}/test")
    async def test(self, request: Request) -> Response:
        """Show the test that was begun, or the page to begin it."""
        type_id = request.path_params["type_id"]
        with self.at_work(request) as (transaction, worker):
            try:
                row = qualifying.find_attempt(transaction, worker, type_id)
            except Refusal:
                if pages.wants_json(request):
                    raise
                offer = qualifying.find_offer(transaction, worker, type_id)
                return render_page("test_start.html.j2", offer=offer, by_visit=_by_visit(worker))
            now_ms = transaction.now_ms
        if pages.wants_json(request):
            return JSONResponse(_test_to_json(row))
        return self._form(row, now_ms, by_visit=_by_visit(worker))

    @action(f"{_PATH}/test")
    async def submit(self, request: Request) -> Response:
        """Take the answers to a test."""
        type_id = request.path_params["type_id"]
        fields = await pages.read_fields(request)

        def submit(verdicts: Verdicts) -> tuple[qualifying.Outcome, bool]:
            with self.at_work(request) as (transaction, worker):
                outcome = qualifying.submit_test(transaction, worker, type_id, fields, verdicts)
            return outcome, _by_visit(worker)

        try:
            outcome, by_visit = await with_verdicts(submit)
        except hit_forms.UnfinishedForm as unfinished:
            if pages.wants_json(request):
                return hit_forms.refusal_document(unfinished)
            return self._again(request, fields, unfinished)
        except Refusal as refusal:
            if pages.wants_json(request) or refusal.kind == "TwoSessions":
                raise
            return hit_forms.unsent_page(fields, refusal)
        if pages.wants_json(request):
            value = {} if outcome.value is None else {"value": outcome.value}
            return JSONResponse({"status": outcome.status, **value})
        return render_page("test_done.html.j2", outcome=outcome, by_visit=by_visit)

    def _again(
        self,
        request: Request,
        fields: Sequence[tuple[str, str]],
        unfinished: hit_forms.UnfinishedForm,
    ) -> Response:
        with self.at_work(request) as (transaction, worker):
            row = qualifying.find_attempt(transaction, worker, request.path_params["type_id"])
            now_ms = transaction.now_ms
        return self._form(
            row, now_ms, by_visit=_by_visit(worker), fields=fields, unfinished=unfinished
        )

    def _form(
        self,
        row: sqlite3.Row,
        now_ms: int,
        *,
        by_visit: bool,
        fields: Sequence[tuple[str, str]] = (),
        unfinished: hit_forms.UnfinishedForm | None = None,
    ) -> Response:
        form = self.pictures.signed_form(read_form(row["form"]), row["duration_seconds"])
        shown = form_views.shown(form)
        if unfinished is not None:
            typed = hit_forms.typed_values(fields)
            shown = form_views.shown(form, typed, unfinished.complaints)
        reply = render_page(
            "test.html.j2",
            status=200 if unfinished is None else unfinished.status,
            attempt=row,
            shown=shown,
            seconds_left=max(0, (row["deadline_ms"] - now_ms) // clock.SECOND),
            ticks=self.backend.rules.time_passes,
            by_visit=by_visit,
        )
        reply.headers["Content-Security-Policy"] = _POLICY
        return reply


def _by_visit(worker: sqlite3.Row) -> bool:
    """Return whether the worker comes by visits, and so has no lists."""
    return bool(worker["comes_by_visits"])


def _held_to_json(row: sqlite3.Row) -> dict[str, object]:
    return {
        "qualification_type_id": row["qualification_type_id"],
        "name": row["name"],
        "value": row["value"],
        "granted_at": clock.to_datetime(row["granted_ms"]).isoformat(),
    }


def _lost_to_json(row: sqlite3.Row, texts: Sequence[sqlite3.Row]) -> dict[str, object]:
    return {
        "qualification_type_id": row["qualification_type_id"],
        "name": row["name"],
        "was_held": bool(row["was_held"]),
        "lost_at": clock.to_datetime(row["lost_ms"]).isoformat(),
        "reason": row["reason"],
        "objections": [text["text"] for text in texts],
    }


def _test_to_json(row: sqlite3.Row) -> dict[str, object]:
    return {
        "qualification_type_id": row["qualification_type_id"],
        "name": row["name"],
        "started_at": clock.to_datetime(row["started_ms"]).isoformat(),
        "deadline": clock.to_datetime(row["deadline_ms"]).isoformat(),
        "test": row["form"],
        "questions": qualifying.questions_to_json(read_form(row["form"])),
    }
