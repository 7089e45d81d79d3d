"""A pass costs what is new, not what has been, and little of that.

A campaign of four pictures holds each pass to a number of statements, of snapshots and of
modules. The same campaign stands at its second batch twice, with few and with ten times as many
answers to its first one, all of them decided and paid. SQLite counts for us: its trace
tells of every statement that runs, triggers included, and each row that is fetched goes
through the connection's row factory.
"""

import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from sqlite3 import Cursor
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import httpx
import pytest

import piecework
from piecework.campaign.assembling import load_campaign
from piecework.campaign.dealing import deal, first_round
from piecework.campaign.opened import CampaignRun
from piecework.domain.clock import FixedClock
from piecework.domain.ids import AssignmentId, HitId, HitTypeId
from piecework.domain.progress import Progress
from piecework.domain.verdicts import Decision
from piecework.engine.collect import collect
from piecework.engine.opening import open_for_rehearsal
from piecework.engine.run_pass import post, run_pass
from piecework.engine.settle import settle
from piecework.engine.take_in import take_in
from piecework.marketplace.http.server import Marketplace, serve
from piecework.results.whole_pass import archive_settled
from piecework.store import assignments, decisions, hits, intents, ledger
from piecework.store.connection import Values
from piecework.store.intents import Intent
from piecework.store.postgres.database import PostgresDatabase
from tests.crash import people as script
from tests.crash.people import People
from tests.growing_campaign import TEXT as GROWING
from tests.growing_campaign import Growing, growing, names, settle_all
from tests.small_campaign import CAMPAIGN, write_campaign
from tests.store.answered import answers_of
from tests.stores import stored_in

if TYPE_CHECKING:
    import psycopg

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
BEFORE = START - timedelta(days=3)
# 24 items, a HIT each, in two batches; one answer is wanted of each.
TEXT = (
    CAMPAIGN.replace("items_per_hit = 2", "items_per_hit = 1")
    .replace("answers = 2", "answers = 1")
    .replace('"20.00"', '"2000.00"')
)
Cost = tuple[int, int]
"""Statements that ran, and rows that were fetched."""


@contextmanager
def at_second_batch(folder: Path, *, answers_each: int, url: str = "") -> Iterator[CampaignRun]:
    """Batch 1 is over, with so many answers to each of its twelve HITs; 2 is posted."""
    folder.mkdir()
    path = write_campaign(folder, stored_in(TEXT, folder, url), pictures=24)
    with (
        serve(Marketplace(folder / "m.db", rehearsal=True, seed=1, start=START)) as running,
        open_for_rehearsal(load_campaign(path), running.endpoint_url, FixedClock(START)) as run,
    ):
        _first_batch(run, answers_each)
        reached = run_pass(run)
        assert (reached.batch, reached.hits_open) == (2, 12)
        assert reached.submitted == 12 * answers_each
        yield run


def _first_batch(run: CampaignRun, answers_each: int) -> None:
    """As earlier passes leave it: collected, decided, paid and booked."""
    store, workers = run.store, [f"W{number}" for number in range(answers_each)]
    planned = first_round(run.campaign, 1, deal(run.campaign)[0], on=run.clock.now().date())
    hits.plan(store, planned)
    with store.db.atomic():
        for hit in planned:
            hits.mark_posted(
                store,
                hit.hit_key,
                hit_type_id=HitTypeId("T"),
                hit_id=HitId(hit.hit_key),
                at=BEFORE,
                lifetime_seconds=86_400,
                duration_seconds=3_600,
                auto_approval_seconds=3_600,
            )
            for worker in workers:
                answers_of(store, hit, worker, at=BEFORE)
            hits.mark_collected(store, HitId(hit.hit_key), at=BEFORE)
    known = assignments.load_assignments(store)
    _approve(run, [assignment.assignment_id for assignment in known])
    clock = FixedClock(BEFORE)
    with store.db.atomic():
        for assignment in known:
            key = f"approve:{assignment.assignment_id}"
            name = assignment.assignment_id
            intent = Intent(key=key, operation="approve", subject=("assignment", name))
            intents.declare(store, intent, clock)
            store.db.execute(
                "UPDATE intents SET done_at = made_at, outcome = 'done' WHERE intent_key = ?", [key]
            )
            paid = {"rewards": 50, "fees": 10}
            for account, cents in paid.items():
                ledger.move(
                    store,
                    cents,
                    credit="requester",
                    debit=account,  # type: ignore[arg-type]  # two of the literal's
                    intent_key=key,
                    batch=1,
                    at=BEFORE,
                )
            assignments.mark_settled(store, assignment.assignment_id, outcome="done")


