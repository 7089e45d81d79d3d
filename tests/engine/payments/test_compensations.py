"""A person whom our own fault hurt is paid without an assignment, once per reason."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest

from piecework.campaign.opened import CampaignRun
from piecework.domain.clock import FixedClock
from piecework.domain.errors import BudgetExceeded, ConfigError, PlatformRefused
from piecework.engine.payments.compensations import (
    COMPENSATION,
    adopt_compensations,
    check_caps,
    pay_compensation,
    plan_compensation,
)
from piecework.engine.payments.pay import close_interrupted
from piecework.engine.progress import read_progress
from piecework.engine.recover.reconcile import reconcile
from piecework.report.page import render_report
from piecework.store import assignments, generations, intents, workers
from piecework.store.database import insert
from piecework.store.settlements import PAID_ALREADY
from tests.engine.conftest import Open
from tests.engine.payments.bookkeeping import (
    EVENING,
    books,
    check_books,
    first_batch_paid,
    forget_money,
)
from tests.marketplace.market import Worker
from tests.results.reported import reported

WHY = "The page lost your answer."


@pytest.fixture
def run(at_work: Open, campaign_text: str) -> Iterator[CampaignRun]:
    """A campaign with a paid batch, and the HIT of a replacement that is open."""
    with at_work(campaign_text) as opened:
        yield first_batch_paid(opened)


def hurt_stranger(run: CampaignRun) -> str:
    """The id of somebody who accepted a HIT and gave it back, unknown to the store."""
    worker = Worker(run.platform.endpoint)
    [group] = worker.groups()
    accepted = worker.accept(group["hit_group_id"]).json()
    worker.give_back(accepted["assignment_id"]).raise_for_status()
    worker.http.close()
    return worker.worker_id


def pay(run: CampaignRun, worker: str, amount: str, because: str = WHY) -> None:
    """Pay a compensation that was not paid before."""
    planned = plan_compensation(run, worker, amount, because=because)
    assert not planned.was_paid
    pay_compensation(run, planned)


def paid(run: CampaignRun) -> list[int]:
    """Every compensation in the marketplace's books, in cents."""
    return [payment["cents"] for payment in books(run)["compensations"]]


def test_a_worker_is_paid_by_pseudonym_and_a_stranger_by_worker_id(run: CampaignRun) -> None:
    """Both books agree; status and report have a line of its own."""
    ann = run.pseudonym(assignments.load_assignments(run.store)[0].worker_id)
    stranger = hurt_stranger(run)
    pay(run, ann[:6], "1.00")
    pay(run, stranger, "$0.50")
    assert paid(run) == [100, 50]
    check_books(run)
    progress = read_progress(run)
    assert (progress.compensations_cents, progress.compensations) == (150, 2)
    assert progress.compensation_reasons == 1
    assert progress.bonuses_cents == 0
    # Rewards of 100 with fees of 20, and the compensations with fees of 30.
    assert progress.spent_cents == 300
    facts = reported(run)
    assert facts.money is not None
    assert facts.money.spent_cents == 300
    assert "Compensation (2 payments, 1 reason)" in render_report(facts)
    known = workers.totals(run.store, paid_already=PAID_ALREADY)
    by_name = {run.pseudonym(each): known[each].paid_cents for each in known}
    assert by_name[ann] == 150
    assert known[next(each for each in known if each == stranger)].paid_cents == 50


def test_the_same_reason_pays_once_and_another_pays_again(run: CampaignRun) -> None:
    """Another amount for the same reason is a fault; by id or pseudonym alike."""
    ann = assignments.load_assignments(run.store)[0].worker_id
    pay(run, ann, "1.00")
    again = plan_compensation(run, run.pseudonym(ann), "1.00", because=f" {WHY} ")
    assert again.was_paid
    with pytest.raises(ConfigError, match=r"was paid \$1\.00 for this reason before"):
        plan_compensation(run, ann, "2.00", because=WHY)
    pay(run, ann, "1.00", "The picture was missing.")
    assert paid(run) == [100, 100]
    check_books(run)


def test_what_is_wrong_is_said_before_any_call(run: CampaignRun) -> None:
    """In one sentence."""
    ann = run.pseudonym(assignments.load_assignments(run.store)[0].worker_id)
    for worker, amount, because, words in (
        (ann, "0", WHY, "amount is 0"),
        (ann, "-1", WHY, "'-1' is not an amount"),
        (ann, "1.005", WHY, "is not an amount"),
        (ann, "one", WHY, "is not an amount"),
        (ann, "£1", WHY, "is not in US dollars"),
        (ann, "1", " ", "--because has 0 characters"),
        (ann, "1", "x" * 1025, "--because has 1025 characters"),
        (ann, "1", "two\nlines", "on one line"),
        ("0123456789abcdef", "1", WHY, "no worker of this campaign has the pseudonym"),
        ("ab", "1", WHY, "too short for a pseudonym"),
        ("", "1", WHY, "too short for a pseudonym"),
    ):
        with pytest.raises(ConfigError, match=words):
            plan_compensation(run, worker, amount, because=because)
    assert intents.load_intents(run.store, COMPENSATION, is_done=False) == []


