"""The pages and forms of the review; `piecework.review.model` decides."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from sqlite3 import OperationalError
from typing import Any, NamedTuple
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from piecework.domain.errors import ConfigError, StoreError
from piecework.domain.verdicts import Decision, Subject
from piecework.foundation.server import security_log
from piecework.foundation.signin.person import Role, may
from piecework.report.sections.flags import review_sentences
from piecework.results.item_labels import has_labels
from piecework.results.review_quality import overruled_most, review_quality, upheld_around
from piecework.review.desk import Desk, StoreThread, blinded, undecided
from piecework.review.labels import LabelPages, WordPage
from piecework.review.model.cards import MOST_LISTED, Reason, answers_shown, main_reason
from piecework.review.model.deciding import NEEDS_REASON
from piecework.review.model.reviewing import (
    ACTS,
    VIEWS,
    ActName,
    DecidedMeanwhile,
    Group,
    View,
    carry_out,
    give_second_opinion,
    last_act_about,
    plan,
    undo,
    undo_for,
)
from piecework.review.pages import (
    HEADERS,
    STATIC,
    Endpoint,
    Parts,
    Pictures,
    address,
    address_of_picture,
    busy_reply,
    columns_shown,
    no_such_page,
    not_allowed,
    read_fields,
    redirect,
    refusal_reply,
    render_page,
)
from piecework.review.sessions import NotAllowed, Session, Sessions
from piecework.review.sign_in import Door, SignInPages
from piecework.store import reviews

_LISTED = 100
_NUMBER = re.compile("[0-9]{1,18}")


class Row(NamedTuple):
    """A group in the list of what waits.

    Attributes:
        suspicion: the strongest in the group; 0 without.
        reason: the strongest reason; `None` without, or in a blind review.
        line: its first answer.
        item: the item of that answer.
    """

    group: Group
    suspicion: float
    reason: Reason | None
    line: str
    item: str


class Review:
    """The pages of one campaign.

    Args:
        desk: the campaign under review.
        sessions: the reviewers who may open the pages.
        door: how people sign in at a provider; `None`: only by links.
    """

    def __init__(self, desk: Desk, sessions: Sessions, door: Door | None = None) -> None:
        self._desk, self._sessions = desk, sessions
        self._store = StoreThread(desk.opened.store)
        self.sign_in = SignInPages(desk.opened, sessions, door, self._store)
        self._has_door = door is not None
        self._has_labels = has_labels(desk.opened)

    def close(self) -> None:
        """Wait for the work with the store that has begun."""
        self._store.close()

    def app(self) -> Starlette:
        """Return the application that serves the pages."""
        get, post = self._get, self._post
        parts = Parts(self._desk, self._page, self._form, get, post)
        return Starlette(
            routes=[
                Route("/enter", self._enter_page),
                Route("/enter", self._enter, methods=["POST"]),
                get("/", self.overview),
                get("/next", self.next),
                get("/card", self.card),
                *Pictures(parts).routes(),
                get("/quality", self.quality),
                post("/preview", self.preview),
                post("/decide", self.decide),
                post("/undo", self.undo),
                post("/undo-act", self.undo_act, least="requester"),
                *self.sign_in.routes(replace(parts, post=partial(post, least="reader"))),
                *WordPage(parts).routes(),
                *LabelPages(parts).routes(),
                Mount("/static", StaticFiles(directory=STATIC)),
            ],
            exception_handlers={
                NotAllowed: not_allowed,
                HTTPException: no_such_page,
                ConfigError: refusal_reply,
                OperationalError: busy_reply,
                StoreError: busy_reply,
            },
        )

    def overview(self, request: Request, session: Session) -> Response:
        """Show what waits for a person, worst first."""
        view, desk = _view(request), self._desk
        waiting = desk.waiting
        keys = desk.keys(view, by=session.decider)
        groups = [group for key in keys[:_LISTED] if (group := desk.group(view, key)) is not None]
        is_blind = desk.manner.is_blind
        by_worker: dict[str, list[Row]] = {}
        for group in groups:
            first = group.rows[0]
            worker = desk.work.pseudonym_of(first)
            row = Row(
                group=group,
                suspicion=waiting.suspicion(view, group.key),
                reason=None if is_blind else main_reason(group),
                line=desk.work.line(first),
                item=desk.work.item_id(first),
            )
            # In a blind review the order says nothing, so workers are not put together.
            is_together = view in {"answer", "assignment"} and not is_blind
            by_worker.setdefault(worker if is_together else "", []).append(row)
        return self._page(
            "overview.html.j2",
            session,
            view=view,
            by_worker=by_worker,
            decided=0 if view == "item" else reviews.number_reviewed(desk.opened.store, view),
            total=len(keys),
            is_blind=is_blind,
            objections=desk.objections(),
            campaign_file=desk.opened.campaign.path.name,
            overruled=None if is_blind else overruled_most(desk.opened),
            is_rehearsal=desk.opened.is_rehearsal,
        )

    def next(self, request: Request, session: Session) -> Response:
        """Redirect to the next card."""
        view = _view(request)
        after = request.query_params.get("after", "")
        key = self._desk.next_key(view, by=session.decider, after=after)
        if key is None:
            return redirect(f"/?{urlencode({'view': view})}")
        return redirect(address("/card", view, key))

    def card(self, request: Request, session: Session) -> Response:
        """Show a card."""
        return self._card(self._group(request), session)

    def preview(self, request: Request, session: Session) -> Response:
        """Show what an act about many answers would do."""
        # POST keeps the form's token and the reason out of the URL.
        form = self._form(request, session)
        group, act = self._group(request, form), _act(form)
        because = _reason(form)
        card = self._desk.card(group, by=session.reviewer)
        if self._desk.manner.is_blind:
            card = blinded(card)
        choice = next((choice for choice in card.choices if choice.act == act), None)
        if choice is None or choice.fault:
            return self._card(group, session, fault=choice.fault if choice else "")
        try:
            made = plan(
                group,
                act,
                because=because or next(iter(choice.reasons), "to be written"),
                by=session.reviewer,
                is_blind=self._desk.manner.is_blind,
            )
        except DecidedMeanwhile as late:
            return self._card(group, session, late=late.decisions)
        except ConfigError as refusal:
            return self._card(group, session, fault=str(refusal), because=because)
        named = {decision.subject_id for decision in (*made.chosen, *made.along)}
        work = self._desk.work
        touched = [n for n in group.rows if work.answer_id(n) in named]
        shown = touched[:MOST_LISTED]
        return self._page(
            "preview.html.j2",
            session,
            view=group.view,
            card=card,
            choice=replace(choice, follows=made.follows.sentences(self._desk.opened)),
            because=because or next(iter(choice.reasons), ""),
            touched=answers_shown(work, shown, {}),
            more=len(touched) - len(shown),
            needs_reason=ACTS[act][1] in NEEDS_REASON,
        )

    def quality(self, _request: Request, session: Session) -> Response:
        """Show how reviewers agree, and unless blind, how often they upheld flags."""
        opened, is_blind = self._desk.opened, self._desk.manner.is_blind
        quality = review_quality(opened)
        upheld = {tally.heuristic: tally for tally in quality.upheld}
        rules = [
            (rule, [upheld[name] for name in rule.any_of if name in upheld])
            for rule in (() if is_blind else opened.campaign.policy)
        ]
        return self._page(
            "quality.html.j2",
            session,
            view="measures",
            quality=quality,
            rules=rules,
            others=() if is_blind else quality.upheld,
            sentences=review_sentences(quality),
            overruled=None if is_blind else overruled_most(opened),
            card_address=partial(address, "/card"),
        )

    def decide(self, request: Request, session: Session) -> Response:
        """Store the decision of a form, and redirect to the next card."""
        form = self._form(request, session)
        group, act = self._group(request, form), _act(form)
        verdict = ACTS[act][1]
        because = _reason(form) if verdict in NEEDS_REASON else ""
        desk, by = self._desk, session.reviewer
        try:
            if desk.is_second(group, by=by) and not _waits(desk, group):
                give_second_opinion(desk.opened, group.key, verdict, because=because, by=by)
            else:
                seen, is_blind = form.get("seen", ""), desk.manner.is_blind
                carry_out(group, act, because=because, by=by, seen=seen, is_blind=is_blind)
        except DecidedMeanwhile as late:
            return self._card(group, session, late=late.decisions)
        except ConfigError as refusal:
            return self._card(group, session, fault=str(refusal), because=because)
        done = _IMPORTED_DONE if self._desk.opened.is_imported else _WORDS_DONE
        session.notices.append(("done", done[act]))
        return redirect(f"/next?{urlencode({'view': group.view})}")

    def undo(self, request: Request, session: Session) -> Response:
        """Undo the reviewer's last act, and show its card again."""
        form = self._form(request, session)
        try:
            undone = undo(self._desk.opened, by=session.reviewer)
        except ConfigError as refusal:
            session.notices.append(("fault", f"Not undone: {refusal}."))
            return redirect(f"/?{urlencode({'view': _view_of(form.get('view', ''))})}")
        first = undone[0]
        # The answer of a second opinion is decided and stays so; a blind page does not tell
        # whether a worker's exclusion is proposed.
        is_hidden = self._desk.manner.is_blind and first.subject_kind == "worker"
        again = "" if first.is_second or is_hidden else " It waits again."
        session.notices.append(("done", f"Undone.{again}"))
        key = self._desk.opened.shown_id(first.subject_kind, first.subject_id)
        return redirect(address("/card", first.subject_kind, key))

    def undo_act(self, request: Request, session: Session) -> Response:
        """Undo the newest act about a card, also another person's."""
        form = self._form(request, session)
        group, act = self._group(request, form), form.get("act", "")
        try:
            number = int(act) if _NUMBER.fullmatch(act) else 0
            undo_for(group, act=number, by=session.reviewer)
            session.notices.append(("done", "Undone. It waits again."))
        except ConfigError as refusal:
            session.notices.append(("fault", f"Not undone: {refusal}."))
        return redirect(address("/card", group.view, group.key))

    def _card(
        self,
        group: Group,
        session: Session,
        *,
        fault: str = "",
        because: str = "",
        late: Sequence[tuple[Decision, int]] | None = None,
    ) -> Response:
        desk, by = self._desk, session.decider
        is_second = not _waits(desk, group) and desk.is_second(group, by=by)
        card = desk.card(group, by=by)
        if is_second:
            card = undecided(card)
        if desk.manner.is_blind or is_second:
            card = blinded(card)
        # Proposed acts come first, then the acts whose reason the worker reads.
        choices = sorted(
            card.choices, key=lambda choice: (not choice.proposed, _ORDER_OF_ACTS.index(choice.act))
        )
        reasons = [reason for choice in choices for reason in choice.reasons]
        return self._page(
            "card.html.j2",
            session,
            status=422 if fault else 200 if late is None else 409,
            card=card,
            view=group.view,
            fault=fault,
            late=late,
            is_second=is_second,
            is_blind=desk.manner.is_blind,
            agreed=upheld_around(desk.opened, desk.work, _subjects(group))
            if card.size <= MOST_LISTED
            and all(answer.verdict for answer in card.answers)
            and not (is_second or desk.manner.is_blind)
            else (),
            undoable=None if is_second else self._undoable(group, session),
            because=because or next(iter(reasons), ""),
            reasons=list(dict.fromkeys(reasons)),
            left=len(desk.keys(group.view, by=by)),
            longest=desk.opened.capabilities.longest_reason,
        )

    def _undoable(self, group: Group, session: Session) -> tuple[int, str] | None:
        """Return the act that the person may undo on a card, and its author."""
        if not may(session.role, "requester"):
            return None
        return last_act_about(group)

    def _page(
        self,
        template: str,
        session: Session,
        *,
        status: int = 200,
        **values: Any,  # noqa: ANN401 - what templates show
    ) -> Response:
        notices, session.notices = session.notices, []
        campaign = self._desk.opened.campaign
        return render_page(
            template,
            status=status,
            hosts=self._desk.picture_hosts,
            campaign=campaign.name,
            reviewer=session.reviewer,
            role=session.role,
            may_decide=bool(session.decider),
            form_token=session.form_token,
            notices=notices,
            address=address,
            picture=partial(address_of_picture, self._desk),
            columns=partial(columns_shown, self._desk),
            acts=_WORDS,
            views=VIEWS,
            has_labels=self._has_labels,
            is_imported=self._desk.opened.is_imported,
            counts={view: self._desk.waiting.count(view) for view in VIEWS},
            **values,
        )

    def _group(self, request: Request, form: dict[str, str] | None = None) -> Group:
        parameters = request.query_params if form is None else form
        group = self._desk.group(_view_of(parameters.get("view", "")), parameters.get("key", ""))
        if group is None:
            raise HTTPException(404)
        return group

    def _form(self, request: Request, session: Session) -> dict[str, str]:
        form: dict[str, str] = request.state.form
        self._sessions.check_form(session, form.get("form_token", ""))
        return form

    def _get(self, path: str, endpoint: Endpoint) -> Route:
        return Route(path, self._guarded(endpoint, "reader"))

    def _post(self, path: str, endpoint: Endpoint, *, least: Role = "reviewer") -> Route:
        return Route(path, self._guarded(endpoint, least), methods=["POST"])

    def _guarded(self, endpoint: Endpoint, least: Role) -> Callable[[Request], Awaitable[Response]]:
        async def guarded(request: Request) -> Response:
            self._sessions.check(request)
            try:
                session = self._sessions.of(request)
            except NotAllowed as fault:
                if not self._has_door:
                    raise
                return self.sign_in.asked(request, str(fault))
            self._sessions.check_role(session, least)
            if request.method == "POST":
                request.state.form = await read_fields(request)
            reply = await self._store.run(partial(endpoint, request, session))
            return reply if isinstance(reply, Response) else await reply

        return guarded

    async def _enter_page(self, request: Request) -> Response:
        self._sessions.check(request)
        return render_page("enter.html.j2")

    async def _enter(self, request: Request) -> Response:
        self._sessions.check(request)
        token = (await read_fields(request)).get("token", "")
        value, session = self._sessions.enter(token)
        await self._store.run(
            partial(self.sign_in.record, "signed in", session.identity, "by a link")
        )
        security_log.write(request.scope, "signed_in", reviewer=session.reviewer)
        reply = Response(status_code=204, headers=HEADERS)
        self._sessions.set_cookie(reply, value)
        return reply


