"""How figures are written, and tables of them.

Wages round down, so that a wage below the floor never looks as if it met it. Text that
a worker typed can neither reorder its line nor flood the page.

The answers have the columns of `piecework.postprocess.answers`; all other tables are
defined here. An unfinished campaign has frames without rows, and often without columns;
a store returns 0 and 1 for booleans and `None` for missing times. All of that is
handled here once, so that no section has to.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import accumulate
from typing import Literal

import pandas as pd
from pandas.api.typing import NaTType

from piecework.domain.money import Currency, shown
from piecework.domain.text import NOTHING, count, plural, share

_ODD_SPACES = re.compile(r"^\s+|\s+$|\s{2,}|[^\S ]")

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")

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


_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_DAYS_FROM = 3


def duration(seconds: float) -> str:
    """Format a time span in the unit in which it is not near 0.

    >>> duration(42), duration(130), duration(5400), duration(4 * 86400)
    ('42 s', '2 min', '1.5 h', '4.0 days')
    """
    if math.isnan(seconds):
        return NOTHING
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    if seconds < _DAYS_FROM * _DAY:
        return f"{seconds / _HOUR:,.1f} h"
    return f"{seconds / _DAY:,.1f} days"


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
    shown = visible(text[:limit]).strip()
    return f"{shown}… ({count(len(text))} characters)" if len(text) > limit else shown


def in_markdown(text: str) -> str:
    """Escape text for Markdown, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def visible(text: str) -> str:
    """Make control characters of untrusted text visible, and each run of spaces one space.

    >>> visible("  a cat\u202e")
    ' a cat⟨U+202E⟩'
    """
    return "".join(map(_visible, re.sub(r"\s+", " ", text)))


def cut(text: str, *, limit: int) -> str:
    """Shorten untrusted text to the room that there is, without its length.

    >>> cut("abc def", limit=4)
    'abc…'
    """
    shown = visible(text[:limit]).strip()
    return f"{shown}…" if len(text) > limit else shown


_LONGEST_LINE = 200


def columns_of(text: str) -> int:
    """How many letters' room a line takes: a Chinese character takes that of two.

    >>> columns_of("cat"), columns_of("一只猫")
    (3, 6)
    """
    return sum(
        2
        if unicodedata.east_asian_width(character) in "WF"
        else not unicodedata.combining(character)
        for character in text
    )


def label(text: str, *, columns: int) -> str:
    """Shorten untrusted text to the room of these columns, without its length.

    >>> label("abcdef", columns=3), label("一只红色的猫", columns=6)
    ('abc…', '一只红…')
    """
    shown = visible(text[:_LONGEST_LINE]).strip()
    fits = sum(end <= columns for end in accumulate(map(columns_of, shown)))
    return cut(shown, limit=fits)


def labels(texts: Sequence[str], *, columns: int) -> list[str]:
    """Shorten untrusted texts as `label` does; those that begin alike keep their ends.

    >>> labels(["cats, red, v1", "cats, red, v2", "dogs, red"], columns=7)
    ['…red, v1', '…red, v2', 'dogs, r…']
    """
    shortened = [label(each, columns=columns) for each in texts]
    times = Counter(shortened)
    return [
        _end(each, columns=columns) if times[shown] > 1 and shown.endswith("…") else shown
        for each, shown in zip(texts, shortened, strict=True)
    ]


def _end(text: str, *, columns: int) -> str:
    shown = visible(text[-_LONGEST_LINE:]).strip()
    fits = sum(end <= columns for end in accumulate(map(columns_of, reversed(shown))))
    return f"…{shown[len(shown) - fits :].strip()}"


def spoken(name: str, *, limit: int = 40) -> str:
    """Format a name of a file for people.

    >>> spoken("has_text")
    'has text'
    """
    return excerpt(name.replace("_", " "), limit=limit)


