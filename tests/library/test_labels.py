"""Labels and agreement: crowd-kit's columns, and crowd-kit's numbers where it has them.

The expected numbers are those of crowd-kit 1.4.2 on the same votes: `MajorityVote()`,
`DawidSkene(n_iter=1000, tol=1e-12)`, `alpha_krippendorff`.
"""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import date
from typing import Any

import pandas as pd
import pytest

import piecework
from piecework.analyses.agreement import Weights
from tests.for_each import for_each

_ROWS = (
    *(("t1", "w1", "cat"), ("t1", "w2", "cat"), ("t1", "w3", "cat")),
    *(("t2", "w1", "dog"), ("t2", "w2", "dog"), ("t2", "w3", "cat")),
    *(("t3", "w1", "cat"), ("t3", "w2", "dog"), ("t3", "w4", "dog")),
    *(("t4", "w1", "dog"), ("t4", "w3", "cat"), ("t4", "w4", "dog")),
    *(("t5", "w1", "cat"), ("t5", "w2", "cat"), ("t5", "w4", "cat")),
    *(("t6", "w1", "dog"), ("t6", "w3", "cat"), ("t6", "w4", "cat")),
)
VOTES = pd.DataFrame(_ROWS, columns=["task", "worker", "label"])
_TASKS = ["t1", "t2", "t3", "t4", "t5", "t6"]


def _close(values: "pd.Series[float]", expected: list[float]) -> None:
    assert values.tolist() == pytest.approx(expected, abs=1e-6)


def test_majority_is_crowd_kits() -> None:
    """Shares of votes."""
    vote = piecework.majority(VOTES)
    assert vote.probabilities.index.tolist() == _TASKS
    _close(vote.probabilities["cat"], [1, 1 / 3, 1 / 3, 1 / 3, 1, 2 / 3])
    assert vote.labels["label"].tolist() == ["cat", "dog", "dog", "dog", "cat", "cat"]
    _close(vote.labels["probability"], [1, 2 / 3, 2 / 3, 2 / 3, 1, 2 / 3])


def test_dawid_skene_is_crowd_kits() -> None:
    """Probabilities of labels, and errors of workers."""
    estimate = piecework.dawid_skene(VOTES)
    _close(estimate.probabilities["cat"], [1, 0, 0, 0, 1, 0.8096004293])
    errors = estimate.errors.set_index(["worker", "truth", "label"])["probability"]
    assert errors["w1", "cat", "cat"] == pytest.approx(0.7118449937, abs=1e-6)
    assert errors["w1", "dog", "cat"] == pytest.approx(0.3134403632, abs=1e-6)
    assert errors["w4", "dog", "dog"] == pytest.approx(0.9130754164, abs=1e-6)
    assert errors["w3", "dog", "cat"] == pytest.approx(1, abs=1e-6)


def test_alpha_is_crowd_kits() -> None:
    """Of nominal labels, with gaps."""
    agreement = piecework.krippendorff_alpha(VOTES)
    assert agreement.alpha == pytest.approx(0.11688311688311692)
    assert (agreement.items, agreement.ratings) == (6, 18)


def test_ability_doubts_and_trusts_whom_it_should() -> None:
    """w3 always says cat: their votes for it weigh little."""
    skill = piecework.ability(VOTES)
    assert skill.labels["label"].tolist() == ["cat", "dog", "dog", "dog", "cat", "cat"]
    assert skill.workers["accuracy"].idxmin() == "w3"
    assert skill.workers["votes"].to_dict() == {"w1": 6, "w2": 4, "w3": 4, "w4": 4}
    _close(skill.probabilities.sum(axis=1), [1] * 6)
    assert skill.models.sum() == pytest.approx(1)


def test_a_tie_has_leaders_and_no_label() -> None:
    """It is for the caller to say what follows."""
    tied = pd.DataFrame({"task": [7, 7], "worker": ["a", "b"], "label": [0, 1]})
    labels = piecework.majority(tied).labels
    assert labels.index.tolist() == [7]
    assert labels["label"].isna().all()
    assert labels.loc[7, "leaders"] == (0, 1)


def test_kappa_of_pairs_speaks_of_tasks() -> None:
    """w1 and w2 share t1, t2, t3 and t5, and differ on t3.

    w1 says cat in 3 of 4, w2 in 2: chance is 3/4*1/2 + 1/4*1/2 = 1/2, so kappa is
    (3/4 - 1/2) / (1/2).
    """
    kappas = piecework.cohen_kappa(VOTES).set_index(["first", "second"])
    assert kappas.loc[("w1", "w2"), "tasks"] == 4
    assert kappas.loc[("w1", "w2"), "kappa"] == pytest.approx(0.5)


