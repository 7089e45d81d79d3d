"""Caps of campaign, batch and day: no call beyond them, and a day is only put off."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from piecework.campaign import caps, dealing
from piecework.campaign.assembling import load_campaign
from piecework.campaign.caps import check_caps
from piecework.campaign.opened import CampaignRun
from piecework.campaign.pricing import price
from piecework.campaign.warnings import campaign_warnings
from piecework.domain.clock import FixedClock
from piecework.domain.errors import BudgetExceeded
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import HitKey
from piecework.engine import plan
from piecework.engine.run_pass import post, run_pass
from piecework.store import hits, intents, item_totals, ledger
from piecework.store.intents import Intent
from tests.engine.conftest import Open
from tests.growing_campaign import TEXT, names, write_growing
from tests.small_campaign import write_campaign

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def with_key(text: str, line: str) -> str:
    """The campaign file with one more cap (`day = "9.00"`), or another budget."""
    if line.startswith("budget"):
        return text.replace('budget = "20.00"', line)
    stated = r'^budget = (?:\{ total = )?("[^"]+")(.*?)(?: \})?$'
    return re.sub(stated, rf"budget = {{ total = \1\2, {line} }}", text, flags=re.MULTILINE)


def _nothing_replaced(text: str) -> str:
    """The campaign file with a policy that drops no answer of the script."""
    return text.replace(
        'any_of = ["capitals", "rule_violation"]', 'any_of = ["not_typed"]'
    ).replace("not_typed = false\n", "")


def at(run: CampaignRun, moment: datetime) -> CampaignRun:
    """The run at another time by the pipeline's clock."""
    return replace(run, clock=FixedClock(moment))


# A HIT of the campaign: two assignments of 50 + 10 cents. A batch is one HIT.
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('batch = "1.19"', r"budget\.batch is \$1\.19.*batch costs \$1"),
        ('day = "1.19"', r"budget\.day is \$1\.19.*HIT alone costs \$1"),
        ('month = "1.19"', r"budget\.month is \$1\.19.*HIT alone costs \$1"),
        # Two answers to each of the HIT's two items.
        ('item = "0.59"', r"budget\.item is \$0\.59, but 2 answers .*\$1\.20"),
        ('budget = "2.39"', r"budget is \$2\.39, but the campaign costs \$2\.40"),
    ],
)
def test_a_cap_that_nothing_fits_in_stops_everything_before_a_call(
    at_work: Open, campaign_text: str, line: str, words: str
) -> None:
    """Refused with the key's name, and nothing was posted."""
    with at_work(with_key(campaign_text, line)) as (run, _):
        with pytest.raises(BudgetExceeded, match=words) as refused:
            post(run)
        assert "piecework check" in str(refused.value.next_step)
        assert list(run.platform.find_hits()) == []


_JUST_ENOUGH = (
    'budget = "2.40"',
    'batch = "1.20"',
    'day = "1.20"',
    'month = "1.20"',
)


def test_a_cap_that_just_pays_for_what_it_bounds_lets_it_be_posted(
    at_work: Open, campaign_text: str
) -> None:
    """To the cent, all at once; an item's share of a HIT is 60 cents."""
    text = campaign_text
    for line in (*_JUST_ENOUGH, 'item = "0.60"'):
        text = with_key(text, line)
    with at_work(text) as (run, _):
        post(run)
        assert len(list(run.platform.find_hits())) == 1
        assert caps.left(run, 1) == caps.Left(campaign=120, batch=0, day=0, month=0)
        assert caps.left(run, 2).batch == 120


def test_the_most_expensive_batch_has_to_fit_its_cap(tmp_path: Path, campaign_text: str) -> None:
    """Of five pictures the first batch has three: two HITs of $1.20."""
    for budget in ("2.40", "2.39"):
        text = with_key(campaign_text, f'batch = "{budget}"')
        campaign = load_campaign(write_campaign(tmp_path, text, pictures=5))
        if budget == "2.40":
            check_caps(campaign, at=NOON)
            continue
        with pytest.raises(BudgetExceeded, match=r"batch costs \$2\.40"):
            check_caps(campaign, at=NOON)


def test_a_cap_that_was_agreed_to_is_raised_where_it_was_stated(
    tmp_path: Path, campaign_text: str
) -> None:
    """A file without a budget has no key to raise."""
    text = campaign_text.replace('budget = "20.00"\n', "")
    campaign = load_campaign(write_campaign(tmp_path, text))
    agreed = replace(campaign, rewards=campaign.rewards.as_agreed(50))
    with pytest.raises(BudgetExceeded, match=r"the amount agreed to is \$0\.50") as refused:
        check_caps(agreed, at=NOON)
    assert str(refused.value.next_step).startswith("give a larger --spend-at-most")
    warnings = campaign_warnings(agreed, price(agreed, on=NOON.date()))
    [warning] = [each for each in warnings if each.startswith("the amount agreed to is")]
    assert "run --spend-at-most agrees to more" in warning


