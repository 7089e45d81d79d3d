"""What was answered, field by field: how often, and how far people agree.

Only for tasks without a main text; texts have sections of their own.
"""

import math
from collections import Counter

import pandas as pd

from piecework.analyses.agreement import option_pairs
from piecework.analyses.votes import on_scale, votes
from piecework.domain.field import Field, Option, is_graded, is_unlimited
from piecework.domain.text import NOTHING, count, plural, share
from piecework.report import plots
from piecework.report.agreement import notes_on
from piecework.report.comparison_plots import Mean, Ratings, matrix, means, strips
from piecework.report.components import Figure, Section, Table, number, table, text
from piecework.report.formatting import cut, decimals, excerpt, spoken
from piecework.report.model import ReportModel
from piecework.report.plots import Plot, figure

_BINS = 20
_MOST_STRIPS = 24
_MOST_PAIRS = 4
_FEW_OPTIONS = 8
_MOST_TICKS = 10
_LONGEST_LABEL = 60


def fields_section(model: ReportModel) -> Section | None:
    """Show the distribution and agreement of every judged field of the items."""
    task = model.facts.task
    if task.main_text and not model.agreement:
        return None
    rows = model.rows("novel")
    fields = [field for field in task.item_fields if field.kind != "text"]
    lead = (
        f"{plural(len(rows), 'accepted answer')} about "
        f"{plural(rows['item_id'].nunique(), 'item')}."
        + " The 95 % intervals of agreement come from resampling items."
        * bool(model.agreement)
    )
    return Section(
        key="judgements",
        title="What was answered",
        lead=(lead,),
        figures=tuple(
            drawn
            for field in fields
            if len(rows)
            for drawn in (_figure(field, rows), *_within_items(field, model, rows))
        ),
        tables=(_agreement(model), *(_options(field, rows) for field in fields if field.options)),
    )


def result_figures(model: ReportModel) -> tuple[Figure, ...]:
    """Show the shares of the labels, or the numbers, of each judged field; () for texts."""
    task, rows = model.facts.task, model.rows("novel")
    if task.main_text or rows.empty:
        return ()
    fields = [field for field in task.item_fields if field.kind != "text"]
    return tuple(_figure(field, rows, key="result") for field in fields)


def _figure(field: Field, rows: pd.DataFrame, *, key: str = "judged") -> Figure:
    plot, description = _histogram(field, rows) if field.kind == "number" else _bars(field, rows)
    name = field.name.replace("_", "-")
    return figure(
        plot,
        key=f"{key}-{name}",
        title=cut(field.label, limit=_LONGEST_LABEL),
        description=description,
    )


def _within_items(field: Field, model: ReportModel, rows: pd.DataFrame) -> tuple[Figure, ...]:
    """Show how answers about the same item differ, if any item has two."""
    if not model.agreement or field.mirrored_by:
        return ()  # which of two is better is shown with the systems
    if field.kind == "number" or is_graded(field):
        return _strip_figure(field, rows)
    return _confusions(field, rows)


