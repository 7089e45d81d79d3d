"""Tables of the store, read as columns, without one object per row.

The table of answers (`piecework.domain.tables`) has its rows in the order in which they
were stored, so that later rows can be read from where an earlier table ends. The other
tables are read only by a report; worker ids are in the clear there.
"""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from piecework.domain.field import Field
from piecework.domain.late_modules import pd
from piecework.domain.tables import (
    COLLECTED,
    HIT_VALUE,
    ITEM_VALUE,
    ORDER,
    build,
    is_canned,
    task_columns,
)
from piecework.domain.task import Task
from piecework.store import archive
from piecework.store.archive import FORGOTTEN
from piecework.store.database import Store, from_text, read_columns
from piecework.store.hits import ROUND

if TYPE_CHECKING:
    from datetime import datetime

    from pandas.api.typing import NaTType

_AT_ONCE = 20_000
"""Number of rows held as Python values at a time."""

_ROWS = f"""
SELECT number, answer_id, answers.assignment_id, hit_id, worker_id,
    answers.item_id, batch, {ROUND}, position, accepted_at, submitted_at,
    answers.fields, answers.problems, answers.also_sent
FROM answers JOIN assignments USING (assignment_id) JOIN hits USING (hit_id)
WHERE number > ? AND number <= ? AND answers.fields <> '{FORGOTTEN}'
ORDER BY number
"""

_VERDICTS = """
SELECT subject_id, verdict, CASE verdict WHEN 'drop' THEN because ELSE '' END
FROM decisions WHERE decision_id IN (
    SELECT max(decision_id) FROM decisions
    WHERE subject_kind = 'answer' GROUP BY subject_id
) ORDER BY subject_id
"""

_LARGEST = 2**63 - 1
_FIELDS, _PROBLEMS, _ALSO_SENT = 11, 12, 13
"""Where `_ROWS` has these columns; the first two are empty in archived answers."""


def read_answers(
    store: Store, task: Task, *, after: int = 0, until: int = _LARGEST
) -> "pd.DataFrame":
    """Return the columns `COLLECTED` and those of the task, one row per answer.

    Args:
        store: the campaign's memory.
        task: says which fields there are.
        after: the last number of a table; only answers stored later are read.
        until: the last number to read.

    Returns:
        Rows in the order of storing; all answers of an assignment, or none. Those whose
        content was removed at the worker's request are left out.

    Raises:
        StoreError: a file of the archive is missing or was changed.
    """
    parts = [*read_in_parts(store, task, after=after, until=until)]
    return pd.concat(parts) if len(parts) > 1 else parts[0]


def read_in_parts(
    store: Store, task: Task, *, after: int = 0, until: int = _LARGEST
) -> "Iterator[pd.DataFrame]":
    """Yield the table of `read_answers` in parts of about 20,000 rows, one at least.

    Raises:
        StoreError: as `read_answers`.
    """
    with store.db.atomic():
        chunks = store.db.chunks(_ROWS, [after, until], size=_AT_ONCE)
        for rows in _in_parts(chunks):
            yield _table(_filled(store, rows), task)


def last_numbers(store: Store) -> tuple[int, int]:
    """Return the numbers of the last answer and of the last in the archive; 0 without."""
    last, archived = store.db.execute(
        "SELECT coalesce(max(number), 0), coalesce((SELECT through FROM archive_parts "
        "ORDER BY part DESC LIMIT 1), 0) FROM answers"
    ).fetchone()
    return int(last), int(archived)


def read_verdicts(store: Store) -> "pd.DataFrame":
    """Return the decision in force about each decided answer; index `answer_id`.

    Returns:
        Columns `verdict` and `because`, both str; `because` is "" if the answer is kept.
    """
    with store.db.atomic():
        # In parts: one tuple and three texts for each answer take as much as all answers.
        parts = [_verdicts(rows) for rows in store.db.chunks(_VERDICTS, size=_AT_ONCE)]
    return pd.concat(parts) if parts else _verdicts([])