@pytest.mark.parametrize("name", ["budget", "batch", "day", "month", "item"])
def test_a_campaign_that_grows_needs_caps_that_pay_for_one_hit(tmp_path: Path, name: str) -> None:
    """A HIT of two rows costs 60 cents with one answer each."""
    for cents, is_refused in ((60, False), (59, True)):
        cap = cents // 2 if name == "item" else cents
        text = with_key(TEXT.replace("900.00", "20.00"), f'{name} = "0.{cap}"')
        campaign = load_campaign(write_growing(tmp_path, names(1, 4), text))
        if is_refused:
            with pytest.raises(BudgetExceeded, match=rf"budget(\.{name})? is") as refused:
                check_caps(campaign, at=NOON)
            assert "piecework check" in str(refused.value.next_step)
        else:
            check_caps(campaign, at=NOON)


@pytest.mark.parametrize(
    ("kind", "order", "enough", "less"),
    [
        ("fixed", ("batch", "day", "month"), "1.20", "1.19"),
        ("grows", ("batch", "month", "day"), "0.60", "0.59"),
    ],
)
def test_of_several_caps_that_are_too_low_the_widest_is_named(
    tmp_path: Path,
    campaign_text: str,
    kind: str,
    order: tuple[str, ...],
    enough: str,
    less: str,
) -> None:
    """The budget, then the batch; once a cap pays, the next of them is named."""
    grows = kind == "grows"
    for paying in range(-1, len(order)):
        total = "20.00" if paying >= 0 else less
        text = TEXT.replace("900.00", "20.00") if grows else campaign_text
        for place, name in enumerate(order):
            text = with_key(text, f'{name} = "{enough if place < paying else less}"')
        text = text.replace('total = "20.00"', f'total = "{total}"')
        folder = tmp_path / str(paying)
        folder.mkdir()
        written = (
            write_growing(folder, names(1, 4), text) if grows else write_campaign(folder, text)
        )
        named = r"budget(\.total)?" if paying < 0 else rf"budget\.{order[paying]}"
        with pytest.raises(BudgetExceeded, match=rf": {named} is"):
            check_caps(load_campaign(written), at=NOON)


def test_what_is_under_way_is_held_against_the_widest_cap_first(
    at_work: Open, campaign_text: str
) -> None:
    """Of caps that all leave too little; and what is left is never less than nothing."""
    text = campaign_text
    for line in _JUST_ENOUGH:
        text = with_key(text, line)
    words = ("budget", "the cap of batch 1", "the cap of a day", "the cap of a month")
    with at_work(text) as (run, _):
        begun = Intent(
            key="bonus:a:X", operation="bonus", subject=("worker", "X"), amount_cents=1_000
        )
        with run.store.db.atomic():
            intents.declare(run.store, begun, run.clock)
        rewards = run.campaign.rewards
        for place, name in enumerate(words):
            wide = dict.fromkeys(
                ("budget_cents", "batch_budget_cents", "day_budget_cents")[:place], 10_000
            )
            wider = replace(rewards, **wide)  # type: ignore[arg-type]
            campaign = replace(run.campaign, rewards=wider)
            with pytest.raises(BudgetExceeded, match=rf"only \$0\.00 is left of {name}"):
                post(replace(run, campaign=campaign))


@pytest.mark.parametrize("line", _JUST_ENOUGH)
def test_a_call_under_way_counts_as_spent_until_its_outcome_is_known(
    at_work: Open, campaign_text: str, line: str
) -> None:
    """With one cent more under way than a cap leaves, the next HIT is not posted."""
    text = with_key(campaign_text, line)
    spare = 120 if line.startswith("budget") else 0
    with at_work(text) as (run, _):
        for key, cents in (("bonus:a:X", spare), ("bonus:b:X", 1)):
            begun = Intent(key=key, operation="bonus", subject=("worker", "X"), amount_cents=cents)
            with run.store.db.atomic():
                intents.declare(run.store, begun, run.clock)
        with pytest.raises(
            BudgetExceeded, match=r"only \$1\.19 is left of .*\(\$[12]\.[24]0\)"
        ) as refused:
            post(run)
        assert "piecework status" in str(refused.value.next_step)
        assert list(run.platform.find_hits()) == []
        # It was never paid: what it would have cost may be spent.
        intents.withdraw(run.store, "bonus:b:X")
        post(run)
        assert len(list(run.platform.find_hits())) == 1


_OFFSET = timezone(timedelta(hours=2))


