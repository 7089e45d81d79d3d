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
from statistics import fmean

from piecework.qc.registry import TITLES
from tests.end_to_end.evidence.raw_answers import RawAnswer, words
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
    "more like this worker's other texts in the HIT than usual": "like_own",
    "unusually like or unlike this worker's other texts in the HIT": "odd_own",
}
_MOST_SHOWN = 4

Features = Mapping[str, float]


@cache
def _weights(kind: str) -> tuple[float, Features]:
    text = (_ROOT / "qc/weights.json").read_text(encoding="utf-8")
    held = json.loads(text)[kind]
    return held["intercept"], {n: w for n, w in held["weights"].items() if w}


def _features(own: RawAnswer, world: World) -> Features:
    suspicion_of = suspicions(world)
    mine = [raw_answer for raw_answer in world.answers if raw_answer.worker_id == own.worker_id]

    copies = Counter(" ".join(words(world.text(raw_answer))) for raw_answer in mine)
    shares = {
        raw_answer.answer_id: 1 / copies[text] if text else 1.0
        for raw_answer in mine
        for text in [" ".join(words(world.text(raw_answer)))]
    }

    def mean(of: Mapping[str, float]) -> float:
        # Copies of a text count as one, and it is as if two more answers said nothing.
        summed = sum(share * of.get(answer_id, 0.0) for answer_id, share in shares.items())
        return summed / (sum(shares.values()) + 2)

    means = {
        f"worker:{name}": mean({o.answer_id: world.features[o.answer_id][name] for o in mine})
        for name in _NAMES.values()
    }
    heuristics = ("too_fast", "same_sentence", "sentence_off_items")
    of_heuristics = {name: suspicion_of[name].get(own.answer_id, 0.0) for name in heuristics}
    return {**world.features[own.answer_id], **means, **of_heuristics}


def _amounts(own: RawAnswer, world: World) -> tuple[float, Features]:
    """The probability of an answer, and what each feature adds to its log odds."""
    intercept, weights = _weights("answer")
    features = _features(own, world)
    amounts = {name: weight * features[name] for name, weight in weights.items()}
    return 1 / (1 + math.exp(-intercept - sum(amounts.values()))), amounts


def _is_joined(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    if match[3] is None:
        probability, amounts = _amounts(own[0], world)
    else:
        counted = [answer for answer in own if answer.answer_id in world.compared]
        each = [_amounts(answer, world) for answer in counted]
        probability = fmean(likely for likely, _ in each)
        amounts = {name: fmean(parts[name] for _, parts in each) for name in each[0][1]}
        if len(counted) != int(match[3]):
            return False
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


def _is_entered(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    """Whether the parts add up, and the answer was pasted, or has the word, if that is said."""
    parts = [part.rpartition(" ") for part in match[2].split(", ")]
    planted = str(world.param("canary", "word", "")).lower()
    due = {"how it was entered"}
    if planted and planted in words(world.text(own[0])):
        due.add("planted word")
    odds = math.log(0.2) + sum(float(amount) for _, _, amount in parts)
    low, high = (1 / (1 + math.exp(-odds - 0.06 * len(parts) * sign)) for sign in (-1, 1))
    is_sum = math.floor(100 * low) <= round(100 * float(match[1])) <= math.floor(100 * high)
    amounts = {name: float(amount) for name, _, amount in parts}
    is_typed = amounts["how it was entered"] < 0
    is_pasted = own[0].count("pastes") > 0 or own[0].count("keystrokes") < len(world.text(own[0]))
    return is_sum and amounts.keys() == due and (is_typed or is_pasted)


CLAIMS = (
    Claim(
        "not_written_here",
        r"was not written here by a person with a probability of (\S+) \(in log odds: (.*?)"
        r"(?:; it has (?:no samples to compare with))?\); this cannot tell a person's own text "
        r"that was pasted from a program's, nor know programs without samples, retyped texts or "
        r"forged records",
        _is_entered,
        lambda match, _: float(match[1]) >= 0.9,
    ),
    Claim(
        "joined_suspicion",
        r"is bad work with a probability of (\S+); strongest features, in log odds: "
        r"(.*?)(?: \(mean of (\d+) answers\))?",
        _is_joined,
        lambda match, _: float(match[1]) >= 0.9,
    ),
)
"""Each kind of sentence, and what checks it."""
