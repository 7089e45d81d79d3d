"""Whether the order on the page affected answers: of items, of options, of sides.

Orders are drawn for each assignment, so an effect of a position rather than its content
is an effect of the page. Every effect is shown with its p-value, small or not.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import pandas as pd
from scipy.stats import chisquare

from piecework.analyses.order import first_side_advantage, position_effect
from piecework.domain.counts import count, plural, share
from piecework.domain.scales import is_graded
from piecework.domain.tables import ITEM_VALUE, ORDER
from piecework.domain.task import Arrangement, Field
from piecework.report import plots
from piecework.report.components import Cell, Figure, Section, Table, number, text
from piecework.report.model import ReportModel
from piecework.report.svg import svg

_QUARTERS = 4
_SHUFFLES = 500


def build(model: ReportModel) -> Section | None:
    """Show effects of the position on the page, among options, and of the side."""
    task = model.facts.task
    if task.main_text:
        return None
    rows = model.rows("novel")
    if rows.empty:
        return None
    arrangements = {arrangement.name: arrangement for arrangement in task.arrangements}
    fields = [field for field in task.item_fields if field.kind != "text"]
    tests = [
        *(_of_place(field, rows, seed=model.facts.drawing_seed) for field in fields),
        *(_of_options(field, rows) for field in fields if field.shuffled),
        *(
            _of_sides(field, rows, arrangements[field.mirrored_by])
            for field in fields
            if field.mirrored_by
        ),
    ]
    effects = tuple(test for test in tests if test)
    if not effects:
        return None
    return Section(
        key="order",
        title="Did the order on the page matter?",
        lead=(_lead(model),),
        figures=tuple(_figures(fields, rows)),
        tables=(_table(effects),),
    )


def _lead(model: ReportModel) -> str:
    orders = (
        "Each assignment shows items, options and sides in its own random order, so a "
        "difference between positions comes from the page, not from the content."
        if model.facts.imported is None
        else "Items appear in several positions. The files do not say whether these "
        "were drawn at random; if so, a difference between positions comes from the "
        "page."
    )
    return f"{orders} A p-value below 0.05 is worth a look, but chance gives one in twenty."


def _of_place(field: Field, rows: pd.DataFrame, *, seed: int) -> tuple[Cell, ...] | None:
    """By the quarter of the page in which an item appeared."""
    sizes = rows.groupby("assignment_id")["item_id"].transform("size")
    whole = rows[sizes >= _QUARTERS]
    if whole.empty:
        return None
    size = whole.groupby("assignment_id")["place"].transform("max")
    quarter = ((whole["place"] - 1) * _QUARTERS // size).astype("int64") + 1
    value, measure = _measure(field, whole)
    ratings = pd.DataFrame(
        {
            "unit": whole["assignment_id"],
            "condition": whole["item_id"],
            "position": quarter,
            "value": value,
        }
    )
    if ratings.groupby("condition")["position"].nunique().max() == 1:
        return None  # each item always appeared in the same quarter
    try:
        effect = position_effect(ratings, seed=seed, shuffles=_SHUFFLES)
    except ValueError:  # no assignment has an answer in every quarter
        return None
    means = ", ".join(f"{mean:.2f}" for mean in effect.positions["mean"])
    return (
        field.name,
        "quarter of the page",
        f"{measure}: {means}",
        plural(effect.units, "assignment"),
        f"{effect.p_value:.3f}",
    )


def _measure(field: Field, rows: pd.DataFrame) -> tuple["pd.Series[float]", str]:
    """One number per answer, and what it measures."""
    values = rows[ITEM_VALUE + field.name]
    if field.kind == "number" or is_graded(field):
        return pd.to_numeric(values, errors="coerce"), "mean"
    if field.kind == "choices":
        return values.map(lambda ticked: float(len(ticked))), "mean ticks"
    first = field.options[0].value
    return values.map(lambda value: float(value == first)), f"share of {first}"


def _of_options(field: Field, rows: pd.DataFrame) -> tuple[Cell, ...] | None:
    """By the position of the chosen option."""
    places = _places(field, rows)
    if places.total() == 0:
        return None
    counts = [places[n] for n in range(max(places) + 1)]
    longest = int(rows[ORDER + field.name].map(len).max())
    counts += [0] * (longest - len(counts))
    return (
        field.name,
        "position among the options",
        ", ".join(map(count, counts)),
        plural(places.total(), "choice"),
        f"{chisquare(counts).pvalue:.3f}",
    )


def _places(field: Field, rows: pd.DataFrame) -> Counter[int]:
    """How often the option at each position (from 0) was chosen."""
    places: Counter[int] = Counter()
    for value, order in zip(rows[ITEM_VALUE + field.name], rows[ORDER + field.name], strict=True):
        chosen = {value} if isinstance(value, str) else set(value)
        places.update(order.index(option) for option in chosen if option in order)
    return places


def _of_sides(
    field: Field, rows: pd.DataFrame, arrangement: Arrangement
) -> tuple[Cell, ...] | None:
    """By the side that was shown first."""
    outcomes = [
        _outcome(field, value, is_turned=tuple(order) == arrangement.columns[::-1])
        for value, order in zip(
            rows[ITEM_VALUE + field.name], rows[ORDER + arrangement.name], strict=True
        )
        if _is_answer(field, value)
    ]
    if not outcomes:
        return None
    first, second, p_value = first_side_advantage(pd.DataFrame({"outcome": outcomes}))
    return (
        field.name,
        "side shown first",
        f"first {count(first)}, second {count(second)}",
        plural(len(outcomes), "comparison"),
        f"{p_value:.3f}",
    )


def _is_answer(field: Field, value: object) -> bool:
    if isinstance(value, float):
        return not pd.isna(value)
    return value in {option.value for option in field.options}


def _outcome(field: Field, value: object, *, is_turned: bool) -> str:
    if isinstance(value, float):
        lean = value - (field.minimum + field.maximum) / 2
    else:
        values = [option.value for option in field.options]
        lean = values.index(str(value)) - (len(values) - 1) / 2
    lean = -lean if is_turned else lean
    return "tie" if lean == 0 else "first" if lean < 0 else "second"


def _figures(fields: Sequence[Field], rows: pd.DataFrame) -> Iterator[Figure]:
    for field in fields:
        if not field.shuffled or not (places := _places(field, rows)):
            continue
        total = places.total()
        bars = [
            plots.Bar(
                f"position {n + 1}", places[n], f"{count(places[n])} ({share(places[n], total)})"
            )
            for n in range(max(places) + 1)
        ]
        title = f"Positions of the chosen options of {field.name}"
        description = "; ".join(f"{bar.label}: {bar.words}" for bar in bars)
        key = f"place-{field.name.replace('_', '-')}"
        drawing = svg(plots.bars(bars), key=key, title=title, description=description)
        yield Figure(title=title, svg=drawing)


def _table(rows: tuple[tuple[Cell, ...], ...]) -> Table:
    return Table(
        caption="Order on the page",
        columns=(
            text("Field"),
            text("Compared by"),
            text("Result"),
            number("Sample"),
            number("p-value"),
        ),
        rows=rows,
        note="Quarters: a permutation test within assignments, after removing each "
        "item's mean. Options: chi-square against equal shares. Sides: exact sign "
        "test.",
        is_wide=True,
    )
