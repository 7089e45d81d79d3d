"""When work earns a qualification, and when it is lost again."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.domain.qualifications import DueChange, EarnedRule, Holding, ItemOutcome, due_change

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
RULE = EarnedRule(
    name="good at blur",
    kind="blur",
    agreement=0.9,
    over=10,
    revoke_below=0.8,
    forget_days=180,
    records=Path("earned.db"),
)
HELD = Holding(since=NOW - timedelta(days=1))


def items(*agrees: bool, days_ago: float = 1) -> list[ItemOutcome]:
    """Items one after another, the last of them so many days ago."""
    last = NOW - timedelta(days=days_ago)
    return [
        ItemOutcome(
            at=last - timedelta(minutes=len(agrees) - number),
            campaign="birds",
            item_id=str(number),
            agrees=agree,
        )
        for number, agree in enumerate(agrees)
    ]


def what(outcomes: list[ItemOutcome], holding: Holding = HELD) -> str | None:
    """What the rule changes."""
    change = due_change(RULE, outcomes, holding, now=NOW)
    return None if change is None else change.change


@pytest.mark.parametrize(
    ("agreed", "earns", "loses"),
    [(10, True, False), (9, True, False), (8, False, False), (7, False, True)],
)
def test_two_limits_leave_a_gap(agreed: int, *, earns: bool, loses: bool) -> None:
    """Nine of ten earn it, seven lose it; with eight, it stays as it is."""
    outcomes = items(*[True] * agreed, *[False] * (10 - agreed))
    assert (what(outcomes, Holding()) == "grant") == earns
    assert (what(outcomes) == "revoke") == loses


def test_only_the_latest_items_count() -> None:
    """Ten bad ones before ten good ones do no harm."""
    assert what(items(*[False] * 10, *[True] * 10), Holding()) == "grant"
    assert what(items(*[True] * 10, *[False] * 10)) == "revoke"


def test_fewer_items_decide_nothing() -> None:
    """Neither nine good ones nor nine bad ones."""
    assert what(items(*[True] * 9), Holding()) is None
    assert what(items(*[False] * 9)) is None


def test_old_items_are_forgotten_and_the_qualification_lapses() -> None:
    """After 180 days without an item of the kind, but not right after a grant."""
    old = items(*[True] * 10, days_ago=181)
    assert what(old, Holding()) is None
    long_held = Holding(since=NOW - timedelta(days=200))
    lapsed = due_change(RULE, old, long_held, now=NOW)
    assert isinstance(lapsed, DueChange)
    assert lapsed.change == "revoke"
    assert "in the last 180 days" in lapsed.because
    assert what([*old, *items(*[True])], long_held) is None
    assert what(old, HELD) is None


def test_the_last_of_the_days_is_over_at_its_end() -> None:
    """After exactly 180 days an item is forgotten, and a grant as old lapses."""
    moment = timedelta(microseconds=1)
    [item] = items(*[True], days_ago=180)
    forgotten = replace(item, at=NOW - timedelta(days=180))
    counted = replace(item, at=forgotten.at + moment)
    for since, outcomes, change in (
        (forgotten.at, [forgotten], "revoke"),
        (counted.at, [forgotten], None),
        (forgotten.at, [counted], None),
    ):
        assert what(outcomes, Holding(since=since)) == change


def test_after_a_person_restored_it_only_new_items_count_against() -> None:
    """The same ten bad items do not; ten further bad items do."""
    bad = items(*[False] * 10, days_ago=2)
    restored = replace(HELD, counts_after=bad[-1].at)
    assert what(bad) == "revoke"
    assert what(bad, restored) is None
    assert what([*bad, *items(*[False] * 9)], restored) is None
    assert what([*bad, *items(*[False] * 10)], restored) == "revoke"


def test_the_worker_reads_the_figures() -> None:
    """In a sentence each."""
    lost = due_change(RULE, items(*[True] * 7, *[False] * 3), HELD, now=NOW)
    assert lost is not None
    assert lost.because == (
        "You have lost the qualification “good at blur”: of your latest 10 items of "
        "the kind “blur”, 7 agreed with what was accepted (70%), and at least 80% "
        "are needed to keep it."
    )


histories = st.lists(st.booleans(), max_size=25)


@given(histories, st.integers(0, 24))
def test_better_work_never_does_harm(history: list[bool], number: int) -> None:
    """An item that agrees in place of one that does not never loses the grant."""
    better = [agree or at == number for at, agree in enumerate(history)]
    before, after = items(*history), items(*better)
    if what(before, Holding()) == "grant":
        assert what(after, Holding()) == "grant"
    if what(after) == "revoke":
        assert what(before) == "revoke"


@given(histories)
def test_a_change_is_not_taken_back_on_the_same_evidence(history: list[bool]) -> None:
    """Who just earned it does not lose it, and who just lost it does not earn it."""
    outcomes = items(*history)
    if what(outcomes, Holding()) == "grant":
        assert what(outcomes, Holding(since=NOW)) is None
    if what(outcomes) == "revoke":
        assert what(outcomes, Holding()) is None


@given(histories, histories)
def test_forgotten_items_change_nothing(old: list[bool], new: list[bool]) -> None:
    """Whatever they were, and in whatever order they come."""
    forgotten = items(*old, days_ago=200)
    for holding in (Holding(), HELD):
        assert what([*items(*new), *forgotten], holding) == what(items(*new), holding)