def test_a_worker_who_never_came_is_refused_and_nothing_is_kept_back(run: CampaignRun) -> None:
    """No intent stays open, so no cap counts it."""
    stranger = Worker(run.platform.endpoint)
    stranger.http.close()
    for worker_id, words in (
        ("ANOBODY12345", "does not exist"),
        (stranger.worker_id, "has accepted no HIT"),
    ):
        planned = plan_compensation(run, worker_id, "1.00", because=WHY)
        with pytest.raises(PlatformRefused, match=words):
            pay_compensation(run, planned)
    assert intents.load_intents(run.store, COMPENSATION, is_done=False) == []
    assert paid(run) == []
    check_books(run)


def test_a_cap_is_never_exceeded(run: CampaignRun) -> None:
    """$20.00 less 1.20 paid and 0.60 held leave $18.20; fees come on top."""
    ann = run.pseudonym(assignments.load_assignments(run.store)[0].worker_id)
    with pytest.raises(BudgetExceeded, match=r"costs \$18\.22 with fees, but \$18\.20"):
        pay(run, ann, "15.18")
    assert paid(run) == []
    pay(run, ann, "15.16")
    check_books(run)


def test_the_cap_of_a_day_postpones_it(at_work: Open, campaign_text: str) -> None:
    """$2.00 a day: HITs for 1.20 and 0.60 leave 20 cents."""
    text = campaign_text.replace('budget = "20.00"', 'budget = { total = "20.00", day = "2.00" }')
    with at_work(text) as opened:
        run = first_batch_paid(opened)
        ann = run.pseudonym(assignments.load_assignments(run.store)[0].worker_id)
        planned = plan_compensation(run, ann, "1.00", because=WHY)
        with pytest.raises(BudgetExceeded, match="the cap of the day or month"):
            check_caps(run, planned)
        later = replace(run, clock=FixedClock(EVENING + timedelta(days=1)))
        pay(later, ann, "1.00")
        check_books(later)


@pytest.mark.parametrize("was_sent", [False, True])
def test_what_was_cut_off_is_looked_for_also_long_after(
    run: CampaignRun, *, was_sent: bool
) -> None:
    """Recorded if it was paid; otherwise dropped, and the same command pays."""
    ann = run.pseudonym(assignments.load_assignments(run.store)[0].worker_id)
    planned = plan_compensation(run, ann, "1.00", because=WHY)
    with run.store.db.atomic():
        intents.declare(run.store, planned.intent, run.clock)
    if was_sent:
        run.platform.compensate(planned.compensation)
    later = EVENING + timedelta(hours=30)
    httpx.put(
        f"{run.platform.endpoint}/rehearsal/clock", json={"now": later.isoformat()}
    ).raise_for_status()
    assert close_interrupted(run) == 1
    again = plan_compensation(run, ann, "1.00", because=WHY)
    assert again.was_paid == was_sent
    if not was_sent:
        pay_compensation(run, again)
    assert paid(run) == [100]
    check_books(run)


def test_a_restored_store_takes_over_what_it_lacks(
    run: CampaignRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The platform's names carry the keys, so the same reason is not paid again."""
    ann = run.pseudonym(assignments.load_assignments(run.store)[0].worker_id)
    pay(run, ann, "1.00")
    with run.store.db.atomic():
        before = list(run.store.db.query("SELECT * FROM ledger ORDER BY entry_id"))
        forget_money(run.store)
        run.store.db.execute("DELETE FROM intents WHERE operation = ?", [COMPENSATION])
        for row in before:
            if not row["intent_key"].startswith(COMPENSATION):
                insert(run.store, "ledger", [row])
    monkeypatch.setattr(generations, "was_restored", lambda _: True)
    assert adopt_compensations(run) == 1
    assert adopt_compensations(run) == 0
    assert plan_compensation(run, ann, "1.00", because=WHY).was_paid
    check_books(run)


def test_reconcile_agrees_after_a_compensation(run: CampaignRun) -> None:
    """It compares them, and there is no difference."""
    ann = run.pseudonym(assignments.load_assignments(run.store)[0].worker_id)
    pay(run, ann, "1.00")
    comparison = reconcile(run, dry_run=True).comparison
    assert comparison.unknown_compensations == ()
    assert comparison.lost_compensations == {}
