"""The rated texts of conditions, and what they gain if their errors are corrected.

What metrics see in the texts, what was replaced, and how severe it is; and the gains if one
kind of error is corrected, or all of them.
"""

import math
from collections.abc import Iterator

import pandas as pd

from piecework.analyses.condition_scores import Compared
from piecework.analyses.minimal_pairs import replacements, similarity
from piecework.analyses.severity import held_out_correlation, severity_weights
from piecework.domain.text import count, plural
from piecework.hit_templates.published import PublishedGains, published_gains
from piecework.report.comparison_plots import Measure, measures
from piecework.report.components import Cell, Figure, Quote, Section, Table, number, text
from piecework.report.correction_gains import ALL
from piecework.report.formatting import excerpt
from piecework.report.model import ReportModel
from piecework.report.plots import RED, TEAL, Bar, draw_svg, signed_bars

_LONGEST_NAME = 40
_LONGEST_TEXT = 300


def text_figures(compared: Compared, means: pd.DataFrame) -> tuple[Figure, ...]:
    """Similarity to the correct text beside the ratings, by condition."""
    if compared.texts.empty:
        return ()
    seen = similarity(compared.texts).reindex(means.index)
    seen = seen.dropna().assign(**means[["mean", "low", "high"]]).sort_values("mean")
    low, width = compared.field.minimum, compared.field.maximum - compared.field.minimum
    shares = (seen[["mean", "low", "high"]] - low) / width
    names = [_named(str(name)) for name in seen.index]
    rows = (
        Measure(_unchanged(compared), tuple(seen["same"])),
        Measure("BLEU-4", tuple(seen["bleu_4"])),
        Measure(
            f"people's {_named(compared.field.name)}",
            *(tuple(shares[name]) for name in ("mean", "low", "high")),
        ),
    )
    title = "What metrics see, and what people see"
    described = "; ".join(
        f"{row.label}: "
        + ", ".join(
            f"{name} {100 * value:.1f} %" for name, value in zip(names, row.values, strict=True)
        )
        for row in rows
    )
    return (
        Figure(
            title=title,
            svg=draw_svg(
                measures(rows, names, y_label="% of the scale"),
                key="condition-texts-plot",
                title=title,
                description=f"{described}.",
            ),
            note=_claim(seen, shares),
        ),
    )


def _claim(seen: pd.DataFrame, shares: pd.DataFrame) -> str:
    edits = int(seen["edits_least"].min()), int(seen["edits_most"].max())
    distance = str(edits[0]) if edits[0] == edits[1] else f"{edits[0]} to {edits[1]}"
    spans = [100 * (column.max() - column.min()) for column in (seen["bleu_4"], shares["mean"])]
    return (
        f"The edit distance to the correct text is {distance} in every condition. "
        f"Between the conditions, BLEU-4 differs by {spans[0]:.1f} points of 100, and "
        f"people's ratings by {spans[1]:.1f}. BLEU-4 is higher if the wrong word is "
        "near an end of the sentence, where fewer sequences contain it."
    )


def text_tables(compared: Compared) -> Iterator[Table]:
    """Yield the tables about the texts of conditions, if their texts are known."""
    if compared.texts.empty:
        return
    yield _similarity(compared)
    yield _weights(compared)
    yield _replacements(compared)
    yield _descriptions(compared)


def _similarity(compared: Compared) -> Table:
    table = similarity(compared.texts)
    unit = _unit(compared)
    return Table(
        caption="Similarity to the correct text",
        columns=(
            text("Condition"),
            number("Texts"),
            number("Edits", spoken=f"Edit distance in {unit}"),
            number("BLEU-1"),
            number("BLEU-4"),
        ),
        rows=tuple(
            (
                _named(str(name)),
                count(int(row["items"])),
                _range(int(row["edits_least"]), int(row["edits_most"])),
                f"{100 * row['bleu_1']:.1f}",
                f"{100 * row['bleu_4']:.1f}",
            )
            for name, row in table.iterrows()
        ),
        note=f"Edits: {unit} to replace. BLEU of all texts of a condition, with the "
        "correct text as the only reference.",
    )


