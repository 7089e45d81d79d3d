"""The dataset frame: one row an answer, and what has to be true of it.

Everything that leaves the project (files, card, report) is made from this frame alone,
so its promises are checked in one place: worker ids are already hashed, every caption
is the original with its edits applied, all answers about an item share one split.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import pandas as pd

from domain.edit import Edit
from postprocess.edits import replay
from postprocess.splits import SPLITS

COLUMNS: Mapping[str, str] = {
    "item_id": "str",
    "url": "str",
    "split": "str",
    "batch": "int64",
    "round": "int64",
    "position": "int64",
    "caption": "str",
    "caption_original": "str",
    "is_precanned": "bool",
    "is_rejected": "bool",
    "rejected_because": "str",
    "text_detected": "str",
    "flaws": "object",
    "flaw_other": "str",
    "worker": "str",
    "shown_seconds": "float64",
    "submitted_at": "datetime64[us, UTC]",
    "edits": "object",
    "is_surplus": "bool",
    "is_provisional": "bool",
}
"""Columns with their dtypes; the index is `answer_id`, unique.

`caption` is cleaned, `caption_original` what the worker wrote; `text_detected` is
"yes", "no" or "" where it was not asked; `flaws` is a tuple of str, `edits` a tuple of
`domain.edit.Edit`; `worker` a keyed hash in hex; `shown_seconds` NaN where unknown.
`is_surplus`: accepted, but beyond the number wanted, or a worker's second
answer about the item. `is_provisional`: nobody has decided yet; the row says what the
policy would decide by what is known so far, and may change.
"""

INDEX = "answer_id"

SetAside = Literal["rejected", "canned", "surplus"]

_TEXT_DETECTED = ("yes", "no", "")
_PSEUDONYM = re.compile(r"[0-9a-f]{16,64}")


def dataset_frame(rows: Iterable[Mapping[str, object]]) -> pd.DataFrame:
    """Rows (each with `answer_id` and every column) as a checked frame, by answer id.

    Keys beyond `COLUMNS` become columns too; no file shows them. A `text_detected` that
    is neither "yes" nor "no" becomes "": a worker's program may send anything, and one
    such answer must not keep the others from being exported.

    Raises:
        ValueError: what `check` finds, one line a fault.
    """
    final = {"is_provisional": False}
    by_id = sorted(
        ({**final, **_tamed(row)} for row in rows), key=lambda row: str(row[INDEX])
    )
    names = [*COLUMNS, *dict.fromkeys(name for row in by_id for name in row)]
    names = [name for name in dict.fromkeys(names) if name != INDEX]
    index = pd.Index([str(row[INDEX]) for row in by_id], dtype="str", name=INDEX)
    missing = sorted({name for row in by_id for name in COLUMNS if name not in row})
    if missing:
        raise ValueError(f"rows of the dataset lack {', '.join(missing)}")
    frame = pd.DataFrame(
        {
            name: pd.Series(
                [row.get(name) for row in by_id],
                index=index,
                dtype=COLUMNS.get(name, "object"),
            )
            for name in names
        },
        index=index,
    )
    must_be_sound(frame)
    return frame


def novel(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that are the dataset proper: neither rejected, canned nor surplus."""
    return frame.loc[_reasons(frame) == ""]


def set_aside(frame: pd.DataFrame) -> pd.DataFrame:
    """All other rows, with a column `set_aside`: "rejected", "canned" or "surplus".

    A row to which several apply is named by the first of them.
    """
    reasons = _reasons(frame)
    return frame.assign(set_aside=reasons).loc[reasons != ""]


def must_be_sound(frame: pd.DataFrame) -> None:
    """Stop here unless the frame keeps its promises.

    Raises:
        ValueError: what `check` finds, one line a fault.
    """
    faults = check(frame)
    if faults:
        raise ValueError("\n".join(faults))


def check(frame: pd.DataFrame) -> list[str]:
    """Every way in which the frame breaks its promises, a sentence each."""
    faults = _faults_of_shape(frame)
    return faults or [*_faults_of_columns(frame), *_faults_of_edits(frame)]


def _tamed(row: Mapping[str, object]) -> Mapping[str, object]:
    if row.get("text_detected", "") in _TEXT_DETECTED:
        return row
    return {**row, "text_detected": ""}


def _reasons(frame: pd.DataFrame) -> pd.Series:
    reasons = pd.Series("", index=frame.index, dtype="str")
    reasons[frame["is_surplus"]] = "surplus"
    reasons[frame["is_precanned"]] = "canned"
    reasons[frame["is_rejected"]] = "rejected"
    return reasons


def _faults_of_shape(frame: pd.DataFrame) -> list[str]:
    faults = [f"column {name} is missing" for name in COLUMNS if name not in frame]
    faults += [
        f"column {name} is {frame[name].dtype}, but must be {dtype}"
        for name, dtype in COLUMNS.items()
        if name in frame and str(frame[name].dtype) != dtype
    ]
    if frame.index.name != INDEX:
        faults.append(f"the index is named {frame.index.name!r}, but must be {INDEX}")
    twice = frame.index[frame.index.duplicated()]
    return faults + [f"answer {answer_id} occurs twice" for answer_id in twice]


def _faults_of_columns(frame: pd.DataFrame) -> list[str]:
    strings = [name for name, dtype in COLUMNS.items() if dtype == "str"]
    faults = [
        f"column {name} has missing values"
        for name in [*strings, "submitted_at"]
        if frame[name].isna().any()
    ]
    for name, allowed in (("split", SPLITS), ("text_detected", _TEXT_DETECTED)):
        strange = sorted(set(frame[name].dropna()) - set(allowed))
        faults += [
            f"{name} is {value!r}, but must be of {allowed}" for value in strange
        ]
    if not frame["worker"].dropna().map(_is_pseudonym).all():
        # The value is not told: it may be the very id that must not leave.
        faults.append("column worker holds something else than a keyed hash in hex")
    splits = frame.groupby("item_id")["split"].nunique()
    torn = splits.index[splits > 1]
    return faults + [f"item {item_id} lies in several splits" for item_id in torn]


def _is_pseudonym(value: str) -> bool:
    return _PSEUDONYM.fullmatch(value) is not None


def _faults_of_edits(frame: pd.DataFrame) -> list[str]:
    rows = zip(
        frame.index,
        frame["caption"],
        frame["caption_original"],
        frame["edits"],
        strict=True,
    )
    return [
        f"answer {answer_id}: its edits do not lead from the original to the caption"
        for answer_id, caption, original, edits in rows
        if not _leads(original, caption, edits)
    ]


def _leads(original: str, caption: str, edits: Sequence[Edit]) -> bool:
    try:
        return replay(original, edits) == caption
    except ValueError:
        return False
