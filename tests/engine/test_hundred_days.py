"""A source grows by many rows a day, and something fails at each call and each reading.

Faults move by one call each day, so that in time every call of a day's passes fails: it
is never sent, its reply is lost, or the pass dies before or after it.
"""

import errno
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import cast

import httpx
import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.exceptions import EndpointConnectionError
from botocore.httpsession import URLLib3Session

from piecework.config.sources import TableReading
from piecework.domain.errors import PieceworkError
from piecework.domain.growing import Delivery, SourceRow
from piecework.results.whole_pass import archive_settled
from piecework.simulation.crowd.browser import read_page
from tests.conftest import in_full
from tests.crash.people import _form
from tests.growing_campaign import TEXT, Growing, growing, row
from tests.marketplace.market import Worker

KINDS = ("not sent", "reply lost", "died before", "died after")


class _Died(BaseException):
    """The process is gone; no handler of the code may catch it."""


class Faults:
    """What fails: calls to the marketplace, and readings of the source."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, apart: int) -> None:
        """Put a fault at every call that is so far from the last."""
        self.day, self._apart = 0, apart
        self.calls = 0
        self.done: Counter[str] = Counter()
        self._send, self._rows = URLLib3Session.send, TableReading.rows
        self._is_read = False

        def sent(session: URLLib3Session, request: AWSPreparedRequest) -> AWSResponse:
            return self._sent(session, request)

        def read(reading: TableReading, delivery: Delivery) -> Iterator[SourceRow]:
            return self._read(reading, delivery)

        monkeypatch.setattr(URLLib3Session, "send", sent)
        monkeypatch.setattr(TableReading, "rows", read)

    def begin(self, day: int) -> None:
        """Begin a day: its faults are one call further than the day before."""
        self.day, self.calls, self._is_read = day, 0, False

    def _sent(self, session: URLLib3Session, request: AWSPreparedRequest) -> AWSResponse:
        self.calls += 1
        is_hit = self.day and (self.calls + self.day) % self._apart == 0
        kind = KINDS[(self.calls // self._apart + self.day) % 4] if is_hit else ""
        self.done[kind] += 1
        if kind == "died before":
            raise _Died
        if kind == "not sent":
            raise EndpointConnectionError(endpoint_url=request.url)
        reply = self._send(session, request)
        if kind == "died after":
            raise _Died
        if kind == "reply lost":
            raise EndpointConnectionError(endpoint_url=request.url)
        return reply

    def _read(self, reading: TableReading, delivery: Delivery) -> Iterator[SourceRow]:
        fails, self._is_read = bool(self.day) and not self._is_read, True
        all_rows = cast("Generator[SourceRow]", self._rows(reading, delivery))
        with closing(all_rows) as rows:
            for number, each in enumerate(rows, start=1):
                yield each
                if fails and number == self.day:
                    self.done["reading"] += 1
                    raise OSError(errno.EIO, "the disk did not answer")


def passes(work: Growing, faults: Faults) -> None:
    """Make passes until one neither dies nor fails, and finds nothing to do."""
    while True:
        try:
            progress = work.advance()
        except (_Died, PieceworkError, OSError):
            faults.done["passes ended"] += 1
            continue
        if progress.waiting_for in {"workers", "new rows"}:
            source = progress.source
            if source is None or not source.fault:
                return


def answer(workers: list[Worker]) -> int:
    """Let the workers do all HITs, in turns; return how many."""
    done = 0
    while True:
        worker = workers[done % len(workers)]
        groups = [group for group in worker.groups() if group["may_accept"]]
        if not groups:
            return done
        taken = worker.accept(groups[0]["hit_group_id"]).json()
        page = read_page(worker.http.get(taken["frame_url"]).text)
        form = _form(taken["assignment_id"], page, "good")
        worker.http.post("/mturk/externalSubmit", data=form).raise_for_status()
        done += 1


@pytest.mark.parametrize(
    ("days", "rows", "apart"), [(6, 20, 5), *in_full((100, 100, 13), (30, 1_000, 97), weeks=4)]
)
def test_each_row_is_dealt_answered_and_paid_once(
    days: int, rows: int, apart: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the books of the campaign and of the marketplace are equal."""
    text = TEXT.replace("batch = 4", f"batch = {rows}")
    text = text.replace("items_per_hit = 2", "items_per_hit = 5")
    text = text.replace('"900.00"', '"90000.00"')
    with growing(tmp_path, [], text) as work, ExitStack() as stack:
        endpoint = work.run.platform.endpoint
        workers = [Worker(endpoint) for _ in range(10)]
        for worker in workers:
            stack.enter_context(closing(worker.http))
        faults = Faults(monkeypatch, apart)
        expected: list[str] = []
        for day in range(1, days + 1):
            names = [f"d{day:03}r{number:04}" for number in range(rows)]
            expected += names
            whole = "".join(map(row, names))
            # A pass may come while the file is being written.
            for part in (whole[:-20], whole[-20:]):
                with work.items.open("a") as file:
                    file.write(part)
                faults.begin(day)
                passes(work, faults)
            answer(workers)
            faults.begin(day)
            passes(work, faults)
            work.move(hours=24)
            archive_settled(work.run, keep=2)
        faults.begin(0)
        passes(work, faults)
        if answer(workers):
            passes(work, faults)
        assert work.shown() == expected
        db = work.run.store.db
        answers = db.execute("SELECT item_id FROM answers ORDER BY item_id").fetchall()
        assert sorted(work.run.answers()["item_id"]) == expected
        assert [item for (item,) in answers] == expected
        books = httpx.get(f"{endpoint}/rehearsal/books", timeout=300).json()
        assert Counter(each["status"] for each in books["assignments"]) == {
            "Approved": days * rows // 5
        }
        annotations = Counter(hit["annotation"] for hit in books["hits"])
        assert set(annotations.values()) == {1}
        moves = "SELECT credit, debit, sum(amount_cents) FROM ledger GROUP BY 1, 2"
        moved = {(each[0], each[1]): each[2] for each in db.execute(moves)}
        assert moved["held", "rewards"] == days * rows // 5 * 50
        paid = sum(each["paid_cents"] for each in books["assignments"])
        fees = sum(each["fee_cents"] for each in books["assignments"])
        assert (paid, fees) == (moved["held", "rewards"], moved["held", "fees"])
        assert books["held_cents"] == 0
        assert all(faults.done[kind] for kind in (*KINDS, "reading"))
        print(dict(faults.done))  # noqa: T201 - `-s` shows it
