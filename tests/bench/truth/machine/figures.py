"""What models save at equal accuracy, on items on which nothing was chosen.

`until` with models is chosen on half of the items: the lowest at which labels are right
as often as people's alone. The other half shows what is asked for then. Intervals are
95 %, over items: each draw halves the items, and resamples each half.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tests.bench.truth.machine.replay import Floats, Outcome

_DRAWS, _HALVINGS = 2000, 200

Interval = tuple[float, float, float]
"""The figure, and its interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """Votes saved on the other half of the items.

    Attributes:
        until: chosen, on average.
        asked: votes an item.
        right: the share of right labels.
        saved: the share of votes saved against people alone.
        more_right: how much more often labels are right than those of people alone.
    """

    until: float
    asked: float
    right: float
    saved: Interval
    more_right: Interval


def at_equal_accuracy(people: Outcome, models: Mapping[float, Outcome], *, seed: int = 1) -> Saving:
    """Compare outcomes, which are means over orders by item.

    Args:
        people: at the `until` to compare with.
        models: by `until`, in ascending order.
        seed: of halves and samples.
    """
    chance = np.random.default_rng(seed)
    size = len(people[0])

    def halves(*, resample: bool) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        first, second = np.array_split(chance.permutation(size), 2)
        if not resample:
            return first, second
        return chance.choice(first, len(first)), chance.choice(second, len(second))

    plain = np.array([_shown(people, models, *halves(resample=False)) for _ in range(_HALVINGS)])
    drawn = np.array([_shown(people, models, *halves(resample=True)) for _ in range(_DRAWS)])
    until, asked, right, saved, more_right = plain.mean(axis=0)
    return Saving(
        until=float(until),
        asked=float(asked),
        right=float(right),
        saved=_interval(float(saved), drawn[:, 3]),
        more_right=_interval(float(more_right), drawn[:, 4]),
    )


def difference(first: Floats, second: Floats, *, seed: int = 1) -> Interval:
    """The mean of `first` minus that of `second`, paired by item."""
    gap = first - second
    draws = np.random.default_rng(seed).integers(0, len(gap), (_DRAWS, len(gap)))
    return _interval(float(gap.mean()), gap[draws].mean(axis=1))


def chosen(rights: Floats, wanted: float) -> tuple[int, float]:
    """Where labels are first right this often: a position, and how far to the next.

    If they never are, the last position.
    """
    is_enough = rights >= wanted
    if not is_enough.any():
        return len(rights) - 2, 1.0
    place = int(is_enough.argmax())
    if place == 0:
        return 0, 0.0
    low, high = rights[place - 1], rights[place]
    return place - 1, float((wanted - low) / (high - low))


def _shown(
    people: Outcome,
    models: Mapping[float, Outcome],
    learnt: npt.NDArray[np.intp],
    other: npt.NDArray[np.intp],
) -> tuple[float, float, float, float, float]:
    rights = np.array([right[learnt].mean() for _, right in models.values()])
    place, share = chosen(rights, float(people[1][learnt].mean()))
    shares = np.zeros(len(models))
    shares[place], shares[place + 1] = 1.0 - share, share
    until = float(shares @ np.array([*models]))
    asked = float(shares @ [asked[other].mean() for asked, _ in models.values()])
    right = float(shares @ [right[other].mean() for _, right in models.values()])
    before = float(people[0][other].mean())
    more_right = right - float(people[1][other].mean())
    return until, asked, right, 1.0 - asked / before, more_right


def _interval(figure: float, draws: Floats) -> Interval:
    low, high = np.percentile(draws, [2.5, 97.5])
    return figure, float(low), float(high)
