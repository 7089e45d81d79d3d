"""What texts and times say of an answer, in standard deviations of its batch."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev

from tests.end_to_end.evidence.comparing import Comparison
from tests.end_to_end.evidence.raw_answers import RawAnswer


def features(
    answers: Sequence[RawAnswer], compared: Mapping[str, Comparison], plain: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    """By answer, what its text and time say, in the batch's standard deviations.

    Args:
        answers: of all batches.
        compared: by answer, its text beside others'.
        plain: by answer, its words; "" if it has none of its own.
    """
    alike = _likenesses(answers, plain)
    own: dict[str, dict[str, float]] = {}
    for batch in {answer.batch for answer in answers}:
        measures = {
            answer.answer_id: _measures(answer, compared) | {"like_own": alike[answer.answer_id]}
            for answer in answers
            if answer.batch == batch
        }
        usual = {}
        for name in ("unshared", "short", "fast", "like_own"):
            known = [o[name] for o in measures.values() if o[name] is not None]
            usual[name] = [measure for measure in known if measure is not None]
        for answer_id, measured in measures.items():
            own[answer_id] = {name: _in_sds(measured[name], usual[name]) for name in usual}
            # No shipped task but `words` asks for a text beside a text of the item.
            own[answer_id] |= {"like_item": 0.0, "odd_likeness": 0.0}
            oddness = abs(own[answer_id]["like_own"]) - math.sqrt(2 / math.pi)
            own[answer_id]["odd_own"] = 0.0 if measured["like_own"] is None else oddness
            comparison = compared.get(answer_id)
            own[answer_id]["off_item"] = max(-5, min(5, comparison.against)) if comparison else 0
    return own


def _likenesses(
    answers: Sequence[RawAnswer], plain: Mapping[str, str]
) -> Mapping[str, float | None]:
    """By answer, the mean likeness to the texts of the assignment, at most 20 on each side."""
    of_assignment = defaultdict[str, list[str]](list)
    for answer in sorted(answers, key=lambda answer: answer.answer_id):
        if plain[answer.answer_id]:
            of_assignment[answer.assignment_id].append(answer.answer_id)
    alike: dict[str, float | None] = {answer.answer_id: None for answer in answers}
    for own in of_assignment.values():
        for place, answer_id in enumerate(own):
            beside = own[max(place - 20, 0) : place] + own[place + 1 : place + 21]
            if beside:
                alike[answer_id] = fmean(_alike(plain[answer_id], plain[o]) for o in beside)
    return alike


def _alike(first: str, second: str) -> float:
    """Twice the letters in common, in order, of all letters."""
    row = [0] * (len(second) + 1)
    for letter in first:
        left = 0
        for place, other in enumerate(second, start=1):
            above = row[place]
            row[place] = left + 1 if letter == other else max(above, row[place - 1])
            left = above
    return 2 * row[-1] / (len(first) + len(second))


def _measures(answer: RawAnswer, compared: Mapping[str, Comparison]) -> dict[str, float | None]:
    comparison = compared.get(answer.answer_id)
    return {
        "unshared": 1 - comparison.shared / comparison.words if comparison else None,
        "short": -math.log(comparison.words) if comparison else None,
        "fast": -math.log(answer.shown_seconds),
    }


def _in_sds(measure: float | None, of_batch: Sequence[float]) -> float:
    if measure is None or len(of_batch) < 1 or not (sd := pstdev(of_batch)):
        return 0.0
    return max(-3.0, min(3.0, (measure - fmean(of_batch)) / sd))