def _approve(run: CampaignRun, assignment_ids: list[AssignmentId]) -> None:
    """Decide for all of them, and for their answers."""

    def decision(kind: str, subject: str, verdict: str) -> Decision:
        return Decision(
            subject_kind=kind,  # type: ignore[arg-type]  # of the literal's own
            subject_id=subject,
            verdict=verdict,  # type: ignore[arg-type]  # of the literal's own
            decided_by="policy:crash",
            decided_at=BEFORE,
            because="nothing speaks against it",
        )

    of_answers = assignments.verdicts_of_answers(run.store, assignment_ids)
    decisions.keep_decisions(
        run.store,
        [
            *(decision("assignment", name, "approve") for name in assignment_ids),
            *(decision("answer", answer_id, "keep") for answer_id, _, _ in of_answers),
        ],
    )


def cost_of(run: CampaignRun, act: Callable[[], object]) -> Cost:
    """What an act asks of the store."""
    if isinstance(run.store.db, PostgresDatabase):
        return _cost_in_postgresql(run.store.db, act)
    statements, rows = [0], [0]

    def count_statement(statement: str) -> None:
        # How many acts come back at once, and share a transaction and its mark, is
        # chance.
        if not statement.startswith(("BEGIN", "COMMIT", "PRAGMA user_version")):
            statements[0] += 1

    def count_row(cursor: Cursor, row: tuple[object, ...]) -> tuple[object, ...]:
        rows[0] += cursor.description[0][0] != "user_version"
        return row

    connection = run.store.db.conn
    connection.set_trace_callback(count_statement)
    connection.row_factory = count_row
    try:
        act()
    finally:
        connection.set_trace_callback(None)
        connection.row_factory = None
    return statements[0], rows[0]


def _cost_in_postgresql(db: PostgresDatabase, act: Callable[[], object]) -> Cost:
    """The same: statements that the driver sends, and rows that PostgreSQL reads.

    It reads small tables whole unless it is kept from that. So this counts what it
    reads where indexes save work.
    """
    statements = [0]
    execute = db.execute

    def counted(
        sql: str, parameters: Values | Mapping[str, Any] | None = None
    ) -> "psycopg.Cursor[tuple[Any, ...]]":
        statements[0] += "store_counts" not in sql and "marketplace_mark" not in sql
        return execute(sql, parameters)

    db.execute("SET enable_seqscan = off")
    before = _rows_read(db)
    db.execute = counted  # type: ignore[method-assign]
    try:
        act()
    finally:
        db.execute = execute  # type: ignore[method-assign]
    return statements[0], _rows_read(db) - before


def _rows_read(db: PostgresDatabase) -> int:
    """Rows of the schema's tables that were read, by triggers too."""
    db.execute("SELECT pg_stat_force_next_flush()")
    (rows,) = db.execute(
        "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) "
        "FROM pg_stat_user_tables WHERE schemaname = current_schema() "
        "AND relname <> 'store_counts'"
    ).fetchone() or (0,)
    return int(rows)


def _costs(run: CampaignRun) -> dict[str, Cost]:
    """Three passes: nothing is due; ten HITs have come; ten are paid and replaced."""
    people = People(str(run.platform.endpoint))
    costs = {"nothing due": cost_of(run, lambda: run_pass(run))}
    assert people.work(at_most=10) == 10
    costs["ten HITs came"] = cost_of(run, lambda: run_pass(run))
    came = [
        assignment.assignment_id
        for assignment in assignments.load_assignments(
            run.store, assignment_ids=assignments.undecided(run.store)
        )
    ]
    assert len(came) == 10
    _approve(run, came)

    def pay_and_post() -> None:
        assert settle(run) == 10
        post(run)

    costs["ten are paid"] = cost_of(run, pay_and_post)
    return costs


