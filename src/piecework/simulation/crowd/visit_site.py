"""The site of visits, and several sites as one, for simulated workers.

How they find a visit, and what they do at its end, differs between markets
(`markets/*/rehearsal/site.py`).

Each person comes from one market. Persons are assigned to the markets in turn, so that
each kind of worker comes from each market.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from piecework.domain.ids import AssignmentId, WorkerId
from piecework.simulation.crowd.browser import Reply
from piecework.simulation.crowd.people import Person, Worker
from piecework.simulation.crowd.site import Accepted, ConflictError, Site


@dataclass(slots=True, kw_only=True)
class Visit:
    """A visit that a participant has taken up and not given up or completed.

    Attributes:
        study: the group of HITs, as the market offers it.
        submission: its id at the market.
        link: the parameters of the address that led here.
        has_arrived: whether the marketplace has admitted the participant.
    """

    study: str
    submission: str
    link: dict[str, str]
    has_arrived: bool = False


class VisitingSite(Site):
    """The site for workers who come by visits; a worker's `token` is their market's id.

    Args:
        endpoint_url: the marketplace's site.
        now: the crowd's current time.
    """

    def __init__(self, endpoint_url: str, now: datetime) -> None:
        super().__init__(endpoint_url, now)
        self._cookies: dict[str, str] = {}
        self._visits: dict[str, Visit] = {}

    def ask_for(self, worker: Worker, group_id: str) -> Reply:
        """See `Site`; begins a visit if there is none."""
        visit = self._visits.get(worker.token) or self._take_place(worker, group_id)
        if not visit.has_arrived:
            self._arrive(worker, visit)
        return self._send("GET", "/visit", worker=worker)

    def accepted(self, worker: Worker, asked: Reply) -> Accepted:
        """See `Site`; after a visit the worker returns to their market."""
        document = self._object(asked)
        if document["assignment"] is not None:
            return Accepted.of_document(document["assignment"])
        visit = self._visits.pop(worker.token)
        if document["stage"] == "Done":
            self._finish(worker, visit, document)
        else:
            self._give_place_back(worker, visit)
        raise ConflictError("The visit is over.", code=str(document["stage"]))

    def has_more_in_hand(self, worker: Worker) -> bool:
        """See `Site`; a visit has several HITs and an end."""
        return worker.token in self._visits

    def give_back(self, worker: Worker, assignment_id: AssignmentId) -> None:  # noqa: ARG002 - of the port
        """See `Site`; this gives up the whole visit."""
        visit = self._visits.pop(worker.token)
        self._json("POST", "/visit/leave", worker=worker)
        self._give_place_back(worker, visit)

    def left_in_hand(
        self,
        workers: Sequence[Worker],  # noqa: ARG002 - of the port
    ) -> tuple[tuple[Worker, Accepted], ...]:
        """See `Site`; returning participants continue, so nothing is lost."""
        return ()

    @abstractmethod
    def _take_place(self, worker: Worker, study: str) -> Visit:
        """Begin a visit at the market.

        Raises:
            ConflictError: another worker was faster.
        """

    @abstractmethod
    def _finish(self, worker: Worker, visit: Visit, document: Mapping[str, Any]) -> None:
        """Return to the market from a visit that is done.

        Args:
            worker: the worker.
            visit: the visit.
            document: its last state, as the marketplace describes it.
        """

    @abstractmethod
    def _give_place_back(self, worker: Worker, visit: Visit) -> None:
        """Tell the market that a visit ended early, if it can be told."""

    def _cookie(self, worker: Worker) -> str:
        """Return the session that began with the visit; "" before the first."""
        return self._cookies.get(worker.token, "")

    def _arrive(self, worker: Worker, visit: Visit) -> None:
        """Consent and be admitted.

        Raises:
            ConflictError: the submission is no longer active.
        """
        form = {name: [value] for name, value in visit.link.items()}
        sent = self._send("POST", "/visit/arrive", form={**form, "agreed": ["1"]})
        try:
            reply = self._read(sent)
        except ConflictError as conflict:
            if conflict.code != "OtherBrowser" or not worker.worker_id:
                self._visits.pop(worker.token, None)
                raise
            sent = self._continue(worker)
            reply = self._read(sent)
        cookie, _, _ = reply.headers.get("set-cookie", "").partition(";")
        self._cookies[worker.token] = cookie
        worker.worker_id = WorkerId(str(self._object(sent)["worker_id"]))
        visit.has_arrived = True

    def _continue(self, worker: Worker) -> Reply:
        """Continue a visit by a link for it; an earlier crowd died with its cookies."""
        asked = {"worker_id": worker.worker_id}
        link = self._json("POST", "/rehearsal/visit-links", json=asked)
        return self._send("POST", "/visit/continue", form={"key": [str(link["key"])]})


class BridgedSite(VisitingSite):
    """The site for participants of an offline market, whom a bridge pays.

    Args:
        endpoint_url: the marketplace's site.
        now: the crowd's current time.
        seed: the random seed.
        bridge: runs the bridge at a time to which it moves the marketplace's clock.
        worker_id: returns the worker id of a participant; "" before the first visit.
    """

    def __init__(
        self,
        endpoint_url: str,
        now: datetime,
        *,
        seed: int,
        bridge: Callable[[datetime], None],
        worker_id: Callable[[str], WorkerId],
    ) -> None:
        super().__init__(endpoint_url, now)
        self._seed, self._bridge, self._worker_id = seed, bridge, worker_id

    @abstractmethod
    def books(self) -> dict[str, Any]:
        """Return the offline market's books: `accounts` in cents, and `broken_laws`."""


