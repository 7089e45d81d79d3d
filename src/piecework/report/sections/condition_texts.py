"""The rated texts of conditions, and what they gain if their errors are corrected.

What metrics see in the texts, what was replaced, and how severe it is; and the gains if one
kind of error is corrected, or all of them.

The gains follow section 4 of *Guidelines for image description error analysis* (2017): all
errors of one kind are corrected, everything else stays, and BLEU and METEOR are
computed over all descriptions before and after. The best edit of each item counts
(`piecework.postprocess.edits`). Items about one picture with the same text are one
description with errors of several kinds.
"""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from piecework.analyses.condition_scores import Compared, held_out_correlation, severity_weights
from piecework.analyses.corpus.caption_metrics import MeteorStats, Pair, best_meteor_stats
from piecework.analyses.corpus.captions import tokens
from piecework.analyses.minimal_pairs import (
    corpus_bleu,
    correction_gains,
    merged_edits,
    replacements,
    similarity,
)
from piecework.domain.hit import Item
from piecework.domain.task import Task
from piecework.domain.text import count, plural
from piecework.hit_templates.task_schema import PublishedGains, published_gains
from piecework.postprocess.aggregates import item_aggregates
from piecework.report.comparison_plots import Measure, measures
from piecework.report.components import Column, Figure, Quote, Section, Table, number, table, text
from piecework.report.formatting import CORRECTIONS, decimals, excerpt, spoken
from piecework.report.model import ReportModel
from piecework.report.plots import RED, TEAL, Bar, figure, signed_bars

REFERENCE = "reference_"
"""Columns of items with this prefix contain people's descriptions of the picture."""

CORRECTION_COLUMNS = tuple(CORRECTIONS)

ALL_KINDS = "all kinds"
"""The row in which every description has the corrections of all its kinds."""

_MOST_TOKENS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edited:
    description: str
    kind: str
    before: str
    after: str
    references: tuple[str, ...]


def corrections(table: pd.DataFrame, items: Sequence[Item], task: Task) -> pd.DataFrame:
    """One row per kind of error, in the order of the items; no rows for other tasks.

    With several kinds, a last row (`ALL_KINDS`) has all corrections of each description
    together. Columns `kind`, `items` (with an edit; in the last row, descriptions),
    `changed` (of these), `descriptions` (with references, of all kinds), BLEU-1, BLEU-4
    and METEOR (exact and stem) of all these before and after, in [0, 1]; missing
    without references; and `conflicts`: edits of the same words for two kinds of error;
    the last row has only the first of them.
    """
    edited = list(_edited(table, items, task)) if len(table) else []
    kinds = list(dict.fromkeys(correction.kind for correction in edited))
    scored = [correction for correction in edited if correction.references]
    before = {correction.description: _words(correction.before) for correction in scored}
    after = {
        kind: before
        | {
            correction.description: _words(correction.after)
            for correction in scored
            if correction.kind == kind
        }
        for kind in kinds
    }
    together = _together(edited)
    if len(kinds) > 1:
        after[ALL_KINDS] = before | {
            description: text
            for description, (text, _) in together.items()
            if description in before
        }
    references = {correction.description: correction.references for correction in scored}
    scores = _scores(before, after, references) if scored else {}
    missing = (float("nan"),) * 6
    rows = []
    for kind in kinds:
        of_kind = [correction for correction in edited if correction.kind == kind]
        changed = sum(correction.before != correction.after for correction in of_kind)
        rows.append((kind, len(of_kind), changed, len(before), *scores.get(kind, missing), 0))
    if len(kinds) > 1:
        originals = {correction.description: _words(correction.before) for correction in edited}
        changed = sum(text != originals[description] for description, (text, _) in together.items())
        conflicts = sum(conflicts for _, conflicts in together.values())
        rows.append(
            (ALL_KINDS, len(together), changed, len(before), *scores.get(ALL_KINDS, missing),
             conflicts)
        )  # fmt: skip
    return pd.DataFrame(rows, columns=list(CORRECTION_COLUMNS))


def _together(edited: Sequence[_Edited]) -> dict[str, tuple[str, int]]:
    """By description, its words with the edits of all kinds, and contradictions."""
    by_description: dict[str, list[_Edited]] = {}
    for correction in edited:
        by_description.setdefault(correction.description, []).append(correction)
    together = {}
    for description, corrections_ in by_description.items():
        words = merged_edits(
            _words(corrections_[0].before).split(),
            [_words(correction.after).split() for correction in corrections_],
        )
        together[description] = " ".join(words.words), words.conflicts
    return together


