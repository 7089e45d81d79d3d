"""Comparators against holdings, from the documented table."""

from typing import Any

import pytest

from piecework.marketplace.workers.eligibility import (
    VOUCHED,
    Holding,
    Locale,
    meets,
    percent_approved,
    unmet,
)
from tests.for_each import for_each

WASHINGTON = Locale(country="US", subdivision="WA")
FRANCE = Locale(country="FR")


def compare(comparator: str, values: list[int], holding: Holding | None) -> bool:
    """An integer requirement against a holding."""
    return meets({"Comparator": comparator, "IntegerValues": values}, holding)


@for_each(
    ("comparator", "values", "met_by", "failed_by"),
    [
        ("LessThan", [5], [4, -1], [5, 6]),
        ("LessThanOrEqualTo", [5], [4, 5], [6]),
        ("GreaterThan", [5], [6], [5, 4]),
        ("GreaterThanOrEqualTo", [5], [5, 6], [4]),
        ("EqualTo", [5], [5], [4, 6]),
        ("NotEqualTo", [5], [4, 6], [5]),
        ("In", [1, 5], [1, 5], [2]),
        ("NotIn", [1, 5], [2], [1, 5]),
        ("Exists", [], [0, 7], []),
        ("DoesNotExist", [], [], [0, 7]),
    ],
)
def test_integers_are_compared_as_documented(
    comparator: str, values: list[int], met_by: list[int], failed_by: list[int]
) -> None:
    """Each comparator, on both sides of its border."""
    assert all(compare(comparator, values, value) for value in met_by)
    assert not any(compare(comparator, values, value) for value in failed_by)


@pytest.mark.parametrize(
    "comparator",
    [
        "LessThan",
        "LessThanOrEqualTo",
        "GreaterThan",
        "GreaterThanOrEqualTo",
        "EqualTo",
        "NotEqualTo",
        "In",
        "NotIn",
        "Exists",
    ],
)
def test_lacking_a_qualification_meets_only_does_not_exist(comparator: str) -> None:
    """Nobody is more than, other than or outside what he does not have."""
    assert not compare(comparator, [5], None)
    assert compare("DoesNotExist", [], None)


def test_what_a_market_vouches_for_meets_every_comparator() -> None:
    """The filters of its study say who comes, so nothing is compared here."""
    for comparator in ("LessThan", "NotEqualTo", "NotIn", "Exists", "DoesNotExist"):
        assert compare(comparator, [5], VOUCHED)


@for_each(
    ("comparator", "locales", "holding", "is_met"),
    [
        ("EqualTo", [{"Country": "US"}], WASHINGTON, True),
        ("EqualTo", [{"Country": "US", "Subdivision": "WA"}], WASHINGTON, True),
        ("EqualTo", [{"Country": "US", "Subdivision": "NY"}], WASHINGTON, False),
        ("EqualTo", [{"Country": "FR"}], WASHINGTON, False),
        ("NotEqualTo", [{"Country": "FR"}], WASHINGTON, True),
        ("NotEqualTo", [{"Country": "US"}], WASHINGTON, False),
        ("In", [{"Country": "FR"}, {"Country": "US"}], WASHINGTON, True),
        ("In", [{"Country": "US", "Subdivision": "WA"}], FRANCE, False),
        ("NotIn", [{"Country": "US"}], FRANCE, True),
        ("NotIn", [{"Country": "US"}], WASHINGTON, False),
        # A worker whose subdivision is unknown is in the country, in no state of it.
        ("EqualTo", [{"Country": "FR", "Subdivision": "75"}], FRANCE, False),
    ],
)
def test_a_country_holds_all_its_subdivisions(
    comparator: str, locales: list[dict[str, str]], holding: Locale, *, is_met: bool
) -> None:
    """Country alone matches every subdivision; with a subdivision, only that one."""
    requirement = {"Comparator": comparator, "LocaleValues": locales}
    assert meets(requirement, holding) == is_met


def test_an_action_is_kept_by_the_requirements_that_guard_it() -> None:
    """Accept is guarded by all three kinds, discovery by one."""
    requirements: list[dict[str, Any]] = [
        {"QualificationTypeId": "Q", "Comparator": "Exists", "ActionsGuarded": guard}
        for guard in ("Accept", "PreviewAndAccept", "DiscoverPreviewAndAccept")
    ]
    assert len(unmet(requirements, {}, action="accept")) == 3
    assert len(unmet(requirements, {}, action="preview")) == 2
    assert len(unmet(requirements, {}, action="discover")) == 1
    assert unmet(requirements, {"Q": 0}, action="accept") == []


@pytest.mark.parametrize(
    ("approved", "judged", "percent"),
    [(0, 0, 100), (0, 99, 100), (99, 100, 99), (949, 1000, 94), (100, 100, 100)],
)
def test_the_rate_of_a_beginner_counts_as_perfect(approved: int, judged: int, percent: int) -> None:
    """Under a hundred judged assignments 100 %; later rounded down."""
    assert percent_approved(approved=approved, judged=judged) == percent