class SeveralSites(Site):
    """One site for each market; each does what concerns its own workers.

    Args:
        endpoint_url: the marketplace's site.
        sites: the markets' sites, at least one.
    """

    def __init__(self, endpoint_url: str, sites: Sequence[VisitingSite]) -> None:
        self._sites = tuple(sites)
        self._by_token: dict[str, VisitingSite] = {}
        self._registered = 0
        super().__init__(endpoint_url, sites[0].now)

    @property
    def now(self) -> datetime:
        """The crowd's current time, the same at all sites."""
        return self._sites[0].now

    @now.setter
    def now(self, now: datetime) -> None:
        for site in self._sites:
            site.now = now

    def register(self, person: Person) -> Worker:
        """See `Site`."""
        site = self._sites[self._registered % len(self._sites)]
        self._registered += 1
        worker = site.register(person)
        self._by_token[worker.token] = site
        return worker

    def group_ids(self, worker: Worker) -> tuple[str, ...]:
        """See `Site`."""
        return self._of(worker).group_ids(worker)

    def ask_for(self, worker: Worker, group_id: str) -> Reply:
        """See `Site`."""
        self.calls += 1
        return self._of(worker).ask_for(worker, group_id)

    def accepted(self, worker: Worker, asked: Reply) -> Accepted:
        """See `Site`."""
        return self._of(worker).accepted(worker, asked)

    def has_more_in_hand(self, worker: Worker) -> bool:
        """See `Site`."""
        return self._of(worker).has_more_in_hand(worker)

    def give_back(self, worker: Worker, assignment_id: AssignmentId) -> None:
        """See `Site`."""
        self._of(worker).give_back(worker, assignment_id)

    def left_in_hand(self, workers: Sequence[Worker]) -> tuple[tuple[Worker, Accepted], ...]:
        """See `Site`."""
        return tuple(
            pair
            for site in self._sites
            for pair in site.left_in_hand(
                [worker for worker in workers if self._of(worker) is site]
            )
        )

    def look_after(self) -> bool:
        """See `Site`; every market acts."""
        acted = [site.look_after() for site in self._sites]
        return any(acted)

    def lacks_only(self, worker: Worker, qualification: str) -> bool:
        """See `Site`."""
        return self._of(worker).lacks_only(worker, qualification)

    def begin_test(self, worker: Worker, qualification: str) -> str:
        """See `Site`."""
        return self._of(worker).begin_test(worker, qualification)

    def send_test(self, worker: Worker, type_id: str, answers: Mapping[str, Sequence[str]]) -> int:
        """See `Site`."""
        return self._of(worker).send_test(worker, type_id, answers)

    def _cookie(self, worker: Worker) -> str:
        return self._of(worker)._cookie(worker)  # noqa: SLF001 - a site of its own kind

    def _of(self, worker: Worker) -> VisitingSite:
        return self._by_token[worker.token]
