"""Whether conditions that every participant met differ: means, variance, pairs.

It reports what the published study of error severity reports (INLG 2020, section 5):
means, an analysis of variance with repeated measures and corrected degrees of freedom,
paired t-tests with Bonferroni's adjustment, and the same within conditions that are
divided. If the task repeats a published study, its figures are next to ours.
"""

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from piecework.analyses.anova import RepeatedMeasures, repeated_measures
from piecework.analyses.condition_scores import Compared, cells, condition_means
from piecework.analyses.paired import contrast, paired_t_tests
from piecework.domain.text import count, plural
from piecework.hit_templates.published import PublishedConditions, published_conditions
from piecework.report.comparison_plots import Mean, means
from piecework.report.components import Cell, Figure, Note, Section, Table, number, text
from piecework.report.formatting import excerpt
from piecework.report.model import ReportModel
from piecework.report.plots import draw_svg
from piecework.report.sections.condition_texts import text_figures, text_tables

_SURE = 0.05
_LONGEST_NAME = 40


def conditions_section(model: ReportModel) -> Section | None:
    """Show the first conditions that the task compares; None if it compares none."""
    if not model.facts.compared:
        return None
    compared = model.facts.compared[0]
    table = condition_means(compared.scores)
    analysis = _analysis(compared.scores)
    if analysis is None:
        lead = "Fewer than two people have answered in all conditions yet."
        return Section(key="conditions", title=_title(compared), lead=(lead,))
    divided = compared.scores[compared.scores["inside"] != ""]
    study = published_conditions(model.facts.task)
    return Section(
        key="conditions",
        title=_title(compared),
        lead=(_lead(analysis, compared), *_published_lead(study)),
        notes=(*_notes(analysis), *_limitations(study)),
        figures=(_figure(table, compared), *text_figures(compared, table)),
        tables=(
            *_hypotheses(compared, study),
            _means(table, "Means by condition", study),
            _variance(analysis, study),
            _pairs(paired_t_tests(compared.scores), "Which conditions differ", study),
            *_inside(divided, study),
            *text_tables(compared),
        ),
    )


def _title(compared: Compared) -> str:
    field = _named(compared.field.name)
    return f"{field.capitalize()} by {_named(compared.named.column)}"


def _named(name: str) -> str:
    return excerpt(name.replace("_", " "), limit=_LONGEST_NAME)


def _analysis(scores: pd.DataFrame) -> RepeatedMeasures | None:
    met = scores.groupby("subject")["condition"].nunique()
    conditions = scores["condition"].nunique()
    if conditions < 2 or int((met == conditions).sum()) < 2:  # noqa: PLR2004 - nothing to compare
        return None
    return repeated_measures(scores)


def _lead(analysis: RepeatedMeasures, compared: Compared) -> str:
    field = compared.field
    differ = "differs" if analysis.p_corrected < _SURE else "does not differ measurably"
    return (
        f"{plural(analysis.subjects, 'participant')} answered in all "
        f"{len(analysis.conditions)} conditions. Their mean {_named(field.name)}, "
        f"from {field.minimum:g} to {field.maximum:g}, {differ} between the "
        f"conditions: F({analysis.df_corrected:.2f}, "
        f"{analysis.df_error_corrected:.1f}) = {analysis.f:.2f}, "
        f"{_p(analysis.p_corrected)}, generalised eta squared = "
        f"{analysis.eta_squared_generalised:.3f}."
    )


def _published_lead(study: PublishedConditions | None) -> tuple[str, ...]:
    if study is None:
        return ()
    sentence = (
        f"Published: F({study.df}, {study.df_error}) = {study.f}, p {study.p}, "
        f"eta squared = {study.eta_squared}, {study.participants} participants "
        f"({study.source})."
    )
    return (sentence,)


def _limitations(study: PublishedConditions | None) -> tuple[Note, ...]:
    limitations = study.limitations if study is not None else ()
    return tuple(Note("fact", limitation) for limitation in limitations)


