"""Replaces ids of workers in what leaves the store, in whichever cell they stand.

Forms carry ids along (`workerId`, `PROLIFIC_PID`, JSON, addresses), and people type
theirs. `HiddenIds` puts the dataset's pseudonym in their place. An id like `7` or
`worker` is also a word, so what is replaced depends on the id:

- A *distinctive* id (6 characters with a digit or an @, 9 digits, or 12 of any kind) is
  replaced wherever it stands by itself, in any row; in rows of its worker also inside
  of longer words.
- A shorter id with letters and digits (`W0`) is replaced in the rows of its worker,
  where it stands by itself. A choice between fixed options is left as it is.
- Any other id is replaced in its worker's rows where a name says so
  (`"workerId": "7"`, `?worker=7`).
- In a column where each filled cell holds the id of its row's worker, for two workers
  or more, the id is replaced whatever it looks like.

Upper and lower case are the same.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

import pandas as pd

from piecework.domain.edit import Edit
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId, WorkerId
from piecework.domain.imported import UNNAMED
from piecework.domain.tables import HIT_VALUE, ITEM_VALUE, value_column
from piecework.domain.task import Task
from piecework.postprocess.pseudonyms import pseudonym

_Kind = Literal["distinctive", "mixed", "word"]
_LEAST, _LEAST_DIGITS, _LEAST_OF_ANY = 6, 9, 12
_PART = re.compile(r"[^\W_]+")
_ID_NAME = r"(?:worker|participant|prolific|annotator|subject|turk|user|pid|uid)"
_NAME = re.compile(_ID_NAME, re.IGNORECASE)
_NAMED = rf"{_ID_NAME}[\w.-]*[\"']?\s*[:=]\s*[\"']?"
"""A name of an id in JSON, in an address or in a sentence, up to its value."""


class HiddenIds:
    """Puts pseudonyms in the place of worker ids; see above."""

    def __init__(self, worker_ids: Iterable[str], key: bytes) -> None:
        """Take all known worker ids, and the key of the pseudonyms."""
        self._key = key
        self._names: dict[str, str] = {}
        self._by_part: dict[str, list[tuple[int, str]]] = {}
        for worker_id in worker_ids:
            if worker_id.startswith(UNNAMED) or not worker_id.strip():
                continue
            word = worker_id.casefold()
            self._names[word] = pseudonym(WorkerId(worker_id), key)
            part = _PART.search(word)
            if _kind(worker_id) == "distinctive" and part is not None:
                self._by_part.setdefault(part[0], []).append((part.start(), word))
        least = min(map(len, self._by_part), default=1)
        # Shorter parts are most of a text, and begin no id.
        self._long_parts = re.compile(rf"[^\W_]{{{least},}}")
        for listed in self._by_part.values():
            listed.sort(key=lambda place: -len(place[1]))

    def everywhere(self, text: str) -> str:
        """Return the text without distinctive ids of any worker."""
        if not self._by_part or not self._long_parts.search(text):
            return text
        low = _low(text)
        parts, done = [], 0
        for part in self._long_parts.finditer(low):
            for offset, word in self._by_part.get(part[0], ()):
                start = part.start() - offset
                end = start + len(word)
                if (
                    start >= done
                    and low.startswith(word, start)
                    and not low[end : end + 1].isalnum()
                ):
                    parts += [text[done:start], self._names[word]]
                    done = end
                    break
        return "".join([*parts, text[done:]]) if parts else text

    def of_worker(self, text: str, worker_id: str, *, is_held: bool = False) -> str:
        """Return a text of a worker's row without ids.

        Args:
            text: of any cell.
            worker_id: the row's worker.
            is_held: whether all cells of the column hold their row's id.
        """
        word = worker_id.casefold()
        name = self._names.get(word)
        if name is not None and word in _low(text):
            text = self._pattern(worker_id, is_held=is_held).sub(rf"\g<1>{name}", text)
        return self.everywhere(text)

    def named(self, name: str, text: str) -> str:
        """Return a cell without ids; the column's name may say that it is an id."""
        known = self._names.get(text.strip().casefold())
        if known is not None and _NAME.search(name):
            return known
        return self.everywhere(text)

    def holds_own(self, cells: Sequence[str], worker_ids: Sequence[str]) -> bool:
        """Return whether each filled cell holds the id of its row's worker.

        Two different workers are needed: with fewer it may be chance.
        """
        workers = set()
        for cell, worker_id in zip(cells, worker_ids, strict=True):
            if not cell.strip():
                continue
            word = worker_id.casefold()
            if word not in self._names or not _stands_in(word, _low(cell)):
                return False
            workers.add(word)
        return len(workers) > 1

    def _pattern(self, worker_id: str, *, is_held: bool) -> re.Pattern[str]:
        escaped, kind = re.escape(worker_id), _kind(worker_id)
        if kind == "distinctive":
            return re.compile(f"()(?:{escaped})", re.IGNORECASE)
        alone = rf"{escaped}(?![^\W_])"
        before = r"()(?<![^\W_])" if is_held or kind == "mixed" else f"({_NAMED})"
        return re.compile(f"{before}{alone}", re.IGNORECASE)


def _kind(worker_id: str) -> _Kind:
    has_digit = re.search(r"\d", worker_id) is not None
    has_letter = re.search(r"[^\W\d_]", worker_id) is not None
    size = len(worker_id)
    if has_digit and not has_letter:
        return "distinctive" if size >= _LEAST_DIGITS else "word"
    if size >= _LEAST_OF_ANY or (size >= _LEAST and (has_digit or "@" in worker_id)):
        return "distinctive"
    return "mixed" if has_digit else "word"


