"""People differ in opinions as persons and by condition, and in nothing else."""

import statistics
from dataclasses import replace

import pytest

from domain.hit import Item
from domain.ids import ItemId
from hit_templates.tasks import load_task
from rehearsal.crowd.opinion_model import opinion_offset
from rehearsal.crowd.people import people

TASK = load_task("severity")
QUALITY = next(field for field in TASK.fields if field.name == "quality")
CROWD = people({"diligent": 600}, seed=1)


def item(name: str, error: str) -> Item:
    """An item of a condition."""
    return Item(item_id=ItemId(name), columns={"error": error})


def test_people_differ_as_much_as_those_of_the_study() -> None:
    """sqrt(20^2 + 12^2) = 23.3 of 100; 600 people give that within 10 % (3.5 sd)."""
    off = [
        opinion_offset(TASK, QUALITY, item("a", "age"), one, seed=1) for one in CROWD
    ]
    assert statistics.stdev(off) == pytest.approx(23.3, rel=0.1)
    assert abs(statistics.mean(off)) < 3.5 * 23.3 / 600**0.5


def test_a_person_is_the_same_within_a_condition_and_not_between() -> None:
    """Two age errors weigh alike for one person; the sd between two is 12 sqrt 2."""
    apart = []
    for one in CROWD:
        first, same, other = (
            opinion_offset(TASK, QUALITY, made, one, seed=1)
            for made in (item("a", "age"), item("b", "age"), item("c", "gender"))
        )
        assert first == same
        apart.append(first - other)
    assert statistics.stdev(apart) == pytest.approx(12 * 2**0.5, rel=0.1)


def test_what_is_no_opinion_has_no_leaning() -> None:
    """Where something is right, honest people mean the same."""
    fact = replace(QUALITY, is_opinion=False)
    assert opinion_offset(TASK, fact, item("a", "age"), CROWD[0], seed=1) == 0.0
