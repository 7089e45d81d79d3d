"""The section on corrections."""

from dataclasses import replace

import pandas as pd

from piecework.report.correction_gains import COLUMNS
from piecework.report.model import report_model
from piecework.report.sections import corrected
from tests.report.campaign.made_up import empty

NAN = float("nan")
COLOR = ("color_of_clothing", 8, 7, 20, 0.5, 0.625, 0.25, 0.3, 0.3, 0.35)


def test_scores_stand_before_and_after() -> None:
    """In per cent, each kind of error a row."""
    frame = pd.DataFrame([COLOR], columns=list(COLUMNS))
    section = corrected.build(report_model(replace(empty(), corrections=frame)))
    assert section is not None
    assert section.tables[0].rows == (
        (
            "color of clothing", "8", "7", "50.0 \u2192 62.5", "25.0 \u2192 30.0",
            "30.0 \u2192 35.0",
        ),
    )  # fmt: skip


def test_without_references_the_report_says_what_is_missing() -> None:
    """No column of scores, and what to add."""
    frame = pd.DataFrame([("color", 8, 7, 0, *[NAN] * 6)], columns=list(COLUMNS))
    section = corrected.build(report_model(replace(empty(), corrections=frame)))
    assert section is not None
    assert section.tables[0].rows == (("color", "8", "7"),)
    assert "reference_1" in section.tables[0].note
    assert corrected.build(report_model(empty())) is None
