"""Workers from several markets who visit one marketplace.

Each person comes from one market. Persons are assigned to the markets in turn, so that
each kind of worker comes from each market.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from piecework.domain.ids import AssignmentId
from piecework.simulation.crowd.connection import Reply
from piecework.simulation.crowd.people import Person, Worker
from piecework.simulation.crowd.site import Accepted, Site
from piecework.simulation.crowd.visit_site import VisitingSite


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
