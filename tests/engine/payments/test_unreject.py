"""A rejection taken back on a real marketplace: paid once, its answers in again."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import CampaignRun
from piecework.domain.clock import FixedClock
from piecework.domain.errors import BudgetExceeded, ConfigError, PlatformRefused
from piecework.domain.ids import AssignmentId
from piecework.domain.verdicts import Decision
from piecework.engine import collect, settle
from piecework.engine.opening import open_for_rehearsal
from piecework.engine.payments.due_bonuses import read_bonuses
from piecework.engine.payments.pay import UNREJECT, close_interrupted, pay_bonuses, unreject
from piecework.engine.progress import read_progress
from piecework.engine.run_pass import post, run_pass
from piecework.marketplace.http.server import Marketplace, serve
from piecework.platforms.mturk import MTurk
from piecework.results.table import answers_table
from piecework.store import assignments, decisions, intents, ledger
from piecework.store.settlements import DONE, PAID_ALREADY
from tests.crash.people import People
from tests.engine.conftest import Open
from tests.engine.payments.bookkeeping import (
    EVENING,
    assignment_ids,
    bonus_file,
    books,
    check_books,
)
from tests.small_campaign import CAMPAIGN, write_campaign

WHY = "The picture was upside down; the captions are right."


def to_the_end(run: CampaignRun, people: People) -> AssignmentId:
    """Let the campaign finish; dan's assignment, which was rejected."""
    while not run_pass(run).is_finished:
        people.work()
    (rejected,) = decisions.load_decisions(run.store, "assignment", verdicts=["reject"])
    return AssignmentId(rejected.subject_id)


def test_rejected_work_is_paid_after_all_and_counts_again(
    at_work: Open, campaign_text: str
) -> None:
    """Reward and fee move once; what replaced it meanwhile becomes surplus."""
    with at_work(campaign_text) as (opened, people):
        run = replace(opened, clock=FixedClock(EVENING))
        people.minutes = (1,) * 8
        name = to_the_end(run, people)
        before, was = ledger.balances(run.store), read_progress(run)
        assert unreject(run, name, because=WHY, by="ada") == 2
        after, now = ledger.balances(run.store), read_progress(run)
        assert after["rewards"] - before["rewards"] == 50
        assert after["fees"] - before["fees"] == 10
        assert now.rejected == was.rejected - 1 == 0
        assert (now.accepted, now.surplus) == (was.accepted, was.surplus + 2)
        assert now.is_finished
        check_books(run)
        kept = answers_table(run).query("not is_rejected")
        again = set(assignments.answers_with(run.store, name, "keep"))
        assert len(again) == 2
        # The earliest answers count.
        assert again <= set(kept.index[~kept["is_surplus"]])
        assert kept["is_surplus"].sum() == 2
        history = run.store.db.execute(
            "SELECT verdict, decided_by FROM decisions WHERE subject_id = ? ORDER BY decision_id",
            [name],
        ).fetchall()
        assert history == [("reject", "policy:crash"), ("approve", "ada")]
        reasons = run.store.db.execute(
            "SELECT subject_kind, because FROM decisions WHERE decided_by = 'ada' ORDER BY 1"
        ).fetchall()
        taken_back = ("answer", f"its rejection was taken back: {WHY}")
        assert reasons == [taken_back, taken_back, ("assignment", WHY)]
        assert run_pass(run) == now  # settled: nothing is approved a second time
        with pytest.raises(ConfigError, match="not rejected: its verdict is approve"):
            unreject(run, name, because=WHY, by="ada")


class _Stern(MTurk):
    """Lets no rejection be reversed."""

    def approve_rejected(self, assignment_id: AssignmentId, because: str) -> None:
        """Refuse."""
        raise PlatformRefused(f"{assignment_id}: too late for {because!r}", code="RequestError")


def test_only_a_rejection_that_was_carried_out_is_reversed_and_in_time(
    at_work: Open, campaign_text: str
) -> None:
    """Each step before is refused in a sentence, with what to do; the last moment is in time."""
    with at_work(campaign_text) as (opened, people):
        run = replace(opened, clock=FixedClock(EVENING))
        people.minutes = (12, 18)
        run_pass(run)
        people.work(at_most=2)
        collect.collect(run)
        work, _ = assignments.load_assignments(run.store)
        name, window = work.assignment_id, run.capabilities.unreject_window
        assert window is not None
        last = replace(run, clock=FixedClock(work.submitted_at + window))
        late = replace(run, clock=FixedClock(work.submitted_at + window + timedelta(seconds=1)))

        def refused(on: CampaignRun, words: str, next_step: str = "") -> None:
            with pytest.raises(ConfigError, match=words) as no:
                unreject(on, name, because=WHY, by="ada")
            assert next_step in (no.value.next_step or "")

        refused(run, "its verdict is not decided")
        decision = Decision(
            subject_kind="assignment",
            subject_id=name,
            verdict="reject",
            decided_by="ada",
            decided_at=EVENING,
            because=WHY,
        )
        dropped = [
            replace(decision, subject_kind="answer", subject_id=answer, verdict="drop")
            for answer, _, _ in assignments.verdicts_of_answers(run.store, [name])
        ]
        decisions.keep_decisions(run.store, [decision, *dropped])
        refused(run, "not carried out yet", f" --once --endpoint {run.endpoint}")
        refused(replace(run, is_live=True), "not carried out yet", f"{run.endpoint} --live")
        settle.settle(run)
        assignments.mark_settled(run.store, name, outcome=PAID_ALREADY)
        refused(run, "was paid already")
        assignments.mark_settled(run.store, name, outcome=DONE)
        refused(late, "the 30 days to reverse it ended at", "piecework pay --from")
        with pytest.raises(ConfigError, match="not an assignment of this campaign"):
            unreject(run, AssignmentId("3NOBODY"), because=WHY, by="ada")
        with pytest.raises(PlatformRefused, match="too late"):
            unreject(replace(last, platform=_Stern(run.endpoint)), name, because=WHY, by="ada")
        check_books(run)
        # Work may be paid and kept out: its answers stay dropped.
        assert unreject(last, name, because=WHY, by="ada", keep_answers=False) == 0
        assert len(assignments.answers_with(run.store, name, "drop")) == len(dropped) == 2
        check_books(run)


