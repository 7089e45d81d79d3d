"""Reconciling: what it refuses, what it survives, and what it leaves alone."""

import shutil
import sqlite3
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import CampaignRun
from piecework.cli.main import main
from piecework.domain.errors import PieceworkError, RefusedForSafety, StoreError
from piecework.domain.ids import WorkerId
from piecework.domain.verdicts import Decision, Verdict
from piecework.engine import collect, judge, settle
from piecework.engine.opening import open_on_marketplace
from piecework.engine.pass_request import PassRequest
from piecework.engine.payments.compensations import pay_compensation, plan_compensation
from piecework.engine.progress import read_progress
from piecework.engine.quick_check import cached_progress
from piecework.engine.recover.adopting import adopt_bonuses, begin_adopting
from piecework.engine.recover.reconcile import Reconciliation, owed_path, reconcile
from piecework.engine.requirements import exclusion_types, extendable
from piecework.engine.run_pass import run_pass
from piecework.marketplace.http.server import Marketplace, serve
from piecework.platforms import listing
from piecework.platforms.client import turk_client
from piecework.platforms.listing import newer
from piecework.results.whole_pass import advance_without_prefect
from piecework.simulation.crowd.browser import Page
from piecework.store import assignments, campaign_facts, decisions, generations, hits, ledger
from piecework.store.database import writing
from piecework.store.settlements import ELSEWHERE, PAID_ALREADY
from tests.conftest import in_full
from tests.crash.people import WITH_A_HALF, People, _form
from tests.crash.world import START
from tests.growing_campaign import names, row, write_growing
from tests.marketplace.market import free_port
from tests.small_campaign import CAMPAIGN, write_campaign


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the small campaign."""
    write_campaign(tmp_path)
    return tmp_path


PORT = free_port()


@contextmanager
def _market(folder: Path, name: str = "m.db", *, seed: int = 1) -> Iterator[str]:
    """A marketplace, always at the same address."""
    with serve(
        Marketplace(folder / name, rehearsal=True, seed=seed, start=START, port=PORT)
    ) as running:
        yield running.endpoint_url


@contextmanager
def _opened(folder: Path, endpoint: str, *, restored: bool = False) -> Iterator[CampaignRun]:
    with open_on_marketplace(
        load_campaign(folder / "crash.toml"), endpoint, live=False, allow_restored=restored
    ) as run:
        yield run


def _pass(folder: Path, endpoint: str) -> str:
    with _opened(folder, endpoint) as run:
        return run_pass(run, poll_open_hits=True).waiting_for


def _to_the_end(folder: Path, endpoint: str, people: People) -> None:
    for _ in range(20):
        if _pass(folder, endpoint) == "nobody":
            return
        people.work()
    raise AssertionError("twenty passes were not enough")


def _reconcile(
    folder: Path, endpoint: str, *, dry_run: bool = False, despite_refusals: bool = False
) -> Reconciliation:
    with _opened(folder, endpoint, restored=True) as run:
        return reconcile(run, dry_run=dry_run, despite_refusals=despite_refusals)


def _copy(database: Path, to: Path) -> None:
    with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(to)) as copy:
        source.backup(copy)


def _put_back(copy: Path, database: Path) -> None:
    for log in ("-wal", "-shm"):
        database.with_name(database.name + log).unlink(missing_ok=True)
    shutil.copy(copy, database)


def _rows(folder: Path) -> list[list[tuple[object, ...]]]:
    """All that the store says about work and money."""
    with closing(sqlite3.connect(folder / "out/crash/piecework.db")) as store:
        return [
            store.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
            for table in ("hits", "intents", "assignments", "decisions", "ledger")
        ]


def _money(store: Path) -> dict[str, int]:
    """What each account of a store's ledger holds, in cents."""
    with closing(sqlite3.connect(store)) as written:
        rows = written.execute("SELECT account, cents FROM balances")
        return dict(rows.fetchall())


def test_another_marketplace_at_the_address_is_refused(folder: Path) -> None:
    """Its account is another, and nothing of the store is given up for it."""
    with _market(folder) as endpoint:
        assert _pass(folder, endpoint) == "workers"
    before = _rows(folder)
    with _market(folder, "other.db", seed=2) as endpoint:
        with pytest.raises(RefusedForSafety, match="or it is another marketplace"):
            _pass(folder, endpoint)
        with pytest.raises(RefusedForSafety, match="it is another marketplace, or"):
            _reconcile(folder, endpoint)
        assert httpx.get(f"{endpoint}/rehearsal/books").json()["hits"] == []
    assert _rows(folder) == before


