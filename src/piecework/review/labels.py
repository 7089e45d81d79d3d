"""The pages of items about which workers disagree."""

from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from piecework.domain.errors import ConfigError
from piecework.results.labels import Doubtful, doubtful, settle_label, unsettle_label
from piecework.review.model.cards import cut
from piecework.review.model.reviewing import group_of
from piecework.review.parts import Parts
from piecework.review.replies import moved
from piecework.review.sessions import Session


class Labels:
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
            label_address=_address,
        )

    def label(self, request: Request, session: Session) -> Response:
        """Show an item with its answers and its possible labels."""
        item_id = request.query_params.get("item", "")
        field = request.query_params.get("field", "")
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
            view="labels",
            doubt=doubts[number],
            after=_address(behind[0]) if behind else "/labels",
            answers=answers,
            left=sum(doubt.settled is None for doubt in doubts),
        )

    def settle(self, request: Request, session: Session) -> Response:
        """Settle a label, or reopen it, and redirect to the next."""
        form = self._parts.form(request, session)
        item_id, field = form.get("item", ""), form.get("field", "")
        try:
            if form.get("what") == "again":
                unsettle_label(self._opened, item_id, field, by=session.reviewer)
            else:
                settle_label(
                    self._opened, item_id, field, form.get("value", ""), by=session.reviewer
                )
                session.notices.append(("done", "Settled."))
        except ConfigError as refusal:
            session.notices.append(("fault", f"Not stored: {refusal}."))
        waiting = [doubt for doubt in doubtful(self._opened) if doubt.settled is None]
        return moved(_address(waiting[0]) if waiting else "/labels")


def _address(doubt: Doubtful) -> str:
    return f"/label?{urlencode({'item': doubt.item_id, 'field': doubt.field})}"
