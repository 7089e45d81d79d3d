"""Orders belong to an assignment, can be computed again, and favour nobody."""

from collections import Counter
from itertools import pairwise

import pytest

from piecework.domain.field import Option
from piecework.hit_templates.order import item_order, option_order, rank, shuffled
from piecework.hit_templates.tasks import load_task, read_task
from tests.hit_templates.test_tasks import SMALL

NAMES = ("a", "b", "c", "d")
IDS = [f"3ASSIGNMENT{n:05}" for n in range(4000)]


def test_an_order_is_a_permutation_that_belongs_to_its_assignment() -> None:
    """The same for the same id, all names once, different for most others."""
    order = shuffled("A1", "items", NAMES)
    assert sorted(order) == sorted(NAMES)
    assert shuffled("A1", "items", tuple(reversed(NAMES))) == order
    assert len({shuffled(f"A{n}", "items", NAMES) for n in range(200)}) == 24


@pytest.mark.parametrize("what", ["items", "describing.photo_01"])
def test_every_name_stands_in_every_place_equally_often(what: str) -> None:
    """4,000 assignments, 1,000 expected in each cell.

    The chi-square statistic of a row has 3 degrees of freedom: beyond 16.27 once in a
    thousand (printed tables).
    """
    places = [Counter[int]() for _ in NAMES]
    for assignment_id in IDS:
        for place, name in enumerate(shuffled(assignment_id, what, NAMES)):
            places[NAMES.index(name)][place] += 1
    for counts in places:
        assert sum((counts[k] - 1000) ** 2 / 1000 for k in range(4)) < 16.27


def test_the_hash_is_fnv_1a_with_murmurs_finalizer() -> None:
    """FNV-1a of "" is its offset 0x811c9dc5; a printed vector: "a" is 0xe40c292c.

    Names are never empty on the wire, so the finalizer is held against its definition:
    it maps 0 to 0 and is a bijection, so no two of many names meet.
    """
    many = {rank("A1", "items", f"name {n}") for n in range(20_000)}
    # 20,000 numbers of 2^32: about 0.05 pairs are expected to meet.
    assert len(many) >= 19_999


def test_what_belongs_together_stays_side_by_side() -> None:
    """Groups have an order, and items inside a group."""
    small = SMALL.replace(
        "version = 1", 'version = 1\nshuffles_items = true\ngroup_by = "sentence"'
    )
    task = read_task("small", small)
    ids = [f"i{n}" for n in range(8)]
    groups = ["p", "q", "r", "p", "q", "r", "p", "p"]
    seen = set()
    for assignment_id in IDS[:200]:
        order = item_order(task, assignment_id, ids, groups)
        assert sorted(order) == list(range(1, 9))
        blocks = [groups[position - 1] for position in order]
        changes = sum(a != b for a, b in pairwise(blocks))
        assert changes == 2
        seen.add(tuple(dict.fromkeys(blocks)))
    assert len(seen) == 6


def test_what_is_not_shuffled_keeps_its_order() -> None:
    """The caption page shows items and options as they are."""
    task = load_task("caption")
    assert item_order(task, "A1", ["x", "y"], ()) == (1, 2)
    values = [option.value for option in task.fields[2].options]
    assert option_order(task.fields[2], "A1", "x", values) == tuple(values)
    assert Option(value="none", last=True).last
