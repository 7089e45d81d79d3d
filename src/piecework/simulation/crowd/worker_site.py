"""The marketplace's own worker site: sign-in, list, accept, page, submit, tests."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from urllib.parse import quote

from piecework.domain.ids import AssignmentId, HitId, WorkerId
from piecework.simulation.crowd.connection import Reply
from piecework.simulation.crowd.people import Person, Worker
from piecework.simulation.crowd.site import Accepted, ConflictError, Site

_SECONDS_LEFT = re.compile(r'data-seconds="(\d+)"')


class WorkerSite(Site):
    """Workers who sign in and choose HITs from a list."""

    def __init__(self, endpoint_url: str, now: datetime) -> None:
        super().__init__(endpoint_url, now)
        self._cookies: dict[WorkerId, str] = {}
        self._test_ids: dict[str, str] = {}

    def register(self, person: Person) -> Worker:
        """See `Site`."""
        standing: dict[str, object] = {
            "handle": person.handle,
            "country": person.country,
            "hits_approved": person.hits_approved,
            "hits_submitted": person.hits_submitted,
        }
        if person.subdivision:
            standing["subdivision"] = person.subdivision
        reply = self._json("POST", "/rehearsal/workers", json=standing)
        worker_id = WorkerId(str(reply["worker_id"]))
        return Worker(person=person, worker_id=worker_id, token=str(reply["token"]))

    def group_ids(self, worker: Worker) -> tuple[str, ...]:
        """See `Site`."""
        reply = self._json("GET", "/worker/hits", worker=worker)
        open_groups = [
            group for group in reply["hit_groups"] if group["may_accept"] and group["available"] > 0
        ]
        best_first = sorted(open_groups, key=lambda group: -float(group["reward"]))
        return tuple(str(group["hit_group_id"]) for group in best_first)

    def lacks_only(self, worker: Worker, qualification: str) -> bool:
        """See `Site`."""
        reply = self._json("GET", "/worker/hits", worker=worker)
        return any(
            group["available"] > 0
            and len(group["lacks"]) == 1
            and group["lacks"][0].startswith(f"{qualification} GreaterThanOrEqualTo")
            for group in reply["hit_groups"]
        )

    def begin_test(self, worker: Worker, qualification: str) -> str:
        """See `Site`."""
        type_id = self._test_ids.get(qualification)
        if type_id is None:
            type_id = self._test_ids[qualification] = self._test_id(worker, qualification)
        self._json("POST", f"/worker/qualifications/{type_id}/request", worker=worker)
        return type_id

    def send_test(self, worker: Worker, type_id: str, answers: Mapping[str, Sequence[str]]) -> int:
        """See `Site`."""
        path = f"/worker/qualifications/{type_id}/test"
        return int(self._json("POST", path, worker=worker, form=answers)["value"])

    def ask_for(self, worker: Worker, group_id: str) -> Reply:
        """See `Site`."""
        path = f"/worker/groups/{group_id}/accept"
        return self._send("POST", path, worker=worker)

    def accepted(self, worker: Worker, asked: Reply) -> Accepted:  # noqa: ARG002 - of the port
        """See `Site`."""
        return Accepted.of_document(self._object(asked))

    def has_more_in_hand(self, worker: Worker) -> bool:  # noqa: ARG002 - of the port
        """See `Site`; here each HIT is accepted separately."""
        return False

    def give_back(self, worker: Worker, assignment_id: AssignmentId) -> None:
        """See `Site`."""
        path = f"/worker/assignments/{assignment_id}/return"
        self._json("POST", path, worker=worker)

    def left_in_hand(self, workers: Sequence[Worker]) -> tuple[tuple[Worker, Accepted], ...]:
        """See `Site`."""
        mine = {worker.worker_id: worker for worker in workers}
        return tuple(
            (mine[worker_id], self._left(mine[worker_id], assignment_id, hit_id))
            for worker_id, assignment_id, hit_id in self.open_assignments()
            if worker_id in mine
        )

    def open_assignments(self) -> tuple[tuple[WorkerId, AssignmentId, HitId], ...]:
        """Return worker, assignment and HIT of everything accepted but not finished."""
        books = self._json("GET", "/rehearsal/books")
        return tuple(
            (WorkerId(row["worker_id"]), AssignmentId(row["assignment_id"]), HitId(row["hit_id"]))
            for row in books["assignments"]
            if row["status"] == "Accepted"
        )

    def _left(self, worker: Worker, assignment_id: AssignmentId, hit_id: HitId) -> Accepted:
        left = timedelta(seconds=self.seconds_left(worker, assignment_id))
        return Accepted(
            assignment_id=assignment_id,
            hit_id=hit_id,
            accepted_at=self.now,
            deadline=self.now + left,
            frame_url="",
        )

    def _test_id(self, worker: Worker, qualification: str) -> str:
        path = f"/worker/qualifications?q={quote(qualification)}"
        for offer in self._json("GET", path, worker=worker)["offered"]:
            if offer["name"] == qualification:
                return str(offer["qualification_type_id"])
        raise ConflictError(f"{qualification}: this test is not offered", code="404")

    def seconds_left(self, worker: Worker, assignment_id: AssignmentId) -> int:
        """Return the time left for an open assignment, as its page shows the worker."""
        path = f"/worker/assignments/{assignment_id}"
        headers = {"Accept": "text/html"}
        html = self._read(self._send("GET", path, worker=worker, headers=headers)).text
        seconds = _SECONDS_LEFT.search(html)
        return int(seconds[1]) if seconds else 0

    def _cookie(self, worker: Worker) -> str:
        """Return the worker's session, signing in when first needed."""
        if worker.worker_id not in self._cookies:
            form = {"token": [worker.token]}
            response = self._read(self._send("POST", "/worker/sign-in", form=form))
            cookie, _, _ = response.headers.get("set-cookie", "").partition(";")
            self._cookies[worker.worker_id] = cookie
        return self._cookies[worker.worker_id]