def test_another_requesters_keys_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every HIT is unknown under them, and still live."""
    with _market(folder) as endpoint:
        assert _pass(folder, endpoint) == "workers"
        before = _rows(folder)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ANOTHER")
        with pytest.raises(RefusedForSafety, match="keys are another requester's"):
            _reconcile(folder, endpoint)
        assert _rows(folder) == before


def test_where_nothing_differs_nothing_is_changed(folder: Path) -> None:
    """Twice, at the beginning and at the end."""
    people = None
    with _market(folder) as endpoint:
        assert _pass(folder, endpoint) == "workers"
        for _ in range(2):
            before = _rows(folder)
            result = _reconcile(folder, endpoint)
            assert result.comparison.is_equal
            assert result.owed == ()
            assert _rows(folder) == before
            people = people or People(endpoint, script=WITH_A_HALF)
            _to_the_end(folder, endpoint, people)


@pytest.mark.full
def test_a_dry_run_leaves_the_copy_recognised_as_one(folder: Path) -> None:
    """It changes nothing, so the next pass is refused as before."""
    store = folder / "out/crash/piecework.db"
    with _market(folder) as endpoint:
        people = People(endpoint, script=WITH_A_HALF)
        assert _pass(folder, endpoint) == "workers"
        _copy(store, folder / "copy.db")
        _to_the_end(folder, endpoint, people)
        _put_back(folder / "copy.db", store)
        before = _rows(folder)
        for _ in range(2):
            assert not _reconcile(folder, endpoint, dry_run=True).comparison.is_equal
            with pytest.raises(RefusedForSafety, match="restored from an older copy"):
                _pass(folder, endpoint)
        assert _rows(folder) == before


def test_a_command_at_work_stops_when_its_marketplace_was_restored(folder: Path) -> None:
    """`run` lives for days; it posts and pays nothing on the copy."""
    with ExitStack() as at_work, ExitStack() as first_server:
        endpoint = first_server.enter_context(_market(folder))
        _copy(folder / "m.db", folder / "copy.db")
        run = at_work.enter_context(_opened(folder, endpoint))
        assert run_pass(run).waiting_for == "workers"
        first_server.close()
        _put_back(folder / "copy.db", folder / "m.db")
        with _market(folder):
            with pytest.raises(RefusedForSafety, match="while this command was"):
                run_pass(run, poll_open_hits=True)
            assert httpx.get(f"{endpoint}/rehearsal/books").json()["hits"] == []


@pytest.mark.parametrize("is_left", [False, True])
def test_a_refused_act_holds_the_campaign_until_a_person_says_otherwise(
    folder: Path, *, is_left: bool
) -> None:
    """A marketplace of before the approvals refuses one that is made again."""
    with _market(folder) as endpoint:
        people = People(endpoint, script=WITH_A_HALF)
        assert _pass(folder, endpoint) == "workers"
        assert people.work() == 2
        _copy(folder / "m.db", folder / "copy.db")
        assert _pass(folder, endpoint) == "workers"
    _put_back(folder / "copy.db", folder / "m.db")
    with _market(folder) as endpoint:
        refusing = {
            "kind": "refuse",
            "operation": "ApproveAssignment",
            "call": 2,
            "error": {"message": "Not today."},
        }
        url = f"{endpoint}/rehearsal/faults"
        httpx.put(url, json=[refusing]).raise_for_status()
        result = _reconcile(folder, endpoint, despite_refusals=is_left)
        assert [str(refusal)[:10] for _, refusal in result.refused] == ["Not today."]
        if is_left:
            assert _pass(folder, endpoint) == "workers"
            return
        with pytest.raises(RefusedForSafety, match="restored from an older copy"):
            _pass(folder, endpoint)
        result = _reconcile(folder, endpoint)
        assert len(result.comparison.undone) == 1
        books = httpx.get(f"{endpoint}/rehearsal/books").json()
        assert [each["status"] for each in books["assignments"]] == ["Approved"] * 2
        assert _reconcile(folder, endpoint).comparison.is_equal


def test_a_repeat_whose_reply_was_lost_is_not_left_open(folder: Path) -> None:
    """The approval was done; the next comparison finds nothing to repeat."""
    with _market(folder) as endpoint:
        people = People(endpoint, script=WITH_A_HALF)
        assert _pass(folder, endpoint) == "workers"
        assert people.work() == 2
        _copy(folder / "m.db", folder / "copy.db")
        assert _pass(folder, endpoint) == "workers"
    _put_back(folder / "copy.db", folder / "m.db")
    with _market(folder) as endpoint:
        result = _reconcile(folder, endpoint, dry_run=True)
        assert len(result.comparison.undone) == 2
        with closing(sqlite3.connect(folder / "out/crash/piecework.db")) as written:
            written.execute(
                "CREATE TRIGGER the_end BEFORE UPDATE OF done_at ON intents "
                "WHEN new.operation = 'repeat' "
                "BEGIN SELECT RAISE(ABORT, 'the process ended'); END"
            )
            with pytest.raises(sqlite3.IntegrityError, match="the process ended"):
                _reconcile(folder, endpoint)
            written.execute("DROP TRIGGER the_end")
            assert len(_reconcile(folder, endpoint).comparison.undone) < 2
            left = "SELECT intent_key FROM intents WHERE done_at IS NULL"
            assert written.execute(left).fetchall() == []
        books = httpx.get(f"{endpoint}/rehearsal/books").json()
    assert [each["status"] for each in books["assignments"]] == ["Approved"] * 2


def test_work_that_came_before_reconciling_is_collected_and_paid(folder: Path) -> None:
    """Other workers answer a HIT on the restored marketplace; each is paid."""
    with _market(folder) as endpoint:
        people = People(endpoint, script=(("ann", "good"), ("cat", "good")))
        assert _pass(folder, endpoint) == "workers"
        _copy(folder / "m.db", folder / "copy.db")
        assert people.work() == 2
        assert _pass(folder, endpoint) == "workers"
    _put_back(folder / "copy.db", folder / "m.db")
    with _market(folder) as endpoint:
        others = People(endpoint, script=(("eve", "good"), ("fay", "good")))
        assert others.work() == 2
        assert len(_reconcile(folder, endpoint).comparison.reopened) == 1
        with _opened(folder, endpoint) as run:
            # What is lost is posted again under ids that a rehearsal draws twice.
            for step in (collect.collect, judge.assess, judge.decide, settle.settle):
                step(run)
        books = httpx.get(f"{endpoint}/rehearsal/books").json()
        first_hit = books["assignments"][:2]
        assert [each["status"] for each in first_hit] == ["Approved"] * 2
    with closing(sqlite3.connect(folder / "out/crash/piecework.db")) as store:
        kept = store.execute("SELECT assignment_id FROM assignments").fetchall()
    assert {each["assignment_id"] for each in first_hit} <= {name for (name,) in kept}


def test_lost_work_is_owed_once_however_often_it_is_reconciled(folder: Path) -> None:
    """The file is for the requester alone, and names pseudonyms."""
    with _market(folder) as endpoint:
        people = People(endpoint, script=WITH_A_HALF)
        assert _pass(folder, endpoint) == "workers"
        _copy(folder / "m.db", folder / "copy.db")
        assert people.work() == 2
        assert _pass(folder, endpoint) == "workers"
    _put_back(folder / "copy.db", folder / "m.db")
    with _market(folder) as endpoint:
        first, second = (_reconcile(folder, endpoint) for _ in range(2))
        assert len(first.comparison.lost_assignments) == 2
        assert first.owed == second.owed
        assert sum(each.cents for each in first.owed) == 100
        assert second.comparison.is_equal
        with _opened(folder, endpoint) as run:
            file = owed_path(run)
    assert file.stat().st_mode & 0o077 == 0
    lines = file.read_text().splitlines()
    assert lines[0] == "worker,amount,reason"
    assert sorted(line.split(",")[1] for line in lines[1:]) == ["0.50", "0.50"]


def test_lost_work_that_was_rejected_is_owed_what_was_paid_before(folder: Path) -> None:
    """The marketplace had approved one of two assignments when both were rejected."""
    with _market(folder) as endpoint:
        people = People(endpoint, script=(("dan", "paste"), ("eve", "paste")))
        assert _pass(folder, endpoint) == "workers"
        _copy(folder / "m.db", folder / "copy.db")
        assert people.work() == 2
        with _opened(folder, endpoint) as run:
            collect.collect(run)
            paid_before, _ = assignments.load_assignments(run.store)
            run.platform.approve(paid_before.assignment_id)
            for step in (judge.assess, judge.decide, settle.settle):
                step(run)
            paid = ledger.paid_cents(run.store, "rewards")
    assert paid == {paid_before.assignment_id: 50}
    _put_back(folder / "copy.db", folder / "m.db")
    with _market(folder) as endpoint:
        owed = {each.assignment_id: each.cents for each in _reconcile(folder, endpoint).owed}
    assert len(owed) == 2
    assert {name: cents for name, cents in owed.items() if cents} == paid


@pytest.mark.parametrize("is_rejected", [False, True], ids=["too late", "paid all the same"])
def test_the_marketplace_s_own_verdict_comes_again(folder: Path, *, is_rejected: bool) -> None:
    """Both were to be rejected. The first was too late, or a market paid it although rejected."""
    with _market(folder) as endpoint:
        people = People(endpoint, script=(("dan", "paste"), ("eve", "paste")))
        assert _pass(folder, endpoint) == "workers"
        assert people.work() == 2
        _copy(folder / "m.db", folder / "copy.db")
        with _opened(folder, endpoint) as run:
            collect.collect(run)
            paid_before, _ = assignments.load_assignments(run.store)
            if not is_rejected:
                run.platform.approve(paid_before.assignment_id)
            for step in (judge.assess, judge.decide, settle.settle):
                step(run)
            with writing(run.store):
                assignments.mark_settled(run.store, paid_before.assignment_id, outcome=PAID_ALREADY)
    before = _money(folder / "out/crash/piecework.db")
    assert before.get("rewards", 0) == (0 if is_rejected else 50)
    _put_back(folder / "copy.db", folder / "m.db")
    with _market(folder) as endpoint:
        assert len(_reconcile(folder, endpoint).comparison.undone) == 2
        books = httpx.get(f"{endpoint}/rehearsal/books").json()
        assert _reconcile(folder, endpoint).comparison.is_equal
    status = {each["assignment_id"]: each["status"] for each in books["assignments"]}
    assert status.pop(paid_before.assignment_id) == ("Rejected" if is_rejected else "Approved")
    assert [*status.values()] == ["Rejected"]
    assert _money(folder / "out/crash/piecework.db") == before


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(
            "UPDATE OF done_at ON intents WHEN new.operation = 'forget'", marks=pytest.mark.full
        ),
        pytest.param(
            "UPDATE OF done_at ON intents WHEN new.intent_key LIKE 'forget:crash%'",
            marks=pytest.mark.full,
        ),
        pytest.param("UPDATE OF outcome ON assignments", marks=pytest.mark.full),
        pytest.param(
            "UPDATE OF collected_at ON hits WHEN new.collected_at IS NULL", marks=pytest.mark.full
        ),
        "INSERT ON ledger WHEN new.debit = 'held'",
    ],
)
def test_reconciling_that_ends_at_a_write_is_ended_by_the_next(folder: Path, write: str) -> None:
    """No intent stays open, and as much is held as if it had not ended."""
    store = folder / "out/crash/piecework.db"
    with _market(folder) as endpoint:
        people = People(endpoint, script=WITH_A_HALF)
        assert _pass(folder, endpoint) == "workers"
        _copy(folder / "m.db", folder / "copy.db")
        _to_the_end(folder, endpoint, people)
    _copy(store, folder / "store.db")
    _put_back(folder / "copy.db", folder / "m.db")
    with _market(folder) as endpoint:
        comparison = _reconcile(folder, endpoint).comparison
        assert comparison.lost_hits
        assert comparison.lost_assignments
    wanted = _money(store)
    _put_back(folder / "store.db", store)
    _put_back(folder / "copy.db", folder / "m.db")
    with _market(folder) as endpoint:
        with closing(sqlite3.connect(store)) as written:
            written.execute(
                f"CREATE TRIGGER the_end BEFORE {write} "
                "BEGIN SELECT RAISE(ABORT, 'the process ended'); END"
            )
        with pytest.raises(sqlite3.IntegrityError, match="the process ended"):
            _reconcile(folder, endpoint)
        with closing(sqlite3.connect(store)) as written:
            written.execute("DROP TRIGGER the_end")
        _reconcile(folder, endpoint)
        assert _reconcile(folder, endpoint).comparison.is_equal
    assert _money(store) == wanted
    with closing(sqlite3.connect(store)) as written:
        left = "SELECT intent_key FROM intents WHERE done_at IS NULL"
        assert written.execute(left).fetchall() == []


@pytest.mark.parametrize("is_judged_between", [False, True])
def test_work_that_was_lost_and_is_there_again_is_taken_back(
    folder: Path, *, is_judged_between: bool
) -> None:
    """The marketplace was put back to a copy from before it, and to a newer one."""
    store = folder / "out/crash/piecework.db"
    with _market(folder) as endpoint:
        _copy(folder / "m.db", folder / "empty.db")
        people = People(endpoint, script=WITH_A_HALF)
        assert _pass(folder, endpoint) == "workers"
        assert people.work() == 2
        _copy(folder / "m.db", folder / "answered.db")
        with _opened(folder, endpoint) as run:
            collect.collect(run)
            if not is_judged_between:
                judge.assess(run)
                judge.decide(run)
                settle.settle(run)
    _put_back(folder / "empty.db", folder / "m.db")
    with _market(folder) as endpoint:
        lost = _reconcile(folder, endpoint)
        assert len(lost.comparison.lost_hits) == 1
        assert len(lost.owed) == 2
        if is_judged_between:
            with _opened(folder, endpoint) as run:
                for step in (judge.assess, judge.decide, settle.settle):
                    step(run)
        assert _money(store)["held"] == 0
    _put_back(folder / "answered.db", folder / "m.db")
    with _market(folder) as endpoint:
        shown = _reconcile(folder, endpoint, dry_run=True).comparison
        result = _reconcile(folder, endpoint)
        assert len(result.comparison.returned_hits) == 1
        assert len(result.comparison.returned_assignments) == 2
        assert shown.returned_hits == result.comparison.returned_hits
        assert result.owed == ()
        with _opened(folder, endpoint) as run:
            assert not owed_path(run).exists()
        assert _reconcile(folder, endpoint).comparison.is_equal
        _to_the_end(folder, endpoint, people)
        books = httpx.get(f"{endpoint}/rehearsal/books").json()
    assert {each["status"] for each in books["assignments"]} == {"Approved", "Rejected"}
    money = _money(store)
    assert money["held"] == books["held_cents"] == 0
    assert money["rewards"] == sum(each["paid_cents"] for each in books["assignments"])


@pytest.mark.parametrize("are_known", [True, False])
def test_nobody_answers_again_what_the_marketplace_has_lost(
    folder: Path, *, are_known: bool
) -> None:
    """Ann's lost work counts, and bob's is asked of somebody else: of cat, then of dan.

    The marketplace knows ann and bob by their sign-in, unless it has lost that, too.
    """
    write_campaign(folder, CAMPAIGN.replace("batches = 2", "batches = 1"), pictures=2)
    with _market(folder) as endpoint:
        people = People(endpoint, script=(("ann", "good"), ("bob", "shout")))
        for name in ("ann", "bob") if are_known else ():
            with httpx.Client(base_url=endpoint) as client:
                people.sign_in(name, client)
        _copy(folder / "m.db", folder / "copy.db")
        assert _pass(folder, endpoint) == "workers"
        assert people.work() == 2
        with _opened(folder, endpoint) as run:
            for step in (collect.collect, judge.assess, judge.decide, settle.settle):
                step(run)
    _put_back(folder / "copy.db", folder / "m.db")
    # A rehearsal would draw the same ids again.
    with closing(sqlite3.connect(folder / "m.db")) as market, market:
        market.execute("UPDATE settings SET value = '2' WHERE key = 'seed'")
    with _market(folder, seed=2) as endpoint:
        assert len(_reconcile(folder, endpoint).comparison.lost_hits) == 1
        for name, manner in (("cat", "shout"), ("dan", "good")):
            assert _pass(folder, endpoint) == "workers"
            if are_known:
                assert People(endpoint, script=(("ann", "good"),)).work() == 0
            assert People(endpoint, script=((name, manner),)).work() == 1
        assert _pass(folder, endpoint) == "nobody"
        with _opened(folder, endpoint) as run:
            progress = read_progress(run)
    assert (progress.missing, progress.surplus) == (0, 0)


def test_a_hit_gets_no_slot_for_a_worker_whose_answers_to_its_items_are_lost(folder: Path) -> None:
    """Half of ann's work was asked of eve, in a HIT that the marketplace has lost."""
    write_campaign(folder, CAMPAIGN.replace("batches = 2", "batches = 1"), pictures=2)
    with _market(folder) as endpoint:
        people = People(endpoint, script=(("ann", "half"), ("bob", "good"), ("eve", "good")))
        assert _pass(folder, endpoint) == "workers"
        assert people.work(at_most=2) == 2
        with _opened(folder, endpoint) as run:
            for step in (collect.collect, judge.assess, judge.decide, settle.settle):
                step(run)
            assert len(extendable(run, 1)) == 1
        _copy(folder / "m.db", folder / "copy.db")
        assert _pass(folder, endpoint) == "workers"
        assert people.work() == 1
        assert _pass(folder, endpoint) == "nobody"
    _put_back(folder / "copy.db", folder / "m.db")
    with _market(folder) as endpoint:
        assert len(_reconcile(folder, endpoint).comparison.lost_hits) == 1
        with _opened(folder, endpoint) as run:
            assert extendable(run, 1) == []