def _edited(table: pd.DataFrame, items: Sequence[Item], task: Task) -> Iterator[_Edited]:
    best_edits = [aggregate for aggregate in task.aggregates if aggregate.kind == "best_edit"]
    for aggregate in best_edits[:1] if task.one_value_per_hit else []:
        columns = {str(item.item_id): item.columns for item in items}
        best = item_aggregates(table, list(columns), task.fields, (aggregate,), columns=columns)[
            aggregate.field
        ]
        for item_id, cells in columns.items():
            text = str(best[item_id])
            before = " ".join(cells.get(aggregate.column, "").split())
            if text:
                yield _Edited(
                    description=f"{cells.get('url', '')} {before}",
                    kind=cells.get(task.one_value_per_hit, ""),
                    before=before,
                    after=text,
                    references=tuple(
                        value
                        for name, value in sorted(cells.items())
                        if name.startswith(REFERENCE) and value.strip()
                    ),
                )


def _words(text: str) -> str:
    return " ".join(tokens(text)[:_MOST_TOKENS])


def _scores(
    before: dict[str, str], after: dict[str, dict[str, str]], references: dict[str, tuple[str, ...]]
) -> dict[str, tuple[float, ...]]:
    known = pd.DataFrame(
        {name: pd.Series(map(_words, texts)) for name, texts in references.items()}
    ).T
    original = pd.Series(before)
    gains = correction_gains(
        original, {kind: pd.Series(texts) for kind, texts in after.items()}, known
    )
    bleu = corpus_bleu(original, known).scores
    meteors = _Meteors(references)
    own = meteors.score(before)
    return {
        kind: (
            bleu[0],
            float(gains["bleu_1"][kind]),
            bleu[3],
            float(gains["bleu_4"][kind]),
            own,
            meteors.score(texts),
        )
        for kind, texts in after.items()
    }


class _Meteors:
    """METEOR of many versions of the descriptions, most of them equal."""

    def __init__(self, references: dict[str, tuple[str, ...]]) -> None:
        self._references = {
            name: [_words(text).split() for text in texts] for name, texts in references.items()
        }
        self._known: dict[tuple[str, str], MeteorStats] = {}

    def score(self, texts: dict[str, str]) -> float:
        """METEOR of these descriptions, from 0 to 1."""
        return sum(map(self._stats, texts.items()), MeteorStats()).score

    def _stats(self, described: tuple[str, str]) -> MeteorStats:
        if described not in self._known:
            name, text = described
            pair = Pair(text.split(), self._references[name])
            self._known[described] = best_meteor_stats(pair)
        return self._known[described]


_LONGEST_CHANGE = 40
_LONGEST_TEXT = 300


def text_figures(compared: Compared, means: pd.DataFrame) -> tuple[Figure, ...]:
    """Similarity to the correct text beside the ratings, by condition."""
    if compared.texts.empty:
        return ()
    seen = similarity(compared.texts).reindex(means.index)
    seen = seen.dropna().assign(**means[["mean", "low", "high"]]).sort_values("mean")
    low, width = compared.field.minimum, compared.field.maximum - compared.field.minimum
    shares = (seen[["mean", "low", "high"]] - low) / width
    names = [spoken(str(name)) for name in seen.index]
    rows = (
        Measure(f"same {_unit(compared)}", tuple(seen["same"])),
        Measure("BLEU-4", tuple(seen["bleu_4"])),
        Measure(
            f"people's {spoken(compared.field.name)}",
            *(tuple(shares[name]) for name in ("mean", "low", "high")),
        ),
    )
    described = "; ".join(
        f"{row.label}: "
        + ", ".join(
            f"{name} {100 * value:.1f} %" for name, value in zip(names, row.values, strict=True)
        )
        for row in rows
    )
    return (
        figure(
            measures(rows, names, y_label="% of the scale"),
            key="condition-texts-plot",
            title="What metrics see, and what people see",
            description=f"{described}.",
            note=_claim(seen, shares),
        ),
    )


def _claim(seen: pd.DataFrame, shares: pd.DataFrame) -> str:
    distance = _range(int(seen["edits_least"].min()), int(seen["edits_most"].max()))
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
    unit = _unit(compared)
    return table(
        "Similarity to the correct text",
        _by_condition(similarity(compared.texts)),
        text("Condition", lambda row: spoken(row["condition"])),
        number("Texts", lambda row: int(row["items"])),
        number(
            "Edits",
            lambda row: _range(int(row["edits_least"]), int(row["edits_most"])),
            spoken=f"Edit distance in {unit}",
        ),
        number("BLEU-1", lambda row: f"{100 * row['bleu_1']:.1f}"),
        number("BLEU-4", lambda row: f"{100 * row['bleu_4']:.1f}"),
        note=f"Edits: {unit} to replace. BLEU of all texts of a condition, with the "
        "correct text as the only reference.",
    )