def _stands_in(word: str, text: str) -> bool:
    """Return whether a word stands by itself in a text."""
    place = text.find(word)
    while place >= 0:
        end = place + len(word)
        around = (text[max(place - 1, 0) : place], text[end : end + 1])
        if not any(char.isalnum() for char in around):
            return True
        place = text.find(word, place + 1)
    return False


def _low(text: str) -> str:
    """The text in small letters, each at its place."""
    low = text.casefold()
    return low if len(low) == len(text) else text


def held_columns(table: pd.DataFrame, ids: HiddenIds) -> frozenset[str]:
    """Return the columns of answers in which each filled cell holds its worker's id.

    Args:
        table: the table of answers, with `worker_id`.
        ids: of the campaign's workers.
    """
    workers = table["worker_id"].tolist()
    answered = [
        str(name) for name in table if str(name).startswith((ITEM_VALUE, HIT_VALUE))
    ]
    return frozenset(
        name
        for name in answered
        if ids.holds_own(list(map(_in_words, table[name].tolist())), workers)
    )


def hide_in_answers(table: pd.DataFrame, task: Task, ids: HiddenIds) -> pd.DataFrame:
    """Return the table of answers without ids in its texts.

    Args:
        table: with `worker_id`, `text`, `clean_text` and `edits`.
        task: which fields have fixed options.
        ids: of the campaign's workers.
    """
    workers, held = table["worker_id"].tolist(), held_columns(table, ids)
    fixed = {
        value_column(field)
        for field in task.fields
        if field.options and not field.is_open
    } - held
    made: dict[str, pd.Series[Any]] = {}
    for name in map(str, table):
        is_text = name in _TEXTS or name.startswith((ITEM_VALUE, HIT_VALUE))
        if not is_text:
            continue
        column = table[name]
        if column.dtype == "float64":
            if name in held:
                made[name] = column * float("nan")
            continue
        hidden = [
            _hidden(cell, worker, ids, is_fixed=name in fixed, is_held=name in held)
            for cell, worker in zip(column.tolist(), workers, strict=True)
        ]
        made[name] = pd.Series(hidden, index=column.index, dtype=column.dtype)
    is_changed = made["text"] != table["text"]
    is_changed |= made["clean_text"] != table["clean_text"]
    edits = table["edits"].copy()
    for answer_id in table.index[is_changed]:
        before, after = made["text"][answer_id], made["clean_text"][answer_id]
        edits[answer_id] = (_edit(before, after),) if before != after else ()
    return table.assign(**made, edits=edits)


def hide_in_items(
    items: Sequence[Item], table: pd.DataFrame, ids: HiddenIds
) -> list[Item]:
    """Return the items without ids in their columns and in their own ids.

    Args:
        items: in their order.
        table: the table of answers, with `worker_id`.
        ids: of the campaign's workers.
    """
    pairs = table[["item_id", "worker_id"]].drop_duplicates()
    alone = pairs.drop_duplicates("item_id", keep=False)
    worker_of = dict(zip(alone["item_id"], alone["worker_id"], strict=True))
    columns = [{**item.columns, _OWN: str(item.item_id)} for item in items]
    workers = [str(worker_of.get(str(item.item_id), "")) for item in items]
    names = dict.fromkeys(name for cells in columns for name in cells)
    held = {
        name
        for name in names
        if ids.holds_own([cells.get(name, "") for cells in columns], workers)
    }
    hidden = [
        {
            name: ids.of_worker(cell, worker, is_held=True)
            if name in held
            else ids.named(name, cell)
            for name, cell in cells.items()
        }
        for cells, worker in zip(columns, workers, strict=True)
    ]
    return [
        replace(item, item_id=ItemId(cells.pop(_OWN)), columns=cells)
        for item, cells in zip(items, hidden, strict=True)
    ]


def hide_in_task(task: Task, held: Collection[str], ids: HiddenIds) -> Task:
    """Return the task without ids among the options of its fields.

    A field whose answers are ids (`held`) has no options, and nothing is made of it.
    """
    fields = tuple(
        replace(
            field,
            kind="text" if is_held and field.kind == "choice" else field.kind,
            options=()
            if is_held
            else tuple(
                replace(
                    option,
                    value=ids.everywhere(option.value),
                    label=ids.everywhere(option.label),
                )
                for option in field.options
            ),
        )
        for field in task.fields
        for is_held in [value_column(field) in held]
    )
    if fields == task.fields:
        return task
    kept = {field.name for field in task.fields if value_column(field) not in held}
    aggregates = tuple(part for part in task.aggregates if part.field in kept)
    return replace(task, fields=fields, aggregates=aggregates)


_TEXTS = frozenset({"text", "clean_text", "also_sent", "rejected_because"})
_OWN = "\0item_id"


def _hidden(
    cell: Any,  # noqa: ANN401 - a cell of any column of text
    worker: str,
    ids: HiddenIds,
    *,
    is_fixed: bool,
    is_held: bool,
) -> Any:  # noqa: ANN401
    if isinstance(cell, tuple):
        return tuple(
            _hidden(part, worker, ids, is_fixed=is_fixed, is_held=is_held)
            for part in cell
        )
    if not cell or is_fixed:
        return ids.everywhere(cell)
    return ids.of_worker(cell, worker, is_held=is_held)


def _edit(before: str, after: str) -> Edit:
    return Edit(
        start=0,
        end=len(before),
        before=before,
        after=after,
        rule="private_id",
        reason="an id of a worker stood in the text, so its edits are one",
    )


def _in_words(cell: object) -> str:
    if isinstance(cell, tuple):
        return "|".join(cell)
    if isinstance(cell, float):
        return "" if cell != cell else f"{cell:g}"  # noqa: PLR0124 - NaN
    return str(cell)