def decimals(value: float, digits: int = 2, *, unknown: str = NOTHING) -> str:
    """Format a number with decimals, unless it is unknown.

    >>> decimals(0.777), decimals(math.nan, unknown="-"), decimals(math.inf)
    ('0.78', '-', '∞')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
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


Kind = Literal["text", "whole", "number", "truth", "time"]

BATCHES: Mapping[str, Kind] = {
    "batch": "whole",
    "round": "whole",
    "hits": "whole",
    "assignments_wanted": "whole",
    "assignments_submitted": "whole",
    "answers_kept": "whole",
    "answers_dropped": "whole",
    "posted_at": "time",
    "last_submitted_at": "time",
    "settled_at": "time",
    "workers_excluded": "whole",
}
"""One row per batch and round."""

FINDINGS: Mapping[str, Kind] = {
    "heuristic": "text",
    "version": "whole",
    "subject_kind": "text",
    "subject_id": "text",
    "suspicion": "number",
    "flag": "truth",
    "evidence": "text",
}
"""One row per finding; rows that flag nothing may be left out."""

DECISIONS: Mapping[str, Kind] = {
    "subject_kind": "text",
    "subject_id": "text",
    "verdict": "text",
    "decided_by": "text",
    "decided_at": "time",
    "because": "text",
    "is_accepted": "truth",
}
"""One row per decision; the last one about a subject is in force."""

WORKERS: Mapping[str, Kind] = {
    "assignments": "whole",
    "answers": "whole",
    "answers_dropped": "whole",
    "assignments_rejected": "whole",
    "paid_cents": "whole",
    "seconds_worked": "number",
    "seconds_paid": "number",
    "is_excluded": "truth",
    "assignments_deleted": "whole",
    "trait": "text",
    "is_planted_bad": "truth",
}
"""One row per worker who submitted; index the hashed id."""

COMPARISONS: Mapping[str, Kind] = {
    "item_id": "text",
    "worker": "text",
    "criterion": "text",
    "first": "text",
    "second": "text",
    "outcome": "text",
    "grade": "number",
    "side": "text",
}
"""One row per judgement of a pair; see `piecework.analyses.paired_comparisons`."""

CORRECTIONS: Mapping[str, Kind] = {
    "kind": "text",
    "items": "whole",
    "changed": "whole",
    "descriptions": "whole",
    "bleu_1_before": "number",
    "bleu_1": "number",
    "bleu_4_before": "number",
    "bleu_4": "number",
    "meteor_before": "number",
    "meteor": "number",
    "conflicts": "whole",
}
"""By kind of error, then all together; see `piecework.report.sections.condition_texts`."""

_DTYPES: Mapping[Kind, str] = {
    "text": "str",
    "whole": "int64",
    "number": "float64",
    "truth": "bool",
    "time": "datetime64[us, UTC]",
}

_CONVERTED: Mapping[Kind, Callable[[pd.Series], pd.Series]] = {
    "text": lambda cells: cells.map(lambda cell: cell if isinstance(cell, str) else _word(cell)),
    "whole": lambda cells: pd.to_numeric(cells).fillna(0),
    "number": pd.to_numeric,
    "truth": lambda cells: cells.map(lambda cell: _word(cell) not in {"", "0", "0.0", "False"}),
    "time": lambda cells: pd.to_datetime(cells, utc=True),
}


def shape_table(frame: pd.DataFrame, columns: Mapping[str, Kind], *, name: str) -> pd.DataFrame:
    """Return a copy of the frame with the columns and dtypes of `columns`.

    Raises:
        ValueError: the frame has rows but lacks columns; names all of them.
    """
    if frame.empty:
        empty = {column: pd.Series(dtype=_DTYPES[kind]) for column, kind in columns.items()}
        return pd.DataFrame(empty, index=pd.Index([], dtype="str"))
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ValueError(f"ReportFacts.{name} lacks the columns {', '.join(missing)}")
    mended = {
        column: pd.Series(_CONVERTED[kind](frame[column]), dtype=_DTYPES[kind])
        for column, kind in columns.items()
    }
    return pd.DataFrame(mended).set_axis(frame.index.astype("str"))


def _word(value: object) -> str:
    missing = value is None or value is pd.NaT or value is pd.NA or value != value  # noqa: PLR0124 - NaN is the only value unequal to itself
    return "" if missing else str(value)
