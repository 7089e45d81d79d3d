"""Fees and amounts, each expected figure derived by hand."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.domain.money import (
    FeeSchedule,
    cents_from_text,
    cents_from_wire,
    cents_to_wire,
    shown,
)
from tests.for_each import for_each


@pytest.mark.parametrize(
    ("reward", "assignments", "for_masters", "fee"),
    [
        (50, 9, False, 10),  # 20 % of 50
        (50, 10, False, 20),  # 20 % and 20 % more, from ten assignments on
        (50, 9, True, 13),  # 25 % of 50 is 12.5: halves are rounded up
        (50, 10, True, 23),  # 45 % of 50 is 22.5
        (52, 1, False, 10),  # 10.4
        (53, 1, False, 11),  # 10.6
        (1, 1, False, 1),  # 0.2, but a cent at least
        (0, 1, False, 1),  # the least fee, of any assignment
    ],
)
def test_the_fee_of_an_assignment(
    reward: int, assignments: int, fee: int, *, for_masters: bool
) -> None:
    """MTurk's list: 20 %, 40 % for many, 5 % more for masters, a cent at least."""
    computed = FeeSchedule().reward_fee_cents(
        reward, max_assignments=assignments, for_masters=for_masters
    )
    assert computed == fee


def test_a_bonus_costs_the_plain_percentage() -> None:
    """Neither the number of assignments nor masters make it dearer."""
    assert FeeSchedule().bonus_fee_cents(75) == 15
    assert FeeSchedule().bonus_fee_cents(2) == 1  # 0.4, but a cent at least


def test_a_platform_without_fees_takes_no_least_fee() -> None:
    """Nought per cent is nothing; half a per cent has the least fee."""
    free = FeeSchedule(percent=Decimal(0), extra_percent_for_many=Decimal(0))
    assert free.reward_fee_cents(500, max_assignments=10) == 0
    assert FeeSchedule(percent=Decimal("0.5")).bonus_fee_cents(100) == 1


@pytest.mark.parametrize(
    ("text", "cents"),
    [("0", 0), ("$12", 1200), (" 0.5 ", 50), ("0.05", 5), ("999999999.99", 10**11 - 1)],
)
def test_dollars_that_a_person_wrote(text: str, cents: int) -> None:
    """With a dollar sign or without, up to two decimals."""
    assert cents_from_text(text) == cents


@for_each("text", ["", "-1", "+1", "1,50", "1e3", "0.005", "1000000000", "$", ".5", "1.", "٣"])
def test_what_is_no_amount_is_refused(text: str) -> None:
    """Also digits that are not ASCII: a sum must not depend on who reads it."""
    with pytest.raises(ValueError, match="is not an amount"):
        cents_from_text(text)


@given(st.integers(min_value=0, max_value=10**12))
def test_the_wire_gives_back_what_it_was_given(cents: int) -> None:
    """No cent is lost in a decimal string."""
    assert cents_from_wire(cents_to_wire(cents)) == cents


@pytest.mark.parametrize(("wire", "cents"), [("0.50", 50), ("7", 700), ("1E+1", 1000)])
def test_amounts_of_the_wire(wire: str, cents: int) -> None:
    """In each form that a decimal may have."""
    assert cents_from_wire(wire) == cents


@pytest.mark.parametrize("wire", ["0.505", "NaN", "Infinity", "", "many", "1e999999"])
def test_a_part_of_a_cent_is_no_amount(wire: str) -> None:
    """Refused, and never rounded."""
    with pytest.raises(ValueError, match="is not an amount of whole cents"):
        cents_from_wire(wire)


@pytest.mark.parametrize(
    ("cents", "words"), [(0, "$0.00"), (5, "$0.05"), (-20, "-$0.20"), (123_450, "$1,234.50")]
)
def test_amounts_as_people_read_them(cents: int, words: str) -> None:
    """The sign stands before the currency, whichever it is."""
    assert shown(cents, "USD") == words
    assert shown(cents, "GBP") == words.replace("$", "£")


def test_an_amount_of_another_currency_is_no_amount_of_this() -> None:
    """A sign is understood as it is written, where one is."""
    assert cents_from_text("£0.5", "GBP") == cents_from_text("0.5", "GBP") == 50
    with pytest.raises(ValueError, match="is not in pounds"):
        cents_from_text("$1", "GBP")
    with pytest.raises(ValueError, match="is not in US dollars"):
        cents_from_text("£1", "USD")


def test_schedules_are_alike_by_what_they_take() -> None:
    """Neither the day nor who says so matters; each fee does."""
    known = FeeSchedule(source="a list", valid_from=date(2015, 7, 22))
    assert known.takes_as(FeeSchedule(percent=Decimal("20.0")))
    assert not known.takes_as(FeeSchedule(minimum_cents=2))
    assert not known.takes_as(FeeSchedule(masters_percent=Decimal(0)))