@pytest.mark.full
def test_what_was_not_rejected_or_long_ago_is_refused(at_work: Open, campaign_text: str) -> None:
    """Each in a sentence, and nothing is paid."""
    with at_work(campaign_text) as (opened, people):
        run = replace(opened, clock=FixedClock(EVENING))
        name = to_the_end(run, people)
        other = next(other for other in assignment_ids(run) if other != name)
        late = replace(run, clock=FixedClock(EVENING + timedelta(days=31)))
        tight = replace(
            run,
            campaign=replace(
                run.campaign,
                rewards=replace(
                    run.campaign.rewards, budget_cents=ledger.taken_cents(run.store) + 59
                ),
            ),
        )
        before = ledger.balances(run.store)
        for where, assignment_id, words, kind in (
            (run, other, "is not rejected: its verdict is approve", ConfigError),
            (run, AssignmentId("3NOBODY"), "is not an assignment", ConfigError),
            (late, name, "ended at 2026-02-04", ConfigError),
            (tight, name, "would cost \\$0\\.60", BudgetExceeded),
        ):
            with pytest.raises(kind, match=words):
                unreject(where, assignment_id, because=WHY, by="ada")
        assert ledger.balances(run.store) == before
        check_books(run)


@pytest.mark.parametrize("arrived", [True, False])
def test_a_death_on_the_way_is_made_good_by_the_next_pass(
    at_work: Open, campaign_text: str, *, arrived: bool
) -> None:
    """Paid there and not here: booked. Never arrived: forgotten, to be said again."""
    with at_work(campaign_text) as (opened, people):
        run = replace(opened, clock=FixedClock(EVENING))
        name = to_the_end(run, people)
        intent = intents.Intent(
            key=f"{UNREJECT}:{name}",
            operation=UNREJECT,
            subject=("assignment", name),
            arguments={"because": WHY, "by": "ada", "keep": 1},
            amount_cents=60,
        )
        with run.store.db.atomic():
            intents.declare(run.store, intent, run.clock)
        if arrived:
            run.platform.approve_rejected(name, WHY)
        assert read_progress(run).waiting_for == "the next pass"
        reached = run_pass(run)
        assert (reached.rejected, reached.waiting_for) == (1 - arrived, "nobody")
        check_books(run)
        assert close_interrupted(run) == 0


# The law of all money: whatever is done in whatever order, both keep the same books.

_ACTS = st.lists(
    st.tuples(
        st.sampled_from(("approve", "reject", "unreject", "bonus")),
        st.integers(0, 5),
        st.integers(1, 40),
    ),
    max_size=14,
)


@contextmanager
def six_assignments(folder: Path) -> Iterator[CampaignRun]:
    """One HIT type, three HITs, six assignments that nobody has judged yet."""
    text = CAMPAIGN.replace("batches = 2", "batches = 1")
    path = write_campaign(
        folder, text.replace("items_per_hit = 2", "items_per_hit = 1"), pictures=3
    )
    with serve(
        Marketplace(
            folder / "marketplace.db",
            rehearsal=True,
            seed=1,
            start=datetime(2026, 1, 5, 9, tzinfo=UTC),
        )
    ) as running:
        clock = FixedClock(EVENING)
        with open_for_rehearsal(load_campaign(path), running.endpoint_url, clock) as run:
            post(run)
            people = People(running.endpoint_url)
            while people.work():
                pass
            collect.collect(run)
            yield run


@given(_ACTS)
@settings(max_examples=4)
def test_the_ledger_equals_the_marketplace_s_books_after_any_acts(
    acts: list[tuple[str, int, int]],
) -> None:
    """Approve, reject, take back, bonus, in any order: equal after each, always."""
    with tempfile.TemporaryDirectory() as folder, six_assignments(Path(folder)) as run:
        names = assignment_ids(run)
        assert len(names) == 6
        for number, (act, which, cents) in enumerate(acts):
            name = names[which % len(names)]
            _do(run, act, name, cents=cents, label=f"n{number}")
            check_books(run)
        assert books(run)["held_cents"] == ledger.balances(run.store)["held"]


def _do(run: CampaignRun, act: str, name: AssignmentId, *, cents: int, label: str) -> None:
    """One act of a requester; what makes no sense at that time is refused in words."""
    if act in ("approve", "reject"):
        decision = Decision(
            subject_kind="assignment",
            subject_id=name,
            verdict="approve" if act == "approve" else "reject",
            decided_by="ada",
            decided_at=run.clock.now(),
            because=WHY,
        )
        dropped = [
            replace(decision, subject_kind="answer", subject_id=answer, verdict="drop")
            for answer, _, _ in assignments.verdicts_of_answers(run.store, [name])
        ]
        decisions.keep_decisions(run.store, [decision, *dropped])
        settle.settle(run)
        return
    status = run.platform.assignment_status(name)
    try:
        if act == "unreject":
            unreject(run, name, because=WHY, by="ada")
            assert status == "Rejected"
        else:
            text = bonus_file((name, f"0.{cents:02}", "Thanks."))
            pay_bonuses(run, read_bonuses(run, text, label=label, name="b.csv"))
            assert status == "Approved"
    except ConfigError:
        assert status != ("Rejected" if act == "unreject" else "Approved")
