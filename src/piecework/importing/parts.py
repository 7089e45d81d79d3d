"""Split a row of a file into its items, each with its answers.

There are three layouts. A row may be about one item. Its columns may be numbered by
item, such as `text1` and `answer1`, or `image1_url` and `label1_text`. Or a page of
piecework sent it, with fields such as `caption.1` and its items named in `item.1`.

Names and values of columns tell numbered items from numbered questions. `text1`, `text2`
beside `stance1`, `stance2` are two items with an answer each. `image_1`, `image_2` beside
`q_1`, `q_2` may also be a pair with two questions about it.
"""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from piecework.domain.assignment import TYPING
from piecework.domain.column_names import MEASURES, PLAYED
from piecework.domain.errors import ConfigError
from piecework.domain.imported import Reading
from piecework.domain.task import GOLD, MADE_BY, PRACTICE, TRUTH, TWIN, TWIN_REVERSED
from piecework.domain.toml_text import toml_line
from piecework.importing.numbered_names import numbered, place_of, shared_numbers
from piecework.importing.readers.crowd_form import folded
from piecework.importing.readers.head import MOST_COLUMNS
from piecework.importing.readers.rows import ImportedRow

_WIRE = re.compile(r"(?P<name>.+)\.(?P<number>[1-9][0-9]{0,3})")
_BEFORE = re.compile(r"[0-9]")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f]")
_LONGEST_ID = 200
_DIGEST = 12
_OF_THE_PAGE = (*MEASURES, PLAYED, TYPING, "order")
_TAKEN = frozenset({PRACTICE, TWIN, TWIN_REVERSED})
_ADDRESSES = ("image_url", "img_url", "picture_url", "photo_url", "image", "picture")

ITEM_ID = "item_id"
"""The column with an item's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The part of a row about one of its items.

    Attributes:
        position: from 1.
        shown: the item's columns.
        sent: the answers about it, by the file's names without numbers.
        measured: what the other tool measured, by piecework's names.
    """

    position: int
    shown: Mapping[str, str]
    sent: Mapping[str, str]
    measured: Mapping[str, str] = field(default_factory=dict)


def is_wired(row: ImportedRow) -> bool:
    """Return whether a page of piecework sent this row, which then names its items."""
    return "item.1" in row.sent


def split(
    row: ImportedRow, reading: Reading, answers: Collection[str]
) -> tuple[list[Part], dict[str, str]]:
    """Return the items of a row, and the answers given once for all of them.

    Numbers with neither an item nor an answer in a row are left out.

    Args:
        row: the row.
        reading: what the columns mean.
        answers: the known answers, by the file's names without numbers.
    """
    numbers = reading.numbers or ()
    if row.parts:
        listed = enumerate(row.parts, start=1)
        return [
            Part(
                position=position,
                shown={**row.shown, **part.shown},
                sent=folded(part.sent),
                measured=part.measured,
            )
            for position, part in listed
        ], dict(folded(row.sent))
    if is_wired(row):
        return _wired(row)
    sent = _by_number(row.sent, numbers, answers)
    if not sent.keys() - {""}:
        return [Part(position=1, shown=row.shown, sent=folded(row.sent))], {}
    columns = {*reading.item, reading.item_id, *reading.gold.values()}
    shown = _by_number(row.shown, numbers, columns)
    parts: list[Part] = []
    for number in numbers:
        own, of_item = shown.get(number, {}), sent.get(number, {})
        if any(map(str.strip, own.values())) or any(map(str.strip, of_item.values())):
            part = Part(
                position=len(parts) + 1,
                shown={**shown.get("", {}), **own},
                sent=folded(of_item),
            )
            parts.append(part)
    return parts, dict(folded(sent.get("", {})))


def _by_number(
    cells: Mapping[str, str], numbers: tuple[str, ...], known: Collection[str]
) -> dict[str, dict[str, str]]:
    """Divide cells by the number of their item ("": of none), by names without it."""
    divided: dict[str, dict[str, str]] = defaultdict(dict)
    for name, cell in cells.items():
        place = place_of(name, numbers, known)
        divided[place.number if place else ""][place.base if place else name] = cell
    return divided


def item_of(part: Part, row: ImportedRow, reading: Reading) -> dict[str, str]:
    """Return the item of a part: its columns, including the id.

    If nothing tells items apart, the HIT is the item; without a HIT there is only one
    item.
    """
    own = {
        _safe_name(name): cell
        for name, cell in part.shown.items()
        if not reading.item or name in reading.item
    }
    named = part.shown.get(reading.item_id, "").strip() if reading.item_id else ""
    item_id = named if _is_id(named) else ""
    if not item_id and any(own.values()):
        text = json.dumps(own, sort_keys=True, ensure_ascii=False)
        item_id = f"item_{hashlib.sha256(text.encode(errors='replace')).hexdigest()}"
        item_id = item_id[: len("item_") + _DIGEST]
    columns = {**own, ITEM_ID: item_id or row.hit_id or "everything"}
    if "url" not in own:
        columns |= _address(own)
    for name, column in reading.gold.items():
        if expected := part.shown.get(column, "").strip():
            columns[GOLD + name] = expected
    return columns