def test_a_pass_asks_no_more_of_a_store_that_holds_ten_times_as_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """36 old answers or 360: the same statements and rows, to the last one."""
    workers = [(f"worker {number}", "good") for number in range(10)]
    monkeypatch.setattr(script, "SCRIPT", workers)
    costs = []
    for name, answers_each in (("few", 3), ("many", 30)):
        with at_second_batch(tmp_path / name, answers_each=answers_each) as run:
            costs.append(_costs(run))
    few, many = costs
    assert many == few
    # It does ask: each of ten HITs is written down with its answer, and paid for.
    assert few["ten HITs came"] > few["nothing due"] > (20, 10)
    assert few["ten are paid"][0] > 10 * 5


def test_a_pass_reads_no_more_of_a_store_in_postgresql(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres_url: str
) -> None:
    """The same statements; rows of old answers are read by an index, if at all."""
    workers = [(f"worker {number}", "good") for number in range(10)]
    monkeypatch.setattr(script, "SCRIPT", workers)
    costs = []
    for name, answers_each in (("few", 3), ("many", 30)):
        with at_second_batch(tmp_path / name, answers_each=answers_each, url=postgres_url) as run:
            costs.append(_costs(run))
    few, many = costs
    for act, (statements, rows) in few.items():
        assert many[act][0] == statements
        assert many[act][1] <= 1.1 * rows


T = TypeVar("T")
SNAPSHOT = "count(undone_at) FROM stops"
"""Part of a statement that only a snapshot sends."""
SOURCES = str(Path(piecework.__file__).parent)


class Pass(NamedTuple):
    """What a pass cost: statements that it sent, snapshots, and modules that it ran.

    Attributes:
        of_step: modules that a step ran when it acted.
    """

    statements: int
    snapshots: int
    modules: int
    of_step: Mapping[str, int]


