"""Texts that differ from a correct one in a known error, and texts that were corrected.

The point of *Gradations of Error Severity in Automatic Image Descriptions* (INLG 2020,
section 6.4): if every wrong text is one character away from the correct one, edit distance
and BLEU give all kinds of error the same score, but people do not.

A *texts* frame has one row per item, index `item_id`, and the columns `condition`,
`reference` (the correct text) and `text`. BLEU is of whole collections (K. Papineni et al.,
ACL 2002, doi:10.3115/1073083.1073135); n-grams are counted by sacrebleu (M. Post, WMT 2018,
doi:10.18653/v1/W18-6319).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

import numpy as np
import pandas as pd
from sacrebleu.metrics.bleu import BLEU

from piecework.analyses.corpus.captions import tokens
from piecework.domain.edit import changes, size_of_changes


def parts_of(text: str) -> list[str]:
    """Return the words of a text, or its characters if it has no spaces.

    >>> parts_of("A red coat."), parts_of("紅色大衣")
    (['a', 'red', 'coat'], ['紅', '色', '大', '衣'])
    """
    return tokens(text) if " " in text.strip() else list(text.strip())


def similarity(texts: pd.DataFrame) -> pd.DataFrame:
    """Return what metrics say about the texts of each condition.

    Returns:
        One row per condition, index `condition`, sorted. Columns `items`, `edits_least`
        and `edits_most` (words or characters to replace; int64), `same` (share of those
        of the correct texts that stay), `bleu_1` and `bleu_4` (of all texts of the
        condition, one reference each), in [0, 1].
    """
    rows = {}
    for condition, group in texts.groupby("condition"):
        pairs = [
            (parts_of(before), parts_of(after))
            for before, after in zip(group["reference"], group["text"], strict=True)
        ]
        edits = [size_of_changes(changes(before, after)) for before, after in pairs]
        total = sum(max(len(before), len(after)) for before, after in pairs)
        bleu = corpus_bleu(
            pd.Series([" ".join(after) for _, after in pairs], index=group.index),
            pd.DataFrame(
                {"reference": [" ".join(before) for before, _ in pairs]}, index=group.index
            ),
        ).scores
        same = 1 - sum(edits) / total
        rows[condition] = (
            len(pairs), min(edits), max(edits), same, bleu[0], bleu[3],
        )  # fmt: skip
    return pd.DataFrame.from_dict(
        rows,
        orient="index",
        columns=["items", "edits_least", "edits_most", "same", "bleu_1", "bleu_4"],
    ).rename_axis("condition")


def replacements(texts: pd.DataFrame) -> pd.DataFrame:
    """Return which words or characters were replaced by which, the most frequent first.

    Returns:
        One row per condition and replacement. Columns `condition`, `removed`,
        `inserted` (str, joined by spaces), `items` (a tuple of item ids).
    """
    rows: dict[tuple[str, str, str], list[str]] = {}
    for item_id, row in texts.iterrows():
        for change in changes(parts_of(row["reference"]), parts_of(row["text"])):
            key = row["condition"], " ".join(change.removed), " ".join(change.inserted)
            rows.setdefault(key, []).append(str(item_id))
    ordered = sorted(rows.items(), key=lambda row: (row[0][0], -len(row[1]), row[0]))
    return pd.DataFrame(
        [(*key, tuple(items)) for key, items in ordered],
        columns=["condition", "removed", "inserted", "items"],
    )


Tokens = Literal["none", "13a"]

ORDERS = (1, 2, 3, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bleu:
    """BLEU-1 to BLEU-4 of a collection, and their components.

    Attributes:
        scores: BLEU-1 to BLEU-4, in [0, 1]; 0 if no n-gram matches, unsmoothed.
        matches: by order, the number of n-grams that a reference contains.
        totals: by order, the number of n-grams.
        length: tokens of the candidates.
        reference_length: tokens of the references closest in length (the shorter of two
            that are equally close).
    """

    scores: tuple[float, ...]
    matches: tuple[int, ...]
    totals: tuple[int, ...]
    length: int
    reference_length: int


def corpus_bleu(
    candidates: "pd.Series[str]",
    references: pd.DataFrame,
    *,
    tokens: Tokens = "none",
    lowercase: bool = False,
) -> Bleu:
    """Compute BLEU of all candidates against their references.

    Args:
        candidates: index `item_id`.
        references: index `item_id`, one column per reference; cells may be missing.
        tokens: "none" for texts with tokens separated by spaces, "13a" for plain text
            (the tokens of mteval-v13a).
        lowercase: whether to ignore case.

    Raises:
        ValueError: there are no candidates, or one has no reference.
    """
    if candidates.empty:
        raise ValueError("there are no candidates")
    known = references.reindex(candidates.index)
    alone = known.index[known.isna().all(axis=1)]
    if len(alone):
        raise ValueError(f"{len(alone)} candidates have no reference, first {alone[0]}")
    streams = [
        [text if isinstance(text, str) else None for text in known[column]] for column in known
    ]
    metric = BLEU(tokenize=tokens, lowercase=lowercase, smooth_method="none", force=True)
    # sacrebleu accepts None for items with fewer references than others.
    score = metric.corpus_score(candidates.tolist(), streams)  # type: ignore[arg-type]
    return Bleu(
        scores=tuple(_score(score.counts[:n], score.totals[:n], score.bp) for n in ORDERS),
        matches=tuple(score.counts),
        totals=tuple(score.totals),
        length=score.sys_len,
        reference_length=score.ref_len,
    )


def correction_gains(
    original: "pd.Series[str]", corrected: Mapping[str, "pd.Series[str]"], references: pd.DataFrame
) -> pd.DataFrame:
    """Compute the gain in BLEU from correcting all errors of one kind.

    Args:
        original: candidates, index `item_id`, tokens separated by spaces.
        corrected: by kind of error, all candidates with this kind corrected.
        references: as for `corpus_bleu`.

    Returns:
        One row per kind, index `kind`, the largest gain in BLEU-4 first. Columns
        `changed` (int64 candidates that differ from the original), `bleu_1` to `bleu_4`
        and `gain_1` to `gain_4` (float64, in [0, 1] and [-1, 1]).
    """
    before = np.array(corpus_bleu(original, references).scores)
    rows = {}
    for kind, candidates in corrected.items():
        after = np.array(corpus_bleu(candidates, references).scores)
        changed = int((candidates != original.reindex(candidates.index)).sum())
        rows[kind] = (changed, *after, *(after - before))
    table = pd.DataFrame(
        list(rows.values()),
        index=pd.Index(list(rows), dtype="str", name="kind"),
        columns=["changed"] + [f"{measure}_{n}" for measure in ("bleu", "gain") for n in ORDERS],
    )
    return table.sort_values("gain_4", ascending=False, kind="stable")


def _score(matches: list[int], totals: list[int], brevity: float) -> float:
    if not all(matches):
        return 0.0
    logs = [math.log(hit / made) for hit, made in zip(matches, totals, strict=True)]
    return brevity * math.exp(sum(logs) / len(logs))


@dataclass(frozen=True, slots=True)
class Merged:
    """The words with all edits, and how many edits contradict one made before."""

    words: tuple[str, ...]
    conflicts: int


def merged_edits(before: Sequence[str], versions: Sequence[Sequence[str]]) -> Merged:
    """Apply the edits of several corrected versions of one text to the words before them.

    Edits of the same words that differ contradict each other: that of the first version
    stays. The same edit in two versions is made once.

    >>> merged_edits(["red", "cat"], [["blue", "cat"], ["red", "dog"]])
    Merged(words=('blue', 'dog'), conflicts=0)
    >>> merged_edits(["red", "cat"], [["blue", "cat"], ["green", "cat"]])
    Merged(words=('blue', 'cat'), conflicts=1)
    """
    edits: list[tuple[int, int, tuple[str, ...]]] = []
    conflicts = 0
    for version in versions:
        for start, end, words in _edits(before, version):
            touched = [edit for edit in edits if _overlap(edit, start, end)]
            if not touched:
                edits.append((start, end, words))
            elif touched != [(start, end, words)]:
                conflicts += 1
    result = list(before)
    for start, end, words in sorted(edits, reverse=True):
        result[start:end] = words
    return Merged(tuple(result), conflicts)


def _edits(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int, tuple[str, ...]]]:
    matcher = SequenceMatcher(a=before, b=after, autojunk=False)
    return [
        (start, end, tuple(after[first:last]))
        for tag, start, end, first, last in matcher.get_opcodes()
        if tag != "equal"
    ]


def _overlap(edit: tuple[int, int, tuple[str, ...]], start: int, end: int) -> bool:
    own_start, own_end, _ = edit
    # Two insertions at one place contradict each other too.
    return (own_start < end and start < own_end) or own_start == start
