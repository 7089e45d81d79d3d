"""Whether conditions that every participant met differ: means, variance, pairs.

It reports what the published study of error severity reports (INLG 2020, section 5):
means, an analysis of variance with repeated measures and corrected degrees of freedom,
paired t-tests with Bonferroni's adjustment, and the same within conditions that are
divided. If the task repeats a published study, its figures are next to ours.
"""

import math
from collections.abc import Iterator
from itertools import chain, repeat

import pandas as pd

from piecework.analyses.condition_scores import Compared, cells, condition_means
from piecework.analyses.within_subject import (
    RepeatedMeasures,
    contrast,
    paired_t_tests,
    repeated_measures,
)
from piecework.domain.text import plural
from piecework.hit_templates.task_schema import PublishedConditions, published_conditions
from piecework.report.comparison_plots import Mean, means
from piecework.report.components import Figure, Note, Section, Table, number, table, text
from piecework.report.formatting import decimals, spoken
from piecework.report.model import ReportModel
from piecework.report.plots import figure
from piecework.report.sections.condition_texts import text_figures, text_tables

_SURE = 0.05
_ALIKE = "the same for everyone; no test"


def conditions_section(model: ReportModel) -> Section | None:
    """Show the first conditions that the task compares; None if it compares none."""
    if not model.facts.compared:
        return None
    compared = model.facts.compared[0]
    means_ = condition_means(compared.scores)
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
        figures=(_figure(means_, compared), *text_figures(compared, means_)),
        tables=(
            *_expected(compared, study),
            _means(means_, "Means by condition", study),
            _variance(analysis, study),
            _pairs(paired_t_tests(compared.scores), "Which conditions differ", study),
            *_inside(divided, study),
            *text_tables(compared),
        ),
    )


def result_figures(model: ReportModel) -> tuple[Figure, ...]:
    """Show the means of the conditions; () without two people in all of them."""
    compared = next(iter(model.facts.compared), None)
    if compared is None or _analysis(compared.scores) is None:
        return ()
    return (_figure(condition_means(compared.scores), compared, key="result-conditions"),)


def _title(compared: Compared) -> str:
    field = spoken(compared.field.name)
    return f"{field.capitalize()} by {spoken(compared.named.column)}"


def _analysis(scores: pd.DataFrame) -> RepeatedMeasures | None:
    met = scores.groupby("subject")["condition"].nunique()
    conditions = scores["condition"].nunique()
    if conditions < 2 or int((met == conditions).sum()) < 2:  # noqa: PLR2004 - nothing to compare
        return None
    return repeated_measures(scores)


def _lead(analysis: RepeatedMeasures, compared: Compared) -> str:
    field = compared.field
    return (
        f"{plural(analysis.subjects, 'participant')} answered in all "
        f"{len(analysis.conditions)} conditions. Their mean {spoken(field.name)}, "
        f"from {field.minimum:g} to {field.maximum:g}, {_differs(analysis)}, generalised eta "
        f"squared = {_figures(analysis.eta_squared_generalised, 3)}."
    )


