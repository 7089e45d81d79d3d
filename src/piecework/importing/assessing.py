"""Run heuristics on imported answers and return a table of findings."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import OpenedCampaign
from piecework.campaign.provenance import code_version
from piecework.config.campaign_file import parse
from piecework.domain.errors import ConfigError
from piecework.domain.imported import Reading
from piecework.domain.progress import Progress
from piecework.domain.text import plural
from piecework.domain.verdicts import RANDOM_SAMPLE, Finding
from piecework.engine.judge import assess, decide, find_suspicions
from piecework.engine.opening import open_to_look
from piecework.engine.progress import read_progress
from piecework.importing.readers.recognise import recognise
from piecework.importing.temporary import opened_sources
from piecework.importing.understanding import Understanding
from piecework.postprocess.datasets.file_table import NUMBER, TEXT, WHOLE, FileTable, write_parquet
from piecework.qc.ratings import with_ratings
from piecework.qc.registry import HEURISTICS, is_on
from piecework.qc.silence import silences
from piecework.report.findings import findings_page
from piecework.report.page import SectionsPage
from piecework.results.answers_shown import Work
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


@dataclass(frozen=True, kw_only=True)
class Assessed:
    """The result of an assessment.

    Attributes:
        findings: a row per flag, with `COLUMNS`.
        page: the same for people.
        understood: the content of the file; `None` for a campaign.
        progress: the progress of a campaign; `None` for a file.
        drawn: answers drawn at random for a person to check, flagged or not.
    """

    findings: pd.DataFrame
    page: SectionsPage
    understood: Understanding | None = None
    progress: Progress | None = None
    drawn: int = 0


def assess_files(paths: Sequence[Path], reading: Reading, *, task_name: str = "") -> Assessed:
    """Assess files from another tool, without storing or deciding anything.

    Raises:
        ConfigError: a file cannot be read.
    """
    sources = recognise(paths, reading)
    with opened_sources(sources, reading, task_name=task_name) as sources_read:
        aside = sources_read.unreadable
        remarks = (f"{aside:,} rows could not be read.",) if aside else ()
        findings, page = _assessment(sources_read.opened, _named(paths), remarks, has_store=False)
    return Assessed(findings=findings, page=page, understood=sources_read.understood)


def assess_campaign(path: Path) -> Assessed:
    """Assess imported answers, store the findings and apply the policy's rules.

    Raises:
        CampaignBusy: another process is working on the campaign.
        ConfigError: the campaign collects its own answers.
    """
    if parse(path).tables.imported is None:
        raise ConfigError(
            [(f"{path}: its passes already assess what they collect; there is nothing to do")],
            next_step=f"piecework status {path}",
        )
    campaign = load_campaign(path)
    with only_pass(campaign.store, by="piecework assess"), open_to_look(campaign) as opened:
        inputs = campaign.inputs.by_code(code_version())
        campaign_facts.record_inputs(opened.store, inputs, at=opened.clock.now())
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


def _named(paths: Sequence[Path]) -> str:
    others = len(paths) - 1
    more = f" and {plural(others, 'other file')}" if others else ""
    return f"{paths[0].name}{more}"


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
