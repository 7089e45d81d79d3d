"""The joined suspicion's sentence: its probability, and what counts most in it.

Reckoned from the weights that are shipped, by adding them up; what they are weights of
is reckoned from what was sent.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from piecework.qc.registry import TITLES
from tests.end_to_end.evidence.raw_answers import RawAnswer
from tests.end_to_end.evidence.suspicions import suspicions
from tests.end_to_end.evidence.world import Claim, Match, World, is_near

_ROOT = Path(__file__).resolve().parents[3]
_MEAN = " (mean of this worker's)"
_NAMES = {
    "words that no other answer about the item uses": "unshared",
    "fits another item better": "off_item",
    "shorter than usual": "short",
    "faster than usual": "fast",
    "more like the item's own text than usual": "like_item",
    "unusually like or unlike the item's own text": "odd_likeness",
}
_MOST_SHOWN = 4

Features = Mapping[str, float]


@cache
def _weights(kind: str) -> tuple[float, Features]:
    text = (_ROOT / "qc/weights.json").read_text(encoding="utf-8")
    held = json.loads(text)[kind]
    return held["intercept"], {n: w for n, w in held["weights"].items() if w}


def _features(own: Sequence[RawAnswer], world: World, *, of_worker: bool) -> Features:
    suspicion_of = suspicions(world)
    mine = [raw_answer for raw_answer in world.answers if raw_answer.worker_id == own[0].worker_id]

    def mean(of: Mapping[str, float]) -> float:
        # As if two more answers said nothing.
        return sum(of.get(raw_answer.answer_id, 0.0) for raw_answer in mine) / (len(mine) + 2)

    means = {
        name: mean({o.answer_id: world.features[o.answer_id][name] for o in mine})
        for name in _NAMES.values()
    }
    if of_worker:
        worker = own[0].worker_id
        agreeing = suspicion_of["low_agreement"].get(worker, 0.0)
        return means | {"too_fast": mean(suspicion_of["too_fast"]), "low_agreement": agreeing}
    answer = own[0].answer_id
    return (
        dict(world.features[answer])
        | {f"worker:{name}": mean_of_worker for name, mean_of_worker in means.items()}
        | {
            name: suspicion_of[name].get(answer, 0.0)
            for name in ("too_fast", "same_sentence", "sentence_off_items")
        }
    )


def _is_joined(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    # A worker with one answer is told of as either.
    kinds = ["answer", "worker"] if len(own) == 1 else ["worker"]
    return any(_holds(match, kind, own, world) for kind in kinds)


def _holds(match: Match, kind: str, own: Sequence[RawAnswer], world: World) -> bool:
    intercept, weights = _weights(kind)
    features = _features(own, world, of_worker=kind == "worker")
    amounts = {name: weight * features[name] for name, weight in weights.items()}
    probability = 1 / (1 + math.exp(-intercept - sum(amounts.values())))
    stated = {}
    for part in match[2].split(", "):
        in_words, _, amount = part.rpartition(" ")
        stated[_named(in_words)] = amount
    most = sorted(amounts, key=lambda name: -abs(amounts[name]))[:_MOST_SHOWN]
    due = Counter(f"{abs(amounts[name]):.1f}" for name in most)
    return (
        # Rounded down; a whole hundredth is either.
        any(
            float(match[1]) == math.floor(100 * (probability + hair)) / 100
            for hair in (-1e-9, 1e-9)
        )
        and stated.keys() <= amounts.keys()
        and all(
            is_near(amount, amounts[name]) and amount[0] in "+-" for name, amount in stated.items()
        )
        and Counter(stated_amount[1:] for stated_amount in stated.values())
        == Counter({due_amount: n for due_amount, n in due.items() if due_amount != "0.0"})
    )


_BY_TITLE = {f"{title[0].lower()}{title[1:]}": name for name, title in TITLES.items()}


def _named(in_words: str) -> str:
    of_worker = in_words.endswith(_MEAN)
    name = in_words.removesuffix(_MEAN)
    return f"worker:{_NAMES[name]}" if of_worker else _NAMES.get(name) or _BY_TITLE[name]


CLAIMS = (
    Claim(
        "joined_suspicion",
        r"is bad work with a probability of (\S+); strongest features, in log odds: "
        r"(.*)",
        _is_joined,
        lambda match, _: float(match[1]) >= 0.9,
    ),
)
"""Each kind of sentence, and what checks it."""
