"""The pages of items about which workers disagree, and of words that cleaning would change."""

from functools import partial
from typing import TypedDict
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from piecework.domain.errors import ConfigError
from piecework.domain.verdicts import Label, WordVerdict
from piecework.foundation.signin.person import may
from piecework.results.cleaning import clean_answers, decide_word, reopen_word, words_shown
from piecework.results.item_labels import Doubtful, doubtful, settle_label, unsettle_label
from piecework.review.model.cards import cut
from piecework.review.model.reviewing import group_of
from piecework.review.pages import Parts, redirect
from piecework.review.sessions import Session
from piecework.store.results import OPEN, DecidedSince, mark_of, may_replace


class LabelPages:
    """The pages on which a person settles the least certain labels."""

    def __init__(self, parts: Parts) -> None:
        self._parts, self._opened = parts, parts.desk.opened

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        return [
            self._parts.get("/labels", self.labels),
            self._parts.get("/label", self.label),
            self._parts.post("/label", self.settle),
        ]

    def labels(self, _request: Request, session: Session) -> Response:
        """Show the open labels, the least certain first, then the settled ones."""
        doubts = doubtful(self._opened)
        return self._parts.page(
            "labels.html.j2",
            session,
            view="labels",
            waiting=[doubt for doubt in doubts if doubt.settled is None],
            settled=[doubt for doubt in doubts if doubt.settled is not None],
            label_address=_address_of_item,
        )

    def label(self, request: Request, session: Session) -> Response:
        """Show an item with its answers and its possible labels."""
        query = request.query_params
        return self._label(query.get("item", ""), query.get("field", ""), session)

    def _label(self, item_id: str, field: str, session: Session, *, status: int = 200) -> Response:
        doubts = doubtful(self._opened)
        names = [(doubt.item_id, doubt.field) for doubt in doubts]
        if (item_id, field) not in names:
            raise HTTPException(404)
        number = names.index((item_id, field))
        behind = [doubt for doubt in doubts[number + 1 :] if doubt.settled is None]
        work = self._parts.desk.work
        group = group_of(work, "item", item_id)
        answers = [] if group is None else [
            (work.pseudonym_of(row), cut(work.answered(row))) for row in group.rows
        ]  # fmt: skip
        return self._parts.page(
            "label.html.j2",
            session,
            status=status,
            view="labels",
            doubt=doubts[number],
            mark=mark_of(doubts[number].settled),
            may_change=may_replace(doubts[number].settled, **_person(session)),
            after=_address_of_item(behind[0]) if behind else "/labels",
            answers=answers,
            left=sum(doubt.settled is None for doubt in doubts),
        )

    def settle(self, request: Request, session: Session) -> Response:
        """Settle a label, or reopen it, and redirect to the next."""
        form = self._parts.form(request, session)
        item_id, field = form.get("item", ""), form.get("field", "")
        person, seen = _person(session), form.get("seen", OPEN)
        try:
            if form.get("what") == "again":
                unsettle_label(self._opened, item_id, field, seen=seen, **person)
            else:
                value = form.get("value", "")
                settle_label(self._opened, item_id, field, value, seen=seen, **person)
                session.notices.append(("done", "Settled."))
        except DecidedSince as late:
            session.notices.append(("fault", f"Not stored: {_in_words(late)}."))
            return self._label(item_id, field, session, status=409)
        except ConfigError as refusal:
            session.notices.append(("fault", f"Not stored: {refusal}."))
        waiting = [doubt for doubt in doubtful(self._opened) if doubt.settled is None]
        return redirect(_address_of_item(waiting[0]) if waiting else "/labels")


class _Person(TypedDict):
    """Who decides, as `results.overwriting` asks for it."""

    by: str
    is_requester: bool


def _person(session: Session) -> _Person:
    return {"by": session.reviewer, "is_requester": may(session.role, "requester")}


def _in_words(late: DecidedSince) -> str:
    match late.stored:
        case Label(value=value, reviewer=reviewer):
            return f"{reviewer} has settled it as {value} meanwhile"
        case WordVerdict(word=word, meant=meant, reviewer=reviewer):
            what = "is right here" if meant is None else f"means {meant}"
            return f"{reviewer} has decided meanwhile that {word} {what}"
    return "it was reopened meanwhile"


def _address_of_item(doubt: Doubtful) -> str:
    return f"/label?{urlencode({'item': doubt.item_id, 'field': doubt.field})}"


_LISTED = 50


class WordPage:
    """The page on which a person accepts, refuses or retypes each proposed word."""

    def __init__(self, parts: Parts) -> None:
        self._parts, self._opened = parts, parts.desk.opened

    def routes(self) -> list[Route]:
        """Return the routes of this page."""
        return [
            self._parts.get("/words", self.words),
            self._parts.post("/words", self.say),
            self._parts.post("/words/find", self.find),
        ]

    def words(self, _request: Request, session: Session) -> Response:
        """Show the words, those without a verdict first."""
        return self._words(session)

    def _words(self, session: Session, *, status: int = 200) -> Response:
        shown = words_shown(self._opened)
        waiting = [entry for entry in shown if entry.verdict is None]
        return self._parts.page(
            "words.html.j2",
            session,
            status=status,
            view="words",
            mark_of=mark_of,
            may_change=partial(may_replace, **_person(session)),
            waiting=waiting[:_LISTED],
            left=len(waiting),
            judged=[entry for entry in shown if entry.verdict is not None],
        )

    def say(self, request: Request, session: Session) -> Response:
        """Store the reviewer's verdict about a word."""
        form = self._parts.form(request, session)
        word, what = form.get("word", ""), form.get("what", "")
        meant = {"accept": form.get("after"), "type": form.get("typed")}.get(what)
        person, seen = _person(session), form.get("seen", OPEN)
        try:
            if what == "again":
                reopen_word(self._opened, word, seen=seen, **person)
            else:
                meant = None if what == "right" else meant or ""
                decide_word(self._opened, word, meant=meant, seen=seen, **person)
        except DecidedSince as late:
            session.notices.append(("fault", f"Not stored: {_in_words(late)}."))
            return self._words(session, status=409)
        except ConfigError as refusal:
            session.notices.append(("fault", f"Not stored: {refusal}."))
        return redirect("/words")

    def find(self, request: Request, session: Session) -> Response:
        """Clean all texts again, with the verdicts about words so far."""
        self._parts.form(request, session)
        number = clean_answers(self._opened)
        session.notices.append(("done", f"Cleaning proposes {number} edits."))
        return redirect("/words")
