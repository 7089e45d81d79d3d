"""Texts cleaned by edits that can be undone."""

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
    """Texts as cleaning leaves them.

    Attributes:
        texts: the frame that was given, with the column `clean_text` (str; missing
            where the text is).
        edits: a row an edit, in the order of the texts: `row` (its label in the index
            of `texts`), `start` and `end` (in characters of the original text),
            `before`, `after`, `rule`, `reason`, `probability` (that this was meant),
            `is_made` (bool; False: it was not sure enough, and is proposed).
    """

    texts: pd.DataFrame
    edits: pd.DataFrame


def clean_text(text: str, *, protected: Iterable[str] = ()) -> Cleaned:
    """Clean one text by itself.

    Args:
        text: in English.
        protected: words that stay as they are, in any case.

    Raises:
        ConfigError: it is no text.
    """
    if not isinstance(text, str):
        kind = type(text).__name__  # type: ignore[unreachable] # callers may not check
        raise ConfigError([f"text: is a {kind}, but must be a str"])
    return apply.clean_text(text, protected=_casefolded(protected))


def clean_texts(
    texts: pd.DataFrame, *, column: str = "text", protected: Iterable[str] = ()
) -> CleanedTexts:
    """Clean all texts of a frame together, so that each is judged among the others.

    Args:
        texts: a row a text; with a column `task`, texts about the same task know words
            from each other.
        column: that holds the texts.
        protected: words that stay as they are, in any case.

    Raises:
        ConfigError: there is no such column, a cell is no text, or the index repeats.
    """
    require_columns(texts, [column], name="texts")
    require_unique_index(texts, name="texts")
    cells = texts[column]
    is_missing = cells.isna()
    for label, cell in cells[~is_missing].items():
        if not isinstance(cell, str):
            raise ConfigError(
                [f"texts: row {label!r}, column {column!r}: {cell!r} is no str"]
            )
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
    return CleanedTexts(
        texts=texts.assign(clean_text=clean.where(~is_missing)), edits=edits
    )


def _rows(
    label: object, edits: Iterable[Edit], *, is_made: bool
) -> Iterable[dict[str, object]]:
    return ({"row": label, **asdict(edit), "is_made": is_made} for edit in edits)


def _casefolded(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word.casefold() for word in words)
