"""What texts and times say of an answer, in standard deviations of its batch."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev

from tests.end_to_end.evidence.comparing import Comparison
from tests.end_to_end.evidence.raw_answers import RawAnswer


def features(
    answers: Sequence[RawAnswer], compared: Mapping[str, Comparison]
) -> dict[str, dict[str, float]]:
    """By answer, what its text and time say, in the batch's standard deviations."""
    own: dict[str, dict[str, float]] = {}
    for batch in {answer.batch for answer in answers}:
        measures = {
            answer.answer_id: _measures(answer, compared)
            for answer in answers
            if answer.batch == batch
        }
        usual = {}
        for name in ("unshared", "short", "fast"):
            known = [o[name] for o in measures.values() if o[name] is not None]
            usual[name] = [measure for measure in known if measure is not None]
        for answer_id, measured in measures.items():
            own[answer_id] = {name: _in_sds(measured[name], usual[name]) for name in usual}
            # No shipped task asks for a text beside a text of the item.
            own[answer_id] |= {"like_item": 0.0, "odd_likeness": 0.0}
            comparison = compared.get(answer_id)
            own[answer_id]["off_item"] = max(-5, min(5, comparison.against)) if comparison else 0
    return own


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
