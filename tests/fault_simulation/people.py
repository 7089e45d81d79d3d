"""Participants and workers of a simulation, each of whom does one thing at a time.

They take, begin, answer, give up, forget, come late and enter wrong codes. A reply that
was lost tells them nothing; they look again, as people do.
"""

from collections.abc import Collection
from contextlib import suppress
from random import Random
from typing import Any, Protocol

import httpx

from offline_markets_tests.prolific.people import Refused, Researcher
from piecework.simulation.crowd.browser import read_page
from tests.crash.people import _form
from tests.marketplace.market import Worker
from tests.markets.prolific.bridge.town import Visitor

_SERVER_FAULT = 500
_MANNERS = ("good",) * 16 + ("shout", "half", "paste")


class Record(Protocol):
    """What people were told, which must hold from then on."""

    def sent_in(self, assignment_id: str) -> None:
        """An answer was acknowledged."""

    def tell(self, sentence: str) -> None:
        """Something happened."""


class WrongReplyError(AssertionError):
    """A server answered with a fault of its own."""


class Person(Protocol):
    """Somebody who works."""

    def act(self) -> None:
        """Do one thing, if there is any."""

    def finish(self) -> None:
        """Do well what is in hand, to its end."""


def fields_of(
    client: httpx.Client, shown: dict[str, Any], rng: Random, *, manner: str
) -> dict[str, str]:
    """The form that is sent for an assignment as it is shown."""
    page = read_page(_well(client.get(shown["frame_url"])).text)
    if not page.item_ids:
        return {
            "assignmentId": shown["assignment_id"],
            "caption": f"A red bird, number {rng.randrange(10**6)}.",
        }
    return _form(shown["assignment_id"], page, manner)


def _well(reply: httpx.Response) -> httpx.Response:
    """A reply that is no fault of the server's."""
    if reply.status_code == _SERVER_FAULT:
        raise WrongReplyError(f"{reply.request.url.path}: HTTP 500 {reply.text[:300]}")
    return reply


class SimulatedParticipant:
    """Somebody who comes from Prolific."""

    def __init__(self, endpoint: str, researcher: Researcher, rng: Random, record: Record) -> None:
        self.visitor = Visitor(endpoint, researcher, country="US")
        self._rng, self._record = rng, record
        self._link: dict[str, str] = {}
        self._has_arrived = False
        self._in_hand: set[str] = set()

    @property
    def is_free(self) -> bool:
        """Whether no place is in hand."""
        return not self._link

    def act(self) -> None:
        """Do one thing, if there is any."""
        with suppress(httpx.TransportError):
            self._heed()
            if self.is_free:
                self._take()
            elif not self._has_arrived:
                self._come()
            else:
                self._go_on(self._rng.choice(_MANNERS), is_steady=False)

    def finish(self) -> None:
        """Do well what is in hand, to its end."""
        for _ in range(12):
            if self.is_free:
                return
            if not self._has_arrived:
                self._arrive()
            else:
                self._go_on("good", is_steady=True)

    def forget_what_is_lost(self, assignments: Collection[str]) -> None:
        """The marketplace was put back to an older copy, which has these."""
        self._in_hand.intersection_update(assignments)

    def take(self) -> bool:
        """Take a place, if one is open."""
        studies = self.visitor.studies()
        if not studies:
            return False
        try:
            self._link = self.visitor.open(self._rng.choice(studies))
        except Refused:
            return False
        self._has_arrived = False
        return True

    def _take(self) -> None:
        if self.take():
            self._record.tell(f"a participant takes {self.visitor.submission_id[:6]}")

    def _come(self) -> None:
        lot = self._rng.random()
        if lot < 0.1:
            self._drop("takes a place and never comes")
        elif lot < 0.2:
            self._give_back()
        else:
            self._arrive()

    def _arrive(self) -> None:
        link = {**self._link, "agreed": "1"}
        reply = _well(self.visitor.http.post("/visit/arrive", data=link))
        if reply.status_code == 201:
            self._has_arrived = True
            self._in_hand = set()
        elif reply.status_code != 503:
            self._drop(f"is not let in ({reply.status_code})")

    def _go_on(self, manner: str, *, is_steady: bool) -> None:
        reply = _well(self.visitor.http.get("/visit"))
        if reply.status_code != 200:
            self._drop(f"finds no visit ({reply.status_code})")
            return
        visit = reply.json()
        lot = 1.0 if is_steady else self._rng.random()
        if visit["stage"] == "Done":
            self._end(visit["code"], lot)
        elif visit["stage"] == "TurnedAway" and visit["screen_out_cents"]:
            self._drop("finds no work, and is promised to be paid for it")
        elif visit["stage"] != "Open" or visit["assignment"] is None:
            self._give_back()
        elif lot < 0.04:
            _well(self.visitor.http.post("/visit/leave"))
            self._give_back()
        elif lot < 0.07:
            self._drop("leaves in the middle and says nothing")
        else:
            shown = visit["assignment"]
            self._in_hand.add(shown["assignment_id"])
            form = fields_of(self.visitor.http, shown, self._rng, manner=manner)
            _well(self.visitor.http.post("/mturk/externalSubmit", data=form))

    def _end(self, code: str, lot: float) -> None:
        for assignment_id in sorted(self._in_hand):
            self._record.sent_in(assignment_id)
        if lot < 0.1:
            self._drop("is done and forgets the code")
            return
        entered = code[::-1] if lot < 0.15 else code
        with suppress(Refused):
            self.visitor.complete(self.visitor.submission_id, entered)
        self._drop("is done" if entered == code else "enters a wrong code")

    def _give_back(self) -> None:
        with suppress(Refused):
            self.visitor.give_back(self.visitor.submission_id)
        self._drop("gives the place back")

    def _drop(self, what: str) -> None:
        self._record.tell(f"participant of {self.visitor.submission_id[:6]} {what}")
        self._link, self._has_arrived = {}, False

    def _heed(self) -> None:
        """Return what one was asked to return, now and then."""
        for place in self.visitor.ask("GET", "/submissions")["results"]:
            is_asked = place["status"] == "AWAITING REVIEW" and place["return_requested"]
            if is_asked and self._rng.random() < 0.2:
                with suppress(Refused):
                    self.visitor.give_back(str(place["id"]))
                self._record.tell(f"submission {place['id'][:6]} is returned as asked")


