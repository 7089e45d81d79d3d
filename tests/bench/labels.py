"""What labels and agreement cost, from drawn votes: processor seconds, and memory.

Five of 500 workers, whose abilities differ, choose among five values for each item.
Memory includes the votes. crowd-kit is timed on the same votes if it is installed (`make
peers`). Run: `make bench`, or `python -m tests.bench.labels 10000000`.
"""

import resource
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pandas as pd

from piecework.analyses.agreement import krippendorff_alpha
from piecework.analyses.dawid_skene import dawid_skene
from piecework.analyses.labels_from_votes import ability
from tests.bench.peers import crowd_kit_seconds
from tests.bench.targets import Figure

VOTES = 89_800
EACH, VALUES, WORKERS = 5, 5, 500
_MOST_VOTES_OF_PEERS = 1_000_000
_MODELS: Mapping[str, Callable[[pd.DataFrame], object]] = {
    "alpha": partial(krippendorff_alpha, level="nominal", seed=1, resamples=0),
    "Dawid-Skene": dawid_skene,
    "ability": ability,
}


def main(n_votes: int) -> dict[str, Figure]:
    """Print the table; return the figures."""
    votes = drawn(n_votes)
    print(f"| {len(votes):,} votes | processor seconds | peak MiB |\n|---|---:|---:|")
    seconds = {}
    for name, model in _MODELS.items():
        model(votes.iloc[:EACH])  # what is imported late
        began = time.process_time()
        model(votes)
        seconds[name] = time.process_time() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"| {name} | {seconds[name]:.2f} | {peak:,.0f} |", flush=True)
    peers = crowd_kit_seconds(votes) if n_votes <= _MOST_VOTES_OF_PEERS else {}
    able, tables = seconds["ability"], seconds["Dawid-Skene"]
    return {
        "labels by ability, s": Figure(able),
        "labels by ability, times as long as by Dawid-Skene": Figure(able / tables),
        "labels by Dawid-Skene, s": Figure(tables, peers.get("labels", "")),
        "labels by ability, votes a second": Figure(n_votes / able),
        "Krippendorff's alpha, s": Figure(seconds["alpha"], peers.get("alpha", "")),
    }


def drawn(n_votes: int, seed: int = 0) -> pd.DataFrame:
    """Votes of workers with abilities, on items that are easy or hard."""
    draw, items = np.random.default_rng(seed), n_votes // EACH
    truths = np.repeat(draw.integers(0, VALUES, items), EACH)
    item, hardness = np.repeat(np.arange(items), EACH), draw.normal(0.0, 0.7, items)
    # Steps around the crowd, so that no worker votes twice about an item.
    steps = draw.integers(1, WORKERS // EACH, (items, EACH)).cumsum(axis=1)
    worker = ((draw.integers(0, WORKERS, (items, 1)) + steps) % WORKERS).ravel()
    odds = np.exp(draw.normal(1.8, 0.8, WORKERS)[worker] - hardness[item])
    is_wrong = draw.random(len(item)) > odds / (odds + 1.0)
    value = (truths + is_wrong * draw.integers(1, VALUES, len(item))) % VALUES
    names = {"item_id": (item, items), "worker": (worker, WORKERS), "value": (value, VALUES)}
    return pd.DataFrame(
        {
            column: pd.Series([f"{column[0]}{place:07d}" for place in range(size)], dtype="str")
            .take(places)
            .reset_index(drop=True)
            for column, (places, size) in names.items()
        }
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else VOTES)
