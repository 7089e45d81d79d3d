"""Sentences about ratings, and about persons, each with what checks it."""

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median

from piecework.domain.assignment import FieldValue  # noqa: TC001 - as elsewhere
from piecework.hit_templates.rules import check
from tests.end_to_end.evidence.agreeing import agreements, expected, is_votes, limit, typical
from tests.end_to_end.evidence.raw_answers import RawAnswer
from tests.end_to_end.evidence.world import (
    Claim,
    Match,
    Rating,
    World,
    apart,
    is_near,
    is_share,
    rating,
)


def _line(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    rated = world.rated(world.field_by_name[match[1]])
    line = frozenset(match[2].split(" and "))
    mine = [own_rating for answer, own_rating in rated if answer.worker_id == own[0].worker_id]
    usual = expected(rated, line)[own[0].worker_id]
    return (
        mine.count(line) == int(match[3])
        and len(mine) == int(match[4])
        and is_share(match[5], usual, len(mine))
    )


def _place(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    field = world.field_by_name[match[3]]
    ordinals = ["first", "second", "third", "fourth", "fifth"]
    ordinals += [f"{place}th" for place in range(6, 30)]
    places, shown = [], []
    for answer, _ in world.rated(field):
        value = answer.sent[field.name]
        if answer.worker_id != own[0].worker_id:
            continue
        if match[2] == "side in":
            values = [option.value for option in field.options]
            off = values.index(value) - (len(values) - 1) / 2
            place = "" if off == 0 else ordinals[off > 0]
            shown_here = 2
        else:
            order = answer.sent[f"order.{field.name}"].split("|")
            place = ordinals[order.index(value)] if value in order else ""
            shown_here = len(order)
        places += [place] * bool(place)
        shown += [shown_here] * bool(place)
    return (
        places.count(match[1]) == int(match[4])
        and len(places) == int(match[5])
        and is_near(match[6], len(places) / fmean(shown))
    )


def _narrow(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    rated = world.rated(world.field_by_name[match[1]])
    least = world.param("low_scale_variance", "min_items", 8)
    places = defaultdict[str, list[float]](list)
    for answer, place in rated:
        assert isinstance(place, float)
        places[answer.worker_id].append(place)
    widths = {
        name: 100 * (_quantile(own, 0.9) - _quantile(own, 0.1))
        for name, own in places.items()
        if len(own) >= least
    }
    mine = widths.pop(own[0].worker_id)
    as_wide = sum(width >= float(match[4]) - 1e-6 for width in widths.values())
    return (
        mine <= float(match[2]) + 1e-6
        and mine > float(match[2]) - 0.1
        and len(widths) == int(match[3])
        and 2 * as_wide >= len(widths)
        and median(widths.values()) < float(match[4]) + 0.1
        and is_share(match[5], *_share_in_band(places, own[0].worker_id))
    )


def _share_in_band(places: Mapping[str, Sequence[float]], worker: str) -> tuple[int, int]:
    """Of the others' answers, those in the worker's band, and all."""
    low, high = (_quantile(places[worker], part) for part in (0.1, 0.9))
    others = [place for name, own in places.items() if name != worker for place in own]
    return sum(low - 1e-9 <= place <= high + 1e-9 for place in others), len(others)


def _quantile(values: Sequence[float], part: float) -> float:
    ordered = sorted(values)
    place = part * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def _agrees(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    rated = world.rated(world.field_by_name[match["field"]])
    by_worker = agreements(rated)
    mine, middle = by_worker[own[0].worker_id], typical(by_worker)
    least = world.param("low_agreement", "min_agreement", 0.35)
    asked = limit(by_worker, least, world.param("low_agreement", "min_items", 10))
    if is_votes(rated):
        is_worth = is_share(match["worth"], mine.worth, 1) and is_share(match["of_all"], middle, 1)
    else:
        is_worth = is_near(match["middle"], middle)
    # Either the strength broke its limit, or the worth is far from the middle.
    is_far = match["far"] or match["far_votes"]
    is_below = mine.worth < middle if is_far else is_near(match["limit"], asked)
    return (
        is_worth
        and is_near(match["strength"], mine.strength)
        and (math.isinf(mine.error) or is_near(match["error"], mine.error))
        and is_below
        and mine.items == int(match["items"])
    )


def _gold(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    field = world.field_by_name[match[1]]
    tolerance = world.param("gold_failed", "tolerance", 0.25)
    off = []
    right: dict[str, list[bool]] = {}
    for answer, answer_rating in world.rated(field):
        known = rating(field, world.columns_of[answer.item_id].get(f"gold.{match[1]}", ""))
        if answer.worker_id == own[0].worker_id and known is not None:
            off.append(apart(answer_rating, known) > tolerance)
            section = world.columns_of[answer.item_id].get("section", "")
            right.setdefault(section, []).append(not off[-1])
    by_section = {
        f"{name} {sum(own_right)} of {len(own_right)} right"
        for name, own_right in right.items()
        if name
    }
    sections = set(match[4].split(", ")) if match[4] else set()
    counts = (int(match[2]), int(match[3]))
    return (sum(off), len(off)) == counts and sections == by_section


def _contradicts(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    field = world.field_by_name[match[1]]
    mine = {
        answer.item_id: answer_rating
        for answer, answer_rating in world.rated(field)
        if answer.worker_id == own[0].worker_id
    }

    def turned(item: str) -> Rating:
        item_rating = mine[item]
        is_other_way = bool(world.columns_of[item].get("twin_reversed"))
        if is_other_way and isinstance(item_rating, float):
            return 1 - item_rating
        assert not is_other_way
        return item_rating

    pairs = {
        frozenset({item, twin})
        for item in mine
        if (twin := world.columns_of[item].get("twin", "")) in mine and twin != item
    }
    off = [apart(*map(turned, pair)) > 0.25 for pair in pairs]
    return (sum(off), len(off)) == (int(match[2]), int(match[3]))


def _drawn(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    seed = world.campaign.rehearsal.seed
    digest = hashlib.sha256(f"{seed}:{own[0].answer_id}".encode()).digest()
    share = float(world.param("random_sample", "share", 0.02))
    drawn = int.from_bytes(digest[:8], "big") / 2**64
    return drawn < float(match[1]) == share


def _outside(_: Match, own: Sequence[RawAnswer], world: World) -> bool:
    return is_outside(own[0], world)


def is_outside(answer: RawAnswer, world: World) -> bool:
    """Whether an option that leads out of the study was chosen."""
    return any(
        option.excludes and answer.hit_sent.get(f"hit.{field.name}") == option.value
        for field in world.campaign.task.hit_fields
        for option in field.options
    )


def _goes_on(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    asked = Counter[str]()
    answered = Counter(answer.worker_id for answer in world.firsts)
    for answer in world.firsts:
        asked[answer.worker_id] += any(_broken(answer, world, is_question=True))
    mine = own[0].worker_id
    return ((asked[mine], answered[mine]) == (int(match[1]), int(match[2]))) and is_share(
        match[3], asked.total() - asked[mine], answered.total() - answered[mine]
    )


def _broken(answer: RawAnswer, world: World, *, is_question: bool) -> Iterable[str]:
    task = world.campaign.task
    values: dict[str, FieldValue] = {}
    for field in task.item_fields:
        if value := answer.sent.get(field.name, ""):
            values[field.name] = tuple(value.split("|")) if field.kind == "choices" else value
    for rule in check(task, values, columns=world.columns_of[answer.item_id]):
        if rule.is_question == is_question:
            yield rule.name


def _breaks(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    return match[1].split(", ") == [*_broken(own[0], world, is_question=False)]


def _failed_enough(match: Match, world: World) -> bool:
    share = int(match[2]) / int(match[3])
    limit = float(world.param("gold_failed", "min_share_of_section", 1.0))
    sections = re.findall(r"(\d+) of (\d+) right", match[4] or "")
    worst = max((1 - int(right) / int(met) for right, met in sections), default=0.0)
    is_low = limit < 1 and worst > 0 and worst >= limit
    return is_low or share >= float(world.param("gold_failed", "min_share", 0.6))


CLAIMS = (
    Claim("rule_violation", r"breaks (?:a rule|rules) of the task: (.*)", _breaks),
    Claim(
        "straight_line",
        r"gives the same answer to (\w+), (.*), on (\d+) of (\d+) items?; by the others' "
        r"answers about them, (\S+) % would get it",
        _line,
    ),
    Claim(
        "same_place",
        r"(?:chooses|prefers) the (\w+) (option of|side in) (\w+) on (\d+) of (\d+) "
        r"items?; chance gives (\S+)",
        _place,
    ),
    Claim(
        "low_scale_variance",
        r"uses a narrow part of the scale (\w+): the middle four fifths of the answers "
        r"lie within (\S+) % of it; half of (\d+) other workers? spread over (\S+) % "
        r"or more, with (\S+) % of the answers in that part",
        _narrow,
    ),
    Claim(
        "low_agreement",
        r"agrees (?P<little>little )?with others about (?P<field>\w+): "
        r"(?:by their votes, the answers are (?P<worth>\S+) % probable \((?P<of_all>\S+) % in "
        r"the middle of all workers(?P<far_votes>{far})?\), and follow them with strength )?"
        r"(?P<strength>\S+), give or take (?P<error>\S+) \(0 is chance, 1 is "
        r"(?:fully|full agreement; (?P<middle>\S+) in the middle of all workers"
        r"(?P<far>{far})?)(?:; limit (?P<limit>\S+))?\), on (?P<items>\d+) items?".replace(
            "{far}", r", \S+ standard deviations above; limit \S+?"
        ),
        _agrees,
        lambda match, _: bool(match["little"]),
    ),
    Claim(
        "gold_failed",
        r"differs from the known answer to (\w+) on (\d+) of (\d+) items?"
        r"(?: \((.* right)\))?",
        _gold,
        _failed_enough,
    ),
    Claim(
        "contradiction",
        r"gives contradictory answers to (\w+) on (\d+) of (\d+) pairs? of repeated "
        r"items",
        _contradicts,
        lambda match, _: 2 * int(match[2]) >= int(match[3]),
    ),
    Claim(
        "ignored_page_warnings",
        r"submits despite the page's warning on (\d+) of (\d+) items?; other workers "
        r"do on (.*) of theirs",
        _goes_on,
        lambda match, _: 2 * int(match[1]) >= int(match[2]),
    ),
    Claim("random_sample", r"drawn at random for review \(a share of (\S+) of all\)", _drawn),
    Claim(
        "outside_study",
        r"comes from a worker who is outside the study by an answer about themselves",
        _outside,
    ),
)
"""Each kind of sentence, and what checks it."""
