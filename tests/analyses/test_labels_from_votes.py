"""Laws of labels whose probabilities can be believed."""

from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.analyses import item_response
from piecework.analyses.item_response import Abilities
from piecework.analyses.labels_from_votes import SHARED_ERROR, _ballots, ability
from piecework.analyses.votes import accuracy, majority
from piecework.domain.imported import UNNAMED
from tests.analyses import published
from tests.analyses.ballots import ballots, seldom_seen, votes_on
from tests.conftest import in_full
from tests.examples import examples

ITEMS, WORKERS = 400, 40


def crowd(*, each: int, seed: int, kinds: int = 2) -> tuple[pd.DataFrame, "pd.Series[str]"]:
    """Votes on many items by workers of known ability, and what was true.

    The first three workers say "0" whatever they see.
    """
    draw = np.random.default_rng(seed)
    names = np.array([str(value) for value in range(kinds)])
    truth = draw.integers(0, kinds, ITEMS)
    skill = draw.normal(1.5, 0.8, WORKERS)
    hard = draw.normal(0.0, 0.7, ITEMS)
    rows = []
    for item in range(ITEMS):
        for worker in draw.choice(WORKERS, each, replace=False):
            is_right = draw.random() < 1 / (1 + np.exp(hard[item] - skill[worker]))
            wrong = (truth[item] + draw.integers(1, kinds)) % kinds
            choice = truth[item] if is_right else wrong
            rows.append((f"i{item}", f"w{worker}", "0" if worker < 3 else names[choice]))
    known = pd.Series(names[truth], index=[f"i{item}" for item in range(ITEMS)])
    return pd.DataFrame(rows, columns=["item_id", "worker", "value"]), known


def gap(probabilities: pd.DataFrame, truth: "pd.Series[str]") -> float:
    """How far probabilities lie from shares of right labels, on average (ECE)."""
    is_right = probabilities.idxmax(axis=1) == truth.reindex(probabilities.index)
    sure = probabilities.max(axis=1)
    table = pd.DataFrame({"sure": sure, "right": is_right.astype("float64")})
    tenths = table.groupby(np.ceil(sure * 10))
    sizes, means = tenths.size() / len(sure), tenths.mean()
    return float((sizes * (means["sure"] - means["right"]).abs()).sum())


@pytest.mark.parametrize(("each", "kinds"), [(3, 2), (5, 2), (5, 4)])
def test_a_probability_is_how_often_the_label_is_right(each: int, kinds: int) -> None:
    """A little less, since errors are thought alike; and labels are better than the majority's."""
    votes, truth = crowd(each=each, seed=7, kinds=kinds)
    fit = ability(votes, shared_error=0.0)
    assert gap(fit.probabilities, truth) < 0.08
    is_right = fit.probabilities.idxmax(axis=1) == truth.reindex(fit.probabilities.index)
    assert fit.probabilities.max(axis=1).mean() < is_right.mean()
    assert accuracy(fit.labels, truth) > accuracy(majority(votes), truth)
    # Who says the same whatever there is to see is as good as guessing.
    accuracies = fit.workers["accuracy"]
    assert accuracies[["w0", "w1", "w2"]].max() < accuracies.median() - 0.1


def test_where_items_mislead_many_votes_make_a_label_less_sure() -> None:
    """Ten votes for, two against: on each item, workers err by chance, or as its others do."""

    def sure(*, is_alike: bool) -> float:
        draw = np.random.default_rng(3)
        lures = draw.beta(0.4, 1.6, ITEMS) if is_alike else np.full(ITEMS, 0.2)
        is_wrong = draw.random((ITEMS, 10)) < lures[:, None]
        is_wrong[:20] = [False] * 8 + [True] * 2
        values = np.where(is_wrong, "b", "a")
        values[1::2] = np.where(is_wrong[1::2], "a", "b")
        fit = ability(votes_on(*("".join(row) for row in values)), values=("a", "b"))
        return float(fit.labels["probability"].iloc[:20].mean())

    assert sure(is_alike=True) < sure(is_alike=False) - 0.02


def test_what_no_vote_can_show_is_taken_off() -> None:
    """However many agree: a share of labels is the whole crowd's error."""
    votes = votes_on("a" * 30, "b" * 30, "a" * 30)
    fit = ability(votes, values=("a", "b"))
    assert fit.labels["probability"].max() <= 1 - SHARED_ERROR
    assert fit.labels["probability"].min() > 0.9
    assert np.allclose(fit.probabilities.sum(axis=1), 1.0)


def test_one_vote_is_believed_as_far_as_an_ordinary_worker() -> None:
    """Neither sure nor a tie; and what was never said has a probability too."""
    fit = ability(votes_on("a"), values=("a", "b", "c"))
    assert fit.labels["value"].tolist() == ["a"]
    assert 0.4 < fit.labels["probability"].iloc[0] < 0.9
    assert fit.probabilities.loc[:, ["b", "c"]].gt(0).all(axis=None)


