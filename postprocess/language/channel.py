"""How a word comes to be written wrongly: the channel between what is meant and typed.

After Brill and Moore, "An Improved Error Model for Noisy Channel Spelling Correction"
(ACL 2000): a word is written piece by piece, each of up to three letters, and every
piece may come out as another (`ant` as `ent`, `gh` as nothing, `ab` as `ba`). What a
piece costs is in `channel.tsv`, in nats: the negative logarithm of how often it came
out so in pairs of wrong and right words. tests/postprocess/spelling_fit makes that
file; the ends of a word are letters of their own there, `^` and `$`.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.intp]

LONGEST_PIECE = 3
UNHEARD_OF = 9.0
"""What one letter costs that was never seen to come out so."""

OUT_OF_REACH = 1e6
"""The price of what no piece by piece way leads to."""

_BAND = 4
"""How far a word may lag behind the other, in letters."""

_AROUND = 2
"""Letters that are kept on both sides of what differs: pieces may need them."""

_AT_ONCE = 8192
_SYMBOLS = {sign: n for n, sign in enumerate("abcdefghijklmnopqrstuvwxyz'^$", start=1)}
_STRANGE = 31
_OF_BYTE = np.full(256, _STRANGE, dtype=np.intp)
_OF_BYTE[[0, *map(ord, _SYMBOLS)]] = [0, *_SYMBOLS.values()]
_BASE = 32


class Channel:
    """What it costs to write one word where another is meant.

    Attributes:
        costs: nats by piece, as (meant, typed).
        known: by word what may be meant by it and the price of each, for those that
            were asked about before.
    """

    def __init__(self, costs: Mapping[tuple[str, str], float]) -> None:
        """Make the table that is looked up, with every letter's own cost in it."""
        self.costs = costs
        self.known: dict[str, list[tuple[str, float]]] = {}
        self._recalled: dict[tuple[str, str], float] = {}
        letters = [sign for sign in _SYMBOLS if sign not in "^$"]
        meant = sorted({piece for piece, _ in costs} | {"", *_SYMBOLS})
        typed = sorted({piece for _, piece in costs} | {"", *_SYMBOLS})
        self._row, self._column = _numbered(meant), _numbered(typed)
        table = np.full(
            (len(meant) + 2, len(typed) + 2), OUT_OF_REACH, dtype=np.float32
        )
        # Row and column 0 are pieces that do not exist, 1 strange letters.
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
        """The least cost of each pair (typed, meant), in nats; 0 for equal words."""
        trimmed = [_trimmed(typed, meant) for typed, meant in pairs]
        sizes = [max(len(typed), len(meant)) for typed, meant in trimmed]
        order = sorted(range(len(pairs)), key=sizes.__getitem__)
        prices = np.zeros(len(pairs), dtype=np.float32)
        for at in range(0, len(order), _AT_ONCE):
            chunk = order[at : at + _AT_ONCE]
            prices[chunk] = self._chunk([trimmed[n] for n in chunk])
        return prices

    def recall(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The same as `price`, of pairs of which most were asked about before."""
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
        best = np.full(
            (height + 1, width + 1, len(pairs)), OUT_OF_REACH, dtype=np.float32
        )
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
        """By length and place: the number of the piece that begins there."""
        width = max(map(len, words))
        # One byte a letter, and bytes of 0 after each word's end.
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


def read(path: Path) -> Channel:
    """The channel whose pieces are in a file: meant, typed and centinats in a row."""
    rows = (line.split("\t") for line in path.read_text("utf-8").splitlines())
    return Channel({(meant, typed): int(cost) / 100 for meant, typed, cost in rows})


@cache
def shipped() -> Channel:
    """The channel that comes with the rule."""
    return read(Path(__file__).with_name("channel.tsv"))


def _numbered(pieces: Iterable[str]) -> Ints:
    """From the code of a piece to its row or column in the table; 0 for none."""
    numbers = np.zeros(_BASE**LONGEST_PIECE, dtype=np.intp)
    numbers[_STRANGE] = 1
    for n, piece in enumerate(pieces, start=2):
        code = 0
        for sign in piece:
            code = code * _BASE + _SYMBOLS[sign]
        numbers[code] = n
    return numbers


def _trimmed(typed: str, meant: str) -> tuple[str, str]:
    """Both words without what is equal at their ends, but for some letters."""
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
