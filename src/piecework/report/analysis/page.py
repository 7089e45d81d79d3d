"""All analyses of answers, as a page of sections and as plain values for programs."""

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import pandas as pd

from piecework.analyses.agreement import (
    Level,
    Weights,
    category_agreement,
    cohen_kappa_of_pairs,
    fleiss_kappa_of_counts,
    jaccard,
    krippendorff_alpha,
    of_fewer_items,
)
from piecework.analyses.condition_scores import mean_ratings
from piecework.analyses.dawid_skene import dawid_skene
from piecework.analyses.labels_from_votes import ability
from piecework.analyses.page_effects import first_side_advantages, position_effect
from piecework.analyses.paired_comparisons import comparisons, finite_strengths, preferences
from piecework.analyses.votes import (
    accuracy,
    majority,
    vote_table,
    votes_that_count,
    weighted_majority,
)
from piecework.analyses.within_subject import equivalence_tests, paired_t_tests, repeated_measures
from piecework.domain.field import Field, is_unlimited
from piecework.domain.imported import UNNAMED
from piecework.domain.task import GOLD
from piecework.domain.text import count, plural
from piecework.report.agreement import agreements, notes_on
from piecework.report.analysis.answers import AnalysedAnswers, Analysis, has_grades, section
from piecework.report.components import KeyFigure, notes_of_remarks
from piecework.report.page import SectionsPage

_BUSIEST = 30
_LEAST_SHARED = 10


def agreement(answers: AnalysedAnswers) -> Iterator[Analysis]:
    """Compute Fleiss' kappa, Krippendorff's alpha, categories, Cohen's kappa, F1 of marks."""
    if fields := answers.fields("choice", "number"):
        yield Analysis(
            key="agreement",
            title="Agreement on each field",
            frame=pd.DataFrame([_agreement_on(answers, field) for field in fields]),
            note="Kappa is Fleiss' kappa over items with two or more answers; “of "
            "equal” uses only items with the most common number of answers. Alpha "
            "is Krippendorff's, with a 95 % interval from resampling items. 1 is "
            "full agreement, 0 is chance. Unanimous: share of the items with two "
            "or more answers. Numbers without limits have no kappa; if nearly all "
            "numbers differ, some items are drawn by chance.",
            left_out=("answers", "items", "usual_answers", "items_of_equal"),
        )
    if fields := answers.fields("choices"):
        yield Analysis(
            key="ticks",
            title="Agreement on fields with several categories",
            frame=pd.DataFrame([_of_ticks(field, answers.votes(field)) for field in fields]),
            note="The mean Jaccard index of two answers about an item, which does "
            "not correct for chance.",
        )
    merged = [field for field in answers.task.item_fields if field.is_merged]
    if measured := agreements(answers.table, merged, seed=answers.seed):
        yield Analysis(
            key="marks",
            title="Agreement on marks and transcripts",
            frame=pd.DataFrame(map(asdict, measured)).rename(columns={"value": "agreement"}),
            note=" ".join(("Only items with two or more answers.", *notes_on(measured))),
        )
    fields = answers.fields("choice", "choices")
    if categories := [row for field in fields for row in _of_categories(answers, field)]:
        yield Analysis(
            key="categories",
            title="Agreement on each category",
            frame=pd.DataFrame(categories),
            left_out=("items", "agreement"),
            note="Kappa: on whether the category was chosen. Agreement on and off: "
            "how often other answers about the item agree with an answer that "
            "chooses it, and with one that does not.",
        )
    fields = [field for field in answers.fields("choice", "number") if not is_unlimited(field)]
    if pairs := [row for field in fields for row in _of_pairs(answers, field)]:
        yield Analysis(
            key="pairs_of_workers",
            title="Agreement between pairs of workers",
            frame=pd.DataFrame(pairs).sort_values("items", ascending=False, kind="stable"),
            note=f"Cohen's kappa between the {_BUSIEST} busiest workers, for pairs "
            f"with {_LEAST_SHARED} or more items in common; grades are weighted by "
            "squared distance.",
        )


