"""Votes to replay: in a random order, with known labels or a vote that is held out."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from tests.bench.truth.labels.sets import entailments, headlines
from tests.bench.truth.sets import DATA

_PICTURES = 1000
_PEOPLE = 5
_ASKED = 3
"""Of five votes on a picture: one makes planted models, and one is the label."""

_FEW_PLANTED = ("planted, 0.8", "two of 0.8 with the same errors", "planted, 0.2", "guesses")
"""A replay of up to ten votes an item takes seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """The votes in one order.

    Attributes:
        votes: those that may be asked for, in their order.
        gold: the label by item, always in the same order of items.
        planted: what planted models are right about; `gold`, if that is known.
    """

    votes: pd.DataFrame
    gold: "pd.Series[str]"
    planted: "pd.Series[str]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedSet:
    """Votes to replay.

    Attributes:
        name: a heading.
        values: the possible values.
        most: votes that an item gets at most.
        draw: the votes in the order of this seed.
        ceiling: how often `planted` is right: 1, or the accuracy of a person's vote.
        texts: `text`, `hypothesis` and `source` of each item, if classifiers can read
            them. Items of the same source are never on both sides of a fold.
        untils: the grid with models; in between, figures are interpolated.
        planted: names of planted models; all of `models.planted_models` if empty.
    """

    name: str
    values: tuple[str, ...]
    most: int
    draw: Callable[[int], Draw]
    ceiling: float = 1.0
    texts: pd.DataFrame | None = None
    untils: tuple[float, ...] = (0.8, 0.85, 0.9)
    planted: tuple[str, ...] = ()


def replayed_sets() -> Sequence[ReplayedSet]:
    """All sets."""
    return (_entailments(), _headlines(), _pictures())


def _entailments() -> ReplayedSet:
    votes, gold = entailments()
    rows = pd.read_csv(DATA / "snow_rte.csv", dtype="str")
    texts = rows.drop_duplicates("orig_id").set_index("orig_id")
    texts = texts[["text", "hypothesis"]].assign(source=texts.index)
    return ReplayedSet(
        name="RTE, two values, ten votes",
        values=("0", "1"),
        most=10,
        draw=_orders(votes, gold),
        texts=texts.reindex(gold.index),
        planted=_FEW_PLANTED,
    )


def _headlines() -> ReplayedSet:
    votes, gold = headlines(("2750278", "2793517", "2793845"))
    pairs = [str(name).split(" | ", 1) for name in gold.index]
    texts = pd.DataFrame(pairs, columns=["hypothesis", "text"], index=gold.index)
    return ReplayedSet(
        name="headlines, three stances, five votes",
        values=("Against", "Observing", "For"),
        most=5,
        draw=_orders(votes, gold),
        # The headlines on one claim are in the same fold.
        texts=texts.assign(source=texts["hypothesis"]),
        untils=(0.6, 0.75, 0.9),
        planted=_FEW_PLANTED,
    )


def _pictures() -> ReplayedSet:
    """Whether a picture is blurred, with the label of a person who is held out."""
    text = (DATA / "vizwiz_quality_train.json").read_text(encoding="utf-8")
    counts = np.array([picture["flaws"]["BLR"] for picture in json.loads(text)])
    chance = np.random.default_rng(1)
    some = counts[chance.permutation(len(counts))[:_PICTURES]]
    names = [f"p{number:04}" for number in range(_PICTURES)]

    def draw(order: int) -> Draw:
        chance = np.random.default_rng(order)
        row = np.repeat([[*range(_PEOPLE)]], _PICTURES, axis=0)
        is_yes = chance.permuted(row, axis=1) < some[:, None]
        ballots = is_yes.astype("int").astype("str")
        votes = pd.DataFrame(
            {
                "item_id": np.repeat(names, _ASKED),
                "worker": "",
                "value": ballots[:, :_ASKED].ravel(),
            }
        )
        return Draw(
            votes=votes,
            gold=pd.Series(ballots[:, -1], index=names),
            planted=pd.Series(ballots[:, -2], index=names),
        )

    return ReplayedSet(
        name="VizWiz, blurred pictures, three votes of five",
        values=("0", "1"),
        most=_ASKED,
        draw=draw,
        ceiling=_accuracy(counts),
    )


def _orders(votes: pd.DataFrame, gold: "pd.Series[str]") -> Callable[[int], Draw]:
    known = votes[votes["item_id"].isin(gold.index)]

    def draw(order: int) -> Draw:
        turns = np.random.default_rng(order).permutation(len(known))
        return Draw(votes=known.iloc[turns], gold=gold, planted=gold)

    return draw


def _accuracy(counts: "np.typing.NDArray[np.int64]") -> float:
    """How often one of five votes is what most people would say.

    The share of people who say "yes" differs between pictures: a beta distribution with
    the mean of the votes and their agreement within pictures.
    """
    mean = float(counts.mean()) / _PEOPLE
    pairs = counts * (counts - 1) / (_PEOPLE * (_PEOPLE - 1))
    within = (float(pairs.mean()) - mean**2) / (mean * (1.0 - mean))
    size = 1.0 / within - 1.0
    shares = stats.beta(mean * size, (1.0 - mean) * size)
    nodes = shares.ppf((np.arange(10_000) + 0.5) / 10_000)
    return float(np.maximum(nodes, 1.0 - nodes).mean())
