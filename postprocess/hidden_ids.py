"""Replaces ids of workers and assignments in what leaves the store, in any cell.

Forms carry ids along (`workerId`, `PROLIFIC_PID`, JSON, addresses), and people type
theirs. `HiddenIds` puts the dataset's pseudonym in their place. An id like `7` or
`worker` is also a word, so what is replaced depends on the id:

- A *distinctive* id (6 characters with a digit or an @, 9 digits, or 12 of any kind) is
  replaced wherever it stands by itself, in any row; in rows of its worker also inside
  of longer words.
- A shorter id with letters and digits (`W0`) is replaced in the rows of its worker,
  where it stands by itself. A choice between fixed options is left as it is.
- Any other id is replaced in its worker's rows where a name says so
  (`"workerId": "7"`, `?worker=7`, a column `worker_id`).
- In a column where each filled cell holds the id of its row's worker, for two workers
  or more, the id is replaced whatever it looks like.
- An assignment's id of 12 characters with a digit, or 9 digits, is replaced wherever it
  stands by itself. A shorter one leads to no person.

Upper and lower case are the same.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Literal

import pandas as pd

from piecework.domain.edit import Edit
from piecework.domain.hit import Item
from piecework.domain.ids import AnswerId, AssignmentId, ItemId, WorkerId
from piecework.domain.imported import UNNAMED
from piecework.domain.tables import HIT_VALUE, ITEM_VALUE, value_column
from piecework.domain.task import Task
from piecework.postprocess.pseudonyms import answer_pseudonym, assignment_pseudonym, pseudonym

_Kind = Literal["distinctive", "mixed", "word"]
_LEAST, _LEAST_DIGITS, _LEAST_OF_ANY = 6, 9, 12
_MOST_ALIKE = 16
"""Ids that may share the part by which a text is searched for them."""

_PART = re.compile(r"[^\W_]+")
_ID_NAME = r"(?:worker|participant|prolific|annotator|subject|turk|user|pid|uid)"
_NAME = re.compile(_ID_NAME, re.IGNORECASE)
_WHOLE_NAME = re.compile(
    rf"(?:^|[._-]){_ID_NAME}[\W_]*(?:id|no|nr|number|code|key|name)?$", re.IGNORECASE
)
"""A name of a column that holds ids and nothing else: `worker_id`, no `user_rating`."""

_NAMED = rf"{_ID_NAME}[\w.-]*[\"']?\s*[:=]\s*[\"']?"
"""A name of an id in JSON, in an address or in a sentence, up to its value."""


class HiddenIds:
    """Puts pseudonyms in the place of ids; see above."""

    def __init__(
        self, worker_ids: Iterable[str], key: bytes, *, assignment_ids: Iterable[str] = ()
    ) -> None:
        """Take all known ids, and the key of the pseudonyms."""
        self._key = key
        self._workers: dict[str, str] = {}
        self._assignments: dict[str, str] = {}
        distinctive = []
        for worker_id in worker_ids:
            if worker_id.startswith(UNNAMED) or not worker_id.strip():
                continue
            word = _low(worker_id)
            self._workers[word] = worker_id
            if _kind(worker_id) == "distinctive":
                distinctive.append(word)
        for assignment_id in assignment_ids:
            if is_of_a_market(assignment_id):
                word = _low(assignment_id)
                self._assignments[word] = assignment_id
                distinctive.append(word)
        self._distinctive = distinctive
        self._by_part = _by_part(distinctive)
        least = min(map(len, self._by_part), default=1)
        # Shorter parts are most of a text, and part of no id.
        self._long_parts = re.compile(rf"[^\W_]{{{least},}}")

    def everywhere(self, text: str) -> str:
        """Return the text without distinctive ids of any worker or assignment."""
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
                    and not low[max(start - 1, 0) : start].isalnum()
                ):
                    parts += [text[done:start], self._name(word)]
                    done = end
                    break
        return "".join([*parts, text[done:]]) if parts else text

    def in_page(self, page: str, escape: Callable[[str], str]) -> str:
        """Return a page without distinctive ids, as they are and as `escape` writes them."""
        low = _low(page)
        for word in self._distinctive:
            written = _low(str(escape(word)))
            if written != word and written in low:
                alone = rf"(?<![^\W_]){re.escape(written)}(?![^\W_])"
                page = re.sub(alone, self._name(word), page, flags=re.IGNORECASE)
        return self.everywhere(page)

    def of_worker(self, text: str, worker_id: str, *, is_held: bool = False) -> str:
        """Return a text of a worker's row without ids.

        Args:
            text: of any cell.
            worker_id: the row's worker.
            is_held: whether all cells of the column hold their row's id.
        """
        word = _low(worker_id)
        if word in self._workers and word in _low(text):
            name = self._name(word)
            text = self._pattern(worker_id, is_held=is_held).sub(rf"\g<1>{name}", text)
        return self.everywhere(text)

    def sent(self, document: str, worker_id: str) -> str:
        """Return a JSON object of texts by name without ids, in names and in texts.

        Args:
            document: of a cell `also_sent`; "" without any.
            worker_id: the row's worker.
        """
        if not document:
            return document
        cells: dict[str, str] = json.loads(document)
        hidden = {
            self.of_worker(name, worker_id): self.of_worker(
                cell, worker_id, is_held=is_id(name, cell, worker_id)
            )
            for name, cell in cells.items()
        }
        return document if hidden == cells else json.dumps(hidden, ensure_ascii=False)

    def named(self, name: str, text: str) -> str:
        """Return a cell without ids; the column's name may say that it is an id."""
        word = _low(text.strip())
        if word in self._workers and _NAME.search(name):
            return self._name(word)
        return self.everywhere(text)

    def holds_own(self, cells: Sequence[str], worker_ids: Sequence[str]) -> bool:
        """Return whether each filled cell holds the id of its row's worker.

        Two different workers are needed: with fewer it may be chance.
        """
        return len(own_workers(cells, worker_ids) or ()) > 1

    def answer(self, answer_id: str) -> AnswerId:
        """Return the id of an answer with the pseudonym of its assignment."""
        return answer_pseudonym(AnswerId(answer_id), self._key)

    def assignment(self, assignment_id: str) -> AssignmentId:
        """Return the pseudonym of an assignment."""
        return assignment_pseudonym(AssignmentId(assignment_id), self._key)

    def _name(self, word: str) -> str:
        """Return the pseudonym of a known id in small letters."""
        if word in self._workers:
            return pseudonym(WorkerId(self._workers[word]), self._key)
        return self.assignment(self._assignments[word])

    def _pattern(self, worker_id: str, *, is_held: bool) -> re.Pattern[str]:
        escaped, kind = re.escape(worker_id), _kind(worker_id)
        if kind == "distinctive":
            return re.compile(f"()(?:{escaped})", re.IGNORECASE)
        alone = rf"{escaped}(?![^\W_])"
        before = r"()(?<![^\W_])" if is_held or kind == "mixed" else f"({_NAMED})"
        return re.compile(f"{before}{alone}", re.IGNORECASE)