def _of_ticks(field: Field, votes: pd.DataFrame) -> dict[str, object]:
    overlaps = jaccard(votes)
    return {
        "field": field.name,
        "answers": len(votes),
        "items": votes["item_id"].nunique(),
        "jaccard": float(overlaps["jaccard"].mean()) if len(overlaps) else float("nan"),
    }


def _agreement_on(answers: AnalysedAnswers, field: Field) -> dict[str, object]:
    votes = answers.votes(field)
    row: dict[str, object] = {"field": field.name, "answers": len(votes)}
    if field.kind == "number":
        votes = of_fewer_items(votes, seed=answers.seed)
    level: Level = "nominal"
    if has_grades(field):
        level = "ordinal"
    elif field.kind == "number":
        level = "interval"
    table = vote_table(votes)
    sizes = table.sum(axis=1)
    several = table[sizes > 1]
    usual = int(sizes.mode().max()) if len(sizes) else 0
    order = (
        [option.value for option in field.options] if level == "ordinal" and field.options else None
    )
    alpha = krippendorff_alpha(votes, level=level, seed=answers.seed, order=order)
    is_one = (several > 0).sum(axis=1) == 1
    return row | {
        "items": len(table),
        "compared_as": level,
        "kappa": math.nan if is_unlimited(field) else fleiss_kappa_of_counts(table),
        "usual_answers": usual,
        "items_of_equal": int((sizes == usual).sum()),
        "kappa_of_equal": math.nan
        if is_unlimited(field)
        else fleiss_kappa_of_counts(table[sizes == usual]),
        "unanimous": float(is_one.mean()) if len(several) else float("nan"),
        "alpha": alpha.alpha,
        "alpha_low": alpha.low,
        "alpha_high": alpha.high,
    }


def _of_categories(answers: AnalysedAnswers, field: Field) -> list[dict[str, object]]:
    votes = answers.votes(field)
    if field.kind == "choice":
        votes = votes.assign(value=votes["value"].map(lambda value: (value,)))
    known = list(dict.fromkeys(option.value for option in field.options))
    is_known = [set(ticked) <= set(known) for ticked in votes["value"]]
    table = category_agreement(votes[is_known], known).reset_index()
    return [
        {"field": field.name} | {str(name): row[name] for name in table}
        for row in table.to_dict("records")
    ]


def _of_pairs(answers: AnalysedAnswers, field: Field) -> list[dict[str, object]]:
    valid = votes_that_count(answers.votes(field))
    valid = valid[~valid["worker"].str.startswith(UNNAMED)]
    busiest = valid["worker"].value_counts().head(_BUSIEST).index
    weights: Weights = "none"
    if has_grades(field):
        weights = "quadratic"
        valid = valid.assign(value=valid["value"].astype("float64"))
    pairs = cohen_kappa_of_pairs(
        valid[valid["worker"].isin(busiest)], least_shared=_LEAST_SHARED, weights=weights
    )
    pairs.insert(0, "field", field.name)
    return [{str(name): cell for name, cell in row.items()} for row in pairs.to_dict("records")]


_LEAST_VOTES = 3
"""Mean votes per worker from which errors can be learnt."""

_LARGEST_TABLES = 20_000_000
"""Cells of all workers' tables of errors that fit into memory, about 500 MB."""


def labels(answers: AnalysedAnswers) -> Iterator[Analysis]:
    """Label each single-choice field by majority, weights, Dawid-Skene and ability."""
    fields = answers.fields("choice")
    if rows := [row for field in fields for row in _methods(answers, field)]:
        yield Analysis(
            key="labels",
            title="One label per item",
            frame=pd.DataFrame(rows),
            note="Weighted: a vote's weight is the share of its worker's votes that "
            "agree with the plain majority. Dawid-Skene learns workers' errors, so it "
            f"needs {_LEAST_VOTES} or more votes per worker on average, and few values. Ability: "
            "workers err more or less, and items are harder or easier; `sure` is its "
            "mean probability that a label is right. Right: share of the items with a "
            "known answer; a tie counts as one guess.",
        )


