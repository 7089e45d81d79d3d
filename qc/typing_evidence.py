"""How probable it is that a text was not typed on its page, from the page's record.

The record (`piecework.domain.assignment`) has no content. Two measures are joined by
a logistic curve: the share of characters that no person entered here by keys, a
composition or speech, and whether keys came in a rhythm that no person keeps.

`WEIGHTS` are fitted by `python -m tests.bench.truth.typing_fit` to sessions in a real
Chromium, with one text in six not typed. Half of the sessions are held out.
"""

import math
from typing import NamedTuple

from piecework.domain.assignment import TypingRecord, typing_record
from piecework.domain.text import plural

LEAST_CHARACTERS = 10
"""With fewer new characters a record says nothing: a pasted name is no text (ours)."""

LEAST_INTERVALS = 20
"""With fewer intervals between keys there is no rhythm (ours)."""

EVEN = 0.2
"""A spread of intervals below this part of their median is no person's (ours; spreads
of simulated people are about half of the median)."""

FASTEST_MS = 50
"""A median interval below this is more than 240 words a minute (ours)."""


class Weights(NamedTuple):
    """The logistic curve, and the share of not typed texts that it holds for."""

    intercept: float
    elsewhere: float
    machine: float


WEIGHTS = Weights(intercept=-3.78, elsewhere=7.34, machine=6.28)


class Typing(NamedTuple):
    """What a record says about a text.

    Attributes:
        characters: new characters: those entered, or that the text must have had.
        elsewhere: those of them that no person entered here.
        ways: the greatest parts of `elsewhere` in words, with their characters.
        is_machine: keys came in a rhythm that no person keeps.
        median: of the intervals between keys, in milliseconds.
    """

    characters: int
    elsewhere: int
    ways: tuple[tuple[str, int], ...]
    is_machine: bool
    median: int

    @property
    def share(self) -> float:
        """The part of the new characters that no person entered here."""
        return self.elsewhere / self.characters

    @property
    def probability(self) -> float:
        """How probable it is that most of the text was not typed on the page."""
        at = WEIGHTS.intercept + WEIGHTS.elsewhere * self.share
        return 1 / (1 + math.exp(-at - WEIGHTS.machine * self.is_machine))

    def __bool__(self) -> bool:
        """Whether anything in the record speaks against the text."""
        return self.elsewhere > 0 or self.is_machine

    def __str__(self) -> str:
        """What the record shows, as clauses.

        >>> str(Typing(60, 50, (("pasted from outside the page", 50),), False, 0))
        '50 characters pasted from outside the page'
        """
        clauses = [f"{plural(count, 'character')} {way}" for way, count in self.ways]
        if self.is_machine:
            clauses.append(f"keys at even or very short intervals ({self.median} ms)")
        return ", ".join(clauses)


def typing_of(cell: str, text: str) -> Typing | None:
    """Return what a cell of the column `typing` says; `None` if it says nothing.

    Args:
        cell: the record as JSON; empty if the page sent no record.
        text: the text that it is about, as it was sent.
    """
    record = typing_record(cell) if cell else None
    return None if record is None else read_typing(record, text)


def read_typing(record: TypingRecord, text: str) -> Typing | None:
    """Return what a record says about a text; `None` if little was entered."""
    came = sum(count for _, count in record.kinds.values()) + record.unseen
    length = len(text.replace("\r\n", "\n").encode("utf-16-le", "surrogatepass")) // 2
    lacking = max(0, length - record.start - came)
    characters = came + lacking
    if characters < LEAST_CHARACTERS:
        return None
    ways = {
        "pasted from outside the page": record.outside,
        "made by a script": record.untrusted[1],
        "that came without an event": record.unseen + lacking,
        "that came faster than speech": record.quick,
    }
    return Typing(
        characters=characters,
        elsewhere=min(characters, sum(ways.values())),
        ways=tuple(
            sorted(
                ((name, count) for name, count in ways.items() if count), key=lambda way: -way[1]
            )
        ),
        is_machine=_is_machine(record),
        median=record.median,
    )


def _is_machine(record: TypingRecord) -> bool:
    if record.intervals < LEAST_INTERVALS:
        return False
    is_even = record.spread < EVEN * record.median
    return is_even or record.median < FASTEST_MS
