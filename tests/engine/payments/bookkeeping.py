"""Both sides' books, the campaign's ledger and the marketplace's; and bonus files."""

import csv
import io
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx

from piecework.campaign.opened import CampaignRun
from piecework.domain.clock import FixedClock
from piecework.domain.ids import AssignmentId
from piecework.engine.run_pass import run_pass
from piecework.store import assignments, ledger
from piecework.store.database import Store
from tests.engine.conftest import Opened

EVENING = datetime(2026, 1, 5, 20, tzinfo=UTC)


def books(run: CampaignRun) -> dict[str, Any]:
    """The marketplace's own books."""
    page: dict[str, Any] = httpx.get(f"{run.platform.endpoint}/rehearsal/books").json()
    return page


def check_books(run: CampaignRun) -> None:
    """The ledger equals the marketplace's books, to the cent."""
    theirs, mine = books(run), ledger.balances(run.store)
    paid = sum(assignment["paid_cents"] for assignment in theirs["assignments"])
    bonuses = sum(bonus["cents"] for bonus in theirs["bonuses"])
    extra = sum(payment["cents"] for payment in theirs["compensations"])
    assert (paid, bonuses, extra, theirs["fees_cents"], theirs["held_cents"]) == (
        mine["rewards"],
        mine["bonuses"],
        mine["compensations"],
        mine["fees"],
        mine["held"],
    )
    assert theirs["balance_cents"] == 1_000_000 + mine["requester"]


def first_batch_paid(opened: Opened) -> CampaignRun:
    """After ann took 12 minutes and bob 18; both are paid 50 cents for two items."""
    run, people = opened
    run = replace(run, clock=FixedClock(EVENING))
    people.minutes = (12, 18)
    run_pass(run)
    people.work()
    run_pass(run)
    return run


def assignment_ids(run: CampaignRun) -> list[AssignmentId]:
    """All assignments, in the order of submission."""
    return [assignment.assignment_id for assignment in assignments.load_assignments(run.store)]


def bonus_file(*rows: tuple[str, ...], header: str = "assignment_id,amount,reason") -> str:
    """A CSV as a person writes it."""
    out = io.StringIO(newline="")
    csv.writer(out).writerows([header.split(","), *rows])
    return out.getvalue()


def forget_money(store: Store) -> None:
    """Leave the ledger as it was before its first entry; part of a transaction."""
    for table in ("ledger", "balances", "batch_costs", "day_promises"):
        store.db.execute(f"DELETE FROM {table}")
