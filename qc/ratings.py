"""What workers answered, in one shape for every kind of field: the ratings.

A choice, several choices and a position on a scale are compared, counted and checked
against expected answers in the same way. The task says in which fields honest workers'
answers vary (`Field.expects_variation`); for these `with_ratings` adds to the table
(`piecework.domain.tables`):

- `rated.<field>`: the answer: a sorted tuple of str, () if absent; for a `number` or
  grades float64, its position on the scale from 0 to 1, NaN if absent or outside of it
- `gold.<field>`: the expected answer, like `rated.<field>`; empty if none is expected;
  only if an item of the table expects something
- `twinned.<field>`: like `rated.<field>`, reversed if the item asks the other way; only
  if an item of the table has a twin
- `sides.<field>`: str, `first` or `second`: the side of the page that was favoured, ""
  for neither or if the order shown is not known; only for a field with a reversed scale
  (`Field.mirrored_by`)
- `matter_of_fact.<field>`: bool, true; only for a field that is not an opinion
  (`Field.is_opinion`), so that agreement is measured only there
- `twin`: str, the id of the item that asks the same again, ""

For a field with boxes or spans, which are compared by how they overlap:

- `drawn.<field>`, for a transcript `worded.<field>`: str, the answer as it was sent, "" if absent
- `gold.<field>`: str, the expected answer, ""; only if an item of the table expects something

In addition, if an option that is asked once per HIT excludes a worker from the study:

- `is_outside`: bool, the worker chose such an option

In addition, if the page shows a text of the item (at least two words) and the worker
writes a text of their own, not an edit of the item's:

- `likeness`: float64, how alike the two are, letter by letter (`rapidfuzz`'s `Indel`),
  from 0 to 1; of several texts of the item, the one most alike; NaN if either is absent

In addition, if workers correct a draft that the item has (the aggregate `best_edit`):

- `kept_draft.<field>`: float64, 1 if the answer is the draft as it was, else 0; NaN
  without a draft or a text

A heuristic flags nothing in a table without the columns that it reads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from piecework.domain.assignment import FieldValue
from piecework.domain.field import Field, is_graded, mirrored
from piecework.domain.hit import Item
from piecework.domain.late_modules import np, npt, pd, rapidfuzz
from piecework.domain.qualifications import SECTION
from piecework.domain.tables import ORDER, value_column
from piecework.domain.task import GOLD, TWIN, TWIN_REVERSED, Task
from piecework.qc.plain_text import plain, plain_texts
from piecework.qc.scores import mapped

RATED = "rated."
SIDES = "sides."
TWINNED = "twinned."
MATTER_OF_FACT = "matter_of_fact."
OUTSIDE = "is_outside"
LIKENESS = "likeness"
SECTION_OF = "section."
KEPT_DRAFT = "kept_draft."
DRAWN = "drawn."
WORDED = "worded."

NO_DISTANCE = 1e-9
"""Places on a scale this near are the same: floats differ in their last digits."""

Rating = tuple[str, ...] | float
"""A sorted tuple of options, or a position on a scale from 0 to 1."""

_Cells: TypeAlias = "npt.NDArray[Any]"


def with_ratings(table: pd.DataFrame, task: Task, items: Iterable[Item]) -> pd.DataFrame:
    """Add the columns above to the table; return it unchanged if the task needs none.

    Args:
        table: of `piecework.domain.tables`, with the columns that `sources` names.
        task: says which fields are rated.
        items: of the campaign, for expected answers and twins; the table may contain
            items that are not among them.
    """
    columns: dict[str, pd.Series[Any]] = {}
    if excluding := _excluding_fields(task):
        columns[OUTSIDE] = pd.Series(_is_outside(table, excluding), index=table.index)
    rated = [field for field in task.item_fields if field.expects_variation]
    texts, drafts, merged = _text_columns(task), _drafts(task), task.merged_fields
    by_name = {field.name: field for field in task.item_fields}
    is_read = rated or texts or drafts or merged
    asked_items = _AskedItems(table["item_id"], items if is_read else ())
    if texts and any(asked_items.has(name) for name in texts):
        likeness = _likeness(table, texts, asked_items)
        columns[LIKENESS] = pd.Series(likeness, index=table.index)
    for name, draft in drafts.items():
        columns[KEPT_DRAFT + name] = pd.Series(
            _kept_draft(table[value_column(by_name[name])], draft, asked_items), index=table.index
        )
    for field in merged:
        columns |= _merged(field, table, asked_items)
    if rated:
        for field in rated:
            columns |= _ratings_of(field, table, task, asked_items)
        twins = asked_items.cells(TWIN, str)
        columns[TWIN] = pd.Series(twins, index=table.index, dtype="str")
    if not columns:
        return table
    return pd.concat([table, pd.DataFrame(columns, index=table.index)], axis=1)


def only_read(items: Iterable[Item], task: Task) -> list[Item]:
    """The items with a cell that `with_ratings` reads, with only these cells."""
    names = {*(TWIN, TWIN_REVERSED, SECTION), *_text_columns(task), *_drafts(task).values()}
    own = (
        (
            item,
            {
                name: cell
                for name, cell in item.columns.items()
                if name in names or name.startswith(GOLD)
            },
        )
        for item in items
    )
    return [replace(item, columns=cells) for item, cells in own if any(cells.values())]


def sources(task: Task) -> tuple[str, ...]:
    """Return the columns of the table that `with_ratings` reads for a task."""
    names = [value_column(field) for field in _excluding_fields(task)]
    for field in task.item_fields:
        if field.expects_variation:
            names += ["item_id", value_column(field)]
            names += [ORDER + field.mirrored_by] if field.mirrored_by else []
    names += ["item_id", "text", "is_canned"] if _text_columns(task) else []
    by_name = {field.name: field for field in task.item_fields}
    for name in (*_drafts(task), *(field.name for field in task.merged_fields)):
        names += ["item_id", value_column(by_name[name])]
    return tuple(dict.fromkeys(names))


def rated_fields(table: pd.DataFrame, prefix: str = RATED) -> list[str]:
    """Names of the rated fields that also have a column with this prefix, in order."""
    names = [
        str(column).removeprefix(RATED) for column in table.columns if str(column).startswith(RATED)
    ]
    return [name for name in names if prefix + name in table.columns]


def merged_columns(table: pd.DataFrame, prefix: str = "") -> list[tuple[str, str]]:
    """Names of the fields with marks or transcripts, and of the columns with their texts.

    Args:
        table: of `with_ratings`.
        prefix: skip fields without a column of this prefix; "" for none.
    """
    columns = [str(column) for column in table.columns]
    both = [
        (column.removeprefix(start), column)
        for start in (DRAWN, WORDED)
        for column in columns
        if column.startswith(start)
    ]
    return [(name, column) for name, column in both if not prefix or prefix + name in columns]


def is_scale(ratings: pd.Series[Any]) -> bool:
    """Whether ratings are positions on a scale, not options."""
    return ratings.dtype == "float64"


def has_places(field: Field) -> bool:
    """Whether a field is a number or a choice between grades in fixed order."""
    return field.kind == "number" or (is_graded(field) and not field.shuffled)


def is_given(ratings: pd.Series[Any]) -> pd.Series[bool]:
    """Whether each answer has a rating."""
    if is_scale(ratings):
        return ratings.notna()
    return ratings.map(bool).astype("bool")


def distance(first: Rating, second: Rating) -> float:
    """Return the distance of two ratings, from 0 (the same) to 1.

    On a scale it is the difference; for options it is one minus Jaccard's index, which
    is 0 or 1 for single choices.

    >>> distance(("a", "b"), ("b", "c")), distance(0.25, 1.0)
    (0.6666666666666667, 0.75)
    """
    if isinstance(first, float) and isinstance(second, float):
        return abs(first - second)
    if isinstance(first, float) or isinstance(second, float):
        raise TypeError("a place on a scale is compared with options")
    union = {*first, *second}
    return 1 - len({*first} & {*second}) / len(union) if union else 0.0


def is_beyond(apart: float, tolerance: float) -> bool:
    """Whether a distance is above a tolerance, whatever the last digits of the floats.

    >>> is_beyond(0.8 - 0.5, 0.3), is_beyond(0.31, 0.3)
    (False, True)
    """
    return apart > tolerance + NO_DISTANCE


def rating(field: Field, value: FieldValue | None) -> Rating:
    """Turn a value into a rating.

    >>> rating(Field(name="f", kind="choices", label=""), ("b", "a"))
    ('a', 'b')
    """
    if field.kind == "number":
        return float(_places(field, value)) if isinstance(value, float) else math.nan
    if has_places(field):
        return _place_of_grade(field, value)
    if value is None or value == "" or isinstance(value, float):
        return ()
    return (value,) if isinstance(value, str) else tuple(sorted(set(value)))


def expected_rating(field: Field, text: str) -> Rating:
    """Turn a cell with an expected answer into a rating; empty if there is none."""
    if field.kind == "number":
        return rating(field, float(text) if text else None)
    if field.kind == "choice":
        return rating(field, text)
    return rating(field, tuple(text.split("|")) if text else None)


class _AskedItems:
    """The items that a table's rows are about, each looked up once."""

    def __init__(self, item_ids: pd.Series[str], items: Iterable[Item]) -> None:
        known: Mapping[str, Mapping[str, str]] = {item.item_id: item.columns for item in items}
        self._rows, names = pd.factorize(item_ids)
        self._items = [known.get(name, {}) for name in names]

    def has(self, column: str) -> bool:
        """Whether any item has a value in this column."""
        return any(item.get(column) for item in self._items)

    def cells(
        self,
        column: str,
        read: Callable[[str], object],
        dtype: Literal["object", "float64", "bool"] = "object",
    ) -> _Cells:
        """By row, the item's cell passed through `read`; "" if it has none."""
        cells = (read(item.get(column, "")) for item in self._items)
        return np.fromiter(cells, dtype, len(self._items))[self._rows]


