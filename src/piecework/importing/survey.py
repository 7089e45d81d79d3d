"""Survey the cells of each column in one pass over the rows, with bounded memory.

The kinds of fields (options, scales, text) are guessed from this. A person can correct
them in the campaign file.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import get_args

from piecework.config.schema import FieldTable
from piecework.domain.field import MERGED, FieldKind, MarkKind
from piecework.hit_templates.answers import number_in
from piecework.importing.readers.crowd_form import labels_in

_MARKS: frozenset[MarkKind] = frozenset(get_args(MarkKind))
_MOST_DISTINCT = 200
MOST_CHOSEN = 1_000
"""Options of a field that a person calls a choice; with more, its cells are texts."""

_MOST_OPTIONS = 30
_LONGEST_OPTION = 60
_MEAN_REPEATS = 2
"""Options are chosen at least this often on average."""

_LEAST_FILLED = 0.95
_SCALE_ENDS = (3, 5, 7, 9, 10, 100)
_SIDE_ENDS = (1, 2, 3, 5, 10, 50, 100)
_LEAST_GRADES = 3
_TIMES_REPEATED, _SHARE_REPEATED, _WORDS_OF_SENTENCE = 10, 0.02, 3
"""People who write their own text rarely repeat a sentence this often."""
_FINE = 1e-6
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.([0-9]{1,15}))?")
"""A number as one writes a measurement: no leading zeros, signs of plus, exponents."""


@dataclass(slots=True)
class NamedOptions:
    """The options that cells name.

    Attributes:
        longest: the length of the longest.
        is_cut: whether there were more different ones than are remembered.
        are_several: whether a cell may name several.
        most: how many are remembered.
    """

    most: int = _MOST_DISTINCT
    longest: int = 0
    is_cut: bool = False
    are_several: bool = False
    names: set[str] = field(default_factory=set)

    def see(self, options: Iterable[str], *, are_several: bool) -> None:
        """Add the options of a cell."""
        self.are_several |= are_several
        for option in options:
            self.longest = max(self.longest, len(option))
            if option in self.names or len(self.names) < self.most:
                self.names.add(option)
            else:
                self.is_cut = True


@dataclass(slots=True)
class ColumnSurvey:
    """The survey of one column.

    Attributes:
        rows: the number of cells.
        filled: the number of non-blank cells.
        values: the first different values, with counts.
        is_number: whether all values can be read as numbers.
        is_plain: whether all values are written as plain numbers, unlike codes.
        as_text: the options that a cell names, if cells are read as they stand.
        as_labels: the same, if cells are read as lists or objects.
        is_labelled: whether all values are lists or objects.
        is_chosen: whether a person called it a choice, or a label.
        marks: the kinds of marks that all values hold.
    """

    is_chosen: bool = False
    rows: int = 0
    filled: int = 0
    is_number: bool = True
    is_plain: bool = True
    is_whole: bool = True
    is_padded: bool = False
    decimals: set[int] = field(default_factory=set)
    low: float = math.inf
    high: float = -math.inf
    is_labelled: bool = True
    as_text: NamedOptions = field(default_factory=NamedOptions)
    as_labels: NamedOptions = field(default_factory=NamedOptions)
    values: Counter[str] = field(default_factory=Counter)
    marks: frozenset[MarkKind] = _MARKS

    def __post_init__(self) -> None:
        """Remember the options of a choice, however many a guess would take for texts."""
        if self.is_chosen:
            self.as_text.most = self.as_labels.most = MOST_CHOSEN

    def see(self, cell: str) -> None:
        """Add a cell."""
        self.rows += 1
        text = cell.strip()
        if not text:
            return
        self.filled += 1
        if self.marks:
            self.marks &= marks_in(text)
        self.as_text.see(split_options(text), are_several="|" in text or "\n" in text)
        if self.is_labelled:
            labels = labels_in(text)
            self.is_labelled = labels is not None
            if labels is not None:
                options = split_options(labels.text) if labels.text else ()
                several = labels.are_several or len(options) > 1
                self.as_labels.see(options, are_several=several)
        if text in self.values or len(self.values) < _MOST_DISTINCT:
            self.values[text] += 1
        if self.is_number:
            self._see_number(cell)

    @property
    def parts(self) -> NamedOptions:
        """Return the options that cells name, in the reading that fits all of them."""
        return self.as_labels if self.is_labelled and self.filled else self.as_text

    @property
    def looks_like_numbers(self) -> bool:
        """Return whether all values are numbers, although it is no field of numbers."""
        return self.filled > 0 and self.is_number and not self.is_scale

    @property
    def is_scale(self) -> bool:
        """Return whether the values look like numbers on a scale, or with decimals."""
        return self._kind() == "number"

    def _grades_around_nought(self) -> tuple[float, float] | None:
        """Return the ends of a scale around 0, which says which of two and how much."""
        reach = max(-self.low, self.high)
        end = next((end for end in _SIDE_ENDS if end >= reach), None)
        return None if end is None else (-float(end), float(end))

    def _see_number(self, cell: str) -> None:
        number = number_in(cell.strip())
        if number is None:
            self.is_number = self.is_plain = False
            return
        plain = _PLAIN.fullmatch(cell)
        self.is_plain &= plain is not None and cell != "-0"
        if plain and (decimals := plain[1]):
            # 3.10 beside 3.9 is a version, 3.50 beside 3.95 an amount.
            self.decimals.add(len(decimals))
            self.is_padded |= decimals.endswith("0") and decimals != "0"
        self.is_whole &= number.is_integer()
        self.low, self.high = min(self.low, number), max(self.high, number)

    @property
    def options(self) -> tuple[str, ...]:
        """Return the options, if the values look chosen and not written; else ()."""
        if not self.filled or self.parts.is_cut or self.parts.longest > _LONGEST_OPTION:
            return ()
        parts = sorted(self.parts.names)
        if len(parts) > min(_MOST_OPTIONS, self.filled / _MEAN_REPEATS):
            return ()
        if len(parts) < len("ab") and self.filled > 1:
            # A single value does not show what other options there were.
            return ()
        return tuple(filter(None, parts))

    def first_word(self) -> str:
        """Return a value that is not a number; "" if all remembered ones are."""
        return next((text for text in self.values if number_in(text) is None), "")

    def repeated_sentence(self) -> str:
        """Return the most frequent sentence if it is remarkably frequent; or ""."""
        text = max(self.values, key=self.values.__getitem__, default="")
        is_often = self.values[text] >= max(_TIMES_REPEATED, _SHARE_REPEATED * self.filled)
        return text if is_often and len(text.split()) >= _WORDS_OF_SENTENCE else ""

    def guess(self, asked: int, kind: FieldKind | None = None) -> FieldTable:
        """Guess the field, as a campaign file would define it.

        A field is of numbers only if every value is a plain number, and if the numbers
        look like a scale or have decimals. Everything else may be a code.

        Args:
            asked: the number of answers; a field is required if all files have it and
                it is hardly ever empty.
            kind: the kind of the field, if specified.
        """
        required = self.rows == asked and self.filled >= _LEAST_FILLED * asked
        if kind is None and self.filled and (marks := min(self.marks, default=None)):
            return FieldTable(kind="text", marks=marks, required=required)
        kind = kind or self._kind()
        if kind == "number":
            low, high = self._grades() or (self.low, self.high)
            step = 1 if self.is_whole else _FINE
            return FieldTable(kind=kind, minimum=low, maximum=high, step=step, required=required)
        if kind in {"choice", "choices"}:
            return FieldTable(
                kind=kind,
                options=tuple(filter(None, sorted(self.parts.names))) or None,
                required=required and not self.parts.are_several,
            )
        return FieldTable(kind=kind, required=required)

    def _kind(self) -> FieldKind:
        is_versions = self.is_padded and len(self.decimals) > 1
        is_range = self.is_plain and self.low < self.high and not is_versions
        if is_range and (self._grades() or not self.is_whole):
            return "number"
        if self.options or (self.is_chosen and self.filled):
            return "choices" if self.parts.are_several else "choice"
        return "text"

    def _grades(self) -> tuple[float, float] | None:
        """Return the ends of a scale of a few grades: 1 to 5 if 2 to 5 were chosen."""
        if not self.is_whole:
            return None
        if self.low < 0 < self.high:
            return self._grades_around_nought()
        if self.low < 0:
            return None
        low = 1.0 if self.low >= 1 else 0.0
        high = next((end for end in _SCALE_ENDS if end >= self.high), None)
        if high is None or (len(self.values) < _LEAST_GRADES and not self.as_text.is_cut):
            return None
        return low, float(high)


def marks_in(text: str) -> frozenset[MarkKind]:
    """Return the kinds of marks that a text may hold, in the JSON of crowd elements.

    >>> sorted(marks_in('{"boundingBoxes": []}')), sorted(marks_in('{"labels": ["cat"]}'))
    (['boxes'], [])
    """
    if not text.startswith("{"):
        return frozenset()
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return frozenset()
    return frozenset(
        kind
        for kind in _MARKS
        if isinstance(document.get(MERGED[kind]), dict if kind == "masks" else list)
    )


def split_options(text: str) -> list[str]:
    r"""Return the options of a cell, between bars or, without bars, on lines.

    >>> split_options("blur|dark"), split_options("blur\r\ndark\x0band wet")
    (['blur', 'dark'], ['blur', 'dark\x0band wet'])
    """
    if "|" in text or "\n" not in text:
        return text.split("|")
    return [line.strip() for line in text.split("\n") if line.strip()]