def _strip_figure(field: Field, rows: pd.DataFrame) -> tuple[Figure, ...]:
    rated = votes(rows, field)
    values = on_scale(field, rated["value"]).dropna()
    by_item = values.groupby(rated["item_id"].reindex(values.index))
    means_ = by_item.mean()[by_item.size() > 1]
    if means_.empty:
        return ()
    ranked = means_.reset_index(name="mean").sort_values(["mean", "item_id"])
    step = -(-len(ranked) // _MOST_STRIPS)
    # Evenly spaced in the order of their means, so that the whole range is shown.
    shown = ranked.iloc[::step]
    strips_ = [
        Ratings(tuple(sorted(by_item.get_group(item_id))), mean)
        for item_id, mean in zip(shown["item_id"], shown["mean"], strict=True)
    ]
    low, high = float(values.min()), float(values.max())
    if field.options:
        grades = [float(option.value) for option in field.options]
        low, high = min(grades), max(grades)
    elif not is_unlimited(field):
        low, high = field.minimum, field.maximum
    title = f"{spoken(field.name, limit=_LONGEST_LABEL)}: ratings of each item"
    spread = by_item.std()[by_item.size() > 1].mean()
    description = (
        f"Means of items from {means_.min():.1f} to {means_.max():.1f}; ratings of an "
        f"item have a standard deviation of {spread:.2f} on average."
    )
    ends = (low, high if high > low else low + 1)
    plot = strips(strips_, ends=ends, x_label=spoken(field.name, limit=_LONGEST_LABEL))
    note = (
        f"{plural(len(strips_), 'item')} of {count(len(ranked))}, sorted by the mean; "
        "a dot for each rating, larger for equal ones, and a red bar at the mean. " + description
    )
    key = f"strips-{field.name.replace('_', '-')}"
    return (figure(plot, key=key, title=title, description=description, note=note),)


def _confusions(field: Field, rows: pd.DataFrame) -> tuple[Figure, ...]:
    """Show which options different workers choose for the same item."""
    options = [option.value for option in field.options]
    pairs = option_pairs(votes(rows, field), options)
    names = [field.words_of(option).replace("_", " ") for option in options]
    # An option that was never chosen by two workers of an item has an empty row.
    kept = [n for n in range(len(options)) if pairs[n].any()]
    if len(kept) < 2:  # noqa: PLR2004 - nothing to confuse
        return ()
    apart = sorted((-int(pairs[a, b]), a, b) for a in kept for b in kept if a < b and pairs[a, b])
    described = "; ".join(
        f"{names[a]} and {names[b]} {count(-times)}" for times, a, b in apart[:_MOST_PAIRS]
    )
    title = (
        f"{spoken(field.name, limit=_LONGEST_LABEL)}: options of two workers about the same item"
    )
    is_wide = len(kept) > _FEW_OPTIONS
    plot = matrix(
        [names[n] for n in kept], [[int(pairs[a, b]) for b in kept] for a in kept], is_wide=is_wide
    )
    key = f"pairs-{field.name.replace('_', '-')}"
    agreed = count(int(pairs.trace()))
    description = f"Pairs of workers with the same option: {agreed}."
    if described:
        description += f" Most often apart: {described}."
    return (
        figure(
            plot,
            key=key,
            title=title,
            description=description,
            note="Pairs of workers: one chose the row, the other the column"
            + ", and neither both" * (field.kind == "choices")
            + ". The columns have the numbers of the rows; the diagonal is agreement.",
            is_wide=is_wide,
        ),
    )


def _bars(field: Field, rows: pd.DataFrame) -> tuple[Plot, str]:
    counts = _option_counts(field, rows)
    answers = max(len(rows), 1)
    bars = [
        plots.Bar(
            field.words_of(option.value),
            counts[option.value],
            f"{count(counts[option.value])} ({share(counts[option.value], answers)})",
        )
        for option in field.options
    ]
    return plots.bars(bars), "; ".join(f"{bar.label}: {bar.words}" for bar in bars)


def _histogram(field: Field, rows: pd.DataFrame) -> tuple[Plot, str]:
    values = on_scale(field, votes(rows, field)["value"]).dropna()
    low, high = field.minimum, field.maximum
    if is_unlimited(field):  # only the answers bound the scale
        low, high = (values.min(), values.max()) if len(values) else (0.0, 1.0)
        high = high if high > low else low + 1
    steps = round((high - low) / field.step)
    if is_unlimited(field) or steps >= _BINS:
        bins = _bins(values, low, (high - low) / _BINS, _BINS)
        places = [low, (low + high) / 2, high]
    else:  # one column per value, with the value in its middle
        bins = _bins(values, low - field.step / 2, field.step, steps + 1)
        every = 1 if steps <= _MOST_TICKS else -(-steps // _MOST_TICKS)
        places = [low + n * field.step for n in range(0, steps + 1, every)]
    ticks = [(tick, f"{tick:g}") for tick in places]
    plot = plots.histogram(bins, x_label=field.name, y_label="answers", ticks=ticks)
    if values.empty:
        return plot, "No answer yet."
    description = (
        f"From {values.min():g} to {values.max():g}, mean {values.mean():.1f}, "
        f"median {values.median():g}."
    )
    return plot, description


def _bins(values: "pd.Series[float]", low: float, width: float, number: int) -> list[plots.Bin]:
    """Columns side by side from `low` on; the outer ones include values beyond."""
    places = ((values - low) / width).clip(0, number - 1) // 1
    return [
        plots.Bin(low + n * width, low + (n + 1) * width, int((places == n).sum()))
        for n in range(number)
    ]


def _option_counts(field: Field, rows: pd.DataFrame) -> Counter[str]:
    values = votes(rows, field)["value"]
    if field.kind == "choices":
        return Counter(option for ticked in values if ticked for option in set(ticked))
    return Counter(str(value) for value in values if value)


def agreement_figure(model: ReportModel) -> Figure | None:
    """Show the agreement about every judged field; None if none can be compared."""
    measured = [each for each in model.agreement if not math.isnan(each.value)]
    if not measured:
        return None
    rows = [
        Mean(spoken(each.field, limit=_LONGEST_LABEL), each.value, each.low, each.high)
        for each in measured
    ]
    lowest = min([0.0, *(each.value for each in measured)])
    lowest = min([lowest, *(each.low for each in measured if each.low == each.low)])
    plot = means(rows, ends=(lowest, 1.0), x_label="1 is full agreement", decimals=2)
    described = "; ".join(f"{row.label}: {row.mean:.2f}" for row in rows)
    return figure(
        plot,
        key="agreement",
        title="Agreement between workers",
        description=f"{described}.",
        note=" ".join(notes_on(measured)),
    )


def _agreement(model: ReportModel) -> Table:
    measured = model.agreement
    return table(
        "Agreement between workers",
        measured,
        text("Field", lambda of: of.field),
        text("Compared as", lambda of: of.measure),
        number("Agreement", lambda of: decimals(of.value)),
        number(
            "95 % interval",
            lambda of: (
                NOTHING
                if of.measure == "Jaccard index"
                else f"{decimals(of.low)} to {decimals(of.high)}"
            ),
        ),
        number("Items", lambda of: of.items),
        number("Answers", lambda of: of.answers),
        note=" ".join(("Only items with at least two accepted answers.", *notes_on(measured)))
        if measured
        else "",
        empty="No item has two accepted answers.",
    )


def _options(field: Field, rows: pd.DataFrame) -> Table:
    counts, answers = _option_counts(field, rows), len(rows)
    has_words = any(_in_words(option) != option.value for option in field.options)
    return table(
        f"Options of {field.name}",
        field.options,
        text("Option", lambda option: option.value),
        text("Label", _in_words, is_shown=has_words),
        number("Answers", lambda option: counts[option.value]),
        number("Share", lambda option: share(counts[option.value], answers)),
        is_folded=len(field.options) > _FEW_OPTIONS,
    )


def _in_words(option: Option) -> str:
    label = ": ".join(filter(None, (option.group, option.label)))
    return excerpt(label or f"(column {option.column})", limit=_LONGEST_LABEL)