def cost_of_pass(run: CampaignRun) -> tuple[Pass, Progress]:
    """Make a pass, and count.

    SQLite's trace names a statement again for each step of its triggers, which no
    process sends: statements that repeat the one before them count once.
    """
    sent, modules, of_step = list[str](), set[str](), dict[str, int]()

    def see(frame: FrameType, event: str, _arg: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(SOURCES):
            modules.add(code.co_filename)

    def call(name: str, step: Callable[[], T], /) -> T:
        others = {*modules}
        modules.clear()
        done = step()
        of_step[name] = len(modules)
        modules.update(others)
        return done

    run.store.db.conn.set_trace_callback(sent.append)
    threading.setprofile(see)
    sys.setprofile(see)
    try:
        reached = run_pass(run, call=call)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        run.store.db.conn.set_trace_callback(None)
    statements = sum(now != before for before, now in pairwise(["", *sent]))
    snapshots = sum(SNAPSHOT in each for each in sent)
    return Pass(statements, snapshots, len(modules), of_step), reached


def test_cost_of_a_pass(tmp_path: Path) -> None:
    """Of four pictures: 60 statements and a snapshot without work, 150 and two with work."""
    path = write_campaign(tmp_path, stored_in(CAMPAIGN, tmp_path, ""))
    with (
        serve(Marketplace(tmp_path / "m.db", rehearsal=True, seed=1, start=START)) as running,
        open_for_rehearsal(load_campaign(path), running.endpoint_url, FixedClock(START)) as run,
    ):
        people, busy, idle = People(str(run.platform.endpoint)), list[Pass](), list[Pass]()
        reached = None
        while reached is None or not reached.is_finished:
            # Answers are collected, judged, settled, and asked for again.
            cost, reached = cost_of_pass(run)
            busy.append(cost)
            cost, again = cost_of_pass(run)
            idle.append(cost)
            assert again == reached
            people.work()
        assert (reached.submitted, reached.rejected, reached.excluded) == (6, 1, 2)
        assert len(busy) == 5
    assert max(cost.statements for cost in idle) <= 60
    assert {cost.snapshots for cost in idle} == {1}
    assert max(cost.modules for cost in idle) <= 42
    assert 100 < max(cost.statements for cost in busy) <= 150
    assert {cost.snapshots for cost in busy} == {2}
    assert max(cost.modules for cost in busy) <= 83
    of_steps = [cost.of_step for cost in busy]
    assert max(steps.get("settle", 0) for steps in of_steps) <= 22
    assert max(steps.get("launch", 0) for steps in of_steps) <= 45


def _calls_to_read(path: Path, *, of: str = "") -> int:
    """How many functions are called, or that of this name, while a campaign is read."""
    calls = [0]

    def see(frame: FrameType, event: str, _arg: object) -> None:
        if of:
            calls[0] += event == "call" and frame.f_code.co_name == of
        else:
            calls[0] += event in {"call", "c_call"}

    sys.setprofile(see)
    try:
        load_campaign(path)
    finally:
        sys.setprofile(None)
    return calls[0]


def test_reading_an_item_takes_few_calls(tmp_path: Path) -> None:
    """A pass in a new process reads all items, and checks each of them again."""
    calls = []
    for folder, count in ((tmp_path / "few", 100), (tmp_path / "many", 1100)):
        folder.mkdir()
        path = write_campaign(folder, pictures=count)
        _calls_to_read(path)  # what is read once for a process
        calls.append(_calls_to_read(path))
    # Measured: 56, of Python and of C.
    assert (calls[1] - calls[0]) / 1000 <= 56


def test_the_folder_of_pictures_is_looked_up_once(tmp_path: Path) -> None:
    """Of each picture its place is asked, which takes most of the time to read an item."""
    text = CAMPAIGN.replace("batches = 2", 'batches = 2\npictures = "photos"')
    path = write_campaign(tmp_path, text, pictures=100)
    items = path.with_name("items.csv")
    items.write_text(items.read_text().replace("https://example.org/", ""))
    (tmp_path / "photos").mkdir()
    for number in range(1, 101):
        (tmp_path / "photos" / f"{number}.jpg").touch()
    assert _calls_to_read(path, of="realpath") < 100 + 30


def test_ten_hits_are_fetched_with_one_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where assignments are listed together; elsewhere each HIT takes a call."""
    monkeypatch.setattr(script, "SCRIPT", [(f"worker {number}", "good") for number in range(10)])
    with at_second_batch(tmp_path / "one", answers_each=1) as run:
        assert People(str(run.platform.endpoint)).work() == 10
        assert collect(run) == 10
        reply = httpx.get(f"{run.platform.endpoint}/rehearsal/calls").json()
        assert reply.get("calls", reply)["ListAssignmentsForHIT"] == 1


@contextmanager
def after_batches(
    folder: Path, *, batches: int, size: int, archives: bool = False
) -> Iterator[Growing]:
    """So many batches of a campaign that grows are settled; two HITs are open."""
    folder.mkdir()
    # A batch a day costs 2.40; the budget has to last.
    text = GROWING.replace('"900.00"', '"9000000.00"')
    with growing(folder, names(1, batches * size), text) as grown:
        assert take_in(grown.run) == batches * size
        assert settle_all(grown.run, size=size) == batches
        if archives:
            archived = archive_settled(grown.run, keep=1)
            assert len(archived.parts) == batches - 1
        grown.append("new1", "new2", "new3", "new4")
        reached = grown.advance()
        assert (reached.batch, reached.hits_open) == (batches + 1, 2)
        assert reached.accepted == batches * size
        yield grown


def instructions(run: CampaignRun, act: Callable[[], object]) -> int:
    """How many instructions of SQLite's machine an act takes, in hundreds.

    Unlike seconds, they are the same each time. A scan takes a few for each row.
    """
    counts = [0]

    def count() -> int:
        counts[0] += 1
        return 0

    connection = run.store.db.conn
    connection.set_progress_handler(count, 100)
    try:
        act()
    finally:
        connection.set_progress_handler(None, 0)
    return counts[0]


def test_an_idle_pass_after_many_batches_reads_as_little_as_after_one(tmp_path: Path) -> None:
    """1,200 items were dealt before, or 3,000."""
    costs = []
    for name, size in (("few", 600), ("many", 1_500)):
        with after_batches(tmp_path / name, batches=2, size=size) as grown:
            costs.append(instructions(grown.run, grown.advance))
    few, many = costs
    assert few > 10  # the handler is called
    assert many <= 1.1 * few


def test_a_working_pass_reads_no_answer_that_was_archived(tmp_path: Path) -> None:
    """Four answers come after 10 batches, or after 30, each of 100 items."""
    costs = []
    for name, batches in (("few", 10), ("many", 30)):
        folder = tmp_path / name
        with after_batches(folder, batches=batches, size=100, archives=True) as grown:
            assert grown.people.work() == 2
            costs.append(cost_of(grown.run, grown.advance))
            assert len(grown.run.recent_answers()) == 104
    (few_statements, few_rows), (many_statements, many_rows) = costs
    assert many_statements == few_statements
    # A few rows of totals for each batch.
    assert many_rows <= few_rows + 20 * 8
