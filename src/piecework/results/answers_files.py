"""All answers of a campaign in one file: Parquet, or MTurk's batch results as CSV.

`piecework.results.large` reads the Parquet file. Its columns are those of the table of answers
(`piecework.domain.tables`), unlike a dataset, which has VizWiz's or the task's columns.
It has every answer, including dropped ones.

Scripts written for MTurk's requester site read the columns of batch results: `Input.*`
from the items file, `Answer.*` as the page sent it, one row per assignment. Columns that
only MTurk could fill are empty.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.assignment import Assignment, fields_of
from piecework.domain.errors import ConfigError
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import HitId, ItemId
from piecework.domain.tables import INDEX, value_column
from piecework.domain.task import Task
from piecework.engine.judge import proposed_verdicts
from piecework.hit_templates.answers import repeats
from piecework.hit_templates.own_html.fields import is_added
from piecework.postprocess.datasets.file_table import (
    NUMBER,
    TEXT,
    TEXTS,
    TIME,
    TRUTH,
    WHOLE,
    FileTable,
    as_json,
    to_csv,
    write_parquet,
)
from piecework.postprocess.hidden_ids import HiddenIds, hide_assignments, is_id
from piecework.results.export import dataset_facts
from piecework.results.table import answers_table, hidden_ids
from piecework.store import assignments, decisions, hits
from piecework.store.files import write_whole

_TYPES = {
    "int64": WHOLE,
    "float64": NUMBER,
    "bool": TRUTH,
    "datetime64[us, UTC]": TIME,
    "object": TEXTS,
}


def write_answers(opened: OpenedCampaign, path: Path) -> int:
    """Write the table of answers; return the number of answers.

    `edits` are JSON; `worker` is a keyed hash, `answer_id` and `assignment_id` have
    one. Workers' answers about themselves are left out: the cells of personal fields
    are empty.
    """
    proposed = proposed_verdicts(opened)
    warning = dataset_facts(opened, provisional=len(proposed)).warning
    table = hide_assignments(answers_table(opened, proposed=proposed), hidden_ids(opened))
    table = table.assign(edits=as_json(table["edits"]))
    for field in opened.campaign.task.fields:
        if field.is_personal:
            name = value_column(field)
            table[name] = _emptied(table[name])
    write_table(table, path, warning=warning)
    return len(table)


def write_table(table: pd.DataFrame, path: Path, *, warning: str = "") -> None:
    """Write a table of answers as a file for `piecework.results.large`.

    Args:
        table: columns of `piecework.domain.tables`.
        path: the file.
        warning: about all of its answers.
    """
    cells = table.reset_index()
    types = {INDEX: TEXT} | {str(name): _TYPES.get(str(table[name].dtype), TEXT) for name in table}
    file_table = FileTable(cells=cells, types=types)
    write_whole(path, lambda file: write_parquet(file_table, file, warning=warning))


def _emptied(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """The column with empty cells: NaN, an empty tuple or text, by its dtype."""
    nothing = {"float64": float("nan"), "object": ()}.get(str(column.dtype), "")
    cells = [nothing] * len(column)
    return pd.Series(cells, index=column.index, dtype=column.dtype)


_COLUMNS = (
    *("HITId", "HITTypeId", "Title", "Description", "Keywords", "Reward"),
    *("CreationTime", "MaxAssignments", "RequesterAnnotation"),
    *("AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds", "Expiration"),
    *("NumberOfSimilarHITs", "LifetimeInSeconds", "AssignmentId", "WorkerId"),
    *("AssignmentStatus", "AcceptTime", "SubmitTime", "AutoApprovalTime"),
    *("ApprovalTime", "RejectionTime", "RequesterFeedback", "WorkTimeInSeconds"),
    *("LifetimeApprovalRate", "Last30DaysApprovalRate", "Last7DaysApprovalRate"),
)
_LAST = ("Approve", "Reject")
_STATUS = {"approve": "Approved", "reject": "Rejected"}
Row = Mapping[str, str]


def write_batch_results(opened: OpenedCampaign, path: Path) -> int:
    """Write all assignments as MTurk's batch results; return how many there are.

    Worker ids are keyed hashes, as in a dataset. Answers to personal fields are left
    out.

    Raises:
        ConfigError: the answers were imported, so no page sent them.
    """
    if opened.is_imported:
        raise ConfigError(
            ["the campaign's answers were imported: they were not sent by its page"],
            next_step="use the imported files, which have their own columns",
        )
    ids = hidden_ids(opened)
    rows = [
        {name: _without_ids(name, cell, worker_id, ids) for name, cell in row.items()}
        for worker_id, row in _rows_of_batch(opened)
    ]
    names = dict.fromkeys(name for row in rows for name in row)
    inputs = [name for name in names if name.startswith("Input.")]
    sent = [name for name in names if name.startswith("Answer.")]
    header = (*_COLUMNS, *inputs, *sent, *_LAST)
    cells = {name: [row.get(name, "") for row in rows] for name in header}
    write_whole(path, lambda file: file.write(to_csv(cells)))
    return len(rows)


def _without_ids(name: str, cell: str, worker_id: str, ids: HiddenIds) -> str:
    if name.startswith("Input."):
        return ids.of_worker(ids.named(name, cell), worker_id)
    if name.startswith("Answer."):
        return ids.of_worker(cell, worker_id, is_held=is_id(name, cell, worker_id))
    return cell


def _rows_of_batch(opened: OpenedCampaign) -> Iterator[tuple[str, Row]]:
    """Yield each assignment's worker and cells."""
    by_id = {hit.hit_id: hit for hit in hits.load_hits(opened.store) if hit.hit_id}
    verdicts = {
        decision.subject_id: decision
        for decision in decisions.load_decisions(opened.store, "assignment")
    }
    documents = assignments.documents(opened.store)
    items = {item.item_id: item.columns for item in opened.campaign.items}
    for assignment in assignments.load_assignments(opened.store):
        decision = verdicts.get(assignment.assignment_id)
        hit = by_id[HitId(assignment.hit_id)]
        status = _STATUS.get(decision.verdict, "") if decision else ""
        yield (
            assignment.worker_id,
            {
                **_of_hit(opened, hit),
                **_of_assignment(opened, assignment),
                "AssignmentStatus": status or "Submitted",
                "RequesterFeedback": decision.because if decision and status == "Rejected" else "",
                **_inputs(hit, items, is_numbered=opened.campaign.posting.items_per_hit > 1),
                **_sent(
                    opened.campaign.task,
                    documents[assignment.assignment_id],
                    hit.item_ids[0],
                    assignment.platform_ids,
                ),
            },
        )