def _methods(answers: AnalysedAnswers, field: Field) -> list[dict[str, object]]:
    votes = votes_that_count(answers.with_mixed_in.votes(field))
    if votes.empty:
        return []
    own = votes_that_count(answers.votes(field))["item_id"].unique()
    expected = {
        str(item.item_id): item.columns[GOLD + field.name]
        for item in answers.items
        if item.columns.get(GOLD + field.name)
    }
    gold = pd.Series(expected, dtype="str")
    plain = majority(votes)
    labels_by_method = {"majority": plain}
    if votes["worker"].value_counts().mean() >= _LEAST_VOTES:
        labels_by_method["weighted majority"] = weighted_majority(votes, _weights(votes, plain))
        if votes["worker"].nunique() * votes["value"].nunique() ** 2 <= _LARGEST_TABLES:
            labels_by_method["Dawid-Skene"] = dawid_skene(votes).labels
    labels_by_method["ability"] = ability(_renamed(votes), values=_values(field)).labels
    return [
        {
            "field": field.name,
            "method": method,
            "items": len(own),
            "ties": int(of_items["value"].isna()[of_items.index.isin(own)].sum()),
            "known": int(of_items.index.isin(gold.index).sum()),
            "right": accuracy(of_items, gold) if len(gold) else float("nan"),
            "sure": of_items["probability"][of_items.index.isin(own)].mean()
            if method == "ability"
            else float("nan"),
        }
        for method, of_items in labels_by_method.items()
    ]


def _values(field: Field) -> tuple[str, ...]:
    """The possible values; empty if an item or a worker defines them."""
    if field.is_open or any(option.column for option in field.options):
        return ()
    return tuple(option.value for option in field.options)


def _renamed(votes: pd.DataFrame) -> pd.DataFrame:
    """Number the workers as they first appear.

    Which votes the models leave out follows the order of names, and each command draws
    other pseudonyms.
    """
    numbers = pd.Series(pd.factorize(votes["worker"])[0], index=votes.index)
    is_unnamed = votes["worker"].str.startswith(UNNAMED)
    return votes.assign(worker=votes["worker"].where(is_unnamed, numbers.map("{:09d}".format)))


def _weights(votes: pd.DataFrame, plain: pd.DataFrame) -> "pd.Series[float]":
    agrees = votes["value"] == votes["item_id"].map(plain["value"])
    return agrees.groupby(votes["worker"]).mean().astype("float64")


_BONFERRONI = "Adjusted: multiplied by the number of tests (Bonferroni)."


