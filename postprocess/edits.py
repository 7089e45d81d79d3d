"""Replay, undo and compose edits, and choose the most frequent edit of a text."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from piecework.domain import column_names as names
from piecework.domain.edit import Edit, changes, size_of_changes


def replay(original: str, edits: Sequence[Edit]) -> str:
    """Return `original` with `edits` applied.

    Raises:
        ValueError: the edits are not in order, overlap, or belong to another text.
    """
    parts = []
    position = 0
    for edit in edits:
        text = original[edit.start : edit.end]
        if not position <= edit.start <= edit.end or text != edit.before:
            raise ValueError(
                f"found {text!r} at {edit.start}:{edit.end}, but the edit "
                f"({edit.rule}) is out of order or replaces {edit.before!r}"
            )
        parts += [original[position : edit.start], edit.after]
        position = edit.end
    return "".join([*parts, original[position:]])


def undo(cleaned: str, edits: Sequence[Edit]) -> str:
    """Return the original, given the cleaned text and the edits that made it.

    Raises:
        ValueError: `cleaned` is not the result of these edits.
    """
    parts = []
    position = taken = 0
    for edit in edits:
        start = position + edit.start - taken
        end = start + len(edit.after)
        text = cleaned[start:end]
        if edit.start < taken or text != edit.after:
            raise ValueError(
                f"found {text!r} at {start}:{end}, but the edit ({edit.rule}) is out "
                f"of order or made {edit.after!r}"
            )
        parts += [cleaned[position:start], edit.before]
        position, taken = end, edit.end
    return "".join([*parts, cleaned[position:]])


def compose(original: str, first: Sequence[Edit], second: Sequence[Edit]) -> tuple[Edit, ...]:
    """Return one list of edits with the effect of `first` and then `second`.

    Edits of `second` have positions in `replay(original, first)`. If one overlaps the
    result of an earlier one, they become one edit, attributed to both rules; if they
    cancel out, none. Its probability is the lower of the two.
    """
    middle = replay(original, first)
    composed = []
    shift = 0
    for stretch in _stretches(first, second):
        grown = sum(_growth(edit) for edit in stretch.early)
        start = stretch.start - shift
        end = start + (stretch.end - stretch.start) - grown
        shift += grown
        edit = _merged(stretch, original[start:end], middle=middle, at=start)
        if edit.before != edit.after:
            composed.append(edit)
    return tuple(composed)


@dataclass(slots=True)
class _Stretch:
    """A part of the text between two passes that edits of both passes share."""

    start: int
    end: int
    early: list[Edit] = field(default_factory=list)
    late: list[Edit] = field(default_factory=list)


def _stretches(first: Sequence[Edit], second: Sequence[Edit]) -> list[_Stretch]:
    alone = []
    shift = 0
    for edit in first:
        start = edit.start + shift
        alone.append(_Stretch(start, start + len(edit.after), early=[edit]))
        shift += _growth(edit)
    alone += [_Stretch(edit.start, edit.end, late=[edit]) for edit in second]
    joined: list[_Stretch] = []
    for new in sorted(alone, key=lambda stretch: (stretch.start, stretch.end)):
        last = joined[-1] if joined else None
        if last and last.start < new.end and new.start < last.end:
            last.end = max(last.end, new.end)
            last.early += new.early
            last.late += new.late
        else:
            joined.append(new)
    return joined


def _merged(stretch: _Stretch, before: str, *, middle: str, at: int) -> Edit:
    parts = []
    position = stretch.start
    for edit in stretch.late:
        parts += [middle[position : edit.start], edit.after]
        position = edit.end
    edits = stretch.early + stretch.late
    return Edit(
        start=at,
        end=at + len(before),
        before=before,
        after="".join([*parts, middle[position : stretch.end]]),
        rule="+".join(dict.fromkeys(edit.rule for edit in edits)),
        reason="; ".join(dict.fromkeys(edit.reason for edit in edits)),
        probability=min(edit.probability for edit in edits),
    )


def _growth(edit: Edit) -> int:
    return len(edit.after) - (edit.end - edit.start)


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
    best = min(leading, key=lambda text: (size_of_changes(changes(words, text.split())), text))
    return best, most / edits.total(), most


def _spaced(text: str) -> str:
    return " ".join(text.split())
