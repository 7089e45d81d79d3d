"""The section about conditions tells what the analyses give, and when they cannot."""

import re
from dataclasses import replace

import pandas as pd

from piecework.analyses.condition_scores import GLOSSES, Compared
from piecework.domain.field import Field
from piecework.domain.task import Conditions, Hypothesis
from piecework.hit_templates.tasks import load_task
from piecework.report.components import Section
from piecework.report.model import report_model
from piecework.report.page import render_report
from piecework.report.sections import conditions
from tests.report.campaign.made_up import empty

SEVERITY = load_task("severity")
VARIANCE = "Analysis of variance, repeated measures"
QUALITY = Field(name="quality", kind="number", label="How good?", minimum=0, maximum=100)


def facts_of(rows: list[tuple[str, str, str, float]]) -> Compared:
    """Scores: subject, condition, part of it, value."""
    scores = pd.DataFrame(rows, columns=["subject", "condition", "inside", "value"])
    return Compared(
        field=QUALITY,
        named=Conditions(field="quality", column="error", subcondition="direction"),
        scores=scores.astype({"value": "float64"}),
    )


STUDY = facts_of(
    [
        # Three people; means of people: age 50, 60, 70; color 20, 40, 30.
        ("ann", "age", "young", 55), ("ann", "age", "old", 45),
        ("bob", "age", "young", 66), ("bob", "age", "old", 54),
        ("cy", "age", "young", 77), ("cy", "age", "old", 63),
        ("ann", "color", "", 20), ("bob", "color", "", 40), ("cy", "color", "", 30),
        ("dan", "color", "", 99),
    ]
)  # fmt: skip


def section(compared: Compared) -> Section:
    """The section of a campaign with these conditions."""
    built = conditions.conditions_section(report_model(replace(empty(), compared=(compared,))))
    assert built is not None
    return built


def test_without_conditions_there_is_no_section() -> None:
    """Most tasks compare nothing."""
    assert conditions.conditions_section(report_model(empty())) is None


def test_figures_are_those_of_the_analyses() -> None:
    """One paired test and its analysis of variance, by hand.

    Differences age - color are 30, 20, 40: mean 30, sd 10, t(2) = 30 / (10 / sqrt 3) =
    5.196, p = 0.035; with two conditions F(1, 2) is t squared, 27.
    """
    made = section(STUDY)
    assert "3 participants answered in all 2 conditions" in made.lead[0]
    assert "F(1.00, 2.0) = 27.00, p = 0.035" in made.lead[0]
    means, variance, pairs, inside, parts = made.tables
    # dan is in the mean of color, (20 + 40 + 30 + 99) / 4, but in no comparison.
    assert [row[:3] for row in means.rows] == [("color", "4", "47.25"), ("age", "3", "60.00")]
    assert ("Mauchly's W", "1.000 (p = -)") in variance.rows
    assert pairs.rows[0][:2] == ("age - color", "+30.00")
    assert pairs.rows[0][3:6] == ("t(2) = 5.20", "0.035", "0.035")
    assert [row[0] for row in inside.rows] == ["old", "young"]
    # old minus young: -10, -12, -14.
    assert [row[:2] for row in parts.rows] == [("old - young", "-12.00")]
    assert "only some conditions: 1 participant" in made.notes[0].text


def test_the_same_difference_for_everyone_is_no_missing_difference() -> None:
    """Everyone rates age 50 above color: no spread, so no test, and a clear difference."""
    rows = [
        (person, condition, "", value + more)
        for person, value in (("ann", 20.0), ("bob", 30.0), ("cy", 10.0))
        for condition, more in (("color", 0.0), ("age", 50.0))
    ]
    expected = Hypothesis(name="color is lower", lower=("color",), higher=("age",))
    compared = facts_of(rows)
    named = replace(compared.named, hypotheses=(expected,))
    made = section(replace(compared, named=named))
    assert "differs between the conditions by the same for everyone; no test" in made.lead[0]
    shown = {table.caption: table.rows for table in made.tables}
    assert shown["Hypotheses"][0][-1] == "the same for everyone; no test"
    assert ("F", "∞") in shown[VARIANCE]
    assert ("p, corrected", "< 0.001") in shown[VARIANCE]
    assert not any("nan" in str(cell) for rows in shown.values() for row in rows for cell in row)
    alike = facts_of([(*row[:3], 20.0) for row in rows])
    assert "the same in all conditions for everyone" in section(alike).lead[0]
    three = facts_of(
        [*rows, *((who, "shape", "", v) for who, v in (("ann", 21), ("bob", 31), ("cy", 11)))]
    )
    assert "the same for everyone; no test" in section(three).lead[0]