def _weights(compared: Compared) -> Table:
    table = severity_weights(compared.scores, best=compared.field.maximum)
    correlation, explained = held_out_correlation(compared.texts)
    predicts = (
        ""
        if math.isnan(correlation)
        else " A count of errors without weights is the same for every text. With "
        "weights from the other references only, it correlates with the ratings of "
        f"texts within a reference by r = {correlation:.2f} and explains "
        f"{100 * max(explained, 0):.0f} % of their variance."
    )
    return Table(
        caption="Weights by severity",
        columns=(text("Condition"), number("Weight"), number("95 % interval")),
        rows=tuple(
            (_named(str(name)), f"{row['weight']:.2f}", f"{row['low']:.2f} to {row['high']:.2f}")
            for name, row in table.iterrows()
        ),
        note="What an error costs against the best rating, divided by the mean over "
        f"conditions; a metric could count errors with these weights.{predicts} Such a "
        "metric predicts how people rate, with their biases; it does not say what "
        "quality is.",
    )


def _replacements(compared: Compared) -> Table:
    table = replacements(compared.texts)
    means = compared.texts["mean"]
    return Table(
        caption=f"Replaced {_unit(compared)}",
        columns=(
            text("Condition"),
            text("Correct"),
            text("In the text"),
            number("Texts"),
            number("Mean"),
        ),
        rows=tuple(
            (
                _named(str(row["condition"])),
                Quote(excerpt(row["removed"] or "-", limit=_LONGEST_NAME)),
                Quote(excerpt(row["inserted"] or "-", limit=_LONGEST_NAME)),
                count(len(row["items"])),
                _mean(float(means[[*row["items"]]].mean())),
            )
            for _, row in table.iterrows()
        ),
        is_folded=True,
    )


def _descriptions(compared: Compared) -> Table:
    texts = compared.texts
    has_gloss = bool((texts["gloss"] != "").any())
    rows: list[tuple[Cell, ...]] = []
    for reference, group in texts.groupby("reference", sort=False):
        first = group.iloc[0]
        rows.append(
            (
                "correct",
                _quoted(reference),
                *(
                    _quoted(first[f"reference_{name}"])
                    for name in ("gloss", "translation")
                    if has_gloss
                ),
                "-",
            )
        )
        rows += [
            (
                _named(str(row["condition"])),
                _quoted(row["text"]),
                *(_quoted(row[name]) for name in ("gloss", "translation") if has_gloss),
                _mean(float(row["mean"])),
            )
            for _, row in group.iterrows()
        ]
    return Table(
        caption="All texts and their ratings",
        columns=(
            text("Condition"),
            text("Text"),
            *((text("Word for word"), text("Translation")) if has_gloss else ()),
            number("Mean"),
        ),
        rows=tuple(rows),
        is_folded=True,
    )


def _quoted(words: object) -> Quote:
    return Quote(excerpt(str(words), limit=_LONGEST_TEXT))


def _unit(compared: Compared) -> str:
    texts = compared.texts["text"]
    is_spaced = texts.map(lambda words: " " in words).any()
    return "words" if is_spaced else "characters"


def _unchanged(compared: Compared) -> str:
    return f"same {_unit(compared)}"


def _range(least: int, most: int) -> str:
    return str(least) if least == most else f"{least} to {most}"


def _mean(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.1f}"


def _named(name: str) -> str:
    return excerpt(name.replace("_", " "), limit=_LONGEST_NAME)


_METRICS = (("BLEU-1", "bleu_1"), ("BLEU-4", "bleu_4"), ("METEOR", "meteor"))


def corrections_section(model: ReportModel) -> Section | None:
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
        Bar(_correction_named(kind), value, f"{value:+.1f}", RED if value < 0 else TEAL)
        for kind, value in zip(gains["kind"], points, strict=True)
    ]
    title = "Gain in BLEU-4 by kind of error"
    described = ", ".join(f"{row.label} {row.words}" for row in rows)
    return Figure(
        title=title,
        svg=draw_svg(
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
                _correction_named(row["kind"]),
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


def _correction_named(kind: object) -> str:
    return str(kind).replace("_", " ")


def _gain(before: float, after: float) -> str:
    return f"{100 * (after - before):+.1f} ({100 * before:.1f} \u2192 {100 * after:.1f})"
