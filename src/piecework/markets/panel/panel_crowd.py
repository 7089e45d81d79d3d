"""A panel as the marketplace sees it: people who arrive by a link and leave by another.

No panel is called. A link is believed as far as the panel file verifies it.
"""

import os
import sqlite3
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state import visits
from piecework.marketplace.state.money import PriceList
from piecework.marketplace.state.outside_crowd import (
    NO_WAY_BACK,
    Arrival,
    OutsideCrowd,
    Submission,
    TurnedBack,
    WayBack,
)
from piecework.marketplace.state.transaction import Transaction, own_key
from piecework.markets.bridging.admission import usual_consent
from piecework.markets.panel.arrivals import (
    Ending,
    Ids,
    Links,
    NoWork,
    Secrets,
    WaysOut,
    ids_of,
    offer,
)
from piecework.markets.panel.panel_file import NAME, Panel

_UNVERIFIED = (
    "This site cannot check that a link is really yours: anyone who knows your id at "
    "%(panel)s could open your visit. Do not share your link."
)
_HEADINGS: Mapping[Ending, str] = {
    "complete": "You have already finished",
    "screened_out": "This study is for other people",
    "quota_full": "There is no work left for you",
    "refused": "You cannot take part",
}
_KINDS: Mapping[Ending, str] = {
    "complete": "VisitDone",
    "screened_out": "ScreenedOut",
    "quota_full": "QuotaFull",
    "refused": "ArrivalRefused",
}
_OPEN_OR_DONE = (
    "SELECT visits.* FROM visits WHERE worker = ?1 AND stage IN ('Open', 'Done') "
    "AND submission_id LIKE ?2 ESCAPE '\\' ORDER BY id"
)


@dataclass(frozen=True, slots=True)
class PanelCrowd(OutsideCrowd):
    """The people of one panel.

    Args:
        panel: the panel file.
        secrets: its secrets.
        prices: the marketplace's prices, in which pay is shown.
        own_consent: what people agree to before they begin; () is the usual text.
    """

    has_messages: ClassVar[bool] = False
    panel: Panel
    secrets: Secrets = field(repr=False)
    prices: PriceList
    own_consent: Sequence[str] = ()
    _links: Links = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_links", Links(self.panel, self.secrets))

    @property
    def name(self) -> str:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        return NAME

    @property
    def link_names(self) -> Sequence[str]:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        return tuple(filter(None, self.panel.link.names().values()))

    @property
    def market(self) -> str:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        return self.panel.title

    @property
    def contact(self) -> str:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        return self.panel.contact

    @property
    def consent(self) -> Sequence[str]:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        title = {"panel": self.panel.title}
        usual = usual_consent(f"your id at {self.panel.title}")
        is_open = self.panel.verification.by == "nothing"
        warning = (_UNVERIFIED % title,) if is_open else ()
        return (*(self.own_consent or usual), *warning)

    def pay(self, reward_cents: int) -> str:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        return self.panel.pay.words or self.prices.shown(reward_cents)

    def read_link(self, query: Mapping[str, str]) -> Arrival:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        return self._links.read(query)

    def link(self, arrival: Arrival) -> Mapping[str, str]:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        return self._links.query(arrival)

    def settle_on(self, transaction: Transaction, arrival: Arrival) -> Arrival:
        """See `marketplace.outside_crowd.OutsideCrowd`.

        A person has one open visit. Whatever session they come with, they continue it.

        Raises:
            Refusal: the session is another person's.
            TurnedBack: the visit has ended, or this person gets no visit.
        """
        ids = ids_of(arrival.participant_id, arrival.submission_id)
        ways = self._ways_out(transaction)
        worker = visits.known_participant(transaction, NAME, arrival.participant_id)
        visit = visits.of_submission(transaction, NAME, arrival.submission_id)
        if visit is not None and (worker is None or visit["worker"] != worker["id"]):
            raise Refusal("NotYours", "This visit belongs to another person.", status=403)
        if visit is None and worker is not None:
            visit = self._earlier(transaction, ways, worker, ids)
        if visit is None:
            title = self.panel.projects.get(ids.project, "")
            chosen = offer(transaction, self.panel, worker, title=title)
            if isinstance(chosen, NoWork):
                raise _turned_back(ways, ids, chosen.ending, chosen.sentence)
            return replace(arrival, study_id=chosen)
        if visit["stage"] != "Open":
            raise _ended(ways, ids, visit["stage"])
        study = transaction.first_row("SELECT study_id FROM studies WHERE id = ?", visit["study"])
        return replace(
            arrival,
            study_id=study["study_id"] if study else "",
            submission_id=visit["submission_id"],
        )

    async def look_up(self, arrival: Arrival, *, is_known: bool) -> Submission:  # noqa: ARG002 - of the port
        """See `marketplace.outside_crowd.OutsideCrowd`; the link proves itself."""
        return Submission(status="ARRIVED")

    def way_back(self, transaction: Transaction, visit: sqlite3.Row) -> WayBack:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        if visit["stage"] not in ("Done", "TurnedAway"):
            return NO_WAY_BACK
        ids = ids_of(visit["participant_id"], visit["submission_id"])
        ending: Ending = "complete" if visit["stage"] == "Done" else "quota_full"
        return self._ways_out(transaction).way_out(ids, ending)

    def _ways_out(self, transaction: Transaction) -> WaysOut:
        return ways_out(transaction, self.panel, self.secrets)

    def _earlier(
        self, transaction: Transaction, ways: WaysOut, worker: sqlite3.Row, ids: Ids
    ) -> sqlite3.Row | None:
        """Return the open visit of a person who comes with another session.

        Raises:
            TurnedBack: they have made all visits that a person may make.
        """
        others = transaction.all(_OPEN_OR_DONE, worker["id"], _like(f"{self.panel.name}/"))
        for visit in others:
            if visit["stage"] == "Open":
                return visit
        done = [
            visit for visit in others if ids_of("/", visit["submission_id"]).project == ids.project
        ]
        if len(done) >= self.panel.visits.per_person:
            raise _turned_back(ways, ids, "refused", "You have already taken part in this study.")
        return None