def _notes(analysis: RepeatedMeasures) -> tuple[Note, ...]:
    notes = []
    if analysis.left_out:
        participants = plural(analysis.left_out, "participant")
        notes.append(
            Note("watch", f"Left out, with answers in only some conditions: {participants}.")
        )
    if analysis.sphericity.p_value < _SURE:
        notes.append(
            Note(
                "fact",
                "Sphericity does not hold (Mauchly's test), so report the corrected "
                "degrees of freedom.",
            )
        )
    return tuple(notes)


def _figure(table: pd.DataFrame, compared: Compared) -> Figure:
    people = cells(compared.scores)
    rows = [
        Mean(_named(str(name)), row["mean"], row["low"], row["high"], tuple(people[name].dropna()))
        for name, row in table.sort_values("mean").iterrows()
    ]
    title = f"{_named(compared.field.name).capitalize()} by {_named(compared.named.column)}"
    described = ", ".join(f"{row.label} {row.mean:.1f} ({_middle(row.values)})" for row in rows)
    plot = means(
        rows,
        ends=(compared.field.minimum, compared.field.maximum),
        x_label=_named(compared.field.name),
    )
    return Figure(
        title=title,
        svg=draw_svg(
            plot,
            key="conditions-plot",
            title=title,
            description=f"Means, and the middle half of participants: {described}.",
        ),
        note="A pale dot is one participant's mean, a dark one the mean over "
        "participants with its 95 % interval. The same people are in every condition, "
        "so overlapping intervals do not mean that two conditions are alike; the table "
        "of pairs shows which differ.",
    )


def _middle(values: tuple[float, ...]) -> str:
    low, high = pd.Series(values).quantile([0.25, 0.75])
    return f"{low:.0f} to {high:.0f}"


def _hypotheses(compared: Compared, study: PublishedConditions | None) -> tuple[Table, ...]:
    """What was expected before anyone answered, and what came of it."""
    known = set(compared.scores["condition"])
    hypotheses = [
        hypothesis
        for hypothesis in compared.named.hypotheses
        if known.issuperset((*hypothesis.lower, *hypothesis.higher))
    ]
    if not hypotheses:
        return ()
    outcomes = study.hypotheses if study is not None else ()
    rows = []
    for place, hypothesis in enumerate(hypotheses):
        test = contrast(compared.scores, hypothesis.lower, hypothesis.higher)
        published = outcomes[place] if place < len(outcomes) else "-"
        rows.append(
            (
                hypothesis.name,
                f"{test['difference']:+.2f}",
                _interval(test["low"], test["high"]),
                f"t({test['df']:g}) = {_figures(test['t'])}",
                _p_value(test["p_value"]),
                _outcome(test["difference"], test["p_value"]),
                *([published] if study else ()),
            )
        )
    return (
        Table(
            caption="Hypotheses",
            columns=(
                text("Expected"),
                number("Difference"),
                number("95 % interval"),
                number("Paired t"),
                number("p"),
                text("Here"),
                *([text("Published")] if study else ()),
            ),
            rows=tuple(rows),
            note="Difference: the mean of what is expected to be lower, less that of "
            "the other. p is not adjusted.",
        ),
    )


def _outcome(difference: float, p_value: float) -> str:
    if math.isnan(p_value) or p_value >= _SURE:
        return "not supported"
    return "supported" if difference < 0 else "the opposite"


def _means(table: pd.DataFrame, caption: str, study: PublishedConditions | None) -> Table:
    parts = {part.name: part for part in study.parts} if study is not None else {}
    has_published = any(name in parts for name in table.index)
    return Table(
        caption=caption,
        columns=(
            text("Condition"),
            number("People", spoken="Participants"),
            number("Mean"),
            number("SD", spoken="Standard deviation over participants"),
            number("95 % interval"),
            *((number("Published mean"), number("SD")) if has_published else ()),
        ),
        rows=tuple(
            (
                _named(str(name)),
                count(int(row["subjects"])),
                f"{row['mean']:.2f}",
                _figures(row["sd"]),
                _interval(row["low"], row["high"]),
                *(
                    (
                        parts[str(name)].mean if name in parts else "-",
                        parts[str(name)].sd if name in parts else "-",
                    )
                    if has_published
                    else ()
                ),
            )
            for name, row in table.sort_values("mean").iterrows()
        ),
        note="A participant counts once per condition, with the mean of their ratings there.",
    )


