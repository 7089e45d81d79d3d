"""Laws of models whose labels join those of people."""

import numpy as np
import pandas as pd

from piecework.analyses.answers_needed import weighed
from piecework.analyses.labels_from_votes import Ability, ability
from piecework.analyses.machine_labels import Regression, predictors
from piecework.analyses.votes import accuracy
from piecework.domain.campaign import AsNeeded
from tests.analyses.test_labels_from_votes import crowd

VALUES = ("0", "1")


def model(truth: "pd.Series[str]", share: float, *, seed: int, name: str = "m") -> pd.DataFrame:
    """The labels of a model that is right about this share of the items."""
    is_right = np.random.default_rng(seed).random(len(truth)) < share
    others = truth.map({"0": "1", "1": "0"})
    return pd.DataFrame(
        {
            "model": name,
            "item_id": truth.index,
            "value": truth.where(is_right, others).to_numpy(),
            "probability": float("nan"),
        }
    )


def right(fit: Ability, truth: "pd.Series[str]") -> float:
    """How many of the labels are right."""
    return accuracy(fit.labels, truth)


def test_a_model_that_is_often_right_makes_labels_better() -> None:
    """And a model at chance, or a crowd without a model, changes nearly nothing."""
    votes, truth = crowd(each=3, seed=7)
    alone = right(ability(votes, values=VALUES), truth)
    good = ability(votes, values=VALUES, machine=model(truth, 0.85, seed=1))
    chance = ability(votes, values=VALUES, machine=model(truth, 0.5, seed=1))
    assert right(good, truth) > alone + 0.02
    assert abs(right(chance, truth) - alone) < 0.02


def test_a_model_that_is_usually_wrong_does_no_harm() -> None:
    """People's votes show that it says the opposite."""
    votes, truth = crowd(each=3, seed=7)
    wrong = ability(votes, values=VALUES, machine=model(truth, 0.15, seed=1))
    assert right(wrong, truth) >= right(ability(votes, values=VALUES), truth)


def test_a_copy_of_a_model_does_not_count_twice() -> None:
    """Models that share all errors share their weight."""
    votes, truth = crowd(each=3, seed=7)
    single = model(truth, 0.8, seed=1)
    copies = pd.concat([single, single.assign(model="copy")])
    by_single = ability(votes, values=VALUES, machine=single).probabilities
    by_both = ability(votes, values=VALUES, machine=copies).probabilities
    assert (by_single - by_both).abs().to_numpy().max() < 0.05


def test_with_few_items_a_model_counts_for_little() -> None:
    """Six items teach less about a model than the votes say about the items."""
    votes, truth = crowd(each=3, seed=7)
    few = votes[votes["item_id"].isin(truth.index[:6])]
    alone = ability(few, values=VALUES).probabilities
    machine = model(truth, 1.0, seed=1)
    moved = ability(few, values=VALUES, machine=machine).probabilities
    assert (moved - alone).abs().to_numpy().max() < 0.25


def test_an_item_without_a_vote_has_no_label() -> None:
    """Whatever the model says about it."""
    votes, truth = crowd(each=3, seed=7)
    some = votes[votes["item_id"] != truth.index[0]]
    fit = ability(some, values=VALUES, machine=model(truth, 1.0, seed=1))
    assert truth.index[0] not in fit.labels.index


def test_a_good_model_leaves_fewer_items_unsure() -> None:
    """People are asked again about fewer items."""
    votes, truth = crowd(each=2, seed=7)
    answers = votes.groupby("item_id").size()
    rule, field = AsNeeded(most=5, until=0.9), (votes, VALUES)
    people = weighed([field], answers, rule)["wanted"].sum()
    machine = [model(truth, 0.9, seed=1)]
    assert weighed([field], answers, rule, machine)["wanted"].sum() < people


def test_what_a_model_lacks_or_always_says_has_no_weight() -> None:
    """A constant model, an unknown item and an unknown value give zeros."""
    labels = pd.DataFrame(
        {
            "model": "m",
            "item_id": ["a", "b", "z", "c"],
            "value": ["0", "0", "0", "?"],
            "probability": [0.9, 0.9, 0.9, 0.9],
        }
    )
    assert not predictors(labels, ["a", "b", "c"], VALUES).any()


def test_items_with_the_same_outputs_are_fitted_as_if_each_were_alone() -> None:
    """A tiny output that differs for each item changes nothing but that they are different."""
    draw = np.random.default_rng(1)
    outputs = draw.choice([-0.5, 0.5], (200, 3))
    truths, prior = draw.dirichlet((1, 1), 200), np.array([0.3, 0.7])
    together = Regression(outputs, 2)
    apart = Regression(outputs + draw.normal(0, 1e-9, outputs.shape), 2)
    assert together.different.shape[1] <= 8 < apart.different.shape[1]
    for regression in (together, apart):
        regression.improve(truths, prior)
    assert np.allclose(together.log_priors(prior), apart.log_priors(prior), rtol=0, atol=1e-6)
    assert np.allclose(np.exp(together.log_priors(prior)).sum(axis=1), 1.0)
