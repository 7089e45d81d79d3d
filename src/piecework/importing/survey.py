"""Survey the cells of each column in one pass over the rows, with bounded memory.

The kinds of fields (options, scales, text) are guessed from this. A person can correct
them in the campaign file.
"""

import math
from collections import Counter
from dataclasses import dataclass, field

from piecework.config.schema import FieldTable
from piecework.domain.task import FieldKind

_MOST_DISTINCT = 200
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


@dataclass(slots=True)
class ColumnSurvey:
    """The survey of one column.

    Attributes:
        rows: the number of cells.
        filled: the number of non-blank cells.
        values: the first different values, with counts.
        parts: the parts between bars; the whole value if it has none.
        longest: the length of the longest part.
        is_cut: whether there were more different parts than are remembered.
    """

    rows: int = 0
    filled: int = 0
    longest: int = 0
    is_number: bool = True
    is_whole: bool = True
    low: float = math.inf
    high: float = -math.inf
    is_cut: bool = False
    is_several: bool = False
    parts: set[str] = field(default_factory=set)
    values: Counter[str] = field(default_factory=Counter)

    def see(self, cell: str) -> None:
        """Add a cell."""
        self.rows += 1
        text = cell.strip()
        if not text:
            return
        self.filled += 1
        for part in text.split("|"):
            self.longest = max(self.longest, len(part))
            if part in self.parts or len(self.parts) < _MOST_DISTINCT:
                self.parts.add(part)
            else:
                self.is_cut = True
        self.is_several |= "|" in text
        if text in self.values or len(self.values) < _MOST_DISTINCT:
            self.values[text] += 1
        if self.is_number:
            self._see_number(text)

    def _grades_around_nought(self) -> tuple[float, float] | None:
        """Return the ends of a scale around 0, which says which of two and how much."""
        reach = max(-self.low, self.high)
        end = next((end for end in _SIDE_ENDS if end >= reach), None)
        return None if end is None else (-float(end), float(end))

    def _see_number(self, text: str) -> None:
        if not _is_number(text):
            self.is_number = False
            return
        number = float(text)
        self.is_whole &= number.is_integer()
        self.low, self.high = min(self.low, number), max(self.high, number)

    @property
    def options(self) -> tuple[str, ...]:
        """Return the options, if the values look chosen and not written; else ()."""
        if self.is_cut or not self.filled or self.longest > _LONGEST_OPTION:
            return ()
        parts = sorted(self.parts)
        if len(parts) > min(_MOST_OPTIONS, self.filled / _MEAN_REPEATS):
            return ()
        if len(parts) < len("ab") and self.filled > 1:
            # A single value does not show what other options there were.
            return ()
        return tuple(filter(None, parts))

    def first_word(self) -> str:
        """Return a value that is not a number; "" if all remembered ones are."""
        return next((text for text in self.values if not _is_number(text)), "")

    def repeated_sentence(self) -> str:
        """Return the most frequent sentence if it is remarkably frequent; or ""."""
        text = max(self.values, key=self.values.__getitem__, default="")
        is_often = self.values[text] >= max(
            _TIMES_REPEATED, _SHARE_REPEATED * self.filled
        )
        return text if is_often and len(text.split()) >= _WORDS_OF_SENTENCE else ""

    def guess(self, asked: int, kind: FieldKind | None = None) -> FieldTable:
        """Guess the field, as a campaign file would define it.

        Scores with decimals are a number, even if there are few different ones.

        Args:
            asked: the number of answers; a field is required if all files have it and
                it is hardly ever empty.
            kind: the kind of the field, if specified.
        """
        required = self.rows == asked and self.filled >= _LEAST_FILLED * asked
        kind = kind or self._kind()
        if kind == "number":
            low, high = self._grades() or (self.low, self.high)
            step = 1 if self.is_whole else _FINE
            return FieldTable(
                kind=kind, minimum=low, maximum=high, step=step, required=required
            )
        if kind in {"choice", "choices"}:
            return FieldTable(
                kind=kind,
                options=tuple(filter(None, sorted(self.parts))),
                required=required and not self.is_several,
            )
        return FieldTable(kind=kind, required=required)

    def _kind(self) -> FieldKind:
        is_range = self.is_number and self.low < self.high
        if is_range and (self._grades() or not self.is_whole):
            return "number"
        if self.options:
            return "choices" if self.is_several else "choice"
        return "number" if is_range else "text"

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
        if high is None or (len(self.values) < _LEAST_GRADES and not self.is_cut):
            return None
        return low, float(high)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
