"""Laws of assignments that leave empty what others fill in."""

from collections.abc import Iterator

import pytest

from piecework.qc.heuristics.left_empty import Params, score
from piecework.qc.silence import silences
from tests.qc.tables import cells, flagged, row, table


def assignment(
    name: str, *captions: str, worker: str = "", **columns: object
) -> Iterator[dict[str, object]]:
    """An assignment with one item for each caption; its worker has no other."""
    for place, caption in enumerate(captions):
        yield row(
            f"{name}{place}",
            assignment_id=name,
            worker_id=worker or f"worker of {name}",
            text="",
            **{"value.caption": caption, **columns},
        )


def filling(number: int, items: int = 5) -> list[dict[str, object]]:
    """So many assignments with a caption for each item."""
    captions = ["a bird"] * items
    return [
        answer for place in range(number) for answer in assignment(f"full{place:02}", *captions)
    ]


def test_an_assignment_without_what_all_others_write_is_flagged() -> None:
    """The evidence counts the assignments that fill the field in."""
    scores = score(table(*assignment("a", *[""] * 5), *filling(12)), Params())
    assert flagged(scores) == {"a"}
    sentence = cells(scores, "a")[2]
    for fact in ("caption", "5 items", "12 assignments", "12 fill"):
        assert fact in sentence
    assert cells(scores, "a")[0] == 1.0


def test_nearly_half_may_leave_it_empty() -> None:
    """The suspicion is the share of others who fill it in."""
    empty = [answer for n in range(10) for answer in assignment(f"a{n}", *[""] * 5)]
    scores = score(table(*empty, *filling(12)), Params())
    assert flagged(scores) == {f"a{n}" for n in range(10)}
    assert cells(scores, "a0")[0] == pytest.approx(12 / 21)


@pytest.mark.parametrize(
    "others",
    [
        pytest.param(filling(9), id="too few fill it in to tell"),
        pytest.param(
            [a for n in range(30) for a in assignment(f"b{n}", *[""] * 5)] + filling(12),
            id="most leave it empty",
        ),
        pytest.param(
            [
                a
                for n in range(30)
                for a in assignment(f"b{n}", *(["other"] * (1 + n % 2) + [""] * 3))
            ],
            id="it fits only some items",
        ),
        pytest.param(
            [
                a
                for n in range(30)
                for a in assignment(f"b{n}", *["x"] * 5, **{"value.has_text": ""})
            ],
            id="others had another form",
        ),
    ],
)
def test_a_field_that_honest_workers_leave_empty_flags_no_one(
    others: list[dict[str, object]],
) -> None:
    """A remark, a field for special cases, and a batch of two tasks."""
    rows = [*assignment("a", *[""] * 5), *others]
    assert flagged(score(table(*rows), Params())) == set()


def test_a_single_filled_item_is_enough() -> None:
    """The heuristic is about leaving out a part of the task, not about gaps."""
    rows = [*assignment("a", "a bird", *[""] * 4), *filling(12)]
    assert flagged(score(table(*rows), Params())) == set()


def test_with_one_item_a_hit_all_of_a_workers_assignments_count() -> None:
    """One gap of ten is nothing; ten of ten are."""
    often = [
        answer
        for place in range(10)
        for answer in assignment(f"v{place}", "" if place else "bird", worker="v")
    ]
    never = [answer for place in range(10) for answer in assignment(f"u{place}", "", worker="u")]
    once = [
        answer
        for place in range(30)
        for answer in assignment(f"w{place:02}", "bird" if place else "", worker="w")
    ]
    rows = [*never, *once, *filling(40, items=1)]
    assert flagged(score(table(*rows), Params())) == {f"u{n}" for n in range(10)}
    rows = [*often, *once, *filling(40, items=1)]
    assert flagged(score(table(*rows), Params())) == set()


def test_a_worker_who_sent_much_of_the_batch_is_not_compared_with_themselves() -> None:
    """Sixty of eighty assignments leave it empty, but all are of one worker."""
    own = [
        answer
        for place in range(60)
        for answer in assignment(f"u{place:02}", *[""] * 5, worker="u")
    ]
    scores = score(table(*own, *filling(20)), Params())
    assert len(flagged(scores)) == 60
    assert cells(scores, "u00")[0] == 1.0


def test_it_is_silent_where_nothing_is_empty() -> None:
    """And says why."""
    assert "left_empty" in silences(table(*filling(12)), {})
    rows = table(*assignment("a", *[""] * 5), *filling(12))
    assert "left_empty" not in silences(rows, {})
