"""The table of answers of a campaign, without the workers' ids."""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping
from operator import attrgetter

import pandas as pd

from domain import tables
from domain.assignment import Answer, FieldValue
from domain.ids import AssignmentId
from domain.tables import HIT_VALUE, ITEM_VALUE, ORDER
from domain.task import Field, Task
from domain.verdicts import Decision, SubjectKind
from flows.steps.state import State, counted
from flows.workplace import Workplace
from postprocess.answers import answer_columns, with_edits
from postprocess.pseudonyms import pseudonym
from postprocess.splits import split_of
from store import edits

Subject = tuple[SubjectKind, str]
Cells = Mapping[str, object]
_NOT_YET = "not decided yet"


def answers_table(
    place: Workplace, state: State, *, decided: Collection[Subject] | None = None
) -> pd.DataFrame:
    """All answers in the order of their ids, as `postprocess.answers` describes them.

    An answer without a decision is provisional, and not rejected.

    Args:
        place: the campaign.
        state: with its decisions, proposed ones too if they are to be shown.
        decided: subjects whose decision is final; all that have one, if not given.
    """
    task = place.campaign.task
    answers = sorted(state.answers.values(), key=attrgetter("answer_id"))
    _, surplus = counted(state, place.campaign.posting.assignments)
    final = state.decisions if decided is None else decided
    of_assignment = _assignments(place, state)
    urls = {item.item_id: item.columns.get("url", "") for item in place.campaign.items}
    rows = [
        {
            **of_assignment[answer.assignment_id],
            **_of_answer(answer, task),
            **_verdict(answer, state, final),
            "is_surplus": answer.answer_id in surplus,
            "url": urls[answer.item_id],
            "split": split_of(answer.item_id),
        }
        for answer in answers
    ]
    columns = answer_columns(task)
    del columns["clean_text"], columns["edits"]
    cells = {name: [row[name] for row in rows] for name in columns}
    ids = [str(answer.answer_id) for answer in answers]
    return with_edits(
        tables.build(ids, cells, columns),
        {str(name): made for name, made in edits.every(place.store).items()},
    )


def decided_answers(table: pd.DataFrame, state: State) -> pd.DataFrame:
    """The rows about which there is a decision, final or proposed."""
    ids = {subject for kind, subject in state.decisions if kind == "answer"}
    return table[table.index.isin(ids)]


def _assignments(place: Workplace, state: State) -> dict[AssignmentId, Cells]:
    """What all answers of an assignment share, by assignment."""
    sizes: defaultdict[AssignmentId, int] = defaultdict(int)
    shown_ms: defaultdict[AssignmentId, float] = defaultdict(float)
    for answer in state.answers.values():
        known = answer.assignment_id
        sizes[known] = max(sizes[known], answer.position)
        shown_ms[known] += _number(answer.shown_ms)
    cells: dict[AssignmentId, Cells] = {}
    for known, n_items in sizes.items():
        assignment = state.assignments[known]
        hit = state.posted[assignment.hit_id]
        worked = assignment.submitted_at - assignment.accepted_at
        cells[known] = {
            "assignment_id": known,
            "hit_id": assignment.hit_id,
            "batch": hit.batch,
            "round": hit.round,
            "n_items": n_items,
            "page_seconds": shown_ms[known] / 1000 / n_items,
            "market_seconds": worked.total_seconds() / n_items,
            "accepted_at": assignment.accepted_at,
            "submitted_at": assignment.submitted_at,
            "worker": pseudonym(assignment.worker_id, place.pseudonym_key),
        }
    return cells


def _of_answer(answer: Answer, task: Task) -> Cells:
    text = str(answer.values.get(task.main_text, ""))
    return {
        "item_id": answer.item_id,
        "position": answer.position,
        "place": answer.place or answer.position,
        "text": text,
        "is_canned": tables.is_canned(text, task.canned_text),
        "shown_seconds": _number(answer.shown_ms) / 1000,
        "pastes": _number(answer.pastes),
        "keystrokes": _number(answer.keystrokes),
        "focus_losses": _number(answer.focus_losses),
        "problems": answer.problems,
        **{
            ITEM_VALUE + field.name: _value(field, answer.values.get(field.name))
            for field in task.item_fields
        },
        **{
            HIT_VALUE + field.name: _value(field, answer.hit_values.get(field.name))
            for field in task.hit_fields
        },
        **{
            ORDER + name: answer.orders.get(name, ())
            for name in tables.shuffled_names(task)
        },
    }


def _value(field: Field, value: FieldValue | None) -> FieldValue:
    if field.kind == "choices":
        return value if isinstance(value, tuple) else ()
    if field.kind == "number":
        return value if isinstance(value, float) else math.nan
    return value if isinstance(value, str) else ""


def _number(value: int | None) -> float:
    return math.nan if value is None else float(value)


def _verdict(answer: Answer, state: State, final: Collection[Subject]) -> Cells:
    subject: Subject = ("answer", str(answer.answer_id))
    decision: Decision | None = state.decisions.get(subject)
    is_final = decision is not None and subject in final
    is_rejected = decision is not None and decision.verdict == "drop"
    because = decision.because if decision and is_rejected else ""
    return {
        "is_rejected": is_rejected,
        "is_provisional": not is_final,
        "rejected_because": because
        if is_final or not is_rejected
        else f"{_NOT_YET}: {because}",
    }