def _verdicts(rows: Sequence[tuple[str, str, str]]) -> "pd.DataFrame":
    index = pd.Index([row[0] for row in rows], dtype="str", name="answer_id")
    return pd.DataFrame(
        {
            "verdict": pd.Series([row[1] for row in rows], index=index, dtype="str"),
            "because": pd.Series([row[2] for row in rows], index=index, dtype="str"),
        },
        index=index,
    )


def _filled(store: Store, rows: Sequence[tuple[Any, ...]]) -> Sequence[tuple[Any, ...]]:
    """Return rows with the content that is in the archive."""
    archived = archive.contents(store, [row[0] for row in rows if not row[_FIELDS]])
    if not archived:
        return rows
    return [
        row if row[_FIELDS] else (*row[:_FIELDS], *archived[row[0]], *row[_ALSO_SENT:])
        for row in rows
    ]


def _in_parts(chunks: Iterable[list[tuple[Any, ...]]]) -> Iterator[list[tuple[Any, ...]]]:
    """Yield rows in lists of about the same size, each with whole assignments."""
    rows: list[tuple[Any, ...]] = []
    for more in chunks:
        # The answers of an assignment are stored together, in one transaction.
        while rows and more and more[0][2] == rows[-1][2]:
            rows.append(more.pop(0))
        if rows and more:
            yield rows
        rows = more or rows
    yield rows


def _table(rows: Sequence[tuple[Any, ...]], task: Task) -> "pd.DataFrame":
    sizes: dict[str, int] = defaultdict(int)
    page_ms: dict[str, float] = defaultdict(float)
    documents = [json.loads(row[_FIELDS]) for row in rows]
    for row, document in zip(rows, documents, strict=True):
        assignment_id, shown_ms = row[2], document["shown_ms"]
        sizes[assignment_id] = max(sizes[assignment_id], row[8])
        page_ms[assignment_id] += math.nan if shown_ms is None else shown_ms
    moments = _Moments()
    columns = {**COLLECTED, **task_columns(task)}
    cells: dict[str, list[object]] = {name: [] for name in columns}
    for row, document in zip(rows, documents, strict=True):
        assignment_id, values = row[2], document["values"]
        n_items = sizes[assignment_id]
        accepted_at, submitted_at = moments[row[9]], moments[row[10]]
        worked = (submitted_at - accepted_at).total_seconds()
        text = values.get(task.main_text, "")
        text = text if isinstance(text, str) else ""
        cells["assignment_id"].append(assignment_id)
        cells["hit_id"].append(row[3])
        cells["worker_id"].append(row[4])
        cells["item_id"].append(row[5])
        cells["batch"].append(row[6])
        cells["round"].append(row[7])
        cells["position"].append(row[8])
        cells["place"].append(document.get("place") or row[8])
        cells["n_items"].append(n_items)
        cells["text"].append(text)
        cells["is_canned"].append(is_canned(text, task.canned_text))
        cells["shown_seconds"].append(_number(document["shown_ms"]) / 1000)
        cells["page_seconds"].append(page_ms[assignment_id] / 1000 / n_items)
        cells["market_seconds"].append(worked / n_items)
        cells["accepted_at"].append(accepted_at)
        cells["submitted_at"].append(submitted_at)
        for name in ("pastes", "keystrokes", "focus_losses"):
            cells[name].append(_number(document[name]))
        cells["played_part"].append(_number(document.get("played_part")) / 1000)
        cells["typing"].append(document.get("typing", {}).get(task.main_text, ""))
        cells["problems"].append(tuple(json.loads(row[_PROBLEMS])))
        cells["also_sent"].append(row[_ALSO_SENT])
        _add_values(cells, document, task)
    return build([row[1] for row in rows], cells, columns)


def _add_values(cells: dict[str, list[object]], document: dict[str, Any], task: Task) -> None:
    values, of_hit = document["values"], document.get("hit_values", {})
    for field in task.item_fields:
        cells[ITEM_VALUE + field.name].append(_value(field, values.get(field.name)))
    for field in task.hit_fields:
        cells[HIT_VALUE + field.name].append(_value(field, of_hit.get(field.name)))
    orders = document.get("orders", {})
    for name in task.shuffled_names:
        cells[ORDER + name].append(tuple(orders.get(name, ())))


