"""Two sides compared, conditions rated, and what the order on the page does."""

import pandas as pd

from piecework.analyses.anova import repeated_measures
from piecework.analyses.bradley_terry import bradley_terry
from piecework.analyses.equivalence import equivalence_tests
from piecework.analyses.mean_ratings import mean_ratings
from piecework.analyses.order import first_side_advantage, position_effect
from piecework.analyses.paired import paired_t_tests
from piecework.analyses.pairwise_outcomes import comparisons
from piecework.analyses.preferences import preferences
from piecework.domain.task import Field
from piecework.report.analysis.answers import AnalysedAnswers
from piecework.report.analysis.result import Analysis

_BONFERRONI = "Adjusted: times the number of tests (Bonferroni)."


def sides(answers: AnalysedAnswers) -> list[Analysis]:
    """Which of two sides is better, on each criterion; strengths of several."""
    pairs = comparisons(
        answers.table,
        answers.items,
        answers.task.item_fields,
        answers.task.arrangements,
    )
    analyses = [*_graded(answers), *_strengths(pairs)]
    if len(pairs):
        first, second, p_value = first_side_advantage(
            pairs.assign(outcome=pairs["side"])
        )
        frame = pd.DataFrame(
            [{"first_side_wins": first, "second_side_wins": second, "p_value": p_value}]
        )
        analyses.append(
            Analysis(
                key="sides_of_the_page",
                title="Whether the side shown first wins",
                frame=frame,
                note="An exact sign test; ties do not count.",
            )
        )
    return analyses


def _graded(answers: AnalysedAnswers) -> list[Analysis]:
    """Fields whose scale has 0 in its middle say which side is better, and how far."""
    fields = [
        field
        for field in answers.fields("number")
        if field.minimum < 0 and field.minimum == -field.maximum
    ]
    if not fields:
        return []
    grades = pd.concat(
        pd.DataFrame({"criterion": field.name, "grade": answers.numbers(field)})
        for field in fields
    )
    table = preferences(grades).reset_index()
    return [
        Analysis(
            key="preferences",
            title="Better, neutral, worse",
            frame=table,
            left_out=("judgements", "mean", "share", "low", "high", "p_value"),
            note="Above 0 is better. Net: better less worse, of all. The p-value is an "
            f"exact sign test's. {_BONFERRONI}",
        )
    ]


def _strengths(pairs: pd.DataFrame) -> list[Analysis]:
    analyses = []
    for criterion, of_criterion in pairs.groupby("criterion", sort=False):
        try:
            fit = bradley_terry(of_criterion)
        except ValueError:
            # A side that never loses has no finite strength without some smoothing.
            fit = bradley_terry(of_criterion, smoothing=0.5)
        analyses.append(
            Analysis(
                key=f"strengths_{criterion}",
                title=f"Strengths by {criterion}",
                frame=fit.sides.reset_index(),
                note="Bradley and Terry's, with ties: natural logarithms, their mean "
                "is 0; stronger by 0.69 wins twice as often as it loses.",
            )
        )
    return analyses


def conditions(answers: AnalysedAnswers) -> list[Analysis]:
    """Ratings by condition, repeated on the same units."""
    if not answers.condition:
        return []
    analyses: list[Analysis] = []
    for field in answers.rated_fields():
        scores = _scores(answers, field)
        if len(set(scores["condition"])) > 1:
            analyses += _of_field(answers, field, scores)
    return analyses


def _of_field(
    answers: AnalysedAnswers, field: Field, scores: pd.DataFrame
) -> list[Analysis]:
    rated = scores.rename(columns={"subject": "item_id"})
    analyses = [
        Analysis(
            key=f"means_{field.name}",
            title=f"Mean of {field.name} by {answers.condition}",
            frame=mean_ratings(rated).reset_index(),
            note="A unit counts once, with the mean of its ratings; 95 % intervals "
            "over units.",
        )
    ]
    units = scores.groupby("subject")["condition"].nunique()
    if not (units == scores["condition"].nunique()).sum() > 1:
        return analyses
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
    analyses.append(
        Analysis(
            key=f"anova_{field.name}",
            title=f"Whether {field.name} differs by {answers.condition}",
            frame=pd.DataFrame([row]),
            left_out=("left_out", "eta_squared_partial"),
            note="Analysis of variance with repeated measures; degrees of freedom by "
            "Greenhouse and Geisser.",
        )
    )
    analyses.append(
        Analysis(
            key=f"paired_{field.name}",
            title=f"Each two of {answers.condition} by {field.name}",
            frame=paired_t_tests(scores),
            left_out=("pairs", "sd", "t", "df", "p_value"),
            note=f"Paired t-tests. {_BONFERRONI}",
        )
    )
    if answers.margin is not None:
        analyses.append(
            Analysis(
                key=f"equivalence_{field.name}",
                title=f"Whether they are alike within {answers.margin:g}",
                frame=equivalence_tests(scores, margin=answers.margin),
                left_out=("pairs", "p_below", "p_above", "p_value"),
                note=f"Two one-sided tests. {_BONFERRONI}",
            )
        )
    return analyses


def order_effects(answers: AnalysedAnswers) -> list[Analysis]:
    """Whether what stands first on a page is rated otherwise."""
    table = answers.table
    if (table["place"] == 1).all():
        return []
    conditions_of = (
        answers.column(answers.condition) if answers.condition else table["item_id"]
    )
    analyses = []
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
        analyses.append(
            Analysis(
                key=f"order_{field.name}",
                title=f"{field.name} by place on the page",
                frame=effect.positions.reset_index().assign(p_value=effect.p_value),
                note=f"Of {effect.units} units with a rating at every place, "
                f"{effect.left_out} others left out. Beyond: what is left when the "
                "mean of what stood there is taken away; the p-value is of that, by "
                "shuffling places.",
            )
        )
    return analyses


def _scores(answers: AnalysedAnswers, field: Field) -> pd.DataFrame:
    scores = pd.DataFrame(
        {
            "subject": answers.units,
            "condition": answers.column(answers.condition),
            "value": answers.numbers(field),
        }
    )
    return scores[(scores["condition"] != "") & scores["value"].notna()]
