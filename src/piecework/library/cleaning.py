"""Cleans texts by edits that can be undone."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import pandas as pd

from piecework.domain.edit import Edit
from piecework.domain.errors import ConfigError
from piecework.library.frames import require_columns, require_unique_index
from piecework.postprocess import apply
from piecework.postprocess.apply import Cleaned, Text

_EDITS = {
    "row": "object",
    "start": "int64",
    "end": "int64",
    "before": "str",
    "after": "str",
    "rule": "str",
    "reason": "str",
    "probability": "float64",
    "is_made": "bool",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanedTexts:
    """Cleaned texts, and the edits.

    Attributes:
        texts: the caller's DataFrame with the column `clean_text` (str; missing if the
            text is missing).
        edits: one row per edit, in the order of the texts: `row` (label in the index
            of `texts`), `start` and `end` (in characters of the original text),
            `before`, `after`, `rule`, `reason`, `probability` (that the edit is right),
            `is_made` (bool; False: only proposed, since the probability is too low).
    """

    texts: pd.DataFrame
    edits: pd.DataFrame


def clean_text(text: str, *, protected: Iterable[str] = ()) -> Cleaned:
    """Clean one text alone.

    Args:
        text: an English text.
        protected: words to leave unchanged, in upper or lower case.

    Raises:
        ConfigError: `text` is not a str.
    """
    if not isinstance(text, str):
        kind = type(text).__name__  # type: ignore[unreachable] # callers may not check
        raise ConfigError([f"text: is a {kind}, but must be a str"])
    return apply.clean_text(text, protected=_casefolded(protected))


def clean_texts(
    texts: pd.DataFrame, *, column: str = "text", protected: Iterable[str] = ()
) -> CleanedTexts:
    """Clean all texts of a DataFrame together, so that they inform each other.

    Args:
        texts: one row per text; with a column `task`, a word in one text of a task
            counts as known in the others.
        column: the column with the texts.
        protected: words to leave unchanged, in upper or lower case.

    Raises:
        ConfigError: the column is missing, a cell is not a str, or the index repeats.
    """
    require_columns(texts, [column], name="texts")
    require_unique_index(texts, name="texts")
    cells = texts[column]
    is_missing = cells.isna()
    for label, cell in cells[~is_missing].items():
        if not isinstance(cell, str):
            raise ConfigError([f"texts: row {label!r}, column {column!r}: {cell!r} is not a str"])
    words = _casefolded(protected)
    tasks = texts["task"].astype("str") if "task" in texts else texts.index.astype(str)
    cleaning = apply.clean_and_propose(
        [
            Text(text_id=str(number), item_id=task, text=cell, protected=words)
            for number, (task, cell) in enumerate(
                zip(tasks, cells.where(~is_missing, ""), strict=True)
            )
        ]
    )
    apply.forget_texts()
    clean = pd.Series(
        [
            apply.replay(cell, cleaning.edits[str(number)])
            for number, cell in enumerate(cells.where(~is_missing, ""))
        ],
        index=texts.index,
        dtype="str",
    )
    rows = [
        row
        for number, label in enumerate(texts.index)
        for row in (
            *_rows(label, cleaning.edits[str(number)], is_made=True),
            *_rows(label, cleaning.proposals[str(number)], is_made=False),
        )
    ]
    edits = pd.DataFrame(rows, columns=list(_EDITS)).astype(_EDITS)
    return CleanedTexts(texts=texts.assign(clean_text=clean.where(~is_missing)), edits=edits)


def _rows(label: object, edits: Iterable[Edit], *, is_made: bool) -> Iterable[dict[str, object]]:
    return ({"row": label, **asdict(edit), "is_made": is_made} for edit in edits)


def _casefolded(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word.casefold() for word in words)
