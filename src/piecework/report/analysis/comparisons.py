"""Comparisons of two sides, of conditions, and of positions on the page."""

from collections.abc import Iterator

import pandas as pd

from piecework.analyses.anova import repeated_measures
from piecework.analyses.bradley_terry import bradley_terry
from piecework.analyses.condition_scores import mean_ratings
from piecework.analyses.order import first_side_advantage, position_effect
from piecework.analyses.paired import equivalence_tests, paired_t_tests
from piecework.analyses.preferences import comparisons, preferences
from piecework.domain.field import Field
from piecework.report.analysis.answers import AnalysedAnswers, Analysis

_BONFERRONI = "Adjusted: multiplied by the number of tests (Bonferroni)."


def sides(answers: AnalysedAnswers) -> Iterator[Analysis]:
    """Compare two sides by each criterion, and estimate strengths of several."""
    pairs = comparisons(
        answers.table, answers.items, answers.task.item_fields, answers.task.arrangements
    )
    yield from _graded(answers)
    yield from _strengths(pairs)
    if len(pairs):
        first, second, p_value = first_side_advantage(pairs.assign(outcome=pairs["side"]))
        yield Analysis(
            key="sides_of_the_page",
            title="Whether the side shown first wins",
            frame=pd.DataFrame(
                [{"first_side_wins": first, "second_side_wins": second, "p_value": p_value}]
            ),
            note="An exact sign test; ties do not count.",
        )


def _graded(answers: AnalysedAnswers) -> Iterator[Analysis]:
    """Fields with 0 in the middle of the scale: which side is better, and how much."""
    grades = [
        pd.DataFrame({"criterion": field.name, "grade": answers.numbers(field)})
        for field in answers.fields("number")
        if field.minimum < 0 and field.minimum == -field.maximum
    ]
    if grades:
        yield Analysis(
            key="preferences",
            title="Better, neutral, worse",
            frame=preferences(pd.concat(grades)).reset_index(),
            left_out=("judgements", "mean", "share", "low", "high", "p_value"),
            note="Above 0 is better. Net: the share of better less that of worse. The "
            f"p-value is from an exact sign test. {_BONFERRONI}",
        )


def _strengths(pairs: pd.DataFrame) -> Iterator[Analysis]:
    for criterion, of_criterion in pairs.groupby("criterion", sort=False):
        try:
            fit = bradley_terry(of_criterion)
        except ValueError:
            # A side that never loses has no finite strength without some smoothing.
            fit = bradley_terry(of_criterion, smoothing=0.5)
        yield Analysis(
            key=f"strengths_{criterion}",
            title=f"Strengths by {criterion}",
            frame=fit.sides.reset_index(),
            note="Bradley-Terry strengths with ties: natural logarithms with mean "
            "0; a side stronger by 0.69 wins twice as often as it loses.",
        )


def conditions(answers: AnalysedAnswers) -> Iterator[Analysis]:
    """Compare ratings by condition, repeated on the same units."""
    for field in answers.rated_fields() if answers.condition else ():
        scores = _scores(answers, field)
        if len(set(scores["condition"])) > 1:
            yield from _of_field(answers, field, scores)


def _of_field(answers: AnalysedAnswers, field: Field, scores: pd.DataFrame) -> Iterator[Analysis]:
    yield Analysis(
        key=f"means_{field.name}",
        title=f"Mean of {field.name} by {answers.condition}",
        frame=mean_ratings(scores.rename(columns={"subject": "item_id"})).reset_index(),
        note="A unit counts once, with the mean of its ratings; 95 % intervals are over units.",
    )
    units = scores.groupby("subject")["condition"].nunique()
    if not (units == scores["condition"].nunique()).sum() > 1:
        return
    test = repeated_measures(scores)
    row = {
        "units": test.subjects,
        "left_out": test.left_out,
        "f": test.f,
        "df": test.df_corrected,
        "df_error": test.df_error_corrected,
        "p_value": test.p_corrected,
        "eta_squared_generalised": test.eta_squared_generalised,
        "eta_squared_partial": test.eta_squared_partial,
    }
    yield Analysis(
        key=f"anova_{field.name}",
        title=f"Whether {field.name} differs by {answers.condition}",
        frame=pd.DataFrame([row]),
        left_out=("left_out", "eta_squared_partial"),
        note="Analysis of variance with repeated measures; Greenhouse-Geisser degrees of freedom.",
    )
    yield Analysis(
        key=f"paired_{field.name}",
        title=f"Pairs of {answers.condition} by {field.name}",
        frame=paired_t_tests(scores),
        left_out=("pairs", "sd", "t", "df", "p_value"),
        note=f"Paired t-tests. {_BONFERRONI}",
    )
    if answers.margin is not None:
        yield Analysis(
            key=f"equivalence_{field.name}",
            title=f"Whether pairs are equivalent within {answers.margin:g}",
            frame=equivalence_tests(scores, margin=answers.margin),
            left_out=("pairs", "p_below", "p_above", "p_value"),
            note=f"Two one-sided tests. {_BONFERRONI}",
        )


def order_effects(answers: AnalysedAnswers) -> Iterator[Analysis]:
    """Test whether the position on the page changes ratings."""
    table = answers.table
    if (table["place"] == 1).all():
        return
    conditions_of = answers.column(answers.condition) if answers.condition else table["item_id"]
    for field in answers.rated_fields():
        rated = pd.DataFrame(
            {
                "unit": answers.units,
                "condition": conditions_of,
                "position": table["place"],
                "value": answers.numbers(field),
            }
        )
        try:
            effect = position_effect(rated, seed=answers.seed)
        except ValueError:
            continue  # no unit has ratings at every place
        yield Analysis(
            key=f"order_{field.name}",
            title=f"{field.name} by place on the page",
            frame=effect.positions.reset_index().assign(p_value=effect.p_value),
            note=f"From {effect.units} units with a rating at every place; "
            f"{effect.left_out} others are left out. Beyond: the rest after "
            "subtracting the mean of what was shown there; the p-value tests it by "
            "shuffling places.",
        )


def _scores(answers: AnalysedAnswers, field: Field) -> pd.DataFrame:
    scores = pd.DataFrame(
        {
            "subject": answers.units,
            "condition": answers.column(answers.condition),
            "value": answers.numbers(field),
        }
    )
    return scores[(scores["condition"] != "") & scores["value"].notna()]