def test_bonuses_are_not_asked_for_of_hits_that_are_lost(folder: Path) -> None:
    """A store that was restored once looks for bonuses, also after a later loss."""
    with _market(folder) as endpoint:
        _copy(folder / "m.db", folder / "copy.db")
        assert _pass(folder, endpoint) == "workers"
    _put_back(folder / "copy.db", folder / "m.db")
    with _market(folder) as endpoint:
        assert len(_reconcile(folder, endpoint).comparison.lost_hits) == 1
        with _opened(folder, endpoint) as run:
            generations.accept(run.store, "0123abcd/1")
            assert adopt_bonuses(run) == 0


def _ended_in_1970(pages: object, older: Container[str]) -> Iterator[Mapping[str, object]]:
    """List HITs as a marketplace may that tells of an ended HIT when it was ended."""
    for hit in newer(pages, older):
        yield {**hit, "Expiration": datetime(1970, 1, 1, tzinfo=UTC)}


@pytest.mark.parametrize("listed", [newer, _ended_in_1970])
def test_the_first_pass_adopts_a_batch_that_only_the_newer_copy_began(
    folder: Path, monkeypatch: pytest.MonkeyPatch, listed: Callable[..., object]
) -> None:
    """It had posted one of the batch's two HITs; the other is posted, and once.

    All have the times that they were posted with, whatever the marketplace tells of them.
    """
    monkeypatch.setattr(listing, "newer", listed)
    by_one = CAMPAIGN.replace("items_per_hit = 2", "items_per_hit = 1")
    # A day pays for the first batch and one HIT of the second.
    write_campaign(
        folder, by_one.replace('budget = "20.00"', 'budget = { total = "20.00", day = "3.60" }')
    )
    store = folder / "out/crash/piecework.db"
    with _market(folder) as endpoint:
        people = People(endpoint, script=tuple((f"worker {n}", "good") for n in range(8)))
        assert _pass(folder, endpoint) == "workers"
        _copy(store, folder / "copy.db")
        people.work()
        assert _pass(folder, endpoint) == "workers"
        newer = _posted(endpoint)
        assert len(newer) == 3
        _put_back(folder / "copy.db", store)
        _reconcile(folder, endpoint)
        assert _pass(folder, endpoint) == "workers"
        assert _posted(endpoint) == newer
        with closing(sqlite3.connect(store)) as database:
            times = (
                "SELECT DISTINCT lifetime_seconds, duration_seconds, auto_approval_seconds "
                "FROM hits WHERE hit_id > ''"
            )
            assert len(database.execute(times).fetchall()) == 1
        hits, *_ = _rows(folder)
        assert sorted(str(row[0]) for row in hits) == [
            f"crash.b000{batch}.r00.00000{number}" for batch in (1, 2) for number in (1, 2)
        ]
        write_campaign(folder, by_one)
        _to_the_end(folder, endpoint, people)
        assert len(_posted(endpoint)) == 4
    assert _money(store)["rewards"] == 8 * 50


