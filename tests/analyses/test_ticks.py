"""Laws of agreement on sets of categories."""

import math
from itertools import combinations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.analyses.agreement import category_agreement, fleiss_kappa, jaccard
from tests.analyses.ballots import votes_on
from tests.examples import examples

CATEGORIES = ["age", "gender", "number"]


def test_a_table_of_categories_counted_by_hand() -> None:
    """Item 0: gender twice, age once; item 1: one says nothing applies, one number.

    Age: 1 of 4 answers, on one item; they agree on neither 0 (yes, no), but on 1.
    Gender: 2 of 4; full agreement. Number: 1 of 4; agreement on item 0 only.
    """
    ticks = votes_on([("gender", "age"), ("gender",)], [(), ("number",)])
    table = category_agreement(ticks, CATEGORIES)
    assert table.index.tolist() == CATEGORIES
    assert table["answers"].tolist() == [1, 2, 1]
    assert table["share"].tolist() == [0.25, 0.5, 0.25]
    assert table["items"].tolist() == [1, 1, 1]
    assert table["agreement"].tolist() == [0.5, 1.0, 0.5]
    assert table["kappa"]["gender"] == 1.0
    # Of two answers, the other of one with age says no; of one without, item 1's two
    # say no and item 0's says yes: 2 of 3.
    assert table["agreement_on"]["age"] == 0.0
    assert table["agreement_off"]["age"] == pytest.approx(2 / 3)
    # Age: by chance .25**2 + .75**2 = .625, so (.5 - .625)/.375 = -1/3.
    assert table["kappa"]["age"] == pytest.approx(-1 / 3)


def test_jaccard_counted_by_hand() -> None:
    """One in common of two; nothing in common; both nothing; one answer is no pair."""
    ticks = votes_on([("age", "gender"), ("age",)], [("age",), ()], [(), ()], [("age",)])
    overlap = jaccard(ticks)
    assert overlap["jaccard"].to_dict() == {"item-0": 0.5, "item-1": 0.0, "item-2": 1.0}
    assert overlap["pairs"].tolist() == [1, 1, 1]


answers = st.lists(st.lists(st.frozensets(st.sampled_from(CATEGORIES)), max_size=4), max_size=5)


@examples(25)
@given(answers)
def test_each_category_is_a_yes_or_no_question(items: list[list[frozenset[str]]]) -> None:
    """Its kappa is that of the votes "does it apply?"."""
    ticks = votes_on(*items)
    table = category_agreement(ticks, CATEGORIES)
    for category in CATEGORIES:
        asked = ticks["value"].map(lambda ticked, name=category: name in ticked)
        kappa = fleiss_kappa(ticks.assign(value=asked))
        assert table["kappa"][category] == pytest.approx(kappa, nan_ok=True)
        assert table["answers"][category] == asked.sum()


@examples(25)
@given(answers)
def test_jaccard_is_the_mean_over_pairs(items: list[list[frozenset[str]]]) -> None:
    """By listing pairs; the order of answers never matters."""
    overlap_of = jaccard(votes_on(*items))["jaccard"].to_dict()
    for place, ticked in enumerate(items):
        pairs = [len(a & b) / len(a | b) if a | b else 1.0 for a, b in combinations(ticked, 2)]
        if pairs:
            mean = sum(pairs) / len(pairs)
            assert overlap_of.pop(f"item-{place}") == pytest.approx(mean)
    assert not overlap_of


def test_nothing_ticked_and_nobody_asked() -> None:
    """A missing answer is none; without answers shares are NaN; no strangers."""
    nobody = votes_on([None])
    assert jaccard(nobody).empty
    table = category_agreement(nobody, CATEGORIES)
    assert table["answers"].tolist() == [0, 0, 0]
    assert math.isnan(table["share"]["age"])
    assert pd.isna(table["kappa"]).all()
    with pytest.raises(ValueError, match="'hat' is not one of 3 categories"):
        category_agreement(votes_on([("hat",)]), CATEGORIES)