def _ratings_of(
    field: Field, table: pd.DataFrame, task: Task, asked_items: _AskedItems
) -> dict[str, pd.Series[Any]]:
    """The columns of one field, by name."""
    rated = _rated(field, table[value_column(field)])
    cells: dict[str, _Cells] = {RATED: rated}
    if asked_items.has(GOLD + field.name):
        cells[GOLD] = asked_items.cells(
            GOLD + field.name,
            lambda text: expected_rating(field, text),
            "float64" if has_places(field) else "object",
        )
        if asked_items.has(SECTION):
            cells[SECTION_OF] = asked_items.cells(SECTION, str)
    if asked_items.has(TWIN):
        is_turned = asked_items.cells(TWIN_REVERSED, bool, "bool")
        cells[TWINNED] = np.where(is_turned, _turned(field, rated), rated)
    columns = {
        prefix + field.name: pd.Series(values, index=table.index)
        for prefix, values in cells.items()
    }
    if field.mirrored_by:
        sides = pd.Series(_sides(field, table, task), index=table.index, dtype="str")
        columns[SIDES + field.name] = sides
    if not field.is_opinion:
        columns[MATTER_OF_FACT + field.name] = pd.Series(True, index=table.index)  # noqa: FBT003 - a column's cell
    return columns


def _rated(field: Field, values: pd.Series[Any]) -> _Cells:
    if field.kind == "number":
        return _places(field, values.to_numpy(dtype="float64"))
    return mapped(
        values, lambda value: rating(field, value), "float64" if has_places(field) else "object"
    )


