"""The simulated workers: their kinds, their characteristics, and how their opinions differ.

Medians follow VizWiz-Captions (Gurari et al. 2020): 195,905 captions in 3,736 hours, or 69
seconds each. Times are log-normal around a trait's median, because real times are heavy-tailed.
A real person may join a rehearsal, by a sign-in link.

If a field is an opinion (`Field.is_opinion`), the column `truth.<field>` is the mean over
people. Each person has an offset from it, each person has another in each condition that the
task compares, and each answer has noise. The sizes follow the one study rehearsed here:
*Gradations of error severity* (INLG 2020) has F(2.33, 139.5) = 13.827, eta squared = 0.05 and
standard deviations of 23 to 26 of 100 among 61 people. With means of 41, 53, 40 and 48 its mean
square of conditions is 61 * 116 / 3 = 2,359, so the error's is 171 = 13.1 squared. For people,
7,076 / 0.05 - 7,076 - 30,780 = 103,664 remains, which is 20.8 squared a person. The noise of
single answers is set so that the nine points between the two directions of an age error give
t(60) = -4.49, and the one point between those of gender gives t(60) = 0.835.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlencode

import httpx

from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.field import Field
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId, WorkerId
from piecework.domain.task import Task
from piecework.domain.text import did_you_mean
from piecework.simulation.seeded_rng import log_normal, seeded_rng

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


def default_crowd(*, judges: bool = False, most: int | None = None) -> dict[str, int]:
    """Return the default crowd: 48 people, 10 of them planted bad.

    If nothing is described (`judges`), it is 40 people, 7 of them planted bad.

    Real shares of bad work differ from job to job. A fifth is enough for every check to
    find something, and few enough for five answers an image to agree.

    Args:
        judges: whether nothing is described.
        most: as many workers as there are; a larger crowd has the same shares of traits.
    """
    crowd = dict(_JUDGES if judges else _DEMO)
    size = sum(crowd.values())
    if most is None or most >= size:
        return crowd
    exact = {trait: number * most / size for trait, number in crowd.items()}
    whole = {trait: int(number) for trait, number in exact.items()}
    by_rest = sorted(exact, key=lambda trait: whole[trait] - exact[trait])
    for trait in by_rest[: most - sum(whole.values())]:
        whole[trait] += 1
    return {trait: number for trait, number in whole.items() if number}


def crowd_as_stated(campaign: Campaign) -> Mapping[str, int]:
    """The number of simulated workers per trait, from the campaign or the default.

    A campaign that says how many workers there are is rehearsed with no more.
    """
    return campaign.rehearsal.crowd or usual_crowd(campaign, most=campaign.crowd_size)


def usual_crowd(campaign: Campaign, *, most: int | None = None) -> dict[str, int]:
    """The default crowd of the campaign's task."""
    return default_crowd(judges=campaign.task.dataset != "captions", most=most)


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
        listed = f"the traits are {', '.join(TRAITS)}"
        raise ConfigError(
            [
                f"rehearsal.crowd: no trait {name!r}{did_you_mean(name, TRAITS, then=listed)}"
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


def first_hit_url(endpoint_url: str) -> str:
    """Register a person and return the address that signs them in and shows a HIT.

    Raises:
        httpx.HTTPError: the marketplace is not a rehearsal, or cannot be reached.
    """
    token = _token(endpoint_url)
    with httpx.Client(base_url=endpoint_url, timeout=30) as worker:
        worker.post("/worker/sign-in", data={"token": token})
        reply = worker.get("/worker/hits", headers={"Accept": "application/json"})
    reply.raise_for_status()
    first = reply.json()["hit_groups"][0]["hit_group_id"]
    query = urlencode({"token": token, "group": first})
    return f"{endpoint_url}/worker/sign-in?{query}"


def _token(endpoint_url: str) -> str:
    reply = httpx.post(
        f"{endpoint_url}/rehearsal/workers",
        json={
            "handle": "guest",
            "country": "US",
            "hits_approved": 10_000,
            "hits_submitted": 10_000,
        },
        timeout=30,
    )
    reply.raise_for_status()
    return str(reply.json()["token"])


_OF_A_PERSON = 0.21
_IN_A_CONDITION = 0.105
_IN_AN_ANSWER = 0.18
"""Standard deviations, as parts of the scale. The ends of the scale cut answers off,
and people place answers with further noise (`piecework.simulation.crowd.chosen_answers`). With
these values, the published figures are in the middle of 100 simulated studies
(hit_templates/severity/NOTES.md)."""


def opinion_offset(task: Task, field: Field, item: Item, person: Person, *, seed: int) -> float:
    """Return this person's offset from the mean over people, in units of the field."""
    if not field.is_opinion:
        return 0.0
    width = field.maximum - field.minimum
    own = seeded_rng(seed, person.handle, field.name, "leaning")
    total = own.gauss(0.0, _OF_A_PERSON * width)
    for compared in task.conditions:
        if compared.field == field.name:
            condition = item.columns.get(compared.column, "")
            here = seeded_rng(seed, person.handle, field.name, "leaning", condition)
            total += here.gauss(0.0, _IN_A_CONDITION * width)
    single = seeded_rng(seed, person.handle, field.name, "leaning", item.item_id)
    return total + single.gauss(0.0, _IN_AN_ANSWER * width)