def test_two_who_contradict_each_other_are_a_tie() -> None:
    """It has leaders and no value."""
    fit = ability(votes_on("ab", "ba"))
    assert fit.labels["value"].isna().all()
    assert set(fit.labels["leaders"]) == {("a", "b")}


def test_workers_who_are_not_known_are_ordinary() -> None:
    """Votes without names make labels, and nobody is learnt of."""
    votes, truth = crowd(each=5, seed=3)
    fit = ability(votes.assign(worker=None), values=("0", "1"))
    assert fit.workers.empty
    assert accuracy(fit.labels, truth) == pytest.approx(accuracy(majority(votes), truth), abs=0.02)


def test_unnamed_people_with_a_vote_each_are_ordinary() -> None:
    """As if nothing were known of them; with two votes somebody can be learnt of."""
    votes, _ = crowd(each=5, seed=3)
    each = votes.assign(worker=[f"{UNNAMED}{number}" for number in range(len(votes))])
    fit = ability(each, values=("0", "1"))
    assert fit.workers.empty
    pd.testing.assert_frame_equal(
        fit.labels, ability(votes.assign(worker=None), values=("0", "1")).labels
    )
    each["worker"] = UNNAMED + votes["worker"]
    assert len(ability(each, values=("0", "1")).workers) == WORKERS


def rare_label_votes() -> tuple[pd.DataFrame, "pd.Series[bool]"]:
    """Five votes of unnamed workers on each of 2,000 items, of which a tenth is rare.

    Three of four see what is rare, and three of a hundred see it where it is not.
    """
    draw = np.random.default_rng(0)
    is_rare = draw.random(2000) < 0.1
    says = draw.random((2000, 5)) < np.where(is_rare, 0.75, 0.03)[:, None]
    votes = votes_on(*("".join("ry"[int(not is_yes)] for is_yes in row) for row in says))
    index = [f"item-{place}" for place in range(2000)]
    return votes.assign(worker=None), pd.Series(is_rare, index=index)


def test_a_rare_value_on_which_most_agree_is_believed() -> None:
    """Where hardly anybody says it of other items, three of five are nearly sure."""
    votes, is_rare = rare_label_votes()
    probabilities = ability(votes, shared_error=0.0).probabilities
    n_rare = (votes["value"] == "r").groupby(votes["item_id"]).sum()
    assert is_rare.groupby(n_rare).mean().loc[3:].min() > 0.95
    assert probabilities["r"].groupby(n_rare).mean().loc[3:].min() > 0.85
    assert gap(probabilities, is_rare.map({True: "r", False: "y"})) < 0.02


VIZWIZ = (630, 165, 57, 35, 29, 21)
"""Photographs by how many of five people called them unrecognisable, as they fell among
23,431 (T.-Y. Chiu and others, CVPR 2020), a twenty-fifth of each."""


def test_disagreement_about_others_speaks_little_against_a_rare_value() -> None:
    """Four or five of five unnamed workers are believed; three of five are not sure.

    All 23,431 photographs give 0.95, 0.92 and 0.77
    (docs/internals/measurements/published-figures.md).
    """
    rare_counts = [count for count, items in enumerate(VIZWIZ) for _ in range(items)]
    votes = votes_on(*("r" * count + "y" * (5 - count) for count in rare_counts))
    probability = ability(votes.assign(worker=None)).probabilities["r"]
    counts = (votes["value"] == "r").groupby(votes["item_id"]).sum()
    means = probability.groupby(counts).mean()
    assert means[5] > 0.94
    assert means[4] > 0.85
    assert 0.5 < means[3] < 0.85


@pytest.mark.parametrize("seeds", [range(1), *in_full(range(6))], ids=str)
def test_a_value_that_most_workers_overlook_does_not_cost_labels(seeds: range) -> None:
    """Labels are right as often as the majority's, and each was given by a worker.

    Over crowds: in each of them, luck alone puts one or the other ahead by two in a hundred.
    """
    gains, seen = [], []
    for seed in seeds:
        votes, truth = seldom_seen(seed)
        labels, plain = ability(votes).labels, majority(votes)
        gains.append(accuracy(labels, truth) - accuracy(plain, truth))
        values_of = votes.groupby("item_id")["value"].agg(set).to_dict()
        named = labels["value"].dropna()
        assert all(value in values_of[item_id] for item_id, value in named.items())
        is_rare = truth == "r"
        seen.append([(each["value"][is_rare] == "r").mean() for each in (labels, plain)])
    assert np.mean(gains) > -0.01
    # The overlooked value is not lost: each worker who says it is believed more.
    ours, of_majority = np.mean(seen, axis=0)
    assert ours > of_majority


