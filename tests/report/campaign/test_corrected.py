"""The section on corrections."""

from dataclasses import replace

import pandas as pd

from piecework.hit_templates.tasks import load_task
from piecework.report.model import report_model
from piecework.report.sections import condition_texts
from piecework.report.sections.condition_texts import ALL_KINDS, CORRECTION_COLUMNS
from tests.report.campaign.made_up import empty

NAN = float("nan")
COLOR = ("color_of_clothing", 8, 7, 20, 0.5, 0.625, 0.25, 0.3, 0.3, 0.35, 0)
NUMBER = ("number", 4, 1, 20, 0.5, 0.49, 0.25, 0.24, 0.3, 0.3, 0)
BOTH = (ALL_KINDS, 10, 8, 20, 0.5, 0.615, 0.25, 0.31, 0.3, 0.35, 2)


def test_gains_have_signs_and_are_sorted_below_all_kinds_together() -> None:
    """In points, with the scores before and after, and the published gain."""
    frame = pd.DataFrame([NUMBER, COLOR, BOTH], columns=list(CORRECTION_COLUMNS))
    facts = replace(empty(), task=load_task("correction"), corrections=frame)
    section = condition_texts.corrections_section(report_model(facts))
    assert section is not None
    table = section.tables[0]
    assert [row[0] for row in table.rows] == ["all kinds", "color of clothing", "number"]
    assert table.rows[1] == (
        "color of clothing", "8", "7", "+12.5 (50.0 \u2192 62.5)",
        "+5.0 (25.0 \u2192 30.0)", "+5.0 (30.0 \u2192 35.0)", "+1.05",
    )  # fmt: skip
    assert table.rows[2][4] == "-1.0 (25.0 \u2192 24.0)"
    assert "2 edits of the same words" in table.note
    assert "synonyms" in table.note
    assert "8 of 12 edited descriptions" in section.lead[0]
    assert "17.75" in section.lead[1]
    drawn = str(section.figures[0].svg)
    assert "all kinds +6.0, color of clothing +5.0, number -1.0" in drawn


def test_without_references_the_report_says_what_is_missing() -> None:
    """No column of scores, and what to add."""
    frame = pd.DataFrame([("color", 8, 7, 0, *[NAN] * 6, 0)], columns=list(CORRECTION_COLUMNS))
    section = condition_texts.corrections_section(report_model(replace(empty(), corrections=frame)))
    assert section is not None
    assert section.tables[0].rows == (("color", "8", "7"),)
    assert "reference_1" in section.tables[0].note
    assert condition_texts.corrections_section(report_model(empty())) is None
