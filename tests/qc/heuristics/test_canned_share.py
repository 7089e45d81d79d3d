"""Laws of workers who use the canned text too often."""

import pytest

from piecework.qc.heuristics.canned_share import Params, score
from tests.qc.tables import CANNED, cells, evidence, flagged, row, table


def worker(name: str, *, canned: int, images: int, **columns: object) -> list[dict[str, object]]:
    """Answers of one worker about so many images, the first of them canned."""
    return [
        row(
            f"{name}{place}",
            **{"worker_id": name, "item_id": f"i{place}", **columns},
            text=CANNED if place < canned else "a bird sits on a wire",
        )
        for place in range(images)
    ]


@pytest.mark.parametrize(
    ("canned", "images", "or_equal", "expected"),
    [
        (3, 5, False, True),  # 60 %
        (5, 10, False, False),  # 50 %: the paper says "more than"
        (5, 10, True, True),  # the original's code says ">="
        (2, 5, True, False),  # 40 %
        (4, 4, True, False),  # fewer images than five say nothing
    ],
)
def test_more_than_half_of_his_images(
    canned: int,
    images: int,
    or_equal: bool,  # noqa: FBT001 - a case
    expected: bool,  # noqa: FBT001 - a case
) -> None:
    """The share decides, once there are enough images; ties by `or_equal`."""
    rows = table(*worker("w", canned=canned, images=images))
    assert bool(flagged(score(rows, Params(or_equal=or_equal)))) is expected


def test_every_worker_has_a_row_of_his_own() -> None:
    """Others' answers do not count for or against a worker."""
    rows = [*worker("bad", canned=5, images=5), *worker("good", canned=0, images=9)]
    scores = score(table(*rows), Params())
    assert scores.index.tolist() == ["bad", "good"]
    assert flagged(scores) == {"bad"}
    assert evidence(scores, "bad").endswith("on 5 of 5 items")


def test_an_image_answered_twice_counts_once() -> None:
    """Five images, three of them canned; a second canned answer changes nothing."""
    rows = worker("w", canned=3, images=5)
    rows.append(row("x", worker_id="w", item_id="i4", text=CANNED))
    scores = score(table(*rows), Params())
    assert evidence(scores, "w").endswith("on 3 of 5 items")


def test_unknown_workers_are_not_one_worker() -> None:
    """Answers without a worker cannot be counted together."""
    scores = score(table(*worker("", canned=9, images=9)), Params())
    assert cells(scores, "") == (0.0, False, "")


def test_a_limit_of_zero_flags_any_use() -> None:
    """Zero is a limit and not "off"."""
    rows = [*worker("once", canned=1, images=5), *worker("never", canned=0, images=5)]
    assert flagged(score(table(*rows), Params(more_than_share=0.0))) == {"once"}


def test_an_empty_table_has_no_workers() -> None:
    """No answers, no rows."""
    assert score(table(), Params()).empty