def test_a_batch_of_rows_that_the_older_copy_never_read_is_adopted(folder: Path) -> None:
    """The rows come from the source again; without them, the sentence says so."""
    write_growing(folder, names(1, 4))
    store, items = folder / "out/crash/piecework.db", folder / "items.csv"
    with _market(folder) as endpoint:
        people = People(endpoint, script=tuple((f"worker {n}", "good") for n in range(8)))
        assert _pass(folder, endpoint) == "workers"
        people.work()
        assert _pass(folder, endpoint) == "new rows"
        _copy(store, folder / "copy.db")
        before = items.read_text()
        items.write_text(before + "".join(map(row, names(5, 8))))
        assert _pass(folder, endpoint) == "workers"
        newer, grown = _posted(endpoint), items.read_text()
        _put_back(folder / "copy.db", store)
        _reconcile(folder, endpoint)
        items.write_text(before)
        with pytest.raises(StoreError) as unknown:
            _pass(folder, endpoint)
        assert f"put the missing rows back into {items}" in unknown.value.next_step
        items.write_text(grown)
        assert _pass(folder, endpoint) == "workers"
        people.work()
        assert _pass(folder, endpoint) == "new rows"
        assert _posted(endpoint) == newer
    assert _money(store)["rewards"] == len(newer) * 50


