"""Classify the slips that turned one word into another.

The channel has a cost for each letter. Here similar slips are grouped, so that rare
letters benefit from data about similar ones.
"""

from collections.abc import Iterator, Sequence
from itertools import product

NAMES = (
    "added_double", "added_near", "added_vowel", "added_other", "added_last",
    "added_last_e", "lost_double", "lost_vowel", "lost_silent", "lost_other",
    "lost_first", "lost_last", "other_vowel", "other_near", "other_sound",
    "other_letter", "other_first", "other_last", "swapped_kinds", "swapped_alike",
    "more_slips",
)  # fmt: skip
"""An extra letter, a missing one, a wrong one, two swapped; how many beyond the first.

Double and near describe a letter's relation to its neighbour in the word or on the
keyboard.
"""

Step = tuple[int, int, int, int]
"""The positions in both words, meant and typed, and the number of letters of each."""

_ROWS = (("qwertyuiop", 0.0), ("asdfghjkl", 0.3), ("zxcvbnm", 0.8))
"""The rows of keys, and how far each is shifted to the right, in keys."""

_KEYS = {
    letter: (row, at + shift)
    for row, (letters, shift) in enumerate(_ROWS)
    for at, letter in enumerate(letters)
}
_REACH = 1.15
_NEAR = frozenset(
    (key, other_key)
    for key, (row, at) in _KEYS.items()
    for other_key, (other_row, other_at) in _KEYS.items()
    if key != other_key and abs(row - other_row) <= 1 and abs(at - other_at) <= _REACH
)
_ALIKE = {
    letter: group for group in ("ckq", "sz", "gj", "fv", "dt", "bp", "mn", "lr") for letter in group
}
_VOWELS = frozenset("aeiouy")
_SILENT = frozenset("hwk'")
_TO_A_STRANGER = 1.1
_AMONG_THEIR_KIND = 0.9
_PLACES = {name: place for place, name in enumerate(NAMES)}


def slips(typed: str, meant: str) -> Sequence[float]:
    """Count the slips of each of `NAMES` between the meant and the typed word.

    >>> def named(typed, meant):
    ...     return [name for name, n in zip(NAMES, slips(typed, meant)) if n]
    >>> named("teh", "the"), named("ferrett", "ferret")
    (['swapped_kinds'], ['added_double', 'added_last'])
    >>> named("runing", "running"), named("vall", "ball")
    (['lost_double'], ['other_near', 'other_first'])
    """
    counts = [0.0] * len(NAMES)
    steps = _steps(meant, typed)
    for step in steps:
        for name in _names(meant, typed, step):
            counts[_PLACES[name]] += 1
    counts[_PLACES["more_slips"]] = max(0, len(steps) - 1)
    return counts


def _names(meant: str, typed: str, step: Step) -> Iterator[str]:
    at, typed_at, taken, came_out = step
    if not taken:
        yield _added(typed, typed_at)
        if typed_at == len(typed) - 1:
            yield "added_last_e" if typed[typed_at] == "e" else "added_last"
        return
    if taken > 1:
        is_mixed = (meant[at] in _VOWELS) != (meant[at + 1] in _VOWELS)
        yield "swapped_kinds" if is_mixed else "swapped_alike"
        return
    yield _other(meant[at], typed[typed_at]) if came_out else _lost(meant, at)
    sort = "other" if came_out else "lost"
    if at == 0:
        yield f"{sort}_first"
    if at == len(meant) - 1:
        yield f"{sort}_last"


def _other(meant: str, typed: str) -> str:
    if meant in _VOWELS and typed in _VOWELS:
        return "other_vowel"
    if (meant, typed) in _NEAR:
        return "other_near"
    return "other_sound" if typed in _ALIKE.get(meant, "") else "other_letter"


def _lost(meant: str, at: int) -> str:
    letter = meant[at]
    if letter in (meant[at - 1 : at], meant[at + 1 : at + 2]):
        return "lost_double"
    if letter in _VOWELS:
        return "lost_vowel"
    return "lost_silent" if letter in _SILENT else "lost_other"


def _added(typed: str, at: int) -> str:
    letter, beside = typed[at], (typed[at - 1 : at], typed[at + 1 : at + 2])
    if letter in beside:
        return "added_double"
    if any((letter, other) in _NEAR for other in beside):
        return "added_near"
    return "added_vowel" if letter in _VOWELS else "added_other"


def _steps(meant: str, typed: str) -> list[Step]:
    """Return the fewest slips between two words, preferring vowels for vowels."""
    most = min(len(meant), len(typed))
    start = 0
    while start < most and meant[start] == typed[start]:
        start += 1
    end = 0
    while end < most - start and meant[-1 - end] == typed[-1 - end]:
        end += 1
    stood, came_out = meant[start : len(meant) - end], typed[start : len(typed) - end]
    return [
        (start + at, start + typed_at, taken, put)
        for at, typed_at, taken, put in _aligned(stood, came_out)
    ]


def _aligned(meant: str, typed: str) -> list[Step]:
    if not meant or not typed:
        lost = [(at, 0, 1, 0) for at in range(len(meant))]
        return lost + [(0, at, 0, 1) for at in range(len(typed))]
    if len(meant) == len(typed) == 1:
        return [(0, 0, 1, 1)]
    best: dict[tuple[int, int], tuple[float, Step | None]] = {(0, 0): (0.0, None)}
    for i, j in product(range(len(meant) + 1), range(len(typed) + 1)):
        if i or j:
            best[i, j] = min(
                (
                    (best[i - a, j - b][0] + price, (i - a, j - b, a, b))
                    for price, a, b in _last(meant, typed, i, j)
                ),
                key=lambda each: each[0],
            )
    steps = []
    at, typed_at = len(meant), len(typed)
    while step := best[at, typed_at][1]:
        at, typed_at, taken, put = step
        if meant[at : at + taken] != typed[typed_at : typed_at + put]:
            steps.append(step)
    return steps[::-1]


def _last(meant: str, typed: str, i: int, j: int) -> Iterator[tuple[float, int, int]]:
    """Yield the cost and letters of each step to a position, the likelier first."""
    if i and j:
        meant_letter, typed_letter = meant[i - 1], typed[j - 1]
        if meant_letter == typed_letter:
            yield 0.0, 1, 1
        elif i > 1 and j > 1 and (meant_letter, meant[i - 2]) == (typed[j - 2], typed_letter):
            yield 1.0, 2, 2
        is_kind = (meant_letter in _VOWELS) == (typed_letter in _VOWELS)
        if meant_letter != typed_letter:
            yield _AMONG_THEIR_KIND if is_kind else _TO_A_STRANGER, 1, 1
    if i:
        yield 1.0, 1, 0
    if j:
        yield 1.0, 0, 1
