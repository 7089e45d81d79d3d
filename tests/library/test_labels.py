"""Labels and agreement: crowd-kit's columns, and crowd-kit's numbers where it has them.

The expected numbers are those of crowd-kit 1.4.2 on the same votes: `MajorityVote()`,
`DawidSkene(n_iter=1000, tol=1e-12)`, `alpha_krippendorff`.
"""

import pandas as pd
import pytest

import piecework

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
