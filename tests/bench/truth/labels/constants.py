"""The constants of `ability`, chosen without the set that they are measured on.

They were set with the results in view. Here the other sets choose them for each set, from
a grid around ours, so the table says what an unseen set may expect. Writes a table of
docs/internals/measurements/labels.md between comments; `make truth` runs it.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import product
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd

from piecework.analyses import labels_from_votes, vote_models
from piecework.analyses.labels_from_votes import ability
from piecework.analyses.vote_models import Ballots, VoteModel
from tests.bench.truth.labels.__main__ import PAGE, shown
from tests.bench.truth.labels.measure import Outcomes, Resamples, outcomes, write_between
from tests.bench.truth.labels.sets import GoldVotes, gold_votes

BEGIN, END = "<!-- constants -->", "<!-- end of constants -->"


class Constants(NamedTuple):
    """The constants that no set's own votes choose.

    Attributes:
        shared: how alike errors about an item usually are (`vote_models.SHARED`).
        moved: how far votes that are left out move that (`labels_from_votes._MOVED`).
        shared_error: what remains with any number of votes (`SHARED_ERROR`).
        before: the votes that workers and crowds start with, as multiples of ours.
    """

    shared: float
    moved: float
    shared_error: float
    before: float

    def __str__(self) -> str:
        return f"{self.shared:g}, {self.moved:g}, {self.shared_error:g}, {self.before:g}"


OURS = Constants(vote_models.SHARED, labels_from_votes._MOVED, labels_from_votes.SHARED_ERROR, 1.0)
_SHARED, _MOVED, _SHARED_ERRORS = (0.1, 0.2, 0.3, 0.4), (0.0, 0.5, 1.0), (0.01, 0.02, 0.04)
_BEFORE = (0.5, 1.0, 2.0)
GRID = [Constants(*each) for each in product(_SHARED, _MOVED, _SHARED_ERRORS, _BEFORE)]


def main() -> None:
    """Measure, print and write."""
    by_set = {each.name: measured(each) for each in gold_votes()}
    lines = [*table(by_set)]
    print(*lines, sep="\n")
    write_between(PAGE, BEGIN, ["", *lines], END)


def measured(gold_set: GoldVotes) -> dict[Constants, Outcomes]:
    """Return the outcomes of a set by constants."""
    values = [*gold_set.labels]
    by_constants = {}
    for before in _BEFORE:
        with _votes_before(before):
            for shared, moved in product(_SHARED, _MOVED):
                table = _without_shared_error(gold_set, values, shared, moved)
                for error in _SHARED_ERRORS:
                    others = (1.0 - table) / (len(values) - 1)
                    mixed = (1.0 - error) * table + error * others
                    constants = Constants(shared, moved, error, before)
                    by_constants[constants] = outcomes(gold_set, mixed)
    return by_constants


@contextmanager
def _votes_before(before: float) -> Iterator[None]:
    """Multiply the votes that workers and crowds start with; fit each model once."""
    fits: dict[bytes, list[VoteModel]] = {}
    usual = labels_from_votes._fitted

    def kept(ballots: Ballots, outputs: None) -> list[VoteModel]:
        key = b"".join(each.tobytes() for each in (ballots.items, ballots.workers, ballots.values))
        if key not in fits:
            fits[key] = [*usual(ballots, outputs)]
        return fits[key]

    with ExitStack() as stack:
        for place, name, value in (
            (vote_models, "_CROWDS_VOTES", vote_models._CROWDS_VOTES * before),
            (vote_models.Coin, "before", vote_models.Coin.before * before),
            (vote_models.Tables, "before", vote_models.Tables.before * before),
            (labels_from_votes, "_fitted", kept),
        ):
            stack.enter_context(patch.object(place, name, value))
        yield


def _without_shared_error(
    gold_set: GoldVotes, values: Sequence[str], shared: float, moved: float
) -> pd.DataFrame:
    with (
        patch.object(labels_from_votes, "SHARED", shared),
        patch.object(labels_from_votes, "_MOVED", moved),
    ):
        return ability(gold_set.votes, values=values, shared_error=0.0).probabilities[[*values]]


def chosen(by_set: Mapping[str, Mapping[Constants, Outcomes]], left_out: str) -> Constants:
    """Return the constants with the lowest log loss on the other sets, each counting once."""
    others = [own for name, own in by_set.items() if _items(name) != _items(left_out)]
    return min(GRID, key=lambda each: float(np.mean([own[each].loss.mean() for own in others])))


def _items(name: str) -> str:
    """Sets of the same items, such as both of RTE, are left out together."""
    return name.split(",", maxsplit=1)[0]


def table(by_set: Mapping[str, Mapping[Constants, Outcomes]]) -> Iterator[str]:
    """Yield the lines of the table, and the means over all sets."""
    yield "| set | chosen by the others | right | ours | log loss | ours |"
    yield "|---|---|---|---|---|---|"
    unseen: list[Sequence[float]] = []
    for name, own in by_set.items():
        pick = chosen(by_set, name)
        samples = Resamples(len(own[OURS].right))
        figures = [
            samples.mean(figure)
            for kept in (own[pick], own[OURS])
            for figure in (kept.right, kept.loss)
        ]
        unseen.append([figure[0] for figure in figures])
        right, loss, our_right, our_loss = map(shown, figures)
        yield f"| {name} | {pick} | {right} | {our_right} | {loss} | {our_loss} |"
    right, loss, our_right, our_loss = (f"{mean:.3f}" for mean in np.mean(unseen, axis=0))
    yield f"| mean of {len(by_set)} sets | | {right} | {our_right} | {loss} | {our_loss} |"


if __name__ == "__main__":
    main()
