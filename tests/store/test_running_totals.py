"""Verdicts, kept answers and balances updated by triggers equal a recomputation.

The test makes random decisions, overrules them and moves money in any order. Then it
counts everything that the store keeps beside its logs again, from the logs alone.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piecework.domain.campaign import AsNeeded
from piecework.domain.clock import FixedClock
from piecework.domain.ids import AssignmentId, HitId, HitKey, ItemId
from piecework.domain.store_address import StoreAddress, store_address
from piecework.domain.verdicts import VERDICTS, Decision, SubjectKind
from piecework.store import assignments, bound, decisions, hits, intents, item_totals, ledger
from piecework.store.database import Store, open_store
from piecework.store.intents import Intent
from tests.campaign.campaigns import campaign
from tests.examples import examples
from tests.store.answered import answered_hits

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
TWO = replace(campaign(1).posting, assignments=2)
# Three HITs in two batches and two workers, each with one assignment per HIT, so a
# worker answers about `a` and `b` twice. With few subjects, each is decided often.
HITS = {"H1": (1, "ab"), "H2": (1, "ba"), "H3": (2, "c")}
WORKERS = ("ann", "bob")
SUBJECTS: dict[SubjectKind, tuple[str, ...]] = {
    "assignment": tuple(f"{hit}-{worker}" for hit in HITS for worker in WORKERS),
    "answer": tuple(
        f"{hit}-{worker}.{position}"
        for hit in HITS
        for worker in WORKERS
        for position in range(1, len(HITS[hit][1]) + 1)
    ),
    "worker": WORKERS,
}

Judging = tuple[Literal["keep", "overrule"], SubjectKind, int, int]
Settling = tuple[Literal["settle"], int, str]
Moving = tuple[Literal["move"], int, str, str, int, int]

_KINDS = st.sampled_from(["answer", "answer", "answer", "assignment", "worker"])
_ACCOUNTS = st.sampled_from(get_args(ledger.Account))
_JUDGING = st.tuples(
    st.sampled_from(["keep", "overrule"]), _KINDS, st.integers(0, 9), st.integers(0, 2)
)
_SETTLING = st.tuples(
    st.just("settle"), st.integers(0, 5), st.sampled_from(["done", "paid before"])
)
_MOVING = st.tuples(
    *(st.just("move"), st.integers(0, 500), _ACCOUNTS, _ACCOUNTS),
    *(st.integers(1, 2), st.integers(0, 60)),
)


_ACTS = st.lists(st.one_of(_JUDGING, _JUDGING, _SETTLING, _MOVING), min_size=20, max_size=60)
Acts = list[Judging | Settling | Moving]


@contextmanager
def _answered(url: str) -> Iterator[Store]:
    """A store with all HITs collected and no decisions."""
    with tempfile.TemporaryDirectory() as folder:
        address = store_address(Path(folder), campaign="totals", url=url)
        store = open_store(address, create=True, survives_power_cuts=False)
        answered_hits(store, HITS, WORKERS, at=START)
        with store.db.atomic():
            intents.declare(
                store,
                Intent(key="publish:x", operation="publish", subject=("hit", "S1")),
                FixedClock(START),
            )
        yield store
        store.close()


@given(_ACTS)
@examples(60)
def test_what_triggers_carry_on_is_what_the_logs_say(acts: Acts) -> None:
    """After every list of acts, in any order."""
    _check_totals("", acts)


@given(_ACTS)
@settings(max_examples=6)
def test_triggers_of_postgresql_obey_the_same_law(postgres_url: str, acts: Acts) -> None:
    """The functions of its schema are others than SQLite's."""
    _check_totals(postgres_url, acts)


@pytest.mark.full
@given(_ACTS)
@settings(max_examples=100)
def test_triggers_of_postgresql_obey_it_for_many_acts(postgres_url: str, acts: Acts) -> None:
    """The same, with more examples."""
    _check_totals(postgres_url, acts)


