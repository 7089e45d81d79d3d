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

from domain.capabilities import MTURK
from domain.clock import FixedClock
from domain.errors import BudgetExceeded, ConfigError
from domain.ids import AssignmentId
from domain.verdicts import Decision
from flows.steps import collect, launch, settle
from flows.steps.bonus_file import read_bonuses
from flows.steps.left_open import close_left_open
from flows.steps.pay import pay
from flows.steps.progress import progress
from flows.steps.state import counted, read_state
from flows.steps.unreject import OPERATION, unreject
from flows.wiring import load_campaign, rehearsal_place
from flows.workplace import Workplace
from marketplace.http.server import serve
from platforms.mturk import MTurk
from store import intents, judgements, ledger
from tests.crash.people import People
from tests.crash.test_crash import CAMPAIGN
from tests.flows.conftest import Open, one_pass
from tests.flows.test_pay import EVENING, a_file, books, check_books

WHY = "The picture was upside down; the captions are right."


def to_the_end(place: Workplace, people: People) -> AssignmentId:
    """Let the campaign finish; dan's assignment, which was rejected."""
    while not one_pass(place).is_finished:
        people.work()
    (rejected,) = [
        one.subject_id
        for one in read_state(place).decisions.values()
        if one.verdict == "reject"
    ]
    return AssignmentId(rejected)


def test_rejected_work_is_paid_after_all_and_counts_again(
    at_work: Open, campaign_text: str
) -> None:
    """Reward and fee move once; what replaced it meanwhile becomes surplus."""
    with at_work(campaign_text) as (opened, people):
        place = replace(opened, clock=FixedClock(EVENING))
        name = to_the_end(place, people)
        before, was = ledger.balances(place.store), progress(place)
        assert unreject(place, name, because=WHY, by="ada") == 2
        after, now = ledger.balances(place.store), progress(place)
        assert after["rewards"] - before["rewards"] == 50
        assert after["fees"] - before["fees"] == 10
        assert now.rejected == was.rejected - 1 == 0
        assert (now.accepted, now.surplus) == (was.accepted, was.surplus + 2)
        assert now.is_finished
        check_books(place)
        state = read_state(place)
        counting, surplus = counted(state, 2)
        again = {one for one in state.answers if one.startswith(name)}
        assert again <= counting  # the earliest answers count
        assert len(surplus) == 2
        history = [
            (one.verdict, one.decided_by)
            for one in judgements.decisions(place.store)
            if one.subject_id == name
        ]
        assert history == [("reject", "policy:crash"), ("approve", "ada")]
        assert one_pass(place) == now  # settled: nothing is approved a second time
        with pytest.raises(ConfigError, match="not rejected: its verdict is approve"):
            unreject(place, name, because=WHY, by="ada")


def test_work_may_be_paid_and_kept_out(at_work: Open, campaign_text: str) -> None:
    """Its answers stay dropped."""
    with at_work(campaign_text) as (opened, people):
        place = replace(opened, clock=FixedClock(EVENING))
        name, was = to_the_end(place, people), progress(place)
        assert unreject(place, name, because=WHY, by="ada", keep_answers=False) == 0
        now = progress(place)
        assert (now.dropped, now.surplus) == (was.dropped, was.surplus)
        check_books(place)


def test_what_was_not_rejected_or_long_ago_is_refused(
    at_work: Open, campaign_text: str
) -> None:
    """Each in a sentence, and nothing is paid."""
    with at_work(campaign_text) as (opened, people):
        place = replace(opened, clock=FixedClock(EVENING))
        name = to_the_end(place, people)
        other = next(one for one in read_state(place).assignments if one != name)
        late = replace(place, clock=FixedClock(EVENING + timedelta(days=31)))
        never = MTurk(
            place.platform.endpoint, capabilities=replace(MTURK, unreject_window=None)
        )
        tight = replace(
            place,
            campaign=replace(
                place.campaign,
                rewards=replace(
                    place.campaign.rewards,
                    budget_cents=ledger.taken_cents(place.store) + 59,
                ),
            ),
        )
        before = ledger.balances(place.store)
        for where, one, words, kind in (
            (place, other, "is not rejected: its verdict is approve", ConfigError),
            (place, AssignmentId("3NOBODY"), "is no assignment", ConfigError),
            (
                replace(place, platform=never),
                name,
                "takes no rejection back",
                ConfigError,
            ),
            (late, name, "until 2026-02-04", ConfigError),
            (tight, name, "would cost \\$0\\.60, more than is left", BudgetExceeded),
        ):
            with pytest.raises(kind, match=words):
                unreject(where, one, because=WHY, by="ada")
        assert ledger.balances(place.store) == before
        check_books(place)