def _by_condition(frame: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """Return the rows of a frame, each with the condition of its index."""
    return frame.assign(condition=frame.index.astype("str")).to_dict("records")


def _weights(compared: Compared) -> Table:
    correlation, explained = held_out_correlation(compared.texts)
    predicts = (
        ""
        if math.isnan(correlation)
        else " A count of errors without weights is the same for every text. With "
        "weights from the other references only, it correlates with the ratings of "
        f"texts within a reference by r = {correlation:.2f} and explains "
        f"{100 * max(explained, 0):.0f} % of their variance."
    )
    return table(
        "Weights by severity",
        _by_condition(severity_weights(compared.scores, best=compared.field.maximum)),
        text("Condition", lambda row: spoken(row["condition"])),
        number("Weight", lambda row: f"{row['weight']:.2f}"),
        number("95 % interval", lambda row: f"{row['low']:.2f} to {row['high']:.2f}"),
        note="What an error costs against the best rating, divided by the mean over "
        f"conditions; a metric could count errors with these weights.{predicts} Such a "
        "metric predicts how people rate, with their biases; it does not say what "
        "quality is.",
    )


def _replacements(compared: Compared) -> Table:
    means = compared.texts["mean"]
    return table(
        f"Replaced {_unit(compared)}",
        replacements(compared.texts).to_dict("records"),
        text("Condition", lambda row: spoken(str(row["condition"]))),
        text("Correct", lambda row: Quote(excerpt(row["removed"] or "-", limit=_LONGEST_CHANGE))),
        text(
            "In the text", lambda row: Quote(excerpt(row["inserted"] or "-", limit=_LONGEST_CHANGE))
        ),
        number("Texts", lambda row: len(row["items"])),
        number("Mean", lambda row: decimals(float(means[[*row["items"]]].mean()), 1, unknown="-")),
        is_folded=True,
    )


def _descriptions(compared: Compared) -> Table:
    shown = ("text", "gloss", "translation")
    rows: list[dict[Hashable, Any]] = []
    for reference, group in compared.texts.groupby("reference", sort=False):
        first = group.iloc[0]
        correct = {"text": reference} | {name: first[f"reference_{name}"] for name in shown[1:]}
        rows += [{"condition": "correct", **correct}, *group.to_dict("records")]

    def quoted(label: str, name: str) -> Column[Mapping[Hashable, Any]]:
        return text(label, lambda row: Quote(excerpt(str(row[name]), limit=_LONGEST_TEXT)))

    has_gloss = bool((compared.texts["gloss"] != "").any())
    return table(
        "All texts and their ratings",
        rows,
        text("Condition", lambda row: spoken(str(row["condition"]))),
        quoted("Text", "text"),
        *(
            (quoted("Word for word", "gloss"), quoted("Translation", "translation"))
            if has_gloss
            else ()
        ),
        number("Mean", lambda row: decimals(float(row.get("mean", math.nan)), 1, unknown="-")),
        is_folded=True,
    )


def _by_kind(gains: pd.DataFrame, study: PublishedGains | None, *, has_scores: bool) -> Table:
    published = study.bleu_4_gains if study is not None and has_scores else {}

    def gain(label: str, name: str) -> Column[Mapping[Hashable, Any]]:
        return number(label, lambda row: _gain(row[f"{name}_before"], row[name]))

    return table(
        "Corrections by kind of error",
        gains.to_dict("records"),
        text("Kind of error", lambda row: _correction_named(row["kind"])),
        number("Descriptions", "items"),
        number("Changed", "changed"),
        *(gain(label, name) for label, name in (_METRICS if has_scores else ())),
        number(
            "Published",
            lambda row: published.get(str(row["kind"]), "-"),
            spoken="Published BLEU-4",
            is_shown=bool(published),
        ),
        note=_note(int(gains["descriptions"].max()), int(gains["conflicts"].sum()), study)
        if has_scores
        else "The best edit of each description counts. The items have no "
        "reference_1, reference_2, ..., so there are no scores.",
    )


def _unit(compared: Compared) -> str:
    texts = compared.texts["text"]
    is_spaced = texts.map(lambda words: " " in words).any()
    return "words" if is_spaced else "characters"


_METRICS = (("BLEU-1", "bleu_1"), ("BLEU-4", "bleu_4"), ("METEOR", "meteor"))


def corrections_section(model: ReportModel) -> Section | None:
    """Show the edits by kind of error, and scores before and after."""
    gains = model.facts.corrections
    if gains.empty:
        return None
    kinds = gains[gains["kind"] != ALL_KINDS]
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
        tables=(_by_kind(ordered, study, has_scores=has_scores),),
    )


def _sorted(gains: pd.DataFrame) -> pd.DataFrame:
    """All kinds together first, then the largest gain in BLEU-4."""
    gain = gains["bleu_4"] - gains["bleu_4_before"]
    order = gain.fillna(0).where(gains["kind"] != ALL_KINDS, float("inf"))
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
    described = ", ".join(f"{row.label} {row.words}" for row in rows)
    return figure(
        signed_bars(rows),
        key="corrected-plot",
        title="Gain in BLEU-4 by kind of error",
        description=f"In points of 100: {described}.",
        note="Points of 100 that BLEU-4 of all descriptions gains or loses if only the "
        "errors of this kind are corrected; on top, all kinds together.",
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


def _range(least: int, most: int) -> str:
    return str(least) if least == most else f"{least} to {most}"
