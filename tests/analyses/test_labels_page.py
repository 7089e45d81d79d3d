"""The page on labels says what our models do on the votes."""

import re
from pathlib import Path

import pytest

from tests.bench.truth.labels.__main__ import PAGE, own_outcomes, row
from tests.bench.truth.labels.constants import measured, table
from tests.bench.truth.labels.models import ABILITY
from tests.bench.truth.labels.sets import GoldVotes, gold_votes
from tests.bench.truth.sets import DATA

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is missing")

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


_MEASUREMENTS = Path("docs/internals/measurements")
_HELD_OUT = {
    "labels.md": {
        "| set | chosen by the others |": "Sets of the same\nitems are left out together.",
        "| model | right |": "these choices see no known label and no other set.",
    },
    "heuristics.md": {
        "| measured on |": "some of their limits were chosen on these\nsets",
        "| ParaQuality, workers held out |": "workers held out",
    },
    "cleaning.md": {
        "| | typos fixed |": "images that they were not fitted to (five folds by\nimage)",
        "| threshold |": "In\nthe folds by image",
        "| list |": "training halves of published lists",
        "| real typos |": "on the same folds by word",
        "| | without |": "on folds by word",
        "| | class |": "folds by\nimage",
        "| | probability |": "folds by\nimage",
        "| probability |": "folds by\nimage",
        "| | not suspected |": "folds by\nimage",
        "| design |": "folds by word",
    },
}
"""By page and beginning of a table: the words that say on what its figures were not chosen."""

_NO_FIGURES = ("| feature |", "| column |")
_INTERVAL_OR_COUNT = re.compile(
    r"\(\S+ to \S+\)|\d of \d|\([\d,]+[);]|\| [\d,]+ ?\||\d changes|of \d sets"
)
_EARLIER = ("| design |", "| real typos |", "| | without |")
"""Designs that were compared in an earlier version; the text above says on how many."""


def test_every_table_says_what_was_held_out_and_how_sure_it_is() -> None:
    """A new table needs its folds here, and an interval or a count in each row."""
    for name, held_out in _HELD_OUT.items():
        page = (_MEASUREMENTS / name).read_text(encoding="utf-8")
        tables = re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE)
        for block in tables:
            first, _, *rows = block.splitlines()
            if first.startswith(_NO_FIGURES):
                continue
            (words,) = (words for begin, words in held_out.items() if first.startswith(begin))
            assert words in page, (name, words)
            if not first.startswith(_EARLIER):
                assert [row for row in rows if not _INTERVAL_OR_COUNT.search(row)] == []


@pytest.mark.shared
@needs_data
def test_the_page_has_the_figures_of_a_real_set() -> None:
    """Three stances: our rows are computed again."""
    (headlines,) = (s for s in gold_votes() if s.name == "headlines, three stances")
    page = PAGE.read_text(encoding="utf-8").splitlines()
    assert [line for line in _rows(headlines) if not _is_on(page, line)] == []


@pytest.mark.shared
@needs_data
@pytest.mark.full(weeks=4)
def test_the_page_has_the_constants_that_other_sets_choose() -> None:
    """Each row, and the mean of all sets."""
    page = PAGE.read_text(encoding="utf-8").splitlines()
    lines = table({each.name: measured(each) for each in gold_votes()})
    assert [line for line in lines if not _is_on(page, line)] == []


@pytest.mark.shared
@needs_data
@pytest.mark.full
def test_the_page_has_the_figures_of_all_sets() -> None:
    """Each row of each of our models; and `ability` invents no label."""
    page = PAGE.read_text(encoding="utf-8").splitlines()
    for gold_set in gold_votes():
        assert [line for line in _rows(gold_set) if not _is_on(page, line)] == []
        assert not own_outcomes(gold_set)[ABILITY].is_unvoted.any()
