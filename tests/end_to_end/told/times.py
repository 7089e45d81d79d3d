"""Sentences about times and keys, each with what checks it."""

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean, median, pstdev

from tests.end_to_end.told.raw_answers import RawAnswer
from tests.end_to_end.told.world import Claim, Said, World, is_near


def _pasted(match: Said, own: Sequence[RawAnswer], world: World) -> bool:
    (answer,) = own
    return (
        answer.count("keystrokes") == int(match[1])
        and answer.count("pastes") == int(match[2])
        and answer.count("focus_losses") == int(match[3] or 0)
        and is_near(match[4], answer.shown_seconds)
        and len(world.text(answer).strip()) == int(match[5])
    )


def _fast(match: Said, own: Sequence[RawAnswer], world: World) -> bool:
    (answer,) = own
    of_batch = [
        raw_answer for raw_answer in world.answers if raw_answer.batch == answer.batch
    ]
    typed = 2 * sum(bool(world.text(raw_answer)) for raw_answer in of_batch) >= len(
        of_batch
    )
    is_canned = world.is_canned(answer)
    least = (
        world.param("too_fast", "min_seconds", 5.0)
        if typed and not is_canned
        else world.param("too_fast", "min_seconds_canned", 2.0)
    )
    n_words = 0 if is_canned else len(world.text(answer).split())
    return (
        is_near(match["seconds"], answer.shown_seconds)
        and float(match["least"]) == least
        and (match["speed"] is not None) == (n_words > 0)
        and (
            not n_words
            or (
                is_near(match["speed"], n_words / answer.shown_seconds)
                and float(match["most"]) == 2
            )
        )
    )


def _rushed(match: Said, own: Sequence[RawAnswer], world: World) -> bool:
    of_hit = defaultdict[str, list[RawAnswer]](list)
    for answer in world.answers:
        if answer.batch == own[0].batch:
            of_hit[answer.assignment_id].append(answer)
    typed = {
        name: fmean(
            0 if world.is_canned(answer) else len(world.text(answer).split())
            for answer in hit
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
        is_near(match[1], seconds[mine])
        and is_near(match[2], expected(mine))
        and is_near(match[3], expected(mine) / seconds[mine])
        and is_near(match[4], math.exp(max(math.log(2), 2.33 * spread)))
    )


def _out_of_batch(match: Said, own: Sequence[RawAnswer], world: World) -> bool:
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


def _out_of_item(match: Said, own: Sequence[RawAnswer], world: World) -> bool:
    (answer,) = own
    times = [o.shown_seconds for o in world.firsts if o.item_id == answer.item_id]
    distance = (answer.shown_seconds - fmean(times)) / pstdev(times)
    return (
        answer in world.firsts
        and is_near(match[1], answer.shown_seconds)
        and int(match[2]) == len(times)
        and is_near(match[3], fmean(times))
        and is_near(match[4], abs(distance))
        and (match[5] == "above") == (distance > 0)
        and float(match[6]) == world.param("time_in_image", "outlier_sds", 1.95)
    )


def _is_too_fast(match: Said, _: World) -> bool:
    is_short = float(match["seconds"]) < float(match["least"])
    return is_short or float(match["speed"] or 0) > float(match["most"] or 0)


CLAIMS = (
    Claim(
        "not_typed",
        r"(\d+) keystrokes?, (\d+) pastes?(?:, (\d+) times? out of focus)?, (\S+) "
        r"seconds for a text of (\d+) characters?",
        _pasted,
    ),
    Claim(
        "too_fast",
        r"(?P<seconds>\S+) seconds(?:, (?P<speed>\S+) words a second)? \(expected at "
        r"least (?P<least>\S+) seconds(?:, at most (?P<most>\S+) words a second)?\)",
        _fast,
        _is_too_fast,
    ),
    Claim(
        "rushed",
        r"(\S+) seconds an item, (\S+) would be usual here for as many words: (\S+) "
        r"times as fast, the limit is (\S+)",
        _rushed,
        lambda match, _: float(match[3]) >= float(match[4]),
    ),
    Claim(
        "time_in_batch",
        r"(\S+) seconds an item, the batch's mean is (\S+): ([+-]\S+) sd on raw times, "
        r"([+-]\S+) sd on log times, limit (\S+) \(log\)",
        _out_of_batch,
        lambda match, _: abs(float(match[4])) > float(match[5]),
    ),
    Claim(
        "time_in_image",
        r"(\S+) seconds, the mean of (\d+) answers? about this item is (\S+): (\S+) sd "
        r"(above|below), limit (\S+) \(shown_seconds\)",
        _out_of_item,
        lambda match, _: float(match[4]) > float(match[6]),
    ),
)
"""Each kind of sentence, and what checks it."""