def _of_hit(opened: OpenedCampaign, hit: PlannedHit) -> Row:
    campaign = opened.campaign
    posting = campaign.posting
    return {
        "HITId": str(hit.hit_id),
        "HITTypeId": str(hit.hit_type_id or ""),
        "Title": campaign.title,
        "Description": campaign.hit_description,
        "Keywords": ", ".join(campaign.keywords),
        "Reward": campaign.rewards.shown(hit.reward_cents),
        "CreationTime": _moment(hit.posted_at),
        "MaxAssignments": str(hit.max_assignments),
        "RequesterAnnotation": hit.hit_key,
        "AssignmentDurationInSeconds": str(posting.assignment_duration_seconds),
        "AutoApprovalDelayInSeconds": str(posting.auto_approval_delay_seconds),
        "LifetimeInSeconds": str(posting.lifetime_seconds),
    }


def _of_assignment(opened: OpenedCampaign, assignment: Assignment) -> Row:
    accepted, submitted = assignment.accepted_at, assignment.submitted_at
    delay = timedelta(seconds=opened.campaign.posting.auto_approval_delay_seconds)
    return {
        "AssignmentId": assignment.assignment_id,
        "WorkerId": opened.pseudonym(assignment.worker_id),
        "AcceptTime": _moment(accepted),
        "SubmitTime": _moment(submitted),
        "AutoApprovalTime": _moment(submitted + delay),
        "WorkTimeInSeconds": str(round((submitted - accepted).total_seconds())),
    }


def _inputs(hit: PlannedHit, items: Mapping[ItemId, Row], *, is_numbered: bool) -> Row:
    """The items file's columns, numbered like the answers if there are several."""
    return {
        f"Input.{name}{f'.{position}' if is_numbered else ''}": cell
        for position, item_id in enumerate(hit.item_ids, start=1)
        for name, cell in items.get(item_id, {}).items()
    }


def _sent(task: Task, document: str, item_id: ItemId, platform: Mapping[str, str]) -> Row:
    sent = {
        name: cell
        for name, cell in fields_of(document).items()
        if not repeats(name, cell, platform)
    }
    if task.html_page is not None:
        # The page's own fields; what piecework's script added is left out.
        return {
            f"Answer.{name}": cell
            for name, cell in sent.items()
            if not is_added(name, cell, item_id)
        }
    personal = {f"hit.{field.name}" for field in task.fields if field.is_personal}
    return {f"Answer.{name}": cell for name, cell in sent.items() if name not in personal}


def _moment(at: datetime | None) -> str:
    """Format a time as MTurk did, in UTC."""
    return at.strftime("%a %b %d %H:%M:%S UTC %Y") if at else ""