def test_the_rest_of_an_adopted_batch_is_planned_within_the_cap(folder: Path) -> None:
    """Its first HIT was posted with the last money, so its second one is not planned."""
    text = CAMPAIGN.replace("items_per_hit = 2", "items_per_hit = 1")
    # It pays for four HITs, and a compensation was not foreseen.
    write_campaign(folder, text.replace('budget = "20.00"', 'budget = "4.80"'))
    store = folder / "out/crash/piecework.db"
    with _market(folder) as endpoint:
        people = People(endpoint, script=tuple((f"worker {n}", "good") for n in range(4)))
        assert _pass(folder, endpoint) == "workers"
        assert people.work() == 4
        worker = httpx.get(f"{endpoint}/rehearsal/books").json()["assignments"][0]["worker_id"]
        with _opened(folder, endpoint) as run:
            pay_compensation(run, plan_compensation(run, worker, "0.50", because="Our fault."))
        _copy(store, folder / "copy.db")
        assert _pass(folder, endpoint) == "workers"
        newer = _posted(endpoint)
        assert len(newer) == 3
        _put_back(folder / "copy.db", store)
        _reconcile(folder, endpoint)
        assert _pass(folder, endpoint) == "workers"
        assert _posted(endpoint) == newer
        with _opened(folder, endpoint) as run:
            assert hits.unposted(run.store) == []
            assert ledger.taken_cents(run.store) == 3 * 120 + 60


