"""The most frequent edit of a text; among equally frequent ones the smallest.

The aim of a correction is to change as little as possible, so size decides a tie. An
edit that leaves the text unchanged counts like any other. Differences in white space
are ignored.
"""

from collections import Counter
from collections.abc import Mapping

import pandas as pd

from piecework.domain import column_names as names
from piecework.domain.differences import changes, size


def best_edits(
    name: str, votes: pd.DataFrame, items: "pd.Index[str]", before: Mapping[str, str]
) -> pd.DataFrame:
    """Return a row for each of `items`, in order; index `item_id`.

    Args:
        name: the field's name.
        votes: the field's votes (`piecework.analyses.votes`), values str; empty ones do
            not count.
        items: the item ids.
        before: the text that was edited, by item.

    Returns:
        Columns `<name>` (str, "" without edits), `<name>_share` (float64, the share of
            those who edited, NaN without edits) and `<name>_votes` (int64).
    """
    texts = votes.loc[votes["value"].map(lambda text: isinstance(text, str))]
    texts = texts.assign(value=texts["value"].map(_spaced))
    texts = texts.loc[texts["value"] != ""]
    of_item = {str(item): Counter(rows) for item, rows in texts.groupby("item_id")["value"]}
    rows = [_best(of_item.get(item, Counter()), _spaced(before.get(item, ""))) for item in items]
    whole = pd.DataFrame(rows, columns=["text", "share", "votes"], index=items)
    types = {"text": "str", "share": "float64", "votes": "int64"}
    columns = {"text": name, "share": f"{name}{names.SHARE}", "votes": f"{name}{names.VOTES}"}
    return whole.astype(types).rename(columns=columns)


def _best(edits: Counter[str], before: str) -> tuple[str, float, int]:
    if not edits:
        return "", float("nan"), 0
    most = max(edits.values())
    leading = [text for text, count in edits.items() if count == most]
    words = before.split()
    best = min(leading, key=lambda text: (size(changes(words, text.split())), text))
    return best, most / edits.total(), most


def _spaced(text: str) -> str:
    return " ".join(text.split())