class SimulatedWorker:
    """Somebody who signed in at the marketplace itself.

    Attributes:
        accepted: what they have accepted so far, as it is shown.
    """

    def __init__(self, endpoint: str, handle: str, rng: Random, record: Record) -> None:
        self.worker = Worker(endpoint, handle=handle, hits_approved=900, hits_submitted=910)
        self._rng, self._record = rng, record
        self._shown: dict[str, Any] | None = None
        self.accepted: list[dict[str, Any]] = []

    def go_on_with(self, accepted: Collection[dict[str, Any]], at_work: Collection[str]) -> None:
        """The marketplace was put back; its page lists what they had at work then."""
        for shown in accepted:
            if shown["assignment_id"] in at_work:
                self.accepted.append(shown)
                self._shown = shown

    def act(self) -> None:
        """Do one thing, if there is any."""
        with suppress(httpx.TransportError):
            if self._shown is None:
                self.take()
                return
            lot = self._rng.random()
            if lot < 0.08:
                _well(self.worker.give_back(self._shown["assignment_id"]))
                self._drop("returns")
            elif lot < 0.14:
                self._drop("forgets")
            else:
                self._send(self._rng.choice(_MANNERS))

    def finish(self) -> None:
        """Do well what is in hand, to its end."""
        if self._shown is not None:
            self._send("good")

    def take(self) -> bool:
        """Accept a HIT, if one is open."""
        groups = _well(self.worker.http.get("/worker/hits")).json()["hit_groups"]
        ids = [group["hit_group_id"] for group in groups if group["may_accept"]]
        if not ids:
            return False
        reply = _well(self.worker.accept(self._rng.choice(ids)))
        if reply.status_code != 201:
            return False
        self._shown = reply.json()
        self.accepted.append(reply.json())
        return True

    def _send(self, manner: str) -> None:
        assert self._shown is not None
        form = fields_of(self.worker.http, self._shown, self._rng, manner=manner)
        reply = _well(self.worker.http.post("/mturk/externalSubmit", data=form))
        if reply.status_code == 200:
            self._record.sent_in(self._shown["assignment_id"])
        self._drop("sends" if reply.status_code == 200 else "is too late with")

    def _drop(self, what: str) -> None:
        assert self._shown is not None
        self._record.tell(f"a worker {what} {self._shown['assignment_id'][:6]}")
        self._shown = None
