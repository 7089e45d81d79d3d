"""Run a campaign under faults to its end, and check what must be true then."""

import json
from collections import Counter
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from piecework.config.campaign_file import parse
from piecework.domain.store_address import StoreAddress, in_folder
from piecework.marketplace.state import ledger
from piecework.marketplace.state.backend import Backend, Rules
from piecework.store.connection import Asked
from piecework.store.database import exists, open_store
from tests.crash.disturbed import Call, Ended, calls_made, pass_apart, reconcile_apart, run_command
from tests.crash.faults import FAILED, KILLED, Fault
from tests.crash.people import WITH_A_HALF, People
from tests.crash.world import World, small_disk
from tests.small_campaign import CAMPAIGN, write_campaign
from tests.stores import stored_in

MOST_PASSES = 40
_REFUSED = 3


@dataclass(frozen=True, slots=True)
class Ending:
    """The result of a finished campaign.

    Attributes:
        disturbed: exit codes of the passes from the first call with the fault to the
            first pass that ended well.
    """

    books: dict[str, Any]
    calls: list[Call]
    disturbed: tuple[int | None, ...]
    folder: Path


def campaign_to_its_end(
    folder: Path, fault: Fault | None = None, call: Call | None = None, *, url: str = ""
) -> Ending:
    """Run passes and people until the campaign waits for nobody.

    Args:
        folder: an empty folder.
        fault: what goes wrong.
        call: the call at which it goes wrong.
        url: the database of its store; "" for a file.
    """
    path = write_campaign(folder, stored_in(CAMPAIGN, folder, url))
    address = parse(path).store
    world = World(folder, address=address)
    needs = "" if fault is None else fault.world
    with ExitStack() as stack:
        is_full = needs == "disk full"
        stack.enter_context(small_disk(world.out) if is_full else nullcontext())
        stack.enter_context(world.marketplace(apart="marketplace" in needs))
        stack.callback(world.mend)
        run = _Run(world, fault, call)
        run.to_the_end()
        books = httpx.get(f"{world.endpoint}/rehearsal/books").json()
        check_store(books, address)
    check_marketplace(folder / "marketplace.db")
    return Ending(books, calls_made(folder), tuple(run.disturbed), folder)


def is_unmade(ending: Ending, fault: Fault, call: Call) -> bool:
    """Whether the call is not made under this fault: a lagging list has fewer pages."""
    lags = "lag" in fault.name and call.operation == "ListHITs"
    return lags and call not in ending.calls


class _Run:
    """One campaign under one fault."""

    def __init__(self, world: World, fault: Fault | None, call: Call | None) -> None:
        self.world, self.fault, self.call = world, fault, call
        self.disturbed: list[int | None] = []
        self.people = People(world.endpoint, script=WITH_A_HALF)
        self._moves = 0

    def to_the_end(self) -> None:
        self._tell_marketplace()
        for _ in range(MOST_PASSES):
            ended = pass_apart(self.world, self.fault, self.call)
            if ended.code == _REFUSED and self._restores:
                self._reconcile(ended)
                continue
            if ended.code != 0:
                self._mend(ended)
                continue
            if self._has_met and not self.disturbed:
                self.disturbed.append(0)
                self.world.mend()
                if self._restores:
                    continue
            waiting_for = ended.output.strip()
            if waiting_for == "nobody":
                return
            if waiting_for == "workers" and not self.people.work():
                self._let_time_pass(ended)
        raise AssertionError(f"{MOST_PASSES} passes were not enough")

    @property
    def _restores(self) -> bool:
        return self.fault is not None and self.fault.world == "store restored"

    def _reconcile(self, ended: Ended) -> None:
        """Return what the refused pass tells a user to do."""
        assert "restored from an older copy" in ended.complained, ended
        assert "next: piecework store reconcile" in ended.complained, ended
        self.disturbed.append(3)
        done = reconcile_apart(self.world)
        assert done.code == 0, done

    @property
    def _has_met(self) -> bool:
        return self.call in calls_made(self.world.folder)

    def _tell_marketplace(self) -> None:
        if self.fault is None or not self.fault.script:
            return
        assert self.call is not None
        where = {"operation": self.call.operation, "call": self.call.nth}
        script = [step if step["kind"] == "lag" else step | where for step in self.fault.script]
        self._put("faults", script)

    def _mend(self, ended: Ended) -> None:
        """Do what a user sees, checks and does before the next pass."""
        assert self.fault is not None, ended
        assert self._has_met, ended
        self.disturbed.append(ended.code)
        assert frozenset({ended.code}) in {KILLED, FAILED}, ended
        if ended.code == 1:
            # One sentence and the next command, without a traceback.
            assert "Traceback" not in ended.complained, ended
            assert "next: " in ended.complained, ended
        self._look()
        self.world.mend()
        if self.fault.kind == "script":
            self._put("faults", [])
        if self.fault.hours_dead:
            self._move_clock(self.fault.hours_dead)

    def _look(self) -> None:
        """Check that the store can be read during the fault."""
        if not exists(self.world.address or in_folder(self.world.out / "crash")):
            return
        campaign = str(self.world.folder / "crash.toml")
        ended = run_command(self.world, "status", campaign, "--json")
        if "no pass has begun" in ended.complained:
            return
        assert ended.code == 0, ended
        assert json.loads(ended.output)["campaign"].startswith("crash")

    def _let_time_pass(self, ended: Ended) -> None:
        """Wait until a lagging list shows the HIT."""
        assert self.fault is not None, ended
        assert "lag" in self.fault.name, ended
        self._move_clock(2)
        self._moves += 1
        assert self._moves < 10

    def _move_clock(self, hours: float) -> None:
        at = httpx.get(f"{self.world.endpoint}/rehearsal/clock").json()["now"]
        now = datetime.fromisoformat(at) + timedelta(hours=hours)
        self._put("clock", {"now": now.isoformat()})

    def _put(self, what: str, document: object) -> None:
        url = f"{self.world.endpoint}/rehearsal/{what}"
        httpx.put(url, json=document).raise_for_status()


