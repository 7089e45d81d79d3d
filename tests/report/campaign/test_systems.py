"""The section that compares systems."""

from dataclasses import replace

import pandas as pd
import pytest

from piecework.domain.text import NOTHING
from piecework.report.components import Section
from piecework.report.facts import ImportedFacts
from piecework.report.model import ReportModel, report_model
from piecework.report.page import render_report
from piecework.report.sections import comparisons, overview
from tests.report.campaign.made_up import empty

Row = tuple[str, str, str, float, str]


def model(rows: list[Row]) -> ReportModel:
    """A report on these: first, second, outcome, grade, side."""
    names = ["first", "second", "outcome", "grade", "side"]
    frame = pd.DataFrame(rows, columns=names)
    frame = frame.assign(item_id="a", worker="w", criterion="overall_quality")
    return report_model(replace(empty(), comparisons=frame))


def section(rows: list[Row]) -> Section | None:
    """The section about these."""
    return comparisons.systems_section(model(rows))


def test_the_strengths_are_the_first_that_a_reader_sees() -> None:
    """With the interval of each; a dataset of texts begins with what was asked."""
    won: Row = ("north", "south", "first", 2.0, "first")
    lost: Row = ("north", "south", "second", -1.0, "second")
    (shown,) = overview.results(model([won, won, won, lost]))
    assert shown.title == "Strength by overall quality"
    assert "north +0.55; south -0.55" in shown.svg
    assert overview.results(report_model(empty())) == ()


def test_a_system_preferred_three_times_of_four_is_stronger_by_the_log_of_three() -> None:
    """Without ties two sides' strengths differ by the log-odds: ln 3 = 1.0986."""
    won: Row = ("north", "south", "first", 2.0, "first")
    lost: Row = ("north", "south", "second", -1.0, "second")
    built = section([won, won, won, lost])
    assert built is not None
    strengths, sides = built.tables
    # Half of 1.0986 above and below 0; grades 2, 2, 2, -1 have the mean 1.25.
    assert [row[:2] for row in strengths.rows] == [("north", "+0.55"), ("south", "-0.55")]
    assert [row[3:] for row in strengths.rows] == [
        ("+1.25", "3", "0", "1"),
        ("-1.25", "1", "0", "3"),
    ]
    # 3 against 1: two-sided 2 * (4 + 1) / 16 = 0.625.
    assert sides.rows == (("overall quality", "3", "0", "1", "0.625"),)
    assert built.notes == ()


def test_who_wins_everything_gets_a_finite_strength_and_the_report_says_how() -> None:
    """Half a win is added to either side, and a one-sided page is pointed out."""
    built = section([("north", "south", "first", 2.0, "second")] * 12)
    assert built is not None
    assert "0.5 wins were added" in built.tables[0].note
    (note,) = built.notes
    assert "shown second is preferred" in note.text  # 2 / 2^12 = 0.0005


def test_systems_that_were_never_compared_have_no_strengths() -> None:
    """The table says why it is empty."""
    built = section([("a", "b", "first", 1.0, "first"), ("c", "d", "second", -1.0, "second")])
    assert built is not None
    assert built.tables[0].rows == ()
    assert "never compared" in built.tables[0].empty


def test_systems_that_only_tie_have_a_strength_and_no_error() -> None:
    """The figure still has a scale; no table says nan."""
    facts = model([("north", "south", "tie", 0.0, "tie")] * 3)
    built = comparisons.systems_section(facts)
    assert built is not None
    assert [row[1:3] for row in built.tables[0].rows] == [("+0.00", NOTHING)] * 2
    (figure,) = overview.results(facts)
    assert "nan" not in figure.svg.lower()


def test_judgements_without_a_side_are_not_held_against_the_page() -> None:
    """An imported table without the order says so, and claims no random order."""
    won: Row = ("north", "south", "first", 2.0, "")
    built = comparisons.systems_section(model([won] * 12))
    assert built is not None
    assert built.notes == ()
    sides = built.tables[-1]
    assert (sides.rows, "not known" in sides.empty) == ((), True)
    frame = model([won, ("north", "south", "first", 2.0, "first")]).facts.comparisons
    imported = ImportedFacts(
        files=(),
        outcomes=pd.Series(dtype="str"),
        has_times=False,
        unnamed_workers=0,
        wages_cents_per_hour=pd.Series(dtype="float64"),
    )
    of_files = comparisons.systems_section(
        report_model(replace(empty(), comparisons=frame, imported=imported))
    )
    assert of_files is not None
    assert of_files.tables[-1].rows == (("overall quality", "1", "0", "0", "1.000"),)
    assert "do not say" in of_files.tables[-1].note


def test_a_campaign_without_pairs_has_no_such_section() -> None:
    """Nothing is said about what was not asked."""
    assert comparisons.systems_section(report_model(empty())) is None


@pytest.mark.parametrize("name", ["<script>alert(1)</script>"])
def test_a_systems_name_is_escaped(name: str) -> None:
    """Names come from strangers' files."""
    frame = pd.DataFrame(
        {
            "item_id": ["a", "a"],
            "worker": ["w", "v"],
            "criterion": ["overall", "overall"],
            "first": [name, name],
            "second": ["b", "b"],
            "outcome": ["first", "second"],
            "grade": [1.0, -1.0],
            "side": ["first", "second"],
        }
    )
    assert name not in render_report(replace(empty(), comparisons=frame))


def test_each_pair_of_systems_is_drawn_in_one_order() -> None:
    """North wins twice, once named second; one tie, one loss."""
    built = section(
        [
            ("north", "south", "first", 2.0, "first"),
            ("south", "north", "second", -2.0, "first"),
            ("south", "north", "tie", 0.0, "tie"),
            ("north", "south", "second", -1.0, "second"),
        ]
    )
    assert built is not None
    (figure,) = built.figures
    assert ">north 2, equal 1, south 1.<" in figure.svg
