"""Which system's texts are better, if people compared them in pairs."""

import pandas as pd

from piecework.analyses.bradley_terry import BradleyTerry, bradley_terry
from piecework.analyses.order import first_side_advantage
from piecework.domain.counts import count, plural
from piecework.report.comparison_plots import Contest, contests
from piecework.report.components import Figure, Note, Section, Table, number, text
from piecework.report.model import ReportModel
from piecework.report.svg import svg

_SMOOTHING = 0.5
_RARE = 0.01
_MOST_CONTESTS = 12
_MOST_CRITERIA = 6


def build(model: ReportModel) -> Section | None:
    """Show strengths by criterion, and whether the side on the page mattered."""
    pairs = model.facts.comparisons
    if pairs.empty:
        return None
    systems = sorted({*pairs["first"], *pairs["second"]})
    criteria = list(dict.fromkeys(pairs["criterion"]))
    sides, notes = _sides(pairs, criteria)
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


def _figure(pairs: pd.DataFrame, criterion: str) -> Figure:
    """Show for each pair of systems how often each is better by a criterion."""
    of_criterion = _in_one_order(pairs.loc[pairs["criterion"] == criterion])
    rows = []
    for (first, second), judged in of_criterion.groupby(["first", "second"]):
        times = judged["outcome"].value_counts()
        better = (int(times.get(key, 0)) for key in ("first", "tie", "second"))
        rows.append(Contest(str(first), str(second), *better))
    shown = rows[:_MOST_CONTESTS]
    title = f"Better by {criterion.replace('_', ' ')}"
    described = "; ".join(
        f"{row.first} {count(row.first_better)}, equal {count(row.equal)}, "
        f"{row.second} {count(row.second_better)}"
        for row in shown
    )
    key = f"contests-{criterion.replace('_', '-')}"
    return Figure(
        title=title,
        svg=svg(contests(shown), key=key, title=title, description=f"{described}."),
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
    rows = (
        ()
        if fit is None
        else tuple(
            (
                str(system),
                f"{row['strength']:+.2f}",
                f"{row['standard_error']:.2f}",
                f"{means[str(system)]:+.2f}",
                count(int(row["wins"])),
                count(int(row["ties"])),
                count(int(row["losses"])),
            )
            for system, row in fit.sides.iterrows()
        )
    )
    return Table(
        caption=f"Strength by {criterion.replace('_', ' ')}",
        columns=(
            text("System"),
            number("Strength"),
            number("Standard error"),
            number("Mean grade"),
            number("Better"),
            number("Equal"),
            number("Worse"),
        ),
        rows=rows,
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
    refused = ""
    for smoothing in (0.0, _SMOOTHING):
        try:
            fit = bradley_terry(pairs, smoothing=smoothing)
        except ValueError as fault:
            refused = f"No strengths can be estimated: {fault}."
            continue
        added = (
            f" A system won or lost everything, so {smoothing:g} wins were added to "
            "either side of each pair."
        )
        return fit, method + (added if smoothing else "")
    return None, refused


def _mean_grades(pairs: pd.DataFrame) -> "pd.Series[float]":
    firsts = pairs[["first", "grade"]].set_axis(["system", "grade"], axis=1)
    seconds = pairs[["second", "grade"]].set_axis(["system", "grade"], axis=1)
    grades = pd.concat([firsts, seconds.assign(grade=-seconds["grade"])])
    return grades.groupby("system")["grade"].mean()


def _sides(pairs: pd.DataFrame, criteria: list[str]) -> tuple[Table, tuple[Note, ...]]:
    rows, notes = [], []
    for name in criteria:
        shown = pairs.loc[pairs["criterion"] == name, "side"]
        first, second, p_value = first_side_advantage(pd.DataFrame({"outcome": shown}))
        equal = len(shown) - first - second
        rows.append(
            (name.replace("_", " "), count(first), count(equal), count(second), f"{p_value:.3f}")
        )
        if p_value < _RARE:
            notes.append(
                Note(
                    "watch",
                    f"By {name.replace('_', ' ')}, the text shown "
                    f"{'first' if first > second else 'second'} is preferred more "
                    f"often than by chance (p = {p_value:.3f}).",
                )
            )
    table = Table(
        caption="Does it matter which text is shown first?",
        columns=(
            text("Criterion"),
            number("First is better"),
            number("Equal"),
            number("Second is better"),
            number("p", spoken="p-value of the exact sign test"),
        ),
        rows=tuple(rows),
        note="Every assignment shows the sides in random order, so neither side should "
        "be preferred; exact two-sided sign test.",
    )
    return table, tuple(notes)