def _value(field: Field, value: object) -> str | float | tuple[str, ...]:
    if field.kind == "number":
        return value if isinstance(value, float) else math.nan
    if field.kind == "choices":
        if isinstance(value, list):
            return tuple(value)
        return (value,) if isinstance(value, str) and value else ()
    if isinstance(value, list):
        return "|".join(value)
    return value if isinstance(value, str) else ""


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


class _Moments(dict[str, Any]):
    """Times by their text: the answers of an assignment share theirs.

    Imported results may lack the times when work began or ended: NaT.
    """

    def __missing__(self, text: str) -> "datetime | NaTType":
        moment = self[text] = from_text(text) if text else pd.NaT
        return moment


Columns = dict[str, list[Any]]
"""Cells by column: text, numbers, `None`; times as ISO 8601 text."""

_ROUNDS = f"""
SELECT batch, round, hits, assignments_wanted, posted_at,
    max(submitted) AS last_submitted_at,
    count(submitted) AS assignments_submitted, max(settled) AS settled_at
FROM (
    SELECT batch, round, count(*) AS hits, sum(max_assignments) AS assignments_wanted,
        min(posted_at) AS posted_at
    FROM hits GROUP BY batch, round
) AS posted LEFT JOIN (
    SELECT hits.batch, {ROUND} AS round, submitted_at AS submitted,
        decided_at AS settled
    FROM assignments JOIN hits USING (hit_id) LEFT JOIN (
        SELECT subject_id, decided_at FROM decisions WHERE decision_id IN (
            SELECT max(decision_id) FROM decisions
            WHERE subject_kind = 'assignment' GROUP BY subject_id)
    ) AS settlings ON subject_id = assignment_id
) AS sent USING (batch, round)
GROUP BY batch, round, hits, assignments_wanted, posted_at ORDER BY batch, round
"""

_DECISIONS = """
SELECT subject_kind, subject_id, decisions.verdict, decided_by, decided_at, because,
    coalesce(assignments.outcome, '') AS outcome
FROM (
    SELECT max(decision_id) AS latest, min(decision_id) AS first FROM decisions
    GROUP BY subject_kind, subject_id
) AS ends
JOIN decisions ON decision_id = latest
LEFT JOIN assignments ON subject_kind = 'assignment' AND assignment_id = subject_id
ORDER BY first
"""


def read_rounds(store: Store) -> Columns:
    """Return a row per batch and round: what was posted, what came, and when."""
    return read_columns(store, _ROUNDS)


def read_decisions(store: Store) -> Columns:
    """Return a row per subject: its decision in force, and an assignment's outcome.

    The rows are in the order in which the subjects were first decided.
    """
    return read_columns(store, _DECISIONS)


def read_findings(store: Store) -> Columns:
    """Return a row per stored finding, by subject."""
    return read_columns(
        store,
        "SELECT heuristic, version, subject_kind, subject_id, suspicion, flag, "
        "evidence FROM findings ORDER BY subject_kind, subject_id, heuristic",
    )


def read_assignments(store: Store) -> Columns:
    """Return a row per assignment, in the order of submission."""
    return read_columns(
        store,
        "SELECT assignment_id, worker_id, accepted_at, submitted_at, verdict, outcome "
        "FROM assignments ORDER BY submitted_at, assignment_id",
    )


def read_work_by_market(store: Store) -> Columns:
    """Return a row per assignment of a HIT with a market: who did it, and when."""
    return read_columns(
        store,
        "SELECT market, assignment_id, worker_id, accepted_at, submitted_at "
        "FROM assignments JOIN hits USING (hit_id) WHERE market <> '' "
        "ORDER BY submitted_at, assignment_id",
    )


def read_rewards(store: Store) -> Columns:
    """Return a row per assignment: what was offered for it, its fee, and how long it took."""
    return read_columns(
        store,
        "SELECT batch, assignment_id, worker_id, accepted_at, submitted_at, "
        "reward_cents, fee_cents "
        "FROM assignments JOIN hits USING (hit_id) "
        "ORDER BY submitted_at, assignment_id",
    )
