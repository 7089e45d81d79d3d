"""The kinds of workers on a marketplace, described by numbers.

Medians follow VizWiz-Captions (Gurari et al. 2020): 195,905 captions in 3,736 hours, or
69 seconds each. Times are log-normal around a trait's median, because real times are
heavy-tailed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Manner = Literal[
    "plain", "capitals", "quality", "pasted", "canned", "overuses_canned", "same", "first", "guess"
]
"""What a worker does with what they saw.

`plain` writes it down; `capitals` writes it in capital letters; `quality` describes the
quality of the photograph instead of its content; `pasted` sends one sentence for every
picture; `canned` mostly presses the button; `overuses_canned` presses it for some
readable pictures. In judgement tasks, `same` gives one answer to every item, `first`
picks the first option, `guess` picks at random.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """The habits of one kind of worker.

    Attributes:
        seconds: median time spent on one picture to describe; other tasks scale it.
        spread: sd of the logarithm of that time.
        accuracy: chance that a detail is right.
        typo_rate: share of words that are mistyped.
        manner: what the worker does with what they saw.
        button_rate: for `canned` and `overuses_canned`, the share of readable pictures
            for which the button is pressed.
        hits_a_visit: median number of HITs done before leaving again.
        away_minutes: median time until the next visit.
        returns: share of accepted HITs that are returned.
        abandons: share of accepted HITs that are abandoned.
        heeds_requests: whether the worker returns a HIT with a picture they described
            before, as the page of a replacement HIT asks.
    """

    seconds: float
    spread: float
    accuracy: float = 0.96
    typo_rate: float = 0.006
    manner: Manner = "plain"
    button_rate: float = 0.0
    hits_a_visit: float = 6
    away_minutes: float = 150
    returns: float = 0.02
    abandons: float = 0.01
    heeds_requests: bool = True


TRAITS: Mapping[str, Trait] = {
    "diligent": Trait(seconds=64, spread=0.4),
    "hurried": Trait(
        seconds=21,
        spread=0.35,
        accuracy=0.85,
        typo_rate=0.02,
        hits_a_visit=12,
        returns=0.05,
        abandons=0.03,
        heeds_requests=False,
    ),
    "slow": Trait(seconds=170, spread=0.5, accuracy=0.98, hits_a_visit=3, abandons=0.03),
    "careless_speller": Trait(seconds=52, spread=0.4, typo_rate=0.12),
    "replayer": Trait(seconds=60, spread=0.45),
    "shouting": Trait(seconds=48, spread=0.4, manner="capitals", heeds_requests=False),
    "canned_abuser": Trait(
        seconds=9,
        spread=0.5,
        manner="canned",
        button_rate=0.7,
        hits_a_visit=9,
        heeds_requests=False,
    ),
    "lone_unreadable": Trait(
        seconds=33, spread=0.45, manner="overuses_canned", button_rate=0.3, heeds_requests=False
    ),
    "quality_writer": Trait(seconds=45, spread=0.4, manner="quality", heeds_requests=False),
    "paster": Trait(
        seconds=7, spread=0.4, manner="pasted", hits_a_visit=8, returns=0.0, heeds_requests=False
    ),
    "straight_liner": Trait(
        seconds=16, spread=0.4, manner="same", hits_a_visit=9, returns=0.0, heeds_requests=False
    ),
    "first_clicker": Trait(
        seconds=18, spread=0.4, manner="first", hits_a_visit=9, returns=0.0, heeds_requests=False
    ),
    "guesser": Trait(seconds=22, spread=0.45, manner="guess", hits_a_visit=8, heeds_requests=False),
}

SIMULATED_BAD: frozenset[str] = frozenset(
    {
        *("shouting", "canned_abuser", "quality_writer", "paster", "lone_unreadable"),
        *("straight_liner", "first_clicker", "guesser"),
    }
)
"""The traits that a campaign's checks should find.

VizWiz-Captions reviewed workers for each of these behaviours (its appendix A.1), and
each harms the dataset at any speed. Capitals spoil the text for readers and models. The
button and the pasted sentence tell a blind person nothing. A sentence about blur does
not describe the content. A lone "unreadable" for a clear picture wastes a paid caption.
Workers who are merely quick, slow or poor typists are honest: their text is true,
spelling can be corrected, and a check that excludes them is wrong.
"""

_DEMO: Mapping[str, int] = {
    "diligent": 21,
    "hurried": 7,
    "slow": 5,
    "careless_speller": 5,
    "shouting": 2,
    "canned_abuser": 2,
    "quality_writer": 2,
    "paster": 2,
    "lone_unreadable": 2,
}

_JUDGES: Mapping[str, int] = {
    "diligent": 21,
    "hurried": 7,
    "slow": 5,
    "straight_liner": 2,
    "first_clicker": 2,
    "guesser": 3,
}


def default_crowd(*, judges: bool = False) -> dict[str, int]:
    """Return the default crowd: 48 people, 10 of them planted bad.

    If nothing is described (`judges`), it is 40 people, 7 of them planted bad.

    Real shares of bad work differ from job to job. A fifth is enough for every check to
    find something, and few enough for five answers an image to agree.
    """
    return dict(_JUDGES if judges else _DEMO)