_WORDS: dict[ActName, tuple[str, str]] = {
    "keep": ("k", "Keep"),
    "drop": ("d", "Drop"),
    "approve": ("a", "Approve"),
    "reject": ("r", "Reject"),
    "exclude": ("x", "Exclude worker"),
    "stay": ("w", "Keep worker"),
}
"""The key and the label of each act."""

_ORDER_OF_ACTS: tuple[ActName, ...] = ("reject", "drop", "exclude", "stay", "keep", "approve")

_WORDS_DONE: dict[ActName, str] = {
    "keep": "Kept.",
    "drop": "Dropped; it is paid unless its assignment is rejected.",
    "approve": "Approved; the next pass pays.",
    "reject": "Rejected; the next pass tells the worker.",
    "exclude": "Excluded from later HITs.",
    "stay": "The worker is not excluded.",
}

_IMPORTED_DONE: dict[ActName, str] = _WORDS_DONE | {
    "drop": "Dropped.",
    "approve": "Approved.",
    "reject": "Rejected.",
    "exclude": "Excluded.",
}
"""For imported results: their workers are not paid or told."""


def _subjects(group: Group) -> list[Subject]:
    return [(kind, name) for kind, names in group.subjects.items() for name in names]


def _waits(desk: Desk, group: Group) -> bool:
    return any(
        ("answer", str(desk.work.answer_id(number))) in desk.waiting.proposals
        for number in group.rows
    )


def _view_of(text: str) -> View:
    return next((view for view in VIEWS if view == text), "answer")


def _view(request: Request) -> View:
    return _view_of(request.query_params.get("view", ""))


def _reason(form: dict[str, str]) -> str:
    """Return the reason of a form as it is stored: on one line."""
    return " ".join(form.get("because", "").split())


def _act(parameters: Any) -> ActName:  # noqa: ANN401 - a form or a query
    act = next((act for act in ACTS if act == parameters.get("act", "")), None)
    if act is None:
        raise HTTPException(422, "This form has an unknown action.")
    return act
