"""Which system's texts are better, if people compared them, and effects of the order.

The order on the page is that of items, of options and of sides.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import isnan

import pandas as pd
from scipy.stats import chisquare

from piecework.analyses.page_effects import (
    first_side_advantage,
    first_side_advantages,
    position_effect,
)
from piecework.analyses.paired_comparisons import BradleyTerry, finite_strengths
from piecework.analyses.votes import on_scale
from piecework.domain.field import Arrangement, Field, is_graded
from piecework.domain.tables import ITEM_VALUE, ORDER
from piecework.domain.text import count, plural, share
from piecework.report import plots
from piecework.report.comparison_plots import Contest, Mean, contests, means
from piecework.report.components import Cell, Figure, Note, Section, Table, number, table, text
from piecework.report.formatting import decimals
from piecework.report.model import ReportModel

_RARE = 0.01
_MOST_CONTESTS = 12
_MOST_CRITERIA = 6
_NORMAL = 1.96
"""Standard errors on either side that hold 95 % of a normal distribution."""


def systems_section(model: ReportModel) -> Section | None:
    """Show strengths by criterion, and whether the side on the page mattered."""
    pairs = model.facts.comparisons
    if pairs.empty:
        return None
    systems = sorted({*pairs["first"], *pairs["second"]})
    criteria = list(dict.fromkeys(pairs["criterion"]))
    sides, notes = _sides(model)
    lead = (
        f"{plural(len(pairs), 'judgement')} of pairs compare "
        f"{plural(len(systems), 'system')}: {', '.join(systems)}."
    )
    return Section(
        key="systems",
        title="Systems compared",
        lead=(lead,),
        notes=notes,
        figures=tuple(_figure(pairs, name) for name in criteria[:_MOST_CRITERIA]),
        tables=(*(_strengths(pairs, name) for name in criteria), sides),
    )


def result_figures(model: ReportModel) -> tuple[Figure, ...]:
    """Show the strengths of the systems with their intervals, by criterion."""
    pairs = model.facts.comparisons
    criteria = [] if pairs.empty else dict.fromkeys(pairs["criterion"])
    drawn = (_strength_figure(pairs, criterion) for criterion in criteria)
    return tuple(each for each in drawn if each is not None)


def _strength_figure(pairs: pd.DataFrame, criterion: str) -> Figure | None:
    fit, _ = _fitted(pairs.loc[pairs["criterion"] == criterion])
    if fit is None:
        return None
    rows = [
        Mean(str(name), row["strength"], *_interval(row["strength"], row["standard_error"]))
        for name, row in fit.sides.sort_values("strength", ascending=False).iterrows()
    ]
    ends = (abs(end) for row in rows for end in (row.mean, row.low, row.high))
    widest = max(end for end in ends if not isnan(end)) or 1.0  # nothing but ties
    title = f"Strength by {criterion.replace('_', ' ')}"
    return plots.figure(
        means(
            rows, ends=(-1.1 * widest, 1.1 * widest), x_label="stronger to the right", decimals=2
        ),
        key=f"result-{criterion.replace('_', '-')}",
        title=title,
        description="; ".join(f"{row.label} {row.mean:+.2f}" for row in rows) + ".",
        note="With 95 % intervals; a system stronger by 0.69 is preferred twice as often.",
    )


def _interval(strength: float, error: float) -> tuple[float, float]:
    return strength - _NORMAL * error, strength + _NORMAL * error


def _figure(pairs: pd.DataFrame, criterion: str) -> Figure:
    """Show for each pair of systems how often each is better by a criterion."""
    of_criterion = _in_one_order(pairs.loc[pairs["criterion"] == criterion])
    rows = []
    for (first, second), judged in of_criterion.groupby(["first", "second"]):
        times = judged["outcome"].value_counts()
        better = (int(times.get(key, 0)) for key in ("first", "tie", "second"))
        rows.append(Contest(str(first), str(second), *better))
    shown = rows[:_MOST_CONTESTS]
    described = "; ".join(
        f"{row.first} {count(row.first_better)}, equal {count(row.equal)}, "
        f"{row.second} {count(row.second_better)}"
        for row in shown
    )
    key = f"contests-{criterion.replace('_', '-')}"
    return plots.figure(
        contests(shown),
        key=key,
        title=f"Better by {criterion.replace('_', ' ')}",
        description=f"{described}.",
        note="Judgements that the system on the left is better, that both are equal, "
        "that the system on the right is better."
        + f" {count(len(rows) - len(shown))} more pairs are not shown."
        * (len(rows) > len(shown)),
    )


def _in_one_order(pairs: pd.DataFrame) -> pd.DataFrame:
    """The judgements with each pair of systems in the order of their names."""
    is_turned = pairs["first"] > pairs["second"]
    turned = pairs["outcome"].map({"first": "second", "second": "first", "tie": "tie"})
    return pd.DataFrame(
        {
            "first": pairs["first"].mask(is_turned, pairs["second"]),
            "second": pairs["second"].mask(is_turned, pairs["first"]),
            "outcome": pairs["outcome"].mask(is_turned, turned),
        }
    )


def _strengths(pairs: pd.DataFrame, criterion: str) -> Table:
    of_criterion = pairs.loc[pairs["criterion"] == criterion]
    fit, note = _fitted(of_criterion)
    means = _mean_grades(of_criterion)
    return table(
        f"Strength by {criterion.replace('_', ' ')}",
        () if fit is None else fit.sides.assign(system=fit.sides.index).to_dict("records"),
        text("System", "system"),
        number("Strength", lambda row: f"{row['strength']:+.2f}"),
        number("Standard error", lambda row: decimals(row["standard_error"])),
        number("Mean grade", lambda row: f"{means[row['system']]:+.2f}"),
        number("Better", lambda row: int(row["wins"])),
        number("Equal", lambda row: int(row["ties"])),
        number("Worse", lambda row: int(row["losses"])),
        note=note,
        empty=note,
    )


def _fitted(pairs: pd.DataFrame) -> tuple[BradleyTerry | None, str]:
    """The estimate, and what a reader has to know about it."""
    method = (
        "Bradley-Terry model with Davidson's ties: natural logarithms, mean 0; a "
        "system stronger by 0.69 is preferred twice as often as it is not. The mean "
        "grade counts steps from “equal”; above 0 favours the system."
    )
    try:
        fit, smoothing = finite_strengths(pairs)
    except ValueError as fault:
        return None, f"No strengths can be estimated: {fault}."
    added = (
        f" A system won or lost everything, so {smoothing:g} wins were added to "
        "either side of each pair."
    )
    return fit, method + (added if smoothing else "")


def _mean_grades(pairs: pd.DataFrame) -> "pd.Series[float]":
    firsts = pairs[["first", "grade"]].set_axis(["system", "grade"], axis=1)
    seconds = pairs[["second", "grade"]].set_axis(["system", "grade"], axis=1)
    grades = pd.concat([firsts, seconds.assign(grade=-seconds["grade"])])
    return grades.groupby("system")["grade"].mean()


def _sides(model: ReportModel) -> tuple[Table, tuple[Note, ...]]:
    by_criterion = first_side_advantages(model.facts.comparisons).to_dict("records")
    notes = tuple(
        Note(
            "watch",
            f"By {row['criterion'].replace('_', ' ')}, the text shown "
            f"{'first' if row['first_side_wins'] > row['second_side_wins'] else 'second'} is "
            f"preferred more often than by chance (p = {row['p_value']:.3f}).",
        )
        for row in by_criterion
        if row["p_value"] < _RARE
    )
    drawn = (
        "Every assignment shows the sides in random order, so neither side should be preferred"
        if model.facts.imported is None
        else "The files do not say whether the order of the sides was drawn at random; if so, "
        "neither side should be preferred"
    )
    by_side = table(
        "Does it matter which text is shown first?",
        by_criterion,
        text("Criterion", lambda row: row["criterion"].replace("_", " ")),
        number("First is better", "first_side_wins"),
        number("Equal", "ties"),
        number("Second is better", "second_side_wins"),
        number("p", lambda row: f"{row['p_value']:.3f}", spoken="p-value of the exact sign test"),
        note=f"{drawn}; exact two-sided sign test.",
        empty="The order in which the page showed the sides is not known.",
    )
    return by_side, notes


_QUARTERS = 4
_SHUFFLES = 500


def order_effects_section(model: ReportModel) -> Section | None:
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
        tables=(
            table(
                "Order on the page",
                effects,
                text("Field"),
                text("Compared by"),
                text("Result"),
                number("Sample"),
                number("p-value"),
                note="Quarters: a permutation test within assignments, after removing each "
                "item's mean. Options: chi-square against equal shares. Sides: exact sign "
                "test.",
                is_wide=True,
            ),
        ),
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
        return on_scale(field, values), "mean"
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
    signs = {arrangement.columns: 1.0, arrangement.columns[::-1]: -1.0}
    outcomes = [
        _outcome(field, value, sign=signs[order])
        for value, order in zip(
            rows[ITEM_VALUE + field.name], map(tuple, rows[ORDER + arrangement.name]), strict=True
        )
        if _is_answer(field, value) and order in signs
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


def _outcome(field: Field, value: object, *, sign: float) -> str:
    if isinstance(value, float):
        lean = value - (field.minimum + field.maximum) / 2
    else:
        values = [option.value for option in field.options]
        lean = values.index(str(value)) - (len(values) - 1) / 2
    return "tie" if lean == 0 else "first" if lean * sign < 0 else "second"


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
        key = f"place-{field.name.replace('_', '-')}"
        title = f"Positions of the chosen options of {field.name}"
        yield plots.bar_figure(bars, key=key, title=title)