def _differs(analysis: RepeatedMeasures) -> str:
    """Whether the conditions differ; a test needs people who differ by different amounts."""
    if math.isinf(analysis.f):
        return f"differs between the conditions by {_ALIKE}"
    if math.isnan(analysis.f):
        return "is the same in all conditions for everyone; no test"
    differ = "differs" if analysis.p_corrected < _SURE else "does not differ measurably"
    return (
        f"{differ} between the conditions: F({_figures(analysis.df_corrected)}, "
        f"{_figures(analysis.df_error_corrected, 1)}) = {_figures(analysis.f)}, "
        f"{_p(analysis.p_corrected)}"
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


def _figure(
    by_condition: pd.DataFrame, compared: Compared, *, key: str = "conditions-plot"
) -> Figure:
    people = cells(compared.scores)
    rows = [
        Mean(spoken(str(name)), row["mean"], row["low"], row["high"], tuple(people[name].dropna()))
        for name, row in by_condition.sort_values("mean").iterrows()
    ]
    described = ", ".join(f"{row.label} {row.mean:.1f} ({_middle(row.values)})" for row in rows)
    plot = means(
        rows,
        ends=(compared.field.minimum, compared.field.maximum),
        x_label=spoken(compared.field.name),
    )
    return figure(
        plot,
        key=key,
        title=_title(compared),
        description=f"Means, and the middle half of participants: {described}.",
        note="A pale dot is one participant's mean, a dark one the mean over "
        "participants with its 95 % interval. The same people are in every condition, "
        "so overlapping intervals do not mean that two conditions are alike; the table "
        "of pairs shows which differ.",
    )


def _middle(values: tuple[float, ...]) -> str:
    low, high = pd.Series(values).quantile([0.25, 0.75])
    return f"{low:.0f} to {high:.0f}"


def _expected(compared: Compared, study: PublishedConditions | None) -> Iterator[Table]:
    """What was expected before anyone answered, and what came of it."""
    known = set(compared.scores["condition"])
    hypotheses = [
        hypothesis
        for hypothesis in compared.named.hypotheses
        if known.issuperset((*hypothesis.lower, *hypothesis.higher))
    ]
    if not hypotheses:
        return
    outcomes = study.hypotheses if study is not None else ()
    yield table(
        "Hypotheses",
        [
            (expected.name, contrast(compared.scores, expected.lower, expected.higher), outcome)
            for expected, outcome in zip(hypotheses, chain(outcomes, repeat("-")), strict=False)
        ],
        text("Expected", lambda row: row[0]),
        number("Difference", lambda row: _difference(row[1]["difference"])),
        number("95 % interval", lambda row: _interval(row[1]["low"], row[1]["high"])),
        number(
            "Paired t", lambda row: f"t({row[1]['df']:g}) = {decimals(row[1]['t'], unknown='-')}"
        ),
        number("p", lambda row: _p_value(row[1]["p_value"])),
        text("Here", lambda row: _outcome(row[1])),
        text("Published", lambda row: row[2], is_shown=study is not None),
        note="Difference: the mean of what is expected to be lower, less that of "
        "the other. p is not adjusted.",
    )


def _outcome(tested: "pd.Series[float]") -> str:
    if tested["pairs"] > 1 and math.isnan(tested["p_value"]):
        return _ALIKE
    if not tested["p_value"] < _SURE:
        return "not supported"
    return "supported" if tested["difference"] < 0 else "the opposite"


def _means(by_condition: pd.DataFrame, caption: str, study: PublishedConditions | None) -> Table:
    parts = {part.name: part for part in study.parts} if study is not None else {}
    has_published = any(name in parts for name in by_condition.index)
    ordered = by_condition.sort_values("mean")
    return table(
        caption,
        ordered.assign(condition=ordered.index.astype("str")).to_dict("records"),
        text("Condition", lambda row: spoken(row["condition"])),
        number("People", lambda row: int(row["subjects"]), spoken="Participants"),
        number("Mean", lambda row: f"{row['mean']:.2f}"),
        number(
            "SD", lambda row: _figures(row["sd"]), spoken="Standard deviation over participants"
        ),
        number("95 % interval", lambda row: _interval(row["low"], row["high"])),
        number(
            "Published mean",
            lambda row: parts[row["condition"]].mean if row["condition"] in parts else "-",
            is_shown=has_published,
        ),
        number(
            "SD",
            lambda row: parts[row["condition"]].sd if row["condition"] in parts else "-",
            is_shown=has_published,
        ),
        note="A participant counts once per condition, with the mean of their ratings there.",
    )


def _variance(analysis: RepeatedMeasures, study: PublishedConditions | None) -> Table:
    shape = analysis.sphericity
    corrected = f"{_figures(analysis.df_corrected)} and {_figures(analysis.df_error_corrected, 1)}"
    eta = _figures(analysis.eta_squared_generalised, 3)
    return table(
        "Analysis of variance, repeated measures",
        (
            ("F", _figures(analysis.f, 3), study and study.f),
            ("Degrees of freedom", f"{analysis.df} and {analysis.df_error}", None),
            ("p, if sphericity holds", _p_value(analysis.p_value), None),
            ("Mauchly's W", f"{decimals(shape.w, 3, unknown='-')} ({_p(shape.p_value)})", None),
            ("Greenhouse-Geisser epsilon", _figures(shape.epsilon, 3), None),
            (
                "Corrected degrees of freedom",
                corrected,
                study and f"{study.df} and {study.df_error}",
            ),
            ("p, corrected", _p_value(analysis.p_corrected), study and study.p),
            ("Generalised eta squared", eta, study and study.eta_squared),
            ("Partial eta squared", _figures(analysis.eta_squared_partial, 3), None),
        ),
        text("Figure"),
        number("Value"),
        number("Published", lambda row: str(row[2] or "-"), is_shown=study is not None),
        note=study.note if study else "",
    )


def _pairs(
    pairs: pd.DataFrame, caption: str, study: PublishedConditions | None, *, note: str = ""
) -> Table:
    outcomes = {
        (pair.first, pair.second): pair.outcome
        for pair in (study.pairs if study is not None else ())
    }
    return table(
        caption,
        pairs.to_dict("records"),
        text("Conditions", lambda row: f"{spoken(row['first'])} - {spoken(row['second'])}"),
        number("Difference", lambda row: _difference(row["difference"])),
        number("95 % interval", lambda row: _interval(row["low"], row["high"])),
        number("Paired t", lambda row: f"t({row['df']:g}) = {decimals(row['t'], unknown='-')}"),
        number("p", lambda row: _p_value(row["p_value"])),
        number(
            "p adjusted",
            lambda row: _p_value(row["p_adjusted"]),
            spoken="p after Bonferroni's adjustment",
        ),
        number("d", lambda row: _figures(row["d"]), spoken="Cohen's d of pairs"),
        text(
            "Published",
            lambda row: outcomes.get((row["first"], row["second"]), "-"),
            is_shown=study is not None,
        ),
        note=note
        or "Paired t-tests; p is adjusted for the number of rows (Bonferroni). There is "
        "no test if the difference is the same for everyone.",
    )


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
    return decimals(value, digits, unknown="-")


def _difference(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:+.2f}"


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
