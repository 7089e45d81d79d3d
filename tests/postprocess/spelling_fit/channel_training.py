"""Learns from pairs of wrong and right words what each piece of a word comes out as.

Brill and Moore (ACL 2000), section 3: both words are aligned letter by letter, every
letter that came out otherwise is counted together with up to two of its neighbours on
either side, and each piece is divided by how often it was to be written at all.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from piecework.postprocess.language.channel import LONGEST_PIECE

_CONTEXT = 2
_LEAST_COUNT = 2.0
_TAKEN_OFF = 0.3
_FEW = 0.5
_OF_FEW = 0.4
_UNSEEN = 5
_LEAST_SHARE = 1e-7
_VOWELS = frozenset("aeiouy")
_TO_A_STRANGER = 1.1
_AMONG_THEIR_KIND = 0.9

Step = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A wrong word, the right one, and how much it counts."""

    typed: str
    meant: str
    weight: float


def costs(pairs: Iterable[Pair]) -> Mapping[Step, float]:
    """What each piece costs, in nats, by (meant, typed)."""
    changed: defaultdict[Step, float] = defaultdict(float)
    written: defaultdict[str, float] = defaultdict(float)
    for pair in pairs:
        meant = f"^{pair.meant}$"
        for piece in _changed(aligned(meant, f"^{pair.typed}$")):
            changed[piece] += pair.weight
        for length in range(LONGEST_PIECE + 1):
            for start in range(len(meant) - length + 1):
                written[meant[start : start + length]] += pair.weight
    return {
        (piece, came_out): -math.log(max(_share(count, written[piece]), _LEAST_SHARE))
        for (piece, came_out), count in changed.items()
        if count >= _LEAST_COUNT or len(piece) + len(came_out) <= _CONTEXT
    }


def _share(count: float, written: float) -> float:
    less = count - _TAKEN_OFF if count > _FEW else count * _OF_FEW
    return less / (written + _UNSEEN)


def aligned(meant: str, typed: str) -> list[Step]:
    """The steps from one word to the other: a letter each, or two that were swapped.

    >>> aligned("the", "teh")
    [('t', 't'), ('he', 'eh')]
    """
    steps: dict[tuple[int, int], tuple[float, Step]] = {(0, 0): (0.0, ("", ""))}
    for i in range(len(meant) + 1):
        for j in range(len(typed) + 1):
            if i or j:
                steps[i, j] = min(
                    (
                        (steps[i - len(a), j - len(b)][0] + price, (a, b))
                        for price, a, b in _last(meant[:i], typed[:j])
                    ),
                    key=lambda each: each[0],
                )
    i, j = len(meant), len(typed)
    path = []
    while i or j:
        _, step = steps[i, j]
        path.append(step)
        i, j = i - len(step[0]), j - len(step[1])
    return path[::-1]


def _last(meant: str, typed: str) -> Iterator[tuple[float, str, str]]:
    """The steps that may come last, and what each adds; the likelier first."""
    ends = meant[-2:], typed[-2:]
    if len(ends[0]) == len(ends[1]) == 2 and ends[0] == ends[1][::-1] != ends[1]:
        yield 1.0, *ends
    if meant and typed:
        same = (meant[-1] in _VOWELS) == (typed[-1] in _VOWELS)
        other = _AMONG_THEIR_KIND if same else _TO_A_STRANGER
        yield 0.0 if meant[-1] == typed[-1] else other, meant[-1], typed[-1]
    if meant:
        yield 1.0, meant[-1], ""
    if typed:
        yield 1.0, "", typed[-1]


def _changed(steps: list[Step]) -> Iterator[Step]:
    """Every piece around each step that changed something."""
    for n, (meant, typed) in enumerate(steps):
        if meant == typed:
            continue
        pieces = {
            ("".join(a for a, _ in part), "".join(b for _, b in part))
            for low in range(max(0, n - _CONTEXT), n + 1)
            for high in range(n + 1, min(len(steps), n + 1 + _CONTEXT) + 1)
            if (part := steps[low:high])
        }
        yield from (piece for piece in sorted(pieces) if max(map(len, piece)) <= LONGEST_PIECE)
