"""What the descriptions gain if one kind of error is corrected, or all of them."""

import pandas as pd

from piecework.domain.counts import count, plural
from piecework.hit_templates.published import PublishedGains, published_gains
from piecework.report.components import Figure, Section, Table, number, text
from piecework.report.correction_gains import ALL
from piecework.report.model import ReportModel
from piecework.report.plots import RED, TEAL, Bar, signed_bars
from piecework.report.svg import svg

_METRICS = (("BLEU-1", "bleu_1"), ("BLEU-4", "bleu_4"), ("METEOR", "meteor"))


def build(model: ReportModel) -> Section | None:
    """Show the edits by kind of error, and scores before and after."""
    gains = model.facts.corrections
    if gains.empty:
        return None
    kinds = gains[gains["kind"] != ALL]
    edited, changed = int(kinds["items"].sum()), int(kinds["changed"].sum())
    lead = (
        f"{count(changed)} of {plural(edited, 'edited description')} were changed, in "
        f"{plural(len(kinds), 'kind')} of error."
    )
    has_scores = bool(gains["bleu_4"].notna().any())
    study = published_gains(model.facts.task)
    ordered = _sorted(gains)
    return Section(
        key="corrected",
        title="What corrections gain",
        lead=(lead, *_published_lead(study, is_shown=has_scores)),
        figures=(_figure(ordered),) if has_scores else (),
        tables=(_table(ordered, study, has_scores=has_scores),),
    )


def _sorted(gains: pd.DataFrame) -> pd.DataFrame:
    """All kinds together first, then the largest gain in BLEU-4."""
    gain = gains["bleu_4"] - gains["bleu_4_before"]
    order = gain.fillna(0).where(gains["kind"] != ALL, float("inf"))
    return gains.loc[order.sort_values(ascending=False, kind="stable").index]


def _published_lead(study: PublishedGains | None, *, is_shown: bool) -> tuple[str, ...]:
    if study is None or not is_shown:
        return ()
    sentence = (
        f"Published: BLEU-4 of {study.bleu_4} before corrections, on "
        f"{plural(study.descriptions, 'description')} ({study.source}). Its pictures, "
        "descriptions and references are others, so compare the order and the signs."
    )
    return (sentence,)


def _figure(gains: pd.DataFrame) -> Figure:
    points = 100 * (gains["bleu_4"] - gains["bleu_4_before"])
    rows = [
        Bar(_named(kind), value, f"{value:+.1f}", RED if value < 0 else TEAL)
        for kind, value in zip(gains["kind"], points, strict=True)
    ]
    title = "Gain in BLEU-4 by kind of error"
    described = ", ".join(f"{row.label} {row.words}" for row in rows)
    return Figure(
        title=title,
        svg=svg(
            signed_bars(rows),
            key="corrected-plot",
            title=title,
            description=f"In points of 100: {described}.",
        ),
        note="Points of 100 that BLEU-4 of all descriptions gains or loses if only the "
        "errors of this kind are corrected; on top, all kinds together.",
    )


def _table(gains: pd.DataFrame, study: PublishedGains | None, *, has_scores: bool) -> Table:
    scored = _METRICS if has_scores else ()
    descriptions = int(gains["descriptions"].max())
    conflicts = int(gains["conflicts"].sum())
    published = study.bleu_4_gains if study is not None and has_scores else {}
    return Table(
        caption="Corrections by kind of error",
        columns=(
            text("Kind of error"),
            number("Descriptions"),
            number("Changed"),
            *(number(label) for label, _ in scored),
            *([number("Published", spoken="Published BLEU-4")] if published else ()),
        ),
        rows=tuple(
            (
                _named(row["kind"]),
                count(int(row["items"])),
                count(int(row["changed"])),
                *(_gain(row[f"{name}_before"], row[name]) for _, name in scored),
                *([published.get(str(row["kind"]), "-")] if published else ()),
            )
            for _, row in gains.iterrows()
        ),
        note=_note(descriptions, conflicts, study)
        if has_scores
        else "The best edit of each description counts. The items have no "
        "reference_1, reference_2, ..., so there are no scores.",
    )


def _note(descriptions: int, conflicts: int, study: PublishedGains | None) -> str:
    words = (
        "The best edit of each description counts. Scores are percentages over "
        f"all {plural(descriptions, 'description')} with references: the gain of "
        "correcting only the errors of this kind, and the score before and after."
    )
    if conflicts:
        words += (
            f" {plural(conflicts, 'edit')} of the same words for two kinds of error "
            "differ; all kinds together has the first of each."
        )
    meteor = study.meteor if study is not None else ""
    return f"{words} {meteor or 'METEOR matches words and stems.'}"


def _named(kind: object) -> str:
    return str(kind).replace("_", " ")


def _gain(before: float, after: float) -> str:
    return f"{100 * (after - before):+.1f} ({100 * before:.1f} \u2192 {100 * after:.1f})"