def test_errors_that_the_whole_crowd_makes_are_learnt() -> None:
    """Most call b a c and nobody calls c a b, so one b of five votes is believed."""
    draw = np.random.default_rng(4)
    chances = {"a": (0.8, 0.1, 0.1), "b": (0.05, 0.4, 0.55), "c": (0.05, 0.02, 0.93)}
    truths = draw.choice([*"abc"], 1500, p=[0.4, 0.2, 0.4])
    rows = [
        (f"item-{place}", f"worker-{worker}", draw.choice([*"abc"], p=chances[truth]))
        for place, truth in enumerate(truths)
        for worker in draw.choice(60, 5, replace=False)
    ]
    votes = pd.DataFrame(rows, columns=["item_id", "worker", "value"])
    truth = pd.Series(truths, index=[f"item-{place}" for place in range(1500)])
    labels = ability(votes).labels
    assert accuracy(labels, truth) > accuracy(majority(votes), truth) + 0.01
    is_b, plain = truth == "b", majority(votes)["value"]
    seen = (labels["value"][is_b] == "b").mean()
    assert seen > (plain[is_b] == "b").mean() + 0.05


def test_a_value_that_no_worker_gave_stays_below_those_that_a_worker_did() -> None:
    """Also where that vote says little: a worker says "a" of all, the others nearly always "b"."""
    rows = [
        (f"i{item}", f"w{worker}", "a" if worker == 0 else "b")
        for item in range(40)
        for worker in range(5)
    ]
    votes = pd.DataFrame(rows, columns=["item_id", "worker", "value"])
    votes = votes[(votes["item_id"] != "i0") | (votes["worker"] == "w0")]
    fit = ability(votes, values=("a", "b", "c"))
    assert fit.labels.loc["i0", "leaders"] == ("a",)
    # The others' bent still counts.
    assert 0.2 < float(fit.probabilities["b"]["i0"]) < float(fit.probabilities["a"]["i0"])
    assert set(fit.labels["value"].drop("i0")) == {"b"}


def slowly(fit: Abilities, place: int, truth: int) -> list[float]:
    """By state of the truth, how probable the item's votes and it are, in loops over votes."""
    kinds, (nodes, weights) = fit.ballots.kinds, np.polynomial.hermite_e.hermegauss(3)
    lures = [k for k in range(kinds) if k != truth] if fit.has_lures else [truth]
    votes = np.flatnonzero(fit.ballots.items == place)
    joint = []
    for lured in lures:
        for node, weight in zip(nodes, weights, strict=True):
            chance = weight / weights.sum() / len(lures)
            for vote in votes:
                odds = odds_of(fit, fit.ballots.workers[vote], truth, lured, node)
                chance *= odds[fit.ballots.values[vote]] / odds.sum()
            joint.append(chance)
    return joint


def odds_of(
    fit: Abilities, worker: int, truth: int, lured: int, node: float
) -> "np.typing.NDArray[np.float64]":
    """Of each value, as the module's first lines say."""
    odds = fit.biases[worker].copy()
    odds[truth] += fit.abilities[worker]
    odds[lured] += fit.difficulty * (node if fit.has_lures else -node)
    return np.asarray(np.exp(odds))


@pytest.mark.parametrize("kinds", [2, 3, 7])
def test_the_evidence_is_that_of_the_model_s_formula(kinds: int) -> None:
    """Arrays by state and loops over votes agree; so do chances of votes that were left out."""
    names = pd.Index([f"{kind}" for kind in range(kinds)])
    voted, *_ = _ballots(crowd(each=4, seed=5, kinds=kinds)[0], names)
    fit = Abilities(voted)
    fit.run()
    nodes = np.polynomial.hermite_e.hermegauss(3)[0]
    for place in (0, 1, 399):
        joint = [slowly(fit, place, truth) for truth in range(kinds)]
        logs = np.log([sum(states) for states in joint])
        evidence = fit.evidence[place]
        assert evidence - evidence[0] == pytest.approx(logs - logs[0], abs=1e-9)
        states = np.array(joint) * fit.prior[:, None]
        expected = 0.0
        for truth in range(kinds):
            lures = [k for k in range(kinds) if k != truth] if fit.has_lures else [truth]
            moves = [(lured, node) for lured in lures for node in nodes]
            for share, (lured, node) in zip(states[truth] / states.sum(), moves, strict=True):
                odds = odds_of(fit, 7, truth, lured, node)
                expected += share * odds[1] / odds.sum()
        chance = fit.chances(np.array([7]), np.array([1]), np.array([place]))
        assert chance == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("kinds", [2, 7])
