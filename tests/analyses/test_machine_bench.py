"""The bench of labels of models measures what its page says."""

import numpy as np
import pandas as pd
import pytest

from piecework.domain.campaign import AsNeeded
from tests.analyses.test_labels_from_votes import crowd
from tests.analyses.test_machine_labels import VALUES, model
from tests.bench.truth.machine.figures import at_equal_accuracy, chosen
from tests.bench.truth.machine.known import known_rule
from tests.bench.truth.machine.models import agreement, classifiers
from tests.bench.truth.machine.replay import replay
from tests.bench.truth.machine.sets import Draw, ReplayedSet

SIZE = 400


def test_until_is_chosen_where_accuracy_is_first_equal() -> None:
    """Between two positions by their distance; else at either end."""
    rights = np.array([0.8, 0.9, 0.95])
    assert chosen(rights, 0.85) == pytest.approx((0, 0.5))
    assert chosen(rights, 0.7) == (0, 0.0)
    assert chosen(rights, 0.99) == (1, 1.0)


def test_votes_are_saved_at_equal_accuracy() -> None:
    """Half of the votes, if the same labels are right after half of them."""
    is_right = np.tile([1.0, 0.5], SIZE // 2)
    people = np.full(SIZE, 4.0), is_right
    models = {
        0.8: (np.full(SIZE, 2.0), is_right),
        0.9: (np.full(SIZE, 3.0), np.minimum(is_right + 0.1, 1.0)),
    }
    saving = at_equal_accuracy(people, models)
    assert saving.saved == pytest.approx((0.5, 0.5, 0.5))
    assert saving.more_right == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)


def test_a_rule_that_knows_everybody_needs_fewer_votes() -> None:
    """Fewer than the rule that learns from votes, and is right as often."""
    votes, truth = crowd(each=7, seed=7)
    votes = votes.sample(frac=1, random_state=1)
    machine = model(truth, 0.8, seed=1)
    rule = AsNeeded(most=7, until=0.9)
    asked, right = replay(votes, truth, VALUES, rule, machine)
    alone, _ = replay(votes, truth, VALUES, rule, None)
    ((known, known_right),) = known_rule(votes, truth, VALUES, 7, machine, [0.9])
    assert known.mean() < asked.mean() < alone.mean()
    assert known_right.mean() > right.mean() - 0.02


def test_a_classifier_has_not_seen_the_labels_that_it_gives() -> None:
    """Of labels drawn by chance it is right about half, though it has their words."""
    draw = np.random.default_rng(1)
    words = [f"w{number}" for number in range(60)]
    names = [f"i{number}" for number in range(SIZE)]
    texts = pd.DataFrame(
        {
            "text": [" ".join(draw.choice(words, 12)) for _ in names],
            "hypothesis": [" ".join(draw.choice(words, 4)) for _ in names],
            "source": names,
        },
        index=names,
    )
    gold = pd.Series(draw.choice(VALUES, SIZE), index=names)

    def labels(truths: "pd.Series[str]") -> float:
        kept = ReplayedSet(
            name="",
            values=VALUES,
            most=1,
            draw=lambda _: Draw(votes=texts, gold=truths, planted=truths),
            texts=texts,
        )
        return agreement(classifiers(kept)["bag of words"], truths)

    assert labels(gold) < 0.6
    is_in_text = texts["text"].str.contains(r"\bw7\b", regex=True)
    assert labels(is_in_text.map({True: "1", False: "0"})) > 0.9
