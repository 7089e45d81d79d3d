"""The channel model: the cost of typing one word when another is meant.

After Brill and Moore, "An Improved Error Model for Noisy Channel Spelling Correction" (ACL
2000): a word is written in pieces of up to three letters, and each piece may be mistyped as
another (`ant` as `ent`, `gh` as nothing, `ab` as `ba`). `channel.tsv` has the cost of each
piece in nats: the negative logarithm of its frequency in pairs of wrong and right words.
tests/postprocess/spelling_fit generates that file; there, `^` and `$` stand for the ends of
a word. Slips group similar changes, so that rare letters benefit from data about similar
ones.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.intp]

LONGEST_PIECE = 3
UNHEARD_OF = 9.0
"""The cost of a single-letter change that was never observed."""

OUT_OF_REACH = 1e6
"""The price of words that no sequence of pieces connects."""

_BAND = 4
"""The largest offset between the two words, in letters."""

_AROUND = 2
"""The number of letters kept around a difference, because pieces may need them."""

_AT_ONCE = 8192
_SYMBOLS = {sign: n for n, sign in enumerate("abcdefghijklmnopqrstuvwxyz'^$", start=1)}
_STRANGE = 31
_OF_BYTE = np.full(256, _STRANGE, dtype=np.intp)
_OF_BYTE[[0, *map(ord, _SYMBOLS)]] = [0, *_SYMBOLS.values()]
_BASE = 32


class Channel:
    """The cost of typing one word when another is meant.

    Attributes:
        costs: nats by piece, as (meant, typed).
        known: by typed word, the meant words whose prices were computed before, and these.
    """

    def __init__(self, costs: Mapping[tuple[str, str], float]) -> None:
        """Build the lookup table, including the cost of each unchanged letter."""
        self.costs = costs
        self.known: dict[str, tuple[Sequence[str], Sequence[float]]] = {}
        self._recalled: dict[tuple[str, str], float] = {}
        letters = [sign for sign in _SYMBOLS if sign not in "^$"]
        meant = sorted({piece for piece, _ in costs} | {"", *_SYMBOLS})
        typed = sorted({piece for _, piece in costs} | {"", *_SYMBOLS})
        self._row, self._column = _numbered(meant), _numbered(typed)
        table = np.full((len(meant) + 2, len(typed) + 2), OUT_OF_REACH, dtype=np.float32)
        # Row and column 0 are for missing pieces, 1 for unknown letters.
        rows = {piece: n for n, piece in enumerate(meant, start=2)}
        columns = {piece: n for n, piece in enumerate(typed, start=2)}
        for sign in [*letters, ""]:
            for other in [*letters, ""]:
                table[rows[sign], columns[other]] = UNHEARD_OF
        table[1, [columns[sign] for sign in [*letters, ""]]] = UNHEARD_OF
        table[[rows[sign] for sign in [*letters, ""]], 1] = UNHEARD_OF
        table[1, 1] = UNHEARD_OF
        for (piece, other), cost in costs.items():
            table[rows[piece], columns[other]] = cost
        for sign in _SYMBOLS:
            table[rows[sign], columns[sign]] = 0
        self._table = table

    def price(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Return the lowest cost of each pair (typed, meant), in nats, 0 if equal."""
        trimmed = [_trimmed(typed, meant) for typed, meant in pairs]
        sizes = [max(len(typed), len(meant)) for typed, meant in trimmed]
        order = sorted(range(len(pairs)), key=sizes.__getitem__)
        prices = np.zeros(len(pairs), dtype=np.float32)
        for at in range(0, len(order), _AT_ONCE):
            chunk = order[at : at + _AT_ONCE]
            prices[chunk] = self._chunk([trimmed[n] for n in chunk])
        return prices

    def recall(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Like `price`, with a cache, for pairs that were mostly priced before."""
        fresh = [pair for pair in pairs if pair not in self._recalled]
        if fresh:
            prices = self.price(fresh).tolist()
            self._recalled.update(zip(fresh, prices, strict=True))
        return [self._recalled[pair] for pair in pairs]

    def _chunk(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        typed_lengths = np.array([len(typed) for typed, _ in pairs])
        meant_lengths = np.array([len(meant) for _, meant in pairs])
        columns = self._pieces([typed for typed, _ in pairs], self._column)
        rows = self._pieces([meant for _, meant in pairs], self._row)
        height, width = int(meant_lengths.max()), int(typed_lengths.max())
        best = np.full((height + 1, width + 1, len(pairs)), OUT_OF_REACH, dtype=np.float32)
        best[0, 0] = 0
        for i in range(height + 1):
            for j in range(max(0, i - _BAND), min(width, i + _BAND) + 1):
                here = best[i, j]
                for up in range(min(LONGEST_PIECE, height - i) + 1):
                    for across in range(min(LONGEST_PIECE, width - j) + 1):
                        if up or across:
                            cost = self._table[rows[up][i], columns[across][j]]
                            there = best[i + up, j + across]
                            np.minimum(there, here + cost, out=there)
        ends: Floats = best[meant_lengths, typed_lengths, np.arange(len(pairs))]
        return ends

    def _pieces(self, words: Sequence[str], numbers: Ints) -> list[Ints]:
        """Return the number of the piece that begins at each place, by length."""
        width = max(map(len, words))
        # One byte per letter, and zero bytes after each word's end.
        line = np.array([word.encode("ascii", "replace") for word in words])
        line = line.astype(f"S{width}").view(np.uint8).reshape(len(words), width)
        letters = np.zeros((width + LONGEST_PIECE, len(words)), dtype=np.intp)
        letters[:width] = _OF_BYTE[line].T
        of_length = [np.full((width + 1, len(words)), numbers[0])]
        code = np.zeros((width + 1, len(words)), dtype=np.intp)
        ends = np.zeros((width + 1, len(words)), dtype=bool)
        for length in range(1, LONGEST_PIECE + 1):
            after = letters[length - 1 : length + width]
            code = code * _BASE + after
            ends |= after == 0
            of_length.append(np.where(ends, 0, numbers[code]))
        return of_length


def read_channel(path: Path) -> Channel:
    """Read a channel from a file with meant, typed and centinats in each row."""
    rows = (line.split("\t") for line in path.read_text("utf-8").splitlines())
    return Channel({(meant, typed): int(cost) / 100 for meant, typed, cost in rows})


@cache
def shipped() -> Channel:
    """Return the channel that comes with the rule."""
    return read_channel(Path(__file__).with_name("channel.tsv"))


def _numbered(pieces: Iterable[str]) -> Ints:
    """Map the code of a piece to its row or column in the table; 0 for none."""
    numbers = np.zeros(_BASE**LONGEST_PIECE, dtype=np.intp)
    numbers[_STRANGE] = 1
    for n, piece in enumerate(pieces, start=2):
        code = 0
        for sign in piece:
            code = code * _BASE + _SYMBOLS[sign]
        numbers[code] = n
    return numbers


def _trimmed(typed: str, meant: str) -> tuple[str, str]:
    """Return both words without their equal ends, except for some letters."""
    typed, meant = f"^{typed}$", f"^{meant}$"
    most = min(len(typed), len(meant))
    start = 0
    while start < most and typed[start] == meant[start]:
        start += 1
    end = 0
    while end < most - start and typed[-1 - end] == meant[-1 - end]:
        end += 1
    start, end = max(0, start - _AROUND), max(0, end - _AROUND)
    return typed[start : len(typed) - end], meant[start : len(meant) - end]


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
        least = OUT_OF_REACH
        for price, a, b in _last(meant, typed, i, j):
            cost = best[i - a, j - b][0] + price
            if cost < least:
                least, best[i, j] = cost, (cost, (i - a, j - b, a, b))
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
