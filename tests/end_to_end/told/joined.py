"""The joined suspicion's sentence: its probability, and what counts in it.

What texts and times say is reckoned from what was sent; of a heuristic's suspicion,
which has a sentence of its own, only that it is from 0 to 1.
"""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from tests.end_to_end.told.raw_answers import RawAnswer
from tests.end_to_end.told.world import Claim, Said, World, is_near

_ROOT = Path(__file__).resolve().parents[3]
_MEAN = " (mean of this worker's)"
_NAMES = {
    "words that no other answer about the item uses": "unshared",
    "fits another item better": "off_item",
    "shorter than usual": "short",
    "faster than usual": "fast",
}
_ROUNDING = 0.05

Features = Mapping[str, float]


@cache
def _weights() -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    text = (_ROOT / "qc/weights.json").read_text(encoding="utf-8")
    held: Mapping[str, Mapping[str, Mapping[str, float]]] = json.loads(text)
    return held


def _features(own: Sequence[RawAnswer], world: World, *, of_worker: bool) -> Features:
    reckoned = world.features
    mine = [one for one in world.answers if one.worker_id == own[0].worker_id]
    means = {
        name: sum(reckoned[one.answer_id][name] for one in mine) / (len(mine) + 2)
        for name in _NAMES.values()
    }
    if of_worker:
        return means
    return dict(reckoned[own[0].answer_id]) | {
        f"worker:{n}": m for n, m in means.items()
    }


def _is_joined(said: Said, own: Sequence[RawAnswer], world: World) -> bool:
    told = {}
    for part in said[2].split(", "):
        words, _, amount = part.rpartition(" ")
        told[words] = float(amount)
    for kind in ("answer", "worker"):
        if (kind == "answer") == (len(own) == 1) and _holds(
            float(said[1]),
            told,
            _features(own, world, of_worker=kind == "worker"),
            kind,
        ):
            return True
    return False


def _holds(
    probability: float, told: Mapping[str, float], features: Features, kind: str
) -> bool:
    weights: Mapping[str, float] = _weights()[kind]["weights"]
    amounts = {name: weights[name] * value for name, value in features.items()}
    by_name = {_named(words): amount for words, amount in told.items()}
    if not all(
        is_near(f"{amount:.1f}", amounts[name])
        if name in amounts
        else 0 <= amount <= weights[name] + _ROUNDING
        for name, amount in by_name.items()
    ):
        return False
    least_told = min(abs(amount) for amount in by_name.values())
    others = [name for name in weights if name not in amounts]
    sure = float(_weights()[kind]["intercept"]) + sum(amounts.values())  # type: ignore[arg-type]
    low = sure + sum(by_name.get(name, 0.0) - _ROUNDING for name in others)
    high = sure + sum(
        by_name[name] + _ROUNDING
        if name in by_name
        else min(weights[name], least_told + _ROUNDING)
        for name in others
    )
    return _floor(low) <= probability <= _floor(high)


def _named(words: str) -> str:
    of_worker = words.endswith(_MEAN)
    name = words.removesuffix(_MEAN)
    return f"worker:{_NAMES[name]}" if of_worker else _NAMES.get(name, name)


def _floor(log_odds: float) -> float:
    return math.floor(100 / (1 + math.exp(-log_odds))) / 100


CLAIMS = (
    Claim(
        "joined_suspicion",
        r"probability (\S+) of bad work; log odds: (.*)",
        _is_joined,
        lambda said, _: float(said[1]) >= 0.9,
    ),
)
"""Each kind of sentence, and what checks it."""