def _wired(row: ImportedRow) -> tuple[list[Part], dict[str, str]]:
    sent: dict[int, dict[str, str]] = defaultdict(dict)
    once = {}
    for name, cell in row.sent.items():
        match = _WIRE.fullmatch(name)
        if match is None:
            once[name.removeprefix("hit.")] = cell
        elif match["name"].split(".")[0] not in (*_OF_THE_PAGE, "practice"):
            sent[int(match["number"])][match["name"]] = cell
    parts = [
        Part(position=position, shown={**row.shown, ITEM_ID: cells.pop("item")}, sent=cells)
        for position, cells in sorted(sent.items())
        if "item" in cells
    ]
    return parts, once


def measures(row: ImportedRow) -> dict[str, str]:
    """Return what a page of piecework measured, as sent."""
    if not is_wired(row):
        return {}
    return {name: cell for name, cell in row.sent.items() if name.split(".")[0] in _OF_THE_PAGE}


def _safe_name(name: str) -> str:
    """Escape names that piecework gives a meaning, such as a column `practice`."""
    if name in _TAKEN or name.startswith((GOLD, TRUTH, MADE_BY)):
        return f"input_{name}"
    return name


def _is_id(text: str) -> bool:
    return 0 < len(text) <= _LONGEST_ID and not _UNSAFE.search(text)


def _address(columns: Mapping[str, str]) -> dict[str, str]:
    for name in _ADDRESSES:
        if columns.get(name, "").startswith(("http://", "https://")):
            return {"url": columns[name]}
    return {}


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


def _without(names: Iterable[str], numbers: tuple[str, ...]) -> tuple[str, ...]:
    placed = numbered(names, numbers)
    return tuple(dict.fromkeys(placed[name].base if name in placed else name for name in names))


class SeenNames:
    """Column names, in order of first appearance."""

    def __init__(self) -> None:
        self.shown: dict[str, None] = {}
        self.sent: dict[str, _Values] = {}
        self.is_wired = False
        self.most_ticked: Counter[str] = Counter()

    def numbers(self) -> tuple[str, ...]:
        """Return the numbers of items in names of columns; () if rows have one item.

        Two answers with the same numbers as two columns of items are two questions
        about a pair, unless they look like one question about each.
        """
        return next(
            (
                numbers
                for numbers, answers in shared_numbers(self.shown, self.sent).items()
                if any(self._is_one_question([*names.values()]) for names in answers.values())
            ),
            (),
        )

    def columns(self, numbers: tuple[str, ...]) -> tuple[str, ...]:
        """Return the columns of items without the numbers of items."""
        return _without(self.shown, numbers)

    def answers(self, numbers: tuple[str, ...]) -> tuple[str, ...]:
        """Return the answers without the numbers of items."""
        return _without(self.sent, numbers)

    def guesses(self) -> Iterator[tuple[str, str]]:
        """Yield what was guessed from numbers, and the line that states otherwise."""
        if numbers := self.numbers():
            columns = f"columns with the numbers {numbers[0]} to {numbers[-1]}"
            yield f"a row is about {len(numbers)} items: {columns}", "numbers = []"
            return
        for numbers, answers in shared_numbers(self.shown, self.sent).items():
            asked = ", ".join(next(iter(answers.values())).values())
            yield (
                f"a row is about one item, and {asked} are questions about it",
                toml_line("numbers", as_written(numbers)),
            )

    def _is_one_question(self, names: Sequence[str]) -> bool:
        """Return whether the answers of these names, one for each item, are to one question."""
        values = [self.sent[name] for name in names]
        form, _, option = names[0].rpartition(".")
        if all(name.startswith(f"{form}.") for name in names) and self.most_ticked[form] == 1:
            return not all(value.is_ticked for value in values)  # one radio button
        if len(names) == len(("left", "right")):
            word = _BEFORE.split(names[0])[0].rstrip("_-. ").lower()
            are_sides = option.casefold() in _SIDES or any(value.names_sides for value in values)
            if word in _QUESTIONS or are_sides:
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


def as_written(numbers: Iterable[str]) -> list[int | str]:
    """Return endings as a campaign file writes them: whole numbers where possible.

    >>> as_written(["1", "02"])
    [1, '02']
    """
    return [int(number) if str(int(number)) == number else number for number in numbers]
