"""The simulated workers and their characteristics."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from piecework.domain.errors import ConfigError
from piecework.domain.ids import ItemId, WorkerId
from piecework.domain.text import did_you_mean
from piecework.simulation.crowd.traits import TRAITS, Trait
from piecework.simulation.seeded_rng import log_normal, seeded_rng

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
        handle: a name that is the same in every run.
        pace: this person's time as a multiple of the trait's median.
        hits_submitted: HITs submitted before, anywhere.
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
        """The person's trait."""
        return TRAITS[self.trait_name]


@dataclass(slots=True, kw_only=True)
class Worker:
    """A registered person at work; the only mutable class here.

    Attributes:
        token: the sign-in token.
        hits_left: the HITs left in this visit.
        visit: the number of the visit, from 1.
        group_id: the group of the last HIT.
        looked_at: the crowd's `news` when the worker last found nothing to do.
        described: the items that this worker remembers having described.
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
    """Return the people of a crowd, the same for the same seed.

    Of every eight people with a trait, the seventh lives abroad and the eighth is new.
    So a campaign that requires a country and experience has people to exclude.

    Raises:
        ConfigError: a trait is unknown.
    """
    unknown = [name for name in crowd if name not in TRAITS]
    if unknown:
        raise ConfigError(
            [
                f"rehearsal.crowd: no trait {name!r}{did_you_mean(name, TRAITS)}; the "
                f"traits are {', '.join(TRAITS)}"
                for name in unknown
            ]
        )
    return tuple(
        _person(name, number, seed=seed) for name in TRAITS for number in range(crowd.get(name, 0))
    )


def _person(trait_name: str, number: int, *, seed: int) -> Person:
    handle = f"{trait_name}-{number + 1:03d}"
    rng = seeded_rng(seed, handle, "person")
    place_in_eight = number % _IN_EIGHT
    is_abroad = place_in_eight == _ABROAD
    submitted = (
        40 + rng.randrange(200) if place_in_eight == _NEWCOMER else (1200 + rng.randrange(20_000))
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
