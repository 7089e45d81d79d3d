"""How far people agree, and one label per item.

Agreement is on each field, on each category, and in pairs. Labels come by four methods,
compared with known answers if there are any.
"""

from collections.abc import Iterator

import pandas as pd

from piecework.analyses.alpha import Level, krippendorff_alpha
from piecework.analyses.dawid_skene import dawid_skene
from piecework.analyses.kappa import (
    Weights,
    category_agreement,
    cohen_kappa_of_pairs,
    fleiss_kappa,
    fleiss_kappa_of_counts,
    jaccard,
)
from piecework.analyses.labels_from_votes import ability
from piecework.analyses.votes import (
    accuracy,
    majority,
    vote_table,
    votes_that_count,
    weighted_majority,
)
from piecework.domain.field import Field
from piecework.domain.imported import UNNAMED
from piecework.domain.task import GOLD
from piecework.report.analysis.answers import AnalysedAnswers, Analysis, has_grades

_BUSIEST = 30
_LEAST_SHARED = 10


def agreement(answers: AnalysedAnswers) -> Iterator[Analysis]:
    """Compute Fleiss' kappa, Krippendorff's alpha, categories, Cohen's kappa."""
    if fields := answers.fields("choice", "number"):
        yield Analysis(
            key="agreement",
            title="Agreement on each field",
            frame=pd.DataFrame([_of_field(answers, field) for field in fields]),
            note="Kappa is Fleiss' kappa over items with two or more answers; “of "
            "equal” uses only items with the most common number of answers. Alpha "
            "is Krippendorff's, with a 95 % interval from resampling items. 1 is "
            "full agreement, 0 is chance. Unanimous: share of the items with two "
            "or more answers.",
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
    fields = answers.fields("choice", "number")
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


_LEAST_VOTES = 3
"""Mean votes per worker from which errors can be learnt."""


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
            f"needs {_LEAST_VOTES} or more votes per worker on average. Ability: "
            "workers err more or less, and items are harder or easier; `sure` is its "
            "mean probability that a label is right. Right: share of the items with a "
            "known answer; a tie counts as one guess.",
        )


def _methods(answers: AnalysedAnswers, field: Field) -> list[dict[str, object]]:
    votes = votes_that_count(answers.votes(field))
    if votes.empty:
        return []
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
        labels_by_method["Dawid-Skene"] = dawid_skene(votes).labels
    labels_by_method["ability"] = ability(votes, values=_values(field)).labels
    return [
        {
            "field": field.name,
            "method": method,
            "items": len(of_items),
            "ties": int(of_items["value"].isna().sum()),
            "known": int(of_items.index.isin(gold.index).sum()),
            "right": accuracy(of_items, gold) if len(gold) else float("nan"),
            "sure": of_items["probability"].mean() if method == "ability" else float("nan"),
        }
        for method, of_items in labels_by_method.items()
    ]


def _values(field: Field) -> tuple[str, ...]:
    """The possible values; empty if an item or a worker defines them."""
    if field.is_open or any(option.column for option in field.options):
        return ()
    return tuple(option.value for option in field.options)


def _weights(votes: pd.DataFrame, plain: pd.DataFrame) -> "pd.Series[float]":
    agrees = votes["value"] == votes["item_id"].map(plain["value"])
    return agrees.groupby(votes["worker"]).mean().astype("float64")