def test_a_month_s_cap_is_that_of_the_utc_month_and_begins_anew_with_the_next(
    at_work: Open, campaign_text: str
) -> None:
    """From the first moment of its first day to the last of its last, in any zone."""
    with at_work(with_key(campaign_text, 'month = "9.00"')) as (run, _):
        post(at(run, datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC)))
        for moment, spent in (
            (datetime(2026, 1, 1, tzinfo=UTC), 120),
            (datetime(2026, 2, 1, 1, 59, tzinfo=_OFFSET), 120),
            (datetime(2026, 2, 1, 2, tzinfo=_OFFSET), 0),
            (datetime(2026, 2, 1, tzinfo=UTC), 0),
            (datetime(2025, 12, 31, 23, 59, tzinfo=UTC), 0),
            (datetime(2027, 1, 31, tzinfo=UTC), 0),
        ):
            then = at(run, moment)
            assert caps.left_today(then) == 900 - spent, moment
            assert caps.left(then, 1).month == 900 - spent, moment
        for month in range(1, 13):
            begins = datetime(2028, month, 1, tzinfo=UTC)
            follows = datetime(2028 + month // 12, month % 12 + 1, 1, tzinfo=UTC)
            last = follows - timedelta(seconds=1)
            for moment in (begins, last, last.astimezone(_OFFSET)):
                assert caps.next_month(at(run, moment)) == follows
                day = begins if moment == begins else follows - timedelta(days=1)
                assert caps.next_day(at(run, moment)) == day + timedelta(days=1)


def test_the_tighter_of_day_and_month_decides_what_may_be_promised_today(
    at_work: Open, campaign_text: str
) -> None:
    """Either may be the lower one, and either may be absent."""
    with at_work(campaign_text) as (run, _):
        assert caps.left_today(run) is None
        for day, month in ((300, 200), (200, 300), (200, None), (None, 200)):
            capped = replace(run.campaign.rewards, day_budget_cents=day, month_budget_cents=month)
            poor = replace(run, campaign=replace(run.campaign, rewards=capped))
            assert caps.left_today(poor) == 200


def test_a_month_s_cap_puts_work_off_until_the_next_utc_month(
    at_work: Open, campaign_text: str
) -> None:
    """$1.20 a month: the second batch waits for February and is not a failure."""
    text = with_key(campaign_text, 'month = "1.20"')
    with at_work(_nothing_replaced(text)) as (run, people):
        last_day = at(run, datetime(2026, 1, 31, 20, tzinfo=UTC))
        run_pass(last_day)
        people.work()
        reached = run_pass(last_day)
        assert (reached.waiting_for, reached.stopped_by) == (
            "the next month",
            "budget.month",
        )
        assert reached.goes_on_at == "2026-02-01T00:00:00+00:00"
        late = at(run, datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC))
        assert run_pass(late).waiting_for == "the next month"
        assert len(list(run.platform.find_hits())) == 1
        assert run_pass(at(run, datetime(2026, 2, 1, tzinfo=UTC))).batch == 2
        assert len(list(run.platform.find_hits())) == 2


@pytest.mark.parametrize(("budget", "slots"), [("0.90", 3), ("0.89", 2)])
def test_an_item_is_asked_again_as_long_as_its_own_cap_pays_its_share(
    at_work: Open, campaign_text: str, budget: str, slots: int
) -> None:
    """60 cents an item were paid; bob's two answers cost 30 cents an item once more."""
    text = with_key(campaign_text, f'item = "{budget}"')
    with at_work(text) as (run, people):
        evening = at(run, NOON.replace(hour=20))
        run_pass(evening)
        people.work(at_most=2)
        run_pass(evening)
        assert hits.load_hits(run.store)[0].max_assignments == slots
        # What is closed stays missing, and the next batch begins.
        assert run_pass(evening).batch == (1 if slots == 3 else 2)


def test_caps_are_checked_again_on_the_first_day_of_other_fees(
    campaign_text: str, tmp_path: Path
) -> None:
    """Another day alone changes no price."""
    campaign = load_campaign(write_campaign(tmp_path, campaign_text))
    (fees,) = campaign.rewards.fees[-1:]
    dearer = replace(fees, valid_from=NOON.date() + timedelta(days=2), percent=Decimal(40))
    campaign = replace(campaign, rewards=replace(campaign.rewards, fees=(fees, dearer)))
    today, tomorrow, then = (
        caps.digest_of_caps(campaign, at=NOON + timedelta(days=days)) for days in range(3)
    )
    assert today == tomorrow != then


def _refused(*_: object) -> None:
    raise AssertionError("items are asked again")