def own_workers(cells: Sequence[str], worker_ids: Sequence[str]) -> set[str] | None:
    """Return the workers whose ids stand in the filled cells of their rows.

    Returns:
        `None` if any filled cell does not hold the id of its row's worker.
    """
    workers = set()
    for cell, worker_id in zip(cells, worker_ids, strict=True):
        if not cell.strip():
            continue
        word = _low(worker_id)
        is_named = word.strip() and not worker_id.startswith(UNNAMED)
        if not is_named or not _stands_in(word, _low(cell)):
            return None
        workers.add(word)
    return workers


def is_id(name: str, cell: str, worker_id: str) -> bool:
    """Whether a cell is the id of its row's worker, under a name that says so.

    >>> is_id("worker_id", "7", "7"), is_id("user_rating", "7", "7")
    (True, False)
    """
    is_own = _low(cell.strip()) == _low(worker_id)
    return is_own and _WHOLE_NAME.search(name) is not None


def _by_part(words: Sequence[str]) -> dict[str, list[tuple[int, str]]]:
    """Return ids by one of their parts, with its place in the id; longer ids first.

    A part that few ids share is better than a long one: all of a tool's ids may begin
    with its name, and each text with that name would be compared with all of them.
    """
    parts = {word: list(_PART.finditer(word)) for word in words}
    shared = Counter(part[0] for of_word in parts.values() for part in of_word)
    by_part: dict[str, list[tuple[int, str]]] = {}
    for word, of_word in parts.items():
        if of_word:
            best = min(of_word, key=lambda part: (max(shared[part[0]], _MOST_ALIKE), -len(part[0])))
            by_part.setdefault(best[0], []).append((best.start(), word))
    for listed in by_part.values():
        listed.sort(key=lambda place: -len(place[1]))
    return by_part


def is_of_a_market(assignment_id: str) -> bool:
    """Whether an id of an assignment looks as those that markets make.

    >>> is_of_a_market("60f2a7c1d9e8b0a1c2d3e4f5"), is_of_a_market("row_17")
    (True, False)
    """
    if assignment_id.isdecimal():
        return len(assignment_id) >= _LEAST_DIGITS
    has_digit = re.search(r"\d", assignment_id) is not None
    return len(assignment_id) >= _LEAST_OF_ANY and has_digit


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
    return low if len(low) == len(text) else "".join(map(_low_letter, text))