def test_too_few_people_are_told_and_not_computed() -> None:
    """One person is no sample, and no answers are none."""
    alone = facts_of([("ann", "age", "", 50), ("ann", "color", "", 40)])
    assert "Fewer than two people" in section(alone).lead[0]
    assert "Fewer than two people" in section(facts_of([])).lead[0]


def test_names_from_an_items_file_are_escaped_in_the_page() -> None:
    """A condition is a stranger's text."""
    hostile = STUDY.scores.replace({"condition": {"age": "<script>alert(1)</script>"}})
    page = render_report(replace(empty(), compared=(replace(STUDY, scores=hostile),)))
    assert not re.search("<script", page)
    assert "&lt;script&gt;" in page


def test_the_published_study_is_next_to_a_campaign_of_its_task() -> None:
    """Its F, its parts and the outcome of its hypotheses, as it printed them."""
    study = Compared(
        field=QUALITY,
        named=SEVERITY.conditions[0],
        scores=pd.DataFrame(
            [
                (person, condition, part, "i1", value + extra)
                for person, extra in (("ann", 0.0), ("bob", 5.0), ("cy", -4.0))
                for condition, part, value in (
                    ("gender", "male_to_female", 40.0 + extra),
                    ("gender", "female_to_male", 41.0),
                    ("age", "young_to_old", 58.0 - extra / 2),
                    ("age", "old_to_young", 49.0),
                    ("clothing_type", "", 48.0 + extra),
                    ("clothing_color", "", 39.0),
                )
            ],
            columns=["subject", "condition", "inside", "item_id", "value"],
        ),
    )
    facts = replace(empty(), task=SEVERITY, compared=(study,))
    made = conditions.conditions_section(report_model(facts))
    assert made is not None
    assert "F(2.33, 139.5) = 13.827" in made.lead[1]
    by_caption = {table.caption: table for table in made.tables}
    assert [row[-1] for row in by_caption["Hypotheses"].rows] == [
        "not supported",
        "supported",
        "the opposite",
    ]
    variance = {row[0]: row[2] for row in by_caption[VARIANCE].rows}
    assert variance["F"] == "13.827"
    inside = {row[0]: row[-2:] for row in by_caption["Means within conditions"].rows}
    assert inside["young to old"] == ("58.475", "23.252")
    tests = by_caption["Differences within conditions"].rows
    assert {row[-1] for row in tests} == {"t(60) = 0.835, p = 0.407", "t(60) = -4.49, p < 0.001"}
    assert any("binary" in note.text for note in made.notes)


def test_texts_of_conditions_are_measured_and_listed() -> None:
    """One edit everywhere, the replaced words, and every text with its rating."""
    scores = STUDY.scores.assign(item_id=["a", "b"] * 3 + ["c"] * 4)
    texts = pd.DataFrame(
        {
            "condition": ["age", "age", "color"],
            "text": ["A man runs.", "A boy walks.", "A man in red."],
            "reference": ["A boy runs.", "A man walks.", "A man in blue."],
            **dict.fromkeys(GLOSSES, ""),
            "mean": [66.0, 54.0, 47.25],
        },
        index=pd.Index(["a", "b", "c"], name="item_id"),
    )
    made = section(replace(STUDY, scores=scores, texts=texts))
    by_caption = {table.caption: table for table in made.tables}
    similar = by_caption["Similarity to the correct text"]
    assert [row[2] for row in similar.rows] == ["1", "1"]
    assert "edit distance to the correct text is 1 " in made.figures[1].note
    assert len(by_caption["Replaced words"].rows) == 3
    # Each reference, then its text.
    assert len(by_caption["All texts and their ratings"].rows) == 6
    # Costs: age 100 - 60, color 100 - 30, of the three people who met both.
    weights = by_caption["Weights by severity"].rows
    assert [row[:2] for row in weights] == [("color", "1.27"), ("age", "0.73")]