def _check_totals(url: str, acts: Acts) -> None:
    with _answered(url) as store:
        outcomes: dict[str, str | None] = dict.fromkeys(SUBJECTS["assignment"])
        for act in acts:
            if act[0] == "move":
                _move(store, act)
            elif act[0] == "settle":
                subject = SUBJECTS["assignment"][act[1]]
                with store.db.atomic():
                    assignments.mark_settled(store, AssignmentId(subject), outcome=act[2])
                outcomes[subject] = act[2]
            else:
                decided = _judge(store, act)
                if decided in outcomes:
                    outcomes[decided] = None  # a new verdict is to be carried out
        _check_verdicts(store, outcomes)
        _check_items(store)
        _check_counts(store)
        _check_money(store)


def _judge(store: Store, act: Judging) -> str | None:
    """Decide as drawn; return the subject if the decision was written."""
    verb, kind, number, verdict = act
    subjects, verdicts = SUBJECTS[kind], VERDICTS[kind]
    decision = Decision(
        subject_kind=kind,
        subject_id=subjects[number % len(subjects)],
        verdict=verdicts[verdict % len(verdicts)],
        decided_by="ada",
        decided_at=START,
        because="drawn",
    )
    if verb == "keep":
        return decision.subject_id if decisions.keep_decisions(store, [decision]) else None
    with store.db.atomic():
        decisions.overrule(store, [decision])
    return decision.subject_id


def _move(store: Store, act: Moving) -> None:
    _, cents, credit, debit, batch, hours = act
    with store.db.atomic():
        ledger.move(
            store,
            cents,
            credit=credit,  # type: ignore[arg-type]  # drawn from the literal's own
            debit=debit,  # type: ignore[arg-type]  # drawn from the literal's own
            intent_key="publish:x",
            batch=batch,
            at=START + timedelta(hours=hours),
        )


def _latest(store: Store) -> dict[tuple[str, str], str]:
    """Return the verdict in force of each subject, from the log of decisions."""
    log = "SELECT subject_kind, subject_id, verdict FROM decisions ORDER BY decision_id"
    return {(kind, subject): verdict for kind, subject, verdict in store.db.execute(log)}


def _check_verdicts(store: Store, outcomes: dict[str, str | None]) -> None:
    latest = _latest(store)
    for kind, table in (("assignment", "assignments"), ("answer", "answers")):
        columns = f"SELECT {kind}_id, verdict FROM {table}"
        assert dict(store.db.execute(columns).fetchall()) == {
            subject: latest.get((kind, subject))
            for subject in SUBJECTS[kind]  # type: ignore[index]  # two of the three
        }
    columns = "SELECT assignment_id, outcome FROM assignments"
    assert dict(store.db.execute(columns).fetchall()) == outcomes
    unsettled = [
        subject
        for subject, outcome in outcomes.items()
        if outcome is None and ("assignment", subject) in latest
    ]
    shut_out = [
        worker for worker in WORKERS if latest.get(("worker", worker)) in {"exclude", "block"}
    ]
    assert decisions.count_unsettled(store) == len(unsettled) + len(shut_out)


def _check_items(store: Store) -> None:
    latest = _latest(store)
    kept: dict[str, list[str]] = {item_id: [] for item_id in "abc"}
    for hit, (_, items) in HITS.items():
        for worker in WORKERS:
            for position, item_id in enumerate(items, start=1):
                answer_id = f"{hit}-{worker}.{position}"
                if latest.get(("answer", answer_id)) == "keep":
                    kept[item_id].append(worker)
    columns = "SELECT item_id, batch, kept, workers FROM items ORDER BY item_id"
    assert store.db.execute(columns).fetchall() == [
        (item_id, 1 if item_id in "ab" else 2, len(workers), len(set(workers)))
        for item_id, workers in kept.items()
    ]
    counted = {item_id: min(len(set(workers)), 2) for item_id, workers in kept.items()}
    accepted = item_totals.count_accepted(store, TWO)
    assert accepted.accepted == sum(counted.values())
    assert accepted.accepted + accepted.surplus == sum(map(len, kept.values()))
    for batch, items in ((1, "ab"), (2, "c")):
        assert item_totals.lacking(store, batch, TWO) == {
            item_id: 2 - counted[item_id] for item_id in items if counted[item_id] < 2
        }


