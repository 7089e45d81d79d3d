"""Caps of campaign, batch and day: no call beyond them, and a day is only put off."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from piecework.campaign import caps
from piecework.campaign.opened import CampaignRun
from piecework.domain.clock import FixedClock
from piecework.domain.errors import BudgetExceeded
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import HitKey
from piecework.engine.passes import post, run_pass
from piecework.store import hits, ledger
from tests.engine.conftest import Open

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def with_key(text: str, line: str) -> str:
    """The campaign file with one more key of `[rewards]`."""
    return text.replace('reward = "0.50"', f'reward = "0.50"\n{line}')


def at(run: CampaignRun, moment: datetime) -> CampaignRun:
    """The run at another time by the pipeline's clock."""
    return replace(run, clock=FixedClock(moment))


# A HIT of the campaign: two assignments of 50 + 10 cents. A batch is one HIT.
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('batch_budget = "1.19"', r"batch_budget is \$1\.19.*batch costs \$1"),
        ('day_budget = "1.19"', r"day_budget is \$1\.19.*HIT alone costs \$1"),
    ],
)
def test_a_cap_that_nothing_fits_in_stops_everything_before_a_call(
    at_work: Open, campaign_text: str, line: str, words: str
) -> None:
    """Refused with the key's name, and nothing was posted."""
    with at_work(with_key(campaign_text, line)) as (run, _):
        with pytest.raises(BudgetExceeded, match=words):
            post(run)
        assert list(run.platform.find_hits()) == []


def test_a_day_s_cap_puts_work_off_until_the_next_utc_day(
    at_work: Open, campaign_text: str
) -> None:
    """$1.20 a day: the second batch waits for midnight and is not a failure."""
    text = with_key(campaign_text, 'day_budget = "1.20"')
    text = text.replace(
        'any_of = ["capitals", "rule_violation"]', 'any_of = ["not_typed"]'
    ).replace("not_typed = false\n", "")
    with at_work(text) as (run, people):
        monday = at(run, NOON)
        run_pass(monday)
        people.work()
        reached = run_pass(monday)
        assert (reached.waiting_for, reached.batch) == ("the next day", 2)
        assert reached.goes_on_at == "2026-01-06T00:00:00+00:00"
        assert reached.stopped_by == "rewards.day_budget"
        assert not reached.is_finished
        assert not reached.cap_reached
        assert len(list(run.platform.find_hits())) == 1
        late = at(run, NOON.replace(hour=23, minute=59, second=59))
        assert run_pass(late).waiting_for == "the next day"
        tuesday = at(run, NOON + timedelta(hours=12))
        assert run_pass(tuesday).waiting_for == "workers"
        assert len(list(run.platform.find_hits())) == 2


def test_a_batch_is_posted_over_as_many_days_as_its_cap_needs(
    at_work: Open, campaign_text: str
) -> None:
    """Two HITs, one a day; workers at the first are waited for meanwhile."""
    text = with_key(campaign_text, 'day_budget = "1.20"')
    text = text.replace("batches = 2", "batches = 1")
    with at_work(text) as (run, people):
        monday, tuesday = at(run, NOON), at(run, NOON + timedelta(days=1))
        first = run_pass(monday)
        assert (first.hits_posted, first.waiting_for) == (1, "workers")
        assert first.goes_on_at.startswith("2026-01-06")
        people.work()
        assert run_pass(monday).waiting_for == "the next day"
        second = run_pass(tuesday)
        assert (second.hits_posted, second.waiting_for) == (2, "workers")


@pytest.mark.full
def test_a_batch_s_cap_leaves_it_incomplete_and_goes_on_with_the_next(
    at_work: Open, campaign_text: str
) -> None:
    """$1.20 a batch pays for no replacement of bob's two answers."""
    with at_work(with_key(campaign_text, 'batch_budget = "1.20"')) as (
        run,
        people,
    ):
        reached = run_pass(run)
        while not reached.is_finished:
            people.work()
            reached = run_pass(run)
        assert (reached.batch, reached.cap_reached) == (2, True)
        assert reached.stopped_by == "rewards.batch_budget"
        # dan's rejection gave 60 cents back to batch 2: one assignment more of it.
        taken = [ledger.taken_by_batch_cents(run.store, batch) for batch in (1, 2)]
        assert taken == [120, 120]
        assert ledger.taken_cents(run.store) == 240


def test_the_last_look_before_a_call_refuses_what_passes_any_cap(
    at_work: Open, campaign_text: str
) -> None:
    """Even a HIT that something planned too dearly is not posted."""
    with at_work(with_key(campaign_text, 'batch_budget = "3.00"')) as (run, _):
        dear = PlannedHit(
            hit_key=HitKey("crash.b0001.r00.000001"),
            batch=1,
            round=0,
            max_assignments=1,
            reward_cents=300,
            fee_cents=60,
            item_ids=(run.campaign.items[0].item_id,),
        )
        hits.plan(run.store, [dear])
        with pytest.raises(BudgetExceeded, match=r"left of the cap of batch 1"):
            post(run)
        assert list(run.platform.find_hits()) == []


def test_money_that_came_back_was_promised_all_the_same(
    at_work: Open, campaign_text: str
) -> None:
    """A day's allowance never grows within the day."""
    with at_work(with_key(campaign_text, 'day_budget = "9.00"')) as (run, _):
        monday = at(run, NOON)
        run_pass(monday)
        assert caps.left_today(monday) == 900 - 120
        with run.store.db.atomic():
            ledger.move(
                run.store,
                60,
                credit="held",
                debit="requester",
                intent_key="publish:crash.b0001.r00.000001",
                batch=1,
                at=NOON,
            )
        assert caps.left_today(monday) == 900 - 120
        assert caps.left_today(at(run, NOON + timedelta(days=1))) == 900
