"""What the descriptions gain if one kind of error is corrected."""

import pandas as pd

from piecework.domain.counts import count, plural
from piecework.report.components import Section, Table, number, text
from piecework.report.model import ReportModel

_METRICS = (("BLEU-1", "bleu_1"), ("BLEU-4", "bleu_4"), ("METEOR", "meteor"))


def build(model: ReportModel) -> Section | None:
    """Show the edits by kind of error, and scores before and after."""
    gains = model.facts.corrections
    if gains.empty:
        return None
    edited, changed = int(gains["items"].sum()), int(gains["changed"].sum())
    lead = (
        f"{count(changed)} of {plural(edited, 'edited description')} were changed, in "
        f"{plural(len(gains), 'kind')} of error."
    )
    return Section(
        key="corrected",
        title="What corrections gain",
        lead=(lead,),
        tables=(_table(gains),),
    )


def _table(gains: pd.DataFrame) -> Table:
    has_scores = bool(gains["bleu_1"].notna().any())
    scored = _METRICS if has_scores else ()
    descriptions = int(gains["descriptions"].max())
    return Table(
        caption="Corrections by kind of error",
        columns=(
            text("Kind of error"),
            number("Descriptions"),
            number("Changed"),
            *(number(label) for label, _ in scored),
        ),
        rows=tuple(
            (
                str(row["kind"]).replace("_", " "),
                count(int(row["items"])),
                count(int(row["changed"])),
                *(_gain(row[f"{name}_before"], row[name]) for _, name in scored),
            )
            for _, row in gains.iterrows()
        ),
        note=(
            f"The best edit of each description counts. Scores are percentages over "
            f"all {plural(descriptions, 'description')} with references, before and "
            "after correcting only the errors of this kind; METEOR matches words and "
            "stems."
            if has_scores
            else "The best edit of each description counts. The items have no "
            "reference_1, reference_2, ..., so there are no scores."
        ),
    )


def _gain(before: float, after: float) -> str:
    return f"{100 * before:.1f} → {100 * after:.1f}"
