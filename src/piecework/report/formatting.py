"""Format numbers and untrusted text for people.

Wages round down, so that a wage below the floor never looks as if it met it. Text that
a worker typed can neither reorder its line nor flood the page.
"""

import math
import re
import unicodedata
from collections.abc import Iterable
from datetime import datetime

import pandas as pd
from pandas.api.typing import NaTType

from piecework.domain.money import Currency, shown
from piecework.domain.text import NOTHING, count, plural, share

_ODD_SPACES = re.compile(r"^\s+|\s+$|\s{2,}|[^\S ]")

_KEPT_FORMAT_CHARACTERS = "\u200c\u200d"
"""Joiners shape Persian, Hindi and emoji, and cannot reorder anything."""


def part_of(part: int, whole: int, noun: str = "") -> str:
    """Format a count, the whole, and the share.

    >>> part_of(3, 12), part_of(1, 1, "worker"), part_of(0, 0)
    ('3 of 12 (25.0 %)', '1 of 1 worker (100.0 %)', '0 of 0')
    """
    of_whole = plural(whole, noun) if noun else count(whole)
    beside = f" ({share(part, whole)})" if whole else ""
    return f"{count(part)} of {of_whole}{beside}"


def with_share(part: int, whole: int) -> str:
    """Format a count and its share of a whole that is shown elsewhere.

    >>> with_share(3, 12), with_share(0, 0)
    ('3 (25.0 %)', '0')
    """
    return f"{count(part)} ({share(part, whole)})" if whole else count(part)


def wage(cents_per_hour: float, currency: Currency) -> str:
    """Format an hourly wage, rounded down to the cent (or penny).

    >>> wage(724.99, "USD"), wage(725.0, "GBP")
    ('$7.24/h', '£7.25/h')
    """
    if math.isnan(cents_per_hour):
        return NOTHING
    return f"{shown(wage_cents(cents_per_hour), currency)}/h"


def wage_cents(cents_per_hour: float) -> int:
    """Round an hourly wage down to the cent (or penny), as every page and table does.

    >>> wage_cents(994.6), wage_cents(995 - 1e-9)
    (994, 995)
    """
    return math.floor(cents_per_hour + 1e-6)


def hours(seconds: float) -> str:
    """Format a time span in hours.

    >>> hours(5400)
    '1.5 h'
    """
    return NOTHING if math.isnan(seconds) else f"{seconds / 3600:,.1f} h"


def moment(time: datetime | NaTType) -> str:
    """Format a time to the minute, in UTC; a dash for a missing one."""
    if isinstance(time, NaTType):
        return NOTHING
    return pd.Timestamp(time).tz_convert("UTC").strftime("%Y-%m-%d %H:%M")


def listed(words: Iterable[str]) -> str:
    """Join words into an English list.

    >>> listed(["a", "b", "c"]), listed([])
    ('a, b and c', '')
    """
    *most, last = [*words] or [""]
    return f"{', '.join(most)} and {last}" if most else last


def excerpt(text: str, *, limit: int = 240) -> str:
    """Shorten untrusted text and make control characters visible.

    >>> excerpt("a" * 300, limit=5)
    'aaaaa… (300 characters)'
    >>> excerpt("abc\u202edef")
    'abc⟨U+202E⟩def'
    """
    shown = "".join(map(_visible, " ".join(text[:limit].split())))
    return f"{shown}… ({count(len(text))} characters)" if len(text) > limit else shown


def cut(text: str, *, limit: int) -> str:
    """Shorten untrusted text to the room that there is, without its length.

    >>> cut("abcdef", limit=3)
    'abc…'
    """
    return excerpt(text, limit=limit)[: limit + 1] if len(text) > limit else excerpt(text)


def spoken(name: str, *, limit: int = 40) -> str:
    """Format a name of a file for people.

    >>> spoken("has_text")
    'has text'
    """
    return excerpt(name.replace("_", " "), limit=limit)


def decimals(value: float, digits: int = 2, *, unknown: str = NOTHING) -> str:
    """Format a number with decimals, unless it is unknown.

    >>> decimals(0.777), decimals(math.nan, unknown="-")
    ('0.78', '-')
    """
    return unknown if math.isnan(value) else f"{value:.{digits}f}"


def with_marks(text: str) -> str:
    """Make unusual spaces visible: repeated, at an end, or not a plain space.

    >>> with_marks("two  cats "), with_marks("a\u00a0cat")
    ('two␣␣cats␣', 'a⟨U+00A0⟩cat')
    """
    return _ODD_SPACES.sub(lambda match: "".join(map(_mark, match[0])), text)


def _mark(space: str) -> str:
    return "␣" if space == " " else f"⟨U+{ord(space):04X}⟩"


def _visible(character: str) -> str:
    is_hidden = unicodedata.category(character) in {"Cc", "Cf", "Cs", "Cn", "Co"}
    if is_hidden and character not in _KEPT_FORMAT_CHARACTERS:
        return f"⟨U+{ord(character):04X}⟩"
    return character