def test_a_stop_ends_what_only_the_newer_copy_posted(folder: Path) -> None:
    """Its answers are paid, and what it left open is asked again after the stop."""
    by_one = CAMPAIGN.replace("items_per_hit = 2", "items_per_hit = 1")
    # A day pays for the first batch and one HIT of the second.
    a_day = by_one.replace('budget = "20.00"', 'budget = { total = "20.00", day = "3.60" }')
    path, store = write_campaign(folder, a_day), folder / "out/crash/piecework.db"
    with _market(folder) as endpoint:
        people = People(endpoint, script=tuple((f"worker {n}", "good") for n in range(12)))
        assert _pass(folder, endpoint) == "workers"
        _copy(store, folder / "copy.db")
        people.work()
        assert _pass(folder, endpoint) == "workers"
        assert people.work(at_most=1) == 1
        _put_back(folder / "copy.db", store)
        _reconcile(folder, endpoint)
        stopped = CliRunner().invoke(main, ["stop", str(path)])
        assert "expired 3 HITs" in stopped.output
        assert people.work() == 0
        for _ in range(3):
            _pass(folder, endpoint)
        assert _money(store)["rewards"] == 5 * 50
        assert _money(store)["held"] == 0
        with _opened(folder, endpoint) as run:
            campaign_facts.undo_stop(run.store, at=run.clock.now())
        write_campaign(folder, by_one)
        _to_the_end(folder, endpoint, people)
        books = httpx.get(f"{endpoint}/rehearsal/books").json()
    assert _money(store)["rewards"] == 8 * 50
    assert _money(store)["requester"] == books["balance_cents"] - 1_000_000


def _posted(endpoint: str) -> list[str]:
    books = httpx.get(f"{endpoint}/rehearsal/books").json()
    return sorted(hit["annotation"] for hit in books["hits"])


def _publish(run: CampaignRun, annotation: str) -> None:
    """Post a HIT that the store does not know."""
    posted = next(iter(run.platform.find_hits()))
    store_name = posted.annotation.split("/")[0]
    run.platform.publish(
        posted.hit_type_id,
        "<HTMLQuestion xmlns='http://mechanicalturk.amazonaws.com/"
        "AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd'>"
        "<HTMLContent><![CDATA[<!doctype html>]]></HTMLContent>"
        "<FrameHeight>0</FrameHeight></HTMLQuestion>",
        max_assignments=1,
        lifetime_seconds=3600,
        annotation=f"{store_name}/crash.b0001.{annotation}",
        token=annotation,
    )