def _check_counts(store: Store) -> None:
    """The counts beside the tables are those of their rows."""
    rows_by_table = {
        "item_counts": """
            SELECT batch, coalesce(wanted, 0), workers, coalesce(closed, ''), count(*),
                sum(kept) FROM items GROUP BY 1, 2, 3, 4""",
        "verdict_counts WHERE subjects <> 0": """
            SELECT 'assignment', coalesce(verdict, ''), coalesce(outcome, ''), count(*)
            FROM assignments GROUP BY 2, 3 UNION ALL
            SELECT 'answer', coalesce(verdict, ''), '', count(*) FROM answers
            GROUP BY 2""",
        "hit_counts": """
            SELECT batch, round, 'collected', count(*) FROM hits GROUP BY 1, 2""",
    }
    for counts, rows in rows_by_table.items():
        assert sorted(store.db.execute(f"SELECT * FROM {counts}")) == sorted(store.db.execute(rows))


def _check_money(store: Store) -> None:
    balances: Counter[str] = Counter()
    costs: Counter[int] = Counter()
    promises: Counter[str] = Counter()
    columns = "SELECT credit, debit, amount_cents, batch, at FROM ledger"
    for credit, debit, cents, batch, at in store.db.execute(columns).fetchall():
        balances[credit] -= cents
        balances[debit] += cents
        if "requester" in (credit, debit):
            costs[batch] += cents if credit == "requester" else -cents
        if credit == "requester":
            promises[at[:10]] += cents
    assert ledger.balances(store) == {
        account: balances[account] for account in get_args(ledger.Account)
    }
    for batch in (1, 2, 3):
        assert ledger.taken(store, batch, START).batch == costs[batch]
    for day in range(4):
        moment = START + timedelta(days=day)
        expected = promises[moment.date().isoformat()]
        assert ledger.taken(store, 1, moment)[2:] == (expected, sum(promises.values()))


def test_counts_follow_hits_and_items_that_change(address: StoreAddress) -> None:
    """HITs are planned, reopened and given up; items are weighed and closed."""
    with _answered(address.url) as store:
        assert hits.count_by_batch(store)[0].is_collected
        hits.reopen(store, HitId("H1"))
        first = hits.count_by_batch(store)[0]
        assert (first.posted, first.open, first.is_collected) == (2, 1, False)
        more = replace(hits.load_hits(store)[0], hit_key=HitKey("more"), round=1, hit_id=None)
        hits.plan(store, [replace(more, posted_at=None, collected_at=None)])
        first = hits.count_by_batch(store)[0]
        assert (first.unposted, first.last_round) == (1, 1)
        hits.give_up(store, [more.hit_key])
        first = hits.count_by_batch(store)[0]
        assert (first.unposted, first.last_round) == (0, 0)
        item_totals.close_beyond_budget(store, [ItemId("c")])
        assert set(item_totals.batches_lacking(store, TWO)) == {1}
        with store.db.atomic():
            store.db.execute("UPDATE items SET closed = 'withdrawn' WHERE item_id = 'a'")
        # Nobody wants answers to a row that is gone; its budget is not what they lack.
        assert item_totals.count_beyond_budget(store, TWO) == 2
        with store.db.atomic():
            store.db.execute("UPDATE items SET closed = NULL WHERE item_id = 'a'")
        item_totals.reopen_within_budget(store)
        assert set(item_totals.batches_lacking(store, TWO)) == {1, 2}
        hits.mark_collected(store, HitId("H1"), at=START)
        _check_counts(store)


