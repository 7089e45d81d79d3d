"""How many answers labels of models save, on real votes (RTE) and planted models.

`python -m tests.bench.truth.machine` replays votes in two orders and prints rows for
docs/measurements/labels.md. It takes some five minutes.
"""

import numpy as np
import pandas as pd

from piecework.analyses.ability import ability
from piecework.analyses.as_needed import weighed
from piecework.domain.campaign import AsNeeded
from tests.bench.truth.labels.sets import entailments

ORDERS, LEAST, MOST = 2, 1, 10
SHARES = {"of .8": 0.8, "at chance": 0.5, "of .2": 0.2}
VALUES = ("0", "1")


def main() -> None:
    """Print votes an item and the share of right labels, by model and `until`."""
    votes, gold = entailments()
    # In the order of the file, which the draws depend on.
    gold = gold.reindex(votes["item_id"].unique())
    for until in (0.9, 0.85, 0.8):
        for name, share in {"none": None, **SHARES}.items():
            outcomes = [
                replay(votes, gold, model(gold, share, order + 10), until, order)
                for order in range(ORDERS)
            ]
            asked, right = np.mean(outcomes, axis=0)
            print(f"| {until} | {name} | {asked:.2f} | {right:.3f} |", flush=True)


def model(
    gold: "pd.Series[str]", share: float | None, seed: int
) -> pd.DataFrame | None:
    """The labels of a planted model that is right about this share."""
    if share is None:
        return None
    is_right = np.random.default_rng(seed).random(len(gold)) < share
    wrong = gold.map({"0": "1", "1": "0"})
    return pd.DataFrame(
        {
            "model": "planted",
            "item_id": gold.index,
            "value": gold.where(is_right, wrong).to_numpy(),
            "probability": float("nan"),
        }
    )


def replay(
    votes: pd.DataFrame,
    gold: "pd.Series[str]",
    machine: pd.DataFrame | None,
    until: float,
    order: int,
) -> tuple[float, float]:
    """Ask until labels are sure; return votes an item and the share that is right."""
    drawn = votes.assign(turn=np.random.default_rng(order).random(len(votes)))
    drawn = drawn.sort_values("turn")
    number = drawn.groupby("item_id").cumcount()
    wanted, rule = pd.Series(LEAST, index=gold.index), AsNeeded(most=MOST, until=until)
    while True:
        asked = drawn[number < drawn["item_id"].map(wanted)]
        more = weighed([(asked, VALUES)], wanted, rule, [machine])["wanted"]
        if (more == wanted).all():
            break
        wanted = more
    labels = ability(asked, values=VALUES, machine=machine).labels["value"]
    right = np.where(labels.isna(), 0.5, labels == gold.reindex(labels.index))
    return float(wanted.mean()), float(right.mean())


if __name__ == "__main__":
    main()
