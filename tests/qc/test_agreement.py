"""Laws of the standing report."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qc.agreement import coverage, field_kappa, fleiss_kappa, overlaps
from qc.registry import assess
from tests.qc.frames import frame, row

PRINTED = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
"""Fourteen raters, ten subjects, five categories: the example of the encyclopaedia's
article on Fleiss' kappa, which prints 0.210."""


def test_kappa_of_the_printed_example() -> None:
    """P = 0.378 and P_e = 0.213 are printed with it: (0.378 - 0.213)/0.787 = 0.210."""
    assert fleiss_kappa(PRINTED) == pytest.approx(0.210, abs=0.0005)


def brute_force(votes: list[list[int]]) -> float:
    """Kappa by listing every pair of ratings of every item."""
    votes = [item for item in votes if len(item) >= 2]
    agreeing = [
        np.mean([one == other for one, other in combinations(item, 2)])
        for item in votes
    ]
    everything = [vote for item in votes for vote in item]
    chance = sum((everything.count(v) / len(everything)) ** 2 for v in set(everything))
    return float((np.mean(agreeing) - chance) / (1 - chance))


@given(st.lists(st.lists(st.integers(0, 2), max_size=6), min_size=1, max_size=8))
def test_kappa_agrees_with_listing_all_pairs(votes: list[list[int]]) -> None:
    """Whatever the numbers of ratings, the formula is the definition."""
    counts = [[item.count(value) for value in range(3)] for item in votes]
    compared = {vote for item in votes if len(item) >= 2 for vote in item}
    if len(compared) < 2:
        assert math.isnan(fleiss_kappa(counts))
    else:
        assert fleiss_kappa(counts) == pytest.approx(brute_force(votes))


def test_full_agreement_is_one_and_nothing_to_compare_is_nan() -> None:
    """Two items, each unanimous, of two kinds; then nothing, and a single category."""
    assert fleiss_kappa([[3, 0], [0, 3]]) == 1.0
    assert math.isnan(fleiss_kappa(np.empty((0, 2))))
    assert math.isnan(fleiss_kappa([[1, 0], [0, 1]]))
    assert math.isnan(fleiss_kappa([[3, 0]]))


def vote(name: str, item: str, said: str, **columns: object) -> dict[str, object]:
    """One vote about an item."""
    return row(name, item_id=item, **{"value.has_text": said, **columns})


def test_kappa_of_a_field_leaves_out_second_answers_and_silence() -> None:
    """Item i: yes, yes; item j: no, no; a repeated and an empty vote do not count."""
    answers = frame(
        vote("a", "i", "yes"),
        vote("b", "i", "yes"),
        vote("z", "i", "no", worker_id="worker-a"),
        vote("c", "j", "no"),
        vote("d", "j", "no"),
        vote("e", "j", ""),
    )
    assert field_kappa(answers) == 1.0
    assert math.isnan(field_kappa(answers, field="unheard_of"))
    assert math.isnan(field_kappa(frame()))


def test_coverage_counts_against_all_subjects_of_the_kind() -> None:
    """One of ten answers is a tenth; one of six workers a sixth."""
    canned = "Quality issues are too severe to recognize visual content."
    rows = [
        row(f"{place}", worker_id="w", text=canned, problems=("x",) * (place == 0))
        for place in range(5)
    ]
    answers = frame(*rows, *[row(f"v{place}") for place in range(5)])
    report = coverage(answers, assess(answers, {"random_sample": None}, seed=1))
    assert report.index.tolist() == ["canned_share", "rule_violation"]
    assert report["subjects"].tolist() == [6, 10]
    assert report["flagged"].tolist() == [1, 1]
    assert report["share"].tolist() == [1 / 6, 0.1]
    assert coverage(answers, []).empty


def test_overlaps_are_of_subjects_that_both_flag() -> None:
    """Capitals flag a and b, rules b and c: one in common of three."""
    shout = "A RED BIRD SITS ON A WIRE"
    broken = {"problems": ("x",)}
    answers = frame(
        row("a", text=shout), row("b", text=shout, **broken), row("c", **broken)
    )
    found = overlaps(assess(answers, {"random_sample": None}, seed=1))
    assert found.to_dict("records") == [
        {
            "first": "capitals",
            "second": "rule_violation",
            "both": 1,
            "jaccard": pytest.approx(1 / 3),
        }
    ]
    assert overlaps([]).empty