def test_a_higher_cap_of_an_item_continues_a_campaign_that_ended(
    at_work: Open, campaign_text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status names the cap; once it is raised, only what is missing is posted."""
    with at_work(with_key(campaign_text, 'item = "0.89"')) as (run, people):
        reached = run_pass(run)
        while not reached.is_finished:
            people.work()
            reached = run_pass(run)
        assert (reached.stopped_by, reached.cap_reached) == ("budget.item", True)
        assert reached.reason == f"{reached.missing} answers are lacking and cannot be bought"
        assert run_pass(run).is_finished
        posted = ledger.taken_cents(run.store)
        # A cap below the plain cost, or another day, changes nothing of what ended.
        rewards = replace(run.campaign.rewards, item_budget_cents=59)
        lowered = replace(run, campaign=replace(run.campaign, rewards=rewards))
        next_day = at(run, run.clock.now() + timedelta(days=1))
        monkeypatch.setattr(item_totals, "reopen_within_budget", _refused)
        assert [run_pass(each).is_finished for each in (lowered, next_day)] == [True, True]
        monkeypatch.undo()
        rewards = replace(run.campaign.rewards, item_budget_cents=300)
        raised = replace(run, campaign=replace(run.campaign, rewards=rewards))
        reached = run_pass(raised)
        while not reached.is_finished:
            assert people.work()
            reached = run_pass(raised)
        assert (reached.stopped_by, reached.missing) == ("", 0)
        assert ledger.taken_cents(run.store) > posted
        monkeypatch.setattr(item_totals, "reopen_within_budget", _refused)
        rewards = replace(run.campaign.rewards, item_budget_cents=400)
        higher = replace(run, campaign=replace(run.campaign, rewards=rewards))
        assert run_pass(higher).is_finished


@pytest.mark.parametrize(
    ("budget", "asked"),
    [("1.50", [(True, 2), (False, 1)]), ("1.49", [(False, 1)]), ("1.19", [])],
)
def test_an_item_s_own_cap_pays_all_that_a_round_asks_about_it(
    at_work: Open,
    campaign_text: str,
    monkeypatch: pytest.MonkeyPatch,
    budget: str,
    asked: list[tuple[bool, int]],
) -> None:
    """60 cents an item were paid. The first needs a slot (30) and a HIT of its own (60).

    Without it, the other item is alone in a HIT (60), for which its cap may not pay either.
    """
    text = with_key(campaign_text, f'item = "{budget}"').replace("batches = 2", "batches = 1")
    calls = iter(range(5))

    def counted(*args: Any, **kwargs: Any) -> list[PlannedHit]:  # noqa: ANN401 - as replacements
        assert next(calls, None) is not None, "an item that was closed is planned again"
        return dealing.replacements(*args, **kwargs)

    monkeypatch.setattr(plan, "replacements", counted)
    with at_work(text, pictures=2) as (run, people):
        people.script = (("ann", "half"), ("bob", "shout"))
        evening = at(run, NOON.replace(hour=20))
        run_pass(evening)
        assert people.work() == 2
        run_pass(evening)
        _, *again = hits.load_hits(run.store)
        assert [(bool(hit.extends), len(hit.item_ids)) for hit in again] == asked
        people.script += (("cat", "good"), ("dan", "good"))
        people.work()
        run_pass(evening)
        cap_cents = run.campaign.rewards.item_budget_cents or 0
        assert max(item_totals.spent_by_item(run.store, 1).values()) <= cap_cents


def test_a_day_s_cap_puts_work_off_until_the_next_utc_day(
    at_work: Open, campaign_text: str
) -> None:
    """$1.20 a day: the second batch waits for midnight and is not a failure."""
    text = with_key(campaign_text, 'day = "1.20"')
    with at_work(_nothing_replaced(text)) as (run, people):
        monday = at(run, NOON)
        run_pass(monday)
        people.work()
        reached = run_pass(monday)
        assert (reached.waiting_for, reached.batch) == ("the next day", 2)
        assert reached.goes_on_at == "2026-01-06T00:00:00+00:00"
        assert reached.stopped_by == "budget.day"
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
    text = with_key(campaign_text, 'day = "1.20"')
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
    with at_work(with_key(campaign_text, 'batch = "1.20"')) as (run, people):
        reached = run_pass(run)
        while not reached.is_finished:
            people.work()
            reached = run_pass(run)
        assert (reached.batch, reached.cap_reached) == (2, True)
        assert reached.stopped_by == "budget.batch"
        # dan's rejection gave 60 cents back to batch 2: one assignment more of it.
        taken = list(ledger.taken_by_batch(run.store).values())
        assert taken == [120, 120]
        assert ledger.taken_cents(run.store) == 240


def test_the_last_look_before_a_call_refuses_what_passes_any_cap(
    at_work: Open, campaign_text: str
) -> None:
    """Even a HIT that something planned too dearly is not posted."""
    with at_work(with_key(campaign_text, 'batch = "3.00"')) as (run, _):
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


def test_money_that_came_back_was_promised_all_the_same(at_work: Open, campaign_text: str) -> None:
    """A day's allowance never grows within the day."""
    with at_work(with_key(campaign_text, 'day = "9.00"')) as (run, _):
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