_MODELS = (
    *(piecework.majority, piecework.dawid_skene, piecework.ability),
    *(piecework.krippendorff_alpha, piecework.fleiss_kappa, piecework.cohen_kappa),
)


def _same(outcome: object, expected: object) -> None:
    if isinstance(expected, pd.DataFrame):
        assert isinstance(outcome, pd.DataFrame)
        pd.testing.assert_frame_equal(outcome, expected)
    elif isinstance(expected, pd.Series):
        assert isinstance(outcome, pd.Series)
        pd.testing.assert_series_equal(outcome, expected)
    elif is_dataclass(expected):
        for each in fields(expected):
            _same(getattr(outcome, each.name), getattr(expected, each.name))
    else:
        assert outcome == expected


@for_each("model", _MODELS)
def test_categories_are_counted_as_their_values_are(model: Callable[..., Any]) -> None:
    """In whatever order a column has them, and with some that nobody chose."""
    categories = {
        "task": ["t6", "t1", "t5", "t2", "t4", "t3"],
        "worker": ["w4", "w2", "w9", "w3", "w1"],
        "label": ["dog", "owl", "cat"],
    }
    typed = VOTES.astype({name: pd.CategoricalDtype(order) for name, order in categories.items()})
    _same(model(typed), model(VOTES))


@for_each("weights", ["none", "linear", "quadratic"])
def test_kappa_of_categories_has_their_costs(weights: Weights) -> None:
    """The raters use other grades, and their order is not that of the numbers."""
    grades = pd.DataFrame(
        {
            "task": ["a", "b", "c", "d"] * 2,
            "worker": ["v"] * 4 + ["w"] * 4,
            "label": [1, 2, 3, 3, 2, 2, 10, 3],
        }
    )
    typed = grades.astype({"label": pd.CategoricalDtype([10, 3, 1, 2])})
    _same(
        piecework.cohen_kappa(typed, weights=weights),
        piecework.cohen_kappa(grades, weights=weights),
    )


@for_each("model", _MODELS)
def test_a_worker_may_be_missing_in_a_column_of_any_dtype(model: Callable[..., Any]) -> None:
    """Of numbers, of numbers with a mask, and of categories."""
    numbers = VOTES["worker"].str.removeprefix("w").astype("int64").astype("object")
    votes = VOTES.assign(worker=numbers.where(VOTES.index != 4, None))
    for dtype in ("Int64", "category"):
        _same(model(votes.astype({"worker": dtype})), model(votes))


def test_labels_of_several_types_are_counted_or_refused_in_a_sentence() -> None:
    """Numbers and words have an order; dates, numbers and words have none."""
    mixed = VOTES.assign(label=VOTES["label"].replace({"cat": 1}).astype("object"))
    _same(piecework.cohen_kappa(mixed), piecework.cohen_kappa(VOTES))
    dated = mixed.assign(label=mixed["label"].where(mixed.index != 0, date(2020, 1, 1)))
    for model in _MODELS:
        with pytest.raises(piecework.ConfigError, match="votes: the values of column 'label'"):
            model(dated)
    with pytest.raises(piecework.ConfigError, match="weighted kappa needs numbers"):
        piecework.cohen_kappa(mixed, weights="linear")


def test_votes_with_two_columns_of_a_name_are_refused() -> None:
    """Either could be meant."""
    twice = VOTES.set_axis(["task", "label", "label"], axis="columns")
    with pytest.raises(piecework.ConfigError, match="votes: two columns have the name 'label'"):
        piecework.majority(twice.assign(worker="w"))


@pytest.mark.parametrize(
    ("votes", "sentence"),
    [
        ([1, 2], "votes: is a list, but must be a pandas DataFrame"),
        (VOTES.drop(columns="worker"), "votes: has no column 'worker'; needed are"),
        (
            VOTES.assign(label=pd.Series([["cat"]] * 18, dtype="object")),
            "but must be one value, not several",
        ),
        (VOTES.iloc[:0], "votes: there are no votes to learn from"),
    ],
)
def test_votes_that_are_none_are_refused_in_a_sentence(votes: pd.DataFrame, sentence: str) -> None:
    """The argument, what was found, and what is allowed."""
    with pytest.raises(piecework.ConfigError) as fault:
        piecework.ability(votes)
    assert sentence in fault.value.faults[0]


def test_a_level_that_labels_do_not_have_is_refused() -> None:
    """Words have no distance."""
    with pytest.raises(piecework.ConfigError, match=r"votes: interval .* numbers"):
        piecework.krippendorff_alpha(VOTES, level="interval")
    with pytest.raises(piecework.ConfigError, match="votes: weighted kappa needs"):
        piecework.cohen_kappa(VOTES, weights="linear")
