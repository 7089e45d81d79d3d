"""Texts that differ from a correct one in a known error: what a metric sees of them.

The point of *Gradations of Error Severity in Automatic Image Descriptions* (INLG 2020,
section 6.4): if every wrong text is one character away from the correct one, edit
distance and BLEU give all kinds of error the same score, but people do not.

A *texts* frame has one row per item, index `item_id`, and the columns `condition`,
`reference` (the correct text) and `text`.
"""

import pandas as pd

from piecework.analyses.bleu import corpus_bleu
from piecework.analyses.corpus.tokens import tokens
from piecework.domain.differences import changes, size


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
        edits = [size(changes(before, after)) for before, after in pairs]
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
