"""How suspicious an answer or a worker is to the heuristics that the joined one adds.

Only those that it gives weight to; what docs/reference/heuristics.md says of them, once
more.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import lru_cache
from statistics import fmean, stdev

from tests.end_to_end.evidence.agreeing import agreements
from tests.end_to_end.evidence.agreeing import suspicions as by_worth
from tests.end_to_end.evidence.raw_answers import RawAnswer, words
from tests.end_to_end.evidence.world import World

Suspicions = Mapping[str, float]
"""By the id of an answer or a worker; who is absent is not suspicious."""

_INSTRUCTIONS = (
    "imagine how you would describe this image on the phone to a friend",
    "parts of the image that may be important to a person who is blind",
)
_LEAST_SD = 0.25


@lru_cache(maxsize=1)
def suspicions(world: World) -> Mapping[str, Suspicions]:
    """By heuristic, the suspicions of all answers or workers."""
    reckoned = {
        "too_fast": _too_fast,
        "same_sentence": _same_sentence,
        "sentence_off_items": _sentence_off_items,
        "low_agreement": _low_agreement,
    }
    return {name: reckon(world) if world.runs(name) else {} for name, reckon in reckoned.items()}


def graded(measure: float, limit: float) -> float:
    """Half at the limit, three quarters at twice it, 0 up to three quarters of it."""
    ratio = measure / limit
    return 1 - 0.5 / ratio if ratio > 1 else max(0.0, 2 * ratio - 1.5)


def _too_fast(world: World) -> Suspicions:
    texts, answers = Counter[int](), Counter[int]()
    for answer in world.answers:
        answers[answer.batch] += 1
        texts[answer.batch] += bool(world.text(answer).split())
    suspicion_of = {}
    for answer in world.answers:
        is_click = world.is_canned(answer) or 2 * texts[answer.batch] < answers[answer.batch]
        typed = 0 if world.is_canned(answer) else len(world.text(answer).split())
        least = (
            world.param("too_fast", "min_seconds_canned", 2.0)
            if is_click
            else world.param("too_fast", "min_seconds", 5.0)
        )
        most = world.param("too_fast", "max_words_per_second", 2.0)
        seconds = answer.shown_seconds
        suspicion_of[answer.answer_id] = graded(max(least, typed / most) / seconds, 1)
    return suspicion_of


def _same_sentence(world: World) -> Suspicions:
    least = world.param("same_sentence", "min_images", 3)
    most = world.param("same_sentence", "min_share", 0.3)
    mine = defaultdict[str, Counter[str]](Counter)
    for answer in world.firsts:
        if not world.is_canned(answer) and (plain := _plain(world, answer)):
            mine[answer.worker_id][plain] += 1
    suspicion_of = {}
    for answer in world.answers:
        times, plain = mine[answer.worker_id], _plain(world, answer)
        repeated = sum(n for n in times.values() if n >= least)
        if any(phrase in plain for phrase in _INSTRUCTIONS):
            suspicion_of[answer.answer_id] = 1.0
        elif times[plain] >= least:
            suspicion_of[answer.answer_id] = graded(repeated / times.total(), most)
    return suspicion_of


def _sentence_off_items(world: World) -> Suspicions:
    least = world.param("sentence_off_items", "min_items", 10)
    errors = world.param("sentence_off_items", "min_errors", 3.0)
    same = defaultdict[str, list[RawAnswer]](list)
    for answer in world.answers:
        same[_plain(world, answer)].append(answer)
    suspicion_of: dict[str, float] = {}
    for copies in same.values():
        judged = [answer for answer in copies if answer.answer_id in world.compared]
        if len({answer.item_id for answer in judged}) >= max(least, 2):
            against = [world.compared[answer.answer_id].against for answer in judged]
            error = max(stdev(against), _LEAST_SD) / math.sqrt(len(against))
            amount = graded(fmean(against) / error, errors)
            suspicion_of |= dict.fromkeys((answer.answer_id for answer in copies), amount)
    return suspicion_of


def _low_agreement(world: World) -> Suspicions:
    suspicion_of = defaultdict[str, float](float)
    for field in world.campaign.task.item_fields:
        if field.is_opinion or not field.expects_variation:
            continue
        for worker, amount in by_worth(agreements(world.rated(field))).items():
            suspicion_of[worker] = max(suspicion_of[worker], 0.49 * amount)
    for worker, amount in suspicion_of.items():
        if "low_agreement" in world.flags.get(("worker", worker), {}):
            suspicion_of[worker] = 0.5 + amount / 0.49 / 2
    return suspicion_of


def _plain(world: World, answer: RawAnswer) -> str:
    return " ".join(words(world.text(answer)))