def _variance(analysis: RepeatedMeasures, study: PublishedConditions | None) -> Table:
    shape = analysis.sphericity
    rows = [
        ("F", f"{analysis.f:.3f}", study and study.f),
        ("Degrees of freedom", f"{analysis.df} and {analysis.df_error}", None),
        ("p, if sphericity holds", _p_value(analysis.p_value), None),
        ("Mauchly's W", f"{_figures(shape.w, 3)} ({_p(shape.p_value)})", None),
        ("Greenhouse-Geisser epsilon", _figures(shape.epsilon, 3), None),
        (
            "Corrected degrees of freedom",
            f"{analysis.df_corrected:.2f} and {analysis.df_error_corrected:.1f}",
            study and f"{study.df} and {study.df_error}",
        ),
        ("p, corrected", _p_value(analysis.p_corrected), study and study.p),
        (
            "Generalised eta squared",
            f"{analysis.eta_squared_generalised:.3f}",
            study and study.eta_squared,
        ),
        ("Partial eta squared", f"{analysis.eta_squared_partial:.3f}", None),
    ]
    shown: tuple[tuple[Cell, ...], ...] = tuple(
        (label, value, *([published or "-"] if study else ())) for label, value, published in rows
    )
    return Table(
        caption="Analysis of variance, repeated measures",
        columns=(text("Figure"), number("Value"), *([number("Published")] if study else ())),
        rows=shown,
        note=study.note if study else "",
    )


def _pairs(
    pairs: pd.DataFrame, caption: str, study: PublishedConditions | None, *, note: str = ""
) -> Table:
    outcomes = {
        (pair.first, pair.second): pair.outcome
        for pair in (study.pairs if study is not None else ())
    }
    rows: list[tuple[Cell, ...]] = [
        (
            f"{_named(row.first)} - {_named(row.second)}",
            f"{row.difference:+.2f}",
            _interval(row.low, row.high),
            f"t({row.df:g}) = {_figures(row.t)}",
            _p_value(row.p_value),
            _p_value(row.p_adjusted),
            _figures(row.d),
            *([outcomes.get((row.first, row.second), "-")] if study else ()),
        )
        for row in _rows(pairs)
    ]
    return Table(
        caption=caption,
        columns=(
            text("Conditions"),
            number("Difference"),
            number("95 % interval"),
            number("Paired t"),
            number("p"),
            number("p adjusted", spoken="p after Bonferroni's adjustment"),
            number("d", spoken="Cohen's d of pairs"),
            *([text("Published")] if study else ()),
        ),
        rows=tuple(rows),
        note=note or "Paired t-tests; p is adjusted for the number of rows (Bonferroni).",
    )


def _rows(pairs: pd.DataFrame) -> Iterator[Any]:
    """Yield rows with columns as attributes; pandas' stubs do not type columns."""
    yield from pairs.itertuples()


def _inside(divided: pd.DataFrame, study: PublishedConditions | None) -> tuple[Table, ...]:
    """Means and tests within conditions that are divided."""
    if divided.empty:
        return ()
    parts = divided.drop(columns="condition").rename(columns={"inside": "condition"})
    tests = [
        paired_t_tests(parts.loc[of_condition.index])
        for _, of_condition in divided.groupby("condition")
    ]
    return (
        _means(condition_means(parts), "Means within conditions", study),
        _pairs(
            pd.concat(tests, ignore_index=True),
            "Differences within conditions",
            study,
            note="Exploratory: paired t-tests within each condition; p is adjusted within it only.",
        ),
    )


def _figures(value: float, digits: int = 2) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def _interval(low: float, high: float) -> str:
    if math.isnan(low):
        return "-"
    return f"{low:.1f} to {high:.1f}"


def _p_value(p: float) -> str:
    if math.isnan(p):
        return "-"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"  # noqa: PLR2004 - as papers write it


def _p(p: float) -> str:
    value = _p_value(p)
    return f"p {value}" if value.startswith("<") else f"p = {value}"