def test_a_stopped_campaign_adopts_the_hits_whose_items_can_be_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their answers are paid although another HIT is unknown; nothing is posted before it is."""
    by_one = CAMPAIGN.replace("items_per_hit = 2", "items_per_hit = 1")
    path, store = write_campaign(folder, by_one), folder / "out/crash/piecework.db"
    with _market(folder) as endpoint:
        people = People(endpoint, script=tuple((f"worker {n}", "good") for n in range(12)))
        assert _pass(folder, endpoint) == "workers"
        _copy(store, folder / "copy.db")
        people.work()
        assert _pass(folder, endpoint) == "workers"
        assert people.work(at_most=1) == 1
        _put_back(folder / "copy.db", store)
        _reconcile(folder, endpoint)
        with _opened(folder, endpoint) as run:
            _publish(run, "r07.000001")
        stopped = CliRunner().invoke(main, ["stop", str(path)])
        assert stopped.exit_code == 0
        assert "does not say which items it shows" in stopped.output
        there = _posted(endpoint)
        request = PassRequest(campaign=path, endpoint=endpoint)
        passes = [advance_without_prefect(request, poll_open_hits=True) for _ in range(3)]
        reached = passes[-1]
        assert (reached.waiting_for, reached.stopped_by) == ("people", "piecework stop")
        assert "r07.000001') was posted by a newer copy" in reached.reason
        assert cached_progress(request) is None
        shown = CliRunner().invoke(main, ["status", str(path)], env={"COLUMNS": "300"})
        assert "this one has not adopted" in " ".join(shown.output.split())
        assert (_money(store)["rewards"], _money(store)["held"]) == (5 * 50, 0)

        def undo(run: CampaignRun, _notes: object) -> None:
            assert campaign_facts.undo_stop(run.store, at=run.clock.now())

        monkeypatch.setattr("piecework.engine.run_pass.reopen_items", undo)
        with _opened(folder, endpoint) as run:
            assert campaign_facts.read_notes(run.store).is_adopting
            run_pass(run, poll_open_hits=True)
            with pytest.raises(StoreError, match="does not say which items it shows"):
                run_pass(run)
        assert _posted(endpoint) == there


def test_a_hit_whose_items_cannot_be_told_is_left_to_a_person(folder: Path) -> None:
    """Nothing is guessed: its answers would be about other items."""
    with _market(folder) as endpoint:
        assert _pass(folder, endpoint) == "workers"
        with _opened(folder, endpoint) as run:
            for annotation in ("r07.000001", "r07.000002/zz.0", "r07.000003/-"):
                _publish(run, annotation)
            before = _rows(folder)
            begin_adopting(run.store)
            with pytest.raises(StoreError, match="does not say which items it shows"):
                run_pass(run)
        assert _rows(folder)[0] == before[0]


def _decide(folder: Path, endpoint: str, verdict: Verdict) -> WorkerId:
    """Decide about the campaign's first worker, and carry it out; who it is."""
    with _opened(folder, endpoint) as run:
        worker = assignments.all_workers(run.store)[0]
        decision = Decision(
            subject_kind="worker",
            subject_id=worker,
            verdict=verdict,
            decided_by="kim",
            decided_at=run.clock.now(),
            because="As it must be.",
        )
        with writing(run.store):
            decisions.overrule(run.store, [decision])
        settle.settle_workers(run)
    return worker


def _is_kept_out(folder: Path, endpoint: str, worker: WorkerId) -> tuple[bool, bool]:
    """Whether a worker is excluded, and blocked."""
    with _opened(folder, endpoint, restored=True) as run:
        excluded = run.platform.excluded(exclusion_types(run)[0])
        return worker in excluded, worker in run.platform.blocked()


@pytest.mark.parametrize(
    ("before", "verdict", "effect"),
    [
        (None, "exclude", (True, False)),
        (None, "block", (False, True)),
        ("exclude", "include", (False, False)),
        ("block", "include", (False, False)),
    ],
)
def test_what_a_restored_marketplace_lost_about_a_worker_is_carried_out_again(
    folder: Path, before: Verdict | None, verdict: Verdict, effect: tuple[bool, bool]
) -> None:
    """Once, and only by a marketplace that lost it: an older store does not know better."""
    store = folder / "out/crash/piecework.db"
    with _market(folder) as endpoint:
        people = People(endpoint, script=WITH_A_HALF)
        assert _pass(folder, endpoint) == "workers"
        assert people.work() == 2
        assert _pass(folder, endpoint) == "workers"
        if before is not None:
            _decide(folder, endpoint, before)
        _copy(folder / "m.db", folder / "copy.db")
        _copy(store, folder / "store.db")
        worker = _decide(folder, endpoint, verdict)
        _copy(store, folder / "newer.db")
        _put_back(folder / "store.db", store)
        assert _reconcile(folder, endpoint, dry_run=True).comparison.lost_exclusions == ()
    _put_back(folder / "newer.db", store)
    _put_back(folder / "copy.db", folder / "m.db")
    with _market(folder) as endpoint:
        assert _is_kept_out(folder, endpoint, worker) != effect
        (lost,) = _reconcile(folder, endpoint).comparison.lost_exclusions
        assert lost.verdict == verdict
        assert _is_kept_out(folder, endpoint, worker) == effect
        assert _reconcile(folder, endpoint).comparison.is_equal


def test_a_block_by_another_campaign_is_no_lost_inclusion(folder: Path) -> None:
    """It stays, also if this campaign once blocked the worker and took that back."""
    with _market(folder) as endpoint:
        people = People(endpoint, script=WITH_A_HALF)
        assert _pass(folder, endpoint) == "workers"
        assert people.work() == 2
        assert _pass(folder, endpoint) == "workers"
        _decide(folder, endpoint, "block")
        worker = _decide(folder, endpoint, "include")
        with _opened(folder, endpoint) as run:
            run.platform.block(worker, "By another campaign.")
        _copy(folder / "m.db", folder / "copy.db")
        _decide(folder, endpoint, "exclude")
        _decide(folder, endpoint, "include")
    _put_back(folder / "copy.db", folder / "m.db")
    with _market(folder) as endpoint:
        assert _reconcile(folder, endpoint).comparison.lost_exclusions == ()
        assert _is_kept_out(folder, endpoint, worker) == (False, True)


