"""Whom a study lets in is whom the marketplace's own rules would let in."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_markets.prolific.filters import COUNTRIES, KNOWN
from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve
from offline_markets_tests.prolific.people import START, Participant, Researcher
from piecework.foundation.client.errors import Unusable
from piecework.marketplace.state import qualification_types as system
from piecework.marketplace.workers.eligibility import Locale, meets
from piecework.markets.prolific.bridge.deciding import CATEGORIES, rejection
from piecework.markets.prolific.bridge.requirements import filters_of
from piecework.markets.prolific.resources.recruiting import FilterKind
from tests.markets.prolific.bridge.town import Town, Visitor

OFFERED = {name: FilterKind.model_validate(kind.document()) for name, kind in KNOWN.items()}
INTEGERS: list[tuple[str, list[int]]] = [
    ("LessThan", [10]),
    ("LessThanOrEqualTo", [10]),
    ("GreaterThan", [10]),
    ("GreaterThanOrEqualTo", [10]),
    ("EqualTo", [10]),
    ("NotEqualTo", [10]),
    ("In", [9, 11, 11]),
    ("NotIn", [9, 10]),
    ("NotIn", [0, 100]),
    ("Exists", []),
]
COUNTED = (0, 9, 10, 11, 100)


@pytest.fixture(scope="module")
def researcher() -> Iterator[Researcher]:
    """A researcher with an offline Prolific for all tests here; drafts cost nothing."""
    with serve(Options(start=START)) as url, Researcher(url) as researcher:
        yield researcher


def _let_in(
    researcher: Researcher, requirement: dict[str, Any], people: dict[Any, Participant]
) -> set[Any]:
    filters = [condition.to_wire() for condition in filters_of([requirement], OFFERED)]
    study = researcher.study(filters=filters, total_available_places=1)
    admitted = {key for key, person in people.items() if study in person.studies()}
    researcher.move(study, "STOP")
    return admitted


def _integer(type_id: str, comparator: str, values: list[int]) -> dict[str, Any]:
    return {
        "QualificationTypeId": type_id,
        "Comparator": comparator,
        "IntegerValues": values,
        "ActionsGuarded": "Accept",
    }


def test_numbers_of_approvals(researcher: Researcher) -> None:
    """Every comparator, at its borders."""
    people = {n: researcher.participant(approvals=n) for n in COUNTED}
    for comparator, values in INTEGERS:
        wanted = _integer(system.NUMBER_APPROVED, comparator, values)
        expected = {n for n in COUNTED if meets(wanted, n)}
        assert _let_in(researcher, wanted, people) == expected, (comparator, values)


def test_rates_of_approval(researcher: Researcher) -> None:
    """Who has done nothing has 100 %, there as here; nothing above it is asked."""
    people = {100: researcher.participant(approvals=0, rejections=0)}
    people |= {12: researcher.participant(approvals=0, rejections=28)}  # 12.06 %
    for comparator, values in (
        ("GreaterThan", [11]),
        ("GreaterThan", [12]),
        ("GreaterThanOrEqualTo", [100]),
        ("NotEqualTo", [100]),
        ("LessThan", [101]),
        ("LessThanOrEqualTo", [500]),
        ("NotIn", [0, 100]),
        ("NotIn", [50]),
        ("EqualTo", [100]),
        ("Exists", []),
    ):
        wanted = _integer(system.PERCENT_APPROVED, comparator, values)
        expected = {n for n in people if meets(wanted, n)}
        assert _let_in(researcher, wanted, people) == expected, (comparator, values)


def test_countries(researcher: Researcher) -> None:
    """By name, since Prolific numbers them in its own way."""
    people = {code: researcher.participant(country=code) for code in COUNTRIES}
    for comparator, codes in (
        ("EqualTo", ["GB"]),
        ("NotEqualTo", ["US"]),
        ("In", ["GB", "IE", "ZA"]),
        ("NotIn", ["GB", "US"]),
        ("Exists", []),
    ):
        wanted: dict[str, Any] = {
            "QualificationTypeId": system.LOCALE,
            "Comparator": comparator,
            "ActionsGuarded": "Accept",
        }
        if codes:
            wanted["LocaleValues"] = [{"Country": code} for code in codes]
        expected = {c for c in COUNTRIES if meets(wanted, Locale(country=c))}
        assert _let_in(researcher, wanted, people) == expected, comparator


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        (_integer(system.NUMBER_APPROVED, "LessThan", [0]), "no participant can meet"),
        (_integer(system.PERCENT_APPROVED, "GreaterThan", [100]), "no participant can meet"),
        (_integer(system.NUMBER_APPROVED, "DoesNotExist", []), "no participant can meet"),
        (_integer(system.LOCALE, "DoesNotExist", []), "no participant can meet"),
        (_integer(system.MASTERS[0], "Exists", []), "Masters"),
        (
            {
                "QualificationTypeId": system.LOCALE,
                "Comparator": "In",
                "LocaleValues": [{"Country": "US", "Subdivision": "CA"}],
            },
            "not by state",
        ),
        (
            {
                "QualificationTypeId": system.LOCALE,
                "Comparator": "EqualTo",
                "LocaleValues": [{"Country": "AQ"}],
            },
            "no country AQ",
        ),
    ],
)
def test_what_cannot_be_asked_is_said(wanted: dict[str, Any], sentence: str) -> None:
    """And nothing is made that lets others in."""
    with pytest.raises(Unusable, match=sentence):
        filters_of([wanted], OFFERED)


def _hold(town: Town, type_id: str, person: Visitor, value: int | None) -> None:
    if value is not None:
        town.requester.associate_qualification_with_worker(
            QualificationTypeId=type_id,
            WorkerId=person.worker_id,
            IntegerValue=value,
            SendNotification=False,
        )
    elif town.rows(
        "SELECT 1 FROM qualifications JOIN workers ON workers.id = worker "
        "WHERE worker_id = ? AND qualifications.status = 'Granted'",
        person.worker_id,
    ):
        town.requester.disassociate_qualification_from_worker(
            QualificationTypeId=type_id, WorkerId=person.worker_id
        )


@pytest.mark.full
def test_own_qualifications_with_every_comparator_while_studies_run(town: Town) -> None:
    """Who is let in follows what is granted, changed and revoked."""
    town.post(hits=2, assignments=4)
    town.settle()
    first = town.study()
    people = [town.visitor() for _ in range(4)]
    for person in people:
        person.work(first)
    made = town.requester.create_qualification_type(
        Name="Score", Description="How well.", QualificationTypeStatus="Active"
    )
    type_id = made["QualificationType"]["QualificationTypeId"]
    wanted = [
        _integer(type_id, comparator, values)
        for comparator, values in [
            *((c, [5]) for c, v in INTEGERS if len(v) == 1),
            ("In", [4, 6]),
            ("NotIn", [4, 6]),
            ("Exists", []),
            ("DoesNotExist", []),
        ]
    ]
    for number, each in enumerate(wanted):
        requirement = {key: value for key, value in each.items() if value != []}
        town.post(2, 4, QualificationRequirements=[requirement], Title=f"Of kind {number}")
    town.settle()
    studies = {study["name"]: study["id"] for study in town.studies()}
    for held in ([None, 4, 5, 6], [6, 5, 4, None], [None] * 4, [5, 5, 5, 5]):
        for person, value in zip(people, held, strict=True):
            _hold(town, type_id, person, value)
        town.settle()
        for number, each in enumerate(wanted):
            study = studies[f"Of kind {number}"]
            for person, value in zip(people, held, strict=True):
                is_let_in = study in person.studies()
                assert is_let_in == meets(each, value), (each, value)


@given(st.text(max_size=1200), st.one_of(st.just(""), st.sampled_from(CATEGORIES)))
def test_a_rejection_is_long_enough_and_of_a_known_kind(text: str, kind: str) -> None:
    """Whatever a requester wrote, and in which words."""
    category, message = rejection(f"[{kind}] {text}" if kind else text)
    assert category in CATEGORIES
    assert not kind or category == kind
    assert len(message.strip()) >= 100
    assert not kind or f"[{kind}]" not in message or f"[{kind}]" in text
