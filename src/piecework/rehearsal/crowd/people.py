"""The simulated workers: who they are, and what they are like on one HIT."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from piecework.domain.errors import ConfigError
from piecework.domain.ids import ItemId, WorkerId
from piecework.domain.suggestion import did_you_mean
from piecework.rehearsal.crowd.traits import TRAITS, Trait
from piecework.rehearsal.seeded_rng import log_normal, seeded_rng

_IN_EIGHT = 8
_ABROAD = 6
_NEWCOMER = 7
_PACE_SPREAD = 0.15
_ABROAD_COUNTRIES = ("GB", "IN", "CA", "PH")
_STATES = ("WA", "TX", "OH", "NY", "CA", "FL", "PA", "MI")


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person who may register as a worker.

    Attributes:
        handle: a name that stays the same from run to run.
        pace: how much slower than the trait's median this person is.
        hits_submitted: HITs done before, anywhere.
        hits_approved: how many of them were approved.
    """

    handle: str
    trait_name: str
    pace: float
    country: str
    subdivision: str
    hits_submitted: int
    hits_approved: int

    @property
    def trait(self) -> Trait:
        """The numbers behind the trait's name."""
        return TRAITS[self.trait_name]


@dataclass(slots=True, kw_only=True)
class Worker:
    """A registered person at work; the only thing here that changes.

    Attributes:
        token: signs in.
        hits_left: how many more HITs of this visit.
        visit: number of the visit, from 1.
        group_id: the group that the last HIT came from.
        looked_at: what the crowd's `news` was when the worker last saw nothing to do.
        described: items that this worker has described and remembers.
    """

    person: Person
    worker_id: WorkerId
    token: str
    hits_left: int = 0
    visit: int = 0
    group_id: str = ""
    looked_at: int = -1
    described: set[ItemId] = field(default_factory=set)


def people(crowd: Mapping[str, int], *, seed: int) -> tuple[Person, ...]:
    """The people of a crowd, the same for the same seed.

    Of every eight with one trait the seventh lives abroad and the eighth is new, so a
    campaign that asks for a country and for experience has people whom it shuts out.

    Raises:
        ConfigError: an unknown trait.
    """
    unknown = [name for name in crowd if name not in TRAITS]
    if unknown:
        raise ConfigError(
            [
                f"rehearsal.crowd: no trait {name!r}{did_you_mean(name, TRAITS)}; "
                f"there are {', '.join(TRAITS)}"
                for name in unknown
            ]
        )
    return tuple(
        _person(name, number, seed=seed)
        for name in TRAITS
        for number in range(crowd.get(name, 0))
    )


def _person(trait_name: str, number: int, *, seed: int) -> Person:
    handle = f"{trait_name}-{number + 1:03d}"
    rng = seeded_rng(seed, handle, "person")
    place_in_eight = number % _IN_EIGHT
    is_abroad = place_in_eight == _ABROAD
    submitted = (
        40 + rng.randrange(200)
        if place_in_eight == _NEWCOMER
        else (1200 + rng.randrange(20_000))
    )
    return Person(
        handle=handle,
        trait_name=trait_name,
        pace=log_normal(rng, 1.0, spread=_PACE_SPREAD),
        country=rng.choice(_ABROAD_COUNTRIES) if is_abroad else "US",
        subdivision="" if is_abroad else rng.choice(_STATES),
        hits_submitted=submitted,
        hits_approved=submitted * rng.randrange(970, 1000) // 1000,
    )
