"""Laws of labels and workers judged together."""

import math
import random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.analyses.dawid_skene import _Fit, dawid_skene
from piecework.analyses.votes import accuracy, majority
from tests.analyses.ballots import ballots, votes_of, votes_on
from tests.examples import examples


def slowly(
    votes: pd.DataFrame, *, rounds: int, smoothing: float
) -> tuple[dict[tuple[str, str], float], float]:
    """The paper's equations in loops over names: truths, and log-likelihood."""
    rows = list(votes.itertuples(index=False, name=None))
    items = sorted({i for i, _, _ in rows})
    workers = sorted({w for _, w, _ in rows})
    values = sorted({v for _, _, v in rows})
    truth = {}
    for i in items:
        votes_on_item = [v for item, _, v in rows if item == i]
        truth.update({(i, v): votes_on_item.count(v) / len(votes_on_item) for v in values})
    log_likelihood = 0.0
    for _ in range(rounds):
        prior = {v: sum(truth[i, v] for i in items) / len(items) for v in values}
        errors = {}
        for w in workers:
            for t in values:
                cells = {
                    v: smoothing
                    + sum(truth[i, t] for i, who, what in rows if (who, what) == (w, v))
                    for v in values
                }
                total = sum(cells.values())
                for v in values:
                    errors[w, t, v] = cells[v] / total if total else 0.0
        log_likelihood = 0.0
        for i in items:
            joint = {
                t: prior[t] * math.prod(errors[w, t, v] for item, w, v in rows if item == i)
                for t in values
            }
            total = sum(joint.values())
            log_likelihood += math.log(total)
            truth.update({(i, t): joint[t] / total for t in values})
    return truth, log_likelihood


@examples(25)
@given(ballots(), st.integers(1, 4), st.sampled_from([0.0, 0.1]))
def test_the_estimates_are_those_of_the_paper_s_equations(
    votes: pd.DataFrame, rounds: int, smoothing: float
) -> None:
    """Arrays and loops reach the same truths and the same likelihood, by rounds."""
    fit = dawid_skene(votes, smoothing=smoothing, most_iterations=rounds, tolerance=0)
    truth, likelihood = slowly(votes, rounds=fit.iterations, smoothing=smoothing)
    assert fit.log_likelihood == pytest.approx(likelihood, abs=1e-9)
    # By item, then by value.
    probabilities = fit.probabilities.to_numpy().ravel().tolist()
    assert probabilities == pytest.approx([truth[cell] for cell in sorted(truth)], abs=1e-9)


@examples(25)
@given(ballots())
def test_every_round_makes_the_votes_likelier(votes: pd.DataFrame) -> None:
    """Expectation and maximisation never lose likelihood (the theorem behind EM)."""
    places = [pd.factorize(votes[name])[0] for name in ("item_id", "worker", "value")]
    fit = _Fit(places[0], places[1], places[2], smoothing=0)
    fit.run(most_iterations=8, tolerance=0)
    assert (np.diff(fit.log_likelihoods) > -1e-9).all()


@examples(25)
@given(ballots())
def test_probabilities_add_up(votes: pd.DataFrame) -> None:
    """Truths of an item, the prior, and what a worker says of a truth he has met."""
    fit = dawid_skene(votes)
    assert fit.probabilities.sum(axis=1).to_numpy() == pytest.approx(1.0)
    assert fit.prior.sum() == pytest.approx(1.0)
    rows = fit.confusions.groupby(["worker", "truth"])["probability"]
    assert rows.sum(min_count=1).dropna().to_numpy() == pytest.approx(1.0)


def test_one_rater_is_believed() -> None:
    """There is nobody to disagree with."""
    fit = dawid_skene(votes_on("a", "b", "a"))
    assert fit.labels["value"].tolist() == ["a", "b", "a"]
    assert fit.prior.to_dict() == pytest.approx({"a": 2 / 3, "b": 1 / 3})


def test_a_constant_is_certain() -> None:
    """One value only: probability 1, likelihood 1."""
    fit = dawid_skene(votes_on("aa", "aaa"))
    assert fit.labels["probability"].tolist() == [1.0, 1.0]
    assert fit.log_likelihood == pytest.approx(0.0)


def test_two_who_contradict_each_other_everywhere_are_a_tie() -> None:
    """Nothing tells who is right, so both values lead."""
    fit = dawid_skene(votes_on("ab", "ab"))
    assert fit.labels["leaders"].tolist() == [("a", "b"), ("a", "b")]
    assert fit.labels["value"].isna().all()


def test_two_careful_people_outvote_five_who_guess() -> None:
    """300 items: the guessers win single votes, but their tables show them up."""
    chance = random.Random(4)  # noqa: S311 - a repeatable draw
    truth = {f"i{place:03}": chance.choice("ab") for place in range(300)}
    other = {"a": "b", "b": "a"}
    rows = []
    for item, value in truth.items():
        for careful in ("c0", "c1"):
            vote = value if chance.uniform(0, 1) < 0.95 else other[value]
            rows.append((item, careful, vote))
        rows += [(item, f"g{place}", chance.choice("ab")) for place in range(5)]
    votes, gold = votes_of(*rows), pd.Series(truth)
    learnt = accuracy(dawid_skene(votes).labels, gold)
    assert learnt > 0.9
    assert accuracy(majority(votes), gold) < 0.85


def test_no_votes_and_senseless_settings_are_refused() -> None:
    """Nothing can be learnt from nothing."""
    with pytest.raises(ValueError, match="no votes"):
        dawid_skene(votes_of())
    with pytest.raises(ValueError, match="smoothing"):
        dawid_skene(votes_on("ab"), smoothing=-1)