@cache
def _low_letter(letter: str) -> str:
    """The one small letter of a letter, also where it folds to several (ß to ss)."""
    lows = (letter.casefold(), letter.lower(), letter)
    return next(low for low in lows if len(low) == 1)


def held_columns(table: pd.DataFrame) -> frozenset[str]:
    """Return the columns of answers in which each filled cell holds its worker's id.

    Args:
        table: the table of answers, with `worker_id`.
    """
    return frozenset(
        name
        for name, workers in own_workers_in(table).items()
        if workers is not None and len(workers) > 1
    )


def own_workers_in(table: pd.DataFrame) -> dict[str, set[str] | None]:
    """Return `own_workers` of each column of answers."""
    workers = table["worker_id"].tolist()
    return {
        name: own_workers(list(map(_in_words, table[name].tolist())), workers)
        for name in map(str, table)
        if name.startswith((ITEM_VALUE, HIT_VALUE))
    }


def hide_in_answers(
    table: pd.DataFrame, task: Task, ids: HiddenIds, *, held: Collection[str] | None = None
) -> pd.DataFrame:
    """Return the table of answers without ids in its texts.

    Args:
        table: with `worker_id`, `text`, `clean_text` and `edits`.
        task: which fields have fixed options.
        ids: of the campaign's workers.
        held: `held_columns` of a larger table, if this is a part.
    """
    workers = table["worker_id"].tolist()
    held = held_columns(table) if held is None else held
    fixed = fixed_options(task)
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
        cells = column.tolist()
        if name == _SENT:
            hidden = [ids.sent(cell, worker) for cell, worker in zip(cells, workers, strict=True)]
        else:
            hidden = [
                hidden_cell(cell, worker, ids, name=name, fixed=fixed, is_held=name in held)
                for cell, worker in zip(cells, workers, strict=True)
            ]
        # Most columns hold no id, and a second copy of all texts takes much memory.
        if hidden != cells:
            made[name] = pd.Series(hidden, index=column.index, dtype=column.dtype)
    private = table.assign(**made)
    is_changed = private["text"] != table["text"]
    is_changed |= private["clean_text"] != table["clean_text"]
    edits = table["edits"].copy()
    for answer_id in table.index[is_changed]:
        before, after = private["text"][answer_id], private["clean_text"][answer_id]
        edits[answer_id] = (_edit(before, after),) if before != after else ()
    return private.assign(edits=edits)


def fixed_options(task: Task) -> dict[str, frozenset[str]]:
    """Return the options of fields that offer nothing else, by column."""
    return {
        value_column(field): frozenset(option.value for option in field.options)
        for field in task.fields
        if field.options and not field.is_open
    }


def hidden_cell(
    cell: Any,  # noqa: ANN401 - a cell of any column of text
    worker: str,
    ids: HiddenIds,
    *,
    name: str,
    fixed: Mapping[str, frozenset[str]],
    is_held: bool,
) -> Any:  # noqa: ANN401
    """Return a cell of an answer without ids; a tuple part by part.

    Args:
        cell: a text, or a tuple of texts.
        worker: of its row.
        ids: of the campaign.
        name: of its column.
        fixed: `fixed_options` of the task.
        is_held: whether all cells of the column hold their row's id.
    """
    if isinstance(cell, tuple):
        return tuple(
            hidden_cell(part, worker, ids, name=name, fixed=fixed, is_held=is_held) for part in cell
        )
    if not isinstance(cell, str) or not cell:
        return cell
    if not is_held and cell in fixed.get(name, ()):
        return ids.everywhere(cell)
    return ids.of_worker(cell, worker, is_held=is_held or is_id(name, cell, worker))


def hide_assignments(table: pd.DataFrame, ids: HiddenIds) -> pd.DataFrame:
    """Return the table of answers with pseudonyms in the ids of its assignments.

    Args:
        table: its index has the ids of answers; perhaps with `assignment_id`.
        ids: of the campaign.
    """
    index = pd.Index([ids.answer(name) for name in table.index], dtype="str", name=table.index.name)
    if "assignment_id" in table:
        assigned = [ids.assignment(name) for name in table["assignment_id"]]
        column = pd.Series(assigned, index=table.index, dtype="str")
        table = table.assign(assignment_id=column)
    return table.set_axis(index, axis=0)


def hide_in_items(items: Sequence[Item], table: pd.DataFrame, ids: HiddenIds) -> list[Item]:
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
        name for name in names if ids.holds_own([cells.get(name, "") for cells in columns], workers)
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
                    option, value=ids.everywhere(option.value), label=ids.everywhere(option.label)
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


_SENT = "also_sent"
_TEXTS = frozenset({"text", "clean_text", _SENT, "rejected_because"})
_OWN = "\0item_id"


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
