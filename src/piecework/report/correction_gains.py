"""What correcting one kind of error gains, measured against people's descriptions.

Follows section 4 of *Guidelines for image description error analysis* (2017): all
errors of one kind are corrected, everything else stays, and BLEU and METEOR are
computed over all descriptions before and after. The best edit of each item counts
(`piecework.postprocess.edits`). Items about one picture with the same text are one
description with errors of several kinds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from piecework.analyses.corpus.caption_metrics import MeteorStats, Pair, best_meteor_stats
from piecework.analyses.corpus.captions import tokens
from piecework.analyses.minimal_pairs import corpus_bleu, correction_gains, merged_edits
from piecework.domain.hit import Item
from piecework.domain.task import Task
from piecework.postprocess.aggregates import item_aggregates
from piecework.report.formatting import CORRECTIONS

REFERENCE = "reference_"
"""Columns of items with this prefix contain people's descriptions of the picture."""

COLUMNS = tuple(CORRECTIONS)

ALL = "all kinds"
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

    With several kinds, a last row (`ALL`) has all corrections of each description
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
        after[ALL] = before | {
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
            (ALL, len(together), changed, len(before), *scores.get(ALL, missing),
             conflicts)
        )  # fmt: skip
    return pd.DataFrame(rows, columns=list(COLUMNS))


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
