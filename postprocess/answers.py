"""The table of answers as it leaves the store, and the checks on it.

Everything that leaves the project (files, card, report) is made only from this table
(`piecework.domain.tables`), so its guarantees are checked in one place: worker ids are
hashed, every clean text is the worker's text with its edits applied, and all answers
about an item share one split.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from piecework.domain import tables
from piecework.domain.column_names import OUTCOME
from piecework.domain.dataset import SPLITS
from piecework.domain.edit import Edit
from piecework.domain.tables import CLEANED, COLLECTED, PUBLISHED, VERDICTS, Column
from piecework.domain.task import Task
from piecework.postprocess.edits import replay
from piecework.postprocess.pseudonyms import is_pseudonym

_SECRET = "worker_id"  # noqa: S105 - the name of a column
FOR_HEURISTICS = "typing"
"""How each text came about: a long cell that only heuristics read, so no dataset has it."""

_SHOWN = 20


def answer_columns(task: Task) -> dict[str, Column]:
    """Return the columns of `piecework.domain.tables` without worker ids and records of typing."""
    left_out = {_SECRET, FOR_HEURISTICS}
    collected = {name: COLLECTED[name] for name in COLLECTED if name not in left_out}
    return {**collected, **VERDICTS, **CLEANED, **PUBLISHED, **tables.task_columns(task)}


def with_edits(table: pd.DataFrame, edits: Mapping[str, Sequence[Edit]]) -> pd.DataFrame:
    """Return the table with the columns `clean_text` and `edits`.

    Args:
        table: a table with the column `text`.
        edits: edits by answer id; a text without an entry is not changed.

    Raises:
        ValueError: the edits do not fit the text.
    """
    edited = [answer_id for answer_id in table.index if answer_id in edits]
    clean = table["text"].copy()
    clean[edited] = [
        replay(text, edits[answer_id]) for answer_id, text in table.loc[edited, "text"].items()
    ]
    of_row = [tuple(edits.get(answer_id, ())) for answer_id in table.index]
    column = pd.Series(of_row, index=table.index, dtype="object")
    return table.assign(clean_text=clean, edits=column)


def set_aside_reasons(table: pd.DataFrame) -> "pd.Series[str]":
    """Return why each answer is set aside; "" for those in the main dataset.

    "undecided", "dropped", "canned" or "surplus"; if several apply, the first. Dropped
    answers were paid for, unless the assignment was rejected.
    """
    reasons = pd.Series("", index=table.index, dtype="str")
    reasons[table["is_surplus"]] = "surplus"
    reasons[table["is_canned"]] = "canned"
    reasons[table["is_rejected"]] = "dropped"
    reasons[table["is_rejected"] & table["is_provisional"]] = "undecided"
    return reasons


def was_rejected(table: pd.DataFrame) -> "pd.Series[bool]":
    """Return whether a decision dropped each answer; undecided ones are not dropped."""
    return table["is_rejected"] & ~table["is_provisional"]


def validate(table: pd.DataFrame, task: Task) -> None:
    """Raise an error if the table is not valid.

    Raises:
        ValueError: `faults` finds something; the first twenty, one per line.
    """
    sentences = faults(table, task)
    if sentences:
        more = len(sentences) - _SHOWN
        rest = [f"... and {more} more faults"] if more > 0 else []
        raise ValueError("\n".join([*sentences[:_SHOWN], *rest]))


def faults(table: pd.DataFrame, task: Task) -> list[str]:
    """Return all faults of the table, as sentences."""
    if _SECRET in table:
        return [f"The column {_SECRET!r} must not leave the store."]
    columns = answer_columns(task)
    of_shape = tables.faults(table, columns)
    return of_shape or [*_faults_of_cells(table, columns), *_faults_of_edits(table)]


def _faults_of_cells(table: pd.DataFrame, columns: Mapping[str, Column]) -> list[str]:
    complete = [name for name, column in columns.items() if column.dtype == "str"]
    if OUTCOME not in table:
        # Only files of other tools may lack the time of an answer.
        complete.append("submitted_at")
    sentences = [
        f"The column {name!r} has missing values." for name in complete if table[name].isna().any()
    ]
    strange = sorted(set(table["split"].dropna().unique()) - set(SPLITS))
    sentences += [f"A split is {name!r}, but must be one of {SPLITS}." for name in strange]
    if not all(map(is_pseudonym, table["worker"].dropna().unique())):
        # The value is not shown: it may be the worker id that must not leave.
        sentences.append("The column 'worker' contains something other than a keyed hash in hex.")
    pairs = table[["item_id", "split"]].drop_duplicates()
    torn = pairs.loc[pairs["item_id"].duplicated(), "item_id"].unique()
    return sentences + [f"The item {name} is in several splits." for name in torn]


def _faults_of_edits(table: pd.DataFrame) -> list[str]:
    is_edited = table["edits"].map(bool).astype("bool")
    is_changed = table["text"] != table["clean_text"]
    wrong = table.index[is_changed & ~is_edited].tolist()
    edited = table.loc[is_edited, ["text", "clean_text", "edits"]]
    wrong += [
        answer_id
        for answer_id, text, clean, edits in edited.itertuples(name=None)
        if not _leads(text, clean, edits)
    ]
    return [
        f"The answer {answer_id}: its edits do not turn its text into the clean text."
        for answer_id in wrong
    ]


def _leads(text: str, clean: str, edits: Sequence[Edit]) -> bool:
    try:
        return replay(text, edits) == clean
    except ValueError:
        return False