def test_how_items_are_cut_into_parts_changes_nothing(
    kinds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten parts, and a single part for all items."""
    votes, _ = crowd(each=4, seed=6, kinds=kinds)
    monkeypatch.setattr(item_response, "_CELLS", 1)
    cut = ability(votes).probabilities
    monkeypatch.setattr(item_response, "_CELLS", 10**6)
    assert np.allclose(cut, ability(votes).probabilities, rtol=0, atol=1e-9)


def test_many_values_need_no_table_of_values_by_states() -> None:
    """It would grow with the square of the values, as free texts as labels have them."""
    names = pd.Index([f"{kind}" for kind in range(500)])
    voted, *_ = _ballots(crowd(each=4, seed=5, kinds=7)[0], names)
    fit = Abilities(voted)
    fit.run()
    assert fit.is_moved.size == 0


@examples(25)
@given(ballots())
def test_any_votes_give_probabilities(votes: pd.DataFrame) -> None:
    """Whatever is missing: rows sum to one, and nothing is infinite."""
    fit = ability(votes)
    assert np.isfinite(fit.probabilities.to_numpy()).all()
    assert np.allclose(fit.probabilities.sum(axis=1), 1.0)
    assert np.isfinite(fit.workers.to_numpy()).all()
    assert fit.models.sum() == pytest.approx(1.0)


@examples(25)
@given(ballots())
def test_labels_are_the_largest_of_the_probabilities(votes: pd.DataFrame) -> None:
    """And no value without a vote passes those that a worker gave."""
    fit = ability(votes, values=[*"abcd"])
    assert np.allclose(fit.labels["probability"], fit.probabilities.max(axis=1))
    values_of = votes.groupby("item_id")["value"].agg(set).to_dict()
    for item_id, (_, row) in zip(values_of, fit.probabilities.sort_index().iterrows(), strict=True):
        leaders = {str(name) for name in row.index if row.max() - row[name] <= 1e-9}
        own = fit.labels["leaders"].map(set).to_dict()[item_id]
        assert own == leaders <= values_of[item_id]
        unseen = row.drop([*values_of[item_id]])
        assert unseen.empty or unseen.max() < row[[*values_of[item_id]]].min()


@examples(10)
@given(ballots(), st.randoms(use_true_random=False))
def test_names_and_the_order_of_votes_change_nothing(votes: pd.DataFrame, draw: Random) -> None:
    """Labels are the same whatever comes first."""
    fit = ability(votes)
    rows = [*range(len(votes))]
    draw.shuffle(rows)
    again = ability(votes.iloc[rows])
    assert np.allclose(fit.probabilities, again.probabilities)


def test_a_crowd_with_tables_of_errors_is_told_from_one_with_abilities() -> None:
    """What predicts left-out votes better has more of the mixture."""
    draw = np.random.default_rng(3)
    truths = draw.choice([*"abc"], 600)
    # A third of the workers have "b" and "c" the wrong way round.
    taken = [{"b": "c", "c": "b"} if worker % 3 == 0 else {} for worker in range(30)]
    rows = [
        (f"i{place}", f"w{worker}", taken[worker].get(truth, truth))
        for place, truth in enumerate(truths)
        for worker in draw.choice(30, 4, replace=False)
    ]
    confused = ability(pd.DataFrame(rows, columns=["item_id", "worker", "value"]))
    able = ability(crowd(each=5, seed=7, kinds=3)[0])
    name = "tables of errors"
    assert confused.models[name] > 0.5 > able.models[name]


@pytest.mark.parametrize("values", [2, 30, 1500])
def test_a_single_vote_has_a_label_whatever_number_of_values_is_possible(values: int) -> None:
    """Tables of errors join only where they can be learnt; the shares still add up."""
    names = tuple(map(str, range(values)))
    fit = ability(votes_on("1"), values=names)
    assert fit.labels["value"].tolist() == ["1"]
    assert fit.models.sum() == pytest.approx(1.0)
    assert fit.probabilities.shape == (1, values)


def test_what_makes_no_sense_is_refused() -> None:
    """No votes, and a vote that nobody could give."""
    with pytest.raises(ValueError, match="no votes"):
        ability(votes_on("a").iloc[:0])
    with pytest.raises(ValueError, match="a vote is 'b'"):
        ability(votes_on("b"), values=("a",))


@pytest.mark.shared
@pytest.mark.skipif(not published.DATA.is_dir(), reason="../shared/data is not on this machine")
@pytest.mark.parametrize(("each", "better"), [(3, 0.03), (5, 0.04), (10, 0.03)])
def test_real_votes_with_gold(each: int, better: float) -> None:
    """Entailments: better than the majority, with probabilities within 4 points."""
    votes, gold = published.rte()
    some = published.fewer(votes, each, 0)
    fit = ability(some, values=(0, 1))
    assert gap(fit.probabilities, gold) < 0.04
    assert accuracy(fit.labels, gold) > accuracy(majority(some), gold) + better