@pytest.mark.parametrize("arrived", [True, False])
def test_a_death_on_the_way_is_made_good_by_the_next_pass(
    at_work: Open, campaign_text: str, *, arrived: bool
) -> None:
    """Paid there and not here: booked. Never arrived: forgotten, to be said again."""
    with at_work(campaign_text) as (opened, people):
        place = replace(opened, clock=FixedClock(EVENING))
        name = to_the_end(place, people)
        intent = intents.Intent(
            key=f"{OPERATION}:{name}",
            operation=OPERATION,
            arguments={"subject": name, "because": WHY, "by": "ada", "keep": 1},
            amount_cents=60,
        )
        with place.store.db.atomic():
            intents.declare(place.store, intent, place.clock)
        if arrived:
            place.platform.approve_rejected(name, WHY)
        assert progress(place).waiting_for == "the next pass"
        reached = one_pass(place)
        assert (reached.rejected, reached.waiting_for) == (1 - arrived, "nobody")
        check_books(place)
        assert close_left_open(place) == 0


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
def six_assignments(folder: Path) -> Iterator[Workplace]:
    """One HIT type, three HITs, six assignments that nobody has judged yet."""
    path = folder / "crash.toml"
    text = CAMPAIGN.replace("batches = 2", "batches = 1")
    path.write_text(text.replace("items_per_hit = 2", "items_per_hit = 1"))
    rows = "".join(f"p{n},https://example.org/{n}.jpg\n" for n in range(1, 4))
    (folder / "items.csv").write_text("image_id,url\n" + rows)
    with serve(
        folder / "marketplace.db",
        rehearsal=True,
        seed=1,
        start=datetime(2026, 1, 5, 9, tzinfo=UTC),
    ) as running:
        clock = FixedClock(EVENING)
        with rehearsal_place(load_campaign(path), running.endpoint_url, clock) as place:
            launch.launch(place)
            people = People(running.endpoint_url)
            while people.work():
                pass
            collect.collect(place)
            yield place


@given(_ACTS)
@settings(max_examples=8)
def test_the_ledger_equals_the_marketplace_s_books_after_any_acts(
    acts: list[tuple[str, int, int]],
) -> None:
    """Approve, reject, take back, bonus, in any order: equal after each, always."""
    with (
        tempfile.TemporaryDirectory() as folder,
        six_assignments(Path(folder)) as place,
    ):
        names = list(read_state(place).assignments)
        assert len(names) == 6
        for number, (act, which, cents) in enumerate(acts):
            name = names[which % len(names)]
            _do(place, act, name, cents=cents, label=f"n{number}")
            check_books(place)
        assert books(place)["held_cents"] == ledger.balances(place.store)["held"]


def _do(
    place: Workplace, act: str, name: AssignmentId, *, cents: int, label: str
) -> None:
    """One act of a requester; what makes no sense at that time is refused in words."""
    if act in ("approve", "reject"):
        decision = Decision(
            subject_kind="assignment",
            subject_id=name,
            verdict="approve" if act == "approve" else "reject",
            decided_by="ada",
            decided_at=place.clock.now(),
            because=WHY,
        )
        dropped = [
            replace(decision, subject_kind="answer", subject_id=answer, verdict="drop")
            for answer in read_state(place).answers
            if answer.startswith(name)
        ]
        judgements.keep_decisions(place.store, [decision, *dropped])
        settle.settle(place)
        return
    status = place.platform.assignment_status(name)
    try:
        if act == "unreject":
            unreject(place, name, because=WHY, by="ada")
            assert status == "Rejected"
        else:
            text = a_file((name, f"0.{cents:02}", "Thanks."))
            pay(place, read_bonuses(place, text, label=label, name="b.csv"))
            assert status == "Approved"
    except ConfigError:
        assert status != ("Rejected" if act == "unreject" else "Approved")
