"""Decide what a worker does with an accepted HIT, and how long that takes."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from piecework.domain.ids import ItemId
from piecework.simulation.crowd.people import Person
from piecework.simulation.crowd.site import Accepted
from piecework.simulation.seeded_rng import log_normal, seeded_rng

Action = Literal["submit", "return", "abandon"]

SECONDS_TO_DESCRIBE = 64.0
"""A diligent worker's time for a picture (`piecework.simulation.crowd.people`); tasks
scale it."""

_GLANCE_SECONDS = 18.0
_SHARE_OF_TIME = 0.9
"""Workers plan to submit before the last moments of the time allowed."""

_GRACE = timedelta(seconds=1)
"""How long after the deadline the marketplace has surely noticed it."""

_VISIT_SPREAD = 0.5
_AWAY_SPREAD = 0.6
_FIRST_LOOK_MINUTES = 10.0
_FIRST_LOOK_SPREAD = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Intention:
    """One worker's plan for one assignment.

    Attributes:
        takes: time from accepting to acting.
        shown_ms: how long each item is looked at; together never more than `takes`.
    """

    action: Action
    takes: timedelta
    shown_ms: tuple[int, ...] = ()


def intend(
    person: Person,
    accepted: Accepted,
    *,
    item_ids: Collection[ItemId],
    described: Collection[ItemId],
    seed: int,
    seconds_per_item: float = SECONDS_TO_DESCRIBE,
    seconds_to_begin: float = 9,
) -> Intention:
    """Return the plan, which depends only on the person, the HIT and the seed.

    Args:
        person: the person.
        accepted: the accepted HIT.
        item_ids: the items it shows.
        described: the items this person remembers having described.
        seed: the random seed, combined with person and HIT.
        seconds_per_item: a careful person's median time for an item.
        seconds_to_begin: the median time before the first item is shown.
    """
    trait = person.trait
    rng = seeded_rng(seed, person.handle, accepted.hit_id, "intention")
    allowed = (accepted.deadline - accepted.accepted_at) * _SHARE_OF_TIME
    lot = rng.random()
    glance = timedelta(seconds=log_normal(rng, _GLANCE_SECONDS, spread=0.6))
    knows_some = not set(item_ids).isdisjoint(described)
    if lot < trait.returns or (knows_some and trait.heeds_requests):
        return Intention(action="return", takes=min(glance, allowed))
    if lot < trait.returns + trait.abandons:
        return lapses(accepted, accepted.accepted_at)
    median = trait.seconds * person.pace * (seconds_per_item / SECONDS_TO_DESCRIBE)
    shown = [log_normal(rng, median, spread=trait.spread) for _ in item_ids]
    settling = log_normal(rng, seconds_to_begin, spread=0.5)
    # A worker who sees the time running out hurries.
    pace = min(1.0, allowed.total_seconds() / (sum(shown) + settling))
    shown_ms = tuple(int(seconds * pace * 1000) for seconds in shown)
    takes = timedelta(milliseconds=sum(shown_ms) + int(settling * pace * 1000))
    return Intention(action="submit", takes=takes, shown_ms=shown_ms)


def lapses(accepted: Accepted, now: datetime) -> Intention:
    """Return the plan to walk away, which ends at the deadline."""
    return Intention(action="abandon", takes=accepted.deadline - now + _GRACE)


def hits_this_visit(person: Person, visit: int, *, seed: int) -> int:
    """Return how many HITs this person wants to do before leaving; at least one."""
    rng = seeded_rng(seed, person.handle, str(visit), "visit")
    median = person.trait.hits_a_visit
    return max(1, round(log_normal(rng, median, spread=_VISIT_SPREAD)))


def time_away(person: Person, visit: int, *, seed: int) -> timedelta:
    """Return the time from this visit to the next; visit 0 precedes the first."""
    rng = seeded_rng(seed, person.handle, str(visit), "away")
    if visit == 0:
        minutes = log_normal(rng, _FIRST_LOOK_MINUTES, spread=_FIRST_LOOK_SPREAD)
    else:
        minutes = log_normal(rng, person.trait.away_minutes, spread=_AWAY_SPREAD)
    return timedelta(milliseconds=int(minutes * 60_000))