def _places(field: Field, numbers: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Places of numbers on the scale from 0 to 1; NaN outside of it."""
    places = (np.asarray(numbers) - field.minimum) / (field.maximum - field.minimum)
    return np.where((places >= -NO_DISTANCE) & (places <= 1 + NO_DISTANCE), places, np.nan)


def _turned(field: Field, ratings: _Cells) -> _Cells:
    """Ratings on the reversed scale."""
    if ratings.dtype == "float64":
        return 1 - ratings

    def turned(options: tuple[str, ...]) -> tuple[str, ...]:
        values = mirrored(field, options)
        return tuple(sorted(values)) if isinstance(values, tuple) else options

    return mapped(pd.Series(ratings, dtype="object"), turned, "object")


def _sides(field: Field, table: pd.DataFrame, task: Task) -> _Cells:
    """The side of the page, as shown, that each rating favours."""
    columns = next(
        arrangement.columns
        for arrangement in task.arrangements
        if arrangement.name == field.mirrored_by
    )
    # Imported answers often come without the order of the sides.
    signs = {columns: 1.0, columns[::-1]: -1.0}
    sign = mapped(
        table[ORDER + field.mirrored_by], lambda order: signs.get(order, math.nan), "float64"
    )
    shown = sign * _off_middle(field, table[value_column(field)])
    return np.select([shown < 0, shown > 0], ["first", "second"], "")


def _off_middle(field: Field, values: pd.Series[Any]) -> npt.NDArray[np.float64]:
    """How far each value is above the middle of the scale; NaN if absent."""
    if field.kind == "number":
        return _places(field, values.to_numpy(dtype="float64")) - 0.5
    places = {option.value: place for place, option in enumerate(field.options)}
    middle = (len(places) - 1) / 2
    return mapped(values, lambda value: places.get(value, math.nan) - middle, "float64")


def _text_columns(task: Task) -> list[str]:
    """Columns that may have a text with which the worker's own is compared.

    An edit of the item's text is like it by design.
    """
    if task.main_text in _drafts(task) or not task.main_text:
        return []
    return sorted({*task.shown_columns} - {task.columns[0]})


def _drafts(task: Task) -> dict[str, str]:
    """By field that corrects a draft, the column with the draft."""
    return {
        aggregate.field: aggregate.column
        for aggregate in task.aggregates
        if aggregate.kind == "best_edit" and aggregate.column
    }


def _kept_draft(
    answers: pd.Series[Any], column: str, asked_items: _AskedItems
) -> npt.NDArray[np.float64]:
    """By row: 1 for the draft as it was, 0 for another text, NaN without either."""
    drafts = asked_items.cells(column, lambda cell: " ".join(cell.split()))
    sent = [" ".join(text.split()) if isinstance(text, str) else "" for text in answers]
    return np.array(
        [
            float(text == draft) if text and draft else math.nan
            for text, draft in zip(sent, drafts.tolist(), strict=True)
        ],
        dtype="float64",
    )


def _likeness(
    table: pd.DataFrame, columns: list[str], asked_items: _AskedItems
) -> npt.NDArray[np.float64]:
    texts = plain_texts(table["text"].tolist())
    likeness = np.full(len(table), np.nan)
    is_text = np.fromiter(map(bool, texts), "bool", len(texts))
    is_text &= ~table["is_canned"].to_numpy()
    for name in columns:
        cells = asked_items.cells(name, _words_of)
        places = np.flatnonzero(is_text & (cells != ""))
        alike = rapidfuzz.process.cpdist(
            [texts[place] for place in places],
            cells[places].tolist(),
            scorer=rapidfuzz.distance.Indel.normalized_similarity,
            dtype=np.float64,
        )
        likeness[places] = np.fmax(likeness[places], alike)
    return likeness


def _words_of(cell: str) -> str:
    """The words of a cell; "" for an address and for a single word, such as a name."""
    # A picture can be its own address: `data:image/svg+xml;base64,...`.
    is_address = "://" in cell or cell.startswith("data:")
    return plain(cell) if len(cell.split()) > 1 and not is_address else ""


def _merged(
    field: Field, table: pd.DataFrame, asked_items: _AskedItems
) -> dict[str, pd.Series[Any]]:
    """The columns of a field with boxes, spans or transcripts, by name."""
    prefix = WORDED if field.is_transcript else DRAWN
    columns = {prefix + field.name: table[value_column(field)].fillna("").astype("str")}
    if asked_items.has(GOLD + field.name):
        cells = asked_items.cells(GOLD + field.name, str)
        columns[GOLD + field.name] = pd.Series(cells, index=table.index, dtype="str")
    return columns


def _excluding_fields(task: Task) -> list[Field]:
    """Fields, asked once per HIT, with an option that excludes from the study."""
    return [field for field in task.hit_fields if any(option.excludes for option in field.options)]


def _is_outside(table: pd.DataFrame, fields: list[Field]) -> npt.NDArray[np.bool_]:
    is_outside = np.zeros(len(table), dtype="bool")
    for field in fields:
        leads_out = {option.value for option in field.options if option.excludes}

        def leaves(value: str | tuple[str, ...], leads_out: set[str] = leads_out) -> bool:
            chosen = {value} if isinstance(value, str) else {*value}
            return not chosen.isdisjoint(leads_out)

        if field.kind != "number":
            is_outside |= mapped(table[value_column(field)], leaves, "bool")
    return is_outside


def _place_of_grade(field: Field, value: FieldValue | None) -> float:
    grades = [int(option.value) for option in field.options]
    if not isinstance(value, str) or value not in {o.value for o in field.options}:
        return math.nan
    low, high = min(grades), max(grades)
    return (int(value) - low) / (high - low)
