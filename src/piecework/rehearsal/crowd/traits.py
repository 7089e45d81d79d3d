"""The kinds of people who work on a marketplace, as numbers.

Medians follow VizWiz-Captions (Gurari et al. 2020): 195,905 captions in 3,736 hours are
69 seconds each. Times are log-normal around a trait's median, because real ones are
heavy-tailed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Manner = Literal[
    "plain",
    "capitals",
    "quality",
    "pasted",
    "canned",
    "overuses_canned",
    "same",
    "first",
    "guess",
]
"""What becomes of what the worker saw.

`plain` is written down; `capitals` all in capital letters; `quality` speaks of the
photograph instead of its content; `pasted` is one sentence under every picture;
`canned` mostly presses the button; `overuses_canned` presses it under some readable
pictures.
Where something is to be judged, `same` gives one answer to every item, `first` takes
what stands first, `guess` takes anything.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """How one kind of worker works.

    Attributes:
        seconds: median time spent on one picture to describe; other tasks scale it.
        spread: sd of the logarithm of that time.
        accuracy: chance that a detail is right.
        typo_rate: share of words that are mistyped.
        manner: what becomes of what the worker saw.
        button_rate: for `canned` and `overuses_canned`, the share of readable pictures
            under which the button is pressed.
        hits_a_visit: median number of HITs done before leaving again.
        away_minutes: median time until the next visit.
        returns: share of accepted HITs that are given back.
        abandons: share of accepted HITs that are left lying.
        heeds_requests: whether a HIT with a picture described before is returned, as
            the page of a replacement HIT asks.
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
    "slow": Trait(
        seconds=170, spread=0.5, accuracy=0.98, hits_a_visit=3, abandons=0.03
    ),
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
        seconds=33,
        spread=0.45,
        manner="overuses_canned",
        button_rate=0.3,
        heeds_requests=False,
    ),
    "quality_writer": Trait(
        seconds=45, spread=0.4, manner="quality", heeds_requests=False
    ),
    "paster": Trait(
        seconds=7,
        spread=0.4,
        manner="pasted",
        hits_a_visit=8,
        returns=0.0,
        heeds_requests=False,
    ),
    "straight_liner": Trait(
        seconds=16,
        spread=0.4,
        manner="same",
        hits_a_visit=9,
        returns=0.0,
        heeds_requests=False,
    ),
    "first_clicker": Trait(
        seconds=18,
        spread=0.4,
        manner="first",
        hits_a_visit=9,
        returns=0.0,
        heeds_requests=False,
    ),
    "guesser": Trait(
        seconds=22,
        spread=0.45,
        manner="guess",
        hits_a_visit=8,
        heeds_requests=False,
    ),
}

SIMULATED_BAD: frozenset[str] = frozenset(
    {
        *("shouting", "canned_abuser", "quality_writer", "paster", "lone_unreadable"),
        *("straight_liner", "first_clicker", "guesser"),
    }
)
"""Whom a campaign's checks are there to find.

Each of them does what VizWiz-Captions reviewed workers for (its appendix A.1), and each
harms the dataset at any speed: capitals wreck the text for a reader and a model, the
button and the pasted sentence tell a blind person nothing, a sentence about blur tells
nothing of the content, and a lone "unreadable" under a clear picture loses a caption
that was paid for. Who is merely quick, slow or a poor typist is honest: what such
people write is true, spelling can be mended, and a check that excludes them is wrong.
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
    """Who works when a campaign file says nothing: 48 people, 10 of them planted bad.

    Where nothing is described (`judges`) it is 40 people, 7 of them planted bad.

    Real shares of bad work differ from job to job; a fifth is enough to see every
    check at work and few enough that five answers an image still agree.
    """
    return dict(_JUDGES if judges else _DEMO)