def test_who_was_taken_back_is_kept_out_no_more_and_may_answer_again(
    address: StoreAddress,
) -> None:
    """Of four people two have answered each item, and the decision in force counts.

    So two could still answer; without cat, who has answered nothing, one could. Ann, who
    has answered, is not missed twice.
    """

    def decide(worker: str, verdict: Literal["exclude", "block", "include", "keep"]) -> None:
        made = Decision(
            subject_kind="worker",
            subject_id=worker,
            verdict=verdict,
            decided_by="ada",
            decided_at=START,
            because="So.",
        )
        with store.db.atomic():
            decisions.overrule(store, [made])

    def reachable() -> int:
        lacks = item_totals.batches_lacking(store, TWO, crowd=4)[2]
        assert lacks.answers + lacks.out_of_reach == 2
        return lacks.answers

    with _answered(address.url) as store:
        for worker, verdict, kept_out, left in (
            ("ann", "exclude", {"ann"}, 2),
            ("cat", "block", {"ann", "cat"}, 1),
            ("cat", "include", {"ann"}, 2),
            ("cat", "exclude", {"ann", "cat"}, 1),
            ("cat", "keep", {"ann"}, 2),
        ):
            decide(worker, verdict)  # type: ignore[arg-type]  # as the table has them
            assert item_totals.excluded(store) == kept_out
            assert reachable() == left


def test_open_hits_are_polled_for_the_one_that_was_looked_at_longest_ago(
    address: StoreAddress,
) -> None:
    """Before its first poll, a HIT counts from its posting; collected HITs are not polled."""
    hour = timedelta(hours=1)
    with _answered(address.url) as store, store.db.atomic():
        assert hits.next_poll_base(store) is None
        for hit_id in ("H1", "H2"):
            hits.reopen(store, HitId(hit_id))
        hits.mark_looked(store, [HitId("H2")], at=START + hour)
        assert hits.next_poll_base(store) == START
        hits.mark_looked(store, [HitId("H1")], at=START + 2 * hour)
        assert hits.next_poll_base(store) == START + hour


def test_a_label_is_weighed_again_when_its_answers_change(address: StoreAddress) -> None:
    """With one answer more it wants as many as before; with one less, the least again.

    What was wanted of the item was computed from an answer that counts no more.
    """
    posting = replace(TWO, as_needed=AsNeeded(most=4, until=0.9))
    ann, bob, again = "H1-ann.1", "H1-bob.1", "H2-ann.2"

    def decide(answer_id: str, verdict: Literal["keep", "drop"]) -> None:
        number = SUBJECTS["answer"].index(answer_id)
        _judge(store, ("overrule", "answer", number, VERDICTS["answer"].index(verdict)))

    def weigh(wanted: int, probability: float) -> None:
        weighed = item_totals.Weighed(wanted=wanted, probability=probability)
        item_totals.keep_weighed(store, {ItemId("a"): weighed})

    with _answered(address.url) as store:
        for answer_id in (ann, bob):
            decide(answer_id, "keep")
        assert item_totals.to_weigh(store, posting) == {"a": 2}
        weigh(3, 0.6)
        assert item_totals.lacking(store, 1, posting) == {"a": 1, "b": 2}
        decide(again, "keep")
        assert item_totals.wanted(store, posting) == {"a": 3}
        weigh(3, 0.6)
        decide(again, "drop")
        decide(bob, "drop")
        # One worker's answer is left; two are wanted, not three.
        assert item_totals.wanted(store, posting) == {}
        assert item_totals.lacking(store, 1, posting) == {"a": 1, "b": 2}
        assert item_totals.sureness(store) == []
        decide(bob, "keep")
        assert item_totals.to_weigh(store, posting) == {"a": 2}
        _check_counts(store)


def test_what_the_last_pass_found_is_forgotten_with_every_decision(address: StoreAddress) -> None:
    """A trigger of the table does it for any way to decide."""
    with _answered(address.url) as store:
        bound.bind(store, "name", "a test")
        store.db.execute(
            "INSERT INTO last_pass (only_row, request_digest, progress) VALUES (1, 'request', '{}')"
        )
        _judge(store, ("keep", "answer", 0, 0))
        assert store.db.execute("SELECT progress FROM last_pass").fetchone() == (None,)
        assert bound.read_bound(store).name == "a test"
