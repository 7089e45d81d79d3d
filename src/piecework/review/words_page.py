"""The page of words that cleaning would change."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from piecework.domain.errors import ConfigError
from piecework.results.cleaning import clean_answers, decide_word, reopen_word, words_shown
from piecework.review.parts import Parts
from piecework.review.replies import moved
from piecework.review.sessions import Session

_LISTED = 50


class Words:
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
        shown = words_shown(self._opened)
        waiting = [entry for entry in shown if entry.verdict is None]
        return self._parts.page(
            "words.html.j2",
            session,
            view="words",
            waiting=waiting[:_LISTED],
            left=len(waiting),
            judged=[entry for entry in shown if entry.verdict is not None],
        )

    def say(self, request: Request, session: Session) -> Response:
        """Store the reviewer's verdict about a word."""
        form = self._parts.form(request, session)
        word, what = form.get("word", ""), form.get("what", "")
        meant = {"accept": form.get("after"), "type": form.get("typed")}.get(what)
        try:
            if what == "again":
                reopen_word(self._opened, word, by=session.reviewer)
            else:
                is_right = what == "right"
                decide_word(
                    self._opened, word, meant=None if is_right else meant or "", by=session.reviewer
                )
        except ConfigError as refusal:
            session.notices.append(("fault", f"Not stored: {refusal}."))
        return moved("/words")

    def find(self, request: Request, session: Session) -> Response:
        """Clean all texts again, with the verdicts about words so far."""
        self._parts.form(request, session)
        number = clean_answers(self._opened)
        session.notices.append(("done", f"Cleaning proposes {number} edits."))
        return moved("/words")
