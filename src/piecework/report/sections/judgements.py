"""What was answered, field by field: how often, and how far people agree.

Only for tasks without a main text; texts have sections of their own.
"""

import math
from collections import Counter

import pandas as pd

from piecework.analyses.alpha import Alpha, Level, krippendorff_alpha
from piecework.analyses.fields import votes
from piecework.analyses.multilabel_agreement import jaccard
from piecework.domain.counts import count, plural, share
from piecework.domain.scales import is_graded, is_unlimited
from piecework.domain.task import Field, Option
from piecework.report import plots
from piecework.report.components import Cell, Figure, Section, Table, number, text
from piecework.report.formatting import excerpt
from piecework.report.model import ReportModel
from piecework.report.svg import Plot, svg

_RESAMPLES = 400
_BINS = 20
_MOST_TICKS = 10
_LONGEST_LABEL = 60


def build(model: ReportModel) -> Section | None:
    """Show the distribution and agreement of every judged field of the items."""
    task = model.facts.task
    if task.main_text:
        return None
    rows = model.rows("novel")
    fields = [field for field in task.item_fields if field.kind != "text"]
    lead = (
        f"{plural(len(rows), 'accepted answer')} about "
        f"{plural(rows['item_id'].nunique(), 'item')}."
        + " Alpha is Krippendorff's: 1 is full agreement, 0 is chance; its 95 % "
        "interval comes from resampling items." * _are_compared(rows)
    )
    return Section(
        key="judgements",
        title="What was answered",
        lead=(lead,),
        figures=tuple(_figure(field, rows) for field in fields if len(rows)),
        tables=(
            _agreement(fields, rows, seed=model.facts.drawing_seed),
            *(_options(field, rows) for field in fields if field.options),
        ),
    )


def _figure(field: Field, rows: pd.DataFrame) -> Figure:
    title = excerpt(field.label, limit=_LONGEST_LABEL)
    plot, description = (
        _histogram(field, rows) if field.kind == "number" else _bars(field, rows)
    )
    key = f"judged-{field.name.replace('_', '-')}"
    drawing = svg(plot, key=key, title=title, description=description)
    return Figure(title=title, svg=drawing)


def _bars(field: Field, rows: pd.DataFrame) -> tuple[Plot, str]:
    counts = _option_counts(field, rows)
    answers = max(len(rows), 1)
    bars = [
        plots.Bar(
            name,
            counts[name],
            f"{count(counts[name])} ({share(counts[name], answers)})",
        )
        for name in (option.value for option in field.options)
    ]
    return plots.bars(bars), "; ".join(f"{bar.label}: {bar.words}" for bar in bars)


def _histogram(field: Field, rows: pd.DataFrame) -> tuple[Plot, str]:
    values = votes(rows, field)["value"].dropna()
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


def _bins(
    values: "pd.Series[float]", low: float, width: float, number: int
) -> list[plots.Bin]:
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


def _agreement(fields: list[Field], rows: pd.DataFrame, *, seed: int) -> Table:
    return Table(
        caption="Agreement between workers",
        columns=(
            text("Field"),
            text("Compared as"),
            number("Agreement"),
            number("95 % interval"),
            number("Items"),
            number("Answers"),
        ),
        rows=tuple(_agreement_row(field, rows, seed=seed) for field in fields)
        if _are_compared(rows)
        else (),
        note="Only items with at least two accepted answers. For several ticks: the "
        "mean Jaccard index of pairs of answers, which does not correct for chance."
        if _are_compared(rows)
        else "",
        empty="No item has two accepted answers.",
        is_wide=True,
    )


def _are_compared(rows: pd.DataFrame) -> bool:
    """Whether any item has two answers to compare."""
    return bool(rows["item_id"].duplicated().any())


def _agreement_row(field: Field, rows: pd.DataFrame, *, seed: int) -> tuple[Cell, ...]:
    field_votes = votes(rows, field)
    if field.kind == "choices":
        overlaps = jaccard(field_votes)
        mean = overlaps["jaccard"].mean() if len(overlaps) else math.nan
        answers = int(overlaps["answers"].sum())
        return (
            field.name, "Jaccard index", _shown(mean), "–",  # noqa: RUF001 - a dash for no value
            count(len(overlaps)), count(answers),
        )  # fmt: skip
    level: Level = "interval" if field.kind == "number" else "nominal"
    if is_graded(field):
        level = "ordinal"
    alpha = _alpha(field_votes, field, level, seed=seed)
    return (
        field.name,
        f"alpha, {level}",
        _shown(alpha.alpha),
        f"{_shown(alpha.low)} to {_shown(alpha.high)}",
        count(alpha.items),
        count(alpha.ratings),
    )


def _alpha(
    field_votes: pd.DataFrame, field: Field, level: Level, *, seed: int
) -> Alpha:
    known = {option.value for option in field.options}
    if known:
        field_votes = field_votes[field_votes["value"].isin(known)]
    if field.kind == "number":
        field_votes = field_votes.dropna(subset="value")
    order = [option.value for option in field.options] if level == "ordinal" else None
    return krippendorff_alpha(
        field_votes, level=level, seed=seed, order=order, resamples=_RESAMPLES
    )


def _options(field: Field, rows: pd.DataFrame) -> Table:
    counts, answers = _option_counts(field, rows), len(rows)
    words = [_in_words(option) for option in field.options]
    has_words = words != [option.value for option in field.options]
    return Table(
        caption=f"Options of {field.name}",
        columns=(
            text("Option"),
            *((text("Label"),) if has_words else ()),
            number("Answers"),
            number("Share"),
        ),
        rows=tuple(
            (
                option.value,
                *((label,) if has_words else ()),
                count(counts[option.value]),
                share(counts[option.value], answers),
            )
            for option, label in zip(field.options, words, strict=True)
        ),
        is_folded=len(field.options) > 8,  # noqa: PLR2004 - few read a long list
    )


def _in_words(option: Option) -> str:
    label = ": ".join(filter(None, (option.group, option.label)))
    return excerpt(label or f"(column {option.column})", limit=_LONGEST_LABEL)


def _shown(number_: float) -> str:
    return "–" if math.isnan(number_) else f"{number_:.2f}"  # noqa: RUF001 - as above
