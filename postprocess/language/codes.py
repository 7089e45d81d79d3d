"""Encode sequences of words as numbers, and count these codes.

Words are identified by their number in a campaign
(`piecework.postprocess.language.corpus`).
"""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_BITS_A_CODE = 16
_LEAST_BITS, _MOST_BITS = 16, 28
"""A sieve has sixteen bits for each code and up to twice as many, which fit into the
processor's cache, and at most 32 MB: with twenty million pairs, one in fourteen others is a
false positive."""

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""An odd number near 2^64 divided by the golden ratio, which spreads codes (Knuth)."""

BASE = 1 << 21
"""Larger than any word number; three numbers make a code of 63 bits."""


def code_of(*words: Ints) -> Ints:
    """Return the codes of sequences of at most three words."""
    code = words[0].astype(np.int64)
    for numbers in words[1:]:
        code = code * BASE + numbers
    return code


def different_codes(codes: Ints) -> Ints:
    """Return each code once, sorted; `numpy.unique` is ten times slower (numpy 2.4)."""
    codes = np.sort(codes)
    return codes[np.diff(codes, prepend=-1) > 0]


class CodeTally:
    """Counts of codes, with look-ups of many codes at once.

    Attributes:
        codes: the codes that occur, in order.
        counts: how often each occurs.
    """

    def __init__(self) -> None:
        self.codes = np.zeros(0, dtype=np.int64)
        # 32 bits take half the memory and are enough for any count.
        self.counts = np.zeros(0, dtype=np.int32)

    def add(self, codes: Ints, times: int) -> None:
        """Count codes `times` more times; counts must not become negative."""
        codes = np.sort(codes)
        first = np.flatnonzero(np.diff(codes, prepend=-1))
        more = (times * np.diff(first, append=len(codes))).astype(np.int32)
        self._count(codes[first], more)

    def join(self, other: "CodeTally", numbers: Ints) -> None:
        """Add another tally; its words have these numbers here."""
        codes = _renumbered(other.codes, numbers)
        order = np.argsort(codes)
        self._count(codes[order], other.counts[order])

    def _count(self, codes: Ints, more: npt.NDArray[np.int32]) -> None:
        """Count different codes, in order, each this many more times."""
        if not len(self.codes):
            self.codes, self.counts = codes, more
            return
        at = np.searchsorted(self.codes, codes)
        is_here = self.codes[np.minimum(at, len(self.codes) - 1)] == codes
        self.counts[at[is_here]] += more[is_here]
        if not is_here.all():
            self.codes = np.insert(self.codes, at[~is_here], codes[~is_here])
            self.counts = np.insert(self.counts, at[~is_here], more[~is_here])
        elif not self.counts[at].all():
            occur = self.counts > 0
            self.codes, self.counts = self.codes[occur], self.counts[occur]

    def present(self, least: int) -> Ints:
        """Return the codes that occur at least this often."""
        return self.codes[self.counts >= least]

    def followers(self, beginnings: Ints) -> Ints:
        """Return how many codes begin with each of these (all but the last word)."""
        first = beginnings * BASE
        return self._places(first + BASE) - self._places(first)

    def of(self, codes: Ints) -> Ints:
        """Return how often each of these codes occurs."""
        at = np.minimum(self._places(codes), len(self.codes) - 1)
        counts = np.where(self.codes[at] == codes, self.counts[at], 0)
        return counts.astype(np.int64)

    def _places(self, codes: Ints) -> Ints:
        """Return the index at which each of these codes is, or would be."""
        # Sorted codes use the processor's cache well: an eighth of the time.
        order = np.argsort(codes)
        at = np.empty_like(order)
        at[order] = np.searchsorted(self.codes, codes[order])
        return at


def _renumbered(codes: Ints, numbers: Ints) -> Ints:
    """Convert codes to new word numbers; `numbers` maps old ones to new ones."""
    # A code of fewer words begins with that of the edge, 0, which does not change.
    left, right = codes // BASE, codes % BASE
    return code_of(numbers[left // BASE], numbers[left % BASE], numbers[right])


class Sieve:
    """A bit field that rules out most codes that are not in a set."""

    def __init__(self, codes: Ints) -> None:
        bits = (_BITS_A_CODE * len(codes)).bit_length()
        bits = min(max(bits, _LEAST_BITS), _MOST_BITS)
        self._shift = np.uint64(64 - bits)
        self._bits = np.zeros(1 << (bits - 3), dtype=np.uint8)
        byte, bit = self._places(codes)
        np.bitwise_or.at(self._bits, byte, bit)

    def may_have(self, codes: Ints) -> Flags:
        """Return whether each code may be in the set."""
        byte, bit = self._places(codes)
        are_set: Flags = (self._bits[byte] & bit) != 0
        return are_set

    def _places(self, codes: Ints) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint8]]:
        place = (codes.astype(np.uint64) * _SPREAD) >> self._shift
        bit = np.left_shift(1, place & np.uint64(7), dtype=np.uint64)
        return place >> np.uint64(3), bit.astype(np.uint8)
