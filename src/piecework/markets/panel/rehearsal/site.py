"""People of a simulated panel who visit the marketplace.

They open the link of a session, look whether there is work, agree, do HIT after HIT and
press the button back. Some drop out, open the link twice or with a second session,
forge a link first, or close the last page without pressing the button.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from piecework.domain.errors import PlatformRefused
from piecework.domain.ids import WorkerId
from piecework.markets.panel.rehearsal.simulated_panel import SimulatedPanel
from piecework.simulation.crowd.people import Person, Worker
from piecework.simulation.crowd.visit_site import Visit, VisitingSite
from piecework.simulation.seeded_rng import seeded_rng

PROJECT = "p1"
_FORGES, _REPEATS, _SECOND_SESSION, _FORGETS = 0.1, 0.1, 0.1, 0.05
"""Shares of visits."""


class PanelSite(VisitingSite):
    """The site for people of a panel; a worker's `token` is their id there.

    Args:
        endpoint_url: the marketplace's site.
        now: the crowd's current time.
        panel: the panel.
        seed: the random seed.
        earlier: returns a person's worker id and the sessions and stages of their
            visits, when an earlier crowd was killed.
    """

    def __init__(
        self,
        endpoint_url: str,
        now: datetime,
        *,
        panel: SimulatedPanel,
        seed: int,
        earlier: Callable[[str], tuple[WorkerId, Sequence[tuple[str, str]]]],
    ) -> None:
        super().__init__(endpoint_url, now)
        self._panel, self._seed, self._earlier = panel, seed, earlier
        self._sessions: dict[str, int] = {}
        self._registered = 0

    def register(self, person: Person) -> Worker:
        """See `Site`; people get ids in order of creation."""
        self._registered += 1
        token = f"person-{self._registered:03d}"
        worker_id, sessions = self._earlier(token)
        self._sessions[token] = len(sessions)
        for session, stage in sessions:
            link = self._panel.open(token, session, PROJECT)
            if stage == "Open":
                self._visits[token] = Visit(study=PROJECT, submission=session, link=link)
        return Worker(person=person, worker_id=worker_id, token=token)

    def group_ids(self, worker: Worker) -> tuple[str, ...]:
        """See `Site`; a person looks at the first page, which is free to open."""
        if worker.token in self._visits:
            return (PROJECT,)
        path = f"/visit/arrive?{urlencode(self._link(worker))}"
        reply = self._send("GET", path).read()
        if reply.status == HTTPStatus.OK:
            return (PROJECT,)
        document: Any = reply.json()
        if reply.status != HTTPStatus.CONFLICT or "way_back" not in document:
            raise PlatformRefused(f"{path}: {reply.text[:200]}", code=str(reply.status))
        self._panel.take_back(str(document["way_back"]))
        self._end_session(worker)
        return ()

    def _take_place(self, worker: Worker, study: str) -> Visit:
        visit = self._visits[worker.token] = Visit(
            study=study, submission=self._session(worker), link=self._link(worker)
        )
        return visit

    def _arrive(self, worker: Worker, visit: Visit) -> None:
        rng = seeded_rng(self._seed, worker.person.handle, visit.submission, "arrival")
        if rng.random() < _FORGES:
            self._try_forged(worker, visit)
        super()._arrive(worker, visit)
        if rng.random() < _REPEATS:
            self._arrive_again(worker, visit.link)
        if rng.random() < _SECOND_SESSION:
            second = f"{visit.submission}-again"
            self._arrive_again(worker, self._panel.open(worker.token, second, PROJECT))

    def _finish(self, worker: Worker, visit: Visit, document: Mapping[str, Any]) -> None:
        """Press the button, as carefully as this person does."""
        rng = seeded_rng(self._seed, worker.person.handle, visit.submission, "end")
        if rng.random() >= _FORGETS:
            self._panel.take_back(str(document["way_back"]))
        self._end_session(worker)

    def _give_place_back(self, worker: Worker, visit: Visit) -> None:  # noqa: ARG002 - of the port
        """See `VisitingSite`; a panel learns nothing of who drops out."""
        self._end_session(worker)

    def _session(self, worker: Worker) -> str:
        return f"{worker.token}-{self._sessions[worker.token] + 1:03d}"

    def _link(self, worker: Worker) -> dict[str, str]:
        return self._panel.open(worker.token, self._session(worker), PROJECT)

    def _end_session(self, worker: Worker) -> None:
        self._sessions[worker.token] += 1

    def _arrive_again(self, worker: Worker, link: Mapping[str, str]) -> None:
        """Open a link while a visit is open; it must lead to the same worker."""
        form = {name: [value] for name, value in link.items()}
        document = self._json(
            "POST", "/visit/arrive", worker=worker, form={**form, "agreed": ["1"]}
        )
        if document["worker_id"] != worker.worker_id:
            self._panel.broken_laws.append(f"{worker.token} is two workers")

    def _try_forged(self, worker: Worker, visit: Visit) -> None:
        """Open a link that the panel did not make; it must open nothing."""
        link = self._panel.forged(worker.token, visit.submission, PROJECT)
        form = {name: [value] for name, value in link.items()}
        try:
            self._json("POST", "/visit/arrive", form={**form, "agreed": ["1"]})
        except PlatformRefused:
            self._panel.forged_links += 1
        else:
            self._panel.broken_laws.append(f"a forged link of {worker.token} was let in")
