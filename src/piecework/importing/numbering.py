"""Tell numbered items from numbered questions by the names and values of columns.

`text1`, `text2` beside `stance1`, `stance2` are two items with an answer each.
`image_1`, `image_2` beside `q_1`, `q_2` may also be a pair with two questions about it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from piecework.domain.errors import ConfigError
from piecework.domain.toml_text import toml_line
from piecework.importing.parts import NUMBERED, is_wired
from piecework.importing.readers.head import MOST_COLUMNS
from piecework.importing.readers.rows import ImportedRow

_MOST_COMPARED = 50
_LEAST_COMPARED = 6
"""So few answers do not show whether they were chosen or written."""

_QUESTIONS = frozenset({"q", "question", "ques", "frage"})
_SIDES = frozenset(
    f"{which}{end}"
    for which in ("first", "second", "left", "right")
    for end in ("", " one", " image", "_image", " text", " caption")
) | {"a", "b", "image a", "image b", "image_1", "image_2", "image 1", "image 2"}
"""Answers that compare two things."""


class SeenNames:
    """Column names, in order of first appearance."""

    def __init__(self) -> None:
        self.shown: dict[str, None] = {}
        self.sent: dict[str, _Values] = {}
        self.is_wired = False
        self.most_ticked: Counter[str] = Counter()

    def numbers(self) -> tuple[str, ...]:
        """Return the endings of columns that number items; () if rows have one item.

        Two answers with the same numbers as two columns of items are two questions
        about a pair, unless they look like one question about each.
        """
        return next(
            (
                numbers
                for numbers, bases in numbered(self.shown, self.sent).items()
                if any(self._is_one_question(base, numbers) for base in bases)
            ),
            (),
        )

    def guesses(self) -> Iterator[tuple[str, str]]:
        """Yield what was guessed from numbers, and the line that states otherwise."""
        if numbers := self.numbers():
            ends = f"columns that end in {numbers[0]} to {numbers[-1]}"
            yield f"a row is about {len(numbers)} items: {ends}", "numbers = []"
            return
        for numbers, bases in numbered(self.shown, self.sent).items():
            asked = ", ".join(f"{bases[0]}{number}" for number in numbers)
            yield (
                f"a row is about one item, and {asked} are questions about it",
                toml_line("numbers", written(numbers)),
            )

    def _is_one_question(self, base: str, numbers: tuple[str, ...]) -> bool:
        values = [self.sent[f"{base}{number}"] for number in numbers]
        if base.endswith(".") and self.most_ticked[base[:-1]] == 1:
            return not all(value.is_ticked for value in values)  # one radio button
        is_pair = len(numbers) == len(("left", "right"))
        if is_pair and base.rstrip("_-. ").lower() in _QUESTIONS:
            return False
        if is_pair and any(value.names_sides for value in values):
            return False
        return all(are_alike(first, second) for first, second in pairwise(values))

    def see(self, row: ImportedRow, path: Path) -> None:
        """Add the names of a row.

        Raises:
            ConfigError: there are too many in total.
        """
        self.shown |= dict.fromkeys(row.shown)
        for part in row.parts:
            self.shown |= dict.fromkeys(part.shown)
        self.is_wired |= is_wired(row)
        if not row.parts and not is_wired(row):
            for name, cell in row.sent.items():
                self.sent.setdefault(name, _Values()).see(cell)
            for base, ticked in Counter(
                name.rpartition(".")[0]
                for name, cell in row.sent.items()
                if "." in name and cell.strip().lower() == "true"
            ).items():
                self.most_ticked[base] = max(self.most_ticked[base], ticked)
        if len(self.shown) + len(self.sent) > MOST_COLUMNS:
            raise ConfigError(
                [(f"{path}: line {row.line}: more than {MOST_COLUMNS:,} columns in total")]
            )


@dataclass(slots=True)
class _Values:
    """The first different values of an answer, to compare it with others."""

    filled: int = 0
    values: set[str] = field(default_factory=set)

    def see(self, cell: str) -> None:
        """Add a cell."""
        if text := cell.strip().casefold():
            self.filled += 1
            if len(self.values) < _MOST_COMPARED:
                self.values.add(text)

    @property
    def is_ticked(self) -> bool:
        return self.values <= {"true", "false"}

    @property
    def names_sides(self) -> bool:
        return bool(self.values & _SIDES)

    @property
    def is_chosen(self) -> bool | None:
        """Return whether the values are options; `None` if too few show it."""
        if self.filled < _LEAST_COMPARED:
            return None
        return self.filled >= 2 * len(self.values)


def are_alike(first: _Values, second: _Values) -> bool:
    """Return whether the values may answer one question."""
    if None in {first.is_chosen, second.is_chosen}:
        return True
    if first.is_chosen and second.is_chosen:
        return bool(first.values & second.values)
    return first.is_chosen == second.is_chosen


def written(numbers: Iterable[str]) -> list[int | str]:
    """Return endings as a campaign file writes them: whole numbers where possible.

    >>> written(["1", "02"])
    [1, '02']
    """
    return [int(number) if str(int(number)) == number else number for number in numbers]


def numbered(shown: Iterable[str], sent: Iterable[str]) -> dict[tuple[str, ...], list[str]]:
    """Return endings that columns of items and answers share, with the answers' names.

    Answers may be numbered for other reasons (`q1`, `q2`), so columns of items must
    have the same numbers.

    >>> numbered(["text1", "text2", "url"], ["answer1", "answer2", "comment"])
    {('1', '2'): ['answer']}
    >>> numbered(["url"], ["q1", "q2"])
    {}
    """
    of_items = {frozenset(numbers) for numbers in _numbers_by_name(shown).values()}
    shared: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, numbers in _numbers_by_name(sent).items():
        if frozenset(numbers) in of_items and _is_count(numbers):
            shared[tuple(sorted(numbers, key=int))].append(name)
    return dict(sorted(shared.items(), key=lambda pair: -len(pair[0])))


def _numbers_by_name(names: Iterable[str]) -> dict[str, set[str]]:
    numbers_by_name: dict[str, set[str]] = defaultdict(set)
    for name in names:
        if match := NUMBERED.fullmatch(name):
            numbers_by_name[match["name"]].add(match["number"])
    return numbers_by_name


def _is_count(numbers: set[str]) -> bool:
    """Return whether numbers count from 0 or 1 without a gap, up to at least two."""
    values = sorted(map(int, numbers))
    return (
        len(values) > 1
        and values[0] in {0, 1}
        and values == list(range(values[0], values[0] + len(values)))
    )
