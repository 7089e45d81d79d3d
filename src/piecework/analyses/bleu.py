"""BLEU of whole collections, and the gain from correcting one kind of error.

K. Papineni et al., "BLEU: a method for automatic evaluation of machine translation",
ACL 2002, doi:10.3115/1073083.1073135; n-grams are counted by sacrebleu (M. Post, WMT
2018, doi:10.18653/v1/W18-6319).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from sacrebleu.metrics.bleu import BLEU

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
