"""Three machines make passes over one store in PostgreSQL, and are killed meanwhile."""

import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from piecework.config.campaign_file import parse
from piecework.store.connection import Asked
from piecework.store.database import open_store
from tests.conftest import ROOT, in_full
from tests.crash.world import can_mount
from tests.live.marketplace import live_marketplace
from tests.postgres_server import new_database
from tests.schedule.killed_machines import Kills, Site, drive_to_its_end, machines_at, outcome_of
from tests.schedule.prefect_apart import PrefectApart, prefect_apart
from tests.trusted import own

pytestmark = [
    pytest.mark.flow,
    pytest.mark.full,
    pytest.mark.skipif(not can_mount(), reason="only root can make a machine's disk"),
]

AUTOMATION = ROOT / "docs/how-to/automations/lost-runs.yaml"
SETTINGS = {
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "true",
    "PREFECT_SERVER_CONCURRENCY_INITIAL_DEPLOYMENT_LEASE_DURATION": "60",
    "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",  # the shortest
}


def _end_lost_runs(prefect: PrefectApart, within: int) -> None:
    """Create the automation of the docs, with a shorter time."""
    words = yaml.safe_load(AUTOMATION.read_text())
    words["trigger"]["within"] = within
    file = prefect.home / "lost-runs.yaml"
    file.write_text(yaml.safe_dump(words))
    prefect.run("automation", "create", "--from-file", file)


@pytest.mark.parametrize(("items", "kills"), [(8, 4), *in_full((24, 16), weeks=4)])
def test_killed_machines_leave_no_trace_in_the_books(
    tmp_path: Path, postgres_url: str, items: int, kills: int
) -> None:
    """Nothing is posted or paid twice, and of two passes at once one refuses."""
    settings = {**SETTINGS, **_own_database(postgres_url)}
    with (
        live_marketplace(tmp_path) as market,
        prefect_apart(tmp_path / "server", settings) as prefect,
        machines_at(tmp_path, prefect, market, postgres_url, items) as site,
    ):
        prefect.server()
        campaign = str(site.machines[0].site / "crash.toml")
        prefect.deploy(every_seconds=5, at_once=3, campaign=campaign, poll_open_hits=True)
        _end_lost_runs(prefect, within=90)
        began = time.monotonic()
        made = drive_to_its_end(site, kills=kills, seed=kills)
        seconds = time.monotonic() - began
        _check_books(site)
        _check_files(site)
        runs = site.runs()
        _print_table(made, runs, seconds)
        refusals = {run["state"]["message"] for run in runs if outcome_of(run) == "refused"}
        assert any(" is working on this campaign" in text for text in refusals), runs
        assert all("process " in text for text in refusals)
        assert not [run for run in runs if run["state_name"] == "Failed"]


def _own_database(url: str) -> dict[str, str]:
    """Return the settings of a Prefect server with a new database in PostgreSQL.

    On a busy machine, a server on SQLite answers "database is locked".
    """
    address = new_database(url).replace("postgresql://", "postgresql+asyncpg://")
    return {"PREFECT_API_DATABASE_CONNECTION_URL": address}


def _check_books(site: Site) -> None:
    """Store and marketplace say the same: each HIT once, each assignment paid once."""
    books = site.market.books()
    with closing(open_store(parse(own(site.copies / "crash.toml")).store)) as store:
        _check_hits(store.db, books)
        _check_money(store.db, books)


def _check_hits(db: Asked, books: dict[str, Any]) -> None:
    posted = dict(db.execute("SELECT hit_key, hit_id FROM hits WHERE extends IS NULL").fetchall())
    annotations = Counter(hit["annotation"] for hit in books["hits"])
    assert set(annotations.values()) == {1}
    assert {text.split("/")[1] for text in annotations} == set(posted)
    assert {hit["hit_id"] for hit in books["hits"]} == set(posted.values())
    collected = db.execute("SELECT assignment_id FROM assignments").fetchall()
    assert {assignment_id for (assignment_id,) in collected} == {
        assignment["assignment_id"] for assignment in books["assignments"]
    }
    kept = db.execute("SELECT min(kept), max(kept), min(workers) FROM items").fetchone()
    assert kept == (2, 2, 2)
    open_intents = "SELECT count(*) FROM intents WHERE done_at IS NULL"
    assert db.execute(open_intents).fetchone() == (0,)


def _check_money(db: Asked, books: dict[str, Any]) -> None:
    for assignment in books["assignments"]:
        is_paid = assignment["status"] == "Approved"
        assert assignment["status"] in ("Approved", "Rejected")
        assert assignment["paid_cents"] == 50 * is_paid
    paid = sum(assignment["paid_cents"] for assignment in books["assignments"])
    fees = sum(assignment["fee_cents"] for assignment in books["assignments"])
    ledger: Counter[str] = Counter()
    for credit, debit, cents in db.execute(
        "SELECT credit, debit, amount_cents FROM ledger"
    ).fetchall():
        ledger[credit] -= cents
        ledger[debit] += cents
    # A marketplace of one's own may take no fees, and books none.
    assert ledger == Counter({"requester": -paid - fees, "rewards": paid, "fees": fees})
    assert books["held_cents"] == 0
    assert books["balance_cents"] == 1_000_000 - paid - fees


def _check_files(site: Site) -> None:
    """Each machine exports the same dataset and report."""
    exported = []
    for machine in site.machines:
        done = machine.piecework("export", str(machine.site / "crash.toml"))
        assert done.returncode == 0, done
        files = [
            path
            for pattern in ("site/out/*/dataset/*", "site/out/*/report.*")
            for path in machine.home.glob(pattern)
        ]
        exported.append({path.relative_to(machine.home): path.read_bytes() for path in files})
    assert len(exported[0]) > 2
    assert exported[0] == exported[1] == exported[2]


def _print_table(kills: Kills, runs: list[dict[str, Any]], seconds: float) -> None:
    outcomes = Counter(outcome_of(run) for run in runs)
    begun = sum(run["start_time"] is not None for run in runs)
    print(dict(kills.counts), "runs killed", kills.runs, "in a pass", kills.in_pass)  # noqa: T201
    print("begun", begun, dict(outcomes), f"{seconds:.0f} s", flush=True)  # noqa: T201 - docs/internals/measurements/schedule.md
