"""Participants of an offline Connect who visit the marketplace.

A participant begins a project there, opens the link, agrees, does HIT after HIT and
enters the code. Or they give up or come too late. Some enter the code only later.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from offline_markets.connect.offline_connect import ControlRefusedError, OfflineConnect
from piecework.domain.ids import WorkerId
from piecework.simulation.crowd.people import Person, Worker
from piecework.simulation.crowd.site import ConflictError
from piecework.simulation.crowd.visit_site import BridgedSite, Visit
from piecework.simulation.seeded_rng import seeded_rng

_WRONG_CODE, _LATER = 0.02, 0.05
"""Shares of visits that end with a wrong code, or whose code is entered later."""

_MUCH_LATER = timedelta(minutes=20)

_AT_WORK = "InProgress"


class ConnectSite(BridgedSite):
    """The site for participants; a worker's `token` is the participant's id.

    Args, beside those of `BridgedSite`:
        connect: the offline Connect; its clock is moved too.
    """

    def __init__(
        self,
        endpoint_url: str,
        now: datetime,
        *,
        connect: OfflineConnect,
        seed: int,
        bridge: Callable[[datetime], None],
        worker_id: Callable[[str], WorkerId],
    ) -> None:
        super().__init__(endpoint_url, now, seed=seed, bridge=bridge, worker_id=worker_id)
        self._connect = connect
        self._connect_now = connect.now()
        self._known = connect.participants()
        self._registered = 0
        self._to_enter: list[tuple[datetime, str, str]] = []

    def register(self, person: Person) -> Worker:
        """See `Site`; participants are assigned in order of creation."""
        if self._registered < len(self._known):
            participant = self._known[self._registered]
        else:
            participant = self._connect.participant()
        self._registered += 1
        worker = Worker(person=person, worker_id=self._worker_id(participant), token=participant)
        for each in self._connect.assignments(participant):
            if each["status"] == _AT_WORK:  # An earlier crowd was killed.
                self._visits[participant] = _visit(each["projectId"], each)
        return worker

    def group_ids(self, worker: Worker) -> tuple[str, ...]:
        """See `Site`; here a group is a project."""
        visit = self._visits.get(worker.token)
        if visit is not None:
            return (visit.study,)
        self._move_connect()
        return tuple(self._connect.open_projects(worker.token))

    def look_after(self) -> bool:
        """See `Site`; late codes are entered, and the bridge makes steps."""
        for entry in [each for each in self._to_enter if each[0] <= self.now]:
            self._to_enter.remove(entry)
            _, assignment, code = entry
            self._enter(assignment, code)
        self._move_connect()
        self._bridge(self.now)
        return True

    def books(self) -> dict[str, Any]:
        """Return the offline Connect's books."""
        return self._connect.books()

    def _take_place(self, worker: Worker, study: str) -> Visit:
        self._move_connect()
        try:
            taken = self._connect.arrive(study, worker.token)
        except ControlRefusedError as refusal:
            raise ConflictError(str(refusal), code="Connect") from refusal
        made = {"assignmentId": taken.assignment_id, "url": taken.url}
        visit = self._visits[worker.token] = _visit(study, made)
        return visit

    def _finish(self, worker: Worker, visit: Visit, document: Mapping[str, Any]) -> None:
        """Enter the code at Connect, as carefully as this participant does."""
        code = str(document["code"])
        rng = seeded_rng(self._seed, worker.person.handle, visit.submission, "code")
        lot = rng.random()
        if lot < _LATER:
            at = self.now + _MUCH_LATER
            self._to_enter.append((at, visit.submission, code))
            return
        wrong = code[::-1]
        self._enter(visit.submission, wrong if lot < _LATER + _WRONG_CODE else code)

    def _enter(self, assignment: str, code: str) -> None:
        self._move_connect()
        try:
            self._connect.complete(assignment, code)
        except ControlRefusedError:
            return  # It has timed out there.

    def _give_place_back(self, worker: Worker, visit: Visit) -> None:  # noqa: ARG002 - of the port
        self._move_connect()
        try:
            self._connect.give_back(visit.submission)
        except ControlRefusedError:
            return  # It has timed out there.

    def _move_connect(self) -> None:
        if self.now > self._connect_now:
            self._connect.advance(self.now - self._connect_now)
            self._connect_now = self.now


def _visit(project: str, begun: Mapping[str, Any]) -> Visit:
    return Visit(
        study=project,
        submission=str(begun["assignmentId"]),
        link=dict(parse_qsl(urlsplit(str(begun["url"])).query)),
    )
