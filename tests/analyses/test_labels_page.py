"""The page on labels says what our models do on the votes."""

import re

import pytest

from tests.bench.truth.labels.__main__ import PAGE, own_outcomes, row
from tests.bench.truth.labels.models import ABILITY
from tests.bench.truth.labels.sets import GoldVotes, gold_votes
from tests.bench.truth.sets import DATA

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is missing"),
]


_FIGURE = re.compile(r"-?\d+(?:\.\d+)?")
_APART = 0.005
"""Processors add up differently, which moves a label or two to another bin of ECE."""


def _rows(gold_set: GoldVotes) -> list[str]:
    return [row(name, result) for name, result in own_outcomes(gold_set).items()]


def _is_on(page: list[str], line: str) -> bool:
    """Whether the page has the row, with figures that hardly differ."""
    words = _FIGURE.sub("", line)
    figures = [float(figure) for figure in _FIGURE.findall(line)]
    return any(
        [float(figure) for figure in _FIGURE.findall(other)] == pytest.approx(figures, abs=_APART)
        for other in page
        if _FIGURE.sub("", other) == words
    )


def test_the_page_has_the_figures_of_a_real_set() -> None:
    """Three stances: our rows are computed again."""
    (headlines,) = (s for s in gold_votes() if s.name == "headlines, three stances")
    page = PAGE.read_text(encoding="utf-8").splitlines()
    assert [line for line in _rows(headlines) if not _is_on(page, line)] == []


@pytest.mark.full
def test_the_page_has_the_figures_of_all_sets() -> None:
    """Each row of each of our models; and `ability` invents no label."""
    page = PAGE.read_text(encoding="utf-8").splitlines()
    for gold_set in gold_votes():
        assert [line for line in _rows(gold_set) if not _is_on(page, line)] == []
        assert not own_outcomes(gold_set)[ABILITY].is_unvoted.any()