def test_an_older_store_takes_over_who_is_excluded(folder: Path) -> None:
    """The worker stays excluded, and the store says who decided so."""
    store = folder / "out/crash/piecework.db"
    with _market(folder) as endpoint:
        people = People(endpoint, script=WITH_A_HALF)
        assert _pass(folder, endpoint) == "workers"
        assert people.work() == 2
        assert _pass(folder, endpoint) == "workers"
        _copy(store, folder / "store.db")
        worker = _decide(folder, endpoint, "exclude")
        _put_back(folder / "store.db", store)
        assert _reconcile(folder, endpoint).comparison.unknown_exclusions == (worker,)
        assert _is_kept_out(folder, endpoint, worker) == (True, False)
        with _opened(folder, endpoint) as run:
            [decision] = decisions.latest_decisions(run.store, [("worker", worker)])
        assert (decision.verdict, decision.decided_by) == ("exclude", ELSEWHERE)
        assert _reconcile(folder, endpoint).comparison.is_equal


@pytest.mark.parametrize(
    ("is_new_name_lost", "is_deleted"),
    [(True, False), (False, True), *in_full((False, False), (True, True))],
)
def test_who_was_excluded_under_an_earlier_name_stays_out_of_a_restored_marketplace(
    folder: Path, *, is_new_name_lost: bool, is_deleted: bool
) -> None:
    """Bob shouted, and holds only the type of the earlier name, which somebody may delete."""
    with _market(folder) as endpoint:
        people = People(endpoint, script=WITH_A_HALF)
        assert _pass(folder, endpoint) == "workers"
        assert people.work() == 2
        assert _pass(folder, endpoint) == "workers"
        renamed = '[requirements]\nexclusion_name = "no birds"\n# the end'
        write_campaign(folder, CAMPAIGN.replace("# the end", renamed))
        if is_new_name_lost:
            _copy(folder / "m.db", folder / "copy.db")
        with _opened(folder, endpoint) as run:
            _, before = exclusion_types(run)
        if not is_new_name_lost:
            _copy(folder / "m.db", folder / "copy.db")
        assert people.work(at_most=1) == 1
        assert _pass(folder, endpoint) == "workers"
    _put_back(folder / "copy.db", folder / "m.db")
    # A rehearsal would draw the same ids again.
    with closing(sqlite3.connect(folder / "m.db")) as market, market:
        market.execute("UPDATE settings SET value = '2' WHERE key = 'seed'")
    with _market(folder, seed=2) as endpoint:
        if is_deleted:
            client = turk_client(endpoint, access_key=None, secret_key=None)
            client.delete_qualification_type(QualificationTypeId=before)
        assert len(_reconcile(folder, endpoint).comparison.lost_hits) == 1
        with _opened(folder, endpoint) as run:
            assert (before in exclusion_types(run)) is not is_deleted
        for name in ("dan", "eve", "fay"):
            assert _pass(folder, endpoint) == "workers"
            assert People(endpoint, script=(("bob", "good"),)).work() == 0
            assert People(endpoint, script=((name, "good"),)).work() == 1
        assert _pass(folder, endpoint) == "nobody"
        assert _reconcile(folder, endpoint).comparison.is_equal


def test_every_refusal_names_the_next_command(folder: Path) -> None:
    """A person who restored a file learns what to run."""
    store = folder / "out/crash/piecework.db"
    with _market(folder) as endpoint:
        assert _pass(folder, endpoint) == "workers"
        _copy(store, folder / "copy.db")
        People(endpoint, script=WITH_A_HALF).work()
        assert _pass(folder, endpoint) == "workers"
        _put_back(folder / "copy.db", store)
        with pytest.raises(PieceworkError) as refused:
            _pass(folder, endpoint)
    assert refused.value.next_step.startswith(f"piecework store reconcile {folder / 'crash.toml'}")


@pytest.mark.full
def test_an_answer_that_is_sent_again_after_the_restore_is_paid(folder: Path) -> None:
    """The copy has the assignment at work; its worker still has the page open."""
    pages: list[dict[str, str]] = []

    def fill_in(assignment_id: str, page: Page, manner: str) -> dict[str, str]:
        pages.append(_form(assignment_id, page, manner))
        return pages[-1]

    with _market(folder) as endpoint:
        people = People(endpoint, script=(("ann", "good"),), fill_in=fill_in)
        people.meanwhile = lambda: _copy(folder / "m.db", folder / "copy.db")
        assert _pass(folder, endpoint) == "workers"
        assert people.work() == 1
        assert _pass(folder, endpoint) == "workers"
    _put_back(folder / "copy.db", folder / "m.db")
    with _market(folder) as endpoint:
        assert len(_reconcile(folder, endpoint).comparison.lost_assignments) == 1
        with httpx.Client(base_url=endpoint) as ann:
            people.sign_in("ann", ann)
            ann.post("/mturk/externalSubmit", data=pages[0]).raise_for_status()
        cat = People(endpoint, script=(("cat", "good"),))
        assert cat.work() == 1
        with pytest.raises(RefusedForSafety, match="given up as lost") as refused:
            _pass(folder, endpoint)
        assert refused.value.next_step.startswith("piecework store reconcile")
        result = _reconcile(folder, endpoint)
        assert len(result.comparison.returned_assignments) == 1
        assert result.owed == ()
        _pass(folder, endpoint)
        books = httpx.get(f"{endpoint}/rehearsal/books").json()
        assert _reconcile(folder, endpoint).comparison.is_equal
    assert [each["status"] for each in books["assignments"][:2]] == ["Approved"] * 2
    with closing(sqlite3.connect(folder / "out/crash/piecework.db")) as store:
        (rewards,) = store.execute(
            "SELECT cents FROM balances WHERE account = 'rewards'"
        ).fetchone()
    assert rewards == sum(each["paid_cents"] for each in books["assignments"])
