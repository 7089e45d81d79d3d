"""The rated texts of conditions: what metrics see, what was replaced, how severe it is.

It follows *Gradations of Error Severity in Automatic Image Descriptions* (INLG 2020):
section 6.4 (metrics of similarity cannot tell kinds of error apart), section 6.6
(weights), table 5 (replacements) and tables 6 to 12 (all descriptions).
"""

import math
from collections.abc import Iterator

import pandas as pd

from piecework.analyses.condition_scores import Compared
from piecework.analyses.minimal_pairs import replacements, similarity
from piecework.analyses.severity import held_out_correlation, severity_weights
from piecework.domain.counts import count
from piecework.report.components import Cell, Figure, Quote, Table, number, text
from piecework.report.formatting import excerpt
from piecework.report.measures_plot import Measure, measures
from piecework.report.svg import svg

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
            svg=svg(
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
