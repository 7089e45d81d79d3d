"""Adjusted means beside plain ones, on real grades; `make truth` runs it.

Some of the people who graded an item predict the mean grade of the others. Writes the
table of docs/internals/measurements/ratings.md between comments.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from piecework.analyses.rating_scales import rating_scales
from tests.bench.truth.labels.measure import write_between
from tests.bench.truth.sets import DATA

PAGE = Path("docs/internals/measurements/ratings.md")
BEGIN, END = "<!-- ratings -->", "<!-- end -->"

_GRADES = {
    "Against": -2.0,
    "Probably Against": -1.0,
    "Neutral": 0.0,
    "Observing": 0.0,
    "Probably For": 1.0,
    "For": 2.0,
}
_DRAWS = 20
_RESAMPLES = 2_000


def graded_batches() -> dict[str, pd.DataFrame]:
    """Ratings by batch: is a headline for or against a claim, as grades."""
    batches = {}
    for path in sorted((DATA / "mturk_batches").glob("*.csv")):
        rows = []
        with path.open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                rows += [
                    (f"{row['HITId']}.{name}", row["WorkerId"], _GRADES[cell.title()])
                    for name, cell in row.items()
                    if name.startswith("Answer.") and cell.title() in _GRADES
                ]
        batches[path.stem.split("_")[1]] = pd.DataFrame(
            rows, columns=["item_id", "worker", "value"]
        )
    return batches


def predicted(ratings: pd.DataFrame, known: int, seed: int) -> pd.DataFrame:
    """Let `known` people of each item predict the others' mean; a row per item.

    Columns `plain`, `adjusted` and `others`.
    """
    order = ratings.sample(frac=1, random_state=seed)
    place = order.groupby("item_id").cumcount()
    first, rest = order[place < known], order[place >= known]
    return pd.DataFrame(
        {
            "plain": first.groupby("item_id")["value"].mean(),
            "adjusted": rating_scales(first).items["adjusted"],
            "others": rest.groupby("item_id")["value"].mean(),
        }
    ).dropna()


def table() -> Iterator[str]:
    """Yield the rows of the page's table."""
    batches = graded_batches()
    for known in (1, 2, 3, 4):
        by_batch = []
        for ratings in batches.values():
            if ratings.groupby("item_id").size().median() <= known:
                continue
            draws = [predicted(ratings, known, seed) for seed in range(_DRAWS)]
            by_batch.append(
                {
                    "items": draws[0].shape[0],
                    **{
                        f"{name} r": np.mean([d[name].corr(d["others"]) for d in draws])
                        for name in ("plain", "adjusted")
                    },
                    **{
                        f"{name} error": np.mean(
                            [((d[name] - d["others"]) ** 2).mean() for d in draws]
                        )
                        for name in ("plain", "adjusted")
                    },
                }
            )
        yield _row(known, pd.DataFrame(by_batch))


def _row(known: int, figures: pd.DataFrame) -> str:
    weights = figures["items"] / figures["items"].sum()
    mean = figures.mul(weights, axis="index").sum()
    gain = (figures["adjusted r"] - figures["plain r"]).to_numpy()
    draw = np.random.default_rng(0)
    chosen = draw.integers(0, len(figures), (_RESAMPLES, len(figures)))
    share = weights.to_numpy()[chosen]
    gains = (gain[chosen] * share).sum(axis=1) / share.sum(axis=1)
    low, high = np.quantile(gains, [0.025, 0.975])
    worse = int((gain < 0).sum())
    return (
        f"| {known} | {mean['plain r']:.3f} | {mean['adjusted r']:.3f} | "
        f"{mean['adjusted r'] - mean['plain r']:+.3f} ({low:+.3f} to {high:+.3f}) | "
        f"{worse} of {len(figures)} | {mean['plain error']:.2f} | "
        f"{mean['adjusted error']:.2f} |"
    )


def main() -> None:
    """Measure, print and write."""
    lines = [*table()]
    print(*lines, sep="\n")
    names = (
        *("known people", "plain r", "adjusted r", "difference", "worse in"),
        *("plain error", "adjusted error"),
    )
    head = ["", f"| {' | '.join(names)} |", "|---|---:|---:|---:|---:|---:|---:|"]
    write_between(PAGE, BEGIN, [*head, *lines], END)


if __name__ == "__main__":
    main()