def ways_out(transaction: Transaction, panel: Panel, secrets: Secrets) -> WaysOut:
    """Return the exits of a panel, with this marketplace's key for codes."""
    return WaysOut(panel, secrets, own_key(transaction, "panel codes"))


def _like(start: str) -> str:
    """Return a pattern of texts with this start; `_` and `%` stand for themselves."""
    return start.replace("\\", r"\\").replace("_", r"\_").replace("%", r"\%") + "%"


def _ended(ways: WaysOut, ids: Ids, stage: str) -> TurnedBack:
    if stage == "Done":
        return _turned_back(
            ways, ids, "complete", "Your answers are saved, and your visit is finished."
        )
    if stage == "TurnedAway":
        return _turned_back(ways, ids, "quota_full", "There was no work for you.")
    sentence = (
        "The time for this visit is over, and your answers were not used."
        if stage == "Late"
        else "You have stopped this visit, and your answers are not used."
    )
    return _turned_back(ways, ids, "refused", sentence)


def _turned_back(ways: WaysOut, ids: Ids, ending: Ending, sentence: str) -> TurnedBack:
    return TurnedBack(
        _KINDS[ending],
        sentence,
        heading=_HEADINGS[ending],
        market=ways.panel.title,
        way_back=ways.way_out(ids, ending),
    )


@contextmanager
def rehearsed_crowd(file: str, prices: PriceList) -> Iterator[PanelCrowd]:
    """Yield the people of a rehearsal's panel.

    Args:
        file: a panel file without faults.
        prices: what the panel charges.
    """
    panel = Panel.model_validate(tomllib.loads(Path(file).read_text(encoding="utf-8")))
    panel = panel.beside(Path(file))
    yield PanelCrowd(panel, Secrets.read(panel, os.environ), prices)
