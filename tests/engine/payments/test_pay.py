"""Bonuses on a real marketplace: by rule or by file, each once, within the caps."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from threading import Barrier

import httpx
import pytest

from piecework.campaign.opened import CampaignRun
from piecework.domain.clock import FixedClock
from piecework.domain.errors import BudgetExceeded, ConfigError, PlatformRefused
from piecework.domain.ids import AnswerId, AssignmentId, HitKey
from piecework.domain.money import Bonus, FeeSchedule
from piecework.engine.payments.compensations import pay_compensation, plan_compensation
from piecework.engine.payments.due_bonuses import is_too_late, label_fault, read_bonuses, top_ups
from piecework.engine.payments.pay import (
    BONUS,
    BonusPlan,
    act_of_bonus,
    check_bonuses,
    close_interrupted,
    pay_bonuses,
    unreject,
)
from piecework.engine.posted_hits import PUBLISH
from piecework.engine.progress import read_progress
from piecework.engine.run_pass import run_pass
from piecework.platforms.mturk import MTurk
from piecework.postprocess.pseudonyms import answer_pseudonym, pseudonym
from piecework.store import assignments, hits, intents, ledger
from piecework.store.assignments import verdict_and_outcome
from piecework.store.intents import ActSubject, Intent
from tests.engine.conftest import Open
from tests.engine.payments.bookkeeping import (
    EVENING,
    assignment_ids,
    bonus_file,
    books,
    check_books,
    first_batch_paid,
)
from tests.results.reported import reported


def test_everybody_of_a_kind_is_lifted_to_the_floor_for_the_median_time(
    at_work: Open, campaign_text: str
) -> None:
    """Median of 12 and 18 minutes is 15; at $5 an hour that is $1.25: 75 cents each."""
    with at_work(campaign_text) as opened:
        run = first_batch_paid(opened)
        plan = top_ups(run)
        assert [payment.bonus.cents for payment in plan.due] == [75, 75]
        assert (plan.bonus_cents, plan.total_cents) == (150, 180)  # 20 % fee
        assert [payment.fee_cents for payment in plan.due] == [15, 15]
        assert "15.0 minutes" in plan.due[0].bonus.reason
        done = pay_bonuses(run, plan)
        assert (done.bonuses, done.cents, done.waiting) == (2, 180, 0)
        # Of the batch's cap they take as much as of the campaign's, beside its HITs.
        assert ledger.taken(run.store, 1, run.clock.now()).batch == 180 + 180
        again = top_ups(run)
        assert (again.due, again.before, again.lacking_cents) == ((), 2, 0)
        assert [bonus["cents"] for bonus in books(run)["bonuses"]] == [75, 75]
        check_books(run)
        assert read_progress(run).bonuses_cents == 150
        facts = reported(run)
        assert facts.money is not None
        assert facts.money.cents("paid_bonuses") == 150
        # 50 cents and 75: $1.25 for 12 minutes, and for 18.
        assert sorted(facts.workers["paid_cents"]) == [125, 125]


def test_a_floor_that_was_raised_says_what_top_ups_lack_and_pays_no_second_one(
    at_work: Open, campaign_text: str
) -> None:
    """At $6 an hour 15 minutes are $1.50: 25 cents more than each got, of 0.50 and 0.75."""
    with at_work(campaign_text) as opened:
        run = first_batch_paid(opened)
        pay_bonuses(run, top_ups(run))
        raised = top_ups(_with_cap(run, "wage_floor_cents_per_hour", 600))
        assert (raised.due, raised.before, raised.lacking_cents) == ((), 2, 50)
        other = top_ups(_with_cap(run, "wage_floor_cents_per_hour", 600), label="more")
        assert [payment.bonus.cents for payment in other.due] == [25, 25]


def test_work_that_was_not_paid_gets_no_bonus_by_rule_or_by_file(
    at_work: Open, campaign_text: str
) -> None:
    """The message names the ways to pay it; a worker without any paid work has none."""
    text = campaign_text.replace("batches = 2", "batches = 1")
    with at_work(text, pictures=2) as (opened, people):
        people.script, people.minutes = (("ann", "good"), ("dan", "paste")), (15, 15)
        run = replace(opened, clock=FixedClock(EVENING))
        run_pass(run)
        assert people.work() == 2
        run_pass(run)
        of = {verdict_and_outcome(run.store, name)[0]: name for name in assignment_ids(run)}
        assert [planned.bonus.assignment_id for planned in top_ups(run).due] == [of["approve"]]
        (work,) = assignments.load_assignments(run.store, assignment_ids=[of["reject"]])
        dan = run.pseudonym(work.worker_id)
        rows = ((of["reject"], "", "1", "r"), ("", dan, "1", "r"))
        with pytest.raises(ConfigError) as error:
            read_bonuses(
                run,
                bonus_file(*rows, header="assignment_id,worker,amount,reason"),
                label="b",
                name="b.csv",
            )
        first, second = error.value.faults
        assert "was not paid: approve it or reverse its rejection first" in first
        assert f"worker {dan!r} has no paid assignment here" in second


@pytest.mark.parametrize(("pictures", "kind"), [(3, ""), (4, "another HIT type")])
def test_hits_of_another_size_or_type_are_another_kind(
    at_work: Open, campaign_text: str, pictures: int, kind: str
) -> None:
    """15 minutes at the median for one HIT, 5 for the other, which needs no bonus."""
    text = campaign_text.replace("batches = 2", "batches = 1")
    with at_work(text, pictures=pictures) as (opened, people):
        people.script = tuple((name, "good") for name in ("ann", "ann", "eve", "eve"))
        people.minutes = (12, 4, 18, 6)
        run = replace(opened, clock=FixedClock(EVENING), most_calls=1)
        run_pass(run)
        assert people.work() == 4
        run_pass(run)
        if kind:
            last = "(SELECT max(rowid) FROM hits)"
            with run.store.db.atomic():
                run.store.db.execute(
                    f"UPDATE hits SET hit_type_id = ? WHERE rowid = {last}", [kind]
                )
        assert [payment.bonus.cents for payment in top_ups(run).due] == [75, 75]


def test_what_is_paid_already_counts_towards_the_floor(at_work: Open, campaign_text: str) -> None:
    """Who had 30 cents for another reason lacks 45, and who had 80 lacks nothing."""
    with at_work(campaign_text) as opened:
        run = first_batch_paid(opened)
        ann, bob = assignment_ids(run)
        text = bonus_file((ann, "0.30", "A fine text."), (bob, "$0.80", "Thanks!"))
        pay_bonuses(run, read_bonuses(run, text, label="bonus", name="b.csv"))
        plan = top_ups(run)
        assert [(payment.bonus.assignment_id, payment.bonus.cents) for payment in plan.due] == [
            (ann, 45)
        ]


@pytest.mark.parametrize("is_of_dataset", [False, True])
def test_a_file_pays_once_however_often_it_is_read(
    at_work: Open, campaign_text: str, *, is_of_dataset: bool
) -> None:
    """The label and what it is for are the key; another label is another bonus."""
    with at_work(campaign_text) as opened:
        run = first_batch_paid(opened)

        def named(answer: str) -> str:
            published = answer_pseudonym(AnswerId(answer), run.pseudonym_key)
            return published if is_of_dataset else answer

        ann, bob = assignment_ids(run)
        worker = assignments.load_assignments(run.store)[1].worker_id
        hashed = pseudonym(worker, run.pseudonym_key)
        text = bonus_file(
            (named(f"{ann}.2"), "", "0.25", "Fine."),
            ("", hashed, "0.10", "'=Ok"),
            header="assignment_id,worker,amount,reason",
        )
        for paid in (2, 0):
            plan = read_bonuses(run, text, label="bonus", name="b.csv")
            assert (len(plan.due), plan.before, plan.lacking_cents) == (paid, 2 - paid, 0)
            pay_bonuses(run, plan)
        theirs = [
            (bonus["assignment_id"], bonus["cents"], bonus["reason"])
            for bonus in books(run)["bonuses"]
        ]
        assert sorted(theirs) == sorted([(ann, 25, "Fine."), (bob, 10, "=Ok")])
        other = text.replace("0.25", "0.26")
        with pytest.raises(ConfigError, match=r"line 2: was paid \$0\.25 .*'bonus'"):
            read_bonuses(run, other, label="bonus", name="b.csv")
        pay_bonuses(run, read_bonuses(run, text, label="thanks", name="b.csv"))
        assert len(books(run)["bonuses"]) == 4
        check_books(run)


@pytest.mark.parametrize("at_once", [1, 4])
def test_two_bonuses_that_look_alike_are_both_paid(
    at_work: Open, campaign_text: str, at_once: int
) -> None:
    """One is for the work and one for the worker: the same assignment, sum and words.

    The platform lists no label and no subject, so one could pass for the other. A bonus
    of the same sum that was sent by hand, with other words, is neither. Nor is one that
    the store has and the platform has lost.
    """
    with at_work(campaign_text) as opened:
        run = replace(first_batch_paid(opened), most_calls=at_once)
        ann, bob = assignment_ids(run)
        worker = pseudonym(assignments.load_assignments(run.store)[0].worker_id, run.pseudonym_key)
        text = bonus_file(
            (ann, "", "0.25", "Fine."),
            ("", worker, "0.25", "Fine."),
            (bob, "", "0.25", "Fine."),
            header="assignment_id,worker,amount,reason",
        )
        plan = read_bonuses(run, text, label="bonus", name="b.csv")
        run.platform.bonus(replace(plan.due[-1].bonus, reason="By hand."), token="b")  # noqa: S106
        first = plan.due[0]
        assert act_of_bonus(run, first.intent, [first.bonus]).look() is None
        assert pay_bonuses(run, plan).bonuses == 3
        paid = [bonus["assignment_id"] for bonus in books(run)["bonuses"]]
        assert sorted(paid) == sorted([ann, ann, bob, bob])


BAD_ROWS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("{ann}", "0.123", "r"), "line 2: '0.123' is not an amount"),
    (("{ann}", "-1", "r"), "is not an amount"),
    (("{ann}", "", "r"), "is not an amount"),
    (("{ann}", "0,50", "r"), "is not an amount"),
    (("{ann}", "1e3", "r"), "is not an amount"),
    (("{ann}", "9999999999", "r"), "is not an amount"),
    (("{ann}", "0.00", "r"), "0.01 or more"),
    (("{ann}", "0.50", " "), "reason has 0 characters"),
    (("{ann}", "0.50", "x" * 1025), "reason has 1025"),
    (("{ann}", "0.50", "bell \x07"), "on one line"),
    (("3NOBODY", "0.50", "r"), "'3NOBODY' is not an assignment"),
    (("", "0.50", "r"), "worker '' has no paid assignment"),
    (("{ann}", "0.50", "r", "more"), "more or fewer cells"),
    (("{ann}",), "more or fewer cells"),
)


def test_a_bad_row_is_told_with_its_line_and_nothing_is_paid(
    at_work: Open, campaign_text: str
) -> None:
    """A good row beside it is not paid either."""
    with at_work(campaign_text) as opened:
        run = first_batch_paid(opened)
        ann, bob = assignment_ids(run)
        for row, words in BAD_ROWS:
            cells = tuple(cell.format(ann=ann) for cell in row)
            text = bonus_file(cells, (bob, "1", "r"))
            with pytest.raises(ConfigError, match=words):
                read_bonuses(run, text, label="bonus", name="b.csv")
        assert books(run)["bonuses"] == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "columns missing: amount, assignment_id"),
        ("assignment_id,amount\n", "columns missing: reason"),
        ("amount,reason\n", "columns missing: assignment_id \\(or worker\\)"),
        ("assignment_id,amount,reason,colour\n", "unknown columns: colour"),
        ('assignment_id,amount,reason\n"a,1,b\n', "line"),
    ],
)
def test_a_bad_file_is_refused(at_work: Open, campaign_text: str, text: str, words: str) -> None:
    """In a sentence that says what is allowed."""
    with at_work(campaign_text) as (run, _), pytest.raises(ConfigError, match=words):
        read_bonuses(run, text, label="bonus", name="b.csv")


def test_two_rows_for_one_bonus_and_a_stranger_s_worker_are_faults(
    at_work: Open, campaign_text: str
) -> None:
    """Nobody has to guess which of two lines holds, or who is meant."""
    with at_work(campaign_text) as opened:
        run = first_batch_paid(opened)
        ann, _ = assignment_ids(run)
        text = bonus_file(
            (ann, "", "1", "r"),
            (f"{ann}.1", "", "1", "r"),
            (ann, "0123456789abcdef", "1", "r"),
            header="assignment_id,worker,amount,reason",
        )
        with pytest.raises(ConfigError) as error:
            read_bonuses(run, text, label="bonus", name="b.csv")
        first, second = error.value.faults
        assert "line 3: an earlier line has this bonus" in first
        assert "line 4" in second
        assert "is not the work of worker" in second


@pytest.mark.parametrize("label", ["", "a:b", "Bonus", "x" * 41, "ä"])
def test_a_label_is_a_plain_word(label: str) -> None:
    """It is part of a key."""
    assert "--label" in label_fault(label)


@pytest.mark.parametrize("label", ["a", "7", "spring-2027_b", "x" * 40])
def test_plain_words_are_labels(label: str) -> None:
    """Letters, digits, - and _, up to 40."""
    assert label_fault(label) == ""


def test_all_bad_rows_of_a_file_are_told_and_the_columns_that_are_allowed(
    at_work: Open, campaign_text: str
) -> None:
    """In one run, whichever of the two columns says who is meant."""
    with at_work(campaign_text) as opened:
        run = first_batch_paid(opened)
        rows = (("stranger", "1", "r"), ("other stranger", "1", "r"))
        text = bonus_file(*rows, header="worker,amount,reason")
        with pytest.raises(ConfigError) as error:
            read_bonuses(run, text, label="bonus", name="b.csv")
        assert [fault.split(":")[1] for fault in error.value.faults] == [" line 2", " line 3"]
        with pytest.raises(ConfigError) as error:
            read_bonuses(run, "assignment_id,amount,reason,colour\n", label="bonus", name="b.csv")
        allowed = "allowed are assignment_id, worker, amount, reason"
        assert error.value.next_step == allowed


def test_a_plan_beyond_the_cap_pays_nothing(at_work: Open, campaign_text: str) -> None:
    """$20.00 less 1.20 paid and 0.60 held for a replacement; $19 and fee do not fit."""
    with at_work(campaign_text) as opened:
        run = first_batch_paid(opened)
        ann, bob = assignment_ids(run)
        text = bonus_file((bob, "0.10", "r"), (ann, "19.00", "r"))
        plan = read_bonuses(run, text, label="bonus", name="b.csv")
        with pytest.raises(BudgetExceeded, match="cost \\$22\\.92 with fees, but"):
            pay_bonuses(run, plan)
        assert books(run)["bonuses"] == []


def test_bonuses_that_the_marketplace_refuses_are_named_and_the_others_paid(
    at_work: Open, campaign_text: str
) -> None:
    """Six are for an unknown worker; the message names five of them, with the code."""
    with at_work(campaign_text) as opened:
        run = first_batch_paid(opened)
        ann, bob = assignment_ids(run)
        due = read_bonuses(run, bonus_file((bob, "1", "r")), label="b", name="b").due
        for number in range(6):
            (wrong,) = read_bonuses(
                run, bonus_file((ann, "1", "r")), label=f"w{number}", name="b"
            ).due
            arguments = {**wrong.intent.arguments, "worker": "ANOBODYKNOWSME"}
            intent = replace(wrong.intent, arguments=arguments)
            due = (replace(wrong, intent=intent), *due)
        with pytest.raises(PlatformRefused, match="6 of 7 bonuses were refused") as no:
            pay_bonuses(run, BonusPlan(label="b", due=due, before=0))
        keys = [f"bonus:w{number}:{ann}" for number in range(6)]
        assert sum(key in str(no.value) for key in keys) == 5
        assert no.value.code
        assert str(no.value).count(f"({no.value.code})") == 5
        assert no.value.next_step.startswith("the others were paid")
        assert [each["assignment_id"] for each in books(run)["bonuses"]] == [bob]
        check_books(run)
        with pytest.raises(PlatformRefused, match="1 of 1 bonuses"):
            pay_bonuses(run, BonusPlan(label="b", due=due[:1], before=0))


def test_bonuses_leave_room_for_all_that_is_planned_under_each_cap(
    at_work: Open, campaign_text: str
) -> None:
    """Bonuses of 12, 24 and 36 cents with fees; HITs of 60 cents, two and one.

    180 cents are taken, all by the first batch. The first two bonuses are the first
    batch's, the third is another's.
    """
    with at_work(campaign_text) as opened:
        run = first_batch_paid(opened)
        (posted, *_) = hits.load_hits(run.store)
        unposted = replace(posted, posted_at=None, hit_id=None, collected_at=None)
        hits.plan(
            run.store,
            [
                replace(unposted, hit_key=HitKey(f"h{n}"), batch=batch, max_assignments=1)
                for n, batch in enumerate((1, 1, 2))
            ],
        )
        ann, bob = assignment_ids(run)
        text = bonus_file((ann, "0.10", "r"), (bob, "0.20", "r"))
        due = read_bonuses(run, text, label="a", name="b.csv").due
        third = bonus_file((ann, "0.30", "r"))
        (more,) = read_bonuses(run, third, label="c", name="b.csv").due
        plan = BonusPlan(label="a", due=(replace(more, batch=2), *due), before=0)
        for cap, enough, words in (
            (
                "batch_budget_cents",
                180 + 36 + 120,
                "$0.36 with fees, but $0.35 are left of the cap",
            ),
            ("budget_cents", 180 + 72 + 180, "$0.72 with fees, but $0.71 are left of"),
        ):
            check_bonuses(_with_cap(run, cap, enough), plan)
            with pytest.raises(BudgetExceeded, match=re.escape(words)) as refused:
                check_bonuses(_with_cap(run, cap, enough - 1), plan)
            assert "piecework status" in refused.value.next_step
        # Of two batches whose cap is too low, the first is named, in any order of bonuses.
        with pytest.raises(BudgetExceeded, match=re.escape("cost $0.36 with fees")) as refused:
            check_bonuses(_with_cap(run, "batch_budget_cents", 1), plan)
        assert "of the cap of batch 1;" in str(refused.value)
        # One that was begun is counted once, and the campaign's cap is named first.
        with run.store.db.atomic():
            intents.declare(run.store, due[0].intent, run.clock)
        check_bonuses(_with_cap(run, "budget_cents", enough), plan)
        low = _with_cap(_with_cap(run, "budget_cents", 1), "batch_budget_cents", 1)
        with pytest.raises(BudgetExceeded, match=re.escape("cost $0.72 with fees")):
            check_bonuses(low, plan)


def _bonus(run: CampaignRun, paid: AssignmentId, _rejected: AssignmentId) -> None:
    text = bonus_file((paid, "0.50", "r"))
    assert pay_bonuses(run, read_bonuses(run, text, label="b", name="b")).bonuses == 1


def _compensation(run: CampaignRun, paid: AssignmentId, _rejected: AssignmentId) -> None:
    (worker,) = assignments.load_assignments(run.store, assignment_ids=[paid])
    planned = plan_compensation(run, worker.worker_id, "0.50", because="Our page was slow.")
    pay_compensation(run, planned)


def _reversal(run: CampaignRun, _paid: AssignmentId, rejected: AssignmentId) -> None:
    unreject(run, rejected, because="It was right.", by="ada")


@pytest.mark.parametrize("was_begun", [False, True])
@pytest.mark.parametrize(
    ("pay", "cap"),
    [
        (_bonus, "budget_cents"),
        (_bonus, "batch_budget_cents"),
        (_compensation, "budget_cents"),
        (_reversal, "budget_cents"),
        (_reversal, "batch_budget_cents"),
    ],
)
def test_a_payment_leaves_the_money_of_planned_hits_and_of_calls_under_way(
    at_work: Open, campaign_text: str, pay: Callable[..., None], cap: str, *, was_begun: bool
) -> None:
    """60 cents were paid, a slot for 60 waits for tomorrow, a call for 30 was cut off.

    If the call for the slot was cut off too, the slot does not count twice.
    """
    text = campaign_text.replace('"20.00"', '{ total = "20.00", day = "1.20" }')
    with at_work(text.replace("batches = 2", "batches = 1"), pictures=2) as (opened, people):
        people.script = (("ann", "good"), ("dan", "paste"))
        run = replace(opened, clock=FixedClock(EVENING))
        run_pass(run)
        assert people.work() == 2
        run_pass(run)
        (slots,) = hits.unposted(run.store)
        of = {verdict_and_outcome(run.store, name)[0]: name for name in assignment_ids(run)}
        paid, rejected = of["approve"], of["reject"]
        calls: list[tuple[str, ActSubject, int]] = [(BONUS, ("assignment", paid), 30)]
        if was_begun:
            calls.append((PUBLISH, ("hit", slots.hit_key), slots.cost_cents))
        arguments: dict[str, str | int] = {"worker": "A", "cents": 25, "reason": "r"}
        with run.store.db.atomic():
            for operation, subject, cents in calls:
                intent = Intent(
                    key=f"{operation}:{subject[1]}",
                    operation=operation,
                    subject=subject,
                    arguments=arguments,
                    amount_cents=cents,
                )
                intents.declare(run.store, intent, run.clock)
        later = replace(run, clock=FixedClock(EVENING + timedelta(days=1)))
        later = _with_cap(later, "day_budget_cents", 1000)
        enough = 60 + 60 + 30 + 60
        with pytest.raises(BudgetExceeded):
            pay(_with_cap(later, cap, enough - 1), paid, rejected)
        assert ledger.taken_cents(run.store) == 60
        later = _with_cap(later, cap, enough)
        pay(later, paid, rejected)
        run_pass(later)
        assert hits.unposted(run.store) == []
        assert ledger.taken_cents(run.store) == 180
        check_books(run)


def test_a_cap_that_was_lowered_below_what_was_spent_has_nothing_left(
    at_work: Open, campaign_text: str
) -> None:
    """It never says that less than nothing is left."""
    with at_work(campaign_text) as opened:
        run = first_batch_paid(opened)
        with pytest.raises(BudgetExceeded, match=r"\$0\.00 are left of"):
            check_bonuses(_with_cap(run, "budget_cents", 100), top_ups(run))


def _with_cap(run: CampaignRun, name: str, cents: int) -> CampaignRun:
    capped = replace(run.campaign.rewards, **{name: cents})  # type: ignore[arg-type]
    return replace(run, campaign=replace(run.campaign, rewards=capped))


def test_a_day_s_cap_pays_the_rest_on_the_next_day(at_work: Open, campaign_text: str) -> None:
    """$2.70 a day: HITs for 1.20 and 0.60 (bob's replacement), then one bonus of 90."""
    text = campaign_text.replace('budget = "20.00"', 'budget = { total = "20.00", day = "2.70" }')
    with at_work(text) as opened:
        run = first_batch_paid(opened)
        assert ledger.taken_cents(run.store) == 180
        done = pay_bonuses(_with_cap(run, "day_budget_cents", 269), top_ups(run))
        assert (done.bonuses, done.waiting) == (0, 2)
        with run.store.db.atomic():  # A call that was cut off takes no room from itself.
            intents.declare(run.store, top_ups(run).due[0].intent, run.clock)
        done = pay_bonuses(run, top_ups(run))
        assert (done.bonuses, done.waiting, done.waiting_cents) == (1, 1, 90)
        tomorrow = replace(run, clock=FixedClock(EVENING + timedelta(days=1)))
        done = pay_bonuses(tomorrow, top_ups(tomorrow))
        assert (done.bonuses, done.waiting) == (1, 0)
        check_books(run)


def test_work_of_half_a_year_ago_gets_no_bonus(at_work: Open, campaign_text: str) -> None:
    """The platform would refuse it; so it is said beforehand."""
    with at_work(campaign_text) as opened:
        run = first_batch_paid(opened)
        late = replace(run, clock=FixedClock(EVENING + timedelta(days=184)))
        plan = top_ups(late)
        assert (plan.due, len(plan.too_late)) == ((), 2)
        window = run.platform.capabilities.bonus_window
        for work in assignments.load_assignments(run.store):
            last = replace(run, clock=FixedClock(work.submitted_at + window))
            assert not is_too_late(last, work)
            after = FixedClock(last.clock.now() + timedelta(seconds=1))
            assert is_too_late(replace(run, clock=after), work)
        with pytest.raises(ConfigError, match="more than six months ago"):
            read_bonuses(
                late, bonus_file((assignment_ids(run)[0], "1", "r")), label="bonus", name="b"
            )


def test_what_was_begun_and_never_arrived_is_forgotten_and_may_be_paid_otherwise(
    at_work: Open, campaign_text: str
) -> None:
    """An open intent without a payment stands in nobody's way."""
    with at_work(campaign_text) as opened:
        run = first_batch_paid(opened)
        plan = top_ups(run)
        with run.store.db.atomic():
            intents.declare(run.store, plan.due[0].intent, run.clock)
        assert read_progress(run).waiting_for == "workers"
        assert close_interrupted(run) == 1
        assert intents.load_intents(run.store, BONUS, is_done=False) == []
        assert pay_bonuses(run, top_ups(run)).bonuses == 2
        check_books(run)


def test_a_bonus_whose_reply_was_lost_is_booked_and_not_paid_again(
    at_work: Open, campaign_text: str
) -> None:
    """Also long after, when the platform has forgotten the token."""
    with at_work(campaign_text) as opened:
        run = first_batch_paid(opened)
        first = top_ups(run).due[0]
        with run.store.db.atomic():
            intents.declare(run.store, first.intent, run.clock)
        run.platform.bonus(first.bonus, token=first.intent.token(intents.store_name(run.store)))
        later = EVENING + timedelta(hours=25)
        httpx.put(
            f"{run.platform.endpoint}/rehearsal/clock", json={"now": later.isoformat()}
        ).raise_for_status()
        close_interrupted(run)
        check_books(run)
        assert pay_bonuses(run, top_ups(run)).bonuses == 1
        check_books(run)


def test_of_two_bonuses_alike_that_were_begun_as_many_are_booked_as_were_paid(
    at_work: Open, campaign_text: str
) -> None:
    """One arrived: the other is forgotten, and the same file pays it."""
    with at_work(campaign_text) as opened:
        run = first_batch_paid(opened)
        ann, _ = assignment_ids(run)
        worker = run.pseudonym(assignments.load_assignments(run.store)[0].worker_id)
        rows = ((ann, "", "0.25", "Fine."), ("", worker, "0.25", "Fine."))
        text = bonus_file(*rows, header="assignment_id,worker,amount,reason")
        plan = read_bonuses(run, text, label="bonus", name="b.csv")
        with run.store.db.atomic():
            for planned in plan.due:
                intents.declare(run.store, planned.intent, run.clock)
        run.platform.bonus(plan.due[0].bonus, token="reply lost")  # noqa: S106
        assert close_interrupted(run) == 2
        assert close_interrupted(run) == 0
        assert len(intents.load_intents(run.store, BONUS, is_done=True)) == 1
        check_books(run)
        assert pay_bonuses(run, read_bonuses(run, text, label="bonus", name="b.csv")).bonuses == 1
        check_books(run)


class _Together(MTurk):
    """No bonus is paid before the call of another is under way."""

    both, tokens = Barrier(2, timeout=30), set[str]()

    def bonus(self, bonus: Bonus, *, token: str) -> None:
        """Pay, once two wait for it."""
        self.tokens.add(token)
        self.both.wait()
        super().bonus(bonus, token=token)


def test_bonuses_are_paid_side_by_side_with_tokens_of_this_store(
    at_work: Open, campaign_text: str
) -> None:
    """As many calls at a time as the marketplace may get."""
    with at_work(campaign_text) as opened:
        run = replace(first_batch_paid(opened), most_calls=2)
        run = replace(run, platform=_Together(run.platform.endpoint))
        plan, name = top_ups(run), intents.store_name(run.store)
        assert pay_bonuses(run, plan).bonuses == 2
        assert _Together.tokens == {planned.intent.token(name) for planned in plan.due}


class _Repeating(MTurk):
    """The reply to each bonus is lost, and its token is refused when the call is repeated."""

    def bonus(self, bonus: Bonus, *, token: str) -> None:
        """Pay, and refuse."""
        super().bonus(bonus, token=token)
        raise PlatformRefused("the token was used", code="RequestError")


def test_a_bonus_whose_repeated_call_is_refused_was_paid(at_work: Open, campaign_text: str) -> None:
    """Nothing is refused and nothing paid twice."""
    with at_work(campaign_text) as opened:
        run = first_batch_paid(opened)
        run = replace(run, platform=_Repeating(run.platform.endpoint))
        assert pay_bonuses(run, top_ups(run)).bonuses == 2
        check_books(run)


def test_a_bonus_has_the_fee_of_the_market_whose_participant_gets_it(
    at_work: Open, campaign_text: str
) -> None:
    """40 % there and 20 % elsewhere, of a dollar."""
    dear = FeeSchedule(percent=Decimal(40))
    with at_work(campaign_text) as opened:
        run = first_batch_paid(opened)
        rewards = replace(run.campaign.rewards, fees_by_market=(("connect", dear),))
        run = replace(run, campaign=replace(run.campaign, rewards=rewards))
        text = bonus_file((assignment_ids(run)[0], "1.00", "Fine."))
        for market, fee_cents in (("", 20), ("connect", 40)):
            with run.store.db.atomic():
                run.store.db.execute("UPDATE hits SET market = ?", [market])
            (due,) = read_bonuses(run, text, label="b", name="b.csv").due
            assert due.fee_cents == fee_cents
