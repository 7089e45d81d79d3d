"""Sentences about times and keys, each with what checks it."""

import json
import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean, median, pstdev

from tests.end_to_end.evidence.raw_answers import RawAnswer
from tests.end_to_end.evidence.world import Claim, Match, World, is_near

_INTERCEPT, _ELSEWHERE = -3.78, 7.34
"""Of the curve of `not_typed`, as docs/internals/measurements/typing.md states it."""


def _pasted(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    (answer,) = own
    record = json.loads(answer.sent["typing"])["caption"]
    characters = sum(count for _, count in record["kinds"].values())
    at = _INTERCEPT + _ELSEWHERE * record["outside"] / characters
    return (
        record["outside"] == int(match[1])
        and record["length"] == len(world.text(answer))
        and characters == int(match[2])
        and float(match[3]) == round(100 / (1 + math.exp(-at)))
    )


def _fast(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    (answer,) = own
    of_batch = [raw_answer for raw_answer in world.answers if raw_answer.batch == answer.batch]
    typed = 2 * sum(bool(world.text(raw_answer)) for raw_answer in of_batch) >= len(of_batch)
    is_canned = world.is_canned(answer)
    least = (
        world.param("too_fast", "min_seconds", 5.0)
        if typed and not is_canned
        else world.param("too_fast", "min_seconds_canned", 2.0)
    )
    n_words = 0 if is_canned else len(world.text(answer).split())
    speed = n_words / answer.shown_seconds
    most = world.param("too_fast", "max_words_per_second", 2.0)
    stated, stated_most = match["speed"] or match["haste"], match["most"] or match["limit"]
    return (
        is_near(match["seconds"] or match["within"], answer.shown_seconds)
        and (match["least"] is None or float(match["least"]) == least)
        # What is as expected is not said, but for the time of an answer that is only near.
        and (match["least"] is not None) == (answer.shown_seconds < least or speed <= most)
        and (stated is not None) == (speed > most)
        and (stated is None or (is_near(stated, speed) and float(stated_most) == most))
    )


def _rushed(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    of_hit = defaultdict[str, list[RawAnswer]](list)
    for answer in world.answers:
        if answer.batch == own[0].batch:
            of_hit[answer.assignment_id].append(answer)
    typed = {
        name: fmean(
            0 if world.is_canned(answer) else len(world.text(answer).split()) for answer in hit
        )
        for name, hit in of_hit.items()
    }
    seconds = {name: hit[0].page_seconds for name, hit in of_hit.items()}
    usual, usual_words = median(seconds.values()), median(typed.values())

    def expected(name: str) -> float:
        return max(usual + 60 / 52 * (typed[name] - usual_words), usual / 4)

    haste = {name: math.log(expected(name) / seconds[name]) for name in of_hit}
    middle = median(haste.values())
    fast = [ratio - middle for ratio in haste.values() if ratio > middle]
    spread = 1.4826 * median(fast) if fast else 0.0
    mine = own[0].assignment_id
    return (
        is_near(match[1], expected(mine) / seconds[mine])
        and is_near(match[2], math.exp(max(math.log(2), 2.33 * spread)))
        and is_near(match[3], seconds[mine])
        and is_near(match[4], expected(mine))
    )


def _out_of_batch(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    times = {
        answer.assignment_id: answer.market_seconds
        for answer in world.answers
        if answer.batch == own[0].batch
    }
    mine, raw = times[own[0].assignment_id], [*times.values()]
    logs = [math.log(seconds) for seconds in raw]
    return (
        float(match[5]) == world.param("time_in_batch", "outlier_sds", 1.95)
        and is_near(match[1], mine)
        and is_near(match[2], fmean(raw))
        and is_near(match[3], (mine - fmean(raw)) / pstdev(raw))
        and is_near(match[4], (math.log(mine) - fmean(logs)) / pstdev(logs))
    )


def _out_of_item(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    (answer,) = own
    times = [o.shown_seconds for o in world.firsts if o.item_id == answer.item_id]
    distance = (answer.shown_seconds - fmean(times)) / pstdev(times)
    return (
        answer in world.firsts
        and (match[1] == "more") == (match[4] == "above") == (distance > 0)
        and is_near(match[2], answer.shown_seconds)
        and is_near(match[3], abs(distance))
        and int(match[5]) == len(times)
        and is_near(match[6], fmean(times))
        and float(match[7]) == world.param("time_in_image", "outlier_sds", 1.95)
    )


def _is_too_fast(match: Match, _: World) -> bool:
    is_short = match["least"] is not None and float(match["seconds"]) < float(match["least"])
    return is_short or bool(match["speed"] or match["haste"])


CLAIMS = (
    Claim(
        "not_typed",
        r"was entered with (\d+) characters? pasted from outside the page, (\d+) "
        r"characters? in all; most of it was not typed here with a probability of "
        r"(\d+)%; the page cannot know who wrote it",
        _pasted,
    ),
    Claim(
        "too_fast",
        r"takes (?P<seconds>\S+) seconds \(expected at least (?P<least>\S+)\)(?: and "
        r"types (?P<speed>\S+) words a second \(expected at most (?P<most>\S+)\))?"
        r"|types (?P<haste>\S+) words a second \(expected at most (?P<limit>\S+)\), in "
        r"(?P<within>\S+) seconds",
        _fast,
        _is_too_fast,
    ),
    Claim(
        "rushed",
        r"works (\S+) times as fast as usual \(the limit is (\S+)\): (\S+) seconds an "
        r"item, where this batch usually takes (\S+) for as many words",
        _rushed,
        lambda match, _: float(match[1]) >= float(match[2]),
    ),
    Claim(
        "time_in_batch",
        r"differs in time from its batch: (\S+) seconds an item, where the mean is "
        r"(\S+); ([+-]\S+) sd on raw times, ([+-]\S+) sd on log times, limit (\S+) "
        r"\(log\)",
        _out_of_batch,
        lambda match, _: abs(float(match[4])) > float(match[5]),
    ),
    Claim(
        "time_in_image",
        r"takes (more|less) time than other answers about this item: (\S+) seconds, "
        r"(\S+) standard deviations (above|below) the mean of (\d+) answers? "
        r"\((\S+)\); the limit is (\S+) \(shown_seconds\)",
        _out_of_item,
        lambda match, _: float(match[3]) > float(match[7]),
    ),
)
"""Each kind of sentence, and what checks it."""
