"""Answers of other tools without a campaign of their own: heuristics on them, and analyses.

They are opened as a temporary campaign. Heuristics return a table of findings. An analysis
gets those answers that count in a campaign, or all in a file.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from piecework.analyses.votes import answers_that_count
from piecework.campaign.assembling import load_campaign
from piecework.campaign.deriving import complete_text
from piecework.campaign.opened import OpenedCampaign
from piecework.campaign.provenance import code_version
from piecework.config.campaign_file import parse
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.imported import NamedColumns, Reading
from piecework.domain.progress import Progress
from piecework.domain.text import plural, shell_word
from piecework.domain.verdicts import RANDOM_SAMPLE, Finding
from piecework.engine.judge import assess, decide, find_suspicions, proposed_verdicts
from piecework.engine.opening import open_to_look
from piecework.engine.progress import read_progress
from piecework.importing.named_columns import FOR_ANALYSING, FOR_ASSESSING, named_files
from piecework.importing.opened_sources import opened_files
from piecework.importing.understanding import Understanding
from piecework.postprocess.datasets.file_table import NUMBER, TEXT, WHOLE, FileTable, write_parquet
from piecework.postprocess.pseudonyms import pseudonyms
from piecework.qc.ratings import with_ratings
from piecework.qc.registry import HEURISTICS, is_on
from piecework.qc.silence import silences
from piecework.report.analysis.answers import AnalysedAnswers
from piecework.report.analysis.page import Analysed, analyse
from piecework.report.findings import findings_page
from piecework.report.page import SectionsPage
from piecework.results.answers_shown import Work
from piecework.results.table import answers_table
from piecework.store import campaign_facts
from piecework.store.findings import flagged_by
from piecework.store.lock import only_pass

COLUMNS = (
    "heuristic",
    "version",
    "subject_kind",
    "subject_id",
    "suspicion",
    "evidence",
    "assignment_id",
    "answer",
    "touched",
)
"""The columns of the table of findings. Workers have pseudonyms; `assignment_id` is the
subject's own, or the worker's first. Findings of a campaign name answers and
assignments as its dataset does, findings of files as the files do."""

_TYPES: dict[str, pa.DataType] = dict.fromkeys(COLUMNS, TEXT) | {
    "version": WHOLE,
    "touched": WHOLE,
    "suspicion": NUMBER,
}


NOT_NAMED = NamedColumns()


@dataclass(frozen=True, kw_only=True)
class Assessed:
    """The result of an assessment.

    Attributes:
        findings: a row per flag, with `COLUMNS`.
        page: the same for people.
        understood: the content of the file; `None` for a campaign.
        progress: the progress of a campaign; `None` for a file.
        drawn: answers drawn at random for a person to check, flagged or not.
        columns: the columns of a table that were named or found.
        remarks: what a person has to know about a file, in sentences.
    """

    findings: pd.DataFrame
    page: SectionsPage
    understood: Understanding | None = None
    progress: Progress | None = None
    drawn: int = 0
    columns: NamedColumns = field(default_factory=NamedColumns)
    remarks: tuple[str, ...] = ()


def assess_files(
    paths: Sequence[Path],
    reading: Reading,
    *,
    task_name: str = "",
    stated: NamedColumns = NOT_NAMED,
) -> Assessed:
    """Assess files from another tool, without storing or deciding anything.

    Args:
        paths: the files.
        reading: what is known about their columns.
        task_name: a task of the gallery, if known.
        stated: columns that a person named, of a table in no known format.

    Raises:
        ConfigError: a file cannot be read.
    """
    with opened_files(
        paths, reading, task_name=task_name, stated=stated, wanted=FOR_ASSESSING
    ) as sources_read:
        remarks = sources_read.remarks
        findings, page = _assessment(
            sources_read.opened, named_files(paths), remarks, has_store=False
        )
    return Assessed(
        findings=findings,
        page=page,
        understood=sources_read.understood,
        columns=sources_read.columns,
        remarks=remarks,
    )


def assess_campaign(path: Path) -> Assessed:
    """Assess imported answers, store the findings and apply the policy's rules.

    Raises:
        CampaignBusy: another process is working on the campaign.
        ConfigError: the campaign collects its own answers.
    """
    if parse(path).tables.imported is None:
        raise ConfigError(
            [(f"{path}: its passes already assess what they collect; there is nothing to do")],
            next_step=f"piecework status {shell_word(path)}",
        )
    campaign = load_campaign(path)
    with only_pass(campaign.store, by="piecework data assess"), open_to_look(campaign) as opened:
        inputs, completed = (
            campaign.inputs.by_code(code_version()),
            partial(complete_text, campaign),
        )
        campaign_facts.record_inputs(
            opened.store, inputs, completed=completed, at=opened.clock.now()
        )
        assess(opened)
        decide(opened)
        findings, page = _assessment(opened, campaign.name, (), has_store=True)
        progress = read_progress(opened)
        drawn = len(flagged_by(opened.store, RANDOM_SAMPLE))
    return Assessed(findings=findings, page=page, progress=progress, drawn=drawn)


def write_findings(findings: pd.DataFrame, path: Path) -> None:
    """Write the table of findings as Parquet."""
    with path.open("wb") as file:
        write_parquet(FileTable(cells=findings, types=_TYPES), file)


def _assessment(
    opened: OpenedCampaign, source: str, remarks: tuple[str, ...], *, has_store: bool
) -> tuple[pd.DataFrame, SectionsPage]:
    table = opened.answers()
    flags = [
        finding
        for finding in find_suspicions(opened)
        if finding.flag and finding.heuristic != RANDOM_SAMPLE
    ]
    work = Work(opened)
    findings = _frame(opened, work, flags, has_store=has_store)
    touched = work.touched(flags)
    answers = table[["assignment_id", "worker_id", "item_id"]].assign(
        is_touched=[number in touched for number in range(len(table))]
    )
    settings = opened.campaign.heuristics
    ran = [
        heuristic.NAME
        for heuristic in HEURISTICS
        if is_on(heuristic.NAME, settings) and heuristic.NAME != RANDOM_SAMPLE
    ]
    rated = with_ratings(table, opened.campaign.task, opened.campaign.items)
    silent = silences(rated, settings)
    return findings, findings_page(
        source, findings, answers, ran=ran, silent=silent, remarks=remarks
    )


def _frame(
    opened: OpenedCampaign, work: Work, flags: list[Finding], *, has_store: bool
) -> pd.DataFrame:
    rows = []
    for flag in flags:
        numbers = work.rows(flag.subject_kind, flag.subject_id)
        subject_id = opened.shown_id(flag.subject_kind, flag.subject_id)
        assignment_id = str(work.assignment_id(numbers[0])) if numbers else ""
        if has_store:  # without one, only the file's own ids lead back to its rows
            subject_id = work.published_id(flag.subject_kind, subject_id)
            assignment_id = work.published_id("assignment", assignment_id)
        rows.append(
            (
                flag.heuristic,
                flag.version,
                flag.subject_kind,
                subject_id,
                flag.suspicion,
                work.evidence(flag),
                assignment_id,
                work.line(numbers[0]) if numbers else "",
                len(numbers),
            )
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))


class Comparing(NamedTuple):
    """How to compare answers; see `AnalysedAnswers`."""

    condition: str = ""
    unit: str = ""
    margin: float | None = None
    seed: int = 1


def analyse_file(
    path: Path,
    reading: Reading,
    *,
    task_name: str = "",
    comparing: Comparing,
    stated: NamedColumns = NOT_NAMED,
) -> Analysed:
    """Analyse a file from another tool, without storing anything.

    Args:
        path: the file.
        reading: what is known about its columns.
        task_name: a task of the gallery, if known.
        comparing: how to compare answers.
        stated: columns that a person named, of a table in no known format.

    Raises:
        ConfigError: it cannot be read, or items lack the wanted column.
    """
    with opened_files(
        [path], reading, task_name=task_name, stated=stated, wanted=FOR_ANALYSING
    ) as sources_read:
        opened = sources_read.opened
        table = opened.answers()
        workers = pseudonyms(table["worker_id"], opened.pseudonym_key)
        answers = AnalysedAnswers(
            table=table.assign(worker=workers),
            task=opened.campaign.task,
            items=opened.campaign.items,
            condition=comparing.condition,
            unit=comparing.unit,
            margin=comparing.margin,
            seed=comparing.seed,
        )
    _check(answers, comparing, stated_in="the file of --columns")
    return analyse(path.name, answers, remarks=sources_read.remarks)


def analyse_campaign(campaign: Campaign, comparing: Comparing) -> Analysed:
    """Analyse the answers of a campaign that count, as in its dataset.

    Raises:
        ConfigError: items lack the wanted column.
        StoreError: the campaign has no store yet.
    """
    with open_to_look(campaign) as opened:
        campaign = opened.campaign
        table, mixed_in, waiting = _counted(opened)
        known = campaign.task.conditions
        answers = AnalysedAnswers(
            table=table,
            mixed_in=mixed_in,
            task=campaign.task,
            items=campaign.items,
            condition=comparing.condition or (known[0].column if known else ""),
            unit=comparing.unit,
            margin=comparing.margin,
            seed=comparing.seed,
        )
        _check(answers, comparing, stated_in=str(campaign.path))
        return analyse(campaign.name, answers, remarks=_left_out(waiting))


def _counted(opened: OpenedCampaign) -> tuple[pd.DataFrame, pd.DataFrame, int]:
    """Return the answers that count, those about mixed-in items, and how many wait."""
    proposed = proposed_verdicts(opened)
    table = answers_table(opened, proposed=proposed)
    is_known = ~table["is_provisional"] | table.index.isin(proposed)
    kept = answers_that_count(table[is_known])
    mixed_in = {str(item.item_id) for item in opened.campaign.mixed_in_items}
    waits = table["is_provisional"] & ~table.index.isin(kept.index) & ~table["is_surplus"]
    waits &= ~table["item_id"].isin(mixed_in)
    is_mixed_in = kept["item_id"].isin(mixed_in)
    return kept[~is_mixed_in], kept[is_mixed_in], int(waits.sum())


def _left_out(waiting: int) -> tuple[str, ...]:
    if not waiting:
        return ()
    more = plural(waiting, "answer")
    return (f"This leaves out {more} that no person has decided about.",)


def _check(answers: AnalysedAnswers, comparing: Comparing, *, stated_in: str) -> None:
    known = dict.fromkeys(name for item in answers.items for name in item.columns)
    faults = [
        f"items have no column {name!r}; the columns are {', '.join(known)}"
        for name in (answers.condition, answers.unit)
        if name and name not in known
    ]
    if comparing.condition and not faults and not answers.rated_fields():
        fields = ", ".join(f"{field.name} ({field.kind})" for field in answers.task.item_fields)
        faults.append(
            f"--condition {comparing.condition}: only numbers and grades can be compared, "
            f"and no field has them: {fields}. If a field holds numbers, set "
            f'[fields.NAME] kind = "number" in {stated_in}. If words stand for '
            'numbers, set values = { good = "3" }'
        )
    if comparing.condition and not faults:
        values = set(answers.column(comparing.condition)) - {""}
        if len(values) < 2:  # noqa: PLR2004 - two conditions are needed to compare
            named = f"only {values.pop()!r}" if values else "nothing"
            faults.append(
                f"--condition {comparing.condition}: the items with answers have {named} "
                "in this column, so there is nothing to compare"
            )
    if answers.margin is not None and answers.margin <= 0:
        faults.append("the margin must be above 0")
    if faults:
        raise ConfigError(faults)
