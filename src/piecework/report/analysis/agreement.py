"""How far people agree: on each field, on each category, and in pairs."""

import pandas as pd

from piecework.analyses.alpha import Level, krippendorff_alpha
from piecework.analyses.kappa import (
    Weights,
    category_agreement,
    cohen_kappa_of_pairs,
    fleiss_kappa,
    fleiss_kappa_of_counts,
    jaccard,
)
from piecework.analyses.votes import vote_table, votes_that_count
from piecework.domain.imported import UNNAMED
from piecework.domain.task import Field
from piecework.report.analysis.answers import AnalysedAnswers, has_grades
from piecework.report.analysis.result import Analysis

_BUSIEST = 30
_LEAST_SHARED = 10


def agreement(answers: AnalysedAnswers) -> list[Analysis]:
    """Compute Fleiss' kappa, Krippendorff's alpha, categories, Cohen's kappa."""
    analyses = _of_fields(answers)
    categories = [
        row
        for field in answers.fields("choice", "choices")
        for row in _of_categories(answers, field)
    ]
    if categories:
        analyses.append(
            Analysis(
                key="categories",
                title="Agreement on each category",
                frame=pd.DataFrame(categories),
                left_out=("items", "agreement"),
                note="Kappa: on whether the category was chosen. Agreement on and off: "
                "how often other answers about the item agree with an answer that "
                "chooses it, and with one that does not.",
            )
        )
    pairs = [
        row for field in answers.fields("choice", "number") for row in _of_pairs(answers, field)
    ]
    if pairs:
        frame = pd.DataFrame(pairs).sort_values("items", ascending=False, kind="stable")
        analyses.append(
            Analysis(
                key="pairs_of_workers",
                title="Agreement between pairs of workers",
                frame=frame,
                note=f"Cohen's kappa between the {_BUSIEST} busiest workers, for pairs "
                f"with {_LEAST_SHARED} or more items in common; grades are weighted by "
                "squared distance.",
            )
        )
    return analyses


def _of_fields(answers: AnalysedAnswers) -> list[Analysis]:
    single = [_of_field(answers, field) for field in answers.fields("choice", "number")]
    several = [_of_ticks(answers, field) for field in answers.fields("choices")]
    analyses = []
    if single:
        analyses.append(
            Analysis(
                key="agreement",
                title="Agreement on each field",
                frame=pd.DataFrame(single),
                note="Kappa is Fleiss' kappa over items with two or more answers; “of "
                "equal” uses only items with the most common number of answers. Alpha "
                "is Krippendorff's, with a 95 % interval from resampling items. 1 is "
                "full agreement, 0 is chance. Unanimous: share of the items with two "
                "or more answers.",
                left_out=("answers", "items", "usual_answers", "items_of_equal"),
            )
        )
    if several:
        analyses.append(
            Analysis(
                key="ticks",
                title="Agreement on fields with several categories",
                frame=pd.DataFrame(several),
                note="The mean Jaccard index of two answers about an item, which does "
                "not correct for chance.",
            )
        )
    return analyses


def _of_ticks(answers: AnalysedAnswers, field: Field) -> dict[str, object]:
    votes = answers.votes(field)
    overlaps = jaccard(votes)
    mean = float(overlaps["jaccard"].mean()) if len(overlaps) else float("nan")
    return {
        "field": field.name,
        "answers": len(votes),
        "items": votes["item_id"].nunique(),
        "jaccard": mean,
    }


def _of_field(answers: AnalysedAnswers, field: Field) -> dict[str, object]:
    votes = answers.votes(field)
    row: dict[str, object] = {"field": field.name, "answers": len(votes)}
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
        "kappa": fleiss_kappa(votes),
        "usual_answers": usual,
        "items_of_equal": int((sizes == usual).sum()),
        "kappa_of_equal": fleiss_kappa_of_counts(table[sizes == usual]),
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
