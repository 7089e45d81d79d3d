"""Comparators against holdings, from the documented table."""

from typing import Any

import pytest

from piecework.marketplace.state import qualification_types as system
from piecework.marketplace.state.worker_limits import WorkerLimit
from piecework.marketplace.workers.eligibility import (
    VOUCHED,
    Holding,
    Locale,
    meets,
    percent_approved,
    unmet,
    word_reached_limit,
    word_requirement,
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


@for_each(
    ("type_id", "comparator", "values", "holding", "words"),
    [
        (system.LOCALE, "In", [], FRANCE, "to live in US-CA or DE"),
        (system.LOCALE, "EqualTo", [], FRANCE, "to live in US-CA or DE"),
        (system.LOCALE, "NotIn", [], FRANCE, "to live outside US-CA or DE"),
        (system.LOCALE, "NotEqualTo", [], FRANCE, "to live outside US-CA or DE"),
        (system.MASTERS_PRODUCTION, "Exists", [], None, "to be one of the masters"),
        (system.MASTERS_SANDBOX, "DoesNotExist", [], 1, "not to be one of the masters"),
        (system.ADULT, "EqualTo", [1], None, "to be a person who agreed to see adult content"),
        (system.NUMBER_APPROVED, "GreaterThan", [9], 3, "approved HITs: more than 9 (you have 3)"),
        (
            *(system.PERCENT_APPROVED, "LessThan", [5], 7),
            "per cent of your HITs approved: less than 5 (yours is 7)",
        ),
        ("X", "Exists", [], None, "the qualification “Trained”"),
        ("X", "DoesNotExist", [], 3, "to be without the qualification “Trained”"),
        *(
            ("X", comparator, values, holding, f"the qualification “Trained”, at {words}")
            for comparator, values, holding, words in (
                ("In", [1, 2], 3, "one of 1, 2 (yours is 3)"),
                ("NotIn", [1, 2], 2, "none of 1, 2 (yours is 2)"),
                ("EqualTo", [1], None, "exactly 1 (you do not have it)"),
                ("NotEqualTo", [1], 1, "anything but 1 (yours is 1)"),
                ("LessThanOrEqualTo", [1], 2, "1 or less (yours is 2)"),
                ("GreaterThanOrEqualTo", [1], 0, "1 or more (yours is 0)"),
            )
        ),
    ],
)
def test_what_a_worker_lacks_is_said_in_words(
    type_id: str, comparator: str, values: list[int], holding: Holding | None, words: str
) -> None:
    """Each comparator and each qualification of the marketplace has a phrase."""
    requirement = {
        "QualificationTypeId": type_id,
        "Comparator": comparator,
        "IntegerValues": values,
        "LocaleValues": [{"Country": "US", "Subdivision": "CA"}, {"Country": "DE"}],
    }
    assert word_requirement(requirement, name="Trained", holding=holding) == words


def test_a_worker_whose_country_is_not_stated_reads_so() -> None:
    """No requirement on the country is met, neither to live in one nor outside it."""
    for comparator in ("In", "NotIn"):
        requirement = {
            "QualificationTypeId": system.LOCALE,
            "Comparator": comparator,
            "LocaleValues": [{"Country": "DE"}],
        }
        assert not meets(requirement, None)
        words = word_requirement(requirement, name="", holding=None)
        assert words.endswith("DE (your country is not stated: ask who invited you)")


def test_a_limit_of_a_batch_promises_later_batches() -> None:
    """A limit of the whole does not; both say how many HITs the worker has done."""
    for is_of_batch in (True, False):
        limit = WorkerLimit(most=7, done=7, is_of_batch=is_of_batch)
        words = word_reached_limit(limit)
        assert words.startswith("You have done 7 ")
        assert ("Later batches may have more for you." in words) == is_of_batch
