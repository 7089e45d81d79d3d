"""Export a campaign's answers, texts and report from its store.

`piecework.results.large` reads the Parquet file. Its columns are those of the table of answers
(`piecework.domain.tables`), unlike a dataset, which has VizWiz's or the task's columns.
It has every answer, including dropped ones.

Scripts written for MTurk's requester site read the columns of batch results: `Input.*`
from the items file, `Answer.*` as the page sent it, one row per assignment. Columns that
only MTurk could fill are empty.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import escape

from piecework.campaign.opened import OpenedCampaign
from piecework.campaign.provenance import code_version
from piecework.domain.assignment import Assignment, fields_of
from piecework.domain.campaign import Campaign
from piecework.domain.dataset import Shares
from piecework.domain.errors import ConfigError
from piecework.domain.field import MERGED
from piecework.domain.hit import Item, PlannedHit
from piecework.domain.ids import HitId, ItemId
from piecework.domain.tables import INDEX, give_back, value_column
from piecework.domain.task import Task
from piecework.domain.text import plural
from piecework.engine.judge import proposed_verdicts
from piecework.engine.progress import read_progress
from piecework.hit_templates.answers import repeats
from piecework.hit_templates.own_html.numbered import is_added
from piecework.hit_templates.own_html.page import labels_offered, marked_text
from piecework.postprocess.answers import FOR_HEURISTICS
from piecework.postprocess.datasets.facts import DatasetFacts
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
from piecework.postprocess.datasets.files import PICTURES, dataset_files
from piecework.postprocess.datasets.layouts import sent_columns
from piecework.postprocess.hidden_ids import (
    HiddenIds,
    held_columns,
    hide_assignments,
    hide_in_items,
    hide_in_task,
    is_id,
)
from piecework.report.formatting import in_markdown
from piecework.report.model import report_model
from piecework.report.page import render_markdown, render_report
from piecework.results import releases
from piecework.results.comparing.page import write_other_rules
from piecework.results.dataset_folder import replacing
from piecework.results.pictures import copy_pictures, local_pictures, picture_sizes
from piecework.results.releases import deliver
from piecework.results.report_facts import report_facts
from piecework.results.table import answers_table, hidden_ids, split_of_items
from piecework.store import assignments, decisions, hits, results
from piecework.store.files import write_whole, write_whole_text

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
    campaign, ids = opened.campaign, hidden_ids(opened)
    table = answers_table(opened, proposed=proposed)
    # Heuristics may judge the file (`data assess`).
    typing = opened.answers()[FOR_HEURISTICS].reindex(table.index)
    place = int(table.columns.get_loc("problems"))  # type: ignore[arg-type]
    table.insert(place, FOR_HEURISTICS, typing)
    table = hide_assignments(table, ids)
    hidden = hide_in_items(campaign.items, opened.answers(), ids)
    if hidden != list(campaign.items):
        table = _with_hidden(table, campaign.items, hidden, campaign.dataset.shares)
    table = table.assign(edits=as_json(table["edits"]))
    for field in campaign.task.fields:
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
_INPUT, _ANSWER, _FEEDBACK = "Input.", "Answer.", "RequesterFeedback"
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
    rows = _without_ids(list(_rows_of_batch(opened)), hidden_ids(opened))
    names = dict.fromkeys(name for row in rows for name in row)
    inputs = [name for name in names if name.startswith(_INPUT)]
    sent = [name for name in names if name.startswith(_ANSWER)]
    header = (*_COLUMNS, *inputs, *sent, *_LAST)
    cells = {name: [row.get(name, "") for row in rows] for name in header}
    write_whole(path, lambda file: file.write(to_csv(cells)))
    return len(rows)


def _without_ids(rows: Sequence[tuple[str, Row]], ids: HiddenIds) -> list[Row]:
    """Return rows without ids in items, answers and feedback, in names and in cells.

    Args:
        rows: the worker and the cells of each assignment.
        ids: of the campaign.
    """
    workers = [worker_id for worker_id, _ in rows]
    names = dict.fromkeys(name for _, row in rows for name in row)
    held = {
        name
        for name in names
        if name.startswith((_INPUT, _ANSWER))
        and ids.holds_own([row.get(name, "") for _, row in rows], workers)
    }

    def shown(name: str, cell: str, worker_id: str) -> tuple[str, str]:
        if not name.startswith((_INPUT, _ANSWER, _FEEDBACK)):
            return name, cell
        is_own = name in held or is_id(name, cell, worker_id)
        cell = ids.named(name, cell) if name.startswith(_INPUT) else cell
        return ids.of_worker(name, worker_id), ids.of_worker(cell, worker_id, is_held=is_own)

    return [
        dict(shown(name, cell, worker_id) for name, cell in row.items()) for worker_id, row in rows
    ]


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
        # Empty if the worker asked that their data be deleted.
        document = documents.get(assignment.assignment_id)
        yield (
            assignment.worker_id,
            {
                **_of_hit(opened, hit),
                **_of_assignment(opened, assignment),
                "AssignmentStatus": status or "Submitted",
                _FEEDBACK: decision.because if decision and status == "Rejected" else "",
                **_inputs(opened.campaign, hit, items),
                **(
                    _sent(opened.campaign.task, document, hit.item_ids, assignment.platform_ids)
                    if document is not None
                    else {}
                ),
            },
        )


def _of_hit(opened: OpenedCampaign, hit: PlannedHit) -> Row:
    campaign = opened.campaign
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
        "AssignmentDurationInSeconds": str(hit.duration_seconds),
        "LifetimeInSeconds": str(hit.lifetime_seconds),
    }


def _of_assignment(opened: OpenedCampaign, assignment: Assignment) -> Row:
    accepted, submitted = assignment.accepted_at, assignment.submitted_at
    approved = assignment.auto_approved_at
    delay = "" if approved is None else str(round((approved - submitted).total_seconds()))
    return {
        "AssignmentId": assignment.assignment_id,
        "WorkerId": opened.pseudonym(assignment.worker_id),
        "AcceptTime": _moment(accepted),
        "SubmitTime": _moment(submitted),
        "AutoApprovalTime": _moment(approved),
        "AutoApprovalDelayInSeconds": delay,
        "WorkTimeInSeconds": str(round((submitted - accepted).total_seconds())),
    }


def _inputs(campaign: Campaign, hit: PlannedHit, items: Mapping[ItemId, Row]) -> Row:
    """The items file's columns, numbered like the answers if there are several.

    A requester's own page has its own names for them.
    """
    is_numbered, page = campaign.posting.items_per_hit > 1, campaign.task.html_page
    own = {} if page is None else {(column, n): name for name, column, n in page.numbered}
    return {
        f"{_INPUT}{own.get((name, position), f'{name}.{position}') if is_numbered else name}": cell
        for position, item_id in enumerate(hit.item_ids, start=1)
        for name, cell in items.get(item_id, {}).items()
    }


def _sent(
    task: Task, document: str, item_ids: Sequence[ItemId], platform: Mapping[str, str]
) -> Row:
    sent = {
        name: cell
        for name, cell in fields_of(document).items()
        if not repeats(name, cell, platform)
    }
    if task.html_page is not None:
        # The page's own fields; what piecework's script added is left out.
        return {
            f"{_ANSWER}{name}": cell
            for name, cell in sent.items()
            if not is_added(name, cell, item_ids)
        }
    personal = {f"hit.{field.name}" for field in task.fields if field.is_personal}
    return {f"{_ANSWER}{name}": cell for name, cell in sent.items() if name not in personal}


def _moment(at: datetime | None) -> str:
    """Format a time as MTurk did, in UTC."""
    return at.strftime("%a %b %d %H:%M:%S UTC %Y") if at else ""


_LOG = logging.getLogger(__name__)

REPORT = "report.html"
SUMMARY = "report.md"
DATASET = "dataset"


def export(opened: OpenedCampaign, *, with_other_rules: bool = True) -> Path:
    """Write everything into the campaign's folder; return the report's path.

    Args:
        opened: the campaign.
        with_other_rules: whether the report shows what other rules would have done.

    Raises:
        SinkFailed: a sink failed; everything else is written.
    """
    # One after the other: each holds a table of all answers, and memory fits one.
    facts = _write_dataset(opened)
    give_back()
    if opened.campaign.has_releases:
        _release(opened, facts)
        give_back()
    report = write_report(opened, with_other_rules=with_other_rules)
    if not opened.is_rehearsal:  # simulated answers stay here
        deliver(opened.campaign)
    return report


def _write_dataset(opened: OpenedCampaign) -> DatasetFacts:
    campaign = opened.campaign
    proposed = proposed_verdicts(opened)
    table = answers_table(opened, proposed=proposed, name_of=hidden_ids(opened).answer)
    items: Sequence[Item] = campaign.own_items
    is_shown = ~table["is_provisional"] | table.index.isin(proposed)
    is_shown &= table["item_id"].isin([str(item.item_id) for item in items])
    if not is_shown.all():  # most campaigns show all, and a copy doubles the memory
        table = table[is_shown]
    facts = replace(
        dataset_facts(opened, provisional=len(proposed)),
        sent_columns=sent_columns(table, campaign.task),
    )
    table, hidden, facts = _export_without_ids(opened, table, items, facts)
    facts = replace(facts, **_offered(campaign.task, items, hidden))
    give_back()  # what made the table
    files = dataset_files(table, hidden, facts, campaign.formats)
    folder = campaign.out / DATASET
    pictures: Mapping[str, Item] = {}
    if campaign.dataset.pictures == "files":
        shown_as = {str(item.item_id): shown for item, shown in zip(items, hidden, strict=True)}
        pictures = local_pictures(campaign, shown_as)
    with replacing(folder, {*files, *(f"{PICTURES}/{name}" for name in pictures)}):
        for name, write in files.items():
            write_whole(folder / name, write)
        copy_pictures(campaign, folder / PICTURES, pictures)
    return facts


def _offered(task: Task, items: Sequence[Item], hidden: Sequence[Item]) -> dict[str, Any]:
    """Return the labels and the texts that the page offers to mark, as facts have them.

    A text that holds an id of a worker is left out: in the dataset, offsets would not fit.
    """
    marked = [field for field in task.item_fields if field.regions in MERGED.values()]
    texts = {
        (field.name, str(shown.item_id)): text
        for field in marked
        for item, shown in zip(items, hidden, strict=True)
        if (text := marked_text(task, field, item)) is not None
        and text == marked_text(task, field, shown)
    }
    labels = {field.name: labels_offered(task, field) for field in marked}
    return {"labels": labels, "marked_texts": texts}


def _export_without_ids(
    opened: OpenedCampaign, table: pd.DataFrame, items: Sequence[Item], facts: DatasetFacts
) -> tuple[pd.DataFrame, Sequence[Item], DatasetFacts]:
    """Return the same without ids in items, options and ids of items and answers."""
    ids, answers = hidden_ids(opened), opened.answers()
    hidden = hide_in_items(items, answers, ids)
    facts = replace(facts, task=hide_in_task(facts.task, held_columns(answers), ids))
    table = hide_assignments(table, ids)
    names = {str(old.item_id): str(new.item_id) for old, new in zip(items, hidden, strict=True)}
    if hidden != list(items):
        table = _with_hidden(table, items, hidden, facts.shares)
    facts = replace(
        facts,
        sizes={names.get(name, name): size for name, size in facts.sizes.items()},
        settled={
            (names.get(item, item), field): ids.everywhere(label)
            for (item, field), label in facts.settled.items()
        },
        machine=[
            replace(
                vote,
                item_id=ItemId(names.get(vote.item_id, vote.item_id)),
                value=ids.everywhere(vote.value),
            )
            for vote in facts.machine
        ],
    )
    return table, hidden, facts


def _with_hidden(
    table: pd.DataFrame, items: Sequence[Item], hidden: Sequence[Item], shares: Shares
) -> pd.DataFrame:
    """Return the table of answers about `items` as one about `hidden`."""
    names = {str(old.item_id): str(new.item_id) for old, new in zip(items, hidden, strict=True)}
    item_ids = table["item_id"].map(names).astype("str")
    urls = {str(item.item_id): item.picture for item in hidden}
    return table.assign(
        item_id=item_ids,
        url=item_ids.map(urls).astype("str"),
        # Items are grouped by their pictures and ids, which have changed.
        split=item_ids.map(split_of_items(hidden, shares)).astype("str"),
    )


def _release(opened: OpenedCampaign, facts: DatasetFacts) -> None:
    """Release what changed in the dataset since the last release."""
    out = opened.campaign.out
    made = releases.release(
        out / DATASET,
        out / releases.FOLDER,
        campaign=facts.campaign,
        at=opened.clock.now(),
        unfinished=facts.unfinished,
    )
    if made is not None:
        _LOG.info("made release %d in %s", made.number, made.folder)


def dataset_facts(opened: OpenedCampaign, *, provisional: int) -> DatasetFacts:
    """The facts that the dataset states about itself.

    Args:
        opened: the campaign.
        provisional: how many answers are not decided yet.
    """
    campaign = opened.campaign
    return DatasetFacts(
        campaign=campaign.name,
        purpose=campaign.description,
        task=campaign.task,
        source_hash=opened.used_inputs[-1].inputs.source_hash,
        code_commit=code_version(),
        is_rehearsal=opened.is_rehearsal,
        is_imported=opened.is_imported,
        has_markets=bool(hits.markets(opened.store)),
        is_drawn=opened.is_rehearsal and campaign.has_drawn_truth,
        # How many answers another tool wanted is unknown.
        wanted_per_item="" if opened.is_imported else campaign.posting.asked,
        machine=campaign.machine,
        mixed_in=len(campaign.items) - len(campaign.own_items),
        unfinished=_unfinished(opened, provisional=provisional),
        publication=campaign.dataset,
        sizes=picture_sizes(campaign),
        settled={key: label.value for key, label in results.load_labels(opened.store).items()},
    )


def write_report(opened: OpenedCampaign, *, with_other_rules: bool = True) -> Path:
    """Write the report, and its first page as Markdown; return the report's path."""
    out = opened.campaign.out
    facts = report_facts(opened)
    give_back()  # what made the facts
    if with_other_rules and (others := write_other_rules(opened, report_model(facts))):
        facts = replace(facts, of_sections=(*facts.of_sections, others))
    ids = hidden_ids(opened)
    write_whole_text(out / REPORT, ids.in_page(render_report(facts), escape))
    write_whole_text(out / SUMMARY, ids.in_page(render_markdown(facts), in_markdown))
    return out / REPORT


def _unfinished(opened: OpenedCampaign, *, provisional: int) -> str:
    """What is still missing, as a sentence; "" once all rows so far are answered."""
    progress = read_progress(opened)
    waiting = 0 if progress.source is None else progress.source.waiting
    is_missing = progress.missing or progress.hits_open or provisional or waiting
    if progress.is_finished or (progress.waiting_for == "new rows" and not is_missing):
        return ""
    rows = f", {plural(waiting, 'row')} waiting for their batch" if waiting else ""
    return (
        f"NOT FINISHED: {plural(progress.missing, 'accepted answer')} still wanted, "
        f"{plural(progress.hits_open, 'HIT')} still open, "
        f"{plural(provisional, 'answer')} not decided yet (is_provisional){rows}."
    )
