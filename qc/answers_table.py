"""The table of answers (`domain.tables`) from answers and assignments in memory."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from domain.assignment import Answer, Assignment, FieldValue
from domain.ids import AssignmentId, HitId
from domain.tables import (
    COLLECTED,
    HIT_VALUE,
    ITEM_VALUE,
    ORDER,
    build,
    is_canned,
    shuffled_names,
    task_columns,
)
from domain.task import Field, Task

COLUMNS = {name: column for name, column in COLLECTED.items() if name != "round"}
"""What answers and assignments know; the round is known to the planned HITs alone."""


def of_answers(
    answers: Iterable[Answer],
    assignments: Mapping[AssignmentId, Assignment],
    *,
    batches: Mapping[HitId, int],
    task: Task,
) -> pd.DataFrame:
    """The table of `answers`, in the order of their ids; empty if there are none.

    It has the columns `COLLECTED`, without `round`, and those of the task.

    Raises:
        KeyError: an answer's assignment, or that one's HIT, is not in the mappings.
    """
    ordered = sorted(answers, key=lambda answer: answer.answer_id)
    hits = [assignments[answer.assignment_id] for answer in ordered]
    texts = [_text(answer.values.get(task.main_text)) for answer in ordered]
    cells: dict[str, Sequence[object]] = {
        "assignment_id": [str(answer.assignment_id) for answer in ordered],
        "hit_id": [str(assignment.hit_id) for assignment in hits],
        "worker_id": [str(assignment.worker_id) for assignment in hits],
        "item_id": [str(answer.item_id) for answer in ordered],
        "batch": [batches[assignment.hit_id] for assignment in hits],
        "position": [answer.position for answer in ordered],
        "place": [answer.place or answer.position for answer in ordered],
        "text": texts,
        "is_canned": [is_canned(text, task.canned_text) for text in texts],
        "accepted_at": [assignment.accepted_at for assignment in hits],
        "submitted_at": [assignment.submitted_at for assignment in hits],
        "pastes": [_number(answer.pastes) for answer in ordered],
        "keystrokes": [_number(answer.keystrokes) for answer in ordered],
        "focus_losses": [_number(answer.focus_losses) for answer in ordered],
        "problems": [answer.problems for answer in ordered],
    }
    cells |= _times(ordered, hits)
    cells |= {
        ITEM_VALUE + field.name: [_value(field, answer.values) for answer in ordered]
        for field in task.item_fields
    }
    cells |= {
        HIT_VALUE + field.name: [_value(field, answer.hit_values) for answer in ordered]
        for field in task.hit_fields
    }
    cells |= {
        ORDER + name: [answer.orders.get(name, ()) for answer in ordered]
        for name in shuffled_names(task)
    }
    answer_ids = [str(answer.answer_id) for answer in ordered]
    return build(answer_ids, cells, COLUMNS | task_columns(task))


def _times(
    ordered: Sequence[Answer], hits: Sequence[Assignment]
) -> dict[str, Sequence[object]]:
    """Items of the HIT, and the three times, which are divided by them."""
    shown = pd.DataFrame(
        {
            "assignment": [str(answer.assignment_id) for answer in ordered],
            "position": [answer.position for answer in ordered],
            "ms": [_number(answer.shown_ms) for answer in ordered],
        }
    )
    by_assignment = shown.groupby("assignment")
    n_items = by_assignment["position"].transform("max").to_numpy()
    page_ms = by_assignment["ms"].transform(lambda ms: ms.sum(skipna=False)).to_numpy()
    worked = [(hit.submitted_at - hit.accepted_at).total_seconds() for hit in hits]
    return {
        "n_items": n_items,
        "shown_seconds": shown["ms"].to_numpy() / 1000,
        "page_seconds": page_ms / 1000 / n_items,
        "market_seconds": np.array(worked, dtype="float64") / n_items,
    }


def _value(field: Field, values: Mapping[str, FieldValue]) -> FieldValue:
    value = values.get(field.name)
    if field.kind == "number":
        return value if isinstance(value, float) else math.nan
    if field.kind == "choices":
        if isinstance(value, tuple):
            return value
        return (value,) if isinstance(value, str) and value else ()
    return "|".join(value) if isinstance(value, tuple) else _text(value)


def _text(value: FieldValue | None) -> str:
    return value if isinstance(value, str) else ""


def _number(count: int | None) -> float:
    return math.nan if count is None else float(count)