def check_marketplace(database: Path) -> None:
    """Check the marketplace's own invariants."""
    check_laws(database, Rules(rehearsal=True, seed=1))


def check_laws(database: Path, rules: Rules) -> None:
    """Check the same for a marketplace with other rules."""
    with closing(Backend(database, rules)) as backend, backend.transaction() as transaction:
        assert ledger.broken_laws(transaction) == []


def check_store(books: dict[str, Any], address: StoreAddress | Path, *, fee: int = 10) -> None:
    """Check that the end is the same after any fault; `fee` is of an assignment, in cents."""
    with closing(open_store(address)) as store:
        _check_hits(books, store.db)
        _check_money(books, store.db, fee)
        left = "SELECT count(*) FROM intents WHERE done_at IS NULL"
        assert store.db.execute(left).fetchone() == (0,)


def _check_hits(books: dict[str, Any], store: Asked) -> None:
    # Two batches of one HIT. Each was extended once, for a lost assignment; the second
    # also lost one answer, which was asked for in a separate HIT.
    hits = dict(store.execute("SELECT hit_key, hit_id FROM hits WHERE extends IS NULL"))
    assert len(hits) == 3
    extended = store.execute("SELECT extends FROM hits WHERE extends IS NOT NULL")
    assert len({*extended}) == 2
    assert sorted(hit["max_assignments"] for hit in books["hits"]) == [1, 3, 3]
    annotations = Counter(hit["annotation"] for hit in books["hits"])
    assert {text.split("/")[1] for text in annotations} == set(hits)
    assert set(annotations.values()) == {1}
    assert {hit["hit_id"] for hit in books["hits"]} == set(hits.values())

    statuses = Counter(assignment["status"] for assignment in books["assignments"])
    assert statuses == {"Approved": 6, "Rejected": 1}
    kept = store.execute("SELECT count(*) FROM assignments").fetchone()[0]
    assert kept == len(books["assignments"]) == 7
    assert store.execute("SELECT count(*) FROM answers").fetchone()[0] == 13
    # No worker answered an item twice, and no answer is missing.
    twice = store.execute(
        "SELECT count(*) - count(DISTINCT worker_id || item_id) "
        "FROM answers JOIN assignments USING (assignment_id)"
    )
    assert twice.fetchone() == (0,)
    totals = store.execute("SELECT min(workers), max(kept) FROM items")
    assert totals.fetchone() == (2, 2)


def _check_money(books: dict[str, Any], store: Asked, fee: int) -> None:
    # Six approved assignments of 50 cents and the fee of each; no money is held.
    paid = sum(assignment["paid_cents"] for assignment in books["assignments"])
    fees = sum(assignment["fee_cents"] for assignment in books["assignments"])
    assert (paid, fees, books["held_cents"]) == (300, 6 * fee, 0)
    whole = 300 + 6 * fee
    assert books["balance_cents"] == 1_000_000 - whole
    ledger = {"fees": 0} | _ledger(store)
    assert ledger == {"requester": -whole, "held": 0, "rewards": 300, "fees": 6 * fee}

    excluded = [
        qualification
        for qualification in books["qualifications"]
        if qualification["status"] == "Granted"
    ]
    assert len(excluded) == len({qualification["worker_id"] for qualification in excluded}) == 3
    assert books["blocks"] == []


def _ledger(store: Asked) -> dict[str, int]:
    totals: Counter[str] = Counter()
    for credit, debit, cents in store.execute("SELECT credit, debit, amount_cents FROM ledger"):
        totals[credit] -= cents
        totals[debit] += cents
    return dict(totals)
