"""Progress as a value: sums, the end, and the way through JSON."""

import json
from dataclasses import replace

import pytest

from piecework.domain.progress import GOES_ON, Progress, Waiting
from tests.progress import BEFORE_THE_FIRST_PASS

HALF = replace(
    BEFORE_THE_FIRST_PASS,
    items=10,
    batch=1,
    batches=2,
    hits_posted=3,
    hits_open=1,
    replaced=1,
    submitted=12,
    answers=24,
    flagged=2,
    accepted=20,
    dropped=3,
    surplus=1,
    missing=30,
    rejected=1,
    excluded=1,
    rewards_cents=600,
    bonuses_cents=75,
    fees_cents=135,
    held_cents=60,
    budget_cents=2000,
    currency="GBP",
    waiting_for="workers",
    due_at="2026-01-05T15:00:00+00:00",
)


def test_spent_is_what_is_gone_for_good() -> None:
    """600 + 75 + 135; what is held for open HITs may come back."""
    assert HALF.spent_cents == 810


@pytest.mark.parametrize(
    ("waiting_for", "finished", "goes_on"),
    [
        ("nobody", True, False),
        ("workers", False, True),
        ("people", False, False),
        ("the next pass", False, True),
        ("the next day", False, True),
    ],
)
def test_who_is_waited_for_says_whether_it_goes_on_by_itself(
    waiting_for: Waiting, *, finished: bool, goes_on: bool
) -> None:
    """People are waited for: it neither ends nor goes on."""
    reached = replace(HALF, waiting_for=waiting_for)
    assert reached.is_finished is finished
    assert (reached.waiting_for in GOES_ON) is goes_on


def test_what_json_carries_comes_back() -> None:
    """All fields, and whether it is finished for programs that read it."""
    facts = json.loads(json.dumps(HALF.as_dict()))
    assert (facts["is_finished"], facts["spent_cents"]) == (False, 810)
    assert Progress.from_dict(facts) == HALF


def test_what_another_version_wrote_is_not_read() -> None:
    """A field too many or too few: a pass has to find out."""
    facts = HALF.as_dict()
    assert Progress.from_dict({**facts, "mood": "good"}) is None
    del facts["due_at"]
    assert Progress.from_dict(facts) is None