def sides(answers: AnalysedAnswers) -> Iterator[Analysis]:
    """Compare two sides by each criterion, and estimate strengths of several."""
    pairs = comparisons(
        answers.table, answers.items, answers.task.item_fields, answers.task.arrangements
    )
    yield from _graded(answers)
    yield from _strengths(pairs)
    if len(by_side := first_side_advantages(pairs)):
        yield Analysis(
            key="sides_of_the_page",
            title="Whether the side shown first wins",
            frame=by_side,
            note="An exact sign test for each criterion; ties do not count, nor do judgements "
            "whose order of sides is not known.",
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
        note = (
            "Bradley-Terry strengths with ties: natural logarithms with mean 0; a side "
            "stronger by 0.69 wins twice as often as it loses."
        )
        try:
            fit, smoothing = finite_strengths(of_criterion)
        except ValueError as fault:
            frame, note = pd.DataFrame(), f"No strengths can be estimated: {fault}."
        else:
            frame = fit.sides.reset_index()
            note += f" {smoothing:g} wins were added to either side of each pair." * bool(smoothing)
        yield Analysis(
            key=f"strengths_{criterion}",
            title=f"Strengths by {criterion}",
            frame=frame,
            note=note,
        )


def conditions(answers: AnalysedAnswers) -> Iterator[Analysis]:
    """Compare ratings by condition, repeated on the same units."""
    for field in answers.rated_fields() if answers.condition else ():
        scores = _scores(answers, field)
        if len(set(scores["condition"])) > 1:
            yield from _means_of_field(answers, field, scores)


_ALIKE = " All units differ by the same, so F is infinite: there is no spread to test against."


def _means_of_field(
    answers: AnalysedAnswers, field: Field, scores: pd.DataFrame
) -> Iterator[Analysis]:
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
        note="Analysis of variance with repeated measures; Greenhouse-Geisser degrees of "
        f"freedom.{_ALIKE * math.isinf(test.f)}",
    )
    yield Analysis(
        key=f"paired_{field.name}",
        title=f"Pairs of {answers.condition} by {field.name}",
        frame=paired_t_tests(scores),
        left_out=("pairs", "sd", "t", "df", "p_value"),
        note=f"Paired t-tests; none if all units differ by the same. {_BONFERRONI}",
    )
    if answers.margin is not None:
        yield Analysis(
            key=f"equivalence_{field.name}",
            title=f"Whether pairs are equivalent within {answers.margin:g}",
            frame=equivalence_tests(scores, margin=answers.margin),
            left_out=("pairs", "p_below", "p_above", "p_value"),
            note=f"Two one-sided tests; none if all units differ by the same. {_BONFERRONI}",
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


_QUESTIONS: tuple[tuple[str, str, Callable[[AnalysedAnswers], Iterator[Analysis]]], ...] = (
    ("agreement", "How far people agree", agreement),
    ("labels", "Labels from all answers", labels),
    ("sides", "Two sides compared", sides),
    ("conditions", "Ratings by condition", conditions),
    ("order", "Effects of the order on the page", order_effects),
)


@dataclass(frozen=True, kw_only=True)
class Analysed:
    """The results, for people and for programs.

    Attributes:
        remarks: how the answers were read, and why there are no results, in sentences.
    """

    page: SectionsPage
    results: tuple[Analysis, ...]
    remarks: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """The rows of each analysis as plain values, by its key; and `remarks`."""
        rows: dict[str, object] = {analysis.key: analysis.rows() for analysis in self.results}
        return rows | {"remarks": [*self.remarks]}


def analyse(source: str, answers: AnalysedAnswers, *, remarks: tuple[str, ...] = ()) -> Analysed:
    """Run every analysis that applies to these answers."""
    table = answers.table
    # Without answers there are no columns of values.
    asked = _QUESTIONS if len(table) else ()
    by_question = [(key, title, [*build(answers)]) for key, title, build in asked]
    if not any(results for _, _, results in by_question):
        remarks = (*remarks, _why_nothing(answers))
    return Analysed(
        page=SectionsPage(
            source=source,
            kicker="Analyses of the answers",
            purpose="Computed from all answers that count; "
            "docs/explanation/analyses.md describes each method and its validation.",
            key_figures=(
                KeyFigure(
                    "Answers",
                    count(len(table)),
                    f"about {plural(table['item_id'].nunique(), 'item')}",
                ),
                KeyFigure(
                    "Workers",
                    count(table["worker"].nunique()),
                    plural(table["assignment_id"].nunique(), "assignment"),
                ),
            ),
            notes=notes_of_remarks(remarks),
            sections=[
                section(key, title, results) for key, title, results in by_question if results
            ],
        ),
        results=tuple(analysis for _, _, results in by_question for analysis in results),
        remarks=remarks,
    )


def _why_nothing(answers: AnalysedAnswers) -> str:
    """Say why no analysis has a result."""
    if answers.table.empty:
        return "No answer counts yet, so there is nothing to analyse."
    fields = ", ".join(f"{field.name} ({field.kind})" for field in answers.task.item_fields)
    return (
        "No analysis has a result: these compare choices and numbers, and marks and transcripts "
        f"if an item has two answers. The fields are {fields}."
    )
